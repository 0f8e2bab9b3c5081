//! A row per grade, for spreadsheets.

use super::said::{format_evidence_quote, run_duration_seconds};
use super::{leaf_reason, status_word, variant_in_words};
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
    ];
    let mut write = |row: &[String]| {
        writer.write_record(row.iter().map(|it| escape_spreadsheet_formula(it))).expect("memory is writable")
    };
    write(&head.map(str::to_owned));
    for result in run.results.iter() {
        for grade in &result.grades {
            write(&build_csv_row(run, &result, Some(grade)));
        }
        // A case that nobody graded is still one.
        if result.grades.is_empty() {
            write(&build_csv_row(run, &result, None));
        }
    }
    String::from_utf8(writer.into_inner().expect("memory is writable")).expect("only text was written")
}

fn build_csv_row(run: &Run, result: &CaseResult, grade: Option<&Grade>) -> [String; 16] {
    let (outcome, value) = match grade.map(|it| &it.outcome) {
        None => (String::new(), String::new()),
        Some(Outcome::Scored { value, .. }) => ("scored".to_owned(), value.to_string()),
        Some(Outcome::NotApplicable) => ("not applicable".to_owned(), String::new()),
        Some(Outcome::Abstained { why }) => ("abstained".to_owned(), why.clone()),
        Some(Outcome::Failed { failure, detail }) => (variant_in_words(failure), detail.clone()),
        Some(Outcome::Deferred { why }) => (variant_in_words(why), String::new()),
    };
    let number = |it: Option<f64>| it.map(|it| it.to_string()).unwrap_or_default();
    let dollars = |it: Usd| (it.nanos() as f64 / 1e9).to_string();
    let quotes: Vec<String> = grade.iter().flat_map(|it| &it.evidence).map(format_evidence_quote).collect();
    let cost = grade.map_or(result.spend.cost, |it| it.spend.cost);
    let leaf = grade.and_then(|it| leaf_reason(result, &it.criterion));
    let own = grade.map(|it| it.reason.as_str()).filter(|it| !it.is_empty());
    let reason = own.into_iter().chain(leaf).collect::<Vec<_>>().join(" — ");
    [
        result.case.clone(),
        result.candidate.clone(),
        status_word(result.verdict.status).to_owned(),
        number(result.verdict.score),
        number(run.pass_mark(&result.rubric)),
        grade.map(|it| it.criterion.clone()).unwrap_or_default(),
        grade.map(|it| it.grader.name.clone()).unwrap_or_default(),
        outcome,
        value,
        number(grade.and_then(|it| it.outcome.unit())),
        reason,
        quotes.join(" | "),
        cost.map(dollars).unwrap_or_default(),
        result.rubric.as_str().to_owned(),
        run.id.to_string(),
        number(run_duration_seconds(run)),
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
