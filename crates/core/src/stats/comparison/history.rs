//! Runs of one suite one after the other: each with its intervals, and whether it differs from the one before.

use std::collections::BTreeMap;

use super::compare::{Difference, compare_runs};
use crate::candidate::JudgeInput;
use crate::grade::{Counts, FORMAT, RubricHash, Spend, Time, Verdict, VerdictStatus};
use crate::run::{CaseResult, Run, RunId, RunProvenance};
use crate::stats::basics::proportion::Proportion;
use crate::stats::summaries::summary::{Estimate, estimate_run_means, estimate_run_pass_rate};

/// The verdict of a case, without grades and texts.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseFigure {
    pub case: String,
    /// The name that all trials of the case share.
    pub base: String,
    pub rubric: RubricHash,
    pub status: VerdictStatus,
    pub score: Option<f64>,
}

/// The verdicts of a run.
#[derive(Debug, Clone)]
pub struct RunFigures {
    run: Run,
}

/// The figures of a run, and the change since the run before it.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryFigures {
    pub score: Option<Estimate>,
    /// Of the results that passed or failed.
    pub pass_rate: Option<Proportion>,
    /// `None` for the first run.
    pub change: Option<HistoryChange>,
}

/// A run compared with the run before it, paired by case.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryChange {
    /// Cases that both decided with the same rubric.
    pub n_cases: usize,
    pub score: Option<Difference>,
    pub pass_rate: Option<Difference>,
    pub direction: HistoryDirection,
}

/// Whether a difference is more than chance makes (95 %), and where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryDirection {
    /// Neither score nor pass rate is shown to differ.
    NotShown,
    Worse,
    Better,
    /// One is shown to be worse and the other one to be better.
    Mixed,
}

impl RunFigures {
    pub fn new(id: RunId, seed: u64, cases: Vec<CaseFigure>) -> Self {
        let run = Run {
            format: FORMAT,
            id,
            suite: None,
            provenance: RunProvenance::default(),
            started: Time::from_micros(0),
            ended: None,
            seed,
            rubrics: BTreeMap::new(),
            results: cases.into_iter().map(CaseResult::from).collect(),
            spend: Spend::default(),
            summary: None,
        };
        Self { run }
    }
}

/// A result of which only the verdict is known.
impl From<CaseFigure> for CaseResult {
    fn from(figure: CaseFigure) -> Self {
        Self {
            candidate: String::new(),
            origin: None,
            trial: None,
            base: Some(figure.base),
            parts: None,
            rubric: figure.rubric,
            verdict: Verdict {
                status: figure.status,
                score: figure.score,
                native: None,
                vacuous: false,
                failed_gates: Vec::new(),
                undecided_gates: Vec::new(),
                path: Vec::new(),
                counts: Counts::default(),
            },
            panel: None,
            grades: Vec::new(),
            spend: Spend::default(),
            projected_calls: None,
            metadata: BTreeMap::new(),
            material: JudgeInput::default(),
            case: figure.case,
        }
    }
}

/// Figures of a run with intervals of 95 %, and the paired comparison with the run before it.
pub fn summarise_run_figures(run: &RunFigures, before: Option<&RunFigures>) -> HistoryFigures {
    HistoryFigures {
        score: estimate_run_means(&run.run).0,
        pass_rate: estimate_run_pass_rate(&run.run),
        change: before.map(|before| HistoryChange::new(&before.run, &run.run)),
    }
}

impl HistoryChange {
    fn new(before: &Run, after: &Run) -> Self {
        let compared = compare_runs(before, after, after.seed);
        let differences = [compared.score, compared.pass_rate];
        let significant = differences.iter().flatten().filter(|difference| difference.is_shown());
        let (worse, better): (Vec<&Difference>, Vec<&Difference>) =
            significant.partition(|difference| difference.difference < 0.0);
        let direction = match (worse.is_empty(), better.is_empty()) {
            (true, true) => HistoryDirection::NotShown,
            (false, true) => HistoryDirection::Worse,
            (true, false) => HistoryDirection::Better,
            (false, false) => HistoryDirection::Mixed,
        };
        Self { n_cases: compared.n_cases, score: compared.score, pass_rate: compared.pass_rate, direction }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::compare::tests::run_of;
    use super::*;
    use crate::stats::basics::pass_rate;

    fn figures(scores: &[Option<f64>]) -> RunFigures {
        let case = |(at, score): (usize, &Option<f64>)| CaseFigure {
            case: format!("case {at}"),
            base: format!("case {at}"),
            rubric: serde_json::from_value(json!("r".repeat(64))).unwrap(),
            status: match score {
                Some(score) if *score < 0.7 => VerdictStatus::Fail,
                Some(_) => VerdictStatus::Pass,
                None => VerdictStatus::Error,
            },
            score: *score,
        };
        let cases = scores.iter().enumerate().map(case).collect();
        RunFigures::new(RunId::new(Time::from_micros(1), [0; 10]), 0, cases)
    }

    #[test]
    fn a_drop_is_marked_and_noise_is_not() {
        let good: Vec<Option<f64>> = (0..40).map(|at| Some(if at % 10 == 0 { 0.6 } else { 0.9 })).collect();
        let bad: Vec<Option<f64>> = (0..40).map(|at| Some(if at % 2 == 0 { 0.2 } else { 0.9 })).collect();
        let mut noisy = good.clone();
        (noisy[0], noisy[1]) = (Some(0.8), Some(0.6));
        let (good, bad, noisy) = (figures(&good), figures(&bad), figures(&noisy));
        let direction = |after: &RunFigures, before: &RunFigures| {
            summarise_run_figures(after, Some(before)).change.unwrap().direction
        };
        assert_eq!(direction(&bad, &good), HistoryDirection::Worse);
        assert_eq!(direction(&good, &bad), HistoryDirection::Better);
        assert_eq!(direction(&noisy, &good), HistoryDirection::NotShown);
        assert_eq!(summarise_run_figures(&good, None).change, None);
    }

    #[test]
    fn figures_are_those_of_the_whole_runs() {
        let scores = [Some(0.9), Some(0.2), None, Some(1.0), Some(0.8)];
        let names: Vec<String> = (0..scores.len()).map(|at| format!("case {at}")).collect();
        let cases: Vec<(&str, Option<f64>)> = names.iter().map(String::as_str).zip(scores).collect();
        let whole = run_of(&cases);
        let result = summarise_run_figures(&figures(&scores), Some(&figures(&scores)));
        assert_eq!(result.score, estimate_run_means(&whole).0);
        assert_eq!(result.pass_rate, pass_rate(3, 4).ok(), "an error is neither");
        let change = result.change.unwrap();
        let compared = compare_runs(&whole, &whole, 0);
        assert_eq!((change.score, change.pass_rate), (compared.score, compared.pass_rate));
        assert_eq!(change.n_cases, 4);
    }

    #[test]
    fn trials_of_one_case_count_once() {
        let mut cases = Vec::new();
        for at in 0..6 {
            cases.push(CaseFigure {
                case: format!("a [trial {} of 6]", at + 1),
                base: "a".to_owned(),
                rubric: serde_json::from_value(json!("r")).unwrap(),
                status: VerdictStatus::Pass,
                score: Some(1.0),
            });
        }
        let run = RunFigures::new(RunId::new(Time::from_micros(1), [0; 10]), 0, cases);
        assert_eq!(summarise_run_figures(&run, None).score.unwrap().n, 1);
    }
}
