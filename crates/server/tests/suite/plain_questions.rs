//! Questions that no rubric asks: conditions, nothing ticked, decisions and exports.

use jurist_core::grade::Outcome;
use jurist_server::ServerSettings;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Answer, Place, served};

const CONFIG: &str = "
annotation_task_name: Plain questions
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
annotation_schemes:
  - {annotation_type: radio, name: grounded, description: Is it in the documents?, labels: [yes, no], required: true}
  - annotation_type: multiselect
    name: faults
    description: What is wrong?
    labels: [invented, outdated]
    display_logic: {show_when: [{schema: grounded, operator: equals, value: No}]}
  - {annotation_type: likert, name: clear, size: 5}
  - {annotation_type: slider, name: effort, description: How much effort?, min_value: 0, max_value: 100, step: 5}
  - {annotation_type: text, name: why}
";

async fn ask(place: &Place, method: Method, path: &str, cookie: &str, body: Json) -> Answer {
    place.ask(method, &format!("/api/v1{path}"), &[("cookie", cookie)], body).await
}

async fn post(place: &Place, path: &str, cookie: &str, body: Json) -> Json {
    let answer = ask(place, Method::POST, path, cookie, body).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
    answer.json()
}

async fn make_task(place: &Place) -> String {
    let files =
        json!({"task.yaml": CONFIG, "data.jsonl": "{\"id\": \"a\", \"text\": \"It opens at nine.\"}\n"});
    let made = post(place, "/tasks", "", json!({"config": "task.yaml", "files": files})).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Answers the only item under a name.
async fn answer(place: &Place, task: &str, name: &str, draft: Json) -> Json {
    let body = json!({"task": task, "name": name});
    let joined = place.ask(Method::POST, "/api/v1/join/task", &[], body).await;
    let cookie = joined.cookie();
    let work = post(place, &format!("/tasks/{task}/next"), &cookie, json!({})).await;
    let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
    post(place, &path, &cookie, json!({"draft": draft, "revision": work["revision"]})).await;
    work
}

fn draft(grounded: &str, faults: Option<&[&str]>, clear: u32, effort: i64) -> Json {
    let mut draft = json!({
        "grounded": {"kind": "choice", "labels": [grounded]}, "clear": {"kind": "likert", "value": clear},
        "effort": {"kind": "slider", "value": effort}, "why": {"kind": "text", "text": "so"}});
    if let Some(faults) = faults {
        draft["faults"] = json!({"kind": "choice", "labels": faults});
    }
    draft
}

async fn export(place: &Place, task: &str, format: &str) -> String {
    ask(place, Method::GET, &format!("/tasks/{task}/export?format={format}"), "", Json::Null).await.text
}

#[test]
fn hidden_questions_are_not_stored_and_nothing_ticked_is_an_answer() {
    served(&ServerSettings::default(), |place| async move {
        let task = make_task(&place).await;
        let work = answer(&place, &task, "ana", draft("yes", Some(&["invented"]), 2, 10)).await;
        assert_eq!(work["schemes"][1]["shown_when"]["conditions"][0]["values"], json!(["No"]));
        answer(&place, &task, "ben", draft("no", None, 5, 90)).await;
        answer(&place, &task, "cem", draft("no", Some(&["outdated"]), 5, 90)).await;
        let lines: Vec<Json> = export(&place, &task, "jsonl")
            .await
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["faults"], Json::Null, "it was not asked: {}", lines[0]);
        assert_eq!(lines[1]["faults"], json!([]), "nothing was ticked");
        assert_eq!(
            (&lines[0]["effort"], &lines[0]["rubric"]),
            (&json!(10), &Json::Null),
            "under its own name"
        );
        let questions = json!({"grounded": "radio", "clear": "likert 1 to 5", "effort": "slider 0 to 100", "why": "text"});
        assert_eq!(lines[0]["questions"], questions);
        let disputes =
            ask(&place, Method::GET, &format!("/tasks/{task}/disputes"), "", Json::Null).await.json();
        let of = |name: &str| {
            let all = disputes["items"].as_array().unwrap();
            all.iter()
                .find(|one| one["scheme"] == name)
                .unwrap_or_else(|| panic!("{name}: {disputes}"))
                .clone()
        };
        assert_eq!(of("faults")["ratings"].as_array().unwrap().len(), 2, "one of them ticked nothing");
        assert_eq!(of("grounded")["label"], "Is it in the documents?");
        let values: Vec<Json> =
            of("grounded")["points"].as_array().unwrap().iter().map(|point| point["value"].clone()).collect();
        assert_eq!(values, [json!("yes"), json!("no")]);
        assert_eq!(of("clear")["points"].as_array().unwrap().len(), 5);
        assert_eq!(of("effort")["points"].as_array().unwrap().len(), 21);
        // A value beside the steps is refused.
        let body = json!({"task": task, "name": "dora"});
        let cookie = place.ask(Method::POST, "/api/v1/join/task", &[], body).await.cookie();
        let work = post(&place, &format!("/tasks/{task}/next"), &cookie, json!({})).await;
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        let wrong = json!({"draft": draft("yes", None, 1, 7), "revision": work["revision"]});
        let refused = ask(&place, Method::POST, &path, &cookie, wrong).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.text.contains("a whole number from 0 to 100 in steps of 5"), "{}", refused.text);
    });
}

