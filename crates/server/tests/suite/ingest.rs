//! Traces that come whole, in pieces and in lines.

use std::sync::Arc;
use std::time::Duration;

use jurist_server::{IngestLimits, Rate, ServerSettings};
use jurist_store::testing::Scene;
use jurist_store::{Store, StoreOptions};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};
use tokio::task::JoinHandle;

use crate::place::{Answer, Place, hasty, served, served_by_one_thread, start_on, until, with_accounts};

const TRACES: &str = "/api/v1/traces";
const BULK: &str = "/api/v1/traces/bulk";

fn chat(question: &str) -> Json {
    json!([{ "role": "user", "content": question }, { "role": "assistant", "content": "It is 4." }])
}

async fn post(place: &Place, body: Json) -> Answer {
    place.ask(Method::POST, TRACES, &[], body).await
}

async fn content(place: &Place, id: &str) -> Json {
    place.fetch(&format!("{TRACES}/{id}/content")).await.json()
}

#[test]
fn a_whole_trace_is_kept_once() {
    served(&ServerSettings::default(), |place| async move {
        let body = json!({
            "id": "t1", "agent": "support", "session": "s1", "time": "2026-03-20T10:15:32Z",
            "metadata": { "team": "a" }, "trace": chat("What is 2 + 2?"),
        });
        let sent = post(&place, body.clone()).await;
        assert_eq!((sent.status, sent.json()), (StatusCode::OK, json!({ "id": "t1", "status": "accepted" })));
        assert_eq!(post(&place, body.clone()).await.json()["status"], "repeated");
        let other = json!({ "id": "t1", "trace": chat("Something else?") });
        let conflict = post(&place, other).await;
        assert_eq!(conflict.status, StatusCode::CONFLICT, "{}", conflict.text);
        let head = place.fetch("/api/v1/traces/t1").await.json();
        assert_eq!(head["state"], "finished");
        assert_eq!(head["started"], "2026-03-20T10:15:32Z");
        assert_eq!(head["metadata"], json!({ "team": "a", "format": "openai-chat" }));
        assert_eq!(content(&place, "t1").await["steps"][0]["text"], "What is 2 + 2?");
        assert_eq!(place.fetch("/api/v1/agents").await.json()[0]["name"], "support");
        // Without a name it gets one by what it says.
        let unnamed = json!({ "trace": chat("Who?") });
        let (first, second) =
            (post(&place, unnamed.clone()).await.json(), post(&place, unnamed).await.json());
        assert_eq!(first["id"], second["id"]);
        assert_eq!(second["status"], "repeated");
    });
}

#[test]
fn pieces_come_in_any_order_and_late_ones_make_a_new_revision() {
    served(&hasty(), |place| async move {
        let at = |second: u32| format!("2026-03-20T10:00:{second:02}Z");
        let answer = json!({ "role": "assistant", "content": "Four." });
        let event = json!({ "id": "e2", "kind": "event", "time": at(2), "body": answer });
        let finish = json!({ "id": "end", "kind": "finish", "time": at(5), "body": {
            "status": "failed", "cost": 0.25, "usage": { "input": 10, "output": 3, "cached": 0 } } });
        let body = json!({ "id": "p1", "pieces": [event, finish] });
        assert_eq!(
            post(&place, body.clone()).await.json(),
            json!({ "id": "p1", "status": "accepted", "n_new": 2, "n_repeated": 0 })
        );
        assert_eq!(post(&place, body).await.json()["status"], "repeated");
        let head = place.until("p1", |value| value["state"] == "finished").await;
        assert_eq!((head["revision"].clone(), head["is_failed"].clone()), (json!(1), json!(true)));
        assert_eq!((head["cost"].clone(), head["tokens"]["input"].clone()), (json!(0.25), json!(10)));
        let question = json!({ "role": "user", "content": "2 + 2?" });
        let late = json!({ "id": "p1", "agent": "counter", "pieces": [
            { "id": "e1", "kind": "event", "time": at(1), "body": question },
            { "id": "begin", "kind": "start", "time": at(0), "body": { "task": "count" } },
        ] });
        assert_eq!(post(&place, late).await.status, StatusCode::OK);
        let head = place.until("p1", |value| value["revision"] == 2 && value["state"] == "finished").await;
        assert_eq!((head["n_late"].clone(), head["agent"].clone()), (json!(2), json!("counter")));
        assert_eq!(head["duration_ms"], 5000.0);
        let trace = content(&place, "p1").await;
        assert_eq!(
            (trace["task"].clone(), trace["steps"][0]["text"].clone()),
            (json!("count"), json!("2 + 2?"))
        );
        let before = place.fetch("/api/v1/traces/p1/content?revision=1").await.json();
        assert_eq!(before["steps"][0]["text"], "Four.");
        let other = json!({ "role": "assistant", "content": "Five." });
        let conflict = json!({ "id": "p1", "pieces": [{ "id": "e2", "kind": "event", "body": other }] });
        let conflict = post(&place, conflict).await;
        assert_eq!(conflict.status, StatusCode::CONFLICT);
        assert!(conflict.text.contains("`e2`"), "{}", conflict.text);
    });
}

