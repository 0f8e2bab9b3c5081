//! Assertions that a judge grades: rubrics, their items, and the judge that they name.

use super::super::fill_judge_prompt;
use super::super::target::read_grader;
use super::{AssertionReader, CONVERSATION_RELEVANCE, JUDGE_PROMPTS, OWN_ASSERTIONS};
use crate::catalogue::{self, RECIPES};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::{Context, pretty};
use crate::dialect::fields::MappingReader;
use crate::dialect::lower::Spot;
use crate::dialect::rubric::{UNREADABLE, read_score_ranges};
use crate::rubric::{Aggregation, Criterion, CriterionKind, Group, Operator, Scale, find_prompt_fault};
use crate::source::{NodeShape, SourceNode};
use crate::template;

/// What AgentV's own grader asks where an assertion says nothing.
const PLAIN_RUBRIC: &str =
    "The response does what the task asks for, and agrees with the reference answer where there is one.";

impl AssertionReader<'_> {
    /// The judge that an assertion asks for, and its prompt.
    pub(super) fn judge(&mut self, fields: &MappingReader<'_>) {
        let cx = self.cx;
        let mut grader = fields
            .any(&["provider", "target", "model"])
            .and_then(|node| read_grader(cx, node))
            .unwrap_or_default();
        let prompt = fields.any(JUDGE_PROMPTS).and_then(|node| match &node.shape {
            NodeShape::Scalar(_) => cx.text(node, "prompt"),
            NodeShape::List(_) => Some(pretty(&cx.json(node))),
            NodeShape::Map(_) => {
                refuse_prompt_command(cx, node);
                None
            }
        });
        grader.judge.temperature = fields.number_in("temperature", 0.0..=2.0).or(grader.judge.temperature);
        fields.ignores(&["max_steps", "maxSteps", "preprocessors", "config"]);
        let prompt = prompt.map(|prompt| fill_judge_prompt(cx, &prompt, &self.rules.vars, fields.start()));
        if self.several_prompts {
            if let Some(fault) = prompt.as_deref().and_then(find_prompt_fault) {
                cx.error(Code::BadValue, fields.start(), fault);
            }
            self.own_prompt =
                prompt.map(|prompt| template::replace(&prompt, |name| Some(format!("[{name}]"))));
        } else {
            self.asserted.prompt = prompt.or_else(|| self.asserted.prompt.take());
        }
        let names_model = grader.judge.model.is_some();
        self.own_judge = names_model.then(|| std::mem::take(&mut grader.judge));
        self.asserted.grader = grader.or(&self.asserted.grader);
    }

    pub(super) fn rubric(
        &mut self,
        fields: &MappingReader<'_>,
        kind: &str,
        spot: &mut Spot,
    ) -> Option<CriterionKind> {
        self.judge(fields);
        let value = self.value(fields);
        fields.knows(&["value", "criteria", "rubrics"]);
        let Some(value) = value else {
            // A prompt alone is a complete rubric.
            let has_prompt =
                self.rules.has_prompt || self.asserted.prompt.is_some() || self.own_prompt.is_some();
            if !has_prompt && self.is_promptfoo() {
                fields.missing("value");
            }
            return Some(CriterionKind::Question(Scale::Unit));
        };
        if self.is_promptfoo() && kind != "agent-rubric" {
            // Without a threshold the judge's own yes or no decides.
            let scale = if fields.has("threshold") { Scale::Unit } else { Scale::Binary };
            return Some(CriterionKind::Question(scale));
        }
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

    /// One text with `score_ranges` next to it.
    fn read_ranged_question(&self, fields: &MappingReader<'_>) -> Option<CriterionKind> {
        fields
            .get("score_ranges")
            .and_then(|node| read_score_ranges(self.cx, node))
            .map(|ranges| CriterionKind::Question(Scale::Ranges(ranges)))
    }

    pub(super) fn text_of(&mut self, fields: &MappingReader<'_>, kind: &str) -> String {
        if kind == CONVERSATION_RELEVANCE {
            return "Every reply of the assistant is relevant to the conversation before it.".to_owned();
        }
        let text = self.value_text(fields, kind);
        match self.own_prompt.take() {
            Some(prompt) if fields.any(&["value", "criteria", "rubrics"]).is_some() => {
                format!("{prompt}\n\n{text}")
            }
            Some(prompt) => prompt,
            None => text,
        }
    }

    fn value_text(&self, fields: &MappingReader<'_>, kind: &str) -> String {
        match self.value(fields) {
            Some(node) if node.text().is_some() => {
                self.cx.template(node, "value").unwrap_or_else(|| UNREADABLE.to_owned())
            }
            Some(node) => pretty(&self.cx.json(node)),
            None if self.asserted.prompt.is_none() && !self.rules.has_prompt => PLAIN_RUBRIC.to_owned(),
            None => format!("As the prompt of this {kind} says."),
        }
    }

    /// One rubric item: a string, or a mapping with an outcome.
    pub(super) fn item(&mut self, node: &SourceNode, number: usize) -> Option<Criterion> {
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
        // A range of points gates by its `min_score` alone.
        criterion.required = fields.bool("required").unwrap_or(!fields.has("score_ranges"));
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

/// A program that would write the judge's prompt; where it is not there, that is the first thing to say.
fn refuse_prompt_command(cx: &Context<'_>, node: &SourceNode) {
    let words = node.get("command").and_then(SourceNode::list).unwrap_or_default();
    let is_script = |word: &&SourceNode| {
        let ends = |text: &str| OWN_ASSERTIONS.iter().any(|(end, _)| text.ends_with(&format!(".{end}")));
        word.text().is_some_and(ends)
    };
    if let Some(script) = words.iter().find(is_script)
        && cx.find(script.text().unwrap_or_default(), script.span).is_none()
    {
        return;
    }
    cx.report(
        Diagnostic::error(Code::Unsupported, cx.head(node), "a prompt made by a command is not supported")
            .note("AgentV starts the program for each answer; here the judge's prompt is a text")
            .help("write the text under `prompt`, with `{{ response }}` and the like for what differs"),
    );
}

/// Whether a mapping is one item of a rubric, not free-form data.
fn is_item(node: &SourceNode) -> bool {
    let has = |key: &str| node.get(key).is_some();
    node.get("outcome").is_some_and(|node| node.text().is_some())
        || has("score_ranges")
        || (node.get("criteria").is_some_and(|node| node.text().is_some())
            && ["id", "weight", "required", "min_score", "operator"].iter().any(|text| has(text)))
}
