//! Session logs of Claude Code, and its headless stream.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::message::{add_block, joined, money, result, usage};
use super::text_of;
use crate::candidate::trace::{Role, Step, Trace, Usage};
use crate::quantity::Time;

pub(super) fn fits(value: &Value) -> bool {
    let is_line = |it: &Value| {
        matches!(it["type"].as_str(), Some("user" | "assistant"))
            && it["message"].is_object()
            && ["sessionId", "session_id", "parentUuid"].iter().any(|key| it.get(*key).is_some())
    };
    value.as_array().is_some_and(|it| it.iter().any(is_line))
}

pub(super) fn read(value: &Value) -> Trace {
    let mut reader = Reader::default();
    value.as_array().into_iter().flatten().for_each(|it| reader.line(it));
    let mut trace = reader.trace;
    trace.usage =
        reader.total.unwrap_or_else(|| reader.usage.values().fold(Usage::default(), |sum, it| sum.plus(*it)));
    trace
}

#[derive(Default)]
struct Reader {
    trace: Trace,
    /// Lines that were resumed stand in the log twice.
    seen: HashSet<String>,
    /// One message is spread over several lines; its step, by its id.
    places: HashMap<String, usize>,
    usage: HashMap<String, Usage>,
    /// What the run itself says it used.
    total: Option<Usage>,
}

impl Reader {
    fn line(&mut self, line: &Value) {
        if let Some(uuid) = line["uuid"].as_str()
            && !self.seen.insert(uuid.to_owned())
        {
            return;
        }
        self.trace.id =
            text_of(line, &["sessionId", "session_id"]).map(str::to_owned).or(self.trace.id.take());
        match line["type"].as_str() {
            Some("assistant") => self.assistant(line),
            Some("user") => self.user(line),
            Some("system") => {
                self.trace.steps.extend(line["content"].as_str().map(|it| Step::new(Role::System, it)));
            }
            Some("result") => {
                self.trace.status = text_of(line, &["subtype"]).map(str::to_owned);
                self.trace.cost = money(&line["total_cost_usd"]);
                self.total = Some(usage(&line["usage"])).filter(|it| !it.is_nothing());
            }
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Value) {
        let message = &line["message"];
        let id = text_of(message, &["id"]).unwrap_or_default().to_owned();
        let synthetic = line["isApiErrorMessage"] == true || message["model"] == "<synthetic>";
        let role = if synthetic { Role::Other } else { Role::Assistant };
        let place = match self.places.get(&id) {
            Some(&place) if !id.is_empty() => place,
            _ => {
                self.trace.steps.push(Step { role, depth: depth(line), time: time(line), ..Step::default() });
                self.places.insert(id.clone(), self.trace.steps.len() - 1);
                self.trace.steps.len() - 1
            }
        };
        let mut part = Step { role, ..Step::default() };
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().for_each(|it| add_block(it, &mut part)),
            other => part.text = joined(other, "\n"),
        }
        merge(&mut self.trace.steps[place], part);
        if depth(line) == 0 && self.total.is_none() {
            self.trace.status =
                text_of(message, &["stop_reason"]).map(str::to_owned).or(self.trace.status.take());
        }
        let used = usage(&message["usage"]);
        let known = self.usage.entry(id).or_default();
        // Counts grow while a message streams; the line with the most output is the last one.
        if known.output <= used.output {
            *known = used;
        }
    }

    fn user(&mut self, line: &Value) {
        let (message, depth, time) = (&line["message"], depth(line), time(line));
        let human = line["isMeta"] != true && line["isCompactSummary"] != true;
        let mut said =
            Step { role: if human { Role::User } else { Role::Other }, depth, time, ..Step::default() };
        let mut answers = Step { role: Role::Tool, depth, time, ..Step::default() };
        match &message["content"] {
            Value::Array(blocks) => {
                for block in blocks {
                    match result(block) {
                        Some(result) => answers.results.push(result),
                        None => add_block(block, &mut said),
                    }
                }
            }
            other => said.text = joined(other, "\n"),
        }
        self.trace.steps.extend([answers, said]);
    }
}

/// A block that a later line repeats is the same block.
fn merge(step: &mut Step, part: Step) {
    if !step.text.ends_with(&part.text) {
        step.text.push_str(&part.text);
    }
    if !step.reasoning.ends_with(&part.reasoning) {
        step.reasoning.push_str(&part.reasoning);
    }
    for call in part.tool_calls {
        if !step.tool_calls.contains(&call) {
            step.tool_calls.push(call);
        }
    }
}

fn depth(line: &Value) -> u32 {
    u32::from(line["isSidechain"] == true || line["parent_tool_use_id"].is_string())
}

fn time(line: &Value) -> Option<Time> {
    Time::parse(line["timestamp"].as_str()?).ok()
}
