//! Agents before real servers: tools over MCP, programs, addresses, folders; and what breaks on the way.

#![allow(clippy::print_stderr, reason = "what is skipped is told")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::candidate::{Candidate, StepRole};
use jurist_core::catalogue::{CHECKS, GradingMethod, find_catalogue_entry};
use jurist_core::dialect::ProjectSettings;
use jurist_core::grade::{Deferral, Failure};
use jurist_core::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use jurist_core::suite::{
    AgentSettings, Case, CaseMatrix, CaseTarget, Judge, McpServer, SetupProgram, Workspace,
};
use jurist_engine::agent::{AgentOutput, AgentRunError, Agents, TrialIdentity};
use jurist_engine::call::{Cache, Caching, ModelClient};
use jurist_engine::load::{Outside, SuiteFiles};
use jurist_engine::model::resolve::Resolver;
use jurist_engine::record::{Cassette, Recorder, Tape};
use serde_json::{Map, Value as Json, json};

use crate::server::{Act, Seen, Server};

fn script() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py").display().to_string()
}

fn stdio(arguments: &[&str]) -> McpServer {
    let args =
        std::iter::once(script()).chain(arguments.iter().map(|argument| (*argument).to_owned())).collect();
    let env = BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]);
    McpServer::Stdio { command: "python3".to_owned(), args, env, cwd: None }
}

fn project(folder: &Path) -> SuiteFiles {
    SuiteFiles::of(&folder.join("suite.yaml"), Outside::Refused)
}

fn case(target: Option<CaseTarget>, server: Option<&str>) -> Case {
    let criteria = vec![Criterion::new("a", "It is right.", CriterionKind::Question(Scale::Binary))];
    Case {
        name: "sum".to_owned(),
        origin: None,
        description: None,
        tags: Vec::new(),
        metadata: Map::new(),
        candidate: Candidate { input: Some("What is 2 + 40? It's easy.".to_owned()), ..Candidate::default() },
        server: server.map(str::to_owned),
        targets: target.into_iter().collect(),
        agent: AgentSettings::default(),
        workspace: None,
        rubric: Arc::new(Rubric::new(Draft { criteria, ..Draft::default() }).unwrap()),
        judge: Judge::default(),
        matrix: CaseMatrix::default(),
        data: None,
        labels: BTreeMap::new(),
        repeat: 1,
        store_output_as: None,
    }
}

fn target(id: &str, config: Json) -> Option<CaseTarget> {
    let Json::Object(config) = config else { panic!("{config}") };
    Some(CaseTarget { id: id.to_owned(), label: None, config })
}

fn agents(servers: &[(&str, McpServer)], allowed: bool) -> Agents {
    let servers = servers.iter().map(|(name, mcp_server)| ((*name).to_owned(), mcp_server.clone())).collect();
    let resolver = Resolver::new(ProjectSettings::default(), |_| None).unwrap();
    Agents::new(Arc::new(resolver), servers, project(Path::new(".")), None, allowed)
}

fn model(vendor: &str, server: &Server) -> Option<CaseTarget> {
    target(vendor, json!({ "model": "agent-1", "base_url": server.url }))
}

async fn produce(agents: &Agents, case: &Case) -> Result<AgentOutput, AgentRunError> {
    agents.produce(&ModelClient::default(), case, TrialIdentity { name: &case.name, trial: 1 }).await
}

/// Adds once, and then says what came of it.
fn adds(seen: &Seen) -> Act {
    match seen.results().last() {
        None => Act::Call(vec![("add", json!({ "a": 2, "b": 40 }))]),
        Some(sum) => Act::Say(format!("It is {sum}.")),
    }
}

fn python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no python3");
    }
    found
}

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

