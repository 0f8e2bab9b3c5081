//! A rubric in native spelling: the one shape that suites, monitors and presets share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;

use super::context::Context;
use super::fields::MappingReader;
use super::lower::{Spot, accept};
use super::method::{CriterionIds, compile_linear_pattern, read_method_params};
use super::tree::graph_of;
use crate::catalogue::{self, CHECKS, CatalogueEntry, GradingMethod, RECIPES};
use crate::check::ExternalCheck;
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{
    Aggregation, Anchor, CannotAssess, Choice, Criterion, CriterionKind, Display, Draft, EvidenceMissing,
    GraderKind, Group, LengthPenalty, LengthUnit, OnError, Operator, Polarity, RANGES_TOP, Range, Rubric,
    Scale, Unmet, Value, WHOLE, When, presets,
};
use crate::source::{NodeShape, SourceNode, SourceSpan};

/// Rubrics that can be referred to by name.
#[derive(Default)]
pub(super) struct NamedRubrics {
    /// `None`: the rubric exists but is invalid, so references to it are not reported as errors.
    pub(super) rubrics: BTreeMap<String, Option<Arc<Rubric>>>,
    presets: RefCell<HashMap<&'static str, Option<Arc<Rubric>>>>,
}

const AGGREGATIONS: [(&str, Aggregation); 3] = [
    ("weighted_average", Aggregation::WeightedAverage),
    ("min", Aggregation::Min),
    ("worst", Aggregation::Min),
];

/// A rubric in any of its forms; `extra` are criteria that are added to it.
pub(super) fn read_rubric_definition(
    cx: &Context<'_>,
    node: &SourceNode,
    named: &NamedRubrics,
    extra: EvalRubricAdditions,
) -> Option<Arc<Rubric>> {
    let (draft, spot) = match &node.shape {
        NodeShape::Scalar(_) => {
            if let Some(name) = node.text().filter(|text| named.rubrics.contains_key(*text)) {
                let message =
                    format!("`{name}` is the name of a rubric of this file, and here it is a criterion");
                cx.report(
                    Diagnostic::error(Code::BadValue, cx.head(node), message)
                        .label("a text is one criterion, which a judge decides")
                        .help(format!("refer to the rubric by `rubric: {{ref: {name}}}`")),
                );
                return None;
            }
            read_prose_rubric(cx, node)?
        }
        NodeShape::Map(_) => read_structured_rubric(cx, node, named, &extra)?,
        NodeShape::List(_) => {
            cx.report(
                Diagnostic::error(Code::WrongType, cx.head(node), "`rubric` must be a text or a mapping")
                    .label("this is a list")
                    .help("put the list under `criteria:`"),
            );
            return None;
        }
    };
    let (draft, spot) = extra.add_to(draft, spot);
    accept(cx, draft, &spot).map(Arc::new)
}

/// What an eval says about its rubric from outside.
#[derive(Default)]
pub(super) struct EvalRubricAdditions {
    pub(super) threshold: Option<(f64, SourceSpan)>,
    pub(super) checks: Vec<EvalCheck>,
}

/// A check in addition to a rubric. Without a name of its own it gets one that the rubric does not use.
pub(super) struct EvalCheck {
    criterion: Criterion,
    spot: Spot,
    is_named: bool,
}

impl EvalRubricAdditions {
    pub(super) fn add_to(self, mut draft: Draft, mut spot: Spot) -> (Draft, Spot) {
        if let Some((threshold, span)) = self.threshold {
            draft.pass_mark = threshold;
            spot.keys.push(("threshold", span));
        }
        let mut ids = CriterionIds::default();
        reserve_criterion_ids(&draft.criteria, &mut ids);
        self.checks.iter().filter(|check| check.is_named).for_each(|check| ids.take(&check.criterion.id));
        for EvalCheck { mut criterion, spot: at, is_named } in self.checks {
            if !is_named {
                criterion.id = ids.fresh(&criterion.id);
            }
            draft.criteria.push(criterion);
            spot.children.push(at);
        }
        (draft, spot)
    }
}

