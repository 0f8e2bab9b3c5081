//! The Potato dialect: annotation tasks for people, and lists of programmatic evaluators.

mod conditions;
mod derived;
mod display;
mod endpoint;
mod evaluators;
mod keywords;
mod schemes;
mod slider;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use conditions::read_show_conditions;
use display::{check_shown_fields, fill_trace_fields, read_item_display};
use endpoint::read_task_judge;
use evaluators::evaluators;
use keywords::read_keywords;
use schemes::{read_annotation_schemes, rubric_eval};

use super::context::{Context, remove_dots};
use super::fields::MappingReader;
use super::rows;
use crate::annotate::{build_schemes, find_impossible_answer};
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::Rubric;
use crate::source::{SourceNode, SourceSpan};
use crate::suite::{
    AnnotationTask, DataRow, ItemOrder, KnownItem, KnownItemPurpose, Suite, TaskScheme, TaskSchemeKind,
};

/// Keys that only a Potato file has at its top.
pub(super) const MARKS: [&str; 2] = ["annotation_schemes", "evaluators"];

/// Keys that Potato knows and that change nothing here: how its own server runs and looks.
const WITHOUT_EFFECT: &[&str] = &[
    "active_learning",
    "adjudication",
    "admin_api_key",
    "agreement_metrics",
    "alert_time_each_instance",
    "annotation_codebook_url",
    "annotation_telemetry",
    "annotation_ui",
    "annotator_dashboard",
    "authentication",
    "auto_export_interval",
    "auto_redirect_delay",
    "auto_redirect_on_completion",
    "automatic_assignment",
    "automation",
    "base_css",
    "base_html_template",
    "batch_assignment",
    "boundary_probing",
    "category_assignment",
    "codebook",
    "codebook_invivo_key",
    "codebook_mode",
    "corpus_map",
    "crowdsourcing",
    "curation",
    "custom_footer_html",
    "customjs",
    "customjs_hostname",
    "data_cache",
    "data_directory",
    "data_sources",
    "database",
    "dataset_metadata",
    "datasets",
    "debug",
    "debug_phase",
    "diversity_ordering",
    "embedding_visualization",
    "export_annotation_format",
    "export_include_phase_data",
    "header_file",
    "header_logo",
    "hide_navbar",
    "highlight_linebreaks",
    "horizontal_key_bindings",
    "host",
    "html_layout",
    "icl_labeling",
    "item_store",
    "judge_alignment",
    "judge_calibration",
    "jumping_to_id_disabled",
    "keystroke_logging",
    "keyword_highlight_settings",
    "layout",
    "list_as_text",
    "mace",
    "media_directory",
    "partial_loading",
    "persist_sessions",
    "phases",
    "pocket",
    "port",
    "pre_annotation",
    "prestudy",
    "prolific",
    "psychometrics",
    "publish",
    "qda_mode",
    "quality_control",
    "random_seed",
    "rbac",
    "require_fully_annotated",
    "require_no_password",
    "require_password",
    "review_mode",
    "review_workflow",
    "search",
    "secret_key",
    "server",
    "server_name",
    "session_lifetime_days",
    "site_dir",
    "site_file",
    "surveyflow",
    "task_dir",
    "task_layout",
    "thinkaloud",
    "trace_ingestion",
    "triage",
    "truth_serum",
    "ui",
    "ui_config",
    "ui_language",
    "user_config",
    "user_roles",
    "verbose",
    "very_verbose",
    "watch_data_directory",
    "watch_poll_interval",
    "webhooks",
];

/// Keys that make what is annotated while people annotate.
const UNSUPPORTED: &[&str] = &[
    "agent_proxy",
    "arena",
    "bws_config",
    "chat_support",
    "cot_segmentation",
    "ibws_config",
    "live_agent",
    "live_coding_agent",
    "sessions",
    "solo_mode",
];

