//! JSON Schemas: of the data contract from its types, of files from the texts that describe their keys.

use schemars::generate::SchemaSettings;

use crate::grade::{Grade, Verdict};
use crate::run::Run;

/// What there is a schema of.
pub const SCHEMAS: [&str; 5] = ["suite", "grade", "verdict", "run", "config"];

/// A schema as the text of its file under `schemas/`.
pub fn schema(name: &str) -> Option<String> {
    let generated = |title: &str, schema: schemars::Schema| {
        let mut schema = schema.to_value();
        schema["$id"] = format!("https://jurist.dev/schemas/{name}.schema.json").into();
        schema["title"] = title.into();
        serde_json::to_string_pretty(&schema).expect("a schema serialises") + "\n"
    };
    let generator = || SchemaSettings::draft2020_12().into_generator();
    match name {
        "grade" => Some(generated("Grade", generator().into_root_schema_for::<Grade>())),
        "verdict" => Some(generated("Verdict", generator().into_root_schema_for::<Verdict>())),
        "run" => Some(generated("Run", generator().into_root_schema_for::<Run>())),
        "suite" => Some(include_str!("../../../schemas/suite.schema.json").to_owned()),
        "config" => Some(include_str!("../../../schemas/config.schema.json").to_owned()),
        _ => None,
    }
}
