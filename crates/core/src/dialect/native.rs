//! The native dialect: `evals:` and `rubrics:`, and everything that shares a file with them.

mod row_fields;
mod target;
mod workspace;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use row_fields::{check_row_fields, check_stored_outputs};
use target::read_native_targets;
use workspace::read_native_workspace;

use super::context::Context;
use super::fields::{MappingReader, suggest_absent_name};
use super::rubric::{
    EvalRubricAdditions, NamedRubrics, read_eval_check, read_rubric_definition, read_rubric_keys,
};
use super::{lower, mcptest, monitor, potato, rows};
use crate::candidate::{Candidate, TraceSource};
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{GraderKind, OnError, Rubric, Value};
use crate::source::{FileId, NodeEntry, NodeShape, SourceNode, SourceSpan};
use crate::suite::{
    AgentSettings, Aggregate, Calls, Case, CaseMatrix, Escalate, HumanLabel, Judge, Jury, MatrixPrompt,
    McpServer, Suite, TieBreak, is_output_name,
};

/// Keys that only a native suite has at its top.
pub(super) const MARKS: [&str; 2] = ["evals", "rubrics"];

/// Keys that a native file of shared parts, or a rubric on its own, has at its top.
pub(super) const SHARED_MARKS: [&str; 9] =
    ["servers", "judges", "imports", "monitors", "annotation", "criteria", "tree", "graph", "preset"];

pub(super) fn read_native_suite(cx: &Context<'_>, node: &SourceNode) -> Suite {
    read_native_file(cx, node, &mut Imports::new(node.span.file)).0
}

/// A file that is one monitor.
pub(super) fn read_monitor_suite(cx: &Context<'_>, node: &SourceNode) -> Suite {
    let (mut suite, mut named) = (Suite::default(), NamedRubrics::default());
    let Some(fields) = MappingReader::new(cx, node, "monitor") else { return suite };
    for item in fields.list("imports").unwrap_or_default() {
        import(cx, item, &mut Imports::new(node.span.file), &mut suite, &mut named);
    }
    suite.monitors.extend(monitor::read_monitor_definition(fields, &named));
    suite
}

/// Imported files: those being read, and what came of those that are done.
struct Imports {
    /// Outermost first, each with the import that led to it.
    open: Vec<(FileId, Option<SourceSpan>)>,
    done: HashMap<FileId, Rc<ImportedDefinitions>>,
}

/// What a file gives to those that import it.
#[derive(Default)]
struct ImportedDefinitions {
    rubrics: BTreeMap<String, Option<Arc<Rubric>>>,
    judges: BTreeMap<String, Judge>,
    servers: BTreeMap<String, McpServer>,
}

impl Imports {
    fn new(file: FileId) -> Self {
        Self { open: vec![(file, None)], done: HashMap::new() }
    }
}

