//! What checks look at: one candidate, with everything that is known about it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::{CheckFinding, ModerationReport, text_field};
use crate::candidate::{
    GuardrailReport, JudgeInput, Measurements, RecordError, RecordField, RecordFields, Trace, TraceFormat,
};
use crate::candidate::{pretty_value_text, read_trace_value, recognise};

/// One candidate as checks see it. What is absent is `None`: a check that needs it says so and gives no number.
#[derive(Debug, Clone, Default)]
pub struct CheckSubject<'a> {
    /// The final response, a text or a JSON value; `None` if the last message of the trace is the response.
    pub response: Option<Cow<'a, Value>>,
    pub trace: Option<SubjectTrace<'a>>,
    /// A unified diff.
    pub diff: Option<&'a str>,
    /// A reference that is null is one that says nothing.
    pub reference: Option<Cow<'a, Value>>,
    /// Further references that are as right as that one.
    pub other_references: &'a [Value],
    /// Expected tool calls, if they are not in the reference.
    pub reference_calls: Option<&'a Value>,
    /// Measurements of the run: time, tokens, cost.
    pub measurements: Measurements,
    /// What the guardrails of the target's provider said.
    pub guardrails: Option<&'a GuardrailReport>,
    /// What a moderation service said about the response; only a check that asks for it needs it.
    pub moderation: Option<&'a ModerationReport>,
    /// Set by another thread when the finding is no longer needed. Each comparison has a limit of its own; between
    /// two of them the check looks here.
    pub stop: Option<&'a AtomicBool>,
}

/// A trace that has been read, or as it was written: then it is read only as far as a check needs it.
#[derive(Debug, Clone, Copy)]
pub enum SubjectTrace<'a> {
    Parsed(&'a Trace),
    Raw(&'a Value),
}

/// Which part of a candidate a text check searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SearchScope {
    #[default]
    Response,
    /// Every message, thought, call and result.
    Trace,
}

/// A run in which nothing was done.
const NO_STEPS: &Value = &Value::Array(Vec::new());

impl<'a> CheckSubject<'a> {
    /// From everything about a case that is graded.
    pub fn from_material(material: &'a JudgeInput) -> Self {
        let text = |text: &'a String| Cow::Owned(Value::String(text.clone()));
        // The raw output is the response only where the response was written from it.
        let raw = material.raw_output.as_ref().zip(material.response.as_ref());
        let raw = raw.filter(|(raw, response)| !raw.is_string() && pretty_value_text(raw) == **response);
        let raw_reference = material.raw_reference.as_ref().map(Cow::Borrowed);
        Self {
            response: raw.map(|(raw, _)| Cow::Borrowed(raw)).or_else(|| material.response.as_ref().map(text)),
            trace: material.trace.as_ref().map(SubjectTrace::Parsed),
            diff: material.diff.as_deref(),
            reference: raw_reference.or_else(|| material.reference.as_ref().map(text)),
            other_references: &material.other_references,
            reference_calls: material.reference_calls.as_ref(),
            measurements: material.measurements,
            guardrails: material.guardrails.as_ref(),
            moderation: None,
            stop: None,
        }
    }

