//! JSON Schemas: of the data contract from its types, of files from the texts that describe their keys.

use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

use crate::annotate::Form;
use crate::candidate::Trace;
use crate::grade::{Grade, Verdict};
use crate::run::Run;

/// What there is a schema of.
pub const SCHEMAS: [&str; 7] = ["suite", "grade", "verdict", "run", "trace", "annotation", "config"];

/// A name and a text by turns, with a zero byte behind each, as `build.rs` packs them.
static SCHEMA_TEXTS: LazyLock<String> = LazyLock::new(|| {
    let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.gz"));
    let mut texts = String::new();
    GzDecoder::new(packed).read_to_string(&mut texts).expect("the build packs texts");
    texts
});

/// A schema as the text of its file under `schemas/`.
pub fn schema(name: &str) -> Option<&'static str> {
    let mut parts = SCHEMA_TEXTS.split('\0');
    while let (Some(found), Some(text)) = (parts.next(), parts.next()) {
        if found == name {
            return Some(text);
        }
    }
    None
}

/// The schema of a type of the data contract, from the type. A test writes it into its file: the program has the file
/// alone, because code that describes the types is larger.
pub fn generate_schema(name: &str) -> Option<String> {
    let generated = |title: &str, schema: schemars::Schema| {
        let mut schema = schema.to_value();
        schema["$id"] = format!("urn:jurist:schema:{name}").into();
        schema["title"] = title.into();
        describe_tags(&mut schema);
        serde_json::to_string_pretty(&schema).expect("a schema serialises") + "\n"
    };
    let generator = || SchemaSettings::draft2020_12().into_generator();
    match name {
        "grade" => Some(generated("Grade", generator().into_root_schema_for::<Grade>())),
        "verdict" => Some(generated("Verdict", generator().into_root_schema_for::<Verdict>())),
        "trace" => Some(generated("Trace", generator().into_root_schema_for::<Trace>())),
        "annotation" => Some(generated("Form", generator().into_root_schema_for::<Form>())),
        "run" => Some(generated("Run", generator().into_root_schema_for::<Run>())),
        _ => None,
    }
}

/// Adds a description to the tag of each enum variant, such as `kind`. A tag is not a field of the Rust type, so a doc
/// comment cannot describe it.
///
/// The text depends only on the definition: the generated TypeScript types need the same definition in every schema.
fn describe_tags(schema: &mut Json) {
    let Some(definitions) = schema.get_mut("$defs").and_then(Json::as_object_mut) else { return };
    for (name, definition) in definitions {
        let variants = definition.get_mut("oneOf").and_then(Json::as_array_mut).into_iter().flatten();
        let fields = variants.filter_map(|variant| variant.get_mut("properties")?.as_object_mut());
        for property in fields.flat_map(serde_json::Map::values_mut).filter_map(Json::as_object_mut) {
            let Some(tag) = property.get("const").and_then(Json::as_str) else { continue };
            let text = format!("Always `{tag}` in this variant of `{name}`.");
            property.entry("description").or_insert(text.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the path of every property without a description, inside of `schema` and of what it contains.
    fn add_undescribed_properties(schema: &Json, path: &str, undescribed: &mut Vec<String>) {
        match schema {
            Json::Object(keywords) => {
                for (keyword, value) in keywords {
                    let path = format!("{path}/{keyword}");
                    match (keyword.as_str(), value) {
                        // The values of these keywords are data, not schemas.
                        ("const" | "default" | "enum" | "examples", _) => {}
                        ("properties", Json::Object(properties)) => {
                            for (name, property) in properties {
                                let path = format!("{path}/{name}");
                                if !is_described(property) {
                                    undescribed.push(path.clone());
                                }
                                add_undescribed_properties(property, &path, undescribed);
                            }
                        }
                        _ => add_undescribed_properties(value, &path, undescribed),
                    }
                }
            }
            Json::Array(schemas) => {
                for (at, schema) in schemas.iter().enumerate() {
                    add_undescribed_properties(schema, &format!("{path}/{at}"), undescribed);
                }
            }
            _ => {}
        }
    }

    fn is_described(property: &Json) -> bool {
        // `false` forbids a key next to another key. A boolean cannot have a description; the key is described where it
        // is allowed. For the equivalent object, `{"not": {}}`, editors show an error that does not name the key.
        *property == Json::Bool(false)
            || property["description"].as_str().is_some_and(|text| !text.trim().is_empty())
    }

    #[test]
    fn a_schema_is_the_text_of_its_file() {
        for name in SCHEMAS {
            let file = format!("{}/../../schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
            assert_eq!(schema(name), Some(std::fs::read_to_string(file).unwrap().as_str()), "{name}");
        }
        for absent in ["", "openapi", "suite.schema.json", "{"] {
            assert_eq!(schema(absent), None, "{absent}");
        }
    }

    #[test]
    fn every_property_has_a_description() {
        let mut undescribed = Vec::new();
        for name in SCHEMAS {
            let text = generate_schema(name).unwrap_or_else(|| schema(name).unwrap().to_owned());
            let schema: Json = serde_json::from_str(&text).unwrap();
            add_undescribed_properties(&schema, name, &mut undescribed);
        }
        assert!(
            undescribed.is_empty(),
            "{} properties have no description: {undescribed:#?}",
            undescribed.len()
        );
    }

    #[test]
    fn missing_descriptions_are_found() {
        let schema = serde_json::json!({
            "properties": {
                "properties": { "description": "Named like a keyword.", "default": { "properties": { "a": 1 } } },
                "any": true,
                "blank": { "$ref": "#/$defs/a", "description": " " },
                "nested": { "description": "Fine.", "items": { "properties": { "bare": { "type": "string" } } } },
            },
            "allOf": [{ "then": { "properties": { "forbidden": false, "value": { "minItems": 1 } } } }],
        });
        let mut undescribed = Vec::new();
        add_undescribed_properties(&schema, "x", &mut undescribed);
        undescribed.sort();
        assert_eq!(
            undescribed,
            [
                "x/allOf/0/then/properties/value",
                "x/properties/any",
                "x/properties/blank",
                "x/properties/nested/items/properties/bare",
            ]
        );
    }

    #[test]
    fn grades_fit_their_schema_and_broken_ones_do_not() {
        let schema: serde_json::Value = serde_json::from_str(&generate_schema("grade").unwrap()).unwrap();
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
