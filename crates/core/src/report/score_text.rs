//! Scores as the rubric's author thinks of them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::dialect::read_canonical_rubric;
use crate::grade::{Grade, Outcome, RubricHash, Value, VerdictStatus};
use crate::quantity::{format_unlike, move_to_scale};
use crate::rubric::{Aggregation, Criterion, CriterionKind, Display, Polarity, Rubric, Scale};
use crate::run::{CaseResult, Run};

/// Rubrics by their version.
pub type Rubrics = BTreeMap<RubricHash, Rubric>;

/// The run's rubrics, read back from their canonical form; one that cannot be read is only less to show.
pub fn parse_run_rubrics(run: &Run) -> Rubrics {
    let rubrics = run.rubrics.iter();
    rubrics.filter_map(|(version, value)| Some((version.clone(), read_canonical_rubric(value)?))).collect()
}

/// The score on the rubric's own scale; reports show it next to the score on 0..=1.
pub fn format_native_score(result: &CaseResult, rubric: Option<&Rubric>) -> Option<String> {
    let verdict = &result.verdict;
    let (score, passed) = (verdict.score?, verdict.status == VerdictStatus::Pass);
    match rubric.map(|rubric| rubric.display) {
        Some(display @ (Display::Likert { .. } | Display::Letter)) => Some(display.show(score, passed)),
        // Yes or no is what the status says already.
        _ => {
            let (native, (_, top)) =
                (verdict.native?, criterion_scale_bounds(rubric?.questions().next()?.criterion)?);
            (!is_calibrated(rubric?, &result.grades)).then(|| format!("{native:.1}/{top}"))
        }
    }
}

/// The score of a case, on the rubric's own scale first where it has one: `3.5/5 (0.62)`.
pub fn format_case_score(result: &CaseResult, rubrics: &Rubrics) -> Option<String> {
    let score = result.verdict.score?;
    Some(put_own_scale_first(format!("{score:.2}"), format_native_score(result, rubrics.get(&result.rubric))))
}

/// The pass mark of a case, on the scale of its rubric first where it has one: `3.8/5 (0.70)`. `None` if every score
/// reaches it.
///
/// It belongs to the rubric: cases without a verdict, and those with a calibrated score, have the same.
pub fn format_pass_mark(run: &Run, result: &CaseResult, rubrics: &Rubrics) -> Option<String> {
    let mark = run.shown_pass_mark(&result.rubric)?;
    let scale = rubrics.get(&result.rubric).and_then(rubric_score_scale);
    Some(format_beside_own_scale(mark, scale))
}

/// The mean of the scores of a run, on their own scale first if all share one: `3.5/5 (0.62)`.
pub fn format_mean_score(run: &Run) -> Option<String> {
    let MeanScore { mean, scale } = compute_mean_score(run)?;
    Some(format_beside_own_scale(mean, scale))
}

/// A score from 0 to 1 on another scale, such as `3.4/5`.
pub fn format_on_scale(unit: f64, scale: (f64, f64)) -> String {
    format!("{:.1}/{}", move_to_scale(unit, scale), scale.1)
}

/// A score from 0 to 1, on its own scale first if it has one: `3.5/5 (0.62)`.
pub fn format_beside_own_scale(unit: f64, scale: Option<(f64, f64)>) -> String {
    put_own_scale_first(format!("{unit:.2}"), scale.map(|scale| format_on_scale(unit, scale)))
}

/// A mean with the digits that an interval needs, on its own scale first if it has one: `3.45/5 (0.612)`.
pub fn format_mean(mean: f64, scale: Option<(f64, f64)>) -> String {
    put_own_scale_first(format!("{mean:.3}"), scale.map(|scale| format_mean_on_scale(mean, scale)))
}

fn format_mean_on_scale(mean: f64, scale: (f64, f64)) -> String {
    format!("{:.2}/{}", move_to_scale(mean, scale), scale.1)
}

