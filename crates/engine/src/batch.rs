//! Batch endpoints of vendors, which cost half the price and take longer.
//!
//! The first pass of a run collects its requests instead of sending them. The batch is sent, and in the next pass its
//! replies answer the same requests. A run that was stopped finds its batch again by the hashes of its requests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jurist_core::grade::{Spend, Usd};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::model::ModelEndpoint;
use crate::model::http::{HttpModel, RawResponse, send_to_endpoint};
use crate::model::vendors::Protocol;
use crate::model::{ModelError, ModelErrorKind, ModelReply, Request, in_reply_order};

/// Requests per batch. Vendors accept five times as many, but smaller batches finish earlier.
pub(crate) const AT_ONCE: usize = 10_000;

/// How often a request is sent in a batch if the vendor fails with temporary errors.
const MOST_SENDS: u32 = 3;

/// Attempts to submit a batch, or to read its status, before an error is returned.
const MOST_TRIES: u32 = 20;

/// Longest wait between two attempts that a vendor may request.
const PATIENCE: Duration = Duration::from_secs(60);

/// Replies from batches, and requests that wait for a batch.
#[derive(Debug, Default)]
pub struct BatchQueue {
    state: Mutex<BatchQueueState>,
}

#[derive(Debug, Default)]
struct BatchQueueState {
    replies: BTreeMap<String, BatchedReply>,
    wanted: BTreeMap<String, WantedReply>,
    /// Number of temporary vendor errors per request.
    n_broken: BTreeMap<String, u32>,
}

/// A request that waits for the next batch, and the model that it goes to.
#[derive(Debug)]
struct WantedReply {
    line: ModelEndpoint,
    request: Request,
}

/// Result of a batched request, with its usage.
#[derive(Debug, Clone)]
pub(crate) struct BatchedReply {
    pub(crate) result: Result<ModelReply, ModelError>,
    pub(crate) spend: Option<Spend>,
}

/// A request that waits for a batch.
#[derive(Debug)]
pub(crate) struct BatchEntry {
    pub(crate) key: String,
    pub(crate) line: ModelEndpoint,
    http: Arc<HttpModel>,
    request: Request,
}

impl BatchEntry {
    /// Highest possible cost at the batch price; `None` if the price is unknown.
    pub(crate) fn most(&self) -> Option<Usd> {
        self.line.price.map(|price| price.half().of(self.request.most_usage()))
    }

    /// Whether both requests can be in one batch.
    pub(crate) fn is_with(&self, other: &Self) -> bool {
        (&self.line.name, &self.line.address) == (&other.line.name, &other.line.address)
    }
}

/// Progress of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchProgress {
    pub id: String,
    pub status: String,
    pub done: u64,
    pub total: u64,
}

/// The file about a submitted batch, by which a later attempt finds the batch again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BatchTicket {
    id: String,
    #[serde(default)]
    base_url: String,
    /// Cache keys of its requests.
    #[serde(default)]
    keys: BTreeSet<String>,
    #[serde(skip)]
    path: PathBuf,
}

impl BatchTicket {
    pub(crate) fn covers(&self, entry: &BatchEntry) -> bool {
        self.base_url == entry.http.endpoint().base_url && self.keys.contains(&entry.key)
    }
}

impl BatchQueue {
    fn state(&self) -> MutexGuard<'_, BatchQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reply to a request, if it was in a batch.
    pub(crate) fn reply(&self, request: &Request) -> Option<BatchedReply> {
        self.state().replies.get(&request.key()).cloned()
    }

    /// Adds a request to the next batch.
    pub(crate) fn add(&self, line: &ModelEndpoint, request: &Request) -> ModelError {
        let wanted = WantedReply { line: line.clone(), request: request.clone() };
        self.state().wanted.insert(request.key(), wanted);
        ModelError::new(ModelErrorKind::Pending, "waits for a batch")
    }

    /// Number of waiting requests.
    pub fn n_wanted(&self) -> usize {
        self.state().wanted.len()
    }

