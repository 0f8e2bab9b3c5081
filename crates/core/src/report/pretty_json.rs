//! JSON on several lines.

use serde::Serialize;

/// The text that `serde_json::to_string_pretty` writes.
///
/// serde writes the code of a type again for each way of writing it. So the compact text, which nearly every type is
/// written as somewhere, is made first, and its lines are broken afterwards.
pub fn format_pretty_json<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    Ok(break_json_lines(&serde_json::to_string(value)?))
}

/// `compact` is JSON without spaces outside of texts.
fn break_json_lines(compact: &str) -> String {
    let mut text = String::with_capacity(compact.len() + compact.len() / 2);
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    let mut letters = compact.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_text {
            text.push(letter);
            is_text = is_escaped || letter != '"';
            is_escaped = !is_escaped && letter == '\\';
            continue;
        }
        match letter {
            '{' | '[' => {
                text.push(letter);
                let end = if letter == '{' { '}' } else { ']' };
                if letters.next_if_eq(&end).is_some() {
                    text.push(end);
                } else {
                    depth += 1;
                    begin_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                begin_line(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(letter);
                begin_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            letter => {
                text.push(letter);
                is_text = letter == '"';
            }
        }
    }
    text
}

fn begin_line(text: &mut String, depth: usize) {
    text.push('\n');
    for _ in 0..depth {
        text.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_those_of_serde() {
        for value in [
            json!(null),
            json!("a, [b]: {c} \" \\"),
            json!([]),
            json!({}),
            json!([1, -2.5, 1e300, true, null, "", [], {}, [[]], [{}]]),
            json!({"a\"b:{": "c\\", "d\\\\": ["\\\"", "\n,\u{1}ß"], "e": {"f": {"g": []}, "h": {}}, "": [[1, [2]], 3]}),
        ] {
            let wanted = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(format_pretty_json(&value).unwrap(), wanted);
        }
    }
}