/// A mean with its interval, on its own scale first if it has one: `3.45/5 [3.20, 3.69] (0.612 [0.551, 0.673])`.
pub fn format_mean_with_interval(mean: f64, interval: (f64, f64), scale: Option<(f64, f64)>) -> String {
    let own =
        |scale| format!("{} {}", format_mean_on_scale(mean, scale), format_ends_on_scale(interval, scale));
    put_own_scale_first(format!("{mean:.3} {}", format_ends(interval)), scale.map(own))
}

/// The interval of a mean, on its own scale first if it has one: `[3.20, 3.69] ([0.551, 0.673])`.
pub fn format_score_interval(interval: (f64, f64), scale: Option<(f64, f64)>) -> String {
    put_own_scale_first(format_ends(interval), scale.map(|scale| format_ends_on_scale(interval, scale)))
}

fn format_ends((low, high): (f64, f64)) -> String {
    format!("[{low:.3}, {high:.3}]")
}

fn format_ends_on_scale((low, high): (f64, f64), scale: (f64, f64)) -> String {
    format!("[{:.2}, {:.2}]", move_to_scale(low, scale), move_to_scale(high, scale))
}

/// The difference of two means with its interval, on their own scale first if they have one:
/// `+0.80 [+0.40, +1.20] on 1–5 (+0.200 [+0.100, +0.300])`.
pub fn format_difference_with_interval(
    difference: f64,
    (low, high): (f64, f64),
    scale: Option<(f64, f64)>,
) -> String {
    let own = |(bottom, top): (f64, f64)| {
        let [difference, low, high] = [difference, low, high].map(|unit| unit * (top - bottom));
        format!("{difference:+.2} [{low:+.2}, {high:+.2}] on {bottom}–{top}")
    };
    put_own_scale_first(format!("{difference:+.3} [{low:+.3}, {high:+.3}]"), scale.map(own))
}

/// The interval of the difference of two means, on their own scale first if they have one:
/// `+0.40 to +1.20 on 1–5 (+0.100 to +0.300)`.
pub fn format_difference_interval((low, high): (f64, f64), scale: Option<(f64, f64)>) -> String {
    let own = |(bottom, top): (f64, f64)| {
        let [low, high] = [low, high].map(|unit| unit * (top - bottom));
        format!("{low:+.2} to {high:+.2} on {bottom}–{top}")
    };
    put_own_scale_first(format!("{low:+.3} to {high:+.3}"), scale.map(own))
}

/// How far apart two scores are, on their own scale first if they have one: `2.0 on 1–5 (0.50)`.
pub fn format_score_distance(distance: f64, scale: Option<(f64, f64)>) -> String {
    let own = |(bottom, top): (f64, f64)| format!("{:.1} on {bottom}–{top}", distance * (top - bottom));
    put_own_scale_first(format!("{distance:.2}"), scale.map(own))
}

/// The score of a case and a mark that it misses, with as many digits as tell them apart, on their own scale first if
/// they have one: `3.8/5 (0.695)` and `3.8/5 (0.700)`.
pub(super) fn format_missed_mark(score: f64, mark: f64, scale: Option<(f64, f64)>) -> [String; 2] {
    let [score_text, mark_text] = format_unlike([score, mark]);
    let own = |unit: f64| scale.map(|scale| format_on_scale(unit, scale));
    [put_own_scale_first(score_text, own(score)), put_own_scale_first(mark_text, own(mark))]
}

/// A text about scores from 0 to 1, after the same on their own scale.
fn put_own_scale_first(unit: String, own: Option<String>) -> String {
    match own {
        Some(own) => format!("{own} ({unit})"),
        None => unit,
    }
}

