//! What stands under `assert` in AgentV and promptfoo files, as criteria.

use serde_json::Value as Json;

use super::grader;
use crate::catalogue::{self, CHECKS, RECIPES};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::{Context, pretty};
use crate::dialect::fields::MappingReader;
use crate::dialect::lower::Spot;
use crate::dialect::method::{CriterionIds, read_method_params};
use crate::dialect::rubric::{UNREADABLE, read_score_ranges};
use crate::rubric::{Aggregation, Criterion, CriterionKind, Group, Operator, Polarity, Scale};
use crate::source::{NodeShape, SourceNode};

/// All assertions of one test.
#[derive(Default)]
pub(super) struct AssertionCriteria {
    pub(super) criteria: Vec<Criterion>,
    pub(super) spots: Vec<Spot>,
    /// The judge's prompt, model and temperature where an assertion names them.
    pub(super) prompt: Option<String>,
    pub(super) model: Option<String>,
    pub(super) temperature: Option<f64>,
    n_judged: usize,
}

/// Types whose `value` is a rubric.
const RUBRIC_TYPES: [&str; 5] = ["llm-rubric", "agent-rubric", "rubrics", "rubric", "llm-grader"];

pub(super) fn assertions(cx: &Context<'_>, nodes: &[&SourceNode]) -> AssertionCriteria {
    let mut reader =
        AssertionReader { cx, ids: CriterionIds::default(), asserted: AssertionCriteria::default() };
    let (criteria, spots) = reader.list(nodes);
    let mut asserted = reader.asserted;
    (asserted.criteria, asserted.spots) = (criteria, spots);
    // A single group is the rubric itself.
    if let [only] = asserted.criteria.as_slice()
        && let CriterionKind::Group(group) = &only.ask
        && (only.polarity, only.required, only.threshold) == (Polarity::Plain, false, None)
    {
        asserted.criteria = group.criteria.clone();
        asserted.spots = asserted.spots.remove(0).children;
    }
    asserted
}

struct AssertionReader<'a> {
    cx: &'a Context<'a>,
    ids: CriterionIds,
    asserted: AssertionCriteria,
}

impl<'a> AssertionReader<'a> {
    /// All plain strings become one rubric, which stands where the first of them did.
    fn list(&mut self, nodes: &[&SourceNode]) -> (Vec<Criterion>, Vec<Spot>) {
        let strings: Vec<&SourceNode> = nodes.iter().copied().filter(|node| node.text().is_some()).collect();
        let (mut criteria, mut spots) = (Vec::new(), Vec::new());
        for &node in nodes {
            let read = match node.text() {
                Some(_) if std::ptr::eq(node, strings[0]) => Some(self.strings(&strings)),
                Some(_) => None,
                None => self.assertion(node),
            };
            if let Some((criterion, spot)) = read {
                criteria.push(criterion);
                spots.push(spot);
            }
        }
        (criteria, spots)
    }

    fn strings(&mut self, strings: &[&SourceNode]) -> (Criterion, Spot) {
        let mut spot = Spot::new(strings[0].span);
        let mut criteria = Vec::new();
        for node in strings {
            spot.children.push(Spot::new(node.span).key("description", node.span));
            criteria.extend(self.item(node, criteria.len() + 1));
        }
        self.asserted.n_judged += 1;
        let weight = criteria.len() as f64;
        let mut group = group(self.ids.fresh("llm-rubric"), criteria);
        group.weight = weight;
        (group, spot)
    }