#[test]
fn answers_outside_of_limits_are_refused_and_words_are_marked() {
    served(&ServerSettings::default(), |place| async move {
        let config = "
annotation_task_name: Limits
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
keyword_highlights: [{word: open*, label: hours}]
annotation_schemes:
  - {annotation_type: multiselect, name: faults, labels: [a, b, c], min_selections: 1, max_selections: 2}
  - {annotation_type: text, name: why, max_chars: 5}
";
        let files =
            json!({"task.yaml": config, "data.jsonl": "{\"id\": \"a\", \"text\": \"It opens at nine.\"}\n"});
        let made = post(&place, "/tasks", "", json!({"config": "task.yaml", "files": files})).await;
        let task = made["id"].as_str().unwrap();
        let body = json!({"task": task, "name": "ana"});
        let cookie = place.ask(Method::POST, "/api/v1/join/task", &[], body).await.cookie();
        let work = post(&place, &format!("/tasks/{task}/next"), &cookie, json!({})).await;
        assert_eq!(work["item"]["keywords"], json!([{"word": "open*", "label": "hours"}]));
        assert_eq!(work["schemes"][0]["limits"], json!({"min": 1, "max": 2}));
        assert_eq!(work["schemes"][1]["limits"], json!({"max": 5}));
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        let sent = |labels: &[&str], text: &str| {
            let draft = json!({"faults": {"kind": "choice", "labels": labels}, "why": {"kind": "text", "text": text}});
            json!({"draft": draft, "revision": work["revision"]})
        };
        let refused = ask(&place, Method::POST, &path, &cookie, sent(&["a", "b", "c"], "too long")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        for why in ["1 to 2 labels expected, 3 given", "at most 5 characters expected, 8 given"] {
            assert!(refused.text.contains(why), "{}", refused.text);
        }
        post(&place, &path, &cookie, sent(&["a", "b"], "so")).await;
    });
}

#[test]
fn decisions_are_answers_of_their_question_and_are_exported() {
    served(&ServerSettings::default(), |place| async move {
        let task = make_task(&place).await;
        answer(&place, &task, "ana", draft("no", Some(&["invented"]), 2, 10)).await;
        answer(&place, &task, "ben", draft("no", Some(&["outdated"]), 5, 90)).await;
        let disputes =
            ask(&place, Method::GET, &format!("/tasks/{task}/disputes"), "", Json::Null).await.json();
        let item = disputes["items"][0]["item"].as_str().unwrap().to_owned();
        let decide = async |scheme: &str, value: Json| {
            let path = format!("/items/{item}/decisions/{scheme}/{scheme}");
            let body = json!({"rating": {"kind": "scored", "value": value}});
            ask(&place, Method::PUT, &path, "", body).await
        };
        for (scheme, value, why) in [
            ("grounded", json!(1), "1 is not one of yes, no"),
            ("clear", json!(99), "99 is not on the scale from 1 to 5"),
            ("faults", json!("xx"), "`xx` is not one of invented, outdated"),
            ("faults", json!([1]), "is not a list of labels"),
            ("effort", json!(7), "7 is not on the scale from 0 to 100"),
            ("why", json!("so"), "free text"),
        ] {
            let refused = decide(scheme, value).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{scheme}: {}", refused.text);
            assert!(refused.text.contains(why), "{scheme}: {}", refused.text);
        }
        let unknown = decide("nothing", json!(1)).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{}", unknown.text);
        let path = format!("/items/{item}/decisions/clear/clear");
        let shapeless = ask(&place, Method::PUT, &path, "", json!({"rating": 3})).await;
        assert_eq!(shapeless.status, StatusCode::BAD_REQUEST);
        assert!(shapeless.text.contains("`rating` must be"), "{}", shapeless.text);
        let both = decide("faults", json!(["outdated", "invented"])).await;
        assert_eq!(both.status, StatusCode::OK, "{}", both.text);
        assert_eq!(both.json()["labels"], json!(["invented", "outdated"]));
        assert_eq!(decide("clear", json!(4)).await.status, StatusCode::OK);
        assert_eq!(decide("grounded", json!("yes")).await.status, StatusCode::OK);
        let decided = json!({"faults": ["invented", "outdated"], "clear": 4, "grounded": "yes"});
        for line in export(&place, &task, "jsonl").await.lines() {
            assert_eq!(serde_json::from_str::<Json>(line).unwrap()["decided"], decided);
        }
        let csv = export(&place, &task, "csv").await;
        let (head, row) = csv.split_once("\r\n").unwrap();
        assert!(
            head.ends_with("why,why.scale,grounded.decided,faults.decided,clear.decided,effort.decided"),
            "{head}"
        );
        assert!(row.lines().next().unwrap().ends_with("so,text,yes,invented; outdated,4,"), "{row}");
        let store = &place.app.store;
        let found = store.task(place.app.default_project, task.parse().unwrap()).await.unwrap();
        let project = place.app.default_project;
        let grades = jurist_server::annotate::people_grades(store, project, &found, "t").await.unwrap();
        let mut criteria: Vec<&str> = grades.iter().map(|(grade, _)| grade.criterion.as_str()).collect();
        criteria.dedup();
        assert_eq!(criteria, ["grounded", "faults", "clear", "effort"].repeat(2));
        let labels = jurist_server::annotate::settled_grades(store, project, &found, "t").await.unwrap();
        assert_eq!(labels.len(), 3);
    });
}

#[test]
fn a_label_is_a_decision_or_an_answer_that_no_one_contradicts() {
    served(&ServerSettings::default(), |place| async move {
        let task = make_task(&place).await;
        answer(&place, &task, "ana", draft("no", Some(&["invented"]), 2, 10)).await;
        let labels = async || {
            let (store, project) = (&place.app.store, place.app.default_project);
            let found = store.task(project, task.parse().unwrap()).await.unwrap();
            let labels = jurist_server::annotate::settled_grades(store, project, &found, "t").await.unwrap();
            let mut labels: Vec<String> = labels
                .iter()
                .map(|(grade, _)| {
                    let Outcome::Scored { value, .. } = &grade.outcome else { panic!("no score") };
                    format!("{} {value} {}", grade.criterion, grade.grader.name)
                })
                .collect();
            labels.sort();
            labels
        };
        assert_eq!(labels().await, Vec::<String>::new(), "one person is not enough");
        answer(&place, &task, "ben", draft("no", Some(&["invented"]), 5, 90)).await;
        assert_eq!(labels().await, ["faults invented unanimous", "grounded no unanimous"]);
        let disputes =
            ask(&place, Method::GET, &format!("/tasks/{task}/disputes"), "", Json::Null).await.json();
        let item = disputes["items"][0]["item"].as_str().unwrap().to_owned();
        for (scheme, value) in [("clear", json!(4)), ("grounded", json!("yes"))] {
            let path = format!("/items/{item}/decisions/{scheme}/{scheme}");
            let body = json!({"rating": {"kind": "scored", "value": value}});
            assert_eq!(ask(&place, Method::PUT, &path, "", body).await.status, StatusCode::OK);
        }
        let decided = ["clear 4 adjudicated", "faults invented unanimous", "grounded yes adjudicated"];
        assert_eq!(labels().await, decided);
    });
}
