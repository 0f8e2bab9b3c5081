//! Texts in which the fields of a row, or variables of the environment, are filled in.

use std::collections::BTreeSet;

use serde_json::Value;

use super::DataRow;
use super::stored_output::{OUTPUT_PREFIX, STORED_OUTPUTS, with_stored_outputs};
use crate::diagnostic::closest;
use crate::rubric::{CriterionKind, Rubric};
use crate::template;

/// What a template names and a row does not fill in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfilled {
    #[error("the row has no field `{field}`; {hint}")]
    Missing { field: String, hint: String },
    /// There is such a field, and this is not how it is named.
    #[error("`{{{{ {0} }}}}` is not defined; a field of the row is `{{{{ row.{0} }}}}`")]
    NoRow(String),
    #[error("no output is stored as `{0}`")]
    NoOutput(String),
    #[error("with the row filled in, the text has more than {MAX_FILLED_BYTES} bytes")]
    TooLong,
}

/// A text that names a long field very often must not fill the memory.
pub const MAX_FILLED_BYTES: usize = 64 << 20;

impl Unfilled {
    fn new(name: &str, row: &DataRow) -> Self {
        if let Some(output) = name.strip_prefix(OUTPUT_PREFIX) {
            return Self::NoOutput(output.to_owned());
        }
        let field = name.strip_prefix("row.").unwrap_or(name);
        if row_value(row, field).is_some() {
            return Self::NoRow(field.to_owned());
        }
        let known: Vec<&str> = row.keys().map(String::as_str).filter(|key| *key != STORED_OUTPUTS).collect();
        let hint = match closest(field, &known) {
            Some(meant) => format!("did you mean `row.{meant}`?"),
            None => format!("it has {}", known.join(", ")),
        };
        Self::Missing { field: field.to_owned(), hint }
    }
}

/// Replaces `{{ row.field }}` by the row's value; text as it is, everything else as JSON. Without a row, only
/// escapes are resolved. `{{ outputs.NAME }}` is replaced if the row has stored outputs; in a plan it has none yet.
pub fn fill(text: &str, row: Option<&DataRow>) -> Result<String, Unfilled> {
    let (mut unfilled, mut n_bytes) = (None, 0);
    let has_fields = row.is_some_and(|row| row.keys().any(|key| key != STORED_OUTPUTS));
    let filled = template::replace(text, |name| {
        if template::is_escape(name) {
            return Some("{{".to_owned());
        }
        let row = row?;
        if unfilled == Some(Unfilled::TooLong) {
            return None;
        }
        let value = match name.strip_prefix(OUTPUT_PREFIX) {
            Some(output) => Some(row.get(STORED_OUTPUTS)?.get(output)),
            None => name.strip_prefix("row.").map(|field| row_value(row, field)),
        };
        match value {
            Some(Some(value)) => {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                n_bytes += value.len();
                if n_bytes <= MAX_FILLED_BYTES {
                    return Some(value);
                }
                unfilled = Some(Unfilled::TooLong);
                return None;
            }
            Some(None) => {}
            None if is_name(name) && has_fields => {}
            None => return None,
        }
        unfilled.get_or_insert_with(|| Unfilled::new(name, row));
        None
    });
    unfilled.map_or(Ok(filled), Err)
}

/// The text for a person who reads it: as it is where the row cannot fill it.
pub fn fill_for_reader(text: &str, row: Option<&DataRow>) -> String {
    fill(text, row).unwrap_or_else(|_| text.to_owned())
}

/// The value of a field; dots lead into what is nested.
fn row_value<'a>(row: &'a DataRow, field: &str) -> Option<&'a Value> {
    let mut keys = field.split('.');
    let first = row.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// Whether something between braces looks like a field that was to be filled in. Variables of the environment are
/// filled in by others.
pub fn is_name(text: &str) -> bool {
    let starts = text.starts_with(|text: char| text.is_alphabetic() || text == '_');
    starts
        && !text.starts_with("env.")
        && text.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}

