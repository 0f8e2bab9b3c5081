//! AgentV: defaults of a suite, and the settings of a project, which name targets and judges.

#![cfg(test)]

use super::*;
use crate::diagnostic::DiagnosticSeverity;

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