#[test]
fn what_follows_a_whole_trace_is_added_to_it() {
    served(&hasty(), |place| async move {
        post(&place, json!({ "id": "w", "trace": chat("First?") })).await;
        for (revision, id, text) in [(2, "a", "Second?"), (3, "b", "Third?")] {
            let body = json!({ "role": "user", "content": text });
            let pieces = json!([{ "id": id, "kind": "event", "body": body },
                { "id": format!("end {id}"), "kind": "finish" }]);
            post(&place, json!({ "id": "w", "pieces": pieces })).await;
            place.until("w", |value| value["state"] == "finished" && value["revision"] == revision).await;
        }
        let trace = content(&place, "w").await;
        let texts: Vec<&str> =
            trace["steps"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap()).collect();
        assert_eq!(texts, ["First?", "It is 4.", "Second?", "Third?"]);
    });
}

#[test]
fn a_trace_that_cannot_be_read_is_finished_and_says_why() {
    served(&hasty(), |place| async move {
        let pieces = json!([{ "id": "e", "kind": "event", "body": { "what": { "is": "this" } } }]);
        assert_eq!(post(&place, json!({ "id": "odd", "pieces": pieces })).await.status, StatusCode::OK);
        // Nobody says that it has ended: it falls silent.
        let head = place.until("odd", |value| value["state"] == "finished").await;
        let why = head["metadata"]["unreadable"].as_str().unwrap();
        assert!(why.contains("not a trace in a known format"), "{why}");
        assert_eq!((head["revision"].clone(), head["n_pieces"].clone()), (json!(1), json!(1)));
    });
}

#[test]
fn a_damaged_piece_is_told_and_not_tried_for_ever() {
    served(&ServerSettings { idle: Duration::from_secs(60), ..hasty() }, |place| async move {
        let piece = |id: &str, kind: &str| json!({ "id": "d", "pieces": [{ "id": id, "kind": kind }] });
        post(&place, piece("e", "event")).await;
        let is_pg = place.scene.url.starts_with("postgres");
        let byte = if is_pg { r"'\x09'" } else { "x'09'" };
        place.scene.execute(&format!("UPDATE pieces SET body = {byte}")).await.unwrap();
        post(&place, piece("f", "finish")).await;
        let head = place.until("d", |value| value["state"] == "finished").await;
        assert!(head["metadata"]["unreadable"].as_str().unwrap().contains("damaged"), "{head}");
    });
}

