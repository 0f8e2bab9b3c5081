use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use jurist_core::candidate::TraceSource;
use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity};
use jurist_core::grade::VerdictStatus;
use jurist_core::plan::{Plan, PlanUnit, group_linked_units};
use jurist_core::quantity::plural;
use jurist_core::report::{format_beside_own_scale, reasons, shared_score_scale, variant_in_words};
use jurist_core::run::Run;
use jurist_core::suite::{Case, McpServer, SetupProgram};
use jurist_engine::load::{SuiteFiles, load_suite_with_sources};
use serde::Serialize;
use serde_json::Value as Json;
use tokio::sync::watch;

use super::eval::{EvalArgs, EvalResult, prepare, run_prepared_eval};
use crate::failure;
use crate::judging::JudgingArgs;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::reporting::{printable_line, show_not_graded, show_run, status_mark};
use crate::running::RunScope;
use crate::runtime::{wait_for, wait_for_stop, watch_stop_signals};
use crate::stored_runs::StoredRuns;
use crate::suite_loading::LoadingArgs;

/// Run the cases that a changed file touches, until Ctrl-C
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist watch suite.yaml
  jurist watch suite.yaml --filter refund --judge ollama/qwen3
  jurist watch suite.yaml --replay calls.jsonl
  jurist watch suite.yaml --allow-commands  Run the agents that the file names

All cases are run once. After a change of the suite, or of a file that it reads
or names, the cases that the change touches are run again and printed with the
old and the new verdict. Judge replies come from the cache where the prompt is
the same. Runs are not stored; --max-cost holds for each of them.")]
pub struct WatchArgs {
    /// Suite, in any dialect
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Run only cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Run only cases with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    #[command(flatten)]
    judging: JudgingArgs,
    #[command(flatten)]
    loading: LoadingArgs,
}

/// Time between two checks of the files. A second check of the same length lets an editor finish, so a change is
/// noticed within 0.3 s.
const POLL: Duration = Duration::from_millis(150);

/// A clock of files may be behind the clock of the machine by a tick.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// The largest number of files of an agent's folder that are checked: reading more of them every 150 ms would take too
/// long.
const MAX_WORKSPACE_FILES: usize = 5_000;

/// Larger files are distinguished by size and time alone.
const MAX_HASHED: u64 = 16 << 20;

pub fn run_watch_command(args: WatchArgs) -> anyhow::Result<CommandOutcome> {
    let WatchArgs { file, filter, tag, judging, loading } = args;
    anyhow::ensure!(file.is_file(), "there is no file `{}`", file.display());
    anyhow::ensure!(!judging.batch, "--batch takes minutes to hours; use `jurist eval`");
    judging.refuse_recording("every run would overwrite the file of --record; use `jurist eval --record`")?;
    let filter = filter.map(|text| format!("--filter={text}"));
    let tags = tag.iter().map(|tag| format!("--tag={tag}"));
    let flags = ["--quiet".to_owned()].into_iter().chain(filter).chain(tags).map(Into::into);
    let flags = flags.chain(["--".into(), file.clone().into_os_string()]);
    let args = EvalArgs::from_flags(flags)?.with_judging(judging, loading);
    wait_for(async {
        let stop = watch_stop_signals()?;
        let mut watched = WatchedSuite {
            args,
            file,
            graded: BTreeMap::new(),
            files: BTreeSet::new(),
            contents: BTreeMap::new(),
        };
        watched.watch_until_stopped(stop).await
    })
}

/// What a unit came to, and what it came from.
#[derive(Debug, Clone)]
struct WatchedUnit {
    fingerprint: u64,
    status: VerdictStatus,
    score: Option<f64>,
}

/// A suite between two changes.
struct WatchedSuite {
    args: EvalArgs,
    file: PathBuf,
    /// By the names of units.
    graded: BTreeMap<String, WatchedUnit>,
    /// Files and folders that decide what is run.
    files: BTreeSet<PathBuf>,
    /// Hashes of these files, from before the cases were run.
    contents: BTreeMap<PathBuf, u64>,
}

/// Time and size of a file or folder; `None` where it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    modified: Option<SystemTime>,
    n_bytes: u64,
}

