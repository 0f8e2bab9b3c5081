//! The cases of a file, and everything they share.

mod annotation;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use annotation::{Annotation, ErrorKind, Notes, Overall, Scheme, SchemeKind, Severity, Trajectory};

use crate::candidate::Candidate;
use crate::rubric::{OnError, Rubric};

/// What one file, with all that it refers to, asks for. The same whatever dialect it was written in.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Suite {
    pub name: Option<String>,
    pub description: Option<String>,
    pub judge: Judge,
    pub judges: BTreeMap<String, Judge>,
    pub agent: Agent,
    pub servers: BTreeMap<String, Server>,
    /// Rubrics that have a name of their own, whether or not a case uses them.
    pub rubrics: BTreeMap<String, Arc<Rubric>>,
    pub cases: Vec<Case>,
    pub monitors: Vec<Monitor>,
    pub annotation: Option<Annotation>,
}

/// One candidate to grade with one rubric; a template for several where it has rows or a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub name: String,
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub candidate: Candidate,
    /// The MCP server that a live run talks to.
    pub server: Option<String>,
    /// What produces the candidate where it is not given; one case each.
    pub targets: Vec<Target>,
    /// Already completed from the suite's agent.
    pub agent: Agent,
    pub workspace: Option<Workspace>,
    pub rubric: Arc<Rubric>,
    /// Already completed from the suite's judge.
    pub judge: Judge,
    pub matrix: Matrix,
    pub data: Option<Data>,
    /// What people have answered, by the id of the question.
    pub labels: BTreeMap<String, Label>,
    /// Trials per case.
    pub repeat: u32,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub value: crate::rubric::Value,
    pub by: Option<String>,
    pub reason: Option<String>,
}

/// A program, model or service that answers a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub id: String,
    pub label: Option<String>,
    pub config: Map<String, Value>,
}

impl Target {
    /// What people call it.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// How a live run is made, and what bounds it. What is `None` is decided by what stands above.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Agent {
    pub model: Option<String>,
    /// What it is told before the task.
    pub system: Option<String>,
    /// Replies of the model.
    pub max_steps: Option<u32>,
    /// Tokens of the whole run, in and out.
    pub max_tokens: Option<u64>,
    /// Seconds for the whole run.
    pub timeout: Option<f64>,
    /// Seconds for one call of a tool.
    pub tool_timeout: Option<f64>,
}

impl Agent {
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
pub struct Matrix {
    /// Judge models.
    pub models: Vec<String>,
    pub prompts: Vec<String>,
}

/// Rows of a data file: one case each.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Path or pattern as written.
    pub path: String,
    pub rows: Vec<Arc<Row>>,
}

pub type Row = Map<String, Value>;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub enum Server {
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, String>, cwd: Option<String> },
    Http { url: String, headers: BTreeMap<String, String> },
}

/// A standing rubric over live traces.
#[derive(Debug, Clone, PartialEq)]
pub struct Monitor {
    /// Agents watched, each perhaps with a rate of its own.
    pub agents: Vec<(String, AgentOverride)>,
    pub rubric: Arc<Rubric>,
    pub judges: Vec<String>,
    /// Judges further apart than this, on 0..=1, are flagged.
    pub disagreement_margin: Option<f64>,
    /// Share of finished traces that is judged.
    pub sample_rate: f64,
    pub good_anchors: Vec<String>,
    pub bad_anchors: Vec<String>,
    pub schedule: Option<String>,
    pub filter: Map<String, Value>,
    pub budget: Option<Budget>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AgentOverride {
    pub sample_rate: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// In whole units of the currency.
    pub monthly: f64,
    pub currency: String,
}

/// A field that a template names and a row does not have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the row has no field `{0}`")]
pub struct MissingField(pub String);

impl Case {
    /// The single cases this one stands for: rows × prompts × targets × judge models, in that order.
    pub fn expand(&self) -> Result<Vec<Cell>, MissingField> {
        let rows: Vec<Option<&Arc<Row>>> = match &self.data {
            Some(data) => data.rows.iter().map(Some).collect(),
            None => vec![None],
        };
        let (template, mut cells) = (self.without_data(), Vec::new());
        for (at, row) in rows.into_iter().enumerate() {
            let mut case = template.filled(row.map(|it| &**it))?;
            if row.is_some() {
                case.name = format!("{} [row {}]", case.name, at + 1);
            }
            // What is given needs nobody to produce it.
            if case.candidate.is_given() {
                case.targets.clear();
            }
            let n_targets = case.targets.len();
            for (prompt_at, prompt) in axis(&case.matrix.prompts) {
                for (_, target) in axis(&case.targets) {
                    for (_, model) in axis(&case.matrix.models) {
                        let mut case = case.clone();
                        if let Some(prompt) = prompt {
                            case.name = format!("{} [prompt {}]", case.name, prompt_at + 1);
                            case.candidate.input = Some(prompt.clone());
                        }
                        if let Some(target) = target {
                            if 1 < n_targets {
                                case.name = format!("{} [{}]", case.name, target.name());
                            }
                            case.targets = vec![target.clone()];
                        }
                        if let Some(model) = model {
                            case.name = format!("{} [{model}]", case.name);
                            case.judge.model = Some(model.clone());
                        }
                        case.matrix = Matrix::default();
                        // Whatever answers the same task before the same judge is a sibling.
                        let task = format!("{} {at} {}", self.name, model.map_or("", String::as_str));
                        cells.push(Cell { case, row: row.cloned(), task });
                    }
                }
            }
        }
        Ok(cells)
    }

