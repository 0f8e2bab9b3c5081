//! A comment on a pull request: what changed since the baseline, the old and the new answer of each changed case, and
//! what the data supports.

use std::fmt::Write as _;

use super::case_changes::{
    CaseChange, ChangeDirection, ChangeFilter, CriterionAnswer, CriterionChange, list_case_changes,
};
use super::markdown::{escape_markdown_text, write_failed_gates};
use super::outcome_text::run_duration_seconds;
use super::regressions::regression_lines;
use super::score_text::{format_score_change, shared_score_scale};
use super::word_diff::{WordChange, WordRun};
use super::{FailedRunGate, ReportContext, RunBaseline, RunTally, format_run_cost, reasons};
use crate::grade::VerdictStatus;
use crate::quantity::plural;
use crate::run::{CaseResult, NotGraded, Run};
use crate::source::is_hidden_steering;
use crate::stats::basics::Proportion;
use crate::stats::comparison::WORTH_SEEING;
use crate::stats::summaries::estimate_run_pass_rate;

/// GitHub refuses comments of more than 65,536 characters; what tells that it was cut needs room too.
const MAX_COMMENT_BYTES: usize = 60_000;

/// Letters of an answer that are shown.
const MAX_ANSWER_LETTERS: usize = 1_500;

/// Words on either side of a change that are shown of what stayed.
const NEAR_LETTERS: usize = 120;

pub(super) fn render_pr_comment(run: &Run, context: ReportContext<'_>) -> String {
    let mut out = comment_marker(run);
    match context.baseline {
        Some(baseline) => write_compared(&mut out, run, baseline, context.failed_gates),
        None => write_first_run(&mut out, run, context.failed_gates),
    }
    out
}

/// The first line, by which the comment is found again when it is to be updated. Nothing in it ends an HTML comment.
fn comment_marker(run: &Run) -> String {
    let suite: String =
        run.suite.as_deref().unwrap_or("suite").chars().filter(|it| is_marker_letter(*it)).collect();
    format!("<!-- jurist-comment {suite} -->\n")
}

fn is_marker_letter(letter: char) -> bool {
    letter.is_alphanumeric() || " ._/".contains(letter)
}

fn write_compared(out: &mut String, run: &Run, baseline: RunBaseline<'_>, failed_gates: &[FailedRunGate]) {
    let RunBaseline { run: before, compared } = baseline;
    let regressions = &compared.regressions;
    let changes = list_case_changes(before, run, ChangeFilter::All);
    let is_flaky = |change: &CaseChange| regressions.flaky.contains(&change.base);
    let (flaky, steady): (Vec<&CaseChange>, Vec<&CaseChange>) =
        changes.iter().partition(|change| is_flaky(change));
    let of = |wanted: ChangeDirection, changes_verdict: bool| -> Vec<&CaseChange> {
        let same = |change: &CaseChange| change.before.status == change.after.status;
        let is_wanted = |change: &&CaseChange| change.direction == wanted && same(change) != changes_verdict;
        steady.iter().copied().filter(|change| is_wanted(change)).collect()
    };
    let (worse, better) = (of(ChangeDirection::Worse, true), of(ChangeDirection::Better, true));
    let undecided: Vec<&CaseChange> = steady
        .iter()
        .copied()
        .filter(|change| {
            change.direction == ChangeDirection::Undecided && change.before.status != change.after.status
        })
        .collect();
    let mut title =
        format!("{} got worse, {} got better", plural(worse.len(), "case"), plural(better.len(), "case"));
    if !regressions.new_failures.is_empty() {
        let _ = write!(title, ", {} failing", plural(regressions.new_failures.len(), "new case"));
    }
    write_head(out, run, Some(before), &title);
    write_failed_gates(out, failed_gates);
    for caveat in &compared.caveats {
        let _ = writeln!(out, "{}\n", escape_markdown_text(caveat));
    }
    let scale = shared_score_scale(run);
    let sentence = compared.score.as_ref().map_or_else(
        || "No case has a verdict in both runs with the same rubric, so scores are not compared.".to_owned(),
        |score| score.sentence("score", WORTH_SEEING, scale),
    );
    let _ = writeln!(out, "{}\n", escape_markdown_text(&sentence));
    for line in regression_lines(regressions) {
        let _ = writeln!(out, "- {}", escape_markdown_text(&line));
    }
    let other: Vec<&CaseChange> = steady
        .iter()
        .copied()
        .filter(|change| change.before.status == change.after.status)
        .filter(|change| change.answer_changed || change.direction != ChangeDirection::Same)
        .collect();
    let flaky: Vec<&CaseChange> =
        flaky.into_iter().filter(|change| change.before.status != change.after.status).collect();
    write_section(out, "Got worse", &worse, scale);
    write_new_failures(out, run, &regressions.new_failures);
    write_section(out, "Verdict lost or gained", &undecided, scale);
    write_section(out, "Got better", &better, scale);
    write_section(out, "Same verdict, different answer or score", &other, scale);
    write_section(out, "Flaky: trials differ, so a change says nothing", &flaky, scale);
    let n_listed = worse.len() + undecided.len() + better.len() + other.len() + flaky.len();
    let _ = writeln!(out, "\n{} unchanged.", plural(changes.len().saturating_sub(n_listed), "case"));
    write_unpaired(out, &compared.only_after, "new, without a baseline");
    write_unpaired(out, &compared.only_before, "missing now");
    write_foot(out, run, Some(before));
}

