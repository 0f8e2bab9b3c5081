//! Two runs of one suite, pair by pair: what is different, and whether that can be more than chance.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use super::multiple_comparisons::holm;
use super::regression::find_regressions;
use crate::grade::{Grade, GraderKind, VerdictStatus};
use crate::quantity::plural;
use crate::run::{CaseResult, Regressions, Run, StatusChange};
use crate::stats::basics::bounded::{Cluster, difference_interval};
use crate::stats::basics::resample::sign_test;
use crate::stats::basics::special::{even_odds, normal_quantile};

/// A p-value under which a difference is taken to be shown.
const ALPHA: f64 = 0.05;

/// A difference that is looked for where none is shown.
pub const WORTH_SEEING: f64 = 0.05;

/// What two runs say about each other. `before` and `after` are in the order they were given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Other differences between the runs that may explain a change.
    pub caveats: Vec<String>,
    /// Cases that both decided with the same rubric.
    pub n_cases: usize,
    /// Cases of one of them alone.
    pub only_before: Vec<String>,
    pub only_after: Vec<String>,
    /// Cases without a verdict in at least one of the runs, because a grader failed or was not asked.
    pub undecided: Vec<String>,
    pub score: Option<Difference>,
    pub pass_rate: Option<Difference>,
    /// By criterion; their p-values hold for all of them together.
    pub criteria: BTreeMap<String, Difference>,
    /// Cases whose verdict changed, the worst first.
    pub changed: Vec<StatusChange>,
    /// What passed before and does not pass now; each case once, whatever became of its rubric.
    pub regressions: Regressions,
}

/// The difference of two means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    pub before: f64,
    pub after: f64,
    pub difference: f64,
    /// Where it may really lie, in 95 of 100 cases; not to be had from a single case.
    pub interval: Option<(f64, f64)>,
    /// How often chance alone makes as much of a difference.
    pub p: f64,
    /// Independent cases.
    pub n: usize,
    /// From case to case, the standard deviation of the differences.
    pub spread: f64,
}

impl Difference {
    pub fn is_shown(&self) -> bool {
        self.p < ALPHA && self.interval.is_some_and(|(low, high)| 0.0 < low || high < 0.0)
    }

    /// Each case has the same value before and after.
    pub fn differs_nowhere(&self) -> bool {
        self.spread <= 0.0 && self.difference.abs() <= 0.0
    }

    /// Cases that would be needed in addition to these to see a difference of this size four times out of five.
    pub fn more_cases_for(&self, size: f64) -> Option<usize> {
        let z = normal_quantile(1.0 - ALPHA / 2.0) + normal_quantile(0.8);
        let needed = (z * self.spread / size).powi(2).ceil();
        (self.spread > 0.0 && (self.n as f64) < needed).then(|| needed as usize - self.n)
    }

    /// The conclusion as a sentence that claims no more than the data support; `scale` has the ends of the scale of
    /// what is compared, if that is not 0 to 1.
    pub fn sentence(&self, what: &str, size: f64, scale: Option<(f64, f64)>) -> String {
        let Some((low, high)) = self.interval else {
            return format!("One case is not enough to test whether the {what} changed.");
        };
        if self.differs_nowhere() {
            return format!(
                "The {what} is the same in all {} cases; with 95 % confidence fewer than {:.0} % of all cases differ.",
                self.n,
                (100.0 * high).ceil()
            );
        }
        if self.is_shown() {
            let direction = if self.difference < 0.0 { "fell" } else { "rose" };
            let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
            let by = self.difference.abs();
            let unit = format!("{by:.3} (95 % confidence interval {least:.3} to {most:.3})");
            let Some((bottom, top)) = scale else { return format!("The {what} {direction} by {unit}.") };
            let [by, least, most] = [by, least, most].map(|unit| unit * (top - bottom));
            return format!(
                "The {what} {direction} by {by:.2} on {bottom}–{top} (95 % confidence interval {least:.2} to {most:.2}), which is {unit} on 0–1."
            );
        }
        let (mut interval, mut detected) = (format!("{low:+.3} to {high:+.3}"), size.to_string());
        if let Some((bottom, top)) = scale {
            let [low, high, size] = [low, high, size].map(|unit| unit * (top - bottom));
            interval = format!("{low:+.2} to {high:+.2} on {bottom}–{top} ({interval} on 0–1)");
            detected = format!("{size:.2} ({detected})");
        }
        let more = match self.more_cases_for(size) {
            Some(more) => format!("{} would detect {detected}", plural(more, "more case")),
            None => format!("these cases are enough to detect {detected}"),
        };
        format!(
            "No significant difference of the {what}: the 95 % confidence interval {interval} includes zero; {more}."
        )
    }

