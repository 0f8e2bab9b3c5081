//! Fields of a JSON output against those of the expected one.

use serde_json::Value;

use super::matching::is_same_value;
use super::{BadCheck, CheckFinding, CheckSubject, Params};

#[derive(Debug)]
pub(super) struct FieldAccuracy {
    fields: Vec<FieldRule>,
    all_or_nothing: bool,
}

#[derive(Debug)]
struct FieldRule {
    path: String,
    compare: FieldComparison,
    required: bool,
    weight: f64,
}

#[derive(Debug)]
enum FieldComparison {
    Exact,
    /// Absolute, or as a share of the expected number.
    Tolerance {
        tolerance: f64,
        relative: bool,
    },
    /// The same day, however it is written; `03/04/2031` is a day in March unless days come first.
    Date {
        day_first: bool,
    },
}

pub(super) fn compile_field_accuracy(params: &Params<'_>) -> Result<FieldAccuracy, BadCheck> {
    let list = params.get("fields").and_then(Value::as_array).cloned().unwrap_or_default();
    let field = |value: &Value| -> Result<FieldRule, BadCheck> {
        let compare = match value["match"].as_str() {
            Some("exact") => FieldComparison::Exact,
            Some("numeric_tolerance") => FieldComparison::Tolerance {
                tolerance: value["tolerance"].as_f64().unwrap_or(0.0),
                relative: value["relative"] == true,
            },
            Some("date") => FieldComparison::Date { day_first: is_day_first(&value["formats"]) },
            _ => return Err(params.bad("fields", "`match` is one of exact, numeric_tolerance, date")),
        };
        let path = value["path"].as_str().ok_or_else(|| params.bad("fields", "each field needs a `path`"))?;
        Ok(FieldRule {
            path: path.to_owned(),
            compare,
            required: value["required"] != false,
            weight: value["weight"].as_f64().unwrap_or(1.0),
        })
    };
    Ok(FieldAccuracy {
        fields: list.iter().map(field).collect::<Result<_, _>>()?,
        all_or_nothing: params.text("aggregation")?.as_deref() == Some("all_or_nothing"),
    })
}

impl FieldAccuracy {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let parsed = |value: &Value| match value {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        };
        let Some(reference) =
            subject.reference.as_deref().filter(|reference| !reference.is_null()).and_then(parsed)
        else {
            return CheckFinding::without_score("there is no expected JSON to compare with");
        };
        let response = match subject.response() {
            Ok(response) => response,
            Err(absent) => return absent,
        };
        let Some(output) = parsed(&response) else {
            return CheckFinding::pass_or_fail(false, "the output is not JSON");
        };
        let (mut points, mut total, mut wrong) = (0.0, 0.0, Vec::new());
        for field in &self.fields {
            let Some(expected) = value_at_path(&reference, &field.path) else { continue };
            let found = value_at_path(&output, &field.path);
            if found.is_none() && !field.required {
                continue;
            }
            total += field.weight;
            if found.is_some_and(|found| field.compare.fits(found, expected)) {
                points += field.weight;
            } else {
                wrong.push(field.path.as_str());
            }
        }
        if total == 0.0 {
            return CheckFinding::without_score("none of the fields is expected");
        }
        let share = points / total;
        let score = if self.all_or_nothing { f64::from(u8::from(wrong.is_empty())) } else { share };
        let comment = if wrong.is_empty() {
            "all fields agree".to_owned()
        } else {
            format!("wrong: {}", wrong.join(", "))
        };
        CheckFinding::partial_credit(score, comment).with("wrong", wrong)
    }
}

/// `a.b[0].c` or `a.b.0.c`.
pub(super) fn value_at_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let steps = path.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|text| !text.is_empty());
    steps
        .into_iter()
        .try_fold(value, |value, step| value.get(step).or_else(|| value.get(step.parse::<usize>().ok()?)))
}

impl FieldComparison {
    fn fits(&self, found: &Value, expected: &Value) -> bool {
        let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        match self {
            Self::Exact => is_same_value(found, expected),
            Self::Tolerance { tolerance, relative } => match (number(found), number(expected)) {
                (Some(a), Some(b)) => {
                    (a - b).abs() <= if *relative { tolerance * b.abs() } else { *tolerance } + 1e-12
                }
                _ => false,
            },
            Self::Date { day_first } => {
                let day = |value: &Value| parse_calendar_day(value.as_str()?, *day_first);
                day(found).is_some_and(|it| Some(it) == day(expected))
            }
        }
    }
}

/// Whether the formats that are listed write numbers as day/month/year.
fn is_day_first(formats: &Value) -> bool {
    let listed = formats.as_array().into_iter().flatten().chain([formats]).filter_map(Value::as_str);
    let mut slashed =
        listed.map(str::to_uppercase).filter(|text| text.contains('/') && !text.starts_with('Y'));
    slashed.next().is_some_and(|slashed| slashed.starts_with('D'))
}

/// Year, month and day of the usual spellings.
fn parse_calendar_day(text: &str, day_first: bool) -> Option<(u32, u32, u32)> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let date = text.trim().split(['T', ' ']).next()?;
    let parts: Vec<&str> = date.split(['-', '/']).collect();
    let [a, b, c] = parts.as_slice() else { return None };
    let month = |text: &str| {
        MONTHS.iter().position(|name| text.to_lowercase().starts_with(name)).map(|month| month as u32 + 1)
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let (year, month, day) = match (a.len(), month(b)) {
        (4, _) => (number(a)?, number(b)?, number(c)?),
        (_, Some(month)) => (number(c)?, month, number(a)?),
        _ if date.contains('/') && !day_first && number(a)? <= 12 => (number(c)?, number(a)?, number(b)?),
        _ => (number(c)?, number(b)?, number(a)?),
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}