pub(super) fn read_potato_suite(cx: &Context<'_>, node: &SourceNode) -> Suite {
    let mut suite = Suite::default();
    if node.get("evaluators").is_some() && node.get("annotation_schemes").is_none() {
        let Some(fields) = MappingReader::new(cx, node, "evaluator file") else { return suite };
        if let Some(items) = fields.list("evaluators") {
            let list = evaluators(cx, items, fields.key_span("evaluators"));
            suite.rubrics.extend(list.rubric.map(|rubric| ("evaluators".to_owned(), rubric)));
            suite.judge = list.judge;
        }
        fields.finish();
        return suite;
    }
    if node.get("criteria").is_some() {
        // The rows of a rubric without the task around them.
        let Some(fields) = MappingReader::new(cx, node, "list of criteria") else { return suite };
        if let Some(TaskSchemeKind::Rubric { rubric, .. }) = rubric_eval(&fields) {
            suite.rubrics.insert("criteria".to_owned(), rubric);
        }
        fields.finish();
        return suite;
    }
    let Some(fields) = MappingReader::new(cx, node, "annotation task") else { return suite };
    suite.judge = fields.get("ai_support").and_then(|node| read_task_judge(cx, node)).unwrap_or_default();
    suite.annotation = read_annotation_task(fields);
    suite.rubrics.extend(annotation_rubrics(suite.annotation.as_ref()));
    suite
}

/// The rubrics that people fill in, by the names of their schemes.
pub(super) fn annotation_rubrics(annotation: Option<&AnnotationTask>) -> Vec<(String, Arc<Rubric>)> {
    let schemes = annotation.into_iter().flat_map(|annotation| &annotation.schemes);
    let rubric = |scheme: &TaskScheme| match &scheme.kind {
        TaskSchemeKind::Rubric { rubric, .. } => Some((scheme.name.clone(), Arc::clone(rubric))),
        _ => None,
    };
    schemes.filter_map(rubric).collect()
}

