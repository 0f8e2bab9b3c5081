//! Everything that can be wrong with a draft, reported at once.

use std::collections::HashMap;

use super::tree::{GraphFault, find_cycle};
use super::{
    Aggregation, Criterion, CriterionKind, Draft, GraderKind, MAX_GROUP_DEPTH, Moment, Polarity,
    RequirementOrder, Scale, iter_questions,
};
use crate::check::CompiledCheck;

/// One thing wrong with a draft, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct RubricFault {
    /// Positions of the criterion from the outermost list inwards; empty means the rubric itself.
    pub at: Vec<usize>,
    /// The part of it that is wrong, by its name in native files.
    pub key: &'static str,
    pub problem: RubricProblem,
    /// The other criterion, where two do not go together.
    pub other: Option<Vec<usize>>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RubricProblem {
    #[error("a rubric needs at least one criterion")]
    NoCriteria,
    #[error("a criterion needs a name")]
    NoId,
    #[error("there are two criteria `{0}`")]
    DuplicateId(String),
    #[error("`{0}` does not say what to look for")]
    NoDescription(String),
    #[error("a weight must be a finite number, not {0}")]
    Weight(f64),
    #[error("a negative weight makes `{0}` a penalty, which cannot be {1}")]
    Penalty(String, &'static str),
    #[error("no criterion here has a weight above 0, so there is nothing to average")]
    NoWeight,
    #[error("`{0}` is {1}; allowed is 0 to 1")]
    OutsideUnit(&'static str, f64),
    #[error("{0}")]
    Scale(String),
    #[error("`{0}` is not a point of the scale ({1})")]
    Level(String, String),
    #[error("`when` needs the text or pattern to look for")]
    EmptyWhen,
    #[error("`{0}` cannot require itself")]
    RequiresItself(String),
    #[error("there is no criterion `{0}`")]
    UnknownRequirement(String),
    #[error("criteria that require each other can never be met: {}", .0.join(" → "))]
    RequirementCycle(Vec<String>),
    #[error("`by: check` needs a `check`")]
    NoCheck,
    #[error("a {0} cannot be {1}")]
    Misplaced(&'static str, &'static str),
    #[error("`max-score` compares outputs by their other criteria, and there are none")]
    NothingToCompare,
    #[error(
        "`weights` of `max-score` names `{0}`, which is neither the name nor the type of a criterion here"
    )]
    UnknownWeight(String),
    #[error("groups nest deeper than {MAX_GROUP_DEPTH} levels")]
    TooDeep,
    #[error("`cap` must be above `free`")]
    LengthCap,
    #[error("`evidence_missing` needs `require_evidence: true`")]
    NoEvidenceAsked,
    #[error("{0}")]
    Prompt(String),
    #[error(transparent)]
    Graph(GraphFault),
}

/// Lists what is wrong; or tells the order in which requirements are decided, where there are any.
pub(super) fn examine(draft: &Draft) -> Result<Option<RequirementOrder>, Vec<RubricFault>> {
    let mut examiner = Examiner::default();
    examiner.rubric(draft);
    examiner.list(&draft.criteria, &mut Vec::new(), draft.aggregation);
    examiner.comparisons(&draft.criteria);
    let ids_are_unique = examiner.ids(&draft.criteria);
    let order = if ids_are_unique { examiner.requirements(draft) } else { None };
    if examiner.faults.is_empty() { Ok(order) } else { Err(examiner.faults) }
}

#[derive(Default)]
struct Examiner {
    faults: Vec<RubricFault>,
}

impl Examiner {
    fn fault(&mut self, at: &[usize], key: &'static str, problem: RubricProblem) {
        self.faults.push(RubricFault { at: at.to_vec(), key, problem, other: None });
    }

