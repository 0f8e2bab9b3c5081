//! Means of a whole from a part of it: samples with known rates, and judge scores corrected by human labels.

pub(super) mod ppi;
pub(super) mod rogan_gladen;
pub(super) mod estimators;
pub(super) mod sample;
mod sample_estimate;

pub use estimators::{EstimatedQuantity, EstimatorComparison, LabelledScores, compare_estimators};
pub use ppi::{Alternative, FEWEST_LABELS, MeanEstimate, PredictionPowered, prediction_powered};
pub use rogan_gladen::{BinaryConfusion, CorrectedRate, corrected_rate};
pub use sample::{
    Kish, SampledStratum, Stratified, StratumEstimate, WeightedMean, estimate_dial_cost,
    estimate_stratified_mean, hajek, kish_effective_size, stratified_weighted_mean,
};
pub use sample_estimate::{SampleEstimate, SampledScore, estimate_sample_mean};
