//! Monitors over traffic that comes in through the API, judged by a model behind a real socket.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use jurist_server::monitor::apply_monitor_file;
use jurist_server::{ServerSettings, Work};
use jurist_store::{Region, clock};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::{Act, Seen, fitting};
use crate::otlp::{TRACE, export, model_call, root};
use crate::place::{Answer, PATIENCE, Place, hasty, served, served_on_sqlite, until, with_accounts};
use crate::runs::{Judge, judge};

const PROMPT: &str = "
rubric: |
  Rate the answer:
  1. It is right (1-5)
  2. It is kind (1-5)
  Reply as JSON: {\"right\": int, \"kind\": int, \"reasoning\": string}
pass_threshold: 4.0
";

pub fn monitor(more: &str) -> String {
    format!("agent: desk\n{PROMPT}{more}\n")
}

/// What the judge says where every criterion gets this many points.
pub fn rated(seen: &Seen, points: i64) -> Act {
    let mut reply = fitting(&seen.schema());
    let entries = reply["criteria"].as_array_mut().into_iter().flatten();
    for value in entries.filter_map(Json::as_object_mut).flat_map(|it| it.values_mut()) {
        if value.is_number() {
            *value = json!(points);
        }
    }
    Act::Say(reply.to_string())
}

/// As many points as the answer says of itself.
pub fn honest(seen: &Seen) -> Act {
    let prompt = seen.prompt();
    let points = prompt.split("worth ").nth(1).and_then(|part| part[..1].parse().ok()).unwrap_or(3);
    rated(seen, points)
}

pub fn hurried(judge: &Judge) -> ServerSettings {
    ServerSettings { work: judge.settings().work, ..hasty() }
}

impl Place {
    async fn apply(&self, name: &str, source: &str) -> Answer {
        let body = json!({ "source": source });
        self.ask(Method::PUT, &format!("/api/v1/monitors/{name}"), &[], body).await
    }

    pub async fn applied(&self, name: &str, source: &str) -> Json {
        let answer = self.apply(name, source).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.json()
    }

    pub async fn finish(&self, id: &str, answer: &str, more: Json) {
        let trace = json!([
            { "role": "user", "content": format!("Question {answer}?") },
            { "role": "assistant", "content": answer },
        ]);
        let mut body = json!({ "id": id, "agent": "desk", "trace": trace });
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let sent = self.ask(Method::POST, "/api/v1/traces", &[], body).await;
        assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
    }

    /// How many traces came to which state, once so many are decided about and none is waited for.
    pub async fn settled(&self, name: &str, n: u64) -> BTreeMap<String, u64> {
        let (started, mut last) = (Instant::now(), BTreeMap::new());
        while started.elapsed() < PATIENCE {
            let found = self.get(&format!("/api/v1/monitors/{name}/estimates")).await;
            let states = found["states"].as_array().unwrap().iter();
            last = states
                .map(|state| (state["state"].as_str().unwrap().to_owned(), state["n"].as_u64().unwrap()))
                .collect();
            let waits = ["sampled", "stale", "pending"].iter().any(|state| last.contains_key(*state));
            if !waits && last.values().sum::<u64>() == n {
                return last;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it never came to it: {last:?}");
    }

    async fn until_paused(&self, name: &str) -> String {
        let path = format!("/api/v1/monitors/{name}");
        until(async || self.get(&path).await["paused"].is_string()).await;
        self.get(&path).await["paused"].as_str().unwrap().to_owned()
    }

    pub async fn why(&self, trace: &str) -> Json {
        self.get(&format!("/api/v1/traces/{trace}/decisions")).await
    }
}

pub fn whole(estimates: &Json) -> &Json {
    &estimates["judges"][0]["criteria"][0]
}

#[test]
fn a_finished_trace_is_decided_about_judged_and_estimated() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        let applied = place.applied("tone", &monitor("sample_rate: 1.0")).await;
        assert_eq!((&applied["is_changed"], &applied["is_new_rubric"]), (&json!(true), &json!(true)));
        let version = applied["monitor"]["version"].clone();
        assert!(version["rubric_version"].as_str().unwrap().starts_with("rubv_local_"), "{version}");

        for (at, points) in [5, 4, 3, 2, 1, 5].into_iter().enumerate() {
            let failed = points == 1;
            place.finish(&format!("t{at}"), &format!("worth {points}"), json!({ "failed": failed })).await;
        }
        // In pieces, and of an agent that nobody watches.
        let pieces = json!([
            { "id": "q", "kind": "event", "body": { "role": "user", "content": "Why?" } },
            { "id": "a", "kind": "event", "body": { "role": "assistant", "content": "worth 4" } },
            { "id": "end", "kind": "finish", "body": {} },
        ]);
        let sent = json!({ "id": "pieces", "agent": "desk", "pieces": pieces });
        place.ask(Method::POST, "/api/v1/traces", &[], sent).await;
        place.finish("other", "worth 5", json!({ "agent": "elsewhere" })).await;
        let states = place.settled("tone", 7).await;
        // The first and the last say the same to the same question.
        let n = |state: &str| states.get(state).copied().unwrap_or_default();
        assert_eq!(n("cached") + n("scored"), 7, "{states:?}");
        assert!(place.why("other").await.as_array().unwrap().is_empty());

        let why = &place.why("t4").await[0];
        assert_eq!((&why["stratum"], &why["judge_status"]), (&json!("failed"), &json!("scored")));
        let history: Vec<&str> =
            why["history"].as_array().unwrap().iter().map(|item| item["state"].as_str().unwrap()).collect();
        assert_eq!(history, ["sampled", "pending", "scored"]);
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let score = &whole(&found)["score"];
        let truth = [5, 4, 3, 2, 1, 5, 4].iter().map(|n| f64::from(n - 1) / 4.0).sum::<f64>() / 7.0;
        assert!((score["mean"].as_f64().unwrap() - truth).abs() < 1e-9, "{score}");
        assert!(score["se"].as_f64().unwrap() < 1e-9, "everything was looked at: {score}");
        assert!((whole(&found)["pass_rate"]["mean"].as_f64().unwrap() - 4.0 / 7.0).abs() < 1e-9);
        assert_eq!(found["judges"][0]["criteria"].as_array().unwrap().len(), 3);

        // The grades say by which version, why, and what they cost.
        let grades = place.get("/api/v1/grades?candidate=t0").await;
        assert_eq!(grades["items"].as_array().unwrap().len(), 2);
        assert_eq!(grades["items"][0]["rubric_version"], version["rubric_version"]);
        let verdicts = place.get("/api/v1/verdicts?candidate=t0").await;
        assert_eq!(
            (&verdicts["items"][0]["status"], &verdicts["items"][0]["score"]),
            (&json!("pass"), &json!(1.0))
        );
        assert!(verdicts["items"][0]["monitor"].as_str().unwrap().starts_with("mon_"));

        // The same again costs nothing.
        place.finish("again", "worth 2", json!({})).await;
        let states = place.settled("tone", 8).await;
        assert!(states.contains_key("cached"), "{states:?}");
        assert_eq!(place.why("again").await[0]["state"], "cached");
        let cost = place.get("/api/v1/verdicts?candidate=again").await["items"][0]["cost"].clone();
        assert!((cost.as_f64().unwrap()).abs() < 1e-12);
        let metrics = place.fetch("/metrics").await.text;
        assert!(metrics.contains("jurist_monitor_decisions_total{state=\"cached\"}"), "{metrics}");

        // Trends know what they are of.
        let trend = place.get("/api/v1/monitors/tone/trend").await;
        // Two points, if the day ended meanwhile.
        let points = trend[0]["points"].as_array().unwrap();
        let sum = |key: &str| points.iter().filter_map(|point| point[key].as_u64()).sum::<u64>();
        assert_eq!((sum("n"), sum("n_seen")), (8, 8));
        let point = points.last().unwrap();
        assert!(point["sequence"][0].as_f64().unwrap() < point["sequence"][1].as_f64().unwrap());
    });
}

