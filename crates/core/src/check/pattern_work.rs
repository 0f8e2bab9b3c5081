//! What it takes to compile the patterns of a check, estimated from their texts.
//!
//! Ten letters such as `\w{1,900}` compile to a megabyte in milliseconds, so that a file of a megabyte could keep a
//! processor busy for minutes.

use serde_json::{Map, Value};

use super::read_check_method;
use crate::catalogue::{CheckName, GradingMethod, ParamKind};

/// A pattern, however short.
const BASE: u64 = 50;

/// `\w` is hundreds of ranges of letters, each of several bytes.
const LETTERS: u64 = 700;

/// `\d` is about sixty ranges.
const DIGITS: u64 = 150;

/// Beyond this, compiling ends with an error: engines allow ten megabytes, and a state takes about twenty bytes.
const MOST: u64 = 500_000;

/// The work of compiling a check: about the number of states of its automata.
pub(crate) fn estimate_check_work(method: &GradingMethod) -> u64 {
    estimate_literal_check_work(&method.without_escapes())
}

/// The same for a check whose texts are as they are carried out.
fn estimate_literal_check_work(method: &GradingMethod) -> u64 {
    let is_plain = |kind: &ParamKind| matches!(kind, ParamKind::Text | ParamKind::TextOrTexts);
    // A schema may be written as text.
    let is_schema = matches!(method.entry.check, Some(CheckName::Json(_) | CheckName::ToolCalls));
    // Where look-around is allowed, the limit on its size holds for each part of a pattern.
    let is_backtracking = matches!(method.entry.check, Some(CheckName::ToolCalls))
        || method.params.get("engine").is_some_and(|engine| engine == "backtracking");
    let estimate_text: fn(&str) -> u64 =
        if is_backtracking { estimate_states } else { estimate_pattern_work };
    let mut sum = 0_u64;
    for (name, value) in &method.params {
        let param = method.entry.params.iter().find(|param| param.name == name);
        let is_pattern = param.is_some_and(|param| matches!(param.kind, ParamKind::Pattern));
        let work = match value {
            Value::String(text) if is_pattern => estimate_text(text),
            Value::String(text) if is_schema => serde_json::from_str::<Value>(text)
                .map_or(0, |schema| estimate_value_work(&schema, estimate_text)),
            Value::Object(check) if name == "check" => {
                estimate_inner_check_work(check).unwrap_or_else(|| estimate_value_work(value, estimate_text))
            }
            _ if param.is_some_and(|param| is_plain(&param.kind)) => 0,
            _ => estimate_value_work(value, estimate_text),
        };
        sum = sum.saturating_add(work);
    }
    sum
}

/// The work of compiling the check that looks at what code makes of an output; `None` if it is no check.
fn estimate_inner_check_work(check: &Map<String, Value>) -> Option<u64> {
    let mut params = check.clone();
    let name = params.remove("type")?;
    let inner = read_check_method(name.as_str()?, &Value::Object(params)).ok()?;
    Some(estimate_literal_check_work(&inner))
}

/// Of texts that may be patterns, such as those of a JSON Schema. Most are not, so that only what makes a pattern larger
/// than its text counts.
fn estimate_value_work(value: &Value, estimate_text: fn(&str) -> u64) -> u64 {
    let of_text = |text: &str| subtract_length(estimate_text(text), text);
    match value {
        Value::String(text) => of_text(text),
        Value::Array(items) => {
            items.iter().map(|item| estimate_value_work(item, estimate_text)).fold(0, u64::saturating_add)
        }
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| of_text(key).saturating_add(estimate_value_work(value, estimate_text)))
            .fold(0, u64::saturating_add),
        _ => 0,
    }
}

fn subtract_length(work: u64, text: &str) -> u64 {
    work.saturating_sub(BASE + text.len() as u64)
}

/// The work of compiling a pattern whose engine has a limit on the size of the whole.
pub(crate) fn estimate_pattern_work(text: &str) -> u64 {
    estimate_states(text).min(MOST)
}

/// States of an automaton without a limit. A repetition with a count copies what is before it.
fn estimate_states(text: &str) -> u64 {
    let (mut groups, mut last) = (vec![0_u64], 0_u64);
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let size = match byte {
            b'(' => {
                groups.push(0);
                continue;
            }
            b')' if 1 < groups.len() => groups.pop().unwrap_or_default(),
            b'{' if bytes.peek().is_some_and(u8::is_ascii_digit) => {
                let mut counts = [0_u64; 2];
                let mut at = 0;
                while let Some(next) = bytes.next_if(|next| next.is_ascii_digit() || *next == b',') {
                    match next {
                        b',' => at = 1,
                        digit => {
                            counts[at] =
                                counts[at].saturating_mul(10).saturating_add(u64::from(digit - b'0'));
                        }
                    }
                }
                bytes.next_if_eq(&b'}');
                // The first copy is counted already.
                let count = counts[0].max(counts[1]).max(1);
                let more = last.saturating_mul(count - 1);
                last = last.saturating_add(more);
                add_to_innermost_group(&mut groups, more);
                continue;
            }
            b'\\' => match bytes.next() {
                Some(b'w' | b'W' | b'D' | b'S' | b'p' | b'P') => LETTERS,
                Some(b'd' | b's') => DIGITS,
                _ => 1,
            },
            _ => 1,
        };
        last = size;
        add_to_innermost_group(&mut groups, size);
    }
    groups.into_iter().fold(BASE, u64::saturating_add)
}

fn add_to_innermost_group(groups: &mut [u64], size: u64) {
    if let Some(innermost) = groups.last_mut() {
        *innermost = innermost.saturating_add(size);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_inside_of_other_parameters_count() {
        let work =
            |name: &str, params| estimate_literal_check_work(&read_check_method(name, &params).unwrap());
        let pattern = r"(?=\w{60})".repeat(100);
        let regex = json!({ "type": "regex", "engine": "backtracking", "value": pattern });
        let tools =
            json!([{ "name": "book", "parameters": { "properties": { "day": { "pattern": pattern } } } }]);
        for (name, params) in [
            ("is-json", json!({ "value": { "pattern": r"\w{600}" } })),
            ("is-json", json!({ "value": r#"{"pattern": "\\w{600}"}"# })),
            ("regex", json!({ "engine": "backtracking", "value": pattern })),
            ("javascript", json!({ "value": "output", "check": regex })),
            ("is-valid-openai-tools-call", json!({ "tools": tools })),
        ] {
            let least = if name == "is-json" { 600 * LETTERS } else { 100 * 60 * LETTERS };
            let found = work(name, params.clone());
            assert!(found.abs_diff(least) < 2_000, "{found}: {name} {params}");
        }
    }

    #[test]
    fn repetitions_multiply_what_is_before_them() {
        for (pattern, states) in [
            ("", 0),
            ("abc", 3),
            (r"a\{12}", 5),
            ("a{12}", 12),
            ("ab{3}", 4),
            ("a{2,30}", 30),
            ("a{2,}", 2),
            ("a{}", 3),
            ("(ab){4}", 8),
            ("((a{10}){10}){10}", 1_000),
            (r"\w{5}", 5 * LETTERS),
            (r"\d{4}-\d{2}", 6 * DIGITS + 1),
            ("(((", 0),
            (")a{3}", 4),
            ("a{99999999999999999999}{99999999999999999999}", u64::MAX - BASE),
        ] {
            assert_eq!(estimate_states(pattern), BASE + states, "{pattern}");
        }
    }
}
