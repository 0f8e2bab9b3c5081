//! SARIF 2.1.0, for code scanning: a rule for each criterion, a result for each that a failed case does not meet.
//!
//! A case that could not be graded is a notification of the tool and no result. A candidate that holds text shaped like
//! a verdict is a result of the lowest level.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::RunTally;
use super::finding::{self, CriterionFinding, CriterionSeverity, Location};
use super::outcome_text::{
    GraderStatement, collect_grader_statements, format_evidence_quote, run_duration_seconds,
};
use super::score_text::{format_native_score, parse_case_rubric};
use crate::grade::{Grade, GradeFlag, Outcome, VerdictStatus};
use crate::run::{CaseResult, NotGraded, Run};
use crate::source::path_text;

pub(super) fn render_sarif_report(run: &Run) -> String {
    let mut rules = SarifRules::of(run);
    let mut results: Vec<Json> = Vec::new();
    for case in run.results.iter() {
        let (findings, notes) = (finding::list_case_findings(run, &case), finding::list_note_findings(&case));
        let findings = findings.iter().chain(&notes);
        results.extend(findings.map(|finding| build_sarif_result(run, finding, &mut rules)));
    }
    let suite = run.suite.as_deref().unwrap_or("suite");
    let tally = RunTally::of(run);
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Jurist", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules.written,
            } },
            // Up to its last slash this names a kind of run, whose results replace those of the last one.
            "automationDetails": { "id": format!("jurist/{suite}/{}", run.id) },
            "invocations": [invocation(run)],
            "results": results,
            "properties": {
                "suite": run.suite, "seed": run.seed, "costUsd": run.spend.cost, "seconds": run_duration_seconds(run),
                "passed": tally.passed, "failed": tally.failed, "errors": tally.errors, "deferred": tally.deferred,
                "provenance": (!run.provenance.is_empty()).then_some(&run.provenance),
            },
        }],
    });
    serde_json::to_string_pretty(&log).expect("a log is plain data") + "\n"
}

/// Every criterion of a run's rubrics, and the rest of what cases failed on.
///
/// Two rubrics may give one name to two criteria: results say which by its place.
struct SarifRules {
    written: Vec<Json>,
    /// The rubric that each is from, and its id.
    keys: Vec<(String, String)>,
}

impl SarifRules {
    fn of(run: &Run) -> Self {
        let mut rules = Self { written: Vec::new(), keys: Vec::new() };
        for (version, rubric) in &run.rubrics {
            rules.add_all(version.as_str(), rubric);
        }
        rules
    }

    fn add_all(&mut self, version: &str, rubric: &Json) {
        for criterion in rubric["criteria"].as_array().into_iter().flatten() {
            let id = criterion["name"].as_str().unwrap_or_default();
            let text = ["description", "label", "name"].iter().find_map(|text| criterion[*text].as_str());
            self.add(version, id, text.unwrap_or(id), criterion["weight"].as_f64().unwrap_or(1.0));
            self.add_all(version, criterion);
        }
    }

    fn add(&mut self, version: &str, id: &str, text: &str, weight: f64) {
        self.keys.push((version.to_owned(), id.to_owned()));
        self.written.push(json!({
            "id": id,
            "shortDescription": { "text": break_markdown_links(text) },
            "fullDescription": { "text": break_markdown_links(text) },
            "help": { "text": break_markdown_links(text) },
            "properties": { "rubric": version, "weight": weight },
        }));
    }

    /// The index of a rule; rules for nodes of trees and for the verdict itself are added when they are needed.
    fn index(&mut self, version: &str, id: &str) -> usize {
        let known = self.keys.iter().position(|key| key.0 == version && key.1 == id);
        known.unwrap_or_else(|| {
            let text = match id {
                finding::VERDICT_IN_CANDIDATE => GradeFlag::VerdictInCandidate.words().to_owned(),
                _ => format!("`{id}` of rubric {version}"),
            };
            self.add(version, id, &text, 1.0);
            self.keys.len() - 1
        })
    }
}

