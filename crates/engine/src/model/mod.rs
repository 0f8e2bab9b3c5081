//! Anything that answers a prompt: HTTP APIs of four protocols, a program, a script of replies.

pub mod anthropic;
pub mod command;
pub mod forms;
pub mod gemini;
pub mod guard;
pub mod http;
pub mod openai_chat;
pub mod openai_responses;
pub(crate) mod names;
mod ping;
pub mod resolve;
pub mod script;
mod stream;
pub mod vendors;

pub use ping::build_ping_request;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::candidate::{GuardrailReport, ToolCall, ToolResult, Usage};
use jurist_core::grade::Failure;
use jurist_core::judge::InReplyOrder;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A model request. It contains everything that influences the reply, so that its hash is a cache key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// With its vendor, such as `openai/gpt-5-mini`.
    pub model: String,
    pub system: String,
    pub messages: Vec<Message>,
    /// JSON Schema of the reply; null for free text.
    #[serde(serialize_with = "schema_in_order")]
    pub schema: Json,
    /// What the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    pub max_tokens: u32,
    /// Which of several independent draws this is.
    #[serde(default, skip_serializing_if = "is_first_draw")]
    pub draw: u32,
    /// Whether the log-probabilities of the reply's tokens are requested. Protocols without them leave it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_probabilities: bool,
    /// Whether the report of the provider's content filters is needed. A reply that was stored without one is no answer
    /// to such a request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guardrails: bool,
}

fn is_first_draw(number: &u32) -> bool {
    *number == 0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub role: MessageRole,
    /// What stays the same across requests comes first, for providers' prompt caches.
    pub parts: Vec<String>,
    /// Tool calls of the model, in its own messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// What came of its calls, where it is answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ToolResult>,
}

impl Message {
    pub fn new(role: MessageRole, parts: Vec<String>) -> Self {
        Self { role, parts, calls: Vec::new(), results: Vec::new() }
    }
}

/// The tool that returns the reply, where a server cannot enforce a schema in another way.
pub(crate) const REPLY_TOOL: &str = "grade";

/// The reply in a call of that tool; calls of other tools are ignored.
///
/// A server may make a call of a text that only looks like one, such as one that a judge quotes.
pub(crate) fn reply_tool_text<'a>(calls: impl Iterator<Item = &'a Json>, arguments: &str) -> Option<String> {
    let own = calls.filter(|call| call["name"] == REPLY_TOOL).map(|call| &call[arguments]);
    let texts: Vec<String> =
        own.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Something that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// Of its arguments.
    pub schema: Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    User,
    Assistant,
}

/// A body for the wire, in which the schema of a reply keeps the order of the reply.
pub(crate) fn in_reply_order(body: &Json) -> String {
    serde_json::to_string(&InReplyOrder(body)).expect("JSON is plain data")
}

fn schema_in_order<S: serde::Serializer>(schema: &Json, serializer: S) -> Result<S::Ok, S::Error> {
    InReplyOrder(schema).serialize(serializer)
}

impl Request {
    /// The hash of everything the model sees and every parameter.
    pub fn key(&self) -> String {
        let text = serde_json::to_vec(self).expect("a request is plain data");
        blake3::hash(&text).to_hex().to_string()
    }

    /// The most tokens that it and its reply can count.
    pub fn most_usage(&self) -> Usage {
        Usage { input: self.most_tokens_in(), output: u64::from(self.max_tokens), cached: 0 }
    }