#[tokio::test]
async fn programs_are_measured_unless_they_say_it_themselves() {
    let agents = agents(&[], true);
    let run = async |command: &str| {
        let case = case(target("cli", json!({ "command": command })), None);
        produce(&agents, &case).await.unwrap().measurements
    };
    let plain = run("echo 42").await;
    assert!(
        plain.duration_ms.is_some_and(|duration_m| 0.0 < duration_m)
            && plain.usage.is_none()
            && plain.cost.is_none()
    );
    let told = run(r#"echo '{"output": "42", "duration_ms": 2000, "cost_usd": 0.25}'"#).await;
    assert_eq!(
        (told.duration_ms, told.cost.map(jurist_core::quantity::Usd::nanos)),
        (Some(2000.0), Some(250_000_000))
    );
}

#[tokio::test]
async fn runs_end_at_their_limits() {
    if !python() {
        return;
    }
    let server = Server::start(|_| Act::Call(vec![("add", json!({ "a": 1, "b": 1 }))])).await;
    let agents = agents(&[("sums", stdio(&[]))], true);
    let mut case = case(model("vllm", &server), Some("sums"));
    case.agent.max_steps = Some(3);
    let produced = produce(&agents, &case).await.unwrap();
    let trace = produced.trace.unwrap();
    assert_eq!((trace.status.as_deref(), trace.steps.len()), (Some("too many steps"), 7));
    assert_eq!(produced.response, None);
    (case.agent.max_steps, case.agent.max_tokens) = (None, Some(10));
    let trace = produce(&agents, &case).await.unwrap().trace.unwrap();
    assert_eq!((trace.status.as_deref(), trace.steps.len()), (Some("too many tokens"), 3));
    let slow =
        Server::start(|_| Act::Wait(Duration::from_secs(5), Box::new(Act::Say("late".to_owned())))).await;
    case.targets = model("vllm", &slow).into_iter().collect();
    (case.agent.max_tokens, case.agent.timeout) = (None, Some(0.5));
    assert!(matches!(produce(&agents, &case).await, Err(AgentRunError::Failed(Failure::Timeout, _))));
}

#[tokio::test]
async fn nothing_is_started_that_nobody_agreed_to() {
    let agents = agents(&[("sums", stdio(&[]))], false);
    let server = Server::script(vec![Act::Say("hi".to_owned())]).await;
    let programs = [
        case(model("vllm", &server), Some("sums")),
        case(target("exec:touch /tmp/never", json!({})), None),
        case(target("cli", json!({ "command": "touch /tmp/never" })), None),
        case(target("file://never.py", json!({})), None),
        case(target("https://example.org", json!({ "headers": { "x": "{{ env.SECRET }}" } })), None),
        case(target("http://169.254.169.254/latest/meta-data", json!({})), None),
        case(target("http://[::ffff:169.254.169.254]/", json!({})), None),
        case(target("http://metadata.google.internal/x", json!({})), None),
    ];
    let mut spoken_for = case(None, None);
    spoken_for.agent.model = Some("command:touch /tmp/never".to_owned());
    for case in programs.into_iter().chain([spoken_for]) {
        match produce(&agents, &case).await {
            Err(AgentRunError::Failed(_, reason)) => {
                assert!(reason.contains("--allow-commands"), "{reason}");
                assert_eq!(agents.check(&case).unwrap_err().to_string(), reason, "known before it is run");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(server.n_seen(), 0);
    // What starts nothing needs no leave.
    let echo = produce(&agents, &case(target("echo", json!({})), None)).await.unwrap();
    assert_eq!(echo.response.as_deref(), Some("What is 2 + 40? It's easy."));
    let spoken = produce(&agents, &case(model("vllm", &server), None)).await.unwrap();
    assert_eq!((spoken.response.as_deref(), spoken.trace), (Some("hi"), None));
}

#[tokio::test]
async fn programs_answer_in_every_way_that_others_know() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "provider.py",
        "print('noise')\ndef call_api(prompt, options, context):\n    return {'output': options['config']['say'] + ' ' + prompt[:4], 'tokenUsage': {'prompt': 5, 'completion': 2}}\n",
    );
    write(
        "provider.mjs",
        "export default class { constructor(o) { this.o = o; } async callApi(p) { console.log('noise'); return { output: this.o.config.say + ' ' + p.slice(0, 4) }; } }",
    );
    write("args.sh", "echo \"$1 | $(echo $2 | tr -d '{}\\\"')\"");
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    let say = json!({ "say": "Hm," });
    let quoted = "What is 2 + 40? It's easy.";
    for (id, config, expected) in [
        ("exec:sh 'args.sh'", json!({ "a": 1 }), "What is 2 + 40? It's easy. | config:a:1"),
        ("file://provider.py", say.clone(), "Hm, What"),
        ("python:provider.py", say.clone(), "Hm, What"),
        ("file://provider.mjs", say, "Hm, What"),
        ("cli", json!({ "command": "printf %s {PROMPT}" }), quoted),
        ("cli", json!({ "command": "cat {PROMPT_FILE} > {OUTPUT_FILE}; echo noise" }), quoted),
        ("cli", json!({ "command": "cat" }), quoted),
        ("cli", json!({ "command": "echo {EVAL_ID}/{ATTEMPT}" }), "sum/0"),
    ] {
        let produced = produce(&agents, &case(target(id, config), None)).await;
        let produced = produced.unwrap_or_else(|error| panic!("{id}: {error:?}"));
        assert_eq!(produced.response.as_deref(), Some(expected), "{id}");
        assert_eq!(produced.spend.tokens_in, if id.ends_with(".py") { 5 } else { 0 }, "{id}");
    }
    for (config, expected) in [
        (json!({ "command": "echo no >&2; exit 4" }), "exit status: 4: no"),
        (json!({ "command": "sleep 5", "timeout_seconds": 0.2 }), "longer than 0.2 s"),
        (json!({ "command": "true > /dev/null; echo {OUTPUT_FILE} > /dev/null" }), "did not write"),
    ] {
        match produce(&agents, &case(target("cli", config), None)).await {
            Err(AgentRunError::Failed(_, detail)) => assert!(detail.contains(expected), "{detail}"),
            other => panic!("{other:?}"),
        }
    }
    for (id, expected) in [
        ("exec:/no/such/program", "`/no/such/program` does not exist"),
        ("exec:./absent.sh now", "`./absent.sh` does not exist in the folder of the suite"),
        ("exec:no-such-program-anywhere", "does not exist in PATH"),
        ("python:absent.py", "the file `absent.py` does not exist"),
        ("file://absent.mjs:answer", "the file `absent.mjs` does not exist"),
        ("file://agent.cobol", "understood: .py"),
        ("cli", "needs `config.command`"),
        ("nobody:knows:this", "nobody"),
        ("opnai:gpt-5", "did you mean `openai/gpt-5`?"),
    ] {
        let reason = agents.check(&case(target(id, json!({})), None)).unwrap_err().to_string();
        assert!(reason.contains(expected), "{reason}");
    }
}

#[tokio::test]
async fn a_program_gets_a_conversation_as_json_if_its_target_asks_for_it() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "chat.py",
        "import json\ndef call_api(prompt, options, context):\n    return ' '.join([m['role'] for m in json.loads(prompt)] + list(options['config']))\n",
    );
    write("args.sh", "printf %s \"$1\"");
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    let system = json!({ "role": "system", "content": "Be brief." });
    let user = json!({ "role": "user", "content": "2 + 40?" });
    let as_json = serde_json::to_string_pretty(&json!([system, user])).unwrap();
    for (id, config, expected) in [
        ("file://chat.py", json!({ "chat_format": "json", "style": "terse" }), "system user style"),
        ("exec:sh args.sh", json!({ "chat_format": "json" }), as_json.as_str()),
        ("exec:sh args.sh", json!({}), "Be brief.\n\n2 + 40?"),
    ] {
        let mut asked = case(target(id, config), None);
        asked.candidate.input = None;
        asked.candidate.messages = vec![system.clone(), user.clone()];
        let produced = produce(&agents, &asked).await.unwrap();
        assert_eq!(produced.response.as_deref(), Some(expected), "{id}");
    }
}

