//! What answers a test, and which model judges it: providers in every spelling.

use serde_json::{Map, Value as Json};

use super::TestRules;
use crate::check::EmbeddingModel;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::settings;
use crate::dialect::target_variables::require_target_variables;
use crate::source::{NodeEntry, NodeShape, SourceNode};
use crate::suite::{CaseTarget, Judge, REFUSED_REQUEST_KEYS, find_unspoken_kind};

/// What answers a test, and which of the prompts it is given.
#[derive(Clone)]
pub(super) struct AgentvTarget {
    pub(super) target: CaseTarget,
    /// Labels, ids or texts of prompts; none: all of them.
    pub(super) prompts: Vec<String>,
}

impl AgentvTarget {
    /// Answers with what was recorded.
    pub(super) fn from_recorded_response(response: Json) -> Self {
        let config = Map::from_iter([("response".to_owned(), response)]);
        Self { target: CaseTarget { id: "mock".to_owned(), label: None, config }, prompts: Vec::new() }
    }

    /// What a function that makes a prompt gets as its provider.
    pub(super) fn describe_to_prompt(&self) -> Json {
        let CaseTarget { id, label, .. } = &self.target;
        serde_json::json!({ "id": id, "label": label.as_deref().unwrap_or_default() })
    }

    /// Whether the filter of a test matches; `*` at the end matches any rest.
    pub(super) fn is_named(&self, filter: &str) -> bool {
        let fits = |name: &str| match filter.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == filter || name.starts_with(&format!("{filter}:")),
        };
        fits(&self.target.id) || self.target.label.as_deref().is_some_and(fits)
    }
}

/// The model that judges, and the one that compares meanings.
#[derive(Clone, Default)]
pub(super) struct GraderSettings {
    pub(super) judge: Judge,
    pub(super) embedding: Option<EmbeddingModel>,
    /// The moderation endpoint, as promptfoo writes it.
    pub(super) moderation: Option<String>,
}

impl GraderSettings {
    /// The model for embeddings: the one that is named for them, or else the only one.
    pub(super) fn into_embedding(self) -> Option<EmbeddingModel> {
        let Judge { model, base_url, .. } = self.judge;
        self.embedding.or_else(|| Some(EmbeddingModel { name: model?, base_url }))
    }

    /// These settings, with what they leave open taken from `default`.
    pub(super) fn or(self, default: &Self) -> Self {
        Self {
            judge: self.judge.or(&default.judge),
            embedding: self.embedding.or_else(|| default.embedding.clone()),
            moderation: self.moderation.or_else(|| default.moderation.clone()),
        }
    }
}

/// Settings of a provider that act where it is a model; others are for programs and services.
const MODEL_SETTINGS: [&str; 12] = [
    "model",
    "deployment",
    "base_url",
    "apiBaseUrl",
    "apiHost",
    "endpoint",
    "temperature",
    "max_tokens",
    "max_output_tokens",
    "max_completion_tokens",
    "maxOutputTokens",
    "timeout_seconds",
];

/// Settings of an address that act; others are refused when a run is prepared, or have no effect.
const ADDRESS_SETTINGS: [&str; 10] = [
    "url",
    "method",
    "headers",
    "queryParams",
    "body",
    "validateStatus",
    "transformResponse",
    "transform_response",
    "responseParser",
    TRANSFORM,
];

/// Settings of a provider that hold an API key or name the variable with it.
const KEY_SETTINGS: [&str; 4] = ["apiKey", "api_key", "apiKeyEnvar", "api_key_env"];

/// The setting of a target that holds code for its answers.
pub(super) const TRANSFORM: &str = "transform";

/// Settings of a target that declare tools.
const TOOL_SETTINGS: [&str; 2] = ["tools", "functions"];

/// Settings that change a model's answers: tools, response formats, system messages.
const CHANGES_ANSWER: [&str; 12] = [
    "tools",
    "tool_choice",
    "toolConfig",
    "functions",
    "function_call",
    "functionToolCallbacks",
    "response_format",
    "responseSchema",
    "generationConfig",
    "mcp",
    "systemInstruction",
    "modalities",
];