    /// No tokenizer makes more tokens than there are bytes, and framing takes a few.
    pub fn most_tokens_in(&self) -> u64 {
        let parts = self.messages.iter().flat_map(|message| &message.parts).map(String::len).sum::<usize>();
        let results = self
            .messages
            .iter()
            .flat_map(|message| &message.results)
            .map(|tool_result| 64 + tool_result.text.len())
            .sum::<usize>();
        let calls = self.messages.iter().flat_map(|message| &message.calls);
        let calls =
            calls.map(|call| 64 + serde_json::to_string(call).map_or(0, |text| text.len())).sum::<usize>();
        let tools = self.tools.iter().map(|tool| 64 + tool.description.len() + tool.schema.to_string().len());
        let schemas = self.schema.to_string().len() + tools.sum::<usize>();
        (parts + results + calls + self.system.len() + schemas + 64 * (self.messages.len() + 1)) as u64
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelReply {
    #[serde(default)]
    pub text: String,
    /// Tool calls that the model requests, if the request had tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub usage: Usage,
    #[serde(default)]
    pub stop: StopReason,
    /// The vendor's word for what stopped the model, where neither the model nor the limit did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Tokens in that are paid once more on top, such as a quarter of those a vendor cached for later.
    #[serde(default, skip_serializing_if = "is_none")]
    pub surcharged: u64,
    /// How long the model took, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Mean natural logarithm of the tokens' probabilities, if the request asked for it and the vendor returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_log_probability: Option<f64>,
    /// The report of the provider's content filters, if it has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<GuardrailReport>,
    /// Requests that were sent before this one in forms that the server refused.
    #[serde(skip)]
    pub n_refused: u32,
}

impl ModelReply {
    /// Why there is no whole reply, where neither the model nor the limit stopped it.
    pub fn describe_stop(&self) -> Option<String> {
        // Any server writes it.
        let word = self.stopped_by.as_ref().map(|word| word.chars().take(100).collect::<String>());
        match (self.stop, word) {
            (StopReason::Refusal, Some(word)) => Some(format!("the vendor stopped the reply: `{word}`")),
            (StopReason::Other, Some(word)) => {
                Some(format!("the model stopped before the end of its reply: `{word}`"))
            }
            (StopReason::Other, None) => Some("the model stopped before the end of its reply".to_owned()),
            (StopReason::Refusal, None) | (StopReason::End | StopReason::Length, _) => None,
        }
    }
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopReason {
    #[default]
    End,
    /// It ran into the limit of tokens.
    Length,
    /// It would not answer, or the vendor would not let it.
    Refusal,
    /// Something else, so that the reply may be a part of what the model would have said.
    Other,
}

/// Error, if there is no reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{detail}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub detail: String,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// The request went out and may have been served, so it may have to be paid.
    pub maybe_billed: bool,
    /// What the server counted although there is no reply.
    pub usage: Usage,
    /// Requests that were sent before this one in forms that the server refused.
    pub n_refused: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    Timeout,
    RateLimit,
    /// Not reached, or broken on its side.
    Unavailable,
    /// A key is wrong or its credit is used up, so all further requests will fail too.
    Auth,
    /// This request is not allowed; others may be.
    Forbidden,
    /// The request is wrong and will stay wrong.
    Rejected,
    /// The server does not take this form of structured output.
    Unsupported,
    /// What came back is no reply of this protocol.
    NotUnderstood,
    NoKey,
    OverBudget,
    /// Nothing like it was recorded.
    NotRecorded,
    /// It waits in a batch.
    Pending,
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            retry_after: None,
            maybe_billed: false,
            usage: Usage::default(),
            n_refused: 0,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, ModelErrorKind::Timeout | ModelErrorKind::RateLimit | ModelErrorKind::Unavailable)
    }

    pub fn failure(&self) -> Failure {
        match self.kind {
            ModelErrorKind::Timeout => Failure::Timeout,
            ModelErrorKind::RateLimit => Failure::RateLimit,
            ModelErrorKind::Auth | ModelErrorKind::Forbidden | ModelErrorKind::NoKey => Failure::Auth,
            _ => Failure::Unavailable,
        }
    }
}

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Anything that answers a prompt.
pub trait LanguageModel: Send + Sync + std::fmt::Debug {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>>;

    /// Why the model cannot be called, where that is known before.
    fn missing_key(&self) -> Option<&str> {
        None
    }
}

/// A model that can be called, with its limits and price.
#[derive(Debug, Clone)]
pub struct ModelEndpoint {
    pub model: Arc<dyn LanguageModel>,
    /// Limits and the circuit are per vendor.
    pub vendor: String,
    /// With its vendor, as requests name it.
    pub name: String,
    /// `None`: unknown; such a model does not run under a cap.
    pub price: Option<vendors::Price>,
    /// Where it is; the same name elsewhere is another model.
    pub address: String,
    /// The same model, where it is behind HTTP and can be reached.
    pub http: Option<Arc<http::HttpModel>>,
}

/// A key, which nothing prints.
#[derive(Clone, PartialEq, Eq)]
pub struct VendorSecret(String);

impl VendorSecret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text with this key replaced.
    pub fn strip(&self, text: &str) -> String {
        // A header such as `1` is no secret, and occurs everywhere.
        if self.0.len() < 6 { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl std::fmt::Debug for VendorSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[key]")
    }
}
