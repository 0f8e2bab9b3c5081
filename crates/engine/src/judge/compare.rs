//! Pairwise and listwise comparison of candidates.

use jurist_core::candidate::JudgeInput;
use jurist_core::grade::{Failure, Outcome, Spend};
use jurist_core::judge::Contest;

use super::JudgeModel;
use super::converse::{JudgeConversation, JudgeExchange, QuestionLog, ReplyReading, ask_with_repair};
use crate::call::{ModelClient, Tries};

/// Which of several candidates is best, and why; `None` is a tie.
#[derive(Debug, Clone, PartialEq)]
pub struct Preference {
    pub winner: Option<usize>,
    pub reason: String,
    /// For each round, the order of the candidates in the prompt, and the winner.
    pub rounds: Vec<(Vec<usize>, Option<usize>)>,
    pub spend: Spend,
    /// All requests and replies.
    pub exchanges: Vec<JudgeExchange>,
}

/// Compares candidates by one criterion. With both orders, a candidate has to win in both.
pub async fn compare_candidates(
    caller: &ModelClient,
    member: &JudgeModel,
    candidates: Vec<&JudgeInput>,
    (case, criterion): (&str, &str),
    both_orders: bool,
    seed: u64,
) -> Result<Preference, Outcome> {
    let contest = Contest { candidates };
    let order = contest.order(case, seed);
    let reversed: Vec<usize> = order.iter().rev().copied().collect();
    let orders = if both_orders { vec![order, reversed] } else { vec![order] };
    let (mut rounds, mut reasons, mut total) = (Vec::new(), Vec::new(), QuestionLog::default());
    for order in orders {
        let round = contest
            .round(criterion, order, seed)
            .map_err(|error| Outcome::Failed { failure: Failure::Crashed, detail: error.to_string() })?;
        let mut tries = Tries::default();
        let read = |text: &str, _| round.read(text).map(|value| ReplyReading { value, has_answer: true });
        let JudgeConversation { reply, log } =
            ask_with_repair(caller, member, &round.asked, true, &mut tries, read).await;
        total.add(log);
        let (winner, reason) = reply.map_err(|judge_question_error| judge_question_error.outcome())?;
        rounds.push((round.order.clone(), winner));
        reasons.push(reason);
    }
    let first = rounds[0].1;
    let winner = first.filter(|_| rounds.iter().all(|(_, winner)| *winner == first));
    let (reason, spend) = (reasons.join("\n"), total.spend.unwrap_or_default());
    Ok(Preference { winner, reason, rounds, spend, exchanges: total.exchanges })
}
