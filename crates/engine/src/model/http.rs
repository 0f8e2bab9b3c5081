//! Models behind HTTP: one client for four protocols.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jurist_core::candidate::Usage;
use jurist_core::quantity::Time;
use serde_json::Value as Json;

use super::forms::{FormMemory, ModelForms, RefusedPart, RequestForm, refused_parts};
use super::guard::PublicOnly;
use super::vendors::{Auth, Protocol, Quirks, StructuredOutput};
use super::{
    BoxFuture, LanguageModel, ModelError, ModelErrorKind, ModelReply, Request, VendorSecret, in_reply_order,
};
use super::{anthropic, gemini, openai_chat, openai_responses, stream};

/// No reply of a judge is longer.
const MAX_BYTES: usize = 16 << 20;

/// How the network is reached.
#[derive(Debug, Clone, Default)]
pub struct NetworkOptions {
    /// Certificates to trust in addition to those of the system, as PEM.
    pub ca: Option<Vec<u8>>,
    /// Replaces `HTTPS_PROXY` and similar variables.
    pub proxy: Option<String>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[error("the network cannot be used: {0}")]
pub struct NoClient(String);

/// One client for all calls: it keeps connections open.
pub fn client(network: &NetworkOptions) -> Result<reqwest::Client, NoClient> {
    let bad = |error: &dyn std::fmt::Display| NoClient(error.to_string());
    // A second call finds it installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("jurist/", env!("CARGO_PKG_VERSION")))
        // A redirect could carry the key to another server.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .pool_max_idle_per_host(1024);
    if let Some(pem) = &network.ca {
        let certificates = reqwest::Certificate::from_pem_bundle(pem).map_err(|error| bad(&error))?;
        builder = builder.tls_certs_merge(certificates);
    }
    if let Some(proxy) = &network.proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(|error| bad(&error))?);
    }
    builder.build().map_err(|error| bad(&error))
}

/// A client that reaches nothing inside the machine or its network.
pub fn public_client() -> Result<reqwest::Client, NoClient> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("jurist/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        // A proxy would look names up by itself.
        .no_proxy()
        .dns_resolver(Arc::new(PublicOnly));
    builder.build().map_err(|error| NoClient(error.to_string()))
}

/// Where a model is, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub protocol: Protocol,
    /// Without a slash at its end.
    pub base_url: String,
    pub key: Option<VendorSecret>,
    /// The variable of the environment that holds the key.
    pub key_variable: Option<String>,
    pub auth: Auth,
    pub headers: Vec<(String, VendorSecret)>,
    /// As the vendor spells it.
    pub model: String,
    pub shapes: &'static [StructuredOutput],
    pub quirks: Quirks,
    /// Replies are streamed, because some servers support nothing else, and some proxies close a silent connection.
    pub stream: bool,
    pub timeout: Duration,
}

/// A model behind an endpoint, and what was learned about it.
#[derive(Debug)]
pub struct HttpModel {
    client: reqwest::Client,
    endpoint: Endpoint,
    url: String,
    forms: Arc<ModelForms>,
}

/// A server's response before it is interpreted.
#[derive(Debug)]
pub struct RawResponse {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub text: String,
}

impl HttpModel {
    pub fn new(client: reqwest::Client, endpoint: Endpoint, memory: &FormMemory) -> Self {
        let url = endpoint.url();
        let forms = memory.of_model(&url, &endpoint.model, endpoint.takes_for_sure());
        Self { client, url, endpoint, forms }
    }

    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The form of structured output that is in use.
    pub fn shape(&self) -> StructuredOutput {
        self.endpoint.shapes[self.forms.current().shape]
    }

    /// What is sent, as the protocol writes it.
    pub fn body(&self, request: &Request) -> Json {
        self.body_with(request, self.forms.current())
    }

