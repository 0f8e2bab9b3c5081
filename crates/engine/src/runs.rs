//! Runs on disk: a log for each, a line for each case as it is graded, so that nothing graded is lost.
//!
//! Beside it stands what its judges were asked and said, compressed case by case.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use jurist_core::grade::{FORMAT, Spend, Time, Version};
use jurist_core::run::{CaseResult, Run, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::judge::Exchange;

/// A folder of runs.
#[derive(Debug, Clone)]
pub struct Runs {
    folder: PathBuf,
}

/// A run that is being written.
#[derive(Debug)]
pub struct Log {
    /// `None` where nothing can be kept.
    file: Option<fs::File>,
    pub path: PathBuf,
}

/// What was asked about one case, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    case: String,
    exchanges: Vec<Exchange>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Run {
        format: u32,
        id: RunId,
        suite: Option<String>,
        started: Time,
        seed: u64,
        rubrics: BTreeMap<Version, Json>,
    },
    Graded {
        at: usize,
        result: Box<CaseResult>,
    },
    Ended {
        time: Time,
    },
}

/// Why a run cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum BadRun {
    #[error("`{}`: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("there is no run `{name}`{hint}")]
    Unknown { name: String, hint: String },
    #[error("`{}` is not the log of a run", .0.display())]
    NotARun(PathBuf),
    #[error("`{}` was written by a newer version of Jurist", .0.display())]
    Newer(PathBuf),
}

impl Runs {
    /// In the `.jurist` folder of the project that `here` is in.
    pub fn of_project(here: &Path) -> Self {
        let is_project = |it: &&Path| [".jurist", ".git"].iter().any(|mark| it.join(mark).exists());
        let root = here.ancestors().find(is_project).unwrap_or(here);
        Self { folder: root.join(".jurist/runs") }
    }

    /// Begins a log. The run's results come line by line.
    pub fn begin(&self, run: &Run) -> Result<Log, BadRun> {
        let path = self.folder.join(format!("{}.jsonl", run.id));
        let bad = |error| BadRun::File { path: path.clone(), error };
        fs::create_dir_all(&self.folder).map_err(bad)?;
        let file = fs::File::create_new(&path).map_err(bad)?;
        let mut log = Log { file: Some(file), path: path.clone() };
        log.write(&Line::Run {
            format: run.format,
            id: run.id,
            suite: run.suite.clone(),
            started: run.started,
            seed: run.seed,
            rubrics: run.rubrics.clone(),
        })?;
        Ok(log)
    }

    /// Goes on with a log that has no end yet.
    pub fn resume(&self, name: &str) -> Result<(Run, Log), BadRun> {
        let path = self.path(name)?;
        let run = load(&path)?;
        let bad = |error| BadRun::File { path: path.clone(), error };
        let file = fs::OpenOptions::new().append(true).open(&path).map_err(bad)?;
        // A line that a crash cut off must not become part of the next one.
        let bytes = fs::read(&path).map_err(bad)?;
        let whole = bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        file.set_len(whole as u64).map_err(bad)?;
        Ok((run, Log { file: Some(file), path }))
    }

    pub fn load(&self, name: &str) -> Result<Run, BadRun> {
        load(&self.path(name)?)
    }

    /// A run to compare a new one with: `latest` is the one before it.
    pub fn load_before(&self, name: &str, new: RunId) -> Result<Run, BadRun> {
        let names = self.names();
        let before = names.iter().find(|it| **it != new.to_string()).filter(|_| name == "latest");
        self.load(before.map_or(name, String::as_str))
    }

    /// Names of all runs, the newest first.
    pub fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = files
            .filter_map(|it| it.file_name().to_string_lossy().strip_suffix(".jsonl").map(str::to_owned))
            .filter(|it| it.starts_with("run_"))
            .collect();
        names.sort_unstable_by(|a, b| b.cmp(a));
        names
    }

    /// What the judges of a case were asked and said, in the order in which it happened.
    pub fn exchanges(&self, name: &str, case: &str) -> Result<Vec<Exchange>, BadRun> {
        let path = calls_beside(&self.path(name)?);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(BadRun::File { path, error }),
        };
        let (mut rest, mut found) = (bytes.as_slice(), Vec::new());
        while !rest.is_empty() {
            let mut text = String::new();
            // One that a crash cut off is the last.
            if GzDecoder::new(&mut rest).read_to_string(&mut text).is_err() {
                break;
            }
            let asked: Option<Asked> = serde_json::from_str(&text).ok();
            found.extend(asked.filter(|it| it.case == case).into_iter().flat_map(|it| it.exchanges));
        }
        Ok(found)
    }

    pub fn remove(&self, name: &str) -> Result<(), BadRun> {
        let path = self.path(name)?;
        // A run without judges has none.
        let _ = fs::remove_file(calls_beside(&path));
        fs::remove_file(&path).map_err(|error| BadRun::File { path, error })
    }

    /// A run by its id, the end of its id, `latest`, or the path of its log.
    fn path(&self, name: &str) -> Result<PathBuf, BadRun> {
        if Path::new(name).is_file() {
            return Ok(PathBuf::from(name));
        }
        let names = self.names();
        let found: Vec<&String> = match name {
            "latest" => names.first().into_iter().collect(),
            _ => names
                .iter()
                .filter(|it| it.as_str() == name || (6 <= name.len() && it.ends_with(name)))
                .collect(),
        };
        match found.as_slice() {
            [only] => Ok(self.folder.join(format!("{only}.jsonl"))),
            [] => {
                let hint = names.first().map(|it| format!("; the latest is {it}")).unwrap_or_default();
                Err(BadRun::Unknown { name: name.to_owned(), hint })
            }
            _ => Err(BadRun::Unknown { name: name.to_owned(), hint: "; several end like that".to_owned() }),
        }
    }
}

