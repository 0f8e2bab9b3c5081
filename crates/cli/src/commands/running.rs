use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jurist_core::dialect::Settings;
use jurist_core::grade::{Deferral, FORMAT, Outcome, Spend, Status, Time};
use jurist_core::redact::Redactor;
use jurist_core::report::Tally;
use jurist_core::rubric::Rubric;
use jurist_core::run::{CaseResult, Run, RunId};
use jurist_core::stats::compare;
use jurist_engine::call::Caller;
use jurist_engine::execute::{Event, Job, Shared, Stopped, Until, execute};
use jurist_engine::load;
use jurist_engine::runs::{Log, Runs};

use super::Ended;
use super::compare::{drop_is_shown, show as show_comparison};
use super::judging::{Batched, Judging};
use super::reporting::{Reporter, reporter, show, summary};
use crate::render;

/// How a run goes and what becomes of it; the same for every command that makes one.
#[derive(Debug, clap::Args)]
pub struct Running {
    /// Start no more cases after the first that fails
    #[arg(long)]
    fail_fast: bool,
    /// Start no more cases after so many seconds
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// Grade cases once more whose graders broke; never those that failed
    #[arg(long)]
    retry_errors: bool,
    /// Compare with this run: its id, `latest`, or a file
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Fail if the score is shown to have dropped by more than this since the baseline
    #[arg(long, value_name = "DROP", default_value_t = 0.0, requires = "baseline")]
    max_drop: f64,
    /// Write the run as pretty, json, ndjson, junit, md, html, tap, csv, sarif, gitlab, github or otel; to a file with
    /// FORMAT=FILE; may be given several times
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = reporter)]
    reporter: Vec<Reporter>,
    /// Print nothing but what reporters write
    #[arg(long, short, conflicts_with = "verbose")]
    quiet: bool,
    /// Print every answer with its reason, also of cases that passed
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    pub judging: Judging,
}

/// A run that is about to go.
pub struct Ready {
    pub jobs: Vec<Job>,
    pub run: Run,
    pub log: Log,
    /// What was graded before, by its place in the plan.
    pub done: BTreeMap<usize, CaseResult>,
}

impl Running {
    /// Whether a reporter would mix up several runs.
    pub fn has_reporters(&self) -> bool {
        !self.reporter.is_empty()
    }

