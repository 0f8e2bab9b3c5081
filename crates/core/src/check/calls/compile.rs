//! Reads the parameters of checks on calls.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use super::{
    ArgumentComparison, ArgumentMatchMode, ArgumentRules, CallCheck, CallOrder, CallPattern, ExpectedCall,
    Mode, NamePattern, NameRequirement,
};
use crate::catalogue::CallCheckName;
use crate::check::matching::Closeness;
use crate::check::{BadCheck, Params, plain_value_text};

const ARGUMENTS: [(&str, ArgumentMatchMode); 4] = [
    ("exact", ArgumentMatchMode::Exact),
    ("ignore", ArgumentMatchMode::Ignore),
    ("subset", ArgumentMatchMode::Subset),
    ("superset", ArgumentMatchMode::Superset),
];

pub(in crate::check) fn compile_call_check(
    check: CallCheckName,
    params: &Params<'_>,
) -> Result<CallCheck, BadCheck> {
    Ok(match check {
        CallCheckName::TrajectoryMatch => {
            let modes = [
                ("strict", Mode::Strict),
                ("unordered", Mode::Unordered),
                ("subset", Mode::Subset),
                ("superset", Mode::Superset),
            ];
            CallCheck::Match {
                mode: params.word("mode", &modes, Mode::Strict)?,
                rules: rules(params, "tool_args_match_mode")?,
            }
        }
        CallCheckName::GraphTrajectory => {
            CallCheck::Nodes { strict: params.word("mode", &[("strict", true), ("unordered", false)], true)? }
        }
        CallCheckName::ToolCallAccuracy => CallCheck::Accuracy { rules: rules(params, "args_match_mode")? },
        CallCheckName::ToolUse => CallCheck::Use {
            tool: params.text("expected_tool")?.unwrap_or_default(),
            arguments: params.map("expected_args")?.filter(|object| !object.is_empty()).cloned(),
            mode: match params.word("args_match_mode", &ARGUMENTS, ArgumentMatchMode::Superset)? {
                // Expected calls must be present; further calls are allowed.
                ArgumentMatchMode::Subset => ArgumentMatchMode::Superset,
                other => other,
            },
            how: closeness(params)?,
        },
        CallCheckName::F1 => {
            CallCheck::F1 { names: params.texts("value")?, least: params.number("threshold")?.unwrap_or(1.0) }
        }
        CallCheckName::Used => CallCheck::Used { wanted: wanted_list(params)? },
        CallCheckName::ToolSequence => {
            let value = params.get("value").cloned().unwrap_or_default();
            let steps = value.get("steps").unwrap_or(&value);
            let names: Result<Vec<NameRequirement>, BadCheck> = steps
                .as_array()
                .into_iter()
                .flatten()
                .map(|item| parse_name_requirement(params, item))
                .collect();
            CallCheck::Sequence { names: names?, exact: value["mode"] == "exact" }
        }
        CallCheckName::ToolArguments => CallCheck::Given(parse_call_pattern(params)?),
        CallCheckName::StepCount => {
            let value = params.get("value").cloned().unwrap_or_default();
            let roles = match &value["type"] {
                Value::Array(items) => items.iter().map(plain_value_text).collect(),
                Value::String(one) => vec![one.clone()],
                _ => Vec::new(),
            };
            let wanted = NameRequirement {
                least: value["min"].as_u64().unwrap_or(0),
                ..parse_name_requirement(params, &value)?
            };
            CallCheck::Steps { roles, wanted }
        }
        CallCheckName::ToolTrajectory => compile_expected_calls(params)?,
    })
}

fn rules(params: &Params<'_>, name: &str) -> Result<ArgumentRules, BadCheck> {
    let default = params.word(name, &ARGUMENTS, ArgumentMatchMode::Exact)?;
    let name = "tool_args_match_overrides";
    let mut by_tool = BTreeMap::new();
    for (tool, word) in params.map(name)?.into_iter().flatten() {
        by_tool.insert(tool.clone(), arguments_word(params, name, word)?);
    }
    Ok(ArgumentRules { default, by_tool, how: closeness(params)? })
}

fn closeness(params: &Params<'_>) -> Result<Closeness, BadCheck> {
    let tolerance = params.number("number_tolerance")?.unwrap_or(0.0);
    if tolerance < 0.0 {
        return Err(params.bad("number_tolerance", "must be 0 or more"));
    }
    Ok(Closeness { ignore_case: params.bool("ignore_case", false)?, tolerance })
}

fn wanted_list(params: &Params<'_>) -> Result<Vec<NameRequirement>, BadCheck> {
    match params.get("value") {
        Some(Value::Array(items)) => items.iter().map(|item| parse_name_requirement(params, item)).collect(),
        Some(value) => Ok(vec![parse_name_requirement(params, value)?]),
        None => Ok(Vec::new()),
    }
}