/// What is known of a watched file after its cases were run.
#[derive(Debug, Clone, Copy)]
enum KnownFile {
    /// It was written before the suite was read.
    Old(FileStamp),
    /// It was written about when the suite was read, before or after that. It is read again at the next check; the hash
    /// from before the cases were run shows whether it changed.
    Fresh { content: Option<u64> },
}

impl WatchedSuite {
    async fn watch_until_stopped(&mut self, stop: watch::Receiver<bool>) -> anyhow::Result<CommandOutcome> {
        let mut changed: Vec<PathBuf> = Vec::new();
        loop {
            let begun = SystemTime::now();
            if let Err(error) = self.run_changed_cases(&changed).await {
                failure::print_failure(&error);
            }
            if *stop.borrow() {
                return Ok(CommandOutcome::Interrupted);
            }
            if self.graded.is_empty() && changed.is_empty() {
                render::print_note("no case was run; the files are watched");
            }
            let before = self.stamp_files(begun);
            tokio::select! {
                now = wait_for_change(&self.files, &before) => changed = now,
                () = wait_for_stop(stop.clone()) => return Ok(CommandOutcome::Interrupted),
            }
        }
    }

    /// What is known of each file after a round that began at `begun`.
    fn stamp_files(&self, begun: SystemTime) -> BTreeMap<PathBuf, KnownFile> {
        let begun = begun.checked_sub(CLOCK_TICK).unwrap_or(begun);
        let stamp = |path: &PathBuf| {
            let stamp = FileStamp::of(path);
            let is_fresh = stamp.modified.is_some_and(|modified| begun <= modified) && path.is_file();
            let content = self.contents.get(path).copied();
            (path.clone(), if is_fresh { KnownFile::Fresh { content } } else { KnownFile::Old(stamp) })
        };
        self.files.iter().map(stamp).collect()
    }

    /// Reads the suite and runs what is not the same as when it was graded. What is wrong is printed, and the old
    /// verdicts stay.
    async fn run_changed_cases(&mut self, changed: &[PathBuf]) -> anyhow::Result<()> {
        let started = Instant::now();
        let file = self.file.clone();
        let (loaded, reading) = load_suite_with_sources(&file, self.args.load_options());
        self.files = watched_paths(&file, reading.paths());
        self.contents = hash_files(&self.files);
        let not_advice = |diagnostic: &&Diagnostic| diagnostic.severity != DiagnosticSeverity::Advice;
        let diagnostics = loaded.diagnostics.into_sorted();
        let diagnostics: Vec<Diagnostic> = diagnostics.iter().filter(not_advice).cloned().collect();
        let Some(suite) = loaded.suite else {
            render::print_diagnostics(&diagnostics, &loaded.sources)?;
            return Ok(());
        };
        let servers = suite.servers.clone();
        let project = SuiteFiles::of(&file, self.args.load_options().outside);
        let part = RunScope { is_selection: true, is_transient: true, ..RunScope::default() };
        let select = self.args.selection();
        let (prepared, mut plan) =
            prepare(&self.args, suite, loaded.settings, (&file, part), &select).await?;
        let before = fingerprint_units(&plan, &servers, &project);
        let run_files = before.values().flat_map(|unit| unit.files.iter().cloned()).collect();
        self.contents.extend(hash_files(&run_files));
        self.files.extend(run_files);
        let touched = self.find_touched_cases(&plan, &before);
        let n_units = plan.units.len();
        let gone: Vec<String> =
            self.graded.keys().filter(|name| !before.contains_key(*name)).cloned().collect();
        if touched.is_empty() && gone.is_empty() {
            return Ok(());
        }
        render::print_diagnostics(&diagnostics, &loaded.sources)?;
        plan.units.retain(|unit| touched.contains(&unit.cell.template().name));
        let whole = Plan { units: plan.units.clone() };
        let run = match plan.units.is_empty() {
            true => None,
            false => match run_prepared_eval(&self.args, &StoredRuns::default(), &prepared, plan).await? {
                EvalResult::Finished(finished) => finished.run,
                EvalResult::Invalid => None,
                EvalResult::CannotRun(problems) => {
                    problems.print();
                    return Ok(());
                }
            },
        };
        // A file that changed while its cases were run is taken for something that they write: otherwise a log would
        // start them again and again.
        let after = fingerprint_units(&whole, &servers, &project);
        self.show_round(changed, run.as_ref(), &gone, n_units, started)?;
        for name in gone {
            self.graded.remove(&name);
        }
        for result in run.iter().flat_map(|run| run.results.iter()) {
            let Some(unit) = after.get(&result.case) else { continue };
            let graded = WatchedUnit {
                fingerprint: unit.fingerprint,
                status: result.verdict.status,
                score: result.verdict.score,
            };
            self.graded.insert(result.case.clone(), graded);
        }
        self.show_tally()
    }

