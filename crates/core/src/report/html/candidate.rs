//! What was graded, part by part, as a person reads it.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::text::{Quotes, clip_to_bytes};
use crate::candidate::diff::FileChange;
use crate::candidate::{
    JudgeInput, StepRole, TRACE_TOKENS, ToolCall, Trace, TraceStep, render_trace_for_judge,
};
use crate::chart::escape_xml;
use crate::quantity::plural;

/// Approximate bytes of a step without its texts.
const STEP: usize = 300;

/// From how many bytes on a text gets a box of its own to scroll in.
const LONG: usize = 1500;

/// A trace of no more steps is shown even together with a response.
const SHORT: usize = 6;

/// So many documents are shown, and so many files of a step.
const MOST_CONTEXT: usize = 20;
const MOST_FILES: usize = 50;

/// What was asked.
pub(super) fn render_task_part(material: &JudgeInput, room: usize) -> String {
    render_folding_part("Task", &render_unquoted_text(&material.task, room / 10), FoldState::Open)
}

/// The candidate, and what it was compared to, within about `room` bytes.
pub(super) fn render_candidate_parts(material: &JudgeInput, quotes: &mut Quotes<'_>, room: usize) -> String {
    let most = room / 5;
    let mut out = String::new();
    if let Some(response) = &material.response {
        out += &render_folding_part(
            "Response",
            &render_quoted_text(quotes, "response", response, most),
            FoldState::Open,
        );
    } else if let Some(output) = &material.raw_output {
        out += &render_folding_part(
            "Output",
            &render_unquoted_text(&format!("{output:#}"), most),
            FoldState::Open,
        );
    }
    if let Some(diff) = material.diff.as_deref().filter(|diff| !diff.trim().is_empty()) {
        out += &render_folding_part(
            "Diff",
            &wrap_in_text_box("diff", diff, &quotes.diff("diff", diff, most)),
            FoldState::Open,
        );
    }
    if let Some(trace) = &material.trace {
        let status = trace
            .status
            .as_deref()
            .map(|status| format!(", {}", clip_to_bytes(status, 80)))
            .unwrap_or_default();
        let title = format!("Trace, {}{status}", plural(trace.steps.len(), "step"));
        let open = material.response.is_none() || quotes.any_under("trace") || trace.steps.len() <= SHORT;
        let fold = if open { FoldState::Open } else { FoldState::Closed };
        out += &render_folding_part(&title, &render_trace_steps(trace, quotes, room / 2), fold);
        if quotes.any_in("trace") {
            let read = read_by_judge(trace);
            let read = wrap_in_text_box("said", &read, &quotes.text("trace", &read, 0));
            out += &render_folding_part("Trace as the judge read it", &read, FoldState::Open);
        }
    }
    out += &render_folding_part(
        "Requirements",
        &render_bullet_list(&material.requirements, most / 2),
        FoldState::Closed,
    );
    let reference = material.reference.as_deref().unwrap_or_default();
    out += &render_folding_part("Reference", &render_unquoted_text(reference, most / 2), FoldState::Closed);
    let share = most / material.context.len().clamp(1, MOST_CONTEXT);
    for (context, at) in material.context.iter().take(MOST_CONTEXT).zip(1..) {
        out += &render_folding_part(
            &format!("Context {at}"),
            &render_unquoted_text(context, share),
            FoldState::Closed,
        );
    }
    out
}

#[derive(Clone, Copy)]
enum FoldState {
    Open,
    Closed,
}

fn render_folding_part(title: &str, html: &str, fold: FoldState) -> String {
    let open = if matches!(fold, FoldState::Open) { " open" } else { "" };
    if html.is_empty() {
        return String::new();
    }
    format!("<details class=\"part\"{open}><summary>{}</summary>{html}</details>\n", escape_xml(title))
}

/// The part that evidence calls `trace`: the agent's own steps as one text.
fn read_by_judge(trace: &Trace) -> String {
    let steps = trace.steps.iter().filter(|step| is_agent_step(step)).cloned().collect();
    render_trace_for_judge(&Trace { steps, ..Trace::default() }, TRACE_TOKENS)
}

/// Messages to an agent are not its own, so they hold no evidence.
fn is_agent_step(step: &TraceStep) -> bool {
    !matches!(step.role, StepRole::User | StepRole::System)
}

