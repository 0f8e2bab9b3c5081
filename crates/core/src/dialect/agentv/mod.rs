//! The AgentV dialect in its three generations, and promptfoo's, whose keys it shares.

mod assertion;
mod prompt;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use assertion::{AssertionCriteria, assertions};
use prompt::{
    AgentvPrompt, prompts, read_agentv_candidate, read_input_messages, rewrite_old_variables, with_vars,
};

use super::context::{Context, pretty};
use super::fields::MappingReader;
use super::lower::{Spot, accept};
use super::{rows, settings};
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{Criterion, CriterionKind, Draft, Rubric};
use crate::source::{NodeEntry, NodeShape, SourceNode, SourceSpan};
use crate::suite::{AgentSettings, Calls, Case, CaseTarget, Judge, Suite, Workspace};
use crate::template;

/// Keys that only an AgentV or promptfoo file has at its top.
pub(super) const MARKS: [&str; 9] = [
    "tests",
    "assert",
    "assertions",
    "default_test",
    "defaultTest",
    "eval_cases",
    "evalcases",
    "providers",
    "refs",
];

/// The pass mark of this dialect.
const PASS_MARK: f64 = 0.8;

/// Keys that only describe a file.
const DESCRIPTIVE: [&str; 9] = [
    "$schema",
    "version",
    "author",
    "license",
    "category",
    "requires",
    "suite",
    "governance",
    "conversation_id",
];

/// Keys that steer how AgentV or promptfoo run, and do nothing here.
const WITHOUT_EFFECT: &[&str] = &[
    "commandLineOptions",
    "depends_on",
    "derivedMetrics",
    "derived_metrics",
    "env",
    "environment",
    "evaluator",
    "experiment",
    "extensions",
    "nunjucksFilters",
    "nunjucks_filters",
    "on_dependency_failure",
    "outputPath",
    "output_path",
    "preprocessors",
    "redteam",
    "sharing",
    "timeout_seconds",
    "tracing",
    "writeLatestResults",
];

/// Keys that change what is graded, in ways that are not understood here.
const UNSUPPORTED: &[&str] = &[
    "aggregation",
    "assertScoringFunction",
    "assert_scoring_function",
    "graders",
    "imports",
    "mode",
    "on_turn_failure",
    "scenarios",
    "turns",
    "window_size",
];

pub(super) fn read_agentv_suite(cx: &Context<'_>, node: &SourceNode) -> Suite {
    let mut suite = Suite::default();
    let node = &rewrite_old_variables(node.clone());
    if node.get("refs").is_some() && node.get("tests").is_none() && node.get("default_test").is_none() {
        settings::read_agentv_refs(cx, node);
        return suite;
    }
    let is_defaults = |entry: &NodeEntry| {
        ["options", "threshold", "vars", "metadata", "assert"].contains(&entry.key.as_str())
    };
    if node.get("options").is_some() && node.map().is_some_and(|entries| entries.iter().all(is_defaults)) {
        // A file of defaults that suites refer to.
        AgentvTestDefaults::default().merge(cx, node);
        return suite;
    }
    let Some(fields) = MappingReader::new(cx, node, "suite") else { return suite };
    suite.name = fields.name("name");
    suite.description = fields.text("description");
    let defaults = AgentvTestDefaults::read(&fields);
    suite.judge = defaults.judge.clone();
    let mut names: BTreeMap<String, SourceSpan> = BTreeMap::new();
    let node = fields.any(&["tests", "eval_cases", "evalcases"]);
    let tests = node.map(|node| test_nodes(cx, node)).unwrap_or_default();
    if let Some(node) = node.filter(|node| node.list().is_some_and(<[SourceNode]>::is_empty)) {
        cx.error(Code::Empty, node.span, "`tests` lists nothing");
    }
    for (at, test) in tests.iter().enumerate() {
        for (test, suffix) in with_vars(cx, test, &defaults) {
            suite.cases.extend(read_agentv_case(cx, &test, at, &suffix, &defaults, &mut names));
        }
    }
    let shared: Vec<&SourceNode> = defaults.assertions().collect();
    if tests.is_empty() && !shared.is_empty() {
        let draft = Draft { pass_mark: defaults.threshold, ..Draft::default() };
        let rubric = read_agentv_rubric(cx, &shared, draft, Spot::new(fields.start()));
        suite.rubrics.extend(rubric.map(|rubric| ("assert".to_owned(), rubric.0)));
    }
    report_ineffective_keys(&fields);
    fields.finish();
    suite
}

