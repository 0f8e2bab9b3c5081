//! Grades as a table. Its columns decide how it is read:
//!
//! - a column of values: a row for each grade, with `candidate`, `criterion`, `grader` and `value`;
//! - a column of names without one of values: a row for each candidate and grader, each column of numbers a criterion,
//!   and each column of labels beside which another says so (`NAME.scale`), as in exports of annotation tasks;
//! - otherwise a row for each candidate, with a column for each grader; or, where columns have the names of criteria that
//!   others graded, with the labels of one person.
//!
//! Cells may be empty; `time`, `rubric` and `reason` may stand beside, and in a row for each grade `unit`: what the answer
//! is worth from 0 to 1.

use std::collections::BTreeSet;

use csv::StringRecord;
use serde::de::IgnoredAny;

use super::lines::{EXCLUDED, ShortGradeLine, parse_scale_text, read_short_grade};
use super::{
    BadLine, Grade, GraderKind, GradesFileLine, LABEL_SEPARATOR, MetadataFields, NOTHING_TICKED, Outcome,
    PlainQuestion, Reason, Time, Value, join_chosen_labels,
};

/// The grades of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GradeTable {
    /// Each with the other fields of its row.
    pub grades: Vec<(Grade, MetadataFields)>,
    /// How columns were read, in a sentence, where their names alone do not say it.
    pub reading: Option<String>,
    /// How the table was read if it names no criterion, and what to add; its grades then are of `rating`.
    pub without_criterion: Option<String>,
}

/// Columns that say something about a row and are not answers.
const ABOUT: [&str; 11] = [
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
    EXCLUDED,
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
/// How the name of a column ends that holds what was decided about another, in exports of ours.
const DECIDED: &str = ".decided";
/// How the names of further columns end that say something about another, in exports of ours.
const SUFFIXES_OF_DETAILS: [&str; 5] = [SCALE, DECIDED, ".unrated", ".comment", ".quotes"];
const VALUE: [&str; 4] = ["value", "score", "rating", "label"];
const CRITERION: [&str; 3] = ["criterion", "dimension", "question"];
/// Columns of `jurist export` that say more about a value.
const UNIT: &str = "unit";
const NUMBER: &str = "number";
const GRADER_KIND: &str = "grader_kind";
/// The criterion of grades in a table that names none.
const UNNAMED_CRITERION: &str = "rating";

/// Reads a table of any of the three kinds.
pub fn read_grade_table(text: &str, delimiter: u8) -> Result<GradeTable, BadLine> {
    read_labels_table(text, delimiter, &[], "unknown")
}

/// Reads a table of labels for criteria that others graded: a column with the name of a criterion holds its labels.
/// Without a column of names, they are the labels of one person, who is called `person`.
pub fn read_labels_table(
    text: &str,
    delimiter: u8,
    criteria: &[String],
    person: &str,
) -> Result<GradeTable, BadLine> {
    let bad = |error: csv::Error| BadLine::Shape(format!("not a table: {error}"));
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let header = read_column_names(&mut reader)?;
    if header.is_empty() {
        return Ok(GradeTable::default());
    }
    check_delimiter(&header, delimiter)?;
    let names = reader.headers().map_err(bad)?.iter().map(|name| name.trim().to_owned()).collect();
    let rows = reader.records().collect::<Result<Vec<StringRecord>, _>>().map_err(bad)?;
    let excluded = header.iter().position(|name| name == EXCLUDED);
    let columns = Columns::new(header, names, &rows, KnownOfTable { delimiter, criteria, person })?;
    let mut grades = Vec::new();
    for row in &rows {
        if excluded.and_then(|at| trimmed_cell(row, at)) != Some("true") {
            columns.read_row(row, &mut grades)?;
        }
    }
    let without_criterion = columns.describe_missing_criterion();
    Ok(GradeTable { grades, reading: columns.reading(), without_criterion })
}

/// What is known of a table in addition to its cells.
#[derive(Clone, Copy)]
struct KnownOfTable<'a> {
    delimiter: u8,
    /// Criteria that others graded.
    criteria: &'a [String],
    /// The grader of a table of labels that names none.
    person: &'a str,
}

impl KnownOfTable<'_> {
    /// Whether a column has the name of a criterion. Grades of a table without criteria have [`UNNAMED_CRITERION`] as
    /// well, so that this name says nothing.
    fn is_criterion(&self, name: &str) -> bool {
        name != UNNAMED_CRITERION && self.criteria.iter().any(|criterion| criterion == name)
    }
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
    /// The grader of labels whose table names none.
    person: String,
    time: Option<usize>,
    rubric: Option<usize>,
    reason: Option<usize>,
}

