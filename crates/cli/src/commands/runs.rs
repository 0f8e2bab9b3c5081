mod push;

use std::io::Write;
use std::time::Duration;

use jurist_core::diagnostic::closest;
use jurist_core::grade::{GraderKind, Outcome, Time};
use jurist_core::run::{CaseResult, Run, RunId, RunProvenance};
use jurist_store::runs::{RunFilter, RunHead};
use schemars::JsonSchema;
use serde::Serialize;

use self::push::{RunPushArgs, push_stored_run};
use crate::outcome::CommandOutcome;
use crate::render::{print_note, printable, terminal_columns};
use crate::reporting::{case_in_full, format_run_summary, show_not_graded, show_run};
use crate::runtime::wait_for;
use crate::stored_runs::StoredRuns;

/// List, show, send and delete stored runs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist runs list
  jurist runs list --branch main --tag nightly
  jurist runs show latest
  jurist runs show latest --case 'year-end balance' --prompts
  jurist runs push latest --server https://jurist.example.org

A run is named by its id, the end of its id, `latest`, `previous` (or
`latest~1`), or the path of a file.
Runs are stored in .jurist/jurist.db of the project, or in JURIST_STORE.")]
pub struct RunsArgs {
    #[command(subcommand)]
    what: RunsSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum RunsSubcommand {
    /// List runs, newest first
    #[command(after_help = "\
Examples:
  jurist runs list
  jurist runs list --branch main --tag nightly
  jurist runs list --suite support --format ndjson")]
    List(RunListArgs),
    /// Show one run, case by case
    #[command(after_help = "\
Examples:
  jurist runs show
  jurist runs show previous
  jurist runs show latest --case 'year-end balance' --prompts")]
    Show {
        /// Run: an id, the end of an id, `latest`, `previous`, or a file
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Show one case in full: prompt, tool calls, answer, and every grade, reason and quote
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// Also show all judge prompts and replies
        #[arg(long, requires = "case")]
        prompts: bool,
    },
    /// Send a finished run to a server
    Push(RunPushArgs),
    /// Delete a run
    #[command(after_help = "\
Examples:
  jurist runs rm previous")]
    Rm {
        /// Run: an id, the end of an id, `latest`, `previous`, or a file
        #[arg(value_name = "RUN")]
        run: String,
    },
}

/// Which runs are listed, and how.
#[derive(Debug, clap::Args)]
struct RunListArgs {
    /// Only runs of this suite
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Only runs of this branch
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Only runs of commits whose hash begins so
    #[arg(long, value_name = "HASH", value_parser = parse_commit_start)]
    commit: Option<String>,
    /// Only runs of this author
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Only runs with this tag; repeatable
    #[arg(long, value_name = "NAME")]
    tag: Vec<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: RunListFormat,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum RunListFormat {
    Text,
    /// A JSON object per line
    Ndjson,
}

pub fn parse_commit_start(text: &str) -> Result<String, String> {
    let is_start = (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_start.then(|| text.to_ascii_lowercase()).ok_or_else(|| "from 4 to 64 hexadecimal digits".to_owned())
}

impl RunListArgs {
    fn filter(&self) -> RunFilter {
        RunFilter {
            suite: self.suite.clone(),
            branch: self.branch.clone(),
            commit: self.commit.clone(),
            author: self.author.clone(),
            tags: self.tag.clone(),
            ..RunFilter::default()
        }
    }
}

/// A run in a list, as a line of JSON and as the MCP server returns it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunListLine {
    /// Id of the run
    id: RunId,
    /// Name of the suite
    suite: Option<String>,
    #[serde(flatten)]
    provenance: RunProvenance,
    /// When the run began
    started: Time,
    /// When the run ended; null while it runs
    ended: Option<Time>,
    /// Cases that passed
    n_pass: u64,
    /// Cases that failed
    n_fail: u64,
    /// Cases without a verdict, because a grader or the target failed
    n_error: u64,
    /// Cases that were not graded
    n_deferred: u64,
    /// Mean score from 0 to 1; null if nothing was scored
    score: Option<f64>,
    /// US dollars; calls without a known price count as 0
    cost_usd: f64,
}

impl From<RunHead> for RunListLine {
    fn from(head: RunHead) -> Self {
        Self {
            id: head.id,
            suite: head.suite,
            provenance: head.provenance,
            started: head.started,
            ended: head.ended,
            n_pass: head.n_pass,
            n_fail: head.n_fail,
            n_error: head.n_error,
            n_deferred: head.n_deferred,
            score: head.score,
            cost_usd: head.cost.nanos() as f64 / 1e9,
        }
    }
}

async fn list_stored_runs(runs: &StoredRuns, args: &RunListArgs) -> anyhow::Result<()> {
    let (filter, mut out) = (args.filter(), crate::render::stdout());
    let heads = runs.heads(&filter).await?;
    if heads.is_empty() {
        print_note(match filter == RunFilter::default() {
            true => "there are no stored runs; `jurist eval FILE` creates one",
            false => "no stored run matches; `jurist runs list` lists all",
        });
    }
    for run in heads {
        if matches!(args.format, RunListFormat::Ndjson) {
            writeln!(out, "{}", serde_json::to_string(&RunListLine::from(run))?)?;
            continue;
        }
        let suite = run.suite.as_deref().map(printable).unwrap_or_default();
        let open = if run.ended.is_none() { "  (not finished)" } else { "" };
        let origin = run.provenance.line();
        let origin = if origin.is_empty() { origin } else { format!("  {}", printable(&origin)) };
        writeln!(
            out,
            "{}  {}  {:>4} passed {:>4} failed {:>3} {:<6} {:>3} deferred  {suite}{origin}{open}",
            run.id,
            format_minute(run.started),
            run.n_pass,
            run.n_fail,
            run.n_error,
            if run.n_error == 1 { "error" } else { "errors" },
            run.n_deferred
        )?;
    }
    Ok(())
}

/// A time for a table, such as `2026-11-19 14:14 UTC`; `--format ndjson` has all digits.
fn format_minute(time: Time) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => text,
    }
}

