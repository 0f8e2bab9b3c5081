//! What grading is likely to cost, before anybody is asked.

use jurist_core::plan::CallRange;

use super::{JudgeModel, ResolvedJudges};

/// Our own words around a candidate, and a reply.
const TOKENS_AROUND: usize = 600;
const TOKENS_OUT: f64 = 150.0;

/// What one candidate takes; repairs and a stronger judge come on top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateCostEstimate {
    /// At most.
    pub tokens: f64,
    /// Dollars, the least and the most; `None` where a price is not known.
    pub cost: Option<(f64, f64)>,
}

/// Of a candidate of so many bytes, at about four of them to a token.
pub fn estimate_candidate_cost(
    bench: &ResolvedJudges,
    bytes: usize,
    calls: CallRange,
) -> CandidateCostEstimate {
    let tokens_in = (bytes / 4 + TOKENS_AROUND) as f64;
    // Each of them answers as many.
    let of = |member: &JudgeModel| {
        member.line.price.map(|price| (tokens_in * price.input + TOKENS_OUT * price.output) / 1e6)
    };
    let all: Option<f64> = bench.members.iter().map(of).sum();
    let one = all.map(|value| value / bench.members.len().max(1) as f64);
    let cost = |n: u32| if n == 0 { Some(0.0) } else { one.map(|one| one * f64::from(n)) };
    CandidateCostEstimate {
        tokens: f64::from(calls.most) * (tokens_in + TOKENS_OUT),
        cost: cost(calls.least).zip(cost(calls.most)),
    }
}
