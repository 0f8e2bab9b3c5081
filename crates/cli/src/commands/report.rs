use std::io::Write;
use std::time::Duration;

use super::Ended;
use super::judging::wait_for;
use super::kept::Runs;
use super::reporting::{Reporter, reporter, show, show_not_graded, summary};
use crate::render::columns;

/// Write a run that is kept in another format
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist report latest --reporter html=report.html
  jurist report run.json --reporter junit=results.xml --reporter md
A run is named by its id, the end of its id, `latest`, `previous` (or `latest~1`), or the path of a file.")]
pub struct Args {
    #[arg(value_name = "RUN")]
    run: String,
    /// pretty, json, ndjson, junit, md, html, tap, csv, sarif, gitlab, github or otel; to a file with FORMAT=FILE; may be
    /// given several times
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = reporter, required = true)]
    reporter: Vec<Reporter>,
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let run = wait_for(Runs::default().load(&args.run))?;
    for reporter in &args.reporter {
        if reporter.is_shown() {
            let mut out = crate::render::stdout();
            show(&mut out, &run, false, columns())?;
            writeln!(out, "{}", summary(&run, Duration::ZERO, None, columns()))?;
            show_not_graded(&mut out, &run)?;
        }
        reporter.write(&run, None)?;
    }
    Ok(Ended::Passed)
}
