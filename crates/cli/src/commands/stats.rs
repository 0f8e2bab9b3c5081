use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::chart::{Bar, Bars, Chart, Distribution, Layer, Measure, Radar, RadarSeries, Tone};
use jurist_core::grade::part_of;
use jurist_core::quantity::plural;
use jurist_core::report::{COLUMNS, Kind, rows};
use jurist_core::stats::{Description, Scored, by_criterion, by_field, compute, warnings};
use jurist_engine::load::read_input;
use serde_json::{Value as Json, json};

use super::Ended;
use super::grades::{Source, Told, keep_task, off_scale, scale, sources, unit};
use super::reporting::line;
use super::task_results::show_task_results;

/// Describe grades: means, spread, distribution, and where they say less than it seems
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  jurist stats latest
  jurist stats latest --by agent --chart agents.png --picture radar
  jurist stats before.json after.json --by file
  jurist stats ratings.csv --scale 1-5 --by grader --chart means.svg
  jurist stats --task 'Coding agents' --by agent --chart agents.png
                                           what people said, in the units of each scale, with a radar
  jurist stats compute problems.jsonl      any estimator by name
FIELD is a column of `jurist export`, such as criterion, grader, rubric, case, run or agent;
`file`; or a field of metadata: of a case in its suite, of a row of its data, `metadata` of a
grade that is a line, a further column of a table.
FILE is read as by `jurist agree`."
)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[arg(value_name = "FILE", required_unless_present = "task")]
    files: Vec<PathBuf>,
    /// What people said in this annotation task of the database; or, of FILE, the answers of this task only
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// What to tell apart: criteria, graders, agents, any field of metadata
    #[arg(long, value_name = "FIELD", default_value = "criterion")]
    by: String,
    /// What --chart shows: means, criteria around a circle with a shape for each value of --by or
    /// each file, or how often each score occurs
    #[arg(long, value_enum, default_value = "bars", requires = "chart")]
    picture: PictureOf,
    /// The ends of the scale of numbers that are not on 0 to 1, such as 1-5
    #[arg(long, value_name = "MIN-MAX", value_parser = scale)]
    scale: Option<(f64, f64)>,
    #[command(flatten)]
    told: Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PictureOf {
    Bars,
    Radar,
    Distribution,
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
        None => match &args.task {
            Some(task) if args.files.is_empty() => {
                let by = Some(args.by.as_str()).filter(|by| *by != CRITERION);
                show_task_results(task, by, &args.told)
            }
            _ => described(args),
        },
    }
}

fn described(args: &Args) -> anyhow::Result<Ended> {
    let mut sources = sources(&args.files)?;
    keep_task(&mut sources, args.task.as_deref())?;
    let Scores { scored, verdicts, unscored, without, n_off_scale } = scores(&sources, args)?;
    let groups = by_field(&scored, &args.by, args.told.seed);
    anyhow::ensure!(0 < scored.len() + without, "no grade is a number or on a scale");
    anyhow::ensure!(
        !groups.is_empty(),
        "no grade has a field `{}`; there are {}",
        args.by,
        fields(&sources).join(", ")
    );
    let weighted = by_field(&verdicts, &args.by, args.told.seed);
    let warnings = warnings(&scored);
    let mut out = anstream::stdout();
    if args.told.json {
        let described = |groups: &[(String, Description)]| {
            let all = groups.iter().map(|(name, it)| Ok((name.clone(), serde_json::to_value(it)?)));
            all.collect::<Result<serde_json::Map<String, Json>, serde_json::Error>>()
        };
        let left_out = json!({ "without_score": unscored, "without_field": without });
        let told = json!({
            "by": args.by, "groups": described(&groups)?, "weighted": described(&weighted)?,
            "left_out": left_out, "warnings": warnings,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&told)?)?;
    } else {
        match args.by.as_str() {
            CRITERION => show(&mut out, &[groups.as_slice(), weighted.as_slice()].concat())?,
            _ if weighted.is_empty() => show(&mut out, &groups)?,
            _ => {
                writeln!(out, "All criteria alike:")?;
                show(&mut out, &groups)?;
                writeln!(out, "\nWeighted by the rubric:")?;
                show(&mut out, &weighted)?;
            }
        }
        let left_out =
            [(unscored, "without a score".to_owned()), (without, format!("without `{}`", args.by))];
        let left_out: Vec<String> = left_out
            .iter()
            .filter(|it| 0 < it.0)
            .map(|(n, why)| format!("{} {}", plural(*n, "grade"), line(why)))
            .collect();
        if !left_out.is_empty() {
            writeln!(out, "left out: {}", left_out.join(", "))?;
        }
        let left_out = off_scale(n_off_scale, args.scale);
        for warning in warnings.iter().map(ToString::to_string).chain(left_out) {
            writeln!(out, "\x1b[33m{}\x1b[0m", line(&warning))?;
        }
    }
    if let Some(picture) = &args.told.chart {
        picture.draw(&match args.picture {
            PictureOf::Bars => means(&groups, &args.by),
            PictureOf::Radar => radar(&scored, args),
            PictureOf::Distribution => distribution(&groups, &args.by),
        })?;
    }
    Ok(Ended::Passed)
}

