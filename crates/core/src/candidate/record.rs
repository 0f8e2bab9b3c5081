//! Fields of a record by the names that Jurist and other tools give them: one table, for judges and checks alike.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::pretty_value_text;
use crate::diagnostic::closest;

/// What a field of a record is to Jurist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordField {
    Id,
    Task,
    Choices,
    Context,
    Requirements,
    Response,
    Trace,
    Diff,
    Reference,
    ReferenceCalls,
    DurationMs,
    DurationSeconds,
    Cost,
    Usage,
    Evaluator,
    Params,
    /// Holds further fields of the record.
    Envelope,
    /// Holds the task and the reference, as `inputs` and `outputs`.
    Example,
}

/// The names of one field, in order of precedence.
#[derive(Debug)]
pub struct FieldRow {
    pub field: RecordField,
    pub about: &'static str,
    pub names: &'static [FieldName],
}

/// One name of a field, and the tool whose name it is.
#[derive(Debug)]
pub struct FieldName {
    pub name: &'static str,
    pub tool: &'static str,
}

const fn own(name: &'static str) -> FieldName {
    FieldName { name, tool: "Jurist" }
}

const fn by(tool: &'static str, name: &'static str) -> FieldName {
    FieldName { name, tool }
}

const RAGAS: &str = "ragas";
const DEEPEVAL: &str = "DeepEval";
const INSPECT: &str = "Inspect";
const OPENAI: &str = "OpenAI evals";
const LANGSMITH: &str = "LangSmith";
const BRAINTRUST: &str = "Braintrust";
const SHAREGPT: &str = "ShareGPT";
const TRL: &str = "TRL";

/// Names of fields that hold nothing but tool calls.
const CALL_LISTS: [&str; 5] =
    ["tools_called", "toolsCalled", "expected_tools", "expectedTools", "reference_tool_calls"];

const CONVERSATIONS: &str = "conversations";

