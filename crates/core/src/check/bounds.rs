//! Checks on what a run took: tokens, money, calls.

use serde_json::Value;

use super::{BadCheck, Finding, Params, Subject, trace_of};
use crate::candidate::{Role, Trace};

/// Upper bounds by what they bound; all must hold.
#[derive(Debug)]
pub(super) struct Bounds {
    most: Vec<(Quantity, f64)>,
}

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
    let known: &[(&str, Quantity)] = match params.name() {
        "latency" => &[("threshold", Quantity::Milliseconds)],
        "cost" => &[("budget", Quantity::Dollars)],
        "token-usage" => &[
            ("max_total", Quantity::Tokens),
            ("max_input", Quantity::TokensIn),
            ("max_output", Quantity::TokensOut),
        ],
        // What counts as exploring is a matter of an agent's tools; that bound is not decided here.
        "execution-metrics" if params.get("target_exploration_ratio").is_none() => &[
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
    Ok(Some(Bounds { most }))
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
        let score = n_held as f64 / self.most.len().max(1) as f64;
        Finding {
            value: Value::Bool(n_held == self.most.len()),
            ..Finding::scored(score, Value::Null, comments.join("; "))
        }
    }
}
