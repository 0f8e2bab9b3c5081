//! Checks on what a run took: tokens, money, calls.

use serde_json::Value;

use super::{BadCheck, Finding, Params, Subject, trace_of};
use crate::candidate::{Role, Trace};

/// Bounds by what they bound; each that holds is a share of the score.
#[derive(Debug)]
pub(super) struct Bounds {
    most: Vec<(Quantity, f64)>,
    exploration: Option<Exploration>,
}

/// How much of a run should only look around: the share of its tool calls that read.
#[derive(Debug)]
struct Exploration {
    target: f64,
    tolerance: f64,
}

/// Tools that read and change nothing, as AgentV has them; case does not matter.
const EXPLORING: [&str; 7] = ["read", "grep", "glob", "search", "list", "websearch", "webfetch"];

#[derive(Debug, Clone, Copy)]
enum Quantity {
    Milliseconds,
    Dollars,
    Tokens,
    TokensIn,
    TokensOut,
    ToolCalls,
    ModelCalls,
}

impl Quantity {
    fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "milliseconds",
            Self::Dollars => "dollars",
            Self::Tokens => "tokens",
            Self::TokensIn => "tokens in",
            Self::TokensOut => "tokens out",
            Self::ToolCalls => "tool calls",
            Self::ModelCalls => "model calls",
        }
    }

    /// What the run took, as the record says it beside the output, or as the trace does.
    fn of(self, output: &Value, trace: &Trace) -> Option<f64> {
        let field = |keys: &[&str]| keys.iter().find_map(|it| output.get(*it)?.as_f64());
        let tokens = |count: u64| (!trace.usage.is_nothing()).then_some(count as f64);
        match self {
            Self::Milliseconds => field(&["duration_ms", "latency_ms"]),
            Self::Dollars => {
                field(&["cost_usd", "cost"]).or_else(|| trace.cost.map(|it| it.nanos() as f64 / 1e9))
            }
            Self::Tokens => tokens(trace.usage.input + trace.usage.output),
            Self::TokensIn => tokens(trace.usage.input),
            Self::TokensOut => tokens(trace.usage.output),
            Self::ToolCalls => Some(trace.tool_calls().count() as f64),
            Self::ModelCalls => {
                Some(trace.steps.iter().filter(|it| it.role == Role::Assistant).count() as f64)
            }
        }
    }
}

pub(super) fn compile(params: &Params<'_>) -> Result<Option<Bounds>, BadCheck> {
    let known: &[(&'static str, Quantity)] = match params.name() {
        "latency" => &[("threshold", Quantity::Milliseconds)],
        "cost" => &[("budget", Quantity::Dollars)],
        "token-usage" => &[
            ("max_total", Quantity::Tokens),
            ("max_input", Quantity::TokensIn),
            ("max_output", Quantity::TokensOut),
        ],
        "execution-metrics" => &[
            ("max_tool_calls", Quantity::ToolCalls),
            ("max_llm_calls", Quantity::ModelCalls),
            ("max_tokens", Quantity::Tokens),
            ("max_cost_usd", Quantity::Dollars),
            ("max_duration_ms", Quantity::Milliseconds),
        ],
        _ => return Ok(None),
    };
    let mut most = Vec::new();
    for (name, quantity) in known {
        most.extend(params.number(name)?.map(|it| (*quantity, it)));
    }
    let exploration = exploration(params)?;
    if most.is_empty() && exploration.is_none() {
        return Err(BadCheck::Missing { check: params.name(), name: known[0].0 });
    }
    Ok(Some(Bounds { most, exploration }))
}

fn exploration(params: &Params<'_>) -> Result<Option<Exploration>, BadCheck> {
    let Some(target) = params.number("target_exploration_ratio")? else { return Ok(None) };
    Ok(Some(Exploration { target, tolerance: params.number("exploration_tolerance")?.unwrap_or(0.2) }))
}

fn exploration_ratio(trace: &Trace) -> Option<f64> {
    let n_calls = trace.tool_calls().count();
    let explores = |name: &str| EXPLORING.contains(&name.to_lowercase().as_str());
    let n_exploring = trace.tool_calls().filter(|it| explores(&it.name)).count();
    (0 < n_calls).then(|| n_exploring as f64 / n_calls as f64)
}

impl Bounds {
    pub(super) fn run(&self, subject: &Subject<'_>) -> Finding {
        let trace = match trace_of(subject.output) {
            Ok(trace) => trace,
            Err(why) => return Finding::nothing(why),
        };
        let (mut n_held, mut comments) = (0, Vec::new());
        for (quantity, most) in &self.most {
            let Some(found) = quantity.of(subject.output, &trace) else {
                return Finding::nothing(format!("the run does not tell its {}", quantity.name()));
            };
            n_held += usize::from(found <= *most);
            comments.push(format!("{found} {} of {most}", quantity.name()));
        }
        if let Some(wanted) = &self.exploration {
            let Some(ratio) = exploration_ratio(&trace) else {
                return Finding::nothing("the run called no tool, so it has no exploration ratio");
            };
            n_held += usize::from((ratio - wanted.target).abs() <= wanted.tolerance + 1e-9);
            comments.push(format!("exploration {ratio:.2}, wanted {} ± {}", wanted.target, wanted.tolerance));
        }
        Finding::share(n_held as f64 / comments.len() as f64, comments.join("; "))
    }
}
