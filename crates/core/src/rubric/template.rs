//! The author's own prompt: which variables it may name.

use super::bounded_template::undeclared_names;
use crate::diagnostic::closest;

/// What a prompt may name; several words for one thing, as other tools have them.
pub const VARIABLES: [&str; 19] = [
    "criteria",
    "rubric",
    "rubrics",
    "criterion",
    "input",
    "question",
    "task",
    "output",
    "answer",
    "candidate_answer",
    "response",
    "expected_output",
    "reference_answer",
    "reference",
    "context",
    "tool_calls",
    "trace",
    "file_changes",
    "diff",
];

/// What is wrong with a prompt, if anything.
pub(crate) fn find_prompt_fault(text: &str) -> Option<String> {
    let mut unknown = match undeclared_names(text) {
        Ok(names) => names,
        Err(why) => return Some(why),
    };
    unknown.retain(|name| name != "row" && !VARIABLES.contains(&name.as_str()));
    unknown.sort();
    let name = unknown.first()?;
    let hint = match closest(name, &VARIABLES) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it may name {}", VARIABLES.join(", ")),
    };
    Some(format!("the prompt names `{name}`, which is nothing a judge gets; {hint}"))
}
