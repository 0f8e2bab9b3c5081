//! Monitors: rubrics for live traces, the decisions about traces, and the estimates for all traffic.

use std::collections::BTreeMap;

use axum::extract::State;
use jurist_core::grade::Time;
use jurist_core::plan::TraceStratum;
use jurist_store::decisions::{DecisionFilter, DecisionState, DecisionSummary, MonitorDecision};
use jurist_store::{TraceId, clock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::audit::record_audit_entry;
use super::blinding::find_withheld_candidates;
use super::endpoints::{ApiRoutes, routes};
use super::file_checks::check_source_size;
use super::path_parameters::{MONITOR, TRACE_ID};
use super::picture::ChartView;
use super::{Json, Path, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::monitor::{
    self, Applied, ComparisonPlan, ComparisonView, DecisionView, DialProjection, Estimates, MonitorTrend,
    MonitorView, NewComparison, NewRescore, RescorePlan, RescoreView, TrafficWindow, VersionView,
    find_monitor,
};

pub fn build_monitor_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_monitors))
        .routes(routes!(get_monitor, upsert_monitor, set_monitor_paused, delete_monitor))
        .routes(routes!(list_monitor_versions))
        .routes(routes!(list_monitor_decisions))
        .routes(routes!(get_monitor_estimates))
        .routes(routes!(get_monitor_trend))
        .routes(routes!(get_monitor_radar))
        .routes(routes!(get_sampling_projection))
        .routes(routes!(list_monitor_rescores, request_monitor_rescore))
        .routes(routes!(list_monitor_comparisons, request_monitor_comparison))
        .routes(routes!(list_trace_decisions))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewMonitor {
    /// A file with one monitor, as it is written.
    #[schema(example = "agent: support\nrubric: {criteria: [{name: kind, description: It is kind.}]}\n")]
    source: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MonitorChange {
    /// Paused: nothing is judged; sampled traces wait.
    paused: bool,
    /// Why it is paused.
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DecisionListQuery {
    /// sampled, sampled_out, filtered, nothing_to_judge, over_budget, overloaded, pending, scored, cached, stale or judge_error.
    state: Option<String>,
    /// failed, expensive or other.
    stratum: Option<String>,
    /// Name of the agent.
    agent: Option<String>,
    /// Only those whose judges disagree by more than the margin, or only the others.
    disputed: Option<bool>,
    /// Decided at this time or later, such as 2026-03-01T00:00:00Z.
    #[param(value_type = Option<String>)]
    from: Option<Time>,
    /// Decided before this time.
    #[param(value_type = Option<String>)]
    until: Option<Time>,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct MonitorListQuery {
    /// Include estimates for the last 30 days.
    figures: Option<bool>,
    /// Include removed monitors.
    removed: Option<bool>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SampleRateQuery {
    /// A share above 0 and up to 1.
    #[param(minimum = 0, maximum = 1)]
    sample_rate: f64,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TrafficWindowQuery {
    /// Name of the agent [default: all agents].
    agent: Option<String>,
    /// Start of the time range [default: 30 days ago]; full UTC days.
    #[param(value_type = Option<String>)]
    from: Option<Time>,
    /// End of the time range [default: now].
    #[param(value_type = Option<String>)]
    until: Option<Time>,
    /// For trends: a criterion, or `*` for all criteria and the overall score [default: the overall score].
    criterion: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LabelCorrectionQuery {
    /// Include label-corrected means [default: true].
    corrected: Option<bool>,
}

impl TrafficWindowQuery {
    fn into_time_window(self) -> Result<TrafficWindow, ApiError> {
        let window = TrafficWindow::new(self.agent, self.from, self.until, clock::current_time());
        if window.until <= window.from {
            return Err(ApiError::bad("`from` is before `until`"));
        }
        Ok(window)
    }
}

#[derive(Debug, Serialize, ToSchema)]
struct DecisionPage {
    /// Decisions, newest first.
    items: Vec<DecisionView>,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

/// Monitors by name
#[utoipa::path(get, path = "/monitors", tag = "monitors", params(MonitorListQuery), responses(
    (status = 200, body = Vec<MonitorView>), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_monitors(
    State(app): State<App>,
    caller: Principal,
    Query(listed): Query<MonitorListQuery>,
) -> Result<Json<Vec<MonitorView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (store, project, now) = (&app.store, caller.project, clock::current_time());
    let all = match listed.removed {
        Some(true) => store.all_monitors(project).await?,
        _ => store.monitors(project).await?,
    };
    let mut views = Vec::new();
    // A monitor without a first version does not exist yet.
    for it in all.iter().filter(|stored_monitor| stored_monitor.newest.is_some()) {
        let mut view = monitor::build_monitor_view(it)?;
        if listed.figures == Some(true) {
            view.figures = Some(monitor::compute_monitor_figures(store, project, it, now).await?);
        }
        views.push(view);
    }
    Ok(Json(views))
}

/// A monitor, by its name or id
#[utoipa::path(get, path = "/monitors/{name}", tag = "monitors",
    params(("name" = String, Path, description = MONITOR)), responses(
    (status = 200, body = MonitorView), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn get_monitor(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
) -> Result<Json<MonitorView>, ApiError> {
    caller.needs(AccessScope::Read)?;
    Ok(Json(monitor::build_monitor_view(&find_monitor(&app.store, caller.project, &name).await?)?))
}

/// Create or update a monitor from a file; an unchanged file changes nothing, and earlier traces are not
/// re-scored
#[utoipa::path(put, path = "/monitors/{name}", tag = "monitors", request_body = NewMonitor,
    params(("name" = String, Path, description = "Name of the monitor, up to 100 letters")), responses(
        (status = 200, body = Applied), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem), (status = 422, body = Problem, description = "The file is not valid")
))]
async fn upsert_monitor(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Json(new): Json<NewMonitor>,
) -> Result<Json<Applied>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let name = super::validate_name("a monitor", &name)?;
    check_source_size(&new.source)?;
    let (settings, author) = (&app.settings, caller.account());
    let source = super::redact_source(&settings.redactor, &new.source);
    let applied = monitor::apply_monitor_file(
        &app.store,
        caller.project,
        Some(name),
        &source,
        (&settings.region, &settings.work),
        author,
        clock::current_time(),
    )
    .await?;
    if applied.is_changed {
        let body = json!({ "version": applied.monitor.version.id });
        record_audit_entry(&app, &caller, "monitor.apply", &applied.monitor.id, body).await?;
    }
    Ok(Json(applied))
}

/// Pause or resume a monitor
#[utoipa::path(patch, path = "/monitors/{name}", tag = "monitors", request_body = MonitorChange,
    params(("name" = String, Path, description = MONITOR)), responses(
        (status = 200, body = MonitorView), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem)
))]
async fn set_monitor_paused(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Json(change): Json<MonitorChange>,
) -> Result<Json<MonitorView>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let action = if change.paused {
        let why = change.reason.as_deref().map(str::trim).filter(|text| !text.is_empty());
        monitor::pause_monitor(
            &app.store,
            caller.project,
            stored_monitor.id,
            why.unwrap_or("paused by a user"),
        )
        .await?;
        "monitor.pause"
    } else {
        monitor::resume_monitor(&app.store, caller.project, &stored_monitor, clock::current_time()).await?;
        "monitor.resume"
    };
    record_audit_entry(&app, &caller, action, &stored_monitor.id, json!({ "reason": change.reason })).await?;
    Ok(Json(monitor::build_monitor_view(&app.store.monitor(caller.project, stored_monitor.id).await?)?))
}

