//! Who judges, and how.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::rubric::OnError;

/// The judges of a case and their settings. `None` is replaced by the file, the settings or the environment.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Judge {
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u32>,
    /// Seconds for one call.
    pub timeout: Option<f64>,
    pub calls: Option<Calls>,
    pub jury: Option<Jury>,
    pub panel: Vec<String>,
    pub aggregate: Option<Aggregate>,
    pub tie_break: Option<TieBreak>,
    pub on_error: Option<OnError>,
    pub escalate: Option<Escalate>,
    /// What its scores mean to people: files that `jurist calibrate` wrote, each about one criterion.
    pub calibrations: Vec<(String, Value)>,
    /// Judges that answer single criteria in its place, by the id of the criterion; each is one model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub criteria: BTreeMap<String, Judge>,
}

/// A second opinion where the first is unsure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Escalate {
    /// The stronger judge.
    pub to: String,
    /// It is asked where the score is within this much of the pass mark.
    pub margin: f64,
}

impl Judge {
    /// This judge, with what it leaves open taken from `default`.
    #[must_use]
    pub fn or(&self, default: &Self) -> Self {
        // A jury and a panel both define several judges, so one here replaces the other in the default.
        let has_members = self.jury.is_some() || !self.panel.is_empty();
        let (jury, panel) =
            if has_members { (self.jury, &self.panel) } else { (default.jury, &default.panel) };
        Self {
            model: self.model.clone().or_else(|| default.model.clone()),
            base_url: self.base_url.clone().or_else(|| default.base_url.clone()),
            temperature: self.temperature.or(default.temperature),
            max_tokens: self.max_tokens.or(default.max_tokens),
            timeout: self.timeout.or(default.timeout),
            calls: self.calls.or(default.calls),
            jury,
            panel: panel.clone(),
            aggregate: self.aggregate.or(default.aggregate),
            tie_break: self.tie_break.or(default.tie_break),
            on_error: self.on_error.or(default.on_error),
            escalate: self.escalate.clone().or_else(|| default.escalate.clone()),
            calibrations: if self.calibrations.is_empty() {
                default.calibrations.clone()
            } else {
                self.calibrations.clone()
            },
            criteria: if self.criteria.is_empty() { &default.criteria } else { &self.criteria }.clone(),
        }
    }

    /// The addresses at which models may be asked, where they are set.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        let of_criteria = self.criteria.values().filter_map(|judge| judge.base_url.as_deref());
        self.base_url.as_deref().into_iter().chain(of_criteria)
    }

    /// The names of all models that may be asked.
    pub fn models(&self) -> impl Iterator<Item = &String> {
        let of_criteria = self.criteria.values().filter_map(|judge| judge.model.as_ref());
        let stronger = self.escalate.as_ref().map(|escalate| &escalate.to);
        self.model.iter().chain(&self.panel).chain(stronger).chain(of_criteria)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Calls {
    PerCriterion,
    PerRubric,
}

impl Calls {
    pub const ALL: [(&str, Self); 2] =
        [("per_criterion", Self::PerCriterion), ("per_rubric", Self::PerRubric)];
}

/// One model, asked several times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Jury {
    pub size: u32,
    /// The share of gradings that must pass, 0..=1.
    pub consensus: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Aggregate {
    #[default]
    Mean,
    Median,
    Majority,
}

impl Aggregate {
    pub const ALL: [(&str, Self); 3] =
        [("mean", Self::Mean), ("median", Self::Median), ("majority", Self::Majority)];
}

/// What an even split means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum TieBreak {
    #[default]
    Fail,
    Pass,
}

impl TieBreak {
    pub const ALL: [(&str, Self); 2] = [("fail", Self::Fail), ("pass", Self::Pass)];
}
