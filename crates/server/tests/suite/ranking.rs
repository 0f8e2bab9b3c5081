//! Who is better, from contests before judges and from what people prefer.

use std::collections::BTreeMap;

use jurist_server::ServerSettings;
use jurist_store::contests::{Contested, StoredContest};
use jurist_store::{ContestId, SeriesId, clock, random};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Place, served};

const MONITOR: &str = "agent: desk\nrubric: {criteria: [{name: kind, description: It is kind.}]}\n";

impl Place {
    /// Keeps contests of three sides: the first wins three of four, whoever stands first one more.
    async fn contested(&self) {
        let (store, project) = (&self.app.store, self.app.default_project);
        let put = self.ask(Method::PUT, "/api/v1/monitors/tone", &[], json!({ "source": MONITOR })).await;
        assert_eq!(put.status, StatusCode::OK, "{}", put.text);
        let monitor = store.monitor_named(project, "tone").await.unwrap().unwrap();
        let version = monitor.newest.unwrap().rubric_version;
        let series = SeriesId::at(clock::current_time());
        for (at, (a, b)) in [("x", "y"), ("y", "z"), ("x", "z")].into_iter().enumerate() {
            for n in 0..20 {
                let id = |side: &str| format!("{side}-{at}-{n}").parse().unwrap();
                let outcome = match n {
                    0..=13 => Contested::A,
                    14..=17 => Contested::B,
                    18 => Contested::Tie,
                    _ => Contested::Error,
                };
                let first = if n % 2 == 0 { id(a) } else { id(b) };
                let contest = StoredContest {
                    id: ContestId::new(clock::current_time(), random()),
                    monitor: monitor.id,
                    series,
                    sides: (a.to_owned(), b.to_owned()),
                    rubric_version: version.clone(),
                    judge: if n < 10 { "openai/m1" } else { "openai/m2" }.to_owned(),
                    traces: (id(a), id(b)),
                    first,
                    outcome,
                    reason: String::new(),
                    cost: None,
                    time: clock::current_time(),
                };
                store.add_contest(project, &contest).await.unwrap();
            }
        }
    }
}

#[test]
fn contests_become_strengths_with_intervals() {
    served(&ServerSettings::default(), |place| async move {
        let nothing = place.get("/api/v1/ranking").await;
        assert_eq!((&nothing["sides"], &nothing["bradley_terry"]), (&json!([]), &Json::Null));
        assert!(nothing["undefined"].is_string() && nothing["picture"].is_null(), "{nothing}");

        place.contested().await;
        let found = place.get("/api/v1/ranking?source=comparisons").await;
        assert_eq!(found["sides"], json!(["x", "y", "z"]));
        assert_eq!((&found["n"], &found["ties"], &found["errors"]), (&json!(57), &json!(3), &json!(3)));
        assert_eq!(found["wins"][0], json!([0, 14, 14]));
        assert_eq!(found["wins"][1], json!([4, 0, 14]));
        assert!((found["rates"][0][1].as_f64().unwrap() - 14.5 / 19.0).abs() < 1e-12, "{found}");
        assert_eq!(found["rates"][0][0], Json::Null);
        let strongest = &found["bradley_terry"][0];
        assert_eq!(
            (&strongest["side"], &strongest["rank"], &strongest["n"]),
            (&json!("x"), &json!(1), &json!(38))
        );
        let low = strongest["interval"][0].as_f64().unwrap();
        assert!(low < strongest["strength"].as_f64().unwrap(), "{strongest}");
        // Of 18 that somebody won in each of three, whoever stood first won 7 + 2.
        let position = &found["position"];
        assert_eq!((&position["first_wins"], &position["n"]), (&json!(27), &json!(54)));
        assert_eq!(position["p"], json!(1.0));
        assert_eq!(found["judges"], json!(["openai/m1", "openai/m2"]));
        assert!(found["strengths"]["svg"].as_str().unwrap().starts_with("<svg"));
        assert_eq!(found["picture"]["table"]["rows"].as_array().unwrap().len(), 3);

        let one = place.get("/api/v1/ranking?monitor=tone&judge=openai/m2").await;
        assert_eq!((&one["n"], &one["errors"]), (&json!(27), &json!(3)));
        // With this judge, no weaker model ever won, and the answer says so.
        let sure = place.get("/api/v1/ranking?judge=openai/m1").await;
        assert_eq!(sure["bradley_terry"], Json::Null);
        assert!(sure["undefined"].as_str().unwrap().len() > 10, "{sure}");
        for (query, status) in [
            ("monitor=nobody", StatusCode::NOT_FOUND),
            ("source=dice", StatusCode::BAD_REQUEST),
            ("source=people", StatusCode::BAD_REQUEST),
        ] {
            let answer = place.fetch(&format!("/api/v1/ranking?{query}")).await;
            assert_eq!(answer.status, status, "{query}: {}", answer.text);
        }
    });
}

