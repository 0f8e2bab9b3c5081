//! A run as text, one file per format; each a pure function of the run.
//!
//! Errors and deferrals are failures in none of them.

mod case_changes;
mod comparison_charts;
mod csv;
mod failed_run_gate;
mod finding;
mod github;
mod gitlab;
mod html;
mod junit;
mod markdown;
mod otel;
mod pr_comment;
mod ranking_charts;
mod regressions;
mod results;
mod rows;
mod outcome_text;
mod sarif;
mod score_text;
mod tap;
mod undecided;
mod word_diff;

pub use case_changes::{
    CaseChange, CaseChanges, CaseSide, ChangeCounts, ChangeDirection, ChangeFilter, ChangePlace,
    CriterionAnswer, CriterionChange, find_case_changes, list_case_changes, stored_answer,
};
pub use comparison_charts::{build_comparison_forest, build_comparison_radar};
pub use csv::csv_cell;
pub use failed_run_gate::FailedRunGate;
pub use github::render_github_summary as github_summary;
pub use otel::{TraceEvaluation, render_trace_otel_logs};
use outcome_text::format_outcome;
pub use outcome_text::{format_case_cost, format_run_cost, without_traceback};
pub use pr_comment::shorten_same;
pub use ranking_charts::{build_strength_forest, build_win_matrix};
pub use regressions::{comparison_markdown, regression_lines};
pub use results::results_radar;
pub use rows::{
    ANNOTATION_TASK, COLUMNS, Column, ColumnKind, GradeCell, GradeRow, csv_head, csv_rows, grade_rows,
};
pub use score_text::{
    Rubrics, criterion_score_scale, criterion_score_scales, declared_choices, declared_scales,
    declared_score_scale, format_beside_own_scale, format_case_score, format_difference_interval,
    format_difference_with_interval, format_mean, format_mean_score, format_mean_with_interval,
    format_native_score, format_on_scale, format_pass_mark, format_score_change, format_score_distance,
    format_score_interval, graded_score_scale, parse_run_rubrics, rubric_score_scale, shared_score_scale,
};
use score_text::{format_missed_mark, parse_case_rubric, score_scale};
pub use undecided::ungraded_reason;
use undecided::{ReasonLength, is_in_gate_reason, list_undecided_gates};
pub use word_diff::{WordChange, WordRun, diff_words};

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::grade::{Deferral, FailedGate, Gate, Grade, GradeFlag, Outcome, Value, VerdictStatus};
use crate::run::{CaseResult, Run, RunSummary};
use crate::stats::comparison::Comparison;

/// A way to write a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    Json,
    /// A line per case.
    Ndjson,
    Junit,
    Markdown,
    Tap,
    Csv,
    /// One page for people, that needs nothing else.
    Html,
    /// What failed, for code scanning.
    Sarif,
    /// What failed, as GitLab's code quality report.
    Gitlab,
    /// Annotations of a GitHub workflow; its page is [`github_summary`].
    Github,
    /// A comment on a pull request: what changed since the baseline.
    PrComment,
    /// OpenTelemetry's evaluation events.
    Otel,
}

impl ReportFormat {
    pub const ALL: [(&'static str, Self); 12] = [
        ("json", Self::Json),
        ("ndjson", Self::Ndjson),
        ("junit", Self::Junit),
        ("md", Self::Markdown),
        ("tap", Self::Tap),
        ("csv", Self::Csv),
        ("html", Self::Html),
        ("sarif", Self::Sarif),
        ("gitlab", Self::Gitlab),
        ("github", Self::Github),
        ("pr-comment", Self::PrComment),
        ("otel", Self::Otel),
    ];
}

/// The run in this format, with a line break at its end.
pub fn render_report(format: ReportFormat, run: &Run) -> String {
    render_compared(format, run, ReportContext::default())
}

/// The run that another one is compared with, and what the comparison says.
#[derive(Debug, Clone, Copy)]
pub struct RunBaseline<'a> {
    pub run: &'a Run,
    pub compared: &'a Comparison,
}

