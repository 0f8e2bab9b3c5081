//! Checks files before they are saved: their problems, and the prompts that judges would get.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use jurist_core::candidate::{Candidate, JudgeInput};
use jurist_core::diagnostic::Code;
use jurist_core::dialect::{Dialect, LoadedSuite};
use jurist_core::judge::{Preview, Prompter, preview};
use jurist_core::rubric::Rubric;
use jurist_core::suite::{Aggregate, Calls, Judge, Suite};
use jurist_engine::background::run_on_blocking_thread;
use jurist_engine::bundle::Bundle;
use jurist_store::TraceId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Json;
use super::endpoints::{ApiRoutes, routes};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::blocking::block_in_place;
use crate::error::{ApiError, Problem};
use crate::job::format_load_errors;
use crate::monitor::{self, MonitorFileCheck};

/// More than anybody reads are counted.
const MAX_REMARKS: usize = 500;

/// Longest file with one rubric or monitor. A pattern of ten letters takes milliseconds to compile.
const MAX_SOURCE_BYTES: usize = 1 << 20;

pub fn build_file_check_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(check_posted_rubric))
        .routes(routes!(check_posted_monitor))
        .routes(routes!(preview_judge_prompts))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RubricCheckRequest {
    /// A file with one rubric, in any dialect.
    #[schema(example = "criteria: [{name: greets, description: It greets.}]")]
    source: String,
    /// `native`, `agentv`, `potato` or `monitor`, instead of looking at the keys of the file.
    #[serde(default)]
    dialect: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MonitorCheckRequest {
    /// A file with one monitor.
    #[schema(example = "agent: support\nrubric: {criteria: [{name: kind, description: It is kind.}]}\n")]
    source: String,
}

/// Result of checking a file
#[derive(Debug, Serialize, ToSchema)]
struct FileCheckResult {
    /// Diagnostics in the order of the file, as `jurist check --lint` prints them.
    problems: Vec<Remark>,
    /// Problems beyond those.
    n_left_out: usize,
    /// In native form; absent if there is an error.
    #[schema(value_type = Option<Object>)]
    canonical: Option<serde_json::Value>,
    /// Of the rubric's canonical form, as versions have it.
    hash: Option<String>,
}

/// A problem or a piece of advice
#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct Remark {
    /// How severe it is.
    severity: RemarkSeverity,
    /// As in the list of diagnostics, such as `unknown-key`.
    code: String,
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    /// End: the first character after it.
    end_line: usize,
    /// Column behind the last character, from 1.
    end_column: usize,
    /// What is wrong, and what would be right.
    message: String,
    /// A few words for the place itself.
    label: Option<String>,
    /// Note, such as the allowed values.
    notes: Vec<String>,
    /// Suggested fix.
    help: Option<String>,
    /// Suggested replacement.
    replacement: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RemarkSeverity {
    Error,
    Warning,
    Advice,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PromptPreviewRequest {
    /// A file with one rubric or monitor, in any dialect.
    #[schema(example = "criteria: [{name: greets, description: It greets.}]")]
    source: String,
    /// Format of the file, such as `agentv` or `promptfoo`; found from its content by default.
    #[serde(default)]
    dialect: Option<String>,
    /// Candidate to grade [default: placeholder text].
    #[serde(default)]
    trace: Option<String>,
}

/// Judge prompts
#[derive(Debug, Serialize, ToSchema)]
struct Prompts {
    /// One for each call, in the order of the rubric.
    prompts: Vec<PromptView>,
}

/// One judge call, or the reason why there is none
#[derive(Debug, Serialize, ToSchema)]
struct PromptView {
    /// The first of `criteria`.
    criterion: String,
    /// Criteria of the call: several if a monitor asks them together.
    criteria: Vec<String>,
    /// Empty if no judge is called.
    messages: Vec<PromptMessage>,
    /// The JSON Schema that the reply must match.
    #[schema(value_type = Option<Object>)]
    form: Option<serde_json::Value>,
    /// Reason why no judge is called, such as a check that decides.
    unasked: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct PromptMessage {
    /// system or user.
    role: &'static str,
    /// Text of the message.
    content: String,
}

/// Validate a rubric, with advice; nothing is saved
#[utoipa::path(post, path = "/rubrics/check", tag = "rubrics", request_body = RubricCheckRequest,
    responses(
        (status = 200, body = FileCheckResult), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem)
))]
async fn check_posted_rubric(
    _: State<App>,
    caller: Principal,
    Json(tried): Json<RubricCheckRequest>,
) -> Result<Json<FileCheckResult>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let mut loaded = load_rubric_source(&tried.source, tried.dialect)?;
    let (mut rubric, mut obstacles) = (None, Vec::new());
    if let Some(suite) = loaded.suite.take() {
        match find_single_rubric(&suite) {
            Ok(single) => rubric = Some(single),
            Err(why) => obstacles.push((Code::MissingKey, why)),
        }
    }
    let hash = rubric.as_ref().map(|rubric| rubric.version().as_str().to_owned());
    let canonical = rubric.map(|rubric| rubric.to_json());
    Ok(Json(FileCheckResult {
        hash,
        ..FileCheckResult::new(MonitorFileCheck { loaded, obstacles, canonical })
    }))
}