fn build_sarif_result(run: &Run, finding: &CriterionFinding<'_>, rules: &mut SarifRules) -> Json {
    let case = finding.result;
    let level = match finding.severity {
        CriterionSeverity::Gate | CriterionSeverity::Below => "error",
        CriterionSeverity::Short => "warning",
        CriterionSeverity::Note => "note",
    };
    json!({
        "ruleId": finding.rule,
        "ruleIndex": rules.index(case.rubric.as_str(), finding.rule),
        "kind": "fail",
        "level": level,
        "message": { "text": break_markdown_links(&finding.message) },
        "locations": [build_sarif_location(run, case)],
        "partialFingerprints": { "jurist/v1": finding.fingerprint(run) },
        "properties": {
            "status": case.verdict.status.as_str(),
            "ownScore": format_native_score(case, parse_case_rubric(run, case).as_ref()),
            "score": case.verdict.score, "passMark": run.pass_mark(&case.rubric),
            "costUsd": case.spend.cost, "rubric": case.rubric,
            "grades": finding.grades.iter().map(|grade| build_sarif_grade(run, case, grade)).collect::<Vec<_>>(),
        },
    })
}

fn build_sarif_grade(run: &Run, case: &CaseResult, grade: &Grade) -> Json {
    json!({
        "judge": grade.grader.name, "kind": grade.grader.kind,
        "answer": GraderStatement::of(run, case, grade).answer, "score": run.answer_worth(case, grade),
        "reason": grade.reason.as_str(),
        "evidence": grade.evidence.iter().map(format_evidence_quote).collect::<Vec<_>>(), "costUsd": grade.spend.cost,
    })
}

/// The case, in its file where that is known. Code scanning wants a line even where none is known.
fn build_sarif_location(run: &Run, case: &CaseResult) -> Json {
    let suite = run.suite.as_deref().unwrap_or("suite");
    let logical = json!([{
        "name": case.case, "fullyQualifiedName": format!("{suite}/{}", case.case), "kind": "case",
    }]);
    match finding::find_case_location(run, case) {
        None => json!({ "logicalLocations": logical }),
        Some(Location { file, line }) => json!({
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&file) }, "region": { "startLine": line.unwrap_or(1) },
            },
            "logicalLocations": logical,
        }),
    }
}

/// How the run itself went.
fn invocation(run: &Run) -> Json {
    let not_graded = NotGraded::of(run).map(|not_graded| {
        json!({
            "descriptor": { "id": "not_graded" }, "level": "warning",
            "message": { "text": break_markdown_links(&not_graded.statement) },
        })
    });
    let of_cases = run.results.iter().flat_map(|result| notifications(run, &result));
    let mut invocation = json!({
        "executionSuccessful": RunTally::of(run).errors == 0,
        "startTimeUtc": run.started,
        "toolExecutionNotifications": of_cases.chain(not_graded).collect::<Vec<_>>(),
    });
    if let Some(ended) = run.ended {
        invocation["endTimeUtc"] = json!(ended);
    }
    invocation
}

/// Notifications about the questions of a case without a grade: grader errors and questions that were not asked.
fn notifications(run: &Run, case: &CaseResult) -> Vec<Json> {
    let notification = |id: &str, level: &str, text: &str| {
        json!({
            "descriptor": { "id": id }, "level": level,
            "message": { "text": break_markdown_links(&format!("{}: {text}", case.case)) },
            "locations": [build_sarif_location(run, case)],
            "properties": { "status": case.verdict.status.as_str(), "rubric": case.rubric },
        })
    };
    let mut list: Vec<Json> = collect_grader_statements(run, case)
        .iter()
        .filter_map(|statement| match statement.outcome {
            Outcome::Failed { failure, .. } => {
                Some(notification(&serialized_variant(failure), "error", &statement.line()))
            }
            Outcome::Deferred { why } => {
                Some(notification(&serialized_variant(why), "note", &statement.line()))
            }
            _ => None,
        })
        .collect();
    if list.is_empty() {
        match case.verdict.status {
            VerdictStatus::Error => list.push(notification("error", "error", "no verdict")),
            VerdictStatus::Deferred => list.push(notification("deferred", "note", "no verdict yet")),
            VerdictStatus::Pass | VerdictStatus::Fail => {}
        }
    }
    list
}

/// A word of the contract as it is spelled there.
fn serialized_variant(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// Text in which a viewer finds no link: `[text](target)` would be one even here.
fn break_markdown_links(text: &str) -> String {
    text.replace("](", "] (")
}

/// A path as a URI reference.
fn uri(path: &str) -> String {
    let text = path_text(Path::new(path));
    let mut out = String::from(match Path::new(path).is_absolute() {
        false => "",
        true if text.starts_with('/') => "file://",
        // A drive letter is the first part of the path of an address.
        true => "file:///",
    });
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
