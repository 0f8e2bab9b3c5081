use std::time::Duration;

use jurist_core::grade::{Time, Usd};
use jurist_core::money::{Cap, Currency};
use jurist_store::jobs::NewJob;
use jurist_store::spend::{Limit, ReservationRequest, Reserve};
use jurist_store::testing::for_each_engine;
use jurist_store::{Store, StoreOptions};

use crate::{at, project, undo_migrations};

fn usd(nanos: i64) -> Usd {
    Usd::from_nanos(nanos)
}

fn cap(nanos: i64) -> Option<Cap> {
    Some(Cap::new(nanos as f64 / 1e9, Currency::USD, 1.0).unwrap())
}

fn wanted(amount: Usd) -> ReservationRequest<'static> {
    ReservationRequest { amount, purpose: "judge", subject: "triage", limit: None, model: "a/b", job: None }
}

#[test]
fn a_request_that_is_repeated_reserves_once() {
    for_each_engine(|scene| async move {
        let (store, project) = (&scene.store, project(&scene).await);
        store.set_cap(project, cap(100)).await.unwrap();
        let id = jurist_store::ReservationId::at(at(1));
        for _ in 0..3 {
            let held = store.reserve_as(id, project, &wanted(usd(60)), at(1)).await.unwrap();
            assert_eq!(held, Reserve::Held(id), "also where another would no longer fit");
        }
        let other = store.reserve(project, &wanted(usd(60)), at(1)).await.unwrap();
        assert!(matches!(other, Reserve::OverCap(_)), "{other:?}");
        assert_eq!(store.month_spend(project, at(1)).await.unwrap().reserved, usd(60));
    });
}

#[test]
fn a_cap_holds_under_sixteen_at_once() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        scene.store.set_cap(support, cap(1000)).await.unwrap();
        let reserver = |n: i64| {
            let store = scene.store.clone();
            tokio::spawn(async move {
                let mut spent = 0;
                for round in 0..20 {
                    let Reserve::Held(id) = store.reserve(support, &wanted(usd(30)), at(1)).await.unwrap()
                    else {
                        break;
                    };
                    // Some cost nothing, some all that was set aside.
                    let cost = if (n + round) % 3 == 0 { 0 } else { 30 };
                    store.settle(support, id, usd(cost), at(2)).await.unwrap();
                    spent += cost;
                    let month = store.month_spend(support, at(1)).await.unwrap();
                    assert!(month.reserved.nanos() + month.settled.nanos() <= 1000);
                }
                spent
            })
        };
        let tasks: Vec<_> = (0..16).map(reserver).collect();
        let mut spent = 0;
        for task in tasks {
            spent += task.await.unwrap();
        }
        let month = scene.store.month_spend(support, at(1)).await.unwrap();
        assert_eq!((month.settled.nanos(), month.reserved.nanos()), (spent, 0));
        assert!((970..=1000).contains(&spent), "{spent}");
        assert_eq!(scene.store.check().await.unwrap(), []);
    });
}

#[test]
fn money_is_settled_once() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        store.set_cap(support, cap(100)).await.unwrap();
        let Reserve::Held(id) = store.reserve(support, &wanted(usd(80)), at(1)).await.unwrap() else {
            panic!("free")
        };
        let Reserve::OverCap(month) = store.reserve(support, &wanted(usd(21)), at(1)).await.unwrap() else {
            panic!("full")
        };
        assert_eq!(
            (month.cap, month.reserved, month.remaining_amount()),
            (Some(usd(100)), usd(80), Some(usd(20)))
        );
        assert!(store.settle(support, id, usd(30), at(2)).await.unwrap());
        assert!(!store.settle(support, id, usd(80), at(3)).await.unwrap());
        assert_eq!(store.month_spend(support, at(1)).await.unwrap().remaining_amount(), Some(usd(70)));
        assert_eq!(store.spend_by_day(support, at(0), at(9)).await.unwrap()[0].settled, usd(30));
    });
}

#[test]
fn a_new_month_begins_at_the_first_of_utc() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        store.set_cap(support, cap(100)).await.unwrap();
        let time = |text| Time::parse(text).unwrap();
        let (last, first) = (time("2026-03-31T23:59:59.999999Z"), time("2026-04-01T00:00:00Z"));
        let held = store.reserve(support, &wanted(usd(100)), last).await.unwrap();
        assert!(matches!(store.reserve(support, &wanted(usd(1)), last).await.unwrap(), Reserve::OverCap(_)));
        assert!(matches!(store.reserve(support, &wanted(usd(100)), first).await.unwrap(), Reserve::Held(_)));
        // Paid in the month in which it was set aside.
        let Reserve::Held(id) = held else { panic!("it was free") };
        store.settle(support, id, usd(60), first).await.unwrap();
        assert_eq!(store.month_spend(support, last).await.unwrap().settled, usd(60));
        assert_eq!(store.month_spend(support, first).await.unwrap().settled, usd(0));
    });
}

