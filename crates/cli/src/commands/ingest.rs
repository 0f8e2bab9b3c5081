use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use jurist_core::candidate::{TraceFormat, read_traces};
use jurist_core::quantity::plural;
use jurist_core::redact::Redactor;
use jurist_engine::load;
use jurist_engine::model::http::{NetworkOptions, client};
use jurist_server::{App, IngestDefaults, Intake, LineAnswer, LineStatus, ServerSettings, assemble_ended};
use serde_json::{Value as Json, json};

use super::trace::parse_trace_format;
use crate::connection::choose_token;
use crate::connection::remote::NoAnswer;
use crate::database::{DatabaseArgs, project_of};
use crate::outcome::CommandOutcome;
use crate::render;
use crate::runtime::wait_for;
use crate::suite_loading::load_current_settings;

/// Documents that go in at once, and their bytes.
const BATCH: usize = 200;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The beginning of a file from which its format is recognised: one trace, or many.
const SAMPLE: u64 = 4 * 1024 * 1024;

/// The largest number of errors that are printed; the others are counted.
const MAX_MESSAGES: usize = 20;

/// Import recorded traces from files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist ingest traces/*.jsonl                   Into this folder's database
  jurist ingest session.jsonl --agent support    Set the agent's name
  jurist ingest spans.jsonl --server http://127.0.0.1:8000
  JURIST_TOKEN=jrk_… jurist ingest old.jsonl --server https://jurist.example.org

A file holds one trace, or one per line; OpenTelemetry exports hold the spans of
many traces. A trace that is imported twice is stored once, so an interrupted
import can be repeated.")]
pub struct IngestArgs {
    /// Trace files, in any format
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    place: DatabaseArgs,
    /// Send the traces to this server instead of opening its database
    #[arg(long, value_name = "URL", conflicts_with = "store")]
    server: Option<String>,
    /// API token with the scope `ingest`; prefer the variable JURIST_TOKEN, which is not visible in process
    /// lists
    #[arg(long, value_name = "TOKEN", requires = "server")]
    token: Option<String>,
    /// Project name or id [default: the token's project, or `default`]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Trace format [default: detected]
    #[arg(long, value_name = "NAME", value_parser = parse_trace_format)]
    format: Option<TraceFormat>,
    /// Agent name for traces that have none
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Session name for traces that have none
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
}

pub fn run_ingest_command(args: &IngestArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(async {
        let target = args.target().await?;
        let (mut tally, mut progress) = (IngestTally::default(), render::ProgressLine::new());
        for path in &args.files {
            let name = path.display().to_string();
            for batch in
                TraceBatches::open(path, args.format).with_context(|| format!("cannot read `{name}`"))?
            {
                let answers = target.take(batch.with_context(|| format!("cannot read `{name}`"))?).await?;
                for answer in answers {
                    progress.clear();
                    tally.count(&name, &answer)?;
                }
                progress.show(|| tally.to_string());
            }
        }
        progress.clear();
        target.finish().await?;
        writeln!(render::stdout(), "{}: {tally}", plural(args.files.len(), "file"))?;
        Ok(if tally.n_conflicts + tally.n_errors == 0 {
            CommandOutcome::Passed
        } else {
            CommandOutcome::BadInput
        })
    })
}

/// Where traces go.
enum IngestDestination {
    Store { app: App, project: jurist_store::ProjectId, redactor: Redactor, defaults: IngestDefaults },
    Server(IngestClient),
}

impl IngestArgs {
    async fn target(&self) -> anyhow::Result<IngestDestination> {
        if let Some(url) = &self.server {
            return Ok(IngestDestination::Server(IngestClient::new(self, url)?));
        }
        let app = App::new(
            self.place.open().await?,
            ServerSettings { settle: Duration::ZERO, ..ServerSettings::default() },
        );
        let app = app.await?;
        let project = project_of(&app.store, self.project.as_deref()).await?;
        let redactor = Redactor::new(load::secrets(), &load_current_settings()?.redact)?;
        let defaults =
            IngestDefaults { format: self.format, agent: self.agent.clone(), session: self.session.clone() };
        Ok(IngestDestination::Store { app, project, redactor, defaults })
    }
}