#[test]
fn an_edit_makes_a_version_and_the_same_file_none() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        let first = place.applied("tone", &monitor("")).await["monitor"]["version"].clone();
        let same = place.applied("tone", &format!("# a remark\n{}", monitor(""))).await;
        assert_eq!((&same["is_changed"], &same["monitor"]["version"]["id"]), (&json!(false), &first["id"]));
        // The sample rate is no part of what judges are asked, so the trend goes on.
        let dial = place.applied("tone", &monitor("sample_rate: 0.5")).await;
        assert_eq!((&dial["is_changed"], &dial["is_new_rubric"]), (&json!(true), &json!(false)));
        assert_eq!(dial["monitor"]["version"]["rubric_version"], first["rubric_version"]);
        let edited = monitor("").replace("It is kind", "It is very kind");
        let edited = place.applied("tone", &edited).await;
        assert_eq!(edited["is_new_rubric"], true);
        assert_ne!(edited["monitor"]["version"]["rubric_version"], first["rubric_version"]);
        assert_eq!(place.get("/api/v1/monitors/tone/versions").await.as_array().unwrap().len(), 3);
        let gone = place.ask(Method::DELETE, "/api/v1/monitors/tone", &[], Json::Null).await;
        assert_eq!(gone.status, StatusCode::OK, "{}", gone.text);
        assert_eq!(place.fetch("/api/v1/monitors/tone").await.status, StatusCode::NOT_FOUND);
        assert_eq!(place.applied("tone", &monitor("")).await["is_changed"], true);
        let actions = place.get("/api/v1/audit").await;
        let told =
            actions["items"].as_array().unwrap().iter().filter(|item| item["action"] == "monitor.apply");
        assert_eq!(told.count(), 4);
    });
}

