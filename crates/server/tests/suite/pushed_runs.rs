//! Runs that were graded elsewhere and are sent here; their changes and their history.

use jurist_server::ServerSettings;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::Act;
use crate::place::{Answer, Place, served};
use crate::runs::{KEY, judge, suite};

const RUBRIC: &str = "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr";

fn run_id(n: usize) -> String {
    format!("run_0190c4d27e1b7a3c9f50b8e6d1a2{n:04x}")
}

pub fn pushed_head() -> Json {
    json!({
        "format": 1, "suite": "shop", "started": "2026-03-01T00:00:00Z", "seed": 7, "rubrics": { RUBRIC: {} },
        "provenance": { "branch": "main", "commit": "ab".repeat(20), "author": "Ann", "tags": ["nightly"],
            "ci_url": "https://ci.example/1" },
    })
}

fn result(case: &str, score: Option<f64>, answer: &str) -> Json {
    let (status, outcome) = match score {
        Some(score) => {
            let status = if score < 0.7 { "fail" } else { "pass" };
            (status, json!({ "kind": "scored", "value": score, "unit": score }))
        }
        None => ("error", json!({ "kind": "failed", "failure": "timeout", "detail": "60 s" })),
    };
    json!({
        "case": case, "candidate": case, "rubric": RUBRIC, "spend": {},
        "verdict": { "status": status, "score": score, "counts": {} },
        "grades": [{
            "candidate": case, "criterion": "tone", "grader": { "kind": "judge", "name": "m1" }, "outcome": outcome,
            "reason": format!("because of {answer}"),
        }],
        "material": { "response": answer },
    })
}

impl Place {
    async fn put(&self, path: &str, body: Json) -> Answer {
        self.ask(Method::PUT, path, &[], body).await
    }

    /// Sends a run with these cases, and ends it.
    async fn push(&self, id: &str, head: Json, results: &[Json]) {
        let path = format!("/api/v1/runs/{id}");
        assert_eq!(self.put(&path, head).await.status, StatusCode::OK);
        for (nth, part) in results.chunks(300).enumerate() {
            let placed = part.iter().enumerate();
            let items: Vec<Json> =
                placed.map(|(at, result)| json!({ "place": nth * 300 + at, "result": result })).collect();
            let sent = self.put(&format!("{path}/results"), json!({ "items": items })).await;
            assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        }
        let end = json!({ "ended": "2026-03-01T00:01:00Z", "n_results": results.len() });
        let ended = self.ask(Method::POST, &format!("{path}/end"), &[], end).await;
        assert_eq!(ended.status, StatusCode::OK, "{}", ended.text);
    }
}

