//! What is sent to a judge: templates filled with the material and a question.
//!
//! Shared parts come first and the question last, so that providers' prompt caches hit across the
//! criteria of one candidate. Weights and gates are not shown: a judge does not need them to grade.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use minijinja::{Environment, UndefinedBehavior, value::Serde};
use serde_json::{Value as Json, json};

use super::author_reply_shape::{has_own_shape, hide_own_shape};
use super::objects::{MASK, mask_verdicts};
use super::planted_verdicts::PlantedContent;
use super::reply::{JudgeReply, JudgeReplyError};
use super::reply_schema::{AnswerSchema, ReplySchema};
use crate::candidate::JudgeInput;
use crate::grade::{Evidence, QuotableParts};
use crate::rubric::{
    Anchor, Choice, Criterion, CriterionKind, NodeAnswers, Operator, Rubric, Scale, TreeNode, Value, WHOLE,
    render_prompt,
};
use crate::suite::{DataRow, fill, fill_for_reader};

/// A text to send, in the three parts that caches tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgePrompt {
    pub system: String,
    /// The same for every question about one candidate.
    pub shared: String,
    pub question: String,
    /// Which templates made it, as a hash.
    pub template: String,
}

impl JudgePrompt {
    /// What follows the system part, in the parts that caches tell apart.
    pub fn user(&self) -> Vec<String> {
        [&self.shared, &self.question].into_iter().filter(|text| !text.is_empty()).cloned().collect()
    }
}

/// A prompt, and how to read what comes back.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeQuestion {
    pub prompt: JudgePrompt,
    pub form: ReplySchema,
}

/// Why a prompt cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the judge's prompt cannot be made: {0}")]
pub struct JudgePromptError(String);

impl JudgePromptError {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

const SYSTEM: &str = include_str!("templates/system.txt");
const MATERIAL: &str = include_str!("templates/material.txt");

macro_rules! templates {
    ($($name:literal)*) => {
        const TEMPLATES: &[(&str, &str)] = &[$(($name, include_str!(concat!("templates/", $name, ".txt"))),)*];
    };
}

templates! {
    "criterion" "criteria" "node" "custom" "score" "claims" "requirements" "trajectory" "factuality" "closedqa"
    "steps" "follow" "goal" "recall" "contest"
}

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    for (name, text) in TEMPLATES.iter().chain(&[("material", MATERIAL)]) {
        environment.add_template(name, text).expect("built-in templates parse, a test renders each");
    }
    environment
});

/// Asks about one candidate: what all questions share is made once.
#[derive(Debug)]
pub struct Prompter<'a> {
    pub material: &'a JudgeInput,
    /// As it is in the data, for what people read.
    plain_row: Option<&'a DataRow>,
    /// Its values fenced: they come from outside.
    row: Option<DataRow>,
    code: String,
    shared: String,
    /// Made when the first quote is looked for.
    places: OnceLock<QuotableParts>,
    planted: PlantedContent,
    /// Whether objects in the candidate that give grades are hidden.
    masks_verdicts: bool,
    /// Which of several draws this is.
    draw: u32,
    seed: u64,
}

impl<'a> Prompter<'a> {
    /// `row` fills `{{ row.field }}` in the rubric's texts.
    pub fn new(material: &'a JudgeInput, row: Option<&'a DataRow>, seed: u64) -> Self {
        Self::with_other_texts(material, &[], row, seed)
    }

    /// With further texts that questions will show, fenced like the rest.
    pub(super) fn with_other_texts(
        material: &'a JudgeInput,
        others: &[&str],
        row: Option<&'a DataRow>,
        seed: u64,
    ) -> Self {
        let row_text = row_json_text(row);
        let others: Vec<&str> = others.iter().copied().chain(outside_texts(material, &row_text)).collect();
        let code = material.code(&others, seed);
        let (plain_row, row) = (row, row.map(|row| fence_row(row, &code)));
        let shared = render_judge_template(
            "material",
            &json!({ "code": code, "parts": prompt_input_parts(material, str::to_owned) }),
        );
        Self {
            material,
            plain_row,
            row,
            code,
            shared,
            places: OnceLock::new(),
            planted: material.collect_planted_content(&others, &[]),
            masks_verdicts: false,
            draw: 0,
            seed,
        }
    }

