//! Keys: those of the schema are those of the reader, and a key that is wrong or in the wrong place has a hint.

#![cfg(test)]

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::*;
use crate::dialect::context::RequestedKeys;
use crate::source::SourceNode;

/// Every key that the reader requests, by kind of mapping, over all example files.
fn collect_requested_keys() -> RequestedKeys {
    let native =
        ["dialects/native", "broken/native", "converted/native", "converted/potato", "converted/monitor"];
    let paths = native.iter().flat_map(|native| files(native)).map(|path| (path, Dialect::Native));
    // The block of annotation tasks has spellings that the native form does not write.
    let potato = files("dialects/potato").into_iter().map(|file| (file, Dialect::Potato));
    let mut all = RequestedKeys::new();
    for (path, dialect) in paths.chain(potato) {
        let requested = with_world(&path, |world| {
            let cx = Context::new(world, u64::MAX);
            read_file(&cx, &path, Some(dialect));
            cx.requested_keys()
        });
        for (what, keys) in requested {
            all.entry(what).or_default().extend(keys);
        }
    }
    all
}

#[test]
fn the_suite_schema_knows_exactly_the_keys_that_are_read() {
    let schema: Json = serde_json::from_str(crate::schema::schema("suite").unwrap()).unwrap();
    let requested = collect_requested_keys();

    // Keys of checks come from the catalogue, type by type; the others are not part of native files.
    let elsewhere = [
        "check",
        "recipe",
        "set of parameters",
        "settings file",
        "price",
        "vendor",
        "network",
        "set of limits",
        "data file",
        "label",
        "label requirement",
        "display logic",
        "condition of display logic",
        "annotation task",
        "evaluator file",
        "evaluator",
        "dag",
        "dag node",
        "list of criteria",
        "ai_support",
        "ai_config",
        "free response",
    ];
    for (what, keys) in requested.iter().filter(|(what, _)| !elsewhere.contains(what)) {
        let definition = &schema["$defs"][what.replace(' ', "_")];
        let known =
            definition["properties"].as_object().unwrap_or_else(|| panic!("the schema lacks `{what}`"));
        let known: BTreeSet<&str> = known.keys().map(String::as_str).collect();
        let extra: Vec<_> = known.difference(keys).collect();
        let missing: Vec<_> = keys.difference(&known).collect();
        assert!(
            extra.is_empty() && missing.is_empty(),
            "{what}: only the schema has {extra:?}, only the reader {missing:?}"
        );
    }
}

#[test]
fn the_suite_schema_lists_every_check_and_recipe() {
    let schema: Json = serde_json::from_str(crate::schema::schema("suite").unwrap()).unwrap();
    for (what, entries) in [("check", crate::catalogue::CHECKS), ("recipe", crate::catalogue::RECIPES)] {
        let listed = schema["$defs"][what]["properties"]["type"]["enum"].as_array().unwrap();
        let listed: BTreeSet<&str> = listed.iter().filter_map(Json::as_str).collect();
        assert_eq!(listed, entries.iter().map(|entry| entry.name).collect(), "{what}");
    }
}

#[test]
fn native_files_fit_the_suite_schema() {
    let schema: Json = serde_json::from_str(crate::schema::schema("suite").unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let folders = [
        "dialects/native",
        "converted/native",
        "converted/agentv",
        "converted/promptfoo",
        "converted/potato",
        "converted/monitor",
    ];
    let paths: Vec<PathBuf> = folders.iter().flat_map(|folder| files(folder)).collect();
    assert!(50 < paths.len());
    for path in paths {
        let json = with_world(&path, |world| {
            let cx = Context::new(world, u64::MAX);
            let file = cx.sources.borrow_mut().add(&path, (world.read)(&path).unwrap());
            cx.parse(file).as_ref().map(SourceNode::to_json).unwrap()
        });
        let errors: Vec<String> = validator
            .iter_errors(&json)
            .map(|validation_error| format!("{}: {validation_error}", validation_error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

/// The help about each key of a file that is unknown, or that makes the file fit no dialect.
fn helps_about_keys(text: &str) -> Vec<Option<String>> {
    let diagnostics = load_text(text).diagnostics;
    let about_keys = diagnostics
        .iter()
        .filter(|diagnostic| [Code::UnknownKey, Code::UnknownDialect].contains(&diagnostic.code));
    about_keys.map(|diagnostic| diagnostic.help.clone()).collect()
}

#[test]
fn a_key_that_is_set_is_not_suggested() {
    let meant = |name: &str| Some(format!("did you mean `{name}`?"));
    let absent = "evals: [{name: a, respones: b, rubric: It is polite.}]";
    assert_eq!(helps_about_keys(absent), [meant("response")]);
    let present = "evals: [{name: a, response: b, respones: b, rubric: It is polite.}]";
    assert_eq!(helps_about_keys(present), [None]);
    // `agent` is right, and is not taken for a slip of `agents`.
    assert_eq!(helps_about_keys("agent: desk\nrubirc: It is polite."), [meant("rubric")]);
    assert_eq!(helps_about_keys("agent: desk\nagant: desk"), [None]);
}

#[test]
fn a_list_that_is_a_part_of_a_suite_says_where_it_belongs() {
    let part = |text: &str| {
        let diagnostics = load_text(text).diagnostics;
        diagnostics.iter().find_map(|diagnostic| diagnostic.help.clone()).unwrap_or_default()
    };
    assert!(part("- {id: a, input: q, assert: [It greets]}").starts_with("these are tests"));
    assert!(part("- {type: contains, value: a}").starts_with("these are assertions"));
    assert!(part("- {id: openai, config: {model: gpt-5}}").starts_with("these are providers"));
    assert!(part("- {id: a, input: q}").starts_with("`jurist init`"));
}

#[test]
fn a_key_that_belongs_elsewhere_says_where() {
    let alone = "judge: {calibrations: [tone.json]}\ncriteria: [{name: kind, description: It is kind.}]";
    let home = "`judge` is a key of a suite (with the rubric under `rubrics`), of an eval, and of `.jurist/config.yaml`";
    assert_eq!(helps_about_keys(alone), [Some(home.to_owned())]);
}

#[test]
fn an_annotation_without_schemes_says_how_a_rubric_is_asked() {
    let loaded = load_text(
        "rubrics: {r: {criteria: [{name: kind, description: It is kind.}]}}\nannotation: {data_files: []}",
    );
    let missing = loaded.diagnostics.iter().find(|diagnostic| diagnostic.code == Code::MissingKey).unwrap();
    assert_eq!(missing.message, "an annotation needs `annotation_schemes`");
    assert!(
        missing.notes[0].contains("`POST /api/v1/tasks` with `rubric` and `traces`"),
        "{:?}",
        missing.notes
    );
}
