//! A server of its own for one test, and somebody who talks to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jurist_server::{Access, App, ServerSettings, bind, join_link};
use jurist_store::Store;
use jurist_store::testing::{Scene, for_each_engine};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

/// How long a test waits for what must come, before it fails. Nextest ends a test after ten minutes, so this is a
/// little less: at a load of 18 on two cores, a test that judges 2,400 traces had not ended after 240 s.
pub const PATIENCE: Duration = Duration::from_secs(540);

/// Waits until this is so.
pub async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < PATIENCE, "it never came to it");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A server, and how it was reached last.
pub struct Place {
    pub app: App,
    pub url: String,
    client: reqwest::Client,
    pub scene: Arc<Scene>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
    /// Where they are no text.
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// The cookie that was set, as it is sent back.
    pub fn cookie(&self) -> String {
        let set = self.headers["set-cookie"].to_str().unwrap();
        set.split(';').next().unwrap().to_owned()
    }
}

/// A stream of events that is read piece by piece.
pub struct EventStream {
    response: reqwest::Response,
    text: String,
}

impl EventStream {
    /// Reads one more piece; whether there was one.
    async fn read_piece(&mut self) -> bool {
        let piece = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
        let piece = piece.expect("the stream goes on or ends").unwrap();
        self.text += &String::from_utf8_lossy(piece.as_deref().unwrap_or_default());
        piece.is_some()
    }

    /// Reads until this text has come.
    pub async fn read_until(&mut self, text: &str) {
        while !self.text.contains(text) {
            assert!(self.read_piece().await, "the stream ends without `{text}`: {}", self.text);
        }
    }

    /// All that comes until the server ends the stream, with what was read before.
    pub async fn read_to_end(mut self) -> String {
        while self.read_piece().await {}
        self.text
    }
}

/// Runs a test against a server on each database.
pub fn served<F: Future<Output = ()>>(settings: &ServerSettings, test: impl Fn(Arc<Place>) -> F) {
    for_each_engine(|scene| async { test(Arc::new(start(scene, settings.clone()).await)).await });
}

/// For tests that need hundreds of traces and whose statements other tests run on both databases.
pub fn served_on_sqlite<F: Future<Output = ()>>(
    settings: &ServerSettings,
    test: impl FnOnce(Arc<Place>) -> F,
) {
    serve_with_threads(2, settings, test);
}

/// One thread answers all requests, so that work which keeps it lets everybody else wait.
pub fn served_by_one_thread<F: Future<Output = ()>>(
    settings: &ServerSettings,
    test: impl FnOnce(Arc<Place>) -> F,
) {
    serve_with_threads(1, settings, test);
}

fn serve_with_threads<F: Future<Output = ()>>(
    n_threads: usize,
    settings: &ServerSettings,
    test: impl FnOnce(Arc<Place>) -> F,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(n_threads).enable_all().build();
    runtime.unwrap().block_on(async {
        test(Arc::new(start(Arc::new(Scene::sqlite().await), settings.clone()).await)).await;
    });
}

/// A server on a database.
pub async fn start(scene: Arc<Scene>, settings: ServerSettings) -> Place {
    let store = scene.store.clone();
    start_on(store, scene, settings).await
}