    /// From a record, without reading more of it than checks will look at.
    pub fn from_fields(fields: &RecordFields<'a>) -> Result<Self, RecordError> {
        // An answer that is null says nothing where there is something else to look at.
        let others = [RecordField::Trace, RecordField::Diff];
        let has_other = others.into_iter().any(|field| fields.non_null_value(field).is_some());
        let response = fields.response()?.filter(|response| !response.is_null() || !has_other);
        // A trace that is a plain word is the id of one, unless there is nothing else.
        let run =
            fields.non_null_value(RecordField::Trace).filter(|run| response.is_none() || !is_plain_text(run));
        let is_of_potato = fields.name(RecordField::Response) == Some("outputs");
        let diff = fields.non_null_value(RecordField::Diff).and_then(Value::as_str);
        let subject = match (response, run) {
            (Some(response), Some(run)) => Self {
                response: Some(Cow::Borrowed(response)),
                trace: Some(SubjectTrace::Raw(run)),
                measurements: Measurements::from_json(response).or(Measurements::from_json(run)),
                ..Self::default()
            },
            (Some(outputs), None) if is_of_potato => Self::from_outputs(outputs, None),
            (Some(response), None) => Self::from_lone(response),
            (None, Some(run)) => Self::from_lone(run),
            (None, None) => {
                match fields.non_null_value(RecordField::Task).filter(|task| is_conversation(task)) {
                    Some(conversation) => Self::from_lone(conversation),
                    None if diff.is_some() => Self::default(),
                    None => return Err(fields.no_output()),
                }
            }
        };
        let (reference, other_references) = match fields.references() {
            [first, others @ ..] => (Some(Cow::Borrowed(first)), others),
            [] => (None, &[][..]),
        };
        Ok(Self {
            diff,
            reference,
            other_references,
            reference_calls: fields.non_null_value(RecordField::ReferenceCalls),
            measurements: Measurements::from_fields(fields).or(subject.measurements),
            ..subject
        })
    }

    /// From `outputs` and `reference_outputs` as Potato's evaluators take them: one value is both the response and the
    /// trace, and a text is a trace without tool calls.
    ///
    /// ```
    /// use jurist_core::check::{Check, CheckSubject};
    /// use serde_json::json;
    ///
    /// let run = json!([{ "role": "assistant", "content": "It is 4.90.", "tool_calls": [{ "name": "price", "args": {} }] }]);
    /// let subject = CheckSubject::from_outputs(&run, None);
    /// let passes = |name: &str, params| Check::new(name, &params).unwrap().run(&subject).score == Some(1.0);
    /// assert!(passes("tool_use", json!({ "expected_tool": "price" })));
    /// assert!(passes("equals", json!({ "value": "It is 4.90." })));
    /// ```
    pub fn from_outputs(outputs: &'a Value, reference: Option<&'a Value>) -> Self {
        let trace = if is_plain_text(outputs) { NO_STEPS } else { outputs };
        Self {
            trace: Some(SubjectTrace::Raw(trace)),
            reference: reference.map(Cow::Borrowed),
            ..Self::from_lone(outputs)
        }
    }

    /// One value is a trace if it can be recognised as one; otherwise it is the response. Either way a check on tool
    /// calls tries to read it, and says why it cannot.
    fn from_lone(value: &'a Value) -> Self {
        let is_response = value.is_string() || text_field(value).is_some() || recognise(value).is_none();
        Self {
            response: is_response.then_some(Cow::Borrowed(value)),
            trace: (!value.is_null()).then_some(SubjectTrace::Raw(value)),
            measurements: Measurements::from_json(value),
            ..Self::default()
        }
    }

    /// The same with another reference.
    pub(super) fn with_reference(&self, reference: &'a Value) -> Self {
        Self { reference: Some(Cow::Borrowed(reference)), other_references: &[], ..self.clone() }
    }

    /// The finding of a check that was stopped.
    pub(super) fn finding_if_stopped(&self) -> Option<CheckFinding> {
        let is_stopped = self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        is_stopped.then(|| CheckFinding::from_failure("the check was stopped"))
    }

