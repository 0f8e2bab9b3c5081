//! Produces candidates: runs an agent on a prompt, and records what it did.

mod answer;
mod http;
mod mcp;
mod process;
mod conversation;
mod setup;
mod target;
mod transform;
mod workspace;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jurist_core::candidate::{
    Candidate, GuardrailReport, Measurements, StepRole, ToolCall, Trace, TraceStep, Usage,
};
use jurist_core::check::read_call_list;
use jurist_core::diagnostic::closest;
use jurist_core::dialect::ReadError;
use jurist_core::grade::{Deferral, Failure, Outcome, Spend};
use jurist_core::suite::{AgentSettings, Case, CaseTarget, EnvironmentVariable, Judge, McpServer, Workspace};
use tokio::sync::Semaphore;

use crate::call::ModelClient;
use crate::load::SuiteFiles;
use crate::model::ModelEndpoint;
use crate::model::resolve::{Resolver, Unresolved};
use crate::permission::{NotPermitted, require_permission};
use answer::AnswerWarning;
use http::{HttpTarget, RequestValues};
use mcp::Mcp;
use setup::SetupFolders;
use target::Runner;
use transform::transforms_of;
use workspace::Folder;

/// Seconds for one run, unless the case has another number.
const TIMEOUT: f64 = 600.0;

/// What runs the cases of a suite.
pub struct Agents {
    resolver: Arc<Resolver>,
    servers: BTreeMap<String, McpServer>,
    /// Programs start in its folder.
    pub project: SuiteFiles,
    /// Where models are that no target names.
    base_url: Option<String>,
    /// Whether a file may start programs, and send variables of the environment to addresses that it names.
    allow_commands: bool,
    endpoints: Mutex<HashMap<EndpointKey, Arc<ModelEndpoint>>>,
    /// Programs are heavier than calls, so fewer run at a time.
    programs: Semaphore,
    /// Ignored parts of answers, each with the first target that had it.
    warnings: Mutex<BTreeMap<AnswerWarning, String>>,
}

/// What a run left behind.
#[derive(Debug, Default)]
pub struct AgentOutput {
    pub response: Option<String>,
    /// The response as the value that a program or code returned, if it is no text.
    pub value: Option<serde_json::Value>,
    pub trace: Option<Trace>,
    pub diff: Option<String>,
    /// What was paid for it now; replies from the cache cost nothing.
    pub spend: Spend,
    /// What it took when it was carried out, also where replies come from the cache or a cassette.
    pub measurements: Measurements,
    /// The report of the provider's guardrails, if it has some.
    pub guardrails: Option<GuardrailReport>,
    /// Documents that it found itself.
    pub context: Vec<String>,
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// Ignored parts of its answer.
    pub warnings: Vec<AnswerWarning>,
}

impl AgentOutput {
    /// Answers with this value: a text, or JSON, whose text is written without spaces as JavaScript writes it.
    fn set_value(&mut self, value: serde_json::Value) {
        match value {
            serde_json::Value::String(text) => (self.response, self.value) = (Some(text), None),
            other => (self.response, self.value) = (Some(other.to_string()), Some(other)),
        }
    }
}

/// A run that left nothing to grade.
#[derive(Debug)]
pub struct FailedAgentRun {
    pub error: AgentRunError,
    /// What was paid for it before it failed.
    pub spend: Spend,
}

/// What a run has cost so far. It is shared with the run, so that it is known if the run is stopped.
#[derive(Debug, Default)]
struct RunSpend {
    paid: Mutex<Option<Spend>>,
}

impl RunSpend {
    /// Adds the cost of a call; `None` if it was free.
    fn add(&self, paid: Option<Spend>) {
        let mut sum = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = match (*sum, paid) {
            (Some(sum), Some(paid)) => {
                Some(Spend { from_cache: sum.from_cache && paid.from_cache, ..sum.plus(paid) })
            }
            (sum, paid) => sum.or(paid),
        };
    }

    /// The cost of all calls. It is from the cache only if every reply is.
    fn sum(&self) -> Spend {
        self.paid.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_default()
    }
}

