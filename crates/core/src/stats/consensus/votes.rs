//! One answer out of many raters': by majority, or by Dawid and Skene.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::agreement::ratings::Ratings;
use crate::stats::basics::undefined::Undefined;

/// One answer of one rater to one item; all are places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaterVote {
    pub rater: usize,
    pub item: usize,
    pub answer: usize,
}

/// Who gave which answer to which item. A rater may vote on an item more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaterVotes {
    pub(crate) n_raters: usize,
    pub(crate) n_items: usize,
    pub(crate) n_answers: usize,
    pub(crate) votes: Vec<RaterVote>,
}

impl RaterVotes {
    /// Every item has a vote.
    pub fn new(
        n_raters: usize,
        n_items: usize,
        n_answers: usize,
        votes: Vec<RaterVote>,
    ) -> Result<Self, Undefined> {
        let mut voted = vec![false; n_items];
        for vote in &votes {
            if n_raters <= vote.rater || n_items <= vote.item || n_answers <= vote.answer {
                return Undefined::because("a vote refers to an unknown rater, item or answer");
            }
            voted[vote.item] = true;
        }
        if votes.is_empty() || voted.contains(&false) {
            return Undefined::because("some items have no votes");
        }
        Ok(Self { n_raters, n_items, n_answers, votes })
    }

    /// The items that have a rating, and which ones they are.
    pub fn of(ratings: &Ratings) -> Result<(Self, Vec<usize>), Undefined> {
        let all = |item: usize| (0..ratings.n_raters()).filter_map(move |n| Some((n, ratings.get(item, n)?)));
        let rated: Vec<usize> = (0..ratings.n_items()).filter(|n| all(*n).next().is_some()).collect();
        let votes = rated
            .iter()
            .enumerate()
            .flat_map(|(item, n)| all(*n).map(move |(rater, answer)| RaterVote { rater, item, answer }));
        let votes = Self::new(ratings.n_raters(), rated.len(), ratings.n_answers(), votes.collect())?;
        Ok((votes, rated))
    }

    /// Of each item, how its votes are shared out among the answers.
    fn shares(&self) -> Vec<Vec<f64>> {
        let mut counts = vec![vec![0.0; self.n_answers]; self.n_items];
        for vote in &self.votes {
            counts[vote.item][vote.answer] += 1.0;
        }
        counts.iter_mut().for_each(|count| normalise_shares(count));
        counts
    }
}

/// The answer of most raters about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Majority {
    /// Among several with as many votes, the first in the order of the scale.
    pub answer: usize,
    pub is_tied: bool,
}

pub fn majority(votes: &RaterVotes) -> Vec<Majority> {
    let winner = |shares: Vec<f64>| {
        let answer = largest(&shares);
        let is_tied = shares.iter().filter(|share| (**share - shares[answer]).abs() < 1e-12).count() != 1;
        Majority { answer, is_tied }
    };
    votes.shares().into_iter().map(winner).collect()
}

/// Of each rater, the share of votes that go with the consensus; `None` for one who did not vote.
pub fn agreement_with(votes: &RaterVotes, consensus: &[usize]) -> Vec<Option<f64>> {
    let (mut same, mut all) = (vec![0.0; votes.n_raters], vec![0.0; votes.n_raters]);
    for vote in &votes.votes {
        same[vote.rater] += f64::from(u8::from(vote.answer == consensus[vote.item]));
        all[vote.rater] += 1.0;
    }
    same.into_iter().zip(all).map(|(same, all)| (0.0 < all).then(|| same / all)).collect()
}

/// How raters err.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// Each true answer is mistaken in its own way (Dawid and Skene 1979).
    Confusion,
    /// A rater is right with one chance, whatever the answer.
    OneCoin,
}

/// What is most likely true, given that raters are not equally reliable.
#[derive(Debug, Clone, PartialEq)]
pub struct Consensus {
    /// Of each item, the chance of each answer to be true.
    pub beliefs: Vec<Vec<f64>>,
    /// The share of each answer among what is true.
    pub prior: Vec<f64>,
    /// Of each rater, by what is true: how often they say what.
    pub confusion: Vec<Vec<Vec<f64>>>,
    /// Of each rater, the chance of being right.
    pub reliability: Vec<f64>,
}

impl Consensus {
    pub fn answers(&self) -> Vec<usize> {
        self.beliefs.iter().map(|belief| largest(belief)).collect()
    }
}

/// When expectation and maximisation have gone on for long enough; after a hundred rounds in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRule {
    /// The likelihood has stopped changing.
    Settled,
    /// As crowd-kit does, rounds earlier: its bound counts the prior once for each vote and so begins to fall
    /// while the likelihood still grows.
    LikeCrowdKit,
}

