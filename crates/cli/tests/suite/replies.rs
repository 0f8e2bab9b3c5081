//! Replies that were scripted for the reference implementation, read by `jurist judge parse`.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// Where ours differs from both columns on purpose: a reply that says nothing is no grade, and a
/// rubric that cannot be right is not run.
const OURS: [(&str, &str); 8] = [
    ("llm_trajectory_judge-013", "null is no verdict, so it is malformed and not a fail"),
    ("llm_trajectory_judge-014", "null is no verdict, so it is malformed and not a fail"),
    ("llm_trajectory_judge-040", "-1 is off the scale, like 8"),
    ("answer_relevance-042", "-1 is off the scale, like 8"),
    ("answer_relevance-065", "two different answers are malformed: either may be a quote"),
    ("groundedness-074", "a claim without a verdict is malformed"),
    ("rubric_dag-130", "a leaf's score is a number, as everywhere"),
    ("rubric_dag-132", "a choice without a branch is an error before anything runs"),
];

/// What a safe implementation answers, where the file says so in words.
fn allows(sane: &str, score: Option<f64>) -> bool {
    let close = |value: f64| score.is_some_and(|score| (score - value).abs() < 1e-9);
    match sane {
        "score 0 or null" => score.is_none() || close(0.0),
        "null or rescale" | "null" | "null or accept" => score.is_none(),
        "score 1" | "1.0" => close(1.0),
        "0.0" => close(0.0),
        "1/3" => close(1.0 / 3.0),
        other => panic!("what does {other} mean?"),
    }
}

#[test]
fn scripted_replies_come_to_what_is_sane() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/judge_replies.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("SKIPPED: {} is absent", path.display());
        return;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_jurist"))
        .args(["judge", "parse"])
        .arg(&path)
        .env_clear()
        .output()
        .unwrap();
    let parsed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(parsed.lines().count(), text.lines().count());
    let mut wrong = Vec::new();
    for (case, line) in text.lines().zip(parsed.lines()) {
        let (case, line): (Json, Json) =
            (serde_json::from_str(case).unwrap(), serde_json::from_str(line).unwrap());
        let score = line["score"].as_f64();
        let expected = &case["expect"];
        let agrees = match case["sane"].as_str() {
            Some(sane) => allows(sane, score),
            None => match (score, expected["score"].as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-9 && line["value"] == expected["value"],
                (a, b) => a == b,
            },
        };
        if agrees == OURS.iter().any(|our| case["id"] == our.0) {
            wrong.push(format!("{} {case}\n  {line}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
