//! Cases of two runs side by side, page by page.

use std::sync::Arc;

use axum::extract::State;
use jurist_core::grade::VerdictStatus;
use jurist_core::report::{
    CaseChange, CaseSide, ChangeCounts, ChangeDirection, ChangeFilter, ChangePlace, CriterionAnswer,
    WordChange, find_case_changes,
};
use jurist_core::run::{CaseResult, RunId};
use jurist_engine::background::run_on_blocking_thread;
use jurist_store::runs::RunHead;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::case_names::CaseNameView;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::RUN_ID;
use super::{Json, Path, Query, compute_json_response};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::run_comparisons::{ChangeIndex, describe_run_state};

pub fn build_run_change_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_run_changes))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RunChangeQuery {
    /// The run to compare with.
    baseline: String,
    /// verdict (it changed), worse, better, different-answer (with the same verdict), undecided, or all
    /// [default: verdict].
    filter: Option<String>,
    /// Only cases with this in their name.
    find: Option<String>,
    /// `next` of the page before.
    after: Option<usize>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Cases that changed between two runs
#[derive(Debug, Serialize, ToSchema)]
struct RunChangePage {
    /// What got worse first, then what is undecided, then what got better.
    items: Vec<CaseChangeView>,
    /// How many cases each filter accepts.
    counts: ChangeCountsView,
    /// How many cases this filter accepts, with this in their name.
    n_found: usize,
    /// Send it as `after`; absent at the end.
    next: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ChangeCountsView {
    /// Number of cases with a different verdict.
    verdict: usize,
    /// Number of cases whose verdict or score is worse in the later run.
    worse: usize,
    /// Number of cases whose verdict or score is better in the later run.
    better: usize,
    /// Number of cases with a different answer.
    different_answer: usize,
    /// Number of cases without a verdict in one of the runs.
    undecided: usize,
    /// Number of all cases that both runs have.
    all: usize,
}

/// One case in two runs
#[derive(Debug, Serialize, ToSchema)]
struct CaseChangeView {
    /// Name of the case.
    case: String,
    /// Parts of the name; `null` if the name is as it is written in the suite.
    parts: Option<CaseNameView>,
    /// worse, better, same or undecided.
    #[schema(value_type = String)]
    direction: ChangeDirection,
    /// Whether the two were graded with different rubrics.
    rubric_changed: bool,
    /// Whether the text of the answer is different.
    answer_changed: bool,
    /// The case in the earlier run.
    before: CaseSideView,
    /// The case in the later run.
    after: CaseSideView,
    /// From the old answer to the new one, in words; empty where one of them is not stored.
    answer_diff: Vec<WordRunView>,
    /// Criteria with the grades of both runs.
    criteria: Vec<CriterionChangeView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CaseSideView {
    /// pass, fail, error or deferred.
    #[schema(value_type = String)]
    status: VerdictStatus,
    /// Score from 0 to 1; `null` if there is none.
    score: Option<f64>,
    /// Absent where the run does not hold what was graded.
    answer: Option<String>,
}

/// A stretch of text that stayed, was removed or was added
#[derive(Debug, Serialize, ToSchema)]
struct WordRunView {
    /// same, removed or added.
    #[schema(value_type = String)]
    change: WordChange,
    /// The words.
    text: String,
}

/// What graders said about one criterion in each run
#[derive(Debug, Serialize, ToSchema)]
struct CriterionChangeView {
    /// Name of the criterion.
    criterion: String,
    /// Grades of the earlier run.
    before: Vec<CriterionAnswerView>,
    /// Grades of the later run.
    after: Vec<CriterionAnswerView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CriterionAnswerView {
    /// Name of the check, judge or person.
    grader: String,
    /// Answer of the grader, as text.
    answer: String,
    /// Score from 0 to 1; `null` if there is none.
    score: Option<f64>,
    /// Reason of the grader; empty if there is none.
    reason: String,
    /// Quotes with their positions.
    evidence: Vec<String>,
}

/// Compare the cases of two runs: answers with a word diff, grades and reasons of both
#[utoipa::path(get, path = "/runs/{id}/changes", tag = "runs",
    params(("id" = String, Path, description = RUN_ID), RunChangeQuery), responses(
    (status = 200, body = RunChangePage), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_run_changes(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(query): Query<RunChangeQuery>,
) -> Result<Json<RunChangePage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let after: RunId = id.parse()?;
    let before: RunId = query.baseline.parse().map_err(ApiError::bad)?;
    let limit = super::limit(query.limit)?;
    let filter = read_change_filter_name(query.filter.as_deref())?;
    let runs = ComparedRuns {
        after: app.store.run_head(caller.project, after).await?,
        before: app.store.run_head(caller.project, before).await?,
    };
    let index = find_changes_of_runs(&app, &caller, &runs).await?;
    let find = query.find.unwrap_or_default().to_lowercase();
    let is_found = |change: &&ChangePlace| find.is_empty() || change.case.to_lowercase().contains(&find);
    let accepted: Vec<&ChangePlace> = index.changes.select(filter).filter(is_found).collect();
    let first = query.after.unwrap_or(0);
    // The two runs with nothing but the cases of this page.
    let mut before = app.store.run(caller.project, runs.before.id).await?;
    let mut after = app.store.run(caller.project, runs.after.id).await?;
    let (mut listed, mut old, mut new) = (Vec::new(), Vec::new(), Vec::new());
    for change in accepted.iter().skip(first).take(limit) {
        let (place_before, place_after) =
            (index.places_before[change.before], index.places_after[change.after]);
        old.push(load_result_at(&app, &caller, runs.before.id, place_before).await?);
        new.push(load_result_at(&app, &caller, runs.after.id, place_after).await?);
        listed.push(ChangePlace { before: listed.len(), after: listed.len(), ..(*change).clone() });
    }
    (before.results, after.results) = (old.into_iter().collect(), new.into_iter().collect());
    let end = first.saturating_add(listed.len());
    let (n_found, counts) = (accepted.len(), index.changes.counts.into());
    compute_json_response(move || {
        let view = |change: &ChangePlace| {
            let parts = CaseNameView::of(&after.results.get(change.after));
            CaseChangeView::new(change.load(&before, &after), parts)
        };
        RunChangePage {
            items: listed.iter().map(view).collect(),
            counts,
            n_found,
            next: (end < n_found).then_some(end),
        }
    })
    .await
}

/// The runs of a request, in the order in which they are compared.
struct ComparedRuns {
    before: RunHead,
    after: RunHead,
}

async fn find_changes_of_runs(
    app: &App,
    caller: &Principal,
    runs: &ComparedRuns,
) -> Result<Arc<ChangeIndex>, ApiError> {
    let key = format!("{} {}", describe_run_state(&runs.before), describe_run_state(&runs.after));
    if let Some(known) = app.changes.get(&key) {
        return Ok(known);
    }
    let places_before = list_result_places(app, caller, runs.before.id).await?;
    let places_after = list_result_places(app, caller, runs.after.id).await?;
    let before = app.store.load_run(caller.project, runs.before.id).await?;
    let after = app.store.load_run(caller.project, runs.after.id).await?;
    // Results that came in between are looked for with the next request.
    if places_before.len() != before.results.len() || places_after.len() != after.results.len() {
        return Err(ApiError::Conflict("results are arriving; try again".to_owned()));
    }
    let changes = run_on_blocking_thread(move || find_case_changes(&before, &after));
    let changes = changes.await.map_err(|_| ApiError::Broken)?;
    let index = Arc::new(ChangeIndex { changes, places_before, places_after });
    app.changes.insert(key, Arc::clone(&index));
    Ok(index)
}

async fn list_result_places(app: &App, caller: &Principal, run: RunId) -> Result<Vec<usize>, ApiError> {
    let all = 0..=usize::try_from(i64::MAX).unwrap_or(usize::MAX);
    Ok(app.store.graded_places(caller.project, run, all).await?.into_keys().collect())
}

async fn load_result_at(
    app: &App,
    caller: &Principal,
    run: RunId,
    place: usize,
) -> Result<CaseResult, ApiError> {
    let results = app.store.results(caller.project, run, place.checked_sub(1), 1).await?;
    let result = results.into_iter().find(|(at, _)| *at == place).map(|(_, result)| result);
    // A run that was deleted in the meantime.
    result.ok_or_else(|| ApiError::Unknown(format!("{run} has no result {place}")))
}

fn read_change_filter_name(name: Option<&str>) -> Result<ChangeFilter, ApiError> {
    let name = name.unwrap_or("verdict");
    let known = ChangeFilter::ALL.iter().find(|(known, _)| *known == name).map(|(_, filter)| *filter);
    let names = || ChangeFilter::ALL.map(|(known, _)| known).join(", ");
    known.ok_or_else(|| ApiError::Bad(format!("`filter` is one of {}", names())))
}

impl CaseChangeView {
    fn new(change: CaseChange, parts: Option<CaseNameView>) -> Self {
        let answers =
            |answers: Vec<CriterionAnswer>| answers.into_iter().map(CriterionAnswerView::from).collect();
        let criteria = change.criteria.into_iter().map(|criterion| CriterionChangeView {
            criterion: criterion.criterion,
            before: answers(criterion.before),
            after: answers(criterion.after),
        });
        let diff = change.answer_diff.into_iter();
        Self {
            case: change.case,
            parts,
            direction: change.direction,
            rubric_changed: change.rubric_changed,
            answer_changed: change.answer_changed,
            before: change.before.into(),
            after: change.after.into(),
            answer_diff: diff.map(|run| WordRunView { change: run.change, text: run.text }).collect(),
            criteria: criteria.collect(),
        }
    }
}

impl From<CaseSide> for CaseSideView {
    fn from(side: CaseSide) -> Self {
        Self { status: side.status, score: side.score, answer: side.answer }
    }
}

impl From<CriterionAnswer> for CriterionAnswerView {
    fn from(answer: CriterionAnswer) -> Self {
        let CriterionAnswer { grader, answer, score, reason, evidence } = answer;
        Self { grader, answer, score, reason, evidence }
    }
}

impl From<ChangeCounts> for ChangeCountsView {
    fn from(counts: ChangeCounts) -> Self {
        let ChangeCounts { verdict, worse, better, different_answer, undecided, all } = counts;
        Self { verdict, worse, better, different_answer, undecided, all }
    }
}