#[test]
fn a_run_is_sent_in_parts_and_each_part_may_be_repeated() {
    served(&ServerSettings::default(), |place| async move {
        let (id, head) = (run_id(1), pushed_head());
        let path = format!("/api/v1/runs/{id}");
        let begun = place.put(&path, head.clone()).await;
        assert_eq!(begun.json(), json!({ "id": id, "n_results": 0, "is_ended": false, "n_redacted": 0 }));
        assert_eq!(place.put(&path, head.clone()).await.status, StatusCode::OK, "again");
        let other = json!({ "format": 1, "suite": "other", "started": "2026-03-01T00:00:00Z", "seed": 7, "rubrics": {} });
        assert_eq!(place.put(&path, other).await.status, StatusCode::CONFLICT);

        let secret = "sk-abcdefghijklmnopqrstuvwx";
        let mut first = result("a", Some(1.0), "Hello");
        // A position that is not in the text.
        first["grades"][0]["evidence"] =
            json!([{ "quote": "Hello", "found": { "in": "response", "start": 900, "end": 9_000 } }]);
        let items = json!({ "items": [
            { "place": 0, "result": first },
            { "place": 1, "result": result("b", None, &format!("key {secret}")) },
        ] });
        let results = format!("{path}/results");
        let sent = place.put(&results, items.clone()).await.json();
        assert_eq!((&sent["n_results"], &sent["n_redacted"]), (&json!(2), &json!(1)));
        let again = place.put(&results, items).await.json();
        assert_eq!(again["n_results"], json!(2));
        // A verdict stays; an error gives its place to a verdict.
        let later = json!({ "items": [
            { "place": 0, "result": result("a", Some(0.1), "Bye") },
            { "place": 1, "result": result("b", Some(0.8), "fine") },
        ] });
        assert_eq!(place.put(&results, later).await.status, StatusCode::OK);

        let end = |n: usize| json!({ "ended": "2026-03-01T00:01:00Z", "n_results": n });
        let ended = format!("{path}/end");
        let early = place.ask(Method::POST, &ended, &[], end(3)).await;
        assert_eq!(early.status, StatusCode::CONFLICT);
        assert!(early.text.contains("2 of 3 results have arrived"), "{}", early.text);
        for _ in 0..2 {
            let done = place.ask(Method::POST, &ended, &[], end(2)).await;
            assert_eq!((done.status, &done.json()["is_ended"]), (StatusCode::OK, &json!(true)));
        }
        assert_eq!(place.put(&path, head).await.json()["is_ended"], json!(true), "begun again");
        let late = json!({ "items": [{ "place": 2, "result": result("c", Some(1.0), "x") }] });
        assert_eq!(place.put(&results, late).await.status, StatusCode::CONFLICT);

        let shown = place.get(&path).await;
        assert_eq!(
            (&shown["n_pass"], &shown["n_fail"], &shown["n_error"]),
            (&json!(2), &json!(0), &json!(0))
        );
        assert_eq!(shown["provenance"], pushed_head()["provenance"]);
        let stored = place.get(&results).await.to_string();
        assert!(!stored.contains(secret) && stored.contains("Hello"), "{stored}");
        let result = place.get(&format!("{results}?limit=1")).await;
        let found = &result["items"][0]["result"]["grades"][0]["evidence"][0]["found"];
        assert_eq!(*found, json!({ "in": "response", "start": 0, "end": 5 }));
        let report = place.ask(Method::GET, &format!("{path}/report?format=html"), &[], Json::Null).await;
        assert_eq!(report.status, StatusCode::OK);
        let listed =
            place.get("/api/v1/runs?branch=main&commit=abab&author=Ann&tag=nightly&suite=shop").await;
        assert_eq!(listed["items"][0]["id"], json!(id));
        let found = place.get("/api/v1/runs?search=NIGHT%20ann&from=2001-01-01T00:00:00Z").await;
        assert_eq!(found["items"][0]["id"], json!(id));
        for query in ["branch=work", "search=night%20work", "until=2001-01-01T00:00:00Z"] {
            let none = place.get(&format!("/api/v1/runs?{query}")).await;
            assert_eq!(none["items"], json!([]), "{query}");
        }
        let long = format!("/api/v1/runs?search={}", "a".repeat(201));
        let refused = place.ask(Method::GET, &long, &[], Json::Null).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        let audit = place.get("/api/v1/audit").await.to_string();
        assert!(audit.contains("run.push"), "{audit}");
    });
}

#[test]
fn what_no_grader_writes_is_refused_with_the_reason() {
    served(&ServerSettings::default(), |place| async move {
        let path = format!("/api/v1/runs/{}", run_id(2));
        let refused = async |change: Json, said: &str| {
            let mut head = pushed_head();
            head.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            let answer = place.put(&path, head).await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.text);
            assert!(answer.text.contains(said), "{}", answer.text);
        };
        refused(json!({ "format": 99 }), "same version of Jurist").await;
        refused(json!({ "started": "2099-01-01T00:00:00Z" }), "in the future").await;
        refused(json!({ "rubrics": { "r": 1 } }), "an object for each version").await;
        refused(json!({ "suite": "x".repeat(2_001) }), "`suite` has 1 to 2000 letters").await;
        let future = place.put("/api/v1/runs/run_ffffffffffff7a3c9f50b8e6d1a24c7e", pushed_head()).await;
        assert!(future.text.contains("in the future"), "{}", future.text);
        let hostile = json!({ "branch": "\u{1b}[31mm\u{202e}ain", "commit": "$(evil)", "ci_url": "javascript:alert(1)" });
        let mut head = pushed_head();
        head["provenance"] = hostile;
        assert_eq!(place.put(&path, head).await.status, StatusCode::OK);
        assert_eq!(place.get(&path).await["provenance"], json!({ "branch": "[31mmain" }));

        let results = format!("{path}/results");
        let refused = async |place_in_plan: usize, result: Json, said: &str| {
            let items = json!({ "items": [{ "place": place_in_plan, "result": result }] });
            let answer = place.put(&results, items).await;
            assert!(answer.status.is_client_error(), "{}", answer.text);
            assert!(answer.text.contains(said), "{}", answer.text);
        };
        let mut other = result("a", Some(1.0), "x");
        other["rubric"] = json!("another");
        refused(0, other, "result 0 (`a`): `rubric` is none of the run's `rubrics`").await;
        refused(0, result("a", Some(1.5), "x"), "`score` is from 0 to 1").await;
        let mut scored = result("a", None, "x");
        scored["verdict"]["score"] = json!(1.0);
        refused(0, scored, "a result without a verdict has no score").await;
        refused(1_000_000, result("a", Some(1.0), "x"), "up to a million results").await;
        let mut long = result("a", Some(1.0), "x");
        long["parts"] = json!({ "written": "a", "variant": ["m".repeat(2_001)] });
        refused(0, long, "a name in `base` or `parts` is too long").await;
        refused(0, json!({ "case": "a" }), "missing field").await;
        let many: Vec<Json> =
            (0..501).map(|at| json!({ "place": at, "result": result("a", Some(1.0), "x") })).collect();
        let answer = place.put(&results, json!({ "items": many })).await;
        assert!(answer.text.contains("up to 500 results"), "{}", answer.text);
        assert_eq!(place.get(&path).await["n_results"], json!(0), "nothing was stored");
    });
}

