//! The AgentV dialect in its three generations, and what promptfoo's shares with it.

mod assertion;
mod conversation;
mod defaults;
mod newer_version;
mod prompt;
mod promptfoo_types;
mod target;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use assertion::{AssertionCriteria, AssertionRules, ScoringFunction, assertions};
use conversation::expand_turns;
use defaults::{AgentvTestDefaults, AgentvTestOptions, read_repeat_count};
use newer_version::report_newer_version;
pub(super) use prompt::AgentvPrompt;
use prompt::{
    FilledPrompt, fill_inherited_assertions, fill_inherited_options, read_agentv_candidate,
    rewrite_old_variables, with_vars,
};
pub(super) use promptfoo_types::REFUSED_TYPES;
use target::{AgentvTarget, GraderSettings, TRANSFORM, add_transform, read_agentv_targets};
use workspace::AgentvWorkspace;

use super::context::Context;
use super::fields::MappingReader;
use super::lower::{Spot, accept};
use super::{promptfoo, settings};
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{
    Criterion, CriterionKind, Draft, GraderKind, Rubric, Scale, UNASSERTED_QUESTION, VARIABLES,
};
use crate::source::{NodeEntry, NodeShape, SourceNode, SourceSpan};
use crate::suite::{AgentSettings, Case, CaseMatrix, CaseTarget, OUTPUT_PREFIX, Suite, without_filter};
use crate::template;

/// Keys that only an AgentV or promptfoo file has at its top.
pub(super) const MARKS: [&str; 8] =
    ["tests", "assert", "assertions", "default_test", "eval_cases", "evalcases", "providers", "refs"];

/// The pass mark of AgentV.
const PASS_MARK: f64 = 0.8;

/// Which of the two tools a file is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestRules {
    /// A test passes by the weighted mean of its assertions.
    Agentv,
    /// A test passes if every assertion holds, or by its score where it has a threshold.
    Promptfoo,
}

/// When a test passes.
#[derive(Debug, Clone, Copy)]
struct PassRule {
    pass_mark: f64,
    /// Whether an assertion that fails fails the test.
    gates: bool,
}

impl TestRules {
    fn pass_rule(self, threshold: Option<f64>) -> PassRule {
        match (self, threshold) {
            (Self::Agentv, threshold) => PassRule { pass_mark: threshold.unwrap_or(PASS_MARK), gates: false },
            (Self::Promptfoo, Some(threshold)) => PassRule { pass_mark: threshold, gates: false },
            (Self::Promptfoo, None) => PassRule { pass_mark: 0.0, gates: true },
        }
    }
}

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
    "evaluator",
    "experiment",
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

/// The key of promptfoo for code that computes the score of a test.
const SCORING_FUNCTION: &str = "assertScoringFunction";

/// Keys that change what is graded, in ways that are not understood here.
const UNSUPPORTED: &[&str] = &[
    "aggregation",
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
    let mut node = rewrite_old_variables(node.clone());
    let variables = promptfoo::take_variables(cx, &mut node);
    let suite = read_suite_by_rules(cx, &node, TestRules::Agentv);
    promptfoo::report_unused_variables(cx, variables);
    suite
}

