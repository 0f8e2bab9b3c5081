//! Pairs of judge scores and human labels of the same traces.

use std::collections::BTreeMap;
use std::sync::Arc;

use jurist_core::grade::{Outcome, VerdictStatus};
use jurist_core::rubric::Rubric;
use jurist_core::score::verdict_from_outcomes;
use jurist_core::stats::monitoring::LabelledTrace;
use jurist_store::monitors::StoredMonitor;
use jurist_store::scores::{LabelledScore, WholeScore};
use jurist_store::{ProjectId, RubricVersionId, Store, StoreError};

use super::estimates::{JudgeSeries, TrafficWindow};
use crate::job::{find_criterion, is_met};

/// Labels that are read at a time.
const PAGE: usize = 1_000;

#[derive(Default)]
pub(super) struct HumanLabels {
    scores: Vec<LabelledScore>,
    wholes: Vec<WholeScore>,
    /// By rubric version and trace.
    people: BTreeMap<(RubricVersionId, String), HumanVerdict>,
}

/// Traces with a score and a label each.
#[derive(Default)]
pub(super) struct LabelledPairs {
    pub(super) scores: Vec<LabelledTrace>,
    /// As 1 and 0.
    pub(super) passes: Vec<LabelledTrace>,
}

/// Overall score and pass of a trace, computed from its labels.
#[derive(Clone, Copy)]
struct HumanVerdict {
    score: f64,
    is_passed: bool,
}

impl HumanLabels {
    pub(super) async fn read(
        store: &Store,
        project: ProjectId,
        monitor: &StoredMonitor,
        window: &TrafficWindow,
        rubrics: &BTreeMap<RubricVersionId, Arc<Rubric>>,
    ) -> Result<Self, StoreError> {
        let period = (window.from, window.until);
        let people = async {
            let mut people = BTreeMap::new();
            for (version, rubric) in rubrics {
                people.extend(load_human_verdicts(store, project, version, rubric).await?);
            }
            Ok(people)
        };
        let scores = store.labelled_scores(project, monitor.id, period);
        let (scores, people) = tokio::try_join!(scores, people)?;
        // Overall scores are compared only with overall labels, so they are not read if there are none.
        let wholes = match people.is_empty() {
            true => Vec::new(),
            false => store.whole_scores(project, monitor.id, period).await?,
        };
        Ok(Self { scores, wholes, people })
    }

    /// Pairs of score and label. There is an overall label if all criteria have one.
    pub(super) fn pairs(&self, rubric: &Rubric, series: &JudgeSeries, name: &str) -> LabelledPairs {
        let JudgeSeries { version, judge } = series;
        if name.is_empty() {
            return self.whole(version, judge);
        }
        let mut pairs = LabelledPairs::default();
        let question = find_criterion(rubric, name);
        let is_meant = |labelled_score: &&LabelledScore| {
            labelled_score.rubric_version == *version
                && labelled_score.judge == *judge
                && labelled_score.criterion == name
        };
        for it in self.scores.iter().filter(is_meant) {
            let probability = it.probability.get();
            pairs.scores.push(LabelledTrace { human: it.human, judge: it.unit, probability });
            let people = question.as_ref().and_then(|question| is_met(rubric, question, it.human));
            pairs.passes.extend(passes(people, it.is_passed, probability));
        }
        pairs
    }

    fn whole(&self, version: &RubricVersionId, judge: &str) -> LabelledPairs {
        let mut pairs = LabelledPairs::default();
        for it in self.wholes.iter().filter(|whole| whole.rubric_version == *version && whole.judge == judge)
        {
            let key = (version.clone(), it.trace.to_string());
            let Some(HumanVerdict { score, is_passed }) = self.people.get(&key).copied() else { continue };
            let probability = it.probability.get();
            pairs.scores.push(LabelledTrace { human: score, judge: it.unit, probability });
            pairs.passes.extend(passes(Some(is_passed), it.is_passed, probability));
        }
        pairs
    }
}

fn passes(people: Option<bool>, judge: Option<bool>, probability: f64) -> Option<LabelledTrace> {
    let number = |flag: bool| f64::from(u8::from(flag));
    Some(LabelledTrace { human: number(people?), judge: number(judge?), probability })
}

async fn load_human_verdicts(
    store: &Store,
    project: ProjectId,
    version: &RubricVersionId,
    rubric: &Rubric,
) -> Result<BTreeMap<(RubricVersionId, String), HumanVerdict>, StoreError> {
    let mut all: BTreeMap<String, BTreeMap<String, Outcome>> = BTreeMap::new();
    let mut after = None;
    loop {
        let page = store.labels(project, version, None, after.as_ref(), PAGE).await?;
        for it in page.items {
            let outcome = Outcome::Scored { value: it.value, unit: it.unit };
            all.entry(it.candidate).or_default().insert(it.criterion, outcome);
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let whole = |(candidate, labels): (String, BTreeMap<String, Outcome>)| {
        let verdict = verdict_from_outcomes(rubric, |id| labels.get(id).cloned())?;
        let is_passed = match verdict.status {
            VerdictStatus::Pass => true,
            VerdictStatus::Fail => false,
            VerdictStatus::Error | VerdictStatus::Deferred => return None,
        };
        Some(((version.clone(), candidate), HumanVerdict { score: verdict.score?, is_passed }))
    };
    Ok(all.into_iter().filter_map(whole).collect())
}
