//! A row of data as something to look at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Compared, Given, GivenKind, Item, ItemField, Keyword, Scheme, SchemeKind};
use crate::candidate::{JudgeInput, StepRole, Trace, TraceStep, diff, read_trace_value};
use crate::suite;

/// Where in a row things stand.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RowLayout {
    /// What rows of an export call the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_key: Option<String>,
    /// The list of which each entry is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_text_key: Option<String>,
    /// The list of which the entries are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_key: Option<String>,
    /// Fields of the row that are shown, in this order. If the list is empty, fields with known names are shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<ShownField>,
    /// Whether fields are shown side by side instead of one below the other.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub side_by_side: bool,
    /// Words that are marked in the texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Keyword>,
}

/// A field of a row that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownField {
    pub key: String,
    pub label: String,
}

impl ShownField {
    /// By its name alone, or with a label.
    fn of(value: &Json) -> Option<Self> {
        let key = value.as_str().or_else(|| value.get("key")?.as_str())?;
        let label = value.get("label").and_then(Json::as_str);
        Some(Self { key: key.to_owned(), label: label.map_or_else(|| label_from_name(key), str::to_owned) })
    }
}

/// A name as words: `gold_answer` is "Gold answer".
fn label_from_name(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Where a trace is looked for, unless a file says.
const TRACES: [&str; 7] = ["trace", "steps", "messages", "conversation", "trajectory", "turns", "history"];
const TEXTS: [&str; 8] = ["text", "task", "prompt", "question", "input", "instruction", "response", "output"];

impl RowLayout {
    pub fn of(annotation: &suite::AnnotationTask) -> Self {
        let display = |key: &str| annotation.display.get(key).and_then(Json::as_str).map(str::to_owned);
        let mut shape = Self {
            id_key: annotation.id_key.clone(),
            text_key: annotation.text_key.clone(),
            trace_key: display("trace_key"),
            diff_key: display("diff_key"),
            fields: match annotation.display.get("fields") {
                Some(Json::Array(all)) => all.iter().filter_map(ShownField::of).collect(),
                _ => Vec::new(),
            },
            side_by_side: match annotation.display.get("layout") {
                Some(Json::String(layout)) => layout == "side_by_side",
                Some(layout) => layout["direction"] == "horizontal",
                None => false,
            },
            keywords: annotation.list_keywords().cloned().collect(),
            ..Self::default()
        };
        for scheme in &annotation.schemes {
            match &scheme.kind {
                suite::TaskSchemeKind::Trajectory(it) => {
                    shape.steps_key = Some(it.steps_key.clone());
                    shape.step_text_key = Some(it.step_text_key.clone());
                }
                suite::TaskSchemeKind::Pairwise { items_key, .. } => {
                    shape.items_key = Some(items_key.clone());
                }
                _ => {}
            }
        }
        shape
    }

    /// The name of a row, if it has one.
    pub fn id(&self, row: &Map<String, Json>) -> Option<String> {
        let id = row.get(self.id_key.as_deref().unwrap_or("id")).filter(|row| !row.is_null())?;
        Some(value_to_display_text(id)).filter(|text| !text.is_empty())
    }
}

/// Builds the item of a row, under its id in the store. `turn` decides which candidate of a comparison is first.
pub fn build_item(
    id: String,
    row: &Map<String, Json>,
    shape: &RowLayout,
    schemes: &[Scheme],
    turn: bool,
) -> Item {
    let labels = schemes.iter().find_map(|scheme| match &scheme.kind {
        SchemeKind::Pairwise { labels, .. } => Some(labels),
        _ => None,
    });
    let marks = schemes.iter().any(|scheme| matches!(scheme.kind, SchemeKind::Trajectory { .. }));
    let mut item = Item { id, ..Item::default() };
    if let Some((trace, marked)) = trace_of(row, shape, marks) {
        (item.trace, item.marked) = (Some(trace), marked);
    }
    if let (Some(labels), Some(Json::Array(all))) =
        (labels, row.get(shape.items_key.as_deref().unwrap_or("text")))
    {
        item.candidates =
            all.iter().zip(labels).map(|(value, label)| build_compared_candidate(label, value)).collect();
        if turn {
            item.candidates.reverse();
        }
    }
    if !shape.fields.is_empty() {
        show_fields(&mut item, row, shape, marks);
        return item;
    }
    let text = match &shape.text_key {
        Some(key) => {
            row.get(key).filter(|_| item.candidates.is_empty() || shape.items_key.as_ref() != Some(key))
        }
        None => TEXTS.iter().find_map(|text| row.get(*text)).filter(|map| map.is_string()),
    };
    let text = text.map(value_to_display_text).filter(|text| !text.trim().is_empty());
    let task = row.get("task").and_then(Json::as_str).map(str::to_owned);
    match (item.trace.is_some() || !item.candidates.is_empty(), text) {
        (true, text) => item.task = text.or(task),
        (false, Some(text)) => {
            item.task = task.filter(|task| *task != text);
            item.text = Some(text);
        }
        (false, None) => {
            let rest: Map<String, Json> = row
                .iter()
                .filter(|(key, _)| Some(*key) != shape.id_key.as_ref())
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect();
            item.text = serde_json::to_string_pretty(&rest).ok();
        }
    }
    item
}

/// Shows the fields that a task names, and nothing else. One that holds a trace is shown as such.
fn show_fields(item: &mut Item, row: &Map<String, Json>, shape: &RowLayout, marks: bool) {
    let trace_key = trace_key(row, shape, marks).map(str::to_owned);
    let is_listed = |key: &str| shape.fields.iter().any(|field| field.key == key);
    let is_asked_for = shape.trace_key.is_some() || marks;
    if !is_asked_for && !trace_key.as_deref().is_some_and(is_listed) {
        (item.trace, item.marked) = (None, Vec::new());
    }
    let is_drawn = |key: &str| {
        (item.trace.is_some() && trace_key.as_deref() == Some(key))
            || (!item.candidates.is_empty() && shape.items_key.as_deref() == Some(key))
            || (item.trace.is_some() && shape.diff_key.as_deref() == Some(key))
    };
    let text = |field: &ShownField| {
        let text = value_to_display_text(row.get(&field.key)?);
        Some(ItemField { key: field.key.clone(), label: field.label.clone(), text })
    };
    item.fields = shape.fields.iter().filter(|field| !is_drawn(&field.key)).filter_map(text).collect();
    item.side_by_side = shape.side_by_side;
}

/// Builds the item of a stored trace.
pub fn item_of_trace(id: String, trace: Trace) -> Item {
    let task = trace.task.clone();
    Item { id, task, marked: agent_step_numbers(&trace), trace: Some(trace), ..Item::default() }
}

/// Texts that a judge had before it in addition to the task and the candidate.
pub fn collect_judge_context(material: &JudgeInput) -> Vec<Given> {
    let all = |kind, texts: &[String]| {
        let present = texts.iter().filter(|text| !text.trim().is_empty());
        present.map(|text| Given { kind, text: text.clone() }).collect::<Vec<_>>()
    };
    let one = |kind, text: &Option<String>| all(kind, text.as_slice());
    [
        all(GivenKind::Context, &material.context),
        all(GivenKind::Requirement, &material.requirements),
        one(GivenKind::Reference, &material.reference),
        one(GivenKind::Diff, &material.diff),
    ]
    .concat()
}

/// Letters that a title has at most.
const TITLE: usize = 120;

impl Item {
    /// Its first words, for lists: what was asked, else what there is to look at. Nothing where it has no words.
    pub fn title(&self) -> Option<String> {
        let prompts =
            self.trace.iter().flat_map(|trace| &trace.steps).filter(|step| step.role == StepRole::User);
        let compared = self.candidates.iter().filter_map(|compared| compared.text.as_deref());
        let fields = self.fields.iter().map(|field| field.text.as_str());
        let own = [self.task.as_deref(), self.text.as_deref()].into_iter().flatten().chain(fields);
        let mut all = own.chain(prompts.map(|step| step.text.as_str())).chain(compared);
        let words: Vec<&str> =
            all.find(|text| !text.trim().is_empty())?.split_whitespace().take(TITLE).collect();
        let line = words.join(" ");
        match line.char_indices().nth(TITLE) {
            Some((end, _)) => Some(format!("{}…", line[..end].trim_end())),
            None => Some(line),
        }
    }
}

fn build_compared_candidate(label: &str, value: &Json) -> Compared {
    let label = label.to_owned();
    match value {
        Json::Array(_) | Json::Object(_) => match read_trace_value(value, None) {
            Ok((_, trace)) => Compared { label, text: None, trace: Some(trace) },
            Err(_) => Compared { label, text: Some(to_pretty_json(value)), trace: None },
        },
        other => Compared { label, text: Some(value_to_display_text(other)), trace: None },
    }
}

/// The field of a row that holds its trace.
fn trace_key<'a>(row: &Map<String, Json>, shape: &'a RowLayout, marks: bool) -> Option<&'a str> {
    match (&shape.trace_key, &shape.steps_key) {
        (Some(key), _) => Some(key.as_str()),
        (None, Some(key)) if marks && row.contains_key(key) => Some(key.as_str()),
        _ => {
            let listed = shape.fields.iter().map(|field| field.key.as_str());
            let holds_trace = |key: &str| match row.get(key) {
                Some(value) if TRACES.contains(&key) => value.is_array() || value.is_object(),
                Some(value @ Json::Array(_)) => read_trace_value(value, None).is_ok(),
                _ => false,
            };
            listed.into_iter().find(|key| holds_trace(key)).or_else(|| {
                let is_trace =
                    |key: &&str| row.get(*key).is_some_and(|row| row.is_array() || row.is_object());
                TRACES.into_iter().find(is_trace)
            })
        }
    }
}

