//! Blinding: annotators do not see grades of judges and others for an item that they have still to answer.

use std::collections::BTreeSet;

use jurist_store::StoreError;

use crate::app::App;
use crate::auth::Principal;

/// The candidates among these that the caller has still to annotate, and whose results stay hidden until then.
pub async fn find_withheld_candidates<'a>(
    app: &App,
    caller: &Principal,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeSet<String>, StoreError> {
    let Some(who) = caller.person else { return Ok(BTreeSet::new()) };
    app.store.unanswered_of(caller.project, who, &candidates.into_iter().collect()).await
}