    /// The same, with what the rubric says about showing the candidate.
    pub fn for_rubric(
        material: &'a JudgeInput,
        row: Option<&'a DataRow>,
        rubric: &Rubric,
        seed: u64,
    ) -> Self {
        let mut prompter = Self::new(material, row, seed);
        if has_own_shape(rubric) {
            let row_text = row_json_text(row);
            let others: Vec<&str> = outside_texts(material, &row_text).collect();
            let criteria = rubric.questions().map(|question| question.criterion);
            let items: Vec<(String, AnswerSchema)> =
                criteria.map(|criterion| (criterion.id.clone(), prompter.item(rubric, criterion))).collect();
            prompter.planted = material.collect_planted_content(&others, &items);
        }
        // The responses of examples may have been candidates. The author's own texts are trusted.
        for anchor in rubric.questions().flat_map(|question| &question.criterion.anchors) {
            prompter.planted.add_quoted_text(&anchor.response);
        }
        if rubric.mask_verdicts && prompter.has_verdict_in_candidate() {
            let parts = prompt_input_parts(material, mask_verdicts);
            prompter.shared =
                render_judge_template("material", &json!({ "code": prompter.code, "parts": parts }));
            prompter.masks_verdicts = true;
        }
        prompter
    }

    /// Whether the candidate holds an object that gives a grade.
    pub fn has_verdict_in_candidate(&self) -> bool {
        self.planted.is_in_candidate
    }

    /// Whether what all questions share has more than so many bytes.
    pub fn is_long(&self, bytes: usize) -> bool {
        bytes < self.shared.len()
    }

    /// For another draw of a jury: parts that may be in any order are in another one.
    pub fn set_draw(&mut self, draw: u32) {
        self.draw = draw;
    }

