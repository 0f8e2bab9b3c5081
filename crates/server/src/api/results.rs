//! Results of a task: means with their intervals, and a radar by any field of the data.

use axum::extract::State;
use jurist_core::report::results_radar;
use jurist_core::task_results::{QuestionKind, QuestionResult, ResultGroup, TaskResults};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::disputes::TaskReview;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::TASK_ID;
use super::picture::ChartView;
use super::{Json, Path, Query};
use crate::annotate::results_of;
use crate::app::App;
use crate::auth::Principal;
use crate::error::{ApiError, Problem};

pub fn build_task_result_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(get_task_results))
}

/// Annotations of a task
#[derive(Debug, Serialize, ToSchema)]
struct ShownResults {
    /// Number of submitted answers of annotators who are not excluded.
    n_answers: usize,
    /// Number of items with an answer.
    n_items: usize,
    /// Number of annotators with an answer.
    n_people: usize,
    /// Over all annotations.
    questions: Vec<ShownQuestion>,
    /// By the value of the requested field.
    groups: Vec<ShownGroup>,
    /// Fields for grouping.
    fields: Vec<String>,
    /// Criteria around a circle; absent with fewer than three.
    radar: Option<ChartView>,
}

/// Answers whose field has one value
#[derive(Debug, Serialize, ToSchema)]
struct ShownGroup {
    /// Value of the field.
    value: String,
    /// Number of submitted answers with this value.
    n_answers: usize,
    /// Results of each question over these answers.
    questions: Vec<ShownQuestion>,
}

/// Annotations of one question
#[derive(Debug, Serialize, ToSchema)]
struct ShownQuestion {
    /// Name of the annotation scheme.
    scheme: String,
    /// Name of the criterion, or of the scheme if it has one question.
    name: String,
    /// Label of the question on pages.
    label: String,
    /// What the figures are: ratings, a computed score, or counts of answers.
    kind: ShownKind,
    /// The ends of its scale, where answers are numbers.
    scale: Option<(f64, f64)>,
    /// In the units of the scale.
    mean: Option<f64>,
    /// 95 % confidence interval of the mean; items count once, however many people rated them.
    interval: Option<(f64, f64)>,
    /// Number of ratings. Each annotator of an item counts.
    n_scored: usize,
    /// Number of answers that the question does not apply. They are not part of the mean.
    n_not_applicable: usize,
    /// Number of annotators who could not tell. They are not part of the mean.
    n_abstained: usize,
    /// How often each answer was given, where answers are labels.
    counts: Vec<ShownCount>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ShownCount {
    /// The answer.
    answer: String,
    /// How often it was given.
    n: usize,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ShownKind {
    Criterion,
    Overall,
    WeightedScore,
    RunningScore,
    Choice,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ResultsBy {
    /// A field of the data, such as `agent`.
    by: Option<String>,
}

/// Criteria that a radar needs to be a shape.
const MIN_AXES: usize = 3;

/// Results of a task: means on the native scale, overall and weighted score, and a radar by any field
#[utoipa::path(get, path = "/tasks/{task}/results", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID), ResultsBy),
    responses(
    (status = 200, body = ShownResults), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_task_results(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(query): Query<ResultsBy>,
) -> Result<Json<ShownResults>, ApiError> {
    let TaskReview { task, answers, hidden } = TaskReview::of(&app, &caller, &id).await?;
    let seen = answers.into_iter().filter(|answer| !hidden.contains(&answer.annotation.item)).collect();
    let results = results_of(&app.store, caller.project, &task.name, seen, query.by.as_deref()).await?;
    Ok(Json(ShownResults::from((results, task.name.as_str()))))
}

impl From<(TaskResults, &str)> for ShownResults {
    fn from((results, title): (TaskResults, &str)) -> Self {
        let is_axis =
            |question: &&QuestionResult| question.kind == QuestionKind::Criterion && question.mean.is_some();
        let n_axes = results.questions.iter().filter(is_axis).count();
        let radar = (MIN_AXES <= n_axes).then(|| ChartView::from(&results_radar(&results, title)));
        Self {
            n_answers: results.n_answers,
            n_items: results.n_items,
            n_people: results.n_people,
            questions: results.questions.into_iter().map(ShownQuestion::from).collect(),
            groups: results.groups.into_iter().map(ShownGroup::from).collect(),
            fields: results.fields,
            radar,
        }
    }
}

impl From<ResultGroup> for ShownGroup {
    fn from(group: ResultGroup) -> Self {
        let questions = group.questions.into_iter().map(ShownQuestion::from).collect();
        Self { value: group.value, n_answers: group.n_answers, questions }
    }
}

impl From<QuestionResult> for ShownQuestion {
    fn from(question: QuestionResult) -> Self {
        Self {
            scheme: question.scheme,
            name: question.name,
            label: question.label,
            kind: match question.kind {
                QuestionKind::Criterion => ShownKind::Criterion,
                QuestionKind::Overall => ShownKind::Overall,
                QuestionKind::WeightedScore => ShownKind::WeightedScore,
                QuestionKind::RunningScore => ShownKind::RunningScore,
                QuestionKind::Choice => ShownKind::Choice,
            },
            scale: question.scale,
            mean: question.mean,
            interval: question.interval,
            n_scored: question.n_scored,
            n_not_applicable: question.n_not_applicable,
            n_abstained: question.n_abstained,
            counts: question.counts.into_iter().map(|(answer, n)| ShownCount { answer, n }).collect(),
        }
    }
}
