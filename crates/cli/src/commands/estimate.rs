use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::chart::{Chart, Forest, ForestRow, MeasuredValue};
use jurist_core::grade::read_stratum_sizes;
use jurist_core::quantity::plural;
use jurist_core::report::format_on_scale;
use jurist_core::stats::basics::CoefficientResult;
use jurist_core::stats::sampling::{
    EstimatedQuantity, EstimatorComparison, LabelledScores, SampleEstimate, SampledScore, Stratified,
    compare_estimators, estimate_sample_mean,
};
use jurist_engine::load::read_input;
use serde_json::json;

use crate::grades::agreement::format_measure;
use crate::grades::candidate_scores::{
    CandidateScores, MajorityPasses, off_scale_note, parse_unit_score, pass_mark_ties_note,
};
use crate::grades::sources::delimiter;
use crate::grades::{
    AnalysisOutputArgs, HumanJudgeArgs, find_unmatched_labels, read_sampled_candidates, unmatched_labels_note,
};
use crate::outcome::CommandOutcome;
use crate::reporting::printable_line;

/// Estimate a mean or pass rate from judge scores and labels
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist estimate --human labels.csv --judge latest --criterion tone
  jurist estimate --human labels.csv --scale 1-5 --judge run.json
  jurist estimate --judge sampled.csv --population strata.csv

