//! Traces of every framework to the one [`Trace`]; a file per format.
//!
//! A format is recognised by keys that no other has. Nothing is guessed silently: input that is there
//! and from which nothing can be read is an error that lists what is understood.

mod action;
mod aider;
mod claude_code;
mod langchain;
mod langgraph;
mod mcp;
mod message;
mod otlp;
mod own_form;
mod potato;
mod react;
mod replay;
mod responses;
mod sharegpt;
mod swe_agent;
mod text;
mod webarena;

pub(crate) use action::parse_literal;
pub(crate) use message::{call_duration_ms, plain_calls};
use serde_json::Value;

use super::measurements::Measurements;
use super::trace::Trace;

macro_rules! formats {
    ($($variant:ident $name:literal $what:literal,)*) => {
        /// A way to write down what an agent did.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TraceFormat { $(#[doc = $what] $variant,)* }

        impl TraceFormat {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub fn what(self) -> &'static str {
                match self { $(Self::$variant => $what,)* }
            }
        }
    };
}

// In the order in which they are tried: what is most particular comes first.
formats! {
    Jurist "jurist" "Jurist's own form, as `jurist trace convert` prints it",
    Otlp "otlp" "OpenTelemetry spans with GenAI, OpenInference, Traceloop or Vercel attributes",
    ClaudeCode "claude-code" "session logs of Claude Code",
    SweAgent "swe-agent" "SWE-agent trajectories",
    Langgraph "langgraph" "LangGraph node trajectories",
    Mcp "mcp" "transcripts of the Model Context Protocol",
    WebArena "webarena" "steps of web agents: WebArena, BrowserGym, Mind2Web",
    React "react" "thought, action and observation: ReAct and ATIF steps",
    Potato "potato" "Potato's turns and canonical traces",
    ShareGpt "sharegpt" "conversations of ShareGPT, as datasets for training have them",
    OpenaiResponses "openai-responses" "items of OpenAI's Responses API",
    Langchain "langchain" "LangChain messages and run trees",
    Anthropic "anthropic" "messages of Anthropic's API",
    OpenaiChat "openai-chat" "messages of OpenAI's chat API",
    Aider "aider" "Aider's chat history",
    Text "text" "plain text",
}

impl TraceFormat {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|trace_format| trace_format.name() == name)
    }

    /// Whether a value carries the marks of this format.
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Jurist => own_form::is_own_form(value),
            Self::Otlp => otlp::is_otel_trace(value),
            Self::ClaudeCode => claude_code::is_claude_code_log(value),
            Self::SweAgent => swe_agent::is_swe_agent_trajectory(value),
            Self::Langgraph => langgraph::is_langgraph_trajectory(value),
            Self::Mcp => mcp::is_mcp_transcript(value),
            Self::WebArena => webarena::is_web_agent_trace(value),
            Self::React => react::is_react_trace(value),
            Self::Potato => potato::is_potato_trace(value),
            Self::ShareGpt => sharegpt::is_sharegpt_conversation(value),
            Self::OpenaiResponses => responses::is_responses_trace(value),
            Self::Langchain => langchain::is_langchain_trace(value),
            Self::Anthropic => message::fits_anthropic(value),
            Self::OpenaiChat => message::fits_openai(value),
            Self::Aider => aider::is_aider_history(value),
            Self::Text => value.is_string(),
        }
    }

    fn read(self, value: &Value) -> Trace {
        match self {
            Self::Jurist => own_form::read_own_form(value),
            Self::Otlp => otlp::read_otel_trace(value),
            Self::ClaudeCode => claude_code::read_claude_code_log(value),
            Self::SweAgent => swe_agent::read_swe_agent_trajectory(value),
            Self::Langgraph => langgraph::read_langgraph_trajectory(value),
            Self::Mcp => mcp::read_mcp_transcript(value),
            Self::WebArena => webarena::read_web_agent_trace(value),
            Self::React => react::read_react_trace(value),
            Self::Potato => potato::read_potato_trace(value),
            Self::ShareGpt => sharegpt::read_sharegpt_conversation(value),
            Self::OpenaiResponses => responses::read_responses_trace(value),
            Self::Langchain => langchain::read_langchain_trace(value),
            Self::Anthropic | Self::OpenaiChat => message::read_chat_trace(value),
            Self::Aider => aider::read_aider_history(value),
            Self::Text => text::read_text_trace(value),
        }
    }
}

