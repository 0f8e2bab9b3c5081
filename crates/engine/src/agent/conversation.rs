//! A model that works on a task, with the tools of a server if it has one, until it makes no more calls.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use jurist_core::candidate::{GuardrailReport, Measurements, StepRole, ToolCall, Trace, TraceStep};
use jurist_core::catalogue::{CheckName, ProviderCheckName};
use jurist_core::check::{DeclaredTool, read_declared_tools};
use jurist_core::grade::Usd;
use jurist_core::rubric::CriterionKind;
use jurist_core::suite::{Case, Judge};
use serde_json::{Value as Json, json};

use super::mcp::Mcp;
use super::{AgentOutput, AgentRunError, RunSpend, TrialIdentity};
use crate::call::{CallFailure, CallResult, ModelClient, Tries};
use crate::model::{Message, MessageRole, ModelEndpoint, Request, StopReason, Tool};

const MAX_STEPS: u32 = 30;
const MAX_TOKENS: u64 = 500_000;
/// Of one reply.
const MAX_REPLY: u32 = 8192;
pub(super) const TOOL_TIMEOUT: f64 = 60.0;
const SYSTEM: &str = "You are a helpful assistant.";

/// `spend` counts every call as soon as it is paid, because a later turn may fail and a time limit may end the run.
pub(super) async fn hold_conversation(
    caller: &ModelClient,
    endpoint: &ModelEndpoint,
    settings: &Judge,
    case: &Case,
    which: TrialIdentity<'_>,
    mcp: Option<&Mcp>,
    spend: &RunSpend,
) -> Result<AgentOutput, AgentRunError> {
    let agent = &case.agent;
    let PlannedConversation { system, mut turns } = build_conversation(case);
    let (n_turns, messages) = (turns.len(), turns.pop_front().unwrap_or_default());
    let mut request = Request {
        model: endpoint.name.clone(),
        system: agent.system.clone().or(system).unwrap_or_else(|| SYSTEM.to_owned()),
        messages,
        schema: Json::Null,
        tools: mcp.map_or_else(|| declared_tools(case), |mcp| mcp.tools.clone()),
        temperature: settings.temperature,
        max_tokens: settings.max_tokens.unwrap_or(MAX_REPLY),
        // Trials are independent draws.
        draw: (which.trial - 1) * 1000,
        log_probabilities: has_provider_check(case, ProviderCheckName::Perplexity)
            || has_provider_check(case, ProviderCheckName::PerplexityScore),
        guardrails: has_provider_check(case, ProviderCheckName::Guardrails),
    };
    let mut trace =
        Trace { steps: request.messages.iter().map(step_of_message).collect(), ..Trace::default() };
    let tool_timeout = Duration::from_secs_f64(agent.tool_timeout.unwrap_or(TOOL_TIMEOUT));
    let mut status = "too many steps";
    // As each reply was made and each tool worked, without waiting for a turn: the same from the cache.
    let mut duration_ms = Some(0.0);
    let mut cost = endpoint.price.map(|_| Usd::default());
    let (mut mean_log_probability, mut guardrails) = (None, None);
    for _ in 0..agent.max_steps.unwrap_or(MAX_STEPS) {
        let called = caller.call(endpoint, &request, &mut Tries::default()).await;
        spend.add(called.as_ref().map_or_else(|failure| failure.spend, |result| Some(result.spend)));
        let CallResult { reply, spend: paid, key, .. } = called.map_err(not_called)?;
        // Of a part of a reply nobody knows what the whole would have been worth.
        if let Some(why) = reply.describe_stop().filter(|_| reply.stop == StopReason::Other) {
            return Err(AgentRunError::unavailable(why));
        }
        trace.usage = trace.usage.plus(reply.usage);
        duration_ms = duration_ms.zip(reply.duration_ms).map(|(sum, own)| sum + own);
        cost = cost.zip(endpoint.price).map(|(sum, price)| sum.plus(price.of_reply(&reply)));
        if !paid.from_cache {
            caller.keep(&key, &reply);
        }
        // The last reply is the answer; a flag that a filter set on an earlier reply stays set.
        mean_log_probability = reply.mean_log_probability;
        guardrails =
            guardrails.filter(|report: &GuardrailReport| report.flagged).or(reply.guardrails.clone());
        let mut step = TraceStep::new(StepRole::Assistant, reply.text.clone());
        (step.tool_calls, step.usage) = (reply.calls.clone(), reply.usage);
        trace.steps.push(step);
        match (reply.stop, mcp) {
            (StopReason::Refusal, _) => status = "refused",
            (StopReason::Length, _) if reply.calls.is_empty() => status = "cut off",
            (_, Some(mcp)) if !reply.calls.is_empty() => {
                let mut results = Vec::new();
                let started = Instant::now();
                for call in &reply.calls {
                    results.push(mcp.call(call, tool_timeout).await?);
                }
                let tools_ms = started.elapsed().as_secs_f64() * 1e3;
                duration_ms = duration_ms.map(|sum| sum + tools_ms);
                trace.steps.push(TraceStep {
                    role: StepRole::Tool,
                    results: results.clone(),
                    ..TraceStep::default()
                });
                let parts = Some(reply.text).filter(|text| !text.is_empty()).into_iter().collect();
                request
                    .messages
                    .push(Message { calls: reply.calls, ..Message::new(MessageRole::Assistant, parts) });
                request.messages.push(Message { results, ..Message::new(MessageRole::User, Vec::new()) });
                if agent.max_tokens.unwrap_or(MAX_TOKENS) <= trace.usage.input + trace.usage.output {
                    status = "too many tokens";
                    break;
                }
                continue;
            }
            (StopReason::End, _) if reply.calls.is_empty() && !turns.is_empty() => {
                // The next message of the user follows this reply.
                request.messages.push(Message::new(MessageRole::Assistant, vec![reply.text]));
                let next = turns.pop_front().unwrap_or_default();
                trace.steps.extend(next.iter().map(step_of_message));
                request.messages.extend(next);
                continue;
            }
            // Tools that are only declared are not run: their calls are the answer.
            (_, None) if !reply.calls.is_empty() => status = "tool_calls",
            _ => status = "completed",
        }
        break;
    }
    trace.status = Some(status.to_owned());
    (trace.cost, trace.duration_ms) = (cost, duration_ms);
    let usage = Some(trace.usage).filter(|usage| !usage.is_nothing());
    let measurements = Measurements { duration_ms, usage, cost, mean_log_probability };
    let last = trace.steps.last().filter(|step| step.role == StepRole::Assistant);
    let response = last.map(|step| match step.tool_calls.as_slice() {
        calls if !calls.is_empty() && mcp.is_none() => write_calls(calls),
        _ => step.text.clone(),
    });
    // Without tools, the trace shows only the answer, unless a caller needs the reason why the model stopped.
    let is_seen = mcp.is_some() || 1 < n_turns;
    let trace = (is_seen || !request.tools.is_empty() || asks_why_it_stopped(case)).then_some(trace);
    let spend = spend.sum();
    Ok(AgentOutput { response, trace, spend, measurements, guardrails, ..AgentOutput::default() })
}

