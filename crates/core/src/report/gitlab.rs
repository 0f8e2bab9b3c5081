//! GitLab's code quality report: of its formats the one that a merge request shows as a list of what got worse.
//!
//! It knows problems only, so cases that pass, have an error or wait are not in it, except for gates that could
//! not be decided and candidates that hold text shaped like a verdict; GitLab reads JUnit as well.

use serde_json::{Value as Json, json};

use super::finding::{self, CriterionFinding, CriterionSeverity};
use super::outcome_text::{figure_lines, run_duration_seconds};
use crate::run::{CaseResult, Run};

pub(super) fn render_gitlab_report(run: &Run) -> String {
    let of = |result: CaseResult| {
        let (findings, notes) =
            (finding::list_case_findings(run, &result), finding::list_note_findings(&result));
        findings.iter().chain(&notes).map(|finding| issue(run, finding)).collect::<Vec<_>>()
    };
    let issues: Vec<Json> = run.results.iter().flat_map(of).collect();
    serde_json::to_string_pretty(&issues).expect("an issue is plain data") + "\n"
}

fn issue(run: &Run, finding: &CriterionFinding<'_>) -> Json {
    let location = finding::find_case_location(run, finding.result);
    let line = location.as_ref().and_then(|location| location.line).unwrap_or(1);
    let path = location
        .map(|location| location.file)
        .or_else(|| run.suite.clone())
        .unwrap_or_else(|| "jurist".to_owned());
    let duration =
        run_duration_seconds(run).map(|run_duration_second| format!("run took {run_duration_second:.1} s"));
    let facts: Vec<String> =
        figure_lines(run, finding.result).chain(finding.quotes()).chain(duration).collect();
    json!({
        "type": "issue",
        "description": format!("{} [{}]", finding.message, facts.join("; ")),
        "check_name": finding.rule,
        "fingerprint": finding.fingerprint(run),
        "severity": gitlab_severity(finding.severity),
        "location": { "path": path, "lines": { "begin": line } },
    })
}

/// `blocker` is left to others: no criterion stops a release.
fn gitlab_severity(severity: CriterionSeverity) -> &'static str {
    match severity {
        CriterionSeverity::Gate => "critical",
        CriterionSeverity::Below => "major",
        CriterionSeverity::Short => "minor",
        CriterionSeverity::Note => "info",
    }
}
