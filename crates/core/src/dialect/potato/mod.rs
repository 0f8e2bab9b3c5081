//! The Potato dialect: annotation tasks for people, and lists of programmatic evaluators.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use super::context::{Context, tidy};
use super::fields::Fields;
use super::lower::{Spot, accept};
use super::method::{Ids, method};
use super::rows;
use super::rubric::{Named, UNREADABLE, preset};
use super::tree::{choices, leaf};
use crate::catalogue::{self, CHECKS, RECIPES};
use crate::diagnostic::{Code, Diagnostic};
use crate::rubric::{
    Answers, Ask, Criterion, Draft, GraderKind, Graph, Node as TreeNode, Rubric, Scale, Target, Value, WHOLE,
};
use crate::source::{Node, Shape, Span};
use crate::suite::{
    Annotation, ErrorKind, ItemOrder, Known, KnownFor, Notes, Overall, Row, Scheme, SchemeKind, Severity,
    Suite, Trajectory,
};

/// Keys that only a Potato file has at its top.
pub(super) const MARKS: [&str; 2] = ["annotation_schemes", "evaluators"];

/// Keys that Potato knows and that change nothing here: how its own server runs and looks.
const WITHOUT_EFFECT: &[&str] = &[
    "active_learning",
    "adjudication",
    "admin_api_key",
    "agreement_metrics",
    "ai_support",
    "alert_time_each_instance",
    "annotation_codebook_url",
    "authentication",
    "auto_export_interval",
    "automatic_assignment",
    "automation",
    "base_css",
    "base_html_template",
    "crowdsourcing",
    "custom_footer_html",
    "customjs",
    "customjs_hostname",
    "data_cache",
    "data_directory",
    "data_sources",
    "database",
    "datasets",
    "debug",
    "export_annotation_format",
    "header_file",
    "header_logo",
    "hide_navbar",
    "highlight_linebreaks",
    "horizontal_key_bindings",
    "host",
    "html_layout",
    "item_store",
    "judge_alignment",
    "judge_calibration",
    "jumping_to_id_disabled",
    "keyword_highlights_file",
    "layout",
    "list_as_text",
    "media_directory",
    "partial_loading",
    "persist_sessions",
    "phases",
    "port",
    "pre_annotation",
    "prestudy",
    "prolific",
    "quality_control",
    "random_seed",
    "require_fully_annotated",
    "require_no_password",
    "require_password",
    "secret_key",
    "server",
    "server_name",
    "session_lifetime_days",
    "site_dir",
    "site_file",
    "surveyflow",
    "task_dir",
    "task_layout",
    "ui",
    "ui_config",
    "ui_language",
    "user_config",
    "user_roles",
    "verbose",
    "very_verbose",
    "webhooks",
];

pub(super) fn suite(cx: &Context<'_>, node: &Node) -> Suite {
    let mut suite = Suite::default();
    if node.get("evaluators").is_some() && node.get("annotation_schemes").is_none() {
        let Some(fields) = Fields::new(cx, node, "evaluator file") else { return suite };
        if let Some(items) = fields.list("evaluators") {
            let rubric = evaluators(cx, items, fields.key_span("evaluators"));
            suite.rubrics.extend(rubric.map(|it| ("evaluators".to_owned(), it)));
        }
        fields.finish();
        return suite;
    }
    if node.get("criteria").is_some() {
        // The rows of a rubric without the task around them.
        let Some(fields) = Fields::new(cx, node, "list of criteria") else { return suite };
        if let Some(SchemeKind::Rubric { rubric, .. }) = rubric_eval(&fields) {
            suite.rubrics.insert("criteria".to_owned(), rubric);
        }
        fields.finish();
        return suite;
    }
    let Some(fields) = Fields::new(cx, node, "annotation task") else { return suite };
    suite.annotation = annotation(fields);
    suite.rubrics.extend(rubrics(suite.annotation.as_ref()));
    suite
}

/// The rubrics that people fill in, by the names of their schemes.
pub(super) fn rubrics(annotation: Option<&Annotation>) -> Vec<(String, Arc<Rubric>)> {
    let schemes = annotation.into_iter().flat_map(|it| &it.schemes);
    let rubric = |it: &Scheme| match &it.kind {
        SchemeKind::Rubric { rubric, .. } => Some((it.name.clone(), Arc::clone(rubric))),
        _ => None,
    };
    schemes.filter_map(rubric).collect()
}

