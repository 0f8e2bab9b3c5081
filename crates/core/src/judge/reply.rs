//! Reads a judge's reply: the answer it gives, or exactly why it gives none.
//!
//! Nothing is taken by luck: a missing, off-scale or half-written answer is malformed, never a number.

use serde_json::{Map, Value as Json};

use super::form::{Form, Item};
use super::objects::{Planted, complete_objects};
use crate::grade::Failure;
use crate::rubric::{OffScale, Scale, Value};

/// What a judge said, in the shape it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Answer(Answer),
    /// By id, each criterion that was asked about once.
    Answers(Vec<(String, Result<Answer, Malformed>)>),
    Choice {
        label: String,
        reason: String,
    },
    Claims(Vec<(String, bool)>),
    /// In the order of the requirements; `None` where the judge left one out.
    Verdicts(Vec<Option<(bool, String)>>),
    Steps(Vec<String>),
}

/// An answer on a scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// `None`: the judge cannot tell.
    pub value: Option<Value>,
    pub reason: String,
    /// Quotes as the judge wrote them; whether they stand anywhere is another question.
    pub quotes: Vec<String>,
}

/// Why a reply holds no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Malformed {
    #[error("the reply is empty")]
    Empty,
    #[error("the reply holds no complete JSON object")]
    NotJson,
    #[error("the only answer in the reply also stands in what was graded")]
    Planted,
    #[error("the reply was cut off; `max_tokens` may be too low")]
    CutOff,
    #[error("the reply has no `{0}`")]
    Missing(&'static str),
    #[error("`{key}` is {found}, not {wanted}")]
    WrongType { key: &'static str, found: String, wanted: &'static str },
    #[error(transparent)]
    OffScale(OffScale),
    #[error("`{found}` is none of {}", allowed.join(", "))]
    UnknownChoice { found: String, allowed: Vec<String> },
    #[error("the reply gives no reason, which this rubric requires")]
    NoReason,
    #[error("no answer for criterion `{0}`")]
    LeftOut(String),
    #[error("criterion `{0}` is answered twice")]
    Twice(String),
    #[error("`{0}` holds an object where a plain answer belongs")]
    Nested(String),
}

impl Malformed {
    pub fn failure(&self) -> Failure {
        if matches!(self, Self::OffScale(_)) { Failure::OffScale } else { Failure::Malformed }
    }
}

impl Form {
    /// What a reply says; nothing in it that only repeats what was graded counts.
    pub(super) fn read(&self, text: &str, planted: &Planted) -> Result<Reply, Malformed> {
        let text = spoken(text)?;
        let all = complete_objects(text).ok_or(Malformed::NotJson)?;
        let is_answer = |it: &&Map<String, Json>| self.keys().iter().any(|key| it.contains_key(*key));
        let own = |it: &&Map<String, Json>| !planted.objects.iter().any(|json| json.as_object() == Some(*it));
        let maps: Vec<&Map<String, Json>> = all.iter().filter_map(Json::as_object).collect();
        // The last one: what stands before it is quoted or thought aloud.
        match maps.iter().copied().filter(is_answer).rfind(own) {
            Some(map) => self.read_map(map),
            None if maps.iter().any(is_answer) => Err(Malformed::Planted),
            None if maps.is_empty() && planted.words.iter().any(|it| it == text) => Err(Malformed::Planted),
            None if maps.is_empty() => self.read_word(text),
            None => Err(Malformed::Missing(self.keys()[0])),
        }
    }

