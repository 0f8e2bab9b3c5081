//! OpenTelemetry spans: GenAI attributes old and new, OpenInference, Traceloop and Vercel's.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::message::{join_content_text, money, push, role_of};
use super::replay::{Replay, UnannouncedCall};
use super::{action, compact_value_text, first_text_field};
use crate::candidate::trace::{
    ModelUsage, StepRole, ToolCall, ToolResult, Trace, TraceSpan, TraceStep, Usage,
};
use crate::quantity::{Time, Usd};

pub(super) fn is_otel_trace(value: &Value) -> bool {
    let is_export =
        |value: &Value| value.get("resourceSpans").is_some() || value.get("resourceLogs").is_some();
    let is_span = |value: &Value| {
        value.get("child_spans").is_some()
            || (value.get("span_id").is_some() && value.get("trace_id").is_some())
            || value.get("spanId").is_some()
    };
    let has_span = |value: &Value| value["spans"].as_array().is_some_and(|items| items.iter().any(is_span));
    let fits_one = |value: &Value| is_export(value) || is_span(value) || has_span(value);
    fits_one(value) || value.as_array().is_some_and(|items| items.iter().any(fits_one))
}

/// Input messages and output messages of a call.
type SpanMessages = (Vec<TraceStep>, Vec<TraceStep>);

/// One span, whatever wrote it.
struct OtelSpan {
    id: String,
    is_root: bool,
    name: String,
    start: String,
    duration_ms: Option<f64>,
    attributes: Map<String, Value>,
    events: Vec<(String, Map<String, Value>)>,
    failed: Option<bool>,
    message: String,
}

pub(super) fn read_otel_trace(value: &Value) -> Trace {
    let mut spans = Vec::new();
    collect(value, &mut spans);
    attach_logs(value, &mut spans);
    let mut seen = HashSet::new();
    spans.retain(|span| seen.insert(span.id.clone()));
    spans.sort_by(|a, b| a.start.cmp(&b.start));
    let (mut replay, mut trace) = (Replay::default(), Trace::default());
    for span in &spans {
        if span.is_tool() {
            let (call, result) = span.tool();
            replay.tool_run(call, result, span.start_time(), UnannouncedCall::Assistant);
        } else if let Some((input, mut output)) = span.messages() {
            if let Some(step) = output.first_mut() {
                span.measure_step(step);
            }
            replay.model_call(input, output);
            add_span_usage(&mut trace, span);
        } else if span.is_model_call() {
            // Instrumentations leave the messages out unless they are configured to record them.
            add_span_usage(&mut trace, span);
        }
    }
    add_enclosing(&spans, &mut replay, &mut trace);
    let mut roots = spans.iter().filter(|span| span.is_root);
    if let (Some(root), None) = (roots.next(), roots.next()) {
        trace.status = root.failed.map(|failed| if failed { "error" } else { "ok" }.to_owned());
        trace.duration_ms = root.duration_ms;
    }
    trace.steps = replay.steps;
    let summarise = |span: &OtelSpan| TraceSpan {
        name: span.name.clone(),
        duration_ms: span.duration_ms,
        failed: span.failed == Some(true),
    };
    trace.spans = spans.iter().map(summarise).collect();
    trace
}

/// Adds what only spans around model calls say. An agent's span mostly repeats the calls below it, but some
/// instrumentations put the question, the answer or both there alone.
fn add_enclosing(spans: &[OtelSpan], replay: &mut Replay, trace: &mut Trace) {
    // Beside model calls, the output of a chain is often a step of the program and not an answer.
    let texts = |span: &OtelSpan| if replay.steps.is_empty() { span.input_and_output() } else { None };
    let enclosing: Vec<(&OtelSpan, SpanMessages)> = spans
        .iter()
        .filter(|span| span.encloses())
        .filter_map(|span| Some((span, span.read_messages().or_else(|| texts(span))?)))
        .collect();
    if trace.usage.is_nothing()
        && let Some((span, _)) = enclosing.first()
    {
        add_span_usage(trace, span);
    }
    if replay.steps.is_empty() {
        // The outermost span; spans inside it repeat its contents.
        if let Some((_, (input, output))) = enclosing.into_iter().next() {
            replay.model_call(input, output);
        }
        return;
    }
    let (mut questions, mut search) = (Vec::new(), StepSearch::default());
    for (_, (input, output)) in enclosing {
        let asked = |step: &TraceStep| matches!(step.role, StepRole::System | StepRole::User);
        let missing = input.into_iter().filter(asked).filter(|step| search.is_missing(step, &replay.steps));
        let missing: Vec<TraceStep> = missing.collect();
        let missing = missing.into_iter().filter(|step| search.is_missing(step, &questions));
        let missing: Vec<TraceStep> = missing.collect();
        questions.extend(missing);
        let said = |step: &TraceStep| step.role == StepRole::Assistant;
        let missing = output.into_iter().filter(said).filter(|step| search.is_missing(step, &replay.steps));
        let missing: Vec<TraceStep> =
            missing.map(|step| TraceStep::new(StepRole::Assistant, step.text)).collect();
        replay.steps.extend(missing);
    }
    replay.steps.splice(0..0, questions);
}

