//! What a test of AgentV or promptfoo asks: prompts, variables and messages.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value as Json};

use super::target::AgentvTarget;
use super::{AgentvTestDefaults, AgentvTestOptions, TestRules};
use crate::candidate::{Candidate, read_chat};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::{Context, pretty};
use crate::dialect::fields::MappingReader;
use crate::dialect::promptfoo::TestVariables;
use crate::dialect::{native, promptfoo};
use crate::javascript_text::normalize_javascript_numbers;
use crate::source::{NodeEntry, NodeShape, Scalar, SourceNode, SourceSpan};
use crate::suite::{Case, MatrixPrompt};
use crate::template;

/// One prompt to run: text, or a conversation.
#[derive(Clone)]
pub(in crate::dialect) struct AgentvPrompt {
    node: SourceNode,
    /// Its id, label and file, by which tests and providers choose prompts.
    names: Vec<String>,
    /// Its name in the names of cases; its number by default.
    label: Option<String>,
    /// The node is the path of a script whose function makes the prompt.
    is_script: bool,
    /// What such a function gets as its configuration.
    config: Json,
}

impl AgentvPrompt {
    pub(in crate::dialect) fn with_names(node: SourceNode, names: Vec<String>) -> Self {
        Self { node, names, label: None, is_script: false, config: Json::Object(Map::new()) }
    }

    pub(in crate::dialect) fn script(node: SourceNode, names: Vec<String>) -> Self {
        Self { is_script: true, ..Self::with_names(node, names) }
    }

    pub(in crate::dialect) fn is_script(&self) -> bool {
        self.is_script
    }

    /// The same prompt, whose function gets this configuration.
    pub(in crate::dialect) fn with_config(self, config: Json) -> Self {
        Self { config, ..self }
    }

    /// The same prompt with this label, or with its own where there is none.
    pub(in crate::dialect) fn with_label(self, label: Option<&str>) -> Self {
        Self { label: label.map(str::to_owned).or(self.label), ..self }
    }

    pub(in crate::dialect) fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Whether the filter of a test or provider matches; `name:*` matches all names with that beginning.
    fn is_named(&self, filter: &str) -> bool {
        self.names.iter().any(|name| match filter.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == filter || name.starts_with(&format!("{filter}:")),
        })
    }
}

/// A prompt as one test has it.
pub(super) struct FilledPrompt {
    pub(super) text: String,
    pub(super) names: Vec<String>,
    label: Option<String>,
    /// The places of the targets that it is for, where a function made it for each; empty: all of them.
    pub(super) targets: Vec<usize>,
}

impl FilledPrompt {
    pub(super) fn set(&self, case: &mut Case) {
        case.candidate.set_prompt(self.text.clone());
    }

    /// The same as one of several prompts.
    pub(super) fn in_matrix(&self) -> MatrixPrompt {
        MatrixPrompt { label: self.label.clone(), text: self.text.clone() }
    }

    /// Whether it is the messages of a conversation.
    pub(super) fn is_chat(&self) -> bool {
        read_chat(&template::resolve_escapes(&self.text)).is_some()
    }
}

pub(super) fn read_prompts(cx: &Context<'_>, node: &SourceNode, rules: TestRules) -> Vec<AgentvPrompt> {
    if rules == TestRules::Promptfoo {
        return promptfoo::read_promptfoo_prompts(cx, node);
    }
    let is_message = |node: &SourceNode| node.get("role").is_some() && node.get("content").is_some();
    match &node.shape {
        NodeShape::List(items) if !items.is_empty() && items.iter().all(is_message) => {
            vec![AgentvPrompt::with_names(node.clone(), Vec::new())]
        }
        NodeShape::List(items) => items.iter().filter_map(|node| read_agentv_prompt(cx, node)).collect(),
        _ => read_agentv_prompt(cx, node).into_iter().collect(),
    }
}

