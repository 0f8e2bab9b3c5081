//! How long figures over a million decisions take: `cargo run --release -p jurist-server --example estimates_bench`.
//!
//! A tenth is sampled and scored on two criteria, over thirty days; then what the pages of the server ask for is
//! asked for, 21 times.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal, which may fail")]

use std::time::{Duration, Instant};

use jurist_core::grade::Time;
use jurist_core::money::Rates;
use jurist_core::plan::TraceStratum;
use jurist_server::Work;
use jurist_server::monitor::{
    Sequences, TrafficWindow, apply_monitor_file, compute_monitor_trends, estimate_monitor_traffic,
    find_monitor, watch_monitors,
};
use jurist_store::decisions::{DecisionOutcome, DecisionState, NewMonitorDecision};
use jurist_store::monitors::StoredMonitor;
use jurist_store::scores::{Score, ScoreContext};
use jurist_store::testing::{Fsync, Server};
use jurist_store::{Probability, ProjectId, Region, Store, TraceId, clock};

const DAY: i64 = 86_400_000_000;
const BATCH: usize = 1_000;

const MONITOR: &str = "
agent: desk
rubric: {criteria: [{name: right, description: It is right.}, {name: kind, description: It is kind.}]}
judge_model: openai/gpt-5-mini
";

#[tokio::main]
async fn main() {
    let n: usize = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("jurist.db").to_str().unwrap()).await.unwrap();
    println!("SQLite, {n} decisions");
    measured(&store, n).await;
    let Some(server) = Server::start(Fsync::On) else { return println!("\nSKIPPED: no PostgreSQL") };
    let store = Store::open(&server.database().await).await.unwrap();
    println!("\nPostgreSQL, {n} decisions");
    measured(&store, n).await;
}

async fn measured(store: &Store, n: usize) {
    let now = clock::current_time();
    let project = store.default_project(&Rates::default(), now).await.unwrap();
    let place = (&Region::default(), &Work::default());
    apply_monitor_file(store, project, None, MONITOR, place, None, now).await.unwrap();
    let monitor = find_monitor(store, project, "desk").await.unwrap();
    let begun = Instant::now();
    filled(store, project, &monitor, n, now).await;
    println!("  filled in {:.0} s", begun.elapsed().as_secs_f64());
    let look = TrafficWindow::new(None, None, None, now);
    let mut took = Vec::new();
    for _ in 0..21 {
        let begun = Instant::now();
        let found = estimate_monitor_traffic(store, project, &monitor, &look, true).await.unwrap();
        took.push(begun.elapsed());
        assert!(found.judges[0].criteria[0].score.is_some());
    }
    shown("estimates of 30 days", &mut took);
    for _ in 0..21 {
        let begun = Instant::now();
        assert_eq!(
            compute_monitor_trends(store, &Sequences::default(), project, &monitor, &look, None)
                .await
                .unwrap()
                .len(),
            1
        );
        took.push(begun.elapsed());
    }
    shown("trend of 30 days", &mut took);
    for _ in 0..21 {
        let begun = Instant::now();
        watch_monitors(store, &Rates::default(), now).await.unwrap();
        took.push(begun.elapsed());
    }
    shown("a look for alerts", &mut took);
}

fn shown(what: &str, took: &mut Vec<Duration>) {
    took.sort();
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    println!("  {what:<24} {:>8.1} ms, at most {:.1} ms", ms(took[took.len() / 2]), ms(took[took.len() - 1]));
    took.clear();
}

/// Every twentieth failed; of the others a tenth is sampled.
async fn filled(store: &Store, project: ProjectId, monitor: &StoredMonitor, n: usize, now: Time) {
    let version = monitor.newest.as_ref().unwrap();
    for first in (0..n).step_by(BATCH) {
        let time = Time::from_micros(now.micros() - 29 * DAY + (29 * DAY / n as i64) * first as i64);
        let decision = |at: usize| {
            let is_failed = at.is_multiple_of(20);
            let is_sampled = is_failed || at % 10 == 1;
            NewMonitorDecision {
                trace: TraceId::new(format!("trace-{at:08}")).unwrap(),
                revision: 1,
                monitor: monitor.id,
                version: version.id,
                agent: Some("desk".to_owned()),
                stratum: if is_failed { TraceStratum::Failed } else { TraceStratum::Other },
                probability: Probability::new(if is_failed { 1.0 } else { 0.1 }).unwrap(),
                upstream: Probability::CERTAIN,
                state: if is_sampled { DecisionState::Sampled } else { DecisionState::SampledOut },
                reason: String::new(),
            }
        };
        let all: Vec<NewMonitorDecision> = (first..first + BATCH).map(decision).collect();
        store.consider(project, &[], &all, |_| None, time).await.unwrap();
        for (at, it) in all.iter().enumerate().filter(|it| it.1.state == DecisionState::Sampled) {
            let scored = ScoreContext {
                monitor: monitor.id,
                trace: it.trace.clone(),
                revision: 1,
                version: version.id,
                rubric_version: version.rubric_version.clone(),
                rescore: None,
                stratum: it.stratum,
                agent: it.agent.clone(),
                probability: it.probability,
                decided: time,
            };
            let score = |criterion: &str| {
                let unit = f64::from(u8::try_from(at % 5).unwrap()) / 4.0;
                Score {
                    judge: "openai/gpt-5-mini".to_owned(),
                    criterion: criterion.to_owned(),
                    unit: Some(unit),
                    is_passed: Some(0.75 <= unit),
                }
            };
            let scores = ["", "right", "kind"].map(score);
            let outcome =
                DecisionOutcome { state: DecisionState::Scored, note: "", spread: None, is_disputed: false };
            store.put_scores(project, &scored, &scores, Some(&outcome), time).await.unwrap();
        }
    }
}
