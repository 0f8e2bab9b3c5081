//! Every input of the corpus and every regression keeps the promises of its target.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jurist_fuzz_targets::TARGETS;

/// The corpus is a beginning for fuzzers and is read by every test run; what they find stays with whoever runs them.
const MAX_CORPUS_BYTES: u64 = 300_000;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Runs the targets whose name begins so, each on all its inputs.
fn replay(prefix: &str) {
    let targets: Vec<_> = TARGETS.iter().filter(|target| target.name.starts_with(prefix)).collect();
    assert!(!targets.is_empty());
    for target in targets {
        let inputs = ["corpus", "regressions"].map(|tree| files(&fuzz().join(tree).join(target.name)));
        assert!(!inputs[0].is_empty(), "{} has no corpus", target.name);
        for path in inputs.iter().flatten() {
            let input = fs::read(path).unwrap();
            let run = std::panic::catch_unwind(|| target.run(&input));
            assert!(run.is_ok(), "{} breaks a promise on {}", target.name, path.display());
        }
    }
}

#[test]
fn dialects_keep_their_promises() {
    replay("dialect_");
}

#[test]
fn settings_keep_their_promises() {
    replay("settings");
}

#[test]
fn traces_keep_their_promises() {
    replay("trace_");
}

#[test]
fn otlp_keeps_its_promises() {
    replay("otlp_");
}

#[test]
fn judge_replies_keep_their_promises() {
    replay("judge_reply");
}

#[test]
fn templates_keep_their_promises() {
    replay("template");
}

#[test]
fn schedules_tables_and_statistics_keep_their_promises() {
    replay("cron");
    replay("table");
    replay("stats");
}

#[test]
fn checks_and_records_keep_their_promises() {
    replay("check");
    replay("record");
}

#[test]
fn every_target_has_a_fuzzer_and_every_folder_a_target() {
    let names: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let named = manifest.split("[[bin]]").skip(1).map(|bin| bin.split('"').nth(1).unwrap().to_owned());
    assert_eq!(names, named.collect());
    let mut n_bytes = 0;
    for tree in ["corpus", "regressions"] {
        for folder in files(&fuzz().join(tree)) {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            assert!(names.contains(&name), "{tree}/{name} belongs to no target");
            n_bytes += files(&folder).iter().map(|path| path.metadata().unwrap().len()).sum::<u64>();
        }
    }
    assert!(n_bytes < MAX_CORPUS_BYTES, "the corpus has {n_bytes} bytes");
}