/// Expectation and maximisation in turns, from how the votes are shared out.
pub fn dawid_skene(votes: &RaterVotes, errors: Errors, stop: StopRule) -> Consensus {
    let maximise = |beliefs: &[Vec<f64>]| match errors {
        Errors::Confusion => (prior(beliefs), estimate_confusion_matrices(votes, beliefs)),
        Errors::OneCoin => (prior(beliefs), one_coin(votes, beliefs)),
    };
    let mut beliefs = votes.shares();
    let (mut prior, mut confusion) = maximise(&beliefs);
    let mut before = f64::NEG_INFINITY;
    for n_rounds in 1.. {
        let likelihood = expect(votes, &prior, &confusion, &mut beliefs);
        if stop == StopRule::Settled && ((likelihood - before).abs() < 1e-6 || n_rounds == 100) {
            break;
        }
        before = if stop == StopRule::Settled { likelihood } else { before };
        (prior, confusion) = maximise(&beliefs);
        if stop == StopRule::LikeCrowdKit {
            let bound = evidence_lower_bound(votes, &prior, &confusion, &beliefs);
            if bound - before < 1e-5 || n_rounds == 100 {
                break;
            }
            before = bound;
        }
    }
    let right = |valueses: &Vec<Vec<f64>>| prior.iter().enumerate().map(|(at, p)| p * valueses[at][at]).sum();
    let reliability = confusion.iter().map(right).collect();
    Consensus { beliefs, prior, confusion, reliability }
}

/// What crowd-kit watches, for each vote.
fn evidence_lower_bound(
    votes: &RaterVotes,
    prior: &[f64],
    confusion: &[Vec<Vec<f64>>],
    beliefs: &[Vec<f64>],
) -> f64 {
    let times_log = |share: f64, value: f64| if 0.0 < share { share * value.max(1e-10).ln() } else { 0.0 };
    let of_vote = |vote: &RaterVote| {
        let all = beliefs[vote.item].iter().zip(prior).zip(&confusion[vote.rater]);
        all.map(|((belief, prior), row)| times_log(*belief, prior * row[vote.answer])).sum::<f64>()
    };
    let surprise: f64 = beliefs.iter().flatten().map(|belief| times_log(*belief, *belief)).sum();
    (votes.votes.iter().map(of_vote).sum::<f64>() - surprise) / votes.votes.len() as f64
}

fn prior(beliefs: &[Vec<f64>]) -> Vec<f64> {
    let mut prior = vec![0.0; beliefs[0].len()];
    for belief in beliefs {
        prior.iter_mut().zip(belief).for_each(|(sum, value)| *sum += value);
    }
    normalise_shares(&mut prior);
    prior
}

fn estimate_confusion_matrices(votes: &RaterVotes, beliefs: &[Vec<f64>]) -> Vec<Vec<Vec<f64>>> {
    let mut confusion = vec![vec![vec![0.0; votes.n_answers]; votes.n_answers]; votes.n_raters];
    for vote in &votes.votes {
        for (row, belief) in confusion[vote.rater].iter_mut().zip(&beliefs[vote.item]) {
            row[vote.answer] += belief;
        }
    }
    // Of a true answer that a rater never met, nothing is known.
    confusion.iter_mut().flatten().for_each(|confusion| normalise_shares(confusion));
    confusion
}

fn one_coin(votes: &RaterVotes, beliefs: &[Vec<f64>]) -> Vec<Vec<Vec<f64>>> {
    let n = votes.n_answers;
    let (mut right, mut all) = (vec![0.0; votes.n_raters], vec![0.0; votes.n_raters]);
    for vote in &votes.votes {
        right[vote.rater] += beliefs[vote.item][vote.answer];
        all[vote.rater] += 1.0;
    }
    let table = |(right, all): (f64, f64)| {
        // A probability of 1 could never change again, whatever the other answers are.
        let right = if 0.0 < all { (right / all).clamp(1e-10, 1.0 - 1e-10) } else { 1.0 / n as f64 };
        let wrong = (1.0 - right) / (n.max(2) - 1) as f64;
        (0..n).map(|a| (0..n).map(|b| if a == b { right } else { wrong }).collect()).collect()
    };
    right.into_iter().zip(all).map(table).collect()
}

/// Updates the beliefs and returns the logarithm of the likelihood.
fn expect(votes: &RaterVotes, prior: &[f64], confusion: &[Vec<Vec<f64>>], beliefs: &mut [Vec<f64>]) -> f64 {
    for belief in beliefs.iter_mut() {
        belief.iter_mut().zip(prior).for_each(|(value, prior)| *value = prior.ln());
    }
    for vote in &votes.votes {
        for (belief, row) in beliefs[vote.item].iter_mut().zip(&confusion[vote.rater]) {
            *belief += row[vote.answer].ln();
        }
    }
    beliefs.iter_mut().map(|belief| exponentiate(belief)).sum()
}

/// Turns logarithms into shares without running out of small numbers; returns the logarithm of their sum.
pub(crate) fn exponentiate(logs: &mut [f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        logs.fill(1.0 / logs.len() as f64);
        return 0.0;
    }
    logs.iter_mut().for_each(|log| *log = (*log - most).exp());
    let sum: f64 = logs.iter().sum();
    logs.iter_mut().for_each(|log| *log /= sum);
    most + sum.ln()
}

