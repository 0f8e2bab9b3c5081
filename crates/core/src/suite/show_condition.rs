//! When a question is asked: only after certain answers to others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conditions on answers to other questions; if they do not hold, the question is not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShowCondition {
    /// Whether one of the conditions is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any: bool,
    pub conditions: Vec<AnswerCondition>,
}

/// A condition on the answer to another question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerCondition {
    /// The name of the other question.
    pub question: String,
    #[serde(flatten)]
    pub test: AnswerTest,
}

/// What holds of an answer. An open question is equal to nothing and lies in no range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "test", rename_all = "snake_case")]
pub enum AnswerTest {
    /// It is one of these, or one of these is ticked.
    Is {
        values: Vec<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        case_sensitive: bool,
    },
    IsNot {
        values: Vec<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        case_sensitive: bool,
    },
    /// A number between these ends, which count as inside.
    Between {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    Outside {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    Answered,
    Unanswered,
}
