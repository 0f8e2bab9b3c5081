//! Decision trees in native spelling: nested blocks, or named nodes that point at one another.

use super::context::Context;
use super::fields::{MappingReader, suggest_absent_name};
use super::lower::Nodes;
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{AnswerTarget, Graph, Leaf, NodeAnswers, ROOT, TreeNode, child_id};
use crate::source::SourceNode;

/// The decision tree under `tree:` (nested) or `graph:` (named nodes), and where its nodes were written.
pub(super) fn graph_of(fields: &MappingReader<'_>) -> Option<(Graph, Nodes)> {
    let before = fields.cx.n_errors();
    let mut nodes = (Vec::new(), Nodes::default());
    let root = if let Some(node) = fields.get("tree") {
        read_tree_branch(fields.cx, node, ROOT.to_owned(), &mut nodes);
        Some(ROOT.to_owned())
    } else {
        fields.fields("graph", "graph").and_then(|mapping_reader| named_nodes(mapping_reader, &mut nodes))
    };
    (fields.cx.n_errors() == before).then_some(())?;
    Some((Graph { root: root?, nodes: nodes.0 }, nodes.1))
}

fn named_nodes(fields: MappingReader<'_>, nodes: &mut (Vec<TreeNode>, Nodes)) -> Option<String> {
    if fields.raw("root").is_none() {
        fields.missing("root");
    }
    let root = fields.name("root");
    nodes.1.root = Some(fields.span("root"));
    if let Some(entries) = fields.need("nodes").and_then(|node| fields.cx.entries(node, "nodes")) {
        if entries.is_empty() {
            fields.cx.error(Code::Empty, fields.key_span("nodes"), "a graph needs at least one node");
        }
        for entry in entries {
            nodes.1.by_id.insert(entry.key.clone(), entry.key_span);
            read_tree_node(fields.cx, &entry.value, &entry.key, nodes, false);
        }
    }
    fields.finish();
    root
}

/// A nested block: a leaf, or a node that is given the id `id`.
fn read_tree_branch(
    cx: &Context<'_>,
    node: &SourceNode,
    id: String,
    nodes: &mut (Vec<TreeNode>, Nodes),
) -> Option<AnswerTarget> {
    let has = |key: &str| node.get(key).is_some();
    if !has("ask") && (has("score") || has("reason")) {
        return leaf(cx, node).map(AnswerTarget::Leaf);
    }
    read_tree_node(cx, node, &id, nodes, true);
    Some(AnswerTarget::Node(id))
}

fn read_tree_node(
    cx: &Context<'_>,
    node: &SourceNode,
    id: &str,
    nodes: &mut (Vec<TreeNode>, Nodes),
    nested: bool,
) -> Option<()> {
    let fields = MappingReader::new(cx, node, if nested { "tree node" } else { "graph node" })?;
    nodes.1.by_id.entry(id.to_owned()).or_insert_with(|| fields.start());
    // The node is listed before those below it, so that the path reads from the root down.
    let place = nodes.0.len();
    nodes.0.push(TreeNode {
        id: id.to_owned(),
        ask: String::new(),
        answers: NodeAnswers::Choices(Vec::new()),
    });
    let ask = fields.need("ask").and_then(|node| cx.template(node, "ask"));
    for (first, second) in [("yes", "branches"), ("no", "branches"), ("yes", "choices"), ("no", "choices")] {
        fields.exclusive(first, second, "a node has yes and no, or choices of its own");
    }
    let mut target = |answer: &str, node: &SourceNode| match node.scalar() {
        Some(it) if !nested => {
            nodes.1.targets.insert((id.to_owned(), it.text.clone()), node.span);
            Some(AnswerTarget::Node(it.text.clone()))
        }
        _ if nested => read_tree_branch(cx, node, child_id(id, answer), nodes),
        _ => leaf(cx, node).map(AnswerTarget::Leaf),
    };
    let answers = if fields.has("choices") || fields.has("branches") {
        choices(&fields, target)
    } else {
        let yes = fields.need("yes").and_then(|node| target("yes", node));
        let no = fields.need("no").and_then(|node| target("no", node));
        yes.zip(no).map(|(yes, no)| NodeAnswers::YesNo { yes, no })
    };
    fields.knows(&["yes", "no", "choices", "branches"]);
    fields.finish();
    nodes.0[place].ask = ask?;
    nodes.0[place].answers = answers?;
    Some(())
}

/// Choices with a branch each: neither may be missing.
pub(super) fn choices(
    fields: &MappingReader<'_>,
    mut target: impl FnMut(&str, &SourceNode) -> Option<AnswerTarget>,
) -> Option<NodeAnswers> {
    let cx = fields.cx;
    let branches = fields.need("branches").and_then(|node| cx.entries(node, "branches"))?;
    let listed = fields.list("choices");
    let labels: Vec<String> = match listed {
        Some(items) => items.iter().filter_map(|node| cx.scalar_text(node, "choices")).collect(),
        None => branches.iter().map(|entry| entry.key.clone()).collect(),
    };
    for entry in branches.iter().filter(|entry| !labels.contains(&entry.key)) {
        let message = format!("`{}` is not one of the choices", entry.key);
        let diagnostic = Diagnostic::error(Code::UnknownName, entry.key_span, message);
        let known = labels.iter().map(String::as_str);
        cx.report(suggest_absent_name(diagnostic, entry, branches, known, "choices"));
    }
    let mut answers = Vec::new();
    for (at, label) in labels.iter().enumerate() {
        match branches.iter().find(|entry| entry.key == *label) {
            Some(entry) => answers.extend(target(label, &entry.value).map(|target| (label.clone(), target))),
            None => {
                let span =
                    listed.and_then(|nodes| nodes.get(at)).map_or_else(|| fields.start(), |node| node.span);
                cx.error(Code::MissingKey, span, format!("the choice `{label}` has no branch"));
            }
        }
    }
    Some(NodeAnswers::Choices(answers))
}

/// A leaf in native spelling; `label` is what Potato calls the reason.
pub(super) fn leaf(cx: &Context<'_>, node: &SourceNode) -> Option<Leaf> {
    let fields = MappingReader::new(cx, node, "leaf")?;
    let score = fields.need("score").and_then(|node| cx.number_in(node, "score", 0.0..=1.0));
    let reason = fields.any(&["reason", "label"]).and_then(|node| cx.plain_text(node, "reason"));
    fields.finish();
    Some(Leaf { score: score?, reason })
}
