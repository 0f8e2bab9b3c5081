//! The data contract: what one grader answered, and what a rubric says about a candidate.
//!
//! The same JSON in files, in the store, over HTTP and in TypeScript.

mod evidence;
mod exported;
mod lines;
mod parts;
mod plain;
mod sampled;
mod steps;
mod table;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use evidence::locate;
pub(crate) use evidence::{FoldedText, Folding, QuotableParts, RENDERED_TRACE};
pub use lines::{BadLine, EXCLUDED, GradesFileLine, MetadataFields, SCALES, ShortGrade};
pub use parts::{part_name, part_of, score_of_points, with_parts};
pub use plain::{
    LABEL_SEPARATOR, NOTHING_TICKED, PlainQuestion, UngradedQuestion, join_chosen_labels,
    list_ungraded_questions,
};
pub use sampled::{SampledCandidate, read_stratum_sizes};
pub use steps::step_grades;
pub use table::{GradeTable, read_grade_table, read_labels_table};
pub use verdict::{
    Counts, FailedGate, Gate, PanelVerdict, TreePathStep, UndecidedGate, Verdict, VerdictStatus,
};

use crate::check::CheckFinding;
pub use crate::quantity::{Time, Usd};
pub use crate::rubric::{GraderKind, RubricHash, Value};

/// The version of the contract that this program writes; a reader refuses newer ones.
pub const FORMAT: u32 = 1;

/// One grader's answer to one criterion of one candidate.
///
/// ```
/// use jurist_core::grade::{Grade, Outcome, Value};
///
/// let grade: Grade = serde_json::from_str(
///     r#"{"candidate": "trace_042", "criterion": "correctness",
///         "grader": {"kind": "human", "name": "ann"},
///         "outcome": {"kind": "scored", "value": 4, "unit": 0.75}}"#,
/// ).unwrap();
/// assert_eq!(grade.outcome, Outcome::Scored { value: Value::Number(4.0), unit: Some(0.75) });
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grade {
    /// Version of this contract.
    #[serde(default = "default_format")]
    pub format: u32,
    /// External ids are stored unchanged.
    pub candidate: String,
    /// The rubric this was graded against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<RubricHash>,
    /// Id of the question: a criterion of the rubric, or a node of a tree.
    pub criterion: String,
    /// Check, judge or person that answered.
    pub grader: Grader,
    /// Answer of the grader, or the reason for a missing answer.
    pub outcome: Outcome,
    /// At most [`Reason::MAX`] bytes are kept.
    #[serde(default, skip_serializing_if = "Reason::is_empty")]
    pub reason: Reason,
    /// Quotes from the candidate that support the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Claims or requirements that the grade is based on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<GradedPoint>,
    /// Warnings about the grade.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<GradeFlag>,
    /// Tokens and cost of this answer; absent if there are none.
    #[serde(default, skip_serializing_if = "Spend::is_nothing")]
    pub spend: Spend,
    /// Time of the answer; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Tries before this answer, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
}

fn default_format() -> u32 {
    FORMAT
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grader {
    /// Kind of grader: a check, a judge or a human.
    pub kind: GraderKind,
    /// Model, check or person.
    pub name: String,
    /// Hash of the grader's configuration: everything except the candidate that influences its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
}

impl Grader {
    /// The name in grades of a case that no grader was asked about, such as one whose target failed.
    pub const NONE: &'static str = "none";
}

/// Outcome of the question. Only `scored` counts in the score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// An answer on the criterion's own scale.
    Scored {
        /// Answer on the criterion's own scale.
        value: Value,
        /// The same on 0..=1; absent for a choice that only leads on in a tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<f64>,
    },
    /// The condition of the criterion was false, or the grader answered "not applicable".
    NotApplicable,
    /// The grader could not decide.
    Abstained {
        /// Reason for the missing decision, in words.
        why: String,
    },
    /// Grader error.
    Failed {
        /// Kind of error.
        failure: Failure,
        /// Error message; empty if there is none.
        #[serde(default)]
        detail: String,
    },
    /// Not asked.
    Deferred {
        /// Reason for the missing answer.
        why: Deferral,
    },
}

impl Outcome {
    pub fn unit(&self) -> Option<f64> {
        if let Self::Scored { unit, .. } = self { *unit } else { None }
    }
}

/// Why a grader failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    Timeout,
    RateLimit,
    Refusal,
    Malformed,
    OffScale,
    Auth,
    EvidenceNotFound,
    /// The service was unreachable or returned a server error.
    Unavailable,
    /// A program or check stopped with an error.
    Crashed,
}

