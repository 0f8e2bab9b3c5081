//! How long people wait for their next item: `cargo run --release -p jurist-store --features testing --example assign_bench`.
//!
//! 200 people and 20,000 items of which each wants three answers. Some thousand are answered one after the other, then
//! some thousand by eight people at a time; then it is counted whether anything was lost and how even it is.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal, which may fail")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jurist_core::grade::Time;
use jurist_core::money::Rates;
use jurist_store::accounts::NewAccount;
use jurist_store::annotate::{ItemRole, NewItem, NewTask};
use jurist_store::assignments::{Giving, Next, Saved, Turn};
use jurist_store::testing::{Fsync, Server};
use jurist_store::{AccountId, ProjectId, Store, TaskId, clock};
use serde_json::json;

const PEOPLE: usize = 200;
const ITEMS: usize = 20_000;
const ANSWERS: usize = 4_000;
const AT_ONCE: usize = 8;

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
    let now = clock::now();
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
    let mut waits = answer(store, project, task, &people, ANSWERS).await;
    told("one at a time", &mut waits);
    let groups = people.chunks(PEOPLE / AT_ONCE).map(<[AccountId]>::to_vec);
    let groups = groups.map(|group| {
        let store = store.clone();
        tokio::spawn(async move { answer(&store, project, task, &group, ANSWERS / AT_ONCE).await })
    });
    let mut waits = Vec::new();
    for group in groups.collect::<Vec<_>>() {
        waits.extend(group.await.unwrap());
    }
    told("eight at a time", &mut waits);
    let mut by_item: BTreeMap<String, usize> = BTreeMap::new();
    let (mut n, mut after) = (0, None);
    loop {
        let page = store.annotations(project, task, after.as_ref(), 1_000).await.unwrap();
        n += page.items.len();
        page.items.into_iter().for_each(|it| *by_item.entry(it.candidate).or_default() += 1);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let most = by_item.values().max().copied().unwrap_or(0);
    let shares = store.progress_by_annotator(project, task).await.unwrap();
    let (few, many) = shares.iter().fold((u64::MAX, 0), |(few, many), it| (few.min(it.1), many.max(it.1)));
    println!("  {n} of {} answers kept; at most {most} for an item; {few} to {many} a person", 2 * ANSWERS);
}

/// Everybody in turn asks for an item and answers it; how long each asked.
async fn answer(
    store: &Store,
    project: ProjectId,
    task: TaskId,
    people: &[AccountId],
    n: usize,
) -> Vec<Duration> {
    let mut waits = Vec::new();
    for account in people.iter().cycle().take(n) {
        let now = clock::now();
        let until = Time::from_micros(now.micros() + 3_600_000_000);
        let giving = Giving { until, order: Turn::Fewest, quota: None, check_every: 10 };
        let begun = Instant::now();
        let next = store.assign_next(project, task, *account, &giving, now).await.unwrap();
        waits.push(begun.elapsed());
        let Next::Given(given) = next else { panic!("{next:?}") };
        let saved = store.submit(project, given.0.id, &json!({ "n": 1 }), 0, clock::now()).await.unwrap();
        assert_eq!(saved, Saved::Done { revision: 1 });
    }
    waits
}

fn told(what: &str, waits: &mut [Duration]) {
    waits.sort();
    let at = |share: f64| waits[(share * (waits.len() - 1) as f64) as usize].as_secs_f64() * 1e3;
    println!(
        "  {what}: next item in {:.2} ms (median), {:.2} ms (p99), {:.2} ms (worst)",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}
