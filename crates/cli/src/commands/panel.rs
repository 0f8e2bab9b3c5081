use std::io::Write;
use std::path::PathBuf;

use jurist_core::chart::{Chart, MatrixChart};
use jurist_core::grade::Grade;
use jurist_core::quantity::plural;
use jurist_core::stats::agreement::Ratings;
use jurist_core::stats::basics::CoefficientResult;
use jurist_core::stats::consensus::{Panel, QuestionConsensus, compute_consensus, evaluate_panel};
use serde_json::json;

use crate::database::DatabaseArgs;
use crate::grades::agreement::{LevelName, format_measure};
use crate::grades::criterion_ratings::{CriterionRatings, group_ratings_by_criterion};
use crate::grades::{
    AnalysisOutputArgs, filter_by_criterion, list_criteria, read_grade_set, read_with_scales,
};
use crate::outcome::CommandOutcome;
use crate::reporting::printable_line;

/// Analyse a panel of graders: consensus, reliability, value
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist panel ratings.csv                  Consensus and reliability per grader
  jurist panel latest --truth labels.csv    Correlated errors; redundant graders
  jurist panel latest --truth labels.csv --json

The consensus is computed by majority and by the Dawid–Skene model, which
weights each grader by its estimated reliability.
Files are read as by `jurist agree`.")]
pub struct PanelArgs {
    /// Runs, grades, annotation exports or tables of several graders
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Correct labels for at least some candidates; several labels are decided by majority
    #[arg(long, value_name = "FILE")]
    truth: Vec<PathBuf>,
    /// Level of measurement
    #[arg(long, value_name = "LEVEL")]
    level: Option<LevelName>,
    /// Use only this criterion
    #[arg(long, value_name = "NAME")]
    criterion: Option<String>,
    /// Use only this annotation task; required if the data has several
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

/// Marks graders whose word is taken for the truth.
const TRUTH: &str = " (truth)";

pub fn run_panel_command(args: &PanelArgs) -> anyhow::Result<CommandOutcome> {
    // The annotation task is that of the people: of the labels if there are some, otherwise of the members.
    let (task_of_truth, task_of_members) = match args.truth.is_empty() {
        true => (None, args.task.as_deref()),
        false => (args.task.as_deref(), None),
    };
    let (grades, declared) = read_with_scales(&args.files, task_of_members, &args.place)?;
    let truth = match args.truth.is_empty() {
        true => Vec::new(),
        false => read_grade_set(&args.truth, task_of_truth, &list_criteria(&grades), &args.place)?.grades,
    };
    let marked = truth.into_iter().map(|mut grade| {
        grade.grader.name.push_str(TRUTH);
        grade
    });
    let all: Vec<Grade> = grades.into_iter().chain(marked).collect();
    let all = filter_by_criterion(all, args.criterion.as_deref(), &args.output)?;
    let mut out = crate::render::stdout();
    let (mut report, mut has_consensus) = (Vec::new(), false);
    for rated in group_ratings_by_criterion(&all, args.level.map(Into::into), None, &declared)? {
        let is_truth = |index: &usize| rated.ratings.raters()[*index].ends_with(TRUTH);
        let (truth, members): (Vec<usize>, Vec<usize>) = (0..rated.ratings.n_raters()).partition(is_truth);
        let panelists = rated.ratings.of_raters(&members);
        let together = match members.len() {
            0 | 1 => Err("a panel needs at least two graders".to_owned()),
            _ => compute_consensus(&panelists).map_err(|why| why.to_string()),
        };
        let right = right_answers(&rated.ratings, &truth);
        let worth = (!truth.is_empty()).then(|| evaluate_panel(&panelists, &right, rated.level));
        has_consensus |= together.is_ok();
        if args.output.json {
            let undefined = |why: &str| json!({ "undefined": why });
            let worth =
                worth.map(|worth| worth.map_or_else(|why| undefined(&why.to_string()), |panel| json!(panel)));
            let together =
                together.map_or_else(|why| undefined(&why), |question_consensus| json!(question_consensus));
            report.push(json!({
                "criterion": rated.criterion, "together": together, "worth": worth,
                "n_repeated": rated.n_repeated,
            }));
            continue;
        }
        match &together {
            Ok(it) => show_panel_consensus(&mut out, &rated, &panelists, it)?,
            Err(why) => {
                writeln!(out, "\x1b[1m{}\x1b[0m  {why}", printable_line(rated.criterion))?;
                continue;
            }
        }
        match &worth {
            Some(Ok(it)) => show_panel_accuracy(&mut out, it)?,
            Some(Err(why)) => writeln!(out, "  {why}")?,
            None => writeln!(out, "  Add --truth FILE to measure accuracy and correlated errors.")?,
        }
        writeln!(out)?;
        if let (Some(picture), Some(Ok(worth))) = (&args.output.chart, &worth) {
            picture.draw(&build_error_chart(rated.criterion, &panelists, worth))?;
        }
    }
    if args.output.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    }
    Ok(if has_consensus { CommandOutcome::Passed } else { CommandOutcome::BadInput })
}

