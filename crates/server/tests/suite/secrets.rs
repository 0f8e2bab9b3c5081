//! What is submitted is stored without its secrets, and what judges were told can be kept out of the store.

use jurist_server::ServerSettings;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::Act;
use crate::monitors::monitor;
use crate::place::served;
use crate::runs::{judge, suite};

const SECRET: &str = "sk-abcdefghijklmnop1234";

#[test]
fn files_and_rubrics_are_stored_without_their_secrets() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        let files = json!({
            "suite.yaml": "evals: [{name: a, response: file://a.txt, checks: [{type: contains, value: x}]}]",
            "a.txt": format!("x {SECRET} and export DB_PASSWORD=hunter22"),
        });
        let variables = json!({ "SHOP": "books", "SHOP_TOKEN": "hunter22", "NOTE": format!("see {SECRET}") });
        let run = json!({ "suite": "suite.yaml", "files": files, "variables": variables });
        let begun = place.ask(Method::POST, "/api/v1/runs", &[], run).await;
        let redacted = json!(["a.txt", "env.NOTE", "env.SHOP_TOKEN"]);
        assert_eq!(begun.json()["redacted"], redacted, "{}", begun.text);
        let run = begun.json()["id"].as_str().unwrap().parse().unwrap();
        let kept = place.app.store.submission(place.app.default_project, run).await.unwrap();
        let kept = String::from_utf8(kept).unwrap();
        assert!(kept.contains("x (redacted) and export DB_PASSWORD=(redacted)"), "{kept}");
        assert!(kept.contains("books") && !kept.contains("hunter22") && !kept.contains(SECRET), "{kept}");

        let source = format!("criteria: [{{name: greets, description: It never says {SECRET}.}}]");
        let body = json!({ "name": "greets", "source": source });
        let made = place.ask(Method::POST, "/api/v1/rubrics", &[], body).await;
        assert_eq!(made.status, StatusCode::OK, "{}", made.text);
        let versions = format!("/api/v1/rubrics/{}/versions", made.json()["id"].as_str().unwrap());
        let versions = place.ask(Method::GET, &versions, &[], Json::Null).await.text;
        assert!(versions.contains("It never says (redacted)") && !versions.contains(SECRET), "{versions}");

        let source = monitor("").replace("It is kind", &format!("It never says {SECRET}"));
        let body = json!({ "source": source });
        let applied = place.ask(Method::PUT, "/api/v1/monitors/desk", &[], body).await;
        assert_eq!(applied.status, StatusCode::OK, "{}", applied.text);
        let shown = place.ask(Method::GET, "/api/v1/monitors/desk", &[], Json::Null).await.text;
        assert!(!shown.contains(SECRET), "{shown}");
    });
}

#[test]
fn prompts_and_replies_are_not_stored_where_the_server_is_told_so() {
    let judge = judge(|_| Act::Fit);
    let usual = judge.settings();
    for store_exchanges in [true, false] {
        let work = jurist_server::Work { store_exchanges, ..usual.work.clone() };
        let settings = ServerSettings { work, ..ServerSettings::default() };
        served(&settings, |place| async move {
            place.workers(1);
            let run = place.submit(suite(1)).await;
            place.follow(&run, &[]).await;
            let head = place.get(&format!("/api/v1/runs/{run}")).await;
            assert_eq!(head["n_pass"], json!(1), "{head}");
            let exchanges = place.get(&format!("/api/v1/runs/{run}/exchanges?case=case%200")).await;
            let n_exchanges = exchanges.as_array().unwrap().len();
            assert_eq!(n_exchanges, usize::from(store_exchanges), "{exchanges}");
        });
    }
}