/// One native file.
fn read_native_file(cx: &Context<'_>, node: &SourceNode, imports: &mut Imports) -> (Suite, NamedRubrics) {
    let (mut suite, mut named) = (Suite::default(), NamedRubrics::default());
    let is_rubric = ["criteria", "tree", "graph", "preset"].iter().any(|text| node.get(text).is_some());
    if is_rubric && !MARKS.iter().any(|mark| node.get(mark).is_some()) {
        bare_rubric(cx, node, &mut suite);
        return (suite, named);
    }
    let Some(fields) = MappingReader::new(cx, node, "suite") else { return (suite, named) };
    fields.knows(&["$schema"]);
    fields.refuses_with(
        "version",
        "neither native files nor files of mcptest have a version that is known here",
        "remove it; if a newer jurist or mcptest wrote the file, upgrade jurist, or run the file with mcptest",
    );
    // A key for YAML anchors.
    fields.takes_prefix("x-");
    suite.name = fields.name("name");
    suite.description = fields.text("description");
    for item in fields.list("imports").unwrap_or_default() {
        import(cx, item, imports, &mut suite, &mut named);
    }
    for entry in fields.map("servers").unwrap_or_default() {
        if let Some(server) = read_server_definition(cx, &entry.value) {
            define(cx, &mut suite.servers, entry, server, "server");
        }
    }
    for entry in fields.map("judges").unwrap_or_default() {
        if let Some(judge) = read_judge_definition(cx, &entry.value, &BTreeMap::new()) {
            define(cx, &mut suite.judges, entry, judge, "judge");
        }
    }
    if let Some(node) = fields.get("judge") {
        suite.judge = read_judge_definition(cx, node, &suite.judges).unwrap_or_default();
    }
    suite.agent = fields.fields("agent", "agent").map(read_agent_settings).unwrap_or_default();
    suite.targets = read_native_targets(&fields).unwrap_or_default();
    let (entries, circular) = sort_rubrics_by_reference(cx, fields.map("rubrics").unwrap_or_default());
    named.rubrics.extend(circular.into_iter().map(|circular| (circular, None)));
    for entry in entries {
        let read = read_rubric_definition(cx, &entry.value, &named, EvalRubricAdditions::default());
        if let Some(rubric) = &read {
            define(cx, &mut suite.rubrics, entry, Arc::clone(rubric), "rubric");
        }
        named.rubrics.insert(entry.key.clone(), read);
    }
    if fields.list_is_empty("evals") {
        cx.error(Code::Empty, fields.key_span("evals"), "`evals` lists nothing");
    }
    let mut names: BTreeMap<String, SourceSpan> = BTreeMap::new();
    for item in fields.list("evals").unwrap_or_default() {
        if let Some(case) = eval(cx, item, &suite, &named, &mut names) {
            suite.cases.push(case);
        }
    }
    for item in fields.list("monitors").unwrap_or_default() {
        if let Some(fields) = MappingReader::new(cx, item, "monitor") {
            suite.monitors.extend(monitor::read_monitor_definition(fields, &named));
        }
    }
    let tests = mcptest::read_tool_tests(&fields, &suite, &mut names);
    suite.cases.extend(tests);
    for section in mcptest::OTHER_SECTIONS.iter().filter(|section| fields.has(section)) {
        let message = format!("`{section}` is a section of mcptest, whose tests are not run here");
        cx.report(Diagnostic::warning(Code::NoEffect, fields.key_span(section), message));
    }
    mcptest::OTHER_SECTIONS.iter().for_each(|section| fields.takes_prefix(section));
    suite.annotation = fields.fields("annotation", "annotation").and_then(|task| {
        // The judge of a native file is its own.
        task.ignores(&["ai_support"]);
        potato::read_annotation_task(task)
    });
    suite.rubrics.extend(potato::annotation_rubrics(suite.annotation.as_ref()));
    fields.finish();
    (suite, named)
}

/// Rubrics after those they refer to, and the names of those that refer to each other, which is an error.
fn sort_rubrics_by_reference<'n>(
    cx: &Context<'_>,
    entries: &'n [NodeEntry],
) -> (Vec<&'n NodeEntry>, Vec<String>) {
    let index: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.key.as_str(), at)).collect();
    let next = |at: usize| {
        entries[at].value.get("ref").and_then(SourceNode::text).and_then(|text| index.get(text)).copied()
    };
    let (mut order, mut circular, mut done) = (Vec::new(), Vec::new(), vec![false; entries.len()]);
    for start in 0..entries.len() {
        let mut chain = vec![start];
        while let Some(to) = next(chain[chain.len() - 1]).filter(|index| !done[*index]) {
            if let Some(at) = chain.iter().position(|chain| *chain == to) {
                let names: Vec<&str> =
                    chain[at..].iter().chain([&to]).map(|index| entries[*index].key.as_str()).collect();
                let message = format!("rubrics refer to each other: {}", names.join(" → "));
                cx.error(Code::Cycle, entries[to].key_span, message);
                circular.extend(names.into_iter().map(str::to_owned));
                break;
            }
            chain.push(to);
        }
        for at in chain.into_iter().rev() {
            if !std::mem::replace(&mut done[at], true) {
                order.push(&entries[at]);
            }
        }
    }
    (order, circular)
}