fn reserve_criterion_ids(criteria: &[Criterion], ids: &mut CriterionIds) {
    for criterion in criteria {
        ids.take(&criterion.id);
        reserve_criterion_ids(criterion.children(), ids);
    }
}

/// A draft of one text, read from a scalar.
pub(super) fn read_prose_rubric(cx: &Context<'_>, node: &SourceNode) -> Option<(Draft, Spot)> {
    let text = cx.template(node, "rubric")?;
    let whole = Criterion::new(WHOLE, text, CriterionKind::Question(Scale::Unit));
    let span = cx.head(node);
    let mut spot = Spot::new(span);
    spot.children.push(Spot::new(span).key("description", span));
    Some((Draft { criteria: vec![whole], ..Draft::default() }, spot))
}

fn read_structured_rubric(
    cx: &Context<'_>,
    node: &SourceNode,
    named: &NamedRubrics,
    extra: &EvalRubricAdditions,
) -> Option<(Draft, Spot)> {
    let fields = MappingReader::new(cx, node, "rubric")?;
    let base = find_base_rubric(&fields, named);
    if let (Some((_, outside)), true) = (extra.threshold, fields.has("threshold")) {
        cx.report(
            Diagnostic::error(
                Code::Conflict,
                fields.key_span("threshold"),
                "`threshold` is given twice for this eval",
            )
            .also(outside, "also given here")
            .help("keep one of them"),
        );
    }
    let read = read_rubric_keys(&fields, base);
    fields.finish();
    read
}

/// Reads a rubric's keys onto `base`; the caller finishes the mapping.
pub(super) fn read_rubric_keys(
    fields: &MappingReader<'_>,
    base: Option<Arc<Rubric>>,
) -> Option<(Draft, Spot)> {
    let has_base = base.is_some();
    let mut draft = base.map_or_else(Draft::default, |rubric| Draft::clone(&rubric));
    read_rubric_settings(fields, &mut draft);
    let mut spot = Spot::new(fields.start());
    for key in [
        "threshold",
        "scale",
        "length_penalty",
        "require_evidence",
        "evidence_missing",
        "aggregation",
        "criteria",
    ] {
        spot.keys.push((key, fields.span(key)));
    }
    // Faults of a base are its own; if one shows up all the same, it is shown where the base is named.
    spot.children = vec![Spot::new(fields.start()); draft.criteria.len()];
    fields.exclusive("criteria", "tree", "a rubric is either a list of criteria or a tree");
    fields.exclusive("criteria", "graph", "a rubric is either a list of criteria or a graph");
    fields.exclusive("tree", "graph", "a tree is a graph already");
    if let Some(items) = fields.list("criteria") {
        let mut ids = CriterionIds::default();
        draft.criteria.iter().for_each(|criterion| ids.take(&criterion.id));
        let (criteria, spots) = read_criteria_list(fields.cx, items, &mut ids);
        if criteria.is_empty() && items.is_empty() {
            fields.cx.report(
                Diagnostic::error(Code::Empty, fields.key_span("criteria"), "`criteria` lists nothing")
                    .help("add an entry: `- name: …` with a `description`"),
            );
        }
        draft.criteria.extend(criteria);
        spot.children.extend(spots);
    }
    if let Some((graph, nodes)) = graph_of(fields) {
        if has_base {
            fields.cx.error(
                Code::Conflict,
                fields.start(),
                "a named rubric can be extended by criteria, not by a tree",
            );
        }
        let mut at = Spot::new(fields.key_span(if fields.has("tree") { "tree" } else { "graph" }));
        at.nodes = nodes;
        draft.criteria.push(Criterion::new(WHOLE, "", CriterionKind::Tree(graph)));
        spot.children.push(at);
    }
    let says_what = ["criteria", "tree", "graph", "ref", "preset"].iter().any(|text| fields.has(text));
    if !says_what {
        fields.lacks(
            &["criteria", "tree", "graph", "preset", "ref"],
            Diagnostic::error(Code::MissingKey, fields.start(), "this rubric does not say what to look for")
                .help("add `criteria:`, `tree:`, `graph:`, `preset:` or `ref:`"),
        );
        return None;
    }
    for key in ["criteria", "tree", "graph"] {
        if fields.has(key) && fields.get(key).is_none() {
            fields.missing(key);
        }
    }
    (!draft.criteria.is_empty()).then_some((draft, spot))
}

