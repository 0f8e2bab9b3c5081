//! Rubrics, and what is counted about them.

use jurist_core::grade::{FORMAT, Grade, Grader, GraderKind, Outcome, Reason, Spend};
use jurist_core::rubric::Value;
use jurist_server::ServerSettings;
use jurist_store::grades::NewGrade;
use jurist_store::{Probability, clock};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Place, served};

pub const SOURCE: &str = "criteria: [{name: greets, description: It greets.}]";
const OTHER: &str = "criteria: [{name: greets, description: It greets by name.}]";

async fn greeting(place: &Place) -> (String, String, Json) {
    let body = json!({ "name": "greeting", "source": SOURCE });
    let made = place.ask(Method::POST, "/api/v1/rubrics", &[], body).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.text);
    let path = format!("/api/v1/rubrics/{}", made.json()["id"].as_str().unwrap());
    (path, made.headers["etag"].to_str().unwrap().to_owned(), made.json())
}

#[test]
fn a_rubric_is_changed_by_who_knows_what_it_is() {
    served(&ServerSettings::default(), |place| async move {
        let (path, tag, _) = greeting(&place).await;
        let put = async |tag: &str, source: &str| {
            let headers = [("if-match", tag)];
            place.ask(Method::POST, &format!("{path}/versions"), &headers, json!({ "source": source })).await
        };
        let changed = put(&tag, OTHER).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
        let late = put(&tag, SOURCE).await;
        assert_eq!(late.status, StatusCode::PRECONDITION_FAILED, "{}", late.text);
        assert_eq!(late.headers["content-type"], "application/problem+json");
        let newest = changed.headers["etag"].to_str().unwrap();
        assert_eq!(put(newest, SOURCE).await.json()["hash"], {
            let all = place.get(&format!("{path}/versions")).await;
            all.as_array().unwrap().iter().find(|item| item["source"] == SOURCE).unwrap()["hash"].clone()
        });
        let all = place.get(&format!("{path}/versions")).await;
        assert_eq!(all.as_array().unwrap().len(), 2, "the same content is the same version");
        let id = all[0]["id"].as_str().unwrap();
        assert_eq!(place.get(&format!("/api/v1/rubric-versions/{id}")).await, all[0]);
        let archived = place.ask(Method::PATCH, &path, &[], json!({ "archived": true })).await;
        assert!(archived.json()["archived"].is_string());
        let twice = json!({ "name": "greeting", "source": SOURCE });
        assert_eq!(place.ask(Method::POST, "/api/v1/rubrics", &[], twice).await.status, StatusCode::CONFLICT);
        let broken = json!({ "name": "broken", "source": "criteria: [{nam: x}]" });
        let broken = place.ask(Method::POST, "/api/v1/rubrics", &[], broken).await;
        assert_eq!(broken.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(broken.text.contains("rubric.yaml:1"), "{}", broken.text);
    });
}

#[test]
fn of_several_who_saw_the_same_rubric_one_changes_it() {
    served(&ServerSettings::default(), |place| async move {
        let (path, tag, _) = greeting(&place).await;
        let put = async |n: usize| {
            let source = json!({ "source": format!("criteria: [{{name: a, description: It greets {n}.}}]") });
            place.ask(Method::POST, &format!("{path}/versions"), &[("if-match", &tag)], source).await.status
        };
        let all = futures_util::future::join_all((0..8).map(put)).await;
        assert_eq!(all.iter().filter(|it| **it == StatusCode::OK).count(), 1, "{all:?}");
        assert_eq!(all.iter().filter(|it| **it == StatusCode::PRECONDITION_FAILED).count(), 7, "{all:?}");
        assert_eq!(place.get(&format!("{path}/versions")).await.as_array().unwrap().len(), 2);
    });
}

#[test]
fn grades_are_listed_summed_up_and_written_out() {
    served(&ServerSettings::default(), |place| async move {
        let (_, _, rubric) = greeting(&place).await;
        let version: jurist_store::RubricVersionId = rubric["newest"].as_str().unwrap().parse().unwrap();
        let grade = |at: usize| NewGrade {
            grade: Grade {
                format: FORMAT,
                candidate: if at == 0 { "=cmd()".to_owned() } else { format!("trace {at}") },
                rubric: None,
                criterion: "greets".to_owned(),
                grader: Grader { kind: GraderKind::Judge, name: "gpt-5".to_owned(), configuration: None },
                outcome: Outcome::Scored { value: Value::Number(1.0), unit: Some((at % 2) as f64) },
                reason: Reason::new(""),
                evidence: Vec::new(),
                points: Vec::new(),
                flags: Vec::new(),
                spend: Spend::default(),
                time: None,
                attempts: Vec::new(),
            },
            rubric_version: version.clone(),
            attempt: 1,
            agent: None,
            is_passed: Some(at % 2 == 1),
            probability: Probability::CERTAIN,
            time: clock::current_time(),
        };
        let grades: Vec<NewGrade> = (0..1200).map(grade).collect();
        place.app.store.record(place.app.default_project, &grades, &[]).await.unwrap();
        let page = place.get("/api/v1/grades?limit=5&criterion=greets").await;
        assert_eq!(page["items"].as_array().unwrap().len(), 5);
        let next = page["next"].as_str().unwrap();
        let page = place.get(&format!("/api/v1/grades?limit=5&after={next}")).await;
        assert_eq!(page["items"].as_array().unwrap().len(), 5);
        let sums = place.get("/api/v1/tallies?by=day").await;
        assert_eq!((&sums["grades"][0]["n_scored"], &sums["grades"][0]["mean"]), (&json!(1200), &json!(0.5)));
        assert_eq!(place.get("/api/v1/verdicts").await["items"], json!([]));
        let export = async |query: &str| {
            place.ask(Method::GET, &format!("/api/v1/export{query}"), &[], Json::Null).await.text
        };
        assert_eq!(export("").await.lines().count(), 1200);
        let csv = export("?format=csv").await;
        assert_eq!(csv.lines().count(), 1201);
        assert!(csv.contains(",'=cmd(),") || csv.contains("'=cmd()"), "no formula");
        assert_eq!(export("?what=traces").await, "");
        let bad = place.ask(Method::GET, "/api/v1/export?format=xls", &[], Json::Null).await;
        assert_eq!(bad.status, StatusCode::BAD_REQUEST);
    });
}

#[test]
fn versions_differ_in_words() {
    served(&ServerSettings::default(), |place| async move {
        let (path, _, first) = greeting(&place).await;
        let source = "threshold: 0.9
criteria:
  - {name: greets, description: It greets by name.}
  - {name: short, description: It is short.}
";
        let put =
            place.ask(Method::POST, &format!("{path}/versions"), &[], json!({ "source": source })).await;
        let (old, new) = (first["newest"].as_str().unwrap(), put.json()["id"].as_str().unwrap().to_owned());
        let found = place.get(&format!("/api/v1/rubric-versions/{new}/diff?from={old}")).await;
        let told: Vec<&str> = found["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["sentence"].as_str().unwrap())
            .collect();
        assert_eq!(
            told,
            [
                "criterion `greets` description: It greets. → It greets by name.",
                "added criterion `short`",
                "threshold: (default) → 0.9",
            ]
        );
        let change = &found["changes"][0];
        assert_eq!((&change["kind"], &change["to"]), (&json!("changed"), &json!("It greets by name.")));
        let same = place.get(&format!("/api/v1/rubric-versions/{new}/diff?from={new}")).await;
        assert_eq!(same["changes"], json!([]));
        let bare = place.fetch(&format!("/api/v1/rubric-versions/{new}/diff")).await;
        assert_eq!(bare.status, StatusCode::BAD_REQUEST, "{}", bare.text);
    });
}

#[test]
fn presets_are_rubrics_to_begin_with() {
    served(&ServerSettings::default(), |place| async move {
        let all = place.get("/api/v1/presets").await;
        let all = all.as_array().unwrap();
        assert_eq!(all.len(), jurist_core::rubric::presets::ALL.len());
        for preset in all {
            assert!(!preset["description"].as_str().unwrap().is_empty(), "{preset}");
            let body = json!({ "name": preset["name"], "source": preset["source"] });
            let made = place.ask(Method::POST, "/api/v1/rubrics", &[], body).await;
            assert_eq!(made.status, StatusCode::OK, "{}", made.text);
        }
    });
}