#[test]
fn what_is_wrong_with_a_monitor_is_said() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        let check = async |source: &str, expected: &str| {
            let answer = place.apply("tone", source).await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{source}: {}", answer.text);
            assert!(answer.text.contains(expected), "{}", answer.text);
        };
        check(&monitor("sample_rate: 0"), "sample_rate").await;
        check(&monitor("sample_rate: 2"), "sample_rate").await;
        check(&monitor("").replace("pass_threshold: 4.0", "pass_threshold: 7"), "pass_threshold").await;
        check("agent: desk\nrubric: Is it any good?\n", "names no dimensions").await;
        let (store, project, at) =
            (&place.app.store, place.app.default_project, (&Region::default(), &Work::default()));
        let check_it =
            apply_monitor_file(store, project, Some("check"), &monitor(""), at, None, clock::current_time())
                .await;
        assert!(check_it.unwrap_err().to_string().contains("cannot be named `check`"));
        check(&monitor("filter: {min_cost: 2, max_cost: 1}"), "no trace has").await;
        check(&monitor("filter: {colour: red}"), "colour").await;
        check(&monitor("calibration_anchors: {good: [run_1], bad: [run_2]}"), "`run_1`, `run_2`").await;
        check(&monitor("judge_model: nobody/knows"), "nobody").await;
        check("evals: [{name: a, response: b, rubric: c}]\n", "no monitor").await;
        let refused = place.apply("tone", &monitor("judge_model: \"command:rm -rf /\"")).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
        let decisions = place.fetch("/api/v1/monitors/none/decisions").await;
        assert_eq!(decisions.status, StatusCode::NOT_FOUND);
        place.applied("tone", &monitor("")).await;
        let bad = place.fetch("/api/v1/monitors/tone/decisions?state=lost").await;
        assert!(bad.status == StatusCode::BAD_REQUEST && bad.text.contains("sampled_out"), "{}", bad.text);
        let nothing = place.ask(Method::POST, "/api/v1/monitors/tone/rescores", &[], json!({})).await;
        assert_eq!(nothing.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", nothing.text);
    });
}