/// Why there is nothing to grade. None of it is the candidate's fault.
#[derive(Debug)]
pub enum AgentRunError {
    /// The agent could not be run or reached, so the case is deferred.
    Deferred(Deferral, String),
    /// The run failed.
    Failed(Failure, String),
}

impl AgentRunError {
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Deferred(why, _) => Outcome::Deferred { why: *why },
            Self::Failed(failure, detail) => {
                Outcome::Failed { failure: *failure, detail: format!("the target failed: {detail}") }
            }
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

/// Why a case cannot be run as it is written: the user has to change the file or the command.
#[derive(Debug, thiserror::Error)]
pub enum RunSetupError {
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    #[error(transparent)]
    NoModel(#[from] Unresolved),
    #[error("{0}")]
    Target(String),
    #[error("there is no server `{name}` in the file; {hint}")]
    UnknownServer { name: String, hint: String },
    #[error("the workspace `{path}`: {error}")]
    Workspace { path: String, error: ReadError },
}

/// A run of which everything is known before anything is started.
struct PreparedRun<'a> {
    means: PreparedTarget<'a>,
    /// The folder that is copied, if the workspace is not empty at first.
    workspace: Option<PathBuf>,
}

/// What answers.
enum PreparedTarget<'a> {
    Echo,
    Fixed(serde_json::Value),
    Command(process::AgentCommand),
    Http(HttpTarget),
    Tool { call: ToolCall, server: NamedServer<'a> },
    Model { judge: Judge, endpoint: Arc<ModelEndpoint>, server: Option<NamedServer<'a>> },
}

struct NamedServer<'a> {
    name: &'a str,
    server: &'a McpServer,
}

/// What a header of a file asks for.
const SENT_VARIABLE: &str = "a header with a variable of the environment";

/// The identity of a run, for programs that get it as arguments or input.
#[derive(Debug, Clone, Copy)]
pub struct TrialIdentity<'a> {
    pub name: &'a str,
    /// From 1.
    pub trial: u32,
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agents").field("project", &self.project).finish_non_exhaustive()
    }
}

/// Decides which endpoint answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct EndpointKey {
    model: Option<String>,
    base_url: Option<String>,
}

impl Agents {
    pub fn new(
        resolver: Arc<Resolver>,
        servers: BTreeMap<String, McpServer>,
        project: SuiteFiles,
        base_url: Option<String>,
        allow_commands: bool,
    ) -> Self {
        let n_programs = std::thread::available_parallelism().map_or(4, |n_cores| n_cores.get() * 2);
        Self {
            resolver,
            servers,
            project,
            base_url,
            allow_commands,
            endpoints: Mutex::default(),
            programs: Semaphore::new(n_programs),
            warnings: Mutex::default(),
        }
    }

    /// Checks a case without starting a program or calling a model.
    pub fn check(&self, case: &Case) -> Result<(), RunSetupError> {
        self.prepare(case).map(drop)
    }

    /// Runs the agent of a case that has no recorded response.
    pub async fn produce(
        &self,
        caller: &ModelClient,
        case: &Case,
        which: TrialIdentity<'_>,
    ) -> Result<AgentOutput, FailedAgentRun> {
        let spend = RunSpend::default();
        let produced = self.produce_and_count(caller, case, which, &spend).await;
        produced.map_err(|error| FailedAgentRun { error, spend: spend.sum() })
    }

