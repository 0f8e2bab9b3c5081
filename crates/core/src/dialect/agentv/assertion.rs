//! Reads `assert` of AgentV and promptfoo files as criteria.

mod judged;
mod scoring;
mod sets;
mod value_files;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::TestRules;
use super::promptfoo_types::{LEAST_SCORE, PROMPTFOO_MARKS, REFUSED_TYPES, TOOL_CALL_TYPES, ascii_classes};
use super::target::{GraderSettings, read_grader};
use crate::catalogue::{self, CHECKS, RECIPES};
use crate::check::{Check, CompiledCheck, EmbeddingModel, estimate_check_work, estimate_pattern_work};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::lower::Spot;
use crate::dialect::method::{CriterionIds, read_method_with_fixed_params};
use crate::dialect::promptfoo;
use crate::rubric::{
    Aggregation, Criterion, CriterionKind, GraderKind, Group, Operator, Polarity, Question, Rubric, Scale,
};
use crate::source::SourceNode;
use crate::suite::{Aggregate, Judge};
use crate::template;

/// All assertions of one test.
#[derive(Default)]
pub(super) struct AssertionCriteria {
    pub(super) criteria: Vec<Criterion>,
    pub(super) spots: Vec<Spot>,
    /// The judge's prompt and settings where an assertion names them.
    pub(super) prompt: Option<String>,
    pub(super) grader: GraderSettings,
    /// Judges that assertions name, one for each criterion of theirs.
    own_judges: Vec<OwnJudge>,
    /// Code that computes the context of the answer.
    pub(super) context_transform: Option<String>,
    /// Assertions about the context.
    n_about_context: usize,
    n_judged: usize,
    /// Names of metrics, each with a criterion that belongs to it and its weight.
    metrics: Vec<(String, String, f64)>,
}

/// The judge that the assertion of a criterion names.
struct OwnJudge {
    criterion: String,
    judge: Judge,
}

impl AssertionCriteria {
    /// The judge of a test, with those of single criteria where the assertions name different ones. `default` is the
    /// judge of assertions that name none.
    pub(super) fn settle_judge(&self, rubric: &Rubric, default: Judge) -> Judge {
        let Some(first) = self.own_judges.first() else { return default };
        let judge = if default.model.is_none() || !self.asks_default_judge(rubric) {
            // The address belongs to the model.
            Judge { base_url: first.judge.base_url.clone(), ..first.judge.or(&default) }
        } else {
            default
        };
        let differs = |own: &&OwnJudge| {
            (&own.judge.model, &own.judge.base_url) != (&judge.model, &judge.base_url)
                || own.judge.temperature.is_some_and(|temperature| Some(temperature) != judge.temperature)
        };
        let own = self.own_judges.iter().filter(differs);
        let criteria = own.map(|own| (own.criterion.clone(), own.judge.clone())).collect();
        Judge { criteria, ..judge }
    }

    /// Whether a judge is asked about a criterion whose assertion names none.
    pub(super) fn asks_default_judge(&self, rubric: &Rubric) -> bool {
        let has_no_judge = |question: Question<'_>| {
            question.criterion.by.contains(&GraderKind::Judge)
                && !self.own_judges.iter().any(|own| own.criterion == question.criterion.id)
        };
        rubric.questions().any(has_no_judge)
    }
}

/// Code that computes the score of a test by those of its metrics.
#[derive(Clone)]
pub(super) struct ScoringFunction {
    pub(super) code: SourceNode,
    /// The threshold of the test, which the code is given.
    pub(super) threshold: Option<f64>,
}

