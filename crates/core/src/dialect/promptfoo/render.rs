//! Texts with variables, as promptfoo fills them in: names, and what else Nunjucks allows between braces.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value as Json};

use crate::candidate::read_chat;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::{Context, pretty};
use crate::javascript_text::{hides_mapping, javascript_text};
use crate::rubric::{render_nunjucks_prompt, undeclared_names};
use crate::source::{NodeShape, SourceNode, SourceSpan};
use crate::suite::is_name;
use crate::template;

/// Keys whose texts are filled in later, by other code.
const LATER: [&str; 9] = [
    "rubricPrompt",
    "rubric_prompt",
    "transform",
    "postprocess",
    "contextTransform",
    "transformVars",
    // Answers are what they are.
    "providerOutput",
    "provider_output",
    "output",
];

/// What becomes of a name that no variable has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingName {
    /// It is left out, as it is in promptfoo's prompts.
    Empty,
    /// It stays as it is written: an assertion that looks for nothing would always hold.
    Text,
}

/// Characters that mark `{{ env.X }}` while the rest is rendered.
const HELD: [char; 2] = ['\u{e000}', '\u{e001}'];

/// The variables of a test, and the names of outputs that tests before it store. Those are known only in a run: they are
/// in no value, and their names stay.
#[derive(Clone, Copy)]
pub(in crate::dialect) struct TestVariables<'v> {
    pub(in crate::dialect) values: &'v Map<String, Json>,
    pub(in crate::dialect) outputs: &'v BTreeSet<String>,
}

/// Fills in the variables of every text of a test.
pub(in crate::dialect) fn fill_texts(cx: &Context<'_>, node: &mut SourceNode, vars: TestVariables<'_>) {
    fill_node(cx, node, vars, MissingName::Text);
}

/// Stored outputs that a text names between braces.
pub(in crate::dialect) fn output_names(text: &str, outputs: &BTreeSet<String>) -> Vec<String> {
    let mut names = Vec::new();
    if !outputs.is_empty() {
        template::replace(text, |name| {
            let name = name.strip_prefix("vars.").unwrap_or(name);
            names.extend(outputs.contains(name).then(|| name.to_owned()));
            None
        });
    }
    names
}

fn fill_node(cx: &Context<'_>, node: &mut SourceNode, vars: TestVariables<'_>, missing: MissingName) {
    let span = cx.head(node);
    match &mut node.shape {
        NodeShape::Scalar(scalar) => {
            if let Some(text) = render_text(cx, &scalar.text, vars, (missing, span)) {
                scalar.text = text;
            }
        }
        NodeShape::List(items) => items.iter_mut().for_each(|item| fill_node(cx, item, vars, missing)),
        NodeShape::Map(entries) => {
            // The keys of a prompt are its own.
            let is_prompt = missing == MissingName::Empty;
            let entries =
                entries.iter_mut().filter(|entry| is_prompt || !LATER.contains(&entry.key.as_str()));
            entries.for_each(|entry| fill_node(cx, &mut entry.value, vars, missing));
        }
    }
}

/// The text with its variables filled in; `None` where it has none, or cannot be rendered, which is reported.
fn render_text(
    cx: &Context<'_>,
    text: &str,
    TestVariables { values: vars, outputs }: TestVariables<'_>,
    (missing, span): (MissingName, SourceSpan),
) -> Option<String> {
    if !text.contains("{{") && !text.contains("{%") && !text.contains("{#") {
        return None;
    }
    if has_only_names(text) {
        return Some(cx.fill_names(text, span, |name| {
            if name.starts_with("env.") || template::is_escape(name) {
                return None;
            }
            let value = find_value(vars, name).map(|value| escape_value(&javascript_text(value)));
            let is_output = || outputs.contains(name.strip_prefix("vars.").unwrap_or(name));
            value.or_else(|| (missing == MissingName::Empty && !is_output()).then(String::new))
        }));
    }
    let (held, names) = hold_environment(text);
    let held = replace_filters(&held);
    let mut values = vars.clone();
    // A text that cannot be rendered names nothing, and the rendering says why.
    let names_asked = undeclared_names(&held).unwrap_or_default();
    let is_asked = |output: &&String| names_asked.contains(*output) || names_field_of_vars(&held, output);
    if let Some(output) = outputs.iter().find(is_asked) {
        let message = format!(
            "conditions, loops and filters cannot use `{output}`, which is the output of another test"
        );
        cx.report(
            Diagnostic::error(Code::Unsupported, span, message)
                .note("they are evaluated before a run")
                .help(format!("name it alone, as `{{{{ {output} }}}}`")),
        );
        return None;
    }
    values.insert("vars".to_owned(), Json::Object(vars.clone()));
    match render_nunjucks_prompt(&held, &Json::Object(values)) {
        Ok(rendered) => {
            let escaped = escape_value(&rendered);
            let fits = cx.spend_filled_bytes(escaped.len(), span);
            fits.then(|| release_environment(cx, &escaped, &names, span))
        }
        Err(why) => {
            cx.report(
                Diagnostic::error(Code::Unsupported, span, format!("this text cannot be filled in: {why}"))
                    .note("conditions, loops and the common filters are understood"),
            );
            None
        }
    }
}

