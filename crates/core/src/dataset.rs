//! Datasets: how a record becomes a case, which split a case is in, and how a version is named.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value as Json, json};

use crate::candidate::{JudgeInput, RecordError, RecordField, RecordFields};
use crate::dialect::DATASET_PREFIX;
use crate::judge::RecordKeys;
use crate::plan::hash_position;
use crate::template::{escape_braces, try_for_each_text};

/// Cases of one version.
pub const MAX_DATASET_CASES: usize = 100_000;

/// Bytes of one case as JSON: as many as a server accepts for a trace by default.
pub const MAX_CASE_BYTES: usize = 32 << 20;

/// The share of tasks in the split `test`, unless the dataset says otherwise.
pub const DEFAULT_TEST_SHARE: f64 = 0.2;

/// Letters of a key or a task; an id of a trace fits.
const MAX_NAME: usize = 256;

/// Letters of a title.
const MAX_TITLE: usize = 200;

/// Below it, each whole number is exact as a floating-point number.
pub const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The part of a dataset that a case belongs to. All cases of a task are in the same part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatasetSplit {
    Dev,
    Test,
}

impl DatasetSplit {
    pub const ALL: [Self; 2] = [Self::Dev, Self::Test];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for DatasetSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DatasetSplit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|split| split.as_str() == text);
        known.ok_or_else(|| format!("`{text}` is not a split; there are dev and test"))
    }
}

/// A dataset by its name, with a version and a split where they are chosen: `support@v3:test`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetReference {
    pub name: String,
    /// The newest one where it is absent.
    pub version: Option<u64>,
    /// All cases where it is absent.
    pub split: Option<DatasetSplit>,
}

/// Why a text does not name a dataset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDatasetReference {
    #[error("`{0}` does not name a dataset; write NAME, NAME@v3 or NAME@v3:test")]
    Malformed(String),
    #[error("`{reference}` names the split `{split}`; the splits are dev and test")]
    UnknownSplit { reference: String, split: String },
}

impl DatasetReference {
    /// What stands before a reference where a file may stand as well.
    pub const PREFIX: &'static str = DATASET_PREFIX;

    /// The reference in a text that begins with the prefix; `None` for any other text.
    ///
    /// ```
    /// use jurist_core::dataset::{DatasetReference, DatasetSplit};
    ///
    /// let found = DatasetReference::from_prefixed("dataset:support@v3:test").unwrap().unwrap();
    /// assert_eq!((found.name.as_str(), found.version, found.split), ("support", Some(3), Some(DatasetSplit::Test)));
    /// assert!(DatasetReference::from_prefixed("rows.jsonl").is_none());
    /// ```
    pub fn from_prefixed(text: &str) -> Option<Result<Self, BadDatasetReference>> {
        text.strip_prefix(Self::PREFIX).map(str::parse)
    }

    /// Whether a dataset may have this name: a reference with it alone reads as the name.
    pub fn is_plain_name(name: &str) -> bool {
        let read = name.parse::<Self>();
        read.is_ok_and(|read| read.name == name && read.version.is_none() && read.split.is_none())
    }
}

impl FromStr for DatasetReference {
    type Err = BadDatasetReference;

    fn from_str(text: &str) -> Result<Self, BadDatasetReference> {
        let bad = || BadDatasetReference::Malformed(text.to_owned());
        let named_split =
            text.rsplit_once(':').and_then(|(rest, word)| Some((rest, word.parse::<DatasetSplit>().ok()?)));
        let (rest, split) = named_split.map_or((text, None), |(rest, split)| (rest, Some(split)));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // Without a version it may be a name with a colon.
        let unknown_split = text.rsplit_once(':').filter(|(rest, _)| {
            split.is_none() && rest.rsplit_once("@v").is_some_and(|(_, digits)| is_number(digits))
        });
        if let Some((_, word)) = unknown_split {
            let (reference, split) = (text.to_owned(), word.to_owned());
            return Err(BadDatasetReference::UnknownSplit { reference, split });
        }
        let (name, version) = match rest.rsplit_once("@v").filter(|(_, digits)| is_number(digits)) {
            Some((name, digits)) => (name, Some(digits.parse::<u64>().map_err(|_| bad())?)),
            None => (rest, None),
        };
        if name.trim().is_empty() || version == Some(0) {
            return Err(bad());
        }
        Ok(Self { name: name.to_owned(), version, split })
    }
}