    fn body_with(&self, request: &Request, form: RequestForm) -> Json {
        let Endpoint { model, quirks, shapes, protocol, .. } = &self.endpoint;
        let shape = if request.schema.is_null() { StructuredOutput::Asked } else { shapes[form.shape] };
        let without;
        let request = if form.temperature && form.log_probabilities {
            request
        } else {
            without = Request {
                temperature: request.temperature.filter(|_| form.temperature),
                log_probabilities: request.log_probabilities && form.log_probabilities,
                ..request.clone()
            };
            &without
        };
        let other = Quirks { max_tokens: other_limit(quirks.max_tokens), ..*quirks };
        let quirks = if form.other_limit { &other } else { quirks };
        let mut body = match protocol {
            Protocol::OpenaiChat => openai_chat::build_chat_request(request, model, shape, quirks),
            Protocol::OpenaiResponses => {
                openai_responses::build_responses_request(request, model, shape, quirks)
            }
            Protocol::Anthropic => anthropic::build_anthropic_request(request, model, shape, quirks),
            // Gemini streams by another address, not by a field of the body.
            Protocol::Gemini => return gemini::build_gemini_request(request, shape, quirks, model),
        };
        if self.endpoint.stream {
            body["stream"] = true.into();
            if *protocol == Protocol::OpenaiChat {
                body["stream_options"] = serde_json::json!({ "include_usage": true });
            }
        }
        body
    }

    /// Parses a reply body of this protocol. A vendor may charge for a reply without usable content, so the error has
    /// the usage too.
    pub fn read(&self, body: &Json, with_tools: bool) -> Result<ModelReply, ModelError> {
        let reply = match self.endpoint.protocol {
            Protocol::OpenaiChat => openai_chat::read_chat_reply(body, with_tools),
            Protocol::OpenaiResponses => openai_responses::read_responses_reply(body, with_tools),
            Protocol::Anthropic => anthropic::read_anthropic_reply(body, with_tools),
            Protocol::Gemini => gemini::read_gemini_reply(body),
        };
        reply.map_err(|error| ModelError { maybe_billed: true, usage: self.usage(body), ..error })
    }

    /// The token counts in a body of this protocol, also in a body that reports an error.
    fn usage(&self, body: &Json) -> Usage {
        match self.endpoint.protocol {
            Protocol::OpenaiChat => openai_chat::read_chat_usage(body),
            Protocol::OpenaiResponses => openai_responses::read_responses_usage(body),
            Protocol::Anthropic => anthropic::read_anthropic_usage(body),
            Protocol::Gemini => gemini::read_gemini_usage(body),
        }
    }

    /// The reply in an answer; otherwise the error, with the tokens that the vendor counted nevertheless.
    pub fn read_answer(&self, answer: &RawResponse, with_tools: bool) -> Result<ModelReply, ModelError> {
        let body = self.endpoint.parse_response(answer).map_err(|error| {
            let body: Json = serde_json::from_str(&answer.text).unwrap_or_default();
            ModelError { usage: self.usage(&body), ..error }
        })?;
        self.read(&body, with_tools)
    }

    /// Asks in the form that is known to be taken; if the server refuses that form, in the next. A form is only
    /// remembered when the request has succeeded in it, so that a request that fails in every form teaches nothing.
    async fn ask(&self, request: &Request) -> Result<ModelReply, ModelError> {
        let begun = self.forms.begin();
        let (mut form, mut n_refused, mut usage) = (begun, 0, Usage::default());
        loop {
            let body = in_reply_order(&self.body_with(request, form));
            let post = self.endpoint.request(&self.client, reqwest::Method::POST, &self.url);
            let answer = send_to_endpoint(post.body(body), &self.endpoint).await;
            let error = match answer.and_then(|answer| self.read_answer(&answer, !request.tools.is_empty())) {
                Ok(reply) => {
                    self.confirm(request, begun, form);
                    return Ok(ModelReply { usage: reply.usage.plus(usage), n_refused, ..reply });
                }
                Err(error) => error,
            };
            usage = usage.plus(error.usage);
            if error.kind != ModelErrorKind::Unsupported {
                return Err(ModelError { usage, n_refused, ..error });
            }
            let Some(next) = self.next_form(request, form, &error.detail) else {
                return Err(ModelError { kind: ModelErrorKind::Rejected, usage, n_refused, ..error });
            };
            form = next;
            n_refused += 1;
        }
    }

