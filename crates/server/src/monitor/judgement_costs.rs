//! What judgements under a rubric version cost.

use std::collections::BTreeMap;

use jurist_core::grade::GraderKind;
use jurist_store::tallies::{TallyFilter, TallyPeriod};
use jurist_store::{ProjectId, Store, StoreError};

/// Number and cost of judgements.
pub(super) struct JudgementCosts {
    n: u64,
    dollars: f64,
}

impl JudgementCosts {
    /// The mean cost in dollars, including free judgements from the cache; `None` if there are fewer than `fewest`,
    /// or if none of them had a price.
    pub(super) fn mean(&self, fewest: u64) -> Option<f64> {
        (fewest.max(1) <= self.n && 0.0 < self.dollars).then(|| self.dollars / self.n as f64)
    }
}

pub(super) async fn load_judgement_costs(
    store: &Store,
    project: ProjectId,
    filter: &TallyFilter,
) -> Result<JudgementCosts, StoreError> {
    let verdicts = store.verdict_tallies(project, TallyPeriod::All, filter).await?;
    // A failed gate decides a verdict even if there was no budget for the judge, so not every verdict that fails was
    // a judgement. Their number is that of the judge's grades without an answer. All criteria are asked in one call.
    let mut deferred: BTreeMap<(String, String), u64> = BTreeMap::new();
    for tally in store.grade_tallies(project, TallyPeriod::All, filter).await? {
        if tally.grader_kind == GraderKind::Judge {
            *deferred.entry((tally.grader, tally.criterion)).or_default() += tally.n_deferred;
        }
    }
    let n_verdicts: u64 =
        verdicts.iter().map(|tally| tally.n_pass + tally.n_fail + tally.n_error + tally.n_deferred).sum();
    let n_deferred_verdicts: u64 = verdicts.iter().map(|tally| tally.n_deferred).sum();
    let n_deferred = deferred.into_values().max().unwrap_or(0).max(n_deferred_verdicts);
    let dollars = verdicts.iter().map(|tally| tally.cost.nanos() as f64 / 1e9).sum();
    Ok(JudgementCosts { n: n_verdicts.saturating_sub(n_deferred), dollars })
}