const PAIRS: &str = "
annotation_task_name: Which is better
data_files: [pairs.jsonl]
item_properties: {id_key: id, text_key: question}
annotation_schemes:
  - {annotation_type: pairwise, name: better, items_key: answers, labels: [old, new], allow_tie: true, tie_label: same}
";

#[test]
fn what_people_prefer_is_ranked_by_where_it_stood() {
    served(&ServerSettings::default(), |place| async move {
        let row =
            |at: usize| json!({ "id": format!("q{at}"), "question": "Why?", "answers": ["so", "thus"] });
        let rows: String = (0..12).map(|at| format!("{}\n", row(at))).collect();
        let body = json!({ "config": "c.yaml", "files": { "c.yaml": PAIRS, "pairs.jsonl": rows } });
        let made = place.ask(Method::POST, "/api/v1/tasks", &[], body).await;
        assert_eq!(made.status, StatusCode::OK, "{}", made.text);
        let task = made.json()["id"].as_str().unwrap().to_owned();
        let body = json!({ "task": task, "name": "Ann" });
        let joined = place.ask(Method::POST, "/api/v1/join/task", &[], body).await.cookie();
        let cookie = [("cookie", joined.as_str())];
        let (mut n_first, mut n_shown, mut n_said) = (0, BTreeMap::new(), BTreeMap::new());
        for _ in 0..12 {
            let path = format!("/api/v1/tasks/{task}/next");
            let work = place.ask(Method::POST, &path, &cookie, json!({})).await.json();
            // Who stands first is drawn by the task's id; "new" is preferred on either side, so that no draw turns it.
            let first = work["item"]["candidates"][0]["label"].as_str().unwrap().to_owned();
            let n_before: &mut usize = n_shown.entry(first.clone()).or_default();
            let label = ["new", "new", "old", "same"][*n_before % 4];
            *n_before += 1;
            *n_said.entry(label).or_insert(0) += 1;
            n_first += usize::from(first == label);
            let path = format!("/api/v1/assignments/{}/submit", work["assignment"].as_str().unwrap());
            let draft = json!({ "better": { "kind": "pairwise", "label": label } });
            let body = json!({ "draft": draft, "revision": work["revision"] });
            let sent = place.ask(Method::POST, &path, &cookie, body).await;
            assert_eq!(sent.status, StatusCode::OK, "{}", sent.text);
        }
        let found = place.get(&format!("/api/v1/ranking?source=people&task={task}")).await;
        assert_eq!(found["sides"], json!(["new", "old"]));
        let n = |label: &str| n_said.get(label).copied().unwrap_or(0);
        assert_eq!((&found["n"], &found["ties"]), (&json!(12), &json!(n("same"))));
        assert_eq!(found["wins"], json!([[0, n("new")], [n("old"), 0]]));
        assert_eq!(found["position"]["first_wins"], json!(n_first), "as it was shown");
        assert_eq!(found["bradley_terry"][0]["side"], "new");
    });
}
