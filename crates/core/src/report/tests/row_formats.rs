//! Rows: CSV, newline-delimited JSON, exports, and evaluation events of OpenTelemetry.

#![cfg(test)]

use super::*;
use crate::grade::{GradesFileLine, MetadataFields};

#[test]
fn rows_hold_every_grade_and_no_number_where_there_is_none() {
    let mut run = hostile("-1+1");
    let mut results: Vec<CaseResult> =
        run.results.iter().chain(super::run().results.iter().skip(2)).collect();
    results[0].grades[0].time = Some(Time::from_micros(2_500_000));
    results[0].grades[0].flags = vec![GradeFlag::NoVerifiableEvidence];
    run.results = results.iter().cloned().collect();
    let rows: Vec<GradeRow<'_>> = results.iter().flat_map(|result| grade_rows(&run, result)).collect();
    for row in &rows {
        for column in COLUMNS {
            let kind = (column.cell)(row).map(|grade_cell| match grade_cell {
                GradeCell::Text(_) => ColumnKind::Text,
                GradeCell::Number(_) => ColumnKind::Number,
                GradeCell::Count(_) => ColumnKind::Count,
                GradeCell::Flag(_) => ColumnKind::Flag,
                GradeCell::Time(_) => ColumnKind::Time,
                GradeCell::Json(_) => ColumnKind::Json,
            });
            assert!(kind.is_none_or(|kind| kind == column.kind), "{}: {kind:?}", column.name);
        }
    }
    let [scored, failed, deferred] = [0, 1, 2].map(|index| serde_json::to_value(rows[index]).unwrap());
    assert_eq!(
        (&scored["unit"], &scored["value"], &scored["status"]),
        (&json!(0.25), &json!("0.25"), &json!("fail"))
    );
    assert_eq!(
        (&scored["cost_usd"], &scored["time"]),
        (&json!(0.0015), &json!("1970-01-01T00:00:02.500000Z"))
    );
    assert_eq!((&scored["agent"], &scored["metadata"]["tags"]), (&json!("=a1"), &json!(["x", "y"])));
    assert_eq!(scored["evidence"][0]["quote"], "-1+1");
    assert_eq!(scored["flags"], json!(["no_verifiable_evidence"]));
    assert_eq!(
        (&failed["outcome"], &failed["why"], &failed["detail"]),
        (&json!("failed"), &json!("timeout"), &json!("60 s"))
    );
    assert_eq!((&deferred["outcome"], &deferred["why"]), (&json!("deferred"), &json!("no_key")));
    for row in [&failed, &deferred] {
        for name in ["value", "number", "unit", "score", "tokens_in", "cost_usd"] {
            assert_eq!(row[name], Json::Null, "{name}");
        }
    }
    let table = csv_head() + &csv_rows(&rows);
    let mut table = ::csv::Reader::from_reader(table.as_bytes());
    let names = table.headers().unwrap().clone();
    let cells = table.records().next().unwrap().unwrap();
    let cell = |name: &str| &cells[names.iter().position(|text| text == name).unwrap()];
    assert_eq!([cell("reason"), cell("agent"), cell("number")], ["'-1+1", "'=a1", "0.25"]);
    assert_eq!(names.len(), COLUMNS.len());
}

#[test]
fn rows_can_be_looked_at_by_columns_and_metadata() {
    let run = run();
    let mut result = run.results.get(0);
    result.metadata.insert("model".to_owned(), json!({ "size": 7 }));
    let row = grade_rows(&run, &result).next().unwrap();
    let check = |name: &str, expected: &[&str]| assert_eq!(row.grouping_values(name), expected, "{name}");
    check("criterion", &["a"]);
    check("grader_kind", &["judge"]);
    check("agent", &["=a1"]);
    check("tags", &["x", "y"]);
    check("model.size", &["7"]);
    check("metadata.model.size", &["7"]);
    check("model", &[]);
    check("trial", &[]);
    check("language", &[]);
}