    fn assertion(&mut self, node: &SourceNode) -> Option<(Criterion, Spot)> {
        let cx = self.cx;
        let fields = MappingReader::new(cx, node, "assertion")?;
        // An entry of v4's inline `rubrics` list has no type.
        if !fields.has("type") && (fields.has("outcome") || fields.has("score_ranges")) {
            let criterion = self.item(node, 1)?;
            self.asserted.n_judged += 1;
            fields.knows(&["outcome"]);
            return Some((
                criterion,
                Spot::new(fields.start()).key(
                    "scale",
                    fields.get("score_ranges").map_or_else(|| fields.start(), |node| cx.head(node)),
                ),
            ));
        }
        let type_node = fields.need("type")?;
        let written = cx.plain_text(type_node, "type")?;
        let (kind, inverted) = match written.strip_prefix("not-") {
            Some(kind) => (canonical_assertion_type(kind), true),
            None => (canonical_assertion_type(&written), false),
        };
        let mut spot = Spot::new(fields.start())
            .key("weight", fields.span("weight"))
            .key("scale", fields.get("score_ranges").map_or_else(|| fields.start(), |node| cx.head(node)));
        let named = fields.any(&["name", "metric"]).and_then(|node| cx.scalar_text(node, "name"));
        let ask = if RUBRIC_TYPES.contains(&kind.as_str()) {
            self.asserted.n_judged += 1;
            self.rubric(&fields, &kind, &mut spot)
        } else if matches!(kind.as_str(), "assert-set" | "composite") {
            self.set(&fields, &mut spot)
        } else {
            self.method(&fields, &kind, (type_node, &written))
        };
        // Without a known type nobody knows which keys belong here.
        let ask = ask?;
        let default = if let CriterionKind::Group(_) | CriterionKind::Question(_) = &ask {
            kind.as_str()
        } else {
            written.as_str()
        };
        let id = self.ids.fresh(named.as_deref().unwrap_or(default));
        let description = match &ask {
            CriterionKind::Question(_) => self.text_of(&fields, &kind),
            _ => String::new(),
        };
        let mut criterion = Criterion::new(id, description, ask);
        criterion.weight = fields.number_in("weight", 0.0..=f64::MAX).unwrap_or(1.0);
        criterion.required = fields.bool("required").unwrap_or(false);
        criterion.threshold = fields.number_in("min_score", 0.0..=1.0);
        if matches!(criterion.ask, CriterionKind::Group(_) | CriterionKind::Question(_)) {
            criterion.threshold = criterion.threshold.or(fields.number_in("threshold", 0.0..=1.0));
            criterion.operator = fields.word("operator", &Operator::ALL);
        }
        let negate = fields.bool("negate").unwrap_or(false);
        if inverted != negate {
            criterion.polarity = Polarity::Negated;
            // What the items demand is now what must not be; their own gates would fail what passes.
            if let CriterionKind::Group(group) = &mut criterion.ask {
                group.criteria.iter_mut().for_each(without_gates);
            }
        }
        fields.knows(&["id", "description", "reason"]);
        fields.refuses(&["transform", "contextTransform", "postprocess"]);
        fields.finish();
        Some((criterion, spot))
    }

    fn method(
        &mut self,
        fields: &MappingReader<'_>,
        kind: &str,
        (at, written): (&SourceNode, &str),
    ) -> Option<CriterionKind> {
        let cx = self.cx;
        let check = catalogue::find_catalogue_entry(CHECKS, kind)
            .filter(|catalogue_entry| !catalogue_entry.name.contains('_'));
        let recipe = catalogue::find_catalogue_entry(RECIPES, kind)
            .filter(|catalogue_entry| !catalogue_entry.name.contains('_'));
        let Some(entry) = check.or(recipe) else {
            let known = CHECKS
                .iter()
                .chain(RECIPES)
                .map(|catalogue_entry| catalogue_entry.name)
                .filter(|text| !text.contains('_'));
            let message = format!("assertion type `{written}` is not supported");
            let mut diagnostic = Diagnostic::error(Code::Unsupported, at.span, message).suggest(
                kind,
                known.chain(["llm-rubric", "assert-set"]),
                "supported, also with `not-` before them",
            );
            if let Some(meant) = diagnostic.replacement.take() {
                let inverted = if written.starts_with("not-") { "not-" } else { "" };
                diagnostic = diagnostic.help(format!("did you mean `{inverted}{meant}`?"));
                diagnostic.replacement = Some(format!("{inverted}{meant}"));
            }
            cx.report(diagnostic);
            return None;
        };
        if recipe.is_some() {
            self.asserted.n_judged += 1;
            self.judge(fields);
        } else {
            fields.ignores(&["provider"]);
        }
        if !entry.params.iter().any(|param| param.name == "config") {
            fields.ignores(&["config"]);
        }
        let mut method = read_method_params(fields, entry);
        if entry.name == "contains" && !method.params.contains_key("value") {
            fields.missing("value");
        }
        if entry.name == "script" {
            self.other_keys(fields, &mut method.params);
        }
        Some(if check.is_some() { CriterionKind::Check(method) } else { CriterionKind::Recipe(method) })
    }

    /// AgentV hands whatever else a script assertion says to the script.
    fn other_keys(&self, fields: &MappingReader<'_>, params: &mut serde_json::Map<String, Json>) {
        const OWN: [&str; 17] = [
            "type",
            "name",
            "metric",
            "command",
            "script",
            "cwd",
            "timeout_ms",
            "config",
            "env",
            "weight",
            "required",
            "min_score",
            "negate",
            "id",
            "description",
            "reason",
            "provider",
        ];
        let others = fields.others(&OWN);
        if !others.is_empty() {
            let config = params.entry("config").or_insert_with(|| Json::Object(serde_json::Map::new()));
            if let Json::Object(config) = config {
                config.extend(others.iter().map(|entry| (entry.key.clone(), self.cx.json(&entry.value))));
            }
        }
    }

