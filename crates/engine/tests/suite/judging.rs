//! Judges against a real server: protocols, faults, and what they must never become.

mod injection;
mod protocols;
mod failures;
mod evidence;
mod decisions;
mod stored_replies;
mod budgets;
mod stop_reasons;

use std::sync::Arc;
use std::time::Duration;

use jurist_core::candidate::JudgeInput;
use jurist_core::dialect::{CustomVendor, ModelPrice, ProjectSettings};
use jurist_core::grade::{Failure, Outcome};
use jurist_core::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use jurist_core::suite::{Calls, Judge};
use jurist_engine::call::ModelClient;
use jurist_engine::judge::{JudgeCase, JudgeDecision, JudgeModel, MAX_TOKENS, ResolvedJudges};
use jurist_engine::model::resolve::Resolver;

use crate::server::{Act, Server};

/// A judge at the test server; the vendor decides the protocol.
fn member(vendor: &str, server: &Server) -> JudgeModel {
    member_with(vendor, server, CustomVendor::default())
}

fn member_with(vendor: &str, server: &Server, own: CustomVendor) -> JudgeModel {
    let judge = Judge {
        model: Some(format!("{vendor}/judge-1")),
        base_url: Some(server.url.clone()),
        timeout: Some(60.0),
        ..Judge::default()
    };
    let price = ModelPrice { input: 1.0, cached_input: 0.5, output: 2.0 };
    let prices = [(format!("{vendor}/judge-1"), price)].into();
    let settings =
        ProjectSettings { prices, vendors: [(vendor.to_owned(), own)].into(), ..ProjectSettings::default() };
    let resolver = Resolver::new(settings, |name| name.ends_with("KEY").then(|| "sk-test-secret".to_owned()))
        .unwrap()
        .with_trusted_address(Some(&server.url));
    let line = Arc::new(resolver.resolve_endpoint(&judge).unwrap());
    JudgeModel { line, temperature: Some(0.0), max_tokens: MAX_TOKENS, draw: 0 }
}

fn bench(members: Vec<JudgeModel>) -> ResolvedJudges {
    ResolvedJudges {
        members,
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

/// Waits until this is so; what never comes is ended by the runner.
async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn criterion(id: &str, scale: Scale) -> Criterion {
    Criterion::new(id, "Names the capital.", CriterionKind::Question(scale))
}

fn rubric(criteria: Vec<Criterion>) -> Rubric {
    Rubric::new(Draft { criteria, ..Draft::default() }).unwrap()
}

fn unit() -> Rubric {
    rubric(vec![criterion("city", Scale::Unit)])
}

fn material() -> JudgeInput {
    JudgeInput {
        task: "What is the capital of France?".into(),
        response: Some("It is Paris, on the Seine.".into()),
        ..JudgeInput::default()
    }
}

async fn decide(bench: &ResolvedJudges, caller: &ModelClient, rubric: &Rubric) -> JudgeDecision {
    let material = material();
    bench
        .decide(
            caller,
            JudgeCase {
                candidate: "c1",
                material: &material,
                row: None,
                rubric,
                labels: None,
                contests: None,
            },
        )
        .await
        .unwrap()
}

async fn outcome(acts: Vec<Act>) -> (Outcome, usize) {
    let server = Server::script(acts).await;
    let decision = decide(&bench(vec![member("openai", &server)]), &caller(), &unit()).await;
    (decision.opinions[0].grades[0].outcome.clone(), server.n_seen())
}

fn failure(outcome: &Outcome) -> Option<Failure> {
    if let Outcome::Failed { failure, .. } = outcome { Some(*failure) } else { None }
}

fn say(text: &str) -> Act {
    Act::Say(text.to_owned())
}

fn status(status: u16, body: &str) -> Act {
    Act::Status(status, Vec::new(), body.to_owned())
}

const GOOD: &str = r#"{"reasoning": "it names Paris", "score": 0.5}"#;