fn report_ineffective_keys(fields: &MappingReader<'_>) {
    fields.knows(&DESCRIPTIVE);
    fields.ignores(WITHOUT_EFFECT);
    fields.refuses(UNSUPPORTED);
}

/// What every test of a file starts from.
#[derive(Default)]
struct AgentvTestDefaults<'a> {
    threshold: f64,
    asserted: Vec<&'a SourceNode>,
    /// Assertions of a shared `default_test` file.
    shared: Vec<SourceNode>,
    vars: Vec<NodeEntry>,
    metadata: Map<String, Json>,
    tags: Vec<String>,
    rubric_prompt: Option<String>,
    grader: Option<String>,
    prompts: Vec<AgentvPrompt>,
    targets: Vec<CaseTarget>,
    workspace: Option<Workspace>,
    input: Vec<Json>,
    /// What the files attached to every input hold.
    input_files: Vec<String>,
    repeat: u32,
    judge: Judge,
}

impl<'a> AgentvTestDefaults<'a> {
    fn read(fields: &MappingReader<'a>) -> Self {
        let cx = fields.cx;
        let mut defaults = Self {
            threshold: PASS_MARK,
            asserted: assert_nodes(fields).to_vec(),
            shared: Vec::new(),
            vars: Vec::new(),
            metadata: fields.json_map("metadata"),
            tags: Vec::new(),
            rubric_prompt: None,
            grader: None,
            prompts: fields.get("prompts").map(|node| prompts(cx, node)).unwrap_or_default(),
            targets: fields
                .any(&["providers", "targets", "target"])
                .map(|node| read_agentv_targets(cx, node))
                .unwrap_or_default(),
            workspace: read_agentv_workspace(fields),
            input_files: fields.texts_of("input_files"),
            input: fields.get("input").map(|node| read_input_messages(cx, node)).unwrap_or_default(),
            repeat: 1,
            // All criteria of one assertion are graded in one call.
            judge: Judge { calls: Some(Calls::PerRubric), ..Judge::default() },
        };
        match fields.get("tags").map(|node| (node, &node.shape)) {
            Some((_, NodeShape::Map(_))) => {
                defaults.metadata.insert("tags".to_owned(), Json::Object(fields.json_map("tags")));
            }
            Some(_) => defaults.tags = fields.texts("tags"),
            None => {}
        }
        for (key, what) in [("evaluate_options", "set of options"), ("evaluateOptions", "set of options")] {
            if let Some(options) = fields.fields(key, what) {
                defaults.repeat = read_repeat_count(&options).unwrap_or(1);
                options.knows(&[
                    "budget_usd",
                    "max_concurrency",
                    "maxConcurrency",
                    "cache",
                    "delay",
                    "generate_suggestions",
                    "generateSuggestions",
                    "timeout_ms",
                    "timeoutMs",
                    "max_eval_time_ms",
                    "maxEvalTimeMs",
                    "filter_range",
                    "filterRange",
                    "showProgressBar",
                ]);
                options.finish();
            }
        }
        if let Some(named) = fields.fields("defaults", "set of defaults") {
            defaults.grader = named.text("grader");
            named.knows(&["provider", "target"]);
            named.finish();
        }
        if let Some(execution) = fields.fields("execution", "execution block") {
            defaults.threshold = execution.number_in("threshold", 0.0..=1.0).unwrap_or(defaults.threshold);
            if let Some(trials) = execution.fields("trials", "set of trials") {
                defaults.repeat = trials
                    .integer("count", 1..=10_000)
                    .and_then(|integer| u32::try_from(integer).ok())
                    .unwrap_or(1);
                trials.knows(&["strategy", "cost_limit_usd", "costLimitUsd"]);
                trials.finish();
            }
            defaults.asserted.extend(assert_nodes(&execution));
            if defaults.targets.is_empty() {
                let node = execution.any(&["targets", "target"]);
                defaults.targets = node.map(|node| read_agentv_targets(cx, node)).unwrap_or_default();
            }
            execution.knows(&[
                "workers",
                "cache",
                "cache_path",
                "budget_usd",
                "budgetUsd",
                "fail_on_error",
                "failOnError",
                "target",
                "targets",
            ]);
            execution.finish();
        }
        defaults.threshold = fields.number_in("threshold", 0.0..=1.0).unwrap_or(defaults.threshold);
        // What the default test says comes before what the suite says.
        if let Some(node) = fields.any(&["default_test", "defaultTest"]) {
            defaults.default_test(cx, node);
        }
        defaults
    }

