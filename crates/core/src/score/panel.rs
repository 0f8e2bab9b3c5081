//! Several members answering the same rubric: panels of models, juries of one, people.

use super::SLACK;
use crate::grade::{PanelVerdict, UndecidedGate, Verdict, VerdictStatus};
use crate::suite::{Aggregate, TieBreak};

/// How members' verdicts become one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Combine {
    /// Their scores, or their passes, are combined; gates hold for a majority.
    Panel { aggregate: Aggregate, tie_break: TieBreak },
    /// At least this share of members must pass.
    Jury { consensus: f64 },
}

/// Combines members that were each scored and gated by themselves.
pub fn combine_panel(members: &[Verdict], combine: Combine, pass_mark: f64) -> PanelVerdict {
    let voters: Vec<&Verdict> = members
        .iter()
        .filter(|verdict| matches!(verdict.status, VerdictStatus::Pass | VerdictStatus::Fail))
        .collect();
    let n_passes = voters.iter().filter(|verdict| verdict.status == VerdictStatus::Pass).count();
    let n_gated = voters.iter().filter(|verdict| !verdict.failed_gates.is_empty()).count();
    let mut scores: Vec<f64> = voters.iter().filter_map(|verdict| verdict.score).collect();
    let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    let middle = match combine {
        Combine::Panel { aggregate: Aggregate::Median, .. } => median_score(&mut scores),
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
            let reaches = combined.map_or(n_passes == voters.len(), |value| pass_mark <= value + SLACK);
            reaches && outvotes(voters.len() - n_gated, n_gated + n_against, tie_break)
        }
    };
    let n_undecided = members.iter().filter(|verdict| could_not_decide(verdict)).count();
    let waiting = || {
        let any_error = members.iter().any(|verdict| verdict.status == VerdictStatus::Error);
        if any_error || members.is_empty() { VerdictStatus::Error } else { VerdictStatus::Deferred }
    };
    let status = if voters.is_empty() || 2 * voters.len() < members.len() {
        waiting()
    } else if passes(n_undecided) {
        VerdictStatus::Pass
    } else if passes(0) {
        // The members that could not decide a gate could turn the verdict.
        waiting()
    } else {
        VerdictStatus::Fail
    };
    let decided = matches!(status, VerdictStatus::Pass | VerdictStatus::Fail);
    // The last member's units are not the panel's, and a mean needs all of them.
    let natives: Option<Vec<f64>> = voters.iter().map(|verdict| verdict.native).collect();
    let natives = natives.filter(|all| decided && !all.is_empty());
    let votes = PanelVotes { n_members: members.len(), n_voters: voters.len(), n_passes, n_gated };
    PanelVerdict {
        status,
        score: mean.filter(|_| decided),
        median: middle.filter(|_| decided),
        native: natives.map(|all| all.iter().sum::<f64>() / all.len() as f64),
        why: match status {
            VerdictStatus::Pass => None,
            VerdictStatus::Fail => Some(explain_failure(votes, combine, middle.or(mean), pass_mark)),
            VerdictStatus::Error | VerdictStatus::Deferred => {
                Some(format!("{} of {} members gave a verdict", votes.n_voters, votes.n_members))
            }
        },
        members: members.len() as u32,
        voters: voters.len() as u32,
        passes: n_passes as u32,
        gated: n_gated as u32,
        agreement: pairwise_agreement(n_passes, voters.len()),
        undecided_gates: if decided { Vec::new() } else { collect_undecided_gates(members) },
    }
}

fn could_not_decide(member: &Verdict) -> bool {
    !matches!(member.status, VerdictStatus::Pass | VerdictStatus::Fail) && !member.undecided_gates.is_empty()
}

/// Every gate that a member could not decide, once.
fn collect_undecided_gates(members: &[Verdict]) -> Vec<UndecidedGate> {
    let mut gates: Vec<UndecidedGate> = Vec::new();
    for gate in members
        .iter()
        .filter(|verdict| could_not_decide(verdict))
        .flat_map(|verdict| &verdict.undecided_gates)
    {
        if !gates.contains(gate) {
            gates.push(gate.clone());
        }
    }
    gates
}

/// How the members of a panel voted.
#[derive(Clone, Copy)]
struct PanelVotes {
    n_members: usize,
    n_voters: usize,
    n_passes: usize,
    n_gated: usize,
}

/// Why the votes of a panel are a failure, in a line.
fn explain_failure(votes: PanelVotes, combine: Combine, combined: Option<f64>, pass_mark: f64) -> String {
    let PanelVotes { n_voters, n_passes, n_gated, .. } = votes;
    let passes = format!("{n_passes} of {n_voters} members passed it");
    match (combine, combined) {
        (Combine::Jury { consensus }, _) => {
            let n_needed = (consensus * n_voters as f64 - SLACK).ceil();
            format!("{passes}; {n_needed} have to")
        }
        (Combine::Panel { aggregate: Aggregate::Majority, .. }, _) if 2 * n_passes == n_voters => {
            format!("{passes}; a tie fails")
        }
        (Combine::Panel { aggregate: Aggregate::Majority, .. }, _) => format!("{passes}; a majority has to"),
        (Combine::Panel { .. }, None) => format!("{passes}; all have to"),
        (Combine::Panel { aggregate, .. }, Some(combined)) if combined + SLACK < pass_mark => {
            let name = if aggregate == Aggregate::Median { "median" } else { "mean" };
            format!("the {name} of {n_voters} members is {combined:.2}, below the pass mark {pass_mark:.2}")
        }
        (Combine::Panel { .. }, Some(_)) => format!("a gate failed for {n_gated} of {n_voters} members"),
    }
}

fn outvotes(for_it: usize, against: usize, tie_break: TieBreak) -> bool {
    against < for_it || (for_it == against && tie_break == TieBreak::Pass)
}

fn median_score(scores: &mut [f64]) -> Option<f64> {
    scores.sort_by(f64::total_cmp);
    let middle = scores.len() / 2;
    match scores.len() {
        0 => None,
        n if n % 2 == 1 => Some(scores[middle]),
        _ => Some(f64::midpoint(scores[middle - 1], scores[middle])),
    }
}

fn pairwise_agreement(n_passes: usize, n_voters: usize) -> Option<f64> {
    let pairs = |n: usize| (n * n.saturating_sub(1) / 2) as f64;
    (2 <= n_voters).then(|| (pairs(n_passes) + pairs(n_voters - n_passes)) / pairs(n_voters))
}
