//! A model server for tests: four protocols over real sockets, streamed or not, with faults on demand.
//!
//! It holds requests to what the real servers hold them to: strict schemas, no numeric bounds where
//! Anthropic takes none, a model, a limit of tokens.

#![allow(dead_code, reason = "each test uses another part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Json,
    /// The body as it came, with its keys in their order.
    pub raw: String,
    /// Bytes of the body.
    pub length: usize,
    /// How many came before it.
    pub nth: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0 == name).map(|at| at.1.as_str())
    }

    /// Everything that was said to the model, in one text.
    pub fn prompt(&self) -> String {
        self.body.to_string().replace("\\n", "\n").replace("\\\"", "\"")
    }

    /// What the tools said, in the order in which they were called, whatever the protocol.
    pub fn results(&self) -> Vec<String> {
        fn find(value: &Json, out: &mut Vec<String>) {
            let told = match value {
                Json::Object(map) if map.get("role") == Some(&json!("tool")) => map.get("content"),
                Json::Object(map) if map.get("type") == Some(&json!("function_call_output")) => {
                    map.get("output")
                }
                Json::Object(map) if map.get("type") == Some(&json!("tool_result")) => map.get("content"),
                Json::Object(map) => map.get("functionResponse").map(|map| {
                    let response = &map["response"];
                    if response["output"].is_null() { &response["error"] } else { &response["output"] }
                }),
                _ => None,
            };
            match (told, value) {
                (Some(told), _) => out.push(told.as_str().unwrap().to_owned()),
                (None, Json::Object(map)) => map.values().for_each(|value| find(value, out)),
                (None, Json::Array(items)) => items.iter().for_each(|item| find(item, out)),
                (None, _) => {}
            }
        }
        let mut out = Vec::new();
        find(&self.body, &mut out);
        out
    }

    /// Names of the tools that the model was given.
    pub fn tools(&self) -> Vec<String> {
        let tools = match &self.body["tools"][0]["functionDeclarations"] {
            Json::Null => &self.body["tools"],
            own => own,
        };
        let name =
            |value: &Json| value["name"].as_str().or(value["function"]["name"].as_str()).unwrap().to_owned();
        tools.as_array().into_iter().flatten().map(name).collect()
    }

    /// Whether the reply is to come as a stream of events.
    pub fn streams(&self) -> bool {
        self.body["stream"] == true || self.path.contains(":streamGenerateContent")
    }

    /// The schema that the reply is held to, whatever the protocol.
    pub fn schema(&self) -> Json {
        let body = &self.body;
        let places = [
            &body["response_format"]["json_schema"]["schema"],
            &body["response_format"]["schema"],
            &body["text"]["format"]["schema"],
            &body["output_config"]["format"]["schema"],
            &body["generationConfig"]["responseJsonSchema"],
            &body["tools"][0]["function"]["parameters"],
            &body["tools"][0]["input_schema"],
            &body["tools"][0]["parameters"],
        ];
        if body["tool_choice"].is_null() && body["tools"].is_array() {
            return Json::Null;
        }
        places.into_iter().find(|place| !place.is_null()).cloned().unwrap_or_default()
    }
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Says this, as the protocol says it.
    Say(String),
    /// Says something that fits the schema: true, the highest number, the first choice.
    Fit,
    /// Calls these tools, by name and arguments.
    Call(Vec<(&'static str, Json)>),
    CutOff(String),
    Refuse(String),
    Status(u16, Vec<(&'static str, String)>, String),
    /// Answers 200 with this body, whatever it is.
    Raw(String),
    /// Closes the connection in the middle of the body.
    Drop,
    /// Sends the body piece by piece, so long apart.
    Slow(Duration, Box<Act>),
    Wait(Duration, Box<Act>),
}

type Handler = dyn Fn(&Seen) -> Act + Send + Sync;

pub struct Server {
    pub url: String,
    /// The first thousands of them.
    pub seen: Arc<Mutex<Vec<Seen>>>,
    n_seen: Arc<AtomicUsize>,
    /// The most requests that were being answered at one time.
    pub busiest: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub async fn start(handler: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = State {
            handler: Arc::new(handler),
            seen: Arc::default(),
            n_seen: Arc::default(),
            busy: Arc::default(),
            busiest: Arc::default(),
        };
        let (seen, n_seen, busiest) =
            (Arc::clone(&state.seen), Arc::clone(&state.n_seen), Arc::clone(&state.busiest));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let state = state.clone();
                tokio::spawn(async move { state.serve(stream).await });
            }
        });
        Self { url, seen, n_seen, busiest, task }
    }

    /// Answers from a list, the last one again and again.
    pub async fn script(acts: Vec<Act>) -> Self {
        Self::start(move |seen| acts[seen.nth.min(acts.len() - 1)].clone()).await
    }

    pub fn n_seen(&self) -> usize {
        self.n_seen.load(Ordering::SeqCst)
    }

    pub fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().unwrap().clone()
    }
}

