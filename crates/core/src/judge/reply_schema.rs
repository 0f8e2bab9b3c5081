//! The shape that a judge's reply must have, as a JSON Schema and in words.

use serde::ser::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::rubric::Scale;

/// The keys of a reply in the order in which a judge writes them: what it is about, then reasons,
/// then quotes, then the answer that they lead to. Small models answer before they think otherwise.
const REPLY_ORDER: [&str; 11] = [
    "id",
    "requirement",
    "claim",
    "reasoning",
    "evidence",
    "score",
    "verdict",
    "satisfied",
    "supported",
    "unsure",
    "steps",
];

fn order_of(key: &str) -> usize {
    REPLY_ORDER.iter().position(|other| *other == key).unwrap_or(REPLY_ORDER.len())
}

/// JSON for the wire, with the properties of a reply's schema in the order of the reply.
///
/// Servers that enforce a schema make the model write the properties in the order of the schema.
#[derive(Debug)]
pub struct InReplyOrder<'a>(pub &'a Value);

impl Serialize for InReplyOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut entries: Vec<(&String, &Value)> = map.iter().collect();
                entries.sort_by_key(|(key, _)| order_of(key));
                serializer.collect_map(entries.into_iter().map(|(key, value)| (key, InReplyOrder(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(InReplyOrder)),
            scalar => scalar.serialize(serializer),
        }
    }
}

/// What a reply must hold.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplySchema {
    /// One answer on a scale.
    Answer(AnswerSchema),
    /// An answer for each criterion, by id.
    Answers(Vec<(String, AnswerSchema)>),
    /// One of several labels, which are shown in this order.
    Choice { labels: Vec<String> },
    /// Claims, and whether each is supported.
    Claims,
    /// A verdict for each requirement; asked again, it may still say nothing.
    Verdicts { requirements: Vec<String>, again: bool },
    /// Steps to follow.
    Steps,
}

/// How one criterion is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    pub scale: Scale,
    /// Quotes are asked for.
    pub evidence: bool,
    /// A reply without a reason is malformed.
    pub reasoning: bool,
    /// The judge may say that it cannot tell.
    pub unsure: bool,
    /// The key that holds the answer in a reply of the author's own shape.
    pub own_key: Option<String>,
}

impl AnswerSchema {
    pub fn new(scale: Scale) -> Self {
        Self { scale, evidence: false, reasoning: false, unsure: false, own_key: None }
    }

    /// The key that holds the answer.
    pub(super) fn key(&self) -> &'static str {
        match self.scale {
            Scale::Binary | Scale::Choices(_) => "verdict",
            Scale::Unit | Scale::Likert { .. } | Scale::Ranges(_) => "score",
        }
    }

    fn properties(&self) -> Value {
        let bounds = |kind: &str, min: f64, max: f64| json!({ "type": kind, "minimum": min, "maximum": max });
        let mut answer = match (&self.scale, self.scale.bounds()) {
            (Scale::Binary, _) => json!({ "type": "boolean" }),
            (Scale::Choices(choices), _) => {
                json!({ "type": "string", "enum": choices.iter().map(|choice| &choice.label).collect::<Vec<_>>() })
            }
            (Scale::Unit, _) => bounds("number", 0.0, 1.0),
            (_, Some((min, max))) => bounds("integer", min, max),
            (_, None) => json!({ "type": "number" }),
        };
        let mut properties = json!({ "reasoning": { "type": "string" } });
        if self.evidence {
            properties["evidence"] = json!({ "type": "array", "items": { "type": "string" } });
        }
        if self.unsure {
            answer = json!({ "anyOf": [answer, { "type": "null" }] });
            properties["unsure"] = json!({ "type": "boolean" });
        }
        properties[self.key()] = answer;
        properties
    }

    /// The answer in words, as a line of the instruction.
    fn example(&self) -> String {
        let answer = match &self.scale {
            Scale::Binary => "\"verdict\": true or false".to_owned(),
            Scale::Choices(choices) => {
                let labels: Vec<String> =
                    choices.iter().map(|choice| json!(choice.label).to_string()).collect();
                format!("\"verdict\": {}", labels.join(" or "))
            }
            scale => format!("\"score\": a number ({scale})"),
        };
        let evidence = if self.evidence { "\"evidence\": [\"exact quotes\"], " } else { "" };
        let unsure = if self.unsure { ", \"unsure\": true or false" } else { "" };
        format!("\"reasoning\": \"your reasons\", {evidence}{answer}{unsure}")
    }
}