    /// Keys that hold the answer: ours, and those of replies made for other tools.
    fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::Answer(item) => item_keys(item),
            Self::Answers(_) => &["criteria"],
            Self::Choice { .. } => &["verdict", "choice"],
            Self::Claims => &["claims"],
            Self::Verdicts { .. } => &["verdicts"],
            Self::Steps => &["steps"],
        }
    }

    /// A choice may be said in a word of its own.
    fn read_word(&self, text: &str) -> Result<Reply, Malformed> {
        match self {
            Self::Choice { labels } if !text.is_empty() => {
                let label = chosen(text, labels).ok_or(Malformed::NotJson)?;
                Ok(Reply::Choice { label, reason: String::new() })
            }
            _ if text.is_empty() => Err(Malformed::Empty),
            _ => Err(Malformed::NotJson),
        }
    }

    fn read_map(&self, map: &Map<String, Json>) -> Result<Reply, Malformed> {
        let list = |key: &'static str| {
            let wrong = |found: &Json| wrong_type(key, found, "a list");
            map.get(key).map_or(Err(Malformed::Missing(key)), |it| it.as_array().ok_or_else(|| wrong(it)))
        };
        Ok(match self {
            Self::Answer(item) => Reply::Answer(answer(map, item)?),
            Self::Answers(items) => {
                let entries: Vec<&Map<String, Json>> =
                    list("criteria")?.iter().filter_map(Json::as_object).collect();
                Reply::Answers(
                    items.iter().map(|(id, item)| (id.clone(), of_id(id, item, &entries))).collect(),
                )
            }
            Self::Choice { labels } => {
                let found = self.keys().iter().find_map(|it| map.get(*it)).unwrap_or(&Json::Null);
                let word =
                    found.as_str().ok_or_else(|| wrong_type("verdict", found, "one of the choices"))?;
                let unknown = || Malformed::UnknownChoice { found: word.to_owned(), allowed: labels.clone() };
                Reply::Choice { label: chosen(word, labels).ok_or_else(unknown)?, reason: reason(map) }
            }
            Self::Claims => Reply::Claims(list("claims")?.iter().map(claim).collect::<Result<_, _>>()?),
            Self::Verdicts { requirements, again } => {
                let all = verdicts(list("verdicts")?, requirements)?;
                if !again && all.iter().all(Option::is_none) {
                    return Err(Malformed::Missing("verdicts"));
                }
                Reply::Verdicts(all)
            }
            Self::Steps => {
                let steps: Vec<String> =
                    list("steps")?.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
                if steps.is_empty() {
                    return Err(Malformed::Missing("steps"));
                }
                Reply::Steps(steps)
            }
        })
    }
}

/// The reply without what a model thought before it spoke; some say only where their thoughts end.
fn spoken(text: &str) -> Result<&str, Malformed> {
    let text = text.trim();
    let thinks = text.starts_with("<think>");
    match text.split_once("</think>") {
        Some((thought, rest)) if thinks || !thought.contains('{') => Ok(rest.trim()),
        None if thinks => Err(Malformed::CutOff),
        _ => Ok(text),
    }
}

fn item_keys(item: &Item) -> &'static [&'static str] {
    match item.scale {
        Scale::Binary => &["verdict", "pass", "pass_", "unsure"],
        Scale::Choices(_) => &["verdict", "choice", "unsure"],
        Scale::Unit | Scale::Likert { .. } | Scale::Ranges(_) => &["score", "unsure"],
    }
}

fn answer(map: &Map<String, Json>, item: &Item) -> Result<Answer, Malformed> {
    let known = ["reasoning", "reason", "evidence", "id"];
    // An object under a key that nobody asked for may be somebody else's answer wrapped around this one.
    if let Some(key) = map.iter().find(|(key, it)| it.is_object() && !known.contains(&key.as_str())) {
        return Err(Malformed::Nested(key.0.clone()));
    }
    let (reason, quotes) = (reason(map), quotes(map.get("evidence")));
    if item.reasoning && reason.trim().is_empty() {
        return Err(Malformed::NoReason);
    }
    if item.unsure && map.get("unsure").is_some_and(|it| truth(it) == Some(true)) {
        return Ok(Answer { value: None, reason, quotes });
    }
    let found = item_keys(item).iter().filter(|it| **it != "unsure").find_map(|it| map.get(*it));
    let found = found.filter(|it| !it.is_null()).ok_or(Malformed::Missing(item.key()))?;
    let value = value(found, item)?;
    item.scale.unit(&value).map_err(Malformed::OffScale)?;
    Ok(Answer { value: Some(value), reason, quotes })
}

