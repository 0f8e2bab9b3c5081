//! What a run says as a whole: means with their uncertainty, and cases that change from trial to trial.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::grade::VerdictStatus;
use crate::run::{CaseResult, Run};
use crate::stats::basics::bounded::{Cluster, exact_share, mean_interval};
use crate::stats::basics::proportion::Proportion;

/// A mean over cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub mean: f64,
    /// Where it may really lie, in 95 of 100 cases; not to be had from a single case.
    pub interval: Option<(f64, f64)>,
    /// Independent cases.
    pub n: usize,
}

impl Estimate {
    /// Values by the case they belong to; trials of one case are not independent.
    pub(crate) fn of<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Option<Self> {
        Self::of_clusters(&cluster_by_case(values))
    }

    pub(crate) fn of_clusters(clusters: &[Cluster]) -> Option<Self> {
        let (sum, n) =
            clusters.iter().fold((0.0, 0.0), |(sum, n), cluster| (sum + cluster.sum, n + cluster.n));
        let interval = mean_interval(clusters);
        (0.0 < n).then(|| Self { mean: sum / n, interval, n: clusters.len() })
    }
}

fn cluster_by_case<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Vec<Cluster> {
    let mut by_case: BTreeMap<&str, Cluster> = BTreeMap::new();
    for (case, value) in values {
        let cluster = by_case.entry(case).or_insert(Cluster { sum: 0.0, n: 0.0 });
        (cluster.sum, cluster.n) = (cluster.sum + value, cluster.n + 1.0);
    }
    by_case.into_values().collect()
}

/// The share of decided verdicts that pass, with the case of each. Trials of one case are not independent: with one trial
/// for each case the interval is exact, and trials of a single case count as one observation.
pub fn estimate_pass_rate<'a>(
    verdicts: impl Iterator<Item = (&'a str, VerdictStatus)>,
) -> Option<Proportion> {
    let clusters = cluster_by_case(verdicts.filter_map(|(case, status)| match status {
        VerdictStatus::Pass => Some((case, 1.0)),
        VerdictStatus::Fail => Some((case, 0.0)),
        VerdictStatus::Error | VerdictStatus::Deferred => None,
    }));
    let Estimate { mean, interval, .. } = Estimate::of_clusters(&clusters)?;
    let n_decided: f64 = clusters.iter().map(|cluster| cluster.n).sum();
    let interval = interval.unwrap_or_else(|| exact_share(mean, 1.0));
    Some(Proportion { rate: mean, interval, n: n_decided as usize })
}

pub fn estimate_run_pass_rate(run: &Run) -> Option<Proportion> {
    let verdicts: Vec<(String, VerdictStatus)> =
        run.results.iter().map(|result| (result.base().to_owned(), result.verdict.status)).collect();
    estimate_pass_rate(verdicts.iter().map(|(case, status)| (case.as_str(), *status)))
}

/// The mean score of a run, and that of each criterion in the order in which they appear.
pub fn estimate_run_means(run: &Run) -> (Option<Estimate>, Vec<(String, Estimate)>) {
    let (mut cases, mut scores) = (Vec::new(), Vec::new());
    let mut values: Vec<(String, Vec<(usize, f64)>)> = Vec::new();
    for (at, result) in run.results.iter().enumerate() {
        cases.push(result.base().to_owned());
        scores.extend(result.verdict.score.map(|score| (at, score)));
        for grade in &result.grades {
            let Some(worth) = run.answer_worth(&result, grade) else { continue };
            let name = run.worth_name(&result, &grade.criterion);
            match values.iter_mut().find(|(id, _)| *id == name) {
                Some((_, all)) => all.push((at, worth)),
                None => values.push((name.into_owned(), vec![(at, worth)])),
            }
        }
    }
    let estimate =
        |all: Vec<(usize, f64)>| Estimate::of(all.into_iter().map(|(at, value)| (cases[at].as_str(), value)));
    let criteria = values.into_iter().filter_map(|(id, all)| Some((id, estimate(all)?)));
    (estimate(scores), criteria.collect())
}

/// Cases that were tried several times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trials {
    pub n_cases: usize,
    /// The most trials of one case.
    pub k: usize,
    /// Share of cases of which at least one trial passed.
    pub any: f64,
    /// Share of cases of which all did.
    pub all: f64,
    /// Flaky cases (some trials passed and some failed), sorted by how evenly they split.
    pub flaky: Vec<Flaky>,
}

/// A case of which some trials pass and some fail.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flaky {
    pub case: String,
    pub passed: usize,
    /// Trials with a verdict.
    pub decided: usize,
}

impl Flaky {
    /// Share of trials that go against the majority.
    pub fn flip_rate(&self) -> f64 {
        self.passed.min(self.decided - self.passed) as f64 / self.decided as f64
    }
}

/// How many trials of a case passed, of those with a verdict.
#[derive(Default)]
struct CaseTrials {
    passed: usize,
    decided: usize,
}

