//! Whether an alert is raised or resolved, and its text: pure decisions over figures that callers gather.
//!
//! A cause is of a kind and about something, and holds or is over. Between the two there is a range where the
//! figures do not decide; the last state stays, so that no one is notified twice of the same thing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::money::Cap;
use crate::quantity::{Time, Usd, plural};
use crate::report::format_beside_own_scale;
use crate::stats::basics::{ProportionMethod, proportion};
use crate::stats::monitoring::{FallEvidence, Traffic};
use crate::suite::{AlertMetric, AlertRule, LimitDirection};

/// Kinds of alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    ScoreDrop,
    ErrorRate,
    /// Much of the month's money is gone.
    Spend,
    /// The whole budget is spent; no more traces are judged.
    SpendStop,
    /// A monitor's own budget is used up: traces of it are not judged.
    BudgetStop,
    NoData,
    MonitorPaused,
    JudgeDisagreement,
    /// A limit that a user has set on a figure.
    Threshold,
}

impl AlertKind {
    pub const ALL: [Self; 9] = [
        Self::ScoreDrop,
        Self::ErrorRate,
        Self::Spend,
        Self::SpendStop,
        Self::BudgetStop,
        Self::NoData,
        Self::MonitorPaused,
        Self::JudgeDisagreement,
        Self::Threshold,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ScoreDrop => "score_drop",
            Self::ErrorRate => "error_rate",
            Self::Spend => "spend",
            Self::SpendStop => "spend_stop",
            Self::BudgetStop => "budget_stop",
            Self::NoData => "no_data",
            Self::MonitorPaused => "monitor_paused",
            Self::JudgeDisagreement => "judge_disagreement",
            Self::Threshold => "threshold",
        }
    }
}

impl std::str::FromStr for AlertKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kind = Self::ALL.into_iter().find(|alert_kind| alert_kind.as_str() == text);
        kind.ok_or_else(|| format!("`{text}` is not a kind of alert"))
    }
}

/// A cause, and whether it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    pub kind: AlertKind,
    /// What it is about, such as a monitor; empty where there is only one.
    pub of: String,
    pub state: SignalState,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SignalState {
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

/// The part of a cap at which a warning is sent.
pub const WARNED_AT: f64 = 0.8;

/// Two looks an hour for a year give a false alarm once in some years.
const CAUTION: f64 = 0.001;

/// Days within which the alerts of one monitor about falling scores, all of them together, may give one false alarm.
pub const FALSE_ALARM_DAYS: f64 = 365.0;

/// A figure of fewer traces crosses no limit.
pub const MIN_TRACES: usize = 20;

/// What an alert is about: a monitor, one of its agents, or one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertScope {
    pub monitor: String,
    pub agent: Option<String>,
    pub criterion: Option<String>,
}

impl AlertScope {
    pub fn of_monitor(name: &str) -> Self {
        Self { monitor: name.to_owned(), agent: None, criterion: None }
    }

    #[must_use]
    pub fn with_agent(&self, agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), ..self.clone() }
    }

    #[must_use]
    pub fn with_criterion(&self, criterion: &str) -> Self {
        Self { criterion: Some(criterion.to_owned()), ..self.clone() }
    }

    /// The subject that alerts are deduplicated by.
    pub fn subject(&self) -> String {
        let parts = [Some(&self.monitor), self.agent.as_ref(), self.criterion.as_ref()];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" / ")
    }

    /// In a sentence.
    fn name(&self) -> String {
        match (&self.agent, &self.criterion) {
            (None, None) => self.monitor.clone(),
            (Some(agent), None) => format!("agent {agent} in {}", self.monitor),
            (None, Some(criterion)) => format!("{criterion} in {}", self.monitor),
            (Some(agent), Some(criterion)) => format!("{criterion} of agent {agent} in {}", self.monitor),
        }
    }

    /// What holds, with what it is about among the facts.
    fn holds(&self, message: String, mut facts: Json) -> SignalState {
        facts["monitor"] = self.monitor.as_str().into();
        let parts = [("agent", &self.agent), ("criterion", &self.criterion)];
        for (key, value) in parts {
            if let Some(value) = value {
                facts[key] = value.as_str().into();
            }
        }
        SignalState::holds(message, facts)
    }
}