    /// What follows a test's own assertions: those of the default test, then those of the suite.
    fn assertions(&self) -> impl Iterator<Item = &SourceNode> {
        self.shared.iter().chain(self.asserted.iter().copied())
    }

    /// Inline, or `file://…`, or `ref://name` through the project's configuration.
    fn default_test(&mut self, cx: &Context<'_>, node: &SourceNode) {
        let Some(text) = node.text() else {
            self.merge(cx, node);
            return;
        };
        let mut reference = cx.expand_path(text, node.span);
        if let Some(name) = reference.strip_prefix("ref://") {
            let Some(found) = settings::resolve_file_reference(cx, name, node.span) else { return };
            reference = found;
        }
        let Some(path) = reference.strip_prefix("file://") else {
            cx.report(
                Diagnostic::error(Code::BadValue, node.span, format!("`{reference}` names no file"))
                    .help("write `file://path` or `ref://name`, or the defaults themselves"),
            );
            return;
        };
        if let Some(parsed) = cx.find(path, node.span).and_then(|file_id| cx.parse(file_id)) {
            self.merge(cx, &rewrite_old_variables(parsed));
        }
    }

    fn merge(&mut self, cx: &Context<'_>, node: &SourceNode) {
        let Some(fields) = MappingReader::new(cx, node, "default test") else { return };
        self.vars = fields.map("vars").unwrap_or_default().to_vec();
        self.shared = assert_nodes(&fields).iter().map(|&node| node.clone()).collect();
        self.threshold = fields.number_in("threshold", 0.0..=1.0).unwrap_or(self.threshold);
        self.metadata.extend(fields.json_map("metadata"));
        if let Some(options) = fields.fields("options", "set of options") {
            let read = AgentvTestOptions::read(&options);
            options.finish();
            self.rubric_prompt = read.rubric_prompt.or_else(|| self.rubric_prompt.take());
            self.grader = read.grader.or_else(|| self.grader.take());
            self.repeat = read.repeat.unwrap_or(self.repeat);
        }
        fields.refuses(&["provider", "providers", "prompts"]);
        fields.ignores(&["workspace"]);
        report_ineffective_keys(&fields);
        fields.finish();
    }
}

/// The keys of an `options` block that mean something here.
struct AgentvTestOptions {
    rubric_prompt: Option<String>,
    grader: Option<String>,
    repeat: Option<u32>,
    prefix: Option<String>,
    suffix: Option<String>,
}

impl AgentvTestOptions {
    fn read(fields: &MappingReader<'_>) -> Self {
        let cx = fields.cx;
        fields.refuses(&[
            "transform",
            "postprocess",
            "transformVars",
            "storeOutputAs",
            "disableVarExpansion",
            "disableDefaultAsserts",
            "factuality",
        ]);
        fields.ignores(&["disableConversationVar", "runSerially"]);
        Self {
            rubric_prompt: fields.any(&["rubric_prompt", "rubricPrompt"]).and_then(|node| {
                match &node.shape {
                    NodeShape::Scalar(_) => cx.text(node, "rubric_prompt"),
                    _ => Some(pretty(&cx.json(node))),
                }
            }),
            grader: fields.get("provider").and_then(|node| grader(cx, node)),
            repeat: read_repeat_count(fields),
            prefix: fields.text("prefix"),
            suffix: fields.text("suffix"),
        }
    }
}

/// The model that grades, by name or as `{id, …}`.
fn grader(cx: &Context<'_>, node: &SourceNode) -> Option<String> {
    if node.map().is_none() {
        return cx.plain_text(node, "provider");
    }
    let fields = MappingReader::new(cx, node, "provider")?;
    let id = fields.need("id").and_then(|node| cx.plain_text(node, "id"));
    fields.ignores(&["config", "label", "delay", "env"]);
    fields.finish();
    id
}

