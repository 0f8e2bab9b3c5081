//! Grades as a table. Its columns decide how it is read:
//!
//! - a column of values: a row for each grade, with `candidate`, `criterion`, `grader` and `value`;
//! - a column of names without one of values: a row for each candidate and grader, each column of numbers a criterion;
//! - otherwise a row for each candidate, with a column for each grader.
//!
//! Cells may be empty; `time`, `rubric` and `reason` may stand beside.

use std::collections::BTreeSet;

use csv::StringRecord;
use serde::de::IgnoredAny;

use super::lines::{ShortGradeLine, read_short_grade};
use super::{BadLine, Grade, GradesFileLine, MetadataFields, Outcome, Reason, Time, Value};

/// The grades of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GradeTable {
    /// Each with what its row says besides.
    pub grades: Vec<(Grade, MetadataFields)>,
    /// How columns were read, in a sentence, where their names alone do not say it.
    pub reading: Option<String>,
}

/// Columns that say something about a row and are nobody's answer.
const ABOUT: [&str; 10] = [
    "time",
    "timestamp",
    "rubric",
    "version",
    "reason",
    "comment",
    "comments",
    "notes",
    "stratum",
    "probability",
];
pub(super) const CANDIDATE: [&str; 10] = [
    "candidate",
    "item",
    "id",
    "case",
    "item_id",
    "candidate_id",
    "case_id",
    "trace_id",
    "instance_id",
    "response_id",
];
const GRADER: [&str; 9] = [
    "grader",
    "rater",
    "annotator",
    "user",
    "rater_id",
    "annotator_id",
    "grader_id",
    "worker_id",
    "reviewer",
];
/// How the name of a column ends that holds the scale of another, in exports of ours.
const SCALE: &str = ".scale";
const VALUE: [&str; 4] = ["value", "score", "rating", "label"];
const CRITERION: [&str; 3] = ["criterion", "dimension", "question"];

/// Reads a table of any of the three kinds.
pub fn read_grade_table(text: &str, delimiter: u8) -> Result<GradeTable, BadLine> {
    let bad = |error: csv::Error| BadLine::Shape(format!("not a table: {error}"));
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let header = read_column_names(&mut reader)?;
    check_delimiter(&header, delimiter)?;
    let names = reader.headers().map_err(bad)?.iter().map(|name| name.trim().to_owned()).collect();
    let rows = reader.records().collect::<Result<Vec<StringRecord>, _>>().map_err(bad)?;
    let columns = Columns::new(header, names, &rows)?;
    let mut grades = Vec::new();
    for row in &rows {
        columns.read_row(row, &mut grades)?;
    }
    Ok(GradeTable { grades, reading: columns.reading() })
}