fn define<T>(cx: &Context<'_>, map: &mut BTreeMap<String, T>, entry: &NodeEntry, value: T, what: &str) {
    if map.insert(entry.key.clone(), value).is_some() {
        cx.report(
            Diagnostic::error(
                Code::DuplicateId,
                entry.key_span,
                format!("there are two {what}s `{}`", entry.key),
            )
            .note("the other one comes from an imported file"),
        );
    }
}

/// A file that is one rubric and nothing else.
fn bare_rubric(cx: &Context<'_>, node: &SourceNode, suite: &mut Suite) {
    let Some(fields) = MappingReader::new(cx, node, "rubric") else { return };
    fields.knows(&["$schema"]);
    fields.takes_prefix("x-");
    let named = NamedRubrics::default();
    let base = super::rubric::find_base_rubric(&fields, &named);
    let read = read_rubric_keys(&fields, base).and_then(|(draft, spot)| lower::accept(cx, draft, &spot));
    fields.finish();
    if let Some(rubric) = read {
        let path = cx.path_of(node.span.file);
        let stem =
            path.file_stem().map_or_else(|| "rubric".to_owned(), |name| name.to_string_lossy().into_owned());
        let name = rubric.name.clone().unwrap_or(stem);
        suite.rubrics.insert(name, Arc::new(rubric));
    }
}

fn import(
    cx: &Context<'_>,
    item: &SourceNode,
    imports: &mut Imports,
    suite: &mut Suite,
    named: &mut NamedRubrics,
) {
    let Some(path) = cx.path(item, "imports") else { return };
    let Some(file_id) = cx.find(&path, item.span) else { return };
    if let Some(at) = imports.open.iter().position(|open| open.0 == file_id) {
        report_import_cycle(cx, item, &imports.open[at..]);
        return;
    }
    let shared = match imports.done.get(&file_id) {
        Some(done) => Rc::clone(done),
        None => {
            let Some(node) = cx.parse(file_id) else { return };
            imports.open.push((file_id, Some(item.span)));
            let (imported, its_named) = read_native_file(cx, &node, imports);
            imports.open.pop();
            let mut rubrics = its_named.rubrics;
            for (name, rubric) in imported.rubrics {
                rubrics.entry(name).or_insert(Some(rubric));
            }
            let shared =
                Rc::new(ImportedDefinitions { rubrics, judges: imported.judges, servers: imported.servers });
            imports.done.insert(file_id, Rc::clone(&shared));
            shared
        }
    };
    merge_imported_definitions(cx, item, &mut named.rubrics, &shared.rubrics, "rubric");
    merge_imported_definitions(cx, item, &mut suite.judges, &shared.judges, "judge");
    merge_imported_definitions(cx, item, &mut suite.servers, &shared.servers, "server");
    for (name, rubric) in &shared.rubrics {
        suite.rubrics.extend(rubric.clone().map(|rubric| (name.clone(), rubric)));
    }
}

/// What is imported twice by different ways is the same thing; two different things need two names.
fn merge_imported_definitions<T: Clone + PartialEq>(
    cx: &Context<'_>,
    item: &SourceNode,
    into: &mut BTreeMap<String, T>,
    from: &BTreeMap<String, T>,
    what: &str,
) {
    for (name, value) in from {
        if into.insert(name.clone(), value.clone()).is_some_and(|earlier| earlier != *value) {
            cx.report(
                Diagnostic::error(
                    Code::DuplicateId,
                    item.span,
                    format!("this file also defines a {what} `{name}`"),
                )
                .label("another import has it, too")
                .help("give one of them another name"),
            );
        }
    }
}

/// Reported at the import of the outermost file in the circle.
fn report_import_cycle(cx: &Context<'_>, item: &SourceNode, open: &[(FileId, Option<SourceSpan>)]) {
    let name =
        |file_id: FileId| cx.path_of(file_id).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let span = open.get(1).and_then(|open| open.1).unwrap_or(item.span);
    let diagnostic = if open.len() == 1 {
        Diagnostic::error(Code::Cycle, span, "this file imports itself").help("remove the import")
    } else {
        let files: Vec<String> = open.iter().chain(&open[..1]).map(|open| name(open.0)).collect();
        Diagnostic::error(Code::Cycle, span, format!("files import each other: {}", files.join(" → ")))
            .also(item.span, "the circle closes here")
            .help("move what both need into a third file")
    };
    cx.report(diagnostic);
}

