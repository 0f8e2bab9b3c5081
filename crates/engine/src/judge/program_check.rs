//! External checks: runs a program or calls a service within limits, sends the case, and parses the answer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jurist_core::catalogue::GradingMethod;
use jurist_core::check::{
    BadAnswer, BadCheck, Check, CheckCode, CheckSubject, ExternalCheck, ExternalInput, ExternalKind,
    ExternalVerdict, ScriptCommand,
};
use jurist_core::grade::Failure;
use jurist_core::redact::redact;
use serde_json::Value as Json;
use tokio::process::Command;
use tokio::sync::{OnceCell, Semaphore};

use crate::load::{self, SuiteFiles};
use crate::model::resolve::Resolver;
use crate::permission::{NotPermitted, require_permission};
use crate::platform;
use crate::program::{ProgramError, ProgramLimits, run_program};

/// Answers in memory. Requests that share an answer are made at about the same time, so older answers
/// are not needed, and memory does not grow with the number of records.
const MAX_REMEMBERED: usize = 10_000;

/// Largest answer in bytes; an answer is a score and a short reason.
const MAX_ANSWER: usize = 1 << 20;

const PYTHON: &str = include_str!("check.py");
const JAVASCRIPT: &str = include_str!("check.mjs");

/// Runs the programs and asks the services that decide checks.
pub struct CheckPrograms {
    resolver: Arc<Resolver>,
    /// Programs start in its folder.
    project: SuiteFiles,
    allowed: bool,
    /// Limits concurrent programs, which need more resources than model calls.
    turns: Semaphore,
    /// Answers by the hash of the request: the members of a panel and the passes of a batch run share one answer.
    decided: Mutex<HashMap<blake3::Hash, Arc<OnceCell<ExternalVerdict>>>>,
}

/// Why a check has no score; never a fault of the candidate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct CheckFailure {
    pub failure: Failure,
    pub detail: String,
}

impl CheckFailure {
    fn new(failure: Failure, detail: impl AsRef<str>) -> Self {
        Self { failure, detail: redact(detail.as_ref()).into_owned() }
    }
}

impl From<NotPermitted> for CheckFailure {
    fn from(error: NotPermitted) -> Self {
        Self::new(Failure::Crashed, error.to_string())
    }
}

impl std::fmt::Debug for CheckPrograms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckPrograms").field("project", &self.project).finish_non_exhaustive()
    }
}

impl CheckPrograms {
    pub fn new(resolver: Arc<Resolver>, project: SuiteFiles, allowed: bool) -> Self {
        let n_programs = std::thread::available_parallelism().map_or(4, |n_cores| n_cores.get() * 2);
        let turns = Semaphore::new(n_programs);
        Self { resolver, project, allowed, turns, decided: Mutex::default() }
    }

    /// The program's answer about a case; equal requests are made once.
    pub async fn decide(
        &self,
        check: &ExternalCheck,
        input: &ExternalInput<'_>,
    ) -> Result<ExternalVerdict, CheckFailure> {
        permit_check(self.allowed, check)?;
        let request = check.request(input).to_string();
        let mut hasher = blake3::Hasher::new();
        for text in [input.case, &format!("{check:?}"), &request] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        let cell = {
            let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
            if MAX_REMEMBERED <= decided.len() {
                decided.clear();
            }
            Arc::clone(decided.entry(hasher.finalize()).or_default())
        };
        // Only successful answers are stored, so that a failed request can be made again.
        cell.get_or_try_init(|| self.ask(check, request)).await.cloned()
    }

    async fn ask(&self, check: &ExternalCheck, request: String) -> Result<ExternalVerdict, CheckFailure> {
        if let Some(inner) = &check.then {
            return judge_value(inner, &self.parse_value(check, request).await?);
        }
        let who = format!("the check `{}`", check.name);
        let answer = self.request_answer(check, request).await?;
        check.read(&String::from_utf8_lossy(&answer)).map_err(|error| {
            let failure = match error {
                BadAnswer::OffRange(_) => Failure::OffScale,
                BadAnswer::Nothing | BadAnswer::NotJson(_) | BadAnswer::Malformed(_) => Failure::Malformed,
            };
            CheckFailure::new(failure, format!("{who} {error}"))
        })
    }

