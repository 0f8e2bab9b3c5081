//! Tasks for people, over real sockets.

use std::collections::BTreeSet;

use jurist_engine::bundle::Bundle;
use jurist_server::ServerSettings;
use jurist_server::annotate::{Output, from_annotation, people_grades};
use jurist_store::clock;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Answer, Place, served, with_accounts};

pub const CONFIG: &str = "
annotation_task_name: Coding agents
task_description: Rate what the agent did.
data_files: [data/traces.jsonl]
item_properties: {id_key: trace_id, text_key: task}
display: {type: coding_trace, trace_key: steps}
annotation_schemes:
  - annotation_type: rubric_eval
    name: quality
    scale: {min: 1, max: 5}
    criteria:
      - {name: correctness, label: Correctness, weight: 3.0}
      - {name: efficiency, label: Efficiency, weight: 1.0}
    overall: {enabled: true}
    notes: {enabled: true}
";

pub fn data(n: usize) -> String {
    let row = |at: usize| {
        let steps = json!([{"thought": "look", "action": "ls", "observation": "a.py"}]);
        json!({"trace_id": format!("trace_{at:02}"), "task": "Fix <b>it</b>", "steps": steps}).to_string()
            + "\n"
    };
    (0..n).map(row).collect()
}

/// A person with a cookie, or nobody.
pub struct Person<'a> {
    pub place: &'a Place,
    pub cookie: String,
}

impl Person<'_> {
    pub async fn ask(&self, method: Method, path: &str, body: Json) -> Answer {
        let headers = [("cookie", self.cookie.as_str())];
        self.place.ask(method, &format!("/api/v1{path}"), &headers, body).await
    }

    pub async fn post(&self, path: &str, body: Json) -> Json {
        let answer = self.ask(Method::POST, path, body).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.json()
    }

    pub async fn get(&self, path: &str) -> Json {
        let answer = self.ask(Method::GET, path, Json::Null).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.json()
    }

    pub async fn next(&self, task: &str) -> Json {
        self.post(&format!("/tasks/{task}/next"), json!({})).await
    }

    /// Answers everything that they are given with this rating.
    async fn rates_all(&self, task: &str, rating: u32) -> usize {
        for n in 0.. {
            let work = self.next(task).await;
            if work["done"] == true {
                return n;
            }
            let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
            self.post(&path, json!({"draft": rated(rating, rating), "revision": work["revision"]})).await;
        }
        0
    }
}

pub fn rated(correctness: u32, efficiency: u32) -> Json {
    let scored = |value: u32| json!({"rating": {"kind": "scored", "value": value}});
    json!({"quality": {"kind": "rubric", "criteria": {
        "correctness": scored(correctness), "efficiency": scored(efficiency)},
        "notes": format!("notes beside {correctness}")}})
}

/// Joins an open server by a name.
pub async fn named<'a>(place: &'a Place, task: &str, name: &str) -> Person<'a> {
    let body = json!({"task": task, "name": name});
    let joined = place.ask(Method::POST, "/api/v1/join/task", &[], body).await;
    assert_eq!(joined.status, StatusCode::OK, "{}", joined.text);
    Person { place, cookie: joined.cookie() }
}

