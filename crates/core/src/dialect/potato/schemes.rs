//! What annotators are asked: one kind of question per `annotation_type`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::derived::{
    one_row, read_call_review, read_confidence_scheme, read_edit_scheme, read_ends, read_opposites_scheme,
    read_pair_schemes, read_range_scheme, read_shares_scheme, read_step_choice, read_taxonomy_scheme,
};
use super::slider::read_slider_scheme;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::lower::{Spot, accept};
use crate::dialect::rubric::UNREADABLE;
use crate::rubric::{Criterion, CriterionKind, Draft, GraderKind, Scale, Value};
use crate::source::SourceNode;
use crate::suite::{
    AnswerLimits, Notes, Overall, StepErrorCategory, StepErrorSeverity, TaskScheme, TaskSchemeKind,
    Trajectory,
};

const TYPES: [&str; 18] = [
    "rubric_eval",
    "trajectory_eval",
    "pairwise",
    "likert",
    "radio",
    "select",
    "multiselect",
    "text",
    "multirate",
    "slider",
    "number",
    "vas",
    "range_slider",
    "semantic_differential",
    "constant_sum",
    "soft_label",
    "confidence",
    "hierarchical_multiselect",
];

/// Types of Potato that are not supported, each with the one that comes nearest.
const NEAREST: &[(&str, &str)] = &[
    ("span", "`radio` for the text as a whole, or `text` for a quote"),
    ("span_link", "`text` for a remark on what belongs together"),
    ("error_span", "`trajectory_eval` for errors by step"),
    ("ranking", "`pairwise` for two items at a time"),
    ("bws", "`pairwise` for two items at a time"),
    ("best_worst_scaling", "`pairwise` for two items at a time"),
    ("process_reward", "`trajectory_eval`, which marks every step"),
    ("code_review", "`rubric_eval` with the criteria of the review"),
    ("failure_attribution", "`trajectory_eval`, which marks every step"),
    ("trajectory_edit", "`trajectory_eval`, which marks every step"),
    ("gui_trajectory", "`trajectory_eval`, which marks every step"),
    ("agent_scorecard", "`rubric_eval` with the criteria of the card"),
    ("table_grid", "`multirate` with a row for each line"),
    ("triage", "`radio` with the piles as labels"),
    ("consensus_tracking", "`radio`; agreement is measured by `jurist agree`"),
    ("pure_display", "`task_description` for what people should read"),
];

/// Largest limit on the characters of a text.
const MOST_CHARACTERS: i64 = 1_000_000;

/// One of the questions of a scheme.
pub(super) struct SchemePart {
    /// The end of the name, if the scheme has several questions.
    pub(super) suffix: Option<String>,
    pub(super) description: Option<String>,
    pub(super) required: Option<bool>,
    pub(super) kind: TaskSchemeKind,
}

impl SchemePart {
    pub(super) fn new(kind: TaskSchemeKind) -> Self {
        Self { suffix: None, description: None, required: None, kind }
    }
}

/// The questions of a scheme: mostly one.
pub(super) fn read_annotation_schemes(cx: &Context<'_>, node: &SourceNode) -> Vec<TaskScheme> {
    read_scheme_parts(cx, node).unwrap_or_default()
}