#[test]
fn without_a_cap_there_is_no_limit() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        scene.store.set_cap(support, None).await.unwrap();
        let held = scene.store.reserve(support, &wanted(usd(i64::MAX / 4)), at(1)).await.unwrap();
        assert!(matches!(held, Reserve::Held(_)));
        assert_eq!(scene.store.month_spend(support, at(1)).await.unwrap().remaining_amount(), None);
    });
}

/// Any interleaving: a thousand calls that three workers make at once, each a process to the database.
#[test]
fn a_cap_holds_under_a_thousand_calls_on_three_workers() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        scene.store.set_cap(support, cap(10_000)).await.unwrap();
        let mut workers = Vec::new();
        // A third of the calls queues for the eight connections of a worker: on a busy machine longer than 15 s.
        let options = StoreOptions { patience: Duration::from_secs(300), ..StoreOptions::default() };
        for _ in 0..3 {
            workers.push(Store::open_with(&scene.url, options).await.unwrap());
        }
        let call = |nth: i64| {
            let store = workers[nth as usize % 3].clone();
            tokio::spawn(async move {
                let (most, cost) = (20 + nth % 7 * 10, 5 + nth % 5 * 4);
                match store.reserve(support, &wanted(usd(most)), at(1)).await.unwrap() {
                    Reserve::Held(id) => {
                        tokio::time::sleep(Duration::from_millis((nth % 5) as u64)).await;
                        assert!(store.settle(support, id, usd(cost.min(most)), at(1)).await.unwrap());
                        let month = store.month_spend(support, at(1)).await.unwrap();
                        let sum = month.reserved.nanos() + month.settled.nanos();
                        assert!(sum <= 10_000, "{sum}");
                        cost.min(most)
                    }
                    Reserve::OverCap(_) | Reserve::OverLimit(_) => 0,
                }
            })
        };
        let calls: Vec<_> = (0..1000).map(call).collect();
        let mut spent = 0;
        for call in calls {
            spent += call.await.unwrap();
        }
        let month = scene.store.month_spend(support, at(1)).await.unwrap();
        assert_eq!((month.settled.nanos(), month.reserved.nanos()), (spent, 0));
        assert!((2_000..=10_000).contains(&spent), "{spent}");
        assert_eq!(scene.store.check().await.unwrap(), []);
        for worker in workers {
            worker.close().await;
        }
    });
}

#[test]
fn what_it_is_for_has_a_limit_of_its_own() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let time = |text| Time::parse(text).unwrap();
        let (march, april) = (time("2026-03-31T23:00:00Z"), time("2026-04-01T01:00:00Z"));
        let ask = async |subject: &str, limit: Limit, amount: i64, now: Time| {
            let wanted = ReservationRequest { subject, limit: Some(limit), ..wanted(usd(amount)) };
            store.reserve(support, &wanted, now).await.unwrap()
        };
        let (in_all, in_month) = (Limit::InAll(usd(100)), Limit::InMonth(usd(100)));
        assert!(matches!(ask("run", in_all, 60, march).await, Reserve::Held(_)));
        assert!(matches!(ask("monitor", in_month, 60, march).await, Reserve::Held(_)));
        // Neither month nor kind lets a run exceed its own; a monitor begins anew.
        let Reserve::OverLimit(run) = ask("run", in_all, 41, april).await else { panic!("it is full") };
        assert_eq!((run.cap, run.reserved, run.remaining_amount()), (Some(usd(100)), usd(60), Some(usd(40))));
        assert!(matches!(ask("monitor", in_month, 41, march).await, Reserve::OverLimit(_)));
        assert!(matches!(ask("monitor", in_month, 100, april).await, Reserve::Held(_)));
        assert!(matches!(ask("run", in_all, 40, april).await, Reserve::Held(_)));
        // What was refused holds nothing.
        assert_eq!(store.month_spend(support, march).await.unwrap().reserved, usd(120));
        assert_eq!(store.check().await.unwrap(), []);
    });
}

