use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use jurist_core::candidate::JudgeInput;
use jurist_core::grade::Spend;
use jurist_core::run::{CaseResult, Packed, Run, RunId};
use jurist_server::NewRun;
use jurist_store::{clock, random};
use serde::Deserialize;
use serde_json::Value as Json;

use super::choose_token;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::running::{FinishedRun, RunExecutionArgs, RunReportContext, RunScope};
use crate::stored_runs::StoredRuns;

/// Which server works, if not this machine.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub struct EvalServerArgs {
    /// Run on the workers of this server, with their API keys
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// API token with the scopes `read` and `write` [default: JURIST_TOKEN]
    #[arg(long, value_name = "TOKEN", requires = "server")]
    token: Option<String>,
    /// Project name or id [default: the token's project]
    #[arg(long, value_name = "NAME", requires = "server")]
    project: Option<String>,
}

impl EvalServerArgs {
    pub fn is_named(&self) -> bool {
        self.server.is_some()
    }

    pub fn remote(&self, client: &reqwest::Client) -> anyhow::Result<Remote> {
        let url = self.server.as_ref().context("no server is named")?;
        let token = choose_token(self.token.as_ref());
        Remote::new(url, token, self.project.clone(), client.clone())
    }
}

/// A Jurist server, and the client that calls it.
pub struct Remote {
    url: String,
    token: Option<String>,
    project: Option<String>,
    client: reqwest::Client,
}

/// Attempts to restore a lost connection without an event in between.
const TRIES: u32 = 10;

#[derive(Deserialize)]
struct StartedRun {
    id: RunId,
    n_units: usize,
}

#[derive(Deserialize)]
struct RunResultsPage {
    items: Vec<RunResultItem>,
    next: Option<usize>,
}

#[derive(Deserialize)]
struct RunResultItem {
    result: CaseResult,
}

impl Remote {
    pub fn new(
        url: &str,
        token: Option<String>,
        project: Option<String>,
        client: reqwest::Client,
    ) -> anyhow::Result<Self> {
        anyhow::ensure!(
            url.starts_with("http://") || url.starts_with("https://"),
            "`{url}` is not an address such as http://127.0.0.1:8000"
        );
        Ok(Self { url: url.trim_end_matches('/').to_owned(), token, project, client })
    }

    /// Submits a suite to the server, follows the run, and reports its results like those of a local run.
    pub async fn evaluate_and_report(
        &self,
        running: &RunExecutionArgs,
        runs: &StoredRuns,
        new_run: &NewRun,
        part: RunScope,
        no_defer: bool,
    ) -> anyhow::Result<FinishedRun> {
        let begun = Instant::now();
        let StartedRun { id, n_units } = self.submit(new_run).await?;
        // Checked before the command waits for anything.
        let baseline = running.baseline(runs, id).await?;
        let mut progress = render::ProgressLine::new().quiet(running.quiet);
        let followed = tokio::select! {
            followed = self.follow(id, n_units, &mut progress) => Some(followed),
            _ = tokio::signal::ctrl_c() => None,
        };
        progress.clear();
        let Some(followed) = followed else {
            render::print_note(&format!("{id} continues at {}", self.url));
            return Ok(CommandOutcome::Interrupted.into());
        };
        followed?;
        let run = self.run(id, running.shows_material()).await?;
        let address = self.address(id).await;
        let context =
            RunReportContext { elapsed: begun.elapsed(), n_units, stopped: None, address, part, no_defer };
        running.report_run(&run, baseline.as_ref(), &context)
    }

    /// The page of a run; none if its project is unknown.
    pub async fn address(&self, id: RunId) -> Option<String> {
        let all = self.get("/projects").await.ok()?;
        let is_wanted = |value: &&Json| match &self.project {
            Some(wanted) => value["name"] == wanted.as_str() || value["id"] == wanted.as_str(),
            // A token gives access to one project.
            None => self.token.is_some() || value["name"] == "default",
        };
        let project = all.as_array()?.iter().find(is_wanted)?;
        let mut address = reqwest::Url::parse(&self.url).ok()?;
        let id = id.to_string();
        address.path_segments_mut().ok()?.pop_if_empty().extend([
            "p",
            project["name"].as_str()?,
            "runs",
            &id,
        ]);
        Some(address.into())
    }