    /// What a text check looks at, or that it is absent.
    pub(super) fn text_in(&self, scope: SearchScope) -> Result<Cow<'_, Value>, CheckFinding> {
        if scope == SearchScope::Trace {
            let mut text = self.read_trace()?.full_text();
            if let Some(response) = self.response.as_deref() {
                text.push('\n');
                text.push_str(&super::text_of_output(response));
            }
            return Ok(Cow::Owned(Value::String(text)));
        }
        if let Some(response) = self.response.as_deref() {
            return Ok(Cow::Borrowed(response));
        }
        if self.trace.is_none() {
            return Err(CheckFinding::without_score("there is no response to look at"));
        }
        match self.read_trace()?.answer() {
            Some(answer) => Ok(Cow::Owned(Value::String(answer.to_owned()))),
            None => Err(CheckFinding::without_score(
                "there is no response to look at: the trace ends without one",
            )),
        }
    }

    pub(super) fn response(&self) -> Result<Cow<'_, Value>, CheckFinding> {
        self.text_in(SearchScope::Response)
    }

    /// What the calls of the trace are compared with.
    pub(super) fn reference_trace(&self) -> Option<&Value> {
        self.reference_calls.or(self.reference.as_deref())
    }

    /// The trace unchanged, or an error if there is none.
    pub(super) fn required_trace(&self) -> Result<SubjectTrace<'a>, CheckFinding> {
        // Plain text is not a trace.
        let trace =
            self.trace.filter(|trace| !matches!(trace, SubjectTrace::Raw(value) if is_plain_text(value)));
        trace.ok_or_else(|| CheckFinding::without_score("there is no trace to look at"))
    }

    pub(super) fn read_trace(&self) -> Result<Cow<'a, Trace>, CheckFinding> {
        self.required_trace()?.read().map_err(CheckFinding::without_score)
    }

    /// What the run measured of itself, or else what its trace says of it.
    pub(super) fn effective_measurements(&self) -> Measurements {
        let of_trace = self.read_trace().map(|trace| Measurements::from_trace(&trace));
        self.measurements.or(of_trace.unwrap_or_default())
    }
}

impl<'a> SubjectTrace<'a> {
    /// Nothing at all is an empty trace, something unreadable is an error.
    pub(super) fn read(self) -> Result<Cow<'a, Trace>, String> {
        match self {
            Self::Parsed(trace) => Ok(Cow::Borrowed(trace)),
            Self::Raw(value) => match read_trace_value(value, None) {
                Ok((_, trace)) => Ok(Cow::Owned(trace)),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}

/// Whether messages hold an answer, and not only a question.
fn is_conversation(value: &Value) -> bool {
    let has_answer = || read_trace_value(value, None).ok().and_then(|(_, trace)| trace.answer().map(|_| ()));
    value.is_array() && has_answer().is_some()
}

/// Whether a value is words, and not a trace that some tool wrote into a text.
fn is_plain_text(value: &Value) -> bool {
    value.is_string() && matches!(recognise(value), None | Some(TraceFormat::Text))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::super::Check;
    use super::*;

    #[test]
    fn a_check_that_is_stopped_compares_no_further_reference() {
        let (stop, n_vectors) = (AtomicBool::new(false), Cell::new(0));
        // A comparison takes two vectors.
        let vector = |_: &str| {
            n_vectors.set(n_vectors.get() + 1);
            stop.store(4 <= n_vectors.get(), Ordering::Relaxed);
            Some(vec![1.0, 0.0])
        };
        let (output, references) = (json!("a"), vec![json!("b"); 1_000]);
        let subject = CheckSubject {
            other_references: &references,
            stop: Some(&stop),
            ..CheckSubject::from_outputs(&output, Some(&references[0]))
        };
        let check = Check::new("embedding_similarity", &json!({})).unwrap();
        let finding = check.run_with(&subject, &vector);
        assert!(finding.failed && finding.score.is_none(), "{finding:?}");
        assert_eq!(n_vectors.get(), 4, "two of a thousand comparisons");
    }

    #[test]
    fn a_check_that_is_stopped_looks_at_no_further_value() {
        let stop = AtomicBool::new(true);
        let tools = json!({ "tools": [{ "name": "price", "input_schema": { "type": "object" } }] });
        let calls = json!([{ "function": { "name": "price", "arguments": "{}" } }]);
        for (name, params, output) in
            [("contains-json", json!({}), json!("{} {}")), ("is-valid-openai-tools-call", tools, calls)]
        {
            let check = Check::new(name, &params).unwrap();
            let subject = CheckSubject::from_outputs(&output, None);
            assert!(!check.run_once(&subject, &|_| None).failed, "{name}");
            let stopped = CheckSubject { stop: Some(&stop), ..subject };
            assert!(check.run_once(&stopped, &|_| None).failed, "{name}");
        }
    }
}
