//! Alert conditions of monitors: falling scores, judge errors and disagreement, missing data, and user-defined limits.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::alert::{self, AlertKind, AlertScope, Signal, SignalState};
use jurist_core::grade::Time;
use jurist_core::money::{Month, Rates};
use jurist_core::suite::{AlertLimits, AlertRule};
use jurist_store::alerts::{Alert, AlertSelection};
use jurist_store::decisions::{DecisionState, DecisionTally, TallyGrouping};
use jurist_store::monitors::StoredMonitor;
use jurist_store::{ProjectId, Store, StoreError};

use super::LoadedMonitorVersion;
use super::estimates::{DAY, MonitorTallies, TrafficWindow, load_monitor_tallies};
use super::falls::find_falls;
use super::pace::monitor_budget_cap;
use super::pause::add_missing_jobs;
use super::thresholds::{RuleContext, check_rules};
use crate::notify::apply_alert_signal;

/// Newest judgements from which error rate and disagreement are computed.
const JUDGED: usize = 200;
const JUDGED_DAYS: i64 = 7;

/// Days that a fall and its baseline can go back at most; no rule needs more.
const LOOK_DAYS: i64 = 98;
const _: () = assert!(AlertRule::MAX_DAYS as i64 <= LOOK_DAYS);

/// Days from which the usual pause of an agent is computed.
const HABIT_DAYS: i64 = 28;

/// Open alerts of a project that are read at a time.
const PAGE: usize = 200;

/// Kinds of alerts that this check raises and resolves.
const WATCHED: [AlertKind; 6] = [
    AlertKind::BudgetStop,
    AlertKind::ScoreDrop,
    AlertKind::ErrorRate,
    AlertKind::NoData,
    AlertKind::JudgeDisagreement,
    AlertKind::Threshold,
];

/// How long a decision may be without a job before one is added: a job that has just died is closed meanwhile.
const JOB_GRACE: i64 = 60_000_000;

/// When this process checked the alert conditions of all monitors.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlertChecks {
    /// The end of the last check that succeeded.
    pub last: Option<Time>,
    /// `None` until the first check has ended.
    pub next: Option<Time>,
}

/// Checks every monitor: raises or resolves its alerts, and adds jobs for traces that would wait without end.
pub async fn watch_monitors(store: &Store, rates: &Rates, now: Time) -> Result<(), StoreError> {
    for project in store.projects().await?.iter().filter(|project| project.archived.is_none()) {
        let open = open_alerts(store, project.id).await?;
        for monitor in store.monitors(project.id).await? {
            let mut signals = find_signals(store, project.id, &monitor, rates, now).await?;
            // The project's budget is nearly used up, so the monitor's own budget need not be the reason.
            if open.iter().any(|alert| alert.kind == AlertKind::Spend) {
                signals.retain(|signal| signal.kind != AlertKind::BudgetStop);
            }
            // The agent or rule was removed from the monitor's file.
            let is_gone = |alert: &&Alert| {
                let is_same = |signal: &Signal| signal.kind == alert.kind && signal.of == alert.subject;
                is_about(alert, &monitor.name)
                    && WATCHED.contains(&alert.kind)
                    && !signals.is_empty()
                    && !signals.iter().any(is_same)
            };
            for alert in open.iter().filter(is_gone) {
                apply_alert_signal(store, project.id, &Signal::over(alert.kind, &alert.subject), now).await?;
            }
            for signal in &signals {
                apply_alert_signal(store, project.id, signal, now).await?;
            }
            if monitor.paused.is_none() {
                let unchanged_since = Time::from_micros(now.micros() - JOB_GRACE);
                add_missing_jobs(store, project.id, monitor.id, unchanged_since, now).await?;
            }
        }
    }
    Ok(())
}

/// Resolves the alerts of a removed monitor.
pub(super) async fn resolve_monitor_alerts(
    store: &Store,
    project: ProjectId,
    name: &str,
    now: Time,
) -> Result<(), StoreError> {
    for alert in open_alerts(store, project).await?.iter().filter(|alert| is_about(alert, name)) {
        apply_alert_signal(store, project, &Signal::over(alert.kind, &alert.subject), now).await?;
    }
    Ok(())
}

async fn open_alerts(store: &Store, project: ProjectId) -> Result<Vec<Alert>, StoreError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.alerts(project, AlertSelection::Open, after.as_ref(), PAGE).await?;
        all.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(all),
        }
    }
}

fn is_about(alert: &Alert, monitor: &str) -> bool {
    alert.subject == monitor || alert.facts["monitor"].as_str() == Some(monitor)
}