    fn shuffle_for_draw<T>(&self, mut items: Vec<T>, name: impl Fn(&T) -> String) -> Vec<T> {
        let (draw, seed) = (self.draw, self.seed);
        if 0 < draw {
            items.sort_by_key(|item| {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&seed.to_le_bytes()).update(&draw.to_le_bytes()).update(name(item).as_bytes());
                *hasher.finalize().as_bytes()
            });
        }
        items
    }

    /// The scale of a criterion, its choices in the order of this draw.
    fn scale(&self, criterion: &Criterion) -> Scale {
        match &criterion.ask {
            CriterionKind::Question(Scale::Choices(choices)) => {
                Scale::Choices(self.shuffle_for_draw(choices.clone(), |choice| choice.label.clone()))
            }
            CriterionKind::Question(scale) => scale.clone(),
            _ => Scale::Unit,
        }
    }

    fn item(&self, rubric: &Rubric, criterion: &Criterion) -> AnswerSchema {
        AnswerSchema {
            scale: self.scale(criterion),
            evidence: rubric.require_evidence,
            reasoning: rubric.require_reasoning,
            unsure: criterion.cannot_assess.is_some(),
            own_key: has_own_shape(rubric).then(|| criterion.id.clone()),
        }
    }

    /// What the rubric says about itself.
    fn about(&self, rubric: &Rubric) -> Result<String, JudgePromptError> {
        self.fill_row_fields(&hide_own_shape(rubric.description.as_deref().unwrap_or_default(), rubric))
    }

    /// A quote, and its position in the candidate, if it is there.
    pub fn evidence(&self, quote: &str) -> Evidence {
        let places = self.places.get_or_init(|| QuotableParts::new(&self.material.quotable()));
        // A quote may contain the mask of hidden text, which stands for any words of the candidate.
        let location = places.locate(&quote.replace(MASK, "..."));
        Evidence { quote: quote.to_owned(), found: location }
    }

    /// What a reply to one of these prompts says.
    pub fn read(&self, form: &ReplySchema, reply: &str) -> Result<JudgeReply, JudgeReplyError> {
        form.read(reply, &self.planted)
    }

    /// One criterion that is answered on a scale.
    pub fn criterion(
        &self,
        rubric: &Rubric,
        criterion: &Criterion,
    ) -> Result<JudgeQuestion, JudgePromptError> {
        let form = ReplySchema::Answer(self.item(rubric, criterion));
        let text = self.text(rubric, criterion, Some(&form.instruction()))?;
        self.build_rubric_question(rubric, "criterion", &text, form)
    }

    /// Several criteria in one call.
    pub fn criteria(
        &self,
        rubric: &Rubric,
        criteria: &[&Criterion],
    ) -> Result<JudgeQuestion, JudgePromptError> {
        let criteria = self.shuffle_for_draw(criteria.to_vec(), |criterion| criterion.id.clone());
        let form = ReplySchema::Answers(
            criteria.iter().map(|criterion| (criterion.id.clone(), self.item(rubric, criterion))).collect(),
        );
        // Examples that show what all criteria mean are shown once.
        let shared = criteria.first().filter(|first| {
            1 < criteria.len()
                && !first.anchors.is_empty()
                && criteria
                    .iter()
                    .all(|criterion| criterion.anchors == first.anchors && criterion.ask == first.ask)
        });
        let examples = shared
            .map(|criterion| anchor_examples(criterion, &self.scale(criterion), rubric.mid_anchor))
            .unwrap_or_default();
        let texts = criteria.iter().map(|criterion| {
            let alone = shared.map(|_| Criterion { anchors: Vec::new(), ..(*criterion).clone() });
            let text = self.text(rubric, alone.as_ref().unwrap_or(criterion), None)?;
            Ok(json!({ "id": criterion.id, "text": text.trim() }))
        });
        let texts: Vec<Json> = texts.collect::<Result<_, JudgePromptError>>()?;
        let about = self.about(rubric)?;
        let context = json!({
            "about": about, "criteria": texts, "anchors": examples, "instruction": form.instruction(),
        });
        let text = render_judge_template("criteria", &context);
        self.build_rubric_question(rubric, "criteria", &text, form)
    }

    /// One node of a tree.
    pub fn node(&self, node: &TreeNode) -> Result<JudgeQuestion, JudgePromptError> {
        let labels: Vec<String> = match &node.answers {
            NodeAnswers::YesNo { .. } => vec!["yes".to_owned(), "no".to_owned()],
            NodeAnswers::Choices(choices) => choices.iter().map(|choice| choice.0.clone()).collect(),
        };
        let labels = self.shuffle_for_draw(labels, Clone::clone);
        let form = ReplySchema::Choice { labels: labels.clone() };
        let question = self.fill_row_fields(&node.ask)?;
        Ok(self.ask("node", &json!({ "question": question, "labels": labels }), form))
    }

    /// A question from a template of ours.
    pub(super) fn ask(&self, template: &str, context: &Json, form: ReplySchema) -> JudgeQuestion {
        let mut context = context.clone();
        context["instruction"] = json!(form.instruction());
        context["code"] = json!(self.code);
        let question = render_judge_template(template, &context);
        JudgeQuestion { prompt: self.prompt(question, template_hash(template, "")), form }
    }

    pub(super) fn fill_row_fields(&self, text: &str) -> Result<String, JudgePromptError> {
        fill(text, self.row.as_ref()).map_err(|error| JudgePromptError(error.to_string()))
    }

    /// The same without tags around the values, for reports.
    pub(super) fn fill_row_fields_for_reader(&self, text: &str) -> String {
        fill_for_reader(text, self.plain_row)
    }

    /// Text from outside, between tags that it cannot close.
    pub(super) fn fence_text(&self, name: &str, text: &str) -> String {
        format!("<data-{0} name=\"{name}\">\n{text}\n</data-{0}>", self.code)
    }

    fn prompt(&self, question: String, template: String) -> JudgePrompt {
        JudgePrompt { system: SYSTEM.to_owned(), shared: self.shared.clone(), question, template }
    }

    /// The author's own prompt, if there is one, takes the place of the whole user part.
    fn build_rubric_question(
        &self,
        rubric: &Rubric,
        template: &str,
        text: &str,
        form: ReplySchema,
    ) -> Result<JudgeQuestion, JudgePromptError> {
        let Some(custom) = &rubric.prompt else {
            let question = format!("# Question\n{text}");
            return Ok(JudgeQuestion { prompt: self.prompt(question, template_hash(template, "")), form });
        };
        let own = hide_own_shape(custom, rubric);
        let text = self.custom(&own, text.replace(&form.instruction(), "").trim())?;
        let context = json!({ "code": self.code, "text": text, "instruction": form.instruction() });
        let prompt = JudgePrompt {
            system: SYSTEM.to_owned(),
            shared: String::new(),
            question: render_judge_template("custom", &context),
            template: template_hash("custom", custom),
        };
        Ok(JudgeQuestion { prompt, form })
    }

    fn custom(&self, template: &str, question: &str) -> Result<String, JudgePromptError> {
        let material = self.material;
        let fenced = |name: &str, text: &str| {
            if text.is_empty() { String::new() } else { self.fence_text(name, text) }
        };
        let own = |text: &str| if self.masks_verdicts { mask_verdicts(text) } else { text.to_owned() };
        let task = fenced("task", &material.task);
        let response = fenced("response", &own(material.answer()));
        let reference = fenced("reference", material.reference.as_deref().unwrap_or_default());
        let trace = fenced("trace", &own(&material.trace_text().unwrap_or_default()));
        let diff = fenced("diff", &own(material.diff.as_deref().unwrap_or_default()));
        let context = fenced("context", &material.context.join("\n\n"));
        let values = json!({
            "criteria": question, "rubric": question, "rubrics": question, "criterion": question,
            "input": task, "question": task, "task": task,
            "output": response, "answer": response, "candidate_answer": response, "response": response,
            "expected_output": reference, "reference_answer": reference, "reference": reference,
            "row": self.row, "context": context, "tool_calls": trace, "trace": trace, "file_changes": diff, "diff": diff,
        });
        render_prompt(template, &values).map_err(JudgePromptError)
    }

    /// A criterion in words.
    fn text(
        &self,
        rubric: &Rubric,
        criterion: &Criterion,
        instruction: Option<&str>,
    ) -> Result<String, JudgePromptError> {
        let scale = &self.scale(criterion);
        let kind = match scale {
            Scale::Binary => "binary",
            Scale::Choices(_) => "choices",
            Scale::Unit | Scale::Likert { .. } | Scale::Ranges(_) => "number",
        };
        let about = match instruction {
            Some(_) => self.about(rubric)?,
            None => String::new(),
        };
        let title = if criterion.id == WHOLE { "Criterion" } else { criterion.title() };
        let context = json!({
            "about": about, "title": title, "description": self.fill_row_fields(&criterion.description)?,
            "operator": criterion.operator.map(|operator| Operator::ALL.iter().find(|(_, known)| *known == operator).map(|(name, _)| *name)),
            "kind": kind, "scale": scale.to_string(),
            "points": scale.points().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "levels": level_descriptions(criterion, scale), "anchors": anchor_examples(criterion, scale, rubric.mid_anchor),
            "evidence": rubric.require_evidence, "unsure": criterion.cannot_assess.is_some(),
            "instruction": instruction.unwrap_or_default(),
        });
        Ok(render_judge_template("criterion", &context))
    }
}