pub(super) fn read_suite_by_rules(cx: &Context<'_>, node: &SourceNode, rules: TestRules) -> Suite {
    let mut suite = Suite::default();
    let is_suite = ["tests", "default_test"].iter().any(|key| node.get(key).is_some());
    if node.get("refs").is_some() && !is_suite {
        settings::read_agentv_refs(cx, node);
        return suite;
    }
    let is_defaults = |entry: &NodeEntry| {
        ["options", "threshold", "vars", "metadata", "assert"].contains(&entry.key.as_str())
    };
    if node.get("options").is_some() && node.map().is_some_and(|entries| entries.iter().all(is_defaults)) {
        // A file of defaults that suites refer to.
        AgentvTestDefaults::new(rules).merge(cx, node);
        return suite;
    }
    let Some(fields) = MappingReader::new(cx, node, "suite") else { return suite };
    suite.name = fields.name("name");
    suite.description = fields.text("description");
    report_newer_version(&fields, rules);
    let mut defaults = AgentvTestDefaults::read(&fields, rules);
    suite.judge = defaults.judge.clone();
    let mut names: BTreeMap<String, SourceSpan> = BTreeMap::new();
    let node = fields.any(&["tests", "eval_cases", "evalcases"]);
    let mut tests = node.map(|node| read_tests(cx, node, rules)).unwrap_or_default();
    if let Some(node) = node.filter(|node| node.list().is_some_and(<[SourceNode]>::is_empty)) {
        cx.error(Code::Empty, node.span, "`tests` lists nothing");
    }
    // Without tests promptfoo runs every prompt once.
    if rules == TestRules::Promptfoo && node.is_none() && !defaults.prompts.is_empty() {
        tests.push(SourceNode { span: fields.start(), shape: NodeShape::Map(Vec::new()) });
    }
    for (at, test) in tests.iter().enumerate() {
        let n_before = suite.cases.len();
        for test in expand_turns(cx, test, at, rules) {
            for (test, suffix) in with_vars(cx, &test, &defaults) {
                let case = read_agentv_case(cx, &test, at, &suffix, &defaults, &mut names);
                suite.cases.extend(case.into_iter().flatten());
            }
        }
        let stored = suite.cases[n_before..].iter().filter_map(|case| case.store_output_as.clone());
        defaults.stored_outputs.extend(stored);
    }
    if defaults.is_project {
        // Suites give them prompts and assertions.
        let message = "`tests` in the settings of a project are not run by themselves; run a suite";
        cx.report(Diagnostic::warning(Code::NoEffect, fields.key_span("tests"), message));
        suite.cases.clear();
    }
    let shared: Vec<&SourceNode> = defaults.assertions().collect();
    if tests.is_empty() && !shared.is_empty() {
        let pass = rules.pass_rule(defaults.threshold);
        let rubric = read_agentv_rubric(
            cx,
            &shared,
            (defaults.assertion_rules(pass), pass),
            Draft::default(),
            Spot::new(fields.start()),
        );
        suite.rubrics.extend(rubric.map(|rubric| ("assert".to_owned(), rubric.0)));
    }
    if rules == TestRules::Promptfoo {
        fields.takes_prefix("x-");
        fields.knows(&["assertionTemplates"]);
        fields.ignores(&["outputs"]);
        promptfoo::refuse_agentv_keys(&fields, &promptfoo::agentv_suite_keys());
    }
    report_ineffective_keys(&fields);
    fields.finish();
    suite
}

/// Tests written out, or in files of their own.
fn read_tests(cx: &Context<'_>, node: &SourceNode, rules: TestRules) -> Vec<SourceNode> {
    if node.map().is_some() && rules == TestRules::Agentv {
        cx.wrong_type(node, "tests", "a list, or the path of a file");
        return Vec::new();
    }
    let tests = promptfoo::read_test_nodes(cx, node, rules);
    match rules {
        TestRules::Agentv => tests.into_iter().map(rewrite_old_variables).collect(),
        TestRules::Promptfoo => tests,
    }
}

fn report_ineffective_keys(fields: &MappingReader<'_>) {
    fields.knows(&DESCRIPTIVE);
    fields.ignores(WITHOUT_EFFECT);
    fields.refuses(UNSUPPORTED);
    for key in ["nunjucksFilters", "nunjucks_filters"] {
        fields.refuses_with(
            key,
            "the other tool runs these functions on the texts of prompts and assertions; here templates run no code",
            "change the values with `transformVars`, or write them into `vars` as they should read",
        );
    }
}

fn assert_nodes<'a>(fields: &MappingReader<'a>) -> Vec<&'a SourceNode> {
    let node = fields.any(&["assert", "assertions", "evaluators"]);
    node.and_then(|node| fields.cx.list(node, "assert")).unwrap_or_default().iter().collect()
}