/// Why a trace cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TraceError {
    #[error("this is not a trace in a known format: {hint}; known formats are {}", trace_format_names())]
    NotUnderstood { hint: String },
    #[error("nothing in it can be read as {}; understood are {}", .0.name(), trace_format_names())]
    NothingRead(TraceFormat),
    #[error(
        "it has tool calls that cannot be read; write each as `{{\"name\": …, \"arguments\": …}}` in the list `tool_calls` of \
         its message"
    )]
    UnreadCalls,
    #[error("`{written}` is no key of a trace in Jurist's own form; is `{meant}` meant?")]
    MisspeltKey { written: String, meant: &'static str },
}

fn trace_format_names() -> String {
    TraceFormat::ALL.iter().map(|trace_format| trace_format.name()).collect::<Vec<_>>().join(", ")
}

/// Reads JSON, JSON lines or plain text. The format is detected if `format` is `None`.
pub fn read_trace(text: &str, format: Option<TraceFormat>) -> Result<(TraceFormat, Trace), TraceError> {
    read_trace_value(&value_of(text), format)
}

/// Every trace of a file: one, or one on each line.
pub fn read_traces(text: &str, format: Option<TraceFormat>) -> Result<Vec<(TraceFormat, Trace)>, TraceError> {
    let whole = read_trace(text, format);
    let is_guess = matches!(whole, Ok((TraceFormat::Text, _)) | Err(_))
        && format.is_none_or(|format| format != TraceFormat::Text);
    let Value::Array(lines) = value_of(text) else { return whole.map(|whole| vec![whole]) };
    if !is_guess {
        return whole.map(|whole| vec![whole]);
    }
    let each: Result<Vec<(TraceFormat, Trace)>, TraceError> =
        lines.iter().map(|line| read_trace_value(line, format)).collect();
    match each {
        Err(error @ TraceError::MisspeltKey { .. }) => Err(error),
        each => each.or_else(|_| whole.map(|whole| vec![whole])),
    }
}

/// A text as the value its formats speak of: JSON, a list of JSON lines, or itself.
fn value_of(text: &str) -> Value {
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(trimmed) {
        return value;
    }
    let lines: Option<Vec<Value>> = trimmed
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            serde_json::from_str::<Value>(line).ok().filter(|value| value.is_object() || value.is_array())
        })
        .collect();
    lines.filter(|line| !line.is_empty()).map_or_else(|| Value::from(text), Value::Array)
}

/// Like [`read_trace`], for a value that is JSON already.
pub fn read_trace_value(
    value: &Value,
    format: Option<TraceFormat>,
) -> Result<(TraceFormat, Trace), TraceError> {
    // JSON inside a text is what some tools write into a field.
    if let Value::String(text) = value
        && let inner @ (Value::Object(_) | Value::Array(_)) = value_of(text)
    {
        return read_trace_value(&inner, format);
    }
    if is_nothing(value) {
        return Ok((format.unwrap_or(TraceFormat::Text), Trace::default()));
    }
    if matches!(format, None | Some(TraceFormat::Jurist)) {
        own_form::check_keys(value)?;
    }
    let Some(found) = format.or_else(|| recognise(value)) else {
        return Err(TraceError::NotUnderstood { hint: describe_value_shape(value) });
    };
    let mut trace = with_envelope(found.read(value), value);
    trace.steps.retain(|step| !step.is_empty());
    let is_empty = trace.steps.is_empty() && trace.nodes.is_empty() && trace.files.is_empty();
    // Messages without contents are a trace without contents.
    // Spans may count the tokens of messages that they do not contain.
    let is_counted = found == TraceFormat::Otlp && !trace.usage.is_nothing();
    // A trace that was written from such spans has no more contents than they had.
    let is_written = found == TraceFormat::Jurist && found.fits(value);
    let may_be_empty = is_counted || is_written || (found.fits(value) && has_only_speaker_names(value));
    if is_empty && !may_be_empty {
        return Err(TraceError::NothingRead(found));
    }
    let has_unread_calls = match found {
        TraceFormat::ShareGpt => sharegpt::has_unread_sharegpt_calls(value),
        _ => is_chat_format(found) && message::has_unread_calls(value),
    };
    if has_unread_calls {
        return Err(TraceError::UnreadCalls);
    }
    if trace.usage.is_nothing() {
        trace.usage = trace.steps.iter().fold(trace.usage, |sum, step| sum.plus(step.usage));
    }
    Ok((found, trace))
}