    /// Takes the waiting requests, grouped by model.
    pub(crate) fn take_wanted(&self) -> Result<Vec<BatchEntry>, ModelError> {
        let wanted = std::mem::take(&mut self.state().wanted);
        let mut entries = Vec::with_capacity(wanted.len());
        for (key, WantedReply { line, request }) in wanted {
            let Some(http) = line.http.clone() else {
                let why = format!("`{}` has no batch endpoint", line.name);
                return Err(ModelError::new(ModelErrorKind::Rejected, why));
            };
            entries.push(BatchEntry { key, line, http, request });
        }
        // The sort is stable: keys of one model keep their order.
        entries.sort_by(|a, b| (&a.line.name, &a.line.address).cmp(&(&b.line.name, &b.line.address)));
        Ok(entries)
    }

    /// Stores the reply to a request. A temporary vendor error is not stored until `MOST_SENDS` is reached, so that
    /// the request is sent again.
    pub(crate) fn put(&self, key: String, reply: BatchedReply) {
        let mut state = self.state();
        if reply.result.as_ref().is_err_and(ModelError::is_passing) {
            let n_broken = state.n_broken.entry(key.clone()).or_default();
            *n_broken += 1;
            if *n_broken < MOST_SENDS {
                return;
            }
        }
        state.replies.insert(key, reply);
    }
}

/// Where batches are sent to and waited for.
pub struct BatchClient<'a> {
    /// Folder of the tickets.
    pub folder: &'a Path,
    pub poll: Duration,
    pub listener: &'a (dyn Fn(BatchProgress) + Sync),
}

impl std::fmt::Debug for BatchClient<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchClient").field("folder", &self.folder).finish_non_exhaustive()
    }
}

pub(crate) type BatchReplies = BTreeMap<String, Result<ModelReply, ModelError>>;

impl BatchClient<'_> {
    /// Batches that were sent and not yet collected, by this process or by one that was stopped.
    pub(crate) fn tickets(&self) -> Vec<BatchTicket> {
        let paths = std::fs::read_dir(self.folder).into_iter().flatten().flatten().map(|file| file.path());
        let mut paths: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
        paths.sort();
        paths.into_iter().filter_map(read_ticket).collect()
    }

    /// Sends a batch, unless it was sent before.
    pub(crate) async fn submit(&self, part: &[BatchEntry]) -> Result<BatchTicket, ModelError> {
        let http = &part[0].http;
        let base_url = http.endpoint().base_url.clone();
        let mut hasher = blake3::Hasher::new();
        hasher.update(base_url.as_bytes());
        for entry in part {
            hasher.update(entry.key.as_bytes());
        }
        let path = self.folder.join(format!("{}.json", &hasher.finalize().to_hex()[..32]));
        if let Some(ticket) = read_ticket(path.clone()) {
            return Ok(ticket);
        }
        let id = VendorBatchApi { http, poll: self.poll, listener: self.listener }.submit(part).await?;
        let keys = part.iter().map(|entry| entry.key.clone()).collect();
        let ticket = BatchTicket { id, base_url, keys, path };
        // Written before anything else: a batch whose ticket is lost would be paid for twice.
        let text = serde_json::to_string(&ticket).expect("a ticket is plain data");
        let written = std::fs::create_dir_all(self.folder).and_then(|()| std::fs::write(&ticket.path, text));
        written.map_err(|error| {
            let why = format!("cannot write `{}`: {error}", ticket.path.display());
            ModelError::new(ModelErrorKind::Rejected, why)
        })?;
        Ok(ticket)
    }

    /// Waits for a batch, and returns the result of each of its requests.
    pub(crate) async fn collect(
        &self,
        ticket: &BatchTicket,
        part: &[BatchEntry],
    ) -> Result<BatchReplies, ModelError> {
        let Some(first) = part.first() else { return Ok(BatchReplies::new()) };
        let batch_api = VendorBatchApi { http: &first.http, poll: self.poll, listener: self.listener };
        let results = batch_api.wait(&ticket.id).await;
        if !results.as_ref().is_err_and(ModelError::is_passing) {
            let _ = std::fs::remove_file(&ticket.path);
        }
        let mut replies = BatchReplies::new();
        for line in results?.lines().filter(|line| !line.trim().is_empty()) {
            let line: Json =
                serde_json::from_str(line).map_err(|_| not_understood("a line of the results"))?;
            let key = line["custom_id"].as_str().unwrap_or_default().to_owned();
            replies.insert(key, batch_api.reply(&line));
        }
        Ok(replies)
    }
}

