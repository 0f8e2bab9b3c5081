//! Actions written as text: `name({...})`, `name(key='value')`, `Search[query]`, or a bare name.

use serde_json::{Map, Value};

use crate::candidate::trace::ToolCall;

/// A call as text; what is in the brackets and is neither JSON nor `key=value` is in `input`.
pub(super) fn parse_action_call(text: &str) -> Option<ToolCall> {
    let text = text.trim();
    let open = text.find(['(', '['])?;
    let close = if text[open..].starts_with('(') { ')' } else { ']' };
    let name = text[..open].trim();
    let inside = text[open + 1..].strip_suffix(close)?.trim();
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_alphanumeric() || "_-.: ".contains(letter))
        && !name.contains("  ");
    is_name.then(|| ToolCall { name: name.to_owned(), arguments: arguments(inside), ..ToolCall::default() })
}

fn arguments(inside: &str) -> Map<String, Value> {
    if inside.is_empty() {
        return Map::new();
    }
    match serde_json::from_str(inside) {
        Ok(Value::Object(map)) => return map,
        Ok(other) => return [("input".to_owned(), other)].into_iter().collect(),
        Err(_) => {}
    }
    keywords(inside).unwrap_or_else(|| [("input".to_owned(), Value::from(inside))].into_iter().collect())
}

/// `a='x', b=2`: every part has a key.
fn keywords(text: &str) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    for part in split(text) {
        let (key, value) = part.split_once('=')?;
        let key = key.trim();
        if key.is_empty() || !key.chars().all(|letter| letter.is_alphanumeric() || letter == '_') {
            return None;
        }
        map.insert(key.to_owned(), parse_literal(value.trim())?);
    }
    Some(map)
}

/// Splits at commas outside of quotes and brackets.
pub(super) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote, mut escaped) = (Vec::new(), 0, 0_i32, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// A value as Python or JSON writes it.
pub(crate) fn parse_literal(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let mut rest = text.trim();
    let value = python(&mut rest, 0)?;
    rest.trim().is_empty().then_some(value)
}

/// How deep a literal may nest.
const MAX_DEPTH: usize = 64;

fn python(rest: &mut &str, depth: usize) -> Option<Value> {
    *rest = rest.trim_start();
    for (word, value) in [("True", Value::Bool(true)), ("False", Value::Bool(false)), ("None", Value::Null)] {
        if let Some(after) = rest.strip_prefix(word) {
            *rest = after;
            return Some(value);
        }
    }
    match rest.chars().next()? {
        _ if MAX_DEPTH < depth => None,
        quote @ ('\'' | '"') => python_text(rest, quote).map(Value::from),
        '[' | '(' => {
            let close = if rest.starts_with('[') { ']' } else { ')' };
            let mut items = Vec::new();
            parse_python_sequence(rest, close, |rest| {
                items.push(python(rest, depth + 1)?);
                Some(())
            })?;
            Some(Value::Array(items))
        }
        '{' => {
            let mut map = Map::new();
            parse_python_sequence(rest, '}', |rest| {
                let key = python(rest, depth + 1)?;
                *rest = rest.trim_start().strip_prefix(':')?;
                let value = python(rest, depth + 1)?;
                map.insert(key.as_str().map_or_else(|| key.to_string(), str::to_owned), value);
                Some(())
            })?;
            Some(Value::Object(map))
        }
        _ => {
            let len = rest
                .find(|letter: char| !(letter.is_ascii_alphanumeric() || "+-._".contains(letter)))
                .unwrap_or(rest.len());
            let value = serde_json::from_str(&rest[..len]).ok()?;
            *rest = &rest[len..];
            Some(value)
        }
    }
}

fn parse_python_sequence(
    rest: &mut &str,
    close: char,
    mut item: impl FnMut(&mut &str) -> Option<()>,
) -> Option<()> {
    *rest = &rest[1..];
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(close) {
            *rest = after;
            return Some(());
        }
        item(rest)?;
        *rest = rest.trim_start();
        *rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}

fn python_text(rest: &mut &str, quote: char) -> Option<String> {
    let mut out = String::new();
    let mut chars = rest[1..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                kind @ ('x' | 'u' | 'U') => {
                    let mut ahead = chars.clone();
                    match read_code_point(&mut ahead, kind) {
                        Some(sign) => {
                            out.push(sign);
                            chars = ahead;
                        }
                        None => out.push(kind),
                    }
                }
                other => out.push(other),
            },
            _ if c == quote => {
                *rest = &rest[1 + at + c.len_utf8()..];
                return Some(out);
            }
            other => out.push(other),
        }
    }
    None
}

/// The sign of `\xa0` or `\u200b`: Python writes signs so that cannot be seen.
fn read_code_point(rest: &mut std::str::CharIndices<'_>, kind: char) -> Option<char> {
    let n_digits = match kind {
        'x' => 2,
        'u' => 4,
        _ => 8,
    };
    let digits: String = rest.take(n_digits).map(|(_, digit)| digit).collect();
    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
}
