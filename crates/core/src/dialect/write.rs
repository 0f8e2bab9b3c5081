//! A suite in native spelling; what is read back from it is the same suite.

use serde_json::Value as Json;

use crate::candidate::TraceSource;
use crate::rubric::{OnError, Rubric, canonical_tree};
use crate::source::Tree;
use crate::suite::{
    AgentSettings, Aggregate, AlertMetric, AlertRule, AnnotationTask, AnswerCondition, AnswerTest, Calls,
    Case, CaseMatrix, CaseTarget, ItemOrder, Judge, Keyword, KnownItemPurpose, MatrixPrompt, McpServer,
    Monitor, MonitorFilter, SetupProgram, ShowCondition, Suite, TaskScheme, TaskSchemeKind, TieBreak,
    Trajectory, Workspace,
};

/// The native form of any suite.
pub fn suite_to_native_tree(suite: &Suite) -> Tree {
    let list = |items: Vec<Tree>| Some(Tree::List(items)).filter(|tree| !tree.is_empty());
    let named = |items: Vec<(String, Tree)>| Some(Tree::Map(items)).filter(|tree| !tree.is_empty());
    // The rubrics of annotation schemes are written there.
    let annotated: Vec<&str> = suite
        .annotation
        .iter()
        .flat_map(|annotation| &annotation.schemes)
        .map(|scheme| scheme.name.as_str())
        .collect();
    let rubrics = suite.rubrics.iter().filter(|rubric| !annotated.contains(&rubric.0.as_str()));
    Tree::map()
        .maybe("name", suite.name.as_deref())
        .maybe("description", suite.description.as_deref())
        .maybe("judge", Some(judge_to_tree(&suite.judge)).filter(|tree| !tree.is_empty()))
        .maybe(
            "judges",
            named(suite.judges.iter().map(|(name, judge)| (name.clone(), judge_to_tree(judge))).collect()),
        )
        .maybe("agent", Some(agent_to_tree(&suite.agent)).filter(|tree| !tree.is_empty()))
        .maybe(
            "servers",
            named(
                suite
                    .servers
                    .iter()
                    .map(|(name, mcp_server)| (name.clone(), server_to_tree(mcp_server)))
                    .collect(),
            ),
        )
        .maybe(
            "rubrics",
            named(rubrics.map(|(name, rubric)| (name.clone(), canonical_tree(rubric))).collect()),
        )
        .maybe("evals", list(suite.cases.iter().map(|case| case_to_tree(case, suite)).collect()))
        .maybe("monitors", list(suite.monitors.iter().map(monitor_to_tree).collect()))
        .maybe("annotation", suite.annotation.as_ref().map(annotation_to_tree))
}

fn case_to_tree(case: &Case, suite: &Suite) -> Tree {
    let candidate = &case.candidate;
    let messages: Vec<Tree> = candidate.messages.iter().map(Tree::from).collect();
    let targets: Vec<Tree> = case.targets.iter().map(target_to_tree).collect();
    let prompts: Vec<Tree> = case.matrix.prompts.iter().map(matrix_prompt_to_tree).collect();
    let response = candidate.output.as_ref().map(Tree::from);
    let response = response.or_else(|| candidate.response.as_deref().map(Tree::from));
    Tree::map()
        .with("name", &case.name)
        .maybe("description", case.description.as_deref())
        .maybe("tags", non_empty_items(case.tags.clone()))
        .maybe("metadata", json_map(&case.metadata))
        .maybe("server", case.server.as_deref())
        .maybe("targets", non_empty_items(targets))
        .maybe("agent", (case.agent != suite.agent).then(|| agent_to_tree(&case.agent)))
        .maybe("workspace", case.workspace.as_ref().map(workspace_to_tree))
        .maybe("data", case.data.as_ref().map(|data| data.path.as_str()))
        .maybe("prompt", candidate.input.as_deref())
        .maybe("messages", non_empty_items(messages))
        .maybe("context", non_empty_items(candidate.context.clone()))
        .maybe("vars", json_map(&candidate.vars))
        .maybe("expected", candidate.expected.as_ref().map(Tree::from))
        .maybe("response", response)
        .maybe(
            "trace",
            candidate.trace.as_ref().map(|trace| match trace {
                TraceSource::File(path) => Tree::from(path),
                TraceSource::Inline(value) => Tree::from(value),
            }),
        )
        .maybe("diff", candidate.diff.as_deref())
        .with("rubric", rubric_to_tree(&case.rubric, suite))
        .maybe("judge", (case.judge != suite.judge).then(|| judge_to_tree(&case.judge)))
        .maybe(
            "matrix",
            (case.matrix != CaseMatrix::default()).then(|| {
                Tree::map()
                    .maybe("models", non_empty_items(case.matrix.models.clone()))
                    .maybe("prompts", non_empty_items(prompts))
            }),
        )
        .maybe(
            "labels",
            non_empty_items(case.labels.iter().collect())
                .map(|non_empty_item| Tree::Map(non_empty_item.into_iter().map(label_to_entry).collect())),
        )
        .unless(1, "repeat", case.repeat)
        .maybe("store_output_as", case.store_output_as.as_deref())
}