fn parse_name_requirement(params: &Params<'_>, value: &Value) -> Result<NameRequirement, BadCheck> {
    let glob = value["pattern"].as_str().or_else(|| value["name"].as_str()).or_else(|| value.as_str());
    let name = match glob {
        None => NamePattern::Any,
        Some(name) if !name.contains(['*', '?']) => NamePattern::Is(name.to_lowercase()),
        Some(glob) => {
            let pattern = regex::escape(glob).replace(r"\*", ".*").replace(r"\?", ".");
            NamePattern::Matches(
                Regex::new(&format!("(?is)^{pattern}$"))
                    .map_err(|error| params.bad("value", error.to_string()))?,
            )
        }
    };
    let most = value["max"].as_u64();
    let least = value["min"].as_u64().unwrap_or(u64::from(most.is_none() || value.get("min").is_some()));
    let description = glob.unwrap_or("a tool").to_owned();
    Ok(NameRequirement { name, description, least, most: most.unwrap_or(u64::MAX) })
}

fn arguments_word(params: &Params<'_>, name: &str, word: &Value) -> Result<ArgumentMatchMode, BadCheck> {
    let entry = ARGUMENTS.iter().find(|(known, _)| Some(*known) == word.as_str());
    let problem = || format!("{word} is not one of exact, ignore, subset, superset");
    entry.map(|(_, mode)| *mode).ok_or_else(|| params.bad(name, problem()))
}

fn parse_call_pattern(params: &Params<'_>) -> Result<CallPattern, BadCheck> {
    let value = params.get("value").cloned().unwrap_or_default();
    let map = |value: &Value, name: &str| match value {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map.clone()),
        other => Err(params.bad("value", format!("`{name}` must be a mapping, not {other}"))),
    };
    let arguments = value.get("args").or_else(|| value.get("arguments")).unwrap_or(&Value::Null);
    let ignore = match &value["ignore"] {
        Value::Null => Vec::new(),
        Value::Array(items) => {
            items.iter().map(|item| parse_name_requirement(params, item)).collect::<Result<_, _>>()?
        }
        one => vec![parse_name_requirement(params, one)?],
    };
    Ok(CallPattern {
        wanted: parse_name_requirement(params, &value)?,
        arguments: map(arguments, "args")?,
        exact: value["mode"] == "exact",
        defaults: map(&value["defaults"], "defaults")?,
        ignore,
    })
}

fn compile_expected_calls(params: &Params<'_>) -> Result<CallCheck, BadCheck> {
    let orders = [
        ("any_order", CallOrder::Any),
        ("in_order", CallOrder::Kept),
        ("exact", CallOrder::Exact),
        ("subset", CallOrder::Subset),
        ("superset", CallOrder::Superset),
    ];
    let mut minimums = Vec::new();
    for (tool, count) in params.map("minimums")?.into_iter().flatten() {
        let count = count.as_u64().and_then(|n| usize::try_from(n).ok());
        let bad = || params.bad("minimums", format!("`{tool}` needs a whole number of 0 or more"));
        minimums.push((tool.clone(), count.ok_or_else(bad)?));
    }
    let default =
        params.get("args_match").map(|param| parse_argument_comparison(params, param)).transpose()?;
    let default = default.unwrap_or(ArgumentComparison::Whole(ArgumentMatchMode::Exact));
    let calls = params.get("expected").and_then(Value::as_array).into_iter().flatten();
    let calls = calls.map(|call| expected_call(params, call, &default)).collect::<Result<_, _>>()?;
    Ok(CallCheck::Expected { order: params.word("mode", &orders, CallOrder::Kept)?, minimums, calls })
}

fn expected_call(
    params: &Params<'_>,
    value: &Value,
    default: &ArgumentComparison,
) -> Result<ExpectedCall, BadCheck> {
    let arguments = match &value["args"] {
        Value::Null => None,
        Value::String(word) if word == "any" => None,
        Value::Object(map) => Some(map.clone()),
        other => {
            return Err(params.bad("expected", format!("`args` must be a mapping or `any`, not {other}")));
        }
    };
    let own = ["args_match", "argsMatch"].iter().find_map(|text| value.get(*text));
    let most = ["max_duration_ms", "maxDurationMs"].iter().find_map(|text| value.get(*text));
    Ok(ExpectedCall {
        tool: plain_value_text(&value["tool"]),
        arguments,
        compare: own.map_or_else(|| Ok(default.clone()), |value| parse_argument_comparison(params, value))?,
        max_duration_ms: most.and_then(Value::as_f64),
    })
}

fn parse_argument_comparison(params: &Params<'_>, value: &Value) -> Result<ArgumentComparison, BadCheck> {
    match value {
        Value::Array(paths) => Ok(ArgumentComparison::Fields(paths.iter().map(plain_value_text).collect())),
        word => arguments_word(params, "args_match", word).map(ArgumentComparison::Whole),
    }
}
