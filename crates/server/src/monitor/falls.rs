//! Falling scores of a monitor: overall, per agent, and per criterion of an agent.

use std::collections::BTreeMap;

use jurist_core::alert::{self, AlertScope, Signal, SignalState};
use jurist_core::stats::monitoring::{DailyScores, WeightedScoreSums, find_fall};
use jurist_core::suite;

use super::estimates::{DAY, JudgeSeries, MonitorTallies, own_score_scale};

/// A series of scores, and the series whose alert replaces its own if both have fallen.
struct WatchedSeries {
    scope: AlertScope,
    spoken_for_by: Option<usize>,
}

/// One signal per series. A criterion raises no alert while its agent's score has fallen, and the monitor none while
/// one of its agents' has, so that one cause raises one alert.
pub(super) fn find_falls(
    name: &str,
    monitor: &suite::Monitor,
    gathered: &MonitorTallies,
    series: Option<&JudgeSeries>,
) -> Vec<Signal> {
    let watched = list_series(name, monitor);
    let signal = |one: &WatchedSeries| {
        let days = series.map(|series| daily_scores(gathered, series, &one.scope)).unwrap_or_default();
        let scale = own_score_scale(&monitor.rubric, one.scope.criterion.as_deref().unwrap_or_default());
        alert::score_drop_signal(&one.scope, find_fall(&days).as_ref(), watched.len(), scale)
    };
    let mut signals: Vec<Signal> = watched.iter().map(signal).collect();
    let holds: Vec<bool> =
        signals.iter().map(|signal| matches!(signal.state, SignalState::Holds { .. })).collect();
    let is_agent = |one: &WatchedSeries| one.scope.agent.is_some() && one.scope.criterion.is_none();
    let has_agent_fallen = watched.iter().zip(&holds).any(|(one, holds)| is_agent(one) && *holds);
    for (at, one) in watched.iter().enumerate().filter(|(at, _)| holds[*at]) {
        let is_whole = one.scope.agent.is_none();
        if one.spoken_for_by.is_some_and(|by| holds[by]) || (is_whole && has_agent_fallen) {
            signals[at].state = SignalState::Unclear;
        }
    }
    signals
}

fn list_series(name: &str, monitor: &suite::Monitor) -> Vec<WatchedSeries> {
    let whole = AlertScope::of_monitor(name);
    let criteria: Vec<String> = monitor.rubric.questions().map(|question| question.id()).collect();
    let mut all = vec![WatchedSeries { scope: whole.clone(), spoken_for_by: None }];
    for (agent, _) in &monitor.agents {
        let scope = whole.with_agent(agent);
        let mut speaker = 0;
        // With one agent, its series equals the monitor's.
        if 1 < monitor.agents.len() {
            speaker = all.len();
            all.push(WatchedSeries { scope: scope.clone(), spoken_for_by: None });
        }
        // With one criterion, its series equals the overall score.
        if 1 < criteria.len() {
            let by_criterion = |criterion: &String| WatchedSeries {
                scope: scope.with_criterion(criterion),
                spoken_for_by: Some(speaker),
            };
            all.extend(criteria.iter().map(by_criterion));
        }
    }
    all
}

fn daily_scores(gathered: &MonitorTallies, series: &JudgeSeries, scope: &AlertScope) -> Vec<DailyScores> {
    let criterion = scope.criterion.as_deref().unwrap_or_default();
    let mut days: BTreeMap<i64, Vec<WeightedScoreSums>> = BTreeMap::new();
    for tally in gathered.of(&series.version, &series.judge) {
        let is_meant = tally.criterion == criterion
            && 0 < tally.units.n
            && (scope.agent.is_none() || scope.agent == tally.agent);
        if let Some(day) = tally.day.filter(|_| is_meant) {
            days.entry(day.micros().div_euclid(DAY)).or_default().push(tally.units);
        }
    }
    days.into_iter().map(|(day, strata)| DailyScores { day, strata }).collect()
}
