//! What stands under `assert` in AgentV and promptfoo files, as criteria.

use serde_json::Value as Json;

use super::TestRules;
use super::promptfoo_types::{PROMPTFOO_MARKS, REFUSED_TYPES, TOOL_CALL_TYPES, ascii_classes};
use super::target::{GraderSettings, read_grader};
use crate::catalogue::{self, CHECKS, RECIPES};
use crate::check::{CompiledCheck, EmbeddingModel};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::{Context, pretty};
use crate::dialect::fields::MappingReader;
use crate::dialect::lower::Spot;
use crate::dialect::method::{CriterionIds, read_method_params};
use crate::dialect::promptfoo;
use crate::dialect::rubric::{UNREADABLE, read_score_ranges};
use crate::rubric::{Aggregation, Criterion, CriterionKind, Group, Operator, Polarity, Scale};
use crate::source::{NodeShape, SourceNode};
use crate::suite::Aggregate;
use crate::template;

/// All assertions of one test.
#[derive(Default)]
pub(super) struct AssertionCriteria {
    pub(super) criteria: Vec<Criterion>,
    pub(super) spots: Vec<Spot>,
    /// The judge's prompt and model where an assertion names them.
    pub(super) prompt: Option<String>,
    pub(super) grader: GraderSettings,
    n_judged: usize,
    /// Names of metrics, each with a criterion that belongs to it and its weight.
    metrics: Vec<(String, String, f64)>,
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
    /// The test has a prompt for the judge, so that a rubric may say nothing.
    pub(super) has_prompt: bool,
    /// The tools that the providers of the test declare.
    pub(super) tools: Vec<Json>,
    /// What each answer of `factuality` is worth.
    pub(super) factuality: serde_json::Map<String, Json>,
    pub(super) scoring: Option<ScoringFunction>,
}

/// Languages of a project's own assertions, with what runs them.
const OWN_ASSERTIONS: &[(&str, &[&str])] =
    &[("ts", &["bun", "run"]), ("js", &["node"]), ("mjs", &["node"]), ("py", &["python3"]), ("sh", &["sh"])];

/// A question about a conversation, which has no text of its own.
const CONVERSATION_RELEVANCE: &str = "conversation-relevance";

/// Keys of an assertion that hold the judge's prompt.
const JUDGE_PROMPTS: &[&str] = &["prompt", "rubricPrompt"];

/// What AgentV's own grader asks where an assertion says nothing.
const PLAIN_RUBRIC: &str =
    "The response does what the task asks for, and agrees with the reference answer where there is one.";

/// Types whose `value` is a rubric.
const RUBRIC_TYPES: [&str; 5] = ["llm-rubric", "agent-rubric", "rubrics", "rubric", "llm-grader"];

