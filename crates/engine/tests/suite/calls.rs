//! Calls before a real server: what a refusal, an outage, a batch and a cap make of the calls that follow.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jurist_core::candidate::JudgeInput;
use jurist_core::dialect::{ModelPrice, ProjectSettings};
use jurist_core::grade::{Deferral, Failure, Outcome, Usd, VerdictStatus};
use jurist_core::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use jurist_core::suite::{Calls, Judge};
use jurist_engine::batch::BatchClient;
use jurist_engine::call::ModelClient;
use jurist_engine::judge::{JudgeCase, JudgeDecision, JudgeModel, MAX_TOKENS, ResolvedJudges};
use jurist_engine::model::forms::{FORM_LIFETIME, FormMemory};
use jurist_engine::model::resolve::Resolver;
use jurist_engine::model::{
    BoxFuture, LanguageModel, ModelEndpoint, ModelError, ModelErrorKind, ModelReply, Request,
};
use serde_json::{Value as Json, json};

use crate::server::{Act, Server};

const GOOD: &str = r#"{"reasoning": "it names Paris", "score": 0.5}"#;

fn settings(model: &str) -> ProjectSettings {
    let price = ModelPrice { input: 1.0, cached_input: 0.5, output: 2.0 };
    ProjectSettings { prices: [(model.to_owned(), price)].into(), ..ProjectSettings::default() }
}

fn resolver(model: &str, server: &Server) -> Resolver {
    let key = |name: &str| name.ends_with("KEY").then(|| "sk-test-secret".to_owned());
    Resolver::new(settings(model), key).unwrap().with_trusted_address(Some(&server.url))
}

/// A judge at the test server, by its vendor and name; its price is 1 and 2 dollars per million tokens.
fn judge_at(model: &str, server: &Server, resolver: &Resolver) -> ResolvedJudges {
    let judge = Judge {
        model: Some(model.to_owned()),
        base_url: Some(server.url.clone()),
        timeout: Some(5.0),
        ..Judge::default()
    };
    bench_of(resolver.resolve_endpoint(&judge).unwrap())
}

fn bench(model: &str, server: &Server) -> ResolvedJudges {
    judge_at(model, server, &resolver(model, server))
}

fn bench_of(line: ModelEndpoint) -> ResolvedJudges {
    let member = JudgeModel { line: Arc::new(line), temperature: Some(0.0), max_tokens: MAX_TOKENS, draw: 0 };
    ResolvedJudges {
        members: vec![member],
        criteria: Default::default(),
        combine: None,
        escalate: None,
        calls: Calls::PerCriterion,
        mappings: Default::default(),
        seed: 7,
        text_services: None,
        programs: None,
        transcript: false,
    }
}

fn caller() -> ModelClient {
    ModelClient::default().with_backoff(Duration::from_millis(1))
}

fn rubric(names: &[&str]) -> Rubric {
    let criterion =
        |name: &&str| Criterion::new(*name, "Names the capital.", CriterionKind::Question(Scale::Unit));
    Rubric::new(Draft { criteria: names.iter().map(criterion).collect(), ..Draft::default() }).unwrap()
}

async fn decide(bench: &ResolvedJudges, caller: &ModelClient, response: &str) -> JudgeDecision {
    decide_by(&rubric(&["city"]), bench, caller, response).await
}

async fn decide_by(
    rubric: &Rubric,
    bench: &ResolvedJudges,
    caller: &ModelClient,
    response: &str,
) -> JudgeDecision {
    let material =
        JudgeInput { task: "Which?".into(), response: Some(response.into()), ..JudgeInput::default() };
    let case =
        JudgeCase { candidate: "c", material: &material, row: None, rubric, labels: None, contests: None };
    bench.decide(caller, case).await.unwrap()
}

fn outcome(decision: &JudgeDecision) -> &Outcome {
    &decision.opinions[0].grades[0].outcome
}

fn status(status: u16, body: &str) -> Act {
    Act::Status(status, Vec::new(), body.to_owned())
}

fn say(text: &str) -> Act {
    Act::Say(text.to_owned())
}