    /// Cases as written of which a unit is new or different. All units of a case are run together, since some checks
    /// compare them. So are cases that use each other's outputs.
    fn find_touched_cases(&self, plan: &Plan, now: &BTreeMap<String, UnitFingerprint>) -> BTreeSet<String> {
        let is_same = |unit: &PlanUnit| {
            let graded = self.graded.get(&unit.name).map(|graded| graded.fingerprint);
            graded.is_some() && graded == now.get(&unit.name).map(|unit| unit.fingerprint)
        };
        let case_of = |unit: &PlanUnit| unit.cell.template().name.clone();
        let mut touched: BTreeSet<String> =
            plan.units.iter().filter(|unit| !is_same(unit)).map(case_of).collect();
        let linked = group_linked_units(plan.units.iter()).into_iter().filter(|group| 1 < group.len());
        let linked: Vec<BTreeSet<String>> =
            linked.map(|group| group.into_iter().map(|at| case_of(&plan.units[at])).collect()).collect();
        loop {
            let n_before = touched.len();
            for cases in &linked {
                if !cases.is_disjoint(&touched) {
                    touched.extend(cases.iter().cloned());
                }
            }
            if touched.len() == n_before {
                return touched;
            }
        }
    }

    fn show_round(
        &self,
        changed: &[PathBuf],
        run: Option<&Run>,
        gone: &[String],
        n_units: usize,
        started: Instant,
    ) -> anyhow::Result<()> {
        let mut out = render::stdout();
        if changed.is_empty() {
            if let Some(run) = run {
                show_run(&mut out, run, false, render::terminal_columns())?;
                show_not_graded(&mut out, run)?;
            }
            let names = self.files.iter().filter(|path| path.is_file()).count();
            writeln!(out, "watching {}; Ctrl-C ends", plural(names, "file"))?;
            return Ok(());
        }
        let n_run = run.map_or(0, |run| run.results.len());
        writeln!(
            out,
            "\n\x1b[1m{}\x1b[0m changed: {n_run} of {} run again in {:.1} s",
            list_changed_files(changed),
            plural(n_units, "case"),
            started.elapsed().as_secs_f64()
        )?;
        for name in gone {
            writeln!(out, "\x1b[2m- {}  removed\x1b[0m", printable_line(name))?;
        }
        if let Some(run) = run {
            let scale = shared_score_scale(run);
            for result in run.results.iter() {
                let before = self.graded.get(&result.case);
                let (mark, colour) = status_mark(result.verdict.status);
                let verdict =
                    describe_verdict_change(before, result.verdict.status, result.verdict.score, scale);
                writeln!(out, "\x1b[{colour}m{mark}\x1b[0m {}  {verdict}", printable_line(&result.case))?;
                let has_reasons = result.verdict.status != VerdictStatus::Pass;
                for reason in if has_reasons { reasons(run, &result) } else { Vec::new() } {
                    writeln!(out, "    {}", printable_line(&reason))?;
                }
            }
        }
        Ok(())
    }

    fn show_tally(&self) -> anyhow::Result<()> {
        let count = |status| self.graded.values().filter(|graded| graded.status == status).count();
        writeln!(
            render::stdout(),
            "{} passed, {} failed, {}, {} deferred",
            count(VerdictStatus::Pass),
            count(VerdictStatus::Fail),
            plural(count(VerdictStatus::Error), "error"),
            count(VerdictStatus::Deferred)
        )?;
        Ok(render::stdout().flush()?)
    }
}