/// The score of a case in two runs: `5.0/5 (1.00) → 3.0/5 (0.50)`; a dash is no score.
pub fn format_score_change(before: Option<f64>, after: Option<f64>, scale: Option<(f64, f64)>) -> String {
    let [before, after] = [before, after].map(|score| match score {
        Some(unit) => format_beside_own_scale(unit, scale),
        None => "–".to_owned(),
    });
    format!("{before} → {after}")
}

/// The ends of the scale that all scores of a run share.
pub fn shared_score_scale(run: &Run) -> Option<(f64, f64)> {
    compute_mean_score(run)?.scale
}

/// The mean of the scores of a run.
struct MeanScore {
    /// From 0 to 1.
    mean: f64,
    /// The ends of the scale that all scores share.
    scale: Option<(f64, f64)>,
}

/// Reads the results once: each is unpacked for it.
fn compute_mean_score(run: &Run) -> Option<MeanScore> {
    let rubrics = parse_run_rubrics(run);
    let scored = |result: CaseResult| {
        let scale = rubrics.get(&result.rubric).and_then(|rubric| score_scale(&result, rubric));
        Some((result.verdict.score?, scale))
    };
    let scores: Vec<(f64, Option<(f64, f64)>)> = run.results.iter().filter_map(scored).collect();
    let (_, first) = *scores.first()?;
    let is_shared = scores.iter().all(|(_, scale)| *scale == first);
    let mean = scores.iter().map(|(score, _)| score).sum::<f64>() / scores.len() as f64;
    Some(MeanScore { mean, scale: first.filter(|_| is_shared) })
}

/// The rubric of a case, read back from its canonical form.
pub(super) fn parse_case_rubric(run: &Run, result: &CaseResult) -> Option<Rubric> {
    read_canonical_rubric(run.rubrics.get(&result.rubric)?)
}

/// The ends of the scale on which the score of a case is a number.
pub(super) fn score_scale(result: &CaseResult, rubric: &Rubric) -> Option<(f64, f64)> {
    match rubric.display {
        Display::Likert { min, max } => Some((min as f64, max as f64)),
        Display::Boolean | Display::Letter => None,
        Display::Unit => {
            let (low, top) = criterion_scale_bounds(rubric.questions().next()?.criterion)?;
            let unit = (result.verdict.native? - low) / (top - low);
            // Penalties and calibration change the score and not the answers.
            ((unit - result.verdict.score?).abs() < 1e-6).then_some((low, top))
        }
    }
}

/// The ends of the scale that the scores of all these rubrics share. Lists of runs show it, and read no results.
pub fn declared_score_scale(rubrics: &BTreeMap<RubricHash, Json>) -> Option<(f64, f64)> {
    let mut scales = rubrics.values().map(|rubric| rubric_score_scale(&read_canonical_rubric(rubric)?));
    let first = scales.next()??;
    scales.all(|scale| scale == Some(first)).then_some(first)
}

/// The ends of the scale on which a rubric shows its score, or that all its criteria share.
pub fn rubric_score_scale(rubric: &Rubric) -> Option<(f64, f64)> {
    match rubric.display {
        Display::Likert { min, max } => Some((min as f64, max as f64)),
        Display::Boolean | Display::Letter => None,
        // Penalties and the worst answer are no mean on the scale.
        Display::Unit if rubric.aggregation == Aggregation::Min || rubric.length_penalty.is_some() => None,
        Display::Unit => {
            let mut scales = rubric.criteria.iter().map(find_score_scale);
            let first = scales.next()??;
            scales.all(|scale| scale == Some(first)).then_some(first)
        }
    }
}

/// The ends of the scale of a criterion of whole numbers, if a high answer to it is good: otherwise the score of the
/// criterion is not its answer.
pub fn criterion_score_scale(rubric: &Rubric, name: &str) -> Option<(f64, f64)> {
    let question = rubric.questions().find(|question| question.id() == name)?;
    find_score_scale(question.criterion)
}