/// How the assertions of a test are read.
#[derive(Clone)]
pub(super) struct AssertionRules {
    pub(super) tool: TestRules,
    /// Whether an assertion that fails fails the test.
    pub(super) gates: bool,
    /// The model that compares meanings where an assertion names none.
    pub(super) embedding: Option<EmbeddingModel>,
    /// The moderation endpoint where an assertion names none, as promptfoo writes it.
    pub(super) moderation: Option<String>,
    /// The test has a prompt for the judge, so that a rubric may say nothing.
    pub(super) has_prompt: bool,
    /// The tools that the providers of the test declare.
    pub(super) tools: Vec<Json>,
    /// What each answer of `factuality` is worth.
    pub(super) factuality: serde_json::Map<String, Json>,
    pub(super) scoring: Option<ScoringFunction>,
    /// The variables of the test, for scripts that make a value.
    pub(super) vars: serde_json::Map<String, Json>,
    /// Names under which earlier tests store their outputs.
    pub(super) stored_outputs: BTreeSet<String>,
}

/// Languages of a project's own assertions, with what runs them.
const OWN_ASSERTIONS: &[(&str, &[&str])] =
    &[("ts", &["bun", "run"]), ("js", &["node"]), ("mjs", &["node"]), ("py", &["python3"]), ("sh", &["sh"])];

/// The key of promptfoo for code that computes the context of an assertion.
const CONTEXT_TRANSFORM: &str = "contextTransform";

/// Types that compare an answer with its context.
const CONTEXT_TYPES: [&str; 3] = ["context-faithfulness", "context-recall", "context-relevance"];

/// Types whose answer is the perplexity of the tokens.
const PERPLEXITY_TYPES: [&str; 2] = ["perplexity", "perplexity-score"];

/// A question about a conversation, which has no text of its own.
const CONVERSATION_RELEVANCE: &str = "conversation-relevance";

/// Keys of an assertion that hold the judge's prompt.
const JUDGE_PROMPTS: &[&str] = &["prompt", "rubricPrompt"];

/// Types whose `value` is a rubric.
const RUBRIC_TYPES: [&str; 5] = ["llm-rubric", "agent-rubric", "rubrics", "rubric", "llm-grader"];

fn has_threshold(kind: &CriterionKind) -> bool {
    matches!(kind, CriterionKind::Check(method) if method.params.contains_key("threshold"))
}

pub(super) fn assertions(
    cx: &Context<'_>,
    nodes: &[&SourceNode],
    rules: AssertionRules,
) -> AssertionCriteria {
    let (ids, asserted) = (CriterionIds::default(), AssertionCriteria::default());
    let mut judge_prompts = Vec::new();
    nodes.iter().for_each(|node| collect_judge_prompts(node, &mut judge_prompts));
    let several_prompts = judge_prompts.iter().any(|prompt| *prompt != judge_prompts[0]);
    let mut reader = AssertionReader {
        cx,
        rules,
        ids,
        asserted,
        several_prompts,
        own_prompt: None,
        own_judge: None,
        depth: 0,
        set_threshold: None,
    };
    let (mut criteria, mut spots) = reader.list(nodes);
    if let Some(scoring) = reader.rules.scoring.take()
        && let Some(criterion) = reader.read_scoring_function(&scoring)
    {
        criteria.iter_mut().for_each(|criterion| criterion.weight = 0.0);
        criteria.push(criterion);
        spots.push(Spot::new(scoring.code.span));
    }
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
    rules: AssertionRules,
    ids: CriterionIds,
    asserted: AssertionCriteria,
    /// The assertions of the test have different prompts for the judge, so that each becomes the text of its criterion.
    several_prompts: bool,
    own_prompt: Option<String>,
    /// The judge that the assertion names that is read.
    own_judge: Option<Judge>,
    /// How many sets are around the assertion that is read.
    depth: usize,
    /// The gate of the set that was read last.
    set_threshold: Option<f64>,
}

