//! Runs recorded call by call: each model call repeats the conversation so far, and each tool has a span of its own.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::candidate::trace::{StepRole, ToolCall, ToolResult, TraceStep};
use crate::quantity::Time;

/// Puts the calls together again, each thing once.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) steps: Vec<TraceStep>,
    /// What the last model call had seen and said.
    seen: Vec<TraceStep>,
    /// Calls that a result names; a trace of 50,000 spans must not be searched for each of them.
    answered: HashSet<Option<String>>,
    /// Where the first call with an id stands: its step, and its place there.
    by_id: HashMap<String, (usize, usize)>,
    /// Where calls of a name stand that may not have been answered yet.
    by_name: HashMap<String, VecDeque<(usize, usize)>>,
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
        let known = input.iter().zip(&self.seen).take_while(|(a, b)| is_same(a, b)).count();
        for step in &input[known..] {
            if step.role == StepRole::Tool
                && !step.results.is_empty()
                && step.results.iter().all(|result| self.is_answered(result))
            {
                continue;
            }
            self.push(step.clone());
        }
        output.iter().for_each(|step| self.push(step.clone()));
        self.seen = input.into_iter().chain(output).collect();
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