async fn made(owner: &Person<'_>, n: usize) -> String {
    let body =
        json!({"config": "config.yaml", "files": {"config.yaml": CONFIG, "data/traces.jsonl": data(n)}});
    owner.post("/tasks", body).await["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_file_becomes_a_task_that_is_answered_and_exported() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let task = made(&owner, 2).await;
        let unnamed = owner.ask(Method::POST, &format!("/tasks/{task}/next"), json!({})).await;
        assert_eq!(unnamed.status, StatusCode::UNAUTHORIZED, "{}", unnamed.text);
        let ann = named(&place, &task, "annotator_03").await;
        let work = ann.next(&task).await;
        assert_eq!(work["item"]["task"], "Fix <b>it</b>");
        assert!(["trace_00", "trace_01"].contains(&work["row"].as_str().unwrap()), "{work}");
        assert_eq!(work["schemes"][0]["criteria"][0]["points"].as_array().unwrap().len(), 5);
        assert_eq!(work["progress"], json!({"done": 0, "left": 2}));
        let id = work["assignment"].as_str().unwrap();
        // Saved, saved by another tab, and too early to submit.
        let draft = json!({"quality": {"kind": "rubric", "criteria": {
            "correctness": {"rating": {"kind": "scored", "value": 4}, "comment": "it works"}}, "notes": "short"}});
        let path = format!("/assignments/{id}/draft");
        let saved = ann.ask(Method::PUT, &path, json!({"draft": draft, "revision": 0})).await;
        assert_eq!(saved.json()["revision"], 1);
        let other = ann.ask(Method::PUT, &path, json!({"draft": {}, "revision": 0})).await;
        assert_eq!(other.status, StatusCode::CONFLICT);
        assert_eq!(other.json()["newer"]["draft"]["quality"]["notes"], "short");
        let path = format!("/assignments/{id}/submit");
        let early = ann.ask(Method::POST, &path, json!({"draft": draft, "revision": 1})).await;
        assert_eq!(early.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(early.json()["missing"][0]["row"], "efficiency");
        let mut whole = draft.clone();
        whole["quality"]["criteria"]["efficiency"] = json!({"rating": {"kind": "scored", "value": 2}});
        whole["quality"]["overall"] = json!({"rating": {"kind": "scored", "value": 3}});
        assert_eq!(ann.post(&path, json!({"draft": whole, "revision": 1})).await["next"], true);
        let second = ann.next(&task).await;
        assert_eq!(second["before"], id);
        let own = json!([{ "assignment": id, "state": "submitted" },
            { "assignment": second["assignment"], "state": "assigned" }]);
        assert_eq!(second["own"], own);
        let again = ann.get(&format!("/assignments/{id}")).await;
        assert_eq!(
            (&again["state"], &again["draft"]["quality"]["notes"]),
            (&json!("submitted"), &json!("short"))
        );
        assert_eq!(again["draft"]["quality"]["criteria"]["efficiency"]["rating"]["value"], 2.0);
        let export = owner.ask(Method::GET, &format!("/tasks/{task}/export"), Json::Null).await;
        let mut row: Json = serde_json::from_str(export.text.trim()).unwrap();
        assert!(row["timestamp"].as_str().unwrap().ends_with('Z'));
        row["timestamp"] = Json::Null;
        let expected = json!({"trace_id": "trace_00", "annotator": "annotator_03", "timestamp": null, "rubric": {
            "criteria_ratings": {"correctness": 4, "efficiency": 2}, "overall": 3, "notes": "short",
            "weighted_score": 3.5, "comments": {"correctness": "it works"}}});
        assert_eq!(row, expected);
        let csv = owner.ask(Method::GET, &format!("/tasks/{task}/export?format=csv"), Json::Null).await;
        let head = "trace_id,annotator,timestamp,correctness,efficiency,overall,notes,weighted_score,\
            correctness.unrated,correctness.comment,correctness.quotes,\
            efficiency.unrated,efficiency.comment,efficiency.quotes,\
            correctness.scale,efficiency.scale,overall.scale,weighted_score.scale\r\n";
        assert!(csv.text.starts_with(head), "{}", csv.text);
        assert!(csv.text.contains(",it works,"), "{}", csv.text);
        let parquet =
            owner.ask(Method::GET, &format!("/tasks/{task}/export?format=parquet"), Json::Null).await;
        assert!(parquet.text.starts_with("PAR1") && parquet.text.ends_with("PAR1"), "{}", parquet.text);
        let other = owner.ask(Method::GET, &format!("/tasks/{task}/export?format=xlsx"), Json::Null).await;
        assert!(other.text.contains("there are jsonl, csv and parquet"), "{}", other.text);
        // What people said is a grade like any other.
        let grades = owner.get("/grades?candidate=trace_00").await;
        assert_eq!(grades["items"].as_array().unwrap().len(), 2);
        assert_eq!(grades["items"][0]["grader"], "annotator_03");
        let list = ann.get("/tasks").await;
        assert_eq!(list["items"][0]["mine"], json!({"done": 1, "left": 1}));
    });
}

