//! What runs say beside each other, in rows and columns, and from trial to trial.

use jurist_core::run::{CaseResult, Run, RunId};
use jurist_server::ServerSettings;
use jurist_store::runs::NewRunResult;
use jurist_store::{clock, random};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Place, served, with_accounts};

/// A result with a score on each of two criteria; without one, its judge broke.
fn result(case: &str, scores: Option<(f64, f64)>, more: &Json) -> CaseResult {
    let grade = |criterion: &str, outcome: Json| {
        json!({
            "candidate": case, "criterion": criterion, "grader": { "kind": "judge", "name": "m1" },
            "outcome": outcome, "reason": format!("{criterion} of {case}"),
        })
    };
    let (status, score, outcomes) = match scores {
        Some((right, kind)) => {
            let mean = f64::midpoint(right, kind);
            let scored = |value: f64| json!({ "kind": "scored", "value": value, "unit": value });
            (if mean < 0.7 { "fail" } else { "pass" }, Some(mean), [scored(right), scored(kind)])
        }
        None => {
            let broken = json!({ "kind": "failed", "failure": "timeout", "detail": "60 s" });
            ("error", None, [broken.clone(), broken])
        }
    };
    let [right, kind] = outcomes;
    let mut body = json!({
        "case": case, "candidate": case, "rubric": "r".repeat(64), "spend": {},
        "verdict": { "status": status, "score": score, "counts": jurist_core::grade::Counts::default() },
        "grades": [grade("right", right), grade("kind", kind)],
    });
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    serde_json::from_value(body).unwrap()
}

impl Place {
    /// Keeps a run that has ended.
    async fn ran(&self, results: &[CaseResult]) -> String {
        let now = clock::current_time();
        let id = RunId::new(now, random());
        let run: Run = serde_json::from_value(json!({
            "format": jurist_core::grade::FORMAT, "id": id, "suite": "greetings", "seed": 7, "started": now,
            "rubrics": {}, "spend": {}, "results": [],
        }))
        .unwrap();
        let (store, project) = (&self.app.store, self.app.default_project);
        store.begin_run(project, &run).await.unwrap();
        let graded: Vec<NewRunResult<'_>> = results
            .iter()
            .enumerate()
            .map(|(place, result)| NewRunResult { place, result, exchanges: &[] })
            .collect();
        store.put_results(project, id, &graded, now).await.unwrap();
        store.end_run(project, id, now).await.unwrap();
        id.to_string()
    }
}

#[test]
fn runs_are_compared_case_by_case_with_pictures() {
    served(&ServerSettings::default(), |place| async move {
        let all = |worse: f64| -> Vec<CaseResult> {
            (0..30)
                .map(|at| {
                    let off = 0.01 * f64::from(at % 5);
                    result(&format!("case {at}"), Some((0.9 - worse - off, 0.8 + off)), &Json::Null)
                })
                .collect()
        };
        let mut first = all(0.0);
        first.push(result("only <b>before</b>", Some((1.0, 1.0)), &Json::Null));
        first.push(result("shaky", None, &Json::Null));
        let (first, middle) = (place.ran(&first).await, place.ran(&all(0.05)).await);
        let mut last = all(0.4);
        last.push(result("shaky", Some((1.0, 1.0)), &Json::Null));
        let last = place.ran(&last).await;

        let path = format!("/api/v1/runs/{last}/comparison?before={first}&before={middle}");
        let found = place.get(&path).await;
        assert_eq!(found["after"], json!(last));
        assert_eq!(found["comparisons"].as_array().unwrap().len(), 2);
        let told = &found["comparisons"][0];
        assert_eq!((&told["before"], &told["n_cases"]), (&json!(first), &json!(30)));
        assert_eq!(told["only_before"], json!(["only <b>before</b>"]));
        assert_eq!(told["undecided"], json!(["shaky"]));
        let score = &told["score"];
        assert!((score["difference"].as_f64().unwrap() + 0.2).abs() < 1e-9, "{score}");
        assert_eq!(score["is_shown"], json!(true));
        assert!(score["sentence"].as_str().unwrap().starts_with("The score fell by 0.200"), "{score}");
        assert_eq!(told["criteria"]["kind"]["difference"], json!(0.0));
        assert_eq!(told["criteria"]["kind"]["is_shown"], json!(false));
        let changed = &told["changed"][0];
        assert_eq!((&changed["before"], &changed["after"]), (&json!("pass"), &json!("fail")));
        assert!(changed["reasons"][0].as_str().unwrap().contains("right of case"), "{changed}");
        let rows = told["forest"]["table"]["rows"].as_array().unwrap();
        assert_eq!(rows.last().unwrap()[0], "score");
        assert!(rows.iter().any(|row| row[0] == "kind"), "{rows:?}");
        let radar = &found["radar"];
        assert!(radar["svg"].as_str().unwrap().starts_with("<svg"), "{radar}");
        assert_eq!(radar["table"]["rows"].as_array().unwrap().len(), 6, "two criteria of three runs");

        let missing = format!("/api/v1/runs/{last}/comparison");
        assert_eq!(place.fetch(&missing).await.status, StatusCode::BAD_REQUEST);
        let nobody = format!("{missing}?before=run_00000000000000000000000000000000");
        assert_eq!(place.fetch(&nobody).await.status, StatusCode::NOT_FOUND);
    });
}

