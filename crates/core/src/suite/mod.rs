//! The cases of a file, and everything they share.

mod alert_rule;
mod annotation;
mod monitor;
mod schedule;
mod show_condition;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use alert_rule::{AlertCondition, AlertMetric, AlertRule, LimitDirection};
pub use annotation::{
    AnnotationTask, ItemOrder, KnownItem, KnownItemPurpose, Notes, Overall, Scheme, SchemeKind,
    StepErrorCategory, StepErrorSeverity, Trajectory,
};
pub use monitor::{AgentOverride, AlertLimits, Expensive, Monitor, MonitorBudget, MonitorFilter, Pacing};
pub use schedule::{BadSchedule, check_schedule, next_time, schedule_names};
pub use show_condition::{AnswerCondition, AnswerTest, ShowCondition};

use crate::candidate::{Candidate, TraceSource};
use crate::diagnostic::closest;
use crate::rubric::{CriterionKind, OnError, Rubric};
use crate::template::{self, try_for_each_text};

/// What one file, with all that it refers to, asks for. The same whatever dialect it was written in.
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
}

/// Where a case is written, for messages and for reports that point into files.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseOrigin {
    /// Relative to the folder in which the run was started, where it is below it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// Two cases that ask the same are equal wherever they are written.
impl PartialEq for CaseOrigin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl CaseOrigin {
    /// Shortens the path where it is below `folder`.
    pub fn shorten(&mut self, folder: &std::path::Path) {
        if let Ok(short) = std::path::Path::new(&self.file).strip_prefix(folder) {
            self.file = short.display().to_string();
        }
    }
}

impl std::fmt::Display for CaseOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct HumanLabel {
    pub value: crate::rubric::Value,
    pub by: Option<String>,
    pub reason: Option<String>,
}

/// A program, model or service that answers a prompt.
#[derive(Debug, Clone, PartialEq)]
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

    /// Whether it is a program or a file of code that answers a prompt in the way of promptfoo's providers.
    pub fn is_program(&self) -> bool {
        ["exec:", "file:", "python:"].iter().any(|kind| self.id.starts_with(kind))
    }

    /// Whether it gets a conversation as the JSON text of its messages, and not as their texts alone.
    pub fn takes_chat_as_json(&self) -> bool {
        self.config.get(Self::CHAT_FORMAT).and_then(Value::as_str) == Some(Self::CHAT_AS_JSON)
    }
}

/// How a live run is made, and what bounds it. What is `None` is decided by what stands above.
#[derive(Debug, Clone, PartialEq, Default)]
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
        }
    }
}

/// Files that an agent works on; each run gets its own copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// A folder.
    pub path: String,
    /// The commit of the git repository there that is checked out, instead of the files as they are.
    pub git: Option<String>,
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

/// Rows of data files: one case each.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Path or pattern as written.
    pub path: String,
    pub rows: Vec<CompactRow>,
    /// The files that the rows come from, in their order.
    pub files: Vec<RowFile>,
}

/// A data file, for reports that point into it.
#[derive(Debug, Clone)]
pub struct RowFile {
    pub path: Arc<str>,
    /// The place of its first row among all rows.
    pub first_row: usize,
}

/// Rows that say the same are equal whatever file they are from.
impl PartialEq for RowFile {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Data {
    /// The path of the file that holds a row, by the row's place.
    fn file_of(&self, row: usize) -> Option<&Arc<str>> {
        let n_begun = self.files.partition_point(|file| file.first_row <= row);
        self.files[..n_begun].last().map(|file| &file.path)
    }
}

pub type DataRow = Map<String, Value>;

/// A row as it is kept while a run goes on. A map takes five times the memory of its text.
#[derive(Debug, Clone)]
pub struct CompactRow {
    form: RowForm,
    /// Where it begins in its file, from 1.
    line: u32,
}

#[derive(Debug, Clone)]
enum RowForm {
    /// A JSON object in a file, read each time.
    Line {
        file: Arc<str>,
        start: u32,
        end: u32,
    },
    Json(Arc<str>),
    Map(Arc<DataRow>),
}

impl CompactRow {
    pub fn read(&self) -> DataRow {
        let parse = |text: &str| serde_json::from_str(text).expect("it was read before");
        match &self.form {
            RowForm::Line { file, start, end } => parse(&file[*start as usize..*end as usize]),
            RowForm::Json(text) => parse(text),
            RowForm::Map(row) => (**row).clone(),
        }
    }
}

impl PartialEq for CompactRow {
    fn eq(&self, other: &Self) -> bool {
        self.read() == other.read()
    }
}

/// How rows are kept once they are read from a file.
pub trait RowStorage {
    /// `line` is where the row begins in its file, from 1.
    fn of_row(row: DataRow, line: u32) -> Self;

