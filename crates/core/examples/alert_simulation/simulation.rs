//! Simulated traffic of a monitor, to see how soon a fall is detected and how often there is a false alarm.
//!
//! One trace in twenty fails, scores 0.3 less, and is always judged; of the others a share is. Scores are five grades
//! (0, 0.25, … 1) or pass and fail.

use jurist_core::alert::FALSE_ALARM_DAYS;
use jurist_core::stats::monitoring::{DailyScores, WeightedScoreSums, find_fall};

/// What one agent's traffic is like.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedTraffic {
    pub per_day: usize,
    pub sample_rate: f64,
    pub mean: f64,
    pub scores: ScoreKind,
    /// How much lower scores are on two days of the week.
    pub weekend_dip: f64,
}

#[derive(Debug, Clone, Copy)]
pub enum ScoreKind {
    /// Four coins: a standard deviation of about 0.22 at a mean of 0.75.
    FiveGrades,
    PassFail,
}

/// How soon a fall was detected, in days (the day of the fall is the first) and judged traces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    pub median_days: usize,
    pub late_days: usize,
    pub median_traces: usize,
    pub late_traces: usize,
}

/// Days before the fall.
const HISTORY: usize = 56;
/// Days after which a fall counts as not detected.
pub const MAX_DAYS: usize = 42;

/// SplitMix64: small, and the same on every machine.
pub struct Generator(pub u64);

impl Generator {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn coin(&mut self, chance: f64) -> f64 {
        f64::from(u8::from(self.unit() < chance))
    }

    fn score(&mut self, kind: ScoreKind, mean: f64) -> f64 {
        match kind {
            ScoreKind::PassFail => self.coin(mean),
            ScoreKind::FiveGrades => (0..4).map(|_| self.coin(mean)).sum::<f64>() / 4.0,
        }
    }

    pub fn day(&mut self, traffic: &SimulatedTraffic, fall: f64, day: usize) -> DailyScores {
        let dip = if day % 7 < 2 { traffic.weekend_dip } else { 0.0 };
        let mean = traffic.mean - fall - dip;
        let mut strata = [WeightedScoreSums::default(); 2];
        for _ in 0..traffic.per_day {
            let has_failed = self.unit() < 0.05;
            let (stratum, rate, mean) = match has_failed {
                true => (0, 1.0, mean - 0.3),
                false => (1, traffic.sample_rate, mean + 0.3 * 0.05 / 0.95),
            };
            let score = self.score(traffic.scores, mean);
            if self.unit() < rate {
                strata[stratum].add(score, rate);
            }
        }
        DailyScores { day: day as i64, strata: strata.to_vec() }
    }
}

fn is_alarm(days: &[DailyScores], n_series: usize) -> bool {
    find_fall(days)
        .is_some_and(|fall| FALSE_ALARM_DAYS * n_series as f64 <= fall.evidence && !fall.has_recovered)
}

/// When a fall is detected, of as many simulated ones.
pub fn detect(traffic: &SimulatedTraffic, fall: f64, n_series: usize, n_times: usize) -> Detection {
    let mut generator = Generator(17);
    let (mut days_needed, mut traces_needed) = (Vec::new(), Vec::new());
    for _ in 0..n_times {
        let mut days: Vec<DailyScores> = (0..HISTORY).map(|day| generator.day(traffic, 0.0, day)).collect();
        let (mut n_days, mut n_traces) = (MAX_DAYS + 1, 0);
        for since in 1..=MAX_DAYS {
            let day = generator.day(traffic, fall, HISTORY + since - 1);
            n_traces += day.strata.iter().map(|stratum| stratum.n).sum::<usize>();
            days.push(day);
            if is_alarm(&days, n_series) {
                n_days = since;
                break;
            }
        }
        days_needed.push(n_days);
        traces_needed.push(n_traces);
    }
    days_needed.sort_unstable();
    traces_needed.sort_unstable();
    let (middle, late) = (n_times / 2, n_times * 9 / 10);
    Detection {
        median_days: days_needed[middle],
        late_days: days_needed[late],
        median_traces: traces_needed[middle],
        late_traces: traces_needed[late],
    }
}

/// False alarms of some years without a fall: how often an alarm begins, by the number of series.
pub fn false_alarms<const N: usize>(
    traffic: &SimulatedTraffic,
    n_series: [usize; N],
    n_years: usize,
) -> [usize; N] {
    let (mut generator, mut n_alarms) = (Generator(23), [0; N]);
    for _ in 0..n_years {
        let (mut days, mut was_alarm) = (Vec::new(), [false; N]);
        for day in 0..HISTORY + 365 {
            days.push(generator.day(traffic, 0.0, day));
            if 98 < days.len() {
                days.remove(0);
            }
            let fall = if HISTORY <= day { find_fall(&days) } else { None };
            let evidence = fall.filter(|fall| !fall.has_recovered).map_or(0.0, |fall| fall.evidence);
            let is_alarm = n_series.map(|n_series| FALSE_ALARM_DAYS * n_series as f64 <= evidence);
            for (at, is_alarm) in is_alarm.into_iter().enumerate() {
                n_alarms[at] += usize::from(is_alarm && !was_alarm[at]);
            }
            was_alarm = is_alarm;
        }
    }
    n_alarms
}
