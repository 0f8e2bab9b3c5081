//! Alerts of monitors: judges that fail or disagree, silence, and scores that fall.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jurist_core::grade::Time;
use jurist_server::ServerSettings;
use jurist_server::monitor::watch_monitors;
use jurist_store::clock;
use reqwest::Method;
use serde_json::{Value as Json, json};

use crate::model::Act;
use crate::monitors::{honest, hurried, monitor, rated};
use crate::place::{Place, served, served_on_sqlite, until};
use crate::runs::judge;

const HOUR: i64 = 3_600_000_000;

impl Place {
    async fn watch(&self, hours: i64) {
        let now = Time::from_micros(clock::current_time().micros() + hours * HOUR);
        let rates = &self.app.settings.work.settings.rates;
        watch_monitors(&self.app.store, rates, now).await.unwrap();
    }

    /// What holds, as kind and message.
    async fn told(&self) -> Vec<(String, String)> {
        let all = self.get("/api/v1/alerts").await;
        let text = |value: &Json, key: &str| value[key].as_str().unwrap().to_owned();
        all["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (text(item, "kind"), text(item, "message")))
            .collect()
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
                told[0].1.contains("100 % of judge calls of tone failed (4 of 4), and 10 % may"),
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
fn a_server_says_when_it_checked_its_monitors_and_when_it_does_so_next() {
    served_on_sqlite(&ServerSettings::default(), |place| async move {
        until(async || !place.get("/api/v1/alerts").await["next_check"].is_null()).await;
        let page = place.get("/api/v1/alerts").await;
        let time = |key: &str| Time::parse(page[key].as_str().unwrap()).unwrap().micros();
        assert!(time("last_check") <= clock::current_time().micros(), "{page}");
        assert_eq!(time("next_check") - time("last_check"), HOUR / 6);
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
        assert!(
            told[0].1.contains("100 % of traces have judges of tone that disagree (20 of 20)"),
            "{told:?}"
        );
        // A removed monitor has no alerts.
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
        assert!(
            told.len() == 1 && told[0].1.contains("no trace of tone was received for 6 hours"),
            "{told:?}"
        );
        place.finish("second", "worth 5", json!({})).await;
        place.settled("tone", 2).await;
        place.watch(0).await;
        assert_eq!((place.told().await, place.n_alerts().await), (Vec::new(), 1));
    });
}

/// Points of one day of ordinary traffic, a mean of 0.72, and of one after a fall, a mean of 0.50.
const USUAL: [i64; 8] = [5, 4, 4, 3, 4, 3, 4, 4];
const FALLEN: [i64; 8] = [3, 3, 4, 2, 3, 3, 2, 4];

impl Place {
    /// Everything that was decided happened a day earlier.
    async fn pass_a_day(&self) {
        for (table, column) in [
            ("decisions", "decided"),
            ("decision_tallies", "day"),
            ("monitor_scores", "decided"),
            ("score_tallies", "day"),
        ] {
            // By way of negative days, since a day that moves must not meet the one before it.
            for moved in [format!("-{column}"), format!("-{column} - {}", 24 * HOUR)] {
                self.scene.execute(&format!("UPDATE {table} SET {column} = {moved}")).await.unwrap();
            }
        }
    }

    /// A trace for each of the points, and then the day is over.
    async fn live_a_day(&self, day: usize, agents: &[(&str, &[i64])], n_before: u64) -> u64 {
        let mut n = n_before;
        for (agent, points) in agents {
            for (at, points) in points.iter().enumerate() {
                let id = format!("{agent}-{day}-{at}");
                self.finish(&id, &format!("worth {points}, {id}"), json!({ "agent": agent })).await;
                n += 1;
            }
        }
        self.settled("tone", n).await;
        n
    }
}

fn three_agents(more: &str) -> String {
    monitor(more).replace("agent: desk", "agents: [mail, chat, phone]")
}

#[test]
fn an_agent_that_falls_is_named_and_the_others_are_not() {
    let judge = judge(honest);
    served_on_sqlite(&hurried(&judge), |place| async move {
        place.workers(4);
        place.applied("tone", &three_agents("sample_rate: 1.0")).await;
        let mut n = 0;
        let (usual, fallen) = ([USUAL, USUAL].concat(), [FALLEN, FALLEN].concat());
        for day in 0..8 {
            n = place.live_a_day(day, &[("mail", &USUAL), ("chat", &usual), ("phone", &USUAL)], n).await;
            place.watch(0).await;
            place.pass_a_day().await;
        }
        assert_eq!(place.n_alerts().await, 0);
        for day in 8..12 {
            n = place.live_a_day(day, &[("mail", &USUAL), ("chat", &fallen), ("phone", &USUAL)], n).await;
            place.watch(0).await;
            place.pass_a_day().await;
        }
        let alerts = place.get("/api/v1/alerts?all=true").await["items"].clone();
        assert_eq!(alerts.as_array().unwrap().len(), 1, "{alerts:?}");
        let alert = &alerts[0];
        assert_eq!(
            (&alert["kind"], &alert["monitor"], &alert["agent"], &alert["criterion"]),
            (&json!("score_drop"), &json!("tone"), &json!("chat"), &Json::Null)
        );
        let message = alert["message"].as_str().unwrap();
        assert!(
            message.contains("the score of agent chat in tone fell from 3.9/5 (0.72) to 3.0/5 (0.50)"),
            "{message}"
        );
        // A new rubric version: scores are not compared across versions.
        place.applied("tone", &three_agents("sample_rate: 1.0").replace("kind", "very kind")).await;
        place.watch(0).await;
        assert_eq!((place.told().await, place.n_alerts().await), (Vec::new(), 1));
    });
}

#[test]
fn a_dial_that_is_turned_is_no_fall_and_a_recovery_ends_one() {
    let judge = judge(honest);
    served_on_sqlite(&hurried(&judge), |place| async move {
        place.workers(4);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        let mut n = 0;
        let live = async |day: usize, points: i64, n_traces: usize, n: u64| {
            let usual = vec![points; n_traces];
            let n = place.live_a_day(day, &[("desk", &usual)], n).await;
            for at in 0..2 {
                let more = json!({ "failed": true });
                place.finish(&format!("failed-{day}-{at}"), &format!("worth 1, {day} {at}"), more).await;
            }
            place.settled("tone", n + 2).await;
            place.watch(0).await;
            place.pass_a_day().await;
            n + 2
        };
        for day in 0..8 {
            n = live(day, 5, 8, n).await;
        }
        // The same traffic, of which less is looked at: the plain mean falls from 0.8 to about 0.3.
        place.applied("tone", &monitor("sample_rate: 0.1")).await;
        for day in 8..10 {
            n = live(day, 5, 30, n).await;
        }
        assert_eq!(place.n_alerts().await, 0);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        n = live(10, 2, 40, n).await;
        let told = place.told().await;
        assert_eq!((told.len(), told[0].0.as_str()), (1, "score_drop"), "{told:?}");
        live(11, 5, 40, n).await;
        assert_eq!((place.told().await, place.n_alerts().await), (Vec::new(), 1));
    });
}

#[test]
fn an_agent_that_no_longer_sends_is_named_until_it_does() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(1);
        place.applied("tone", &three_agents("sample_rate: 0.01")).await;
        let mut n = place.live_a_day(0, &[("mail", &[5]), ("chat", &[5]), ("phone", &[5])], 0).await;
        for day in 1..=8 {
            place.pass_a_day().await;
            n = place.live_a_day(day, &[("mail", &[5]), ("phone", &[5])], n).await;
        }
        place.watch(0).await;
        place.watch(0).await;
        let alerts = place.get("/api/v1/alerts").await["items"].clone();
        assert_eq!(alerts.as_array().unwrap().len(), 1, "{alerts:?}");
        assert_eq!((&alerts[0]["kind"], &alerts[0]["agent"]), (&json!("no_data"), &json!("chat")));
        let message = alerts[0]["message"].as_str().unwrap();
        assert!(message.contains("no trace of agent chat in tone was received for 192 hours"), "{message}");
        place.live_a_day(9, &[("chat", &[5])], n).await;
        place.watch(0).await;
        assert_eq!((place.told().await, place.n_alerts().await), (Vec::new(), 1));
    });
}

