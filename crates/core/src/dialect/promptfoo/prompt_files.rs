//! Prompts of promptfoo: texts, and files of every kind that it reads them from.

use std::path::Path;

use serde_json::Value as Json;

use super::text_node;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::agentv::AgentvPrompt;
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::rows;
use crate::source::{FileId, NodeShape, SourceNode, SourceSpan};
use crate::suite::DataRow;

/// A text that ends so, or as a program does, is the path of a file.
const EXTENSIONS: [&str; 14] =
    ["cjs", "csv", "j2", "js", "json", "jsonl", "md", "mjs", "mts", "py", "ts", "txt", "yaml", "yml"];

/// A file that ends so is a program that prints the prompt.
const PROGRAM_EXTENSIONS: [&str; 8] = ["bash", "bat", "cmd", "exe", "pl", "ps1", "rb", "sh"];

/// Services that keep prompts.
const REGISTRIES: [&str; 4] = ["langfuse://", "portkey://", "helicone://", "package:"];

/// All prompts of a file, in order.
pub(in crate::dialect) fn read_promptfoo_prompts(cx: &Context<'_>, node: &SourceNode) -> Vec<AgentvPrompt> {
    number_equal_labels(read_all_prompts(cx, node))
}

/// Adds a number to labels that several prompts have, such as the name of their file, so that cases differ in name.
fn number_equal_labels(prompts: Vec<AgentvPrompt>) -> Vec<AgentvPrompt> {
    let labels: Vec<Option<String>> =
        prompts.iter().map(|prompt| prompt.label().map(str::to_owned)).collect();
    let number = |(at, prompt): (usize, AgentvPrompt)| {
        let count = |some: &[Option<String>]| some.iter().filter(|other| **other == labels[at]).count();
        match &labels[at] {
            Some(label) if 1 < count(&labels) => {
                prompt.with_label(Some(&format!("{label} {}", count(&labels[..=at]))))
            }
            _ => prompt,
        }
    };
    prompts.into_iter().enumerate().map(number).collect()
}