    /// The form without the part that the server refused; `None` if there is no other.
    fn next_form(&self, request: &Request, form: RequestForm, message: &str) -> Option<RequestForm> {
        refused_parts(message).into_iter().find_map(|part| match part {
            RefusedPart::Temperature if form.temperature && request.temperature.is_some() => {
                Some(RequestForm { temperature: false, ..form })
            }
            RefusedPart::LogProbabilities if form.log_probabilities && request.log_probabilities => {
                Some(RequestForm { log_probabilities: false, ..form })
            }
            RefusedPart::LimitName if !form.other_limit => Some(RequestForm { other_limit: true, ..form }),
            RefusedPart::Shape
                if !request.schema.is_null() && form.shape + 1 < self.endpoint.shapes.len() =>
            {
                Some(RequestForm { shape: form.shape + 1, ..form })
            }
            _ => None,
        })
    }

    fn confirm(&self, request: &Request, begun: RequestForm, form: RequestForm) {
        // A request that leaves parts out says nothing about them.
        let current = self.forms.current();
        let says_all = !request.schema.is_null()
            && request.temperature.is_some()
            && (current.log_probabilities || request.log_probabilities);
        if form != begun || (form == RequestForm::FIRST && says_all && current != form) {
            self.forms.confirm(form);
        }
    }
}

/// OpenAI renamed the field, and servers take the one or the other.
fn other_limit(name: &str) -> &'static str {
    if name == "max_tokens" { "max_completion_tokens" } else { "max_tokens" }
}

impl LanguageModel for HttpModel {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            if self.forms.first.initialized() {
                return self.ask(request).await;
            }
            let mut mine = None;
            self.forms.first.get_or_init(|| async { mine = Some(self.ask(request).await) }).await;
            match mine {
                Some(result) => result,
                None => self.ask(request).await,
            }
        })
    }
}

impl Endpoint {
    fn url(&self) -> String {
        let Self { base_url, model, .. } = self;
        match self.protocol {
            Protocol::OpenaiChat => format!("{base_url}/chat/completions"),
            Protocol::OpenaiResponses => format!("{base_url}/responses"),
            Protocol::Anthropic => format!("{base_url}/v1/messages"),
            Protocol::Gemini if self.stream => {
                format!("{base_url}/models/{model}:streamGenerateContent?alt=sse")
            }
            Protocol::Gemini => format!("{base_url}/models/{model}:generateContent"),
        }
    }

    /// Whether the first form of structured output is known to be taken.
    fn takes_for_sure(&self) -> bool {
        !self.shapes.contains(&StructuredOutput::ObjectWithSchema)
    }

    /// A request with all its headers.
    pub fn request(
        &self,
        client: &reqwest::Client,
        method: reqwest::Method,
        url: &str,
    ) -> reqwest::RequestBuilder {
        let mut request =
            client.request(method, url).timeout(self.timeout).header("content-type", "application/json");
        if self.protocol == Protocol::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        if let Some(key) = self.key.as_ref().filter(|_| !self.has_own_authorization()) {
            request = match self.auth {
                Auth::Bearer => request.bearer_auth(key.reveal()),
                Auth::Header(name) => request.header(name, key.reveal()),
            };
        }
        self.headers.iter().fold(request, |request, (name, value)| request.header(name, value.reveal()))
    }

    /// The JSON of a good answer; otherwise what kind of trouble it is. If the key is wrong, the variable is named that
    /// it comes from.
    pub fn parse_response(&self, answer: &RawResponse) -> Result<Json, ModelError> {
        parse_response_body(answer).map_err(|error| match &self.key_variable {
            Some(name) if error.kind == ModelErrorKind::Auth && !self.has_own_authorization() => {
                ModelError { detail: format!("{}; the key is from {name}", error.detail), ..error }
            }
            _ => error,
        })
    }