/// Validate a monitor with its judges and anchors, with advice; nothing is saved
#[utoipa::path(post, path = "/monitors/check", tag = "monitors", request_body = MonitorCheckRequest,
    responses(
        (status = 200, body = FileCheckResult), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem)
))]
async fn check_posted_monitor(
    State(app): State<App>,
    caller: Principal,
    Json(tried): Json<MonitorCheckRequest>,
) -> Result<Json<FileCheckResult>, ApiError> {
    caller.needs(AccessScope::Read)?;
    check_source_size(&tried.source)?;
    let tried =
        monitor::check_monitor_file(&app.store, caller.project, &tried.source, &app.settings.work).await?;
    Ok(Json(FileCheckResult::new(tried)))
}

/// Preview the judge prompts for a trace; no model is called
#[utoipa::path(post, path = "/rubrics/prompt", tag = "rubrics", request_body = PromptPreviewRequest, responses(
    (status = 200, body = Prompts), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
    (status = 415, body = Problem), (status = 422, body = Problem, description = "The file is not valid")
))]
async fn preview_judge_prompts(
    State(app): State<App>,
    caller: Principal,
    Json(wanted): Json<PromptPreviewRequest>,
) -> Result<Json<Prompts>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let SingleRubric { rubric, judge, .. } = load_single_rubric(&wanted.source, wanted.dialect)?;
    let calls = judge.calls.unwrap_or(Calls::PerCriterion);
    let material = match wanted.trace {
        None => placeholder_judge_input(),
        Some(id) => {
            let id: TraceId = id.parse().map_err(ApiError::bad)?;
            let trace = app.store.trace_content(caller.project, &id).await?;
            let gone = || ApiError::Unknown(format!("there is no stored trace `{id}`"));
            JudgeInput::new(&Candidate::default(), Some(trace.ok_or_else(gone)?))
        }
    };
    // A template of a user may take long.
    let making = run_on_blocking_thread(move || {
        let prompter = Prompter::for_rubric(&material, None, &rubric, 0);
        preview(&prompter, &rubric, calls).map_err(|error| ApiError::Senseless(error.to_string()))
    });
    let prompts = making.await.map_err(|_| ApiError::Broken)??;
    Ok(Json(Prompts { prompts: prompts.into_iter().map(PromptView::from).collect() }))
}

/// Texts in the place of those of a trace.
fn placeholder_judge_input() -> JudgeInput {
    JudgeInput {
        task: "(what the agent was asked)".to_owned(),
        context: vec!["(a document that the answer may rest on)".to_owned()],
        response: Some("(what the agent answered; of a trace, every step)".to_owned()),
        requirements: vec!["(something that the answer must meet)".to_owned()],
        ..JudgeInput::default()
    }
}

impl From<Preview> for PromptView {
    fn from(it: Preview) -> Self {
        let criterion = it.questions.first().cloned().unwrap_or_default();
        let message = |role, content| PromptMessage { role, content };
        let (messages, form, unasked) = match it.asked {
            Ok(asked) => {
                let user = asked.prompt.user().join("\n");
                let form = asked.form.schema();
                (vec![message("system", asked.prompt.system), message("user", user)], Some(form), None)
            }
            Err(why) => (Vec::new(), None, Some(why)),
        };
        Self { criterion, criteria: it.questions, messages, form, unasked }
    }
}

