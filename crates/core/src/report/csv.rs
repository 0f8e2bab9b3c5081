//! A row per grade, for spreadsheets.

use super::{status_word, word};
use crate::grade::Outcome;
use crate::run::Run;

pub(super) fn render(run: &Run) -> String {
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
    ];
    let mut write =
        |row: &[String]| writer.write_record(row.iter().map(|it| plain(it))).expect("memory is writable");
    write(&head.map(str::to_owned));
    for result in &run.results {
        for grade in &result.grades {
            let (outcome, value) = match &grade.outcome {
                Outcome::Scored { value, .. } => ("scored".to_owned(), value.to_string()),
                Outcome::NotApplicable => ("not applicable".to_owned(), String::new()),
                Outcome::Abstained { why } => ("abstained".to_owned(), why.clone()),
                Outcome::Failed { failure, detail } => (word(failure), detail.clone()),
                Outcome::Deferred { why } => (word(why), String::new()),
            };
            let number = |it: Option<f64>| it.map(|it| it.to_string()).unwrap_or_default();
            let quotes: Vec<&str> = grade.evidence.iter().map(|it| it.quote.as_str()).collect();
            write(&[
                result.case.clone(),
                result.candidate.clone(),
                status_word(result.verdict.status).to_owned(),
                number(result.verdict.score),
                number(run.pass_mark(&result.rubric)),
                grade.criterion.clone(),
                grade.grader.name.clone(),
                outcome,
                value,
                number(grade.outcome.unit()),
                grade.reason.as_str().to_owned(),
                quotes.join(" | "),
                grade.spend.cost.map(|it| (it.nanos() as f64 / 1e9).to_string()).unwrap_or_default(),
                result.rubric.as_str().to_owned(),
            ]);
        }
    }
    String::from_utf8(writer.into_inner().expect("memory is writable")).expect("only text was written")
}

/// A cell that no spreadsheet takes for a formula.
fn plain(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}