pub(super) fn find_base_rubric(fields: &MappingReader<'_>, named: &NamedRubrics) -> Option<Arc<Rubric>> {
    fields.exclusive("ref", "preset", "a rubric builds on one other");
    if let (Some(node), Some(name)) = (fields.raw("ref"), fields.name("ref")) {
        match named.rubrics.get(&name) {
            Some(rubric) => return rubric.clone(),
            None => fields.cx.report(
                Diagnostic::error(Code::UnknownName, node.span, format!("there is no rubric `{name}`"))
                    .suggest(
                        &name,
                        named.rubrics.keys().map(String::as_str),
                        "rubrics of this file and its imports",
                    )
                    .note("a rubric is defined under the top-level `rubrics:`"),
            ),
        }
    }
    let node = fields.get("preset")?;
    let name = fields.cx.plain_text(node, "preset")?;
    preset(fields.cx, &name, node.span, named)
}

pub(super) fn preset(
    cx: &Context<'_>,
    name: &str,
    span: SourceSpan,
    named: &NamedRubrics,
) -> Option<Arc<Rubric>> {
    let Some(preset) = presets::find_preset(name) else {
        cx.report(
            Diagnostic::error(Code::UnknownName, span, format!("there is no preset `{name}`")).suggest(
                name,
                presets::ALL.iter().map(|preset| preset.name),
                "presets",
            ),
        );
        return None;
    };
    if let Some(known) = named.presets.borrow().get(preset.name) {
        return known.clone();
    }
    let path = PathBuf::from(format!("<preset {name}>.yaml"));
    let file = cx.sources.borrow_mut().add(path, preset.text.into());
    let rubric = cx.parse(file).and_then(|node| {
        let fields = MappingReader::new(cx, &node, "rubric")?;
        let (draft, spot) = read_rubric_keys(&fields, None)?;
        fields.finish();
        accept(cx, draft, &spot).map(Arc::new)
    });
    named.presets.borrow_mut().insert(preset.name, rubric.clone());
    rubric
}

fn read_rubric_settings(fields: &MappingReader<'_>, draft: &mut Draft) {
    fields.knows(&["ref", "preset"]);
    if let Some(it) = fields.name("name") {
        draft.name = Some(it);
    }
    if let Some(it) = fields.template("description") {
        draft.description = Some(it);
    }
    if let Some(it) = fields.number("threshold") {
        draft.pass_mark = it;
    }
    if let Some(it) = fields.bool("strict") {
        draft.strict = it;
    }
    if let Some(it) = fields.bool("require_evidence") {
        draft.require_evidence = it;
    }
    if let Some(it) = fields.word("evidence_missing", &EvidenceMissing::ALL) {
        draft.evidence_missing = Some(it);
    }
    if let Some(it) = fields.bool("mask_verdicts") {
        draft.mask_verdicts = it;
    }
    if let Some(it) = fields.word("aggregation", &AGGREGATIONS) {
        draft.aggregation = it;
    }
    if let Some(it) = fields.get("scale").and_then(|node| read_display_scale(fields.cx, node)) {
        draft.display = it;
    }
    if let Some(it) = fields.word("on_error", &OnError::ALL) {
        draft.on_error = it;
    }
    if let Some(it) = fields.fields("length_penalty", "length penalty") {
        draft.length_penalty = length_penalty(it);
    }
    if let Some(it) = fields.word("reasoning", &[("required", true), ("optional", false)]) {
        draft.require_reasoning = it;
    }
    if let Some(it) = fields.bool("default_mid_anchor") {
        draft.mid_anchor = it;
    }
    if let Some(it) = fields.text_or_file("prompt") {
        draft.prompt = Some(it);
    }
}