/// Values stay as written: a secret in `{{ env.X }}` is filled in only when the server is started.
fn read_server_definition(cx: &Context<'_>, node: &SourceNode) -> Option<McpServer> {
    let fields = MappingReader::new(cx, node, "server")?;
    fields.exclusive("command", "url", "a server is started, or reached at an address");
    let texts = |entries: &[NodeEntry]| -> BTreeMap<String, String> {
        entries
            .iter()
            .filter_map(|entry| Some((entry.key.clone(), read_header_value(cx, &entry.value, &entry.key)?)))
            .collect()
    };
    let env = texts(fields.map("env").unwrap_or_default());
    let headers = texts(fields.map("headers").unwrap_or_default());
    let mut argv: Vec<String> = match fields.get("command").map(|node| (node, &node.shape)) {
        Some((_, NodeShape::List(items))) => {
            items.iter().filter_map(|node| cx.raw_text(node, "command")).collect()
        }
        Some((node, _)) => cx.raw_text(node, "command").into_iter().collect(),
        None => Vec::new(),
    };
    if fields.list_is_empty("command") {
        cx.error(Code::Empty, fields.key_span("command"), "`command` names no program");
    }
    argv.extend(fields.list("args").unwrap_or_default().iter().filter_map(|node| cx.raw_text(node, "args")));
    let (cwd, url) = (
        fields.get("cwd").and_then(|node| cx.raw_text(node, "cwd")),
        fields.get("url").and_then(|node| cx.raw_text(node, "url")),
    );
    if !fields.has("command") && !fields.has("url") {
        fields.lacks(
            &["command", "url"],
            Diagnostic::error(Code::MissingKey, fields.start(), "a server needs `command` or `url`")
                .help("`command` starts a program that speaks MCP over stdio; `url` reaches one over HTTP"),
        );
    }
    fields.finish();
    match url {
        Some(url) => Some(McpServer::Http { url, headers }),
        None if argv.is_empty() => None,
        None => Some(McpServer::Stdio { command: argv.remove(0), args: argv, env, cwd }),
    }
}

/// A header or variable: text, or `{env: NAME}`.
fn read_header_value(cx: &Context<'_>, node: &SourceNode, key: &str) -> Option<String> {
    match node.get("env").and_then(SourceNode::text) {
        Some(name) => Some(format!("{{{{ env.{name} }}}}")),
        None => cx.raw_text(node, key),
    }
}

/// A judge in full, or the name of a model or of one of `judges`.
fn read_judge_definition(
    cx: &Context<'_>,
    node: &SourceNode,
    named: &BTreeMap<String, Judge>,
) -> Option<Judge> {
    if node.map().is_none() {
        let name = cx.plain_text(node, "judge")?;
        if let Some(judge) = named.get(&name) {
            return Some(judge.clone());
        }
        let known: Vec<&str> = named.keys().map(String::as_str).collect();
        if let Some(meant) = crate::diagnostic::closest(&name, &known) {
            let message = format!("`{name}` is read as the name of a model");
            let help = format!("did you mean the judge `{meant}`?");
            cx.report(Diagnostic::warning(Code::UnknownName, node.span, message).help(help));
        }
        return Some(Judge { model: Some(name), ..Judge::default() });
    }
    judge_fields(MappingReader::new(cx, node, "judge")?)
}

pub(super) fn judge_fields(fields: MappingReader<'_>) -> Option<Judge> {
    let cx = fields.cx;
    fields.exclusive("jury", "panel", "a jury asks one model several times, a panel asks several models");
    let judge = Judge {
        model: fields.text("model"),
        base_url: fields.text("base_url"),
        temperature: fields.number_in("temperature", 0.0..=2.0),
        max_tokens: fields
            .integer("max_tokens", 1..=i64::from(u32::MAX))
            .and_then(|integer| u32::try_from(integer).ok()),
        timeout: fields.number_in("timeout", 0.001..=86_400.0),
        calls: fields.word("calls", &Calls::ALL),
        jury: fields.fields("jury", "jury").and_then(jury),
        panel: fields.texts("panel"),
        aggregate: fields.word("aggregate", &Aggregate::ALL),
        tie_break: fields.word("tie_break", &TieBreak::ALL),
        on_error: fields.word("on_error", &OnError::ALL),
        escalate: fields.fields("escalate", "escalation").and_then(escalate),
        calibrations: calibrations(&fields),
        criteria: BTreeMap::new(),
    };
    if fields.list_is_empty("panel") {
        cx.error(Code::Empty, fields.key_span("panel"), "`panel` lists no model");
    }
    fields.finish();
    Some(judge)
}

