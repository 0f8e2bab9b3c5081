//! The candidate of a case, on a terminal: the prompt, the tool calls and the answer.

use std::io::Write;

use jurist_core::candidate::{JudgeInput, ToolCall, Trace};
use jurist_core::quantity::plural;

use super::printable_line;
use crate::render::printable;

/// The largest number of letters of one text that are printed; the JSON report has all of them.
const MAX_TEXT_LETTERS: usize = 4_000;

/// Letters of one tool call.
const MAX_CALL_LETTERS: usize = 300;

/// Tool calls that are listed.
const MAX_CALLS: usize = 50;

/// Shows what a run has stored of a candidate; nothing if it was stored without it.
pub fn show_candidate(out: &mut impl Write, material: &JudgeInput) -> anyhow::Result<()> {
    let (task, answer) = (material.task.trim(), material.answer().trim());
    let diff = material.diff.as_deref().unwrap_or_default().trim();
    if !task.is_empty() {
        show_text(out, "prompt", task)?;
    }
    let calls: Vec<&ToolCall> = material.trace.iter().flat_map(Trace::tool_calls).collect();
    for call in calls.iter().take(MAX_CALLS) {
        let arguments = serde_json::Value::Object(call.arguments.clone());
        let line = printable_line(&format!("{} {arguments}", call.name));
        let cut = cut_letters(&line, MAX_CALL_LETTERS);
        let more = if cut.n_left == 0 { "" } else { "…" };
        writeln!(out, "    tool call: {}{more}", cut.text)?;
    }
    if MAX_CALLS < calls.len() {
        writeln!(out, "    … and {}", plural(calls.len() - MAX_CALLS, "more tool call"))?;
    }
    if !answer.is_empty() {
        show_text(out, "answer", answer)?;
    }
    if !diff.is_empty() {
        show_text(out, "diff", diff)?;
    }
    let has_candidate = material.response.is_some() || material.trace.is_some();
    if has_candidate && answer.is_empty() && diff.is_empty() {
        writeln!(out, "    the answer is empty")?;
    }
    Ok(())
}

/// A text of one line next to its title, and a longer one below it.
fn show_text(out: &mut impl Write, title: &str, text: &str) -> anyhow::Result<()> {
    let cut = cut_letters(text, MAX_TEXT_LETTERS);
    let safe_text = printable(cut.text);
    if safe_text.contains('\n') {
        writeln!(out, "    {title}:")?;
        for line in safe_text.lines() {
            writeln!(out, "        {line}")?;
        }
    } else {
        writeln!(out, "    {title}: {safe_text}")?;
    }
    if 0 < cut.n_left {
        let n_left = plural(cut.n_left, "more letter");
        writeln!(out, "        … {n_left}; `jurist report RUN --reporter json` writes all of them")?;
    }
    Ok(())
}

struct CutText<'a> {
    text: &'a str,
    n_left: usize,
}

fn cut_letters(text: &str, n_letters: usize) -> CutText<'_> {
    match text.char_indices().nth(n_letters) {
        Some((end, _)) => CutText { text: &text[..end], n_left: text[end..].chars().count() },
        None => CutText { text, n_left: 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(material: serde_json::Value) -> String {
        let material: JudgeInput = serde_json::from_value(material).expect("what was graded");
        let mut output = Vec::new();
        show_candidate(&mut output, &material).expect("memory is writable");
        String::from_utf8(output).expect("text")
    }

    #[test]
    fn long_texts_are_cut_and_empty_answers_are_named() {
        let output = show(serde_json::json!({ "task": "Why?", "response": "x".repeat(4_002) }));
        assert!(output.starts_with("    prompt: Why?\n    answer: xxx"), "{output}");
        assert!(output.contains("x\n        … 2 more letters; "), "{output}");
        assert_eq!(show(serde_json::json!({ "response": " " })), "    the answer is empty\n");
        assert_eq!(show(serde_json::json!({ "diff": "+a\n-b" })), "    diff:\n        +a\n        -b\n");
        assert_eq!(show(serde_json::json!({})), "");
    }
}
