//! A record of a file of candidates as material.

use serde_json::{Map, Value as Json};

use crate::candidate::{
    JudgeInput, pretty_value_text, read_trace_value, record_field, render_trace_for_judge, task_of_trace,
};
use crate::candidate::{
    Measurements, RecordError, RecordField, RecordFields, StepRole, TRACE_TOKENS, Trace, TraceError,
    TraceFormat,
};
use crate::catalogue::GradingMethod;
use crate::rubric::{CriterionKind, Rubric};

/// What the parts of `inputs` are called, where a recipe says so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordKeys {
    pub question: Option<String>,
    pub context: Option<String>,
    pub requirements: Option<String>,
}

/// Two criteria of a rubric that are to read different fields of one record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{parameter}` is `{first}` in one criterion and `{second}` in another; a record is read in one way")]
pub struct RecordKeyConflict {
    parameter: &'static str,
    first: String,
    second: String,
}

impl RecordKeys {
    /// The names that a recipe gives.
    pub fn of_method(method: &GradingMethod) -> Self {
        let key = |name: &str| method.params.get(name).and_then(Json::as_str).map(str::to_owned);
        Self {
            question: key("question_key"),
            context: key("context_key"),
            requirements: key("requirements_key"),
        }
    }

    /// The names that the recipes of a rubric give.
    pub fn of_rubric(rubric: &Rubric) -> Result<Self, RecordKeyConflict> {
        let mut keys = Self::default();
        for question in rubric.questions() {
            let CriterionKind::Recipe(method) = &question.criterion.ask else { continue };
            let named = Self::of_method(method);
            for (parameter, known, named) in [
                ("question_key", &mut keys.question, named.question),
                ("context_key", &mut keys.context, named.context),
                ("requirements_key", &mut keys.requirements, named.requirements),
            ] {
                match (&*known, named) {
                    (Some(first), Some(second)) if *first != second => {
                        return Err(RecordKeyConflict { parameter, first: first.clone(), second });
                    }
                    (None, Some(named)) => *known = Some(named),
                    _ => {}
                }
            }
        }
        Ok(keys)
    }

    /// All names that are given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.question, &self.context, &self.requirements].into_iter().flatten().map(String::as_str)
    }
}

/// What a question may be called inside `inputs`.
const QUESTIONS: [&str; 8] =
    ["question", "task", "prompt", "input", "user_input", "query", "text", "messages"];

impl JudgeInput {
    /// From a line of JSON. Something that looks like a trace and cannot be read is an error.
    ///
    /// ```
    /// use jurist_core::candidate::JudgeInput;
    /// use jurist_core::judge::RecordKeys;
    ///
    /// let record = serde_json::json!({ "inputs": { "question": "2 + 2?", "context": ["arithmetic"] }, "outputs": "4" });
    /// let material = JudgeInput::from_record(&record, &RecordKeys::default()).unwrap();
    /// assert_eq!((material.task.as_str(), material.answer()), ("2 + 2?", "4"));
    /// ```
    pub fn from_record(record: &Json, keys: &RecordKeys) -> Result<Self, RecordError> {
        let fields = RecordFields::read(record);
        let part = |field: RecordField, parameter: &'static str, key: Option<&str>| match key {
            Some(key) => find_keyed_value(record, &fields, parameter, key),
            None => Ok(fields.non_null_value(field).or_else(|| fields.inside_task(field))),
        };
        let context = part(RecordField::Context, "context_key", keys.context.as_deref())?
            .or_else(|| fields.inside(RecordField::Response, RecordField::Context));
        let requirements = part(RecordField::Requirements, "requirements_key", keys.requirements.as_deref())?;
        let mut material = Self {
            task: read_task_text(record, &fields, keys)?,
            context: context.map(value_texts).unwrap_or_default(),
            requirements: requirements.map(value_texts).unwrap_or_default(),
            diff: fields.non_null_value(RecordField::Diff).map(pretty_value_text),
            reference_calls: fields.non_null_value(RecordField::ReferenceCalls).cloned(),
            measurements: Measurements::from_fields(&fields),
            ..Self::default()
        };
        let references = fields.references();
        if !references.iter().all(Json::is_null) {
            material.reference = Some(match references {
                [only] => plain_text(only),
                responses => {
                    format!(
                        "One of:\n- {}",
                        responses.iter().map(pretty_value_text).collect::<Vec<_>>().join("\n- ")
                    )
                }
            });
            material.raw_reference = references.first().cloned();
            material.other_references = references.iter().skip(1).cloned().collect();
        }
        material.add_output(&fields)?;
        if let (true, Some(trace)) = (material.task.is_empty(), &material.trace) {
            material.task = task_of_trace(trace).unwrap_or_default();
        }
        Ok(material)
    }

    fn add_output(&mut self, fields: &RecordFields<'_>) -> Result<(), RecordError> {
        let output = fields.response()?.filter(|value| !value.is_null());
        let run = fields.non_null_value(RecordField::Trace);
        self.raw_output = output.or(run).cloned();
        match output {
            Some(Json::String(text)) => self.response = Some(text.clone()),
            // A value that is no trace is an answer in JSON.
            Some(value) => match read_trace_value(value, None) {
                Err(error @ TraceError::MisspeltKey { .. }) => return Err(error.into()),
                Ok((TraceFormat::Text, _)) | Err(_) => self.response = Some(answer_text(value)),
                Ok((_, trace)) => self.trace = Some(trace),
            },
            None => {}
        }
        if let Some(value) = run {
            match read_trace_value(value, None)? {
                // The text may be the id of a trace; the response is graded.
                (TraceFormat::Text, _) if self.response.is_some() => {}
                (TraceFormat::Text, _) => self.response = Some(pretty_value_text(value)),
                (_, trace) => self.trace = Some(trace),
            }
        }
        // A conversation of ragas holds the answers as well.
        let conversation =
            fields.non_null_value(RecordField::Task).filter(|_| output.is_none() && run.is_none());
        let is_spoken = |trace: &Trace| trace.steps.iter().any(|step| step.role == StepRole::Assistant);
        if self.diff.is_none()
            && let Some(trace) = conversation.and_then(parse_message_trace).filter(is_spoken)
        {
            self.task = task_of_trace(&trace).unwrap_or_default();
            self.raw_output = conversation.cloned();
            self.trace = Some(trace);
        }
        Ok(())
    }
}