/// What is described, and how many grades are not.
struct Scores {
    scored: Vec<Scored>,
    /// What the rubrics of runs make of them, a score for each verdict.
    verdicts: Vec<Scored>,
    /// Grades that are no score: failed, deferred, labels.
    unscored: usize,
    /// Scores that lack the field they are to be told apart by.
    without: usize,
    n_off_scale: usize,
}

fn scores(sources: &[Source], args: &Args) -> anyhow::Result<Scores> {
    let mut found =
        Scores { scored: Vec::new(), verdicts: Vec::new(), unscored: 0, without: 0, n_off_scale: 0 };
    for source in sources {
        let mut last = None;
        for row in source.rows() {
            // Grades of one result stand together.
            if let Some((run, result)) = row.of.filter(|it| last != Some(std::ptr::from_ref(it.1))) {
                last = Some(std::ptr::from_ref(result));
                let values = match args.by.as_str() {
                    CRITERION => vec!["weighted score".to_owned()],
                    FILE => vec![source.name.clone()],
                    // What tells the grades of one verdict apart says nothing about the verdict.
                    by => Some(row.by(by))
                        .filter(|values| rows(run, result).all(|it| it.by(by) == *values))
                        .unwrap_or_default(),
                };
                let scored = |value: String| {
                    Some(Scored {
                        case: result.base().to_owned(),
                        candidate: format!("{} {}", source.name, result.candidate),
                        fields: [(args.by.clone(), value)].into(),
                        criterion: "weighted score".to_owned(),
                        unit: result.verdict.score?,
                    })
                };
                found.verdicts.extend(values.into_iter().filter_map(scored));
            }
            // What parts come to is in their total.
            if part_of(&row.grade.criterion).is_some() {
                continue;
            }
            let n_before = found.n_off_scale;
            let Some(unit) = unit(row.grade, args.scale, &mut found.n_off_scale)? else {
                found.unscored += usize::from(found.n_off_scale == n_before);
                continue;
            };
            let values = if args.by == FILE { vec![source.name.clone()] } else { row.by(&args.by) };
            found.without += usize::from(values.is_empty());
            // What has several tags counts with each of them.
            for value in values {
                found.scored.push(Scored {
                    case: row.of.map_or(row.grade.candidate.as_str(), |it| it.1.base()).to_owned(),
                    candidate: format!("{} {} {}", source.name, row.grade.candidate, row.grade.grader.name),
                    fields: [(FILE.to_owned(), source.name.clone()), (args.by.clone(), value)].into(),
                    criterion: row.grade.criterion.clone(),
                    unit,
                });
            }
        }
    }
    Ok(found)
}

/// The field that every grade has: where it was read.
const FILE: &str = "file";

