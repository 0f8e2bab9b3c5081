//! Files in, reading out: drop a trace into `tests/traces/<format>/` with its `.expected.json`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::candidate::{StepRole, ToolCall, ToolResult};
use crate::quantity::{Time, Usd};

use super::*;

fn fixtures() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let mut all = Vec::new();
    for folder in fs::read_dir(root).unwrap().map(|dir| dir.unwrap().path()).filter(|path| path.is_dir()) {
        let format = folder.file_name().unwrap().to_string_lossy().into_owned();
        let files = fs::read_dir(&folder).unwrap().map(|dir| dir.unwrap().path());
        all.extend(
            files
                .filter(|file| !file.to_string_lossy().ends_with(".expected.json"))
                .map(|file| (format.clone(), file)),
        );
    }
    all.sort();
    assert!(40 < all.len());
    all
}

/// A trace in the terms of the expectations: what a format does not say is not there.
fn told(format: TraceFormat, trace: &Trace) -> Value {
    let steps: Vec<Value> = trace
        .steps
        .iter()
        .map(|step| {
            let mut out = json!({ "role": step.role });
            for (key, text) in [("text", &step.text), ("reasoning", &step.reasoning)] {
                if !text.is_empty() {
                    out[key] = json!(text);
                }
            }
            if !step.tool_calls.is_empty() {
                out["tool_calls"] = json!(step.tool_calls);
            }
            if !step.results.is_empty() {
                out["results"] = json!(step.results);
            }
            let files: Vec<Value> = step
                .files
                .iter()
                .map(|file| json!({ "path": file.path, "added": file.added, "removed": file.removed }))
                .collect();
            if !files.is_empty() {
                out["files"] = json!(files);
            }
            if let Some(screenshot) = &step.screenshot {
                out["screenshot"] = json!(screenshot);
            }
            out
        })
        .collect();
    let mut out = json!({ "format": format.name(), "steps": steps });
    if let Some(answer) = trace.answer() {
        out["final"] = json!(answer);
    }
    if !trace.usage.is_nothing() {
        out["usage"] =
            json!({ "input": trace.usage.input, "output": trace.usage.output, "cached": trace.usage.cached });
    }
    if let Some(cost) = trace.cost {
        out["cost"] = json!(cost);
    }
    if let Some(status) = &trace.status {
        out["status"] = json!(status);
    }
    out
}

/// Expectations leave out what is empty.
fn normalised(mut expected: Value) -> Value {
    for step in expected["steps"].as_array_mut().unwrap() {
        for result in step["results"].as_array_mut().into_iter().flatten() {
            result.as_object_mut().unwrap().entry("text").or_insert_with(|| json!(""));
        }
        if let Some(map) = step.as_object_mut() {
            map.retain(|key, value| {
                !matches!(key.as_str(), "results" | "tool_calls" | "files")
                    || value.as_array().is_some_and(|items| !items.is_empty())
            });
        }
    }
    if let Some(usage) = expected.get_mut("usage").and_then(Value::as_object_mut) {
        usage.entry("cached").or_insert(json!(0));
        if usage.values().all(|value| value == 0) {
            expected.as_object_mut().unwrap().remove("usage");
        }
    }
    if let Some(cost) = expected.get("cost").and_then(Value::as_f64) {
        expected["cost"] = json!((cost * 1e9).round() / 1e9);
    }
    expected
}