#[test]
fn tokens_without_the_scope_change_nothing() {
    served(&with_accounts(), |place| async move {
        let owner = place.owner().await;
        let reads = place.token(&owner, &["read"]).await;
        let headers = [("authorization", reads.as_str())];
        let body = json!({ "source": monitor("") });
        let put = place.ask(Method::PUT, "/api/v1/monitors/tone", &headers, body).await;
        assert_eq!(put.status, StatusCode::FORBIDDEN, "{}", put.text);
        let list = place.ask(Method::GET, "/api/v1/monitors", &headers, Json::Null).await;
        assert_eq!((list.status, list.json()), (StatusCode::OK, json!([])));
    });
}

#[test]
fn a_judge_that_breaks_is_an_error_and_never_a_score() {
    // What it does is turned while the test runs.
    let mood = Arc::new(AtomicU16::new(500));
    let acts = Arc::clone(&mood);
    let judge = judge(move |seen| match acts.load(Ordering::Relaxed) {
        200 => honest(seen),
        1 => Act::Say("It is rather good, I would say.".to_owned()),
        status => Act::Status(status, vec![("retry-after", "0".to_owned())], "{\"error\":{}}".to_owned()),
    });
    served(&hurried(&judge), |place| {
        let mood = Arc::clone(&mood);
        async move {
            place.workers(4);
            mood.store(500, Ordering::Relaxed);
            place.applied("tone", &monitor("sample_rate: 1.0")).await;
            place.finish("down", "worth 5", json!({})).await;
            assert_eq!(place.settled("tone", 1).await["judge_error"], 1);
            let why = &place.why("down").await[0];
            assert_eq!((&why["judge_status"], &why["state"]), (&json!("error"), &json!("judge_error")));
            let note = why["history"].as_array().unwrap().last().unwrap()["note"].to_string();
            assert!(note.contains("unavailable"), "{note}");

            mood.store(1, Ordering::Relaxed);
            place.finish("nonsense", "worth 4", json!({})).await;
            assert_eq!(place.settled("tone", 2).await["judge_error"], 2);
            let note = place.why("nonsense").await[0]["history"][2]["note"].to_string();
            assert!(note.contains("malformed"), "{note}");
            // Nothing was scored, so nothing is estimated, and the errors have their rate.
            let found = place.get("/api/v1/monitors/tone/estimates").await;
            assert!(
                whole(&found)["score"].is_null() && whole(&found)["not_estimable"].is_string(),
                "{found}"
            );

            mood.store(200, Ordering::Relaxed);
            place.finish("fine", "worth 3", json!({})).await;
            assert_eq!(place.settled("tone", 3).await["scored"], 1);
            let found = place.get("/api/v1/monitors/tone/estimates").await;
            let score = &whole(&found)["score"];
            assert!((score["mean"].as_f64().unwrap() - 0.5).abs() < 1e-9, "{score}");
            assert!((score["error_rate"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9, "{score}");
            let metrics = place.fetch("/metrics").await.text;
            assert!(metrics.contains("error_type=\"malformed\""), "{metrics}");

            // A key that does not work stops everything until somebody has seen to it.
            mood.store(401, Ordering::Relaxed);
            place.finish("locked out", "worth 2", json!({})).await;
            let why = place.until_paused("tone").await;
            assert!(!why.is_empty());
            place.finish("meanwhile", "worth 1", json!({})).await;
            for trace in ["locked out", "meanwhile"] {
                until(async || place.why(trace).await[0]["judge_status"] == "pending").await;
            }
            mood.store(200, Ordering::Relaxed);
            let resumed =
                place.ask(Method::PATCH, "/api/v1/monitors/tone", &[], json!({ "paused": false })).await;
            assert_eq!(resumed.json()["paused"], Json::Null, "{}", resumed.text);
            assert_eq!(place.settled("tone", 5).await["scored"], 3);
        }
    });
}

#[test]
fn judges_that_disagree_are_flagged_and_their_scores_averaged() {
    let judge = judge(|seen| {
        let is_kind = seen.body["model"].as_str().unwrap_or_default().contains("nano");
        let apart = seen.prompt().contains("apart");
        rated(seen, if is_kind && apart { 5 } else { 2 })
    });
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        let judges =
            "judges: [openai/gpt-5-mini, openai/gpt-5-nano]\nsample_rate: 1.0\ndisagreement_margin: 0.3";
        place.applied("tone", &monitor(judges)).await;
        place.finish("apart", "They are apart.", json!({})).await;
        place.finish("alike", "They agree.", json!({})).await;
        assert_eq!(place.settled("tone", 2).await["scored"], 2);
        let disputed = place.get("/api/v1/monitors/tone/decisions?disputed=true").await;
        let items = disputed["items"].as_array().unwrap();
        assert_eq!(
            (items.len(), &items[0]["trace"], &items[0]["spread"]),
            (1, &json!("apart"), &json!(0.75))
        );
        assert_eq!(items[0]["spread_scale"], json!({ "min": 1.0, "max": 5.0 }));
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let judges: Vec<&str> =
            found["judges"].as_array().unwrap().iter().map(|item| item["judge"].as_str().unwrap()).collect();
        assert_eq!(
            judges,
            ["openai/gpt-5-mini + openai/gpt-5-nano", "openai/gpt-5-mini", "openai/gpt-5-nano"]
        );
        let mean = whole(&found)["score"]["mean"].as_f64().unwrap();
        assert!((mean - (0.625 + 0.25) / 2.0).abs() < 1e-9, "{mean}");
    });
}

