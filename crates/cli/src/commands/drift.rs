use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use jurist_core::chart::{Chart, MeasuredValue, TrendChart, TrendChartPoint};
use jurist_core::grade::{Grade, Time};
use jurist_core::quantity::plural;
use jurist_core::report::{format_mean_with_interval, format_score_interval};
use jurist_core::stats::monitoring::{Alarm, DriftReport, RunningMean, detect_drift};
use serde_json::json;

use crate::database::DatabaseArgs;
use crate::grades::candidate_scores::{UNIT_SCALE, off_scale_note, parse_scale_ends, unit_score};
use crate::grades::{AnalysisOutputArgs, read_with_scales, select_criterion};
use crate::outcome::CommandOutcome;
use crate::reporting::printable_line;

/// Detect a change of scores over time
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist drift grades.jsonl --criterion tone
  jurist drift ratings.csv --scale 1-5 --reference 200 --chart tone.svg

Grades are ordered by `time` if all of them have it, otherwise by row.
The first part is the reference period; the rest is compared with it.
The test is sequential: the probability of a false alarm is at most 5 %,
however often it is repeated. FILE is read as by `jurist agree`.")]
pub struct DriftArgs {
    /// Runs, grades or tables, in the order of time
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Criterion to use; required if the data has several
    #[arg(long, value_name = "NAME")]
    criterion: Option<String>,
    /// Use only this annotation task; required if the data has several
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// Lowest and highest value of scores that are not on 0 to 1, such as 1-5
    #[arg(long, value_name = "MIN-MAX", value_parser = parse_scale_ends)]
    scale: Option<(f64, f64)>,
    /// Number of candidates at the start that form the reference period [default: the first half]
    #[arg(long, value_name = "N")]
    reference: Option<usize>,
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

/// One candidate in its place.
struct DriftPoint {
    candidate: String,
    time: Option<Time>,
    score: f64,
}

impl DriftPoint {
    /// When it was, in words.
    fn when(&self) -> String {
        self.time.map_or_else(|| format!("`{}`", printable_line(&self.candidate)), |time| time.to_string())
    }
}

const ALPHA: f64 = 0.05;

pub fn run_drift_command(args: &DriftArgs) -> anyhow::Result<CommandOutcome> {
    let (grades, scales) = read_with_scales(&args.files, args.task.as_deref(), &args.place)?;
    let criterion = select_criterion(&grades, args.criterion.as_deref())?;
    let own_scale = args.scale.or_else(|| scales.get(criterion).copied()).filter(|ends| *ends != UNIT_SCALE);
    let mut n_off_scale = 0;
    let points = collect_drift_points(&grades, criterion, args.scale, &mut n_off_scale)?;
    anyhow::ensure!(!points.is_empty(), "no grade of `{criterion}` is a number or has a scale");
    let n_reference = args.reference.unwrap_or(points.len() / 2);
    let scores: Vec<f64> = points.iter().map(|point| point.score).collect();
    let report = detect_drift(&scores, n_reference, ALPHA)?;
    let mut out = crate::render::stdout();
    if args.output.json {
        let last = |running_means: &[RunningMean]| {
            running_means
                .last()
                .map(|last| json!({ "n": running_means.len(), "mean": last.mean, "interval": last.interval }))
        };
        let place = |alarm: &Alarm| {
            let at = |step: usize| {
                let point = &points[n_reference + step - 1];
                json!({ "candidate": point.candidate, "time": point.time })
            };
            json!({ "since": at(alarm.since), "noticed": at(alarm.at), "before": alarm.before, "now": alarm.now })
        };
        let json_report = json!({
            "criterion": criterion, "reference": last(&report.reference), "watched": last(&report.since),
            "change": report.alarm.as_ref().map(place), "unsteady_at": report.unsteady, "n_off_scale": n_off_scale,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&json_report)?)?;
    } else {
        show_drift(&mut out, (criterion, own_scale), &points, &report)?;
        if let Some(note) = off_scale_note(n_off_scale, args.scale) {
            writeln!(out, "\x1b[33m{note}\x1b[0m")?;
        }
    }
    if let Some(picture) = &args.output.chart {
        picture.draw(&build_drift_chart((criterion, own_scale), &points, &report))?;
    }
    Ok(CommandOutcome::Passed)
}

/// One score for each candidate, in the order of time where all have one.
fn collect_drift_points(
    grades: &[Grade],
    criterion: &str,
    scale: Option<(f64, f64)>,
    n_off_scale: &mut usize,
) -> anyhow::Result<Vec<DriftPoint>> {
    let mut points: Vec<(DriftPoint, f64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for grade in grades.iter().filter(|grade| grade.criterion == criterion) {
        let Some(unit) = unit_score(grade, scale, n_off_scale)? else { continue };
        let at = *places.entry(&grade.candidate).or_insert_with(|| {
            let candidate = grade.candidate.clone();
            points.push((DriftPoint { candidate, time: grade.time, score: 0.0 }, 0.0));
            points.len() - 1
        });
        let (point, n) = &mut points[at];
        // The mean of all graders.
        point.score = (point.score * *n + unit) / (*n + 1.0);
        *n += 1.0;
        point.time = point.time.zip(grade.time).map(|(a, b)| a.min(b));
    }
    let mut points: Vec<DriftPoint> = points.into_iter().map(|(point, _)| point).collect();
    if points.iter().all(|point| point.time.is_some()) {
        points.sort_by_key(|point| point.time);
    } else {
        points.iter_mut().for_each(|point| point.time = None);
    }
    Ok(points)
}

fn show_drift(
    out: &mut impl Write,
    (criterion, own_scale): (&str, Option<(f64, f64)>),
    points: &[DriftPoint],
    report: &DriftReport,
) -> anyhow::Result<()> {
    let order = if points[0].time.is_some() { "of time" } else { "of their rows" };
    writeln!(
        out,
        "\x1b[1m{}\x1b[0m  {} candidates in the order {order}",
        printable_line(criterion),
        points.len()
    )?;
    let n_reference = report.reference.len();
    for (name, looks, from) in
        [("reference", &report.reference, 0), ("since then", &report.since, n_reference)]
    {
        let (Some(last), first, end) = (looks.last(), &points[from], &points[from + looks.len() - 1]) else {
            continue;
        };
        writeln!(
            out,
            "  {name:<14}  {}  {}, {} to {}",
            format_mean_with_interval(last.mean, last.interval, own_scale),
            plural(looks.len(), "candidate"),
            first.when(),
            end.when()
        )?;
    }
    if let Some(at) = report.unsteady {
        writeln!(
            out,
            "\x1b[33mThe reference period itself contains a change (detected at {}); choose another --reference.\x1b[0m",
            points[at - 1].when()
        )?;
    }
    match &report.alarm {
        Some(it) => writeln!(
            out,
            "Change detected: from {} to {} the mean score is within {}; in the reference period it was within {}. The time of the change is not estimated.",
            points[n_reference + it.since - 1].when(),
            points[n_reference + it.at - 1].when(),
            format_score_interval(it.now, own_scale),
            format_score_interval(it.before, own_scale)
        )?,
        None => writeln!(out, "No change detected. This does not prove that there is none.")?,
    }
    Ok(())
}

/// The largest number of points for each part; more would only make the file larger.
const MOST_POINTS: usize = 200;

fn build_drift_chart(
    (criterion, own_scale): (&str, Option<(f64, f64)>),
    points: &[DriftPoint],
    report: &DriftReport,
) -> Chart {
    let at = |place: usize| points[place].time.map_or(place as f64, |time| time.micros() as f64 / 1e6);
    let part = |looks: &[RunningMean], from: usize| {
        let step = looks.len().div_ceil(MOST_POINTS).max(1);
        let thinned = looks.iter().enumerate().filter(move |(place, _)| (place + 1).is_multiple_of(step));
        let chart_points = thinned.map(|(place, running_mean)| TrendChartPoint {
            at: at(from + place),
            label: drift_point_label(&points[from + place], from + place),
            measure: MeasuredValue::new(Some(running_mean.mean), Some(running_mean.interval))
                .on_scale(own_scale),
        });
        chart_points.collect::<Vec<_>>()
    };
    let n_reference = report.reference.len();
    // The line of the watched values starts after a gap.
    let gap = TrendChartPoint {
        at: at(n_reference) - 1e-3,
        label: String::new(),
        measure: MeasuredValue::default(),
    };
    let points = part(&report.reference, 0).into_iter().chain([gap]).chain(part(&report.since, n_reference));
    Chart::Trend(TrendChart {
        title: format!("Mean of {criterion} so far"),
        points: points.collect(),
        mark: None,
    })
}

/// The day, or the number of the candidate.
fn drift_point_label(point: &DriftPoint, place: usize) -> String {
    point.time.map_or_else(|| (place + 1).to_string(), |time| time.to_string().chars().take(10).collect())
}
