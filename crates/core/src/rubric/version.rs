//! The canonical form of a rubric, its hash, and what changed between two of them.

use std::collections::HashMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tree::{AnswerTarget, Graph, NodeAnswers, TreeNode, child_id};
use super::{
    Aggregation, Anchor, CannotAssess, Criterion, CriterionKind, Display, Draft, EvidenceMissing, GraderKind,
    LengthUnit, OnError, Operator, PASS_MARK, Polarity, ROOT, Rubric, Scale, Unmet, Value, WHOLE, When,
};
use crate::source::{Tree, tree_to_json};

/// The hash of a rubric's canonical form; a grade always names the one it was made against.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RubricHash(String);

impl RubricHash {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it to tell versions apart on a screen.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl fmt::Display for RubricHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn hash_draft(draft: &Draft) -> RubricHash {
    RubricHash(blake3::hash(tree_to_json(&canonical_tree(draft), false).as_bytes()).to_hex().to_string())
}

/// The rubric in native spelling, everything that is a default left out. Its name is not part of it.
pub fn canonical_tree(draft: &Draft) -> Tree {
    let tree = Tree::map()
        .maybe("description", draft.description.as_deref())
        .unless(PASS_MARK, "threshold", draft.pass_mark)
        .unless(false, "strict", draft.strict)
        .unless(false, "require_evidence", draft.require_evidence)
        .maybe(
            "evidence_missing",
            draft
                .evidence_missing
                .map(|evidence_missing| variant_word(&EvidenceMissing::ALL, evidence_missing)),
        )
        .unless(false, "mask_verdicts", draft.mask_verdicts)
        .maybe("aggregation", aggregation(draft.aggregation))
        .maybe("scale", display_tree(draft.display))
        .maybe(
            "on_error",
            (draft.on_error != OnError::Error).then(|| variant_word(&OnError::ALL, draft.on_error)),
        )
        .maybe(
            "length_penalty",
            draft.length_penalty.map(|length_penalty| {
                Tree::map()
                    .with("free", length_penalty.free)
                    .with("cap", length_penalty.cap)
                    .with("penalty", length_penalty.penalty)
                    .maybe(
                        "unit",
                        (length_penalty.unit != LengthUnit::Words)
                            .then(|| variant_word(&LengthUnit::ALL, length_penalty.unit)),
                    )
            }),
        )
        .maybe("reasoning", draft.require_reasoning.then_some("required"))
        .unless(true, "default_mid_anchor", draft.mid_anchor)
        .maybe("prompt", draft.prompt.as_deref());
    match draft.criteria.as_slice() {
        [only] if only.id == WHOLE && is_bare_tree(only) => {
            let CriterionKind::Tree(graph) = &only.ask else { return tree };
            let (key, graph) = graph_tree(graph);
            tree.with(key, graph)
        }
        criteria => tree.with("criteria", Tree::List(criteria.iter().map(criterion_tree).collect())),
    }
}

/// Whether the criterion is a tree without settings of its own.
fn is_bare_tree(criterion: &Criterion) -> bool {
    matches!(&criterion.ask, CriterionKind::Tree(_))
        && *criterion == Criterion::new(&criterion.id, &criterion.description, criterion.ask.clone())
}

fn variant_word<T: PartialEq + Copy>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| *word)
}

fn aggregation(aggregation: Aggregation) -> Option<&'static str> {
    (aggregation == Aggregation::Min).then_some("min")
}

fn display_tree(display: Display) -> Option<Tree> {
    match display {
        Display::Unit => None,
        Display::Likert { min, max } => Some(Tree::map().with("likert", bounds_tree(min, max))),
        Display::Boolean => Some("boolean".into()),
        Display::Letter => Some("letter".into()),
    }
}

fn bounds_tree(min: i64, max: i64) -> Tree {
    Tree::map().with("min", min as f64).with("max", max as f64)
}

