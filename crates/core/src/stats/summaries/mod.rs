//! What the scores of one run or one table show: means, trials, pass@k, distributions, cells by factor.

pub(super) mod summary;
mod describe;
mod factor_table;
pub(super) mod pass_k;

pub use describe::{
    ScoreDistribution, ScoreEntry, ScoreField, ScoreTable, Warning, find_score_warnings, tenth,
};
pub use factor_table::{FactorCell, FactorKey, FactorTable, build_factor_table};
pub use pass_k::{PassK, TaskTrials, pass_k};
pub use summary::{
    Estimate, Flaky, Trials, estimate_pass_rate, estimate_run_means, estimate_run_pass_rate, summarise_trials,
};