/// Tags of Nunjucks, as far as they go.
static TAGS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)\{\{.*?\}\}|\{%.*?%\}").expect("the pattern is one, a test uses it"));

/// Whether a tag names `vars.NAME`.
fn names_field_of_vars(text: &str, name: &str) -> bool {
    let field = format!("vars.{name}");
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let tags = TAGS.find_iter(text).map(|tag| tag.as_str());
    tags.into_iter().any(|tag| tag.match_indices(&field).any(|(at, _)| is_end(&tag[at + field.len()..])))
}

/// A prompt with the variables of a test. A variable that the test does not have is empty, as it is in promptfoo, and a
/// warning.
pub(in crate::dialect) fn fill_prompt(
    cx: &Context<'_>,
    prompt: &SourceNode,
    vars: TestVariables<'_>,
    test: SourceSpan,
) -> String {
    let mut names = Vec::new();
    for_each_text(prompt, &mut |text| names.extend(find_missing_names(text, vars.values)));
    names.retain(|name| !vars.outputs.contains(name.strip_prefix("vars.").unwrap_or(name)));
    for name in names {
        if name == "_conversation" {
            cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    cx.head(prompt),
                    "conversations over several tests (`_conversation`) are not supported",
                )
                .help("write the messages of the conversation into the prompt"),
            );
            continue;
        }
        let message =
            format!("this prompt names `{name}`, which the test has no value for; it is left empty");
        cx.report(
            Diagnostic::warning(Code::MissingVariable, cx.head(prompt), message).also(test, "the test"),
        );
    }
    warn_of_mappings(cx, prompt, vars.values);
    if !cx.spend_filled_bytes(prompt.n_text_bytes(), cx.head(prompt)) {
        return String::new();
    }
    let mut node = parse_json_prompt(prompt).unwrap_or_else(|| prompt.clone());
    fill_node(cx, &mut node, vars, MissingName::Empty);
    match &node.shape {
        NodeShape::Scalar(scalar) => cx.expand(&scalar.text, node.span),
        _ => {
            let json = cx.json(&node);
            let text = json.to_string();
            match read_chat(&text) {
                Some(_) => text,
                // What JSON writes for two opening braces that are text is another text.
                None => pretty(&json).replace(&template::ESCAPE.replace('"', "\\\""), template::ESCAPE),
            }
        }
    }
}

/// The JSON that the text of a prompt is: promptfoo fills in its texts one by one, so that no value breaks it.
fn parse_json_prompt(prompt: &SourceNode) -> Option<SourceNode> {
    let text = prompt.text()?.trim();
    let is_json = text.starts_with(['[', '{']);
    let parsed: Json = is_json.then(|| serde_json::from_str(text).ok())??;
    Some(SourceNode::of_json(&parsed, prompt.span))
}

/// Warns of mappings that a prompt prints: JavaScript has the same text for all of them.
fn warn_of_mappings(cx: &Context<'_>, prompt: &SourceNode, vars: &Map<String, Json>) {
    let mut names = BTreeSet::new();
    for_each_text(prompt, &mut |text| {
        template::replace(text, |name| {
            names.extend(find_value(vars, name).is_some_and(hides_mapping).then(|| name.to_owned()));
            None
        });
    });
    for name in names {
        let message = format!("this prompt prints `{name}` as `[object Object]`, as promptfoo does");
        cx.report(
            Diagnostic::warning(Code::BadValue, cx.head(prompt), message)
                .help(format!("write `{{{{ {name} | dump }}}}` for its JSON")),
        );
    }
}