impl fmt::Display for DatasetReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(version) = self.version {
            write!(f, "@v{version}")?;
        }
        if let Some(split) = self.split {
            write!(f, ":{split}")?;
        }
        Ok(())
    }
}

/// A record as a case of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetCase {
    /// Unique within a version.
    pub key: String,
    /// Cases with the same task are in the same split.
    pub task: String,
    pub split: DatasetSplit,
    /// Beginning of the input, or of the output where there is no input.
    pub title: Option<String>,
    /// The record, with its key as `id`.
    pub record: Json,
}

/// Why a record cannot be a case.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadDatasetRecord {
    #[error("a record is a JSON object with at least one field")]
    Empty,
    #[error("`{0}` of a record is a text of 1 to {most} letters on one line, or a number", most = MAX_NAME)]
    Name(String),
    #[error("the record has {0} bytes; at most {most} are stored", most = MAX_CASE_BYTES)]
    TooLarge(usize),
    #[error(transparent)]
    Unreadable(#[from] RecordError),
}

/// How the tasks of a dataset are divided.
#[derive(Debug, Clone, Copy)]
pub struct SplitRule<'a> {
    /// Name of the dataset.
    pub dataset: &'a str,
    /// From 0 to 1.
    pub test_share: f64,
}

impl SplitRule<'_> {
    /// Decided by a hash, so that further cases never move others.
    pub fn split_of(&self, task: &str) -> DatasetSplit {
        match hash_position(self.dataset, task) < self.test_share {
            true => DatasetSplit::Test,
            false => DatasetSplit::Dev,
        }
    }

    /// The case that a record is. A field `split` of the record has no effect.
    pub fn build_case(&self, mut record: Json) -> Result<DatasetCase, BadDatasetRecord> {
        if record.as_object().is_none_or(Map::is_empty) {
            return Err(BadDatasetRecord::Empty);
        }
        let text = record.to_string();
        if MAX_CASE_BYTES < text.len() {
            return Err(BadDatasetRecord::TooLarge(text.len()));
        }
        let material = JudgeInput::from_record(&record, &RecordKeys::default())?;
        let fields = RecordFields::read(&record);
        let own_key = read_own_key(&fields)?;
        let is_keyed = own_key.is_some();
        let key = own_key.unwrap_or_else(|| short_hash(&text));
        // Where `task` is what was asked, and not the name of a task with an input, it is the input.
        let named_task = record.get("task").filter(|task| !task.is_null());
        let task = match named_task.filter(|_| fields.name(RecordField::Task) != Some("task")) {
            Some(task) => read_name("task", task)?,
            None if material.task.trim().is_empty() => key.clone(),
            None => short_hash(&normalize_input(&material.task)),
        };
        let title = build_title(&material.task).or_else(|| build_title(material.answer()));
        if let Some(map) = record.as_object_mut().filter(|_| !is_keyed) {
            map.insert("id".to_owned(), Json::from(key.as_str()));
        }
        Ok(DatasetCase { split: self.split_of(&task), key, task, title, record })
    }
}

/// The key that a record has by itself; a case without one gets a hash.
pub fn read_record_key(record: &Json) -> Result<Option<String>, BadDatasetRecord> {
    read_own_key(&RecordFields::read(record))
}

fn read_own_key(fields: &RecordFields<'_>) -> Result<Option<String>, BadDatasetRecord> {
    let id = fields.non_null_value(RecordField::Id);
    id.map(|id| read_name(fields.name(RecordField::Id).unwrap_or("id"), id)).transpose()
}

/// Spaces and letter case do not make another task.
fn normalize_input(input: &str) -> String {
    input.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

fn read_name(field: &str, value: &Json) -> Result<String, BadDatasetRecord> {
    let name = match value {
        Json::String(text) => text.trim().to_owned(),
        Json::Number(number) => format_number_name(number),
        _ => String::new(),
    };
    let is_right = (1..=MAX_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_right { Ok(name) } else { Err(BadDatasetRecord::Name(field.to_owned())) }
}

/// `7` and `7.0` are one name: a table may hold whole numbers as fractions, and a task must not change its split there.
fn format_number_name(number: &Number) -> String {
    let whole = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < MAX_EXACT_FLOAT);
    match whole.filter(|_| number.is_f64()) {
        Some(value) => format!("{value:.0}"),
        None => number.to_string(),
    }
}

/// The beginning of a text, on one line.
fn build_title(text: &str) -> Option<String> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut title: String = words.chars().take(MAX_TITLE).collect();
    if title.len() < words.len() {
        title.push('…');
    }
    (!title.is_empty()).then_some(title)
}

