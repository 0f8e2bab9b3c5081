//! The cases of a file, and everything they share.

mod alert_rule;
mod annotation;
mod case_instance;
mod data_rows;
mod judge_settings;
mod monitor;
mod provider_kinds;
mod row_template;
mod schedule;
mod show_condition;
mod stored_output;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use alert_rule::{AlertCondition, AlertMetric, AlertRule, LimitDirection};
pub use annotation::{
    AnnotationTask, AnswerLimits, ItemOrder, Keyword, KeywordFile, KnownItem, KnownItemPurpose, Notes,
    Overall, StepErrorCategory, StepErrorSeverity, TaskScheme, TaskSchemeKind, Trajectory,
};
pub use case_instance::{CaseInstance, NamedInstance};
pub use data_rows::{CompactRow, Data, DataRow, RowFile, RowStorage};
pub use judge_settings::{Aggregate, Calls, Escalate, Judge, Jury, TieBreak};
pub use monitor::{AgentOverride, AlertLimits, Expensive, Monitor, MonitorBudget, MonitorFilter, Pacing};
pub use provider_kinds::{REFUSED_REQUEST_KEYS, find_unspoken_kind};
pub use row_template::{
    EnvironmentVariable, MAX_FILLED_BYTES, Unfilled, UnknownFilter, fill, fill_for_reader, find_row_field,
    is_name, named_row_fields, require_row_fields,
};
pub use schedule::{BadSchedule, check_schedule, next_time, schedule_names};
pub use show_condition::{AnswerCondition, AnswerTest, ShowCondition};
pub(crate) use stored_output::without_filter;
pub use stored_output::{OUTPUT_PREFIX, case_variables, is_output_name, names_stored_output};
pub use workspace::{SetupProgram, Workspace};

use crate::candidate::Candidate;
use crate::rubric::Rubric;
use crate::source::path_text;
use crate::template::try_for_each_text;

/// What one file, with all that it refers to, asks for. The same whatever dialect it was written in, but for the name of
/// the tool that the file is for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Suite {
    pub name: Option<String>,
    pub description: Option<String>,
    pub judge: Judge,
    pub judges: BTreeMap<String, Judge>,
    pub agent: AgentSettings,
    pub servers: BTreeMap<String, McpServer>,
    /// What produces candidates of cases that name no target of their own.
    pub targets: Vec<CaseTarget>,
    /// Rubrics that have a name of their own, whether or not a case uses them.
    pub rubrics: BTreeMap<String, Arc<Rubric>>,
    pub cases: Vec<Case>,
    pub monitors: Vec<Monitor>,
    pub annotation: Option<AnnotationTask>,
    /// The tool whose providers the file names, if it is another one; messages name it.
    pub other_tool: Option<&'static str>,
    pub variables: FilledVariables,
}

/// Variables of the environment whose values are in the texts of a suite.
#[derive(Debug, Clone, Default)]
pub struct FilledVariables {
    pub names: BTreeSet<String>,
    /// Texts that may be addresses, with the variables in each.
    pub by_address: BTreeMap<String, BTreeSet<String>>,
}

/// Two suites that ask the same are equal wherever their texts come from.
impl PartialEq for FilledVariables {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl FilledVariables {
    /// Variables whose values are in an address.
    pub fn names_in_address(&self, address: &str) -> impl Iterator<Item = &str> {
        self.by_address.get(address).into_iter().flatten().map(String::as_str)
    }
}

/// One candidate to grade with one rubric; a template for several where it has rows or a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub name: String,
    /// Where it is written.
    pub origin: Option<CaseOrigin>,
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub candidate: Candidate,
    /// The MCP server that a live run talks to.
    pub server: Option<String>,
    /// What produces the candidate where it is not given; one case each.
    pub targets: Vec<CaseTarget>,
    /// Already completed from the suite's agent.
    pub agent: AgentSettings,
    pub workspace: Option<Workspace>,
    pub rubric: Arc<Rubric>,
    /// Already completed from the suite's judge.
    pub judge: Judge,
    pub matrix: CaseMatrix,
    pub data: Option<Data>,
    /// What people have answered, by the id of the question.
    pub labels: BTreeMap<String, HumanLabel>,
    /// Trials per case.
    pub repeat: u32,
    /// The name under which later cases use its output, as `{{ outputs.NAME }}`.
    pub store_output_as: Option<String>,
}

/// Where a case is written, for messages and for reports that point into files.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseOrigin {
    /// Relative to the folder in which the run was started, where it is below it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// File of the suite, if the case is written in another file, such as a row in a data file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
}

/// Two cases that ask the same are equal wherever they are written.
impl PartialEq for CaseOrigin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl CaseOrigin {
    /// Shortens the paths where they are below `folder`.
    pub fn shorten(&mut self, folder: &std::path::Path) {
        for path in std::iter::once(&mut self.file).chain(&mut self.suite) {
            if let Ok(short) = std::path::Path::new(path.as_str()).strip_prefix(folder) {
                *path = path_text(short);
            }
        }
    }

    /// The file of the suite that the case belongs to.
    pub fn suite_file(&self) -> &str {
        self.suite.as_deref().unwrap_or(&self.file)
    }
}

/// Parts of the name of a case that has rows, prompts, targets, models or trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseNameParts {
    /// The name that is written, with the fields of the row.
    pub written: String,
    /// Row of the data, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// Prompt, target and model, as far as the case has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variant: Vec<String>,
}

