//! The judges of a project: whether they can be called, what they cost, and how often they fail.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use jurist_core::grade::{GraderKind, Time, Usd};
use jurist_core::suite::Judge;
use jurist_engine::call::{ModelClient, Tries};
use jurist_engine::model::resolve::{Resolver, Unresolved};
use jurist_engine::model::{ModelEndpoint, build_ping_request};
use jurist_store::clock;
use jurist_store::tallies::{TallyFilter, TallyPeriod};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Json;
use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::job::WorkRefusal;
use crate::monitor::build_monitor_view;
use crate::work::ProjectBudget;

/// How far back calls and errors are counted.
const DAYS: i64 = 30;
const DAY: i64 = 86_400_000_000;

/// Time-out of a test call to a judge, in seconds.
const PATIENCE: f64 = 20.0;

pub fn build_judge_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_judges)).routes(routes!(ping_judge))
}

/// A judge of a project; figures are those of thirty days
#[derive(Debug, Serialize, ToSchema)]
struct JudgeShown {
    /// With its vendor.
    #[schema(example = "openai/gpt-5-mini")]
    name: String,
    /// Vendor of the model, such as `openai`.
    vendor: String,
    /// Whether it is the default judge.
    is_default: bool,
    /// Monitors that name it.
    monitors: Vec<String>,
    /// Whether the server has the API key of the vendor.
    key: JudgeKey,
    /// Reason, if it cannot be called.
    problem: Option<String>,
    /// Dollars for a million tokens; without one it does not run under a cap.
    price: Option<TokenPrice>,
    /// The day of the last call that was paid, of UTC.
    #[schema(example = "2026-03-20")]
    last_used: Option<String>,
    /// Number of paid calls in the last 30 days.
    n_calls: u64,
    /// Dollars.
    spent: f64,
    /// Answers to criteria of traces.
    n_grades: u64,
    /// Number of failed calls.
    n_errors: u64,
    /// Absent without grades.
    error_rate: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum JudgeKey {
    Present,
    Missing,
    /// It is asked without one.
    NotNeeded,
}

#[derive(Debug, Serialize, ToSchema)]
struct TokenPrice {
    /// US dollars for a million tokens of the prompt.
    input: f64,
    /// US dollars for a million tokens of the prompt that the vendor has cached.
    cached: f64,
    /// US dollars for a million tokens of the reply.
    output: f64,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct JudgePing {
    /// Name of the judge to test.
    #[schema(example = "openai/gpt-5-mini")]
    judge: String,
}

/// Whether a judge answers
#[derive(Debug, Serialize, ToSchema)]
struct JudgePingResult {
    /// Whether the judge answered.
    ok: bool,
    /// Milliseconds.
    ms: u64,
    /// Why it does not answer.
    error: Option<String>,
    /// Dollars, where they are known.
    cost: Option<f64>,
    /// Whether its replies follow the reply schema.
    is_structured: Option<bool>,
}

#[derive(Debug, Default)]
struct Figures {
    is_default: bool,
    monitors: Vec<String>,
    last_used: Option<Time>,
    n_calls: u64,
    spent: Usd,
    n_grades: u64,
    n_errors: u64,
}

/// List judges of monitors and judges that were called within 30 days
#[utoipa::path(get, path = "/judges", tag = "judges", responses(
    (status = 200, body = Vec<JudgeShown>), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn list_judges(State(app): State<App>, caller: Principal) -> Result<Json<Vec<JudgeShown>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let resolver = resolver(&app)?;
    let mut all: BTreeMap<String, Figures> = BTreeMap::new();
    // Under the name that grades and payments give it.
    let full = |name: &str| {
        resolve_judge_endpoint(&resolver, Some(name))
            .map_or_else(|_| name.to_owned(), |model_endpoint| model_endpoint.name)
    };
    let default =
        resolve_judge_endpoint(&resolver, None).ok().filter(|model_endpoint| model_endpoint.vendor != "none");
    if let Some(endpoint) = &default {
        all.entry(endpoint.name.clone()).or_default().is_default = true;
    }
    for monitor in app.store.monitors(caller.project).await?.iter().filter(|monitor| monitor.newest.is_some())
    {
        let view = build_monitor_view(monitor)?;
        let own = view.judges.iter().map(|judge| full(judge));
        let usual = default
            .iter()
            .filter(|_| view.judges.is_empty())
            .map(|model_endpoint| model_endpoint.name.clone());
        for name in own.chain(usual) {
            all.entry(name).or_default().monitors.push(view.name.clone());
        }
    }
    let until = clock::current_time();
    let from = Time::from_micros(until.micros() / DAY * DAY - DAYS * DAY);
    for paid in app.store.spend_by_day(caller.project, from, until).await? {
        if paid.model.is_empty() {
            continue;
        }
        let it = all.entry(paid.model).or_default();
        it.last_used = it.last_used.max(Some(paid.day));
        (it.n_calls, it.spent) = (it.n_calls + paid.n, it.spent.plus(paid.settled));
    }
    let filter = TallyFilter { from: Some(from), ..TallyFilter::default() };
    let tallies = app.store.grade_tallies(caller.project, TallyPeriod::All, &filter).await?;
    for tally in tallies.into_iter().filter(|tally| tally.grader_kind == GraderKind::Judge) {
        let answered = tally.n_scored + tally.n_not_applicable + tally.n_abstained;
        let it = all.entry(tally.grader).or_default();
        (it.n_grades, it.n_errors) = (it.n_grades + answered + tally.n_failed, it.n_errors + tally.n_failed);
    }
    let all = all.into_iter().map(|(name, figures)| {
        let endpoint = ensure_judge_allowed(&app, &name).map_err(|work_refusal| work_refusal.to_string());
        let endpoint = endpoint.and_then(|()| resolve_named_endpoint(&resolver, &name));
        JudgeShown::new(name, figures, endpoint)
    });
    Ok(Json(all.collect()))
}

/// Call a judge once; costs a few tokens under the project's cap
#[utoipa::path(post, path = "/judges/ping", tag = "judges", request_body = JudgePing, responses(
    (status = 200, body = JudgePingResult), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
    (status = 415, body = Problem), (status = 422, body = Problem, description = "There is no such judge")
))]
async fn ping_judge(
    State(app): State<App>,
    caller: Principal,
    Json(ping): Json<JudgePing>,
) -> Result<Json<JudgePingResult>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    ensure_judge_allowed(&app, &ping.judge)?;
    let endpoint = resolve_judge_endpoint(&resolver(&app)?, Some(&ping.judge)).map_err(WorkRefusal::from)?;
    record_audit_entry(&app, &caller, "judge.ping", &endpoint.name, json!({})).await?;
    let shared_budget = ProjectBudget::new(&app.worker_context, caller.project, "ping", String::new());
    let calls = ModelClient::default().with_shared_budget(Arc::new(shared_budget));
    let began = Instant::now();
    let called = calls.call(&endpoint, &build_ping_request(&endpoint.name), &mut Tries::once()).await;
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Json(match called {
        Ok(called) => {
            let answer: serde_json::Value = serde_json::from_str(&called.reply.text).unwrap_or_default();
            let cost = called.spend.cost.map(amount_in_dollars);
            let is_structured = Some(answer["verdict"].is_boolean());
            JudgePingResult { ok: true, ms, error: None, cost, is_structured }
        }
        Err(it) => {
            let error = Some(app.settings.redactor.text(&it.error.detail).into_owned());
            JudgePingResult { ok: false, ms, error, cost: None, is_structured: None }
        }
    }))
}

