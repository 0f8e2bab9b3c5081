//! Each statistic by its name on plain JSON, as reference packages are asked for them.

mod known;
mod agreement;
mod estimates;
mod families;
mod functions;
mod ranking;
mod compute;

pub use compute::{compute_problem, compute_statistic};
pub use known::computable;
