use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;

use super::context::RequestedKeys;
use super::*;
use crate::diagnostic::DiagnosticSeverity;
use crate::source::SourceNode;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn files(folder_name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(folder_name)).unwrap().map(|dir| dir.unwrap().path());
    entries.filter(|entry| entry.extension().is_some_and(|extension| extension == "yaml")).collect()
}

fn with_world<T>(path: &Path, act: impl FnOnce(&ProjectEnvironment<'_>) -> T) -> T {
    let read = |path: &Path| fs::read_to_string(path).map(Into::into).map_err(|_| ReadError::Missing);
    let world = ProjectEnvironment {
        root: path.parent().unwrap().to_owned(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &refuse_scripts,
    };
    act(&world)
}

/// Every key that the reader asked for, by kind of mapping, over all that a native file can hold.
fn asked() -> RequestedKeys {
    let native =
        ["dialects/native", "broken/native", "converted/native", "converted/potato", "converted/monitor"];
    let paths = native.iter().flat_map(|native| files(native)).map(|path| (path, Dialect::Native));
    // The block of annotation tasks has spellings that the native form does not write.
    let potato = files("dialects/potato").into_iter().map(|file| (file, Dialect::Potato));
    let mut all = RequestedKeys::new();
    for (path, dialect) in paths.chain(potato) {
        let asked = with_world(&path, |world| {
            let cx = Context::new(world, u64::MAX);
            read_file(&cx, &path, Some(dialect));
            cx.requested_keys()
        });
        for (what, keys) in asked {
            all.entry(what).or_default().extend(keys);
        }
    }
    all
}

#[test]
fn the_suite_schema_knows_exactly_the_keys_that_are_read() {
    let schema: Json = serde_json::from_str(&crate::schema::schema("suite").unwrap()).unwrap();
    let asked = asked();

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
    for (what, keys) in asked.iter().filter(|asked| !elsewhere.contains(asked.0)) {
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
    let schema: Json = serde_json::from_str(&crate::schema::schema("suite").unwrap()).unwrap();
    for (what, entries) in [("check", crate::catalogue::CHECKS), ("recipe", crate::catalogue::RECIPES)] {
        let listed = schema["$defs"][what]["properties"]["type"]["enum"].as_array().unwrap();
        let listed: BTreeSet<&str> = listed.iter().filter_map(Json::as_str).collect();
        assert_eq!(listed, entries.iter().map(|entry| entry.name).collect(), "{what}");
    }
}

#[test]
fn native_files_fit_the_suite_schema() {
    let schema: Json = serde_json::from_str(&crate::schema::schema("suite").unwrap()).unwrap();
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

#[test]
fn every_preset_is_a_valid_rubric() {
    for preset in crate::rubric::presets::ALL {
        let suite = format!("rubrics:\n  it: {{preset: {}}}\n", preset.name);
        let loaded = load_text(&suite);
        assert!(loaded.suite.is_some(), "{}: {:#?}", preset.name, loaded.diagnostics);
        assert!(!preset.description().is_empty(), "{} says what it is for", preset.name);
    }
}

#[test]
fn files_imported_many_times_are_read_once() {
    // Each file imports the next one twice: read anew each time, thirty levels would be a billion files.
    let read = |path: &Path| {
        let level: usize = path
            .file_stem()
            .and_then(|file_stem| file_stem.to_str()?.parse().ok())
            .ok_or(ReadError::Missing)?;
        let next = level + 1;
        Ok(if level < 30 {
            format!("imports: [{next}.yaml, {next}.yaml]\nrubrics: {{}}\n").into()
        } else {
            "rubrics: {deep: It is deep.}\n".into()
        })
    };
    let world = ProjectEnvironment {
        root: "/".into(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &refuse_scripts,
    };
    let loaded = read_suite(Path::new("/0.yaml"), None, &world);
    assert_eq!(loaded.suite.unwrap().rubrics.len(), 1);
}

#[test]
fn anchors_inside_anchors_are_bounded() {
    let depth = 400;
    let text = (0..depth).map(|n| format!("&a{n} [")).collect::<String>()
        + &"x, ".repeat(20_000)
        + &"]".repeat(depth);
    let loaded = load_text(&text);
    let codes: Vec<Code> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert!(codes == [Code::TooLarge] || codes == [Code::TooDeep], "{codes:?}");
}

#[test]
fn faults_in_other_files_are_shown_there() {
    let check = |path: &str, expected: &[(&str, usize, &str)]| {
        let path = folder("broken/native").join(path);
        let loaded = with_world(&path, |world| read_suite(&path, None, world));
        let mut found: Vec<(String, usize, &str)> = loaded
            .diagnostics
            .iter()
            .filter(|one_diagnostic| one_diagnostic.severity == DiagnosticSeverity::Error)
            .map(|diagnostic| {
                let file = loaded
                    .sources
                    .get(diagnostic.span.file)
                    .path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                (file, loaded.sources.place(diagnostic.span).line, diagnostic.code.name())
            })
            .collect();
        found.sort();
        found.dedup();
        let found: Vec<(&str, usize, &str)> =
            found.iter().map(|found| (found.0.as_str(), found.1, found.2)).collect();
        assert_eq!(found, expected);
    };
    check("comma.json", &[("comma.json", 8, "syntax")]);
    check("quotes.json", &[("quotes.json", 4, "syntax")]);
    check("comment.json", &[("comment.json", 2, "syntax")]);
    check("nan.json", &[("nan.json", 3, "syntax")]);
    check(
        "duplicate-key.json",
        &[("duplicate-key.json", 3, "duplicate-key"), ("duplicate-key.json", 5, "unknown-key")],
    );
    let bad = "bad-row";
    let rows = [
        ("broken.jsonl", 2, bad),
        ("broken.jsonl", 3, bad),
        ("no-objects.json", 1, bad),
        ("uneven.csv", 3, bad),
        ("uneven.csv", 4, bad),
    ];
    check("rows/suite.yaml", &rows);
    let config = "config.yaml";
    let settings = [
        (config, 2, "unknown-key"),
        (config, 3, "bad-value"),
        (config, 4, "bad-value"),
        (config, 4, "missing-key"),
        (config, 5, "wrong-type"),
        (config, 6, "unknown-key"),
        (config, 8, "bad-value"),
        (config, 9, "missing-key"),
        (config, 11, "bad-value"),
        (config, 12, "unknown-key"),
        (config, 13, "unknown-key"),
        (config, 14, "bad-value"),
        (config, 15, "bad-value"),
        (config, 16, "bad-value"),
        (config, 16, "missing-key"),
    ];
    check("settings/suite.yaml", &settings);
}

/// Loads a text that stands alone in its project.
fn load_text(text: &str) -> LoadedSuite {
    let read =
        |path: &Path| if path == Path::new("/s.yaml") { Ok(text.into()) } else { Err(ReadError::Missing) };
    let variable = |name: &str| (name == "SECRET").then(|| "hunter2".to_owned());
    let world = ProjectEnvironment {
        root: "/".into(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &variable,
        variables: VariableExpansion::Kept,
        call: &refuse_scripts,
    };
    read_suite(Path::new("/s.yaml"), None, &world)
}

#[test]
fn a_suite_that_is_only_shown_keeps_its_variables() {
    let suite = load_text(
        "judge: {base_url: 'https://{{ env.SECRET }}@h'}\nevals: [{name: a, prompt: '{{ env.OTHER }}', rubric: b c d}]",
    );
    let shown = crate::source::to_yaml(&to_native(&suite.suite.unwrap()));
    assert!(
        shown.contains("{{ env.SECRET }}") && shown.contains("{{ env.OTHER }}") && !shown.contains("hunter2"),
        "{shown}"
    );
}

#[test]
fn comments_glued_to_a_bracket_are_read() {
    let suite = load_text("evals:\n  - {name: a, response: b}# why\n    \n").diagnostics;
    let lines: Vec<&str> = suite.iter().map(|diagnostic| diagnostic.code.name()).collect();
    assert_eq!(lines, ["missing-key"], "only the rubric is missing");
}

#[test]
fn negated_rubrics_lose_the_gates_of_their_items() {
    let loaded = load_text(
        "tests: [{id: a, input: q, assert: [{type: llm-rubric, value: [is rude, is wrong], negate: true}]}]",
    );
    let suite = loaded.suite.unwrap();
    let criterion = &suite.cases[0].rubric.criteria[0];
    assert_eq!(criterion.polarity, crate::rubric::Polarity::Negated);
    assert!(criterion.children().iter().all(|child| !child.required));
}

#[test]
fn the_default_test_comes_before_the_suite() {
    let text = "threshold: 0.6\ndefault_test: {threshold: 0.9}\ntests: [{id: a, input: q, assert: [x]}, {id: b, input: q, threshold: 0.5, assert: [x]}]";
    let marks: Vec<f64> =
        load_text(text).suite.unwrap().cases.iter().map(|case| case.rubric.pass_mark).collect();
    assert_eq!(marks, [0.9, 0.5]);
}

#[test]
fn questions_of_two_trees_do_not_share_an_id() {
    let text = "criteria:
  - name: a
    graph: {root: b.c, nodes: {b.c: {ask: q, yes: {score: 1}, no: {score: 0}}}}
  - name: a.b
    graph: {root: c, nodes: {c: {ask: q, yes: {score: 1}, no: {score: 0}}}}
";
    let loaded = load_text(text);
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
    assert!(codes.contains(&"duplicate-id"), "{codes:?}\n{text}");
}

const PROMPTFOO_HEAD: &str = "# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json\nprompts: [x]\nproviders: [echo]\n";

#[test]
fn any_score_of_code_above_zero_fails_what_must_not_hold() {
    let text = format!(
        "{PROMPTFOO_HEAD}tests: [{{assert: [{{type: not-javascript, value: '0.3'}}, {{type: not-python, value: '0.3', threshold: 0.5}}, {{type: python, value: '0.3'}}]}}]"
    );
    let suite = load_text(&text).suite.unwrap();
    let gates = suite.cases[0].rubric.criteria.iter().map(|criterion| criterion.threshold);
    assert_eq!(gates.collect::<Vec<_>>(), [Some(1.0 - 1e-6), Some(1.0 - 1e-6), Some(1e-6)]);
}

#[test]
fn the_prompt_of_one_assertion_is_not_that_of_the_others() {
    let text = format!(
        "{PROMPTFOO_HEAD}tests: [{{assert: [{{type: llm-rubric, value: one}}, {{type: llm-rubric, value: two, rubricPrompt: 'ONLY {{{{output}}}}'}}]}}]"
    );
    let suite = load_text(&text).suite.unwrap();
    let rubric = &suite.cases[0].rubric;
    let texts: Vec<&str> = rubric.criteria.iter().map(|criterion| criterion.description.as_str()).collect();
    assert_eq!(texts, ["one", "ONLY [output]\n\ntwo"]);
    assert_eq!(rubric.prompt, None);
}

#[test]
fn a_set_under_its_own_threshold_fails_the_test_whatever_it_weighs() {
    let set = |keys: &str| {
        let text = format!(
            "{PROMPTFOO_HEAD}tests: [{{assert: [{{type: contains, value: x}}, {{type: assert-set, weight: 0, {keys}assert: [{{type: contains, value: y}}]}}]}}]"
        );
        let suite = load_text(&text).suite.unwrap();
        let set = &suite.cases[0].rubric.criteria[1];
        (set.required, set.threshold)
    };
    assert_eq!(set("threshold: 0.5, "), (true, Some(0.5)));
    assert_eq!(set(""), (false, None));
}

#[test]
fn variables_that_a_file_sets_are_filled_in_where_it_is_only_shown() {
    let text = format!(
        "{PROMPTFOO_HEAD}env: {{WHO: Ada, API_KEY: sk-1}}\ntests: [{{assert: [{{type: contains, value: '{{{{ env.WHO }}}} {{{{ env.OTHER }}}}'}}]}}]"
    );
    let loaded = load_text(&text);
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
    assert_eq!(codes, ["no-effect"], "only the key is not read");
    let shown = crate::source::to_yaml(&to_native(&loaded.suite.unwrap()));
    assert!(shown.contains("Ada {{ env.OTHER }}"), "{shown}");
}

#[test]
fn variables_that_an_agentv_file_sets_are_filled_in() {
    let text =
        "env: {WHO: Ada, TONE: kind}\ntests: [{id: a, input: 'Greet {{ env.WHO }}', assert: [It greets]}]";
    let loaded = load_text(text);
    let faults = list_loaded_faults(&loaded);
    let messages: Vec<&str> = faults.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(messages, ["`TONE` has no effect here: no text of the file names `{{ env.TONE }}`"]);
    let suite = loaded.suite.unwrap();
    assert_eq!(suite.cases[0].candidate.input.as_deref(), Some("Greet Ada"));
}

#[test]
fn variables_that_no_text_names_have_no_effect() {
    let text = format!(
        "{PROMPTFOO_HEAD}env: {{OPENAI_BASE_URL: 'http://localhost:8000/v1', DB: 'postgres://u:pw@h/x'}}\ntests: [{{assert: [{{type: contains, value: '{{{{ env.DB }}}}'}}]}}]"
    );
    let loaded = load_text(&text);
    let messages: Vec<&str> =
        loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    let [unused] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(unused.starts_with("`OPENAI_BASE_URL` has no effect here"), "{unused}");
}

#[test]
fn a_perplexity_without_a_threshold_passes_also_under_not() {
    let text = format!(
        "{PROMPTFOO_HEAD}tests: [{{assert: [{{type: not-perplexity}}, {{type: not-perplexity-score}}, {{type: not-perplexity, threshold: 3}}]}}]"
    );
    let suite = load_text(&text).suite.unwrap();
    let criteria = suite.cases[0].rubric.criteria.iter();
    let gates: Vec<_> = criteria
        .map(|criterion| (criterion.polarity == crate::rubric::Polarity::Plain, criterion.threshold))
        .collect();
    assert_eq!(gates[..2], [(true, Some(0.0)), (true, Some(0.0))]);
    assert!(!gates[2].0);
}

#[test]
fn the_prompt_of_an_assertion_has_the_variables_of_the_test() {
    let prompts = |other: &str| {
        load_text(&format!(
            "{PROMPTFOO_HEAD}tests: [{{vars: {{country: Peru}}, assert: [{{type: llm-rubric, value: a}}, {{type: llm-rubric, value: b, rubricPrompt: 'On {{{{ country }}}}{other}: {{{{ output }}}}'}}]}}]"
        ))
    };
    let suite = prompts("").suite.unwrap();
    assert_eq!(suite.cases[0].rubric.criteria[1].description, "On Peru: [output]\n\nb");
    let unknown = prompts(" {{ town }}");
    let message = unknown.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).next();
    assert!(message.is_some_and(|message| message.starts_with("the prompt names `town`")), "{message:?}");
    assert!(unknown.suite.is_none());
}

#[test]
fn an_output_takes_the_place_of_a_variable_in_other_variables() {
    let text = format!(
        "{PROMPTFOO_HEAD}defaultTest: {{vars: {{poem: '', ask: 'Continue: {{{{ poem }}}}'}}}}\ntests:\n  - {{options: {{storeOutputAs: poem}}, assert: [{{type: contains, value: x}}]}}\n  - {{assert: [{{type: contains, value: '{{{{ ask }}}}'}}]}}"
    );
    let loaded = load_text(&text);
    let messages: Vec<&str> =
        loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert!(messages.iter().any(|message| message.contains("`poem`")), "{messages:?}");
    assert!(loaded.suite.is_none());
}

/// Loads a test of promptfoo whose value a script makes.
fn load_value_of_script(call: &dyn Fn(&ScriptCall<'_>) -> ScriptAnswer) -> LoadedSuite {
    let text = format!("{PROMPTFOO_HEAD}tests: [{{assert: [{{type: equals, value: 'file://v.py:make'}}]}}]");
    let read = |path: &Path| match path.to_str() {
        Some("/s.yaml") => Ok(text.as_str().into()),
        Some("/v.py") => Ok("".into()),
        _ => Err(ReadError::Missing),
    };
    let world = ProjectEnvironment {
        root: "/".into(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call,
    };
    read_suite(Path::new("/s.yaml"), None, &world)
}

#[test]
fn a_script_makes_the_value_of_an_assertion_unless_it_needs_the_answer() {
    let made = load_value_of_script(&|_| ScriptAnswer::Value(Json::from("hello"))).suite.unwrap();
    let crate::rubric::CriterionKind::Check(method) = &made.cases[0].rubric.criteria[0].ask else { panic!() };
    assert_eq!(method.params["value"], "hello");
    let by_answer = load_value_of_script(&|call| ScriptAnswer::Value(call.arguments[0].clone()));
    let by_length = load_value_of_script(&|call| {
        ScriptAnswer::Value(Json::from(call.arguments[0].as_str().map(|answer| 40 < answer.len())))
    });
    let verdict = load_value_of_script(&|_| ScriptAnswer::Value(Json::Bool(true)));
    let refused = load_value_of_script(&refuse_scripts);
    for (loaded, code) in [
        (by_answer, "unsupported"),
        (by_length, "unsupported"),
        (verdict, "bad-value"),
        (refused, "unsupported"),
    ] {
        let codes: Vec<&str> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
        assert_eq!(codes, [code]);
        assert!(loaded.suite.is_none());
    }
    let later = load_value_of_script(&|_| ScriptAnswer::Skipped);
    assert!(later.suite.is_some(), "what is only looked at is no error");
}

/// The prompts of a promptfoo suite with one prompt, as each case has it.
fn load_prompts(prompt: &str, test: &str) -> Vec<String> {
    let head = PROMPTFOO_HEAD.replace("prompts: [x]", &format!("prompts: [{prompt}]"));
    let loaded = load_text(&format!("{head}tests: [{test}]"));
    let suite = loaded.suite.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let prompt = |case: &crate::suite::Case| match &case.candidate.input {
        Some(input) => input.clone(),
        None => Json::from(case.candidate.messages.clone()).to_string(),
    };
    suite.cases.iter().map(prompt).collect()
}

#[test]
fn prompts_print_values_as_javascript_does() {
    let vars =
        "{vars: {n: 3, one: 1.0, l: [1, 2.0], o: {k: v}, b: true, z: null, big: 1e21, t: \"line\\n\"}}";
    for (prompt, expected) in [
        ("'{{ n }} {{ one }} {{ l }} {{ b }} {{ z }} {{ big }} {{ gone }}'", "3 1 1,2 true  1e+21 "),
        ("'{{ o }} {{ o | dump }}'", r#"[object Object] {"k":"v"}"#),
        ("'{{ t | upper }} {{ l | join(\"-\") }} {{ l }} {{ one }} {{ z }}{{ o.gone }}'", "LINE 1-2 1,2 1 "),
        ("'{{ t }}.'", "line."),
    ] {
        assert_eq!(load_prompts(prompt, vars), [expected], "{prompt}");
    }
    let text = format!("{}tests: [{{vars: {{o: {{k: v}}}}}}]", PROMPTFOO_HEAD.replace("[x]", "['{{ o }}']"));
    let loaded = load_text(&text);
    assert!(loaded.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::BadValue));
}

#[test]
fn only_a_list_that_begins_with_a_text_is_one_test_for_each_item() {
    assert_eq!(load_prompts("'{{ n }}'", "{vars: {n: [1, 2]}}"), ["1,2"]);
    assert_eq!(load_prompts("'{{ n }}'", "{vars: {n: [true, false]}}"), ["true,false"]);
    assert_eq!(load_prompts("'{{ n }}'", "{vars: {n: [a, 2]}}"), ["a", "2"]);
}

#[test]
fn variables_do_not_break_a_prompt_that_is_json() {
    let vars = r#"{vars: {q: "say \"hi\"\nand \\ go", l: [1, 2]}}"#;
    let chat = r#"'[{"role": "user", "content": "{{ q }} {{ l }}"}]'"#;
    let messages = serde_json::json!([{ "role": "user", "content": "say \"hi\"\nand \\ go 1,2" }]);
    assert_eq!(serde_json::from_str::<Json>(&load_prompts(chat, vars)[0]).unwrap(), messages);
    let object = r#"'{"output": ["{{ q }}", 1]}'"#;
    let text = "{\n  \"output\": [\n    \"say \\\"hi\\\"\\nand \\\\ go\",\n    1\n  ]\n}";
    assert_eq!(load_prompts(object, vars), [text]);
    // Without its variables it is no JSON, so that values stand in it as they are.
    assert_eq!(load_prompts(r#"'{"q": {{ l }}}'"#, vars), [r#"{"q": 1,2}"#]);
}

#[test]
fn a_function_makes_a_prompt_for_each_provider() {
    let text = PROMPTFOO_HEAD
        .replace("prompts: [x]", "prompts: [file://p.js, file://same.js]")
        .replace("[echo]", "[echo, {id: echo, label: second}]");
    let text = format!("{text}tests: [{{description: a, assert: [{{type: contains, value: x}}]}}]");
    let read = |path: &Path| match path.to_str() {
        Some("/s.yaml") => Ok(text.as_str().into()),
        Some("/p.js" | "/same.js") => Ok("".into()),
        _ => Err(ReadError::Missing),
    };
    let call = |call: &ScriptCall<'_>| {
        let ScriptSource::File { path, .. } = &call.source else { panic!() };
        let answer = if path.ends_with("same.js") {
            "same".into()
        } else {
            format!("for {}", call.arguments[0]["provider"]["label"])
        };
        ScriptAnswer::Value(Json::from(answer))
    };
    let world = ProjectEnvironment {
        root: "/".into(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &call,
    };
    let loaded = read_suite(Path::new("/s.yaml"), None, &world);
    let suite = loaded.suite.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let prompts: Vec<(String, Vec<&str>)> = suite
        .cases
        .iter()
        .map(|case| {
            (case.name.clone(), case.matrix.prompts.iter().map(|prompt| prompt.text.as_str()).collect())
        })
        .collect();
    let expected = [
        ("a [echo]".to_owned(), vec![r#"for """#, "same"]),
        ("a [second]".to_owned(), vec![r#"for "second""#, "same"]),
    ];
    assert_eq!(prompts, expected);
}

#[test]
fn the_default_provider_of_agentv_answers_where_a_suite_names_none() {
    let targets = |keys: &str| -> Vec<String> {
        let suite = load_text(&format!("{keys}tests: [{{id: a, input: q, assert: [x]}}]")).suite.unwrap();
        suite.cases[0].targets.iter().map(|target| target.id.clone()).collect()
    };
    assert_eq!(targets("defaults: {provider: 'openai:gpt-5-mini'}\n"), ["openai:gpt-5-mini"]);
    assert_eq!(targets("defaults: {provider: 'openai:gpt-5-mini'}\nproviders: [echo]\n"), ["echo"]);
    assert_eq!(targets(""), Vec::<String>::new());
}

/// Loads an AgentV suite in a project whose settings have these `defaults`.
fn load_in_agentv_project(defaults: &str, suite: &str, variables: VariableExpansion) -> LoadedSuite {
    let settings = format!(
        "providers:\n\
         - {{id: openai, label: llm, config: {{model: gpt-5-mini}}}}\n\
         - {{id: openai, label: open, config: {{model: '{{{{ env.OPEN_MODEL }}}}'}}}}\n\
         - {{id: copilot-cli, label: kit}}\n\
         - {{id: cli, label: program, config: {{command: agent}}}}\n\
         defaults: {defaults}"
    );
    let read = |path: &Path| match path.to_str() {
        Some("/suite.yaml") => Ok(suite.into()),
        Some("/.agentv/config.yaml") => Ok(settings.as_str().into()),
        Some("/.jurist/config.yaml") if suite.contains("# settings") => {
            Ok("judge: {model: openai/gpt-5-nano}".into())
        }
        _ => Err(ReadError::Missing),
    };
    let world = ProjectEnvironment {
        root: "/".into(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables,
        call: &refuse_scripts,
    };
    read_suite(Path::new("/suite.yaml"), None, &world)
}

/// Errors and warnings, in the order they were found.
fn list_loaded_faults(loaded: &LoadedSuite) -> Vec<&Diagnostic> {
    let all = loaded.diagnostics.iter();
    all.filter(|diagnostic| diagnostic.severity != DiagnosticSeverity::Advice).collect()
}

#[test]
fn settings_of_an_agentv_project_name_a_target_and_a_judge_for_suites_that_need_them() {
    let judged = "tests: [{id: a, input: q, assert: [x]}]";
    let answered = "tests: [{id: a, input: q, output: x, assert: [{type: contains, value: x}]}]";
    let own = "target: program\ndefaults: {grader: 'openai:gpt-5'}\ntests: [{id: a, input: q, assert: [x]}]";
    let with_settings = "# settings\ntests: [{id: a, input: q, assert: [x]}]";
    let both = "{provider: llm, grader: llm}";
    for (defaults, suite, target, judge) in [
        (both, judged, Some("openai"), Some("openai:gpt-5-mini")),
        (both, with_settings, Some("openai"), Some("openai/gpt-5-nano")),
        (both, own, Some("cli"), Some("openai:gpt-5")),
        (both, answered, None, None),
        ("{provider: kit, grader: open}", answered, None, None),
        ("{provider: kit, grader: open}", own, Some("cli"), Some("openai:gpt-5")),
    ] {
        let loaded = load_in_agentv_project(defaults, suite, VariableExpansion::Filled);
        assert_eq!(list_loaded_faults(&loaded), Vec::<&Diagnostic>::new(), "{defaults} {suite}");
        let suite_read = loaded.suite.unwrap();
        let case = &suite_read.cases[0];
        let found = (case.targets.first().map(|target| target.id.as_str()), case.judge.model.as_deref());
        assert_eq!(found, (target, judge), "{defaults} {suite}");
    }
}

#[test]
fn a_default_of_an_agentv_project_that_cannot_be_used_is_a_warning_at_its_place() {
    let suite = "tests: [{id: a, input: q, assert: [x]}]";
    for (defaults, expected) in [
        ("{provider: open}", "the variable `OPEN_MODEL` is not set"),
        ("{grader: open}", "the variable `OPEN_MODEL` is not set"),
        ("{provider: kit}", "`copilot-cli` is an agent kit, which is not supported"),
        ("{provider: lost}", "no provider of this project is called `lost`"),
        ("{grader: program}", "`program` cannot judge: it is no model"),
        ("file://absent.yaml", "cannot read `absent.yaml`: there is no such file"),
    ] {
        for variables in [VariableExpansion::Filled, VariableExpansion::Kept] {
            let loaded = load_in_agentv_project(defaults, suite, variables);
            let found = list_loaded_faults(&loaded);
            let messages: Vec<&str> = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
            assert_eq!(messages, [expected], "{defaults}");
            assert_eq!(found[0].severity, DiagnosticSeverity::Warning, "{defaults}");
            let place = loaded.sources.place(found[0].span);
            let path = &loaded.sources.get(found[0].span.file).path;
            assert_eq!((path.as_path(), place.line), (Path::new("/.agentv/config.yaml"), 6), "{defaults}");
            let suite_read = loaded.suite.unwrap();
            let case = &suite_read.cases[0];
            assert!(case.targets.is_empty() && case.judge.model.is_none(), "{defaults}");
        }
    }
}

#[test]
fn a_person_decides_a_test_whose_assertions_weigh_nothing() {
    let criteria = |keys: &str| {
        let text = format!(
            "{PROMPTFOO_HEAD}tests: [{{{keys}assert: [{{type: contains, value: x, weight: 0}}, {{type: contains, value: y, weight: 0}}]}}]"
        );
        let loaded = load_text(&text);
        assert_eq!(loaded.diagnostics.has_errors(), loaded.suite.is_none());
        let suite = loaded.suite?;
        let criteria = suite.cases[0].rubric.criteria.iter();
        Some(criteria.map(|criterion| (criterion.id.clone(), criterion.weight)).collect::<Vec<_>>())
    };
    let expected = [("contains", 0.0), ("contains-2", 0.0), ("review", 1.0)];
    assert_eq!(criteria("").unwrap(), expected.map(|(id, weight)| (id.to_owned(), weight)));
    // With a threshold promptfoo fails it whatever the answer is.
    assert_eq!(criteria("threshold: 0.5, "), None);
}

#[test]
fn a_judge_that_is_no_chat_model_is_refused_where_it_is_named() {
    for judge in ["'openai:assistant:asst_1'", "{id: 'openai:assistant:asst_1', config: {temperature: 0}}"] {
        let text = format!(
            "{PROMPTFOO_HEAD}defaultTest:\n  options:\n    provider: {judge}\ntests: [{{assert: [{{type: llm-rubric, value: a}}]}}]"
        );
        let loaded = load_text(&text);
        let refused = loaded.diagnostics.iter().find(|diagnostic| diagnostic.code == Code::Unsupported);
        let diagnostic = refused.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
        assert_eq!(
            diagnostic.message,
            "`openai:assistant:asst_1` cannot judge: it is an assistant that its vendor keeps"
        );
        assert_eq!(loaded.sources.place(diagnostic.span).line, 6);
    }
}

#[test]
fn settings_of_an_address_that_do_nothing_are_named() {
    let config =
        "{url: 'http://localhost/a', method: POST, maxRetries: 2, stateful: true, transformResponse: json.a}";
    let text = PROMPTFOO_HEAD.replace("[echo]", &format!("[{{id: http, config: {config}}}]"));
    let loaded = load_text(&format!("{text}tests: [{{assert: [{{type: contains, value: x}}]}}]"));
    let ineffective = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::NoEffect);
    let messages: Vec<&str> = ineffective.map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(messages, ["`config` of this provider: maxRetries, stateful has no effect here"]);
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

/// The file `main` among others, where strangers send files that may need so much work.
fn load_within(main: &str, files: &[(&str, &str)], max_pattern_work: u64) -> LoadedSuite {
    let read = |path: &Path| {
        let text = files.iter().find_map(|(name, text)| path.ends_with(name).then_some(*text));
        text.map(Into::into).ok_or(ReadError::Missing)
    };
    let world = ProjectEnvironment {
        root: PathBuf::new(),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &refuse_scripts,
    };
    read_suite_within(Path::new(main), None, &world, max_pattern_work)
}

fn errors_of(loaded: &LoadedSuite) -> Vec<&Diagnostic> {
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == DiagnosticSeverity::Error;
    loaded.diagnostics.iter().filter(is_error).collect()
}

#[test]
fn patterns_of_strangers_are_compiled_as_long_as_the_work_is_limited() {
    let pattern = |n: usize| format!("  - {{name: c{n}, check: {{type: regex, value: '\\d{{9}}x{n}'}}}}\n");
    let text: String = std::iter::once("criteria:\n".to_owned()).chain((0..20).map(pattern)).collect();
    let schema = r"  - {name: s, check: {type: is-json, value: {properties: {a: {pattern: '\w{40}'}}}}}";
    let (patterns, schemas) =
        (text, format!("criteria:\n{schema}\n{}\n", schema.replace("name: s", "name: t")));
    for (text, first_refused) in [(patterns, 10..=21), (schemas, 3..=3)] {
        let load = |work| load_within("rubric.yaml", &[("rubric.yaml", text.as_str())], work);
        assert!(load(u64::MAX).suite.is_some());
        // Of the powers of two, the first that is enough; half of it is not.
        let enough = (10..30).map(|power| 1 << power).find(|work| load(*work).suite.is_some()).unwrap();
        let refused = load(enough / 2);
        let errors = errors_of(&refused);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].code, Code::TooLarge);
        let before = &text[..errors[0].span.start as usize];
        let line = before.matches('\n').count() + 1;
        assert!(first_refused.contains(&line), "{line}: {errors:?}");
    }
}

#[test]
fn a_pattern_counts_once_in_every_dialect() {
    // 50 for the pattern, 3 for its letters, and 600 for four digits.
    let native = r"criteria: [{name: year, check: {type: regex, value: 'in \d{4}'}}]";
    let promptfoo =
        "prompts: [hi]\nproviders: [echo]\ntests:\n  - assert: [{type: regex, value: 'in x{600}'}]\n";
    let condition = r"criteria: [{name: year, description: It is right., when: {regex: 'in \d{4}'}}]";
    for (main, text) in
        [("rubric.yaml", native), ("promptfooconfig.yaml", promptfoo), ("rubric.yaml", condition)]
    {
        let load = |work| load_within(main, &[(main, text)], work);
        assert!(load(653).suite.is_some(), "{text}: {:?}", errors_of(&load(653)));
        let refused = load(652);
        let codes: Vec<Code> = errors_of(&refused).iter().map(|error| error.code).collect();
        assert_eq!(codes, [Code::TooLarge], "{text}");
    }
}

#[test]
fn patterns_of_tools_and_patterns_beside_braces_count_as_well() {
    let pattern = r"(?=\w{60})".repeat(20);
    let tools = format!(
        r#"[{{"name": "book", "parameters": {{"properties": {{"day": {{"pattern": {}}}}}}}}}]"#,
        Json::from(pattern.as_str())
    );
    let config = "prompts: [hi]\nproviders: [{id: openai:gpt-4o, config: {tools: 'file://tools.json'}}]\ntests:\n  - assert: [{type: is-valid-openai-tools-call}]\n";
    let braces = format!(
        "criteria:\n  - {{name: a, check: {{type: regex, engine: backtracking, value: '{{{{ \"{{{{\" }}}} {pattern}'}}}}\n"
    );
    for (main, files) in [
        ("promptfooconfig.yaml", vec![("promptfooconfig.yaml", config), ("tools.json", tools.as_str())]),
        ("rubric.yaml", vec![("rubric.yaml", braces.as_str())]),
    ] {
        let enough = load_within(main, &files, 1_000_000);
        assert!(enough.suite.is_some(), "{main}: {:?}", errors_of(&enough));
        let refused = load_within(main, &files, 800_000);
        let codes: Vec<Code> = errors_of(&refused).iter().map(|error| error.code).collect();
        assert_eq!(codes, [Code::TooLarge], "{main}");
    }
}

#[test]
fn keys_that_are_given_again_and_again_take_time_by_their_number_alone() {
    // The first of each was looked for among all keys before it.
    let n = 200_000;
    let keys: Vec<String> =
        (0..n).map(|n| format!("k{n}")).chain(std::iter::repeat_n("last".to_owned(), n)).collect();
    let yaml: String = keys.iter().map(|key| format!("{key}: 1\n")).collect();
    let json = format!("{{{}}}", keys.iter().map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(","));
    for (name, text) in [("rubric.yaml", yaml), ("rubric.json", json)] {
        let read = |_: &Path| Ok(text.as_str().into());
        let world = ProjectEnvironment {
            root: PathBuf::new(),
            read: &read,
            glob: &|_| Ok(Vec::new()),
            variable: &|_| None,
            variables: VariableExpansion::Filled,
            call: &refuse_scripts,
        };
        let loaded = read_suite(Path::new(name), Some(Dialect::Native), &world);
        let is_duplicate = |diagnostic: &&Diagnostic| diagnostic.code == Code::DuplicateKey;
        assert!(
            loaded.suite.is_none() && loaded.diagnostics.iter().any(|found| is_duplicate(&found)),
            "{name}"
        );
    }
}
