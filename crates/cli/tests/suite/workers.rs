//! A server and its workers, each a process of its own.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::grade::Time;
use jurist_server::{Metrics, Work, WorkerContext, run_worker_maintenance};
use jurist_store::clock;
use jurist_store::testing::Scene;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::process::{self, KEY, jurist, listening};
use crate::server::{Act, Seen, Server};

/// A folder with a suite of so many cases, some of which a check fails.
fn folder(n: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".jurist")).unwrap();
    fs::write(folder.path().join("answer.txt"), "Hello!").unwrap();
    let case = |at: usize| {
        format!(
            "  - name: case {at}\n    response: file://answer.txt\n    rubric:\n      criteria:\n        \
             - {{name: greets, description: 'Greets, {at}.'}}\n        \
             - {{name: long, required: {}, check: {{type: contains, value: Hello}}}}\n",
            at.is_multiple_of(2)
        )
    };
    let cases: String = (0..n).map(case).collect();
    fs::write(folder.path().join("suite.yaml"), format!("name: greetings\nevals:\n{cases}")).unwrap();
    folder
}

/// A server that leaves the work to others.
fn without_workers(folder: &std::path::Path, model: &Server, scene: &Scene) -> Command {
    process::server(folder, model, &["--store", &scene.url, "--workers", "0"])
}

/// How many seconds a worker may be silent. A machine that is so busy that a living one is silent for longer makes
/// others do its work once more, which is what these tests count.
const LEASE: &str = "10";

/// How long to wait for the end of a run.
const PATIENCE: Duration = Duration::from_secs(540);

fn without_what_differs(text: &str) -> String {
    let (cases, summary) = text.trim_end().rsplit_once('\n').unwrap();
    let (counts, _seconds) = summary.rsplit_once(" · ").unwrap();
    format!("{cases}\n{}", counts.split_once("  ").unwrap().1)
}

#[tokio::test]
async fn a_server_grades_like_this_machine() {
    let (folder, model) = (folder(20), Server::start(|_| Act::Fit).await);
    let mut command = process::server(folder.path(), &model, &["--store", "jurist.db", "--workers", "2"]);
    let (mut server, url) = listening(command.env("JURIST_LOG", "trace")).await;
    let eval = async |more: &[&str]| {
        let args = [&["eval", "suite.yaml", "--verbose"][..], more].concat();
        let output = jurist(folder.path(), &model, &args).output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&output.stderr));
        told
    };
    let here = eval(&["--no-cache", "--reporter", "junit=here.xml"]).await;
    let there = eval(&["--no-cache", "--reporter", "junit=there.xml", "--server", &url]).await;
    assert_eq!(without_what_differs(&there), without_what_differs(&here));
    let report =
        |name: &str| fs::read_to_string(folder.path().join(name)).unwrap().matches("<testcase").count();
    assert_eq!((report("here.xml"), report("there.xml")), (20, 20));

    // Keys are those of the server: a client without any is answered as well.
    let args = ["eval", "suite.yaml", "--filter", "case 7", "--server", &url];
    let mut command = jurist(folder.path(), &model, &args);
    let output = command.env_remove("OPENAI_API_KEY").env("CLICOLOR_FORCE", "1").output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("1 passed"), "{told}");
    // On a terminal its id leads to its page.
    assert!(told.contains(&format!("\x1b]8;;{url}/p/default/runs/run_")), "{told:?}");
    let args = ["eval", "suite.yaml", "--server", &url, "--replay", "x.jsonl"];
    let output = jurist(folder.path(), &model, &args).output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));

    // Told to stop, it goes; and what it wrote holds no key.
    Command::new("kill").arg(server.id().unwrap().to_string()).status().await.unwrap();
    assert!(server.wait().await.unwrap().success());
    let mut log = String::new();
    server.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
    assert!(!log.contains(KEY), "{log}");
}

