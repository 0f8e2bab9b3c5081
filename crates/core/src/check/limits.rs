//! How much a check may compute.
//!
//! Rubrics and candidates may come from strangers, and several checks take time that grows with the product of two
//! sizes, or faster. Each has a limit on that product, so that none takes more than a few seconds on one core, and
//! whether a check is over its limit is the same on every machine. Beyond it the check fails; it never scores.

use std::collections::HashMap;

use serde_json::Value;

use super::CheckFinding;

/// Characters of one text times characters of the other; rapidfuzz does about 10^10 a second.
pub(super) const MAX_EDIT_CELLS: usize = 20_000_000_000;

/// Steps of a backtracking pattern on a short text; enough for honest patterns.
pub(super) const MAX_STEPS: usize = 100_000;

/// In a hostile pattern each step reads the whole text; an honest one takes about a step for each byte.
const MAX_STEP_BYTES: usize = 270_000_000;

/// Longer texts are not given to a backtracking pattern. The worst known one takes 5 s of CPU on a text of this size.
pub(super) const MAX_BACKTRACKING_BYTES: usize = 64 << 10;

/// Texts for a linear pattern, which takes time by the text times the size of the compiled pattern.
pub(super) const MAX_PATTERN_BYTES: usize = 4 << 20;
pub(super) const MAX_BYTES_OF_LARGE_PATTERN: usize = 256 << 10;

/// A pattern that compiles to more is a large one.
pub(super) const LARGE_PATTERN: usize = 64 << 10;

/// Bytes of a text times the texts that are searched for in it, or times places at which JSON may begin.
pub(super) const MAX_SEARCHED_BYTES: usize = 4_000_000_000;

/// Tags of XML or HTML that are read before the check looks whether it was stopped: less than a millisecond of work.
pub(super) const TAGS_BETWEEN_STOP_CHECKS: usize = 4096;

/// Tool calls times the calls that they are compared with.
pub(super) const MAX_CALL_PAIRS: usize = 1_000_000;

/// The longest run of words that `rouge-n` counts.
pub(super) const MAX_GRAM: f64 = 100.0;

/// How many times a JSON Schema may look at a part of a value.
const MAX_SCHEMA_VISITS: u64 = 5_000_000;

/// Different pairs of a subschema and a part of a value.
const MAX_SCHEMA_PAIRS: usize = 500_000;

/// Schemas and values in which more is nested are refused; the validator recurses.
const MAX_SCHEMA_DEPTH: usize = 400;

/// The finding of a check that would take too long if `size` times `other` is more than `most`.
pub(super) fn over_limit(size: usize, other: usize, most: usize, what: &str) -> Option<CheckFinding> {
    let is_over = size.checked_mul(other).is_none_or(|product| most < product);
    is_over.then(|| CheckFinding::from_failure(format!("{what}: {size} times {other} is more than {most}")))
}

/// How many steps a backtracking pattern may take on a text of so many bytes.
pub(super) fn backtracking_steps(n_bytes: usize) -> usize {
    (2 * n_bytes).max(MAX_STEP_BYTES / n_bytes.max(1)).min(MAX_STEPS)
}

/// Whether validating a value by a schema stays within the limits.
///
/// A schema of a few hundred bytes can double the work with each of its definitions, or with each level of the value.
/// So every visit is counted first, each pair of subschema and part of the value once.
pub(super) fn fits_schema_limits(schema: &Value, value: &Value) -> bool {
    let mut count = VisitCount { root: schema, known: HashMap::new() };
    count.visits(schema, value, 0).is_some_and(|visits| visits <= MAX_SCHEMA_VISITS)
}

struct VisitCount<'s> {
    root: &'s Value,
    /// By the addresses of subschema and value; `None` while it is being counted.
    known: HashMap<(usize, usize), Option<u64>>,
}

impl VisitCount<'_> {
    /// `None` where there are too many to count, or where a schema refers to itself without end.
    fn visits(&mut self, schema: &Value, value: &Value, depth: usize) -> Option<u64> {
        let Value::Object(keywords) = schema else { return Some(1) };
        let key = (std::ptr::from_ref(schema).addr(), std::ptr::from_ref(value).addr());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if MAX_SCHEMA_DEPTH < depth || MAX_SCHEMA_PAIRS < self.known.len() {
            return None;
        }
        self.known.insert(key, None);
        let mut visits = own_visits(schema, value);
        for (keyword, subschema) in keywords {
            visits = visits.saturating_add(self.keyword_visits(keyword, subschema, value, depth + 1)?);
        }
        self.known.insert(key, Some(visits));
        Some(visits)
    }

    fn keyword_visits(&mut self, keyword: &str, schema: &Value, value: &Value, depth: usize) -> Option<u64> {
        let children = || -> Vec<&Value> {
            match value {
                Value::Array(items) => items.iter().collect(),
                Value::Object(map) => map.values().collect(),
                _ => Vec::new(),
            }
        };
        let subschemas = || -> Vec<&Value> {
            match schema {
                Value::Array(items) => items.iter().collect(),
                Value::Object(map) => map.values().collect(),
                _ => Vec::new(),
            }
        };
        let pairs: Vec<(&Value, &Value)> = match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                let root = self.root;
                return self.visits(refer(root, schema.as_str()?), value, depth);
            }
            "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => {
                subschemas().into_iter().map(|subschema| (subschema, value)).collect()
            }
            "not" | "if" | "then" | "else" => vec![(schema, value)],
            "properties" => {
                let named = schema.as_object().into_iter().flatten();
                named.filter_map(|(name, subschema)| Some((subschema, value.get(name)?))).collect()
            }
            "patternProperties" | "prefixItems" => {
                let all = children();
                subschemas().into_iter().flat_map(|sub| all.iter().map(move |child| (sub, *child))).collect()
            }
            "items" if schema.is_array() => {
                let items = value.as_array().into_iter().flatten();
                subschemas().into_iter().zip(items).collect()
            }
            "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedProperties" => children().into_iter().map(|child| (schema, child)).collect(),
            _ => Vec::new(),
        };
        pairs.into_iter().try_fold(0, |sum: u64, (subschema, value)| {
            Some(sum.saturating_add(self.visits(subschema, value, depth)?))
        })
    }
}