#[test]
fn no_cell_is_a_formula_and_no_case_is_lost() {
    for text in ["=cmd()", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"] {
        let csv = render_report(ReportFormat::Csv, &hostile(text));
        let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
        let row = reader.records().next().unwrap().unwrap();
        assert_eq!((&row[0], &row[10]), (format!("'{text}").as_str(), format!("'{text}").as_str()));
    }
    let mut run = hostile("a, \"b\"\nc");
    run.results.change(|_, result| result.grades.clear());
    let csv = render_report(ReportFormat::Csv, &run);
    assert!(csv.contains("\n\"a, \"\"b\"\"\nc\",bad"), "{csv}");
}

#[test]
fn evaluation_events_have_a_score_or_an_error() {
    let mut run = run();
    let id = Some("4BF92F3577B34DA6A3CE929D0E0E4736".to_owned());
    let trace = crate::candidate::Trace { id, ..crate::candidate::Trace::default() };
    run.results.change(|at, result| result.material.trace = (at == 1).then(|| trace.clone()));
    let otel = render_report(ReportFormat::Otel, &run);
    assert_eq!(otel.lines().count(), 1);
    assert_eq!(otel, render_report(ReportFormat::Otel, &run));
    let otel: Json = serde_json::from_str(&otel).unwrap();
    let records = otel["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
    let told = |at: usize, key: &str| {
        let attributes = records[at]["attributes"].as_array().unwrap();
        attributes.iter().find(|attribute| attribute["key"] == key).map(|at| at["value"].clone())
    };
    let text = |text: &str| Some(json!({ "stringValue": text }));
    assert_eq!(records.len(), 8);
    assert!(records.iter().all(|record| record["eventName"] == "gen_ai.evaluation.result"));
    let (score, label) = ("gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label");
    // The grade and the verdict of the failed case.
    assert_eq!(
        (told(2, "gen_ai.evaluation.name"), told(3, "gen_ai.evaluation.name")),
        (text("a"), text("verdict"))
    );
    assert_eq!((told(2, score), told(3, score)), (Some(json!({ "doubleValue": 0.25 })), told(2, score)));
    assert_eq!((told(2, label), told(3, label)), (None, text("fail")));
    assert_eq!(
        (told(2, "jurist.judge"), told(2, "jurist.weight")),
        (text("m1"), Some(json!({ "doubleValue": 1.0 })))
    );
    assert_eq!(records[2]["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(records[2]["timeUnixNano"], "1000000000");
    // What broke, then what was not asked.
    for at in [4, 5] {
        assert_eq!((told(at, "error.type"), told(at, score), told(at, label)), (text("timeout"), None, None));
    }
    for at in [6, 7] {
        assert_eq!(
            (told(at, "error.type"), told(at, score), told(at, label)),
            (None, None, text("deferred"))
        );
    }
    assert!(records[4].get("traceId").is_none());
}

#[test]
fn rows_of_an_export_are_read_back() {
    let outcomes = [
        json!({ "kind": "scored", "value": 4.0, "unit": 0.75 }),
        json!({ "kind": "scored", "value": true, "unit": 1.0 }),
        json!({ "kind": "scored", "value": "chatty", "unit": 0.6 }),
        json!({ "kind": "scored", "value": "4" }),
        json!({ "kind": "not_applicable" }),
        json!({ "kind": "abstained", "why": "not rated" }),
        json!({ "kind": "failed", "failure": "timeout", "detail": "30 s" }),
        json!({ "kind": "deferred", "why": "no_key" }),
    ];
    let fields: MetadataFields = [("agent", "desk"), ("annotation_task", "Replies")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Json::from(value)))
        .collect();
    for outcome in outcomes {
        let grade: Grade = serde_json::from_value(json!({
            "candidate": "a", "criterion": "style", "outcome": outcome, "reason": "short",
            "grader": { "kind": "judge", "name": "m", "configuration": "c1" },
            "time": "2026-03-20T10:15:32Z",
        }))
        .unwrap();
        let row = GradeRow { grade: &grade, of: None, fields: Some(&fields) };
        let line = serde_json::to_string(&row).unwrap();
        let read = GradesFileLine::with_fields(&line).unwrap();
        assert_eq!(read, (GradesFileLine::Grades(vec![grade]), fields.clone()), "{line}");
    }
}
