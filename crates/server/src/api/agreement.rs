//! Activity of annotators, and their agreement with each other and with judges.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use jurist_core::annotate::{ExcludedAnnotator, Rating, ScalePoint};
use jurist_core::grade::{GraderKind, Outcome, Value};
use jurist_core::stats::agreement::{
    AlphaWithoutGrader, Level, Ratings, align, conclude_agreement, summarise_agreement,
};
use jurist_core::stats::basics::CoefficientResult;
use jurist_engine::background::run_on_blocking_thread;
use jurist_store::annotate::Task;
use jurist_store::{AccountId, ItemId, ProjectId, clock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::audit::record_audit_entry;
use super::disputes::{TaskReview, group_ratings_by_question, item_title};
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::{ACCOUNT_ID, TASK_ID};
use super::{Json, Path};
use crate::annotate::{
    AnnotationWithSchemes, TaskDefinition, load_all_annotations, parse_task_settings, people_of,
    set_excluded_annotators, titles,
};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

pub fn build_agreement_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_task_annotators))
        .routes(routes!(update_task_annotator))
        .routes(routes!(get_task_agreement))
}

/// Activity of annotators
#[derive(Debug, Serialize, ToSchema)]
struct AnnotatorActivityList {
    /// Annotators with at least one answer.
    items: Vec<AnnotatorActivity>,
}