fn read_scheme_parts(cx: &Context<'_>, node: &SourceNode) -> Option<Vec<TaskScheme>> {
    let fields = MappingReader::new(cx, node, "scheme")?;
    let kind = fields
        .need("annotation_type")
        .and_then(|node| Some((cx.plain_text(node, "annotation_type")?, node.span)));
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    let description = join_help(fields.text("description"), read_help(&fields));
    let required = match fields.get("label_requirement").map(|node| (node, node.map().is_some())) {
        Some((node, true)) => MappingReader::new(cx, node, "label requirement").and_then(|mapping_reader| {
            let required = mapping_reader.bool("required");
            mapping_reader.knows(&["required_label"]);
            mapping_reader.finish();
            required
        }),
        Some((_, false)) => fields.bool("label_requirement"),
        None => fields.bool("required"),
    };
    fields.knows(&["layout", "humanize_labels", "keybinding_strategy", "annotation_id", "title", "required"]);
    // Conditions are read when all questions are known, and words to mark with those of the task.
    fields.knows(&["display_logic", "show_when", "keyword_highlights"]);
    fields.ignores(&["ai_support"]);
    // A question about every turn is another one than a question about the whole.
    fields.refuses(&["turn_level", "turn_binding", "session_level", "target_field", "dynamic_labels"]);
    let (kind, span) = kind?;
    let name_text = name.as_deref();
    let one = |kind: Option<TaskSchemeKind>| kind.map(SchemePart::new).into_iter().collect::<Vec<_>>();
    let mut parts = match kind.as_str() {
        "rubric_eval" => one(rubric_eval(&fields)),
        "trajectory_eval" => one(trajectory_eval(&fields)),
        "pairwise" => read_pair_schemes(&fields, name_text),
        "likert" => one(Some(read_likert_scheme(&fields))),
        "multirate" => one(read_multirate_scheme(&fields)),
        "slider" => one(read_slider_scheme(&fields)),
        "range_slider" => one(read_range_scheme(&fields)),
        "semantic_differential" => one(read_opposites_scheme(&fields)),
        "constant_sum" | "soft_label" => one(read_shares_scheme(&fields)),
        "confidence" => one(read_confidence_scheme(&fields, name_text)),
        "hierarchical_multiselect" => one(read_taxonomy_scheme(&fields)),
        "radio" | "select" | "multiselect" => one(choice(&fields, kind == "select", kind == "multiselect")),
        "text" => read_text_schemes(&fields, description.as_deref()),
        "text_edit" | "extractive_qa" => one(Some(read_edit_scheme(&fields))),
        "tool_call_review" => one(Some(read_call_review(&fields))),
        "number" | "vas" => one(read_line_scheme(&fields, name_text)),
        other => {
            let message = format!("annotation type `{other}` is not supported");
            let diagnostic = Diagnostic::error(Code::Unsupported, span, message);
            cx.report(match NEAREST.iter().find(|(name, _)| *name == other) {
                Some((_, nearest)) => diagnostic.help(format!("the nearest is {nearest}")),
                None => diagnostic.suggest(other, TYPES, "supported"),
            });
            return None;
        }
    };
    if ["radio", "select", "multiselect"].contains(&kind.as_str()) && !parts.is_empty() {
        parts.extend(read_free_response(&fields));
    }
    fields.finish();
    let name = name?;
    let schemes = parts.into_iter().map(|part| {
        // Rubrics and steps are complete or say nothing, unless the file wants it otherwise.
        let by_default = matches!(part.kind, TaskSchemeKind::Rubric { .. } | TaskSchemeKind::Trajectory(_));
        TaskScheme {
            name: part.suffix.map_or_else(|| name.clone(), |suffix| format!("{name}-{suffix}")),
            description: part.description.or_else(|| description.clone()),
            required: part.required.or(required).unwrap_or(by_default),
            shown_when: None,
            kind: part.kind,
        }
    });
    Some(schemes.collect())
}

/// The help next to a question: its tooltip, and the texts and tooltips of its labels, as lines.
fn read_help(fields: &MappingReader<'_>) -> Vec<String> {
    let cx = fields.cx;
    let mut help = Vec::from_iter(fields.text("tooltip"));
    for key in ["labels", "options"] {
        let items = fields.peek(key).and_then(SourceNode::list).unwrap_or_default();
        help.extend(items.iter().filter_map(|item| {
            let texts = ["displayed_label", "tooltip"].into_iter().filter_map(|key| item.get(key));
            let texts: Vec<String> = texts.filter_map(|node| cx.text(node, "tooltip")).collect();
            let name = item.get("name").filter(|_| !texts.is_empty())?.text()?;
            Some(format!("{name}: {}", texts.join(". ")))
        }));
    }
    help.retain(|text| !text.trim().is_empty());
    help
}

