//! What every test of a file starts from: its default test, options and settings.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value as Json};

use super::assertion::AssertionRules;
use super::prompt::{AgentvPrompt, read_input_messages, read_prompts, rewrite_old_variables};
use super::target::{
    AgentvTarget, GraderSettings, read_agentv_targets, read_grader, read_project_judge, read_project_target,
};
use super::workspace::AgentvWorkspace;
use super::{PassRule, SCORING_FUNCTION, TestRules, assert_nodes, report_ineffective_keys, tools_of};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::{Context, pretty};
use crate::dialect::fields::MappingReader;
use crate::dialect::{native, promptfoo, settings};
use crate::source::{FileId, NodeEntry, NodeShape, SourceNode};
use crate::suite::{Calls, Judge};

/// Keys whose files the settings of a project name.
const PROJECT_KEYS: [&str; 3] = ["providers", "tests", "defaults"];

fn names_file(node: &SourceNode) -> bool {
    node.text().is_some_and(|text| text.starts_with("file://"))
}

/// Keys of a suite that the settings of a project do not have.
const SUITE_KEYS: [&str; 6] = ["prompts", "assert", "assertions", "default_test", "input", "execution"];

/// What every test of a file starts from.
pub(super) struct AgentvTestDefaults<'a> {
    pub(super) rules: TestRules,
    pub(super) threshold: Option<f64>,
    pub(super) asserted: Vec<&'a SourceNode>,
    /// Assertions of a shared `default_test` file.
    pub(super) shared: Vec<SourceNode>,
    pub(super) vars: Vec<NodeEntry>,
    pub(super) metadata: Map<String, Json>,
    pub(super) tags: Vec<String>,
    pub(super) options: AgentvTestOptions,
    pub(super) grader: GraderSettings,
    pub(super) prompts: Vec<AgentvPrompt>,
    pub(super) targets: Vec<AgentvTarget>,
    pub(super) workspace: AgentvWorkspace,
    /// The system message of every conversation.
    pub(super) system: Option<String>,
    pub(super) input: Vec<Json>,
    /// What the files attached to every input hold.
    pub(super) input_files: Vec<String>,
    pub(super) repeat: u32,
    pub(super) judge: Judge,
    /// The file holds settings of a project, whose suites say what is asserted.
    pub(super) is_project: bool,
    /// A test that asserts nothing is shown to a person. In AgentV's own folder, tests are without the assertions that
    /// suites add to them.
    pub(super) reviews_tests: bool,
    /// Code that computes the score of every test that has none of its own.
    pub(super) scoring: Option<SourceNode>,
    /// Names under which the tests that were read so far store their outputs.
    pub(super) stored_outputs: BTreeSet<String>,
    /// The suite for which the settings of its project may name a target and a judge.
    suite_of_project: Option<FileId>,
    /// They are read when a test needs them.
    project_target: OnceCell<Option<AgentvTarget>>,
    project_judge: OnceCell<Judge>,
}

impl<'a> AgentvTestDefaults<'a> {
    pub(super) fn new(rules: TestRules) -> Self {
        Self {
            rules,
            threshold: None,
            asserted: Vec::new(),
            shared: Vec::new(),
            vars: Vec::new(),
            metadata: Map::new(),
            tags: Vec::new(),
            options: AgentvTestOptions::default(),
            grader: GraderSettings::default(),
            prompts: Vec::new(),
            targets: Vec::new(),
            workspace: AgentvWorkspace::default(),
            system: None,
            input: Vec::new(),
            input_files: Vec::new(),
            repeat: 1,
            // All criteria of one assertion are graded in one call.
            judge: Judge { calls: Some(Calls::PerRubric), ..Judge::default() },
            is_project: false,
            reviews_tests: rules == TestRules::Promptfoo,
            scoring: None,
            stored_outputs: BTreeSet::new(),
            suite_of_project: None,
            project_target: OnceCell::new(),
            project_judge: OnceCell::new(),
        }
    }

