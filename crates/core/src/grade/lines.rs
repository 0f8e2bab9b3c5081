//! Lines of a grades file: the contract in full, and the shorter forms that people and other tools write.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json, json};

use super::exported::{is_exported_row, read_exported_fields, read_exported_grade};
use super::plain::{PlainQuestion, is_form, read_plain_answers};
use super::steps::marks_steps;
use super::table::position_between_ends;
use super::{Evidence, FORMAT, Grade, Grader, GraderKind, Outcome, Reason, RubricHash, Spend, Time, Value};

/// What one line says.
#[derive(Debug, Clone, PartialEq)]
pub enum GradesFileLine {
    /// Grades of one candidate; their `unit` may still be missing.
    Grades(Vec<Grade>),
    /// The text of a candidate, for conditions and length penalties.
    Candidate { id: String, response: String },
}

/// Why a line cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadLine {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error(
        "a line must be a JSON object such as {{\"candidate\": \"a\", \"criterion\": \"clear\", \"value\": 4}}"
    )]
    NotAnObject,
    #[error(
        "each line must be a complete JSON object; this file has one that spans several lines (`jq -c . FILE` joins them)"
    )]
    NotOneLine,
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("{0}")]
    Shape(String),
    #[error("written in format version {0}; this program reads up to version {FORMAT}")]
    Newer(u32),
}

/// A grade without ceremony.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShortGradeLine {
    pub(super) candidate: Json,
    pub(super) criterion: String,
    #[serde(default)]
    pub(super) value: Option<Value>,
    #[serde(default)]
    pub(super) outcome: Option<Outcome>,
    #[serde(default)]
    pub(super) grader: Option<Json>,
    #[serde(default)]
    pub(super) reason: Reason,
    #[serde(default)]
    pub(super) evidence: Vec<Evidence>,
    #[serde(default)]
    pub(super) time: Option<Time>,
    #[serde(default)]
    pub(super) rubric: Option<RubricHash>,
    /// How it was sampled is read by [`SampledCandidate`](super::Sampled).
    #[serde(default, rename = "stratum")]
    pub(super) _stratum: IgnoredAny,
    #[serde(default, rename = "probability")]
    pub(super) _probability: IgnoredAny,
}

/// A short line of four keys at most, as large files have them: it is read without a tree and without copies.
///
/// ```
/// use jurist_core::grade::ShortGrade;
///
/// let line = r#"{"candidate": "a", "criterion": "clear", "value": 4}"#;
/// assert_eq!(ShortGrade::parse(line).unwrap().candidate, "a");
/// // Everything else is read by `GradesFileLine`.
/// assert_eq!(ShortGrade::parse(r#"{"candidate": 7, "criterion": "clear", "value": 4}"#), None);
/// ```
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShortGrade<'a> {
    #[serde(borrow)]
    pub candidate: Cow<'a, str>,
    #[serde(borrow)]
    pub criterion: Cow<'a, str>,
    pub value: Value,
    #[serde(borrow, default = "unnamed_grader_name")]
    pub grader: Cow<'a, str>,
}

impl<'a> ShortGrade<'a> {
    /// `None` for a line of any other kind, right or wrong.
    pub fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub fn into_grade(self) -> Grade {
        Grade {
            format: FORMAT,
            candidate: self.candidate.into_owned(),
            rubric: None,
            criterion: self.criterion.into_owned(),
            grader: Grader { kind: GraderKind::Human, name: self.grader.into_owned(), configuration: None },
            outcome: Outcome::Scored { value: self.value, unit: None },
            reason: Reason::default(),
            evidence: Vec::new(),
            points: Vec::new(),
            flags: Vec::new(),
            spend: Spend::default(),
            time: None,
            attempts: Vec::new(),
        }
    }
}

/// The grader's name in lines that name no grader.
const NOBODY: &str = "given";

fn unnamed_grader_name() -> Cow<'static, str> {
    Cow::Borrowed(NOBODY)
}

/// Further columns of a table, and `metadata` of a line: anything to look at grades by.
pub type MetadataFields = Map<String, Json>;