/// The old and the new verdict and score; `scale` is the one that all scores share.
fn describe_verdict_change(
    before: Option<&WatchedUnit>,
    status: VerdictStatus,
    score: Option<f64>,
    scale: Option<(f64, f64)>,
) -> String {
    let number = |score: Option<f64>| {
        score.map_or_else(|| "–".to_owned(), |unit| format_beside_own_scale(unit, scale))
    };
    let Some(before) = before else {
        return format!("new → {}  {}", variant_in_words(&status), number(score));
    };
    let verdicts = match before.status == status {
        true => variant_in_words(&status),
        false => format!("{} → {}", variant_in_words(&before.status), variant_in_words(&status)),
    };
    match number(before.score) == number(score) {
        true => format!("{verdicts}  {}", number(score)),
        false => format!("{verdicts}  {} → {}", number(before.score), number(score)),
    }
}

/// Names of changed files; folders are named only if nothing else changed.
fn list_changed_files(changed: &[PathBuf]) -> String {
    let here = std::path::absolute(".").unwrap_or_default();
    let show =
        |path: &PathBuf| printable_line(&path.strip_prefix(&here).unwrap_or(path).display().to_string());
    let files: Vec<String> = changed.iter().filter(|path| !path.is_dir()).map(show).collect();
    let names = if files.is_empty() { changed.iter().map(show).collect() } else { files };
    match names.as_slice() {
        [one, two, _, ..] => format!("{one}, {two} and {} more", names.len() - 2),
        few => few.join(", "),
    }
}

/// The files that were read, and their folders: a pattern may match a new file.
fn watched_paths(suite: &Path, read: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    let suite = std::path::absolute(suite).unwrap_or_else(|_| suite.to_owned());
    let mut all: BTreeSet<PathBuf> = read.into_iter().chain([suite]).collect();
    let folders: Vec<PathBuf> = all.iter().filter_map(|path| Some(path.parent()?.to_owned())).collect();
    all.extend(folders);
    all
}

impl FileStamp {
    fn of(path: &Path) -> Self {
        let metadata = path.metadata().ok();
        // The size of a folder does not show changes in it.
        let n_bytes =
            metadata.as_ref().filter(|metadata| metadata.is_file()).map_or(0, std::fs::Metadata::len);
        Self { modified: metadata.and_then(|metadata| metadata.modified().ok()), n_bytes }
    }
}

/// Waits until a file has changed and no file changes between two checks. The files that changed; if none did, the
/// fresh ones, which are read again in any case.
async fn wait_for_change(files: &BTreeSet<PathBuf>, before: &BTreeMap<PathBuf, KnownFile>) -> Vec<PathBuf> {
    let read_stamps = || files.iter().map(|path| (path, FileStamp::of(path))).collect::<Vec<_>>();
    let mut last = read_stamps();
    loop {
        tokio::time::sleep(POLL).await;
        let now = read_stamps();
        if now == last {
            let (mut changed, mut fresh) = (Vec::new(), Vec::new());
            for (path, stamp) in &now {
                match before.get(*path) {
                    Some(KnownFile::Old(old)) if old == stamp => {}
                    Some(KnownFile::Fresh { content }) if *content == Some(hash_file(path)) => {
                        fresh.push((*path).clone());
                    }
                    _ => changed.push((*path).clone()),
                }
            }
            let files_to_report = if changed.is_empty() { fresh } else { changed };
            if !files_to_report.is_empty() {
                return files_to_report;
            }
        }
        last = now;
    }
}

/// What decides the verdict of a unit, and the files among it.
struct UnitFingerprint {
    fingerprint: u64,
    files: BTreeSet<PathBuf>,
}

