//! API views of the estimates of `core`.

use jurist_core::stats::monitoring::{CorrectedTraffic, Traffic, TrafficStratum};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A mean over all traffic, from a sample
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TrafficView {
    /// On 0 to 1; strata count by how many traces they have.
    pub mean: f64,
    /// Standard error of the mean.
    pub se: f64,
    /// 95 %.
    pub interval: (f64, f64),
    /// Unweighted mean of the scored traces, which depends on the sampling.
    pub naive: f64,
    /// Number of scored traces.
    pub n: usize,
    /// Effective sample size.
    pub n_eff: f64,
    /// Estimated number of finished traces, before sampling by the sender.
    pub population: f64,
    /// The share of the population in strata that can be estimated; the mean is of these alone.
    pub covered: f64,
    /// Among the sampled and judged traces.
    pub error_rate: f64,
    /// Worst-case range: the mean if all judge errors scored 0, and if all scored 1.
    pub if_errors_scored: (f64, f64),
    /// The same figures for each stratum.
    pub strata: Vec<StratumView>,
    /// What weakens the estimate, one sentence each; empty if nothing does.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StratumView {
    /// failed, expensive or other.
    pub name: String,
    /// Traces that are known here.
    pub n_seen: usize,
    /// Estimated number of traces before sampling by the sender.
    pub population: f64,
    /// Number of scored traces.
    pub n: usize,
    /// Sampled, with a judge error.
    pub n_errors: usize,
    /// Sampled and not judged: waiting, over budget or overloaded.
    pub n_unjudged: usize,
    /// Mean score from 0 to 1; `null` if it cannot be estimated.
    pub mean: Option<f64>,
    /// 95 % confidence interval of the mean; `null` if there is no mean.
    pub interval: Option<(f64, f64)>,
    /// Why there is no mean.
    pub not_estimable: Option<String>,
}

/// A judge's mean, corrected by human labels
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CorrectedView {
    /// Label-corrected mean, from 0 to 1.
    pub mean: f64,
    /// Standard error of the mean.
    pub se: f64,
    /// 95 %.
    pub interval: (f64, f64),
    /// Number of human labels.
    pub n_labels: usize,
    /// Weight of the judge (λ), from 0 (labels alone) to 1.
    pub lambda: f64,
}

impl From<Traffic> for TrafficView {
    fn from(it: Traffic) -> Self {
        Self {
            mean: it.mean,
            se: it.se,
            interval: it.interval,
            naive: it.naive,
            n: it.n,
            n_eff: it.n_eff,
            population: it.population,
            covered: it.covered,
            error_rate: it.error_rate,
            if_errors_scored: it.if_errors_scored,
            strata: it.strata.into_iter().map(StratumView::from).collect(),
            warnings: it.warnings,
        }
    }
}

impl From<TrafficStratum> for StratumView {
    fn from(it: TrafficStratum) -> Self {
        Self {
            name: it.name,
            n_seen: it.n_seen,
            population: it.population,
            n: it.n,
            n_errors: it.n_errors,
            n_unjudged: it.n_unjudged,
            mean: it.mean,
            interval: it.interval,
            not_estimable: it.not_estimable,
        }
    }
}

impl From<CorrectedTraffic> for CorrectedView {
    fn from(it: CorrectedTraffic) -> Self {
        Self { mean: it.mean, se: it.se, interval: it.interval, n_labels: it.n_labels, lambda: it.lambda }
    }
}
