//! Tests and variables of promptfoo in files of their own: tables, lists, patterns and scripts.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde_json::{Map, Value as Json, json};

use super::{map_node, text_node};
use crate::catalogue::{self, CHECKS, RECIPES};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::agentv::TestRules;
use crate::dialect::context::Context;
use crate::dialect::rows;
use crate::source::{FileId, NodeEntry, NodeShape, SourceNode, SourceSpan};
use crate::suite::{DataRow, RowStorage};

/// Where promptfoo itself would fetch tests from.
const REMOTE: [(&str, &str); 5] = [
    ("huggingface://", "a Hugging Face dataset"),
    ("az://", "Azure Blob Storage"),
    ("https://docs.google.com/spreadsheets", "a Google sheet"),
    ("https://", "an address"),
    ("http://", "an address"),
];

/// Tests written out, or in files: lists of YAML and JSON, tables, scripts, and patterns of such files.
pub(in crate::dialect) fn read_test_nodes(
    cx: &Context<'_>,
    node: &SourceNode,
    rules: TestRules,
) -> Vec<SourceNode> {
    match &node.shape {
        NodeShape::List(items) => items
            .iter()
            .flat_map(|item| match (item.text(), item.get("path")) {
                (Some(_), _) => read_test_files(cx, item, rules),
                (None, Some(_)) => read_test_nodes(cx, item, rules),
                (None, None) => vec![item.clone()],
            })
            .collect(),
        NodeShape::Map(_) if node.get("path").is_some() => {
            let config = node.get("config").map(|config| cx.json(config));
            match node.get("path").filter(|path| path.text().is_some()) {
                Some(path) => run_test_script(cx, path, &Vec::from_iter(config), rules),
                None => Vec::new(),
            }
        }
        NodeShape::Map(_) => vec![node.clone()],
        NodeShape::Scalar(_) => read_test_files(cx, node, rules),
    }
}

fn read_test_files(cx: &Context<'_>, node: &SourceNode, rules: TestRules) -> Vec<SourceNode> {
    let written = node.text().unwrap_or_default();
    if let Some((_, what)) = REMOTE.iter().find(|(start, _)| written.starts_with(start)) {
        cx.report(
            Diagnostic::error(Code::Unsupported, node.span, format!("tests cannot be read from {what}"))
                .help("save it as a CSV or JSONL file, and name that file"),
        );
        return Vec::new();
    }
    let Some(path) = cx.path(node, "tests") else { return Vec::new() };
    if is_workbook(&path) {
        let message = format!("`{path}` is a workbook, and tests in workbooks are not supported");
        cx.report(
            Diagnostic::error(Code::Unsupported, node.span, message)
                .help("save the sheet with the tests as a CSV file, and name that file"),
        );
        return Vec::new();
    }
    if path.ends_with('/') {
        return read_test_folders(cx, &path, node.span, rules);
    }
    if path.contains(['*', '?']) {
        let files = rows::find_files(cx, &path, node.span);
        return files.into_iter().flat_map(|file| read_test_file(cx, file, node.span, rules)).collect();
    }
    let file = path.rsplit_once(':').map_or(path.as_str(), |(file, _)| file);
    if ["py", "js", "mjs", "cjs", "ts"].iter().any(|end| file.ends_with(&format!(".{end}"))) {
        return run_test_script(cx, node, &[], rules);
    }
    cx.find(&path, node.span).map(|file| read_test_file(cx, file, node.span, rules)).unwrap_or_default()
}

/// The cases of a folder, each in a folder of its own. A case without an id has the name of its folder, and an agent
/// works in the folder `workspace` next to the case.
fn read_test_folders(cx: &Context<'_>, path: &str, span: SourceSpan, rules: TestRules) -> Vec<SourceNode> {
    let mut tests = Vec::new();
    for file in rows::find_files(cx, &format!("{path}*/case.y*ml"), span) {
        let case = cx.path_of(file);
        let Some(folder) = case.parent() else { continue };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let has_workspace = (cx.world.glob)(&folder.join("workspace/*")).is_ok_and(|files| !files.is_empty());
        for mut test in read_test_file(cx, file, span, rules) {
            let at = test.span;
            let mut add = |key: &str, value: SourceNode| {
                if let NodeShape::Map(entries) = &mut test.shape
                    && !entries.iter().any(|entry| entry.key == key)
                {
                    entries.push(NodeEntry { key: key.to_owned(), key_span: at, value });
                }
            };
            add("id", text_node(name.clone(), at));
            if has_workspace {
                // The path starts where the suite is.
                let template = text_node(format!("{path}{name}/workspace"), span);
                add("workspace", map_node(vec![("template", template)], span));
            }
            tests.push(test);
        }
    }
    tests
}

