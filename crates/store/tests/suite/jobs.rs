use std::collections::BTreeSet;
use std::time::Duration;

use jurist_store::Store;
use jurist_store::jobs::{Job, JobFailure, JobState, NewJob, PostponedJobs};
use jurist_store::testing::for_each_engine;
use serde_json::json;

use crate::at;

fn job(n: i64) -> NewJob {
    NewJob {
        project: None,
        kind: "grade".into(),
        payload: json!({"n": n}),
        priority: 0,
        ready: at(0),
        max_attempts: 3,
        dedupe: None,
    }
}

async fn lease(store: &Store, worker: &str, n: usize, now: i64) -> Vec<Job> {
    store.lease(worker, &["grade"], n, at(now), at(now + 10)).await.unwrap()
}

#[test]
fn the_urgent_and_the_old_go_first_and_nothing_before_its_time() {
    for_each_engine(|scene| async move {
        let store = &scene.store;
        let urgent = NewJob { priority: 5, ..job(2) };
        let later = NewJob { ready: at(50), priority: 9, ..job(3) };
        let other = NewJob { kind: "mail".into(), ..job(4) };
        store.add_jobs(&[job(1), urgent, later, other], at(0)).await.unwrap();
        let taken = lease(store, "w", 9, 1).await;
        assert_eq!(
            taken.iter().map(|taken| taken.payload["n"].as_i64().unwrap()).collect::<Vec<_>>(),
            [2, 1]
        );
        assert_eq!(store.next_ready().await.unwrap(), Some(at(0)));
        assert_eq!(store.lease("w", &[], 9, at(1), at(10)).await.unwrap()[0].kind, "mail");
        assert_eq!(lease(store, "w", 9, 50).await.len(), 3, "the first two are taken over");
    });
}

#[test]
fn workers_share_work_and_never_do_it_twice() {
    for_each_engine(|scene| async move {
        let jobs: Vec<NewJob> = (0..300).map(job).collect();
        scene.store.add_jobs(&jobs, at(0)).await.unwrap();
        let worker = |name: &'static str| {
            let store = scene.store.clone();
            tokio::spawn(async move {
                let mut done = Vec::new();
                loop {
                    let taken = lease(&store, name, 7, 1).await;
                    if taken.is_empty() {
                        return done;
                    }
                    assert_eq!(store.finish_jobs(&taken).await.unwrap(), taken.len());
                    done.extend(taken.into_iter().map(|job| job.id));
                }
            })
        };
        let workers = ["a", "b", "c"].map(worker);
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.await.unwrap());
        }
        assert_eq!(all.len(), 300);
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len(), 300);
    });
}

#[test]
fn a_dead_workers_job_is_taken_over_and_it_cannot_come_back() {
    for_each_engine(|scene| async move {
        let store = &scene.store;
        store.add_job(&job(1), at(0)).await.unwrap();
        let dead = lease(store, "dead", 1, 0).await.remove(0);
        assert!(lease(store, "next", 1, 5).await.is_empty());
        assert!(store.heartbeat(&dead, at(20)).await.unwrap());
        assert!(lease(store, "next", 1, 15).await.is_empty());
        let next = lease(store, "next", 1, 20).await.remove(0);
        assert_eq!((next.id, next.attempts), (dead.id, 2));
        assert!(!store.heartbeat(&dead, at(90)).await.unwrap());
        assert!(!store.finish_job(&dead).await.unwrap());
        assert_eq!(store.fail_job(&dead, "late", None, at(21)).await.unwrap(), JobFailure::Lost);
        assert!(store.finish_job(&next).await.unwrap());
        assert_eq!(store.job(dead.id).await.unwrap(), None);
    });
}

#[test]
fn what_fails_too_often_is_put_aside() {
    for_each_engine(|scene| async move {
        let store = &scene.store;
        let id = store.add_job(&job(1), at(0)).await.unwrap().unwrap();
        for (now, expected) in [(0, JobFailure::Waits), (10, JobFailure::Waits), (20, JobFailure::Dead)] {
            let taken = lease(store, "w", 1, now).await.remove(0);
            assert_eq!(store.fail_job(&taken, "no", Some(at(now + 10)), at(now)).await.unwrap(), expected);
        }
        assert!(lease(store, "w", 1, 99).await.is_empty());
        let dead = store.dead_jobs(None, None, 5).await.unwrap().items;
        assert_eq!((dead[0].id, dead[0].state, dead[0].error.as_deref()), (id, JobState::Dead, Some("no")));
        assert!(store.revive_job(id, at(100)).await.unwrap());
        // Workers that die with it count as failures, too.
        for now in [100, 200, 300] {
            assert_eq!(lease(store, "w", 1, now).await.len(), 1);
        }
        assert!(lease(store, "w", 1, 400).await.is_empty());
        assert_eq!(store.job_counts(None).await.unwrap()[0].state, JobState::Dead);
        assert!(store.discard_job(id).await.unwrap());
    });
}

