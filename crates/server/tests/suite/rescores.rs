//! Traces that somebody asks to be judged again or compared: what it costs, what it waits for, and what it finds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::{Act, Seen, fitting};
use crate::monitors::{honest, hurried, monitor, rated, whole};
use crate::place::{Place, served, served_on_sqlite, until};
use crate::runs::judge;

pub const RESCORES: &str = "/api/v1/monitors/tone/rescores";
const COMPARISONS: &str = "/api/v1/monitors/tone/comparisons";

#[test]
fn judges_that_broke_are_asked_again_by_the_same_version() {
    let is_mad = Arc::new(AtomicBool::new(true));
    let acts = Arc::clone(&is_mad);
    let judge = judge(move |seen| match acts.load(Ordering::Relaxed) {
        true => Act::Say("It is rather good, I would say.".to_owned()),
        false => honest(seen),
    });
    served(&hurried(&judge), |place| {
        let is_mad = Arc::clone(&is_mad);
        async move {
            place.workers(2);
            is_mad.store(true, Ordering::Relaxed);
            let applied = place.applied("tone", &monitor("sample_rate: 1.0")).await;
            for at in 0..3 {
                place.finish(&format!("t{at}"), &format!("worth 4, {at}"), json!({})).await;
            }
            assert_eq!(place.settled("tone", 3).await["judge_error"], 3);
            is_mad.store(false, Ordering::Relaxed);
            let path = "/api/v1/monitors/tone/rescores";
            let both = place.ask(Method::POST, path, &[], json!({ "errors": true, "overlap": 2 })).await;
            assert_eq!(both.status, StatusCode::BAD_REQUEST, "{}", both.text);
            let plan = place.ask(Method::POST, path, &[], json!({ "errors": true })).await.json();
            assert_eq!(
                (&plan["n_traces"], &plan["n_calls"], &plan["is_begun"]),
                (&json!(3), &json!(3), &json!(false))
            );
            assert!(0.0 < plan["price"].as_f64().unwrap(), "{plan}");
            assert_eq!(plan["rubric_version"], applied["monitor"]["version"]["rubric_version"]);
            assert_eq!(place.settled("tone", 3).await["judge_error"], 3, "nothing was begun");
            let begun =
                place.ask(Method::POST, path, &[], json!({ "errors": true, "confirmed": true })).await;
            assert_eq!(begun.json()["is_begun"], true, "{}", begun.text);
            assert_eq!(place.settled("tone", 3).await["scored"], 3);
            // What broke stays in the history, and is no error of the estimate any more.
            let history = place.why("t0").await[0]["history"].clone();
            let states: Vec<&str> =
                history.as_array().unwrap().iter().map(|item| item["state"].as_str().unwrap()).collect();
            assert_eq!(states, ["sampled", "pending", "judge_error", "sampled", "pending", "scored"]);
            let found = place.get("/api/v1/monitors/tone/estimates").await;
            let score = &whole(&found)["score"];
            assert_eq!((&score["n"], &score["error_rate"]), (&json!(3), &json!(0.0)));
            let grades = place.scene.number("SELECT COUNT(*) FROM grades").await.unwrap();
            assert_eq!(grades, 12, "two criteria of three traces, broken and scored");
            let none = place.ask(Method::POST, path, &[], json!({ "errors": true })).await;
            assert!(none.status == StatusCode::UNPROCESSABLE_ENTITY && none.text.contains("no judge failed"));
        }
    });
}

/// Four traces to judge again, and two pairs of them to compare, while something is in the way.
async fn asked_for(place: &Place) {
    place.applied("tone", &monitor("sample_rate: 1.0")).await;
    for at in 0..4 {
        let trace = json!([
            { "role": "user", "content": format!("Question {}?", at / 2) },
            { "role": "assistant", "content": format!("worth {}, {at}", 2 + at) },
        ]);
        let more = json!({ "trace": trace, "metadata": { "version": at % 2 } });
        place.finish(&format!("t{at}"), "", more).await;
    }
    let decided = "SELECT COUNT(*) FROM decisions";
    until(async || place.scene.number(decided).await.unwrap() == 4).await;
    place.applied("tone", &monitor("sample_rate: 1.0").replace("It is kind", "It is very kind")).await;
    place.ask(Method::POST, RESCORES, &[], json!({ "confirmed": true })).await;
    let side = |version: u32| json!({ "agent": "desk", "metadata": { "version": version } });
    let asked = json!({ "a": side(0), "b": side(1), "confirmed": true });
    let begun = place.ask(Method::POST, COMPARISONS, &[], asked).await;
    assert_eq!(begun.json()["n_pairs"], 2, "{}", begun.text);
}

