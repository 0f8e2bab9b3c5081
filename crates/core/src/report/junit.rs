//! JUnit's XML, as CI systems read it: failures, errors and skipped cases are three things.
//!
//! It keeps to Jenkins' schema (`junit-10.xsd`), which has no properties for a case.
//! They are in the case's output instead, one `[[PROPERTY|name=value]]` a line.

use std::fmt::Write as _;

use super::outcome_text::{case_figures, collect_grader_statements, run_duration_seconds};
use super::{
    FailedRunGate, RunTally, case_notes, explain_low_score, finding, format_run_cost, reasons,
    short_verdict_grounds,
};
use crate::grade::VerdictStatus;
use crate::run::{CaseResult, NotGraded, Run};
use crate::source::is_hidden_steering;

pub(super) fn render_junit_report(run: &Run, failed_gates: &[FailedRunGate]) -> String {
    let tally = RunTally::of(run);
    let name = escape_junit_text(run.suite.as_deref().unwrap_or("jurist"));
    // CI servers show failed tests, and nothing else of what made the command fail.
    let (n_tests, n_failures) = (run.results.len() + failed_gates.len(), tally.failed + failed_gates.len());
    let mut counts = format!("tests=\"{n_tests}\" failures=\"{n_failures}\" errors=\"{}\"", tally.errors);
    if let Some(seconds) = run_duration_seconds(run) {
        let _ = write!(counts, " time=\"{seconds:.3}\"");
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{name}\" {counts}>");
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" {counts} skipped=\"{}\" timestamp=\"{}\">",
        tally.deferred, run.started
    );
    write_junit_properties(&mut out, run);
    for result in run.results.iter() {
        let _ =
            writeln!(out, "    <testcase name=\"{}\" classname=\"{name}\">", escape_junit_text(&result.case));
        let why = reasons(run, &result);
        let message: Vec<String> =
            explain_low_score(run, &result).into_iter().chain(why.first().cloned()).collect();
        let first = escape_junit_text(&message.join("; "));
        let place = finding::find_case_location(run, &result).map(|location| format!("at {location}"));
        let all = place.into_iter().chain(why.iter().cloned()).collect::<Vec<_>>();
        let all = escape_junit_text(&all.join("\n"));
        let _ = match result.verdict.status {
            VerdictStatus::Pass => Ok(()),
            VerdictStatus::Fail => {
                writeln!(out, "      <failure type=\"fail\" message=\"{first}\">{all}</failure>")
            }
            VerdictStatus::Error => {
                writeln!(out, "      <error type=\"error\" message=\"{first}\">{all}</error>")
            }
            VerdictStatus::Deferred => {
                writeln!(out, "      <skipped type=\"deferred\" message=\"{first}\"/>")
            }
        };
        let _ = writeln!(out, "      <system-out>{}</system-out>", render_junit_output(run, &result));
        let _ = writeln!(out, "    </testcase>");
    }
    for gate in failed_gates {
        let test = escape_junit_text(&format!("gate: {}", gate.gate));
        let why = escape_junit_text(&gate.reasons.join("\n"));
        let _ = writeln!(out, "    <testcase name=\"{test}\" classname=\"{name}\">");
        let _ = writeln!(out, "      <failure type=\"gate\" message=\"{why}\">{why}</failure>");
        let _ = writeln!(out, "    </testcase>");
    }
    if let Some(not_graded) = NotGraded::of(run) {
        let _ = writeln!(out, "    <system-err>{}</system-err>", escape_junit_text(&not_graded.statement));
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// What holds for the whole run.
fn write_junit_properties(out: &mut String, run: &Run) {
    let not_graded = NotGraded::of(run).map(|not_graded| not_graded.statement);
    let properties = [
        ("run", Some(run.id.to_string())),
        ("cost", format_run_cost(run)),
        ("not_graded", not_graded),
        ("branch", run.provenance.branch.clone()),
        ("commit", run.provenance.commit.clone()),
        ("author", run.provenance.author.clone()),
        ("tags", Some(run.provenance.tags.join(", ")).filter(|tags| !tags.is_empty())),
        ("ci_url", run.provenance.ci_url.clone()),
    ];
    let _ = writeln!(out, "    <properties>");
    for (key, value) in properties.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
        let _ = writeln!(out, "      <property name=\"{key}\" value=\"{}\"/>", escape_junit_text(value));
    }
    let _ = writeln!(out, "    </properties>");
}

fn render_junit_output(run: &Run, result: &CaseResult) -> String {
    let location = finding::find_case_location(run, result);
    let line = location.as_ref().and_then(|location| location.line).map(|line| line.to_string());
    let place = [("file", location.map(|location| location.file)), ("line", line)];
    let figures = case_figures(run, result).into_iter().chain(place).filter_map(|(name, value)| {
        // Nothing may end the mark but what is written here.
        Some(format!("[[PROPERTY|{name}={}]]", escape_junit_text(&value?.replace(['\n', ']'], " "))))
    });
    let statements = collect_grader_statements(run, result)
        .into_iter()
        .flat_map(|grader_statement| grader_statement.lines());
    let statements = short_verdict_grounds(run, result)
        .into_iter()
        .chain(case_notes(result))
        .chain(statements)
        .map(|verdict_ground| escape_junit_text(&verdict_ground));
    figures.chain(statements).collect::<Vec<_>>().join("\n")
}

/// Text inside XML, on one line of an attribute as well.
///
/// `[[` is taken apart: after it, CI systems look for files to attach, and a candidate has none to offer.
fn escape_junit_text(text: &str) -> String {
    let text = crate::chart::escape_xml(text);
    text.replace(is_hidden_steering, " ")
        .replace('\n', "&#10;")
        .replace('\r', "&#13;")
        .replace('\t', "&#9;")
        .replace("[[", "[ [")
        .replace("[[", "[ [")
}
