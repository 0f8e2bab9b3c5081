//! Checks on JSON.

use serde_json::Value;

use super::limits::{MAX_SEARCHED_BYTES, fits_schema_limits, over_limit};
use super::{BadCheck, CheckFinding, CheckSubject, Params, SearchScope, text_of_output};
use crate::catalogue::JsonCheckName;

#[derive(Debug)]
pub(super) struct JsonCheck {
    schema: Option<Schema>,
    /// Anywhere in the text, instead of all of it.
    anywhere: bool,
    fields: Vec<String>,
}

#[derive(Debug)]
struct Schema {
    source: Value,
    validator: Box<jsonschema::Validator>,
}

/// Why a value does not fit, or why that is unknown.
enum Misfit {
    Wrong(String),
    TooMuch,
}

pub(super) fn compile_json_check(check: JsonCheckName, params: &Params<'_>) -> Result<JsonCheck, BadCheck> {
    let (key, anywhere) = match check {
        JsonCheckName::Is => ("value", false),
        JsonCheckName::Contains => ("value", true),
        JsonCheckName::Valid => ("", false),
        JsonCheckName::SchemaMatch => ("schema", false),
    };
    // The file of a schema may hold it as text.
    let schema = params.get(key).map(|param| match param {
        Value::String(text) => serde_json::from_str(text).map_err(|error| params.bad(key, error.to_string())),
        other => Ok(other.clone()),
    });
    let schema = match schema.transpose()? {
        // Patterns run in linear time, and nothing is fetched from anywhere.
        Some(schema) => {
            let options = jsonschema::options()
                .with_pattern_options(jsonschema::PatternOptions::regex())
                // As in the tools that these checks come from.
                .should_validate_formats(matches!(check, JsonCheckName::Is | JsonCheckName::Contains));
            let validator = options.build(&schema).map_err(|error| params.bad(key, error.to_string()))?;
            Some(Schema { source: schema, validator: Box::new(validator) })
        }
        None => None,
    };
    Ok(JsonCheck { schema, anywhere, fields: params.texts("fields")? })
}

impl JsonCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>, scope: SearchScope) -> CheckFinding {
        match subject.text_in(scope) {
            Ok(output) => self.run_on(&output, subject),
            Err(absent) => absent,
        }
    }

    fn run_on(&self, output: &Value, subject: &CheckSubject<'_>) -> CheckFinding {
        if self.anywhere {
            let text = text_of_output(output);
            let n_places = text.matches(['{', '[']).take(MAX_PLACES).count();
            let what = "bytes of the output times places at which JSON may begin";
            if let Some(failed) = over_limit(text.len(), n_places, MAX_SEARCHED_BYTES, what) {
                return failed;
            }
            let mut passed = false;
            for value in values_in(&text) {
                if let Some(stopped) = subject.finding_if_stopped() {
                    return stopped;
                }
                match self.fits(&value) {
                    Ok(()) => passed = true,
                    Err(Misfit::TooMuch) => return too_much(),
                    Err(Misfit::Wrong(_)) => {}
                }
                if passed {
                    break;
                }
            }
            return CheckFinding::pass_or_fail(
                passed,
                if passed { "a JSON value that fits is there" } else { "no JSON value that fits is there" },
            );
        }
        let value = match output {
            // Without a schema only the grammar counts: a number may be beyond any type.
            Value::String(text) if self.schema.is_none() && self.fields.is_empty() => {
                return match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                    Ok(_) => CheckFinding::pass_or_fail(true, "valid"),
                    Err(error) => CheckFinding::pass_or_fail(false, format!("not JSON: {error}")),
                };
            }
            Value::String(text) => match serde_json::from_str(text) {
                Ok(value) => value,
                Err(error) => return CheckFinding::pass_or_fail(false, format!("not JSON: {error}")),
            },
            Value::Null => return CheckFinding::pass_or_fail(false, "there is nothing"),
            Value::Object(map)
                if map.get("text").or_else(|| map.get("output")).is_some_and(Value::is_string) =>
            {
                match serde_json::from_str(&text_of_output(output)) {
                    Ok(value) => value,
                    Err(error) => return CheckFinding::pass_or_fail(false, format!("not JSON: {error}")),
                }
            }
            other => other.clone(),
        };
        match self.fits(&value) {
            Ok(()) => CheckFinding::pass_or_fail(true, "valid"),
            Err(Misfit::Wrong(why)) => CheckFinding::pass_or_fail(false, why),
            Err(Misfit::TooMuch) => too_much(),
        }
    }

    fn fits(&self, value: &Value) -> Result<(), Misfit> {
        let lacks = |text: &&String| value.get(text.as_str()).is_none_or(Value::is_null);
        if let Some(missing) = self.fields.iter().find(lacks) {
            return Err(Misfit::Wrong(format!("`{missing}` is missing")));
        }
        let Some(schema) = &self.schema else { return Ok(()) };
        if !fits_schema_limits(&schema.source, value) {
            return Err(Misfit::TooMuch);
        }
        match schema.validator.iter_errors(value).next() {
            None => Ok(()),
            Some(error) => Err(Misfit::Wrong(format!("{}: {error}", error.instance_path()))),
        }
    }
}

/// Where and why a value does not fit a schema of the program itself; `None` if it fits.
pub fn find_schema_misfit(schema: &Value, value: &Value) -> Option<String> {
    let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    let validator = match options.build(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(format!("its schema cannot be read: {error}")),
    };
    let error = validator.iter_errors(value).next()?;
    let place = error.instance_path().to_string();
    let place = place.trim_start_matches('/').replace('/', ".");
    Some(if place.is_empty() { error.to_string() } else { format!("`{place}`: {error}") })
}

fn too_much() -> CheckFinding {
    CheckFinding::from_failure("the schema takes too many steps on this value")
}

/// Places of a text at which JSON is looked for.
const MAX_PLACES: usize = 1000;

/// JSON objects and lists in a text, from left to right.
fn values_in(text: &str) -> impl Iterator<Item = Value> {
    text.match_indices(['{', '[']).take(MAX_PLACES).filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok()
    })
}
