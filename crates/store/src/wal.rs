//! SQLite's log on the disk.
//!
//! SQLite would wait for the disk at each commit, and nobody else could write meanwhile. So it is told not to, and who
//! has committed waits here, outside its lock; all who came while the disk was busy wait together for the next time.

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
    /// Of a database that is open: links lead to where its log is.
    pub fn of(database: &Path) -> std::io::Result<Self> {
        let mut path = database.canonicalize()?.into_os_string();
        path.push("-wal");
        Ok(Self { path: path.into(), n_written: AtomicU64::new(0), n_kept: Mutex::new(0) })
    }

    /// Returns once what was committed before is on the disk.
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
        // Whoever has counted by now has committed before.
        let n_written = self.n_written.load(Ordering::SeqCst);
        sync().await.map_err(sqlx::Error::Io)?;
        *n_kept = n_written;
        Ok(())
    }
}

/// Opened each time: a log that was begun anew may be another file.
fn sync(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).open(path)?.sync_data()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Everybody else is given so many turns.
    async fn rounds(n: usize) {
        for _ in 0..n {
            tokio::task::yield_now().await;
        }
    }

    /// A disk that is slow: nobody returns before a wait that began after their commit, and many share one.
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
