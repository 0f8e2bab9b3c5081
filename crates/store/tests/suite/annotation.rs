use jurist_core::grade::Value;
use jurist_store::accounts::NewAccount;
use jurist_store::annotate::{AssignmentState, NewItem, NewTask, TaskState};
use jurist_store::labels::NewLabel;
use jurist_store::testing::{Scene, for_each_engine};
use jurist_store::{AccountId, ProjectId, TaskId};
use serde_json::json;

use crate::grading::version;
use crate::{at, project};

async fn person(scene: &Scene, name: &str) -> AccountId {
    let email = format!("{name}@example.org");
    let new = NewAccount { email, name: name.into(), password: None, is_admin: false };
    scene.store.add_account(&new, at(0)).await.unwrap().id
}

fn item(candidate: &str, n_wanted: u32) -> NewItem {
    NewItem { candidate: candidate.into(), body: json!({"task": candidate}), n_wanted, priority: 0 }
}

async fn task(scene: &Scene, project: ProjectId, items: &[NewItem]) -> TaskId {
    let new = NewTask { name: "quality".into(), rubric_version: None, settings: json!({}) };
    let task = scene.store.add_task(project, &new, at(0)).await.unwrap().id;
    assert_eq!(scene.store.add_items(project, task, items, at(0)).await.unwrap(), items.len());
    task
}

#[test]
fn each_item_gets_as_many_answers_as_it_wants() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let task = task(&scene, support, &[item("a", 2), item("b", 1)]).await;
        let again =
            store.add_items(support, task, &[item("a", 2), item("c", 1), item("c", 1)], at(1)).await.unwrap();
        assert_eq!(again, 1, "what is there is not added again");
        let (ann, bob, eve) =
            (person(&scene, "ann").await, person(&scene, "bob").await, person(&scene, "eve").await);
        let next =
            async |who, now| store.assign_next(support, task, who, at(now), at(now + 10)).await.unwrap();
        let (anns, a) = next(ann, 1).await.unwrap();
        assert_eq!((a.candidate.as_str(), a.body.clone()), ("a", json!({"task": "a"})));
        assert_eq!(next(ann, 2).await.unwrap().0.id, anns.id, "first what was begun");
        assert_eq!(next(bob, 2).await.unwrap().1.candidate, "a");
        assert_eq!(next(eve, 2).await.unwrap().1.candidate, "b");
        // Bob went away, so somebody else may take his place.
        store.submit(support, anns.id, &json!({"tone": 4}), Some(12.5), at(3)).await.unwrap();
        assert_eq!(next(ann, 50).await.unwrap().1.candidate, "b", "eve went away, too");
        store.submit(support, anns.id, &json!({"tone": 5}), None, at(60)).await.unwrap();
        let answers = store.annotations_of(support, a.id).await.unwrap();
        assert_eq!(
            answers.iter().map(|it| (it.revision, it.body["tone"].clone())).collect::<Vec<_>>(),
            [(1, json!(4)), (2, json!(5))]
        );
        let progress = store.progress(support, task).await.unwrap();
        assert_eq!(
            (progress.n_items, progress.n_done, progress.n_wanted, progress.n_submitted),
            (3, 0, 4, 1)
        );
        let bobs = next(bob, 61).await.unwrap().0;
        store.submit(support, bobs.id, &json!({"tone": 1}), None, at(62)).await.unwrap();
        assert!(store.item(support, a.id).await.unwrap().is_done);
        store.set_wanted(support, a.id, 3).await.unwrap();
        assert!(!store.item(support, a.id).await.unwrap().is_done, "an adjudicator is wanted");
        assert_eq!(store.progress_by_annotator(support, task).await.unwrap().len(), 2);
        assert_eq!(store.annotations(support, task, None, 10).await.unwrap().items.len(), 3);
        assert!(scene.execute("DELETE FROM annotations").await.is_err());
    });
}

#[test]
fn people_who_come_at_the_same_time_are_not_given_more_than_is_wanted() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let items: Vec<NewItem> = (0..3).map(|it| item(&format!("c{it}"), 2)).collect();
        let task = task(&scene, support, &items).await;
        let mut tasks = Vec::new();
        for n in 0..10 {
            let who = person(&scene, &format!("p{n}")).await;
            let store = scene.store.clone();
            tasks.push(tokio::spawn(async move {
                store.assign_next(support, task, who, at(1), at(100)).await.unwrap()
            }));
        }
        let mut given = Vec::new();
        for task in tasks {
            given.extend(task.await.unwrap().map(|it| it.1.candidate));
        }
        given.sort();
        assert_eq!(given, ["c0", "c0", "c1", "c1", "c2", "c2"]);
    });
}

#[test]
fn who_skips_is_not_asked_again_and_a_closed_task_gives_nothing() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let task = task(&scene, support, &[item("a", 1), item("b", 1)]).await;
        let ann = person(&scene, "ann").await;
        let (first, a) = store.assign_next(support, task, ann, at(1), at(9)).await.unwrap().unwrap();
        store.skip(support, first.id, at(2)).await.unwrap();
        let (second, b) = store.assign_next(support, task, ann, at(3), at(9)).await.unwrap().unwrap();
        assert_eq!((a.candidate.as_str(), b.candidate.as_str()), ("a", "b"));
        store.submit(support, second.id, &json!({}), None, at(4)).await.unwrap();
        store.set_task_state(support, task, TaskState::Closed, at(5)).await.unwrap();
        let bob = person(&scene, "bob").await;
        assert!(store.assign_next(support, task, bob, at(6), at(9)).await.unwrap().is_none());
        let opened = store.assign(support, b.id, bob, at(6), at(9)).await.unwrap();
        assert_eq!(opened.state, AssignmentState::Assigned, "an adjudicator may take anything");
        assert_eq!(store.assign(support, b.id, bob, at(7), at(9)).await.unwrap().id, opened.id);
        assert_eq!(store.assignment(support, first.id).await.unwrap().state, AssignmentState::Skipped);
        let page = store.items(support, task, None, 1).await.unwrap();
        assert_eq!(store.items(support, task, page.next.as_ref(), 5).await.unwrap().items[0].candidate, "b");
    });
}

#[test]
fn the_newest_label_counts() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let version = version(&scene, support).await;
        let label = |candidate: &str, value: f64| NewLabel {
            candidate: candidate.into(),
            rubric_version: version.clone(),
            criterion: "tone".into(),
            value: Value::Number(value),
            unit: Some(value / 5.0),
            origin: "adjudicated".into(),
            author: None,
        };
        store.add_labels(support, &[label("a", 1.0), label("b", 2.0)], at(1)).await.unwrap();
        store.add_labels(support, &[label("a", 4.0)], at(2)).await.unwrap();
        let labels = store.labels(support, &version, None, None, 10).await.unwrap().items;
        assert_eq!(
            labels.iter().map(|it| (it.candidate.as_str(), it.unit)).collect::<Vec<_>>(),
            [("b", Some(0.4)), ("a", Some(0.8))]
        );
        let one = store.labels(support, &version, Some("a"), None, 10).await.unwrap().items;
        assert_eq!(one[0].value, Value::Number(4.0));
    });
}
