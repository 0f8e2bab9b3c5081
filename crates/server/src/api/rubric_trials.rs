//! A rubric tried on a few traces: what that costs first, and a run over them if it is worth it.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::HeaderMap;
use jurist_core::candidate::{Candidate, JudgeInput, TRACE_TOKENS, Trace};
use jurist_core::plan::CallRange;
use jurist_core::suite::Judge;
use jurist_engine::judge::estimate_candidate_cost;
use jurist_store::TraceId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use utoipa::ToSchema;

use super::Json;
use super::endpoints::{ApiRoutes, routes};
use super::file_checks::{SingleRubric, load_single_rubric};
use super::runs::start_run;
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::idempotent_requests::once;
use crate::work::{NewRun, PreparedSubmission};

/// Traces that are tried at once.
const MOST: usize = 200;

pub fn build_rubric_trial_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(try_rubric))
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewTrial {
    /// A file with one rubric or monitor, in any dialect.
    #[schema(example = "criteria: [{name: greets, description: It greets.}]")]
    source: String,
    /// Format of the rubric, such as `agentv` or `promptfoo`; found from its content by default.
    #[serde(default)]
    dialect: Option<String>,
    /// Ids of traces.
    #[schema(min_items = 1, max_items = 200)]
    traces: Vec<String>,
    /// Instead of the judge that the file names, or the usual one.
    #[serde(default)]
    judge: Option<String>,
    /// Starts a run, which needs the scope `write`; without it, only the projected cost is returned.
    #[serde(default)]
    spend: bool,
    /// Dollars that the run may cost.
    #[serde(default)]
    #[schema(minimum = 0)]
    max_cost: Option<f64>,
}

/// Projected cost of trying a rubric, and the run if it was started
#[derive(Debug, Serialize, ToSchema)]
struct Trial {
    /// The run, once it has begun.
    #[schema(example = "run_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    id: Option<String>,
    /// Number of results that the run will have.
    n_units: usize,
    /// Calls of judges, at most.
    calls: u32,
    /// Dollars that it is likely to cost at most, without repairs; absent where a price is not known.
    cost: Option<f64>,
    /// Names of the judges that would be called.
    judges: Vec<String>,
    /// Calls and cost of each trace.
    per_trace: Vec<TrialTrace>,
}

#[derive(Debug, Serialize, ToSchema)]
struct TrialTrace {
    /// Id of the trace.
    trace: String,
    /// Number of calls of judges, at most.
    calls: u32,
    /// Of a tree or of conditions, at least.
    least_calls: u32,
    /// US dollars, at most; `null` if a price is unknown.
    cost: Option<f64>,
}

/// Try a rubric on traces; without confirmation only the projected cost is returned
#[utoipa::path(post, path = "/rubrics/try", tag = "rubrics", request_body = NewTrial,
    params(("idempotency-key" = Option<String>, Header, description = "A repeated request with the same key starts nothing")),
    responses(
    (status = 200, body = Trial), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
    (status = 415, body = Problem), (status = 422, body = Problem, description = "The file is not valid")
))]
async fn try_rubric(
    State(app): State<App>,
    caller: Principal,
    headers: HeaderMap,
    Json(request): Json<NewTrial>,
) -> Result<Json<Trial>, ApiError> {
    caller.needs(if request.spend { AccessScope::Write } else { AccessScope::Read })?;
    if !(1..=MOST).contains(&request.traces.len()) {
        return Err(ApiError::Bad(format!("`traces` are from 1 to {MOST} ids of traces")));
    }
    let mut one = load_single_rubric(&request.source, request.dialect.clone())?;
    if let Some(model) = &request.judge {
        one.judge = Judge { model: Some(model.clone()), calls: one.judge.calls, ..Judge::default() };
    }
    let mut traces: BTreeMap<String, Trace> = BTreeMap::new();
    let (mut n_bytes, most) = (0, app.settings.max_body);
    for id in &request.traces {
        let id: TraceId = id.parse().map_err(ApiError::bad)?;
        let trace = app.store.trace_content(caller.project, &id).await?;
        let gone = || ApiError::Unknown(format!("there is no stored trace `{id}`"));
        let trace = trace.ok_or_else(gone)?;
        n_bytes += serde_json::to_vec(&trace).expect("a trace is plain data").len();
        if most < n_bytes {
            return Err(ApiError::Bad(format!(
                "these traces are more than {most} bytes together; take fewer of them, or shorter ones"
            )));
        }
        traces.insert(id.to_string(), trace);
    }
    let run = NewRun { max_cost: request.max_cost, ..build_trial_run(&one, &traces) };
    let prepared = app.worker_context.prepare(run.clone()).await?;
    let trial = Trial::new(&prepared, &traces);
    if !request.spend {
        return Ok(Json(trial));
    }
    let begun = once(&app, caller.project, &headers, &request, start_run(app.clone(), caller, run)).await?;
    Ok(Json(Trial { id: Some(begun.id), ..trial }))
}

/// A suite with a case for each trace, named like it.
fn build_trial_run(one: &SingleRubric, traces: &BTreeMap<String, Trace>) -> NewRun {
    let rubric = one.rubric.to_json();
    let mut files = BTreeMap::new();
    let mut cases = Vec::new();
    for (at, (id, trace)) in traces.iter().enumerate() {
        let path = format!("traces/{at}.json");
        cases.push(json!({ "name": id, "trace": path, "rubric": rubric }));
        files.insert(path, serde_json::to_string(trace).expect("a trace is plain data"));
    }
    let name = one.rubric.name.as_deref().unwrap_or("a rubric");
    let suite = json!({
        "name": format!("{name}, tried on {}", jurist_core::quantity::plural(traces.len(), "trace")),
        "judge": one.judge.to_json(), "evals": cases,
        "judges": one.judges.iter().map(|(name, it)| (name.clone(), it.to_json())).collect::<Map<_, _>>(),
    });
    files.insert("suite.json".to_owned(), suite.to_string());
    NewRun { suite: "suite.json".to_owned(), files, ..NewRun::default() }
}

impl Trial {
    fn new(prepared: &PreparedSubmission, traces: &BTreeMap<String, Trace>) -> Self {
        let mut judges: Vec<String> = Vec::new();
        let mut per_trace = Vec::new();
        for job in &prepared.jobs {
            let CallRange { least, most, .. } = job.unit.calls;
            let trace = traces.get(&job.unit.name);
            let material = JudgeInput::new(&Candidate::default(), trace.cloned());
            let bytes = material.task.len() + material.text().len().min(4 * TRACE_TOKENS);
            let cost =
                estimate_candidate_cost(&job.judges, bytes, job.unit.calls).cost.map(|(_, highest)| highest);
            per_trace.push(TrialTrace {
                trace: job.unit.name.clone(),
                calls: most,
                least_calls: least,
                cost,
            });
            for member in job.judges.members.iter().filter(|_| 0 < most) {
                if !judges.contains(&member.line.name) {
                    judges.push(member.line.name.clone());
                }
            }
        }
        Self {
            id: None,
            n_units: per_trace.len(),
            calls: per_trace.iter().map(|trial_trace| trial_trace.calls).sum(),
            cost: per_trace.iter().try_fold(0.0, |sum, trial_trace| trial_trace.cost.map(|cost| sum + cost)),
            judges,
            per_trace,
        }
    }
}