#[test]
fn hopeless_work_is_not_tried_again() {
    for_each_engine(|scene| async move {
        scene.store.add_job(&job(1), at(0)).await.unwrap();
        let taken = lease(&scene.store, "w", 1, 0).await.remove(0);
        assert_eq!(scene.store.fail_job(&taken, "no key", None, at(1)).await.unwrap(), JobFailure::Dead);
    });
}

#[test]
fn what_is_given_back_counts_as_not_taken() {
    for_each_engine(|scene| async move {
        scene.store.add_job(&job(1), at(0)).await.unwrap();
        let taken = lease(&scene.store, "w", 1, 0).await;
        scene.store.release_jobs(&taken, at(1)).await.unwrap();
        assert_eq!(lease(&scene.store, "v", 1, 1).await[0].attempts, 1);
    });
}

#[test]
fn what_is_put_off_says_why_and_only_that_is_hastened() {
    for_each_engine(|scene| async move {
        let store = &scene.store;
        let project = store.add_project("support", at(0)).await.unwrap().id;
        let own = |n: i64| NewJob { project: Some(project), dedupe: Some(format!("desk/{n}")), ..job(n) };
        store.add_jobs(&[own(1), own(2), own(3), own(4)], at(0)).await.unwrap();
        let [poor, broken, taken] = &lease(store, "w", 3, 1).await[..] else { panic!("three") };
        store.postpone_job(poor, at(500), "no money").await.unwrap();
        store.fail_job(broken, "HTTP 503", Some(at(900)), at(2)).await.unwrap();
        let left = store.jobs_left(project, "grade", "desk/").await.unwrap();
        assert_eq!(
            (left.n_waiting, left.put_off.map(|put_off| put_off.n)),
            (4, Some(2)),
            "one is at work, one is new"
        );
        assert_eq!(store.hasten_jobs(project, "grade", "desk/", "no money", at(3)).await.unwrap(), 1);
        let left = store.jobs_left(project, "grade", "desk/").await.unwrap();
        assert_eq!(left.put_off, Some(PostponedJobs { n: 1, why: "HTTP 503".to_owned() }));
        assert_eq!(store.job(broken.id).await.unwrap().unwrap().ready, at(900), "it waits for its next try");
        // A worker that ends gives back what it has taken, and what went wrong before is still known.
        store.fail_job(taken, "HTTP 500", Some(at(4)), at(4)).await.unwrap();
        let again = lease(store, "w", 9, 5).await;
        store.release_jobs(&again, at(6)).await.unwrap();
        let kept = store.job(taken.id).await.unwrap().unwrap();
        assert_eq!((kept.attempts, kept.error.as_deref()), (1, Some("HTTP 500")));
    });
}

#[test]
fn the_same_work_is_not_added_twice() {
    for_each_engine(|scene| async move {
        let store = &scene.store;
        let same = NewJob { dedupe: Some("t1".into()), ..job(1) };
        let added = store.add_jobs(&[same.clone(), same.clone()], at(0)).await.unwrap();
        assert!(added[0].is_some() && added[1].is_none());
        let taken = lease(store, "w", 5, 0).await;
        assert_eq!((taken.len(), store.add_job(&same, at(1)).await.unwrap()), (1, None));
        store.finish_job(&taken[0]).await.unwrap();
        assert!(store.add_job(&same, at(1)).await.unwrap().is_some());
    });
}

#[test]
fn a_waiting_worker_is_woken_also_by_another_process() {
    for_each_engine(|scene| async move {
        let other = Store::open(&scene.url).await.unwrap();
        // SQLite hears its own process only.
        let adds = if scene.store.engine() == "postgres" { &other } else { &scene.store };
        let mut waker = scene.store.waker();
        // Until the listener stands, PostgreSQL rings for nobody: a worker polls, and so does this.
        for n in 0.. {
            adds.add_job(&job(n), at(0)).await.unwrap();
            let begun = std::time::Instant::now();
            waker.wait(Duration::from_secs(2)).await;
            if begun.elapsed() < Duration::from_secs(2) {
                break;
            }
            assert!(n < 10, "nobody rang");
        }
    });
}
