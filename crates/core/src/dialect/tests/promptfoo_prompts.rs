//! promptfoo: prompts, variables, outputs of other tests, and settings of providers.

#![cfg(test)]

use serde_json::Value as Json;

use super::*;

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
fn settings_of_an_address_that_do_nothing_are_named() {
    let config =
        "{url: 'http://localhost/a', method: POST, maxRetries: 2, stateful: true, transformResponse: json.a}";
    let text = PROMPTFOO_HEAD.replace("[echo]", &format!("[{{id: http, config: {config}}}]"));
    let loaded = load_text(&format!("{text}tests: [{{assert: [{{type: contains, value: x}}]}}]"));
    let ineffective = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::NoEffect);
    let messages: Vec<&str> = ineffective.map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(messages, ["`config` of this provider: maxRetries, stateful has no effect here"]);
}
