//! How far numbers can be trusted. Everything is a pure function; chance comes from a seed.
//!
//! Callers import from the folder. A folder uses only those above it in this list; tests may use any.

pub mod basics;
pub mod summaries;
pub mod agreement;
pub mod consensus;
pub mod comparison;
pub mod calibration;
pub mod sampling;
pub mod monitoring;
pub mod ranking;
pub mod by_name;
#[allow(clippy::print_stdout, reason = "the table of a long test is printed")]
mod coverage;
