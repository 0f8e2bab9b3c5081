//! What is told of monitors: judges that break or disagree, silence, and scores that fall.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jurist_core::grade::Time;
use jurist_server::monitor::watch_monitors;
use jurist_store::clock;
use reqwest::Method;
use serde_json::{Value as Json, json};

use crate::model::Act;
use crate::monitors::{honest, hurried, monitor, rated};
use crate::place::{Place, served};
use crate::runs::judge;

const HOUR: i64 = 3_600_000_000;

impl Place {
    async fn watch(&self, hours: i64) {
        let now = Time::from_micros(clock::now().micros() + hours * HOUR);
        watch_monitors(&self.app.store, now).await.unwrap();
    }

    /// What holds, as kind and message.
    async fn told(&self) -> Vec<(String, String)> {
        let all = self.get("/api/v1/alerts").await;
        let text = |it: &Json, key: &str| it[key].as_str().unwrap().to_owned();
        all["items"].as_array().unwrap().iter().map(|it| (text(it, "kind"), text(it, "message"))).collect()
    }

    async fn n_alerts(&self) -> usize {
        self.get("/api/v1/alerts?all=true").await["items"].as_array().unwrap().len()
    }

    async fn finish_many(&self, name: &str, n: usize, answer: &str) {
        for at in 0..n {
            self.finish(&format!("{name}{at}"), &format!("{answer}, {name} {at}"), json!({})).await;
        }
    }
}

#[test]
fn judges_that_break_are_told_once_and_once_more_when_it_is_over() {
    let is_mad = Arc::new(AtomicBool::new(true));
    let acts = Arc::clone(&is_mad);
    let judge = judge(move |seen| match acts.load(Ordering::Relaxed) {
        true => Act::Say("It is rather good, I would say.".to_owned()),
        false => honest(seen),
    });
    served(&hurried(&judge), |place| {
        let is_mad = Arc::clone(&is_mad);
        async move {
            place.workers(4);
            is_mad.store(true, Ordering::Relaxed);
            place.applied("tone", &monitor("sample_rate: 1.0\nalerts: {error_rate: 0.1}")).await;
            place.finish_many("broken", 4, "worth 5").await;
            assert_eq!(place.settled("tone", 4).await["judge_error"], 4);
            place.watch(0).await;
            place.watch(0).await;
            let told = place.told().await;
            assert_eq!((told.len(), told[0].0.as_str()), (1, "error_rate"));
            assert!(
                told[0].1.contains("100 % of judgements of tone broke (4 of 4), and 10 % may"),
                "{told:?}"
            );
            is_mad.store(false, Ordering::Relaxed);
            place.finish_many("fine", 36, "worth 5").await;
            assert_eq!(place.settled("tone", 40).await["scored"], 36);
            place.watch(0).await;
            assert_eq!((place.told().await, place.n_alerts().await), (Vec::new(), 1));
        }
    });
}

#[test]
fn judges_that_are_apart_too_often_are_told() {
    let judge = judge(|seen| {
        let is_kind = seen.body["model"].as_str().unwrap_or_default().contains("nano");
        rated(seen, if is_kind { 5 } else { 2 })
    });
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        let judges = "judges: [openai/gpt-5-mini, openai/gpt-5-nano]\nsample_rate: 1.0";
        place.applied("tone", &monitor(judges)).await;
        place.finish_many("apart", 20, "worth 3").await;
        place.settled("tone", 20).await;
        place.watch(0).await;
        let told = place.told().await;
        assert_eq!((told.len(), told[0].0.as_str()), (1, "judge_disagreement"));
        assert!(told[0].1.contains("100 % of traces have judges of tone far apart (20 of 20)"), "{told:?}");
        // A monitor that is gone is nobody's trouble.
        place.ask(Method::DELETE, "/api/v1/monitors/tone", &[], Json::Null).await;
        assert_eq!(place.told().await, Vec::new());
    });
}

#[test]
fn silence_is_told_until_something_comes() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("tone", &monitor("sample_rate: 0.01\nalerts: {silence_hours: 5}")).await;
        place.watch(100).await;
        assert_eq!(place.told().await, Vec::new(), "what never came is not missed");
        place.finish("first", "worth 5", json!({})).await;
        place.settled("tone", 1).await;
        place.watch(4).await;
        assert_eq!(place.told().await, Vec::new());
        place.watch(6).await;
        let told = place.told().await;
        assert!(told.len() == 1 && told[0].1.contains("no trace of tone has come for 6 hours"), "{told:?}");
        place.finish("second", "worth 5", json!({})).await;
        place.settled("tone", 2).await;
        place.watch(0).await;
        assert_eq!((place.told().await, place.n_alerts().await), (Vec::new(), 1));
    });
}

#[test]
fn scores_that_fell_since_the_weeks_before_are_told_and_a_dial_that_is_turned_is_not() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish_many("before", 60, "worth 5").await;
        for at in 0..10 {
            place.finish(&format!("failed{at}"), &format!("worth 1, {at}"), json!({ "failed": true })).await;
        }
        place.settled("tone", 70).await;
        let a_week_ago = async || {
            for (table, column) in [
                ("decisions", "decided"),
                ("decision_tallies", "day"),
                ("monitor_scores", "decided"),
                ("score_tallies", "day"),
            ] {
                let sql = format!("UPDATE {table} SET {column} = {column} - {}", 7 * 24 * HOUR);
                place.scene.execute(&sql).await.unwrap();
            }
        };
        a_week_ago().await;
        // The same traffic, of which less is looked at: the plain mean falls from 0.86 to about 0.3.
        place.applied("tone", &monitor("sample_rate: 0.1")).await;
        place.finish_many("same", 60, "worth 5").await;
        for at in 10..20 {
            place.finish(&format!("failed{at}"), &format!("worth 1, {at}"), json!({ "failed": true })).await;
        }
        place.settled("tone", 140).await;
        place.watch(0).await;
        assert_eq!(place.told().await, Vec::new());
        a_week_ago().await;
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.finish_many("after", 100, "worth 2").await;
        place.settled("tone", 240).await;
        place.watch(0).await;
        place.watch(0).await;
        let told = place.told().await;
        assert_eq!((told.len(), told[0].0.as_str()), (1, "score_drop"));
        assert!(told[0].1.contains("over the last 100 traces"), "{told:?}");
        // The rubric asks something new, and nothing is compared across that.
        place.applied("tone", &monitor("sample_rate: 1.0").replace("kind", "very kind")).await;
        place.finish_many("anew", 5, "worth 2").await;
        place.settled("tone", 245).await;
        place.watch(0).await;
        assert_eq!(place.n_alerts().await, 1);
    });
}