/// The model that grades: by name, as `{id, config}`, as `{name: {config}}`, or one for each kind of question.
pub(super) fn read_grader(cx: &Context<'_>, node: &SourceNode) -> Option<GraderSettings> {
    let Some(entries) = node.map() else {
        let name = cx.plain_text(node, "provider")?;
        let of_suite = cx.suite_providers.borrow().get(&name).cloned();
        if let Some(provider) = of_suite {
            return read_grader(cx, &provider);
        }
        refuse_unspoken_judge(cx, &name, node)?;
        if name.starts_with("file://") {
            return read_grader_file(cx, &name, node);
        }
        let named = settings::named_target(cx, node.span, &name);
        return Some(match named {
            Some(target) => grader_of_target(&target),
            None => grader_of_model(name),
        });
    };
    let kinds = ["text", "embedding", "classification", "moderation"];
    if entries.iter().any(|entry| kinds.contains(&entry.key.as_str())) {
        // One for each kind of question; keys beside them name the one for texts.
        let others: Vec<NodeEntry> =
            entries.iter().filter(|entry| !kinds.contains(&entry.key.as_str())).cloned().collect();
        let rest = SourceNode { span: node.span, shape: NodeShape::Map(others) };
        let text = node.get("text").or(rest.map().filter(|entries| !entries.is_empty()).map(|_| &rest));
        let text = text.and_then(|node| read_grader(cx, node)).unwrap_or_default();
        let embedding = node.get("embedding").and_then(|node| read_grader(cx, node));
        let embedding = embedding.and_then(GraderSettings::into_embedding);
        let moderation =
            node.get("moderation").and_then(|node| node.text().or_else(|| node.get("id")?.text()));
        return Some(GraderSettings { embedding, moderation: moderation.map(str::to_owned), ..text });
    }
    let (id, inner) = match entries {
        [only] if !["id", "config"].contains(&only.key.as_str()) && only.value.map().is_some() => {
            (Some(only.key.clone()), &only.value)
        }
        _ => (None, node),
    };
    let fields = MappingReader::new(cx, inner, "provider")?;
    let own = fields.get("id").and_then(|node| cx.plain_text(node, "id"));
    if id.is_none() && own.is_none() {
        cx.report(
            Diagnostic::error(
                Code::MissingKey,
                cx.head(inner),
                "the model that judges has settings and no `id`",
            )
            .note("promptfoo refuses it as well, when the first assertion asks a judge")
            .help("add `id: vendor:model`"),
        );
        fields.knows(&["id"]);
    }
    let mut config = fields.raw_json_map("config");
    drop_api_keys(&fields, &mut config);
    warn_unused_settings(&fields, &config, JUDGE, &MODEL_SETTINGS);
    fields.ignores(&["label", "delay", "env", "prompts", "transform"]);
    fields.finish();
    let id = own.or(id)?;
    refuse_unspoken_judge(cx, &id, inner.get("id").unwrap_or(node))?;
    Some(grader_of_target(&CaseTarget { id, label: None, config }))
}

/// A judge is asked as a chat model; what its vendor keeps, speaks or draws is refused here, where its place is known.
fn refuse_unspoken_judge(cx: &Context<'_>, id: &str, node: &SourceNode) -> Option<()> {
    let Some(what) = find_unspoken_kind(id) else { return Some(()) };
    cx.report(
        Diagnostic::error(Code::Unsupported, cx.head(node), format!("`{id}` cannot judge: it is {what}"))
            .help("name a chat model, such as `openai:gpt-5-mini`, or a program as `command:program`"),
    );
    None
}

fn read_grader_file(cx: &Context<'_>, path: &str, node: &SourceNode) -> Option<GraderSettings> {
    let path = path.trim_start_matches("file://");
    if path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json") {
        let parsed = cx.parse(cx.find(path, node.span)?)?;
        return read_grader(cx, &parsed);
    }
    cx.report(
        Diagnostic::error(Code::Unsupported, node.span, format!("`{path}` cannot judge"))
            .note("promptfoo takes a script as a judge; here a judge is a model")
            .help("write `command:program` for a program that reads a prompt and answers"),
    );
    None
}

fn grader_of_model(name: String) -> GraderSettings {
    GraderSettings { judge: Judge { model: Some(name), ..Judge::default() }, ..GraderSettings::default() }
}

fn grader_of_target(target: &CaseTarget) -> GraderSettings {
    let config = &target.config;
    let text = |keys: &[&str]| keys.iter().find_map(|key| config.get(*key)?.as_str()).map(str::to_owned);
    let number = |keys: &[&str]| keys.iter().find_map(|key| config.get(*key)?.as_f64());
    let model = text(&["model", "deployment"]).filter(|_| !target.id.contains([':', '/']));
    let judge = Judge {
        model: Some(model.map_or_else(|| target.id.clone(), |model| format!("{}:{model}", target.id))),
        base_url: target.base_url(),
        temperature: number(&["temperature"]),
        max_tokens: number(&["max_tokens", "max_output_tokens", "max_completion_tokens"])
            .map(|number| number as u32),
        timeout: number(&["timeout_seconds"]),
        ..Judge::default()
    };
    GraderSettings { judge, ..GraderSettings::default() }
}