/// The format whose marks a value carries; JSON inside a text counts as what it is.
pub(crate) fn recognise(value: &Value) -> Option<TraceFormat> {
    // Most texts are words, and their first letter already shows that they are not JSON.
    let may_be_json = |text: &str| text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    if let Value::String(text) = value
        && may_be_json(text)
        && let inner @ (Value::Object(_) | Value::Array(_)) = value_of(text)
    {
        return recognise(&inner);
    }
    if message::is_plain(value) {
        return Some(TraceFormat::OpenaiChat);
    }
    TraceFormat::ALL.iter().copied().find(|format| format.fits(value))
}

/// What people write around a trace of any format, where the format itself says nothing of it.
fn with_envelope(mut trace: Trace, value: &Value) -> Trace {
    let said = |keys: &[&str]| first_text_field(value, keys).map(str::to_owned);
    trace.id = trace.id.or_else(|| said(&["trace_id", "run_id", "id"]));
    trace.task = trace.task.or_else(|| said(&["task"]));
    trace.status = trace.status.or_else(|| said(&["status"]));
    let measured = Measurements::from_json(value);
    trace.duration_ms = trace.duration_ms.or(measured.duration_ms);
    trace.cost = trace.cost.or(measured.cost);
    trace
}

/// Whether a format is a list of messages or turns.
fn is_chat_format(format: TraceFormat) -> bool {
    use TraceFormat::{Anthropic, Langchain, OpenaiChat, Potato};
    matches!(format, OpenaiChat | Anthropic | Langchain | Potato)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(it) => it.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether it holds nothing but the names of speakers.
fn has_only_speaker_names(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(has_only_speaker_names),
        Value::Object(map) => map.iter().all(|(key, value)| {
            matches!(key.as_str(), "role" | "speaker" | "id" | "name") || has_only_speaker_names(value)
        }),
        other => is_nothing(other),
    }
}

fn describe_value_shape(value: &Value) -> String {
    let keys = |value: &Value| {
        value.as_object().map(|object| object.keys().take(8).cloned().collect::<Vec<_>>().join(", "))
    };
    match value {
        Value::Array(items) => match items.first().and_then(keys) {
            Some(keys) => format!("a list whose first entry has the keys {keys}"),
            None => "a list of plain values".to_owned(),
        },
        Value::Object(_) => format!("an object with the keys {}", keys(value).unwrap_or_default()),
        _ => "a plain value".to_owned(),
    }
}

/// The list inside whatever holds it: `{"messages": […]}`, or the list itself.
fn nested_items<'v>(value: &'v Value, keys: &[&str]) -> &'v [Value] {
    let inner = keys.iter().find_map(|key| value.get(*key)).filter(|map| map.is_array()).unwrap_or(value);
    match inner {
        Value::Array(items) => items,
        Value::Object(_) => std::slice::from_ref(inner),
        _ => &[],
    }
}

fn first_text_field<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| value.get(*key)?.as_str())
}

/// A value as people read it: text as it is, everything else as JSON.
fn compact_value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn first_count_field(value: &Value, keys: &[&str]) -> u64 {
    keys.iter().find_map(|key| value.get(*key)?.as_u64()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
