//! Markdown, for pull requests: a table, and what went wrong under it.

use std::fmt::Write as _;

use super::{Tally, judges, mean_score, reasons, status_word};
use crate::grade::Status;
use crate::run::Run;

pub(super) fn render(run: &Run) -> String {
    let tally = Tally::of(run);
    let mut out = format!("# {}\n\n", run.suite.as_deref().unwrap_or("Jurist"));
    let _ = writeln!(
        out,
        "{} passed, {} failed, {} errors, {} deferred. Run `{}`.",
        tally.passed, tally.failed, tally.errors, tally.deferred, run.id
    );
    if let Some((rate, low, high)) = tally.pass_rate() {
        let percent = |it: f64| it * 100.0;
        let _ = writeln!(
            out,
            "Pass rate {:.0} % (95 % interval {:.0} to {:.0} %).",
            percent(rate),
            percent(low),
            percent(high)
        );
    }
    if let Some(mean) = mean_score(run) {
        let _ = writeln!(out, "Mean score {mean:.3}.");
    }
    let _ = writeln!(
        out,
        "\n| case | status | score | pass mark | judges | cost |\n| --- | --- | ---: | ---: | --- | ---: |"
    );
    for result in &run.results {
        let number = |it: Option<f64>| it.map_or_else(|| "–".to_owned(), |it| format!("{it:.2}"));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            cell(&result.case),
            status_word(result.verdict.status),
            number(result.verdict.score),
            number(run.pass_mark(&result.rubric)),
            cell(&judges(result)),
            result.spend.cost.map_or_else(|| "–".to_owned(), |it| it.to_string())
        );
    }
    for result in run.results.iter().filter(|it| it.verdict.status != Status::Pass) {
        let _ = writeln!(out, "\n## {}\n", cell(&result.case));
        for reason in reasons(run, result) {
            let _ = writeln!(out, "- {}", cell(&reason));
        }
    }
    out
}

/// Text that cannot break out of a table, nor become markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '<' | '>' | '*' | '_' | '`' | '[' | ']' | '#' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            it if it.is_control() => out.push(' '),
            it => out.push(it),
        }
    }
    out
}
