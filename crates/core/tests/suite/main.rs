//! Files of every dialect, simulated alerts, and results beside those of other packages.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod alert_simulation;
mod dialects;
mod fuzz;
mod shared_agreement;
mod shared_data;
mod shared_estimates;
mod shared_ranking;
mod shared_traces;