    /// Pairs of values, by the case they belong to.
    fn of<'a>(pairs: impl Iterator<Item = (&'a str, f64, f64)>, seed: u64) -> Option<Self> {
        let mut by_case: BTreeMap<&str, Cluster> = BTreeMap::new();
        let (mut before, mut after, mut n) = (0.0, 0.0, 0.0);
        for (case, a, b) in pairs {
            let cluster = by_case.entry(case).or_insert(Cluster { sum: 0.0, n: 0.0 });
            (cluster.sum, cluster.n) = (cluster.sum + b - a, cluster.n + 1.0);
            (before, after, n) = (before + a, after + b, n + 1.0);
        }
        if by_case.is_empty() {
            return None;
        }
        let clusters: Vec<Cluster> = by_case.into_values().collect();
        let means: Vec<f64> = clusters.iter().map(|cluster| cluster.sum / cluster.n).collect();
        let middle = means.iter().sum::<f64>() / means.len() as f64;
        let spread = match means.len() {
            1 => 0.0,
            n => (means.iter().map(|mean| (mean - middle).powi(2)).sum::<f64>() / (n as f64 - 1.0)).sqrt(),
        };
        Some(Self {
            before: before / n,
            after: after / n,
            difference: (after - before) / n,
            interval: difference_interval(&clusters, 1.0),
            p: sign_test(&clusters, seed),
            n: clusters.len(),
            spread,
        })
    }
}

/// Trials of one case in one run.
struct ComparedTrials<'a> {
    /// Never empty.
    results: Vec<&'a CaseResult>,
}

impl<'a> ComparedTrials<'a> {
    fn first(&self) -> &'a CaseResult {
        self.results[0]
    }

    fn list_decided_trials(&self) -> impl Iterator<Item = &'a CaseResult> {
        let is_decided =
            |result: &&CaseResult| matches!(result.verdict.status, VerdictStatus::Pass | VerdictStatus::Fail);
        self.results.iter().copied().filter(is_decided)
    }

    /// Of the trials with a verdict, the share that passes.
    fn pass_share(&self) -> Option<f64> {
        let n_passed =
            self.list_decided_trials().filter(|result| result.verdict.status == VerdictStatus::Pass).count();
        let n_decided = self.list_decided_trials().count();
        (0 < n_decided).then(|| n_passed as f64 / n_decided as f64)
    }

    fn mean_score(&self) -> Option<f64> {
        let mut scores: Vec<f64> =
            self.list_decided_trials().filter_map(|result| result.verdict.score).collect();
        if scores.is_empty() {
            scores = self.results.iter().filter_map(|result| result.verdict.score).collect();
        }
        (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// The verdict of all trials that have one; `None` where they differ.
    fn common_status(&self) -> Option<VerdictStatus> {
        let Some(first) = self.list_decided_trials().next() else { return Some(self.first().verdict.status) };
        let status = first.verdict.status;
        self.list_decided_trials().all(|result| result.verdict.status == status).then_some(status)
    }
}

/// A case in both runs: one trial of it that both have, or all its trials where the runs made different ones.
struct CasePair<'a> {
    before: ComparedTrials<'a>,
    after: ComparedTrials<'a>,
}

impl<'a> CasePair<'a> {
    fn base(&self) -> &'a str {
        self.before.first().base()
    }

    /// The name of the trial, or of the case if the pair has several trials.
    fn name(&self) -> &'a str {
        let before = self.before.first();
        if before.case == self.after.first().case { &before.case } else { before.base() }
    }

    fn is_single(&self) -> bool {
        self.before.results.len() == 1 && self.after.results.len() == 1
    }

    fn has_same_rubric(&self) -> bool {
        self.before.first().rubric == self.after.first().rubric
    }

    /// Both runs passed or failed it.
    fn is_decided(&self) -> bool {
        self.before.list_decided_trials().next().is_some()
            && self.after.list_decided_trials().next().is_some()
    }

    fn status_change(&self) -> Option<StatusChange> {
        let (before, after) = (self.before.common_status()?, self.after.common_status()?);
        (before != after).then(|| StatusChange {
            case: self.name().to_owned(),
            before,
            after,
            score_before: self.before.mean_score(),
            score_after: self.after.mean_score(),
        })
    }
}

