//! Cost estimate before any model is called.

use jurist_core::plan::CallRange;

use super::{JudgeModel, ResolvedJudges};

/// Estimated tokens of the prompt around a candidate plus a reply.
const TOKENS_AROUND: usize = 600;
const TOKENS_OUT: f64 = 150.0;

/// Estimate for one candidate, without repairs and escalation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CandidateCostEstimate {
    /// Upper estimate.
    pub tokens: f64,
    /// Lowest and highest cost in dollars; `None` if a price is unknown.
    pub cost: Option<(f64, f64)>,
}

/// Estimates the cost of a candidate by its bytes, at about four bytes per token.
pub fn estimate_candidate_cost(
    judges: &ResolvedJudges,
    bytes: usize,
    calls: CallRange,
) -> CandidateCostEstimate {
    let tokens_in = (bytes / 4 + TOKENS_AROUND) as f64;
    // Each judge is assumed to answer the same number of questions.
    let of = |member: &JudgeModel| {
        member.line.price.map(|price| (tokens_in * price.input + TOKENS_OUT * price.output) / 1e6)
    };
    let all: Option<f64> = judges.judges().map(of).sum();
    let one = all.map(|value| value / judges.judges().count().max(1) as f64);
    let cost = |n: u32| if n == 0 { Some(0.0) } else { one.map(|one| one * f64::from(n)) };
    CandidateCostEstimate {
        tokens: f64::from(calls.most) * (tokens_in + TOKENS_OUT),
        cost: cost(calls.least).zip(cost(calls.most)),
    }
}
