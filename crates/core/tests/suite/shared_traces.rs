//! Real traces that are not part of this repository; skipped where they are absent.

#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use std::fs;
use std::path::PathBuf;

use jurist_core::candidate::{StepRole, TraceFormat, read_trace_value};
use serde_json::Value as Json;

fn lines(path: &str) -> Option<Vec<Json>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(path);
    let Ok(text) = fs::read_to_string(&path) else {
        println!("SKIPPED: {} is absent", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn tau_bench_runs_are_read_whole() {
    let Some(rows) = lines("taubench_airline/trajectories.jsonl") else { return };
    assert_eq!(rows.len(), 200);
    for row in &rows {
        let (format, trace) = read_trace_value(&row["messages"], None).unwrap();
        assert_eq!(format, TraceFormat::OpenaiChat);
        let messages = row["messages"].as_array().unwrap();
        let calls: usize =
            messages.iter().map(|message| message["tool_calls"].as_array().map_or(0, Vec::len)).sum();
        let answers = messages.iter().filter(|message| message["role"] == "tool").count();
        assert_eq!(trace.tool_calls().count(), calls);
        assert_eq!(trace.steps.iter().map(|step| step.results.len()).sum::<usize>(), answers);
    }
}

#[test]
fn swe_agent_trajectories_of_every_generation_are_read() {
    let Some(rows) = lines("swe_agent_traj/trajectories.jsonl") else { return };
    let mut n_with_diff = 0;
    for row in &rows {
        let Some(steps) = row["trajectory"].as_array().filter(|items| !items.is_empty()) else {
            assert!(
                read_trace_value(row, None).is_err(),
                "a line without a trajectory is no trace: {}",
                row["file"]
            );
            continue;
        };
        let (format, trace) =
            read_trace_value(row, None).unwrap_or_else(|error| panic!("{}: {error}", row["file"]));
        assert_eq!(format, TraceFormat::SweAgent, "{}", row["file"]);
        let acted = steps
            .iter()
            .filter(|step| step["action"].as_str().is_some_and(|text| !text.trim().is_empty()))
            .count();
        assert_eq!(trace.tool_calls().count(), acted, "{}", row["file"]);
        let is_diff = row["info"]["submission"].as_str().is_some_and(|row| row.contains("diff --git"));
        assert_eq!(trace.file_changes().next().is_some(), is_diff, "{}", row["file"]);
        n_with_diff += usize::from(is_diff);
    }
    assert!(0 < n_with_diff);
}

#[test]
fn trail_spans_become_conversations() {
    let Some(rows) = lines("trail/traces.jsonl") else { return };
    assert_eq!(rows.len(), 3);
    for row in &rows {
        let (format, trace) = read_trace_value(row, None).unwrap();
        assert_eq!(format, TraceFormat::Otlp);
        assert!(0 < trace.usage.input, "tokens are counted");
        assert!(trace.steps.iter().any(|step| step.role == StepRole::System), "the instructions are there");
        assert!(5 < trace.steps.len());
    }
}

#[test]
fn an_openhands_run_is_read() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/devai/openhands_39_trajectory.json");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("SKIPPED: {} is absent", path.display());
        return;
    };
    let value: Json = serde_json::from_str(&text).unwrap();
    let (format, trace) = read_trace_value(&value, None).unwrap();
    assert_eq!(format, TraceFormat::React);
    assert!(value.as_array().unwrap().len() <= trace.steps.len());
}