/// The trace in a row. Where its steps are to be marked, one step is shown for each that the data has.
fn trace_of(row: &Map<String, Json>, shape: &RowLayout, marks: bool) -> Option<(Trace, Vec<usize>)> {
    let value = row.get(trace_key(row, shape, marks)?)?;
    let listed = match (marks, &shape.steps_key) {
        (true, Some(steps)) => row.get(steps).or_else(|| value.get(steps)).unwrap_or(value).as_array(),
        _ => None,
    };
    let wrapped = || read_trace_value(&serde_json::json!({ "steps": value }), None);
    let whole = read_trace_value(value, None)
        .or_else(|_| wrapped())
        .map(|(_, trace)| trace)
        .ok()
        .filter(|trace| !trace.steps.is_empty());
    let every = |trace: Trace| {
        let all = (1..=trace.steps.len()).collect();
        (trace, all)
    };
    let (mut trace, marked) = match (listed, whole) {
        (Some(listed), Some(whole)) if agent_step_numbers(&whole).len() == listed.len() => {
            let acts = agent_step_numbers(&whole);
            (whole, acts)
        }
        (Some(listed), _) => every(read_trace_by_entry(listed, shape.step_text_key.as_deref())),
        (None, Some(whole)) => {
            let acts = agent_step_numbers(&whole);
            (whole, acts)
        }
        (None, None) => every(match value {
            Json::Array(listed) => read_trace_by_entry(listed, shape.step_text_key.as_deref()),
            other => Trace {
                steps: vec![TraceStep::new(StepRole::Assistant, to_pretty_json(other))],
                ..Trace::default()
            },
        }),
    };
    if trace.files.is_empty() {
        trace.files = parse_file_changes(shape.diff_key.as_ref().and_then(|diff_key| row.get(diff_key)));
    }
    Some((trace, marked))
}

