//! Deterministic checks: decided by code, the same every time.
//!
//! A check is compiled once, which finds every fault of its parameters, and then run on any number of subjects.
//! What a program, a service or the other outputs of a case decide is compiled here as well, and run elsewhere.

mod bounds;
mod calls;
mod external;
mod fields;
mod html;
mod json;
mod limits;
mod matching;
mod max_score;
mod meteor;
mod overlap;
mod pattern_work;
mod provider;
mod refusal;
mod similarity;
mod spans;
mod sql;
mod subject;
mod text;
mod tool_calls;
mod xml;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::catalogue::{CHECKS, CatalogueEntry, CheckName, GradingMethod, find_catalogue_entry};

pub use external::{
    BadAnswer, CheckCode, ExternalCheck, ExternalInput, ExternalKind, ExternalVerdict, ScriptCommand,
    VerdictPart,
};
pub use json::find_schema_misfit;
pub use max_score::{MaxScore, MaxScoreResult, ScoredCriterion};
pub(crate) use pattern_work::{estimate_check_work, estimate_pattern_work};
pub use provider::ModerationReport;
pub use similarity::EmbeddingModel;
use subject::SearchScope;
pub use subject::{CheckSubject, SubjectTrace};
pub use tool_calls::{DeclaredTool, read_call_list, read_declared_tools};

/// What a check says. Without a score, the comment tells why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckFinding {
    /// On 0..=1.
    pub score: Option<f64>,
    /// The raw answer: true or false, a count, a distance.
    pub value: Value,
    pub comment: String,
    /// Figures in addition to the score, such as precision in addition to recall.
    pub metadata: Map<String, Value>,
    /// The check would have taken too long, or a service failed; that is an error, never a score.
    pub failed: bool,
}

impl CheckFinding {
    fn pass_or_fail(passed: bool, comment: impl Into<String>) -> Self {
        Self::from_score(f64::from(u8::from(passed)), passed, comment)
    }

    fn from_score(score: f64, value: impl Into<Value>, comment: impl Into<String>) -> Self {
        Self {
            score: Some(score),
            value: value.into(),
            comment: comment.into(),
            metadata: Map::new(),
            failed: false,
        }
    }

    /// Partial credit; only all of it passes.
    fn partial_credit(score: f64, comment: impl Into<String>) -> Self {
        Self::from_score(score, 1.0 <= score, comment)
    }

    /// Nothing to check against is not a failure.
    fn without_score(why: impl Into<String>) -> Self {
        Self { score: None, value: Value::Null, comment: why.into(), metadata: Map::new(), failed: false }
    }

    /// Beyond the limits of the check, or without a service that it needs.
    pub fn from_failure(why: impl Into<String>) -> Self {
        Self { failed: true, ..Self::without_score(why) }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }
}

/// Why a check cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadCheck {
    #[error("there is no check `{0}`")]
    Unknown(String),
    #[error("`{check}` has no parameter `{name}`; it has {known}")]
    UnknownParameter { check: &'static str, name: String, known: String },
    #[error("`{check}` needs `{name}`")]
    Missing { check: &'static str, name: &'static str },
    #[error("`{name}` of `{check}`: {problem}")]
    Parameter { check: &'static str, name: String, problem: String },
    #[error(
        "`{0}` is decided by a program, a service or the other outputs of a case, so no record can name it for itself"
    )]
    NotLocal(&'static str),
}

/// Any check of the catalogue, ready to run.
#[derive(Debug)]
pub enum CompiledCheck {
    /// Decided from the subject alone, perhaps with embeddings.
    Local(Check),
    /// Decided by a program or a service.
    External(ExternalCheck),
    /// Decided when all outputs of the case are graded.
    MaxScore(MaxScore),
}

impl CompiledCheck {
    /// From a name and parameters as data; every parameter is checked.
    pub fn new(name: &str, params: &Value) -> Result<Self, BadCheck> {
        Self::compile_literally(&read_check_method(name, params)?)
    }

