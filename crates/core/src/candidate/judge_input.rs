//! Everything about a case that is looked at when it is graded, part by part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Candidate, Measurements, StepRole, Trace, TraceStep, read_trace_value, render_trace_for_judge};

/// Longer traces lose their middle, so that the rest of the prompt fits the context window of a small model.
pub const TRACE_TOKENS: usize = 24_000;

/// What is graded, with the task it answers. None of it is trusted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeInput {
    /// Task of the agent: the prompt, or the conversation as text; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// Documents that the answer may rest on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// Reference answer, as text; absent if the case has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Final response of the agent; absent if the candidate has only a trace or a diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Trace of the agent, with its steps; absent if the candidate has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// A unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What must be met, where the case says so and not the rubric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// Output and reference as checks compare them, where they are more than text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// Reference answer as the JSON value of the case. Checks compare with this value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_reference: Option<Value>,
    /// Further references that are as right as the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_references: Vec<Value>,
    /// Expected tool calls, if they are not in the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_calls: Option<Value>,
    /// Other data of the case in the file; only programs that check the answer get them.
    #[serde(skip_serializing_if = "CaseData::is_empty")]
    pub case_data: CaseData,
    /// Row of the data that the case was made from; it fills `{{ row.field }}` in the rubric. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Map<String, Value>>,
    /// What the guardrails of the target's provider said; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<GuardrailReport>,
    /// Measurements of the run: time, tokens, cost.
    #[serde(skip_serializing_if = "Measurements::is_empty")]
    pub measurements: Measurements,
}

/// What the guardrails of a provider said about a prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GuardrailReport {
    /// Whether the prompt or the answer was flagged.
    pub flagged: bool,
    /// Why, as the provider says it; empty if it does not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The data of a case that an external check gets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CaseData {
    /// Variables of the case, and the fields of its data row.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub vars: Map<String, Value>,
    /// Metadata of the case, as the file has them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Target that answered, with `id` and `label`; absent if the answer was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Value>,
}

impl CaseData {
    pub fn is_empty(&self) -> bool {
        self.vars.is_empty() && self.metadata.is_empty() && self.provider.is_none()
    }
}

/// A piece of what is graded, under the name that evidence gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidatePart {
    pub name: String,
    pub text: String,
}

impl JudgeInput {
    /// From what a file says, and the trace it points to.
    pub fn new(candidate: &Candidate, trace: Option<Trace>) -> Self {
        let conversation = || {
            let messages = Value::Array(candidate.messages.clone());
            read_trace_value(&messages, None)
                .map(|(_, trace)| render_trace_for_judge(&trace, TRACE_TOKENS))
                .unwrap_or_default()
        };
        let task = candidate.input.clone().filter(|input| !input.is_empty()).unwrap_or_else(conversation);
        Self {
            task: if task.is_empty() {
                trace.as_ref().and_then(task_of_trace).unwrap_or_default()
            } else {
                task
            },
            context: candidate.context.clone(),
            reference: candidate.expected.as_ref().map(pretty_value_text),
            response: candidate.response.clone(),
            trace,
            diff: candidate.diff.clone(),
            requirements: Vec::new(),
            raw_output: candidate.output.clone(),
            raw_reference: candidate.expected.clone(),
            ..Self::default()
        }
    }

    /// The candidate's final answer: its response, or the last message of its trace.
    pub fn answer(&self) -> &str {
        self.response.as_deref().or_else(|| self.trace.as_ref()?.answer()).unwrap_or_default()
    }

    /// The candidate's own messages and calls, which may be quoted as evidence; not the task or the reference.
    pub fn parts(&self) -> Vec<CandidatePart> {
        let mut parts = Vec::new();
        let mut add = |name: String, text: &str| {
            if !text.trim().is_empty() {
                parts.push(CandidatePart { name, text: text.to_owned() });
            }
        };
        add("response".to_owned(), self.response.as_deref().unwrap_or_default());
        for (at, step) in self.trace.iter().flat_map(|trace| &trace.steps).enumerate() {
            let at = at + 1;
            // Messages to the candidate are not its own.
            if matches!(step.role, StepRole::User | StepRole::System) {
                continue;
            }
            add(format!("trace.{at}.text"), &step.text);
            add(format!("trace.{at}.reasoning"), &step.reasoning);
            for (nth, call) in step.tool_calls.iter().enumerate() {
                let arguments = Value::Object(call.arguments.clone());
                add(format!("trace.{at}.call.{}", nth + 1), &format!("{} {arguments}", call.name));
            }
            for (nth, result) in step.results.iter().enumerate() {
                add(format!("trace.{at}.result.{}", nth + 1), &result.text);
            }
            for file in &step.files {
                add(format!("trace.{at}.file"), &file.path);
            }
        }
        add("diff".to_owned(), self.diff.as_deref().unwrap_or_default());
        parts
    }

    /// Whether there is nothing of it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What conditions such as `when` look at.
    pub fn text(&self) -> String {
        self.parts().into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n")
    }
}

/// What a run was asked: its task, or its first user.
pub fn task_of_trace(trace: &Trace) -> Option<String> {
    let is_user = |step: &&TraceStep| step.role == StepRole::User;
    trace.task.clone().or_else(|| trace.steps.iter().find(is_user).map(|step| step.text.clone()))
}

pub(crate) fn pretty_value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
