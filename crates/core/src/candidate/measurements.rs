//! What a run took: time, tokens, money.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{RecordField, RecordFields};
use super::trace::{Trace, Usage};
use crate::quantity::Usd;

/// Time, tokens and cost of the agent, without judges. Unknown values are absent, never 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Measurements {
    /// Wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Tokens of all model calls of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Cost of all model calls of the agent, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Mean natural logarithm of the probabilities of the answer's tokens, if the model returned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_log_probability: Option<f64>,
}

impl Measurements {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Each figure of `self`, or else that of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            duration_ms: self.duration_ms.or(other.duration_ms),
            usage: self.usage.or(other.usage),
            cost: self.cost.or(other.cost),
            mean_log_probability: self.mean_log_probability.or(other.mean_log_probability),
        }
    }

    /// The figures that a trace holds itself.
    pub fn from_trace(trace: &Trace) -> Self {
        Self {
            duration_ms: trace.duration_ms,
            usage: Some(trace.usage).filter(|usage| !usage.is_nothing()),
            cost: trace.cost,
            mean_log_probability: None,
        }
    }

    /// The figures in a program's output, under the names of [`RECORD_FIELDS`](super::RECORD_FIELDS).
    pub fn from_json(value: &Value) -> Self {
        if value.is_object() { Self::from_fields(&RecordFields::read(value)) } else { Self::default() }
    }

    /// The figures of a record.
    pub fn from_fields(fields: &RecordFields<'_>) -> Self {
        let amount = |field: RecordField| {
            let amount = fields.non_null_value(field).and_then(Value::as_f64);
            amount.filter(|amount| amount.is_finite() && 0.0 <= *amount)
        };
        let seconds = amount(RecordField::DurationSeconds).map(|seconds| seconds * 1e3);
        Self {
            duration_ms: amount(RecordField::DurationMs).or(seconds),
            usage: fields.non_null_value(RecordField::Usage).and_then(read_usage),
            cost: amount(RecordField::Cost)
                .filter(|dollars| *dollars < 9e6)
                .map(|dollars| Usd::from_nanos((dollars * 1e9).round() as i64)),
            mean_log_probability: None,
        }
    }
}

/// Token counts under the names that vendors and frameworks use; `None` if there is no count.
fn read_usage(value: &Value) -> Option<Usage> {
    let count = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)?.as_u64());
    let input = count(&["input", "input_tokens", "prompt_tokens", "prompt"]);
    let output = count(&["output", "output_tokens", "completion_tokens", "completion"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached: count(&["cached", "cached_tokens"]).unwrap_or(0),
    })
}
