//! Programs and addresses that answer, and code that reads their answers.

use std::time::Duration;

use jurist_core::grade::Failure;

use super::*;

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