pub(super) fn assertions(
    cx: &Context<'_>,
    nodes: &[&SourceNode],
    rules: AssertionRules,
) -> AssertionCriteria {
    let (ids, asserted) = (CriterionIds::default(), AssertionCriteria::default());
    let mut judge_prompts = Vec::new();
    nodes.iter().for_each(|node| collect_judge_prompts(node, &mut judge_prompts));
    let several_prompts = judge_prompts.iter().any(|text| *text != judge_prompts[0]);
    let mut reader = AssertionReader {
        cx,
        rules,
        ids,
        asserted,
        several_prompts,
        own_prompt: None,
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
    /// How many sets are around the assertion that is read.
    depth: usize,
    /// The gate of the set that was read last.
    set_threshold: Option<f64>,
}

impl<'a> AssertionReader<'a> {
    /// All plain strings become one rubric, which stands where the first of them did.
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
        self.asserted.grader.judge.model = None;
        self.asserted.grader.judge.panel = panel;
        self.asserted.grader.judge.aggregate = Some(Aggregate::Mean);
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
            self.add_transform(&fields, &mut criterion);
        } else {
            fields.refuses(&["transform"]);
        }
        fields.refuses_with(
            "contextTransform",
            "promptfoo takes the context from other fields of the provider's reply, which Jurist does not store",
            "write the context into `vars.context`, or let a program answer with `context`",
        );
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
        if !self.rules.gates || criterion.weight == 0.0 {
            criterion.required = false;
            return;
        }
        // A set without a threshold holds if all of its assertions do, and those are gates already.
        let is_plain_set = matches!(criterion.ask, CriterionKind::Group(_)) && own.is_none();
        criterion.required = !is_plain_set;
        if is_plain_set {
            return;
        }
        let usual = PROMPTFOO_MARKS.iter().find(|(name, _)| *name == kind).map(|(_, mark)| *mark);
        let threshold = || match &criterion.ask {
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
        // A score under the mark is what `not-` asks for; code says yes or no there.
        let is_score = own.is_some() || usual.is_some_and(|usual| 1e-6 < usual);
        let is_turned = criterion.polarity != Polarity::Plain && is_score;
        criterion.threshold = Some(if is_turned { 1.0 - mark } else { mark });
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
        } else {
            fields.ignores(&["provider"]);
        }
        if !entry.params.iter().any(|param| param.name == "config") {
            fields.ignores(&["config"]);
        }
        let rewritten = self.rewrite_pattern(fields, entry.name);
        let own = rewritten.as_ref().and_then(|node| MappingReader::new(cx, node, "assertion"));
        let mut method = read_method_params(own.as_ref().unwrap_or(fields), entry);
        if own.is_some() {
            fields.knows(&["value", "flags", "engine", "scope"]);
        }
        if entry.name == "contains" && !method.params.contains_key("value") {
            fields.missing("value");
        }
        if entry.name == "script" {
            self.other_keys(fields, &mut method.params);
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

    /// A scoring function is given scores of criteria that stand for themselves.
    fn note_metric(&mut self, fields: &MappingReader<'_>, metric: &str, criterion: &Criterion) {
        if 0 < self.depth && self.rules.scoring.is_some() {
            self.cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    fields.span("metric"),
                    "a `metric` inside an `assert-set` together with `assertScoringFunction` is not supported",
                )
                .note("promptfoo gives it to the function; here the function gets those of the test itself")
                .help("move the assertion out of the set"),
            );
            return;
        }
        self.asserted.metrics.push((metric.to_owned(), criterion.id.clone(), criterion.weight));
    }

    /// The code that decides a test of promptfoo by the scores of its metrics, as the only criterion that counts.
    fn read_scoring_function(&mut self, scoring: &ScoringFunction) -> Option<Criterion> {
        let (cx, span) = (self.cx, scoring.code.span);
        let mut code = cx.raw_text(&scoring.code, "assertScoringFunction")?;
        let path = code.strip_prefix("file://").unwrap_or_default();
        let file = path.rsplit_once(':').map_or(path, |(file, _)| file);
        let ends = |extensions: &[&str]| extensions.iter().any(|end| file.ends_with(end));
        let language = if ends(&[".py"]) {
            "python"
        } else if ends(&[".js", ".mjs", ".cjs", ".ts"]) {
            "javascript"
        } else {
            cx.report(
                Diagnostic::error(
                    Code::BadValue,
                    span,
                    format!("`{code}` names no JavaScript or Python file"),
                )
                .note("promptfoo takes a function of a file there, such as `file://score.js:combine`"),
            );
            return None;
        };
        cx.find(file, span)?;
        // What promptfoo calls where no function is named.
        if language == "python" && file == path {
            code.push_str(":func");
        }
        let mut scores = serde_json::Map::new();
        for (metric, id, weight) in &self.asserted.metrics {
            let named = scores.entry(metric.clone()).or_insert_with(|| Json::Object(serde_json::Map::new()));
            named[id.as_str()] = read_back(*weight);
        }
        let entry = catalogue::find_catalogue_entry(CHECKS, language)?;
        let mut params = serde_json::Map::new();
        params.insert("value".to_owned(), Json::from(code));
        params.insert("scores".to_owned(), Json::Object(scores));
        if let Some(threshold) = scoring.threshold {
            params.insert("config".to_owned(), serde_json::json!({ "threshold": read_back(threshold) }));
        }
        let method = catalogue::GradingMethod { entry, params };
        if let Err(error) = CompiledCheck::compile(&method) {
            cx.error(Code::BadValue, span, error.to_string());
            return None;
        }
        let id = self.ids.fresh("assertScoringFunction");
        let mut criterion = Criterion::new(id, "", CriterionKind::Check(method));
        (criterion.required, criterion.threshold) = (true, Some(scoring.threshold.unwrap_or(1e-6)));
        Some(criterion)
    }

    /// promptfoo's patterns are JavaScript's: letters, digits and word boundaries are ASCII's, and look-around is
    /// allowed, which takes another engine.
    fn rewrite_pattern(&self, fields: &MappingReader<'_>, name: &str) -> Option<SourceNode> {
        if !self.is_promptfoo() || name != "regex" {
            return None;
        }
        let written = fields.get("value")?;
        let mut pattern = ascii_classes(written.text()?, r"(?-u:\b)");
        let is_linear = regex::Regex::new(&template::resolve_escapes(&pattern)).is_ok();
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

    fn set(&mut self, fields: &MappingReader<'_>, spot: &mut Spot) -> Option<CriterionKind> {
        let list = fields.any(&["assert", "assertions", "evaluators"]);
        let Some(items) = list.and_then(|node| self.cx.list(node, "assert")) else {
            fields.missing("assert");
            return None;
        };
        fields.ignores(&["config"]);
        // A set with a threshold passes by its score, and so does a test around it.
        let outside = self.rules.gates;
        self.rules.gates &= !(self.is_promptfoo() && fields.has("threshold"));
        self.depth += 1;
        let (mut criteria, spots) = self.list(&items.iter().collect::<Vec<_>>());
        self.depth -= 1;
        self.rules.gates = outside;
        if let Some(node) = fields.get("aggregator") {
            self.apply_aggregator(node, &mut criteria);
        }
        spot.children = spots;
        let key = ["assert", "assertions", "evaluators"]
            .into_iter()
            .find(|text| fields.has(text))
            .unwrap_or("assert");
        spot.keys.push(("criteria", fields.key_span(key)));
        Some(CriterionKind::Group(Group { criteria, aggregation: Aggregation::WeightedAverage }))
    }

    /// How a set of AgentV combines its members; their own weights do not count then.
    fn apply_aggregator(&mut self, node: &SourceNode, criteria: &mut [Criterion]) {
        let cx = self.cx;
        let Some(fields) = MappingReader::new(cx, node, "aggregator") else { return };
        let kind = fields.need("type").and_then(|node| cx.plain_text(node, "type"));
        match kind.as_deref().map(|kind| kind.replace('-', "_")).as_deref() {
            None => {}
            Some("weighted_average") => {
                let weights = fields.map("weights").unwrap_or_default();
                for entry in weights.iter().filter(|entry| !criteria.iter().any(|own| own.id == entry.key)) {
                    let known = criteria.iter().map(|criterion| criterion.id.as_str());
                    let message = format!("no member of this set is called `{}`", entry.key);
                    cx.report(
                        Diagnostic::error(Code::UnknownName, entry.key_span, message)
                            .suggest(&entry.key, known, "members"),
                    );
                }
                for criterion in &mut *criteria {
                    let own = weights.iter().find(|entry| entry.key == criterion.id);
                    let own = own.and_then(|entry| cx.number_in(&entry.value, "weights", 0.0..=f64::MAX));
                    criterion.weight = own.unwrap_or(1.0);
                }
            }
            Some("threshold") => {
                self.set_threshold =
                    fields.need("threshold").and_then(|node| cx.number_in(node, "threshold", 0.0..=1.0));
                criteria.iter_mut().for_each(|criterion| criterion.weight = 1.0);
                // The share of members that pass is their mean, if each of them passes or fails.
                if let Some(other) = criteria.iter().find(|criterion| !is_yes_or_no(criterion)) {
                    let message = format!(
                        "the aggregator `threshold` counts members that pass, and `{}` has a score",
                        other.id
                    );
                    cx.report(
                        Diagnostic::error(Code::Unsupported, cx.head(node), message)
                            .help("use `weighted_average`, or members that are met or not met"),
                    );
                }
            }
            Some(other) => {
                let message = format!("the aggregator `{other}` is not supported");
                cx.report(
                    Diagnostic::error(Code::Unsupported, cx.head(node), message)
                        .note("AgentV lets a program or a model combine the members; here they are combined by weight")
                        .help("use `weighted_average` with `weights`, or `threshold`"),
                );
                fields.knows(&["path", "cwd", "prompt", "model", "command"]);
                return;
            }
        }
        fields.finish();
    }

    /// The judge that an assertion asks for; a test has one.
    fn judge(&mut self, fields: &MappingReader<'_>) {
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
        let (model, other) = (&grader.judge.model, &self.asserted.grader.judge.model);
        if other.is_some() && model.is_some() && other != model {
            clash("judge", "provider");
        }
        if self.several_prompts {
            self.own_prompt =
                prompt.map(|prompt| template::replace(&prompt, |name| Some(format!("[{name}]"))));
        } else {
            self.asserted.prompt = prompt.or_else(|| self.asserted.prompt.take());
        }
        self.asserted.grader = grader.or(&self.asserted.grader);
    }

    fn rubric(&mut self, fields: &MappingReader<'_>, kind: &str, spot: &mut Spot) -> Option<CriterionKind> {
        self.judge(fields);
        let value = self.value(fields);
        fields.knows(&["value", "criteria", "rubrics"]);
        let Some(value) = value else {
            // A prompt alone is a rubric too: it says all there is to say.
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

    fn text_of(&mut self, fields: &MappingReader<'_>, kind: &str) -> String {
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

/// A number as a file has it: a whole one without a fraction, so that converted suites are the same.
fn read_back(number: f64) -> Json {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    if is_whole { Json::from(number as i64) } else { Json::from(number) }
}

/// Checks that hold or do not hold.
const YES_OR_NO: [&str; 20] = [
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "contains-all",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "ends-with",
    "regex",
    "is-json",
    "contains-json",
    "is-xml",
    "contains-xml",
    "is-sql",
    "contains-sql",
    "is-refusal",
    "latency",
    "cost",
    "word-count",
];

fn is_yes_or_no(criterion: &Criterion) -> bool {
    match &criterion.ask {
        CriterionKind::Question(Scale::Binary) => true,
        CriterionKind::Check(method) => YES_OR_NO.contains(&method.entry.name),
        _ => false,
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

/// The judge's prompts that assertions name, at any depth.
fn collect_judge_prompts<'n>(node: &'n SourceNode, found: &mut Vec<&'n str>) {
    found.extend(JUDGE_PROMPTS.iter().filter_map(|key| node.get(key)?.text()));
    for key in ["assert", "assertions", "evaluators"] {
        let items = node.get(key).and_then(SourceNode::list).unwrap_or_default();
        items.iter().for_each(|item| collect_judge_prompts(item, found));
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
        "similar:cosine" => "similar".to_owned(),
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