/// What a model is called in warnings.
const JUDGE: &str = "the model that judges";

/// Says which settings of a model do nothing here.
fn warn_unused_settings(fields: &MappingReader<'_>, config: &Map<String, Json>, whom: &str, used: &[&str]) {
    let unused: Vec<&str> = config
        .keys()
        .map(String::as_str)
        .filter(|key| !used.contains(key))
        // Targets can have tools; judges have none.
        .filter(|key| whom == JUDGE || !TOOL_SETTINGS.contains(key))
        .collect();
    if unused.is_empty() {
        return;
    }
    let message = format!("`config` of {whom}: {} has no effect here", unused.join(", "));
    let mut diagnostic = Diagnostic::warning(Code::NoEffect, fields.key_span("config"), message);
    let changing: Vec<&str> = unused.into_iter().filter(|key| CHANGES_ANSWER.contains(key)).collect();
    if !changing.is_empty() {
        diagnostic = diagnostic.note(format!(
            "without {} the model may answer otherwise than it does for promptfoo",
            changing.join(", ")
        ));
    }
    fields.cx.report(diagnostic);
}

/// Leaves out the API keys of a provider. A file may come from a stranger: it may not choose a variable of the environment
/// that is sent to an address of its own, and a key that it holds must not be copied into converted files.
fn drop_api_keys(fields: &MappingReader<'_>, config: &mut Map<String, Json>) {
    for key in KEY_SETTINGS {
        if config.remove(key).is_none() {
            continue;
        }
        let message = format!("`{key}` has no effect here: keys are not read from the files of a suite");
        fields.cx.report(
            Diagnostic::warning(Code::NoEffect, fields.key_span("config"), message)
                .help("set the variable of the vendor, such as OPENAI_API_KEY, or the `key` of an entry of `vendors` in .jurist/config.yaml"),
        );
    }
}

pub(super) fn read_agentv_targets(
    cx: &Context<'_>,
    node: &SourceNode,
    rules: TestRules,
) -> Vec<AgentvTarget> {
    let own: Vec<AgentvTarget> = match &node.shape {
        NodeShape::List(items) => items.iter().flat_map(|node| read_agentv_target(cx, node, rules)).collect(),
        _ => read_agentv_target(cx, node, rules),
    };
    if rules == TestRules::Promptfoo {
        return own;
    }
    own.into_iter()
        .map(|own| match settings::named_target(cx, node.span, &own.target.id) {
            Some(target) => AgentvTarget { target, ..own },
            None => own,
        })
        .collect()
}

/// The provider that the settings of a project name for suites that name none, if it can be asked here.
pub(super) fn read_project_target(cx: &Context<'_>, node: &SourceNode) -> Option<CaseTarget> {
    let name = cx.plain_text(node, "provider")?;
    let all = settings::project_targets(cx, node.span);
    let known: Vec<&str> = all.iter().map(CaseTarget::name).collect();
    if !known.contains(&name.as_str()) && !name.contains([':', '/']) {
        let message = format!("no provider of this project is called `{name}`");
        let diagnostic = Diagnostic::error(Code::UnknownName, node.span, message);
        cx.report(diagnostic.suggest(&name, known, "providers"));
        return None;
    }
    let target = settings::named_target(cx, node.span, &name).unwrap_or_else(|| CaseTarget {
        id: name,
        label: None,
        config: Map::new(),
    });
    require_target_variables(cx, &target, node.span);
    if let Some(what) = find_unspoken_kind(&target.id) {
        let message = format!("`{}` is {what}, which is not supported", target.id);
        cx.error(Code::Unsupported, node.span, message);
        return None;
    }
    Some(target)
}

/// The same for the model that judges.
pub(super) fn read_project_judge(cx: &Context<'_>, node: &SourceNode) -> Option<Judge> {
    let target = read_project_target(cx, node)?;
    if !is_model_name(&target.id) || target.id == "mock" {
        cx.error(Code::Unsupported, node.span, format!("`{}` cannot judge: it is no model", target.name()));
        return None;
    }
    Some(grader_of_target(&target).judge)
}

