//! Figures of traffic over time: means, bounds that hold at every moment, drift, falls, forecasts.

pub(super) mod sequence;
pub(super) mod boundary;
mod drift;
pub(super) mod traffic;
mod fall_detector;
mod traffic_forecast;
mod forecast;
mod projection;

pub use boundary::{BoundarySides, NormalMixture, Stitched};
pub use drift::{Alarm, Drift, DriftReport, RunningMean, detect_drift};
pub use fall_detector::{DailyScores, FallEvidence, find_fall};
pub use forecast::{DaySum, Forecast, forecast};
pub use projection::{Dialled, MonthAhead, half_width, month_ahead};
pub use sequence::{Sequence, SequenceBound};
pub use traffic::{
    CorrectedTraffic, LabelledTrace, Traffic, TrafficSequence, TrafficStratum, TrafficSums,
    WeightedScoreSums, correct_traffic_mean, estimate_traffic_mean,
};
pub use traffic_forecast::{SumForecast, forecast_sum};
