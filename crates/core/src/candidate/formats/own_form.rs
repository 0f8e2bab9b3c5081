//! Jurist's own form, as `jurist trace convert` prints it.

use serde_json::{Map, Value};

use super::TraceError;
use crate::candidate::trace::Trace;
use crate::diagnostic::closest;

const TRACE_KEYS: [&str; 9] =
    ["id", "task", "steps", "nodes", "usage", "cost", "duration_ms", "status", "files"];
const STEP_KEYS: [&str; 13] = [
    "role",
    "agent",
    "depth",
    "text",
    "reasoning",
    "tool_calls",
    "results",
    "files",
    "screenshot",
    "time",
    "duration_ms",
    "usage",
    "cost",
];
const CALL_KEYS: [&str; 4] = ["id", "name", "arguments", "duration_ms"];
const RESULT_KEYS: [&str; 4] = ["call", "name", "text", "error"];
const ROLES: [&str; 5] = ["system", "user", "assistant", "tool", "other"];

/// An object with more keys, or a longer one, is something else.
const MAX_KEYS: usize = 40;
const MAX_KEY: usize = 40;

/// The name of `text` in another format, misspelt; spelt right, it is a message of that format.
const MISSPELT_CONTENT: &str = "contents";

pub(super) fn is_own_form(value: &Value) -> bool {
    let steps = value.get("steps").and_then(Value::as_array);
    steps.is_some_and(|step| step.iter().all(|value| value.get("role").is_some()))
        && serde_json::from_value::<Trace>(value.clone()).is_ok()
}

pub(super) fn read_own_form(value: &Value) -> Trace {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

/// Refuses a trace in our own form with a misspelt key. Another format would read it without what the key holds, and a
/// check that a tool was never called would pass.
///
/// A trace is in our own form if all keys of its steps, calls and results are, apart from those that are misspelt.
pub(super) fn check_keys(value: &Value) -> Result<(), TraceError> {
    let Some(trace) = value.as_object().filter(|trace| trace.len() <= MAX_KEYS) else { return Ok(()) };
    let mut slips = Slips::default();
    slips.check_object(trace, &TRACE_KEYS, "");
    let key = if trace.contains_key("steps") { Some("steps") } else { slips.written_for("steps") };
    let steps = key.and_then(|key| Some((key, trace.get(key)?.as_array()?)));
    let Some((key, steps)) = steps.filter(|(_, steps)| !steps.is_empty()) else { return Ok(()) };
    let mut is_own = true;
    for (at, step) in steps.iter().enumerate() {
        let is_role = |step: &Map<String, Value>| {
            step.get("role").and_then(Value::as_str).is_some_and(|role| ROLES.contains(&role))
        };
        let Some(step) = step.as_object().filter(|step| is_role(step)) else { return Ok(()) };
        let place = format!("{key}[{at}].");
        is_own &= slips.check_object(step, &STEP_KEYS, &place);
        for (list, known) in [("tool_calls", &CALL_KEYS), ("results", &RESULT_KEYS)] {
            let list = step.get(list).or_else(|| step.get(closest_to(list, step)?));
            for item in list.and_then(Value::as_array).into_iter().flatten() {
                is_own &= item.as_object().is_some_and(|item| slips.check_object(item, known, &place));
            }
        }
    }
    match slips.found.into_iter().next() {
        Some(slip) if is_own => Err(TraceError::MisspeltKey { written: slip.place, meant: slip.meant }),
        _ => Ok(()),
    }
}

/// The key of a step that is written in place of this one.
fn closest_to<'s>(wanted: &str, step: &'s Map<String, Value>) -> Option<&'s String> {
    let is_meant = |key: &&String| key.len() <= MAX_KEY && closest(key, &STEP_KEYS) == Some(wanted);
    step.keys().filter(|key| !STEP_KEYS.contains(&key.as_str())).find(is_meant)
}

#[derive(Default)]
struct Slips<'v> {
    found: Vec<Slip<'v>>,
}

struct Slip<'v> {
    written: &'v str,
    /// The written key, with where it is.
    place: String,
    meant: &'static str,
}

impl<'v> Slips<'v> {
    /// Collects misspelt keys of an object, and returns whether it has no other unknown keys.
    fn check_object(&mut self, object: &'v Map<String, Value>, known: &[&'static str], place: &str) -> bool {
        let absent: Vec<&'static str> =
            known.iter().copied().filter(|key| !object.contains_key(*key)).collect();
        let mut is_known = true;
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            let for_text = absent.contains(&"text") && key == MISSPELT_CONTENT;
            let close = if key.len() <= MAX_KEY { closest(key, &absent) } else { None };
            match close.or(for_text.then_some("text")) {
                Some(meant) => {
                    self.found.push(Slip { written: key, place: format!("{place}{key}"), meant });
                }
                None => is_known = false,
            }
        }
        is_known
    }

    fn written_for(&self, meant: &str) -> Option<&'v str> {
        self.found.iter().find(|slip| slip.meant == meant).map(|slip| slip.written)
    }
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;
    use crate::candidate::trace::{StepRole, ToolCall, ToolResult, TraceStep};

    fn keys(schema: &schemars::Schema) -> Vec<String> {
        schema.get("properties").unwrap().as_object().unwrap().keys().cloned().collect()
    }

    fn sorted(known: &[&str]) -> Vec<String> {
        let mut known: Vec<String> = known.iter().map(|key| (*key).to_owned()).collect();
        known.sort();
        known
    }

    #[test]
    fn the_keys_of_the_own_form_are_those_of_its_schema() {
        for (schema, known) in [
            (schema_for!(Trace), &TRACE_KEYS[..]),
            (schema_for!(TraceStep), &STEP_KEYS[..]),
            (schema_for!(ToolCall), &CALL_KEYS[..]),
            (schema_for!(ToolResult), &RESULT_KEYS[..]),
        ] {
            let mut of_schema = keys(&schema);
            of_schema.sort();
            assert_eq!(of_schema, sorted(known));
        }
        for role in ROLES {
            assert!(serde_json::from_value::<StepRole>(role.into()).is_ok(), "{role}");
        }
    }
}
