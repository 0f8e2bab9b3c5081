//! What becomes of single traces under a monitor: incomplete, empty, too expensive or identical ones, and those that
//! judges answer badly.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::{Act, fitting};
use crate::monitors::{honest, hurried, monitor, rated, whole};
use crate::otlp::{TRACE, export, model_call, root};
use crate::place::{served, served_on_sqlite, until};
use crate::rescores::RESCORES;
use crate::runs::judge;

/// Each test runs on both databases, before one judge.
const N_DATABASES: usize = 2;

#[test]
fn a_panel_without_all_its_members_has_an_error_and_no_score() {
    // The strict member breaks on every other trace, and would have given those few points.
    let judge = judge(|seen| {
        let is_strict = seen.body["model"].as_str().unwrap_or_default().contains("nano");
        match (is_strict, seen.prompt().contains("odd")) {
            (true, true) => Act::Say("I would rather not say.".to_owned()),
            (true, false) => rated(seen, 2),
            (false, _) => rated(seen, 4),
        }
    });
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        let judges = "judges: [openai/gpt-5-mini, openai/gpt-5-nano]\nsample_rate: 1.0";
        place.applied("tone", &monitor(judges)).await;
        for at in 0..6 {
            let text = if at % 2 == 0 { "even" } else { "odd" };
            place.finish(&format!("t{at}"), &format!("{text} {at}"), json!({})).await;
        }
        let states = place.settled("tone", 6).await;
        assert_eq!((states["scored"], states["judge_error"]), (3, 3), "{states:?}");
        let why = place.why("t1").await[0]["history"].as_array().unwrap().last().unwrap()["note"].to_string();
        assert!(why.contains("openai/gpt-5-nano: malformed"), "{why}");
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let figures = |judge: &str| {
            let judges = found["judges"].as_array().unwrap();
            let of = judges.iter().find(|value| value["judge"] == judge).unwrap();
            let criteria = of["criteria"].as_array().unwrap().iter();
            criteria.map(|criterion| criterion["score"].clone()).collect::<Vec<Json>>()
        };
        // Overall and by criterion: the panel has its three traces and its own rate of errors.
        let near = |value: &Json, wanted: f64| (value.as_f64().unwrap() - wanted).abs() < 1e-9;
        for score in figures("openai/gpt-5-mini + openai/gpt-5-nano") {
            assert!(near(&score["mean"], 0.5) && near(&score["error_rate"], 0.5), "{score}");
            assert_eq!(score["n"], 3);
        }
        for score in figures("openai/gpt-5-mini") {
            assert!(near(&score["mean"], 0.75) && near(&score["error_rate"], 0.0), "{score}");
        }
        for score in figures("openai/gpt-5-nano") {
            assert!(near(&score["mean"], 0.25) && near(&score["error_rate"], 0.5), "{score}");
        }
        let verdicts = place.get("/api/v1/verdicts?candidate=t1").await;
        assert_eq!(
            (&verdicts["items"][0]["status"], &verdicts["items"][0]["score"]),
            (&json!("error"), &Json::Null)
        );
    });
}

#[test]
fn a_reply_in_the_authors_own_shape_is_accepted_and_the_prompt_holds_one_shape() {
    let own = json!({ "right": 4, "kind": 2, "reasoning": "Right, but curt." }).to_string();
    let judge = judge(move |_| Act::Say(own.clone()));
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("t", "worth 4", json!({})).await;
        assert_eq!(place.settled("tone", 1).await["scored"], 1);
        let grades = place.get("/api/v1/grades?candidate=t").await;
        let scores: BTreeMap<&str, f64> = grades["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|grade| (grade["criterion"].as_str().unwrap(), grade["score"].as_f64().unwrap()))
            .collect();
        assert_eq!(scores, BTreeMap::from([("right", 0.75), ("kind", 0.25)]), "{grades}");
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        assert_eq!(whole(&found)["score"]["mean"], json!(0.5), "{found}");
    });
    assert_eq!(judge.server.n_seen(), N_DATABASES);
    let prompt = judge.server.last().prompt();
    assert!(prompt.contains("Rate the answer:") && prompt.contains("1. It is right (1-5)"), "{prompt}");
    assert!(!prompt.contains("\"right\": int"), "{prompt}");
    assert_eq!(prompt.matches("one JSON object of this shape").count(), 1, "{prompt}");
}