impl GradesFileLine {
    /// Reads a line for a rubric, which computes the score of the whole itself.
    pub fn parse(text: &str) -> Result<Self, BadLine> {
        Self::read(text, false).map(|(line, _)| line)
    }

    /// Reads a line for statistics: with the fields of its `metadata`, and from an annotation export also the overall
    /// rating.
    pub fn with_fields(text: &str) -> Result<(Self, MetadataFields), BadLine> {
        Self::read(text, true)
    }

    fn read(text: &str, is_for_statistics: bool) -> Result<(Self, MetadataFields), BadLine> {
        let text = text.trim_start_matches('\u{feff}');
        if let Some(short) = ShortGrade::parse(text) {
            return Ok((Self::Grades(vec![short.into_grade()]), MetadataFields::new()));
        }
        if matches!(text.trim(), "{" | "[") {
            return Err(BadLine::NotOneLine);
        }
        let value: Json = serde_json::from_str(text).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.split(" at line").next().unwrap_or_default();
            BadLine::NotJson(format!("{reason} at column {}", error.column()))
        })?;
        let Json::Object(mut map) = value else { return Err(BadLine::NotAnObject) };
        let fields = match map.remove("metadata") {
            None | Some(Json::Null) => MetadataFields::new(),
            Some(Json::Object(fields)) => fields,
            Some(_) => return Err(BadLine::Shape("`metadata` must map names to values".to_owned())),
        };
        if is_exported_row(&map) {
            let grade = read_exported_grade(&map)?;
            return Ok((Self::Grades(vec![grade]), read_exported_fields(&map, fields)));
        }
        Ok((Self::of_map(map, is_for_statistics)?, fields))
    }

    fn of_map(map: Map<String, Json>, is_for_statistics: bool) -> Result<Self, BadLine> {
        if is_form(&map) {
            return read_annotation_form(&map, is_for_statistics);
        }
        // Marks on steps are read by [`step_grades`](super::step_grades); no rubric scores them.
        if marks_steps(&map) {
            return Ok(Self::Grades(Vec::new()));
        }
        if is_graded_record(&map) {
            return read_graded_record(&map);
        }
        let id = map.get("candidate").filter(|map| !map.is_null()).ok_or(BadLine::Missing("candidate"))?;
        if !map.contains_key("criterion") {
            let response = map.get("response").and_then(Json::as_str).ok_or(BadLine::Missing("criterion"))?;
            return Ok(Self::Candidate { id: id_text(id), response: response.to_owned() });
        }
        if let Some(format) = map.get("format").and_then(Json::as_u64).filter(|n| u64::from(FORMAT) < *n) {
            return Err(BadLine::Newer(u32::try_from(format).unwrap_or(u32::MAX)));
        }
        let is_short = !map.contains_key("format")
            && !map.contains_key("spend")
            && (!map.contains_key("rubric") || map.contains_key("value"));
        let outcome_is_object = map.get("outcome").is_none_or(Json::is_object);
        let shape = |error: serde_json::Error| match outcome_is_object {
            true => BadLine::Shape(error.to_string()),
            false => BadLine::Shape(
                "`outcome` must be an object such as {\"kind\": \"failed\", \"failure\": \"timeout\"}"
                    .to_owned(),
            ),
        };
        if is_short {
            read_short_grade(serde_json::from_value(Json::Object(map)).map_err(shape)?)
        } else {
            serde_json::from_value(Json::Object(map)).map(|grade| Self::Grades(vec![grade])).map_err(shape)
        }
    }
}

