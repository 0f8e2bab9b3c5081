//! Grades as rows of a table: one catalogue of columns for every format that holds tables.
//!
//! Names and meanings stay; a new column goes to the end.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::csv::escape_spreadsheet_formula;
use crate::grade::{Grade, MetadataFields, Outcome, Spend, Time, Value};
use crate::run::{CaseResult, Run};

/// A grade with what is known of where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct GradeRow<'a> {
    pub grade: &'a Grade,
    /// The run it was made in, and what came of its case there.
    pub of: Option<(&'a Run, &'a CaseResult)>,
    /// The other fields of the record of a grade that is of no run.
    pub fields: Option<&'a MetadataFields>,
}

#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
    /// What it holds, in a sentence without an end.
    pub about: &'static str,
    /// `None` is unknown or not there, and never zero.
    pub cell: fn(&GradeRow<'_>) -> Option<GradeCell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Number,
    Count,
    Flag,
    Time,
    /// Nested; in formats that have none, as text.
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub enum GradeCell {
    Text(String),
    Number(f64),
    Count(u64),
    Flag(bool),
    Time(Time),
    Json(Json),
}

/// Every column, in order.
#[rustfmt::skip]
pub const COLUMNS: [Column; 33] = [
    column("run", ColumnKind::Text, "id of the run", |row| text_cell(&row.of?.0.id)),
    column("suite", ColumnKind::Text, "name or file of the suite", |row| text_cell(row.of?.0.suite.as_ref()?)),
    column("case", ColumnKind::Text, "name of the case, shared by all its trials", |row| text_cell(row.of?.1.base())),
    column("trial", ColumnKind::Count, "which of several trials, from 1", |row| count_cell(row.of?.1.trial?)),
    column("candidate", ColumnKind::Text, "id of what was graded", |row| text_cell(&row.grade.candidate)),
    column("agent", ColumnKind::Text, "what produced the candidate", |row| text_cell(&json_plain_text(row.metadata_value("agent")?))),
    column("rubric", ColumnKind::Text, "version of the rubric", |row| text_cell(row.grade.rubric.as_ref()?.as_str())),
    column("criterion", ColumnKind::Text, "id of the question", |row| text_cell(&row.grade.criterion)),
    column("grader_kind", ColumnKind::Text, "`check`, `judge` or `human`", |row| variant_cell(&row.grade.grader.kind)),
    column("grader", ColumnKind::Text, "name of the check, model or person", |row| text_cell(&row.grade.grader.name)),
    column("grader_configuration", ColumnKind::Text, "hash of the grader's configuration", |row| text_cell(row.grade.grader.configuration.as_ref()?)),
    column("outcome", ColumnKind::Text, "`scored`, `not_applicable`, `abstained`, `failed` or `deferred`", |row| text_cell(outcome_name(&row.grade.outcome))),
    column("value", ColumnKind::Text, "the answer on the criterion's own scale, if scored", |row| text_cell(scored_value(row)?)),
    column("number", ColumnKind::Number, "the same where it is a number, or 1 and 0 for yes and no", number_cell),
    column("unit", ColumnKind::Number, "the same on 0 to 1, best is 1", |row| row.grade.outcome.unit().map(GradeCell::Number)),
    column("why", ColumnKind::Text, "error of a failed grader, such as `timeout`, or reason of deferral, such as `no_key`", failure_cell),
    column("detail", ColumnKind::Text, "message of the error or abstention", detail),
    column("reason", ColumnKind::Text, "the grader's reason", |row| non_empty_cell(row.grade.reason.as_str())),
    column("evidence", ColumnKind::Json, "quotes, each with its position in the candidate", |row| json_list_cell(&row.grade.evidence)),
    column("points", ColumnKind::Json, "claims or requirements, and whether each holds", |row| json_list_cell(&row.grade.points)),
    column("tokens_in", ColumnKind::Count, "tokens sent", |row| count_cell(known_spend(row)?.tokens_in)),
    column("tokens_cached", ColumnKind::Count, "input tokens that the vendor had cached", |row| count_cell(known_spend(row)?.tokens_cached)),
    column("tokens_out", ColumnKind::Count, "tokens received", |row| count_cell(known_spend(row)?.tokens_out)),
    column("cost_usd", ColumnKind::Number, "price in US dollars; empty if unknown", |row| Some(GradeCell::Number(known_spend(row)?.cost?.nanos() as f64 / 1e9))),
    column("from_cache", ColumnKind::Flag, "true if the reply came from Jurist's cache and cost nothing", |row| Some(GradeCell::Flag(known_spend(row)?.from_cache))),
    column("time", ColumnKind::Time, "when it was graded, in UTC", |row| row.grade.time.map(GradeCell::Time)),
    column("attempts", ColumnKind::Json, "failed attempts before this answer, oldest first", |row| json_list_cell(&row.grade.attempts)),
    column("status", ColumnKind::Text, "verdict on the candidate: `pass`, `fail`, `error` or `deferred`", |row| variant_cell(&row.of?.1.verdict.status)),
    column("score", ColumnKind::Number, "score of the verdict on 0 to 1", |row| row.of?.1.verdict.score.map(GradeCell::Number)),
    column("pass_mark", ColumnKind::Number, "pass mark: the lowest score that passes", |row| row.of?.0.pass_mark(&row.of?.1.rubric).map(GradeCell::Number)),
    column("metadata", ColumnKind::Json, "metadata and tags of the case, short fields of its row, `agent`, `model`, `prompt`", metadata_cell),
    column("annotation_task", ColumnKind::Text, "annotation task of a human grade", |row| text_cell(&json_plain_text(row.fields?.get(ANNOTATION_TASK)?))),
    column("flags", ColumnKind::Json, "flags: `verdict_in_candidate`, `no_verifiable_evidence`", |row| json_list_cell(&row.grade.flags)),
];

/// The field by which answers of different annotation tasks are kept apart: their candidates are not the same.
pub const ANNOTATION_TASK: &str = "annotation_task";

const fn column(
    name: &'static str,
    kind: ColumnKind,
    about: &'static str,
    cell: fn(&GradeRow<'_>) -> Option<GradeCell>,
) -> Column {
    Column { name, kind, about, cell }
}

/// A row for each grade of a result.
pub fn grade_rows<'a>(run: &'a Run, result: &'a CaseResult) -> impl Iterator<Item = GradeRow<'a>> {
    result.grades.iter().map(move |grade| GradeRow { grade, of: Some((run, result)), fields: None })
}

impl GradeRow<'_> {
    /// What its metadata says; a dot leads into what is nested.
    fn metadata_value(&self, name: &str) -> Option<&Json> {
        let of_run = |name: &str| self.of.and_then(|of| of.1.metadata.get(name));
        let whole = |name: &str| of_run(name).or_else(|| self.fields?.get(name));
        whole(name).or_else(|| {
            let (first, rest) = name.split_once('.')?;
            rest.split('.').try_fold(whole(first)?, |value, key| value.get(key))
        })
    }

    /// What it can be looked at by under a name: a column, or a field of its metadata. A list is several.
    pub fn grouping_values(&self, name: &str) -> Vec<String> {
        let column = COLUMNS.iter().find(|column| column.name == name && column.kind != ColumnKind::Json);
        match column.and_then(|column| (column.cell)(self)) {
            Some(cell) => vec![cell.to_string()],
            None => match self.metadata_value(name.strip_prefix("metadata.").unwrap_or(name)) {
                None | Some(Json::Null | Json::Object(_)) => Vec::new(),
                Some(Json::Array(values)) => values.iter().map(json_plain_text).collect(),
                Some(one) => vec![json_plain_text(one)],
            },
        }
    }

    /// Names of its metadata, each of them something to look at it by.
    pub fn names(&self) -> Vec<String> {
        let of_run = self.of.into_iter().flat_map(|of| &of.1.metadata);
        let all = of_run.chain(self.fields.into_iter().flatten());
        let nested = |(name, value): (&String, &Json)| match value {
            Json::Object(inside) => inside.keys().map(|key| format!("{name}.{key}")).collect(),
            _ => vec![name.clone()],
        };
        all.flat_map(nested).collect()
    }
}

/// The names of all columns as the first line of a CSV file.
pub fn csv_head() -> String {
    csv_lines([COLUMNS.map(|column| column.name.to_owned())])
}

/// Rows as lines of a CSV file, in cells that no spreadsheet takes for formulas.
pub fn csv_rows(rows: &[GradeRow<'_>]) -> String {
    let cell = |row: &GradeRow<'_>, column: Column| {
        (column.cell)(row)
            .map(|grade_cell| escape_spreadsheet_formula(&grade_cell.to_string()))
            .unwrap_or_default()
    };
    csv_lines(rows.iter().map(|row| COLUMNS.map(|column| cell(row, column))))
}

fn csv_lines(lines: impl IntoIterator<Item = [String; COLUMNS.len()]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(&line).expect("memory is writable");
    }
    String::from_utf8(writer.into_inner().expect("memory is writable")).expect("only text was written")
}