#[tokio::test]
async fn an_address_is_asked_as_the_file_says() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/down" => Act::Status(503, Vec::new(), "try later".to_owned()),
        _ => Act::Raw(json!({ "data": [{ "said": format!("{} {}", seen.path, seen.body) }] }).to_string()),
    })
    .await;
    let agents = agents(&[], false);
    let config = json!({
        "method": "PUT", "body": { "q": ["{{prompt}}"] }, "transformResponse": "json.data[0].said",
        "headers": { "x-team": "evals" },
    });
    let asked = case(target(&format!("{}/ask", server.url), config.clone()), None);
    let produced = produce(&agents, &asked).await.unwrap();
    assert_eq!(produced.response.as_deref(), Some(r#"/ask {"q":["What is 2 + 40? It's easy."]}"#));
    assert_eq!(server.last().header("x-team"), Some("evals"));
    let down = case(target(&format!("{}/down", server.url), json!({})), None);
    assert!(
        matches!(produce(&agents, &down).await, Err(AgentRunError::Failed(Failure::Unavailable, it)) if it.contains("try later"))
    );
    let config = json!({
        "url": format!("{}/ask", server.url), "body": { "k": "{{k}}", "n": "{{ n }}" },
        "headers": { "x-team": "{{ k }}" }, "queryParams": { "k": "{{ k }}" }, "transformResponse": "json.data[0].said",
    });
    let mut filled = case(target("https", config), None);
    let unknown = agents.check(&filled).unwrap_err().to_string();
    assert!(unknown.contains("the case has no variable `k`"), "{unknown}");
    filled.candidate.vars = Map::from_iter([("k".to_owned(), json!("a \"b\"")), ("n".to_owned(), json!(3))]);
    let produced = produce(&agents, &filled).await.unwrap();
    assert_eq!(produced.response.as_deref(), Some(r#"/ask?k=a%20%22b%22 {"k":"a \"b\"","n":3}"#));
    assert_eq!(server.last().header("x-team"), Some("a \"b\""));
    let accepts = json!({ "validateStatus": "status < 600", "transformResponse": "text" });
    let down = case(target(&format!("{}/down", server.url), accepts), None);
    assert_eq!(produce(&agents, &down).await.unwrap().response.as_deref(), Some("try later"));
    let mut internal = case(target("https://{{host}}/x", json!({})), None);
    internal.candidate.vars = Map::from_iter([("host".to_owned(), json!("169.254.169.254"))]);
    let refused = agents.check(&internal).unwrap_err().to_string();
    assert!(refused.contains("link-local"), "{refused}");
    let code = case(target("https://example.org", json!({ "transformResponse": "json.a + 1" })), None);
    let refused = agents.check(&code).unwrap_err().to_string();
    assert!(refused.contains("transformResponse"), "{refused}");
    let nowhere = case(target("http://127.0.0.1:9/x", json!({})), None);
    assert!(matches!(produce(&agents, &nowhere).await, Err(AgentRunError::Deferred(..))));
}

#[tokio::test]
async fn code_finds_the_answer_in_every_form_and_its_time_is_not_that_of_the_target() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node");
        return;
    }
    let server = Server::start(|_| Act::Raw(json!({ "items": [{ "text": "a" }] }).to_string())).await;
    let folder = tempfile::tempdir().unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    for code in [
        "json.items.map(item => item.text).join('');",
        "json.items.map(item => { return item.text; })[0]",
        "const texts = json.items.map(item => item.text); return texts[0]",
        "if (context.response.status == 200) { return json.items[0].text }",
        "(json, text) => JSON.parse(text).items[0].text",
        "json => json.items[0].text",
        "function (json) { return json.items[0].text }",
        "async (json) => json.items[0].text",
        "const end = Date.now() + 500; while (Date.now() < end); return 'a'",
    ] {
        let asked = case(target(&server.url, json!({ "transformResponse": code })), None);
        let produced = produce(&agents, &asked).await.unwrap_or_else(|error| panic!("{code}: {error:?}"));
        assert_eq!(produced.response.as_deref(), Some("a"), "{code}");
        assert!(produced.measurements.duration_ms.unwrap() < 500.0, "{:?}", produced.measurements);
    }
}

fn project_workspace(git: Option<&str>) -> Workspace {
    Workspace { path: Some("project".to_owned()), git: git.map(str::to_owned), setup: Vec::new() }
}

fn setup_program(command: &[&str]) -> SetupProgram {
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    SetupProgram { command, ..SetupProgram::default() }
}

#[tokio::test]
async fn a_run_changes_its_own_copy_and_leaves_a_diff() {
    if !python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("project");
    std::fs::create_dir_all(files.join("src")).unwrap();
    std::fs::write(files.join("src/a.txt"), "one\ntwo\n").unwrap();
    std::fs::write(files.join(".gitignore"), "build\n").unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let servers = BTreeMap::from([("files".to_owned(), stdio(&[]))]);
    let agents = Agents::new(resolver, servers, project(folder.path()), None, true);
    let command = "sed -i s/two/three/ src/a.txt; echo new > b.txt; echo junk > build; ls -a | tr '\\n' ' '";
    let mut case = case(target("cli", json!({ "command": command })), None);
    case.workspace = Some(project_workspace(None));
    let produced = produce(&agents, &case).await.unwrap();
    let diff = produced.diff.unwrap();
    for part in ["--- a/src/a.txt", "-two\n+three", "+++ b/b.txt", "+new"] {
        assert!(diff.contains(part), "{diff}");
    }
    assert!(!diff.contains("junk"), "{diff}");
    assert!(!produced.response.unwrap().contains(".git "), "the agent finds no repository");
    assert_eq!(std::fs::read_to_string(files.join("src/a.txt")).unwrap(), "one\ntwo\n");

    // The files of a commit, whatever was changed since; a server writes in the same folder.
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(&files).args(["-c", "user.name=a", "-c", "user.email=b"]).args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    std::fs::write(files.join("src/a.txt"), "changed since").unwrap();
    case.workspace = Some(project_workspace(Some("HEAD")));
    let server = Server::start(|seen| match seen.results().len() {
        0 => Act::Call(vec![("write", json!({ "path": "src/a.txt", "text": "one\nfour\n" }))]),
        _ => Act::Say("done".to_owned()),
    })
    .await;
    case.targets = model("vllm", &server).into_iter().collect();
    case.server = Some("files".to_owned());
    let diff = produce(&agents, &case).await.unwrap().diff.unwrap();
    assert!(diff.contains("-two\n+four"), "{diff}");
    case.workspace = Some(project_workspace(Some("nowhere")));
    assert!(matches!(produce(&agents, &case).await, Err(AgentRunError::Deferred(..))));
}

#[tokio::test]
async fn setup_programs_prepare_the_copy_and_are_not_in_the_diff() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("project");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("a.txt"), "one\n").unwrap();
    let script = "cat > \"$1/input.json\"; echo \"variable: ${CARGO_MANIFEST_DIR-none}\" > \"$JURIST_WORKSPACE/b.txt\"";
    std::fs::write(folder.path().join("prepare.sh"), script).unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    let command = "cat a.txt b.txt input.json; echo third >> library/c.txt";
    let mut case = case(target("cli", json!({ "command": command })), None);
    // A repository within the workspace, even one without a commit, does not hide its files.
    let in_copy = "sed -i s/one/two/ a.txt && git init -q library && echo second > library/c.txt";
    let beside_suite = SetupProgram {
        cwd: Some(".".to_owned()),
        ..setup_program(&["sh", "prepare.sh", SetupProgram::WORKSPACE])
    };
    let setup = vec![setup_program(&["sh", "-c", in_copy]), beside_suite];
    case.workspace = Some(Workspace { setup, ..project_workspace(None) });
    let produced = produce(&agents, &case).await.unwrap();
    let response = produced.response.unwrap();
    for part in ["two\n", "variable: none\n", "\"test_id\":\"sum\"", "\"case_input\":\"What is 2 + 40?"] {
        assert!(response.contains(part), "{response}");
    }
    let diff = produced.diff.unwrap();
    assert!(diff.contains("library/c.txt") && diff.contains("+third"), "{diff}");
    for part in ["a.txt", "b.txt", "input.json", "+second"] {
        assert!(!diff.contains(part), "{diff}");
    }
    assert_eq!(std::fs::read_to_string(files.join("a.txt")).unwrap(), "one\n");

    // Without a folder the programs start with nothing.
    case.targets = target("cli", json!({ "command": "ls -a; cat made.txt" })).into_iter().collect();
    let setup = vec![setup_program(&["sh", "-c", "echo made > made.txt"])];
    case.workspace = Some(Workspace { setup, ..Workspace::default() });
    let response = produce(&agents, &case).await.unwrap().response.unwrap();
    assert_eq!(response.split_whitespace().collect::<Vec<_>>(), [".", "..", "made.txt", "made"]);
}

