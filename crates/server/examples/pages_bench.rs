//! How long what the pages ask for takes:
//! `cargo run --release -p jurist-server --example pages_bench [TRACES [ENGINE [PLACE]]]`.
//! A database at a place, which is a file or a URL, stays there and is used again; `jurist serve` shows it, and
//! `web/tests/speed.spec.ts` measures its pages in a browser.
//!
//! 100,000 traces of five agents, all watched, paid for and judged on ten criteria, so that there are a million grades,
//! and 5,000 comparisons; then each endpoint gets 51 requests over HTTP.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal, which may fail")]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use jurist_core::candidate::{StepRole, Trace, TraceStep};
use jurist_core::grade::{Counts, Grade, Time, Usd, Value, Verdict, VerdictStatus};
use jurist_core::money::Rates;
use jurist_core::plan::TraceStratum;
use jurist_server::monitor::{apply_monitor_file, find_monitor};
use jurist_server::{App, ServerSettings, Work, bind};
use jurist_store::contests::{Contested, StoredContest};
use jurist_store::decisions::{DecisionOutcome, DecisionState, NewMonitorDecision, TraceRevision};
use jurist_store::grades::{NewGrade, NewVerdict};
use jurist_store::labels::NewLabel;
use jurist_store::monitors::StoredMonitor;
use jurist_store::scores::{Score, ScoreContext};
use jurist_store::spend::{ReservationRequest, Reserve};
use jurist_store::testing::{Fsync, Server};
use jurist_store::traces::FinishedTrace;
use jurist_store::{
    ContestId, Probability, ProjectId, Region, SeriesId, Store, StoreOptions, Sync, TraceId, clock,
};
use serde_json::{Value as Json, json};

const DAY: i64 = 86_400_000_000;
const BATCH: usize = 500;
const CRITERIA: usize = 10;
const AGENTS: usize = 5;
const JUDGE: &str = "openai/gpt-5-mini";

/// A page that waits longer feels slow.
const MOST: Duration = Duration::from_millis(200);

#[tokio::main]
async fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let n: usize = std::env::args().nth(1).map_or(100_000, |text| text.parse().unwrap());
    let only = std::env::args().nth(2);
    let place = std::env::args().nth(3);
    let is_wanted = |engine: &str| only.as_deref().is_none_or(|only| only == engine);
    if is_wanted("sqlite") {
        let folder = tempfile::tempdir().unwrap();
        let passing = folder.path().join("jurist.db").display().to_string();
        let options = StoreOptions { sync: Sync::Normal, ..StoreOptions::default() };
        let store = Store::open_with(place.as_deref().unwrap_or(&passing), options).await.unwrap();
        println!("SQLite, {n} traces, {} grades", n * CRITERIA);
        measured(store, n).await;
    }
    if is_wanted("postgres") {
        let Some(server) = Server::start(Fsync::Off) else { return println!("SKIPPED: no PostgreSQL") };
        let passing = server.database().await;
        let store = Store::open(place.as_deref().unwrap_or(&passing)).await.unwrap();
        println!("PostgreSQL, {n} traces, {} grades", n * CRITERIA);
        measured(store, n).await;
    }
}