impl FileCheckResult {
    fn new(tried: MonitorFileCheck) -> Self {
        let MonitorFileCheck { loaded, obstacles, canonical } = tried;
        let sources = loaded.sources;
        let mut n_left_out = loaded.diagnostics.n_left_out();
        let all = loaded.diagnostics.into_sorted();
        n_left_out += all.len().saturating_sub(MAX_REMARKS);
        let remarks = all.iter().take(MAX_REMARKS).map(|diagnostic| {
            serde_json::from_value(diagnostic.to_json(&sources)).expect("a remark has what a diagnostic has")
        });
        let problems = obstacles.into_iter().map(Remark::about_whole_file).chain(remarks).collect();
        Self { problems, n_left_out, canonical, hash: None }
    }
}

impl Remark {
    /// About the file as a whole.
    fn about_whole_file((code, message): (Code, String)) -> Self {
        Self {
            severity: RemarkSeverity::Error,
            code: code.name().to_owned(),
            line: 1,
            column: 1,
            end_line: 1,
            end_column: 1,
            message,
            label: None,
            notes: Vec::new(),
            help: None,
            replacement: None,
        }
    }
}

/// A rubric without a suite, and its judges.
pub(super) struct SingleRubric {
    pub rubric: Arc<Rubric>,
    pub judge: Judge,
    /// Those that the file gives a name.
    pub judges: BTreeMap<String, Judge>,
}

/// The one rubric of a text.
pub(super) fn load_single_rubric(source: &str, dialect: Option<String>) -> Result<SingleRubric, ApiError> {
    let loaded = load_rubric_source(source, dialect)?;
    let problems = format_load_errors(&loaded);
    let suite = loaded.suite.ok_or(ApiError::Senseless(problems))?;
    let rubric = find_single_rubric(&suite).map_err(ApiError::Senseless)?;
    let judge = match suite.monitors.first() {
        // Monitors ask all they can at once, and several judges are averaged.
        Some(monitor) => {
            let (model, panel) = match monitor.judges.as_slice() {
                [] => (None, Vec::new()),
                [one] => (Some(one.clone()), Vec::new()),
                several => (None, several.to_vec()),
            };
            let aggregate = (!panel.is_empty()).then_some(Aggregate::Mean);
            Judge { model, panel, aggregate, calls: Some(Calls::PerRubric), ..Judge::default() }
        }
        None => suite.cases.first().map_or(&suite.judge, |case| &case.judge).clone(),
    };
    Ok(SingleRubric { rubric, judge, judges: suite.judges })
}

fn load_rubric_source(source: &str, dialect: Option<String>) -> Result<LoadedSuite, ApiError> {
    if let Some(name) = &dialect
        && !Dialect::ALL.iter().any(|(known, _)| known == name)
    {
        let all = Dialect::ALL.map(|(known, _)| known).join(", ");
        return Err(ApiError::Bad(format!("`dialect` is one of {all}")));
    }
    check_source_size(source)?;
    let files = BTreeMap::from([("rubric.yaml".to_owned(), source.to_owned())]);
    let bundle = Bundle { suite: "rubric.yaml".to_owned(), files, dialect, ..Bundle::default() };
    Ok(block_in_place(|| bundle.load()))
}

pub(super) fn check_source_size(source: &str) -> Result<(), ApiError> {
    match source.len() <= MAX_SOURCE_BYTES {
        true => Ok(()),
        false => Err(ApiError::TooLarge(format!("a rubric or monitor has at most {MAX_SOURCE_BYTES} bytes"))),
    }
}

fn find_single_rubric(suite: &Suite) -> Result<Arc<Rubric>, String> {
    let of_cases = suite.cases.iter().map(|case| &case.rubric);
    let of_monitors = suite.monitors.iter().map(|monitor| &monitor.rubric);
    let all: BTreeMap<&str, &Arc<Rubric>> = suite
        .rubrics
        .values()
        .chain(of_cases)
        .chain(of_monitors)
        .map(|rubric| (rubric.version().as_str(), rubric))
        .collect();
    match (all.first_key_value(), all.len()) {
        (Some((_, rubric)), 1) => Ok(Arc::clone(rubric)),
        (_, n) => Err(format!("the file has {n} rubrics, and one is wanted")),
    }
}
