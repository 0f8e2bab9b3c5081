//! Whether two runs, two judges or several agents differ, and how many cases it takes to see that.

pub(super) mod paired;
pub(super) mod multiple_comparisons;
pub(super) mod effect;
pub(super) mod power;
mod regression;
pub(super) mod compare;
mod compare_judges;
mod history;

pub use compare::{Comparison, Difference, WORTH_SEEING, compare_runs};
pub use compare_judges::{AgreementByItem, JudgeDifference, compare_judges};
pub use effect::{cliffs_delta, cohen_d, cohen_h, hedges_g};
pub use history::{
    CaseFigure, HistoryChange, HistoryDirection, HistoryFigures, RunFigures, summarise_run_figures,
};
pub use multiple_comparisons::{Adjustment, Friedman, adjust, friedman};
pub use paired::{
    DifferenceClaim, MIN_PAIRS, McNemar, PairedComparison, PairedT, SignedRanks, Zeros, mcnemar,
    paired_comparison, paired_permutation_p, paired_t, permutation_p, sign_p, signed_ranks,
};
pub use power::{Aim, n_pairs, n_per_group, n_per_group_shares, n_per_group_shares_normal, n_to_detect};
