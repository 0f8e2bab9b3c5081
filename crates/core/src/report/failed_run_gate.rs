//! Gates of a whole run that do not hold, such as a least pass rate.

/// A gate of a run that does not hold, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRunGate {
    /// As the command line gives it, such as `--min-pass-rate 0.9`.
    pub gate: String,
    pub reasons: Vec<String>,
}

impl FailedRunGate {
    /// A line for each reason, with the gate.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.reasons.iter().map(|reason| format!("{}: {reason}", self.gate))
    }
}
