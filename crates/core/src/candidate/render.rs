//! A trace as text: for a judge, within a budget, and for a person.

use std::fmt::Write as _;

use super::trace::{StepRole, Trace, TraceStep};
use crate::quantity::plural;

/// About how many characters a token has; judges' providers count exactly, afterwards.
const CHARS_PER_TOKEN: usize = 4;

/// The trace for a judge: whole if it fits, otherwise without its middle and with a note about that.
pub fn render_trace_for_judge(trace: &Trace, max_tokens: usize) -> String {
    let blocks: Vec<String> =
        trace.steps.iter().enumerate().map(|(at, step)| render_step_block(at + 1, step)).collect();
    let budget = max_tokens.saturating_mul(CHARS_PER_TOKEN);
    let total: usize = blocks.iter().map(|block| block.chars().count() + 1).sum();
    if total <= budget {
        return blocks.join("\n");
    }
    // The task is at the beginning and the outcome at the end; both matter more than the steps in between.
    let (mut head, mut tail, mut left) = (0, 0, budget);
    while head + tail < blocks.len() {
        let from_head = head <= tail;
        let next = if from_head { &blocks[head] } else { &blocks[blocks.len() - 1 - tail] };
        let cost = next.chars().count() + 1;
        if left < cost {
            break;
        }
        left -= cost;
        if from_head { head += 1 } else { tail += 1 }
    }
    let omitted = blocks.len() - head - tail;
    let note = format!("[{omitted} of {} steps left out here to fit]\n", blocks.len());
    let first = if head == 0 { shorten(&blocks[0], left) } else { blocks[..head].join("\n") };
    format!("{first}\n{note}{}", blocks[blocks.len() - tail..].join("\n"))
}

fn shorten(text: &str, n_chars: usize) -> String {
    text.chars().take(n_chars).collect::<String>() + " […]"
}

fn render_step_block(number: usize, step: &TraceStep) -> String {
    let mut out = format!("[{number}] {}\n", step_title(step));
    render_step_body(step, &mut out, usize::MAX);
    out
}

fn step_title(step: &TraceStep) -> String {
    let role = match step.role {
        StepRole::System => "system",
        StepRole::User => "user",
        StepRole::Assistant => "assistant",
        StepRole::Tool => "tool",
        StepRole::Other => "other",
    };
    match &step.agent {
        Some(agent) => format!("{role} ({agent})"),
        None if 0 < step.depth => format!("{role} (sub-agent)"),
        None => role.to_owned(),
    }
}

fn render_step_body(step: &TraceStep, out: &mut String, n_lines: usize) {
    if !step.reasoning.is_empty() {
        let _ = writeln!(out, "(thinks) {}", clip_lines(&step.reasoning, n_lines));
    }
    if !step.text.is_empty() {
        let _ = writeln!(out, "{}", clip_lines(&step.text, n_lines));
    }
    for call in &step.tool_calls {
        let arguments = serde_json::Value::Object(call.arguments.clone());
        let _ = writeln!(out, "→ {} {}", call.name, clip_lines(&arguments.to_string(), n_lines));
    }
    for result in &step.results {
        let mark = if result.error { "✗" } else { "←" };
        let name = result.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
        let _ = writeln!(out, "{mark} {name}{}", clip_lines(&result.text, n_lines));
    }
    for file in &step.files {
        let _ = writeln!(out, "± {} +{} −{}", file.path, file.added, file.removed);
    }
    if let Some(screenshot) = &step.screenshot {
        let _ = writeln!(out, "▣ {screenshot}");
    }
}

fn clip_lines(text: &str, n_lines: usize) -> String {
    let mut lines = text.trim_end().lines();
    let shown: Vec<&str> = lines.by_ref().take(n_lines).collect();
    let hidden = lines.count();
    let more = match hidden {
        0 => String::new(),
        1 => "\n… 1 more line".to_owned(),
        _ => format!("\n… {hidden} more lines"),
    };
    shown.join("\n") + &more
}

/// Sub-agents deeper than this are not indented further; a file may say any depth.
const MAX_INDENT: u32 = 20;

/// The trace for a person: numbered messages, long texts cut to `n_lines`, sub-agents indented.
///
/// Messages of agents deeper than `depth` are folded into a line that counts them.
/// What an agent wrote cannot steer the terminal it is shown on.
pub fn render_trace_for_person(trace: &Trace, n_lines: usize, depth: u32) -> String {
    let mut out = String::new();
    let mut steps = trace.steps.iter().enumerate().peekable();
    while let Some((at, step)) = steps.next() {
        let indent = "  ".repeat(step.depth.min(MAX_INDENT) as usize);
        if depth < step.depth {
            let mut folded = vec![step];
            while let Some((_, next)) = steps.next_if(|step| depth < step.1.depth) {
                folded.push(next);
            }
            let n_calls: usize = folded.iter().map(|step| step.tool_calls.len()).sum();
            let n_messages = folded.len();
            let title = step_title(step);
            let _ = writeln!(
                out,
                "{indent}{:>3}  ▸ {title}: {} and {} folded",
                at + 1,
                plural(n_messages, "message"),
                plural(n_calls, "tool call")
            );
            continue;
        }
        let _ = writeln!(out, "{indent}{:>3}  {}", at + 1, step_title(step));
        let mut text = String::new();
        render_step_body(step, &mut text, n_lines);
        for line in text.lines() {
            let line = line.replace(|line: char| line.is_control() && line != '\t', "\u{fffd}");
            let _ = writeln!(out, "{indent}     {line}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_loses_its_middle_and_says_so() {
        let steps = (0..100)
            .map(|n| TraceStep::new(StepRole::Assistant, format!("step {n} {}", "x".repeat(100))))
            .collect();
        let trace = Trace { steps, ..Trace::default() };
        let text = render_trace_for_judge(&trace, 300);
        assert!(text.chars().count() <= 300 * CHARS_PER_TOKEN + 60, "{}", text.len());
        assert!(text.contains("step 0 ") && text.contains("step 99 ") && !text.contains("step 50 "));
        assert!(text.contains("of 100 steps left out"), "{text}");
        assert!(render_trace_for_judge(&trace, 100_000).contains("step 50 "));
    }

    #[test]
    fn what_sub_agents_did_can_be_folded() {
        let step =
            |depth| TraceStep { depth, ..TraceStep::new(StepRole::Assistant, format!("at depth {depth}")) };
        let trace = Trace { steps: [0, 1, 2, 1, 0].map(step).to_vec(), ..Trace::default() };
        let whole = render_trace_for_person(&trace, 9, u32::MAX);
        assert_eq!(whole.matches("at depth").count(), 5, "{whole}");
        let folded = render_trace_for_person(&trace, 9, 0);
        assert_eq!(folded.matches("at depth").count(), 2, "{folded}");
        assert!(folded.contains("▸ assistant (sub-agent): 3 messages and 0 tool calls folded"), "{folded}");
        assert!(
            render_trace_for_person(&trace, 9, 1).contains("▸ assistant (sub-agent): 1 message and"),
            "{folded}"
        );
    }
}