fn length_penalty(fields: MappingReader<'_>) -> Option<LengthPenalty> {
    let count = |key| fields.need(key).and_then(|node| fields.cx.integer(node, key, 0..=i64::from(u32::MAX)));
    let (free, cap) = (count("free"), count("cap"));
    let penalty = fields.need("penalty").and_then(|node| fields.cx.number_in(node, "penalty", 0.0..=1.0));
    let unit = fields.word("unit", &LengthUnit::ALL).unwrap_or_default();
    fields.finish();
    Some(LengthPenalty {
        free: u32::try_from(free?).ok()?,
        cap: u32::try_from(cap?).ok()?,
        penalty: penalty?,
        unit,
    })
}

/// How scores are shown: `unit`, `boolean`, `letter` or `likert: {min, max}`.
fn read_display_scale(cx: &Context<'_>, node: &SourceNode) -> Option<Display> {
    if let NodeShape::Map(_) = &node.shape {
        let fields = MappingReader::new(cx, node, "display scale")?;
        let bounds = fields.need("likert").and_then(|node| MappingReader::new(cx, node, "likert scale"));
        fields.finish();
        let bounds = bounds?;
        let read = bounds_of(&bounds);
        bounds.finish();
        return read.map(|(min, max)| Display::Likert { min, max });
    }
    cx.word(
        node,
        "scale",
        &[
            ("unit", Display::Unit),
            ("boolean", Display::Boolean),
            ("letter", Display::Letter),
            ("likert", Display::Likert { min: 1, max: 5 }),
        ],
    )
}

fn bounds_of(fields: &MappingReader<'_>) -> Option<(i64, i64)> {
    let bound = |key| fields.need(key).and_then(|node| fields.cx.integer(node, key, -1_000_000..=1_000_000));
    let (min, max) = (bound("min"), bound("max"));
    Some((min?, max?))
}

fn read_criteria_list(
    cx: &Context<'_>,
    items: &[SourceNode],
    ids: &mut CriterionIds,
) -> (Vec<Criterion>, Vec<Spot>) {
    // Names that authors chose take precedence over generated ones, at any position.
    items.iter().filter_map(|node| node.get("name")?.text_or_null()).for_each(|text| ids.take(text));
    items.iter().filter_map(|node| read_criterion(cx, node, ids)).unzip()
}

fn read_criterion(cx: &Context<'_>, node: &SourceNode, ids: &mut CriterionIds) -> Option<(Criterion, Spot)> {
    let fields = MappingReader::new(cx, node, "criterion")?;
    let mut spot = Spot::new(fields.start());
    const KEYS: [&str; 13] = [
        "criteria",
        "name",
        "description",
        "weight",
        "threshold",
        "min_score",
        "examples",
        "when",
        "requires",
        "by",
        "scale",
        "levels",
        "guard",
    ];
    spot.keys.extend(KEYS.iter().map(|key| (*key, fields.span(key))));
    let asks = ["check", "recipe", "criteria", "tree", "graph"];
    for (at, first) in asks.iter().enumerate() {
        for second in &asks[at + 1..] {
            fields.exclusive(first, second, "a criterion asks one thing");
        }
        fields.exclusive(first, "scale", "only a question is answered on a scale");
    }
    let ask = ask(&fields, &mut spot, ids);
    let name = fields.name("name").or_else(|| match &ask {
        // A check says what it is by its type.
        Some(CriterionKind::Check(method) | CriterionKind::Recipe(method)) => {
            Some(ids.fresh(method.entry.name))
        }
        _ => {
            fields.missing("name");
            None
        }
    });
    if let Some(name) = &name {
        ids.take(name);
    }
    let ask_is_known = ask.is_some();
    let name = name.unwrap_or_else(|| ids.fresh(UNREADABLE));
    let mut criterion = Criterion::new(name, "", ask.unwrap_or(CriterionKind::Question(Scale::Unit)));
    plain_keys(&fields, &mut criterion, ask_is_known);
    if let Some(levels) = fields.map("levels").filter(|_| ask_is_known) {
        let scale = if let CriterionKind::Question(scale) = &criterion.ask { scale } else { &Scale::Unit };
        criterion.levels = levels
            .iter()
            .filter_map(|entry| {
                Some((parse_scale_point(scale, &entry.key), cx.scalar_text(&entry.value, &entry.key)?))
            })
            .collect();
        spot.levels = levels
            .iter()
            .map(|entry| (parse_scale_point(scale, &entry.key).to_string(), entry.key_span))
            .collect();
    }
    fields.finish();
    Some((criterion, spot))
}