/// Bytes of steps that are searched for the messages of enclosing spans: a second at most. A trace of a megabyte may
/// have a thousand such messages.
const MAX_SEARCHED_BYTES: usize = 1 << 30;

/// Searches steps for messages, as long as the work is limited.
#[derive(Default)]
struct StepSearch {
    n_bytes: usize,
}

impl StepSearch {
    /// Whether no step says what this one says. Beyond the limit, every message counts as repeated.
    fn is_missing(&mut self, step: &TraceStep, steps: &[TraceStep]) -> bool {
        let text = step.text.trim();
        !text.is_empty()
            && !steps.iter().any(|known| {
                self.n_bytes += known.text.len() + 1;
                MAX_SEARCHED_BYTES < self.n_bytes || known.text.contains(text)
            })
    }
}

fn add_span_usage(trace: &mut Trace, span: &OtelSpan) {
    let usage = span.usage();
    trace.usage = trace.usage.plus(usage);
    if !usage.is_nothing() {
        let provider =
            span.get(&["gen_ai.provider.name", "gen_ai.system", "llm.provider", "ai.model.provider"]);
        let model = [
            "gen_ai.response.model",
            "gen_ai.request.model",
            "llm.model_name",
            "ai.response.model",
            "ai.model.id",
        ];
        let model = span.get(&model).map(compact_value_text).unwrap_or_default();
        trace.model_usage.push(ModelUsage { provider: provider.map(compact_value_text), model, usage });
    }
    trace.cost = match (trace.cost, span.cost()) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    };
}

fn collect(value: &Value, spans: &mut Vec<OtelSpan>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, spans)),
        Value::Object(map) => {
            if map.contains_key("spanId") || map.contains_key("span_id") {
                spans.push(parse_otel_span(value));
            }
            for key in ["resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans", "child_spans"]
            {
                collect(&value[key], spans);
            }
        }
        _ => {}
    }
}

fn parse_otel_span(value: &Value) -> OtelSpan {
    let status = &value["status"];
    let code =
        compact_value_text(status.get("code").or_else(|| value.get("status_code")).unwrap_or(&Value::Null))
            .to_uppercase();
    let parent = first_text_field(value, &["parentSpanId", "parent_span_id"]).unwrap_or_default();
    let start = ["startTimeUnixNano", "timestamp", "start_time"].iter().find_map(|text| value.get(*text));
    let events = value["events"].as_array().into_iter().flatten();
    OtelSpan {
        id: first_text_field(value, &["spanId", "span_id"]).unwrap_or_default().to_owned(),
        is_root: parent.is_empty(),
        name: first_text_field(value, &["name", "span_name"]).unwrap_or_default().to_owned(),
        start: start.map(compact_value_text).unwrap_or_default(),
        duration_ms: start.zip(value.get("endTimeUnixNano")).and_then(|(start, end)| {
            let nanos = |value: &Value| compact_value_text(value).parse::<u64>().ok();
            Some(nanos(end)?.checked_sub(nanos(start)?)? as f64 / 1e6)
        }),
        attributes: parse_otel_attributes(
            value.get("attributes").or_else(|| value.get("span_attributes")).unwrap_or(&Value::Null),
        ),
        events: events
            .map(|event| {
                (
                    first_text_field(event, &["name", "Name"]).unwrap_or_default().to_owned(),
                    parse_event_attributes(event),
                )
            })
            .collect(),
        failed: match code.as_str() {
            "2" | "ERROR" | "STATUS_CODE_ERROR" => Some(true),
            "1" | "OK" | "STATUS_CODE_OK" => Some(false),
            _ => None,
        },
        message: first_text_field(status, &["message"])
            .or(first_text_field(value, &["status_message"]))
            .unwrap_or_default()
            .to_owned(),
    }
}