pub(super) fn read_short_grade(short: ShortGradeLine) -> Result<GradesFileLine, BadLine> {
    let outcome = match (short.value, short.outcome) {
        (Some(_), Some(_)) => {
            return Err(BadLine::Shape("`value` and `outcome` exclude each other".to_owned()));
        }
        (Some(value), None) => Outcome::Scored { value, unit: None },
        (None, Some(outcome)) => outcome,
        (None, None) => return Err(BadLine::Missing("value")),
    };
    let grader = match short.grader {
        None => unnamed_grader(),
        Some(Json::String(name)) => Grader { kind: GraderKind::Human, name, configuration: None },
        Some(other) => serde_json::from_value(other).map_err(|_| {
            BadLine::Shape(
                "`grader` must be a name, or an object such as {\"kind\": \"judge\", \"name\": \"claude\"}"
                    .to_owned(),
            )
        })?,
    };
    Ok(GradesFileLine::Grades(vec![Grade {
        format: FORMAT,
        candidate: id_text(&short.candidate),
        rubric: short.rubric,
        criterion: short.criterion,
        grader,
        outcome,
        reason: short.reason,
        evidence: short.evidence,
        points: Vec::new(),
        flags: Vec::new(),
        spend: Spend::default(),
        time: short.time,
        attempts: Vec::new(),
    }]))
}

pub(super) fn unnamed_grader() -> Grader {
    Grader { kind: GraderKind::Human, name: NOBODY.to_owned(), configuration: None }
}

/// Whether a line is what `jurist grade` writes of a record: its verdict and its grades, of each judge if it has several.
fn is_graded_record(map: &Map<String, Json>) -> bool {
    let has_list = |key: &str| map.get(key).is_some_and(Json::is_array);
    !map.contains_key("candidate")
        && !map.contains_key("criterion")
        && (has_list("grades") || has_list("opinions"))
}

fn read_graded_record(record: &Map<String, Json>) -> Result<GradesFileLine, BadLine> {
    let opinions = record.get("opinions").and_then(Json::as_array).into_iter().flatten();
    let lists = opinions.filter_map(|opinion| opinion.get("grades")).chain(record.get("grades"));
    let mut all = Vec::new();
    for grade in lists.filter_map(Json::as_array).flatten().filter_map(Json::as_object) {
        let line = if grade.contains_key("candidate") {
            grade.clone()
        } else {
            complete_check_grade(record, grade)?
        };
        if let GradesFileLine::Grades(grades) = GradesFileLine::of_map(line, false)? {
            all.extend(grades);
        }
    }
    Ok(GradesFileLine::Grades(all))
}

/// The grade of a check, whose candidate only the record names.
fn complete_check_grade(
    record: &Map<String, Json>,
    finding: &Map<String, Json>,
) -> Result<Map<String, Json>, BadLine> {
    let candidate = record.get("id").filter(|id| !id.is_null()).ok_or(BadLine::Missing("id"))?;
    let criterion = finding.get("criterion").ok_or(BadLine::Missing("criterion"))?;
    let comment = finding.get("comment").and_then(Json::as_str).unwrap_or_default();
    let outcome = match finding.get("score").and_then(Json::as_f64) {
        Some(score) => json!({ "kind": "scored", "value": score, "unit": score }),
        None if finding.contains_key("error") => {
            json!({ "kind": "failed", "failure": "crashed", "detail": comment })
        }
        None => json!({ "kind": "abstained", "why": comment }),
    };
    Ok(Map::from_iter([
        ("candidate".to_owned(), candidate.clone()),
        ("criterion".to_owned(), criterion.clone()),
        ("grader".to_owned(), json!({ "kind": "check", "name": criterion })),
        ("outcome".to_owned(), outcome),
        ("reason".to_owned(), json!(comment)),
    ]))
}

/// The key of a form, and the column of a table, that marks answers of an excluded annotator.
pub const EXCLUDED: &str = "excluded";

/// The key of a rubric in a form that names the scales of its criteria, as columns of tables do (`NAME.scale`).
pub const SCALES: &str = "scales";

/// Whether a form has answers of an annotator who was excluded from the task.
pub(super) fn is_excluded_form(map: &Map<String, Json>) -> bool {
    map.get(EXCLUDED) == Some(&Json::Bool(true))
}