type ResultsByCase<'a> = BTreeMap<&'a str, Vec<&'a CaseResult>>;

fn group_by_case(results: &[CaseResult]) -> ResultsByCase<'_> {
    let mut by_case = ResultsByCase::new();
    for result in results {
        by_case.entry(result.base()).or_default().push(result);
    }
    by_case
}

/// Pairs trials by their names. If no trial of a case has the same name in both runs, because their number changed, all
/// its trials are one pair.
fn pair_cases<'a>(before: &'a [CaseResult], after: &ResultsByCase<'a>) -> Vec<CasePair<'a>> {
    let old = group_by_case(before);
    let (mut pairs, mut known) = (Vec::new(), BTreeSet::new());
    for result in before {
        let case = result.base();
        let Some(trials) = after.get(case) else { continue };
        let find_same = |one: &CaseResult| trials.iter().rev().copied().find(|other| other.case == one.case);
        if let Some(same) = find_same(result) {
            let [before, after] = [result, same].map(|result| ComparedTrials { results: vec![result] });
            pairs.push(CasePair { before, after });
        } else if known.insert(case) && !old[case].iter().any(|one| find_same(one).is_some()) {
            let [before, after] =
                [&old[case], trials].map(|results| ComparedTrials { results: results.clone() });
            pairs.push(CasePair { before, after });
        }
    }
    pairs
}

/// Compares case by case. Where a rubric changed, only the criteria that stayed the same are compared.
pub fn compare_runs(before: &Run, after: &Run, seed: u64) -> Comparison {
    let open = |run: &Run| run.results.iter().collect::<Vec<CaseResult>>();
    let (old, new) = (open(before), open(after));
    let (left, right) = (group_by_case(&old), group_by_case(&new));
    let only = |a: &ResultsByCase<'_>, b: &ResultsByCase<'_>| {
        a.keys().filter(|case| !b.contains_key(**case)).map(|case| (*case).to_owned()).collect::<Vec<_>>()
    };
    let pairs = pair_cases(&old, &right);
    let same: Vec<&CasePair<'_>> = pairs.iter().filter(|pair| pair.has_same_rubric()).collect();
    let both: Vec<&CasePair<'_>> = same.iter().copied().filter(|pair| pair.is_decided()).collect();
    let decided: BTreeSet<&str> = both.iter().map(|pair| pair.base()).collect();

    let scores = both
        .iter()
        .filter_map(|pair| Some((pair.base(), pair.before.mean_score()?, pair.after.mean_score()?)));
    let passed = both
        .iter()
        .filter_map(|pair| Some((pair.base(), pair.before.pass_share()?, pair.after.pass_share()?)));
    let mut pass_rate = Difference::of(passed, seed);
    let is_each_once = both.iter().all(|pair| pair.is_single());
    if let Some(rate) = pass_rate.as_mut().filter(|difference| is_each_once && difference.n == both.len()) {
        // Each case once: the exact test (McNemar) counts those that changed.
        let changed = |pair: &&&CasePair<'_>, from: VerdictStatus| {
            let [old, new] = [&pair.before, &pair.after].map(|trials| trials.first().verdict.status);
            old == from && new != from
        };
        let count = |from| both.iter().filter(|pair| changed(pair, from)).count() as u64;
        rate.p = even_odds(count(VerdictStatus::Pass), count(VerdictStatus::Fail));
    }
    let mut changed: Vec<StatusChange> = same.iter().filter_map(|pair| pair.status_change()).collect();
    let rank = |status_change: &StatusChange| match (status_change.before, status_change.after) {
        (VerdictStatus::Pass, VerdictStatus::Fail) => 0,
        (_, VerdictStatus::Error) => 1,
        (_, VerdictStatus::Fail) => 2,
        (_, VerdictStatus::Deferred) => 3,
        (_, VerdictStatus::Pass) => 4,
    };
    changed.sort_by_key(rank);
    let mut known = decided.clone();
    let undecided = same.iter().map(|pair| pair.base()).filter(|case| known.insert(*case));
    Comparison {
        caveats: caveats(&pairs),
        n_cases: decided.len(),
        only_before: only(&left, &right),
        only_after: only(&right, &left),
        undecided: undecided.map(str::to_owned).collect(),
        score: Difference::of(scores, seed),
        pass_rate,
        criteria: compare_criteria(before, after, &pairs, seed),
        changed,
        regressions: find_regressions(&old, &new),
    }
}

