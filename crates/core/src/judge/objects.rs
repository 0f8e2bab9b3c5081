//! JSON objects in a text: those of a reply, and those that were planted for it.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

/// What stands in the material and looks like an answer; a reply that only repeats it says nothing.
#[derive(Debug, Clone, Default)]
pub struct Planted {
    pub(super) objects: Vec<Json>,
    pub(super) words: Vec<String>,
}

/// Openings that are looked at; more are no text but an attempt to keep us busy.
const MAX_TRIES: usize = 100_000;

/// The JSON objects of a reply, outermost only. `None` if one of them is broken or left open: a part of a
/// broken answer is not the answer.
pub(super) fn complete_objects(text: &str) -> Option<Vec<Json>> {
    let (mut found, mut at) = (Vec::new(), 0);
    for _ in 0..MAX_TRIES {
        let Some((start, read)) = next_object(text, at) else { break };
        match read {
            Ok((value, end)) => {
                at = end;
                found.push(value);
            }
            Err(NotRead::Other) => at = start + 1,
            Err(NotRead::Broken) => return None,
        }
    }
    Some(found)
}

/// Every JSON object that can be read anywhere in a text, whatever stands around it.
pub(super) fn objects(text: &str) -> Vec<Json> {
    let (mut found, mut at) = (Vec::new(), 0);
    for _ in 0..MAX_TRIES {
        let Some((start, read)) = next_object(text, at) else { break };
        at = start + 1;
        if let Ok((value, end)) = read {
            at = end;
            found.push(value);
        }
    }
    found
}

enum NotRead {
    /// It begins like an object and does not end like one.
    Broken,
    Other,
}

/// An object and where it ends.
type ReadObject = Result<(Json, usize), NotRead>;

/// The next opening brace, and what stands there: an object and where it ends, or none.
fn next_object(text: &str, from: usize) -> Option<(usize, ReadObject)> {
    let start = from + text[from..].find('{')?;
    let inside = text[start + 1..].trim_start();
    if !inside.starts_with(['"', '}']) {
        return Some((start, Err(if inside.is_empty() { NotRead::Broken } else { NotRead::Other })));
    }
    let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Strict>();
    let read = match stream.next() {
        Some(Ok(Strict(value))) => Ok((value, start + stream.byte_offset())),
        _ => Err(NotRead::Broken),
    };
    Some((start, read))
}

/// JSON in which no object has a key twice: of two answers neither is the judge's.
struct Strict(Json);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, it: bool) -> Result<Json, E> {
        Ok(Json::Bool(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_u64<E>(self, it: u64) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_f64<E>(self, it: f64) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_str<E>(self, it: &str) -> Result<Json, E> {
        Ok(it.into())
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(it)) = seq.next_element()? {
            all.push(it);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut all = Map::new();
        while let Some((key, Strict(value))) = map.next_entry::<String, Strict>()? {
            if all.insert(key, value).is_some() {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(Json::Object(all))
    }
}