/// An annotation task: a file of its own, or the `annotation` block of a native file.
pub(super) fn annotation(fields: Fields<'_>) -> Option<Annotation> {
    let cx = fields.cx;
    let mut schemes: Vec<Scheme> = Vec::new();
    let mut names: HashMap<&str, Span> = HashMap::new();
    if fields.list_is_empty("annotation_schemes") {
        cx.error(
            Code::Empty,
            fields.key_span("annotation_schemes"),
            "people are asked nothing: list a scheme",
        );
    }
    for item in
        fields.need("annotation_schemes").and_then(|it| cx.list(it, "annotation_schemes")).unwrap_or_default()
    {
        if let Some(name) = item.get("name")
            && let Some(first) = names.insert(name.text().unwrap_or_default(), name.span)
        {
            let message = format!("there are two schemes `{}`", name.text().unwrap_or_default());
            cx.report(Diagnostic::error(Code::DuplicateId, name.span, message).also(first, "the first one"));
        }
        schemes.extend(scheme(cx, item));
    }
    let item =
        fields.fields("item_properties", "set of item properties").map(item_properties).unwrap_or_default();
    let mut annotation = Annotation {
        name: fields.text("annotation_task_name"),
        description: fields
            .any(&["task_description", "annotation_task_description", "annotation_instructions"])
            .and_then(|it| cx.text(it, "task_description")),
        data_files: Vec::new(),
        id_key: item.0,
        text_key: item.1,
        display: match fields.any(&["display", "instance_display"]) {
            Some(node) => {
                cx.entries(node, "display");
                if let Json::Object(map) = cx.json(node) { map } else { serde_json::Map::new() }
            }
            None => serde_json::Map::new(),
        },
        schemes,
        rows: Vec::new(),
        allow_back_navigation: true,
        show_criteria_descriptions: true,
        shows_score: false,
        annotators_per_item: fields
            .any(&["num_annotators_per_item", "max_annotations_per_item", "min_annotators_per_instance"])
            // Potato writes -1 for any number.
            .filter(|it| it.text() != Some("-1"))
            .and_then(|it| cx.integer(it, "num_annotators_per_item", 1..=1_000_000))
            .and_then(|it| u32::try_from(it).ok()),
        quota: fields
            .any(&["max_annotations_per_user", "per_annotator_quota"])
            .filter(|it| it.text() != Some("-1"))
            .and_then(|it| cx.integer(it, "max_annotations_per_user", 1..=1_000_000))
            .and_then(|it| u32::try_from(it).ok()),
        order: order(&fields),
        known: Vec::new(),
        check_every: None,
        min_seconds: None,
        stale_minutes: fields.fields("instance_reclaim", "reclaim of abandoned items").and_then(reclaim),
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
    checks(&fields, &mut annotation);
    came_by_address(&fields, &mut annotation);
    fields.ignores(WITHOUT_EFFECT);
    fields.finish();
    Some(annotation)
}

/// Which item comes next. Strategies that need a model of the answers or of the texts are not there.
fn order(fields: &Fields<'_>) -> Option<ItemOrder> {
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

fn reclaim(fields: Fields<'_>) -> Option<u32> {
    let enabled = fields.bool("enabled").unwrap_or(true);
    let hours = fields.number_in("timeout_hours", 0.02..=2160.0);
    fields.knows(&["preserve_completed_annotations", "prolific", "quality_control"]);
    fields.finish();
    hours.filter(|_| enabled).map(|it| (it * 60.0).round() as u32)
}

/// Items with known answers: those that everybody is trained with, and those that are mixed in.
fn checks(fields: &Fields<'_>, annotation: &mut Annotation) {
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
        known(cx, file, KnownFor::Training, ("correct_answers", "training_instances"), annotation);
    }
    for (key, purpose, answers) in [
        ("attention_checks", KnownFor::Attention, "expected_answer"),
        ("gold_standards", KnownFor::Gold, "gold_label"),
    ] {
        let Some(inner) = fields.fields(key, "set of items with known answers") else { continue };
        let enabled = inner.bool("enabled").unwrap_or(true);
        let file = inner.get("items_file").filter(|_| enabled);
        let every = inner.integer("frequency", 1..=1_000_000).and_then(|it| u32::try_from(it).ok());
        annotation.check_every = annotation.check_every.into_iter().chain(every).min();
        if let Some(seconds) = inner.number_in("min_response_time", 0.0..=86_400.0) {
            annotation.min_seconds = Some(seconds);
        }
        inner.knows(&["mode", "accuracy", "feedback"]);
        inner.ignores(&["probability", "failure_handling", "auto_promote"]);
        inner.finish();
        known(cx, file, purpose, (answers, "items"), annotation);
    }
}

/// Rows with what is right about them.
fn known(
    cx: &Context<'_>,
    file: Option<&Node>,
    purpose: KnownFor,
    (answers, list): (&'static str, &str),
    annotation: &mut Annotation,
) {
    let Some(node) = file else { return };
    let Some(path) = cx.path(node, "items_file") else { return };
    let Some(found) = cx.find(&path, node.span) else { return };
    // A file may be a list of rows, or hold it under a name.
    let is_document = [".json", ".yaml", ".yml"].iter().any(|it| path.ends_with(it));
    let document = if is_document { cx.parse(found) } else { None };
    let rows: Vec<Row> = match document.as_ref().and_then(|it| it.get(list)).and_then(Node::list) {
        Some(items) => items.iter().filter_map(|it| it.to_json().as_object().cloned()).collect(),
        None => rows::rows_of(cx, found, node.span),
    };
    let id_key = annotation.id_key.clone().unwrap_or_else(|| "id".to_owned());
    for (at, mut row) in rows.into_iter().enumerate() {
        let bad = |why: String| {
            cx.error(Code::BadRow, node.span, format!("row {} of `{path}` {why}", at + 1));
        };
        let Some(Json::Object(answers)) = row.remove(answers) else {
            bad(format!("has no `{answers}`, which maps schemes to what is right"));
            return;
        };
        if let Some(name) = answers.keys().find(|name| !annotation.schemes.iter().any(|it| it.name == **name))
        {
            bad(format!("answers `{name}`, and there is no such scheme"));
            return;
        }
        let id = row.get(&id_key).or_else(|| row.get("id")).filter(|it| !it.is_null()).cloned();
        let Some(id) = id else {
            bad(format!("has no `{id_key}`"));
            return;
        };
        row.insert(id_key.clone(), id.clone());
        let why = row.remove("explanation").and_then(|it| it.as_str().map(str::to_owned));
        let item = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        annotation.known.push(Known { purpose, item, row, answers, why });
    }
}

/// People whom a platform sends with an id in the address.
fn came_by_address(fields: &Fields<'_>, annotation: &mut Annotation) {
    if let Some(login) = fields.fields("login", "login") {
        let kind = login.text("type");
        annotation.crowd = kind.as_deref().is_some_and(|it| ["url_direct", "prolific"].contains(&it));
        login.knows(&["url_argument"]);
        login.finish();
    }
}

fn item_properties(fields: Fields<'_>) -> (Option<String>, Option<String>) {
    let keys = (fields.text("id_key"), fields.text("text_key"));
    fields.knows(&["category_key", "image_key"]);
    fields.finish();
    keys
}

/// Data is needed when people start, not to know what they are asked; so a missing file is a warning.
fn data_file(
    cx: &Context<'_>,
    node: &Node,
    id_key: Option<&str>,
    text_key: Option<&str>,
    all: &mut Vec<Row>,
) -> Option<String> {
    let mut node = node;
    if node.map().is_some() {
        let fields = Fields::new(cx, node, "data file")?;
        let path = fields.need("path");
        fields.knows(&["encoding", "type", "format", "id_key", "text_key", "filter_by_prior_annotation"]);
        fields.finish();
        node = path?;
    }
    let path = cx.path(node, "data_files")?;
    let folder = cx.path_of(node.span.file).parent().unwrap_or(Path::new("")).to_owned();
    if (cx.world.read)(&tidy(&folder.join(&path))) == Err(super::ReadError::Missing) {
        cx.report(
            Diagnostic::warning(Code::Unreadable, node.span, format!("there is no file `{path}` yet"))
                .note("it is needed when the annotation starts"),
        );
        return Some(path);
    }
    let file = cx.find(&path, node.span)?;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let rows = rows::rows_of(cx, file, node.span);
    if let (Some(key), Some(row)) =
        (text_key, rows.first().filter(|it| text_key.is_some_and(|key| !it.contains_key(key))))
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

const TYPES: [&str; 8] =
    ["rubric_eval", "trajectory_eval", "pairwise", "likert", "radio", "select", "multiselect", "text"];

fn scheme(cx: &Context<'_>, node: &Node) -> Option<Scheme> {
    let fields = Fields::new(cx, node, "scheme")?;
    let kind =
        fields.need("annotation_type").and_then(|it| Some((cx.plain_text(it, "annotation_type")?, it.span)));
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    let description = fields.text("description");
    let required = match fields.get("label_requirement").map(|it| (it, it.map().is_some())) {
        Some((node, true)) => Fields::new(cx, node, "label requirement").and_then(|it| {
            let required = it.bool("required");
            it.knows(&["required_label"]);
            it.finish();
            required
        }),
        Some((_, false)) => fields.bool("label_requirement"),
        None => fields.bool("required"),
    };
    fields.knows(&[
        "layout",
        "humanize_labels",
        "display_logic",
        "keybinding_strategy",
        "annotation_id",
        "title",
        "required",
    ]);
    let (kind, span) = kind?;
    let kind = match kind.as_str() {
        "rubric_eval" => rubric_eval(&fields),
        "trajectory_eval" => trajectory_eval(&fields),
        "pairwise" => Some(pairwise(&fields)),
        "likert" => Some(likert(&fields)),
        "radio" | "select" | "multiselect" => choice(&fields, kind == "select", kind == "multiselect"),
        "text" => Some(text(&fields)),
        other => {
            cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    span,
                    format!("annotation type `{other}` is not supported"),
                )
                .suggest(other, TYPES, "supported"),
            );
            return None;
        }
    };
    fields.finish();
    let kind = kind?;
    // Rubrics and steps are complete or say nothing, unless the file wants it otherwise.
    let by_default = matches!(kind, SchemeKind::Rubric { .. } | SchemeKind::Trajectory(_));
    Some(Scheme { name: name?, description, required: required.unwrap_or(by_default), kind })
}

fn rubric_eval(fields: &Fields<'_>) -> Option<SchemeKind> {
    let cx = fields.cx;
    let rating = rating_scale(fields);
    let mut spot = Spot::new(fields.start()).key("criteria", fields.key_span("criteria"));
    let mut criteria = Vec::new();
    for item in fields.need("criteria").and_then(|it| cx.list(it, "criteria")).unwrap_or_default() {
        let Some((criterion, at)) = rated_criterion(cx, item, &rating) else { continue };
        criteria.push(criterion);
        spot.children.push(at);
    }
    fields.exclusive("overall", "show_overall", "two spellings of the overall row");
    let shown = fields.bool("show_overall").unwrap_or(false);
    let overall = fields.fields("overall", "overall row").map_or_else(
        || shown.then(|| Overall { label: None, description: None, levels: BTreeMap::new() }),
        |it| overall(it, &rating),
    );
    let notes = fields.fields("notes", "notes field").and_then(notes);
    let display = crate::rubric::Display::Likert { min: rating.min, max: rating.max };
    let draft = Draft { criteria, display, ..Draft::default() };
    let unread = draft.criteria.is_empty() && fields.list("criteria").is_none_or(|it| !it.is_empty());
    let rubric = if unread { None } else { accept(cx, draft, &spot) };
    Some(SchemeKind::Rubric { rubric: Arc::new(rubric?), overall, notes })
}

type Labels = BTreeMap<i64, String>;

/// The scale that all rows of a rubric share.
struct Rating {
    min: i64,
    max: i64,
    labels: Labels,
}

/// Both spellings: `scale: {min, max, labels}`, and `scale_points` with `scale_labels`.
fn rating_scale(fields: &Fields<'_>) -> Rating {
    let cx = fields.cx;
    fields.exclusive("scale", "scale_points", "two spellings of the scale");
    fields.exclusive("scale", "scale_labels", "two spellings of the scale");
    if let Some(scale) = fields.fields("scale", "rating scale") {
        let bound = |key, default| scale.integer(key, -1_000_000..=1_000_000).unwrap_or(default);
        let mut rating = Rating { min: bound("min", 1), max: bound("max", 5), labels: Labels::new() };
        let (min, max) = (rating.min, rating.max);
        if max <= min {
            let message = format!("the lowest point ({min}) must be under the highest ({max})");
            cx.error(Code::Scale, fields.key_span("scale"), message);
            (rating.min, rating.max) = (1, 5);
        } else if 100 < max - min {
            let message = format!("{min} to {max} has more than 101 points, too many to choose from");
            cx.error(Code::Scale, scale.span("max"), message);
            (rating.min, rating.max) = (1, 5);
        } else {
            rating.labels = rating.texts(&scale, "labels");
        }
        scale.knows(&["labels"]);
        scale.finish();
        return rating;
    }
    let max = fields.integer("scale_points", 2..=100).unwrap_or(5);
    let labels = fields.list("scale_labels").unwrap_or_default();
    if max < labels.len() as i64 {
        let message = format!("there are {} labels for {max} points", labels.len());
        cx.error(Code::Scale, fields.key_span("scale_labels"), message);
    }
    let label = |(point, it): (i64, &Node)| Some((point, cx.scalar_text(it, "scale_labels")?));
    Rating { min: 1, max, labels: (1..=max).zip(labels).filter_map(label).collect() }
}

impl Rating {
    /// Texts for points of the scale; what is off the scale is reported at its place.
    fn texts(&self, fields: &Fields<'_>, key: &'static str) -> Labels {
        let (cx, Self { min, max, .. }) = (fields.cx, self);
        let text = |it: &crate::source::Entry| {
            let point: Option<i64> = it.key.parse().ok();
            let point = point.filter(|it| (*min..=*max).contains(it));
            if point.is_none() {
                let message = format!("`{}` is not a point of the scale ({min} to {max})", it.key);
                cx.error(Code::Scale, it.key_span, message);
            }
            Some((point?, cx.scalar_text(&it.value, key)?))
        };
        fields.map(key).unwrap_or_default().iter().filter_map(text).collect()
    }
}

fn rated_criterion(cx: &Context<'_>, node: &Node, rating: &Rating) -> Option<(Criterion, Spot)> {
    let fields = Fields::new(cx, node, "rated criterion")?;
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    let label = fields.text("label");
    // The tutorial's shorter example has no descriptions; the name is what people see then.
    let description = fields.text("description").or_else(|| label.clone()).or_else(|| name.clone());
    let scale = Scale::Likert { min: rating.min, max: rating.max, labels: rating.labels.clone() };
    let name = name.unwrap_or_else(|| UNREADABLE.to_owned());
    let mut criterion =
        Criterion::new(name, description.unwrap_or_else(|| UNREADABLE.to_owned()), Ask::Question(scale));
    criterion.label = label;
    criterion.by = vec![GraderKind::Human];
    criterion.weight = fields.number_in("weight", 0.0..=f64::MAX).unwrap_or(1.0);
    let levels = rating.texts(&fields, "scale_descriptions").into_iter();
    criterion.levels = levels.map(|(at, text)| (Value::Number(at as f64), text)).collect();
    let spot = ["name", "weight", "description"]
        .iter()
        .fold(Spot::new(fields.start()), |spot, key| spot.key(key, fields.span(key)));
    fields.finish();
    Some((criterion, spot))
}

fn overall(fields: Fields<'_>, rating: &Rating) -> Option<Overall> {
    let enabled = fields.bool("enabled").unwrap_or(true);
    let overall = Overall {
        label: fields.text("label"),
        description: fields.text("description"),
        levels: rating.texts(&fields, "scale_descriptions"),
    };
    fields.finish();
    enabled.then_some(overall)
}

fn notes(fields: Fields<'_>) -> Option<Notes> {
    let enabled = fields.bool("enabled").unwrap_or(true);
    let notes = Notes { label: fields.text("label"), placeholder: fields.text("placeholder") };
    fields.finish();
    enabled.then_some(notes)
}

fn trajectory_eval(fields: &Fields<'_>) -> Option<SchemeKind> {
    let cx = fields.cx;
    let before = cx.n_errors();
    fields.exclusive("step_correctness", "correctness_options", "two spellings of the marks");
    fields.exclusive("running_score", "max_score", "two spellings of the starting score");
    let (marks, marks_span) = match fields.fields("step_correctness", "set of marks") {
        Some(marks) => {
            let labels = (marks.texts("labels"), marks.key_span("labels"));
            marks.finish();
            labels
        }
        None => (fields.texts("correctness_options"), fields.key_span("correctness_options")),
    };
    let marks = if marks.is_empty() {
        ["correct", "incorrect", "partially_correct"].map(str::to_owned).to_vec()
    } else {
        marks
    };
    if marks.len() < 2 {
        cx.error(Code::Scale, marks_span, "a step needs at least two marks; the first one means correct");
    }
    if let Some(mark) = repeated(&marks) {
        cx.error(Code::DuplicateId, marks_span, format!("the mark `{mark}` is there twice"));
    }
    let errors = fields.any(&["error_taxonomy", "error_types"]);
    let errors = errors.and_then(|it| cx.list(it, "error_taxonomy")).unwrap_or_default();
    let severities = fields.any(&["severity_levels", "severities"]);
    let severities = severities.and_then(|it| cx.list(it, "severity_levels")).unwrap_or_default();
    let mut read: Vec<Severity> = Vec::new();
    for node in severities {
        let Some(severity) = severity(cx, node) else { continue };
        if read.iter().any(|it| it.name == severity.name) {
            let span = node.get("name").map_or(node.span, |it| it.span);
            cx.error(Code::DuplicateId, span, format!("there are two severities `{}`", severity.name));
        }
        read.push(severity);
    }
    let severities = read;
    let default = [("minor", -1.0), ("major", -5.0), ("critical", -10.0)];
    let default = default.map(|(name, weight)| Severity { name: name.to_owned(), weight }).to_vec();
    let initial = match fields.fields("running_score", "running score") {
        Some(score) => {
            let initial = score.number_in("initial", 0.0..=1e9);
            score.finish();
            initial
        }
        None => fields.number_in("max_score", 0.0..=1e9),
    };
    fields.knows(&["show_score"]);
    let trajectory = Trajectory {
        steps_key: fields.text("steps_key").unwrap_or_else(|| "steps".to_owned()),
        step_text_key: fields.text("step_text_key").unwrap_or_else(|| "action".to_owned()),
        marks,
        errors: errors.iter().filter_map(|it| error_kind(cx, it)).collect(),
        severities: if severities.is_empty() { default } else { severities },
        initial: initial.unwrap_or(100.0),
    };
    (cx.n_errors() == before).then_some(SchemeKind::Trajectory(trajectory))
}

/// `{category, types: [{name}]}`, `{name, subtypes: [..]}`, or a name alone.
fn error_kind(cx: &Context<'_>, node: &Node) -> Option<ErrorKind> {
    if node.map().is_none() {
        return cx.scalar_text(node, "error_types").map(|category| ErrorKind { category, types: Vec::new() });
    }
    let fields = Fields::new(cx, node, "kind of error")?;
    let category = fields.any(&["category", "name", "label"]).and_then(|it| cx.scalar_text(it, "category"));
    if category.is_none() {
        fields.missing("category");
    }
    let types = fields.any(&["types", "subtypes"]).and_then(|it| cx.list(it, "types")).unwrap_or_default();
    let types = types.iter().filter_map(|it| match it.map() {
        None => cx.scalar_text(it, "types"),
        Some(_) => {
            let inner = Fields::new(cx, it, "type of error")?;
            let name = inner.name("name");
            if name.is_none() {
                inner.missing("name");
            }
            inner.finish();
            name
        }
    });
    let types = types.collect();
    fields.finish();
    Some(ErrorKind { category: category?, types })
}

fn severity(cx: &Context<'_>, node: &Node) -> Option<Severity> {
    let fields = Fields::new(cx, node, "severity")?;
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    let weight = fields.need("weight").and_then(|it| cx.number_in(it, "weight", -1e9..=1e9));
    fields.finish();
    Some(Severity { name: name?, weight: weight? })
}

fn pairwise(fields: &Fields<'_>) -> SchemeKind {
    fields.word("mode", &[("binary", ())]);
    let labels = fields.texts("labels");
    if fields.has("labels") && labels.len() != 2 {
        fields.cx.error(Code::BadValue, fields.key_span("labels"), "a pair has two labels");
    }
    let tie = fields.bool("allow_tie").unwrap_or(false);
    let tie_label = fields.text("tie_label").or_else(|| Some("No preference".to_owned()));
    fields.knows(&["show_labels", "sequential_key_binding", "randomize_order", "justification"]);
    SchemeKind::Pairwise {
        items_key: fields.text("items_key").unwrap_or_else(|| "text".to_owned()),
        labels: if labels.len() == 2 { labels } else { vec!["A".to_owned(), "B".to_owned()] },
        tie_label: tie_label.filter(|_| tie),
    }
}

fn likert(fields: &Fields<'_>) -> SchemeKind {
    let size = fields.need("size").and_then(|it| fields.cx.integer(it, "size", 2..=100)).unwrap_or(5);
    fields.knows(&["displaying_score", "bad_text_label", "sequential_key_binding"]);
    SchemeKind::Likert {
        size: u32::try_from(size).unwrap_or(5),
        min_label: fields.text("min_label"),
        max_label: fields.text("max_label"),
    }
}

/// A text that stands in a list for the second time.
fn repeated(texts: &[String]) -> Option<&String> {
    texts.iter().enumerate().find(|(at, it)| texts[..*at].contains(it)).map(|it| it.1)
}

/// A label alone, or with how it is drawn.
fn label(cx: &Context<'_>, node: &Node) -> Option<String> {
    if node.map().is_none() {
        return cx.scalar_text(node, "labels");
    }
    let fields = Fields::new(cx, node, "label")?;
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    fields.knows(&[
        "text",
        "displayed_label",
        "label",
        "tooltip",
        "tooltip_file",
        "key_value",
        "key_binding",
        "color",
        "abbreviation",
        "description",
    ]);
    fields.finish();
    name
}

fn choice(fields: &Fields<'_>, dropdown: bool, many: bool) -> Option<SchemeKind> {
    let cx = fields.cx;
    let items = fields.need("labels").and_then(|it| cx.list(it, "labels"))?;
    let mut labels: Vec<String> = Vec::new();
    for item in items {
        let Some(label) = label(cx, item) else { continue };
        if labels.contains(&label) {
            let span = item.get("name").map_or(item.span, |it| it.span);
            cx.error(Code::DuplicateId, span, format!("the label `{label}` is there twice"));
        }
        labels.push(label);
    }
    if items.len() < 2 {
        cx.error(
            Code::Scale,
            fields.key_span("labels"),
            "there is nothing to choose: give at least two labels",
        );
        return None;
    }
    fields.knows(&[
        "horizontal",
        "sequential_key_binding",
        "has_free_response",
        "randomize_order",
        "option_randomization",
    ]);
    fields.knows(&["min_selections", "max_selections"]);
    Some(SchemeKind::Choice { labels, dropdown, many })
}

fn text(fields: &Fields<'_>) -> SchemeKind {
    fields.knows(&[
        "rows",
        "cols",
        "textarea",
        "min_chars",
        "show_char_count",
        "labels",
        "collapsible",
        "allow_paste",
    ]);
    let multiline = fields.bool("multiline").unwrap_or(true);
    SchemeKind::Text { multiline, placeholder: fields.text("placeholder") }
}

/// A list of evaluators is a rubric whose criteria are those evaluators.
fn evaluators(cx: &Context<'_>, items: &[Node], span: Span) -> Option<Arc<Rubric>> {
    let (mut ids, mut spot, mut criteria) = (Ids::default(), Spot::new(span), Vec::new());
    for item in items {
        if let Some((criterion, at)) = evaluator(cx, item, &mut ids) {
            criteria.push(criterion);
            spot.children.push(at);
        }
    }
    (!criteria.is_empty() || items.is_empty()).then_some(())?;
    accept(cx, Draft { criteria, ..Draft::default() }, &spot).map(Arc::new)
}

fn evaluator(cx: &Context<'_>, node: &Node, ids: &mut Ids) -> Option<(Criterion, Spot)> {
    let fields = Fields::new(cx, node, "evaluator")?;
    let name_node = fields.need("name")?;
    let name = cx.plain_text(name_node, "name")?;
    let key = fields.name("key");
    let empty = Node { span: name_node.span, shape: Shape::Map(Vec::new()) };
    let params = Fields::new(cx, fields.get("params").unwrap_or(&empty), "set of parameters")?;
    params.knows(&["config", "key"]);
    let key = key.or_else(|| params.name("key"));
    let mut spot = Spot::new(fields.start());
    let ask = if name == "rubric_dag" {
        dag(&params, &mut spot)
    } else if let Some(entry) = catalogue::find(CHECKS, &name).filter(|it| is_evaluator(it.name)) {
        let mut method = method(&params, entry);
        // Potato looks for text whatever its case, unless told otherwise.
        if name == "contains" {
            method.params.entry("case_sensitive").or_insert(Json::Bool(false));
        }
        Some(Ask::Check(method))
    } else if let Some(entry) = catalogue::find(RECIPES, &name).filter(|it| is_evaluator(it.name)) {
        Some(Ask::Recipe(method(&params, entry)))
    } else {
        let known = CHECKS.iter().chain(RECIPES).map(|it| it.name).filter(|it| is_evaluator(it));
        cx.report(
            Diagnostic::error(Code::Unsupported, name_node.span, format!("there is no evaluator `{name}`"))
                .suggest(&name, known.chain(["rubric_dag"]), "evaluators"),
        );
        return None;
    };
    params.finish();
    fields.finish();
    let id = ids.fresh(key.as_deref().unwrap_or(&name));
    Some((Criterion::new(id, "", ask?), spot))
}

/// The names of Potato's own library.
fn is_evaluator(name: &str) -> bool {
    name == "contains"
        || !name.contains(['-', ':'])
            && !matches!(
                name,
                "equals"
                    | "icontains"
                    | "regex"
                    | "levenshtein"
                    | "similar"
                    | "latency"
                    | "cost"
                    | "script"
                    | "javascript"
                    | "python"
                    | "webhook"
                    | "factuality"
            )
}

fn dag(params: &Fields<'_>, spot: &mut Spot) -> Option<Ask> {
    let cx = params.cx;
    params.exclusive("dag", "preset", "a graph of your own, or a ready-made one");
    if let Some(node) = params.get("preset") {
        let name = cx.plain_text(node, "preset")?;
        let rubric = preset(cx, &name, node.span, &Named::default())?;
        return match rubric.criteria.as_slice() {
            [only] if only.id == WHOLE => Some(only.ask.clone()),
            _ => {
                cx.error(Code::Conflict, node.span, format!("the preset `{name}` is not a graph"));
                None
            }
        };
    }
    let fields = Fields::new(cx, params.need("dag")?, "dag")?;
    let before = cx.n_errors();
    fields.knows(&["key"]);
    if fields.raw("root").is_none() {
        fields.missing("root");
    }
    let root = fields.name("root");
    spot.nodes.root = Some(fields.span("root"));
    let entries = fields.need("nodes").and_then(|it| cx.entries(it, "nodes")).unwrap_or_default();
    let mut nodes = Vec::new();
    for entry in entries {
        spot.nodes.by_id.insert(entry.key.clone(), entry.key_span);
        nodes.extend(dag_node(cx, &entry.value, &entry.key, spot));
    }
    fields.finish();
    (cx.n_errors() == before).then_some(Ask::Tree(Graph { root: root?, nodes }))
}

fn dag_node(cx: &Context<'_>, node: &Node, id: &str, spot: &mut Spot) -> Option<TreeNode> {
    let fields = Fields::new(cx, node, "dag node")?;
    let ask = fields.need("question").and_then(|it| cx.text(it, "question"));
    let answers = choices(&fields, |_, node| match node.scalar() {
        Some(it) => {
            spot.nodes.targets.insert((id.to_owned(), it.text.clone()), node.span);
            Some(Target::Node(it.text.clone()))
        }
        None => leaf(cx, node).map(Target::Leaf),
    });
    fields.finish();
    Some(TreeNode { id: id.to_owned(), ask: ask?, answers: answers.unwrap_or(Answers::Choices(Vec::new())) })
}
