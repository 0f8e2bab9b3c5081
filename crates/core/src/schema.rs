//! JSON Schemas: of the data contract from its types, of files from the texts that describe their keys.

use schemars::generate::SchemaSettings;

use crate::annotate::Form;
use crate::candidate::Trace;
use crate::grade::{Grade, Verdict};
use crate::run::Run;

/// What there is a schema of.
pub const SCHEMAS: [&str; 7] = ["suite", "grade", "verdict", "run", "trace", "annotation", "config"];

/// A schema as the text of its file under `schemas/`.
pub fn schema(name: &str) -> Option<String> {
    let generated = |title: &str, schema: schemars::Schema| {
        let mut schema = schema.to_value();
        schema["$id"] = format!("urn:jurist:schema:{name}").into();
        schema["title"] = title.into();
        serde_json::to_string_pretty(&schema).expect("a schema serialises") + "\n"
    };
    let generator = || SchemaSettings::draft2020_12().into_generator();
    match name {
        "grade" => Some(generated("Grade", generator().into_root_schema_for::<Grade>())),
        "verdict" => Some(generated("Verdict", generator().into_root_schema_for::<Verdict>())),
        "trace" => Some(generated("Trace", generator().into_root_schema_for::<Trace>())),
        "annotation" => Some(generated("Form", generator().into_root_schema_for::<Form>())),
        "run" => Some(generated("Run", generator().into_root_schema_for::<Run>())),
        "suite" => Some(include_str!("../../../schemas/suite.schema.json").to_owned()),
        "config" => Some(include_str!("../../../schemas/config.schema.json").to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_fit_their_schema_and_broken_ones_do_not() {
        let schema: serde_json::Value = serde_json::from_str(&schema("grade").unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let grade = |outcome: &str| -> serde_json::Value {
            let text = format!(
                r#"{{"candidate": "a", "criterion": "b", "grader": {{"kind": "judge", "name": "m"}}, "outcome": {outcome},
                    "evidence": [{{"quote": "x", "found": {{"in": "response", "start": 0, "end": 1}}}}],
                    "spend": {{"tokens_in": 5, "cost": 0.25}}, "time": "2026-03-20T10:15:32Z"}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        for outcome in [
            r#"{"kind": "scored", "value": 4, "unit": 0.75}"#,
            r#"{"kind": "scored", "value": "yes"}"#,
            r#"{"kind": "not_applicable"}"#,
            r#"{"kind": "abstained", "why": "too short"}"#,
            r#"{"kind": "failed", "failure": "timeout", "detail": "60 s"}"#,
            r#"{"kind": "deferred", "why": "no_key"}"#,
        ] {
            let json = grade(outcome);
            assert!(validator.is_valid(&json), "{outcome}");
            // What the program writes fits as well, and reads back as the same grade.
            let read: Grade = serde_json::from_value(json).unwrap();
            let written = serde_json::to_value(&read).unwrap();
            assert!(validator.is_valid(&written), "{written}");
            assert_eq!(serde_json::from_value::<Grade>(written).unwrap(), read);
        }
        for outcome in
            [r#"{"kind": "scored"}"#, r#"{"kind": "failed", "failure": "tired"}"#, r#"{"kind": "lost"}"#, "0"]
        {
            assert!(!validator.is_valid(&grade(outcome)), "{outcome}");
        }
    }
}
