//! The cache, recordings and batches.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use jurist_core::grade::{Usd, VerdictStatus};
use jurist_engine::batch::BatchClient;
use jurist_engine::call::{Cache, Caching};
use jurist_engine::record::{Cassette, Recorder, Tape};
use serde_json::json;

use super::*;

#[tokio::test]
async fn a_cached_grade_costs_nothing_and_failures_are_not_cached() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::script(vec![status(404, "{}"), say(GOOD)]).await;
    let bench = bench(vec![member("openai", &server)]);
    let caller = |caching| caller().with_cache(Cache::new(folder.path()), caching);
    assert_eq!(decide(&bench, &caller(Caching::Use), &unit()).await.status, VerdictStatus::Error);
    let paid = decide(&bench, &caller(Caching::Use), &unit()).await;
    let kept = decide(&bench, &caller(Caching::Use), &unit()).await;
    assert_eq!((kept.score, server.n_seen()), (Some(0.5), 2));
    assert!(kept.spend.from_cache && !paid.spend.from_cache);
    assert_eq!(kept.spend.cost, Some(Usd::default()));
    decide(&bench, &caller(Caching::Refresh), &unit()).await;
    decide(&bench, &caller(Caching::Off), &unit()).await;
    assert_eq!(server.n_seen(), 4);
    // Another judge at the same address, and another question about the same candidate, are other entries.
    let other = super::bench(vec![member("ollama", &server)]);
    decide(&other, &caller(Caching::Use), &unit()).await;
    assert_eq!(server.n_seen(), 5);
    let other = rubric(vec![criterion("other", Scale::Unit)]);
    decide(&bench, &caller(Caching::Use), &other).await;
    assert_eq!(server.n_seen(), 6);
    assert_eq!(Cache::new(folder.path()).stats().replies, 3);
    assert_eq!(Cache::new(folder.path()).clear().replies, 3);
    assert_eq!(Cache::new(folder.path()).stats().replies, 0);
}

#[tokio::test]
async fn a_reply_that_could_not_be_used_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let caller = || caller().with_cache(Cache::new(folder.path()), Caching::Use);
    for bad in [say("I would say 8"), Act::Refuse("no".into()), Act::CutOff("{".into())] {
        let server = Server::script(vec![bad]).await;
        decide(&bench(vec![member("openai", &server)]), &caller(), &unit()).await;
        assert_eq!(Cache::new(folder.path()).stats().replies, 0);
    }
    // One that was repaired is kept with its repair.
    let server = Server::script(vec![say("eight"), say(GOOD)]).await;
    let bench = bench(vec![member("openai", &server)]);
    decide(&bench, &caller(), &unit()).await;
    assert_eq!(Cache::new(folder.path()).stats().replies, 2);
    assert_eq!(decide(&bench, &caller(), &unit()).await.score, Some(0.5));
    assert_eq!(server.n_seen(), 2);
    // The same name at another address is another model.
    let elsewhere = Server::script(vec![say(GOOD)]).await;
    decide(&super::bench(vec![member("openai", &elsewhere)]), &caller(), &unit()).await;
    assert_eq!(elsewhere.n_seen(), 1);
}

