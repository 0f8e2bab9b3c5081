//! Checks on what a run took: tokens, money, calls.

use super::{BadCheck, CheckFinding, CheckSubject, Params};
use crate::candidate::{Measurements, StepRole, Trace, Usage};
use crate::catalogue::BoundsCheckName;

/// Bounds by what they bound; each that holds is a share of the score.
#[derive(Debug)]
pub(super) struct Bounds {
    most: Vec<(BoundedQuantity, f64)>,
    exploration: Option<Exploration>,
}

/// How much of a run should only look around: the share of its tool calls that read.
#[derive(Debug)]
struct Exploration {
    target: f64,
    tolerance: f64,
}

/// Why a bound on the cost cannot be checked, and what to do about it.
const UNKNOWN_COST: &str = "the cost of the run is not known; let the program report `cost`, set the price of the model under `prices` in .jurist/config.yaml, or remove this check";

/// Tools that read and change nothing, as AgentV has them; case does not matter.
const EXPLORING: [&str; 7] = ["read", "grep", "glob", "search", "list", "websearch", "webfetch"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundedQuantity {
    Milliseconds,
    Dollars,
    Tokens,
    TokensIn,
    TokensOut,
    ToolCalls,
    ModelCalls,
}

impl BoundedQuantity {
    fn unit(self) -> &'static str {
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

    /// A number as it is shown: a fraction of a millisecond is noise.
    fn round(self, value: f64) -> f64 {
        if self == Self::Milliseconds && 1.0 <= value { value.round() } else { value }
    }

    fn find(self, measured: &Measurements, trace: Option<&Trace>) -> Result<f64, &'static str> {
        let tokens = |count: fn(&Usage) -> u64| {
            let count = measured.usage.as_ref().map(|usage| count(usage) as f64);
            count.ok_or("the tokens of the run were not measured")
        };
        let trace = || trace.ok_or("there is no trace to count in");
        match self {
            Self::Milliseconds => measured.duration_ms.ok_or("the wall time of the run was not measured"),
            Self::Dollars => {
                let dollars = measured.cost.map(|cost| cost.nanos() as f64 / 1e9);
                dollars.ok_or(UNKNOWN_COST)
            }
            Self::Tokens => tokens(|usage| usage.input + usage.output),
            Self::TokensIn => tokens(|usage| usage.input),
            Self::TokensOut => tokens(|usage| usage.output),
            Self::ToolCalls => Ok(trace()?.tool_calls().count() as f64),
            Self::ModelCalls => {
                let is_call = |step: &&crate::candidate::TraceStep| step.role == StepRole::Assistant;
                Ok(trace()?.steps.iter().filter(is_call).count() as f64)
            }
        }
    }
}

pub(super) fn compile_bounds_check(check: BoundsCheckName, params: &Params<'_>) -> Result<Bounds, BadCheck> {
    let known: &[(&'static str, BoundedQuantity)] = match check {
        BoundsCheckName::Latency => &[("threshold", BoundedQuantity::Milliseconds)],
        BoundsCheckName::Cost => &[("budget", BoundedQuantity::Dollars)],
        BoundsCheckName::TokenUsage => &[
            ("max_total", BoundedQuantity::Tokens),
            ("max_input", BoundedQuantity::TokensIn),
            ("max_output", BoundedQuantity::TokensOut),
        ],
        BoundsCheckName::ExecutionMetrics => &[
            ("max_tool_calls", BoundedQuantity::ToolCalls),
            ("max_llm_calls", BoundedQuantity::ModelCalls),
            ("max_tokens", BoundedQuantity::Tokens),
            ("max_cost_usd", BoundedQuantity::Dollars),
            ("max_duration_ms", BoundedQuantity::Milliseconds),
        ],
    };
    let mut most = Vec::new();
    for (name, quantity) in known {
        most.extend(params.number(name)?.map(|number| (*quantity, number)));
    }
    let exploration = exploration(params)?;
    if most.is_empty() && exploration.is_none() {
        return Err(BadCheck::Missing { check: params.name(), name: known[0].0 });
    }
    Ok(Bounds { most, exploration })
}

fn exploration(params: &Params<'_>) -> Result<Option<Exploration>, BadCheck> {
    let Some(target) = params.number("target_exploration_ratio")? else { return Ok(None) };
    Ok(Some(Exploration { target, tolerance: params.number("exploration_tolerance")?.unwrap_or(0.2) }))
}

fn exploration_ratio(trace: &Trace) -> Option<f64> {
    let n_calls = trace.tool_calls().count();
    let explores = |name: &str| EXPLORING.contains(&name.to_lowercase().as_str());
    let n_exploring = trace.tool_calls().filter(|tool_call| explores(&tool_call.name)).count();
    (0 < n_calls).then(|| n_exploring as f64 / n_calls as f64)
}

impl Bounds {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let (measured, trace) = (subject.effective_measurements(), subject.read_trace());
        let (mut n_within, mut comments) = (0, Vec::new());
        for (quantity, most) in &self.most {
            let measured_value = match quantity.find(&measured, trace.as_deref().ok()) {
                Ok(measured_value) => measured_value,
                Err(absent) => return CheckFinding::without_score(absent),
            };
            n_within += usize::from(measured_value <= *most);
            comments.push(format!("{} {} of {most}", quantity.round(measured_value), quantity.unit()));
        }
        if let Some(wanted) = &self.exploration {
            let trace = match &trace {
                Ok(trace) => trace,
                Err(absent) => return absent.clone(),
            };
            let Some(ratio) = exploration_ratio(trace) else {
                return CheckFinding::without_score("the run called no tool, so it has no exploration ratio");
            };
            n_within += usize::from((ratio - wanted.target).abs() <= wanted.tolerance + 1e-9);
            comments.push(format!("exploration {ratio:.2}, wanted {} ± {}", wanted.target, wanted.tolerance));
        }
        CheckFinding::partial_credit(n_within as f64 / comments.len() as f64, comments.join("; "))
    }
}
