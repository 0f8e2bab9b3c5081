//! Agents, alerts, the audit log, requests sent twice, and the cache.

use jurist_core::alert::AlertKind;
use jurist_store::alerts::{AlertSelection, NewAlert};
use jurist_store::audit::{AuditFilter, NewAuditEntry};
use jurist_store::idempotency::IdempotencyClaim;
use jurist_store::jobs::NewJob;
use jurist_store::testing::for_each_engine;
use jurist_store::{AlertId, StoreError};
use serde_json::json;

use crate::{at, project};

#[test]
fn projects_have_settings_and_unique_names() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        assert!(matches!(store.add_project("support", at(1)).await, Err(StoreError::Taken { .. })));
        store.set_project_settings(support, &json!({"region": "eu"})).await.unwrap();
        store.set_project_setting(support, "quiet", &json!(["22:00"])).await.unwrap();
        store.set_project_setting(support, "gone", &json!(1)).await.unwrap();
        store.set_project_setting(support, "gone", &json!(null)).await.unwrap();
        let settings = store.project(support).await.unwrap().settings;
        assert_eq!(settings, json!({"region": "eu", "quiet": ["22:00"]}));
        store.rename_project(support, "help").await.unwrap();
        store.archive_project(support, at(5)).await.unwrap();
        let found = store.project_named("help").await.unwrap().unwrap();
        assert_eq!((found.settings["region"].as_str(), found.archived), (Some("eu"), Some(at(5))));
        assert_eq!(store.projects().await.unwrap(), [found]);
    });
}

#[test]
fn agents_appear_when_they_are_seen() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let agent = store.see_agent(support, "triage", at(1)).await.unwrap();
        store.set_agent_settings(support, agent.id, &json!({"rate": 1})).await.unwrap();
        let again = store.see_agent(support, "triage", at(9)).await.unwrap();
        assert_eq!((again.id, again.seen, again.settings["rate"].as_i64()), (agent.id, at(9), Some(1)));
        assert_eq!(store.agents(support).await.unwrap().len(), 1);
    });
}

#[test]
fn an_alert_is_raised_once_for_each_cause_until_it_is_over() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let new = NewAlert {
            kind: AlertKind::ScoreDrop,
            subject: "triage".into(),
            message: "scores of triage fell".into(),
            facts: json!({ "n": 3 }),
        };
        let tell = |id: AlertId| NewJob {
            project: Some(support),
            kind: "tell".into(),
            payload: json!({ "alert": id }),
            priority: 0,
            ready: at(1),
            max_attempts: 1,
            dedupe: None,
        };
        let id = store.raise_alert(support, &new, tell, at(1)).await.unwrap().unwrap();
        assert_eq!(store.raise_alert(support, &new, tell, at(2)).await.unwrap(), None);
        let other = NewAlert { subject: "help".into(), ..new.clone() };
        store.raise_alert(support, &other, tell, at(2)).await.unwrap().unwrap();
        store.alert_sent(support, id, at(3)).await.unwrap();
        assert!(store.alert_seen(support, id, None, at(4)).await.unwrap());
        assert!(!store.alert_seen(support, id, None, at(5)).await.unwrap());

        let resolved =
            store.resolve_alert(support, AlertKind::ScoreDrop, "triage", tell, at(6)).await.unwrap();
        assert_eq!(resolved, Some(id));
        let again = store.resolve_alert(support, AlertKind::ScoreDrop, "triage", tell, at(7)).await.unwrap();
        assert_eq!(again, None);
        let found = store.alert(support, id).await.unwrap();
        assert_eq!((found.sent, found.seen, found.resolved), (Some(at(3)), Some(at(4)), Some(at(6))));
        // Each of the three had somebody told, and nothing else did.
        assert_eq!(store.lease("w", &["tell"], 9, at(9), at(9)).await.unwrap().len(), 3);
        let open = store.alerts(support, AlertSelection::Open, None, 5).await.unwrap().items;
        assert_eq!(open.iter().map(|open| open.subject.as_str()).collect::<Vec<_>>(), ["help"]);
        // The same cause can come again.
        assert!(store.raise_alert(support, &new, tell, at(8)).await.unwrap().is_some());
        let open = store.open_alert(support, AlertKind::ScoreDrop, "triage").await.unwrap().unwrap();
        assert_eq!(open.snoozed_until, None);
        store.refresh_alert(support, open.id, "they fell further", &json!({ "n": 4 })).await.unwrap();
        store.refresh_alert(support, id, "it is resolved", &json!({})).await.unwrap();
        let refreshed = store.alert(support, open.id).await.unwrap();
        assert_eq!(
            (refreshed.message.as_str(), &refreshed.facts, refreshed.raised),
            ("they fell further", &json!({ "n": 4 }), at(8))
        );
        assert_eq!(store.alert(support, id).await.unwrap().message, "scores of triage fell");
        assert_eq!(store.alerts(support, AlertSelection::All, None, 5).await.unwrap().items.len(), 3);

        // A snooze holds for the same cause while it lasts, and for no other.
        assert!(
            !store.snooze_alert(support, id, at(30), Some(tell(id)), at(9)).await.unwrap(),
            "it is resolved"
        );
        assert!(store.snooze_alert(support, open.id, at(30), Some(tell(open.id)), at(9)).await.unwrap());
        let resolve_and_raise = async |seconds: i64| {
            store.resolve_alert(support, AlertKind::ScoreDrop, "triage", tell, at(seconds)).await.unwrap();
            let id = store.raise_alert(support, &new, tell, at(seconds)).await.unwrap().unwrap();
            store.alert(support, id).await.unwrap().snoozed_until
        };
        assert_eq!(resolve_and_raise(20).await, Some(at(30)));
        assert_eq!(resolve_and_raise(31).await, None);
        let help = store.open_alert(support, AlertKind::ScoreDrop, "help").await.unwrap().unwrap();
        assert_eq!(help.snoozed_until, None);
    });
}