/// A bench sends more than anybody looks at.
const KEPT: usize = 5_000;

#[derive(Clone)]
struct State {
    handler: Arc<Handler>,
    seen: Arc<Mutex<Vec<Seen>>>,
    n_seen: Arc<AtomicUsize>,
    busy: Arc<AtomicUsize>,
    busiest: Arc<AtomicUsize>,
}

impl State {
    async fn serve(&self, mut stream: TcpStream) {
        let mut buffer = Vec::new();
        while let Some(mut seen) = read(&mut stream, &mut buffer).await {
            seen.nth = self.n_seen.fetch_add(1, Ordering::SeqCst);
            if seen.nth < KEPT {
                self.seen.lock().unwrap().push(seen.clone());
            }
            let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
            self.busiest.fetch_max(busy, Ordering::SeqCst);
            let act = refused(&seen).unwrap_or_else(|| (self.handler)(&seen));
            let goes_on = perform(&mut stream, &seen, act).await;
            self.busy.fetch_sub(1, Ordering::SeqCst);
            if !goes_on {
                return;
            }
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|buffer| buffer == b"\r\n\r\n") {
            break at + 4;
        }
        // A greeting in TLS is none that this server understands.
        if stream.read_buf(buffer).await.ok()? == 0 || buffer[0] == 0x16 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|header| header.0 == "content-length")
        .and_then(|at| at.1.parse().ok())
        .unwrap_or(0);
    while buffer.len() < end + length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let raw = &buffer[end..end + length];
    let text = String::from_utf8_lossy(raw).into_owned();
    let body = serde_json::from_slice(raw).unwrap_or_else(|_| Json::String(text.clone()));
    buffer.drain(..end + length);
    Some(Seen { path, headers, body, raw: text, length, nth: 0 })
}

/// What the real server would refuse.
fn refused(seen: &Seen) -> Option<Act> {
    let bad = |message: &str| {
        Some(Act::Status(
            400,
            Vec::new(),
            json!({ "error": { "message": message, "type": "invalid_request_error" } }).to_string(),
        ))
    };
    let is_model_call = protocol(&seen.path).is_some();
    let body = &seen.body;
    if !is_model_call || body.is_string() {
        return None;
    }
    let names_model = protocol(&seen.path) != Some(Protocol::Gemini);
    if names_model && body["model"].as_str().is_none_or(str::is_empty) {
        return bad("you must provide a model parameter");
    }
    if seen.path.ends_with("/messages") && body["max_tokens"].as_u64().is_none() {
        return bad("max_tokens: field required");
    }
    if seen.path.ends_with("/messages") && body["output_config"].to_string().contains("\"minimum\":") {
        return bad("output_config.format.schema: For 'number' type, property 'minimum' is not supported");
    }
    if body["response_format"]["json_schema"]["strict"] == true && !is_strict(&seen.schema()) {
        return bad(
            "Invalid schema for response_format: every property must be required and additionalProperties false",
        );
    }
    None
}

