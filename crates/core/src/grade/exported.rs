//! A row of `jurist export` as a line of JSON, read back: its keys are the columns of the table.

use serde_json::{Map, Value as Json, json};

use super::lines::{BadLine, MetadataFields, id_text};
use super::{FORMAT, Grade};

/// Whether a line is a row of an export: its outcome is a word, and the kind of its grader has a column.
pub(super) fn is_exported_row(map: &Map<String, Json>) -> bool {
    map.contains_key("grader_kind") && map.get("outcome").is_some_and(Json::is_string)
}

/// The grade of a row. What it cost stays in the file that it was exported from, and so do its parts, which an export
/// of grades has as rows of their own.
pub(super) fn read_exported_grade(map: &Map<String, Json>) -> Result<Grade, BadLine> {
    let cell = |name: &str| map.get(name).filter(|cell| !cell.is_null());
    let candidate = cell("candidate").ok_or(BadLine::Missing("candidate"))?;
    let mut grade = json!({
        "format": FORMAT,
        "candidate": id_text(candidate),
        "criterion": cell("criterion").ok_or(BadLine::Missing("criterion"))?,
        "grader": { "kind": cell("grader_kind"), "name": cell("grader").map(id_text).unwrap_or_default() },
        "outcome": exported_outcome(map)?,
    });
    if let Some(configuration) = cell("grader_configuration") {
        grade["grader"]["configuration"] = configuration.clone();
    }
    for name in ["rubric", "reason", "evidence", "flags", "time", "attempts"] {
        if let Some(cell) = cell(name) {
            grade[name] = cell.clone();
        }
    }
    serde_json::from_value(grade).map_err(|error| BadLine::Shape(error.to_string()))
}

/// The outcome in the words of the contract.
fn exported_outcome(map: &Map<String, Json>) -> Result<Json, BadLine> {
    let cell = |name: &str| map.get(name).filter(|cell| !cell.is_null());
    let kind = cell("outcome").and_then(Json::as_str).unwrap_or_default();
    let detail = cell("detail").and_then(Json::as_str).unwrap_or_default();
    let mut outcome = json!({ "kind": kind });
    match kind {
        "scored" => {
            outcome["value"] = exported_value(cell("value"), cell("number"))?;
            if let Some(unit) = cell("unit") {
                outcome["unit"] = unit.clone();
            }
        }
        "abstained" => outcome["why"] = detail.into(),
        "failed" => {
            outcome["failure"] = cell("why").cloned().unwrap_or_default();
            outcome["detail"] = detail.into();
        }
        "deferred" => outcome["why"] = cell("why").cloned().unwrap_or_default(),
        _ => {}
    }
    Ok(outcome)
}

/// A value is written as text; the column `number` says that it is a number, or yes or no.
fn exported_value(value: Option<&Json>, number: Option<&Json>) -> Result<Json, BadLine> {
    let value = value.ok_or(BadLine::Missing("value"))?;
    Ok(match (value.as_str(), number) {
        (Some("true"), Some(_)) => true.into(),
        (Some("false"), Some(_)) => false.into(),
        (Some(_), Some(number)) => number.clone(),
        _ => value.clone(),
    })
}

/// Columns that are no part of a grade, and by which grades can be looked at.
const FIELDS: [&str; 9] =
    ["run", "suite", "case", "trial", "agent", "status", "score", "pass_mark", "annotation_task"];

/// What else a row says, in addition to its `metadata`.
pub(super) fn read_exported_fields(map: &Map<String, Json>, mut fields: MetadataFields) -> MetadataFields {
    for name in FIELDS {
        if let Some(cell) = map.get(name).filter(|cell| !cell.is_null()) {
            fields.entry(name).or_insert_with(|| cell.clone());
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::super::GradesFileLine;

    #[test]
    fn a_row_without_a_candidate_or_with_an_unknown_outcome_is_an_error() {
        let error = |line: &str| GradesFileLine::parse(line).unwrap_err().to_string();
        let line =
            r#"{"grader_kind": "human", "outcome": "scored", "criterion": "b", "value": "4", "number": 4}"#;
        assert_eq!(error(line), "`candidate` is missing");
        let line = r#"{"candidate": "a", "grader_kind": "human", "grader": "x", "outcome": "odd", "criterion": "b"}"#;
        assert!(error(line).contains("unknown variant `odd`"), "{}", error(line));
    }
}