/// What reports show that the run itself does not hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportContext<'a> {
    pub baseline: Option<RunBaseline<'a>>,
    /// Whether a case that was not graded makes the exit code of the command non-zero.
    pub no_defer: bool,
    /// Gates of the whole run that do not hold.
    pub failed_gates: &'a [FailedRunGate],
}

/// The same, with what became of its cases since another run where the format has room for it.
pub fn render_compared(format: ReportFormat, run: &Run, context: ReportContext<'_>) -> String {
    let compared = context.baseline.map(|baseline| baseline.compared);
    match format {
        ReportFormat::Json => with_summary(run, compared),
        ReportFormat::Ndjson => run.results.iter().map(|result| render_ndjson_line(run, &result)).collect(),
        ReportFormat::Junit => junit::render_junit_report(run, context.failed_gates),
        ReportFormat::Markdown => markdown::render_markdown_report(run, context),
        ReportFormat::Tap => tap::render_tap_report(run),
        ReportFormat::Csv => csv::render_csv_report(run),
        ReportFormat::Html => html::render_html_report(run),
        ReportFormat::Sarif => sarif::render_sarif_report(run),
        ReportFormat::Gitlab => gitlab::render_gitlab_report(run),
        ReportFormat::Github => github::render_github_annotations(run, context),
        ReportFormat::PrComment => pr_comment::render_pr_comment(run, context),
        ReportFormat::Otel => otel::render_otel_report(run),
    }
}

/// The run in the form of the data contract, with the summary of its results.
fn with_summary(run: &Run, compared: Option<&Comparison>) -> String {
    #[derive(serde::Serialize)]
    struct Summarised<'a> {
        #[serde(flatten)]
        run: &'a Run,
        summary: RunSummary,
    }
    let regressions = compared.map(|comparison| comparison.regressions.clone());
    let summary = RunSummary { regressions, ..RunSummary::of(run) };
    let summarised = Summarised { run, summary };
    serde_json::to_string_pretty(&summarised).expect("a run is plain data") + "\n"
}

/// A case as the contract has it, with the one thing that only its rubric knows.
fn render_ndjson_line(run: &Run, result: &CaseResult) -> String {
    #[derive(serde::Serialize)]
    struct NdjsonCaseLine<'a> {
        #[serde(flatten)]
        result: &'a CaseResult,
        pass_mark: Option<f64>,
    }
    let line = NdjsonCaseLine { result, pass_mark: run.pass_mark(&result.rubric) };
    serde_json::to_string(&line).expect("a result is plain data") + "\n"
}

/// How many cases came to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunTally {
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    pub deferred: usize,
}

impl RunTally {
    pub fn of(run: &Run) -> Self {
        let mut tally = Self::default();
        for result in run.results.iter() {
            *match result.verdict.status {
                VerdictStatus::Pass => &mut tally.passed,
                VerdictStatus::Fail => &mut tally.failed,
                VerdictStatus::Error => &mut tally.errors,
                VerdictStatus::Deferred => &mut tally.deferred,
            } += 1;
        }
        tally
    }
}

/// The gates that failed a case, and those that could not be decided. Without the run, a criterion that states what must
/// not hold has its plain name.
pub fn gates(run: Option<&Run>, result: &CaseResult) -> Vec<String> {
    list_gates(run, result, ReasonLength::Full)
}

fn list_gates(run: Option<&Run>, result: &CaseResult, length: ReasonLength) -> Vec<String> {
    let undecided = list_undecided_gates(result, length);
    list_failed_gates(run, result).into_iter().chain(undecided).collect()
}

fn list_failed_gates(run: Option<&Run>, result: &CaseResult) -> Vec<String> {
    let line = |failed_gate: &FailedGate| {
        let criterion = failed_gate.criterion.as_deref();
        let of = criterion.map_or(Cow::Borrowed("the rubric"), |id| {
            run.map_or(Cow::Borrowed(id), |run| run.worth_name(result, id))
        });
        let why = if failed_gate.gate == Gate::Evidence { ": no verifiable evidence" } else { "" };
        format!("gate {} of {of} failed{why}", variant_in_words(&failed_gate.gate))
    };
    result.verdict.failed_gates.iter().map(line).collect()
}