impl CaseNameParts {
    /// The name that all trials share.
    pub fn join(&self) -> String {
        let row = self.row.map(|row| format!(" [row {row}]"));
        let variant = self.variant.iter().map(|part| format!(" [{part}]"));
        std::iter::once(self.written.clone()).chain(row).chain(variant).collect()
    }
}

impl std::fmt::Display for CaseOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HumanLabel {
    pub value: crate::rubric::Value,
    pub by: Option<String>,
    pub reason: Option<String>,
}

/// A program, model or service that answers a prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseTarget {
    pub id: String,
    pub label: Option<String>,
    pub config: Map<String, Value>,
}

impl CaseTarget {
    /// The setting that says how a program gets the messages of a conversation. It is not passed to the program.
    pub const CHAT_FORMAT: &'static str = "chat_format";

    /// The value of [`Self::CHAT_FORMAT`] for the JSON text of the messages.
    pub const CHAT_AS_JSON: &'static str = "json";

    /// What people call it.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }

    /// Where a model is reached, under every name that AgentV and promptfoo have for it.
    pub fn base_url(&self) -> Option<String> {
        let text = |key: &str| self.config.get(key).and_then(Value::as_str);
        // A host alone: the path of OpenAI's API is added; that of Azure depends on the deployment and is added later.
        let path = if self.id.starts_with("azure") { "" } else { "/v1" };
        let of_host = || text("apiHost").map(|host| format!("https://{host}{path}"));
        ["base_url", "apiBaseUrl", "endpoint"].into_iter().find_map(text).map(str::to_owned).or_else(of_host)
    }

    /// All addresses to which it may send a prompt.
    pub fn addresses(&self) -> impl Iterator<Item = String> {
        let own = ["http://", "https://"].iter().any(|scheme| self.id.starts_with(scheme));
        let url = self.config.get("url").and_then(Value::as_str);
        self.base_url().into_iter().chain(url.map(str::to_owned)).chain(own.then(|| self.id.clone()))
    }

    /// Whether it is an address to which a request of the file is sent.
    pub fn is_request(&self) -> bool {
        ["http", "https"].contains(&self.id.split_once(':').map_or(self.id.as_str(), |(kind, _)| kind))
    }

    /// Calls `each` with every text of the request to an address; the first error ends it.
    pub(crate) fn try_for_each_request_text<E>(
        &mut self,
        each: &mut impl FnMut(&mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.is_request() {
            return Ok(());
        }
        each(&mut self.id)?;
        self.config.values_mut().try_for_each(|value| try_for_each_text(value, each))
    }

    /// Whether it is a program or a file of code that answers a prompt in the way of promptfoo's providers.
    pub fn is_program(&self) -> bool {
        ["exec:", "file:", "python:"].iter().any(|kind| self.id.starts_with(kind))
    }

    /// Whether it takes a prompt as one text, and is no model.
    pub fn takes_prompt_text(&self) -> bool {
        let kinds = ["http:", "https:"];
        self.is_program()
            || ["echo", "http", "https"].contains(&self.id.as_str())
            || kinds.iter().any(|kind| self.id.starts_with(kind))
    }

    /// Whether it gets a conversation as the JSON text of its messages, and not as their texts alone.
    pub fn takes_chat_as_json(&self) -> bool {
        self.config.get(Self::CHAT_FORMAT).and_then(Value::as_str) == Some(Self::CHAT_AS_JSON)
    }
}

/// Settings and limits of a live run. `None` is replaced by the file, the settings or the environment.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct AgentSettings {
    pub model: Option<String>,
    /// The system prompt.
    pub system: Option<String>,
    /// Replies of the model.
    pub max_steps: Option<u32>,
    /// Tokens of the whole run, in and out.
    pub max_tokens: Option<u64>,
    /// Seconds for the whole run.
    pub timeout: Option<f64>,
    /// Seconds for one call of a tool.
    pub tool_timeout: Option<f64>,
    /// Code that changes what it answers before that is graded.
    pub transform: Option<String>,
    /// Code that finds the documents on which an answer is based, in the answer and its metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_transform: Option<String>,
}

impl AgentSettings {
    /// This agent, with what it leaves open taken from `default`.
    #[must_use]
    pub fn or(&self, default: &Self) -> Self {
        Self {
            model: self.model.clone().or_else(|| default.model.clone()),
            system: self.system.clone().or_else(|| default.system.clone()),
            max_steps: self.max_steps.or(default.max_steps),
            max_tokens: self.max_tokens.or(default.max_tokens),
            timeout: self.timeout.or(default.timeout),
            tool_timeout: self.tool_timeout.or(default.tool_timeout),
            transform: self.transform.clone().or_else(|| default.transform.clone()),
            context_transform: self.context_transform.clone().or_else(|| default.context_transform.clone()),
        }
    }
}

/// Axes over which a case fans out; an empty axis has one place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseMatrix {
    /// Judge models.
    pub models: Vec<String>,
    pub prompts: Vec<MatrixPrompt>,
}

/// One of several prompts of a case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MatrixPrompt {
    /// Its name in the names of cases; its number by default.
    pub label: Option<String>,
    pub text: String,
}

/// An MCP server. Values may hold `{{ env.X }}`, which is filled in when it is started, not before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum McpServer {
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, String>, cwd: Option<String> },
    Http { url: String, headers: BTreeMap<String, String> },
}
