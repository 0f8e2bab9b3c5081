//! Everything a judge may see of a case, part by part.

use serde_json::Value;

use super::objects::{Planted, objects};
use crate::candidate::{Candidate, Role, Step, Trace, for_judge, read_value};

/// Longer traces lose their middle; what is left is room for the rest of the prompt in a small model's window.
const TRACE_TOKENS: usize = 24_000;

/// What a judge may see of a case. None of it is trusted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Material {
    pub task: String,
    /// Documents that the answer may rest on.
    pub context: Vec<String>,
    pub reference: Option<String>,
    pub response: Option<String>,
    pub trace: Option<Trace>,
    /// A unified diff.
    pub diff: Option<String>,
    /// What must be met, where the case says so and not the rubric.
    pub requirements: Vec<String>,
    /// Output and reference as checks compare them, where they are more than text.
    pub raw_output: Option<Value>,
    pub raw_reference: Option<Value>,
}

/// A piece of what is graded, under the name that evidence gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    pub text: String,
}

impl Material {
    /// From what a file says, and the trace it points to.
    pub fn new(candidate: &Candidate, trace: Option<Trace>) -> Self {
        let conversation = || {
            let messages = Value::Array(candidate.messages.clone());
            read_value(&messages, None).map(|it| for_judge(&it.1, TRACE_TOKENS)).unwrap_or_default()
        };
        let task = candidate.input.clone().filter(|it| !it.is_empty()).unwrap_or_else(conversation);
        Self {
            task: if task.is_empty() { trace.as_ref().and_then(asked_in).unwrap_or_default() } else { task },
            context: candidate.context.clone(),
            reference: candidate.expected.as_ref().map(told),
            response: candidate.response.clone(),
            trace,
            diff: candidate.diff.clone(),
            requirements: Vec::new(),
            raw_output: None,
            raw_reference: candidate.expected.clone(),
        }
    }

    /// What the candidate finally said: its response, or the last words of its trace.
    pub fn answer(&self) -> &str {
        self.response.as_deref().or_else(|| self.trace.as_ref()?.answer()).unwrap_or_default()
    }

    /// The candidate's own words and deeds, in which evidence may stand; not the task, nor the reference.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut add = |name: String, text: &str| {
            if !text.trim().is_empty() {
                parts.push(Part { name, text: text.to_owned() });
            }
        };
        add("response".to_owned(), self.response.as_deref().unwrap_or_default());
        for (at, step) in self.trace.iter().flat_map(|it| &it.steps).enumerate() {
            let at = at + 1;
            // What somebody else said to it is not its own.
            if matches!(step.role, Role::User | Role::System) {
                continue;
            }
            add(format!("trace.{at}.text"), &step.text);
            add(format!("trace.{at}.reasoning"), &step.reasoning);
            for (nth, call) in step.tool_calls.iter().enumerate() {
                let arguments = Value::Object(call.arguments.clone());
                add(format!("trace.{at}.call.{}", nth + 1), &format!("{} {arguments}", call.name));
            }
            for (nth, result) in step.results.iter().enumerate() {
                add(format!("trace.{at}.result.{}", nth + 1), &result.text);
            }
            for file in &step.files {
                add(format!("trace.{at}.file"), &file.path);
            }
        }
        add("diff".to_owned(), self.diff.as_deref().unwrap_or_default());
        parts
    }

    /// Where a quote may stand: every part, and last the steps as a judge reads them, marks and all.
    pub(super) fn quotable(&self) -> Vec<Part> {
        let mut parts = self.parts();
        let own = |it: &&Step| !matches!(it.role, Role::User | Role::System);
        if let Some(trace) = &self.trace {
            let steps = trace.steps.iter().filter(own).cloned().collect();
            let text = for_judge(&Trace { steps, ..Trace::default() }, TRACE_TOKENS);
            parts.push(Part { name: "trace".to_owned(), text });
        }
        parts
    }

    /// What conditions such as `when` look at.
    pub fn text(&self) -> String {
        self.parts().into_iter().map(|it| it.text).collect::<Vec<_>>().join("\n")
    }

    /// The trace as a judge reads it.
    pub(super) fn told_trace(&self) -> Option<String> {
        self.trace.as_ref().map(|it| for_judge(it, TRACE_TOKENS))
    }

    /// A code that stands nowhere in the material: a hash over all of it and the seed.
    ///
    /// It is the same for every criterion of one candidate, so that caches keep working.
    pub(super) fn code(&self, others: &[&str], seed: u64) -> String {
        let mut all: Vec<&str> = others.to_vec();
        all.push(&self.task);
        all.extend(self.context.iter().map(String::as_str));
        all.extend([&self.reference, &self.response, &self.diff].into_iter().flatten().map(String::as_str));
        let trace = self.told_trace().unwrap_or_default();
        all.push(&trace);
        (0_u64..)
            .map(|turn| {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&seed.to_le_bytes()).update(&turn.to_le_bytes());
                for text in &all {
                    // Lengths, so that moving a word from one part to the next is another material.
                    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
                }
                hasher.finalize().to_hex()[..16].to_owned()
            })
            .find(|code| !all.iter().any(|it| it.contains(code)))
            .unwrap_or_default()
    }

    /// What a reply must not be made of.
    pub(super) fn planted(&self, others: &[&str]) -> Planted {
        let own = [Some(&self.task), self.reference.as_ref()].into_iter().flatten().map(String::as_str);
        let steps = self.trace.iter().flat_map(|it| &it.steps).map(|it| it.text.as_str());
        let texts: Vec<&str> = own.chain(self.context.iter().map(String::as_str)).chain(steps).collect();
        let parts = self.parts();
        let all = || others.iter().chain(&texts).copied().chain(parts.iter().map(|it| it.text.as_str()));
        Planted {
            objects: all().flat_map(objects).collect(),
            words: all()
                .map(str::trim)
                .filter(|it| (1..=WORD).contains(&it.len()))
                .map(str::to_owned)
                .collect(),
        }
    }
}

/// No choice has a longer name.
const WORD: usize = 200;

/// What a run was asked: its task, or its first user.
pub(super) fn asked_in(trace: &Trace) -> Option<String> {
    let is_user = |it: &&Step| it.role == Role::User;
    trace.task.clone().or_else(|| trace.steps.iter().find(is_user).map(|it| it.text.clone()))
}

pub(super) fn told(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