#[test]
fn every_line_is_answered_and_a_bad_one_harms_no_other() {
    served(&hasty(), |place| async move {
        let span = json!({ "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331",
            "name": "chat", "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001000000000",
            "attributes": [{ "key": "gen_ai.input.messages", "value": { "stringValue":
                json!([{ "role": "user", "parts": [{ "type": "text", "content": "Hi" }] }]).to_string() } }] });
        let lines = [
            json!({ "id": "l1", "trace": chat("One?") }).to_string(),
            "{ no json".to_owned(),
            String::new(),
            chat("Two?").to_string(),
            json!({ "id": "l1", "trace": chat("Other?") }).to_string(),
            json!({ "id": "l1", "trace": chat("One?") }).to_string(),
            json!({ "id": "l7", "pieces": [{ "id": "e", "kind": "event", "body": chat("x")[0] }] })
                .to_string(),
            json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] }).to_string(),
            json!({ "id": "x", "trace": {}, "pieces": [] }).to_string(),
            json!({ "what": 1 }).to_string(),
            json!({ "trace_id": "r1", "agent": "own", "status": "failed", "messages": chat("Three?") })
                .to_string(),
        ];
        let sent = place
            .send(
                &format!("{BULK}?agent=past"),
                &[("content-type", "application/x-ndjson")],
                lines.join("\n"),
            )
            .await;
        assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        let answers: Vec<Json> = sent.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said: Vec<(u64, &str)> = answers
            .iter()
            .map(|answer| (answer["line"].as_u64().unwrap(), answer["status"].as_str().unwrap()))
            .collect();
        assert_eq!(
            said,
            [
                (1, "accepted"),
                (2, "error"),
                (4, "accepted"),
                (5, "conflict"),
                (6, "repeated"),
                (7, "accepted"),
                (8, "accepted"),
                (9, "error"),
                (10, "error"),
                (11, "accepted")
            ]
        );
        assert!(answers[1]["detail"].as_str().unwrap().contains("not valid JSON"));
        assert_eq!(place.fetch("/api/v1/traces/l1").await.json()["agent"], "past");
        let row = place.fetch("/api/v1/traces/r1").await.json();
        assert_eq!((&row["agent"], &row["is_failed"]), (&json!("own"), &json!(true)));
        place.until("0af7651916cd43dd8448eb211c80319c", |value| value["state"] == "finished").await;
    });
}

#[test]
fn a_body_of_lines_may_be_larger_than_any_line() {
    let settings = ServerSettings { max_body: 20_000, ..ServerSettings::default() };
    served(&settings, |place| async move {
        let mut lines: Vec<String> = (0..500)
            .map(|n| json!({ "id": format!("n{n}"), "trace": chat(&"x".repeat(500)) }).to_string())
            .collect();
        lines.insert(250, json!({ "id": "huge", "trace": chat(&"x".repeat(50_000)) }).to_string());
        let sent = place.send(BULK, &[], lines.join("\n")).await;
        let answers: Vec<Json> = sent.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), 501, "{}", sent.text);
        let wrong: Vec<&Json> = answers.iter().filter(|answer| answer["status"] != "accepted").collect();
        assert_eq!(wrong.len(), 1);
        assert_eq!((wrong[0]["line"].clone(), wrong[0]["status"].clone()), (json!(251), json!("error")));
        // A whole body is still limited.
        let sent = post(&place, json!({ "trace": chat(&"x".repeat(50_000)) })).await;
        assert_eq!(sent.status, StatusCode::PAYLOAD_TOO_LARGE, "{}", sent.text);
    });
    // A line that is too long is refused as well if all of it arrives at once.
    let settings = ServerSettings { max_body: 1_000, ..ServerSettings::default() };
    served(&settings, |place| async move {
        let line = |id: &str, n: usize| json!({ "id": id, "trace": chat(&"x".repeat(n)) }).to_string() + "\n";
        let sent = place.send(BULK, &[], line("short", 10) + &line("long", 1_200) + &line("last", 10)).await;
        let answers: Vec<Json> =
            sent.text.lines().map(|answer| serde_json::from_str(answer).unwrap()).collect();
        let refused = answers.iter().filter(|answer| answer["status"] != "accepted");
        assert_eq!(refused.map(|answer| answer["line"].clone()).collect::<Vec<_>>(), [2], "{}", sent.text);
    });
}

