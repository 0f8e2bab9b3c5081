//! Cassettes: model calls are recorded to a file once, and replayed without an API key.
//!
//! Requests are matched by content, not by order. API keys are in headers, which are not recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jurist_core::candidate::{ToolCall, ToolResult};
use jurist_core::redact::{Redactor, redact};
use serde::{Deserialize, Serialize};

use crate::load::open_file;
use crate::model::{Message, ModelError, ModelErrorKind, ModelReply, Request};

/// Whether calls are recorded or replayed.
#[derive(Debug, Default)]
pub enum Tape {
    #[default]
    Off,
    Record(Recorder),
    Replay(Cassette),
}

/// One call, as a line of a cassette.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedCall {
    request: Request,
    reply: ModelReply,
}

/// Why a cassette cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadCassette {
    #[error("cannot use `{}`: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("`{}`, line {line}: not a recorded call: {error}", path.display())]
    Line { path: PathBuf, line: usize, error: serde_json::Error },
}

impl Tape {
    /// The recorded reply to a request, in replay mode.
    pub(crate) fn replay(&self, request: &Request) -> Option<Result<ModelReply, ModelError>> {
        if let Self::Replay(cassette) = self { Some(cassette.find(request)) } else { None }
    }

    pub(crate) fn record(&self, request: &Request, reply: &ModelReply) {
        if let Self::Record(recorder) = self {
            recorder.add(request, reply);
        }
    }

    /// Writes a recording in its final order, and returns the number of calls.
    pub fn finish(&self) -> Result<usize, BadCassette> {
        if let Self::Record(recorder) = self { recorder.finish() } else { Ok(0) }
    }
}

/// Writes every call to a new file at once, so that paid replies are not lost; the old file is replaced at the end.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    part: PathBuf,
    recording: Mutex<RecordingFile>,
}

#[derive(Debug)]
struct RecordingFile {
    file: fs::File,
    /// Position of each call in the file.
    places: BTreeMap<String, RecordedPlace>,
    end: u64,
}

#[derive(Debug, Clone, Copy)]
struct RecordedPlace {
    start: u64,
    length: usize,
}

impl Recorder {
    pub fn new(path: &Path) -> Result<Self, BadCassette> {
        let bad = |error| BadCassette::File { path: path.to_owned(), error };
        if path.is_dir() {
            return Err(bad(std::io::ErrorKind::IsADirectory.into()));
        }
        let part = PathBuf::from(format!("{}.part", path.display()));
        let mut options = fs::OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).open(&part).map_err(bad)?;
        let recording = Mutex::new(RecordingFile { file, places: BTreeMap::new(), end: 0 });
        Ok(Self { path: path.to_owned(), part, recording })
    }

    fn add(&self, request: &Request, reply: &ModelReply) {
        let request = redact_request(request);
        let text = redact(&reply.text).into_owned();
        let reply = ModelReply { text, calls: clean_calls(&reply.calls), ..reply.clone() };
        let key = request.key();
        let line =
            serde_json::to_string(&RecordedCall { request, reply }).expect("a call is plain data") + "\n";
        let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        if recording.file.write_all(line.as_bytes()).is_ok() {
            let place = RecordedPlace { start: recording.end, length: line.len() };
            recording.places.insert(key, place);
            recording.end += line.len() as u64;
        }
    }

    /// Sorted, so that recording the same calls again gives the same file.
    fn finish(&self) -> Result<usize, BadCassette> {
        let bad = |error| BadCassette::File { path: self.path.clone(), error };
        let mut recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        let places: Vec<RecordedPlace> = recording.places.values().copied().collect();
        let sorted = PathBuf::from(format!("{}.sorted", self.path.display()));
        let mut out = std::io::BufWriter::new(fs::File::create(&sorted).map_err(bad)?);
        for RecordedPlace { start, length } in &places {
            let mut line = vec![0; *length];
            recording.file.seek(SeekFrom::Start(*start)).map_err(bad)?;
            recording.file.read_exact(&mut line).map_err(bad)?;
            out.write_all(&line).map_err(bad)?;
        }
        out.flush().map_err(bad)?;
        fs::rename(&sorted, &self.path).map_err(bad)?;
        let _ = fs::remove_file(&self.part);
        Ok(places.len())
    }
}

/// The request without anything that looks like a key, for writing and for lookup.
fn redact_request(request: &Request) -> Request {
    let part = |text: &String| redact(text).into_owned();
    let messages = request.messages.iter().map(|message| Message {
        parts: message.parts.iter().map(part).collect(),
        calls: clean_calls(&message.calls),
        results: message
            .results
            .iter()
            .map(|result| ToolResult { text: part(&result.text), ..result.clone() })
            .collect(),
        ..message.clone()
    });
    Request { system: part(&request.system), messages: messages.collect(), ..request.clone() }
}