/// Whether promptfoo reads a path as an Excel workbook; the name of a sheet may follow after `#`.
fn is_workbook(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.split('#').next().unwrap_or(name).to_lowercase();
    name.ends_with(".xlsx") || name.ends_with(".xls")
}

fn run_test_script(
    cx: &Context<'_>,
    node: &SourceNode,
    arguments: &[Json],
    rules: TestRules,
) -> Vec<SourceNode> {
    let Some(path) = cx.path(node, "tests") else { return Vec::new() };
    let usual = match rules {
        TestRules::Promptfoo => "generate_tests",
        TestRules::Agentv => "create_tests",
    };
    match cx.call_script(&path, usual, arguments, node.span) {
        Some(Json::Array(tests)) => tests.iter().map(|test| SourceNode::of_json(test, node.span)).collect(),
        Some(_) => {
            cx.error(Code::BadValue, node.span, format!("`{path}` does not answer with a list of tests"));
            Vec::new()
        }
        None => Vec::new(),
    }
}

fn read_test_file(cx: &Context<'_>, file: FileId, asked: SourceSpan, rules: TestRules) -> Vec<SourceNode> {
    let path = cx.path_of(file);
    let extension =
        path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    if file == asked.file {
        cx.error(Code::Cycle, asked, "this file names itself as the file of its tests");
        return Vec::new();
    }
    match extension.as_str() {
        "csv" => {
            let before = cx.n_errors();
            let table: Vec<TestRow> = rows::rows_of(cx, file, asked);
            if cx.n_errors() == before {
                check_table_header(cx, file, table.first(), asked);
            }
            cx.merge_row_problems(file);
            match rules {
                TestRules::Promptfoo => {
                    table.iter().filter_map(|row| read_test_row(cx, row, file, asked)).collect()
                }
                TestRules::Agentv => {
                    let rows = table.into_iter().enumerate();
                    rows.filter_map(|(at, row)| read_agentv_test_row(cx, row, at, file, asked)).collect()
                }
            }
        }
        "jsonl" => {
            let tests = rows::lines(cx, file);
            cx.merge_row_problems(file);
            tests
        }
        "yaml" | "yml" | "json" => {
            let Some(parsed) = cx.parse(file) else { return Vec::new() };
            let inner = parsed.get("tests").filter(|tests| tests.list().is_some()).unwrap_or(&parsed);
            match inner.list() {
                Some(_) => read_test_nodes(cx, inner, rules),
                None => vec![parsed],
            }
        }
        _ => {
            let message = format!("tests cannot be read from `{}`", path.display());
            cx.report(
                Diagnostic::error(Code::Unsupported, asked, message)
                    .note("understood: .csv, .jsonl, .json, .yaml, .yml, .js, .py")
                    .help("save it as a CSV file, and name that file"),
            );
            Vec::new()
        }
    }
}

/// A row of a table of tests, and the line on which it begins.
struct TestRow {
    cells: DataRow,
    line: u32,
}

impl RowStorage for TestRow {
    fn of_row(cells: DataRow, line: u32) -> Self {
        Self { cells, line }
    }

    fn of_line(_: &Arc<str>, _: Range<u32>, cells: DataRow, line: u32) -> Self {
        Self { cells, line }
    }
}