#[test]
fn a_monitor_whose_own_budget_is_used_up_is_told() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        // Not even one call fits.
        place
            .applied("tone", &three_agents("sample_rate: 1.0\nbudget: {monthly: 0.00001, currency: GBP}"))
            .await;
        for at in 0..3 {
            place.finish(&format!("t{at}"), &format!("worth 4, {at}"), json!({ "agent": "mail" })).await;
        }
        // A trace that failed waits for budget.
        place.finish("failed", "worth 2", json!({ "agent": "mail", "failed": true })).await;
        let states = place.settled("tone", 4).await;
        assert_eq!(states.get("over_budget"), Some(&4), "{states:?}");
        place.watch(0).await;
        let told = place.told().await;
        let [(kind, message)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(kind, "budget_stop");
        assert!(message.starts_with("tone has stopped judging: £"), "{message}");
        assert!(message.contains("4 traces of today and yesterday have no score"), "{message}");
        place.watch(0).await;
        assert_eq!(place.told().await.len(), 1, "it is raised once");
        place.finish("late", "worth 4, late", json!({ "agent": "mail" })).await;
        place.settled("tone", 5).await;
        place.watch(0).await;
        let told = place.told().await;
        assert!(
            told.len() == 1 && told[0].1.contains("5 traces of today"),
            "it has the new figures: {told:?}"
        );

        // A larger budget ends the alert, although the traces have no score yet.
        let raised = three_agents("sample_rate: 1.0\nbudget: {monthly: 5, currency: GBP}");
        place.applied("tone", &raised).await;
        place.watch(0).await;
        assert_eq!(place.told().await, Vec::new());
        let asked = json!({ "over_budget": true, "confirmed": true });
        place.ask(Method::POST, "/api/v1/monitors/tone/rescores", &[], asked).await;
        let states = place.settled("tone", 5).await;
        assert_eq!(states.get("scored"), Some(&5), "the raised budget holds for earlier traces: {states:?}");
    });
}

