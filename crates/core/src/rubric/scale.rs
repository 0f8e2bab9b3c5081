//! What answers a criterion allows, and what they are worth on 0..=1.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An answer on a criterion's own scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    Bool(bool),
    Number(f64),
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(it) => write!(f, "{it}"),
            Self::Number(it) => write!(f, "{it}"),
            Self::Text(it) => write!(f, "{it}"),
        }
    }
}

/// Spellings of no and yes in answers to binary criteria.
const NO_AND_YES: [[&str; 2]; 5] =
    [["false", "true"], ["no", "yes"], ["n", "y"], ["fail", "pass"], ["0", "1"]];

impl Value {
    /// The words for no and yes in the spelling of this answer; `None` for an answer that is neither.
    pub fn no_and_yes(&self) -> Option<[&'static str; 2]> {
        let word = self.to_string().trim().to_lowercase();
        NO_AND_YES.into_iter().find(|words| words.iter().any(|known| *known == word))
    }

    /// The answer to a binary criterion, in any spelling: true and false, yes and no, y and n, pass and fail, 1 and 0.
    pub fn as_yes_or_no(&self) -> Option<bool> {
        let [_, yes] = self.no_and_yes()?;
        Some(self.to_string().trim().to_lowercase() == yes)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Met or not met.
    Binary,
    /// Any number from 0 to 1.
    Unit,
    /// Whole numbers from `min` to `max`, each perhaps with a name.
    Likert { min: i64, max: i64, labels: BTreeMap<i64, String> },
    /// Whole numbers from 0 to 10 in described ranges.
    Ranges(Vec<Range>),
    /// Named answers with authored values.
    Choices(Vec<Choice>),
}

/// `from..=to` of a 0–10 scale, and what a candidate there looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub from: i64,
    pub to: i64,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    pub label: String,
    /// On 0..=1.
    pub score: f64,
}

/// The top of every scale of ranges.
pub const RANGES_TOP: i64 = 10;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{} is not on the scale ({allowed})", serde_json::json!(value))]
pub struct OffScale {
    pub value: Value,
    pub allowed: String,
}

impl Scale {
    pub fn likert(min: i64, max: i64) -> Self {
        Self::Likert { min, max, labels: BTreeMap::new() }
    }

    /// What `value` is worth on 0..=1.
    pub fn unit(&self, value: &Value) -> Result<f64, OffScale> {
        let unit = match (self, value) {
            (Self::Binary | Self::Unit, Value::Bool(it)) => Some(f64::from(u8::from(*it))),
            (Self::Binary, Value::Number(it)) => [0.0, 1.0].contains(it).then_some(*it),
            (Self::Unit, Value::Number(it)) => (0.0..=1.0).contains(it).then_some(*it),
            (Self::Likert { .. } | Self::Ranges(_), Value::Number(it)) => {
                let (min, max) = self.bounds().unwrap_or((0.0, 1.0));
                (it.fract() == 0.0 && (min..=max).contains(it)).then(|| (it - min) / (max - min))
            }
            // A label may have been read as a number or a truth value.
            (Self::Choices(choices), _) => {
                choices.iter().find(|choice| choice.label == value.to_string()).map(|choice| choice.score)
            }
            _ => None,
        };
        unit.ok_or_else(|| OffScale { value: value.clone(), allowed: self.to_string() })
    }

    /// Lowest and highest answer of a scale of numbers.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Self::Unit => Some((0.0, 1.0)),
            Self::Likert { min, max, .. } => Some((*min as f64, *max as f64)),
            Self::Ranges(_) => Some((0.0, RANGES_TOP as f64)),
            Self::Binary | Self::Choices(_) => None,
        }
    }

    /// Every answer, where they can be counted.
    pub fn points(&self) -> Vec<Value> {
        match self {
            Self::Binary => vec![Value::Bool(true), Value::Bool(false)],
            Self::Likert { min, max, .. } => (*min..=*max).map(|n| Value::Number(n as f64)).collect(),
            Self::Choices(choices) => {
                choices.iter().map(|choice| Value::Text(choice.label.clone())).collect()
            }
            Self::Unit | Self::Ranges(_) => Vec::new(),
        }
    }

    /// What is wrong with this scale, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::Binary | Self::Unit => None,
            Self::Likert { min, max, .. } if max <= min => {
                Some(format!("the lowest point ({min}) must be under the highest ({max})"))
            }
            Self::Likert { min, max, .. } if 100 < max.saturating_sub(*min) => {
                Some(format!("{min} to {max} has more than 101 points; use `scale: unit` for fine grades"))
            }
            Self::Likert { min, max, labels } => labels
                .keys()
                .find(|key| !(min..=max).contains(key))
                .map(|at| format!("the label for {at} is off the scale, which goes from {min} to {max}")),
            Self::Ranges(ranges) => ranges_fault(ranges),
            Self::Choices(choices) => choices_fault(choices),
        }
    }
}

