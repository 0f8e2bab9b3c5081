//! Whether a response is calls of tools that were declared, with arguments that fit their schemas.

use serde_json::{Map, Value};

use super::limits::fits_schema_limits;
use super::{BadCheck, CheckFinding, CheckSubject, Params};

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredTool {
    pub name: String,
    pub description: String,
    /// Of its arguments, as JSON Schema.
    pub schema: Value,
}

#[derive(Debug)]
pub(super) struct ToolCallCheck {
    tools: Vec<DeclaredTool>,
}

/// How promptfoo writes what a tool of an MCP server answered.
const MCP_ANSWERS: [(&str, bool); 2] = [("MCP Tool Error", false), ("MCP Tool Result", true)];

/// Where vendors put the list of calls, or the one call.
const WRAPPERS: [&str; 5] = ["tool_calls", "function_call", "toolCall", "functionCalls", "functionCall"];

pub(super) fn compile_tool_call_check(params: &Params<'_>) -> Result<ToolCallCheck, BadCheck> {
    let tools = read_declared_tools(params.get("tools").unwrap_or(&Value::Null));
    for tool in &tools {
        if let Err(error) = jsonschema::options().build(&tool.schema) {
            return Err(params.bad("tools", format!("`{}`: {error}", tool.name)));
        }
    }
    Ok(ToolCallCheck { tools })
}

/// Tools in the spellings of OpenAI, Anthropic and Google; what declares no function is left out.
pub fn read_declared_tools(tools: &Value) -> Vec<DeclaredTool> {
    let mut declared = Vec::new();
    match tools {
        Value::Array(items) => declared.extend(items.iter().flat_map(read_declared_tools)),
        Value::Object(map) => {
            for key in ["functionDeclarations", "function_declarations"] {
                declared.extend(map.get(key).into_iter().flat_map(read_declared_tools));
            }
            let inner = map.get("function").and_then(Value::as_object).unwrap_or(map);
            if let Some(name) = inner.get("name").and_then(Value::as_str) {
                let schema =
                    ["parameters", "input_schema", "inputSchema"].iter().find_map(|key| inner.get(*key));
                let mut schema = schema.cloned().unwrap_or_else(|| Value::Object(Map::new()));
                lower_types(&mut schema);
                let description = inner.get("description").and_then(Value::as_str).unwrap_or_default();
                declared.push(DeclaredTool {
                    name: name.to_owned(),
                    description: description.to_owned(),
                    schema,
                });
            }
        }
        _ => {}
    }
    declared
}

/// Google writes `STRING` where JSON Schema has `string`.
fn lower_types(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "type" => *text = text.to_lowercase(),
                    other => lower_types(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(lower_types),
        _ => {}
    }
}

/// A text that is a JSON list of calls, as OpenAI writes them: programs are handed the list, not its text.
pub fn read_call_list(text: &str) -> Option<Value> {
    let value: Value = text.trim_start().starts_with('[').then(|| serde_json::from_str(text).ok())??;
    let is_call = |call: &Value| call["type"] == "function" && call["function"]["name"].is_string();
    let is_list = value.as_array().is_some_and(|calls| !calls.is_empty() && calls.iter().all(is_call));
    is_list.then_some(value)
}

/// One call: the name, and the arguments if they can be read.
struct GivenCall<'a> {
    name: &'a str,
    arguments: Option<Value>,
}

fn collect_calls<'a>(value: &'a Value, calls: &mut Vec<GivenCall<'a>>) -> bool {
    match value {
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| collect_calls(item, calls)),
        Value::Object(map) => {
            if let Some(inner) = WRAPPERS.iter().find_map(|key| map.get(*key)) {
                return collect_calls(inner, calls);
            }
            let inner = map.get("function").and_then(Value::as_object).unwrap_or(map);
            let arguments = ["arguments", "args", "input"].iter().find_map(|key| inner.get(*key));
            let Some((name, arguments)) = inner.get("name").and_then(Value::as_str).zip(arguments) else {
                return false;
            };
            let arguments = match arguments {
                Value::String(text) => serde_json::from_str(text).ok(),
                other => Some(other.clone()),
            };
            calls.push(GivenCall { name, arguments });
            true
        }
        _ => false,
    }
}

