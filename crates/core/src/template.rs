//! Names between double braces in a text, and how such a text is written that names nothing.
//!
//! `{{ env.X }}` is filled in when a file is read, `{{ row.x }}` when a case meets its row.
//! `{{ "{{" }}` stands for two opening braces, so that what follows them stays text; Jinja and its relatives
//! read it in the same way.

use serde_json::Value;

/// Written for two opening braces that are text.
pub const ESCAPE: &str = r#"{{ "{{" }}"#;

/// The text between the braces of [`ESCAPE`].
const ESCAPE_NAME: &str = r#""{{""#;

/// Whether a name is the escape for two opening braces.
pub fn is_escape(name: &str) -> bool {
    name == ESCAPE_NAME
}

/// Replaces `{{ name }}` where `with` knows the name, and leaves everything else unchanged.
pub fn replace(text: &str, mut with: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, end)) = find_braces(rest) {
        out.push_str(&rest[..start]);
        match with(name_in_braces(&rest[start..end])) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[start..end]),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// The text with `{{ name }}` written so that it stays text, for every name that `is_text` picks.
///
/// ```
/// use jurist_core::template::{escape_braces, resolve_escapes};
///
/// let written = escape_braces("{{ row.x }} {{ env.X }}", |name| name.starts_with("row."));
/// assert_eq!(written, r#"{{ "{{" }} row.x }} {{ env.X }}"#);
/// assert_eq!(resolve_escapes(&written), "{{ row.x }} {{ env.X }}");
/// ```
pub fn escape_braces(text: &str, is_text: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, end)) = find_braces(rest) {
        if is_text(name_in_braces(&rest[start..end])) {
            out.push_str(&rest[..start]);
            out.push_str(ESCAPE);
            // What follows the opening braces is read on its own, so it is looked at again.
            rest = &rest[start + 2..];
        } else {
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    out
}

/// The text with `{{` for every [`ESCAPE`]; names stay unchanged.
pub fn resolve_escapes(text: &str) -> String {
    replace(text, |name| is_escape(name).then(|| "{{".to_owned()))
}

/// Calls `each` with every text in a value, keys aside; the first error ends it.
pub fn try_for_each_text<E>(
    value: &mut Value,
    each: &mut impl FnMut(&mut String) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().try_for_each(|item| try_for_each_text(item, each)),
        Value::Object(map) => map.values_mut().try_for_each(|item| try_for_each_text(item, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Where the first pair of double braces starts and ends.
fn find_braces(text: &str) -> Option<(usize, usize)> {
    let start = text.find("{{")?;
    let len = text[start + 2..].find("}}")?;
    Some((start, start + 2 + len + 2))
}

fn name_in_braces(braces: &str) -> &str {
    braces[2..braces.len() - 2].trim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_row_or_escape(name: &str) -> bool {
        name.starts_with("row.") || is_escape(name)
    }

    #[test]
    fn an_escaped_text_names_nothing_and_is_the_same_text() {
        for text in [
            "{{ row.x }}",
            "{{row.x}}{{ row.y }}",
            "{{ row. {{ row.x }} }}",
            r#"{{ "{{" }} row.x }}"#,
            r#"{{ row. {{ "{{" }}"#,
            "{{{ row.x }}}",
            "{{{{ row.x }}",
            "{{ open",
        ] {
            check_escaped(text);
        }
    }

    fn check_escaped(text: &str) {
        let written = escape_braces(text, is_row_or_escape);
        replace(&written, |name| {
            assert!(!name.starts_with("row."), "{text} becomes {written}");
            None
        });
        assert_eq!(resolve_escapes(&written), text, "{written}");
    }

    proptest! {
        #[test]
        fn any_text_can_be_escaped(pieces in proptest::collection::vec(0..9_usize, 0..12)) {
            const PIECES: [&str; 9] = ["{{", "}}", "{", "}", " ", "row.x", "\"", "{{ \"{{\" }}", "a"];
            check_escaped(&pieces.iter().map(|&at| PIECES[at]).collect::<String>());
        }
    }
}