/// An annotation task: a file of its own, or the `annotation` block of a native file.
pub(super) fn read_annotation_task(fields: MappingReader<'_>) -> Option<AnnotationTask> {
    let cx = fields.cx;
    let mut schemes: Vec<TaskScheme> = Vec::new();
    let mut names: HashMap<&str, SourceSpan> = HashMap::new();
    if fields.list_is_empty("annotation_schemes") {
        cx.error(
            Code::Empty,
            fields.key_span("annotation_schemes"),
            "people are asked nothing: list a scheme",
        );
    }
    let items = fields.get("annotation_schemes");
    if items.is_none() {
        let note = "a rubric of your own is asked about stored traces: `POST /api/v1/traces` sends them to a server, \
            and `POST /api/v1/tasks` with `rubric` and `traces` makes the task (`jurist docs annotation-api`)";
        fields.missing_with("annotation_schemes", |diagnostic| diagnostic.note(note));
    }
    let items = items.and_then(|node| cx.list(node, "annotation_schemes"));
    let items = items.unwrap_or_default();
    for item in items {
        if let Some(name) = item.get("name")
            && let Some(first) = names.insert(name.text().unwrap_or_default(), name.span)
        {
            let message = format!("there are two schemes `{}`", name.text().unwrap_or_default());
            cx.report(Diagnostic::error(Code::DuplicateId, name.span, message).also(first, "the first one"));
        }
        schemes.extend(read_annotation_schemes(cx, item));
    }
    read_show_conditions(cx, items, &mut schemes);
    let item =
        fields.fields("item_properties", "set of item properties").map(item_properties).unwrap_or_default();
    let shown_as = fields.any(&["display", "instance_display"]);
    let mut annotation = AnnotationTask {
        name: fields.text("annotation_task_name"),
        description: fields
            .any(&["task_description", "annotation_task_description", "annotation_instructions"])
            .and_then(|node| cx.text(node, "task_description")),
        data_files: Vec::new(),
        id_key: item.0,
        text_key: item.1,
        display: shown_as.map(|node| read_item_display(cx, node)).unwrap_or_default(),
        keywords: Vec::new(),
        keyword_file: None,
        schemes,
        rows: Vec::new(),
        allow_back_navigation: true,
        show_criteria_descriptions: true,
        shows_score: false,
        annotators_per_item: fields
            .any(&["num_annotators_per_item", "max_annotations_per_item", "min_annotators_per_instance"])
            // Potato writes -1 for any number.
            .filter(|node| node.text() != Some("-1"))
            .and_then(|node| cx.integer(node, "num_annotators_per_item", 1..=1_000_000))
            .and_then(|n| u32::try_from(n).ok()),
        quota: fields
            .any(&["max_annotations_per_user", "per_annotator_quota"])
            .filter(|node| node.text() != Some("-1"))
            .and_then(|node| cx.integer(node, "max_annotations_per_user", 1..=1_000_000))
            .and_then(|n| u32::try_from(n).ok()),
        order: read_item_order(&fields),
        known: Vec::new(),
        known_files: Vec::new(),
        check_every: None,
        min_seconds: None,
        stale_minutes: fields
            .fields("instance_reclaim", "reclaim of abandoned items")
            .and_then(read_reclaim_minutes),
        completion_code: fields.text("completion_code"),
        crowd: false,
        output_path: fields.text("output_annotation_dir"),
        output_format: fields.text("output_annotation_format"),
    };
    if let Some(config) = fields.fields("annotator_config", "annotator config") {
        annotation.allow_back_navigation = config.bool("allow_back_navigation").unwrap_or(true);
        annotation.show_criteria_descriptions = config.bool("show_criteria_descriptions").unwrap_or(true);
        config.finish();
    }
    if let Some(output) = fields.fields("output", "output") {
        annotation.output_path = output.text("path").or(annotation.output_path);
        annotation.output_format = output.text("format").or(annotation.output_format);
        output.finish();
    }
    let (id_key, text_key) = (annotation.id_key.clone(), annotation.text_key.clone());
    for item in fields.list("data_files").unwrap_or_default() {
        let path = data_file(cx, item, id_key.as_deref(), text_key.as_deref(), &mut annotation.rows);
        annotation.data_files.extend(path);
    }
    fill_trace_fields(shown_as, &mut annotation);
    let comes_later = fields.has("trace_ingestion");
    check_shown_fields(cx, shown_as, &mut annotation, comes_later);
    read_keywords(&fields, items, &mut annotation);
    read_quality_checks(&fields, &mut annotation);
    read_login_settings(&fields, &mut annotation);
    fields.ignores(WITHOUT_EFFECT);
    fields.refuses(UNSUPPORTED);
    fields.finish();
    Some(annotation)
}

/// Which item comes next. Strategies that need a model of the answers or of the texts are not there.
fn read_item_order(fields: &MappingReader<'_>) -> Option<ItemOrder> {
    let learned = [
        "active_learning",
        "batch",
        "category_based",
        "diversity_clustering",
        "llm_confidence",
        "max_diversity",
        "priority",
        "psychometric",
    ];
    let strategy = fields.get("assignment_strategy")?;
    if strategy.text().is_some_and(|text| learned.contains(&text)) {
        let message =
            format!("`assignment_strategy: {}` has no effect here", strategy.text().unwrap_or_default());
        let note = "items come in the order in which fewest people have seen them";
        fields.cx.report(Diagnostic::warning(Code::NoEffect, strategy.span, message).note(note));
        return None;
    }
    fields.word(
        "assignment_strategy",
        &[
            ("random", ItemOrder::Random),
            ("fixed_order", ItemOrder::Fixed),
            ("ordered", ItemOrder::Fixed),
            ("least_annotated", ItemOrder::Balanced),
        ],
    )
}

fn read_reclaim_minutes(fields: MappingReader<'_>) -> Option<u32> {
    let enabled = fields.bool("enabled").unwrap_or(true);
    let hours = fields.number_in("timeout_hours", 1.0 / 60.0..=2160.0);
    fields.knows(&["preserve_completed_annotations", "prolific", "quality_control"]);
    fields.finish();
    hours.filter(|_| enabled).map(|hour| (hour * 60.0).round() as u32)
}

