//! Datasets over the API: where cases come from, what is refused, differences, exports and erasure.

use std::collections::BTreeMap;

use jurist_core::candidate::{StepRole, Trace, TraceStep};
use jurist_core::grade::{Counts, Time, Verdict, VerdictStatus};
use jurist_core::plan::{CaseSelection, plan_suite};
use jurist_engine::bundle::Bundle;
use jurist_server::ServerSettings;
use jurist_store::grades::NewVerdict;
use jurist_store::traces::FinishedTrace;
use jurist_store::{Probability, TraceId, clock};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::Act;
use crate::place::{Answer, Place, hasty, served, served_by_one_thread, served_on_sqlite, with_accounts};
use crate::runs::judge;

const RUBRIC: &str = "criteria: [{name: greets, description: It greets.}]";

const TASK: &str = "
annotation_task_name: Opening hours
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
annotation_schemes:
  - {annotation_type: radio, name: grounded, description: Is it in the documents?, labels: [yes, no], required: true}
";

impl Place {
    async fn post(&self, path: &str, body: Json) -> Answer {
        self.ask(Method::POST, &format!("/api/v1{path}"), &[], body).await
    }

    async fn dataset(&self, name: &str) {
        let made = self.post("/datasets", json!({ "name": name, "test_share": 0.5 })).await;
        assert_eq!(made.status, StatusCode::OK, "{}", made.text);
    }

    /// Writes a version and returns the receipt.
    async fn write(&self, name: &str, version: Json) -> Json {
        let written = self.post(&format!("/datasets/{name}/versions"), version).await;
        assert_eq!(written.status, StatusCode::OK, "{}", written.text);
        written.json()
    }

    /// The status and the message of a version that is refused.
    async fn refused(&self, name: &str, version: Json) -> (StatusCode, String) {
        let refused = self.post(&format!("/datasets/{name}/versions"), version).await;
        (refused.status, refused.text)
    }
}

fn record(id: &str, output: &str) -> Json {
    json!({ "id": id, "input": format!("question {id}"), "output": output })
}

fn keys(page: &Json) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["key"].as_str().unwrap()).collect()
}

