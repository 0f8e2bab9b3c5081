//! Tasks for people: what is asked, who works on what, and what became of it.

mod asked;
mod export;
mod finish;
mod looked_at;
mod make;
mod output;
mod people;
mod work;

pub use asked::{Asked, Graded, Subject, is_turned, points_of};
pub use export::{Kind, exported};
pub use finish::finish;
pub use looked_at::{Answered, answers, hidden, people_of, titles};
pub use make::{
    Added, NotMade, add_rows, add_subjects, add_traces, from_annotation, from_rubric, judged, named_traces,
    of_run, rubric_of, settle, task_link, verification,
};
pub use output::{Output, Outputs};
pub use people::{GradeWithFields, people_grades, results_of, settled_grades, task_names};
pub use work::{Shown, giving, shown};

use std::collections::BTreeMap;

use jurist_core::annotate::Settings;
use jurist_store::annotate::{ItemRole, Task};
use jurist_store::{AccountId, ProjectId, Store, StoreError};

/// The settings of a task; what is not understood any more is as it is unless told.
pub fn settings_of(task: &Task) -> Settings {
    serde_json::from_value(task.settings.clone()).unwrap_or_default()
}

/// What an item wants, by the settings.
pub fn wanted(settings: &Settings, candidate: &str) -> (u32, ItemRole) {
    let is_in = |all: &[jurist_core::annotate::Expecting]| all.iter().any(|it| it.item == candidate);
    match () {
        () if is_in(&settings.training) => (0, ItemRole::Training),
        () if is_in(&settings.gold) => (0, ItemRole::Gold),
        () if is_in(&settings.attention) => (0, ItemRole::Attention),
        () => (settings.wanted(candidate), ItemRole::Item),
    }
}

/// What people are called in grades and exports: by their name, and where two have the same, with something besides.
pub async fn names(store: &Store, project: ProjectId) -> Result<BTreeMap<AccountId, String>, StoreError> {
    let members = store.members(project).await?;
    let mut n_of: BTreeMap<&str, usize> = BTreeMap::new();
    for member in &members {
        *n_of.entry(&member.name).or_default() += 1;
    }
    let name = |it: &jurist_store::accounts::Member| match n_of.get(it.name.as_str()) {
        Some(1) => it.name.clone(),
        _ => format!("{} ({})", it.name, it.email),
    };
    Ok(members.iter().map(|it| (it.account, name(it))).collect())
}

/// And somebody who may be no member any more.
async fn name_of(store: &Store, project: ProjectId, account: AccountId) -> Result<String, StoreError> {
    match names(store, project).await?.remove(&account) {
        Some(name) => Ok(name),
        None => Ok(store.account(account).await?.name),
    }
}