#[tokio::test]
async fn a_setup_program_gets_its_variables() {
    let folder = tempfile::tempdir().unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    let mut case = case(target("cli", json!({ "command": "cat note.txt" })), None);
    let place = "{{ env.JURIST_TEST_NOT_SET | default(\"here\") }}";
    let env =
        BTreeMap::from([("MODE".to_owned(), "small".to_owned()), ("PLACE".to_owned(), place.to_owned())]);
    let program = SetupProgram { env, ..setup_program(&["sh", "-c", "echo $MODE $PLACE > note.txt"]) };
    case.workspace = Some(Workspace { setup: vec![program.clone()], ..Workspace::default() });
    let response = produce(&agents, &case).await.unwrap().response.unwrap();
    assert_eq!(response.trim(), "small here");

    let env = BTreeMap::from([("TOKEN".to_owned(), "{{ env.JURIST_TEST_NOT_SET }}".to_owned())]);
    case.workspace = Some(Workspace { setup: vec![SetupProgram { env, ..program }], ..Workspace::default() });
    assert!(matches!(produce(&agents, &case).await, Err(AgentRunError::Deferred(..))));
}

#[tokio::test]
async fn code_finds_the_context_of_an_answer() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let agents = Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, true);
    let answer = r#"{"output": "Soup.", "metadata": {"sources": ["A menu.", "A list."]}}"#;
    let mut case = case(target("cli", json!({ "command": format!("echo '{answer}'") })), None);
    case.agent.context_transform = Some("context.metadata.sources".to_owned());
    assert_eq!(produce(&agents, &case).await.unwrap().context, ["A menu.", "A list."]);
    case.agent.context_transform = Some("context.metadata.nothing".to_owned());
    match produce(&agents, &case).await {
        Err(AgentRunError::Failed(Failure::Crashed, detail)) => {
            assert_eq!(detail, "the context must be text or a list of texts, and not null");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_setup_program_that_fails_is_an_error_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("project")).unwrap();
    let new_agents = |allowed: bool| {
        let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
        Agents::new(resolver, BTreeMap::new(), project(folder.path()), None, allowed)
    };
    let agents = new_agents(true);
    let mut case = case(target("echo", json!({})), None);
    let mark = folder.path().join("mark");
    let marks = setup_program(&["touch", mark.to_str().unwrap()]);
    let mut prepare_with = |first: SetupProgram| {
        let setup = vec![first, marks.clone()];
        case.workspace = Some(Workspace { setup, ..project_workspace(None) });
        case.clone()
    };

    let failing = prepare_with(setup_program(&["sh", "-c", "echo no network >&2; exit 3"]));
    match produce(&agents, &failing).await {
        Err(AgentRunError::Failed(Failure::Unavailable, detail)) => {
            assert!(detail.starts_with("the setup program `sh -c"), "{detail}");
            assert!(detail.ends_with("no network"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
    let slow = prepare_with(SetupProgram { timeout: Some(0.2), ..setup_program(&["sleep", "600"]) });
    match produce(&agents, &slow).await {
        Err(AgentRunError::Failed(Failure::Timeout, detail)) => {
            assert_eq!(detail, "the setup program `sleep 600` took longer than 0.2 s");
        }
        other => panic!("{other:?}"),
    }
    let lost = prepare_with(setup_program(&["/no/such/program"]));
    assert!(matches!(produce(&agents, &lost).await, Err(AgentRunError::Failed(Failure::Crashed, _))));

    // A file of a stranger starts nothing.
    let refused = new_agents(false);
    let strange = prepare_with(setup_program(&["sh", "-c", "true"]));
    let error = refused.check(&strange).unwrap_err().to_string();
    assert!(error.contains("the setup program `sh -c true`; pass --allow-commands"), "{error}");
    let named: Vec<String> =
        refused.find_refused_setup(&strange).iter().map(|refusal| refusal.what().to_owned()).collect();
    assert_eq!(named, ["the setup program `sh -c true`".to_owned(), marks.describe()]);
    assert!(matches!(produce(&refused, &strange).await, Err(AgentRunError::Failed(Failure::Crashed, _))));
    assert!(!mark.exists(), "what follows a failed program is not run");
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
