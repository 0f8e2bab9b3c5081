use std::io::Write;
use std::path::PathBuf;

use jurist_core::chart::{Chart, Matrix};
use jurist_core::grade::{Grade, GraderKind};
use jurist_core::quantity::plural;
use jurist_core::stats::{Alignment, Standing, align};
use serde_json::json;

use super::Ended;
use super::agree::{LevelName, told};
use super::grades::{Told, by_criterion, draw, read};
use super::reporting::line;

/// Say how far a judge can stand in for people
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist align --human ratings.jsonl --judge latest
  jurist align --human ratings.csv --judge run.json --min-kappa 0.6
Files are read as by `jurist agree`; candidates and criteria are matched by their names.
Exit codes: 0, or 1 if --min-kappa is not shown to be reached for every criterion.")]
pub struct Args {
    /// What people said
    #[arg(long, value_name = "FILE", required = true)]
    human: Vec<PathBuf>,
    /// What the judge said
    #[arg(long, value_name = "FILE", required = true)]
    judge: Vec<PathBuf>,
    /// Fail unless the whole interval of kappa lies above this
    #[arg(long, value_name = "KAPPA")]
    min_kappa: Option<f64>,
    /// What the distance between two answers means [default: ordinal for numbers, nominal for labels]
    #[arg(long, value_enum)]
    level: Option<LevelName>,
    /// Disagreements to list for each criterion
    #[arg(long, value_name = "N", default_value_t = 5)]
    worst: usize,
    #[command(flatten)]
    told: Told,
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let humans = read(&args.human)?;
    let judged = read(&args.judge)?.into_iter().filter(|it| it.grader.kind != GraderKind::Check);
    // A name that both have is two graders.
    let marked = |mut it: Grade| {
        it.grader.name = format!("{} (judge)", it.grader.name);
        it
    };
    let judged: Vec<Grade> = judged.map(marked).collect();
    let mut judges: Vec<String> = judged.iter().map(|it| it.grader.name.clone()).collect();
    judges.sort_unstable();
    judges.dedup();
    let all: Vec<Grade> = humans.into_iter().chain(judged).collect();
    let mut out = anstream::stdout();
    let (mut told_any, mut below, mut report) = (false, false, Vec::new());
    for rated in by_criterion(&all, args.level.map(Into::into))? {
        let is_judge = |it: &usize| judges.contains(&rated.ratings.raters()[*it]);
        let (own, people): (Vec<usize>, Vec<usize>) = (0..rated.ratings.n_raters()).partition(is_judge);
        for judge in own {
            match align(&rated.ratings, judge, &people, rated.level, args.told.seed) {
                Ok(found) => {
                    if let Some(path) = args.told.chart.as_ref().filter(|_| !told_any) {
                        let title = format!("{}: {}", rated.criterion, found.judge);
                        let (people, judge) = ("people".to_owned(), "judge".to_owned());
                        let (labels, counts) = (&found.confusion.labels, &found.confusion.counts);
                        draw(&Chart::Matrix(Matrix::confusion(title, people, judge, labels, counts)), path)?;
                    }
                    told_any = true;
                    let kappa = &found.with_consensus.kappa_quadratic;
                    below |=
                        args.min_kappa.is_some_and(|it| kappa.interval().is_none_or(|(low, _)| low < it));
                    if !args.told.json {
                        show(&mut out, rated.criterion, &found, args.worst, &all)?;
                    }
                    report.push(json!({ "criterion": rated.criterion, "alignment": found }));
                }
                Err(why) => {
                    report.push(json!({ "criterion": rated.criterion, "undefined": why.to_string() }));
                }
            }
        }
    }
    if args.told.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    }
    if !told_any {
        anyhow::bail!("no candidate was graded by a judge and by a person on the same criterion");
    }
    if below && !args.told.json {
        writeln!(out, "A kappa of {} is not shown to be reached.", args.min_kappa.unwrap_or_default())?;
    }
    Ok(if below { Ended::Failed } else { Ended::Passed })
}

fn show(
    out: &mut impl Write,
    criterion: &str,
    it: &Alignment,
    worst: usize,
    grades: &[Grade],
) -> anyhow::Result<()> {
    writeln!(
        out,
        "\x1b[1m{}\x1b[0m  {} beside {} on {}",
        line(criterion),
        line(&it.judge),
        plural(it.humans.len(), "person").replace("persons", "people"),
        plural(it.n_items, "candidate")
    )?;
    let rows = [
        ("same as most people", &it.with_consensus.percent),
        ("kappa (quadratic)", &it.with_consensus.kappa_quadratic),
        ("Krippendorff's alpha", &it.krippendorff_alpha),
        ("rank correlation", &it.with_mean.spearman),
        ("bias", &it.with_mean.bias),
        ("mean absolute error", &it.with_mean.mean_absolute_error),
    ];
    for (name, measure) in rows {
        writeln!(out, "  {name:<22}{}", told(measure))?;
    }
    if it.confusion.labels.len() <= 10 {
        confusion(out, it)?;
    }
    for rates in it.answers.iter().filter(|_| it.confusion.labels.len() == 2) {
        let name = format!("finds `{}`", line(&rates.label));
        writeln!(out, "  {name:<22}{}", told(&rates.sensitivity))?;
    }
    for found in it.disagreements.iter().take(worst) {
        writeln!(
            out,
            "  \x1b[33m{}\x1b[0m: the judge says {}, people {}",
            line(&found.item),
            line(&found.judge),
            line(&found.humans.join(", "))
        )?;
        let about =
            |it: &&Grade| it.candidate == found.item && it.criterion == criterion && !it.reason.is_empty();
        for grade in grades.iter().filter(about) {
            writeln!(out, "      {}: {}", line(&grade.grader.name), line(grade.reason.as_str()))?;
        }
    }
    let standing = match it.one_more_person.standing {
        Standing::AsGood => "The judge agrees with people as well as they do with each other.",
        Standing::Worse => "The judge agrees with people less than they do with each other.",
        Standing::CannotTell => {
            "Whether the judge is as good as one more person cannot be told from these candidates; two people must have graded at least 30 of them."
        }
    };
    writeln!(out, "  {standing}\n")?;
    Ok(())
}

/// Rows are what most people say, columns what the judge says.
fn confusion(out: &mut impl Write, it: &Alignment) -> anyhow::Result<()> {
    let labels: Vec<String> =
        it.confusion.labels.iter().map(|it| line(it).chars().take(8).collect()).collect();
    let head: String = labels.iter().map(|it| format!("{it:>9}")).collect();
    writeln!(out, "  {:<14}\x1b[2mjudge\x1b[0m", "")?;
    writeln!(out, "  \x1b[2m{:<10}\x1b[0m{head}", "people")?;
    for (label, counts) in labels.iter().zip(&it.confusion.counts) {
        let row: String = counts.iter().map(|it| format!("{it:>9}")).collect();
        writeln!(out, "  {label:<10}{row}")?;
    }
    Ok(())
}