fn join_help(description: Option<String>, help: Vec<String>) -> Option<String> {
    let lines: Vec<String> = description.into_iter().chain(help).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A choice that leaves room for an answer of one's own: a text next to it.
fn read_free_response(fields: &MappingReader<'_>) -> Option<SchemePart> {
    const QUESTION: &str = "Another answer, in your own words";
    let node = fields.get("has_free_response")?;
    let instruction = match node.map() {
        Some(_) => {
            let inner = MappingReader::new(fields.cx, node, "free response")?;
            let instruction = inner.text("instruction").filter(|text| !text.trim().is_empty());
            inner.finish();
            instruction
        }
        None if fields.bool("has_free_response") == Some(true) => None,
        None => return None,
    };
    Some(SchemePart {
        suffix: Some("other".to_owned()),
        description: Some(instruction.unwrap_or_else(|| QUESTION.to_owned())),
        required: Some(false),
        kind: TaskSchemeKind::Text { multiline: false, placeholder: None, limits: AnswerLimits::default() },
    })
}

pub(super) fn rubric_eval(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
    let cx = fields.cx;
    let rating = rating_scale(fields);
    let mut spot = Spot::new(fields.start()).key("criteria", fields.key_span("criteria"));
    let mut criteria = Vec::new();
    for item in fields.need("criteria").and_then(|node| cx.list(node, "criteria")).unwrap_or_default() {
        let Some((criterion, at)) = rated_criterion(cx, item, &rating) else { continue };
        criteria.push(criterion);
        spot.children.push(at);
    }
    fields.exclusive("overall", "show_overall", "two spellings of the overall row");
    let shown = fields.bool("show_overall").unwrap_or(false);
    let overall = fields.fields("overall", "overall row").map_or_else(
        || shown.then(|| Overall { label: None, description: None, levels: BTreeMap::new() }),
        |mapping_reader| overall(mapping_reader, &rating),
    );
    let notes = fields.fields("notes", "notes field").and_then(read_notes_field);
    let may_skip = fields.bool("allow_not_applicable").unwrap_or(true);
    let display = crate::rubric::Display::Likert { min: rating.min, max: rating.max };
    let draft = Draft { criteria, display, ..Draft::default() };
    let unread = draft.criteria.is_empty() && fields.list("criteria").is_none_or(|nodes| !nodes.is_empty());
    let rubric = if unread { None } else { accept(cx, draft, &spot) };
    Some(TaskSchemeKind::Rubric { rubric: Arc::new(rubric?), overall, notes, may_skip })
}

pub(super) type PointLabels = BTreeMap<i64, String>;

/// The scale that all rows of a rubric share.
pub(super) struct RatingScale {
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) labels: PointLabels,
}