/// One criterion in native spelling.
pub fn criterion_tree(criterion: &Criterion) -> Tree {
    let it = criterion;
    let tree = Tree::map()
        .with("name", &it.id)
        .maybe("label", it.label.as_deref())
        .maybe("description", Some(it.description.as_str()).filter(|text| !text.is_empty()))
        .unless(1.0, "weight", it.weight)
        .maybe("by", grader_words(it))
        .unless(false, "required", it.required)
        .unless(false, "guard", it.polarity == Polarity::Guard)
        .unless(false, "not", it.polarity == Polarity::Negated)
        .maybe("threshold", it.threshold)
        .maybe("min_score", it.min_score)
        .maybe("operator", it.operator.map(|operator| variant_word(&Operator::ALL, operator)))
        .maybe("when", it.when.as_ref().map(condition_tree))
        .maybe("requires", Some(it.requires.clone()).filter(|texts| !texts.is_empty()))
        .maybe("unmet", (it.unmet == Unmet::NotApplicable).then_some("not_applicable"))
        .maybe(
            "cannot_assess",
            it.cannot_assess.map(|cannot_assess| variant_word(&CannotAssess::ALL, cannot_assess)),
        );
    let tree = match &it.ask {
        CriterionKind::Question(scale) => tree.maybe("scale", scale_tree(scale)),
        CriterionKind::Check(method) => tree.with("check", method.to_tree()),
        CriterionKind::Recipe(method) => tree.with("recipe", method.to_tree()),
        CriterionKind::Tree(graph) => {
            let (key, graph) = graph_tree(graph);
            tree.with(key, graph)
        }
        CriterionKind::Group(group) => tree
            .maybe("aggregation", aggregation(group.aggregation))
            .with("criteria", Tree::List(group.criteria.iter().map(criterion_tree).collect())),
    };
    let levels = it.levels.iter().map(|(point, text)| (point_key(point), text.into())).collect();
    let anchors: Vec<Tree> = it.anchors.iter().map(anchor_tree).collect();
    tree.maybe("levels", Some(Tree::Map(levels)).filter(|tree| !tree.is_empty()))
        .maybe("examples", Some(anchors).filter(|trees| !trees.is_empty()))
}

fn grader_words(criterion: &Criterion) -> Option<Vec<&'static str>> {
    let default = Criterion::new("", "", criterion.ask.clone()).by;
    (criterion.by != default).then(|| {
        criterion.by.iter().map(|&grader_kind| variant_word(&GraderKind::ALL, grader_kind)).collect()
    })
}

fn condition_tree(when: &When) -> Tree {
    match when {
        When::Contains(text) => Tree::map().with("contains", text),
        When::Matches(regex) => Tree::map().with("regex", regex.as_str()),
    }
}

fn anchor_tree(anchor: &Anchor) -> Tree {
    Tree::map()
        .with("response", &anchor.response)
        .with("score", anchor.score)
        .maybe("reason", anchor.reason.as_deref())
}

fn point_key(point: &Value) -> String {
    match point {
        Value::Number(it) => crate::source::format_number(*it),
        Value::Bool(_) | Value::Text(_) => point.to_string(),
    }
}

fn scale_tree(scale: &Scale) -> Option<Tree> {
    match scale {
        Scale::Unit => None,
        Scale::Binary => Some("binary".into()),
        Scale::Likert { min, max, labels } => {
            let labels = labels.iter().map(|(point, label)| (point.to_string(), label.into())).collect();
            let bounds = bounds_tree(*min, *max)
                .maybe("labels", Some(Tree::Map(labels)).filter(|tree| !tree.is_empty()));
            Some(Tree::map().with("likert", bounds))
        }
        Scale::Ranges(ranges) => {
            let ranges = ranges.iter().map(|range| (range.from.to_string(), (&range.text).into())).collect();
            Some(Tree::map().with("ranges", Tree::Map(ranges)))
        }
        Scale::Choices(choices) => {
            let choices = choices.iter().map(|choice| (choice.label.clone(), choice.score.into())).collect();
            Some(Tree::map().with("choices", Tree::Map(choices)))
        }
    }
}

/// A graph with its native key: nested blocks where it came from such, named nodes otherwise.
pub fn graph_tree(graph: &Graph) -> (&'static str, Tree) {
    if graph.is_nested() {
        let nodes = graph.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        return ("tree", nested_node_tree(&nodes, ROOT));
    }
    let nodes = graph.nodes.iter().map(|node| {
        let tree = Tree::map().with("ask", &node.ask);
        let tree = match &node.answers {
            NodeAnswers::YesNo { yes, no } => tree.with("yes", target_tree(yes)).with("no", target_tree(no)),
            NodeAnswers::Choices(choices) => {
                let labels: Vec<&String> = choices.iter().map(|(label, _)| label).collect();
                let branches = choices.iter().map(|(label, to)| (label.clone(), target_tree(to))).collect();
                tree.with("choices", Tree::List(labels.into_iter().map(Tree::from).collect()))
                    .with("branches", Tree::Map(branches))
            }
        };
        (node.id.clone(), tree)
    });
    ("graph", Tree::map().with("root", &graph.root).with("nodes", Tree::Map(nodes.collect())))
}