#[test]
fn malformed_replies_cost_four_calls_at_most_whatever_the_number_of_criteria() {
    let judge = judge(|_| Act::Say("I would rather not say.".to_owned()));
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        let criteria: Vec<String> = (1..=9).map(|at| format!("  {at}. Dimension {at} (1-5)")).collect();
        let keys: Vec<String> = (1..=9).map(|at| format!("\"d{at}\": int")).collect();
        let source = format!(
            "agent: desk\nrubric: |\n  Score it:\n{}\n  Output JSON: {{{}, \"reasoning\": string}}\nsample_rate: 1.0\n",
            criteria.join("\n"),
            keys.join(", ")
        );
        place.applied("tone", &source).await;
        place.finish("t", "worth 4", json!({})).await;
        assert_eq!(place.settled("tone", 1).await["judge_error"], 1);
    });
    assert!(judge.server.n_seen() <= 4 * N_DATABASES, "{} calls", judge.server.n_seen());
}

#[test]
fn a_trace_without_content_is_not_judged_and_counts_for_nothing() {
    let judge = judge(|seen| rated(seen, 5));
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("helper", &monitor("sample_rate: 1.0").replace("agent: desk", "agent: helper")).await;
        let mut health = root(3);
        health["name"] = json!("GET /health");
        let sent = place.ask(Method::POST, "/v1/traces", &[], export(&[health])).await;
        assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        place.finish("full", "worth 5", json!({ "agent": "helper" })).await;
        let states = place.settled("helper", 2).await;
        assert_eq!((states["nothing_to_judge"], states["scored"]), (1, 1), "{states:?}");
        let why = &place.why(TRACE).await[0];
        assert_eq!((&why["judge_status"], &why["is_sampled"]), (&json!("unscored"), &json!(false)));
        assert!(why["reason"].as_str().unwrap().contains("holds no task, message"), "{why}");
        let found = place.get("/api/v1/monitors/helper/estimates").await;
        assert_eq!(whole(&found)["score"]["population"], json!(1.0), "{found}");
    });
    assert_eq!(judge.server.n_seen(), N_DATABASES);
}

