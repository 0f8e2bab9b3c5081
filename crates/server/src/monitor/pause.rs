//! Pausing and resuming a monitor, and jobs for traces that wait for a judge.

use jurist_core::alert;
use jurist_core::grade::Time;
use jurist_store::decisions::{JobKeys, MonitorDecision};
use jurist_store::monitors::StoredMonitor;
use jurist_store::{MonitorId, ProjectId, Store, StoreError, clock};

use crate::job::{CONTEST, MONITOR, MonitorTask, NO_MONEY, PAUSED};
use crate::notify;

/// Decisions whose jobs are added per transaction.
const PAGE: usize = 500;

/// Pauses a monitor: sampled traces wait until the monitor is resumed, and an alert is raised.
pub async fn pause_monitor(
    store: &Store,
    project: ProjectId,
    monitor: MonitorId,
    why: &str,
) -> Result<(), StoreError> {
    // The alert comes first, so that no monitor is ever paused without one, not even after a crash in between.
    update_pause_alert(store, project, monitor, Some(why)).await?;
    store.pause_monitor(project, monitor, Some(why)).await
}

async fn update_pause_alert(
    store: &Store,
    project: ProjectId,
    monitor: MonitorId,
    why: Option<&str>,
) -> Result<(), StoreError> {
    let name = store.monitor(project, monitor).await?.name;
    notify::apply_alert_signal(
        store,
        project,
        &alert::monitor_paused_signal(&name, why),
        clock::current_time(),
    )
    .await
    .map(drop)
}

/// Resumes a monitor and adds jobs for the traces that have waited; returns their number.
pub async fn resume_monitor(
    store: &Store,
    project: ProjectId,
    monitor: &StoredMonitor,
    now: Time,
) -> Result<usize, StoreError> {
    store.pause_monitor(project, monitor.id, None).await?;
    update_pause_alert(store, project, monitor.id, None).await?;
    store.hasten_jobs(project, CONTEST, &MonitorTask::prefix(monitor.id), PAUSED, now).await?;
    for rescore in store.rescores(project, monitor.id).await? {
        let own = MonitorTask::prefix_of(monitor.id, rescore.id);
        store.hasten_jobs(project, MONITOR, &own, PAUSED, now).await?;
    }
    add_missing_jobs(store, project, monitor.id, now, now).await
}

/// Makes the jobs of a monitor ready that were postponed because its budget was used up.
pub(super) async fn hasten_unfunded_jobs(
    store: &Store,
    project: ProjectId,
    monitor: MonitorId,
    now: Time,
) -> Result<(), StoreError> {
    for kind in [MONITOR, CONTEST] {
        store.hasten_jobs(project, kind, &MonitorTask::prefix(monitor), NO_MONEY, now).await?;
    }
    Ok(())
}

/// Adds jobs for traces that wait for a judge, have not changed since a time, and have no job; returns their number.
///
/// A worker that finds its monitor paused ends the job, and no job is added while a monitor is paused, so that a pause
/// of a week does not fill the queue. A worker or server may have read "paused" just before the monitor was resumed,
/// and act just after; therefore this runs again and again, not only when a monitor is resumed.
pub(super) async fn add_missing_jobs(
    store: &Store,
    project: ProjectId,
    monitor: MonitorId,
    unchanged_since: Time,
    now: Time,
) -> Result<usize, StoreError> {
    let prefix = MonitorTask::live_prefix(monitor);
    let keys = JobKeys { kind: MONITOR, prefix: &prefix };
    let (mut last, mut n): (Option<MonitorDecision>, usize) = (None, 0);
    loop {
        let page =
            store.decisions_without_job(project, monitor, keys, unchanged_since, last.as_ref(), PAGE).await?;
        let jobs: Vec<_> =
            page.iter().map(|decision| MonitorTask::again(decision).job(project, now)).collect();
        store.add_jobs(&jobs, now).await?;
        n += page.len();
        match page.last() {
            Some(it) if page.len() == PAGE => last = Some(it.clone()),
            _ => return Ok(n),
        }
    }
}