/// Items with known answers: those that everybody is trained with, and those that are mixed in.
fn read_quality_checks(fields: &MappingReader<'_>, annotation: &mut AnnotationTask) {
    let cx = fields.cx;
    if let Some(training) = fields.fields("training", "training") {
        let enabled = training.bool("enabled").unwrap_or(true);
        let file = training.get("data_file").filter(|_| enabled);
        training.knows(&[
            "annotation_schemes",
            "passing_criteria",
            "allow_retry",
            "failure_action",
            "feedback",
        ]);
        training.ignores(&["passing_criteria", "failure_action"]);
        training.finish();
        read_known_items(
            cx,
            file,
            KnownItemPurpose::Training,
            ("correct_answers", "training_instances"),
            annotation,
        );
    }
    let mut frequencies = Vec::new();
    for (key, purpose, answers) in [
        ("attention_checks", KnownItemPurpose::Attention, "expected_answer"),
        ("gold_standards", KnownItemPurpose::Gold, "gold_label"),
    ] {
        let Some(inner) = fields.fields(key, "set of items with known answers") else { continue };
        let enabled = inner.bool("enabled").unwrap_or(true);
        let file = inner.get("items_file").filter(|_| enabled);
        let every = inner.integer("frequency", 1..=1_000_000).and_then(|integer| u32::try_from(integer).ok());
        frequencies.extend(every.map(|every| CheckFrequency { every, span: inner.span("frequency") }));
        if let Some(seconds) = inner.number_in("min_response_time", 0.0..=86_400.0) {
            annotation.min_seconds = Some(seconds);
        }
        inner.knows(&["mode", "accuracy", "feedback"]);
        inner.ignores(&["probability", "failure_handling", "auto_promote"]);
        inner.finish();
        read_known_items(cx, file, purpose, (answers, "items"), annotation);
    }
    annotation.check_every = choose_check_frequency(cx, &frequencies);
}

/// Number of items between two checks, as one key of the file says it.
struct CheckFrequency {
    every: u32,
    span: SourceSpan,
}

/// Attention and gold items share one frequency: the smallest. Larger ones are reported.
fn choose_check_frequency(cx: &Context<'_>, frequencies: &[CheckFrequency]) -> Option<u32> {
    let smallest = frequencies.iter().map(|frequency| frequency.every).min()?;
    for frequency in frequencies.iter().filter(|frequency| smallest < frequency.every) {
        let message = format!("`frequency: {}` has no effect", frequency.every);
        let note =
            format!("attention and gold items share one frequency; the smaller one, {smallest}, is used");
        cx.report(Diagnostic::warning(Code::NoEffect, frequency.span, message).note(note));
    }
    Some(smallest)
}