/// Once nothing is in the way any more.
async fn all_done(place: &Place) {
    until(async || place.get(RESCORES).await[0]["n_scored"] == 4).await;
    until(async || place.get(RESCORES).await[0]["n_waiting"] == 0).await;
    assert_eq!(place.get(RESCORES).await[0]["note"], Json::Null);
    until(async || {
        let found = place.get(COMPARISONS).await[0].clone();
        let n = |key: &str| found[key].as_u64().unwrap_or(0);
        n("n_a") + n("n_b") == 2 && n("n_errors") == 0
    })
    .await;
}

/// Points as the answer says, and of two the first.
fn honest_or_first(seen: &Seen) -> Act {
    match fitting(&seen.schema())["verdict"].is_null() {
        true => honest(seen),
        false => Act::Say(json!({ "reasoning": "It comes first.", "verdict": "A" }).to_string()),
    }
}

#[test]
fn what_was_asked_for_waits_while_a_monitor_is_paused_and_goes_on_with_it() {
    let judge = judge(honest_or_first);
    served(&hurried(&judge), |place| async move {
        let pause = async |paused: bool| {
            let body = json!({ "paused": paused, "reason": "too dear" });
            place.ask(Method::PATCH, "/api/v1/monitors/tone", &[], body).await;
        };
        asked_for(&place).await;
        pause(true).await;
        place.workers(2);
        // Each was tried, and nobody holds that against it.
        let tried =
            "SELECT COUNT(*) FROM jobs WHERE state = 'waiting' AND attempts = 0 AND error LIKE '%paused'";
        until(async || place.scene.number(tried).await.unwrap() == 6).await;
        let waiting = place.get(RESCORES).await[0].clone();
        assert_eq!(
            (&waiting["n_waiting"], &waiting["note"]),
            (&json!(4), &json!("the monitor is paused: too dear"))
        );
        pause(false).await;
        all_done(&place).await;
    });
}

#[test]
fn what_was_asked_for_waits_for_money_and_goes_on_with_it() {
    let judge = judge(honest_or_first);
    served(&hurried(&judge), |place| async move {
        place.cap(0.000_01).await;
        asked_for(&place).await;
        place.workers(2);
        let tried =
            "SELECT COUNT(*) FROM jobs WHERE state = 'waiting' AND attempts = 0 AND error LIKE '%budget%'";
        until(async || place.scene.number(tried).await.unwrap() == 6).await;
        let waiting = place.get(RESCORES).await[0].clone();
        assert_eq!(waiting["note"], "4 wait: the monthly budget is used up", "{waiting}");
        place.cap(50.0).await;
        all_done(&place).await;
    });
}

#[test]
fn a_request_is_sent_four_times_at_most() {
    let judge = judge(|_| Act::Status(429, vec![("retry-after", "0".to_owned())], "{}".to_owned()));
    served_on_sqlite(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("busy", "worth 5", json!({})).await;
        assert_eq!(place.settled("tone", 1).await["judge_error"], 1);
        let note = place.why("busy").await[0]["history"][2]["note"].to_string();
        assert!(note.contains("rate_limit"), "{note}");
    });
    assert_eq!(judge.server.n_seen(), 4, "once, and three times more");
}

