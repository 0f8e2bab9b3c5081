//! Prompts of promptfoo: texts, and files of every kind that it reads them from.

use serde_json::Value as Json;

use super::text_node;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::agentv::AgentvPrompt;
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::rows;
use crate::source::{FileId, NodeShape, SourceNode, SourceSpan};
use crate::suite::DataRow;

/// A text that ends so is the path of a file.
const EXTENSIONS: [&str; 14] =
    ["cjs", "csv", "j2", "js", "json", "jsonl", "md", "mjs", "mts", "py", "ts", "txt", "yaml", "yml"];

/// Services that keep prompts.
const REGISTRIES: [&str; 4] = ["langfuse://", "portkey://", "helicone://", "package:"];

/// All prompts of a file, in order.
pub(in crate::dialect) fn read_promptfoo_prompts(cx: &Context<'_>, node: &SourceNode) -> Vec<AgentvPrompt> {
    match &node.shape {
        NodeShape::Scalar(_) => read_prompt_text(cx, node, &[]),
        NodeShape::List(items) => items
            .iter()
            .flat_map(|item| match &item.shape {
                NodeShape::Map(_) => read_prompt_mapping(cx, item),
                _ => read_prompt_text(cx, item, &[]),
            })
            .collect(),
        // An old form: files, each with its label.
        NodeShape::Map(entries) => entries
            .iter()
            .flat_map(|entry| {
                let path = text_node(entry.key.as_str(), entry.key_span);
                let label = entry.value.text().map(str::to_owned);
                read_prompt_text(cx, &path, &Vec::from_iter(label))
            })
            .collect(),
    }
}

/// `{raw or id or file, label}`, or messages of a conversation.
fn read_prompt_mapping(cx: &Context<'_>, node: &SourceNode) -> Vec<AgentvPrompt> {
    let Some(fields) = MappingReader::new(cx, node, "prompt") else { return Vec::new() };
    let names: Vec<String> =
        ["id", "label"].into_iter().filter_map(|key| fields.get(key)?.text().map(str::to_owned)).collect();
    let raw = fields.any(&["raw", "prompt", "messages", "content"]);
    let file = fields.any(&["file", "path"]);
    fields.knows(&["display", "role"]);
    fields.ignores(&["config"]);
    fields.refuses(&["function", "prefix", "suffix"]);
    let prompts = match (raw, file, fields.get("id")) {
        (Some(raw), _, _) if raw.text().is_none() => vec![AgentvPrompt::with_names(raw.clone(), names)],
        (Some(raw), _, _) => read_prompt_text(cx, raw, &names),
        (None, Some(path), _) => match path.text() {
            Some(text) => read_prompt_text(cx, &text_node(with_scheme(text), path.span), &names),
            None => Vec::new(),
        },
        (None, None, Some(id)) => read_prompt_text(cx, id, &names),
        (None, None, None) => {
            fields.missing("raw");
            Vec::new()
        }
    };
    fields.finish();
    prompts
}

fn with_scheme(path: &str) -> String {
    if path.starts_with("file://") { path.to_owned() } else { format!("file://{path}") }
}

/// A text, or the path of a file.
fn read_prompt_text(cx: &Context<'_>, node: &SourceNode, names: &[String]) -> Vec<AgentvPrompt> {
    let Some(text) = node.text() else {
        if node.list().is_some() {
            return vec![AgentvPrompt::with_names(node.clone(), names.to_vec())];
        }
        cx.wrong_type(node, "prompts", "text, a file or a conversation");
        return Vec::new();
    };
    if let Some(registry) = REGISTRIES.iter().find(|registry| text.starts_with(*registry)) {
        let message = format!("prompts that `{}` keeps are not supported", registry.trim_end_matches("://"));
        cx.report(
            Diagnostic::error(Code::Unsupported, node.span, message)
                .help("save the prompt as a text file, and name that file"),
        );
        return Vec::new();
    }
    if let Some(line) = text.strip_prefix("exec:") {
        if line.trim().is_empty() {
            cx.report(
                Diagnostic::error(Code::BadValue, node.span, "`exec:` names no program")
                    .help("write `exec:./make-prompt.sh`"),
            );
            return Vec::new();
        }
        let names = if names.is_empty() { vec![text.to_owned()] } else { names.to_vec() };
        return vec![AgentvPrompt::script(node.clone(), names)];
    }
    let Some(path) = file_path(text) else {
        let names = if names.is_empty() { vec![text.to_owned()] } else { names.to_vec() };
        return vec![AgentvPrompt::with_names(node.clone(), names)];
    };
    let path = cx.expand_path(path, node.span);
    let mut names = names.to_vec();
    names.push(text.to_owned());
    names.push(path.clone());
    if path.contains(['*', '?']) {
        let files = rows::find_files(cx, &path, node.span);
        return files.into_iter().flat_map(|file| read_prompt_file(cx, file, node.span, &names)).collect();
    }
    if is_script(&path) {
        return vec![AgentvPrompt::script(text_node(path, node.span), names)];
    }
    let file = cx.find(&path, node.span);
    file.map(|file| read_prompt_file(cx, file, node.span, &names)).unwrap_or_default()
}