    /// Whether a header of the settings is sent in place of the key.
    fn has_own_authorization(&self) -> bool {
        self.headers.iter().any(|header| header.0.eq_ignore_ascii_case("authorization"))
    }

    /// The text without the key and the values of headers.
    pub fn strip(&self, text: &str) -> String {
        let secrets = self.key.iter().chain(self.headers.iter().map(|(_, value)| value));
        secrets.fold(text.to_owned(), |text, vendor_secret| vendor_secret.strip(&text))
    }

    /// The address without a password.
    pub fn address(&self) -> String {
        match (self.base_url.split_once("://"), self.base_url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
            _ => self.base_url.clone(),
        }
    }
}

/// Sends, and reads the whole answer, at most so much of it.
pub async fn send_to_endpoint(
    request: reqwest::RequestBuilder,
    endpoint: &Endpoint,
) -> Result<RawResponse, ModelError> {
    let broken = |error: reqwest::Error| {
        let kind = if error.is_timeout() {
            ModelErrorKind::Timeout
        } else if error.is_builder() {
            ModelErrorKind::Rejected
        } else {
            ModelErrorKind::Unavailable
        };
        let detail = if error.is_timeout() {
            format!("no answer from {} within {} s", endpoint.address(), endpoint.timeout.as_secs_f64())
        } else {
            causes(&error.without_url(), &endpoint.address())
        };
        ModelError::new(kind, endpoint.strip(&detail))
    };
    let mut response = request.send().await.map_err(|error| {
        let served = error.is_timeout() && !error.is_connect();
        ModelError { maybe_billed: served, ..broken(error) }
    })?;
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name).and_then(|header| header.to_str().ok());
    let millis =
        header("retry-after-ms").and_then(|header| header.parse::<f64>().ok()).map(|value| value / 1e3);
    let retry_after = millis
        .or_else(|| header("retry-after").and_then(parse_retry_after))
        .and_then(|millis| Duration::try_from_secs_f64(millis).ok());
    // Some servers send a stream without being asked for one.
    let is_stream = header("content-type").is_some_and(|header| header.starts_with("text/event-stream"));
    let mut bytes = Vec::new();
    let cut = |error| ModelError { maybe_billed: true, ..broken(error) };
    while let Some(chunk) = response.chunk().await.map_err(cut)? {
        bytes.extend_from_slice(&chunk);
        if MAX_BYTES < bytes.len() {
            let error = ModelError::new(ModelErrorKind::NotUnderstood, "the reply has more than 16 MB");
            return Err(ModelError { maybe_billed: true, ..error });
        }
    }
    // Servers may repeat the key in errors; it is removed here.
    let mut text = endpoint.strip(&String::from_utf8_lossy(&bytes));
    if is_stream && status < 300 {
        let Some(body) = stream::assemble_stream(endpoint.protocol, &text) else {
            let error = ModelError::new(ModelErrorKind::Unavailable, "the streamed reply is incomplete");
            return Err(ModelError { maybe_billed: true, ..error });
        };
        text = body.to_string();
    }
    Ok(RawResponse { status, retry_after, text })
}

