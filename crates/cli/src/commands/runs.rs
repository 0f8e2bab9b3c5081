use std::io::Write;
use std::time::Duration;

use jurist_core::diagnostic::closest;
use jurist_core::report::Tally;
use jurist_engine::runs::Runs;

use super::Ended;
use super::reporting::{case_in_full, show, summary};
use crate::render::printable;

/// Look at runs that are kept
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist runs list
  jurist runs show latest
  jurist runs show latest --case 'year-end balance' --prompts
A run is named by its id, the end of its id, `latest`, or the path of a file. They are kept in `.jurist/runs`.")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// All runs, the newest first
    List,
    /// One run, case by case
    Show {
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// One case in full: every answer, reason and quote
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// And everything its judges were asked and said
        #[arg(long, requires = "case")]
        prompts: bool,
    },
    /// Throw a run away
    Rm {
        #[arg(value_name = "RUN")]
        run: String,
    },
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let runs = Runs::of_project(&std::path::absolute(".")?);
    let mut out = anstream::stdout();
    match &args.what {
        What::List => {
            for name in runs.names() {
                match runs.load(&name) {
                    Ok(run) => {
                        let Tally { passed, failed, errors, deferred } = Tally::of(&run);
                        let suite = run.suite.as_deref().unwrap_or_default();
                        let open = if run.ended.is_none() { "  (not finished)" } else { "" };
                        writeln!(
                            out,
                            "{name}  {}  {passed:>4} passed {failed:>4} failed {errors:>3} errors {deferred:>3} deferred  {suite}{open}",
                            run.started
                        )?;
                    }
                    Err(error) => writeln!(out, "{name}  {error}")?,
                }
            }
        }
        What::Show { run: name, case: None, .. } => {
            let run = runs.load(name)?;
            show(&mut out, &run, false)?;
            writeln!(out, "{}", summary(&run, Duration::ZERO, None))?;
        }
        What::Show { run: name, case: Some(case), prompts } => {
            let run = runs.load(name)?;
            let names: Vec<&str> = run.results.iter().map(|it| it.case.as_str()).collect();
            let Some(result) = run.results.iter().find(|it| it.case == *case) else {
                let meant = closest(case, &names).map(|it| format!("; did you mean `{it}`?"));
                anyhow::bail!("the run has no case `{case}`{}", meant.unwrap_or_default());
            };
            case_in_full(&mut out, &run, result)?;
            for exchange in if *prompts { runs.exchanges(name, case)? } else { Vec::new() } {
                writeln!(out, "\n\x1b[1m{}, asked of {}\x1b[0m", exchange.criterion, exchange.request.model)?;
                let parts = exchange.request.messages.iter().flat_map(|it| &it.parts);
                for text in std::iter::once(&exchange.request.system).chain(parts) {
                    writeln!(out, "{}\n", printable(text.trim_end()))?;
                }
                match &exchange.reply {
                    Ok(reply) => writeln!(out, "\x1b[1mit said\x1b[0m\n{}", printable(reply.trim_end()))?,
                    Err(error) => writeln!(out, "\x1b[1mno reply\x1b[0m: {}", printable(error))?,
                }
            }
        }
        What::Rm { run } => runs.remove(run)?,
    }
    Ok(Ended::Passed)
}
