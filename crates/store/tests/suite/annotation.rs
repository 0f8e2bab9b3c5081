use jurist_core::grade::Value;
use jurist_store::accounts::NewAccount;
use jurist_store::adjudications::NewAdjudication;
use jurist_store::annotate::AnnotationItem;
use jurist_store::annotate::{ItemRole, ItemState, NewItem, NewTask, TaskItemCounts, TaskState};
use jurist_store::assignments::{
    AnnotatorProgress, Assignment, AssignmentPolicy, AssignmentState, NextAssignment, NextItemOrder,
    SaveOutcome,
};
use jurist_store::labels::NewLabel;
use jurist_store::testing::{Scene, for_each_engine};
use jurist_store::{AccountId, ProjectId, TaskId};
use serde_json::json;

use crate::grading::version;
use crate::{at, project, undo_migrations};

async fn person(scene: &Scene, name: &str) -> AccountId {
    let email = format!("{name}@example.org");
    let new = NewAccount { email, name: name.into(), password: None, is_admin: false };
    scene.store.add_account(&new, at(0)).await.unwrap().id
}

fn item(candidate: &str, n_wanted: u32) -> NewItem {
    NewItem {
        candidate: candidate.into(),
        body: json!({"task": candidate}),
        n_wanted,
        priority: 0,
        role: ItemRole::Item,
        turn: None,
    }
}

async fn task(scene: &Scene, project: ProjectId, items: &[NewItem]) -> TaskId {
    let new = NewTask { name: "quality".into(), rubric_version: None, settings: json!({}), origin: None };
    let task = scene.store.add_task(project, &new, at(0)).await.unwrap().id;
    assert_eq!(scene.store.add_items(project, task, items, at(0)).await.unwrap(), items.len());
    task
}

fn giving(until: i64) -> AssignmentPolicy {
    AssignmentPolicy { until: at(until), order: NextItemOrder::Fewest, quota: None, check_every: 2 }
}

async fn next(
    scene: &Scene,
    project: ProjectId,
    task: TaskId,
    who: AccountId,
    now: i64,
) -> Option<(Assignment, AnnotationItem)> {
    match scene.store.assign_next(project, task, who, &giving(now + 10), at(now)).await.unwrap() {
        NextAssignment::Given(it) => Some(*it),
        _ => None,
    }
}

async fn submit(scene: &Scene, project: ProjectId, it: &Assignment, body: serde_json::Value, now: i64) {
    let seen = scene.store.assignment(project, it.id).await.unwrap().revision;
    let saved = scene.store.submit(project, it.id, &body, seen, at(now)).await.unwrap();
    assert!(matches!(saved, SaveOutcome::Done { .. }), "{saved:?}");
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
        let next = async |who, now| next(&scene, support, task, who, now).await;
        let (anns, a) = next(ann, 1).await.unwrap();
        assert_eq!((a.candidate.as_str(), a.body.clone()), ("a", json!({"task": "a"})));
        assert_eq!(next(ann, 2).await.unwrap().0.id, anns.id, "first what was begun");
        let (bobs, b) = next(bob, 2).await.unwrap();
        assert_eq!(b.candidate, "b", "what nobody has goes first");
        assert_eq!(next(eve, 2).await.unwrap().1.candidate, "c");
        submit(&scene, support, &anns, json!({"tone": 4}), 3).await;
        submit(&scene, support, &anns, json!({"tone": 5}), 60).await;
        let answers = store.annotations_of(support, a.id).await.unwrap();
        assert_eq!(
            answers.iter().map(|answer| (answer.revision, answer.body["tone"].clone())).collect::<Vec<_>>(),
            [(1, json!(4)), (2, json!(5))]
        );
        assert_eq!(store.annotations(support, task, None, 10).await.unwrap().items.len(), 1, "the newest");
        let progress = store.progress(support, task).await.unwrap();
        assert_eq!(
            (progress.n_items, progress.n_done, progress.n_wanted, progress.n_submitted),
            (3, 0, 4, 1)
        );
        // Bob and Eve went away, so somebody else may take their places; who comes back may still answer.
        assert_eq!(next(ann, 61).await.unwrap().1.candidate, "b");
        submit(&scene, support, &bobs, json!({"tone": 1}), 62).await;
        assert_eq!(store.item(support, b.id).await.unwrap().state, ItemState::Done);
        assert_eq!(next(bob, 63).await.unwrap().1.candidate, "c");
        store.set_wanted(support, b.id, 2, ItemRole::Item).await.unwrap();
        assert_eq!(
            store.item(support, b.id).await.unwrap().state,
            ItemState::Open,
            "an adjudicator is wanted"
        );
        assert_eq!(store.progress_by_annotator(support, task).await.unwrap().len(), 2);
        assert!(scene.execute("DELETE FROM annotations").await.is_err());
    });
}

