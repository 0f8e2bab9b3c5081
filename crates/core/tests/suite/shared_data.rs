//! Published numbers from real data that is not part of this repository; skipped where it is absent.

#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use std::fs;
use std::path::PathBuf;

use jurist_core::grade::{Outcome, VerdictStatus};
use jurist_core::rubric::{Aggregation, Criterion, CriterionKind, Draft, Group, Rubric, Scale, Value};
use jurist_core::score::{QuestionAnswer, QuoteStatus, compute_verdict};
use serde_json::Value as Json;

fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(path);
    let there = path.exists();
    if !there {
        println!("SKIPPED: {} is absent", path.display());
    }
    there.then_some(path)
}

fn judge(rubric: &Rubric, outcomes: &[Outcome]) -> jurist_core::grade::Verdict {
    let answers: Vec<QuestionAnswer<'_>> =
        outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect();
    compute_verdict(rubric, &answers, 0.0)
}

fn met(met: bool) -> Outcome {
    Outcome::Scored { value: Value::Bool(met), unit: Some(f64::from(u8::from(met))) }
}

/// A PaperBench tree as one rubric: leaves are criteria, inner nodes are groups.
fn paperbench(node: &Json, next_id: &mut usize, outcomes: &mut Vec<Outcome>) -> Criterion {
    *next_id += 1;
    let id = format!("n{next_id}");
    let children = node["sub_tasks"].as_array().unwrap();
    let ask = if children.is_empty() {
        outcomes.push(met(node["score"].as_f64() == Some(1.0)));
        CriterionKind::Question(Scale::Binary)
    } else {
        let criteria = children.iter().map(|child| paperbench(child, next_id, outcomes)).collect();
        CriterionKind::Group(Group { criteria, aggregation: Aggregation::WeightedAverage })
    };
    Criterion { weight: node["weight"].as_f64().unwrap(), ..Criterion::new(id, "…", ask) }
}

fn check_nodes(node: &Json) -> usize {
    let mut outcomes = Vec::new();
    let mut criterion = paperbench(node, &mut 0, &mut outcomes);
    criterion.weight = 1.0;
    let rubric = Rubric::new(Draft { criteria: vec![criterion], ..Draft::default() }).unwrap();
    let score = judge(&rubric, &outcomes).score.unwrap();
    assert!((score - node["score"].as_f64().unwrap()).abs() < 1e-9);
    1 + node["sub_tasks"].as_array().unwrap().iter().map(check_nodes).sum::<usize>()
}

#[test]
fn paperbench_trees_score_as_published_at_every_node() {
    for (name, n_nodes) in [
        ("all-in-one", 234),
        ("semantic-self-consistency", 102),
        ("stay-on-topic-with-classifier-free-guidance", 155),
    ] {
        let Some(path) = shared(&format!("paperbench_trees/{name}.json")) else { return };
        let tree: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(check_nodes(&tree), n_nodes, "{name}");
    }
}

#[test]
fn devai_requirements_hold_only_with_their_prerequisites() {
    let Some(path) = shared("devai/verdicts.jsonl") else { return };
    let rows: Vec<Json> =
        fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = |row: &Json, keys: &[&str]| {
        let value = keys.iter().find_map(|key| row.get(*key)).unwrap_or(&Json::Null);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    let mut by_agent: std::collections::BTreeMap<String, (usize, usize)> = std::collections::BTreeMap::new();
    let mut groups: std::collections::BTreeMap<(String, String), Vec<&Json>> =
        std::collections::BTreeMap::new();
    for row in &rows {
        groups
            .entry((text(row, &["agent", "developer"]), text(row, &["task", "task_id", "name"])))
            .or_default()
            .push(row);
    }
    for ((agent, _), rows) in &groups {
        let criterion = |row: &&Json| {
            let id = row["requirement_id"].to_string();
            // Task 45 upstream lists requirements that require themselves; our rubrics refuse that.
            let requires = row["prerequisites"]
                .as_array()
                .unwrap()
                .iter()
                .map(Json::to_string)
                .filter(|text| *text != id);
            Criterion {
                requires: requires.collect(),
                ..Criterion::new(id.clone(), "…", CriterionKind::Question(Scale::Binary))
            }
        };
        let rubric =
            Rubric::new(Draft { criteria: rows.iter().map(criterion).collect(), ..Draft::default() })
                .unwrap();
        let outcomes: Vec<Outcome> = rows.iter().map(|row| met(row["human"].as_bool().unwrap())).collect();
        let verdict = judge(&rubric, &outcomes);
        let n_met = verdict.score.unwrap() * rows.len() as f64;
        assert!(matches!(verdict.status, VerdictStatus::Pass | VerdictStatus::Fail));
        let counts = by_agent.entry(agent.clone()).or_default();
        counts.0 += n_met.round() as usize;
        counts.1 += rows.len();
    }
    let mut shares: Vec<String> =
        by_agent.values().map(|(met, all)| format!("{:.2}", 100.0 * *met as f64 / *all as f64)).collect();
    shares.sort();
    // Requirements applied transitively, as the data's README recomputed them.
    assert_eq!(shares, ["25.96", "27.60", "4.92"]);
}
