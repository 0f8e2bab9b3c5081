//! When a question is asked: only after certain answers to others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Conditions on answers to other questions; if they do not hold, the question is not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShowCondition {
    /// Whether one of the conditions is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any: bool,
    /// Conditions on other answers. All of them must hold, or one of them if `any` is true.
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

/// What holds of an answer. An open question is equal to nothing, different from nothing, and lies in no range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "test", rename_all = "snake_case")]
pub enum AnswerTest {
    /// It is one of these, or one of these is ticked.
    Is {
        /// Labels or numbers, written as texts. The condition holds if the answer is one of them.
        values: Vec<String>,
        /// Whether upper and lower case differ.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        case_sensitive: bool,
    },
    /// It is none of these, and the question is answered. Of check boxes, nothing ticked is an answer.
    IsNot {
        /// Labels or numbers, written as texts. The condition holds if the answer is none of them.
        values: Vec<String>,
        /// Whether upper and lower case differ.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        case_sensitive: bool,
    },
    /// A number between these ends, which count as inside.
    Between {
        /// Lower limit, which counts as inside; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// Upper limit, which counts as inside; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    Outside {
        /// Lower limit: the condition holds for numbers below; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// Upper limit: the condition holds for numbers above; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    Answered,
    Unanswered,
}
