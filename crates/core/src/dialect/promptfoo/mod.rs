//! promptfoo's dialect. Tests, assertions and targets are read as AgentV's are; what is here is what differs: how a
//! test passes, and where prompts, tests and variables come from.

mod prompt_files;
mod render;
mod test_files;

pub(super) use prompt_files::read_promptfoo_prompts;
pub(super) use render::{
    TestVariables, call_prompt_script, fill_prompt, fill_texts, find_value, output_names, settle_variables,
};
pub(super) use test_files::{read_test_nodes, read_variable_values, read_variables};

use super::agentv::{self, TestRules};
use super::context::Context;
use super::fields::MappingReader;
use crate::diagnostic::{Code, Diagnostic};
use crate::redact::is_secret_variable;
use crate::source::{NodeEntry, NodeShape, Scalar, SourceNode, SourceSpan};
use crate::suite::Suite;

/// Keys that only a promptfoo file has at its top.
pub(super) const MARKS: [&str; 10] = [
    "defaultTest",
    "scenarios",
    "evaluateOptions",
    "commandLineOptions",
    "nunjucksFilters",
    "derivedMetrics",
    "outputPath",
    "writeLatestResults",
    "redteam",
    "assertionTemplates",
];

/// Keys in any spelling but AgentV's own, down to the assertions of a test.
const CAMEL_CASE_KEYS: [&str; 14] = [
    "rubricPrompt",
    "transformVars",
    "contextTransform",
    "storeOutputAs",
    "disableVarExpansion",
    "disableConversationVar",
    "disableDefaultAsserts",
    "assertScoringFunction",
    "providerOutput",
    "maxConcurrency",
    "apiBaseUrl",
    "apiKeyEnvar",
    "transformResponse",
    "postprocess",
];

/// A key at the top of AgentV's files that promptfoo does not have.
struct AgentvKey {
    name: &'static str,
    /// Whether a file with this key is one of AgentV.
    is_mark: bool,
    /// Whether it says what is run or graded.
    is_graded: bool,
}

const fn agentv_key(name: &'static str) -> AgentvKey {
    AgentvKey { name, is_mark: true, is_graded: false }
}

const fn shared_graded_key(name: &'static str) -> AgentvKey {
    AgentvKey { name, is_mark: false, is_graded: true }
}

const fn graded_agentv_key(name: &'static str) -> AgentvKey {
    AgentvKey { name, is_mark: true, is_graded: true }
}

const AGENTV_KEYS: [AgentvKey; 22] = [
    agentv_key("name"),
    graded_agentv_key("default_test"),
    graded_agentv_key("evaluate_options"),
    graded_agentv_key("assert"),
    graded_agentv_key("assertions"),
    shared_graded_key("evaluators"),
    graded_agentv_key("eval_cases"),
    graded_agentv_key("evalcases"),
    graded_agentv_key("execution"),
    graded_agentv_key("workspace"),
    graded_agentv_key("environment"),
    graded_agentv_key("input"),
    graded_agentv_key("input_files"),
    shared_graded_key("target"),
    shared_graded_key("threshold"),
    shared_graded_key("defaults"),
    agentv_key("output_path"),
    agentv_key("refs"),
    agentv_key("imports"),
    agentv_key("criteria"),
    agentv_key("governance"),
    agentv_key("experiment"),
];

/// Keys at the top of a file of AgentV that say what is run and graded.
pub(super) fn agentv_suite_keys() -> Vec<&'static str> {
    AGENTV_KEYS.iter().filter(|key| key.is_graded).map(|key| key.name).collect()
}

/// Keys of its tests that say what is run and graded.
pub(super) const AGENTV_TEST_KEYS: &[&str] = &[
    "criteria",
    "expected_outcome",
    "expected_output",
    "assertions",
    "evaluators",
    "rubrics",
    "execution",
    "run",
    "workspace",
    "environment",
    "extensions",
    "input",
    "input_files",
    "output",
    "provider_output",
];