impl ToolCallCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let output = match subject.response() {
            Ok(output) => output,
            Err(absent) => return absent,
        };
        let parsed = match output.as_ref() {
            Value::String(text) => {
                if let Some((sign, holds)) = MCP_ANSWERS.into_iter().find(|(sign, _)| text.contains(sign)) {
                    return CheckFinding::pass_or_fail(holds, format!("it says `{sign}`"));
                }
                serde_json::from_str(text).unwrap_or(Value::Null)
            }
            other => other.clone(),
        };
        let mut calls = Vec::new();
        if !collect_calls(&parsed, &mut calls) {
            return CheckFinding::pass_or_fail(false, "it is no list of tool calls");
        }
        for call in &calls {
            if let Some(stopped) = subject.finding_if_stopped() {
                return stopped;
            }
            match self.find_misfit(call) {
                Err(failed) => return failed,
                Ok(Some(why)) => return CheckFinding::pass_or_fail(false, why),
                Ok(None) => {}
            }
        }
        CheckFinding::pass_or_fail(true, format!("{} calls fit", calls.len()))
    }

    fn find_misfit(&self, call: &GivenCall<'_>) -> Result<Option<String>, CheckFinding> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == call.name) else {
            return Ok(Some(format!("no tool is called `{}`", call.name)));
        };
        let Some(arguments) = &call.arguments else {
            return Ok(Some(format!("the arguments of `{}` are not JSON", call.name)));
        };
        if !fits_schema_limits(&tool.schema, arguments) {
            return Err(CheckFinding::from_failure("the schema takes too many steps on these arguments"));
        }
        // Patterns run in linear time, and nothing is fetched from anywhere.
        let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
        let validator =
            options.build(&tool.schema).map_err(|error| CheckFinding::from_failure(error.to_string()))?;
        let misfit = validator.iter_errors(arguments).next();
        Ok(misfit
            .map(|error| format!("the arguments of `{}`: {}: {error}", call.name, error.instance_path())))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Check;
    use super::*;

    #[test]
    fn calls_are_held_to_the_tools_of_any_vendor() {
        let schema =
            json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
        let tools = [
            json!([{ "type": "function", "function": { "name": "weather", "parameters": schema } }]),
            json!([{ "name": "weather", "input_schema": schema }]),
            json!([{ "functionDeclarations": [{ "name": "weather", "parameters": { "type": "OBJECT",
                "properties": { "city": { "type": "STRING" } }, "required": ["city"] } }] }]),
        ];
        let right = [
            json!([{ "type": "function", "function": { "name": "weather", "arguments": "{\"city\": \"Rome\"}" } }]),
            json!({ "tool_calls": [{ "function": { "name": "weather", "arguments": "{\"city\": \"Rome\"}" } }] }),
            json!([{ "functionCall": { "name": "weather", "args": { "city": "Rome" } } }]),
            json!([{ "type": "tool_use", "name": "weather", "input": { "city": "Rome" } }]),
        ];
        let wrong = [
            json!("It is sunny."),
            json!([]),
            json!([{ "function": { "name": "weather", "arguments": "{}" } }]),
            json!([{ "function": { "name": "weather", "arguments": "Rome" } }]),
            json!([{ "function": { "name": "time", "arguments": "{}" } }]),
        ];
        for tools in tools {
            let check = Check::new("is-valid-openai-tools-call", &json!({ "tools": tools })).unwrap();
            let score = |output: &Value| check.run(&CheckSubject::from_outputs(output, None)).score;
            right.iter().for_each(|output| assert_eq!(score(output), Some(1.0), "{tools} {output}"));
            wrong.iter().for_each(|output| assert_eq!(score(output), Some(0.0), "{tools} {output}"));
        }
    }

    #[test]
    fn only_a_list_of_calls_is_handed_over_as_one() {
        assert!(
            read_call_list(r#"[{"type": "function", "function": {"name": "a", "arguments": "{}"}}]"#)
                .is_some()
        );
        assert!(read_call_list("[{\"a\": 1}]").is_none());
        assert!(read_call_list("text").is_none());
    }
}
