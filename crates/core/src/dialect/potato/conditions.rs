//! Questions that are asked only after certain answers: `display_logic` of Potato, and `show_when`.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::source::{SourceNode, SourceSpan};
use crate::suite::{AnswerCondition, AnswerTest, ShowCondition, TaskScheme, TaskSchemeKind};

/// Operators of Potato that look into words.
const OF_WORDS: [&str; 4] = ["matches", "length_gt", "length_lt", "length_in_range"];
const OPERATORS: [&str; 12] = [
    "equals",
    "not_equals",
    "contains",
    "not_contains",
    "gt",
    "gte",
    "lt",
    "lte",
    "in_range",
    "not_in_range",
    "empty",
    "not_empty",
];

/// Reads the conditions of all schemes, and checks them against the questions that they depend on.
pub(super) fn read_show_conditions(cx: &Context<'_>, nodes: &[SourceNode], schemes: &mut [TaskScheme]) {
    let mut found: BTreeMap<String, PlacedCondition> = BTreeMap::new();
    for node in nodes {
        let Some(name) = node.get("name").and_then(SourceNode::text) else { continue };
        let read = match (node.get("display_logic"), node.get("show_when")) {
            (Some(logic), Some(own)) => {
                let message = "`display_logic` and `show_when` are two names for one thing";
                cx.report(
                    Diagnostic::error(Code::Conflict, own.span, message).also(logic.span, "first given here"),
                );
                None
            }
            (Some(logic), None) => read_display_logic(cx, logic),
            (None, Some(own)) => read_show_when(cx, own),
            (None, None) => None,
        };
        if let Some(read) = read.filter(|read| check_condition(cx, read, name, schemes)) {
            found.insert(name.to_owned(), read);
        }
    }
    report_circles(cx, &found);
    let written: BTreeSet<&str> =
        nodes.iter().filter_map(|node| node.get("name").and_then(SourceNode::text)).collect();
    for scheme in schemes {
        // Some schemes become several, called `NAME-PART`; the condition is about all of them.
        let parts = scheme.name.match_indices('-').map(|(at, _)| &scheme.name[..at]);
        let own = std::iter::once(scheme.name.as_str()).chain(parts).find(|name| written.contains(name));
        scheme.shown_when = own.and_then(|name| found.get(name)).map(|read| read.condition.clone());
    }
}

/// A condition with the places of its parts.
struct PlacedCondition {
    condition: ShowCondition,
    spans: Vec<SourceSpan>,
}

/// `{show_when: [{schema, operator, value, case_sensitive}], logic: all | any}`.
fn read_display_logic(cx: &Context<'_>, node: &SourceNode) -> Option<PlacedCondition> {
    let fields = MappingReader::new(cx, node, "display logic")?;
    let any = fields.word("logic", &[("all", false), ("any", true)]).unwrap_or(false);
    let list = fields.need("show_when").and_then(|node| cx.list(node, "show_when")).unwrap_or_default();
    let before = cx.n_errors();
    let read: Vec<Option<AnswerCondition>> =
        list.iter().map(|node| read_operator_condition(cx, node)).collect();
    fields.finish();
    // Without a condition that can be tested, the question is always asked.
    if cx.n_errors() != before {
        return None;
    }
    let conditions = read.into_iter().collect::<Option<Vec<_>>>()?;
    place_conditions(any, conditions, list)
}

fn place_conditions(
    any: bool,
    conditions: Vec<AnswerCondition>,
    list: &[SourceNode],
) -> Option<PlacedCondition> {
    let spans = list.iter().map(|node| node.span).collect();
    (!conditions.is_empty())
        .then_some(PlacedCondition { condition: ShowCondition { any, conditions }, spans })
}