/// The judge of an eval, which may name others for single criteria.
fn read_eval_judge(cx: &Context<'_>, node: &SourceNode, named: &BTreeMap<String, Judge>) -> Option<Judge> {
    if node.map().is_none() {
        return read_judge_definition(cx, node, named);
    }
    let fields = MappingReader::new(cx, node, "judge")?;
    let criteria = read_criterion_judges(&fields);
    Some(Judge { criteria, ..judge_fields(fields)? })
}

fn read_criterion_judges(fields: &MappingReader<'_>) -> BTreeMap<String, Judge> {
    let read = |entry: &NodeEntry| {
        let judge = match entry.value.map() {
            Some(_) => read_single_judge(MappingReader::new(fields.cx, &entry.value, "criterion judge")?),
            None => {
                let model = fields.cx.plain_text(&entry.value, &entry.key)?;
                Judge { model: Some(model), ..Judge::default() }
            }
        };
        Some((entry.key.clone(), judge))
    };
    fields.map("criteria").unwrap_or_default().iter().filter_map(read).collect()
}

/// A judge that is one model.
fn read_single_judge(fields: MappingReader<'_>) -> Judge {
    let judge = Judge {
        model: fields.need("model").and_then(|node| fields.cx.plain_text(node, "model")),
        base_url: fields.text("base_url"),
        temperature: fields.number_in("temperature", 0.0..=2.0),
        max_tokens: fields
            .integer("max_tokens", 1..=i64::from(u32::MAX))
            .and_then(|integer| u32::try_from(integer).ok()),
        timeout: fields.number_in("timeout", 0.001..=86_400.0),
        ..Judge::default()
    };
    fields.finish();
    judge
}

/// A judge of a criterion that no judge answers would never be asked.
fn check_criterion_judges(fields: &MappingReader<'_>, rubric: &Rubric) {
    let Some(entries) = fields.peek("judge").and_then(|node| node.get("criteria")?.map()) else { return };
    let judged = rubric.questions().filter(|question| question.criterion.by.contains(&GraderKind::Judge));
    let known: Vec<&str> = judged.map(|question| question.criterion.id.as_str()).collect();
    for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
        let message = format!("no criterion `{}` is judged", entry.key);
        let diagnostic = Diagnostic::error(Code::UnknownName, entry.key_span, message);
        let known = known.iter().copied();
        fields.cx.report(suggest_absent_name(diagnostic, entry, entries, known, "criteria"));
    }
}

/// Files that `jurist calibrate` wrote.
fn calibrations(fields: &MappingReader<'_>) -> Vec<(String, serde_json::Value)> {
    let cx = fields.cx;
    let one = |node: &SourceNode| {
        let path = cx.path(node, "calibrations")?;
        let value = cx.parse(cx.find(&path, node.span)?)?.to_json();
        let is_one = value["criterion"].is_string() && value["calibration"]["mapping"].is_object();
        if !is_one {
            let message = format!("`{path}` is not what `jurist calibrate --out` writes");
            cx.error(Code::BadValue, node.span, message);
        }
        is_one.then_some((path, value))
    };
    fields.list("calibrations").unwrap_or_default().iter().filter_map(one).collect()
}

fn escalate(fields: MappingReader<'_>) -> Option<Escalate> {
    if !fields.has("to") {
        fields.missing("to");
    }
    let (to, margin) = (fields.text("to"), fields.number_in("margin", 0.0..=1.0));
    fields.finish();
    Some(Escalate { to: to?, margin: margin.unwrap_or(0.1) })
}