/// What the run changed: a diff as text, or a list of files each with its own.
fn parse_file_changes(value: Option<&Json>) -> Vec<diff::FileChange> {
    match value {
        Some(Json::String(text)) => diff::parse_unified_diff(text),
        Some(Json::Array(all)) => all.iter().flat_map(parse_change_entry).collect(),
        Some(Json::Object(by_path)) => {
            let one = |(path, value): (&String, &Json)| match value {
                Json::String(text) => with_path(diff::parse_unified_diff(text), path),
                other => parse_change_entry(other),
            };
            by_path.iter().flat_map(one).collect()
        }
        _ => Vec::new(),
    }
}

fn parse_change_entry(value: &Json) -> Vec<diff::FileChange> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)?.as_str());
    let path = value
        .as_str()
        .or_else(|| text(&["path", "file", "file_path", "filename", "name"]))
        .unwrap_or_default();
    let parsed = diff::parse_unified_diff(text(&["diff", "patch", "changes"]).unwrap_or_default());
    with_path(parsed, path)
}

fn with_path(parsed: Vec<diff::FileChange>, path: &str) -> Vec<diff::FileChange> {
    if !parsed.is_empty() {
        return parsed;
    }
    let named = diff::FileChange { path: path.to_owned(), ..diff::FileChange::default() };
    Some(named).filter(|file_change| !file_change.path.is_empty()).into_iter().collect()
}