impl Signal {
    /// A cause that holds no longer.
    pub fn over(kind: AlertKind, of: &str) -> Self {
        Self::new(kind, of, SignalState::Over)
    }

    fn new(kind: AlertKind, of: &str, state: SignalState) -> Self {
        Self { kind, of: of.to_owned(), state }
    }
}

impl SignalState {
    fn holds(message: String, facts: Json) -> Self {
        let Json::Object(facts) = facts else { unreachable!("facts have names") };
        Self::Holds { message, facts }
    }
}

/// Whether most of a month's money is spent.
pub fn spend_signal(month: &str, spent: Usd, cap: Option<&Cap>) -> Signal {
    let state = match cap {
        Some(cap) if (WARNED_AT * cap.usd().nanos() as f64) <= spent.nanos() as f64 => SignalState::holds(
            format!(
                "{} of the monthly cap of {} are spent in {month}; judging stops at {}",
                cap.format_amount(spent),
                cap.format_limit(),
                cap.format_limit()
            ),
            json!({ "month": month, "spent": spent, "cap": cap.usd() }),
        ),
        _ => SignalState::Over,
    };
    Signal::new(AlertKind::Spend, "", state)
}

/// Whether a call that may cost so much no longer fits the month.
pub fn spend_stop_signal(month: &str, spent: Usd, cap: Option<&Cap>, needed: Usd) -> Signal {
    let state = match cap {
        Some(cap) if cap.usd() < spent.plus(needed) => SignalState::holds(
            format!(
                "judging has stopped: {} of {} are spent in {month}, and one more call may cost up to {}; it resumes when the cap is raised or the next month begins",
                cap.format_amount(spent),
                cap.format_limit(),
                cap.format_amount(needed)
            ),
            json!({ "month": month, "spent": spent, "cap": cap.usd(), "needed": needed }),
        ),
        _ => SignalState::Over,
    };
    Signal::new(AlertKind::SpendStop, "", state)
}

/// Whether a monitor leaves traces unjudged because its own budget of the month is used up.
pub fn budget_stop_signal(
    of: &AlertScope,
    month: &str,
    spent: Usd,
    budget: Option<&Cap>,
    n_unjudged: u64,
) -> Signal {
    let state = match budget {
        Some(budget) if 0 < n_unjudged => {
            let n = usize::try_from(n_unjudged).unwrap_or(usize::MAX);
            of.holds(
                format!(
                    "{} has stopped judging: {} of its own budget of {} are spent in {month}, and {} of today and yesterday have no score; it resumes when the budget is raised or the next month begins",
                    of.name(),
                    budget.format_amount(spent),
                    budget.format_limit(),
                    plural(n, "trace")
                ),
                json!({ "month": month, "spent": spent, "budget": budget.usd(), "n_unjudged": n_unjudged }),
            )
        }
        _ => SignalState::Over,
    };
    Signal::new(AlertKind::BudgetStop, &of.subject(), state)
}

/// Whether the mean score has fallen, among as many series of scores as are looked at together. The evidence that
/// is asked for grows with their number, so that they share one rate of false alarms.
/// `scale` has the ends of the author's scale.
pub fn score_drop_signal(
    of: &AlertScope,
    fall: Option<&FallEvidence>,
    n_series: usize,
    scale: Option<(f64, f64)>,
) -> Signal {
    let needed = FALSE_ALARM_DAYS * n_series.max(1) as f64;
    let state = match fall {
        Some(fall) if needed <= fall.evidence && !fall.has_recovered => {
            let since = Time::from_micros(fall.since * 86_400_000_000).to_string();
            let since = since.get(..10).unwrap_or(&since);
            of.holds(
                format!(
                    "the score of {} fell from {} to {}: the mean of {} before {since}, and of {} since",
                    of.name(),
                    format_beside_own_scale(fall.before, scale),
                    format_beside_own_scale(fall.now, scale),
                    plural(fall.n_before, "trace"),
                    fall.n_since
                ),
                json!({
                    "before": fall.before, "now": fall.now, "since": since, "n_before": fall.n_before,
                    "n_since": fall.n_since, "evidence": fall.evidence, "needed": needed,
                }),
            )
        }
        // Nothing is left of what was won, or the newest scores are back.
        Some(fall) if 1.0 <= fall.evidence && !fall.has_recovered => SignalState::Unclear,
        _ => SignalState::Over,
    };
    Signal::new(AlertKind::ScoreDrop, &of.subject(), state)
}