/// An object with every column, in order.
impl Serialize for GradeRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(COLUMNS.iter().map(|column| (column.name, (column.cell)(self))))
    }
}

impl Serialize for GradeCell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(it) => it.serialize(serializer),
            Self::Number(it) => it.serialize(serializer),
            Self::Count(it) => it.serialize(serializer),
            Self::Flag(it) => it.serialize(serializer),
            Self::Time(it) => it.serialize(serializer),
            Self::Json(it) => it.serialize(serializer),
        }
    }
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Count => "whole number",
            Self::Flag => "true or false",
            Self::Time => "time",
            Self::Json => "JSON",
        })
    }
}

impl fmt::Display for GradeCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(it) => f.write_str(it),
            Self::Number(it) => write!(f, "{it}"),
            Self::Count(it) => write!(f, "{it}"),
            Self::Flag(it) => write!(f, "{it}"),
            Self::Time(it) => write!(f, "{it}"),
            Self::Json(it) => write!(f, "{it}"),
        }
    }
}

fn text_cell(it: &(impl ToString + ?Sized)) -> Option<GradeCell> {
    Some(GradeCell::Text(it.to_string()))
}

/// An empty text is none.
fn non_empty_cell(it: &str) -> Option<GradeCell> {
    (!it.is_empty()).then(|| GradeCell::Text(it.to_owned()))
}