/// Text, `file://…`, a conversation, or a mapping that holds one of them.
fn read_agentv_prompt(cx: &Context<'_>, node: &SourceNode) -> Option<AgentvPrompt> {
    let with_text = |text: String| {
        let shape = NodeShape::Scalar(Scalar { text, plain: false });
        AgentvPrompt::with_names(SourceNode { span: node.span, shape }, Vec::new())
    };
    match &node.shape {
        NodeShape::Scalar(it) if it.text.starts_with("file://") => cx.text(node, "prompts").map(with_text),
        NodeShape::Scalar(_) | NodeShape::List(_) => Some(AgentvPrompt::with_names(node.clone(), Vec::new())),
        NodeShape::Map(_) => {
            let fields = MappingReader::new(cx, node, "prompt")?;
            let inner = fields.any(&["prompt", "raw", "messages"]).cloned();
            let file = fields.any(&["file", "path"]).and_then(|node| {
                let path = cx.plain_text(node, "file")?;
                cx.find(path.strip_prefix("file://").unwrap_or(&path), node.span)
                    .map(|file_id| cx.text_of(file_id).to_string())
            });
            let id = fields.text("id").filter(|text| text.starts_with("file://"));
            fields.knows(&["label", "config", "display"]);
            fields.refuses(&["function", "function_file", "command", "prefix", "suffix"]);
            let by_id = || {
                id.and_then(|id| cx.find(&id["file://".len()..], node.span))
                    .map(|file_id| cx.text_of(file_id).to_string())
            };
            let read = match inner {
                Some(node) => Some(AgentvPrompt::with_names(node, Vec::new())),
                None => file.or_else(by_id).map(with_text),
            };
            if read.is_none() {
                fields.missing("prompt");
            }
            fields.finish();
            read
        }
    }
}

/// The test once per combination of its variables, filled in; with what tells the copies apart.
pub(super) fn with_vars(
    cx: &Context<'_>,
    test: &SourceNode,
    defaults: &AgentvTestDefaults<'_>,
) -> Vec<(SourceNode, String)> {
    let is_promptfoo = defaults.rules == TestRules::Promptfoo;
    let own = match test.get("vars").filter(|node| !node.is_null()) {
        Some(node) if is_promptfoo => promptfoo::read_variables(cx, node),
        Some(node) => cx.entries(node, "vars").unwrap_or_default().to_vec(),
        None => Vec::new(),
    };
    let inherited = defaults.vars.iter().filter(|entry| !own.iter().any(|mine| mine.key == entry.key));
    let vars: Vec<&NodeEntry> = own.iter().chain(inherited).collect();
    let Some(combinations) = combine_variables(cx, test, &vars, defaults) else { return Vec::new() };
    let names = name_combinations(&combinations);
    combinations
        .into_iter()
        .zip(names)
        .filter_map(|(mut vars, name)| {
            if !cx.spend_filled_bytes(test.n_text_bytes(), test.span) {
                return None;
            }
            if is_promptfoo {
                // An output that is stored under the name of a variable takes its place, also in other variables.
                vars.retain(|name, _| !defaults.stored_outputs.contains(name));
                vars = promptfoo::settle_variables(cx, vars, transform_of(test, defaults), test.span);
                if !cx.spend_filled_bytes(0, test.span) {
                    return None;
                }
                refuse_outputs_in_variables(cx, &vars, defaults, test.span);
            }
            let mut test = test.clone();
            if let NodeShape::Map(entries) = &mut test.shape {
                entries.retain(|entry| entry.key != "vars");
            }
            fill_variables(cx, &mut test, &vars, defaults);
            if let NodeShape::Map(entries) = &mut test.shape {
                let span = test.span;
                let value = SourceNode::of_json(&Json::Object(vars), span);
                entries.push(NodeEntry { key: "vars".to_owned(), key_span: span, value });
            }
            Some((test, name))
        })
        .collect()
}

/// Assertions of the default test and of the file, with the variables of one test filled in.
pub(super) fn fill_inherited_assertions(
    fields: &MappingReader<'_>,
    assertions: Vec<&SourceNode>,
    defaults: &AgentvTestDefaults<'_>,
) -> Vec<SourceNode> {
    let vars = read_settled_variables(fields);
    let fill = |assertion: &SourceNode| {
        let mut assertion = assertion.clone();
        fill_variables(fields.cx, &mut assertion, &vars, defaults);
        assertion
    };
    assertions.into_iter().map(fill).collect()
}

/// Options of the default test whose texts around the prompt have the variables of one test filled in.
pub(super) fn fill_inherited_options(
    fields: &MappingReader<'_>,
    defaults: &AgentvTestDefaults<'_>,
) -> AgentvTestOptions {
    let mut options = defaults.options.clone();
    for text in [&mut options.prefix, &mut options.suffix].into_iter().flatten() {
        let mut node = promptfoo::text_node(text.as_str(), fields.start());
        fill_variables(fields.cx, &mut node, &read_settled_variables(fields), defaults);
        *text = node.text().unwrap_or_default().to_owned();
    }
    options
}