    /// From the bytes of a line of JSON that was read as `row`.
    fn of_line(file: &Arc<str>, bytes: Range<u32>, row: DataRow, line: u32) -> Self;
}

impl RowStorage for DataRow {
    fn of_row(row: DataRow, _: u32) -> Self {
        row
    }

    fn of_line(_: &Arc<str>, _: Range<u32>, row: DataRow, _: u32) -> Self {
        row
    }
}

impl RowStorage for CompactRow {
    /// Written numbers may be read with another last digit, so only texts become text.
    fn of_row(row: DataRow, line: u32) -> Self {
        let form = match row.values().all(Value::is_string) {
            true => RowForm::Json(Value::Object(row).to_string().into()),
            false => RowForm::Map(Arc::new(row)),
        };
        Self { form, line }
    }

    fn of_line(file: &Arc<str>, bytes: Range<u32>, _: DataRow, line: u32) -> Self {
        Self { form: RowForm::Line { file: Arc::clone(file), start: bytes.start, end: bytes.end }, line }
    }
}

/// Who judges, and how. What is `None` is decided by what stands above: file, settings, environment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judge {
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u32>,
    /// Seconds for one call.
    pub timeout: Option<f64>,
    pub calls: Option<Calls>,
    pub jury: Option<Jury>,
    pub panel: Vec<String>,
    pub aggregate: Option<Aggregate>,
    pub tie_break: Option<TieBreak>,
    pub on_error: Option<OnError>,
    pub escalate: Option<Escalate>,
    /// What its scores mean to people: files that `jurist calibrate` wrote, each about one criterion.
    pub calibrations: Vec<(String, Value)>,
}

/// A second opinion where the first is unsure.
#[derive(Debug, Clone, PartialEq)]
pub struct Escalate {
    /// The stronger judge.
    pub to: String,
    /// It is asked where the score is within this much of the pass mark.
    pub margin: f64,
}

