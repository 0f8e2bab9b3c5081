//! Lists of programmatic evaluators, and graphs of questions.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::catalogue::{self, CHECKS, RECIPES};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::lower::{Spot, accept};
use crate::dialect::method::{CriterionIds, read_method_params};
use crate::dialect::rubric::{NamedRubrics, preset};
use crate::dialect::tree::{choices, leaf};
use crate::rubric::{
    AnswerTarget, Criterion, CriterionKind, Draft, Graph, NodeAnswers, Rubric, TreeNode, WHOLE,
};
use crate::source::{NodeShape, SourceNode, SourceSpan};
use crate::suite::Judge;

use super::endpoint::read_evaluator_judge;

/// A list of evaluators as a rubric, with the judge that their `config` names.
pub(super) struct EvaluatorList {
    pub(super) rubric: Option<Arc<Rubric>>,
    pub(super) judge: Judge,
}

struct Evaluator {
    criterion: Criterion,
    spot: Spot,
    judge: Option<Judge>,
}

/// A list of evaluators is a rubric whose criteria are those evaluators.
pub(super) fn evaluators(cx: &Context<'_>, items: &[SourceNode], span: SourceSpan) -> EvaluatorList {
    let (mut ids, mut spot, mut criteria) = (CriterionIds::default(), Spot::new(span), Vec::new());
    let mut judge: Option<Judge> = None;
    for item in items {
        let Some(evaluator) = evaluator(cx, item, &mut ids) else { continue };
        match (&judge, evaluator.judge) {
            (Some(first), Some(other)) if *first != other => cx.error(
                Code::Conflict,
                cx.head(item),
                "this evaluator has another judge in its `config` than one before it; a rubric has one judge",
            ),
            (_, told) => judge = judge.or(told),
        }
        criteria.push(evaluator.criterion);
        spot.children.push(evaluator.spot);
    }
    let is_list = !criteria.is_empty() || items.is_empty();
    let draft = is_list.then(|| Draft { criteria, ..Draft::default() });
    let rubric = draft.and_then(|draft| accept(cx, draft, &spot)).map(Arc::new);
    EvaluatorList { rubric, judge: judge.unwrap_or_default() }
}

fn evaluator(cx: &Context<'_>, node: &SourceNode, ids: &mut CriterionIds) -> Option<Evaluator> {
    let fields = MappingReader::new(cx, node, "evaluator")?;
    let name_node = fields.need("name")?;
    let name = cx.plain_text(name_node, "name")?;
    let key = fields.name("key");
    let empty = SourceNode { span: name_node.span, shape: NodeShape::Map(Vec::new()) };
    let params = MappingReader::new(cx, fields.get("params").unwrap_or(&empty), "set of parameters")?;
    params.knows(&["key"]);
    let judge = read_evaluator_judge(&params);
    let key = key.or_else(|| params.name("key"));
    let mut spot = Spot::new(fields.start());
    let ask = if name == "rubric_dag" {
        dag(&params, &mut spot)
    } else if let Some(entry) = catalogue::find_catalogue_entry(CHECKS, &name)
        .filter(|catalogue_entry| is_evaluator(catalogue_entry.name))
    {
        let mut method = read_method_params(&params, entry);
        // Potato ignores case by default.
        if name == "contains" {
            method.params.entry("case_sensitive").or_insert(Json::Bool(false));
        }
        Some(CriterionKind::Check(method))
    } else if let Some(entry) = catalogue::find_catalogue_entry(RECIPES, &name)
        .filter(|catalogue_entry| is_evaluator(catalogue_entry.name))
    {
        Some(CriterionKind::Recipe(read_method_params(&params, entry)))
    } else {
        let known = CHECKS
            .iter()
            .chain(RECIPES)
            .map(|catalogue_entry| catalogue_entry.name)
            .filter(|text| is_evaluator(text));
        cx.report(
            Diagnostic::error(Code::Unsupported, name_node.span, format!("there is no evaluator `{name}`"))
                .suggest(&name, known.chain(["rubric_dag"]), "evaluators"),
        );
        return None;
    };
    params.finish();
    fields.finish();
    let id = ids.fresh(key.as_deref().unwrap_or(&name));
    Some(Evaluator { criterion: Criterion::new(id, "", ask?), spot, judge })
}

/// The names of Potato's own library.
fn is_evaluator(name: &str) -> bool {
    name == "contains"
        || !name.contains(['-', ':'])
            && !matches!(
                name,
                "equals"
                    | "icontains"
                    | "regex"
                    | "levenshtein"
                    | "similar"
                    | "latency"
                    | "cost"
                    | "script"
                    | "javascript"
                    | "python"
                    | "webhook"
                    | "factuality"
            )
}

fn dag(params: &MappingReader<'_>, spot: &mut Spot) -> Option<CriterionKind> {
    let cx = params.cx;
    params.exclusive("dag", "preset", "a graph of your own, or a ready-made one");
    if let Some(node) = params.get("preset") {
        let name = cx.plain_text(node, "preset")?;
        let rubric = preset(cx, &name, node.span, &NamedRubrics::default())?;
        return match rubric.criteria.as_slice() {
            [only] if only.id == WHOLE => Some(only.ask.clone()),
            _ => {
                cx.error(Code::Conflict, node.span, format!("the preset `{name}` is not a graph"));
                None
            }
        };
    }
    let fields = MappingReader::new(cx, params.need("dag")?, "dag")?;
    let before = cx.n_errors();
    fields.knows(&["key"]);
    if fields.raw("root").is_none() {
        fields.missing("root");
    }
    let root = fields.name("root");
    spot.nodes.root = Some(fields.span("root"));
    let entries = fields.need("nodes").and_then(|node| cx.entries(node, "nodes")).unwrap_or_default();
    let mut nodes = Vec::new();
    for entry in entries {
        spot.nodes.by_id.insert(entry.key.clone(), entry.key_span);
        nodes.extend(dag_node(cx, &entry.value, &entry.key, spot));
    }
    fields.finish();
    (cx.n_errors() == before).then_some(CriterionKind::Tree(Graph { root: root?, nodes }))
}

fn dag_node(cx: &Context<'_>, node: &SourceNode, id: &str, spot: &mut Spot) -> Option<TreeNode> {
    let fields = MappingReader::new(cx, node, "dag node")?;
    let ask = fields.need("question").and_then(|node| cx.text(node, "question"));
    let answers = choices(&fields, |_, node| match node.scalar() {
        Some(it) => {
            spot.nodes.targets.insert((id.to_owned(), it.text.clone()), node.span);
            Some(AnswerTarget::Node(it.text.clone()))
        }
        None => leaf(cx, node).map(AnswerTarget::Leaf),
    });
    fields.finish();
    Some(TreeNode {
        id: id.to_owned(),
        ask: ask?,
        answers: answers.unwrap_or(NodeAnswers::Choices(Vec::new())),
    })
}