impl<'a> AssertionReader<'a> {
    /// All plain strings become one rubric, in the place of the first of them.
    fn list(&mut self, nodes: &[&SourceNode]) -> (Vec<Criterion>, Vec<Spot>) {
        if let Some(read) = self.read_panel(nodes) {
            return read;
        }
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

    /// The same rubric by several judges is one criterion before a panel, which takes the mean of their scores.
    fn read_panel(&mut self, nodes: &[&SourceNode]) -> Option<(Vec<Criterion>, Vec<Spot>)> {
        const OF_JUDGE: [&str; 5] = ["provider", "target", "model", "metric", "name"];
        let is_rubric = |node: &&SourceNode| {
            let kind = node.get("type").and_then(SourceNode::text).map(canonical_assertion_type);
            kind.is_some_and(|kind| RUBRIC_TYPES.contains(&kind.as_str()))
        };
        let judge_of = |node: &&SourceNode| {
            let node = ["provider", "target", "model"].iter().find_map(|key| node.get(key))?;
            read_grader(self.cx, node)?.judge.model
        };
        if self.is_promptfoo()
            || nodes.len() < 2
            || 0 < self.asserted.n_judged
            || !nodes.iter().all(is_rubric)
        {
            return None;
        }
        let rest = |node: &SourceNode| {
            let entries = node.map().unwrap_or_default().iter();
            entries
                .filter(|entry| !OF_JUDGE.contains(&entry.key.as_str()))
                .map(|entry| (entry.key.clone(), entry.value.to_json()))
                .collect::<serde_json::Map<String, Json>>()
        };
        if nodes.iter().any(|node| rest(node) != rest(nodes[0])) {
            return None;
        }
        let mut panel: Vec<String> = nodes.iter().filter_map(judge_of).collect();
        panel.dedup();
        if panel.len() < nodes.len() {
            return None;
        }
        let (criterion, spot) = self.assertion(nodes[0])?;
        let own = std::mem::take(&mut self.asserted.own_judges).into_iter().next();
        let settings = own.map(|own| own.judge).unwrap_or_default();
        let panel = Judge { model: None, panel, aggregate: Some(Aggregate::Mean), ..settings };
        self.asserted.grader.judge = panel.or(&self.asserted.grader.judge);
        Some((vec![criterion], vec![spot]))
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
        let node = self.read_value_file(node)?;
        self.read_assertion(&node)
    }

    fn read_assertion(&mut self, node: &SourceNode) -> Option<(Criterion, Spot)> {
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
        let ask = if kind == CONVERSATION_RELEVANCE {
            self.asserted.n_judged += 1;
            self.judge(&fields);
            fields.ignores(&["config"]);
            Some(CriterionKind::Question(Scale::Unit))
        } else if RUBRIC_TYPES.contains(&kind.as_str()) {
            self.asserted.n_judged += 1;
            self.rubric(&fields, &kind, &mut spot)
        } else if matches!(kind.as_str(), "assert-set" | "composite") {
            self.set(&fields, &mut spot)
        } else {
            self.method(&fields, &kind, (type_node, &written))
        };
        // Without a known type, the allowed keys are unknown.
        let mut ask = ask?;
        if let CriterionKind::Group(group) = &mut ask
            && RUBRIC_TYPES.contains(&kind.as_str())
            && let Some(prompt) = self.own_prompt.take()
        {
            group.criteria.iter_mut().for_each(|item| {
                item.description = format!("{prompt}\n\n{}", item.description);
            });
        }
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
        if let Some(judge) = self.own_judge.take() {
            add_own_judge(&criterion, &judge, &mut self.asserted.own_judges);
        }
        criterion.weight = fields.number_in("weight", 0.0..=f64::MAX).unwrap_or(1.0);
        criterion.required = fields.bool("required").unwrap_or(false);
        if let Some(metric) = fields.get("metric").and_then(SourceNode::text) {
            self.note_metric(&fields, metric, &criterion);
        }
        let negate = fields.bool("negate").unwrap_or(false);
        if inverted != negate {
            criterion.polarity = Polarity::Negated;
            // What the items demand is now what must not be; their own gates would fail what passes.
            if let CriterionKind::Group(group) = &mut criterion.ask {
                group.criteria.iter_mut().for_each(without_gates);
            }
        }
        if self.is_promptfoo() {
            self.set_promptfoo_gate(&fields, &kind, &mut criterion);
        } else {
            criterion.threshold = fields.number_in("min_score", 0.0..=1.0);
            if matches!(criterion.ask, CriterionKind::Group(_) | CriterionKind::Question(_)) {
                criterion.threshold = criterion.threshold.or(fields.number_in("threshold", 0.0..=1.0));
                criterion.threshold = criterion.threshold.or(self.set_threshold.take());
                criterion.operator = fields.word("operator", &Operator::ALL);
            }
        }
        fields.knows(&["id", "description", "reason"]);
        if self.is_promptfoo() {
            promptfoo::refuse_agentv_keys(&fields, promptfoo::AGENTV_ASSERTION_KEYS);
            self.add_transform(&fields, &mut criterion);
        } else {
            fields.refuses(&["transform"]);
        }
        if self.is_promptfoo() && CONTEXT_TYPES.contains(&kind.as_str()) {
            self.read_context_transform(&fields);
        } else {
            fields.refuses_with(
                CONTEXT_TRANSFORM,
                "promptfoo computes the context of context-faithfulness, -recall and -relevance with it",
                "remove it; the context of other assertions is `vars.context`",
            );
        }
        fields.refuses(&["postprocess"]);
        fields.finish();
        Some((criterion, spot))
    }

    fn is_promptfoo(&self) -> bool {
        self.rules.tool == TestRules::Promptfoo
    }

    /// An assertion of promptfoo fails its test, unless it weighs nothing or the test passes by its score.
    fn set_promptfoo_gate(&self, fields: &MappingReader<'_>, kind: &str, criterion: &mut Criterion) {
        let is_judged = matches!(criterion.ask, CriterionKind::Group(_) | CriterionKind::Question(_));
        let own = fields.get("threshold").filter(|_| is_judged);
        let own = own.and_then(|node| self.cx.number_in(node, "threshold", 0.0..=1.0));
        // promptfoo fails a test whose set is under a threshold of its own, whatever the set weighs.
        let is_own_gate = matches!(criterion.ask, CriterionKind::Group(_)) && own.is_some();
        if !self.rules.gates || (criterion.weight == 0.0 && !is_own_gate) {
            criterion.required = false;
            return;
        }
        // A set without a threshold holds if all of its assertions do, and those are gates already.
        let is_plain_set = matches!(criterion.ask, CriterionKind::Group(_)) && own.is_none();
        criterion.required = !is_plain_set;
        if is_plain_set {
            return;
        }
        // Without a threshold promptfoo passes every perplexity, also under `not-`.
        if PERPLEXITY_TYPES.contains(&kind) && !has_threshold(&criterion.ask) {
            criterion.polarity = Polarity::Plain;
            criterion.threshold = Some(0.0);
            return;
        }
        let usual = PROMPTFOO_MARKS.iter().find(|(name, _)| *name == kind).map(|(_, mark)| *mark);
        let threshold = || match &criterion.ask {
            // Its threshold may be a distance.
            CriterionKind::Check(method) if kind == "similar" => {
                Check::compile(method).ok().and_then(|check| check.least_similarity())
            }
            CriterionKind::Check(method) | CriterionKind::Recipe(method) => {
                method.params.get("threshold").and_then(Json::as_f64)
            }
            _ => None,
        };
        let mark = match (own, usual) {
            (Some(own), _) => own,
            (None, Some(usual)) => threshold().unwrap_or(usual),
            (None, None) => 1.0,
        };
        // A score under the mark is what `not-` asks for. Of code, any score above 0 holds; its own threshold makes
        // a yes or a no of the score.
        let is_score =
            own.is_some() || kind == "perplexity-score" || usual.is_some_and(|usual| LEAST_SCORE < usual);
        let is_any_score = usual.is_some_and(|usual| 0.0 < usual && usual <= LEAST_SCORE);
        let is_turned = criterion.polarity != Polarity::Plain;
        criterion.threshold = Some(if is_turned && is_any_score {
            1.0 - LEAST_SCORE
        } else if is_turned && is_score {
            1.0 - mark
        } else {
            mark
        });
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
        if let Some((_, why)) = REFUSED_TYPES.iter().find(|(name, _)| *name == kind) {
            let message = format!("assertion type `{written}` is not supported: {why}");
            cx.error(Code::Unsupported, at.span, message);
            return None;
        }
        let Some(entry) = check.or(recipe) else {
            if let Some(program) = self.find_own_assertion(kind, at) {
                return Some(self.read_own_assertion(fields, program));
            }
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
        let mut embedding = self.rules.embedding.clone().filter(|_| entry.name == "similar");
        if recipe.is_some() {
            self.asserted.n_judged += 1;
            self.judge(fields);
        } else if entry.name == "similar" && self.is_promptfoo() {
            let grader = fields.get("provider").and_then(|node| read_grader(cx, node));
            embedding = grader.and_then(GraderSettings::into_embedding).or(embedding);
        } else if entry.name != "moderation" {
            fields.ignores(&["provider"]);
        }
        if !entry.params.iter().any(|param| param.name == "config") {
            fields.ignores(&["config"]);
        }
        let rewritten = self.rewrite_pattern(fields, entry.name);
        let own = rewritten.as_ref().and_then(|node| MappingReader::new(cx, node, "assertion"));
        // `similar:dot` says how embeddings are compared.
        let measure = written.split_once(':').map(|(_, measure)| measure);
        let measure = measure.filter(|measure| entry.name == "similar" && *measure != "cosine");
        let fixed = measure.map(|measure| ("measure".to_owned(), Json::from(measure))).into_iter().collect();
        let mut method = read_method_with_fixed_params(own.as_ref().unwrap_or(fields), entry, fixed);
        if own.is_some() {
            fields.knows(&["value", "flags", "engine", "scope"]);
        }
        if entry.name == "contains" && !method.params.contains_key("value") {
            fields.missing("value");
        }
        if entry.name == "script" {
            self.other_keys(fields, &mut method.params);
        }
        if self.is_promptfoo() && entry.name == "meteor" {
            let message = "`meteor` finds no synonyms here, so that its score may be lower than promptfoo's";
            cx.report(Diagnostic::warning(Code::Unsupported, at.span, message));
        }
        if self.is_promptfoo() {
            // promptfoo compares every letter, and its ROUGE is the F measure.
            let own = [("equals", "strip", Json::Bool(false)), ("rouge-n", "measure", Json::from("f1"))];
            let own = own.into_iter().filter(|(name, _, _)| *name == entry.name);
            method.params.extend(own.map(|(_, key, value)| (key.to_owned(), value)));
        }
        if entry.name == "factuality" && !self.rules.factuality.is_empty() {
            method.params.insert("scores".to_owned(), Json::Object(self.rules.factuality.clone()));
        }
        if TOOL_CALL_TYPES.contains(&entry.name) {
            self.set_declared_tools(at, &mut method);
        }
        if entry.name == "moderation" {
            self.read_moderation_provider(fields, &mut method);
        }
        if let Some(EmbeddingModel { name, base_url }) = embedding
            && !method.params.contains_key("model_name")
        {
            method.params.insert("model_name".to_owned(), Json::from(name));
            method.params.extend(base_url.map(|base_url| ("base_url".to_owned(), Json::from(base_url))));
        }
        Some(if check.is_some() { CriterionKind::Check(method) } else { CriterionKind::Recipe(method) })
    }

    /// A program of the project that AgentV takes for an assertion of this type: `.agentv/assertions/TYPE.ts`.
    fn find_own_assertion(&self, kind: &str, at: &SourceNode) -> Option<Vec<String>> {
        if self.is_promptfoo() || !kind.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
        {
            return None;
        }
        OWN_ASSERTIONS.iter().find_map(|(end, interpreter)| {
            let path = self.cx.find_way_up(&format!(".agentv/assertions/{kind}.{end}"), at.span)?;
            Some(interpreter.iter().map(|word| (*word).to_owned()).chain([path]).collect())
        })
    }

    fn read_own_assertion(&self, fields: &MappingReader<'_>, program: Vec<String>) -> CriterionKind {
        let entry = catalogue::find_catalogue_entry(CHECKS, "script").expect("it is in the catalogue");
        let mut params = serde_json::Map::new();
        params.insert("command".to_owned(), Json::from(program));
        params.extend(fields.get("config").map(|node| ("config".to_owned(), self.cx.json(node))));
        self.other_keys(fields, &mut params);
        CriterionKind::Check(catalogue::GradingMethod { entry, params })
    }

    /// The model of a moderation endpoint: `openai:moderation`, or `openai:moderation:MODEL`.
    fn read_moderation_provider(&self, fields: &MappingReader<'_>, method: &mut catalogue::GradingMethod) {
        let own = fields.get("provider").map(|node| {
            let id = node.get("id").unwrap_or(node);
            (self.cx.plain_text(id, "provider"), id.span)
        });
        let named = match &own {
            Some((name, span)) => name.as_deref().map(|name| (name, *span)),
            None => self.rules.moderation.as_deref().map(|name| (name, fields.start())),
        };
        let Some((name, span)) = named else { return };
        match name.strip_prefix("openai:moderation") {
            Some("") => {}
            Some(rest) if rest.starts_with(':') => {
                let model = format!("openai/{}", &rest[1..]);
                method.params.insert("model_name".to_owned(), Json::from(model));
            }
            _ => {
                let message = format!("`{name}` is no moderation endpoint that can be asked here");
                self.cx.report(Diagnostic::error(Code::Unsupported, span, message).help(
                    "write `openai:moderation:omni-moderation-latest`, or ask a judge with `llm-rubric`",
                ));
            }
        }
    }

    /// What a response may call: the tools of the provider. Several providers must declare the same ones, since they
    /// share the assertions.
    fn set_declared_tools(&self, at: &SourceNode, method: &mut catalogue::GradingMethod) {
        let tools = &self.rules.tools;
        if method.params.contains_key("tools") || tools.is_empty() {
            return;
        }
        if tools.iter().any(|other| *other != tools[0]) {
            self.cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    at.span,
                    "the providers of this test declare different tools",
                )
                .help("give the assertion its own `tools`, or split the test by `providers`"),
            );
            return;
        }
        method.params.insert("tools".to_owned(), tools[0].clone());
        if !self.cx.spend_pattern_work(estimate_check_work(method), at.span) {
            return;
        }
        if let Err(error) = CompiledCheck::compile(method) {
            self.cx.error(Code::BadValue, at.span, error.to_string());
        }
    }

