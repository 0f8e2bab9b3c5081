use std::io::Write;

use anyhow::Context;
use jurist_core::diagnostic::closest;
use jurist_core::report::{
    CaseChange, ChangeFilter, FailedRunGate, RunTally, build_comparison_forest, comparison_markdown,
    list_case_changes, shared_score_scale,
};
use jurist_core::run::Run;
use jurist_core::stats::comparison::{Comparison, compare_runs};

use crate::outcome::CommandOutcome;
use crate::picture::{ChartFile, parse_chart_file};
use crate::render;
use crate::reporting::case_changes::{show_case_change, write_case_change_markdown};
use crate::reporting::comparison::{find_excessive_drop, show_caveats, show_comparison};
use crate::reporting::printable_line;
use crate::running::gates::{RunGateArgs, parse_accepted_drop};
use crate::runtime::wait_for;
use crate::stored_runs::StoredRuns;

/// Compare two runs and test the difference
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist compare baseline.json latest
  jurist compare 4f0c21 9b11d0 --max-drop 0.02
  jurist compare previous latest --fail-on-regression --min-pass-rate 0.9
  jurist compare before.json after.json --show worse
  jurist compare before.json after.json --show different-answer --format json
  jurist compare before.json after.json --chart differences.png

Runs are paired case by case. A run is named by its id, the end of its id,
`latest`, `previous` (or `latest~1`), or the path of a file.

Exit codes: 0; 1 if the score dropped significantly by more than --max-drop, a
case regressed under --fail-on-regression, or the pass rate is below
--min-pass-rate; 3 if it cannot be decided whether a case regressed.")]
pub struct CompareArgs {
    /// Run to compare with (the baseline)
    #[arg(value_name = "BEFORE")]
    before: String,
    /// New run
    #[arg(value_name = "AFTER")]
    after: String,
    /// Fail if the score has dropped significantly by more than this
    #[arg(long, value_name = "DROP", value_parser = parse_accepted_drop)]
    max_drop: Option<f64>,
    #[command(flatten)]
    gates: RunGateArgs,
    /// Cases to show side by side: verdict (it changed), worse or better (by verdict or score), different-answer
    /// (with the same verdict), undecided (one of the two has no verdict), all
    #[arg(long, value_name = "CASES", default_value = "verdict", value_parser = parse_change_filter)]
    show: ChangeFilter,
    /// Show only this case
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: CompareOutputFormat,
    /// Write a chart of the differences, as .svg or .png
    #[arg(long, value_name = "FILE", value_parser = parse_chart_file)]
    chart: Option<ChartFile>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum CompareOutputFormat {
    Text,
    Json,
    Md,
}

pub fn run_compare_command(args: &CompareArgs) -> anyhow::Result<CommandOutcome> {
    let side_by_side = wait_for(compare_stored_runs(
        &StoredRuns::default(),
        &args.before,
        &args.after,
        args.show,
        args.case.as_deref(),
    ))?;
    let RunsSideBySide { after, compared, changes } = &side_by_side;
    let (mut out, scale) = (render::stdout(), shared_score_scale(after));
    match args.format {
        CompareOutputFormat::Json => writeln!(out, "{}", serde_json::to_string_pretty(&side_by_side)?)?,
        CompareOutputFormat::Text => {
            show_caveats(&mut out, compared)?;
            for change in changes {
                show_case_change(&mut out, change, scale)?;
            }
            // By default, a comparison in which no verdict changed needs no further line.
            if changes.is_empty() && args.show != ChangeFilter::Verdict {
                render::print_note("no case matches --show");
            }
            show_comparison(&mut out, compared, after, false)?;
        }
        CompareOutputFormat::Md => {
            write!(out, "{}", comparison_markdown(compared, scale))?;
            for change in changes {
                write_case_change_markdown(&mut out, change, scale)?;
            }
        }
    }
    if let Some(picture) = &args.chart {
        let chart = build_comparison_forest(compared, after)
            .context("there is no chart: no case has a verdict in both runs with the same rubric")?;
        picture.draw(&chart)?;
    }
    let drop = args.max_drop.and_then(|max_drop| find_excessive_drop(compared, after, max_drop));
    let decision = args.gates.decide(Some(&compared.regressions), RunTally::of(after), after.results.len());
    for line in decision.failed.iter().chain(&drop).flat_map(FailedRunGate::lines) {
        render::print_note(&printable_line(&line));
    }
    Ok(if drop.is_some() { CommandOutcome::Failed } else { decision.ended.unwrap_or(CommandOutcome::Passed) })
}

pub fn parse_change_filter(text: &str) -> Result<ChangeFilter, String> {
    let known = ChangeFilter::ALL.iter().find(|(name, _)| *name == text).map(|(_, filter)| *filter);
    let names = || ChangeFilter::ALL.map(|(name, _)| name).join(", ");
    known.ok_or_else(|| format!("one of {}", names()))
}

/// A comparison with the requested cases, side by side.
#[derive(serde::Serialize)]
pub struct RunsSideBySide {
    #[serde(skip)]
    pub after: Run,
    #[serde(flatten)]
    pub compared: Comparison,
    #[serde(rename = "cases")]
    pub changes: Vec<CaseChange>,
}

/// Compares two runs by their names; `case` is shown alone, also if it did not change.
pub async fn compare_stored_runs(
    runs: &StoredRuns,
    before: &str,
    after: &str,
    show: ChangeFilter,
    case: Option<&str>,
) -> anyhow::Result<RunsSideBySide> {
    let (before, after) = (runs.load(before).await?, runs.load(after).await?);
    let compared = compare_runs(&before, &after, after.seed);
    let changes = select_changes(show, case, &before, &after)?;
    Ok(RunsSideBySide { after, compared, changes })
}

fn select_changes(
    show: ChangeFilter,
    case: Option<&str>,
    before: &Run,
    after: &Run,
) -> anyhow::Result<Vec<CaseChange>> {
    let Some(name) = case else { return Ok(list_case_changes(before, after, show)) };
    let mut changes = list_case_changes(before, after, ChangeFilter::All);
    let names: Vec<String> = changes.iter().map(|change| change.case.clone()).collect();
    changes.retain(|change| change.case == name);
    if changes.is_empty() {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let meant = closest(name, &names).map(|meant| format!("; did you mean `{meant}`?"));
        anyhow::bail!("no case `{name}` is in both runs{}", meant.unwrap_or_default());
    }
    Ok(changes)
}