#[tokio::test]
async fn a_stored_reply_without_an_answer_is_asked_for_anew() {
    let folder = tempfile::tempdir().unwrap();
    let cache = || Cache::new(folder.path());
    let entry = |id: &str| json!({ "id": id, "reasoning": "r", "verdict": true });
    let good = json!({ "criteria": (["a", "b"].map(entry)) }).to_string();
    let first = good.clone();
    let server = Server::start(move |seen| say(if seen.nth == 0 { "{}" } else { &first })).await;
    let rubric = rubric(["a", "b"].map(|id| criterion(id, Scale::Binary)).to_vec());
    let bench = ResolvedJudges { calls: Calls::PerRubric, ..bench(vec![member("openai", &server)]) };
    let caller = || caller().with_cache(cache(), Caching::Use);
    assert_eq!(decide(&bench, &caller(), &rubric).await.status, VerdictStatus::Pass);
    assert_eq!((server.n_seen(), cache().stats().replies), (2, 2));
    // An earlier version stored a repair without an answer.
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let mut text = String::new();
        for line in std::fs::read_to_string(&path).unwrap().lines().filter(|line| !line.is_empty()) {
            let (key, rest) = line.split_once(' ').unwrap();
            let body = rest.split_once(' ').unwrap().1;
            let mut reply: serde_json::Value = serde_json::from_str(body).unwrap();
            if reply["text"] == good.as_str() {
                reply["text"] = json!(r#"{"criteria": []}"#);
            }
            let body = reply.to_string();
            text += &format!("{key} {} {body}\n", blake3::hash(body.as_bytes()).to_hex());
        }
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(decide(&bench, &caller(), &rubric).await.status, VerdictStatus::Pass);
    assert_eq!(server.n_seen(), 3);
    // The new reply has taken the place of the stored one.
    assert_eq!(decide(&bench, &caller(), &rubric).await.status, VerdictStatus::Pass);
    assert_eq!(server.n_seen(), 3);
}

#[tokio::test]
async fn a_damaged_cache_entry_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::script(vec![say(GOOD)]).await;
    let bench = bench(vec![member("openai", &server)]);
    let caller = || caller().with_cache(Cache::new(folder.path()), Caching::Use);
    decide(&bench, &caller(), &unit()).await;
    let path = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 5]).unwrap();
    assert_eq!(decide(&bench, &caller(), &unit()).await.score, Some(0.5));
    assert_eq!(server.n_seen(), 2);
}

#[tokio::test]
async fn recorded_calls_are_replayed_without_a_server_and_a_miss_names_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let server = Server::script(vec![say(GOOD)]).await;
    let bench = bench(vec![member("openai", &server)]);
    let recording = caller().with_tape(Tape::Record(Recorder::new(&path).unwrap()));
    decide(&bench, &recording, &unit()).await;
    assert_eq!(recording.tape.finish().unwrap(), 1);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("sk-test-secret"));
    let leaky = JudgeInput { response: Some("The key is sk-abcdefghijklmnop1234.".into()), ..material() };
    let rubric = unit();
    let case = JudgeCase {
        candidate: "c",
        material: &leaky,
        row: None,
        rubric: &rubric,
        labels: None,
        contests: None,
    };
    bench.decide(&recording, case).await.unwrap();
    assert_eq!(recording.tape.finish().unwrap(), 2);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("sk-abcdef"));
    drop(server);
    let replaying = caller().with_tape(Tape::Replay(Cassette::load(&path).unwrap()));
    assert_eq!(decide(&bench, &replaying, &unit()).await.score, Some(0.5));
    assert_eq!(bench.decide(&replaying, case).await.unwrap().score, Some(0.5));
    let other = super::rubric(vec![criterion("town", Scale::Unit)]);
    let missed = decide(&bench, &replaying, &other).await;
    let Outcome::Failed { detail, .. } = &missed.opinions[0].grades[0].outcome else { panic!() };
    assert!(
        detail.contains("`city: Names the capital.` where this one has `town: Names the capital.`"),
        "{detail}"
    );
}

