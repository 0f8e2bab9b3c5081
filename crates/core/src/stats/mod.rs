//! How far numbers can be trusted. Everything is a pure function; chance comes from a seed.

mod compare;
mod compute;
mod compute_ranking;
mod describe;
mod rank;
mod resample;
mod special;
mod summary;
mod undefined;

pub use compare::{Comparison, Difference, StatusChange, compare};
pub use compute::compute;
pub use describe::{
    Description, Scored, Warning, by_criterion, by_field, describe, tenth, warnings, weighted,
};
pub use rank::{
    Elo, Model, Pair, Position, Preferred, Ranked, Ranking, Strength, Ties, WinRates, bradley_terry, elo,
};
pub use summary::{Estimate, Flaky, Trials, estimates, trials};
pub use undefined::Undefined;