fn label_to_entry((id, label): (&String, &crate::suite::HumanLabel)) -> (String, Tree) {
    let value = serde_json::to_value(&label.value).unwrap_or_default();
    let tree = match (&label.by, &label.reason) {
        (None, None) => Tree::from(&value),
        (by, reason) => Tree::map()
            .with("value", Tree::from(&value))
            .maybe("by", by.as_deref())
            .maybe("reason", reason.as_deref()),
    };
    (id.clone(), tree)
}

fn non_empty_items<T>(items: Vec<T>) -> Option<Vec<T>> {
    Some(items).filter(|list| !list.is_empty())
}

fn json_map(map: &serde_json::Map<String, Json>) -> Option<Tree> {
    (!map.is_empty()).then(|| Tree::Map(map.iter().map(|(key, value)| (key.clone(), value.into())).collect()))
}

/// By name if the suite has it under one, as a text if it is one, written out otherwise.
fn rubric_to_tree(rubric: &Rubric, suite: &Suite) -> Tree {
    let named = suite.rubrics.iter().find(|one_rubric| one_rubric.1.version() == rubric.version());
    if let Some((name, _)) = named {
        return Tree::map().with("ref", name);
    }
    let tree = canonical_tree(rubric);
    match (rubric.text(), &tree) {
        (Some(text), Tree::Map(entries)) if entries.len() == 1 && !text.starts_with("file://") => text.into(),
        _ => tree,
    }
}

fn workspace_to_tree(workspace: &Workspace) -> Tree {
    match (&workspace.path, &workspace.git, workspace.setup.as_slice()) {
        (Some(path), None, []) => path.into(),
        (path, git, setup) => {
            let tree = Tree::map().maybe("path", path.as_deref()).maybe("git", git.as_deref());
            match setup {
                [] => tree,
                [only] => tree.with("setup", setup_program_to_tree(only)),
                several => {
                    let programs = several.iter().map(setup_program_to_tree).collect();
                    tree.with("setup", Tree::List(programs))
                }
            }
        }
    }
}

/// The words of a program alone if it has no settings.
fn setup_program_to_tree(program: &SetupProgram) -> Tree {
    let SetupProgram { command, function, cwd, env, timeout } = program;
    let words: Tree = command.clone().into();
    if *program == (SetupProgram { command: command.clone(), ..SetupProgram::default() }) {
        return words;
    }
    Tree::map()
        .with("command", words)
        .maybe("function", function.as_deref())
        .maybe("cwd", cwd.as_deref())
        .maybe("env", text_map_to_tree(env))
        .maybe("timeout", *timeout)
}

fn text_map_to_tree(map: &std::collections::BTreeMap<String, String>) -> Option<Tree> {
    let map: Vec<(String, Tree)> = map.iter().map(|(key, text)| (key.clone(), text.into())).collect();
    Some(Tree::Map(map)).filter(|tree| !tree.is_empty())
}

fn matrix_prompt_to_tree(prompt: &MatrixPrompt) -> Tree {
    match &prompt.label {
        Some(label) => Tree::map().with("label", label).with("prompt", &prompt.text),
        None => (&prompt.text).into(),
    }
}

fn target_to_tree(target: &CaseTarget) -> Tree {
    if target.label.is_none() && target.config.is_empty() {
        return (&target.id).into();
    }
    Tree::map()
        .with("id", &target.id)
        .maybe("label", target.label.as_deref())
        .maybe("config", json_map(&target.config))
}

