//! The folder that an agent works in, and the programs that prepare it.

use super::read_header_value;
use crate::diagnostic::Code;
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::source::SourceNode;
use crate::suite::{SetupProgram, Workspace};

/// A folder, or `{path, git, setup}`.
pub(super) fn read_native_workspace(cx: &Context<'_>, node: &SourceNode) -> Option<Workspace> {
    if node.map().is_none() {
        return Some(Workspace { path: Some(cx.path(node, "workspace")?), ..Workspace::default() });
    }
    let fields = MappingReader::new(cx, node, "workspace")?;
    let setup = fields.get("setup").map(|node| read_setup_programs(cx, node)).unwrap_or_default();
    let git = fields.text("git");
    // Programs can fill an empty folder; a commit needs a repository.
    let needs_path = !fields.has("setup") || git.is_some();
    let path = if needs_path { fields.need("path") } else { fields.get("path") };
    let path = path.and_then(|node| cx.path(node, "path"));
    fields.finish();
    (path.is_some() || !needs_path).then_some(Workspace { path, git, setup })
}

/// One program or several.
fn read_setup_programs(cx: &Context<'_>, node: &SourceNode) -> Vec<SetupProgram> {
    let items = node.list().unwrap_or_default();
    if items.iter().any(|item| item.scalar().is_none()) {
        items.iter().filter_map(|item| read_setup_program(cx, item)).collect()
    } else {
        read_setup_program(cx, node).into_iter().collect()
    }
}

/// The words of a program, or a mapping with its `command`.
fn read_setup_program(cx: &Context<'_>, node: &SourceNode) -> Option<SetupProgram> {
    if node.map().is_none() {
        let command = read_program_words(cx, node, "setup")?;
        return Some(SetupProgram { command, ..SetupProgram::default() });
    }
    let fields = MappingReader::new(cx, node, "setup program")?;
    let command = fields.need("command").and_then(|node| read_program_words(cx, node, "command"));
    let function = fields.name("function");
    if function.is_some() && command.as_ref().is_some_and(|words| words.len() != 1) {
        let message = "`command` must be the JavaScript file alone if it has a `function`";
        cx.error(Code::BadValue, fields.key_span("command"), message);
    }
    let cwd = fields.get("cwd").and_then(|node| cx.path(node, "cwd"));
    let variables = fields.map("env").unwrap_or_default().iter();
    let env = variables
        .filter_map(|entry| Some((entry.key.clone(), read_header_value(cx, &entry.value, &entry.key)?)))
        .collect();
    let timeout = fields.number_in("timeout", 0.001..=86_400.0);
    fields.finish();
    Some(SetupProgram { command: command?, function, cwd, env, timeout })
}

fn read_program_words(cx: &Context<'_>, node: &SourceNode, what: &str) -> Option<Vec<String>> {
    let words = cx.list(node, what)?;
    if words.is_empty() {
        cx.error(Code::Empty, node.span, format!("`{what}` names no program"));
        return None;
    }
    words.iter().map(|word| cx.scalar_text(word, what)).collect()
}