fn parse_event_attributes(value: &Value) -> Map<String, Value> {
    let mut all = parse_otel_attributes(value.get("attributes").unwrap_or(&Value::Null));
    if let Some(Value::Object(body)) = value.get("body").map(unwrap_otel_value) {
        all.extend(body);
    }
    all
}

/// Log records carry what newer conventions took off the spans.
fn attach_logs(value: &Value, spans: &mut [OtelSpan]) {
    let exports = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    let records = exports
        .iter()
        .flat_map(|export| export["resourceLogs"].as_array().into_iter().flatten())
        .flat_map(|value| value["scopeLogs"].as_array().into_iter().flatten())
        .flat_map(|value| value["logRecords"].as_array().into_iter().flatten());
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, span) in spans.iter().enumerate() {
        places.entry(span.id.clone()).or_insert(place);
    }
    for record in records {
        let name = first_text_field(record, &["eventName"]).map(str::to_owned);
        let all = parse_event_attributes(record);
        let name = name.or_else(|| all.get("event.name").map(compact_value_text)).unwrap_or_default();
        if let Some(place) = record["spanId"].as_str().and_then(|id| places.get(id)) {
            spans[*place].events.push((name, all));
        }
    }
}

/// A list of `{key, value: {stringValue}}`, or a plain mapping.
fn parse_otel_attributes(value: &Value) -> Map<String, Value> {
    match value {
        Value::Array(items) => items
            .iter()
            .filter_map(|item| Some((item["key"].as_str()?.to_owned(), unwrap_otel_value(&item["value"]))))
            .collect(),
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    }
}