/// A table without a line of names loses its first test, and its columns are no variables.
fn check_table_header(cx: &Context<'_>, file: FileId, first: Option<&TestRow>, asked: SourceSpan) {
    const HELP: &str = "begin the table with the names of its columns, such as `question,__expected`";
    let Some(first) = first else {
        let path = cx.path_of(file);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("`{name}` holds no tests");
        cx.report(Diagnostic::error(Code::Empty, asked, message).help(HELP));
        return;
    };
    let report = |message: String, note: &str, help: &str| {
        let end = cx.text_of(file).lines().next().map_or(0, str::len);
        let span = SourceSpan { file, start: 0, end: end as u32 };
        cx.report(Diagnostic::error(Code::BadRow, span, message).note(note).help(help));
    };
    let mut names = first.cells.keys();
    let is_number = |name: &str| name.parse::<f64>().is_ok_and(f64::is_finite);
    let mut written = first.cells.keys().map(String::as_str).map(str::trim).filter(|name| !name.is_empty());
    let is_plain_data = written.next().is_some_and(is_number) && written.all(is_number);
    if is_plain_data {
        let message = "the table lacks a line with the names of its columns".to_owned();
        let note =
            "its first line has only numbers, and promptfoo and AgentV read it as the names of the columns";
        report(message, note, HELP);
        return;
    }
    if let Some(cell) = names.clone().find(|key| is_assertion_text(key)) {
        let note = "promptfoo and AgentV read the first line of a table as the names of its columns";
        report(format!("`{cell}` is an assertion, and not the name of a column"), note, HELP);
    }
    if let Some(cell) = names.find(|key| key.contains(";__") || key.contains("\t__")) {
        let note = "its assertions would be the text of a variable; promptfoo takes another separator only from the variable PROMPTFOO_CSV_DELIMITER";
        report(format!("`{cell}` is the name of one column"), note, "separate the columns by commas");
    }
}

/// Whether a cell is written as `type:value`, as the cells of `__expected` are.
fn is_assertion_text(cell: &str) -> bool {
    let Some((kind, _)) = cell.trim().split_once(':') else { return false };
    let kind = kind.strip_prefix("not-").unwrap_or(kind);
    let kind = kind.split('(').next().unwrap_or(kind);
    let is_known = |entries| catalogue::find_catalogue_entry(entries, kind).is_some();
    kind == "llm-rubric" || is_known(CHECKS) || is_known(RECIPES)
}

/// A row of a table: columns are variables, except those that begin with two underscores.
///
/// The test is written on the line of its row. The files that its cells name are looked for where `span` is, in the
/// folder of the configuration.
fn read_test_row(cx: &Context<'_>, row: &TestRow, file: FileId, span: SourceSpan) -> Option<SourceNode> {
    let (mut vars, mut asserted, mut options, mut metadata) =
        (Map::new(), Vec::new(), Map::new(), Map::new());
    let mut test = Vec::new();
    let mut thresholds: Vec<(usize, f64)> = Vec::new();
    let mut metric = None;
    for (key, value) in &row.cells {
        let (key, cell) = (key.trim(), value.as_str().unwrap_or_default());
        let number = || cell.trim().parse::<f64>().ok().and_then(crate::source::json_number);
        match key.strip_prefix("__") {
            None => drop(vars.insert(key.to_owned(), Json::from(cell))),
            Some(_) if cell.trim().is_empty() => {}
            Some(kind) if kind.starts_with("expected") => {
                asserted.push((assertion_number(kind), read_assertion_text(cell.trim())));
            }
            Some(kind @ ("prefix" | "suffix")) => drop(options.insert(kind.to_owned(), Json::from(cell))),
            Some("description") => test.push(("description", text_node(cell, span))),
            Some("providerOutput") => test.push(("providerOutput", text_node(cell, span))),
            Some("metric") => metric = Some(cell.to_owned()),
            Some("threshold") => {
                test.extend(number().map(|number| ("threshold", SourceNode::of_json(&number, span))));
            }
            Some(kind) => match (kind.strip_prefix("metadata:"), kind.strip_prefix("config:__expected")) {
                (Some(name), _) => drop(metadata.insert(
                    name.trim_end_matches("[]").to_owned(),
                    if name.ends_with("[]") { split_cell(cell) } else { Json::from(cell) },
                )),
                (None, Some(rest)) if rest.ends_with(":threshold") => {
                    let at = rest.trim_end_matches(":threshold").parse::<usize>().unwrap_or(1);
                    thresholds.extend(cell.trim().parse::<f64>().ok().map(|number| (at, number)));
                }
                _ => {
                    let message = format!("the column `{key}` is not understood");
                    cx.report(Diagnostic::error(Code::UnknownKey, span, message).note(
                        "understood: __expected, __prefix, __suffix, __description, __providerOutput, __metric, __threshold, __metadata:name, __config:__expected1:threshold",
                    ));
                    return None;
                }
            },
        }
    }
    // Columns come in the order of their names, in which 10 is before 2.
    asserted.sort_by_key(|(number, _)| *number);
    let mut asserted: Vec<Map<String, Json>> = asserted.into_iter().map(|(_, assertion)| assertion).collect();
    for (at, assertion) in asserted.iter_mut().enumerate() {
        let own = thresholds.iter().find(|(number, _)| *number == at + 1);
        assertion.extend(own.map(|(_, threshold)| ("threshold".to_owned(), Json::from(*threshold))));
        assertion.extend(metric.clone().map(|metric| ("metric".to_owned(), Json::from(metric))));
    }
    let node = |value: Json| SourceNode::of_json(&value, span);
    test.push(("vars", node(Json::Object(vars))));
    if !asserted.is_empty() {
        test.push(("assert", node(asserted.into_iter().map(Json::Object).collect())));
    }
    for (key, map) in [("options", options), ("metadata", metadata)] {
        if !map.is_empty() {
            test.push((key, node(Json::Object(map))));
        }
    }
    Some(map_node(test, cx.span_of_line(file, row.line)))
}

