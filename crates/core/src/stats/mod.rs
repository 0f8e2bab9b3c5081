//! How far numbers can be trusted. Everything is a pure function; chance comes from a seed.

mod undefined;
mod varied;
mod numbers;
mod special;
mod standing;
mod regression;
mod bounded;
mod resample;
mod redrawn;
mod weighted_rows;
mod proportion;
mod ahead;
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
mod consensus;
mod glad;
mod panel;
mod compare;
mod effect;
mod power;
mod paired;
mod several;
mod bootstrap;
mod mapping;
mod reliability;
mod calibrate;
mod ppi;
mod rogan_gladen;
mod beside;
mod sample;
mod drawn;
mod sequence;
mod boundary;
mod drift;
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
    Agreement, AgreementInShort, MOST_RATERS, PairAgreement, PairInShort, PairMeasures, Without, agreement,
    agreement_by_criterion, agreement_in_short, percent, ratings_by_criterion,
};
pub use ahead::{Ahead, ahead};
pub use alignment::{
    Alignment, AnswerRates, Confusion as ConfusionMatrix, Disagreement, MeanMeasures, OneMorePerson,
    Standing, align,
};
pub use alpha::{alpha, alpha_with_interval};
pub use beside::{Beside, Labelled, Quantity, beside};
pub use bootstrap::{Bootstrap, Statistic, bootstrap, bootstrap_t};
pub use boundary::{NormalMixture, Sides, Stitched};
pub use calibrate::{
    Anchors, Calibration, Decisions, MIN_LABELS, Measured, Proof, Quality, Threshold, anchors, calibrate,
    calibrate_held_out, threshold,
};
pub use compare::{Comparison, Difference, WORTH_SEEING, compare};
pub use compute::{compute, compute_problem};
pub use compute_known::computable;
pub use consensus::{
    Consensus, Errors, Majority, Settled, SettledItem, Stop, Votes, agreement_with, dawid_skene, majority,
    settle,
};
pub use correlation::{
    Correlation, kendall, kendall_c, kendall_p_in_large_samples, pearson, somers_d, spearman,
};
pub use describe::{Description, ScoreField, ScoreTable, Scored, Warning, tenth, warnings};
pub use drawn::{Drawn, OfSample, of_sample};
pub use drift::{Alarm, Drift, Look, Watched, watch};
pub use effect::{cliffs_delta, cohen_d, cohen_h, hedges_g};
pub use elo::{Elo, WinRates, elo};
pub use forecast::{DaySum, Forecast, forecast};
pub use glad::{Abilities, glad};
pub use gwet::{ChanceModel, Corrected, Credit, corrected};
pub use icc::{Design, Icc, Unit, icc};
pub use kappa::{Kappa, Weights, cohen, cohen_error_by_chance, fleiss, fleiss_with_interval, randolph};
pub use mapping::{Isotonic, Logistic, Mapping, Method, isotonic, logistic, smoothed};
pub use measure::{Coefficient, Measure};
pub use paired::{
    Claim, MIN_PAIRS, McNemar, PairedComparison, PairedT, SignedRanks, Zeros, mcnemar, paired_comparison,
    paired_permutation_p, paired_t, permutation_p, sign_p, signed_ranks,
};
pub use panel::{ErrorPair, Member, Panel, effective_votes, panel};
pub use pass_k::{PassK, Tried, pass_k};
pub use power::{Aim, n_pairs, n_per_group, n_per_group_shares, n_per_group_shares_normal, n_to_detect};
pub use ppi::{Alternative, FEWEST_LABELS, MeanEstimate, PredictionPowered, prediction_powered};
pub use projection::{Dialled, MonthAhead, half_width, month_ahead};
pub use proportion::{Proportion, ProportionMethod, pass_rate, proportion};
pub use rank::{Model, Pair, Position, Preferred, Ranked, Ranking, Strength, Ties, bradley_terry};
pub use ratings::{Level, Ratings};
pub use reliability::{Bin, Reliability, reliability};
pub use rogan_gladen::{Confusion, CorrectedRate, corrected_rate};
pub use sample::{
    Kish, Stratified, Stratum, StratumEstimate, WeightedMean, dial, hajek, kish, stratified, weighted_mean,
};
pub use sequence::{Bound, Sequence};
pub use several::{Adjustment, Friedman, adjust, friedman};
pub use standing::{FirstWins, first_wins, order, strengths};
pub use summary::{Estimate, Flaky, Trials, estimates, trials};
pub use traffic::{
    Corrected as CorrectedTraffic, LabelledTrace, Sums, Traffic, TrafficSequence, TrafficStratum,
    TrafficSums, corrected as corrected_traffic, traffic,
};
pub use undefined::Undefined;
pub use varied::{Varied, VariedCell, varied};
