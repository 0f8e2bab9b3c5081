//! The data contract of a run: one executed plan over a suite.

mod packed;
mod provenance;
mod summary;
mod trial_name;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::packed::Packed;
pub use self::provenance::RunProvenance;
pub use self::summary::{NotGraded, NotGradedReason, Regressions, RunSummary, StatusChange, UndecidedCase};
pub use self::trial_name::{cut_trial_name, name_trial};

use crate::candidate::JudgeInput;
use crate::grade::{Grade, PanelVerdict, RubricHash, Spend, Time, Verdict};
use crate::rubric::{PASS_MARK, UNASSERTED_QUESTION};
use crate::suite::{CaseNameParts, CaseOrigin};

/// A run with everything needed to report on it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Version of this contract.
    pub format: u32,
    /// Id of the run: `run_` and a UUIDv7 without hyphens.
    pub id: RunId,
    /// Name of the suite; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Branch, commit, author, tags and CI job, as far as they are known.
    #[serde(default, skip_serializing_if = "RunProvenance::is_empty")]
    pub provenance: RunProvenance,
    /// Start of the run.
    pub started: Time,
    /// End of the run; absent if the run is not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
    /// The same plan, replies and seed give the same run.
    pub seed: u64,
    /// The canonical form of every rubric used, by version.
    pub rubrics: BTreeMap<RubricHash, serde_json::Value>,
    /// In the order of the plan.
    #[schemars(with = "Vec<CaseResult>")]
    pub results: RunResults,
    /// Tokens and cost of all cases: their judges and the agents that were run.
    pub spend: Spend,
    /// Summary for readers of the file; Jurist computes it again from the results.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "leave_summary")]
    pub summary: Option<RunSummary>,
}

/// A summary that was written may be of other results than those that are next to it now.
fn leave_summary<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<RunSummary>, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| None)
}

impl Run {
    /// The pass mark of one of its rubrics.
    pub fn pass_mark(&self, rubric: &RubricHash) -> Option<f64> {
        let rubric = self.rubrics.get(rubric)?;
        Some(rubric.get("threshold").and_then(serde_json::Value::as_f64).unwrap_or(PASS_MARK))
    }

    /// The pass mark to show in reports. A pass mark of 0 is not shown: every score reaches it, and only gates decide.
    pub fn shown_pass_mark(&self, rubric: &RubricHash) -> Option<f64> {
        self.pass_mark(rubric).filter(|mark| 0.0 < *mark)
    }

    /// Whether a criterion of a case states what must not hold: a guard, a penalty, or `not: true`.
    pub fn is_negative(&self, result: &CaseResult, criterion: &str) -> bool {
        self.rubrics.get(&result.rubric).is_some_and(|rubric| is_negative_criterion(rubric, criterion))
    }

    /// Whether the test of a case asserts nothing that decides it, so that nothing was left out.
    pub fn asserts_nothing(&self, result: &CaseResult) -> bool {
        self.rubrics.get(&result.rubric).is_some_and(is_unasserted)
    }

    /// What an answer is worth to the score of its case: where the criterion is negative, 0 is the best answer.
    pub fn answer_worth(&self, result: &CaseResult, grade: &Grade) -> Option<f64> {
        let unit = grade.outcome.unit()?;
        Some(if self.is_negative(result, &grade.criterion) { 1.0 - unit } else { unit })
    }

    /// The points of the score from 0 to 1 that an answer costs; `None` if it has no value.
    pub fn answer_loss(&self, result: &CaseResult, grade: &Grade) -> Option<f64> {
        let worth = self.answer_worth(result, grade)?;
        let rubric = self.rubrics.get(&result.rubric);
        // Nodes of a tree have no weight.
        let share = rubric.and_then(|rubric| find_score_share(rubric, &grade.criterion)).unwrap_or(1.0);
        Some(share * (1.0 - worth))
    }

