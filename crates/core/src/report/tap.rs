//! The Test Anything Protocol, version 14: what was not asked is skipped, what broke is no failure of the candidate.

use std::fmt::Write as _;

use super::{judges, reasons};
use crate::grade::Status;
use crate::run::Run;

pub(super) fn render(run: &Run) -> String {
    let mut out = format!("TAP version 14\n1..{}\n", run.results.len());
    for (at, result) in run.results.iter().enumerate() {
        let name = result.case.replace(['#', '\n', '\r', '\\'], " ");
        let (word, directive) = match result.verdict.status {
            Status::Pass => ("ok", ""),
            Status::Fail => ("not ok", ""),
            // `TODO` keeps a broken grader from counting as a failure of what it graded.
            Status::Error => ("not ok", " # TODO error: a grader broke"),
            Status::Deferred => ("ok", " # SKIP deferred: nobody was asked"),
        };
        let _ = writeln!(out, "{word} {} - {name}{directive}", at + 1);
        let text = |it: &str| serde_json::Value::from(it).to_string();
        let _ = writeln!(out, "  ---");
        let _ =
            writeln!(out, "  score: {}", result.verdict.score.map_or("~".to_owned(), |it| it.to_string()));
        let _ = writeln!(
            out,
            "  pass_mark: {}",
            run.pass_mark(&result.rubric).map_or("~".to_owned(), |it| it.to_string())
        );
        let _ = writeln!(out, "  rubric: {}", result.rubric.as_str());
        let _ = writeln!(out, "  judges: {}", text(&judges(result)));
        let _ = writeln!(
            out,
            "  cost: {}",
            text(&result.spend.cost.map(|it| it.to_string()).unwrap_or_default())
        );
        let reasons = reasons(run, result);
        if !reasons.is_empty() {
            let _ = writeln!(out, "  reasons:");
            for reason in reasons {
                let _ = writeln!(out, "    - {}", text(&reason));
            }
        }
        let _ = writeln!(out, "  ...");
    }
    out
}
