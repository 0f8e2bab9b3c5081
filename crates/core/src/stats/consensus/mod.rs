//! One answer out of the answers of several raters, and how good each rater is.

pub(super) mod votes;
pub(super) mod glad;
mod panel;

pub use glad::{Abilities, glad};
pub use panel::{ErrorPair, Panel, PanelMemberReport, effective_votes, evaluate_panel};
pub use votes::{
    Consensus, Errors, ItemConsensus, Majority, QuestionConsensus, RaterVote, RaterVotes, StopRule,
    agreement_with, compute_consensus, dawid_skene, majority,
};