/// Replaces a name or description that could not be read, so that the rest can still be checked.
pub(super) const UNREADABLE: &str = "(unreadable)";

/// The keys that mean the same whatever is asked.
fn plain_keys(fields: &MappingReader<'_>, criterion: &mut Criterion, ask_is_known: bool) {
    let cx = fields.cx;
    criterion.label = fields.text("label");
    criterion.description = match &criterion.ask {
        CriterionKind::Question(_) if !ask_is_known => {
            fields.knows(&["description"]);
            UNREADABLE.to_owned()
        }
        CriterionKind::Question(_) => {
            let text = fields.need("description").and_then(|node| cx.template(node, "description"));
            text.unwrap_or_else(|| UNREADABLE.to_owned())
        }
        _ => fields.template("description").unwrap_or_default(),
    };
    criterion.weight = fields.number("weight").unwrap_or(1.0);
    if let Some(node) = fields.get("by") {
        let one = |node: &SourceNode| cx.word(node, "by", &GraderKind::ALL);
        criterion.by = match &node.shape {
            NodeShape::List(items) => items.iter().filter_map(one).collect(),
            _ => one(node).into_iter().collect(),
        };
        criterion.by.dedup();
        if fields.list_is_empty("by") {
            cx.error(Code::Empty, fields.key_span("by"), "`by` is not a kind of grader");
        }
    }
    criterion.required = fields.bool("required").unwrap_or(false);
    fields.exclusive("guard", "not", "a guard is turned round already");
    criterion.polarity = match (fields.bool("guard"), fields.bool("not")) {
        (Some(true), _) => Polarity::Guard,
        (_, Some(true)) => Polarity::Negated,
        _ => Polarity::Plain,
    };
    criterion.threshold = fields.number("threshold");
    criterion.min_score = fields.number("min_score");
    criterion.operator = fields.word("operator", &Operator::ALL);
    criterion.when = fields.fields("when", "condition").and_then(read_when_condition);
    criterion.requires = match fields.get("requires").map(|node| &node.shape) {
        Some(NodeShape::List(items)) => {
            items.iter().filter_map(|node| cx.scalar_text(node, "requires")).collect()
        }
        Some(_) => fields.name("requires").into_iter().collect(),
        None => Vec::new(),
    };
    criterion.unmet = fields
        .word("unmet", &[("zero", Unmet::Zero), ("not_applicable", Unmet::NotApplicable)])
        .unwrap_or_default();
    criterion.cannot_assess = fields.get("cannot_assess").and_then(|node| {
        match node.scalar().and_then(crate::source::Scalar::as_bool) {
            Some(offered) => offered.then_some(CannotAssess::Skip),
            None => cx.word(node, "cannot_assess", &CannotAssess::ALL),
        }
    });
    if let Some(items) = fields.list("examples") {
        criterion.anchors = items.iter().filter_map(|node| read_example_anchor(cx, node)).collect();
    }
}