#[test]
fn people_who_come_at_the_same_time_are_not_given_more_than_is_wanted() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let items: Vec<NewItem> = (0..3).map(|n| item(&format!("c{n}"), 2)).collect();
        let task = task(&scene, support, &items).await;
        let mut tasks = Vec::new();
        for n in 0..10 {
            let who = person(&scene, &format!("p{n}")).await;
            let scene = scene.clone();
            tasks.push(tokio::spawn(async move { next(&scene, support, task, who, 1).await }));
        }
        let mut given = Vec::new();
        for task in tasks {
            given.extend(task.await.unwrap().map(|task| task.1.candidate));
        }
        given.sort();
        assert_eq!(given, ["c0", "c0", "c1", "c1", "c2", "c2"]);
    });
}

#[test]
fn work_is_balanced_over_items_and_people() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let items: Vec<NewItem> = (0..30).map(|n| item(&format!("c{n:02}"), 3)).collect();
        let task = task(&scene, support, &items).await;
        let mut people = Vec::new();
        for n in 0..6 {
            people.push(person(&scene, &format!("p{n}")).await);
        }
        let mut done = vec![0; people.len()];
        let mut now = 1;
        loop {
            let mut any = false;
            for (at, who) in people.iter().enumerate() {
                now += 1;
                let Some((it, _)) = next(&scene, support, task, *who, now).await else { continue };
                submit(&scene, support, &it, json!({}), now).await;
                (done[at], any) = (done[at] + 1, true);
            }
            // At any time no item is two answers ahead of another.
            let rows = scene.store.items(support, task, None, 100).await.unwrap().items;
            let mut counts = Vec::new();
            for item in &rows {
                counts.push(scene.store.assignments_of(support, item.id).await.unwrap().len());
            }
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
            if !any {
                break;
            }
        }
        assert!(done.iter().all(|done| (13..=17).contains(done)), "{done:?}");
        assert_eq!(done.iter().sum::<i32>(), 90);
        assert_eq!(scene.store.progress(support, task).await.unwrap().n_done, 30);
    });
}

#[test]
fn who_skips_is_not_asked_again_and_a_closed_task_gives_nothing() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let task = task(&scene, support, &[item("a", 1), item("b", 1)]).await;
        let ann = person(&scene, "ann").await;
        let (first, a) = next(&scene, support, task, ann, 1).await.unwrap();
        assert!(store.skip(support, first.id, at(2)).await.unwrap());
        let (second, b) = next(&scene, support, task, ann, 3).await.unwrap();
        assert_eq!((a.candidate.as_str(), b.candidate.as_str()), ("a", "b"));
        submit(&scene, support, &second, json!({}), 4).await;
        assert!(!store.skip(support, second.id, at(4)).await.unwrap(), "it is answered");
        store.set_task_state(support, task, TaskState::Closed, at(5)).await.unwrap();
        let bob = person(&scene, "bob").await;
        let closed = store.assign_next(support, task, bob, &giving(9), at(6)).await.unwrap();
        assert_eq!(closed, NextAssignment::Closed);
        let opened = store.assign(support, b.id, bob, at(6), at(9)).await.unwrap();
        assert_eq!(opened.state, AssignmentState::Assigned, "an adjudicator may take anything");
        assert_eq!(store.assign(support, b.id, bob, at(7), at(9)).await.unwrap().id, opened.id);
        assert_eq!(store.assignment(support, first.id).await.unwrap().state, AssignmentState::Skipped);
        let page = store.items(support, task, None, 1).await.unwrap();
        assert_eq!(store.items(support, task, page.next.as_ref(), 5).await.unwrap().items[0].candidate, "b");
    });
}

