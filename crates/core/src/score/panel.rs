//! Several members answering the same rubric: panels of models, juries of one, people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SLACK;
use crate::grade::{Status, UndecidedGate, Verdict};
use crate::suite::{Aggregate, TieBreak};

/// How members' verdicts become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Combine {
    /// Their scores, or their passes, are combined; gates hold for a majority.
    Panel { aggregate: Aggregate, tie_break: TieBreak },
    /// At least this share of members must pass.
    Jury { consensus: f64 },
}

/// What a panel says about one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelVerdict {
    pub status: Status,
    /// The mean of the members' scores.
    pub score: Option<f64>,
    /// What was held against the pass mark, where it is not the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    pub members: u32,
    /// Members that came to a verdict; the others abstained.
    pub voters: u32,
    pub passes: u32,
    /// Voters with a failed gate.
    pub gated: u32,
    /// Share of pairs of voters that agree on pass or fail; absent with fewer than two.
    pub agreement: Option<f64>,
    /// Gates that members could not decide, where that leaves the panel without a verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided_gates: Vec<UndecidedGate>,
}

/// Combines members that were each scored and gated by themselves.
pub fn panel(members: &[Verdict], combine: Combine, pass_mark: f64) -> PanelVerdict {
    let voters: Vec<&Verdict> =
        members.iter().filter(|it| matches!(it.status, Status::Pass | Status::Fail)).collect();
    let n_passes = voters.iter().filter(|it| it.status == Status::Pass).count();
    let n_gated = voters.iter().filter(|it| !it.failed_gates.is_empty()).count();
    let mut scores: Vec<f64> = voters.iter().filter_map(|it| it.score).collect();
    let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    let middle = match combine {
        Combine::Panel { aggregate: Aggregate::Median, .. } => median(&mut scores),
        _ => None,
    };
    // As many votes against as could still be cast.
    let passes = |n_against: usize| match combine {
        Combine::Jury { consensus } => {
            consensus <= n_passes as f64 / (voters.len() + n_against).max(1) as f64 + SLACK
        }
        Combine::Panel { aggregate: Aggregate::Majority, tie_break } => {
            outvotes(n_passes, voters.len() - n_passes + n_against, tie_break)
        }
        Combine::Panel { tie_break, .. } => {
            let combined = middle.or(mean);
            // Without a score all voters passed vacuously, or failed at a gate.
            let reaches = combined.map_or(n_passes == voters.len(), |it| pass_mark <= it + SLACK);
            reaches && outvotes(voters.len() - n_gated, n_gated + n_against, tie_break)
        }
    };
    let n_undecided = members.iter().filter(|it| could_not_decide(it)).count();
    let waiting = || {
        let any_error = members.iter().any(|it| it.status == Status::Error);
        if any_error || members.is_empty() { Status::Error } else { Status::Deferred }
    };
    let status = if voters.is_empty() || 2 * voters.len() < members.len() {
        waiting()
    } else if passes(n_undecided) {
        Status::Pass
    } else if passes(0) {
        // The members that could not decide a gate could turn the verdict.
        waiting()
    } else {
        Status::Fail
    };
    let decided = matches!(status, Status::Pass | Status::Fail);
    PanelVerdict {
        status,
        score: mean.filter(|_| decided),
        median: middle.filter(|_| decided),
        members: members.len() as u32,
        voters: voters.len() as u32,
        passes: n_passes as u32,
        gated: n_gated as u32,
        agreement: agreement(n_passes, voters.len()),
        undecided_gates: if decided { Vec::new() } else { undecided(members) },
    }
}

fn could_not_decide(member: &Verdict) -> bool {
    !matches!(member.status, Status::Pass | Status::Fail) && !member.undecided_gates.is_empty()
}

/// Every gate that a member could not decide, once.
fn undecided(members: &[Verdict]) -> Vec<UndecidedGate> {
    let mut gates: Vec<UndecidedGate> = Vec::new();
    for gate in members.iter().filter(|it| could_not_decide(it)).flat_map(|it| &it.undecided_gates) {
        if !gates.contains(gate) {
            gates.push(gate.clone());
        }
    }
    gates
}

fn outvotes(for_it: usize, against: usize, tie_break: TieBreak) -> bool {
    against < for_it || (for_it == against && tie_break == TieBreak::Pass)
}

fn median(scores: &mut [f64]) -> Option<f64> {
    scores.sort_by(f64::total_cmp);
    let middle = scores.len() / 2;
    match scores.len() {
        0 => None,
        n if n % 2 == 1 => Some(scores[middle]),
        _ => Some(f64::midpoint(scores[middle - 1], scores[middle])),
    }
}

fn agreement(n_passes: usize, n_voters: usize) -> Option<f64> {
    let pairs = |n: usize| (n * n.saturating_sub(1) / 2) as f64;
    (2 <= n_voters).then(|| (pairs(n_passes) + pairs(n_voters - n_passes)) / pairs(n_voters))
}
