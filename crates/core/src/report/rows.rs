//! Grades as rows of a table: one catalogue of columns for every format that holds tables.
//!
//! Names and meanings stay; a new column goes to the end.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::csv::plain;
use crate::grade::{Fields, Grade, Outcome, Spend, Time, Value};
use crate::run::{CaseResult, Run};

/// A grade with what is known of where it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    pub grade: &'a Grade,
    /// The run it was made in, and what came of its case there.
    pub of: Option<(&'a Run, &'a CaseResult)>,
    /// What stood beside a grade that is of no run.
    pub fields: Option<&'a Fields>,
}

#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// What it holds, in a sentence without an end.
    pub about: &'static str,
    /// `None` is unknown or not there, and never zero.
    pub cell: fn(&Row<'_>) -> Option<Cell>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Number,
    Count,
    Flag,
    Time,
    /// Nested; in formats that have none, as text.
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
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
    column("run", Kind::Text, "id of the run", |it| text(&it.of?.0.id)),
    column("suite", Kind::Text, "name or file of the suite", |it| text(it.of?.0.suite.as_ref()?)),
    column("case", Kind::Text, "name that all trials of a case share", |it| text(it.of?.1.base())),
    column("trial", Kind::Count, "which of several trials, from 1", |it| count(it.of?.1.trial?)),
    column("candidate", Kind::Text, "id of what was graded", |it| text(&it.grade.candidate)),
    column("agent", Kind::Text, "what produced the candidate", |it| text(&shown(it.known("agent")?))),
    column("rubric", Kind::Text, "version of the rubric", |it| text(it.grade.rubric.as_ref()?.as_str())),
    column("criterion", Kind::Text, "id of the question", |it| text(&it.grade.criterion)),
    column("grader_kind", Kind::Text, "`check`, `judge` or `human`", |it| named(&it.grade.grader.kind)),
    column("grader", Kind::Text, "name of the check, model or person", |it| text(&it.grade.grader.name)),
    column("grader_configuration", Kind::Text, "hash of what shapes its answers", |it| text(it.grade.grader.configuration.as_ref()?)),
    column("outcome", Kind::Text, "`scored`, `not_applicable`, `abstained`, `failed` or `deferred`", |it| text(outcome(&it.grade.outcome))),
    column("value", Kind::Text, "the answer on the criterion's own scale, if scored", |it| text(value(it)?)),
    column("number", Kind::Number, "the same where it is a number, or 1 and 0 for yes and no", number),
    column("unit", Kind::Number, "the same on 0 to 1, best is 1", |it| it.grade.outcome.unit().map(Cell::Number)),
    column("why", Kind::Text, "how a failed grader broke, such as `timeout`, or why it was not asked, such as `no_key`", why),
    column("detail", Kind::Text, "what it said when it broke or abstained", detail),
    column("reason", Kind::Text, "the grader's reason", |it| some(it.grade.reason.as_str())),
    column("evidence", Kind::Json, "quotes, each with where it stands in the candidate", |it| list(&it.grade.evidence)),
    column("points", Kind::Json, "claims or requirements, and whether each holds", |it| list(&it.grade.points)),
    column("tokens_in", Kind::Count, "tokens sent", |it| count(spend(it)?.tokens_in)),
    column("tokens_cached", Kind::Count, "those of them that the vendor had cached", |it| count(spend(it)?.tokens_cached)),
    column("tokens_out", Kind::Count, "tokens received", |it| count(spend(it)?.tokens_out)),
    column("cost_usd", Kind::Number, "price in US dollars; empty if unknown", |it| Some(Cell::Number(spend(it)?.cost?.nanos() as f64 / 1e9))),
    column("from_cache", Kind::Flag, "taken from Jurist's cache, so that nothing was paid", |it| Some(Cell::Flag(spend(it)?.from_cache))),
    column("time", Kind::Time, "when it was graded, in UTC", |it| it.grade.time.map(Cell::Time)),
    column("attempts", Kind::Json, "tries before this answer, oldest first", |it| list(&it.grade.attempts)),
    column("status", Kind::Text, "verdict on the candidate: `pass`, `fail`, `error` or `deferred`", |it| named(&it.of?.1.verdict.status)),
    column("score", Kind::Number, "score of the verdict on 0 to 1", |it| it.of?.1.verdict.score.map(Cell::Number)),
    column("pass_mark", Kind::Number, "score from which on a verdict passes", |it| it.of?.0.pass_mark(&it.of?.1.rubric).map(Cell::Number)),
    column("metadata", Kind::Json, "metadata and tags of the case, short fields of its row, `agent`, `model`, `prompt`", metadata),
    column("annotation_task", Kind::Text, "annotation task in which a person answered", |it| text(&shown(it.fields?.get(ANNOTATION_TASK)?))),
    column("flags", Kind::Json, "what the score does not show: `verdict_in_candidate`, `no_verifiable_evidence`", |it| list(&it.grade.flags)),
];

/// The field by which answers of different annotation tasks are kept apart: their candidates are not the same.
pub const ANNOTATION_TASK: &str = "annotation_task";