/// A number of trials, or a block that holds one.
fn read_repeat_count(fields: &MappingReader<'_>) -> Option<u32> {
    let node = fields.get("repeat")?;
    let count = if node.map().is_some() {
        let block = MappingReader::new(fields.cx, node, "repeat block")?;
        block.knows(&["strategy", "early_exit", "cost_limit_usd"]);
        let count = block.need("count").and_then(|node| fields.cx.integer(node, "count", 1..=10_000));
        block.finish();
        count
    } else {
        fields.cx.integer(node, "repeat", 1..=10_000)
    };
    count.and_then(|count| u32::try_from(count).ok())
}

fn assert_nodes<'a>(fields: &MappingReader<'a>) -> Vec<&'a SourceNode> {
    let node = fields.any(&["assert", "assertions", "evaluators"]);
    node.and_then(|node| fields.cx.list(node, "assert")).unwrap_or_default().iter().collect()
}

/// Tests written out, or in files of their own.
fn test_nodes(cx: &Context<'_>, node: &SourceNode) -> Vec<SourceNode> {
    match &node.shape {
        NodeShape::List(items) => items
            .iter()
            .flat_map(|node| if node.text().is_some() { test_file(cx, node) } else { vec![node.clone()] })
            .collect(),
        NodeShape::Scalar(_) => test_file(cx, node),
        NodeShape::Map(_) => {
            cx.wrong_type(node, "tests", "a list, or the path of a file");
            Vec::new()
        }
    }
}

fn test_file(cx: &Context<'_>, node: &SourceNode) -> Vec<SourceNode> {
    let Some(written) = cx.path(node, "tests") else { return Vec::new() };
    let path = written.as_str();
    let extension = Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
        .to_lowercase();
    if !["yaml", "yml", "json", "jsonl"].contains(&extension.as_str()) {
        cx.report(
            Diagnostic::error(Code::Unsupported, node.span, format!("tests cannot be read from `{path}`"))
                .note("understood: .yaml, .yml, .json, .jsonl"),
        );
        return Vec::new();
    }
    let Some(file) = cx.find(path, node.span) else { return Vec::new() };
    if file == node.span.file {
        cx.error(Code::Cycle, node.span, "this file names itself as the file of its tests");
        return Vec::new();
    }
    if extension == "jsonl" {
        return rows::lines(cx, file).into_iter().map(rewrite_old_variables).collect();
    }
    let Some(parsed) = cx.parse(file).map(rewrite_old_variables) else { return Vec::new() };
    match parsed.get("tests").unwrap_or(&parsed).list() {
        Some(items) => items.to_vec(),
        None => vec![parsed],
    }
}

/// The folder whose copy an agent works in; hooks and pools have no effect here.
fn read_agentv_workspace(fields: &MappingReader<'_>) -> Option<Workspace> {
    let node = fields.get("workspace")?;
    let path = match node.map() {
        Some(entries) => {
            for entry in entries.iter().filter(|entry| entry.key != "template") {
                let message = format!("`workspace.{}` has no effect here", entry.key);
                fields.cx.report(Diagnostic::warning(Code::NoEffect, entry.key_span, message));
            }
            node.get("template").and_then(|node| fields.cx.path(node, "template"))
        }
        None => fields.cx.path(node, "workspace"),
    };
    Some(Workspace { path: path?, git: None })
}

fn read_agentv_targets(cx: &Context<'_>, node: &SourceNode) -> Vec<CaseTarget> {
    let own: Vec<CaseTarget> = match &node.shape {
        NodeShape::List(items) => items.iter().filter_map(|node| read_agentv_target(cx, node)).collect(),
        _ => read_agentv_target(cx, node).into_iter().collect(),
    };
    own.into_iter()
        .map(|case_target| settings::named_target(cx, node.span, &case_target.id).unwrap_or(case_target))
        .collect()
}