/// One submitted form of an annotation task: `{trace_id, annotator, rubric: {criteria_ratings}}`, and for statistics
/// its plain questions.
fn read_annotation_form(map: &Map<String, Json>, is_for_statistics: bool) -> Result<GradesFileLine, BadLine> {
    if is_excluded_form(map) {
        return Ok(GradesFileLine::Grades(Vec::new()));
    }
    let id = ["trace_id", "candidate", "id", "instance_id"].iter().find_map(|text| map.get(*text));
    let candidate = id_text(id.ok_or(BadLine::Missing("trace_id"))?);
    let (no_rubric, no_ratings) = (Json::Null, Map::new());
    let rubric = map.get("rubric").filter(|rubric| rubric.is_object()).unwrap_or(&no_rubric);
    let ratings = match rubric.get("criteria_ratings") {
        None => &no_ratings,
        Some(Json::Object(ratings)) => ratings,
        Some(_) => {
            return Err(BadLine::Shape("`criteria_ratings` must map criteria to ratings".to_owned()));
        }
    };
    // Overall ratings, and scores that are computed from several ratings.
    let of_whole = ["overall", "weighted_score"].into_iter().filter(|name| {
        is_for_statistics && !ratings.contains_key(*name) && (*name == "overall" || 1 < ratings.len())
    });
    let of_whole = of_whole.filter_map(|name| Some((name, rubric.get(name)?)));
    let ratings = ratings.iter().map(|(name, rating)| (name.as_str(), rating)).chain(of_whole);
    let name = map.get("annotator").and_then(Json::as_str).map(str::to_owned);
    let grader = name.map_or_else(unnamed_grader, |name| Grader {
        kind: GraderKind::Human,
        name,
        configuration: None,
    });
    let notes = rubric.get("notes").and_then(Json::as_str).unwrap_or_default();
    let time = match map.get("timestamp").and_then(Json::as_str) {
        Some(text) => Some(Time::parse(text).map_err(|error| BadLine::Shape(error.to_string()))?),
        None => None,
    };
    let build = |criterion: &str, outcome: Outcome, reason: &str| Grade {
        format: FORMAT,
        candidate: candidate.clone(),
        rubric: None,
        criterion: criterion.to_owned(),
        grader: grader.clone(),
        outcome,
        reason: Reason::new(reason),
        evidence: Vec::new(),
        points: Vec::new(),
        flags: Vec::new(),
        spend: Spend::default(),
        time,
        attempts: Vec::new(),
    };
    let scales = rubric.get(SCALES).and_then(Json::as_object);
    let grade = |(criterion, rating): (&str, &Json)| {
        let scale = scales.and_then(|scales| scales.get(criterion)?.as_str());
        let mut outcome = read_form_rating(criterion, rating, scale)?;
        // A rubric computes the score of a rating itself.
        if let (true, Outcome::Scored { value: Value::Number(number), unit }) =
            (is_for_statistics, &mut outcome)
        {
            *unit = position_between_ends(*number, scale.and_then(parse_scale_text));
        }
        Ok(build(criterion, outcome, notes))
    };
    let mut grades = ratings.map(grade).collect::<Result<Vec<_>, BadLine>>()?;
    if is_for_statistics {
        let plain = read_plain_answers(map)?.into_iter();
        grades.extend(plain.map(|answer| build(&answer.question, answer.outcome, "")));
    }
    Ok(GradesFileLine::Grades(grades))
}

/// A rating of a form: a number, a truth value, or a choice. Potato itself stores numbers as text.
fn read_form_rating(criterion: &str, rating: &Json, scale: Option<&str>) -> Result<Outcome, BadLine> {
    let question = scale.and_then(PlainQuestion::parse);
    let is_choice = question.is_some_and(|question| matches!(question, PlainQuestion::Labels { .. }));
    let number = match rating {
        Json::String(text) if is_choice || text.trim().is_empty() => None,
        Json::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    };
    let value = match (number, rating) {
        (Some(number), _) => Value::Number(number),
        (None, Json::Bool(is_yes)) => Value::Bool(*is_yes),
        (None, Json::String(text)) if !text.trim().is_empty() => Value::Text(text.clone()),
        (None, Json::Null | Json::String(_)) => {
            return Ok(Outcome::Abstained { why: "not rated".to_owned() });
        }
        (None, _) => {
            return Err(BadLine::Shape(format!(
                "the rating of `{criterion}` is not a number, a truth value or a text"
            )));
        }
    };
    Ok(Outcome::Scored { value, unit: None })
}

/// The ends of a scale that is written as `1 to 5`.
pub(super) fn parse_scale_text(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.split_once(" to ")?;
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
}

