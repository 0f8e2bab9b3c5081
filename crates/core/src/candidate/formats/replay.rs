//! Runs recorded call by call: each model call repeats the conversation so far, and each tool has a span of its own.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use crate::candidate::trace::{StepRole, ToolCall, ToolResult, TraceStep};
use crate::quantity::Time;

/// Puts the calls together again, each thing once.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) steps: Vec<TraceStep>,
    /// Input and output messages of the last model call.
    seen: Vec<TraceStep>,
    /// Calls that a result names; a trace of 50,000 spans must not be searched for each of them.
    answered: HashSet<Option<String>>,
    /// The step of the first call with an id, and its index in that step.
    by_id: HashMap<String, (usize, usize)>,
    /// Positions of calls of a tool that may have no result yet.
    by_name: HashMap<String, VecDeque<(usize, usize)>>,
    /// The steps of calls that are known only because their tools ran.
    unannounced: HashMap<ToolRunKey, VecDeque<usize>>,
}

/// How a message names a call that is known because its tool ran.
#[derive(PartialEq, Eq, Hash)]
enum ToolRunKey {
    Id(String),
    /// Of a run whose span has no id.
    Content {
        name: String,
        arguments: String,
    },
}

impl ToolRunKey {
    fn of_run(call: &ToolCall) -> Self {
        call.id.clone().map_or_else(|| Self::of_content(call), Self::Id)
    }

    fn of_content(call: &ToolCall) -> Self {
        let arguments = Value::Object(call.arguments.clone()).to_string();
        Self::Content { name: call.name.clone(), arguments }
    }
}

/// How a tool result without a preceding call is represented.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnannouncedCall {
    /// As one step of the tool.
    Tool,
    /// As a call of the assistant, and its answer.
    Assistant,
}

impl Replay {
    pub(super) fn model_call(&mut self, input: Vec<TraceStep>, output: Vec<TraceStep>) {
        // By position: two equal turns of a user are two turns.
        let mut known = input.iter().zip(&self.seen).take_while(|(a, b)| is_same(a, b)).count();
        // Tools that ran before the first recorded model call work on its question, so the question comes first.
        if self.seen.is_empty() && !self.unannounced.is_empty() {
            known = input.iter().position(|step| self.repeats_run(step)).unwrap_or(input.len());
            // Calls without messages may be many, and each would move all steps.
            if 0 < known {
                self.put_first(&input[..known]);
            }
        }
        for step in &input[known..] {
            if step.role == StepRole::Tool
                && !step.results.is_empty()
                && step.results.iter().all(|result| self.is_answered(result))
            {
                continue;
            }
            if let Some(step) = self.without_runs(step.clone()) {
                self.push(step);
            }
        }
        output.iter().for_each(|step| self.push(step.clone()));
        self.seen = input.into_iter().chain(output).collect();
    }

    /// Whether a step of a history shows a call, or the result of a call, whose tool ran.
    fn repeats_run(&self, step: &TraceStep) -> bool {
        let has_run = |call: &ToolCall| {
            let keys = [ToolRunKey::of_run(call), ToolRunKey::of_content(call)];
            keys.iter().any(|key| self.unannounced.contains_key(key))
        };
        step.tool_calls.iter().any(has_run) || step.results.iter().any(|result| self.is_answered(result))
    }

    /// Puts steps before all others.
    fn put_first(&mut self, first: &[TraceStep]) {
        let others = std::mem::take(&mut self.steps);
        (self.answered, self.by_id, self.by_name) = Default::default();
        for place in self.unannounced.values_mut().flatten() {
            *place += first.len();
        }
        for step in first.iter().cloned().chain(others) {
            self.push(step);
        }
    }

    /// A step of a history without the calls that are known because their tools ran; `None` if nothing is left.
    fn without_runs(&mut self, mut step: TraceStep) -> Option<TraceStep> {
        let calls = std::mem::take(&mut step.tool_calls);
        let mut first_run = None;
        for call in calls {
            match self.take_run(&call) {
                Some(place) => first_run = first_run.or(Some(place)),
                None => step.tool_calls.push(call),
            }
        }
        let Some(place) = first_run.filter(|_| step.tool_calls.is_empty()) else { return Some(step) };
        let run = &mut self.steps[place];
        (run.text, run.reasoning) = (step.text, step.reasoning);
        None
    }

    /// The step of a call that a message announces and whose tool ran; it has the id of the message from then on.
    fn take_run(&mut self, call: &ToolCall) -> Option<usize> {
        let keys = [ToolRunKey::of_run(call), ToolRunKey::of_content(call)];
        let place = keys.iter().find_map(|key| self.unannounced.get_mut(key)?.pop_front())?;
        if let Some(id) = &call.id {
            self.steps[place].tool_calls[0].id = Some(id.clone());
            for result in &mut self.steps[place + 1].results {
                result.call = Some(id.clone());
            }
            self.answered.insert(Some(id.clone()));
            self.by_id.entry(id.clone()).or_insert((place, 0));
        }
        Some(place)
    }

    fn push(&mut self, step: TraceStep) {
        let at = self.steps.len();
        self.answered.extend(step.results.iter().map(|result| result.call.clone()));
        for (place, call) in step.tool_calls.iter().enumerate() {
            if let Some(id) = &call.id {
                self.by_id.entry(id.clone()).or_insert((at, place));
            }
            self.by_name.entry(call.name.clone()).or_default().push_back((at, place));
        }
        self.steps.push(step);
    }

    fn is_answered(&self, result: &ToolResult) -> bool {
        result.call.is_some() && self.answered.contains(&result.call)
    }

    /// Where a tool was called that now ran: by its id, or else the first call of its name without an answer.
    fn find_announced_call(&mut self, call: &ToolCall) -> Option<(usize, usize)> {
        if let Some(id) = &call.id {
            return self.by_id.get(id).copied();
        }
        let waiting = self.by_name.get_mut(&call.name)?;
        while let Some((at, place)) = waiting.front().copied() {
            if !self.answered.contains(&self.steps[at].tool_calls[place].id) {
                return Some((at, place));
            }
            waiting.pop_front();
        }
        None
    }

    pub(super) fn tool_run(
        &mut self,
        call: ToolCall,
        mut result: ToolResult,
        started: Option<Time>,
        unannounced: UnannouncedCall,
    ) {
        let answer_step = |result: ToolResult, call: &ToolCall| TraceStep {
            role: StepRole::Tool,
            results: vec![result],
            time: started,
            duration_ms: call.duration_ms,
            ..TraceStep::default()
        };
        match self.find_announced_call(&call) {
            Some((at, place)) => {
                let announced = &mut self.steps[at].tool_calls[place];
                announced.duration_ms = call.duration_ms;
                result.call = announced.id.clone();
                self.push(answer_step(result, &call));
            }
            None => {
                result.call = call.id.clone();
                let answer = answer_step(result, &call);
                match unannounced {
                    UnannouncedCall::Tool => self.push(TraceStep { tool_calls: vec![call], ..answer }),
                    UnannouncedCall::Assistant => {
                        let runs = self.unannounced.entry(ToolRunKey::of_run(&call)).or_default();
                        runs.push_back(self.steps.len());
                        self.push(TraceStep { tool_calls: vec![call], ..TraceStep::default() });
                        self.push(answer);
                    }
                }
            }
        }
    }
}

fn is_same(a: &TraceStep, b: &TraceStep) -> bool {
    let (left, right) = (a.text.trim(), b.text.trim());
    // Frameworks add a mark to what they repeat, or leave the reasoning out.
    a.role == b.role && (a.role == StepRole::Tool || left.starts_with(right) || right.starts_with(left))
}
