//! Checks on what an agent did: its tool calls, their order and their arguments.

mod compile;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

pub(super) use self::compile::compile_call_check;
use super::fields::value_at_path;
use super::limits::{MAX_CALL_PAIRS, over_limit};
use super::matching::{Closeness, is_close, is_same_value, most_pairs};
use super::{CheckFinding, CheckSubject, SubjectTrace};
use crate::candidate::{StepRole, Trace, as_arguments, call_duration_ms, plain_calls};
use crate::quantity::plural;

#[derive(Debug)]
pub(super) enum CallCheck {
    /// Against the calls of the reference.
    Match {
        mode: Mode,
        rules: ArgumentRules,
    },
    Accuracy {
        rules: ArgumentRules,
    },
    Use {
        tool: String,
        arguments: Option<Map<String, Value>>,
        mode: ArgumentMatchMode,
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
        wanted: Vec<NameRequirement>,
    },
    Sequence {
        names: Vec<NameRequirement>,
        exact: bool,
    },
    Given(CallPattern),
    Steps {
        roles: Vec<String>,
        wanted: NameRequirement,
    },
    Expected {
        order: CallOrder,
        minimums: Vec<(String, usize)>,
        calls: Vec<ExpectedCall>,
    },
}

/// A call with certain arguments; what is ignored or left at its default does not count.
#[derive(Debug)]
pub(super) struct CallPattern {
    wanted: NameRequirement,
    arguments: Map<String, Value>,
    exact: bool,
    defaults: Map<String, Value>,
    ignore: Vec<NameRequirement>,
}

/// One call of an expected trajectory.
#[derive(Debug)]
pub(super) struct ExpectedCall {
    tool: String,
    /// `None`: any.
    arguments: Option<Map<String, Value>>,
    compare: ArgumentComparison,
    max_duration_ms: Option<f64>,
}

#[derive(Debug, Clone)]
enum ArgumentComparison {
    Whole(ArgumentMatchMode),
    /// These fields only, by path.
    Fields(Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Mode {
    Strict,
    Unordered,
    Subset,
    Superset,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CallOrder {
    Any,
    /// With others between.
    Kept,
    Exact,
    Subset,
    Superset,
}

/// How arguments compare: the agent's with the expected ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ArgumentMatchMode {
    Exact,
    Ignore,
    Subset,
    Superset,
}

/// One rule for all tools, and others for some.
#[derive(Debug)]
pub(super) struct ArgumentRules {
    default: ArgumentMatchMode,
    by_tool: BTreeMap<String, ArgumentMatchMode>,
    how: Closeness,
}

/// A tool or skill by name or glob, and how often.
#[derive(Debug)]
pub(super) struct NameRequirement {
    name: NamePattern,
    /// As its author wrote it.
    description: String,
    least: u64,
    most: u64,
}

#[derive(Debug)]
enum NamePattern {
    Is(String),
    Matches(Regex),
    Any,
}

/// A call as it is compared: arguments that are written as text are parsed only if a check looks at them.
struct Call<'a> {
    name: &'a str,
    arguments: CallArguments<'a>,
    duration_ms: Option<f64>,
}

enum CallArguments<'a> {
    Parsed(&'a Map<String, Value>),
    Raw(&'a Value, OnceCell<Map<String, Value>>),
}

impl Call<'_> {
    fn arguments(&self) -> &Map<String, Value> {
        match &self.arguments {
            CallArguments::Parsed(map) => map,
            CallArguments::Raw(value, parsed) => parsed.get_or_init(|| as_arguments(value)),
        }
    }

    /// Word for word the same; then they are the same in every way of comparing.
    fn is_written_like(&self, other: &Self) -> bool {
        matches!((&self.arguments, &other.arguments), (CallArguments::Raw(a, _), CallArguments::Raw(b, _)) if a == b)
    }
}

/// The calls of an output, read no further than they must be.
fn calls_of(trace: SubjectTrace<'_>, with: impl FnOnce(&[Call<'_>]) -> CheckFinding) -> CheckFinding {
    if let SubjectTrace::Raw(value) = trace
        && let Some(plain) = plain_calls(value)
    {
        let call = |(name, arguments, entry)| Call {
            name,
            arguments: CallArguments::Raw(arguments, OnceCell::new()),
            duration_ms: call_duration_ms(entry),
        };
        return with(&plain.map(call).collect::<Vec<_>>());
    }
    match trace.read() {
        Ok(trace) => with(&calls_in(&trace)),
        Err(why) => CheckFinding::without_score(why),
    }
}