#[test]
fn records_make_versions_that_are_read_compared_and_exported() {
    served(&ServerSettings::default(), |place| async move {
        place.dataset("support").await;
        let empty = place.get("/api/v1/datasets/support").await;
        assert_eq!((&empty["newest"], &empty["test_share"]), (&Json::Null, &json!(0.5)));
        assert_eq!(place.fetch("/api/v1/datasets/support/cases").await.status, StatusCode::NOT_FOUND);

        let secret = format!("sk-ant-{}", "aB3dE5gH7jK9mN1pQ3".repeat(3));
        let records = json!([record("a", "x"), record("b", "x"), { "input": "no id", "output": secret }]);
        let first = place.write("support", json!({ "base": 0, "note": "first", "records": records })).await;
        assert_eq!(
            (&first["version"], &first["n_added"], &first["n_cases"]),
            (&json!(1), &json!(3), &json!(3))
        );
        // The same request again changes nothing.
        let same = place.write("support", json!({ "records": [record("a", "x")] })).await;
        assert_eq!(
            (&same["version"], &same["is_new"], &same["n_unchanged"]),
            (&json!(1), &json!(false), &json!(1))
        );
        let second = json!({ "records": [record("a", "y"), record("c", "x")], "remove": ["b"] });
        let second = place.write("support", second).await;
        let counts = [&second["n_added"], &second["n_changed"], &second["n_removed"], &second["n_cases"]];
        assert_eq!(counts, [1, 1, 1, 3].map(Json::from).each_ref());

        let page = place.get("/api/v1/datasets/support/cases?version=1&limit=2").await;
        assert_eq!((keys(&page), &page["n_cases"]), (vec!["a", "b"], &json!(3)));
        let next = page["next"].as_str().unwrap();
        let rest = place.get(&format!("/api/v1/datasets/support/cases?version=1&after={next}")).await;
        assert_eq!((keys(&rest).len(), &rest["next"]), (1, &Json::Null));
        let hashed = keys(&rest)[0].to_owned();
        let found = place.get(&format!("/api/v1/datasets/support/cases/{hashed}")).await;
        assert_eq!(found["record"]["output"], "[redacted]");
        let found = place.get("/api/v1/datasets/support/cases?search=QUESTION%20c").await;
        assert_eq!(keys(&found), ["c"]);
        let [dev, test] =
            ["dev", "test"].map(|split| format!("/api/v1/datasets/support/cases?split={split}"));
        let (dev, test) = (place.get(&dev).await, place.get(&test).await);
        assert_eq!(keys(&dev).len() + keys(&test).len(), 3);
        assert_eq!(
            place.fetch("/api/v1/datasets/support/cases?split=x").await.status,
            StatusCode::BAD_REQUEST
        );
        assert_eq!(
            place.fetch("/api/v1/datasets/support/cases?version=9").await.status,
            StatusCode::NOT_FOUND
        );

        let diff = place.get("/api/v1/datasets/support/diff").await;
        assert_eq!((&diff["from"], &diff["to"]), (&json!(1), &json!(2)));
        assert_eq!(keys(&diff), ["a", "b", "c"]);
        let kinds: Vec<&Json> = diff["items"].as_array().unwrap().iter().map(|item| &item["kind"]).collect();
        assert_eq!(kinds, ["changed", "removed", "added"]);
        assert_eq!(diff["items"][0]["fields"], json!(["output"]));
        let back = place.get("/api/v1/datasets/support/diff?from=2&to=1").await;
        assert_eq!((&back["n_added"], &back["n_removed"]), (&json!(1), &json!(1)));

        let lines = place.fetch("/api/v1/datasets/support/export?version=1").await;
        assert_eq!(lines.headers["content-type"], "application/x-ndjson");
        assert_eq!(lines.headers["content-disposition"], "attachment; filename=\"support-v1.jsonl\"");
        assert_eq!(lines.text.lines().count(), 3);
        assert!(!lines.text.contains("sk-ant"), "{}", lines.text);
        // What was exported is unchanged when it is added again.
        let records: Vec<Json> = lines.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        place.dataset("copy").await;
        place.write("copy", json!({ "records": records })).await;
        let again = place.write("copy", json!({ "records": records })).await;
        assert_eq!((&again["is_new"], &again["n_unchanged"]), (&json!(false), &json!(3)));
        let versions = place.get("/api/v1/datasets/support/versions").await;
        assert_eq!(
            (&versions["items"][0]["number"], &versions["items"][1]["note"]),
            (&json!(2), &json!("first"))
        );
    });
}

#[cfg(feature = "parquet")]
#[test]
fn a_version_is_exported_as_a_table() {
    served_on_sqlite(&ServerSettings::default(), |place| async move {
        place.dataset("support").await;
        let records =
            json!([record("a", "x"), { "id": "b", "input": "q", "output": "y", "metadata": { "n": 1 } }]);
        place.write("support", json!({ "records": records })).await;
        // Numbers stay what they are, however long.
        place.dataset("numbers").await;
        let long: u64 = 9_007_199_254_740_993;
        let records = json!([{ "id": long, "task": 7, "input": "q" }, { "id": 2, "task": 8, "input": "q" }]);
        place.write("numbers", json!({ "records": &records })).await;
        let url = format!("{}/api/v1/datasets/numbers/export?format=parquet", place.url);
        let table = reqwest::get(url).await.unwrap().bytes().await.unwrap().to_vec();
        let rows = jurist_server::parquet::read_parquet_rows(table, 10).unwrap();
        assert_eq!(json!(rows), records);
        let again = place.write("numbers", json!({ "records": rows })).await;
        assert_eq!((&again["is_new"], &again["n_cases"]), (&json!(false), &json!(2)));
        let cases = place.get("/api/v1/datasets/numbers/cases").await;
        let tasks: Vec<&Json> = cases["items"].as_array().unwrap().iter().map(|case| &case["task"]).collect();
        assert_eq!(tasks, ["7", "8"]);

        let url = format!("{}/api/v1/datasets/support/export?format=parquet", place.url);
        let table = reqwest::get(url).await.unwrap().bytes().await.unwrap().to_vec();
        let rows = jurist_server::parquet::read_parquet_rows(table, 10).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (&rows[0]["id"], &rows[0]["output"], &rows[0]["metadata"]),
            (&json!("a"), &json!("x"), &Json::Null)
        );
        assert!(!rows[0].as_object().unwrap().contains_key("metadata"), "an absent field stays absent");
        assert_eq!(rows[1]["metadata"], json!({ "n": 1 }));
    });
}

