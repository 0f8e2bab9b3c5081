//! Money that all workers share: caps, what is told about them, and how a month goes on.

use std::sync::Arc;
use std::time::Duration;

use jurist_core::dialect::ModelPrice;
use jurist_core::grade::{Time, Usd};
use jurist_core::money::{Cap, Currency};
use jurist_server::{Metrics, WorkerContext, load_month_spend, run_worker, run_worker_maintenance};
use jurist_store::Store;
use jurist_store::spend::{ReservationRequest, Reserve};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::Act;
use crate::place::{Place, served};
use crate::runs::{judge, suite};

fn at(text: &str) -> Time {
    Time::parse(text).unwrap()
}

impl Place {
    pub async fn cap(&self, dollars: f64) {
        let body = json!({ "amount": dollars, "currency": "USD" });
        let set = self.ask(Method::PUT, "/api/v1/spend/cap", &[], body).await;
        assert_eq!(set.status, StatusCode::OK, "{}", set.text);
    }

    /// Pays so many dollars at a time.
    pub async fn pay(&self, dollars: f64, purpose: &str, now: Time) {
        let (store, project) = (&self.app.store, self.app.default_project);
        let amount = Usd::from_nanos((dollars * 1e9).round() as i64);
        let wanted =
            ReservationRequest { amount, purpose, subject: "mon_x", limit: None, model: "a/b", job: None };
        let Reserve::Held(id) = store.reserve(project, &wanted, now).await.unwrap() else {
            panic!("there is money for {dollars}")
        };
        store.settle(project, id, amount, now).await.unwrap();
    }
}

#[test]
fn a_cap_holds_under_hundreds_of_calls_on_three_workers() {
    check_cap(250, 101.0);
}

#[test]
#[ignore = "takes a minute; a part of `make test-long`"]
fn a_cap_holds_under_a_thousand_calls_on_three_workers() {
    check_cap(1000, 401.0);
}

