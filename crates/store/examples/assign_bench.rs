//! How long people wait for their next item: `cargo run --release -p jurist-store --features testing --example assign_bench`.
//!
//! 200 people and 20,000 items of which each wants three answers. Some thousand are answered one after the other, then
//! some thousand by all 200 at work at the same time, of whom each takes some seconds for an item, then some thousand by
//! eight who take no time at all; then it is counted whether anything was lost and how even it is.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal, which may fail")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jurist_core::grade::Time;
use jurist_core::money::Rates;
use jurist_core::plan::hash_position;
use jurist_store::accounts::NewAccount;
use jurist_store::annotate::{ItemRole, NewItem, NewTask};
use jurist_store::assignments::{AssignmentPolicy, NextAssignment, NextItemOrder, SaveOutcome};
use jurist_store::testing::{Fsync, Server};
use jurist_store::{AccountId, ProjectId, Store, TaskId, clock};
use serde_json::json;

const PEOPLE: usize = 200;
const ITEMS: usize = 20_000;
const ANSWERS: usize = 4_000;
const AT_ONCE: usize = 8;
const PACE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jurist.db");
    let store = Store::open(path.to_str().unwrap()).await.unwrap();
    println!("SQLite");
    measure(&store).await;
    store.close().await;
    let Some(server) = Server::start(Fsync::On) else { return println!("SKIPPED: no PostgreSQL") };
    println!("PostgreSQL, fsync = on");
    measure(&Store::open(&server.database().await).await.unwrap()).await;
}

async fn measure(store: &Store) {
    let now = clock::current_time();
    let project = store.default_project(&Rates::default(), now).await.unwrap();
    let mut people = Vec::new();
    for n in 0..PEOPLE {
        let new = NewAccount {
            email: format!("{n}@a.example"),
            name: n.to_string(),
            password: None,
            is_admin: false,
        };
        people.push(store.add_account(&new, now).await.unwrap().id);
    }
    let new = NewTask { name: "bench".into(), rubric_version: None, settings: json!({}), origin: None };
    let task = store.add_task(project, &new, now).await.unwrap().id;
    let item = |n: usize| NewItem {
        candidate: format!("trace_{n}"),
        body: json!({ "text": "An answer of some length. ".repeat(40) }),
        n_wanted: 3,
        priority: 0,
        role: ItemRole::Item,
        turn: None,
    };
    let items: Vec<NewItem> = (0..ITEMS).map(item).collect();
    store.add_items(project, task, &items, now).await.unwrap();
    let work = Work { store: store.clone(), project, task };
    // As the server does.
    let emptied = store.clone();
    let emptying = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            emptied.checkpoint().await.unwrap();
        }
    });
    told("one after the other", work.in_groups(&people, 1, Duration::ZERO).await);
    told("200 at work, of whom each takes some 5 s for an item", work.in_groups(&people, PEOPLE, PACE).await);
    told("eight who take no time", work.in_groups(&people, AT_ONCE, Duration::ZERO).await);
    emptying.abort();
    let mut by_item: BTreeMap<String, usize> = BTreeMap::new();
    let (mut n, mut after) = (0, None);
    loop {
        let page = store.annotations(project, task, after.as_ref(), 1_000).await.unwrap();
        n += page.items.len();
        page.items.into_iter().for_each(|submitted_annotation| {
            *by_item.entry(submitted_annotation.candidate).or_default() += 1;
        });
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let most = by_item.values().max().copied().unwrap_or(0);
    let shares = store.progress_by_annotator(project, task).await.unwrap();
    let (few, many) = shares.iter().fold((u64::MAX, 0), |(few, many), it| (few.min(it.n), many.max(it.n)));
    println!("  {n} of {} answers kept; at most {most} for an item; {few} to {many} a person", 3 * ANSWERS);
}

/// How long each asked, and how long each took to be sure that an answer is on the disk.
#[derive(Default)]
struct Waits {
    next: Vec<Duration>,
    saved: Vec<Duration>,
}

#[derive(Clone)]
struct Work {
    store: Store,
    project: ProjectId,
    task: TaskId,
}

impl Work {
    /// As many groups as told work at the same time, in each of them one after the other.
    async fn in_groups(&self, people: &[AccountId], n_groups: usize, pace: Duration) -> Waits {
        let groups = people.chunks(people.len() / n_groups).map(<[AccountId]>::to_vec).enumerate();
        let groups = groups.map(|(at, group)| {
            let work = self.clone();
            // Nobody begins at the same moment as all others.
            let first = pace.mul_f64(at as f64 / n_groups as f64);
            tokio::spawn(async move {
                tokio::time::sleep(first).await;
                work.answer(&group, ANSWERS / n_groups, pace).await
            })
        });
        let mut waits = Waits::default();
        for group in groups.collect::<Vec<_>>() {
            let group = group.await.unwrap();
            waits.next.extend(group.next);
            waits.saved.extend(group.saved);
        }
        waits
    }

    /// Everybody in turn asks for an item, takes about so long, and answers it.
    async fn answer(&self, people: &[AccountId], n: usize, pace: Duration) -> Waits {
        let mut waits = Waits::default();
        for (at, account) in people.iter().cycle().take(n).enumerate() {
            let now = clock::current_time();
            let until = Time::from_micros(now.micros() + 3_600_000_000);
            let giving =
                AssignmentPolicy { until, order: NextItemOrder::Fewest, quota: None, check_every: 10 };
            let begun = Instant::now();
            let next = self.store.assign_next(self.project, self.task, *account, &giving, now).await.unwrap();
            waits.next.push(begun.elapsed());
            let NextAssignment::Given(given) = next else { panic!("{next:?}") };
            let share = hash_position(&account.to_string(), &at.to_string());
            tokio::time::sleep(pace.mul_f64(0.5 + share)).await;
            let (begun, answer) = (Instant::now(), json!({ "n": 1 }));
            let saved =
                self.store.submit(self.project, given.0.id, &answer, 0, clock::current_time()).await.unwrap();
            waits.saved.push(begun.elapsed());
            assert_eq!(saved, SaveOutcome::Done { revision: 1 });
        }
        waits
    }
}

fn told(what: &str, waits: Waits) {
    println!("  {what}");
    for (what, mut waits) in [("next item", waits.next), ("answer kept", waits.saved)] {
        waits.sort();
        let at = |share: f64| waits[(share * (waits.len() - 1) as f64) as usize].as_secs_f64() * 1e3;
        let (median, p99, worst) = (at(0.5), at(0.99), at(1.0));
        println!("    {what:<11} {median:>7.2} ms (median) {p99:>7.2} ms (p99) {worst:>7.2} ms (worst)");
    }
}
