use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::builder::Resettable;
use jurist_core::dialect::Settings;
use jurist_core::grade::{Deferral, FORMAT, Outcome, Spend, Status, Usd};
use jurist_core::plan::projected_calls;
use jurist_core::redact::Redactor;
use jurist_core::report::Tally;
use jurist_core::rubric::Rubric;
use jurist_core::run::{NotGraded, Packed, Results, Run, RunId};
use jurist_core::stats::{Comparison, compare};
use jurist_engine::call::Caller;
use jurist_engine::execute::{Event, Job, Shared, Stopped, Until, execute, select_again};
use jurist_engine::load;
use jurist_store::{clock, random};
use tokio::sync::mpsc;

use super::Ended;
use super::compare::{drop_is_shown, show as show_comparison};
use super::gates::Gates;
use super::judging::{Batched, Judging};
use super::kept::{BATCH, Came, Log, Runs};
use super::reporting::{Reporter, line, reporter, show, summary};
use crate::render;

/// How a run goes and what becomes of it; the same for every command that makes one.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = Resettable::Reset)]
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
    /// Compare with this run: its id, `latest` (the one before this), or a file
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Fail if the score is shown to have dropped by more than this since the baseline
    #[arg(long, value_name = "DROP", default_value_t = 0.0, requires = "baseline")]
    max_drop: f64,
    #[command(flatten)]
    gates: Gates,
    /// Write the run as pretty, json, ndjson, junit, md, html, tap, csv, sarif, gitlab, github or otel; to a file with
    /// FORMAT=FILE; may be given several times
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = reporter)]
    reporter: Vec<Reporter>,
    /// Print nothing but what reporters write
    #[arg(long, short, conflicts_with = "verbose")]
    pub(super) quiet: bool,
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
    pub done: BTreeMap<usize, Packed>,
    /// What earlier attempts at the run have paid; the cap holds for all of them together.
    pub paid: Usd,
    pub part: Part,
}

/// Which part of all that the command grades a run is.
#[derive(Debug, Default, Clone)]
pub struct Part {
    /// What tells its suite from the others of the command, where there are several.
    pub label: Option<String>,
    /// Whether cases of the suite were left out on purpose.
    pub is_selection: bool,
}

/// How a run ended, and what of it was not graded.
pub struct Finished {
    pub ended: Ended,
    pub not_graded: Option<NotGraded>,
    pub n_cases: usize,
}

impl From<Ended> for Finished {
    /// A run that never came to its results.
    fn from(ended: Ended) -> Self {
        Self { ended, not_graded: None, n_cases: 0 }
    }
}

/// What is said about a run besides what it holds.
pub struct Told {
    pub took: Duration,
    pub n_units: usize,
    pub stopped: Option<Stopped>,
    /// Where it can be looked at, if at a server.
    pub address: Option<String>,
    pub part: Part,
    /// Whether what was not graded is an error.
    pub no_defer: bool,
}

