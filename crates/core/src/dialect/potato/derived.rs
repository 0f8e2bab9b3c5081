//! Kinds of questions that are asked here as a rubric, a choice or a text: what Potato has a type of its own for.

use super::schemes::{
    PointLabels, RatingScale, SchemePart, grid_of, ignore_shuffles, rated_question, read_label_name,
    read_selection_limits,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::lower::Spot;
use crate::source::{NodeShape, SourceNode};
use crate::suite::{AnswerLimits, StepErrorCategory, StepErrorSeverity, TaskSchemeKind, Trajectory};

/// Failure modes of systems of several agents: Cemri et al., "Why Do Multi-Agent LLM Systems Fail?" (2025).
const MAST: &[(&str, &[&str])] = &[
    (
        "Specification and system design",
        &[
            "Disobey task specification",
            "Disobey role specification",
            "Step repetition",
            "Loss of conversation history",
            "Unaware of termination conditions",
        ],
    ),
    (
        "Inter-agent misalignment",
        &[
            "Conversation reset",
            "Fail to ask for clarification",
            "Task derailment",
            "Information withholding",
            "Ignored other agent's input",
            "Reasoning-action mismatch",
        ],
    ),
    (
        "Task verification and termination",
        &["Premature termination", "No or incomplete verification", "Incorrect verification"],
    ),
];

/// A label further down in a taxonomy names what it belongs to.
const BELOW: &str = " / ";

/// Marks that say that a step is right; the first mark of a trajectory does.
const RIGHT_MARKS: [&str; 6] = ["correct", "right", "good", "yes", "success", "ok"];

/// The scale of a scheme that says its ends, as whole numbers.
pub(super) fn read_ends(fields: &MappingReader<'_>, usual: (i64, i64)) -> Option<RatingScale> {
    let cx = fields.cx;
    let end = |keys: &[&'static str]| {
        fields.any(keys).and_then(|node| cx.integer(node, keys[0], -1_000_000..=1_000_000))
    };
    let min = end(&["min_value", "min"]).unwrap_or(usual.0);
    let max = end(&["max_value", "max"]).unwrap_or(usual.1);
    if max <= min || 100 < max - min {
        let message = format!("a scale from {min} to {max} is not supported");
        cx.report(
            Diagnostic::error(Code::Unsupported, fields.start(), message)
                .help("give it at most 101 points, such as 0 to 100"),
        );
        return None;
    }
    let end_label = |keys: &[&'static str], at: i64| {
        let text = fields.any(keys).and_then(|node| cx.scalar_text(node, keys[0]));
        text.map(|text| (at, text))
    };
    let labels =
        [end_label(&["min_label", "left_label"], min), end_label(&["max_label", "right_label"], max)];
    Some(RatingScale { min, max, labels: labels.into_iter().flatten().collect() })
}

/// One row on the scale, called as the scheme is.
pub(super) fn one_row(
    fields: &MappingReader<'_>,
    name: Option<&str>,
    rating: &RatingScale,
) -> Option<TaskSchemeKind> {
    let name = name.unwrap_or("rating");
    let description = fields.text("description").unwrap_or_else(|| name.to_owned());
    let criterion = rated_question(name, &description, rating);
    grid_of(fields.cx, vec![criterion], rating, &Spot::new(fields.start()))
}

/// Both ends of a range, each on the scale.
pub(super) fn read_range_scheme(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
    let rating = read_ends(fields, (0, 100))?;
    fields.knows(&["show_values", "step"]);
    let rows = [("lower end", "The lower end of the range"), ("upper end", "The upper end of the range")];
    let criteria = rows.map(|(name, description)| rated_question(name, description, &rating));
    grid_of(fields.cx, criteria.to_vec(), &rating, &Spot::new(fields.start()))
}

/// Pairs of opposites, each with the points between them.
pub(super) fn read_opposites_scheme(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
    let cx = fields.cx;
    let max = fields.integer("scale_points", 2..=100).unwrap_or(7);
    let mut criteria = Vec::new();
    let mut spot = Spot::new(fields.start()).key("criteria", fields.key_span("pairs"));
    for pair in fields.need("pairs").and_then(|node| cx.list(node, "pairs")).unwrap_or_default() {
        let ends: Vec<String> = match &pair.shape {
            NodeShape::List(ends) => ends.iter().filter_map(|node| cx.scalar_text(node, "pairs")).collect(),
            _ => Vec::new(),
        };
        let [left, right] = ends.as_slice() else {
            cx.error(Code::BadValue, pair.span, "a pair has two ends, such as `[Good, Bad]`");
            continue;
        };
        let labels: PointLabels = [(1, left.clone()), (max, right.clone())].into_iter().collect();
        let name = format!("{left} – {right}");
        criteria.push(rated_question(&name, &name, &RatingScale { min: 1, max, labels }));
        spot.children.push(Spot::new(pair.span));
    }
    fields.knows(&["show_center_label", "center_label", "randomize_pairs"]);
    ignore_shuffles(fields, &["randomize_pairs"]);
    grid_of(cx, criteria, &RatingScale { min: 1, max, labels: PointLabels::new() }, &spot)
}

/// Points that are given to labels, up to a total. That they add up is not checked, which is a warning.
pub(super) fn read_shares_scheme(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
    let cx = fields.cx;
    let total = fields.any(&["total_points", "total"]);
    let max = total.and_then(|node| cx.integer(node, "total", 1..=100)).unwrap_or(100);
    let rating = RatingScale { min: 0, max, labels: PointLabels::new() };
    let mut criteria = Vec::new();
    let mut spot = Spot::new(fields.start()).key("criteria", fields.key_span("labels"));
    for label in fields.need("labels").and_then(|node| cx.list(node, "labels")).unwrap_or_default() {
        let Some(name) = read_label_name(cx, label) else { continue };
        criteria.push(rated_question(&name, &name, &rating));
        spot.children.push(Spot::new(label.span));
    }
    let message = format!("that the points add up to {max} is not checked here");
    cx.report(
        Diagnostic::warning(Code::NoEffect, fields.key_span("annotation_type"), message)
            .note("each label is rated from 0 to the total"),
    );
    fields.ignores(&["min_per_item", "min_per_label"]);
    fields.knows(&["input_type", "show_distribution_chart", "total_points", "total"]);
    grid_of(cx, criteria, &rating, &spot)
}

/// How sure an annotator is of another answer.
pub(super) fn read_confidence_scheme(
    fields: &MappingReader<'_>,
    name: Option<&str>,
) -> Option<TaskSchemeKind> {
    fields.knows(&["target_schema", "slider_min", "slider_max", "sequential_key_binding"]);
    if fields.word("scale_type", &[("likert", false), ("slider", true)]) == Some(true) {
        let rating = read_ends(fields, (0, 100))?;
        return one_row(fields, name, &rating);
    }
    let labels = fields.texts("labels");
    let usual = if labels.is_empty() { 5 } else { labels.len() as i64 };
    let max = fields.integer("scale_points", 2..=100).unwrap_or(usual);
    let rating = RatingScale { min: 1, max, labels: (1..=max).zip(labels).collect() };
    one_row(fields, name, &rating)
}

/// A text that people change, or a passage that they quote: here they write it down, which is a warning.
pub(super) fn read_edit_scheme(fields: &MappingReader<'_>) -> TaskSchemeKind {
    fields.ignores(&["source_field", "show_diff", "show_edit_distance", "allow_reset"]);
    // Of a quote only the words are stored, not their position.
    fields.ignores(&["question_field", "passage_field", "allow_unanswerable", "highlight_color"]);
    let placeholder = fields.text("placeholder");
    TaskSchemeKind::Text { multiline: true, placeholder, limits: AnswerLimits::default() }
}

/// A tree of labels, each of which can be chosen, written as the way to it.
pub(super) fn read_taxonomy_scheme(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
    let cx = fields.cx;
    let mut labels = Vec::new();
    if let Some(preset) = fields.get("taxonomy_preset") {
        cx.word(preset, "taxonomy_preset", &[("mast", ())])?;
        for (group, modes) in MAST {
            labels.push((*group).to_owned());
            labels.extend(modes.iter().map(|mode| format!("{group}{BELOW}{mode}")));
        }
    } else {
        collect_labels(cx, fields.need("taxonomy")?, "", &mut labels);
    }
    fields.ignores(&["auto_select_children", "auto_select_parent"]);
    let limits = read_selection_limits(fields, labels.len());
    fields.knows(&["show_search", "taxonomy", "sequential_key_binding"]);
    if labels.len() < 2 {
        let message = "there is nothing to choose: give at least two labels";
        cx.error(Code::Scale, fields.key_span("taxonomy"), message);
        return None;
    }
    Some(TaskSchemeKind::Choice { labels, dropdown: false, many: true, limits })
}

fn collect_labels(cx: &Context<'_>, node: &SourceNode, above: &str, labels: &mut Vec<String>) {
    let join = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}{BELOW}{name}") };
    match &node.shape {
        NodeShape::Map(entries) => {
            for entry in entries {
                let label = join(&entry.key);
                labels.push(label.clone());
                if !entry.value.is_null() {
                    collect_labels(cx, &entry.value, &label, labels);
                }
            }
        }
        NodeShape::List(items) => items.iter().for_each(|item| collect_labels(cx, item, above, labels)),
        NodeShape::Scalar(_) => labels.extend(cx.scalar_text(node, "taxonomy").map(|text| join(&text))),
    }
}