#[test]
fn many_at_once_do_not_exceed_the_limit_of_a_run() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let call = |_| {
            let store = scene.store.clone();
            tokio::spawn(async move {
                let wanted = ReservationRequest { limit: Some(Limit::InAll(usd(1_000))), ..wanted(usd(30)) };
                matches!(store.reserve(support, &wanted, at(1)).await.unwrap(), Reserve::Held(_))
            })
        };
        let calls: Vec<_> = (0..100).map(call).collect();
        let mut n = 0;
        for call in calls {
            n += i64::from(call.await.unwrap());
        }
        assert_eq!(n, 33);
        let spent = scene.store.subject_spend(support, "triage", None).await.unwrap();
        assert_eq!(spent.reserved, usd(990));
    });
}

#[test]
fn what_a_dead_worker_held_counts_as_spent_once_its_job_is_no_longer_its_own() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let second = |n: i64| Time::from_micros(n * 1_000_000);
        let job = NewJob {
            project: Some(support),
            kind: "run".into(),
            payload: serde_json::Value::Null,
            priority: 0,
            ready: second(0),
            max_attempts: 5,
            dedupe: None,
        };
        store.add_job(&job, second(0)).await.unwrap();
        let dying = store.lease("dying", &[], 1, second(0), second(60)).await.unwrap().remove(0);
        let held = async |job, now| {
            let wanted = ReservationRequest { job: Some(job), ..wanted(usd(80)) };
            match store.reserve(support, &wanted, now).await.unwrap() {
                Reserve::Held(id) => id,
                refused => panic!("{refused:?}"),
            }
        };
        let lost = held(&dying, second(1)).await;
        let free = ReservationRequest { purpose: "try", ..wanted(usd(5)) };
        store.reserve(support, &free, second(1)).await.unwrap();
        let is_stale = async |now| {
            let stale = store.stale_reservations(now, 5).await.unwrap();
            stale.iter().any(|reservation| reservation.id == lost)
        };
        assert!(!is_stale(second(59)).await, "its worker lives as far as anybody knows");
        assert!(is_stale(second(61)).await, "its lease has ended");
        let heir = store.lease("heir", &[], 1, second(61), second(600)).await.unwrap().remove(0);
        let inherited = held(&heir, second(62)).await;
        let stale = store.stale_reservations(second(90), 5).await.unwrap();
        assert_eq!(stale.iter().map(|stale| (stale.id, stale.amount)).collect::<Vec<_>>(), [(lost, usd(80))]);
        assert!(store.assume_spent(support, lost, second(90)).await.unwrap());
        // Neither a second time nor by somebody who comes back from the dead.
        assert!(!store.assume_spent(support, lost, second(91)).await.unwrap());
        assert!(!store.settle(support, lost, usd(1), second(91)).await.unwrap());
        assert!(store.settle(support, inherited, usd(30), second(92)).await.unwrap());
        let month = store.month_spend(support, second(92)).await.unwrap();
        assert_eq!((month.settled, month.reserved), (usd(110), usd(5)));
        let days = store.spend_by_day(support, second(0), second(100)).await.unwrap();
        assert_eq!((days[0].settled, days[0].assumed, days[0].n), (usd(110), usd(80), 2));
        // A database of before adds them up once.
        undo_migrations(&scene, 8).await;
        let again = Store::open(&scene.url).await.unwrap();
        assert_eq!(again.spend_by_day(support, second(0), second(100)).await.unwrap(), days);
        again.close().await;
        // What belongs to no job is left alone for as long as any call may take.
        assert_eq!(store.stale_reservations(second(5_000), 5).await.unwrap().len(), 1);
        assert_eq!(store.check().await.unwrap(), []);
    });
}

#[test]
fn the_cost_of_a_run_elsewhere_is_its_own_and_not_the_projects() {
    for_each_engine(|scene| async move {
        let (store, project) = (&scene.store, project(&scene).await);
        store.set_cap(project, cap(100)).await.unwrap();
        for cost in [40, 2] {
            store.add_subject_cost(project, "run", usd(cost), at(1)).await.unwrap();
        }
        assert_eq!(store.subject_spend(project, "run", None).await.unwrap().settled, usd(42));
        let month = store.month_spend(project, at(1)).await.unwrap();
        assert_eq!((month.settled, month.remaining_amount()), (usd(0), Some(usd(100))));
        assert!(month.may_fit(usd(100)) && !month.may_fit(usd(101)));
    });
}