/// The variables of a test as [`with_vars`] left them: `{{ env.X }}` in a value is filled in where the text is read.
fn read_settled_variables(fields: &MappingReader<'_>) -> Map<String, Json> {
    match fields.peek("vars").map(SourceNode::to_json) {
        Some(Json::Object(vars)) => vars,
        _ => Map::new(),
    }
}

/// Fills in the variables of every text below `node`, as the tool of the file does.
fn fill_variables(
    cx: &Context<'_>,
    node: &mut SourceNode,
    values: &Map<String, Json>,
    defaults: &AgentvTestDefaults<'_>,
) {
    match defaults.rules {
        TestRules::Promptfoo => {
            promptfoo::fill_texts(cx, node, TestVariables { values, outputs: &defaults.stored_outputs });
        }
        TestRules::Agentv => substitute(cx, node, values),
    }
}

/// Values of variables are text when a run begins, so that no output can be in them.
fn refuse_outputs_in_variables(
    cx: &Context<'_>,
    vars: &Map<String, Json>,
    defaults: &AgentvTestDefaults<'_>,
    test: SourceSpan,
) {
    for (variable, value) in vars {
        for output in promptfoo::output_names(&value.to_string(), &defaults.stored_outputs) {
            let message =
                format!("the variable `{variable}` names `{output}`, which is the output of another test");
            cx.report(
                Diagnostic::error(Code::Unsupported, test, message)
                    .note("variables are filled in before a run")
                    .help("name the output in a prompt or in an assertion"),
            );
        }
    }
}

/// Characters of a value that a name has room for.
const MAX_NAMED_VALUE: usize = 30;

/// What distinguishes the cases of one test: the values of the variables that differ, such as ` [German]`. If a value does
/// not fit or two names are equal, the cases have numbers.
fn name_combinations(combinations: &[Map<String, Json>]) -> Vec<String> {
    let [first, _, ..] = combinations else { return vec![String::new(); combinations.len()] };
    let differs = |key: &&String| combinations.iter().any(|vars| vars.get(*key) != first.get(*key));
    let keys: Vec<&String> = first.keys().filter(differs).collect();
    let name = |vars: &Map<String, Json>| {
        let values: Option<Vec<String>> = keys.iter().map(|key| short_value_text(vars.get(*key)?)).collect();
        Some(format!(" [{}]", values?.join(", ")))
    };
    let names: Option<Vec<String>> = combinations.iter().map(name).collect();
    let is_unique = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let numbers = || (1..=combinations.len()).map(|n| format!(" [vars {n}]")).collect();
    names.filter(is_unique).unwrap_or_else(numbers)
}

/// A value that fits into the name of a case.
fn short_value_text(value: &Json) -> Option<String> {
    let text = match value {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        Json::Bool(is_true) => is_true.to_string(),
        Json::Null | Json::Array(_) | Json::Object(_) => return None,
    };
    let is_plain = !text.contains(['[', ']', '{', '\n']) && !text.starts_with("file://");
    (is_plain && (1..=MAX_NAMED_VALUE).contains(&text.chars().count())).then_some(text)
}

fn transform_of<'n>(test: &'n SourceNode, defaults: &'n AgentvTestDefaults<'_>) -> Option<&'n SourceNode> {
    let own = test.get("options").and_then(|options| options.get("transformVars"));
    own.or(defaults.options.transform_vars.as_ref())
}