/// `None` if nothing was tried twice. Errors and deferrals are no trials.
pub fn summarise_trials(run: &Run) -> Option<Trials> {
    let mut by_case: BTreeMap<String, CaseTrials> = BTreeMap::new();
    let decided =
        |result: &CaseResult| matches!(result.verdict.status, VerdictStatus::Pass | VerdictStatus::Fail);
    for result in run.results.iter().filter(|result| result.trial.is_some()).filter(decided) {
        let trials = by_case.entry(result.base().to_owned()).or_default();
        trials.passed += usize::from(result.verdict.status == VerdictStatus::Pass);
        trials.decided += 1;
    }
    let n_cases = by_case.len();
    let share = |wanted: &dyn Fn(&CaseTrials) -> bool| {
        by_case.values().filter(|trials| wanted(trials)).count() as f64 / n_cases as f64
    };
    let mut flaky: Vec<Flaky> = by_case
        .iter()
        .filter(|(_, trials)| 0 < trials.passed && trials.passed < trials.decided)
        .map(|(case, trials)| Flaky { case: case.clone(), passed: trials.passed, decided: trials.decided })
        .collect();
    flaky.sort_by(|a, b| b.flip_rate().total_cmp(&a.flip_rate()));
    (0 < n_cases).then(|| Trials {
        n_cases,
        k: by_case.values().map(|trials| trials.decided).max().unwrap_or(0),
        any: share(&|trials| 0 < trials.passed),
        all: share(&|trials| trials.passed == trials.decided),
        flaky,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::comparison::compare::tests::run_of;

    #[test]
    fn trials_of_one_case_are_one_case() {
        let scores = [("a", 1.0), ("a", 0.2), ("a", 0.9), ("b", 1.0), ("b", 1.0), ("b", 0.9)];
        let names: Vec<String> = scores
            .iter()
            .enumerate()
            .map(|(at, (case, _))| format!("{case} [trial {} of 3]", at % 3 + 1))
            .collect();
        let cases: Vec<(&str, Option<f64>)> =
            names.iter().zip(scores).map(|(name, (_, score))| (name.as_str(), Some(score))).collect();
        let mut run = run_of(&cases);
        assert_eq!(summarise_trials(&run), None);
        run.results.change(|_, result| result.trial = Some(1));
        let estimate = summarise_trials(&run).unwrap();
        assert_eq!((estimate.n_cases, estimate.k, estimate.any, estimate.all), (2, 3, 1.0, 0.5));
        assert_eq!(estimate.flaky, [Flaky { case: "a".into(), passed: 2, decided: 3 }]);
        assert!((estimate.flaky[0].flip_rate() - 1.0 / 3.0).abs() < 1e-12);
        let (score, criteria) = estimate_run_means(&run);
        assert_eq!(score.unwrap().n, 2);
        assert_eq!((criteria[0].0.as_str(), criteria[0].1), ("a", score.unwrap()));
    }

    fn rate_of(verdicts: &[(&str, usize, usize)]) -> Proportion {
        let all = verdicts.iter().flat_map(|(case, passed, failed)| {
            let passes = std::iter::repeat_n((*case, VerdictStatus::Pass), *passed);
            passes.chain(std::iter::repeat_n((*case, VerdictStatus::Fail), *failed))
        });
        estimate_pass_rate(all).unwrap()
    }

    #[test]
    fn a_pass_rate_comes_with_its_interval() {
        let cases = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let single: Vec<(&str, usize, usize)> = cases
            .iter()
            .enumerate()
            .map(|(at, case)| (*case, usize::from(at < 8), usize::from(8 <= at)))
            .collect();
        let Proportion { rate, interval: (low, high), n } = rate_of(&single);
        // As scipy.stats.binomtest(8, 10).proportion_ci() says.
        assert!((rate - 0.8).abs() < 1e-9 && (low - 0.4439).abs() < 1e-3 && (high - 0.9748).abs() < 1e-3);
        assert_eq!(n, 10);
        let undecided = [("a", VerdictStatus::Error), ("b", VerdictStatus::Deferred)];
        assert_eq!(estimate_pass_rate(undecided.into_iter()), None);
    }

    #[test]
    fn trials_do_not_make_a_pass_rate_certain() {
        let once = rate_of(&[("a", 1, 0)]);
        let often = rate_of(&[("a", 1_000, 0)]);
        assert_eq!((often.rate, often.interval, often.n), (1.0, once.interval, 1_000));
        assert!((often.interval.0 - 0.025).abs() < 1e-9);
        let six = ["a", "b", "c", "d", "e", "f"];
        let all_pass: Vec<(&str, usize, usize)> = six.iter().map(|case| (*case, 4, 0)).collect();
        assert!((rate_of(&all_pass).interval.0 - 0.5407).abs() < 1e-3, "as 6 of 6");
        let mixed = rate_of(&[("a", 4, 0), ("b", 4, 0), ("c", 4, 0), ("d", 3, 1), ("e", 0, 4), ("f", 0, 4)]);
        let (low, high) = mixed.interval;
        assert!(low < 0.27 && 0.92 < high, "cases differ more than trials: {low} {high}");
    }
}
