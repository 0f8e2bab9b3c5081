//! User-defined alert rules of a monitor.

use std::collections::BTreeMap;

use jurist_core::alert::{self, AlertScope, RuleFigure, Signal};
use jurist_core::grade::Time;
use jurist_core::money::{Month, Rates};
use jurist_core::quantity::Usd;
use jurist_core::stats::monitoring::estimate_traffic_mean;
use jurist_core::suite::{AlertMetric, AlertRule};
use jurist_store::alert_figures::TraceUsage;
use jurist_store::{ProjectId, Store, StoreError};

use super::estimates::{DAY, JudgeSeries, MonitorTallies, StratumSums, TallySelection, own_score_scale};
use super::{LoadedMonitorVersion, monthly_monitor_budget};

/// Newest traces of an agent from which latency and cost are computed.
const MAX_TRACES: usize = 10_000;

/// The monitor and time that alert rules are evaluated for.
pub(super) struct RuleContext<'a> {
    pub store: &'a Store,
    pub project: ProjectId,
    /// The monitor's name.
    pub name: &'a str,
    pub watched: &'a LoadedMonitorVersion,
    pub gathered: &'a MonitorTallies,
    pub series: Option<&'a JudgeSeries>,
    pub rates: &'a Rates,
    pub now: Time,
}

/// One signal for each rule of a monitor.
pub(super) async fn check_rules(
    context: &RuleContext<'_>,
    rules: &[AlertRule],
) -> Result<Vec<Signal>, StoreError> {
    let (mut signals, mut usage) = (Vec::new(), UsageCache::new());
    for rule in rules {
        let figure = match rule.condition.metric {
            AlertMetric::Score | AlertMetric::PassRate | AlertMetric::ErrorRate => {
                context.judgement_figure(rule)
            }
            AlertMetric::LatencyP50 => context.latency(rule, 0.5, &mut usage).await?,
            AlertMetric::LatencyP95 => context.latency(rule, 0.95, &mut usage).await?,
            AlertMetric::Cost => context.cost(rule, &mut usage).await?,
            AlertMetric::Budget => context.spent_share().await?,
        };
        let scope = AlertScope {
            monitor: context.name.to_owned(),
            agent: rule.agent.clone(),
            criterion: rule.criterion.clone(),
        };
        let rubric = &context.watched.monitor.rubric;
        let scale = own_score_scale(rubric, rule.criterion.as_deref().unwrap_or_default());
        signals.push(alert::threshold_signal(&scope, rule, figure.as_ref(), scale));
    }
    Ok(signals)
}

/// Cache by agent and number of days, because several rules may need the same traces.
type UsageCache = BTreeMap<(Option<String>, u32), Vec<TraceUsage>>;

impl RuleContext<'_> {
    /// First day of a rule's window, which ends today.
    fn first_day(&self, rule: &AlertRule) -> Time {
        let today = self.now.micros().div_euclid(DAY);
        Time::from_micros((today + 1 - i64::from(rule.days)) * DAY)
    }

    fn judgement_figure(&self, rule: &AlertRule) -> Option<RuleFigure> {
        let JudgeSeries { version, judge } = self.series?;
        let only = TallySelection {
            agent: rule.agent.as_deref(),
            from: Some(self.first_day(rule)),
            ..TallySelection::default()
        };
        let criterion = rule.criterion.as_deref().unwrap_or_default();
        let StratumSums { units, passes } = self.gathered.sums((version, judge, criterion), only);
        match rule.condition.metric {
            AlertMetric::Score => estimate_traffic_mean(&units).ok().as_ref().map(RuleFigure::of_traffic),
            AlertMetric::PassRate => estimate_traffic_mean(&passes).ok().as_ref().map(RuleFigure::of_traffic),
            _ => {
                let n_errors: usize = units.iter().map(|stratum| stratum.n_errors).sum();
                let n_scored: usize = units.iter().map(|stratum| stratum.scores.n).sum();
                RuleFigure::of_share(n_errors, n_errors + n_scored)
            }
        }
    }

    async fn latency(
        &self,
        rule: &AlertRule,
        share: f64,
        usage: &mut UsageCache,
    ) -> Result<Option<RuleFigure>, StoreError> {
        let traces = self.usage(rule, usage).await?;
        let mut seconds: Vec<f64> = traces.iter().filter_map(|trace| trace.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let n = seconds.len();
        let at = ((share * n as f64).ceil() as usize).clamp(1, n.max(1)) - 1;
        Ok(seconds.get(at).map(|value| RuleFigure { value: *value, interval: None, n }))
    }

    async fn cost(&self, rule: &AlertRule, usage: &mut UsageCache) -> Result<Option<RuleFigure>, StoreError> {
        let traces = self.usage(rule, usage).await?;
        let costs: Vec<f64> =
            traces.iter().filter_map(|trace| trace.cost).map(|cost| cost.nanos() as f64 / 1e9).collect();
        let n = costs.len();
        let mean = costs.iter().sum::<f64>() / n.max(1) as f64;
        Ok((0 < n).then_some(RuleFigure { value: mean, interval: None, n }))
    }

    /// Usage of one agent of the monitor, or of all.
    async fn usage<'c>(
        &self,
        rule: &AlertRule,
        cache: &'c mut UsageCache,
    ) -> Result<&'c [TraceUsage], StoreError> {
        let key = (rule.agent.clone(), rule.days);
        if !cache.contains_key(&key) {
            let (mut all, since) = (Vec::new(), self.first_day(rule));
            let agents = self.watched.monitor.agents.iter().map(|(agent, _)| agent);
            for agent in agents.filter(|agent| rule.agent.as_ref().is_none_or(|only| only == *agent)) {
                all.extend(self.store.trace_usage(self.project, agent, since, MAX_TRACES).await?);
            }
            cache.insert(key.clone(), all);
        }
        Ok(&cache[&key])
    }

    /// What the monitor has paid in a month.
    pub(super) async fn spent_this_month(&self, month: &str) -> Result<Usd, StoreError> {
        let subject = self.watched.monitor_id.to_string();
        Ok(self.store.subject_spend(self.project, &subject, Some(month)).await?.settled)
    }

    async fn spent_share(&self) -> Result<Option<RuleFigure>, StoreError> {
        let Some(cap) = monthly_monitor_budget(&self.watched.monitor, self.rates) else { return Ok(None) };
        let spent = self.spent_this_month(&Month::of(self.now).to_string()).await?;
        let share = spent.nanos() as f64 / (cap.nanos() as f64).max(1.0);
        Ok(Some(RuleFigure { value: share, interval: None, n: 0 }))
    }
}