/// Whether the share of a monitor's judge errors is over its limit.
pub fn error_rate_signal(of: &AlertScope, n_failed: usize, n: usize, limit: f64) -> Signal {
    let what = format!("judge calls of {} failed", of.name());
    Signal::new(AlertKind::ErrorRate, &of.subject(), compare_share_to_limit(of, &what, n_failed, n, limit))
}

/// Whether judges of one candidate are further apart more often than they may be.
pub fn judge_disagreement_signal(of: &AlertScope, n_apart: usize, n: usize, limit: f64) -> Signal {
    let what = format!("traces have judges of {} that disagree", of.name());
    Signal::new(
        AlertKind::JudgeDisagreement,
        &of.subject(),
        compare_share_to_limit(of, &what, n_apart, n, limit),
    )
}

/// Holds if a share is significantly over its limit; resolved if the share is no longer over the limit.
fn compare_share_to_limit(of: &AlertScope, what: &str, n_such: usize, n: usize, limit: f64) -> SignalState {
    match proportion(n_such, n, CAUTION, ProportionMethod::ClopperPearson) {
        Ok(share) if limit < share.interval.0 => of.holds(
            format!(
                "{:.0} % of {what} ({n_such} of {n}), and {:.0} % may",
                100.0 * share.rate,
                100.0 * limit
            ),
            json!({ "rate": share.rate, "interval": share.interval, "n": n, "limit": limit }),
        ),
        Ok(share) if share.rate <= limit => SignalState::Over,
        Ok(_) | Err(_) => SignalState::Unclear,
    }
}

/// A figure that a limit is set on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleFigure {
    pub value: f64,
    /// Where it may lie, if it is estimated from a sample (99.9 %).
    pub interval: Option<(f64, f64)>,
    /// Traces that it is of.
    pub n: usize,
}

impl RuleFigure {
    pub fn of_traffic(traffic: &Traffic) -> Self {
        Self { value: traffic.mean, interval: Some(traffic.interval_at(CAUTION)), n: traffic.n }
    }

    /// `None` where nothing was judged.
    pub fn of_share(n_such: usize, n: usize) -> Option<Self> {
        let share = proportion(n_such, n, CAUTION, ProportionMethod::ClopperPearson).ok()?;
        Some(Self { value: share.rate, interval: Some(share.interval), n })
    }
}

/// Whether a figure has crossed the limit that a user set. An estimate must do so with its whole interval.
/// `scale` has the ends of the author's scale of scores.
pub fn threshold_signal(
    of: &AlertScope,
    rule: &AlertRule,
    figure: Option<&RuleFigure>,
    scale: Option<(f64, f64)>,
) -> Signal {
    let subject = format!("{} / {}", of.subject(), rule.text());
    let (metric, limit) = (rule.condition.metric, rule.condition.limit);
    let is_beyond = |value: f64| match rule.condition.direction {
        LimitDirection::Below => value < limit,
        LimitDirection::Above => limit < value,
    };
    let state = match figure {
        Some(figure) if !is_beyond(figure.value) => SignalState::Over,
        Some(figure) => {
            let (low, high) = figure.interval.unwrap_or((figure.value, figure.value));
            let is_enough = metric == AlertMetric::Budget || MIN_TRACES <= figure.n;
            if is_enough && is_beyond(low) && is_beyond(high) {
                of.holds(
                    describe_crossed_limit(of, rule, figure, scale),
                    json!({
                        "rule": rule.text(), "metric": metric.as_str(), "value": figure.value,
                        "interval": figure.interval, "n": figure.n, "limit": limit,
                    }),
                )
            } else {
                SignalState::Unclear
            }
        }
        None => SignalState::Unclear,
    };
    Signal::new(AlertKind::Threshold, &subject, state)
}