    /// Code that an assertion of promptfoo runs before it looks at the output: the code is the check then, and what it
    /// makes is looked at by the check that was written.
    fn add_transform(&self, fields: &MappingReader<'_>, criterion: &mut Criterion) {
        let cx = self.cx;
        let Some(node) = fields.get("transform") else { return };
        let Some(code) = cx.raw_text(node, "transform") else { return };
        let CriterionKind::Check(method) = &mut criterion.ask else {
            cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    fields.key_span("transform"),
                    "`transform` of an assertion that a judge grades is not supported",
                )
                .help("write it under `options` of the test, where it changes the output for all assertions"),
            );
            return;
        };
        let path =
            code.strip_prefix("file://").map(|path| path.rsplit_once(':').map_or(path, |(path, _)| path));
        let language = if path.is_some_and(|path| path.ends_with(".py")) { "python" } else { "javascript" };
        let Some(entry) = catalogue::find_catalogue_entry(CHECKS, language) else { return };
        let mut check = std::mem::take(&mut method.params);
        check.insert("type".to_owned(), Json::from(method.entry.name));
        method.params.insert("value".to_owned(), Json::from(code));
        method.params.insert("check".to_owned(), Json::Object(check));
        method.entry = entry;
        if let Err(error) = CompiledCheck::compile(method) {
            cx.error(Code::Unsupported, fields.key_span("transform"), error.to_string());
        }
    }

    /// Code that computes the context of an assertion. The questions of a case share one context.
    fn read_context_transform(&mut self, fields: &MappingReader<'_>) {
        let cx = self.cx;
        let node = fields.get(CONTEXT_TRANSFORM);
        let code = node.and_then(|node| cx.raw_text(node, CONTEXT_TRANSFORM));
        let reference = code.as_deref().and_then(|code| code.strip_prefix("file://"));
        if let (Some(node), Some(reference)) = (node, reference) {
            // A file that is not there is reported.
            let path = reference.rsplit_once(':').map_or(reference, |(path, _)| path);
            cx.find(path, node.span);
        }
        if 0 < self.asserted.n_about_context && code != self.asserted.context_transform {
            let span = if node.is_some() { fields.key_span(CONTEXT_TRANSFORM) } else { fields.start() };
            let message = format!("this assertion has another `{CONTEXT_TRANSFORM}` than one before it");
            cx.report(
                Diagnostic::error(Code::Unsupported, span, message)
                    .note("promptfoo computes a context for each; here the assertions of a test share one")
                    .help("move this assertion to a test of its own"),
            );
        }
        self.asserted.n_about_context += 1;
        self.asserted.context_transform = code;
    }

    /// promptfoo's patterns are JavaScript's: letters, digits and word boundaries are ASCII's, and look-around is
    /// allowed, which takes another engine.
    fn rewrite_pattern(&self, fields: &MappingReader<'_>, name: &str) -> Option<SourceNode> {
        if !self.is_promptfoo() || name != "regex" {
            return None;
        }
        let written = fields.get("value")?;
        let mut pattern = ascii_classes(written.text()?, r"(?-u:\b)");
        let linear = template::resolve_escapes(&pattern);
        // Its work counts when the check is read.
        let work = estimate_pattern_work(&linear);
        if !self.cx.has_pattern_work(work) {
            self.cx.spend_pattern_work(work, written.span);
            return None;
        }
        let is_linear = regex::Regex::new(&linear).is_ok();
        if !is_linear {
            // The other engine knows no ASCII boundary, but it looks around.
            let word = "[0-9A-Za-z_]";
            let boundary = format!("(?:(?<={word})(?!{word})|(?<!{word})(?={word}))");
            pattern = ascii_classes(written.text()?, &boundary);
        }
        let mut entries = vec![("value", promptfoo::text_node(pattern, written.span))];
        if !is_linear {
            entries.push(("engine", promptfoo::text_node("backtracking", written.span)));
        }
        Some(promptfoo::map_node(entries, fields.start()))
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
}