#[test]
fn the_audit_log_is_filtered_and_never_changed() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        for n in 0..5_i64 {
            let entry = NewAuditEntry {
                project: (n % 2 == 0).then_some(support),
                actor: "ann".into(),
                action: if n < 2 { "rubric.edit" } else { "token.add" }.into(),
                target: n.to_string(),
                body: json!({"n": n}),
            };
            store.note(&entry, at(n)).await.unwrap();
        }
        let page = store.audit(&AuditFilter::default(), None, 3).await.unwrap();
        assert_eq!(page.items.iter().map(|item| item.target.as_str()).collect::<Vec<_>>(), ["4", "3", "2"]);
        assert_eq!(store.audit(&AuditFilter::default(), page.next.as_ref(), 3).await.unwrap().items.len(), 2);
        let ours = AuditFilter {
            project: Some(support),
            action: Some("token.add".into()),
            ..AuditFilter::default()
        };
        assert_eq!(store.audit(&ours, None, 9).await.unwrap().items.len(), 2);
        assert!(scene.execute("UPDATE audit SET actor = 'eve'").await.is_err());
    });
}

#[test]
fn a_request_sent_twice_is_answered_once() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let claim =
            async |request, now| store.claim(support, "k", request, at(now), at(now - 60)).await.unwrap();
        assert_eq!(claim("r", 1).await, IdempotencyClaim::New);
        assert_eq!(claim("r", 2).await, IdempotencyClaim::Underway);
        assert_eq!(claim("r", 100).await, IdempotencyClaim::New, "whoever was at work on it died");
        store.answer(support, "k", 201, b"made").await.unwrap();
        assert_eq!(
            claim("r", 300).await,
            IdempotencyClaim::Answered { status: 201, response: b"made".to_vec() }
        );
        assert_eq!(claim("other", 300).await, IdempotencyClaim::Mismatch);
        assert_eq!(store.drop_old_claims(at(101)).await.unwrap(), 1);
        assert_eq!(claim("other", 300).await, IdempotencyClaim::New);
        store.release_claim(support, "k").await.unwrap();
        assert_eq!(claim("r", 300).await, IdempotencyClaim::New);
    });
}

#[test]
fn replies_are_kept_as_long_as_they_are_used() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let long = b"reply ".repeat(500);
        store.cache(support, "a", &long, at(0)).await.unwrap();
        store.cache(support, "b", b"b", at(0)).await.unwrap();
        assert_eq!(store.cached_reply(support, "a", at(10_000)).await.unwrap(), Some(long));
        assert_eq!(store.cached_reply(support, "c", at(1)).await.unwrap(), None);
        assert_eq!(store.prune_cache(at(9_000)).await.unwrap(), 1);
        assert_eq!(store.cached_reply(support, "b", at(1)).await.unwrap(), None);
        let size = store.cache_size(support).await.unwrap();
        assert!(size.n == 1 && size.n_bytes < 200);
        assert_eq!(store.clear_cache(support).await.unwrap(), 1);
    });
}