pub(super) fn id_text(id: &Json) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::read_grade_table;
    use super::*;

    fn read_table(text: &str, delimiter: u8) -> Result<Vec<(Grade, MetadataFields)>, BadLine> {
        read_grade_table(text, delimiter).map(|grade_table| grade_table.grades)
    }

    #[test]
    fn short_lines_say_the_same_as_full_ones() {
        let short =
            GradesFileLine::parse(r#"{"candidate": "a", "criterion": "b", "value": true, "grader": "ann"}"#)
                .unwrap();
        let full = r#"{"format": 1, "candidate": "a", "criterion": "b", "grader": {"kind": "human", "name": "ann"},
                       "outcome": {"kind": "scored", "value": true}}"#;
        assert_eq!(short, GradesFileLine::parse(full).unwrap());
    }

    #[test]
    fn annotation_exports_are_grades_of_one_person() {
        let line = r#"{"trace_id": "t1", "annotator": "ann", "timestamp": "2026-03-20T10:15:32Z",
                       "rubric": {"criteria_ratings": {"a": 4, "b": "3"}, "overall": 4, "weighted_score": 3.5}}"#;
        let GradesFileLine::Grades(grades) = GradesFileLine::parse(line).unwrap() else {
            panic!("not grades")
        };
        let read: Vec<(&str, &str)> =
            grades.iter().map(|grade| (grade.criterion.as_str(), grade.grader.name.as_str())).collect();
        assert_eq!(read, [("a", "ann"), ("b", "ann")]);
    }

    #[test]
    fn a_rating_of_a_form_is_a_number_a_truth_value_or_a_choice() {
        let line = r#"{"trace_id": "a", "annotator": "x", "timestamp": "2026-03-20T10:15:32Z",
                       "rubric": {"criteria_ratings": {"level": "5", "resolved": true, "style": "plain", "tone": 4, "why": null},
                                  "scales": {"level": "radio", "resolved": "binary", "style": "radio", "tone": "1 to 5"}}}"#;
        let read = |(line, _): (GradesFileLine, MetadataFields)| {
            let GradesFileLine::Grades(grades) = line else { panic!("not grades") };
            grades.into_iter().map(|grade| grade.outcome).collect::<Vec<Outcome>>()
        };
        let scored = |value: Value, unit: Option<f64>| Outcome::Scored { value, unit };
        let expected = |unit: Option<f64>| {
            [
                scored(Value::Text("5".to_owned()), None),
                scored(Value::Bool(true), None),
                scored(Value::Text("plain".to_owned()), None),
                scored(Value::Number(4.0), unit),
                Outcome::Abstained { why: "not rated".to_owned() },
            ]
        };
        assert_eq!(read(GradesFileLine::with_fields(line).unwrap()), expected(Some(0.75)));
        let of_rubric = GradesFileLine::parse(line).unwrap();
        assert_eq!(read((of_rubric, MetadataFields::new())), expected(None));
        let odd = r#"{"trace_id": "a", "annotator": "x", "rubric": {"criteria_ratings": {"tone": [4]}}}"#;
        let error = GradesFileLine::parse(odd).unwrap_err().to_string();
        assert!(error.contains("the rating of `tone` is not a number, a truth value or a text"), "{error}");
    }

    #[test]
    fn answers_of_excluded_annotators_are_left_out() {
        let line = r#"{"trace_id": "t1", "annotator": "cleo", "excluded": true,
                       "rubric": {"criteria_ratings": {"a": 4}}}"#;
        assert_eq!(GradesFileLine::parse(line).unwrap(), GradesFileLine::Grades(Vec::new()));
        let table = "trace_id,annotator,a,a.scale,excluded\n1,ana,2,1 to 5,\n1,cleo,3,1 to 5,true\n";
        let read = read_table(table, b',').unwrap();
        let graders: Vec<(&str, &str)> =
            read.iter().map(|(grade, _)| (grade.criterion.as_str(), grade.grader.name.as_str())).collect();
        assert_eq!(graders, [("a", "ana")]);
    }

    #[test]
    fn lines_of_graded_records_hold_the_grades_of_each_judge() {
        let grade = |judge: &str| {
            json!({
                "format": 1, "candidate": "a", "criterion": "b", "grader": { "kind": "judge", "name": judge },
                "outcome": { "kind": "scored", "value": true, "unit": 1.0 },
            })
        };
        let read = |line: Json| {
            let GradesFileLine::Grades(grades) = GradesFileLine::parse(&line.to_string()).unwrap() else {
                panic!("not grades")
            };
            grades
        };
        let of_one =
            read(json!({ "id": "a", "status": "pass", "score": 1.0, "verdict": {}, "grades": [grade("m")] }));
        assert_eq!(of_one, [serde_json::from_value::<Grade>(grade("m")).unwrap()]);
        let opinion = |judge: &str| json!({ "judge": judge, "verdict": {}, "grades": [grade(judge)] });
        let of_panel = read(json!({ "id": "a", "opinions": [opinion("m"), opinion("n")], "panel": {} }));
        assert_eq!(of_panel.iter().map(|grade| grade.grader.name.as_str()).collect::<Vec<_>>(), ["m", "n"]);
        let of_checks = read(json!({ "id": 7, "score": 0.0, "grades": [
            { "criterion": "b", "score": 0.5, "value": null, "comment": "half" },
            { "criterion": "c", "score": null, "value": null, "comment": "too large", "error": "too large" },
        ] }));
        assert_eq!((of_checks[0].candidate.as_str(), of_checks[0].outcome.unit()), ("7", Some(0.5)));
        assert_eq!(of_checks[0].grader.kind, GraderKind::Check);
        assert!(matches!(&of_checks[1].outcome, Outcome::Failed { detail, .. } if detail == "too large"));
        let error = GradesFileLine::parse(r#"{"grades": [{"criterion": "b", "score": 1}]}"#).unwrap_err();
        assert_eq!(error, BadLine::Missing("id"));
    }

    #[test]
    fn what_else_is_known_of_a_grade_stays_beside_it() {
        let line = r#"{"candidate": "a", "criterion": "b", "value": 1, "metadata": {"language": "fr"}}"#;
        let (line, fields) = GradesFileLine::with_fields(line).unwrap();
        assert!(matches!(line, GradesFileLine::Grades(it) if it.len() == 1));
        assert_eq!(Json::Object(fields), serde_json::json!({ "language": "fr" }));
        let read = read_table("candidate,grader,value,Language,level\n1,ann,2,fr,\n", b',').unwrap();
        assert_eq!(Json::Object(read[0].1.clone()), serde_json::json!({ "Language": "fr" }));
        let reasoned = read_table("candidate,grader,value,reason\n1,ann,2,too long\n", b',').unwrap();
        assert_eq!((reasoned[0].0.reason.as_str(), reasoned[0].1.len()), ("too long", 0));
        let wide = read_table("item,ann,bob\n1,2,3\n", b',').unwrap();
        assert!(wide.len() == 2 && wide.iter().all(|wide| wide.1.is_empty()));
    }

    #[test]
    fn bad_lines_say_what_would_have_been_right() {
        let check = |text: &str, expected: &str| {
            let error = GradesFileLine::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("{\"a\"", "not JSON");
        check("{", "a complete JSON object");
        check(r#"{"candidate": "a", "criterion": "b", "value": 1, "grader": 7}"#, "`grader` must be a name");
        check("[1]", "must be a JSON object");
        check(r#"{"candidate": "a"}"#, "`criterion` is missing");
        check(r#"{"candidate": "a", "criterion": "b", "value": 1, "metadata": 3}"#, "`metadata` must map");
        check(r#"{"candidate": "a", "criterion": "b"}"#, "`value` is missing");
        check(r#"{"candidate": "a", "criterion": "b", "value": 1, "wieght": 2}"#, "unknown field `wieght`");
        check(r#"{"format": 9, "candidate": "a", "criterion": "b"}"#, "reads up to version 1");
        check(
            r#"{"candidate": "a", "criterion": "b", "outcome": {"kind": "failed", "failure": "tired"}}"#,
            "unknown variant `tired`",
        );
    }
}