#[test]
fn files_of_answers_are_whole_again_after_the_disk_was_not() {
    served(&ServerSettings::default(), |place| async move {
        let nobody = Person { place: &place, cookie: String::new() };
        let task = made(&nobody, 3).await;
        let folder = tempfile::tempdir().unwrap();
        let (store, project) = (&place.app.store, place.app.default_project);
        let there = store.task(project, task.parse().unwrap()).await.unwrap();
        let output = Output { folder: folder.path().to_owned() };
        place.app.outputs.add(store, project, &there, output).await.unwrap();
        let ana = named(&place, &task, "ana").await;
        let rates = async || {
            let work = ana.next(&task).await;
            let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
            ana.post(&path, json!({"draft": rated(3, 3), "revision": work["revision"]})).await;
        };
        let (file, away) = (folder.path().join("ana.jsonl"), folder.path().join("away"));
        rates().await;
        // A folder cannot be written like a file.
        std::fs::rename(&file, &away).unwrap();
        std::fs::create_dir(&file).unwrap();
        rates().await;
        std::fs::remove_dir(&file).unwrap();
        std::fs::rename(&away, &file).unwrap();
        rates().await;
        let lines = std::fs::read_to_string(&file).unwrap();
        let ids: BTreeSet<String> = lines
            .lines()
            .map(|line| serde_json::from_str::<Json>(line).unwrap()["trace_id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!((lines.lines().count(), ids.len()), (3, 3), "{lines}");
    });
}

#[test]
fn all_ones_against_all_fives_fill_the_queue_and_decisions_become_labels() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let task = made(&owner, 3).await;
        for (name, rating) in [("ann", 1), ("bob", 5)] {
            assert_eq!(named(&place, &task, name).await.rates_all(&task, rating).await, 3);
        }
        let disputes = owner.get(&format!("/tasks/{task}/disputes")).await;
        let all = disputes["items"].as_array().unwrap();
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|it| it["disagreement"] == 1.0));
        let item = all[0]["item"].as_str().unwrap();
        let path = format!("/items/{item}/decisions/quality/correctness");
        let off = owner.ask(Method::PUT, &path, json!({"rating": {"kind": "scored", "value": 9}})).await;
        assert_eq!(off.status, StatusCode::UNPROCESSABLE_ENTITY);
        let decision =
            json!({"rating": {"kind": "scored", "value": 4}, "why": "it works", "cause": "guideline"});
        let decided = owner.ask(Method::PUT, &path, decision).await;
        assert_eq!((decided.status, &decided.json()["cause"]), (StatusCode::OK, &json!("guideline")));
        let after = owner.get(&format!("/tasks/{task}/disputes")).await;
        assert!(after["items"][5]["decided"]["rating"]["value"] == 4.0, "what is decided goes last: {after}");
        let answers = owner.get(&format!("/items/{item}/answers")).await;
        assert_eq!(answers["answers"].as_array().unwrap().len(), 2);
        assert_eq!(answers["decisions"][0]["why"], "it works");
        let agreement = owner.get(&format!("/tasks/{task}/agreement")).await;
        let first = &agreement["criteria"][0];
        assert!(first["value"].as_f64().unwrap() < 0.0, "{agreement}");
        // Three items have no interval, so the value alone decides nothing.
        let conclusion = "Too few or too similar candidates for a confidence interval.";
        assert_eq!((&first["strength"], &first["conclusion"]), (&json!("unclear"), &json!(conclusion)));
        let people = owner.get(&format!("/tasks/{task}/people")).await;
        assert_eq!(people["items"][0]["n_done"], 3);
        let project = place.app.default_project;
        let version = place.app.store.tasks(project).await.unwrap()[0].rubric_version.clone().unwrap();
        let labels = place.app.store.labels(project, &version, None, None, 9).await.unwrap().items;
        assert_eq!((labels.len(), labels[0].unit), (1, Some(0.75)));
    });
}