#[test]
fn a_run_of_the_workers_takes_no_results_from_elsewhere() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        let mut asked = suite(1);
        asked["provenance"] = json!({ "branch": "main", "tags": ["from here"] });
        let id = place.submit(asked).await;
        let path = format!("/api/v1/runs/{id}");
        assert_eq!(place.get(&path).await["provenance"], json!({ "branch": "main", "tags": ["from here"] }));
        let items = json!({ "items": [] });
        assert_eq!(place.put(&format!("{path}/results"), items).await.status, StatusCode::CONFLICT);
        let end = json!({ "ended": "2026-03-01T00:01:00Z", "n_results": 0 });
        let ended = place.ask(Method::POST, &format!("{path}/end"), &[], end).await;
        assert_eq!(ended.status, StatusCode::CONFLICT);
        assert!(place.get(&path).await["ended"].is_null());
    });
}

/// So many cases; those whose number the function accepts fail.
fn cases(n: usize, answer: &str, fails: impl Fn(usize) -> bool) -> Vec<Json> {
    (0..n)
        .map(|at| {
            result(&format!("case {at}"), Some(if fails(at) { 0.2 } else { 0.9 }), &format!("{answer} {at}"))
        })
        .collect()
}

#[test]
fn changes_of_two_runs_are_listed_page_by_page() {
    served(&ServerSettings::default(), |place| async move {
        let (old, new) = (run_id(3), run_id(4));
        place.push(&old, pushed_head(), &cases(250, "It is Paris", |at| at == 7)).await;
        place.push(&new, pushed_head(), &cases(250, "It is Lyon", |at| at < 3)).await;
        let ask =
            async |query: &str| place.get(&format!("/api/v1/runs/{new}/changes?baseline={old}{query}")).await;
        let worse = ask("&filter=worse&limit=2").await;
        let expected = json!({
            "verdict": 4, "worse": 3, "better": 1, "different_answer": 246, "undecided": 0, "all": 250
        });
        assert_eq!(worse["counts"], expected);
        assert_eq!((&worse["n_found"], &worse["next"]), (&json!(3), &json!(2)));
        let first = &worse["items"][0];
        assert_eq!((&first["case"], &first["direction"]), (&json!("case 0"), &json!("worse")));
        assert_eq!(
            first["answer_diff"],
            json!([
                { "change": "same", "text": "It is " }, { "change": "removed", "text": "Paris" },
                { "change": "added", "text": "Lyon" }, { "change": "same", "text": " 0" },
            ])
        );
        assert_eq!(first["criteria"][0]["before"][0]["reason"], json!("because of It is Paris 0"));
        assert_eq!(first["criteria"][0]["after"][0]["reason"], json!("because of It is Lyon 0"));
        let rest = ask("&filter=worse&limit=2&after=2").await;
        assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &Json::Null));
        let better = ask("&filter=better").await;
        assert_eq!(better["items"][0]["case"], json!("case 7"));
        let found = ask("&filter=different-answer&find=CASE%2024").await;
        assert_eq!(found["n_found"], json!(11), "case 24 and case 240 to 249");
        let mut seen = 0;
        let mut after = json!(0);
        while after.is_number() {
            let page = ask(&format!("&filter=all&limit=200&after={after}")).await;
            seen += page["items"].as_array().unwrap().len();
            after = page["next"].clone();
        }
        assert_eq!(seen, 250);
        let bad = format!("/api/v1/runs/{new}/changes?baseline={old}&filter=strange");
        let bad = place.ask(Method::GET, &bad, &[], Json::Null).await;
        assert!(bad.text.contains("`filter` is one of verdict, worse"), "{}", bad.text);
    });
}