/// The number of a column `__expected2`; the one without a number is the first.
fn assertion_number(kind: &str) -> usize {
    let number = kind.strip_prefix("expected").unwrap_or_default();
    if number.is_empty() { 0 } else { number.parse().unwrap_or(usize::MAX) }
}

/// A row of a table of AgentV. Its columns are those of promptfoo, except that `id` and `input` are those of the test,
/// `__description` is what the answer must do, and a name with dots below `vars` is a value in a mapping.
fn read_agentv_test_row(
    cx: &Context<'_>,
    mut row: TestRow,
    at: usize,
    file: FileId,
    span: SourceSpan,
) -> Option<SourceNode> {
    let place = cx.span_of_line(file, row.line);
    let mut take = |name: &str| {
        let key = row.cells.keys().find(|key| key.trim() == name)?.clone();
        let cell = row.cells.remove(&key)?;
        cell.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    };
    let (id, criteria, input) = (take("id"), take("__description"), take("input"));
    let [prefix, suffix] = ["__prefix", "__suffix"].map(|name| {
        let text = take(name)?;
        if input.is_none() {
            let message = format!("`{name}` has no effect here: the table has no column `input`");
            cx.report(Diagnostic::warning(Code::NoEffect, span, message));
        }
        Some(text)
    });
    let input =
        input.map(|input| format!("{}{input}{}", prefix.unwrap_or_default(), suffix.unwrap_or_default()));
    let mut vars = Map::new();
    row.cells.retain(|key, cell| match key.trim().strip_prefix("vars.") {
        Some(path) => {
            let names: Vec<&str> = path.splitn(MAX_PATH, '.').map(str::trim).collect();
            insert_at_path(&mut vars, &names, cell.take());
            false
        }
        None => true,
    });
    // Prompts name the input like a variable.
    vars.extend(input.clone().map(|input| ("input".to_owned(), Json::from(input))));
    let mut test = read_test_row(cx, &row, file, span)?;
    let NodeShape::Map(entries) = &mut test.shape else { return None };
    if let Some(NodeShape::Map(own)) =
        entries.iter_mut().find(|entry| entry.key == "vars").map(|entry| &mut entry.value.shape)
    {
        let vars = vars.iter().map(|(name, value)| NodeEntry {
            key: name.clone(),
            key_span: span,
            value: SourceNode::of_json(value, span),
        });
        own.extend(vars);
    }
    // Descriptions may repeat, as in several tables whose rows have no id.
    let description = id.is_none().then(|| format!("row-{}", at + 1));
    let cells = [
        ("id", id, place),
        ("description", description, place),
        ("criteria", criteria, span),
        ("input", input, span),
    ];
    entries.extend(cells.into_iter().filter_map(|(key, cell, span)| {
        Some(NodeEntry { key: key.to_owned(), key_span: place, value: text_node(cell?, span) })
    }));
    Some(test)
}

/// Mappings that the name of a column may lead into.
const MAX_PATH: usize = 16;