impl Judge {
    /// This judge, with what it leaves open taken from `default`.
    #[must_use]
    pub fn or(&self, default: &Self) -> Self {
        // A jury and a panel answer the same question, so one said here replaces the other said above.
        let several = self.jury.is_some() || !self.panel.is_empty();
        let (jury, panel) = if several { (self.jury, &self.panel) } else { (default.jury, &default.panel) };
        Self {
            model: self.model.clone().or_else(|| default.model.clone()),
            base_url: self.base_url.clone().or_else(|| default.base_url.clone()),
            temperature: self.temperature.or(default.temperature),
            max_tokens: self.max_tokens.or(default.max_tokens),
            timeout: self.timeout.or(default.timeout),
            calls: self.calls.or(default.calls),
            jury,
            panel: panel.clone(),
            aggregate: self.aggregate.or(default.aggregate),
            tie_break: self.tie_break.or(default.tie_break),
            on_error: self.on_error.or(default.on_error),
            escalate: self.escalate.clone().or_else(|| default.escalate.clone()),
            calibrations: if self.calibrations.is_empty() {
                default.calibrations.clone()
            } else {
                self.calibrations.clone()
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Calls {
    PerCriterion,
    PerRubric,
}

impl Calls {
    pub const ALL: [(&str, Self); 2] =
        [("per_criterion", Self::PerCriterion), ("per_rubric", Self::PerRubric)];
}

/// One model, asked several times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jury {
    pub size: u32,
    /// The share of gradings that must pass, 0..=1.
    pub consensus: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aggregate {
    #[default]
    Mean,
    Median,
    Majority,
}

impl Aggregate {
    pub const ALL: [(&str, Self); 3] =
        [("mean", Self::Mean), ("median", Self::Median), ("majority", Self::Majority)];
}

/// What an even split means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieBreak {
    #[default]
    Fail,
    Pass,
}

impl TieBreak {
    pub const ALL: [(&str, Self); 2] = [("fail", Self::Fail), ("pass", Self::Pass)];
}

/// An MCP server. Values may hold `{{ env.X }}`, which is filled in when it is started, not before.
#[derive(Debug, Clone, PartialEq)]
pub enum McpServer {
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, String>, cwd: Option<String> },
    Http { url: String, headers: BTreeMap<String, String> },
}

/// What a template names and a row does not fill in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfilled {
    #[error("the row has no field `{field}`; {hint}")]
    Missing { field: String, hint: String },
    /// There is such a field, and this is not how it is named.
    #[error("`{{{{ {0} }}}}` is not defined; a field of the row is `{{{{ row.{0} }}}}`")]
    NoRow(String),
    #[error("with the row filled in, the text has more than {MAX_FILLED_BYTES} bytes")]
    TooLong,
}

/// A text that names a long field very often must not fill the memory.
pub const MAX_FILLED_BYTES: usize = 64 << 20;

impl Unfilled {
    fn new(name: &str, row: &DataRow) -> Self {
        let field = name.strip_prefix("row.").unwrap_or(name);
        if row_value(row, field).is_some() {
            return Self::NoRow(field.to_owned());
        }
        let known: Vec<&str> = row.keys().map(String::as_str).collect();
        let hint = match closest(field, &known) {
            Some(meant) => format!("did you mean `row.{meant}`?"),
            None => format!("it has {}", known.join(", ")),
        };
        Self::Missing { field: field.to_owned(), hint }
    }
}

impl Case {
    /// The single cases this one stands for: rows × prompts × targets × judge models, in that order.
    pub fn expand(&self) -> Vec<CaseInstance> {
        let rows: Vec<Option<(usize, &CompactRow)>> = match &self.data {
            Some(data) => data.rows.iter().enumerate().map(Some).collect(),
            None => vec![None],
        };
        let template = Arc::new(self.without_data());
        // What is given needs nobody to produce it.
        let n_targets = if self.candidate.is_given() { 0 } else { self.targets.len() };
        let mut cells = Vec::new();
        for row in rows {
            for prompt in axis(self.matrix.prompts.len()) {
                for target in axis(n_targets) {
                    for model in axis(self.matrix.models.len()) {
                        let row = row.map(|(at, row)| InstanceRow {
                            at,
                            row: row.clone(),
                            file: self.data.as_ref().and_then(|data| data.file_of(at)).cloned(),
                        });
                        cells.push(CaseInstance {
                            template: Arc::clone(&template),
                            row,
                            prompt,
                            target,
                            model,
                        });
                    }
                }
            }
        }
        cells
    }

    /// The rows stay behind: copying them into every case would cost the square of their number.
    fn without_data(&self) -> Self {
        Self {
            name: self.name.clone(),
            origin: self.origin.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            metadata: self.metadata.clone(),
            candidate: self.candidate.clone(),
            server: self.server.clone(),
            targets: self.targets.clone(),
            agent: self.agent.clone(),
            workspace: self.workspace.clone(),
            rubric: Arc::clone(&self.rubric),
            judge: self.judge.clone(),
            matrix: self.matrix.clone(),
            data: None,
            labels: self.labels.clone(),
            repeat: self.repeat,
        }
    }

    /// Texts of the rubric that rows fill in when a judge is asked.
    pub fn templates(&self) -> Vec<&str> {
        rubric_templates(&self.rubric)
    }

    /// The case as its row makes it.
    fn fill_from_row(&self, row: Option<&DataRow>) -> Result<Self, Unfilled> {
        let mut case = self.clone();
        case.try_for_each_template(&mut |text| {
            if text.contains("{{") {
                *text = fill(text, row)?;
            }
            Ok(())
        })?;
        Ok(case)
    }

