//! What is graded: a response and/or a trace, with the task it answers.

use serde_json::Value;

/// Everything about a candidate that a file gives; what is missing is produced by running it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidate {
    pub input: Option<String>,
    /// The task as a conversation, instead of or beside `input`.
    pub messages: Vec<Value>,
    pub response: Option<String>,
    pub trace: Option<Trace>,
    /// A unified diff of the files it changed.
    pub diff: Option<String>,
    /// Documents that the answer may rest on.
    pub context: Vec<String>,
    pub expected: Option<Value>,
}

/// What an agent did, in any format that Jurist understands.
#[derive(Debug, Clone, PartialEq)]
pub enum Trace {
    File(String),
    Inline(Value),
}

impl Candidate {
    /// Whether there is something to grade without running anything.
    pub fn is_given(&self) -> bool {
        self.response.is_some() || self.trace.is_some() || self.diff.is_some()
    }
}
