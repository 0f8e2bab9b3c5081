//! A worker: leases jobs, extends the leases, and returns jobs that it cannot finish.

use std::time::Duration;

use jurist_core::grade::Time;
use jurist_store::jobs::{Job, JobFailure};
use jurist_store::{StoreError, clock};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

use super::{WorkerContext, contest_jobs, emit, monitor_jobs, run_slice, shared_budget};
use crate::job::{CONTEST, JobEnd, JobError, MONITOR};
use crate::notify::{self, DeliveryContext};

/// Kinds of jobs that this worker can execute; the others wait for another worker.
fn kinds(context: &WorkerContext) -> &'static [&'static str] {
    match context.work.emit {
        Some(_) => &[run_slice::KIND, MONITOR, CONTEST, notify::KIND, emit::KIND],
        None => &[run_slice::KIND, MONITOR, CONTEST, notify::KIND],
    }
}

/// Longest sleep. Other processes on the same SQLite file cannot wake this one, so it checks this often.
const NAP: Duration = Duration::from_secs(2);

/// Interval of the check for jobs whose workers died too often.
const SWEEP: Duration = Duration::from_secs(30);

/// How long the database may be unavailable before a job is returned.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tells running jobs to stop at once.
#[derive(Debug, Clone)]
pub struct StopSignal(watch::Receiver<bool>);

impl StopSignal {
    pub async fn now(&mut self) {
        if self.0.wait_for(|flag| *flag).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Retries transient database errors for up to `PATIENCE`.
pub async fn retry_while_transient<T, F: Future<Output = Result<T, StoreError>>>(
    mut work: impl FnMut() -> F,
) -> Result<T, StoreError> {
    let (begun, mut wait) = (Instant::now(), Duration::from_millis(50));
    loop {
        match work().await {
            Err(error) if error.is_transient() && begun.elapsed() < PATIENCE => {
                tracing::warn!(%error, "the database does not respond; trying again");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(5));
            }
            answer => return answer,
        }
    }
}

/// Executes up to `n` jobs at a time until the stop signal; then waits for running jobs and returns the others.
pub async fn run_worker(
    context: WorkerContext,
    name: &str,
    n: usize,
    stop: impl Future<Output = ()>,
    drain: Duration,
) {
    let (hurry, hurried) = watch::channel(false);
    let mut running = JoinSet::new();
    let mut waker = context.store.waker();
    let mut swept: Option<Instant> = None;
    tokio::pin!(stop);
    loop {
        if swept.is_none_or(|swept| SWEEP <= swept.elapsed()) {
            swept = Some(Instant::now());
            run_worker_maintenance(&context, clock::current_time()).await;
        }
        let free = n.saturating_sub(running.len());
        for job in lease_jobs(&context, name, free).await {
            let (context, stop) = (context.clone(), StopSignal(hurried.clone()));
            running.spawn(async move { run_job(&context, job, stop).await });
        }
        let is_busy = n <= running.len();
        let nap = async {
            match is_busy {
                true => std::future::pending().await,
                false => waker.wait(idle_duration(&context).await).await,
            }
        };
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = running.join_next() => {}
            () = nap => {}
            // Maintenance also runs if all slots are busy or there are no jobs.
            () = tokio::time::sleep(SWEEP) => {}
        }
    }
    tracing::info!(n = running.len(), "stopping; finishing running jobs");
    let finish = async { while running.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, finish).await.is_err() {
        let _ = hurry.send(true);
        let _ = tokio::time::timeout(Duration::from_secs(5), async {
            while running.join_next().await.is_some() {}
        })
        .await;
    }
}

/// Leases only as many jobs as can start at once, so that no leased job waits for a busy worker.
async fn lease_jobs(context: &WorkerContext, name: &str, free: usize) -> Vec<Job> {
    if free == 0 {
        return Vec::new();
    }
    let now = clock::current_time();
    match context.store.lease(name, kinds(context), free, now, later(now, context.work.lease)).await {
        Ok(jobs) => jobs,
        Err(error) => {
            tracing::warn!(%error, "cannot take a job");
            Vec::new()
        }
    }
}

async fn idle_duration(context: &WorkerContext) -> Duration {
    let Ok(Some(ready)) = context.store.next_ready().await else { return NAP };
    let micros = u64::try_from(ready.micros() - clock::current_time().micros()).unwrap_or(0);
    // Another worker may take the job first; the minimum keeps this loop from spinning.
    Duration::from_micros(micros).clamp(Duration::from_millis(20), NAP)
}

async fn run_job(context: &WorkerContext, job: Job, mut stop: StopSignal) {
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
            ended = dispatch_job(context, &job, &mut stop) => Some(ended),
            () = wait_until_lost(context, &job) => None,
        };
        settle_job(context, &job, ended).await
    };
    let outcome = outcome.instrument(span.clone()).await;
    span.record("jurist.job.outcome", outcome);
    context.metrics.job(&job.kind, outcome, begun.elapsed());
}