#[test]
fn answers_of_an_excluded_person_are_kept_and_not_used() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let (store, project) = (&place.app.store, place.app.default_project);
        let files = [("config.yaml", CONFIG.to_owned()), ("data/traces.jsonl", data(3))];
        let files = files.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
        let bundle = Bundle { suite: "config.yaml".to_owned(), files, ..Bundle::default() };
        let annotation = bundle.load().suite.unwrap().annotation.unwrap();
        // As `jurist start` does it, each time it starts.
        let start = async || {
            let by = (&place.app.settings.region, None);
            let now = clock::current_time();
            from_annotation(store, project, &annotation, Some("config.yaml"), by, now).await.unwrap().0
        };
        let stored = start().await;
        let folder = tempfile::tempdir().unwrap();
        let output = Output { folder: folder.path().to_owned() };
        place.app.outputs.add(store, project, &stored, output).await.unwrap();
        let task = stored.id.to_string();
        for (name, rating) in [("ana", 4), ("ben", 4), ("cleo", 1)] {
            named(&place, &task, name).await.rates_all(&task, rating).await;
        }
        let get = async |what: &str| owner.get(&format!("/tasks/{task}/{what}")).await;
        let disputes = get("disputes").await;
        assert_eq!(disputes["items"].as_array().unwrap().len(), 6);
        let item = disputes["items"][0]["item"].as_str().unwrap();
        let cleo = async || {
            let people = get("people").await;
            let cleo = people["items"].as_array().unwrap().iter().find(|person| person["name"] == "cleo");
            cleo.unwrap().clone()
        };
        let account = cleo().await["account"].as_str().unwrap().to_owned();
        let path = format!("/tasks/{task}/people/{account}");
        let change = json!({"excluded": true, "reason": "answers at random"});
        let changed = owner.ask(Method::PATCH, &path, change).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
        let changed = changed.json();
        assert_eq!(
            (&changed["excluded"], &changed["reason"]),
            (&json!(true), &json!("answers at random")),
            "{changed}"
        );
        assert_eq!(get("disputes").await["items"], json!([]));
        let results = get("results").await;
        assert_eq!((&results["n_people"], &results["n_answers"]), (&json!(2), &json!(6)), "{results}");
        assert_eq!(get("agreement").await["criteria"][0]["n_pairs"], 1);
        let answers = owner.get(&format!("/items/{item}/answers")).await;
        assert_eq!(answers["answers"].as_array().unwrap().len(), 2, "{answers}");
        let task_now = store.task(project, stored.id).await.unwrap();
        let grades = people_grades(store, project, &task_now, "t").await.unwrap();
        assert_eq!(grades.len(), 2 * 3 * 2, "two people, three items, two criteria");
        // The export of the task has everything, with a mark; so do the files of the output folder.
        let export = owner.ask(Method::GET, &format!("/tasks/{task}/export"), Json::Null).await.text;
        let mark = r#""excluded": true"#;
        assert_eq!(export.lines().count(), 9);
        assert!(export.lines().all(|line| line.contains(mark) == line.contains("cleo")), "{export}");
        let csv = owner.ask(Method::GET, &format!("/tasks/{task}/export?format=csv"), Json::Null).await.text;
        assert!(csv.lines().next().unwrap().ends_with(",excluded"), "{csv}");
        assert_eq!(csv.lines().filter(|line| line.ends_with(",true")).count(), 3, "{csv}");
        let file = std::fs::read_to_string(folder.path().join("cleo.jsonl")).unwrap();
        assert!(file.lines().count() == 3 && file.lines().all(|line| line.contains(mark)), "{file}");
        // Neither another setting nor a restart changes it.
        let quota = json!({"settings": {"quota": 20}});
        assert_eq!(owner.ask(Method::PATCH, &format!("/tasks/{task}"), quota).await.status, StatusCode::OK);
        start().await;
        assert_eq!(cleo().await["excluded"], true);
        let included = owner.ask(Method::PATCH, &path, json!({"excluded": false})).await;
        assert_eq!(included.json()["excluded"], false, "{}", included.text);
        assert_eq!(get("disputes").await["items"].as_array().unwrap().len(), 6);
        let body = json!({"task": task, "name": "dora"});
        let joined = place.ask(Method::POST, "/api/v1/join/task", &[], body).await.json();
        let path = format!("/tasks/{task}/people/{}", joined["account"].as_str().unwrap());
        let unknown = owner.ask(Method::PATCH, &path, json!({"excluded": true})).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{}", unknown.text);
    });
}

