//! What a whole rubric says about a candidate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Verdict of a rubric on one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Result of the rubric for this candidate.
    pub status: VerdictStatus,
    /// On 0..=1; absent if no score can be computed.
    pub score: Option<f64>,
    /// The weighted mean in the scale's own units, where all criteria share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<f64>,
    /// A pass because no criterion applied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vacuous: bool,
    /// Failed gates. A verdict with a failed gate never passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_gates: Vec<FailedGate>,
    /// Undecided gates. A verdict with an undecided gate never passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided_gates: Vec<UndecidedGate>,
    /// The way through the rubric's trees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<TreePathStep>,
    /// Number of questions by outcome.
    pub counts: Counts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerdictStatus {
    Pass,
    Fail,
    /// A grader failed, so there is no verdict.
    Error,
    /// An answer is missing.
    Deferred,
}

impl VerdictStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Deferred => "deferred",
        }
    }
}

/// Number of questions by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Counts {
    /// Number of questions with a score.
    pub scored: u32,
    /// Number of questions that do not apply to this candidate.
    pub not_applicable: u32,
    /// Number of questions that the grader could not decide.
    pub abstained: u32,
    /// Number of questions with a grader error.
    pub failed: u32,
    /// Number of questions that were deferred, for example because no API key was set.
    pub deferred: u32,
    /// Not asked because something they require is not met.
    pub unmet: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailedGate {
    /// Kind of gate.
    pub gate: Gate,
    /// Absent for gates of the rubric itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
}

/// An undecided gate: its grader abstained, failed or was not asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndecidedGate {
    /// Kind of gate.
    pub gate: Gate,
    /// Absent for gates of the rubric itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// Reason for the missing decision, in words.
    pub reason: String,
}

impl std::fmt::Display for UndecidedGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = self.criterion.as_deref().unwrap_or("the rubric");
        write!(f, "gate {} of {of} could not be decided: {}", self.gate.name(), self.reason)
    }
}

/// A condition that fails the verdict at any score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Required,
    Guard,
    MinScore,
    Strict,
    Evidence,
    /// The grader abstained, and `cannot_assess: fail` is set.
    CannotAssess,
    /// The grader failed, and `on_error: fail` is set.
    OnError,
}

impl Gate {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Guard => "guard",
            Self::MinScore => "min score",
            Self::Strict => "strict",
            Self::Evidence => "evidence",
            Self::CannotAssess => "cannot assess",
            Self::OnError => "on error",
        }
    }
}

/// One answered node on the way through a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreePathStep {
    /// The question's id, as grades name it.
    pub node: String,
    /// Answer to the question of this node.
    pub answer: String,
    /// At the last node: the authored score, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// At the last node: the reason that the rubric states for the score; absent if the rubric states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Verdict of a panel on one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelVerdict {
    /// Result of the panel for this candidate.
    pub status: VerdictStatus,
    /// The mean of the members' scores.
    pub score: Option<f64>,
    /// The median, if it is compared with the pass mark in place of the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// The mean of the members' scores in the scale's own units, where all of them have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<f64>,
    /// Why it does not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Number of members of the panel.
    pub members: u32,
    /// Members that came to a verdict; the others abstained.
    pub voters: u32,
    /// Number of voters whose verdict is a pass.
    pub passes: u32,
    /// Voters with a failed gate.
    pub gated: u32,
    /// Share of pairs of voters that agree on pass or fail; absent with fewer than two.
    pub agreement: Option<f64>,
    /// Gates that members could not decide, where that leaves the panel without a verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided_gates: Vec<UndecidedGate>,
}