/// The true answer for each item: the majority of the graders of `--truth`; none if there is no majority.
fn right_answers(ratings: &Ratings, truth: &[usize]) -> Vec<Option<usize>> {
    let right = |item: usize| {
        let mut counts = vec![0_usize; ratings.n_answers()];
        truth.iter().filter_map(|truth| ratings.get(item, *truth)).for_each(|index| counts[index] += 1);
        let most = counts.iter().copied().max().filter(|count| 0 < *count)?;
        let mut winners = counts.iter().enumerate().filter(|(_, count)| **count == most);
        winners.next().filter(|_| winners.next().is_none()).map(|(answer, _)| answer)
    };
    (0..ratings.n_items()).map(right).collect()
}

fn show_panel_consensus(
    out: &mut impl Write,
    rated: &CriterionRatings<'_>,
    ratings: &Ratings,
    it: &QuestionConsensus,
) -> anyhow::Result<()> {
    let n_alone = it.items.iter().filter(|item| item.n < 2).count();
    let n_tied = it.items.iter().filter(|item| item.majority.is_none()).count() - n_alone;
    let overruled: Vec<&str> = it
        .items
        .iter()
        .filter(|item| item.majority.as_ref().is_some_and(|majority| *majority != item.answer))
        .map(|item| item.item.as_str())
        .collect();
    writeln!(
        out,
        "\x1b[1m{}\x1b[0m  {}, {}",
        printable_line(rated.criterion),
        plural(ratings.n_raters(), "grader"),
        plural(it.items.len(), "candidate")
    )?;
    for note in rated.notes() {
        writeln!(out, "  {note}")?;
    }
    let names = ratings.raters().iter().map(|rater| printable_line(rater)).collect::<Vec<_>>();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).clamp(8, 40);
    writeln!(out, "  {:<width$}  with the majority  reliability", "")?;
    for (rater, name) in ratings.raters().iter().zip(&names) {
        let percent =
            |it: Option<&f64>| it.map_or("–".to_owned(), |value| format!("{:.0} %", value * 100.0));
        let (majority, reliability) =
            (percent(it.with_majority.get(rater)), percent(it.reliability.get(rater)));
        writeln!(out, "  {name:<width$}  {majority:>17}  {reliability:>11}")?;
    }
    let were = |n: usize| plural(n, "candidate") + if n == 1 { " was" } else { " were" };
    let tied = match n_tied {
        0 => String::new(),
        n => format!(" {} have a tie.", plural(n, "candidate")),
    };
    let overruled = match overruled.as_slice() {
        [] => "The reliability-weighted consensus equals the majority.".to_owned(),
        some => format!(
            "The reliability-weighted consensus differs from the majority on {}: {}{}.",
            plural(some.len(), "candidate"),
            some.iter().take(5).map(|it| printable_line(it)).collect::<Vec<_>>().join(", "),
            if 5 < some.len() { ", …" } else { "" }
        ),
    };
    let alone = match n_alone {
        0 => String::new(),
        n => format!(" {} with one grader only have no majority.", were(n)),
    };
    writeln!(out, "  {overruled}{tied}{alone}")?;
    Ok(())
}

fn show_panel_accuracy(out: &mut impl Write, it: &Panel) -> anyhow::Result<()> {
    writeln!(out, "  compared with the truth on {}", plural(it.n_items, "candidate"))?;
    writeln!(out, "  majority is right       {}", format_measure(&it.accuracy))?;
    writeln!(out, "  independent votes       {}", format_measure(&it.effective_votes))?;
    for member in &it.members {
        let gain = member.gain(it).map(|gain| format!("  adds {gain:+.3}")).unwrap_or_default();
        writeln!(out, "  {:<24}{}{gain}", printable_line(&member.rater), format_measure(&member.accuracy))?;
    }
    for pair in &it.pairs {
        let names =
            format!("{} and {} err together", printable_line(&pair.raters.0), printable_line(&pair.raters.1));
        writeln!(out, "  {names:<40} {}", format_measure(&pair.correlation))?;
    }
    let n = it.members.len();
    if let CoefficientResult::Known(votes) = &it.effective_votes {
        let idle: Vec<String> = it
            .members
            .iter()
            .filter(|member| 2 < n && member.gain(it).is_some_and(|gain| gain <= 0.0))
            .map(|member| printable_line(&member.rater))
            .collect();
        let idle = match idle.as_slice() {
            [] => String::new(),
            some => format!(" Without {} the majority is at least as accurate.", some.join(" or ")),
        };
        writeln!(out, "  These {n} are worth {:.1} independent votes.{idle}", votes.value)?;
    }
    Ok(())
}

/// Which two err together.
fn build_error_chart(criterion: &str, ratings: &Ratings, it: &Panel) -> Chart {
    let title = format!("Correlation of errors on {criterion}");
    let pairs = it.pairs.iter().map(|pair| (&pair.raters, pair.correlation.value()));
    Chart::Matrix(MatrixChart::of_pairs(title, ratings.raters(), pairs))
}