/// Of `n` calls a cap lets `n_paid` pass at most.
fn check_cap(n: usize, n_paid: f64) {
    let judge = judge(|seen| Act::Wait(Duration::from_millis(seen.nth as u64 % 7), Box::new(Act::Fit)));
    let mut settings = judge.settings();
    // On a busy machine a short lease is lost, and a part that is done twice is paid twice.
    settings.work.lease = Duration::from_secs(120);
    // What is said costs nothing, so that what is set aside is not far from what is paid.
    let price = ModelPrice { input: 1.0, cached_input: 1.0, output: 0.0 };
    settings.work.settings.prices = [("openai/gpt-5-mini".to_owned(), price)].into();
    served(&settings, |place| async move {
        let mut workers = Vec::new();
        for name in ["one", "two", "three"] {
            // Each with connections and a memory of its own, as processes have.
            let store = Store::open(&place.scene.url).await.unwrap();
            let shop =
                WorkerContext::new(store, place.app.settings.work.clone(), Arc::new(Metrics::default()));
            workers.push(tokio::spawn(async move {
                run_worker(shop, name, 8, std::future::pending(), Duration::ZERO).await;
            }));
        }
        let first = place.submit(suite(1)).await;
        place.follow(&first, &[]).await;
        let one = place.get("/api/v1/spend").await["spent"].as_f64().unwrap();
        let cap = n_paid * one;
        place.cap(cap).await;
        let (store, project) = (place.app.store.clone(), place.app.default_project);
        let watched = tokio::spawn(async move {
            loop {
                let month = store.month_spend(project, jurist_store::clock::current_time()).await.unwrap();
                let sum = (month.settled.nanos() + month.reserved.nanos()) as f64 / 1e9;
                assert!(sum <= cap + 1e-12, "{sum}");
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        });
        let run = place.submit(suite(n)).await;
        place.follow(&run, &[]).await;
        assert!(!watched.is_finished(), "at no moment was it more");
        watched.abort();
        let head = place.get(&format!("/api/v1/runs/{run}")).await;
        let month = place.get("/api/v1/spend").await;
        let spent = month["spent"].as_f64().unwrap() - one;
        assert!(0.8 * cap < spent && spent + one <= cap, "{spent} of {cap}: {month} {head}");
        assert!((spent - head["cost"].as_f64().unwrap()).abs() < 1e-9, "{head}");
        assert_eq!((&month["reserved"], &month["assumed"]), (&json!(0.0), &json!(0.0)));
        assert_eq!(head["n_results"], n);
        assert!(0 < head["n_pass"].as_u64().unwrap() && 0 < head["n_deferred"].as_u64().unwrap(), "{head}");
        assert_eq!(place.scene.store.check().await.unwrap(), []);
        let told = place.get("/api/v1/alerts").await;
        let kinds: Vec<&str> =
            told["items"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
        assert!(kinds.contains(&"spend_stop"), "{told}");
        workers.iter().for_each(tokio::task::JoinHandle::abort);
    });
}

#[test]
fn a_model_without_a_price_does_not_run_under_a_cap_and_says_how_it_would() {
    let judge = judge(|_| Act::Fit);
    let mut settings = judge.settings();
    settings.work.allow_private_network = true;
    let address = format!("{}/v1", judge.server.url);
    served(&settings, |place| {
        let address = address.clone();
        async move {
            place.workers(1);
            let text = format!(
                "evals: [{{name: a, response: x, rubric: y, judge: {{model: compatible/m, base_url: '{address}'}}}}]"
            );
            // A price in a file of a stranger would be no price.
            let config = "prices: {compatible/m: {input: 0, output: 0}}";
            let asked = json!({
                "suite": "suite.yaml", "files": { "suite.yaml": text, ".jurist/config.yaml": config },
            });
            let graded = async || {
                let run = place.submit(asked.clone()).await;
                place.follow(&run, &[]).await;
                place.get(&format!("/api/v1/runs/{run}/results")).await.to_string()
            };
            let told = graded().await;
            assert!(
                told.contains("over_budget") && told.contains("`prices` in .jurist/config.yaml"),
                "{told}"
            );
            let lifted = place.ask(Method::DELETE, "/api/v1/spend/cap", &[], Json::Null).await;
            assert_eq!(lifted.status, StatusCode::OK);
            let told = graded().await;
            assert!(told.contains("\"pass\""), "{told}");
        }
    });
    assert_eq!(judge.server.n_seen(), 2, "once on each database");
}

#[test]
fn a_month_is_warned_about_once_and_begins_anew() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.cap(10.0).await;
        let open = async || {
            let all = place.get("/api/v1/alerts").await;
            let items = all["items"].as_array().unwrap().clone();
            items.iter().map(|item| item["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let look = async |now: &str| run_worker_maintenance(&place.app.worker_context, at(now)).await;
        place.pay(7.99, "monitor", at("2028-02-28T10:00:00Z")).await;
        look("2028-02-28T10:00:00Z").await;
        assert_eq!(open().await, Vec::<String>::new());
        place.pay(0.01, "monitor", at("2028-02-29T23:00:00Z")).await;
        look("2028-02-29T23:59:59Z").await;
        look("2028-02-29T23:59:59Z").await;
        assert_eq!(open().await, ["spend"]);
        place.pay(2.0, "run", at("2028-02-29T23:59:59Z")).await;
        look("2028-02-29T23:59:59.999999Z").await;
        assert_eq!(open().await, ["spend_stop", "spend"]);
        // The leap day is over, and so is the month.
        look("2028-03-01T00:00:00Z").await;
        assert_eq!(open().await, Vec::<String>::new());
        let all = place.get("/api/v1/alerts?all=true").await;
        assert_eq!(all["items"].as_array().unwrap().len(), 2, "{all}");
        assert_eq!(all["items"][0]["resolved"], "2028-03-01T00:00:00Z");
        // A higher cap ends it within the month.
        place.pay(9.0, "run", at("2028-03-02T00:00:00Z")).await;
        look("2028-03-02T00:00:00Z").await;
        assert_eq!(open().await, ["spend"]);
        place.cap(100.0).await;
        look("2028-03-02T00:00:30Z").await;
        assert_eq!(open().await, Vec::<String>::new());
    });
}

#[test]
fn a_month_is_shown_with_its_forecast_and_its_parts() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        for day in 1..=10 {
            place.pay(0.5, "run", at(&format!("2026-11-{day:02}T12:00:00Z"))).await;
            place.pay(1.0, "monitor", at(&format!("2026-11-{day:02}T23:59:59Z"))).await;
        }
        let (store, project) = (&place.app.store, place.app.default_project);
        let now = at("2026-11-11T00:00:00Z");
        let shown = load_month_spend(store, project, now, now).await.unwrap();
        assert_eq!((shown.month.as_str(), shown.days.len()), ("2026-11", 10));
        assert!((shown.spent - 15.0).abs() < 1e-9 && (shown.elapsed - 1.0 / 3.0).abs() < 1e-9, "{shown:?}");
        let cap = shown.cap.unwrap();
        assert_eq!((cap.currency.as_str(), cap.amount), ("GBP", 50.0));
        let forecast = shown.forecast.unwrap();
        assert!((forecast.expected - 45.0).abs() < 1e-6 && forecast.reaches_cap.is_none(), "{forecast:?}");
        let names: Vec<_> =
            shown.purposes.iter().map(|part_shown| (part_shown.name.as_str(), part_shown.n_calls)).collect();
        assert_eq!(names, [("monitor", 10), ("run", 10)]);
        assert_eq!((shown.judges[0].name.as_str(), shown.subjects[0].name.as_str()), ("a/b", "mon_x"));

        // A month that is over has no forecast, and one that has just begun looks back.
        let later = at("2026-12-01T00:00:00Z");
        let over = load_month_spend(store, project, now, later).await.unwrap();
        assert_eq!((over.forecast, over.no_forecast), (None, None));
        let empty = place.get("/api/v1/spend?month=2025-01").await;
        assert_eq!((&empty["spent"], &empty["days"]), (&json!(0.0), &json!([])));
        let wrong = place.fetch("/api/v1/spend?month=2025-13").await;
        assert_eq!(wrong.status, StatusCode::BAD_REQUEST);

        let check = async |body: Json, said: &str| {
            let answer = place.ask(Method::PUT, "/api/v1/spend/cap", &[], body).await;
            assert!(answer.text.contains(said), "{}", answer.text);
        };
        check(json!({ "amount": 40, "currency": "EUR", "rate": 1.2 }), "\"dollars\":48.0").await;
        check(json!({ "amount": 40 }), "\"currency\":\"GBP\"").await;
        check(json!({ "amount": 40, "currency": "XAF" }), "`rates`").await;
        check(json!({ "amount": -1 }), "from 0").await;
        check(json!({ "amount": 1, "currency": "euro" }), "three capital letters").await;
        let audit = place.get("/api/v1/audit?action=cap.set").await;
        assert_eq!(audit["items"].as_array().unwrap().len(), 2, "{audit}");
        let cap = Cap::new(40.0, "GBP".parse::<Currency>().unwrap(), 1.25).unwrap();
        assert_eq!(store.project(project).await.unwrap().cap, Some(cap));
    });
}