/// One step for each entry, whatever its format makes of it.
fn read_trace_by_entry(listed: &[Json], text_key: Option<&str>) -> Trace {
    let steps = listed.iter().enumerate().map(|(at, entry)| {
        let read = read_trace_value(&Json::Array(vec![entry.clone()]), None)
            .map(|trace_value| trace_value.1.steps)
            .unwrap_or_default();
        let merged = read.into_iter().reduce(merge_steps).filter(|step| !step.is_empty());
        merged.unwrap_or_else(|| {
            let text = text_key.and_then(|text_key| entry.get(text_key)).map(value_to_display_text);
            let text = text.filter(|text| !text.is_empty()).unwrap_or_else(|| to_pretty_json(entry));
            let text = if text.is_empty() { format!("(step {})", at + 1) } else { text };
            TraceStep::new(StepRole::Assistant, text)
        })
    });
    Trace { steps: steps.collect(), ..Trace::default() }
}

fn merge_steps(mut a: TraceStep, b: TraceStep) -> TraceStep {
    let join = |a: &mut String, b: String| {
        if !a.is_empty() && !b.is_empty() {
            a.push('\n');
        }
        a.push_str(&b);
    };
    if b.role == StepRole::Assistant {
        a.role = StepRole::Assistant;
    }
    join(&mut a.text, b.text);
    join(&mut a.reasoning, b.reasoning);
    a.tool_calls.extend(b.tool_calls);
    a.results.extend(b.results);
    a.files.extend(b.files);
    a.screenshot = a.screenshot.or(b.screenshot);
    a
}

/// What an agent did in a trace, by number from 1; all of it where the trace does not say who did what.
fn agent_step_numbers(trace: &Trace) -> Vec<usize> {
    let of = |is: &dyn Fn(&TraceStep) -> bool| -> Vec<usize> {
        trace.steps.iter().enumerate().filter(|(_, step)| is(step)).map(|(at, _)| at + 1).collect()
    };
    let acted = of(&|it| it.role == StepRole::Assistant);
    if acted.is_empty() { of(&|_| true) } else { acted }
}

/// The schemes for one item: which of its steps are marked.
pub fn with_steps(schemes: &[Scheme], item: &Item) -> Vec<Scheme> {
    let mut schemes = schemes.to_vec();
    for scheme in &mut schemes {
        if let SchemeKind::Trajectory { steps, .. } = &mut scheme.kind {
            steps.clone_from(&item.marked);
        }
    }
    schemes
}

fn value_to_display_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        Json::Array(_) | Json::Object(_) => to_pretty_json(value),
        other => other.to_string(),
    }
}

