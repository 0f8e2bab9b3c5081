//! Candidates side by side: which is best, whatever the order they are shown in.

use serde_json::json;

use super::planted_verdicts::PlantedContent;
use super::prompt::{JudgePromptError, JudgeQuestion, Prompter, row_json_text};
use super::reply::{JudgeReply, JudgeReplyError};
use super::reply_schema::ReplySchema;
use crate::candidate::JudgeInput;
use crate::suite::names_stored_output;

/// Candidates that did the same task: two for a pairwise comparison, more to select the best.
#[derive(Debug, Clone)]
pub struct Contest<'a> {
    pub candidates: Vec<&'a JudgeInput>,
}

/// One comparison, in one order.
#[derive(Debug, Clone)]
pub struct Round {
    pub asked: JudgeQuestion,
    /// Which candidate is shown at each place.
    pub order: Vec<usize>,
    labels: Vec<String>,
    planted: PlantedContent,
}

const TIE: &str = "tie";

impl Contest<'_> {
    /// The order in which candidates are shown: pseudo-random, and fixed by case and seed.
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
    ///
    /// Candidates of one task have the same row of data, so that the first one's fills `{{ row.field }}` in the
    /// criterion. Their stored outputs may differ, and then the criterion cannot name one.
    pub fn round(&self, criterion: &str, order: Vec<usize>, seed: u64) -> Result<Round, JudgePromptError> {
        let common = self.candidates.first().map(|judge_input| (*judge_input).clone()).unwrap_or_default();
        let common = JudgeInput { response: None, trace: None, diff: None, ..common };
        let texts_of_candidates: Vec<String> =
            self.candidates.iter().map(|judge_input| render_candidate_text(judge_input)).collect();
        let texts: Vec<&str> = texts_of_candidates.iter().map(String::as_str).collect();
        let prompter = Prompter::with_other_texts(&common, &texts, common.row.as_ref(), seed);
        let by_letter = order.len() <= 26;
        let label = |place: usize| {
            if by_letter { char::from(b'A' + place as u8).to_string() } else { (place + 1).to_string() }
        };
        let mut labels: Vec<String> = (0..order.len()).map(label).collect();
        let fenced: Vec<(String, String)> = order
            .iter()
            .zip(&labels)
            .map(|(at, label)| (label.clone(), prompter.fence_text(label, &texts_of_candidates[*at])))
            .collect();
        if order.len() == 2 {
            labels.push(TIE.to_owned());
        }
        let is_same_row = self.candidates.iter().all(|judge_input| judge_input.row == common.row);
        if !is_same_row && names_stored_output(criterion) {
            return Err(JudgePromptError::new(
                "the candidates were made with different stored outputs, so that the criterion cannot name one",
            ));
        }
        let criterion = prompter.fill_row_fields(criterion)?;
        let context = json!({ "candidates": fenced, "criterion": criterion, "labels": labels });
        let row_text = row_json_text(common.row.as_ref());
        let others: Vec<&str> = texts.iter().copied().chain([row_text.as_str()]).collect();
        let planted = common.collect_planted_content(&others, &[]);
        let form = ReplySchema::Choice { labels: labels.clone() };
        Ok(Round { asked: prompter.ask("contest", &context, form), order, labels, planted })
    }
}

impl Round {
    /// Which candidate a reply prefers, and why; `None` is a tie.
    pub fn read(&self, reply: &str) -> Result<(Option<usize>, String), JudgeReplyError> {
        match self.asked.form.read(reply, &self.planted)? {
            JudgeReply::Choice { label, .. } if label == TIE => Ok((None, String::new())),
            JudgeReply::Choice { label, reason } => {
                let place = self.labels.iter().position(|text| *text == label);
                Ok((place.and_then(|place| self.order.get(place)).copied(), reason))
            }
            _ => Err(JudgeReplyError::Missing("verdict")),
        }
    }
}

/// All messages, calls and results of one candidate.
fn render_candidate_text(material: &JudgeInput) -> String {
    let trace = material.trace_text().unwrap_or_default();
    let response = material.response.as_deref().unwrap_or_default();
    let parts = [response, &trace, material.diff.as_deref().unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The share of decided rounds that the candidate shown first won; without position bias it is 1 in n.
///
/// A round is the order in which candidates were shown, and the winner.
pub fn position_bias(rounds: &[(Vec<usize>, Option<usize>)]) -> Option<f64> {
    let decided: Vec<bool> =
        rounds.iter().filter_map(|(order, winner)| Some(order.first() == Some(&(*winner)?))).collect();
    (!decided.is_empty())
        .then(|| decided.iter().filter(|decided| **decided).count() as f64 / decided.len() as f64)
}