/// A text from which nothing is quoted.
fn render_unquoted_text(text: &str, most: usize) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let note = if most < text.len() {
        format!("<span class=\"cut\">{:.1} kB in all</span>", text.len() as f64 / 1000.0)
    } else {
        String::new()
    };
    wrap_in_text_box("said", text, &(escape_xml(&clip_to_bytes(text, most)) + &note))
}

fn render_quoted_text(quotes: &mut Quotes<'_>, part: &str, text: &str, most: usize) -> String {
    if text.trim().is_empty() {
        String::new()
    } else {
        wrap_in_text_box("said", text, &quotes.text(part, text, most))
    }
}

/// A long text scrolls, and then a keyboard must reach it.
fn wrap_in_text_box(class: &str, text: &str, html: &str) -> String {
    let long = LONG < text.len() || 24 < text.lines().count();
    let focus = if long { " tabindex=\"0\"" } else { "" };
    format!("<div class=\"{class}\" dir=\"auto\"{focus}>{html}</div>")
}

fn render_bullet_list(items: &[String], most: usize) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("<li>{}</li>", escape_xml(item))).collect();
    // Whole items only: half a tag would be worse than one requirement less.
    let mut left = most;
    let fits = |text: &&String| {
        left = left.saturating_sub(text.len());
        0 < left
    };
    let listed: Vec<&String> = items.iter().take_while(fits).collect();
    let more = items.len() - listed.len();
    let note = if more == 0 { String::new() } else { format!("<li class=\"cut\">{more} more</li>") };
    let listed: String = listed.into_iter().map(String::as_str).collect();
    if items.is_empty() { String::new() } else { format!("<ul>{listed}{note}</ul>") }
}

fn render_trace_steps(trace: &Trace, quotes: &mut Quotes<'_>, room: usize) -> String {
    let most = room / 6;
    let is_visible = select_visible_steps(trace, quotes, room, most);
    let mut out = String::from("<ol class=\"steps\">");
    let mut omitted = 0;
    for (at, step) in trace.steps.iter().enumerate() {
        if !is_visible[at] {
            omitted += 1;
            continue;
        }
        out.push_str(&render_omitted_steps(omitted));
        omitted = 0;
        out.push_str(&render_trace_step(at + 1, step, quotes, most));
    }
    let files = trace
        .files
        .iter()
        .take(MOST_FILES)
        .map(|file| render_file_change(&escape_xml(&clip_to_bytes(&file.path, 400)), file));
    out + &render_omitted_steps(omitted) + "</ol>" + &files.collect::<String>()
}

fn render_omitted_steps(omitted: usize) -> String {
    match omitted {
        0 => String::new(),
        n => format!("<li class=\"cut\">{} left out</li>", plural(n, "step")),
    }
}

/// Which steps are shown: those that are quoted, then from both ends towards the middle until the room is used.
fn select_visible_steps(trace: &Trace, quotes: &Quotes<'_>, room: usize, most: usize) -> Vec<bool> {
    let n = trace.steps.len();
    let mut is_visible: Vec<bool> = (1..=n).map(|n| quotes.any_under(&format!("trace.{n}"))).collect();
    let mut left = room;
    for turn in 0..n {
        let at = if turn % 2 == 0 { turn / 2 } else { n - 1 - turn / 2 };
        let size = estimate_step_size(&trace.steps[at], most);
        if left < size {
            break;
        }
        left -= size;
        is_visible[at] = true;
    }
    is_visible
}

fn estimate_step_size(step: &TraceStep, most: usize) -> usize {
    let calls =
        step.tool_calls.iter().map(|tool_call| Json::Object(tool_call.arguments.clone()).to_string().len());
    let results = step.results.iter().map(|result| result.text.len());
    let texts = [step.text.len(), step.reasoning.len()].into_iter().chain(calls).chain(results);
    texts.map(|text| text.min(most) + STEP).sum::<usize>() + STEP * step.files.len()
}