    /// The value that code computes from the output of a case, as the input of another check.
    pub async fn compute_value(
        &self,
        check: &ExternalCheck,
        input: &ExternalInput<'_>,
    ) -> Result<Json, CheckFailure> {
        permit_check(self.allowed, check)?;
        self.parse_value(check, check.request(input).to_string()).await
    }

    async fn parse_value(&self, check: &ExternalCheck, request: String) -> Result<Json, CheckFailure> {
        let answer = self.request_answer(check, request).await?;
        serde_json::from_slice(&answer).map_err(|error| {
            let detail = format!("the code of the check `{}` answered no JSON: {error}", check.name);
            CheckFailure::new(Failure::Malformed, detail)
        })
    }

    async fn request_answer(&self, check: &ExternalCheck, request: String) -> Result<Vec<u8>, CheckFailure> {
        Ok(match &check.kind {
            ExternalKind::Webhook { url } => self.post(check, url, request).await?,
            ExternalKind::Script { command, cwd } => {
                let folder =
                    cwd.as_ref().map_or(self.project.folder.clone(), |text| self.project.folder.join(text));
                let process = script(command, &folder);
                self.run(check, process, &folder, request).await?
            }
            ExternalKind::Python(code) => {
                // The Python package names its own interpreter, which has the packages of the caller.
                let python = load::variable("JURIST_PYTHON").unwrap_or_else(|| "python3".to_owned());
                let mut process = Command::from(platform::build_program_command(python));
                process.args(["-c", PYTHON]);
                self.run_code(check, process, code, &request).await?
            }
            ExternalKind::JavaScript(code) => {
                let mut process = Command::from(platform::build_program_command("node"));
                process.args(["--input-type=module", "-e", JAVASCRIPT]);
                self.run_code(check, process, code, &request).await?
            }
        })
    }

    async fn run_code(
        &self,
        check: &ExternalCheck,
        process: Command,
        code: &CheckCode,
        request: &str,
    ) -> Result<Vec<u8>, CheckFailure> {
        let mut request: Json = serde_json::from_str(request).expect("it was written as JSON");
        // The file is deleted when the program has ended.
        let mut temporary = None;
        match code {
            CheckCode::Inline(code) => request["code"] = code.as_str().into(),
            CheckCode::File { path, function } => {
                let file = match self.project.find(path) {
                    Ok(file) => file,
                    Err(missing) => self.unpack_check_file(path, &mut temporary).map_err(|error| {
                        let why = error.unwrap_or(missing.to_string());
                        CheckFailure::new(Failure::Crashed, format!("the file `{path}` of a check: {why}"))
                    })?,
                };
                request["file"] = file.to_string_lossy().into();
                request["function"] = function.clone().into();
            }
        }
        let folder = self.project.folder.clone();
        self.run(check, process, &folder, request.to_string()).await
    }

    /// Writes a file of a bundle to disk, so that it can be executed.
    fn unpack_check_file(
        &self,
        path: &str,
        temporary: &mut Option<tempfile::TempDir>,
    ) -> Result<PathBuf, Option<String>> {
        let text = self.project.read(path).map_err(|_| None::<String>)?;
        let message = |error: std::io::Error| Some(error.to_string());
        let folder = tempfile::tempdir().map_err(message)?;
        let name = Path::new(path).file_name().ok_or(None::<String>)?;
        let file = folder.path().join(name);
        std::fs::write(&file, text.as_bytes()).map_err(message)?;
        *temporary = Some(folder);
        Ok(file)
    }