#[test]
fn the_history_of_a_suite_marks_where_it_changed() {
    served(&ServerSettings::default(), |place| async move {
        assert_eq!(place.get("/api/v1/run-history").await["suite"], Json::Null);
        let head = |suite: &str, branch: &str| {
            let mut head = pushed_head();
            head["suite"] = json!(suite);
            head["provenance"]["branch"] = json!(branch);
            head
        };
        let good = |at: usize| at.is_multiple_of(20);
        let bad = |at: usize| at.is_multiple_of(2);
        place.push(&run_id(10), head("shop", "main"), &cases(60, "a", good)).await;
        place.push(&run_id(11), head("shop", "main"), &cases(60, "b", |at| at % 20 == 1)).await;
        place.push(&run_id(12), head("shop", "work"), &cases(60, "c", bad)).await;
        place.push(&run_id(13), head("shop", "main"), &cases(60, "d", good)).await;
        place.push(&run_id(14), head("desk", "main"), &cases(3, "e", good)).await;
        // One that has not ended has no place in the history.
        place.put(&format!("/api/v1/runs/{}", run_id(15)), head("shop", "main")).await;
        for _ in 0..2 {
            let all = place.get("/api/v1/run-history?suite=shop").await;
            assert_eq!(all["suites"], json!(["shop", "desk"]));
            assert_eq!(all["branches"], json!(["main", "work"]));
            let points = all["points"].as_array().unwrap().iter();
            let directions: Vec<&str> =
                points.map(|point| point["change"]["direction"].as_str().unwrap_or("first")).collect();
            assert_eq!(directions, ["first", "not_shown", "worse", "better"], "{all}");
            let point = &all["points"][2];
            assert_eq!(
                (&point["id"], &point["pass_rate"], &point["n_cases"]),
                (&json!(run_id(12)), &json!(0.5), &json!(60))
            );
            assert_eq!(point["change"]["baseline"], json!(run_id(11)));
            let (low, high) = (&point["pass_rate_interval"][0], &point["pass_rate_interval"][1]);
            assert!(low.as_f64().unwrap() < 0.5 && 0.5 < high.as_f64().unwrap());
            assert!(point["score_interval"].is_array());
        }
        // The figures are those of the comparison.
        let compared = format!("/api/v1/runs/{}/comparison?before={}", run_id(12), run_id(11));
        let compared = place.get(&compared).await;
        let all = place.get("/api/v1/run-history?suite=shop").await;
        for key in ["score", "pass_rate"] {
            assert_eq!(all["points"][2]["change"][key], compared["comparisons"][0][key]);
        }
        let main = place.get("/api/v1/run-history?suite=shop&branch=main").await;
        assert_eq!(main["points"].as_array().unwrap().len(), 3);
        assert_eq!(main["points"][2]["change"]["direction"], "not_shown");
        let newest = place.get("/api/v1/run-history?limit=1").await;
        assert_eq!((&newest["suite"], newest["points"].as_array().unwrap().len()), (&json!("shop"), 1));
    });
}

#[test]
fn lists_of_runs_have_the_scale_that_all_rubrics_share() {
    served(&ServerSettings::default(), |place| async move {
        let criterion = |name: &str, max: u8| {
            json!({ "name": name, "description": "How friendly is it?",
                "scale": { "likert": { "min": 1, "max": max } } })
        };
        let head = |rubrics: Json| {
            let mut head = pushed_head();
            head["rubrics"] = rubrics;
            head
        };
        let tone = || json!({ "criteria": [criterion("tone", 5), criterion("help", 5)] });
        let other = json!({ "criteria": [criterion("tone", 7)] });
        let one = head(json!({ RUBRIC: tone() }));
        let two = head(json!({ RUBRIC: tone(), "s".repeat(64): other }));
        place.push(&run_id(30), one.clone(), &cases(2, "a", |_| true)).await;
        place.push(&run_id(31), one, &cases(2, "a", |_| false)).await;
        place.push(&run_id(32), two, &cases(2, "b", |_| false)).await;
        let five = json!({ "min": 1.0, "max": 5.0 });
        let list = place.get("/api/v1/runs").await;
        assert_eq!((&list["items"][0]["scale"], &list["items"][1]["scale"]), (&Json::Null, &five), "{list}");
        let history = place.get("/api/v1/run-history?suite=shop").await;
        assert_eq!((&history["points"][1]["scale"], &history["points"][2]["scale"]), (&five, &Json::Null));
        let change = |at: usize| &history["points"][at]["change"];
        assert_eq!((&change(1)["scale"], &change(2)["scale"]), (&five, &Json::Null), "{history}");
        let sentence = change(1)["score"]["sentence"].as_str().unwrap();
        assert!(sentence.contains(" on 1–5 ("), "{sentence}");
        assert_eq!(place.get(&format!("/api/v1/runs/{}", run_id(31))).await["scale"], five);
    });
}

