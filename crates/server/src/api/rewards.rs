//! Rewards for trainers on other machines: receives completions, returns scores and reasons. Only the cost is stored.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use jurist_core::grade::{Outcome, VerdictStatus};
use jurist_core::report::variant_in_words;
use jurist_core::rubric::Polarity;
use jurist_core::run::{CaseResult, RunId};
use jurist_core::suite::Judge;
use jurist_engine::execute::{GradingEvent, StopCondition, StoredOutputs, execute};
use jurist_store::clock;
use jurist_store::random;
use jurist_store::spend::Limit;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use utoipa::ToSchema;

use super::Json;
use super::endpoints::{ApiRoutes, routes};
use super::file_checks::{SingleRubric, load_single_rubric};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::work::{NewRun, ProjectBudget};

/// Completions of one request.
const MAX_COMPLETIONS: usize = 1024;

/// Completions that are graded at the same time; rate limiters of the judges apply as well.
const AT_ONCE: usize = 64;

/// Share of the time limit of a request after which no further completion is begun, so that the answer is not lost.
const SHARE_OF_TIME: f64 = 0.9;

/// Why money is spent, in the list of expenses.
const PURPOSE: &str = "reward";

pub fn build_reward_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(grade_rewards))
}

/// Completions to grade by one rubric
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RewardRequest {
    /// A file with one rubric, in any dialect.
    #[schema(example = "criteria: [{name: greets, description: It greets.}]")]
    rubric: String,
    /// Format of the rubric, such as `agentv` or `promptfoo`; found from its content by default.
    #[serde(default)]
    dialect: Option<String>,
    /// Instead of the judge that the file names, or the usual one.
    #[serde(default)]
    judge: Option<String>,
    /// Texts to grade, in the order of the scores.
    #[schema(min_items = 1, max_items = 1024)]
    completions: Vec<RewardCompletion>,
    /// Dollars that the request may cost.
    #[serde(default)]
    #[schema(minimum = 0)]
    max_cost: Option<f64>,
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RewardCompletion {
    /// Prompt that the text answers.
    #[serde(default)]
    #[schema(example = "Say hello.")]
    prompt: String,
    /// Text that is graded.
    #[schema(example = "Hello!")]
    completion: String,
    /// A reference answer, for all completions of a request or for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

/// Scores in the order of the completions
#[derive(Debug, Serialize, ToSchema)]
struct RewardScores {
    /// One for each completion, in their order.
    rewards: Vec<Reward>,
    /// Dollars; absent where a price is not known.
    cost: Option<f64>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Reward {
    /// On 0 to 1; 0 if a gate failed. Absent where a grader failed or was not asked: such a completion has no reward, which is not 0.
    score: Option<f64>,
    /// pass, fail, error or deferred.
    #[schema(example = "pass")]
    status: String,
    /// Contribution of each graded criterion to the score.
    criteria: BTreeMap<String, f64>,
    /// Why, a line per criterion that has a reason or an error.
    reasons: Vec<String>,
}

/// Grade completions by a rubric and return their scores as rewards
#[utoipa::path(post, path = "/reward", tag = "rewards", request_body = RewardRequest, responses(
    (status = 200, body = RewardScores), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 413, body = Problem), (status = 415, body = Problem),
    (status = 422, body = Problem, description = "The rubric is not valid")
))]
async fn grade_rewards(
    State(app): State<App>,
    caller: Principal,
    Json(request): Json<RewardRequest>,
) -> Result<Json<RewardScores>, ApiError> {
    caller.needs(AccessScope::Write)?;
    let n = request.completions.len();
    if !(1..=MAX_COMPLETIONS).contains(&n) {
        return Err(ApiError::Bad(format!("`completions` are from 1 to {MAX_COMPLETIONS}")));
    }
    let n_references = request.completions.iter().filter(|completion| completion.reference.is_some()).count();
    if n_references != 0 && n_references != n {
        let text = format!(
            "{n_references} of {n} completions have a `reference`; give one to all of them, or to none"
        );
        return Err(ApiError::Bad(text));
    }
    let mut one = load_single_rubric(&request.rubric, request.dialect.clone())?;
    if let Some(model) = &request.judge {
        one.judge = Judge { model: Some(model.clone()), calls: one.judge.calls, ..Judge::default() };
    }
    let run = NewRun { max_cost: request.max_cost, ..build_reward_run(&one, &request.completions) };
    let prepared = app.worker_context.prepare(run).await?;
    let id = RunId::new(clock::current_time(), random());
    let budget = ProjectBudget::new(&app.worker_context, caller.project, PURPOSE, id.to_string())
        .with_limit(prepared.submission.cap().map(Limit::InAll));
    let context = prepared.call_context(Arc::new(budget), StoredOutputs::default());
    let time = app.settings.connections.request_time.mul_f64(SHARE_OF_TIME);
    let until = StopCondition { deadline: Some(Instant::now() + time), ..StopCondition::default() };
    let (graded, mut coming) = mpsc::channel::<(usize, Box<CaseResult>)>(AT_ONCE);
    let listen = async move |event: GradingEvent| {
        if let GradingEvent::Graded { at, result, .. } = event {
            let _ = graded.send((at, result)).await;
        }
    };
    let grading = execute(prepared.jobs.clone(), &context, AT_ONCE, until, std::future::pending(), listen);
    let collecting = async {
        let mut results: BTreeMap<usize, Box<CaseResult>> = BTreeMap::new();
        while let Some((at, result)) = coming.recv().await {
            results.insert(at, result);
        }
        results
    };
    let (_, results) = tokio::join!(grading, collecting);
    let costs = results.values().map(|result| result.spend.cost.map(|cost| cost.nanos() as f64 / 1e9));
    let cost = costs.sum::<Option<f64>>();
    let rewards =
        (0..n).map(|at| results.get(&at).map_or_else(Reward::missing, |result| Reward::of(&one, result)));
    Ok(Json(RewardScores { rewards: rewards.collect(), cost }))
}

