use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::chart::{Chart, MeasuredValue, ReliabilityBin, ReliabilityChart};
use jurist_core::report::format_beside_own_scale;
use jurist_core::stats::basics::Undefined;
use jurist_core::stats::calibration::{
    Calibration, MappingMethod, Threshold, calibrate, calibrate_threshold, select_anchors,
};
use serde_json::json;

use crate::grades::candidate_scores::{
    MajorityPasses, off_scale_note, parse_unit_score, pass_mark_ties_note,
};
use crate::grades::{AnalysisOutputArgs, HumanJudgeArgs, find_unmatched_labels, unmatched_labels_note};
use crate::outcome::CommandOutcome;

/// Calibrate a judge's scores against human labels
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist calibrate --human ratings.jsonl --judge latest --criterion tone
  jurist calibrate --human ratings.csv --scale 1-5 --judge run.json \\
      --method isotonic --out tone.json --chart tone.svg

All reported errors are cross-validated (five folds).
To apply a calibration: `judge: {calibrations: [tone.json]}` in a suite.
`jurist estimate` corrects the judge's mean.")]
#[command(mut_arg("human", |it| it.required(true)))]
pub struct CalibrateArgs {
    #[command(flatten)]
    sides: HumanJudgeArgs,
    /// Calibration method
    #[arg(long, value_enum, default_value = "platt")]
    method: MethodName,
    /// Current pass mark (0 to 1)
    #[arg(long, value_name = "SCORE", default_value_t = 0.7, value_parser = parse_unit_score)]
    threshold: f64,
    /// Number of labelled candidates to suggest as anchors
    #[arg(long, value_name = "N", default_value_t = 4)]
    anchors: usize,
    /// Write the calibration to this JSON file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum MethodName {
    Isotonic,
    Platt,
    Quantile,
}

pub fn run_calibrate_command(args: &CalibrateArgs) -> anyhow::Result<CommandOutcome> {
    let machine = args.sides.machine()?;
    let people = args.sides.people(&machine)?;
    let machine = machine.named_as(&people);
    let unmatched = find_unmatched_labels(&machine, &people)?;
    let (humans, judged) = (&people.numbers, &machine.numbers);
    let both: Vec<(&String, f64, f64)> =
        judged.iter().filter_map(|(id, judge)| Some((id, *judge, *humans.get(id)?))).collect();
    let (judge, human): (Vec<f64>, Vec<f64>) = both.iter().map(|(_, judge, human)| (*judge, *human)).unzip();
    let method = match args.method {
        MethodName::Isotonic => MappingMethod::Isotonic,
        MethodName::Platt => MappingMethod::Platt,
        MethodName::Quantile => MappingMethod::Quantile,
    };
    let calibration = calibrate(&judge, &human, method, args.output.seed)?;
    let MajorityPasses { passes, ties } = people.decide_by_majority(args.threshold);
    let (decided, passes): (Vec<f64>, Vec<bool>) =
        both.iter().filter_map(|(id, judge, _)| Some((*judge, *passes.get(*id)?))).unzip();
    let n_ties = ties.iter().filter(|id| judged.contains_key(*id)).count();
    let mark = calibrate_threshold(&decided, &passes, args.threshold, args.output.seed);
    let anchors = select_anchors(&judge, &human, args.anchors);
    let mut out = crate::render::stdout();
    if args.output.json {
        let report = json!({
            "calibration": calibration,
            "threshold": mark.as_ref().ok(),
            "n_unmatched_labels": unmatched.len(),
            "n_ties": n_ties,
            "anchors": anchors.as_ref().ok().map(|anchors| anchors.chosen.iter().map(|at| both[*at].0).collect::<Vec<_>>()),
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        writeln!(out, "{} labelled candidates", both.len())?;
        let n_off_scale = people.n_off_scale + machine.n_off_scale;
        let notes = [unmatched_labels_note(&unmatched), off_scale_note(n_off_scale, args.sides.scale)];
        for note in notes.into_iter().flatten() {
            writeln!(out, "\x1b[33m{note}\x1b[0m")?;
        }
        for (name, before, after) in [
            ("Brier score", &calibration.before.brier, &calibration.after.brier),
            ("calibration error", &calibration.before.ece, &calibration.after.ece),
            ("bias", &calibration.before.bias, &calibration.after.bias),
        ] {
            writeln!(out, "  {name:<20}{:>7.3}  →  {:.3}", before.value, after.value)?;
        }
        writeln!(out, "{}", calibration.sentence())?;
        writeln!(out, "{}", pass_mark(&mark, args.threshold, machine.scale))?;
        if let Some(note) = pass_mark_ties_note(n_ties) {
            writeln!(out, "\x1b[33m{note}\x1b[0m")?;
        }
        if let Ok(anchors) = &anchors {
            let names: Vec<&str> = anchors.chosen.iter().map(|at| both[*at].0.as_str()).collect();
            writeln!(out, "Suggested anchors for the judge: {}.", names.join(", "))?;
        }
    }
    if let Some(path) = &args.out {
        let mapping_file = json!({ "criterion": people.criterion, "calibration": calibration });
        let text = serde_json::to_string_pretty(&mapping_file)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if let Some(picture) = &args.output.chart {
        picture.draw(&diagram(&calibration, machine.scale, people.scale))?;
    }
    Ok(CommandOutcome::Passed)
}

/// Compares the pass mark with the one that agrees best with people.
fn pass_mark(calibrated: &Result<Threshold, Undefined>, current: f64, scale: Option<(f64, f64)>) -> String {
    let show_mark = |mark: f64| format_beside_own_scale(mark, scale);
    let threshold = match calibrated {
        Ok(threshold) => threshold,
        Err(why) => return format!("No better pass mark: {why}."),
    };
    let (before, after) = (threshold.before.accuracy.rate * 100.0, threshold.after.accuracy.rate * 100.0);
    if (threshold.threshold - current).abs() < 0.005 {
        return format!(
            "The pass mark {} agrees with people on {before:.0} % of candidates; no other pass mark is better.",
            show_mark(current)
        );
    }
    format!(
        "The pass mark {} agrees with people on {before:.0} % of candidates. The best pass mark is {}; {}.",
        show_mark(current),
        show_mark(threshold.threshold),
        if before < after {
            format!("cross-validated, it agrees on {after:.0} %")
        } else {
            format!("cross-validated, it agrees on {after:.0} %, which is no improvement")
        }
    )
}

fn diagram(
    calibration: &Calibration,
    judge_scale: Option<(f64, f64)>,
    human_scale: Option<(f64, f64)>,
) -> Chart {
    let bins = calibration.before.reliability.bins.iter().map(|bin| ReliabilityBin {
        predicted: bin.score,
        observed: MeasuredValue::new(Some(bin.human), bin.interval).on_scale(human_scale),
        n: bin.n,
    });
    let error = Some(calibration.before.reliability.ece);
    Chart::Reliability(ReliabilityChart {
        title: "Uncalibrated judge".to_owned(),
        bins: bins.collect(),
        error,
        scale: judge_scale,
    })
}
