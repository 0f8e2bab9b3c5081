//! Produces candidates: runs what answers a prompt, and writes down what it did.

mod http;
mod mcp;
mod process;
mod talk;
mod target;
mod workspace;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jurist_core::candidate::{Candidate, Measurements, Trace, Usage};
use jurist_core::grade::{Deferral, Failure, Outcome, Spend};
use jurist_core::suite::{Agent, Case, Judge, Server};
use tokio::sync::Semaphore;

use crate::call::Caller;
use crate::load::Project;
use crate::model::Line;
use crate::model::resolve::Resolver;
use mcp::Mcp;
use target::Runner;
use workspace::Folder;

/// Seconds for one run, unless a case says otherwise.
const TIMEOUT: f64 = 600.0;

/// What runs the cases of a suite.
pub struct Agents {
    resolver: Arc<Resolver>,
    servers: BTreeMap<String, Server>,
    /// Programs start in its folder.
    pub project: Project,
    /// Where models are that no target names.
    base_url: Option<String>,
    /// Whether a file may start programs, and send variables of the environment to where it says.
    allow_commands: bool,
    lines: Mutex<HashMap<String, Arc<Line>>>,
    /// Programs are heavier than calls, so fewer run at a time.
    programs: Semaphore,
}

/// What a run left behind.
#[derive(Debug, Default)]
pub struct Produced {
    pub response: Option<String>,
    pub trace: Option<Trace>,
    pub diff: Option<String>,
    /// What was paid for it now; replies from the cache cost nothing.
    pub spend: Spend,
    /// What it took when it was carried out, also where replies come from the cache or a cassette.
    pub measurements: Measurements,
}

/// Why there is nothing to grade. None of it is the candidate's fault.
#[derive(Debug)]
pub enum NotProduced {
    /// Nobody could be asked.
    Deferred(Deferral, String),
    /// Something broke on the way.
    Failed(Failure, String),
}

impl NotProduced {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Deferred(why, _) => Outcome::Deferred { why: *why },
            Self::Failed(failure, detail) => Outcome::Failed { failure: *failure, detail: detail.clone() },
        }
    }

    pub fn reason(&self) -> &str {
        match self {
            Self::Deferred(_, reason) => reason,
            Self::Failed(..) => "",
        }
    }

    fn unreachable(reason: impl Into<String>) -> Self {
        Self::Deferred(Deferral::Unreachable, reason.into())
    }

    fn unavailable(detail: impl Into<String>) -> Self {
        Self::Failed(Failure::Unavailable, detail.into())
    }
}

/// Which run this is, for programs that want to know.
#[derive(Debug, Clone, Copy)]
pub struct Which<'a> {
    pub name: &'a str,
    /// From 1.
    pub trial: u32,
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agents").field("project", &self.project).finish_non_exhaustive()
    }
}

impl Agents {
    pub fn new(
        resolver: Arc<Resolver>,
        servers: BTreeMap<String, Server>,
        project: Project,
        base_url: Option<String>,
        allow_commands: bool,
    ) -> Self {
        let n_programs = std::thread::available_parallelism().map_or(4, |it| it.get() * 2);
        Self {
            resolver,
            servers,
            project,
            base_url,
            allow_commands,
            lines: Mutex::default(),
            programs: Semaphore::new(n_programs),
        }
    }

    /// Runs a case that gives no answer of its own.
    pub async fn produce(
        &self,
        caller: &Caller,
        case: &Case,
        which: Which<'_>,
    ) -> Result<Produced, NotProduced> {
        let runner = match case.targets.first() {
            Some(target) => Runner::of(target).map_err(NotProduced::unreachable)?,
            None if case.agent.model.is_some() || case.server.is_some() => Runner::Model(Judge::default()),
            None => {
                return Err(NotProduced::unreachable(
                    "no response, trace or diff is given; name `targets` or a `server`, or give --agent MODEL",
                ));
            }
        };
        let folder = match &case.workspace {
            Some(workspace) => {
                let from = self.project.find(&workspace.path).map_err(|error| {
                    NotProduced::unreachable(format!("the workspace `{}`: {error}", workspace.path))
                })?;
                Some(Folder::prepare(&from, workspace.git.as_deref()).await?)
            }
            None => None,
        };
        let timeout = Duration::from_secs_f64(case.agent.timeout.unwrap_or(TIMEOUT));
        let work = self.run(&runner, caller, case, which, folder.as_ref());
        let mut produced = tokio::time::timeout(timeout, work).await.map_err(|_| {
            NotProduced::Failed(
                Failure::Timeout,
                format!("the run took longer than {} s", timeout.as_secs_f64()),
            )
        })??;
        if let Some(folder) = &folder {
            produced.diff = Some(folder.diff().await?);
        }
        Ok(produced)
    }

