//! A worker: takes jobs, keeps its leases, and gives back what it cannot do.

use std::time::Duration;

use jurist_core::grade::Time;
use jurist_store::jobs::{Failed, Job};
use jurist_store::{StoreError, clock};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

use super::{Workshop, contested, emit, monitored, purse, slice};
use crate::notify;

/// Kinds of work that can be done here; others wait for somebody who can.
fn kinds(shop: &Workshop) -> &'static [&'static str] {
    match shop.work.emit {
        Some(_) => &[slice::KIND, monitored::KIND, contested::KIND, notify::KIND, emit::KIND],
        None => &[slice::KIND, monitored::KIND, contested::KIND, notify::KIND],
    }
}

/// The longest sleep: other processes on the same SQLite file are not heard.
const NAP: Duration = Duration::from_secs(2);

/// How often somebody looks for jobs that took their workers along.
const SWEEP: Duration = Duration::from_secs(30);

/// The database may be away for so long before work is given back.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    Finished,
    /// Told to stop; what was done is kept, the rest is for others.
    Stopped,
    /// Not before this time, for this reason, and that is nobody's fault.
    Later(Time, &'static str),
}

/// Why a job was not done.
#[derive(Debug)]
pub enum Trouble {
    /// Later it may work.
    Retry(String),
    /// It never will.
    Hopeless(String),
    /// What it was for is no longer there.
    Gone,
}

impl Trouble {
    #[expect(clippy::needless_pass_by_value, reason = "errors and words alike, as they come")]
    pub fn hopeless(why: impl ToString) -> Self {
        Self::Hopeless(why.to_string())
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unknown { .. } => Self::Gone,
            error if error.is_transient() => Self::Retry(error.to_string()),
            error => Self::Hopeless(error.to_string()),
        }
    }
}

/// Tells those who work to stop at once.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    pub async fn now(&mut self) {
        if self.0.wait_for(|it| *it).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Tries until the database answers, for a while.
pub async fn patiently<T, F: Future<Output = Result<T, StoreError>>>(
    mut work: impl FnMut() -> F,
) -> Result<T, StoreError> {
    let (begun, mut wait) = (Instant::now(), Duration::from_millis(50));
    loop {
        match work().await {
            Err(error) if error.is_transient() && begun.elapsed() < PATIENCE => {
                tracing::warn!(%error, "the database does not answer; trying again");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(5));
            }
            answer => return answer,
        }
    }
}

/// Works on `n` jobs at a time until told to stop; then waits for those under way, and gives back the rest.
pub async fn work(shop: Workshop, name: &str, n: usize, stop: impl Future<Output = ()>, drain: Duration) {
    let (hurry, hurried) = watch::channel(false);
    let mut at_work = JoinSet::new();
    let mut waker = shop.store.waker();
    let mut swept: Option<Instant> = None;
    tokio::pin!(stop);
    loop {
        if swept.is_none_or(|it| SWEEP <= it.elapsed()) {
            swept = Some(Instant::now());
            upkeep(&shop, clock::now()).await;
        }
        let free = n.saturating_sub(at_work.len());
        for job in take(&shop, name, free).await {
            let (shop, stop) = (shop.clone(), Stop(hurried.clone()));
            at_work.spawn(async move { one(&shop, job, stop).await });
        }
        let is_busy = n <= at_work.len();
        let nap = async {
            match is_busy {
                true => std::future::pending().await,
                false => waker.wait(sleep(&shop).await).await,
            }
        };
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = at_work.join_next() => {}
            () = nap => {}
            // Also where everybody is busy, or nobody is there to work.
            () = tokio::time::sleep(SWEEP) => {}
        }
    }
    tracing::info!(n = at_work.len(), "stopping; finishing what is under way");
    let finish = async { while at_work.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, finish).await.is_err() {
        let _ = hurry.send(true);
        let _ = tokio::time::timeout(Duration::from_secs(5), async {
            while at_work.join_next().await.is_some() {}
        })
        .await;
    }
}

/// As many jobs as can be begun at once, so that none waits with somebody who is busy.
async fn take(shop: &Workshop, name: &str, free: usize) -> Vec<Job> {
    if free == 0 {
        return Vec::new();
    }
    let now = clock::now();
    match shop.store.lease(name, kinds(shop), free, now, later(now, shop.work.lease)).await {
        Ok(jobs) => jobs,
        Err(error) => {
            tracing::warn!(%error, "no work can be taken");
            Vec::new()
        }
    }
}

async fn sleep(shop: &Workshop) -> Duration {
    let Ok(Some(ready)) = shop.store.next_ready().await else { return NAP };
    let micros = u64::try_from(ready.micros() - clock::now().micros()).unwrap_or(0);
    // Others may take it first, so a moment is waited at least.
    Duration::from_micros(micros).clamp(Duration::from_millis(20), NAP)
}