/// The same of its assertions.
pub(super) const AGENTV_ASSERTION_KEYS: &[&str] = &["required", "negate", "score_ranges"];

/// Refuses keys of AgentV in a file of promptfoo, which would ignore them.
pub(super) fn refuse_agentv_keys(fields: &MappingReader<'_>, keys: &[&str]) {
    for key in keys {
        fields.refuses_with(
            key,
            "it is a key of AgentV; the file is read as one of promptfoo, which ignores it",
            "remove it, or read the file as one of AgentV with `--dialect agentv`",
        );
    }
}

/// Whether a file with the keys that both tools share is promptfoo's.
pub(super) fn is_promptfoo(cx: &Context<'_>, node: &SourceNode) -> bool {
    let path = cx.path_of(node.span.file);
    let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("promptfooconfig"));
    if is_named || cx.text_of(node.span.file).contains("promptfoo.dev/config-schema") {
        return true;
    }
    let has = |key: &&str| node.get(key).is_some();
    if AGENTV_KEYS.iter().any(|key| key.is_mark && has(&key.name)) {
        return false;
    }
    MARKS.iter().any(has) || has_camel_case(node, 5) || (has(&"prompts") && names_model(node))
}

fn has_camel_case(node: &SourceNode, depth: usize) -> bool {
    let inner = depth.checked_sub(1);
    match (&node.shape, inner) {
        (NodeShape::Map(entries), Some(inner)) => entries.iter().any(|entry| {
            CAMEL_CASE_KEYS.contains(&entry.key.as_str())
                || !["vars", "metadata"].contains(&entry.key.as_str()) && has_camel_case(&entry.value, inner)
        }),
        (NodeShape::List(items), Some(inner)) => items.iter().any(|item| has_camel_case(item, inner)),
        _ => false,
    }
}

/// promptfoo writes `vendor:model`; AgentV names the targets of its project.
fn names_model(node: &SourceNode) -> bool {
    let ids = node.get("providers").into_iter().flat_map(|providers| match &providers.shape {
        NodeShape::List(items) => items.iter().collect::<Vec<_>>(),
        _ => vec![providers],
    });
    ids.filter_map(|node| node.text().or_else(|| node.get("id")?.text())).any(|id| id.contains(':'))
}

pub(super) fn read_promptfoo_suite(cx: &Context<'_>, node: &SourceNode) -> Suite {
    if let Some(span) = find_red_team(node) {
        cx.report(
            Diagnostic::error(Code::Unsupported, span, "red-team files of promptfoo are not supported")
                .note("promptfoo generates attacks for them while it runs; Jurist grades what is written in a file")
                .help("run `promptfoo redteam generate`, and grade the answers with assertions of your own"),
        );
        return Suite::default();
    }
    let mut node = node.clone();
    let root = node.clone();
    resolve_references(cx, &mut node, &root, 0);
    let variables = take_variables(cx, &mut node);
    expand_scenarios(cx, &mut node);
    name_suite_providers(cx, &node);
    let suite = agentv::read_suite_by_rules(cx, &node, TestRules::Promptfoo);
    report_unused_variables(cx, variables);
    suite
}

/// Notes the models under `providers` with their settings: a judge with the id or the label of one is that model. As in
/// promptfoo, the last model with an id holds, and ids come before labels.
fn name_suite_providers(cx: &Context<'_>, node: &SourceNode) {
    let lists = ["providers", "targets"].into_iter().filter_map(|key| node.get(key)?.list());
    let mut providers = cx.suite_providers.borrow_mut();
    let mut labels = Vec::new();
    for provider in lists.flatten() {
        let text = |key: &str| provider.get(key).and_then(SourceNode::text);
        // A judge names a file by its path.
        let Some(id) = text("id").filter(|id| !id.starts_with("file://")) else { continue };
        let entries = provider.map().unwrap_or_default().iter();
        // The other keys say what it is asked as a target.
        let entries = entries.filter(|entry| ["id", "config"].contains(&entry.key.as_str())).cloned();
        let model = SourceNode { span: provider.span, shape: NodeShape::Map(entries.collect()) };
        labels.extend(text("label").map(|label| (label, model.clone())));
        providers.insert(id.to_owned(), model);
    }
    for (label, model) in labels {
        providers.entry(label.to_owned()).or_insert(model);
    }
}