fn ask(fields: &MappingReader<'_>, spot: &mut Spot, ids: &mut CriterionIds) -> Option<CriterionKind> {
    let cx = fields.cx;
    if let Some(items) = fields.list("criteria") {
        let (criteria, spots) = read_criteria_list(cx, items, ids);
        spot.children = spots;
        let aggregation = fields.word("aggregation", &AGGREGATIONS).unwrap_or_default();
        return Some(CriterionKind::Group(Group { criteria, aggregation }));
    }
    if let Some((graph, nodes)) = graph_of(fields) {
        spot.nodes = nodes;
        return Some(CriterionKind::Tree(graph));
    }
    if let Some(node) = fields.get("check") {
        let inner = MappingReader::new(cx, node, "check")?;
        let method = read_typed_method(&inner, CHECKS, "check");
        finish_typed(inner, method.is_some());
        return method.map(CriterionKind::Check);
    }
    if let Some(node) = fields.get("recipe") {
        let inner = MappingReader::new(cx, node, "recipe")?;
        let method = read_typed_method(&inner, RECIPES, "recipe");
        finish_typed(inner, method.is_some());
        return method.map(CriterionKind::Recipe);
    }
    match fields.get("scale") {
        Some(node) => read_answer_scale(cx, node).map(CriterionKind::Question),
        None => Some(CriterionKind::Question(Scale::Unit)),
    }
}

/// Without a known type it is unknown which keys belong here.
fn finish_typed(fields: MappingReader<'_>, is_known: bool) {
    if is_known {
        fields.finish();
    }
}

/// A check or recipe with its `type` next to its parameters.
fn read_typed_method(
    fields: &MappingReader<'_>,
    entries: &'static [CatalogueEntry],
    what: &str,
) -> Option<GradingMethod> {
    let node = fields.need("type")?;
    let name = fields.cx.plain_text(node, "type")?;
    let Some(entry) = catalogue::find_catalogue_entry(entries, &name) else {
        if let Some(plain) =
            name.strip_prefix("not-").filter(|rest| catalogue::find_catalogue_entry(entries, rest).is_some())
        {
            fields.cx.report(
                Diagnostic::error(Code::Unsupported, node.span, format!("there is no {what} `{name}`"))
                    .help(format!("write `type: {plain}` with `not: true` next to it")),
            );
            return None;
        }
        let (others, other) = if what == "check" { (RECIPES, "recipe") } else { (CHECKS, "check") };
        if catalogue::find_catalogue_entry(others, &name).is_some() {
            let message = format!("`{name}` is a {other}, and not a {what}");
            fields.cx.report(
                Diagnostic::error(Code::Unsupported, node.span, message)
                    .help(format!("write `{other}: {{type: {name}}}` in a criterion")),
            );
            return None;
        }
        fields.cx.report(
            Diagnostic::error(Code::Unsupported, node.span, format!("there is no {what} `{name}`")).suggest(
                &name,
                entries.iter().map(|entry| entry.name),
                "known",
            ),
        );
        return None;
    };
    let method = read_method_params(fields, entry);
    report_value_file(fields, &method);
    Some(method)
}

/// A check of a native file has its value in the file; a path would be compared as text.
fn report_value_file(fields: &MappingReader<'_>, method: &GradingMethod) {
    let is_path = |value: &Json| {
        value.as_str().and_then(|text| text.strip_prefix("file://")).is_some_and(|path| !path.is_empty())
    };
    let names_file = match method.params.get("value") {
        Some(Json::Array(values)) => values.iter().any(is_path),
        Some(value) => is_path(value),
        None => false,
    };
    if names_file && !ExternalCheck::is_named(method.entry.name) {
        let message = format!("the `value` of `{}` is not read from a file", method.entry.name);
        fields.cx.report(
            Diagnostic::error(Code::Unsupported, fields.span("value"), message).help(
                "write the text, the list or the schema itself; for the address of a file as text, use `regex` with `file:[/][/]…`",
            ),
        );
    }
}

/// One entry of an eval's `checks`: a check, together with how it counts.
pub(super) fn read_eval_check(cx: &Context<'_>, node: &SourceNode) -> Option<EvalCheck> {
    let fields = MappingReader::new(cx, node, "check")?;
    let spot =
        Spot::new(fields.start()).key("weight", fields.span("weight")).key("name", fields.span("name"));
    let method = read_typed_method(&fields, CHECKS, "check")?;
    let name = fields.name("name");
    let is_named = name.is_some();
    let mut criterion = Criterion::new(
        name.unwrap_or_else(|| method.entry.name.to_owned()),
        "",
        CriterionKind::Check(method),
    );
    criterion.description = fields.text("description").unwrap_or_default();
    criterion.weight = fields.number("weight").unwrap_or(1.0);
    criterion.required = fields.bool("required").unwrap_or(false);
    if fields.bool("not").unwrap_or(false) {
        criterion.polarity = Polarity::Negated;
    }
    fields.finish();
    Some(EvalCheck { criterion, spot, is_named })
}