/// A suite with a row for each completion. Texts are values of rows, so that no template in them is filled.
fn build_reward_run(one: &SingleRubric, completions: &[RewardCompletion]) -> NewRun {
    let lines: Vec<String> = completions
        .iter()
        .map(|completion| serde_json::to_string(completion).expect("texts are plain data"))
        .collect();
    let mut case = json!({
        "name": "completion", "data": "completions.jsonl", "prompt": "{{ row.prompt }}",
        "response": "{{ row.completion }}", "rubric": one.rubric.to_json(),
    });
    if completions.iter().any(|completion| completion.reference.is_some()) {
        case["expected"] = Value::from("{{ row.reference }}");
    }
    let judges: Map<String, Value> =
        one.judges.iter().map(|(name, judge)| (name.clone(), judge.to_json())).collect();
    let suite = json!({ "name": "rewards", "judge": one.judge.to_json(), "judges": judges, "evals": [case] });
    let files = BTreeMap::from([
        ("suite.json".to_owned(), suite.to_string()),
        ("completions.jsonl".to_owned(), lines.join("\n")),
    ]);
    NewRun { suite: "suite.json".to_owned(), files, ..NewRun::default() }
}

/// Whether a criterion states what must not hold, so that 0 is the best answer.
fn is_negative(one: &SingleRubric, criterion: &str) -> bool {
    let question = one.rubric.questions().find(|question| question.id() == criterion);
    question.is_some_and(|question| {
        question.criterion.polarity != Polarity::Plain || question.criterion.weight < 0.0
    })
}

impl Reward {
    /// Of a completion that was not begun before the time of the request ended.
    fn missing() -> Self {
        let reasons =
            vec!["the time limit of the request was reached; send fewer completions at once".to_owned()];
        Self { score: None, status: "deferred".to_owned(), criteria: BTreeMap::new(), reasons }
    }

    fn of(one: &SingleRubric, result: &CaseResult) -> Self {
        let is_decided = matches!(result.verdict.status, VerdictStatus::Pass | VerdictStatus::Fail);
        let (mut criteria, mut reasons) = (BTreeMap::new(), Vec::new());
        for grade in &result.grades {
            if let Some(unit) = grade.outcome.unit() {
                let worth = if is_negative(one, &grade.criterion) { 1.0 - unit } else { unit };
                criteria.insert(grade.criterion.clone(), worth);
            }
            let text = match &grade.outcome {
                Outcome::Scored { .. } | Outcome::NotApplicable => grade.reason.as_str().to_owned(),
                Outcome::Abstained { why } => format!("cannot assess: {why}"),
                Outcome::Failed { failure, detail } => format!("{}: {detail}", variant_in_words(failure)),
                Outcome::Deferred { why } => match grade.reason.as_str() {
                    "" => format!("not asked: {}", variant_in_words(why)),
                    reason => format!("not asked: {}: {reason}", variant_in_words(why)),
                },
            };
            if !text.is_empty() {
                reasons.push(format!("{}: {text}", grade.criterion));
            }
        }
        // Whatever the rest is worth, a trainer must not learn to fail a gate.
        let is_gated = !result.verdict.failed_gates.is_empty();
        let score = if is_gated { Some(0.0) } else { result.verdict.score };
        Self {
            score: score.filter(|_| is_decided),
            status: variant_in_words(&result.verdict.status),
            criteria,
            reasons,
        }
    }
}