    /// Sent again with the same key if the answer is lost, so that one run begins.
    async fn submit(&self, new_run: &NewRun) -> anyhow::Result<StartedRun> {
        let body = serde_json::to_string(new_run)?;
        let key = RunId::new(clock::current_time(), random()).to_string();
        let mut tries = 0;
        loop {
            let request = self.request(reqwest::Method::POST, "/runs").header("idempotency-key", &key);
            let request = request.header("content-type", "application/json").body(body.clone());
            match self.answer(request).await {
                Ok(answer) => return Ok(serde_json::from_value(answer)?),
                Err(RemoteError::Response(error)) => bail!("{}: {error}", self.url),
                Err(RemoteError::Away(error)) if tries == 3 => return Err(self.no_answer_error(error)),
                Err(RemoteError::Away(_)) => tries += 1,
            }
            tokio::time::sleep(Duration::from_millis(300 << tries)).await;
        }
    }

    async fn follow(
        &self,
        id: RunId,
        n_units: usize,
        progress: &mut render::ProgressLine,
    ) -> anyhow::Result<()> {
        let (mut last, mut tries) = (None, 0);
        loop {
            let mut request = self.request(reqwest::Method::GET, &format!("/runs/{id}/events"));
            if let Some(last) = &last {
                request = request.header("last-event-id", last);
            }
            let error = match self.events(request, &mut last, &mut tries, n_units, progress).await {
                Ok(true) => return Ok(()),
                Ok(false) => anyhow::anyhow!("the connection was closed"),
                Err(RemoteError::Response(error)) => bail!("{}: {error}", self.url),
                Err(RemoteError::Away(error)) => error,
            };
            tries += 1;
            if TRIES < tries {
                return Err(error.context(format!("{id} continues, but {} does not respond", self.url)));
            }
            tokio::time::sleep(Duration::from_millis(200 * u64::from(tries))).await;
        }
    }

    /// Reads events until the stream closes; returns whether the run has ended.
    async fn events(
        &self,
        request: reqwest::RequestBuilder,
        last: &mut Option<String>,
        tries: &mut u32,
        n_units: usize,
        progress: &mut render::ProgressLine,
    ) -> Result<bool, RemoteError> {
        let mut response = self.send_request(request).await?;
        let mut text = String::new();
        while let Some(chunk) = response.chunk().await? {
            text.push_str(&String::from_utf8_lossy(&chunk));
            while let Some((event, rest)) = text.split_once("\n\n") {
                let field =
                    |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                if let Some(id) = field("id") {
                    *last = Some(id.to_owned());
                }
                let data: Json =
                    field("data").and_then(|field| serde_json::from_str(field).ok()).unwrap_or_default();
                match field("event") {
                    Some("ended") => return Ok(true),
                    Some("progress") => progress.show(|| format!("{} of {n_units}", data["n_results"])),
                    _ => {}
                }
                *tries = 0;
                text = rest.to_owned();
            }
        }
        Ok(false)
    }