fn read_when_condition(fields: MappingReader<'_>) -> Option<When> {
    fields.exclusive("contains", "regex", "a condition looks for one thing");
    let contains =
        fields.get("contains").and_then(|node| fields.cx.plain_text(node, "contains")).map(When::Contains);
    let matches = fields.get("regex").and_then(|node| {
        let text = fields.cx.plain_text(node, "regex")?;
        compile_linear_pattern(fields.cx, node, &text).map(When::Matches)
    });
    if !fields.has("contains") && !fields.has("regex") {
        fields.lacks(
            &["contains", "regex"],
            Diagnostic::error(Code::MissingKey, fields.start(), "a condition needs `contains` or `regex`")
                .help("write `when: {contains: \"text\"}` or `when: {regex: 'pattern'}`"),
        );
    }
    fields.finish();
    contains.or(matches)
}

fn read_example_anchor(cx: &Context<'_>, node: &SourceNode) -> Option<Anchor> {
    let fields = MappingReader::new(cx, node, "example")?;
    let response = fields.need("response").and_then(|node| cx.text(node, "response"));
    let score = fields.need("score").and_then(|node| cx.number_in(node, "score", 0.0..=1.0));
    let reason = fields.text("reason");
    fields.finish();
    Some(Anchor { response: response?, score: score?, reason })
}

fn read_answer_scale(cx: &Context<'_>, node: &SourceNode) -> Option<Scale> {
    if node.map().is_none() {
        let words = [("binary", Scale::Binary), ("unit", Scale::Unit), ("likert", Scale::likert(1, 5))];
        let found = node.text().and_then(|text| words.iter().find(|word| word.0 == text));
        if found.is_none() {
            cx.report(
                Diagnostic::error(Code::BadValue, cx.head(node), format!("`scale` cannot be {}", node.describe()))
                    .note("a scale is `binary`, `unit`, `likert: {min: 1, max: 5}`, `ranges: {0: …}` or `choices: {name: score}`"),
            );
        }
        return found.map(|found| found.1.clone());
    }
    let fields = MappingReader::new(cx, node, "scale")?;
    for (first, second) in [("likert", "ranges"), ("likert", "choices"), ("ranges", "choices")] {
        fields.exclusive(first, second, "an answer is on one scale");
    }
    let kinds = ["likert", "ranges", "choices"];
    let kind = kinds.into_iter().find(|kind| fields.has(kind));
    let read = match kind {
        None if fields.has("min") || fields.has("max") => {
            fields.knows(&["min", "max"]);
            cx.report(
                Diagnostic::error(
                    Code::MissingKey,
                    fields.start(),
                    "this scale does not say what kind it is",
                )
                .help("write `scale: {likert: {min: 1, max: 5}}`"),
            );
            None
        }
        None => {
            fields.lacks(
                &kinds,
                Diagnostic::error(Code::MissingKey, fields.start(), "this scale says nothing").note(
                    "a scale is `binary`, `unit`, `likert: {min, max}`, `ranges: {0: …}` or `choices: {name: score}`",
                ),
            );
            None
        }
        Some("likert") => fields
            .need("likert")
            .and_then(|node| MappingReader::new(cx, node, "likert scale"))
            .and_then(read_likert_scale),
        Some("ranges") => {
            fields.need("ranges").and_then(|node| read_score_ranges(cx, node)).map(Scale::Ranges)
        }
        Some(_) => fields.need("choices").and_then(|node| cx.entries(node, "choices")).and_then(|entries| {
            let choice = |entry: &crate::source::NodeEntry| {
                Some(Choice {
                    label: entry.key.clone(),
                    score: cx.number_in(&entry.value, &entry.key, 0.0..=1.0)?,
                })
            };
            let read: Vec<Option<Choice>> = entries.iter().map(choice).collect();
            read.into_iter().collect::<Option<Vec<Choice>>>().map(Scale::Choices)
        }),
    };
    fields.knows(&kinds);
    fields.finish();
    read
}