/// A name, `{id, label, config}`, or `{name: {label, config}}`.
fn read_agentv_target(cx: &Context<'_>, node: &SourceNode) -> Option<CaseTarget> {
    let Some(entries) = node.map() else {
        let id = cx.raw_text(node, "providers")?;
        return Some(CaseTarget { id, label: None, config: Map::new() });
    };
    let (id, inner) = match entries {
        [only] if !["id", "name", "label"].contains(&only.key.as_str()) => {
            (Some(only.key.clone()), &only.value)
        }
        _ => (None, node),
    };
    let fields = MappingReader::new(cx, inner, "provider")?;
    let id = id.or_else(|| fields.any(&["id", "name"]).and_then(|node| cx.raw_text(node, "id")));
    if id.is_none() {
        fields.missing("id");
    }
    let (label, config) = (fields.text("label"), fields.raw_json_map("config"));
    fields.refuses(&["transform", "hooks", "prompts"]);
    fields.knows(&[
        "delay",
        "env",
        "inputs",
        "runtime",
        "environment",
        "use_target",
        "extends",
        "provider",
        "model",
        "reasoning_effort",
    ]);
    fields.finish();
    Some(CaseTarget { id: id?, label, config })
}

fn read_agentv_case(
    cx: &Context<'_>,
    node: &SourceNode,
    at: usize,
    suffix: &str,
    defaults: &AgentvTestDefaults<'_>,
    names: &mut BTreeMap<String, SourceSpan>,
) -> Option<Case> {
    let fields = MappingReader::new(cx, node, "test")?;
    let description = fields.text("description");
    let id = fields.name("id");
    let (name, description) = match (id, description) {
        (Some(id), description) => (id, description),
        // Descriptions may repeat; names may not.
        (None, Some(description)) if names.contains_key(&description) => {
            (format!("{description} ({})", at + 1), None)
        }
        (None, Some(description)) => (description, None),
        (None, None) => (format!("test {}", at + 1), None),
    };
    let name = name + suffix;
    if let Some(first) = names.insert(name.clone(), fields.span("id")) {
        cx.report(
            Diagnostic::error(Code::DuplicateId, fields.span("id"), format!("there are two tests `{name}`"))
                .also(first, "the first one"),
        );
    }
    let guidance =
        fields.any(&["criteria", "expected_outcome"]).and_then(|node| cx.template(node, "criteria"));
    let mut own = assert_nodes(&fields);
    let mut skip_defaults = false;
    let mut threshold = fields.number_in("threshold", 0.0..=1.0);
    let (mut own_targets, mut own_repeat) = (Vec::new(), None);
    for key in ["execution", "run"] {
        let Some(block) = fields.fields(key, "execution block") else { continue };
        threshold = block.number_in("threshold", 0.0..=1.0).or(threshold);
        skip_defaults |= block.bool("skip_defaults").unwrap_or(false);
        own.extend(assert_nodes(&block));
        own_targets.extend(
            block.any(&["targets", "target"]).map(|node| read_agentv_targets(cx, node)).unwrap_or_default(),
        );
        own_repeat = read_repeat_count(&block).or(own_repeat);
        block.ignores(&["cache", "timeout_seconds", "budget_usd", "fail_on_error", "workers"]);
        block.finish();
    }
    own.extend(fields.list("rubrics").unwrap_or_default());
    let alone = own.is_empty() && (skip_defaults || defaults.assertions().next().is_none());
    let as_assertion = fields.any(&["criteria", "expected_outcome"]).filter(|_| alone);
    own.extend(as_assertion);
    let options = fields
        .fields("options", "set of options")
        .map(|mapping_reader| (AgentvTestOptions::read(&mapping_reader), mapping_reader.finish()).0);
    let draft = Draft {
        description: guidance.filter(|_| as_assertion.is_none()),
        pass_mark: threshold.unwrap_or(defaults.threshold),
        prompt: options
            .as_ref()
            .and_then(|agentv_test_options| agentv_test_options.rubric_prompt.clone())
            .or_else(|| defaults.rubric_prompt.clone()),
        ..Draft::default()
    };
    if !skip_defaults {
        own.extend(defaults.assertions());
    }
    let key = ["assert", "assertions", "evaluators"].into_iter().find(|text| fields.has(text));
    let spot = Spot::new(fields.start())
        .key("criteria", key.map_or_else(|| fields.start(), |text| fields.key_span(text)));
    let rubric = if own.is_empty() {
        let said = ["assert", "assertions", "evaluators", "criteria"];
        if !said.iter().any(|said| {
            fields.get(said).is_some_and(|node| node.list().is_none_or(|nodes| !nodes.is_empty()))
        }) {
            fields.lacks(
                &["assert", "assertions", "criteria"],
                Diagnostic::error(Code::MissingKey, fields.start(), "this test has nothing to be graded by")
                    .help("add `assert:` with at least one criterion"),
            );
        }
        None
    } else {
        read_agentv_rubric(cx, &own, draft, spot)
    };
    let (mut candidate, matrix) = read_agentv_candidate(&fields, defaults, options.as_ref());
    let mut metadata = defaults.metadata.clone();
    metadata.extend(fields.json_map("metadata"));
    let tags = metadata
        .get("tags")
        .and_then(Json::as_array)
        .map(|values| values.iter().filter_map(Json::as_str).map(str::to_owned).collect());
    let own_workspace = read_agentv_workspace(&fields);
    // Everybody else gets them filled in.
    if rubric.as_ref().is_some_and(|rubric| rubric.0.external_checks().next().is_some()) {
        candidate.vars = fields.json_map("vars");
    }
    let origin = cx.origin(fields.start());
    fields.knows(&["vars"]);
    fields.refuses(&["provider", "providers", "prompts"]);
    report_ineffective_keys(&fields);
    fields.finish();
    let (rubric, asserted) = rubric?;
    let mut judge = defaults.judge.clone();
    judge.model = asserted
        .model
        .or_else(|| options.as_ref().and_then(|agentv_test_options| agentv_test_options.grader.clone()))
        .or_else(|| defaults.grader.clone());
    judge.temperature = asserted.temperature;
    let mut case = Case {
        name,
        origin: Some(origin),
        description,
        tags: tags.unwrap_or_else(|| defaults.tags.clone()),
        metadata,
        candidate,
        server: None,
        targets: if own_targets.is_empty() { defaults.targets.clone() } else { own_targets },
        agent: AgentSettings::default(),
        workspace: own_workspace.or_else(|| defaults.workspace.clone()),
        rubric,
        judge,
        matrix,
        data: None,
        labels: BTreeMap::new(),
        repeat: own_repeat
            .or(options.and_then(|agentv_test_options| agentv_test_options.repeat))
            .unwrap_or(defaults.repeat),
    };
    let Ok(()) = case.try_for_each_template(&mut |text| {
        escape_rows(text);
        Ok::<(), Infallible>(())
    });
    Some(case)
}