/// A server on a database that was opened in a way of its own.
pub async fn start_on(store: Store, scene: Arc<Scene>, settings: ServerSettings) -> Place {
    // The client has no TLS to speak of, and wants to be told.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let app = App::new(store, settings).await.unwrap();
    let bound = bind(app.clone(), SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = format!("http://{}", bound.address);
    tokio::spawn(bound.serve(std::future::pending()));
    Place { app, url, client: client(), scene }
}

/// Traces are put together at once.
pub fn hasty() -> ServerSettings {
    let (settle, idle) = (Duration::from_millis(50), Duration::from_millis(400));
    ServerSettings { settle, idle, ..ServerSettings::default() }
}

/// A connection for each request: one that a server gives up after a body that is too large is not tried again.
fn client() -> reqwest::Client {
    reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap()
}

pub fn with_accounts() -> ServerSettings {
    ServerSettings { access: Access::Accounts, ..ServerSettings::default() }
}

impl Place {
    /// Sends a request with these headers; a body that is not null goes as JSON.
    pub async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Json) -> Answer {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_null() {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, text: response.text().await.unwrap(), bytes: Vec::new() }
    }

    /// Opens the events of a run.
    pub async fn open_events(&self, run: &str, header: (&str, &str)) -> EventStream {
        let request = self.client.get(format!("{}/api/v1/runs/{run}/events", self.url));
        let response = request.header(header.0, header.1).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        EventStream { response, text: String::new() }
    }

    /// Sends bytes as they are.
    pub async fn send(&self, path: &str, headers: &[(&str, &str)], body: impl Into<reqwest::Body>) -> Answer {
        let mut request = self.client.post(format!("{}{path}", self.url)).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.unwrap().to_vec();
        Answer { status, headers, text: String::from_utf8_lossy(&bytes).into_owned(), bytes }
    }

    /// Posts JSON that takes long, and asks for the health of the server all the time. Fails if that is not answered
    /// for a quarter of the time or more.
    ///
    /// How fast the machine is does not matter: work on the only thread of the server takes the same share of a request
    /// of any size, and what else delays an answer takes a smaller share of a larger request. So larger ones are tried
    /// before it fails; `body` makes one that is so many times as large.
    pub async fn post_among_others(&self, path: &str, body: impl Fn(usize) -> String) -> Answer {
        let mut shares = Vec::new();
        for times in [1, 2, 4] {
            let (answer, share) = self.measure_silence(path, body(times)).await;
            if share < 0.25 {
                return answer;
            }
            shares.push(share);
        }
        panic!("{path}: for these shares of the time nobody else was answered: {shares:?}");
    }

    /// The answer to a request, and the longest time without an answer to others as a share of its time.
    async fn measure_silence(&self, path: &str, body: String) -> (Answer, f64) {
        let headers = [("content-type", "application/json")];
        let request = self.send(path, &headers, body);
        tokio::pin!(request);
        let started = Instant::now();
        let (mut last, mut longest) = (started, Duration::ZERO);
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut request => break answer,
                health = self.fetch("/health") => {
                    assert_eq!(health.status, StatusCode::OK);
                    longest = longest.max(last.elapsed());
                    last = Instant::now();
                }
            }
        };
        longest = longest.max(last.elapsed());
        (answer, longest.as_secs_f64() / started.elapsed().as_secs_f64())
    }

    pub async fn fetch(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[], Json::Null).await
    }

    /// What is known of a trace, once this is true of it.
    pub async fn until(&self, trace: &str, is_so: impl Fn(&Json) -> bool) -> Json {
        let started = Instant::now();
        loop {
            let head = self.fetch(&format!("/api/v1/traces/{trace}")).await;
            if head.status == StatusCode::OK && is_so(&head.json()) {
                return head.json();
            }
            assert!(started.elapsed() < PATIENCE, "it never came to it: {}", head.text);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Puts a new token with these scopes into the header of requests.
    pub async fn token(&self, cookie: &str, scopes: &[&str]) -> String {
        let body = json!({ "name": format!("for {}", scopes.join(" ")), "scopes": scopes });
        let made = self.ask(Method::POST, "/api/v1/tokens", &[("cookie", cookie)], body).await;
        format!("Bearer {}", made.json()["secret"].as_str().unwrap())
    }

    /// The cookie of the first owner.
    pub async fn owner(&self) -> String {
        let link = join_link(&self.app, &self.url).await.unwrap().unwrap();
        self.join(link.split_once('#').unwrap().1, "ada@example.org").await.cookie()
    }

    pub async fn join(&self, invitation: &str, email: &str) -> Answer {
        let body = json!({
            "invitation": invitation, "email": email, "name": "Somebody", "password": "correct horse battery",
        });
        self.ask(Method::POST, "/api/v1/join", &[], body).await
    }
}
