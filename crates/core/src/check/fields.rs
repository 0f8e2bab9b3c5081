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
            Some("date") => FieldComparison::Date { day_first: read_day_first(params, &value["formats"])? },
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
            let actual = value_at_path(&output, &field.path);
            if actual.is_none() && !field.required {
                continue;
            }
            total += field.weight;
            if actual.is_some_and(|actual| field.compare.fits(actual, expected)) {
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
    fn fits(&self, actual: &Value, expected: &Value) -> bool {
        let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        match self {
            Self::Exact => is_same_value(actual, expected),
            Self::Tolerance { tolerance, relative } => match (number(actual), number(expected)) {
                (Some(a), Some(b)) => {
                    (a - b).abs() <= if *relative { tolerance * b.abs() } else { *tolerance } + 1e-12
                }
                _ => false,
            },
            Self::Date { day_first } => {
                let day = |value: &Value| parse_calendar_day(value.as_str()?, *day_first);
                day(actual).is_some_and(|it| Some(it) == day(expected))
            }
        }
    }
}

/// Parts of a date format: those of JavaScript libraries, and those of `strftime`.
const DATE_PARTS: [&str; 16] =
    ["YYYY", "YY", "MMMM", "MMM", "MM", "M", "DD", "D", "%Y", "%y", "%B", "%b", "%m", "%d", "%e", "%-d"];

/// Whether the listed formats write `03/04/2031` as day/month/year. An error if one of them is no date format.
fn read_day_first(params: &Params<'_>, formats: &Value) -> Result<bool, BadCheck> {
    let mut day_first = None;
    for format in formats.as_array().into_iter().flatten().chain([formats]).filter_map(Value::as_str) {
        let parts: Vec<&str> =
            format.split(['-', '/', '.', ',', ' ']).filter(|part| !part.is_empty()).collect();
        let is_known = |part: &&str| DATE_PARTS.iter().any(|known| known.eq_ignore_ascii_case(part));
        if parts.len() != 3 || !parts.iter().all(is_known) {
            let example = "a date format such as `DD/MM/YYYY`, `D MMMM YYYY` or `%d/%m/%Y`";
            return Err(params.bad("fields", format!("`{format}` is not {example}")));
        }
        let first = parts[0].trim_start_matches(['%', '-']).to_ascii_lowercase();
        if format.contains('/') && !first.starts_with('y') {
            day_first.get_or_insert(matches!(first.as_str(), "d" | "dd" | "e"));
        }
    }
    Ok(day_first.unwrap_or(false))
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Year, month and day of the usual spellings: `2031-04-03`, `3 April 2031`, `Apr 3rd, 2031`, `03/04/2031`.
fn parse_calendar_day(text: &str, day_first: bool) -> Option<(u32, u32, u32)> {
    let text = text.trim();
    // A time of the day may follow, as in `2031-04-03T10:00:00Z` or `3 April 2031 10:00`.
    let date = text.split_once('T').filter(|(date, _)| date.ends_with(|last: char| last.is_ascii_digit()));
    let date = date.map_or(text, |(date, _)| date);
    let parts = date.split(['-', '/', '.', ',', ' ']).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.take_while(|part| !part.contains(':')).collect();
    let [a, b, c] = parts.as_slice() else { return None };
    let month_name = |part: &str| {
        let part = part.to_lowercase();
        MONTHS.iter().position(|month| 3 <= part.len() && month.starts_with(&part))
    };
    let number = |part: &str| {
        let digits =
            ["st", "nd", "rd", "th"].iter().find_map(|ending| part.strip_suffix(ending)).unwrap_or(part);
        digits.parse::<u32>().ok()
    };
    let (year, month, day) = match (month_name(a), month_name(b)) {
        (Some(month), _) => (number(c)?, u32::try_from(month).ok()? + 1, number(b)?),
        (None, Some(month)) if a.len() == 4 => (number(a)?, u32::try_from(month).ok()? + 1, number(c)?),
        (None, Some(month)) => (number(c)?, u32::try_from(month).ok()? + 1, number(a)?),
        (None, None) if a.len() == 4 => (number(a)?, number(b)?, number(c)?),
        (None, None) if date.contains('/') && !day_first && number(a)? <= 12 => {
            (number(c)?, number(a)?, number(b)?)
        }
        (None, None) => (number(c)?, number(b)?, number(a)?),
    };
    let year = match year {
        0..=69 => 2000 + year,
        70..=99 => 1900 + year,
        _ => year,
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

#[cfg(test)]
mod tests {
    use super::parse_calendar_day;

    #[test]
    fn one_day_is_recognised_in_every_usual_spelling() {
        let spellings = [
            "2031-04-03",
            "2031/04/03",
            "2031-04-03T10:00:00Z",
            "2031-04-03 10:00",
            "3 April 2031",
            "03 Apr 2031",
            "April 3, 2031",
            "Apr 3rd, 2031",
            "3rd April 2031",
            "03-APR-2031",
            "2031-Apr-03",
            "03.04.2031",
            "3 April 2031 10:00",
            "3.4.31",
        ];
        for spelling in spellings {
            assert_eq!(parse_calendar_day(spelling, false), Some((2031, 4, 3)), "{spelling}");
        }
        assert_eq!(parse_calendar_day("04/03/2031", false), Some((2031, 4, 3)));
        assert_eq!(parse_calendar_day("03/04/2031", true), Some((2031, 4, 3)));
        assert_eq!(parse_calendar_day("23/04/2031", false), Some((2031, 4, 23)), "there is no month 23");
        for wrong in
            ["", "soon", "3 Mayday 2031", "3 Ma 2031", "2031-13-01", "2031-04", "40 April 2031", "é-ü-ß"]
        {
            assert_eq!(parse_calendar_day(wrong, false), None, "{wrong}");
        }
    }
}