#[test]
fn nobody_sees_what_others_said_before_they_have_answered() {
    served(&with_accounts(), |place| async move {
        let cookie = place.owner().await;
        let owner = Person { place: &place, cookie };
        let task = made(&owner, 2).await;
        let links = owner.post(&format!("/tasks/{task}/links"), json!({})).await;
        let token = links["url"].as_str().unwrap().split_once("#task=").unwrap().1;
        let token = token.split('&').next().unwrap().to_owned();
        let join = async |body: Json| place.ask(Method::POST, "/api/v1/join/task", &[], body).await;
        let ann =
            Person { place: &place, cookie: join(json!({"token": token, "name": "ann"})).await.cookie() };
        let crowd = json!({"task": task, "crowd": {"key": "PROLIFIC_PID", "id": "5f3c"}});
        // A link for named people does not open the task to crowd platforms. That is a setting of its own.
        assert_eq!(links["crowd_url"], Json::Null);
        assert_eq!(join(crowd.clone()).await.status, StatusCode::UNAUTHORIZED);
        let path = format!("/tasks/{task}");
        let opened = owner.ask(Method::PATCH, &path, json!({"settings": {"crowd": true}})).await;
        assert_eq!(opened.status, StatusCode::OK, "{}", opened.text);
        let links = owner.post(&format!("/tasks/{task}/links"), json!({})).await;
        assert!(links["crowd_url"].as_str().unwrap().contains("PROLIFIC_PID"), "{links}");
        let bob = Person { place: &place, cookie: join(crowd.clone()).await.cookie() };
        assert_eq!(join(json!({"task": task, "name": "eve"})).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(join(json!({"token": "jrj_0", "name": "eve"})).await.status, StatusCode::UNAUTHORIZED);
        let as_ann = json!({"token": token, "name": "Ann"});
        assert_eq!(join(as_ann.clone()).await.status, StatusCode::CONFLICT, "a name is no proof");
        let again = ann.ask(Method::POST, "/join/task", as_ann).await;
        assert_eq!(again.status, StatusCode::OK, "{}", again.text);
        let ann = Person { place: &place, cookie: again.cookie() };
        // A name is a person of the project: in another task, it needs the cookie of the first.
        let second = made(&owner, 1).await;
        let links = owner.post(&format!("/tasks/{second}/links"), json!({})).await;
        let (_, key) = links["url"].as_str().unwrap().split_once("#task=").unwrap();
        let as_ann = json!({"token": key.split('&').next().unwrap(), "name": "ann"});
        let taken = join(as_ann.clone()).await;
        assert_eq!(taken.status, StatusCode::CONFLICT, "{}", taken.text);
        assert!(taken.text.contains("in the project"), "{}", taken.text);
        let again = ann.ask(Method::POST, "/join/task", as_ann).await;
        assert_eq!(again.status, StatusCode::OK, "{}", again.text);
        let ann = Person { place: &place, cookie: again.cookie() };
        ann.rates_all(&task, 1).await;
        let work = bob.next(&task).await;
        assert!(!work.to_string().contains("notes beside 1"), "{work}");
        assert_eq!(work["draft"], json!({}));
        let item = work["item"]["id"].as_str().unwrap().to_owned();
        let anns = ann.next(&task).await;
        assert_eq!(anns["why"], "finished");
        for path in [
            format!("/tasks/{task}/disputes"),
            format!("/tasks/{task}/people"),
            format!("/tasks/{task}/agreement"),
            format!("/tasks/{task}/export"),
            format!("/items/{item}/answers"),
            "/grades".to_owned(),
            "/traces".to_owned(),
        ] {
            let refused = bob.ask(Method::GET, &path, Json::Null).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
        }
        let own = work["assignment"].as_str().unwrap();
        let others = ann.ask(Method::GET, &format!("/assignments/{own}"), Json::Null).await;
        assert_eq!(others.status, StatusCode::NOT_FOUND);
        // Not even the owner, while they annotate as well.
        owner.next(&task).await;
        let refused = owner.ask(Method::GET, &format!("/items/{item}/answers"), Json::Null).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        let export = owner.ask(Method::GET, &format!("/tasks/{task}/export"), Json::Null).await;
        assert_eq!(export.text, "", "nothing that they still have to answer");
        let grades = owner.get("/grades?full=true").await;
        assert_eq!(grades["items"], json!([]), "nor as grades: {grades}");
        // Who decides with a token is the owner of the token.
        let token = place.token(&owner.cookie, &["write"]).await;
        let path = format!("/api/v1/items/{item}/decisions/quality/correctness");
        let body = json!({"rating": {"kind": "scored", "value": 2}});
        let decided = place.ask(Method::PUT, &path, &[("authorization", &token)], body).await;
        assert_eq!(decided.status, StatusCode::OK, "{}", decided.text);
        assert_eq!(decided.json()["by"], "Somebody");
        // The same id is the same person.
        let again = Person { place: &place, cookie: join(crowd).await.cookie() };
        assert_eq!(again.next(&task).await["assignment"], own);
    });
}

#[test]
fn known_answers_are_held_against_people() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let task = made(&owner, 3).await;
        let known =
            |item: &str| json!({"item": item, "answers": {"quality": {"correctness": 5}}, "tolerance": 1});
        let settings = json!({"training": [known("trace_00")], "gold": [known("trace_01")], "check_every": 1,
            "completion_code": "C0DE", "min_seconds": 600});
        let changed =
            owner.ask(Method::PATCH, &format!("/tasks/{task}"), json!({"settings": settings})).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
        let ann = named(&place, &task, "ann").await;
        let work = ann.next(&task).await;
        assert_eq!(work["item"]["training"], true);
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        let told = ann.post(&path, json!({"draft": rated(1, 1), "revision": 0})).await;
        assert_eq!(
            (&told["feedback"]["right"], &told["feedback"]["rows"][0]["expected"]),
            (&json!(false), &json!("5"))
        );
        ann.rates_all(&task, 4).await;
        let people = owner.get(&format!("/tasks/{task}/people")).await;
        assert_eq!(people["items"][0]["gold"], json!({"right": 1, "all": 1}));
        assert_eq!(people["items"][0]["training"], json!({"right": 0, "all": 1}));
        assert_eq!(ann.next(&task).await["code"], "C0DE");
        let export = owner.ask(Method::GET, &format!("/tasks/{task}/export"), Json::Null).await;
        assert_eq!(export.text.lines().count(), 1, "training and gold are no data");
        let bad = json!({"settings": {"overlap": 7}});
        let bad = owner.ask(Method::PATCH, &format!("/tasks/{task}"), bad).await;
        assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
        named(&place, &task, "bob").await.rates_all(&task, 1).await;
        let people = owner.get(&format!("/tasks/{task}/people")).await;
        let bob = people["items"].as_array().unwrap().iter().find(|person| person["name"] == "bob").unwrap();
        // Checks are not among the items that are done, and are among the answers that came too fast.
        assert_eq!((&bob["n_done"], &bob["too_fast"]), (&json!(1), &json!(3)), "{people}");
        let warnings = json!(["3 of 3 answers are faster than the minimum time", "missed 1 of 1 gold items"]);
        assert_eq!(bob["warnings"], warnings, "{people}");
    });
}

