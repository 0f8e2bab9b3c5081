//! The difference between two runs, on a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use jurist_core::grade::VerdictStatus;
use jurist_core::quantity::plural;
use jurist_core::report::{
    FailedRunGate, criterion_score_scales, format_difference_interval, format_mean, format_on_scale,
    format_score_change, regression_lines, shared_score_scale, variant_in_words,
};
use jurist_core::run::Run;
use jurist_core::stats::comparison::{Comparison, Difference, WORTH_SEEING};

use super::{last_line_reason, list_case_reasons, printable_line};

/// The gate `--max-drop`, if the score dropped by more than `most` wherever in its interval the truth lies. Scores that
/// are compared are on the scale of `after`.
pub fn find_excessive_drop(compared: &Comparison, after: &Run, most: f64) -> Option<FailedRunGate> {
    let score = compared.score.as_ref().filter(|score| score.is_shown())?;
    let interval = score.interval.filter(|(_, high)| *high < -most)?;
    let scale = shared_score_scale(after);
    let reason = format!(
        "the score fell from {} to {} (95 % interval of the difference {})",
        format_mean(score.before, scale),
        format_mean(score.after, scale),
        format_difference_interval(interval, scale)
    );
    Some(FailedRunGate { gate: format!("--max-drop {most}"), reasons: vec![reason] })
}

/// Shows what else changed between the runs, before anything that it may explain.
pub fn show_caveats(out: &mut impl Write, compared: &Comparison) -> anyhow::Result<()> {
    for caveat in &compared.caveats {
        writeln!(out, "\x1b[33m{}\x1b[0m", printable_line(caveat))?;
    }
    Ok(())
}

/// A figure of two runs.
struct DifferenceRow<'a> {
    name: &'a str,
    difference: &'a Difference,
    /// The ends of its own scale.
    scale: Option<(f64, f64)>,
}

/// Shows the figures and what they support, and where `has_cases` is set the cases whose verdict changed.
pub fn show_comparison(
    out: &mut impl Write,
    compared: &Comparison,
    after: &Run,
    has_cases: bool,
) -> anyhow::Result<()> {
    // With one question, the score of the rubric is that of the question.
    let has_parts = 1 < compared.criteria.len()
        || compared.score.is_none()
        || after
            .rubrics
            .values()
            .any(|rubric| rubric["criteria"].as_array().is_some_and(|criteria| 1 < criteria.len()));
    // Scores of other rubrics, and criteria with another scale before, are not compared.
    let (scale, scales) = (shared_score_scale(after), criterion_score_scales(after));
    let score = compared.score.as_ref().map(|difference| DifferenceRow { name: "score", difference, scale });
    let pass_rate = compared.pass_rate.as_ref();
    let pass_rate = pass_rate.map(|difference| DifferenceRow { name: "pass rate", difference, scale: None });
    let criteria = compared.criteria.iter().filter(|_| has_parts).map(|(name, difference)| {
        let scale = scales.get(name).copied();
        DifferenceRow { name: name.as_str(), difference, scale }
    });
    let rows: Vec<DifferenceRow<'_>> = score.into_iter().chain(pass_rate).chain(criteria).collect();
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).clamp(9, 40);
    if !rows.is_empty() {
        let title = format!("{:<width$}  cases  before  after  difference", "");
        writeln!(out, "\x1b[1m{title}\x1b[0m")?;
    }
    for DifferenceRow { name, difference: it, scale } in rows {
        let interval = match it.interval {
            Some(_) if it.differs_nowhere() => "  (no case differs)".to_owned(),
            Some((low, high)) => format!("  ({low:+.3} to {high:+.3})"),
            None => String::new(),
        };
        let (colour, not_significant) = match it.is_shown() {
            true if it.difference < 0.0 => ("31", " worse"),
            true => ("32", " better"),
            false => ("2", ""),
        };
        let native = scale.map(|scale| {
            let [before, after] = [it.before, it.after].map(|mean| format_on_scale(mean, scale));
            format!("  {before} → {after}")
        });
        let name: String = printable_line(name).chars().take(width).collect();
        writeln!(
            out,
            "{name:<width$}  {:>5}  {:>6.3} {:>6.3}  \x1b[{colour}m{:>+10.3}{interval}{not_significant}\x1b[0m{}",
            it.n,
            it.before,
            it.after,
            it.difference,
            native.unwrap_or_default()
        )?;
    }
    if has_cases {
        show_changed_verdicts(out, compared, after, scale)?;
    }
    let left_out = [
        (compared.only_before.len(), "only before"),
        (compared.only_after.len(), "only after"),
        (compared.undecided.len(), "without a verdict in one of them"),
    ];
    let left_out: Vec<String> = left_out
        .iter()
        .filter(|(n, _)| 0 < *n)
        .map(|(n, why)| format!("{} {why}", plural(*n, "case")))
        .collect();
    if !left_out.is_empty() {
        writeln!(out, "left out of score and pass rate: {}", left_out.join(", "))?;
    }
    for text in regression_lines(&compared.regressions) {
        writeln!(out, "{}", printable_line(&text))?;
    }
    match &compared.score {
        Some(score) => writeln!(out, "{}", score.sentence("score", WORTH_SEEING, scale))?,
        None => writeln!(
            out,
            "No case has a verdict in both runs with the same rubric, so scores are not compared."
        )?,
    }
    Ok(())
}

/// A line for each case whose verdict changed, with the reasons of those that do not pass.
fn show_changed_verdicts(
    out: &mut impl Write,
    compared: &Comparison,
    after: &Run,
    scale: Option<(f64, f64)>,
) -> anyhow::Result<()> {
    let worse = compared.changed.iter().filter(|status_change| status_change.after != VerdictStatus::Pass);
    let worse: BTreeSet<&str> = worse.map(|status_change| status_change.case.as_str()).collect();
    let last_reason = last_line_reason(after);
    let mut why: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for result in after.results.iter().filter(|result| result.verdict.status != VerdictStatus::Pass) {
        // A change of several trials has the name of their case, and the reasons of the first of them.
        let change = worse.get(result.case.as_str()).or_else(|| worse.get(result.base()));
        if let Some(case) = change.copied() {
            let reasons = || list_case_reasons(after, &result, last_reason.as_deref());
            why.entry(case).or_insert_with(reasons);
        }
    }
    for change in &compared.changed {
        let colour = match change.after {
            VerdictStatus::Pass => "32",
            VerdictStatus::Fail => "31",
            VerdictStatus::Error | VerdictStatus::Deferred => "33",
        };
        writeln!(
            out,
            "\x1b[{colour}m{}\x1b[0m  {} → {}  {}",
            printable_line(&change.case),
            variant_in_words(&change.before),
            variant_in_words(&change.after),
            format_score_change(change.score_before, change.score_after, scale)
        )?;
        for reason in why.get(change.case.as_str()).into_iter().flatten() {
            writeln!(out, "    {}", printable_line(reason))?;
        }
    }
    Ok(())
}