/// What a reader should know about a case before trusting its grades.
pub fn case_notes(result: &CaseResult) -> Vec<String> {
    let flag = GradeFlag::VerdictInCandidate;
    let is_flagged = result.grades.iter().any(|grade| grade.flags.contains(&flag));
    is_flagged.then(|| flag.words().to_owned()).into_iter().collect()
}

/// Marks a judge's text if its score does not count because no quote was verified.
pub fn with_evidence(grade: &Grade, answer: String) -> String {
    let flag = GradeFlag::NoVerifiableEvidence;
    let is_flagged = grade.flags.contains(&flag) && matches!(grade.outcome, Outcome::Scored { .. });
    if is_flagged { format!("{} (answer of the judge: {answer})", flag.words()) } else { answer }
}

/// What decided a verdict in addition to its answers: gates that failed, why a panel did not pass, and where trees ended.
pub fn verdict_grounds(run: Option<&Run>, result: &CaseResult) -> Vec<String> {
    list_grounds(run, result, ReasonLength::Full)
}

/// The same without the error messages of graders, for reports that show every answer after them.
pub fn short_verdict_grounds(run: &Run, result: &CaseResult) -> Vec<String> {
    list_grounds(Some(run), result, ReasonLength::Short)
}

fn list_grounds(run: Option<&Run>, result: &CaseResult, length: ReasonLength) -> Vec<String> {
    let panel = result.panel.as_ref().and_then(|panel| panel.why.as_ref()).map(|why| format!("panel: {why}"));
    list_gates(run, result, length).into_iter().chain(panel).chain(leaf_reasons(result)).collect()
}

/// What an author wrote at the leaf that a tree came to.
fn leaf_reasons(result: &CaseResult) -> impl Iterator<Item = String> {
    result.verdict.path.iter().filter_map(|step| {
        let score = step.score.map(|score| format!(" ({score:.2})")).unwrap_or_default();
        Some(format!("{}: {}{score} — {}", step.node, step.answer, step.reason.as_ref()?))
    })
}

/// The reason of the leaf to which the answer to a question led.
fn leaf_reason<'a>(result: &'a CaseResult, question: &str) -> Option<&'a str> {
    result.verdict.path.iter().find(|step| step.node == question)?.reason.as_deref()
}

/// Whether a criterion may be a cause of the verdict: if gates failed a case whose score is not under the pass mark, only
/// the criteria of these gates are.
pub fn is_cause(run: &Run, result: &CaseResult, criterion: &str) -> bool {
    let gates = &result.verdict.failed_gates;
    let (score, mark) = (result.verdict.score, run.pass_mark(&result.rubric));
    let is_score_low = score.zip(mark).is_some_and(|(score, mark)| score < mark);
    // A gate of the rubric, of a group or of a tree is decided by grades of other names.
    let is_graded = |id: &str| result.grades.iter().any(|grade| grade.criterion == id);
    let is_of_gate = |gate: &FailedGate| match gate.criterion.as_deref() {
        Some(id) if is_graded(id) => id == criterion,
        _ => true,
    };
    gates.is_empty() || is_score_low || gates.iter().any(is_of_gate)
}