fn is_strict(schema: &Json) -> bool {
    match schema {
        Json::Object(map) => {
            let own = match (map.get("type"), map.get("properties")) {
                (Some(kind), Some(Json::Object(properties))) if kind == "object" => {
                    let required = map.get("required").and_then(Json::as_array).map_or(0, Vec::len);
                    map.get("additionalProperties") == Some(&json!(false)) && required == properties.len()
                }
                _ => true,
            };
            own && map.values().all(is_strict)
        }
        Json::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

/// Something that fits a schema.
pub fn fitting(schema: &Json) -> Json {
    if let Some(any) = schema["anyOf"].as_array() {
        return fitting(&any[0]);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().unwrap();
            properties
                .iter()
                .map(|(key, value)| {
                    (key.clone(), if key == "unsure" { json!(false) } else { fitting(value) })
                })
                .collect()
        }
        Some("array") => match schema["items"]["properties"]["id"]["enum"].as_array() {
            // One entry for each criterion.
            Some(ids) => ids
                .iter()
                .map(|id| {
                    let mut it = fitting(&schema["items"]);
                    it["id"] = id.clone();
                    it
                })
                .collect(),
            None => json!([fitting(&schema["items"])]),
        },
        Some("boolean") => json!(true),
        Some("integer") => json!(schema["maximum"].as_f64().unwrap_or(1.0) as i64),
        Some("number") => schema.get("maximum").cloned().unwrap_or(json!(1.0)),
        _ => json!("because it is so"),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Protocol {
    Chat,
    Responses,
    Messages,
    Gemini,
}

fn protocol(path: &str) -> Option<Protocol> {
    match path {
        it if it.ends_with("/chat/completions") => Some(Protocol::Chat),
        it if it.ends_with("/responses") => Some(Protocol::Responses),
        it if it.ends_with("/messages") => Some(Protocol::Messages),
        it if it.ends_with(":generateContent") || it.contains(":streamGenerateContent") => {
            Some(Protocol::Gemini)
        }
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Done,
    Length,
    Refusal,
}

/// Calls of tools as the protocol writes them; their ids differ from turn to turn.
fn calling(seen: &Seen, calls: &[(&str, Json)]) -> String {
    let mut body: Json = serde_json::from_str(&wrapped(seen, "I will look.", End::Done)).unwrap();
    let id = |at: usize| format!("call_{}_{at}", seen.nth);
    let each = calls.iter().enumerate();
    match protocol(&seen.path).unwrap() {
        Protocol::Chat => {
            body["choices"][0]["finish_reason"] = json!("tool_calls");
            body["choices"][0]["message"]["tool_calls"] = each
                .map(|(at, (name, arguments))| json!({ "id": id(at), "type": "function", "function": { "name": name, "arguments": arguments.to_string() } }))
                .collect();
        }
        Protocol::Responses => {
            let calls = each.map(|(at, (name, arguments))| {
                json!({ "type": "function_call", "call_id": id(at), "name": name, "arguments": arguments.to_string() })
            });
            body["output"].as_array_mut().unwrap().extend(calls);
        }
        Protocol::Messages => {
            body["stop_reason"] = json!("tool_use");
            let calls =
                each.map(|(at, (name, input))| json!({ "type": "tool_use", "id": id(at), "name": name, "input": input }));
            body["content"].as_array_mut().unwrap().extend(calls);
        }
        Protocol::Gemini => {
            let calls =
                calls.iter().map(|(name, args)| json!({ "functionCall": { "name": name, "args": args } }));
            body["candidates"][0]["content"]["parts"].as_array_mut().unwrap().extend(calls);
        }
    }
    body.to_string()
}

/// A reply as its protocol writes it, with token counts in the way each one counts them.
fn wrapped(seen: &Seen, text: &str, end: End) -> String {
    let body = &seen.body;
    let tools = !body["tool_choice"].is_null();
    let length = seen.length as u64;
    let (input, output, cached) = (length / 4, text.len() as u64 / 4 + 1, 8_u64.min(length / 8));
    match protocol(&seen.path).unwrap_or(Protocol::Chat) {
        Protocol::Chat => {
            let finish = match end {
                End::Done if tools => "tool_calls",
                End::Done | End::Refusal => "stop",
                End::Length => "length",
            };
            let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
            if end == End::Refusal {
                message = json!({ "role": "assistant", "content": null, "refusal": text });
            } else if tools {
                message["content"] = Json::Null;
                message["tool_calls"] = json!([{ "id": "call_1", "type": "function", "function": { "name": "grade", "arguments": text } }]);
            }
            json!({
                "id": "chatcmpl-1", "object": "chat.completion", "model": body["model"],
                "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
                "usage": { "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                    "prompt_tokens_details": { "cached_tokens": cached } },
            })
        }
        Protocol::Responses => {
            let part = if end == End::Refusal { json!({ "type": "refusal", "refusal": text }) } else { json!({ "type": "output_text", "text": text }) };
            json!({
                "id": "resp_1", "object": "response", "status": if end == End::Length { "incomplete" } else { "completed" },
                "incomplete_details": if end == End::Length { json!({ "reason": "max_output_tokens" }) } else { Json::Null },
                "output": [{ "type": "reasoning", "summary": [] }, { "type": "message", "role": "assistant", "content": [part] }],
                "usage": { "input_tokens": input, "input_tokens_details": { "cached_tokens": cached }, "output_tokens": output },
            })
        }
        Protocol::Messages => {
            let content = match serde_json::from_str::<Json>(text) {
                Ok(input) if tools && end == End::Done => json!([{ "type": "tool_use", "id": "toolu_1", "name": "grade", "input": input }]),
                _ => json!([{ "type": "thinking", "thinking": "…", "signature": "s" }, { "type": "text", "text": text }]),
            };
            let stop = match end {
                End::Done if tools => "tool_use",
                End::Done => "end_turn",
                End::Length => "max_tokens",
                End::Refusal => "refusal",
            };
            json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content, "stop_reason": stop,
                "usage": { "input_tokens": input - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": output },
            })
        }
        Protocol::Gemini => {
            let finish = match end {
                End::Done => "STOP",
                End::Length => "MAX_TOKENS",
                End::Refusal => "SAFETY",
            };
            let parts = if end == End::Refusal { json!([]) } else { json!([{ "text": "hm", "thought": true }, { "text": text }]) };
            json!({
                "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": finish }],
                "usageMetadata": { "promptTokenCount": input, "candidatesTokenCount": output - 1, "thoughtsTokenCount": 1, "cachedContentTokenCount": cached },
            })
        }
    }
    .to_string()
}

/// The same reply as the events of a stream, texts cut into pieces.
fn events(seen: &Seen, whole: &str) -> Vec<String> {
    let Ok(whole) = serde_json::from_str::<Json>(whole) else { return vec![whole.to_owned()] };
    let pieces = |text: &str| -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        letters.chunks(7).map(|letter| letter.iter().collect()).collect()
    };
    let data = |value: Json| format!("data: {value}\n\n");
    let named = |value: Json| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let mut out = Vec::new();
    match protocol(&seen.path).unwrap() {
        Protocol::Chat => {
            let (choice, message) = (&whole["choices"][0], &whole["choices"][0]["message"]);
            let delta = |value: Json| {
                data(
                    json!({ "choices": [{ "index": 0, "delta": value, "finish_reason": null }], "usage": null }),
                )
            };
            out.push(delta(json!({ "role": "assistant", "content": "" })));
            for key in ["content", "refusal"] {
                out.extend(
                    pieces(message[key].as_str().unwrap_or_default())
                        .into_iter()
                        .map(|piece| delta(json!({ key: piece }))),
                );
            }
            for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
                let mut first = call.clone();
                (first["index"], first["function"]["arguments"]) = (json!(index), json!(""));
                out.push(delta(json!({ "tool_calls": [first] })));
                let arguments = pieces(call["function"]["arguments"].as_str().unwrap());
                out.extend(arguments.into_iter().map(|argument| {
                    delta(
                        json!({ "tool_calls": [{ "index": index, "function": { "arguments": argument } }] }),
                    )
                }));
            }
            out.push(data(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": choice["finish_reason"] }], "usage": null })));
            if seen.body["stream_options"]["include_usage"] == true {
                out.push(data(json!({ "choices": [], "usage": whole["usage"] })));
            }
            out.push("data: [DONE]\n\n".to_owned());
        }
        Protocol::Responses => {
            out.push(named(json!({ "type": "response.created", "response": { "status": "in_progress" } })));
            out.push(named(json!({ "type": "response.output_text.delta", "delta": "{" })));
            let status = whole["status"].as_str().unwrap();
            out.push(named(json!({ "type": format!("response.{status}"), "response": whole })));
        }
        Protocol::Messages => {
            let mut start = whole.clone();
            (start["content"], start["stop_reason"]) = (json!([]), Json::Null);
            start["usage"]["output_tokens"] = json!(1);
            out.push(named(json!({ "type": "message_start", "message": start })));
            out.push(named(json!({ "type": "ping" })));
            for (index, block) in whole["content"].as_array().unwrap().iter().enumerate() {
                let mut empty = block.clone();
                let (key, kind, text) = match block["type"].as_str().unwrap() {
                    "tool_use" => ("partial_json", "input_json_delta", block["input"].to_string()),
                    kind => (
                        if kind == "text" { "text" } else { "thinking" },
                        if kind == "text" { "text_delta" } else { "thinking_delta" },
                        block[kind].as_str().unwrap().to_owned(),
                    ),
                };
                match block["type"].as_str() {
                    Some("tool_use") => empty["input"] = json!({}),
                    Some(kind) => empty[kind] = json!(""),
                    None => {}
                }
                out.push(named(
                    json!({ "type": "content_block_start", "index": index, "content_block": empty }),
                ));
                out.extend(pieces(&text).into_iter().map(|piece| {
                    named(json!({ "type": "content_block_delta", "index": index, "delta": { "type": kind, key: piece } }))
                }));
                out.push(named(json!({ "type": "content_block_stop", "index": index })));
            }
            let usage = json!({ "output_tokens": whole["usage"]["output_tokens"] });
            out.push(named(json!({ "type": "message_delta", "delta": { "stop_reason": whole["stop_reason"] }, "usage": usage })));
            out.push(named(json!({ "type": "message_stop" })));
        }
        Protocol::Gemini => {
            let candidate = &whole["candidates"][0];
            for part in candidate["content"]["parts"].as_array().unwrap() {
                if part["text"].is_null() {
                    out.push(data(
                        json!({ "candidates": [{ "content": { "role": "model", "parts": [part] } }] }),
                    ));
                    continue;
                }
                out.extend(pieces(part["text"].as_str().unwrap()).into_iter().map(|piece| {
                    let mut part = part.clone();
                    part["text"] = json!(piece);
                    data(json!({ "candidates": [{ "content": { "role": "model", "parts": [part] } }], "usageMetadata": {} }))
                }));
            }
            out.push(data(json!({
                "candidates": [{ "content": { "role": "model", "parts": [] }, "finishReason": candidate["finishReason"] }],
                "usageMetadata": whole["usageMetadata"],
            })));
        }
    }
    out
}

/// Sends events as chunks, so far apart; all but the last third if the connection breaks.
async fn send_events(stream: &mut TcpStream, events: &[String], pause: Duration, breaks: bool) -> bool {
    let head = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let n_sent = if breaks { events.len() * 2 / 3 } else { events.len() };
    let mut whole = head.to_owned();
    for event in &events[..n_sent] {
        whole.push_str(&format!("{:x}\r\n{event}\r\n", event.len()));
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
            if stream.write_all(std::mem::take(&mut whole).as_bytes()).await.is_err() {
                return false;
            }
        }
    }
    if !breaks {
        whole.push_str("0\r\n\r\n");
    }
    stream.write_all(whole.as_bytes()).await.is_ok() && !breaks
}

async fn perform(stream: &mut TcpStream, seen: &Seen, act: Act) -> bool {
    if seen.streams() {
        let (events, pause, breaks) = match &act {
            Act::Slow(time, act) => (events(seen, &body_of(seen, act)), *time, false),
            Act::Drop => (events(seen, &wrapped(seen, "{\"score\": 1}", End::Done)), Duration::ZERO, true),
            Act::Wait(..) | Act::Status(..) | Act::Raw(_) => (Vec::new(), Duration::ZERO, false),
            act => (events(seen, &body_of(seen, act)), Duration::ZERO, false),
        };
        if !events.is_empty() {
            return send_events(stream, &events, pause, breaks).await;
        }
    }
    match act {
        Act::Wait(time, act) => {
            tokio::time::sleep(time).await;
            Box::pin(perform(stream, seen, *act)).await
        }
        Act::Slow(time, act) => {
            let body = body_of(seen, &act);
            let head = head(200, &[], body.len());
            if stream.write_all(head.as_bytes()).await.is_err() {
                return false;
            }
            for piece in body.as_bytes().chunks(body.len().div_ceil(4).max(1)) {
                tokio::time::sleep(time).await;
                if stream.write_all(piece).await.is_err() {
                    return false;
                }
            }
            true
        }
        Act::Drop => {
            let body = wrapped(seen, "{\"score\": 1}", End::Done);
            let whole = head(200, &[], body.len()) + &body[..body.len() / 2];
            let _ = stream.write_all(whole.as_bytes()).await;
            false
        }
        Act::Status(status, headers, body) => {
            let whole = head(status, &headers, body.len()) + &body;
            stream.write_all(whole.as_bytes()).await.is_ok()
        }
        act => {
            let body = body_of(seen, &act);
            let whole = head(200, &[], body.len()) + &body;
            stream.write_all(whole.as_bytes()).await.is_ok()
        }
    }
}

fn body_of(seen: &Seen, act: &Act) -> String {
    match act {
        Act::Say(text) => wrapped(seen, text, End::Done),
        Act::Fit => wrapped(seen, &fitting(&seen.schema()).to_string(), End::Done),
        Act::Call(calls) => calling(seen, calls),
        Act::CutOff(text) => wrapped(seen, text, End::Length),
        Act::Refuse(text) => wrapped(seen, text, End::Refusal),
        Act::Raw(text) => text.clone(),
        other => panic!("{other:?} has no body"),
    }
}

fn head(status: u16, headers: &[(&str, String)], length: usize) -> String {
    let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{extra}\r\n"
    )
}