/// Both spellings: `scale: {min, max, labels}`, and `scale_points` with `scale_labels`.
fn rating_scale(fields: &MappingReader<'_>) -> RatingScale {
    let cx = fields.cx;
    fields.exclusive("scale", "scale_points", "two spellings of the scale");
    fields.exclusive("scale", "scale_labels", "two spellings of the scale");
    if let Some(scale) = fields.fields("scale", "rating scale") {
        let bound = |key, default| scale.integer(key, -1_000_000..=1_000_000).unwrap_or(default);
        let mut rating =
            RatingScale { min: bound("min", 1), max: bound("max", 5), labels: PointLabels::new() };
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
    let label = |(point, node): (i64, &SourceNode)| Some((point, cx.scalar_text(node, "scale_labels")?));
    RatingScale { min: 1, max, labels: (1..=max).zip(labels).filter_map(label).collect() }
}

impl RatingScale {
    /// Texts for points of the scale; what is off the scale is reported at its place.
    fn texts(&self, fields: &MappingReader<'_>, key: &'static str) -> PointLabels {
        let (cx, Self { min, max, .. }) = (fields.cx, self);
        let text = |entry: &crate::source::NodeEntry| {
            let point: Option<i64> = entry.key.parse().ok();
            let point = point.filter(|point| (*min..=*max).contains(point));
            if point.is_none() {
                let message = format!("`{}` is not a point of the scale ({min} to {max})", entry.key);
                cx.error(Code::Scale, entry.key_span, message);
            }
            Some((point?, cx.scalar_text(&entry.value, key)?))
        };
        fields.map(key).unwrap_or_default().iter().filter_map(text).collect()
    }
}

fn rated_criterion(cx: &Context<'_>, node: &SourceNode, rating: &RatingScale) -> Option<(Criterion, Spot)> {
    let fields = MappingReader::new(cx, node, "rated criterion")?;
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    let label = fields.text("label");
    // The tutorial's shorter example has no descriptions; the name is what people see then.
    let description = fields.text("description").or_else(|| label.clone()).or_else(|| name.clone());
    let scale = Scale::Likert { min: rating.min, max: rating.max, labels: rating.labels.clone() };
    let name = name.unwrap_or_else(|| UNREADABLE.to_owned());
    let mut criterion = Criterion::new(
        name,
        description.unwrap_or_else(|| UNREADABLE.to_owned()),
        CriterionKind::Question(scale),
    );
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

fn overall(fields: MappingReader<'_>, rating: &RatingScale) -> Option<Overall> {
    let enabled = fields.bool("enabled").unwrap_or(true);
    let overall = Overall {
        label: fields.text("label"),
        description: fields.text("description"),
        levels: rating.texts(&fields, "scale_descriptions"),
    };
    fields.finish();
    enabled.then_some(overall)
}

fn read_notes_field(fields: MappingReader<'_>) -> Option<Notes> {
    let enabled = fields.bool("enabled").unwrap_or(true);
    let notes = Notes { label: fields.text("label"), placeholder: fields.text("placeholder") };
    fields.finish();
    enabled.then_some(notes)
}

fn trajectory_eval(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
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
    if let Some(mark) = find_repeated_text(&marks) {
        cx.error(Code::DuplicateId, marks_span, format!("the mark `{mark}` appears twice"));
    }
    let errors = fields.any(&["error_taxonomy", "error_types"]);
    let errors = errors.and_then(|node| cx.list(node, "error_taxonomy")).unwrap_or_default();
    let severities = fields.any(&["severity_levels", "severities"]);
    let severities = severities.and_then(|node| cx.list(node, "severity_levels")).unwrap_or_default();
    let mut read: Vec<StepErrorSeverity> = Vec::new();
    for node in severities {
        let Some(severity) = read_severity_level(cx, node) else { continue };
        if read.iter().any(|step_error_severity| step_error_severity.name == severity.name) {
            let span = node.get("name").map_or(node.span, |node| node.span);
            cx.error(Code::DuplicateId, span, format!("there are two severities `{}`", severity.name));
        }
        read.push(severity);
    }
    let severities = read;
    let default = [("minor", -1.0), ("major", -5.0), ("critical", -10.0)];
    let default = default.map(|(name, weight)| StepErrorSeverity { name: name.to_owned(), weight }).to_vec();
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
        errors: errors.iter().filter_map(|node| error_kind(cx, node)).collect(),
        severities: if severities.is_empty() { default } else { severities },
        initial: initial.unwrap_or(100.0),
    };
    (cx.n_errors() == before).then_some(TaskSchemeKind::Trajectory(trajectory))
}

/// `{category, types: [{name}]}`, `{name, subtypes: [..]}`, or a name alone.
fn error_kind(cx: &Context<'_>, node: &SourceNode) -> Option<StepErrorCategory> {
    if node.map().is_none() {
        return cx
            .scalar_text(node, "error_types")
            .map(|category| StepErrorCategory { category, types: Vec::new() });
    }
    let fields = MappingReader::new(cx, node, "kind of error")?;
    let category =
        fields.any(&["category", "name", "label"]).and_then(|node| cx.scalar_text(node, "category"));
    if category.is_none() {
        fields.missing("category");
    }
    let types =
        fields.any(&["types", "subtypes"]).and_then(|node| cx.list(node, "types")).unwrap_or_default();
    let types = types.iter().filter_map(|node| match node.map() {
        None => cx.scalar_text(node, "types"),
        Some(_) => {
            let inner = MappingReader::new(cx, node, "type of error")?;
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
    Some(StepErrorCategory { category: category?, types })
}

fn read_severity_level(cx: &Context<'_>, node: &SourceNode) -> Option<StepErrorSeverity> {
    let fields = MappingReader::new(cx, node, "severity")?;
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    let weight = fields.need("weight").and_then(|node| cx.number_in(node, "weight", -1e9..=1e9));
    fields.finish();
    Some(StepErrorSeverity { name: name?, weight: weight? })
}

fn read_likert_scheme(fields: &MappingReader<'_>) -> TaskSchemeKind {
    let size = fields.need("size").and_then(|node| fields.cx.integer(node, "size", 2..=100)).unwrap_or(5);
    fields.knows(&["displaying_score", "bad_text_label", "sequential_key_binding"]);
    if fields.peek("bad_text_label").is_some_and(|node| node.get("label_content").is_some()) {
        fields.ignores(&["bad_text_label"]);
    }
    TaskSchemeKind::Likert {
        size: u32::try_from(size).unwrap_or(5),
        min_label: fields.text("min_label"),
        max_label: fields.text("max_label"),
    }
}

/// A grid: rows that are rated on one scale. It is a rubric whose criteria are the rows.
fn read_multirate_scheme(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
    let cx = fields.cx;
    let labels = fields.texts("labels");
    if labels.len() < 2 {
        fields.missing("labels");
        return None;
    }
    let labels: PointLabels = (1..).zip(labels).collect();
    let rating = RatingScale { min: 1, max: labels.len() as i64, labels };
    let rows = fields.need("options").and_then(|node| cx.list(node, "options")).unwrap_or_default();
    let mut spot = Spot::new(fields.start()).key("criteria", fields.key_span("options"));
    let mut criteria = Vec::new();
    for row in rows {
        let Some(name) = read_label_name(cx, row) else { continue };
        criteria.push(rated_question(&name, &name, &rating));
        spot.children.push(Spot::new(row.span));
    }
    fields.knows(&[
        "arrangement",
        "display_config",
        "randomize_options",
        "option_randomization",
        "sequential_key_binding",
    ]);
    ignore_shuffles(fields, &["randomize_options", "option_randomization"]);
    grid_of(cx, criteria, &rating, &spot)
}

/// Warns of orders that Potato shuffles for each annotator: here they are those of the file.
pub(super) fn ignore_shuffles(fields: &MappingReader<'_>, keys: &[&'static str]) {
    for key in keys.iter().copied().filter(|key| fields.has(key)) {
        if fields.bool(key) == Some(true) {
            fields.ignores(&[key]);
        }
    }
}

/// Whole numbers between two ends.
fn read_line_scheme(fields: &MappingReader<'_>, name: Option<&str>) -> Option<TaskSchemeKind> {
    let rating = read_ends(fields, (0, 100))?;
    fields.knows(&["starting_value", "default_value", "step", "show_labels", "show_value", "placeholder"]);
    fields.ignores(&["labels"]);
    one_row(fields, name, &rating)
}

pub(super) fn rated_question(name: &str, description: &str, rating: &RatingScale) -> Criterion {
    let scale = Scale::Likert { min: rating.min, max: rating.max, labels: rating.labels.clone() };
    let mut criterion = Criterion::new(name, description, CriterionKind::Question(scale));
    criterion.by = vec![GraderKind::Human];
    criterion
}

pub(super) fn grid_of(
    cx: &Context<'_>,
    criteria: Vec<Criterion>,
    rating: &RatingScale,
    spot: &Spot,
) -> Option<TaskSchemeKind> {
    let display = crate::rubric::Display::Likert { min: rating.min, max: rating.max };
    let rubric = accept(cx, Draft { criteria, display, ..Draft::default() }, spot)?;
    Some(TaskSchemeKind::Rubric { rubric: Arc::new(rubric), overall: None, notes: None, may_skip: true })
}

/// A text that is in a list for the second time.
fn find_repeated_text(texts: &[String]) -> Option<&String> {
    texts.iter().enumerate().find(|(at, text)| texts[..*at].contains(text)).map(|at| at.1)
}

/// A label alone, or with how it is drawn.
pub(super) fn read_label_name(cx: &Context<'_>, node: &SourceNode) -> Option<String> {
    if node.map().is_none() {
        return cx.scalar_text(node, "labels");
    }
    let fields = MappingReader::new(cx, node, "label")?;
    let name = fields.name("name");
    if name.is_none() {
        fields.missing("name");
    }
    // A tooltip is shown with the question.
    fields.knows(&["tooltip"]);
    fields.refuses(&["tooltip_file"]);
    fields.knows(&[
        "text",
        "displayed_label",
        "label",
        "key_value",
        "key_binding",
        "color",
        "abbreviation",
        "description",
    ]);
    fields.finish();
    name
}

fn choice(fields: &MappingReader<'_>, dropdown: bool, many: bool) -> Option<TaskSchemeKind> {
    let cx = fields.cx;
    let items = fields.need("labels").and_then(|node| cx.list(node, "labels"))?;
    let mut labels: Vec<String> = Vec::new();
    for item in items {
        let Some(label) = read_label_name(cx, item) else { continue };
        if labels.contains(&label) {
            let span = item.get("name").map_or(item.span, |node| node.span);
            cx.error(Code::DuplicateId, span, format!("the label `{label}` appears twice"));
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
    fields.knows(&["horizontal", "sequential_key_binding", "randomize_order", "option_randomization"]);
    ignore_shuffles(fields, &["randomize_order", "option_randomization"]);
    let is_per_step = fields.has("per_step") && fields.bool("per_step") == Some(true);
    let limits = if many && !is_per_step {
        read_selection_limits(fields, labels.len())
    } else {
        // One label is chosen, of the whole or of each step.
        fields.refuses(&["min_selections", "max_selections"]);
        AnswerLimits::default()
    };
    if is_per_step {
        return read_step_choice(fields, labels);
    }
    Some(TaskSchemeKind::Choice { labels, dropdown, many, limits })
}

/// How many of `n_labels` may be chosen.
pub(super) fn read_selection_limits(fields: &MappingReader<'_>, n_labels: usize) -> AnswerLimits {
    let n_labels = n_labels as i64;
    let min = read_limit(fields, "min_selections", 0..=n_labels);
    let max = read_limit(fields, "max_selections", 1..=1_000_000);
    // A limit that excludes nothing is none.
    let max = max.filter(|max| i64::from(*max) < n_labels);
    order_limits(fields, ("min_selections", min), ("max_selections", max))
}

fn read_limit(
    fields: &MappingReader<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<i64>,
) -> Option<u32> {
    // Potato writes null for no limit.
    if fields.peek(key).is_some_and(SourceNode::is_null) {
        fields.takes(key);
        return None;
    }
    fields.integer(key, range).and_then(|limit| u32::try_from(limit).ok())
}

/// Limits that some answer is within; others are an error.
fn order_limits(
    fields: &MappingReader<'_>,
    (min_key, min): (&str, Option<u32>),
    (max_key, max): (&str, Option<u32>),
) -> AnswerLimits {
    if let (Some(min), Some(max)) = (min, max)
        && max < min
    {
        let message = format!("`{min_key}` is {min}, and `{max_key}` is {max}: no answer is within both");
        fields.cx.error(Code::BadValue, fields.span(min_key), message);
    }
    AnswerLimits { min: min.filter(|min| 0 < *min), max }
}

/// A text field, or one for each label.
fn read_text_schemes(fields: &MappingReader<'_>, description: Option<&str>) -> Vec<SchemePart> {
    let kind = read_text_scheme(fields);
    let labels = fields.list("labels").unwrap_or_default().iter();
    let labels: Vec<String> = labels.filter_map(|label| read_label_name(fields.cx, label)).collect();
    if labels.is_empty() {
        return vec![SchemePart::new(kind)];
    }
    let part = |label: String| SchemePart {
        description: Some(description.map_or_else(|| label.clone(), |text| format!("{text}: {label}"))),
        suffix: Some(label),
        ..SchemePart::new(kind.clone())
    };
    labels.into_iter().map(part).collect()
}

fn read_text_scheme(fields: &MappingReader<'_>) -> TaskSchemeKind {
    fields.knows(&["rows", "cols", "textarea", "show_char_count", "collapsible", "allow_paste"]);
    if fields.has("allow_paste") && fields.bool("allow_paste") == Some(false) {
        fields.ignores(&["allow_paste"]);
    }
    let min = read_limit(fields, "min_chars", 0..=MOST_CHARACTERS);
    let max = read_limit(fields, "max_chars", 1..=MOST_CHARACTERS);
    let limits = order_limits(fields, ("min_chars", min), ("max_chars", max));
    let multiline = fields.bool("multiline").unwrap_or(true);
    TaskSchemeKind::Text { multiline, placeholder: fields.text("placeholder"), limits }
}