#[test]
fn two_monitors_on_one_trace_decide_for_themselves_and_look_at_the_same() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &monitor("sample_rate: 0.3")).await;
        place.applied("care", &monitor("sample_rate: 0.3\nfilter: {status: [failed]}")).await;
        place.applied("more", &monitor("sample_rate: 0.6")).await;
        for at in 0..40 {
            place
                .finish(
                    &format!("t{at}"),
                    &format!("worth {}", 1 + at % 5),
                    json!({ "failed": at % 10 == 0 }),
                )
                .await;
        }
        let tone = place.settled("tone", 40).await;
        let care = place.settled("care", 40).await;
        let more = place.settled("more", 40).await;
        assert_eq!((care["filtered"], care.get("sampled_out")), (36, None));
        assert!(more["sampled_out"] < tone["sampled_out"], "{tone:?} {more:?}");
        for at in 0..40 {
            let both = place.why(&format!("t{at}")).await;
            let of = |name: &str| {
                let found = both.as_array().unwrap().iter().find(|item| item["monitor_name"] == name);
                found.unwrap()["is_sampled"].as_bool().unwrap()
            };
            assert!(!of("tone") || of("more"), "a trace in the smaller sample is in the larger sample");
        }
    });
}

#[test]
fn anchors_are_shown_to_the_judge_as_texts() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        for (id, text) in [("g1", "golden"), ("g2", "splendid"), ("b1", "dreadful"), ("b2", "vile")] {
            place.finish(id, &format!("That was {text}."), json!({})).await;
        }
        let anchors = "sample_rate: 1.0\ncalibration_anchors: {good: [g1, g2], bad: [b1, b2]}";
        place.applied("tone", &monitor(anchors)).await;
        place.finish("t", "worth 4", json!({})).await;
        place.settled("tone", 1).await;
    });
    let seen = judge.server.seen.lock().unwrap();
    let prompt = seen.last().unwrap().prompt();
    assert_eq!(prompt.matches("That was golden.\" -> score 5").count(), 1, "once for all criteria: {prompt}");
    assert!(prompt.contains("vile") && prompt.contains("-> score 1"), "{prompt}");
}