async fn one(shop: &Workshop, job: Job, mut stop: Stop) {
    let begun = Instant::now();
    let span = tracing::info_span!(
        "job",
        otel.name = format!("job {}", job.kind),
        jurist.job.id = %job.id,
        jurist.job.attempt = job.attempts,
        jurist.job.outcome = tracing::field::Empty
    );
    let outcome = async {
        let ended = tokio::select! {
            biased;
            ended = done(shop, &job, &mut stop) => Some(ended),
            () = lost(shop, &job) => None,
        };
        settled(shop, &job, ended).await
    };
    let outcome = outcome.instrument(span.clone()).await;
    span.record("jurist.job.outcome", outcome);
    shop.metrics.job(&job.kind, outcome, begun.elapsed());
}

async fn done(shop: &Workshop, job: &Job, stop: &mut Stop) -> Result<Done, Trouble> {
    match job.kind.as_str() {
        slice::KIND => slice::grade(shop, job, stop).await,
        monitored::KIND => monitored::judge(shop, job, stop).await,
        contested::KIND => contested::hold(shop, job).await,
        emit::KIND => emit::send(shop, job).await,
        notify::KIND => notify::deliver(shop, job).await,
        other => Err(Trouble::Hopeless(format!("`{other}` is no kind of work"))),
    }
}

/// Until somebody else has the job.
async fn lost(shop: &Workshop, job: &Job) {
    loop {
        tokio::time::sleep(shop.work.lease / 3).await;
        match shop.store.heartbeat(job, later(clock::now(), shop.work.lease)).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(%error, job = %job.id, "no sign of life could be given"),
        }
    }
}

/// Tells the store what became of a job, and names it for the metrics.
async fn settled(shop: &Workshop, job: &Job, ended: Option<Result<Done, Trouble>>) -> &'static str {
    let now = clock::now();
    let jobs = std::slice::from_ref(job);
    let (outcome, told) = match ended {
        None => {
            tracing::warn!(job = %job.id, "somebody else has the job by now");
            return "lost";
        }
        Some(Ok(Done::Finished) | Err(Trouble::Gone)) => {
            ("finished", patiently(|| shop.store.finish_job(job)).await.map(drop))
        }
        Some(Ok(Done::Later(time, why))) => {
            ("postponed", patiently(|| shop.store.postpone_job(job, time, why)).await)
        }
        Some(Ok(Done::Stopped)) => ("released", patiently(|| shop.store.release_jobs(jobs, now)).await),
        Some(Err(Trouble::Retry(why))) => ("retried", fail(shop, job, &why, Some(again(job, now))).await),
        Some(Err(Trouble::Hopeless(why))) => ("failed", fail(shop, job, &why, None).await),
    };
    if let Err(error) = told {
        tracing::error!(%error, job = %job.id, "the end of a job could not be told");
    }
    outcome
}

async fn fail(shop: &Workshop, job: &Job, why: &str, retry: Option<Time>) -> Result<(), StoreError> {
    tracing::warn!(job = %job.id, kind = job.kind, attempt = job.attempts, why, "a job failed");
    if patiently(|| shop.store.fail_job(job, why, retry, clock::now())).await? == Failed::Dead {
        sweep(shop).await;
    }
    Ok(())
}

/// A second, two, four and so on, up to five minutes; a little apart, so that not all come back at once.
fn again(job: &Job, now: Time) -> Time {
    let seconds = 1_u64 << job.attempts.saturating_sub(1).min(8);
    let spread = job.id.to_string().bytes().fold(0_u64, |sum, it| sum.wrapping_mul(31) + u64::from(it)) % 500;
    later(now, Duration::from_millis(seconds.min(300) * 1000 + spread))
}

pub fn later(now: Time, by: Duration) -> Time {
    Time::from_micros(now.micros() + i64::try_from(by.as_micros()).unwrap_or(i64::MAX / 2))
}

/// What has to be looked after now and then, by whoever is there.
pub async fn upkeep(shop: &Workshop, now: Time) {
    sweep(shop).await;
    if let Err(error) = purse::reclaim(shop, now).await {
        tracing::warn!(%error, "what dead workers had set aside cannot be settled");
    }
    if let Err(error) = notify::watch_spend(&shop.store, now).await {
        tracing::warn!(%error, "what is spent cannot be looked at");
    }
}

/// Runs and monitors do not wait for jobs that failed too often.
async fn sweep(shop: &Workshop) {
    let mut after = None;
    loop {
        let dead = match shop.store.dead_jobs(None, after.as_ref(), 200).await {
            Ok(dead) => dead,
            Err(error) => return tracing::warn!(%error, "dead jobs cannot be listed"),
        };
        for job in &dead.items {
            let closed = match job.kind.as_str() {
                slice::KIND => slice::give_up(shop, job).await,
                monitored::KIND => monitored::give_up(shop, job).await,
                _ => Ok(()),
            };
            match closed {
                Ok(()) | Err(Trouble::Gone) => {}
                Err(trouble) => tracing::warn!(job = %job.id, ?trouble, "a dead job cannot be closed"),
            }
        }
        after = dead.next;
        if after.is_none() {
            return;
        }
    }
}