/// Warns of variables that a file sets and no text of it names.
pub(super) fn report_unused_variables(cx: &Context<'_>, variables: Vec<(String, SourceSpan)>) {
    for (name, span) in variables.into_iter().filter(|(name, _)| !cx.uses_own_variable(name)) {
        let message =
            format!("`{name}` has no effect here: no text of the file names `{{{{ env.{name} }}}}`");
        cx.report(
            Diagnostic::warning(Code::NoEffect, span, message)
                .note("the other tool also gives it to providers and programs")
                .help("set it as a variable of the environment, or write it in the settings of the provider"),
        );
    }
}

/// Where a file asks for attacks, which are made by promptfoo's own service.
fn find_red_team(node: &SourceNode) -> Option<SourceSpan> {
    let entries = node.map()?;
    if let Some(entry) = entries.iter().find(|entry| entry.key == "redteam") {
        return Some(entry.key_span);
    }
    fn visit(node: &SourceNode) -> Option<SourceSpan> {
        match &node.shape {
            NodeShape::Map(entries) => entries.iter().find_map(|entry| {
                let is_red_team = ["type", "id"].contains(&entry.key.as_str())
                    && entry.value.text().is_some_and(|text| text.starts_with("promptfoo:redteam:"));
                if is_red_team { Some(entry.value.span) } else { visit(&entry.value) }
            }),
            NodeShape::List(items) => items.iter().find_map(visit),
            NodeShape::Scalar(_) => None,
        }
    }
    entries.iter().find_map(|entry| visit(&entry.value))
}

/// Sets the variables under `env`, which come before those of the environment, and returns their names.
pub(super) fn take_variables(cx: &Context<'_>, node: &mut SourceNode) -> Vec<(String, SourceSpan)> {
    let NodeShape::Map(entries) = &mut node.shape else { return Vec::new() };
    let Some(at) = entries.iter().position(|entry| entry.key == "env" && entry.value.map().is_some()) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    let env = entries.remove(at);
    for variable in env.value.map().unwrap_or_default() {
        if is_secret_variable(&variable.key) {
            let message =
                format!("`{}` has no effect here: keys are not read from the files of a suite", variable.key);
            cx.report(
                Diagnostic::warning(Code::NoEffect, variable.key_span, message)
                    .help("set it as a variable of the environment"),
            );
        } else if !variable.value.is_null()
            && let Some(value) = cx.scalar_text(&variable.value, &variable.key)
        {
            cx.set_own_variable(&variable.key, value);
            names.push((variable.key.clone(), variable.key_span));
        }
    }
    names
}

/// References that lead to each other end here.
const MAX_REFERENCE_DEPTH: usize = 32;

/// Replaces `{$ref: '#/path'}` by what the file has there; keys next to it replace what is found.
fn resolve_references(cx: &Context<'_>, node: &mut SourceNode, root: &SourceNode, depth: usize) {
    let pointer = node.get("$ref").and_then(SourceNode::text).and_then(|text| text.strip_prefix("#/"));
    if let Some(pointer) = pointer {
        let found = pointer.split('/').try_fold(root, |node, key| match node.list() {
            Some(items) => items.get(key.parse::<usize>().ok()?),
            None => node.get(key),
        });
        match found {
            Some(found) if depth < MAX_REFERENCE_DEPTH => {
                let mut found = found.clone();
                if let (NodeShape::Map(entries), Some(own)) = (&mut found.shape, node.map()) {
                    let own: Vec<NodeEntry> =
                        own.iter().filter(|entry| entry.key != "$ref").cloned().collect();
                    entries.retain(|entry| !own.iter().any(|other| other.key == entry.key));
                    entries.extend(own);
                }
                *node = found;
                return resolve_references(cx, node, root, depth + 1);
            }
            Some(_) => return cx.error(Code::Cycle, node.span, format!("`#/{pointer}` refers to itself")),
            None => {
                return cx.error(Code::UnknownName, node.span, format!("nothing is at `#/{pointer}`"));
            }
        }
    }
    match &mut node.shape {
        NodeShape::Map(entries) => {
            // A provider whose settings are all commented out has none.
            entries.retain(|entry| entry.key != "config" || !entry.value.is_null());
            entries.iter_mut().for_each(|entry| resolve_references(cx, &mut entry.value, root, depth));
        }
        NodeShape::List(items) => {
            items.iter_mut().for_each(|item| resolve_references(cx, item, root, depth));
        }
        NodeShape::Scalar(_) => {}
    }
}

