//! Estimates beside those of trusted packages, from data that is not part of this repository; skipped where it
//! is absent.

#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use std::fs;
use std::path::PathBuf;

use jurist_core::stats::by_name::compute_statistic;
use serde_json::Value as Json;

const FAMILIES: [&str; 14] = [
    "proportion_ci",
    "bootstrap_ci",
    "mcnemar",
    "wilcoxon",
    "friedman",
    "multiple_comparisons",
    "survey_weights",
    "ppi",
    "rogan_gladen",
    "isotonic",
    "platt",
    "confidence_sequence",
    "power",
    "pass_k",
];

/// Everything that is expected is there, within the tolerance; more may be.
fn differs(found: &Json, expected: &Json, tolerance: f64) -> Option<String> {
    match expected {
        Json::Object(map) => map
            .iter()
            .find_map(|(key, value)| Some(format!("{key}: {}", differs(&found[key], value, tolerance)?))),
        Json::Array(list) if found.as_array().is_some_and(|items| items.len() == list.len()) => list
            .iter()
            .enumerate()
            .find_map(|(at, value)| Some(format!("{at}: {}", differs(&found[at], value, tolerance)?))),
        Json::Number(number) => {
            let expected = number.as_f64().unwrap();
            let near = found.as_f64().is_some_and(|number| (number - expected).abs() <= tolerance);
            (!near).then(|| format!("{found} where {expected} belongs"))
        }
        _ => (found != expected).then(|| format!("{found} where {expected} belongs")),
    }
}

#[test]
fn estimates_are_those_of_trusted_packages() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/stats_reference.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("SKIPPED: {} is absent", path.display());
        return;
    };
    let mut wrong = Vec::new();
    let mut n = 0;
    for line in text.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let family = case["family"].as_str().unwrap();
        if !FAMILIES.contains(&family) {
            continue;
        }
        n += 1;
        let found = compute_statistic(family, &case["input"]).unwrap();
        let problem = match found {
            Err(_) if case["expected"]["undefined"] == true => None,
            Err(why) => Some(why.to_string()),
            Ok(found) => differs(&found, &case["expected"], case["abs_tol"].as_f64().unwrap()),
        };
        wrong.extend(problem.map(|problem| format!("{}: {problem}", case["id"])));
    }
    println!("{n} cases");
    assert!(wrong.is_empty() && 30 <= n, "{n} cases, of these wrong:\n{}", wrong.join("\n"));
}