/// The answers of one form in a joint reply, and the criteria that are answered in this form.
struct EntryShape<'a> {
    properties: Value,
    ids: Vec<&'a str>,
}

impl EntryShape<'_> {
    fn schema(mut self) -> Value {
        self.properties["id"] = json!({ "type": "string", "enum": self.ids });
        object(&self.properties)
    }
}

/// An object that has exactly these properties, as providers that enforce schemas want it.
fn object(properties: &Value) -> Value {
    let mut names: Vec<&String> =
        properties.as_object().into_iter().flat_map(|object| object.keys()).collect();
    names.sort_by_key(|name| order_of(name));
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

fn build_list_schema(name: &str, properties: &Value) -> Value {
    object(&json!({ name: { "type": "array", "items": object(properties) } }))
}

impl ReplySchema {
    pub fn schema(&self) -> Value {
        match self {
            Self::Answer(item) => object(&item.properties()),
            Self::Answers(items) => {
                // An id fits only the answer that its criterion asks for.
                let mut shapes: Vec<EntryShape<'_>> = Vec::new();
                for (id, item) in items {
                    let properties = item.properties();
                    match shapes.iter_mut().find(|shape| shape.properties == properties) {
                        Some(shape) => shape.ids.push(id.as_str()),
                        None => shapes.push(EntryShape { properties, ids: vec![id.as_str()] }),
                    }
                }
                let mut entries: Vec<Value> = shapes.into_iter().map(EntryShape::schema).collect();
                let entry = if entries.len() == 1 { entries.remove(0) } else { json!({ "anyOf": entries }) };
                object(&json!({ "criteria": { "type": "array", "items": entry } }))
            }
            Self::Choice { labels } => object(
                &json!({ "reasoning": { "type": "string" }, "verdict": { "type": "string", "enum": labels } }),
            ),
            Self::Claims => build_list_schema(
                "claims",
                &json!({ "claim": { "type": "string" }, "supported": { "type": "boolean" } }),
            ),
            Self::Verdicts { requirements, .. } => build_list_schema(
                "verdicts",
                &json!({
                    "evidence": { "type": "string" },
                    "requirement": { "type": "integer", "minimum": 1, "maximum": requirements.len() },
                    "satisfied": { "type": "boolean" },
                }),
            ),
            Self::Steps => object(&json!({ "steps": { "type": "array", "items": { "type": "string" } } })),
        }
    }

    /// The reply format in words, for judges without support for JSON Schema.
    pub fn instruction(&self) -> String {
        let shape = match self {
            Self::Answer(item) => format!("{{{}}}", item.example()),
            Self::Answers(items) => {
                let lines: Vec<String> = items
                    .iter()
                    .map(|(id, item)| format!("  {{\"id\": {}, {}}}", json!(id), item.example()))
                    .collect();
                format!("{{\"criteria\": [\n{}\n]}}", lines.join(",\n"))
            }
            Self::Choice { labels } => {
                let labels: Vec<String> = labels.iter().map(|label| json!(label).to_string()).collect();
                format!("{{\"reasoning\": \"your reasons\", \"verdict\": {}}}", labels.join(" or "))
            }
            Self::Claims => {
                "{\"claims\": [{\"claim\": \"the claim\", \"supported\": true or false}, …]}".to_owned()
            }
            Self::Verdicts { .. } => "{\"verdicts\": [{\"requirement\": its number, \
                \"evidence\": \"an exact quote, or empty\", \"satisfied\": true or false}, …]}"
                .to_owned(),
            Self::Steps => "{\"steps\": [\"first step\", …]}".to_owned(),
        };
        format!("Reply with one JSON object of this shape and nothing else:\n{shape}")
    }
}