/// Redacts tool calls, whose arguments may contain keys.
fn clean_calls(calls: &[ToolCall]) -> Vec<ToolCall> {
    let clean = |tool_call: &ToolCall| {
        let mut arguments = serde_json::Value::Object(tool_call.arguments.clone());
        Redactor::default().data(&mut arguments);
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        ToolCall { arguments, ..tool_call.clone() }
    };
    calls.iter().map(clean).collect()
}

/// Recorded calls, by the hash of their request.
#[derive(Debug)]
pub struct Cassette {
    calls: BTreeMap<String, RecordedCall>,
}

impl Cassette {
    pub fn load(path: &Path) -> Result<Self, BadCassette> {
        let text = open_file(path)
            .and_then(std::io::read_to_string)
            .map_err(|error| BadCassette::File { path: path.to_owned(), error })?;
        let mut calls = BTreeMap::new();
        for (at, line) in text.lines().enumerate().filter(|line| !line.1.trim().is_empty()) {
            let exchange: RecordedCall = serde_json::from_str(line).map_err(|error| BadCassette::Line {
                path: path.to_owned(),
                line: at + 1,
                error,
            })?;
            calls.insert(exchange.request.key(), exchange);
        }
        Ok(Self { calls })
    }

    /// The models of the recorded calls.
    pub fn models(&self) -> BTreeSet<&str> {
        self.calls.values().map(|recorded_call| recorded_call.request.model.as_str()).collect()
    }

    fn find(&self, request: &Request) -> Result<ModelReply, ModelError> {
        let request = &redact_request(request);
        match self.calls.get(&request.key()) {
            Some(exchange) => Ok(exchange.reply.clone()),
            None => Err(ModelError::new(ModelErrorKind::NotRecorded, self.missing(request))),
        }
    }

    /// The error for a request that was not recorded: names the most similar recorded request and the first difference.
    fn missing(&self, request: &Request) -> String {
        // Only the first thousand are compared, which keeps the error fast and is enough for a hint.
        let nearest = self
            .calls
            .values()
            .take(1000)
            .max_by_key(|recorded_call| likeness(&recorded_call.request, request));
        match nearest {
            Some(it) => {
                format!(
                    "no such call was recorded; the nearest one {}",
                    describe_difference(&it.request, request)
                )
            }
            None => "no such call was recorded; the cassette is empty".to_owned(),
        }
    }
}

/// The lines of a request, without the fence code of the judge input, which is a hash and differs if anything does.
fn request_lines(request: &Request) -> Vec<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let texts: Vec<&str> = std::iter::once(&request.system).chain(parts).map(String::as_str).collect();
    let code = texts.iter().find_map(|text| text.split_once("material is ")?.1.get(..16));
    let plain = |text: &str| code.map_or_else(|| text.to_owned(), |code| text.replace(code, "…"));
    texts.iter().flat_map(|text| text.lines()).map(plain).collect()
}

/// Number of lines that two requests share at their beginning and end.
fn likeness(a: &Request, b: &Request) -> usize {
    let (left, right) = (request_lines(a), request_lines(b));
    let front = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let back = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    2 * (front + back) + usize::from(a.model == b.model)
}

fn describe_difference(recorded: &Request, request: &Request) -> String {
    if recorded.model != request.model {
        return format!("calls `{}`, and this one calls `{}`", recorded.model, request.model);
    }
    if recorded.temperature != request.temperature || recorded.max_tokens != request.max_tokens {
        return "has another temperature or limit of tokens".to_owned();
    }
    if recorded.draw != request.draw {
        return format!("is draw {} of a jury, and this one is draw {}", recorded.draw, request.draw);
    }
    let (left, right) = (request_lines(recorded), request_lines(request));
    if left == right {
        let schema = recorded.schema != request.schema;
        let what =
            if schema { "has another reply schema" } else { "has another seed, or another record behind it" };
        return format!("has the same messages and {what}");
    }
    let shared = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let line = |lines: &[String]| {
        lines.get(shared).map_or("its end".to_owned(), |text| format!("`{}`", shorten_line(text)))
    };
    format!("has {} where this one has {}", line(&left), line(&right))
}

fn shorten_line(text: &str) -> String {
    let short: String = text.chars().take(80).collect();
    if short.len() < text.len() { short + "…" } else { short }
}