#[test]
fn compared_names_come_with_their_parts() {
    served(&ServerSettings::default(), |place| async move {
        let order = |row: u32, trial: u32, score: f64| {
            let base = format!("order [status] [row {row}] [small]");
            let parts = json!({ "written": "order [status]", "row": row, "variant": ["small"] });
            let more = json!({ "base": base, "trial": trial, "parts": parts });
            result(&format!("{base} [trial {trial} of 2]"), Some((score, score)), &more)
        };
        // This one is written in the suite as it is.
        let note = |score: f64| result("note [row 1]", Some((score, score)), &Json::Null);
        let before = [order(1, 1, 0.9), order(1, 2, 0.9), order(2, 1, 0.9), note(0.9)];
        let (before, after) =
            (place.ran(&before).await, place.ran(&[order(1, 1, 0.1), order(1, 2, 0.9), note(0.1)]).await);
        let found = place.get(&format!("/api/v1/runs/{after}/comparison?before={before}")).await;
        let compared = &found["comparisons"][0];
        assert_eq!(compared["only_before"], json!(["order [status] [row 2] [small]"]));
        assert_eq!(compared["changed"].as_array().unwrap().len(), 2, "{compared}");
        let parts = |row: u32, trial: Option<u32>| json!({ "written": "order [status]", "row": row, "variant": ["small"], "trial": trial });
        let expected = json!({
            "order [status] [row 1] [small] [trial 1 of 2]": parts(1, Some(1)),
            "order [status] [row 2] [small]": parts(2, None),
        });
        assert_eq!(compared["names"], expected);
        let changes = place.get(&format!("/api/v1/runs/{after}/changes?baseline={before}")).await;
        let parts_of = |case: &str| {
            let mut items = changes["items"].as_array().unwrap().iter();
            items.find(|item| item["case"] == case).unwrap()["parts"].clone()
        };
        assert_eq!(parts_of("order [status] [row 1] [small] [trial 1 of 2]"), parts(1, Some(1)));
        assert_eq!(parts_of("note [row 1]"), Json::Null);
    });
}

#[test]
fn a_run_stands_in_rows_and_columns() {
    served(&ServerSettings::default(), |place| async move {
        let cell = |at: usize| {
            let (model, prompt) = (["small", "large"][at % 2], at / 2 % 2 + 1);
            let score = if model == "large" { 0.9 } else { 0.4 };
            let more = json!({ "metadata": { "model": model, "prompt": prompt, "order_type": format!("t{}", at % 3) } });
            let scores = if at == 11 { None } else { Some((score, score)) };
            result(&format!("case {at}"), scores, &more)
        };
        let run = place.ran(&(0..12).map(cell).collect::<Vec<_>>()).await;
        let found = place.get(&format!("/api/v1/runs/{run}/matrix")).await;
        assert_eq!((&found["rows_by"], &found["columns_by"]), (&json!("model"), &json!("prompt")));
        assert_eq!((&found["rows"], &found["columns"]), (&json!(["small", "large"]), &json!(["1", "2"])));
        let names = |at: usize| (&found["keys"][at]["key"], &found["keys"][at]["label"]);
        assert_eq!(names(0), (&json!("model"), &json!("model")));
        assert_eq!(names(2), (&json!("order_type"), &json!("order type")));
        let large = &found["cells"][1];
        assert_eq!((&large[0]["n"], &large[0]["passed"]), (&json!(3), &json!(3)));
        // What broke is counted, and is no failure.
        assert_eq!((&large[1]["n"], &large[1]["decided"]), (&json!(3), &json!(2)));
        assert!((large[1]["score"].as_f64().unwrap() - 0.9).abs() < 1e-9, "{large}");
        assert_eq!(found["cells"][0][0]["pass_rate"], json!(0.0));
        let other = place.get(&format!("/api/v1/runs/{run}/matrix?rows=order_type&columns=model")).await;
        assert_eq!(
            (&other["rows"], &other["columns"]),
            (&json!(["t0", "t1", "t2"]), &json!(["small", "large"]))
        );
    });
}