impl Running {
    /// What of it only makes sense on this machine.
    pub fn refuse_local(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !self.fail_fast && self.max_time.is_none(),
            "--fail-fast and --max-time are for runs on this machine"
        );
        Ok(())
    }

    pub fn retry_errors(&self) -> bool {
        self.retry_errors
    }

    /// Whether a reporter shows what was graded.
    pub fn shows_material(&self) -> bool {
        self.reporter.iter().any(Reporter::shows_material)
    }

    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// What is wrong with the flags whatever the suites are; found before anything is paid for.
    pub fn check(&self, n_suites: usize) -> anyhow::Result<()> {
        self.gates.require_baseline(self.baseline.is_some())?;
        let mixed = self.reporter.iter().find(|reporter| 1 < n_suites && !reporter.takes_several());
        match mixed.map(Reporter::name) {
            Some(name) => anyhow::bail!(
                "several suites would make several {name} reports on one output; \
                 --reporter {name}=FILE writes a file for each of them"
            ),
            None => Ok(()),
        }
    }

    /// A run that has not begun.
    pub fn new_run<'a>(&self, suite: String, all: impl Iterator<Item = &'a Arc<Rubric>>) -> Run {
        let started = clock::now();
        let mut rubrics = BTreeMap::new();
        for rubric in all {
            if !rubrics.contains_key(rubric.version()) {
                rubrics.insert(rubric.version().clone(), rubric.to_json());
            }
        }
        Run {
            format: FORMAT,
            id: RunId::new(started, random()),
            suite: Some(suite),
            started,
            ended: None,
            seed: self.judging.seed,
            rubrics,
            results: Results::default(),
            spend: Spend::default(),
            summary: None,
        }
    }

    /// A log for a run; where there is no place for one, it goes on without.
    pub async fn log(&self, runs: &Runs, run: &Run) -> Log {
        runs.begin(run).await.unwrap_or_else(|error| {
            render::warning(&format!("the run cannot be kept, and goes on without: {error:#}"));
            Log::nowhere(run.id)
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
            execute(jobs.to_vec(), shared, width, Until::default(), never, async |_| {}).await;
            match self.judging.run_batch(&shared.caller).await? {
                Batched::Nothing => return Ok(None),
                Batched::Done => {}
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
    ) -> anyhow::Result<Finished> {
        let Ready { jobs, mut run, log, done: mut results, paid, part } = ready;
        caller.budget.charge(Some(paid));
        let caller = match log.purse() {
            Some(purse) => caller.with_purse(purse),
            None => caller,
        };
        // Found before anything is paid for.
        let baseline = self.baseline(runs, run.id).await?;
        if let Some(calls) = projected_calls(jobs.iter().map(|job| &*job.unit)).filter(|_| !self.quiet) {
            render::note(&calls);
        }
        let agents = jobs.first().map(|job| Arc::clone(&job.agents));
        let redactor = Redactor::new(load::secrets(), &settings.redact)?;
        let shared = Arc::new(Shared { caller, redactor });
        let (started, n_before, n_units) = (Instant::now(), results.len(), results.len() + jobs.len());
        let deadline = self.max_time.map(|it| started + Duration::from_secs_f64(it.clamp(0.0, 1e7)));
        let until = Until { first_failure: self.fail_fast, deadline };
        let mut progress = render::Progress::new().quiet(self.quiet);
        let broken = RefCell::new(BTreeSet::new());
        let (came, coming) = mpsc::channel(BATCH);
        // What was graded is on disk; only some formats show it.
        let shows_material = self.shows_material();
        let interrupt = || async {
            let _ = tokio::signal::ctrl_c().await;
        };
        let width = self.judging.width(settings);
        if self.judging.batch
            && let Some(ended) = self.collect(&jobs, &shared, width).await?
        {
            return Ok(ended.into());
        }
        let grading = async {
            // Gone when all is graded, so that keeping ends.
            let came = came;
            let mut listen = async |event: Event| {
                if let Event::Graded { at, result, exchanges } = event {
                    if result.verdict.status == Status::Error {
                        broken.borrow_mut().insert(at);
                    }
                    let mut result = *result;
                    let hidden = (!shows_material).then(|| std::mem::take(&mut result.material));
                    results.insert(at, Packed::new(&result));
                    result.material = hidden.unwrap_or(result.material);
                    let _ = came.send(Came { place: at, result, exchanges }).await;
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
            let again = if self.retry_errors { jobs.clone() } else { Vec::new() };
            let mut stopped = execute(jobs, &shared, width, until, interrupt(), &mut listen).await;
            if stopped.is_none() && self.retry_errors {
                let again = select_again(again, |job| broken.borrow().contains(&job.at));
                stopped = execute(again, &shared, width, until, interrupt(), &mut listen).await;
            }
            stopped
        };
        let (stopped, mut kept) = tokio::join!(grading, log.keep(coming));
        progress.clear();
        for warning in agents.iter().flat_map(|it| it.warnings()) {
            render::warning(&warning);
        }
        run.results = results.into_values().collect();
        run.spend = run.results.iter().fold(Spend::default(), |sum, it| sum.plus(it.spend));
        // Calls that led to no result, of this attempt or an earlier one, were paid for as well.
        let paid = shared.caller.budget.spent();
        run.spend.cost = run.spend.cost.map(|cost| paid.map_or(cost, |paid| cost.max(paid)));
        kept = kept.and(log.write_costs().await);
        if stopped.is_none() {
            run.ended = Some(clock::now());
            // What is not there as a whole has not ended there.
            if kept.is_ok() {
                kept = log.end().await;
            }
        }
        self.judging.finish(&shared.caller)?;
        if let Err(error) = kept {
            let id = run.id;
            render::warning(&format!(
                "not all of the run could be kept: {error}; what is missing there is graded again by --resume {id}"
            ));
        }
        let no_defer = self.judging.no_defer(settings);
        let told = Told { took: started.elapsed(), n_units, stopped, address: None, part, no_defer };
        self.tell(&run, baseline.as_ref(), &told)
    }

    /// The run that this one is compared with.
    pub async fn baseline(&self, runs: &Runs, run: RunId) -> anyhow::Result<Option<Run>> {
        match &self.baseline {
            Some(name) => runs.load_before(name, run).await.map(Some),
            None => Ok(None),
        }
    }

    /// Shows a run, writes its reports, and says how it ended.
    pub fn tell(&self, run: &Run, baseline: Option<&Run>, told: &Told) -> anyhow::Result<Finished> {
        let mut compared = baseline.map(|it| compare(it, run, run.seed));
        if let Some(compared) = compared.as_mut().filter(|_| told.part.is_selection) {
            // What was left out on purpose is not missing.
            compared.regressions.undecided.retain(|undecided| undecided.after.is_some());
        }
        let reporters: Vec<Reporter> = match &told.part.label {
            Some(label) => self.reporter.iter().map(|reporter| reporter.for_suite(label)).collect(),
            None => self.reporter.clone(),
        };
        let regressions = compared.as_ref().map(|it| &it.regressions);
        let decision = self.gates.decide(regressions, Tally::of(run), told.n_units);
        let ended = ended(run, told, self.gates.are_set(), decision.ended);
        let not_graded = NotGraded::of(run);
        let is_shown = !self.quiet && !reporters.iter().any(Reporter::is_on_stdout);
        if is_shown {
            self.show(run, compared.as_ref(), told, &reporters)?;
        }
        let mut last: Vec<String> = decision.reasons;
        if let Some(not_graded) = &not_graded {
            let hint = match ended {
                Ended::Passed => " (--no-defer makes this an error)",
                _ => "",
            };
            last.push(format!("{}{hint}", not_graded.statement));
        }
        for text in last.iter().map(|text| line(text)) {
            match is_shown {
                true => writeln!(render::stdout(), "\x1b[1;33m{text}\x1b[0m")?,
                false => render::note(&text),
            }
        }
        // One that cannot be written does not keep the others from it.
        let mut unwritten = false;
        for reporter in &reporters {
            if let Err(error) = reporter.write(run, compared.as_ref()) {
                render::trouble(&format!("{error:#}"));
                unwritten = true;
            }
        }
        let dropped = compared.is_some_and(|it| drop_is_shown(&it, self.max_drop));
        let ended = match ended {
            Ended::Passed if unwritten => Ended::BadInput,
            Ended::Passed if dropped => Ended::Failed,
            ended => ended,
        };
        Ok(Finished { ended, not_graded, n_cases: run.results.len() })
    }

    /// Case by case, then the run in a line, then what became of it since the baseline.
    fn show(
        &self,
        run: &Run,
        compared: Option<&Comparison>,
        told: &Told,
        reporters: &[Reporter],
    ) -> anyhow::Result<()> {
        let (mut out, columns) = (render::stdout(), render::columns());
        show(&mut out, run, self.verbose, columns)?;
        let page = reporters.iter().find_map(Reporter::page).or_else(|| told.address.clone());
        writeln!(out, "{}", summary(run, told.took, page.as_deref(), columns))?;
        if let Some(compared) = compared {
            writeln!(out)?;
            show_comparison(&mut out, compared, run)?;
        }
        if let Some(stopped) = told.stopped {
            let why = match stopped {
                Stopped::FirstFailure => "--fail-fast",
                Stopped::Deadline => "--max-time",
                Stopped::Interrupted => "an interrupt",
            };
            let (n_done, n_units) = (run.results.len(), told.n_units);
            writeln!(out, "stopped by {why} after {n_done} of {n_units}; --resume {} goes on", run.id)?;
        }
        Ok(())
    }
}

/// Gates decide about cases that failed; what broke or was stopped ends the command as it always does.
fn ended(run: &Run, told: &Told, has_gates: bool, gate: Option<Ended>) -> Ended {
    let tally = Tally::of(run);
    let over_budget = run
        .results
        .iter()
        .flat_map(|it| it.grades)
        .any(|it| matches!(it.outcome, Outcome::Deferred { why: Deferral::OverBudget }));
    match told.stopped {
        Some(Stopped::Interrupted) => Ended::Interrupted,
        _ if 0 < tally.failed && !has_gates => Ended::Failed,
        _ if gate == Some(Ended::Failed) => Ended::Failed,
        Some(Stopped::Deadline) => Ended::OverBudget,
        _ if over_budget => Ended::OverBudget,
        _ if 0 < tally.errors || (told.no_defer && 0 < tally.deferred) => Ended::Incomplete,
        _ => gate.unwrap_or(Ended::Passed),
    }
}
