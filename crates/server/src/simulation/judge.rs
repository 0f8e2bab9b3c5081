//! A judge that gives a trace as many points as it has parts, behind a network that loses, delays and breaks replies.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::candidate::Usage;
use jurist_engine::model::vendors::Price;
use jurist_engine::model::{
    BoxFuture, LanguageModel, ModelEndpoint, ModelError, ModelErrorKind, ModelReply, Request,
};
use jurist_store::Store;
use serde_json::{Value as Json, json};
use tokio::time::sleep;

use super::world::SimulationContext;
use crate::job::ResolvedJudges;

/// What a call uses: less than the most that is set aside for it.
const USAGE: Usage = Usage { input: 500, output: 1500, cached: 0 };

#[derive(Debug)]
pub struct SimulatedJudge {
    world: Arc<SimulationContext>,
    process: usize,
    name: String,
    price: Price,
    /// Sees the database as it is.
    observer: Store,
}

/// The same judges behind the simulated network of a process.
pub fn simulate_judges(
    world: &Arc<SimulationContext>,
    process: usize,
    observer: &Store,
    judges: &[ResolvedJudges],
) -> Vec<ResolvedJudges> {
    let mut judges = judges.to_vec();
    for member in judges.iter_mut().flat_map(|judge| &mut judge.members) {
        let judge = SimulatedJudge {
            world: Arc::clone(world),
            process,
            name: member.line.name.clone(),
            price: member.line.price.expect("the judge has a price"),
            observer: observer.clone(),
        };
        member.line =
            Arc::new(ModelEndpoint { model: Arc::new(judge), http: None, ..(*member.line).clone() });
    }
    judges
}

/// The parts that a text has.
pub fn parts_in(text: &str) -> BTreeSet<String> {
    let parts = text.split("part-").skip(1);
    parts.filter_map(|rest| rest.split_once(';')).map(|(part, _)| part.to_owned()).collect()
}

/// Points on 1 to 5, as a share of what there is.
pub fn parts_to_unit(n_parts: usize) -> f64 {
    (n_parts.clamp(1, 5) - 1) as f64 / 4.0
}

impl LanguageModel for SimulatedJudge {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let (world, process) = (&self.world, self.process);
            let prompt: String = request.messages.iter().flat_map(|message| message.parts.clone()).collect();
            let parts = parts_in(&prompt);
            let version = if prompt.contains("It is correct") { "correct" } else { "right" };
            let named = parts.iter().cloned().collect::<Vec<_>>().join(" ");
            let question = format!("{} {version} {named}", self.name);
            sleep(self.latency()).await;
            if world.strikes(world.rates.die) {
                world.die(process, "the request to a judge").await;
            }
            if world.strikes(world.rates.judge_refused) {
                world.note_fault(&format!("p{process} judge not reached: {question}"));
                return Err(ModelError::new(ModelErrorKind::Unavailable, "the judge is not reached"));
            }
            self.bill(&question).await;
            sleep(self.latency()).await;
            if world.strikes(world.rates.die.div_ceil(4)) {
                world.die(process, "the reply of a judge").await;
            }
            if world.strikes(world.rates.judge_lost) {
                world.note_fault(&format!("p{process} reply lost: {question}"));
                sleep(Duration::from_secs(2)).await;
                let lost = ModelError::new(ModelErrorKind::Timeout, "the reply was lost");
                return Err(ModelError { maybe_billed: true, ..lost });
            }
            let text = if world.strikes(world.rates.judge_malformed) {
                world.note_fault(&format!("p{process} malformed reply: {question}"));
                "I would rather not say.".to_owned()
            } else {
                world.note(&format!("p{process} reply: {question}"));
                // Twins ask the same, and may do so at the same time.
                if parts.iter().all(|part| !part.starts_with("twin")) && request.messages.len() == 1 {
                    world.note_answer(&question);
                }
                build_schema_reply(&request.schema, parts.len().clamp(1, 5)).to_string()
            };
            Ok(ModelReply { text, usage: USAGE, ..ModelReply::default() })
        })
    }
}

impl SimulatedJudge {
    fn latency(&self) -> Duration {
        if self.world.strikes(self.world.rates.judge_slow) {
            return self.world.millis(3_000, 15_000);
        }
        self.world.millis(20, 800)
    }

    /// From here on, the vendor bills the call, also if the reply is lost.
    async fn bill(&self, question: &str) {
        let billed = {
            let mut observations = self.world.observations();
            observations.n_calls += 1;
            observations.billed += self.price.of(USAGE).nanos();
            observations.billed
        };
        match self.observer.accounted().await {
            Ok(accounted) if billed <= accounted => {}
            Ok(accounted) => {
                let what = format!("{billed} are billed and {accounted} accounted for, at: {question}");
                self.world.violate(what);
            }
            Err(error) => self.world.violate(format!("the observer cannot read: {error}")),
        }
    }
}

/// A reply of the shape that is asked for, with these points for each criterion.
fn build_schema_reply(schema: &Json, n: usize) -> Json {
    if let Some(choices) = schema["anyOf"].as_array() {
        return build_schema_reply(&choices[0], n);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let value =
                |key: &str, of: &Json| if key == "unsure" { json!(false) } else { build_schema_reply(of, n) };
            properties.map(|(key, of)| (key.clone(), value(key, of))).collect()
        }
        Some("array") => {
            let ids = schema["items"]["properties"]["id"]["enum"].as_array();
            let entry = |id: Option<&Json>| {
                let mut entry = build_schema_reply(&schema["items"], n);
                if let Some(id) = id {
                    entry["id"] = id.clone();
                }
                entry
            };
            match ids {
                Some(ids) => ids.iter().map(|id| entry(Some(id))).collect(),
                None => json!([entry(None)]),
            }
        }
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(n),
        _ => json!("because it is so"),
    }
}