/// Every combination of the values that variables may have; too many are an error.
fn combine_variables(
    cx: &Context<'_>,
    test: &SourceNode,
    vars: &[&NodeEntry],
    defaults: &AgentvTestDefaults<'_>,
) -> Option<Vec<Map<String, Json>>> {
    let own = test.get("options").and_then(|options| options.get("disableVarExpansion"));
    let keeps_lists = own.and_then(SourceNode::scalar).and_then(Scalar::as_bool);
    let keeps_lists = keeps_lists.unwrap_or(defaults.options.keeps_lists);
    let plain: Map<String, Json> = match defaults.rules {
        TestRules::Promptfoo => vars.iter().map(|var| (var.key.clone(), var.value.to_json())).collect(),
        TestRules::Agentv => Map::new(),
    };
    let mut combinations: Vec<Map<String, Json>> = vec![Map::new()];
    let mut n_bytes: usize = 0;
    for var in vars {
        let mut values = match defaults.rules {
            TestRules::Promptfoo if !keeps_lists => promptfoo::read_variable_values(cx, var, &plain),
            TestRules::Promptfoo => vec![cx.json(&var.value)],
            TestRules::Agentv => match cx.json(&var.value) {
                Json::Array(items) if items.first().is_some_and(Json::is_string) => items,
                other => vec![other],
            },
        };
        if defaults.rules == TestRules::Promptfoo {
            values.iter_mut().for_each(normalize_javascript_numbers);
        }
        if 10_000 < combinations.len() * values.len() {
            cx.error(Code::TooLarge, var.key_span, "these variables make more than 10,000 cases");
            return None;
        }
        // Every combination has copies of its values.
        let n_added = combinations.len() * values.iter().map(variable_bytes).sum::<usize>();
        let n_more = (n_bytes * values.len() + n_added).saturating_sub(n_bytes);
        if !cx.spend_filled_bytes(n_more, var.key_span) {
            return None;
        }
        n_bytes += n_more;
        combinations = combinations
            .iter()
            .flat_map(|head| {
                values.iter().map(|value| {
                    let mut vars = head.clone();
                    vars.insert(var.key.clone(), value.clone());
                    vars
                })
            })
            .collect();
    }
    Some(combinations)
}

fn variable_bytes(value: &Json) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), str::len)
}

static OLD_VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{\{\s*([A-Z_][A-Z0-9_]*)\s*\}\}").expect("a valid pattern"));

/// v4 writes `${{ X }}` for what is `{{ env.X }}` now; a price in a prompt, `${{ amount }}`, is not meant.
pub(super) fn rewrite_old_variables(mut node: SourceNode) -> SourceNode {
    fn visit(node: &mut SourceNode) {
        match &mut node.shape {
            NodeShape::Scalar(it) if it.text.contains("${{") => {
                it.text = OLD_VARIABLE.replace_all(&it.text, "{{ env.$1 }}").into_owned();
            }
            NodeShape::Scalar(_) => {}
            NodeShape::List(items) => items.iter_mut().for_each(visit),
            NodeShape::Map(entries) => entries.iter_mut().for_each(|entry| visit(&mut entry.value)),
        }
    }
    visit(&mut node);
    node
}

/// Fills `{{ name }}` and `{{ vars.name }}` in every text below `node`.
fn substitute(cx: &Context<'_>, node: &mut SourceNode, vars: &Map<String, Json>) {
    let span = node.span;
    match &mut node.shape {
        NodeShape::Scalar(scalar) if scalar.text.contains("{{") => {
            scalar.text = cx.fill_names(&scalar.text, span, |name| {
                let value = promptfoo::find_value(vars, name)?;
                Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            });
        }
        NodeShape::Scalar(_) => {}
        NodeShape::List(items) => items.iter_mut().for_each(|node| substitute(cx, node, vars)),
        NodeShape::Map(entries) => {
            entries.iter_mut().for_each(|entry| substitute(cx, &mut entry.value, vars));
        }
    }
}