async fn measured(store: Store, n: usize) {
    let now = clock::current_time();
    let project = store.default_project(&Rates::default(), now).await.unwrap();
    if store.monitors(project).await.unwrap().is_empty() {
        fill(&store, project, n, now).await;
    }
    let app = App::new(store, ServerSettings::default()).await.unwrap();
    let bound = bind(app, SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = format!("http://{}/api/v1", bound.address);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(bound.serve(async { drop(stopped.await) }));
    pages(&url, n).await;
    drop(stop);
    serving.await.unwrap();
}

async fn fill(store: &Store, project: ProjectId, n: usize, now: Time) {
    store.set_cap(project, None).await.unwrap();
    let place = (&Region::default(), &Work::default());
    let criterion = |at: usize| format!("{{name: c{at}, description: It is good in way {at}.}}");
    let criteria: Vec<String> = (0..CRITERIA).map(criterion).collect();
    for (name, agents) in [("tone", "a0, a1, a2, a3, a4"), ("idle", "nobody"), ("quiet", "none")] {
        let rubric = format!("rubric: {{criteria: [{}]}}", criteria.join(", "));
        let source = format!("agents: [{agents}]\n{rubric}\njudge_model: {JUDGE}\nsample_rate: 1.0\n");
        apply_monitor_file(store, project, Some(name), &source, place, None, now).await.unwrap();
    }
    let monitor = find_monitor(store, project, "tone").await.unwrap();
    let begun = Instant::now();
    for first in (0..n).step_by(BATCH) {
        let time = Time::from_micros(now.micros() - 29 * DAY + (29 * DAY / n as i64) * first as i64);
        Filler { store, project, monitor: &monitor, time }.fill(first..(first + BATCH).min(n)).await;
    }
    store.vacuum().await.unwrap();
    println!("  filled in {:.0} s", begun.elapsed().as_secs_f64());
}

/// Each door that a page asks.
async fn pages(url: &str, n: usize) {
    let client = reqwest::Client::new();
    let get = async |path: &str| -> Json {
        let answer = client.get(format!("{url}{path}")).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    };
    let version = get("/monitors/tone").await["version"]["rubric_version"].as_str().unwrap().to_owned();
    let trace = format!("trace-{:08}", n / 2);
    let middle = get(&format!("/traces?limit=200&until={}", day(15))).await["next"].clone();
    let middle = middle.as_str().unwrap_or_default().to_owned();
    let paths = [
        "/monitors?figures=true".to_owned(),
        "/monitors/tone/estimates".to_owned(),
        "/monitors/tone/trend".to_owned(),
        "/monitors/tone/trend?criterion=c3".to_owned(),
        "/monitors/tone/trend?criterion=*".to_owned(),
        "/monitors/tone/radar".to_owned(),
        "/monitors/tone/projection?sample_rate=0.25".to_owned(),
        "/monitors/tone/decisions".to_owned(),
        "/monitors/tone/decisions?state=judge_error".to_owned(),
        "/monitors/tone/decisions?disputed=true".to_owned(),
        "/monitors/tone/rescores".to_owned(),
        "/traces".to_owned(),
        "/traces?limit=200".to_owned(),
        format!("/traces?after={middle}"),
        "/traces?sort=score".to_owned(),
        "/traces?sort=-cost".to_owned(),
        "/traces?sort=-duration&agent=a3".to_owned(),
        "/traces?verdict=fail".to_owned(),
        "/traces?verdict=deferred".to_owned(),
        "/traces?search=parcel".to_owned(),
        "/traces?search=question%20number%20777".to_owned(),
        "/traces?search=nowhere&sort=score".to_owned(),
        format!("/traces/{trace}"),
        format!("/traces/{trace}/content"),
        format!("/traces/{trace}/decisions"),
        format!("/traces/{trace}/exchanges"),
        format!("/grades?candidate={trace}&full=true"),
        "/grades".to_owned(),
        format!("/verdicts?candidate={trace}"),
        "/verdicts?status=fail".to_owned(),
        "/tallies?by=day".to_owned(),
        format!("/tallies?by=day&rubric_version={version}&criterion=c3"),
        "/spend".to_owned(),
        "/judges".to_owned(),
        "/ranking".to_owned(),
        "/alerts".to_owned(),
        "/agents".to_owned(),
        "/runs".to_owned(),
        "/rubrics".to_owned(),
        "/jobs".to_owned(),
        "/projects".to_owned(),
    ];
    let mut n_slow = 0;
    for path in &paths {
        get(path).await;
        let mut took = Vec::new();
        for _ in 0..51 {
            let begun = Instant::now();
            get(path).await;
            took.push(begun.elapsed());
        }
        took.sort();
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let slow = if MOST < took[25] { "  TOO SLOW" } else { "" };
        n_slow += usize::from(!slow.is_empty());
        let path = path.replace(&middle, "…");
        println!("  {path:<52.52} {:>8.1} ms, p99 {:>8.1} ms{slow}", ms(took[25]), ms(took[50]));
    }
    println!("  {n_slow} of {} take more than {} ms", paths.len(), MOST.as_millis());
}

fn day(ago: i64) -> String {
    Time::from_micros(clock::current_time().micros() - ago * DAY).to_string()
}

struct Filler<'a> {
    store: &'a Store,
    project: ProjectId,
    monitor: &'a StoredMonitor,
    time: Time,
}