fn agent_to_tree(agent: &AgentSettings) -> Tree {
    Tree::map()
        .maybe("model", agent.model.as_deref())
        .maybe("system", agent.system.as_deref())
        .maybe("max_steps", agent.max_steps)
        .maybe("max_tokens", agent.max_tokens.map(|max_token| max_token as f64))
        .maybe("timeout", agent.timeout)
        .maybe("tool_timeout", agent.tool_timeout)
        .maybe("transform", agent.transform.as_deref())
        .maybe("context_transform", agent.context_transform.as_deref())
}

fn word_for_value<T: PartialEq + Copy>(
    words: &[(&'static str, T)],
    value: Option<T>,
) -> Option<&'static str> {
    value.and_then(|value| words.iter().find(|word| word.1 == value)).map(|it| it.0)
}

fn judge_to_tree(judge: &Judge) -> Tree {
    Tree::map()
        .maybe("model", judge.model.as_deref())
        .maybe(
            "calibrations",
            non_empty_items(
                judge.calibrations.iter().map(|calibration| calibration.0.clone()).collect::<Vec<_>>(),
            ),
        )
        .maybe("base_url", judge.base_url.as_deref())
        .maybe("temperature", judge.temperature)
        .maybe("max_tokens", judge.max_tokens)
        .maybe("timeout", judge.timeout)
        .maybe("calls", word_for_value(&Calls::ALL, judge.calls))
        .maybe(
            "jury",
            judge.jury.map(|jury| Tree::map().with("size", jury.size).with("consensus", jury.consensus)),
        )
        .maybe("panel", non_empty_items(judge.panel.clone()))
        .maybe("aggregate", word_for_value(&Aggregate::ALL, judge.aggregate))
        .maybe("tie_break", word_for_value(&TieBreak::ALL, judge.tie_break))
        .maybe("on_error", word_for_value(&OnError::ALL, judge.on_error))
        .maybe(
            "escalate",
            judge
                .escalate
                .as_ref()
                .map(|escalate| Tree::map().with("to", &escalate.to).with("margin", escalate.margin)),
        )
        .maybe("criteria", criterion_judges_to_tree(judge))
}

fn criterion_judges_to_tree(judge: &Judge) -> Option<Tree> {
    let to_tree = |own: &Judge| match &own.model {
        Some(model) if *own == (Judge { model: Some(model.clone()), ..Judge::default() }) => {
            Tree::from(model.as_str())
        }
        _ => judge_to_tree(own),
    };
    let entries = judge.criteria.iter().map(|(criterion, own)| (criterion.clone(), to_tree(own)));
    Some(Tree::Map(entries.collect())).filter(|tree| !tree.is_empty())
}

impl Judge {
    /// The JSON form that Jurist's own files use.
    pub fn to_json(&self) -> Json {
        let text = crate::source::tree_to_json(&judge_to_tree(self), false);
        serde_json::from_str(&text).expect("what is written as JSON is JSON")
    }
}

fn server_to_tree(server: &McpServer) -> Tree {
    match server {
        McpServer::Stdio { command, args, env, cwd } => Tree::map()
            .with("command", command)
            .maybe("args", non_empty_items(args.clone()))
            .maybe("env", text_map_to_tree(env))
            .maybe("cwd", cwd.as_deref()),
        McpServer::Http { url, headers } => {
            Tree::map().with("url", url).maybe("headers", text_map_to_tree(headers))
        }
    }
}

fn monitor_to_tree(monitor: &Monitor) -> Tree {
    let agents = monitor.agents.iter().map(|(name, agent_override)| {
        (name.clone(), Tree::map().maybe("sample_rate", agent_override.sample_rate))
    });
    let anchors = Tree::map()
        .maybe("good", non_empty_items(monitor.good_anchors.clone()))
        .maybe("bad", non_empty_items(monitor.bad_anchors.clone()));
    let expensive = monitor.expensive.map(|expensive| {
        Tree::map().maybe("above", expensive.above).maybe("sample_rate", expensive.sample_rate)
    });
    let pacing = monitor.pacing.map(|pacing| {
        Tree::map().with("floor", pacing.floor).with("kept_for_failures", pacing.kept_for_failures)
    });
    let alerts = monitor.alerts.as_ref().map(|limits| {
        let rules: Vec<Tree> = limits.rules.iter().map(alert_rule_to_tree).collect();
        Tree::map()
            .with("error_rate", limits.error_rate)
            .with("disagreement_rate", limits.disagreement_rate)
            .with("silence_hours", limits.silence_hours)
            .maybe("rules", non_empty_items(rules))
    });
    let tree = Tree::map().maybe("name", monitor.name.as_deref());
    let tree = match monitor.agents.as_slice() {
        [(only, it)] if it.sample_rate.is_none() => tree.with("agent", only),
        _ => tree.with("agents", Tree::Map(agents.collect())),
    };
    tree.with("rubric", canonical_tree(&monitor.rubric))
        .maybe("judges", non_empty_items(monitor.judges.clone()))
        .maybe("disagreement_margin", monitor.disagreement_margin)
        .with("sample_rate", monitor.sample_rate)
        .maybe("expensive", expensive)
        .maybe("salt", monitor.salt.as_deref())
        .maybe("calibration_anchors", Some(anchors).filter(|tree| !tree.is_empty()))
        .maybe("schedule", monitor.schedule.as_deref())
        .maybe("filter", Some(trace_filter(&monitor.filter)).filter(|tree| !tree.is_empty()))
        .maybe(
            "budget",
            monitor
                .budget
                .as_ref()
                .map(|budget| Tree::map().with("monthly", budget.monthly).with("currency", &budget.currency)),
        )
        .maybe("pacing", pacing)
        .maybe("alerts", alerts)
}

fn alert_rule_to_tree(rule: &AlertRule) -> Tree {
    let has_days = rule.condition.metric != AlertMetric::Budget;
    Tree::map()
        .with("when", rule.condition.to_string())
        .maybe("over", has_days.then(|| format!("{}d", rule.days)))
        .maybe("agent", rule.agent.as_deref())
        .maybe("criterion", rule.criterion.as_deref())
}

fn trace_filter(filter: &MonitorFilter) -> Tree {
    Tree::map()
        .maybe("status", non_empty_items(filter.status.clone()))
        .maybe("session", non_empty_items(filter.session.clone()))
        .maybe("min_cost", filter.min_cost)
        .maybe("max_cost", filter.max_cost)
        .maybe("min_duration", filter.min_duration)
        .maybe("max_duration", filter.max_duration)
        .maybe("min_steps", filter.min_steps.map(|min_step| min_step as f64))
        .maybe("metadata", json_map(&filter.metadata))
}

fn annotation_to_tree(annotation: &AnnotationTask) -> Tree {
    let item = Tree::map()
        .maybe("id_key", annotation.id_key.as_deref())
        .maybe("text_key", annotation.text_key.as_deref());
    let config = Tree::map().unless(true, "allow_back_navigation", annotation.allow_back_navigation).unless(
        true,
        "show_criteria_descriptions",
        annotation.show_criteria_descriptions,
    );
    let output = Tree::map()
        .maybe("path", annotation.output_path.as_deref())
        .maybe("format", annotation.output_format.as_deref());
    let checks = |purpose: KnownItemPurpose| {
        let (_, file) = annotation.known_files.iter().find(|known_file| known_file.0 == purpose)?;
        Some(match purpose {
            KnownItemPurpose::Training => Tree::map().with("data_file", file),
            KnownItemPurpose::Gold | KnownItemPurpose::Attention => Tree::map()
                .with("items_file", file)
                .maybe("frequency", annotation.check_every)
                .maybe("min_response_time", annotation.min_seconds),
        })
    };
    let keywords: Vec<Tree> = annotation.keywords.iter().map(keyword_to_tree).collect();
    let reclaim = annotation
        .stale_minutes
        .map(|stale_minute| Tree::map().with("timeout_hours", f64::from(stale_minute) / 60.0));
    Tree::map()
        .maybe("annotation_task_name", annotation.name.as_deref())
        .maybe("task_description", annotation.description.as_deref())
        .maybe("data_files", non_empty_items(annotation.data_files.clone()))
        .maybe("item_properties", Some(item).filter(|tree| !tree.is_empty()))
        .maybe("display", json_map(&annotation.display))
        .maybe("keyword_highlights", non_empty_items(keywords))
        .maybe("keyword_highlights_file", annotation.keyword_file.as_ref().map(|file| file.path.as_str()))
        .with("annotation_schemes", Tree::List(annotation.schemes.iter().map(scheme_to_tree).collect()))
        .maybe("num_annotators_per_item", annotation.annotators_per_item)
        .maybe("max_annotations_per_user", annotation.quota)
        .maybe(
            "assignment_strategy",
            annotation.order.map(|order| match order {
                ItemOrder::Balanced => "least_annotated",
                ItemOrder::Fixed => "fixed_order",
                ItemOrder::Random => "random",
            }),
        )
        .maybe("training", checks(KnownItemPurpose::Training))
        .maybe("attention_checks", checks(KnownItemPurpose::Attention))
        .maybe("gold_standards", checks(KnownItemPurpose::Gold))
        .maybe("instance_reclaim", reclaim)
        .maybe("login", annotation.crowd.then(|| Tree::map().with("type", "url_direct")))
        .maybe("completion_code", annotation.completion_code.as_deref())
        .maybe("annotator_config", Some(config).filter(|tree| !tree.is_empty()))
        .maybe("output", Some(output).filter(|tree| !tree.is_empty()))
}

fn keyword_to_tree(keyword: &Keyword) -> Tree {
    match &keyword.label {
        None => Tree::from(&keyword.word),
        Some(label) => Tree::map().with("word", &keyword.word).with("label", label),
    }
}

fn scheme_to_tree(scheme: &TaskScheme) -> Tree {
    let kind = match &scheme.kind {
        TaskSchemeKind::Rubric { .. } => "rubric_eval",
        TaskSchemeKind::Trajectory(_) => "trajectory_eval",
        TaskSchemeKind::Pairwise { .. } => "pairwise",
        TaskSchemeKind::Likert { .. } => "likert",
        TaskSchemeKind::Slider { .. } => "slider",
        TaskSchemeKind::Choice { many: true, .. } => "multiselect",
        TaskSchemeKind::Choice { dropdown: false, .. } => "radio",
        TaskSchemeKind::Choice { dropdown: true, .. } => "select",
        TaskSchemeKind::Text { .. } => "text",
    };
    let tree = Tree::map()
        .with("annotation_type", kind)
        .with("name", &scheme.name)
        .maybe("description", scheme.description.as_deref())
        .unless(
            matches!(scheme.kind, TaskSchemeKind::Rubric { .. } | TaskSchemeKind::Trajectory(_)),
            "required",
            scheme.required,
        )
        .maybe("show_when", scheme.shown_when.as_ref().map(show_condition_to_tree));
    match &scheme.kind {
        TaskSchemeKind::Rubric { rubric, overall, notes, may_skip } => add_rated_rubric(tree, rubric)
            .unless(true, "allow_not_applicable", *may_skip)
            .maybe(
                "overall",
                overall.as_ref().map(|overall| {
                    Tree::map()
                        .with("enabled", true)
                        .maybe("label", overall.label.as_deref())
                        .maybe("description", overall.description.as_deref())
                        .maybe(
                            "scale_descriptions",
                            level_texts_to_tree(
                                overall.levels.iter().map(|(at, text)| (at.to_string(), text)),
                            ),
                        )
                }),
            )
            .maybe(
                "notes",
                notes.as_ref().map(|notes| {
                    Tree::map()
                        .with("enabled", true)
                        .maybe("label", notes.label.as_deref())
                        .maybe("placeholder", notes.placeholder.as_deref())
                }),
            ),
        TaskSchemeKind::Trajectory(trajectory) => add_trajectory_keys(tree, trajectory),
        TaskSchemeKind::Pairwise { items_key, labels, tie_label } => tree
            .with("items_key", items_key)
            .with("labels", labels.clone())
            .unless(false, "allow_tie", tie_label.is_some())
            .maybe("tie_label", tie_label.as_deref()),
        TaskSchemeKind::Likert { size, min_label, max_label } => tree
            .with("size", *size)
            .maybe("min_label", min_label.as_deref())
            .maybe("max_label", max_label.as_deref()),
        TaskSchemeKind::Slider { min, max, step, start, min_label, max_label } => tree
            .with("min_value", *min as f64)
            .with("max_value", *max as f64)
            .unless(1.0, "step", f64::from(*step))
            .maybe("starting_value", start.map(|start| start as f64))
            .maybe("min_label", min_label.as_deref())
            .maybe("max_label", max_label.as_deref()),
        TaskSchemeKind::Choice { labels, limits, .. } => tree
            .with("labels", labels.clone())
            .maybe("min_selections", limits.min)
            .maybe("max_selections", limits.max),
        TaskSchemeKind::Text { multiline, placeholder, limits } => tree
            .unless(true, "multiline", *multiline)
            .maybe("placeholder", placeholder.as_deref())
            .maybe("min_chars", limits.min)
            .maybe("max_chars", limits.max),
    }
}

fn show_condition_to_tree(shown_when: &ShowCondition) -> Tree {
    let one = |condition: &AnswerCondition| {
        let tree = Tree::map().with("question", &condition.question);
        let range = |min: Option<f64>, max: Option<f64>| {
            Tree::List(min.into_iter().chain(max).map(Tree::from).collect())
        };
        match &condition.test {
            AnswerTest::Is { values, case_sensitive } => {
                tree.with("is", values.clone()).unless(false, "case_sensitive", *case_sensitive)
            }
            AnswerTest::IsNot { values, case_sensitive } => {
                tree.with("is_not", values.clone()).unless(false, "case_sensitive", *case_sensitive)
            }
            AnswerTest::Between { min: Some(min), max: Some(max) } => {
                tree.with("between", range(Some(*min), Some(*max)))
            }
            AnswerTest::Between { min, max } => tree.maybe("at_least", *min).maybe("at_most", *max),
            AnswerTest::Outside { min, max } => tree.with("outside", range(*min, *max)),
            AnswerTest::Answered => tree.with("answered", true),
            AnswerTest::Unanswered => tree.with("answered", false),
        }
    };
    let all: Vec<Tree> = shown_when.conditions.iter().map(one).collect();
    if shown_when.any { Tree::map().with("any", Tree::List(all)) } else { Tree::List(all) }
}

fn level_texts_to_tree<'a>(levels: impl Iterator<Item = (String, &'a String)>) -> Option<Tree> {
    Some(Tree::Map(levels.map(|(at, text)| (at, text.into())).collect())).filter(|tree| !tree.is_empty())
}