The labelled candidates must be a random sample of those that the judge scored.
The judge's table or lines may have the sampling design: `stratum`, and
`probability`, the probability of selection. A row without a value is a
candidate that the judge could not grade. Files are read as by `jurist agree`.")]
pub struct EstimateArgs {
    #[command(flatten)]
    sides: HumanJudgeArgs,
    /// Estimate the share of candidates with at least this score (0 to 1) instead of the mean
    #[arg(long, value_name = "SCORE", value_parser = parse_unit_score)]
    pass_mark: Option<f64>,
    /// Table with the population size of each stratum (columns `stratum` and `size`)
    #[arg(long, value_name = "FILE")]
    population: Option<PathBuf>,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

pub fn run_estimate_command(args: &EstimateArgs) -> anyhow::Result<CommandOutcome> {
    let machine = args.sides.machine()?;
    let people = if args.sides.human.is_empty() { None } else { Some(args.sides.people(&machine)?) };
    let quantity =
        args.pass_mark.map_or(EstimatedQuantity::Mean, |pass_mark| EstimatedQuantity::PassRate { pass_mark });
    let sample = estimate_from_sample(args, &machine)?;
    let machine = match &people {
        Some(people) => machine.named_as(people),
        None => machine,
    };
    let unmatched = match &people {
        Some(people) => find_unmatched_labels(&machine, people)?,
        None => Vec::new(),
    };
    let labels = people.as_ref().map(|people| select_labels(people, args.pass_mark)).unwrap_or_default();
    let estimates = compare_estimators(&match_labels_to_scores(&machine, &labels.scores), quantity);
    let off =
        machine.n_off_scale + people.as_ref().map_or(0, |candidate_scores| candidate_scores.n_off_scale);
    if estimates.judge.value().is_none() && estimates.labels.value().is_none() {
        anyhow::bail!("no grade of `{}` is a number or has a scale", machine.criterion);
    }
    let scale = machine.scale.filter(|_| quantity == EstimatedQuantity::Mean);
    let mut out = crate::render::stdout();
    if args.output.json {
        let report = json!({
            "criterion": machine.criterion, "estimate": estimates, "sample": sample,
            "n_judge_errors": machine.without.len(), "n_off_scale": off,
            "n_unmatched_labels": unmatched.len(), "n_ties": labels.n_ties,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        if sample.is_none() || people.is_some() {
            show_estimators(&mut out, &machine, &estimates, !unmatched.is_empty())?;
        }
        for note in
            [unmatched_labels_note(&unmatched), pass_mark_ties_note(labels.n_ties)].into_iter().flatten()
        {
            writeln!(out, "\x1b[33m{note}\x1b[0m")?;
        }
        if !machine.without.is_empty() && sample.is_none() {
            let (n, of) = (machine.without.len(), machine.without.len() + machine.numbers.len());
            let share = 100.0 * n as f64 / of as f64;
            writeln!(
                out,
                "\x1b[33mThe judge has no score for {n} of {of} candidates ({share:.0} %).\x1b[0m"
            )?;
        }
        if let Some(off_scale) = off_scale_note(off, args.sides.scale) {
            writeln!(out, "\x1b[33m{off_scale}\x1b[0m")?;
        }
        if let Some(it) = &sample {
            writeln!(
                out,
                "\x1b[1m{}\x1b[0m  {} sampled from a population",
                printable_line(&machine.criterion),
                it.n_drawn
            )?;
            show_sample(&mut out, it, scale, people.is_some())?;
        }
    }
    if let Some(picture) = &args.output.chart {
        picture.draw(&build_estimator_chart((&machine.criterion, scale), &estimates, sample.as_ref()))?;
    }
    Ok(CommandOutcome::Passed)
}

/// The labels that are estimated from.
#[derive(Default)]
struct SelectedLabels {
    scores: BTreeMap<String, f64>,
    /// Candidates without a label, because as many people pass them as fail them.
    n_ties: usize,
}

/// For a mean, the mean score of people; for a pass rate, whether most of them pass the candidate.
fn select_labels(people: &CandidateScores, pass_mark: Option<f64>) -> SelectedLabels {
    let Some(pass_mark) = pass_mark else {
        return SelectedLabels { scores: people.numbers.clone(), n_ties: 0 };
    };
    let MajorityPasses { passes, ties } = people.decide_by_majority(pass_mark);
    let score = |passes: bool| if passes { 1.0 } else { 0.0 };
    let scores = passes.into_iter().map(|(candidate, passes)| (candidate, score(passes))).collect();
    SelectedLabels { scores, n_ties: ties.len() }
}

/// A candidate without a label is one that only the judge scored, also if its label is a tie.
fn match_labels_to_scores(machine: &CandidateScores, humans: &BTreeMap<String, f64>) -> LabelledScores {
    let judged = &machine.numbers;
    LabelledScores {
        both: judged.iter().filter_map(|(id, judge)| Some((*humans.get(id)?, *judge))).collect(),
        judge_only: judged
            .iter()
            .filter(|(id, _)| !humans.contains_key(*id))
            .map(|(_, score)| *score)
            .collect(),
        human_only: humans
            .iter()
            .filter(|(id, _)| !judged.contains_key(*id))
            .map(|(_, score)| *score)
            .collect(),
    }
}

/// An estimate for the population from which the candidates were sampled; none if the files have no sampling columns.
fn estimate_from_sample(
    args: &EstimateArgs,
    machine: &CandidateScores,
) -> anyhow::Result<Option<SampleEstimate>> {
    let sizes = match &args.population {
        None => None,
        Some(path) => {
            let name = path.display();
            let text = read_input(path).with_context(|| format!("cannot read `{name}`"))?;
            Some(read_stratum_sizes(&text, delimiter(path)).with_context(|| format!("`{name}`"))?)
        }
    };
    let how: BTreeMap<String, (Option<String>, Option<f64>)> = read_sampled_candidates(&args.sides.judge)?
        .into_iter()
        .map(|sampled_candidate| {
            (sampled_candidate.candidate, (sampled_candidate.stratum, sampled_candidate.probability))
        })
        .collect();
    if how.is_empty() {
        anyhow::ensure!(sizes.is_none(), "--population needs a column `stratum` in the judge's grades");
        return Ok(None);
    }
    let mark = |value: &f64| args.pass_mark.map_or(*value, |mark| f64::from(u8::from(mark - 1e-9 <= *value)));
    let ids = how.keys().chain(machine.numbers.keys().filter(|key| !how.contains_key(*key)));
    let sampled = ids.map(|id| {
        let (stratum, probability) = how.get(id).cloned().unwrap_or_default();
        SampledScore { stratum, probability, score: machine.numbers.get(id).map(mark) }
    });
    Ok(Some(estimate_sample_mean(&sampled.collect::<Vec<_>>(), sizes.as_ref())?))
}

/// The ways to the number, by their names.
fn named_estimators(it: &EstimatorComparison) -> Vec<(&'static str, &CoefficientResult)> {
    let ways = [
        ("judge alone", Some(&it.judge)),
        ("labels alone", Some(&it.labels)),
        ("corrected (PPI)", Some(&it.ppi)),
        ("corrected (PPI++)", Some(&it.ppi_plus_plus)),
        ("corrected (Rogan–Gladen)", it.rogan_gladen.as_ref()),
    ];
    ways.into_iter().filter_map(|(name, coefficient)| Some((name, coefficient?))).collect()
}

fn show_estimators(
    out: &mut impl Write,
    machine: &CandidateScores,
    it: &EstimatorComparison,
    has_unmatched: bool,
) -> anyhow::Result<()> {
    let what = match it.quantity {
        EstimatedQuantity::Mean => "mean".to_owned(),
        EstimatedQuantity::PassRate { pass_mark } => format!("pass rate at {pass_mark}"),
    };
    let (labels, rest) = (plural(it.n_labels, "label"), plural(it.n_judged, "candidate"));
    let from = match it.n_labels {
        0 => format!("{rest} scored by the judge"),
        _ => format!("{labels} by people, {rest} scored only by the judge"),
    };
    writeln!(out, "\x1b[1m{}\x1b[0m  {what}, {from}", printable_line(&machine.criterion))?;
    let scale = machine.scale.filter(|_| it.quantity == EstimatedQuantity::Mean);
    for (name, measure) in named_estimators(it).into_iter().take(if 0 < it.n_labels { 5 } else { 1 }) {
        let more = match (name, it.lambda) {
            ("corrected (PPI++)", Some(lambda)) => format!("  λ {lambda:.2}"),
            _ => String::new(),
        };
        let own = format_on_own_scale(measure, scale);
        writeln!(out, "  {name:<32}{}{own}{more}", format_measure(measure))?;
    }
    if let Some(it) = &it.mistakes {
        writeln!(
            out,
            "  Sensitivity {:.0} % and specificity {:.0} % (judge against human labels).",
            100.0 * it.sensitivity,
            100.0 * it.specificity
        )?;
    }
    for warning in &it.warnings {
        writeln!(out, "\x1b[33m{warning}\x1b[0m")?;
    }
    writeln!(out, "{}", interpret_estimators(it, has_unmatched))?;
    Ok(())
}

/// A mean on the scale of the rubric, next to the one on 0 to 1.
fn format_on_own_scale(measure: &CoefficientResult, scale: Option<(f64, f64)>) -> String {
    let own = measure.value().zip(scale).map(|(value, scale)| format_on_scale(value, scale));
    own.map(|own| format!("  {own}")).unwrap_or_default()
}

/// The conclusion in a sentence. Labels of candidates that the judge did not grade cannot show its bias.
fn interpret_estimators(it: &EstimatorComparison, has_unmatched: bool) -> String {
    let what = if it.quantity == EstimatedQuantity::Mean { "mean" } else { "pass rate" };
    let best = [&it.ppi_plus_plus, &it.labels]
        .into_iter()
        .find_map(|coefficient| Some((coefficient.value()?, coefficient.interval())));
    let Some((value, interval)) = best else {
        let value = it.judge.value().unwrap_or_default();
        return format!(
            "The judge's estimate is {value:.3}. Without human labels its bias is unknown and not part of the interval."
        );
    };
    let Some((low, high)) = interval else {
        return format!(
            "Label-corrected, the {what} is {value:.3}; there are too few labels for a confidence interval."
        );
    };
    let off = match it.judge.value() {
        Some(_) if has_unmatched && it.ppi_plus_plus.value().is_none() => {
            "The bias of the judge is unknown, because some labels are of candidates that it did not grade."
                .to_owned()
        }
        Some(judge) if high < judge => {
            format!("The judge alone is significantly too high, by {:.3}.", judge - value)
        }
        Some(judge) if judge < low => {
            format!("The judge alone is significantly too low, by {:.3}.", value - judge)
        }
        Some(_) => "No significant bias of the judge alone.".to_owned(),
        None => "The judge scored nothing.".to_owned(),
    };
    let more = it.labels_to_halve.map(|labels_to_halve| {
        format!(" {} would halve the interval.", plural(labels_to_halve, "more label"))
    });
    format!(
        "The {what} is {value:.3} (95 % confidence interval {low:.3} to {high:.3}). {off}{}",
        more.unwrap_or_default()
    )
}

fn show_sample(
    out: &mut impl Write,
    it: &SampleEstimate,
    scale: Option<(f64, f64)>,
    has_labels: bool,
) -> anyhow::Result<()> {
    let rows = [
        ("plain mean of the sample", &it.naive),
        ("post-stratified", &it.post_stratified),
        ("by probability (Hájek)", &it.hajek),
    ];
    for (name, measure) in rows {
        writeln!(out, "  {name:<32}{}{}", format_measure(measure), format_on_own_scale(measure, scale))?;
    }
    let costs = [
        it.strata
            .as_ref()
            .and_then(|stratified| Some((stratified.n, stratified.n_eff?, stratified.design_effect?))),
        it.weights
            .as_ref()
            .map(|weighted_mean| (weighted_mean.n, weighted_mean.n_eff, weighted_mean.design_effect)),
    ];
    if let Some((n, n_eff, design_effect)) = costs.into_iter().flatten().next() {
        writeln!(out, "  {n} scores, effective sample size {n_eff:.0} (design effect {design_effect:.2}).")?;
    }
    if let Some(strata) = &it.strata {
        show_strata(out, strata)?;
    }
    for warning in &it.warnings {
        writeln!(out, "\x1b[33m{}\x1b[0m", printable_line(warning))?;
    }
    let best = [&it.post_stratified, &it.hajek]
        .into_iter()
        .find_map(|coefficient| Some((coefficient.value()?, coefficient.interval()?)));
    if let Some((value, (low, high))) = best {
        let naive = it.naive.value().unwrap_or_default();
        writeln!(
            out,
            "By the judge, the population is at {value:.3} (95 % confidence interval {low:.3} to {high:.3}); the unweighted sample mean, {naive:.3}, is biased by the sampling."
        )?;
    }
    if has_labels {
        writeln!(
            out,
            "This estimate assumes an unbiased judge; the one above is label-corrected but assumes uniform sampling."
        )?;
    }
    Ok(())
}

fn show_strata(out: &mut impl Write, it: &Stratified) -> anyhow::Result<()> {
    let width = it.strata.iter().map(|stratum| stratum.name.chars().count()).max().unwrap_or(0).clamp(6, 40);
    for stratum in &it.strata {
        let text = match (&stratum.mean, &stratum.not_estimable) {
            (Some(mean), _) => format!("{mean:.3}"),
            (None, why) => format!("\x1b[33mno estimate: {}\x1b[0m", why.as_deref().unwrap_or_default()),
        };
        let (n, all) = (stratum.n, stratum.population);
        writeln!(out, "  {:<width$}  {n:>6} of {all:>8}  {text}", printable_line(&stratum.name))?;
    }
    if it.covered < 1.0 {
        writeln!(
            out,
            "  The estimate covers {:.0} % of the population; the rest has no sample.",
            100.0 * it.covered
        )?;
    }
    let (worst, best) = it.if_errors_scored;
    if worst < best {
        writeln!(
            out,
            "  Worst-case range including candidates that the judge could not grade: {worst:.3} to {best:.3}."
        )?;
    }
    Ok(())
}

fn build_estimator_chart(
    (criterion, scale): (&str, Option<(f64, f64)>),
    it: &EstimatorComparison,
    sample: Option<&SampleEstimate>,
) -> Chart {
    let row = |(name, measure): (&str, &CoefficientResult)| ForestRow {
        label: name.to_owned(),
        measure: MeasuredValue::new(measure.value(), measure.interval()).on_scale(scale),
        n: if let CoefficientResult::Known(it) = measure { it.n } else { 0 },
    };
    let of_sample = sample
        .iter()
        .flat_map(|sample| [("post-stratified", &sample.post_stratified), ("by probability", &sample.hajek)])
        .collect::<Vec<_>>();
    let rows = named_estimators(it)
        .into_iter()
        .chain(of_sample)
        .filter(|named_estimator| named_estimator.1.value().is_some())
        .map(row)
        .collect();
    let reference = it.judge.value().unwrap_or_default();
    Chart::Forest(Forest { title: criterion.to_owned(), rows, whole: None, reference })
}