#[test]
fn answers_are_listed_in_short_and_labels_of_people_are_kept_beside_verdicts() {
    served(&ServerSettings::default(), |place| async move {
        let (id, long) = (run_id(77), "é".repeat(1_001));
        let mut silent = result("silent", None, "");
        silent["material"] = json!({});
        let results = [result("a", Some(1.0), "Hello!"), result("b", Some(0.1), &long), silent];
        place.push(&id, pushed_head(), &results).await;
        let path = format!("/api/v1/runs/{id}");
        let page = place.get(&format!("{path}/answers?limit=2")).await;
        let hello = &page["items"][0];
        assert_eq!(
            (&hello["place"], &hello["answer"], &hello["is_cut"]),
            (&json!(0), &json!("Hello!"), &json!(false))
        );
        let cut = page["items"][1]["answer"].as_str().unwrap();
        assert_eq!((cut.chars().count(), &page["items"][1]["is_cut"]), (1_000, &json!(true)));
        assert_eq!(page["next"], 1);
        let rest = place.get(&format!("{path}/answers?limit=2&after=1")).await;
        let silent = json!({ "place": 2, "answer": null, "is_cut": false, "answer_hash": null });
        assert_eq!(rest["items"], json!([silent]));

        let labels = format!("{path}/labels");
        let comment = format!(" It is right: export API_TOKEN={KEY} ");
        let label = json!({ "place": 1, "is_passed": true, "comment": comment });
        assert_eq!(place.put(&labels, label).await.status, StatusCode::OK);
        let told = place.get(&labels).await["items"][0].clone();
        assert_eq!(
            (&told["case"], &told["is_passed"], &told["is_own"]),
            (&json!("b"), &json!(true), &json!(true))
        );
        let comment = told["comment"].as_str().unwrap();
        assert!(comment.starts_with("It is right: ") && !comment.contains(KEY), "{comment}");
        let failed = json!({ "place": 1, "is_passed": false });
        assert_eq!(place.put(&labels, failed).await.status, StatusCode::OK);
        let told = place.get(&labels).await;
        assert_eq!(told["items"].as_array().unwrap().len(), 1, "one of each person");
        let label = &told["items"][0];
        assert_eq!((&label["is_passed"], &label["comment"]), (&json!(false), &json!("")));
        let head = place.get(&path).await;
        assert_eq!((&head["n_pass"], &head["n_fail"]), (&json!(1), &json!(1)), "verdicts stay as they are");

        let absent = place.put(&labels, json!({ "place": 9, "is_passed": true })).await;
        assert_eq!(absent.status, StatusCode::CONFLICT, "{}", absent.text);
        let essay = json!({ "place": 1, "is_passed": true, "comment": "x".repeat(2_001) });
        assert_eq!(place.put(&labels, essay).await.status, StatusCode::BAD_REQUEST);
        let nowhere = format!("/api/v1/runs/{}/labels", run_id(78));
        let unknown = place.put(&nowhere, json!({ "place": 0, "is_passed": true })).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
        assert_eq!(place.put(&labels, json!({ "place": 1 })).await.status, StatusCode::OK);
        assert_eq!(place.get(&labels).await["items"], json!([]), "taken back");

        // Answers are compared as a whole, whatever their verdicts: these differ after what a cell shows.
        let (id, mut longer) = (run_id(79), long.clone());
        longer.push('!');
        let results = [("a", Some(1.0), &long), ("b", Some(0.1), &long), ("c", Some(1.0), &longer)]
            .map(|(case, score, answer)| result(case, score, answer));
        place.push(&id, pushed_head(), &results).await;
        let page = place.get(&format!("/api/v1/runs/{id}/answers")).await;
        let [same, other_verdict, other_answer] = [0, 1, 2].map(|at| &page["items"][at]);
        assert_eq!(same["answer"], other_answer["answer"]);
        assert_eq!(same["answer_hash"], other_verdict["answer_hash"]);
        assert_ne!(same["answer_hash"], other_answer["answer_hash"]);

        // Its files are elsewhere.
        let again = place.ask(Method::POST, &format!("{path}/rerun"), &[], json!({ "cases": ["a"] })).await;
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(again.text.contains("graded elsewhere"), "{}", again.text);
    });
}
