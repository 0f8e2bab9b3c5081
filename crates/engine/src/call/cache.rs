//! Cache of replies on disk, by the hash of the request.
//!
//! There are sixteen files, by the first digit of the hash, and every process only appends to them. A line holds the
//! request's hash, the reply's hash and the reply. A partial line (of a killed process or on a full disk) fails its
//! hash and is ignored; a later line replaces an earlier one with the same key. Before a process reports a miss, it
//! reads the lines that other processes have added.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::ModelReply;

const N_FILES: usize = 16;
/// Hexadecimal digits of a hash.
const HASH: usize = 64;

/// The cache in a folder.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    files: Arc<[Mutex<Segment>; N_FILES]>,
    /// Set if a reply could not be written.
    is_lossy: Arc<AtomicBool>,
}

/// Contents of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    pub replies: u64,
    pub bytes: u64,
}

/// One file, with an index of the lines that were read so far.
#[derive(Debug, Default)]
struct Segment {
    file: Option<File>,
    read_to: u64,
    /// Positions by the first eight bytes of the request's hash; a lookup compares the full hash.
    lines: HashMap<u64, LinePosition>,
}

#[derive(Debug, Clone, Copy)]
struct LinePosition {
    at: u64,
    length: u32,
}

impl Cache {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), files: Arc::default(), is_lossy: Arc::default() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, nth: usize) -> PathBuf {
        self.folder.join(format!("{nth:x}.jsonl"))
    }

    fn segment(&self, nth: usize) -> MutexGuard<'_, Segment> {
        self.files[nth].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached reply; a damaged line counts as a miss.
    pub fn get(&self, key: &str) -> Option<ModelReply> {
        let LocatedKey { nth, short } = locate_key(key)?;
        let mut segment = self.segment(nth);
        if !segment.lines.contains_key(&short) {
            segment.catch_up(&self.path(nth)).ok()?;
        }
        let place = *segment.lines.get(&short)?;
        let line = segment.line(place).ok()?;
        drop(segment);
        serde_json::from_str(verified_reply_text(&line, key)?).ok()
    }

    /// Stores a reply. If the disk is full, this run still has its answer, and the next run pays for it again.
    pub fn put(&self, key: &str, reply: &ModelReply) {
        let body = serde_json::to_string(reply).expect("a reply is plain data");
        // The first newline ends a partial line of another process.
        let line = format!("\n{key} {} {body}\n", blake3::hash(body.as_bytes()).to_hex());
        let is_stored = locate_key(key).is_some_and(|LocatedKey { nth, short }| {
            self.segment(nth).append(&self.path(nth), short, line.as_bytes()).is_ok()
        });
        if !is_stored {
            self.is_lossy.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a reply could not be stored and will be paid for again.
    pub fn is_lossy(&self) -> bool {
        self.is_lossy.load(Ordering::Relaxed)
    }

    pub fn stats(&self) -> CacheStats {
        (0..N_FILES).fold(CacheStats::default(), |sum, nth| {
            let mut segment = self.segment(nth);
            // A file that cannot be read counts as empty.
            let _ = segment.catch_up(&self.path(nth));
            CacheStats {
                replies: sum.replies + segment.lines.len() as u64,
                bytes: sum.bytes + segment.read_to,
            }
        })
    }

    /// Deletes all replies, and returns what was deleted.
    pub fn clear(&self) -> CacheStats {
        let stats = self.stats();
        for nth in 0..N_FILES {
            // Truncated instead of removed, because other processes have the file open.
            let _ = OpenOptions::new().write(true).truncate(true).open(self.path(nth));
            *self.segment(nth) = Segment::default();
        }
        stats
    }
}

/// The file of a key, and the short form of the key by which that file is indexed.
#[derive(Clone, Copy)]
struct LocatedKey {
    nth: usize,
    short: u64,
}

fn locate_key(key: &str) -> Option<LocatedKey> {
    let short = u64::from_str_radix(key.get(..16)?, 16).ok()?;
    Some(LocatedKey { nth: (short >> 60) as usize, short })
}

/// The reply of a line if the key and the hash of the reply match.
fn verified_reply_text<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (hash, body) = line.strip_prefix(key)?.strip_prefix(' ')?.split_once(' ')?;
    (blake3::hash(body.as_bytes()).to_hex().as_str() == hash).then_some(body)
}