fn read_operator_condition(cx: &Context<'_>, node: &SourceNode) -> Option<AnswerCondition> {
    let fields = MappingReader::new(cx, node, "condition of display logic")?;
    let question = fields.need("schema").and_then(|node| cx.plain_text(node, "schema"));
    let operator = fields.need("operator").and_then(|node| cx.plain_text(node, "operator"));
    let case_sensitive = fields.bool("case_sensitive").unwrap_or(false);
    let value = fields.get("value");
    let test = match operator.as_deref()? {
        "equals" | "contains" => AnswerTest::Is { values: read_values(cx, value), case_sensitive },
        "not_equals" | "not_contains" => AnswerTest::IsNot { values: read_values(cx, value), case_sensitive },
        "empty" => AnswerTest::Unanswered,
        "not_empty" => AnswerTest::Answered,
        // Answers are whole numbers, so that a strict end is the next one.
        "gt" => AnswerTest::Between { min: read_number(cx, value).map(|end| end.floor() + 1.0), max: None },
        "gte" => AnswerTest::Between { min: read_number(cx, value), max: None },
        "lt" => AnswerTest::Between { min: None, max: read_number(cx, value).map(|end| end.ceil() - 1.0) },
        "lte" => AnswerTest::Between { min: None, max: read_number(cx, value) },
        "in_range" => read_range(cx, value, node).map(NumberRange::into_between)?,
        "not_in_range" => read_range(cx, value, node).map(NumberRange::into_outside)?,
        other => {
            let span = fields.span("operator");
            let message = format!("`{other}` is not tested: this question is always asked");
            if OF_WORDS.contains(&other) {
                let diagnostic = Diagnostic::warning(Code::Unsupported, span, message);
                cx.report(diagnostic.help("conditions look at labels and numbers, not into words"));
            } else {
                let message = format!("there is no operator `{other}`");
                cx.report(Diagnostic::error(Code::BadValue, span, message).suggest(
                    other,
                    OPERATORS,
                    "supported",
                ));
            }
            fields.knows(&["value"]);
            fields.finish();
            return None;
        }
    };
    let needs_value = !matches!(test, AnswerTest::Answered | AnswerTest::Unanswered);
    if needs_value && value.is_none() {
        fields.missing("value");
    }
    fields.finish();
    Some(AnswerCondition { question: question?, test })
}

/// A condition, a list of them that must all hold, or `{any: […]}` and `{all: […]}`.
fn read_show_when(cx: &Context<'_>, node: &SourceNode) -> Option<PlacedCondition> {
    let (any, list) = match (node.get("any"), node.get("all")) {
        (Some(list), None) => (true, cx.list(list, "any")?),
        (None, Some(list)) => (false, cx.list(list, "all")?),
        _ if node.map().is_some() => (false, std::slice::from_ref(node)),
        _ => (false, cx.list(node, "show_when")?),
    };
    let conditions = list.iter().map(|node| read_own_condition(cx, node)).collect::<Option<Vec<_>>>()?;
    place_conditions(any, conditions, list)
}

/// `{question, is | is_not | at_least | at_most | between | outside | answered}`.
fn read_own_condition(cx: &Context<'_>, node: &SourceNode) -> Option<AnswerCondition> {
    let before = cx.n_errors();
    let fields = MappingReader::new(cx, node, "answer condition")?;
    let question = fields.need("question").and_then(|node| cx.plain_text(node, "question"));
    let case_sensitive = fields.bool("case_sensitive").unwrap_or(false);
    let values = |keys: &[&'static str]| {
        fields.any(keys).map(|node| read_values(cx, Some(node))).filter(|values| !values.is_empty())
    };
    let ends = |key: &'static str| fields.get(key).and_then(|value| read_range(cx, Some(value), node));
    let mut tests = Vec::new();
    // The second name is that of Potato's operator.
    tests.extend(values(&["is", "equals"]).map(|values| AnswerTest::Is { values, case_sensitive }));
    tests
        .extend(values(&["is_not", "not_equals"]).map(|values| AnswerTest::IsNot { values, case_sensitive }));
    let (min, max) = (fields.number("at_least"), fields.number("at_most"));
    if min.is_some() || max.is_some() {
        tests.push(AnswerTest::Between { min, max });
    }
    tests.extend(ends("between").map(NumberRange::into_between));
    tests.extend(ends("outside").map(NumberRange::into_outside));
    let answered =
        |is_answered: bool| if is_answered { AnswerTest::Answered } else { AnswerTest::Unanswered };
    tests.extend(fields.bool("answered").map(answered));
    if tests.len() != 1 && cx.n_errors() == before {
        let message =
            "a condition has one of `is`, `is_not`, `at_least`, `at_most`, `between`, `outside`, `answered`";
        cx.error(Code::BadValue, fields.start(), message);
    }
    fields.finish();
    let test = if tests.len() == 1 { tests.pop() } else { None };
    Some(AnswerCondition { question: question?, test: test? })
}

fn read_values(cx: &Context<'_>, value: Option<&SourceNode>) -> Vec<String> {
    let Some(value) = value else { return Vec::new() };
    if value.list().is_some() {
        let all = cx.list(value, "value").unwrap_or_default();
        return all.iter().filter_map(|node| cx.scalar_text(node, "value")).collect();
    }
    cx.scalar_text(value, "value").into_iter().collect()
}

fn read_number(cx: &Context<'_>, value: Option<&SourceNode>) -> Option<f64> {
    value.and_then(|value| cx.number(value, "value"))
}