fn render_trace_step(at: usize, step: &TraceStep, quotes: &mut Quotes<'_>, most: usize) -> String {
    let (role, depth) = (role_label(step.role), step.depth.min(6));
    let mut out = format!("<li class=\"step {role}\" style=\"--depth: {depth}\"><div class=\"who\">");
    let _ = write!(out, "<span class=\"at\">{at}</span> <b>{role}</b>");
    if let Some(agent) = &step.agent {
        let _ = write!(out, " <bdi>{}</bdi>", escape_xml(&clip_to_bytes(agent, 80)));
    }
    if let Some(time) = step.time {
        let moment = super::format_utc_seconds(time);
        let clock = moment.split(' ').next_back().unwrap_or_default();
        let _ = write!(out, " <time title=\"{moment} UTC\">{clock}</time>");
    }
    out.push_str("</div>");
    let mut none = Quotes::none();
    let quotes = if is_agent_step(step) { quotes } else { &mut none };
    let part = |kind: &str| format!("trace.{at}.{kind}");
    if !step.reasoning.trim().is_empty() {
        let name = part("reasoning");
        let open = if quotes.any_in(&name) { " open" } else { "" };
        let html = render_quoted_text(quotes, &name, &step.reasoning, most);
        let _ = write!(out, "<details class=\"thinks\"{open}><summary>thinks</summary>{html}</details>");
    }
    out.push_str(&render_quoted_text(quotes, &part("text"), &step.text, most));
    for (nth, call) in step.tool_calls.iter().enumerate() {
        out.push_str(&render_tool_call(&part(&format!("call.{}", nth + 1)), call, quotes, most));
    }
    for (nth, result) in step.results.iter().enumerate() {
        let (class, word) = if result.error { ("result failed", "error") } else { ("result", "result") };
        let name = result
            .name
            .as_deref()
            .map(|name| format!(" <bdi>{}</bdi>", escape_xml(&clip_to_bytes(name, 120))));
        let html = render_quoted_text(quotes, &part(&format!("result.{}", nth + 1)), &result.text, most);
        let name = name.unwrap_or_default();
        let _ = write!(out, "<div class=\"{class}\"><div class=\"deed\">{word}{name}</div>{html}</div>");
    }
    for file in step.files.iter().take(MOST_FILES) {
        out += &render_file_change(&quotes.one_of(&part("file"), &file.path, 400), file);
    }
    if let Some(screenshot) = &step.screenshot {
        // The page names the file and does not load it: it makes no requests.
        let _ = write!(
            out,
            "<div class=\"changed\">picture {}</div>",
            escape_xml(&clip_to_bytes(screenshot, 200))
        );
    }
    out + "</li>"
}

fn render_file_change(path: &str, file: &FileChange) -> String {
    let (added, removed) = (file.added, file.removed);
    format!(
        "<div class=\"changed\">{path} <span class=\"add\">+{added}</span> <span class=\"del\">−{removed}</span></div>"
    )
}

/// As its arguments one by one, or as the text that a quote was found in.
fn render_tool_call(part: &str, call: &ToolCall, quotes: &mut Quotes<'_>, most: usize) -> String {
    let duration =
        call.duration_ms.map(|duration_m| format!(" <time>{duration_m:.0} ms</time>")).unwrap_or_default();
    if quotes.any_in(part) {
        let whole = format!("{} {}", call.name, Json::Object(call.arguments.clone()));
        let html = quotes.text(part, &whole, most);
        return format!(
            "<div class=\"call\"><div class=\"deed\">calls{duration}</div><div class=\"said\">{html}</div></div>"
        );
    }
    let name = escape_xml(&clip_to_bytes(&call.name, 120));
    let share = most / call.arguments.len().max(1);
    let arguments: String =
        call.arguments.iter().take(40).map(|(key, value)| argument(key, value, share)).collect();
    format!(
        "<div class=\"call\"><div class=\"deed\">calls <b><bdi>{name}</bdi></b>{duration}</div><dl>{arguments}</dl></div>"
    )
}

fn argument(name: &str, value: &Json, most: usize) -> String {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!(
        "<dt>{}</dt><dd>{}</dd>",
        escape_xml(&clip_to_bytes(name, 80)),
        escape_xml(&clip_to_bytes(&value, most.max(80)))
    )
}

fn role_label(role: StepRole) -> &'static str {
    match role {
        StepRole::System => "system",
        StepRole::User => "user",
        StepRole::Assistant => "assistant",
        StepRole::Tool => "tool",
        StepRole::Other => "other",
    }
}