    async fn run(
        &self,
        runner: &Runner,
        caller: &Caller,
        case: &Case,
        which: Which<'_>,
        workspace: Option<&Folder>,
    ) -> Result<Produced, NotProduced> {
        let here = workspace.map_or(self.project.folder.as_path(), Folder::path);
        match runner {
            Runner::Echo => {
                timed(async {
                    Ok(Produced { response: Some(prompt(&case.candidate)), ..Produced::default() })
                })
                .await
            }
            Runner::Command(command) => {
                self.consent(&command.shown())?;
                let _turn = self.programs.acquire().await;
                let prompt = prompt(&case.candidate);
                timed(command.run(&prompt, which, here, &self.project.folder)).await
            }
            Runner::Http(request) => {
                if request.names_variables() {
                    self.consent("a header with a variable of the environment")?;
                }
                if is_of_the_machine(&request.url) {
                    self.consent(&format!(
                        "the address `{}`, where machines keep their own keys",
                        request.url
                    ))?;
                }
                timed(request.send(self.resolver.client(), &prompt(&case.candidate))).await
            }
            Runner::Model(told) => {
                let line = self.line(told, &case.agent)?;
                let Some(name) = &case.server else {
                    return talk::talk(caller, &line, told, case, which, None).await;
                };
                let server = self.servers.get(name).ok_or_else(|| {
                    NotProduced::unreachable(format!("there is no server `{name}` in the file"))
                })?;
                let turn = match server {
                    Server::Stdio { command, .. } => {
                        self.consent(&format!("the server `{command}`"))?;
                        Some(self.programs.acquire().await)
                    }
                    Server::Http { headers, url } => {
                        if is_of_the_machine(url) {
                            self.consent(&format!(
                                "the address `{url}`, where machines keep their own keys"
                            ))?;
                        }
                        if headers.values().any(|it| it.contains("{{")) {
                            self.consent("a header with a variable of the environment")?;
                        }
                        None
                    }
                };
                let mcp = Mcp::connect(name, server, self.resolver.client(), here).await?;
                let produced = talk::talk(caller, &line, told, case, which, Some(&mcp)).await;
                mcp.close().await;
                drop(turn);
                produced
            }
        }
    }

    fn consent(&self, what: &str) -> Result<(), NotProduced> {
        if self.allow_commands {
            return Ok(());
        }
        Err(NotProduced::unreachable(format!(
            "the file names {what}; --allow-commands lets it, if you trust the file"
        )))
    }

    fn line(&self, told: &Judge, agent: &Agent) -> Result<Arc<Line>, NotProduced> {
        let judge = match &told.model {
            Some(_) => told.clone(),
            None => Judge { model: agent.model.clone(), base_url: self.base_url.clone(), ..told.clone() },
        };
        if let Some(program) = judge.model.as_deref().and_then(|it| it.strip_prefix("command:")) {
            self.consent(&format!("the program `{program}` as a model"))?;
        }
        let key = format!("{:?} {:?}", judge.model, judge.base_url);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.get(&key) {
            return Ok(Arc::clone(line));
        }
        let line = self.resolver.line(&judge).map_err(|error| NotProduced::unreachable(error.to_string()))?;
        let line = Arc::new(line);
        lines.insert(key, Arc::clone(&line));
        Ok(line)
    }
}

/// Measures a run. What the run says of itself comes first: it knows how much of the time was its own.
async fn timed(run: impl Future<Output = Result<Produced, NotProduced>>) -> Result<Produced, NotProduced> {
    let started = Instant::now();
    let mut produced = run.await?;
    let Spend { tokens_in, tokens_out, tokens_cached, cost, .. } = produced.spend;
    let usage = Usage { input: tokens_in, output: tokens_out, cached: tokens_cached };
    produced.measurements = produced.measurements.or(Measurements {
        duration_ms: Some(started.elapsed().as_secs_f64() * 1e3),
        usage: Some(usage).filter(|usage| !usage.is_nothing()),
        cost,
    });
    Ok(produced)
}

/// Whether an address is link-local: where clouds give keys to whoever asks from within a machine.
fn is_of_the_machine(url: &str) -> bool {
    let Some(host) = reqwest::Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned)) else {
        return false;
    };
    match host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(it)) => it.is_link_local(),
        Ok(std::net::IpAddr::V6(it)) => {
            it.is_unicast_link_local() || it.to_ipv4_mapped().is_some_and(|it| it.is_link_local())
        }
        Err(_) => host.trim_end_matches('.').eq_ignore_ascii_case("metadata.google.internal"),
    }
}

/// The task as one text.
fn prompt(candidate: &Candidate) -> String {
    let spoken = |it: &serde_json::Value| match &it["content"] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match &candidate.input {
        Some(input) => input.clone(),
        None => candidate.messages.iter().map(spoken).collect::<Vec<_>>().join("\n\n"),
    }
}

/// Fills `{{ env.X }}`, and tells which variable is missing.
fn with_environment(text: &str) -> Result<String, NotProduced> {
    let mut missing = None;
    let filled = jurist_core::template::replace(text, |name| {
        let name = name.strip_prefix("env.")?;
        let value = crate::load::variable(name);
        if value.is_none() {
            missing.get_or_insert_with(|| name.to_owned());
        }
        value
    });
    match missing {
        Some(name) => Err(NotProduced::Deferred(Deferral::NoKey, format!("the variable {name} is not set"))),
        None => Ok(filled),
    }
}

/// The beginning of a text that may be endless.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    format!("{}\n[cut here: {} bytes in all]", &text[..end], text.len())
}
