//! Comparisons of runs that were made before, in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jurist_core::report::CaseChanges;
use jurist_core::stats::comparison::HistoryFigures;
use jurist_store::runs::RunHead;

/// Cases that are remembered, over all pairs of runs; each takes about 200 bytes.
const MAX_REMEMBERED_CASES: usize = 200_000;

/// Comparisons that are remembered: a comparison of two runs with 10,000 cases each takes a second.
const MAX_REMEMBERED: usize = 2_000;

/// What became of each case, and where its results are stored.
#[derive(Debug)]
pub struct ChangeIndex {
    pub changes: CaseChanges,
    /// The place in the plan of each result of the earlier run.
    pub places_before: Vec<usize>,
    pub places_after: Vec<usize>,
}

/// Comparisons that were made before: the next page or another filter reads only the cases that it shows.
#[derive(Debug, Default)]
pub struct ChangeCache(Mutex<HashMap<String, Arc<ChangeIndex>>>);

impl ChangeCache {
    pub fn get(&self, key: &str) -> Option<Arc<ChangeIndex>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub fn insert(&self, key: String, index: Arc<ChangeIndex>) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n_cases: usize = remembered.values().map(|index| index.places_after.len()).sum();
        if MAX_REMEMBERED_CASES < n_cases + index.places_after.len() {
            remembered.clear();
        }
        remembered.insert(key, index);
    }
}

/// Figures of runs that were computed before; a run that has ended does not change.
#[derive(Debug, Clone, Default)]
pub struct HistoryCache(Arc<Mutex<HashMap<HistoryKey, HistoryFigures>>>);

/// Two runs as they were when they were compared. Counts and times tell a run that was deleted and sent again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HistoryKey {
    run: String,
    before: Option<String>,
}

impl HistoryKey {
    pub fn new(run: &RunHead, before: Option<&RunHead>) -> Self {
        Self { run: describe_run_state(run), before: before.map(describe_run_state) }
    }
}

impl HistoryCache {
    pub fn get(&self, key: &HistoryKey) -> Option<HistoryFigures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub fn insert(&self, key: HistoryKey, figures: HistoryFigures) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if MAX_REMEMBERED <= remembered.len() {
            remembered.clear();
        }
        remembered.insert(key, figures);
    }
}

/// Changes with every result that arrives, and tells a run that was deleted and sent again.
pub fn describe_run_state(head: &RunHead) -> String {
    let RunHead { id, ended, n_pass, n_fail, n_error, n_deferred, score, .. } = head;
    format!("{id} {ended:?} {n_pass} {n_fail} {n_error} {n_deferred} {score:?}")
}