/// Cases without a baseline that fail, and why.
fn write_new_failures(out: &mut String, run: &Run, cases: &[String]) {
    if cases.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### New and failing ({})\n", cases.len());
    let is_new_failure = |result: &CaseResult| {
        result.verdict.status == VerdictStatus::Fail && cases.iter().any(|case| case == result.base())
    };
    write_unpassed(out, run, is_new_failure);
}

/// Without a baseline: what did not pass, and why.
fn write_first_run(out: &mut String, run: &Run, failed_gates: &[FailedRunGate]) {
    let tally = RunTally::of(run);
    write_head(out, run, None, &format!("{} of {} passed", tally.passed, plural(run.results.len(), "case")));
    write_failed_gates(out, failed_gates);
    let _ = writeln!(out, "There is no baseline to compare with, so this comment cannot say what changed.\n");
    write_unpassed(out, run, |result| result.verdict.status != VerdictStatus::Pass);
    write_foot(out, run, None);
}

fn write_unpassed(out: &mut String, run: &Run, is_wanted: impl Fn(&CaseResult) -> bool) {
    for result in run.results.iter().filter(|result| is_wanted(result)) {
        let text = describe_unpassed(run, &result);
        if MAX_COMMENT_BYTES < out.len() + text.len() {
            let _ = writeln!(out, "- … cut here; the run has more that did not pass.");
            break;
        }
        out.push_str(&text);
    }
}

fn describe_unpassed(run: &Run, result: &CaseResult) -> String {
    let place = result.origin.as_ref().map(|origin| format!(" ({origin})")).unwrap_or_default();
    let head = format!("{}: {}{place}", result.case, result.verdict.status.as_str());
    let lines = reasons(run, result).into_iter().take(10);
    let lines: String =
        lines.map(|line| format!("  - {}\n", escape_markdown_text(&cut_long_text(&line)))).collect();
    format!("- {}\n{lines}", escape_markdown_text(&head))
}

fn write_head(out: &mut String, run: &Run, before: Option<&Run>, title: &str) {
    let suite = escape_markdown_text(run.suite.as_deref().unwrap_or("suite"));
    let _ = writeln!(out, "## Jurist: {title}\n");
    if let Some(not_graded) = NotGraded::of(run) {
        let _ = writeln!(out, "**{}**\n", escape_markdown_text(&not_graded.statement));
    }
    let rate = |run: &Run| {
        let Proportion { rate, interval: (low, high), .. } = estimate_run_pass_rate(run)?;
        Some(format!("{:.0} % (95 % interval {:.0} to {:.0} %)", rate * 100.0, low * 100.0, high * 100.0))
    };
    let text_or = |text: Option<String>, otherwise: &str| text.unwrap_or_else(|| otherwise.to_owned());
    let row = |name: &str, run: &Run| {
        let tally = RunTally::of(run);
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} |",
            tally.passed,
            tally.failed,
            tally.errors,
            tally.deferred,
            text_or(rate(run), "–"),
            text_or(format_run_cost(run), "no calls")
        )
    };
    let _ = writeln!(out, "| {suite} | passed | failed | errors | deferred | pass rate | cost |");
    let _ = writeln!(out, "| --- | ---: | ---: | ---: | ---: | --- | ---: |");
    if let Some(before) = before {
        let _ = writeln!(out, "{}", row("before", before));
    }
    let _ = writeln!(out, "{}\n", row("now", run));
}

fn write_section(out: &mut String, title: &str, changes: &[&CaseChange], scale: Option<(f64, f64)>) {
    if changes.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### {title} ({})\n", changes.len());
    for (at, change) in changes.iter().enumerate() {
        let text = describe_change(change, scale);
        if MAX_COMMENT_BYTES < out.len() + text.len() {
            let n_left = changes.len() - at;
            let _ = writeln!(out, "… and {} that this comment has no room for.", plural(n_left, "case"));
            return;
        }
        out.push_str(&text);
    }
}

