//! Wakes workers when jobs were added, by this process or by another one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use sqlx::postgres::PgListener;
use tokio::sync::watch;

use crate::db::Db;

pub(crate) const CHANNEL: &str = "jurist_jobs";

/// Wakes a worker when there may be new jobs.
#[derive(Debug)]
pub struct Waker(watch::Receiver<u64>);

impl Waker {
    /// Waits until jobs were added by this or another process, or until the timeout.
    ///
    /// Processes that share a SQLite file cannot notify each other, so the timeout is the latest that a worker notices
    /// their jobs.
    pub async fn wait(&mut self, at_most: Duration) {
        let _ = tokio::time::timeout(at_most, self.0.changed()).await;
    }
}

/// Notifies the workers of this process, and listens for notifications of other processes.
#[derive(Debug)]
pub(crate) struct Wake {
    rings: watch::Sender<u64>,
    listens: AtomicBool,
}

impl Wake {
    pub fn new() -> Self {
        Self { rings: watch::Sender::new(0), listens: false.into() }
    }

    pub fn ring(&self) {
        self.rings.send_modify(|ring| *ring += 1);
    }

    pub fn waker(self: Arc<Self>, db: &Db) -> Waker {
        let waker = Waker(self.rings.subscribe());
        if let Db::Pg(pool) = db
            && !self.listens.swap(true, Ordering::Relaxed)
        {
            tokio::spawn(relay_job_notifications(pool.clone(), Arc::downgrade(&self)));
        }
        waker
    }
}

/// Wakes workers when another process adds jobs (PostgreSQL's LISTEN), until the store is dropped.
async fn relay_job_notifications(pool: sqlx::PgPool, wake: Weak<Wake>) {
    while !pool.is_closed() {
        if let Ok(mut listener) = PgListener::connect_with(&pool).await
            && listener.listen(CHANNEL).await.is_ok()
        {
            // An error means that the connection was lost. A notification may have been missed, so workers are woken.
            loop {
                let heard = listener.try_recv().await;
                let Some(wake) = wake.upgrade() else { return };
                wake.ring();
                if !matches!(heard, Ok(Some(_))) {
                    break;
                }
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        if wake.strong_count() == 0 {
            return;
        }
    }
}