    /// The rows stay behind: copying them into every case would cost the square of their number.
    fn without_data(&self) -> Self {
        Self {
            name: self.name.clone(),
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

    fn filled(&self, row: Option<&Row>) -> Result<Self, MissingField> {
        let mut case = self.clone();
        let Some(row) = row else { return Ok(case) };
        let candidate = &mut case.candidate;
        let single =
            [&mut candidate.input, &mut candidate.response, &mut candidate.diff].into_iter().flatten();
        let lists = candidate.context.iter_mut().chain(&mut case.matrix.prompts).chain([&mut case.name]);
        for text in single.chain(lists) {
            *text = fill(text, row)?;
        }
        for value in candidate.messages.iter_mut().chain(&mut candidate.expected) {
            fill_value(value, row)?;
        }
        match &mut candidate.trace {
            Some(crate::candidate::TraceSource::File(path)) => *path = fill(path, row)?,
            Some(crate::candidate::TraceSource::Inline(value)) => fill_value(value, row)?,
            None => {}
        }
        Ok(case)
    }
}

/// A case that stands for itself alone, with the row it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub case: Case,
    /// Fills `{{ row.field }}` in the rubric's texts when a judge is asked.
    pub row: Option<Arc<Row>>,
    /// The same for all that do one task: rows and judges differ, targets and prompts need not.
    pub task: String,
}

fn axis<T>(values: &[T]) -> Vec<(usize, Option<&T>)> {
    if values.is_empty() { vec![(0, None)] } else { values.iter().map(Some).enumerate().collect() }
}

/// Replaces `{{ row.field }}` by the row's value; text as it is, everything else as JSON.
pub fn fill(text: &str, row: &Row) -> Result<String, MissingField> {
    let mut missing = None;
    let filled = replace(text, |name| {
        let field = name.strip_prefix("row.")?;
        let value = field.split('.').try_fold(None, |value: Option<&Value>, key| match value {
            None => row.get(key).map(Some),
            Some(value) => value.get(key).map(Some),
        });
        match value.flatten() {
            Some(Value::String(it)) => Some(it.clone()),
            Some(it) => Some(it.to_string()),
            None => {
                missing.get_or_insert_with(|| field.to_owned());
                None
            }
        }
    });
    missing.map_or(Ok(filled), |it| Err(MissingField(it)))
}

fn fill_value(value: &mut Value, row: &Row) -> Result<(), MissingField> {
    match value {
        Value::String(text) => *text = fill(text, row)?,
        Value::Array(items) => items.iter_mut().try_for_each(|it| fill_value(it, row))?,
        Value::Object(map) => map.values_mut().try_for_each(|it| fill_value(it, row))?,
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// Replaces `{{ name }}` where `with` knows the name, and leaves everything else as it stands.
pub fn replace(text: &str, mut with: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(len) = rest[start + 2..].find("}}") else { break };
        let end = start + 2 + len + 2;
        out.push_str(&rest[..start]);
        match with(rest[start + 2..end - 2].trim()) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[start..end]),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_take_the_fields_of_their_row() {
        let row: Row = serde_json::from_str(r#"{"a": "x", "n": 2, "deep": {"b": true}}"#).unwrap();
        let check = |text: &str, expected: Result<&str, &str>| {
            let expected = expected.map(str::to_owned).map_err(|it| MissingField(it.to_owned()));
            assert_eq!(fill(text, &row), expected, "{text}");
        };
        check("{{ row.a }}-{{row.n}}", Ok("x-2"));
        check("{{ row.deep.b }}", Ok("true"));
        check("{{ other }} {{ open", Ok("{{ other }} {{ open"));
        check("{{ row.c }}", Err("c"));
    }
}