    /// The name under which [`Self::answer_worth`] of a criterion is shown.
    pub fn worth_name<'a>(&self, result: &CaseResult, criterion: &'a str) -> Cow<'a, str> {
        if is_negation(criterion) || !self.is_negative(result, criterion) {
            Cow::Borrowed(criterion)
        } else {
            Cow::Owned(format!("not {criterion}"))
        }
    }
}

/// Whether a name says itself that something must not hold, such as `not-contains` of other tools, or `no-refund`.
fn is_negation(name: &str) -> bool {
    ["no", "not", "never", "without"].iter().any(|word| {
        name.strip_prefix(*word).is_some_and(|rest| rest.starts_with(['-', ' ', '_', ':']) || rest.is_empty())
    })
}

/// Of the score that a canonical rubric or a group in it can give, the share that a criterion can take away.
fn find_score_share(rubric: &serde_json::Value, id: &str) -> Option<f64> {
    let criteria = rubric.get("criteria").and_then(serde_json::Value::as_array)?;
    let weight = |criterion: &serde_json::Value| criterion["weight"].as_f64().unwrap_or(1.0);
    // Penalties only take away.
    let total: f64 = criteria.iter().map(|criterion| weight(criterion).max(0.0)).sum();
    let is_mean = rubric["aggregation"] != "min" && 0.0 < total;
    criteria.iter().find_map(|criterion| {
        let of_group = if criterion["name"] == id { 1.0 } else { find_score_share(criterion, id)? };
        Some(if is_mean { of_group * weight(criterion).abs() / total } else { of_group })
    })
}

/// Whether a canonical rubric asks nothing but what a person says about a test without assertions.
fn is_unasserted(rubric: &serde_json::Value) -> bool {
    let criteria = rubric.get("criteria").and_then(serde_json::Value::as_array).into_iter().flatten();
    let mut deciding = criteria.filter(|criterion| criterion["weight"].as_f64() != Some(0.0));
    deciding.next().is_some_and(|criterion| criterion["description"] == UNASSERTED_QUESTION)
        && deciding.next().is_none()
}

/// Looks for a criterion in a canonical rubric and the groups in it.
fn is_negative_criterion(rubric: &serde_json::Value, id: &str) -> bool {
    let criteria = rubric.get("criteria").and_then(serde_json::Value::as_array).into_iter().flatten();
    criteria.into_iter().any(|criterion| {
        let is_penalty = criterion["weight"].as_f64().is_some_and(|number| number < 0.0);
        (criterion["name"] == id && (criterion["guard"] == true || criterion["not"] == true || is_penalty))
            || is_negative_criterion(criterion, id)
    })
}

/// Result of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseResult {
    /// Name of the case. If a case has several trials, the name ends with the number of the trial.
    pub case: String,
    /// Where the case is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<CaseOrigin>,
    /// Which of several trials this is, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// The name that all trials of the case share; absent if the case has one trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Parts of the name; absent if the name is as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<CaseNameParts>,
    /// Id of the graded candidate, as in its grades.
    pub candidate: String,
    /// Hash of the rubric: a key of `rubrics` in the run.
    pub rubric: RubricHash,
    /// Verdict of the rubric on the candidate.
    pub verdict: Verdict,
    /// Verdict of the panel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PanelVerdict>,
    /// Grades of all graders, from which the verdict is computed.
    pub grades: Vec<Grade>,
    /// Of its judges, and of the agent that was run for it.
    pub spend: Spend,
    /// The judge calls that were projected before it was graded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projected_calls: Option<CallRange>,
    /// Fields for grouping: metadata and tags of the case, short fields of its row, and agent, model and prompt.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, serde_json::Value>,
    /// The candidate; evidence refers to positions in it.
    #[serde(default, skip_serializing_if = "JudgeInput::is_empty")]
    pub material: JudgeInput,
}

impl CaseResult {
    /// The name that all trials of one case share.
    pub fn base(&self) -> &str {
        match (&self.base, self.trial) {
            (Some(base), _) => base,
            // Earlier versions wrote the number of the trial, but not the name without it.
            (None, Some(_)) => cut_trial_name(&self.case),
            (None, None) => &self.case,
        }
    }
}

