use std::io::Write;
use std::time::Duration;

use jurist_core::report::{ReportContext, RunBaseline};
use jurist_core::stats::comparison::compare_runs;

use crate::outcome::CommandOutcome;
use crate::render::terminal_columns;
use crate::reporting::{Reporter, format_run_summary, reporter, show_not_graded, show_run};
use crate::runtime::wait_for;
use crate::stored_runs::StoredRuns;

/// Export a stored run to another format
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist report latest --reporter html=report.html
  jurist report run.json --reporter junit=results.xml --reporter md
  jurist report latest --baseline main.json --reporter pr-comment=comment.md

A run is named by its id, the end of its id, `latest`, `previous` (or
`latest~1`), or the path of a file.")]
pub struct ReportArgs {
    /// Run to export
    #[arg(value_name = "RUN")]
    run: String,
    /// Format: pretty, json, ndjson, junit, md, html, tap, csv, sarif, gitlab, github, pr-comment or otel;
    /// FORMAT=FILE writes to a file; repeatable
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = reporter, required = true)]
    reporter: Vec<Reporter>,
    /// Compare with this run, for reports that say what changed: md, json, github and pr-comment
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
}

pub fn run_report_command(args: &ReportArgs) -> anyhow::Result<CommandOutcome> {
    let (run, before) = wait_for(async {
        let runs = StoredRuns::default();
        let before = match &args.baseline {
            Some(name) => Some(runs.load(name).await?),
            None => None,
        };
        Ok((runs.load(&args.run).await?, before))
    })?;
    let compared = before.as_ref().map(|before| compare_runs(before, &run, run.seed));
    let baseline =
        before.as_ref().zip(compared.as_ref()).map(|(run, compared)| RunBaseline { run, compared });
    let context = ReportContext { baseline, ..ReportContext::default() };
    for reporter in &args.reporter {
        if reporter.is_shown() {
            let mut out = crate::render::stdout();
            show_run(&mut out, &run, false, terminal_columns())?;
            writeln!(out, "{}", format_run_summary(&run, Duration::ZERO, None, terminal_columns()))?;
            show_not_graded(&mut out, &run)?;
        }
        reporter.write(&run, context)?;
    }
    Ok(CommandOutcome::Passed)
}
