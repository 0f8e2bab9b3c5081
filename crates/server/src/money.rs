//! Spend and alerts of a project as the API and the command line show them.

use std::collections::BTreeMap;

use jurist_core::alert::AlertKind;
use jurist_core::grade::{Time, Usd};
use jurist_core::money::{Cap, Month};
use jurist_core::stats::monitoring::{DaySum, forecast};
use jurist_store::alerts::{Alert, AlertSelection};
use jurist_store::spend::DaySpend;
use jurist_store::{ProjectId, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::job::{CONTEST, MONITOR, NO_MONEY};
use crate::monitor::{MonitorBudgetView, build_monitor_view};

/// A month of a project. Amounts are dollars.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SpendShown {
    /// Of UTC.
    #[schema(example = "2026-03")]
    pub month: String,
    /// Elapsed share of the month, from 0 to 1.
    pub elapsed: f64,
    /// Absent where there is no limit.
    pub cap: Option<CapShown>,
    /// Spend of the month, in US dollars.
    pub spent: f64,
    /// Reserved for calls in progress.
    pub reserved: f64,
    /// The part of `spent` for calls with unknown cost, counted at their maximum.
    pub assumed: f64,
    /// Projected month-end spend; absent if there is too little data or the month is over.
    pub forecast: Option<ForecastShown>,
    /// Why there is no forecast.
    pub no_forecast: Option<String>,
    /// Spend of each day that has any, oldest first.
    pub days: Vec<DayShown>,
    /// The dearest first.
    pub purposes: Vec<PartShown>,
    /// Monitors by their name and runs by their id, the dearest first; at most fifty.
    pub subjects: Vec<PartShown>,
    /// The dearest first.
    pub judges: Vec<PartShown>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CapShown {
    /// Most that may be spent in a month, in `currency`.
    pub amount: f64,
    /// Code of the currency (ISO 4217).
    #[schema(example = "GBP")]
    pub currency: String,
    /// Exchange rate to US dollars: dollars for one unit of the currency, as set with the cap.
    pub rate: f64,
    /// The same amount in US dollars.
    pub dollars: f64,
}

/// Projected month-end spend from the last four weeks, with an 80 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ForecastShown {
    /// Projected spend at the end of the month, in US dollars.
    pub expected: f64,
    /// Lower end of the 80 % prediction interval, in US dollars.
    pub low: f64,
    /// Upper end of the 80 % prediction interval, in US dollars.
    pub high: f64,
    /// When the cap is reached, if it is to be this month.
    pub reaches_cap: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayShown {
    /// Day in UTC.
    #[schema(example = "2026-03-20")]
    pub day: String,
    /// US dollars.
    pub spent: f64,
    /// Number of calls to models.
    pub n_calls: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PartShown {
    /// Name of the purpose, monitor, run or judge.
    pub name: String,
    /// US dollars.
    pub spent: f64,
    /// Number of calls to models.
    pub n_calls: u64,
    /// The monthly budget of a monitor; absent for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<MonitorBudgetView>,
}

/// An alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AlertShown {
    /// Id of the alert.
    #[schema(example = "alr_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
    pub id: String,
    /// score_drop, error_rate, spend, spend_stop, budget_stop, no_data, monitor_paused, judge_disagreement or threshold.
    pub kind: String,
    /// Subject, such as `monitor / agent / criterion`; empty if there is only one.
    pub subject: String,
    /// The monitor that it is about.
    pub monitor: Option<String>,
    /// Its agent, if it is about one.
    pub agent: Option<String>,
    /// Its criterion, if it is about one.
    pub criterion: Option<String>,
    /// The alert in words.
    pub message: String,
    /// The figures behind it.
    pub facts: serde_json::Value,
    /// When it was raised, in UTC (RFC 3339).
    pub raised: String,
    /// When it was resolved.
    pub resolved: Option<String>,
    /// When the notification was sent.
    pub sent: Option<String>,
    /// When it was acknowledged.
    pub acknowledged: Option<String>,
    /// Until then nothing is sent about it.
    #[serde(default)]
    pub snoozed_until: Option<String>,
}

/// Subjects that are shown one by one.
const SUBJECTS: usize = 50;

/// Spend of the month that contains `of`, up to now.
pub async fn load_month_spend(
    store: &Store,
    project: ProjectId,
    of: Time,
    now: Time,
) -> Result<SpendShown, StoreError> {
    let month = Month::of(of);
    let cap = store.project(project).await?.cap;
    let sums = store.month_spend(project, of).await?;
    // Far enough back for a forecast on the first of a month.
    let back = Time::from_micros(month.start.micros() - 31 * 86_400_000_000);
    let all = store.spend_by_day(project, back, month.end).await?;
    let paid: Vec<DaySum> =
        all.iter().map(|day_spend| DaySum { day: day_spend.day, paid: day_spend.settled }).collect();
    let ahead = forecast(sums.settled, &paid, sums.cap, now);
    let is_over = month.end <= now;
    let of_month: Vec<&DaySpend> = all.iter().filter(|day_spend| month.start <= day_spend.day).collect();
    let parts = |name: fn(&DaySpend) -> &str| sum_spend_by_name(&of_month, name);
    let mut subjects = parts(|day_spend| &day_spend.subject);
    // Spend without a subject, such as a ping, is listed by purpose only.
    subjects.retain(|part_shown| !part_shown.name.is_empty());
    subjects.truncate(SUBJECTS);
    for monitor in store.all_monitors(project).await? {
        let id = monitor.id.to_string();
        for part in subjects.iter_mut().filter(|part| part.name == id) {
            part.name.clone_from(&monitor.name);
            part.budget = build_monitor_view(&monitor).ok().and_then(|view| view.budget);
        }
    }
    Ok(SpendShown {
        month: month.to_string(),
        elapsed: month.elapsed_share(now),
        cap: cap.as_ref().map(CapShown::from),
        spent: dollars_as_float(sums.settled),
        reserved: dollars_as_float(sums.reserved),
        assumed: dollars_as_float(sum_amounts(of_month.iter().map(|day_spend| day_spend.assumed))),
        no_forecast: ahead.as_ref().err().filter(|_| !is_over).map(|undefined| undefined.0.clone()),
        forecast: ahead.ok().filter(|_| !is_over).map(|forecast| ForecastShown {
            expected: dollars_as_float(forecast.expected),
            low: dollars_as_float(forecast.low),
            high: dollars_as_float(forecast.high),
            reaches_cap: forecast.reaches_cap.map(|time| time.to_string()),
        }),
        days: sum_spend_by_day(&of_month),
        purposes: parts(|day_spend| &day_spend.purpose),
        judges: parts(|day_spend| &day_spend.model),
        subjects,
    })
}

/// Sets a cap, which applies from the next call on; jobs that waited for budget are retried at once.
pub async fn set_cap_of(
    store: &Store,
    project: ProjectId,
    cap: Option<Cap>,
    now: Time,
) -> Result<(), StoreError> {
    store.set_cap(project, cap).await?;
    for kind in [MONITOR, CONTEST] {
        store.hasten_jobs(project, kind, "", NO_MONEY, now).await?;
    }
    Ok(())
}

/// The newest first, and where the next page begins.
pub async fn load_alerts(
    store: &Store,
    project: ProjectId,
    which: AlertSelection,
    after: Option<&jurist_store::Cursor>,
    limit: usize,
) -> Result<(Vec<AlertShown>, Option<String>), StoreError> {
    let page = store.alerts(project, which, after, limit).await?;
    Ok((page.items.into_iter().map(AlertShown::from).collect(), page.next.map(|cursor| cursor.to_string())))
}

fn sum_spend_by_day(all: &[&DaySpend]) -> Vec<DayShown> {
    let mut days: BTreeMap<Time, (Usd, u64)> = BTreeMap::new();
    for it in all {
        let (spent, n) = days.entry(it.day).or_default();
        (*spent, *n) = (spent.plus(it.settled), *n + it.n);
    }
    let view = |(day, (spent, n_calls)): (Time, (Usd, u64))| DayShown {
        day: day.to_string().chars().take(10).collect(),
        spent: dollars_as_float(spent),
        n_calls,
    };
    days.into_iter().map(view).collect()
}

fn sum_spend_by_name(all: &[&DaySpend], name: fn(&DaySpend) -> &str) -> Vec<PartShown> {
    let mut parts: BTreeMap<&str, (Usd, u64)> = BTreeMap::new();
    for it in all {
        let (spent, n) = parts.entry(name(it)).or_default();
        (*spent, *n) = (spent.plus(it.settled), *n + it.n);
    }
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.1.0));
    let view = |(name, (spent, n_calls)): (&str, (Usd, u64))| PartShown {
        name: name.to_owned(),
        spent: dollars_as_float(spent),
        n_calls,
        budget: None,
    };
    parts.into_iter().map(view).collect()
}

