//! Checks on what an agent did: its tool calls, their order and their arguments.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use super::matching::{Closeness, close, most_pairs};
use super::{BadCheck, Finding, Params, Subject, shown, trace_of};
use crate::candidate::{Role, ToolCall, Trace};

#[derive(Debug)]
pub(super) enum CallCheck {
    /// Against the calls of the reference.
    Match {
        mode: Mode,
        rules: Rules,
    },
    Accuracy {
        rules: Rules,
    },
    Use {
        tool: String,
        arguments: Option<Map<String, Value>>,
        mode: Arguments,
        how: Closeness,
    },
    /// Nodes of a graph instead of tools.
    Nodes {
        strict: bool,
    },
    /// Names alone, as sets.
    F1 {
        names: Vec<String>,
        least: f64,
    },
    Used {
        wanted: Vec<Wanted>,
    },
    Sequence {
        names: Vec<Wanted>,
        exact: bool,
    },
    Given {
        wanted: Wanted,
        arguments: Map<String, Value>,
        exact: bool,
    },
    Steps {
        roles: Vec<String>,
        wanted: Wanted,
    },
    Expected {
        order: Order,
        minimums: Vec<(String, usize)>,
        calls: Vec<(String, Option<Map<String, Value>>)>,
        mode: Arguments,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Mode {
    Strict,
    Unordered,
    Subset,
    Superset,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Order {
    Any,
    /// With others between.
    Kept,
    Exact,
    Subset,
    Superset,
}

/// How arguments compare: the agent's with the expected ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Arguments {
    Exact,
    Ignore,
    Subset,
    Superset,
}

const ARGUMENTS: [(&str, Arguments); 4] = [
    ("exact", Arguments::Exact),
    ("ignore", Arguments::Ignore),
    ("subset", Arguments::Subset),
    ("superset", Arguments::Superset),
];

/// One rule for all tools, and others for some.
#[derive(Debug)]
pub(super) struct Rules {
    default: Arguments,
    by_tool: BTreeMap<String, Arguments>,
    how: Closeness,
}

/// A tool or skill by name or glob, and how often.
#[derive(Debug)]
pub(super) struct Wanted {
    name: Name,
    least: u64,
    most: u64,
}

#[derive(Debug)]
enum Name {
    Is(String),
    Matches(Regex),
    Any,
}

pub(super) fn compile(params: &Params<'_>) -> Result<Option<CallCheck>, BadCheck> {
    Ok(Some(match params.name() {
        "trajectory_match" => {
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
        "graph_trajectory" => {
            CallCheck::Nodes { strict: params.word("mode", &[("strict", true), ("unordered", false)], true)? }
        }
        "tool_call_accuracy" => CallCheck::Accuracy { rules: rules(params, "args_match_mode")? },
        "tool_use" => CallCheck::Use {
            tool: params.text("expected_tool")?.unwrap_or_default(),
            arguments: params
                .get("expected_args")
                .and_then(Value::as_object)
                .filter(|it| !it.is_empty())
                .cloned(),
            mode: match params.word("args_match_mode", &ARGUMENTS, Arguments::Superset)? {
                // What is expected must be there; more may be.
                Arguments::Subset => Arguments::Superset,
                other => other,
            },
            how: closeness(params)?,
        },
        "tool-call-f1" => {
            CallCheck::F1 { names: params.texts("value")?, least: params.number("threshold")?.unwrap_or(1.0) }
        }
        "skill-used" | "trajectory:tool-used" => CallCheck::Used { wanted: wanted_list(params)? },
        "trajectory:tool-sequence" => {
            let value = params.get("value").cloned().unwrap_or_default();
            let steps = value.get("steps").unwrap_or(&value);
            let names: Result<Vec<Wanted>, BadCheck> =
                steps.as_array().into_iter().flatten().map(|it| wanted(params, it)).collect();
            CallCheck::Sequence { names: names?, exact: value["mode"] == "exact" }
        }
        "trajectory:tool-args-match" => {
            let value = params.get("value").cloned().unwrap_or_default();
            let arguments =
                value.get("args").or_else(|| value.get("arguments")).and_then(Value::as_object).cloned();
            CallCheck::Given {
                wanted: wanted(params, &value)?,
                arguments: arguments.unwrap_or_default(),
                exact: value["mode"] == "exact",
            }
        }
        "trajectory:step-count" => {
            let value = params.get("value").cloned().unwrap_or_default();
            let roles = match &value["type"] {
                Value::Array(items) => items.iter().map(shown).collect(),
                Value::String(one) => vec![one.clone()],
                _ => Vec::new(),
            };
            let wanted = Wanted { least: value["min"].as_u64().unwrap_or(0), ..wanted(params, &value)? };
            CallCheck::Steps { roles, wanted }
        }
        "tool-trajectory" => expected(params)?,
        _ => return Ok(None),
    }))
}

fn rules(params: &Params<'_>, name: &str) -> Result<Rules, BadCheck> {
    let default = params.word(name, &ARGUMENTS, Arguments::Exact)?;
    let overrides = params.get("tool_args_match_overrides").and_then(Value::as_object);
    let mut by_tool = BTreeMap::new();
    for (tool, word) in overrides.into_iter().flatten() {
        let found = ARGUMENTS.iter().find(|it| Some(it.0) == word.as_str());
        let found = found.ok_or_else(|| {
            params.bad(
                "tool_args_match_overrides",
                format!("{word} of `{tool}` is not one of exact, ignore, subset, superset"),
            )
        })?;
        by_tool.insert(tool.clone(), found.1);
    }
    Ok(Rules { default, by_tool, how: closeness(params)? })
}

fn closeness(params: &Params<'_>) -> Result<Closeness, BadCheck> {
    let tolerance = params.number("number_tolerance")?.unwrap_or(0.0);
    if tolerance < 0.0 {
        return Err(params.bad("number_tolerance", "must be 0 or more"));
    }
    Ok(Closeness { ignore_case: params.bool("ignore_case", false)?, tolerance })
}

fn wanted_list(params: &Params<'_>) -> Result<Vec<Wanted>, BadCheck> {
    match params.get("value") {
        Some(Value::Array(items)) => items.iter().map(|it| wanted(params, it)).collect(),
        Some(value) => Ok(vec![wanted(params, value)?]),
        None => Ok(Vec::new()),
    }
}

fn wanted(params: &Params<'_>, value: &Value) -> Result<Wanted, BadCheck> {
    let glob = value["pattern"].as_str().or_else(|| value["name"].as_str()).or_else(|| value.as_str());
    let name = match glob {
        None => Name::Any,
        Some(name) if !name.contains(['*', '?']) => Name::Is(name.to_lowercase()),
        Some(glob) => {
            let pattern = regex::escape(glob).replace(r"\*", ".*").replace(r"\?", ".");
            Name::Matches(
                Regex::new(&format!("(?is)^{pattern}$"))
                    .map_err(|error| params.bad("value", error.to_string()))?,
            )
        }
    };
    let most = value["max"].as_u64();
    let least = value["min"].as_u64().unwrap_or(u64::from(most.is_none() || value.get("min").is_some()));
    Ok(Wanted { name, least, most: most.unwrap_or(u64::MAX) })
}

fn expected(params: &Params<'_>) -> Result<CallCheck, BadCheck> {
    let orders = [
        ("any_order", Order::Any),
        ("in_order", Order::Kept),
        ("exact", Order::Exact),
        ("subset", Order::Subset),
        ("superset", Order::Superset),
    ];
    let minimums = params.get("minimums").and_then(Value::as_object).into_iter().flatten();
    let minimums = minimums
        .filter_map(|(tool, count)| Some((tool.clone(), usize::try_from(count.as_u64()?).ok()?)))
        .collect();
    let calls = params.get("expected").and_then(Value::as_array).into_iter().flatten();
    let calls = calls.map(|it| (shown(&it["tool"]), it["args"].as_object().cloned())).collect();
    Ok(CallCheck::Expected {
        order: params.word("mode", &orders, Order::Kept)?,
        minimums,
        calls,
        mode: match params.get("args_match") {
            Some(Value::String(_)) => params.word("args_match", &ARGUMENTS, Arguments::Exact)?,
            _ => Arguments::Exact,
        },
    })
}

impl Arguments {
    fn fit(self, agent: &Map<String, Value>, expected: &Map<String, Value>, how: Closeness) -> bool {
        let within = |a: &Map<String, Value>, b: &Map<String, Value>| {
            a.iter().all(|(key, a)| b.get(key).is_some_and(|b| close(a, b, how)))
        };
        match self {
            Self::Ignore => true,
            Self::Exact => agent.len() == expected.len() && within(agent, expected),
            Self::Subset => within(agent, expected),
            Self::Superset => within(expected, agent),
        }
    }
}

impl Rules {
    fn fit(&self, agent: &ToolCall, expected: &ToolCall) -> bool {
        let rule = self.by_tool.get(&agent.name).copied().unwrap_or(self.default);
        agent.name == expected.name && rule.fit(&agent.arguments, &expected.arguments, self.how)
    }
}

impl Wanted {
    fn fits(&self, name: &str) -> bool {
        match &self.name {
            Name::Is(wanted) => *wanted == name.to_lowercase(),
            Name::Matches(regex) => regex.is_match(name),
            Name::Any => true,
        }
    }
}

impl CallCheck {
    pub(super) fn run(&self, subject: &Subject<'_>) -> Finding {
        let trace = match trace_of(subject.output) {
            Ok(trace) => trace,
            Err(why) => return Finding::nothing(why),
        };
        let calls: Vec<&ToolCall> = trace.tool_calls().collect();
        match self {
            Self::Match { .. } | Self::Accuracy { .. } => {
                let Some(reference) = subject.reference else {
                    return Finding::nothing("there is no reference to compare with");
                };
                let reference = match trace_of(reference) {
                    Ok(trace) => trace,
                    Err(why) => return Finding::nothing(format!("the reference cannot be read: {why}")),
                };
                self.compared(&calls, &reference.tool_calls().collect::<Vec<_>>())
            }
            Self::Nodes { strict } => match subject.reference.map(trace_of) {
                None => Finding::nothing("there is no reference to compare with"),
                Some(Err(why)) => Finding::nothing(format!("the reference cannot be read: {why}")),
                Some(Ok(reference)) => nodes(&trace, &reference, *strict),
            },
            Self::Use { tool, arguments, mode, how } => {
                let fits = |it: &&&ToolCall| {
                    it.name == *tool
                        && arguments.as_ref().is_none_or(|wanted| mode.fit(&it.arguments, wanted, *how))
                };
                let passed = calls.iter().any(|it| fits(&it));
                Finding::passed(passed, format!("`{tool}` was {}called so", if passed { "" } else { "not " }))
            }
            Self::F1 { names, least } => f1(&calls, names, *least),
            Self::Used { wanted } => {
                let count = |wanted: &Wanted| calls.iter().filter(|it| wanted.fits(&it.name)).count() as u64;
                let passed = wanted.iter().all(|it| (it.least..=it.most).contains(&count(it)));
                Finding::passed(passed, called(&calls))
            }
            Self::Sequence { names, exact } => {
                let mut rest = calls.iter();
                let in_order = names.iter().all(|wanted| rest.any(|it| wanted.fits(&it.name)));
                let passed = in_order && (!exact || names.len() == calls.len());
                Finding::passed(passed, called(&calls))
            }
            Self::Given { wanted, arguments, exact } => {
                let mode = if *exact { Arguments::Exact } else { Arguments::Superset };
                let passed = calls.iter().any(|it| {
                    wanted.fits(&it.name) && mode.fit(&it.arguments, arguments, Closeness::default())
                });
                Finding::passed(passed, called(&calls))
            }
            Self::Steps { roles, wanted } => {
                let count = n_steps(&trace, roles, wanted);
                Finding {
                    value: count.into(),
                    ..Finding::passed((wanted.least..=wanted.most).contains(&count), format!("{count} steps"))
                }
            }
            Self::Expected { order, minimums, calls: expected, mode } => {
                ordered(*order, minimums, expected, *mode, &calls)
            }
        }
    }

    fn compared(&self, calls: &[&ToolCall], expected: &[&ToolCall]) -> Finding {
        let pairs =
            |rules: &Rules| most_pairs(calls.len(), expected.len(), |a, b| rules.fit(calls[a], expected[b]));
        match self {
            Self::Match { mode, rules } => {
                let passed = match mode {
                    Mode::Strict => {
                        calls.len() == expected.len()
                            && calls.iter().zip(expected).all(|(a, b)| rules.fit(a, b))
                    }
                    Mode::Unordered => calls.len() == expected.len() && pairs(rules) == calls.len(),
                    Mode::Subset => pairs(rules) == calls.len(),
                    Mode::Superset => pairs(rules) == expected.len(),
                };
                Finding::passed(passed, format!("{} against {}", called(calls), called(expected)))
            }
            Self::Accuracy { .. } if expected.is_empty() => Finding::nothing("the reference calls no tool"),
            Self::Accuracy { rules } => {
                let n_pairs = pairs(rules);
                let (n, all, mine) = (n_pairs as f64, expected.len() as f64, calls.len() as f64);
                let precision = if calls.is_empty() { 0.0 } else { n / mine };
                let comment = format!(
                    "recall {:.3}, precision {precision:.3}, F1 {:.3}",
                    n / all,
                    2.0 * n / (all + mine)
                );
                Finding::scored(n / all, format!("{n_pairs}/{}", expected.len()), comment)
            }
            _ => Finding::nothing("not a comparison"),
        }
    }
}

fn nodes(trace: &Trace, reference: &Trace, strict: bool) -> Finding {
    let (mut found, mut expected) = (trace.nodes.clone(), reference.nodes.clone());
    if expected.is_empty() {
        return Finding::nothing("the reference names no nodes");
    }
    if !strict {
        found.sort();
        expected.sort();
    }
    Finding::passed(found == expected, trace.nodes.join(" → "))
}

fn called(calls: &[&ToolCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|it| it.name.as_str()).collect();
    if names.is_empty() { "no tool calls".to_owned() } else { names.join(", ") }
}

fn f1(calls: &[&ToolCall], names: &[String], least: f64) -> Finding {
    let made: std::collections::BTreeSet<&str> = calls.iter().map(|it| it.name.as_str()).collect();
    let wanted: std::collections::BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let both = made.intersection(&wanted).count() as f64;
    let total = (made.len() + wanted.len()) as f64;
    let f1 = if total == 0.0 { 1.0 } else { 2.0 * both / total };
    Finding { value: Value::Bool(least <= f1 + 1e-9), ..Finding::scored(f1, Value::Null, called(calls)) }
}

/// Steps of the kinds that are asked for: tool calls, messages, thoughts.
fn n_steps(trace: &Trace, kinds: &[String], wanted: &Wanted) -> u64 {
    let is = |kind: &str| kinds.is_empty() || kinds.iter().any(|it| it == kind);
    let mut count = 0;
    for step in &trace.steps {
        let calls = step.tool_calls.iter().filter(|it| wanted.fits(&it.name)).count() as u64;
        count += if is("tool") || is("command") || is("search") || is("span") { calls } else { 0 };
        count += u64::from(is("message") && step.role == Role::Assistant && !step.text.is_empty());
        count += u64::from(is("reasoning") && !step.reasoning.is_empty());
    }
    count
}

fn ordered(
    order: Order,
    minimums: &[(String, usize)],
    expected: &[(String, Option<Map<String, Value>>)],
    mode: Arguments,
    calls: &[&ToolCall],
) -> Finding {
    let fits = |call: &ToolCall, (tool, arguments): &(String, Option<Map<String, Value>>)| {
        call.name == *tool
            && arguments.as_ref().is_none_or(|wanted| mode.fit(&call.arguments, wanted, Closeness::default()))
    };
    let pairs = || most_pairs(calls.len(), expected.len(), |a, b| fits(calls[a], &expected[b]));
    let passed = match order {
        Order::Any => {
            minimums.iter().all(|(tool, least)| *least <= calls.iter().filter(|it| it.name == *tool).count())
        }
        Order::Kept => {
            let mut rest = calls.iter();
            expected.iter().all(|wanted| rest.any(|it| fits(it, wanted)))
        }
        Order::Exact => {
            calls.len() == expected.len()
                && calls.iter().zip(expected).all(|(call, wanted)| fits(call, wanted))
        }
        Order::Subset => pairs() == calls.len(),
        Order::Superset => pairs() == expected.len(),
    };
    Finding::passed(passed, called(calls))
}
