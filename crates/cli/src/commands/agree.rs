use std::io::Write;
use std::path::PathBuf;

use jurist_core::chart::{Chart, Matrix};
use jurist_core::quantity::plural;
use jurist_core::stats::{Agreement, Level, Measure, PairAgreement, agreement};

use super::Ended;
use super::grades::{Told, by_criterion, draw, read};
use super::reporting::line;

/// Say how far graders agree, criterion by criterion
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist agree ratings.jsonl
  jurist agree annotations.csv --level interval --json
FILE is a run, grades or an annotation export line by line, or a table: a row per grade with the columns
candidate, criterion, grader and value, or a row per candidate with a column per grader.")]
pub struct Args {
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What the distance between two answers means [default: ordinal for numbers, nominal for labels]
    #[arg(long, value_enum)]
    level: Option<LevelName>,
    #[command(flatten)]
    told: Told,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum LevelName {
    Nominal,
    Ordinal,
    Interval,
    Ratio,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Nominal => Self::Nominal,
            LevelName::Ordinal => Self::Ordinal,
            LevelName::Interval => Self::Interval,
            LevelName::Ratio => Self::Ratio,
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let grades = read(&args.files)?;
    let rated = by_criterion(&grades, args.level.map(Into::into))?;
    let all: Vec<(&str, Agreement)> =
        rated.iter().map(|it| (it.criterion, agreement(&it.ratings, it.level, args.told.seed))).collect();
    let mut out = anstream::stdout();
    if args.told.json {
        let all: serde_json::Map<String, serde_json::Value> = all
            .iter()
            .map(|(criterion, it)| Ok(((*criterion).to_owned(), serde_json::to_value(it)?)))
            .collect::<Result<_, serde_json::Error>>()?;
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        for (criterion, it) in &all {
            show(&mut out, criterion, it)?;
        }
    }
    if let (Some(path), Some(first)) = (&args.told.chart, rated.first()) {
        let names = first.ratings.raters();
        let kappa = |a: &String, b: &String| {
            let is_pair = |it: &&PairAgreement| {
                it.raters == (a.clone(), b.clone()) || it.raters == (b.clone(), a.clone())
            };
            all[0].1.pairs.iter().find(is_pair).and_then(|it| it.measures.kappa_quadratic.value())
        };
        let cells = names.iter().map(|a| names.iter().map(|b| kappa(a, b)).collect()).collect();
        let title = format!("Agreement on {}", first.criterion);
        draw(&Chart::Matrix(Matrix::agreement(title, names, cells)), path)?;
    }
    // Nothing at all is a fault of the file.
    let known = all.iter().any(|it| it.1.percent.value().is_some());
    Ok(if known { Ended::Passed } else { Ended::BadInput })
}

fn show(out: &mut impl Write, criterion: &str, it: &Agreement) -> anyhow::Result<()> {
    let Agreement { n_raters, n_items, .. } = it;
    writeln!(
        out,
        "\x1b[1m{}\x1b[0m  {}, {n_items} candidates graded twice or more",
        line(criterion),
        plural(*n_raters, "grader")
    )?;
    let rows = [
        ("same answer", &it.percent),
        ("Krippendorff's alpha", &it.krippendorff_alpha),
        ("Fleiss' kappa", &it.fleiss_kappa),
        ("Gwet's AC", &it.gwet_ac),
    ];
    for (name, measure) in rows {
        writeln!(out, "  {name:<22}{}", told(measure))?;
    }
    // Those of means and of single graders say the same about the same variance.
    for (name, measure) in it.icc.iter().filter(|it| it.0.ends_with(",1)")) {
        writeln!(out, "  {name:<22}{}", told(measure))?;
    }
    for pair in &it.pairs {
        let name = format!("{} and {}", line(&pair.raters.0), line(&pair.raters.1));
        writeln!(out, "  {name:<22}kappa {}", told(&pair.measures.kappa_quadratic))?;
    }
    for without in &it.without {
        let name = format!("without {}", line(&without.rater));
        writeln!(out, "  {name:<22}alpha {}", told(&without.krippendorff_alpha))?;
    }
    writeln!(out, "  {}\n", sentence(it))?;
    Ok(())
}

/// A number with its interval, or why there is none.
pub fn told(measure: &Measure) -> String {
    match measure {
        Measure::Known(it) => {
            let interval =
                it.interval.map(|(low, high)| format!("  ({low:.3} to {high:.3})")).unwrap_or_default();
            format!("{:>6.3}{interval}", it.value)
        }
        Measure::Undefined { undefined } => format!("\x1b[2mundefined, because {undefined}\x1b[0m"),
    }
}

/// What the numbers allow to say.
fn sentence(it: &Agreement) -> String {
    let Measure::Known(alpha) = &it.krippendorff_alpha else {
        return "Nothing can be said about how far these graders agree beyond chance.".to_owned();
    };
    let low = alpha.interval.map_or(alpha.value, |it| it.0);
    let word = match (alpha.value, low) {
        (_, low) if 0.8 <= low => "Graders agree well, whichever candidates had been taken",
        (value, low) if 0.8 <= value && 0.667 <= low => {
            "Graders agree well here; with other candidates it may be tolerable only"
        }
        (_, low) if 0.667 <= low => "Agreement is tolerable: good enough for tentative conclusions",
        (value, _) if 0.667 <= value => {
            "Agreement looks tolerable, and is not shown to be; more candidates would tell"
        }
        _ => {
            "Graders do not agree enough for their means to be relied on; look at the criterion's wording first"
        }
    };
    format!("{word}.")
}
