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

/// Averages the members of a panel. A panel has a score only if every member answered: a mean of the others would
/// depend on which member failed, and readers could not distinguish it from the mean of the full panel.
pub(super) fn combine_members(verdicts: &[Verdict], pass_mark: f64) -> Verdict {
    if let [only] = verdicts {
        return only.clone();
    }
    let with_status = |status: VerdictStatus| verdicts.iter().find(|verdict| verdict.status == status);
    if let Some(missing) = with_status(VerdictStatus::Error).or_else(|| with_status(VerdictStatus::Deferred))
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
    seated: &PreparedMonitor,
    rubric: &Rubric,
    heard: &[JudgeResult],
    verdict: &Verdict,
) -> TraceScores {
    let score = |judge: &str, name: &str, unit: Option<f64>| {
        let is_passed = find_criterion(rubric, name)
            .zip(unit)
            .and_then(|(criterion, unit)| is_met(rubric, &criterion, unit));
        Score { judge: judge.to_owned(), criterion: name.to_owned(), unit, is_passed }
    };
    let mut all = Vec::new();
    for it in heard {
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
    if heard.len() < 2 {
        return TraceScores { scores: all, spread: None };
    }
    let mut by_criterion: BTreeMap<String, PanelUnits> = BTreeMap::new();
    for member in &all {
        let answers = by_criterion.entry(member.criterion.clone()).or_default();
        answers.units.extend(member.unit);
        answers.n_failed += usize::from(member.unit.is_none());
    }
    let spread = by_criterion.values().filter_map(PanelUnits::spread).max_by(f64::total_cmp);
    let judge = seated.judge();
    all.extend(overall_score(&judge, verdict));
    for (name, answers) in by_criterion.iter().filter(|(name, _)| !name.is_empty()) {
        if let Some(unit) = answers.panel_unit(heard.len()) {
            all.push(score(&judge, name, unit));
        }
    }
    TraceScores { scores: all, spread }
}

fn overall_score(judge: &str, verdict: &Verdict) -> Option<Score> {
    let is_passed = match verdict.status {
        VerdictStatus::Pass => Some(true),
        VerdictStatus::Fail => Some(false),
        VerdictStatus::Error => None,
        VerdictStatus::Deferred => return None,
    };
    // A pass because no criterion applied has no score and is not counted.
    let is_told = verdict.score.is_some() || verdict.status == VerdictStatus::Error;
    is_told.then(|| Score {
        judge: judge.to_owned(),
        criterion: String::new(),
        unit: verdict.score,
        is_passed,
    })
}
