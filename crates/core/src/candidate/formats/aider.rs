//! Aider's chat history: Markdown with the user behind `####` and the tool behind `>`.

use serde_json::Value;

use super::message::money;
use crate::candidate::diff::FileChange;
use crate::candidate::trace::{StepRole, ToolResult, Trace, TraceStep};

const START: &str = "# aider chat started at";

pub(super) fn is_aider_history(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let has = |mark: &str| text.lines().any(|line| line.starts_with(mark));
    has(START) || (has("<<<<<<< SEARCH") && has("#### "))
}

#[derive(Clone, Copy, PartialEq)]
enum AiderLineMark {
    User,
    Tool,
    Start,
}

pub(super) fn read_aider_history(value: &Value) -> Trace {
    let text = value.as_str().unwrap_or_default().replace("\r\n", "\n");
    let mut steps: Vec<TraceStep> = Vec::new();
    let (mut fence, mut after_blank, mut echo) = (false, true, false);
    let mut last: Option<AiderLineMark> = None;
    for line in text.lines() {
        // Inside code a mark counts only if it looks exactly like one of aider's own lines.
        let real = !fence || (after_blank && line.ends_with("  "));
        let mark = classify_aider_line(line).filter(|_| real);
        after_blank = line.trim().is_empty();
        if mark.is_some() {
            (fence, echo) = (false, false);
        } else if line.starts_with("```") {
            fence = !fence;
        }
        match mark {
            Some(AiderLineMark::Start) => last = Some(AiderLineMark::Start),
            Some(kind) => {
                let said = line.trim_start_matches(['#', '>']).trim();
                let role = if kind == AiderLineMark::User { StepRole::User } else { StepRole::Tool };
                append_step_line(&mut steps, role, said, last == Some(kind));
                echo = said.contains("SEARCH/REPLACE block") && said.contains("failed to match");
                last = Some(kind);
            }
            // A line may hold only the cost, and a failed block is printed again; both have no mark.
            None if echo || (last == Some(AiderLineMark::Tool) && line.starts_with("Cost: $")) => {
                append_step_line(&mut steps, StepRole::Tool, line.trim_end(), true);
                if line.starts_with("The SEARCH section must exactly match") {
                    (echo, fence) = (false, false);
                }
            }
            None if last == Some(AiderLineMark::Start) && line.trim().is_empty() => {}
            None if line.trim().is_empty() && last.is_some() => {}
            None => {
                let goes_on =
                    last.is_none() && steps.last().is_some_and(|step| step.role == StepRole::Assistant);
                append_step_line(&mut steps, StepRole::Assistant, line, goes_on);
                last = None;
            }
        }
    }
    build_aider_trace(steps)
}

fn classify_aider_line(line: &str) -> Option<AiderLineMark> {
    match line {
        _ if line.starts_with(START) => Some(AiderLineMark::Start),
        _ if line.starts_with("#### ") => Some(AiderLineMark::User),
        _ if line.starts_with("> ") || line == ">" => Some(AiderLineMark::Tool),
        _ => None,
    }
}

fn append_step_line(steps: &mut Vec<TraceStep>, role: StepRole, line: &str, goes_on: bool) {
    match steps.last_mut().filter(|step| goes_on && step.role == role) {
        Some(step) => {
            step.text.push('\n');
            step.text.push_str(line);
        }
        None => steps.push(TraceStep::new(role, line)),
    }
}

fn build_aider_trace(mut steps: Vec<TraceStep>) -> Trace {
    let mut trace = Trace::default();
    let mut session = None;
    for at in 0..steps.len() {
        let text = steps[at].text.trim().to_owned();
        match steps[at].role {
            StepRole::Tool => {
                for line in text.lines() {
                    add_reported_tokens(line, &mut trace);
                    let cost = line.split("message, ").nth(1).or_else(|| line.split("request, ").nth(1));
                    let cost =
                        cost.and_then(|cost| cost.split(' ').next()).map(|text| text.trim_start_matches('$'));
                    if let Some(cost) = cost.and_then(|cost| money(&Value::from(cost))) {
                        session = Some(cost);
                    }
                    if line.contains("Aider v") && session.is_some() {
                        trace.cost = trace.cost.map_or(session, |usd| session.map(|more| usd.plus(more)));
                        session = None;
                    }
                }
                let result = ToolResult { text, ..ToolResult::default() };
                steps[at] = TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() };
            }
            StepRole::Assistant => {
                let applied: Vec<String> = steps[at + 1..]
                    .iter()
                    .take_while(|step| step.role == StepRole::Tool)
                    .flat_map(|step| {
                        step.text
                            .lines()
                            .filter_map(|line| line.trim().strip_prefix("Applied edit to "))
                            .map(str::to_owned)
                            .collect::<Vec<_>>()
                    })
                    .collect();
                let (reasoning, text) = thoughts(&text);
                steps[at].reasoning = reasoning;
                steps[at].files = edits(&text)
                    .into_iter()
                    .filter(|file_change| applied.contains(&file_change.path))
                    .collect();
                steps[at].text = text;
            }
            _ => steps[at].text = text,
        }
    }
    if let Some(session) = session {
        trace.cost = Some(trace.cost.map_or(session, |usd| usd.plus(session)));
    }
    trace.steps = steps;
    trace
}

