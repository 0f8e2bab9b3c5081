//! Decision trees and graphs: one question per node, authored scores at the leaves.

use std::collections::{BTreeMap, HashMap};

/// Nodes by id, and the one to start at. Acyclic, complete and reachable once a rubric holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    pub root: String,
    pub nodes: Vec<TreeNode>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    pub id: String,
    pub ask: String,
    pub answers: NodeAnswers,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NodeAnswers {
    /// An answer of 0.5 or more is a yes.
    YesNo {
        yes: AnswerTarget,
        no: AnswerTarget,
    },
    Choices(Vec<(String, AnswerTarget)>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum AnswerTarget {
    Node(String),
    Leaf(Leaf),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// On 0..=1, written by the author; no judge invents it.
    pub score: f64,
    pub reason: Option<String>,
}

impl NodeAnswers {
    pub fn targets(&self) -> impl Iterator<Item = (&str, &AnswerTarget)> {
        let yes_no = if let Self::YesNo { yes, no } = self { Some([("yes", yes), ("no", no)]) } else { None };
        let choices = if let Self::Choices(choices) = self { choices.as_slice() } else { &[] };
        yes_no.into_iter().flatten().chain(choices.iter().map(|(label, target)| (label.as_str(), target)))
    }
}

/// What is wrong with a graph, and at which node.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GraphFault {
    #[error("there is no node `{target}`")]
    UnknownNode { node: Option<String>, target: String },
    #[error("there are two nodes `{node}`")]
    DuplicateNode { node: String },
    #[error("the path leads back: {}", circle.join(" → "))]
    Cycle { node: String, circle: Vec<String> },
    #[error("no path leads to the node `{node}`")]
    Unreachable { node: String },
    #[error("a leaf is worth {score}; allowed is 0 to 1")]
    LeafScore { node: String, score: f64 },
    #[error("a node offers at least two choices, each once")]
    Choices { node: String },
    #[error("the node `{node}` asks nothing")]
    NoQuestion { node: String },
}

impl GraphFault {
    /// The node at whose place the fault is shown; `None` means the graph itself.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::UnknownNode { node, .. } => node.as_deref(),
            Self::DuplicateNode { node }
            | Self::Cycle { node, .. }
            | Self::Unreachable { node }
            | Self::LeafScore { node, .. }
            | Self::Choices { node }
            | Self::NoQuestion { node } => Some(node),
        }
    }
}

impl Graph {
    pub fn position(&self, id: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    pub(super) fn faults(&self) -> Vec<GraphFault> {
        let mut faults = Vec::new();
        let mut index = HashMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if index.insert(node.id.as_str(), at).is_some() {
                faults.push(GraphFault::DuplicateNode { node: node.id.clone() });
            }
            faults.extend(node.faults());
        }
        let Some(&root) = index.get(self.root.as_str()) else {
            faults.push(GraphFault::UnknownNode { node: None, target: self.root.clone() });
            return faults;
        };
        let edges: Vec<Vec<usize>> = self.nodes.iter().map(|node| edges(node, &index, &mut faults)).collect();
        if let Some(circle) = find_cycle(&edges) {
            let node = self.nodes[circle[0]].id.clone();
            let circle = circle.iter().map(|&index| self.nodes[index].id.clone()).collect();
            faults.push(GraphFault::Cycle { node, circle });
        }
        let (mut reached, mut to_visit) = (vec![false; self.nodes.len()], vec![root]);
        while let Some(at) = to_visit.pop() {
            if !std::mem::replace(&mut reached[at], true) {
                to_visit.extend(&edges[at]);
            }
        }
        let unreached = self.nodes.iter().zip(&reached).filter(|(_, is_reached)| !**is_reached);
        faults.extend(unreached.map(|(node, _)| GraphFault::Unreachable { node: node.id.clone() }));
        faults
    }

