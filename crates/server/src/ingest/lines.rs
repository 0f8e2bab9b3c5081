//! Bulk upload of traces, one per line. Every line gets a result, and an invalid line does not affect the others.

use std::collections::BTreeSet;

use axum::body::{Body, BodyDataStream};
use futures_util::{StreamExt, stream};
use jurist_core::grade::Time;
use jurist_core::redact::Redactor;
use jurist_store::pieces::{MAX_PIECES, PieceName};
use jurist_store::traces::{FinishedTrace, PutOutcome};
use jurist_store::{ProjectId, Store, StoreError, TraceId, clock};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::admission::{AdmittedRequest, MAX_DECODED_BYTES, USUAL_GROWTH};
use super::arrival::{Arrival, IngestDefaults};
use super::decoded_size::estimate_decoded_bytes;
use super::otlp::{Encoding, Spans};
use crate::blocking::block_if_long;
use crate::error::ApiError;

/// Lines that are decoded together and written in one transaction, and their bytes.
const BATCH: usize = 200;
const BATCH_BYTES: usize = 1024 * 1024;
/// Concurrent writes of pieces; the store joins them to one commit.
const AT_ONCE: usize = 16;

/// Result of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineStatus {
    /// It is kept.
    Accepted,
    /// It was there already.
    Repeated,
    /// Something else of that name was there already, and stays.
    Conflict,
    /// It cannot be read.
    Error,
}

/// The answer to one line.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LineAnswer {
    /// From 1.
    pub line: usize,
    /// Whether the line was stored.
    pub status: LineStatus,
    /// Of the trace, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why the line was refused; `null` if it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl LineAnswer {
    pub fn error(line: usize, why: impl Into<String>) -> Self {
        Self { line, status: LineStatus::Error, id: None, detail: Some(why.into()) }
    }

    /// As JSON, with the end of the line.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("an answer is plain data") + "\n"
    }
}

/// A complete trace, and the line that it comes from.
struct WholeTraceLine {
    line: usize,
    id: TraceId,
    finished: FinishedTrace,
}

/// Destination and redaction of uploaded traces.
#[derive(Debug)]
pub struct Intake<'a> {
    pub store: &'a Store,
    pub project: ProjectId,
    pub redactor: &'a Redactor,
    pub defaults: IngestDefaults,
}

impl Intake<'_> {
    /// Stores every valid line. When this returns, accepted lines are on disk.
    pub async fn take(&self, lines: Vec<(usize, Vec<u8>)>) -> Result<Vec<LineAnswer>, StoreError> {
        let (mut answers, mut wholes, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let now = clock::current_time();
        let n_bytes = lines.iter().map(|(_, text)| text.len()).sum();
        block_if_long(n_bytes, || {
            for (line, text) in lines {
                match self.read(&text, now) {
                    Ok(Arrival::Whole { id, finished }) => {
                        wholes.push(WholeTraceLine { line, id, finished: *finished });
                    }
                    Ok(other) => parts.push((line, other)),
                    Err(why) => answers.push(LineAnswer::error(line, why)),
                }
            }
        });
        let mut wholes = wholes.into_iter().peekable();
        while wholes.peek().is_some() {
            let batch: Vec<WholeTraceLine> = wholes.by_ref().take(BATCH).collect();
            answers.extend(self.put_wholes(batch, now).await?);
        }
        let puts =
            stream::iter(parts).map(|(line, arrival)| self.put_part(line, arrival, now)).buffered(AT_ONCE);
        let puts: Vec<Result<LineAnswer, StoreError>> = puts.collect().await;
        for put in puts {
            answers.push(put?);
        }
        answers.sort_by_key(|answer| answer.line);
        Ok(answers)
    }

    fn read(&self, text: &[u8], now: Time) -> Result<Arrival, String> {
        let value = serde_json::from_slice(text).map_err(|error| format!("not valid JSON: {error}"))?;
        Arrival::read(value, &self.defaults, self.redactor, now)
            .map_err(|bad_arrival| shorten_message(bad_arrival.to_string()))
    }

    async fn put_wholes(&self, batch: Vec<WholeTraceLine>, now: Time) -> Result<Vec<LineAnswer>, StoreError> {
        let lines: Vec<usize> = batch.iter().map(|whole| whole.line).collect();
        let traces: Vec<(TraceId, FinishedTrace)> =
            batch.into_iter().map(|whole| (whole.id, whole.finished)).collect();
        let puts = self.store.put_traces(self.project, &traces, now).await?;
        let agents: BTreeSet<&str> =
            traces.iter().filter_map(|(_, finished)| finished.agent.as_deref()).collect();
        for agent in agents {
            self.store.see_agent(self.project, agent, now).await?;
        }
        let answer = |((line, put), (id, _)): ((usize, PutOutcome), &(TraceId, FinishedTrace))| LineAnswer {
            line,
            status: match put {
                PutOutcome::New => LineStatus::Accepted,
                PutOutcome::Repeated => LineStatus::Repeated,
                PutOutcome::Conflict => LineStatus::Conflict,
            },
            id: Some(id.to_string()),
            detail: None,
        };
        Ok(lines.into_iter().zip(puts).zip(&traces).map(answer).collect())
    }

    async fn put_part(&self, line: usize, arrival: Arrival, now: Time) -> Result<LineAnswer, StoreError> {
        let (id, pieces, spans) = match arrival {
            Arrival::Pieces { id, pieces } => (Some(id.to_string()), pieces, Spans::default()),
            Arrival::Spans(mut spans) => (None, std::mem::take(&mut spans.pieces), spans),
            Arrival::Whole { .. } => unreachable!("whole traces are put together with others"),
        };
        let (n_sent, n_own) = (pieces.len(), spans.n_own);
        let receipt = self.store.put_pieces(self.project, pieces, now).await?;
        let mut why = spans.reasons;
        why.extend(receipt.conflicts.iter().map(|PieceName { trace, id }| {
            format!("`{id}` of `{trace}` is already stored with other content")
        }));
        if !receipt.refused.is_empty() {
            let n_refused = receipt.refused.len();
            why.push(format!("{n_refused} pieces exceed the limit of {MAX_PIECES} per trace"));
        }
        let status = match () {
            () if 0 < spans.n_rejected || !receipt.refused.is_empty() => LineStatus::Error,
            () if !receipt.conflicts.is_empty() => LineStatus::Conflict,
            () if 0 < receipt.n_new || (n_sent == 0 && n_own == 0) => LineStatus::Accepted,
            () => LineStatus::Repeated,
        };
        let detail = (!why.is_empty()).then(|| shorten_message(why.join("; ")));
        Ok(LineAnswer { line, status, id, detail })
    }
}