    /// As [`Self::produce`]; counts the cost of the run while it goes on.
    async fn produce_and_count(
        &self,
        caller: &ModelClient,
        case: &Case,
        which: TrialIdentity<'_>,
        spend: &RunSpend,
    ) -> Result<AgentOutput, AgentRunError> {
        let prepared = self.prepare(case);
        let prepared =
            prepared.map_err(|error| AgentRunError::Failed(Failure::Crashed, error.to_string()))?;
        let Some(prepared) = prepared else {
            return Err(AgentRunError::unreachable(
                "the case has no response, trace or diff; set `targets` or a `server`, or use --agent MODEL",
            ));
        };
        // What it costs is known only after it has run, so nothing can be reserved for it.
        let reports_cost = matches!(prepared.means, PreparedTarget::Command(_) | PreparedTarget::Http(_));
        if let Some(error) = caller.budget.used_up_error().filter(|_| reports_cost) {
            return Err(AgentRunError::Deferred(Deferral::OverBudget, error.detail));
        }
        let folder = match &case.workspace {
            Some(workspace) => {
                let from = prepared.workspace.as_deref();
                Some(self.prepare_workspace(workspace, from, case, which).await?)
            }
            None => None,
        };
        let timeout = Duration::from_secs_f64(case.agent.timeout.unwrap_or(TIMEOUT));
        let work = self.run(&prepared, caller, case, which, folder.as_ref(), spend);
        let mut produced = tokio::time::timeout(timeout, work).await.map_err(|_| {
            AgentRunError::Failed(
                Failure::Timeout,
                format!("the run took longer than {} s", timeout.as_secs_f64()),
            )
        })??;
        if reports_cost {
            spend.add(Some(produced.spend));
            if let Some(cost) = produced.spend.cost {
                caller.charge_reported_cost(cost).await;
            }
        }
        let transforms = transforms_of(case);
        if !transforms.is_empty()
            && let Some(response) = produced.response.take()
        {
            let output = produced.value.take().or_else(|| read_call_list(&response));
            let output = output.unwrap_or(serde_json::Value::String(response));
            let changed = self.transform_response(&transforms, &case.candidate, output).await?;
            produced.set_value(changed);
        }
        if let Some(code) = &case.agent.context_transform {
            produced.context = self.extract_context(code, &case.candidate, &produced).await?;
        }
        if let Some(folder) = &folder {
            let own = produced.diff.take().unwrap_or_default();
            produced.diff = Some(folder.diff().await? + &own);
        }
        if !produced.warnings.is_empty() {
            let name = case.targets.first().map_or("the agent", |target| target.name());
            let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
            for warning in &produced.warnings {
                warnings.entry(warning.clone()).or_insert_with(|| name.to_owned());
            }
        }
        Ok(produced)
    }

    /// The copy that the agent works in. Setup programs run before its files are recorded, so that the diff is the
    /// agent's alone.
    async fn prepare_workspace(
        &self,
        workspace: &Workspace,
        from: Option<&Path>,
        case: &Case,
        which: TrialIdentity<'_>,
    ) -> Result<Folder, AgentRunError> {
        let folder = Folder::copy_files(from, workspace.git.as_deref()).await?;
        if !workspace.setup.is_empty() {
            let _turn = self.programs.acquire().await;
            let folders = SetupFolders { workspace: folder.path(), suite: &self.project.folder };
            let input = folders.describe_run(case, which);
            for program in &workspace.setup {
                folders.run(program, &input).await?;
            }
        }
        folder.take_snapshot().await?;
        Ok(folder)
    }

    /// Setup programs of a case that may not be started.
    pub fn find_refused_setup(&self, case: &Case) -> Vec<NotPermitted> {
        let has_runner = !case.targets.is_empty() || case.agent.model.is_some() || case.server.is_some();
        let setup = case.workspace.iter().filter(|_| has_runner).flat_map(|workspace| &workspace.setup);
        setup
            .filter_map(|program| require_permission(self.allow_commands, program.describe()).err())
            .collect()
    }