fn read_agentv_case(
    cx: &Context<'_>,
    node: &SourceNode,
    at: usize,
    suffix: &str,
    defaults: &AgentvTestDefaults<'_>,
    names: &mut BTreeMap<String, SourceSpan>,
) -> Option<Vec<Case>> {
    let rules = defaults.rules;
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
            block
                .any(&["targets", "target"])
                .map(|node| read_agentv_targets(cx, node, rules))
                .unwrap_or_default(),
        );
        own_repeat = read_repeat_count(&block).or(own_repeat);
        block.ignores(&["cache", "timeout_seconds", "budget_usd", "fail_on_error", "workers"]);
        block.finish();
    }
    own.extend(fields.list("rubrics").unwrap_or_default());
    let options = fields
        .fields("options", "set of options")
        .map(|block| (AgentvTestOptions::read(&block, rules), block.finish()).0)
        .unwrap_or_default()
        .or(&fill_inherited_options(&fields, defaults));
    skip_defaults |= options.skips_defaults;
    let alone = own.is_empty() && (skip_defaults || defaults.assertions().next().is_none());
    let as_assertion = fields.any(&["criteria", "expected_outcome"]).filter(|_| alone);
    own.extend(as_assertion);
    let scoring = match rules {
        TestRules::Promptfoo => fields.get(SCORING_FUNCTION).or(defaults.scoring.as_ref()),
        TestRules::Agentv => None,
    };
    let pass_threshold = threshold.or(defaults.threshold);
    let pass = match scoring {
        // The function alone decides.
        Some(_) => PassRule { pass_mark: 0.0, gates: false },
        None => rules.pass_rule(pass_threshold),
    };
    let draft = Draft {
        description: guidance.filter(|_| as_assertion.is_none()),
        prompt: options
            .rubric_prompt
            .as_deref()
            .map(|prompt| fill_judge_prompt(cx, prompt, &fields.json_map("vars"), fields.start())),
        ..Draft::default()
    };
    let inherited: Vec<&SourceNode> =
        if skip_defaults { Vec::new() } else { defaults.assertions().collect() };
    // Every test has a copy of what all tests share.
    let n_copied = own.iter().chain(&inherited).map(|node| node.n_text_bytes()).sum();
    if !cx.spend_filled_bytes(n_copied, fields.start()) {
        return None;
    }
    let inherited = fill_inherited_assertions(&fields, inherited, defaults);
    own.extend(&inherited);
    let key = ["assert", "assertions", "evaluators"].into_iter().find(|text| fields.has(text));
    let spot = Spot::new(fields.start())
        .key("criteria", key.map_or_else(|| fields.start(), |text| fields.key_span(text)));
    let mut targets = if own_targets.is_empty() { defaults.targets.clone() } else { own_targets };
    if let Some(node) = fields.get("provider") {
        targets = read_agentv_targets(cx, node, rules);
    }
    keep_named_targets(&fields, &mut targets);
    let is_answered = ["provider_output", "providerOutput", "output"].iter().any(|key| fields.has(key));
    if targets.is_empty() && !is_answered {
        targets.extend(defaults.project_target(cx));
    }
    let rubric = if own.is_empty() && defaults.reviews_tests {
        Some((Arc::new(accept(cx, draft_for_review(), &spot)?), AssertionCriteria::default()))
    } else if own.is_empty() {
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
        let GraderSettings { embedding, moderation, .. } = options.grader.clone();
        let mut rules = defaults.assertion_rules(pass);
        rules.embedding = embedding.or(rules.embedding);
        rules.moderation = moderation.or(rules.moderation);
        rules.has_prompt = options.rubric_prompt.is_some();
        rules.tools = tools_of(&targets);
        rules.factuality = options.factuality.clone();
        rules.vars = fields.json_map("vars");
        rules.scoring = scoring.map(|node| ScoringFunction { code: node.clone(), threshold: pass_threshold });
        read_agentv_rubric(cx, &own, (rules, pass), draft, spot)
    };
    let (mut candidate, asked) = read_agentv_candidate(&fields, defaults, &options, &targets);
    let context_transform = rubric.as_ref().and_then(|(_, asserted)| asserted.context_transform.clone());
    if context_transform.is_some() {
        // The code takes the place of `vars.context`.
        candidate.context.clear();
    }
    if (options.transform.is_some() || context_transform.is_some())
        && let Some(response) = candidate.response.take()
    {
        // Code is run on what was answered before too, so that it is produced again.
        let recorded = candidate.output.take().unwrap_or(Json::String(response));
        targets = vec![AgentvTarget::from_recorded_response(recorded)];
    }
    for target in &mut targets {
        add_transform(&mut target.target.config, options.transform.as_deref());
    }
    let has_targets = !targets.is_empty();
    report_unknown_prompts(cx, fields.start(), &targets, &asked);
    let mut metadata = defaults.metadata.clone();
    metadata.extend(fields.json_map("metadata"));
    let tags = metadata
        .get("tags")
        .and_then(Json::as_array)
        .map(|values| values.iter().filter_map(Json::as_str).map(str::to_owned).collect());
    let own_workspace = AgentvWorkspace::read(&fields, rules);
    // Other readers get them filled in.
    let needs_variables = |agentv_target: &AgentvTarget| {
        let target = &agentv_target.target;
        (rules == TestRules::Promptfoo && target.is_program())
            || target.is_request()
            || target.config.contains_key(TRANSFORM)
    };
    if options.transform.is_some()
        || context_transform.is_some()
        || rubric.as_ref().is_some_and(|rubric| rubric.0.external_checks().next().is_some())
        || targets.iter().any(needs_variables)
    {
        candidate.vars = fields.json_map("vars");
    }
    let origin = cx.origin(fields.start());
    fields.knows(&["vars"]);
    match rules {
        TestRules::Agentv => fields.refuses(&[SCORING_FUNCTION]),
        TestRules::Promptfoo => promptfoo::refuse_agentv_keys(&fields, promptfoo::AGENTV_TEST_KEYS),
    }
    report_ineffective_keys(&fields);
    fields.finish();
    let (rubric, asserted) = rubric?;
    let grader = asserted.grader.clone().or(&options.grader).or(&defaults.grader);
    let mut judge = defaults.judge.or(&grader.judge);
    if judge.model.is_none() && judge.panel.is_empty() && asserted.asks_default_judge(&rubric) {
        judge = judge.or(defaults.project_judge(cx));
    }
    let judge = asserted.settle_judge(&rubric, judge);
    let case = Case {
        name,
        origin: Some(origin),
        description,
        tags: tags.unwrap_or_else(|| defaults.tags.clone()),
        metadata,
        candidate,
        server: None,
        targets: Vec::new(),
        agent: AgentSettings {
            system: defaults.system.clone(),
            transform: options.transform.filter(|_| !has_targets),
            context_transform,
            ..AgentSettings::default()
        },
        workspace: own_workspace.complete(&defaults.workspace),
        rubric,
        judge,
        matrix: CaseMatrix::default(),
        data: None,
        labels: BTreeMap::new(),
        repeat: own_repeat.or(options.repeat).unwrap_or(defaults.repeat),
        store_output_as: options.store_output_as,
    };
    Some(split_by_prompts(&case, targets, &asked, defaults))
}