fn jury(fields: MappingReader<'_>) -> Option<Jury> {
    let size = fields.need("size").and_then(|node| fields.cx.integer(node, "size", 1..=1000));
    // Just over one half: a majority.
    let consensus = fields.number_in("consensus", 0.01..=1.0).unwrap_or(0.51);
    fields.finish();
    Some(Jury { size: u32::try_from(size?).ok()?, consensus })
}

fn eval(
    cx: &Context<'_>,
    node: &SourceNode,
    suite: &Suite,
    named: &NamedRubrics,
    names: &mut BTreeMap<String, SourceSpan>,
) -> Option<Case> {
    let fields = MappingReader::new(cx, node, "eval")?;
    let name = fields.name("name");
    match &name {
        None => fields.missing("name"),
        Some(name) => {
            if let Some(first) = names.insert(name.clone(), fields.span("name")) {
                cx.report(
                    Diagnostic::error(
                        Code::DuplicateId,
                        fields.span("name"),
                        format!("there are two evals `{name}`"),
                    )
                    .also(first, "the first one")
                    .help("give one of them another name"),
                );
            }
        }
    }
    let candidate = read_native_candidate(&fields);
    let threshold = fields.get("threshold").and_then(|node| Some((cx.number(node, "threshold")?, node.span)));
    let checks = fields
        .list("checks")
        .unwrap_or_default()
        .iter()
        .filter_map(|node| read_eval_check(cx, node))
        .collect();
    let extra = EvalRubricAdditions { threshold, checks };
    let rubric = eval_rubric(&fields, named, extra);
    require_gradable_content(&fields);
    let judge =
        fields.get("judge").and_then(|node| read_eval_judge(cx, node, &suite.judges)).unwrap_or_default();
    if let Some(rubric) = &rubric {
        check_criterion_judges(&fields, rubric);
    }
    let data = fields.get("data").and_then(|node| rows::read_data_rows(cx, node));
    let case = Case {
        name: name.unwrap_or_default(),
        origin: Some(cx.origin(fields.start())),
        description: fields.text("description"),
        tags: fields.texts("tags"),
        metadata: fields.json_map("metadata"),
        server: fields.text("server"),
        targets: read_native_targets(&fields).unwrap_or_else(|| suite.targets.clone()),
        agent: fields.fields("agent", "agent").map(read_agent_settings).unwrap_or_default().or(&suite.agent),
        workspace: fields.get("workspace").and_then(|node| read_native_workspace(cx, node)),
        matrix: fields.fields("matrix", "matrix").map(read_case_matrix).unwrap_or_default(),
        repeat: fields
            .integer("repeat", 1..=10_000)
            .and_then(|integer| u32::try_from(integer).ok())
            .unwrap_or(1),
        judge: judge.or(&suite.judge),
        candidate,
        data,
        labels: rubric.as_ref().map(|rubric| labels(&fields, rubric)).unwrap_or_default(),
        store_output_as: fields
            .get("store_output_as")
            .and_then(|node| read_output_name(cx, node, "store_output_as")),
        rubric: match rubric {
            Some(rubric) => rubric,
            None => {
                fields.finish();
                return None;
            }
        },
    };
    if let Some(server) = case
        .server
        .as_ref()
        .filter(|server| !suite.servers.is_empty() && !suite.servers.contains_key(*server))
    {
        let message = format!("there is no server `{server}`");
        let known = suite.servers.keys().map(String::as_str);
        let (code, span) = (Code::UnknownName, fields.span("server"));
        // A recorded answer needs no server.
        let diagnostic = match case.candidate.is_given() {
            true => Diagnostic::warning(code, span, message),
            false => Diagnostic::error(code, span, message + ", so this eval cannot be run"),
        };
        cx.report(diagnostic.suggest(server, known, "servers"));
    }
    let has_rows = case.data.is_some() || !fields.has("data");
    if has_rows {
        check_row_fields(cx, node, &case);
        check_stored_outputs(cx, node, &case, &suite.cases);
    }
    fields.finish();
    // Without the rows of its dataset, the case would be another one.
    has_rows.then_some(case)
}