    /// Calls `each` with every text of its own in which rows fill in names; the first error ends it.
    pub(crate) fn try_for_each_template<E>(
        &mut self,
        each: &mut impl FnMut(&mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        let candidate = &mut self.candidate;
        let single =
            [&mut candidate.input, &mut candidate.response, &mut candidate.diff].into_iter().flatten();
        let prompts = self.matrix.prompts.iter_mut().map(|prompt| &mut prompt.text);
        let lists = candidate.context.iter_mut().chain(prompts).chain([&mut self.name]);
        single.chain(lists).try_for_each(&mut *each)?;
        for value in candidate.messages.iter_mut().chain(&mut candidate.expected) {
            try_for_each_text(value, each)?;
        }
        match &mut candidate.trace {
            Some(TraceSource::File(path)) => each(path),
            Some(TraceSource::Inline(value)) => try_for_each_text(value, each),
            None => Ok(()),
        }
    }
}

/// A case that stands for itself alone. What it says is filled in when it is asked for, so that a plan of
/// many rows holds no more than the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseInstance {
    template: Arc<Case>,
    row: Option<InstanceRow>,
    prompt: Option<usize>,
    target: Option<usize>,
    model: Option<usize>,
}

/// The row of a case.
#[derive(Debug, Clone)]
struct InstanceRow {
    /// Which row, from 0.
    at: usize,
    row: CompactRow,
    /// The data file that holds it.
    file: Option<Arc<str>>,
}

/// Equal rows are equal whatever file they are from.
impl PartialEq for InstanceRow {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at && self.row == other.row
    }
}

impl CaseInstance {
    /// A case without rows or axes.
    pub fn alone(case: Case) -> Self {
        Self { template: Arc::new(case), row: None, prompt: None, target: None, model: None }
    }

    /// The case with everything filled in.
    pub fn case(&self) -> Result<Case, Unfilled> {
        let mut case = self.template.fill_from_row(self.row().as_ref())?;
        if let Some(row) = &self.row {
            case.name = format!("{} [row {}]", case.name, row.at + 1);
        }
        if let Some(at) = self.prompt {
            let MatrixPrompt { label, text } = case.matrix.prompts.swap_remove(at);
            case.candidate.set_prompt(text);
            let name = label.clone().unwrap_or_else(|| format!("prompt {}", at + 1));
            case.name = format!("{} [{name}]", case.name);
            let shown = label.map_or_else(|| Value::from(at + 1), Value::from);
            case.metadata.entry("prompt").or_insert(shown);
        }
        let several = 1 < case.targets.len();
        case.targets = self.target.map(|at| case.targets.swap_remove(at)).into_iter().collect();
        if let Some(target) = case.targets.first().filter(|_| several) {
            case.name = format!("{} [{}]", case.name, target.name());
        }
        if let Some(at) = self.model {
            let model = case.matrix.models.swap_remove(at);
            case.name = format!("{} [{model}]", case.name);
            // A live run without a model of its own is the judge's.
            if case.server.is_some() {
                case.agent.model.get_or_insert_with(|| model.clone());
            }
            case.judge.model = Some(model);
        }
        case.matrix = CaseMatrix::default();
        Ok(case)
    }

    /// What does not change from row to row: rubric, judge, labels, limits.
    pub fn template(&self) -> &Case {
        &self.template
    }

    /// Fills `{{ row.field }}` in the rubric's texts when a judge is asked.
    pub fn row(&self) -> Option<DataRow> {
        self.row.as_ref().map(|instance| instance.row.read())
    }

    /// Which row it is, from 1.
    pub fn row_number(&self) -> Option<usize> {
        self.row.as_ref().map(|instance| instance.at + 1)
    }

    /// Where the case is written: its row in a data file, or else its entry in the suite.
    pub fn origin(&self) -> Option<CaseOrigin> {
        let of_row = self.row.as_ref().and_then(|instance| {
            let file = instance.file.as_ref()?.to_string();
            Some(CaseOrigin { file, line: instance.row.line })
        });
        of_row.or_else(|| self.template.origin.clone())
    }

    /// Who judges it.
    pub fn judge(&self) -> Judge {
        let model = self.model.map(|index| self.template.matrix.models[index].clone());
        Judge { model: model.or_else(|| self.template.judge.model.clone()), ..self.template.judge.clone() }
    }

