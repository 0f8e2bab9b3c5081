//! Which cases got worse from one run to another, one by one: a gate for suites that are too small for statistics.

use std::collections::BTreeMap;

use crate::grade::VerdictStatus;
use crate::run::{CaseResult, Regressions, StatusChange, UndecidedCase};

/// What the trials of one case came to in one run.
#[derive(Default)]
struct TrialCounts {
    n_pass: usize,
    n_fail: usize,
    /// The status of a trial without a verdict.
    undecided: Option<VerdictStatus>,
    score_sum: f64,
    n_scores: usize,
}

impl TrialCounts {
    fn add(&mut self, result: &CaseResult) {
        match result.verdict.status {
            VerdictStatus::Pass => self.n_pass += 1,
            VerdictStatus::Fail => self.n_fail += 1,
            status @ (VerdictStatus::Error | VerdictStatus::Deferred) => self.undecided = Some(status),
        }
        if let Some(score) = result.verdict.score {
            (self.score_sum, self.n_scores) = (self.score_sum + score, self.n_scores + 1);
        }
    }

    fn is_flaky(&self) -> bool {
        0 < self.n_pass && 0 < self.n_fail
    }

    fn mean_score(&self) -> Option<f64> {
        (0 < self.n_scores).then(|| self.score_sum / self.n_scores as f64)
    }
}

/// Compares the trials of each case that passed in the first run.
///
/// A case whose trials differ within a run is flaky: that it failed once says nothing.
/// A trial without a verdict cannot make a case regress whose other trials pass: it would be flaky at most.
pub(super) fn find_regressions(before: &[CaseResult], after: &[CaseResult]) -> Regressions {
    let (before, after) = (count_trials(before), count_trials(after));
    let mut regressions = Regressions::default();
    for (case, old) in &before {
        let new = after.get(case);
        if old.is_flaky() || new.is_some_and(TrialCounts::is_flaky) {
            regressions.flaky.push((*case).to_owned());
            continue;
        }
        if old.n_pass == 0 {
            if 0 < old.n_fail && new.is_some_and(|new| 0 < new.n_fail) {
                regressions.still_failing.push((*case).to_owned());
            }
            continue;
        }
        match new {
            Some(new) if 0 < new.n_fail => regressions.regressed.push(StatusChange {
                case: (*case).to_owned(),
                before: VerdictStatus::Pass,
                after: VerdictStatus::Fail,
                score_before: old.mean_score(),
                score_after: new.mean_score(),
            }),
            Some(new) if 0 < new.n_pass => {}
            undecided => regressions.undecided.push(UndecidedCase {
                case: (*case).to_owned(),
                after: undecided.and_then(|new| new.undecided),
            }),
        }
    }
    let new = after.iter().filter(|(case, counts)| !before.contains_key(*case) && 0 < counts.n_fail);
    regressions.new_failures = new.map(|(case, _)| (*case).to_owned()).collect();
    regressions
}

fn count_trials(results: &[CaseResult]) -> BTreeMap<&str, TrialCounts> {
    let mut by_case: BTreeMap<&str, TrialCounts> = BTreeMap::new();
    for result in results {
        by_case.entry(result.base()).or_default().add(result);
    }
    by_case
}

#[cfg(test)]
mod tests {
    use super::super::compare::{compare_runs, tests::run_of};
    use super::*;

    #[test]
    fn a_case_that_passed_and_fails_is_a_regression_and_one_without_a_verdict_is_named() {
        let before = run_of(&[
            ("kept", Some(0.9)),
            ("worse", Some(0.8)),
            ("bad", Some(0.1)),
            ("errored", Some(1.0)),
            ("gone", Some(1.0)),
        ]);
        let after = run_of(&[
            ("kept", Some(0.7)),
            ("worse", Some(0.2)),
            ("bad", Some(0.0)),
            ("errored", None),
            ("new", Some(0.0)),
        ]);
        let result = compare_runs(&before, &after, 1).regressions;
        let names: Vec<&str> = result.regressed.iter().map(|change| change.case.as_str()).collect();
        assert_eq!(names, ["worse"]);
        assert_eq!(
            (result.regressed[0].score_before, result.regressed[0].score_after),
            (Some(0.8), Some(0.2))
        );
        let undecided: Vec<(&str, Option<VerdictStatus>)> =
            result.undecided.iter().map(|undecided| (undecided.case.as_str(), undecided.after)).collect();
        assert_eq!(undecided, [("errored", Some(VerdictStatus::Error)), ("gone", None)]);
        assert!(result.flaky.is_empty());
        assert_eq!(
            (result.new_failures, result.still_failing),
            (vec!["new".to_owned()], vec!["bad".to_owned()])
        );
    }

    #[test]
    fn a_case_whose_trials_differ_is_flaky_and_nothing_else() {
        let trials = |scores: [Option<f64>; 2]| {
            let mut run = run_of(&[("a [trial 1 of 2]", scores[0]), ("a [trial 2 of 2]", scores[1])]);
            run.results.change(|at, result| result.trial = u32::try_from(at + 1).ok());
            run
        };
        let check = |before, after, expected: (usize, usize, usize)| {
            let estimate = compare_runs(&trials(before), &trials(after), 1).regressions;
            assert_eq!((estimate.regressed.len(), estimate.undecided.len(), estimate.flaky.len()), expected);
        };
        check([Some(1.0), Some(1.0)], [Some(0.0), Some(0.1)], (1, 0, 0));
        check([Some(1.0), Some(0.0)], [Some(0.0), Some(0.0)], (0, 0, 1));
        check([Some(1.0), Some(1.0)], [Some(1.0), Some(0.0)], (0, 0, 1));
        check([Some(1.0), Some(1.0)], [Some(1.0), None], (0, 0, 0));
        check([Some(1.0), Some(1.0)], [None, None], (0, 1, 0));
    }
}
