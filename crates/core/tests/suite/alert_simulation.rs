//! Alerts about falling scores stay as sharp and as quiet as `docs/monitor.md` says. The full tables:
//! `cargo run --release -p jurist-core --example alert_simulation`.

#[path = "../../examples/alert_simulation/simulation.rs"]
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
        (GRADES, 0.1, 1, 8, 15),
        (GRADES, 0.1, 16, 15, 28),
        (GRADES, 0.2, 16, 6, 9),
        (all, 0.1, 16, 2, 3),
        (all, 0.2, 16, 1, 1),
        (coins, 0.1, 16, 5, 8),
        (coins, 0.2, 16, 2, 2),
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
    // The bound is one a year for a monitor; simulated over 200 years it is 0.04 to 0.14 here.
    let coins = SimulatedTraffic { scores: ScoreKind::PassFail, ..GRADES };
    let weekly = SimulatedTraffic { weekend_dip: 0.05, ..GRADES };
    for traffic in [GRADES, coins, weekly] {
        let [alone, n] = false_alarms(&traffic, [1, 16], 15);
        assert!(alone <= 4, "{traffic:?}: {alone} false alarms in 15 years");
        // Sixteen series share one rate: each has a sixteenth of it.
        assert!(n < 2, "{traffic:?}: {n} false alarms of a series among sixteen in 15 years");
    }
}