#[test]
fn a_dataset_is_created_with_its_first_version_or_not_at_all() {
    served(&ServerSettings::default(), |place| async move {
        let create = |mut version: Json| {
            version["create"] = json!(true);
            version
        };
        for (name, version, status) in [
            ("fresh", json!({}), StatusCode::BAD_REQUEST),
            ("fresh", json!({ "records": ["text"] }), StatusCode::BAD_REQUEST),
            ("fresh", json!({ "traces": ["nothing"] }), StatusCode::NOT_FOUND),
            ("fresh", json!({ "trace_filter": { "agent": "x" } }), StatusCode::UNPROCESSABLE_ENTITY),
            ("fresh", json!({ "records": [record("a", "x")], "rubric": "none" }), StatusCode::NOT_FOUND),
            ("fresh", json!({ "records": [record("a", "x")], "remove": ["b"] }), StatusCode::NOT_FOUND),
            ("fresh", json!({ "records": [record("a", "x")], "base": 2 }), StatusCode::NOT_FOUND),
            ("fresh@v1", json!({ "records": [record("a", "x")] }), StatusCode::BAD_REQUEST),
        ] {
            let (refused, text) = place.refused(name, create(version)).await;
            assert_eq!(refused, status, "{text}");
            assert_eq!(place.get("/api/v1/datasets").await, json!([]), "{text}");
        }
        let (missing, text) = place.refused("fresh", json!({ "records": [record("a", "x")] })).await;
        assert_eq!(missing, StatusCode::NOT_FOUND, "{text}");

        let first = place.write("fresh", create(json!({ "records": [record("a", "x")] }))).await;
        assert_eq!((&first["version"], &first["n_added"]), (&json!(1), &json!(1)));
        let second = place.write("fresh", create(json!({ "records": [record("b", "x")] }))).await;
        assert_eq!((&second["version"], &second["n_cases"]), (&json!(2), &json!(2)));
        let datasets = place.get("/api/v1/datasets").await;
        assert_eq!((&datasets[0]["name"], &datasets[0]["test_share"]), (&json!("fresh"), &json!(0.2)));
    });
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let by = [("cookie", cookie.as_str())];
        let post = async |path: &str, body: Json| {
            place.ask(Method::POST, &format!("/api/v1{path}"), &by, body).await
        };
        assert_eq!(post("/datasets", json!({ "name": "support" })).await.status, StatusCode::OK);
        assert_eq!(post("/datasets", json!({ "name": "support" })).await.status, StatusCode::CONFLICT);
        for name in ["", ".", "..", "a\nb", "support@v3", "support:test"] {
            let refused = post("/datasets", json!({ "name": name })).await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{name}: {}", refused.text);
        }
        let share = json!({ "name": "x", "test_share": 1.5 });
        assert_eq!(post("/datasets", share).await.status, StatusCode::BAD_REQUEST);
        let write = async |body: Json| post("/datasets/support/versions", body).await;
        let first = write(json!({ "base": 0, "records": [record("a", "x")] })).await;
        assert_eq!(first.status, StatusCode::OK, "{}", first.text);
        for (body, status, word) in [
            (json!({}), StatusCode::BAD_REQUEST, "nothing"),
            (json!({ "base": 0, "records": [record("b", "x")] }), StatusCode::CONFLICT, "v1"),
            (json!({ "records": [record("b", "x"), record("b", "y")] }), StatusCode::BAD_REQUEST, "record 2"),
            (json!({ "records": ["text"] }), StatusCode::BAD_REQUEST, "record 1"),
            (json!({ "records": [record("b", "x")], "remove": ["b"] }), StatusCode::BAD_REQUEST, "at once"),
            (json!({ "remove": ["nobody"] }), StatusCode::NOT_FOUND, "nobody"),
            (json!({ "traces": ["nothing"] }), StatusCode::NOT_FOUND, "there is no trace `nothing`"),
            (json!({ "traces": vec!["a"; 10_001] }), StatusCode::PAYLOAD_TOO_LARGE, "10000"),
            (json!({ "records": [record("b", "x")], "rubric": "none" }), StatusCode::NOT_FOUND, "rubric"),
            (json!({ "trace_filter": { "agnet": "x" } }), StatusCode::BAD_REQUEST, "agnet"),
            (json!({ "trace_filter": { "limit": 20_000 } }), StatusCode::BAD_REQUEST, "10000"),
            (json!({ "trace_filter": { "agent": "x" } }), StatusCode::UNPROCESSABLE_ENTITY, "no trace"),
            (json!({ "recods": [] }), StatusCode::BAD_REQUEST, "recods"),
        ] {
            let refused = write(body).await;
            assert_eq!(refused.status, status, "{}", refused.text);
            assert!(refused.text.contains(word), "{}", refused.text);
        }
        let newest = place.ask(Method::GET, "/api/v1/datasets/support", &by, Json::Null).await.json();
        assert_eq!(
            (&newest["newest"]["number"], &newest["newest"]["created_by"]),
            (&json!(1), &json!("Somebody"))
        );

        // A request that is sent again with its key is answered as before.
        let keyed = [("cookie", cookie.as_str()), ("idempotency-key", "once")];
        let body = json!({ "records": [record("b", "x")] });
        let path = "/api/v1/datasets/support/versions";
        let sent = place.ask(Method::POST, path, &keyed, body.clone()).await;
        let again = place.ask(Method::POST, path, &keyed, body).await;
        assert_eq!((sent.json()["n_added"].clone(), sent.json()), (json!(1), again.json()));

        let archived = place.ask(Method::DELETE, "/api/v1/datasets/support", &by, Json::Null).await;
        assert!(archived.json()["archived"].is_string(), "{}", archived.text);
        assert_eq!(write(json!({ "remove": ["a"] })).await.status, StatusCode::CONFLICT);
        let listed = place.ask(Method::GET, "/api/v1/datasets", &by, Json::Null).await.json();
        assert_eq!(listed, json!([]));
        let change = json!({ "archived": false, "description": "hard ones" });
        let restored = place.ask(Method::PATCH, "/api/v1/datasets/support", &by, change).await.json();
        assert_eq!((&restored["archived"], &restored["description"]), (&Json::Null, &json!("hard ones")));
        let plain =
            place.ask(Method::PATCH, "/api/v1/datasets/support", &by, json!({ "description": null })).await;
        assert_eq!(plain.json()["description"], Json::Null);

        let log =
            place.ask(Method::GET, "/api/v1/audit?action=dataset.version", &by, Json::Null).await.json();
        assert_eq!(log["items"].as_array().unwrap().len(), 2, "{log}");
    });
}