#[test]
fn every_fixture_is_recognised_and_read_as_expected() {
    let mut wrong = Vec::new();
    for (format, path) in fixtures() {
        let text = fs::read_to_string(&path).unwrap();
        let expected = fs::read_to_string(path.with_extension("expected.json")).unwrap();
        let expected = normalised(serde_json::from_str(&expected).unwrap());
        let name = format!("{format}/{}", path.file_name().unwrap().to_string_lossy());
        match read_trace(&text, None) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok((found, trace)) => {
                let told = told(found, &trace);
                if told != expected {
                    wrong.push(format!("{name}: {}", difference(&told, &expected)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn difference(told: &Value, expected: &Value) -> String {
    for key in ["format", "final", "usage", "cost", "status"] {
        if told.get(key) != expected.get(key) && key != "final" {
            return format!("{key}: {:?} instead of {:?}", told.get(key), expected.get(key));
        }
    }
    let (a, b) = (told["steps"].as_array().unwrap(), expected["steps"].as_array().unwrap());
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    format!(
        "step {at} of {} (expected {}): {} instead of {}",
        a.len(),
        b.len(),
        a.get(at).unwrap_or(&Value::Null),
        b.get(at).unwrap_or(&Value::Null)
    )
}

#[test]
fn jurists_own_form_reads_back_the_same() {
    for (_, path) in fixtures() {
        let (_, mut trace) = read_trace(&fs::read_to_string(&path).unwrap(), None).unwrap();
        // Read and not written.
        trace.model_usage.clear();
        trace.spans.clear();
        let written = serde_json::to_string(&trace).unwrap();
        let (format, again) = read_trace(&written, None)
            .unwrap_or_else(|error| panic!("{}: {error}\n{written}", path.display()));
        assert_eq!((format, again), (TraceFormat::Jurist, trace), "{}", path.display());
    }
}

#[test]
fn what_cannot_be_read_is_an_error_that_lists_what_can() {
    for text in
        [r#"{"foo": 1}"#, "[1, 2]", r#"[{"foo": 1}]"#, r#"{"messages": [{"who": "me"}]}"#, r#"[{"role": 5}]"#]
    {
        let error = read_trace(text, None).unwrap_err().to_string();
        assert!(error.contains("openai-chat") && error.contains("claude-code"), "{text}: {error}");
    }
    assert!(matches!(
        read_trace(r#"[{"role": "user", "content": "x"}]"#, Some(TraceFormat::Mcp)),
        Err(TraceError::NothingRead(TraceFormat::Mcp))
    ));
    assert_eq!(read_trace("  ", None).unwrap().1, Trace::default());
}

#[test]
fn shapes_that_others_take_for_no_tool_calls_are_read() {
    let names = |text: &str| {
        read_trace(text, None)
            .unwrap()
            .1
            .tool_calls()
            .map(|tool_call| tool_call.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(r#"[{"role": "assistant", "content": [{"type": "tool_use", "name": "rm", "input": {}}]}]"#),
        ["rm"]
    );
    assert_eq!(names(r#"[{"role": "assistant", "tool_calls": [{"name": "ls", "args": {"p": 1}}]}]"#), ["ls"]);
    assert_eq!(
        names(r#"[{"type": "function_call", "call_id": "1", "name": "ls", "arguments": "{}"}]"#),
        ["ls"]
    );
    assert_eq!(
        names(
            r#"{"steps": [{"role": "assistant", "tool_calls": [{"function": {"name": "ls", "arguments": ""}}]}]}"#
        ),
        ["ls"]
    );
}

#[test]
fn tool_calls_are_read_or_the_trace_is_not() {
    let names = |message: Value| {
        let trace = read_trace_value(&json!([{ "role": "user", "content": "Clean up." }, message]), None);
        trace.map(|(_, trace)| trace.tool_calls().map(|call| call.name.clone()).collect::<Vec<_>>())
    };
    for message in [
        // Inspect, DeepEval, and names alone.
        json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": "a", "function": "rm", "arguments": {}, "type": "function" }] }),
        json!({ "role": "assistant", "content": "Done.", "tools_called": [{ "name": "rm", "input_parameters": {} }] }),
        json!({ "role": "assistant", "content": "Done.", "tool_calls": ["rm"] }),
    ] {
        assert_eq!(names(message.clone()).unwrap(), ["rm"], "{message}");
    }
    for message in [
        json!({ "role": "assistant", "content": "Done.", "toolCalls": [{ "name": "rm" }] }),
        json!({ "role": "assistant", "content": "Done.", "tool_calls": "rm" }),
        json!({ "role": "assistant", "content": [{ "text": "So." }, { "toolUse": { "name": "rm", "input": {} } }] }),
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "So." }, { "type": "tool-call", "toolName": "rm" }] }),
        json!({ "role": "model", "content": "So.", "parts": [{ "functionCall": { "name": "rm", "args": {} } }] }),
        json!({ "role": "assistant", "content": "So.", "parts": [{ "type": "tool-rm", "input": {} }] }),
    ] {
        assert!(matches!(names(message.clone()), Err(TraceError::UnreadCalls)), "{message}");
    }
    for message in [
        json!({ "role": "assistant", "content": "Done.", "tool_calls": [], "function_call": null }),
        json!({ "role": "tool", "tool_call_id": "a", "content": "ok" }),
        json!({ "role": "assistant", "content": "Done.", "usage": { "server_tool_use": { "searches": 0 } } }),
    ] {
        assert_eq!(names(message.clone()).unwrap(), [""; 0], "{message}");
    }
}

#[test]
fn what_stands_around_a_trace_of_any_format_is_kept() {
    let row = r#"{"trace_id": "t1", "status": "failed", "task": "Find it", "messages": [{"role": "user", "content": "Hi"}]}"#;
    let (format, trace) = read_trace(row, None).unwrap();
    assert_eq!(format, TraceFormat::OpenaiChat);
    let said = (trace.id.as_deref(), trace.status.as_deref(), trace.task.as_deref());
    assert_eq!(said, (Some("t1"), Some("failed"), Some("Find it")));
}

#[test]
fn a_tool_message_of_older_spans_may_be_a_plain_text() {
    let event = json!({ "name": "gen_ai.tool.message", "attributes": [
        { "key": "gen_ai.event.content", "value": { "stringValue": "18 degrees" } },
    ] });
    let span = json!({
        "spanId": "a", "traceId": "b", "name": "chat", "events": [event],
        "attributes": [{ "key": "gen_ai.operation.name", "value": { "stringValue": "chat" } }],
    });
    let spans = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] });
    assert_eq!(read_trace_value(&spans, None).unwrap().0, TraceFormat::Otlp);
}

mod anything {
    use proptest::prelude::*;

    use super::*;

    fn json() -> impl Strategy<Value = Value> {
        let key = prop_oneof![
            "(role|content|type|text|tool_calls|function|name|arguments|steps|trajectory|messages|speaker|action|observation|history)",
            "(resourceSpans|scopeSpans|spans|spanId|attributes|key|value|stringValue|events|choices|message|kwargs|lc|id|data|jsonrpc|method|params)",
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(assistant|user|tool|tool_use|tool_result|function_call|ai|2.0|tools/call|f\\(\\{|\\[|x)"
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..5).prop_map(|vec| vec.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_value_makes_a_format_panic(value in json()) {
            for format in TraceFormat::ALL.iter().copied().map(Some).chain([None]) {
                let _ = read_trace_value(&value, format);
            }
        }

        #[test]
        fn no_damaged_trace_makes_a_format_panic(which in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>(), with in "\\PC{0,12}") {
            let all = fixtures();
            let text: Vec<char> = fs::read_to_string(&which.get(&all).1).unwrap().chars().collect();
            let at = cut.index(text.len());
            let damaged = text[..at].iter().collect::<String>() + &with + &text[(at + with.len()).min(text.len())..].iter().collect::<String>();
            let _ = read_trace(&damaged, None);
            for format in TraceFormat::ALL {
                let _ = read_trace(&damaged, Some(*format));
            }
        }
    }
}

#[test]
fn steps_of_spans_say_when_they_began_how_long_they_took_and_what_they_used() {
    let span = |id: &str, start: u64, end: u64, attributes: Value| {
        json!({ "spanId": id, "traceId": "t", "startTimeUnixNano": start.to_string(),
            "endTimeUnixNano": end.to_string(), "attributes": attributes })
    };
    let call = json!({ "type": "tool_call", "id": "c1", "name": "search", "arguments": { "q": "cat" } });
    let asks = json!([{ "role": "user", "parts": [{ "type": "text", "content": "Find the cat." }] }]);
    let says = json!([{ "role": "assistant", "parts": [call] }]);
    let second = 1_000_000_000;
    let spans = json!([
        span(
            "a",
            10 * second,
            12 * second,
            json!({ "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": asks.to_string(), "gen_ai.output.messages": says.to_string(),
            "gen_ai.usage.input_tokens": 70, "gen_ai.usage.output_tokens": 9, "gen_ai.usage.cost": 0.002 })
        ),
        span(
            "b",
            12 * second,
            12 * second + 40_000_000,
            json!({ "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "In the box." })
        ),
    ]);
    let (_, trace) = read_trace_value(&spans, None).unwrap();
    let [user, asked, answered] = trace.steps.as_slice() else { panic!("{:?}", trace.steps) };
    assert_eq!((user.time, user.duration_ms, user.usage.is_nothing()), (None, None, true));
    assert_eq!((asked.time, asked.duration_ms), (Some(Time::from_micros(10_000_000)), Some(2000.0)));
    assert_eq!((asked.usage.input, asked.usage.output), (70, 9));
    assert_eq!(asked.cost, Some(Usd::from_nanos(2_000_000)));
    assert_eq!((answered.time, answered.duration_ms), (Some(Time::from_micros(12_000_000)), Some(40.0)));
    // The totals are those of the spans, once.
    assert_eq!((trace.usage.input, trace.usage.output, trace.cost), (70, 9, asked.cost));
}

#[test]
fn a_tool_that_ran_before_the_only_recorded_model_call_is_one_call_after_its_question() {
    let span = |id: &str, start: u64, attributes: &Value| {
        json!({ "traceId": "t", "spanId": id,
            "startTimeUnixNano": start.to_string(), "attributes": attributes })
    };
    let text =
        |role: &str, text: &str| json!({ "role": role, "parts": [{ "type": "text", "content": text }] });
    let question = text("user", "Where is 23?");
    let call = json!({ "type": "tool_call", "id": "c1", "name": "lookup", "arguments": { "order": "23" } });
    let asked = json!({ "role": "assistant", "parts": [{ "type": "text", "content": "I look." }, call] });
    let response = json!({ "type": "tool_call_response", "id": "c1", "response": "found" });
    let found = json!({ "role": "tool", "parts": [response] });
    let more = text("user", "Quickly!");
    let told = |tool_id: Option<&str>, input: &[&Value]| {
        let mut tool = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup",
            "gen_ai.tool.call.arguments": "{\"order\": \"23\"}", "gen_ai.tool.call.result": "found" });
        if let Some(id) = tool_id {
            tool["gen_ai.tool.call.id"] = id.into();
        }
        let input = json!(input).to_string();
        let output = json!([text("assistant", "On its way.")]).to_string();
        let chat = json!({ "gen_ai.operation.name": "chat", "gen_ai.input.messages": input,
            "gen_ai.output.messages": output });
        let spans = json!([span("a", 1, &tool), span("b", 2, &chat)]);
        let (_, trace) = read_trace_value(&spans, None).unwrap();
        let steps = trace.steps.iter().map(|step| {
            let calls = step.tool_calls.iter().map(|call| format!("call {}", call.name));
            let results = step.results.iter().map(|result| format!("result {}", result.text));
            let text = (!step.text.is_empty()).then(|| step.text.clone());
            text.into_iter().chain(calls).chain(results).collect::<Vec<String>>().join(" + ")
        });
        steps.collect::<Vec<String>>()
    };
    for id in [Some("c1"), None] {
        let whole = told(id, &[&question, &asked, &found, &more]);
        let expected = ["Where is 23?", "I look. + call lookup", "result found", "Quickly!", "On its way."];
        assert_eq!(whole, expected, "{id:?}");
        let without_history = told(id, &[&question]);
        assert_eq!(without_history, ["Where is 23?", "call lookup", "result found", "On its way."], "{id:?}");
    }
}

#[test]
fn spans_without_messages_still_count_tokens_once() {
    let span = |id: &str, operation: &str| {
        json!({ "traceId": "t", "spanId": id, "attributes": {
            "gen_ai.operation.name": operation, "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 2 } })
    };
    let spans = json!([span("a", "invoke_agent"), span("b", "chat")]);
    let (format, trace) = read_trace_value(&spans, None).unwrap();
    assert_eq!((format, trace.steps.len()), (TraceFormat::Otlp, 0));
    assert_eq!((trace.usage.input, trace.usage.output), (7, 2));
}

#[test]
fn what_only_an_agents_span_says_is_read_and_what_it_repeats_is_not() {
    let messages = |role: &str, text: &str| {
        let message = json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]);
        message.to_string()
    };
    let span = |id: &str, start: u64, operation: &str, input: &str, output: &str| {
        let mut attributes = json!({ "gen_ai.operation.name": operation });
        for (key, role, text) in [("input", "user", input), ("output", "assistant", output)] {
            if !text.is_empty() {
                attributes[format!("gen_ai.{key}.messages")] = messages(role, text).into();
            }
        }
        json!({ "traceId": "t", "spanId": id, "startTimeUnixNano": start.to_string(),
            "attributes": attributes })
    };
    let texts = |spans: Value| {
        let (_, trace) = read_trace_value(&spans, None).unwrap();
        trace.steps.iter().map(|step| (step.role, step.text.clone())).collect::<Vec<_>>()
    };
    let whole =
        vec![(StepRole::User, "Where is it?".to_owned()), (StepRole::Assistant, "On its way.".to_owned())];
    let agent = |input: &str, output: &str| span("a", 1, "invoke_agent", input, output);
    let call = |input: &str, output: &str| span("b", 2, "chat", input, output);
    // The question stands on the agent's span alone, the answer, both, and everything twice.
    for spans in [
        json!([agent("Where is it?", ""), call("", "On its way.")]),
        json!([agent("", "On its way."), call("Where is it?", "")]),
        json!([agent("Where is it?", "On its way.")]),
        json!([agent("Where is it?", "On its way."), call("Where is it?", "On its way.")]),
    ] {
        assert_eq!(texts(spans.clone()), whole, "{spans}");
    }
    let chain = json!([{ "traceId": "t", "spanId": "c", "attributes": {
        "openinference.span.kind": "CHAIN", "input.value": "Where is it?", "output.value": "On its way." } }]);
    assert_eq!(texts(chain), whole);
}

#[test]
fn a_misspelt_key_of_the_own_form_is_an_error_and_other_formats_are_not() {
    let call = json!({ "name": "rm", "arguments": {} });
    let with = |step: Value| json!({ "steps": [{ "role": "user", "text": "Go." }, step] });
    let step = |key: &str, value: Value| with(json!({ "role": "assistant", key: value }));
    for (value, written, meant) in [
        (json!({ "step": [{ "role": "assistant", "text": "a" }] }), "step", "steps"),
        (json!({ "id": "t", "Steps": [{ "role": "assistant", "text": "a" }] }), "Steps", "steps"),
        (json!({ "step": [{ "role": "tool", "result": [] }] }), "step", "steps"),
        (step("contents", json!("a")), "steps[1].contents", "text"),
        (step("texts", json!("a")), "steps[1].texts", "text"),
        (step("tool_call", json!([call])), "steps[1].tool_call", "tool_calls"),
        (step("toolcalls", json!([call])), "steps[1].toolcalls", "tool_calls"),
        (step("result", json!([{ "text": "a" }])), "steps[1].result", "results"),
        (step("tool_calls", json!([{ "nmae": "rm" }])), "steps[1].nmae", "name"),
        (step("tool_calls", json!([{ "name": "rm", "argument": {} }])), "steps[1].argument", "arguments"),
        (step("results", json!([{ "txt": "a" }])), "steps[1].txt", "text"),
    ] {
        let expected = TraceError::MisspeltKey { written: written.to_owned(), meant };
        for value in [value.clone(), Value::from(value.to_string())] {
            for format in [None, Some(TraceFormat::Jurist)] {
                assert_eq!(read_trace_value(&value, format), Err(expected.clone()), "{value}");
            }
        }
    }
    for value in [
        with(json!({ "role": "assistant", "text": "a" })),
        // Messages of chats, in what other tools call steps.
        step("content", json!("a")),
        json!({ "steps": [{ "role": "assistant", "content": "a", "result": "b" }] }),
        json!({ "step": "one", "messages": [{ "role": "assistant", "content": "a" }] }),
        json!({ "steps": [{ "role": "assistant", "content": null,
            "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "rm", "arguments": "{}" } }] }] }),
        json!({ "steps": [{ "thought": "a", "action": "rm", "observation": "b" }] }),
    ] {
        let read = read_trace_value(&value, None);
        assert!(!matches!(read, Err(TraceError::MisspeltKey { .. })), "{value}");
    }
}

#[test]
fn calls_without_messages_do_not_move_the_steps_of_tools() {
    let mut replay = replay::Replay::default();
    let n = 40_000;
    for _ in 0..n {
        let call = ToolCall::new(None, "lookup", &Value::Null);
        let result = ToolResult { call: None, name: None, text: String::new(), error: false };
        replay.tool_run(call, result, None, replay::UnannouncedCall::Assistant);
    }
    // Each took as long as there are steps.
    for _ in 0..n {
        replay.model_call(Vec::new(), Vec::new());
    }
    assert_eq!(replay.steps.len(), 2 * n);
}

#[test]
fn messages_of_enclosing_spans_are_looked_for_as_long_as_the_work_is_limited() {
    let messages = |role: &str, text: &str| {
        json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
    };
    let mut spans = vec![json!({ "traceId": "t", "spanId": "call", "attributes": {
        "gen_ai.operation.name": "chat", "gen_ai.output.messages": messages("assistant", &"a".repeat(4 << 20)) } })];
    let n = 1_000;
    spans.extend((0..n).map(|n| {
        json!({ "traceId": "t", "spanId": format!("{n}"), "attributes": {
            "gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": messages("user", &format!("<{n}>")) } })
    }));
    let (_, trace) = read_trace_value(&Value::Array(spans.clone()), None).unwrap();
    let n_questions = |trace: &Trace| trace.steps.iter().filter(|step| step.role == StepRole::User).count();
    assert!((100..300).contains(&n_questions(&trace)), "{}", n_questions(&trace));
    // As many in a trace of a usual size.
    spans[0]["attributes"]["gen_ai.output.messages"] = messages("assistant", &"a".repeat(10 << 10)).into();
    let (_, trace) = read_trace_value(&Value::Array(spans), None).unwrap();
    assert_eq!(n_questions(&trace), n);
}

#[test]
fn a_message_of_claude_code_with_very_many_calls_takes_time_by_their_number_alone() {
    // Each call was compared with all calls before it, which takes an hour for so many.
    let n_calls = 100_000;
    let call = |n: usize| json!({ "type": "tool_use", "name": "Edit", "input": { "file": "src/lib.rs", "line": n } });
    let calls: Vec<Value> = (0..n_calls).map(call).collect();
    let line = |uuid: &str| {
        let message = json!({ "id": "msg_1", "role": "assistant", "content": calls });
        json!({ "type": "assistant", "sessionId": "s", "uuid": uuid, "message": message })
    };
    let (_, trace) = read_trace_value(&json!([line("1"), line("2")]), None).unwrap();
    assert_eq!(
        (trace.steps.len(), trace.steps[0].tool_calls.len()),
        (1, n_calls),
        "a repeated call is one call"
    );
    assert_eq!(trace.steps[0].tool_calls[n_calls - 1].arguments["line"], n_calls - 1);
}

#[test]
fn very_many_open_requests_of_an_mcp_server_take_time_by_their_number_alone() {
    // Each answer was looked for among all requests that were open.
    let n = 200_000;
    let ask = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "read" } });
    let answer = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "error": { "message": id.to_string() } });
    let lines: Value = (0..n).map(ask).chain((0..n).map(answer)).collect();
    let (_, trace) = read_trace_value(&lines, None).unwrap();
    let results: Vec<&ToolResult> = trace.steps.iter().flat_map(|step| &step.results).collect();
    assert_eq!((trace.steps.len(), results.len()), (2 * n, n));
    assert!(results.iter().all(|result| result.call.as_deref() == Some(result.text.as_str())));
}
