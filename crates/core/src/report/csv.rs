//! A row per grade, for spreadsheets.

use super::outcome_text::{format_evidence_quote, run_duration_seconds};
use super::{leaf_reason, variant_in_words};
use crate::grade::{Grade, Outcome, Usd};
use crate::run::{CaseResult, Run};

pub(super) fn render_csv_report(run: &Run) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = [
        "case",
        "candidate",
        "status",
        "score",
        "pass_mark",
        "criterion",
        "grader",
        "outcome",
        "value",
        "unit",
        "reason",
        "evidence",
        "cost",
        "rubric",
        "run",
        "run_seconds",
        "flags",
    ];
    let mut write = |row: &[String]| {
        writer
            .write_record(row.iter().map(|row| escape_spreadsheet_formula(row)))
            .expect("memory is writable");
    };
    write(&head.map(str::to_owned));
    for result in run.results.iter() {
        for grade in &result.grades {
            write(&build_csv_row(run, &result, Some(grade)));
        }
        // A case without grades has a row as well.
        if result.grades.is_empty() {
            write(&build_csv_row(run, &result, None));
        }
    }
    String::from_utf8(writer.into_inner().expect("memory is writable")).expect("only text was written")
}

fn build_csv_row(run: &Run, result: &CaseResult, grade: Option<&Grade>) -> [String; 17] {
    let (outcome, value) = match grade.map(|grade| &grade.outcome) {
        None => (String::new(), String::new()),
        Some(Outcome::Scored { value, .. }) => ("scored".to_owned(), value.to_string()),
        Some(Outcome::NotApplicable) => ("not applicable".to_owned(), String::new()),
        Some(Outcome::Abstained { why }) => ("abstained".to_owned(), why.clone()),
        Some(Outcome::Failed { failure, detail }) => (variant_in_words(failure), detail.clone()),
        Some(Outcome::Deferred { why }) => (variant_in_words(why), String::new()),
    };
    let number = |it: Option<f64>| it.map(|value| value.to_string()).unwrap_or_default();
    let dollars = |usd: Usd| (usd.nanos() as f64 / 1e9).to_string();
    let quotes: Vec<String> =
        grade.iter().flat_map(|grade| &grade.evidence).map(format_evidence_quote).collect();
    let flags: Vec<&str> = grade.iter().flat_map(|grade| &grade.flags).map(|flag| flag.words()).collect();
    let cost = grade.map_or(result.spend.cost, |grade| grade.spend.cost);
    let leaf = grade.and_then(|grade| leaf_reason(result, &grade.criterion));
    let own = grade.map(|grade| grade.reason.as_str()).filter(|text| !text.is_empty());
    let reason = own.into_iter().chain(leaf).collect::<Vec<_>>().join(" — ");
    [
        result.case.clone(),
        result.candidate.clone(),
        result.verdict.status.as_str().to_owned(),
        number(result.verdict.score),
        number(run.pass_mark(&result.rubric)),
        grade.map(|grade| grade.criterion.clone()).unwrap_or_default(),
        grade.map(|grade| grade.grader.name.clone()).unwrap_or_default(),
        outcome,
        value,
        number(grade.and_then(|grade| grade.outcome.unit())),
        reason,
        quotes.join(" | "),
        cost.map(dollars).unwrap_or_default(),
        result.rubric.as_str().to_owned(),
        run.id.to_string(),
        number(run_duration_seconds(run)),
        flags.join(" | "),
    ]
}

/// A cell that no spreadsheet takes for a formula.
pub(super) fn escape_spreadsheet_formula(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) && !is_number {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

/// The same in a line of a table, in quotes where it must be.
pub fn csv_cell(text: &str) -> String {
    let text = escape_spreadsheet_formula(text);
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