    pub(super) fn read(fields: &MappingReader<'a>, rules: TestRules) -> Self {
        let cx = fields.cx;
        let mut defaults = Self {
            asserted: assert_nodes(fields).to_vec(),
            metadata: fields.json_map("metadata"),
            prompts: fields.get("prompts").map(|node| read_prompts(cx, node, rules)).unwrap_or_default(),
            targets: fields
                .any(&["providers", "targets", "target"])
                .map(|node| read_agentv_targets(cx, node, rules))
                .unwrap_or_default(),
            workspace: AgentvWorkspace::read(fields, rules),
            input_files: fields.texts_of("input_files"),
            input: fields.get("input").map(|node| read_input_messages(cx, node)).unwrap_or_default(),
            is_project: rules == TestRules::Agentv
                && PROJECT_KEYS.iter().all(|key| fields.peek(key).is_some_and(names_file))
                && !SUITE_KEYS.iter().any(|key| fields.has(key)),
            ..Self::new(rules)
        };
        let path = cx.path_of(fields.start().file);
        let folder = path.parent().and_then(Path::file_name);
        defaults.reviews_tests |= defaults.is_project || folder.is_some_and(|folder| folder == ".agentv");
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
                    "showProgressBar",
                ]);
                // All tests are run; `--only` and `--filter` choose among them.
                options.ignores(&["filter_range", "filterRange"]);
                if rules == TestRules::Promptfoo {
                    options.ignores_others();
                }
                options.finish();
            }
        }
        let mut default_target = None;
        let file = fields.get("defaults").and_then(|node| read_defaults_file(cx, node));
        let named = match &file {
            Some(node) => MappingReader::new(cx, node, "set of defaults"),
            None => fields.fields("defaults", "set of defaults"),
        };
        if let Some(named) = named {
            defaults.system = named.text("system_message");
            defaults.grader = named.get("grader").and_then(|node| read_grader(cx, node)).unwrap_or_default();
            // It answers where the suite names no provider.
            default_target = named.get("provider").cloned();
            named.knows(&["target"]);
            named.finish();
        }
        if let Some(execution) = fields.fields("execution", "execution block") {
            defaults.threshold = execution.number_in("threshold", 0.0..=1.0).or(defaults.threshold);
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
                defaults.targets = node.map(|node| read_agentv_targets(cx, node, rules)).unwrap_or_default();
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
        if let Some(node) =
            default_target.filter(|_| defaults.targets.is_empty() && rules == TestRules::Agentv)
        {
            defaults.targets = read_agentv_targets(cx, &node, rules);
        }
        if rules == TestRules::Agentv && !defaults.is_project {
            defaults.suite_of_project = Some(fields.start().file);
        }
        defaults.threshold = fields.number_in("threshold", 0.0..=1.0).or(defaults.threshold);
        // The default test takes precedence over the suite.
        if let Some(node) = fields.any(&["default_test", "defaultTest"]) {
            defaults.default_test(cx, node);
        }
        defaults
    }

    /// The target of the project, for a test that has no answer and no target. One that cannot be used is a warning,
    /// because such a suite can be run with `--target`, and its rubrics can grade other answers.
    pub(super) fn project_target(&self, cx: &Context<'_>) -> Option<AgentvTarget> {
        let read = |node: &SourceNode| {
            Some(AgentvTarget { target: read_project_target(cx, node)?, prompts: Vec::new() })
        };
        let note = "tests without an answer have no target; run them with --target MODEL";
        self.project_target.get_or_init(|| self.read_project_default(cx, "provider", note, read)).clone()
    }

    /// The judge of the project, for criteria without one. The judge of Jurist's own settings comes first.
    pub(super) fn project_judge(&self, cx: &Context<'_>) -> &Judge {
        self.project_judge.get_or_init(|| {
            let own = self.suite_of_project.map(|suite| settings::read_settings_for_file(cx, suite).judge);
            if own.is_some_and(|judge| judge.model.is_some() || !judge.panel.is_empty()) {
                return Judge::default();
            }
            let note = "criteria without a judge have the default judge; name one with --judge MODEL";
            let read = |node: &SourceNode| read_project_judge(cx, node);
            self.read_project_default(cx, "grader", note, read).unwrap_or_default()
        })
    }

    fn read_project_default<T>(
        &self,
        cx: &Context<'_>,
        key: &str,
        note: &str,
        read: impl FnOnce(&SourceNode) -> Option<T>,
    ) -> Option<T> {
        let suite = self.suite_of_project?;
        cx.read_dispensable(note, || read(settings::find_agentv_defaults(cx, suite)?.get(key)?))
    }

    pub(super) fn assertion_rules(&self, pass: PassRule) -> AssertionRules {
        AssertionRules {
            tool: self.rules,
            gates: pass.gates,
            embedding: self.grader.embedding.clone(),
            moderation: self.grader.moderation.clone(),
            has_prompt: self.options.rubric_prompt.is_some(),
            tools: tools_of(&self.targets),
            factuality: self.options.factuality.clone(),
            scoring: None,
            vars: Map::new(),
            stored_outputs: self.stored_outputs.clone(),
        }
    }

    /// What follows a test's own assertions: those of the default test, then those of the suite.
    pub(super) fn assertions(&self) -> impl Iterator<Item = &SourceNode> {
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

    pub(super) fn merge(&mut self, cx: &Context<'_>, node: &SourceNode) {
        let Some(fields) = MappingReader::new(cx, node, "default test") else { return };
        self.vars = match fields.get("vars") {
            Some(node) if self.rules == TestRules::Promptfoo => promptfoo::read_variables(cx, node),
            Some(_) => fields.map("vars").unwrap_or_default().to_vec(),
            None => Vec::new(),
        };
        self.shared = assert_nodes(&fields).iter().map(|&node| node.clone()).collect();
        self.threshold = fields.number_in("threshold", 0.0..=1.0).or(self.threshold);
        self.metadata.extend(fields.json_map("metadata"));
        if let Some(options) = fields.fields("options", "set of options") {
            let read = AgentvTestOptions::read(&options, self.rules);
            options.finish();
            self.grader = read.grader.clone().or(&self.grader);
            self.repeat = read.repeat.unwrap_or(self.repeat);
            self.options = read;
        }
        if self.rules == TestRules::Promptfoo {
            // What a default test names as its provider judges its assertions.
            if let Some(grader) = fields.get("provider").and_then(|node| read_grader(cx, node)) {
                self.grader = grader.or(&self.grader);
            }
            self.scoring = fields.get(SCORING_FUNCTION).cloned();
            fields.ignores(&["description"]);
            fields.refuses(&["providers", "prompts"]);
            promptfoo::refuse_agentv_keys(&fields, &["assertions", "evaluators"]);
        } else {
            fields.refuses(&["provider", "providers", "prompts"]);
        }
        fields.ignores(&["workspace"]);
        report_ineffective_keys(&fields);
        fields.finish();
    }
}

