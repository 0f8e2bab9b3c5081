//! Models with tools, conversations, and MCP servers.

use std::time::Duration;

use jurist_core::candidate::StepRole;
use jurist_core::catalogue::{CHECKS, GradingMethod, find_catalogue_entry};
use jurist_core::dialect::ModelPrice;
use jurist_core::grade::{Deferral, Failure, Usd};
use jurist_engine::agent::FailedAgentRun;
use jurist_engine::call::{Cache, Caching};
use jurist_engine::record::{Cassette, Recorder, Tape};

use super::*;

#[tokio::test]
async fn a_model_uses_the_tools_of_its_server_in_every_protocol() {
    if !python() {
        return;
    }
    for vendor in ["vllm", "openai-responses", "anthropic", "gemini"] {
        let server = Server::start(adds).await;
        let resolver = Resolver::new(ProjectSettings::default(), |_| Some("sk-test".to_owned())).unwrap();
        let resolver = Arc::new(resolver.with_trusted_address(Some(&server.url)));
        let servers = BTreeMap::from([("sums".to_owned(), stdio(&[]))]);
        let agents = Agents::new(resolver, servers, project(Path::new(".")), None, true);
        let produced = produce(&agents, &case(model(vendor, &server), Some("sums"))).await.unwrap();
        assert_eq!(produced.response.as_deref(), Some("It is 42."), "{vendor}");
        let trace = produced.trace.unwrap();
        assert_eq!(trace.status.as_deref(), Some("completed"), "{vendor}");
        let roles: Vec<StepRole> = trace.steps.iter().map(|step| step.role).collect();
        assert_eq!(
            roles,
            [StepRole::User, StepRole::Assistant, StepRole::Tool, StepRole::Assistant],
            "{vendor}"
        );
        assert_eq!(trace.steps[1].tool_calls[0].name, "add", "{vendor}");
        assert_eq!(trace.steps[1].text, "I will look.", "{vendor}");
        assert_eq!(trace.steps[2].results[0].text, "42", "{vendor}");
        assert_eq!(trace.steps[2].results[0].call, trace.steps[1].tool_calls[0].id, "{vendor}");
        assert!(0 < trace.usage.input, "{vendor}");
        assert!(server.last().tools().contains(&"huge".to_owned()), "{vendor}");
    }
}

#[tokio::test]
async fn calls_of_tools_that_are_only_declared_are_the_answer() {
    let server = Server::start(|_| Act::Call(vec![("weather", json!({ "city": "Rome" }))])).await;
    let tools = json!([{ "type": "function", "function": { "name": "weather", "parameters": { "type": "object" } } }]);
    let target = target("vllm", json!({ "model": "agent-1", "base_url": server.url, "tools": tools }));
    let produced = produce(&agents(&[], false), &case(target, None)).await.unwrap();
    let calls: Json = serde_json::from_str(&produced.response.unwrap()).unwrap();
    assert_eq!(calls[0]["function"]["name"], "weather");
    assert_eq!(calls[0]["function"]["arguments"], "{\"city\":\"Rome\"}");
    assert_eq!(produced.trace.unwrap().status.as_deref(), Some("tool_calls"));
    assert_eq!(server.last().tools(), ["weather"]);
}

#[tokio::test]
async fn a_conversation_is_answered_turn_by_turn() {
    let server = Server::start(|seen| match seen.prompt().matches("It is").count() {
        0 => Act::Say("It is 30.".to_owned()),
        _ => Act::Say("It is 60.".to_owned()),
    })
    .await;
    let mut case = case(model("vllm", &server), None);
    case.candidate.input = None;
    case.candidate.messages = vec![
        json!({ "role": "system", "content": "Be brief." }),
        json!({ "role": "user", "content": "What is 15 % of 200?" }),
        json!({ "role": "assistant", "content": null }),
        json!({ "role": "user", "content": "Double it." }),
    ];
    let produced = produce(&agents(&[], false), &case).await.unwrap();
    assert_eq!((produced.response.as_deref(), server.n_seen()), (Some("It is 60."), 2));
    let steps = produced.trace.unwrap().steps;
    let said: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(said, ["What is 15 % of 200?", "It is 30.", "Double it.", "It is 60."]);

    case.targets = target("echo", json!({})).into_iter().collect();
    let refused = agents(&[], false).check(&case).unwrap_err().to_string();
    assert!(refused.contains("cannot hold a conversation of several turns"), "{refused}");
}

