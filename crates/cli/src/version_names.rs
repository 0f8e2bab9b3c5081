//! Short names of rubric versions: `v2 (22 Oct)` instead of an id. `--json` has the ids.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::grade::{RubricHash, Time};

use crate::database::{DatabaseArgs, project_of};
use crate::runtime::wait_for;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[derive(Debug, Default)]
pub struct VersionNames {
    by_id: BTreeMap<String, String>,
}

impl VersionNames {
    /// Adds the versions of one rubric, given by id and time, the newest first.
    pub fn add_rubric(&mut self, versions: impl DoubleEndedIterator<Item = (String, Time)>) {
        for (before, (id, created)) in versions.rev().enumerate() {
            self.by_id.insert(id, format!("v{} ({})", before + 1, format_day(created)));
        }
    }

    /// The name of a version, or its id if it is not known.
    pub fn name<'a>(&'a self, id: &'a str) -> &'a str {
        self.by_id.get(id).map_or(id, String::as_str)
    }

    /// The name of the version with this hash, if the version is known.
    pub fn name_of_hash(&self, hash: &RubricHash) -> Option<&str> {
        self.by_id.get(hash.as_str()).map(String::as_str)
    }

    pub fn contains(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }
}

/// Names of versions by their hashes, if the database of the project has all of them. Without a database, or with one
/// that cannot be read, no version has a name.
pub fn find_version_names(hashes: &BTreeSet<&RubricHash>, place: &DatabaseArgs) -> VersionNames {
    wait_for(load_version_names(hashes, place)).unwrap_or_default()
}

async fn load_version_names(
    hashes: &BTreeSet<&RubricHash>,
    place: &DatabaseArgs,
) -> anyhow::Result<VersionNames> {
    let mut names = VersionNames::default();
    let Some(store) = place.open_if_current().await? else { return Ok(names) };
    let project = project_of(&store, None).await?;
    for hash in hashes {
        if names.contains(hash.as_str()) {
            continue;
        }
        // A hash that is a version of more than one rubric has a name for each.
        if let [version] = store.versions_with_hash(project, hash).await?.as_slice() {
            let all = store.rubric_versions(project, version.rubric).await?;
            names.add_rubric(all.into_iter().map(|version| (version.hash.to_string(), version.created)));
        }
    }
    store.close().await;
    // Versions of two rubrics can have the same name.
    let n_names = hashes.iter().filter_map(|hash| names.name_of_hash(hash)).collect::<BTreeSet<_>>().len();
    Ok(if n_names == hashes.len() { names } else { VersionNames::default() })
}

/// The day and month of a time, such as `22 Oct`.
fn format_day(time: Time) -> String {
    let text = time.to_string();
    let part = |range| text.get(range).and_then(|digits: &str| digits.parse::<usize>().ok());
    match (part(5..7).and_then(|month| MONTHS.get(month.checked_sub(1)?)), part(8..10)) {
        (Some(month), Some(day)) => format!("{day} {month}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbered_from_the_oldest() {
        let time = |text: &str| Time::parse(text).unwrap();
        let versions = [("rubv_b", "2026-10-22T08:00:00Z"), ("rubv_a", "2026-09-01T08:00:00Z")];
        let mut names = VersionNames::default();
        names.add_rubric(versions.iter().map(|(id, created)| ((*id).to_owned(), time(created))));
        assert_eq!(names.name("rubv_a"), "v1 (1 Sep)");
        assert_eq!(names.name("rubv_b"), "v2 (22 Oct)");
        assert_eq!(names.name("rubv_c"), "rubv_c");
    }
}