#[test]
fn traces_are_listed_by_what_the_query_says() {
    served(&ServerSettings::default(), |place| async move {
        for at in 0..5 {
            let (agent, status) = if at % 2 == 0 { ("even", false) } else { ("odd", true) };
            let body = json!({ "id": format!("t{at}"), "agent": agent, "failed": status,
                "time": format!("2026-03-2{at}T00:00:00Z"), "trace": chat(&format!("{at}?")) });
            assert_eq!(post(&place, body).await.status, StatusCode::OK);
        }
        let ids = async |query: &str| -> Vec<String> {
            let listed = place.fetch(&format!("{TRACES}?{query}")).await.json();
            listed["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["id"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(ids("").await, ["t4", "t3", "t2", "t1", "t0"]);
        assert_eq!(ids("agent=odd").await, ["t3", "t1"]);
        assert_eq!(ids("failed=false&limit=2").await, ["t4", "t2"]);
        assert_eq!(ids("from=2026-03-21T00:00:00Z&until=2026-03-23T00:00:00Z").await, ["t2", "t1"]);
        assert_eq!(ids("id_prefix=t3").await, ["t3"]);
        assert_eq!(ids("state=open").await, [""; 0]);
        let first = place.fetch(&format!("{TRACES}?limit=3")).await.json();
        let next = first["next"].as_str().unwrap();
        assert_eq!(ids(&format!("limit=3&after={next}")).await, ["t1", "t0"]);
        for (query, said) in
            [("state=gone", "not a state"), ("verdict=maybe", "pass, fail"), ("from=now", "not a time")]
        {
            let bad = place.fetch(&format!("{TRACES}?{query}")).await;
            assert_eq!(bad.status, StatusCode::BAD_REQUEST);
            assert!(bad.text.contains(said), "{}", bad.text);
        }
        assert_eq!(place.fetch("/api/v1/traces/nothing").await.status, StatusCode::NOT_FOUND);
    });
}

#[test]
fn content_that_one_has_is_not_sent_again() {
    served(&ServerSettings::default(), |place| async move {
        post(&place, json!({ "id": "t", "trace": chat("One?") })).await;
        let path = "/api/v1/traces/t/content";
        let first = place.fetch(path).await;
        let tag = first.headers["etag"].to_str().unwrap().to_owned();
        let again = place.ask(Method::GET, path, &[("if-none-match", &tag)], Json::Null).await;
        assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
        let other = place.ask(Method::GET, path, &[("if-none-match", "\"9\"")], Json::Null).await;
        assert_eq!(other.status, StatusCode::OK);
    });
}

#[test]
fn bad_traces_say_what_would_have_been_right() {
    served(&ServerSettings::default(), |place| async move {
        for (body, said) in [
            (json!({}), "either `trace` or `pieces`"),
            (json!({ "trace": chat("x"), "agnet": "y" }), "agnet"),
            (json!({ "trace": chat("x"), "format": "word" }), "there are jurist, otlp"),
            (json!({ "trace": [] }), "nothing in it"),
            (json!({ "trace": { "what": 1 } }), "not a trace in a known format"),
            (json!({ "id": "a\nb", "trace": chat("x") }), "no control characters"),
            (json!({ "pieces": [] }), "the `id` of their trace"),
            (
                json!({ "id": "x", "pieces": [{ "id": "e", "kind": "end" }] }),
                "the body is invalid: pieces[0].kind: unknown variant `end`",
            ),
            (
                json!({ "id": 7, "trace": chat("x") }),
                "id: invalid type: integer `7`, expected a string at line",
            ),
            (json!([chat("x")]), "the body must be a JSON object"),
            (
                json!({ "id": "x", "pieces": [{ "id": "e", "kind": "finish", "body": { "state": 1 } }] }),
                "piece `e`",
            ),
            (json!({ "id": "x", "pieces": [{ "id": "", "kind": "finish" }] }), "id of a piece"),
            (json!({ "time": "yesterday", "trace": chat("x") }), "not a time"),
        ] {
            let answer = post(&place, body.clone()).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body}: {}", answer.text);
            assert!(answer.text.contains(said), "{body}: {}", answer.text);
        }
    });
}

#[test]
fn secrets_are_not_kept() {
    served(&hasty(), |place| async move {
        let key = "sk-ABCDEFGHIJKLMNOPQRSTUV123456";
        post(&place, json!({ "id": "s", "trace": chat(&format!("my key is {key}")) })).await;
        let event = json!({ "role": "user", "content": format!("again {key}") });
        post(
            &place,
            json!({ "id": "s2", "pieces": [
            { "id": "e", "kind": "event", "body": event }, { "id": "f", "kind": "finish" }] }),
        )
        .await;
        place.until("s2", |value| value["state"] == "finished").await;
        for id in ["s", "s2"] {
            let text = content(&place, id).await.to_string();
            assert!(text.contains("[redacted]") && !text.contains(key), "{text}");
        }
        let project = place.app.default_project;
        let pieces = place.app.store.pieces(project, &"s2".parse().unwrap()).await.unwrap();
        let kept = String::from_utf8_lossy(pieces[0].body.as_ref().unwrap()).into_owned();
        assert!(!kept.contains(key), "{kept}");
    });
}

#[test]
fn names_hold_no_lines_and_no_ends_of_text() {
    served(&hasty(), |place| async move {
        let name = "agent\u{0}\r\nSet-Cookie: x=1\n\u{1b}[31m2026 ERROR forged";
        let pieces = json!([{ "id": "f", "kind": "finish", "body": { "status": name } }]);
        let sent = post(&place, json!({ "id": "n", "agent": name, "session": name, "pieces": pieces })).await;
        assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        let head = place.until("n", |value| value["state"] == "finished").await;
        for key in ["agent", "session", "status"] {
            assert!(!head[key].as_str().unwrap().chars().any(char::is_control), "{head}");
        }
    });
}

#[test]
fn sending_needs_its_scope_and_shows_nothing() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let (ingest, read) = (place.token(&cookie, &["ingest"]).await, place.token(&cookie, &["read"]).await);
        let body = json!({ "id": "t", "trace": chat("x") });
        for path in [TRACES, BULK, "/v1/traces"] {
            let headers = [("authorization", read.as_str())];
            let refused = place.ask(Method::POST, path, &headers, body.clone()).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path} {}", refused.text);
            let refused = place.ask(Method::POST, path, &[], body.clone()).await;
            assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{path}");
        }
        let headers = [("authorization", ingest.as_str())];
        assert_eq!(place.ask(Method::POST, TRACES, &headers, body).await.status, StatusCode::OK);
        for path in [TRACES, "/api/v1/traces/t", "/api/v1/traces/t/content", "/api/v1/agents"] {
            let refused = place.ask(Method::GET, path, &headers, Json::Null).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
        }
        let shown = place.ask(Method::GET, TRACES, &[("authorization", &read)], Json::Null).await;
        assert_eq!(shown.json()["items"][0]["id"], "t");
    });
}

