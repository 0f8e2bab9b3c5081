//! The data contract: what one grader answered, and what a rubric says about a candidate.
//!
//! The same JSON in files, in the store, over HTTP and in TypeScript.

mod lines;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use lines::{BadLine, Line};

pub use crate::rubric::{GraderKind, Value, Version};

/// The version of the contract that this program writes; a reader refuses newer ones.
pub const FORMAT: u32 = 1;

/// One grader's answer to one criterion of one candidate.
///
/// ```
/// use jurist_core::grade::{Grade, Outcome, Value};
///
/// let grade: Grade = serde_json::from_str(
///     r#"{"candidate": "trace_042", "criterion": "correctness",
///         "grader": {"kind": "human", "name": "ann"},
///         "outcome": {"kind": "scored", "value": 4, "unit": 0.75}}"#,
/// ).unwrap();
/// assert_eq!(grade.outcome, Outcome::Scored { value: Value::Number(4.0), unit: Some(0.75) });
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grade {
    /// Version of this contract.
    #[serde(default = "format")]
    pub format: u32,
    /// Ids from outside are kept as given.
    pub candidate: String,
    /// The rubric this was graded against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<Version>,
    pub criterion: String,
    pub grader: Grader,
    pub outcome: Outcome,
    /// At most [`Reason::MAX`] bytes are kept.
    #[serde(default, skip_serializing_if = "Reason::is_empty")]
    pub reason: Reason,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    #[serde(default, skip_serializing_if = "Spend::is_nothing")]
    pub spend: Spend,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// Tries before this answer, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
}

fn format() -> u32 {
    FORMAT
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grader {
    pub kind: GraderKind,
    /// Model, check or person.
    pub name: String,
    /// Hash of everything that shapes its answers besides the candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
}

/// What came of asking. Only `scored` enters a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// An answer on the criterion's own scale.
    Scored {
        value: Value,
        /// The same on 0..=1; absent for a choice that only leads on in a tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<f64>,
    },
    /// Its condition did not hold, or the grader said so.
    NotApplicable,
    /// The grader could not tell.
    Abstained { why: String },
    /// The grader broke.
    Failed {
        failure: Failure,
        #[serde(default)]
        detail: String,
    },
    /// Not asked.
    Deferred { why: Deferral },
}

impl Outcome {
    pub fn unit(&self) -> Option<f64> {
        if let Self::Scored { unit, .. } = self { *unit } else { None }
    }
}

/// How a grader broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    Timeout,
    RateLimit,
    Refusal,
    Malformed,
    OffScale,
    Auth,
    EvidenceNotFound,
    /// The service could not be reached, or answered with an error of its own.
    Unavailable,
    /// A program or check stopped with an error.
    Crashed,
}

/// Why nobody was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deferral {
    NoKey,
    OverBudget,
    SampledOut,
    WaitsForPerson,
    Unreachable,
    /// No grade was given for it.
    NotGraded,
}

/// A grader's reason, cut to what is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Reason(String);

impl Reason {
    pub const MAX: usize = 2048;

    /// Cuts at a character, and says that it did.
    pub fn new(text: &str) -> Self {
        if text.len() <= Self::MAX {
            return Self(text.to_owned());
        }
        let end = (0..=Self::MAX - '…'.len_utf8()).rev().find(|&it| text.is_char_boundary(it)).unwrap_or(0);
        Self(format!("{}…", &text[..end]))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|it| Self::new(&it))
    }
}

/// A quote, and where it stands in the candidate; without a place it was not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub quote: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
}

/// A stretch of bytes in one part of a candidate, such as `response` or `trace.3.result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Found {
    #[serde(rename = "in")]
    pub part: String,
    pub start: u64,
    pub end: u64,
}

/// What an answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spend {
    pub tokens_in: u64,
    /// Part of `tokens_in` that a provider had cached.
    pub tokens_cached: u64,
    pub tokens_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// Taken from Jurist's own cache: nothing was sent and nothing was paid.
    pub from_cache: bool,
}

impl Spend {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Both together. A sum with an unknown price has no price.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(Usd(a.0.saturating_add(b.0))),
            (Some(it), None) if other.is_nothing() => Some(it),
            (None, Some(it)) if self.is_nothing() => Some(it),
            _ => None,
        };
        Self {
            tokens_in: self.tokens_in + other.tokens_in,
            tokens_cached: self.tokens_cached + other.tokens_cached,
            tokens_out: self.tokens_out + other.tokens_out,
            cost,
            from_cache: self.from_cache || other.from_cache,
        }
    }
}

/// US dollars in billionths, so that sums are exact; a plain number in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Usd(i64);

impl Usd {
    pub fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    pub fn nanos(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.0 as f64 / 1e9)
    }
}

impl Serialize for Usd {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / 1e9)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        let nanos = (dollars * 1e9).round();
        // Beyond this, billionths of a dollar no longer fit a double exactly.
        if nanos.is_finite() && nanos.abs() < 9e15 {
            Ok(Self(nanos as i64))
        } else {
            Err(serde::de::Error::custom("a cost is a number of dollars under nine million"))
        }
    }
}

impl JsonSchema for Usd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Usd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "description": "US dollars, exact to a billionth." })
    }
}