/// What the function of a script, or a program, makes of the variables of a test.
pub(in crate::dialect) fn call_prompt_script(
    cx: &Context<'_>,
    script: &SourceNode,
    (vars, provider, config): (&Map<String, Json>, &Json, &Json),
) -> String {
    let reference = script.text().unwrap_or_default();
    let arguments = [serde_json::json!({ "vars": vars, "provider": provider, "config": config })];
    let answer = match reference.strip_prefix("exec:") {
        Some(line) => cx.call_program(line.trim(), &arguments, script.span),
        None => cx.call_prompt_file(reference, &arguments, script.span),
    };
    if answer.as_ref().is_some_and(|answer| answer.get("prompt").is_some() && answer.get("config").is_some())
    {
        let message = format!("the `config` that `{reference}` returns has no effect here");
        cx.report(
            Diagnostic::warning(Code::NoEffect, script.span, message)
                .note("promptfoo changes the settings of the provider by it"),
        );
    }
    let answer = answer.map(|answer| answer.get("prompt").cloned().unwrap_or(answer));
    escape_value(
        &answer.map_or_else(|| format!("[a prompt that {reference} makes]"), |answer| pretty_text(&answer)),
    )
}

/// How deep variables may name each other.
const MAX_PASSES: usize = 4;

/// Variables whose values name others, with those filled in; then as the test's own code changes them.
pub(in crate::dialect) fn settle_variables(
    cx: &Context<'_>,
    mut vars: Map<String, Json>,
    transform: Option<&SourceNode>,
    test: SourceSpan,
) -> Map<String, Json> {
    for text in
        vars.values_mut().filter_map(|value| if let Json::String(text) = value { Some(text) } else { None })
    {
        // promptfoo leaves out the last line break, which texts of several lines have in YAML.
        if text.ends_with('\n') {
            text.pop();
        }
    }
    for _ in 0..MAX_PASSES {
        let known = vars.clone();
        let mut changed = false;
        for (key, value) in &mut vars {
            let Json::String(text) = value else { continue };
            if !text.contains("{{") {
                continue;
            }
            let filled = cx.fill_names(text, test, |name| {
                (name != key).then(|| find_value(&known, name).map(javascript_string)).flatten()
            });
            changed |= filled != *text;
            *text = filled;
        }
        if !changed || !cx.spend_filled_bytes(0, test) {
            break;
        }
    }
    let Some(transform) = transform else { return vars };
    let code = transform.text().unwrap_or_default();
    let arguments = [Json::Object(vars.clone()), serde_json::json!({})];
    let answer = match code.strip_prefix("file://") {
        Some(path) => cx.call_script(path, "get_vars", &arguments, transform.span),
        None => cx.call_expression(code, &arguments, transform.span),
    };
    match answer {
        Some(Json::Object(changed)) => changed,
        Some(_) => {
            cx.error(Code::BadValue, transform.span, "`transformVars` must come to a mapping");
            vars
        }
        None => vars,
    }
}

fn for_each_text<'n>(node: &'n SourceNode, each: &mut impl FnMut(&'n str)) {
    match &node.shape {
        NodeShape::Scalar(scalar) => each(&scalar.text),
        NodeShape::List(items) => items.iter().for_each(|item| for_each_text(item, each)),
        NodeShape::Map(entries) => entries.iter().for_each(|entry| for_each_text(&entry.value, each)),
    }
}

/// Names that a prompt asks for and `vars` do not have.
pub(super) fn find_missing_names(text: &str, vars: &Map<String, Json>) -> Vec<String> {
    if !has_only_names(text) {
        return Vec::new();
    }
    let mut missing = Vec::new();
    template::replace(text, |name| {
        let is_known =
            name.starts_with("env.") || template::is_escape(name) || find_value(vars, name).is_some();
        missing.extend((!is_known).then(|| name.to_owned()));
        None
    });
    missing
}