fn read_ticket(path: PathBuf) -> Option<BatchTicket> {
    let ticket: BatchTicket = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
    Some(BatchTicket { path, ..ticket })
}

/// Where one vendor takes batches.
struct VendorBatchApi<'a> {
    http: &'a HttpModel,
    poll: Duration,
    listener: &'a (dyn Fn(BatchProgress) + Sync),
}

impl VendorBatchApi<'_> {
    fn is_anthropic(&self) -> Result<bool, ModelError> {
        match self.http.endpoint().protocol {
            Protocol::Anthropic => Ok(true),
            Protocol::OpenaiChat | Protocol::OpenaiResponses => Ok(false),
            Protocol::Gemini => {
                Err(ModelError::new(ModelErrorKind::Rejected, "Gemini's batches are not supported"))
            }
        }
    }

    async fn submit(&self, part: &[BatchEntry]) -> Result<String, ModelError> {
        let base = &self.http.endpoint().base_url;
        if self.is_anthropic()? {
            let entry = |batch_entry: &BatchEntry| json!({ "custom_id": batch_entry.key, "params": self.http.body(&batch_entry.request) });
            let body = json!({ "requests": part.iter().map(entry).collect::<Vec<_>>() });
            let made = self.post(&format!("{base}/v1/messages/batches"), in_reply_order(&body), None).await?;
            return read_text_field(&made, "id");
        }
        let path = match self.http.endpoint().protocol {
            Protocol::OpenaiResponses => "/v1/responses",
            _ => "/v1/chat/completions",
        };
        let line = |batch_entry: &BatchEntry| {
            let body = self.http.body(&batch_entry.request);
            in_reply_order(
                &json!({ "custom_id": batch_entry.key, "method": "POST", "url": path, "body": body }),
            ) + "\n"
        };
        let lines: String = part.iter().map(line).collect();
        // A text cannot contain its own hash, so the boundary does not occur in the lines.
        let boundary = blake3::hash(lines.as_bytes()).to_hex().to_string();
        let field = |head: &str, body: &str| {
            format!("--{boundary}\r\ncontent-disposition: form-data; {head}\r\n\r\n{body}\r\n")
        };
        let form = field("name=\"purpose\"", "batch")
            + &field("name=\"file\"; filename=\"batch.jsonl\"", &lines)
            + &format!("--{boundary}--\r\n");
        let kind = format!("multipart/form-data; boundary={boundary}");
        let file = self.post(&format!("{base}/files"), form, Some(kind)).await?;
        let body = json!({ "input_file_id": read_text_field(&file, "id")?, "endpoint": path, "completion_window": "24h" });
        let made = self.post(&format!("{base}/batches"), body.to_string(), None).await?;
        read_text_field(&made, "id")
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
            let state = self.http.endpoint().parse_response(&self.get(&url).await?)?;
            let counts = &state["request_counts"];
            let count = |key: &str| counts[key].as_u64().unwrap_or(0);
            let status =
                state[if is_anthropic { "processing_status" } else { "status" }].as_str().unwrap_or_default();
            let finished = count("succeeded") + count("errored") + count("canceled") + count("expired");
            let done = if is_anthropic { finished } else { count("completed") + count("failed") };
            let total = if is_anthropic { finished + count("processing") } else { count("total") };
            (self.listener)(BatchProgress { id: id.to_owned(), status: status.to_owned(), done, total });
            match status {
                "ended" => return Ok(self.get(&format!("{url}/results")).await?.text),
                // Requests that finished before the batch expired or was cancelled have results.
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
                        ModelErrorKind::Rejected,
                        format!("the batch was refused: {why}"),
                    ));
                }
                "" => return Err(not_understood("the state of the batch")),
                _ => tokio::time::sleep(self.poll).await,
            }
        }
    }

    fn reply(&self, line: &Json) -> Result<ModelReply, ModelError> {
        if let Some(kind) = line["result"]["type"].as_str() {
            let error = &line["result"]["error"]["error"];
            let broken = |kind| {
                let why = error["message"].as_str().unwrap_or("no reason given");
                let what = line["result"]["type"].as_str().unwrap_or_default();
                ModelError::new(kind, format!("{what}: {why}"))
            };
            return match (kind, error["type"].as_str().unwrap_or_default()) {
                ("succeeded", _) => self.http.read(&line["result"]["message"], false),
                ("expired", _) => Err(broken(ModelErrorKind::Unavailable)),
                (_, "rate_limit_error") => Err(broken(ModelErrorKind::RateLimit)),
                (_, "overloaded_error" | "api_error" | "timeout_error") => {
                    Err(broken(ModelErrorKind::Unavailable))
                }
                _ => Err(broken(ModelErrorKind::Rejected)),
            };
        }
        let response = &line["response"];
        // The user cancelled the batch, so its requests fail; expired requests are sent again.
        if line["error"]["code"] == "batch_cancelled" {
            return Err(ModelError::new(ModelErrorKind::Rejected, "the batch was cancelled"));
        }
        let status = response["status_code"].as_u64().and_then(|n| u16::try_from(n).ok()).unwrap_or(500);
        let text = if response.is_null() { line["error"].to_string() } else { response["body"].to_string() };
        self.http.read_answer(&RawResponse { status, retry_after: None, text }, false)
    }

    /// Sends a POST, and repeats it if it is certain that the vendor has not accepted it.
    async fn post(&self, url: &str, body: String, kind: Option<String>) -> Result<Json, ModelError> {
        let endpoint = self.http.endpoint();
        let mut headers = reqwest::header::HeaderMap::new();
        if let Some(kind) = kind {
            let value = reqwest::header::HeaderValue::from_str(&kind).expect("a boundary is hexadecimal");
            headers.insert(reqwest::header::CONTENT_TYPE, value);
        }
        let mut left = MOST_TRIES;
        loop {
            let request = endpoint.request(self.http.client(), reqwest::Method::POST, url);
            let request = request.headers(headers.clone()).body(body.clone());
            match send_to_endpoint(request, endpoint)
                .await
                .and_then(|answer| endpoint.parse_response(&answer))
            {
                Err(error) if error.is_passing() && !error.maybe_billed && 0 < left => {
                    left -= 1;
                    tokio::time::sleep(self.poll.max(error.retry_after.unwrap_or_default().min(PATIENCE)))
                        .await;
                }
                made => return made,
            }
        }
    }

    /// Sends a GET, and retries lost connections: a batch takes hours, so a short outage must not end the wait.
    async fn get(&self, url: &str) -> Result<RawResponse, ModelError> {
        let endpoint = self.http.endpoint();
        let mut left = MOST_TRIES;
        loop {
            let request = endpoint.request(self.http.client(), reqwest::Method::GET, url);
            let answer = match send_to_endpoint(request, endpoint).await {
                Ok(answer) if answer.status < 400 => return Ok(answer),
                Ok(answer) => endpoint.parse_response(&answer).map(|_| answer),
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

fn read_text_field(body: &Json, key: &str) -> Result<String, ModelError> {
    body[key].as_str().map(str::to_owned).ok_or_else(|| not_understood(key))
}

fn not_understood(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::NotUnderstood, format!("the batch endpoint answers without {what}"))
}