    /// A run that has not begun.
    pub fn new_run<'a>(&self, suite: String, rubrics: impl Iterator<Item = &'a Arc<Rubric>>) -> Run {
        let started = now();
        Run {
            format: FORMAT,
            id: RunId::new(started, chance()),
            suite: Some(suite),
            started,
            ended: None,
            seed: self.judging.seed,
            rubrics: rubrics.map(|it| (it.version().clone(), it.to_json())).collect(),
            results: Vec::new(),
            spend: Spend::default(),
        }
    }

    /// A log for a run; where there is no place for one, it goes on without.
    pub fn log(&self, runs: &Runs, run: &Run) -> Log {
        runs.begin(run).unwrap_or_else(|error| {
            render::warning(&format!("the run cannot be kept, and goes on without: {error}"));
            Log::nowhere()
        })
    }

    /// Gets every reply in batches; a tree's next question waits for the next one. How it ends, if it does not.
    async fn collect(
        &self,
        jobs: &[Job],
        shared: &Arc<Shared>,
        width: usize,
    ) -> anyhow::Result<Option<Ended>> {
        loop {
            let never = std::future::pending();
            execute(jobs.to_vec(), shared, width, Until::default(), never, |_| {}).await;
            match self.judging.run_batch(&shared.caller).await? {
                Batched::Nothing => return Ok(None),
                Batched::Done => {}
                Batched::OverBudget => return Ok(Some(Ended::OverBudget)),
                Batched::Failed => return Ok(Some(Ended::Incomplete)),
            }
        }
    }

    /// Grades everything, keeps it as it comes, and tells what came of it.
    pub async fn go(
        &self,
        runs: &Runs,
        ready: Ready,
        caller: Caller,
        settings: &Settings,
    ) -> anyhow::Result<Ended> {
        let Ready { jobs, mut run, mut log, done: mut results } = ready;
        // Found before anything is paid for.
        let baseline = self.baseline.as_deref().map(|it| runs.load_before(it, run.id)).transpose()?;
        let redactor = Redactor::new(load::secrets(), &settings.redact)?;
        let shared = Arc::new(Shared { caller, redactor });
        let (started, n_before, n_units) = (Instant::now(), results.len(), results.len() + jobs.len());
        let deadline = self.max_time.map(|it| started + Duration::from_secs_f64(it.clamp(0.0, 1e7)));
        let until = Until { first_failure: self.fail_fast, deadline };
        let (mut trouble, mut progress) = (None, render::Progress::new());
        let broken = RefCell::new(BTreeSet::new());
        let mut listen = |event: Event| {
            if let Event::Graded { at, result, exchanges } = event {
                let kept = log.graded(at, &result).and_then(|()| log.asked(&result.case, exchanges));
                if let Err(error) = kept {
                    trouble.get_or_insert(error);
                }
                if result.verdict.status == Status::Error {
                    broken.borrow_mut().insert(at);
                }
                results.insert(at, *result);
            }
            progress.show(|| {
                let n_new = results.len().saturating_sub(n_before);
                let rate = n_new as f64 / started.elapsed().as_secs_f64().max(1e-9);
                let left = (n_units - results.len()) as f64 / rate.max(1e-9);
                let left = if n_new == 0 { String::new() } else { format!(" · {left:.0} s left") };
                let spent = shared.caller.budget.spent().map(|it| format!(" · {it}")).unwrap_or_default();
                format!("{} of {n_units} · {rate:.1}/s{left}{spent}", results.len())
            });
        };
        let interrupt = || async {
            let _ = tokio::signal::ctrl_c().await;
        };
        let width = self.judging.width(settings);
        if self.judging.batch
            && let Some(ended) = self.collect(&jobs, &shared, width).await?
        {
            return Ok(ended);
        }
        let mut again = if self.retry_errors { jobs.clone() } else { Vec::new() };
        let mut stopped = execute(jobs, &shared, width, until, interrupt(), &mut listen).await;
        if stopped.is_none() && self.retry_errors {
            again.retain(|it| broken.borrow().contains(&it.at));
            stopped = execute(again, &shared, width, until, interrupt(), &mut listen).await;
        }
        progress.clear();
        run.results = results.into_values().collect();
        run.spend = run.results.iter().fold(Spend::default(), |sum, it| sum.plus(it.spend));
        if stopped.is_none() {
            run.ended = Some(now());
            let kept = log.end(now());
            trouble = trouble.or(kept.err());
        }
        self.judging.finish(&shared.caller)?;
        let compared = baseline.map(|it| compare(&it, &run, run.seed));
        if !self.quiet && !self.reporter.iter().any(Reporter::is_on_stdout) {
            let mut out = anstream::stdout();
            show(&mut out, &run, self.verbose)?;
            writeln!(out, "{}", summary(&run, started.elapsed(), Some(&log.path)))?;
            if let Some(compared) = &compared {
                writeln!(out)?;
                show_comparison(&mut out, compared, &run)?;
            }
            if let Some(stopped) = stopped {
                let why = match stopped {
                    Stopped::FirstFailure => "--fail-fast",
                    Stopped::Deadline => "--max-time",
                    Stopped::Interrupted => "an interrupt",
                };
                let n_done = run.results.len();
                writeln!(out, "stopped by {why} after {n_done} of {n_units}; --resume {} goes on", run.id)?;
            }
        }
        // One that cannot be written does not keep the others from it.
        let mut unwritten = false;
        for reporter in &self.reporter {
            if let Err(error) = reporter.write(&run) {
                render::trouble(&format!("{error:#}"));
                unwritten = true;
            }
        }
        if let Some(error) = trouble {
            render::warning(&format!("the run could not be kept on disk: {error}"));
        }
        let ended = ended(&run, stopped, self.judging.no_defer);
        let dropped = compared.is_some_and(|it| drop_is_shown(&it, self.max_drop));
        Ok(match ended {
            Ended::Passed if unwritten => Ended::BadInput,
            Ended::Passed if dropped => Ended::Failed,
            ended => ended,
        })
    }
}

fn ended(run: &Run, stopped: Option<Stopped>, no_defer: bool) -> Ended {
    let tally = Tally::of(run);
    let over_budget = run
        .results
        .iter()
        .flat_map(|it| &it.grades)
        .any(|it| matches!(it.outcome, Outcome::Deferred { why: Deferral::OverBudget }));
    match stopped {
        Some(Stopped::Interrupted) => Ended::Interrupted,
        _ if 0 < tally.failed => Ended::Failed,
        Some(Stopped::Deadline) => Ended::OverBudget,
        _ if over_budget => Ended::OverBudget,
        _ if 0 < tally.errors || (no_defer && 0 < tally.deferred) => Ended::Incomplete,
        _ => Ended::Passed,
    }
}

fn now() -> Time {
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_micros());
    Time::from_micros(i64::try_from(micros).unwrap_or(0))
}

/// Bytes that no other run has.
fn chance() -> [u8; 10] {
    use std::hash::{BuildHasher, Hasher};
    let mut bytes = [0; 10];
    for part in bytes.chunks_mut(8) {
        let random = std::hash::RandomState::new().build_hasher().finish().to_le_bytes();
        part.copy_from_slice(&random[..part.len()]);
    }
    bytes
}