/// A moment in UTC, to the microsecond; RFC 3339 in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(i64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time such as 2026-03-20T10:15:32Z")]
pub struct BadTime(String);

impl Time {
    pub fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Since 1970.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// `2026-03-20T10:15:32Z`, with a fraction and an offset if there are any.
    pub fn parse(text: &str) -> Result<Self, BadTime> {
        Self::read(text).ok_or_else(|| BadTime(text.to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let digits = |from: usize, to: usize| -> Option<i64> {
            let part = text.get(from..to)?;
            part.bytes().all(|it| it.is_ascii_digit()).then(|| part.parse().ok())?
        };
        let at = |index: usize, allowed: &[u8]| bytes.get(index).is_some_and(|it| allowed.contains(it));
        if !(at(4, b"-") && at(7, b"-") && at(10, b"Tt ") && at(13, b":") && at(16, b":")) {
            return None;
        }
        let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
        let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
        if hour > 23 || minute > 59 || second > 60 || civil(days(year, month, day)) != (year, month, day) {
            return None;
        }
        let mut rest = &text[19..];
        let mut micros = 0;
        if let Some(fraction) = rest.strip_prefix('.') {
            let n_digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            if n_digits == 0 {
                return None;
            }
            let padded = format!("{:0<6}", &fraction[..n_digits.min(6)]);
            micros = padded.parse().ok()?;
            rest = &fraction[n_digits..];
        }
        let offset = match rest.as_bytes() {
            [b'Z' | b'z'] => 0,
            [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
                let number = |a: &u8, b: &u8| {
                    (a.is_ascii_digit() && b.is_ascii_digit())
                        .then(|| i64::from(a - b'0') * 10 + i64::from(b - b'0'))
                };
                let minutes = number(h1, h2)? * 60 + number(m1, m2)?;
                if *sign == b'-' { -minutes } else { minutes }
            }
            _ => return None,
        };
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
        Some(Self(seconds * 1_000_000 + micros))
    }
}

/// Days since 1970-01-01 of the proleptic Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March here, so that the leap day is their last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let year_of_era = year - era * 400;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0.div_euclid(1_000_000), self.0.rem_euclid(1_000_000));
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
            second / 3600,
            second / 60 % 60,
            second % 60
        )?;
        if micros != 0 {
            write!(f, ".{micros:06}")?;
        }
        f.write_str("Z")
    }
}

impl Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time", "description": "RFC 3339, in UTC." })
    }
}

/// One try that did not give an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    pub failure: Failure,
    #[serde(default)]
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

/// What the whole rubric says about one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    pub status: Status,
    /// On 0..=1; absent when no number would be honest.
    pub score: Option<f64>,
    /// The weighted mean in the scale's own units, where all criteria share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<f64>,
    /// A pass because no criterion applied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vacuous: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_gates: Vec<FailedGate>,
    /// The way through the rubric's trees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Step>,
    pub counts: Counts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Pass,
    Fail,
    /// A grader broke, so there is no verdict.
    Error,
    /// Somebody has not been asked yet.
    Deferred,
}

/// What became of the questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Counts {
    pub scored: u32,
    pub not_applicable: u32,
    pub abstained: u32,
    pub failed: u32,
    pub deferred: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailedGate {
    pub gate: Gate,
    /// Absent for gates of the rubric itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
}

/// A condition that fails the verdict whatever the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    Required,
    Guard,
    MinScore,
    Strict,
    Evidence,
    /// Abstaining was declared to fail.
    CannotAssess,
    /// A broken grader was declared to fail.
    OnError,
}

/// One answered node on the way through a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The question's id, as grades name it.
    pub node: String,
    pub answer: String,
    /// At the last node: the authored score, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_and_write_rfc_3339() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-03-20T10:15:32Z", 1_774_001_732_000_000),
            ("2024-02-29T23:59:59.250000Z", 1_709_251_199_250_000),
            ("1969-12-31T23:59:59Z", -1_000_000),
        ] {
            assert_eq!(Time::parse(text).unwrap().micros(), micros, "{text}");
            assert_eq!(Time::from_micros(micros).to_string(), text);
        }
        assert_eq!(Time::parse("2026-03-20T12:15:32+02:00"), Time::parse("2026-03-20T10:15:32Z"));
        for bad in [
            "2025-02-29T00:00:00Z",
            "2026-03-20",
            "2026-13-01T00:00:00Z",
            "2026-03-20T10:15:32",
            "x",
            "2026-03-20T24:00:00Z",
        ] {
            assert!(Time::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reasons_are_cut_at_a_character() {
        let reason = Reason::new(&"é".repeat(2000));
        assert!(reason.as_str().len() <= Reason::MAX);
        assert!(reason.as_str().ends_with("é…"));
        assert_eq!(Reason::new("short").as_str(), "short");
    }

    #[test]
    fn money_adds_up_exactly() {
        let cent = Spend { cost: Some(Usd::from_nanos(10_000_000)), ..Spend::default() };
        let sum = (0..100).fold(Spend::default(), |sum, _| sum.plus(cent));
        assert_eq!(sum.cost.unwrap().nanos(), 1_000_000_000);
        let unpriced = Spend { tokens_in: 5, ..Spend::default() };
        assert_eq!(sum.plus(unpriced).cost, None);
    }
}