/// Every name that a field of a record may have. Where a record has two names of one field, the first one here holds.
pub const RECORD_FIELDS: &[FieldRow] = &[
    FieldRow {
        field: RecordField::Response,
        about: "what is graded: a text, a JSON value, or a trace",
        names: &[
            own("response"),
            own("output"),
            own("answer"),
            own("outputs"),
            by(DEEPEVAL, "actual_output"),
            by(DEEPEVAL, "actualOutput"),
            by(OPENAI, "output_text"),
            by(OPENAI, "sampled"),
            by(TRL, "completion"),
        ],
    },
    FieldRow {
        field: RecordField::Trace,
        about: "what the agent did, in any format",
        names: &[
            own("trace"),
            own("messages"),
            by(SHAREGPT, CONVERSATIONS),
            by(DEEPEVAL, "turns"),
            by(DEEPEVAL, CALL_LISTS[0]),
            by(DEEPEVAL, CALL_LISTS[1]),
        ],
    },
    FieldRow {
        field: RecordField::Diff,
        about: "a unified diff of the files that changed",
        names: &[own("diff"), own("file_changes")],
    },
    FieldRow {
        field: RecordField::Task,
        about: "what was asked: a text, messages, or a mapping with `question`",
        names: &[
            own("input"),
            own("inputs"),
            own("task"),
            own("prompt"),
            own("question"),
            own("messages_in"),
            by(RAGAS, "user_input"),
            by(DEEPEVAL, "scenario"),
        ],
    },
    FieldRow {
        field: RecordField::Choices,
        about: "the answers to choose from, shown with the task",
        names: &[by(INSPECT, "choices")],
    },
    FieldRow {
        field: RecordField::Context,
        about: "documents that the answer may rest on",
        names: &[
            by(RAGAS, "retrieved_contexts"),
            by(DEEPEVAL, "retrieval_context"),
            by(DEEPEVAL, "retrievalContext"),
            own("context"),
            by(RAGAS, "contexts"),
            own("documents"),
            by(RAGAS, "reference_contexts"),
        ],
    },
    FieldRow {
        field: RecordField::Requirements,
        about: "what must be met, for `agent_as_judge`",
        names: &[own("requirements")],
    },
    FieldRow {
        field: RecordField::Reference,
        about: "what it is compared with",
        names: &[
            own("reference"),
            own("reference_outputs"),
            by(BRAINTRUST, "expected"),
            by(DEEPEVAL, "expected_output"),
            by(DEEPEVAL, "expectedOutput"),
            by(INSPECT, "target"),
            by(OPENAI, "ideal"),
            by(RAGAS, "ground_truth"),
            by(RAGAS, "ground_truths"),
            by(DEEPEVAL, "expected_outcome"),
        ],
    },
    FieldRow {
        field: RecordField::ReferenceCalls,
        about: "the tool calls that those of the trace are compared with",
        names: &[by(DEEPEVAL, CALL_LISTS[2]), by(DEEPEVAL, CALL_LISTS[3]), by(RAGAS, CALL_LISTS[4])],
    },
    FieldRow {
        field: RecordField::DurationMs,
        about: "how long the run took, in milliseconds",
        names: &[own("duration_ms"), own("latency_ms"), own("latencyMs"), own("latency")],
    },
    FieldRow {
        field: RecordField::DurationSeconds,
        about: "how long the run took, in seconds",
        names: &[
            by(DEEPEVAL, "completion_time"),
            by(DEEPEVAL, "completionTime"),
            by(INSPECT, "working_time"),
            by(INSPECT, "total_time"),
        ],
    },
    FieldRow {
        field: RecordField::Cost,
        about: "what the run cost, in dollars",
        names: &[
            own("cost_usd"),
            own("cost"),
            by(DEEPEVAL, "token_cost"),
            by(DEEPEVAL, "tokenCost"),
            by(LANGSMITH, "total_cost"),
        ],
    },
    FieldRow {
        field: RecordField::Usage,
        about: "the tokens that the run took",
        names: &[own("usage"), own("token_usage"), own("tokenUsage"), by(BRAINTRUST, "metrics")],
    },
    FieldRow {
        field: RecordField::Id,
        about: "kept in the result",
        names: &[
            own("id"),
            own("candidate"),
            own("trace_id"),
            by(OPENAI, "sample_id"),
            by(LANGSMITH, "example_id"),
        ],
    },
    FieldRow {
        field: RecordField::Evaluator,
        about: "the record's own check or recipe, where `--check` and `--rubric` are not given",
        names: &[own("evaluator"), own("check")],
    },
    FieldRow { field: RecordField::Params, about: "the parameters of `evaluator`", names: &[own("params")] },
    FieldRow {
        field: RecordField::Envelope,
        about: "a mapping with further fields of this table",
        names: &[
            by(OPENAI, "item"),
            by(OPENAI, "datasource_item"),
            by(OPENAI, "sample"),
            by(OPENAI, "data"),
            by(LANGSMITH, "run"),
        ],
    },
    FieldRow {
        field: RecordField::Example,
        about: "a mapping whose `inputs` are the task and whose `outputs` are the reference",
        names: &[by(LANGSMITH, "reference_example"), by(LANGSMITH, "example")],
    },
];

const N_FIELDS: usize = RecordField::Example as usize + 1;

/// The place of a name in the table.
#[derive(Clone, Copy)]
struct KnownName {
    name: &'static str,
    field: RecordField,
    rank: usize,
}

/// All names of the table in alphabetical order: a record has few fields, and each is looked up once.
static NAMES: LazyLock<Vec<KnownName>> = LazyLock::new(|| {
    let names_of = |row: &'static FieldRow| {
        let known = |(rank, field_name): (usize, &FieldName)| KnownName {
            name: field_name.name,
            field: row.field,
            rank,
        };
        row.names.iter().enumerate().map(known)
    };
    let mut names: Vec<KnownName> = RECORD_FIELDS.iter().flat_map(names_of).collect();
    names.sort_unstable_by_key(|known| known.name);
    names
});

