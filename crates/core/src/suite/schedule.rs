//! When a schedule comes round: the five fields of a cron table, in UTC.

use crate::quantity::Time;

const MINUTE: i64 = 60_000_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// The 29th of February comes round within eight years.
const DAYS: i64 = 366 * 8;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Names for common schedules, with the five fields of each.
const NAMES: [(&str, &str); 4] =
    [("@hourly", "0 * * * *"), ("@daily", "0 0 * * *"), ("@weekly", "0 0 * * 0"), ("@monthly", "0 0 1 * *")];

/// Why a text is no schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadSchedule {
    #[error("is not a schedule")]
    Malformed,
    #[error("names a day that never comes")]
    Never,
}

/// Accepts exactly the schedules that come round.
pub fn check_schedule(schedule: &str) -> Result<(), BadSchedule> {
    let table = CronTable::read(schedule).ok_or(BadSchedule::Malformed)?;
    (0..DAYS).any(|day| table.has_day(day)).then_some(()).ok_or(BadSchedule::Never)
}

/// The names that a schedule may have instead of five fields.
pub fn schedule_names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// The first moment after this one at which the schedule comes round; none if it never does.
pub fn next_time(schedule: &str, after: Time) -> Option<Time> {
    let table = CronTable::read(schedule)?;
    let first = after.micros().div_euclid(MINUTE) + 1;
    let (today, now) = ((first * MINUTE).div_euclid(DAY), (first * MINUTE).rem_euclid(DAY) / MINUTE);
    for day in today..today + DAYS {
        if !table.has_day(day) {
            continue;
        }
        let from = if day == today { now } else { 0 };
        let hit = (from..24 * 60).find(|n| table.hours.has(n / 60) && table.minutes.has(n % 60));
        if let Some(minute) = hit {
            return Some(Time::from_micros(day * DAY + minute * MINUTE));
        }
    }
    None
}

struct CronTable {
    minutes: CronField,
    hours: CronField,
    days: CronField,
    months: CronField,
    weekdays: CronField,
}

/// Which numbers are named, as bits, and whether all are.
struct CronField {
    bits: u64,
    is_any: bool,
}

impl CronField {
    fn has(&self, number: i64) -> bool {
        self.bits >> number & 1 == 1
    }

    /// `*`, `5`, `1-5`, `*/10`, `mon,wed`.
    fn read(text: &str, least: u64, most: u64, names: &[&str]) -> Option<Self> {
        let number = |text: &str| {
            let named = names.iter().position(|name| text.eq_ignore_ascii_case(name));
            // Months are named from 1, weekdays from 0.
            named
                .map(|at| at as u64 + least)
                .or_else(|| text.parse().ok())
                .filter(|n| (least..=most).contains(n))
        };
        let mut bits = 0;
        for part in text.split(',') {
            let (span, step) = part.split_once('/').unwrap_or((part, "1"));
            let step: u64 = step.parse().ok().filter(|step| 0 < *step)?;
            let (from, to) = match span.split_once('-') {
                _ if span == "*" => (least, most),
                Some((from, to)) => (number(from)?, number(to)?),
                None if part.contains('/') => (number(span)?, most),
                None => (number(span)?, number(span)?),
            };
            if to < from {
                return None;
            }
            (from..=to).step_by(usize::try_from(step).ok()?).for_each(|n| bits |= 1 << n);
        }
        Some(Self { bits, is_any: text == "*" })
    }
}

impl CronTable {
    fn read(schedule: &str) -> Option<Self> {
        let named = NAMES.iter().find(|(name, _)| *name == schedule.trim());
        let schedule = named.map_or(schedule, |(_, fields)| fields);
        let fields: Vec<&str> = schedule.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else { return None };
        let mut weekdays = CronField::read(weekdays, 0, 7, &WEEKDAYS)?;
        // Sunday is 0 and 7.
        weekdays.bits |= weekdays.bits >> 7 & 1;
        Some(Self {
            minutes: CronField::read(minutes, 0, 59, &[])?,
            hours: CronField::read(hours, 0, 23, &[])?,
            days: CronField::read(days, 1, 31, &[])?,
            months: CronField::read(months, 1, 12, &MONTHS)?,
            weekdays,
        })
    }

    /// Where both a day of the month and a weekday are named, either will do.
    fn has_day(&self, day: i64) -> bool {
        let (_, month, of_month) = crate::quantity::date_from_days(day);
        // The first day of 1970 was a Thursday.
        let weekday = self.weekdays.has((day + 4).rem_euclid(7));
        let named = match (self.days.is_any, self.weekdays.is_any) {
            (false, false) => self.days.has(of_month) || weekday,
            _ => self.days.has(of_month) && weekday,
        };
        named && self.months.has(month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_comes_round_when_cron_says() {
        let check = |schedule: &str, after: &str, expected: Option<&str>| {
            let next = next_time(schedule, Time::parse(after).unwrap()).map(|time| time.to_string());
            assert_eq!(next.as_deref(), expected, "{schedule} after {after}");
        };
        let monday = "2026-03-16T10:30:00Z";
        check("@hourly", monday, Some("2026-03-16T11:00:00Z"));
        check("*/15 * * * *", monday, Some("2026-03-16T10:45:00Z"));
        check("30 10 * * *", monday, Some("2026-03-17T10:30:00Z"));
        check("0 9 * * mon-fri", "2026-03-20T09:00:00Z", Some("2026-03-23T09:00:00Z"));
        check("@weekly", monday, Some("2026-03-22T00:00:00Z"));
        check("0 0 * * 7", monday, Some("2026-03-22T00:00:00Z"));
        check("@monthly", "2026-12-31T23:59:59Z", Some("2027-01-01T00:00:00Z"));
        check("0 0 29 feb *", monday, Some("2028-02-29T00:00:00Z"));
        check("0 0 13 * fri", monday, Some("2026-03-20T00:00:00Z"));
        check("0 0 31 2 *", monday, None);
        check("never", monday, None);
        check("0 0 * * fri-mon", monday, None);
        check("0 0 * xyz *", monday, None);
    }
}