/// The path that a text is, if it is one.
fn file_path(text: &str) -> Option<&str> {
    if let Some(path) = text.strip_prefix("file://") {
        return Some(path.trim());
    }
    let is_line = !text.contains('\n') && !text.contains("{{") && !text.contains(' ');
    let file = text.rsplit_once(':').map_or(text, |(file, _)| file);
    let ends = |text: &str| {
        text.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && EXTENSIONS.contains(&end))
    };
    (is_line && (ends(text) || ends(file))).then_some(text)
}

/// Whether a function of a file makes it, perhaps one that is named after a colon.
fn is_script(path: &str) -> bool {
    let file = path.rsplit_once(':').map_or(path, |(file, _)| file);
    ["cjs", "js", "mjs", "mts", "py", "ts"].iter().any(|extension| file.ends_with(&format!(".{extension}")))
}

fn read_prompt_file(
    cx: &Context<'_>,
    file: FileId,
    asked: SourceSpan,
    names: &[String],
) -> Vec<AgentvPrompt> {
    let path = cx.path_of(file);
    let text = cx.text_of(file);
    let extension =
        path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let of_text =
        |text: &str| AgentvPrompt::with_names(text_node(cx.escape_file(text), asked), names.to_vec());
    match extension.as_str() {
        "txt" => split_prompts(&text).iter().map(|text| of_text(text)).collect(),
        "jsonl" => text.lines().filter(|line| !line.trim().is_empty()).map(of_text).collect(),
        "csv" => read_prompt_table(cx, file, asked, names),
        // With conditions and loops in it, a file need not be JSON before they are carried out.
        "json" | "yaml" | "yml" => match cx.parse_quietly(file) {
            Some(node) if node.text().is_none() => vec![AgentvPrompt::with_names(node, names.to_vec())],
            Some(_) | None => vec![of_text(&text)],
        },
        _ => vec![of_text(&text)],
    }
}

/// Lines of three dashes part the prompts of a text file.
fn split_prompts(text: &str) -> Vec<String> {
    let mut prompts = vec![Vec::new()];
    for line in text.lines() {
        if line.trim() == "---" {
            prompts.push(Vec::new());
        } else if let Some(prompt) = prompts.last_mut() {
            prompt.push(line);
        }
    }
    let joined = prompts.into_iter().map(|lines| lines.join("\n").trim().to_owned());
    joined.filter(|prompt| !prompt.is_empty()).collect()
}

/// A prompt per row: the column `prompt`, with `label` beside it, or the only column.
fn read_prompt_table(
    cx: &Context<'_>,
    file: FileId,
    asked: SourceSpan,
    names: &[String],
) -> Vec<AgentvPrompt> {
    let text = cx.text_of(file);
    let of_text = |text: &str, names: Vec<String>| {
        AgentvPrompt::with_names(text_node(cx.escape_file(text), asked), names)
    };
    if !text.contains(',') {
        let lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty());
        let is_head = |(at, line): &(usize, &str)| *at == 0 && line.trim().eq_ignore_ascii_case("prompt");
        let lines = lines.enumerate().filter(|line| !is_head(line));
        return lines.map(|(_, line)| of_text(line, names.to_vec())).collect();
    }
    let table: Vec<DataRow> = rows::rows_of(cx, file, asked);
    let cell =
        |row: &DataRow, key: &str| row.get(key).and_then(Json::as_str).map(|text| text.trim().to_owned());
    let prompts: Vec<AgentvPrompt> = table
        .iter()
        .filter_map(|row| {
            let prompt = cell(row, "prompt").filter(|prompt| !prompt.is_empty())?;
            Some(of_text(&prompt, names.iter().cloned().chain(cell(row, "label")).collect()))
        })
        .collect();
    if prompts.is_empty() {
        let path = cx.path_of(file).display().to_string();
        cx.report(
            Diagnostic::error(Code::BadRow, asked, format!("`{path}` has no column `prompt`"))
                .help("name the column of the prompts `prompt`"),
        );
    }
    prompts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_file_name_is_a_file() {
        for (text, path) in [
            ("file://prompts/a.txt", Some("prompts/a.txt")),
            ("prompts/a.txt", Some("prompts/a.txt")),
            ("prompt.py:build", Some("prompt.py:build")),
            ("Say hello.", None),
            ("Write about {{topic}}.md", None),
            ("What is Node.js", None),
        ] {
            assert_eq!(file_path(text), path, "{text}");
        }
    }

    #[test]
    fn dashes_part_the_prompts_of_a_text_file() {
        assert_eq!(split_prompts("One\n  ---  \nTwo\nlines\n---\n\n"), ["One", "Two\nlines"]);
        assert_eq!(split_prompts("a --- b"), ["a --- b"]);
    }
}