#[test]
fn neither_progress_nor_ids_show_which_items_are_checks() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let task = made(&owner, 5).await;
        let known = |item: &str| json!({"item": item, "answers": {"quality": {"correctness": 5}}});
        let settings =
            json!({"gold": [known("trace_00")], "attention": [known("trace_01")], "check_every": 1});
        let changed =
            owner.ask(Method::PATCH, &format!("/tasks/{task}"), json!({"settings": settings})).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
        let ann = named(&place, &task, "ann").await;
        for n in 0..5 {
            let work = ann.next(&task).await;
            assert_eq!(work["progress"], json!({"done": n, "left": 5 - n}), "{work}");
            assert_eq!(work["row"], Json::Null, "an id can be that of a check: {work}");
            let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
            ann.post(&path, json!({"draft": rated(4, 4), "revision": work["revision"]})).await;
        }
        assert_eq!(ann.next(&task).await["why"], "finished");
        assert_eq!(ann.get("/tasks").await["items"][0]["mine"], json!({"done": 5, "left": 0}));
    });
}

#[test]
fn a_change_of_one_setting_keeps_the_others() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let task = made(&owner, 4).await;
        let path = format!("/tasks/{task}");
        let change =
            async |settings: Json| owner.ask(Method::PATCH, &path, json!({"settings": settings})).await;
        let known = |item: &str| json!({"item": item, "answers": {"quality": {"correctness": 5}}});
        let settings = json!({"gold": [known("trace_00")], "attention": [known("trace_01")],
            "annotators_per_item": 4, "min_seconds": 3.0, "check_every": 2});
        let changed = change(settings).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
        let before = owner.get(&path).await;
        assert_eq!(before["progress"]["n_items"], 2, "two of the four are checks: {before}");
        let changed = change(json!({"quota": 20})).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
        let after = owner.get(&path).await;
        let mut expected = before["settings"].clone();
        expected["quota"] = json!(20);
        assert_eq!((&after["settings"], &after["progress"]), (&expected, &before["progress"]));
        assert_eq!(change(json!({"quota": null})).await.status, StatusCode::OK);
        assert_eq!(owner.get(&path).await["settings"], before["settings"], "null is the default");
        for (settings, name) in [(json!({"qouta": 20}), "qouta"), (json!({"quota": "many"}), "quota")] {
            let refused = change(settings).await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.text);
            assert!(refused.text.contains(&format!("`settings.{name}`")), "{}", refused.text);
        }
    });
}

