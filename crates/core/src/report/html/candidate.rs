//! What was graded, part by part, as a person reads it.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::text::{Quotes, clipped};
use crate::candidate::diff::FileChange;
use crate::candidate::{Material, Role, Step, TRACE_TOKENS, ToolCall, Trace, for_judge};
use crate::chart::escaped;
use crate::quantity::plural;

/// About what a step costs besides its texts.
const STEP: usize = 300;

/// From how many bytes on a text gets a box of its own to scroll in.
const LONG: usize = 1500;

/// A trace of no more steps is shown even beside a response.
const SHORT: usize = 6;

/// So many documents are shown, and so many files of a step.
const MOST_CONTEXT: usize = 20;
const MOST_FILES: usize = 50;

/// What was asked.
pub(super) fn task(material: &Material, room: usize) -> String {
    part("Task", &plain(&material.task, room / 10), Fold::Open)
}

/// The candidate, and what it was compared to, within about `room` bytes.
pub(super) fn parts(material: &Material, quotes: &mut Quotes<'_>, room: usize) -> String {
    let most = room / 5;
    let mut out = String::new();
    if let Some(response) = &material.response {
        out += &part("Response", &text(quotes, "response", response, most), Fold::Open);
    } else if let Some(output) = &material.raw_output {
        out += &part("Output", &plain(&format!("{output:#}"), most), Fold::Open);
    }
    if let Some(diff) = material.diff.as_deref().filter(|it| !it.trim().is_empty()) {
        out += &part("Diff", &boxed("diff", diff, &quotes.diff("diff", diff, most)), Fold::Open);
    }
    if let Some(trace) = &material.trace {
        let status = trace.status.as_deref().map(|it| format!(", {}", clipped(it, 80))).unwrap_or_default();
        let title = format!("Trace, {}{status}", plural(trace.steps.len(), "step"));
        let open = material.response.is_none() || quotes.any_under("trace") || trace.steps.len() <= SHORT;
        let fold = if open { Fold::Open } else { Fold::Closed };
        out += &part(&title, &steps(trace, quotes, room / 2), fold);
        if quotes.any_in("trace") {
            let read = read_by_judge(trace);
            let read = boxed("said", &read, &quotes.text("trace", &read, 0));
            out += &part("Trace as the judge read it", &read, Fold::Open);
        }
    }
    out += &part("Requirements", &list(&material.requirements, most / 2), Fold::Closed);
    let reference = material.reference.as_deref().unwrap_or_default();
    out += &part("Reference", &plain(reference, most / 2), Fold::Closed);
    let share = most / material.context.len().clamp(1, MOST_CONTEXT);
    for (context, at) in material.context.iter().take(MOST_CONTEXT).zip(1..) {
        out += &part(&format!("Context {at}"), &plain(context, share), Fold::Closed);
    }
    out
}

#[derive(Clone, Copy)]
enum Fold {
    Open,
    Closed,
}

fn part(title: &str, html: &str, fold: Fold) -> String {
    let open = if matches!(fold, Fold::Open) { " open" } else { "" };
    if html.is_empty() {
        return String::new();
    }
    format!("<details class=\"part\"{open}><summary>{}</summary>{html}</details>\n", escaped(title))
}

/// The part that evidence calls `trace`: the agent's own steps as one text.
fn read_by_judge(trace: &Trace) -> String {
    let steps = trace.steps.iter().filter(|it| is_own(it)).cloned().collect();
    for_judge(&Trace { steps, ..Trace::default() }, TRACE_TOKENS)
}

/// What somebody else said to an agent is not its own, so no evidence stands in it.
fn is_own(step: &Step) -> bool {
    !matches!(step.role, Role::User | Role::System)
}

/// A text from which nothing is quoted.
fn plain(text: &str, most: usize) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let note = if most < text.len() {
        format!("<span class=\"cut\">{:.1} kB in all</span>", text.len() as f64 / 1000.0)
    } else {
        String::new()
    };
    boxed("said", text, &(escaped(&clipped(text, most)) + &note))
}

fn text(quotes: &mut Quotes<'_>, part: &str, text: &str, most: usize) -> String {
    if text.trim().is_empty() { String::new() } else { boxed("said", text, &quotes.text(part, text, most)) }
}

/// A long text scrolls, and then a keyboard must reach it.
fn boxed(class: &str, text: &str, html: &str) -> String {
    let long = LONG < text.len() || 24 < text.lines().count();
    let focus = if long { " tabindex=\"0\"" } else { "" };
    format!("<div class=\"{class}\" dir=\"auto\"{focus}>{html}</div>")
}

fn list(items: &[String], most: usize) -> String {
    let items: Vec<String> = items.iter().map(|it| format!("<li>{}</li>", escaped(it))).collect();
    // Whole items only: half a tag would be worse than one requirement less.
    let mut left = most;
    let fits = |it: &&String| {
        left = left.saturating_sub(it.len());
        0 < left
    };
    let kept: Vec<&String> = items.iter().take_while(fits).collect();
    let more = items.len() - kept.len();
    let note = if more == 0 { String::new() } else { format!("<li class=\"cut\">{more} more</li>") };
    let kept: String = kept.into_iter().map(String::as_str).collect();
    if items.is_empty() { String::new() } else { format!("<ul>{kept}{note}</ul>") }
}