enum TableLayout {
    RowPerGrade {
        value: usize,
        criterion: Option<usize>,
        grader: Option<usize>,
    },
    RowPerRater {
        /// `None` for labels of one person.
        grader: Option<usize>,
        criteria: Vec<usize>,
        /// Columns of texts, which are no criteria.
        texts: Vec<usize>,
    },
    ColumnPerGrader,
}

impl Columns {
    fn new(
        header: Vec<String>,
        names: Vec<String>,
        rows: &[StringRecord],
        known: KnownOfTable<'_>,
    ) -> Result<Self, BadLine> {
        // The first of the names that there is: an export has `case` as well as `candidate`.
        let column =
            |names: &[&str]| names.iter().find_map(|name| header.iter().position(|header| header == name));
        let candidate = column(&CANDIDATE).unwrap_or(0);
        let (criterion, grader) = (column(&CRITERION), column(&GRADER));
        // A question of an export may be called `label`; a column beside it says that it is one.
        let is_question = |at: &usize| header.contains(&format!("{}{SCALE}", header[*at]));
        let value = column(&VALUE).filter(|at| grader.is_none() || !is_question(at));
        let (time, rubric) = (column(&ABOUT[..2]), column(&ABOUT[2..4]));
        let reason = column(&ABOUT[4..8]);
        let others = |grader: Option<usize>| {
            let is_other = |at: &usize| {
                *at != candidate
                    && Some(*at) != grader
                    && !ABOUT.contains(&header[*at].as_str())
                    && !is_detail_of_another(&header[*at], &header)
            };
            (0..header.len()).filter(is_other).collect::<Vec<usize>>()
        };
        let is_labels = |at: &usize| known.is_criterion(&names[*at]);
        let has_labels = criterion.is_none() && others(grader).iter().any(is_labels);
        let by_people = |grader: usize| {
            row_per_rater(Some(grader), &others(Some(grader)), candidate, &names, rows, known)
        };
        let layout = match (value.filter(|_| !has_labels), grader) {
            (Some(value), grader) => TableLayout::RowPerGrade { value, criterion, grader },
            (None, Some(grader)) => by_people(grader)?,
            (None, None) => {
                let others = others(None);
                let unlabelled: Vec<usize> = others.iter().copied().filter(|at| !is_labels(at)).collect();
                match column_of_names(candidate, &unlabelled, &names, rows)? {
                    Some(grader) => by_people(grader)?,
                    None if has_labels => row_per_rater(None, &others, candidate, &names, rows, known)?,
                    None => TableLayout::ColumnPerGrader,
                }
            }
        };
        let person = known.person.to_owned();
        Ok(Self { header, names, candidate, layout, person, time, rubric, reason })
    }

    fn reading(&self) -> Option<String> {
        let TableLayout::RowPerRater { grader, criteria, texts } = &self.layout else { return None };
        let (candidate, criteria) = (self.list_names(&[self.candidate]), self.list_names(criteria));
        let read = match grader {
            Some(grader) => {
                let grader = self.list_names(&[*grader]);
                format!(
                    "read as a row per candidate ({candidate}) and grader ({grader}), with the criteria {criteria}"
                )
            }
            None => format!(
                "read as labels of one person (`{}`), with a row per candidate ({candidate}) and the criteria {criteria}",
                self.person
            ),
        };
        let left_out = match (texts.len(), grader) {
            (0, _) => String::new(),
            (_, Some(_)) => format!(
                "; not included as criteria, because they hold texts: {}",
                self.list_first_names(texts)
            ),
            (_, None) => format!("; not included: {}", self.list_first_names(texts)),
        };
        Some(read + &left_out)
    }

    /// How the table was read if it names no criterion, and what to add.
    fn describe_missing_criterion(&self) -> Option<String> {
        let candidate = self.list_names(&[self.candidate]);
        match &self.layout {
            TableLayout::RowPerGrade { criterion: None, .. } => Some(format!(
                "read as a row per grade of a criterion `{UNNAMED_CRITERION}`; to name the criterion, add a column `criterion`"
            )),
            TableLayout::ColumnPerGrader => {
                let is_grader = |at: &usize| self.is_grader_column(*at);
                let graders: Vec<usize> = (0..self.header.len()).filter(is_grader).collect();
                let graders = self.list_first_names(&graders);
                Some(format!(
                    "read as a row per candidate ({candidate}) and a column per grader ({graders}), all of a criterion `{UNNAMED_CRITERION}`; \
                     if one person graded, give the column the name of the criterion; if several did, add a column `annotator`, and a column with the name of each criterion"
                ))
            }
            _ => None,
        }
    }