#[tokio::test]
async fn a_worker_that_is_killed_costs_no_result_and_none_is_there_twice() {
    let Some(scene) = Scene::postgres().await else { return };
    let n = 200;
    let slow = |_: &Seen| Act::Wait(Duration::from_millis(60), Box::new(Act::Fit));
    let (folder, model) = (folder(n), Server::start(slow).await);
    let (_server, url) = listening(&mut without_workers(folder.path(), &model, &scene)).await;
    let worker = || {
        let args = ["worker", "--store", &scene.url, "--workers", "1", "--lease", LEASE];
        jurist(folder.path(), &model, &args).spawn().unwrap()
    };
    let mut workers: Vec<Child> = (0..3).map(|_| worker()).collect();
    let args = ["eval", "suite.yaml", "--no-cache", "--server", &url, "--reporter", "json=run.json"];
    let eval = jurist(folder.path(), &model, &args).spawn().unwrap();
    while model.n_seen() < n / 4 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    workers[0].kill().await.unwrap();
    let output = tokio::time::timeout(PATIENCE, eval.wait_with_output()).await;
    let output = output.expect("the run ends").unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains(&format!("{n} passed")), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let run: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run.json")).unwrap()).unwrap();
    let mut cases: Vec<&str> =
        run["results"].as_array().unwrap().iter().map(|item| item["case"].as_str().unwrap()).collect();
    cases.sort_unstable();
    cases.dedup();
    assert_eq!(cases.len(), n);
    assert_eq!(scene.number("SELECT COUNT(*) FROM run_results").await.unwrap(), n as i64);
    // What the dead one had in hand was asked again, and nothing else.
    assert!(model.n_seen() <= n + 16, "{} requests for {n} cases", model.n_seen());
    // Those that are left go when they are told to, and leave nothing behind.
    for worker in &mut workers[1..] {
        Command::new("kill").arg(worker.id().unwrap().to_string()).status().await.unwrap();
        assert!(worker.wait().await.unwrap().success());
    }
    assert!(
        scene
            .store
            .lease("later", &[], 1, clock::current_time(), clock::current_time())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn what_a_killed_worker_had_set_aside_is_neither_lost_nor_paid_twice() {
    let Some(scene) = Scene::postgres().await else { return };
    killed_between_reserve_and_settle(scene).await;
}

#[tokio::test]
async fn and_so_it_is_where_workers_share_a_file() {
    killed_between_reserve_and_settle(Scene::sqlite().await).await;
}

async fn killed_between_reserve_and_settle(scene: Scene) {
    let n = 48;
    let slow = |_: &Seen| Act::Wait(Duration::from_millis(400), Box::new(Act::Fit));
    let (folder, model) = (folder(n), Server::start(slow).await);
    let (_server, url) = listening(&mut without_workers(folder.path(), &model, &scene)).await;
    let worker = |store: &str| {
        let args = ["worker", "--store", store, "--workers", "1", "--lease", LEASE];
        jurist(folder.path(), &model, &args).spawn().unwrap()
    };
    let is_postgres = scene.url.starts_with("postgres");
    // PostgreSQL is told who connects, to know when it is done with them.
    let mut dying = worker(&if is_postgres {
        format!("{}?application_name=dying", scene.url)
    } else {
        scene.url.clone()
    });
    let args = ["eval", "suite.yaml", "--no-cache", "--server", &url, "--reporter", "json=run.json"];
    let eval = jurist(folder.path(), &model, &args).spawn().unwrap();
    while model.n_seen() < 10 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Between setting aside and settling, by a signal that nobody can answer.
    dying.kill().await.unwrap();
    // What the database had been told by then comes to its end.
    let connected = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'dying'";
    while is_postgres && 0 < scene.number(connected).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (store, now) = (&scene.store, clock::current_time());
    let project = store.project_named("default").await.unwrap().unwrap().id;
    let held = scene.number("SELECT COUNT(*) FROM reservations").await.unwrap();
    let reserved = store.month_spend(project, now).await.unwrap().reserved;
    assert!(0 < held && 0 < reserved.nanos(), "it died with calls under way");
    let _heir = worker(&scene.url);
    let output = tokio::time::timeout(PATIENCE, eval.wait_with_output()).await;
    let told = String::from_utf8_lossy(&output.expect("the run ends").unwrap().stdout).into_owned();
    assert!(told.contains(&format!("{n} passed")), "{told}");

    // Once its lease is over, what it held counts as spent: those calls were made, or may have been.
    let shop = WorkerContext::new(store.clone(), Work::default(), Arc::new(Metrics::default()));
    let later = Time::from_micros(clock::current_time().micros() + 60_000_000);
    run_worker_maintenance(&shop, later).await;
    run_worker_maintenance(&shop, later).await;
    let month = store.month_spend(project, now).await.unwrap();
    assert_eq!(month.reserved.nanos(), 0);
    let paid = scene.number("SELECT COUNT(*) FROM spend_ledger WHERE kind <> 'reserve'").await.unwrap();
    let assumed = scene.number("SELECT SUM(amount) FROM spend_ledger WHERE kind = 'assume'").await.unwrap();
    let calls = scene.number("SELECT COUNT(DISTINCT reservation) FROM spend_ledger").await.unwrap();
    assert_eq!(paid, calls, "each call counts once");
    assert!(model.n_seen() as i64 <= paid, "nothing that was asked is left out");
    // What was settled before the kill without its result having been kept was asked again.
    assert!((n as i64 + held..=n as i64 + held + 16).contains(&paid), "{paid} for {n} and {held}");
    assert_eq!(assumed, reserved.nanos());
    let run: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run.json")).unwrap()).unwrap();
    let cost = (run["spend"]["cost"].as_f64().unwrap() * 1e9).round() as i64;
    assert!(cost + assumed <= month.settled.nanos(), "{cost} {assumed} {month:?}");
    assert_eq!(store.check().await.unwrap(), []);
}