fn read_all_prompts(cx: &Context<'_>, node: &SourceNode) -> Vec<AgentvPrompt> {
    match &node.shape {
        NodeShape::Scalar(_) => read_prompt_text(cx, node, &[], None),
        NodeShape::List(items) => items
            .iter()
            .flat_map(|item| match &item.shape {
                NodeShape::Map(_) => read_prompt_mapping(cx, item),
                _ => read_prompt_text(cx, item, &[], None),
            })
            .collect(),
        // An old form: files, each with its label.
        NodeShape::Map(entries) => entries
            .iter()
            .flat_map(|entry| {
                let path = text_node(entry.key.as_str(), entry.key_span);
                let label = entry.value.text();
                read_prompt_text(cx, &path, &Vec::from_iter(label.map(str::to_owned)), label)
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
    let own = |key: &'static str| fields.get(key)?.text().filter(|text| !text.is_empty());
    // An `id` may also be the prompt itself or its file.
    let is_name = |id: &&str| (raw.is_some() || file.is_some()) && file_path(id).is_none();
    let label = own("label").or_else(|| own("id").filter(is_name));
    fields.knows(&["display", "role"]);
    fields.refuses(&["function", "prefix", "suffix"]);
    let prompts = match (raw, file, fields.get("id")) {
        (Some(raw), _, _) if raw.text().is_none() => {
            vec![AgentvPrompt::with_names(raw.clone(), names).with_label(label)]
        }
        (Some(raw), _, _) => read_prompt_text(cx, raw, &names, label),
        (None, Some(path), _) => match path.text() {
            Some(text) => read_prompt_text(cx, &text_node(with_scheme(text), path.span), &names, label),
            None => Vec::new(),
        },
        (None, None, Some(id)) => read_prompt_text(cx, id, &names, label),
        (None, None, None) => {
            fields.missing("raw");
            Vec::new()
        }
    };
    if !prompts.iter().all(AgentvPrompt::is_script) {
        fields.ignores(&["config"]);
    }
    let config = fields.get("config").map(|node| cx.json(node));
    fields.finish();
    match config {
        Some(config) => prompts.into_iter().map(|prompt| prompt.with_config(config.clone())).collect(),
        None => prompts,
    }
}

fn with_scheme(path: &str) -> String {
    if path.starts_with("file://") { path.to_owned() } else { format!("file://{path}") }
}

/// A text, or the path of a file. Without a `label`, the prompts of a file have its name.
fn read_prompt_text(
    cx: &Context<'_>,
    node: &SourceNode,
    names: &[String],
    label: Option<&str>,
) -> Vec<AgentvPrompt> {
    let Some(text) = node.text() else {
        if node.list().is_some() {
            return vec![AgentvPrompt::with_names(node.clone(), names.to_vec()).with_label(label)];
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
        return vec![AgentvPrompt::script(node.clone(), names).with_label(label)];
    }
    let Some(path) = file_path(text) else {
        let names = if names.is_empty() { vec![text.to_owned()] } else { names.to_vec() };
        return vec![AgentvPrompt::with_names(node.clone(), names).with_label(label)];
    };
    let path = cx.expand_path(path, node.span);
    let mut names = names.to_vec();
    names.push(text.to_owned());
    names.push(path.clone());
    if path.contains(['*', '?']) {
        // The function after a colon is one of each file.
        let (pattern, function) = path.find(':').map_or((path.as_str(), ""), |at| path.split_at(at));
        let folder = cx.path_of(node.span.file).parent().map(Path::to_owned).unwrap_or_default();
        let read = |file| {
            let found = cx.path_of(file);
            let found = found.strip_prefix(&folder).unwrap_or(&found).display();
            let script = read_script_prompt(cx, &format!("{found}{function}"), node.span, (&names, label));
            match script {
                Some(script) => vec![script],
                None => read_prompt_file(cx, file, node.span, (&names, label)),
            }
        };
        return rows::find_files(cx, pattern, node.span).into_iter().flat_map(read).collect();
    }
    if let Some(script) = read_script_prompt(cx, &path, node.span, (&names, label)) {
        return vec![script];
    }
    let file = cx.find(&path, node.span);
    file.map(|file| read_prompt_file(cx, file, node.span, (&names, label))).unwrap_or_default()
}

/// The prompt that a function of a file makes, or a program prints, if the path is that of one.
fn read_script_prompt(
    cx: &Context<'_>,
    path: &str,
    span: SourceSpan,
    (names, label): (&[String], Option<&str>),
) -> Option<AgentvPrompt> {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    let is_program = PROGRAM_EXTENSIONS.contains(&extension);
    if is_program && extension != "exe" {
        cx.find(path, span)?;
    }
    let reference = match is_program {
        true if path.contains('/') => format!("exec:{path}"),
        true => format!("exec:./{path}"),
        false if is_script(path) => path.to_owned(),
        false => return None,
    };
    let label = label.or_else(|| path.rsplit('/').next());
    Some(AgentvPrompt::script(text_node(reference, span), names.to_vec()).with_label(label))
}

/// The path that a text is, if it is one.
fn file_path(text: &str) -> Option<&str> {
    if let Some(path) = text.strip_prefix("file://") {
        return Some(path.trim());
    }
    let is_line = !text.contains('\n') && !text.contains("{{") && !text.contains(' ');
    let file = text.rsplit_once(':').map_or(text, |(file, _)| file);
    let ends = |text: &str| {
        text.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty() && (EXTENSIONS.contains(&end) || PROGRAM_EXTENSIONS.contains(&end))
        })
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
    (names, label): (&[String], Option<&str>),
) -> Vec<AgentvPrompt> {
    let path = cx.path_of(file);
    let text = cx.text_of(file);
    let extension =
        path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy());
    let label = label.or(name.as_deref());
    let of_node = |node: SourceNode| AgentvPrompt::with_names(node, names.to_vec()).with_label(label);
    let of_text = |text: &str| of_node(text_node(cx.escape_file(text), asked));
    match extension.as_str() {
        "txt" => split_prompts(&text).iter().map(|text| of_text(text)).collect(),
        "jsonl" => text.lines().filter(|line| !line.trim().is_empty()).map(of_text).collect(),
        "csv" => read_prompt_table(cx, file, asked, (names, label)),
        // With conditions and loops in it, a file need not be JSON before they are carried out.
        "json" | "yaml" | "yml" => match cx.parse_quietly(file) {
            Some(node) if node.text().is_none() => vec![of_node(node)],
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

/// A prompt per row: the column `prompt`, with `label` next to it, or the only column.
fn read_prompt_table(
    cx: &Context<'_>,
    file: FileId,
    asked: SourceSpan,
    (names, label): (&[String], Option<&str>),
) -> Vec<AgentvPrompt> {
    let text = cx.text_of(file);
    let of_text = |text: &str, names: Vec<String>| {
        AgentvPrompt::with_names(text_node(cx.escape_file(text), asked), names).with_label(label)
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
            let own = cell(row, "label").filter(|label| !label.is_empty());
            let names = names.iter().cloned().chain(own.clone()).collect();
            Some(of_text(&prompt, names).with_label(own.as_deref()))
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
            ("./prompt.sh", Some("./prompt.sh")),
            ("Say hello.", None),
            ("Write about {{topic}}.md", None),
            ("What is Node.js", None),
        ] {
            assert_eq!(file_path(text), path, "{text}");
        }
    }

    #[test]
    fn a_label_of_several_prompts_gets_a_number() {
        let file = crate::source::Sources::default().add("p.yaml", "x".into());
        let span = SourceSpan { file, start: 0, end: 0 };
        let prompt = |label: Option<&str>| {
            AgentvPrompt::with_names(text_node("x", span), Vec::new()).with_label(label)
        };
        let prompts = [Some("a.txt"), None, Some("short"), Some("a.txt"), None].map(prompt);
        let numbered = number_equal_labels(prompts.into());
        let labels: Vec<Option<&str>> = numbered.iter().map(AgentvPrompt::label).collect();
        assert_eq!(labels, [Some("a.txt 1"), None, Some("short"), Some("a.txt 2"), None]);
    }

    #[test]
    fn dashes_part_the_prompts_of_a_text_file() {
        assert_eq!(split_prompts("One\n  ---  \nTwo\nlines\n---\n\n"), ["One", "Two\nlines"]);
        assert_eq!(split_prompts("a --- b"), ["a --- b"]);
    }
}
