//! How far numbers can be trusted. Everything is a pure function; chance comes from a seed.

mod compare;
mod resample;
mod special;
mod summary;

pub use compare::{Comparison, Difference, StatusChange, compare};
pub use summary::{Estimate, Flaky, Trials, estimates, trials};