/// The tools that targets declare, once for each that does.
fn tools_of(targets: &[AgentvTarget]) -> Vec<Json> {
    let tools_of = |target: &AgentvTarget| {
        let config = &target.target.config;
        config.get("tools").or_else(|| config.get("functions")).filter(|tools| tools.is_array()).cloned()
    };
    targets.iter().filter_map(tools_of).collect()
}

/// The judge's prompt with the variables of the test; what else it names is the judge's to fill in.
fn fill_judge_prompt(cx: &Context<'_>, prompt: &str, vars: &Map<String, Json>, span: SourceSpan) -> String {
    if !cx.spend_filled_bytes(prompt.len(), span) {
        return String::new();
    }
    cx.fill_names(prompt, span, |name| {
        let value = vars.get(name).filter(|_| !VARIABLES.contains(&name))?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    })
}

/// A test that asserts nothing is run and shown, and a person decides what the answer is worth.
fn draft_for_review() -> Draft {
    Draft { criteria: vec![review_criterion("review")], ..Draft::default() }
}

fn review_criterion(id: &str) -> Criterion {
    let mut criterion = Criterion::new(id, UNASSERTED_QUESTION, CriterionKind::Question(Scale::Binary));
    criterion.by = vec![GraderKind::Human];
    criterion
}

/// Assertions that weigh nothing are measured and decide nothing, so that a person decides.
fn add_review_to_measurements(asserted: &mut AssertionCriteria, spot: &Spot) {
    if asserted.criteria.iter().all(|criterion| criterion.weight == 0.0 && !criterion.required) {
        let is_taken = |id: &str| asserted.criteria.iter().any(|criterion| criterion.id == id);
        let id = if is_taken("review") { "review of the test" } else { "review" };
        asserted.criteria.push(review_criterion(id));
        asserted.spots.push(Spot::new(spot.span));
    }
}