    /// Whether a column holds a grader's answers, in a table with a column for each grader.
    fn is_grader_column(&self, at: usize) -> bool {
        at != self.candidate && !ABOUT.contains(&self.header[at].as_str())
    }

    fn list_names(&self, columns: &[usize]) -> String {
        columns.iter().map(|at| format!("`{}`", self.names[*at])).collect::<Vec<_>>().join(", ")
    }

    /// The names of the first columns, and how many more there are.
    fn list_first_names(&self, columns: &[usize]) -> String {
        let n = columns.len();
        let listed = self.list_names(&columns[..n.min(MOST_TEXTS)]);
        if MOST_TEXTS < n { format!("{listed} and {} more", n - MOST_TEXTS) } else { listed }
    }

    fn read_row(&self, row: &StringRecord, grades: &mut Vec<(Grade, MetadataFields)>) -> Result<(), BadLine> {
        let candidate = trimmed_cell(row, self.candidate).ok_or(BadLine::Missing("candidate"))?;
        let time = self.time.and_then(|at| trimmed_cell(row, at)).map(parse_time_or_day).transpose()?;
        let version =
            self.rubric.and_then(|at| trimmed_cell(row, at)).map(|text| serde_json::from_value(text.into()));
        let version = version.transpose().map_err(|error| BadLine::Shape(error.to_string()))?;
        // In a row with a column for each grader, the reason belongs to no single grader.
        let is_of_one = !matches!(self.layout, TableLayout::ColumnPerGrader);
        let why = self.reason.filter(|_| is_of_one).and_then(|at| trimmed_cell(row, at)).unwrap_or_default();
        let fields = self.further_fields(row);
        let mut add = |criterion: &str, grader: &str, text: &str| -> Result<(), BadLine> {
            let (value, outcome) = match self.question_of(row, criterion) {
                Some(question) => (Some(read_labels_cell(question, text)), None),
                None if self.is_choice_of_export(row) => (Some(Value::Text(text.to_owned())), None),
                None => parse_answer_cell(text)?,
            };
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
                if let Outcome::Scored { value, unit } = &mut grade.outcome {
                    *unit = match value {
                        Value::Number(number) => {
                            position_between_ends(*number, self.scale_ends(row, criterion))
                        }
                        Value::Bool(_) | Value::Text(_) => None,
                    };
                    *unit = self.stated_unit(row).or(*unit);
                }
                if let Some(kind) = self.stated_grader_kind(row) {
                    grade.grader.kind = kind;
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
                Some(text) => add(own(*criterion, UNNAMED_CRITERION), own(*grader, "unknown"), text),
                None => Ok(()),
            },
            TableLayout::RowPerRater { grader, criteria, .. } => {
                let grader = if grader.is_some() { own(*grader, "unknown") } else { self.person.as_str() };
                for at in criteria {
                    if let Some(text) = trimmed_cell(row, *at) {
                        add(&self.names[*at], grader, text)?;
                    }
                }
                Ok(())
            }
            TableLayout::ColumnPerGrader => {
                for (at, grader) in self.header.iter().enumerate() {
                    if let Some(text) = trimmed_cell(row, at).filter(|_| self.is_grader_column(at)) {
                        add(UNNAMED_CRITERION, grader, text)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// The column `unit` of a row for each grade: what the answer is worth from 0 to 1.
    fn stated_unit(&self, row: &StringRecord) -> Option<f64> {
        let TableLayout::RowPerGrade { value, .. } = self.layout else { return None };
        let at = self.header.iter().position(|name| name == UNIT).filter(|at| *at != value)?;
        trimmed_cell(row, at)?.parse().ok().filter(|unit| (0.0..=1.0).contains(unit))
    }

    /// The column `grader_kind` of a row for each grade.
    fn stated_grader_kind(&self, row: &StringRecord) -> Option<GraderKind> {
        let TableLayout::RowPerGrade { .. } = self.layout else { return None };
        let at = self.header.iter().position(|name| name == GRADER_KIND)?;
        serde_json::from_value(trimmed_cell(row, at)?.into()).ok()
    }

    /// Whether a row of `jurist export` has a choice, which is a text even if it looks like a number: its column
    /// `number` is empty.
    fn is_choice_of_export(&self, row: &StringRecord) -> bool {
        let at = |name: &str| self.header.iter().position(|header| header == name);
        at(GRADER_KIND).is_some() && at(NUMBER).is_some_and(|at| trimmed_cell(row, at).is_none())
    }

    /// The ends of a criterion's scale, where a column has them (`1 to 5`).
    fn scale_ends(&self, row: &StringRecord, criterion: &str) -> Option<(f64, f64)> {
        let is_scale = |name: &String| name.strip_suffix(SCALE).is_some_and(|of| of == criterion);
        parse_scale_text(trimmed_cell(row, self.names.iter().position(is_scale)?)?)
    }

    /// Which question of labels a column answers, where another column says so.
    fn question_of(&self, row: &StringRecord, criterion: &str) -> Option<PlainQuestion> {
        let is_scale = |name: &String| name.strip_suffix(SCALE).is_some_and(|of| of == criterion);
        let text = trimmed_cell(row, self.names.iter().position(is_scale)?)?;
        PlainQuestion::parse(text).filter(|question| !matches!(question, PlainQuestion::Text))
    }

    /// Columns that are no answer and not known are fields.
    fn further_fields(&self, row: &StringRecord) -> MetadataFields {
        let mut known = vec![Some(self.candidate), self.time, self.rubric, self.reason];
        match &self.layout {
            TableLayout::RowPerGrade { value, criterion, grader } => {
                known.extend([Some(*value), *criterion, *grader]);
            }
            TableLayout::RowPerRater { grader, criteria, .. } => {
                known.extend(criteria.iter().map(|at| Some(*at)).chain([*grader]));
            }
            TableLayout::ColumnPerGrader => return MetadataFields::new(),
        }
        let is_further = |at: usize, name: &str| {
            !known.contains(&Some(at)) && !name.ends_with(SCALE) && !name.ends_with(DECIDED)
        };
        let further = self.names.iter().enumerate().filter(|(at, name)| is_further(*at, name));
        further.filter_map(|(at, name)| Some((name.clone(), trimmed_cell(row, at)?.into()))).collect()
    }
}

/// Columns with the name of a known criterion are criteria. So are those in which every answer is a number, or every
/// answer yes or no, unless the table has labels of one person, whose other columns may say anything.
fn row_per_rater(
    grader: Option<usize>,
    others: &[usize],
    candidate: usize,
    names: &[String],
    rows: &[StringRecord],
    known: KnownOfTable<'_>,
) -> Result<TableLayout, BadLine> {
    let question = |at: usize| declared_question(at, names, rows);
    let is_criterion = |at: usize| match question(at) {
        _ if known.is_criterion(&names[at]) => true,
        Some(question) => question.is_graded(),
        None => grader.is_some() && is_rated(at, rows),
    };
    let may_hold_ratings = |at: &&usize| question(**at).is_none() && (grader.is_some() || is_criterion(**at));
    for at in others.iter().filter(may_hold_ratings) {
        check_stray_texts(*at, names, rows)?;
    }
    let (criteria, rest): (Vec<usize>, Vec<usize>) = others.iter().copied().partition(|at| is_criterion(*at));
    let has_text = |at: &usize| rows.iter().any(|row| trimmed_cell(row, *at).is_some());
    let texts: Vec<usize> = rest.into_iter().filter(has_text).collect();
    if let (Some(grader), []) = (grader, criteria.as_slice()) {
        let mut cells = rows.iter().flat_map(|row| others.iter().filter_map(|at| trimmed_cell(row, *at)));
        if let Some(text) = cells.find(|text| has_decimal_comma(text)) {
            let point = text.replace(',', ".");
            return Err(BadLine::Shape(format!("`{text}` has a decimal comma; write `{point}`")));
        }
        let Some(first) = others.first().copied() else {
            return Err(BadLine::Shape(format!(
                "`{}` names graders, and no other column holds ratings",
                names[grader]
            )));
        };
        let (separator, ending) = if known.delimiter == b'\t' { ("\\t", "tsv") } else { (",", "csv") };
        return Err(BadLine::Shape(format!(
            "`{}` names graders, and no other column holds only numbers, or only yes and no; if `{label}` holds labels, \
             this writes a table that says so: awk 'BEGIN {{FS=OFS=\"{separator}\"}} {{if (NR==1) print \"candidate\", \
             \"grader\", \"criterion\", \"value\"; else print ${}, ${}, \"{label}\", ${}}}' FILE > table.{ending}",
            names[grader],
            candidate + 1,
            grader + 1,
            first + 1,
            label = names[first],
        )));
    }
    Ok(TableLayout::RowPerRater { grader, criteria, texts })
}

/// Columns of texts that are named in a sentence.
const MOST_TEXTS: usize = 5;

/// Whether a column only says something about another column.
fn is_detail_of_another(name: &str, header: &[String]) -> bool {
    SUFFIXES_OF_DETAILS
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|of| header.iter().any(|other| other.as_str() == of)))
}

/// The question of a column, where the column next to it names one.
fn declared_question(at: usize, names: &[String], rows: &[StringRecord]) -> Option<PlainQuestion> {
    let scale = format!("{}{SCALE}", names[at]);
    let scale_column = names.iter().position(|name| *name == scale)?;
    rows.iter().find_map(|row| trimmed_cell(row, scale_column)).and_then(PlainQuestion::parse)
}

/// The labels in a cell: a text, whatever it looks like.
fn read_labels_cell(question: PlainQuestion, text: &str) -> Value {
    match question {
        PlainQuestion::SeveralLabels if text == NOTHING_TICKED => Value::Text(join_chosen_labels(&[])),
        PlainQuestion::SeveralLabels => {
            let labels: Vec<String> = text.split(LABEL_SEPARATOR).map(str::to_owned).collect();
            Value::Text(join_chosen_labels(&labels))
        }
        _ => Value::Text(text.to_owned()),
    }
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
pub(super) fn position_between_ends(number: f64, ends: Option<(f64, f64)>) -> Option<f64> {
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
    if is_rated(at, rows) {
        return Ok(());
    }
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

/// Whether a column has answers, and all of them are numbers, or all of them are yes or no. An answer may also say that
/// there is none.
fn is_rated(at: usize, rows: &[StringRecord]) -> bool {
    type ParsedCell = Result<(Option<Value>, Option<Outcome>), BadLine>;
    let answers = || rows.iter().filter_map(|row| trimmed_cell(row, at)).map(parse_answer_cell);
    let is_number = |answer: ParsedCell| !matches!(answer, Ok((Some(Value::Text(_)), _)));
    let is_yes_or_no = |answer: ParsedCell| match answer {
        Ok((Some(value), _)) => value.as_yes_or_no().is_some(),
        Ok((None, _)) | Err(_) => true,
    };
    answers().next().is_some() && (answers().all(is_number) || answers().all(is_yes_or_no))
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
        let line = |(grade, _): &(Grade, MetadataFields)| {
            let Outcome::Scored { value, .. } = &grade.outcome else { return "-".to_owned() };
            format!("{} {} {} {value}", grade.candidate, grade.criterion, grade.grader.name)
        };
        grades.iter().map(line).collect()
    }

    #[test]
    fn a_row_per_item_and_rater_has_a_criterion_in_each_column_of_numbers() {
        let wide = "item_id,rater,helpful,correct,comment\n1,ann,5,4,good\n1,bob,4,,";
        assert_eq!(read(wide), ["1 helpful ann 5", "1 correct ann 4", "1 helpful bob 4"]);
        let table = read_grade_table(wide, b',').unwrap();
        assert_eq!(table.grades[0].0.reason.as_str(), "good");
        assert!(table.reading.is_some_and(|reading| reading.contains("`helpful`, `correct`")));
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
        assert!(
            reading
                .ends_with("`tone`, `correct`; not included as criteria, because they hold texts: `remark`"),
            "{reading}"
        );
    }

    #[test]
    fn an_annotation_export_has_labels_and_decisions() {
        let export = "trace_id,annotator,timestamp,grounded,grounded.scale,tags,tags.scale,clarity,clarity.scale,why,why.scale,clarity.decided\r\n\
            t1,ana,2026-03-20T10:15:32Z,yes,radio,b; a,multiselect,4,1 to 5,so,text,2\r\n\
            t1,ben,2026-03-20T10:15:32Z,n/a,radio,(none),multiselect,5,1 to 5,,text,2\r\n";
        let expected = [
            "t1 grounded ana yes",
            "t1 tags ana a, b",
            "t1 clarity ana 4",
            "t1 grounded ben n/a",
            "t1 tags ben (none)",
            "t1 clarity ben 5",
        ];
        assert_eq!(read(export), expected);
        let reading = read_grade_table(export, b',').unwrap().reading.unwrap();
        assert!(reading.ends_with("; not included as criteria, because they hold texts: `why`"), "{reading}");
    }

    #[test]
    fn a_row_per_grade_may_say_what_its_answer_is_worth() {
        let units = |text: &str| {
            let grades = read_grade_table(text, b',').unwrap().grades;
            grades.iter().map(|(grade, _)| grade.outcome.clone()).collect::<Vec<Outcome>>()
        };
        let text = |text: &str, unit: Option<f64>| Outcome::Scored { value: Value::Text(text.into()), unit };
        let number =
            |value: f64, unit: f64| Outcome::Scored { value: Value::Number(value), unit: Some(unit) };
        let export = "candidate,criterion,grader_kind,grader,value,number,unit\n\
            a,tone,human,ana,4,4,0.75\na,style,human,ana,chatty,,0.6\na,size,human,ana,5,,\n";
        let kinds = read_grade_table(&export.replace("human", "judge"), b',').unwrap().grades;
        assert!(kinds.iter().all(|(grade, _)| grade.grader.kind == GraderKind::Judge));
        assert_eq!(units(export), [number(4.0, 0.75), text("chatty", Some(0.6)), text("5", None)]);
        // A unit of measurement is none of 0 to 1.
        assert_eq!(units("id,criterion,value,unit\na,size,big,kg\n"), [text("big", None)]);
    }

    #[test]
    fn a_column_with_the_name_of_a_criterion_holds_labels() {
        let criteria = ["resolved".to_owned(), "score".to_owned()];
        let read = |text: &str| read_labels_table(text, b',', &criteria, "labels").unwrap();
        let rows = |table: &GradeTable| {
            let line = |(grade, _): &(Grade, MetadataFields)| {
                let Outcome::Scored { value, .. } = &grade.outcome else { return "-".to_owned() };
                format!("{} {} {} {value}", grade.candidate, grade.criterion, grade.grader.name)
            };
            table.grades.iter().map(line).collect::<Vec<_>>()
        };
        let of_one = read("id,resolved,notes,text\na,yes,fine,Hello.\nb,no,,Bye.\n");
        assert_eq!(rows(&of_one), ["a resolved labels yes", "b resolved labels no"]);
        assert_eq!(of_one.grades[0].0.reason.as_str(), "fine");
        assert_eq!(
            of_one.reading.as_deref(),
            Some(
                "read as labels of one person (`labels`), with a row per candidate (`id`) and the criteria `resolved`; not included: `text`"
            )
        );
        assert_eq!(rows(&read("id,score\na,1\n")), ["a score labels 1"]);
        assert_eq!(
            rows(&read("id,rater,resolved\na,ann,kind\na,bob,curt\n")),
            ["a resolved ann kind", "a resolved bob curt"]
        );
        let of_several = read("id,ann,bob\na,1,0\n");
        assert_eq!(rows(&of_several), ["a rating ann 1", "a rating bob 0"]);
        assert!(of_several.without_criterion.unwrap().contains("a column per grader (`ann`, `bob`)"));
        let of_grades = read("candidate,grader,value\na,ann,1\n");
        assert!(of_grades.without_criterion.unwrap().contains("add a column `criterion`"));
        assert_eq!(read("candidate,criterion,value\na,resolved,1\n").without_criterion, None);
    }

    #[test]
    fn columns_of_yes_and_no_are_criteria_and_labels_keep_their_criterion() {
        let table = "id,annotator,resolved,notes\na,ann,yes,\nb,ann,No,x\nc,ann,n/a,\n";
        assert_eq!(read(table), ["a resolved ann yes", "b resolved ann No", "-"]);
        let error =
            read_grade_table("id,annotator,tone\na,ann,kind\nb,ann,curt\n", b',').unwrap_err().to_string();
        assert!(error.contains("else print $1, $2, \"tone\", $3}' FILE > table.csv"), "{error}");
    }

    #[test]
    fn other_tables_are_read_as_before() {
        assert_eq!(read("item,ann,bob\n1,2,3"), ["1 rating ann 2", "1 rating bob 3"]);
        assert_eq!(read("case,candidate,criterion,grader,value\n,1,clear,ann,2"), ["1 clear ann 2"]);
    }
}