#[test]
fn failures_that_double_and_a_dial_that_is_turned_do_not_move_the_estimate() {
    // Those that fail are worth 1 or 2, the others 4 or 5.
    let judge = judge(honest);
    served_on_sqlite(&hurried(&judge), |place| async move {
        place.workers(8);
        place.applied("tone", &monitor("sample_rate: 0.2")).await;
        let mut sum = 0.0;
        for at in 0..600_u32 {
            if at == 300 {
                place.settled("tone", 300).await;
                place.applied("tone", &monitor("sample_rate: 0.6")).await;
            }
            // Five in a hundred, then ten.
            let failed = at % 20 == 0 || (300 <= at && at % 20 == 10);
            let points = if failed { 1 + at / 20 % 2 } else { 4 + at % 2 };
            sum += f64::from(points - 1) / 4.0;
            place
                .finish(&format!("t{at}"), &format!("worth {points}, {at}"), json!({ "failed": failed }))
                .await;
        }
        let states = place.settled("tone", 600).await;
        assert!(250 < states["sampled_out"] && 190 < states["scored"], "{states:?}");
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let score = &whole(&found)["score"];
        let (truth, at) = (sum / 600.0, |key: &str| score[key].as_f64().unwrap());
        let (low, high) = (score["interval"][0].as_f64().unwrap(), score["interval"][1].as_f64().unwrap());
        assert!(low <= truth && truth <= high && high - low < 0.06, "{truth} {score}");
        assert!(0.04 < truth - at("naive"), "the plain mean is off: {truth} {score}");
        let failed = &score["strata"][0];
        assert_eq!(
            (&failed["name"], &failed["n"], &failed["n_seen"]),
            (&json!("failed"), &json!(45), &json!(45))
        );
    });
}

#[test]
fn over_a_hundred_samples_the_interval_holds_what_is_true_of_all_traces() {
    let judge = judge(honest);
    served_on_sqlite(&hurried(&judge), |place| async move {
        let agents: Vec<String> = (0..100).map(|n| format!("a{n}")).collect();
        let watched = format!("agents: [{}]", agents.join(", "));
        place.applied("tone", &monitor("sample_rate: 0.5").replace("agent: desk", &watched)).await;
        // Each agent has the same traffic, of which another sample is drawn. One in twelve fails, then two; how good
        // either is stays the same.
        let is_failed = |at: u32| matches!(at, 0 | 12 | 18);
        let points = |at: u32| if is_failed(at) { 1 } else { 3 + at % 3 };
        let trace = |agent: &String, at: u32| {
            json!({ "id": format!("{agent}-{at}"), "agent": agent, "failed": is_failed(at), "trace": [
                { "role": "user", "content": format!("Question {at}?") },
                { "role": "assistant", "content": format!("worth {}, {at}", points(at)) },
            ]})
        };
        let lines: Vec<String> =
            agents.iter().flat_map(|agent| (0..24).map(|at| trace(agent, at).to_string())).collect();
        let kind = [("content-type", "application/x-ndjson")];
        let sent = place.send("/api/v1/traces/bulk", &kind, lines.join("\n")).await;
        assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        place.workers(8);
        let done = "SELECT COUNT(*) FROM decisions WHERE state IN ('scored', 'cached', 'sampled_out')";
        until(async || place.scene.number(done).await.unwrap() == 100 * 24).await;
        let truth = (0..24).map(|at| f64::from(points(at) - 1) / 4.0).sum::<f64>() / 24.0;
        let (mut held, mut off, mut naive) = (0, 0.0, 0.0);
        for agent in &agents {
            let found = place.get(&format!("/api/v1/monitors/tone/estimates?agent={agent}")).await;
            let score = &whole(&found)["score"];
            let at = |key: &str| score[key].as_f64().unwrap();
            let (low, high) =
                (score["interval"][0].as_f64().unwrap(), score["interval"][1].as_f64().unwrap());
            held += usize::from(low <= truth && truth <= high);
            off += (at("mean") - truth) / 100.0;
            naive += (at("naive") - truth) / 100.0;
        }
        println!("held {held} of 100, off by {off:.4}, the plain mean by {naive:.4}");
        // Ids decide who is drawn, so the figures are the same each time.
        assert!((91..=99).contains(&held) && off.abs() < 0.01 && naive < -0.08, "{held} {off} {naive}");
    });
}

