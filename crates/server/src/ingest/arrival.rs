//! Parses and redacts received traces and pieces.

use jurist_core::candidate::{Trace, TraceError, TraceFormat, Usage, read_trace_value};
use jurist_core::grade::{Time, Usd};
use jurist_core::redact::Redactor;
use jurist_store::pieces::{NewPiece, PieceKind};
use jurist_store::traces::FinishedTrace;
use jurist_store::{BadTraceId, Probability, TraceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use utoipa::ToSchema;

use super::otlp::{Spans, read_json_spans};

/// A complete trace in `trace`, or parts of one in `pieces`.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceEnvelope {
    /// Id of the trace; a repeated trace is stored once. Without an id, a complete trace gets the hash of its
    /// content.
    #[schema(max_length = 256)]
    id: Option<String>,
    /// Which agent it is of.
    agent: Option<String>,
    /// The conversation it belongs to.
    session: Option<String>,
    /// Trace format [default: detected].
    #[schema(example = "openai-chat")]
    format: Option<String>,
    /// When it began, as RFC 3339.
    #[schema(value_type = Option<String>, format = DateTime)]
    time: Option<Time>,
    /// Whether the agent failed, where its status does not say so.
    failed: Option<bool>,
    /// Metadata of the trace, such as the version of the agent.
    #[schema(value_type = Option<Object>)]
    #[serde(default)]
    metadata: Map<String, Json>,
    /// A complete trace in any format that `jurist trace` reads.
    #[schema(value_type = Option<Object>)]
    trace: Option<Json>,
    /// Parts of a trace, in any order and perhaps twice.
    pieces: Option<Vec<SentPiece>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SentPiece {
    /// Id of the piece within its trace; a repeated piece is stored once.
    #[schema(max_length = 256)]
    id: String,
    /// Kind of the piece.
    kind: SentKind,
    /// Time as RFC 3339 [default: now]. Events are read in this order.
    #[schema(value_type = Option<String>, format = DateTime)]
    time: Option<Time>,
    /// Of a start: `task`, `format`, `metadata`. Of an event: a message or step in any format. Of a finish:
    /// `status`, `failed`, `cost`, `usage`, `metadata`.
    #[schema(value_type = Object)]
    #[serde(default)]
    body: Json,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SentKind {
    Start,
    Event,
    Finish,
}

/// Body of a start piece.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StartBody {
    pub task: Option<String>,
    pub format: Option<String>,
    pub metadata: Map<String, Json>,
}

/// Body of a finish piece.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FinishBody {
    pub status: Option<String>,
    pub failed: Option<bool>,
    pub cost: Option<Usd>,
    pub usage: Option<Usage>,
    pub metadata: Map<String, Json>,
}

/// Parsed data that can be stored.
#[derive(Debug)]
pub enum Arrival {
    Whole { id: TraceId, finished: Box<FinishedTrace> },
    Pieces { id: TraceId, pieces: Vec<NewPiece> },
    Spans(Spans),
}

/// Why received data is refused.
#[derive(Debug, thiserror::Error)]
pub enum BadArrival {
    #[error(transparent)]
    Id(#[from] BadTraceId),
    #[error("{0}")]
    NotSent(serde_json::Error),
    #[error("either `trace` or `pieces` is needed, and not both")]
    NotOne,
    #[error("`pieces` need the `id` of their trace")]
    NoId,
    #[error("`{0}` is not a format; there are {names}", names = TraceFormat::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", "))]
    Format(String),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("there is nothing in it")]
    Nothing,
    #[error("the id of a piece has 1 to 256 bytes and no control characters")]
    PieceId,
    #[error("piece `{id}`: {error}")]
    Piece { id: String, error: serde_json::Error },
}

/// Defaults for fields that the data leaves out.
#[derive(Debug, Clone, Default)]
pub struct IngestDefaults {
    pub format: Option<TraceFormat>,
    pub agent: Option<String>,
    pub session: Option<String>,
}

impl Arrival {
    /// Parses one value: an envelope, OTLP spans, or a trace in any format.
    pub fn read(
        mut value: Json,
        defaults: &IngestDefaults,
        redactor: &Redactor,
        now: Time,
    ) -> Result<Self, BadArrival> {
        if value.get("resourceSpans").is_some_and(Json::is_array) && defaults.format.is_none_or(is_otlp) {
            return Ok(Self::Spans(read_json_spans(&mut value, redactor, now)));
        }
        let sent = if is_envelope(&value) {
            serde_json::from_value(value).map_err(BadArrival::NotSent)?
        } else {
            let text_of = |key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
            let metadata = value.get("metadata").and_then(Json::as_object).cloned().unwrap_or_default();
            let (agent, session) = (text_of("agent"), text_of("session"));
            TraceEnvelope { agent, session, metadata, trace: Some(value), ..TraceEnvelope::default() }
        };
        sent.read(defaults, redactor, now)
    }
}

fn is_otlp(format: TraceFormat) -> bool {
    format == TraceFormat::Otlp
}

/// Whether a value is an envelope. Other formats have neither of these keys at the top level, except `trace` together
/// with keys that an envelope does not have.
fn is_envelope(value: &Json) -> bool {
    let ours = ["id", "agent", "session", "format", "time", "failed", "metadata", "trace", "pieces"];
    value.as_object().is_some_and(|object| {
        object.contains_key("pieces")
            || (object.contains_key("trace") && object.keys().all(|key| ours.contains(&key.as_str())))
    })
}