fn compare_criteria(
    before: &Run,
    after: &Run,
    pairs: &[CasePair<'_>],
    seed: u64,
) -> BTreeMap<String, Difference> {
    let mut values: BTreeMap<Cow<'_, str>, Vec<(&str, f64, f64)>> = BTreeMap::new();
    for pair in pairs {
        let (a, b) = (pair.before.first(), pair.after.first());
        let (old, new) = (before.rubrics.get(&a.rubric), after.rubrics.get(&b.rubric));
        let others = criterion_means(after, &pair.after);
        for (id, score) in criterion_means(before, &pair.before) {
            let is_same =
                a.rubric == b.rubric || old.zip(new).is_some_and(|(old, new)| has_same_wording(old, new, id));
            if let Some(other) = others.get(id).filter(|_| is_same) {
                values.entry(after.worth_name(b, id)).or_default().push((a.base(), score, *other));
            }
        }
    }
    let mut all: BTreeMap<String, Difference> = values
        .into_iter()
        .filter_map(|(id, pairs)| Some((id.into_owned(), Difference::of(pairs.into_iter(), seed)?)))
        .collect();
    let adjusted = holm(&all.values().map(|difference| difference.p).collect::<Vec<_>>());
    for (difference, p) in all.values_mut().zip(adjusted) {
        difference.p = p;
    }
    all
}

/// Of each criterion, what the answers to it are worth to the score, as their mean.
fn criterion_means<'a>(run: &Run, trials: &ComparedTrials<'a>) -> BTreeMap<&'a str, f64> {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for result in trials.results.iter().copied() {
        for grade in &result.grades {
            if let Some(worth) = run.answer_worth(result, grade) {
                let (sum, n) = sums.entry(&grade.criterion).or_default();
                *sum += worth;
                *n += 1.0;
            }
        }
    }
    sums.into_iter().map(|(id, (sum, n))| (id, sum / n)).collect()
}

/// Whether a criterion asks the same in two rubrics: what its answer counts for may differ.
fn has_same_wording(before: &Json, after: &Json, id: &str) -> bool {
    let wording = |rubric| find_definition(rubric, id).map(keep_wording);
    let before = wording(before);
    before.is_some() && before == wording(after)
}

/// The definition of a criterion in a canonical rubric, at any depth.
fn find_definition<'a>(rubric: &'a Json, id: &str) -> Option<&'a Json> {
    match rubric {
        Json::Object(map) if map.get("id").or(map.get("name")).and_then(Json::as_str) == Some(id) => {
            Some(rubric)
        }
        Json::Object(map) => map.values().find_map(|value| find_definition(value, id)),
        Json::Array(items) => items.iter().find_map(|item| find_definition(item, id)),
        _ => None,
    }
}

/// Keys of a criterion that change neither the question nor what its best answer is.
const CONSEQUENCES: [&str; 8] =
    ["cannot_assess", "label", "min_score", "required", "requires", "unmet", "weight", "when"];

/// A definition without the consequences of its answer. The sign of a weight stays: it decides which answer is the best.
fn keep_wording(definition: &Json) -> Json {
    let mut wording = definition.clone();
    if let Json::Object(map) = &mut wording {
        let is_penalty = map.get("weight").and_then(Json::as_f64).is_some_and(|weight| weight < 0.0);
        map.retain(|key, _| !CONSEQUENCES.contains(&key.as_str()));
        map.insert("is_penalty".to_owned(), is_penalty.into());
    }
    wording
}

/// Rubrics and judges that are not what they were, of the cases that both runs have.
fn caveats(pairs: &[CasePair<'_>]) -> Vec<String> {
    let mut out = Vec::new();
    let all: BTreeSet<&str> = pairs.iter().map(CasePair::base).collect();
    let other: BTreeSet<&str> =
        pairs.iter().filter(|pair| !pair.has_same_rubric()).map(CasePair::base).collect();
    if !other.is_empty() {
        out.push(format!(
            "The rubric changed for {} of {} cases; for these, only unchanged criteria are compared.",
            other.len(),
            all.len()
        ));
    }
    let old = list_run_judges(pairs.iter().map(|pair| &pair.before));
    let new = list_run_judges(pairs.iter().map(|pair| &pair.after));
    let names = |judges: &BTreeSet<&str>| judges.iter().copied().collect::<Vec<_>>().join(", ");
    if !old.is_empty() && !new.is_empty() {
        if old != new {
            out.push(format!(
                "The judge changed from {} to {}; this may explain a difference.",
                names(&old),
                names(&new)
            ));
        } else if judge_settings_changed(pairs) {
            out.push("The judge's prompts or settings changed; this may explain a difference.".to_owned());
        }
    }
    out
}

fn list_run_judges<'a>(all: impl Iterator<Item = &'a ComparedTrials<'a>>) -> BTreeSet<&'a str> {
    let results = all.flat_map(|trials| trials.results.iter().copied());
    results.flat_map(judge_grades).map(|grade| grade.grader.name.as_str()).collect()
}

/// What a judge was asked about one criterion.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct JudgedCriterion<'a> {
    judge: &'a str,
    criterion: &'a str,
}