#[test]
fn a_score_whose_trace_changed_since_is_stale_and_judged_again() {
    // What came late makes it better.
    let judge = judge(|seen| rated(seen, if seen.prompt().contains("2 + 2") { 5 } else { 1 }));
    served(&hurried(&judge), |place| {
        async move {
            place.workers(2);
            let source = monitor("sample_rate: 1.0").replace("agent: desk", "agent: helper");
            place.applied("helper", &source).await;
            let early = [root(3), model_call(2, 0, "Hello?")];
            place.ask(Method::POST, "/v1/traces", &[], export(&early)).await;
            assert_eq!(place.settled("helper", 1).await["scored"], 1);
            let first = place.get("/api/v1/monitors/helper/estimates").await;
            assert_eq!(whole(&first)["score"]["mean"], json!(0.0), "{first}");
            // Only traces with a score are sorted by it.
            let n_with_score = async || {
                let listed = place.get("/api/v1/traces?sort=-score").await;
                listed["items"].as_array().unwrap().len()
            };
            assert_eq!(n_with_score().await, 1);

            // Nobody judges while the monitor is paused, so that what is stale can be seen.
            let pause = async |paused: bool| {
                let body = json!({ "paused": paused, "reason": "to look" });
                place.ask(Method::PATCH, "/api/v1/monitors/helper", &[], body).await;
            };
            pause(true).await;
            let late = [model_call(4, 0, "What is 2 + 2?")];
            place.ask(Method::POST, "/v1/traces", &[], export(&late)).await;
            until(async || place.why(TRACE).await[0]["state"] == "stale").await;
            let why = place.why(TRACE).await[0].clone();
            assert!(why["reason"].as_str().unwrap().contains("changed after it was judged"), "{why}");
            let between = place.get("/api/v1/monitors/helper/estimates").await;
            assert!(
                between["judges"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|item| item["criteria"][0]["score"].is_null())
            );
            assert_eq!(n_with_score().await, 0);

            pause(false).await;
            assert_eq!(place.settled("helper", 1).await["scored"], 1);
            let found = place.get("/api/v1/monitors/helper/estimates").await;
            let score = &whole(&found)["score"];
            assert_eq!((&score["mean"], &score["n"]), (&json!(1.0), &json!(1)), "{found}");
            let history = place.why(TRACE).await[0]["history"].clone();
            let states: Vec<&str> =
                history.as_array().unwrap().iter().map(|item| item["state"].as_str().unwrap()).collect();
            assert_eq!(states, ["sampled", "pending", "scored", "stale", "pending", "scored"]);
            // What was said of the earlier revision stays as an attempt of its own.
            let verdicts = place.get(&format!("/api/v1/verdicts?candidate={TRACE}")).await;
            assert_eq!(verdicts["items"].as_array().unwrap().len(), 2, "{verdicts}");
        }
    });
}

#[test]
fn what_went_over_budget_is_judged_once_there_is_money() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.cap(0.000_01).await;
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("failed", "worth 2", json!({ "failed": true })).await;
        place.finish("fine", "worth 4", json!({})).await;
        assert_eq!(place.settled("tone", 2).await["over_budget"], 2);
        place.cap(50.0).await;
        // Those that failed are judged by themselves.
        until(async || place.why("failed").await[0]["state"] == "scored").await;
        assert_eq!(place.why("fine").await[0]["state"], "over_budget");
        let plan = place.ask(Method::POST, RESCORES, &[], json!({ "over_budget": true })).await.json();
        assert_eq!((&plan["n_traces"], &plan["is_begun"]), (&json!(1), &json!(false)), "{plan}");
        let asked = json!({ "over_budget": true, "confirmed": true });
        assert_eq!(place.ask(Method::POST, RESCORES, &[], asked.clone()).await.json()["is_begun"], true);
        assert_eq!(place.settled("tone", 2).await["scored"], 2);
        let none = place.ask(Method::POST, RESCORES, &[], asked).await;
        assert!(none.text.contains("was over budget"), "{}", none.text);
    });
}

/// A check that must pass, before a question to a judge.
fn gated_monitor(more: &str) -> String {
    format!(
        "agent: desk
rubric:
  criteria:
    - {{name: has-x, required: true, check: {{type: contains, value: xyz}}}}
    - {{name: good, description: Is it good?}}
judge_model: openai/gpt-5-mini
sample_rate: 1.0
{more}
"
    )
}

