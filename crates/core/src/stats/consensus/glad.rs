//! One answer out of many raters', who are more or less able, about items that are more or less easy.

use super::votes::{RaterVotes, exponentiate, largest};

/// Raters' abilities and items' difficulties (Whitehill and others 2009).
#[derive(Debug, Clone, PartialEq)]
pub struct Abilities {
    pub beliefs: Vec<Vec<f64>>,
    /// Of each rater; below zero for one who is more often wrong than chance.
    pub abilities: Vec<f64>,
    /// Of each item; the larger, the easier.
    pub ease: Vec<f64>,
}

impl Abilities {
    pub fn answers(&self) -> Vec<usize> {
        self.beliefs.iter().map(|belief| largest(belief)).collect()
    }
}

/// A rater of ability α is right about an item of ease β with chance 1 / (1 + exp(−αβ)).
///
/// α and ln β are drawn towards 1, which keeps both finite.
pub fn glad(votes: &RaterVotes) -> Abilities {
    let (mut abilities, mut ease) = (vec![1.0; votes.n_raters], vec![1.0; votes.n_items]);
    let mut beliefs = Vec::new();
    for _ in 0..100 {
        beliefs = believe(votes, &abilities, &ease);
        let moved = improve(votes, &beliefs, &mut abilities, &mut ease);
        if moved < 1e-6 {
            break;
        }
    }
    Abilities { beliefs, abilities, ease: ease.iter().map(|ease: &f64| ease.exp()).collect() }
}

fn believe(votes: &RaterVotes, abilities: &[f64], ease: &[f64]) -> Vec<Vec<f64>> {
    let mut beliefs = vec![vec![0.0; votes.n_answers]; votes.n_items];
    let n_wrong = (votes.n_answers.max(2) - 1) as f64;
    for vote in &votes.votes {
        let right = sigmoid(abilities[vote.rater] * ease[vote.item].exp());
        for (at, belief) in beliefs[vote.item].iter_mut().enumerate() {
            *belief += if at == vote.answer { right.ln() } else { ((1.0 - right) / n_wrong).ln() };
        }
    }
    beliefs.iter_mut().for_each(|belief| {
        exponentiate(belief);
    });
    beliefs
}

/// A few steps uphill; returns how far the abilities moved.
fn improve(votes: &RaterVotes, beliefs: &[Vec<f64>], abilities: &mut [f64], ease: &mut [f64]) -> f64 {
    let start = abilities.to_vec();
    for _ in 0..50 {
        let mut slope_a: Vec<f64> = abilities.iter().map(|ability| 1.0 - ability).collect();
        let mut slope_b: Vec<f64> = ease.iter().map(|ease| 1.0 - ease).collect();
        // The curvature sets how far a step may go.
        let (mut bend_a, mut bend_b) = (vec![1.0; slope_a.len()], vec![1.0; slope_b.len()]);
        for vote in &votes.votes {
            let (a, b) = (abilities[vote.rater], ease[vote.item].exp());
            let right = sigmoid(a * b);
            let surprise = beliefs[vote.item][vote.answer] - right;
            slope_a[vote.rater] += surprise * b;
            slope_b[vote.item] += surprise * a * b;
            let bend = right * (1.0 - right);
            bend_a[vote.rater] += bend * b * b;
            bend_b[vote.item] += bend * (a * b).powi(2) + (surprise * a * b).abs();
        }
        let step = |values: &mut [f64], slope: &[f64], bend: &[f64]| {
            for (at, it) in values.iter_mut().enumerate() {
                *it += 0.5 * slope[at] / bend[at];
            }
        };
        step(abilities, &slope_a, &bend_a);
        step(ease, &slope_b, &bend_b);
    }
    abilities.iter().zip(start).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn sigmoid(x: f64) -> f64 {
    (1.0 / (1.0 + (-x).exp())).clamp(1e-12, 1.0 - 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::agreement::ratings::tests::ratings;

    #[test]
    fn who_goes_against_the_others_is_less_able() {
        let some = ratings("1 2 2 1 2 1 2 1\n 1 2 2 1 2 1 2 1\n 1 2 2 1 2 1 1 1\n 2 1 1 2 1 2 1 1");
        let (votes, _) = RaterVotes::of(&some).unwrap();
        let result = glad(&votes);
        assert_eq!(result.answers(), [0, 1, 1, 0, 1, 0, 1, 0]);
        assert!(result.abilities[3] < 0.0 && result.abilities[2] < result.abilities[0], "{result:?}");
        // Everybody is of one mind about the last, and the one before divides them.
        assert!(result.ease[6] < result.ease[0], "{result:?}");
    }
}
