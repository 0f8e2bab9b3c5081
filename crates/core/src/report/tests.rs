//! Tests of reports by groups of formats.

mod all_formats;
mod row_formats;
mod finding_formats;
mod text_formats;

use serde_json::{Value as Json, json};

use super::*;
use crate::candidate::JudgeInput;
use crate::grade::{Counts, Evidence, Failure, Grade, Reason, Spend, Time, Usd, Verdict};
use crate::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use crate::run::{CaseResult, RunId, RunResults};

/// A run with a case of each kind, and a name that would break out of every format.
fn run() -> Run {
    let criteria = vec![Criterion::new("a", "A.", CriterionKind::Question(Scale::Unit))];
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
    let result = |case: &str, status: VerdictStatus, outcome: Outcome| {
        let grade: Grade = serde_json::from_value(serde_json::json!({
            "candidate": case, "criterion": "a", "grader": { "kind": "judge", "name": "m1" }, "outcome": outcome,
        }))
        .unwrap();
        CaseResult {
            case: case.to_owned(),
            origin: None,
            trial: None,
            base: None,
            parts: None,
            candidate: case.to_owned(),
            rubric: rubric.version().clone(),
            verdict: Verdict {
                status,
                score: outcome.unit(),
                native: None,
                vacuous: false,
                failed_gates: Vec::new(),
                undecided_gates: Vec::new(),
                path: Vec::new(),
                counts: Counts::default(),
            },
            grades: vec![Grade { reason: Reason::new("=cmd() <b>\"why\"</b> | # \u{1b}[31m"), ..grade }],
            spend: Spend::default(),
            panel: None,
            projected_calls: None,
            metadata: [("agent".to_owned(), "=a1".into()), ("tags".to_owned(), vec!["x", "y"].into())].into(),
            material: JudgeInput::default(),
        }
    };
    let scored = |unit: f64| Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
    Run {
        format: crate::grade::FORMAT,
        id: RunId::new(Time::from_micros(1_000_000), [7; 10]),
        suite: Some("a <suite> & more".into()),
        provenance: Default::default(),
        started: Time::from_micros(1_000_000),
        ended: None,
        seed: 0,
        rubrics: [(rubric.version().clone(), rubric.to_json())].into(),
        results: RunResults::from_iter([
            result("good", VerdictStatus::Pass, scored(1.0)),
            result("bad | <x> # y", VerdictStatus::Fail, scored(0.25)),
            result(
                "broken",
                VerdictStatus::Error,
                Outcome::Failed { failure: Failure::Timeout, detail: "60 s".into() },
            ),
            result("later", VerdictStatus::Deferred, Outcome::Deferred { why: Deferral::NoKey }),
        ]),
        spend: Spend::default(),
        summary: None,
    }
}

/// What reports say about a candidate that holds text shaped like a verdict.
const PLANTED: &str = "the candidate contains text shaped like a verdict";

/// The failed case alone, about which a judge, the candidate and the suite's author say the worst there is.
fn hostile(text: &str) -> Run {
    let mut run = run();
    let mut result = run.results.get(1);
    result.case = text.to_owned();
    let found = crate::grade::QuoteLocation { part: "response".to_owned(), start: 3, end: 9 };
    result.grades[0].reason = Reason::new(text);
    result.grades[0].evidence = vec![Evidence { quote: text.to_owned(), found: Some(found) }];
    result.grades[0].spend.cost = Some(Usd::from_nanos(1_500_000));
    result.spend = result.grades[0].spend;
    run.results = RunResults::from_iter([result]);
    run.suite = Some(format!("{text}.yaml"));
    run.ended = Some(Time::from_micros(13_250_000));
    run
}

fn json(format: ReportFormat, run: &Run) -> Json {
    serde_json::from_str(&render_report(format, run)).unwrap()
}
