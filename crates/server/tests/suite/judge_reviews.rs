//! People who check what judges said, and traces that are sent to people.

use std::collections::BTreeSet;

use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::annotate::{Person, named};
use crate::model::Act;
use crate::monitors::{honest, hurried, monitor};
use crate::place::{hasty, served};
use crate::runs::judge;

#[test]
fn what_a_judge_said_is_confirmed_or_corrected_by_a_person() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish("t", "worth 4", json!({})).await;
        place.settled("tone", 1).await;
        let owner = Person { place: &place, cookie: String::new() };
        let body = json!({"name": "Is the judge right?", "verify": {"monitor": "tone"}});
        let task = owner.post("/tasks", body).await["id"].as_str().unwrap().to_owned();
        let ann = named(&place, &task, "ann").await;
        let work = ann.next(&task).await;
        let scheme = &work["schemes"][0];
        let claims = scheme["claims"].as_array().unwrap();
        assert_eq!(claims.len(), 2, "{work}");
        assert_eq!(claims[0]["said"], json!({"kind": "scored", "value": 4.0}), "{work}");
        let id = |at: usize| claims[at]["id"].as_str().unwrap();
        let draft = |second: Json| {
            json!({scheme["name"].as_str().unwrap(): {"kind": "verify", "claims": {
            id(0): {"verdict": "confirmed"}, id(1): second}}})
        };
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        // A correction needs the right answer.
        let half = draft(json!({"verdict": "corrected"}));
        let early = ann.ask(Method::POST, &path, json!({"draft": half, "revision": 0})).await;
        assert_eq!(early.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", early.text);
        let whole = draft(json!({"verdict": "corrected", "rating": {"kind": "scored", "value": 2}}));
        ann.post(&path, json!({"draft": whole, "revision": 0})).await;
        // It stands beside what the judge said, as a grade of a person.
        let grades = owner.get("/grades?candidate=t&grader_kind=human").await;
        let values: Vec<(&Json, &Json)> = grades["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (&item["grader"], &item["score"]))
            .collect();
        assert_eq!(values.len(), 2, "{grades}");
        assert!(values.iter().all(|value| value.0 == "ann"), "{grades}");
        let units: BTreeSet<String> = values.iter().map(|value| value.1.to_string()).collect();
        assert_eq!(units.into_iter().collect::<Vec<_>>(), ["0.25", "0.75"], "{grades}");
    });
}

#[test]
fn whoever_checks_a_judge_has_before_them_what_it_had() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(2);
        let case = "{name: dates, input: When?, response: On Monday., expected: Tuesday, \
            context: [The parcel comes on Tuesday.], rubric: It agrees with the context.}";
        let files = json!({"suite.yaml": format!("evals:\n  - {case}\n")});
        let run = place.submit(json!({"suite": "suite.yaml", "files": files})).await;
        place.follow(&run, &[]).await;
        let owner = Person { place: &place, cookie: String::new() };
        let task = owner.post("/tasks", json!({"name": "Is it right?", "verify": {"run": run}})).await;
        let task = task["id"].as_str().unwrap();
        let work = named(&place, task, "ann").await.next(task).await;
        let given = json!([{"kind": "context", "text": "The parcel comes on Tuesday."},
            {"kind": "reference", "text": "Tuesday"}]);
        assert_eq!((&work["item"]["given"], &work["item"]["text"]), (&given, &json!("On Monday.")), "{work}");
    });
}

