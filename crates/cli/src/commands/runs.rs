use std::io::Write;
use std::time::Duration;

use jurist_core::report::Tally;
use jurist_engine::runs::Runs;

use super::Ended;
use super::reporting::{Reporter, reporter, show, summary};

/// Look at runs that are kept, and write them again in any format
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist runs list
  jurist runs show latest
  jurist runs report latest --reporter junit=results.xml
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
    },
    /// Write a run in another format
    Report {
        #[arg(value_name = "RUN")]
        run: String,
        /// json, ndjson, junit, md, tap, csv or html; to a file with FORMAT=FILE
        #[arg(long, value_name = "FORMAT[=FILE]", value_parser = reporter, required = true)]
        reporter: Vec<Reporter>,
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
        What::Show { run } => {
            let run = runs.load(run)?;
            show(&mut out, &run)?;
            writeln!(out, "{}", summary(&run, Duration::ZERO))?;
        }
        What::Report { run, reporter } => {
            let run = runs.load(run)?;
            for reporter in reporter {
                reporter.write(&run)?;
            }
        }
        What::Rm { run } => runs.remove(run)?,
    }
    Ok(Ended::Passed)
}