#[test]
fn without_money_or_room_a_trace_says_so_and_is_no_score() {
    let judge = judge(honest);
    let roomless = ServerSettings { max_waiting: 0, ..hurried(&judge) };
    served(&roomless, |place| async move {
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("t", "worth 5", json!({})).await;
        assert_eq!(place.settled("tone", 1).await["overloaded"], 1);
        assert_eq!(place.why("t").await[0]["judge_status"], "unscored");
    });
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.cap(0.000_01).await;
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("t", "worth 5", json!({})).await;
        assert_eq!(place.settled("tone", 1).await["over_budget"], 1);
        let note = place.why("t").await[0]["history"][2]["note"].to_string();
        assert!(note.contains("the month's") && note.contains("may cost up to"), "{note}");
        // A judge whose price nobody knows does not run under a cap at all.
        let unpriced = monitor("sample_rate: 1.0\njudge_model: openai/of-tomorrow");
        place.applied("tone", &unpriced).await;
        place.finish("u", "worth 4", json!({})).await;
        assert!(place.until_paused("tone").await.contains("no known price"));
        let alerts = place.get("/api/v1/alerts").await["items"].to_string();
        assert!(alerts.contains("tone is paused: `openai/of-tomorrow`"), "{alerts}");
        // What a monitor may cost holds beside what its project may.
        place.cap(50.0).await;
        place
            .applied("thrifty", &monitor("sample_rate: 1.0\nbudget: {monthly: 0.00001, currency: USD}"))
            .await;
        place.finish("v", "worth 3", json!({})).await;
        assert_eq!(place.settled("thrifty", 1).await["over_budget"], 1);
    });
    assert_eq!(judge.server.n_seen(), 0, "nobody was asked");
}

#[test]
fn a_slow_judge_is_an_error_of_its_own_kind() {
    let judge = judge(|seen| Act::Wait(Duration::from_secs(20), Box::new(honest(seen))));
    let mut settings = hurried(&judge);
    settings.work.settings.judge.timeout = Some(0.2);
    served_on_sqlite(&settings, |place| async move {
        place.workers(1);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("slow", "worth 5", json!({})).await;
        assert_eq!(place.settled("tone", 1).await["judge_error"], 1);
        let note = place.why("slow").await[0]["history"][2]["note"].to_string();
        assert!(note.contains("timeout"), "{note}");
        assert!(place.fetch("/metrics").await.text.contains("error_type=\"timeout\""));
    });
}

#[test]
fn labels_stand_beside_what_the_judge_says() {
    // The judge gives everybody 4; people give 2 or 4.
    let judge = judge(|seen| rated(seen, if seen.prompt().contains("even") { 4 } else { 5 }));
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        let applied = place.applied("tone", &monitor("sample_rate: 1.0")).await;
        for at in 0..20 {
            let text = if at % 2 == 0 { "even" } else { "odd" };
            place.finish(&format!("t{at}"), &format!("{text} {at}"), json!({})).await;
        }
        place.settled("tone", 20).await;
        let version = applied["monitor"]["version"]["rubric_version"].as_str().unwrap().parse().unwrap();
        let label = |at: usize, criterion: &str| jurist_store::labels::NewLabel {
            candidate: format!("t{at}"),
            rubric_version: jurist_store::RubricVersionId::clone(&version),
            criterion: criterion.to_owned(),
            value: jurist_core::grade::Value::Number(if at.is_multiple_of(2) { 2.0 } else { 4.0 }),
            unit: Some(if at.is_multiple_of(2) { 0.25 } else { 0.75 }),
            origin: "imported".to_owned(),
            author: None,
        };
        let labels: Vec<_> = (0..10).map(|at| label(at, "kind")).collect();
        let now = clock::current_time();
        place.scene.store.add_labels(place.app.default_project, &labels, now).await.unwrap();
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let criteria = found["judges"][0]["criteria"].as_array().unwrap();
        let kind = criteria.iter().find(|criterion| criterion["criterion"] == "kind").unwrap();
        let (raw, corrected) = (&kind["score"], &kind["corrected"]);
        assert!((raw["mean"].as_f64().unwrap() - 0.875).abs() < 1e-9, "{raw}");
        assert!((corrected["mean"].as_f64().unwrap() - 0.5).abs() < 0.02, "{corrected}");
        assert_eq!(corrected["n_labels"], 10);
        let plain = place.get("/api/v1/monitors/tone/estimates?corrected=false").await;
        let plain = plain["judges"][0]["criteria"].as_array().unwrap();
        let plain = plain.iter().find(|plain| plain["criterion"] == kind["criterion"]).unwrap();
        assert_eq!((&plain["score"], &plain["corrected"]), (raw, &Json::Null));
        // People pass those with 4 points, and the judge everything.
        let passes = &kind["corrected_pass_rate"];
        assert!((passes["mean"].as_f64().unwrap() - 0.5).abs() < 0.02, "{passes}");
        // The whole has a label where every criterion has one.
        assert!(whole(&found)["corrected"].is_null(), "{found}");
        let labels: Vec<_> = (0..10).map(|at| label(at, "right")).collect();
        place.scene.store.add_labels(place.app.default_project, &labels, now).await.unwrap();
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let (score, passes) = (&whole(&found)["corrected"], &whole(&found)["corrected_pass_rate"]);
        assert_eq!((&score["n_labels"], &passes["n_labels"]), (&json!(10), &json!(10)));
        assert!((score["mean"].as_f64().unwrap() - 0.5).abs() < 0.02, "{score}");
        assert!((passes["mean"].as_f64().unwrap() - 0.5).abs() < 0.02, "{passes}");
    });
}