async fn find_signals(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    rates: &Rates,
    now: Time,
) -> Result<Vec<Signal>, StoreError> {
    let Some(watched) =
        monitor.newest.as_ref().and_then(|monitor_version| LoadedMonitorVersion::read(monitor_version).ok())
    else {
        return Ok(Vec::new());
    };
    let limits = watched.monitor.alerts.clone().unwrap_or_default();
    let since = Time::from_micros(now.micros() - JUDGED_DAYS * DAY);
    let judged = store.recently_judged(project, monitor.id, since, JUDGED).await?;
    let today = now.micros().div_euclid(DAY);
    let window = TrafficWindow {
        agent: None,
        from: Time::from_micros((today + 1 - LOOK_DAYS) * DAY),
        until: Time::from_micros((today + 1) * DAY),
    };
    let gathered =
        load_monitor_tallies(store, project, monitor, &window, TallyGrouping::AgentAndDay, None).await?;
    let series = gathered.main_series(monitor);
    let scope = AlertScope::of_monitor(&monitor.name);
    let mut signals = vec![
        alert::error_rate_signal(&scope, judged.n_errors, judged.n, limits.error_rate),
        alert::judge_disagreement_signal(
            &scope,
            judged.n_disputed,
            judged.n_compared,
            limits.disagreement_rate,
        ),
    ];
    let place = (store, project);
    signals.extend(find_silence(place, monitor, &watched, &gathered, &limits, now).await?);
    signals.extend(find_falls(&monitor.name, &watched.monitor, &gathered, series.as_ref()));
    let context = RuleContext {
        store,
        project,
        name: &monitor.name,
        watched: &watched,
        gathered: &gathered,
        series: series.as_ref(),
        rates,
        now,
    };
    signals.extend(check_rules(&context, &limits.rules).await?);
    signals.push(find_budget_stop(&context, &scope).await?);
    Ok(signals)
}

/// Whether traces of today or yesterday have no score because the monitor's own budget is used up. Traces of earlier
/// versions do not count: their budget may have been smaller.
async fn find_budget_stop(context: &RuleContext<'_>, scope: &AlertScope) -> Result<Signal, StoreError> {
    let budget = monitor_budget_cap(&context.watched.monitor, context.rates);
    let since = Time::from_micros((context.now.micros().div_euclid(DAY) - 1) * DAY);
    let is_unjudged = |tally: &&DecisionTally| {
        tally.state == DecisionState::OverBudget
            && tally.version == context.watched.id
            && tally.day.is_some_and(|day| since <= day)
    };
    let n_unjudged = context.gathered.decisions.iter().filter(is_unjudged).map(|tally| tally.n).sum();
    let month = Month::of(context.now).to_string();
    let spent = context.spent_this_month(&month).await?;
    Ok(alert::budget_stop_signal(scope, &month, spent, budget.as_ref(), n_unjudged))
}

/// Signals about missing data for each agent, or one for the monitor if no agent sends traces.
async fn find_silence(
    (store, project): (&Store, ProjectId),
    monitor: &StoredMonitor,
    watched: &LoadedMonitorVersion,
    gathered: &MonitorTallies,
    limits: &AlertLimits,
    now: Time,
) -> Result<Vec<Signal>, StoreError> {
    let mut active: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for tally in &gathered.decisions {
        if let (Some(agent), Some(day)) = (&tally.agent, tally.day) {
            active.entry(agent).or_default().insert(day.micros().div_euclid(DAY));
        }
    }
    let no_days = BTreeSet::new();
    let limit_of =
        |agent: &str| limits.silence_hours.max(usual_pause(active.get(agent).unwrap_or(&no_days)) as f64);
    let agents = watched.monitor.agents.iter().map(|(agent, _)| agent.as_str());
    let longest = agents.clone().map(limit_of).fold(limits.silence_hours, f64::max);
    let scope = AlertScope::of_monitor(&monitor.name);
    let last = store.last_decided(project, monitor.id).await?;
    let whole = alert::no_data_signal(&scope, last, longest, now);
    let is_all_silent = matches!(whole.state, SignalState::Holds { .. });
    let mut signals = vec![whole];
    if watched.monitor.agents.len() < 2 {
        return Ok(signals);
    }
    for agent in agents {
        let last = match active.get(agent).and_then(BTreeSet::last) {
            Some(day) => {
                let window = (Time::from_micros(day * DAY), Time::from_micros((day + 1) * DAY));
                store.last_decided_of(project, monitor.id, agent, window).await?
            }
            None => None,
        };
        let mut signal = alert::no_data_signal(&scope.with_agent(agent), last, limit_of(agent), now);
        // The monitor's alert covers all of its agents.
        if is_all_silent && matches!(signal.state, SignalState::Holds { .. }) {
            signal.state = SignalState::Unclear;
        }
        signals.push(signal);
    }
    Ok(signals)
}

/// Twice the longest run of days without a trace in the four weeks before the last trace, in hours. Regular pauses,
/// such as weekends, raise no alert.
fn usual_pause(days: &BTreeSet<i64>) -> i64 {
    let Some(last) = days.last() else { return 0 };
    let recent: Vec<i64> = days.range(last - HABIT_DAYS..).copied().collect();
    let longest = recent.windows(2).map(|pair| pair[1] - pair[0] - 1).max().unwrap_or(0);
    2 * 24 * longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_usual_where_there_was_one_like_it() {
        let pause = |days: &[i64]| usual_pause(&days.iter().copied().collect());
        assert_eq!([pause(&[]), pause(&[5]), pause(&[4, 5, 6])], [0; 3]);
        assert_eq!(pause(&[1, 2, 5, 6]), 96);
        assert_eq!(pause(&[1, 50, 51]), 0, "long ago is no habit");
    }
}
