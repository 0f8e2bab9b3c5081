//! Plain text: a conversation with marks at the beginning of lines, or one answer.

use serde_json::Value;

use super::message::role_of;
use crate::candidate::trace::{StepRole, Trace, TraceStep};

pub(super) fn read_text_trace(value: &Value) -> Trace {
    let text = value.as_str().unwrap_or_default().trim_start_matches('\u{feff}');
    let steps = parse_text_conversation(text)
        .unwrap_or_else(|| vec![TraceStep::new(StepRole::Assistant, text.trim())]);
    Trace { steps, ..Trace::default() }
}

/// `User: …` and `Assistant: …`, from the first line on; anything else is not a conversation.
fn parse_text_conversation(text: &str) -> Option<Vec<TraceStep>> {
    let mut steps: Vec<TraceStep> = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        in_fence ^= line.trim_start().starts_with("```");
        match parse_speaker_label(line).filter(|_| !in_fence) {
            Some((role, rest)) => steps.push(TraceStep::new(role, rest.trim_start())),
            None if steps.is_empty() && line.trim().is_empty() => {}
            None => {
                let step = steps.last_mut()?;
                step.text.push('\n');
                step.text.push_str(line);
            }
        }
    }
    steps.iter_mut().for_each(|step| step.text = step.text.trim().to_owned());
    let has = |role: StepRole| steps.iter().any(|step| step.role == role);
    (has(StepRole::User) && has(StepRole::Assistant)).then_some(steps)
}

fn parse_speaker_label(line: &str) -> Option<(StepRole, &str)> {
    let (name, rest) = line.split_once(':')?;
    let is_name = matches!(
        name.to_ascii_lowercase().as_str(),
        "system" | "user" | "human" | "assistant" | "ai" | "tool"
    );
    is_name.then(|| (role_of(name), rest))
}
