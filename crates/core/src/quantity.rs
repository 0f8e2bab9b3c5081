//! Moments and money, exact and without a clock.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Less than a hundredth of a cent is still something.
        let digits = if self.0 != 0 && self.0.abs() < 100_000 { 7 } else { 4 };
        write!(f, "${:.digits$}", self.0 as f64 / 1e9)
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
            part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
        };
        let at = |index: usize, allowed: &[u8]| bytes.get(index).is_some_and(|byte| allowed.contains(byte));
        if !(at(4, b"-") && at(7, b"-") && at(10, b"Tt ") && at(13, b":") && at(16, b":")) {
            return None;
        }
        let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
        let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
        if hour > 23
            || minute > 59
            || second > 60
            || date_from_days(days_since_epoch(year, month, day)) != (year, month, day)
        {
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
        let seconds =
            days_since_epoch(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
        Some(Self(seconds * 1_000_000 + micros))
    }
}

/// Days since 1970-01-01 of the proleptic Gregorian calendar.
pub(crate) fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March here, so that the leap day is their last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let year_of_era = year - era * 400;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

pub(crate) fn date_from_days(days: i64) -> (i64, i64, i64) {
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
        let (year, month, day) = date_from_days(seconds.div_euclid(86_400));
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

/// A count with its noun: `1 step`, `2 steps`.
pub fn plural(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A number from 0 to 1 on a scale with these ends.
pub fn move_to_scale(unit: f64, (low, high): (f64, f64)) -> f64 {
    low + unit * (high - low)
}

/// Two numbers with as many digits as tell them apart, at least two.
pub fn format_unlike(numbers: [f64; 2]) -> [String; 2] {
    let format_both = |n_digits: usize| numbers.map(|number| format!("{number:.n_digits$}"));
    let distinct = (2..9).map(format_both).find(|[one, other]| one != other);
    distinct.unwrap_or_else(|| format_both(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_misses_another_one_does_not_look_like_it() {
        let check = |numbers, expected: [&str; 2]| assert_eq!(format_unlike(numbers), expected);
        check([0.5, 1.0], ["0.50", "1.00"]);
        check([4.0 / 6.0, 0.67], ["0.667", "0.670"]);
        check([2.0 / 3.0, 0.667], ["0.6667", "0.6670"]);
        check([0.5, 0.5], ["0.50", "0.50"]);
    }

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
}