impl IngestDestination {
    async fn take(&self, batch: Vec<(usize, Vec<u8>)>) -> anyhow::Result<Vec<LineAnswer>> {
        match self {
            Self::Store { app, project, redactor, defaults } => {
                let intake =
                    Intake { store: &app.store, project: *project, redactor, defaults: defaults.clone() };
                Ok(intake.take(batch).await?)
            }
            Self::Server(server) => server.send(&batch).await,
        }
    }

    /// Traces that came in spans and have ended are put together here, since no server may be running.
    async fn finish(&self) -> anyhow::Result<()> {
        if let Self::Store { app, .. } = self {
            assemble_ended(app).await?;
            app.store.close().await;
        }
        Ok(())
    }
}

/// A server that is spoken to.
struct IngestClient {
    client: reqwest::Client,
    url: String,
    token: Option<String>,
    project: Option<String>,
    query: Vec<(&'static str, String)>,
}

impl IngestClient {
    fn new(args: &IngestArgs, url: &str) -> anyhow::Result<Self> {
        let format = args.format.map(|format| format.name().to_owned());
        let query = [("format", format), ("agent", args.agent.clone()), ("session", args.session.clone())];
        Ok(Self {
            client: client(&NetworkOptions::default())?,
            url: format!("{}/api/v1/traces/bulk", url.trim_end_matches('/')),
            token: choose_token(args.token.as_ref()),
            project: args.project.clone(),
            query: query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        })
    }

    async fn send(&self, batch: &[(usize, Vec<u8>)]) -> anyhow::Result<Vec<LineAnswer>> {
        let body = batch.iter().flat_map(|batch| [batch.1.as_slice(), b"\n"]).collect::<Vec<_>>().concat();
        let mut url = reqwest::Url::parse(&self.url).context("the address of the server")?;
        url.query_pairs_mut().extend_pairs(&self.query);
        for _ in 0..20 {
            let mut request = self.client.post(url.clone()).header("content-type", "application/x-ndjson");
            if let Some(token) = &self.token {
                request = request.bearer_auth(token);
            }
            if let Some(project) = &self.project {
                request = request.header("jurist-project", project);
            }
            let response =
                request.body(body.clone()).send().await.with_context(|| NoAnswer("the server".to_owned()))?;
            let status = response.status();
            if matches!(status.as_u16(), 429 | 503) {
                let after = response
                    .headers()
                    .get("retry-after")
                    .and_then(|header| header.to_str().ok()?.parse().ok());
                tokio::time::sleep(Duration::from_secs(after.unwrap_or(1).clamp(1, 60))).await;
                continue;
            }
            let text = response.text().await.with_context(|| NoAnswer("the server".to_owned()))?;
            anyhow::ensure!(status.is_success(), "the server says {status}: {}", text.trim());
            let answers = text.lines().map(serde_json::from_str).collect::<Result<Vec<LineAnswer>, _>>();
            // The server counts the lines of this request; users need the line of the file.
            let place = |line_answer: LineAnswer| {
                Some(LineAnswer { line: batch.get(line_answer.line.checked_sub(1)?)?.0, ..line_answer })
            };
            return Ok(answers.context("the server's answer")?.into_iter().filter_map(place).collect());
        }
        anyhow::bail!("the server is overloaded; try again later")
    }
}

/// The documents of a trace file in batches, each with its line number.
struct TraceBatches {
    reader: BufReader<File>,
    holds: TraceFileLayout,
    line: usize,
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceFileLayout {
    One,
    /// One on each line.
    Many,
}

impl TraceBatches {
    fn open(path: &Path, format: Option<TraceFormat>) -> std::io::Result<Self> {
        let mut sample = Vec::new();
        load::open_file(path)?.take(SAMPLE).read_to_end(&mut sample)?;
        if sample.len() as u64 == SAMPLE {
            // The last line may be cut.
            let end = sample.iter().rposition(|sample| *sample == b'\n').map_or(sample.len(), |n| n + 1);
            sample.truncate(end);
        }
        let holds = detect_file_layout(&String::from_utf8_lossy(&sample), format);
        Ok(Self { reader: BufReader::new(load::open_file(path)?), holds, line: 0, is_over: false })
    }