/// Whether there are only names between braces.
fn has_only_names(text: &str) -> bool {
    let mut plain = !text.contains("{%") && !text.contains("{#");
    template::replace(text, |name| {
        plain &= is_name(name) || name.starts_with("env.") || template::is_escape(name);
        None
    });
    plain
}

/// The value that a name between braces stands for; dots lead into mappings.
pub(in crate::dialect) fn find_value<'v>(vars: &'v Map<String, Json>, name: &str) -> Option<&'v Json> {
    let name = name.strip_prefix("vars.").unwrap_or(name);
    if let Some(value) = vars.get(name) {
        return Some(value);
    }
    let mut keys = name.split('.');
    let first = vars.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// A value that becomes a part of another text, where JavaScript also writes null.
fn javascript_string(value: &Json) -> String {
    if value.is_null() { "null".to_owned() } else { javascript_text(value) }
}

/// What a function returns as a prompt: a text, or JSON.
fn pretty_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => pretty(other),
    }
}

/// What a variable holds is text, braces and all.
fn escape_value(text: &str) -> String {
    if text.contains("{{") { template::escape_braces(text, |_| true) } else { text.to_owned() }
}

fn hold_environment(text: &str) -> (String, Vec<String>) {
    let mut names = Vec::new();
    let held = template::replace(text, |name| {
        name.starts_with("env.").then(|| {
            names.push(name.to_owned());
            format!("{}{}{}", HELD[0], names.len() - 1, HELD[1])
        })
    });
    (held, names)
}

/// A loop may repeat a long name, so names count as values do.
fn release_environment(cx: &Context<'_>, text: &str, names: &[String], span: SourceSpan) -> String {
    let mut parts = text.split(HELD[0]);
    let mut released = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let held = part.split_once(HELD[1]).and_then(|(at, rest)| {
            let at: usize = at.parse().ok()?;
            Some((names.get(at)?, rest))
        });
        match held {
            Some((name, rest)) if cx.spend_filled_bytes(name.len(), span) => {
                released.extend(["{{ ", name.as_str(), " }}", rest]);
            }
            Some((_, rest)) => released.push_str(rest),
            None => {
                released.push(HELD[0]);
                released.push_str(part);
            }
        }
    }
    released
}

/// Nunjucks' names for filters that are called otherwise here.
fn replace_filters(text: &str) -> String {
    let text = text.replace("| safe", "").replace("|safe", "");
    PAIRS.replace_all(&text, "{% for $1 in $2 | items %}").into_owned()
}

/// A loop over the names and values of a mapping.
static PAIRS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{%-?\s*for\s+(\w+\s*,\s*\w+)\s+in\s+([\w.]+)\s*-?%\}").expect("a valid pattern")
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_told_from_what_else_stands_between_braces() {
        for (text, plain) in [
            ("Hi {{ name }} of {{ env.HOME }}", true),
            ("{% if name %}Hi{% endif %}", false),
            ("{{ name | upper }}", false),
            (r#"{{ "{{" }} name"#, true),
        ] {
            assert_eq!(has_only_names(text), plain, "{text}");
        }
    }

    #[test]
    fn filters_of_nunjucks_mean_the_same_here() {
        let values = json!({ "text": "a \"b\"", "list": [{ "user": "hi" }], "said": "{\"tone\": \"calm\"}" });
        let render = |text: &str| render_nunjucks_prompt(&replace_filters(text), &values).unwrap();
        assert_eq!(render("{{ text | dump }}"), r#""a \"b\"""#);
        assert_eq!(render("{{ (said | load).tone }}"), "calm");
        let pairs = "{% for turn in list %}{% for role, text in turn %}{{ role }}: {{ text | dump }}{% endfor %}{% endfor %}";
        assert_eq!(render(pairs), r#"user: "hi""#);
    }

    #[test]
    fn values_are_found_by_their_path() {
        let Json::Object(vars) = json!({ "user": { "name": "Ada" }, "a.b": "dotted" }) else {
            unreachable!()
        };
        assert_eq!(find_value(&vars, "user.name"), Some(&json!("Ada")));
        assert_eq!(find_value(&vars, "vars.user.name"), Some(&json!("Ada")));
        assert_eq!(find_value(&vars, "a.b"), Some(&json!("dotted")));
        assert_eq!(find_missing_names("{{ user.name }} {{ other }}", &vars), ["other"]);
    }
}