/// Sets a value in a mapping, or in a mapping below it.
fn insert_at_path(map: &mut Map<String, Json>, path: &[&str], value: Json) {
    match path {
        [] => {}
        [name] => drop(map.insert((*name).to_owned(), value)),
        [name, rest @ ..] => {
            let inner = map.entry(*name).or_insert_with(|| json!({}));
            if !inner.is_object() {
                *inner = json!({});
            }
            if let Json::Object(inner) = inner {
                insert_at_path(inner, rest, value);
            }
        }
    }
}

/// Texts between commas; a comma after a backslash is part of its text.
fn split_cell(cell: &str) -> Json {
    let held = cell.replace("\\,", "\u{e000}");
    held.split(',').map(|part| Json::from(part.trim().replace('\u{e000}', ","))).collect()
}

/// Types that take a threshold in brackets.
const WITH_THRESHOLD: [&str; 13] = [
    "answer-relevance",
    "classifier",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "cost",
    "latency",
    "levenshtein",
    "perplexity",
    "perplexity-score",
    "rouge-n",
    "similar",
    "starts-with",
];

static TYPED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)^(not-)?([a-z][a-z:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?$").expect("a valid pattern")
});

/// What a cell asserts: `type:value`, `type(threshold):value`, or the text that the answer must equal.
fn read_assertion_text(text: &str) -> Map<String, Json> {
    let assertion = |kind: &str, value: &str| -> Map<String, Json> {
        let value = Some(value).filter(|value| !value.is_empty());
        let value = value.map(|value| ("value".to_owned(), Json::from(value)));
        [("type".to_owned(), Json::from(kind))].into_iter().chain(value).collect()
    };
    let is_file = |ends: &[&str]| {
        let path = text.rsplit_once(':').map_or(text, |(path, _)| if path == "file" { text } else { path });
        text.starts_with("file://") && ends.iter().any(|end| path.ends_with(end) || text.ends_with(end))
    };
    for (start, kind) in
        [("javascript:", "javascript"), ("fn:", "javascript"), ("eval:", "javascript"), ("python:", "python")]
    {
        if let Some(code) = text.strip_prefix(start) {
            return assertion(kind, code.trim());
        }
    }
    if let Some(rubric) = text.strip_prefix("grade:").or_else(|| text.strip_prefix("llm-rubric:")) {
        return assertion("llm-rubric", rubric.trim());
    }
    if is_file(&[".js", ".mjs", ".cjs", ".ts"]) {
        return assertion("javascript", text);
    }
    if is_file(&[".py"]) {
        return assertion("python", text);
    }
    let typed = TYPED.captures(text).filter(|typed| is_known_type(&typed[2]));
    let Some(typed) = typed else { return assertion("equals", text) };
    let kind = &typed[2];
    let mut asserted = assertion(
        &format!("{}{kind}", typed.get(1).map_or("", |not| not.as_str())),
        typed.get(4).map_or("", |it| it.as_str().trim()),
    );
    if WITH_THRESHOLD.contains(&kind) && kind != "starts-with" {
        let default = if kind == "similar" { 0.8 } else { 0.75 };
        let threshold = typed.get(3).and_then(|number| number.as_str().parse().ok()).unwrap_or(default);
        asserted.insert("threshold".to_owned(), json!(threshold));
    }
    if ["latency", "cost"].contains(&kind) {
        asserted.remove("value");
    }
    asserted
}

fn is_known_type(kind: &str) -> bool {
    use crate::catalogue::{CHECKS, RECIPES};
    let named = CHECKS.iter().chain(RECIPES).any(|entry| entry.name == kind && !kind.contains('_'));
    named || super::super::agentv::REFUSED_TYPES.iter().any(|(name, _)| *name == kind)
}

/// The variables of a test: a mapping, or files of such mappings.
pub(in crate::dialect) fn read_variables(cx: &Context<'_>, node: &SourceNode) -> Vec<NodeEntry> {
    match &node.shape {
        NodeShape::Map(entries) => entries.clone(),
        NodeShape::List(items) => items.iter().flat_map(|item| read_variables(cx, item)).collect(),
        NodeShape::Scalar(_) => {
            let Some(path) = cx.path(node, "vars") else { return Vec::new() };
            let files = if path.contains(['*', '?']) {
                rows::find_files(cx, &path, node.span)
            } else {
                cx.find(&path, node.span).into_iter().collect()
            };
            let parsed = files.into_iter().filter_map(|file| cx.parse(file));
            parsed.flat_map(|node| cx.entries(&node, "vars").unwrap_or_default().to_vec()).collect()
        }
    }
}

