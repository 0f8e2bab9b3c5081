//! A record of a file of candidates as material: our names for its fields, and those of other tools.

use serde_json::Value as Json;

use crate::candidate::{Format, TraceError, read_value};
use crate::candidate::{Material, Measurements, asked_in, told};

/// What the parts of `inputs` are called where a record has them.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a> {
    pub question: &'a str,
    pub context: &'a str,
    pub requirements: &'a str,
}

impl Default for Keys<'_> {
    fn default() -> Self {
        Self { question: "question", context: "context", requirements: "requirements" }
    }
}

impl Material {
    /// From a line of JSON. Something that looks like a trace and cannot be read is an error.
    ///
    /// ```
    /// use jurist_core::candidate::Material;
    /// use jurist_core::judge::Keys;
    ///
    /// let record = serde_json::json!({ "inputs": { "question": "2 + 2?", "context": ["arithmetic"] }, "outputs": "4" });
    /// let material = Material::from_record(&record, Keys::default()).unwrap();
    /// assert_eq!((material.task.as_str(), material.answer()), ("2 + 2?", "4"));
    /// ```
    pub fn from_record(record: &Json, keys: Keys<'_>) -> Result<Self, TraceError> {
        let field = |names: &[&str]| names.iter().filter_map(|it| record.get(*it)).find(|it| !it.is_null());
        let inputs = field(&["input", "inputs", "task", "prompt", "question", "messages_in"]);
        let inside = |key: &str| inputs.and_then(|it| it.get(key)).or_else(|| record.get(key));
        let task = match inputs {
            Some(map @ Json::Object(_)) => {
                let asked =
                    [keys.question, "question", "task", "prompt", "input"].iter().find_map(|it| map.get(*it));
                asked.map(told).unwrap_or_default()
            }
            Some(other) => told(other),
            None => String::new(),
        };
        let reference = field(&["reference", "reference_outputs", "expected", "expected_output"]);
        let mut material = Self {
            task,
            context: inside(keys.context)
                .or(field(&["contexts", "documents"]))
                .map(texts)
                .unwrap_or_default(),
            requirements: inside(keys.requirements).map(texts).unwrap_or_default(),
            reference: reference.map(told),
            raw_reference: reference.cloned(),
            diff: field(&["diff", "file_changes"]).map(told),
            measurements: Measurements::from_json(record),
            ..Self::default()
        };
        let output = field(&["response", "output", "outputs", "answer"]);
        let run = field(&["trace", "messages"]);
        material.raw_output = output.or(run).cloned();
        match output {
            Some(Json::String(text)) => material.response = Some(text.clone()),
            // A value that is no trace is an answer in JSON.
            Some(value) => match read_value(value, None) {
                Ok((Format::Text, _)) | Err(_) => material.response = Some(told(value)),
                Ok((_, trace)) => material.trace = Some(trace),
            },
            None => {}
        }
        if let Some(value) = run {
            match read_value(value, None)? {
                // Perhaps the id of a trace; what was said counts.
                (Format::Text, _) if material.response.is_some() => {}
                (Format::Text, _) => material.response = Some(told(value)),
                (_, trace) => material.trace = Some(trace),
            }
        }
        if let (true, Some(trace)) = (material.task.is_empty(), &material.trace) {
            material.task = asked_in(trace).unwrap_or_default();
        }
        Ok(material)
    }
}

fn texts(value: &Json) -> Vec<String> {
    match value {
        Json::Array(items) => items.iter().map(told).collect(),
        Json::Null => Vec::new(),
        one => Some(told(one)).filter(|it| !it.trim().is_empty()).into_iter().collect(),
    }
}