/// Tools that the target of a case declares.
fn declared_tools(case: &Case) -> Vec<Tool> {
    let config = case.targets.first().map(|target| &target.config);
    let tools = config.into_iter().flat_map(|config| config.get("tools").or_else(|| config.get("functions")));
    let to_tool =
        |tool: DeclaredTool| Tool { name: tool.name, description: tool.description, schema: tool.schema };
    tools.flat_map(read_declared_tools).map(to_tool).collect()
}

/// Calls as OpenAI writes them.
fn write_calls(calls: &[ToolCall]) -> String {
    let call = |call: &ToolCall| {
        let arguments = Json::Object(call.arguments.clone()).to_string();
        json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
    };
    Json::Array(calls.iter().map(call).collect()).to_string()
}

fn has_provider_check(case: &Case, check: ProviderCheckName) -> bool {
    case.rubric.questions().any(|question| {
        matches!(&question.criterion.ask, CriterionKind::Check(method) if method.entry.check == Some(CheckName::Provider(check)))
    })
}

fn asks_why_it_stopped(case: &Case) -> bool {
    case.rubric.questions().any(|question| {
        matches!(&question.criterion.ask, CriterionKind::Check(method) if method.entry.name == "finish-reason")
    })
}

fn not_called(error: CallFailure) -> AgentRunError {
    match error.deferral() {
        Some(why) => AgentRunError::Deferred(why, error.error.detail),
        None => AgentRunError::Failed(error.error.failure(), error.error.detail),
    }
}

fn step_of_message(message: &Message) -> TraceStep {
    let who = if message.role == MessageRole::User { StepRole::User } else { StepRole::Assistant };
    TraceStep::new(who, message.parts.join("\n"))
}

/// The messages before the conversation, and those up to each answer that the case leaves open.
struct PlannedConversation {
    system: Option<String>,
    turns: VecDeque<Vec<Message>>,
}

fn build_conversation(case: &Case) -> PlannedConversation {
    let candidate = &case.candidate;
    let (mut system, mut messages) = (None, Vec::new());
    let mut turns = VecDeque::new();
    for message in &candidate.messages {
        if is_open_answer(message) {
            turns.push_back(std::mem::take(&mut messages));
            continue;
        }
        let text = match &message["content"] {
            Json::String(text) => text.clone(),
            Json::Array(parts) => {
                parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
            }
            other => other.to_string(),
        };
        match message["role"].as_str() {
            Some("system" | "developer") => system = Some(text),
            Some("assistant") => messages.push(Message::new(MessageRole::Assistant, vec![text])),
            _ => messages.push(Message::new(MessageRole::User, vec![text])),
        }
    }
    if let Some(input) = candidate.input.as_ref().filter(|_| messages.is_empty()) {
        let documents = candidate.context.iter().cloned();
        messages.push(Message::new(MessageRole::User, documents.chain([input.clone()]).collect()));
    }
    turns.push_back(messages);
    PlannedConversation { system, turns }
}

/// Whether a message of the conversation is one that the agent still has to write.
pub(super) fn is_open_answer(message: &Json) -> bool {
    message["role"] == "assistant" && message["content"].is_null() && message.get("tool_calls").is_none()
}
