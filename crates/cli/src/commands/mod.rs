//! What a user can type.

mod agree;
mod alerts;
mod align;
mod cache;
mod calibrate;
mod check;
mod checks;
mod compare;
mod completions;
mod convert;
mod diff;
mod drift;
mod estimate;
mod eval;
mod export;
mod gates;
mod grade;
mod grades;
mod ingest;
mod init;
mod judge;
mod judging;
mod kept;
mod logging;
mod monitor;
mod panel;
mod power;
mod presets;
mod rank;
mod reach;
mod regrade;
mod remote;
mod report;
mod reporting;
mod running;
mod runs;
mod schema;
mod score;
mod serve;
mod spend;
mod start;
mod stats;
mod store;
mod task_results;
mod trace;
mod trust;
mod worker;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::builder::Resettable;
use clap::{Parser, Subcommand};
use jurist_core::candidate::Candidate;
use jurist_core::diagnostic::{Diagnostic, Severity, closest};
use jurist_core::dialect::{Dialect, Settings, Variables};
use jurist_core::rubric::Rubric;
use jurist_core::suite::{Judge, Monitor, Suite};
use jurist_engine::bundle::Reading;
use jurist_engine::load::{Options, Outside, Project, load_noting};

use crate::render;

/// How a command ended; `main` knows the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Passed,
    /// A verdict failed.
    Failed,
    /// A file or an argument is wrong.
    BadInput,
    /// Grading errors left the result incomplete.
    Incomplete,
    /// A budget stopped it.
    OverBudget,
    Interrupted,
}

#[derive(Debug, Parser)]
#[command(
    name = "jurist",
    version,
    about = "One rubric, every judge: grades what AI agents and language models produce",
    after_help = "\
Start here:
  jurist init                     write a small suite to look at
  jurist check suite.yaml         say everything that is wrong with a file
  jurist eval suite.yaml          grade its cases; --explain shows what would be asked
  jurist compare before.json latest
                                  say whether one run is better than another
  jurist judge ask suite.yaml answer.txt
                                  have a model grade one answer, and see everything it was asked
  jurist start config.yaml        have people annotate
  jurist score rubric.yaml grades.jsonl
                                  turn grades into verdicts

Files of AgentV, promptfoo, Potato and mcptest are read as they are.
Exit codes: 0 passed, 1 a verdict failed, 2 bad file or argument, 3 grading errors,
5 stopped by a budget, 130 interrupted.",
    propagate_version = false,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Eval(Box<eval::Args>),
    Compare(compare::Args),
    Agree(agree::Args),
    Align(align::Args),
    Calibrate(calibrate::Args),
    Estimate(estimate::Args),
    Drift(drift::Args),
    Panel(panel::Args),
    Rank(rank::Args),
    Power(power::Args),
    Stats(stats::Args),
    Export(export::Args),
    Regrade(Box<regrade::Args>),
    Report(report::Args),
    Runs(runs::Args),
    Serve(serve::Args),
    Start(Box<start::Args>),
    Worker(worker::Args),
    Ingest(ingest::Args),
    Store(store::Args),
    Monitor(monitor::Args),
    Spend(spend::Args),
    Alerts(alerts::Args),
    Check(check::Args),
    Convert(convert::Args),
    Grade(grade::Args),
    Judge(judge::Args),
    Score(score::Args),
    Diff(diff::Args),
    Trace(trace::Args),
    Checks(checks::Args),
    Presets(presets::Args),
    Schema(schema::Args),
    Init(init::Args),
    Cache(cache::Args),
    Trust(trust::Args),
    Completions(completions::Args),
}

impl Cli {
    pub fn run(self) -> anyhow::Result<Ended> {
        match self.command {
            Command::Eval(args) => eval::run(&args),
            Command::Runs(args) => runs::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Agree(args) => agree::run(&args),
            Command::Align(args) => align::run(&args),
            Command::Calibrate(args) => calibrate::run(&args),
            Command::Estimate(args) => estimate::run(&args),
            Command::Drift(args) => drift::run(&args),
            Command::Panel(args) => panel::run(&args),
            Command::Rank(args) => rank::run(&args),
            Command::Power(args) => power::run(&args),
            Command::Stats(args) => stats::run(&args),
            Command::Export(args) => export::run(&args),
            Command::Regrade(args) => regrade::run(&args),
            Command::Report(args) => report::run(&args),
            Command::Serve(args) => serve::run(&args),
            Command::Start(args) => start::run(&args),
            Command::Worker(args) => worker::run(&args),
            Command::Ingest(args) => ingest::run(&args),
            Command::Store(args) => store::run(&args),
            Command::Monitor(args) => monitor::run(&args),
            Command::Spend(args) => spend::run(&args),
            Command::Alerts(args) => alerts::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Convert(args) => convert::run(&args),
            Command::Grade(args) => grade::run(&args),
            Command::Judge(args) => judge::run(&args),
            Command::Cache(args) => cache::run(&args),
            Command::Trust(args) => trust::run(&args),
            Command::Score(args) => score::run(&args),
            Command::Diff(args) => diff::run(&args),
            Command::Trace(args) => trace::run(&args),
            Command::Checks(args) => checks::run(&args),
            Command::Presets(args) => presets::run(&args),
            Command::Schema(args) => schema::run(&args),
            Command::Init(args) => init::run(&args),
            Command::Completions(args) => completions::run(&args),
        }
    }
}

