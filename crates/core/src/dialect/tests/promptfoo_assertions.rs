//! promptfoo: assertions, their thresholds and weights, and the judges that they name.

#![cfg(test)]

use serde_json::Value as Json;

use super::*;

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