/// Refuses a table whose columns something else separates, with the command that makes it one of ours.
fn check_delimiter(header: &[String], delimiter: u8) -> Result<(), BadLine> {
    match header {
        [only] if delimiter == b',' && only.contains(';') => Err(BadLine::Shape(
            "columns are separated by `;` here, and must be by `,`; this writes such a table, with decimal points \
             for decimal commas: sed 's/,/./g; s/;/,/g' FILE > table.csv"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// What each column is.
struct Columns {
    /// In lower case, for what is known.
    header: Vec<String>,
    /// As they were written.
    names: Vec<String>,
    candidate: usize,
    layout: TableLayout,
    time: Option<usize>,
    rubric: Option<usize>,
    reason: Option<usize>,
}

enum TableLayout {
    RowPerGrade { value: usize, criterion: Option<usize>, grader: Option<usize> },
    RowPerRater { grader: usize, criteria: Vec<usize> },
    ColumnPerGrader,
}

impl Columns {
    fn new(header: Vec<String>, names: Vec<String>, rows: &[StringRecord]) -> Result<Self, BadLine> {
        // The first of the names that there is: an export has `case` as well as `candidate`.
        let column =
            |names: &[&str]| names.iter().find_map(|name| header.iter().position(|header| header == name));
        let candidate = column(&CANDIDATE).unwrap_or(0);
        let (value, criterion, grader) = (column(&VALUE), column(&CRITERION), column(&GRADER));
        let (time, rubric) = (column(&ABOUT[..2]), column(&ABOUT[2..4]));
        let reason = column(&ABOUT[4..8]);
        let others = |grader: Option<usize>| {
            let is_other = |at: &usize| {
                *at != candidate && Some(*at) != grader && !ABOUT.contains(&header[*at].as_str())
            };
            (0..header.len()).filter(is_other).collect::<Vec<usize>>()
        };
        let layout = match (value, grader) {
            (Some(value), grader) => TableLayout::RowPerGrade { value, criterion, grader },
            (None, Some(grader)) => row_per_rater(grader, &others(Some(grader)), &names, rows)?,
            (None, None) => match column_of_names(candidate, &others(None), &names, rows)? {
                Some(grader) => row_per_rater(grader, &others(Some(grader)), &names, rows)?,
                None => TableLayout::ColumnPerGrader,
            },
        };
        Ok(Self { header, names, candidate, layout, time, rubric, reason })
    }

    fn reading(&self) -> Option<String> {
        let TableLayout::RowPerRater { grader, criteria } = &self.layout else { return None };
        let named = |at: usize| format!("`{}`", self.names[at]);
        let is_known = |at: usize| {
            at == self.candidate
                || at == *grader
                || criteria.contains(&at)
                || ABOUT.contains(&self.header[at].as_str())
        };
        let others: Vec<String> = (0..self.names.len())
            .filter(|at| !is_known(*at) && !self.names[*at].ends_with(SCALE))
            .map(named)
            .collect();
        let criteria: Vec<String> = criteria.iter().map(|at| named(*at)).collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!("; texts are no ratings: {}", others.join(", "))
        };
        Some(format!(
            "read as a row per candidate ({}) and grader ({}), with the criteria {}{others}",
            named(self.candidate),
            named(*grader),
            criteria.join(", ")
        ))
    }

    fn read_row(&self, row: &StringRecord, grades: &mut Vec<(Grade, MetadataFields)>) -> Result<(), BadLine> {
        let candidate = trimmed_cell(row, self.candidate).ok_or(BadLine::Missing("candidate"))?;
        let time = self.time.and_then(|at| trimmed_cell(row, at)).map(parse_time_or_day).transpose()?;
        let version =
            self.rubric.and_then(|at| trimmed_cell(row, at)).map(|text| serde_json::from_value(text.into()));
        let version = version.transpose().map_err(|error| BadLine::Shape(error.to_string()))?;
        // In a row for each candidate nobody knows whose reason it is.
        let is_of_one = !matches!(self.layout, TableLayout::ColumnPerGrader);
        let why = self.reason.filter(|_| is_of_one).and_then(|at| trimmed_cell(row, at)).unwrap_or_default();
        let fields = self.further_fields(row);
        let mut add = |criterion: &str, grader: &str, text: &str| -> Result<(), BadLine> {
            let (value, outcome) = parse_answer_cell(text)?;
            let line = read_short_grade(ShortGradeLine {
                candidate: candidate.into(),
                criterion: criterion.to_owned(),
                value,
                outcome,
                grader: Some(grader.into()),
                reason: Reason::new(why),
                evidence: Vec::new(),
                time,
                rubric: version.clone(),
                _stratum: IgnoredAny,
                _probability: IgnoredAny,
            })?;
            let GradesFileLine::Grades(more) = line else { return Ok(()) };
            for mut grade in more {
                if let Outcome::Scored { value: Value::Number(number), unit } = &mut grade.outcome {
                    *unit = position_between_ends(*number, self.scale_ends(row, criterion));
                }
                grades.push((grade, fields.clone()));
            }
            Ok(())
        };
        let own = |at: Option<usize>, default: &'static str| {
            at.and_then(|at| trimmed_cell(row, at)).unwrap_or(default)
        };
        match &self.layout {
            TableLayout::RowPerGrade { value, criterion, grader } => match trimmed_cell(row, *value) {
                Some(text) => add(own(*criterion, "rating"), own(*grader, "nobody"), text),
                None => Ok(()),
            },
            TableLayout::RowPerRater { grader, criteria } => {
                for at in criteria {
                    if let Some(text) = trimmed_cell(row, *at) {
                        add(&self.names[*at], own(Some(*grader), "nobody"), text)?;
                    }
                }
                Ok(())
            }
            TableLayout::ColumnPerGrader => {
                for (at, grader) in self.header.iter().enumerate() {
                    let is_answer = at != self.candidate && !ABOUT.contains(&grader.as_str());
                    if let Some(text) = trimmed_cell(row, at).filter(|_| is_answer) {
                        add("rating", grader, text)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// The ends of a criterion's scale, where a column has them (`1 to 5`).
    fn scale_ends(&self, row: &StringRecord, criterion: &str) -> Option<(f64, f64)> {
        let is_scale = |name: &String| name.strip_suffix(SCALE).is_some_and(|of| of == criterion);
        let (low, high) = trimmed_cell(row, self.names.iter().position(is_scale)?)?.split_once(" to ")?;
        Some((low.parse().ok()?, high.parse().ok()?))
    }

    /// Columns that are no answer and not known are fields.
    fn further_fields(&self, row: &StringRecord) -> MetadataFields {
        let mut known = vec![Some(self.candidate), self.time, self.rubric, self.reason];
        match &self.layout {
            TableLayout::RowPerGrade { value, criterion, grader } => {
                known.extend([Some(*value), *criterion, *grader]);
            }
            TableLayout::RowPerRater { grader, criteria } => {
                known.extend(criteria.iter().chain([grader]).map(|at| Some(*at)));
            }
            TableLayout::ColumnPerGrader => return MetadataFields::new(),
        }
        let is_further = |at: usize, name: &str| !known.contains(&Some(at)) && !name.ends_with(SCALE);
        let further = self.names.iter().enumerate().filter(|(at, name)| is_further(*at, name));
        further.filter_map(|(at, name)| Some((name.clone(), trimmed_cell(row, at)?.into()))).collect()
    }
}

/// Columns in which every answer is a number, yes or no are criteria.
fn row_per_rater(
    grader: usize,
    others: &[usize],
    names: &[String],
    rows: &[StringRecord],
) -> Result<TableLayout, BadLine> {
    for at in others {
        check_stray_texts(*at, names, rows)?;
    }
    let criteria: Vec<usize> = others.iter().copied().filter(|at| is_rated(*at, rows)).collect();
    if criteria.is_empty() {
        let mut cells = rows.iter().flat_map(|row| others.iter().filter_map(|at| trimmed_cell(row, *at)));
        if let Some(text) = cells.find(|text| has_decimal_comma(text)) {
            let point = text.replace(',', ".");
            return Err(BadLine::Shape(format!("`{text}` has a decimal comma; write `{point}`")));
        }
        let first = others.first().map_or("helpful", |at| names[*at].as_str());
        return Err(BadLine::Shape(format!(
            "`{}` names graders, and no other column holds numbers that could be ratings; this says which column \
             holds labels: sed '1s/{first}/value/' FILE > table.csv",
            names[grader]
        )));
    }
    Ok(TableLayout::RowPerRater { grader, criteria })
}

/// The column of names in a table that has several rows for a candidate: the one whose texts tell these rows apart.
fn column_of_names(
    candidate: usize,
    others: &[usize],
    names: &[String],
    rows: &[StringRecord],
) -> Result<Option<usize>, BadLine> {
    let candidates: BTreeSet<&str> = rows.iter().filter_map(|row| trimmed_cell(row, candidate)).collect();
    if candidates.len() == rows.len() {
        return Ok(None);
    }
    let tells_apart = |at: &usize| {
        let named =
            rows.iter().map(|row| trimmed_cell(row, *at).map(|text| (trimmed_cell(row, candidate), text)));
        let named: Option<BTreeSet<_>> = named.collect();
        named.is_some_and(|named| named.len() == rows.len()) && !is_rated(*at, rows)
    };
    let possible: Vec<usize> = others.iter().copied().filter(tells_apart).collect();
    match possible.as_slice() {
        [only] => Ok(Some(*only)),
        _ => {
            let first = others.first().map_or("name", |at| names[*at].as_str());
            Err(BadLine::Shape(format!(
                "`{}` repeats, so a row is not a candidate, and no column is known to name the grader; this says \
                 which does: sed '1s/{first}/grader/' FILE > table.csv",
                names[candidate]
            )))
        }
    }
}

/// Where a number lies between the ends of its scale, from 0 to 1.
fn position_between_ends(number: f64, ends: Option<(f64, f64)>) -> Option<f64> {
    let (low, high) = ends.filter(|(low, high)| low < high)?;
    Some((number - low) / (high - low)).filter(|unit| (0.0..=1.0).contains(unit))
}

fn has_decimal_comma(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.trim_start_matches('-');
    number.split_once(',').is_some_and(|(whole, rest)| is_digits(whole) && is_digits(rest))
}

/// Refuses a column in which most answers are numbers and some are texts: without this, one stray letter would make
/// the whole criterion disappear.
fn check_stray_texts(at: usize, names: &[String], rows: &[StringRecord]) -> Result<(), BadLine> {
    let is_text = |text: &str| matches!(parse_answer_cell(text), Ok((Some(Value::Text(_)), _)));
    let cells = || rows.iter().filter_map(|row| Some((row, trimmed_cell(row, at)?)));
    let n_texts = cells().filter(|(_, text)| is_text(text)).count();
    let n_numbers = cells().count() - n_texts;
    let Some((row, text)) = cells().find(|(_, text)| is_text(text)).filter(|_| n_texts < n_numbers) else {
        return Ok(());
    };
    let line = row.position().map_or(0, csv::Position::line);
    let instead = if has_decimal_comma(text) {
        format!("write `{}`", text.replace(',', "."))
    } else {
        "leave the cell empty, or write `n/a`".to_owned()
    };
    Err(BadLine::Shape(format!(
        "line {line}: `{text}` in the column `{}` is no number, but {n_numbers} other answers are; {instead}",
        names[at]
    )))
}

/// Whether a column has answers, and all of them are numbers, yes or no, or say that there is none.
fn is_rated(at: usize, rows: &[StringRecord]) -> bool {
    let mut answers = rows.iter().filter_map(|row| trimmed_cell(row, at)).peekable();
    answers.peek().is_some()
        && answers.all(|text| match parse_answer_cell(text) {
            Ok((Some(Value::Text(_)), _)) => false,
            Ok(_) | Err(_) => true,
        })
}

fn trimmed_cell(row: &StringRecord, at: usize) -> Option<&str> {
    row.get(at).map(str::trim).filter(|text| !text.is_empty())
}

/// The names of the columns.
pub(super) fn read_column_names(reader: &mut csv::Reader<&[u8]>) -> Result<Vec<String>, BadLine> {
    let names = reader.headers().map_err(|error| BadLine::Shape(format!("not a table: {error}")))?;
    Ok(names.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_lowercase()).collect())
}

/// A cell of a table. What other programs write where there is no number is no label.
fn parse_answer_cell(text: &str) -> Result<(Option<Value>, Option<Outcome>), BadLine> {
    let abstained = || Ok((None, Some(Outcome::Abstained { why: format!("the table says {text}") })));
    let value = match (text.parse::<f64>(), text.to_lowercase().as_str()) {
        (Ok(number), _) if number.is_finite() => Value::Number(number),
        (_, "nan" | "na" | "n/a" | "null" | "cannot tell") => return abstained(),
        (_, "not applicable") => return Ok((None, Some(Outcome::NotApplicable))),
        (Ok(_), _) => return Err(BadLine::Shape(format!("`{text}` is not a finite number"))),
        (_, "true") => Value::Bool(true),
        (_, "false") => Value::Bool(false),
        _ => Value::Text(text.to_owned()),
    };
    Ok((Some(value), None))
}

/// A time, or the beginning of a day.
fn parse_time_or_day(text: &str) -> Result<Time, BadLine> {
    let day = || Time::parse(&format!("{text}T00:00:00Z")).ok();
    Time::parse(text).or_else(|error| day().ok_or(BadLine::Shape(error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let grades = read_grade_table(text, b',').unwrap().grades;
        let shown = |(grade, _): &(Grade, MetadataFields)| {
            let Outcome::Scored { value, .. } = &grade.outcome else { return "-".to_owned() };
            format!("{} {} {} {value}", grade.candidate, grade.criterion, grade.grader.name)
        };
        grades.iter().map(shown).collect()
    }

    #[test]
    fn a_row_per_item_and_rater_has_a_criterion_in_each_column_of_numbers() {
        let wide = "item_id,rater,helpful,correct,comment\n1,ann,5,4,good\n1,bob,4,,";
        assert_eq!(read(wide), ["1 helpful ann 5", "1 correct ann 4", "1 helpful bob 4"]);
        let found = read_grade_table(wide, b',').unwrap();
        assert_eq!(found.grades[0].0.reason.as_str(), "good");
        assert!(found.reading.is_some_and(|reading| reading.contains("`helpful`, `correct`")));
    }

    #[test]
    fn one_stray_text_among_numbers_is_an_error_and_not_a_lost_criterion() {
        let table = |cell: &str| {
            format!(
                "id,grader,tone,correct,remark\na,ana,1,{cell},fine\nb,ana,2,4,3\nc,ana,2,5,\nd,ben,1,3,good\n"
            )
        };
        for cell in ["x", "?", "3-4", "five"] {
            let error = read_grade_table(&table(cell), b',').unwrap_err().to_string();
            assert!(error.contains(&format!("line 2: `{cell}` in the column `correct`")), "{error}");
            assert!(error.contains("3 other answers are"), "{error}");
        }
        let read = read_grade_table(&table("n/a"), b',').unwrap();
        let reading = read.reading.unwrap();
        assert!(reading.ends_with("`tone`, `correct`; texts are no ratings: `remark`"), "{reading}");
    }

    #[test]
    fn other_tables_are_read_as_before() {
        assert_eq!(read("item,ann,bob\n1,2,3"), ["1 rating ann 2", "1 rating bob 3"]);
        assert_eq!(read("case,candidate,criterion,grader,value\n,1,clear,ann,2"), ["1 clear ann 2"]);
    }
}
