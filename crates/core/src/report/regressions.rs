//! What got worse since another run, as lines and as Markdown.

use std::fmt::Write as _;

use super::markdown::escape_markdown_text;
use super::score_text::format_score_change;
use super::variant_in_words;
use crate::quantity::plural;
use crate::run::{Regressions, UndecidedCase};
use crate::stats::comparison::{Comparison, WORTH_SEEING};

/// Names that a line lists; more are counted.
const MOST_NAMES: usize = 20;

/// A line for the cases that got worse, one for those that are undecided, and one for each kind that is left aside.
pub fn regression_lines(regressions: &Regressions) -> Vec<String> {
    let Regressions { regressed, undecided, flaky, new_failures, still_failing } = regressions;
    let mut lines = Vec::new();
    if !regressed.is_empty() {
        let names = list_names(regressed.iter().map(|change| change.case.clone()));
        lines.push(format!("{} regressed: {names}", plural(regressed.len(), "case")));
    }
    if !undecided.is_empty() {
        let names = list_names(undecided.iter().map(describe_undecided));
        let verb = if undecided.len() == 1 { "has" } else { "have" };
        let n = plural(undecided.len(), "case");
        lines.push(format!("{n} passed before and {verb} no verdict now: {names}"));
    }
    if !flaky.is_empty() {
        let names = list_names(flaky.iter().cloned());
        lines.push(format!("{} ignored as flaky: {names}", plural(flaky.len(), "case")));
    }
    if !new_failures.is_empty() {
        let names = list_names(new_failures.iter().cloned());
        let n = plural(new_failures.len(), "case");
        lines.push(format!("{n} new and failing, which is no regression: {names}"));
    }
    if !still_failing.is_empty() {
        let names = list_names(still_failing.iter().cloned());
        lines.push(format!("{} still failing: {names}", plural(still_failing.len(), "case")));
    }
    lines
}

fn describe_undecided(undecided: &UndecidedCase) -> String {
    let now = undecided.after.as_ref().map_or_else(|| "missing".to_owned(), variant_in_words);
    format!("{} ({now})", undecided.case)
}

fn list_names(names: impl ExactSizeIterator<Item = String>) -> String {
    let n_more = names.len().saturating_sub(MOST_NAMES);
    let more = (0 < n_more).then(|| format!("and {n_more} more"));
    names.take(MOST_NAMES).chain(more).collect::<Vec<_>>().join(", ")
}

/// A comparison as a page of its own; `scale` is the one that all scores share.
pub fn comparison_markdown(compared: &Comparison, scale: Option<(f64, f64)>) -> String {
    format!("# Comparison\n\n{}", comparison_section(compared, scale))
}

/// A comparison as a part of a page.
pub(super) fn comparison_section(compared: &Comparison, scale: Option<(f64, f64)>) -> String {
    let mut out = String::from("## Since the baseline\n\n");
    for caveat in &compared.caveats {
        let _ = writeln!(out, "{}\n", escape_markdown_text(caveat));
    }
    if let Some(score) = &compared.score {
        let _ = writeln!(out, "{}\n", escape_markdown_text(&score.sentence("score", WORTH_SEEING, scale)));
    }
    let lines = regression_lines(&compared.regressions);
    for line in &lines {
        let _ = writeln!(out, "- {}", escape_markdown_text(line));
    }
    if compared.regressions.regressed.is_empty() {
        let _ = writeln!(out, "- no case regressed");
    }
    if !compared.changed.is_empty() {
        let _ = writeln!(out, "\n| case | before | after | score |\n| --- | --- | --- | --- |");
    }
    for change in &compared.changed {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            escape_markdown_text(&change.case),
            variant_in_words(&change.before),
            variant_in_words(&change.after),
            format_score_change(change.score_before, change.score_after, scale)
        );
    }
    out
}