/// Makes a sum of 1; equal shares of nothing.
fn normalise_shares(values: &mut [f64]) {
    let (sum, n) = (values.iter().sum::<f64>(), values.len() as f64);
    values.iter_mut().for_each(|value| *value = if 0.0 < sum { *value / sum } else { 1.0 / n });
}

/// The first of the largest.
pub(crate) fn largest(values: &[f64]) -> usize {
    (0..values.len()).rev().max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0)
}

/// The consensus of all raters on one question, with how reliable each of them is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionConsensus {
    pub items: Vec<ItemConsensus>,
    /// By rater, the chance of being right.
    pub reliability: BTreeMap<String, f64>,
    /// By rater, the share of answers that go with the majority, of items that have one.
    pub with_majority: BTreeMap<String, f64>,
}

/// What raters together say of an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemConsensus {
    pub item: String,
    /// By Dawid and Skene.
    pub answer: String,
    pub confidence: f64,
    /// How many rated it.
    pub n: usize,
    /// Absent if two answers have equally many votes, or if there is only one vote.
    pub majority: Option<String>,
}

pub fn compute_consensus(ratings: &Ratings) -> Result<QuestionConsensus, Undefined> {
    let (votes, rated) = RaterVotes::of(ratings)?;
    let (consensus, most) = (dawid_skene(&votes, Errors::Confusion, StopRule::Settled), majority(&votes));
    let n_votes: Vec<usize> = rated.iter().map(|rated| ratings.answers_of_item(*rated).count()).collect();
    // One alone is always of one mind with itself.
    let has_majority = |at: usize| 1 < n_votes[at] && !most[at].is_tied;
    let items = rated.iter().zip(consensus.answers()).enumerate().map(|(at, (item, answer))| ItemConsensus {
        item: ratings.item(*item),
        answer: ratings.label(answer),
        confidence: consensus.beliefs[at][answer],
        n: n_votes[at],
        majority: has_majority(at).then(|| ratings.label(most[at].answer)),
    });
    let names = || ratings.raters().iter().cloned();
    let winners: Vec<usize> = most.iter().map(|majority| majority.answer).collect();
    let judged = votes.votes.iter().copied().filter(|vote| has_majority(vote.item)).collect();
    let with_majority = agreement_with(&RaterVotes { votes: judged, ..votes.clone() }, &winners);
    let has_voted = |rater: usize| votes.votes.iter().any(|vote| vote.rater == rater);
    Ok(QuestionConsensus {
        items: items.collect(),
        reliability: names()
            .zip(&consensus.reliability)
            .enumerate()
            .filter(|(rater, _)| has_voted(*rater))
            .map(|(_, (name, value))| (name, *value))
            .collect(),
        with_majority: names().zip(with_majority).filter_map(|(name, value)| Some((name, value?))).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::agreement::ratings::tests::ratings;

    #[test]
    fn a_majority_may_be_tied() {
        let (votes, rated) = RaterVotes::of(&ratings("1 2 . 1\n 1 1 . 2\n 2 1 . .")).unwrap();
        assert_eq!(rated, [0, 1, 3]);
        let result: Vec<(usize, bool)> =
            majority(&votes).iter().map(|majority| (majority.answer, majority.is_tied)).collect();
        assert_eq!(result, [(0, false), (0, false), (0, true)]);
        assert_eq!(agreement_with(&votes, &[0, 0, 0]), [Some(2.0 / 3.0), Some(2.0 / 3.0), Some(0.5)]);
    }

    #[test]
    fn two_who_agree_are_believed_over_one_who_does_not() {
        let some = ratings("1 2 2 1 2 1 2 1\n 1 2 2 2 2 1 2 1\n 2 2 1 2 1 1 1 2");
        let settled = compute_consensus(&some).unwrap();
        assert!(settled.reliability["r3"] < 0.3 && 0.85 < settled.reliability["r2"], "{settled:?}");
        assert_eq!(
            (settled.items[3].answer.as_str(), settled.items[3].majority.as_deref()),
            ("1", Some("2"))
        );
    }

    #[test]
    fn one_alone_is_no_majority() {
        let settled =
            compute_consensus(&ratings("1 1 2 1 2 .\n 1 1 2 . 1 .\n 1 2 2 . . .\n . . . . . 1")).unwrap();
        // Of six, three were rated by several who are not divided evenly.
        assert_eq!(
            settled.with_majority,
            [("r1", 1.0), ("r2", 1.0), ("r3", 2.0 / 3.0)]
                .map(|(rater, share)| (rater.to_owned(), share))
                .into()
        );
        let told: Vec<(usize, bool)> =
            settled.items.iter().map(|item| (item.n, item.majority.is_some())).collect();
        assert_eq!(told, [(3, true), (3, true), (3, true), (1, false), (2, false), (1, false)]);
        assert!(settled.reliability.contains_key("r4"));
    }

    #[test]
    fn nobody_settles_nothing() {
        assert!(compute_consensus(&ratings(". .\n . .")).is_err());
        let alone = compute_consensus(&ratings("3 3 3")).unwrap();
        assert_eq!((alone.items[0].answer.as_str(), alone.reliability["r1"]), ("3", 1.0));
    }
}
