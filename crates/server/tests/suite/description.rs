//! What the API says about itself is kept, so that others can be made from it.

use std::path::Path;

#[test]
fn the_description_that_is_kept_is_the_newest() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/openapi.json");
    let newest = jurist_server::description();
    if std::env::var_os("JURIST_BLESS").is_some() {
        std::fs::write(&path, &newest).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == newest, "schemas/openapi.json is not the newest; JURIST_BLESS=1 writes it");
}

#[test]
fn every_parameter_of_every_operation_has_a_description() {
    let description: serde_json::Value = serde_json::from_str(&jurist_server::description()).unwrap();
    let mut missing = Vec::new();
    for (path, operations) in description["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let undescribed = parameters.filter(|parameter| {
                parameter["description"].as_str().is_none_or(|text| text.trim().is_empty())
            });
            missing.extend(undescribed.map(|parameter| format!("{method} {path}: {}", parameter["name"])));
        }
    }
    assert!(missing.is_empty(), "parameters without a description:\n{}", missing.join("\n"));
}

#[test]
fn every_property_of_every_schema_has_a_description() {
    let description: serde_json::Value = serde_json::from_str(&jurist_server::description()).unwrap();
    let mut missing = Vec::new();
    for (name, schema) in description["components"]["schemas"].as_object().unwrap() {
        list_undescribed(name, schema, &mut missing);
    }
    assert!(missing.is_empty(), "properties without a description:\n{}", missing.join("\n"));
}

/// Properties of a schema and of the schemas inside it that have no description. The description of a property that
/// can be `null` is next to its reference, in `oneOf`.
fn list_undescribed(place: &str, schema: &serde_json::Value, missing: &mut Vec<String>) {
    let is_described = |property: &serde_json::Value| {
        let variants = property["oneOf"].as_array().into_iter().flatten();
        std::iter::once(property)
            .chain(variants)
            .any(|schema| schema["description"].as_str().is_some_and(|text| !text.trim().is_empty()))
    };
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if !is_described(property) {
            missing.push(format!("{place}: {name}"));
        }
        list_undescribed(&format!("{place}.{name}"), property, missing);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for variant in schema[key].as_array().into_iter().flatten() {
            list_undescribed(place, variant, missing);
        }
    }
    if schema["items"].is_object() {
        list_undescribed(&format!("{place}[]"), &schema["items"], missing);
    }
}