fn unwrap_otel_value(value: &Value) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    match map.iter().next() {
        Some((key, inner)) if map.len() == 1 => match key.as_str() {
            "stringValue" | "boolValue" | "doubleValue" | "bytesValue" => inner.clone(),
            "intValue" => inner
                .as_str()
                .and_then(|inner| inner.parse::<i64>().ok())
                .map_or_else(|| inner.clone(), Value::from),
            "arrayValue" => inner["values"].as_array().into_iter().flatten().map(unwrap_otel_value).collect(),
            "kvlistValue" => Value::Object(parse_otel_attributes(&inner["values"])),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

/// JSON that is in a text.
fn parse_embedded_json(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        other => other.clone(),
    }
}

impl OtelSpan {
    fn get(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().find_map(|key| self.attributes.get(*key)).filter(|map| !map.is_null())
    }

    fn is(&self, key: &str, word: &str) -> bool {
        self.attributes.get(key).and_then(Value::as_str).is_some_and(|text| text.eq_ignore_ascii_case(word))
    }

    fn is_tool(&self) -> bool {
        self.is("gen_ai.operation.name", "execute_tool")
            || self.is("openinference.span.kind", "TOOL")
            || self.is("traceloop.span.kind", "tool")
            || self.attributes.contains_key("ai.toolCall.name")
    }

    fn is_model_call(&self) -> bool {
        let says = |text: &&str| self.is("gen_ai.operation.name", text);
        ["chat", "text_completion", "generate_content"].iter().any(says)
            || self.is("openinference.span.kind", "LLM")
    }

    fn tool(&self) -> (ToolCall, ToolResult) {
        let name = self.get(&["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"]);
        let name = name.map_or_else(|| self.name.clone(), compact_value_text);
        let id = self.get(&["gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"]).map(compact_value_text);
        let inputs = [
            "gen_ai.tool.call.arguments",
            "ai.toolCall.args",
            "ai.toolCall.input",
            "input.value",
            "traceloop.entity.input",
        ];
        let call = ToolCall::new(id, &name, self.get(&inputs).unwrap_or(&Value::Null));
        let call = ToolCall { duration_ms: self.duration_ms, ..call };
        let outputs = [
            "gen_ai.tool.call.result",
            "ai.toolCall.result",
            "ai.toolCall.output",
            "output.value",
            "traceloop.entity.output",
        ];
        // A text may be written as JSON, in quotes.
        let text = self.get(&outputs).map(|value| {
            parse_embedded_json(value).as_str().map_or_else(|| compact_value_text(value), str::to_owned)
        });
        let failed = self.failed == Some(true);
        let text = text.unwrap_or_else(|| if failed { self.message.clone() } else { String::new() });
        (call, ToolResult { call: None, name: Some(name), text, error: failed })
    }

    /// Nanoseconds since 1970, or a text.
    fn start_time(&self) -> Option<Time> {
        let micros = self.start.parse::<u64>().ok().and_then(|nanos| i64::try_from(nanos / 1000).ok());
        micros.map(Time::from_micros).or_else(|| Time::parse(&self.start).ok())
    }

    /// Writes when the model was called, how long it took and what it used to the message that it replied with.
    fn measure_step(&self, step: &mut TraceStep) {
        step.time = step.time.or_else(|| self.start_time());
        step.duration_ms = self.duration_ms;
        step.cost = self.cost();
        if step.usage.is_nothing() {
            step.usage = self.usage();
        }
    }

    fn cost(&self) -> Option<Usd> {
        ["gen_ai.usage.cost", "llm.cost.total"].iter().find_map(|key| money(self.attributes.get(*key)?))
    }

    fn usage(&self) -> Usage {
        let events = self.events.iter().map(|(_, details)| details);
        let all: Vec<&Map<String, Value>> = std::iter::once(&self.attributes).chain(events).collect();
        let count = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| all.iter().find_map(|object| object.get(*key)));
            found
                .and_then(|found| {
                    found
                        .as_u64()
                        .or_else(|| found.as_f64().map(|number| number as u64))
                        .or_else(|| found.as_str()?.parse().ok())
                })
                .unwrap_or(0)
        };
        Usage {
            input: count(&[
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.prompt_tokens",
                "llm.token_count.prompt",
                "ai.usage.inputTokens",
                "ai.usage.promptTokens",
            ]),
            output: count(&[
                "gen_ai.usage.output_tokens",
                "gen_ai.usage.completion_tokens",
                "llm.token_count.completion",
                "ai.usage.outputTokens",
                "ai.usage.completionTokens",
            ]),
            cached: count(&[
                "gen_ai.usage.cache_read.input_tokens",
                "gen_ai.usage.cache_read_input_tokens",
                "llm.token_count.prompt_details.cache_read",
                "ai.usage.cachedInputTokens",
            ]),
        }
    }

    /// Whether it encloses model calls: the span of an agent, a chain or a workflow.
    fn encloses(&self) -> bool {
        let says = |text: &&str| self.is("gen_ai.operation.name", text);
        let is_other =
            self.get(&["openinference.span.kind"]).is_some() && !self.is("openinference.span.kind", "LLM");
        ["invoke_agent", "create_agent", "invoke_workflow"].iter().any(says) || (is_other && !self.is_tool())
    }

    /// Input and output messages of a model call.
    fn messages(&self) -> Option<SpanMessages> {
        if self.encloses() { None } else { self.read_messages() }
    }

    /// What OpenInference notes of an agent or a chain, as texts. Others (retrievers, rerankers) hold no conversation,
    /// and an object is the program's own state.
    fn input_and_output(&self) -> Option<SpanMessages> {
        if !["AGENT", "CHAIN"].iter().any(|kind| self.is("openinference.span.kind", kind)) {
            return None;
        }
        let step = |key: &str, role: StepRole| {
            let text = self.get(&[key])?.as_str()?.trim();
            let is_object = text.starts_with(['{', '[']);
            (!text.is_empty() && !is_object).then(|| TraceStep::new(role, text.to_owned()))
        };
        let (input, output) =
            (step("input.value", StepRole::User), step("output.value", StepRole::Assistant));
        (input.is_some() || output.is_some())
            .then(|| (input.into_iter().collect(), output.into_iter().collect()))
    }

    fn read_messages(&self) -> Option<SpanMessages> {
        let read = [
            self.current(),
            self.read_indexed_messages("llm.input_messages.", "llm.output_messages."),
            self.read_indexed_messages("gen_ai.prompt.", "gen_ai.completion."),
            self.vercel(),
            self.read_event_messages(),
        ];
        read.into_iter().flatten().find(|read| !read.0.is_empty() || !read.1.is_empty())
    }

    fn current(&self) -> Option<SpanMessages> {
        let details = self.events.iter().map(|(_, details)| details);
        let holder = std::iter::once(&self.attributes).chain(details).find(|once| {
            once.contains_key("gen_ai.input.messages") || once.contains_key("gen_ai.output.messages")
        })?;
        let list = |key: &str| {
            holder
                .get(key)
                .map(parse_embedded_json)
                .and_then(|value| value.as_array().cloned())
                .unwrap_or_default()
        };
        let system = list("gen_ai.system_instructions");
        let text: Vec<String> = system.iter().map(|system| join_content_text(system, "\n")).collect();
        let system = (!text.is_empty()).then(|| TraceStep::new(StepRole::System, text.join("\n")));
        let input = system
            .into_iter()
            .chain(list("gen_ai.input.messages").iter().flat_map(read_message_parts))
            .collect();
        Some((input, list("gen_ai.output.messages").iter().flat_map(read_message_parts).collect()))
    }

    /// `prefix.N.message.role`, `prefix.N.tool_calls.M.name`: numbers are places in lists.
    fn read_indexed_messages(&self, input: &str, output: &str) -> Option<SpanMessages> {
        let read = |prefix: &str| -> Vec<TraceStep> {
            let mut places: BTreeMap<usize, Map<String, Value>> = BTreeMap::new();
            for (key, value) in &self.attributes {
                let Some((place, rest)) = key.strip_prefix(prefix).and_then(|rest| rest.split_once('.'))
                else {
                    continue;
                };
                let Ok(place) = place.parse() else { continue };
                let rest = rest.strip_prefix("message.").unwrap_or(rest);
                places.entry(place).or_default().insert(rest.to_owned(), value.clone());
            }
            places.values().flat_map(read_indexed_message).collect()
        };
        let (input, output) = (read(input), read(output));
        (!input.is_empty() || !output.is_empty()).then_some((input, output))
    }

    fn vercel(&self) -> Option<SpanMessages> {
        let prompt = parse_embedded_json(self.get(&["ai.prompt.messages"])?);
        let input = prompt.as_array().into_iter().flatten().flat_map(read_message_parts).collect();
        let mut said = TraceStep::new(
            StepRole::Assistant,
            self.get(&["ai.response.text"]).map(compact_value_text).unwrap_or_default(),
        );
        said.reasoning = self.get(&["ai.response.reasoning"]).map(compact_value_text).unwrap_or_default();
        let calls = self.get(&["ai.response.toolCalls"]).map(parse_embedded_json);
        said.tool_calls =
            calls.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(tool_call).collect();
        Some((input, vec![said]))
    }

    /// Older events: one per message.
    fn read_event_messages(&self) -> Option<SpanMessages> {
        let (mut input, mut output) = (Vec::new(), Vec::new());
        for (name, all) in &self.events {
            let content = all.get("gen_ai.event.content").map(parse_embedded_json);
            let body = content.unwrap_or_else(|| {
                Value::Object(
                    all.iter().map(|(key, value)| (key.clone(), parsed_if_list(key, value))).collect(),
                )
            });
            match name.as_str() {
                "gen_ai.choice" => {
                    let message = body.get("message").map(parse_embedded_json).unwrap_or(body);
                    output.extend(super::message::chat_message_steps(&with_role(&message, "assistant")));
                }
                "gen_ai.system.message"
                | "gen_ai.user.message"
                | "gen_ai.assistant.message"
                | "gen_ai.tool.message" => {
                    let role = name.trim_start_matches("gen_ai.").trim_end_matches(".message");
                    let mut message = with_role(&body, role);
                    if role == "tool" {
                        message["tool_call_id"] = body.get("id").cloned().unwrap_or(Value::Null);
                        message["content"] = Value::from(compact_value_text(&body["content"]));
                    }
                    input.extend(super::message::chat_message_steps(&message));
                }
                _ => {}
            }
        }
        Some((input, output))
    }
}