#[test]
fn whoever_sends_too_often_is_told_when_to_come_again() {
    // So slow that nothing is regained while the test runs.
    let rate = Some(Rate { per_second: 0.001, burst: 2.0 });
    let settings = ServerSettings {
        ingest: IngestLimits { rate, ..IngestLimits::default() },
        ..ServerSettings::default()
    };
    served(&settings, |place| async move {
        for at in 0..2 {
            let sent = post(&place, json!({ "id": format!("t{at}"), "trace": chat("x") })).await;
            assert_eq!(sent.status, StatusCode::OK);
        }
        let refused = post(&place, json!({ "id": "t2", "trace": chat("x") })).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        let seconds: u32 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((500..=1000).contains(&seconds), "{seconds}");
        assert_eq!(place.fetch("/api/v1/traces/t2").await.status, StatusCode::NOT_FOUND);
    });
}

#[test]
fn what_does_not_fit_into_memory_is_told_to_come_again() {
    let ingest = IngestLimits { bytes: 10_000, requests: 3, ..IngestLimits::default() };
    served(&ServerSettings { ingest, ..ServerSettings::default() }, |place| async move {
        // One that never ends holds room for as long as it lasts.
        let stuck = |n: usize| {
            let stream = futures_util::stream::once(async move { Ok::<_, std::io::Error>(vec![b' '; n]) });
            let stream = futures_util::StreamExt::chain(stream, futures_util::stream::pending());
            let place = Arc::clone(&place);
            tokio::spawn(async move { place.send(TRACES, &[], reqwest::Body::wrap_stream(stream)).await })
        };
        let large = json!({ "id": "large", "trace": chat(&"x".repeat(2000)) });
        let small = json!({ "id": "small", "trace": chat("x") });
        // One that comes while another is looked at may be refused itself, and comes again.
        let again = |task: &mut JoinHandle<Answer>, n: usize| {
            if task.is_finished() {
                *task = stuck(n);
            }
        };
        let mut first = stuck(9_000);
        until(async || {
            again(&mut first, 9_000);
            post(&place, large.clone()).await.status == StatusCode::TOO_MANY_REQUESTS
        })
        .await;
        assert!(post(&place, large).await.headers.contains_key("retry-after"));
        let mut others = [stuck(1), stuck(1)];
        until(async || {
            others.iter_mut().for_each(|task| again(task, 1));
            post(&place, small.clone()).await.text.contains("too many concurrent requests")
        })
        .await;
        first.abort();
        others.iter().for_each(JoinHandle::abort);
        // Room comes back when those who held it are gone.
        until(async || post(&place, small.clone()).await.status == StatusCode::OK).await;
    });
}

