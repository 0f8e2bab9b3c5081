//! What becomes of an answer that was submitted: grades, what is said about it, and the file of its author.

use jurist_core::annotate::{Checked, Draft, Expecting, compare, grades, pace};
use jurist_core::grade::Time;
use jurist_store::annotate::ItemRole;
use jurist_store::grades::NewGrade;
use jurist_store::{Probability, ProjectId, Store, StoreError};

use super::{Asked, Shown, name_of};

/// What is said to whoever submitted.
#[derive(Debug, Default)]
pub struct Finished {
    /// Of training items only.
    pub feedback: Option<(Vec<Checked>, Option<String>)>,
    pub pace: Option<String>,
}

/// After an answer was kept. `attempt` counts what the same person said about the same item.
pub async fn finish(
    store: &Store,
    project: ProjectId,
    shown: &Shown,
    draft: &Draft,
    attempt: u32,
    now: Time,
) -> Result<Finished, StoreError> {
    let item = store.item(project, shown.assignment.item).await?;
    if item.role == ItemRole::Item {
        record(store, project, shown, &item.candidate, draft, attempt, now).await?;
    }
    let expecting = |all: &[Expecting]| all.iter().find(|it| it.item == item.candidate).cloned();
    let feedback = match item.role {
        ItemRole::Training => expecting(&shown.settings.training).map(|it| (compare(&it, draft), it.why)),
        ItemRole::Item | ItemRole::Gold | ItemRole::Attention => None,
    };
    Ok(Finished { feedback, pace: too_fast(store, project, shown).await? })
}

async fn record(
    store: &Store,
    project: ProjectId,
    shown: &Shown,
    candidate: &str,
    draft: &Draft,
    attempt: u32,
    now: Time,
) -> Result<(), StoreError> {
    let asked = Asked::of(store, project, shown.task.id, shown.assignment.version).await?;
    let name = name_of(store, project, shown.assignment.account).await?;
    let mut new = Vec::new();
    for scheme in &shown.schemes {
        let Some(graded) = asked.rubrics.get(&scheme.name) else { continue };
        let of_scheme = grades(std::slice::from_ref(scheme), draft, &asked.hashes(), candidate, &name, now);
        new.extend(of_scheme.into_iter().map(|grade| NewGrade {
            grade,
            rubric_version: graded.id.clone(),
            attempt,
            agent: None,
            is_passed: None,
            probability: Probability::CERTAIN,
            time: now,
        }));
    }
    store.record(project, &new, &[]).await.map(drop)
}

async fn too_fast(store: &Store, project: ProjectId, shown: &Shown) -> Result<Option<String>, StoreError> {
    let everybody = store.recent_seconds(shown.task.id, 200).await?;
    let seconds = store.assignment(project, shown.assignment.id).await?.seconds;
    let is_fast = 0 < pace(&[seconds], &everybody, shown.settings.min_seconds).n_too_fast;
    Ok(is_fast.then(|| "That was very fast. Please take the time to read.".to_owned()))
}