fn texts_of<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Value::Object(map) => map.values().for_each(|value| texts_of(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Texts of a rubric that rows fill in when a judge is asked.
pub(super) fn rubric_templates(rubric: &Rubric) -> Vec<&str> {
    let mut texts: Vec<&str> = rubric.description.as_deref().into_iter().collect();
    for question in rubric.questions() {
        texts.push(&question.criterion.description);
        texts.extend(question.node.map(|node| node.ask.as_str()));
        if let CriterionKind::Recipe(method) = &question.criterion.ask {
            method.params.values().for_each(|value| texts_of(value, &mut texts));
        }
    }
    texts.retain(|text| text.contains("{{"));
    texts
}

/// Checks that a row has every field and every stored output that a rubric's texts name. The rubric's own prompt may
/// have other ways to deal with a field that is missing.
pub fn require_row_fields(rubric: &Rubric, row: &DataRow) -> Result<(), Unfilled> {
    let row = with_stored_outputs(row.clone(), DataRow::new());
    rubric_templates(rubric).into_iter().try_for_each(|text| fill(text, Some(&row)).map(drop))
}

/// The first field of a row, or stored output, that a rubric's texts or its own prompt name between braces, such as
/// `row.unit`.
pub fn find_row_field(rubric: &Rubric) -> Option<String> {
    let mut first = None;
    for text in rubric_templates(rubric).into_iter().chain(rubric.prompt.as_deref()) {
        template::replace(text, |name| {
            if first.is_none() && (name.starts_with("row.") || name.starts_with(OUTPUT_PREFIX)) {
                first = Some(name.to_owned());
            }
            None
        });
    }
    first
}

/// The fields of a row that a rubric's texts and its own prompt name.
pub fn named_row_fields(rubric: &Rubric) -> BTreeSet<String> {
    let texts = rubric_templates(rubric).into_iter().chain(rubric.prompt.as_deref());
    let is_part = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    let named = |text: &str| -> Vec<String> {
        let after = text.split("row").skip(1).map(|part| part.trim_start_matches(['.', '[', '"', '\'']));
        after
            .map(|after| after.split(|letter: char| !is_part(letter)).next().unwrap_or_default().to_owned())
            .collect()
    };
    texts.flat_map(named).filter(|text| !text.is_empty()).collect()
}

/// What `{{ env.NAME }}` or `{{ env.NAME | default("text") }}` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvironmentVariable<'a> {
    pub name: &'a str,
    /// The value if the variable is not set.
    pub default: Option<&'a str>,
}

/// What follows the name of a variable and is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not understood after the name of a variable; only `default(\"…\")` may follow it")]
pub struct UnknownFilter(String);

impl<'a> EnvironmentVariable<'a> {
    /// Parses the text between braces; `None` if it is no variable of the environment.
    pub fn parse(text: &'a str) -> Option<Result<Self, UnknownFilter>> {
        let text = text.strip_prefix("env.")?;
        let Some((name, filter)) = text.split_once('|') else {
            return Some(Ok(Self { name: text, default: None }));
        };
        let filter = filter.trim();
        let inner = filter.strip_prefix("default").map(str::trim_start);
        let inner = inner.and_then(|inner| inner.strip_prefix('(')?.strip_suffix(')')).map(str::trim);
        let quoted = |quote: char| inner?.strip_prefix(quote)?.strip_suffix(quote);
        let default = quoted('"').or_else(|| quoted('\''));
        let default = default.filter(|default| !default.contains(['"', '\'']));
        Some(match default {
            Some(_) => Ok(Self { name: name.trim_end(), default }),
            None => Err(UnknownFilter(filter.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::{Criterion, Draft, Scale};

    #[test]
    fn a_long_field_that_is_named_often_is_refused() {
        let row = DataRow::from_iter([("a".to_owned(), "x".repeat(1 << 20).into())]);
        assert_eq!(fill(&"{{ row.a }}".repeat(100_000), Some(&row)), Err(Unfilled::TooLong));
        assert_eq!(fill(&"{{ row.a }}".repeat(60), Some(&row)).map(|text| text.len()), Ok(60 << 20));
    }

    #[test]
    fn templates_take_the_fields_of_their_row() {
        let row: DataRow = serde_json::from_str(r#"{"a": "x", "n": 2, "deep": {"b": true}}"#).unwrap();
        let check = |text: &str, expected: Result<&str, &str>| {
            let filled = fill(text, Some(&row)).map_err(|unfilled| unfilled.to_string());
            assert_eq!(filled, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        };
        check("{{ row.a }}-{{row.n}}", Ok("x-2"));
        check("{{ row.deep.b }}", Ok("true"));
        check("{{ env.X }} {{ a | b }} {{ open", Ok("{{ env.X }} {{ a | b }} {{ open"));
        check("{{ row.depe.b }}", Err("the row has no field `depe.b`; it has a, deep, n"));
        check("{{ row.c }}", Err("the row has no field `c`; it has a, deep, n"));
        check("{{ row.deeb }}", Err("the row has no field `deeb`; did you mean `row.deep`?"));
        check(r#"{{ "{{" }} row.c }} {{ row.n }}"#, Ok("{{ row.c }} 2"));
        check("{{other}}", Err("the row has no field `other`; it has a, deep, n"));
        check("{{ n }}", Err("`{{ n }}` is not defined; a field of the row is `{{ row.n }}`"));
    }

    #[test]
    fn without_a_row_only_escapes_are_resolved() {
        let text = r#"{{ "{{" }} row.a }} {{ row.b }} {{ c }}"#;
        assert_eq!(fill(text, None), Ok("{{ row.a }} {{ row.b }} {{ c }}".to_owned()));
    }

    #[test]
    fn a_rubric_says_which_fields_of_a_row_it_needs() {
        let rubric = |description: &str, prompt: Option<&str>| {
            let ask = CriterionKind::Question(Scale::Unit);
            let criteria = vec![Criterion::new("a", description, ask)];
            Rubric::new(Draft { criteria, prompt: prompt.map(str::to_owned), ..Draft::default() }).unwrap()
        };
        let needs = rubric("It is in {{ env.X }} {{ row.unit }}, {{ row.b }}.", None);
        assert_eq!(find_row_field(&needs).as_deref(), Some("row.unit"));
        let own_prompt = rubric("It is short.", Some("Grade {{ output }} by {{ row.b|upper }}."));
        assert_eq!(find_row_field(&own_prompt).as_deref(), Some("row.b|upper"));
        assert_eq!(find_row_field(&rubric(r#"No row, {{ "{{" }} row.unit }}."#, None)), None);
        let row: DataRow = serde_json::from_str(r#"{"unit": "km"}"#).unwrap();
        assert!(require_row_fields(&needs, &row).unwrap_err().to_string().contains("no field `b`"));
        assert_eq!(require_row_fields(&own_prompt, &row), Ok(()));
    }

    #[test]
    fn what_a_row_cannot_fill_stays_for_a_reader() {
        let row: DataRow = serde_json::from_str(r#"{"unit": "km"}"#).unwrap();
        assert_eq!(fill_for_reader("In {{ row.unit }}.", Some(&row)), "In km.");
        assert_eq!(fill_for_reader("In {{ row.other }}.", Some(&row)), "In {{ row.other }}.");
        assert_eq!(fill_for_reader(r#"In {{ "{{" }} row.unit }}."#, None), "In {{ row.unit }}.");
    }

    #[test]
    fn variables_of_the_environment_may_have_a_default() {
        let read = |text: &'static str| {
            let variable = EnvironmentVariable::parse(text)?;
            Some(
                variable
                    .map(|environment_variable| (environment_variable.name, environment_variable.default))
                    .map_err(|unknown_filter| unknown_filter.to_string()),
            )
        };
        assert_eq!(read("row.x"), None);
        assert_eq!(read("env.X"), Some(Ok(("X", None))));
        assert_eq!(read("env.X | default(\"a, b\")"), Some(Ok(("X", Some("a, b")))));
        assert_eq!(read("env.X|default ( '' )"), Some(Ok(("X", Some("")))));
        for wrong in
            ["env.X | upper", "env.X | default(y)", "env.X | default(\"a\" ~ \"b\")", "env.X | default(\")"]
        {
            assert!(read(wrong).unwrap().unwrap_err().contains("only `default("), "{wrong}");
        }
    }
}