/// A name, a file of providers, `{id, label, config}`, or `{name: {label, config}}`.
fn read_agentv_target(cx: &Context<'_>, node: &SourceNode, rules: TestRules) -> Vec<AgentvTarget> {
    let Some(entries) = node.map() else {
        let Some(id) = cx.raw_text(node, "providers") else { return Vec::new() };
        let path = id.strip_prefix("file://").unwrap_or_default();
        if [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end)) {
            let parsed = cx.find(path, node.span).and_then(|file| cx.parse(file));
            return parsed.map(|node| read_agentv_targets(cx, &node, rules)).unwrap_or_default();
        }
        let target = CaseTarget { id, label: None, config: Map::new() };
        return vec![AgentvTarget { target, prompts: Vec::new() }];
    };
    let known = ["id", "name", "label", "config", "use_target", "provider"];
    let (id, inner) = match entries {
        [only] if !known.contains(&only.key.as_str()) => (Some(only.key.clone()), &only.value),
        _ => (None, node),
    };
    let Some(fields) = MappingReader::new(cx, inner, "provider") else { return Vec::new() };
    let own = fields.any(&["id", "name"]).and_then(|node| cx.raw_text(node, "id"));
    let id = own.or(id).or_else(|| fields.get("use_target").and_then(|node| cx.raw_text(node, "use_target")));
    if id.is_none() {
        fields.missing("id");
    }
    let (label, mut config) = (fields.text("label"), fields.raw_json_map("config"));
    let is_model = id.as_deref().is_some_and(is_model_name);
    if rules == TestRules::Promptfoo {
        read_tool_file(&fields, &mut config);
    }
    if is_model {
        drop_api_keys(&fields, &mut config);
    }
    if rules == TestRules::Promptfoo && is_model {
        warn_unused_settings(&fields, &config, "this provider", &MODEL_SETTINGS);
    }
    if rules == TestRules::Promptfoo && id.as_deref().is_some_and(is_address) {
        let used = [&ADDRESS_SETTINGS[..], &REFUSED_REQUEST_KEYS].concat();
        warn_unused_settings(&fields, &config, "this provider", &used);
    }
    let prompts = if rules == TestRules::Promptfoo { fields.texts("prompts") } else { Vec::new() };
    if rules == TestRules::Promptfoo {
        let code = fields.any(&["transform", "postprocess"]).and_then(|node| cx.raw_text(node, "transform"));
        add_transform(&mut config, code.as_deref());
    }
    if rules == TestRules::Agentv {
        fields.refuses(&["transform", "prompts"]);
    }
    fields.refuses(&["hooks"]);
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
    let target = |id: String| AgentvTarget { target: CaseTarget { id, label, config }, prompts };
    id.map(target).into_iter().collect()
}

/// Reads tools from a file of their own.
fn read_tool_file(fields: &MappingReader<'_>, config: &mut Map<String, Json>) {
    let cx = fields.cx;
    for key in TOOL_SETTINGS {
        let Some(path) = config
            .get(key)
            .and_then(Json::as_str)
            .and_then(|text| text.strip_prefix("file://"))
            .map(str::to_owned)
        else {
            continue;
        };
        let is_data = [".json", ".yaml", ".yml"].iter().any(|end| path.ends_with(end));
        if !is_data {
            let message = format!("`{key}` from `{path}` has no effect here");
            cx.report(
                Diagnostic::warning(Code::NoEffect, fields.key_span("config"), message)
                    .help("save them as a JSON or YAML file"),
            );
            config.remove(key);
            continue;
        }
        let parsed = cx.find(&path, fields.span("config")).and_then(|file| cx.parse(file));
        if let Some(parsed) = parsed {
            config.insert(key.to_owned(), parsed.to_json());
        }
    }
}

/// Adds code that changes what a target answers; the engine runs it after those that are there already.
pub(super) fn add_transform(config: &mut Map<String, Json>, code: Option<&str>) {
    let Some(code) = code else { return };
    if let Json::Array(all) = config.entry(TRANSFORM).or_insert_with(|| Json::Array(Vec::new())) {
        all.push(Json::from(code));
    }
}

/// Whether a provider is an address that is sent the prompt.
fn is_address(id: &str) -> bool {
    ["http", "https"].contains(&id.split(':').next().unwrap_or_default())
}

/// Whether a provider is a model, and not a program, a script or an address.
fn is_model_name(id: &str) -> bool {
    let kind = id.split(':').next().unwrap_or_default();
    !["echo", "exec", "file", "python", "http", "https", "cli", "command", "ws", "wss"].contains(&kind)
}