pub(super) fn read_agentv_candidate(
    fields: &MappingReader<'_>,
    defaults: &AgentvTestDefaults<'_>,
    options: &AgentvTestOptions,
    targets: &[AgentvTarget],
) -> (Candidate, Vec<FilledPrompt>) {
    let cx = fields.cx;
    let given = fields.any(&["provider_output", "providerOutput", "output"]);
    let value = given.filter(|node| node.text().is_none()).map(|node| cx.json(node));
    let mut candidate = Candidate {
        expected: fields.get("expected_output").map(|node| read_expected_output(cx, node)),
        response: given.map(|node| match &value {
            // Code of promptfoo gets the value, and other assertions its JSON without spaces.
            Some(value) if defaults.rules == TestRules::Promptfoo => value.to_string(),
            Some(value) => pretty(value),
            None => cx.template(node, "provider_output").unwrap_or_default(),
        }),
        output: value.filter(|_| defaults.rules == TestRules::Promptfoo),
        ..Candidate::default()
    };
    let vars = fields.json_map("vars");
    if let Some(context) = vars.get("context") {
        candidate.context = match context {
            Json::Array(items) => items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect(),
            other => vec![other.as_str().map_or_else(|| other.to_string(), str::to_owned)],
        };
    }
    let files = fields.texts_of("input_files");
    candidate.context.extend(if files.is_empty() { defaults.input_files.clone() } else { files });
    match fields.get("input").map(|node| (node, &node.shape)) {
        Some((node, NodeShape::Scalar(_))) if defaults.input.is_empty() => {
            candidate.input = cx.template(node, "input");
        }
        Some((node, _)) => {
            candidate.messages =
                defaults.input.iter().cloned().chain(read_input_messages(cx, node)).collect();
        }
        None => candidate.messages = defaults.input.clone(),
    }
    let prompt_names = fields.texts("prompts");
    for name in &prompt_names {
        if !defaults.prompts.iter().any(|prompt| prompt.is_named(name)) {
            let message = format!("no prompt of this file is called `{name}`");
            cx.error(Code::UnknownName, fields.key_span("prompts"), message);
        }
    }
    let is_wanted = |prompt: &&AgentvPrompt| {
        prompt_names.is_empty() || prompt_names.iter().any(|name| prompt.is_named(name))
    };
    let asked = defaults.prompts.iter().filter(is_wanted);
    let asked: Vec<FilledPrompt> = asked
        .flat_map(|prompt| fill_for_targets(cx, prompt, &vars, (options, defaults, targets), fields))
        .collect();
    if 1 < asked.len() {
        asked.iter().for_each(|prompt| refuse_outputs_in_conversation(prompt, defaults, fields));
    }
    let keys = ["input", "provider_output", "providerOutput", "output"];
    if defaults.prompts.is_empty()
        && !defaults.is_project
        && defaults.input.is_empty()
        && !keys.iter().any(|key| fields.get(key).is_some())
    {
        fields.lacks(
            &keys,
            Diagnostic::error(Code::MissingKey, fields.start(), "there is nothing to grade")
                .help("give the test an `input`, or the file `prompts`"),
        );
    }
    (candidate, asked)
}