/// The value at the place that a recipe's key parameter names.
fn find_keyed_value<'a>(
    record: &'a Json,
    fields: &RecordFields<'a>,
    parameter: &'static str,
    key: &str,
) -> Result<Option<&'a Json>, RecordError> {
    let inside = fields.non_null_value(RecordField::Task).and_then(|inputs| inputs.get(key));
    let value = inside.or_else(|| record.get(key));
    value.map(Some).ok_or_else(|| RecordError::NoSuchField { parameter, name: key.to_owned() })
}

fn read_task_text(
    record: &Json,
    fields: &RecordFields<'_>,
    keys: &RecordKeys,
) -> Result<String, RecordError> {
    let inputs = fields.non_null_value(RecordField::Task);
    let task = match (inputs, keys.question.as_deref()) {
        // The input is the question itself.
        (Some(Json::String(text)), _) => text.clone(),
        (_, Some(key)) => {
            find_keyed_value(record, fields, "question_key", key)?.map(conversation_text).unwrap_or_default()
        }
        (Some(Json::Object(map)), None) => question_in(map),
        (Some(other), None) => conversation_text(other),
        (None, None) => String::new(),
    };
    let choices = fields.non_null_value(RecordField::Choices).and_then(Json::as_array);
    let choices = choices.into_iter().flatten().filter_map(Json::as_str);
    let choices: Vec<String> =
        ('A'..='Z').zip(choices).map(|(letter, text)| format!("{letter}) {text}")).collect();
    Ok(if choices.is_empty() { task } else { format!("{task}\n\n{}", choices.join("\n")) })
}

/// The question among several inputs; without one that is known by its name, all that is left without the context.
fn question_in(inputs: &Map<String, Json>) -> String {
    if let Some(question) =
        QUESTIONS.iter().filter_map(|name| inputs.get(*name)).find(|value| !value.is_null())
    {
        return conversation_text(question);
    }
    let mut rest = without_context_fields(inputs);
    rest.retain(|_, value| !value.is_null());
    if rest.is_empty() { String::new() } else { plain_text(&Json::Object(rest)) }
}

/// A mapping without the documents, which are in a part of their own.
fn without_context_fields(map: &Map<String, Json>) -> Map<String, Json> {
    let is_other =
        |name: &str| matches!(record_field(name), Some(RecordField::Context | RecordField::Requirements));
    let rest = map.iter().filter(|(name, _)| !is_other(name));
    rest.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// An answer in JSON, without the documents that it came with.
fn answer_text(value: &Json) -> String {
    let rest = value.as_object().map(without_context_fields).filter(|rest| !rest.is_empty());
    rest.map_or_else(|| pretty_value_text(value), |rest| plain_text(&Json::Object(rest)))
}

/// The text of a value: messages as a conversation, a single question as its text, everything else as formatted JSON.
fn conversation_text(value: &Json) -> String {
    let Some(trace) = parse_message_trace(value) else { return pretty_value_text(value) };
    match trace.steps.as_slice() {
        [only] if only.role == StepRole::User && !only.text.is_empty() => only.text.clone(),
        _ => render_trace_for_judge(&trace, TRACE_TOKENS),
    }
}

fn parse_message_trace(value: &Json) -> Option<Trace> {
    let (format, trace) = value.as_array().and_then(|_| read_trace_value(value, None).ok())?;
    (format != TraceFormat::Text && !trace.steps.is_empty()).then_some(trace)
}

/// The one text that a mapping holds, such as `{"answer": "…"}`; everything else as JSON.
fn plain_text(value: &Json) -> String {
    let only = value.as_object().filter(|map| map.len() == 1).and_then(|map| map.values().next());
    match only {
        Some(Json::String(text)) => text.clone(),
        _ => pretty_value_text(value),
    }
}

fn value_texts(value: &Json) -> Vec<String> {
    match value {
        Json::Array(items) => items.iter().map(pretty_value_text).collect(),
        Json::Null => Vec::new(),
        one => Some(pretty_value_text(one)).filter(|text| !text.trim().is_empty()).into_iter().collect(),
    }
}