    /// Whether this is what nested `yes`/`no` blocks make: ids are paths, and every node has one parent.
    pub(super) fn is_nested(&self) -> bool {
        self.root == ROOT && self.nodes.iter().all(|node| {
            let child = |answer: &str, target: &AnswerTarget| match target {
                AnswerTarget::Leaf(_) => true,
                AnswerTarget::Node(id) => *id == child_id(&node.id, answer),
            };
            matches!(&node.answers, NodeAnswers::YesNo { yes, no } if child("yes", yes) && child("no", no))
        })
    }

    /// Fewest and most questions on a way from the root to a leaf.
    pub fn n_questions(&self) -> (usize, usize) {
        let index: HashMap<&str, usize> =
            self.nodes.iter().enumerate().map(|(at, tree_node)| (tree_node.id.as_str(), at)).collect();
        let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut open = vec![index[self.root.as_str()]];
        while let Some(&at) = open.last() {
            let children: Vec<usize> = edges(&self.nodes[at], &index, &mut Vec::new());
            let pending: Vec<usize> =
                children.iter().copied().filter(|child| !counts.contains_key(child)).collect();
            if !pending.is_empty() {
                open.extend(pending);
                continue;
            }
            open.pop();
            let ends_here =
                self.nodes[at].answers.targets().any(|(_, target)| matches!(target, AnswerTarget::Leaf(_)));
            let below = children.iter().map(|index| counts[index]);
            let fewest = below.clone().map(|(fewest, _)| fewest).min().filter(|_| !ends_here).unwrap_or(0);
            let most = below.map(|(_, most)| most).max().unwrap_or(0);
            counts.insert(at, (fewest + 1, most + 1));
        }
        counts[&index[self.root.as_str()]]
    }
}

/// Id of the first node of nested blocks.
pub const ROOT: &str = "root";

/// Id of the node under `answer` of `parent` in nested blocks.
pub fn child_id(parent: &str, answer: &str) -> String {
    format!("{parent}.{answer}")
}

impl TreeNode {
    fn faults(&self) -> Vec<GraphFault> {
        let mut faults = Vec::new();
        if self.ask.trim().is_empty() {
            faults.push(GraphFault::NoQuestion { node: self.id.clone() });
        }
        for (_, target) in self.answers.targets() {
            if let AnswerTarget::Leaf(Leaf { score, .. }) = target
                && !(0.0..=1.0).contains(score)
            {
                faults.push(GraphFault::LeafScore { node: self.id.clone(), score: *score });
            }
        }
        if let NodeAnswers::Choices(choices) = &self.answers {
            let mut labels: Vec<&str> = choices.iter().map(|choice| choice.0.as_str()).collect();
            labels.sort_unstable();
            labels.dedup();
            if labels.len() < 2 || labels.len() < choices.len() {
                faults.push(GraphFault::Choices { node: self.id.clone() });
            }
        }
        faults
    }
}

fn edges(node: &TreeNode, index: &HashMap<&str, usize>, faults: &mut Vec<GraphFault>) -> Vec<usize> {
    let mut edges = Vec::new();
    for (_, target) in node.answers.targets() {
        let AnswerTarget::Node(id) = target else { continue };
        match index.get(id.as_str()) {
            Some(&at) => edges.push(at),
            None => faults.push(GraphFault::UnknownNode { node: Some(node.id.clone()), target: id.clone() }),
        }
    }
    edges
}

/// Some circle in a directed graph, its first element repeated at the end.
///
/// Not recursive: a chain of any length must not use up the stack.
pub(super) fn find_cycle(edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        Never,
        OnPath,
        Done,
    }
    let mut states = vec![VisitState::Never; edges.len()];
    for start in 0..edges.len() {
        if states[start] != VisitState::Never {
            continue;
        }
        states[start] = VisitState::OnPath;
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let Some(&to) = edges[*at].get(*next) else {
                states[*at] = VisitState::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match states[to] {
                VisitState::Done => {}
                VisitState::Never => {
                    states[to] = VisitState::OnPath;
                    path.push((to, 0));
                }
                VisitState::OnPath => {
                    let from = path.iter().position(|(at, _)| *at == to).unwrap_or(0);
                    return Some(path[from..].iter().map(|(at, _)| *at).chain([to]).collect());
                }
            }
        }
    }
    None
}