fn sum_amounts(amounts: impl Iterator<Item = Usd>) -> Usd {
    amounts.fold(Usd::default(), Usd::plus)
}

fn dollars_as_float(amount: Usd) -> f64 {
    amount.nanos() as f64 / 1e9
}

impl From<&Cap> for CapShown {
    fn from(it: &Cap) -> Self {
        let currency = it.currency().to_string();
        Self { amount: it.amount(), currency, rate: it.rate(), dollars: dollars_as_float(it.usd()) }
    }
}

impl From<Alert> for AlertShown {
    fn from(it: Alert) -> Self {
        let time = |it: Option<Time>| it.map(|time| time.to_string());
        let part = |key: &str| it.facts[key].as_str().map(str::to_owned);
        let has_monitor = !matches!(it.kind, AlertKind::Spend | AlertKind::SpendStop);
        Self {
            id: it.id.to_string(),
            kind: it.kind.as_str().to_owned(),
            // Alerts of earlier versions have only a subject.
            monitor: part("monitor").or_else(|| has_monitor.then(|| it.subject.clone())),
            agent: part("agent"),
            criterion: part("criterion"),
            subject: it.subject,
            message: it.message,
            facts: it.facts,
            raised: it.raised.to_string(),
            resolved: time(it.resolved),
            sent: time(it.sent),
            acknowledged: time(it.seen),
            snoozed_until: time(it.snoozed_until),
        }
    }
}
