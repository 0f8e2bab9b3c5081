//! What is graded: a response and/or a trace, with the task it answers.

pub mod diff;
mod foreign_results;
mod formats;
mod judge_input;
mod measurements;
mod record;
mod render;
mod trace;

pub use foreign_results::{ForeignError, ForeignResults, check_result_version, read_foreign_results};
pub use formats::{TraceError, TraceFormat, read_trace, read_trace_value, read_traces};
pub(crate) use formats::{call_duration_ms, parse_literal, plain_calls, recognise};
pub use judge_input::TRACE_TOKENS;
pub(crate) use judge_input::pretty_value_text;
pub use judge_input::task_of_trace;
pub use judge_input::{CandidatePart, CaseData, GuardrailReport, JudgeInput};
pub use measurements::Measurements;
pub use record::{
    FieldName, FieldRow, OverruledField, RECORD_FIELDS, RecordError, RecordField, RecordFields,
    closest_field, expand_traces, record_field,
};
pub use render::{render_trace_for_judge, render_trace_for_person};
pub(crate) use trace::as_arguments;
pub use trace::{ModelUsage, StepRole, ToolCall, ToolResult, Trace, TraceSpan, TraceStep, Usage};

use serde::Serialize;
use serde_json::{Map, Value};

/// Everything about a candidate that a file gives; what is missing is produced by running it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Candidate {
    pub input: Option<String>,
    /// The task as a conversation, instead of `input` or in addition to it.
    pub messages: Vec<Value>,
    pub response: Option<String>,
    /// The response as a mapping or a list, where it is no text; `response` is then its JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    pub trace: Option<TraceSource>,
    /// A unified diff of the files it changed.
    pub diff: Option<String>,
    /// Documents that the answer may rest on.
    pub context: Vec<String>,
    pub expected: Option<Value>,
    /// Variables of the case, for programs that check the answer.
    pub vars: Map<String, Value>,
}

/// Where a trace is to be had, in any format that [`read_trace`] understands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum TraceSource {
    File(String),
    Inline(Value),
}

/// The messages of a prompt that is a JSON list of them, as other tools write conversations.
pub(crate) fn read_chat(prompt: &str) -> Option<Vec<Value>> {
    let is_list = prompt.trim_start().starts_with('[');
    let messages: Vec<Value> = is_list.then(|| serde_json::from_str(prompt).ok())??;
    let is_message = |value: &Value| value["role"].is_string() && value.get("content").is_some();
    (!messages.is_empty() && messages.iter().all(is_message)).then_some(messages)
}

impl Candidate {
    /// Asks this: a text, or the messages of a conversation where it is a JSON list of them.
    pub fn set_prompt(&mut self, prompt: String) {
        match read_chat(&prompt) {
            Some(messages) => (self.input, self.messages) = (None, messages),
            None => self.input = Some(prompt),
        }
    }

    /// Whether there is something to grade without running anything.
    pub fn is_given(&self) -> bool {
        self.response.is_some() || self.trace.is_some() || self.diff.is_some()
    }
}
