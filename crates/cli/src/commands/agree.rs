use std::io::Write;
use std::path::PathBuf;

use jurist_core::chart::{Chart, MatrixChart};
use jurist_core::grade::{Grade, Outcome};
use jurist_core::quantity::plural;
use jurist_core::stats::agreement::{
    Agreement, AlphaWithoutGrader, Level, MOST_RATERS, conclude_agreement, measure_agreement,
};
use jurist_core::stats::basics::CoefficientResult;

use crate::database::DatabaseArgs;
use crate::grades::agreement::{LevelName, format_measure, kappa_for_level};
use crate::grades::candidate_scores::parse_scale_ends;
use crate::grades::criterion_ratings::{CriterionRatings, group_ratings_by_criterion};
use crate::grades::{
    AnalysisOutputArgs, are_final_labels, filter_by_criterion, read_with_parts, sort_for_resampling,
};
use crate::outcome::CommandOutcome;
use crate::reporting::printable_line;

/// Measure agreement between graders, per criterion
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist agree ratings.jsonl
  jurist agree annotations.csv --level interval --json
  jurist agree annotations.csv --criterion tone --chart tone.png
  jurist agree answers/                  The output folder of `jurist start`

FILE is a run, grades or an annotation export as JSON lines, a folder of such
.jsonl files, or a table with
- a row per grade (columns candidate, criterion, grader, value),
- a row per candidate and grader with a column per criterion, or
- a row per candidate with a column per grader.
`people`, `judges` and `labels` read the grades of traces and annotation tasks
from the project's database.")]
pub struct AgreeArgs {
    /// Runs, grades, annotation exports or tables
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Level of measurement [default: ordinal for numbers, nominal for labels]
    #[arg(long, value_enum)]
    level: Option<LevelName>,
    /// Use only this criterion
    #[arg(long, value_name = "NAME")]
    criterion: Option<String>,
    /// Lowest and highest value of the scale, such as 1-5; unused levels count as categories [default: the
    /// scale of the rubric, for runs]
    #[arg(long, value_name = "MIN-MAX", value_parser = parse_scale_ends)]
    scale: Option<(f64, f64)>,
    /// Use only this annotation task; required if the data has several
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

pub fn run_agree_command(args: &AgreeArgs) -> anyhow::Result<CommandOutcome> {
    write_agreement(&mut crate::render::stdout(), args)
}

/// Measures agreement and writes it as the arguments ask for it.
pub fn write_agreement(out: &mut impl Write, args: &AgreeArgs) -> anyhow::Result<CommandOutcome> {
    let (grades, declared) = read_with_parts(&args.files, args.task.as_deref(), &args.place)?;
    let mut grades = filter_by_criterion(grades, args.criterion.as_deref(), &args.output)?;
    sort_for_resampling(&mut grades);
    let rated = group_ratings_by_criterion(&grades, args.level.map(Into::into), args.scale, &declared)?;
    let agreements: Vec<Agreement> = rated
        .iter()
        .map(|criterion_ratings| {
            measure_agreement(&criterion_ratings.ratings, criterion_ratings.level, args.output.seed)
        })
        .collect();
    if args.output.json {
        let mut report = serde_json::Map::new();
        for (rated, agreement) in rated.iter().zip(&agreements) {
            let mut of_one = serde_json::to_value(agreement)?;
            of_one["n_repeated"] = rated.n_repeated.into();
            report.insert(rated.criterion.to_owned(), of_one);
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        for (rated, agreement) in rated.iter().zip(&agreements) {
            show_agreement(out, rated, agreement, count_unscored_grades(&grades, rated.criterion))?;
        }
    }
    if let (Some(picture), [rated], [agreement]) =
        (&args.output.chart, rated.as_slice(), agreements.as_slice())
    {
        picture.draw(&build_agreement_chart(rated, agreement))?;
    }
    // If no figure can be computed, the file is at fault.
    let known = agreements.iter().any(|agreement| agreement.percent.value().is_some());
    Ok(if known { CommandOutcome::Passed } else { CommandOutcome::BadInput })
}

/// Each two graders.
fn build_agreement_chart(rated: &CriterionRatings<'_>, agreement: &Agreement) -> Chart {
    let which = if rated.level == Level::Nominal { "kappa" } else { "quadratic kappa" };
    let title = format!("Agreement on {} ({which})", rated.criterion);
    let pairs = agreement
        .pairs
        .iter()
        .map(|pair| (&pair.raters, kappa_for_level(&pair.measures, rated.level).value()));
    Chart::Matrix(MatrixChart::of_pairs(title, rated.ratings.raters(), pairs))
}

/// Answers of a criterion that are no score.
fn count_unscored_grades(grades: &[Grade], criterion: &str) -> usize {
    let is_silent =
        |grade: &&Grade| grade.criterion == criterion && !matches!(grade.outcome, Outcome::Scored { .. });
    grades.iter().filter(is_silent).count()
}

fn show_agreement(
    out: &mut impl Write,
    rated: &CriterionRatings<'_>,
    it: &Agreement,
    n_silent: usize,
) -> anyhow::Result<()> {
    let (Agreement { n_raters, n_items, .. }, level) = (it, rated.level);
    if are_final_labels(rated.ratings.raters()) {
        writeln!(
            out,
            "\x1b[1m{}\x1b[0m  {}, one for each candidate\n  Agreement needs the answers of each person, as `jurist \
             agree people` has them.\n",
            printable_line(rated.criterion),
            plural(rated.ratings.n_ratings(), "final label")
        )?;
        return Ok(());
    }
    writeln!(
        out,
        "\x1b[1m{}\x1b[0m  {}, {} with two or more grades",
        printable_line(rated.criterion),
        plural(*n_raters, "grader"),
        plural(*n_items, "candidate")
    )?;
    if 0 < n_silent {
        writeln!(out, "  {} without a score are excluded", plural(n_silent, "answer"))?;
    }
    for note in rated.notes() {
        writeln!(out, "  {}", printable_line(&note))?;
    }
    let rows = [
        ("same answer", &it.percent),
        ("Krippendorff's alpha", &it.krippendorff_alpha),
        ("Fleiss' kappa", &it.fleiss_kappa),
        ("Gwet's AC", &it.gwet_ac),
    ];
    for (name, measure) in rows {
        writeln!(out, "  {name:<22}{}", format_measure(measure))?;
    }
    // Those of means and of single graders say the same about the same variance.
    let icc = it.icc.iter().filter(|icc| icc.0.ends_with(",1)") && level != Level::Nominal);
    for (name, measure) in icc {
        writeln!(out, "  {name:<22}{}", format_measure(measure))?;
    }
    let pairs = it.pairs.iter().map(|pair| {
        let name = format!("{} and {}", printable_line(&pair.raters.0), printable_line(&pair.raters.1));
        (name, "kappa", kappa_for_level(&pair.measures, level))
    });
    let without = it.without.iter().map(|without| {
        (format!("without {}", printable_line(&without.rater)), "alpha", &without.krippendorff_alpha)
    });
    let rows: Vec<(String, &str, &CoefficientResult)> =
        pairs.take(MOST_ROWS).chain(without.take(MOST_ROWS)).collect();
    let width = rows.iter().map(|row| row.0.chars().count() + 1).max().unwrap_or(0).max(22);
    for (name, word, measure) in rows {
        writeln!(out, "  {name:<width$}{word} {}", format_measure(measure))?;
    }
    let n_more = it.pairs.len().saturating_sub(MOST_ROWS) + it.without.len().saturating_sub(MOST_ROWS);
    if 0 < n_more {
        writeln!(out, "  … and {n_more} more rows for pairs and single graders; --json prints all of them.")?;
    }
    if MOST_RATERS < *n_raters {
        writeln!(out, "  With more than {MOST_RATERS} graders, pairs have no confidence intervals.")?;
    }
    writeln!(out, "  {}\n", interpret_agreement(it))?;
    Ok(())
}

/// Rows of pairs, and of graders left out, that anybody reads.
const MOST_ROWS: usize = 30;

/// The conclusion that the figures support.
fn interpret_agreement(it: &Agreement) -> String {
    let without = it.without.iter().map(|without| AlphaWithoutGrader {
        grader: printable_line(&without.rater),
        alpha: without.krippendorff_alpha.value(),
    });
    let without: Vec<AlphaWithoutGrader> = without.collect();
    conclude_agreement(&it.krippendorff_alpha, it.n_items, &without).text
}