    /// Warnings about all answers together.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.iter().map(|(warning, target)| warning.describe(target)).collect()
    }

    /// Finds everything that a run needs; `None` where the case names nothing that could be run.
    fn prepare<'a>(&'a self, case: &'a Case) -> Result<Option<PreparedRun<'a>>, RunSetupError> {
        let runner = match case.targets.first() {
            Some(target) => Runner::of(target).map_err(RunSetupError::Target)?,
            None if case.agent.model.is_some() || case.server.is_some() => Runner::Model(Judge::default()),
            None => return Ok(None),
        };
        let allow = |what: String| require_permission(self.allow_commands, what);
        if !transforms_of(case).is_empty() {
            allow("the JavaScript or Python code of `transform`".to_owned())?;
        }
        if case.agent.context_transform.is_some() {
            allow("the JavaScript or Python code of `contextTransform`".to_owned())?;
        }
        let mut scripts = transforms_of(case).into_iter().chain(case.agent.context_transform.as_deref());
        if let Some(missing) = scripts.find_map(|code| self.find_missing_script(code)) {
            return Err(RunSetupError::Target(format!("the transform {missing}")));
        }
        let has_turns = case.candidate.messages.iter().any(conversation::is_open_answer);
        if has_turns && !matches!(runner, Runner::Model(_)) {
            let name = case.targets.first().map_or("the agent", |target| target.name());
            let why = format!("`{name}` cannot hold a conversation of several turns; a model can");
            return Err(RunSetupError::Target(why));
        }
        let mut prepared = PreparedRun { means: PreparedTarget::Echo, workspace: None };
        prepared.means = match runner {
            Runner::Echo => PreparedTarget::Echo,
            Runner::Fixed(response) => PreparedTarget::Fixed(response),
            Runner::Command(command) => {
                allow(command.describe())?;
                // The copy of a workspace exists only when the case is run.
                if case.workspace.is_none()
                    && let Some(missing) = command.find_missing(&self.project.folder)
                {
                    return Err(RunSetupError::Target(missing));
                }
                PreparedTarget::Command(command)
            }
            Runner::Http(request) => {
                self.check_request(&request, case)?;
                PreparedTarget::Http(request)
            }
            Runner::Tool(call) => {
                let name = case.server.as_deref().ok_or_else(|| {
                    RunSetupError::Target(format!("the call of `{}` needs a `server`", call.name))
                })?;
                PreparedTarget::Tool { call, server: self.find_server(name)? }
            }
            Runner::Model(judge) => {
                let endpoint = self.find_endpoint(&judge, &case.agent)?;
                let server = case.server.as_deref().map(|name| self.find_server(name)).transpose()?;
                PreparedTarget::Model { judge, endpoint, server }
            }
        };
        if let Some(workspace) = &case.workspace {
            for program in &workspace.setup {
                allow(program.describe())?;
            }
            // A suite that was sent has no folder in which its programs and files could be found.
            let path = workspace.path.as_deref().unwrap_or(".");
            let unreadable = |error| RunSetupError::Workspace { path: path.to_owned(), error };
            let path = self.project.find(path).map_err(unreadable)?;
            prepared.workspace = workspace.path.is_some().then_some(path);
        }
        Ok(Some(prepared))
    }

    /// The server of the file by that name, if its program may be started, or if the variables in its headers may be
    /// sent.
    fn find_server<'a>(&'a self, name: &'a str) -> Result<NamedServer<'a>, RunSetupError> {
        let server = self.servers.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.servers.keys().map(String::as_str).collect();
            let hint = match closest(name, &known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if known.is_empty() => "it has no `servers:`".to_owned(),
                None => format!("it has {}", known.join(", ")),
            };
            RunSetupError::UnknownServer { name: name.to_owned(), hint }
        })?;
        match server {
            McpServer::Stdio { command, .. } => {
                require_permission(self.allow_commands, format!("the server `{command}`"))?;
            }
            McpServer::Http { headers, url } => {
                self.check_address(url)?;
                if headers.values().any(|value| value.contains("{{")) {
                    require_permission(self.allow_commands, SENT_VARIABLE)?;
                }
            }
        }
        Ok(NamedServer { name, server })
    }

    /// Whether a request may be sent for a case, and whether everything in it is known.
    fn check_request(&self, request: &HttpTarget, case: &Case) -> Result<(), RunSetupError> {
        if request.names_variables() {
            require_permission(self.allow_commands, SENT_VARIABLE)?;
        }
        if let Some(code) = request.answer_code() {
            let what = "the JavaScript or Python code of `transformResponse`";
            require_permission(self.allow_commands, what)?;
            if let Some(missing) = self.find_missing_script(code) {
                return Err(RunSetupError::Target(format!("`transformResponse`: {missing}")));
            }
        }
        let prompt = prompt_text(&case.candidate);
        let values = RequestValues { prompt: &prompt, vars: &case.candidate.vars };
        if let Some(problem) = request.find_placeholder_problem(values) {
            return Err(RunSetupError::Target(problem));
        }
        self.check_address(&request.fill_url(&request.url, values))?;
        Ok(())
    }

    fn check_address(&self, url: &str) -> Result<(), NotPermitted> {
        let is_allowed = self.allow_commands || !is_of_the_machine(url);
        require_permission(
            is_allowed,
            format!("the link-local address `{url}`, where clouds serve machine credentials"),
        )
    }

    async fn run(
        &self,
        prepared: &PreparedRun<'_>,
        caller: &ModelClient,
        case: &Case,
        which: TrialIdentity<'_>,
        workspace: Option<&Folder>,
        spend: &RunSpend,
    ) -> Result<AgentOutput, AgentRunError> {
        let here = workspace.map_or(self.project.folder.as_path(), Folder::path);
        match &prepared.means {
            PreparedTarget::Echo => {
                measure_run(async {
                    Ok(AgentOutput { response: Some(program_prompt(case)), ..AgentOutput::default() })
                })
                .await
            }
            PreparedTarget::Fixed(response) => {
                let mut recorded = AgentOutput::default();
                recorded.set_value(response.clone());
                measure_run(async { Ok(recorded) }).await
            }
            PreparedTarget::Command(command) => {
                let _turn = self.programs.acquire().await;
                let prompt = program_prompt(case);
                let vars = &case.candidate.vars;
                measure_run(command.run((&prompt, vars), which, here, &self.project.folder)).await
            }
            PreparedTarget::Http(request) => {
                let prompt = program_prompt(case);
                let values = RequestValues { prompt: &prompt, vars: &case.candidate.vars };
                measure_run(self.ask_address(request, values)).await
            }
            PreparedTarget::Tool { call, server: NamedServer { name, server } } => {
                let _turn = match server {
                    McpServer::Stdio { .. } => Some(self.programs.acquire().await),
                    McpServer::Http { .. } => None,
                };
                let mcp = Mcp::connect(name, server, self.http_client()?, here).await?;
                let produced = call_tool(&mcp, call, &case.agent).await;
                mcp.close().await;
                produced
            }
            PreparedTarget::Model { judge, endpoint, server: None } => {
                conversation::hold_conversation(caller, endpoint, judge, case, which, None, spend).await
            }
            PreparedTarget::Model { judge, endpoint, server: Some(NamedServer { name, server }) } => {
                let turn = match server {
                    McpServer::Stdio { .. } => Some(self.programs.acquire().await),
                    McpServer::Http { .. } => None,
                };
                let mcp = Mcp::connect(name, server, self.http_client()?, here).await?;
                let conversation =
                    conversation::hold_conversation(caller, endpoint, judge, case, which, Some(&mcp), spend);
                let produced = conversation.await;
                mcp.close().await;
                drop(turn);
                produced
            }
        }
    }

    fn http_client(&self) -> Result<&reqwest::Client, AgentRunError> {
        self.resolver.client().map_err(|error| AgentRunError::unavailable(error.to_string()))
    }

    fn find_endpoint(
        &self,
        settings: &Judge,
        agent: &AgentSettings,
    ) -> Result<Arc<ModelEndpoint>, RunSetupError> {
        let judge = match &settings.model {
            Some(_) => settings.clone(),
            None => Judge { model: agent.model.clone(), base_url: self.base_url.clone(), ..settings.clone() },
        };
        if let Some(program) = judge.model.as_deref().and_then(|model| model.strip_prefix("command:")) {
            require_permission(self.allow_commands, format!("the program `{program}` as a model"))?;
        }
        let key = EndpointKey { model: judge.model.clone(), base_url: judge.base_url.clone() };
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(endpoint) = endpoints.get(&key) {
            return Ok(Arc::clone(endpoint));
        }
        let endpoint = Arc::new(self.resolver.resolve_endpoint(&judge)?);
        endpoints.insert(key, Arc::clone(&endpoint));
        Ok(endpoint)
    }
}