fn read_likert_scale(fields: MappingReader<'_>) -> Option<Scale> {
    let cx = fields.cx;
    let bounds = bounds_of(&fields);
    let labels = fields.map("labels").unwrap_or_default().iter();
    let label = |entry: &crate::source::NodeEntry| {
        Some((point_number(cx, &entry.key, entry.key_span)?, cx.scalar_text(&entry.value, "labels")?))
    };
    let labels = labels.filter_map(label).collect();
    fields.finish();
    bounds.map(|(min, max)| Scale::Likert { min, max, labels })
}

fn point_number(cx: &Context<'_>, key: &str, span: SourceSpan) -> Option<i64> {
    let number = key.parse().ok();
    if number.is_none() {
        cx.error(
            Code::Scale,
            span,
            format!("`{key}` is not a whole number, so it is not a point of this scale"),
        );
    }
    number
}

/// Ranges of a 0–10 scale: a map from lower bound to text, or a list of `{score_range, outcome}`.
pub(super) fn read_score_ranges(cx: &Context<'_>, node: &SourceNode) -> Option<Vec<Range>> {
    match &node.shape {
        NodeShape::Map(entries) => {
            let start = |entry: &crate::source::NodeEntry| {
                (point_number(cx, &entry.key, entry.key_span), cx.scalar_text(&entry.value, &entry.key))
            };
            let read: Vec<(Option<i64>, Option<String>)> = entries.iter().map(start).collect();
            let read: Option<Vec<(i64, String)>> =
                read.into_iter().map(|(from, text)| from.zip(text)).collect();
            let read = read?;
            let ends = read
                .iter()
                .skip(1)
                .map(|read| read.0.saturating_sub(1))
                .chain([RANGES_TOP])
                .collect::<Vec<_>>();
            Some(read.into_iter().zip(ends).map(|((from, text), to)| Range { from, to, text }).collect())
        }
        NodeShape::List(items) => {
            let read: Vec<Option<Range>> = items.iter().map(|node| read_score_range(cx, node)).collect();
            read.into_iter().collect()
        }
        NodeShape::Scalar(_) => {
            cx.wrong_type(node, "ranges", "a mapping from lower bounds to texts");
            None
        }
    }
}

fn read_score_range(cx: &Context<'_>, node: &SourceNode) -> Option<Range> {
    let fields = MappingReader::new(cx, node, "score range")?;
    let bounds = fields.need("score_range").and_then(|node| cx.list(node, "score_range"));
    if bounds.is_some_and(|nodes| nodes.len() != 2) {
        cx.error(
            Code::Scale,
            fields.span("score_range"),
            "`score_range` is a pair of whole numbers: [from, to]",
        );
    }
    let bounds = bounds.filter(|nodes| nodes.len() == 2);
    let bound = |at: usize| bounds.and_then(|nodes| cx.integer(&nodes[at], "score_range", 0..=RANGES_TOP));
    let (from, to) = (bound(0), bound(1));
    let text = fields.need("outcome").and_then(|node| cx.text(node, "outcome"));
    fields.finish();
    Some(Range { from: from?, to: to?, text: text? })
}

fn parse_scale_point(scale: &Scale, key: &str) -> Value {
    match scale {
        Scale::Choices(_) => Value::Text(key.to_owned()),
        Scale::Binary => match key {
            "true" | "yes" => Value::Bool(true),
            "false" | "no" => Value::Bool(false),
            _ => Value::Text(key.to_owned()),
        },
        Scale::Unit | Scale::Likert { .. } | Scale::Ranges(_) => {
            key.parse().map_or_else(|_| Value::Text(key.to_owned()), Value::Number)
        }
    }
}
