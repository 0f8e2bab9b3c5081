//! Protocols of vendors: requests, replies, streams, proxies, and how a server is asked that refuses a part.

use jurist_core::grade::{Usd, VerdictStatus};
use serde_json::json;

use super::*;

#[tokio::test]
async fn every_protocol_asks_in_its_own_words_and_counts_tokens_alike() {
    for vendor in ["openai", "openai-responses", "anthropic", "gemini", "ollama"] {
        let server = Server::script(vec![say(GOOD)]).await;
        let decision = decide(&bench(vec![member(vendor, &server)]), &caller(), &unit()).await;
        let grade = &decision.opinions[0].grades[0];
        assert_eq!(grade.outcome.unit(), Some(0.5), "{vendor}");
        assert_eq!(grade.reason.as_str(), "it names Paris", "{vendor}");
        let seen = server.last();
        assert!(seen.schema()["properties"]["score"].is_object(), "{vendor}: {}", seen.body);
        for part in ["What is the capital of France?", "It is Paris, on the Seine.", "Names the capital."] {
            assert!(seen.prompt().contains(part), "{vendor}: {part}");
        }
        let tokens = seen.body.to_string().len() as u64 / 4;
        assert_eq!((grade.spend.tokens_in, grade.spend.tokens_cached), (tokens, 8), "{vendor}");
        let cost = (tokens - 8) as f64 + 4.0 + 2.0 * grade.spend.tokens_out as f64;
        assert_eq!(grade.spend.cost, Some(Usd::from_nanos((cost * 1e3) as i64)), "{vendor}");
        if vendor != "ollama" {
            assert!(seen.headers.iter().any(|header| header.1.contains("sk-test-secret")), "{vendor}");
        }
    }
}