fn ranges_fault(ranges: &[Range]) -> Option<String> {
    let Some(first) = ranges.first() else { return Some("there are no ranges".to_owned()) };
    if let Some(range) = ranges.iter().find(|range| !(0..=RANGES_TOP).contains(&range.from)) {
        return Some(format!("{} is outside 0 to {RANGES_TOP}", range.from));
    }
    if first.from != 0 {
        return Some(format!("ranges start at 0, not at {}", first.from));
    }
    for pair in ranges.windows(2) {
        if pair[1].from <= pair[0].from {
            return Some(format!(
                "{} comes after {}; ranges must be in ascending order",
                pair[1].from, pair[0].from
            ));
        }
        if pair[0].to < pair[0].from {
            return Some(format!("{}–{} ends before it starts", pair[0].from, pair[0].to));
        }
        if pair[1].from <= pair[0].to {
            return Some(format!("{}–{} overlaps {}–{}", pair[1].from, pair[1].to, pair[0].from, pair[0].to));
        }
        if pair[1].from != pair[0].to + 1 {
            return Some(format!("there is a gap between {} and {}", pair[0].to, pair[1].from));
        }
    }
    let last = ranges.last()?;
    (last.to != RANGES_TOP).then(|| format!("ranges end at {RANGES_TOP}, not at {}", last.to))
}

fn choices_fault(choices: &[Choice]) -> Option<String> {
    if choices.len() < 2 {
        return Some("at least two choices are needed".to_owned());
    }
    for (at, choice) in choices.iter().enumerate() {
        if choice.label.is_empty() {
            return Some("a choice needs a name".to_owned());
        }
        if choices[..at].iter().any(|one_choice| one_choice.label == choice.label) {
            return Some(format!("the choice `{}` appears twice", choice.label));
        }
        if !(0.0..=1.0).contains(&choice.score) {
            return Some(format!(
                "the choice `{}` is worth {}; allowed is 0 to 1",
                choice.label, choice.score
            ));
        }
    }
    None
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("true or false"),
            Self::Unit => f.write_str("0 to 1"),
            Self::Likert { min, max, .. } => write!(f, "whole numbers from {min} to {max}"),
            Self::Ranges(_) => write!(f, "whole numbers from 0 to {RANGES_TOP}"),
            Self::Choices(choices) => {
                let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
                f.write_str(&labels.join(", "))
            }
        }
    }
}

/// How a score is shown to people; the unit score stays what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Display {
    #[default]
    Unit,
    Likert {
        min: i64,
        max: i64,
    },
    Boolean,
    Letter,
}

impl Display {
    /// `passed` decides the words of the boolean scale.
    pub fn show(self, unit: f64, passed: bool) -> String {
        match self {
            Self::Unit => format!("{unit:.2}"),
            Self::Likert { min, max } => format!("{:.1}/{max}", min as f64 + unit * (max - min) as f64),
            Self::Boolean => if passed { "pass" } else { "fail" }.to_owned(),
            Self::Letter => letter(unit).to_owned(),
        }
    }
}

/// School grades: a letter per tenth from 0.9 down to 0.6.
fn letter(unit: f64) -> &'static str {
    // 0.9 reached through sums may be a hair under 0.9.
    match unit + 1e-9 {
        it if 0.9 <= it => "A",
        it if 0.8 <= it => "B",
        it if 0.7 <= it => "C",
        it if 0.6 <= it => "D",
        _ => "F",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(scale: &Scale, value: &Value, expected: Option<f64>) {
        assert_eq!(scale.unit(value).ok(), expected, "{value} on {scale}");
    }

    #[test]
    fn answers_are_worth_what_their_scale_says() {
        check(&Scale::likert(1, 5), &Value::Number(4.0), Some(0.75));
        check(&Scale::likert(1, 5), &Value::Number(0.0), None);
        check(&Scale::likert(1, 5), &Value::Number(3.5), None);
        check(&Scale::Unit, &Value::Number(8.0), None);
        check(&Scale::Unit, &Value::Number(f64::NAN), None);
        check(&Scale::Unit, &Value::Text("0.8".into()), None);
        check(&Scale::Binary, &Value::Bool(true), Some(1.0));
        check(&Scale::Binary, &Value::Text("true".into()), None);
        check(&Scale::Ranges(Vec::new()), &Value::Number(7.0), Some(0.7));
        let choices = Scale::Choices(vec![
            Choice { label: "yes".into(), score: 1.0 },
            Choice { label: "partly".into(), score: 0.4 },
        ]);
        check(&choices, &Value::Text("partly".into()), Some(0.4));
        check(&choices, &Value::Text("Partly".into()), None);
    }

    #[test]
    fn yes_and_no_have_several_spellings() {
        let text = |text: &str| Value::Text(text.to_owned());
        let yes =
            [Value::Bool(true), Value::Number(1.0), text("Yes"), text(" pass "), text("y"), text("TRUE")];
        let no = [Value::Bool(false), Value::Number(0.0), text("No"), text("fail"), text("n"), text("0")];
        assert!(yes.iter().all(|value| value.as_yes_or_no() == Some(true)));
        assert!(no.iter().all(|value| value.as_yes_or_no() == Some(false)));
        for other in [Value::Number(2.0), Value::Number(0.5), text("maybe"), text("")] {
            assert_eq!(other.as_yes_or_no(), None, "{other}");
        }
        assert_eq!(text("FAIL").no_and_yes(), Some(["fail", "pass"]));
    }

    #[test]
    fn scores_read_as_their_display_says() {
        assert_eq!(Display::Unit.show(0.8, true), "0.80");
        assert_eq!(Display::Likert { min: 1, max: 5 }.show(0.75, true), "4.0/5");
        assert_eq!(Display::Boolean.show(0.75, false), "fail");
        assert_eq!((0..=10).map(|it| letter(f64::from(it) / 10.0)).collect::<String>(), "FFFFFFDCBAA");
    }
}