fn known_name(name: &str) -> Option<KnownName> {
    NAMES.binary_search_by_key(&name, |known| known.name).ok().map(|at| NAMES[at])
}

/// What a field of this name is, if the table has it.
pub fn record_field(name: &str) -> Option<RecordField> {
    known_name(name).map(|known| known.field)
}

/// The name of the table that `name` is most likely a slip of the keyboard for.
pub fn closest_field(name: &str) -> Option<&'static str> {
    let names: Vec<&'static str> = NAMES.iter().map(|known| known.name).collect();
    // A known name whose content is something else than usual is spelt right.
    closest(name, &names).filter(|meant| *meant != name)
}

/// The fields of one record, whichever of their names the record uses.
#[derive(Debug, Clone, Default)]
pub struct RecordFields<'a> {
    found: [Option<FoundField<'a>>; N_FIELDS],
    /// Names of the record that the table does not have.
    pub unknown: Vec<&'a str>,
    /// Fields that the record has twice, with different contents.
    pub overruled: Vec<OverruledField<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct FoundField<'a> {
    name: &'a str,
    rank: usize,
    value: &'a Value,
}

/// Two names of one field with different contents: which one holds, and which one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverruledField<'a> {
    pub used: &'a str,
    pub unused: &'a str,
}

/// Why a record cannot be graded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecordError {
    #[error("the record has no `output`{}", .0.as_deref().map(format_field_hint).unwrap_or_default())]
    NoOutput(Option<String>),
    #[error("`sampled` holds {0} responses, and a record has one; write a record for each")]
    SeveralResponses(usize),
    #[error(
        "`{parameter}` names the field `{name}`, which the record has neither in `inputs` nor at its top"
    )]
    NoSuchField { parameter: &'static str, name: String },
    #[error(transparent)]
    Trace(#[from] super::TraceError),
}

fn format_field_hint(name: &str) -> String {
    format!("; is `{name}` meant for it?")
}

impl<'a> RecordFields<'a> {
    /// ```
    /// use jurist_core::candidate::{RecordField, RecordFields};
    ///
    /// let record = serde_json::json!({ "user_input": "2 + 2?", "response": "4", "retreived_contexts": ["arithmetic"] });
    /// let fields = RecordFields::read(&record);
    /// assert_eq!(fields.non_null_value(RecordField::Task).unwrap(), "2 + 2?");
    /// assert_eq!(fields.unknown, ["retreived_contexts"]);
    /// ```
    pub fn read(record: &'a Value) -> Self {
        let mut fields = Self::default();
        let Some(map) = record.as_object() else { return fields };
        let mut holders: Vec<(KnownName, &'a Map<String, Value>)> = Vec::new();
        for (name, value) in map {
            match (known_name(name), value) {
                (Some(known), Value::Object(inner)) if known.holds_fields() => holders.push((known, inner)),
                (Some(known), _) if !known.holds_fields() && !is_about_code(known, value) => {
                    fields.add(known, name, value);
                }
                _ => fields.unknown.push(name),
            }
        }
        fields.settle_overruled(map);
        holders.sort_unstable_by_key(|(known, _)| (known.field as usize, known.rank));
        for (holder, inner) in holders {
            // Logs of OpenAI evals say `data` for many things; only their events are records.
            let is_event = holder.name != "data" || map.contains_key("event_id");
            if !is_event || !fields.add_held(holder, inner) {
                fields.unknown.push(holder.name);
            }
        }
        fields
    }

    fn add(&mut self, known: KnownName, name: &'a str, value: &'a Value) {
        let slot = &mut self.found[known.field as usize];
        let new = FoundField { name, rank: known.rank, value };
        let Some(old) = *slot else {
            *slot = Some(new);
            return;
        };
        // A field with a value takes precedence over one that is null.
        let precedence = |field: &FoundField<'_>| (field.value.is_null(), field.rank);
        let (used, unused) = if precedence(&new) < precedence(&old) { (new, old) } else { (old, new) };
        *slot = Some(used);
        if !unused.value.is_null() && used.value != unused.value {
            self.overruled.push(OverruledField { used: used.name, unused: unused.name });
        }
    }

    /// Names are read in their own order, so one that was taken first may have given way since.
    fn settle_overruled(&mut self, map: &'a Map<String, Value>) {
        let found = &self.found;
        self.overruled.retain_mut(|pair| {
            let used = known_name(pair.unused).and_then(|known| found[known.field as usize]);
            let Some(used) = used.filter(|used| map.get(pair.unused) != Some(used.value)) else {
                return false;
            };
            pair.used = used.name;
            true
        });
    }

    /// Takes from a holder what the record itself does not say; whether there was anything.
    fn add_held(&mut self, holder: KnownName, inner: &'a Map<String, Value>) -> bool {
        let mut held = Self::default();
        for (name, value) in inner {
            let known = match (holder.field, name.as_str()) {
                (RecordField::Example, "inputs") => known_name("inputs"),
                (RecordField::Example, "outputs") => known_name("reference_outputs"),
                (RecordField::Example, _) => None,
                _ => known_name(name).filter(|known| !known.holds_fields()),
            };
            if let Some(known) = known {
                held.add(known, name, value);
            }
        }
        let mut is_used = false;
        for (slot, new) in self.found.iter_mut().zip(held.found) {
            if new.is_some() && slot.is_none_or(|old| old.value.is_null()) {
                *slot = new;
                is_used = true;
            }
        }
        is_used
    }

    /// The value of a field under any of its names; null if all of them are null.
    pub fn value(&self, field: RecordField) -> Option<&'a Value> {
        self.found[field as usize].map(|found| found.value)
    }

    /// The value under any name of a field, unless it is null.
    pub fn non_null_value(&self, field: RecordField) -> Option<&'a Value> {
        self.value(field).filter(|value| !value.is_null())
    }

    /// The name that the record uses for a field.
    pub fn name(&self, field: RecordField) -> Option<&'a str> {
        self.found[field as usize].map(|found| found.name)
    }

    /// A part of the task, such as the context, inside `inputs`.
    pub fn inside_task(&self, field: RecordField) -> Option<&'a Value> {
        self.inside(RecordField::Task, field)
    }

    /// A field inside another one, under any of its names.
    pub fn inside(&self, holder: RecordField, field: RecordField) -> Option<&'a Value> {
        let map = self.non_null_value(holder)?.as_object()?;
        let row = RECORD_FIELDS.iter().find(|row| row.field == field)?;
        row.names.iter().filter_map(|name| map.get(name.name)).find(|value| !value.is_null())
    }

    /// The candidate's response: the value itself, or the text inside a tool's wrapper.
    pub fn response(&self) -> Result<Option<&'a Value>, RecordError> {
        let Some(value) = self.value(RecordField::Response) else { return Ok(None) };
        match value {
            Value::Object(map) if map.contains_key("choices") => {
                // A model's output as Inspect writes it.
                let message = map["choices"].get(0).and_then(|choice| choice.get("message")?.get("content"));
                Ok(map.get("completion").filter(|map| map.is_string()).or(message).or(Some(value)))
            }
            Value::Array(items) if self.name(RecordField::Response) == Some("sampled") => {
                match items.as_slice() {
                    [only] => Ok(Some(only)),
                    several => Err(RecordError::SeveralResponses(several.len())),
                }
            }
            value => Ok(Some(value)),
        }
    }

    /// The reference, or each of several that are equally right, as Inspect and OpenAI evals list them.
    pub fn references(&self) -> &'a [Value] {
        let lists_several = matches!(
            self.name(RecordField::Reference),
            Some("target" | "ideal" | "ground_truth" | "ground_truths")
        );
        match self.value(RecordField::Reference) {
            Some(Value::Array(items)) if lists_several && !items.is_empty() => items,
            Some(value) => std::slice::from_ref(value),
            None => &[],
        }
    }

    /// That nothing in the record can be graded, with the field that was perhaps meant.
    pub fn no_output(&self) -> RecordError {
        let graded = [RecordField::Response, RecordField::Trace, RecordField::Diff];
        let is_near = |name: &&&str| {
            closest_field(name).and_then(record_field).is_some_and(|field| graded.contains(&field))
        };
        RecordError::NoOutput(self.unknown.iter().find(is_near).map(|name| (*name).to_owned()))
    }
}