/// A mark for every step with a call: whether the tool and its arguments were right.
pub(super) fn read_call_review(fields: &MappingReader<'_>) -> TaskSchemeKind {
    let message = "each step is marked as a whole here, not each of its calls";
    let span = fields.key_span("annotation_type");
    fields.cx.report(Diagnostic::warning(Code::NoEffect, span, message));
    let kind = |name: &str| StepErrorCategory { category: name.to_owned(), types: Vec::new() };
    TaskSchemeKind::Trajectory(Trajectory {
        steps_key: fields.text("steps_key").unwrap_or_else(|| "steps".to_owned()),
        step_text_key: fields.text("step_text_key").unwrap_or_else(|| "action".to_owned()),
        marks: ["correct", "incorrect"].map(str::to_owned).to_vec(),
        errors: vec![kind("wrong tool"), kind("wrong arguments")],
        severities: vec![StepErrorSeverity { name: "wrong".to_owned(), weight: -1.0 }],
        initial: 100.0,
    })
}

/// One of the labels for every step, which is a trajectory whose first mark means correct.
pub(super) fn read_step_choice(fields: &MappingReader<'_>, labels: Vec<String>) -> Option<TaskSchemeKind> {
    let first = labels.first().map(|label| label.to_lowercase()).unwrap_or_default();
    if !RIGHT_MARKS.iter().any(|mark| first.starts_with(mark)) {
        fields.cx.report(
            Diagnostic::error(
                Code::Unsupported,
                fields.key_span("per_step"),
                "`per_step` is supported where the first label says that a step is correct",
            )
            .help("put that label first, or use `trajectory_eval`"),
        );
        return None;
    }
    let severity = StepErrorSeverity { name: "wrong".to_owned(), weight: -1.0 };
    Some(TaskSchemeKind::Trajectory(Trajectory {
        steps_key: fields.text("steps_key").unwrap_or_else(|| "steps".to_owned()),
        step_text_key: fields.text("step_text_key").unwrap_or_else(|| "action".to_owned()),
        marks: labels,
        errors: Vec::new(),
        severities: vec![severity],
        initial: 100.0,
    }))
}

