use std::io::Write;
use std::time::Duration;

use jurist_core::diagnostic::closest;
use jurist_core::run::{CaseResult, Run};

use super::CommandOutcome;
use super::judging::wait_for;
use super::reporting::{case_in_full, format_run_summary, show_not_graded, show_run};
use super::stored_runs::StoredRuns;
use crate::render::{print_note, printable, terminal_columns};

/// List, show and delete stored runs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist runs list
  jurist runs show latest
  jurist runs show latest --case 'year-end balance' --prompts

A run is named by its id, the end of its id, `latest`, `previous` (or
`latest~1`), or the path of a file.
Runs are stored in .jurist/jurist.db of the project, or in JURIST_STORE.")]
pub struct RunsArgs {
    #[command(subcommand)]
    what: RunsSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum RunsSubcommand {
    /// List all runs, newest first
    List,
    /// Show one run, case by case
    Show {
        /// Run: an id, the end of an id, `latest`, `previous`, or a file
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Show one case in full: every grade, reason and quote
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// Also show all judge prompts and replies
        #[arg(long, requires = "case")]
        prompts: bool,
    },
    /// Delete a run
    Rm {
        /// Run: an id, the end of an id, `latest`, `previous`, or a file
        #[arg(value_name = "RUN")]
        run: String,
    },
}

pub fn run_runs_command(args: &RunsArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(run_runs_subcommand(&args.what))
}

async fn run_runs_subcommand(what: &RunsSubcommand) -> anyhow::Result<CommandOutcome> {
    let runs = StoredRuns::default();
    let mut out = crate::render::stdout();
    match what {
        RunsSubcommand::List => {
            let heads = runs.heads().await?;
            if heads.is_empty() {
                print_note("there are no stored runs; `jurist eval FILE` creates one");
            }
            for run in heads {
                let suite = run.suite.as_deref().map(printable).unwrap_or_default();
                let open = if run.ended.is_none() { "  (not finished)" } else { "" };
                writeln!(
                    out,
                    "{}  {}  {:>4} passed {:>4} failed {:>3} {:<6} {:>3} deferred  {suite}{open}",
                    run.id,
                    run.started,
                    run.n_pass,
                    run.n_fail,
                    run.n_error,
                    if run.n_error == 1 { "error" } else { "errors" },
                    run.n_deferred
                )?;
            }
        }
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
            for exchange in if *prompts { runs.exchanges(name, case).await? } else { Vec::new() } {
                writeln!(out, "\n\x1b[1m{}, asked of {}\x1b[0m", exchange.criterion, exchange.request.model)?;
                let parts = exchange.request.messages.iter().flat_map(|message| &message.parts);
                for text in std::iter::once(&exchange.request.system).chain(parts) {
                    writeln!(out, "{}\n", printable(text.trim_end()))?;
                }
                match &exchange.reply {
                    Ok(reply) => writeln!(out, "\x1b[1mit said\x1b[0m\n{}", printable(reply.trim_end()))?,
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
        let meant = closest(name, &names).map(|closest| format!("; did you mean `{closest}`?"));
        anyhow::anyhow!("the run has no case `{name}`{}", meant.unwrap_or_default())
    })
}
