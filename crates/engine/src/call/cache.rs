//! Replies on disk, each under the hash of its request.
//!
//! Each carries the hash of what it says, so a file that is half written, by a process that was killed or by two
//! at once, is as good as none.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::Reply;

/// A folder of replies.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    /// Something could not be kept.
    is_lossy: Arc<AtomicBool>,
}

/// What is in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    pub replies: u64,
    pub bytes: u64,
}

impl Cache {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), is_lossy: Arc::default() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(&key[..2]).join(format!("{key}.json"))
    }

    /// A reply that was kept; a damaged file is as good as none.
    pub fn get(&self, key: &str) -> Option<Reply> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        let (hash, body) = text.split_once('\n')?;
        (blake3::hash(body.as_bytes()).to_hex().as_str() == hash).then(|| serde_json::from_str(body).ok())?
    }

    /// Keeps a reply. A full disk costs the next run money, but not this one its answer.
    pub fn put(&self, key: &str, reply: &Reply) {
        let path = self.path(key);
        let body = serde_json::to_string(reply).expect("a reply is plain data");
        let text = format!("{}\n{body}", blake3::hash(body.as_bytes()).to_hex());
        // The hash makes a file count only if it is whole, so it need not appear at once.
        let written = fs::write(&path, &text).or_else(|_| {
            fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
            fs::write(&path, &text)
        });
        if written.is_err() {
            self.is_lossy.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a reply could not be kept, so that it will be paid again.
    pub fn is_lossy(&self) -> bool {
        self.is_lossy.load(Ordering::Relaxed)
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, u64)> {
        let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
        // Only our own shape of folder, so that a wrong path loses nobody's files.
        let is_ours = |it: &fs::DirEntry| {
            let name = it.file_name();
            let name = name.to_string_lossy();
            name.len() == 2 && name.bytes().all(|it| it.is_ascii_hexdigit())
        };
        entries(&self.folder).filter(is_ours).flat_map(move |it| entries(&it.path())).filter_map(|it| {
            let path = it.path();
            let is_ours = path.extension().is_some_and(|it| it == "json");
            Some((path, it.metadata().ok()?.len())).filter(|_| is_ours)
        })
    }

    pub fn stats(&self) -> CacheStats {
        self.files().fold(CacheStats::default(), |sum, it| CacheStats {
            replies: sum.replies + 1,
            bytes: sum.bytes + it.1,
        })
    }

    /// Throws every reply away, and tells how many there were.
    pub fn clear(&self) -> CacheStats {
        let stats = self.stats();
        for (path, _) in self.files() {
            let _ = fs::remove_file(path);
        }
        stats
    }
}
