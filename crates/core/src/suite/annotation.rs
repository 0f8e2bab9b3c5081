//! What people are asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{DataRow, ShowCondition};
use crate::quantity::plural;
use crate::rubric::Rubric;

/// What people are asked to do, and with which data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnnotationTask {
    pub name: Option<String>,
    pub description: Option<String>,
    pub data_files: Vec<String>,
    /// Their rows.
    pub rows: Vec<DataRow>,
    pub id_key: Option<String>,
    pub text_key: Option<String>,
    /// How an item is drawn, as the file says it.
    pub display: Map<String, Value>,
    /// Words that are marked in the texts of items.
    pub keywords: Vec<Keyword>,
    /// A file with more of them.
    pub keyword_file: Option<KeywordFile>,
    pub schemes: Vec<TaskScheme>,
    pub allow_back_navigation: bool,
    pub show_criteria_descriptions: bool,
    /// Whether people see the weighted score as it grows.
    pub shows_score: bool,
    pub annotators_per_item: Option<u32>,
    /// Items that each person answers at most.
    pub quota: Option<u32>,
    pub order: Option<ItemOrder>,
    /// Items of which the answers are known.
    pub known: Vec<KnownItem>,
    /// Where those stand.
    pub known_files: Vec<(KnownItemPurpose, String)>,
    /// Number of items between two attention or gold items.
    pub check_every: Option<u32>,
    /// Minimum time per item.
    pub min_seconds: Option<f64>,
    pub stale_minutes: Option<u32>,
    pub completion_code: Option<String>,
    /// Whether people come by an id in the address.
    pub crowd: bool,
    pub output_path: Option<String>,
    pub output_format: Option<String>,
}

impl AnnotationTask {
    /// The words that are marked, those of the file included.
    pub fn list_keywords(&self) -> impl Iterator<Item = &Keyword> {
        let of_file = self.keyword_file.iter().flat_map(|file| &file.keywords);
        self.keywords.iter().chain(of_file)
    }
}

/// A word or phrase that is marked in the texts of items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keyword {
    /// Word or phrase, found as whole words in any case. `*` stands for further letters and digits.
    pub word: String,
    /// What the word stands for; absent if there is no label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A file of words that are marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeywordFile {
    pub path: String,
    pub keywords: Vec<Keyword>,
}

/// Order in which an annotator gets items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemOrder {
    Balanced,
    Fixed,
    Random,
}

/// What an item with known answers is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownItemPurpose {
    Training,
    Gold,
    Attention,
}

/// An item with known answers.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownItem {
    pub purpose: KnownItemPurpose,
    pub item: String,
    pub row: DataRow,
    /// By scheme, as the file has them.
    pub answers: Map<String, Value>,
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskScheme {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
    /// When it is asked; always by default.
    pub shown_when: Option<ShowCondition>,
    pub kind: TaskSchemeKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TaskSchemeKind {
    Rubric {
        rubric: Arc<Rubric>,
        overall: Option<Overall>,
        notes: Option<Notes>,
        /// Whether a criterion may be said not to apply, or not to be decidable.
        may_skip: bool,
    },
    Trajectory(Trajectory),
    Pairwise {
        items_key: String,
        labels: Vec<String>,
        tie_label: Option<String>,
    },
    Likert {
        size: u32,
        min_label: Option<String>,
        max_label: Option<String>,
    },
    /// Whole numbers between two ends, `step` apart.
    Slider {
        min: i64,
        max: i64,
        step: u32,
        /// Position of the handle before it is moved.
        start: Option<i64>,
        min_label: Option<String>,
        max_label: Option<String>,
    },
    /// One of the labels, or several; `dropdown` only changes how it is drawn.
    Choice {
        labels: Vec<String>,
        dropdown: bool,
        many: bool,
        /// Of the number of chosen labels.
        limits: AnswerLimits,
    },
    Text {
        multiline: bool,
        placeholder: Option<String>,
        /// Of the number of characters, without white space at both ends.
        limits: AnswerLimits,
    },
}

/// Smallest and largest number of labels or characters in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AnswerLimits {
    /// Smallest number; absent if there is no lower limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Largest number; absent if there is no upper limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

impl AnswerLimits {
    /// Whether every number is allowed.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// Why an answer with `n` labels or characters is refused; `None` if it is allowed.
    pub fn find_violation(&self, n: usize, unit: &str) -> Option<String> {
        let (min, max) = (self.min.map(|min| min as usize), self.max.map(|max| max as usize));
        if min.is_none_or(|min| min <= n) && max.is_none_or(|max| n <= max) {
            return None;
        }
        let allowed = match (min, max) {
            (Some(min), Some(max)) if min == max => format!("exactly {}", plural(min, unit)),
            (Some(min), Some(max)) => format!("{min} to {}", plural(max, unit)),
            (Some(min), None) => format!("at least {}", plural(min, unit)),
            (None, Some(max)) => format!("at most {}", plural(max, unit)),
            (None, None) => return None,
        };
        Some(format!("{allowed} expected, {n} given"))
    }
}

/// An overall rating in addition to those of the criteria; not part of the weighted score.
#[derive(Debug, Clone, PartialEq)]
pub struct Overall {
    pub label: Option<String>,
    pub description: Option<String>,
    pub levels: BTreeMap<i64, String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Notes {
    pub label: Option<String>,
    pub placeholder: Option<String>,
}

/// Every step is marked; wrong ones get a kind of error and a severity.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    pub steps_key: String,
    pub step_text_key: String,
    /// The first one means correct.
    pub marks: Vec<String>,
    pub errors: Vec<StepErrorCategory>,
    pub severities: Vec<StepErrorSeverity>,
    /// Start value of the running score.
    pub initial: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StepErrorCategory {
    pub category: String,
    pub types: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StepErrorSeverity {
    pub name: String,
    /// Its absolute value is subtracted from the running score.
    pub weight: f64,
}