    /// The same for all that do one task: rows and judges differ, targets and prompts need not.
    pub fn task(&self) -> String {
        let row = self.row.as_ref().map_or(0, |instance| instance.at);
        let model = self.model.map_or("", |index| &self.template.matrix.models[index]);
        format!("{} {row} {model}", self.template.name)
    }
}

/// The places of an axis; an empty one has one.
fn axis(n: usize) -> Vec<Option<usize>> {
    if n == 0 { vec![None] } else { (0..n).map(Some).collect() }
}

/// Replaces `{{ row.field }}` by the row's value; text as it is, everything else as JSON. Without a row, only
/// escapes are resolved.
pub fn fill(text: &str, row: Option<&DataRow>) -> Result<String, Unfilled> {
    let (mut unfilled, mut n_bytes) = (None, 0);
    let filled = template::replace(text, |name| {
        if template::is_escape(name) {
            return Some("{{".to_owned());
        }
        let row = row?;
        if unfilled == Some(Unfilled::TooLong) {
            return None;
        }
        match name.strip_prefix("row.").map(|field| row_value(row, field)) {
            Some(Some(value)) => {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                n_bytes += value.len();
                if n_bytes <= MAX_FILLED_BYTES {
                    return Some(value);
                }
                unfilled = Some(Unfilled::TooLong);
                return None;
            }
            Some(None) => {}
            None if is_name(name) => {}
            None => return None,
        }
        unfilled.get_or_insert_with(|| Unfilled::new(name, row));
        None
    });
    unfilled.map_or(Ok(filled), Err)
}

/// The value of a field; dots lead into what is nested.
fn row_value<'a>(row: &'a DataRow, field: &str) -> Option<&'a Value> {
    let mut keys = field.split('.');
    let first = row.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// Whether something between braces looks like a field that was to be filled in. Variables of the environment are
/// filled in by others.
pub fn is_name(text: &str) -> bool {
    let starts = text.starts_with(|text: char| text.is_alphabetic() || text == '_');
    starts
        && !text.starts_with("env.")
        && text.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}