fn parsed_if_list(key: &str, value: &Value) -> Value {
    if key == "tool_calls" || key == "message" { parse_embedded_json(value) } else { value.clone() }
}

/// A message with its role; one that is no object is its content.
fn with_role(message: &Value, role: &str) -> Value {
    let Value::Object(map) = message else { return json!({ "role": role, "content": message }) };
    let mut map = map.clone();
    map.entry("role").or_insert_with(|| role.into());
    Value::Object(map)
}

fn tool_call(value: &Value) -> Option<ToolCall> {
    let name = first_text_field(value, &["name", "toolName"])?;
    let arguments =
        ["arguments", "input", "args"].iter().find_map(|text| value.get(*text)).unwrap_or(&Value::Null);
    Some(ToolCall::new(first_text_field(value, &["id", "toolCallId"]).map(str::to_owned), name, arguments))
}

/// A message of parts: OpenTelemetry's and Vercel's.
fn read_message_parts(message: &Value) -> Vec<TraceStep> {
    let role = role_of(message["role"].as_str().unwrap_or_default());
    let mut step = TraceStep { role, ..TraceStep::default() };
    let list = message.get("parts").or_else(|| message.get("content")).unwrap_or(&Value::Null);
    let Some(list) = list.as_array() else {
        step.text = compact_value_text(list);
        return vec![step];
    };
    for part in list {
        match part["type"].as_str().unwrap_or_default() {
            "tool_call" | "tool-call" => step.tool_calls.extend(tool_call(part)),
            "tool_call_response" | "tool-result" => {
                let output = ["response", "result", "output"]
                    .iter()
                    .find_map(|text| part.get(*text))
                    .unwrap_or(&Value::Null);
                let kind = output["type"].as_str().unwrap_or_default();
                let inner = output.get("value").filter(|_| !kind.is_empty()).unwrap_or(output);
                step.results.push(ToolResult {
                    call: first_text_field(part, &["id", "toolCallId"]).map(str::to_owned),
                    name: first_text_field(part, &["name", "toolName"]).map(str::to_owned),
                    text: compact_value_text(inner),
                    error: kind.starts_with("error"),
                });
            }
            "reasoning" => push(&mut step.reasoning, &join_content_text(part, "\n"), "\n"),
            _ => push(
                &mut step.text,
                &join_content_text(part, "\n"),
                if role == StepRole::Assistant { "" } else { "\n" },
            ),
        }
    }
    vec![step]
}