    async fn run(
        &self,
        check: &ExternalCheck,
        mut process: Command,
        folder: &Path,
        request: String,
    ) -> Result<Vec<u8>, CheckFailure> {
        process.current_dir(folder).env_clear().envs(load::harmless_variables());
        for name in &check.variables {
            let value = load::variable(name).ok_or_else(|| {
                let detail =
                    format!("the check `{}` needs the variable {name}, which is not set", check.name);
                CheckFailure::new(Failure::Crashed, detail)
            })?;
            process.env(name, value);
        }
        let program = process.as_std().get_program().to_string_lossy().into_owned();
        let limits = ProgramLimits { time: check.time_limit, max_bytes: MAX_ANSWER };
        let _turn = self.turns.acquire().await;
        run_program(process, Some(request.as_bytes()), limits).await.map_err(|broken| {
            let failure = match broken {
                ProgramError::Timeout(_) => Failure::Timeout,
                ProgramError::TooLarge(_) => Failure::Malformed,
                ProgramError::NotStarted(_) | ProgramError::Status { .. } | ProgramError::Lost(_) => {
                    Failure::Crashed
                }
            };
            let help = match &broken {
                ProgramError::NotStarted(error) => start_failure_hint(error.kind(), &program),
                _ => String::new(),
            };
            CheckFailure::new(failure, format!("the check `{}`: `{program}` {broken}{help}", check.name))
        })
    }

    async fn post(&self, check: &ExternalCheck, url: &str, request: String) -> Result<Vec<u8>, CheckFailure> {
        let address = url.split(['?', '#']).next().unwrap_or(url);
        let detail = |why: String| format!("the check `{}`: {address} {why}", check.name);
        let unavailable = |why: String| CheckFailure::new(Failure::Unavailable, detail(why));
        let client =
            self.resolver.client_for(url).map_err(|error| unavailable(format!("is refused: {error}")))?;
        let lost = |error: reqwest::Error| match error.is_timeout() {
            true => {
                let limit = check.time_limit.as_secs_f64();
                CheckFailure::new(Failure::Timeout, detail(format!("did not answer within {limit} s")))
            }
            false => unavailable(format!("cannot be reached: {}", error.without_url())),
        };
        let sent = client
            .post(url)
            .timeout(check.time_limit)
            .header("content-type", "application/json")
            .body(request)
            .send();
        let mut response = sent.await.map_err(lost)?;
        let (status, mut bytes) = (response.status(), Vec::new());
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            bytes.extend_from_slice(&chunk);
            if MAX_ANSWER < bytes.len() {
                let why = format!("answered with more than {MAX_ANSWER} bytes");
                return Err(CheckFailure::new(Failure::Malformed, detail(why)));
            }
        }
        if !status.is_success() {
            let body: String = String::from_utf8_lossy(&bytes).trim().chars().take(300).collect();
            return Err(unavailable(format!("answered {status}: {body}")));
        }
        Ok(bytes)
    }
}

/// The verdict of a check of this process about a value.
fn judge_value(inner: &GradingMethod, value: &Json) -> Result<ExternalVerdict, CheckFailure> {
    let crashed = |error: BadCheck| CheckFailure::new(Failure::Crashed, error.to_string());
    let check = Check::compile(inner).map_err(crashed)?;
    let finding = check.run(&CheckSubject::from_outputs(value, None));
    let Some(score) = finding.score else {
        return Err(CheckFailure::new(Failure::Unavailable, finding.comment));
    };
    Ok(ExternalVerdict {
        score,
        passed: None,
        comment: finding.comment,
        parts: Vec::new(),
        named_scores: serde_json::Map::new(),
    })
}

/// Whether a check may start its program or ask its service.
pub fn permit_check(is_allowed: bool, check: &ExternalCheck) -> Result<(), NotPermitted> {
    require_permission(is_allowed, format!("{} as the check `{}`", check.describe(), check.name))
}

fn script(command: &ScriptCommand, folder: &Path) -> Command {
    match command {
        ScriptCommand::Shell(line) => {
            let mut process = Command::from(platform::build_program_command("sh"));
            process.args(["-c", line]);
            process
        }
        ScriptCommand::Words(words) => {
            let [program, arguments @ ..] = words.as_slice() else { return Command::new("") };
            // A path is relative to the suite's folder, not to the current directory.
            let mut process = Command::from(platform::build_program_command_below(folder, program));
            process.args(arguments);
            process
        }
    }
}

fn start_failure_hint(kind: std::io::ErrorKind, program: &str) -> String {
    match kind {
        std::io::ErrorKind::NotFound => "; is it installed, and on the PATH?".to_owned(),
        std::io::ErrorKind::PermissionDenied => {
            format!("; make it executable, or name its interpreter before it: [python3, {program}]")
        }
        _ => String::new(),
    }
}
