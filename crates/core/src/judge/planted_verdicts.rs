//! Texts in the judge input that look like an answer. A reply that only repeats one of them is no answer.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};

use super::author_reply_shape::own_entry;
use super::objects::{
    FoundObject, comparable_object, fold_for_comparison, objects_with_key, parse_reply_bool, reply_objects,
};
use super::reply::{
    bare_word, chosen_label, find_requirement, read_reply_quotes, read_scale_value, reply_reason,
    stated_choice, stated_value,
};
use super::reply_schema::{AnswerSchema, ReplySchema};

/// The answers that a candidate or its sender put where a judge reads.
#[derive(Debug, Clone, Default)]
pub struct PlantedContent {
    objects: Vec<Map<String, Json>>,
    /// The same objects in a spelling by which they are compared.
    spellings: HashSet<String>,
    /// Short texts, each of which could be a choice.
    words: Vec<String>,
    /// Texts with braces, to tell a broken object that the judge quotes from one that it wrote.
    texts: Vec<String>,
    /// Whether what is graded gives a grade itself.
    pub(super) is_in_candidate: bool,
}

/// No choice has a longer name.
const MAX_WORD: usize = 200;

/// The meaning of an answer: its position on the scale or its label, and its reason.
#[derive(Debug, Clone, PartialEq)]
struct AnswerMeaning {
    value: MeaningValue,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum MeaningValue {
    Unsure,
    /// In units of 1e-9; what is one such unit apart is the same.
    Unit(i64),
    Label(String),
}

impl MeaningValue {
    /// All values that mean the same.
    fn equals(&self) -> Vec<Self> {
        match self {
            Self::Unit(unit) => (unit - 1..=unit + 1).map(Self::Unit).collect(),
            other => vec![other.clone()],
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

impl PlantedContent {
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
        let has_verdict = found.iter().any(|found: &FoundObject| found.is_verdict);
        for found in found {
            self.add_object(found.object);
        }
        let word = text.trim();
        if (1..=MAX_WORD).contains(&word.len()) {
            self.words.push(fold_for_comparison(&bare_word(word)));
        }
        if text.contains('{') {
            self.texts.push(text.to_owned());
        }
        has_verdict
    }

    /// Adds the answers in a text that the rubric's author quotes from elsewhere, such as an example of a response.
    pub(super) fn add_quoted_text(&mut self, text: &str) {
        for found in reply_objects(text) {
            self.add_object(found.object);
        }
    }

    /// Many copies of one object are one object.
    fn add_object(&mut self, object: Map<String, Json>) {
        if self.objects.last() != Some(&object) {
            self.spellings.insert(comparable_object(&object));
            self.objects.push(object);
        }
    }

    /// Adds the answers that a text gives in the author's own shape.
    pub(super) fn add_own_shape(&mut self, text: &str, items: &[(String, AnswerSchema)]) {
        let is_own_key = |key: &str| items.iter().any(|(_, item)| item.own_key.as_deref() == Some(key));
        for found in objects_with_key(text, &is_own_key) {
            for (id, item) in items {
                if let Some(mut entry) = own_entry(item, &found.object) {
                    entry.insert("id".to_owned(), id.as_str().into());
                    self.add_object(entry);
                }
            }
        }
    }

    /// Whether a word is all that some text says.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.words.contains(&fold_for_comparison(&bare_word(word)))
    }

    /// Whether a stretch of a reply is copied from the material.
    pub(super) fn has_text(&self, stretch: &str) -> bool {
        self.texts.iter().any(|text| text.contains(stretch))
    }

    /// Whether an object is in the material, however it is spelt.
    fn has_object(&self, object: &Map<String, Json>) -> bool {
        !self.objects.is_empty() && self.spellings.contains(&comparable_object(object))
    }

    /// What the planted objects mean as answers to this form.
    pub(super) fn answers_to<'a>(&'a self, form: &'a ReplySchema) -> PlantedAnswers<'a> {
        let of_item =
            |item: &AnswerSchema| MeaningIndex::new(&self.objects, &|map| answer_meaning(map, item));
        let meanings = match form {
            ReplySchema::Answer(item) => vec![of_item(item)],
            ReplySchema::Answers(items) => items.iter().map(|(_, item)| of_item(item)).collect(),
            ReplySchema::Choice { labels } => {
                vec![MeaningIndex::new(&self.objects, &|map| label_meaning(map, labels))]
            }
            ReplySchema::Claims | ReplySchema::Verdicts { .. } | ReplySchema::Steps => Vec::new(),
        };
        let entries = self.objects.iter().filter_map(|entry| entry_meaning(form, entry)).collect();
        PlantedAnswers { planted: self, form, meanings, entries }
    }
}

/// What was planted, by its meaning for one form, so that an answer is looked up and not compared with all of them.
#[derive(Debug)]
pub(super) struct PlantedAnswers<'a> {
    planted: &'a PlantedContent,
    form: &'a ReplySchema,
    /// For each criterion that is asked about.
    meanings: Vec<MeaningIndex>,
    /// What planted claims and verdicts on requirements mean.
    entries: HashSet<String>,
}

impl PlantedAnswers<'_> {
    /// How much of an answer to the form is the judge's own.
    pub(super) fn echo(&self, map: &Map<String, Json>) -> Echo {
        match self.form {
            ReplySchema::Answer(item) => self.echo_on(0, item, map),
            ReplySchema::Choice { labels } => {
                self.echo_of(map, label_meaning(map, labels), &self.meanings[0], None)
            }
            _ if self.planted.has_object(map) => Echo::Whole,
            _ => Echo::Own,
        }
    }