async fn dispatch_job(context: &WorkerContext, job: &Job, stop: &mut StopSignal) -> Result<JobEnd, JobError> {
    match job.kind.as_str() {
        run_slice::KIND => run_slice::run_slice_job(context, job, stop).await,
        MONITOR => monitor_jobs::run_monitor_job(context, job, stop).await,
        CONTEST => contest_jobs::run_contest_job(context, job).await,
        emit::KIND => emit::run_emit_job(context, job).await,
        notify::KIND => {
            let delivery = DeliveryContext { store: &context.store, work: &context.work };
            notify::deliver(delivery, job).await
        }
        other => Err(JobError::Hopeless(format!("`{other}` is not a kind of job"))),
    }
}

/// Extends the lease until it is lost to another worker.
async fn wait_until_lost(context: &WorkerContext, job: &Job) {
    loop {
        tokio::time::sleep(context.work.lease / 3).await;
        match context.store.heartbeat(job, later(clock::current_time(), context.work.lease)).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(%error, job = %job.id, "cannot renew the lease"),
        }
    }
}

/// Stores the end of a job, and returns its name for the metrics.
async fn settle_job(
    context: &WorkerContext,
    job: &Job,
    ended: Option<Result<JobEnd, JobError>>,
) -> &'static str {
    let now = clock::current_time();
    let jobs = std::slice::from_ref(job);
    let (outcome, stored) = match ended {
        None => {
            tracing::warn!(job = %job.id, "another worker has taken over the job");
            return "lost";
        }
        Some(Ok(JobEnd::Finished) | Err(JobError::Gone)) => {
            ("finished", retry_while_transient(|| context.store.finish_job(job)).await.map(drop))
        }
        Some(Ok(JobEnd::Later(time, why))) => {
            ("postponed", retry_while_transient(|| context.store.postpone_job(job, time, why)).await)
        }
        Some(Ok(JobEnd::Stopped)) => {
            ("released", retry_while_transient(|| context.store.release_jobs(jobs, now)).await)
        }
        Some(Err(JobError::Retry(why))) => {
            ("retried", record_job_failure(context, job, &why, Some(retry_time(job, now))).await)
        }
        Some(Err(JobError::Hopeless(why))) => ("failed", record_job_failure(context, job, &why, None).await),
    };
    if let Err(error) = stored {
        tracing::error!(%error, job = %job.id, "cannot store the end of a job");
    }
    outcome
}

async fn record_job_failure(
    context: &WorkerContext,
    job: &Job,
    why: &str,
    retry: Option<Time>,
) -> Result<(), StoreError> {
    tracing::warn!(job = %job.id, kind = job.kind, attempt = job.attempts, why, "a job failed");
    if retry_while_transient(|| context.store.fail_job(job, why, retry, clock::current_time())).await?
        == JobFailure::Dead
    {
        close_dead_jobs(context).await;
    }
    Ok(())
}

/// Exponential backoff from one second to five minutes, with jitter, so that retries do not arrive together.
fn retry_time(job: &Job, now: Time) -> Time {
    let seconds = 1_u64 << job.attempts.saturating_sub(1).min(8);
    let spread =
        job.id.to_string().bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)) % 500;
    later(now, Duration::from_millis(seconds.min(300) * 1000 + spread))
}

pub fn later(now: Time, by: Duration) -> Time {
    Time::from_micros(now.micros() + i64::try_from(by.as_micros()).unwrap_or(i64::MAX / 2))
}

/// Periodic maintenance; every worker does it, and the statements are safe to run concurrently.
pub async fn run_worker_maintenance(context: &WorkerContext, now: Time) {
    close_dead_jobs(context).await;
    if let Err(error) = shared_budget::reclaim_reservations(context, now).await {
        tracing::warn!(%error, "cannot settle reservations of stopped workers");
    }
    if let Err(error) = notify::watch_spend(&context.store, now).await {
        tracing::warn!(%error, "the spend cannot be read");
    }
}

/// Closes jobs that failed too often, so that runs and monitors do not wait for them.
async fn close_dead_jobs(context: &WorkerContext) {
    let mut after = None;
    loop {
        let dead = match context.store.dead_jobs(None, after.as_ref(), 200).await {
            Ok(dead) => dead,
            Err(error) => return tracing::warn!(%error, "dead jobs cannot be listed"),
        };
        for job in &dead.items {
            let closed = match job.kind.as_str() {
                run_slice::KIND => run_slice::close_dead_slice_job(context, job).await,
                MONITOR => monitor_jobs::close_dead_monitor_job(context, job).await,
                _ => Ok(()),
            };
            match closed {
                Ok(()) | Err(JobError::Gone) => {}
                Err(trouble) => tracing::warn!(job = %job.id, ?trouble, "a dead job cannot be closed"),
            }
        }
        after = dead.next;
        if after.is_none() {
            return;
        }
    }
}
