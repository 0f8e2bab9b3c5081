//! How fast the database is: `cargo run --release -p jurist-store --features testing --example store_bench`.
//!
//! Spans are put in batches by several senders at once, each acknowledged when it is on disk; then a million
//! grades are recorded, and what the pages of the server ask for is asked for.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal, which may fail")]

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use jurist_core::candidate::{StepRole, Trace, TraceStep};
use jurist_core::grade::{Counts, Grade, RubricHash, Time, Verdict, VerdictStatus};
use jurist_store::grades::{GradeFilter, NewGrade, NewVerdict, VerdictFilter};
use jurist_store::jobs::NewJob;
use jurist_store::pieces::{NewPiece, PieceKind};
use jurist_store::rubrics::NewRubricVersion;
use jurist_store::tallies::{TallyFilter, TallyPeriod};
use jurist_store::testing::{Fsync, Server};
use jurist_store::traces::{FinishedTrace, TraceListFilter};
use jurist_store::{
    Probability, ProjectId, Region, RubricVersionId, Store, StoreError, StoreOptions, Sync, TraceId, clock,
};
use serde_json::json;

const DAY: i64 = 86_400_000_000;

#[tokio::main]
async fn main() {
    let n_grades: usize = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    sync_compared(folder.path()).await;
    let path = folder.path().join("jurist.db");
    let store = Store::open(path.to_str().unwrap()).await.unwrap();
    println!("\nSQLite");
    ingest(&store).await;
    jobs(&store).await;
    grades(&store, n_grades).await;
    store.close().await;
    let Some(server) = Server::start(Fsync::On) else { return println!("\nSKIPPED: no PostgreSQL") };
    let store = Store::open(&server.database().await).await.unwrap();
    println!("\nPostgreSQL, fsync = on");
    ingest(&store).await;
    jobs(&store).await;
    grades(&store, n_grades).await;
}

/// A span as an exporter sends it: about a kilobyte.
fn span(sender: usize, batch: usize, at: usize, now: Time) -> NewPiece {
    let n = sender * 1_000_003 + batch * 1009 + at;
    let hash = format!("{:016x}", (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let body = json!({
        "traceId": format!("{hash}{hash}"), "spanId": hash, "name": "chat claude", "kind": 3,
        "startTimeUnixNano": now.micros() * 1000, "attributes": {
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "claude", "gen_ai.usage.input_tokens": n % 9999,
            "gen_ai.output.messages": format!("The {hash} order {n} was shipped on Monday and should arrive soon. ").repeat(10),
        },
    });
    NewPiece {
        trace: TraceId::new(format!("{sender:04}-{batch:06}-{}", at / 20)).unwrap(),
        id: hash,
        kind: if at.is_multiple_of(20) { PieceKind::RootSpan } else { PieceKind::Span },
        time: now,
        body: body.to_string().into_bytes(),
        agent: Some("support".into()),
        session: None,
    }
}

/// Senders at the same time, batches of each, spans in a batch.
const LOADS: [(usize, usize, usize); 4] = [(1, 50, 200), (8, 40, 100), (16, 40, 10), (64, 40, 1)];

/// What it costs to ask the disk at each commit. In turns, since other work on the machine comes and goes.
async fn sync_compared(folder: &Path) {
    println!("\nSQLite, spans/s with synchronous = NORMAL and FULL, medians of seven taken in turns");
    for load in LOADS {
        let (mut normal, mut full) = (Vec::new(), Vec::new());
        for round in 0..7 {
            for (sync, rates) in [(Sync::Normal, &mut normal), (Sync::Full, &mut full)] {
                let path = folder.join(format!("{sync:?}-{round}-{}.db", load.0));
                let options = StoreOptions { sync, ..StoreOptions::default() };
                let store = Store::open_with(path.to_str().unwrap(), options).await.unwrap();
                let project = store.add_project("ingest", clock::current_time()).await.unwrap().id;
                rates.push(send(&store, project, load).await.0);
                store.close().await;
            }
        }
        let range = |rates: &mut Vec<f64>| {
            rates.sort_by(f64::total_cmp);
            format!("{:>7.0} ({:.0} to {:.0})", rates[3], rates[0], rates[6])
        };
        let (normal, full) = (range(&mut normal), range(&mut full));
        println!("  {:>3} senders x {:>3} spans: {normal:<28} {full}", load.0, load.2);
    }
}

async fn ingest(store: &Store) {
    let project = store.add_project("ingest", clock::current_time()).await.unwrap().id;
    for load in LOADS {
        let (rate, slowest) = send(store, project, load).await;
        let (n_senders, _, size) = load;
        println!(
            "  ingest  {n_senders:>3} senders x {size:>3} spans: {rate:>8.0} spans/s, slowest batch {slowest:.1?}"
        );
    }
}

/// Spans a second, and the slowest acknowledgement.
async fn send(store: &Store, project: ProjectId, load: (usize, usize, usize)) -> (f64, Duration) {
    let (n_senders, n_batches, size) = load;
    let sender = |sender: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut slowest = Duration::ZERO;
            for batch in 0..n_batches {
                let now = clock::current_time();
                let pieces = (0..size).map(|at| span(sender + n_senders * 1000, batch, at, now)).collect();
                let begun = Instant::now();
                let receipt = store.put_pieces(project, pieces, now).await.unwrap();
                assert_eq!(receipt.n_new, size);
                slowest = slowest.max(begun.elapsed());
            }
            slowest
        })
    };
    let begun = Instant::now();
    let senders: Vec<_> = (0..n_senders).map(sender).collect();
    let mut slowest = Duration::ZERO;
    for sender in senders {
        slowest = slowest.max(sender.await.unwrap());
    }
    ((n_senders * n_batches * size) as f64 / begun.elapsed().as_secs_f64(), slowest)
}

