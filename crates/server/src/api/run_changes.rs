//! Cases of two runs side by side, page by page.

use axum::extract::State;
use jurist_core::grade::VerdictStatus;
use jurist_core::report::{
    CaseChange, CaseSide, ChangeCounts, ChangeDirection, ChangeFilter, CriterionAnswer, WordChange,
    find_case_changes,
};
use jurist_core::run::RunId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Json, Path, Query, compute_json_response};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

pub fn build_run_change_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_run_changes))
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
    verdict: usize,
    worse: usize,
    better: usize,
    different_answer: usize,
    undecided: usize,
    all: usize,
}

/// One case in two runs
#[derive(Debug, Serialize, ToSchema)]
struct CaseChangeView {
    case: String,
    /// worse, better, same or undecided.
    #[schema(value_type = String)]
    direction: ChangeDirection,
    /// Whether the two were graded with different rubrics.
    rubric_changed: bool,
    answer_changed: bool,
    before: CaseSideView,
    after: CaseSideView,
    /// From the old answer to the new one, in words; empty where one of them is not stored.
    answer_diff: Vec<WordRunView>,
    criteria: Vec<CriterionChangeView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CaseSideView {
    /// pass, fail, error or deferred.
    #[schema(value_type = String)]
    status: VerdictStatus,
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
    text: String,
}

/// What graders said about one criterion in each run
#[derive(Debug, Serialize, ToSchema)]
struct CriterionChangeView {
    criterion: String,
    before: Vec<CriterionAnswerView>,
    after: Vec<CriterionAnswerView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CriterionAnswerView {
    grader: String,
    answer: String,
    score: Option<f64>,
    reason: String,
    /// Quotes, each with where it stands.
    evidence: Vec<String>,
}

/// Cases of two runs side by side: answers with a word diff, and what graders said before and after
#[utoipa::path(get, path = "/runs/{id}/changes", tag = "runs", params(("id" = String, Path), RunChangeQuery), responses(
    (status = 200, body = RunChangePage), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_run_changes(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(asked): Query<RunChangeQuery>,
) -> Result<Json<RunChangePage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (after, before): (RunId, RunId) = (id.parse()?, asked.baseline.parse()?);
    let limit = super::limit(asked.limit)?;
    let filter = parse_change_filter(asked.filter.as_deref())?;
    let after = app.store.load_run(caller.project, after).await?;
    let before = app.store.load_run(caller.project, before).await?;
    compute_json_response(move || {
        let found = find_case_changes(&before, &after);
        let find = asked.find.unwrap_or_default().to_lowercase();
        let accepted: Vec<_> =
            found.select(filter).filter(|change| change.case.to_lowercase().contains(&find)).collect();
        let first = asked.after.unwrap_or(0);
        let shown = accepted.iter().skip(first).take(limit);
        let items: Vec<CaseChangeView> =
            shown.map(|place| CaseChangeView::from(place.load(&before, &after))).collect();
        let end = first.saturating_add(items.len());
        RunChangePage {
            next: (end < accepted.len()).then_some(end),
            n_found: accepted.len(),
            counts: found.counts.into(),
            items,
        }
    })
    .await
}

fn parse_change_filter(name: Option<&str>) -> Result<ChangeFilter, ApiError> {
    let name = name.unwrap_or("verdict");
    let known = ChangeFilter::ALL.iter().find(|known| known.0 == name).map(|known| known.1);
    let names = || ChangeFilter::ALL.map(|known| known.0).join(", ");
    known.ok_or_else(|| ApiError::Bad(format!("`filter` is one of {}", names())))
}

impl From<CaseChange> for CaseChangeView {
    fn from(change: CaseChange) -> Self {
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