/// Remove a monitor; its results stay stored
#[utoipa::path(delete, path = "/monitors/{name}", tag = "monitors",
    params(("name" = String, Path, description = MONITOR)), responses(
    (status = 200, body = MonitorView), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn delete_monitor(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
) -> Result<Json<MonitorView>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    monitor::remove_monitor(&app.store, caller.project, &stored_monitor, clock::current_time()).await?;
    record_audit_entry(&app, &caller, "monitor.remove", &stored_monitor.id, json!({})).await?;
    Ok(Json(monitor::build_monitor_view(&stored_monitor)?))
}

/// Versions of a monitor, the newest first
#[utoipa::path(get, path = "/monitors/{name}/versions", tag = "monitors",
    params(("name" = String, Path, description = MONITOR)), responses(
    (status = 200, body = Vec<VersionView>), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn list_monitor_versions(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
) -> Result<Json<Vec<VersionView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let all = app.store.monitor_versions(caller.project, stored_monitor.id).await?;
    Ok(Json(all.iter().map(VersionView::from).collect()))
}

/// Decisions of a monitor, newest first; `disputed` selects traces on which judges disagree
#[utoipa::path(get, path = "/monitors/{name}/decisions", tag = "monitors",
    params(("name" = String, Path, description = MONITOR), DecisionListQuery),
    responses(
        (status = 200, body = DecisionPage), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_monitor_decisions(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(which): Query<DecisionListQuery>,
) -> Result<Json<DecisionPage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let filter = DecisionFilter {
        state: which.state.map(|state| state.parse::<DecisionState>()).transpose().map_err(ApiError::Bad)?,
        stratum: which
            .stratum
            .map(|stratum| stratum.parse::<TraceStratum>())
            .transpose()
            .map_err(ApiError::Bad)?,
        agent: which.agent,
        is_disputed: which.disputed,
        from: which.from,
        until: which.until,
    };
    let (after, limit) = (super::parse_page_cursor(which.after.as_deref())?, super::limit(which.limit)?);
    let page = app.store.decisions(caller.project, stored_monitor.id, &filter, after.as_ref(), limit).await?;
    let traces: Vec<String> =
        page.items.iter().map(|monitor_decision| monitor_decision.trace.to_string()).collect();
    let all_summaries = app.store.decision_summaries(caller.project, &traces).await?;
    let own =
        all_summaries.into_iter().filter(|decision_summary| decision_summary.monitor == stored_monitor.name);
    let mut summaries: BTreeMap<String, DecisionSummary> =
        own.map(|decision_summary| (decision_summary.trace.clone(), decision_summary)).collect();
    let mut verdicts = monitor::load_newest_verdicts(&app.store, caller.project, &traces).await?;
    let withheld = find_withheld_candidates(&app, &caller, traces.iter().map(String::as_str)).await?;
    let versions = app.store.monitor_versions(caller.project, stored_monitor.id).await?;
    let view = |monitor_decision: &MonitorDecision| {
        let version = versions.iter().find(|version| version.id == monitor_decision.version);
        let mut view = DecisionView::new(monitor_decision, version);
        view.monitor_name = Some(stored_monitor.name.clone());
        view.set_verdict(verdicts.remove(&(view.trace.clone(), stored_monitor.name.clone())));
        if let Some(summary) = summaries.remove(&view.trace) {
            view.reason = summary.reason;
            view.title = summary.title;
        }
        view
    };
    // Disagreement between judges is a judge result, too.
    let is_told = |decision_view: &DecisionView| {
        filter.is_disputed.is_none() || !withheld.contains(&decision_view.trace)
    };
    let items = page
        .items
        .iter()
        .map(view)
        .filter(is_told)
        .map(|decision_view| decision_view.hide_if_withheld(&withheld))
        .collect();
    Ok(Json(DecisionPage { items, next: page.next.map(|cursor| cursor.to_string()) }))
}