/// Numbers from one to another, with both.
struct NumberRange {
    min: f64,
    max: f64,
}

impl NumberRange {
    fn into_between(self) -> AnswerTest {
        AnswerTest::Between { min: Some(self.min), max: Some(self.max) }
    }

    fn into_outside(self) -> AnswerTest {
        AnswerTest::Outside { min: Some(self.min), max: Some(self.max) }
    }
}

/// The two ends of a range.
fn read_range(cx: &Context<'_>, value: Option<&SourceNode>, condition: &SourceNode) -> Option<NumberRange> {
    let ends: Vec<f64> = value
        .and_then(|value| cx.list(value, "value"))
        .unwrap_or_default()
        .iter()
        .filter_map(|node| cx.number(node, "value"))
        .collect();
    match ends.as_slice() {
        [min, max] if min <= max => Some(NumberRange { min: *min, max: *max }),
        _ => {
            let span = value.map_or(condition.span, |value| value.span);
            cx.error(Code::BadValue, span, "a range is its lowest and its highest number, such as [3, 7]");
            None
        }
    }
}

/// Whether a condition can be tested: its questions are there, and can have the answers that it names.
fn check_condition(cx: &Context<'_>, read: &PlacedCondition, name: &str, schemes: &[TaskScheme]) -> bool {
    let mut can_be_tested = true;
    for (condition, span) in read.condition.conditions.iter().zip(&read.spans) {
        let question = &condition.question;
        let Some(source) = schemes.iter().find(|scheme| scheme.name == *question) else {
            let names: Vec<&str> = schemes.iter().map(|scheme| scheme.name.as_str()).collect();
            let message = format!("`{name}` depends on `{question}`, and there is no such question");
            cx.report(
                Diagnostic::error(Code::UnknownName, *span, message)
                    .help(format!("there are {}", names.join(", "))),
            );
            can_be_tested = false;
            continue;
        };
        can_be_tested &= check_test(cx, condition, source, *span);
    }
    can_be_tested
}

fn check_test(cx: &Context<'_>, condition: &AnswerCondition, source: &TaskScheme, span: SourceSpan) -> bool {
    let question = &condition.question;
    let labels: Option<Vec<String>> = match &source.kind {
        TaskSchemeKind::Choice { labels, .. } => Some(labels.clone()),
        TaskSchemeKind::Pairwise { labels, tie_label, .. } => {
            Some(labels.iter().chain(tie_label).cloned().collect())
        }
        TaskSchemeKind::Likert { .. } | TaskSchemeKind::Slider { .. } => None,
        TaskSchemeKind::Text { .. }
            if matches!(condition.test, AnswerTest::Answered | AnswerTest::Unanswered) =>
        {
            None
        }
        TaskSchemeKind::Text { .. } | TaskSchemeKind::Rubric { .. } | TaskSchemeKind::Trajectory(_) => {
            let message = format!("answers to `{question}` are not tested: this question is always asked");
            let diagnostic = Diagnostic::warning(Code::Unsupported, span, message);
            cx.report(
                diagnostic.help("a condition looks at questions with labels, likert scales and sliders"),
            );
            return false;
        }
    };
    if let (
        Some(labels),
        AnswerTest::Is { values, case_sensitive } | AnswerTest::IsNot { values, case_sensitive },
    ) = (&labels, &condition.test)
    {
        let is_same = |label: &String, value: &String| {
            label == value || (!case_sensitive && label.to_lowercase() == value.to_lowercase())
        };
        if let Some(value) = values.iter().find(|value| !labels.iter().any(|label| is_same(label, value))) {
            let message = format!("`{value}` is not an answer of `{question}`");
            let names: Vec<&str> = labels.iter().map(String::as_str).collect();
            cx.report(
                Diagnostic::error(Code::UnknownName, span, message)
                    .help(format!("there are {}", names.join(", "))),
            );
            return false;
        }
    }
    true
}

/// A question that depends on itself, by whatever way, would never be asked.
fn report_circles(cx: &Context<'_>, found: &BTreeMap<String, PlacedCondition>) {
    for (name, read) in found {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = vec![name];
        while let Some(one) = open.pop() {
            let sources = found.get(one).into_iter().flat_map(|read| &read.condition.conditions);
            for condition in sources {
                if condition.question == *name {
                    let message = format!("`{name}` depends on itself, so that it would never be asked");
                    read.spans.iter().take(1).for_each(|span| cx.error(Code::Cycle, *span, message.clone()));
                    return;
                }
                if seen.insert(&condition.question) {
                    open.push(&condition.question);
                }
            }
        }
    }
}