#[test]
fn what_judges_said_is_told_to_those_who_have_answered() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        // Two questions: the reply to one would be kept for the other, and whichever came second had no exchange.
        for (id, answer) in [("t", "worth 4"), ("u", "worth 4 as well")] {
            place.finish(id, answer, json!({})).await;
        }
        place.settled("tone", 2).await;
        let owner = Person { place: &place, cookie: String::new() };
        let body = json!({"name": "Look", "rubric": "tone", "traces": ["t", "u"]});
        let task = owner.post("/tasks", body).await["id"].as_str().unwrap().to_owned();
        let ann = named(&place, &task, "ann").await;
        // How many grades, verdicts, listed verdicts and lines of exports each endpoint returns about a trace.
        let told = async |who: &Person<'_>, trace: &str| {
            let n = |value: &Json| value.as_array().unwrap().len();
            let about = |it: &Json| {
                let all = it["items"].as_array().unwrap();
                all.iter()
                    .filter(|value| value["id"] == trace || value["trace"] == trace)
                    .cloned()
                    .collect::<Vec<_>>()
            };
            let grades = who.get(&format!("/grades?full=true&candidate={trace}")).await;
            let verdicts = who.get(&format!("/verdicts?candidate={trace}")).await;
            let listed = about(&who.get("/traces").await);
            let shown = who.get(&format!("/traces/{trace}")).await;
            assert_eq!(listed[0]["is_withheld"], shown["is_withheld"]);
            assert_eq!(shown["is_withheld"], grades["n_withheld"] != 0);
            assert_eq!(shown["is_withheld"], verdicts["n_withheld"] != 0);
            let exchanges = who.ask(Method::GET, &format!("/traces/{trace}/exchanges"), Json::Null).await;
            let export = async |what: &str| {
                let all = who.ask(Method::GET, &format!("/export?what={what}"), Json::Null).await.text;
                all.lines().filter(|line| line.contains(&format!("\"candidate\":\"{trace}\""))).count()
            };
            [
                n(&grades["items"]),
                n(&verdicts["items"]),
                n(&listed[0]["verdicts"]),
                about(&who.get("/traces?sort=score").await).len(),
                about(&who.get("/traces?verdict=pass").await).len(),
                usize::from(exchanges.status == StatusCode::OK),
                export("grades").await,
                export("verdicts").await,
            ]
        };
        let all = [2, 1, 1, 1, 1, 1, 2, 1];
        assert_eq!(told(&ann, "t").await, all, "whoever has begun nothing may look");
        let work = ann.next(&task).await;
        for trace in ["t", "u"] {
            assert_eq!(told(&ann, trace).await, [0; 8], "{trace}");
            assert_eq!(told(&owner, trace).await, all, "{trace}");
        }
        let why = ann.get("/traces/t/decisions").await;
        assert_eq!((&why[0]["state"], &why[0]["spread"]), (&json!("scored"), &Json::Null), "{why}");

        let (scheme, first) = (&work["schemes"][0], work["item"]["trace"]["steps"][0]["text"].clone());
        assert!(first.as_str().unwrap().contains("worth 4"), "{work}");
        let rows = scheme["criteria"].as_array().unwrap().iter();
        let rated = rows.map(|row| {
            let value = row["points"][0]["value"].clone();
            (row["name"].as_str().unwrap().to_owned(), json!({"rating": {"kind": "scored", "value": value}}))
        });
        let rated: serde_json::Map<String, Json> = rated.collect();
        let draft = json!({scheme["name"].as_str().unwrap(): {"kind": "rubric", "criteria": rated}});
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        ann.post(&path, json!({"draft": draft, "revision": 0})).await;
        let (before, after) = (told(&ann, "t").await, told(&ann, "u").await);
        let (done, left) = if before[1] == 1 { (before, after) } else { (after, before) };
        assert_eq!((done, left), ([4, 1, 1, 1, 1, 1, 4, 1], [0; 8]), "with their own grades");
        let closed = owner.ask(Method::PATCH, &format!("/tasks/{task}"), json!({"state": "closed"})).await;
        assert_eq!(closed.status, StatusCode::OK, "{}", closed.text);
        assert_eq!(told(&ann, "u").await[1], 1, "it will not be given to them any more");
    });
}

#[test]
fn traces_are_sent_to_people_by_their_ids() {
    served(&hasty(), |place| async move {
        let owner = Person { place: &place, cookie: String::new() };
        for id in ["t1", "t2", "t3"] {
            place.finish(id, &format!("Hello from {id}"), json!({})).await;
            place.until(id, |value| value["state"] == "finished").await;
        }
        let source = "criteria: [{name: kind, description: It is kind.}]";
        owner.post("/rubrics", json!({"name": "kindness", "source": source})).await;
        let body = |traces: Json| json!({"name": "Look at these", "rubric": "kindness", "traces": traces});
        let gone = owner.ask(Method::POST, "/tasks", body(json!(["t1", "t9"]))).await;
        assert_eq!(gone.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(gone.text.contains("t9"), "{}", gone.text);
        assert_eq!(owner.get("/tasks").await["items"], json!([]), "nothing is made of half of them");
        let wrong = owner.ask(Method::POST, "/tasks", body(json!(7))).await;
        assert!(
            wrong.status == StatusCode::BAD_REQUEST && wrong.text.contains("ids of traces"),
            "{}",
            wrong.text
        );
        let task = owner.post("/tasks", body(json!(["t2", "t1"]))).await;
        assert_eq!(task["progress"]["n_items"], 2);
        let path = format!("/tasks/{}/items", task["id"].as_str().unwrap());
        let added = owner.post(&path, json!({"traces": ["t3", "t1"]})).await;
        assert_eq!(added, json!({"n_new": 1, "n_there": 1}));
        let all = owner.post("/tasks", body(json!({"agent": "desk"}))).await;
        assert_eq!(all["progress"]["n_items"], 3, "as before, by what they are like");
    });
}