#[test]
fn training_comes_first_checks_are_mixed_in_and_a_quota_ends_it() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let with_role = |name: &str, role| NewItem { role, ..item(name, 0) };
        let items = [
            item("a", 0),
            item("b", 0),
            item("c", 0),
            with_role("gold", ItemRole::Gold),
            with_role("try", ItemRole::Training),
        ];
        let task = task(&scene, support, &items).await;
        for name in ["ann", "bob"] {
            let who = person(&scene, name).await;
            let mut seen = Vec::new();
            while let Some((it, item)) = next(&scene, support, task, who, 1).await {
                submit(&scene, support, &it, json!({}), 2).await;
                seen.push(item.candidate);
            }
            assert_eq!(seen, ["try", "a", "b", "gold", "c"]);
            assert_eq!(
                store.annotator_progress(task, who).await.unwrap(),
                AnnotatorProgress { n_done: 3, n_left: 0, n_checks_done: 1, n_checks_left: 0 }
            );
            let finished = store.assign_next(support, task, who, &giving(9), at(5)).await.unwrap();
            assert_eq!(finished, NextAssignment::Finished);
        }
        let eve = person(&scene, "eve").await;
        let quota = AssignmentPolicy { quota: Some(1), order: NextItemOrder::From(1), ..giving(9) };
        for expected in ["try", "c"] {
            let NextAssignment::Given(it) =
                store.assign_next(support, task, eve, &quota, at(6)).await.unwrap()
            else {
                panic!("nothing given")
            };
            assert_eq!(it.1.candidate, expected, "from another place on");
            submit(&scene, support, &it.0, json!({}), 7).await;
        }
        assert_eq!(
            store.assign_next(support, task, eve, &quota, at(8)).await.unwrap(),
            NextAssignment::Quota
        );
    });
}

#[test]
fn progress_agrees_with_items_and_assignments_after_every_change() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let with_role = |name: &str, role| NewItem { role, ..item(name, 0) };
        let mut items: Vec<NewItem> = (0..12_u32).map(|n| item(&format!("c{n:02}"), n % 3)).collect();
        items.push(with_role("gold", ItemRole::Gold));
        items.push(with_role("look", ItemRole::Attention));
        items.push(with_role("try", ItemRole::Training));
        let task = task(&scene, support, &items).await;
        let mut people = Vec::new();
        for name in ["ann", "bob", "eve", "may"] {
            people.push(person(&scene, name).await);
        }
        let named = async |name: &str| store.item_of(support, task, name).await.unwrap().unwrap().id;
        for step in 0..60_usize {
            // May only adjudicates.
            let (now, who) = (4 * step as i64, people[step % 3]);
            if let Some((it, _)) = next(&scene, support, task, who, now).await {
                match step % 7 {
                    3 => assert!(store.skip(support, it.id, at(now)).await.unwrap()),
                    // They go away, and their lease ends before they come back.
                    5 => {}
                    _ => submit(&scene, support, &it, json!({ "step": step }), now).await,
                }
            }
            match step {
                8 => store.remove_item(support, named("c05").await, at(now)).await.unwrap(),
                14 => store.set_wanted(support, named("c01").await, 3, ItemRole::Item).await.unwrap(),
                20 => store.set_wanted(support, named("c02").await, 0, ItemRole::Gold).await.unwrap(),
                26 => {
                    let wanted = |name: &str| match name {
                        "gold" => (0, ItemRole::Gold),
                        "look" => (0, ItemRole::Attention),
                        "try" => (0, ItemRole::Training),
                        _ => (2, ItemRole::Item),
                    };
                    store.set_all_wanted(support, task, wanted).await.unwrap();
                }
                32 => {
                    let more = [item("c00", 1), item("d", 1)];
                    assert_eq!(store.add_items(support, task, &more, at(now)).await.unwrap(), 1);
                }
                38 => {
                    let own = store.own_assignments(task, people[0]).await.unwrap();
                    let answered = own.iter().find(|own| own.is_submitted).unwrap().id;
                    let answered = store.assignment(support, answered).await.unwrap();
                    submit(&scene, support, &answered, json!({ "again": true }), now).await;
                }
                44 => {
                    let item = named("c04").await;
                    let it = store.assign(support, item, people[3], at(now), at(now + 10)).await.unwrap();
                    submit(&scene, support, &it, json!({ "step": step }), now).await;
                }
                50 => {
                    let excluded = json!({ "excluded": [{ "account": people[1].to_string() }] });
                    store.set_task_settings(support, task, "quality", &excluded, at(now)).await.unwrap();
                }
                _ => {}
            }
            check_progress(&scene, support, task, &people).await;
        }
        let progress = store.annotator_progress(task, people[0]).await.unwrap();
        assert!(0 < progress.n_done && 0 < progress.n_checks_done, "{progress:?}");
        assert_eq!(store.check().await.unwrap(), []);

        undo_migrations(&scene, 16).await;
        store.migrate(at(300)).await.unwrap();
        check_progress(&scene, support, task, &people).await;
        assert_eq!(store.check().await.unwrap(), []);
        for sql in [
            "UPDATE annotation_tasks SET n_open = n_open + 1",
            "UPDATE annotation_items SET n_submitted = n_submitted + 1",
            "UPDATE assignments SET is_item_open = 1 - is_item_open",
        ] {
            scene.execute(sql).await.unwrap();
        }
        let problems = store.check().await.unwrap();
        let tables: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(tables, ["annotation_tasks", "annotation_items", "assignments"]);
    });
}