/// Leaves the targets that a test names by label or id.
fn keep_named_targets(fields: &MappingReader<'_>, targets: &mut Vec<AgentvTarget>) {
    let names = fields.texts("providers");
    if names.is_empty() {
        return;
    }
    for name in &names {
        if !targets.iter().any(|target| target.is_named(name)) {
            let known: Vec<&str> = targets.iter().map(|target| target.target.name()).collect();
            let message = format!("no provider of this file is called `{name}`");
            fields.cx.report(
                Diagnostic::error(Code::UnknownName, fields.key_span("providers"), message).suggest(
                    name,
                    known,
                    "providers",
                ),
            );
        }
    }
    targets.retain(|target| names.iter().any(|name| target.is_named(name)));
}

/// A target whose list of prompts names none of those there are would be asked nothing.
fn report_unknown_prompts(
    cx: &Context<'_>,
    test: SourceSpan,
    targets: &[AgentvTarget],
    asked: &[FilledPrompt],
) {
    let is_there = |name: &String| asked.iter().any(|prompt| prompt.names.contains(name));
    for target in targets.iter().filter(|target| !asked.is_empty() && !target.prompts.is_empty()) {
        if !target.prompts.iter().any(is_there) {
            let (name, prompts) = (target.target.name(), target.prompts.join(", "));
            let message = format!("no prompt of this test is called `{prompts}`, which `{name}` asks for");
            cx.error(Code::UnknownName, test, message);
        }
    }
}

/// The case with its prompts; several cases where targets are given different ones.
fn split_by_prompts(
    case: &Case,
    targets: Vec<AgentvTarget>,
    asked: &[FilledPrompt],
    defaults: &AgentvTestDefaults<'_>,
) -> Vec<Case> {
    let prompts_of = |place: usize, target: &AgentvTarget| -> Vec<usize> {
        let is_asked = |prompt: &FilledPrompt| {
            (prompt.targets.is_empty() || prompt.targets.contains(&place))
                && (target.prompts.is_empty()
                    || target.prompts.iter().any(|name| prompt.names.contains(name)))
        };
        (0..asked.len()).filter(|at| is_asked(&asked[*at])).collect()
    };
    let mut groups: Vec<(Vec<usize>, Vec<AgentvTarget>)> = Vec::new();
    for (place, target) in targets.into_iter().enumerate() {
        let prompts = prompts_of(place, &target);
        match groups.iter_mut().find(|(others, _)| *others == prompts) {
            Some((_, group)) => group.push(target),
            None => groups.push((prompts, vec![target])),
        }
    }
    if groups.is_empty() {
        groups.push(((0..asked.len()).collect(), Vec::new()));
    }
    let several = 1 < groups.len();
    let cases = groups.into_iter().map(|(prompts, targets)| {
        let mut case = case.clone();
        if several {
            let names: Vec<&str> = targets.iter().map(|target| target.target.name()).collect();
            case.name = format!("{} [{}]", case.name, names.join(", "));
        }
        case.targets = targets.into_iter().map(|target| target.target).collect();
        if defaults.rules == TestRules::Promptfoo && prompts.iter().any(|at| asked[*at].is_chat()) {
            pass_chat_as_json(&mut case.targets);
        }
        match prompts.as_slice() {
            [] => {}
            [only] => asked[*only].set(&mut case),
            several => case.matrix.prompts = several.iter().map(|at| asked[*at].in_matrix()).collect(),
        }
        let mut name = case.name.clone();
        let Ok(()) = case.try_for_each_template(&mut |text: &mut String| {
            settle_names(text, &defaults.stored_outputs);
            Ok::<(), Infallible>(())
        });
        // The name of a case is known before there are outputs.
        settle_names(&mut name, &BTreeSet::new());
        case.name = name;
        for target in &mut case.targets {
            let Ok(()) = target.try_for_each_request_text(&mut |text: &mut String| {
                *text = link_request_outputs(text, &defaults.stored_outputs);
                Ok::<(), Infallible>(())
            });
        }
        case
    });
    cases.collect()
}