/// Separates the text between `<thinking-content-…>` or `<think>` tags from the rest.
fn thoughts(text: &str) -> (String, String) {
    let Some(start) = text.find("<think") else { return (String::new(), text.to_owned()) };
    let Some(open) = text[start..].find('>').map(|at| start + at + 1) else {
        return (String::new(), text.to_owned());
    };
    let closing = format!("</{}", &text[start + 1..open]);
    let Some(end) = text[open..].find(&closing).map(|at| open + at) else {
        return (String::new(), text.to_owned());
    };
    let rest = format!("{}{}", &text[..start], &text[end + closing.len()..]);
    (text[open..end].trim().to_owned(), rest.trim().to_owned())
}

/// `Tokens: 3.2k sent, 210 received.`
fn add_reported_tokens(line: &str, trace: &mut Trace) {
    let Some(rest) = line.trim().strip_prefix("Tokens: ") else { return };
    for part in rest.split(", ") {
        let mut words = part.split_whitespace();
        let (Some(count), Some(what)) = (words.next().and_then(parse_token_count), words.next()) else {
            continue;
        };
        match what.trim_end_matches('.') {
            "sent" => trace.usage.input += count,
            "received" => trace.usage.output += count,
            "cache" if part.contains("hit") => trace.usage.cached += count,
            _ => {}
        }
    }
}

fn parse_token_count(text: &str) -> Option<u64> {
    let text = text.replace(',', "");
    let (digits, factor) = match text.strip_suffix('k') {
        Some(digits) => (digits.to_owned(), 1000.0),
        None => (text, 1.0),
    };
    digits.parse::<f64>().ok().map(|digit| (digit * factor).round() as u64)
}

/// SEARCH/REPLACE blocks, with the lines that each adds and removes.
fn edits(text: &str) -> Vec<FileChange> {
    let lines: Vec<&str> = text.lines().collect();
    let mut changes: Vec<FileChange> = Vec::new();
    let mut path = String::new();
    let mut at = 0;
    while at < lines.len() {
        if is_rule(lines[at], '<') {
            let before = lines[..at]
                .iter()
                .rev()
                .map(|line| line.trim())
                .find(|text| !text.is_empty() && !text.starts_with("```"));
            if let Some(name) = before.filter(|before| !before.starts_with('>') && !before.contains(' ')) {
                path = name.trim_matches(['`', '*', ':']).to_owned();
            }
            let middle = (at..lines.len()).find(|&index| is_rule(lines[index], '=')).unwrap_or(lines.len());
            let end = (middle..lines.len()).find(|&index| is_rule(lines[index], '>')).unwrap_or(lines.len());
            let old = &lines[(at + 1).min(middle)..middle];
            let new = &lines[(middle + 1).min(end)..end];
            let kept = common_line_count(old, new);
            let (added, removed) = ((new.len() - kept) as u32, (old.len() - kept) as u32);
            match changes.iter_mut().find(|change| change.path == path) {
                Some(change) => {
                    change.added += added;
                    change.removed += removed;
                }
                None => {
                    changes.push(FileChange { path: path.clone(), added, removed, ..FileChange::default() });
                }
            }
            at = end;
        }
        at += 1;
    }
    changes
}

fn is_rule(line: &str, c: char) -> bool {
    let n = line.chars().take_while(|letter| *letter == c).count();
    let rest = line.trim_start_matches(c).trim();
    (5..=9).contains(&n)
        && matches!((c, rest), ('<', "SEARCH" | "ORIGINAL") | ('=', "") | ('>', "REPLACE" | "UPDATED"))
}

/// Length of the longest list of lines that both have, in order.
fn common_line_count(old: &[&str], new: &[&str]) -> usize {
    let mut row = vec![0_usize; new.len() + 1];
    for a in old {
        let mut diagonal = 0;
        for (at, b) in new.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[new.len()]
}
