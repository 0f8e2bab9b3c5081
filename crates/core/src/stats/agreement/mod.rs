//! How far raters agree with each other, and a judge with people: kappa, alpha, AC1/AC2, ICC.

pub(super) mod ratings;
mod agreement_interval;
mod weighted_rows;
pub(super) mod alpha;
pub(super) mod kappa;
pub(super) mod gwet;
pub(super) mod icc;
pub(super) mod measure_agreement;
mod alignment;
mod conclusion;

pub use alignment::{
    Alignment, AnswerRates, ConfusionMatrix, Disagreement, HumanParity, MeanMeasures, OneMorePerson, align,
};
pub use alpha::{alpha, alpha_with_interval};
pub use conclusion::{AgreementConclusion, AgreementStrength, AlphaWithoutGrader, conclude_agreement};
pub use gwet::{ChanceCorrectedAgreement, ChanceModel, Credit, compute_chance_corrected_agreement};
pub use icc::{DegreesOfFreedom, Design, Icc, IccUnit, icc};
pub use kappa::{Kappa, KappaWeights, cohen, cohen_error_by_chance, fleiss, fleiss_with_interval, randolph};
pub use measure_agreement::{
    Agreement, AgreementSummary, LeaveOneOutAgreement, MOST_RATERS, PairAgreement, PairKappa, PairMeasures,
    agreement_by_criterion, measure_agreement, percent_agreement, ratings_by_criterion, summarise_agreement,
};
pub use ratings::{Level, Ratings};