    /// The same for an answer to the criterion at this place of the form, where the id says which it is.
    pub(super) fn echo_on(&self, at: usize, item: &AnswerSchema, map: &Map<String, Json>) -> Echo {
        self.echo_of(map, answer_meaning(map, item), &self.meanings[at], answer_criterion_id(map))
    }

    fn echo_of(
        &self,
        map: &Map<String, Json>,
        own: Option<AnswerMeaning>,
        meanings: &MeaningIndex,
        id: Option<&str>,
    ) -> Echo {
        let Some(own) = own else {
            return if self.planted.has_object(map) { Echo::Whole } else { Echo::Own };
        };
        let reasons = meanings.reasons(&own.value, id);
        let has_reason = |all: &[&HashSet<String>]| all.iter().any(|reasons| reasons.contains(&own.reason));
        // The same words stay a copy under the name of another criterion.
        let is_copied = !own.reason.is_empty() && has_reason(&meanings.reasons(&own.value, None));
        if is_copied || has_reason(&reasons) || self.planted.has_object(map) {
            Echo::Whole
        } else if own.reason.is_empty() && !reasons.is_empty() {
            Echo::Bare
        } else {
            Echo::Own
        }
    }

    /// Whether an entry of a list is an object of the material, or means the same.
    pub(super) fn has_entry(&self, entry: &Json) -> bool {
        let means_the_same = |entry: &Map<String, Json>| {
            entry_meaning(self.form, entry).is_some_and(|meaning| self.entries.contains(&meaning))
        };
        entry.as_object().is_some_and(|entry| self.planted.has_object(entry) || means_the_same(entry))
    }

    /// Whether a word is all that some text says.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.planted.has_word(word)
    }

    /// Whether a stretch of a reply is copied from the material.
    pub(super) fn has_text(&self, stretch: &str) -> bool {
        self.planted.has_text(stretch)
    }
}

/// The reasons that planted objects give for a value, by the id of the criterion that they name.
#[derive(Debug, Default)]
struct MeaningIndex {
    of_id: HashMap<(MeaningValue, Option<String>), HashSet<String>>,
    of_any: HashMap<MeaningValue, HashSet<String>>,
}

impl MeaningIndex {
    fn new(
        objects: &[Map<String, Json>],
        meaning: &dyn Fn(&Map<String, Json>) -> Option<AnswerMeaning>,
    ) -> Self {
        let mut index = Self::default();
        for object in objects {
            let Some(AnswerMeaning { value, reason }) = meaning(object) else { continue };
            index.of_any.entry(value.clone()).or_default().insert(reason.clone());
            index
                .of_id
                .entry((value, answer_criterion_id(object).map(str::to_owned)))
                .or_default()
                .insert(reason);
        }
        index
    }

    /// An answer that names a criterion may have the value of objects that name it or none; any other one of all.
    fn reasons(&self, value: &MeaningValue, id: Option<&str>) -> Vec<&HashSet<String>> {
        let same = value.equals().into_iter();
        match id {
            None => same.filter_map(|value| self.of_any.get(&value)).collect(),
            Some(id) => same
                .flat_map(|value| [(value.clone(), None), (value, Some(id.to_owned()))])
                .filter_map(|key| self.of_id.get(&key))
                .collect(),
        }
    }
}

fn answer_criterion_id(map: &Map<String, Json>) -> Option<&str> {
    map.get("id").and_then(Json::as_str)
}

fn answer_meaning(map: &Map<String, Json>, item: &AnswerSchema) -> Option<AnswerMeaning> {
    let value = match stated_value(map, item)? {
        None => MeaningValue::Unsure,
        Some(stated) => {
            let value = read_scale_value(stated, item).ok()?;
            let unit = item.scale.unit(&value).ok()?;
            match value {
                crate::rubric::Value::Text(label) => MeaningValue::Label(label),
                _ => MeaningValue::Unit((unit * 1e9).round() as i64),
            }
        }
    };
    Some(AnswerMeaning { value, reason: fold_for_comparison(&reply_reason(map)) })
}

fn label_meaning(map: &Map<String, Json>, labels: &[String]) -> Option<AnswerMeaning> {
    let label = chosen_label(stated_choice(map)?.as_str()?, labels)?;
    Some(AnswerMeaning { value: MeaningValue::Label(label), reason: fold_for_comparison(&reply_reason(map)) })
}

/// What a claim or a verdict on a requirement says, whatever other keys it has.
fn entry_meaning(form: &ReplySchema, entry: &Map<String, Json>) -> Option<String> {
    let truth = |key: &str| entry.get(key).and_then(parse_reply_bool);
    match form {
        ReplySchema::Claims => {
            let claim = fold_for_comparison(entry.get("claim")?.as_str()?);
            Some(format!("{}: {claim}", truth("supported")?))
        }
        ReplySchema::Verdicts { requirements, .. } => {
            let at = find_requirement(entry.get("requirement").unwrap_or(&Json::Null), requirements)?;
            let quote = read_reply_quotes(entry.get("evidence")).into_iter().next().unwrap_or_default();
            Some(format!("{at} {}: {}", truth("satisfied")?, fold_for_comparison(&quote)))
        }
        ReplySchema::Answer(_)
        | ReplySchema::Answers(_)
        | ReplySchema::Choice { .. }
        | ReplySchema::Steps => None,
    }
}
