//! One self-contained page for people: overview, filters, a scorecard for each case.

use minijinja::{AutoEscape, Environment, UndefinedBehavior, value::Serde};
use serde_json::{Value as Json, json};

use super::{Tally, gates, judges, mean_score, status_word, word};
use crate::grade::{Grade, Outcome};
use crate::run::{CaseResult, Run};

const PAGE: &str = include_str!("page.html");

pub(super) fn render(run: &Run) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Everything in a run may come from strangers.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let tally = Tally::of(run);
    let percent = |it: f64| format!("{:.0}", it * 100.0);
    let context = json!({
        "title": run.suite.as_deref().unwrap_or("Jurist"),
        "id": run.id, "started": run.started, "n": run.results.len(),
        "tally": { "pass": tally.passed, "fail": tally.failed, "error": tally.errors, "deferred": tally.deferred },
        "rate": tally.pass_rate().map(|it| percent(it.0)),
        "low": tally.pass_rate().map(|it| percent(it.1)),
        "high": tally.pass_rate().map(|it| percent(it.2)),
        "mean": mean_score(run).map(|it| format!("{it:.2}")),
        "cost": run.spend.cost.map(|it| it.to_string()),
        "bars": histogram(run),
        "cases": run.results.iter().enumerate().map(|(at, it)| case(at, it, run)).collect::<Vec<_>>(),
    });
    let page = environment.render_str(PAGE, Serde(&context));
    page.expect("the page gets all it names, a test renders it") + "\n"
}

fn case(at: usize, result: &CaseResult, run: &Run) -> Json {
    let verdict = &result.verdict;
    json!({
        "at": at + 1, "name": result.case, "status": status_word(verdict.status),
        "score": verdict.score.map(|it| format!("{it:.2}")),
        "percent": verdict.score.map_or(0.0, |it| it * 100.0),
        "mark": run.pass_mark(&result.rubric).map(|it| format!("{it:.2}")),
        "judges": judges(result), "cost": result.spend.cost.map(|it| it.to_string()),
        "rubric": result.rubric.short(),
        "reasons": gates(result),
        "grades": result.grades.iter().map(grade).collect::<Vec<_>>(),
        "path": verdict.path.iter().map(|it| json!({
            "node": it.node, "answer": it.answer, "score": it.score.map(|it| format!("{it:.2}")),
            "reason": it.reason,
        })).collect::<Vec<_>>(),
    })
}

fn grade(grade: &Grade) -> Json {
    let (kind, said) = match &grade.outcome {
        Outcome::Scored { value, .. } => ("scored", value.to_string()),
        Outcome::NotApplicable => ("other", "does not apply".to_owned()),
        Outcome::Abstained { why } => ("other", format!("could not tell: {why}")),
        Outcome::Failed { failure, detail } => ("failed", format!("{}: {detail}", word(failure))),
        Outcome::Deferred { why } => ("other", format!("not asked: {}", word(why))),
    };
    json!({
        "criterion": grade.criterion, "grader": grade.grader.name, "kind": kind, "said": said,
        "unit": grade.outcome.unit().map(|it| it * 100.0), "reason": grade.reason.as_str(),
        "evidence": grade.evidence.iter().map(|it| json!({
            "quote": it.quote,
            "place": it.found.as_ref().map(|it| format!("{}, {}–{}", it.part, it.start, it.end)),
        })).collect::<Vec<_>>(),
        "points": grade.points.iter().map(|it| json!({ "text": it.text, "holds": it.holds })).collect::<Vec<_>>(),
    })
}

/// How often a score lies in each tenth, as heights of at most 100.
fn histogram(run: &Run) -> Vec<Json> {
    let mut counts = [0_usize; 10];
    for score in run.results.iter().filter_map(|it| it.verdict.score) {
        counts[((score * 10.0) as usize).min(9)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |(at, n): (usize, &usize)| {
        let height = *n as f64 / most as f64 * 100.0;
        json!({ "x": at * 30 + 2, "y": 100.0 - height, "height": height, "n": n, "from": at as f64 / 10.0 })
    };
    counts.iter().enumerate().map(bar).collect()
}