/// Estimates for all traffic, by rubric version and judge
#[utoipa::path(get, path = "/monitors/{name}/estimates", tag = "monitors",
    params(("name" = String, Path, description = MONITOR), TrafficWindowQuery, LabelCorrectionQuery),
    responses(
        (status = 200, body = Estimates), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_monitor_estimates(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(window): Query<TrafficWindowQuery>,
    Query(labels): Query<LabelCorrectionQuery>,
) -> Result<Json<Estimates>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let (window, is_corrected) = (window.into_time_window()?, labels.corrected.unwrap_or(true));
    Ok(Json(
        monitor::estimate_monitor_traffic(&app.store, caller.project, &stored_monitor, &window, is_corrected)
            .await?,
    ))
}

/// Estimates by day with confidence sequences, separately for each rubric version
#[utoipa::path(get, path = "/monitors/{name}/trend", tag = "monitors",
    params(("name" = String, Path, description = MONITOR), TrafficWindowQuery),
    responses(
        (status = 200, body = Vec<MonitorTrend>), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_monitor_trend(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(window): Query<TrafficWindowQuery>,
) -> Result<Json<Vec<MonitorTrend>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let criterion = window.criterion.clone();
    let window = window.into_time_window()?;
    let criterion = criterion.as_deref();
    let trend = monitor::compute_monitor_trends(
        &app.store,
        &app.sequences,
        caller.project,
        &stored_monitor,
        &window,
        criterion,
    )
    .await?;
    Ok(Json(trend))
}