fn to_pretty_json(value: &Json) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: &Json) -> Map<String, Json> {
        value.as_object().unwrap().clone()
    }

    fn trajectory() -> Vec<Scheme> {
        let kind = SchemeKind::Trajectory {
            steps: Vec::new(),
            marks: vec!["correct".into(), "incorrect".into()],
            errors: Vec::new(),
            severities: Vec::new(),
            initial: 100.0,
        };
        vec![Scheme { name: "s".into(), description: None, required: true, shown_when: None, kind }]
    }

    fn steps(item: &Item) -> Vec<usize> {
        let schemes = with_steps(&trajectory(), item);
        let SchemeKind::Trajectory { steps, .. } = &schemes[0].kind else { panic!() };
        steps.clone()
    }

    #[test]
    fn a_coding_trace_shows_its_task_its_steps_and_its_diff() {
        let shape = RowLayout {
            id_key: Some("trace_id".into()),
            text_key: Some("task".into()),
            trace_key: Some("steps".into()),
            diff_key: Some("files_changed".into()),
            ..RowLayout::default()
        };
        let row = row(&json!({"trace_id": 7, "task": "Fix <b>it</b>",
            "steps": [{"thought": "look", "action": "cat a.py", "observation": "x"}, {"thought": "edit", "action": "sed"}],
            "files_changed": [{"path": "a.py", "diff": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"}]}));
        assert_eq!(shape.id(&row).as_deref(), Some("7"));
        let item = build_item("i".into(), &row, &shape, &[], false);
        assert_eq!(item.task.as_deref(), Some("Fix <b>it</b>"));
        let trace = item.trace.unwrap();
        assert_eq!(trace.files[0].hunks[0].lines, ["-x", "+y"]);
        assert!(trace.steps.len() >= 2);
    }

    #[test]
    fn there_is_one_mark_for_each_step_of_the_data() {
        let shape = RowLayout {
            steps_key: Some("steps".into()),
            step_text_key: Some("action".into()),
            ..RowLayout::default()
        };
        let acted =
            json!([{"thought": "a", "action": "ls", "observation": "b"}, {"thought": "c", "action": "rm"}]);
        let texts = json!(["first", "", {"odd": 1}]);
        let messages = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]);
        for (value, expected) in [(acted, 2), (texts, 3), (messages, 2)] {
            let item =
                build_item("i".into(), &row(&json!({"id": 1, "steps": value})), &shape, &trajectory(), false);
            assert_eq!(steps(&item).len(), expected, "{value}");
        }
    }

    #[test]
    fn compared_ones_change_places_and_keep_their_labels() {
        let kind = SchemeKind::Pairwise { labels: vec!["A".into(), "B".into()], tie_label: None };
        let schemes =
            [Scheme { name: "p".into(), description: None, required: true, shown_when: None, kind }];
        let row = row(&json!({"id": 1, "text": ["one", "two"]}));
        for (turn, expected) in [(false, ["A", "B"]), (true, ["B", "A"])] {
            let item = build_item("i".into(), &row, &RowLayout::default(), &schemes, turn);
            assert_eq!(
                item.candidates.iter().map(|candidate| candidate.label.as_str()).collect::<Vec<_>>(),
                expected
            );
            assert_eq!(
                item.candidates.iter().find(|candidate| candidate.label == "A").unwrap().text.as_deref(),
                Some("one")
            );
        }
    }

    #[test]
    fn a_task_says_which_fields_are_shown_and_how() {
        let field = |key: &str, label: &str| ShownField { key: key.into(), label: label.into() };
        let fields =
            vec![field("question", "Question"), field("gold", "Reference"), field("docs", "Context")];
        let shape = RowLayout { fields, side_by_side: true, ..RowLayout::default() };
        let row =
            row(&json!({"id": 1, "question": "When?", "gold": "Monday", "docs": ["a", "b"], "text": "no"}));
        let item = build_item("i".into(), &row, &shape, &[], false);
        let labels: Vec<&str> = item.fields.iter().map(|field| field.label.as_str()).collect();
        assert_eq!((labels, item.text.clone()), (vec!["Question", "Reference", "Context"], None));
        assert_eq!((item.fields[1].text.as_str(), item.side_by_side), ("Monday", true));
        assert_eq!(item.title().as_deref(), Some("When?"));
    }

    #[test]
    fn a_row_without_anything_known_is_shown_whole() {
        let item = build_item(
            "i".into(),
            &row(&json!({"id": 1, "odd": {"x": "שלום 🎉"}})),
            &RowLayout::default(),
            &[],
            false,
        );
        assert!(item.text.unwrap().contains("שלום 🎉"));
    }
}