impl Segment {
    /// Reads the lines that were added since the last call. A truncated file is read from its beginning.
    fn catch_up(&mut self, path: &Path) -> io::Result<()> {
        let length = match fs::metadata(path) {
            Ok(it) => it.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        if length < self.read_to {
            (self.read_to, self.lines) = Default::default();
        }
        if length == self.read_to {
            return Ok(());
        }
        let file = open_segment_file(&mut self.file, path)?;
        file.seek(SeekFrom::Start(self.read_to))?;
        let mut lines = io::BufReader::new(file.take(length - self.read_to));
        let mut line = Vec::new();
        while 0 < io::BufRead::read_until(&mut lines, b'\n', &mut line)? {
            // A line without its end may still be in the process of being written.
            if line.last() != Some(&b'\n') {
                break;
            }
            let located = line.get(..HASH).and_then(|line| str::from_utf8(line).ok()).and_then(locate_key);
            if let (Some(LocatedKey { short, .. }), Ok(length)) = (located, u32::try_from(line.len() - 1)) {
                self.lines.insert(short, LinePosition { at: self.read_to, length });
            }
            self.read_to += line.len() as u64;
            line.clear();
        }
        Ok(())
    }

    fn line(&mut self, place: LinePosition) -> io::Result<String> {
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(place.at))?;
        let mut line = vec![0; place.length as usize];
        file.read_exact(&mut line)?;
        String::from_utf8(line).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn append(&mut self, path: &Path, short: u64, line: &[u8]) -> io::Result<()> {
        let file = open_segment_file(&mut self.file, path)?;
        // One write call, so that no other process writes in between.
        let n_written = file.write(line)?;
        if n_written < line.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let at = file.stream_position()?.saturating_sub(line.len() as u64);
        // If other processes wrote in the meantime, the next catch-up finds this line together with theirs.
        if at == self.read_to {
            let length = u32::try_from(line.len() - 2).map_err(|_| io::ErrorKind::FileTooLarge)?;
            self.lines.insert(short, LinePosition { at: at + 1, length });
            self.read_to += line.len() as u64;
        }
        Ok(())
    }
}

fn open_segment_file<'a>(file: &'a mut Option<File>, path: &Path) -> io::Result<&'a mut File> {
    if file.is_none() {
        let options = || OpenOptions::new().read(true).append(true).create(true).open(path);
        *file = Some(options().or_else(|_| {
            fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            options()
        })?);
    }
    file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> String {
        blake3::hash(&n.to_le_bytes()).to_hex().to_string()
    }

    fn reply(text: &str) -> ModelReply {
        ModelReply { text: text.to_owned(), ..ModelReply::default() }
    }

    fn text_of(cache: &Cache, n: u64) -> Option<String> {
        cache.get(&key(n)).map(|model_reply| model_reply.text)
    }

    #[test]
    fn processes_see_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (Cache::new(folder.path()), Cache::new(folder.path()));
        for n in 0..100 {
            assert_eq!(text_of(&other, n), None);
            [&one, &other][n as usize % 2].put(&key(n), &reply(&format!("line\n{n}")));
        }
        for n in 0..100 {
            assert_eq!(text_of(&one, n), Some(format!("line\n{n}")));
            assert_eq!(text_of(&other, n), Some(format!("line\n{n}")));
        }
        one.put(&key(7), &reply("again"));
        assert_eq!(text_of(&Cache::new(folder.path()), 7).as_deref(), Some("again"));
        assert_eq!(other.stats().replies, 100);

        // One process clears the cache; the other starts again at the beginning.
        one.clear();
        assert_eq!(text_of(&one, 1), None);
        other.put(&key(1000), &reply("after"));
        assert_eq!(one.stats(), Cache::new(folder.path()).stats());
    }

    #[test]
    fn half_a_line_costs_only_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path());
        cache.put(&key(1), &reply("whole"));
        let path = cache.path(locate_key(&key(1)).expect("hexadecimal").nth);
        let whole = fs::read(&path).expect("it was written");
        let twin = format!("{}f", &key(1)[..HASH - 1]);
        for cut in 0..whole.len() {
            let mut bytes = whole[..cut].to_vec();
            bytes.extend_from_slice(format!("\n{twin} ").as_bytes());
            fs::write(&path, bytes).expect("it is a file");
            let stored = Cache::new(folder.path()).get(&key(1));
            assert!(stored.is_none_or(|stored| stored.text == "whole"), "cut at {cut}");
            let cache = Cache::new(folder.path());
            cache.put(&key(1), &reply("again"));
            assert_eq!(text_of(&cache, 1).as_deref(), Some("again"), "cut at {cut}");
        }
    }

    #[test]
    fn what_cannot_be_kept_is_told() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let cache = Cache::new(file.path().join("inside"));
        assert!(!cache.is_lossy());
        cache.put(&key(1), &reply("lost"));
        assert!(cache.is_lossy());
        assert_eq!(cache.get(&key(1)), None);
    }
}