/// Whether a judge got other prompts or settings for a criterion whose rubric stayed the same. A later trial of a case
/// has another draw, so that only the first trials are compared.
fn judge_settings_changed(pairs: &[CasePair<'_>]) -> bool {
    type Configurations<'a> = BTreeMap<JudgedCriterion<'a>, BTreeSet<&'a str>>;
    let (mut old, mut new) = (Configurations::new(), Configurations::new());
    for pair in pairs.iter().filter(|pair| pair.has_same_rubric()) {
        for (all, trials) in [(&mut old, &pair.before), (&mut new, &pair.after)] {
            for grade in judge_grades(trials.first()) {
                let key = JudgedCriterion { judge: &grade.grader.name, criterion: &grade.criterion };
                all.entry(key).or_default().extend(grade.grader.configuration.as_deref());
            }
        }
    }
    old.iter().any(|(key, before)| new.get(key).is_some_and(|after| before != after))
}

/// The answers of judges that have a score.
fn judge_grades(result: &CaseResult) -> impl Iterator<Item = &Grade> {
    result
        .grades
        .iter()
        .filter(|grade| grade.grader.kind == GraderKind::Judge && grade.outcome.unit().is_some())
}

#[cfg(test)]
pub(in crate::stats) mod tests {
    use serde_json::json;

    use super::*;

    /// A run of cases with one score each; `None` is a judge error.
    pub(in crate::stats) fn run_of(cases: &[(&str, Option<f64>)]) -> Run {
        let result = |(case, score): &(&str, Option<f64>)| {
            let (status, outcome) = match score {
                Some(score) => {
                    let status = if *score < 0.7 { "fail" } else { "pass" };
                    (status, json!({ "kind": "scored", "value": score, "unit": score }))
                }
                None => ("error", json!({ "kind": "failed", "failure": "timeout", "detail": "60 s" })),
            };
            json!({
                "case": case, "candidate": case, "rubric": "r".repeat(64), "spend": {},
                "verdict": { "status": status, "score": score, "counts": crate::grade::Counts::default() },
                "grades": [{
                    "candidate": case, "criterion": "a", "grader": { "kind": "judge", "name": "m1" }, "outcome": outcome,
                }],
            })
        };
        let run = json!({
            "format": crate::grade::FORMAT, "id": "run_0190c4d27e1b7a3c9f50b8e6d1a24c7e", "seed": 0,
            "started": "2026-01-01T00:00:00Z", "rubrics": {}, "spend": {},
            "results": cases.iter().map(result).collect::<Vec<_>>(),
        });
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn pairs_are_compared_and_nothing_else() {
        let before =
            run_of(&[("a", Some(0.9)), ("b", Some(0.8)), ("c", Some(0.2)), ("gone", Some(1.0)), ("e", None)]);
        let after = run_of(&[
            ("a", Some(0.4)),
            ("b", Some(0.9)),
            ("c", Some(0.8)),
            ("new", Some(0.0)),
            ("e", Some(1.0)),
        ]);
        let result = compare_runs(&before, &after, 7);
        assert_eq!((result.n_cases, result.only_before.len(), result.only_after.len()), (3, 1, 1));
        assert_eq!(result.undecided, ["e"]);
        let score = result.score.unwrap();
        assert!((score.difference - 0.2 / 3.0).abs() < 1e-12 && !score.is_shown());
        assert!(score.more_cases_for(0.05).is_some_and(|n_cases| 100 < n_cases));
        let sentence = score.sentence("score", 0.05, None);
        assert!(
            sentence.starts_with("No significant difference of the score") && sentence.contains("more cases"),
            "{sentence}"
        );
        let on_scale = score.sentence("score", 0.05, Some((1.0, 7.0)));
        assert!(
            on_scale.contains(" on 1–7 (") && on_scale.ends_with("would detect 0.30 (0.05)."),
            "{on_scale}"
        );
        let changed: Vec<&str> =
            result.changed.iter().map(|status_change| status_change.case.as_str()).collect();
        assert_eq!(changed, ["a", "c", "e"]);
        assert!(result.caveats.is_empty(), "{:?}", result.caveats);
        assert_eq!(result, compare_runs(&before, &after, 7));
    }

    #[test]
    fn a_difference_is_shown_when_chance_cannot_make_it() {
        let names: Vec<String> = (0..30).map(|n| format!("case {n}")).collect();
        let run = |score: &dyn Fn(usize) -> f64| {
            let cases: Vec<(&str, Option<f64>)> =
                names.iter().enumerate().map(|(at, text)| (text.as_str(), Some(score(at)))).collect();
            run_of(&cases)
        };
        let before = run(&|at| 0.8 + 0.01 * (at % 5) as f64);
        let after = run(&|at| 0.6 + 0.01 * (at % 7) as f64);
        let result = compare_runs(&before, &after, 7);
        let score = result.score.unwrap();
        let (low, high) = score.interval.unwrap();
        assert!(score.is_shown() && low < -0.18 && high < -0.13, "{score:?}");
        assert!(
            score.sentence("score", 0.05, None).starts_with("The score fell by 0.19"),
            "{}",
            score.sentence("score", 0.05, None)
        );
        let on_scale = score.sentence("score", 0.05, Some((1.0, 5.0)));
        assert!(
            on_scale.starts_with("The score fell by 0.7") && on_scale.contains(" on 1–5 (95 % "),
            "{on_scale}"
        );
        assert!(on_scale.contains("which is 0.19") && on_scale.ends_with(" on 0–1."), "{on_scale}");
        assert!(result.criteria.values().all(Difference::is_shown));
        let same = compare_runs(&before, &before, 7);
        assert!(!same.score.unwrap().is_shown() && same.changed.is_empty());
    }

    #[test]
    fn a_case_with_another_number_of_trials_is_one_pair_of_means() {
        let mut before = run_of(&[("a", Some(0.9)), ("b", Some(0.8))]);
        let mut after =
            run_of(&[("a [trial 1 of 2]", Some(0.5)), ("a [trial 2 of 2]", Some(0.3)), ("b", Some(0.8))]);
        after.results.change(|at, result| {
            if at < 2 {
                result.trial = u32::try_from(at + 1).ok();
                result.base = Some("a".to_owned());
            }
            // Each trial has a draw of its own.
            let draw = if at == 1 { "draw 1" } else { "draw 0" };
            result.grades[0].grader.configuration = Some(draw.to_owned());
        });
        before.results.change(|_, result| {
            result.grades[0].grader.configuration = Some("draw 0".to_owned());
        });
        let estimate = compare_runs(&before, &after, 7);
        assert!(estimate.caveats.is_empty(), "{:?}", estimate.caveats);
        assert!(
            estimate.only_before.is_empty()
                && estimate.only_after.is_empty()
                && estimate.undecided.is_empty()
        );
        let score = estimate.score.unwrap();
        assert_eq!((estimate.n_cases, score.n), (2, 2));
        assert!((score.before - 0.85).abs() < 1e-12 && (score.after - 0.6).abs() < 1e-12, "{score:?}");
        let changed: Vec<&str> = estimate.changed.iter().map(|change| change.case.as_str()).collect();
        assert_eq!(changed, ["a"]);
        after.results.change(|_, result| {
            result.grades[0].grader.configuration = Some("colder".to_owned());
        });
        assert_eq!(compare_runs(&before, &after, 7).caveats.len(), 1);
    }

    #[test]
    fn a_criterion_is_compared_if_only_the_weight_of_its_answer_changed() {
        let rubric = |criterion: &Json| json!({ "criteria": [criterion] });
        let check = |before: Json, after: Json| has_same_wording(&rubric(&before), &rubric(&after), "a");
        let plain = || json!({ "name": "a", "description": "Is kind." });
        assert!(check(
            plain(),
            json!({ "name": "a", "description": "Is kind.", "required": true, "weight": 2.0 })
        ));
        assert!(!check(plain(), json!({ "name": "a", "description": "Is very kind." })));
        assert!(!check(plain(), json!({ "name": "a", "description": "Is kind.", "not": true })));
        assert!(!check(plain(), json!({ "name": "a", "description": "Is kind.", "weight": -1.0 })));
        assert!(!check(plain(), json!({ "name": "b", "description": "Is kind." })));
    }
}