#[derive(Debug, Serialize, ToSchema)]
struct AnnotatorActivity {
    /// Id of the annotator's account.
    account: String,
    /// Name of the annotator.
    name: String,
    /// Number of ordinary items that the annotator has answered, without training, gold and attention items.
    n_done: usize,
    /// Median working time per answer in seconds, training, gold and attention items included; `null` if no time is
    /// known.
    median_seconds: Option<f64>,
    /// Number of answers under the minimum time, training, gold and attention items included.
    too_fast: usize,
    /// Gold items: correct answers of all answers.
    gold: CorrectCount,
    /// Attention checks: correct answers of all answers.
    attention: CorrectCount,
    /// Training items: correct answers of all answers.
    training: CorrectCount,
    /// When the last answer was submitted, in UTC (RFC 3339); `null` if there is none.
    last: Option<String>,
    /// Change of the mean rating during the work; `null` for fewer than ten answers.
    drift: Option<RatingDrift>,
    /// Signs of careless work, one sentence each; empty if there are none.
    warnings: Vec<String>,
    /// Whether the answers of this annotator are left out of disputes, agreement, results and labels.
    excluded: bool,
    /// Why the answers are left out; absent if no reason was given.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AnnotatorChange {
    /// Whether the answers of this annotator are left out of disputes, agreement, results and labels.
    excluded: bool,
    /// Why the answers are left out.
    reason: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CorrectCount {
    /// Number of correct answers.
    right: usize,
    /// Number of answers.
    all: usize,
}

/// An annotator's mean rating from 0 to 1, in the first and second half of their work
#[derive(Debug, Serialize, ToSchema)]
struct RatingDrift {
    /// Mean rating in the first half of the work, from 0 to 1.
    first: f64,
    /// Mean rating in the second half of the work, from 0 to 1.
    second: f64,
}

/// Agreement between people
#[derive(Debug, Serialize, ToSchema)]
struct TaskAgreement {
    /// Agreement of all annotators on each criterion.
    criteria: Vec<CriterionAgreement>,
    /// Agreement of each pair of annotators on each criterion.
    pairs: Vec<AnnotatorPairAgreement>,
    /// Agreement of the others without each annotator, for each criterion.
    people: Vec<AlphaWithoutPerson>,
    /// Agreement of each judge with the annotators on each criterion.
    judge: Vec<JudgeAgreement>,
}

#[derive(Debug, Serialize, ToSchema)]
struct CriterionAgreement {
    /// Name of the annotation scheme.
    scheme: String,
    /// Name of the criterion.
    criterion: String,
    /// Label of the criterion on pages.
    label: String,
    /// Measure of agreement: `alpha` is Krippendorff's alpha.
    metric: &'static str,
    /// Agreement from -1 to 1: 1 is perfect, 0 is chance level; `null` if it cannot be computed.
    value: Option<f64>,
    /// 95 % confidence interval of the value; `null` for fewer than ten items.
    interval: Option<(f64, f64)>,
    /// Why there is no value.
    undefined: Option<String>,
    /// What the value and its interval allow to say: `good`, `tentative`, `unclear` (more answers are needed) or `low`.
    strength: &'static str,
    /// The same in words, as `jurist agree` prints it.
    conclusion: String,
    /// Number of items that at least two annotators answered.
    n_items: usize,
    /// Number of pairs of annotators who answered common items.
    n_pairs: usize,
}

#[derive(Debug, Serialize, ToSchema)]
struct AnnotatorPairAgreement {
    /// Name of the first annotator.
    a: String,
    /// Name of the second annotator.
    b: String,
    /// Criterion that the value is about.
    criterion: String,
    /// Quadratic kappa of numbers, kappa of labels.
    value: Option<f64>,
    /// Number of items that both answered.
    n: usize,
    /// Why there is no value; `null` if there is one.
    undefined: Option<String>,
}

/// Alpha without one of the graders
#[derive(Debug, Serialize, ToSchema)]
struct AlphaWithoutPerson {
    /// Name of the annotator who is left out.
    name: String,
    /// Criterion that the value is about.
    criterion: String,
    /// Krippendorff's alpha of the other annotators, from -1 to 1; `null` if it cannot be computed.
    leave_out: Option<f64>,
    /// Why there is no value; `null` if there is one.
    undefined: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct JudgeAgreement {
    /// Criterion that the values are about.
    criterion: String,
    /// Name of the judge.
    judge: String,
    /// Cohen's kappa between the judge and the human majority, from -1 to 1, weighted quadratically on numeric scales;
    /// `null` if it cannot be computed.
    kappa: Option<f64>,
    /// 95 % confidence interval of kappa; `null` if there are too few items.
    interval: Option<(f64, f64)>,
    /// Why there is no kappa; `null` if there is one.
    undefined: Option<String>,
    /// Counts of answers of the judge against the human majority; `null` if there is no common item.
    confusion: Option<ConfusionCounts>,
    /// Items on which the judge differs from an annotator, the largest difference first.
    disagreements: Vec<JudgeHumanDisagreement>,
}

/// Confusion matrix: rows are the human majority, columns the judge
#[derive(Debug, Serialize, ToSchema)]
struct ConfusionCounts {
    /// Answers, in the order of the rows and columns.
    labels: Vec<String>,
    /// Number of items for each pair of answers: one list for each answer of the people, with one number for each
    /// answer of the judge.
    counts: Vec<Vec<usize>>,
}

#[derive(Debug, Serialize, ToSchema)]
struct JudgeHumanDisagreement {
    /// Id of the item, `itm_…`; empty if it is not an item of the task.
    item: String,
    /// Id of the item in the data.
    candidate: String,
    /// Its first words.
    title: String,
    /// Answer of the judge.
    judge: String,
    /// Answers of the annotators.
    people: Vec<String>,
    /// Reason of the judge; `null` if it gave none.
    reason: Option<String>,
}

/// Activity of annotators: answers, pace, missed gold items and attention checks, warnings
#[utoipa::path(get, path = "/tasks/{task}/people", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID)), responses(
    (status = 200, body = AnnotatorActivityList), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_task_annotators(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<AnnotatorActivityList>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let task = app.store.task(caller.project, id.parse()?).await?;
    let items = load_annotator_activities(&app, caller.project, &task).await?;
    Ok(Json(AnnotatorActivityList { items }))
}

async fn load_annotator_activities(
    app: &App,
    project: ProjectId,
    task: &Task,
) -> Result<Vec<AnnotatorActivity>, ApiError> {
    let answers = load_all_annotations(&app.store, project, task).await?;
    let excluded = parse_task_settings(task).excluded;
    let of = |(right, all): (usize, usize)| CorrectCount { right, all };
    let activities = people_of(task, &answers).into_iter().map(|(account, annotator_summary)| {
        let account = account.to_string();
        let exclusion = excluded.iter().find(|annotator| annotator.account == account);
        AnnotatorActivity {
            name: annotator_summary.name,
            n_done: annotator_summary.n_done,
            median_seconds: annotator_summary.median_seconds,
            too_fast: annotator_summary.n_too_fast,
            gold: of(annotator_summary.gold),
            attention: of(annotator_summary.attention),
            training: of(annotator_summary.training),
            last: annotator_summary.last.map(|time| time.to_string()),
            drift: annotator_summary.halves.map(|(first, second)| RatingDrift { first, second }),
            warnings: annotator_summary.warnings,
            excluded: exclusion.is_some(),
            reason: exclusion.and_then(|annotator| annotator.reason.clone()),
            account,
        }
    });
    Ok(activities.collect())
}

/// Exclude an annotator, or include them again
///
/// Answers of an excluded annotator stay stored. They are left out of disputes, agreement, results and labels, and the
/// export of the task marks them.
#[utoipa::path(patch, path = "/tasks/{task}/people/{account}", tag = "tasks",
    params(
        ("task" = String, Path, description = TASK_ID),
        ("account" = String, Path, description = ACCOUNT_ID)
    ),
    request_body = AnnotatorChange, responses(
    (status = 200, body = AnnotatorActivity), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn update_task_annotator(
    State(app): State<App>,
    caller: Principal,
    Path((id, account)): Path<(String, String)>,
    Json(change): Json<AnnotatorChange>,
) -> Result<Json<AnnotatorActivity>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let project = caller.project;
    let task = app.store.task(project, id.parse()?).await?;
    let account: AccountId = account.parse()?;
    let answered = app.store.progress_by_annotator(project, task.id).await?;
    if !answered.iter().any(|annotator| annotator.account == account) {
        return Err(ApiError::Unknown(format!("`{account}` has no answers in this task")));
    }
    let mut excluded = parse_task_settings(&task).excluded;
    excluded.retain(|annotator| annotator.account != account.to_string());
    if change.excluded {
        let reason = change.reason.clone();
        excluded.push(ExcludedAnnotator { account: account.to_string(), reason });
    }
    let task = set_excluded_annotators(&app.store, project, &task, &excluded, clock::current_time()).await?;
    app.outputs.rewrite_answers(&app.store, project, &task, account).await;
    record_audit_entry(
        &app,
        &caller,
        "task.person",
        &account,
        json!({ "task": task.id.to_string(), "excluded": change.excluded, "reason": change.reason }),
    )
    .await?;
    let activities = load_annotator_activities(&app, project, &task).await?;
    let changed = activities.into_iter().find(|activity| activity.account == account.to_string());
    changed.map(Json).ok_or(ApiError::Broken)
}

/// Agreement between people, with each other and with judges
#[utoipa::path(get, path = "/tasks/{task}/agreement", tag = "tasks",
    params(("task" = String, Path, description = TASK_ID)), responses(
    (status = 200, body = TaskAgreement), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_task_agreement(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<TaskAgreement>, ApiError> {
    let project = caller.project;
    let TaskReview { task, answers, hidden } = TaskReview::of(&app, &caller, &id).await?;
    let definition = TaskDefinition::of(&app.store, project, task.id, task.version).await?;
    let candidates: BTreeSet<&str> =
        answers.iter().map(|annotation| annotation.annotation.candidate.as_str()).collect();
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let judges = load_judge_answers(&app, project, &definition, &candidates).await?;
    let agreement = run_on_blocking_thread(move || compute_task_agreement(&answers, &hidden, &judges)).await;
    let mut agreement: TaskAgreement = agreement.map_err(|_| ApiError::Broken)?;
    let mut apart: Vec<&mut JudgeHumanDisagreement> =
        agreement.judge.iter_mut().flat_map(|judge| &mut judge.disagreements).collect();
    let items = apart
        .iter()
        .filter_map(|judge_human_disagreement| judge_human_disagreement.item.parse().ok())
        .collect();
    let titles = titles(&app.store, project, &definition, &items).await?;
    for it in &mut apart {
        it.title = item_title(&titles, &it.item, &it.candidate);
    }
    Ok(Json(agreement))
}

/// The answer of a judge about a candidate.
struct JudgeRating {
    judge: String,
    candidate: String,
    value: Value,
    reason: String,
}

/// Answers of judges, by scheme and criterion.
type JudgeAnswersByCriterion = BTreeMap<(String, String), Vec<JudgeRating>>;

async fn load_judge_answers(
    app: &App,
    project: ProjectId,
    definition: &TaskDefinition,
    candidates: &[&str],
) -> Result<JudgeAnswersByCriterion, ApiError> {
    let mut answers = JudgeAnswersByCriterion::new();
    for (scheme, graded) in &definition.rubrics {
        let grades = app.store.grades_by(project, &graded.id, GraderKind::Judge, candidates).await?;
        for grade in grades {
            if let Outcome::Scored { value, .. } = grade.outcome {
                let answer = JudgeRating {
                    judge: grade.grader.name,
                    candidate: grade.candidate,
                    value,
                    reason: grade.reason.as_str().to_owned(),
                };
                answers.entry((scheme.clone(), grade.criterion)).or_default().push(answer);
            }
        }
    }
    Ok(answers)
}

/// Seed of the bootstrap. `jurist agree` has the same one, so that the same answers give the same interval in both.
const SEED: u64 = 0;

/// The answer of a person about a candidate.
struct PersonRating<'a> {
    person: String,
    candidate: &'a str,
    value: Value,
}

impl PersonRating<'_> {
    /// Rater, candidate and answer.
    fn to_entry(&self) -> (&str, &str, Value) {
        (self.person.as_str(), self.candidate, self.value.clone())
    }
}

/// What people answered about one criterion.
struct RatedCriterion<'a> {
    label: String,
    ratings: Vec<PersonRating<'a>>,
}

fn compute_task_agreement(
    answers: &[AnnotationWithSchemes],
    hidden: &BTreeSet<ItemId>,
    judges: &JudgeAnswersByCriterion,
) -> TaskAgreement {
    let mut agreement =
        TaskAgreement { criteria: Vec::new(), pairs: Vec::new(), people: Vec::new(), judge: Vec::new() };
    let all = group_ratings_by_question(answers, hidden);
    let mut scales: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
    let mut by_criterion: BTreeMap<(&str, &str), RatedCriterion<'_>> = BTreeMap::new();
    let mut items: BTreeMap<&str, ItemId> = BTreeMap::new();
    for ((item, scheme, criterion), asking) in &all {
        items.insert(asking.candidate, *item);
        scales
            .extend(declared_scale(&asking.points).map(|ends| ((scheme.as_str(), criterion.as_str()), ends)));
        let of = by_criterion
            .entry((scheme, criterion))
            .or_insert_with(|| RatedCriterion { label: asking.label.clone(), ratings: Vec::new() });
        for rating in &asking.ratings {
            if let Rating::Scored { value } = &rating.rating {
                let (person, value) = (rating.name.clone(), value.clone());
                of.ratings.push(PersonRating { person, candidate: asking.candidate, value });
            }
        }
    }
    for ((scheme, criterion), RatedCriterion { label, ratings: entries }) in &by_criterion {
        let is_ordered = entries.iter().all(|entry| matches!(entry.value, Value::Number(_)));
        let level = if is_ordered { Level::Ordinal } else { Level::Nominal };
        let rated = Ratings::of_entries(entries.iter().map(PersonRating::to_entry));
        let scale = scales.get(&(*scheme, *criterion)).copied();
        let Ok(ratings) = rated.map(|ratings| with_levels(ratings, scale)) else { continue };
        let summary = summarise_agreement(&ratings, level, SEED);
        let undefined = |coefficient: &CoefficientResult| match coefficient {
            CoefficientResult::Undefined { undefined } => Some(undefined.clone()),
            CoefficientResult::Known(_) => None,
        };
        let alpha = &summary.krippendorff_alpha;
        let without = summary.without.iter();
        let without =
            without.map(|(name, alpha)| AlphaWithoutGrader { grader: name.clone(), alpha: alpha.value() });
        let conclusion = conclude_agreement(alpha, summary.n_items, &without.collect::<Vec<_>>());
        agreement.criteria.push(CriterionAgreement {
            scheme: (*scheme).to_owned(),
            criterion: (*criterion).to_owned(),
            label: label.clone(),
            metric: "alpha",
            value: alpha.value(),
            interval: alpha.interval(),
            undefined: undefined(alpha),
            strength: conclusion.strength.as_str(),
            conclusion: conclusion.text,
            n_items: summary.n_items,
            n_pairs: summary.pairs.len(),
        });
        agreement.pairs.extend(summary.pairs.iter().map(|pair| AnnotatorPairAgreement {
            a: pair.raters.0.clone(),
            b: pair.raters.1.clone(),
            criterion: (*criterion).to_owned(),
            value: pair.kappa.value(),
            n: pair.n,
            undefined: undefined(&pair.kappa),
        }));
        agreement.people.extend(summary.without.iter().map(|(name, alpha)| AlphaWithoutPerson {
            name: name.clone(),
            criterion: (*criterion).to_owned(),
            leave_out: alpha.value(),
            undefined: undefined(alpha),
        }));
        let judged = judges.get(&((*scheme).to_owned(), (*criterion).to_owned()));
        let names: BTreeSet<&str> =
            judged.into_iter().flatten().map(|judged| judged.judge.as_str()).collect();
        for name in names {
            let theirs: Vec<_> = judged.into_iter().flatten().filter(|judged| judged.judge == name).collect();
            agreement.judge.push(compare_judge_with_people(
                criterion,
                name,
                entries,
                &theirs,
                (level, scale),
                &items,
            ));
        }
    }
    agreement
}

/// The ends of a scale of numbers.
fn declared_scale(points: &[ScalePoint]) -> Option<(f64, f64)> {
    let number = |point: &ScalePoint| match point.value {
        Value::Number(number) => Some(number),
        _ => None,
    };
    let numbers = points.iter().map(number).collect::<Option<Vec<f64>>>()?;
    let ends = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
        (low.min(*number), high.max(*number))
    });
    (2 <= numbers.len()).then_some(ends)
}