#[test]
fn lines_count_by_what_they_take_once_they_are_decoded() {
    let ingest = IngestLimits { bytes: 10_000, ..IngestLimits::default() };
    served(&ServerSettings { ingest, ..ServerSettings::default() }, |place| async move {
        let line = |id: &str, metadata: Json| {
            json!({ "id": id, "trace": chat("x"), "metadata": metadata }).to_string() + "\n"
        };
        // The same size as text; the mappings take fifty times as much in memory.
        let mappings = line("mappings", json!({ "a": vec![json!({ "": 0 }); 100] }));
        let text = line("text", json!({ "a": "x".repeat(700) }));
        assert!(mappings.len().abs_diff(text.len()) < 50);
        let stuck = || {
            let stream = futures_util::stream::once(async { Ok::<_, std::io::Error>(vec![b' '; 8_000]) });
            let stream = futures_util::StreamExt::chain(stream, futures_util::stream::pending());
            let place = Arc::clone(&place);
            tokio::spawn(async move { place.send(TRACES, &[], reqwest::Body::wrap_stream(stream)).await })
        };
        let large = json!({ "id": "large", "trace": chat(&"x".repeat(3000)) });
        let mut first = stuck();
        until(async || {
            if first.is_finished() {
                first = stuck();
            }
            post(&place, large.clone()).await.status == StatusCode::TOO_MANY_REQUESTS
        })
        .await;
        let sent = place.send(BULK, &[], text).await;
        assert!(sent.text.contains("accepted"), "{}", sent.text);
        let refused = place.send(BULK, &[], mappings.clone()).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{}", refused.text);
        assert!(refused.headers.contains_key("retry-after"));
        first.abort();
        until(async || place.send(BULK, &[], mappings.clone()).await.text.contains("accepted")).await;
    });
}