fn texts_of<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Value::Object(map) => map.values().for_each(|value| texts_of(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Texts of a rubric that rows fill in when a judge is asked.
fn rubric_templates(rubric: &Rubric) -> Vec<&str> {
    let mut texts: Vec<&str> = rubric.description.as_deref().into_iter().collect();
    for question in rubric.questions() {
        texts.push(&question.criterion.description);
        texts.extend(question.node.map(|node| node.ask.as_str()));
        if let CriterionKind::Recipe(method) = &question.criterion.ask {
            method.params.values().for_each(|value| texts_of(value, &mut texts));
        }
    }
    texts.retain(|text| text.contains("{{"));
    texts
}

/// The fields of a row that a rubric's texts and its own prompt name.
pub fn named_row_fields(rubric: &Rubric) -> BTreeSet<String> {
    let texts = rubric_templates(rubric).into_iter().chain(rubric.prompt.as_deref());
    let is_part = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    let named = |text: &str| -> Vec<String> {
        let after = text.split("row").skip(1).map(|part| part.trim_start_matches(['.', '[', '"', '\'']));
        after
            .map(|after| after.split(|letter: char| !is_part(letter)).next().unwrap_or_default().to_owned())
            .collect()
    };
    texts.flat_map(named).filter(|text| !text.is_empty()).collect()
}

/// What `{{ env.NAME }}` or `{{ env.NAME | default("text") }}` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvironmentVariable<'a> {
    pub name: &'a str,
    /// What stands for it where it is not set.
    pub default: Option<&'a str>,
}

/// What follows the name of a variable and is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not understood after the name of a variable; only `default(\"…\")` may follow it")]
pub struct UnknownFilter(String);

impl<'a> EnvironmentVariable<'a> {
    /// Reads what stands between braces; `None` where it is no variable of the environment.
    pub fn parse(text: &'a str) -> Option<Result<Self, UnknownFilter>> {
        let text = text.strip_prefix("env.")?;
        let Some((name, filter)) = text.split_once('|') else {
            return Some(Ok(Self { name: text, default: None }));
        };
        let filter = filter.trim();
        let inner = filter.strip_prefix("default").map(str::trim_start);
        let inner = inner.and_then(|inner| inner.strip_prefix('(')?.strip_suffix(')')).map(str::trim);
        let quoted = |quote: char| inner?.strip_prefix(quote)?.strip_suffix(quote);
        let default = quoted('"').or_else(|| quoted('\''));
        let default = default.filter(|default| !default.contains(['"', '\'']));
        Some(match default {
            Some(_) => Ok(Self { name: name.trim_end(), default }),
            None => Err(UnknownFilter(filter.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_field_that_is_named_often_is_refused() {
        let row = DataRow::from_iter([("a".to_owned(), "x".repeat(1 << 20).into())]);
        assert_eq!(fill(&"{{ row.a }}".repeat(100_000), Some(&row)), Err(Unfilled::TooLong));
        assert_eq!(fill(&"{{ row.a }}".repeat(60), Some(&row)).map(|text| text.len()), Ok(60 << 20));
    }

    #[test]
    fn a_compact_row_reads_as_what_was_kept() {
        let line = r#"{"a": "x", "n": 0.1234567890123456789, "deep": {"b": [1, null]}}"#;
        let file: Arc<str> = format!("\u{feff}{line}\n").into();
        let row: DataRow = serde_json::from_str(line).unwrap();
        let bytes = 3..3 + u32::try_from(line.len()).unwrap();
        assert_eq!(CompactRow::of_line(&file, bytes, row.clone(), 1).read(), row);
        assert_eq!(CompactRow::of_row(row.clone(), 1).read(), row);
        let cells = DataRow::from_iter([("a".to_owned(), "\"0.10\"\n".into()), ("b".to_owned(), "".into())]);
        assert_eq!(CompactRow::of_row(cells.clone(), 1).read(), cells);
    }

    #[test]
    fn templates_take_the_fields_of_their_row() {
        let row: DataRow = serde_json::from_str(r#"{"a": "x", "n": 2, "deep": {"b": true}}"#).unwrap();
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = fill(text, Some(&row)).map_err(|unfilled| unfilled.to_string());
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        };
        check("{{ row.a }}-{{row.n}}", Ok("x-2"));
        check("{{ row.deep.b }}", Ok("true"));
        check("{{ env.X }} {{ a | b }} {{ open", Ok("{{ env.X }} {{ a | b }} {{ open"));
        check("{{ row.depe.b }}", Err("the row has no field `depe.b`; it has a, deep, n"));
        check("{{ row.c }}", Err("the row has no field `c`; it has a, deep, n"));
        check("{{ row.deeb }}", Err("the row has no field `deeb`; did you mean `row.deep`?"));
        check(r#"{{ "{{" }} row.c }} {{ row.n }}"#, Ok("{{ row.c }} 2"));
        check("{{other}}", Err("the row has no field `other`; it has a, deep, n"));
        check("{{ n }}", Err("`{{ n }}` is not defined; a field of the row is `{{ row.n }}`"));
    }

    #[test]
    fn without_a_row_only_escapes_are_resolved() {
        let text = r#"{{ "{{" }} row.a }} {{ row.b }} {{ c }}"#;
        assert_eq!(fill(text, None), Ok("{{ row.a }} {{ row.b }} {{ c }}".to_owned()));
    }

    #[test]
    fn variables_of_the_environment_may_have_a_default() {
        let read = |text: &'static str| {
            let found = EnvironmentVariable::parse(text)?;
            Some(
                found
                    .map(|environment_variable| (environment_variable.name, environment_variable.default))
                    .map_err(|unknown_filter| unknown_filter.to_string()),
            )
        };
        assert_eq!(read("row.x"), None);
        assert_eq!(read("env.X"), Some(Ok(("X", None))));
        assert_eq!(read("env.X | default(\"a, b\")"), Some(Ok(("X", Some("a, b")))));
        assert_eq!(read("env.X|default ( '' )"), Some(Ok(("X", Some("")))));
        for wrong in
            ["env.X | upper", "env.X | default(y)", "env.X | default(\"a\" ~ \"b\")", "env.X | default(\")"]
        {
            assert!(read(wrong).unwrap().unwrap_err().contains("only `default("), "{wrong}");
        }
    }
}