fn steps(trace: &Trace, quotes: &mut Quotes<'_>, room: usize) -> String {
    let most = room / 6;
    let kept = kept(trace, quotes, room, most);
    let mut out = String::from("<ol class=\"steps\">");
    let mut omitted = 0;
    for (at, step) in trace.steps.iter().enumerate() {
        if !kept[at] {
            omitted += 1;
            continue;
        }
        out.push_str(&gap(omitted));
        omitted = 0;
        out.push_str(&self::step(at + 1, step, quotes, most));
    }
    let files = trace.files.iter().take(MOST_FILES).map(|it| changed(&escaped(&clipped(&it.path, 400)), it));
    out + &gap(omitted) + "</ol>" + &files.collect::<String>()
}

fn gap(omitted: usize) -> String {
    match omitted {
        0 => String::new(),
        n => format!("<li class=\"cut\">{} left out</li>", plural(n, "step")),
    }
}

/// Which steps are shown: those that are quoted, then from both ends towards the middle until the room is used.
fn kept(trace: &Trace, quotes: &Quotes<'_>, room: usize, most: usize) -> Vec<bool> {
    let n = trace.steps.len();
    let mut kept: Vec<bool> = (1..=n).map(|it| quotes.any_under(&format!("trace.{it}"))).collect();
    let mut left = room;
    for turn in 0..n {
        let at = if turn % 2 == 0 { turn / 2 } else { n - 1 - turn / 2 };
        let size = size(&trace.steps[at], most);
        if left < size {
            break;
        }
        left -= size;
        kept[at] = true;
    }
    kept
}

fn size(step: &Step, most: usize) -> usize {
    let calls = step.tool_calls.iter().map(|it| Json::Object(it.arguments.clone()).to_string().len());
    let results = step.results.iter().map(|it| it.text.len());
    let texts = [step.text.len(), step.reasoning.len()].into_iter().chain(calls).chain(results);
    texts.map(|it| it.min(most) + STEP).sum::<usize>() + STEP * step.files.len()
}

fn step(at: usize, step: &Step, quotes: &mut Quotes<'_>, most: usize) -> String {
    let (role, depth) = (role(step.role), step.depth.min(6));
    let mut out = format!("<li class=\"step {role}\" style=\"--depth: {depth}\"><div class=\"who\">");
    let _ = write!(out, "<span class=\"at\">{at}</span> <b>{role}</b>");
    if let Some(agent) = &step.agent {
        let _ = write!(out, " <bdi>{}</bdi>", escaped(&clipped(agent, 80)));
    }
    if let Some(time) = step.time {
        let moment = super::moment(time);
        let clock = moment.split(' ').next_back().unwrap_or_default();
        let _ = write!(out, " <time title=\"{moment} UTC\">{clock}</time>");
    }
    out.push_str("</div>");
    let mut none = Quotes::none();
    let quotes = if is_own(step) { quotes } else { &mut none };
    let part = |kind: &str| format!("trace.{at}.{kind}");
    if !step.reasoning.trim().is_empty() {
        let name = part("reasoning");
        let open = if quotes.any_in(&name) { " open" } else { "" };
        let html = text(quotes, &name, &step.reasoning, most);
        let _ = write!(out, "<details class=\"thinks\"{open}><summary>thinks</summary>{html}</details>");
    }
    out.push_str(&text(quotes, &part("text"), &step.text, most));
    for (nth, call) in step.tool_calls.iter().enumerate() {
        out.push_str(&self::call(&part(&format!("call.{}", nth + 1)), call, quotes, most));
    }
    for (nth, result) in step.results.iter().enumerate() {
        let (class, word) = if result.error { ("result broke", "error") } else { ("result", "result") };
        let name = result.name.as_deref().map(|it| format!(" <bdi>{}</bdi>", escaped(&clipped(it, 120))));
        let html = text(quotes, &part(&format!("result.{}", nth + 1)), &result.text, most);
        let name = name.unwrap_or_default();
        let _ = write!(out, "<div class=\"{class}\"><div class=\"deed\">{word}{name}</div>{html}</div>");
    }
    for file in step.files.iter().take(MOST_FILES) {
        out += &changed(&quotes.one_of(&part("file"), &file.path, 400), file);
    }
    if let Some(screenshot) = &step.screenshot {
        // Named, not loaded: the page asks nobody for anything.
        let _ = write!(out, "<div class=\"changed\">picture {}</div>", escaped(&clipped(screenshot, 200)));
    }
    out + "</li>"
}

fn changed(path: &str, file: &FileChange) -> String {
    let (added, removed) = (file.added, file.removed);
    format!(
        "<div class=\"changed\">{path} <span class=\"add\">+{added}</span> <span class=\"del\">−{removed}</span></div>"
    )
}

/// As its arguments one by one, or as the text that a quote was found in.
fn call(part: &str, call: &ToolCall, quotes: &mut Quotes<'_>, most: usize) -> String {
    let took = call.duration_ms.map(|it| format!(" <time>{it:.0} ms</time>")).unwrap_or_default();
    if quotes.any_in(part) {
        let whole = format!("{} {}", call.name, Json::Object(call.arguments.clone()));
        let html = quotes.text(part, &whole, most);
        return format!(
            "<div class=\"call\"><div class=\"deed\">calls{took}</div><div class=\"said\">{html}</div></div>"
        );
    }
    let name = escaped(&clipped(&call.name, 120));
    let share = most / call.arguments.len().max(1);
    let arguments: String = call.arguments.iter().take(40).map(|it| argument(it.0, it.1, share)).collect();
    format!(
        "<div class=\"call\"><div class=\"deed\">calls <b><bdi>{name}</bdi></b>{took}</div><dl>{arguments}</dl></div>"
    )
}

fn argument(name: &str, value: &Json, most: usize) -> String {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("<dt>{}</dt><dd>{}</dd>", escaped(&clipped(name, 80)), escaped(&clipped(&value, most.max(80))))
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Other => "other",
    }
}