/// What vLLM answers when prompt and reply do not fit together.
const TOO_LONG: &str = r#"{"object": "error", "message": "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 6000 input tokens (4096 > 8192 - 6000).", "type": "BadRequestError", "param": "max_tokens", "code": 400}"#;

#[tokio::test]
async fn a_candidate_that_is_too_long_leaves_the_schema_enforced_for_the_others() {
    let older = r#"{"error": {"message": "This model's maximum context length is 8192 tokens. However, you requested 10096 tokens (6000 in the messages, 4096 in the completion). Please reduce the length of the messages or completion. Parameter: max_tokens.", "code": 400}}"#;
    for refusal in [TOO_LONG, older] {
        let server = Server::start(move |seen| match seen.prompt().contains("a very long answer") {
            true => status(400, refusal),
            false => Act::Fit,
        })
        .await;
        let (bench, caller) = (bench("vllm/judge-1", &server), caller());
        let mut scores = Vec::new();
        for response in ["Paris.", "a very long answer", "Lyon."] {
            let decision = decide(&bench, &caller, response).await;
            scores.push(decision.score);
            if decision.score.is_none() {
                let told = format!("{:?}", outcome(&decision));
                assert!(told.contains("maximum context length"), "{told}");
            }
        }
        assert_eq!(scores, [Some(1.0), None, Some(1.0)]);
        assert_eq!(server.n_seen(), 3, "no other form is tried");
        let last = server.last();
        assert_eq!(last.body["response_format"]["type"], "json_schema", "{}", last.body);
    }
}

