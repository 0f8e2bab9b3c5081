//! Two runs of one suite, pair by pair: what is different, and whether that can be more than chance.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use super::multiple_comparisons::holm;
use super::regression::find_regressions;
use crate::grade::{GraderKind, VerdictStatus};
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

    /// What can be said of it, in a sentence that promises no more than there is.
    pub fn sentence(&self, what: &str, size: f64) -> String {
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
            return format!(
                "The {what} {direction} by {by:.3} (95 % confidence interval {least:.3} to {most:.3})."
            );
        }
        let more = match self.more_cases_for(size) {
            Some(more) => format!("{} would detect {size}", plural(more, "more case")),
            None => format!("these cases are enough to detect {size}"),
        };
        format!(
            "No significant difference of the {what}: the 95 % confidence interval {low:+.3} to {high:+.3} includes zero; {more}."
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

/// A case in both runs.
#[derive(Clone, Copy)]
struct CasePair<'a> {
    before: &'a CaseResult,
    after: &'a CaseResult,
}

impl CasePair<'_> {
    fn has_same_rubric(&self) -> bool {
        self.before.rubric == self.after.rubric
    }

    /// Both runs passed or failed it.
    fn is_decided(&self) -> bool {
        let is_decided =
            |result: &CaseResult| matches!(result.verdict.status, VerdictStatus::Pass | VerdictStatus::Fail);
        is_decided(self.before) && is_decided(self.after)
    }
}

/// Compares case by case. Where a rubric changed, only the criteria that stayed the same are compared.
pub fn compare_runs(before: &Run, after: &Run, seed: u64) -> Comparison {
    let open = |run: &Run| run.results.iter().collect::<Vec<CaseResult>>();
    let (old, new) = (open(before), open(after));
    let find = |results: &[CaseResult]| -> BTreeMap<String, usize> {
        results.iter().enumerate().map(|(at, result)| (result.case.clone(), at)).collect()
    };
    let (left, right) = (find(&old), find(&new));
    let only = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| {
        a.keys().filter(|key| !b.contains_key(*key)).cloned().collect::<Vec<_>>()
    };
    let pairs: Vec<CasePair<'_>> = old
        .iter()
        .filter_map(|result| Some(CasePair { before: result, after: &new[*right.get(&result.case)?] }))
        .collect();
    let same: Vec<CasePair<'_>> = pairs.iter().copied().filter(CasePair::has_same_rubric).collect();
    let both: Vec<CasePair<'_>> = same.iter().copied().filter(CasePair::is_decided).collect();
    let passes = |result: &CaseResult| if result.verdict.status == VerdictStatus::Pass { 1.0 } else { 0.0 };

    let scores = both
        .iter()
        .filter_map(|pair| Some((pair.before.base(), pair.before.verdict.score?, pair.after.verdict.score?)));
    let passed = both.iter().map(|pair| (pair.before.base(), passes(pair.before), passes(pair.after)));
    let mut pass_rate = Difference::of(passed, seed);
    if let Some(rate) = pass_rate.as_mut().filter(|difference| difference.n == both.len()) {
        // Each case once: the exact test (McNemar) counts those that changed.
        let changed = |pair: &&CasePair<'_>, from: VerdictStatus| {
            pair.before.verdict.status == from && pair.after.verdict.status != from
        };
        let count = |from| both.iter().filter(|pair| changed(pair, from)).count() as u64;
        rate.p = even_odds(count(VerdictStatus::Pass), count(VerdictStatus::Fail));
    }
    let mut changed: Vec<StatusChange> = same
        .iter()
        .filter(|pair| pair.before.verdict.status != pair.after.verdict.status)
        .map(|pair| StatusChange {
            case: pair.before.case.clone(),
            before: pair.before.verdict.status,
            after: pair.after.verdict.status,
            score_before: pair.before.verdict.score,
            score_after: pair.after.verdict.score,
        })
        .collect();
    let rank = |status_change: &StatusChange| match (status_change.before, status_change.after) {
        (VerdictStatus::Pass, VerdictStatus::Fail) => 0,
        (_, VerdictStatus::Error) => 1,
        (_, VerdictStatus::Fail) => 2,
        (_, VerdictStatus::Deferred) => 3,
        (_, VerdictStatus::Pass) => 4,
    };
    changed.sort_by_key(rank);
    Comparison {
        caveats: caveats(before, after, &pairs),
        n_cases: both.iter().map(|pair| pair.before.base()).collect::<BTreeSet<_>>().len(),
        only_before: only(&left, &right),
        only_after: only(&right, &left),
        undecided: same
            .iter()
            .filter(|pair| !pair.is_decided())
            .map(|pair| pair.before.case.clone())
            .collect(),
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
        let (a, b) = (pair.before, pair.after);
        let (old, new) = (before.rubrics.get(&a.rubric), after.rubrics.get(&b.rubric));
        for (id, score) in case_criterion_means(before, a) {
            let is_same = a.rubric == b.rubric
                || old.zip(new).is_some_and(|(old, new)| {
                    let (old, new) = (definition(old, id), definition(new, id));
                    old.is_some() && old == new
                });
            if let Some(other) = case_criterion_means(after, b).get(id).filter(|_| is_same) {
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
fn case_criterion_means<'a>(run: &Run, result: &'a CaseResult) -> BTreeMap<&'a str, f64> {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for grade in &result.grades {
        if let Some(worth) = run.answer_worth(result, grade) {
            let (sum, n) = sums.entry(&grade.criterion).or_default();
            *sum += worth;
            *n += 1.0;
        }
    }
    sums.into_iter().map(|(id, (sum, n))| (id, sum / n)).collect()
}