#[test]
fn a_failed_gate_does_not_hide_that_the_judge_was_over_budget() {
    let judge = judge(|seen| Act::Say(fitting(&seen.schema()).to_string()));
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &gated_monitor("budget: {monthly: 0.00001, currency: GBP}")).await;
        place.finish("plain", "Friday", json!({})).await;
        place.finish("failed", "Thursday", json!({ "failed": true })).await;
        place.finish("xyz", "Friday, xyz", json!({})).await;
        let states = place.settled("tone", 3).await;
        assert_eq!(states.get("over_budget"), Some(&3), "{states:?}");
        for trace in ["plain", "failed"] {
            let why = place.why(trace).await[0].clone();
            assert_eq!((&why["verdict"], &why["score"]), (&json!("fail"), &Json::Null), "{why}");
            let note = why["history"].as_array().unwrap().last().unwrap()["note"].to_string();
            assert!(note.contains("may cost up to"), "the reason of the judge, not of the check: {note}");
        }
        let found = place.get("/api/v1/monitors/tone/projection?sample_rate=1.0").await;
        assert_eq!(found["cost"], Json::Null, "nothing was judged: {found}");

        place.applied("tone", &gated_monitor("budget: {monthly: 5, currency: GBP}")).await;
        until(async || place.why("failed").await[0]["state"] == "scored").await;
        let asked = json!({ "over_budget": true, "confirmed": true });
        let begun = place.ask(Method::POST, RESCORES, &[], asked).await.json();
        assert_eq!(begun["n_traces"], 2, "{begun}");
        let states = place.settled("tone", 3).await;
        assert_eq!(states.get("scored"), Some(&3), "{states:?}");
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let (score, passes) = (&whole(&found)["score"], &whole(&found)["pass_rate"]);
        assert_eq!((&score["n"], &passes["n"]), (&json!(3), &json!(3)));
        let strata = score["strata"].as_array().unwrap();
        assert!(strata.iter().all(|stratum| stratum["n_unjudged"] == 0), "{score}");
        // The newest verdict is that of the second attempt, as after a judge error.
        for (trace, verdict) in [("plain", "fail"), ("failed", "fail"), ("xyz", "pass")] {
            let why = place.why(trace).await[0].clone();
            assert!(why["score"].is_number() && why["verdict"] == verdict, "{why}");
            let grades = place.get(&format!("/api/v1/grades?candidate={trace}&criterion=good")).await;
            let outcomes: Vec<&str> = grades["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|grade| grade["outcome"].as_str().unwrap())
                .collect();
            assert_eq!(outcomes, ["scored", "deferred"], "{grades}");
        }
    });
}

#[test]
fn a_failed_gate_does_not_hide_that_the_judge_failed() {
    let judge = judge(|_| Act::Say("I would rather not say.".to_owned()));
    served_on_sqlite(&hurried(&judge), |place| async move {
        place.workers(2);
        let applied = place.applied("tone", &gated_monitor("")).await;
        for at in 0..2 {
            place.finish(&format!("t{at}"), &format!("Friday {at}"), json!({})).await;
        }
        assert_eq!(place.settled("tone", 2).await.get("judge_error"), Some(&2));
        let why = place.why("t0").await[0].clone();
        assert_eq!((&why["verdict"], &why["score"]), (&json!("fail"), &Json::Null), "{why}");
        let note = why["history"].as_array().unwrap().last().unwrap()["note"].to_string();
        assert!(note.contains("malformed"), "{note}");
        let listed = place.get("/api/v1/monitors/tone/decisions").await["items"][0].clone();
        assert_eq!(
            (&listed["monitor_name"], &listed["rubric_version"]),
            (&json!("tone"), &applied["monitor"]["version"]["rubric_version"])
        );
        let plan = place.ask(Method::POST, RESCORES, &[], json!({ "errors": true })).await.json();
        assert_eq!(plan["n_traces"], 2, "{plan}");
        // A second identical trace asks the judge as well: a verdict without an answer is not cached.
        place.finish("again", "Friday 0", json!({})).await;
        assert_eq!(place.settled("tone", 3).await.get("judge_error"), Some(&3));
    });
}

#[test]
fn identical_traces_that_arrive_at_once_pay_once() {
    // Slow enough that all workers have a trace before the first answer.
    let judge = judge(|seen| Act::Wait(Duration::from_millis(500), Box::new(honest(seen))));
    served(&hurried(&judge), |place| async move {
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        for at in 0..20 {
            place.finish(&format!("t{at}"), "worth 4", json!({})).await;
        }
        until(async || {
            let listed = place.get("/api/v1/monitors/tone/decisions?state=sampled").await;
            listed["items"].as_array().unwrap().len() == 20
        })
        .await;
        place.workers(8);
        let states = place.settled("tone", 20).await;
        assert_eq!((states["scored"], states["cached"]), (1, 19), "{states:?}");
    });
    assert_eq!(judge.server.n_seen(), N_DATABASES);
}