fn resolver(app: &App) -> Result<Resolver, WorkRefusal> {
    let environment = app.settings.work.environment.clone();
    Ok(Resolver::new(app.settings.work.settings.clone(), move |name| environment.get(name))?)
}

/// Resolves a judge by its name; without a name, the default judge.
fn resolve_judge_endpoint(resolver: &Resolver, name: Option<&str>) -> Result<ModelEndpoint, Unresolved> {
    resolver.resolve_endpoint(&Judge {
        model: name.map(str::to_owned),
        timeout: Some(PATIENCE),
        ..Judge::default()
    })
}

fn resolve_named_endpoint(resolver: &Resolver, name: &str) -> Result<ModelEndpoint, String> {
    resolve_judge_endpoint(resolver, Some(name)).map_err(|unresolved| unresolved.to_string())
}

/// A judge that is a program is refused unless the server allows commands.
fn ensure_judge_allowed(app: &App, judge: &str) -> Result<(), WorkRefusal> {
    match judge.starts_with("command:") && !app.settings.work.allow_commands {
        true => Err(WorkRefusal::NotAllowed(format!("a program is to be run as judge: `{judge}`"))),
        false => Ok(()),
    }
}

fn amount_in_dollars(amount: Usd) -> f64 {
    amount.nanos() as f64 / 1e9
}

impl JudgeShown {
    fn new(name: String, it: Figures, line: Result<ModelEndpoint, String>) -> Self {
        let (line, problem) = match line {
            Ok(line) => (Some(line), None),
            Err(why) => (None, Some(why)),
        };
        let endpoint = line
            .as_ref()
            .and_then(|model_endpoint| model_endpoint.http.as_ref())
            .map(|http_model| http_model.endpoint());
        let key = match endpoint {
            Some(it) if it.key.is_some() => JudgeKey::Present,
            Some(_) => JudgeKey::NotNeeded,
            None if name.starts_with("command:") => JudgeKey::NotNeeded,
            None => JudgeKey::Missing,
        };
        let vendor = name.split(['/', ':']).next().unwrap_or_default().to_owned();
        let price = line.and_then(|model_endpoint| model_endpoint.price);
        let price =
            price.map(|price| TokenPrice { input: price.input, cached: price.cached, output: price.output });
        Self {
            name,
            vendor,
            is_default: it.is_default,
            monitors: it.monitors,
            key,
            problem,
            price,
            last_used: it.last_used.map(|time| time.to_string().chars().take(10).collect()),
            n_calls: it.n_calls,
            spent: amount_in_dollars(it.spent),
            n_grades: it.n_grades,
            n_errors: it.n_errors,
            error_rate: (0 < it.n_grades).then(|| it.n_errors as f64 / it.n_grades as f64),
        }
    }
}