/// A scenario is its tests once for each entry of its `config`; its variables come before those of the test.
fn expand_scenarios(cx: &Context<'_>, node: &mut SourceNode) {
    const RULES: TestRules = TestRules::Promptfoo;
    let Some(scenarios) = node.get("scenarios").cloned() else { return };
    let mut tests = node.get("tests").map(|tests| read_test_nodes(cx, tests, RULES)).unwrap_or_default();
    for scenario in read_test_nodes(cx, &scenarios, RULES) {
        let configs = match scenario.get("config") {
            Some(config) => read_test_nodes(cx, config, RULES),
            None => vec![text_node("", scenario.span)],
        };
        let own = scenario.get("tests").map(|tests| read_test_nodes(cx, tests, RULES)).unwrap_or_default();
        for config in &configs {
            tests.extend(own.iter().map(|test| merge_test(config, test)));
        }
        for entry in scenario.map().unwrap_or_default() {
            if !["config", "tests", "description"].contains(&entry.key.as_str()) {
                let message = format!("unknown key `{}`", entry.key);
                cx.report(
                    Diagnostic::error(Code::UnknownKey, entry.key_span, message)
                        .label("not a key of a scenario"),
                );
            }
        }
    }
    let span = scenarios.span;
    if let NodeShape::Map(entries) = &mut node.shape {
        entries.retain(|entry| !["scenarios", "tests"].contains(&entry.key.as_str()));
        let value = SourceNode { span, shape: NodeShape::List(tests) };
        entries.push(NodeEntry { key: "tests".to_owned(), key_span: span, value });
    }
}

/// A test with what it leaves open taken from `base`: variables one by one, assertions together.
fn merge_test(base: &SourceNode, test: &SourceNode) -> SourceNode {
    let (Some(inherited), Some(own)) = (base.map(), test.map()) else { return test.clone() };
    let mut entries = own.to_vec();
    for entry in inherited {
        match entries.iter_mut().find(|other| other.key == entry.key) {
            None => entries.push(entry.clone()),
            Some(other) => match (&mut other.value.shape, &entry.value.shape) {
                (NodeShape::Map(own), NodeShape::Map(inherited)) => {
                    let missing = inherited.iter().filter(|entry| !own.iter().any(|it| it.key == entry.key));
                    let missing: Vec<NodeEntry> = missing.cloned().collect();
                    own.extend(missing);
                }
                (NodeShape::List(own), NodeShape::List(inherited)) if entry.key == "assert" => {
                    own.extend(inherited.iter().cloned());
                }
                _ => {}
            },
        }
    }
    SourceNode { span: test.span, shape: NodeShape::Map(entries) }
}

pub(super) fn text_node(text: impl Into<String>, span: SourceSpan) -> SourceNode {
    SourceNode { span, shape: NodeShape::Scalar(Scalar { text: text.into(), plain: false }) }
}

pub(super) fn map_node(entries: Vec<(&str, SourceNode)>, span: SourceSpan) -> SourceNode {
    let entries =
        entries.into_iter().map(|(key, value)| NodeEntry { key: key.to_owned(), key_span: span, value });
    SourceNode { span, shape: NodeShape::Map(entries.collect()) }
}
