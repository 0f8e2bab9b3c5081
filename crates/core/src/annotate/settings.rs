//! How a task is given out, and how work on it is watched.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::ItemAnswerKey;
use crate::suite;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnnotationSettings {
    /// Number of annotators per item; if absent, every annotator answers every item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotators_per_item: Option<u32>,
    /// Overlap sample: the share of items that several people answer. One person answers each other item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// Annotators per item of the overlap sample; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap_annotators: Option<u32>,
    /// Maximum number of items per annotator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<u32>,
    /// After this time without activity, the item is assigned to another annotator.
    pub stale_minutes: u32,
    /// Whether annotators may edit submitted items.
    pub back_navigation: bool,
    /// Whether annotators see the weighted score during annotation.
    pub shows_score: bool,
    /// Whether annotators see the descriptions of criteria.
    pub shows_descriptions: bool,
    /// Order in which an annotator gets items.
    pub order: AssignmentOrder,
    /// Items that every annotator answers first. The correct answers are shown after submission.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub training: Vec<ItemAnswerKey>,
    /// Items with known answers, mixed in unmarked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gold: Vec<ItemAnswerKey>,
    /// Attention checks: items that every attentive reader answers correctly, mixed in unmarked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attention: Vec<ItemAnswerKey>,
    /// Number of items between two attention or gold items.
    pub check_every: u32,
    /// Minimum time per item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seconds: Option<f64>,
    /// Code that annotators see at the end and enter on the crowd platform that sent them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_code: Option<String>,
    /// Whether people may join by an id in the address, as from crowd platforms.
    pub crowd: bool,
    /// Blinding: annotators see answers of other people and of judges only after their own.
    pub blind: bool,
    /// Annotators whose answers are stored and not used: not in disputes, agreement, results and labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<ExcludedAnnotator>,
}

/// An annotator whose answers are not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExcludedAnnotator {
    /// Id of the annotator's account.
    pub account: String,
    /// Why the answers are not used; absent if no reason was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Order in which an annotator gets items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AssignmentOrder {
    /// Items with the fewest annotators first, then in the order of the data.
    #[default]
    Balanced,
    /// The order of the data: items are finished one after the other.
    Fixed,
    /// A random order for each annotator.
    Random,
}

/// What a file knows of an item; the dialect has looked at its shape.
fn to_item_answer_key(known: &suite::KnownItem) -> Option<ItemAnswerKey> {
    let answers = serde_json::from_value(serde_json::Value::Object(known.answers.clone())).ok()?;
    Some(ItemAnswerKey { item: known.item.clone(), answers, tolerance: None, why: known.why.clone() })
}

/// Why settings make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(pub String);

impl Default for AnnotationSettings {
    fn default() -> Self {
        Self {
            annotators_per_item: None,
            overlap: None,
            overlap_annotators: None,
            quota: None,
            stale_minutes: 60,
            back_navigation: true,
            shows_score: false,
            shows_descriptions: true,
            order: AssignmentOrder::default(),
            training: Vec::new(),
            gold: Vec::new(),
            attention: Vec::new(),
            check_every: 10,
            min_seconds: None,
            completion_code: None,
            crowd: false,
            blind: true,
            excluded: Vec::new(),
        }
    }
}

impl AnnotationSettings {
    /// What a file says about it.
    pub fn of(annotation: &suite::AnnotationTask) -> Self {
        let default = Self::default();
        let known = |purpose: suite::KnownItemPurpose| {
            let of = annotation.known.iter().filter(|known| known.purpose == purpose);
            of.filter_map(to_item_answer_key).collect()
        };
        Self {
            annotators_per_item: annotation.annotators_per_item,
            quota: annotation.quota,
            stale_minutes: annotation.stale_minutes.unwrap_or(default.stale_minutes),
            back_navigation: annotation.allow_back_navigation,
            shows_score: annotation.shows_score,
            shows_descriptions: annotation.show_criteria_descriptions,
            order: match annotation.order {
                None | Some(suite::ItemOrder::Balanced) => AssignmentOrder::Balanced,
                Some(suite::ItemOrder::Fixed) => AssignmentOrder::Fixed,
                Some(suite::ItemOrder::Random) => AssignmentOrder::Random,
            },
            training: known(suite::KnownItemPurpose::Training),
            gold: known(suite::KnownItemPurpose::Gold),
            attention: known(suite::KnownItemPurpose::Attention),
            check_every: annotation.check_every.unwrap_or(default.check_every),
            min_seconds: annotation.min_seconds,
            completion_code: annotation.completion_code.clone(),
            crowd: annotation.crowd,
            ..default
        }
    }