/// How a canonical rubric words a criterion, wherever it stands.
fn definition<'a>(rubric: &'a Json, id: &str) -> Option<&'a Json> {
    match rubric {
        Json::Object(map) if map.get("id").or(map.get("name")).and_then(Json::as_str) == Some(id) => {
            Some(rubric)
        }
        Json::Object(map) => map.values().find_map(|value| definition(value, id)),
        Json::Array(items) => items.iter().find_map(|item| definition(item, id)),
        _ => None,
    }
}

/// Rubrics and judges that are not what they were.
fn caveats(before: &Run, after: &Run, pairs: &[CasePair<'_>]) -> Vec<String> {
    let mut out = Vec::new();
    let n_other = pairs.iter().filter(|pair| !pair.has_same_rubric()).count();
    if 0 < n_other {
        out.push(format!(
            "The rubric changed for {n_other} of {} cases; for these, only unchanged criteria are compared.",
            pairs.len()
        ));
    }
    let judges = |run: &Run| -> BTreeMap<String, BTreeSet<String>> {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let grades = run.results.iter().flat_map(|result| result.grades);
        for grade in
            grades.filter(|grade| grade.grader.kind == GraderKind::Judge && grade.outcome.unit().is_some())
        {
            all.entry(grade.grader.name.clone()).or_default().extend(grade.grader.configuration.clone());
        }
        all
    };
    let (old, new) = (judges(before), judges(after));
    let names = |it: &BTreeMap<String, BTreeSet<String>>| it.keys().cloned().collect::<Vec<_>>().join(", ");
    if !old.is_empty() && !new.is_empty() {
        if old.keys().ne(new.keys()) {
            out.push(format!(
                "The judge changed from {} to {}; this may explain a difference.",
                names(&old),
                names(&new)
            ));
        } else if n_other == 0 && old != new {
            out.push("The judge's prompts or settings changed; this may explain a difference.".to_owned());
        }
    }
    out
}

#[cfg(test)]
pub(in crate::stats) mod tests {
    use serde_json::json;

    use super::*;

    /// A run of cases with one score each; `None` stands for a judge error.
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
        let found = compare_runs(&before, &after, 7);
        assert_eq!((found.n_cases, found.only_before.len(), found.only_after.len()), (3, 1, 1));
        assert_eq!(found.undecided, ["e"]);
        let score = found.score.unwrap();
        assert!((score.difference - 0.2 / 3.0).abs() < 1e-12 && !score.is_shown());
        assert!(score.more_cases_for(0.05).is_some_and(|more_cases_for| 100 < more_cases_for));
        let sentence = score.sentence("score", 0.05);
        assert!(
            sentence.starts_with("No significant difference of the score") && sentence.contains("more cases"),
            "{sentence}"
        );
        let changed: Vec<&str> =
            found.changed.iter().map(|status_change| status_change.case.as_str()).collect();
        assert_eq!(changed, ["a", "c", "e"]);
        assert!(found.caveats.is_empty(), "{:?}", found.caveats);
        assert_eq!(found, compare_runs(&before, &after, 7));
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
        let found = compare_runs(&before, &after, 7);
        let score = found.score.unwrap();
        let (low, high) = score.interval.unwrap();
        assert!(score.is_shown() && low < -0.18 && high < -0.13, "{score:?}");
        assert!(
            score.sentence("score", 0.05).starts_with("The score fell by 0.19"),
            "{}",
            score.sentence("score", 0.05)
        );
        assert!(found.criteria.values().all(Difference::is_shown));
        let same = compare_runs(&before, &before, 7);
        assert!(!same.score.unwrap().is_shown() && same.changed.is_empty());
    }
}
