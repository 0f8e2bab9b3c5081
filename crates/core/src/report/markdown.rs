//! Markdown, for pull requests: a table, and what went wrong under it.

use std::fmt::Write as _;

use super::outcome_text::{collect_grader_statements, format_evidence_quote, run_duration_seconds};
use super::regressions::comparison_section;
use super::{
    FailedRunGate, ReportContext, RunTally, case_notes, format_case_cost, format_case_score,
    format_mean_score, format_pass_mark, format_run_cost, join_grader_names, parse_run_rubrics,
    shared_score_scale, short_verdict_grounds,
};
use crate::grade::VerdictStatus;
use crate::run::{CaseResult, NotGraded, Run};
use crate::source::is_hidden_steering;
use crate::stats::basics::Proportion;
use crate::stats::summaries::estimate_run_pass_rate;

pub(super) fn render_markdown_report(run: &Run, context: ReportContext<'_>) -> String {
    let tally = RunTally::of(run);
    let mut out = format!("# {}\n\n", escape_markdown_text(run.suite.as_deref().unwrap_or("Jurist")));
    write_failed_gates(&mut out, context.failed_gates);
    if let Some(not_graded) = NotGraded::of(run) {
        let _ = writeln!(out, "**{}**\n", escape_markdown_text(&not_graded.statement));
    }
    let _ = writeln!(
        out,
        "{} passed, {} failed, {}, {} deferred. Run `{}`.",
        tally.passed,
        tally.failed,
        crate::quantity::plural(tally.errors, "error"),
        tally.deferred,
        run.id
    );
    let origin = run.provenance.line();
    if !origin.is_empty() {
        let _ = writeln!(out, "Of {}.", escape_markdown_text(&origin));
    }
    if let Some(Proportion { rate, interval: (low, high), .. }) = estimate_run_pass_rate(run) {
        let percent = |value: f64| value * 100.0;
        let _ = writeln!(
            out,
            "Pass rate {:.0} % (95 % interval {:.0} to {:.0} %).",
            percent(rate),
            percent(low),
            percent(high)
        );
    }
    if let Some(mean) = format_mean_score(run) {
        let _ = writeln!(out, "Mean score {mean}.");
    }
    if let Some(cost) = format_run_cost(run) {
        let _ = writeln!(out, "Cost {cost}.");
    }
    if let Some(seconds) = run_duration_seconds(run) {
        let _ = writeln!(out, "Took {seconds:.1} s.");
    }
    if let Some(baseline) = context.baseline {
        let _ = write!(out, "\n{}", comparison_section(baseline.compared, shared_score_scale(run)));
    }
    write_case_table(&mut out, run);
    for result in run.results.iter().filter(|result| result.verdict.status != VerdictStatus::Pass) {
        write_case_section(&mut out, run, &result);
    }
    if 0 < tally.passed {
        let _ = writeln!(out, "\n<details>\n<summary>{} passed</summary>", tally.passed);
        for result in run.results.iter().filter(|result| result.verdict.status == VerdictStatus::Pass) {
            write_case_section(&mut out, run, &result);
        }
        let _ = writeln!(out, "\n</details>");
    }
    out
}

/// A paragraph for each reason why a gate of the run does not hold.
pub(super) fn write_failed_gates(out: &mut String, failed_gates: &[FailedRunGate]) {
    for gate in failed_gates.iter().flat_map(FailedRunGate::lines) {
        let _ = writeln!(out, "**Failed gate:** {}\n", escape_markdown_text(&gate));
    }
}

fn write_case_table(out: &mut String, run: &Run) {
    let _ = writeln!(
        out,
        "\n| case | status | score | pass mark | graders | cost |\n\
         | --- | --- | ---: | ---: | --- | ---: |"
    );
    let rubrics = parse_run_rubrics(run);
    for result in run.results.iter() {
        let or_dash = |it: Option<String>| it.unwrap_or_else(|| "–".to_owned());
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            escape_markdown_text(&result.case),
            result.verdict.status.as_str(),
            or_dash(format_case_score(&result, &rubrics)),
            or_dash(format_pass_mark(run, &result, &rubrics)),
            escape_markdown_text(&join_grader_names(&result)),
            format_case_cost(&result)
        );
    }
}

/// Writes the graders' reasons for a case and the quotes that support them.
fn write_case_section(out: &mut String, run: &Run, result: &CaseResult) {
    let _ =
        writeln!(out, "\n## {}: {}\n", escape_markdown_text(&result.case), result.verdict.status.as_str());
    for ground in short_verdict_grounds(run, result).into_iter().chain(case_notes(result)) {
        let _ = writeln!(out, "- {}", escape_markdown_text(&ground));
    }
    for statement in collect_grader_statements(run, result) {
        let _ = writeln!(out, "- {}", escape_markdown_text(&statement.line()));
        for evidence in statement.evidence {
            let _ = writeln!(out, "  - {}", escape_markdown_text(&format_evidence_quote(evidence)));
        }
    }
}

/// Text that cannot break out of a table, nor become markup, nor call anybody.
pub(super) fn escape_markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            // GitHub tells everyone whose name follows an `@`, escaped or not; a space without width stops it.
            '@' => out.push_str("@\u{200b}"),
            '|' | '<' | '>' | '*' | '_' | '`' | '[' | ']' | '#' | '\\' | '~' | '&' | '$' => {
                out.push('\\');
                out.push(letter);
            }
            // Only at its start a text would become a list or a line.
            '-' | '+' | '=' if out.trim_start().is_empty() => {
                out.push('\\');
                out.push(letter);
            }
            it if it.is_control() || is_hidden_steering(it) => out.push(' '),
            it => out.push(it),
        }
    }
    out
}