fn nested_node_tree(nodes: &HashMap<&str, &TreeNode>, id: &str) -> Tree {
    let Some(node) = nodes.get(id) else { return Tree::Null };
    node.answers.targets().fold(Tree::map().with("ask", &node.ask), |tree, (answer, to)| match to {
        AnswerTarget::Leaf(_) => tree.with(answer, target_tree(to)),
        AnswerTarget::Node(_) => tree.with(answer, nested_node_tree(nodes, &child_id(id, answer))),
    })
}

fn target_tree(target: &AnswerTarget) -> Tree {
    match target {
        AnswerTarget::Node(id) => id.into(),
        AnswerTarget::Leaf(leaf) => {
            Tree::map().with("score", leaf.score).maybe("reason", leaf.reason.as_deref())
        }
    }
}

/// One difference between two rubrics, in words.
#[derive(Debug, Clone, PartialEq)]
pub enum RubricEdit {
    Added { what: String },
    Removed { what: String },
    Changed { what: String, from: Option<String>, to: Option<String> },
    Reordered { what: String },
}

impl fmt::Display for RubricEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { what } => write!(f, "added {what}"),
            Self::Removed { what } => write!(f, "removed {what}"),
            Self::Reordered { what } => write!(f, "{what} in another order"),
            Self::Changed { what, from, to } => {
                let show = |text: &Option<String>| text.clone().unwrap_or_else(|| "(default)".to_owned());
                write!(f, "{what}: {} → {}", show(from), show(to))
            }
        }
    }
}

/// What an author changed from `old` to `new`, from the top of the rubric to its end.
pub fn diff_rubrics(old: &Rubric, new: &Rubric) -> Vec<RubricEdit> {
    let mut changes = Vec::new();
    compare_trees("", &canonical_tree(old), &canonical_tree(new), &mut changes);
    changes
}

fn compare_trees(path: &str, old: &Tree, new: &Tree, changes: &mut Vec<RubricEdit>) {
    match (old, new) {
        _ if old == new => {}
        (Tree::Map(a), Tree::Map(b)) => {
            let mut keys: Vec<&String> = a.iter().map(|(key, _)| key).collect();
            keys.extend(b.iter().map(|(key, _)| key).filter(|key| old.get(key).is_none()));
            for key in keys {
                let path = join_key_path(path, key);
                match (old.get(key), new.get(key)) {
                    (Some(a), Some(b)) => compare_trees(&path, a, b, changes),
                    (a, b) => {
                        changes.push(RubricEdit::Changed {
                            what: path,
                            from: a.map(tree_text),
                            to: b.map(tree_text),
                        });
                    }
                }
            }
        }
        (Tree::List(a), Tree::List(b)) if a.iter().chain(b).all(|tree| tree.get("name").is_some()) => {
            compare_named(path, a, b, changes);
        }
        _ => changes.push(RubricEdit::Changed {
            what: path.to_owned(),
            from: Some(tree_text(old)),
            to: Some(tree_text(new)),
        }),
    }
}

fn compare_named(path: &str, old: &[Tree], new: &[Tree], changes: &mut Vec<RubricEdit>) {
    let name = |tree: &Tree| tree.get("name").and_then(Tree::as_text).unwrap_or_default().to_owned();
    let outer = path.strip_suffix("criteria").map_or(path, |text| text.trim_end_matches(' '));
    let title = |text: &str| {
        if outer.is_empty() { format!("criterion `{text}`") } else { format!("{outer} `{text}`") }
    };
    for item in old {
        match new.iter().find(|tree| name(tree) == name(item)) {
            Some(other) => compare_trees(&title(&name(item)), item, other, changes),
            None => changes.push(RubricEdit::Removed { what: title(&name(item)) }),
        }
    }
    for item in new.iter().filter(|tree| !old.iter().any(|other| name(other) == name(tree))) {
        changes.push(RubricEdit::Added { what: title(&name(item)) });
    }
    let common = |list: &[Tree], other: &[Tree]| -> Vec<String> {
        list.iter().map(name).filter(|text| other.iter().any(|other| name(other) == *text)).collect()
    };
    if common(old, new) != common(new, old) {
        changes.push(RubricEdit::Reordered {
            what: if outer.is_empty() { "criteria".to_owned() } else { format!("{outer} criteria") },
        });
    }
}

fn join_key_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path} {key}") }
}

fn tree_text(tree: &Tree) -> String {
    match tree {
        Tree::Text(text) => text.clone(),
        _ => tree_to_json(tree, false),
    }
}
