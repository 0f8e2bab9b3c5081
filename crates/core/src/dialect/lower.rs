//! From what a dialect read to a valid rubric, with every fault shown where it was written.

use std::collections::HashMap;

use super::context::Context;
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{Draft, GraphFault, Rubric, RubricFault, RubricProblem, lint};
use crate::source::SourceSpan;

/// The place of a rubric or criterion in its file, and the places of its parts, by their native names.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) span: SourceSpan,
    pub(super) keys: Vec<(&'static str, SourceSpan)>,
    /// Of the criteria inside, in their order.
    pub(super) children: Vec<Spot>,
    /// Of the nodes of a tree, and of their branches.
    pub(super) nodes: Nodes,
    /// Of the levels, by their point.
    pub(super) levels: HashMap<String, SourceSpan>,
}

impl Spot {
    pub(super) fn new(span: SourceSpan) -> Self {
        Self { span, keys: Vec::new(), children: Vec::new(), nodes: Nodes::default(), levels: HashMap::new() }
    }

    pub(super) fn key(mut self, key: &'static str, span: SourceSpan) -> Self {
        self.keys.push((key, span));
        self
    }

    /// The spot of the criterion at these positions, or of the innermost one that is known.
    fn at(&self, positions: &[usize]) -> &Self {
        let mut spot = self;
        for &index in positions {
            match spot.children.get(index) {
                Some(child) => spot = child,
                None => break,
            }
        }
        spot
    }

    fn span_of(&self, key: &str) -> SourceSpan {
        self.keys.iter().find(|one_key| one_key.0 == key).map_or(self.span, |it| it.1)
    }

    fn of_fault(&self, fault: &RubricFault) -> SourceSpan {
        let spot = self.at(&fault.at);
        match &fault.problem {
            RubricProblem::Graph(graph) => spot.nodes.of_fault(graph).unwrap_or(spot.span),
            RubricProblem::Level(point, _) => {
                spot.levels.get(point).copied().unwrap_or_else(|| spot.span_of("levels"))
            }
            _ => spot.span_of(fault.key),
        }
    }
}

/// Positions of the parts of a tree or graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    pub(super) root: Option<SourceSpan>,
    pub(super) by_id: HashMap<String, SourceSpan>,
    /// Of the name of another node in a branch, by the node that holds it and that name.
    pub(super) targets: HashMap<(String, String), SourceSpan>,
}

impl Nodes {
    fn of_fault(&self, fault: &GraphFault) -> Option<SourceSpan> {
        match fault {
            GraphFault::UnknownNode { node: None, .. } => self.root,
            GraphFault::UnknownNode { node: Some(node), target } => {
                self.targets.get(&(node.clone(), target.clone())).copied()
            }
            _ => self.by_id.get(fault.node()?).copied(),
        }
    }
}

/// Accepts a draft with some advice, or reports everything wrong with it, each at its place.
pub(super) fn accept(cx: &Context<'_>, draft: Draft, spot: &Spot) -> Option<Rubric> {
    let rubric = accept_without_advice(cx, draft, spot)?;
    for advice in lint(&rubric) {
        let span = spot.at(&advice.at).span_of(advice.key);
        cx.report(Diagnostic::advice(advice.code, span, advice.message).help(advice.help));
    }
    Some(rubric)
}

/// The same for a change of a rubric that was accepted before, so that no advice is given twice.
pub(super) fn accept_without_advice(cx: &Context<'_>, draft: Draft, spot: &Spot) -> Option<Rubric> {
    let ids: Vec<String> = draft.criteria.iter().map(|criterion| criterion.id.clone()).collect();
    match Rubric::new(draft) {
        Ok(rubric) => Some(rubric),
        Err(faults) => {
            for fault in faults {
                let mut diagnostic = diagnostic(&fault, spot.of_fault(&fault), &ids);
                if let Some(other) = &fault.other {
                    diagnostic = diagnostic.also(spot.at(other).span_of(fault.key), "the first one");
                }
                cx.report(diagnostic);
            }
            None
        }
    }
}

fn diagnostic(fault: &RubricFault, span: SourceSpan, ids: &[String]) -> Diagnostic {
    let (code, help) = match &fault.problem {
        RubricProblem::NoCriteria => (Code::Empty, Some("add `criteria:` with at least one entry")),
        RubricProblem::NoId | RubricProblem::NoDescription(_) => (Code::MissingKey, None),
        RubricProblem::DuplicateId(_) => (Code::DuplicateId, Some("give one of them another name")),
        RubricProblem::Weight(_) => (Code::BadValue, Some("write a number such as 1 or 2.5")),
        RubricProblem::Penalty(..) => {
            (Code::Conflict, Some("give it a weight of 0 or more, or drop the gate"))
        }
        RubricProblem::NoWeight => (Code::BadValue, Some("give at least one criterion a weight above 0")),
        RubricProblem::OutsideUnit(_, value) => {
            let percent = (1.0 < *value && *value <= 100.0).then_some("scores go from 0 to 1; 80 % is 0.8");
            (Code::BadValue, percent)
        }
        RubricProblem::Scale(_) | RubricProblem::Level(..) => (Code::Scale, None),
        RubricProblem::EmptyWhen => (Code::Empty, None),
        RubricProblem::RequiresItself(_) | RubricProblem::RequirementCycle(_) => {
            (Code::Cycle, Some("remove one of the requirements"))
        }
        RubricProblem::UnknownRequirement(_) | RubricProblem::UnknownWeight(_) => (Code::UnknownName, None),
        RubricProblem::NoCheck => (Code::MissingKey, Some("add `check: {type: contains, value: …}`")),
        RubricProblem::Misplaced(..) => (Code::Conflict, None),
        RubricProblem::NothingToCompare => (Code::MissingKey, Some("add a check or a question next to it")),
        RubricProblem::TooDeep => (Code::TooDeep, None),
        RubricProblem::LengthCap | RubricProblem::Prompt(_) | RubricProblem::NoEvidenceAsked => {
            (Code::BadValue, None)
        }
        RubricProblem::Graph(graph) => match graph {
            GraphFault::UnknownNode { .. } => (Code::UnknownName, None),
            GraphFault::DuplicateNode { .. } => (Code::DuplicateId, None),
            GraphFault::Cycle { .. } => (Code::Cycle, Some("every path must end at a leaf with a score")),
            GraphFault::Unreachable { .. } => (Code::Unreachable, Some("name it in a branch, or remove it")),
            GraphFault::LeafScore { .. } | GraphFault::Choices { .. } => (Code::BadValue, None),
            GraphFault::NoQuestion { .. } => (Code::MissingKey, Some("add `ask:`")),
        },
    };
    let mut diagnostic = Diagnostic::error(code, span, fault.problem.to_string());
    if let RubricProblem::UnknownRequirement(written) = &fault.problem {
        diagnostic = diagnostic.suggest(written, ids.iter().map(String::as_str), "criteria");
        diagnostic.replacement = None; // The place is a list; replacing all of it would be wrong.
    }
    if let Some(help) = help {
        diagnostic = diagnostic.help(help);
    }
    diagnostic
}