    /// From a method of a rubric, whose parameters have the right types already, or do not: then it says so.
    pub fn compile(method: &GradingMethod) -> Result<Self, BadCheck> {
        Self::compile_literally(&method.without_escapes())
    }

    fn compile_literally(method: &GradingMethod) -> Result<Self, BadCheck> {
        #[cfg(test)]
        N_COMPILED.set(N_COMPILED.get() + 1);
        let params = Params { entry: method.entry, map: &method.params };
        let Some(check) = method.entry.check else {
            return Err(BadCheck::Unknown(method.entry.name.to_owned()));
        };
        let kind = match check {
            CheckName::External(check) => {
                return external::compile_external_check(check, &params).map(Self::External);
            }
            CheckName::MaxScore => return max_score::compile_max_score(&params).map(Self::MaxScore),
            CheckName::Text(check) => CheckKind::Text(text::compile_text_check(check, &params)?),
            CheckName::Json(check) => CheckKind::Json(json::compile_json_check(check, &params)?),
            CheckName::Calls(check) => CheckKind::Calls(calls::compile_call_check(check, &params)?),
            CheckName::Bounds(check) => CheckKind::Bounds(bounds::compile_bounds_check(check, &params)?),
            CheckName::FieldAccuracy => CheckKind::Fields(fields::compile_field_accuracy(&params)?),
            CheckName::Overlap(check) => CheckKind::Overlap(overlap::compile_overlap_check(check, &params)?),
            CheckName::Similarity(check) => {
                CheckKind::Similarity(similarity::compile_similarity_check(check, &params)?)
            }
            CheckName::Sql { anywhere } => CheckKind::Sql(sql::compile_sql_check(anywhere, &params)?),
            CheckName::Xml { anywhere } => CheckKind::Xml(xml::compile_xml_check(anywhere, &params)?),
            CheckName::Html { anywhere } => CheckKind::Html(html::HtmlCheck { anywhere }),
            CheckName::Refusal => CheckKind::Refusal(refusal::RefusalCheck),
            CheckName::Spans(check) => CheckKind::Spans(spans::compile_span_check(check, &params)?),
            CheckName::ToolCalls => CheckKind::ToolCalls(tool_calls::compile_tool_call_check(&params)?),
            CheckName::Provider(check) => {
                CheckKind::Provider(provider::compile_provider_check(check, &params)?)
            }
        };
        let scopes = [("response", SearchScope::Response), ("trace", SearchScope::Trace)];
        let scope = params.word("scope", &scopes, SearchScope::Response)?;
        Ok(Self::Local(Check { kind, scope }))
    }

    fn into_local(self, entry: &'static CatalogueEntry) -> Result<Check, BadCheck> {
        match self {
            Self::Local(check) => Ok(check),
            Self::External(_) | Self::MaxScore(_) => Err(BadCheck::NotLocal(entry.name)),
        }
    }
}

/// A check that is decided from the subject alone.
#[derive(Debug)]
pub struct Check {
    kind: CheckKind,
    scope: SearchScope,
}

#[derive(Debug)]
enum CheckKind {
    Text(text::TextCheck),
    Json(json::JsonCheck),
    Calls(calls::CallCheck),
    Bounds(bounds::Bounds),
    Fields(fields::FieldAccuracy),
    Overlap(overlap::Overlap),
    Similarity(similarity::Similarity),
    Sql(sql::SqlCheck),
    Xml(xml::XmlCheck),
    Html(html::HtmlCheck),
    Refusal(refusal::RefusalCheck),
    Spans(spans::SpanCheck),
    ToolCalls(tool_calls::ToolCallCheck),
    Provider(provider::ProviderCheck),
}

impl Check {
    /// From a name and parameters as data; every parameter is checked.
    ///
    /// ```
    /// use jurist_core::check::{Check, CheckSubject};
    /// use serde_json::json;
    ///
    /// let check = Check::new("contains", &json!({ "value": "Paris" })).unwrap();
    /// let output = json!("Paris is the capital.");
    /// assert_eq!(check.run(&CheckSubject::from_outputs(&output, None)).score, Some(1.0));
    /// assert!(Check::new("contains", &json!({ "vaule": "Paris" })).is_err());
    /// ```
    pub fn new(name: &str, params: &Value) -> Result<Self, BadCheck> {
        let method = read_check_method(name, params)?;
        CompiledCheck::compile_literally(&method)?.into_local(method.entry)
    }