#[test]
fn a_failed_trace_becomes_a_case_with_the_rubric_that_failed_it() {
    served(&hasty(), |place| async move {
        let (store, project) = (&place.app.store, place.app.default_project);
        let rubric = place.post("/rubrics", json!({ "name": "greeting", "source": RUBRIC })).await.json();
        let version: jurist_store::RubricVersionId = rubric["newest"].as_str().unwrap().parse().unwrap();
        for id in ["t1", "t2", "t3"] {
            let said = json!([{ "role": "user", "content": "Hello {{ env.HOME }}?" },
                { "role": "assistant", "content": "Go away." }]);
            let sent = place.post("/traces", json!({ "id": id, "agent": "desk", "trace": said })).await;
            assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
            place.until(id, |head| head["state"] == "finished").await;
        }
        let failed = NewVerdict {
            candidate: "t1".into(),
            rubric_version: version.clone(),
            monitor: None,
            attempt: 1,
            agent: Some("desk".into()),
            probability: Probability::CERTAIN,
            cost: None,
            time: clock::current_time(),
            verdict: Verdict {
                status: VerdictStatus::Fail,
                score: Some(0.0),
                native: None,
                vacuous: false,
                failed_gates: Vec::new(),
                undecided_gates: Vec::new(),
                path: Vec::new(),
                counts: Counts::default(),
            },
        };
        store.record(project, &[], &[failed]).await.unwrap();

        place.dataset("regressions").await;
        place.write("regressions", json!({ "traces": ["t1"] })).await;
        let case = place.get("/api/v1/datasets/regressions/cases/t1").await;
        assert_eq!((&case["trace"], &case["rubric"]["name"]), (&json!("t1"), &json!("greeting")));
        assert_eq!(case["rubric"]["version"], version.to_string());
        assert_eq!(case["record"]["output"], "Go away.");
        assert_eq!(case["record"]["metadata"]["agent"], "desk");

        // As a suite, it is graded by the stored rubric; what the trace says names nothing in the file.
        let suite = place.get("/api/v1/datasets/regressions/export?format=suite").await;
        assert_eq!(suite["evals"][0]["rubric"], json!({ "ref": "greeting" }));
        assert!(suite["rubrics"]["greeting"]["criteria"].is_array(), "{suite}");
        let files = BTreeMap::from([("suite.json".to_owned(), suite.to_string())]);
        let bundle = Bundle { suite: "suite.json".to_owned(), files, ..Bundle::default() };
        let plan = plan_suite(&bundle.load().suite.unwrap(), &CaseSelection::default()).unwrap();
        let planned = plan.units[0].cell.case().unwrap();
        assert_eq!(planned.candidate.input.as_deref(), Some("Hello {{ env.HOME }}?"));
        assert_eq!(planned.rubric.n_questions(), 1);

        // A filter adds the others, which have no rubric of their own.
        let added =
            place.write("regressions", json!({ "trace_filter": { "agent": "desk", "limit": 10 } })).await;
        assert_eq!((&added["n_added"], &added["n_unchanged"]), (&json!(2), &json!(1)));
        let refused = place.fetch("/api/v1/datasets/regressions/export?format=suite").await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.text);
        place.write("regressions", json!({ "traces": ["t2", "t3"], "rubric": "greeting" })).await;
        let suite = place.get("/api/v1/datasets/regressions/export?format=suite").await;
        assert_eq!(suite["evals"].as_array().unwrap().len(), 3);

        // Erased traces leave cases without text.
        let later = Time::from_micros(clock::current_time().micros() + 1_000_000_000);
        while store.erase_traces(project, later, 10).await.unwrap() != 0 {}
        let case = place.get("/api/v1/datasets/regressions/cases/t1").await;
        assert_eq!(
            (&case["is_erased"], &case["record"], &case["title"]),
            (&json!(true), &Json::Null, &Json::Null)
        );
        let lines = place.fetch("/api/v1/datasets/regressions/export").await;
        assert_eq!((lines.status, lines.text.as_str()), (StatusCode::OK, ""));
        let (status, text) = place.refused("regressions", json!({ "traces": ["t1"] })).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{text}");
    });
}