impl KnownName {
    fn holds_fields(self) -> bool {
        matches!(self.field, RecordField::Envelope | RecordField::Example)
    }
}

/// Makes one trace of what a record has in parts, so that everything that reads traces reads all of it: lists of tool
/// calls become messages, and the system prompt that ShareGPT writes next to a conversation becomes its first message.
pub fn expand_traces(record: &mut Value) {
    let Some(map) = record.as_object_mut() else { return };
    for (name, value) in map.iter_mut() {
        if CALL_LISTS.contains(&name.as_str())
            && let Value::Array(calls) = value
            && calls.iter().all(|call| call["name"].is_string() && call.get("role").is_none())
        {
            *value = calls.iter().flat_map(call_messages).collect();
        }
    }
    let first = map.get(CONVERSATIONS).and_then(|messages| messages.get(0));
    let is_sharegpt = first.is_some_and(|message| message["from"].is_string());
    if is_sharegpt
        && let Some(Value::String(system)) = map.get("system").cloned()
        && let Some(Value::Array(messages)) = map.get_mut(CONVERSATIONS)
    {
        messages.insert(0, json!({ "from": "system", "value": system }));
        map.remove("system");
    }
}

/// One tool call with its result: `{name, input_parameters, output}` or `{name, args}`.
fn call_messages(call: &Value) -> Vec<Value> {
    let arguments = ["input_parameters", "inputParameters", "args", "arguments"];
    let arguments = arguments.iter().filter_map(|key| call.get(*key)).find(|value| !value.is_null());
    let made = json!({ "name": call["name"], "args": arguments.cloned().unwrap_or_else(|| json!({})) });
    let mut messages = vec![json!({ "role": "assistant", "content": "", "tool_calls": [made] })];
    if let Some(output) = call.get("output").filter(|output| !output.is_null()) {
        messages.push(json!({ "role": "tool", "name": call["name"], "content": pretty_value_text(output) }));
    }
    messages
}