/// A prompt as a test has it. A function gets the provider, so that it may make another prompt for each.
fn fill_for_targets(
    cx: &Context<'_>,
    prompt: &AgentvPrompt,
    vars: &Map<String, Json>,
    (options, defaults, targets): (&AgentvTestOptions, &AgentvTestDefaults<'_>, &[AgentvTarget]),
    fields: &MappingReader<'_>,
) -> Vec<FilledPrompt> {
    let filled = |text: String, targets: Vec<usize>| FilledPrompt {
        text,
        names: prompt.names.clone(),
        label: prompt.label.clone(),
        targets,
    };
    let fill = |provider: Json| filled_prompt(cx, prompt, vars, (options, defaults), fields, &provider);
    if !prompt.is_script || targets.is_empty() {
        return fill(Json::Object(Map::new())).map(|text| filled(text, Vec::new())).into_iter().collect();
    }
    let mut prompts: Vec<FilledPrompt> = Vec::new();
    for (at, target) in targets.iter().enumerate() {
        let Some(text) = fill(target.describe_to_prompt()) else { continue };
        match prompts.iter_mut().find(|other| other.text == text) {
            Some(other) => other.targets.push(at),
            None => prompts.push(filled(text, vec![at])),
        }
    }
    if let [only] = prompts.as_mut_slice() {
        only.targets.clear();
    }
    prompts
}

fn filled_prompt(
    cx: &Context<'_>,
    prompt: &AgentvPrompt,
    vars: &Map<String, Json>,
    (options, defaults): (&AgentvTestOptions, &AgentvTestDefaults<'_>),
    fields: &MappingReader<'_>,
    provider: &Json,
) -> Option<String> {
    let outputs = &defaults.stored_outputs;
    let text = if prompt.is_script {
        if let Some(output) = outputs.first() {
            let message = format!("this prompt is made before a run, so that it cannot use `{output}`");
            cx.report(
                Diagnostic::error(Code::Unsupported, cx.head(&prompt.node), message)
                    .also(fields.start(), "a test after the one that stores this output")
                    .help("write the prompt as a text, or give the test other `prompts`"),
            );
        }
        promptfoo::call_prompt_script(cx, &prompt.node, (vars, provider, &prompt.config))
    } else if defaults.rules == TestRules::Promptfoo {
        let vars = TestVariables { values: vars, outputs };
        promptfoo::fill_prompt(cx, &prompt.node, vars, fields.start())
    } else {
        fill_agentv_prompt(cx, prompt, vars, fields)?
    };
    let (prefix, suffix) = (options.prefix.as_deref(), options.suffix.as_deref());
    Some(format!("{}{text}{}", prefix.unwrap_or_default(), suffix.unwrap_or_default()))
}

/// A conversation among several prompts is read from its JSON text in a run, which an output could break.
fn refuse_outputs_in_conversation(
    prompt: &FilledPrompt,
    defaults: &AgentvTestDefaults<'_>,
    fields: &MappingReader<'_>,
) {
    let names = promptfoo::output_names(&prompt.text, &defaults.stored_outputs);
    if let Some(output) = names.first()
        && prompt.is_chat()
    {
        let message = format!("a conversation among several prompts cannot use `{output}`");
        fields.cx.report(
            Diagnostic::error(Code::Unsupported, fields.start(), message)
                .note("it is the output of another test")
                .help(
                    "give the test a file of its own with this prompt alone, or write the prompt as a text",
                ),
        );
    }
}

fn fill_agentv_prompt(
    cx: &Context<'_>,
    prompt: &AgentvPrompt,
    vars: &Map<String, Json>,
    fields: &MappingReader<'_>,
) -> Option<String> {
    if !cx.spend_filled_bytes(prompt.node.n_text_bytes(), prompt.node.span) {
        return None;
    }
    let mut node = prompt.node.clone();
    substitute(cx, &mut node, vars);
    let text = match node.text() {
        Some(_) => cx.plain_text(&node, "prompts")?,
        None => pretty(&cx.json(&node)),
    };
    // Braces in the value of a variable are plain text.
    for name in unfilled_names(&prompt.node, vars) {
        let known: Vec<&str> = vars.keys().map(String::as_str).collect();
        let diagnostic = if name.contains('|') {
            Diagnostic::error(
                Code::Unsupported,
                cx.head(&prompt.node),
                format!("the filter in `{{{{ {name} }}}}` is not supported"),
            )
        } else {
            Diagnostic::error(
                Code::MissingVariable,
                cx.head(&prompt.node),
                format!("this prompt names `{name}`, which the test has no value for"),
            )
            .also(fields.start(), "the test")
            .note(format!(
                "its vars: {}",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            ))
        };
        cx.report(diagnostic);
    }
    Some(text)
}

/// Names between braces that no variable fills in; those of the environment are reported where they are filled in.
fn unfilled_names(node: &SourceNode, vars: &Map<String, Json>) -> Vec<String> {
    let mut names = Vec::new();
    match &node.shape {
        NodeShape::Scalar(scalar) => drop(template::replace(&scalar.text, |name| {
            let is_filled = name.starts_with("env.")
                || template::is_escape(name)
                || promptfoo::find_value(vars, name).is_some();
            names.extend((!is_filled).then(|| name.to_owned()));
            None
        })),
        NodeShape::List(items) => items.iter().for_each(|item| names.extend(unfilled_names(item, vars))),
        NodeShape::Map(entries) => {
            entries.iter().for_each(|entry| names.extend(unfilled_names(&entry.value, vars)));
        }
    }
    names
}

/// `input` as messages: text is a user's message, a mapping is one message, a list is all of them.
pub(super) fn read_input_messages(cx: &Context<'_>, node: &SourceNode) -> Vec<Json> {
    let user = |content: Json| serde_json::json!({ "role": "user", "content": content });
    match &node.shape {
        NodeShape::Scalar(_) => {
            cx.template(node, "input").map(|template| user(Json::String(template))).into_iter().collect()
        }
        NodeShape::Map(_) if node.get("role").is_none() => vec![user(cx.json(node))],
        NodeShape::Map(_) => vec![cx.json(node)],
        NodeShape::List(items) => {
            items.iter().filter_map(|node| native::read_message_node(cx, node)).collect()
        }
    }
}

/// The reference answer: of a conversation, what its last message says.
pub(super) fn read_expected_output(cx: &Context<'_>, node: &SourceNode) -> Json {
    if node.text().is_some() {
        return cx.template(node, "expected_output").map_or(Json::Null, Json::String);
    }
    let last = node.list().and_then(<[SourceNode]>::last).filter(|node| node.get("role").is_some());
    cx.json(last.and_then(|node| node.get("content")).unwrap_or(node))
}