/// Two items: which is better, by how much, or in which respects; and why.
pub(super) fn read_pair_schemes(fields: &MappingReader<'_>, name: Option<&str>) -> Vec<SchemePart> {
    #[derive(Clone, Copy, PartialEq)]
    enum PairMode {
        Binary,
        Scale,
        Dimensions,
    }
    let modes =
        [("binary", PairMode::Binary), ("scale", PairMode::Scale), ("multi_dimension", PairMode::Dimensions)];
    let mode = fields.word("mode", &modes).unwrap_or(PairMode::Binary);
    let mut parts = match mode {
        PairMode::Scale => read_pair_scale(fields, name).into_iter().map(SchemePart::new).collect(),
        PairMode::Binary => vec![SchemePart::new(read_pair(fields, fields))],
        PairMode::Dimensions => {
            let mut parts = Vec::new();
            for node in fields
                .need("dimensions")
                .and_then(|node| fields.cx.list(node, "dimensions"))
                .unwrap_or_default()
            {
                let Some(dimension) = MappingReader::new(fields.cx, node, "dimension") else { continue };
                let suffix = dimension.name("name");
                if suffix.is_none() {
                    dimension.missing("name");
                }
                let kind = read_pair(fields, &dimension);
                let description = dimension.text("description");
                dimension.finish();
                parts.push(SchemePart { suffix, description, required: None, kind });
            }
            parts
        }
    };
    fields.knows(&["show_labels", "sequential_key_binding", "randomize_order", "labels"]);
    ignore_shuffles(fields, &["randomize_order"]);
    fields.knows(&["justification"]);
    if let Some(why) = fields.fields("justification", "justification") {
        parts.extend(read_justification(&why));
        why.finish();
    }
    parts
}