#[test]
fn limits_of_ones_own_are_told_while_they_are_crossed() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(4);
        let file = three_agents(
            "sample_rate: 1.0
budget: {monthly: 100, currency: USD}
alerts:
  rules:
    - {when: score < 0.7, over: 2d, agent: chat}
    - {when: score < 0.7, agent: mail}
    - {when: score < 60%, criterion: kind}
    - {when: pass_rate < 10%}
    - {when: error_rate > 0.1}
    - {when: latency_p95 > 30}
    - {when: cost > 0.5}
    - {when: budget > 0%}
    - {when: budget > 90%}",
        );
        place.applied("tone", &file).await;
        for (agent, points) in [("mail", 5), ("chat", 2)] {
            for at in 0..30 {
                let id = format!("{agent}-{at}");
                place.finish(&id, &format!("worth {points}, {id}"), json!({ "agent": agent })).await;
            }
        }
        place.settled("tone", 60).await;
        // Nothing that is sent as a whole says what it took and cost.
        place.scene.execute("UPDATE traces SET cost = 750000000, duration = 45000000").await.unwrap();
        place.watch(0).await;
        let mut told: Vec<String> = place.told().await.into_iter().map(|(_, message)| message).collect();
        told.sort();
        let expected = [
            "the cost of tone is $0.7500 over 7 days (60 traces), above the limit of $0.5000",
            "the latency p95 of tone is 45.0 s over 7 days (60 traces), above the limit of 30.0 s",
            "the score of agent chat in tone is 2.0/5 (0.25) over 2 days (30 traces, 99.9 % interval 2.0/5 (0.25) to \
             2.0/5 (0.25)), below the limit of 3.8/5 (0.70)",
            "tone has spent ",
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}");
        }
        // A rule that is removed from the file has no alerts.
        place.applied("tone", &three_agents("sample_rate: 1.0")).await;
        place.watch(0).await;
        assert_eq!(place.told().await, Vec::new());
    });
}
