//! Replies on disk, each under the hash of its request.
//!
//! Sixteen files, by the first digit of the hash, to which every process only appends: a line is the request's
//! hash, the hash of the reply and the reply. So a line that is half written, by a process that was killed or on a
//! full disk, is as good as none, and a later line stands for an earlier one. A process reads what others have
//! added before it says that something is not there.

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

/// A folder of replies.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    files: Arc<[Mutex<Segment>; N_FILES]>,
    /// Something could not be kept.
    is_lossy: Arc<AtomicBool>,
}

/// What is in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    pub replies: u64,
    pub bytes: u64,
}

/// One file, and where its lines are as far as it was read.
#[derive(Debug, Default)]
struct Segment {
    file: Option<File>,
    read_to: u64,
    /// By the first eight bytes of the request's hash; who looks compares the rest.
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

    /// A reply that was kept; a damaged one is as good as none.
    pub fn get(&self, key: &str) -> Option<ModelReply> {
        let (nth, short) = locate_key(key)?;
        let mut segment = self.segment(nth);
        if !segment.lines.contains_key(&short) {
            segment.catch_up(&self.path(nth)).ok()?;
        }
        let place = *segment.lines.get(&short)?;
        let line = segment.line(place).ok()?;
        drop(segment);
        serde_json::from_str(verified_reply_text(&line, key)?).ok()
    }

    /// Keeps a reply. A full disk costs the next run money, but not this one its answer.
    pub fn put(&self, key: &str, reply: &ModelReply) {
        let body = serde_json::to_string(reply).expect("a reply is plain data");
        // Ends what another process may have left unfinished.
        let line = format!("\n{key} {} {body}\n", blake3::hash(body.as_bytes()).to_hex());
        let kept = locate_key(key).is_some_and(|(nth, short)| {
            self.segment(nth).append(&self.path(nth), short, line.as_bytes()).is_ok()
        });
        if !kept {
            self.is_lossy.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a reply could not be kept, so that it will be paid again.
    pub fn is_lossy(&self) -> bool {
        self.is_lossy.load(Ordering::Relaxed)
    }

    pub fn stats(&self) -> CacheStats {
        (0..N_FILES).fold(CacheStats::default(), |sum, nth| {
            let mut segment = self.segment(nth);
            // A file that cannot be read holds nothing that could be used.
            let _ = segment.catch_up(&self.path(nth));
            CacheStats {
                replies: sum.replies + segment.lines.len() as u64,
                bytes: sum.bytes + segment.read_to,
            }
        })
    }

    /// Throws every reply away, and tells how many there were.
    pub fn clear(&self) -> CacheStats {
        let stats = self.stats();
        for nth in 0..N_FILES {
            // Emptied and not removed: other processes have it open.
            let _ = OpenOptions::new().write(true).truncate(true).open(self.path(nth));
            *self.segment(nth) = Segment::default();
        }
        stats
    }
}

/// Which file, and under what in it.
fn locate_key(key: &str) -> Option<(usize, u64)> {
    let short = u64::from_str_radix(key.get(..16)?, 16).ok()?;
    Some(((short >> 60) as usize, short))
}

/// The reply of a line that is whole and under this key.
fn verified_reply_text<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (hash, body) = line.strip_prefix(key)?.strip_prefix(' ')?.split_once(' ')?;
    (blake3::hash(body.as_bytes()).to_hex().as_str() == hash).then_some(body)
}

impl Segment {
    /// Reads what was added since, by whomever. A file that was emptied is begun anew.
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
            // One that does not end yet may be under way.
            if line.last() != Some(&b'\n') {
                break;
            }
            let short = line.get(..HASH).and_then(|line| str::from_utf8(line).ok()).and_then(locate_key);
            if let (Some((_, short)), Ok(length)) = (short, u32::try_from(line.len() - 1)) {
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
        // At once, so that no other process writes in between.
        let n_written = file.write(line)?;
        if n_written < line.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let at = file.stream_position()?.saturating_sub(line.len() as u64);
        // Where others wrote in the meantime, this one is found with theirs.
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

    fn said(text: &str) -> ModelReply {
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
            [&one, &other][n as usize % 2].put(&key(n), &said(&format!("line\n{n}")));
        }
        for n in 0..100 {
            assert_eq!(text_of(&one, n), Some(format!("line\n{n}")));
            assert_eq!(text_of(&other, n), Some(format!("line\n{n}")));
        }
        one.put(&key(7), &said("anew"));
        assert_eq!(text_of(&Cache::new(folder.path()), 7).as_deref(), Some("anew"));
        assert_eq!(other.stats().replies, 100);

        // Thrown away by one, begun anew by the other.
        one.clear();
        assert_eq!(text_of(&one, 1), None);
        other.put(&key(1000), &said("after"));
        assert_eq!(one.stats(), Cache::new(folder.path()).stats());
    }

    #[test]
    fn half_a_line_costs_only_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path());
        cache.put(&key(1), &said("whole"));
        let path = cache.path(locate_key(&key(1)).expect("hexadecimal").0);
        let whole = fs::read(&path).expect("it was written");
        let twin = format!("{}f", &key(1)[..HASH - 1]);
        for cut in 0..whole.len() {
            let mut bytes = whole[..cut].to_vec();
            bytes.extend_from_slice(format!("\n{twin} ").as_bytes());
            fs::write(&path, bytes).expect("it is a file");
            let found = Cache::new(folder.path()).get(&key(1));
            assert!(found.is_none_or(|found| found.text == "whole"), "cut at {cut}");
            let cache = Cache::new(folder.path());
            cache.put(&key(1), &said("again"));
            assert_eq!(text_of(&cache, 1).as_deref(), Some("again"), "cut at {cut}");
        }
    }

    #[test]
    fn what_cannot_be_kept_is_told() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let cache = Cache::new(file.path().join("inside"));
        assert!(!cache.is_lossy());
        cache.put(&key(1), &said("lost"));
        assert!(cache.is_lossy());
        assert_eq!(cache.get(&key(1)), None);
    }
}