/// The error with its causes; the last one has the reason.
fn causes(error: &dyn std::error::Error, url: &str) -> String {
    let mut text = format!("cannot reach {url}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A number of seconds, or a date.
fn parse_retry_after(header: &str) -> Option<f64> {
    if let Ok(seconds) = header.trim().parse::<f64>() {
        return Some(seconds);
    }
    // `Sun, 06 Nov 2033 08:49:37 GMT`
    let [_, day, month, year, clock, _] = header.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|text| *text == month)? + 1;
    let then = Time::parse(&format!("{year}-{month:02}-{day}T{clock}Z")).ok()?.micros();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_micros();
    Some((then as f64 - now as f64).max(0.0) / 1e6)
}

/// The JSON of a good answer; otherwise what kind of trouble it is.
fn parse_response_body(answer: &RawResponse) -> Result<Json, ModelError> {
    let body: Option<Json> = serde_json::from_str(&answer.text).ok();
    let body = match body {
        Some(body) if (200..300).contains(&answer.status) && !body["error"].is_object() => return Ok(body),
        body => body,
    };
    let message = body.as_ref().and_then(read_error_message).unwrap_or_else(|| error_excerpt(&answer.text));
    let code =
        body.as_ref().map(|body| body["error"]["code"].to_string() + &body["error"]["type"].to_string());
    let code = code.unwrap_or_default();
    let status = match (answer.status, &body) {
        // Some routers answer 200 with an error in the body.
        (200..=299, Some(body)) if body["error"].is_object() => {
            body["error"]["code"].as_u64().and_then(|n| u16::try_from(n).ok()).unwrap_or(502)
        }
        (status, _) => status,
    };
    let (kind, about) = match (status, body) {
        (200..=299, None) if answer.text.trim_start().starts_with('<') => (
            ModelErrorKind::NotUnderstood,
            "a web page came back instead of JSON; is the base URL right, or a proxy in between?".to_owned(),
        ),
        (200..=299, None) => (ModelErrorKind::Unavailable, "the reply is not JSON".to_owned()),
        (300..=399, _) => {
            (ModelErrorKind::NotUnderstood, format!("{status}: the server redirects; the base URL is wrong"))
        }
        (401 | 402, _) => (ModelErrorKind::Auth, status.to_string()),
        // Gemini reports this with a 400.
        (400, _) if answer.text.contains("API_KEY_INVALID") => (ModelErrorKind::Auth, status.to_string()),
        // OpenAI forbids them for some models.
        (403, _) if refused_parts(&message).contains(&RefusedPart::LogProbabilities) => {
            (ModelErrorKind::Unsupported, status.to_string())
        }
        (403, _) => (ModelErrorKind::Forbidden, status.to_string()),
        (429, _) if ["insufficient_quota", "billing"].iter().any(|text| code.contains(text)) => {
            (ModelErrorKind::Auth, status.to_string())
        }
        (429, _) => (ModelErrorKind::RateLimit, status.to_string()),
        (400 | 422, _) if !refused_parts(&message).is_empty() => {
            (ModelErrorKind::Unsupported, status.to_string())
        }
        // llama.cpp's Python server fails with a 500 on a form of structured output that it does not know.
        (500, _) if message.contains("response_format") => (ModelErrorKind::Unsupported, status.to_string()),
        (404, _) => (ModelErrorKind::Rejected, format!("{status}: no such model or address")),
        (408 | 409 | 500..=599, _) => (ModelErrorKind::Unavailable, status.to_string()),
        _ => (ModelErrorKind::Rejected, status.to_string()),
    };
    let maybe_billed = (200..300).contains(&answer.status);
    let retry_after = answer.retry_after.or_else(|| retry_delay(&answer.text));
    Err(ModelError { retry_after, maybe_billed, ..ModelError::new(kind, format!("{about}: {message}")) })
}

/// Gemini writes the time to wait into the body: `"retryDelay": "37s"`.
fn retry_delay(text: &str) -> Option<Duration> {
    let (_, rest) = text.split_once("\"retryDelay\"")?;
    let seconds = rest.split('"').nth(1)?.strip_suffix('s')?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

fn read_error_message(body: &Json) -> Option<String> {
    let error = &body["error"];
    let places = [&error["message"], error, &body["message"], &body["detail"]];
    places.iter().find_map(|place| place.as_str()).map(error_excerpt)
}

fn error_excerpt(text: &str) -> String {
    let text: String = text.trim().chars().take(300).collect();
    if text.is_empty() { "(no words)".to_owned() } else { text }
}