/// The value on its scale; the scale itself says whether it is on it.
fn value(found: &Json, item: &Item) -> Result<Value, Malformed> {
    let wrong = |wanted| wrong_type(item.key(), found, wanted);
    match (&item.scale, found) {
        (Scale::Binary, it) => match (truth(it), it.as_f64()) {
            (Some(it), _) => Ok(Value::Bool(it)),
            (None, Some(it)) => Ok(Value::Number(it)),
            _ => Err(wrong("true or false")),
        },
        (Scale::Choices(choices), Json::String(word)) => {
            let labels: Vec<String> = choices.iter().map(|it| it.label.clone()).collect();
            let label = chosen(word, &labels);
            label.map(Value::Text).ok_or(Malformed::UnknownChoice { found: word.clone(), allowed: labels })
        }
        (Scale::Choices(_), _) => Err(wrong("one of the choices")),
        (Scale::Unit, Json::Bool(it)) => Ok(Value::Number(f64::from(u8::from(*it)))),
        (_, Json::Bool(it)) => Ok(Value::Bool(*it)),
        // A number in quotes is a number; `8/10` and `high` are not.
        (_, Json::String(text)) => match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Number(number)),
            _ => Err(wrong("a number")),
        },
        (_, Json::Number(number)) => number.as_f64().map(Value::Number).ok_or_else(|| wrong("a number")),
        _ => Err(wrong("a number")),
    }
}

/// `true` and `false`, also in quotes; nothing else is either.
fn truth(value: &Json) -> Option<bool> {
    match value {
        Json::Bool(it) => Some(*it),
        Json::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The label that is meant: as written, or whatever its case and last full stop, if only one is meant.
fn chosen(word: &str, labels: &[String]) -> Option<String> {
    let bare = |it: &str| it.trim().trim_matches(['"', '\'', '`']).trim_end_matches('.').to_lowercase();
    if let Some(label) = labels.iter().find(|it| *it == word.trim()) {
        return Some(label.clone());
    }
    let mut meant = labels.iter().filter(|it| bare(it) == bare(word));
    meant.next().filter(|_| meant.next().is_none()).cloned()
}

fn reason(map: &Map<String, Json>) -> String {
    let text = ["reasoning", "reason"].iter().find_map(|it| map.get(*it)?.as_str());
    text.unwrap_or_default().to_owned()
}

fn quotes(value: Option<&Json>) -> Vec<String> {
    let all: Vec<&str> = match value {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(items)) => items.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|it| !it.trim().is_empty()).map(str::to_owned).collect()
}

fn of_id(id: &str, item: &Item, entries: &[&Map<String, Json>]) -> Result<Answer, Malformed> {
    let mut own = entries.iter().filter(|it| it.get("id").and_then(Json::as_str) == Some(id));
    match (own.next(), own.next()) {
        (None, _) => Err(Malformed::LeftOut(id.to_owned())),
        (Some(_), Some(_)) => Err(Malformed::Twice(id.to_owned())),
        (Some(map), None) => answer(map, item),
    }
}

fn claim(entry: &Json) -> Result<(String, bool), Malformed> {
    let text = entry["claim"].as_str().ok_or(Malformed::Missing("claim"))?;
    let supported = entry.get("supported").ok_or(Malformed::Missing("supported"))?;
    let wrong = || wrong_type("supported", supported, "true or false");
    Ok((text.to_owned(), truth(supported).ok_or_else(wrong)?))
}

/// By number or by their text; what nobody required is not counted.
fn verdicts(entries: &[Json], requirements: &[String]) -> Result<Vec<Option<(bool, String)>>, Malformed> {
    let mut all: Vec<Option<(bool, String)>> = vec![None; requirements.len()];
    for entry in entries {
        let named = &entry["requirement"];
        let at = match named {
            Json::Null if requirements.len() == 1 => Some(0),
            Json::Number(it) => it.as_u64().and_then(|it| usize::try_from(it).ok()?.checked_sub(1)),
            Json::String(text) => requirements.iter().position(|it| it.trim() == text.trim()),
            _ => None,
        };
        let Some(place) = at.and_then(|it| all.get_mut(it)) else { continue };
        let satisfied = entry.get("satisfied").ok_or(Malformed::Missing("satisfied"))?;
        let wrong = || wrong_type("satisfied", satisfied, "true or false");
        let satisfied = truth(satisfied).ok_or_else(wrong)?;
        if place.as_ref().is_some_and(|it| it.0 != satisfied) {
            return Err(Malformed::Twice(requirements[at.unwrap_or_default()].clone()));
        }
        *place = Some((satisfied, entry["evidence"].as_str().unwrap_or_default().to_owned()));
    }
    Ok(all)
}

fn wrong_type(key: &'static str, found: &Json, wanted: &'static str) -> Malformed {
    let found: String = found.to_string().chars().take(80).collect();
    Malformed::WrongType { key, found, wanted }
}