    /// From a method of a rubric, whose parameters have the right types already, or do not: then it says so.
    pub fn compile(method: &GradingMethod) -> Result<Self, BadCheck> {
        CompiledCheck::compile(method)?.into_local(method.entry)
    }

    pub fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        self.run_with(subject, &|_| None)
    }

    /// The model by which this check compares meanings, if it does.
    pub fn embedding_model(&self) -> Option<&EmbeddingModel> {
        if let CheckKind::Similarity(check) = &self.kind { Some(&check.model) } else { None }
    }

    /// The model that moderates the response, if this check asks one. Its report belongs to the subject.
    pub fn moderation_model(&self) -> Option<&str> {
        if let CheckKind::Provider(check) = &self.kind { check.moderation_model() } else { None }
    }

    /// The text that [`moderation_model`](Self::moderation_model) is asked about, if there is a response.
    pub fn text_to_moderate(&self, subject: &CheckSubject<'_>) -> Option<String> {
        if let CheckKind::Provider(check) = &self.kind { check.text_to_moderate(subject) } else { None }
    }

    /// Whether it needs more than the candidate: embeddings, a moderation service, or what a provider reported.
    pub fn needs_service(&self) -> bool {
        matches!(self.kind, CheckKind::Similarity(_) | CheckKind::Provider(_))
    }

    /// The score from which a comparison of meanings passes, if this is one with a threshold.
    pub fn least_similarity(&self) -> Option<f64> {
        if let CheckKind::Similarity(check) = &self.kind { check.least_score() } else { None }
    }

    /// The texts whose embeddings [`run_with`](Self::run_with) will ask for.
    pub fn texts(&self, subject: &CheckSubject<'_>) -> Vec<String> {
        let CheckKind::Similarity(check) = &self.kind else { return Vec::new() };
        let mut texts = check.texts(subject);
        for other in subject.other_references {
            texts.extend(check.texts(&subject.with_reference(other)));
        }
        texts
    }

    /// Like [`run`](Self::run), with embeddings at hand. Of several references that are equally right, the one counts
    /// with which the score is best.
    pub fn run_with(
        &self,
        subject: &CheckSubject<'_>,
        vector: &dyn Fn(&str) -> Option<Vec<f32>>,
    ) -> CheckFinding {
        if let Some(stopped) = subject.finding_if_stopped() {
            return stopped;
        }
        let mut best = self.run_once(subject, vector);
        for other in subject.other_references {
            // Without one of the comparisons, the best result is unknown.
            if best.failed {
                return best;
            }
            if let Some(stopped) = subject.finding_if_stopped() {
                return stopped;
            }
            let finding = self.run_once(&subject.with_reference(other), vector);
            if finding.failed || best.score < finding.score {
                best = finding;
            }
        }
        best
    }

    fn run_once(
        &self,
        subject: &CheckSubject<'_>,
        vector: &dyn Fn(&str) -> Option<Vec<f32>>,
    ) -> CheckFinding {
        match &self.kind {
            CheckKind::Text(check) => check.run(subject, self.scope),
            CheckKind::Json(check) => check.run(subject, self.scope),
            CheckKind::Calls(check) => check.run(subject),
            CheckKind::Bounds(check) => check.run(subject),
            CheckKind::Fields(check) => check.run(subject),
            CheckKind::Overlap(check) => check.run(subject),
            CheckKind::Similarity(check) => check.run(subject, vector),
            CheckKind::Sql(check) => check.run(subject),
            CheckKind::Xml(check) => check.run(subject),
            CheckKind::Html(check) => check.run(subject),
            CheckKind::Refusal(check) => check.run(subject),
            CheckKind::Spans(check) => check.run(subject),
            CheckKind::ToolCalls(check) => check.run(subject),
            CheckKind::Provider(check) => check.run(subject),
        }
    }
}