fn eval_rubric(
    fields: &MappingReader<'_>,
    named: &NamedRubrics,
    extra: EvalRubricAdditions,
) -> Option<Arc<Rubric>> {
    match fields.get("rubric") {
        Some(node) => read_rubric_definition(fields.cx, node, named, extra),
        None if extra.checks.is_empty() => {
            if fields.has("rubric") {
                fields.missing("rubric");
            }
            if !fields.has("rubric") && (!fields.has("checks") || fields.list_is_empty("checks")) {
                fields.lacks(
                    &["rubric", "checks"],
                    Diagnostic::error(Code::MissingKey, fields.start(), "an eval needs `rubric` or `checks`")
                        .help("say what good looks like: `rubric: \"…\"`"),
                );
            }
            None
        }
        None => {
            let (draft, spot) =
                extra.add_to(crate::rubric::Draft::default(), lower::Spot::new(fields.start()));
            lower::accept(fields.cx, draft, &spot).map(Arc::new)
        }
    }
}

fn read_native_candidate(fields: &MappingReader<'_>) -> Candidate {
    let cx = fields.cx;
    let trace = fields.get("trace").and_then(|node| match &node.shape {
        NodeShape::Scalar(_) => {
            let path = cx.path(node, "trace")?;
            if !path.contains("{{") {
                cx.find(&path, node.span)?;
            }
            Some(TraceSource::File(path))
        }
        _ => Some(TraceSource::Inline(cx.json(node))),
    });
    let output = fields.get("response").filter(|node| node.text().is_none()).map(|node| cx.json(node));
    Candidate {
        input: fields.any(&["prompt", "input"]).and_then(|node| cx.template(node, "prompt")),
        messages: fields
            .list("messages")
            .unwrap_or_default()
            .iter()
            .filter_map(|node| read_message_node(cx, node))
            .collect(),
        response: output
            .as_ref()
            .map_or_else(|| fields.template("response"), |value| Some(value.to_string())),
        output,
        trace,
        diff: fields.template("diff"),
        context: fields.templates("context"),
        expected: fields.get("expected").map(|node| match node.text() {
            Some(_) => {
                cx.template(node, "expected").map_or(serde_json::Value::Null, serde_json::Value::String)
            }
            None => cx.json(node),
        }),
        vars: fields.json_map("vars"),
    }
}

/// One message of a conversation, or an error at its place.
pub(super) fn read_message_node(cx: &Context<'_>, node: &SourceNode) -> Option<serde_json::Value> {
    let has = |key: &str| node.get(key).is_some();
    if has("role") && (has("content") || has("tool_calls")) {
        return Some(cx.json(node));
    }
    cx.report(
        Diagnostic::error(Code::WrongType, cx.head(node), "a message needs `role` and `content`")
            .help("write `- {role: user, content: \"…\"}`"),
    );
    None
}

/// A name that later evals use between braces.
pub(super) fn read_output_name(cx: &Context<'_>, node: &SourceNode, key: &str) -> Option<String> {
    let name = cx.plain_text(node, key)?;
    if !is_output_name(&name) {
        let message = format!("an output cannot be stored as `{name}`");
        let label = "a name is a letter, and then letters, digits, `_` or `-`";
        cx.report(Diagnostic::error(Code::BadValue, node.span, message).label(label));
        return None;
    }
    Some(name)
}