#[tokio::test]
async fn a_tool_is_called_without_a_model() {
    if !python() {
        return;
    }
    let agents = agents(&[("sums", stdio(&[]))], true);
    let call =
        |tool: &str, arguments: Json| target("mcp-tool", json!({ "tool": tool, "arguments": arguments }));
    let sum = case(call("add", json!({ "a": 2, "b": 40 })), Some("sums"));
    let produced = produce(&agents, &sum).await.unwrap();
    assert_eq!(produced.response.as_deref(), Some("42"));
    assert_eq!(produced.trace.unwrap().status.as_deref(), Some("ok"));
    let failed = produce(&agents, &case(call("fail", json!({})), Some("sums"))).await.unwrap();
    assert_eq!(failed.response.as_deref(), Some("the database is closed"));
    let results = &failed.trace.unwrap().steps[1].results;
    assert!(results[0].error && results[0].call.is_some());
    let nowhere = agents.check(&case(call("add", json!({})), None)).unwrap_err().to_string();
    assert!(nowhere.contains("needs a `server`"), "{nowhere}");
}

#[tokio::test]
async fn what_a_tool_does_wrong_is_told_to_the_model_and_what_breaks_the_server_is_no_answer() {
    if !python() {
        return;
    }
    let server = Server::start(|seen| match seen.results().len() {
        0 => Act::Call(vec![
            ("fail", json!({})),
            ("nowhere", json!({})),
            ("huge", json!({ "megabytes": 3 })),
            ("variable", json!({ "name": "GREETING" })),
            ("variable", json!({ "name": "CARGO_MANIFEST_DIR" })),
        ]),
        _ => Act::Say("done".to_owned()),
    })
    .await;
    let mut case = case(model("vllm", &server), Some("sums"));
    let agents = agents(&[("sums", stdio(&[])), ("broken", stdio(&["--broken"]))], true);
    let trace = produce(&agents, &case).await.unwrap().trace.unwrap();
    let results = &trace.steps[2].results;
    let told: Vec<(&str, bool)> =
        results.iter().map(|result| (&result.text[..result.text.len().min(24)], result.error)).collect();
    assert_eq!(told[0], ("the database is closed", true));
    assert_eq!(told[1], ("unknown tool nowhere", true));
    assert!(results[2].text.len() < 101_000 && results[2].text.ends_with("3000000 bytes in all]"));
    assert_eq!(told[3], ("hello", false));
    // A server does not see what was not meant for it.
    assert_eq!(told[4], ("(not set)", false));

    let server = Server::start(|seen| match seen.results().len() {
        0 => Act::Call(vec![("slow", json!({}))]),
        _ => Act::Say("done".to_owned()),
    })
    .await;
    case.targets = model("vllm", &server).into_iter().collect();
    case.agent.tool_timeout = Some(0.5);
    let trace = produce(&agents, &case).await.unwrap().trace.unwrap();
    let late = &trace.steps[2].results[0];
    assert_eq!((late.text.as_str(), late.error), ("no result within 0.5 s, or one of more than 16 MB", true));

    case.agent.tool_timeout = None;
    let server = Server::start(|_| Act::Call(vec![("die", json!({}))])).await;
    case.targets = model("vllm", &server).into_iter().collect();
    match produce(&agents, &case).await {
        Err(AgentRunError::Failed(Failure::Unavailable, detail)) => {
            assert!(detail.contains("closed the connection") && detail.contains("goodbye"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    case.server = Some("broken".to_owned());
    match produce(&agents, &case).await {
        Err(AgentRunError::Deferred(Deferral::Unreachable, reason)) => {
            assert!(reason.contains("`broken`") && reason.contains("no such database"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_whose_tools_never_end_is_refused() {
    let server = Server::start(|_| Act::Say("done".to_owned())).await;
    let case = case(model("vllm", &server), Some("endless"));
    let agents = agents(&[("endless", stdio(&["--endless"]))], true);
    match produce(&agents, &case).await {
        Err(AgentRunError::Deferred(Deferral::Unreachable, reason)) => {
            assert!(reason.contains("`endless`") && reason.contains("more than 200 pages"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_part_of_a_reply_is_no_response() {
    let part = json!({ "content": { "parts": [{ "text": "It is 4" }] }, "finishReason": "OTHER" });
    let reply = json!({ "candidates": [part] }).to_string();
    let server = Server::start(move |_| Act::Raw(reply.clone())).await;
    let resolver = Resolver::new(ProjectSettings::default(), |_| Some("sk-test".to_owned())).unwrap();
    let resolver = Arc::new(resolver.with_trusted_address(Some(&server.url)));
    let agents = Agents::new(resolver, BTreeMap::new(), project(Path::new(".")), None, true);
    let failed = produce(&agents, &case(model("gemini", &server), None)).await.unwrap_err();
    let AgentRunError::Failed(failure, detail) = failed else { panic!("{failed:?}") };
    assert_eq!(failure, Failure::Unavailable);
    assert!(detail.contains("`OTHER`"), "{detail}");
}

/// A reply of 110 tokens that ended for this reason.
fn counted_reply(finish_reason: &str) -> Act {
    let choice = json!({ "message": { "content": "It is 42." }, "finish_reason": finish_reason });
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10 });
    Act::Raw(json!({ "choices": [choice], "usage": usage }).to_string())
}

/// At a dollar per million tokens.
const REPLY_COST: i64 = 110_000;

/// Two turns with a model of which the first turn is answered.
async fn two_turns(second: Act, timeout: Option<f64>) -> (Server, Result<AgentOutput, FailedAgentRun>) {
    let server = Server::script(vec![counted_reply("stop"), second]).await;
    let price = ModelPrice { input: 1.0, cached_input: 1.0, output: 1.0 };
    let prices = BTreeMap::from([("vllm/agent-1".to_owned(), price)]);
    let resolver = Resolver::new(ProjectSettings { prices, ..ProjectSettings::default() }, |_| None).unwrap();
    let agents = Agents::new(Arc::new(resolver), BTreeMap::new(), project(Path::new(".")), None, true);
    let mut case = case(model("vllm", &server), None);
    case.candidate = Candidate {
        messages: vec![
            json!({ "role": "user", "content": "What is 2 + 40?" }),
            json!({ "role": "assistant", "content": null }),
            json!({ "role": "user", "content": "Are you sure?" }),
        ],
        ..Candidate::default()
    };
    case.agent.timeout = timeout;
    let which = TrialIdentity { name: &case.name, trial: 1 };
    let produced = agents.produce(&ModelClient::default(), &case, which).await;
    (server, produced)
}

#[tokio::test]
async fn the_calls_of_a_run_are_paid_whether_it_ends_well_or_not() {
    let (_server, produced) = two_turns(counted_reply("stop"), None).await;
    let spend = produced.unwrap().spend;
    assert_eq!((spend.cost.map(Usd::nanos), spend.tokens_in), (Some(2 * REPLY_COST), 200));

    let refused = Act::Status(400, Vec::new(), json!({ "error": { "message": "no" } }).to_string());
    for (second, n_paid) in [(counted_reply("error"), 2), (refused, 1)] {
        let (_server, produced) = two_turns(second, None).await;
        let failed = produced.unwrap_err();
        assert_eq!(failed.spend.cost.map(Usd::nanos), Some(n_paid * REPLY_COST), "{failed:?}");
    }
}

#[tokio::test]
async fn a_run_that_takes_too_long_has_the_cost_of_its_earlier_turns() {
    let never = || Act::Wait(Duration::from_secs(600), Box::new(counted_reply("stop")));
    // On a busy machine the first turn may take longer than a short limit; then nothing is known about the second.
    for limit in [0.5, 5.0, 50.0] {
        let (server, produced) = two_turns(never(), Some(limit)).await;
        let failed = produced.unwrap_err();
        assert!(matches!(failed.error, AgentRunError::Failed(Failure::Timeout, _)), "{failed:?}");
        if server.n_seen() == 2 {
            assert_eq!(failed.spend.cost.map(Usd::nanos), Some(REPLY_COST));
            return;
        }
    }
    panic!("the second turn never began");
}

#[tokio::test]
async fn a_run_from_the_cache_or_a_cassette_has_the_measurements_of_the_first() {
    let server = Server::start(|_| Act::Say("It is 42.".to_owned())).await;
    let resolver = Resolver::new(ProjectSettings::default(), |_| Some("sk-test".to_owned())).unwrap();
    let resolver = Arc::new(resolver.with_trusted_address(Some(&server.url)));
    let agents = Agents::new(resolver, BTreeMap::new(), project(Path::new(".")), None, true);
    let folder = tempfile::tempdir().unwrap();
    let (cache, tape) = (Cache::new(folder.path().join("cache")), folder.path().join("tape.jsonl"));
    let case = case(model("vllm", &server), None);
    let which = TrialIdentity { name: &case.name, trial: 1 };
    let recording = ModelClient::default()
        .with_cache(cache.clone(), Caching::Use)
        .with_tape(Tape::Record(Recorder::new(&tape).unwrap()));
    let first = agents.produce(&recording, &case, which).await.unwrap().measurements;
    recording.tape.finish().unwrap();
    assert!(
        first.duration_ms.is_some_and(|duration_m| 0.0 < duration_m) && first.usage.is_some(),
        "{first:?}"
    );
    let cached = ModelClient::default().with_cache(cache, Caching::Use);
    let replayed = ModelClient::default().with_tape(Tape::Replay(Cassette::load(&tape).unwrap()));
    for caller in [cached, replayed] {
        let again = agents.produce(&caller, &case, which).await.unwrap();
        assert!(again.spend.from_cache);
        assert_eq!(again.spend.cost, Some(Usd::default()));
        assert_eq!(again.measurements, first);
    }
}

/// A rubric of one check without parameters.
fn rubric_of_check(name: &str) -> Arc<Rubric> {
    let entry = find_catalogue_entry(CHECKS, name).unwrap();
    let check = CriterionKind::Check(GradingMethod { entry, params: Map::new() });
    let criteria = vec![Criterion::new("a", "It is right.", check)];
    Arc::new(Rubric::new(Draft { criteria, ..Draft::default() }).unwrap())
}

#[tokio::test]
async fn a_server_that_refuses_log_probabilities_is_asked_without_them() {
    for (status, message) in [
        (403, "You are not allowed to request logprobs from this model."),
        (400, "Unsupported parameter: 'logprobs' is not supported with this model."),
    ] {
        let server = Server::start(move |seen| match seen.body.get("logprobs") {
            Some(_) => {
                Act::Status(status, Vec::new(), json!({ "error": { "message": message } }).to_string())
            }
            None => Act::Say("It is 42.".to_owned()),
        })
        .await;
        let agents = agents(&[], true);
        let mut case = case(model("vllm", &server), None);
        case.rubric = rubric_of_check("perplexity");
        for n_requests in [2, 3] {
            let produced = produce(&agents, &case).await.unwrap();
            assert_eq!(produced.response.as_deref(), Some("It is 42."));
            assert_eq!(produced.measurements.mean_log_probability, None);
            assert_eq!(server.n_seen(), n_requests, "what is refused is remembered");
        }
        case.rubric = rubric_of_check("contains-html");
        produce(&agents, &case).await.unwrap();
        case.rubric = rubric_of_check("perplexity-score");
        produce(&agents, &case).await.unwrap();
        assert_eq!(server.n_seen(), 5);
    }
}

#[tokio::test]
async fn a_stored_reply_without_the_report_of_filters_is_no_answer_where_it_is_needed() {
    let server = Server::start(|_| Act::Say("It is 42.".to_owned())).await;
    let agents = agents(&[], true);
    let folder = tempfile::tempdir().unwrap();
    let caller = ModelClient::default().with_cache(Cache::new(folder.path()), Caching::Use);
    let mut case = case(model("vllm", &server), None);
    for (check, n_requests) in [("is-refusal", 1), ("contains-html", 1), ("guardrails", 2), ("guardrails", 2)]
    {
        case.rubric = rubric_of_check(check);
        agents.produce(&caller, &case, TrialIdentity { name: &case.name, trial: 1 }).await.unwrap();
        assert_eq!(server.n_seen(), n_requests, "{check}");
    }
}

/// The folder of a package from the npm registry, fetched once.
fn npm(package: &str, version: &str) -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm");
    let installed = folder.join("node_modules").join(package);
    if !installed.join("package.json").exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let mut npm = std::process::Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
            .arg(&folder)
            .arg(format!("{package}@{version}"));
        if !npm.output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: {package} cannot be had from the npm registry");
            return None;
        }
    }
    Some(installed)
}

/// The server over HTTP, and its port. It listens where it is told to, and a port that was free a moment ago may be
/// somebody else's by then: it ends, and another one is tried.
async fn listening(script: &str) -> (tokio::process::Child, u16) {
    for _ in 0..5 {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut http = tokio::process::Command::new("node");
        http.args([script, "streamableHttp"]).env("PORT", port.to_string()).kill_on_drop(true);
        let mut http =
            http.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        while http.try_wait().unwrap().is_none() {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return (http, port);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    panic!("the server does not listen");
}

#[tokio::test]
async fn a_live_run_against_a_server_that_others_wrote() {
    // Published by the protocol's own people.
    let Some(package) = npm("@modelcontextprotocol/server-everything", "2026.8.31") else { return };
    let script = package.join("dist/index.js").display().to_string();
    let model_server = Server::start(|seen| match seen.results().last() {
        None => Act::Call(vec![("echo", json!({ "message": "is anybody there?" })), ("nowhere", json!({}))]),
        Some(_) => Act::Say(format!("The server said: {}", seen.results()[0])),
    })
    .await;
    let (mut http, port) = listening(&script).await;
    let args = vec![script, "stdio".to_owned()];
    let servers = [
        ("stdio", McpServer::Stdio { command: "node".to_owned(), args, env: BTreeMap::new(), cwd: None }),
        ("http", McpServer::Http { url: format!("http://127.0.0.1:{port}/mcp"), headers: BTreeMap::new() }),
    ];
    let agents = agents(&servers, true);
    for name in ["stdio", "http"] {
        let case = case(model("vllm", &model_server), Some(name));
        let produced = produce(&agents, &case).await;
        let produced = produced.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(produced.response.as_deref(), Some("The server said: Echo: is anybody there?"), "{name}");
        let trace = produced.trace.unwrap();
        assert!(trace.steps[2].results[1].error, "{name}: {:?}", trace.steps[2]);
        assert!(10 < model_server.last().tools().len(), "{name}");
    }
    http.kill().await.unwrap();
}