/// Braintrust calls the place in the code that made a record its `context`.
fn is_about_code(known: KnownName, value: &Value) -> bool {
    known.name == "context"
        && value.as_object().is_some_and(|map| map.keys().any(|key| key.starts_with("caller_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_in_the_table_once() {
        for pair in NAMES.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} stands twice", pair[1].name);
        }
        for row in RECORD_FIELDS {
            assert_eq!(RECORD_FIELDS.iter().filter(|other| other.field == row.field).count(), 1, "{row:?}");
        }
        assert_eq!(RECORD_FIELDS.len(), N_FIELDS);
    }

    #[test]
    fn the_first_name_holds_and_the_other_is_told() {
        let record = json!({ "response": "a", "output": "b", "answer": "a", "outputs": null });
        let fields = RecordFields::read(&record);
        assert_eq!(fields.response().unwrap().unwrap(), "a");
        assert_eq!(fields.overruled, [OverruledField { used: "response", unused: "output" }]);
    }

    #[test]
    fn a_record_says_more_than_what_it_holds() {
        let record = json!({ "id": 1, "run": { "id": 2, "outputs": { "answer": "x" } },
            "example": { "inputs": { "q": "?" }, "outputs": "y" }, "sample": "s" });
        let fields = RecordFields::read(&record);
        assert_eq!(fields.non_null_value(RecordField::Id).unwrap(), 1);
        assert_eq!(fields.non_null_value(RecordField::Response).unwrap(), &json!({ "answer": "x" }));
        assert_eq!(fields.non_null_value(RecordField::Reference).unwrap(), "y");
        assert_eq!(fields.unknown, ["sample"]);
    }
}