impl TraceEnvelope {
    pub fn read(
        mut self,
        defaults: &IngestDefaults,
        redactor: &Redactor,
        now: Time,
    ) -> Result<Arrival, BadArrival> {
        self.agent = self.agent.or_else(|| defaults.agent.clone()).and_then(|agent| clean_name(&agent));
        self.session =
            self.session.or_else(|| defaults.session.clone()).and_then(|session| clean_name(&session));
        let format = self.format.as_deref().map(format_named).transpose()?.or(defaults.format);
        match (self.trace.take(), self.pieces.take()) {
            (Some(trace), None) => self.whole(trace, format, redactor, now),
            (None, Some(pieces)) => self.in_pieces(pieces, format, redactor, now),
            _ => Err(BadArrival::NotOne),
        }
    }

    fn whole(
        self,
        mut value: Json,
        format: Option<TraceFormat>,
        redactor: &Redactor,
        now: Time,
    ) -> Result<Arrival, BadArrival> {
        redactor.data(&mut value);
        let (format, mut trace) = read_trace_value(&value, format)?;
        if trace == Trace::default() {
            return Err(BadArrival::Nothing);
        }
        trace.status = trace.status.and_then(|status| clean_name(&status));
        let id = match self.id.or_else(|| trace.id.clone()) {
            Some(id) => TraceId::new(id)?,
            None => content_trace_id(&trace),
        };
        let times = || trace.steps.iter().filter_map(|step| step.time);
        let duration = times().min().zip(times().max()).map(|time| time.1.micros() - time.0.micros());
        let started = self.time.or_else(|| times().min()).unwrap_or(now);
        let mut metadata = Json::Object(self.metadata);
        redactor.data(&mut metadata);
        metadata["format"] = json!(format.name());
        let is_failed = self.failed.unwrap_or_else(|| trace.status.as_deref().is_some_and(means_failure));
        let finished = FinishedTrace {
            agent: self.agent,
            session: self.session,
            is_failed,
            started,
            duration: duration.filter(|duration| 0 < *duration),
            probability: Probability::CERTAIN,
            metadata,
            trace,
        };
        Ok(Arrival::Whole { id, finished: Box::new(finished) })
    }

    fn in_pieces(
        self,
        pieces: Vec<SentPiece>,
        format: Option<TraceFormat>,
        redactor: &Redactor,
        now: Time,
    ) -> Result<Arrival, BadArrival> {
        let id = TraceId::new(self.id.ok_or(BadArrival::NoId)?)?;
        let mut new = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let (kind, body) = piece.validate_body(format, redactor)?;
            new.push(NewPiece {
                trace: id.clone(),
                id: piece.id,
                kind,
                time: piece.time.or(self.time).unwrap_or(now),
                body,
                agent: self.agent.clone(),
                session: self.session.clone(),
            });
        }
        Ok(Arrival::Pieces { id, pieces: new })
    }
}

impl SentPiece {
    /// Validates the body of a piece, which is parsed again when the trace is assembled.
    fn validate_body(
        &self,
        format: Option<TraceFormat>,
        redactor: &Redactor,
    ) -> Result<(PieceKind, Vec<u8>), BadArrival> {
        TraceId::new(self.id.as_str()).map_err(|_| BadArrival::PieceId)?;
        let bad = |error| BadArrival::Piece { id: self.id.clone(), error };
        let mut body = if self.body.is_null() && !matches!(self.kind, SentKind::Event) {
            json!({})
        } else {
            self.body.clone()
        };
        redactor.data(&mut body);
        let (kind, body) = match self.kind {
            SentKind::Event => (PieceKind::Event, body),
            SentKind::Start => {
                let mut start: StartBody = serde_json::from_value(body).map_err(bad)?;
                start.format = start.format.or_else(|| format.map(|format| format.name().to_owned()));
                start.format.as_deref().map(format_named).transpose()?;
                (PieceKind::Start, serde_json::to_value(start).map_err(bad)?)
            }
            SentKind::Finish => {
                let finish: FinishBody = serde_json::from_value(body).map_err(bad)?;
                (PieceKind::Finish, serde_json::to_value(finish).map_err(bad)?)
            }
        };
        Ok((kind, body.to_string().into_bytes()))
    }
}

fn format_named(name: &str) -> Result<TraceFormat, BadArrival> {
    TraceFormat::from_name(name).ok_or_else(|| BadArrival::Format(name.to_owned()))
}

/// An id from the hash of the content, so that a repeated trace is stored once.
fn content_trace_id(trace: &Trace) -> TraceId {
    let text = serde_json::to_vec(trace).expect("a trace is plain data");
    let hash = blake3::hash(&text).to_hex();
    TraceId::new(format!("trc_{}", &hash[..32])).expect("it is short and plain")
}

/// Whether a framework's final status means failure.
pub fn means_failure(status: &str) -> bool {
    let words = ["error", "failed", "failure", "timeout", "timed_out", "crashed", "aborted", "exception"];
    words.iter().any(|word| status.eq_ignore_ascii_case(word))
}

/// A name in its stored form: one line of at most 200 characters; `None` if it is empty.
pub fn clean_name(text: &str) -> Option<String> {
    let clean: String = text.trim().chars().filter(|letter| !letter.is_control()).take(200).collect();
    (!clean.is_empty()).then_some(clean)
}
