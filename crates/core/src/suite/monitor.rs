//! A standing rubric over live traces: whose, how many of them, and who judges.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::AlertRule;
use crate::rubric::Rubric;

/// A standing rubric over live traces.
#[derive(Debug, Clone, PartialEq)]
pub struct Monitor {
    /// By its first agent's name unless it has one of its own.
    pub name: Option<String>,
    /// Agents watched, each perhaps with a rate of its own.
    pub agents: Vec<(String, AgentOverride)>,
    pub rubric: Arc<Rubric>,
    pub judges: Vec<String>,
    /// Judges further apart than this, on 0..=1, are flagged.
    pub disagreement_margin: Option<f64>,
    /// Share of finished traces that is judged.
    pub sample_rate: f64,
    pub expensive: Option<Expensive>,
    /// Monitors of the same salt look at the same traces, as far as their rates go.
    pub salt: Option<String>,
    pub good_anchors: Vec<String>,
    pub bad_anchors: Vec<String>,
    pub schedule: Option<String>,
    pub filter: MonitorFilter,
    pub budget: Option<MonitorBudget>,
    pub pacing: Option<Pacing>,
    pub alerts: Option<AlertLimits>,
}

impl Monitor {
    /// By default, judges that differ by more than a quarter of the scale are flagged as disagreeing.
    pub const MARGIN: f64 = 0.25;

    pub fn name(&self) -> &str {
        let agent = || self.agents.first().map_or("monitor", |it| it.0.as_str());
        self.name.as_deref().unwrap_or_else(agent)
    }

    pub fn margin(&self) -> f64 {
        self.disagreement_margin.unwrap_or(Self::MARGIN)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AgentOverride {
    pub sample_rate: Option<f64>,
}

/// Traces that cost much are looked at more often.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Expensive {
    /// Lower limit in dollars; by default the most expensive tenth of an agent's traces.
    pub above: Option<f64>,
    pub sample_rate: Option<f64>,
}

/// Conditions that a trace must meet to be judged; what is absent is not checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MonitorFilter {
    /// Any of these, in the words of the agent's framework; `failed` and `ok` mean all that are.
    pub status: Vec<String>,
    pub session: Vec<String>,
    /// Dollars.
    pub min_cost: Option<f64>,
    pub max_cost: Option<f64>,
    /// Seconds.
    pub min_duration: Option<f64>,
    pub max_duration: Option<f64>,
    pub min_steps: Option<u64>,
    /// Values of its metadata; a list is any of its values.
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MonitorBudget {
    /// In whole units of the currency.
    pub monthly: f64,
    pub currency: String,
}

/// Fewer traces are looked at while the month's money goes faster than the month.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pacing {
    /// The least that shares are multiplied with.
    pub floor: f64,
    /// The part of the money that nothing but failed traces may use.
    pub kept_for_failures: f64,
}

impl Default for Pacing {
    fn default() -> Self {
        Self { floor: 0.1, kept_for_failures: 0.2 }
    }
}

/// Limits above which an alert is raised.
#[derive(Debug, Clone, PartialEq)]
pub struct AlertLimits {
    /// The share of judgements that may break.
    pub error_rate: f64,
    /// The share of traces on which judges may be too far apart.
    pub disagreement_rate: f64,
    /// Hours for which no trace of an agent may come.
    pub silence_hours: f64,
    /// Limits of one's own.
    pub rules: Vec<AlertRule>,
}

impl Default for AlertLimits {
    fn default() -> Self {
        // Agents often have no traffic on weekends.
        Self { error_rate: 0.2, disagreement_rate: 0.3, silence_hours: 72.0, rules: Vec::new() }
    }
}
