//! What every other folder computes with: usable numbers, special functions, intervals, seeded chance, proportions, the
//! bootstrap and correlation.

pub(super) mod undefined;
pub(super) mod numbers;
pub(super) mod special;
pub(super) mod bounded;
pub(super) mod resample;
pub(super) mod measure;
pub(super) mod proportion;
pub(super) mod bootstrap;
pub(super) mod correlation;

pub use bootstrap::{Bootstrap, Statistic, bootstrap, bootstrap_t};
pub use correlation::{
    Correlation, kendall, kendall_c, kendall_p_in_large_samples, pearson, somers_d, spearman,
};
pub use measure::{Coefficient, CoefficientResult};
pub use proportion::{Proportion, ProportionMethod, pass_rate, proportion};
pub use undefined::Undefined;