#[test]
fn secrets_of_a_trace_do_not_become_part_of_a_case() {
    served(&ServerSettings::default(), |place| async move {
        let (store, project, now) = (&place.app.store, place.app.default_project, clock::current_time());
        let secret = format!("sk-ant-{}", "aB3dE5gH7jK9mN1pQ3".repeat(3));
        let steps = vec![
            TraceStep::new(StepRole::User, "What is the key?"),
            TraceStep::new(StepRole::Assistant, format!("It is {secret}.")),
        ];
        // Stored before the server had a pattern for the secret.
        let trace = FinishedTrace {
            trace: Trace { steps, ..Trace::default() },
            agent: Some("desk".into()),
            session: None,
            is_failed: false,
            started: now,
            duration: None,
            probability: Probability::CERTAIN,
            metadata: json!({ "note": secret }),
        };
        store.put_trace(project, &TraceId::new("t1").unwrap(), &trace, now).await.unwrap();
        place.dataset("leaks").await;
        place.write("leaks", json!({ "traces": ["t1", "t1"] })).await;
        let case = place.get("/api/v1/datasets/leaks/cases/t1").await;
        assert!(!case.to_string().contains("sk-ant"), "{case}");
        assert_eq!(case["record"]["id"], "t1");
        assert_eq!(case["record"]["output"], "It is [redacted].");

        // A record with the key of a trace in the same request is not dropped silently.
        let both = json!({ "records": [record("t1", "x")], "traces": ["t1"] });
        let (status, text) = place.refused("leaks", both).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
        assert!(text.contains("trace `t1`: the key `t1` is given twice"), "{text}");

        // A record that holds a stored trace, such as an exported one, is erased with it; others with its id are not.
        for (name, record) in [("linked", case["record"].clone()), ("plain", record("t1", "x"))] {
            place.dataset(name).await;
            place.write(name, json!({ "records": [record] })).await;
        }
        let again = place.write("linked", json!({ "traces": ["t1"] })).await;
        assert_eq!((&again["is_new"], &again["n_unchanged"]), (&json!(false), &json!(1)));
        let later = Time::from_micros(now.micros() + 1_000_000_000);
        while store.erase_traces(project, later, 10).await.unwrap() != 0 {}
        for (name, is_erased) in [("leaks", true), ("linked", true), ("plain", false)] {
            let case = place.get(&format!("/api/v1/datasets/{name}/cases/t1")).await;
            assert_eq!(case["is_erased"], is_erased, "{name}");
        }
    });
}