    fn set(&mut self, fields: &MappingReader<'_>, spot: &mut Spot) -> Option<CriterionKind> {
        let list = fields.any(&["assert", "assertions", "evaluators"]);
        let Some(items) = list.and_then(|node| self.cx.list(node, "assert")) else {
            fields.missing("assert");
            return None;
        };
        if let Some(node) = fields.get("aggregator")
            && node.get("type").and_then(SourceNode::text) != Some("weighted_average")
        {
            self.cx.error(
                Code::Unsupported,
                node.span,
                "only the aggregator `weighted_average` is supported",
            );
        }
        fields.ignores(&["config"]);
        let (criteria, spots) = self.list(&items.iter().collect::<Vec<_>>());
        spot.children = spots;
        let key = ["assert", "assertions", "evaluators"]
            .into_iter()
            .find(|text| fields.has(text))
            .unwrap_or("assert");
        spot.keys.push(("criteria", fields.key_span(key)));
        Some(CriterionKind::Group(Group { criteria, aggregation: Aggregation::WeightedAverage }))
    }

    /// The judge that an assertion asks for; a test has one.
    fn judge(&mut self, fields: &MappingReader<'_>) {
        let cx = self.cx;
        let model = fields.any(&["provider", "target", "model"]).and_then(|node| grader(cx, node));
        let prompt = fields.any(&["prompt", "rubricPrompt"]).and_then(|node| match &node.shape {
            NodeShape::Scalar(_) => cx.text(node, "prompt"),
            NodeShape::List(_) => Some(pretty(&cx.json(node))),
            NodeShape::Map(_) => {
                cx.error(Code::Unsupported, cx.head(node), "a prompt made by a command is not supported");
                None
            }
        });
        let temperature = fields.number_in("temperature", 0.0..=2.0);
        fields.ignores(&["max_steps", "maxSteps", "preprocessors", "config"]);
        let clash = |what: &str, key: &str| {
            cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    fields.span(key),
                    format!("the assertions of one test share one {what}"),
                )
                .help("split the test in two"),
            );
        };
        if self.asserted.prompt.is_some() && prompt.is_some() && self.asserted.prompt != prompt {
            clash("prompt", "prompt");
        }
        if self.asserted.model.is_some() && model.is_some() && self.asserted.model != model {
            clash("judge", "provider");
        }
        self.asserted.prompt = prompt.or_else(|| self.asserted.prompt.take());
        self.asserted.model = model.or_else(|| self.asserted.model.take());
        self.asserted.temperature = temperature.or(self.asserted.temperature);
    }

    fn rubric(&mut self, fields: &MappingReader<'_>, kind: &str, spot: &mut Spot) -> Option<CriterionKind> {
        self.judge(fields);
        let value = self.value(fields);
        fields.knows(&["value", "criteria", "rubrics"]);
        let Some(value) = value else {
            // A prompt alone is a rubric too: it says all there is to say.
            if self.asserted.prompt.is_none() {
                fields.missing("value");
            }
            return Some(CriterionKind::Question(Scale::Unit));
        };
        let items: Vec<&SourceNode> = match &value.shape {
            NodeShape::List(items) if items.iter().any(|node| node.text().is_some() || is_item(node)) => {
                items.iter().collect()
            }
            _ if is_item(value) => vec![value],
            NodeShape::List(items) if items.is_empty() => {
                let key = ["value", "criteria", "rubrics"]
                    .into_iter()
                    .find(|text| fields.has(text))
                    .unwrap_or("value");
                self.cx.error(Code::Empty, fields.key_span(key), "this rubric lists nothing");
                return None;
            }
            _ if fields.has("score_ranges") => return self.read_ranged_question(fields),
            _ if kind == "agent-rubric" => {
                let entry = catalogue::find_catalogue_entry(RECIPES, kind)?;
                let params = [("value".to_owned(), self.cx.json(value))].into_iter().collect();
                return Some(CriterionKind::Recipe(catalogue::GradingMethod { entry, params }));
            }
            _ => return Some(CriterionKind::Question(Scale::Unit)),
        };
        let mut criteria = Vec::new();
        for (at, item) in items.iter().enumerate() {
            if let Some(criterion) = self.item(item, at + 1) {
                let place = item.get("id").map_or(self.cx.head(item), |node| node.span);
                let scale = item.get("score_ranges").map_or(place, |node| self.cx.head(node));
                spot.children.push(Spot::new(place).key("scale", scale));
                criteria.push(criterion);
            }
        }
        Some(CriterionKind::Group(Group { criteria, aggregation: Aggregation::WeightedAverage }))
    }

    fn value<'f>(&self, fields: &MappingReader<'f>) -> Option<&'f SourceNode> {
        let node = fields.any(&["value", "criteria", "rubrics"])?;
        // A mapping may hold the list one level further down.
        let inner = ["criteria", "rubrics"]
            .iter()
            .find_map(|text| node.get(text))
            .filter(|node| node.list().is_some());
        Some(inner.unwrap_or(node))
    }

    /// One text with `score_ranges` beside it.
    fn read_ranged_question(&self, fields: &MappingReader<'_>) -> Option<CriterionKind> {
        fields
            .get("score_ranges")
            .and_then(|node| read_score_ranges(self.cx, node))
            .map(|ranges| CriterionKind::Question(Scale::Ranges(ranges)))
    }

    fn text_of(&self, fields: &MappingReader<'_>, kind: &str) -> String {
        match self.value(fields) {
            Some(node) if node.text().is_some() => {
                self.cx.template(node, "value").unwrap_or_else(|| UNREADABLE.to_owned())
            }
            Some(node) => pretty(&self.cx.json(node)),
            None => format!("As the prompt of this {kind} says."),
        }
    }

    /// One rubric item: a string, or a mapping with an outcome.
    fn item(&mut self, node: &SourceNode, number: usize) -> Option<Criterion> {
        let cx = self.cx;
        let auto = format!("rubric-{number}");
        let checklist = |id: String, text: String| {
            let mut criterion = Criterion::new(id, text, CriterionKind::Question(Scale::Binary));
            criterion.required = true;
            criterion
        };
        if node.text().is_some() {
            let text = cx.template(node, "assert").unwrap_or_else(|| UNREADABLE.to_owned());
            return Some(checklist(self.ids.fresh(&auto), text));
        }
        let fields = MappingReader::new(cx, node, "rubric item")?;
        let outcome =
            fields.any(&["outcome", "criteria", "description"]).and_then(|node| cx.template(node, "outcome"));
        let scale = fields.get("score_ranges").map(|node| read_score_ranges(cx, node));
        if outcome.is_none() && scale.is_none() {
            fields.missing("outcome");
        }
        let written = fields.name("id");
        if let Some(id) = &written {
            self.ids.take(id);
        }
        let id = written.unwrap_or_else(|| self.ids.fresh(&auto));
        let mut criterion = checklist(id.clone(), outcome.unwrap_or(id));
        if let Some(Some(ranges)) = scale {
            criterion.ask = CriterionKind::Question(Scale::Ranges(ranges));
        }
        criterion.weight = fields.number_in("weight", 0.0..=f64::MAX).unwrap_or(1.0);
        criterion.required = fields.bool("required").unwrap_or(true);
        criterion.operator = fields.word("operator", &Operator::ALL);
        // The score at which the criterion passes, and a gate of its own.
        criterion.min_score = fields.number_in("min_score", 0.0..=1.0);
        let old = fields.integer("required_min_score", 0..=10).map(|integer| integer as f64 / 10.0);
        criterion.min_score = criterion.min_score.or(old);
        criterion.threshold = criterion.min_score;
        fields.finish();
        Some(criterion)
    }
}

fn without_gates(criterion: &mut Criterion) {
    (criterion.required, criterion.min_score, criterion.threshold) = (false, None, None);
    if let CriterionKind::Group(group) = &mut criterion.ask {
        group.criteria.iter_mut().for_each(without_gates);
    }
}

fn group(id: String, criteria: Vec<Criterion>) -> Criterion {
    Criterion::new(
        id,
        "",
        CriterionKind::Group(Group { criteria, aggregation: Aggregation::WeightedAverage }),
    )
}

/// v4 also writes `_` for `-`, and has names that were changed later.
fn canonical_assertion_type(kind: &str) -> String {
    let kind = kind.replace('_', "-");
    match kind.as_str() {
        "code-grader" => "script".to_owned(),
        "model-graded-factuality" => "factuality".to_owned(),
        _ => kind,
    }
}

/// Whether a mapping is one item of a rubric, not free-form data.
fn is_item(node: &SourceNode) -> bool {
    let has = |key: &str| node.get(key).is_some();
    node.get("outcome").is_some_and(|node| node.text().is_some())
        || has("score_ranges")
        || (node.get("criteria").is_some_and(|node| node.text().is_some())
            && ["id", "weight", "required", "min_score", "operator"].iter().any(|text| has(text)))
}