/// The keys of an `options` block that mean something here.
#[derive(Clone, Default)]
pub(super) struct AgentvTestOptions {
    pub(super) rubric_prompt: Option<String>,
    pub(super) grader: GraderSettings,
    pub(super) repeat: Option<u32>,
    pub(super) prefix: Option<String>,
    pub(super) suffix: Option<String>,
    /// Lists of texts stay lists.
    pub(super) keeps_lists: bool,
    pub(super) skips_defaults: bool,
    /// Code that changes the variables of a test.
    pub(super) transform_vars: Option<SourceNode>,
    /// Code that changes the answer.
    pub(super) transform: Option<String>,
    /// What each answer about facts is worth.
    pub(super) factuality: Map<String, Json>,
    /// The name under which later tests use the output.
    pub(super) store_output_as: Option<String>,
}

impl AgentvTestOptions {
    pub(super) fn read(fields: &MappingReader<'_>, rules: TestRules) -> Self {
        let cx = fields.cx;
        let is_promptfoo = rules == TestRules::Promptfoo;
        let own = |key: &'static str| is_promptfoo && fields.bool(key).unwrap_or(false);
        let read = Self {
            rubric_prompt: fields.any(&["rubric_prompt", "rubricPrompt"]).and_then(|node| {
                match &node.shape {
                    NodeShape::Scalar(_) => cx.text(node, "rubric_prompt"),
                    _ => Some(pretty(&cx.json(node))),
                }
            }),
            grader: fields.get("provider").and_then(|node| read_grader(cx, node)).unwrap_or_default(),
            repeat: read_repeat_count(fields),
            prefix: fields.text("prefix"),
            suffix: fields.text("suffix"),
            keeps_lists: own("disableVarExpansion"),
            skips_defaults: own("disableDefaultAsserts"),
            transform_vars: fields.get("transformVars").filter(|_| is_promptfoo).cloned(),
            transform: fields
                .any(if is_promptfoo { &["transform", "postprocess"] } else { &["transform"] })
                .and_then(|node| cx.raw_text(node, "transform")),
            factuality: if is_promptfoo { fields.json_map("factuality") } else { Map::new() },
            store_output_as: fields
                .get("storeOutputAs")
                .filter(|_| is_promptfoo)
                .and_then(|node| native::read_output_name(cx, node, "storeOutputAs")),
        };
        if !is_promptfoo {
            fields.refuses(&[
                "storeOutputAs",
                "factuality",
                "postprocess",
                "transformVars",
                "disableVarExpansion",
                "disableDefaultAsserts",
            ]);
        }
        fields.ignores(&["disableConversationVar", "runSerially"]);
        if is_promptfoo {
            fields.ignores_others();
        }
        read
    }

    /// These options, with what they leave open taken from `default`.
    pub(super) fn or(self, default: &Self) -> Self {
        Self {
            rubric_prompt: self.rubric_prompt.or_else(|| default.rubric_prompt.clone()),
            grader: self.grader,
            repeat: self.repeat,
            prefix: self.prefix.or_else(|| default.prefix.clone()),
            suffix: self.suffix.or_else(|| default.suffix.clone()),
            keeps_lists: self.keeps_lists || default.keeps_lists,
            skips_defaults: self.skips_defaults,
            transform_vars: self.transform_vars.or_else(|| default.transform_vars.clone()),
            transform: self.transform.or_else(|| default.transform.clone()),
            factuality: if self.factuality.is_empty() { default.factuality.clone() } else { self.factuality },
            store_output_as: self.store_output_as.or_else(|| default.store_output_as.clone()),
        }
    }
}

/// A number of trials, or a block that holds one.
pub(super) fn read_repeat_count(fields: &MappingReader<'_>) -> Option<u32> {
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

/// Reads defaults from a file of their own.
fn read_defaults_file(cx: &Context<'_>, node: &SourceNode) -> Option<SourceNode> {
    let path = node.text()?.strip_prefix("file://")?;
    cx.parse(cx.find(path, node.span)?)
}
