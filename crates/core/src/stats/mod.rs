//! How far numbers can be trusted. Everything is a pure function; chance comes from a seed.

mod undefined;
mod factor_table;
mod numbers;
mod special;
mod pairwise_ranking;
mod regression;
mod bounded;
mod resample;
mod agreement_interval;
mod weighted_rows;
mod proportion;
mod traffic_forecast;
mod forecast;
mod summary;
mod ratings;
mod measure;
mod kappa;
mod alpha;
mod gwet;
mod icc;
mod correlation;
mod agreement;
mod alignment;
mod compare_judges;
mod consensus;
mod glad;
mod panel;
mod compare;
mod history;
mod effect;
mod power;
mod paired;
mod multiple_comparisons;
mod bootstrap;
mod mapping;
mod reliability;
mod calibrate;
mod ppi;
mod rogan_gladen;
mod estimators;
mod sample;
mod sample_estimate;
mod sequence;
mod boundary;
mod drift;
mod fall_detector;
mod traffic;
mod projection;
mod pass_k;
mod describe;
mod rank;
mod elo;
mod compute;
mod compute_agreement;
mod compute_estimates;
mod compute_families;
mod compute_functions;
mod compute_known;
mod compute_ranking;
#[cfg(test)]
#[allow(clippy::print_stdout, reason = "the table of a long test is printed")]
mod coverage;

pub use agreement::{
    Agreement, AgreementSummary, LeaveOneOutAgreement, MOST_RATERS, PairAgreement, PairKappa, PairMeasures,
    agreement_by_criterion, measure_agreement, percent_agreement, ratings_by_criterion, summarise_agreement,
};
pub use alignment::{
    Alignment, AnswerRates, ConfusionMatrix, Disagreement, HumanParity, MeanMeasures, OneMorePerson, align,
};
pub use alpha::{alpha, alpha_with_interval};
pub use bootstrap::{Bootstrap, Statistic, bootstrap, bootstrap_t};
pub use boundary::{BoundarySides, NormalMixture, Stitched};
pub use calibrate::{
    Anchors, Calibration, DecisionRates, MIN_LABELS, Proof, Quality, Threshold, ValueWithInterval, calibrate,
    calibrate_held_out, calibrate_threshold, select_anchors,
};
pub use compare::{Comparison, Difference, WORTH_SEEING, compare_runs};
pub use compare_judges::{AgreementByItem, JudgeDifference, compare_judges};
pub use compute::{compute_problem, compute_statistic};
pub use compute_known::computable;
pub use consensus::{
    Consensus, Errors, ItemConsensus, Majority, QuestionConsensus, RaterVotes, StopRule, agreement_with,
    compute_consensus, dawid_skene, majority,
};
pub use correlation::{
    Correlation, kendall, kendall_c, kendall_p_in_large_samples, pearson, somers_d, spearman,
};
pub use describe::{
    ScoreDistribution, ScoreEntry, ScoreField, ScoreTable, Warning, find_score_warnings, tenth,
};
pub use drift::{Alarm, Drift, DriftReport, RunningMean, detect_drift};
pub use effect::{cliffs_delta, cohen_d, cohen_h, hedges_g};
pub use elo::{Elo, WinRates, elo};
pub use estimators::{EstimatedQuantity, EstimatorComparison, LabelledScores, compare_estimators};
pub use factor_table::{FactorCell, FactorTable, build_factor_table};
pub use fall_detector::{DailyScores, FallEvidence, find_fall};
pub use forecast::{DaySum, Forecast, forecast};
pub use glad::{Abilities, glad};
pub use gwet::{ChanceCorrectedAgreement, ChanceModel, Credit, compute_chance_corrected_agreement};
pub use history::{
    CaseFigure, HistoryChange, HistoryDirection, HistoryFigures, RunFigures, summarise_run_figures,
};
pub use icc::{Design, Icc, IccUnit, icc};
pub use kappa::{Kappa, KappaWeights, cohen, cohen_error_by_chance, fleiss, fleiss_with_interval, randolph};
pub use mapping::{Isotonic, Logistic, Mapping, MappingMethod, isotonic, logistic, platt_targets};
pub use measure::{Coefficient, CoefficientResult};
pub use multiple_comparisons::{Adjustment, Friedman, adjust, friedman};
pub use paired::{
    DifferenceClaim, MIN_PAIRS, McNemar, PairedComparison, PairedT, SignedRanks, Zeros, mcnemar,
    paired_comparison, paired_permutation_p, paired_t, permutation_p, sign_p, signed_ranks,
};
pub use pairwise_ranking::{FirstWins, estimate_strengths, first_wins, order_by_strength};
pub use panel::{ErrorPair, Panel, PanelMemberReport, effective_votes, evaluate_panel};
pub use pass_k::{PassK, TaskTrials, pass_k};
pub use power::{Aim, n_pairs, n_per_group, n_per_group_shares, n_per_group_shares_normal, n_to_detect};
pub use ppi::{Alternative, FEWEST_LABELS, MeanEstimate, PredictionPowered, prediction_powered};
pub use projection::{Dialled, MonthAhead, half_width, month_ahead};
pub use proportion::{Proportion, ProportionMethod, pass_rate, proportion};
pub use rank::{
    BradleyTerryModel, Pair, Position, Preferred, Ranked, Ranking, Strength, TieModel, fit_bradley_terry,
};
pub use ratings::{Level, Ratings};
pub use reliability::{Bin, ReliabilitySummary, reliability};
pub use rogan_gladen::{BinaryConfusion, CorrectedRate, corrected_rate};
pub use sample::{
    Kish, SampledStratum, Stratified, StratumEstimate, WeightedMean, estimate_dial_cost,
    estimate_stratified_mean, hajek, kish_effective_size, stratified_weighted_mean,
};
pub use sample_estimate::{SampleEstimate, SampledScore, estimate_sample_mean};
pub use sequence::{Sequence, SequenceBound};
pub use summary::{Estimate, Flaky, Trials, estimate_run_means, summarise_trials};
pub use traffic::{
    CorrectedTraffic, LabelledTrace, Traffic, TrafficSequence, TrafficStratum, TrafficSums,
    WeightedScoreSums, correct_traffic_mean as corrected_traffic, estimate_traffic_mean,
};
pub use traffic_forecast::{Ahead, ahead};
pub use undefined::Undefined;
