use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::chart::{Bar, Bars, Chart, Measure, Tone};
use jurist_core::stats::{Scored, by_criterion, by_field, compute, warnings};
use jurist_engine::load::read_input;
use serde_json::{Value as Json, json};

use super::Ended;
use super::grades::{Told, draw, read, scale, unit};
use super::reporting::line;

/// Describe grades: means, spread, distribution, and where they say less than it seems
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  jurist stats latest
  jurist stats ratings.csv --scale 1-5 --by grader --chart means.svg
  jurist stats compute problems.jsonl      any estimator by name
FILE is read as by `jurist agree`."
)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// By criterion, or by who graded
    #[arg(long, value_enum, default_value = "criterion")]
    by: By,
    /// The ends of the scale of numbers that are not on 0 to 1, such as 1-5
    #[arg(long, value_name = "MIN-MAX", value_parser = scale)]
    scale: Option<(f64, f64)>,
    #[command(flatten)]
    told: Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Criterion,
    Grader,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// One problem per line in, one result per line out
    #[command(after_help = "\
A line is {\"family\": \"krippendorff_alpha\", \"input\": {\"ratings\": [[1, 2, null], [1, 2, 3]], \"level\": \"ordinal\"}}
or {\"fn\": \"cohen_kappa\", \"args\": [[\"a\", \"b\"], [\"a\", \"b\"]]}. An `id` is repeated in the result.
A result is {\"result\": …}, {\"undefined\": \"because …\"} or {\"error\": …}.")]
    Compute {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    match &args.what {
        Some(What::Compute { file }) => computed(file),
        None => described(args),
    }
}

fn described(args: &Args) -> anyhow::Result<Ended> {
    let mut scored = Vec::new();
    for grade in read(&args.files)? {
        if let Some(unit) = unit(&grade, args.scale)? {
            scored.push(Scored {
                case: grade.candidate.clone(),
                candidate: grade.grader.name.clone(),
                fields: [("grader".to_owned(), grade.grader.name.clone())].into(),
                criterion: grade.criterion,
                unit,
            });
        }
    }
    let groups = match args.by {
        By::Criterion => by_criterion(&scored, args.told.seed),
        By::Grader => by_field(&scored, "grader", args.told.seed),
    };
    anyhow::ensure!(!groups.is_empty(), "no grade is a number or on a scale");
    let warnings = warnings(&scored);
    let mut out = anstream::stdout();
    if args.told.json {
        let groups: serde_json::Map<String, Json> = groups
            .iter()
            .map(|(name, it)| Ok((name.clone(), serde_json::to_value(it)?)))
            .collect::<Result<_, serde_json::Error>>()?;
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&json!({ "groups": groups, "warnings": warnings }))?
        )?;
    } else {
        let width = groups.iter().map(|it| it.0.chars().count()).max().unwrap_or(0).clamp(6, 40);
        writeln!(out, "\x1b[1m{:<width$}  mean  95 % interval      sd      n  from 0 to 1\x1b[0m", "")?;
        for (name, it) in &groups {
            let interval =
                it.estimate.interval.map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default();
            let sd = it.sd.map_or("   –".to_owned(), |it| format!("{it:.2}"));
            let name: String = line(name).chars().take(width).collect();
            let bars = bars(&it.tenths);
            writeln!(
                out,
                "{name:<width$}  {:.2}  {interval:<15} {sd:>6} {:>6}  {bars}",
                it.estimate.mean, it.n
            )?;
        }
        for warning in &warnings {
            writeln!(out, "\x1b[33m{}\x1b[0m", line(&warning.to_string()))?;
        }
    }
    if let Some(path) = &args.told.chart {
        let bars = groups.iter().map(|(name, it)| Bar {
            label: name.clone(),
            measure: Measure::new(Some(it.estimate.mean), it.estimate.interval),
            tone: Tone::Plain,
        });
        draw(&Chart::Bars(Bars { title: "Mean score".to_owned(), bars: bars.collect(), mark: None }), path)?;
    }
    Ok(Ended::Passed)
}

/// A distribution in ten letters.
fn bars(tenths: &[usize; 10]) -> String {
    const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = tenths.iter().copied().max().unwrap_or(0).max(1);
    tenths.iter().map(|it| HEIGHTS[(it * 8).div_ceil(most)]).collect()
}

fn computed(file: &std::path::Path) -> anyhow::Result<Ended> {
    let text = read_input(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let (mut n_lines, mut n_known) = (0, 0);
    let problems: Vec<Result<Json, serde_json::Error>> =
        text.lines().filter(|it| !it.trim().is_empty()).map(serde_json::from_str).collect();
    // An input may be that of another line.
    let inputs: HashMap<String, &Json> =
        problems.iter().flatten().map(|it| (it["id"].to_string(), &it["input"])).collect();
    for problem in &problems {
        n_lines += 1;
        let (id, answer) = match problem {
            Err(error) => (Json::Null, json!({ "error": format!("not JSON: {error}") })),
            Ok(problem) => match problem["input"].get("same_input_as") {
                None => (problem["id"].clone(), answer(problem, &problem["input"])),
                Some(other) => match inputs.get(&other.to_string()) {
                    Some(input) => (problem["id"].clone(), answer(problem, input)),
                    None => {
                        (problem["id"].clone(), json!({ "error": format!("no line has the id {other}") }))
                    }
                },
            },
        };
        n_known += usize::from(answer.get("error").is_none());
        let mut told = serde_json::Map::new();
        if !id.is_null() {
            told.insert("id".to_owned(), id);
        }
        told.extend(answer.as_object().cloned().unwrap_or_default());
        writeln!(out, "{}", Json::Object(told))?;
    }
    out.flush()?;
    Ok(if n_known == 0 && 0 < n_lines { Ended::BadInput } else { Ended::Passed })
}

fn answer(problem: &Json, input: &Json) -> Json {
    let (name, input) = match (problem["family"].as_str(), problem["fn"].as_str()) {
        (Some(family), _) => (family, input),
        (None, Some(name)) => (name, &problem["args"]),
        (None, None) => return json!({ "error": "a line needs `family` and `input`, or `fn` and `args`" }),
    };
    match compute(name, input) {
        Some(Ok(result)) => json!({ "result": result }),
        Some(Err(why)) => json!({ "undefined": why.to_string() }),
        None => json!({ "error": format!("no statistic is called `{name}`") }),
    }
}