/// A variant by the name that the contract has for it.
fn variant_cell(it: &impl Serialize) -> Option<GradeCell> {
    serde_json::to_value(it).ok()?.as_str().map(|value| GradeCell::Text(value.to_owned()))
}

fn count_cell(it: impl Into<u64>) -> Option<GradeCell> {
    Some(GradeCell::Count(it.into()))
}

fn json_list_cell<T: Serialize>(all: &[T]) -> Option<GradeCell> {
    (!all.is_empty()).then(|| GradeCell::Json(serde_json::to_value(all).expect("a grade is plain data")))
}

fn json_plain_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Scored { .. } => "scored",
        Outcome::NotApplicable => "not_applicable",
        Outcome::Abstained { .. } => "abstained",
        Outcome::Failed { .. } => "failed",
        Outcome::Deferred { .. } => "deferred",
    }
}

fn scored_value<'a>(row: &GradeRow<'a>) -> Option<&'a Value> {
    if let Outcome::Scored { value, .. } = &row.grade.outcome { Some(value) } else { None }
}

fn number_cell(row: &GradeRow<'_>) -> Option<GradeCell> {
    match scored_value(row)? {
        Value::Bool(it) => Some(GradeCell::Number(f64::from(u8::from(*it)))),
        Value::Number(it) => Some(GradeCell::Number(*it)),
        Value::Text(_) => None,
    }
}

fn failure_cell(row: &GradeRow<'_>) -> Option<GradeCell> {
    match &row.grade.outcome {
        Outcome::Failed { failure, .. } => variant_cell(failure),
        Outcome::Deferred { why } => variant_cell(why),
        Outcome::Scored { .. } | Outcome::NotApplicable | Outcome::Abstained { .. } => None,
    }
}

fn detail(row: &GradeRow<'_>) -> Option<GradeCell> {
    match &row.grade.outcome {
        Outcome::Failed { detail, .. } => non_empty_cell(detail),
        Outcome::Abstained { why } => non_empty_cell(why),
        Outcome::Scored { .. } | Outcome::NotApplicable | Outcome::Deferred { .. } => None,
    }
}

/// People and checks spend nothing, and what others spent may not be known.
fn known_spend(row: &GradeRow<'_>) -> Option<Spend> {
    Some(row.grade.spend).filter(|spend| !spend.is_nothing())
}

fn metadata_cell(row: &GradeRow<'_>) -> Option<GradeCell> {
    let of_run = row.of.into_iter().flat_map(|of| &of.1.metadata);
    let all: Map<String, Json> = of_run
        .chain(row.fields.into_iter().flatten())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!all.is_empty()).then_some(GradeCell::Json(Json::Object(all)))
}