/// Compares the progress of a task and of its annotators with their rows.
async fn check_progress(scene: &Scene, project: ProjectId, task: TaskId, people: &[AccountId]) {
    for who in people {
        let items = count_rows(scene, task, *who, "'item'").await;
        let checks = count_rows(scene, task, *who, "'gold', 'attention'").await;
        let counted = AnnotatorProgress {
            n_done: items.n_done,
            n_left: items.n_left,
            n_checks_done: checks.n_done,
            n_checks_left: checks.n_left,
        };
        assert_eq!(scene.store.annotator_progress(task, *who).await.unwrap(), counted);
    }
    let answers = "FROM assignments a WHERE a.item = i.id AND a.state = 'submitted'";
    let items = format!("FROM annotation_items i WHERE i.task = '{task}' AND i.role = 'item'");
    let here = format!("{items} AND i.state <> 'removed'");
    let is_done = format!("i.state = 'done' OR (i.n_wanted = 0 AND EXISTS (SELECT 1 {answers}))");
    let n_wanted = "SUM(CASE WHEN i.n_wanted = 0 THEN 1 ELSE i.n_wanted END)";
    let counted = TaskItemCounts {
        n_items: number(scene, &format!("SELECT COUNT(*) {here}")).await,
        n_done: number(scene, &format!("SELECT COUNT(*) {here} AND ({is_done})")).await,
        n_wanted: number(scene, &format!("SELECT {n_wanted} {here}")).await,
        n_submitted: number(scene, &format!("SELECT SUM((SELECT COUNT(*) {answers})) {items}")).await,
    };
    assert_eq!(scene.store.progress(project, task).await.unwrap(), counted);
}

struct CountedRows {
    n_done: u64,
    n_left: u64,
}

async fn count_rows(scene: &Scene, task: TaskId, who: AccountId, roles: &str) -> CountedRows {
    let items = format!("FROM annotation_items i WHERE i.task = '{task}' AND i.role IN ({roles})");
    let own =
        format!("(SELECT 1 FROM assignments a WHERE a.item = i.id AND a.account = '{who}' AND a.state IN");
    let done = format!("SELECT COUNT(*) {items} AND EXISTS {own} ('submitted'))");
    let left = format!(
        "SELECT COUNT(*) {items} AND i.state = 'open' AND NOT EXISTS {own} ('submitted', 'skipped'))"
    );
    CountedRows { n_done: number(scene, &done).await, n_left: number(scene, &left).await }
}

async fn number(scene: &Scene, sql: &str) -> u64 {
    u64::try_from(scene.number(sql).await.unwrap()).unwrap()
}

#[test]
fn of_two_tabs_the_second_is_told_what_the_first_saved() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let task = task(&scene, support, &[item("a", 1)]).await;
        let ann = person(&scene, "ann").await;
        let (it, _) = next(&scene, support, task, ann, 1).await.unwrap();
        let save = async |draft, seen, now| {
            store.save_draft(support, it.id, &draft, seen, at(now), at(now + 10)).await.unwrap()
        };
        assert_eq!(save(json!({"x": 1}), 0, 3).await, SaveOutcome::Done { revision: 1 });
        assert_eq!(
            save(json!({"x": 2}), 0, 4).await,
            SaveOutcome::Newer { draft: json!({"x": 1}), revision: 1 }
        );
        assert_eq!(save(json!({"x": 2}), 1, 5).await, SaveOutcome::Done { revision: 2 });
        // Ten that save at the same time: one of them is kept, and the others know.
        let mut tasks = Vec::new();
        for n in 0..10 {
            let (store, id) = (store.clone(), it.id);
            tasks.push(tokio::spawn(async move {
                store.save_draft(support, id, &json!({"x": n}), 2, at(6), at(16)).await.unwrap()
            }));
        }
        let mut n_kept = 0;
        for task in tasks {
            match task.await.unwrap() {
                SaveOutcome::Done { revision } => (n_kept, _) = (n_kept + 1, assert_eq!(revision, 3)),
                SaveOutcome::Newer { revision, .. } => assert_eq!(revision, 3),
                SaveOutcome::Ended => panic!("nobody ended it"),
            }
        }
        assert_eq!(n_kept, 1);
        let stale = store.submit(support, it.id, &json!({}), 2, at(7)).await.unwrap();
        assert!(matches!(stale, SaveOutcome::Newer { .. }));
        assert_eq!(
            store.submit(support, it.id, &json!({}), 3, at(9)).await.unwrap(),
            SaveOutcome::Done { revision: 4 }
        );
        let answer = store.annotations(support, task, None, 5).await.unwrap().items.remove(0);
        assert_eq!(answer.seconds, Some(8.0), "from when it was given to when it was submitted");
    });
}