#[test]
fn a_cost_that_is_not_sent_is_computed_from_tokens_and_prices() {
    let judge = judge(|seen| rated(seen, 5));
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        let more =
            "sample_rate: 0.01\nexpensive: {above: 0.00001, sample_rate: 1.0}\nfilter: {min_cost: 0.00001}";
        place.applied("helper", &monitor(more).replace("agent: desk", "agent: helper")).await;
        // 11 tokens in and 5 out of gpt-4o, at 2.5 and 10 dollars per million.
        let spans = [root(3), model_call(2, 0, "What is 2 + 2?")];
        place.ask(Method::POST, "/v1/traces", &[], export(&spans)).await;
        assert_eq!(place.settled("helper", 1).await["scored"], 1);
        let head = place.get(&format!("/api/v1/traces/{TRACE}")).await;
        assert!((head["cost"].as_f64().unwrap() - 77.5e-6).abs() < 1e-9, "{head}");
        assert_eq!(head["is_cost_derived"], json!(true), "{head}");
        assert_eq!(place.why(TRACE).await[0]["stratum"], "expensive");

        // One that says its cost keeps it.
        place.finish("told", "worth 5", json!({ "agent": "helper" })).await;
        let pieces = json!([
            { "id": "a", "kind": "event", "body": { "role": "assistant", "content": "Four." } },
            { "id": "end", "kind": "finish", "body": { "cost": 0.5 } },
        ]);
        let sent = json!({ "id": "pieces", "agent": "helper", "pieces": pieces });
        place.ask(Method::POST, "/api/v1/traces", &[], sent).await;
        until(async || place.get("/api/v1/traces/pieces").await["state"] == "finished").await;
        let head = place.get("/api/v1/traces/pieces").await;
        assert_eq!((&head["cost"], &head["is_cost_derived"]), (&json!(0.5), &json!(false)), "{head}");
        let dear = place.get("/api/v1/traces?min_cost=0.00001&sort=-cost").await;
        let ids: Vec<&Json> = dear["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        assert_eq!(ids, [&json!("pieces"), &json!(TRACE)]);
    });
}

#[test]
fn scores_are_told_on_the_authors_scale_as_well() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("a", "worth 4", json!({})).await;
        place.finish("b", "worth 2", json!({})).await;
        place.settled("tone", 2).await;
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        for estimate in found["judges"][0]["criteria"].as_array().unwrap() {
            let native = &estimate["native"];
            assert_eq!(
                (&native["min"], &native["max"], &native["mean"]),
                (&json!(1.0), &json!(5.0), &json!(3.0)),
                "{estimate}"
            );
        }
    });
}

#[test]
fn an_export_of_traces_holds_their_contents_on_request() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.finish("a", "worth 4", json!({})).await;
        let lines = place.fetch("/api/v1/export?what=traces").await.text;
        assert!(!lines.contains("worth 4"), "{lines}");
        let lines = place.fetch("/api/v1/export?what=traces&contents=true").await.text;
        let line: Json = serde_json::from_str(lines.trim()).unwrap();
        assert_eq!(line["id"], "a");
        assert_eq!(line["trace"]["steps"][1]["text"], "worth 4", "{line}");
        for wrong in ["what=grades&contents=true", "what=traces&format=csv&contents=true"] {
            let refused = place.fetch(&format!("/api/v1/export?{wrong}")).await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.text);
            assert!(refused.text.contains("`contents`"), "{}", refused.text);
        }
    });
}