#[test]
fn cases_that_change_from_trial_to_trial_are_told_the_worst_first() {
    served(&ServerSettings::default(), |place| async move {
        let mut results = Vec::new();
        for (case, passes) in [("steady", 4), ("shaky", 2), ("rare", 1)] {
            for trial in 1..=4 {
                let score = if trial <= passes { 0.9 } else { 0.3 };
                let name = format!("{case} [trial {trial} of 4]");
                results.push(result(&name, Some((score, score)), &json!({ "trial": trial })));
            }
        }
        let run = place.ran(&results).await;
        let found = place.get(&format!("/api/v1/runs/{run}/flaky")).await;
        assert_eq!((&found["n_cases"], &found["k"], &found["any"]), (&json!(3), &json!(4), &json!(1.0)));
        let cases: Vec<&str> =
            found["cases"].as_array().unwrap().iter().map(|item| item["case"].as_str().unwrap()).collect();
        assert_eq!(cases, ["shaky", "rare"]);
        let shaky = &found["cases"][0];
        assert_eq!((&shaky["n"], &shaky["passed"]), (&json!(4), &json!(2)));
        assert_eq!(shaky["scores"], json!([0.9, 0.9, 0.3, 0.3]));
        let both = shaky["pass_k"][1].as_f64().unwrap();
        assert!((both - 1.0 / 6.0).abs() < 1e-9, "two of four taken twice: {shaky}");
        // Trials of one case are one case: 0.9, 0.6 and 0.45.
        let means = place.get(&format!("/api/v1/runs/{run}/criteria")).await;
        let right = &means["criteria"][0];
        assert_eq!((&right["criterion"], &right["n_cases"]), (&json!("right"), &json!(3)), "{means}");
        assert!((right["mean"].as_f64().unwrap() - 0.65).abs() < 1e-9, "{means}");
        let (low, high) = (right["interval"][0].as_f64().unwrap(), right["interval"][1].as_f64().unwrap());
        assert!((0.0..0.65).contains(&low) && 0.65 < high && high <= 1.0, "{means}");
        let once = place.ran(&[result("once", Some((1.0, 1.0)), &Json::Null)]).await;
        let found = place.get(&format!("/api/v1/runs/{once}/flaky")).await;
        assert_eq!((&found["k"], &found["cases"]), (&json!(0), &json!([])));
    });
}

#[test]
fn another_projects_runs_are_not_compared() {
    served(&with_accounts(), |place| async move {
        let owner = place.owner().await;
        let run = place.ran(&[result("a", Some((1.0, 1.0)), &Json::Null)]).await;
        let cookie = [("cookie", owner.as_str())];
        let body = json!({ "name": "elsewhere" });
        let made = place.ask(Method::POST, "/api/v1/projects", &cookie, body).await;
        assert_eq!(made.status, StatusCode::OK, "{}", made.text);
        for path in ["comparison?before=", "matrix?x=", "flaky?x="] {
            let path = format!("/api/v1/runs/{run}/{path}{run}");
            let there = [cookie[0], ("jurist-project", "elsewhere")];
            assert_eq!(
                place.ask(Method::GET, &path, &cookie, Json::Null).await.status,
                StatusCode::OK,
                "{path}"
            );
            let answer = place.ask(Method::GET, &path, &there, Json::Null).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        }
    });
}