/// Means per criterion and agent, for a radar chart
#[utoipa::path(get, path = "/monitors/{name}/radar", tag = "monitors", params(
        ("name" = String, Path, description = MONITOR),
        ("agent" = Option<Vec<String>>, Query, description = "Up to six agents [default: all, as far as they can be distinguished]"),
        ("from" = Option<String>, Query, description = "Start of the time range [default: 30 days ago]; full UTC days"),
        ("until" = Option<String>, Query, description = "End of the time range [default: now]")
    ), responses(
        (status = 200, body = ChartView), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_monitor_radar(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Json<ChartView>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let all = |key: &'static str| {
        pairs.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    };
    let time = |key| all(key).next().map(Time::parse).transpose().map_err(ApiError::bad);
    let window =
        TrafficWindowQuery { agent: None, from: time("from")?, until: time("until")?, criterion: None };
    let agents: Vec<String> = all("agent").map(str::to_owned).collect();
    if monitor::MOST_AGENTS < agents.len() {
        return Err(ApiError::Bad(format!("`agent` is given up to {} times", monitor::MOST_AGENTS)));
    }
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let chart = monitor::build_monitor_radar(
        &app.store,
        caller.project,
        &stored_monitor,
        &window.into_time_window()?,
        &agents,
    )
    .await?;
    Ok(Json(ChartView::from(&chart)))
}

/// Projected monthly cost and precision of another sample rate
#[utoipa::path(get, path = "/monitors/{name}/projection", tag = "monitors",
    params(("name" = String, Path, description = MONITOR), SampleRateQuery),
    responses(
        (status = 200, body = DialProjection), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_sampling_projection(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Query(dial): Query<SampleRateQuery>,
) -> Result<Json<DialProjection>, ApiError> {
    caller.needs(AccessScope::Read)?;
    if !(0.0 < dial.sample_rate && dial.sample_rate <= 1.0) {
        return Err(ApiError::bad("`sample_rate` is a share above 0 and up to 1"));
    }
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let (store, rate) = (&app.store, dial.sample_rate);
    Ok(Json(
        monitor::compute_dial_projection(store, caller.project, &stored_monitor, rate, clock::current_time())
            .await?,
    ))
}

/// Re-scorings of a monitor, newest first, with the difference between versions
#[utoipa::path(get, path = "/monitors/{name}/rescores", tag = "monitors",
    params(("name" = String, Path, description = MONITOR)), responses(
    (status = 200, body = Vec<RescoreView>), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn list_monitor_rescores(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
) -> Result<Json<Vec<RescoreView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    Ok(Json(monitor::list_rescores(&app.store, caller.project, &stored_monitor).await?))
}

/// Re-score traces of earlier versions, or repeat failed calls; without confirmation only the projected cost is
/// returned
#[utoipa::path(post, path = "/monitors/{name}/rescores", tag = "monitors", request_body = NewRescore,
    params(("name" = String, Path, description = MONITOR)), responses(
        (status = 200, body = RescorePlan), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem), (status = 422, body = Problem, description = "There is nothing to re-score")
))]
async fn request_monitor_rescore(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Json(request): Json<NewRescore>,
) -> Result<Json<RescorePlan>, ApiError> {
    caller.needs(AccessScope::Write)?;
    if request.overlap == Some(0) {
        return Err(ApiError::bad("`overlap` is a number of traces from 1 on"));
    }
    if request.errors && request.over_budget {
        return Err(ApiError::bad("`errors` and `over_budget` are two requests; send one after the other"));
    }
    if (request.errors || request.over_budget) && request.overlap.is_some() {
        return Err(ApiError::bad("`errors` and `over_budget` ask about all of them; leave `overlap` out"));
    }
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let (store, project, work, now) = (&app.store, caller.project, &app.settings.work, clock::current_time());
    if !request.confirmed {
        return Ok(Json(monitor::plan_rescore(store, project, &stored_monitor, &request, work, now).await?));
    }
    let begun =
        monitor::start_rescore(store, project, &stored_monitor, &request, work, caller.account(), now)
            .await?;
    record_audit_entry(&app, &caller, "monitor.rescore", &stored_monitor.id, json!(begun)).await?;
    Ok(Json(begun))
}