    fn unit(&mut self, at: &[usize], key: &'static str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
            self.fault(at, key, RubricProblem::OutsideUnit(key, value));
        }
    }

    fn rubric(&mut self, draft: &Draft) {
        self.unit(&[], "threshold", Some(draft.pass_mark));
        if let Some(fault) = match draft.display {
            super::Display::Likert { min, max } => Scale::likert(min, max).fault(),
            _ => None,
        } {
            self.fault(&[], "scale", RubricProblem::Scale(fault));
        }
        if let Some(penalty) = draft.length_penalty {
            self.unit(&[], "length_penalty", Some(penalty.penalty));
            if penalty.cap <= penalty.free {
                self.fault(&[], "length_penalty", RubricProblem::LengthCap);
            }
        }
        if let Some(fault) = draft.prompt.as_deref().and_then(super::template::find_prompt_fault) {
            self.fault(&[], "prompt", RubricProblem::Prompt(fault));
        }
        if draft.evidence_missing.is_some() && !draft.require_evidence {
            self.fault(&[], "evidence_missing", RubricProblem::NoEvidenceAsked);
        }
        if let [Criterion { ask: CriterionKind::Tree(_), .. }] = draft.criteria.as_slice() {
            if draft.require_evidence {
                self.fault(
                    &[],
                    "require_evidence",
                    RubricProblem::Misplaced("tree", "asked for evidence; its nodes only choose a branch"),
                );
            }
            if draft.aggregation != Aggregation::WeightedAverage {
                self.fault(
                    &[],
                    "aggregation",
                    RubricProblem::Misplaced("tree", "aggregated; its leaf is the score"),
                );
            }
        }
    }

    fn list(&mut self, criteria: &[Criterion], at: &mut Vec<usize>, aggregation: Aggregation) {
        if criteria.is_empty() {
            self.fault(at, "criteria", RubricProblem::NoCriteria);
            return;
        }
        if MAX_GROUP_DEPTH < at.len() {
            self.fault(at, "criteria", RubricProblem::TooDeep);
            return;
        }
        for (index, criterion) in criteria.iter().enumerate() {
            at.push(index);
            self.criterion(criterion, at);
            at.pop();
        }
        let averaged = aggregation == Aggregation::WeightedAverage;
        if averaged
            && !criteria.iter().any(|criterion| 0.0 < criterion.weight)
            && criteria.iter().all(|criterion| criterion.weight.is_finite())
        {
            self.fault(at, "criteria", RubricProblem::NoWeight);
        }
    }

    fn criterion(&mut self, criterion: &Criterion, at: &mut Vec<usize>) {
        if criterion.id.trim().is_empty() {
            self.fault(at, "name", RubricProblem::NoId);
        }
        self.weight(criterion, at);
        self.unit(at, "threshold", criterion.threshold);
        self.unit(at, "min_score", criterion.min_score);
        for anchor in &criterion.anchors {
            self.unit(at, "examples", Some(anchor.score));
        }
        if criterion.when.as_ref().is_some_and(|when| match when {
            super::When::Contains(text) => text.is_empty(),
            super::When::Matches(regex) => regex.as_str().is_empty(),
        }) {
            self.fault(at, "when", RubricProblem::EmptyWhen);
        }
        let is_check = matches!(criterion.ask, CriterionKind::Check(_));
        if criterion.by.contains(&GraderKind::Check) && !is_check {
            self.fault(at, "by", RubricProblem::NoCheck);
        }
        self.ask(criterion, at);
    }

    fn weight(&mut self, criterion: &Criterion, at: &[usize]) {
        if !criterion.weight.is_finite() {
            self.fault(at, "weight", RubricProblem::Weight(criterion.weight));
        } else if criterion.weight < 0.0 {
            let cannot_be = [
                (criterion.required, "required"),
                (criterion.polarity == Polarity::Guard, "a guard"),
                (criterion.min_score.is_some(), "combined with a minimum score"),
            ];
            for (_, what) in cannot_be.iter().filter(|(is_set, _)| *is_set) {
                self.fault(at, "weight", RubricProblem::Penalty(criterion.id.clone(), what));
            }
        }
    }

    fn ask(&mut self, criterion: &Criterion, at: &mut Vec<usize>) {
        match &criterion.ask {
            CriterionKind::Question(scale) => {
                if criterion.description.trim().is_empty() {
                    self.fault(at, "description", RubricProblem::NoDescription(criterion.id.clone()));
                }
                match scale.fault() {
                    Some(fault) => self.fault(at, "scale", RubricProblem::Scale(fault)),
                    None => self.levels(criterion, scale, at),
                }
            }
            CriterionKind::Check(_) | CriterionKind::Recipe(_) => self.no_levels(criterion, at, "check"),
            CriterionKind::Group(group) => {
                for (wrong, key, what) in [
                    (criterion.polarity == Polarity::Guard, "guard", "a guard; mark the criteria inside it"),
                    (
                        !criterion.anchors.is_empty(),
                        "examples",
                        "given examples; they belong to the criteria inside it",
                    ),
                    (
                        !criterion.levels.is_empty(),
                        "levels",
                        "given levels; they belong to the criteria inside it",
                    ),
                    (!criterion.by.is_empty(), "by", "given a grader; the criteria inside it are graded"),
                ] {
                    if wrong {
                        self.fault(at, key, RubricProblem::Misplaced("group", what));
                    }
                }
                self.list(&group.criteria, at, group.aggregation);
            }
            CriterionKind::Tree(graph) => {
                self.no_levels(criterion, at, "tree");
                for fault in graph.faults() {
                    self.fault(at, "tree", RubricProblem::Graph(fault));
                }
            }
        }
    }

    fn no_levels(&mut self, criterion: &Criterion, at: &[usize], what: &'static str) {
        if !criterion.levels.is_empty() {
            self.fault(
                at,
                "levels",
                RubricProblem::Misplaced(what, "given levels; they describe the points of a scale"),
            );
        }
    }

    fn levels(&mut self, criterion: &Criterion, scale: &Scale, at: &[usize]) {
        for (point, _) in &criterion.levels {
            if scale.unit(point).is_err() {
                self.fault(at, "levels", RubricProblem::Level(point.to_string(), scale.to_string()));
            }
        }
    }

    /// Ids of criteria, groups and tree nodes share one namespace: a grade or a requirement names any of them.
    fn ids(&mut self, criteria: &[Criterion]) -> bool {
        let mut known = HashMap::new();
        let mut unique = true;
        for (at, criterion) in flatten_with_positions(criteria) {
            let Some(other) = known.get(&criterion.id).cloned() else {
                known.insert(criterion.id.clone(), at);
                continue;
            };
            unique = false;
            let problem = RubricProblem::DuplicateId(criterion.id.clone());
            self.faults.push(RubricFault { at, key: "name", problem, other: Some(other) });
        }
        let mut owners: HashMap<String, &str> = HashMap::new();
        for question in iter_questions(criteria).filter(|question| question.node.is_some()) {
            let (id, owner) = (question.id(), question.criterion.id.as_str());
            // Two nodes of one graph with one id are a fault of that graph.
            let other = owners.insert(id.clone(), owner).is_some_and(|earlier| earlier != owner);
            if other || known.contains_key(&id) {
                unique = false;
                self.fault(&[], "criteria", RubricProblem::DuplicateId(id));
            }
        }
        unique
    }

    /// `max-score` is decided last, by the scores of the other checks.
    fn comparisons(&mut self, criteria: &[Criterion]) {
        let all = flatten_with_positions(criteria);
        for (path, criterion) in all.iter().filter(|(_, criterion)| criterion.needs_scores()) {
            let CriterionKind::Check(method) = &criterion.ask else { continue };
            let Ok(CompiledCheck::External(check)) = CompiledCheck::compile(method) else { continue };
            let named = check.scores.iter().flat_map(|names| names.values()).flat_map(|ids| ids.keys());
            for name in named.filter(|name| !criteria.iter().any(|other| other.id == **name)) {
                self.fault(path, "check", RubricProblem::UnknownWeight(name.clone()));
            }
        }
        let is_max_score = |criterion: &Criterion| matches!(&criterion.ask, CriterionKind::Check(method) if method.entry.name == "max-score");
        for (path, criterion) in all.iter().filter(|(_, criterion)| is_max_score(criterion)) {
            if 1 < path.len() {
                let what = "inside a group; it compares by the criteria of the whole rubric";
                self.fault(path, "check", RubricProblem::Misplaced("max-score", what));
            }
            if all.iter().any(|it| it.1.requires.contains(&criterion.id)) {
                let what = "required by another criterion; it is decided last";
                self.fault(path, "check", RubricProblem::Misplaced("max-score", what));
            }
            let others = || criteria.iter().filter(|criterion| !criterion.is_comparison());
            if others().next().is_none() {
                self.fault(path, "check", RubricProblem::NothingToCompare);
                continue;
            }
            let CriterionKind::Check(method) = &criterion.ask else { continue };
            if let Ok(CompiledCheck::MaxScore(check)) = CompiledCheck::compile(method) {
                let is_known = |name: &str| {
                    others().any(|criterion| criterion.id == name || criterion.type_name() == name)
                };
                for name in check.weighted_names().filter(|name| !is_known(name)) {
                    self.fault(path, "check", RubricProblem::UnknownWeight(name.to_owned()));
                }
            }
        }
    }

    /// Sorts the begins and ends of all criteria so that requirements come first, or reports a circle.
    fn requirements(&mut self, draft: &Draft) -> Option<RequirementOrder> {
        let flat = flatten_with_positions(&draft.criteria);
        if flat.iter().all(|flat| flat.1.requires.is_empty()) {
            return None;
        }
        let index: HashMap<&str, usize> =
            flat.iter().zip(0..).map(|((_, criterion), at)| (criterion.id.as_str(), at)).collect();
        let paths: HashMap<&[usize], usize> =
            flat.iter().zip(0..).map(|((path, _), at)| (path.as_slice(), at)).collect();
        let n = flat.len();
        // Vertex i is the begin of criterion i, vertex n + i its end; edges lead to what must come before.
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); 2 * n];
        let mut requires: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (at, (path, criterion)) in flat.iter().enumerate() {
            before[n + at].push(at);
            if 1 < path.len() {
                let parent = paths[&path[..path.len() - 1]];
                before[at].push(parent);
                before[n + parent].push(n + at);
            }
            for required in &criterion.requires {
                match index.get(required.as_str()) {
                    Some(&it) if it == at => {
                        self.fault(path, "requires", RubricProblem::RequiresItself(required.clone()));
                    }
                    Some(&it) => {
                        before[at].push(n + it);
                        requires[at].push(it);
                    }
                    None => self.fault(path, "requires", RubricProblem::UnknownRequirement(required.clone())),
                }
            }
        }
        if let Some(circle) = find_cycle(&before) {
            let mut names: Vec<String> = circle.iter().map(|&circle| flat[circle % n].1.id.clone()).collect();
            names.dedup();
            let path = &flat[circle[0] % n].0;
            self.fault(path, "requires", RubricProblem::RequirementCycle(names));
            return None;
        }
        let mut awaited = vec![false; n];
        requires.iter().flatten().for_each(|&index| awaited[index] = true);
        let moment = |it: usize| match it.checked_sub(n) {
            None => Some(Moment::Begin(it)),
            Some(end) => awaited[end].then_some(Moment::End(end)),
        };
        Some(RequirementOrder {
            moments: sort_topologically(&before).into_iter().filter_map(moment).collect(),
            requires,
        })
    }
}

/// Every criterion and group, depth first, with its positions.
fn flatten_with_positions(criteria: &[Criterion]) -> Vec<(Vec<usize>, &Criterion)> {
    fn visit<'a>(criteria: &'a [Criterion], at: &mut Vec<usize>, all: &mut Vec<(Vec<usize>, &'a Criterion)>) {
        for (index, criterion) in criteria.iter().enumerate() {
            at.push(index);
            all.push((at.clone(), criterion));
            visit(criterion.children(), at, all);
            at.pop();
        }
    }
    let mut all = Vec::new();
    visit(criteria, &mut Vec::new(), &mut all);
    all
}

/// An order in which everything comes after what must come before it; the graph has no circle.
fn sort_topologically(before: &[Vec<usize>]) -> Vec<usize> {
    let mut done = vec![false; before.len()];
    let mut order = Vec::with_capacity(before.len());
    for start in 0..before.len() {
        let mut stack = vec![start];
        while let Some(&at) = stack.last() {
            if done[at] {
                stack.pop();
                continue;
            }
            let waiting = stack.len();
            stack.extend(before[at].iter().filter(|&&index| !done[index]));
            if stack.len() == waiting {
                done[at] = true;
                order.push(at);
                stack.pop();
            }
        }
    }
    order
}