/// The judge's prompts that assertions name, at any depth; `None` for an assertion that a judge answers with its usual
/// prompt.
fn collect_judge_prompts(node: &SourceNode, found: &mut Vec<Option<Json>>) {
    let prompt = JUDGE_PROMPTS.iter().find_map(|key| node.get(key)).filter(|prompt| !prompt.is_null());
    if prompt.is_some() || is_asked_of_judge(node) {
        found.push(prompt.map(SourceNode::to_json));
    }
    for key in ["assert", "assertions", "evaluators"] {
        let items = node.get(key).and_then(SourceNode::list).unwrap_or_default();
        items.iter().for_each(|item| collect_judge_prompts(item, found));
    }
}

/// Whether an assertion is a question that the prompt of its rubric asks; recipes have prompts of their own.
fn is_asked_of_judge(node: &SourceNode) -> bool {
    match node.get("type").and_then(SourceNode::text) {
        Some(written) => {
            let kind = canonical_assertion_type(written.strip_prefix("not-").unwrap_or(written));
            kind == CONVERSATION_RELEVANCE || RUBRIC_TYPES.contains(&kind.as_str())
        }
        None => node.text().is_some() || node.get("outcome").is_some() || node.get("score_ranges").is_some(),
    }
}

/// The judge of an assertion answers all of its criteria.
fn add_own_judge(criterion: &Criterion, judge: &Judge, own_judges: &mut Vec<OwnJudge>) {
    match &criterion.ask {
        CriterionKind::Group(group) => {
            group.criteria.iter().for_each(|criterion| add_own_judge(criterion, judge, own_judges));
        }
        _ => own_judges.push(OwnJudge { criterion: criterion.id.clone(), judge: judge.clone() }),
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
        "similar:cosine" | "similar:dot" | "similar:euclidean" => "similar".to_owned(),
        _ => kind,
    }
}
