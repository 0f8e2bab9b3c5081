use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::chart::{Chart, Measure, Reliability, ReliabilityBin};
use jurist_core::grade::Grade;
use jurist_core::stats::{Calibration, Method, anchors, calibrate, prediction_powered, threshold};
use serde_json::json;

use super::Ended;
use super::grades::{Told, draw, read, scale, unit};

/// Map a judge's scores onto what people mean by them, and correct its mean
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist calibrate --human ratings.jsonl --judge latest --criterion tone
  jurist calibrate --human ratings.csv --scale 1-5 --judge run.json --method isotonic --out tone.json --chart tone.svg
Everything is tried on labels that the mapping did not see (cross-validated in five parts).
A judge is given the file with `judge: {calibrations: [tone.json]}`.")]
pub struct Args {
    /// What people said
    #[arg(long, value_name = "FILE", required = true)]
    human: Vec<PathBuf>,
    /// What the judge said, also of candidates that nobody labelled
    #[arg(long, value_name = "FILE", required = true)]
    judge: Vec<PathBuf>,
    /// One criterion; without it there must be only one
    #[arg(long, value_name = "NAME")]
    criterion: Option<String>,
    /// The ends of the scale of numbers that are not on 0 to 1, such as 1-5
    #[arg(long, value_name = "MIN-MAX", value_parser = scale)]
    scale: Option<(f64, f64)>,
    #[arg(long, value_enum, default_value = "platt")]
    method: MethodName,
    /// The pass mark that is in use
    #[arg(long, value_name = "SCORE", default_value_t = 0.7)]
    threshold: f64,
    /// How many labelled candidates to suggest as anchors
    #[arg(long, value_name = "N", default_value_t = 4)]
    anchors: usize,
    /// Where the calibration is written, as JSON
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    told: Told,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum MethodName {
    Isotonic,
    Platt,
    Quantile,
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let grades = read(&args.human)?;
    let humans = means(&grades, args)?;
    let judged = means(&read(&args.judge)?, args)?;
    let both: Vec<(&String, f64, f64)> =
        judged.iter().filter_map(|(id, judge)| Some((id, *judge, *humans.get(id)?))).collect();
    anyhow::ensure!(!both.is_empty(), "no candidate has both a label and a judge's score");
    let (judge, human): (Vec<f64>, Vec<f64>) = both.iter().map(|it| (it.1, it.2)).unzip();
    let rest: Vec<f64> = judged.iter().filter(|it| !humans.contains_key(it.0)).map(|it| *it.1).collect();
    let method = match args.method {
        MethodName::Isotonic => Method::Isotonic,
        MethodName::Platt => Method::Platt,
        MethodName::Quantile => Method::Quantile,
    };
    let found = calibrate(&judge, &human, method, args.told.seed)?;
    let passes: Vec<bool> = human.iter().map(|it| args.threshold <= *it).collect();
    let mark = threshold(&judge, &passes, args.threshold, args.told.seed);
    let corrected = (1 < rest.len()).then(|| prediction_powered(&human, &judge, &rest, 0.05));
    let shown = anchors(&judge, &human, args.anchors);
    let mut out = anstream::stdout();
    if args.told.json {
        let told = json!({
            "calibration": found,
            "threshold": mark.as_ref().ok(), "mean": corrected.as_ref().and_then(|it| it.as_ref().ok()),
            "anchors": shown.as_ref().ok().map(|it| it.chosen.iter().map(|at| both[*at].0).collect::<Vec<_>>()),
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&told)?)?;
    } else {
        writeln!(out, "{} labelled candidates, {} more that only the judge scored", both.len(), rest.len())?;
        for (name, before, after) in [
            ("Brier score", &found.before.brier, &found.after.brier),
            ("calibration error", &found.before.ece, &found.after.ece),
            ("bias", &found.before.bias, &found.after.bias),
        ] {
            writeln!(out, "  {name:<20}{:>7.3}  →  {:.3}", before.value, after.value)?;
        }
        writeln!(out, "{}", found.sentence())?;
        match &mark {
            Ok(it) => writeln!(
                out,
                "A pass mark of {:.2} decides {:.0} % as people do on candidates that it was not chosen by; {:.2} decides {:.0} %.",
                it.threshold,
                it.after.accuracy.rate * 100.0,
                args.threshold,
                it.before.accuracy.rate * 100.0
            )?,
            Err(why) => writeln!(out, "No better pass mark: {why}.")?,
        }
        match &corrected {
            Some(Ok(it)) => {
                let (low, high) = it.ppi_plus_plus.interval;
                writeln!(
                    out,
                    "The judge's mean over the unlabelled is {:.3}; corrected by the labels it is {:.3} ({low:.3} to {high:.3}), and {} more labels would halve that interval.",
                    it.naive, it.ppi_plus_plus.mean, it.labels_to_halve
                )?;
                if let Some(warning) = &it.warning {
                    writeln!(out, "\x1b[33m{warning}\x1b[0m")?;
                }
            }
            Some(Err(why)) => writeln!(out, "The mean cannot be corrected: {why}.")?,
            None => {}
        }
        if let Ok(it) = &shown {
            let names: Vec<&str> = it.chosen.iter().map(|at| both[*at].0.as_str()).collect();
            writeln!(out, "As anchors for the judge: {}.", names.join(", "))?;
        }
    }
    if let Some(path) = &args.out {
        let whole = json!({ "criterion": args.wanted(&grades)?, "calibration": found });
        let text = serde_json::to_string_pretty(&whole)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if let Some(path) = &args.told.chart {
        draw(&diagram(&found), path)?;
    }
    Ok(Ended::Passed)
}

impl Args {
    /// The criterion that is looked at.
    fn wanted(&self, grades: &[Grade]) -> anyhow::Result<String> {
        let mut criteria: Vec<&str> = grades.iter().map(|it| it.criterion.as_str()).collect();
        criteria.sort_unstable();
        criteria.dedup();
        match (&self.criterion, criteria.as_slice()) {
            (Some(name), _) => Ok(name.clone()),
            (None, [only]) => Ok((*only).to_owned()),
            (None, _) => {
                anyhow::bail!(
                    "there are several criteria; choose one with --criterion: {}",
                    criteria.join(", ")
                )
            }
        }
    }
}

/// One number for each candidate: the mean of everybody who scored it.
fn means(grades: &[Grade], args: &Args) -> anyhow::Result<BTreeMap<String, f64>> {
    let wanted = args.wanted(grades)?;
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for grade in grades.iter().filter(|it| it.criterion == wanted) {
        if let Some(unit) = unit(grade, args.scale)? {
            let sum = sums.entry(grade.candidate.clone()).or_default();
            (sum.0, sum.1) = (sum.0 + unit, sum.1 + 1.0);
        }
    }
    Ok(sums.into_iter().map(|(id, (sum, n))| (id, sum / n)).collect())
}

fn diagram(found: &Calibration) -> Chart {
    let bins = found.before.reliability.bins.iter().map(|it| ReliabilityBin {
        predicted: it.score,
        observed: Measure::new(Some(it.human), it.interval),
        n: it.n,
    });
    let error = Some(found.before.reliability.ece);
    Chart::Reliability(Reliability { title: "The judge as it is".to_owned(), bins: bins.collect(), error })
}
