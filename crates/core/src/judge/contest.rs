//! Candidates side by side: which is best, whatever the order they are shown in.

use serde_json::json;

use super::form::Form;
use super::planted::Planted;
use super::prompt::{Asked, Prompter};
use super::reply::{Malformed, Reply};
use crate::candidate::Material;

/// Candidates that did the same task: two for a pairwise comparison, more to select the best.
#[derive(Debug, Clone)]
pub struct Contest<'a> {
    pub candidates: Vec<&'a Material>,
}

/// One comparison, in one order.
#[derive(Debug, Clone)]
pub struct Round {
    pub asked: Asked,
    /// Which candidate is shown at each place.
    pub order: Vec<usize>,
    labels: Vec<String>,
    planted: Planted,
}

const TIE: &str = "tie";

impl Contest<'_> {
    /// The order in which candidates are shown: by chance, the same for the same case and seed.
    pub fn order(&self, case: &str, seed: u64) -> Vec<usize> {
        let chance = |at: &usize| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(b"order").update(&seed.to_le_bytes()).update(&at.to_le_bytes());
            *hasher.update(case.as_bytes()).finalize().as_bytes()
        };
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by_key(chance);
        order
    }

    /// Asks which one is best by what `criterion` says. Of two, neither may be.
    pub fn round(&self, criterion: &str, order: Vec<usize>, seed: u64) -> Round {
        let common = self.candidates.first().map(|it| (*it).clone()).unwrap_or_default();
        let common = Material { response: None, trace: None, diff: None, ..common };
        let told: Vec<String> = self.candidates.iter().map(|it| told(it)).collect();
        let texts: Vec<&str> = told.iter().map(String::as_str).collect();
        let prompter = Prompter::beside(&common, &texts, None, seed);
        let by_letter = order.len() <= 26;
        let label = |place: usize| {
            if by_letter { char::from(b'A' + place as u8).to_string() } else { (place + 1).to_string() }
        };
        let mut labels: Vec<String> = (0..order.len()).map(label).collect();
        let shown: Vec<(String, String)> = order
            .iter()
            .zip(&labels)
            .map(|(at, label)| (label.clone(), prompter.fenced(label, &told[*at])))
            .collect();
        if order.len() == 2 {
            labels.push(TIE.to_owned());
        }
        let context = json!({ "candidates": shown, "criterion": criterion, "labels": labels });
        let planted = common.planted(&texts, &[]);
        let form = Form::Choice { labels: labels.clone() };
        Round { asked: prompter.ask("contest", &context, form), order, labels, planted }
    }
}

impl Round {
    /// Which candidate a reply prefers, and why; `None` is a tie.
    pub fn read(&self, reply: &str) -> Result<(Option<usize>, String), Malformed> {
        match self.asked.form.read(reply, &self.planted)? {
            Reply::Choice { label, .. } if label == TIE => Ok((None, String::new())),
            Reply::Choice { label, reason } => {
                let place = self.labels.iter().position(|it| *it == label);
                Ok((place.and_then(|it| self.order.get(it)).copied(), reason))
            }
            _ => Err(Malformed::Missing("verdict")),
        }
    }
}

/// Everything one candidate said and did.
fn told(material: &Material) -> String {
    let trace = material.told_trace().unwrap_or_default();
    let response = material.response.as_deref().unwrap_or_default();
    let parts = [response, &trace, material.diff.as_deref().unwrap_or_default()];
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Of the rounds that were decided, the share won by whoever was shown first; without bias, 1 in n.
///
/// A round is the order in which candidates were shown, and the winner.
pub fn position_bias(rounds: &[(Vec<usize>, Option<usize>)]) -> Option<f64> {
    let decided: Vec<bool> =
        rounds.iter().filter_map(|(order, winner)| Some(order.first() == Some(&(*winner)?))).collect();
    (!decided.is_empty()).then(|| decided.iter().filter(|it| **it).count() as f64 / decided.len() as f64)
}
