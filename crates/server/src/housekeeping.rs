//! Periodic maintenance: retention, alert checks of monitors, and checkpoints of the database's log.

use std::time::Duration;

use jurist_core::grade::Time;
use jurist_store::{StoreError, clock};
use tokio::sync::watch;

use crate::app::App;
use crate::monitor::watch_monitors;

const PAUSE_MINUTES: i64 = 10;
const PAUSE: Duration = Duration::from_secs(PAUSE_MINUTES as u64 * 60);

/// Interval between two checkpoints of the database's log.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// Days for which responses are stored for repeated requests.
const CLAIM_DAYS: u32 = 2;

/// Traces erased per query.
const BATCH: usize = 500;

/// Runs until the stop signal.
pub async fn run_housekeeping_loop(app: App, mut stopped: watch::Receiver<bool>) {
    loop {
        if let Err(error) = delete_expired_data(&app, clock::current_time()).await {
            tracing::warn!(%error, "maintenance waits for the database");
        }
        check_alert_conditions(&app).await;
        if let Ok(stopped) = tokio::time::timeout(PAUSE, stopped.wait_for(|stopped| *stopped)).await {
            drop(stopped);
            return;
        }
    }
}

async fn check_alert_conditions(app: &App) {
    let rates = &app.settings.work.settings.rates;
    let checked = watch_monitors(&app.store, rates, clock::current_time()).await;
    if let Err(error) = &checked {
        tracing::warn!(%error, "monitors cannot be maintained");
    }
    let now = clock::current_time();
    app.alert_checks.send_modify(|checks| {
        if checked.is_ok() {
            checks.last = Some(now);
        }
        checks.next = Some(Time::from_micros(now.micros() + PAUSE_MINUTES * 60_000_000));
    });
}

/// Runs until the stop signal.
pub async fn checkpoint(app: App, mut stopped: watch::Receiver<bool>) {
    while tokio::time::timeout(CHECKPOINT, stopped.wait_for(|stopped| *stopped)).await.is_err() {
        if let Err(error) = app.store.checkpoint().await {
            tracing::warn!(%error, "the database's log cannot be emptied");
        }
    }
}

async fn delete_expired_data(app: &App, now: Time) -> Result<(), StoreError> {
    app.store.drop_expired_sessions(now).await?;
    app.store.drop_old_claims(days_before(now, CLAIM_DAYS)).await?;
    let Some(days) = app.settings.retention_days else { return Ok(()) };
    for project in app.store.projects().await? {
        let mut n_erased = 0;
        loop {
            let n = app.store.erase_traces(project.id, days_before(now, days), BATCH).await?;
            n_erased += n;
            if n == 0 {
                break;
            }
        }
        if 0 < n_erased {
            tracing::info!(project = %project.id, n_erased, "erased the contents of old traces; their scores stay");
        }
    }
    Ok(())
}

fn days_before(now: Time, days: u32) -> Time {
    Time::from_micros(now.micros() - i64::from(days) * 24 * 3_600_000_000)
}