fn calls_beside(log: &Path) -> PathBuf {
    log.with_extension("calls.gz")
}

impl Log {
    /// Keeps nothing, where there is no place for it.
    pub fn nowhere() -> Self {
        Self { file: None, path: PathBuf::new() }
    }

    /// Keeps what the judges of a case were asked and said.
    pub fn asked(&self, case: &str, exchanges: Vec<Exchange>) -> Result<(), BadRun> {
        if exchanges.is_empty() || self.file.is_none() {
            return Ok(());
        }
        let path = calls_beside(&self.path);
        let asked = Asked { case: case.to_owned(), exchanges };
        let text = serde_json::to_vec(&asked).expect("an exchange is plain data");
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        let written = packed.write_all(&text).and_then(|()| packed.finish()).and_then(|bytes| {
            fs::OpenOptions::new().append(true).create(true).open(&path)?.write_all(&bytes)
        });
        written.map_err(|error| BadRun::File { path, error })
    }

    pub fn graded(&mut self, at: usize, result: &CaseResult) -> Result<(), BadRun> {
        self.write(&Line::Graded { at, result: Box::new(result.clone()) })
    }

    pub fn end(&mut self, time: Time) -> Result<(), BadRun> {
        self.write(&Line::Ended { time })
    }

    fn write(&mut self, line: &Line) -> Result<(), BadRun> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let text = serde_json::to_string(line).expect("a run is plain data") + "\n";
        file.write_all(text.as_bytes()).map_err(|error| BadRun::File { path: self.path.clone(), error })
    }
}

/// Results in the order of the plan. A last line that was cut off by a crash is as good as none.
fn load(path: &Path) -> Result<Run, BadRun> {
    let text = fs::read_to_string(path).map_err(|error| BadRun::File { path: path.to_owned(), error })?;
    // A whole run, as the JSON reporter writes it.
    if let Ok(run) = serde_json::from_str::<Run>(&text) {
        return Ok(run);
    }
    let not_a_run = || BadRun::NotARun(path.to_owned());
    let (mut run, mut results, mut ended) = (None, BTreeMap::new(), None);
    let n_lines = text.lines().count();
    for (at, line) in text.lines().enumerate() {
        match serde_json::from_str::<Line>(line) {
            Ok(Line::Run { format, .. }) if FORMAT < format => return Err(BadRun::Newer(path.to_owned())),
            Ok(line @ Line::Run { .. }) => run = Some(line),
            Ok(Line::Graded { at, result }) => {
                results.insert(at, *result);
            }
            Ok(Line::Ended { time }) => ended = Some(time),
            Err(_) if at + 1 == n_lines && !text.ends_with('\n') => {}
            Err(_) => return Err(not_a_run()),
        }
    }
    let Some(Line::Run { format, id, suite, started, seed, rubrics }) = run else { return Err(not_a_run()) };
    let results: Vec<CaseResult> = results.into_values().collect();
    let spend = results.iter().fold(Spend::default(), |sum, it| sum.plus(it.spend));
    Ok(Run { format, id, suite, started, ended, seed, rubrics, results, spend })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_was_cut_off_goes_on_where_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".jurist")).unwrap();
        let runs = Runs::of_project(folder.path());
        let run = Run {
            format: FORMAT,
            id: RunId::new(Time::from_micros(5_000_000), [1; 10]),
            suite: None,
            started: Time::from_micros(5_000_000),
            ended: None,
            seed: 3,
            rubrics: BTreeMap::new(),
            results: Vec::new(),
            spend: Spend::default(),
        };
        let mut log = runs.begin(&run).unwrap();
        log.file.as_mut().unwrap().write_all(b"{\"graded\":{\"at\":0,\"resu").unwrap();
        assert_eq!(runs.load("latest").unwrap(), run);
        let (resumed, mut log) = runs.resume("latest").unwrap();
        assert_eq!(resumed, run);
        log.end(Time::from_micros(6_000_000)).unwrap();
        assert_eq!(runs.load(&run.id.to_string()).unwrap().ended, Some(Time::from_micros(6_000_000)));
        assert!(runs.begin(&run).is_err(), "a run is not written over");
        assert!(runs.load("nobody").unwrap_err().to_string().contains("the latest is run_"));
        runs.remove("latest").unwrap();
        assert!(runs.names().is_empty());
    }
}