/// How many judge calls grading takes; a tree decides on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallRange {
    /// Where every condition leaves its criteria out.
    pub least: u32,
    /// Where every reply is understood.
    pub most: u32,
    /// Where every reply has to be repaired, and everything is left out that can be asked again.
    pub limit: u32,
}

impl CallRange {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
            limit: self.limit.saturating_add(other.limit),
        }
    }
}

impl fmt::Display for CallRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, most, limit } = self;
        let noun = if *most == 1 { "judge call" } else { "judge calls" };
        match least == most {
            true => write!(f, "about {most} {noun}, at most {limit}"),
            false => write!(f, "{least} to {most} {noun}, at most {limit}"),
        }
    }
}

/// What came of each case: held packed and opened one at a time, so that a long run takes little memory.
#[derive(Clone, PartialEq, Default)]
pub struct RunResults(Vec<Packed>);

impl RunResults {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, at: usize) -> CaseResult {
        self.0[at].open()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = CaseResult> {
        self.0.iter().map(Packed::open)
    }

    #[cfg(test)]
    pub fn change(&mut self, mut each: impl FnMut(usize, &mut CaseResult)) {
        for (at, packed) in self.0.iter_mut().enumerate() {
            let mut result = packed.open();
            each(at, &mut result);
            *packed = Packed::new(&result);
        }
    }
}

impl FromIterator<Packed> for RunResults {
    fn from_iter<I: IntoIterator<Item = Packed>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl FromIterator<CaseResult> for RunResults {
    fn from_iter<I: IntoIterator<Item = CaseResult>>(all: I) -> Self {
        all.into_iter().map(|result| Packed::new(&result)).collect()
    }
}

impl fmt::Debug for RunResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for RunResults {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for RunResults {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> serde::de::Visitor<'de> for All {
            type Value = RunResults;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of results")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<RunResults, A::Error> {
                let mut all = Vec::new();
                while let Some(result) = seq.next_element::<CaseResult>()? {
                    all.push(Packed::new(&result));
                }
                Ok(RunResults(all))
            }
        }
        deserializer.deserialize_seq(All)
    }
}

/// `run_` and a UUIDv7: unique, and sorted by the time they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(uuid::Uuid);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a run id such as run_0190c4d27e1b7a3c9f50b8e6d1a24c7e")]
pub struct BadRunId(String);

impl RunId {
    const PREFIX: &'static str = "run_";

    /// Time and chance are the caller's: nothing here reads a clock.
    pub fn new(time: Time, random: [u8; 10]) -> Self {
        let millis = u64::try_from(time.micros() / 1000).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// The time from which it was made, in milliseconds since 1970.
    pub fn millis(&self) -> i64 {
        let first = self.0.as_u128() >> 80;
        i64::try_from(first).expect("48 bits are a number of 64")
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0.simple())
    }
}

impl FromStr for RunId {
    type Err = BadRunId;

    fn from_str(text: &str) -> Result<Self, BadRunId> {
        let id = text
            .strip_prefix(Self::PREFIX)
            .filter(|rest| rest.len() == 32)
            .and_then(|rest| uuid::Uuid::parse_str(rest).ok());
        id.map(Self).ok_or_else(|| BadRunId(text.to_owned()))
    }
}

impl Serialize for RunId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for RunId {
    fn schema_name() -> Cow<'static, str> {
        "RunId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^run_[0-9a-f]{32}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ids_sort_by_time_and_read_back() {
        let early = RunId::new(Time::from_micros(1_000_000), [255; 10]);
        let late = RunId::new(Time::from_micros(2_000_000), [0; 10]);
        assert!(early.to_string() < late.to_string());
        assert_eq!(early.to_string().parse(), Ok(early));
        assert!("run_1".parse::<RunId>().is_err());
        assert_eq!(late.millis(), 2_000);
    }
}