/// The fingerprint of each unit by its name. Where a case is written does not matter.
fn fingerprint_units(
    plan: &Plan,
    servers: &BTreeMap<String, McpServer>,
    project: &SuiteFiles,
) -> BTreeMap<String, UnitFingerprint> {
    // Many cases name the same files.
    let mut contents: BTreeMap<PathBuf, u64> = BTreeMap::new();
    let mut fingerprints: BTreeMap<String, UnitFingerprint> = BTreeMap::new();
    for unit in &plan.units {
        let case = unit.cell.case().expect("it was filled when it was planned");
        let mut hasher = DefaultHasher::new();
        let server = case.server.as_ref().and_then(|name| servers.get(name));
        hash_as_json(&mut hasher, &(&case.candidate, &case.server, server, &case.targets, &case.agent));
        hash_as_json(&mut hasher, &(&case.workspace, &case.judge, &case.labels, unit.cell.judge()));
        hash_as_json(&mut hasher, &unit.cell.row());
        // In the plan, a unit comes after the units whose outputs it uses.
        for needed in &unit.needed_outputs {
            fingerprints.get(&needed.unit).map(|producer| producer.fingerprint).hash(&mut hasher);
        }
        case.rubric.version().as_str().hash(&mut hasher);
        let files = find_run_files(&case, server, project);
        for path in &files {
            path.hash(&mut hasher);
            contents.entry(path.clone()).or_insert_with(|| hash_file(path)).hash(&mut hasher);
        }
        fingerprints.insert(unit.name.clone(), UnitFingerprint { fingerprint: hasher.finish(), files });
    }
    fingerprints
}

fn hash_as_json(hasher: &mut DefaultHasher, value: &impl Serialize) {
    serde_json::to_string(value).expect("a case is plain data").hash(hasher);
}

fn hash_files(paths: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, u64> {
    paths.iter().filter(|path| path.is_file()).map(|path| (path.clone(), hash_file(path))).collect()
}

fn hash_file(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let stamp = FileStamp::of(path);
    let content = std::fs::File::open(path).ok().filter(|_| stamp.n_bytes <= MAX_HASHED);
    let mut bytes = Vec::new();
    match content.map(|file| file.take(MAX_HASHED).read_to_end(&mut bytes)) {
        Some(Ok(_)) => bytes.hash(&mut hasher),
        _ => (stamp.n_bytes, stamp.modified).hash(&mut hasher),
    }
    hasher.finish()
}

/// Files that are read or started when a case is run: its trace, its workspace, and every file of the project that its
/// targets, its server, its setup programs or the programs of its checks name.
fn find_run_files(case: &Case, server: Option<&McpServer>, project: &SuiteFiles) -> BTreeSet<PathBuf> {
    let mut texts: Vec<String> = Vec::new();
    if let Some(TraceSource::File(path)) = &case.candidate.trace {
        texts.push(path.clone());
    }
    if !case.candidate.is_given() {
        for target in &case.targets {
            texts.push(target.id.clone());
            target.config.values().for_each(|value| collect_texts(value, &mut texts));
        }
        if let Some(McpServer::Stdio { command, args, .. }) = server {
            texts.push(command.clone());
            texts.extend(args.iter().cloned());
        }
    }
    let workspace = case.workspace.as_ref().filter(|_| !case.candidate.is_given());
    let suite_folder = project.folder.to_string_lossy();
    let setup = workspace.into_iter().flat_map(|workspace| &workspace.setup);
    let setup_words = setup.flat_map(|program| &program.command);
    texts.extend(setup_words.map(|word| SetupProgram::fill_folders(word, "", &suite_folder)));
    if case.rubric.external_checks().next().is_some() {
        collect_texts(&case.rubric.to_json(), &mut texts);
    }
    texts.extend(case.judge.models().filter(|model| model.starts_with("command:")).cloned());
    let is_between = |letter: char| letter.is_whitespace() || "'\"`:;,()<>|&=".contains(letter);
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| text.split(is_between)).collect();
    let is_name = |word: &&&str| !word.is_empty() && word.len() < 300;
    let mut files: BTreeSet<PathBuf> = words
        .iter()
        .filter(is_name)
        .filter_map(|word| project.find(word).ok())
        .filter(|path| path.is_file())
        .collect();
    let folder = workspace.and_then(|workspace| workspace.path.as_deref());
    if let Some(folder) = folder.and_then(|path| project.find(path).ok()) {
        collect_workspace_files(&folder, &mut files);
    }
    files
}

fn collect_texts(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Json::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
        _ => {}
    }
}

fn collect_workspace_files(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if MAX_WORKSPACE_FILES <= files.len() {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    files.insert(entry.path());
                }
                _ => {}
            }
        }
    }
}
