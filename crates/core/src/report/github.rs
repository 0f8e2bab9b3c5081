//! What a GitHub workflow shows: an annotation for each case that did not pass or that has a note, and the page of the
//! step.

use super::outcome_text::{format_known_cost, run_duration_seconds};
use super::{
    FailedRunGate, ReportContext, Rubrics, RunTally, case_notes, finding, format_case_score,
    format_pass_mark, format_run_cost, join_grader_names, markdown, parse_run_rubrics, reasons,
};
use crate::grade::{Deferral, Outcome, VerdictStatus};
use crate::quantity::plural;
use crate::run::{CaseResult, NotGraded, Run};
use crate::source::is_hidden_steering;

/// GitHub drops a page of more than a mebibyte; what tells that it was cut needs room too.
const PAGE: usize = 1024 * 1024 - 200;

/// Commands to the runner, a line each. Failed cases, grader errors and failed gates are errors. A deferred case is an
/// error if it makes the exit code of the command non-zero, and a notice otherwise.
pub(super) fn render_github_annotations(run: &Run, context: ReportContext<'_>) -> String {
    let ReportContext { no_defer, failed_gates, .. } = context;
    let rubrics = parse_run_rubrics(run);
    let annotate = |result: CaseResult| render_case_annotation(run, &rubrics, &result, no_defer);
    let mut out: String = run.results.iter().filter_map(annotate).collect();
    let tally = RunTally::of(run);
    let cost = format_run_cost(run).map(|cost| format!(" Cost {cost}.")).unwrap_or_default();
    let duration = run_duration_seconds(run)
        .map(|run_duration_second| format!(" Took {run_duration_second:.1} s."))
        .unwrap_or_default();
    let text = format!(
        "{} passed, {} failed, {}, {} deferred.{cost}{duration} Run {}.",
        tally.passed,
        tally.failed,
        plural(tally.errors, "error"),
        tally.deferred,
        run.id
    );
    let title = run.suite.as_deref().unwrap_or("Jurist");
    for gate in failed_gates.iter().flat_map(FailedRunGate::lines) {
        out.push_str(&format_workflow_command("error", &[("title", title)], &gate));
    }
    if let Some(not_graded) = NotGraded::of(run) {
        let kind = if no_defer { "error" } else { "warning" };
        out.push_str(&format_workflow_command(kind, &[("title", title)], &not_graded.statement));
    }
    out.push_str(&format_workflow_command("notice", &[("title", title)], &text));
    out
}

/// The run in Markdown, for the file that `GITHUB_STEP_SUMMARY` names.
pub fn render_github_summary(run: &Run, context: ReportContext<'_>) -> String {
    let page = markdown::render_markdown_report(run, context);
    if page.len() <= PAGE {
        return page;
    }
    let end = page.floor_char_boundary(PAGE);
    let end = page[..end].rfind('\n').unwrap_or(end);
    format!(
        "This summary is truncated; `jurist report {} --reporter md` prints all of it.\n\n{}\n",
        run.id,
        &page[..end]
    )
}

fn render_case_annotation(
    run: &Run,
    rubrics: &Rubrics,
    result: &CaseResult,
    no_defer: bool,
) -> Option<String> {
    let is_passed = result.verdict.status == VerdictStatus::Pass;
    let notes = case_notes(result);
    let kind = match result.verdict.status {
        VerdictStatus::Pass if notes.is_empty() => return None,
        VerdictStatus::Pass => "notice",
        VerdictStatus::Deferred if !no_defer && !is_over_budget(result) => "notice",
        VerdictStatus::Fail | VerdictStatus::Error | VerdictStatus::Deferred => "error",
    };
    let findings = finding::list_case_findings(run, result);
    let quotes =
        findings.iter().flat_map(finding::CriterionFinding::quotes).map(|quote| format!("  {quote}"));
    let reasons = if is_passed { Vec::new() } else { reasons(run, result) };
    let lines: Vec<String> = reasons
        .into_iter()
        .chain(quotes)
        .chain(notes)
        .chain([describe_case_figures(run, rubrics, result)])
        .filter(|line| !line.is_empty())
        .collect();
    let location = finding::find_case_location(run, result);
    let line = location.as_ref().and_then(|location| location.line).map(|n| n.to_string());
    let mut properties = vec![("title", result.case.as_str())];
    properties.extend(location.as_ref().map(|location| ("file", location.file.as_str())));
    properties.extend(line.as_deref().map(|line| ("line", line)));
    Some(format_workflow_command(kind, &properties, &lines.join("\n")))
}

/// The verdict of a case, its score on the author's scale, pass mark, graders and cost, in a line.
fn describe_case_figures(run: &Run, rubrics: &Rubrics, result: &CaseResult) -> String {
    let verdict = Some(format!("verdict {}", result.verdict.status.as_str()));
    let score = format_case_score(result, rubrics).map(|score| format!("score {score}"));
    let mark = format_pass_mark(run, result, rubrics).map(|mark| format!("pass mark {mark}"));
    let graders = Some(join_grader_names(result)).filter(|names| !names.is_empty());
    let graders = graders.map(|names| format!("graded by {names}"));
    let cost = format_known_cost(result.spend).map(|cost| format!("cost {cost}"));
    [verdict, score, mark, graders, cost].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Whether the case was not graded because the budget was used up, for which the command has an exit code of its own.
fn is_over_budget(result: &CaseResult) -> bool {
    let over_budget = Outcome::Deferred { why: Deferral::OverBudget };
    result.grades.iter().any(|grade| grade.outcome == over_budget)
}

/// One line that the runner reads as a command, whatever is in its texts.
fn format_workflow_command(kind: &str, properties: &[(&str, &str)], text: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
    format!("::{kind} {}::{}\n", properties.join(","), escape_command_data(text))
}

/// Line breaks as the runner wants them; no other control character or mark of direction has a use there.
fn escape_command_data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    text.replace(|letter: char| letter.is_control() || is_hidden_steering(letter), " ")
}

fn property(text: &str) -> String {
    escape_command_data(text).replace(':', "%3A").replace(',', "%2C")
}