/// A message whose parts are numbered attributes.
fn read_indexed_message(fields: &Map<String, Value>) -> Vec<TraceStep> {
    let text = |key: &str| fields.get(key).map(compact_value_text).unwrap_or_default();
    let written = text("role");
    let role = match written.as_str() {
        "tool-call" => StepRole::Assistant,
        "tool-response" => StepRole::Tool,
        other => role_of(other),
    };
    let mut step = TraceStep::new(role, text("content"));
    for at in 0.. {
        let prefix = format!("contents.{at}.message_content.");
        let kind = text(&format!("{prefix}type"));
        let content = text(&format!("{prefix}text"));
        if kind.is_empty() && content.is_empty() {
            break;
        }
        push(if kind == "reasoning" { &mut step.reasoning } else { &mut step.text }, &content, "\n");
    }
    for at in 0.. {
        let get = |key: &str| {
            let names = [format!("tool_calls.{at}.tool_call.{key}"), format!("tool_calls.{at}.{key}")];
            names.iter().find_map(|name| fields.get(name))
        };
        let Some(name) = get("function.name").or_else(|| get("name")) else { break };
        let arguments = get("function.arguments").or_else(|| get("arguments")).unwrap_or(&Value::Null);
        step.tool_calls.push(ToolCall::new(
            get("id").map(compact_value_text),
            compact_value_text(name),
            arguments,
        ));
    }
    match written.as_str() {
        "tool-call" => smolagents_call(&mut step),
        "tool-response" => smolagents_result(&mut step),
        _ if role == StepRole::Tool => {
            let call = fields.get("tool_call_id").map(compact_value_text);
            let result = ToolResult {
                call,
                name: fields.get("name").map(compact_value_text),
                text: std::mem::take(&mut step.text),
                error: false,
            };
            step.results.push(result);
        }
        _ => {}
    }
    vec![step]
}

/// `Calling tools:` and the calls as Python prints them.
fn smolagents_call(step: &mut TraceStep) {
    let Some(Value::Array(calls)) =
        step.text.strip_prefix("Calling tools:").and_then(|rest| action::parse_literal(rest.trim()))
    else {
        return;
    };
    step.tool_calls.extend(calls.iter().filter_map(super::message::parse_recorded_call));
    step.text.clear();
}

/// `Call id: x`, then `Observation:` or `Error:` and the text.
fn smolagents_result(step: &mut TraceStep) {
    let text = std::mem::take(&mut step.text);
    let (head, rest) = text.split_once('\n').unwrap_or(("", &text));
    let call = head.strip_prefix("Call id:").map(|rest| rest.trim().to_owned());
    let body = if call.is_some() { rest } else { &text };
    let failed = body.starts_with("Error:");
    let body = body.trim_start_matches("Observation:").trim_start_matches("Error:").trim_start_matches('\n');
    let body = body.split("\nNow let's retry:").next().unwrap_or(body).trim_end();
    step.results.push(ToolResult { call, name: None, text: body.to_owned(), error: failed });
}