#[test]
fn a_small_budget_is_used_although_the_longest_reply_would_not_fit() {
    let judge = judge(honest);
    served_on_sqlite(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        // The longest reply has 4096 tokens, at 2 dollars per million: alone two thirds of it.
        let cap = 0.013;
        place.cap(cap).await;
        let mut n_sent = 0;
        let spent = loop {
            for at in n_sent..n_sent + 50 {
                place.finish(&format!("t{at}"), &format!("worth 4, {at}"), json!({})).await;
            }
            n_sent += 50;
            let states = place.settled("tone", n_sent).await;
            if states.contains_key("over_budget") {
                break place.get("/api/v1/spend").await["spent"].as_f64().unwrap();
            }
        };
        assert!(0.75 * cap < spent && spent <= cap, "{spent} of {cap}");
    });
}

#[test]
fn late_parts_a_failing_member_and_empty_traces_leave_the_figures_true() {
    // Both members say what the answer is worth; the strict one breaks on every third trace.
    let judge = judge(|seen| {
        let is_strict = seen.body["model"].as_str().unwrap_or_default().contains("nano");
        let breaks = is_strict && seen.prompt().contains("(every third)");
        if breaks { Act::Say("I would rather not say.".to_owned()) } else { honest(seen) }
    });
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        let judges = "judges: [openai/gpt-5-mini, openai/gpt-5-nano]\nsample_rate: 1.0";
        place.applied("tone", &monitor(judges)).await;
        let (n, n_empty) = (30_u64, 5_u64);
        let points = |at: u64| 1 + 2 * at % 5;
        let send = async |id: &str, pieces: Json| {
            let body = json!({ "id": id, "agent": "desk", "pieces": pieces });
            let sent = place.ask(Method::POST, "/api/v1/traces", &[], body).await;
            assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        };
        let end = json!({ "id": "end", "kind": "finish", "body": {} });
        let event = |id: &str, role: &str, text: String| json!({ "id": id, "kind": "event", "body": { "role": role, "content": text } });
        // One process sends the question and the end, and each trace is judged on that.
        for at in 0..n {
            let third = if at % 3 == 0 { " (every third)" } else { "" };
            send(&format!("t{at}"), json!([event("q", "user", format!("Question {at}{third}?")), end])).await;
        }
        for at in 0..n_empty {
            send(&format!("empty{at}"), json!([end])).await;
        }
        let states = place.settled("tone", n + n_empty).await;
        assert_eq!((states["nothing_to_judge"], states["judge_error"]), (n_empty, n / 3), "{states:?}");
        // Another one sends the answer later.
        for at in 0..n {
            let answer = event("a", "assistant", format!("worth {}", points(at)));
            send(&format!("t{at}"), json!([answer])).await;
        }
        let truth = (0..n).map(|at| (points(at) - 1) as f64 / 4.0).sum::<f64>() / n as f64;
        let panel = async || {
            let found = place.get("/api/v1/monitors/tone/estimates").await;
            let judges = found["judges"].as_array().unwrap().clone();
            let panel =
                judges.into_iter().find(|judge| judge["judge"].as_str().unwrap().contains('+')).unwrap();
            panel["criteria"][0]["score"].clone()
        };
        until(async || {
            let decisions = place.get("/api/v1/monitors/tone/decisions?state=stale").await;
            let score = panel().await;
            decisions["items"].as_array().unwrap().is_empty()
                && score["mean"].as_f64().is_some_and(|mean| (mean - truth).abs() < 1e-9)
        })
        .await;
        let states = place.settled("tone", n + n_empty).await;
        assert_eq!((states["scored"], states["judge_error"]), (n - n / 3, n / 3), "{states:?}");
        let score = panel().await;
        assert_eq!((&score["n"], &score["population"]), (&json!(n - n / 3), &json!(n as f64)), "{score}");
        assert!((score["error_rate"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9, "{score}");
        let (low, high) = (score["interval"][0].as_f64().unwrap(), score["interval"][1].as_f64().unwrap());
        assert!(low <= truth && truth <= high, "{truth} is not in {score}");
    });
}
