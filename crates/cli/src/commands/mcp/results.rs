//! What the tools return; clients get the JSON Schemas of these types.

use jurist_core::grade::{Time, VerdictStatus};
use jurist_core::run::{CaseResult, RunId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::commands::check::FileCheckReport;
use crate::commands::compare::RunsSideBySide;
use crate::commands::runs::RunListLine;

/// A rubric file, or without arguments the built-in rubrics.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DraftedRubric {
    /// Text of the rubric file
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Problems and advice, at the lines of the text
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<FileCheckReport>,
    /// Built-in rubrics
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presets: Option<Vec<PresetLine>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetLine {
    /// Name, as an argument of this tool
    pub preset: &'static str,
    /// What the rubric asks for
    pub description: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainedPlan {
    /// Cases, judges, number of calls and projected cost, as text
    pub plan: String,
}

/// A run with some of its cases.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunWithCases {
    /// Id of the run
    pub run: RunId,
    /// Name of the suite
    pub suite: Option<String>,
    /// When the run began
    pub started: Time,
    /// When the run ended; null while it runs
    pub ended: Option<Time>,
    /// Counts, pass rate and mean with intervals, in a sentence
    pub summary: String,
    /// Cases of the run that passed
    pub n_pass: usize,
    /// Cases of the run that failed
    pub n_fail: usize,
    /// Cases of the run without a verdict, because a grader or the target failed
    pub n_error: usize,
    /// Cases of the run that were not graded
    pub n_deferred: usize,
    /// US dollars; calls without a known price count as 0
    pub cost_usd: f64,
    /// Cases that were asked for, of which `cases` has a part
    pub n_cases: usize,
    /// Cases in the order of the suite; read_case has the whole of one
    pub cases: Vec<CaseLine>,
    /// `offset` of the next cases; null at the end
    pub next_offset: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CaseLine {
    /// Name of the case
    pub case: String,
    /// pass, fail, error or deferred
    pub status: VerdictStatus,
    /// From 0 to 1; null if nothing was scored
    pub score: Option<f64>,
    /// File and line on which the case is written
    pub origin: Option<String>,
    /// Why it did not pass
    pub reasons: Vec<String>,
}

/// The new run with its cases.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuiteRun {
    #[serde(flatten)]
    pub run: RunWithCases,
    /// passed, failed, incomplete, stopped by a budget, or interrupted
    pub outcome: &'static str,
    /// Why cases were not graded, and what to do; null if all were graded
    pub not_graded: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedRuns {
    /// Runs that match, of which `runs` has the newest
    pub n_runs: usize,
    /// Newest first
    pub runs: Vec<RunListLine>,
}

/// The result of the case, with the fields of `CaseResult` in jurist://schema/run, among them `material` (input and
/// answer), `verdict` and `grades`; and these.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaseInFull {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Json>")]
    pub result: CaseResult,
    /// Id of the run
    pub run: RunId,
    /// Why it did not pass
    pub reasons: Vec<String>,
    /// Prompts and replies of the judges, if they were asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<Json>,
}

/// What `jurist compare --format json` prints: `score`, `pass_rate` and each of `criteria` have `before`, `after`,
/// `difference`, `interval` and `p`; `regressions` and `changed` list cases; `cases` has old and new answers with a word
/// diff, and the grades and reasons of both runs.
#[derive(Serialize, JsonSchema)]
pub struct DescribedComparison {
    #[serde(flatten)]
    #[schemars(with = "Map<String, Json>")]
    pub compared: RunsSideBySide,
    /// What the data says about the difference of the scores
    pub sentence: String,
}

/// One of the two.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MeasuredAgreement {
    /// Without `judge`: measures of agreement by criterion, as `jurist agree --json` prints them
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Json>,
    /// With `judge`: agreement of judges with people, as `jurist align --json` prints it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Json>,
}
