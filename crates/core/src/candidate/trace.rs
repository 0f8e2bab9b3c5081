//! What an agent did, the same whatever framework wrote it down.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::diff::FileChange;
use crate::quantity::{Time, Usd};

/// A run of an agent, step by step.
///
/// ```
/// use jurist_core::candidate::{TraceFormat, read_trace};
///
/// let text = r#"[{"role": "assistant", "content": null,
///     "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": "{\"q\": \"cat\"}"}}]}]"#;
/// let (format, trace) = read_trace(text, None).unwrap();
/// assert_eq!(format, TraceFormat::OpenaiChat);
/// assert_eq!(trace.tool_calls().next().unwrap().arguments["q"], "cat");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Trace {
    /// Id of the trace, as the framework assigned it; absent if the format has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Task of the agent, if the format has it outside the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Messages, turns and actions, in the order in which they happened.
    pub steps: Vec<TraceStep>,
    /// Names of graph nodes in the order they ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Tokens of all model calls of the run; absent if unknown.
    #[serde(skip_serializing_if = "Usage::is_nothing")]
    pub usage: Usage,
    /// Cost of the run in US dollars; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// From its beginning to its end, where the format says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Status at the end, as the framework names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Files that the run changed, if the format lists them for the whole run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// What each model call used, where the format says so: enough to price a run that does not say its cost.
    /// It is read and not written, since `usage` and `cost` say what it comes to.
    #[serde(skip)]
    pub model_usage: Vec<ModelUsage>,
    /// The spans that an OpenTelemetry trace was read from. They are read and not written, since `steps` say what
    /// happened in them.
    #[serde(skip)]
    pub spans: Vec<TraceSpan>,
}

/// A span by its name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceSpan {
    pub name: String,
    pub duration_ms: Option<f64>,
    pub failed: bool,
}

/// The tokens of one model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUsage {
    /// Who served it, in the words of its instrumentation.
    pub provider: Option<String>,
    /// Empty where it is not named.
    pub model: String,
    pub usage: Usage,
}

/// One message, turn or action.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceStep {
    /// Author of the step. The agent is `assistant`.
    pub role: StepRole,
    /// Which agent, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How many agents deep; a sub-agent's steps follow the step that started it.
    #[serde(skip_serializing_if = "is_zero_depth")]
    pub depth: u32,
    /// Text of the message; empty if the step has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Reasoning of the agent that is not part of a message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Tool calls that the agent made in this step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Results of tool calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ToolResult>,
    /// Files that this step changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
    /// Path or address of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// Time of the message, or start of the model call; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// How long it took, where the format says so: the model call of a message, the run of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Tokens of the model call of this step; absent if unknown.
    #[serde(skip_serializing_if = "Usage::is_nothing")]
    pub usage: Usage,
    /// What the model call of this step cost, where the format says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
}

fn is_zero_depth(number: &u32) -> bool {
    *number == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepRole {
    System,
    User,
    #[default]
    Assistant,
    /// A tool, or the environment the agent acts in.
    Tool,
    Other,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolCall {
    /// Id of the call, which its result repeats; absent if the format has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call, by name. A value that is not an object is stored under `input`.
    pub arguments: Map<String, Value>,
    /// Duration, if the format has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolResult {
    /// The id of the call it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Name of the tool; absent if the format has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Output of the tool, as text.
    pub text: String,
    /// Whether the tool call failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
}

/// Tokens, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Number of input tokens, including cached tokens.
    pub input: u64,
    /// Number of output tokens.
    pub output: u64,
    /// Part of `input` that the provider had cached.
    pub cached: u64,
}

impl Usage {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

impl TraceStep {
    pub fn new(role: StepRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), ..Self::default() }
    }

    /// Whether it says or does anything.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
            && self.reasoning.is_empty()
            && self.tool_calls.is_empty()
            && self.results.is_empty()
            && self.files.is_empty()
            && self.screenshot.is_none()
    }
}

impl ToolCall {
    /// Arguments as frameworks write them: an object, JSON text of one, or something else under `input`.
    pub fn new(id: Option<String>, name: impl Into<String>, arguments: &Value) -> Self {
        Self { id, name: name.into(), arguments: as_arguments(arguments), duration_ms: None }
    }
}

pub(crate) fn as_arguments(value: &Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map.clone(),
        Value::Null => Map::new(),
        Value::String(text) if text.trim().is_empty() => Map::new(),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => map,
            Ok(Value::Null) => Map::new(),
            Ok(_) | Err(_) => [("input".to_owned(), value.clone())].into_iter().collect(),
        },
        other => [("input".to_owned(), other.clone())].into_iter().collect(),
    }
}

impl Trace {
    /// Whether it has a task, a message or a call. The span of a request for `/health` has none of them.
    pub fn has_content(&self) -> bool {
        let is_text = |text: &str| !text.trim().is_empty();
        self.task.as_deref().is_some_and(is_text)
            || !self.files.is_empty()
            || self.steps.iter().any(|step| {
                is_text(&step.text)
                    || is_text(&step.reasoning)
                    || step.screenshot.is_some()
                    || !(step.tool_calls.is_empty() && step.results.is_empty() && step.files.is_empty())
            })
    }

    /// Every tool call in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().flat_map(|step| &step.tool_calls)
    }

    /// The last message of the agent.
    pub fn answer(&self) -> Option<&str> {
        let said = self.steps.iter().rev().filter(|step| step.role == StepRole::Assistant && step.depth == 0);
        said.map(|step| step.text.as_str()).find(|text| !text.is_empty())
    }

    /// All messages, calls and results, one line for each.
    pub fn full_text(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for step in &self.steps {
            lines.extend([&step.text, &step.reasoning].map(String::clone));
            lines.extend(
                step.tool_calls
                    .iter()
                    .map(|call| format!("{} {}", call.name, Value::Object(call.arguments.clone()))),
            );
            lines.extend(step.results.iter().map(|result| result.text.clone()));
        }
        lines.extend(self.file_changes().map(|change| change.path.clone()));
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }

    /// Every file change, of the run and of its steps.
    pub fn file_changes(&self) -> impl Iterator<Item = &FileChange> {
        self.files.iter().chain(self.steps.iter().flat_map(|step| &step.files))
    }
}
