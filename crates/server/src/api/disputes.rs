//! Items whose annotators disagree, and the decisions on them.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use jurist_core::annotate::{
    AnswerDraft, BadDecision, DecidedRating, Item, Quote, Rating, Scheme, collect_question_ratings,
    disagreement, list_question_points, parse_decided_rating, rating_unit,
};
use jurist_store::adjudications::{Adjudication, NewAdjudication};
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::labels::NewLabel;
use jurist_store::{ItemId, ProjectId, clock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::{ITEM_ID, TASK_ID};
use super::{Json, Path, Query};
use crate::annotate::{
    AnnotationWithSchemes, TaskDefinition, excluded_accounts, list_hidden_items, load_annotations,
    load_annotator_names, titles,
};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::blocking::block_in_place;
use crate::error::{ApiError, Problem};

pub fn build_dispute_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_disputes)).routes(routes!(list_item_answers)).routes(routes!(decide_dispute))
}

/// List disputes, the largest difference first
#[derive(Debug, Serialize, ToSchema)]
struct Disputes {
    /// Disputes, the largest difference first; decided ones are last.
    items: Vec<Dispute>,
    /// Send it as `after`; absent at the end.
    next: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Dispute {
    /// Id of the item, `itm_…`.
    item: String,
    /// Id of the item in the data.
    candidate: String,
    /// Its first words.
    title: String,
    /// Name of the annotation scheme.
    scheme: String,
    /// Criterion, claim or step; the scheme if it has one question.
    criterion: String,
    /// Label of the question on pages.
    label: String,
    /// From 0 to 1.
    disagreement: f64,
    /// The answers of the annotators.
    ratings: Vec<GivenRating>,
    /// The scale, lowest first.
    #[schema(value_type = Vec<Object>)]
    points: Vec<jurist_core::annotate::ScalePoint>,
    /// The newest decision; `null` if there is none.
    decided: Option<DisputeDecision>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GivenRating {
    /// Id of the annotator's account.
    pub account: String,
    /// Name of the annotator.
    pub name: String,
    /// Answer of the annotator, as `jurist schema annotation` describes it.
    #[schema(value_type = Object)]
    pub rating: Rating,
    /// Comment of the annotator; `null` if there is none.
    pub comment: Option<String>,
    /// Quotes that the annotator marked, as `jurist schema annotation` describes them.
    #[schema(value_type = Vec<Object>)]
    pub evidence: Vec<Quote>,
}

/// A decision of a person
#[derive(Debug, Clone, Serialize, ToSchema)]
struct DisputeDecision {
    /// Name of the annotation scheme.
    scheme: String,
    /// Criterion, claim or step; the scheme if it has one question.
    criterion: String,
    /// The decided answer, such as `{"kind": "scored", "value": 4}`.
    #[schema(value_type = Object)]
    rating: serde_json::Value,
    /// Of a question of several labels: those that are ticked.
    labels: Option<Vec<String>>,
    /// Name of the person who decided; `null` if it is unknown.
    by: Option<String>,
    /// When it was decided, in UTC (RFC 3339).
    time: String,
    /// Reason of the decision; `null` if none was given.
    why: Option<String>,
    /// Cause of the disagreement: `guideline`, `mistake`, `ambiguous` or `other`; `null` if none was given.
    cause: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewDisputeDecision {
    /// The value is an answer of the question; of several labels a list.
    #[schema(value_type = Object)]
    rating: serde_json::Value,
    /// Reason of the decision.
    why: Option<String>,
    /// `guideline`, `mistake`, `ambiguous` or `other`.
    cause: Option<String>,
}

/// All annotations of an item
#[derive(Debug, Serialize, ToSchema)]
struct ItemAnswers {
    /// The item, as `jurist schema annotation` describes it.
    #[schema(value_type = Object)]
    item: Item,
    /// Id of the item in the data.
    candidate: String,
    /// Id of the task.
    task: String,
    /// The questions, as `jurist schema annotation` describes them.
    #[schema(value_type = Vec<Object>)]
    schemes: Vec<Scheme>,
    /// The newest answers of each annotator who is not excluded.
    answers: Vec<AnswerOfPerson>,
    /// Decisions about disputes of this item.
    decisions: Vec<DisputeDecision>,
}

#[derive(Debug, Serialize, ToSchema)]
struct AnswerOfPerson {
    /// Id of the annotator's account.
    account: String,
    /// Name of the annotator.
    name: String,
    /// Answers by scheme, as `jurist schema annotation` describes them.
    #[schema(value_type = Object)]
    draft: AnswerDraft,
    /// Working time in seconds; `null` if it is unknown.
    seconds: Option<f64>,
    /// When it was submitted, in UTC (RFC 3339).
    time: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DisputeListQuery {
    /// `next` of the page before.
    after: Option<usize>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// What one question about one item got.
pub(super) struct QuestionRatings<'a> {
    pub item: ItemId,
    pub candidate: &'a str,
    pub label: String,
    pub points: Vec<jurist_core::annotate::ScalePoint>,
    pub ratings: Vec<GivenRating>,
}

pub(super) type RatingsByQuestion<'a> = BTreeMap<(ItemId, String, String), QuestionRatings<'a>>;

/// Every question that has an answer, by item; of ordinary items.
pub(super) fn group_ratings_by_question<'a>(
    answers: &'a [AnnotationWithSchemes],
    hidden: &BTreeSet<ItemId>,
) -> RatingsByQuestion<'a> {
    let mut questions: RatingsByQuestion<'a> = BTreeMap::new();
    for answer in answers {
        let annotation = &answer.annotation;
        if annotation.role != ItemRole::Item || hidden.contains(&annotation.item) {
            continue;
        }
        for it in collect_question_ratings(&answer.schemes, &answer.draft) {
            let key = (annotation.item, it.scheme.to_owned(), it.criterion.clone());
            let asking = questions.entry(key).or_insert_with(|| QuestionRatings {
                item: annotation.item,
                candidate: &annotation.candidate,
                label: it.label.clone(),
                points: it.points.to_vec(),
                ratings: Vec::new(),
            });
            asking.ratings.push(GivenRating {
                account: annotation.account.to_string(),
                name: answer.name.clone(),
                rating: it.rating,
                comment: it.comment.map(str::to_owned),
                evidence: it.evidence.to_vec(),
            });
        }
    }
    questions
}

/// A task as its owner may look at it.
pub(super) struct TaskReview {
    pub task: Task,
    pub answers: Vec<AnnotationWithSchemes>,
    /// Items that the viewer has still to answer. Other answers to them are hidden, so that the viewer stays blind.
    pub hidden: BTreeSet<ItemId>,
}

impl TaskReview {
    pub async fn of(app: &App, caller: &Principal, id: &str) -> Result<Self, ApiError> {
        caller.needs(AccessScope::Write)?;
        let task = app.store.task(caller.project, id.parse()?).await?;
        let hidden = list_hidden_items(&app.store, caller.project, &task, caller.person).await?;
        let answers = load_annotations(&app.store, caller.project, &task).await?;
        Ok(Self { task, answers, hidden })
    }
}

/// List disputes, the largest difference first
#[utoipa::path(get, path = "/tasks/{task}/disputes", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID), DisputeListQuery),
    responses(
    (status = 200, body = Disputes), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_disputes(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(which): Query<DisputeListQuery>,
) -> Result<Json<Disputes>, ApiError> {
    let project = caller.project;
    let TaskReview { task, answers, hidden } = TaskReview::of(&app, &caller, &id).await?;
    let mut decided =
        collect_newest_decisions(&app, project, app.store.adjudications(project, task.id).await?).await?;
    let differ =
        |((_, scheme, criterion), question_ratings): ((ItemId, String, String), QuestionRatings<'_>)| {
            let ratings: Vec<&Rating> =
                question_ratings.ratings.iter().map(|rating| &rating.rating).collect();
            let disagreement = disagreement(&ratings, &question_ratings.points)
                .filter(|disagreement| 0.0 < *disagreement)?;
            Some(Dispute {
                decided: decided.remove(&(question_ratings.item, scheme.clone(), criterion.clone())),
                item: question_ratings.item.to_string(),
                candidate: question_ratings.candidate.to_owned(),
                title: String::new(),
                scheme,
                criterion,
                label: question_ratings.label,
                disagreement,
                ratings: question_ratings.ratings,
                points: question_ratings.points,
            })
        };
    // Of all answers of the task.
    let mut items: Vec<Dispute> = block_in_place(|| {
        group_ratings_by_question(&answers, &hidden).into_iter().filter_map(differ).collect()
    });
    // Decided disputes come last; of the others, the largest come first, then those with most answers.
    items.sort_by(|a, b| {
        let open = a.decided.is_some().cmp(&b.decided.is_some());
        open.then(b.disagreement.total_cmp(&a.disagreement)).then(b.ratings.len().cmp(&a.ratings.len()))
    });
    let (after, limit) = (which.after.unwrap_or(0), super::limit(which.limit)?);
    let end = after.saturating_add(limit);
    let next = (end < items.len()).then_some(end);
    let mut items: Vec<Dispute> = items.into_iter().skip(after).take(limit).collect();
    let definition = TaskDefinition::of(&app.store, project, task.id, task.version).await?;
    let ids = items.iter().filter_map(|dispute| dispute.item.parse().ok()).collect();
    let titles = titles(&app.store, project, &definition, &ids).await?;
    for it in &mut items {
        it.title = item_title(&titles, &it.item, &it.candidate);
    }
    Ok(Json(Disputes { items, next }))
}

pub(super) fn item_title(titles: &BTreeMap<ItemId, String>, item: &str, candidate: &str) -> String {
    let title = item.parse().ok().and_then(|item: ItemId| titles.get(&item));
    title.map_or(candidate, String::as_str).to_owned()
}

type DecisionsByQuestion = BTreeMap<(ItemId, String, String), DisputeDecision>;

/// The newest decision about each question.
async fn collect_newest_decisions(
    app: &App,
    project: ProjectId,
    all: Vec<Adjudication>,
) -> Result<DecisionsByQuestion, ApiError> {
    let names = load_annotator_names(&app.store, project).await?;
    let one = |adjudication: Adjudication| {
        let text = |key: &str| adjudication.body[key].as_str().map(str::to_owned);
        let decided = DisputeDecision {
            scheme: adjudication.scheme.clone(),
            criterion: adjudication.criterion.clone(),
            rating: adjudication.body["rating"].clone(),
            labels: serde_json::from_value(adjudication.body["labels"].clone()).ok(),
            by: adjudication
                .author
                .map(|account_id| names.get(&account_id).cloned().unwrap_or_else(|| account_id.to_string())),
            time: adjudication.time.to_string(),
            why: text("why"),
            cause: text("cause"),
        };
        ((adjudication.item, adjudication.scheme, adjudication.criterion), decided)
    };
    Ok(all.into_iter().map(one).collect())
}

/// All annotations of an item; hidden from annotators who have not answered it yet
#[utoipa::path(get, path = "/items/{item}/answers", tag = "tasks",
    params(("item" = String, Path, description = ITEM_ID)), responses(
    (status = 200, body = ItemAnswers), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_item_answers(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<ItemAnswers>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let project = caller.project;
    let item = app.store.item(project, id.parse()?).await?;
    let task = app.store.task(project, item.task).await?;
    if list_hidden_items(&app.store, project, &task, caller.person).await?.contains(&item.id) {
        return Err(ApiError::Forbidden(
            "answer this item first; then you can see the other answers".to_owned(),
        ));
    }
    let definition = TaskDefinition::of(&app.store, project, task.id, task.version).await?;
    let (item_view, schemes) = definition.about(&app.store, project, &item, None).await?;
    let names = load_annotator_names(&app.store, project).await?;
    let mut newest = BTreeMap::new();
    for it in app.store.annotations_of(project, item.id).await? {
        newest.insert(it.account, it);
    }
    let excluded = excluded_accounts(&task);
    newest.retain(|account, _| !excluded.contains(account));
    let answers = newest.into_values().map(|submitted_annotation| AnswerOfPerson {
        account: submitted_annotation.account.to_string(),
        name: names.get(&submitted_annotation.account).unwrap_or(&submitted_annotation.name).clone(),
        draft: serde_json::from_value(submitted_annotation.body).unwrap_or_default(),
        seconds: submitted_annotation.seconds,
        time: submitted_annotation.time.to_string(),
    });
    let decided =
        collect_newest_decisions(&app, project, app.store.adjudications_of(project, item.id).await?).await?;
    Ok(Json(ItemAnswers {
        item: item_view,
        candidate: item.candidate.clone(),
        task: task.id.to_string(),
        schemes,
        answers: answers.collect(),
        decisions: decided.into_values().collect(),
    }))
}

/// Resolve a disagreement; the decision becomes the label
#[utoipa::path(put, path = "/items/{item}/decisions/{scheme}/{criterion}", tag = "tasks",
    params(
        ("item" = String, Path, description = ITEM_ID),
        ("scheme" = String, Path, description = "Name of the annotation scheme in the task"),
        ("criterion" = String, Path, description = "Criterion, claim or step; the scheme if it has one question")
    ),
    request_body = NewDisputeDecision, responses(
    (status = 200, body = DisputeDecision), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem), (status = 422, body = Problem)
))]
async fn decide_dispute(
    State(app): State<App>,
    caller: Principal,
    Path((item, scheme, criterion)): Path<(String, String, String)>,
    Json(new): Json<NewDisputeDecision>,
) -> Result<Json<DisputeDecision>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let (project, now) = (caller.project, clock::current_time());
    let item = app.store.item(project, item.parse()?).await?;
    let task = app.store.task(project, item.task).await?;
    if list_hidden_items(&app.store, project, &task, caller.person).await?.contains(&item.id) {
        return Err(ApiError::Forbidden(
            "answer this item first; then you can decide the dispute".to_owned(),
        ));
    }
    if let Some(cause) = &new.cause
        && !["guideline", "mistake", "ambiguous", "other"].contains(&cause.as_str())
    {
        return Err(ApiError::bad("`cause` is one of guideline, mistake, ambiguous, other"));
    }
    let definition = TaskDefinition::of(&app.store, project, task.id, task.version).await?;
    let (_, schemes) = definition.about(&app.store, project, &item, None).await?;
    let decided = parse_decided_rating(&schemes, &scheme, &criterion, &new.rating);
    let DecidedRating { rating, labels } = decided.map_err(|error| match error {
        BadDecision::NotAsked { .. } => ApiError::Unknown(error.to_string()),
        BadDecision::Shape => ApiError::bad(error.to_string()),
        BadDecision::Value(_) => ApiError::Senseless(error.to_string()),
    })?;
    let points = list_question_points(&schemes, &scheme, &criterion).unwrap_or_default();
    let mut body = json!({ "rating": rating, "why": new.why, "cause": new.cause });
    if let Some(labels) = labels {
        body["labels"] = json!(labels);
    }
    let adjudication = NewAdjudication {
        task: task.id,
        item: item.id,
        scheme: scheme.clone(),
        criterion: criterion.clone(),
        body,
        author: caller.responsible_person(),
    };
    let label = match (&rating, definition.rubrics.get(&scheme)) {
        (Rating::Scored { value }, Some(graded)) => Some(NewLabel {
            candidate: item.candidate.clone(),
            rubric_version: graded.id.clone(),
            criterion: criterion.clone(),
            value: value.clone(),
            unit: rating_unit(&points, &rating),
            origin: "adjudicated".to_owned(),
            author: caller.responsible_person(),
        }),
        _ => None,
    };
    let stored = app.store.adjudicate(project, &adjudication, label.as_ref(), now).await?;
    record_audit_entry(
        &app,
        &caller,
        "task.decide",
        &item.id,
        json!({ "scheme": scheme, "criterion": criterion }),
    )
    .await?;
    let decided = collect_newest_decisions(&app, project, vec![stored]).await?;
    decided.into_values().next().map(Json).ok_or(ApiError::Broken)
}