/// A case that can be folded: the answer with its changes, and a table of the criteria.
fn describe_change(change: &CaseChange, scale: Option<(f64, f64)>) -> String {
    // Another rubric may have another scale.
    let scale = scale.filter(|_| !change.rubric_changed);
    let place = change.origin.as_ref().map(|origin| format!(" ({origin})")).unwrap_or_default();
    let mut out = format!(
        "<details>\n<summary>{}: {} → {}, {}{}</summary>\n\n",
        escape_summary(&change.case),
        change.before.status.as_str(),
        change.after.status.as_str(),
        format_score_change(change.before.score, change.after.score, scale),
        escape_summary(&place)
    );
    if change.rubric_changed {
        out.push_str("The rubric changed as well.\n\n");
    }
    match (&change.before.answer, &change.after.answer) {
        (Some(_), Some(_)) if change.answer_changed => {
            let _ = writeln!(out, "> {}\n", markdown_diff(&change.answer_diff));
        }
        (Some(_), Some(answer)) => {
            let _ = writeln!(out, "Same answer: {}\n", escape_markdown_text(&cut_long_text(answer)));
        }
        (None, Some(answer)) => {
            let _ = writeln!(
                out,
                "Now (the baseline holds no answer): {}\n",
                escape_markdown_text(&cut_long_text(answer))
            );
        }
        _ => out.push_str("The runs hold no answers.\n\n"),
    }
    if !change.criteria.is_empty() {
        out.push_str("| criterion | before | now |\n| --- | --- | --- |\n");
        for criterion in &change.criteria {
            let CriterionChange { criterion: name, before, after } = criterion;
            let name = escape_markdown_text(name);
            let _ = writeln!(out, "| {name} | {} | {} |", criterion_cell(before), criterion_cell(after));
        }
    }
    out + "\n</details>\n"
}

/// Text inside of an HTML element, where Markdown has no meaning, on one line; it mentions no user.
fn escape_summary(text: &str) -> String {
    let is_hidden = |letter: char| letter.is_control() || is_hidden_steering(letter);
    crate::chart::escape_xml(text).replace(is_hidden, " ").replace('@', "@\u{200b}")
}

fn criterion_cell(answers: &[CriterionAnswer]) -> String {
    let one = |answer: &CriterionAnswer| {
        let quotes = answer.evidence.iter().take(3).map(|quote| escape_markdown_text(&cut_long_text(quote)));
        let lines: Vec<String> =
            std::iter::once(escape_markdown_text(&cut_long_text(&answer.line()))).chain(quotes).collect();
        lines.join("<br>")
    };
    if answers.is_empty() {
        "–".to_owned()
    } else {
        answers.iter().map(one).collect::<Vec<_>>().join("<br>")
    }
}

/// Removed words struck, added words underlined; of long stretches that stayed only the ends.
fn markdown_diff(runs: &[WordRun]) -> String {
    let mut out = String::new();
    for (at, run) in runs.iter().enumerate() {
        if MAX_ANSWER_LETTERS < out.chars().count() {
            out.push_str(" …");
            break;
        }
        match run.change {
            WordChange::Same => {
                out.push_str(&escape_markdown_text(&shorten_same(&run.text, at == 0, at + 1 == runs.len())));
            }
            WordChange::Removed => {
                let _ =
                    write!(out, "<del>{}</del>", escape_markdown_text(&cut_long_text(&run.visible_text())));
            }
            WordChange::Added => {
                let _ =
                    write!(out, "<ins>{}</ins>", escape_markdown_text(&cut_long_text(&run.visible_text())));
            }
        }
    }
    out
}

/// What stayed, without its middle where it is long; before the first change only its end is shown, and after the
/// last one only its beginning.
pub fn shorten_same(text: &str, is_first: bool, is_last: bool) -> String {
    let letters: Vec<char> = text.chars().collect();
    let room = NEAR_LETTERS * (2 - usize::from(is_first || is_last));
    if letters.len() <= room + 3 {
        return text.to_owned();
    }
    let head: String = letters[..NEAR_LETTERS].iter().collect();
    let tail: String = letters[letters.len() - NEAR_LETTERS..].iter().collect();
    match (is_first, is_last) {
        (_, true) => format!("{head}…"),
        (true, false) => format!("…{tail}"),
        (false, false) => format!("{head} … {tail}"),
    }
}

fn cut_long_text(text: &str) -> String {
    match text.char_indices().nth(MAX_ANSWER_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn write_unpaired(out: &mut String, cases: &[String], what: &str) {
    if cases.is_empty() {
        return;
    }
    let names: Vec<String> = cases.iter().take(20).map(|name| escape_markdown_text(name)).collect();
    let more = if 20 < cases.len() { ", …" } else { "" };
    let _ = writeln!(out, "{} {what}: {}{more}.", plural(cases.len(), "case"), names.join(", "));
}

fn write_foot(out: &mut String, run: &Run, before: Option<&Run>) {
    let duration = run_duration_seconds(run).map(|seconds| format!(" · {seconds:.1} s")).unwrap_or_default();
    let since = before.map(|before| format!(" · compared with `{}`", before.id)).unwrap_or_default();
    let _ = writeln!(out, "\n<sub>Run `{}`{since}{duration}</sub>", run.id);
}
