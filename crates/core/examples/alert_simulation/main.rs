//! Prints how soon alerts detect a fall, and how often they are false, as the tables of `docs/monitor.md`.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

mod simulation;

use simulation::{MAX_DAYS, ScoreKind, SimulatedTraffic, detect, false_alarms};

/// Falls of each kind, and years of each kind.
const N_TIMES: usize = 400;
const N_YEARS: usize = 200;
/// One agent with one criterion, and three agents with four criteria: the monitor, its agents and their criteria.
const N_SERIES: [usize; 2] = [1, 16];

fn main() {
    let kinds =
        [("five grades, mean 0.75", ScoreKind::FiveGrades), ("pass or fail, 75 %", ScoreKind::PassFail)];
    let traffic = |per_day: usize, sample_rate: f64, scores: ScoreKind| SimulatedTraffic {
        per_day,
        sample_rate,
        mean: 0.75,
        scores,
        weekend_dip: 0.0,
    };
    println!(
        "| scores | traces a day | judged | series | fall of 0.1: days | judged traces | fall of 0.2: days | judged traces |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, scores) in kinds {
        for per_day in [100, 1000] {
            for sample_rate in [0.1, 1.0] {
                for n_series in N_SERIES {
                    let row = [0.1, 0.2].map(|fall| {
                        let found = detect(&traffic(per_day, sample_rate, scores), fall, n_series, N_TIMES);
                        let days = |n: usize| if MAX_DAYS < n { "–".to_owned() } else { n.to_string() };
                        format!(
                            "{} / {} | {} / {}",
                            days(found.median_days),
                            days(found.late_days),
                            found.median_traces,
                            found.late_traces
                        )
                    });
                    println!(
                        "| {name} | {per_day} | {:.0} % | {n_series} | {} |",
                        100.0 * sample_rate,
                        row.join(" | ")
                    );
                }
            }
        }
    }
    println!();
    println!("| scores | traces a day | judged | weekends | false alarms a year |");
    println!("| --- | --- | --- | --- | --- |");
    let rare = ("pass or fail, 95 %", ScoreKind::PassFail);
    for (name, scores, mean) in
        [(kinds[0].0, kinds[0].1, 0.75), (kinds[1].0, kinds[1].1, 0.75), (rare.0, rare.1, 0.95)]
    {
        for (per_day, sample_rate) in [(100, 0.1), (100, 1.0), (1000, 0.1)] {
            for weekend_dip in [0.0, 0.05] {
                let traffic = SimulatedTraffic { mean, weekend_dip, ..traffic(per_day, sample_rate, scores) };
                let [n] = false_alarms(&traffic, [1], N_YEARS);
                println!(
                    "| {name} | {per_day} | {:.0} % | {} | {:.2} |",
                    100.0 * sample_rate,
                    if 0.0 < weekend_dip { "0.05 lower" } else { "alike" },
                    n as f64 / N_YEARS as f64
                );
            }
        }
    }
}