/// Rows with what is right about them.
fn read_known_items(
    cx: &Context<'_>,
    file: Option<&SourceNode>,
    purpose: KnownItemPurpose,
    (answers, list): (&'static str, &str),
    annotation: &mut AnnotationTask,
) {
    let Some(node) = file else { return };
    let Some(path) = cx.path(node, "items_file") else { return };
    let Some(found) = cx.find(&path, node.span) else { return };
    annotation.known_files.push((purpose, path.clone()));
    // A file may be a list of rows, or hold it under a name.
    let is_document = [".json", ".yaml", ".yml"].iter().any(|text| path.ends_with(text));
    let document = if is_document { cx.parse(found) } else { None };
    let rows: Vec<DataRow> =
        match document.as_ref().and_then(|node| node.get(list)).and_then(SourceNode::list) {
            Some(items) => items.iter().filter_map(|node| node.to_json().as_object().cloned()).collect(),
            None => rows::rows_of(cx, found, node.span),
        };
    let schemes = build_schemes(annotation);
    let id_key = annotation.id_key.clone().unwrap_or_else(|| "id".to_owned());
    for (at, mut row) in rows.into_iter().enumerate() {
        let bad = |why: String| {
            cx.error(Code::BadRow, node.span, format!("row {} of `{path}` {why}", at + 1));
        };
        let Some(Json::Object(answers)) = row.remove(answers) else {
            bad(format!("has no `{answers}`, which maps schemes to what is right"));
            return;
        };
        if let Some(name) = answers.keys().find(|name| !schemes.iter().any(|scheme| scheme.name == **name)) {
            bad(format!("answers `{name}`, and there is no such scheme"));
            return;
        }
        let impossible = answers.iter().find_map(|(name, expected)| {
            let scheme = schemes.iter().find(|scheme| scheme.name == *name)?;
            let why = find_impossible_answer(scheme, expected)?;
            Some(format!("has an answer to `{name}` that no annotator can give: {why}"))
        });
        if let Some(why) = impossible {
            bad(why);
            return;
        }
        let id = row.get(&id_key).or_else(|| row.get("id")).filter(|row| !row.is_null()).cloned();
        let Some(id) = id else {
            bad(format!("has no `{id_key}`"));
            return;
        };
        row.insert(id_key.clone(), id.clone());
        let why = row.remove("explanation").and_then(|explanation| explanation.as_str().map(str::to_owned));
        let item = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        annotation.known.push(KnownItem { purpose, item, row, answers, why });
    }
}

/// People whom a platform sends with an id in the address.
fn read_login_settings(fields: &MappingReader<'_>, annotation: &mut AnnotationTask) {
    if let Some(login) = fields.fields("login", "login") {
        let kind = login.text("type");
        annotation.crowd = kind.as_deref().is_some_and(|kind| ["url_direct", "prolific"].contains(&kind));
        login.knows(&["url_argument"]);
        login.finish();
    }
}

fn item_properties(fields: MappingReader<'_>) -> (Option<String>, Option<String>) {
    let keys = (fields.text("id_key"), fields.text("text_key"));
    fields.knows(&["category_key", "image_key"]);
    fields.finish();
    keys
}

/// Data is needed when people start, not to know what they are asked; so a missing file is a warning.
fn data_file(
    cx: &Context<'_>,
    node: &SourceNode,
    id_key: Option<&str>,
    text_key: Option<&str>,
    all: &mut Vec<DataRow>,
) -> Option<String> {
    let mut node = node;
    if node.map().is_some() {
        let fields = MappingReader::new(cx, node, "data file")?;
        let path = fields.need("path");
        fields.knows(&["encoding", "type", "format", "id_key", "text_key", "filter_by_prior_annotation"]);
        fields.finish();
        node = path?;
    }
    let path = cx.path(node, "data_files")?;
    let folder = cx.path_of(node.span.file).parent().unwrap_or(Path::new("")).to_owned();
    if (cx.world.read)(&remove_dots(&folder.join(&path))) == Err(super::ReadError::Missing) {
        cx.report(
            Diagnostic::warning(Code::Unreadable, node.span, format!("there is no file `{path}` yet"))
                .note("it is needed when the annotation starts"),
        );
        return Some(path);
    }
    let file = cx.find(&path, node.span)?;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let rows: Vec<DataRow> = rows::rows_of(cx, file, node.span);
    if let (Some(key), Some(row)) =
        (text_key, rows.first().filter(|row| text_key.is_some_and(|key| !row.contains_key(key))))
    {
        let known = row.keys().map(String::as_str);
        let message = format!("the first row of `{path}` has no `{key}`");
        let mut diagnostic =
            Diagnostic::warning(Code::UnknownName, node.span, message).suggest(key, known, "its fields");
        diagnostic.replacement = None;
        cx.report(diagnostic);
    }
    for (at, row) in rows.iter().enumerate() {
        let Some(key) = id_key else { break };
        match row.get(key) {
            None => {
                cx.error(Code::BadRow, node.span, format!("row {} of `{path}` has no `{key}`", at + 1));
                break;
            }
            Some(id) => {
                if let Some(first) = seen.insert(id.to_string(), at) {
                    let message =
                        format!("rows {} and {} of `{path}` have the same `{key}`: {id}", first + 1, at + 1);
                    cx.error(Code::DuplicateId, node.span, message);
                    break;
                }
            }
        }
    }
    all.extend(rows);
    Some(path)
}
