//! When somebody should be told, and what: pure decisions over figures that others have gathered.
//!
//! A cause is of a kind and about something, and holds or is over. Between the two there is a stretch where the
//! figures do not say; what was said last stands, so that nobody is told the same thing twice.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::money::Cap;
use crate::quantity::{Time, Usd, plural};
use crate::stats::{ProportionMethod, proportion};

/// What somebody can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    ScoreDrop,
    ErrorRate,
    /// Much of the month's money is gone.
    Spend,
    /// All of it is: nothing more is judged.
    SpendStop,
    NoData,
    MonitorPaused,
    JudgeDisagreement,
}

impl Kind {
    pub const ALL: [Self; 7] = [
        Self::ScoreDrop,
        Self::ErrorRate,
        Self::Spend,
        Self::SpendStop,
        Self::NoData,
        Self::MonitorPaused,
        Self::JudgeDisagreement,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ScoreDrop => "score_drop",
            Self::ErrorRate => "error_rate",
            Self::Spend => "spend",
            Self::SpendStop => "spend_stop",
            Self::NoData => "no_data",
            Self::MonitorPaused => "monitor_paused",
            Self::JudgeDisagreement => "judge_disagreement",
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|it| it.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is no kind of alert"))
    }
}

/// A cause, and whether it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    pub kind: Kind,
    /// What it is about, such as a monitor; empty where there is only one.
    pub of: String,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Holds {
        /// One sentence for a person.
        message: String,
        /// The figures behind it, for a program.
        facts: Map<String, Json>,
    },
    Over,
    /// The figures do not say.
    Unclear,
}

/// The part of a cap at which somebody is warned.
pub const WARNED_AT: f64 = 0.8;

/// Two looks an hour for a year give a false alarm once in some years.
const CAUTION: f64 = 0.001;

/// How often a false alarm about scores may come, however often one looks; half of it for each side compared.
pub const SCORE_ALPHA: f64 = 0.01;

impl Signal {
    /// A cause that holds no longer.
    pub fn over(kind: Kind, of: &str) -> Self {
        Self::new(kind, of, State::Over)
    }

    fn new(kind: Kind, of: &str, state: State) -> Self {
        Self { kind, of: of.to_owned(), state }
    }
}

impl State {
    fn holds(message: String, facts: Json) -> Self {
        let Json::Object(facts) = facts else { unreachable!("facts have names") };
        Self::Holds { message, facts }
    }
}

/// Whether most of a month's money is spent.
pub fn spend(month: &str, spent: Usd, cap: Option<&Cap>) -> Signal {
    let state = match cap {
        Some(cap) if (WARNED_AT * cap.usd().nanos() as f64) <= spent.nanos() as f64 => State::holds(
            format!(
                "{} of the {} that judging may cost in {month} are spent; at {} it stops",
                cap.shown(spent),
                cap.shown(cap.usd()),
                cap.shown(cap.usd())
            ),
            json!({ "month": month, "spent": spent, "cap": cap.usd() }),
        ),
        _ => State::Over,
    };
    Signal::new(Kind::Spend, "", state)
}

/// Whether a call that may cost so much no longer fits the month.
pub fn spend_stop(month: &str, spent: Usd, cap: Option<&Cap>, needed: Usd) -> Signal {
    let state = match cap {
        Some(cap) if cap.usd() < spent.plus(needed) => State::holds(
            format!(
                "judging has stopped: {} of {} are spent in {month}, and one more call may cost up to {}; \
                 it goes on when the cap is raised, or with the next month",
                cap.shown(spent),
                cap.shown(cap.usd()),
                cap.shown(needed)
            ),
            json!({ "month": month, "spent": spent, "cap": cap.usd(), "needed": needed }),
        ),
        _ => State::Over,
    };
    Signal::new(Kind::SpendStop, "", state)
}

/// Where the mean score of some traffic lies, however often one looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    pub interval: (f64, f64),
    /// From so many scores.
    pub n: usize,
}

/// Whether scores are lower than they were. Between that and being back where they were, figures do not say.
pub fn score_drop(of: &str, before: Option<Seen>, since: Option<Seen>) -> Signal {
    let state = match before.zip(since) {
        Some((before, since)) if since.interval.1 < before.interval.0 => State::holds(
            format!(
                "scores of {of} fell: their mean was between {:.2} and {:.2}, and is between {:.2} and {:.2} over the \
                 last {}",
                before.interval.0,
                before.interval.1,
                since.interval.0,
                since.interval.1,
                plural(since.n, "trace")
            ),
            json!({ "before": before.interval, "now": since.interval, "n_before": before.n, "n_since": since.n }),
        ),
        Some((before, since)) if before.interval.0 <= f64::midpoint(since.interval.0, since.interval.1) => {
            State::Over
        }
        _ => State::Unclear,
    };
    Signal::new(Kind::ScoreDrop, of, state)
}

/// Whether more of a monitor's judgements break than may.
pub fn error_rate(of: &str, n_failed: usize, n: usize, limit: f64) -> Signal {
    let what = format!("judgements of {of} broke");
    Signal::new(Kind::ErrorRate, of, share(&what, n_failed, n, limit))
}

