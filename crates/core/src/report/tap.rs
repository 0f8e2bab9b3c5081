//! The Test Anything Protocol, version 14: what was not asked is skipped, what broke is no failure of the candidate.

use std::fmt::Write as _;

use super::outcome_text::{
    case_figures, collect_grader_statements, format_evidence_quote, run_duration_seconds,
};
use super::{case_notes, reasons};
use crate::grade::VerdictStatus;
use crate::run::{CaseResult, NotGraded, Run};
use crate::source::is_hidden_steering;

pub(super) fn render_tap_report(run: &Run) -> String {
    let mut out = format!("TAP version 14\n1..{}\n# run {}\n", run.results.len(), run.id);
    if let Some(seconds) = run_duration_seconds(run) {
        let _ = writeln!(out, "# took {seconds:.1} s");
    }
    if let Some(not_graded) = NotGraded::of(run) {
        let _ = writeln!(out, "# {}", escape_tap_name(&not_graded.statement));
    }
    for (at, result) in run.results.iter().enumerate() {
        let (word, directive) = match result.verdict.status {
            VerdictStatus::Pass => ("ok", ""),
            VerdictStatus::Fail => ("not ok", ""),
            // `TODO` keeps a broken grader from counting as a failure of what it graded.
            VerdictStatus::Error => ("not ok", " # TODO error: grader error"),
            VerdictStatus::Deferred => ("ok", " # SKIP deferred: not graded"),
        };
        let name = escape_tap_name(&result.case);
        let _ = writeln!(out, "{word} {} - {name}{directive}", at + 1);
        diagnosis(&mut out, run, &result);
    }
    out
}

/// A name that is all of a line, to parsers in JavaScript too; after a last `{` they would look for tests inside it.
fn escape_tap_name(case: &str) -> String {
    let cannot_stand = |letter: char| {
        letter.is_control()
            || is_hidden_steering(letter)
            || matches!(letter, '#' | '\\' | '\u{2028}' | '\u{2029}')
    };
    case.replace(cannot_stand, " ").trim_end_matches([' ', '{']).to_owned()
}

/// A block of YAML, in which every text is in quotes.
fn diagnosis(out: &mut String, run: &Run, result: &CaseResult) {
    let _ = writeln!(out, "  ---");
    for (name, value) in case_figures(run, result) {
        let is_number = matches!(name, "score" | "pass_mark");
        let value = value.map(|value| if is_number { value } else { quote_yaml_text(&value) });
        let _ = writeln!(out, "  {name}: {}", value.as_deref().unwrap_or("~"));
    }
    let reasons: Vec<String> = reasons(run, result).iter().map(|reason| quote_yaml_text(reason)).collect();
    let _ = writeln!(out, "  reasons: [{}]", reasons.join(", "));
    let notes: Vec<String> = case_notes(result).iter().map(|note| quote_yaml_text(note)).collect();
    if !notes.is_empty() {
        let _ = writeln!(out, "  notes: [{}]", notes.join(", "));
    }
    let statements = collect_grader_statements(run, result);
    if !statements.is_empty() {
        let _ = writeln!(out, "  criteria:");
    }
    for statements in statements {
        let _ = writeln!(out, "    - criterion: {}", quote_yaml_text(&statements.criteria.join(", ")));
        for (key, value) in [
            ("answer", statements.answer.as_str()),
            ("judge", statements.grader),
            ("reason", statements.reason),
        ] {
            let _ = writeln!(out, "      {key}: {}", quote_yaml_text(value));
        }
        let quotes: Vec<String> = statements
            .evidence
            .iter()
            .map(|evidence| quote_yaml_text(&format_evidence_quote(evidence)))
            .collect();
        let _ = writeln!(out, "      evidence: [{}]", quotes.join(", "));
    }
    let _ = writeln!(out, "  ...");
}

/// JSON's quotes, which are YAML's too; of control characters YAML wants more written out.
fn quote_yaml_text(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(quoted.len());
    for letter in quoted.chars() {
        let is_no_text = matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
        if is_no_text || is_hidden_steering(letter) {
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    out
}
