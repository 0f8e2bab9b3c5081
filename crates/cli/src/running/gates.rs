use jurist_core::quantity::format_unlike;
use jurist_core::report::{FailedRunGate, RunTally, regression_lines};
use jurist_core::run::Regressions;

use crate::outcome::CommandOutcome;

/// When a run is good enough although not every case passes; for CI.
#[derive(Debug, clap::Args)]
pub struct RunGateArgs {
    /// Fail if a case that passed in the baseline fails now; flaky cases are ignored
    #[arg(long)]
    fail_on_regression: bool,
    /// Fail if the pass rate is lower, such as 0.9; ungraded cases count as not passed
    #[arg(long, value_name = "SHARE", value_parser = parse_pass_rate)]
    min_pass_rate: Option<f64>,
}

fn parse_pass_rate(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|text| (0.0..=1.0).contains(text));
    share.ok_or_else(|| "a share from 0 to 1, such as 0.9".to_owned())
}

/// A drop of the score that is accepted.
pub fn parse_accepted_drop(text: &str) -> Result<f64, String> {
    let drop = text.parse().ok().filter(|drop: &f64| drop.is_finite() && 0.0 <= *drop);
    drop.ok_or_else(|| "a number from 0, such as 0.02".to_owned())
}

/// The decision of the gates: those that failed, and the outcome of the command.
#[derive(Debug, Default)]
pub struct GateDecision {
    pub failed: Vec<FailedRunGate>,
    /// `None` if all gates pass.
    pub ended: Option<CommandOutcome>,
}

impl RunGateArgs {
    /// Whether they decide about failed cases, in place of the rule that every case has to pass.
    pub fn are_set(&self) -> bool {
        self.fail_on_regression || self.min_pass_rate.is_some()
    }

    /// A regression is since something.
    pub fn require_baseline(&self, has_baseline: bool) -> anyhow::Result<()> {
        anyhow::ensure!(
            has_baseline || !self.fail_on_regression,
            "--fail-on-regression needs --baseline RUN"
        );
        Ok(())
    }

    /// `n_cases` are all that should have been graded.
    pub fn decide(&self, regressions: Option<&Regressions>, tally: RunTally, n_cases: usize) -> GateDecision {
        let mut decision = GateDecision::default();
        if let Some(changes) = regressions.filter(|_| self.fail_on_regression) {
            let wrong = Regressions {
                regressed: changes.regressed.clone(),
                undecided: changes.undecided.clone(),
                ..Regressions::default()
            };
            let reasons = regression_lines(&wrong);
            if !reasons.is_empty() {
                decision.failed.push(FailedRunGate { gate: "--fail-on-regression".to_owned(), reasons });
            }
            decision.ended = match (changes.regressed.is_empty(), changes.undecided.is_empty()) {
                (false, _) => Some(CommandOutcome::Failed),
                (true, false) => Some(CommandOutcome::Incomplete),
                (true, true) => None,
            };
        }
        let share = tally.passed as f64 / n_cases.max(1) as f64;
        // The share 9 of 10 can be less than 0.9 by a rounding error of floating-point numbers.
        if let Some(least) = self.min_pass_rate.filter(|least| share + 1e-9 < *least) {
            let passed = tally.passed;
            let [share, _] = format_unlike([share, least]);
            let reasons = vec![format!("{passed} of {n_cases} cases passed ({share})")];
            decision.failed.push(FailedRunGate { gate: format!("--min-pass-rate {least}"), reasons });
            decision.ended = Some(CommandOutcome::Failed);
        }
        decision
    }
}
