//! The author's own prompt: which variables it may name.

use minijinja::Environment;

use crate::diagnostic::closest;

/// Steps that filling in an author's prompt may take; enough for any honest one.
pub const TEMPLATE_FUEL: u64 = 200_000;

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
pub(super) fn fault(text: &str) -> Option<String> {
    let mut environment = Environment::new();
    if let Err(error) = environment.add_template("prompt", text) {
        let line = error.line().map(|it| format!(" in line {it}")).unwrap_or_default();
        return Some(format!(
            "the prompt is not a template{line}: {}",
            error.detail().unwrap_or("syntax error")
        ));
    }
    let template = environment.get_template("prompt").ok()?;
    let mut unknown: Vec<String> = template
        .undeclared_variables(false)
        .into_iter()
        .filter(|it| it != "row" && !VARIABLES.contains(&it.as_str()))
        .collect();
    unknown.sort();
    let name = unknown.first()?;
    let hint = match closest(name, &VARIABLES) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it may name {}", VARIABLES.join(", ")),
    };
    Some(format!("the prompt names `{name}`, which is nothing a judge gets; {hint}"))
}