/// The fields in which two records differ, by name.
pub fn differing_fields(old: &Json, new: &Json) -> Vec<String> {
    let names = [old, new].into_iter().filter_map(Json::as_object).flat_map(Map::keys);
    let names: BTreeSet<&String> = names.collect();
    names.into_iter().filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

/// A case of a suite that is made from a dataset.
#[derive(Debug, Clone, Copy)]
pub struct SuiteCase<'a> {
    pub key: &'a str,
    pub split: DatasetSplit,
    pub record: &'a Json,
    /// Name of its rubric in the suite.
    pub rubric: &'a str,
}

/// Why a dataset cannot be written as a suite.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoDatasetSuite {
    #[error("case `{key}`: {error}")]
    Unreadable { key: String, error: RecordError },
    #[error("case `{0}` has neither an input nor an output")]
    NothingToGrade(String),
}

/// A suite in native spelling, in which each case is graded by its own rubric. Texts of records name nothing in it:
/// braces are escaped, and no text is read as the path of a file.
pub fn build_dataset_suite(
    name: &str,
    rubrics: &BTreeMap<String, Json>,
    cases: &[SuiteCase<'_>],
) -> Result<Json, NoDatasetSuite> {
    let evals = cases.iter().map(build_suite_eval).collect::<Result<Vec<Json>, _>>()?;
    Ok(json!({ "name": name, "rubrics": rubrics, "evals": evals }))
}

fn build_suite_eval(case: &SuiteCase<'_>) -> Result<Json, NoDatasetSuite> {
    let unreadable = |error| NoDatasetSuite::Unreadable { key: case.key.to_owned(), error };
    let material = JudgeInput::from_record(case.record, &RecordKeys::default()).map_err(unreadable)?;
    let trace = material.trace.as_ref().map(|trace| {
        let mut value = serde_json::to_value(trace).expect("a trace is plain data");
        escape_texts(&mut value);
        value
    });
    let has_output = material.response.is_some() || trace.is_some() || material.diff.is_some();
    if !has_output && material.task.is_empty() {
        return Err(NoDatasetSuite::NothingToGrade(case.key.to_owned()));
    }
    let mut eval = Map::new();
    let mut set = |key: &str, value: Json| eval.insert(key.to_owned(), value);
    set("name", escape_text(case.key).into());
    set("tags", json!([case.split.as_str()]));
    set("rubric", json!({ "ref": case.rubric }));
    if !material.task.is_empty() {
        set("input", escape_text(&material.task).into());
    }
    if !material.context.is_empty() {
        set("context", material.context.iter().map(|text| escape_text(text)).collect());
    }
    if let Some(mut reference) = material.raw_reference {
        escape_texts(&mut reference);
        set("expected", reference);
    }
    if let Some(response) = &material.response {
        set("response", escape_text(response).into());
    }
    if let Some(trace) = trace {
        set("trace", trace);
    }
    if let Some(diff) = &material.diff {
        set("diff", escape_text(diff).into());
    }
    Ok(Json::Object(eval))
}

/// A text as a suite writes it. There is no other spelling for a text that begins like a reference, so that it gets a
/// space before it.
fn escape_text(text: &str) -> String {
    let escaped = escape_braces(text, |_| true);
    match ["file://", "ref://"].iter().any(|prefix| escaped.starts_with(prefix)) {
        true => format!(" {escaped}"),
        false => escaped,
    }
}

fn escape_texts(value: &mut Json) {
    let Ok(()) = try_for_each_text(value, &mut |text: &mut String| {
        *text = escape_text(text);
        Ok::<(), Infallible>(())
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULE: SplitRule<'static> = SplitRule { dataset: "support", test_share: 0.5 };

    #[test]
    fn references_read_back() {
        for text in ["support", "support@v3", "support:dev", "a b/c@v12:test", "x@y", "a:b", "v@vx"] {
            let read: DatasetReference = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        for text in ["", " ", "@v3", "a@v0", ":test", "@v1:dev", "a@v99999999999999999999"] {
            assert!(text.parse::<DatasetReference>().is_err(), "{text}");
        }
        let error = "a@v1:train".parse::<DatasetReference>().unwrap_err();
        assert_eq!(error.to_string(), "`a@v1:train` names the split `train`; the splits are dev and test");
        assert!(DatasetReference::is_plain_name("a:b") && DatasetReference::is_plain_name("x@y"));
        assert!(!DatasetReference::is_plain_name("a@v3") && !DatasetReference::is_plain_name("a:test"));
    }

    #[test]
    fn a_case_has_the_key_and_task_of_its_record_or_hashes() {
        let named = json!({ "id": 7, "task": "refunds", "input": "Refund?", "output": "Yes." });
        let case = RULE.build_case(named.clone()).unwrap();
        assert_eq!((case.key.as_str(), case.task.as_str()), ("7", "refunds"));
        assert_eq!((case.title.as_deref(), case.record), (Some("Refund?"), named));

        // A table may hold whole numbers as fractions.
        let whole = RULE.build_case(json!({ "id": 7, "task": 12, "input": "q" })).unwrap();
        let fraction = RULE.build_case(json!({ "id": 7.0, "task": 12.0, "input": "q" })).unwrap();
        assert_eq!((whole.key.as_str(), whole.task.as_str()), ("7", "12"));
        assert_eq!((fraction.key, fraction.task, fraction.split), (whole.key, whole.task, whole.split));
        assert_eq!(RULE.build_case(json!({ "id": 0.5, "input": "q" })).unwrap().key, "0.5");

        let plain = json!({ "input": "Can I  return it?", "output": "Yes." });
        let case = RULE.build_case(plain).unwrap();
        assert_eq!(case.key.len(), 16);
        assert_eq!(case.record["id"], case.key.as_str());
        // Reading the stored record again gives the same case.
        assert_eq!(RULE.build_case(case.record.clone()).unwrap(), case);
        // The input under another name, with other spaces, is the same task.
        let same = RULE.build_case(json!({ "task": "can i return it?", "output": "No." })).unwrap();
        assert_eq!((same.task, same.split), (case.task, case.split));
        assert_ne!(same.key, case.key);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let bad = |record| RULE.build_case(record).unwrap_err();
        assert_eq!(bad(json!([])), BadDatasetRecord::Empty);
        assert_eq!(bad(json!({})), BadDatasetRecord::Empty);
        assert_eq!(bad(json!({ "id": "", "output": "a" })), BadDatasetRecord::Name("id".into()));
        assert_eq!(bad(json!({ "id": "a\nb", "output": "a" })), BadDatasetRecord::Name("id".into()));
        let task = json!({ "task": ["x"], "input": "q", "output": "a" });
        assert_eq!(bad(task), BadDatasetRecord::Name("task".into()));
        let large = json!({ "output": "x".repeat(MAX_CASE_BYTES) });
        assert!(matches!(bad(large), BadDatasetRecord::TooLarge(_)));
    }

    #[test]
    fn the_texts_of_a_record_name_nothing_in_a_suite() {
        let record =
            json!({ "input": "{{ env.HOME }}", "output": "file:///etc/passwd", "reference": "{{ row.x }}" });
        let case = SuiteCase { key: "a", split: DatasetSplit::Dev, record: &record, rubric: "tone" };
        let rubrics = BTreeMap::from([("tone".to_owned(), json!({ "text": "Kind." }))]);
        let suite = build_dataset_suite("support@v1", &rubrics, &[case]).unwrap();
        let eval = &suite["evals"][0];
        assert_eq!(eval["input"], r#"{{ "{{" }} env.HOME }}"#);
        assert_eq!(eval["response"], " file:///etc/passwd");
        assert_eq!(eval["expected"], r#"{{ "{{" }} row.x }}"#);
        assert_eq!(eval["tags"], json!(["dev"]));
    }

    proptest! {
        #[test]
        fn cases_of_one_task_are_in_one_split(
            records in proptest::collection::vec((0..20_u32, 0..3_u32, any::<bool>()), 1..60),
            share in 0.0..=1.0_f64,
        ) {
            let rule = SplitRule { dataset: "any", test_share: share };
            let mut splits: BTreeMap<String, DatasetSplit> = BTreeMap::new();
            for (at, (question, spaces, is_named)) in records.into_iter().enumerate() {
                let input = format!("Question{}{question}?", " ".repeat(spaces as usize + 1));
                let record = match is_named {
                    true => json!({ "id": at, "input": input, "task": format!("t{question}") }),
                    false => json!({ "id": at, "question": input, "split": "test" }),
                };
                let case = rule.build_case(record).unwrap();
                let known = *splits.entry(case.task.clone()).or_insert(case.split);
                prop_assert_eq!(known, case.split);
                prop_assert_eq!(rule.split_of(&case.task), case.split);
            }
        }
    }
}
