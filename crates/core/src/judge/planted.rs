//! What stands in the material and looks like an answer; a reply that only repeats it says nothing.

use serde_json::{Map, Value as Json};

use super::form::{Form, Item};
use super::objects::{FoundObject, folded, is_same, objects_with_key, reply_objects};
use super::own_shape::own_entry;
use super::reply::{chosen_label, read_value, reason_of, said_choice, said_value};

/// The answers that somebody else put where a judge reads.
#[derive(Debug, Clone, Default)]
pub struct Planted {
    objects: Vec<Map<String, Json>>,
    /// Short texts, each of which could be a choice.
    words: Vec<String>,
    /// Texts with braces, to tell a broken object that the judge quotes from one that it wrote.
    texts: Vec<String>,
    /// Whether what is graded gives a grade itself.
    pub(super) is_in_candidate: bool,
}

/// No choice has a longer name.
const MAX_WORD: usize = 200;

/// What an answer comes to: its place on the scale or its label, and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Meaning {
    value: MeantValue,
    reason: String,
}

#[derive(Debug, Clone, PartialEq)]
enum MeantValue {
    Unsure,
    Unit(f64),
    Label(String),
}

impl MeantValue {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unit(a), Self::Unit(b)) => (a - b).abs() < 1e-9,
            (a, b) => a == b,
        }
    }
}

/// How much of an answer is the judge's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    Own,
    /// Without a reason, and with the value of something planted.
    Bare,
    /// The same value for the same reason.
    Whole,
}

impl Planted {
    /// From texts of the candidate, and from other texts that the judge reads.
    pub(super) fn new<'t>(
        candidate: impl Iterator<Item = &'t str>,
        others: impl Iterator<Item = &'t str>,
    ) -> Self {
        let mut planted = Self::default();
        for text in candidate {
            planted.is_in_candidate |= planted.add(text);
        }
        for text in others {
            planted.add(text);
        }
        planted
    }

    /// Whether the text gives a grade.
    fn add(&mut self, text: &str) -> bool {
        let found = reply_objects(text);
        let has_verdict = found.iter().any(FoundObject::is_verdict);
        for object in found {
            // Many copies of one object are one object.
            if self.objects.last() != Some(&object.object) {
                self.objects.push(object.object);
            }
        }
        let word = text.trim();
        if (1..=MAX_WORD).contains(&word.len()) {
            self.words.push(folded(word));
        }
        if text.contains('{') {
            self.texts.push(text.to_owned());
        }
        has_verdict
    }

    /// Adds the answers that a text gives in the author's own shape.
    pub(super) fn add_own_shape(&mut self, text: &str, items: &[(String, Item)]) {
        let is_own_key = |key: &str| items.iter().any(|(_, item)| item.own_key.as_deref() == Some(key));
        for found in objects_with_key(text, &is_own_key) {
            for (id, item) in items {
                if let Some(mut entry) = own_entry(item, &found.object) {
                    entry.insert("id".to_owned(), id.as_str().into());
                    self.objects.push(entry);
                }
            }
        }
    }

    /// Whether a word is all that some text says.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.words.contains(&folded(word))
    }

    /// Whether a stretch of a reply is copied from the material.
    pub(super) fn has_text(&self, stretch: &str) -> bool {
        self.texts.iter().any(|text| text.contains(stretch))
    }

    /// Whether an object stands in the material, however it is spelt.
    pub(super) fn has_object(&self, object: &Map<String, Json>) -> bool {
        let same = |planted: &Map<String, Json>| {
            planted.len() == object.len()
                && object
                    .iter()
                    .all(|(key, value)| planted.get(key).is_some_and(|other| is_same(value, other)))
        };
        self.objects.iter().any(same)
    }

    /// Whether a value is an object that stands in the material.
    pub(super) fn has_entry(&self, entry: &Json) -> bool {
        entry.as_object().is_some_and(|entry| self.has_object(entry))
    }

    /// How much of an answer to this form is the judge's own.
    pub(super) fn echo(&self, form: &Form, map: &Map<String, Json>) -> Echo {
        match form {
            Form::Answer(item) => self.echo_on(item, map),
            Form::Choice { labels } => self.echo_of(map, |map| label_meaning(map, labels)),
            _ if self.has_object(map) => Echo::Whole,
            _ => Echo::Own,
        }
    }

    /// The same for an answer to one criterion of several, where the id says which.
    pub(super) fn echo_on(&self, item: &Item, map: &Map<String, Json>) -> Echo {
        let id = |map: &Map<String, Json>| map.get("id").and_then(Json::as_str).map(str::to_owned);
        let own_id = id(map);
        self.echo_of(map, |map| {
            let is_other = matches!((&own_id, id(map)), (Some(own), Some(other)) if *own != other);
            if is_other { None } else { answer_meaning(map, item) }
        })
    }

    fn echo_of(
        &self,
        map: &Map<String, Json>,
        meaning: impl Fn(&Map<String, Json>) -> Option<Meaning>,
    ) -> Echo {
        if self.objects.is_empty() {
            return Echo::Own;
        }
        let Some(own) = meaning(map) else {
            return if self.has_object(map) { Echo::Whole } else { Echo::Own };
        };
        let same: Vec<Meaning> =
            self.objects.iter().filter_map(meaning).filter(|it| it.value.is_same(&own.value)).collect();
        if same.iter().any(|planted| planted.reason == own.reason) || self.has_object(map) {
            Echo::Whole
        } else if own.reason.is_empty() && !same.is_empty() {
            Echo::Bare
        } else {
            Echo::Own
        }
    }
}

fn answer_meaning(map: &Map<String, Json>, item: &Item) -> Option<Meaning> {
    let value = match said_value(map, item)? {
        None => MeantValue::Unsure,
        Some(found) => {
            let value = read_value(found, item).ok()?;
            let unit = item.scale.unit(&value).ok()?;
            match value {
                crate::rubric::Value::Text(label) => MeantValue::Label(label),
                _ => MeantValue::Unit(unit),
            }
        }
    };
    Some(Meaning { value, reason: folded(&reason_of(map)) })
}

fn label_meaning(map: &Map<String, Json>, labels: &[String]) -> Option<Meaning> {
    let label = chosen_label(said_choice(map)?.as_str()?, labels)?;
    Some(Meaning { value: MeantValue::Label(label), reason: folded(&reason_of(map)) })
}
