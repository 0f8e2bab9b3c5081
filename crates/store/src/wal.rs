//! Syncs SQLite's write-ahead log to disk (group commit).
//!
//! With `synchronous = FULL`, SQLite syncs while it holds the write lock, so no other commit can proceed. Here SQLite
//! does not sync; a commit syncs after it has released the lock. Commits that arrive during a sync share the next one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use crate::StoreError;

#[derive(Debug)]
pub(crate) struct Wal {
    path: PathBuf,
    n_written: AtomicU64,
    n_kept: Mutex<u64>,
}

impl Wal {
    /// For an open database. The path is resolved, because the log is next to the file that a symbolic link points to.
    pub fn of(database: &Path) -> std::io::Result<Self> {
        let mut path = database.canonicalize()?.into_os_string();
        path.push("-wal");
        Ok(Self { path: path.into(), n_written: AtomicU64::new(0), n_kept: Mutex::new(0) })
    }

    /// Returns after all earlier commits are on disk.
    pub async fn keep(&self) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.keep_by(|| async { tokio::task::spawn_blocking(move || sync(&path)).await? }).await
    }

    async fn keep_by<F: Future<Output = std::io::Result<()>>>(
        &self,
        sync: impl FnOnce() -> F,
    ) -> Result<(), StoreError> {
        let mine = self.n_written.fetch_add(1, Ordering::SeqCst) + 1;
        let mut n_kept = self.n_kept.lock().await;
        if mine <= *n_kept {
            return Ok(());
        }
        // Every task that has incremented the counter by now has committed before, so this sync covers it.
        let n_written = self.n_written.load(Ordering::SeqCst);
        sync().await.map_err(sqlx::Error::Io)?;
        *n_kept = n_written;
        Ok(())
    }
}

/// Opens the log each time, because a restarted log may be another file.
fn sync(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).open(path)?.sync_data()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Lets the other tasks run for a number of turns.
    async fn rounds(n: usize) {
        for _ in 0..n {
            tokio::task::yield_now().await;
        }
    }

    /// With a slow disk, no commit returns before a sync that began after it, and many commits share one sync.
    #[tokio::test]
    async fn all_who_have_written_wait_together_and_nobody_returns_too_early() {
        let folder = tempfile::tempdir().unwrap();
        let wal = Arc::new(Wal::of(folder.path()).unwrap());
        let (n_committed, n_on_disk, n_waits) =
            (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let mut all = Vec::new();
        for n in 0..500 {
            let (wal, n_committed, n_on_disk, n_waits) =
                (wal.clone(), n_committed.clone(), n_on_disk.clone(), n_waits.clone());
            all.push(tokio::spawn(async move {
                rounds(n).await;
                let mine = n_committed.fetch_add(1, Ordering::SeqCst) + 1;
                let disk = n_on_disk.clone();
                let slow = || async move {
                    let seen = n_committed.load(Ordering::SeqCst);
                    n_waits.fetch_add(1, Ordering::SeqCst);
                    rounds(20).await;
                    disk.store(seen, Ordering::SeqCst);
                    Ok(())
                };
                wal.keep_by(slow).await.unwrap();
                assert!(mine <= n_on_disk.load(Ordering::SeqCst));
            }));
        }
        for one in all {
            one.await.unwrap();
        }
        let n_waits = n_waits.load(Ordering::SeqCst);
        assert!(n_waits < 50, "{n_waits} for 500");
    }

    #[tokio::test]
    async fn a_disk_that_fails_keeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let wal = Wal::of(&folder.path().join(".")).unwrap();
        assert!(matches!(wal.keep().await, Err(StoreError::Failed(sqlx::Error::Io(_)))));
        assert_eq!(*wal.n_kept.lock().await, 0);
    }
}