/// A rubric as people see it: one scale, and rows.
fn add_rated_rubric(tree: Tree, rubric: &Rubric) -> Tree {
    use crate::rubric::{CriterionKind, Scale};
    let scale = rubric.criteria.first().and_then(|criterion| match &criterion.ask {
        CriterionKind::Question(Scale::Likert { min, max, labels }) => Some(
            Tree::map()
                .with("min", *min as f64)
                .with("max", *max as f64)
                .maybe("labels", level_texts_to_tree(labels.iter().map(|(at, text)| (at.to_string(), text)))),
        ),
        _ => None,
    });
    let criteria = rubric.criteria.iter().map(|criterion| {
        Tree::map()
            .with("name", &criterion.id)
            .maybe("label", criterion.label.as_deref())
            .with("description", &criterion.description)
            .unless(1.0, "weight", criterion.weight)
            .maybe(
                "scale_descriptions",
                level_texts_to_tree(criterion.levels.iter().map(|(at, text)| (at.to_string(), text))),
            )
    });
    tree.maybe("scale", scale).with("criteria", Tree::List(criteria.collect()))
}

fn add_trajectory_keys(tree: Tree, trajectory: &Trajectory) -> Tree {
    let errors = trajectory.errors.iter().map(|error| {
        let types = error.types.iter().map(|kind| Tree::map().with("name", kind)).collect();
        Tree::map().with("category", &error.category).maybe("types", non_empty_items::<Tree>(types))
    });
    let severities = trajectory
        .severities
        .iter()
        .map(|severity| Tree::map().with("name", &severity.name).with("weight", severity.weight));
    tree.unless("steps", "steps_key", trajectory.steps_key.as_str())
        .unless("action", "step_text_key", trajectory.step_text_key.as_str())
        .with("step_correctness", Tree::map().with("labels", trajectory.marks.clone()))
        .maybe("error_taxonomy", non_empty_items(errors.collect::<Vec<Tree>>()))
        .with("severity_levels", Tree::List(severities.collect()))
        .with("running_score", Tree::map().with("initial", trajectory.initial))
}