/// Whether judges of one candidate are further apart more often than they may be.
pub fn judge_disagreement(of: &str, n_apart: usize, n: usize, limit: f64) -> Signal {
    let what = format!("traces have judges of {of} far apart");
    Signal::new(Kind::JudgeDisagreement, of, share(&what, n_apart, n, limit))
}

/// Holds where a share is surely over its limit, and is over where it is seen to be no longer.
fn share(what: &str, n_such: usize, n: usize, limit: f64) -> State {
    match proportion(n_such, n, CAUTION, ProportionMethod::ClopperPearson) {
        Ok(found) if limit < found.interval.0 => State::holds(
            format!(
                "{:.0} % of {what} ({n_such} of {n}), and {:.0} % may",
                100.0 * found.rate,
                100.0 * limit
            ),
            json!({ "rate": found.rate, "interval": found.interval, "n": n, "limit": limit }),
        ),
        Ok(found) if found.rate <= limit => State::Over,
        Ok(_) | Err(_) => State::Unclear,
    }
}

/// Whether nothing has come for longer than it may take. What never came is not missed.
pub fn no_data(of: &str, last: Option<Time>, silence_hours: f64, now: Time) -> Signal {
    let state = match last {
        None => State::Unclear,
        Some(last) => {
            let hours = (now.micros() - last.micros()) as f64 / 3.6e9;
            if silence_hours < hours {
                State::holds(
                    format!("no trace of {of} has come for {hours:.0} hours"),
                    json!({ "last": last, "hours": hours }),
                )
            } else {
                State::Over
            }
        }
    };
    Signal::new(Kind::NoData, of, state)
}

/// Whether a monitor stands still, and why.
pub fn monitor_paused(of: &str, why: Option<&str>) -> Signal {
    let paused = |why: &str| State::holds(format!("{of} is paused: {why}"), json!({ "why": why }));
    Signal::new(Kind::MonitorPaused, of, why.map_or(State::Over, paused))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Rates;

    fn check(signal: &Signal, said: &str) {
        let told = match &signal.state {
            State::Holds { message, .. } => message.as_str(),
            State::Over => "over",
            State::Unclear => "unclear",
        };
        assert!(told.contains(said), "{told}");
    }

    #[test]
    fn money_warns_at_four_fifths_and_stops_before_it_is_too_much() {
        let cap = Cap::usual(&Rates::default());
        let dollars = |it: f64| Usd::from_nanos((it * 1e9) as i64);
        check(&spend("2026-03", dollars(49.99), Some(&cap)), "over");
        check(&spend("2026-03", dollars(50.0), Some(&cap)), "£40.00 of the £50.00");
        check(&spend("2026-03", dollars(500.0), None), "over");
        check(&spend_stop("2026-03", dollars(62.0), Some(&cap), dollars(0.5)), "over");
        check(&spend_stop("2026-03", dollars(62.0), Some(&cap), dollars(0.6)), "may cost up to £0.48");
        check(&spend_stop("2026-04", dollars(0.0), Some(&cap), dollars(0.6)), "over");
        check(&spend_stop("2026-04", dollars(9.0), None, dollars(0.6)), "over");
    }

    #[test]
    fn a_share_holds_when_it_is_sure_and_ends_when_it_is_not_seen() {
        check(&error_rate("triage", 1, 2, 0.2), "unclear");
        check(&error_rate("triage", 15, 20, 0.2), "75 % of judgements of triage broke (15 of 20)");
        check(&error_rate("triage", 5, 20, 0.2), "unclear");
        check(&error_rate("triage", 4, 20, 0.2), "over");
        check(&error_rate("triage", 0, 0, 0.2), "unclear");
        check(&judge_disagreement("triage", 40, 50, 0.3), "80 % of traces have judges of triage far apart");
    }

    #[test]
    fn only_a_fall_is_told_and_only_when_it_is_shown() {
        let seen = |low: f64, high: f64| Some(Seen { interval: (low, high), n: 40 });
        check(
            &score_drop("triage", seen(0.8, 0.9), seen(0.5, 0.7)),
            "is between 0.50 and 0.70 over the last 40",
        );
        check(&score_drop("triage", seen(0.5, 0.7), seen(0.8, 0.9)), "over");
        check(&score_drop("triage", seen(0.8, 0.9), seen(0.75, 0.95)), "over");
        // Neither surely lower nor where it was.
        check(&score_drop("triage", seen(0.8, 0.9), seen(0.6, 0.85)), "unclear");
        check(&score_drop("triage", None, seen(0.5, 0.7)), "unclear");
        check(&score_drop("triage", seen(0.8, 0.9), None), "unclear");
    }

    #[test]
    fn silence_is_told_of_those_who_spoke() {
        let at = |hour: i64| Time::from_micros(hour * 3_600_000_000);
        check(&no_data("triage", None, 2.0, at(9)), "unclear");
        check(&no_data("triage", Some(at(8)), 2.0, at(9)), "over");
        check(&no_data("triage", Some(at(2)), 2.0, at(9)), "for 7 hours");
        check(&monitor_paused("triage", Some("the key is not accepted")), "the key is not accepted");
        check(&monitor_paused("triage", None), "over");
    }
}
