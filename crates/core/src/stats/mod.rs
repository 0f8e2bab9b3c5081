//! How far numbers can be trusted. Everything is a pure function; chance comes from a seed.

mod agreement;
mod alignment;
mod alpha;
mod compare;
mod compute;
mod compute_agreement;
mod consensus;
mod correlation;
mod glad;
mod gwet;
mod icc;
mod kappa;
mod measure;
mod panel;
mod ratings;
mod resample;
mod special;
mod summary;
mod undefined;

pub use agreement::{
    Agreement, PairAgreement, PairMeasures, Without, agreement, agreement_by_criterion, percent,
    ratings_by_criterion,
};
pub use alignment::{
    Alignment, AnswerRates, Confusion, Disagreement, MeanMeasures, OneMorePerson, Standing, align,
};
pub use alpha::{alpha, alpha_with_interval};
pub use compare::{Comparison, Difference, StatusChange, compare};
pub use compute::compute;
pub use consensus::{
    Consensus, Errors, Majority, Settled, SettledItem, Stop, Votes, agreement_with, dawid_skene, majority,
    settle,
};
pub use correlation::{
    Correlation, kendall, kendall_c, kendall_p_in_large_samples, pearson, somers_d, spearman,
};
pub use glad::{Abilities, glad};
pub use gwet::{ChanceModel, Corrected, Credit, corrected};
pub use icc::{Design, Icc, Unit, icc};
pub use kappa::{Kappa, Weights, cohen, cohen_error_by_chance, fleiss, fleiss_with_interval, randolph};
pub use measure::{Coefficient, Measure};
pub use panel::{ErrorPair, Member, Panel, panel};
pub use ratings::{Level, Ratings};
pub use summary::{Estimate, Flaky, Trials, estimates, trials};
pub use undefined::Undefined;