#[test]
fn items_of_a_task_come_with_the_labels_that_people_agreed_on() {
    served(&ServerSettings::default(), |place| async move {
        let rows = "{\"id\": \"a\", \"text\": \"It opens at nine.\"}\n";
        let files = json!({ "task.yaml": TASK, "data.jsonl": rows });
        let task = place.post("/tasks", json!({ "config": "task.yaml", "files": files })).await.json();
        let task = task["id"].as_str().unwrap();
        for name in ["ana", "ben"] {
            let joined = place.post("/join/task", json!({ "task": task, "name": name })).await;
            let cookie = joined.cookie();
            let by = [("cookie", cookie.as_str())];
            let next = format!("/api/v1/tasks/{task}/next");
            let work = place.ask(Method::POST, &next, &by, json!({})).await.json();
            let submit = format!("/api/v1/assignments/{}/submit", work["assignment"].as_str().unwrap());
            let draft = json!({ "grounded": { "kind": "choice", "labels": ["no"] } });
            let answer = json!({ "draft": draft, "revision": work["revision"] });
            let answered = place.ask(Method::POST, &submit, &by, answer).await;
            assert_eq!(answered.status, StatusCode::OK, "{}", answered.text);
        }
        place.dataset("labelled").await;
        let written = place.write("labelled", json!({ "annotation_task": task })).await;
        assert_eq!(written["n_added"], 1);
        let case = place.get("/api/v1/datasets/labelled/cases/a").await;
        assert_eq!(case["record"]["text"], "It opens at nine.");
        assert_eq!(case["record"]["reference"], json!({ "grounded": "no" }));
        let (status, _) = place.refused("labelled", json!({ "annotation_task": "ant_x" })).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
    });
}

#[test]
fn a_submitted_suite_reads_the_datasets_of_its_project() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(1);
        place.dataset("support").await;
        place.write("support", json!({ "records": [record("a", "x"), record("b", "y")] })).await;
        let run_on = |data: &str| {
            let text = format!(
                "evals:\n- name: 'case {{{{ row.id }}}}'\n  data: {data}\n  response: '{{{{ row.output }}}}'\n  \
                 checks: [{{type: contains, value: x}}]\n"
            );
            json!({ "suite": "suite.yaml", "files": { "suite.yaml": text } })
        };
        let run = place.submit(run_on("dataset:support")).await;
        place.follow(&run, &[]).await;
        let run = place.get(&format!("/api/v1/runs/{run}")).await;
        assert_eq!((&run["n_pass"], &run["n_fail"]), (&json!(1), &json!(1)));
        assert_eq!(run["provenance"]["tags"], json!(["dataset:support@v1"]));
        for (data, status) in [
            ("dataset:nobody", StatusCode::NOT_FOUND),
            ("dataset:support@v9", StatusCode::NOT_FOUND),
            ("'dataset:'", StatusCode::UNPROCESSABLE_ENTITY),
        ] {
            let refused = place.post("/runs", run_on(data)).await;
            assert_eq!(refused.status, status, "{data}: {}", refused.text);
        }
    });
}

#[test]
fn many_records_keep_nobody_waiting_while_secrets_are_removed() {
    served_by_one_thread(&ServerSettings::default(), |place| async move {
        place.dataset("notes").await;
        let body = |times: usize| {
            let notes = json!(vec!["a text"; 100 * times]);
            let with_notes = |n: usize| json!({ "id": n.to_string(), "output": "x", "notes": notes });
            // The last one has the key of the first, so that nothing is written.
            let records: Vec<Json> = (0..2_000).map(with_notes).chain([with_notes(0)]).collect();
            json!({ "records": records }).to_string()
        };
        let answer = place.post_among_others("/api/v1/datasets/notes/versions", body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.text);
        assert!(answer.text.contains("is given twice"), "{}", answer.text);
    });
}