/// Adds the levels that no rater used; a judge may have answered on another scale, and then only used ones count.
fn with_levels(ratings: Ratings, scale: Option<(f64, f64)>) -> Ratings {
    scale.and_then(|(low, high)| ratings.on_scale(low, high).ok()).unwrap_or(ratings)
}

/// Compares a judge with people.
fn compare_judge_with_people(
    criterion: &str,
    judge: &str,
    people: &[PersonRating<'_>],
    judged: &[&JudgeRating],
    (level, scale): (Level, Option<(f64, f64)>),
    items: &BTreeMap<&str, ItemId>,
) -> JudgeAgreement {
    // No annotator can have this name.
    let rater = format!("\0{judge}");
    let answers_of_judge =
        judged.iter().map(|judged| (rater.as_str(), judged.candidate.as_str(), judged.value.clone()));
    let entries = people.iter().map(PersonRating::to_entry).chain(answers_of_judge);
    let aligned = Ratings::of_entries(entries).and_then(|ratings| {
        let ratings = with_levels(ratings, scale);
        let humans: Vec<usize> =
            (0..ratings.n_raters()).filter(|index| ratings.raters()[*index] != rater).collect();
        let judge = ratings.rater(&rater).unwrap_or(0);
        align(&ratings, judge, &humans, level, SEED)
    });
    let mut agreement = JudgeAgreement {
        criterion: criterion.to_owned(),
        judge: judge.to_owned(),
        kappa: None,
        interval: None,
        undefined: None,
        confusion: None,
        disagreements: Vec::new(),
    };
    match aligned {
        Err(error) => agreement.undefined = Some(error.0),
        Ok(alignment) => {
            let with = &alignment.with_consensus;
            let kappa = if level == Level::Nominal { &with.kappa } else { &with.kappa_quadratic };
            (agreement.kappa, agreement.interval) = (kappa.value(), kappa.interval());
            if let CoefficientResult::Undefined { undefined } = kappa {
                agreement.undefined = Some(undefined.clone());
            }
            let counts = alignment.confusion;
            agreement.confusion = Some(ConfusionCounts { labels: counts.labels, counts: counts.counts });
            let apart =
                alignment.disagreements.into_iter().take(50).map(|disagreement| JudgeHumanDisagreement {
                    item: items.get(disagreement.item.as_str()).map(ToString::to_string).unwrap_or_default(),
                    reason: judged
                        .iter()
                        .find(|answer| answer.candidate == disagreement.item)
                        .map(|answer| answer.reason.clone()),
                    candidate: disagreement.item,
                    title: String::new(),
                    judge: disagreement.judge,
                    people: disagreement.humans,
                });
            agreement.disagreements = apart.collect();
        }
    }
    agreement
}
