use std::io::Write;
use std::time::Duration;

use super::CommandOutcome;
use super::judging::wait_for;
use super::reporting::{Reporter, format_run_summary, reporter, show_not_graded, show_run};
use super::stored_runs::StoredRuns;
use crate::render::terminal_columns;

/// Export a stored run to another format
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist report latest --reporter html=report.html
  jurist report run.json --reporter junit=results.xml --reporter md

A run is named by its id, the end of its id, `latest`, `previous` (or
`latest~1`), or the path of a file.")]
pub struct ReportArgs {
    /// Run to export
    #[arg(value_name = "RUN")]
    run: String,
    /// Format: pretty, json, ndjson, junit, md, html, tap, csv, sarif, gitlab, github or otel; FORMAT=FILE
    /// writes to a file; repeatable
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = reporter, required = true)]
    reporter: Vec<Reporter>,
}

pub fn run_report_command(args: &ReportArgs) -> anyhow::Result<CommandOutcome> {
    let run = wait_for(StoredRuns::default().load(&args.run))?;
    for reporter in &args.reporter {
        if reporter.is_shown() {
            let mut out = crate::render::stdout();
            show_run(&mut out, &run, false, terminal_columns())?;
            writeln!(out, "{}", format_run_summary(&run, Duration::ZERO, None, terminal_columns()))?;
            show_not_graded(&mut out, &run)?;
        }
        reporter.write(&run, None)?;
    }
    Ok(CommandOutcome::Passed)
}