pub(super) fn row_json_text(row: Option<&DataRow>) -> String {
    row.map(|row| serde_json::to_string(row).unwrap_or_default()).unwrap_or_default()
}

/// Texts that a judge reads in addition to the parts of the material.
fn outside_texts<'t>(material: &'t JudgeInput, row_text: &'t str) -> impl Iterator<Item = &'t str> {
    material.requirements.iter().map(String::as_str).chain([row_text])
}

/// What there is of the material, in the order in which every prompt shows it; the candidate's own as `own` makes it.
fn prompt_input_parts(material: &JudgeInput, own: impl Fn(&str) -> String) -> Vec<Json> {
    let part = |title: &str, name: &str, text: &str| {
        (!text.is_empty()).then(|| json!({ "title": title, "name": name, "text": text }))
    };
    let document =
        |(at, text): (usize, &String)| part(&format!("Context, document {}", at + 1), "context", text);
    let text_or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let before = part("Task", "task", &material.task).into_iter();
    let after = [
        part("Reference answer", "reference", &text_or_empty(&material.reference)),
        // An empty response can be graded, too.
        part(
            "Response to grade",
            "response",
            &match material.response.as_deref() {
                Some(text) if text.trim().is_empty() => "(empty)".to_owned(),
                text => own(text.unwrap_or_default()),
            },
        ),
        part("What the agent did", "trace", &own(&text_or_empty(&material.trace_text()))),
        part("Files changed, as a unified diff", "diff", &own(&text_or_empty(&material.diff))),
    ];
    before
        .chain(material.context.iter().enumerate().filter_map(document))
        .chain(after.into_iter().flatten())
        .collect()
}

