//! Vendors' batch endpoints: half the price for who can wait.
//!
//! Requests are collected instead of sent, go out together, and their replies answer the same requests when
//! they are made again. A run that was stopped finds its batch again by what it asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jurist_core::candidate::Usage;
use jurist_core::grade::Usd;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::model::Line;
use crate::model::http::{Answer, HttpModel, send, understood};
use crate::model::vendors::{Price, Protocol};
use crate::model::{ErrorKind, ModelError, Reply, Request};

/// Vendors take five times as many; smaller portions are done sooner.
const AT_ONCE: usize = 10_000;

/// Replies that came in batches, and requests that wait for one.
#[derive(Debug, Default)]
pub struct Batches {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    replies: BTreeMap<String, Result<Reply, ModelError>>,
    wanted: BTreeMap<String, (Line, Request)>,
    /// Those that came back broken once.
    again: BTreeSet<String>,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub id: String,
    pub status: String,
    pub done: u64,
    pub total: u64,
}

/// What is written down about a batch, so that it is found again.
#[derive(Debug, Serialize, Deserialize)]
struct Ticket {
    id: String,
}

impl Batches {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What came for a request, if it was in a batch.
    pub(crate) fn reply(&self, request: &Request) -> Option<Result<Reply, ModelError>> {
        self.state().replies.get(&request.key()).cloned()
    }

    /// Lets a request wait for the next batch.
    pub(crate) fn add(&self, line: &Line, request: &Request) -> ModelError {
        self.state().wanted.insert(request.key(), (line.clone(), request.clone()));
        ModelError::new(ErrorKind::Pending, "waits for a batch")
    }

    /// Requests that wait, and the most they can cost at half the price; `None` if nobody knows.
    pub fn wanted(&self) -> (usize, Option<Usd>) {
        let state = self.state();
        let most = |(line, request): &(Line, Request)| {
            let usage =
                Usage { input: request.most_tokens_in(), output: u64::from(request.max_tokens), cached: 0 };
            line.price.map(|it| it.half().of(usage))
        };
        let sum =
            state.wanted.values().map(most).try_fold(Default::default(), |sum: Usd, it| Some(sum.plus(it?)));
        (state.wanted.len(), sum)
    }

    /// Sends what waits, waits for the replies, and tells what they cost, if anybody knows.
    ///
    /// `folder` is where batches are found again.
    pub async fn run(
        &self,
        folder: &Path,
        poll: Duration,
        listener: &(dyn Fn(Progress) + Sync),
    ) -> Result<Option<Usd>, ModelError> {
        let wanted = std::mem::take(&mut self.state().wanted);
        let mut cost = Some(Usd::default());
        let mut by_line: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for (key, (line, request)) in wanted {
            let Some(http) = line.http.clone() else {
                return Err(ModelError::new(
                    ErrorKind::Rejected,
                    format!("`{}` has no batch endpoint", line.name),
                ));
            };
            let price = line.price.map(Price::half);
            by_line.entry(line.name).or_default().push(Entry { key, http, price, request });
        }
        for requests in by_line.into_values() {
            for part in requests.chunks(AT_ONCE) {
                let office = Office { http: &part[0].http, folder, poll, listener };
                let entries: Vec<(&str, &Request)> =
                    part.iter().map(|it| (it.key.as_str(), &it.request)).collect();
                let replies = office.run(&entries).await?;
                for reply in replies.values().flatten() {
                    let price = part[0].price.map(|it| it.of_reply(reply));
                    cost = cost.zip(price).map(|(sum, it)| sum.plus(it));
                }
                let mut state = self.state();
                for (key, reply) in replies {
                    // What broke on the vendor's side goes out once more.
                    let passing = reply.as_ref().is_err_and(ModelError::is_passing);
                    if !passing || !state.again.insert(key.clone()) {
                        state.replies.insert(key, reply);
                    }
                }
            }
        }
        Ok(cost)
    }
}

/// A request on its way.
struct Entry {
    key: String,
    http: Arc<HttpModel>,
    price: Option<Price>,
    request: Request,
}

/// Where one vendor takes batches.
struct Office<'a> {
    http: &'a HttpModel,
    folder: &'a Path,
    poll: Duration,
    listener: &'a (dyn Fn(Progress) + Sync),
}

