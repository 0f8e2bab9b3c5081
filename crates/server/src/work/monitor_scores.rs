//! The scores of a trace from the opinions of a monitor's judges.

use std::collections::BTreeMap;

use jurist_core::grade::{Outcome, Verdict, VerdictStatus};
use jurist_core::rubric::Rubric;
use jurist_core::score::{Combine, combine_panel};
use jurist_core::suite::{Aggregate, TieBreak};
use jurist_store::scores::Score;

use super::monitor_jobs::JudgeResult;
use super::prepared_monitor::PreparedMonitor;
use crate::job::{find_criterion, is_met};

/// Whether a judge gave the answers that a score needs. The verdict's status cannot show that: a failed gate decides
/// the verdict, also if answers are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgementStatus {
    Answered,
    /// A grader failed, or could not decide a gate.
    Failed,
    /// There was no budget for the call.
    Deferred,
}

impl JudgementStatus {
    pub(super) fn of(verdict: &Verdict) -> Self {
        match verdict.status {
            VerdictStatus::Error => Self::Failed,
            VerdictStatus::Deferred => Self::Deferred,
            VerdictStatus::Pass | VerdictStatus::Fail if verdict.score.is_some() => Self::Answered,
            VerdictStatus::Pass | VerdictStatus::Fail if 0 < verdict.counts.failed => Self::Failed,
            VerdictStatus::Pass | VerdictStatus::Fail if 0 < verdict.counts.deferred => Self::Deferred,
            VerdictStatus::Pass | VerdictStatus::Fail if !verdict.undecided_gates.is_empty() => Self::Failed,
            VerdictStatus::Pass | VerdictStatus::Fail => Self::Answered,
        }
    }
}

/// Averages the members of a panel. A panel has a score only if every member answered: a mean of the others would
/// depend on which member failed, and readers could not distinguish it from the mean of the full panel.
pub(super) fn combine_members(verdicts: &[Verdict], pass_mark: f64) -> Verdict {
    if let [only] = verdicts {
        return only.clone();
    }
    let with_status =
        |status: JudgementStatus| verdicts.iter().find(|verdict| JudgementStatus::of(verdict) == status);
    if let Some(missing) =
        with_status(JudgementStatus::Failed).or_else(|| with_status(JudgementStatus::Deferred))
    {
        return Verdict { score: None, native: None, ..missing.clone() };
    }
    let combine = Combine::Panel { aggregate: Aggregate::Mean, tie_break: TieBreak::Fail };
    let panel = combine_panel(verdicts, combine, pass_mark);
    // Gates and decision path are taken from the first member.
    let first = verdicts.first().cloned().expect("a monitor has a judge");
    let undecided_gates = panel.undecided_gates;
    Verdict { status: panel.status, score: panel.score, native: None, undecided_gates, ..first }
}

/// Answers of a panel's members to one criterion.
#[derive(Default)]
struct PanelUnits {
    units: Vec<f64>,
    n_failed: usize,
}

impl PanelUnits {
    /// The panel's score: the mean if all members have one, `Some(None)` (an error) if one failed.
    /// `None` if a member abstained or was not asked: that is neither a score nor an error.
    fn panel_unit(&self, n_members: usize) -> Option<Option<f64>> {
        if 0 < self.n_failed {
            return Some(None);
        }
        (self.units.len() == n_members).then(|| Some(self.units.iter().sum::<f64>() / n_members as f64))
    }

    fn spread(&self) -> Option<f64> {
        let highest = self.units.iter().copied().max_by(f64::total_cmp)?;
        let lowest = self.units.iter().copied().min_by(f64::total_cmp)?;
        (1 < self.units.len()).then_some(highest - lowest)
    }
}

/// The scores of a trace.
pub(super) struct TraceScores {
    /// Those of each judge and of the panel.
    pub(super) scores: Vec<Score>,
    /// The largest difference between judges; `None` for one judge.
    pub(super) spread: Option<f64>,
}

