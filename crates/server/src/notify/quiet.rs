//! Quiet hours, in which no notifications are sent.

use jiff::Timestamp;
use jiff::civil::{DateTime, Time as Clock};
use jiff::tz::{Offset, TimeZone};
use jurist_core::grade::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Start and end time of day in the recipients' time zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuietHours {
    /// Beginning in the given time zone, such as `22:00`.
    #[schema(example = "22:00")]
    pub from: String,
    /// Before `from`, it is on the next day.
    #[schema(example = "07:00")]
    pub until: String,
    /// By name, or an offset such as `+02:00`.
    #[schema(example = "Europe/London")]
    pub zone: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadQuiet {
    #[error("`{0}` is not a time of day such as 22:00")]
    Hour(String),
    #[error("quiet hours must not end at the time when they begin")]
    Empty,
    #[error("`{0}` is not a time zone such as Europe/London or +02:00")]
    Zone(String),
}

struct ParsedQuietHours {
    from: Clock,
    until: Clock,
    zone: TimeZone,
}

impl QuietHours {
    /// What is wrong with them, if anything is.
    pub fn check(&self) -> Result<(), BadQuiet> {
        self.read().map(drop)
    }

    /// The end of the quiet hours, if a time is within them.
    pub fn until(&self, now: Time) -> Option<Time> {
        let ParsedQuietHours { from, until, zone } = self.read().ok()?;
        let now = Timestamp::from_microsecond(now.micros()).ok()?;
        let local = zone.to_datetime(now);
        let clock = local.time();
        let is_quiet =
            if from < until { from <= clock && clock < until } else { from <= clock || clock < until };
        if !is_quiet {
            return None;
        }
        let day = if clock < until { local.date() } else { local.date().tomorrow().ok()? };
        // A time that a clock change skips becomes the time after the change.
        let end = zone.to_zoned(DateTime::from_parts(day, until)).ok()?.timestamp();
        Some(Time::from_micros(end.as_microsecond()))
    }

    fn read(&self) -> Result<ParsedQuietHours, BadQuiet> {
        let (from, until) = (hour(&self.from)?, hour(&self.until)?);
        if from == until {
            return Err(BadQuiet::Empty);
        }
        Ok(ParsedQuietHours { from, until, zone: zone(&self.zone)? })
    }
}

fn hour(text: &str) -> Result<Clock, BadQuiet> {
    let bad = || BadQuiet::Hour(text.to_owned());
    let (hours, minutes) = text.split_once(':').ok_or_else(bad)?;
    let number = |text: &str| text.parse().ok().filter(|_| text.len() == 2).ok_or_else(bad);
    Clock::new(number(hours)?, number(minutes)?, 0, 0).map_err(|_| bad())
}

fn zone(text: &str) -> Result<TimeZone, BadQuiet> {
    let bad = || BadQuiet::Zone(text.to_owned());
    let Some(rest) = text.strip_prefix(['+', '-']) else {
        return TimeZone::get(text).map_err(|_| bad());
    };
    let (hours, minutes) =
        rest.split_once(':').filter(|it| it.0.len() == 2 && it.1.len() == 2).ok_or_else(bad)?;
    let number = |text: &str| text.parse::<i32>().ok().filter(|n| 0 <= *n).ok_or_else(bad);
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if 18 < hours || 59 < minutes {
        return Err(bad());
    }
    let seconds = (hours * 60 + minutes) * 60;
    let offset = Offset::from_seconds(if text.starts_with('-') { -seconds } else { seconds });
    Ok(offset.map_err(|_| bad())?.to_time_zone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(from: &str, until: &str, zone: &str) -> QuietHours {
        QuietHours { from: from.into(), until: until.into(), zone: zone.into() }
    }

    #[test]
    fn quiet_hours_are_those_of_the_people_who_are_told() {
        let check = |hours: &QuietHours, now: &str, until: Option<&str>| {
            let time = hours.until(Time::parse(now).unwrap());
            assert_eq!(time, until.map(|until| Time::parse(until).unwrap()), "{now}");
        };
        let night = hours("22:00", "07:00", "Europe/London");
        check(&night, "2026-01-10T21:59:59Z", None);
        check(&night, "2026-01-10T22:00:00Z", Some("2026-01-11T07:00:00Z"));
        check(&night, "2026-01-11T06:59:59Z", Some("2026-01-11T07:00:00Z"));
        check(&night, "2026-01-11T07:00:00Z", None);
        // One hour earlier in summer, and in the night of the change, which is one hour shorter.
        check(&night, "2026-07-10T21:30:00Z", Some("2026-07-11T06:00:00Z"));
        check(&night, "2026-03-28T23:00:00Z", Some("2026-03-29T06:00:00Z"));
        check(&night, "2026-10-24T23:00:00Z", Some("2026-10-25T07:00:00Z"));
        let noon = hours("12:00", "13:30", "+05:30");
        check(&noon, "2028-02-29T06:29:00Z", None);
        check(&noon, "2028-02-29T06:30:00Z", Some("2028-02-29T08:00:00Z"));
        // An hour that does not exist that night ends when the next one begins.
        check(
            &hours("23:00", "01:30", "Europe/London"),
            "2026-03-29T00:30:00Z",
            Some("2026-03-29T01:30:00Z"),
        );
        check(&hours("00:00", "12:00", "-03:30"), "2026-01-01T04:00:00Z", Some("2026-01-01T15:30:00Z"));
    }

    #[test]
    fn what_is_no_hour_and_no_zone_is_named() {
        let check = |hours: &QuietHours, problem: &str| {
            let bad = hours.check().unwrap_err().to_string();
            assert!(bad.contains(problem), "{bad}");
        };
        check(&hours("22", "07:00", "Europe/London"), "`22`");
        check(&hours("22:00", "24:00", "Europe/London"), "`24:00`");
        check(&hours("22:00", "-7:00", "Europe/London"), "`-7:00`");
        check(&hours("22:00", "22:00", "Europe/London"), "must not end");
        check(&hours("22:00", "07:00", "Europe/Lundun"), "Europe/Lundun");
        check(&hours("22:00", "07:00", "+2"), "+02:00");
        check(&hours("22:00", "07:00", "+99:00"), "+99:00");
        assert_eq!(hours("22:00", "07:00", "America/New_York").check(), Ok(()));
    }
}
