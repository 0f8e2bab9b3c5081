//! Session logs of Claude Code, and its headless stream.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::first_text_field;
use super::message::{add_block, join_content_text, money, parse_recorded_result, parse_recorded_usage};
use crate::candidate::trace::{StepRole, Trace, TraceStep, Usage};
use crate::quantity::Time;

pub(super) fn is_claude_code_log(value: &Value) -> bool {
    let is_line = |value: &Value| {
        matches!(value["type"].as_str(), Some("user" | "assistant"))
            && value["message"].is_object()
            && ["sessionId", "session_id", "parentUuid"].iter().any(|key| value.get(*key).is_some())
    };
    value.as_array().is_some_and(|items| items.iter().any(is_line))
}

pub(super) fn read_claude_code_log(value: &Value) -> Trace {
    let mut reader = ClaudeCodeReader::default();
    value.as_array().into_iter().flatten().for_each(|item| reader.line(item));
    let mut trace = reader.trace;
    trace.usage = reader
        .total
        .unwrap_or_else(|| reader.usage.values().fold(Usage::default(), |sum, usage| sum.plus(*usage)));
    trace
}

#[derive(Default)]
struct ClaudeCodeReader {
    trace: Trace,
    /// The log has lines of resumed sessions twice.
    seen: HashSet<String>,
    /// One message is spread over several lines; its step, by its id.
    places: HashMap<String, usize>,
    /// The calls of each step, by the hashes of their contents: a message may have very many.
    calls: HashSet<(usize, blake3::Hash)>,
    usage: HashMap<String, Usage>,
    /// What the run itself says it used.
    total: Option<Usage>,
}

impl ClaudeCodeReader {
    fn line(&mut self, line: &Value) {
        if let Some(uuid) = line["uuid"].as_str()
            && !self.seen.insert(uuid.to_owned())
        {
            return;
        }
        self.trace.id =
            first_text_field(line, &["sessionId", "session_id"]).map(str::to_owned).or(self.trace.id.take());
        match line["type"].as_str() {
            Some("assistant") => self.assistant(line),
            Some("user") => self.user(line),
            Some("system") => {
                self.trace
                    .steps
                    .extend(line["content"].as_str().map(|line| TraceStep::new(StepRole::System, line)));
            }
            Some("result") => {
                self.trace.status = first_text_field(line, &["subtype"]).map(str::to_owned);
                self.trace.cost = money(&line["total_cost_usd"]);
                self.total = Some(parse_recorded_usage(&line["usage"])).filter(|usage| !usage.is_nothing());
            }
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Value) {
        let message = &line["message"];
        let id = first_text_field(message, &["id"]).unwrap_or_default().to_owned();
        let synthetic = line["isApiErrorMessage"] == true || message["model"] == "<synthetic>";
        let role = if synthetic { StepRole::Other } else { StepRole::Assistant };
        let place = match self.places.get(&id) {
            Some(&place) if !id.is_empty() => place,
            _ => {
                self.trace.steps.push(TraceStep {
                    role,
                    depth: sidechain_depth(line),
                    time: parse_line_timestamp(line),
                    ..TraceStep::default()
                });
                self.places.insert(id.clone(), self.trace.steps.len() - 1);
                self.trace.steps.len() - 1
            }
        };
        let mut part = TraceStep { role, ..TraceStep::default() };
        match &message["content"] {
            Value::Array(blocks) => blocks.iter().for_each(|block| add_block(block, &mut part)),
            other => part.text = join_content_text(other, "\n"),
        }
        self.merge_message_part(place, part);
        if sidechain_depth(line) == 0 && self.total.is_none() {
            self.trace.status =
                first_text_field(message, &["stop_reason"]).map(str::to_owned).or(self.trace.status.take());
        }
        let used = parse_recorded_usage(&message["usage"]);
        let known = self.usage.entry(id).or_default();
        // Counts grow while a message streams; the line with the most output is the last one.
        if known.output <= used.output {
            *known = used;
        }
    }

    fn user(&mut self, line: &Value) {
        let (message, depth, time) = (&line["message"], sidechain_depth(line), parse_line_timestamp(line));
        let human = line["isMeta"] != true && line["isCompactSummary"] != true;
        let mut said = TraceStep {
            role: if human { StepRole::User } else { StepRole::Other },
            depth,
            time,
            ..TraceStep::default()
        };
        let mut answers = TraceStep { role: StepRole::Tool, depth, time, ..TraceStep::default() };
        match &message["content"] {
            Value::Array(blocks) => {
                for block in blocks {
                    match parse_recorded_result(block) {
                        Some(result) => answers.results.push(result),
                        None => add_block(block, &mut said),
                    }
                }
            }
            other => said.text = join_content_text(other, "\n"),
        }
        self.trace.steps.extend([answers, said]);
    }

    /// A block that a later line repeats is the same block.
    fn merge_message_part(&mut self, place: usize, part: TraceStep) {
        let step = &mut self.trace.steps[place];
        if !step.text.ends_with(&part.text) {
            step.text.push_str(&part.text);
        }
        if !step.reasoning.ends_with(&part.reasoning) {
            step.reasoning.push_str(&part.reasoning);
        }
        for call in part.tool_calls {
            let content = serde_json::to_vec(&call).expect("a call is plain data");
            if self.calls.insert((place, blake3::hash(&content))) {
                step.tool_calls.push(call);
            }
        }
    }
}

fn sidechain_depth(line: &Value) -> u32 {
    u32::from(line["isSidechain"] == true || line["parent_tool_use_id"].is_string())
}

fn parse_line_timestamp(line: &Value) -> Option<Time> {
    Time::parse(line["timestamp"].as_str()?).ok()
}