/// What a schema does with a value in addition to its subschemas.
fn own_visits(schema: &Value, value: &Value) -> u64 {
    let n_choices = schema.get("enum").and_then(Value::as_array).map_or(0, Vec::len) as u64;
    let unique = match value {
        Value::Array(items) if schema.get("uniqueItems") == Some(&Value::Bool(true)) => {
            (items.len() as u64).saturating_pow(2) / 8
        }
        _ => 0,
    };
    let text = match value {
        Value::String(text) if schema.get("pattern").is_some() => text.len() as u64 / 8,
        _ => 0,
    };
    1 + n_choices + unique + text
}

/// Where a reference leads; one to an anchor or another document is taken to lead to the root.
fn refer<'s>(root: &'s Value, reference: &str) -> &'s Value {
    let pointer = reference.strip_prefix('#').unwrap_or_default();
    root.pointer(&pointer.replace("%25", "%")).unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Check, CheckSubject};
    use super::*;

    fn run(name: &str, params: &Value, output: &Value, reference: &Value) -> CheckFinding {
        Check::new(name, params).unwrap().run(&CheckSubject::from_outputs(output, Some(reference)))
    }

    #[test]
    fn what_would_take_too_long_fails_and_has_no_score() {
        let long = |unit: &str, n: usize| json!(unit.repeat(n));
        let calls = |n: usize| {
            let call = |n: usize| json!({ "id": n.to_string(), "type": "function", "function": { "name": "t", "arguments": format!("{{\"n\": {n}}}") } });
            json!([{ "role": "assistant", "tool_calls": (0..n).map(call).collect::<Vec<_>>() }])
        };
        let needles: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
        for (name, params, output, reference) in [
            ("edit_distance", json!({}), long("ab", 300_000), long("ba", 300_000)),
            ("levenshtein", json!({ "value": "x".repeat(600_000) }), long("y", 600_000), json!("")),
            ("regex", json!({ "value": "(a+)+\\1b", "engine": "backtracking" }), long("a", 5_000), json!("")),
            ("regex", json!({ "value": "(?=b)b", "engine": "backtracking" }), long("a", 2 << 20), json!("")),
            ("regex", json!({ "value": "[ab]{4000}c" }), long("a", 1 << 20), json!("")),
            ("regex", json!({ "value": "b" }), long("a", 5 << 20), json!("")),
            ("contains-any", json!({ "value": needles }), long("a", 1 << 20), json!("")),
            ("contains-json", json!({}), long("{\"", 4 << 20), json!("")),
            ("trajectory_match", json!({ "mode": "unordered" }), calls(3000), calls(3000)),
            ("tool_call_accuracy", json!({}), calls(3000), calls(3000)),
        ] {
            let finding = run(name, &params, &output, &reference);
            assert!(finding.failed && finding.score.is_none(), "{name} {params:.60}: {finding:?}");
        }
    }

    #[test]
    fn honest_sizes_are_decided() {
        let text = "The request was not approved by anybody. ".repeat(1_000);
        let lookbehind = json!({ "value": "(?<!not )approved", "engine": "backtracking" });
        assert_eq!(run("regex", &lookbehind, &json!(text), &json!("")).score, Some(0.0));
        let word = json!({ "value": "(?i)order \\d{4}-\\d{4}$" });
        assert_eq!(
            run("regex", &word, &json!(format!("{text}order 1234-5678")), &json!("")).score,
            Some(1.0)
        );
        let words = "word ".repeat(10_000);
        assert_eq!(run("edit_distance", &json!({}), &json!(words), &json!(words)).score, Some(1.0));
    }

    #[test]
    fn a_schema_that_multiplies_its_work_fails() {
        let doubling: Value = (0..60)
            .map(|n| {
                let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
                (format!("d{n}"), json!({ "allOf": [next.clone(), next] }))
            })
            .chain([("d60".to_owned(), json!({ "type": "integer" }))])
            .collect::<serde_json::Map<_, _>>()
            .into();
        let by_definition = json!({ "$defs": doubling, "$ref": "#/$defs/d0" });
        let by_level = json!({ "properties": { "a": { "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] } } });
        let deep = (0..60).fold(json!(1), |inner, _| json!({ "a": inner }));
        let endless = json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" });
        let unique = json!({ "uniqueItems": true });
        let items: Value = (0..50_000).map(|n| json!([n])).collect();
        for (schema, value) in
            [(by_definition, json!(1)), (by_level, deep), (endless, json!(1)), (unique, items)]
        {
            let finding = run("json_schema_match", &json!({ "schema": schema }), &value, &json!(null));
            assert!(finding.failed && finding.score.is_none(), "{schema:.80}: {finding:?}");
        }
        let tree = json!({ "type": "object", "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" }, "n": { "type": "integer" } } });
        let value = (0..10)
            .fold(json!({ "n": 1 }), |inner, _| json!({ "left": inner, "right": inner.clone(), "n": 2 }));
        let finding = run("json_schema_match", &json!({ "schema": tree }), &value, &json!(null));
        assert_eq!(finding.score, Some(1.0), "{finding:?}");
    }
}