/// Shortens a message, so that a response repeats little of the request.
fn shorten_message(text: String) -> String {
    if text.len() <= 500 { text } else { text.chars().take(400).chain("…".chars()).collect() }
}

/// Lines that were read and are not yet stored. They are decoded together, so they count together.
#[derive(Debug, Default)]
pub struct LineBatch {
    lines: Vec<(usize, Vec<u8>)>,
    n_bytes: usize,
    decoded_bytes: usize,
}

impl LineBatch {
    /// Adds a line and stores the batch where it is full. Returns the answers to what is decided.
    pub async fn push(
        &mut self,
        line: usize,
        text: Vec<u8>,
        intake: &Intake<'_>,
        pass: &mut AdmittedRequest,
    ) -> Result<Vec<LineAnswer>, ApiError> {
        let decoded_bytes = estimate_decoded_bytes(&text, Encoding::Json);
        if MAX_DECODED_BYTES < decoded_bytes {
            pass.shrink(text.len());
            return Ok(vec![LineAnswer::error(line, "the line has more values than fit into memory")]);
        }
        let mut answers = Vec::new();
        // A line of few bytes may be a hundred times as large once it is decoded.
        if BATCH_BYTES * USUAL_GROWTH < self.decoded_bytes + decoded_bytes {
            answers = self.store(intake, pass).await?;
        }
        self.n_bytes += text.len();
        self.decoded_bytes += decoded_bytes;
        self.lines.push((line, text));
        if BATCH <= self.lines.len() || BATCH_BYTES <= self.n_bytes {
            answers.extend(self.store(intake, pass).await?);
        }
        Ok(answers)
    }

    /// Stores the lines and releases their bytes.
    pub async fn store(
        &mut self,
        intake: &Intake<'_>,
        pass: &mut AdmittedRequest,
    ) -> Result<Vec<LineAnswer>, ApiError> {
        let Self { lines, n_bytes, decoded_bytes } = std::mem::take(self);
        let added = pass.admit_decoding(decoded_bytes)?;
        let answers = intake.take(lines).await?;
        pass.shrink(n_bytes + added);
        Ok(answers)
    }
}

/// Reads a body line by line.
#[derive(Debug)]
pub struct BodyLineReader {
    stream: BodyDataStream,
    buffer: Vec<u8>,
    /// Position up to which the buffer was searched for a newline.
    searched: usize,
    longest: usize,
    is_over: bool,
}

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub enum BodyLine {
    Text(Vec<u8>),
    /// A line that is longer than the limit of a body; it was skipped.
    TooLong,
}

impl BodyLineReader {
    pub fn new(body: Body, longest: usize) -> Self {
        Self { stream: body.into_data_stream(), buffer: Vec::new(), searched: 0, longest, is_over: false }
    }

    /// The next line. Its bytes count against the limit until the caller releases them.
    pub async fn next(&mut self, pass: &mut AdmittedRequest) -> Result<Option<BodyLine>, ApiError> {
        let mut is_too_long = false;
        loop {
            if let Some(at) = self.buffer[self.searched..].iter().position(|buffer| *buffer == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=self.searched + at).collect();
                self.searched = 0;
                // The whole line may have arrived at once.
                is_too_long |= self.longest + 1 < line.len();
                return Ok(Some(if is_too_long {
                    drop_long_line(pass, line.len())
                } else {
                    BodyLine::Text(line)
                }));
            }
            self.searched = self.buffer.len();
            if self.longest < self.buffer.len() {
                is_too_long = true;
                pass.shrink(self.buffer.len());
                self.buffer.clear();
                self.searched = 0;
            }
            if self.is_over {
                let line = std::mem::take(&mut self.buffer);
                self.searched = 0;
                return Ok(match (is_too_long, line.len()) {
                    (true, n) => Some(drop_long_line(pass, n)),
                    (false, 0) => None,
                    (false, _) => Some(BodyLine::Text(line)),
                });
            }
            match self.stream.next().await {
                None => self.is_over = true,
                Some(chunk) => {
                    let chunk = chunk.map_err(|error| ApiError::unread(&error))?;
                    pass.grow(chunk.len())?;
                    self.buffer.extend_from_slice(&chunk);
                }
            }
        }
    }
}

fn drop_long_line(pass: &mut AdmittedRequest, n: usize) -> BodyLine {
    pass.shrink(n);
    BodyLine::TooLong
}