/// The scale on which the score of each criterion is shown; none for a criterion of which a high answer is bad, and for
/// one about which rubrics differ.
pub fn criterion_score_scales(run: &Run) -> BTreeMap<String, (f64, f64)> {
    collect_scales(&parse_run_rubrics(run), find_score_scale)
}

fn find_score_scale(criterion: &Criterion) -> Option<(f64, f64)> {
    let is_high_good = criterion.polarity == Polarity::Plain && 0.0 <= criterion.weight;
    criterion_scale_bounds(criterion).filter(|_| is_high_good)
}

/// The ends of the scale on which the score of these grades is shown: that of the rubric, except for a mean of answers
/// that a calibration changed.
pub fn graded_score_scale<'a>(
    rubric: &Rubric,
    grades: impl IntoIterator<Item = &'a Grade>,
) -> Option<(f64, f64)> {
    let is_mean = rubric.display == Display::Unit;
    rubric_score_scale(rubric).filter(|_| !is_mean || !is_calibrated(rubric, grades))
}

/// Whether a judge's numbers were mapped onto what people mean by them; then they are not what counts.
fn is_calibrated<'a>(rubric: &Rubric, grades: impl IntoIterator<Item = &'a Grade>) -> bool {
    let is_mapped = |grade: &Grade| {
        let Outcome::Scored { value: Value::Number(number), unit: Some(unit) } = grade.outcome else {
            return false;
        };
        let question = rubric.questions().find(|question| question.id() == grade.criterion);
        let bounds = question.and_then(|question| criterion_scale_bounds(question.criterion));
        bounds.is_some_and(|(low, top)| 1e-6 < ((number - low) / (top - low) - unit).abs())
    };
    grades.into_iter().any(is_mapped)
}

/// The ends of the scale of each criterion of whole numbers, as graders answer it; of rubrics that differ about one,
/// none. Scores are shown on [`criterion_score_scales`].
pub fn declared_scales(run: &Run) -> BTreeMap<String, (f64, f64)> {
    collect_criterion_scales(&parse_run_rubrics(run))
}

pub(super) fn collect_criterion_scales(rubrics: &Rubrics) -> BTreeMap<String, (f64, f64)> {
    collect_scales(rubrics, criterion_scale_bounds)
}

fn collect_scales(
    rubrics: &Rubrics,
    find_scale: impl Fn(&Criterion) -> Option<(f64, f64)>,
) -> BTreeMap<String, (f64, f64)> {
    let mut scales: BTreeMap<String, Option<(f64, f64)>> = BTreeMap::new();
    for rubric in rubrics.values() {
        for question in rubric.questions() {
            let ends = find_scale(question.criterion);
            let known = scales.entry(question.id()).or_insert(ends);
            *known = known.filter(|known| Some(*known) == ends);
        }
    }
    scales.into_iter().filter_map(|(criterion, ends)| Some((criterion, ends?))).collect()
}

/// What each choice of a criterion is worth from 0 to 1, by criterion; of rubrics that differ about one, nothing.
pub fn declared_choices(run: &Run) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut all: BTreeMap<String, Option<BTreeMap<String, f64>>> = BTreeMap::new();
    for rubric in parse_run_rubrics(run).values() {
        for question in rubric.questions() {
            let choices = match &question.criterion.ask {
                CriterionKind::Question(Scale::Choices(choices)) => {
                    Some(choices.iter().map(|choice| (choice.label.clone(), choice.score)).collect())
                }
                _ => None,
            };
            let known = all.entry(question.id()).or_insert_with(|| choices.clone());
            if *known != choices {
                *known = None;
            }
        }
    }
    all.into_iter().filter_map(|(criterion, choices)| Some((criterion, choices?))).collect()
}

pub(super) fn criterion_scale_bounds(criterion: &Criterion) -> Option<(f64, f64)> {
    if let CriterionKind::Question(scale @ (Scale::Likert { .. } | Scale::Ranges(_))) = &criterion.ask {
        scale.bounds()
    } else {
        None
    }
}
