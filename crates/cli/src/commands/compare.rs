use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::Context;
use jurist_core::diagnostic::closest;
use jurist_core::grade::VerdictStatus;
use jurist_core::quantity::plural;
use jurist_core::report::{
    CaseChange, ChangeFilter, RunTally, build_comparison_forest, comparison_markdown, list_case_changes,
    regression_lines, variant_in_words,
};
use jurist_core::run::Run;
use jurist_core::stats::{Comparison, Difference, WORTH_SEEING, compare_runs};

use super::CommandOutcome;
use super::case_changes::{show_case_change, write_case_change_markdown};
use super::gates::RunGateArgs;
use super::judging::wait_for;
use super::reporting::{last_line_reason, list_case_reasons, printable_line};
use super::stored_runs::StoredRuns;
use crate::picture::{ChartFile, parse_chart_file};
use crate::render;

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
    #[arg(long, value_name = "DROP")]
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
    let mut out = render::stdout();
    match args.format {
        CompareOutputFormat::Json => writeln!(out, "{}", serde_json::to_string_pretty(&side_by_side)?)?,
        CompareOutputFormat::Text => {
            for change in changes {
                show_case_change(&mut out, change)?;
            }
            show_comparison(&mut out, compared, None)?;
        }
        CompareOutputFormat::Md => {
            write!(out, "{}", comparison_markdown(compared))?;
            for change in changes {
                write_case_change_markdown(&mut out, change)?;
            }
        }
    }
    if let Some(picture) = &args.chart {
        let chart = build_comparison_forest(compared)
            .context("there is no chart: no case has a verdict in both runs with the same rubric")?;
        picture.draw(&chart)?;
    }
    let dropped = args.max_drop.is_some_and(|max_drop| drop_is_shown(compared, max_drop));
    let decision = args.gates.decide(Some(&compared.regressions), RunTally::of(after), after.results.len());
    for reason in &decision.reasons {
        render::print_note(&printable_line(reason));
    }
    Ok(if dropped { CommandOutcome::Failed } else { decision.ended.unwrap_or(CommandOutcome::Passed) })
}

pub fn parse_change_filter(text: &str) -> Result<ChangeFilter, String> {
    let known = ChangeFilter::ALL.iter().find(|known| known.0 == text).map(|known| known.1);
    let names = || ChangeFilter::ALL.map(|known| known.0).join(", ");
    known.ok_or_else(|| format!("one of {}", names()))
}

/// A comparison with the cases that were asked for, side by side.
#[derive(serde::Serialize)]
pub struct RunsSideBySide {
    #[serde(skip)]
    after: Run,
    #[serde(flatten)]
    pub compared: Comparison,
    #[serde(rename = "cases")]
    pub changes: Vec<CaseChange>,
}

/// Compares two runs by their names; `case` is shown alone, whatever became of it.
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

/// A drop that is larger than allowed, wherever in its interval the truth lies.
pub fn drop_is_shown(compared: &Comparison, most: f64) -> bool {
    let is_larger = |difference: &Difference| {
        difference.is_shown() && difference.interval.is_some_and(|(_, high)| high < -most)
    };
    compared.score.as_ref().is_some_and(is_larger)
}

/// The figures, what they support, and with `after` the cases whose verdict changed.
pub fn show_comparison(
    out: &mut impl Write,
    compared: &Comparison,
    after: Option<&Run>,
) -> anyhow::Result<()> {
    for caveat in &compared.caveats {
        writeln!(out, "\x1b[33m{caveat}\x1b[0m")?;
    }
    let rows: Vec<(&str, &Difference)> = [("score", &compared.score), ("pass rate", &compared.pass_rate)]
        .into_iter()
        .filter_map(|(name, difference)| Some((name, difference.as_ref()?)))
        // A rubric of one question has nothing to add.
        .chain(
            compared
                .criteria
                .iter()
                .filter(|_| 1 < compared.criteria.len())
                .map(|(name, difference)| (name.as_str(), difference)),
        )
        .collect();
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0).clamp(9, 40);
    if !rows.is_empty() {
        let title = format!("{:<width$}  cases  before  after  difference", "");
        writeln!(out, "\x1b[1m{title}\x1b[0m")?;
    }
    for (name, it) in rows {
        let interval = match it.interval {
            Some(_) if it.differs_nowhere() => "  (no case differs)".to_owned(),
            Some((low, high)) => format!("  ({low:+.3} to {high:+.3})"),
            None => String::new(),
        };
        let (colour, shown) = match it.is_shown() {
            true if it.difference < 0.0 => ("31", " worse"),
            true => ("32", " better"),
            false => ("2", ""),
        };
        let name: String = printable_line(name).chars().take(width).collect();
        writeln!(
            out,
            "{name:<width$}  {:>5}  {:>6.3} {:>6.3}  \x1b[{colour}m{:>+10.3}{interval}{shown}\x1b[0m",
            it.n, it.before, it.after, it.difference
        )?;
    }
    if let Some(after) = after {
        show_changed_verdicts(out, compared, after)?;
    }
    let left_out = [
        (compared.only_before.len(), "only before"),
        (compared.only_after.len(), "only after"),
        (compared.undecided.len(), "without a verdict in one of them"),
    ];
    let left_out: Vec<String> = left_out
        .iter()
        .filter(|left_out| 0 < left_out.0)
        .map(|(n, why)| format!("{} {why}", plural(*n, "case")))
        .collect();
    if !left_out.is_empty() {
        writeln!(out, "left out of score and pass rate: {}", left_out.join(", "))?;
    }
    for text in regression_lines(&compared.regressions) {
        writeln!(out, "{}", printable_line(&text))?;
    }
    match &compared.score {
        Some(score) => writeln!(out, "{}", score.sentence("score", WORTH_SEEING))?,
        None => writeln!(
            out,
            "No case has a verdict in both runs with the same rubric, so scores are not compared."
        )?,
    }
    Ok(())
}

/// A line for each case whose verdict changed, with the reasons of those that do not pass.
fn show_changed_verdicts(out: &mut impl Write, compared: &Comparison, after: &Run) -> anyhow::Result<()> {
    let worse = compared.changed.iter().filter(|status_change| status_change.after != VerdictStatus::Pass);
    let worse: BTreeSet<&str> = worse.map(|status_change| status_change.case.as_str()).collect();
    let last_reason = last_line_reason(after);
    let why: BTreeMap<String, Vec<String>> = after
        .results
        .iter()
        .filter(|result| worse.contains(result.case.as_str()))
        .map(|result| (result.case.clone(), list_case_reasons(after, &result, last_reason.as_deref())))
        .collect();
    for change in &compared.changed {
        let colour = match change.after {
            VerdictStatus::Pass => "32",
            VerdictStatus::Fail => "31",
            VerdictStatus::Error | VerdictStatus::Deferred => "33",
        };
        let score = |it: Option<f64>| it.map_or("–".to_owned(), |value| format!("{value:.2}"));
        writeln!(
            out,
            "\x1b[{colour}m{}\x1b[0m  {} → {}  {} → {}",
            printable_line(&change.case),
            variant_in_words(&change.before),
            variant_in_words(&change.after),
            score(change.score_before),
            score(change.score_after)
        )?;
        for reason in why.get(&change.case).into_iter().flatten() {
            writeln!(out, "    {}", printable_line(reason))?;
        }
    }
    Ok(())
}