#[tokio::test]
async fn a_refused_form_is_remembered_for_the_model_until_it_expires() {
    let is_put_right = Arc::new(AtomicUsize::new(0));
    let put_right = Arc::clone(&is_put_right);
    let server = Server::start(move |seen| match seen.body["response_format"]["type"].as_str() {
        Some("json_schema") if put_right.load(Ordering::SeqCst) == 0 => {
            status(400, r#"{"error": {"message": "response_format: json_schema is not supported"}}"#)
        }
        _ => say(GOOD),
    })
    .await;
    let (start, passed) = (Instant::now(), Arc::new(Mutex::new(Duration::ZERO)));
    let clock = {
        let passed = Arc::clone(&passed);
        move || start + *passed.lock().unwrap()
    };
    let model = "openai/judge-1";
    let resolver = resolver(model, &server).with_forms(FormMemory::new(Arc::new(clock)));
    // Each bench has a line of its own; they share what was learned.
    let ask = async || {
        let before = server.n_seen();
        assert_eq!(decide(&judge_at(model, &server, &resolver), &caller(), "Paris.").await.score, Some(0.5));
        server.n_seen() - before
    };
    assert_eq!([ask().await, ask().await, ask().await], [2, 1, 1]);
    assert_eq!(server.last().body["response_format"]["type"], "json_object");
    *passed.lock().unwrap() = FORM_LIFETIME;
    assert_eq!([ask().await, ask().await], [2, 1], "it is tried again, and refused again");
    *passed.lock().unwrap() = 2 * FORM_LIFETIME;
    is_put_right.store(1, Ordering::SeqCst);
    assert_eq!([ask().await, ask().await], [1, 1]);
    assert_eq!(server.last().body["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn a_form_in_which_the_request_fails_as_well_is_not_remembered() {
    // It names the form, and is about the candidate: no other form helps.
    let server = Server::start(|seen| match seen.prompt().contains("odd") {
        true => status(400, r#"{"error": {"message": "response_format: cannot be met for this prompt"}}"#),
        false => Act::Fit,
    })
    .await;
    let (bench, caller) = (bench("vllm/judge-1", &server), caller());
    assert_eq!(decide(&bench, &caller, "an odd answer").await.score, None);
    assert_eq!(decide(&bench, &caller, "Paris.").await.score, Some(1.0));
    assert_eq!(server.last().body["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn requests_without_a_usable_reply_count_in_requests_and_spend() {
    let empty = json!({ "choices": [], "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } });
    for (act, least, most) in [
        (Act::Raw(empty.to_string()), 2_000_000, 2_000_000),
        // Nobody says what this one cost, so it counts with the most that it can have cost.
        (Act::Raw(format!("{{\"choices\": \"{}\"}}", "x".repeat(17 << 20))), 8_192_000, 20_000_000),
    ] {
        let server = Server::script(vec![act]).await;
        let caller = caller();
        let decision = decide(&bench("openai/judge-1", &server), &caller, "Paris.").await;
        assert!(matches!(outcome(&decision), Outcome::Failed { .. }), "{decision:?}");
        assert_eq!(caller.meter.read().requests, 1);
        let spent = caller.budget.spent_amount().unwrap().nanos();
        assert!((least..=most).contains(&spent), "{spent}");
        assert_eq!(decision.spend.cost.map(Usd::nanos), Some(spent), "what is told is what was paid");
    }
    let refusing = Server::start(|seen| match seen.body["response_format"]["type"].as_str() {
        Some("json_schema") => status(400, r#"{"error": {"message": "json_schema is not supported"}}"#),
        _ => say(GOOD),
    })
    .await;
    let caller = caller();
    decide(&bench("llamacpp/judge-1", &refusing), &caller, "Paris.").await;
    assert_eq!((caller.meter.read().requests, refusing.n_seen()), (2, 2));
}

/// A model that is never free.
#[derive(Debug, Default)]
struct AlwaysLimited(AtomicUsize);

impl LanguageModel for AlwaysLimited {
    fn complete<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {
            // All that were sent together are on their way before the first comes back.
            tokio::task::yield_now().await;
            Err(ModelError::new(ModelErrorKind::RateLimit, "429: slow down"))
        })
    }
}

#[tokio::test]
async fn a_vendor_that_only_says_429_is_asked_once_by_each_and_then_a_few_times_more() {
    let model = Arc::new(AlwaysLimited::default());
    let line = ModelEndpoint {
        model: Arc::<AlwaysLimited>::clone(&model),
        vendor: "limited".into(),
        name: "limited/judge-1".into(),
        price: None,
        address: String::new(),
        http: None,
    };
    // With a wait of a millisecond the pause after the last probe would be over before all calls are refused.
    let caller = ModelClient::default().with_backoff(Duration::from_millis(100));
    let bench = bench_of(line);
    let responses: Vec<String> = (0..200).map(|n| format!("Paris, {n}.")).collect();
    let each = responses.iter().map(|response| decide(&bench, &caller, response));
    let decisions = futures_util::future::join_all(each).await;
    for decision in &decisions {
        let Outcome::Failed { failure: Failure::RateLimit, .. } = outcome(decision) else {
            panic!("{:?}", outcome(decision))
        };
    }
    // As many as may run at once, and five probes.
    let n_requests = model.0.load(Ordering::SeqCst);
    assert!(n_requests <= 32 + 5, "{n_requests} requests");
}

#[tokio::test]
async fn a_model_that_only_fails_takes_no_other_of_its_vendor_with_it() {
    let server = Server::start(|seen| match seen.body["model"].as_str() {
        Some("judge-1") => status(500, r#"{"error": {"message": "it is broken"}}"#),
        _ => say(GOOD),
    })
    .await;
    let caller = caller();
    let (broken, fine) = (bench("openai/judge-1", &server), bench("openai/judge-2", &server));
    let responses: Vec<String> = (0..40).map(|n| format!("Paris, {n}.")).collect();
    let each = responses.iter().map(|response| async {
        let failed = decide(&broken, &caller, response).await;
        (failed, decide(&fine, &caller, response).await)
    });
    for (failed, decided) in futures_util::future::join_all(each).await {
        assert!(matches!(outcome(&failed), Outcome::Failed { .. }), "{failed:?}");
        assert_eq!(decided.score, Some(0.5), "{decided:?}");
    }
}

#[tokio::test]
async fn a_key_that_is_not_accepted_for_one_model_stops_that_model_alone() {
    let server = Server::start(|seen| match seen.body["model"].as_str() {
        Some("judge-1") => status(401, r#"{"error": {"message": "no access to judge-1"}}"#),
        _ => say(GOOD),
    })
    .await;
    let caller = caller();
    let (closed, open) = (bench("openai/judge-1", &server), bench("openai/judge-2", &server));
    for _ in 0..3 {
        assert!(matches!(outcome(&decide(&closed, &caller, "Paris.").await), Outcome::Failed { .. }));
    }
    assert_eq!(server.n_seen(), 1, "it is asked once");
    assert_eq!(decide(&open, &caller, "Paris.").await.score, Some(0.5));
}

/// What a batch endpoint does with one request of a batch, the first time and later.
type Answering = dyn Fn(&str, usize) -> Json + Send + Sync;

/// A vendor's batch endpoint: each batch is done at once, and each request answered by its criterion and by how often
/// it was sent. Batches are counted.
async fn batch_endpoint(
    answer: impl Fn(&str, usize) -> Json + Send + Sync + 'static,
) -> (Server, Arc<Mutex<Vec<usize>>>) {
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&sizes);
    let answer: Box<Answering> = Box::new(answer);
    let sent = Mutex::new((Vec::<Json>::new(), std::collections::HashMap::<String, usize>::new()));
    let server = Server::start(move |seen| {
        let (last, counts) = &mut *sent.lock().unwrap();
        let mut take = |lines: Vec<Json>| {
            sizes.lock().unwrap().push(lines.len());
            *last = lines;
        };
        match seen.path.as_str() {
            "/v1/messages/batches" => {
                take(seen.body["requests"].as_array().unwrap().clone());
                Act::Raw(r#"{"id": "b", "processing_status": "in_progress"}"#.into())
            }
            "/v1/messages/batches/b" => Act::Raw(r#"{"processing_status": "ended"}"#.into()),
            "/files" => {
                let lines = seen.body.as_str().unwrap().lines();
                take(lines.filter_map(|line| serde_json::from_str(line).ok()).collect());
                Act::Raw(r#"{"id": "file"}"#.into())
            }
            "/batches" => Act::Raw(r#"{"id": "b"}"#.into()),
            "/batches/b" => Act::Raw(r#"{"status": "expired", "output_file_id": "out"}"#.into()),
            "/v1/messages/batches/b/results" | "/files/out/content" => {
                let lines = last.iter().filter_map(|entry| {
                    let text = entry.to_string();
                    let name = ["one", "two", "three"]
                        .into_iter()
                        .find(|one_text| text.contains(&format!("{one_text}: ")));
                    let n = counts.entry(name.unwrap().to_owned()).or_default();
                    *n += 1;
                    let mut line = answer(name.unwrap(), *n);
                    if line.is_null() {
                        return None;
                    }
                    line["custom_id"] = entry["custom_id"].clone();
                    Some(line.to_string() + "\n")
                });
                Act::Raw(lines.collect())
            }
            other => panic!("{other} is no address of a batch"),
        }
    })
    .await;
    (server, kept)
}

/// A good line of a batch's results: 1000 tokens in and 500 out.
fn good_line(is_anthropic: bool) -> Json {
    if is_anthropic {
        let content = json!([{ "type": "text", "text": GOOD }]);
        let usage = json!({ "input_tokens": 1000, "output_tokens": 500 });
        return json!({ "result": { "type": "succeeded", "message": { "content": content, "usage": usage } } });
    }
    let body = json!({ "choices": [{ "message": { "content": GOOD } }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } });
    json!({ "response": { "status_code": 200, "body": body } })
}

/// Asks and sends batches until nothing waits any more.
async fn decide_in_batches(rubric: &Rubric, bench: &ResolvedJudges, caller: &ModelClient) -> JudgeDecision {
    let folder = tempfile::tempdir().unwrap();
    let office = BatchClient { folder: folder.path(), poll: Duration::from_millis(1), listener: &|_| {} };
    loop {
        let decision = decide_by(rubric, bench, caller, "Paris.").await;
        if caller.batches.as_ref().unwrap().n_wanted() == 0 {
            return decision;
        }
        caller.run_batches(&office).await.unwrap();
    }
}

#[tokio::test]
async fn entries_of_a_batch_that_failed_on_the_vendors_side_are_sent_again_and_others_are_not() {
    let errored = |kind: &str| json!({ "result": { "type": "errored", "error": { "type": "error", "error": { "type": kind, "message": "why" } } } });
    let status = |status: u16| json!({ "response": { "status_code": status, "body": { "error": { "message": "why" } } } });
    let passing = [
        (true, errored("overloaded_error")),
        (true, errored("api_error")),
        (true, json!({ "result": { "type": "expired" } })),
        (false, status(429)),
        (false, status(503)),
        (false, json!({ "response": null, "error": { "code": "batch_expired", "message": "too late" } })),
        // A batch that expired has no line for what it did not get to.
        (false, Json::Null),
    ];
    for (is_anthropic, line) in passing {
        let told = line.to_string();
        let (broken, forever) = (line.clone(), line);
        let (server, sizes) = batch_endpoint(move |name, n_sent| match (name, n_sent) {
            ("two", 1) => broken.clone(),
            ("three", _) => forever.clone(),
            _ => good_line(is_anthropic),
        })
        .await;
        let vendor = if is_anthropic { "anthropic/judge-1" } else { "openai/judge-1" };
        let (bench, caller) = (bench(vendor, &server), caller().with_batches());
        let decision = decide_in_batches(&rubric(&["one", "two", "three"]), &bench, &caller).await;
        let units: Vec<Option<f64>> =
            decision.opinions[0].grades.iter().map(|grade| grade.outcome.unit()).collect();
        assert_eq!(units, [Some(0.5), Some(0.5), None], "{told}");
        assert_eq!(*sizes.lock().unwrap(), [3, 2, 1], "{told}: what breaks is sent three times at most");
        assert_eq!(caller.budget.spent_amount(), Some(Usd::from_nanos(2_000_000)), "{told}");
        assert_eq!((caller.meter.read().requests, caller.meter.read().tokens_in), (6, 2000), "{told}");
    }
    for (is_anthropic, line) in [
        (true, errored("invalid_request_error")),
        (true, json!({ "result": { "type": "canceled" } })),
        (false, status(400)),
    ] {
        let told = line.to_string();
        let (server, sizes) = batch_endpoint(move |name, _| match name {
            "two" => line.clone(),
            _ => good_line(is_anthropic),
        })
        .await;
        let vendor = if is_anthropic { "anthropic/judge-1" } else { "openai/judge-1" };
        let (bench, caller) = (bench(vendor, &server), caller().with_batches());
        decide_in_batches(&rubric(&["one", "two", "three"]), &bench, &caller).await;
        assert_eq!(*sizes.lock().unwrap(), [3], "{told}");
    }
}

#[tokio::test]
async fn a_batch_under_a_cap_goes_out_in_parts_that_fit_at_their_worst() {
    // Each request costs $0.001 in the end, and at most $0.0041 for its reply and a little for its prompt.
    for (cap, expected, n_graded) in [
        (20_000_000, vec![3], 3),
        (10_500_000, vec![2, 1], 3),
        (6_500_000, vec![1, 1], 2),
        (1_000_000, vec![], 0),
    ] {
        let (server, sizes) = batch_endpoint(|_, _| good_line(false)).await;
        let cap = Usd::from_nanos(cap);
        let (bench, caller) = (bench("openai/judge-1", &server), caller().with_batches().with_cap(Some(cap)));
        let decision = decide_in_batches(&rubric(&["one", "two", "three"]), &bench, &caller).await;
        assert_eq!(*sizes.lock().unwrap(), expected, "{cap}");
        assert!(caller.budget.spent_amount().unwrap() <= cap);
        let grades = &decision.opinions[0].grades;
        assert_eq!(grades.iter().filter(|grade| grade.outcome.unit().is_some()).count(), n_graded, "{cap}");
        let over = Outcome::Deferred { why: Deferral::OverBudget };
        assert_eq!(grades.iter().filter(|grade| grade.outcome == over).count(), 3 - n_graded, "{cap}");
        assert!(n_graded == 3 || decision.status == VerdictStatus::Deferred, "{cap}: {:?}", decision.status);
    }
}
