//! Rubrics, variables and the places of faults in suites.

#![cfg(test)]

use super::*;
use crate::diagnostic::DiagnosticSeverity;

#[test]
fn every_preset_is_a_valid_rubric() {
    for preset in crate::rubric::presets::ALL {
        let suite = format!("rubrics:\n  it: {{preset: {}}}\n", preset.name);
        let loaded = load_text(&suite);
        assert!(loaded.suite.is_some(), "{}: {:#?}", preset.name, loaded.diagnostics);
        assert!(!preset.description().is_empty(), "{} says what it is for", preset.name);
    }
}

#[test]
fn faults_in_other_files_are_shown_there() {
    let check = |path: &str, expected: &[(&str, usize, &str)]| {
        let path = folder("broken/native").join(path);
        let loaded = with_world(&path, |world| read_suite(&path, None, world));
        let mut found: Vec<(String, usize, &str)> = loaded
            .diagnostics
            .iter()
            .filter(|one_diagnostic| one_diagnostic.severity == DiagnosticSeverity::Error)
            .map(|diagnostic| {
                let file = loaded
                    .sources
                    .get(diagnostic.span.file)
                    .path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                (file, loaded.sources.place(diagnostic.span).line, diagnostic.code.name())
            })
            .collect();
        found.sort();
        found.dedup();
        let found: Vec<(&str, usize, &str)> =
            found.iter().map(|found| (found.0.as_str(), found.1, found.2)).collect();
        assert_eq!(found, expected);
    };
    check("comma.json", &[("comma.json", 8, "syntax")]);
    check("quotes.json", &[("quotes.json", 4, "syntax")]);
    check("comment.json", &[("comment.json", 2, "syntax")]);
    check("nan.json", &[("nan.json", 3, "syntax")]);
    check(
        "duplicate-key.json",
        &[("duplicate-key.json", 3, "duplicate-key"), ("duplicate-key.json", 5, "unknown-key")],
    );
    let bad = "bad-row";
    let rows = [
        ("broken.jsonl", 2, bad),
        ("broken.jsonl", 3, bad),
        ("no-objects.json", 1, bad),
        ("uneven.csv", 3, bad),
        ("uneven.csv", 4, bad),
    ];
    check("rows/suite.yaml", &rows);
    let config = "config.yaml";
    let settings = [
        (config, 2, "unknown-key"),
        (config, 3, "bad-value"),
        (config, 4, "bad-value"),
        (config, 4, "missing-key"),
        (config, 5, "wrong-type"),
        (config, 6, "unknown-key"),
        (config, 8, "bad-value"),
        (config, 9, "missing-key"),
        (config, 11, "bad-value"),
        (config, 12, "unknown-key"),
        (config, 13, "unknown-key"),
        (config, 14, "bad-value"),
        (config, 15, "bad-value"),
        (config, 16, "bad-value"),
        (config, 16, "missing-key"),
    ];
    check("settings/suite.yaml", &settings);
}

#[test]
fn a_suite_that_is_only_shown_keeps_its_variables() {
    let suite = load_text(
        "judge: {base_url: 'https://{{ env.SECRET }}@h'}\nevals: [{name: a, prompt: '{{ env.OTHER }}', rubric: b c d}]",
    );
    let shown = crate::source::to_yaml(&to_native(&suite.suite.unwrap()));
    assert!(
        shown.contains("{{ env.SECRET }}") && shown.contains("{{ env.OTHER }}") && !shown.contains("hunter2"),
        "{shown}"
    );
}

#[test]
fn comments_glued_to_a_bracket_are_read() {
    let suite = load_text("evals:\n  - {name: a, response: b}# why\n    \n").diagnostics;
    let lines: Vec<&str> = suite.iter().map(|diagnostic| diagnostic.code.name()).collect();
    assert_eq!(lines, ["missing-key"], "only the rubric is missing");
}

#[test]
fn questions_of_two_trees_do_not_share_an_id() {
    let text = "criteria:
  - name: a
    graph: {root: b.c, nodes: {b.c: {ask: q, yes: {score: 1}, no: {score: 0}}}}
  - name: a.b
    graph: {root: c, nodes: {c: {ask: q, yes: {score: 1}, no: {score: 0}}}}
";
    let loaded = load_text(text);
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
    assert!(codes.contains(&"duplicate-id"), "{codes:?}\n{text}");
}