fn calls_in(trace: &Trace) -> Vec<Call<'_>> {
    let calls = trace.tool_calls();
    calls
        .map(|call| Call {
            name: &call.name,
            arguments: CallArguments::Parsed(&call.arguments),
            duration_ms: call.duration_ms,
        })
        .collect()
}

impl ArgumentMatchMode {
    fn fit(self, agent: &Map<String, Value>, expected: &Map<String, Value>, how: Closeness) -> bool {
        let within = |a: &Map<String, Value>, b: &Map<String, Value>| {
            a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_close(a, b, how)))
        };
        match self {
            Self::Ignore => true,
            Self::Exact => agent.len() == expected.len() && within(agent, expected),
            Self::Subset => within(agent, expected),
            Self::Superset => within(expected, agent),
        }
    }
}

impl ArgumentRules {
    fn fit(&self, agent: &Call<'_>, expected: &Call<'_>) -> bool {
        let rule = || self.by_tool.get(agent.name).copied().unwrap_or(self.default);
        agent.name == expected.name
            && (agent.is_written_like(expected)
                || rule().fit(agent.arguments(), expected.arguments(), self.how))
    }
}

impl CallPattern {
    fn fits(&self, call: &Call<'_>) -> bool {
        let counts = |key: &String| !self.ignore.iter().any(|name_requirement| name_requirement.fits(key));
        let only = |map: &Map<String, Value>, keep: &dyn Fn(&String, &Value) -> bool| -> Map<String, Value> {
            let selected = map.iter().filter(|(key, value)| keep(key, value));
            selected.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let expected = only(&self.arguments, &|key, _| counts(key));
        let at_default = |key: &String, value: &Value| {
            !expected.contains_key(key)
                && self.defaults.get(key).is_some_and(|default| is_same_value(default, value))
        };
        let agent = only(call.arguments(), &|key, value| counts(key) && !at_default(key, value));
        let mode = if self.exact { ArgumentMatchMode::Exact } else { ArgumentMatchMode::Superset };
        self.wanted.fits(call.name) && mode.fit(&agent, &expected, Closeness::default())
    }
}

impl ExpectedCall {
    fn fits(&self, call: &Call<'_>) -> bool {
        let in_time = match (self.max_duration_ms, call.duration_ms) {
            (Some(most), Some(took)) => took <= most,
            _ => true,
        };
        let same_arguments = || match (&self.arguments, &self.compare) {
            (None, _) => true,
            (Some(wanted), ArgumentComparison::Whole(mode)) => {
                mode.fit(call.arguments(), wanted, Closeness::default())
            }
            (Some(wanted), ArgumentComparison::Fields(paths)) => {
                let (wanted, found) =
                    (Value::Object(wanted.clone()), Value::Object(call.arguments().clone()));
                paths.iter().all(|path| match (value_at_path(&wanted, path), value_at_path(&found, path)) {
                    (Some(wanted), Some(found)) => is_same_value(wanted, found),
                    (wanted, _) => wanted.is_none(),
                })
            }
        };
        call.name == self.tool && in_time && same_arguments()
    }
}

/// A finding with the names of all calls, and with what is wrong about them.
fn finding_about_calls(calls: &[Call<'_>], wrong: Option<String>) -> CheckFinding {
    let passed = wrong.is_none();
    let comment = match wrong {
        Some(wrong) => with_call_names(&wrong, calls),
        None => call_names(calls),
    };
    CheckFinding::pass_or_fail(passed, comment)
}

/// A statement about calls, and the names of all calls.
fn with_call_names(statement: &str, calls: &[Call<'_>]) -> String {
    if calls.is_empty() {
        format!("{statement}; no tool was called")
    } else {
        format!("{statement} (calls: {})", call_names(calls))
    }
}

/// Says that no tool was called that must not be called; `None` if there is no such tool.
fn describe_unused_tools(wanted: &[NameRequirement], calls: &[Call<'_>]) -> Option<String> {
    let tools: Vec<String> =
        wanted.iter().filter(|tool| tool.most == 0).map(|tool| format!("`{}`", tool.description)).collect();
    let verb = if tools.len() == 1 { "was" } else { "were" };
    match calls {
        _ if tools.is_empty() => None,
        [] => Some("no tool was called".to_owned()),
        calls => Some(with_call_names(&format!("{} {verb} not called", tools.join(", ")), calls)),
    }
}

impl NameRequirement {
    /// What is wrong about how often a tool was called.
    fn explain_count(&self, calls: &[Call<'_>]) -> Option<String> {
        let count = calls.iter().filter(|call| self.fits(call.name)).count() as u64;
        let times = |n: u64| plural(usize::try_from(n).unwrap_or(usize::MAX), "time");
        match count {
            0 if self.least == 1 => Some(format!("`{}` was not called", self.description)),
            _ if count < self.least => Some(format!(
                "`{}` was called {}, at least {} expected",
                self.description,
                times(count),
                self.least
            )),
            _ if self.most == 0 && 0 < count => {
                Some(format!("`{}` must not be called and was called {}", self.description, times(count)))
            }
            _ if self.most < count => Some(format!(
                "`{}` was called {}, at most {} allowed",
                self.description,
                times(count),
                self.most
            )),
            _ => None,
        }
    }

    fn fits(&self, name: &str) -> bool {
        match &self.name {
            NamePattern::Is(wanted) => *wanted == name.to_lowercase(),
            NamePattern::Matches(regex) => regex.is_match(name),
            NamePattern::Any => true,
        }
    }
}

const PAIRS: &str = "calls of the agent times calls to compare them with";

impl CallCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let trace = match subject.required_trace() {
            Ok(trace) => trace,
            Err(absent) => return absent,
        };
        match self {
            Self::Match { .. } | Self::Accuracy { .. } => {
                let Some(reference) = subject.reference_trace() else {
                    // A trace that cannot be read is the first thing to report.
                    return calls_of(trace, |_| {
                        CheckFinding::without_score("there is no reference to compare with")
                    });
                };
                calls_of(trace, |calls| {
                    let mut compared = None;
                    let read = calls_of(SubjectTrace::Raw(reference), |expected| {
                        compared = Some(self.compare_calls(calls, expected));
                        CheckFinding::without_score("")
                    });
                    compared.unwrap_or_else(|| {
                        CheckFinding::without_score(format!("the reference cannot be read: {}", read.comment))
                    })
                })
            }
            Self::Nodes { .. } | Self::Steps { .. } => match trace.read() {
                Ok(trace) => self.on_trace(&trace, subject),
                Err(why) => CheckFinding::without_score(why),
            },
            _ => calls_of(trace, |calls| self.on_calls(calls)),
        }
    }

    fn on_trace(&self, trace: &Trace, subject: &CheckSubject<'_>) -> CheckFinding {
        match (self, subject.reference_trace().map(|reference| SubjectTrace::Raw(reference).read())) {
            (Self::Steps { roles, wanted }, _) => {
                let counts = StepCounts::of(trace, roles, wanted);
                let n_steps = counts.total() as u64;
                CheckFinding {
                    value: n_steps.into(),
                    ..CheckFinding::pass_or_fail(
                        (wanted.least..=wanted.most).contains(&n_steps),
                        counts.describe(roles),
                    )
                }
            }
            (_, None) => CheckFinding::without_score("there is no reference to compare with"),
            (_, Some(Err(why))) => {
                CheckFinding::without_score(format!("the reference cannot be read: {why}"))
            }
            (Self::Nodes { strict }, Some(Ok(reference))) => compare_trace_nodes(trace, &reference, *strict),
            _ => CheckFinding::without_score("not about a whole trace"),
        }
    }

    fn on_calls(&self, calls: &[Call<'_>]) -> CheckFinding {
        if let Some(failed) = over_limit(calls.len(), self.n_wanted(), MAX_CALL_PAIRS, PAIRS) {
            return failed;
        }
        match self {
            Self::Use { tool, arguments, mode, how } => {
                let fits = |call: &Call<'_>| {
                    call.name == tool
                        && arguments.as_ref().is_none_or(|wanted| mode.fit(call.arguments(), wanted, *how))
                };
                let passed = calls.iter().any(fits);
                CheckFinding::pass_or_fail(
                    passed,
                    format!("`{tool}` was {}called so", if passed { "" } else { "not " }),
                )
            }
            Self::F1 { names, least } => score_call_f1(calls, names, *least),
            Self::Used { wanted } => {
                let wrong = wanted.iter().find_map(|wanted| wanted.explain_count(calls));
                // The names of other tools say nothing about a tool that must not be called.
                match describe_unused_tools(wanted, calls).filter(|_| wrong.is_none()) {
                    Some(unused) => CheckFinding::pass_or_fail(true, unused),
                    None => finding_about_calls(calls, wrong),
                }
            }
            Self::Sequence { names, exact } => {
                let mut rest = calls.iter();
                let missing = names.iter().position(|wanted| !rest.any(|call| wanted.fits(call.name)));
                let wrong = match missing {
                    Some(0) => Some(format!("`{}` was not called", names[0].description)),
                    Some(at) => Some(format!(
                        "`{}` was not called after `{}`",
                        names[at].description,
                        names[at - 1].description
                    )),
                    None if *exact && names.len() != calls.len() => {
                        Some(format!("{} expected, {} made", plural(names.len(), "call"), calls.len()))
                    }
                    None => None,
                };
                finding_about_calls(calls, wrong)
            }
            Self::Given(pattern) => {
                let is_there = calls.iter().any(|call| pattern.fits(call));
                finding_about_calls(calls, (!is_there).then(|| "no call has these arguments".to_owned()))
            }
            Self::Expected { order, minimums, calls: expected } => {
                check_call_order(*order, minimums, expected, calls)
            }
            _ => CheckFinding::without_score("not about calls alone"),
        }
    }

    /// With how many each call is compared.
    fn n_wanted(&self) -> usize {
        match self {
            Self::Used { wanted } => wanted.len(),
            Self::Sequence { names, .. } => names.len(),
            Self::Expected { minimums, calls, .. } => minimums.len() + calls.len(),
            _ => 1,
        }
    }

    fn compare_calls(&self, calls: &[Call<'_>], expected: &[Call<'_>]) -> CheckFinding {
        let is_in_order = matches!(self, Self::Match { mode: Mode::Strict, .. });
        let n_expected = if is_in_order { 1 } else { expected.len() };
        if let Some(failed) = over_limit(calls.len(), n_expected, MAX_CALL_PAIRS, PAIRS) {
            return failed;
        }
        let pairs = |rules: &ArgumentRules| {
            most_pairs(calls.len(), expected.len(), |a, b| rules.fit(&calls[a], &expected[b]))
        };
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
                CheckFinding::pass_or_fail(
                    passed,
                    format!("{} against {}", call_names(calls), call_names(expected)),
                )
            }
            Self::Accuracy { .. } if expected.is_empty() => {
                CheckFinding::without_score("the reference calls no tool")
            }
            Self::Accuracy { rules } => {
                let n_pairs = pairs(rules);
                let (n, all, mine) = (n_pairs as f64, expected.len() as f64, calls.len() as f64);
                let precision = if calls.is_empty() { 0.0 } else { n / mine };
                let (recall, f1) = (n / all, 2.0 * n / (all + mine));
                let comment = format!("recall {recall:.3}, precision {precision:.3}, F1 {f1:.3}");
                CheckFinding::from_score(recall, format!("{n_pairs}/{}", expected.len()), comment)
                    .with("recall", recall)
                    .with("precision", precision)
                    .with("f1", f1)
            }
            _ => CheckFinding::without_score("not a comparison"),
        }
    }
}

fn compare_trace_nodes(trace: &Trace, reference: &Trace, strict: bool) -> CheckFinding {
    let (mut actual, mut expected) = (trace.nodes.clone(), reference.nodes.clone());
    if expected.is_empty() {
        return CheckFinding::without_score("the reference names no nodes");
    }
    if !strict {
        actual.sort();
        expected.sort();
    }
    CheckFinding::pass_or_fail(actual == expected, trace.nodes.join(" → "))
}

fn call_names(calls: &[Call<'_>]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.name).collect();
    if names.is_empty() { "no tool calls".to_owned() } else { names.join(", ") }
}

fn score_call_f1(calls: &[Call<'_>], names: &[String], least: f64) -> CheckFinding {
    let made: std::collections::BTreeSet<&str> = calls.iter().map(|call| call.name).collect();
    let wanted: std::collections::BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let both = made.intersection(&wanted).count() as f64;
    let total = (made.len() + wanted.len()) as f64;
    let f1 = if total == 0.0 { 1.0 } else { 2.0 * both / total };
    CheckFinding {
        value: Value::Bool(least <= f1 + 1e-9),
        ..CheckFinding::from_score(f1, Value::Null, call_names(calls))
    }
}

/// Numbers of the agent's steps by kind; messages of users and results of tools are no steps.
#[derive(Default)]
struct StepCounts {
    tool_calls: usize,
    replies: usize,
    reasoning_texts: usize,
}

impl StepCounts {
    /// Counts the steps of these kinds, or of all kinds if none is given.
    fn of(trace: &Trace, kinds: &[String], wanted: &NameRequirement) -> Self {
        let is = |kind: &str| kinds.is_empty() || kinds.iter().any(|text| text == kind);
        let mut counts = Self::default();
        for step in &trace.steps {
            let n_calls = step.tool_calls.iter().filter(|tool_call| wanted.fits(&tool_call.name)).count();
            let has_calls = is("tool") || is("command") || is("search") || is("span");
            counts.tool_calls += if has_calls { n_calls } else { 0 };
            let is_reply = step.role == StepRole::Assistant && !step.text.is_empty();
            counts.replies += usize::from(is("message") && is_reply);
            counts.reasoning_texts += usize::from(is("reasoning") && !step.reasoning.is_empty());
        }
        counts
    }

    fn total(&self) -> usize {
        self.tool_calls + self.replies + self.reasoning_texts
    }

    /// In words, such as `2 steps (1 tool call, 1 reply)`, or `0 tool calls` where only one kind counts.
    fn describe(&self, kinds: &[String]) -> String {
        let replies =
            if self.replies == 1 { "1 reply".to_owned() } else { format!("{} replies", self.replies) };
        let tool_calls = plural(self.tool_calls, "tool call");
        let reasoning_texts = plural(self.reasoning_texts, "reasoning text");
        match kinds {
            [kind] if kind == "message" => return replies,
            [kind] if kind == "reasoning" => return reasoning_texts,
            [_] => return tool_calls,
            _ => {}
        }
        let parts =
            [(self.tool_calls, tool_calls), (self.replies, replies), (self.reasoning_texts, reasoning_texts)];
        let parts: Vec<String> = parts.into_iter().filter(|(n, _)| 0 < *n).map(|(_, text)| text).collect();
        let steps = plural(self.total(), "step");
        if parts.is_empty() { steps } else { format!("{steps} ({})", parts.join(", ")) }
    }
}

fn check_call_order(
    order: CallOrder,
    minimums: &[(String, usize)],
    expected: &[ExpectedCall],
    calls: &[Call<'_>],
) -> CheckFinding {
    let untimed = |expected_call: &&ExpectedCall| {
        expected_call.max_duration_ms.is_some()
            && calls.iter().any(|call| call.name == expected_call.tool && call.duration_ms.is_none())
    };
    if let Some(it) = expected.iter().find(untimed) {
        return CheckFinding::without_score(format!("the run does not tell how long `{}` took", it.tool));
    }
    let pairs = || most_pairs(calls.len(), expected.len(), |a, b| expected[b].fits(&calls[a]));
    let count = |tool: &str| calls.iter().filter(|call| call.name == tool).count();
    let (n_met, n_all) = match order {
        CallOrder::Any => {
            (minimums.iter().filter(|(tool, least)| *least <= count(tool)).count(), minimums.len())
        }
        CallOrder::Kept => (longest_in_order(calls, expected), expected.len()),
        CallOrder::Exact => {
            let met = calls.iter().zip(expected).filter(|(call, wanted)| wanted.fits(call)).count();
            (met, calls.len().max(expected.len()))
        }
        CallOrder::Subset => (pairs(), calls.len()),
        CallOrder::Superset => (pairs(), expected.len()),
    };
    let share = if n_all == 0 { 1.0 } else { n_met as f64 / n_all as f64 };
    CheckFinding::partial_credit(share, format!("{n_met} of {n_all}; {}", call_names(calls)))
}

/// How many of the expected calls the agent made in their order, with others between.
fn longest_in_order(calls: &[Call<'_>], expected: &[ExpectedCall]) -> usize {
    let mut best = vec![0; calls.len() + 1];
    for wanted in expected {
        let mut before = 0;
        for at in 0..calls.len() {
            let here = best[at + 1];
            let with = if wanted.fits(&calls[at]) { before + 1 } else { 0 };
            best[at + 1] = here.max(best[at]).max(with);
            before = here;
        }
    }
    best[calls.len()]
}