/// `asked` says whether a tie is allowed; `fields` which items there are.
fn read_pair(fields: &MappingReader<'_>, asked: &MappingReader<'_>) -> TaskSchemeKind {
    let labels = fields.texts("labels");
    if fields.has("labels") && labels.len() != 2 {
        fields.cx.error(Code::BadValue, fields.key_span("labels"), "a pair has two labels");
    }
    let tie = asked.bool("allow_tie").unwrap_or(false);
    let tie_label = asked.text("tie_label").or_else(|| Some("No preference".to_owned()));
    TaskSchemeKind::Pairwise {
        items_key: fields.text("items_key").unwrap_or_else(|| "text".to_owned()),
        labels: if labels.len() == 2 { labels } else { vec!["A".to_owned(), "B".to_owned()] },
        tie_label: tie_label.filter(|_| tie),
    }
}

/// By how much: a point between the two ends.
fn read_pair_scale(fields: &MappingReader<'_>, name: Option<&str>) -> Option<TaskSchemeKind> {
    let scale = fields.fields("scale", "scale")?;
    let mut rating = read_ends(&scale, (-3, 3))?;
    if let Some(labels) = scale.fields("labels", "labels of the scale") {
        let center = rating.min + (rating.max - rating.min) / 2;
        for (key, at) in [("min", rating.min), ("center", center), ("max", rating.max)] {
            let text = labels.text(key).filter(|text| !text.is_empty());
            rating.labels.extend(text.map(|text| (at, text)));
        }
        labels.finish();
    }
    scale.knows(&["step", "default"]);
    scale.finish();
    fields.ignores(&["items_key"]);
    one_row(fields, name, &rating)
}

