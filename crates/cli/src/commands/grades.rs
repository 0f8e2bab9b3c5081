use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::chart::{Chart, Place};
use jurist_core::grade::{Grade, Line, Outcome, table};
use jurist_core::rubric::Value;
use jurist_core::stats::{Level, Ratings};
use jurist_engine::load::read_input;
use jurist_engine::runs::Runs;

/// How a result is told; the same for every command that computes one.
#[derive(Debug, clap::Args)]
pub struct Told {
    /// A picture of it, as .svg
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
    /// Everything as JSON
    #[arg(long)]
    pub json: bool,
    /// Decides what is left to chance
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// Grades from files of every kind: runs, grades and annotation exports line by line, tables.
pub fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Grade>> {
    let runs = Runs::of_project(&std::path::absolute(".")?);
    let mut all = Vec::new();
    for path in paths {
        all.extend(one(path, &runs)?);
    }
    anyhow::ensure!(!all.is_empty(), "there are no grades in {}", names(paths));
    Ok(all)
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|it| format!("`{}`", it.display())).collect::<Vec<_>>().join(", ")
}

fn one(path: &Path, runs: &Runs) -> anyhow::Result<Vec<Grade>> {
    let name = path.display().to_string();
    let is_file = path.is_file() || name == "-";
    if !is_file || path.extension().is_some_and(|it| it == "json") {
        let run = runs.load(&name)?;
        return Ok(run.results.into_iter().flat_map(|it| it.grades).collect());
    }
    let text = read_input(path).with_context(|| format!("cannot read `{name}`"))?;
    if path.extension().is_some_and(|it| it == "csv" || it == "tsv") {
        let mark = if name.ends_with("tsv") { b'\t' } else { b',' };
        return table(&text, mark).with_context(|| format!("`{name}`"));
    }
    // The log of a run is one as well.
    if let Ok(run) = runs.load(&name) {
        return Ok(run.results.into_iter().flat_map(|it| it.grades).collect());
    }
    let mut grades = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|it| !it.1.trim().is_empty()) {
        match Line::parse(line).with_context(|| format!("`{name}`, line {}", at + 1))? {
            Line::Grades(more) => grades.extend(more),
            Line::Candidate { .. } => {}
        }
    }
    Ok(grades)
}

/// Answers of one criterion by everybody, and what the distance between two of them means.
pub struct Rated<'a> {
    pub criterion: &'a str,
    pub ratings: Ratings,
    pub level: Level,
}

/// Criterion by criterion, in the order in which they appear. Numbers have an order unless told otherwise.
pub fn by_criterion<'a>(grades: &'a [Grade], level: Option<Level>) -> anyhow::Result<Vec<Rated<'a>>> {
    let mut order: Vec<&str> = Vec::new();
    let mut entries: BTreeMap<&str, Vec<(&str, &str, Value)>> = BTreeMap::new();
    for grade in grades {
        if let Outcome::Scored { value, .. } = &grade.outcome {
            if !order.contains(&grade.criterion.as_str()) {
                order.push(&grade.criterion);
            }
            let entry = (grade.grader.name.as_str(), grade.candidate.as_str(), value.clone());
            entries.entry(&grade.criterion).or_default().push(entry);
        }
    }
    let mut all = Vec::new();
    for criterion in order {
        let entries = entries.remove(criterion).unwrap_or_default();
        let is_ordered = entries.iter().all(|it| matches!(it.2, Value::Number(_)));
        let level = level.unwrap_or(if is_ordered { Level::Ordinal } else { Level::Nominal });
        let ratings = Ratings::of_entries(entries).with_context(|| format!("`{criterion}`"))?;
        all.push(Rated { criterion, ratings, level });
    }
    Ok(all)
}

/// The ends of a scale, such as `1-5`.
pub fn scale(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once('-').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    ends.filter(|(low, high)| low < high).ok_or_else(|| "the ends of a scale, such as 1-5".to_owned())
}

/// An answer on 0..=1: as it was scored, or by the ends of its scale.
pub fn unit(grade: &Grade, scale: Option<(f64, f64)>) -> anyhow::Result<Option<f64>> {
    let Outcome::Scored { value, unit } = &grade.outcome else { return Ok(None) };
    let number = match (unit, value, scale) {
        (Some(unit), ..) => *unit,
        (None, Value::Bool(it), _) => f64::from(u8::from(*it)),
        (None, Value::Number(it), Some((low, high))) => (it - low) / (high - low),
        (None, Value::Number(it), None) => *it,
        (None, Value::Text(_), _) => return Ok(None),
    };
    anyhow::ensure!(
        (0.0..=1.0).contains(&number),
        "`{}` of `{}` is {value}, which is not on 0 to 1; --scale 1-5 says what its ends are",
        grade.criterion,
        grade.candidate
    );
    Ok(Some(number))
}

/// Writes a picture.
pub fn draw(chart: &Chart, path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(path.extension().is_some_and(|it| it == "svg"), "charts are written as .svg");
    std::fs::write(path, chart.svg(Place::File)).with_context(|| format!("cannot write `{}`", path.display()))
}