/// Everything that grades can be told apart by.
fn fields(sources: &[Source]) -> Vec<String> {
    let rows = || sources.iter().flat_map(Source::rows);
    let columns = COLUMNS.iter().filter(|it| matches!(it.kind, Kind::Text | Kind::Count | Kind::Flag));
    let used = columns.filter(|column| rows().any(|it| (column.cell)(&it).is_some()));
    let known: BTreeSet<String> = rows().flat_map(|it| it.names()).collect();
    let own = used.map(|it| it.name.to_owned()).chain([FILE.to_owned()]);
    own.filter(|it| !known.contains(it)).chain(known.clone()).collect()
}

fn show(out: &mut impl Write, groups: &[(String, Description)]) -> anyhow::Result<()> {
    let width = groups.iter().map(|it| it.0.chars().count()).max().unwrap_or(0).clamp(6, 40);
    writeln!(out, "\x1b[1m{:<width$}  mean  95 % interval      sd      n  from 0 to 1\x1b[0m", "")?;
    for (name, it) in groups {
        let interval = interval(it).map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default();
        let sd = it.sd.map_or("   –".to_owned(), |it| format!("{it:.2}"));
        let name: String = line(name).chars().take(width).collect();
        let bars = bars(&it.tenths);
        writeln!(out, "{name:<width$}  {:.2}  {interval:<15} {sd:>6} {:>6}  {bars}", it.estimate.mean, it.n)?;
    }
    Ok(())
}

/// Where all are the same, an interval without width would promise too much.
fn interval(it: &Description) -> Option<(f64, f64)> {
    it.estimate.interval.filter(|(low, high)| low < high)
}

fn measure(it: &Description) -> Measure {
    Measure::new(Some(it.estimate.mean), interval(it))
}

fn title(what: &str, by: &str) -> String {
    if by == CRITERION { what.to_owned() } else { format!("{what} by {by}") }
}

const CRITERION: &str = "criterion";

fn means(groups: &[(String, Description)], by: &str) -> Chart {
    let bar = |(name, it): &(String, Description)| Bar {
        label: name.clone(),
        measure: measure(it),
        tone: Tone::Plain,
    };
    let bars = groups.iter().map(bar).collect();
    Chart::Bars(Bars { title: title("Mean score", by), bars, mark: None })
}

/// Criteria around the circle; a shape for each value of the field, or for each file.
fn radar(scored: &[Scored], args: &Args) -> Chart {
    let axes: Vec<String> = in_order(scored.iter().map(|it| &it.criterion));
    let field = if args.by == CRITERION { FILE } else { &args.by };
    let names = in_order(scored.iter().filter_map(|it| it.fields.get(field)));
    let series = names.iter().map(|name| {
        let own: Vec<Scored> =
            scored.iter().filter(|it| it.fields.get(field) == Some(name)).cloned().collect();
        let means = by_criterion(&own, args.told.seed);
        let value = |axis: &String| means.iter().find(|it| it.0 == *axis).map(|it| measure(&it.1));
        RadarSeries {
            name: name.clone(),
            values: axes.iter().map(|it| value(it).unwrap_or_default()).collect(),
        }
    });
    let title = title("Mean score", if 1 < names.len() { field } else { CRITERION });
    let series = series.collect();
    Chart::Radar(Radar { title, axes, series, mark: None })
}

fn in_order<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.filter(|it| seen.insert(*it)).cloned().collect()
}

/// More layers than this cannot be told apart.
const MOST_LAYERS: usize = 6;

fn distribution(groups: &[(String, Description)], by: &str) -> Chart {
    let n_own = if groups.len() <= MOST_LAYERS { groups.len() } else { MOST_LAYERS - 1 };
    let (own, others) = groups.split_at(n_own);
    let counts = |all: &[(String, Description)]| {
        (0..10).map(|at| all.iter().map(|it| it.1.tenths[at]).sum()).collect()
    };
    let mut layers: Vec<Layer> = own
        .chunks(1)
        .enumerate()
        .map(|(at, it)| Layer { name: it[0].0.clone(), tone: Tone::Series(at), counts: counts(it) })
        .collect();
    if !others.is_empty() {
        let (name, tone) = (format!("{} others", others.len()), Tone::Series(n_own));
        layers.push(Layer { name, tone, counts: counts(others) });
    }
    Chart::Distribution(Distribution::of_tenths(format!("Scores by {by}"), layers, None))
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