#[test]
fn a_pause_is_not_work_and_an_item_that_is_gone_ends_it() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let task = task(&scene, support, &[item("a", 1), item("b", 1)]).await;
        let ann = person(&scene, "ann").await;
        let (it, a) = next(&scene, support, task, ann, 0).await.unwrap();
        store.open_assignment(support, it.id, at(100)).await.unwrap();
        store.save_draft(support, it.id, &json!({}), 0, at(110), at(200)).await.unwrap();
        store.save_draft(support, it.id, &json!({}), 1, at(100_000), at(100_200)).await.unwrap();
        let seconds = store.assignment(support, it.id).await.unwrap().seconds;
        assert!((seconds - 610.0).abs() < 1e-6, "{seconds}");
        store.remove_item(support, a.id, at(100_001)).await.unwrap();
        let saved = store.save_draft(support, it.id, &json!({}), 2, at(100_002), at(100_200)).await.unwrap();
        assert_eq!(saved, SaveOutcome::Ended);
        assert_eq!(next(&scene, support, task, ann, 100_003).await.unwrap().1.candidate, "b");
        assert_eq!(store.progress(support, task).await.unwrap().n_items, 1);
    });
}

#[test]
fn who_has_begun_finishes_on_the_version_they_began_with() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let task = task(&scene, support, &[item("a", 0), item("b", 0)]).await;
        let put = async |body| store.put_task_version(support, task, &body, at(1)).await.unwrap();
        assert_eq!(
            (put(json!({"v": 1})).await, put(json!({"v": 1})).await),
            (1, 1),
            "the same is no new one"
        );
        let ann = person(&scene, "ann").await;
        let (first, _) = next(&scene, support, task, ann, 2).await.unwrap();
        assert_eq!(put(json!({"v": 2})).await, 2);
        assert_eq!(next(&scene, support, task, ann, 3).await.unwrap().0.version, 1);
        submit(&scene, support, &first, json!({}), 4).await;
        assert_eq!(next(&scene, support, task, ann, 5).await.unwrap().0.version, 2);
        assert_eq!(store.annotations(support, task, None, 5).await.unwrap().items[0].version, 1);
        assert_eq!(store.task_version(support, task, 1).await.unwrap(), json!({"v": 1}));
        let neighbours = store.neighbours(&first).await.unwrap();
        assert!(neighbours.before.is_none() && neighbours.after.is_some());
        let own = store.own_assignments(task, ann).await.unwrap();
        assert_eq!(own.iter().map(|it| it.is_submitted).collect::<Vec<_>>(), [true, false]);
        assert_eq!((own[0].id, Some(own[1].id)), (first.id, neighbours.after));
    });
}

#[test]
fn a_decision_is_kept_with_its_label() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let task = task(&scene, support, &[item("a", 1)]).await;
        let item = store.item_of(support, task, "a").await.unwrap().unwrap().id;
        let version = version(&scene, support).await;
        let new = NewAdjudication {
            task,
            item,
            scheme: "quality".into(),
            criterion: "tone".into(),
            body: json!({"why": "the guideline says so"}),
            author: None,
        };
        let label = NewLabel {
            candidate: "a".into(),
            rubric_version: version.clone(),
            criterion: "tone".into(),
            value: Value::Number(4.0),
            unit: Some(0.75),
            origin: "adjudicated".into(),
            author: None,
        };
        store.adjudicate(support, &new, Some(&label), at(1)).await.unwrap();
        assert_eq!(store.adjudications_of(support, item).await.unwrap()[0].body, new.body);
        assert_eq!(store.labels(support, &version, None, None, 9).await.unwrap().items.len(), 1);
        assert!(scene.execute("DELETE FROM adjudications").await.is_err());
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
            labels.iter().map(|label| (label.candidate.as_str(), label.unit)).collect::<Vec<_>>(),
            [("b", Some(0.4)), ("a", Some(0.8))]
        );
        let one = store.labels(support, &version, Some("a"), None, 10).await.unwrap().items;
        assert_eq!(one[0].value, Value::Number(4.0));
    });
}
