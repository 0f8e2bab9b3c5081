//! Datasets: versions, differences, refused changes and erasure.

use std::collections::BTreeMap;

use jurist_core::dataset::{DatasetSplit, MAX_DATASET_CASES, SplitRule};
use jurist_store::datasets::{
    DatasetCaseFilter, DatasetChange, DatasetWrite, NewDataset, NewDatasetCase, StoredDatasetCase,
    WrittenVersion,
};
use jurist_store::testing::{Scene, SeededRandom, for_each_engine};
use jurist_store::{Cursor, DatasetId, ProjectId, RubricVersionId, StoreError};
use serde_json::{Value as Json, json};

use crate::grading::version;
use crate::traces::{finished, id};
use crate::{at, project};

const RULE: SplitRule<'static> = SplitRule { dataset: "cases", test_share: 0.5 };

fn case(key: &str, output: &str) -> NewDatasetCase {
    let record = json!({ "id": key, "input": format!("question {key}"), "output": output });
    NewDatasetCase { case: RULE.build_case(record).unwrap(), trace: None, rubric: None }
}

fn change(cases: Vec<NewDatasetCase>, remove: &[&str]) -> DatasetChange {
    let remove = remove.iter().map(|key| (*key).to_owned()).collect();
    DatasetChange { cases, remove, ..DatasetChange::default() }
}

async fn dataset(scene: &Scene, project: ProjectId) -> DatasetId {
    let new = NewDataset { name: "cases".into(), description: None, test_share: 0.5, author: None };
    scene.store.add_dataset(project, &new, at(1)).await.unwrap().id
}

async fn write(
    scene: &Scene,
    project: ProjectId,
    dataset: DatasetId,
    change: &DatasetChange,
) -> WrittenVersion {
    match scene.store.write_dataset_version(project, dataset, change, at(2)).await.unwrap() {
        DatasetWrite::Written(written) => written,
        refused => panic!("{refused:?}"),
    }
}

