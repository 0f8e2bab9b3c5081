//! Limits on the work that a file can cause: imports, anchors, patterns and repeated keys.

#![cfg(test)]

use serde_json::Value as Json;

use super::*;
use crate::diagnostic::DiagnosticSeverity;
use crate::testing::with_one_file;

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

/// The file `main` among others, where strangers send files that may need so much work.
fn load_within(main: &str, files: &[(&str, &str)], max_pattern_work: u64) -> LoadedSuite {
    let read = |path: &Path| {
        let file = files.iter().find(|file| path.ends_with(file.0));
        file.map(|file| file.1.into()).ok_or(ReadError::Missing)
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
    let pattern = r"(?=\w{60})".repeat(100);
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
        let enough = load_within(main, &files, 5_000_000);
        assert!(enough.suite.is_some(), "{main}: {:?}", errors_of(&enough));
        let refused = load_within(main, &files, 4_000_000);
        let codes: Vec<Code> = errors_of(&refused).iter().map(|error| error.code).collect();
        assert_eq!(codes, [Code::TooLarge], "{main}");
    }
}

#[test]
fn keys_that_are_given_again_and_again_take_time_by_their_number_alone() {
    // The first of each was looked for among all keys before it.
    let n = 50_000;
    let keys: Vec<String> =
        (0..n).map(|n| format!("k{n}")).chain(std::iter::repeat_n("last".to_owned(), n)).collect();
    let yaml: String = keys.iter().map(|key| format!("{key}: 1\n")).collect();
    let json = format!("{{{}}}", keys.iter().map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(","));
    for (name, text) in [("rubric.yaml", yaml), ("rubric.json", json)] {
        let loaded =
            with_one_file(name, &text, |world| read_suite(Path::new(name), Some(Dialect::Native), world));
        let is_duplicate = |diagnostic: &&Diagnostic| diagnostic.code == Code::DuplicateKey;
        assert!(
            loaded.suite.is_none() && loaded.diagnostics.iter().any(|found| is_duplicate(&found)),
            "{name}"
        );
    }
}