pub fn run_runs_command(args: &RunsArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(run_runs_subcommand(&args.what))
}

async fn run_runs_subcommand(what: &RunsSubcommand) -> anyhow::Result<CommandOutcome> {
    let runs = StoredRuns::default();
    let mut out = crate::render::stdout();
    match what {
        RunsSubcommand::List(args) => list_stored_runs(&runs, args).await?,
        RunsSubcommand::Push(args) => return push_stored_run(&runs, args).await,
        RunsSubcommand::Show { run: name, case: None, .. } => {
            let run = runs.load(name).await?;
            show_run(&mut out, &run, false, terminal_columns())?;
            writeln!(out, "{}", format_run_summary(&run, Duration::ZERO, None, terminal_columns()))?;
            show_not_graded(&mut out, &run)?;
        }
        RunsSubcommand::Show { run: name, case: Some(case), prompts } => {
            let run = runs.load(name).await?;
            let result = find_case_result(&run, case)?;
            case_in_full(&mut out, &run, &result)?;
            let exchanges = if *prompts { runs.exchanges(name, case).await? } else { Vec::new() };
            if *prompts && exchanges.is_empty() {
                let is_judged = result.grades.iter().any(|grade| {
                    grade.grader.kind == GraderKind::Judge
                        && !matches!(grade.outcome, Outcome::Deferred { .. } | Outcome::Failed { .. })
                });
                let what = match is_judged {
                    true => "the prompts of its judges are not stored",
                    false => "no judge was asked about this case",
                };
                writeln!(out, "    {what}")?;
            }
            for exchange in exchanges {
                writeln!(out, "\n\x1b[1m{}, asked of {}\x1b[0m", exchange.criterion, exchange.request.model)?;
                let parts = exchange.request.messages.iter().flat_map(|message| &message.parts);
                for text in std::iter::once(&exchange.request.system).chain(parts) {
                    writeln!(out, "{}\n", printable(text.trim_end()))?;
                }
                match &exchange.reply {
                    Ok(reply) => writeln!(out, "\x1b[1mreply\x1b[0m\n{}", printable(reply.trim_end()))?,
                    Err(error) => writeln!(out, "\x1b[1mno reply\x1b[0m: {}", printable(error))?,
                }
            }
        }
        RunsSubcommand::Rm { run } => runs.remove(run).await?,
    }
    Ok(CommandOutcome::Passed)
}

/// The result of a case, by its name.
pub fn find_case_result(run: &Run, name: &str) -> anyhow::Result<CaseResult> {
    run.results.iter().find(|result| result.case == name).ok_or_else(|| {
        let names: Vec<String> = run.results.iter().map(|result| result.case).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        anyhow::anyhow!("the run has no case `{name}`{}", suggest_case_name(name, &names))
    })
}

/// The largest number of suggested names if no case has a similar name.
const MAX_SUGGESTED_NAMES: usize = 5;

/// The case that is probably meant: the most similar name, or those that contain the text, or else the first ones.
fn suggest_case_name(written: &str, names: &[&str]) -> String {
    if let Some(meant) = closest(written, names) {
        return format!("; did you mean `{meant}`?");
    }
    let folded = written.to_lowercase();
    let containing: Vec<&str> =
        names.iter().filter(|name| name.to_lowercase().contains(&folded)).copied().collect();
    let suggested = if containing.is_empty() { names } else { containing.as_slice() };
    if suggested.is_empty() {
        return String::new();
    }
    let list: Vec<String> =
        suggested.iter().take(MAX_SUGGESTED_NAMES).map(|name| format!("`{name}`")).collect();
    let more = if MAX_SUGGESTED_NAMES < suggested.len() { ", …" } else { "" };
    format!("; there are {}{more}", list.join(", "))
}