/// Outputs by key, read page by page.
async fn outputs(scene: &Scene, dataset: DatasetId, version: u64) -> BTreeMap<String, Json> {
    let filter = DatasetCaseFilter { version, ..DatasetCaseFilter::default() };
    let (mut all, mut after): (_, Option<Cursor>) = (BTreeMap::new(), None);
    loop {
        let page = scene.store.dataset_cases(dataset, &filter, true, after.as_ref(), 3).await.unwrap();
        for case in page.items {
            assert_eq!(case.split, RULE.split_of(&case.task));
            all.insert(case.key, case.record.unwrap()["output"].clone());
        }
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

#[test]
fn a_version_has_the_cases_that_all_changes_up_to_it_leave() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let cases = dataset(&scene, support).await;
        assert_eq!(store.dataset(support, "cases").await.unwrap().newest, None);

        let mut random = SeededRandom::new(7);
        let mut expected: Vec<BTreeMap<String, Json>> = vec![BTreeMap::new()];
        while expected.len() < 12 {
            let before = expected.last().unwrap().clone();
            let mut after = before.clone();
            let (mut added, mut removed) = (Vec::new(), Vec::new());
            for key in 0..8 {
                let key = format!("case {key}");
                match random.below(4) {
                    0 => {
                        let output = format!("answer {}", random.below(2));
                        added.push(case(&key, &output));
                        after.insert(key, json!(output));
                    }
                    1 if before.contains_key(&key) => {
                        after.remove(&key);
                        removed.push(key);
                    }
                    _ => {}
                }
            }
            let keys: Vec<&str> = removed.iter().map(String::as_str).collect();
            let written = write(&scene, support, cases, &change(added, &keys)).await;
            assert_eq!(written.is_new, before != after);
            assert_eq!(written.n_cases, after.len());
            if written.is_new {
                expected.push(after);
                assert_eq!(written.version, expected.len() as u64 - 1);
            }
        }
        for (number, known) in expected.iter().enumerate().skip(1) {
            assert_eq!(&outputs(&scene, cases, number as u64).await, known, "version {number}");
        }
        // The difference of any two versions is that of their contents, in both directions.
        for (from, to) in [(0, 11), (3, 7), (7, 3), (5, 6), (4, 4)] {
            let diff = store.diff_dataset_versions(cases, from, to, None, 100).await.unwrap();
            let (old, new) = (&expected[from as usize], &expected[to as usize]);
            let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
            keys.sort();
            keys.dedup();
            let differing: Vec<&String> =
                keys.into_iter().filter(|key| old.get(*key) != new.get(*key)).collect();
            let found: Vec<&String> = diff.page.items.iter().map(|item| &item.key).collect();
            assert_eq!(found, differing, "{from} to {to}");
            let n_added = differing.iter().filter(|key| !old.contains_key(**key)).count() as u64;
            let n_removed = differing.iter().filter(|key| !new.contains_key(**key)).count() as u64;
            assert_eq!((diff.n_added, diff.n_removed), (n_added, n_removed));
            assert_eq!(diff.n_added + diff.n_changed + diff.n_removed, differing.len() as u64);
            for item in &diff.page.items {
                let (is_old, is_new) = (old.contains_key(&item.key), new.contains_key(&item.key));
                assert_eq!((item.old.is_some(), item.new.is_some()), (is_old, is_new));
                let fields: &[&str] = if is_old && is_new { &["output"] } else { &[] };
                assert_eq!(item.fields, fields);
                let is_in = |number: u64| {
                    move |case: &StoredDatasetCase| {
                        case.added_in <= number && case.removed_in.is_none_or(|end| number < end)
                    }
                };
                assert!(item.old.as_ref().is_none_or(is_in(from)) && item.new.as_ref().is_none_or(is_in(to)));
            }
        }
        // Pages of a difference follow each other.
        let first = store.diff_dataset_versions(cases, 0, 11, None, 1).await.unwrap();
        let rest = store.diff_dataset_versions(cases, 0, 11, first.page.next.as_ref(), 100).await.unwrap();
        assert_eq!(first.page.items.len() + rest.page.items.len(), expected[11].len());

        let versions = store.dataset_versions(cases, None, 4).await.unwrap();
        let numbers: Vec<u64> = versions.items.iter().map(|version| version.number).collect();
        assert_eq!(numbers, [11, 10, 9, 8]);
        let more = store.dataset_versions(cases, versions.next.as_ref(), 100).await.unwrap();
        assert_eq!(more.items.len(), 7);
        let found = store.dataset(support, "cases").await.unwrap();
        let newest = found.newest.clone().unwrap();
        assert_eq!((newest.number, newest.n_cases), (11, expected[11].len() as u64));
        assert_eq!(store.dataset_version(&found, 11).await.unwrap(), newest);
        assert!(store.dataset_version(&found, 12).await.is_err());
        // Versions never change.
        assert!(scene.execute("UPDATE dataset_versions SET n_cases = 0").await.is_err());
        assert!(scene.execute("DELETE FROM dataset_versions").await.is_err());
    });
}

#[test]
fn changes_that_do_not_fit_are_refused_as_a_whole() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let cases = dataset(&scene, support).await;
        let refused = async |change: &DatasetChange| {
            store.write_dataset_version(support, cases, change, at(3)).await.unwrap()
        };
        let first = DatasetChange { base: Some(0), ..change(vec![case("a", "x"), case("b", "x")], &[]) };
        assert_eq!(write(&scene, support, cases, &first).await.n_added, 2);
        assert_eq!(refused(&first).await, DatasetWrite::Outdated { newest: 1 });
        let unknown = change(vec![case("c", "x")], &["nobody"]);
        assert_eq!(refused(&unknown).await, DatasetWrite::UnknownKey("nobody".into()));
        // The same again is no version, and the complete content removes what it lacks.
        let again = write(&scene, support, cases, &change(vec![case("a", "x")], &[])).await;
        assert_eq!((again.version, again.is_new, again.n_unchanged), (1, false, 1));
        let only = DatasetChange { is_complete: true, ..change(vec![case("b", "y")], &[]) };
        let written = write(&scene, support, cases, &only).await;
        assert_eq!((written.version, written.n_changed, written.n_removed, written.n_cases), (2, 1, 1, 1));

        let many = (0..=MAX_DATASET_CASES).map(|n| case(&n.to_string(), "x")).collect();
        let many = DatasetChange { is_complete: true, ..change(many, &[]) };
        assert_eq!(refused(&many).await, DatasetWrite::TooMany { n_cases: MAX_DATASET_CASES + 1 });

        store.archive_dataset(support, cases, Some(at(5))).await.unwrap();
        assert_eq!(refused(&change(vec![case("d", "x")], &[])).await, DatasetWrite::Archived);
        assert!(store.datasets(support, false).await.unwrap().is_empty());
        assert_eq!(store.datasets(support, true).await.unwrap().len(), 1);
        store.archive_dataset(support, cases, None).await.unwrap();
        store.describe_dataset(support, cases, Some("hard ones")).await.unwrap();
        let found = store.dataset(support, "cases").await.unwrap();
        assert_eq!((found.description.as_deref(), found.archived), (Some("hard ones"), None));
        let taken = NewDataset { name: "cases".into(), description: None, test_share: 0.5, author: None };
        assert!(matches!(store.add_dataset(support, &taken, at(6)).await, Err(StoreError::Taken { .. })));
        // Another project does not see it, and may use the name.
        let other = store.add_project("other", at(1)).await.unwrap().id;
        assert!(matches!(store.dataset(other, "cases").await, Err(StoreError::Unknown { .. })));
        assert!(store.write_dataset_version(other, cases, &only, at(7)).await.is_err());
        store.add_dataset(other, &taken, at(6)).await.unwrap();
    });
}