    /// Known answers of training, gold and attention items.
    pub fn answer_keys(&self) -> impl Iterator<Item = &ItemAnswerKey> {
        self.training.iter().chain(&self.gold).chain(&self.attention)
    }

    pub fn check(&self) -> Result<(), BadSettings> {
        let bad = |why: &str| Err(BadSettings(why.to_owned()));
        if self.overlap.is_some_and(|overlap| !(0.0..=1.0).contains(&overlap)) {
            return bad("`overlap` is a share of the items, from 0 to 1");
        }
        if [self.annotators_per_item, self.overlap_annotators, self.quota].contains(&Some(0)) {
            return bad("`annotators_per_item`, `overlap_annotators` and `quota` are 1 or more");
        }
        if !(1..=60 * 24 * 90).contains(&self.stale_minutes) {
            return bad("`stale_minutes` is from 1 to 129600, which is 90 days");
        }
        if self.check_every == 0 {
            return bad("`check_every` is 1 or more");
        }
        if self.min_seconds.is_some_and(|min_second| !min_second.is_finite() || min_second < 0.0) {
            return bad("`min_seconds` is 0 or more");
        }
        if !self.blind {
            return bad("`blind` is always true: annotators who see other answers are influenced by them");
        }
        let mut items: Vec<&str> =
            self.answer_keys().map(|item_answer_key| item_answer_key.item.as_str()).collect();
        items.sort_unstable();
        if let Some(pair) = items.windows(2).find(|item| item[0] == item[1]) {
            return Err(BadSettings(format!(
                "the item `{}` appears twice among training, gold and attention",
                pair[0]
            )));
        }
        if let Some(it) = self.answer_keys().find(|item_answer_key| item_answer_key.answers.is_empty()) {
            return Err(BadSettings(format!("the item `{}` has no reference answers", it.item)));
        }
        if self.answer_keys().any(|item_answer_key| {
            item_answer_key.tolerance.is_some_and(|tolerance| !tolerance.is_finite() || tolerance < 0.0)
        }) {
            return bad("`tolerance` is 0 or more, in points of the scale");
        }
        Ok(())
    }

    /// How many people an item wants; 0 is everybody. Which items overlap is decided by their names, so that it stays.
    pub fn annotators_wanted(&self, candidate: &str) -> u32 {
        let overlap = self.overlap_annotators.unwrap_or(2);
        match (self.overlap, self.annotators_per_item) {
            (Some(share), per_item) => {
                let hash = blake3::hash(candidate.as_bytes());
                let chance = u32::from_le_bytes(hash.as_bytes()[..4].try_into().expect("4 bytes"));
                if f64::from(chance) / f64::from(u32::MAX) < share { overlap } else { per_item.unwrap_or(1) }
            }
            (None, per_item) => per_item.unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_overlaps_is_the_one_that_was_asked_for() {
        let settings = AnnotationSettings {
            overlap: Some(0.2),
            overlap_annotators: Some(3),
            ..AnnotationSettings::default()
        };
        let wanted: Vec<u32> = (0..2000).map(|n| settings.annotators_wanted(&format!("trace_{n}"))).collect();
        let n_overlapping = wanted.iter().filter(|wanted| **wanted == 3).count();
        assert!((330..=470).contains(&n_overlapping), "{n_overlapping}");
        assert!(wanted.iter().all(|wanted| [1, 3].contains(wanted)));
        assert_eq!(AnnotationSettings::default().annotators_wanted("a"), 0, "everybody, by default");
    }

    #[test]
    fn settings_that_make_no_sense_say_why() {
        let check = |settings: AnnotationSettings, expected: &str| {
            assert!(settings.check().unwrap_err().to_string().contains(expected));
        };
        check(AnnotationSettings { overlap: Some(1.5), ..AnnotationSettings::default() }, "`overlap`");
        check(AnnotationSettings { quota: Some(0), ..AnnotationSettings::default() }, "`quota`");
        check(AnnotationSettings { blind: false, ..AnnotationSettings::default() }, "always true");
        assert_eq!(AnnotationSettings::default().check(), Ok(()));
    }
}