fn render_judge_template(template: &str, context: &Json) -> String {
    let template = ENVIRONMENT.get_template(template).expect("every template is in the table");
    template.render(Serde(context)).expect("a built-in template gets all it names, a test renders each")
}

/// Puts the texts of a row between tags that they cannot close.
fn fence_row(row: &DataRow, code: &str) -> DataRow {
    fn fence_row_value(value: &Json, code: &str) -> Json {
        match value {
            Json::Object(map) => {
                map.iter().map(|(key, value)| (key.clone(), fence_row_value(value, code))).collect()
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
            Json::Array(_) => format!("<data-{code}>{value}</data-{code}>").into(),
            Json::String(text) => format!("<data-{code}>{text}</data-{code}>").into(),
        }
    }
    row.iter().map(|(key, value)| (key.clone(), fence_row_value(value, code))).collect()
}

/// What made a prompt: our templates, and the author's.
fn template_hash(template: &str, custom: &str) -> String {
    static OWN: LazyLock<HashMap<&str, String>> =
        LazyLock::new(|| TEMPLATES.iter().map(|(name, text)| (*name, hash_of(text, ""))).collect());
    let own = OWN.get(template).filter(|_| custom.is_empty()).cloned();
    own.unwrap_or_else(|| {
        hash_of(TEMPLATES.iter().find(|(name, _)| *name == template).map_or("", |(_, text)| *text), custom)
    })
}

fn hash_of(template: &str, custom: &str) -> String {
    let criterion = TEMPLATES.iter().find(|(name, _)| *name == "criterion").map_or("", |(_, text)| *text);
    let mut hasher = blake3::Hasher::new();
    // Several criteria in one call are each written as one alone.
    for text in [SYSTEM, MATERIAL, template, criterion, custom] {
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// What each point means, in the order of the scale.
fn level_descriptions(criterion: &Criterion, scale: &Scale) -> Vec<(String, String)> {
    let described = criterion.levels.iter().map(|(value, text)| (value.to_string(), text.clone()));
    let of_scale: Vec<(String, String)> = match scale {
        Scale::Likert { labels, .. } => {
            labels.iter().map(|(at, text)| (at.to_string(), text.clone())).collect()
        }
        Scale::Ranges(ranges) => {
            let span =
                |from: i64, to: i64| if from == to { from.to_string() } else { format!("{from}–{to}") };
            ranges.iter().map(|range| (span(range.from, range.to), range.text.clone())).collect()
        }
        _ => Vec::new(),
    };
    let mut described: Vec<(String, String)> = described.collect();
    if let Scale::Choices(choices) = scale {
        described.sort_by_key(|(label, _)| choices.iter().position(|choice| choice.label == *label));
    }
    let named = |at: &str| described.iter().any(|(point, _)| point == at);
    of_scale.into_iter().filter(|(point, _)| !named(point)).chain(described.clone()).collect()
}

/// Labelled examples on the criterion's own scale.
///
/// With two or more and none in the middle, a made-up one shows that the middle is allowed.
fn anchor_examples(criterion: &Criterion, scale: &Scale, mid_anchor: bool) -> Vec<Json> {
    let score_text = |unit: f64| match (scale, scale.bounds()) {
        (Scale::Likert { .. } | Scale::Ranges(_), Some((min, max))) => {
            Value::Number((min + unit * (max - min)).round()).to_string()
        }
        (Scale::Binary, _) => (0.5 <= unit).to_string(),
        (Scale::Choices(choices), _) => {
            let distance = |choice: &&Choice| (choice.score - unit).abs();
            let nearest = choices.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.map(|choice| choice.label.clone()).unwrap_or_default()
        }
        _ => format!("{unit:.2}"),
    };
    let line = |anchor: &Anchor| json!({ "response": json!(anchor.response).to_string(), "score": score_text(anchor.score), "reason": anchor.reason });
    let mut all: Vec<Json> = criterion.anchors.iter().map(line).collect();
    let has_middle = criterion.anchors.iter().any(|anchor| (0.4..=0.6).contains(&anchor.score));
    if mid_anchor && 2 <= all.len() && !has_middle && matches!(scale, Scale::Unit | Scale::Likert { .. }) {
        let text = "(a response about halfway between these)";
        all.push(json!({ "response": text, "score": score_text(0.5), "reason": null }));
    }
    all
}
