//! Judge scores against human scores: the mapping from one to the other, thresholds, reliability.

pub(super) mod mapping;
pub(super) mod reliability;
mod calibrate;

pub use calibrate::{
    Anchors, Calibration, DecisionRates, JudgeHumanScores, MIN_LABELS, Proof, Quality, Threshold,
    ValueWithInterval, calibrate, calibrate_held_out, calibrate_threshold, select_anchors,
};
pub use mapping::{Isotonic, Logistic, Mapping, MappingMethod, isotonic, logistic, platt_targets};
pub use reliability::{Bin, ReliabilitySummary, reliability};
