//! Plain text: a conversation with marks at the beginning of lines, or one answer.

use serde_json::Value;

use super::message::role_of;
use crate::candidate::trace::{Role, Step, Trace};

pub(super) fn read(value: &Value) -> Trace {
    let text = value.as_str().unwrap_or_default().trim_start_matches('\u{feff}');
    let steps = conversation(text).unwrap_or_else(|| vec![Step::new(Role::Assistant, text.trim())]);
    Trace { steps, ..Trace::default() }
}

/// `User: …` and `Assistant: …`, from the first line on; anything else is not a conversation.
fn conversation(text: &str) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        in_fence ^= line.trim_start().starts_with("```");
        match mark(line).filter(|_| !in_fence) {
            Some((role, rest)) => steps.push(Step::new(role, rest.trim_start())),
            None if steps.is_empty() && line.trim().is_empty() => {}
            None => {
                let step = steps.last_mut()?;
                step.text.push('\n');
                step.text.push_str(line);
            }
        }
    }
    steps.iter_mut().for_each(|it| it.text = it.text.trim().to_owned());
    let has = |role: Role| steps.iter().any(|it| it.role == role);
    (has(Role::User) && has(Role::Assistant)).then_some(steps)
}

fn mark(line: &str) -> Option<(Role, &str)> {
    let (name, rest) = line.split_once(':')?;
    let is_name = matches!(
        name.to_ascii_lowercase().as_str(),
        "system" | "user" | "human" | "assistant" | "ai" | "tool"
    );
    is_name.then(|| (role_of(name), rest))
}