    fn next_batch(&mut self) -> std::io::Result<Vec<(usize, Vec<u8>)>> {
        if self.holds == TraceFileLayout::One {
            let mut text = String::new();
            self.reader.read_to_string(&mut text)?;
            self.is_over = true;
            let value = serde_json::from_str(&text).unwrap_or_else(|_| json!({ "trace": text }));
            return Ok(vec![(1, value.to_string().into_bytes())]);
        }
        let (mut batch, mut n_bytes) = (Vec::new(), 0);
        while batch.len() < BATCH && n_bytes < BATCH_BYTES {
            let mut line = Vec::new();
            if self.reader.read_until(b'\n', &mut line)? == 0 {
                self.is_over = true;
                break;
            }
            self.line += 1;
            let text = line.trim_ascii();
            if !text.is_empty() {
                n_bytes += text.len();
                batch.push((self.line, text.to_vec()));
            }
        }
        Ok(batch)
    }
}

impl Iterator for TraceBatches {
    type Item = std::io::Result<Vec<(usize, Vec<u8>)>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.is_over).then(|| self.next_batch())
    }
}

fn detect_file_layout(sample: &str, format: Option<TraceFormat>) -> TraceFileLayout {
    // A broken line does not affect the others.
    let lines: Vec<(&str, Json)> =
        sample.lines().filter_map(|line| Some((line, serde_json::from_str(line).ok()?))).collect();
    let is_by_line =
        |value: &Json| ["resourceSpans", "trace", "pieces"].iter().any(|key| value.get(*key).is_some());
    if lines.first().is_some_and(|(_, value)| is_by_line(value)) {
        return TraceFileLayout::Many;
    }
    let whole: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let n = read_traces(&whole.join("\n"), format).map_or(1, |it| it.len());
    if 1 < n { TraceFileLayout::Many } else { TraceFileLayout::One }
}

/// What became of everything so far.
#[derive(Debug, Default)]
struct IngestTally {
    n_accepted: usize,
    n_repeated: usize,
    n_conflicts: usize,
    n_errors: usize,
}

impl IngestTally {
    fn count(&mut self, file: &str, answer: &LineAnswer) -> std::io::Result<()> {
        let why = match answer.status {
            LineStatus::Accepted => {
                self.n_accepted += 1;
                return Ok(());
            }
            LineStatus::Repeated => {
                self.n_repeated += 1;
                return Ok(());
            }
            LineStatus::Conflict => {
                self.n_conflicts += 1;
                let id = answer.id.as_deref().unwrap_or("it");
                answer.detail.clone().unwrap_or_else(|| {
                    format!("`{id}` is already stored with other content; the stored trace is kept")
                })
            }
            LineStatus::Error => {
                self.n_errors += 1;
                answer.detail.clone().unwrap_or_default()
            }
        };
        if self.n_conflicts + self.n_errors <= MAX_MESSAGES {
            writeln!(anstream::stderr(), "{file}:{}: {}", answer.line, render::printable(&why))?;
        }
        Ok(())
    }
}

impl std::fmt::Display for IngestTally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} accepted, {} there already", self.n_accepted, self.n_repeated)?;
        if 0 < self.n_conflicts {
            write!(f, ", {} otherwise there", self.n_conflicts)?;
        }
        if 0 < self.n_errors {
            write!(f, ", {} not understood", self.n_errors)?;
        }
        Ok(())
    }
}