/// Comparisons side by side, the newest first
#[utoipa::path(get, path = "/monitors/{name}/comparisons", tag = "monitors",
    params(("name" = String, Path, description = MONITOR)),
    responses(
        (status = 200, body = Vec<ComparisonView>), (status = 401, body = Problem), (status = 403, body = Problem),
        (status = 404, body = Problem)
))]
async fn list_monitor_comparisons(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
) -> Result<Json<Vec<ComparisonView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    Ok(Json(monitor::list_comparisons(&app.store, caller.project, &stored_monitor).await?))
}

/// Compare two agents, or two versions, on common tasks; without confirmation only the projected cost is
/// returned
#[utoipa::path(post, path = "/monitors/{name}/comparisons", tag = "monitors", request_body = NewComparison,
    params(("name" = String, Path, description = MONITOR)), responses(
        (status = 200, body = ComparisonPlan), (status = 400, body = Problem), (status = 401, body = Problem),
        (status = 403, body = Problem), (status = 404, body = Problem), (status = 413, body = Problem),
        (status = 415, body = Problem), (status = 422, body = Problem, description = "They have no task in common")
))]
async fn request_monitor_comparison(
    State(app): State<App>,
    caller: Principal,
    Path(name): Path<String>,
    Json(request): Json<NewComparison>,
) -> Result<Json<ComparisonPlan>, ApiError> {
    caller.needs(AccessScope::Write)?;
    if request.n == Some(0) {
        return Err(ApiError::bad("`n` is a number of pairs from 1 on"));
    }
    let stored_monitor = find_monitor(&app.store, caller.project, &name).await?;
    let plan = monitor::plan_or_start_comparison(
        &app.store,
        caller.project,
        &stored_monitor,
        &request,
        clock::current_time(),
    )
    .await?;
    if plan.id.is_some() {
        record_audit_entry(&app, &caller, "monitor.compare", &stored_monitor.id, json!(plan)).await?;
    }
    Ok(Json(plan))
}

/// Explain why a trace has a score or none: decision and history per monitor
#[utoipa::path(get, path = "/traces/{id}/decisions", tag = "monitors",
    params(("id" = String, Path, description = TRACE_ID)), responses(
    (status = 200, body = Vec<DecisionView>), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_trace_decisions(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<Vec<DecisionView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let id: TraceId = id.parse()?;
    let all = monitor::explain_trace_decisions(&app.store, caller.project, &id).await?;
    let withheld = find_withheld_candidates(&app, &caller, [id.as_str()]).await?;
    Ok(Json(all.into_iter().map(|decision_view| decision_view.hide_if_withheld(&withheld)).collect()))
}