#[test]
fn cases_are_found_by_split_and_text_and_keep_their_rubric() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let cases = dataset(&scene, support).await;
        let rubric: RubricVersionId = version(&scene, support).await;
        let graded = NewDatasetCase { rubric: Some(rubric.clone()), ..case("100%_a", "x") };
        let all = vec![graded, case("Refund", "x"), case("other", "x")];
        write(&scene, support, cases, &change(all, &[])).await;
        let find = async |filter: DatasetCaseFilter<'_>| {
            let filter = DatasetCaseFilter { version: 1, ..filter };
            let page = store.dataset_cases(cases, &filter, false, None, 50).await.unwrap();
            page.items.into_iter().map(|case| case.key).collect::<Vec<_>>()
        };
        let search = |text| DatasetCaseFilter { search: Some(text), ..DatasetCaseFilter::default() };
        assert_eq!(find(search("refund")).await, ["Refund"]);
        assert_eq!(find(search("100%_")).await, ["100%_a"]);
        assert_eq!(find(search("question")).await.len(), 3);
        assert_eq!(find(search("nothing")).await.len(), 0);
        let of = |split| DatasetCaseFilter { split: Some(split), ..DatasetCaseFilter::default() };
        let (dev, test) = (find(of(DatasetSplit::Dev)).await, find(of(DatasetSplit::Test)).await);
        assert_eq!(dev.len() + test.len(), 3);
        let newest = store.dataset(support, "cases").await.unwrap().newest.unwrap();
        assert_eq!(newest.n_test, test.len() as u64);

        // A record that is added again without a rubric keeps the one that it had.
        let written = write(&scene, support, cases, &change(vec![case("100%_a", "y")], &[])).await;
        assert_eq!(written.n_changed, 1);
        let filter = DatasetCaseFilter { version: 2, key: Some("100%_a"), ..DatasetCaseFilter::default() };
        let found = store.dataset_cases(cases, &filter, true, None, 1).await.unwrap().items.remove(0);
        assert_eq!((found.added_in, found.removed_in), (2, None));
        let kept = found.rubric.unwrap();
        assert_eq!((kept.name.as_str(), kept.version), ("tone", rubric));
    });
}

#[test]
fn the_cases_of_an_erased_trace_lose_their_text() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let cases = dataset(&scene, support).await;
        store.put_trace(support, &id("t1"), &finished("secret words", 10), at(11)).await.unwrap();
        let traced = NewDatasetCase { trace: Some(id("t1")), ..case("t1", "secret words") };
        write(&scene, support, cases, &change(vec![traced.clone(), case("other", "x")], &[])).await;
        // An edited version keeps the trace, so that its text is erased with it.
        write(&scene, support, cases, &change(vec![case("t1", "secret words, edited")], &[])).await;
        while store.erase_traces(support, at(60), 10).await.unwrap() != 0 {}
        for version in [1, 2] {
            let filter = DatasetCaseFilter { version, key: Some("t1"), ..DatasetCaseFilter::default() };
            let found = store.dataset_cases(cases, &filter, true, None, 1).await.unwrap().items.remove(0);
            assert!(found.is_erased && found.record.is_none() && found.title.is_none());
            assert_eq!(found.trace, Some(id("t1")));
        }
        let left = "SELECT COUNT(*) FROM dataset_cases WHERE trace = 't1' AND (body IS NOT NULL OR hash IS NOT NULL)";
        assert_eq!(scene.number(left).await.unwrap(), 0);
        assert_eq!(outputs_of_readable(&scene, cases).await, ["other"]);
        // Its text cannot come back through the trace.
        let again = change(vec![traced], &[]);
        let refused = store.write_dataset_version(support, cases, &again, at(70)).await.unwrap();
        assert_eq!(refused, DatasetWrite::ErasedTrace("t1".into()));
    });
}