#[test]
fn known_answers_that_nobody_can_give_are_refused() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let task = made(&owner, 2).await;
        let path = format!("/tasks/{task}");
        let before = owner.get(&path).await;
        let cases = [
            ("trace_09", json!({"quality": {"correctness": 5}}), "there is no item `trace_09` in the task"),
            ("trace_00", json!({"tone": 5}), "an answer to `tone`, and there is no such scheme"),
            ("trace_00", json!({"quality": {"clarity": 5}}), "there is no criterion `clarity`"),
            ("trace_00", json!({"quality": {"correctness": 77}}), "77 is not on the scale from 1 to 5"),
            ("trace_00", json!({"quality": {"correctness": "yes"}}), "is not on the scale from 1 to 5"),
        ];
        for purpose in ["training", "gold", "attention"] {
            for (item, answers, why) in &cases {
                let settings = json!({purpose: [{"item": item, "answers": answers}], "quota": 5});
                let change = json!({"state": "closed", "settings": settings});
                let refused = owner.ask(Method::PATCH, &path, change).await;
                assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.text);
                assert!(refused.text.contains(why), "{}", refused.text);
            }
        }
        assert_eq!(owner.get(&path).await, before, "a refused change changes nothing");
        // The same holds for a task that is made of a rubric.
        let source = "criteria: [{name: greets, description: It greets., scale: binary}]";
        owner.post("/rubrics", json!({"name": "greeting", "source": source})).await;
        let trace = json!({"id": "t1", "agent": "support", "trace": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]});
        owner.post("/traces", trace).await;
        let made_of = |item: &str, answer: Json| {
            let gold = json!([{"item": item, "answers": {"rubric": {"greets": answer}}}]);
            json!({"name": "greetings", "rubric": "greeting", "traces": ["t1"], "settings": {"gold": gold}})
        };
        for (item, answer, why) in
            [("t2", json!(true), "no item `t2`"), ("t1", json!("yes"), "is not one of false, true")]
        {
            let refused = owner.ask(Method::POST, "/tasks", made_of(item, answer)).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.text);
            assert!(refused.text.contains(why), "{}", refused.text);
        }
        owner.post("/tasks", made_of("t1", json!(true))).await;
        assert_eq!(owner.get("/tasks").await["items"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn the_name_of_a_request_replaces_the_name_of_its_file() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let files = json!({"config.yaml": CONFIG, "data/traces.jsonl": data(1)});
        let body = |name: Json| json!({"config": "config.yaml", "files": files, "name": name});
        assert_eq!(owner.post("/tasks", body(json!("Second study"))).await["name"], "Second study");
        assert_eq!(owner.post("/tasks", body(Json::Null)).await["name"], "Coding agents");
        let empty = owner.ask(Method::POST, "/tasks", body(json!(" "))).await;
        assert_eq!(empty.status, StatusCode::BAD_REQUEST, "{}", empty.text);
        let ignored = json!({"config": "config.yaml", "files": files, "settings": {"quota": 2}});
        let ignored = owner.ask(Method::POST, "/tasks", ignored).await;
        assert_eq!(ignored.status, StatusCode::BAD_REQUEST, "{}", ignored.text);
    });
}

