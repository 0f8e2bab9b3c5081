//! Tool tests of mcptest: a tool of a server is called with its arguments, and its result is checked.
//!
//! Each becomes a case whose target is the tool itself (`mcp-tool`), graded by checks alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::context::Context;
use super::fields::MappingReader;
use super::lower::{Spot, accept};
use super::method::CriterionIds;
use crate::candidate::Candidate;
use crate::catalogue::{CHECKS, GradingMethod, find_catalogue_entry};
use crate::check::{CompiledCheck, estimate_check_work};
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{Criterion, CriterionKind, Draft, Polarity};
use crate::source::{SourceNode, SourceSpan};
use crate::suite::{AgentSettings, Case, CaseMatrix, CaseTarget, Judge, Suite};

/// The target of a case that calls one tool.
pub const MCP_TOOL: &str = "mcp-tool";

/// Sections of mcptest in addition to its evals and tool tests: they test servers, not results.
pub(super) const OTHER_SECTIONS: [&str; 8] = [
    "resources",
    "prompts",
    "scorers",
    "agents",
    "model_compatibility",
    "compatibility",
    "security",
    "performance",
];

/// Which part of a result an expectation looks at.
const TARGETS: [(&str, ResultPart); 6] = [
    ("result.content[0].text", ResultPart::Text),
    ("result.content[*].text", ResultPart::Text),
    ("result.text", ResultPart::Text),
    ("result.isError", ResultPart::IsError),
    ("result.is_error", ResultPart::IsError),
    ("isError", ResultPart::IsError),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultPart {
    Text,
    IsError,
}

/// Matchers of a text, the check that each is, and the parameter that takes its value.
const MATCHERS: [(&str, &str); 6] = [
    ("exact", "equals"),
    ("contains", "contains"),
    ("substring", "contains"),
    ("regex", "regex"),
    ("pattern", "regex"),
    ("schema", "is-json"),
];

/// The tool tests of a file as cases.
pub(super) fn read_tool_tests(
    fields: &MappingReader<'_>,
    suite: &Suite,
    names: &mut BTreeMap<String, SourceSpan>,
) -> Vec<Case> {
    // The key is mcptest's: it is read, and not offered to others.
    fields.takes_prefix("tools");
    let Some(node) = fields.node.get("tools") else { return Vec::new() };
    let items = fields.cx.list(node, "tools").unwrap_or_default();
    items.iter().filter_map(|item| read_tool_test(fields.cx, item, suite, names)).collect()
}

fn read_tool_test(
    cx: &Context<'_>,
    node: &SourceNode,
    suite: &Suite,
    names: &mut BTreeMap<String, SourceSpan>,
) -> Option<Case> {
    let fields = MappingReader::new(cx, node, "tool test")?;
    let name = fields.need("name").and_then(|node| cx.text(node, "name"));
    let tool = fields.need("tool").and_then(|node| cx.plain_text(node, "tool"));
    let server = fields.need("server").and_then(|node| cx.plain_text(node, "server"));
    if let Some(server) = server.as_ref().filter(|server| !suite.servers.contains_key(*server)) {
        let known = suite.servers.keys().map(String::as_str);
        let message = format!("there is no server `{server}` in the file");
        cx.report(
            Diagnostic::error(Code::UnknownName, fields.span("server"), message)
                .suggest(server, known, "servers"),
        );
    }
    let arguments = fields.json_map(if fields.has("arguments") { "arguments" } else { "args" });
    let rubric = read_expectations(&fields);
    let description = fields.text("description");
    let tags = fields.texts("tags");
    fields.ignores(&["timeout_ms", "timeout", "retries", "cache", "performance", "profile", "skip", "only"]);
    let (origin, span) = (cx.origin(fields.start()), fields.span("name"));
    fields.finish();
    let (name, tool, server, rubric) = (name?, tool?, server?, rubric?);
    if let Some(first) = names.insert(name.clone(), span) {
        let message = format!("there are two cases `{name}`");
        cx.report(Diagnostic::error(Code::DuplicateId, span, message).also(first, "the first one"));
    }
    let input = format!("{tool} {}", Json::Object(arguments.clone()));
    let config: Map<String, Json> =
        [("tool".to_owned(), Json::from(tool.clone())), ("arguments".to_owned(), Json::Object(arguments))]
            .into_iter()
            .collect();
    Some(Case {
        name,
        origin: Some(origin),
        description,
        tags,
        metadata: Map::new(),
        candidate: Candidate { input: Some(input), ..Candidate::default() },
        server: Some(server),
        targets: vec![CaseTarget { id: MCP_TOOL.to_owned(), label: Some(tool), config }],
        agent: AgentSettings::default(),
        workspace: None,
        rubric,
        judge: Judge::default(),
        matrix: CaseMatrix::default(),
        data: None,
        labels: BTreeMap::new(),
        repeat: 1,
        store_output_as: None,
    })
}

/// Every expectation must hold. Without one about errors, the call must not fail.
fn read_expectations(fields: &MappingReader<'_>) -> Option<Arc<crate::rubric::Rubric>> {
    let cx = fields.cx;
    let (mut ids, mut criteria) = (CriterionIds::default(), Vec::new());
    let mut spot = Spot::new(fields.start()).key("criteria", fields.key_span("expect"));
    let mut says_error = false;
    let n_errors = cx.n_errors();
    for item in fields.list("expect").unwrap_or_default() {
        let Some(expectation) = MappingReader::new(cx, item, "expectation") else { continue };
        let read = read_expectation(&expectation);
        expectation.finish();
        let Some((part, mut criterion)) = read else { continue };
        says_error |= part == ResultPart::IsError;
        criterion.id = ids.fresh(&criterion.id);
        criteria.push(criterion);
        spot.children.push(Spot::new(cx.head(item)));
    }
    if n_errors < cx.n_errors() {
        return None;
    }
    if !says_error {
        criteria.push(expect_error(false));
        spot.children.push(Spot::new(fields.start()));
    }
    for criterion in &mut criteria {
        (criterion.required, criterion.threshold) = (true, Some(1.0));
    }
    accept(cx, Draft { criteria, pass_mark: 1.0, ..Draft::default() }, &spot).map(Arc::new)
}

fn read_expectation(fields: &MappingReader<'_>) -> Option<(ResultPart, Criterion)> {
    let cx = fields.cx;
    let target = fields.need("target").and_then(|node| cx.plain_text(node, "target"));
    let matcher = fields.need("matcher");
    let target = target?;
    let Some((_, part)) = TARGETS.iter().find(|(name, _)| *name == target) else {
        let known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        let message = format!("an expectation about `{target}` is not supported");
        cx.report(
            Diagnostic::error(Code::Unsupported, fields.span("target"), message)
                .note(format!("supported: {}", known.join(", "))),
        );
        return None;
    };
    let entries = cx.entries(matcher?, "matcher")?;
    let [entry] = entries else {
        cx.error(Code::BadValue, fields.span("matcher"), "a matcher has one key, such as `contains`");
        return None;
    };
    if *part == ResultPart::IsError {
        let wanted =
            Some(&entry.value).filter(|_| entry.key == "exact").and_then(|node| cx.bool(node, "exact"));
        if wanted.is_none() {
            cx.error(
                Code::Unsupported,
                entry.key_span,
                "whether a call failed is matched by `exact: true` or `false`",
            );
        }
        return Some((*part, expect_error(wanted?)));
    }
    let Some((_, check)) = MATCHERS.iter().find(|(name, _)| *name == entry.key) else {
        let message = format!("the matcher `{}` is not supported", entry.key);
        cx.report(Diagnostic::error(Code::Unsupported, entry.key_span, message).suggest(
            &entry.key,
            MATCHERS.iter().map(|(name, _)| *name),
            "supported",
        ));
        return None;
    };
    let value = match *check {
        "is-json" if is_text_schema(&entry.value) => {
            cx.report(
                Diagnostic::error(Code::Unsupported, entry.key_span, "a schema for text is not supported")
                    .note("a schema is compared with the JSON that the text holds")
                    .help("use `exact`, `contains` or `regex`"),
            );
            return None;
        }
        "is-json" => cx.json(&entry.value),
        _ => Json::from(cx.plain_text(&entry.value, "matcher")?),
    };
    let mut params = json!({ "value": value });
    if *check == "equals" {
        params["strip"] = Json::Bool(false);
    }
    let method = checked_method(check, params);
    if !cx.spend_pattern_work(estimate_check_work(&method), entry.value.span) {
        return None;
    }
    if let Err(error) = CompiledCheck::compile(&method) {
        cx.error(Code::BadValue, entry.value.span, error.to_string());
        return None;
    }
    Some((*part, Criterion::new(entry.key.clone(), "", CriterionKind::Check(method))))
}

/// Whether a schema describes the text itself, and not JSON in it.
fn is_text_schema(schema: &SourceNode) -> bool {
    schema.get("type").and_then(SourceNode::text) == Some("string")
}

fn checked_method(name: &str, params: Json) -> GradingMethod {
    let entry = find_catalogue_entry(CHECKS, name).expect("it is in the catalogue");
    let params = if let Json::Object(params) = params { params } else { Map::new() };
    GradingMethod { entry, params }
}

/// The call is the only span of its trace.
fn expect_error(wanted: bool) -> Criterion {
    let check = CriterionKind::Check(checked_method("trace-error-spans", json!({ "value": 0 })));
    let mut criterion = Criterion::new("isError", "", check);
    if wanted {
        criterion.polarity = Polarity::Negated;
    }
    criterion
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::super::{
        Dialect, LoadedSuite, ProjectEnvironment, ReadError, VariableExpansion, read_suite, refuse_scripts,
    };
    use super::*;

    fn load(text: &str) -> LoadedSuite {
        let read = |path: &Path| match path.ends_with("mcptest.yaml") {
            true => Ok(text.to_owned().into()),
            false => Err(ReadError::Missing),
        };
        let world = ProjectEnvironment {
            root: PathBuf::from("/project"),
            read: &read,
            glob: &|_| Ok(Vec::new()),
            variable: &|_| None,
            variables: VariableExpansion::Filled,
            call: &refuse_scripts,
        };
        read_suite(Path::new("/project/mcptest.yaml"), Some(Dialect::Native), &world)
    }

    fn messages(loaded: &LoadedSuite) -> Vec<String> {
        loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect()
    }

    const SERVERS: &str = "servers: {notes: {command: notes-mcp}}\n";

    #[test]
    fn a_tool_test_is_a_case_that_calls_the_tool() {
        let loaded = load(&format!(
            "{SERVERS}tools:\n  - name: finds notes\n    server: notes\n    tool: search\n    args: {{query: tea}}\n    \
             expect:\n      - {{target: 'result.content[0].text', matcher: {{contains: tea}}}}\n      \
             - {{target: result.text, matcher: {{schema: {{type: object}}}}}}\n  \
             - name: refuses\n    server: notes\n    tool: drop\n    expect: [{{target: result.isError, matcher: {{exact: true}}}}]\n"
        ));
        assert_eq!(messages(&loaded), [""; 0]);
        let suite = loaded.suite.as_ref().expect("a suite");
        let [found, refused] = suite.cases.as_slice() else { panic!("two cases") };
        assert_eq!((found.server.as_deref(), found.targets[0].id.as_str()), (Some("notes"), MCP_TOOL));
        assert_eq!(found.targets[0].config["arguments"], json!({ "query": "tea" }));
        let ids = |case: &Case| case.rubric.criteria.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(found), ["contains", "schema", "isError"]);
        assert!(found.rubric.criteria.iter().all(|criterion| criterion.required));
        assert_eq!(refused.rubric.criteria[0].polarity, Polarity::Negated);
    }

    #[test]
    fn what_cannot_be_expected_is_named() {
        let loaded = load(&format!(
            "{SERVERS}tools:\n  - name: a\n    server: nots\n    tool: search\n    \
             expect: [{{target: result.content, matcher: {{schema: {{}}}}}}, {{target: result.text, matcher: {{like: x}}}}, \
             {{target: result.text, matcher: {{schema: {{type: string}}}}}}]\n"
        ));
        let all = messages(&loaded).join("\n");
        for part in [
            "no server `nots`",
            "`result.content` is not supported",
            "the matcher `like` is not supported",
            "a schema for text is not supported",
        ] {
            assert!(all.contains(part), "{part} is not in {all}");
        }
        assert!(loaded.suite.is_none());
    }
}
