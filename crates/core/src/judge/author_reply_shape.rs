//! The reply shape that an author wrote into a rubric's text, such as `Output JSON: {"tone": int, "reasoning": string}`.
//!
//! A prompt shows our shape only: a judge that reads two shapes may follow either. A reply in the author's shape is
//! read all the same.

use std::ops::Range;

use serde_json::{Map, Value as Json};

use super::reply::{read_scale_value, reply_reason};
use super::reply_schema::{AnswerSchema, ReplySchema};
use crate::rubric::{Rubric, WHOLE};

/// What takes the place of the author's shape in a prompt.
const PLACEHOLDER: &str = "(the shape is given at the end)";

/// Prompts hold no longer shape.
const MAX_SHAPE: usize = 4096;

/// Whether the author asks for a reply that names the criteria as its keys.
pub(super) fn has_own_shape(rubric: &Rubric) -> bool {
    let mut texts = [&rubric.description, &rubric.prompt].into_iter().flatten();
    texts.any(|text| find_own_shape(text, rubric).is_some())
}

/// A text of the rubric as judges read it.
pub(super) fn hide_own_shape(text: &str, rubric: &Rubric) -> String {
    let mut masked = text.to_owned();
    if let Some(range) = find_own_shape(text, rubric) {
        masked.replace_range(range, PLACEHOLDER);
    }
    masked
}

/// The last object of a text that has all criteria as keys.
fn find_own_shape(text: &str, rubric: &Rubric) -> Option<Range<usize>> {
    if !text.contains('{') {
        return None;
    }
    let mut keys: Vec<String> = rubric.questions().map(|question| question.criterion.id.clone()).collect();
    keys.dedup();
    if keys.is_empty() || keys.iter().any(|key| key == WHOLE) {
        return None;
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    let (mut openings, mut last) = (Vec::new(), None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => openings.push(at),
            b'}' => {
                let Some(start) = openings.pop().filter(|start| at - start < MAX_SHAPE) else { continue };
                let object = &text[start..=at];
                let is_object = object[1..].trim_start().starts_with('"');
                if is_object && keys.iter().all(|key| object.contains(key)) {
                    last = Some(start..at + 1);
                }
            }
            _ => {}
        }
    }
    last
}

/// A reply in the author's shape as one in ours; `None` if it is not in the author's shape.
pub(super) fn read_own_shape(form: &ReplySchema, map: &Map<String, Json>) -> Option<Map<String, Json>> {
    match form {
        ReplySchema::Answer(item) if !map.contains_key(item.key()) => own_entry(item, map),
        ReplySchema::Answers(items) if !map.contains_key("criteria") => {
            let entry = |(id, item): &(String, AnswerSchema)| {
                let mut entry = own_entry(item, map)?;
                entry.insert("id".to_owned(), id.as_str().into());
                Some(Json::Object(entry))
            };
            let entries: Vec<Json> = items.iter().map(entry).collect::<Option<_>>()?;
            Some(Map::from_iter([("criteria".to_owned(), Json::Array(entries))]))
        }
        _ => None,
    }
}

/// What an object says about one criterion. A value that is not on the scale is data with the same name, not an answer.
pub(super) fn own_entry(item: &AnswerSchema, map: &Map<String, Json>) -> Option<Map<String, Json>> {
    let value = map.get(item.own_key.as_ref()?)?;
    item.scale.unit(&read_scale_value(value, item).ok()?).ok()?;
    let mut entry = Map::from_iter([
        (item.key().to_owned(), value.clone()),
        ("reasoning".to_owned(), reply_reason(map).into()),
    ]);
    entry.extend(map.get("evidence").map(|quotes| ("evidence".to_owned(), quotes.clone())));
    Some(entry)
}