#[test]
fn data_comes_later_items_go_and_bad_files_are_refused() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let task = made(&owner, 1).await;
        let ann = named(&place, &task, "ann").await;
        ann.rates_all(&task, 3).await;
        let rows = json!([{"trace_id": "trace_00", "task": "x"}, {"trace_id": "late", "task": "שלום 🎉 sk-abcdefghijklmnop1234"}]);
        let added = owner.post(&format!("/tasks/{task}/items"), json!({"rows": rows})).await;
        assert_eq!(added, json!({"n_new": 1, "n_there": 1}));
        let work = ann.next(&task).await;
        assert_eq!(work["item"]["text"], "שלום 🎉 [redacted]");
        let item = work["item"]["id"].as_str().unwrap();
        let removed = owner.ask(Method::DELETE, &format!("/tasks/{task}/items/{item}"), Json::Null).await;
        assert_eq!(removed.status, StatusCode::OK, "{}", removed.text);
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        let gone = ann.ask(Method::POST, &path, json!({"draft": rated(1, 1), "revision": 0})).await;
        assert_eq!(gone.status, StatusCode::CONFLICT);
        let twice = json!({"rows": [{"trace_id": "a"}, {"trace_id": "a"}]});
        let twice = owner.ask(Method::POST, &format!("/tasks/{task}/items"), twice).await;
        assert_eq!(twice.status, StatusCode::UNPROCESSABLE_ENTITY);
        let without = json!({"config": "config.yaml", "files": {"config.yaml": CONFIG}});
        let without = owner.ask(Method::POST, "/tasks", without).await;
        assert!(without.status == StatusCode::UNPROCESSABLE_ENTITY && without.text.contains("traces.jsonl"));
        let broken = CONFIG.replace("criteria:", "criterias:");
        let broken =
            json!({"config": "config.yaml", "files": {"config.yaml": broken, "data/traces.jsonl": data(1)}});
        let broken = owner.ask(Method::POST, "/tasks", broken).await;
        assert!(
            broken.status == StatusCode::UNPROCESSABLE_ENTITY && broken.text.contains("config.yaml:"),
            "{}",
            broken.text
        );
    });
}

#[test]
fn a_rubric_over_stored_traces_is_a_task_as_well() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        let source = "criteria: [{name: greets, description: It greets.}]";
        owner.post("/rubrics", json!({"name": "greeting", "source": source})).await;
        let trace = json!({"id": "t1", "agent": "support", "trace": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]});
        owner.post("/traces", trace).await;
        let body = json!({"name": "greetings", "rubric": "greeting", "traces": {"agent": "support"}});
        let task = owner.post("/tasks", body).await;
        assert_eq!(task["progress"]["n_items"], 1, "{task}");
        let task = task["id"].as_str().unwrap();
        let ann = named(&place, task, "ann").await;
        let work = ann.next(task).await;
        assert_eq!(work["item"]["trace"]["steps"][1]["text"], "hello");
        let draft = json!({"rubric": {"kind": "rubric", "criteria": {"greets": {"rating": {"kind": "scored", "value": 1}}}}});
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        ann.post(&path, json!({"draft": draft, "revision": 0})).await;
        let grades = owner.get("/grades?candidate=t1").await;
        assert_eq!(grades["items"][0]["score"], 1.0);
    });
}

#[test]
fn an_answer_that_is_sent_again_is_stored_once() {
    served(&ServerSettings::default(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        for back in [true, false] {
            let config = format!("{CONFIG}annotator_config: {{allow_back_navigation: {back}}}\n");
            let body = json!({"config": "config.yaml", "files": {"config.yaml": config, "data/traces.jsonl": data(1)}});
            let task = owner.post("/tasks", body).await["id"].as_str().unwrap().to_owned();
            let ann = named(&place, &task, "ann").await;
            let work = ann.next(&task).await;
            let id = work["assignment"].as_str().unwrap();
            let draft = rated(4, 2);
            // The acknowledgement of a draft was lost, and then that of the answer.
            let path = format!("/assignments/{id}/draft");
            for _ in 0..2 {
                let saved = ann.ask(Method::PUT, &path, json!({"draft": draft, "revision": 0})).await;
                assert_eq!((saved.status, &saved.json()["revision"]), (StatusCode::OK, &json!(1)));
            }
            let path = format!("/assignments/{id}/submit");
            let mut whole = draft.clone();
            whole["quality"]["overall"] = json!({"rating": {"kind": "scored", "value": 3}});
            for _ in 0..2 {
                let next = ann.post(&path, json!({"draft": whole, "revision": 1})).await;
                assert_eq!(next["next"], true);
            }
            let other = ann.ask(Method::POST, &path, json!({"draft": rated(1, 1), "revision": 1})).await;
            assert_ne!(other.status, StatusCode::OK, "{}", other.text);
            let export = owner.ask(Method::GET, &format!("/tasks/{task}/export"), Json::Null).await;
            assert_eq!(export.text.lines().count(), 1, "{}", export.text);
            let again = owner.get(&format!("/tasks/{task}")).await;
            assert_eq!(again["progress"]["n_submitted"], 1, "{again}");
        }
    });
}