/// The entry of this name with its parameters, none of them unknown and none missing.
fn read_check_method(name: &str, params: &Value) -> Result<GradingMethod, BadCheck> {
    let entry = find_catalogue_entry(CHECKS, name).ok_or_else(|| BadCheck::Unknown(name.to_owned()))?;
    let empty = Map::new();
    let params = params.as_object().unwrap_or(&empty);
    let known = |key: &str| entry.params.iter().find(|param| param.name == key || param.alias == Some(key));
    let mut read = Map::new();
    for (key, value) in params {
        let Some(param) = known(key) else {
            let names: Vec<&str> = entry.params.iter().map(|param| param.name).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(BadCheck::UnknownParameter { check: entry.name, name: key.clone(), known });
        };
        if !value.is_null() {
            read.insert(param.name.to_owned(), value.clone());
        }
    }
    entry.settle_spelling(|key| params.get(key).is_some_and(|value| !value.is_null()), &mut read);
    if let Some(missing) = entry.params.iter().find(|param| param.required && !read.contains_key(param.name))
    {
        return Err(BadCheck::Missing { check: entry.name, name: missing.name });
    }
    Ok(GradingMethod { entry, params: read })
}

/// Parameters by name, each read as what it must be.
struct Params<'a> {
    entry: &'static CatalogueEntry,
    map: &'a Map<String, Value>,
}

impl Params<'_> {
    fn name(&self) -> &'static str {
        self.entry.name
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    fn bad(&self, name: &str, problem: impl Into<String>) -> BadCheck {
        BadCheck::Parameter { check: self.entry.name, name: name.to_owned(), problem: problem.into() }
    }

    fn text(&self, name: &str) -> Result<Option<String>, BadCheck> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.bad(name, format!("must be text, not {other}"))),
        }
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, BadCheck> {
        match self.get(name) {
            None => Ok(Vec::new()),
            // Commas separate texts where a file has only one field for them.
            Some(Value::String(text)) => Ok(text.split(',').map(|part| part.trim().to_owned()).collect()),
            Some(Value::Array(items)) => Ok(items.iter().map(plain_value_text).collect()),
            Some(other) => Err(self.bad(name, format!("must be a text or a list of texts, not {other}"))),
        }
    }

    fn map(&self, name: &str) -> Result<Option<&Map<String, Value>>, BadCheck> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(self.bad(name, format!("must be a mapping, not {other}"))),
        }
    }

    fn bool(&self, name: &str, default: bool) -> Result<bool, BadCheck> {
        match self.get(name) {
            None => Ok(default),
            Some(Value::Bool(it)) => Ok(*it),
            Some(other) => Err(self.bad(name, format!("must be true or false, not {other}"))),
        }
    }

    fn number(&self, name: &str) -> Result<Option<f64>, BadCheck> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value
                .as_f64()
                .map(Some)
                .ok_or_else(|| self.bad(name, format!("must be a number, not {value}"))),
        }
    }

    fn word<T: Copy>(&self, name: &str, words: &[(&str, T)], default: T) -> Result<T, BadCheck> {
        let Some(text) = self.text(name)? else { return Ok(default) };
        let known = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| self.bad(name, format!("`{text}` is not one of {}", known())))
    }
}

fn plain_value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The field of an object that holds its text.
fn text_field(value: &Value) -> Option<&str> {
    ["output", "text", "content", "answer", "final_answer"].iter().find_map(|key| value.get(*key)?.as_str())
}

/// The text of an output: itself, or the field that holds it.
fn text_of_output(value: &Value) -> Cow<'_, str> {
    match (value.as_str().or_else(|| text_field(value)), value) {
        (Some(text), _) => Cow::Borrowed(text),
        (None, other) => Cow::Owned(plain_value_text(other)),
    }
}

#[cfg(test)]
thread_local! {
    static N_COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How many checks are compiled meanwhile.
#[cfg(test)]
pub(crate) fn count_compiled_checks(work: impl FnOnce()) -> usize {
    let before = N_COMPILED.get();
    work();
    N_COMPILED.get() - before
}

#[cfg(test)]
mod tests;