#[test]
fn writers_at_the_same_time_make_one_version_after_the_other() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let cases = dataset(&scene, support).await;
        let write_all = async |base: Option<u64>, name: &str| {
            let writers = (0..8).map(|n| {
                let own = case(&format!("{name} {n}"), "x");
                let added = change(vec![own, case("shared", &n.to_string())], &[]);
                let (store, added) = (scene.store.clone(), DatasetChange { base, ..added });
                tokio::spawn(async move {
                    store.write_dataset_version(support, cases, &added, at(2)).await.unwrap()
                })
            });
            let mut written = Vec::new();
            for writer in writers.collect::<Vec<_>>() {
                written.push(writer.await.unwrap());
            }
            written
        };
        let first = write_all(Some(0), "first").await;
        let is_written = |write: &&DatasetWrite| matches!(write, DatasetWrite::Written(_));
        assert_eq!(first.iter().filter(is_written).count(), 1, "{first:?}");
        let outdated = DatasetWrite::Outdated { newest: 1 };
        assert!(first.iter().all(|write| is_written(&write) || *write == outdated), "{first:?}");
        let second = write_all(None, "second").await;
        let mut numbers: Vec<u64> = second
            .iter()
            .map(|write| match write {
                DatasetWrite::Written(written) => written.version,
                refused => panic!("{refused:?}"),
            })
            .collect();
        numbers.sort_unstable();
        // One of them may find the same `shared` as the first version, and still adds a case of its own.
        assert_eq!(numbers, (2..=9).collect::<Vec<u64>>());
        assert_eq!(outputs(&scene, cases, 1).await.len(), 2);
        assert_eq!(outputs(&scene, cases, 9).await.len(), 10);
        assert_eq!(scene.store.check().await.unwrap(), []);
    });
}

#[test]
fn damaged_cases_are_found() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let cases = dataset(&scene, support).await;
        store.put_trace(support, &id("t1"), &finished("secret words", 10), at(11)).await.unwrap();
        let traced = NewDatasetCase { trace: Some(id("t1")), ..case("t1", "secret words") };
        write(&scene, support, cases, &change(vec![traced, case("a", "x"), case("b", "x")], &[])).await;
        assert_eq!(store.check().await.unwrap(), []);
        for sql in [
            "UPDATE dataset_cases SET hash = 'other' WHERE key = 'a'",
            "DELETE FROM dataset_cases WHERE key = 'b'",
            "UPDATE traces SET state = 'erased'",
            "DELETE FROM trace_contents",
        ] {
            scene.execute(sql).await.unwrap();
        }
        let problems = store.check().await.unwrap();
        let mut found: Vec<String> =
            problems.iter().map(|problem| format!("{}: {}", problem.what, problem.why)).collect();
        found.sort();
        let expected = [
            "dataset_cases: the content differs from its hash",
            "dataset_cases: their traces are erased, and their texts are not",
            "dataset_versions: their numbers of changes are not those of their cases",
        ];
        assert_eq!(found, expected);
    });
}

#[test]
fn a_case_that_gets_another_trace_differs() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let cases = dataset(&scene, support).await;
        store.put_trace(support, &id("t1"), &finished("words", 10), at(11)).await.unwrap();
        write(&scene, support, cases, &change(vec![case("a", "x")], &[])).await;
        let traced = NewDatasetCase { trace: Some(id("t1")), ..case("a", "x") };
        assert_eq!(write(&scene, support, cases, &change(vec![traced], &[])).await.n_changed, 1);
        let diff = store.diff_dataset_versions(cases, 1, 2, None, 10).await.unwrap();
        assert_eq!((diff.n_added, diff.n_changed, diff.n_removed), (0, 1, 0));
        assert_eq!(diff.page.items[0].new.as_ref().unwrap().trace, Some(id("t1")));
    });
}

async fn outputs_of_readable(scene: &Scene, dataset: DatasetId) -> Vec<String> {
    let filter = DatasetCaseFilter { version: 2, ..DatasetCaseFilter::default() };
    let page = scene.store.dataset_cases(dataset, &filter, true, None, 50).await.unwrap();
    page.items.into_iter().filter(|case| case.record.is_some()).map(|case| case.key).collect()
}