fn describe_crossed_limit(
    of: &AlertScope,
    rule: &AlertRule,
    figure: &RuleFigure,
    scale: Option<(f64, f64)>,
) -> String {
    let metric = rule.condition.metric;
    let show = |value: f64| match metric {
        AlertMetric::Score => format_beside_own_scale(value, scale),
        AlertMetric::LatencyP50 | AlertMetric::LatencyP95 => format!("{value:.1} s"),
        AlertMetric::Cost => format!("${value:.4}"),
        AlertMetric::PassRate | AlertMetric::ErrorRate | AlertMetric::Budget => {
            format!("{:.1} %", 100.0 * value)
        }
    };
    let side = match rule.condition.direction {
        LimitDirection::Below => "below",
        LimitDirection::Above => "above",
    };
    let limit = format!("{side} the limit of {}", show(rule.condition.limit));
    if metric == AlertMetric::Budget {
        return format!("{} has spent {} of its monthly budget, {limit}", of.name(), show(figure.value));
    }
    let name = metric.as_str().replace('_', " ");
    let interval =
        figure.interval.map(|(low, high)| format!(", 99.9 % interval {} to {}", show(low), show(high)));
    format!(
        "the {name} of {} is {} over {} ({}{}), {limit}",
        of.name(),
        show(figure.value),
        plural(rule.days as usize, "day"),
        plural(figure.n, "trace"),
        interval.unwrap_or_default(),
    )
}

/// Whether nothing has come for longer than it may take. What never came is not missed.
pub fn no_data_signal(of: &AlertScope, last: Option<Time>, silence_hours: f64, now: Time) -> Signal {
    let state = match last {
        None => SignalState::Unclear,
        Some(last) => {
            let hours = (now.micros() - last.micros()) as f64 / 3.6e9;
            if silence_hours < hours {
                of.holds(
                    format!("no trace of {} was received for {hours:.0} hours", of.name()),
                    json!({ "last": last, "hours": hours, "limit": silence_hours }),
                )
            } else {
                SignalState::Over
            }
        }
    };
    Signal::new(AlertKind::NoData, &of.subject(), state)
}

