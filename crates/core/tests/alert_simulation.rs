//! Alerts about falling scores stay as sharp and as quiet as `docs/monitor.md` says. The full tables:
//! `cargo run --release -p jurist-core --example alert_simulation`.

#[path = "../examples/alert_simulation/simulation.rs"]
mod simulation;

use simulation::{ScoreKind, SimulatedTraffic, detect, false_alarms};

const GRADES: SimulatedTraffic = SimulatedTraffic {
    per_day: 100,
    sample_rate: 0.1,
    mean: 0.75,
    scores: ScoreKind::FiveGrades,
    weekend_dip: 0.0,
};

#[test]
fn falls_are_detected_as_soon_as_documented() {
    let all = SimulatedTraffic { sample_rate: 1.0, ..GRADES };
    let coins = SimulatedTraffic { scores: ScoreKind::PassFail, ..all };
    for (traffic, fall, n_series, median, late) in [
        (GRADES, 0.1, 1, 12, 22),
        (GRADES, 0.1, 16, 19, 42),
        (GRADES, 0.2, 16, 7, 10),
        (all, 0.1, 16, 2, 3),
        (all, 0.2, 16, 1, 1),
        (coins, 0.1, 16, 5, 9),
        (coins, 0.2, 16, 2, 3),
    ] {
        let found = detect(&traffic, fall, n_series, 40);
        assert!(
            found.median_days <= median && found.late_days <= late,
            "{traffic:?} {fall} {n_series}: {found:?}"
        );
        assert!(found.median_traces <= found.late_traces && found.late_traces <= 1_000, "{found:?}");
    }
}

#[test]
fn false_alarms_are_as_rare_as_documented() {
    // A monitor of one series may have one a year by its bound. Simulated, it has about 0.1; a rate of 0.3 would give
    // more than 9 in 15 years with a chance of less than one in a hundred if it were 0.25.
    let coins = SimulatedTraffic { scores: ScoreKind::PassFail, ..GRADES };
    let weekly = SimulatedTraffic { weekend_dip: 0.05, ..GRADES };
    for traffic in [GRADES, coins, weekly] {
        let n = false_alarms(&traffic, 1, 15);
        assert!(n < 8, "{traffic:?}: {n} false alarms in 15 years");
        // Sixteen series share one rate: each has a sixteenth of it.
        let n = false_alarms(&traffic, 16, 15);
        assert!(n < 2, "{traffic:?}: {n} false alarms of a series among sixteen in 15 years");
    }
}