/// Calls one tool: its result is the answer, and the call is the trace.
async fn call_tool(mcp: &Mcp, call: &ToolCall, agent: &AgentSettings) -> Result<AgentOutput, AgentRunError> {
    let limit = Duration::from_secs_f64(agent.tool_timeout.unwrap_or(conversation::TOOL_TIMEOUT));
    let started = Instant::now();
    let result = mcp.call(call, limit).await?;
    let duration_ms = Some(started.elapsed().as_secs_f64() * 1e3);
    let call = ToolCall { duration_ms, ..call.clone() };
    let call_step = TraceStep { tool_calls: vec![call], ..TraceStep::default() };
    let answered = TraceStep { role: StepRole::Tool, results: vec![result.clone()], ..TraceStep::default() };
    let status = if result.error { "error" } else { "ok" };
    let trace = Trace {
        steps: vec![call_step, answered],
        duration_ms,
        status: Some(status.to_owned()),
        ..Trace::default()
    };
    let measurements = Measurements { duration_ms, ..Measurements::default() };
    Ok(AgentOutput {
        response: Some(result.text),
        trace: Some(trace),
        measurements,
        ..AgentOutput::default()
    })
}

/// Measures a run. A duration that the run reports comes first, because only the run knows how much of the time was its
/// own work.
async fn measure_run(
    run: impl Future<Output = Result<AgentOutput, AgentRunError>>,
) -> Result<AgentOutput, AgentRunError> {
    let started = Instant::now();
    let mut produced = run.await?;
    let Spend { tokens_in, tokens_out, tokens_cached, cost, .. } = produced.spend;
    let usage = Usage { input: tokens_in, output: tokens_out, cached: tokens_cached };
    produced.measurements = produced.measurements.or(Measurements {
        duration_ms: Some(started.elapsed().as_secs_f64() * 1e3),
        usage: Some(usage).filter(|usage| !usage.is_nothing()),
        cost,
        mean_log_probability: None,
    });
    Ok(produced)
}

