//! The way through a rubric's trees, from the first question down; branches that were not taken are pale.

use std::fmt::Write as _;

use super::text::clip_to_bytes;
use crate::chart::escape_xml;
use crate::grade::TreePathStep;
use crate::rubric::{AnswerTarget, Criterion, CriterionKind, Graph, Leaf, Question, Rubric, TreeNode};
use crate::suite::{DataRow, fill_for_reader};

/// How much is shown of the ways that were not taken.
const FAINT_DEPTH: usize = 3;
const MOST_FAINT: usize = 24;

/// No path that a person reads is longer.
const MOST_STEPS: usize = 100;

/// Every tree of a rubric with the answers it got, or the answers alone where the rubric is not known. The row fills
/// `{{ row.field }}` in the questions.
pub(super) fn draw(rubric: Option<&Rubric>, path: &[TreePathStep], row: Option<&DataRow>) -> String {
    let trees = rubric.map(trees).unwrap_or_default();
    if trees.is_empty() {
        return if path.is_empty() { String::new() } else { answers_alone(path) };
    }
    let n = trees.len();
    let flow = |(criterion, graph): (&Criterion, &Graph)| {
        let title = if n == 1 {
            String::new()
        } else {
            format!("<h4>{}</h4>", escape_clipped_text(criterion.title()))
        };
        title + &Flow { criterion, graph, path, row, left: MOST_FAINT }.draw()
    };
    trees.into_iter().map(flow).collect()
}

fn trees(rubric: &Rubric) -> Vec<(&Criterion, &Graph)> {
    let mut trees: Vec<(&Criterion, &Graph)> = Vec::new();
    for question in rubric.questions() {
        if let CriterionKind::Tree(graph) = &question.criterion.ask
            && trees.last().is_none_or(|tree| tree.0.id != question.criterion.id)
        {
            trees.push((question.criterion, graph));
        }
    }
    trees
}

fn answers_alone(path: &[TreePathStep]) -> String {
    let mut out = String::from("<ol class=\"flow\">");
    for step in path.iter().take(MOST_STEPS) {
        let _ = write!(
            out,
            "<li class=\"node\"><div class=\"ask\">{}</div><ul class=\"ways\"><li class=\"taken\">\
             <span class=\"answer\">{}</span></li></ul></li>",
            escape_clipped_text(&step.node),
            escape_clipped_text(&step.answer)
        );
        if let Some(score) = step.score {
            out.push_str(&render_leaf_item(&Leaf { score, reason: step.reason.clone() }));
        }
    }
    out + "</ol>"
}

/// One tree, and how many more ways not taken there is room for.
struct Flow<'a> {
    criterion: &'a Criterion,
    graph: &'a Graph,
    path: &'a [TreePathStep],
    row: Option<&'a DataRow>,
    left: usize,
}

impl<'a> Flow<'a> {
    fn draw(&mut self) -> String {
        let mut out = String::from("<ol class=\"flow\">");
        let mut at = self.node(&self.graph.root);
        for _ in 0..MOST_STEPS {
            let Some(node) = at else { break };
            let answer = self.answer(node);
            let class = if answer.is_some() { "node" } else { "node open" };
            let _ = write!(
                out,
                "<li class=\"{class}\"><div class=\"ask\">{}</div><ul class=\"ways\">",
                self.render_question(node)
            );
            let mut next = None;
            for (label, target) in node.answers.targets() {
                if answer == Some(label) && next.is_none() {
                    next = Some(target);
                } else {
                    out.push_str(&self.render_untaken_branch(label, target, FAINT_DEPTH));
                }
            }
            if let (Some(answer), Some(_)) = (answer, next) {
                let _ = write!(
                    out,
                    "<li class=\"taken\"><span class=\"answer\">{}</span></li>",
                    escape_clipped_text(answer)
                );
            }
            out.push_str("</ul></li>");
            at = match next {
                Some(AnswerTarget::Node(id)) => self.node(id),
                Some(AnswerTarget::Leaf(leaf)) => {
                    out.push_str(&render_leaf_item(leaf));
                    None
                }
                None => {
                    out.push_str("<li class=\"end open\">no answer, so the path ends here</li>");
                    None
                }
            };
        }
        out + "</ol>"
    }

    fn node(&self, id: &str) -> Option<&'a TreeNode> {
        self.graph.position(id).map(|index| &self.graph.nodes[index])
    }

    fn render_question(&self, node: &TreeNode) -> String {
        escape_clipped_text(&fill_for_reader(&node.ask, self.row))
    }

    fn answer(&self, node: &TreeNode) -> Option<&'a str> {
        let id = Question { criterion: self.criterion, node: Some(node) }.id();
        self.path.iter().find(|path| path.node == id).map(|tree_path_step| tree_path_step.answer.as_str())
    }

    /// A way that was not taken, and a little of where it leads.
    fn render_untaken_branch(&mut self, label: &str, target: &AnswerTarget, depth: usize) -> String {
        let Some(left) = self.left.checked_sub(1) else { return String::new() };
        self.left = left;
        let to = match target {
            AnswerTarget::Leaf(leaf) => render_leaf(leaf),
            AnswerTarget::Node(id) => self.node(id).map(|node| self.below(node, depth)).unwrap_or_default(),
        };
        format!("<li class=\"faint\"><span class=\"answer\">{}</span> {to}</li>", escape_clipped_text(label))
    }

    fn below(&mut self, node: &TreeNode, depth: usize) -> String {
        let ask = format!("<span>{}</span>", self.render_question(node));
        if depth <= 1 {
            return ask + " …";
        }
        let ways: String = node
            .answers
            .targets()
            .map(|(label, target)| self.render_untaken_branch(label, target, depth - 1))
            .collect();
        format!("{ask}<ul class=\"ways\">{ways}</ul>")
    }
}

fn render_leaf_item(leaf: &Leaf) -> String {
    format!("<li class=\"end\">{}</li>", render_leaf(leaf))
}

fn render_leaf(leaf: &Leaf) -> String {
    let reason = leaf
        .reason
        .as_deref()
        .map(|reason| format!(" <span>{}</span>", escape_clipped_text(reason)))
        .unwrap_or_default();
    format!("<b class=\"leaf\">{:.2}</b>{reason}", leaf.score)
}

fn escape_clipped_text(text: &str) -> String {
    escape_xml(&clip_to_bytes(text, 400))
}
