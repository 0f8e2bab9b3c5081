//! Names of cases in their parts, so that a page need not find rows, prompts and trials in the text.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::run::{CaseResult, Run};
use jurist_core::suite::CaseNameParts;
use serde::Serialize;
use utoipa::ToSchema;

/// Parts of the name of a case
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CaseNameView {
    /// The name that is written, with the fields of the row.
    written: String,
    /// Row of the data, from 1; `null` if the case has no rows.
    row: Option<u32>,
    /// Prompt, target and model, as far as the case has several.
    variant: Vec<String>,
    /// Which of several trials, from 1; `null` for a case as a whole.
    trial: Option<u32>,
}

impl CaseNameView {
    /// Parts of the name of a result; `None` if the name is as it is written.
    pub fn of(result: &CaseResult) -> Option<Self> {
        Self::with_trial(result, result.trial)
    }

    fn with_trial(result: &CaseResult, trial: Option<u32>) -> Option<Self> {
        // Earlier versions of Jurist wrote the number of the trial alone.
        let whole = || CaseNameParts { written: result.base().to_owned(), row: None, variant: Vec::new() };
        let CaseNameParts { written, row, variant } = result.parts.clone().unwrap_or_else(whole);
        let is_composed = row.is_some() || trial.is_some() || !variant.is_empty();
        is_composed.then_some(Self { written, row, variant, trial })
    }
}

/// Parts of these names by name: of trials, and of cases as a whole. Names that are as they are written are left out.
pub fn list_name_parts(names: &BTreeSet<&str>, runs: [&Run; 2]) -> BTreeMap<String, CaseNameView> {
    let mut parts = BTreeMap::new();
    for result in runs.into_iter().flat_map(|run| run.results.iter()) {
        for (name, trial) in [(result.case.as_str(), result.trial), (result.base(), None)] {
            if names.contains(name) && !parts.contains_key(name) {
                let view = CaseNameView::with_trial(&result, trial);
                parts.extend(view.map(|view| (name.to_owned(), view)));
            }
        }
    }
    parts
}