type Replies = BTreeMap<String, Result<Reply, ModelError>>;

impl Office<'_> {
    async fn run(&self, requests: &[(&str, &Request)]) -> Result<Replies, ModelError> {
        let ticket = self.ticket(requests);
        let known = std::fs::read(&ticket).ok().and_then(|it| serde_json::from_slice::<Ticket>(&it).ok());
        let id = match known {
            Some(ticket) => ticket.id,
            None => {
                let id = self.submit(requests).await?;
                // Written down before anything else: a batch that is lost is paid twice.
                let text = serde_json::to_string(&Ticket { id: id.clone() }).expect("a ticket is plain data");
                let written =
                    std::fs::create_dir_all(self.folder).and_then(|()| std::fs::write(&ticket, text));
                written.map_err(|error| {
                    ModelError::new(
                        ErrorKind::Rejected,
                        format!("cannot write `{}`: {error}", ticket.display()),
                    )
                })?;
                id
            }
        };
        let results = self.wait(&id).await?;
        let _ = std::fs::remove_file(&ticket);
        let mut replies = Replies::new();
        for line in results.lines().filter(|it| !it.trim().is_empty()) {
            let line: Json =
                serde_json::from_str(line).map_err(|_| not_understood("a line of the results"))?;
            let key = line["custom_id"].as_str().unwrap_or_default().to_owned();
            replies.insert(key, self.reply(&line));
        }
        for (key, _) in requests {
            let missing =
                || Err(ModelError::new(ErrorKind::Unavailable, "the batch came back without this reply"));
            replies.entry((*key).to_owned()).or_insert_with(missing);
        }
        Ok(replies)
    }

    /// The same requests have the same ticket.
    fn ticket(&self, requests: &[(&str, &Request)]) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.http.endpoint().base_url.as_bytes());
        for (key, _) in requests {
            hasher.update(key.as_bytes());
        }
        self.folder.join(format!("{}.json", &hasher.finalize().to_hex()[..32]))
    }

    fn is_anthropic(&self) -> Result<bool, ModelError> {
        match self.http.endpoint().protocol {
            Protocol::Anthropic => Ok(true),
            Protocol::OpenaiChat | Protocol::OpenaiResponses => Ok(false),
            Protocol::Gemini => {
                Err(ModelError::new(ErrorKind::Rejected, "Gemini's batches are not supported"))
            }
        }
    }

    async fn submit(&self, requests: &[(&str, &Request)]) -> Result<String, ModelError> {
        let base = &self.http.endpoint().base_url;
        if self.is_anthropic()? {
            let entry = |it: &(&str, &Request)| json!({ "custom_id": it.0, "params": self.http.body(it.1) });
            let body = json!({ "requests": requests.iter().map(entry).collect::<Vec<_>>() });
            let made = self.post(&format!("{base}/v1/messages/batches"), body.to_string(), None).await?;
            return text(&made, "id");
        }
        let path = match self.http.endpoint().protocol {
            Protocol::OpenaiResponses => "/v1/responses",
            _ => "/v1/chat/completions",
        };
        let line = |it: &(&str, &Request)| {
            json!({ "custom_id": it.0, "method": "POST", "url": path, "body": self.http.body(it.1) })
                .to_string()
                + "\n"
        };
        let lines: String = requests.iter().map(line).collect();
        // The hash of what it separates cannot stand in it.
        let boundary = blake3::hash(lines.as_bytes()).to_hex().to_string();
        let part = |head: &str, body: &str| {
            format!("--{boundary}\r\ncontent-disposition: form-data; {head}\r\n\r\n{body}\r\n")
        };
        let form = part("name=\"purpose\"", "batch")
            + &part("name=\"file\"; filename=\"batch.jsonl\"", &lines)
            + &format!("--{boundary}--\r\n");
        let kind = format!("multipart/form-data; boundary={boundary}");
        let file = self.post(&format!("{base}/files"), form, Some(kind)).await?;
        let body =
            json!({ "input_file_id": text(&file, "id")?, "endpoint": path, "completion_window": "24h" });
        let made = self.post(&format!("{base}/batches"), body.to_string(), None).await?;
        text(&made, "id")
    }

    /// Waits until the batch is done, and returns its lines.
    async fn wait(&self, id: &str) -> Result<String, ModelError> {
        let (base, is_anthropic) = (&self.http.endpoint().base_url, self.is_anthropic()?);
        let url = if is_anthropic {
            format!("{base}/v1/messages/batches/{id}")
        } else {
            format!("{base}/batches/{id}")
        };
        loop {
            let state = understood(&self.get(&url).await?)?;
            let counts = &state["request_counts"];
            let count = |key: &str| counts[key].as_u64().unwrap_or(0);
            let status =
                state[if is_anthropic { "processing_status" } else { "status" }].as_str().unwrap_or_default();
            let finished = count("succeeded") + count("errored") + count("canceled") + count("expired");
            let done = if is_anthropic { finished } else { count("completed") + count("failed") };
            let total = if is_anthropic { finished + count("processing") } else { count("total") };
            (self.listener)(Progress { id: id.to_owned(), status: status.to_owned(), done, total });
            match status {
                "ended" => return Ok(self.get(&format!("{url}/results")).await?.text),
                // What was finished before it expired or was stopped is there all the same.
                "completed" | "expired" | "cancelled" => {
                    let mut lines = String::new();
                    for file in ["output_file_id", "error_file_id"] {
                        if let Some(file) = state[file].as_str() {
                            lines += &self.get(&format!("{base}/files/{file}/content")).await?.text;
                        }
                    }
                    return Ok(lines);
                }
                "failed" => {
                    let why = state["errors"]["data"][0]["message"].as_str().unwrap_or("no reason given");
                    return Err(ModelError::new(
                        ErrorKind::Rejected,
                        format!("the batch was refused: {why}"),
                    ));
                }
                "" => return Err(not_understood("the state of the batch")),
                _ => tokio::time::sleep(self.poll).await,
            }
        }
    }

    fn reply(&self, line: &Json) -> Result<Reply, ModelError> {
        if let Some(kind) = line["result"]["type"].as_str() {
            return match kind {
                "succeeded" => self.http.read(&line["result"]["message"], false),
                other => {
                    let why = line["result"]["error"]["error"]["message"].as_str().unwrap_or(other);
                    Err(ModelError::new(ErrorKind::Rejected, format!("{other}: {why}")))
                }
            };
        }
        let response = &line["response"];
        let status = response["status_code"].as_u64().and_then(|it| u16::try_from(it).ok()).unwrap_or(500);
        let text = if response.is_null() { line["error"].to_string() } else { response["body"].to_string() };
        understood(&Answer { status, retry_after: None, text }).and_then(|it| self.http.read(&it, false))
    }

    async fn post(&self, url: &str, body: String, kind: Option<String>) -> Result<Json, ModelError> {
        let endpoint = self.http.endpoint();
        let mut request = endpoint.request(self.http.client(), reqwest::Method::POST, url);
        if let Some(kind) = kind {
            let value = reqwest::header::HeaderValue::from_str(&kind).expect("a boundary is hexadecimal");
            let mut headers = reqwest::header::HeaderMap::new();
            headers.insert(reqwest::header::CONTENT_TYPE, value);
            request = request.headers(headers);
        }
        understood(&send(request.body(body), endpoint).await?)
    }

    /// Asks until there is an answer; waiting for a batch is no time to give up over a lost connection.
    async fn get(&self, url: &str) -> Result<Answer, ModelError> {
        let endpoint = self.http.endpoint();
        let mut left = 20;
        loop {
            let request = endpoint.request(self.http.client(), reqwest::Method::GET, url);
            let answer = match send(request, endpoint).await {
                Ok(answer) if answer.status < 400 => return Ok(answer),
                Ok(answer) => understood(&answer).map(|_| answer),
                Err(error) => Err(error),
            };
            match answer {
                Err(error) if error.is_passing() && 0 < left => {
                    left -= 1;
                    tokio::time::sleep(self.poll).await;
                }
                answer => return answer,
            }
        }
    }
}

fn text(body: &Json, key: &str) -> Result<String, ModelError> {
    body[key].as_str().map(str::to_owned).ok_or_else(|| not_understood(key))
}

fn not_understood(what: &str) -> ModelError {
    ModelError::new(ErrorKind::NotUnderstood, format!("the batch endpoint answers without {what}"))
}