/// A suite's texts name the fields of rows. This dialect has none, so that `{{ row.x }}` is text.
fn escape_rows(text: &mut String) {
    if text.contains("{{") {
        *text = template::escape_braces(text, |name| name.starts_with("row."));
    }
}

fn escape_rows_of(criteria: &mut [Criterion]) {
    for criterion in criteria {
        escape_rows(&mut criterion.description);
        match &mut criterion.ask {
            CriterionKind::Check(method) | CriterionKind::Recipe(method) => {
                method.for_each_text(&mut escape_rows);
            }
            CriterionKind::Group(group) => escape_rows_of(&mut group.criteria),
            CriterionKind::Question(_) | CriterionKind::Tree(_) => {}
        }
    }
}

fn read_agentv_rubric(
    cx: &Context<'_>,
    nodes: &[&SourceNode],
    draft: Draft,
    spot: Spot,
) -> Option<(Arc<Rubric>, AssertionCriteria)> {
    let mut asserted = assertions(cx, nodes);
    (!asserted.criteria.is_empty()).then_some(())?;
    let mut draft = Draft {
        criteria: std::mem::take(&mut asserted.criteria),
        prompt: asserted.prompt.take().or(draft.prompt),
        ..draft
    };
    escape_rows_of(&mut draft.criteria);
    draft.description.iter_mut().for_each(escape_rows);
    template::replace(draft.prompt.as_deref().unwrap_or_default(), |name| {
        if name.starts_with("row.") {
            let message = format!("the judge's prompt names `{name}`, and a test has no rows");
            cx.report(
                Diagnostic::error(Code::MissingVariable, spot.span, message)
                    .help("put the value into `vars`, and name it as `{{ name }}`"),
            );
        }
        None
    });
    let spot = Spot { children: std::mem::take(&mut asserted.spots), ..spot };
    Some((Arc::new(accept(cx, draft, &spot)?), asserted))
}