/// The scores of each judge and of the panel, and the largest difference between judges.
pub(super) fn collect_judge_scores(
    prepared: &PreparedMonitor,
    rubric: &Rubric,
    results: &[JudgeResult],
    verdict: &Verdict,
) -> TraceScores {
    let score = |judge: &str, name: &str, unit: Option<f64>| {
        let is_passed = find_criterion(rubric, name)
            .zip(unit)
            .and_then(|(criterion, unit)| is_met(rubric, &criterion, unit));
        Score { judge: judge.to_owned(), criterion: name.to_owned(), unit, is_passed }
    };
    let mut all = Vec::new();
    for it in results {
        all.extend(overall_score(&it.judge, &it.opinion.verdict));
        for grade in &it.opinion.grades {
            let unit = grade.outcome.unit();
            let is_broken = matches!(grade.outcome, Outcome::Failed { .. });
            // An abstention, or a question that was not to be asked, is neither a score nor an error.
            if unit.is_some() || is_broken {
                all.push(score(&it.judge, &grade.criterion, unit));
            }
        }
    }
    if results.len() < 2 {
        return TraceScores { scores: all, spread: None };
    }
    let mut by_criterion: BTreeMap<String, PanelUnits> = BTreeMap::new();
    for member in &all {
        let answers = by_criterion.entry(member.criterion.clone()).or_default();
        answers.units.extend(member.unit);
        answers.n_failed += usize::from(member.unit.is_none());
    }
    let spread = by_criterion.values().filter_map(PanelUnits::spread).max_by(f64::total_cmp);
    let judge = prepared.judge();
    all.extend(overall_score(&judge, verdict));
    for (name, answers) in by_criterion.iter().filter(|(name, _)| !name.is_empty()) {
        if let Some(unit) = answers.panel_unit(results.len()) {
            all.push(score(&judge, name, unit));
        }
    }
    TraceScores { scores: all, spread }
}

fn overall_score(judge: &str, verdict: &Verdict) -> Option<Score> {
    // Without the judge's answer, a verdict by a failed gate is not counted as a failure either: the same traces
    // without a failed gate have no verdict, so the pass rate would be too low.
    let is_passed = match JudgementStatus::of(verdict) {
        JudgementStatus::Answered => Some(verdict.status == VerdictStatus::Pass),
        JudgementStatus::Failed => None,
        JudgementStatus::Deferred => return None,
    };
    // A pass because no criterion applied has no score and is not counted.
    let is_told = verdict.score.is_some() || is_passed.is_none();
    is_told.then(|| Score {
        judge: judge.to_owned(),
        criterion: String::new(),
        unit: verdict.score,
        is_passed,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use jurist_core::grade::{Counts, FailedGate, Gate};

    use super::*;

    fn verdict(status: VerdictStatus, score: Option<f64>, counts: Counts) -> Verdict {
        Verdict {
            status,
            score,
            native: None,
            vacuous: false,
            failed_gates: Vec::new(),
            undecided_gates: Vec::new(),
            path: Vec::new(),
            counts,
        }
    }

    /// A verdict that a failed gate has decided, with these outcomes of the other questions.
    fn gated(score: Option<f64>, counts: Counts) -> Verdict {
        let failed_gates = vec![FailedGate { gate: Gate::Required, criterion: Some("has-x".to_owned()) }];
        Verdict { failed_gates, ..verdict(VerdictStatus::Fail, score, counts) }
    }

    #[test]
    fn a_failed_gate_does_not_hide_a_missing_answer() {
        let counts = |n_failed: u32, n_deferred: u32| Counts {
            scored: 1,
            failed: n_failed,
            deferred: n_deferred,
            ..Counts::default()
        };
        let status = JudgementStatus::of;
        assert_eq!(status(&gated(None, counts(0, 1))), JudgementStatus::Deferred);
        assert_eq!(status(&gated(None, counts(1, 0))), JudgementStatus::Failed);
        assert_eq!(status(&gated(Some(0.4), counts(0, 0))), JudgementStatus::Answered);
        assert_eq!(
            status(&gated(Some(0.4), counts(1, 0))),
            JudgementStatus::Answered,
            "`on_error` excuses it"
        );
        assert_eq!(status(&verdict(VerdictStatus::Deferred, None, counts(0, 1))), JudgementStatus::Deferred);
        assert_eq!(status(&verdict(VerdictStatus::Pass, None, Counts::default())), JudgementStatus::Answered);
    }

    #[test]
    fn a_verdict_without_the_judges_answer_is_an_error_or_missing_and_no_failure() {
        let counts = |n_failed: u32, n_deferred: u32| Counts {
            failed: n_failed,
            deferred: n_deferred,
            ..Counts::default()
        };
        assert_eq!(overall_score("judge", &gated(None, counts(0, 1))), None);
        let error = overall_score("judge", &gated(None, counts(1, 0))).unwrap();
        assert_eq!((error.unit, error.is_passed), (None, None));
        let answered = overall_score("judge", &gated(Some(0.4), counts(0, 0))).unwrap();
        assert_eq!((answered.unit, answered.is_passed), (Some(0.4), Some(false)));
    }

    #[test]
    fn a_panel_whose_gates_failed_has_no_score_unless_all_members_answered() {
        let deferred = Counts { deferred: 1, ..Counts::default() };
        let members = [gated(Some(0.4), Counts::default()), gated(None, deferred)];
        let panel = combine_members(&members, 0.7);
        assert_eq!((panel.status, panel.score), (VerdictStatus::Fail, None));
        assert_eq!(JudgementStatus::of(&panel), JudgementStatus::Deferred);
    }
}
