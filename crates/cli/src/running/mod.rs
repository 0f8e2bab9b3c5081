//! Runs on this machine: their flags, the execution of their cases, and the report at the end.

pub mod gates;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::builder::Resettable;
use jurist_core::dialect::ProjectSettings;
use jurist_core::grade::{Deferral, FORMAT, Outcome, Spend, Usd, VerdictStatus};
use jurist_core::plan::projected_calls;
use jurist_core::redact::Redactor;
use jurist_core::report::{FailedRunGate, ReportContext, RunBaseline, RunTally};
use jurist_core::rubric::Rubric;
use jurist_core::run::{CaseResult, NotGraded, Packed, Run, RunId, RunProvenance, RunResults};
use jurist_core::stats::comparison::{Comparison, compare_runs};
use jurist_engine::call::ModelClient;
use jurist_engine::execute::{
    EarlyStop, GradingContext, GradingEvent, GradingJob, StopCondition, StoredOutputs, execute, select_again,
};
use jurist_engine::load;
use jurist_engine::provenance::find_run_provenance;
use jurist_store::{clock, random};
use tokio::sync::mpsc;

use self::gates::{RunGateArgs, parse_accepted_drop};
use crate::book::{DEFERRED_CASES, read_more};
use crate::judging::{BatchOutcome, JudgingArgs};
use crate::outcome::CommandOutcome;
use crate::render;
use crate::reporting::comparison::{find_excessive_drop, show_caveats, show_comparison};
use crate::reporting::{Reporter, format_run_summary, printable_line, reporter, show_run};
use crate::stored_runs::{BATCH, RunLog, RunUnitResult, StoredRuns};

/// Options of a run and of its reports; the same for every command that makes one.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = Resettable::Reset)]
pub struct RunExecutionArgs {
    /// Stop starting cases after the first failure
    #[arg(long)]
    fail_fast: bool,
    /// Stop starting cases after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_time_limit)]
    max_time: Option<f64>,
    /// Grade cases with grader errors once more; never failed cases
    #[arg(long)]
    retry_errors: bool,
    /// Compare with this run: an id, `latest` (the run before this one), or a file
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Fail if the score has dropped significantly by more than this since the baseline; --baseline implies this
    /// gate
    #[arg(long, value_name = "DROP", default_value_t = 0.0, requires = "baseline", value_parser = parse_accepted_drop)]
    max_drop: f64,
    #[command(flatten)]
    gates: RunGateArgs,
    /// Report format: pretty, json, ndjson, junit, md, html, tap, csv, sarif, gitlab, github, pr-comment or
    /// otel; FORMAT=FILE writes to a file; repeatable
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = reporter)]
    reporter: Vec<Reporter>,
    /// Name to find the run by, such as nightly; repeatable
    #[arg(long, value_name = "NAME", value_parser = parse_run_tag)]
    run_tag: Vec<String>,
    /// Print only what reporters write
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print every grade with its reason, also for passed cases
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    pub judging: JudgingArgs,
}

/// The same text that will be stored, so that `runs list --tag` finds it by what was typed.
fn parse_run_tag(text: &str) -> Result<String, String> {
    let tags = RunProvenance { tags: vec![text.to_owned()], ..RunProvenance::default() }.sanitize().tags;
    match tags.into_iter().next() {
        Some(tag) if tag == text => Ok(tag),
        _ => Err("a name of up to 255 letters, on one line".to_owned()),
    }
}

/// A run that is about to go.
pub struct ReadyRun {
    pub jobs: Vec<GradingJob>,
    pub run: Run,
    pub log: RunLog,
    /// What was graded before, by its place in the plan.
    pub done: BTreeMap<usize, Packed>,
    /// Outputs of what was graded before.
    pub outputs: StoredOutputs,
    /// What earlier attempts at the run have paid; the cap holds for all of them together.
    pub paid: Usd,
    pub part: RunScope,
}

/// The part of the command's cases that a run grades.
#[derive(Debug, Default, Clone)]
pub struct RunScope {
    /// The label of its suite, if the command has more than one.
    pub label: Option<String>,
    /// Whether cases of the suite were left out on purpose.
    pub is_selection: bool,
    /// Whether the run is printed and not stored.
    pub is_transient: bool,
    /// Tags of the versions of datasets that it reads.
    pub dataset_tags: Vec<String>,
}

/// The outcome of a run, and its cases that were not graded.
pub struct FinishedRun {
    pub ended: CommandOutcome,
    pub not_graded: Option<NotGraded>,
    pub n_cases: usize,
    /// With its results, if it ran on this machine.
    pub run: Option<Run>,
    /// The cost of its calls, including calls without a result; `None` if a price is unknown.
    pub paid: Option<Usd>,
}