/// What a variable may be: its value, what a file holds, or one value for each file of a pattern.
pub(in crate::dialect) fn read_variable_values(
    cx: &Context<'_>,
    entry: &NodeEntry,
    others: &Map<String, Json>,
) -> Vec<Json> {
    let node = &entry.value;
    // The first item decides: a list of numbers is one value.
    let is_text = |item: &SourceNode| item.scalar().is_some() && item.to_json().is_string();
    let items = match &node.shape {
        NodeShape::List(items) if items.first().is_some_and(is_text) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    items
        .iter()
        .flat_map(|item| match item.text().and_then(|text| text.strip_prefix("file://")) {
            Some(_) => read_variable_files(cx, &entry.key, item, others),
            None => vec![cx.json(item)],
        })
        .collect()
}

fn read_variable_files(
    cx: &Context<'_>,
    name: &str,
    node: &SourceNode,
    others: &Map<String, Json>,
) -> Vec<Json> {
    let Some(path) = cx.path(node, name) else { return Vec::new() };
    if path.contains(['*', '?']) {
        let files = rows::find_files(cx, &path, node.span);
        return files.into_iter().filter_map(|file| read_variable_file(cx, file)).collect();
    }
    let extension = Path::new(&path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let (file, _) = path.rsplit_once(':').unwrap_or((&path, ""));
    if ["js", "mjs", "cjs", "ts", "py"].iter().any(|end| file.ends_with(&format!(".{end}"))) {
        let arguments = [json!(name), json!(""), Json::Object(others.clone()), json!({})];
        let answer = cx.call_script(&path, "get_var", &arguments, node.span);
        let value = |answer: Json| answer.get("output").cloned().unwrap_or(answer);
        return answer.map(value).into_iter().collect();
    }
    if MEDIA.contains(&extension.to_lowercase().as_str()) {
        cx.report(
            Diagnostic::error(Code::Unsupported, node.span, format!("`{path}` is not text"))
                .note("images, sound and documents as variables are not supported"),
        );
        return Vec::new();
    }
    cx.find(&path, node.span).and_then(|file| read_variable_file(cx, file)).into_iter().collect()
}

/// Files that promptfoo hands to a model as they are.
const MEDIA: [&str; 14] =
    ["png", "jpg", "jpeg", "gif", "webp", "bmp", "svg", "pdf", "docx", "mp3", "wav", "mp4", "webm", "m4a"];

/// The text of a file; YAML becomes JSON, as it does in promptfoo.
fn read_variable_file(cx: &Context<'_>, file: FileId) -> Option<Json> {
    let path = cx.path_of(file);
    let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    if is_yaml {
        return cx.parse(file).map(|node| Json::String(node.to_json().to_string()));
    }
    Some(Json::String(cx.text_of(file).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_which_assertion_it_is() {
        let check = |text: &str, expected: Json| {
            assert_eq!(Json::Object(read_assertion_text(text)), expected, "{text}");
        };
        check("Paris", json!({ "type": "equals", "value": "Paris" }));
        check("contains: Paris", json!({ "type": "contains", "value": "Paris" }));
        check("not-contains:x", json!({ "type": "not-contains", "value": "x" }));
        check("similar(0.9):Paris", json!({ "type": "similar", "value": "Paris", "threshold": 0.9 }));
        check("similar:Paris", json!({ "type": "similar", "value": "Paris", "threshold": 0.8 }));
        check("is-json", json!({ "type": "is-json" }));
        check("grade: is polite", json!({ "type": "llm-rubric", "value": "is polite" }));
        check("fn:output.length < 5", json!({ "type": "javascript", "value": "output.length < 5" }));
        check("latency(500)", json!({ "type": "latency", "threshold": 500.0 }));
        check("file://check.py", json!({ "type": "python", "value": "file://check.py" }));
        check("Note: read this", json!({ "type": "equals", "value": "Note: read this" }));
    }
}