const fn column(
    name: &'static str,
    kind: Kind,
    about: &'static str,
    cell: fn(&Row<'_>) -> Option<Cell>,
) -> Column {
    Column { name, kind, about, cell }
}

/// A row for each grade of a result.
pub fn rows<'a>(run: &'a Run, result: &'a CaseResult) -> impl Iterator<Item = Row<'a>> {
    result.grades.iter().map(move |grade| Row { grade, of: Some((run, result)), fields: None })
}

impl Row<'_> {
    /// What its metadata says; a dot leads into what is nested.
    fn known(&self, name: &str) -> Option<&Json> {
        let of_run = |name: &str| self.of.and_then(|it| it.1.metadata.get(name));
        let whole = |name: &str| of_run(name).or_else(|| self.fields?.get(name));
        whole(name).or_else(|| {
            let (first, rest) = name.split_once('.')?;
            rest.split('.').try_fold(whole(first)?, |value, key| value.get(key))
        })
    }

    /// What it can be looked at by under a name: a column, or a field of its metadata. A list is several.
    pub fn by(&self, name: &str) -> Vec<String> {
        let column = COLUMNS.iter().find(|it| it.name == name && it.kind != Kind::Json);
        match column.and_then(|it| (it.cell)(self)) {
            Some(cell) => vec![cell.to_string()],
            None => match self.known(name.strip_prefix("metadata.").unwrap_or(name)) {
                None | Some(Json::Null | Json::Object(_)) => Vec::new(),
                Some(Json::Array(several)) => several.iter().map(shown).collect(),
                Some(one) => vec![shown(one)],
            },
        }
    }

    /// Names of its metadata, each of them something to look at it by.
    pub fn names(&self) -> Vec<String> {
        let of_run = self.of.into_iter().flat_map(|it| &it.1.metadata);
        let all = of_run.chain(self.fields.into_iter().flatten());
        let nested = |(name, value): (&String, &Json)| match value {
            Json::Object(inside) => inside.keys().map(|it| format!("{name}.{it}")).collect(),
            _ => vec![name.clone()],
        };
        all.flat_map(nested).collect()
    }
}

/// The names of all columns as the first line of a CSV file.
pub fn csv_head() -> String {
    csv_lines([COLUMNS.map(|it| it.name.to_owned())])
}

/// Rows as lines of a CSV file, in cells that no spreadsheet takes for formulas.
pub fn csv_rows(rows: &[Row<'_>]) -> String {
    let cell =
        |row: &Row<'_>, it: Column| (it.cell)(row).map(|it| plain(&it.to_string())).unwrap_or_default();
    csv_lines(rows.iter().map(|row| COLUMNS.map(|it| cell(row, it))))
}

fn csv_lines(lines: impl IntoIterator<Item = [String; COLUMNS.len()]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(&line).expect("memory is writable");
    }
    String::from_utf8(writer.into_inner().expect("memory is writable")).expect("only text was written")
}

/// An object with every column, in order.
impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(COLUMNS.iter().map(|it| (it.name, (it.cell)(self))))
    }
}

impl Serialize for Cell {
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

impl fmt::Display for Kind {
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

impl fmt::Display for Cell {
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

fn text(it: &(impl ToString + ?Sized)) -> Option<Cell> {
    Some(Cell::Text(it.to_string()))
}

/// An empty text is none.
fn some(it: &str) -> Option<Cell> {
    (!it.is_empty()).then(|| Cell::Text(it.to_owned()))
}

/// A variant by the name that the contract has for it.
fn named(it: &impl Serialize) -> Option<Cell> {
    serde_json::to_value(it).ok()?.as_str().map(|it| Cell::Text(it.to_owned()))
}

fn count(it: impl Into<u64>) -> Option<Cell> {
    Some(Cell::Count(it.into()))
}

fn list<T: Serialize>(all: &[T]) -> Option<Cell> {
    (!all.is_empty()).then(|| Cell::Json(serde_json::to_value(all).expect("a grade is plain data")))
}

fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Scored { .. } => "scored",
        Outcome::NotApplicable => "not_applicable",
        Outcome::Abstained { .. } => "abstained",
        Outcome::Failed { .. } => "failed",
        Outcome::Deferred { .. } => "deferred",
    }
}

fn value<'a>(row: &Row<'a>) -> Option<&'a Value> {
    if let Outcome::Scored { value, .. } = &row.grade.outcome { Some(value) } else { None }
}

fn number(row: &Row<'_>) -> Option<Cell> {
    match value(row)? {
        Value::Bool(it) => Some(Cell::Number(f64::from(u8::from(*it)))),
        Value::Number(it) => Some(Cell::Number(*it)),
        Value::Text(_) => None,
    }
}

fn why(row: &Row<'_>) -> Option<Cell> {
    match &row.grade.outcome {
        Outcome::Failed { failure, .. } => named(failure),
        Outcome::Deferred { why } => named(why),
        Outcome::Scored { .. } | Outcome::NotApplicable | Outcome::Abstained { .. } => None,
    }
}

fn detail(row: &Row<'_>) -> Option<Cell> {
    match &row.grade.outcome {
        Outcome::Failed { detail, .. } => some(detail),
        Outcome::Abstained { why } => some(why),
        Outcome::Scored { .. } | Outcome::NotApplicable | Outcome::Deferred { .. } => None,
    }
}

/// People and checks spend nothing, and what others spent may not be known.
fn spend(row: &Row<'_>) -> Option<Spend> {
    Some(row.grade.spend).filter(|it| !it.is_nothing())
}

fn metadata(row: &Row<'_>) -> Option<Cell> {
    let of_run = row.of.into_iter().flat_map(|it| &it.1.metadata);
    let all: Map<String, Json> = of_run
        .chain(row.fields.into_iter().flatten())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!all.is_empty()).then_some(Cell::Json(Json::Object(all)))
}
