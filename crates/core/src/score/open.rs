//! Which questions are worth asking, given what has been answered.

use super::{Answer, Quote, flat, taken, unmet};
use crate::grade::{Deferral, Outcome};
use crate::rubric::{Ask, Graph, Rubric};

/// The questions to ask next, by position. None: whatever can matter has been answered.
///
/// A criterion waits for what it requires and is never asked if that is not met; of a tree, only the
/// node on the way is asked.
pub fn open(rubric: &Rubric, known: &[Option<Answer<'_>>]) -> Vec<usize> {
    let waiting = Outcome::Deferred { why: Deferral::NotGraded };
    let answers: Vec<Answer<'_>> =
        known.iter().map(|it| it.unwrap_or(Answer { outcome: &waiting, quote: Quote::NotAsked })).collect();
    let skipped = rubric.order().map(|order| unmet(rubric, &answers, order));
    let mut open = Vec::new();
    for (at, spot) in flat(&rubric.criteria).iter().enumerate() {
        if skipped.as_ref().is_some_and(|it| it[at].is_some()) {
            continue;
        }
        let next = match &spot.criterion.ask {
            Ask::Group(_) => None,
            Ask::Tree(graph) => on_the_way(graph, &known[spot.question..]).map(|it| spot.question + it),
            Ask::Question(_) | Ask::Check(_) | Ask::Recipe(_) => Some(spot.question),
        };
        open.extend(next.filter(|it| known[*it].is_none()));
    }
    open
}

/// The first node on the path that nobody has answered.
fn on_the_way(graph: &Graph, known: &[Option<Answer<'_>>]) -> Option<usize> {
    let mut at = graph.position(&graph.root)?;
    // A path visits no node twice.
    for _ in 0..graph.nodes.len() {
        let Some(answer) = &known[at] else { return Some(at) };
        match taken(&graph.nodes[at].answers, answer.outcome)?.1 {
            crate::rubric::Target::Leaf(_) => return None,
            crate::rubric::Target::Node(next) => at = graph.position(next)?,
        }
    }
    None
}