/// How a finding counts in a verdict.
impl From<&CheckFinding> for Outcome {
    fn from(finding: &CheckFinding) -> Self {
        match finding.score {
            Some(score) => Self::Scored { value: Value::Number(score), unit: Some(score) },
            None if finding.failed => {
                Self::Failed { failure: Failure::Crashed, detail: finding.comment.clone() }
            }
            None => Self::Abstained { why: finding.comment.clone() },
        }
    }
}

/// Reason for the deferral.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deferral {
    NoKey,
    OverBudget,
    SampledOut,
    WaitsForPerson,
    Unreachable,
    /// No grade was given for it.
    NotGraded,
}

/// A grader's reason, shortened to the stored length.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Reason(String);

/// The line with which a traceback of Python begins.
pub const TRACEBACK_TITLE: &str = "Traceback (most recent call last):";

impl Reason {
    pub const MAX: usize = 2048;

    /// Cuts at a character, and says that it did.
    pub fn new(text: &str) -> Self {
        if text.len() <= Self::MAX {
            return Self(text.to_owned());
        }
        let end = (0..=Self::MAX - '…'.len_utf8()).rev().find(|&n| text.is_char_boundary(n)).unwrap_or(0);
        Self(format!("{}…", &text[..end]))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

/// A quote and its position in the candidate; without a position it was not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Quoted text, as the grader wrote it.
    pub quote: String,
    /// Position of the quote in the candidate; absent if the quote was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<QuoteLocation>,
}

/// A stretch of bytes in one part of a candidate, such as `response` or `trace.3.result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuoteLocation {
    /// Part of the candidate, such as `response` or `trace.3.result.1`.
    #[serde(rename = "in")]
    pub part: String,
    /// Offset of the first byte of the quote in this part, from 0.
    pub start: u64,
    /// Offset after the last byte of the quote in this part.
    pub end: u64,
}

/// A claim or a requirement, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GradedPoint {
    /// Text of the claim or requirement.
    pub text: String,
    /// Whether the claim is supported, or the requirement is met.
    pub holds: bool,
    /// Quotes from the candidate that support this decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// Something about a grade that its score does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GradeFlag {
    /// The candidate holds an object that is shaped like a judge's verdict.
    VerdictInCandidate,
    /// Too few quotes of the answer were found in the candidate, so it counts as 0.
    NoVerifiableEvidence,
}

impl GradeFlag {
    /// In words, for reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::VerdictInCandidate => "the candidate contains text shaped like a verdict",
            Self::NoVerifiableEvidence => "no verifiable evidence",
        }
    }
}

/// What an answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spend {
    /// Number of input tokens, including cached tokens, as reported by the model's API.
    pub tokens_in: u64,
    /// Part of `tokens_in` that a provider had cached.
    pub tokens_cached: u64,
    /// Number of output tokens, as reported by the model's API.
    pub tokens_out: u64,
    /// Cost in US dollars; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Taken from Jurist's own cache: nothing was sent and nothing was paid.
    pub from_cache: bool,
}

impl Spend {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Both together. A sum with an unknown price has no price.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(a.plus(b)),
            (Some(it), None) if other.is_nothing() => Some(it),
            (None, Some(it)) if self.is_nothing() => Some(it),
            _ => None,
        };
        Self {
            tokens_in: self.tokens_in + other.tokens_in,
            tokens_cached: self.tokens_cached + other.tokens_cached,
            tokens_out: self.tokens_out + other.tokens_out,
            cost,
            from_cache: self.from_cache || other.from_cache,
        }
    }
}

/// One try that did not give an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// Kind of error.
    pub failure: Failure,
    /// Error message; empty if there is none.
    #[serde(default)]
    pub detail: String,
    /// Time of the attempt; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_cut_at_a_character() {
        let reason = Reason::new(&"é".repeat(2000));
        assert!(reason.as_str().len() <= Reason::MAX);
        assert!(reason.as_str().ends_with("é…"));
        assert_eq!(Reason::new("short").as_str(), "short");
    }

    #[test]
    fn money_adds_up_exactly() {
        let cent = Spend { cost: Some(Usd::from_nanos(10_000_000)), ..Spend::default() };
        let sum = (0..100).fold(Spend::default(), |sum, _| sum.plus(cent));
        assert_eq!(sum.cost.unwrap().nanos(), 1_000_000_000);
        let unpriced = Spend { tokens_in: 5, ..Spend::default() };
        assert_eq!(sum.plus(unpriced).cost, None);
    }
}
