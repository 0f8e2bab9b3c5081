//! Which questions are worth asking, given what has been answered.

use super::requirements::{find_unmet_criteria, flatten_with_parents};
use super::{QuestionAnswer, QuoteStatus, chosen_branch};
use crate::grade::{Deferral, Outcome};
use crate::rubric::{CriterionKind, Graph, Rubric};

/// The questions to ask next, by position. None: whatever can matter has been answered.
///
/// A criterion waits for what it requires and is never asked if that is not met; of a tree, only the
/// node on the way is asked.
pub fn open_questions(rubric: &Rubric, known: &[Option<QuestionAnswer<'_>>]) -> Vec<usize> {
    let waiting = Outcome::Deferred { why: Deferral::NotGraded };
    let answers: Vec<QuestionAnswer<'_>> = known
        .iter()
        .map(|answer| answer.unwrap_or(QuestionAnswer { outcome: &waiting, quote: QuoteStatus::NotAsked }))
        .collect();
    let skipped = rubric.order().map(|order| find_unmet_criteria(rubric, &answers, order));
    let mut open = Vec::new();
    for (at, spot) in flatten_with_parents(&rubric.criteria).iter().enumerate() {
        if skipped.as_ref().is_some_and(|skip_reasons| skip_reasons[at].is_some()) {
            continue;
        }
        let next = match &spot.criterion.ask {
            CriterionKind::Group(_) => None,
            CriterionKind::Tree(graph) => {
                next_tree_node(graph, &known[spot.question..]).map(|node| spot.question + node)
            }
            CriterionKind::Question(_) | CriterionKind::Check(_) | CriterionKind::Recipe(_) => {
                Some(spot.question)
            }
        };
        open.extend(next.filter(|index| known[*index].is_none()));
    }
    open
}

/// The first node on the path without an answer.
fn next_tree_node(graph: &Graph, known: &[Option<QuestionAnswer<'_>>]) -> Option<usize> {
    let mut at = graph.position(&graph.root)?;
    // A path visits no node twice.
    for _ in 0..graph.nodes.len() {
        let Some(answer) = &known[at] else { return Some(at) };
        match chosen_branch(&graph.nodes[at].answers, answer.outcome)?.1 {
            crate::rubric::AnswerTarget::Leaf(_) => return None,
            crate::rubric::AnswerTarget::Node(next) => at = graph.position(next)?,
        }
    }
    None
}