/// A vendor's batch office: takes a batch, keeps it waiting once, and gives the replies in another order.
async fn office(vendor: &'static str, ready: Arc<AtomicBool>) -> Server {
    let sent = Arc::new(Mutex::new(Vec::<serde_json::Value>::new()));
    Server::start(move |seen| {
        let mut sent = sent.lock().unwrap();
        let is_ready = ready.load(Ordering::SeqCst);
        match (vendor, seen.path.as_str()) {
            ("openai", "/files") => {
                let form = seen.body.as_str().unwrap();
                assert!(form.contains("name=\"purpose\"\r\n\r\nbatch"), "{form}");
                sent.extend(form.lines().filter_map(|line| serde_json::from_str(line).ok()));
                Act::Raw(r#"{"id": "file-1"}"#.into())
            }
            ("openai", "/batches") => {
                assert_eq!(seen.body["input_file_id"], "file-1");
                Act::Raw(r#"{"id": "batch_1", "status": "validating"}"#.into())
            }
            ("openai", "/batches/batch_1") if is_ready => Act::Raw(
                r#"{"status": "completed", "output_file_id": "file-2", "request_counts": {"total": 2, "completed": 2}}"#.into(),
            ),
            ("openai", "/files/file-2/content") => {
                let body = json!({ "choices": [{ "message": { "content": GOOD } }], "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } });
                let line = |value: &serde_json::Value| json!({ "custom_id": value["custom_id"], "response": { "status_code": 200, "body": body } }).to_string() + "\n";
                Act::Raw(sent.iter().rev().map(line).collect())
            }
            ("anthropic", "/v1/messages/batches") => {
                sent.extend(seen.body["requests"].as_array().unwrap().iter().cloned());
                Act::Raw(r#"{"id": "batch_1", "processing_status": "in_progress"}"#.into())
            }
            ("anthropic", "/v1/messages/batches/batch_1") if is_ready => {
                Act::Raw(r#"{"processing_status": "ended", "request_counts": {"succeeded": 2}}"#.into())
            }
            ("anthropic", "/v1/messages/batches/batch_1/results") => {
                let message = json!({ "content": [{ "type": "text", "text": GOOD }], "stop_reason": "end_turn", "usage": { "input_tokens": 1000, "output_tokens": 500 } });
                let line = |value: &serde_json::Value| json!({ "custom_id": value["custom_id"], "result": { "type": "succeeded", "message": message } }).to_string() + "\n";
                Act::Raw(sent.iter().rev().map(line).collect())
            }
            _ => Act::Raw(r#"{"status": "in_progress", "processing_status": "in_progress"}"#.into()),
        }
    })
    .await
}

#[tokio::test]
async fn batches_cost_half_and_are_found_again_after_a_stop() {
    for vendor in ["openai", "anthropic"] {
        let ready = Arc::new(AtomicBool::new(false));
        let server = office(vendor, Arc::clone(&ready)).await;
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(vec![member(vendor, &server)]);
        let rubric = rubric(["a", "b"].map(|text| criterion(text, Scale::Unit)).to_vec());
        let poll = Duration::from_millis(5);
        let stopped = caller().with_batches();
        assert_eq!(decide(&bench, &stopped, &rubric).await.status, VerdictStatus::Deferred);
        assert_eq!(stopped.batches.as_ref().unwrap().n_wanted(), 2);
        let office = BatchClient { folder: folder.path(), poll, listener: &|_| {} };
        // Killed while it waits.
        let sent =
            |path: &str| server.seen.lock().unwrap().iter().filter(|seen| seen.path.ends_with(path)).count();
        tokio::select! {
            ended = stopped.run_batches(&office) => panic!("{vendor}: {:?}", ended.is_ok()),
            () = until(|| 2 <= sent("/batch_1")) => {}
        }

        ready.store(true, Ordering::SeqCst);
        let caller = caller().with_batches();
        decide(&bench, &caller, &rubric).await;
        caller.run_batches(&office).await.unwrap();
        assert_eq!(caller.budget.spent_amount(), Some(Usd::from_nanos(2_000_000)), "{vendor}");
        assert_eq!(sent("/batches"), 1, "{vendor}");
        let decision = decide(&bench, &caller, &rubric).await;
        assert_eq!(decision.score, Some(0.5), "{vendor}");
        // (1000 × 1 + 500 × 2) / 2 millionths of a dollar, for each of the two.
        assert_eq!(decision.spend.cost, Some(Usd::from_nanos(2_000_000)), "{vendor}");
        assert_eq!(caller.batches.as_ref().unwrap().n_wanted(), 0);
    }
}