/// What people have answered: a value, or `{value, by, reason}`, for criteria that wait for a person.
fn labels(fields: &MappingReader<'_>, rubric: &Rubric) -> BTreeMap<String, HumanLabel> {
    let cx = fields.cx;
    let mut labels = BTreeMap::new();
    let entries = fields.map("labels").unwrap_or_default();
    for entry in entries {
        let (node, by, reason) = match entry.value.map() {
            None => (Some(&entry.value), None, None),
            Some(_) => {
                let Some(own) = MappingReader::new(cx, &entry.value, "label") else { continue };
                let found = (own.need("value"), own.text("by"), own.text("reason"));
                own.finish();
                found
            }
        };
        let Some(node) = node else { continue };
        let Some(question) = rubric.questions().find(|question| question.id() == entry.key) else {
            let ids: Vec<String> = rubric.questions().map(|question| question.id()).collect();
            let message = format!("the rubric has no criterion `{}`", entry.key);
            let diagnostic = Diagnostic::error(Code::UnknownName, entry.key_span, message);
            let known = ids.iter().map(String::as_str);
            cx.report(suggest_absent_name(diagnostic, entry, entries, known, "criteria"));
            continue;
        };
        if !question.criterion.by.contains(&GraderKind::Human) {
            cx.report(
                Diagnostic::warning(Code::NoEffect, entry.key_span, "no person is asked about this")
                    .help("give the criterion `by: human`"),
            );
        }
        let value = match cx.json(node) {
            serde_json::Value::Bool(it) => Value::Bool(it),
            serde_json::Value::Number(it) => Value::Number(it.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(it) => Value::Text(it),
            _ => {
                cx.wrong_type(node, "labels", "a point of the scale");
                continue;
            }
        };
        match question.unit(&value) {
            Ok(_) => drop(labels.insert(entry.key.clone(), HumanLabel { value, by, reason })),
            Err(error) => cx.error(Code::BadValue, node.span, error.to_string()),
        }
    }
    labels
}

fn read_agent_settings(fields: MappingReader<'_>) -> AgentSettings {
    let seconds = |key: &'static str| fields.number_in(key, 0.001..=86_400.0);
    let agent = AgentSettings {
        model: fields.text("model"),
        system: fields.text_or_file("system"),
        max_steps: fields.integer("max_steps", 1..=10_000).and_then(|integer| u32::try_from(integer).ok()),
        max_tokens: fields
            .integer("max_tokens", 1..=1_000_000_000)
            .and_then(|integer| u64::try_from(integer).ok()),
        timeout: seconds("timeout"),
        tool_timeout: seconds("tool_timeout"),
        transform: fields.get("transform").and_then(|node| fields.cx.raw_text(node, "transform")),
        context_transform: fields
            .get("context_transform")
            .and_then(|node| fields.cx.raw_text(node, "context_transform")),
    };
    fields.finish();
    agent
}

fn read_case_matrix(fields: MappingReader<'_>) -> CaseMatrix {
    for key in ["models", "prompts"] {
        if fields.list_is_empty(key) {
            fields.cx.report(
                Diagnostic::error(
                    Code::Empty,
                    fields.key_span(key),
                    format!("the axis `{key}` has no values"),
                )
                .help("list at least one, or remove the axis"),
            );
        }
    }
    let matrix = CaseMatrix { models: fields.templates("models"), prompts: read_matrix_prompts(&fields) };
    if !fields.has("models") && !fields.has("prompts") {
        let message = "a matrix needs `models` or `prompts`";
        fields.lacks(&["models", "prompts"], Diagnostic::error(Code::Empty, fields.start(), message));
    }
    fields.finish();
    matrix
}

/// Texts, or mappings of a `prompt` and its `label`.
fn read_matrix_prompts(fields: &MappingReader<'_>) -> Vec<MatrixPrompt> {
    let cx = fields.cx;
    let Some(node) = fields.get("prompts") else { return Vec::new() };
    let without_label = |text: String| MatrixPrompt { label: None, text };
    let Some(items) = node.list() else {
        return cx.templates(node, "prompts").into_iter().map(without_label).collect();
    };
    let read = |item: &SourceNode| {
        if item.map().is_none() {
            return cx.template(item, "prompts").map(without_label);
        }
        let own = MappingReader::new(cx, item, "matrix prompt")?;
        let label = own.text("label");
        let text = own.need("prompt").and_then(|node| cx.template(node, "prompt"));
        own.finish();
        Some(MatrixPrompt { label, text: text? })
    };
    items.iter().filter_map(read).collect()
}

fn require_gradable_content(fields: &MappingReader<'_>) {
    let keys = ["response", "trace", "diff", "prompt", "input", "messages"];
    let prompts = fields.get("matrix").is_some_and(|node| node.get("prompts").is_some());
    if !prompts && !keys.iter().any(|key| fields.get(key).is_some()) {
        fields.lacks(
            &keys,
            Diagnostic::error(Code::MissingKey, fields.start(), "there is nothing to grade")
                .help("give a `response` (or `trace`, or `diff`), or a `prompt` to run"),
        );
    }
}