#[tokio::test]
async fn a_streamed_reply_says_the_same() {
    for vendor in ["openai", "openai-responses", "anthropic", "gemini", "ollama"] {
        let streaming = |server: &Server| {
            member_with(vendor, server, CustomVendor { stream: true, ..CustomVendor::default() })
        };
        let server = Server::script(vec![
            say(GOOD),
            Act::Slow(Duration::from_millis(5), Box::new(say(GOOD))),
            Act::CutOff(r#"{"reasoning": "it na"#.to_owned()),
            Act::Refuse("I will not say.".to_owned()),
        ])
        .await;
        let judge = bench(vec![streaming(&server)]);
        for _ in 0..2 {
            let grade = decide(&judge, &caller(), &unit()).await.opinions.remove(0).grades.remove(0);
            assert_eq!(
                (grade.outcome.unit(), grade.reason.as_str()),
                (Some(0.5), "it names Paris"),
                "{vendor}"
            );
            let tokens = server.last().body.to_string().len() as u64 / 4;
            assert_eq!((grade.spend.tokens_in, grade.spend.tokens_cached), (tokens, 8), "{vendor}");
            assert!(1 < grade.spend.tokens_out, "{vendor}");
        }
        assert!(server.last().streams(), "{vendor}");
        let mut failures = Vec::new();
        for _ in 0..2 {
            match decide(&judge, &caller(), &unit()).await.opinions[0].grades[0].outcome {
                Outcome::Failed { failure, .. } => failures.push(failure),
                ref other => panic!("{vendor}: {other:?}"),
            }
        }
        assert_eq!(failures.last(), Some(&Failure::Refusal), "{vendor}");

        // Half a stream is no reply, however well it reads so far, and it may have cost something.
        let broken = Server::script(vec![Act::Drop]).await;
        let caller = caller().with_cap(Some(Usd::from_nanos(1_000_000_000)));
        let decision = decide(&bench(vec![streaming(&broken)]), &caller, &unit()).await;
        assert_eq!(decision.status, VerdictStatus::Error, "{vendor}");
        assert_eq!(broken.n_seen(), 4, "{vendor}");
        assert!(
            caller.budget.spent_amount().is_some_and(|spent_amount| Usd::default() < spent_amount),
            "{vendor}"
        );
    }
}

#[tokio::test]
async fn a_server_that_refuses_one_form_is_asked_in_the_next_and_that_is_remembered() {
    let server = Server::start(|seen| match seen.body["response_format"]["type"].as_str() {
        Some("json_schema") => {
            status(500, r#"{"error": {"message": "response_format.type: unexpected value"}}"#)
        }
        Some("json_object") if seen.schema().is_object() => say(GOOD),
        _ => status(400, "{}"),
    })
    .await;
    let bench = bench(vec![member("llamacpp", &server)]);
    for _ in 0..3 {
        assert_eq!(decide(&bench, &caller(), &unit()).await.score, Some(0.5));
    }
    // Probed once: four requests for three questions.
    assert_eq!(server.n_seen(), 4);
}

#[tokio::test]
async fn a_model_that_takes_no_temperature_is_asked_without() {
    let server = Server::start(|seen| match seen.body.get("temperature") {
        Some(_) => status(400, r#"{"error": {"message": "`temperature` is deprecated for this model."}}"#),
        None => say(GOOD),
    })
    .await;
    assert_eq!(decide(&bench(vec![member("openai", &server)]), &caller(), &unit()).await.score, Some(0.5));
    assert_eq!(server.n_seen(), 2);
}

#[tokio::test]
async fn a_server_that_calls_the_limit_by_its_other_name_is_understood() {
    let server = Server::start(|seen| match seen.body.get("max_completion_tokens") {
        Some(_) => status(
            400,
            r#"{"error": {"message": "Unrecognized field max_completion_tokens, use max_tokens"}}"#,
        ),
        None => say(GOOD),
    })
    .await;
    assert_eq!(decide(&bench(vec![member("openai", &server)]), &caller(), &unit()).await.score, Some(0.5));
    assert_eq!(server.n_seen(), 2);
}

#[tokio::test]
async fn a_wait_that_stands_in_the_body_is_honoured() {
    let body = r#"{"error": {"code": 429, "details": [{"@type": "RetryInfo", "retryDelay": "0.001s"}]}}"#;
    let server = Server::script(vec![status(429, body), say(GOOD)]).await;
    let slow = ModelClient::default().with_backoff(Duration::from_secs(600));
    assert_eq!(decide(&bench(vec![member("gemini", &server)]), &slow, &unit()).await.score, Some(0.5));
}

#[tokio::test]
async fn a_proxy_of_the_settings_is_used_and_tls_trouble_is_said() {
    let proxy = Server::script(vec![say(GOOD)]).await;
    let network = jurist_core::dialect::NetworkSettings { ca: None, proxy: Some(proxy.url.clone()) };
    let settings = ProjectSettings { network, ..ProjectSettings::default() };
    let judge = |base_url: &str| Judge {
        model: Some("ollama/judge-1".into()),
        base_url: Some(base_url.to_owned()),
        timeout: Some(60.0),
        ..Judge::default()
    };
    let one = |settings: ProjectSettings, base_url: &str| {
        let line = Resolver::new(settings, |_| None).unwrap().resolve_endpoint(&judge(base_url)).unwrap();
        JudgeModel { line: Arc::new(line), temperature: None, max_tokens: 100, draw: 0 }
    };
    let through = one(settings, "http://models.example/v1");
    assert_eq!(decide(&bench(vec![through]), &caller(), &unit()).await.score, Some(0.5));
    assert_eq!(proxy.last().path, "http://models.example/v1/chat/completions");

    let plain = Server::script(vec![say(GOOD)]).await;
    let tls = one(ProjectSettings::default(), &plain.url.replace("http://", "https://"));
    let decision = decide(&bench(vec![tls]), &caller(), &unit()).await;
    let Outcome::Failed { failure: Failure::Unavailable, detail } = &decision.opinions[0].grades[0].outcome
    else {
        panic!()
    };
    assert!(detail.contains("cannot reach https://127.0.0.1"), "{detail}");

    let bad = jurist_core::dialect::NetworkSettings { ca: Some("no-such-file.pem".into()), proxy: None };
    let error =
        Resolver::new(ProjectSettings { network: bad, ..ProjectSettings::default() }, |_| None).unwrap_err();
    assert!(error.to_string().contains("no-such-file.pem"), "{error}");
}

#[tokio::test]
async fn schemas_are_sent_in_the_order_of_the_reply() {
    for vendor in ["openai", "openai-responses", "anthropic", "gemini", "ollama"] {
        let server = Server::script(vec![quoting(1.0, &json!(["It is Paris"]))]).await;
        decide(&bench(vec![member(vendor, &server)]), &caller(), &with_evidence(None)).await;
        let raw = server.last().raw;
        let properties = &raw[raw.find("\"properties\"").unwrap()..];
        let places = ["reasoning", "evidence", "score"].map(|key| properties.find(&format!("\"{key}\"")));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{vendor}: {raw}");
    }
}

#[tokio::test]
async fn only_the_tool_that_was_asked_for_answers() {
    let called = |name: &str, arguments: serde_json::Value| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let message = json!({ "content": null, "tool_calls": [{ "id": "call_1", "function": function }] });
        Act::Raw(json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }).to_string())
    };
    let answer = || json!({ "reasoning": "r", "score": 1 });
    let (right, _) = outcome(vec![called("grade", answer())]).await;
    assert_eq!(right.unit(), Some(1.0));
    let (wrong, n_seen) = outcome(vec![called("submit", answer())]).await;
    assert_eq!((failure(&wrong), n_seen), (Some(Failure::Malformed), 2));
    let used = json!({ "content": [{ "type": "tool_use", "id": "t", "name": "submit", "input": answer() }] });
    let server = Server::script(vec![Act::Raw(used.to_string())]).await;
    let decision = decide(&bench(vec![member("anthropic", &server)]), &caller(), &unit()).await;
    assert_eq!(failure(&decision.opinions[0].grades[0].outcome), Some(Failure::Malformed));
}

#[tokio::test]
async fn programs_can_judge() {
    let judge = Judge { model: Some("command:python3 tests/judging/judge.py".into()), ..Judge::default() };
    let line = Resolver::new(ProjectSettings::default(), |_| None).unwrap().resolve_endpoint(&judge).unwrap();
    let member = JudgeModel { line: Arc::new(line), temperature: None, max_tokens: 100, draw: 0 };
    let decision = decide(&bench(vec![member]), &caller(), &unit()).await;
    assert_eq!(decision.score, Some(0.25), "{:?}", decision.opinions[0].grades);
}