    /// With its results, in the order of the plan.
    async fn run(&self, id: RunId, with_material: bool) -> anyhow::Result<Run> {
        let mut head = self.get(&format!("/runs/{id}")).await?;
        let (mut results, mut after, mut spend) = (Vec::new(), String::new(), Spend::default());
        loop {
            let page = self.get(&format!("/runs/{id}/results?limit=200{after}")).await?;
            let page: RunResultsPage = serde_json::from_value(page)?;
            for RunResultItem { mut result } in page.items {
                spend = spend.plus(result.spend);
                if !with_material {
                    result.material = JudgeInput::default();
                }
                results.push(Packed::new(&result));
            }
            match page.next {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        Ok(Run {
            format: serde_json::from_value(head["format"].take())?,
            id,
            suite: serde_json::from_value(head["suite"].take())?,
            provenance: serde_json::from_value(head["provenance"].take()).unwrap_or_default(),
            started: serde_json::from_value(head["started"].take())?,
            ended: serde_json::from_value(head["ended"].take())?,
            seed: serde_json::from_value(head["seed"].take())?,
            rubrics: serde_json::from_value(head["rubrics"].take())?,
            results: results.into_iter().collect(),
            spend,
            summary: None,
        })
    }

    pub async fn get(&self, path: &str) -> anyhow::Result<Json> {
        let answer = self.answer(self.request(reqwest::Method::GET, path)).await;
        answer.map_err(|trouble| self.trouble(trouble))
    }

    /// Writes a file that the server sends, as it arrives.
    pub async fn download(&self, path: &str, out: &mut impl std::io::Write) -> anyhow::Result<()> {
        let sent = self.send_request(self.request(reqwest::Method::GET, path)).await;
        let mut response = sent.map_err(|trouble| self.trouble(trouble))?;
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => out.write_all(&chunk)?,
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.no_answer_error(error.into())),
            }
        }
    }

    /// What the server answers to a body.
    pub async fn ask(
        &self,
        method: reqwest::Method,
        path: &str,
        body: Option<&Json>,
    ) -> anyhow::Result<Json> {
        let answer = self.answer(self.with_body(method, path, body)).await;
        answer.map_err(|trouble| self.trouble(trouble))
    }

    /// Sends a body, and sends it again if no answer comes; only for requests that may be repeated.
    pub async fn send_repeatedly(
        &self,
        method: reqwest::Method,
        path: &str,
        body: &[u8],
    ) -> anyhow::Result<Json> {
        let mut tries = 0;
        loop {
            let request = self.request(method.clone(), path).header("content-type", "application/json");
            match self.answer(request.body(body.to_vec())).await {
                Ok(answer) => return Ok(answer),
                Err(RemoteError::Response(error)) => bail!("{}: {error}", self.url),
                Err(RemoteError::Away(error)) if tries == 5 => return Err(self.no_answer_error(error)),
                Err(RemoteError::Away(_)) => tries += 1,
            }
            tokio::time::sleep(Duration::from_millis(300 << tries)).await;
        }
    }

    /// Changes something.
    pub async fn send(&self, method: reqwest::Method, path: &str, body: Option<&Json>) -> anyhow::Result<()> {
        let request = self.with_body(method, path, body);
        self.send_request(request).await.map(drop).map_err(|trouble| self.trouble(trouble))
    }

    fn with_body(&self, method: reqwest::Method, path: &str, body: Option<&Json>) -> reqwest::RequestBuilder {
        let request = self.request(method, path);
        match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        }
    }

    fn trouble(&self, trouble: RemoteError) -> anyhow::Error {
        match trouble {
            RemoteError::Response(error) => anyhow::anyhow!("{}: {error}", self.url),
            RemoteError::Away(error) => self.no_answer_error(error),
        }
    }

    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let mut request = self.client.request(method, format!("{}/api/v1{path}", self.url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(project) = &self.project {
            request = request.header("jurist-project", project);
        }
        request
    }

    async fn answer(&self, request: reqwest::RequestBuilder) -> Result<Json, RemoteError> {
        let text = self.send_request(request).await?.text().await?;
        serde_json::from_str(&text)
            .map_err(|_| RemoteError::Response("the response is not from a Jurist server".to_owned()))
    }

    async fn send_request(&self, request: reqwest::RequestBuilder) -> Result<reqwest::Response, RemoteError> {
        let response = request.send().await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        if matches!(status.as_u16(), 429 | 502 | 503 | 504) {
            return Err(RemoteError::Away(anyhow::anyhow!("it answered {status}")));
        }
        let problem: Json = serde_json::from_str(&response.text().await?).unwrap_or_default();
        let detail = problem["detail"].as_str().map_or_else(|| status.to_string(), str::to_owned);
        Err(RemoteError::Response(detail))
    }

    fn no_answer_error(&self, error: anyhow::Error) -> anyhow::Error {
        error.context(NoAnswer(self.url.clone()))
    }
}

/// As a part of a path or a query.
pub fn encode_url_part(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The context of an error: a Jurist server at this address gave no answer.
#[derive(Debug)]
pub struct NoAnswer(pub String);

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not answer", self.0)
    }
}

enum RemoteError {
    /// The server's own error message.
    Response(String),
    /// No response, or one that asks the client to try again.
    Away(anyhow::Error),
}

impl From<reqwest::Error> for RemoteError {
    fn from(error: reqwest::Error) -> Self {
        Self::Away(error.into())
    }
}