/// Why a case did not pass, a line for each criterion that has something to say. If it failed, what cost the most points
/// comes first.
pub fn reasons(run: &Run, result: &CaseResult) -> Vec<String> {
    if let Some(why) = ungraded_reason(result) {
        return list_failed_gates(Some(run), result).into_iter().chain([why.to_owned()]).collect();
    }
    let grades: Vec<(Cow<'_, str>, String)> = order_by_loss(run, result)
        .into_iter()
        .filter(|grade| is_cause(run, result, &grade.criterion) && !is_in_gate_reason(result, grade))
        .filter_map(|grade| {
            let answer = match &grade.outcome {
                Outcome::Scored { .. } => {
                    let worth = run.answer_worth(result, grade)?;
                    let lacks = worth < 1.0 || grade.flags.contains(&GradeFlag::NoVerifiableEvidence);
                    lacks.then(|| with_evidence(grade, format_worth(run, result, grade, worth)))?
                }
                Outcome::NotApplicable => return None,
                Outcome::Abstained { why } => format!("cannot assess: {why}"),
                Outcome::Failed { failure, detail } => {
                    format!("{}: {}", variant_in_words(failure), without_traceback(detail))
                }
                Outcome::Deferred { why } => describe_deferral(*why, grade.reason.as_str()),
            };
            let reason = without_traceback(grade.reason.as_str());
            let answer = if reason.is_empty() || answer.ends_with(reason) {
                answer
            } else {
                format!("{answer} — {reason}")
            };
            Some((run.worth_name(result, &grade.criterion), answer))
        })
        .collect();
    // If all criteria have the same answer, one line names them all.
    let lines: Vec<String> = match grades.first() {
        Some((_, first)) if grades.iter().all(|(_, answer)| answer == first) => {
            vec![format!("{}: {first}", join_names(grades.iter().map(|(id, _)| id.as_ref())))]
        }
        _ => grades.iter().map(|(id, answer)| format!("{id}: {answer}")).collect(),
    };
    verdict_grounds(Some(run), result).into_iter().chain(lines).collect()
}

/// The grades of a case; if it failed, by the points that their criteria cost, and grades without a value last.
fn order_by_loss<'a>(run: &Run, result: &'a CaseResult) -> Vec<&'a Grade> {
    let mut grades: Vec<&Grade> = result.grades.iter().collect();
    if result.verdict.status != VerdictStatus::Fail {
        return grades;
    }
    // Grades of one criterion stay together.
    let mut losses: HashMap<&str, f64> = HashMap::new();
    for grade in &result.grades {
        let loss = run.answer_loss(result, grade).unwrap_or(0.0);
        let most = losses.entry(&grade.criterion).or_insert(loss);
        *most = most.max(loss);
    }
    let loss = |grade: &Grade| losses.get(grade.criterion.as_str()).copied().unwrap_or(0.0);
    grades.sort_by(|one, other| loss(other).total_cmp(&loss(one)));
    grades
}

/// That the score of a failed case is under the pass mark, if that and no gate is the cause.
fn explain_low_score(run: &Run, result: &CaseResult) -> Option<String> {
    let is_failed = result.verdict.status == VerdictStatus::Fail && result.verdict.failed_gates.is_empty();
    let (score, mark) = (result.verdict.score?, run.pass_mark(&result.rubric)?);
    let is_under = is_failed && score < mark;
    is_under.then(|| {
        let scale = parse_case_rubric(run, result).and_then(|rubric| score_scale(result, &rubric));
        let [score, mark] = format_missed_mark(score, mark, scale);
        format!("score {score} is under the pass mark {mark}")
    })
}

/// Criteria that are named in one line.
const MAX_NAMES: usize = 10;

/// The names, each once: all judges of a panel grade the same criterion.
fn join_names<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    distinct.extend(names.filter(|name| known.insert(*name)));
    match distinct.len().saturating_sub(MAX_NAMES) {
        0 => distinct.join(", "),
        more => format!("{} and {more} more", distinct[..MAX_NAMES].join(", ")),
    }
}

/// The worth of an answer; an answer on its author's scale comes first, as in `4 (0.75)`. Yes and no have no scale, and
/// an answer to a negative criterion would contradict its worth.
fn format_worth(run: &Run, result: &CaseResult, grade: &Grade, worth: f64) -> String {
    let has_scale = |value: &Value| matches!(value, Value::Number(_)) || value.as_yes_or_no().is_none();
    match &grade.outcome {
        Outcome::Scored { value, .. } if has_scale(value) && !run.is_negative(result, &grade.criterion) => {
            format_outcome(&grade.outcome)
        }
        _ => format!("{worth:.2}"),
    }
}

/// Why a question was not asked. Without a key or a judge, the reason alone says what is missing.
pub fn describe_deferral(why: Deferral, reason: &str) -> String {
    match why {
        Deferral::NoKey if !reason.is_empty() => format!("not asked: {reason}"),
        _ => format!("not asked: {}", variant_in_words(&why)),
    }
}

pub fn variant_in_words(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('_', " ")
}

/// Who judged, each once.
fn join_grader_names(result: &CaseResult) -> String {
    let mut names: Vec<&str> = result.grades.iter().map(|grade| grade.grader.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests;