/// The reasons of an annotator for a preference: reasons to choose from, and a text.
fn read_justification(fields: &MappingReader<'_>) -> Vec<SchemePart> {
    let required = fields.bool("required");
    let placeholder = fields.text("rationale_placeholder");
    let mut parts = Vec::new();
    let limits = AnswerLimits::default();
    let labels = fields.texts("reason_categories");
    if 1 < labels.len() {
        let kind = TaskSchemeKind::Choice { labels, dropdown: false, many: true, limits };
        parts.push(SchemePart { suffix: Some("reasons".to_owned()), description: None, required, kind });
    }
    fields.ignores(&["min_rationale_chars"]);
    let kind = TaskSchemeKind::Text { multiline: true, placeholder, limits };
    parts.push(SchemePart { suffix: Some("justification".to_owned()), description: None, required, kind });
    parts
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::super::super::{
        Dialect, ProjectEnvironment, ReadError, VariableExpansion, read_suite, refuse_scripts,
    };
    use super::*;
    use crate::diagnostic::{Diagnostic, DiagnosticSeverity};
    use crate::suite::TaskScheme;

    const TASK: &str = r#"annotation_task_name: Tone of letters
item_properties: {id_key: id, text_key: text}
annotation_schemes:
  - {annotation_type: vas, name: warmth, description: How warm is it?, left_label: cold, right_label: warm}
  - {annotation_type: number, name: year, description: How many years ago?, min_value: 0, max_value: 90}
  - {annotation_type: range_slider, name: fitting, description: Which formality would fit?, min_value: 1, max_value: 7, left_label: informal, right_label: formal}
  - {annotation_type: semantic_differential, name: feeling, description: How does it feel?, scale_points: 5, pairs: [[calm, tense], [kind, cruel]]}
  - {annotation_type: confidence, name: sure, description: How sure are you?, target_schema: warmth, labels: [guessing, fairly, certain]}
  - annotation_type: hierarchical_multiselect
    name: subject
    description: What is it about?
    taxonomy:
      Home: [rent, repairs]
      Work: {Office: [hours, pay]}
    min_selections: null
    max_selections: 2
  - annotation_type: pairwise
    name: better
    description: Which is better, and by how much?
    mode: scale
    labels: [first, second]
    scale: {min: -2, max: 2, labels: {min: the first by far, max: the second by far, center: equal}}
  - annotation_type: pairwise
    name: versions
    description: Compare the two versions
    mode: multi_dimension
    items_key: versions
    labels: [first, second]
    dimensions:
      - {name: clarity, description: Which is clearer?, allow_tie: true}
      - {name: manners, description: Which is more polite?}
    justification: {required: true, reason_categories: [shorter, warmer], rationale_placeholder: In a sentence}
  - {annotation_type: radio, name: steps_right, description: Is this step right?, per_step: true, labels: [correct, wrong]}
"#;

    fn load_schemes(text: &str) -> Vec<TaskScheme> {
        let read = |path: &Path| match path.ends_with("task.yaml") {
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
        let loaded = read_suite(Path::new("/project/task.yaml"), Some(Dialect::Potato), &world);
        let is_fault = |diagnostic: &&Diagnostic| diagnostic.severity != DiagnosticSeverity::Advice;
        let faults: Vec<&str> = loaded
            .diagnostics
            .iter()
            .filter(is_fault)
            .map(|diagnostic| diagnostic.message.as_str())
            .collect();
        assert_eq!(faults, [""; 0]);
        loaded.suite.expect("a suite").annotation.expect("a task").schemes
    }

    #[test]
    fn types_of_potato_are_asked_as_rubrics_choices_and_texts() {
        let schemes = load_schemes(TASK);
        let names: Vec<&str> = schemes.iter().map(|scheme| scheme.name.as_str()).collect();
        let expected = [
            "warmth",
            "year",
            "fitting",
            "feeling",
            "sure",
            "subject",
            "better",
            "versions-clarity",
            "versions-manners",
            "versions-reasons",
            "versions-justification",
            "steps_right",
        ];
        assert_eq!(names, expected);
        let rows = |name: &str| {
            let scheme = schemes.iter().find(|scheme| scheme.name == name).expect("a scheme");
            let TaskSchemeKind::Rubric { rubric, .. } = &scheme.kind else { panic!("{name} is no rubric") };
            rubric.criteria.iter().map(|criterion| criterion.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(rows("warmth"), ["warmth"]);
        assert_eq!(rows("fitting"), ["lower end", "upper end"]);
        assert_eq!(rows("feeling"), ["calm – tense", "kind – cruel"]);
        assert_eq!(rows("better"), ["better"]);
        let TaskSchemeKind::Choice { labels, many: true, limits, .. } = &schemes[5].kind else {
            panic!("a choice")
        };
        assert_eq!(*limits, AnswerLimits { min: None, max: Some(2) });
        assert_eq!(
            labels,
            &[
                "Home",
                "Home / rent",
                "Home / repairs",
                "Work",
                "Work / Office",
                "Work / Office / hours",
                "Work / Office / pay"
            ]
        );
        assert!(matches!(&schemes[7].kind, TaskSchemeKind::Pairwise { tie_label: Some(_), .. }));
        assert!(matches!(&schemes[8].kind, TaskSchemeKind::Pairwise { tie_label: None, .. }));
        assert!(schemes[10].required && matches!(schemes[10].kind, TaskSchemeKind::Text { .. }));
        assert!(
            matches!(&schemes[11].kind, TaskSchemeKind::Trajectory(steps) if steps.marks == ["correct", "wrong"])
        );
    }
}
