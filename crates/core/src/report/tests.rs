use super::*;
use crate::candidate::Material;
use crate::grade::{Counts, Failure, Grade, Reason, Spend, Time, Verdict};
use crate::rubric::{Ask, Criterion, Draft, Rubric, Scale};
use crate::run::RunId;

/// A run with a case of each kind, and a name that would break out of every format.
fn run() -> Run {
    let criteria = vec![Criterion::new("a", "A.", Ask::Question(Scale::Unit))];
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
    let result = |case: &str, status: Status, outcome: Outcome| {
        let grade: Grade = serde_json::from_value(serde_json::json!({
            "candidate": case, "criterion": "a", "grader": { "kind": "judge", "name": "m1" }, "outcome": outcome,
        }))
        .unwrap();
        CaseResult {
            case: case.to_owned(),
            trial: None,
            candidate: case.to_owned(),
            rubric: rubric.version().clone(),
            verdict: Verdict {
                status,
                score: outcome.unit(),
                native: None,
                vacuous: false,
                failed_gates: Vec::new(),
                path: Vec::new(),
                counts: Counts::default(),
            },
            grades: vec![Grade { reason: Reason::new("=cmd() <b>\"why\"</b> | # \u{1b}[31m"), ..grade }],
            spend: Spend::default(),
            material: Material::default(),
        }
    };
    let scored = |unit: f64| Outcome::Scored { value: crate::grade::Value::Number(unit), unit: Some(unit) };
    Run {
        format: crate::grade::FORMAT,
        id: RunId::new(Time::from_micros(1_000_000), [7; 10]),
        suite: Some("a <suite> & more".into()),
        started: Time::from_micros(1_000_000),
        ended: None,
        seed: 0,
        rubrics: [(rubric.version().clone(), rubric.to_json())].into(),
        results: vec![
            result("good", Status::Pass, scored(1.0)),
            result("bad | <x> # y", Status::Fail, scored(0.25)),
            result(
                "broken",
                Status::Error,
                Outcome::Failed { failure: Failure::Timeout, detail: "60 s".into() },
            ),
            result("later", Status::Deferred, Outcome::Deferred { why: crate::grade::Deferral::NoKey }),
        ],
        spend: Spend::default(),
    }
}

#[test]
fn every_format_keeps_failures_errors_and_deferrals_apart() {
    let run = run();
    let junit = render(Format::Junit, &run);
    assert!(junit.contains("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""), "{junit}");
    assert_eq!(
        [
            junit.matches("<failure ").count(),
            junit.matches("<error ").count(),
            junit.matches("<skipped ").count()
        ],
        [1, 1, 1]
    );
    assert!(
        junit.contains("name=\"pass_mark\" value=\"0.7\"") && junit.contains("name=\"score\" value=\"0.25\"")
    );
    assert!(!junit.contains("<b>") && !junit.contains('\u{1b}'));
    let tap = render(Format::Tap, &run);
    assert!(
        tap.contains("not ok 2 - bad | <x>   y\n")
            && tap.contains("not ok 3 - broken # TODO")
            && tap.contains("ok 4 - later # SKIP"),
        "{tap}"
    );
    let markdown = render(Format::Markdown, &run);
    assert!(markdown.contains("1 passed, 1 failed, 1 errors, 1 deferred"), "{markdown}");
    assert!(markdown.contains("| bad \\| \\<x\\> \\# y | fail | 0.25 | 0.70 | m1 |"), "{markdown}");
    let csv = render(Format::Csv, &run);
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.contains("'=cmd()"), "{csv}");
    let html = render(Format::Html, &run);
    assert!(
        html.contains("bad | &lt;x&gt; # y") && !html.contains("<b>\"why\"") && !html.contains("<x>"),
        "{html}"
    );
    assert_eq!(html.matches("<details").count(), 4);
    assert_eq!(render(Format::Ndjson, &run).lines().count(), 4);
    let back: Run = serde_json::from_str(&render(Format::Json, &run)).unwrap();
    assert_eq!(back, run);
}

#[test]
fn a_pass_rate_comes_with_its_interval() {
    let rate = |passed, failed| Tally { passed, failed, ..Tally::default() }.pass_rate();
    let (rate_of, low, high) = rate(8, 2).unwrap();
    assert!(
        (rate_of - 0.8).abs() < 1e-9 && (low - 0.4902).abs() < 1e-3 && (high - 0.9433).abs() < 1e-3,
        "{low} {high}"
    );
    assert_eq!(rate(0, 0), None);
}