impl Filler<'_> {
    async fn fill(&self, numbers: std::ops::Range<usize>) {
        let (store, project, time) = (self.store, self.project, self.time);
        let traces: Vec<(TraceId, FinishedTrace)> =
            numbers.clone().map(|number| (id(number), self.finished(number))).collect();
        store.put_traces(project, &traces, time).await.unwrap();
        let seen = |(trace, _): &(TraceId, _)| TraceRevision { trace: trace.clone(), revision: 1 };
        let seen: Vec<TraceRevision> = traces.iter().map(seen).collect();
        let decisions: Vec<NewMonitorDecision> =
            numbers.clone().map(|number| self.decision(number)).collect();
        store.consider(project, &seen, &decisions, |_| None, time).await.unwrap();
        let grades: Vec<NewGrade> =
            numbers.clone().flat_map(|number| (0..CRITERIA).map(move |at| self.grade(number, at))).collect();
        let verdicts: Vec<NewVerdict> = numbers.clone().map(|number| self.verdict(number)).collect();
        store.record(project, &grades, &verdicts).await.unwrap();
        // PostgreSQL takes several at once.
        let scored = numbers.clone().collect::<Vec<_>>();
        for some in scored.chunks(8) {
            futures_util::future::join_all(some.iter().map(|n| self.score(*n))).await;
            futures_util::future::join_all(some.iter().map(|n| self.pay(*n))).await;
        }
        for n in scored.iter().filter(|scored| scored.is_multiple_of(20)) {
            store.add_contest(project, &self.contest(*n)).await.unwrap();
        }
        let labels: Vec<NewLabel> =
            numbers.filter(|number| number % 100 == 1).map(|number| self.label(number)).collect();
        store.add_labels(project, &labels, time).await.unwrap();
    }

    fn finished(&self, n: usize) -> FinishedTrace {
        let asked =
            format!("Where is my {}? This is question number {n}.", ["order", "parcel", "refund"][n % 3]);
        let trace = Trace {
            steps: vec![
                TraceStep::new(StepRole::User, asked),
                TraceStep::new(StepRole::Assistant, "It is on its way."),
            ],
            cost: Some(Usd::from_nanos(1_000_000 + (n as i64 * 7919) % 9_000_000)),
            status: Some("ok".to_owned()),
            ..Trace::default()
        };
        FinishedTrace {
            trace,
            agent: Some(agent(n)),
            session: Some(format!("session-{}", n / 4)),
            is_failed: n.is_multiple_of(20),
            started: self.time,
            duration: Some((n as i64 * 104_729) % 60_000_000),
            probability: Probability::CERTAIN,
            metadata: json!({ "plan": "pro", "region": "eu", "tier": n % 3, "note": "x".repeat(200) }),
        }
    }

    fn decision(&self, n: usize) -> NewMonitorDecision {
        NewMonitorDecision {
            trace: id(n),
            revision: 1,
            monitor: self.monitor.id,
            version: self.monitor.newest.as_ref().unwrap().id,
            agent: Some(agent(n)),
            stratum: stratum(n),
            probability: Probability::CERTAIN,
            upstream: Probability::CERTAIN,
            state: DecisionState::Sampled,
            reason: "drawn with a probability of 1".to_owned(),
        }
    }

    fn grade(&self, n: usize, criterion: usize) -> NewGrade {
        let unit = unit(n + criterion);
        let grade: Grade = serde_json::from_value(json!({
            "candidate": id(n).as_str(), "criterion": format!("c{criterion}"),
            "grader": { "kind": "judge", "name": JUDGE, "configuration": "0123456789abcdef" },
            "outcome": { "kind": "scored", "value": unit, "unit": unit },
            "reason": format!("The answer to question {n} names the order and the day, and does not say who pays."),
            "evidence": [{ "quote": "on its way", "found": { "in": "trace.2.text", "start": 6, "end": 16 } }],
            "spend": { "tokens_in": 900, "tokens_cached": 0, "tokens_out": 80, "cost": 0.0004, "from_cache": false },
        }))
        .unwrap();
        NewGrade {
            grade,
            rubric_version: self.monitor.newest.as_ref().unwrap().rubric_version.clone(),
            attempt: 1,
            agent: Some(agent(n)),
            is_passed: Some(0.5 <= unit),
            probability: Probability::CERTAIN,
            time: self.time,
        }
    }

    fn verdict(&self, n: usize) -> NewVerdict {
        let status = match n % 50 {
            0 => VerdictStatus::Error,
            it if it % 7 == 0 => VerdictStatus::Fail,
            _ => VerdictStatus::Pass,
        };
        let counts = Counts { scored: CRITERIA as u32, ..Counts::default() };
        let verdict = Verdict {
            status,
            score: (status != VerdictStatus::Error).then(|| unit(n)),
            native: None,
            vacuous: false,
            failed_gates: Vec::new(),
            undecided_gates: Vec::new(),
            path: Vec::new(),
            counts,
        };
        NewVerdict {
            candidate: id(n).to_string(),
            rubric_version: self.monitor.newest.as_ref().unwrap().rubric_version.clone(),
            monitor: Some(self.monitor.id),
            attempt: 1,
            agent: Some(agent(n)),
            probability: Probability::CERTAIN,
            cost: Some(Usd::from_nanos(4_000_000)),
            time: self.time,
            verdict,
        }
    }

    async fn score(&self, n: usize) {
        let version = self.monitor.newest.as_ref().unwrap();
        let scored = ScoreContext {
            monitor: self.monitor.id,
            trace: id(n),
            revision: 1,
            version: version.id,
            rubric_version: version.rubric_version.clone(),
            rescore: None,
            stratum: stratum(n),
            agent: Some(agent(n)),
            probability: Probability::CERTAIN,
            decided: self.time,
        };
        let is_broken = n.is_multiple_of(50);
        let score = |criterion: String, unit: f64| Score {
            judge: JUDGE.to_owned(),
            criterion,
            unit: (!is_broken).then_some(unit),
            is_passed: (!is_broken).then_some(0.5 <= unit),
        };
        let criteria = (0..CRITERIA).map(|at| score(format!("c{at}"), unit(n + at)));
        let scores: Vec<Score> = std::iter::once(score(String::new(), unit(n))).chain(criteria).collect();
        let state = if is_broken { DecisionState::JudgeError } else { DecisionState::Scored };
        let outcome =
            DecisionOutcome { state, note: "judged", spread: None, is_disputed: n.is_multiple_of(97) };
        let (store, project) = (self.store, self.project);
        store.put_scores(project, &scored, &scores, Some(&outcome), self.time).await.unwrap();
    }

    async fn pay(&self, n: usize) {
        let (store, project, amount) = (self.store, self.project, Usd::from_nanos(4_000_000));
        let subject = self.monitor.id.to_string();
        let wanted = ReservationRequest {
            amount,
            purpose: "monitor",
            subject: &subject,
            limit: None,
            model: JUDGE,
            job: None,
        };
        let Reserve::Held(id) = store.reserve(project, &wanted, self.time).await.unwrap() else {
            panic!("no money for {n}")
        };
        store.settle(project, id, amount, self.time).await.unwrap();
    }

    fn contest(&self, n: usize) -> StoredContest {
        let other = n + 1 + n / 20 % (AGENTS - 1);
        StoredContest {
            id: ContestId::at(self.time),
            monitor: self.monitor.id,
            series: SeriesId::at(self.time),
            sides: (agent(n), agent(other)),
            rubric_version: self.monitor.newest.as_ref().unwrap().rubric_version.clone(),
            judge: JUDGE.to_owned(),
            traces: (id(n), id(other)),
            first: id(if n.is_multiple_of(40) { n } else { other }),
            outcome: [Contested::A, Contested::B, Contested::A, Contested::Tie][n / 20 % 4],
            reason: "The first names the day.".to_owned(),
            cost: None,
            time: self.time,
        }
    }

    fn label(&self, n: usize) -> NewLabel {
        NewLabel {
            candidate: id(n).to_string(),
            rubric_version: self.monitor.newest.as_ref().unwrap().rubric_version.clone(),
            criterion: "c3".to_owned(),
            value: Value::Number(unit(n)),
            unit: Some(unit(n)),
            origin: "adjudicated".to_owned(),
            author: None,
        }
    }
}

fn id(n: usize) -> TraceId {
    TraceId::new(format!("trace-{n:08}")).unwrap()
}

fn agent(n: usize) -> String {
    format!("a{}", n % AGENTS)
}

fn stratum(n: usize) -> TraceStratum {
    if n.is_multiple_of(20) { TraceStratum::Failed } else { TraceStratum::Other }
}

fn unit(n: usize) -> f64 {
    ((n * 7) % 11) as f64 / 10.0
}