#[test]
fn a_new_version_judges_earlier_traces_again_and_says_how_far_it_is_off() {
    // The stricter rubric gives a point less.
    let judge = judge(|seen| {
        let points =
            seen.prompt().split("worth ").nth(1).and_then(|part| part[..1].parse().ok()).unwrap_or(3);
        rated(seen, if seen.prompt().contains("very kind") { points - 1 } else { points })
    });
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        for at in 0..12 {
            place.finish(&format!("t{at}"), &format!("worth {}, {at}", 2 + at % 4), json!({})).await;
        }
        place.settled("tone", 12).await;
        let edited = monitor("sample_rate: 1.0").replace("It is kind", "It is very kind");
        place.applied("tone", &edited).await;
        let path = "/api/v1/monitors/tone/rescores";
        let plan = place.ask(Method::POST, path, &[], json!({ "overlap": 8 })).await.json();
        assert_eq!((&plan["n_traces"], &plan["n_of"], &plan["n_calls"]), (&json!(8), &json!(12), &json!(8)));
        assert!(plan["id"].is_null(), "{plan}");
        // The new version has judged nothing yet, so the mean of the version before counts.
        let verdicts = place.get("/api/v1/verdicts").await;
        let cost: f64 =
            verdicts["items"].as_array().unwrap().iter().filter_map(|item| item["cost"].as_f64()).sum();
        let price = plan["price"].as_f64().unwrap();
        assert!(0.0 < cost && (price - 8.0 / 12.0 * cost).abs() < 1e-9, "{price} of {cost}");
        assert_eq!(place.get(path).await, json!([]), "nothing was begun");
        let begun = place.ask(Method::POST, path, &[], json!({ "overlap": 8, "confirmed": true })).await;
        assert!(begun.json()["id"].as_str().unwrap().starts_with("rsc_"), "{}", begun.text);
        until(async || place.get(path).await[0]["n_scored"] == 8).await;
        let done = place.get(path).await[0].clone();
        let offset =
            done["offsets"].as_array().unwrap().iter().find(|item| item["criterion"].is_null()).unwrap();
        assert_eq!(offset["n"], 8);
        assert!((offset["mean"].as_f64().unwrap() + 0.25).abs() < 1e-9, "{offset}");
        let scale = json!({ "min": 1.0, "max": 5.0 });
        assert_eq!((&done["scale"], &offset["scale"]), (&scale, &scale));
        // What the first version said stays, and the second has nothing of its own yet.
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let judges = found["judges"].as_array().unwrap();
        assert_eq!((judges.len(), &judges[0]["is_current"]), (1, &json!(false)));
        assert_eq!(judges[0]["criteria"][0]["score"]["n"], 12);
    });
}

#[test]
fn two_versions_of_an_agent_are_compared_in_an_order_that_nobody_chose() {
    // The judge prefers whoever says that it is the second version, wherever it stands.
    let judge = judge(|seen| {
        let labels = fitting(&seen.schema());
        if labels["verdict"].is_null() {
            return honest(seen);
        }
        let prompt = seen.prompt();
        let place = |text: &str| prompt.find(text).unwrap_or(usize::MAX);
        let best = if place("by version 2") < place("by version 1") { "A" } else { "B" };
        Act::Say(json!({ "reasoning": "It is newer.", "verdict": best }).to_string())
    });
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        place.applied("tone", &monitor("sample_rate: 0.01")).await;
        for at in 0..24 {
            let version = 1 + at % 2;
            let trace = json!([
                { "role": "user", "content": format!("Task {}", at / 2) },
                { "role": "assistant", "content": format!("Done by version {version}.") },
            ]);
            let body = json!({
                "id": format!("t{at}"), "agent": "desk", "metadata": { "version": version }, "trace": trace,
            });
            place.ask(Method::POST, "/api/v1/traces", &[], body).await;
        }
        let side = |version: u32| json!({ "agent": "desk", "metadata": { "version": version } });
        let path = "/api/v1/monitors/tone/comparisons";
        let asked = json!({ "a": side(1), "b": side(2), "n": 10 });
        let plan = place.ask(Method::POST, path, &[], asked).await.json();
        assert_eq!((&plan["n_pairs"], &plan["n_calls"], &plan["id"]), (&json!(10), &json!(10), &Json::Null));
        let asked = json!({ "a": side(1), "b": side(2), "confirmed": true });
        let begun = place.ask(Method::POST, path, &[], asked).await;
        assert_eq!(begun.status, StatusCode::OK, "{}", begun.text);
        until(async || place.get(path).await[0]["n_b"] == 12).await;
        let found = place.get(path).await[0].clone();
        assert_eq!((&found["n_a"], &found["a"]), (&json!(0), &json!("desk version=1")));
        let first = found["first_rate"].as_f64().unwrap();
        assert!(0.0 < first && first < 1.0, "both orders were shown: {found}");
        let other = json!({ "agent": "nobody", "metadata": {} });
        let none = place.ask(Method::POST, path, &[], json!({ "a": side(1), "b": other })).await;
        assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", none.text);
        let same = place.ask(Method::POST, path, &[], json!({ "a": side(1), "b": side(1) })).await;
        assert!(same.text.contains("with itself"), "{}", same.text);
    });
}