/// How files are read; the same for every command that reads one.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = Resettable::Reset)]
struct Loading {
    /// Read the file in this dialect instead of looking at its keys
    #[arg(long, value_name = "NAME", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// Follow references that lead out of the project
    #[arg(long)]
    allow_outside: bool,
}

impl Loading {
    fn options(&self) -> Options {
        let outside = if self.allow_outside { Outside::Allowed } else { Outside::Refused };
        Options { dialect: self.dialect, outside, variables: Variables::Filled }
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    let found = Dialect::ALL.iter().find(|it| it.0 == name).map(|it| it.1);
    found.ok_or_else(|| format!("one of {}", Dialect::ALL.map(|it| it.0).join(", ")))
}

/// A suite that is in order; otherwise everything wrong with it is printed.
fn suite(path: &Path, options: Options) -> anyhow::Result<Option<Suite>> {
    Ok(suite_and_settings(path, options)?.map(|it| it.0))
}

fn suite_and_settings(path: &Path, options: Options) -> anyhow::Result<Option<(Suite, Settings)>> {
    Ok(suite_and_reading(path, options)?.map(|it| (it.0, it.1)))
}

/// A suite that is in order, with what it was read from.
fn suite_and_reading(path: &Path, options: Options) -> anyhow::Result<Option<(Suite, Settings, Reading)>> {
    let (loaded, reading) = load_noting(path, options);
    let not_advice = |it: &Diagnostic| it.severity != Severity::Advice;
    let diagnostics: Vec<Diagnostic> =
        loaded.diagnostics.into_sorted().into_iter().filter(not_advice).collect();
    render::diagnostics(&diagnostics, &loaded.sources)?;
    Ok(loaded.suite.map(|it| (it, loaded.settings, reading)))
}

/// A rubric with everything that decides who judges by it.
struct Chosen {
    rubric: Arc<Rubric>,
    judge: Judge,
    /// Judges that the file names.
    judges: BTreeMap<String, Judge>,
    settings: Settings,
    /// Where its file stands; programs start there.
    project: Project,
    /// What the eval that uses it says about its candidate.
    candidate: Option<Candidate>,
}

/// A rubric of a file: its name, who judges by it, and the candidate of its eval.
type Found<'a> = (String, &'a Arc<Rubric>, &'a Judge, Option<&'a Candidate>);

/// The one rubric of a file, or the one that is asked for by name, with the judge that goes with it.
///
/// `flag` is how the command lets one say which.
fn rubric(path: &Path, name: Option<&str>, flag: &str, loading: &Loading) -> anyhow::Result<Option<Chosen>> {
    let Some((suite, settings)) = suite_and_settings(path, loading.options())? else { return Ok(None) };
    let monitor_name =
        |it: &'_ Monitor| it.agents.first().map_or_else(|| "monitor".to_owned(), |it| it.0.clone());
    // Evals come first: one that uses a named rubric also says who judges.
    let of_cases = suite.cases.iter().map(|it| (it.name.clone(), &it.rubric, &it.judge, Some(&it.candidate)));
    let named = suite.rubrics.iter().map(|(name, rubric)| (name.clone(), rubric, &suite.judge, None));
    let of_monitors = suite.monitors.iter().map(|it| (monitor_name(it), &it.rubric, &suite.judge, None));
    let all: Vec<Found<'_>> = of_cases.chain(named).chain(of_monitors).collect();
    let names: Vec<&str> = all.iter().map(|it| it.0.as_str()).collect();
    let taken = |it: &Found<'_>| Chosen {
        candidate: it.3.cloned(),
        rubric: Arc::clone(it.1),
        judge: it.2.clone(),
        judges: suite.judges.clone(),
        settings: settings.clone(),
        project: Project::of(path, loading.options().outside),
    };
    if let Some(name) = name {
        let found = all.iter().find(|it| it.0 == name).map(taken);
        let hint = match closest(name, &names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if names.is_empty() => "it holds none".to_owned(),
            None => format!("there are {}", names.join(", ")),
        };
        return found
            .map(Some)
            .ok_or_else(|| anyhow::anyhow!("`{}` has no rubric `{name}`; {hint}", path.display()));
    }
    // Evals that use the same rubric do not make the choice harder.
    let mut versions: Vec<&str> = all.iter().map(|it| it.1.version().as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    match (versions.len(), all.first()) {
        (1, Some(only)) => Ok(Some(taken(only))),
        (_, None) => anyhow::bail!("`{}` holds no rubric", path.display()),
        _ => anyhow::bail!(
            "`{}` holds several rubrics; choose one with {flag}: {}",
            path.display(),
            names.join(", ")
        ),
    }
}
