//! Fills a database with the project that `make demo` shows: weeks of two agents, two monitors, people's ratings, and
//! releases side by side.
//!
//! Everything is invented and says so; what a judge says goes through the same code as a real reply. The run that is
//! there already, with replies of a real model, becomes part of the project.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal, which may fail")]

mod judged;
mod people;
mod world;

use std::path::{Path, PathBuf};

use jurist_core::grade::Time;
use jurist_core::money::Rates;
use jurist_engine::trust::{TrustRule, decide_trust};
use jurist_server::Work;
use jurist_server::monitor::{LoadedMonitorVersion, apply_monitor_file, find_monitor, watch_monitors};
use jurist_store::{ProjectId, Region, Store, clock};

use judged::Judging;
use world::{CODER, DAYS, RELEASES, SUPPORT, World};

/// It stands before `default`, so that the pages open on it.
const PROJECT: &str = "Demo-invented";

pub const HOUR: i64 = 3_600_000_000;
pub const DAY: i64 = 24 * HOUR;

/// What comes within so long is written down at once.
const CHUNK: i64 = 6 * HOUR;

#[tokio::main]
async fn main() {
    let mut given = std::env::args().skip(1);
    let (database, folder) = (given.next().unwrap(), PathBuf::from(given.next().unwrap()));
    let store = Store::open(&database).await.unwrap();
    let now = clock::current_time();
    let project = store.default_project(&Rates::default(), now).await.unwrap();
    store.rename_project(project, PROJECT).await.unwrap();
    let world = World::new(&folder, now);
    let (n_traces, coded) = weeks(&store, project, &folder, &world).await;
    let n_answers = people::rate(&store, project, &coded, now).await;
    people::verify(&store, project, now).await;
    println!("{n_traces} invented traces, {n_answers} invented answers of people");
    store.close().await;
}

/// Lets time pass: traces come, monitors decide, judges answer, alerts are raised.
async fn weeks(store: &Store, project: ProjectId, folder: &Path, world: &World) -> (usize, Vec<world::Seen>) {
    let settings =
        jurist_engine::load::load_suite(Path::new(".jurist/config.yaml"), Default::default()).settings;
    // They are this repository's own.
    let settings = decide_trust(settings, TrustRule::AllFiles);
    let work = Work { settings, ..Work::default() };
    let begin = world.now - DAYS * DAY;
    let files = [
        (begin - HOUR, "support-1.yaml"),
        (begin - HOUR, "coding.yaml"),
        (world.second_version, "support-2.yaml"),
    ];
    let mut files = files.into_iter().peekable();
    let judging = Judging::new(store, project);
    let (mut n_traces, mut coded, mut start) = (0, Vec::new(), begin);
    while start < world.now {
        let end = ((start / CHUNK + 1) * CHUNK - 1).min(world.now - 1);
        while let Some((time, file)) = files.next_if(|file| file.0 <= start) {
            let place = (&Region::default(), &work);
            let file = std::fs::read_to_string(folder.join(file)).unwrap();
            apply_monitor_file(store, project, None, &file, place, None, Time::from_micros(time))
                .await
                .unwrap();
        }
        let seen = world.between(start, end);
        n_traces += seen.len();
        let now = Time::from_micros(end);
        let whole: Vec<_> = seen.iter().map(|seen| (seen.id.clone(), seen.finished.clone())).collect();
        store.put_traces(project, &whole, now).await.unwrap();
        for agent in [SUPPORT, CODER] {
            store.see_agent(project, agent, now).await.unwrap();
        }
        let mut watching = Vec::new();
        for name in ["support desk", "code review"] {
            let monitor = find_monitor(store, project, name).await.unwrap();
            watching.push(LoadedMonitorVersion::read(monitor.newest.as_ref().unwrap()).unwrap());
        }
        let judged = judging.judge(&watching, &seen, now).await;
        coded.extend(seen.into_iter().filter(|seen| seen.agent() == CODER && judged.contains(&seen.id)));
        watch_monitors(store, &Rates::default(), now).await.unwrap();
        start = end + 1;
    }
    let monitor = find_monitor(store, project, "code review").await.unwrap();
    let [first, second, third] = RELEASES.map(|release| release.0);
    for (releases, minutes) in [((first, second), 3), ((first, third), 2), ((second, third), 1)] {
        let time = Time::from_micros(world.now - minutes * HOUR / 60);
        judging.contest(&monitor, &coded, releases, time).await;
    }
    (n_traces, coded)
}