/// Whether an address is link-local: cloud metadata services answer there and give credentials without a login.
fn is_of_the_machine(url: &str) -> bool {
    let Some(host) = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)) else {
        return false;
    };
    match host.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(it)) => it.is_link_local(),
        Ok(std::net::IpAddr::V6(it)) => {
            it.is_unicast_link_local()
                || it.to_ipv4_mapped().is_some_and(|ipv4_addr| ipv4_addr.is_link_local())
        }
        Err(_) => host.trim_end_matches('.').eq_ignore_ascii_case("metadata.google.internal"),
    }
}

/// The task as one text.
fn prompt_text(candidate: &Candidate) -> String {
    let spoken = |value: &serde_json::Value| match &value["content"] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match &candidate.input {
        Some(input) => input.clone(),
        None => candidate.messages.iter().map(spoken).collect::<Vec<_>>().join("\n\n"),
    }
}

/// The task as a program gets it: a conversation is the JSON text of its messages if the target asks for that.
fn program_prompt(case: &Case) -> String {
    let takes_json = case.targets.first().is_some_and(CaseTarget::takes_chat_as_json);
    match &case.candidate.input {
        // Two spaces of indentation, as promptfoo writes it.
        None if takes_json => serde_json::to_string_pretty(&case.candidate.messages).unwrap_or_default(),
        _ => prompt_text(&case.candidate),
    }
}

/// Fills in `{{ env.X }}`; the error names a variable that is missing.
fn with_environment(text: &str) -> Result<String, AgentRunError> {
    let mut trouble = None;
    let filled = jurist_core::template::replace(text, |name| {
        let value = match EnvironmentVariable::parse(name)? {
            Ok(EnvironmentVariable { name, default }) => {
                let value = crate::load::variable(name).or_else(|| default.map(str::to_owned));
                let missing = || format!("the variable {name} is not set");
                value.ok_or_else(|| AgentRunError::Deferred(Deferral::NoKey, missing()))
            }
            Err(error) => Err(AgentRunError::Failed(Failure::Crashed, error.to_string())),
        };
        value.map_err(|error| trouble.get_or_insert(error)).ok()
    });
    trouble.map_or(Ok(filled), Err)
}

/// The beginning of a text that may be endless.
fn truncate_text(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0);
    format!("{}\n[cut here: {} bytes in all]", &text[..end], text.len())
}