impl From<CommandOutcome> for FinishedRun {
    /// A run that never came to its results.
    fn from(ended: CommandOutcome) -> Self {
        Self { ended, not_graded: None, n_cases: 0, run: None, paid: None }
    }
}

/// Facts for reports that are not part of the run.
pub struct RunReportContext {
    pub elapsed: Duration,
    pub n_units: usize,
    pub stopped: Option<EarlyStop>,
    /// The address of its page, if it is on a server.
    pub address: Option<String>,
    pub part: RunScope,
    /// Whether what was not graded is an error.
    pub no_defer: bool,
}

fn parse_time_limit(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && 0.0 <= *seconds);
    seconds.ok_or_else(|| "a number of seconds from 0".to_owned())
}

impl RunExecutionArgs {
    /// What of it only makes sense on this machine.
    pub fn refuse_local(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !self.fail_fast && self.max_time.is_none(),
            "--fail-fast and --max-time work only for runs on this machine"
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

    /// Problems of the flags that do not depend on the suites; checked before the first paid call.
    pub fn check(&self, n_suites: usize) -> anyhow::Result<()> {
        self.gates.require_baseline(self.baseline.is_some())?;
        let mixed = self.reporter.iter().find(|reporter| 1 < n_suites && !reporter.takes_several());
        match mixed.map(Reporter::name) {
            Some(name) => anyhow::bail!(
                "several suites cannot share one {name} report on standard output; use --reporter {name}=FILE, which writes one file per suite"
            ),
            None => Ok(()),
        }
    }

    /// Branch, commit, author and CI job of the folder in which the command runs, and the tags of the command line.
    pub async fn provenance(&self) -> RunProvenance {
        let detected = find_run_provenance(Path::new(".")).await;
        RunProvenance { tags: self.run_tag.clone(), ..detected }.sanitize()
    }

    /// A run that has not begun.
    pub fn new_run<'a>(
        &self,
        suite: String,
        provenance: RunProvenance,
        all: impl Iterator<Item = &'a Arc<Rubric>>,
    ) -> Run {
        let started = clock::current_time();
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
            provenance,
            started,
            ended: None,
            seed: self.judging.seed,
            rubrics,
            results: RunResults::default(),
            spend: Spend::default(),
            summary: None,
        }
    }

    /// A log for a run; if the database cannot be opened, the run continues without it.
    pub async fn log(&self, runs: &StoredRuns, run: &Run) -> RunLog {
        runs.begin(run).await.unwrap_or_else(|error| {
            render::print_warning(&format!("the run cannot be stored and continues without: {error:#}"));
            RunLog::nowhere(run.id)
        })
    }

    /// Gets every reply in batches; a tree's next question waits for the next one. How it ends, if it does not.
    async fn collect(
        &self,
        jobs: &[GradingJob],
        shared: &Arc<GradingContext>,
        width: usize,
    ) -> anyhow::Result<Option<CommandOutcome>> {
        loop {
            let never = std::future::pending();
            execute(jobs.to_vec(), shared, width, StopCondition::default(), never, async |_| {}).await;
            match self.judging.run_batch(&shared.caller).await? {
                BatchOutcome::Nothing => return Ok(None),
                BatchOutcome::Done => {}
                BatchOutcome::Failed => return Ok(Some(CommandOutcome::Incomplete)),
            }
        }
    }

    /// Grades all units, stores each result as it arrives, and reports the run.
    pub async fn execute_run(
        &self,
        runs: &StoredRuns,
        ready: ReadyRun,
        caller: ModelClient,
        settings: &ProjectSettings,
    ) -> anyhow::Result<FinishedRun> {
        let ReadyRun { jobs, mut run, log, done: mut results, outputs, paid, part } = ready;
        caller.budget.charge(Some(paid));
        let caller = match log.cost_recorder() {
            Some(shared_budget) => caller.with_shared_budget(shared_budget),
            None => caller,
        };
        // Checked before any call is paid for.
        let baseline = self.baseline(runs, run.id).await?;
        if let Some(calls) = projected_calls(jobs.iter().map(|job| &*job.unit)).filter(|_| !self.quiet) {
            render::print_note(&calls);
        }
        let agents = jobs.first().map(|job| Arc::clone(&job.agents));
        let redactor = Redactor::new(load::secrets(), &settings.redact)?;
        let shared = Arc::new(GradingContext { caller, redactor, outputs });
        let (started, n_before, n_units) = (Instant::now(), results.len(), results.len() + jobs.len());
        let deadline =
            self.max_time.map(|max_time| started + Duration::from_secs_f64(max_time.clamp(0.0, 1e7)));
        let until = StopCondition { first_failure: self.fail_fast, deadline };
        let mut progress = render::ProgressLine::new().quiet(self.quiet);
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
            // Dropped when all is graded, so that the writer ends.
            let came = came;
            let mut listen = async |event: GradingEvent| {
                if let GradingEvent::Graded { at, result, exchanges } = event {
                    if result.verdict.status == VerdictStatus::Error {
                        broken.borrow_mut().insert(at);
                    }
                    let mut result = *result;
                    let hidden = (!shows_material).then(|| std::mem::take(&mut result.material));
                    results.insert(at, Packed::new(&result));
                    result.material = hidden.unwrap_or(result.material);
                    let _ = came.send(RunUnitResult { place: at, result, exchanges }).await;
                }
                progress.show(|| {
                    let n_new = results.len().saturating_sub(n_before);
                    let rate = n_new as f64 / started.elapsed().as_secs_f64().max(1e-9);
                    let left = (n_units - results.len()) as f64 / rate.max(1e-9);
                    let left = if n_new == 0 { String::new() } else { format!(" · {left:.0} s left") };
                    let spent = shared
                        .caller
                        .budget
                        .spent_amount()
                        .map(|usd| format!(" · {usd}"))
                        .unwrap_or_default();
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
        let (stopped, mut stored) = tokio::join!(grading, log.store_results(coming));
        progress.clear();
        for warning in agents.iter().flat_map(|agents| agents.warnings()) {
            render::print_warning(&warning);
        }
        run.results = results.into_values().collect();
        run.spend = run.results.iter().fold(Spend::default(), |sum, result| sum.plus(result.spend));
        // Calls that led to no result, of this attempt or an earlier one, were paid for as well.
        let paid = shared.caller.budget.spent_amount();
        run.spend.cost = run.spend.cost.map(|cost| paid.map_or(cost, |paid| cost.max(paid)));
        stored = stored.and(log.write_costs().await);
        if stopped.is_none() {
            run.ended = Some(clock::current_time());
            // What is not there as a whole has not ended there.
            if stored.is_ok() {
                stored = log.end().await;
            }
        }
        self.judging.finish(&shared.caller)?;
        if let Err(error) = stored {
            let id = run.id;
            render::print_warning(&format!(
                "part of the run could not be stored: {error}; --resume {id} grades the missing part again"
            ));
        }
        let no_defer = self.judging.no_defer(settings);
        let context =
            RunReportContext { elapsed: started.elapsed(), n_units, stopped, address: None, part, no_defer };
        let finished = self.report_run(&run, baseline.as_ref(), &context)?;
        Ok(FinishedRun { run: Some(run), paid, ..finished })
    }

    /// The run that this one is compared with.
    pub async fn baseline(&self, runs: &StoredRuns, run: RunId) -> anyhow::Result<Option<Run>> {
        match &self.baseline {
            Some(name) => runs.load_before(name, run).await.map(Some),
            None => Ok(None),
        }
    }

    /// The reporters in the order of the command line. If none of them writes to standard output, `pretty` is the first
    /// one; `--quiet` leaves this default out.
    fn list_reporters(&self, suite_label: Option<&str>) -> Vec<Reporter> {
        let mut reporters: Vec<Reporter> = match suite_label {
            Some(label) => self.reporter.iter().map(|reporter| reporter.for_suite(label)).collect(),
            None => self.reporter.clone(),
        };
        if !self.quiet && !reporters.iter().any(Reporter::is_on_stdout) {
            reporters.insert(0, Reporter::pretty());
        }
        reporters
    }

    /// Prints a run, writes its reports, and returns the outcome.
    pub fn report_run(
        &self,
        run: &Run,
        baseline: Option<&Run>,
        run_context: &RunReportContext,
    ) -> anyhow::Result<FinishedRun> {
        let mut compared = baseline.map(|baseline| compare_runs(baseline, run, run.seed));
        if let Some(compared) = compared.as_mut().filter(|_| run_context.part.is_selection) {
            // Cases that were left out on purpose are not missing.
            compared.regressions.undecided.retain(|undecided| undecided.after.is_some());
        }
        let reporters = self.list_reporters(run_context.part.label.as_deref());
        let regressions = compared.as_ref().map(|comparison| &comparison.regressions);
        let mut decision = self.gates.decide(regressions, RunTally::of(run), run_context.n_units);
        let drop = compared.as_ref().and_then(|compared| find_excessive_drop(compared, run, self.max_drop));
        let has_dropped = drop.is_some();
        decision.failed.extend(drop);
        let ended = command_outcome_for_run(run, run_context, self.gates.are_set(), decision.ended);
        let not_graded = NotGraded::of(run);
        let mut last: Vec<String> = decision.failed.iter().flat_map(FailedRunGate::lines).collect();
        if let Some(not_graded) = &not_graded {
            let hint = match ended {
                CommandOutcome::Passed if 0 < count_left_out(run) => " (--no-defer makes this an error)",
                _ => "",
            };
            let more = read_more(DEFERRED_CASES);
            last.push(format!("{}{hint} {more}", not_graded.statement));
        }
        let last: Vec<String> = last.iter().map(|text| printable_line(text)).collect();
        if !reporters.iter().any(Reporter::is_shown) {
            last.iter().for_each(|text| render::print_note(text));
        }
        // A report that cannot be written does not prevent the others.
        let mut unwritten = false;
        let baseline = baseline.zip(compared.as_ref()).map(|(run, compared)| RunBaseline { run, compared });
        let context =
            ReportContext { baseline, no_defer: run_context.no_defer, failed_gates: &decision.failed };
        for reporter in &reporters {
            if reporter.is_shown() {
                self.show(run, compared.as_ref(), run_context, &reporters)?;
                for text in &last {
                    writeln!(render::stdout(), "\x1b[1;33m{text}\x1b[0m")?;
                }
            } else if let Err(error) = reporter.write(run, context) {
                render::print_error(&format!("{error:#}"));
                unwritten = true;
            }
        }
        let ended = match ended {
            CommandOutcome::Passed if unwritten => CommandOutcome::BadInput,
            CommandOutcome::Passed if has_dropped => CommandOutcome::Failed,
            ended => ended,
        };
        Ok(FinishedRun { ended, not_graded, n_cases: run.results.len(), run: None, paid: None })
    }

    /// Case by case, then the run in a line, then what became of it since the baseline.
    fn show(
        &self,
        run: &Run,
        compared: Option<&Comparison>,
        context: &RunReportContext,
        reporters: &[Reporter],
    ) -> anyhow::Result<()> {
        let (mut out, columns) = (render::stdout(), render::terminal_columns());
        show_run(&mut out, run, self.verbose, columns)?;
        let page = reporters.iter().find_map(Reporter::page).or_else(|| context.address.clone());
        writeln!(out, "{}", format_run_summary(run, context.elapsed, page.as_deref(), columns))?;
        if let Some(compared) = compared {
            writeln!(out)?;
            show_caveats(&mut out, compared)?;
            show_comparison(&mut out, compared, run, true)?;
        }
        // Logs of CI have reports instead.
        if columns.is_some() && context.address.is_none() {
            let (id, name) = (&run.id, quote_case_to_look_at(run));
            writeln!(out, "\x1b[2mdetails: jurist runs show {id} --case {name} --prompts\x1b[0m")?;
            writeln!(out, "\x1b[2mreport:  jurist report {id} --reporter html=report.html\x1b[0m")?;
        }
        if let Some(stopped) = context.stopped {
            let why = match stopped {
                EarlyStop::FirstFailure => "--fail-fast",
                EarlyStop::Deadline => "--max-time",
                EarlyStop::Interrupted => "an interrupt",
            };
            let (n_done, n_units) = (run.results.len(), context.n_units);
            writeln!(out, "stopped by {why} after {n_done} of {n_units}; continue with --resume {}", run.id)?;
        }
        Ok(())
    }
}

/// The first case that did not pass, as a word for the shell; `NAME` if there is none or it has no printable name.
fn quote_case_to_look_at(run: &Run) -> String {
    let first = run.results.iter().find(|result| result.verdict.status != VerdictStatus::Pass);
    match first.map(|result| result.case).filter(|name| *name == printable_line(name)) {
        Some(name) => format!("'{}'", name.replace('\'', "'\\''")),
        None => "NAME".to_owned(),
    }
}

/// Cases that should have been graded and were not. A test without assertions only shows its output, so it is not left
/// out.
fn count_left_out(run: &Run) -> usize {
    let is_left_out = |result: &CaseResult| {
        result.verdict.status == VerdictStatus::Deferred && !run.asserts_nothing(result)
    };
    run.results.iter().filter(is_left_out).count()
}

/// Gates decide about cases that failed; errors and interruptions end the command as without gates.
fn command_outcome_for_run(
    run: &Run,
    context: &RunReportContext,
    has_gates: bool,
    gate: Option<CommandOutcome>,
) -> CommandOutcome {
    let tally = RunTally::of(run);
    let over_budget = run
        .results
        .iter()
        .flat_map(|result| result.grades)
        .any(|grade| matches!(grade.outcome, Outcome::Deferred { why: Deferral::OverBudget }));
    match context.stopped {
        Some(EarlyStop::Interrupted) => CommandOutcome::Interrupted,
        _ if 0 < tally.failed && !has_gates => CommandOutcome::Failed,
        _ if gate == Some(CommandOutcome::Failed) => CommandOutcome::Failed,
        Some(EarlyStop::Deadline) => CommandOutcome::OverBudget,
        _ if over_budget => CommandOutcome::OverBudget,
        _ if 0 < tally.errors || (context.no_defer && 0 < count_left_out(run)) => CommandOutcome::Incomplete,
        _ => gate.unwrap_or(CommandOutcome::Passed),
    }
}