#[test]
fn spans_that_were_sampled_before_they_came_stand_for_more() {
    let judge = judge(|seen| rated(seen, 4));
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("helper", &monitor("sample_rate: 1.0").replace("agent: desk", "agent: helper")).await;
        let mut top = root(0);
        // Half of all are kept.
        top["traceState"] = json!("ot=th:8");
        let sent = export(&[top, model_call(2, 0, "What is 2 + 2?")]).to_string();
        let sent = place.send("/v1/traces", &[("content-type", "application/json")], sent).await;
        assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        assert_eq!(place.settled("helper", 1).await["scored"], 1);
        assert_eq!(place.why(TRACE).await[0]["upstream"], 0.5);
        let found = place.get("/api/v1/monitors/helper/estimates").await;
        assert_eq!(
            (&whole(&found)["score"]["population"], &whole(&found)["score"]["n"]),
            (&json!(2.0), &json!(1))
        );
        let verdicts = place.get(&format!("/api/v1/verdicts?candidate={TRACE}")).await;
        assert_eq!(verdicts["items"][0]["probability"], 0.5);
    });
}

#[test]
fn what_a_monitor_says_goes_to_a_collector_under_the_span_that_was_judged() {
    let judge = judge(|seen| match seen.path.ends_with("/v1/logs") {
        true => Act::Raw("{}".to_owned()),
        false => rated(seen, 5),
    });
    let mut settings = hurried(&judge);
    settings.work.emit = Some(judge.server.url.clone());
    served(&settings, |place| async move {
        place.workers(2);
        place.applied("tone", &monitor("sample_rate: 1.0").replace("desk", "helper")).await;
        let answer =
            place.ask(Method::POST, "/v1/traces", &[], export(&[model_call(2, 0, "2 + 2?"), root(3)]));
        assert_eq!(answer.await.status, StatusCode::OK);
        place.settled("tone", 1).await;
        until(async || place.get("/api/v1/jobs").await == json!([])).await;
    });
    let seen = judge.server.seen.lock().unwrap();
    let sent = seen.iter().rfind(|seen| seen.path.ends_with("/v1/logs")).unwrap();
    let records = sent.body["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
    let names: Vec<&str> = records
        .iter()
        .map(|record| record["attributes"][0]["value"]["stringValue"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["kind", "right", "verdict"]);
    for record in records {
        assert_eq!(record["eventName"], "gen_ai.evaluation.result");
        assert_eq!(record["traceId"], TRACE);
        // The agent's own span, which stands above the call of the model.
        assert_eq!(record["spanId"], root(3)["spanId"]);
    }
}