/// The signal that a monitor is paused, with the reason.
pub fn monitor_paused_signal(of: &str, why: Option<&str>) -> Signal {
    let paused = |why: &str| {
        SignalState::holds(format!("{of} is paused: {why}"), json!({ "monitor": of, "why": why }))
    };
    Signal::new(AlertKind::MonitorPaused, of, why.map_or(SignalState::Over, paused))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Rates;

    fn check(signal: &Signal, expected: &str) {
        let text = match &signal.state {
            SignalState::Holds { message, .. } => message.as_str(),
            SignalState::Over => "over",
            SignalState::Unclear => "unclear",
        };
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn money_warns_at_four_fifths_and_stops_before_it_is_too_much() {
        let cap = Cap::usual(&Rates::default());
        let dollars = |value: f64| Usd::from_nanos((value * 1e9) as i64);
        check(&spend_signal("2026-03", dollars(49.99), Some(&cap)), "over");
        check(&spend_signal("2026-03", dollars(50.0), Some(&cap)), "£40.00 of the monthly cap of £50.00");
        check(&spend_signal("2026-03", dollars(500.0), None), "over");
        check(&spend_stop_signal("2026-03", dollars(62.0), Some(&cap), dollars(0.5)), "over");
        check(&spend_stop_signal("2026-03", dollars(62.0), Some(&cap), dollars(0.6)), "may cost up to £0.48");
        check(&spend_stop_signal("2026-04", dollars(0.0), Some(&cap), dollars(0.6)), "over");
        check(&spend_stop_signal("2026-04", dollars(9.0), None, dollars(0.6)), "over");
    }

    fn triage() -> AlertScope {
        AlertScope::of_monitor("triage")
    }

    #[test]
    fn a_share_holds_when_it_is_sure_and_ends_when_it_is_not_seen() {
        let triage = triage();
        check(&error_rate_signal(&triage, 1, 2, 0.2), "unclear");
        check(&error_rate_signal(&triage, 15, 20, 0.2), "75 % of judge calls of triage failed (15 of 20)");
        check(&error_rate_signal(&triage, 5, 20, 0.2), "unclear");
        check(&error_rate_signal(&triage, 4, 20, 0.2), "over");
        check(&error_rate_signal(&triage, 0, 0, 0.2), "unclear");
        check(
            &judge_disagreement_signal(&triage, 40, 50, 0.3),
            "80 % of traces have judges of triage that disagree",
        );
    }

    #[test]
    fn a_fall_needs_more_evidence_where_more_series_are_looked_at() {
        let fall = FallEvidence {
            evidence: 1_000.0,
            since: 20_000,
            before: 0.72,
            now: 0.5,
            n_before: 400,
            n_since: 60,
            has_recovered: false,
        };
        let kind = triage().with_agent("mail").with_criterion("kind");
        let signal = score_drop_signal(&kind, Some(&fall), 2, None);
        check(
            &signal,
            "the score of kind of agent mail in triage fell from 0.72 to 0.50: the mean of 400 traces",
        );
        check(&signal, "before 2024-10-04, and of 60 since");
        assert_eq!(signal.of, "triage / mail / kind");
        let SignalState::Holds { facts, .. } = signal.state else { panic!("it holds") };
        assert_eq!(
            (&facts["monitor"], &facts["agent"], &facts["criterion"]),
            (&json!("triage"), &json!("mail"), &json!("kind"))
        );
        let on_scale = score_drop_signal(&kind, Some(&fall), 2, Some((1.0, 5.0)));
        check(&on_scale, "fell from 3.9/5 (0.72) to 3.0/5 (0.50): the mean of 400 traces");
        check(&score_drop_signal(&kind, Some(&fall), 3, None), "unclear");
        check(&score_drop_signal(&kind, Some(&FallEvidence { evidence: 0.5, ..fall }), 3, None), "over");
        check(
            &score_drop_signal(&kind, Some(&FallEvidence { has_recovered: true, ..fall }), 1, None),
            "over",
        );
        check(&score_drop_signal(&kind, None, 1, None), "over");
    }

    #[test]
    fn a_limit_is_crossed_by_the_whole_interval_of_enough_traces() {
        let rule = |when: &str| AlertRule {
            condition: when.parse().unwrap(),
            days: 7,
            agent: None,
            criterion: None,
        };
        let figure = |value: f64, spread: f64, n: usize| RuleFigure {
            value,
            interval: Some((value - spread, value + spread)),
            n,
        };
        let (triage, low) = (triage().with_agent("mail"), rule("score < 0.7"));
        let crossed = threshold_signal(&triage, &low, Some(&figure(0.6, 0.05, 80)), None);
        check(
            &crossed,
            "the score of agent mail in triage is 0.60 over 7 days (80 traces, 99.9 % interval 0.55 to 0.65)",
        );
        check(&crossed, "below the limit of 0.70");
        assert_eq!(crossed.of, "triage / mail / score < 0.7 over 7d");
        let on_scale = threshold_signal(&triage, &low, Some(&figure(0.6, 0.05, 80)), Some((1.0, 5.0)));
        check(
            &on_scale,
            "is 3.4/5 (0.60) over 7 days (80 traces, 99.9 % interval 3.2/5 (0.55) to 3.6/5 (0.65))",
        );
        check(&on_scale, "below the limit of 3.8/5 (0.70)");
        check(&threshold_signal(&triage, &low, Some(&figure(0.6, 0.15, 80)), None), "unclear");
        check(&threshold_signal(&triage, &low, Some(&figure(0.6, 0.05, 19)), None), "unclear");
        check(&threshold_signal(&triage, &low, Some(&figure(0.7, 0.05, 80)), None), "over");
        check(&threshold_signal(&triage, &low, None, None), "unclear");
        let exact = |value: f64, n: usize| RuleFigure { value, interval: None, n };
        check(
            &threshold_signal(&triage, &rule("latency_p95 > 30"), Some(&exact(31.0, 20)), None),
            "latency p95 of agent mail in triage is 31.0 s",
        );
        check(
            &threshold_signal(&triage, &rule("budget > 90%"), Some(&exact(0.95, 0)), None),
            "has spent 95.0 % of its monthly budget",
        );
        check(&threshold_signal(&triage, &rule("cost > 0.05"), Some(&exact(0.05, 90)), None), "over");
    }

    #[test]
    fn silence_is_told_of_those_who_spoke() {
        let at = |hour: i64| Time::from_micros(hour * 3_600_000_000);
        let mail = triage().with_agent("mail");
        check(&no_data_signal(&mail, None, 2.0, at(9)), "unclear");
        check(&no_data_signal(&mail, Some(at(8)), 2.0, at(9)), "over");
        check(
            &no_data_signal(&mail, Some(at(2)), 2.0, at(9)),
            "no trace of agent mail in triage was received for 7 hours",
        );
        check(&monitor_paused_signal("triage", Some("the key is not accepted")), "the key is not accepted");
        check(&monitor_paused_signal("triage", None), "over");
    }
}
