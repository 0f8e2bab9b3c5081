//! Notices that a mean is no longer what it was, however often one looks.

use serde::{Deserialize, Serialize};

use super::sequence::{Bound, Sequence, on_scale};
use super::undefined::Undefined;

/// Compares what comes in with what came in before. It can be stored and continued.
///
/// New sequences start at steps 1, 2, 4, 8, … of what is watched, so that a late change is not thinned out by a
/// long quiet time; their chances of a false alarm add up to half of alpha, the reference has the other half.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    alpha: f64,
    reference: Sequence,
    watched: Vec<Sequence>,
    n_watched: usize,
    alarm: Option<Alarm>,
}

/// A change that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// At which watched value it was noticed.
    pub at: usize,
    /// The values from here on are different.
    pub since: usize,
    pub before: (f64, f64),
    pub now: (f64, f64),
}

impl Drift {
    /// With what came in before, on 0..=1.
    pub fn new(reference: &[f64], alpha: f64) -> Result<Self, Undefined> {
        let mut sequence = Sequence::new(Bound::EmpiricalBernstein, alpha / 2.0)?;
        for value in reference {
            sequence.push(*value)?;
        }
        if reference.is_empty() {
            return Undefined::because("there is nothing to compare with");
        }
        Ok(Self { alpha, reference: sequence, watched: Vec::new(), n_watched: 0, alarm: None })
    }

    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }

    /// The first alarm stays.
    pub fn push(&mut self, value: f64) -> Result<Option<&Alarm>, Undefined> {
        on_scale(value, self.n_watched)?;
        self.n_watched += 1;
        if self.n_watched.is_power_of_two() {
            let at = self.watched.len() as f64 + 1.0;
            // 1 + 1/4 + 1/9 + … is π²/6.
            let share = 6.0 / (std::f64::consts::PI * at).powi(2);
            self.watched.push(Sequence::new(Bound::EmpiricalBernstein, self.alpha / 2.0 * share)?);
        }
        let before = self.reference.interval();
        for (start, sequence) in self.watched.iter_mut().enumerate() {
            sequence.push(value)?;
            let now = sequence.interval();
            if self.alarm.is_none() && (now.1 < before.0 || before.1 < now.0) {
                self.alarm = Some(Alarm { at: self.n_watched, since: 1 << start, before, now });
            }
        }
        Ok(self.alarm())
    }
}

#[cfg(test)]
mod tests {
    use super::super::resample::Chance;
    use super::*;

    fn draw(chance: &mut Chance, rate: f64) -> f64 {
        if chance.unit() < rate { 1.0 } else { 0.0 }
    }

    #[test]
    fn a_late_change_is_noticed_and_none_is_not() {
        let mut chance = Chance::new(21);
        let (mut false_alarms, mut noticed) = (0, 0);
        for _ in 0..200 {
            let reference: Vec<f64> = (0..500).map(|_| draw(&mut chance, 0.85)).collect();
            let mut drift = Drift::new(&reference, 0.05).unwrap();
            for _ in 0..300 {
                drift.push(draw(&mut chance, 0.85)).unwrap();
            }
            false_alarms += usize::from(drift.alarm().is_some());
            for _ in 0..300 {
                drift.push(draw(&mut chance, 0.5)).unwrap();
            }
            noticed += usize::from(drift.alarm().is_some_and(|it| 300 < it.at && it.now.1 < it.before.0));
        }
        println!("{false_alarms} false alarms, {noticed} noticed of 200");
        assert!(false_alarms < 10 && 190 < noticed + false_alarms, "{false_alarms} {noticed}");
    }

    #[test]
    fn without_a_reference_nothing_drifts() {
        assert!(Drift::new(&[], 0.05).unwrap_err().to_string().contains("nothing to compare with"));
        assert!(Drift::new(&[0.5, 7.0], 0.05).is_err());
        let mut drift = Drift::new(&[0.5], 0.05).unwrap();
        assert!(drift.push(f64::NAN).is_err());
    }
}
