//! Runs told call by call: each model call repeats the conversation so far, and each tool has a span of its own.

use crate::candidate::trace::{Role, Step, ToolCall, ToolResult};

/// Puts the calls together again, each thing once.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) steps: Vec<Step>,
    /// What the last model call had seen and said.
    seen: Vec<Step>,
}

/// How a tool that no message called is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unannounced {
    /// As one step of the tool.
    Tool,
    /// As a call of the assistant, and its answer.
    Assistant,
}

impl Replay {
    pub(super) fn model_call(&mut self, input: Vec<Step>, output: Vec<Step>) {
        // By position: two equal turns of a user are two turns.
        let known = input.iter().zip(&self.seen).take_while(|(a, b)| is_same(a, b)).count();
        for step in &input[known..] {
            if step.role == Role::Tool
                && !step.results.is_empty()
                && step.results.iter().all(|it| self.is_answered(it))
            {
                continue;
            }
            self.steps.push(step.clone());
        }
        self.steps.extend(output.iter().cloned());
        self.seen = input.into_iter().chain(output).collect();
    }

    fn is_answered(&self, result: &ToolResult) -> bool {
        let mut answers = self.steps.iter().flat_map(|it| &it.results);
        result.call.is_some() && answers.any(|it| it.call == result.call)
    }

    pub(super) fn tool_run(&mut self, call: ToolCall, mut result: ToolResult, unannounced: Unannounced) {
        let answered: Vec<Option<String>> =
            self.steps.iter().flat_map(|it| &it.results).map(|it| it.call.clone()).collect();
        let is_open = |it: &&mut ToolCall| it.name == call.name && !answered.contains(&it.id);
        let mut calls = self.steps.iter_mut().flat_map(|it| &mut it.tool_calls);
        let announced = match &call.id {
            Some(id) => calls.find(|it| it.id.as_ref() == Some(id)),
            None => calls.find(is_open),
        };
        match announced {
            Some(announced) => {
                announced.duration_ms = call.duration_ms;
                result.call = announced.id.clone();
                self.steps.push(Step { role: Role::Tool, results: vec![result], ..Step::default() });
            }
            None => {
                result.call = call.id.clone();
                let answer = Step { role: Role::Tool, results: vec![result], ..Step::default() };
                match unannounced {
                    Unannounced::Tool => self.steps.push(Step { tool_calls: vec![call], ..answer }),
                    Unannounced::Assistant => {
                        self.steps.extend([Step { tool_calls: vec![call], ..Step::default() }, answer]);
                    }
                }
            }
        }
    }
}

fn is_same(a: &Step, b: &Step) -> bool {
    let (left, right) = (a.text.trim(), b.text.trim());
    // Frameworks add a mark to what they repeat, or leave the reasoning out.
    a.role == b.role && (a.role == Role::Tool || left.starts_with(right) || right.starts_with(left))
}
