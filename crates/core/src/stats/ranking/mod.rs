//! An order of agents out of pairwise answers: Bradley–Terry strengths, Elo, win rates.

pub(super) mod rank;
mod pairwise_ranking;
mod elo;

pub use elo::{Elo, WinRates, elo};
pub use pairwise_ranking::{FirstWins, estimate_strengths, first_wins, order_by_strength};
pub use rank::{
    BradleyTerryModel, Pair, Position, Preferred, Ranked, Ranking, Strength, TieModel, fit_bradley_terry,
};