async fn jobs(store: &Store) {
    let now = clock::current_time();
    let job = |n: usize| NewJob {
        project: None,
        kind: "grade".into(),
        payload: json!({"n": n}),
        priority: 0,
        ready: now,
        max_attempts: 3,
        dedupe: Some(n.to_string()),
    };
    let jobs: Vec<NewJob> = (0..5000).map(job).collect();
    let begun = Instant::now();
    store.add_jobs(&jobs, now).await.unwrap();
    println!("  jobs    added at {:.0}/s", 5000.0 / begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let worker = |n: usize| {
        let store = store.clone();
        tokio::spawn(async move {
            let until = Time::from_micros(now.micros() + DAY);
            loop {
                let taken =
                    store.lease(&n.to_string(), &["grade"], 20, clock::current_time(), until).await.unwrap();
                if taken.is_empty() {
                    return;
                }
                store.finish_jobs(&taken).await.unwrap();
            }
        })
    };
    let workers: Vec<_> = (0..4).map(worker).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    println!(
        "  jobs    leased and finished 20 at a time by 4 workers at {:.0}/s",
        5000.0 / begun.elapsed().as_secs_f64()
    );
}

async fn grades(store: &Store, n_grades: usize) {
    let now = clock::current_time();
    let project = store.add_project("grades", now).await.unwrap().id;
    let rubric = store.add_rubric(project, "tone", now).await.unwrap().id;
    let mut versions = Vec::new();
    for hash in ["a", "b"] {
        let new = NewRubricVersion {
            region: Region::default(),
            hash: serde_json::from_value::<RubricHash>(json!(hash)).unwrap(),
            canonical: json!({}),
            source: None,
            author: None,
        };
        versions.push(store.put_rubric_version(project, rubric, &new, None, now).await.unwrap().id);
    }
    let begun = Instant::now();
    // Five criteria and a verdict for each candidate, over sixty days.
    let n_candidates = n_grades / 5;
    for first in (0..n_candidates).step_by(1000) {
        let some = first..(first + 1000).min(n_candidates);
        let time =
            |n: usize| Time::from_micros(now.micros() - 60 * DAY + 60 * DAY / n_candidates as i64 * n as i64);
        let grades: Vec<NewGrade> = some
            .clone()
            .flat_map(|n| (0..5).map(move |criterion| (n, criterion)))
            .map(|(n, criterion)| grade(&versions[n * 2 / n_candidates], n, criterion, time(n)))
            .collect();
        let verdicts: Vec<NewVerdict> =
            some.map(|n| verdict(&versions[n * 2 / n_candidates], n, time(n))).collect();
        store.record(project, &grades, &verdicts).await.unwrap();
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "  grades  {} recorded with their verdicts at {:.0}/s",
        n_candidates * 5,
        (n_candidates * 5) as f64 / seconds
    );
    // Spread over all candidates, and over agents and verdicts, which repeat every five and seven.
    let step = (n_candidates / 20_000).max(1);
    for n in (0..n_candidates.min(20_000)).map(|n| n * step + n % step) {
        store
            .put_trace(project, &TraceId::new(format!("trace-{n}")).unwrap(), &trace(n, now), now)
            .await
            .unwrap();
    }
    store.vacuum().await.unwrap();
    questions(store, project, &versions, n_candidates, now).await;
}

async fn questions(
    store: &Store,
    project: ProjectId,
    versions: &[RubricVersionId],
    n_candidates: usize,
    now: Time,
) {
    let week = Some(Time::from_micros(now.micros() - 7 * DAY));
    let day = Some(Time::from_micros(now.micros() - DAY));
    let version = Some(versions[1].clone());
    let all = GradeFilter::default();
    ask("grades, newest 50", || async { Ok(store.grades(project, &all, None, 50).await?.items.len()) }).await;
    let middle = store
        .grades(
            project,
            &GradeFilter { until: Some(Time::from_micros(now.micros() - 30 * DAY)), ..all.clone() },
            None,
            50,
        )
        .await
        .unwrap();
    ask("grades, 50 in the middle", || async {
        Ok(store.grades(project, &all, middle.next.as_ref(), 50).await?.items.len())
    })
    .await;
    let bad = GradeFilter {
        rubric_version: version.clone(),
        criterion: Some("c3".into()),
        max_unit: Some(0.0),
        ..all.clone()
    };
    ask("grades, worst of a criterion", || async {
        Ok(store.grades(project, &bad, None, 50).await?.items.len())
    })
    .await;
    let candidate = format!("trace-{}", n_candidates / 2);
    ask("grades of a candidate", || async { Ok(store.grades_of(project, &candidate).await?.len()) }).await;
    let failed = VerdictFilter { status: Some(VerdictStatus::Fail), ..VerdictFilter::default() };
    ask("verdicts, failed", || async { Ok(store.verdicts(project, &failed, None, 50).await?.items.len()) })
        .await;
    let none = TallyFilter::default();
    ask("tallies, all time", || async {
        Ok(store.grade_tallies(project, TallyPeriod::All, &none).await?.len())
    })
    .await;
    ask("tallies, by day", || async {
        Ok(store.grade_tallies(project, TallyPeriod::Day, &none).await?.len())
    })
    .await;
    let narrow =
        TallyFilter { rubric_version: version, criterion: Some("c1".into()), from: week, ..none.clone() };
    ask("tallies, a criterion by day", || async {
        Ok(store.grade_tallies(project, TallyPeriod::Day, &narrow).await?.len())
    })
    .await;
    let hours = TallyFilter { from: day, ..none.clone() };
    ask("tallies, last day by hour", || async {
        Ok(store.grade_tallies(project, TallyPeriod::Hour, &hours).await?.len())
    })
    .await;
    ask("verdict tallies, by day", || async {
        Ok(store.verdict_tallies(project, TallyPeriod::Day, &none).await?.len())
    })
    .await;
    let traces = TraceListFilter::default();
    ask("traces, newest 50", || async { Ok(store.traces(project, &traces, None, 50).await?.items.len()) })
        .await;
    let traces = TraceListFilter {
        verdict: Some(VerdictStatus::Fail),
        agent: Some("a2".into()),
        ..TraceListFilter::default()
    };
    ask("traces, failed of an agent", || async {
        Ok(store.traces(project, &traces, None, 50).await?.items.len())
    })
    .await;
}

/// The median and the slowest of 21, after one to warm up.
async fn ask<F: Future<Output = Result<usize, StoreError>>>(what: &str, question: impl Fn() -> F) {
    let n_rows = question().await.unwrap();
    assert!(0 < n_rows, "{what}: a question without an answer measures nothing");
    let mut times = Vec::new();
    for _ in 0..21 {
        let begun = Instant::now();
        question().await.unwrap();
        times.push(begun.elapsed());
    }
    times.sort();
    println!("  query   {what:<30} {n_rows:>5} rows {:>9.2?}, slowest {:>9.2?}", times[10], times[20]);
}

fn grade(version: &RubricVersionId, n: usize, criterion: usize, time: Time) -> NewGrade {
    let unit = ((n * 7 + criterion * 3) % 5) as f64 / 4.0;
    let grade: Grade = serde_json::from_value(json!({
        "candidate": format!("trace-{n}"), "criterion": format!("c{criterion}"),
        "grader": {"kind": "judge", "name": if n.is_multiple_of(3) { "haiku" } else { "sonnet" }, "configuration": "0123456789abcdef"},
        "outcome": {"kind": "scored", "value": unit, "unit": unit},
        "reason": format!("The answer to question {n} names the order and the day, and does not say who pays."),
        "spend": {"tokens_in": 900, "tokens_cached": 0, "tokens_out": 80, "cost": 0.0004, "from_cache": false},
    }))
    .unwrap();
    NewGrade {
        grade,
        rubric_version: version.clone(),
        attempt: 1,
        agent: Some(format!("a{}", n % 5)),
        is_passed: Some(0.5 <= unit),
        probability: Probability::new(0.1).unwrap(),
        time,
    }
}

fn verdict(version: &RubricVersionId, n: usize, time: Time) -> NewVerdict {
    // Of every agent some.
    let status = if n.is_multiple_of(7) { VerdictStatus::Fail } else { VerdictStatus::Pass };
    NewVerdict {
        candidate: format!("trace-{n}"),
        rubric_version: version.clone(),
        monitor: None,
        attempt: 1,
        agent: Some(format!("a{}", n % 5)),
        probability: Probability::new(0.1).unwrap(),
        cost: None,
        time,
        verdict: Verdict {
            status,
            score: Some((n % 100) as f64 / 100.0),
            native: None,
            vacuous: false,
            failed_gates: Vec::new(),
            undecided_gates: Vec::new(),
            path: Vec::new(),
            counts: Counts { scored: 5, ..Counts::default() },
        },
    }
}

fn trace(n: usize, now: Time) -> FinishedTrace {
    FinishedTrace {
        trace: Trace {
            steps: vec![TraceStep::new(StepRole::Assistant, "shipped on Monday ".repeat(30))],
            ..Trace::default()
        },
        agent: Some(format!("a{}", n % 5)),
        session: None,
        is_failed: false,
        started: Time::from_micros(now.micros() - 60 * DAY + n as i64 * 1000),
        duration: Some(1_000_000),
        probability: Probability::CERTAIN,
        metadata: json!({}),
    }
}