#[test]
fn values_that_do_not_fit_into_memory_are_refused_before_they_are_read() {
    served(&hasty(), |place| async move {
        let many = format!("[{}]", vec![r#"{"":0}"#; 3_000_000].join(","));
        let line = |id: &str| json!({ "id": id, "trace": chat("x") }).to_string();
        let lines = format!("{}\n{{\"trace\":{many}}}\n{}\n", line("before"), line("after"));
        let sent = place.send(BULK, &[], lines).await;
        let mut answers: Vec<Json> =
            sent.text.lines().map(|answer| serde_json::from_str(answer).unwrap()).collect();
        // A refused line is answered before the others are stored.
        answers.sort_by_key(|answer| answer["line"].as_u64());
        let said: Vec<&str> = answers.iter().map(|answer| answer["status"].as_str().unwrap()).collect();
        assert_eq!(said, ["accepted", "error", "accepted"], "{}", sent.text);
        assert!(answers[1]["detail"].as_str().unwrap().contains("more values than fit into memory"));
        let body = format!(r#"{{"name":"n","description":{many}}}"#);
        let headers = [("content-type", "application/json")];
        let sent = place.send("/api/v1/datasets", &headers, body).await;
        assert_eq!(sent.status, StatusCode::PAYLOAD_TOO_LARGE, "{}", sent.text);
        assert!(sent.text.contains("more values than fit into memory"), "{}", sent.text);
    });
}

/// SQLite may not grow, which it tells as it tells a full disk.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_everywhere_and_heals() {
    let scene = Arc::new(Scene::sqlite().await);
    let ballast =
        "INSERT INTO cache (project, dedupe, body, created, used) VALUES ('', 'x', zeroblob(2000000), 0, 0)";
    scene.execute(ballast).await.unwrap();
    let n_pages = scene.number("SELECT page_count FROM pragma_page_count()").await.unwrap();
    let options =
        StoreOptions { max_pages: Some(u32::try_from(n_pages).unwrap() + 8), ..StoreOptions::default() };
    let store = Store::open_with(&scene.url, options).await.unwrap();
    let place = start_on(store, Arc::clone(&scene), hasty()).await;
    // Random, so that packing does not make it small.
    let text: String = jurist_store::random::<60_000>().iter().map(|byte| format!("{byte:02x}")).collect();
    let trace = json!({ "messages": [{ "role": "user", "content": text }] });
    let whole = json!({ "id": "whole", "trace": trace });
    let event = json!({ "id": "a", "kind": "event", "body": { "role": "user", "content": text } });
    let pieces = json!({ "id": "part", "pieces": [event] });
    let rubric = json!({ "name": "r", "source": format!("criteria: [{{name: a, description: {text}}}]") });
    for _ in 0..2 {
        for (path, body) in [(TRACES, &whole), (TRACES, &pieces), ("/api/v1/rubrics", &rubric)] {
            let answer = place.ask(Method::POST, path, &[], body.clone()).await;
            assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {}", answer.text);
        }
        let lines = format!("{whole}\n");
        let answer = place.send(BULK, &[("content-type", "application/x-ndjson")], lines).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.text);
        assert_eq!(place.fetch("/ready").await.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(place.fetch("/health").await.status, StatusCode::OK);
    }
    scene.execute("DELETE FROM cache").await.unwrap();
    until(async || place.fetch("/ready").await.status == StatusCode::OK).await;
    let answer = post(&place, whole).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
}

/// Every one of many texts is searched for secrets, which takes far longer than to receive them.
#[test]
fn long_bodies_keep_nobody_waiting_while_they_are_read() {
    // It is no trace, so that nothing is written.
    let texts = |times: usize| json!({ "trace": { "shop": vec!["a text"; 200_000 * times] } }).to_string();
    served_by_one_thread(&ServerSettings::default(), |place| async move {
        for (path, status) in [(TRACES, StatusCode::BAD_REQUEST), (BULK, StatusCode::OK)] {
            let answer = place.post_among_others(path, texts).await;
            assert_eq!(answer.status, status, "{}", answer.text);
            assert!(answer.text.contains("not a trace in a known format"), "{}", answer.text);
        }
    });
}