/// promptfoo passes a conversation to a program or an address as the JSON text of its messages.
fn pass_chat_as_json(targets: &mut [CaseTarget]) {
    for target in targets.iter_mut().filter(|target| target.takes_prompt_text()) {
        let (key, value) = (CaseTarget::CHAT_FORMAT, CaseTarget::CHAT_AS_JSON);
        target.config.insert(key.to_owned(), Json::from(value));
    }
}

/// A suite's texts name the fields of rows and stored outputs. This dialect has no rows, so that `{{ row.x }}` is text,
/// and names stored outputs like variables.
fn settle_names(text: &mut String, outputs: &BTreeSet<String>) {
    if !text.contains("{{") {
        return;
    }
    *text = template::escape_braces(text, |name| name.starts_with("row.") || name.starts_with(OUTPUT_PREFIX));
    if !outputs.is_empty() {
        *text = template::replace(text, |name| {
            let name = name.strip_prefix("vars.").unwrap_or(name);
            outputs.contains(name).then(|| format!("{{{{ {OUTPUT_PREFIX}{name} }}}}"))
        });
    }
}

/// The names of stored outputs in a request as a suite writes them.
fn link_request_outputs(text: &str, outputs: &BTreeSet<String>) -> String {
    template::replace(text, |placeholder| {
        let placeholder = placeholder.strip_prefix("vars.").unwrap_or(placeholder);
        let is_output = outputs.contains(without_filter(placeholder));
        is_output.then(|| format!("{{{{ {OUTPUT_PREFIX}{placeholder} }}}}"))
    })
}

/// The same for texts of criteria; returns an output that a check looks for, which is made before a run.
fn settle_names_of(criteria: &mut [Criterion], outputs: &BTreeSet<String>) -> Option<String> {
    let mut refused = None;
    for criterion in criteria {
        settle_names(&mut criterion.description, outputs);
        match &mut criterion.ask {
            CriterionKind::Check(method) => method.for_each_text(&mut |text: &mut String| {
                refused = refused.take().or_else(|| promptfoo::output_names(text, outputs).pop());
                settle_names(text, &BTreeSet::new());
            }),
            CriterionKind::Recipe(method) => {
                method.for_each_text(&mut |text: &mut String| settle_names(text, outputs));
            }
            CriterionKind::Group(group) => {
                refused = settle_names_of(&mut group.criteria, outputs).or(refused);
            }
            CriterionKind::Question(_) | CriterionKind::Tree(_) => {}
        }
    }
    refused
}

fn read_agentv_rubric(
    cx: &Context<'_>,
    nodes: &[&SourceNode],
    (rules, pass): (AssertionRules, PassRule),
    draft: Draft,
    spot: Spot,
) -> Option<(Arc<Rubric>, AssertionCriteria)> {
    let outputs = rules.stored_outputs.clone();
    let is_promptfoo = rules.tool == TestRules::Promptfoo;
    let mut asserted = assertions(cx, nodes, rules);
    (!asserted.criteria.is_empty()).then_some(())?;
    if is_promptfoo && pass.gates {
        add_review_to_measurements(&mut asserted, &spot);
    }
    let mut draft = Draft {
        pass_mark: pass.pass_mark,
        criteria: std::mem::take(&mut asserted.criteria),
        prompt: asserted.prompt.take().or(draft.prompt),
        ..draft
    };
    if let Some(output) = settle_names_of(&mut draft.criteria, &outputs) {
        let message = format!("a check cannot look for `{output}`, which is the output of another test");
        cx.report(
            Diagnostic::error(Code::Unsupported, spot.span, message)
                .note("checks are made before a run")
                .help(format!("use `javascript` or `python`, where it is `context.vars.{output}`")),
        );
    }
    draft.description.iter_mut().for_each(|text| settle_names(text, &outputs));
    if let Some(output) =
        promptfoo::output_names(draft.prompt.as_deref().unwrap_or_default(), &outputs).first()
    {
        let message =
            format!("the judge's prompt cannot use `{output}`, which is the output of another test");
        cx.report(
            Diagnostic::error(Code::Unsupported, spot.span, message)
                .help("name it in the `value` of the assertion"),
        );
    }
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
