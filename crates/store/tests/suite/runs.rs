use std::collections::BTreeMap;

use futures_util::TryStreamExt;
use jurist_core::grade::{Counts, FORMAT, RubricHash, Spend, Usd, Verdict, VerdictStatus};
use jurist_core::run::{CaseResult, Run, RunId, RunProvenance};
use jurist_store::accounts::NewAccount;
use jurist_store::run_labels::NewRunLabel;
use jurist_store::runs::{NewRunResult, RunFilter};
use jurist_store::testing::for_each_engine;
use jurist_store::{AccountId, StoreError};
use serde_json::json;

use crate::{at, project, undo_migrations};

fn run(seconds: i64, chance: u8) -> Run {
    let rubric: RubricHash = serde_json::from_value(json!("abc")).unwrap();
    Run {
        format: FORMAT,
        id: RunId::new(at(seconds), [chance; 10]),
        suite: Some("suite".into()),
        provenance: Default::default(),
        started: at(seconds),
        ended: None,
        seed: u64::MAX,
        rubrics: BTreeMap::from([(rubric, json!({"threshold": 0.5}))]),
        results: jurist_core::run::RunResults::default(),
        spend: Spend::default(),
        summary: None,
    }
}

fn result(case: &str, status: VerdictStatus, score: Option<f64>) -> CaseResult {
    CaseResult {
        case: case.into(),
        origin: None,
        trial: None,
        base: None,
        parts: None,
        candidate: case.into(),
        rubric: serde_json::from_value(json!("abc")).unwrap(),
        verdict: Verdict {
            status,
            score,
            native: None,
            vacuous: false,
            failed_gates: Vec::new(),
            undecided_gates: Vec::new(),
            path: Vec::new(),
            counts: Counts::default(),
        },
        grades: Vec::new(),
        spend: Spend { tokens_in: 3, cost: Some(Usd::from_nanos(10)), ..Spend::default() },
        panel: None,
        projected_calls: None,
        metadata: BTreeMap::new(),
        material: Default::default(),
    }
}

#[test]
fn a_run_is_kept_place_by_place_and_read_in_the_order_of_the_plan() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let mut run = run(1, 1);
        store.begin_run(support, &run).await.unwrap();
        assert!(
            matches!(store.begin_run(support, &run).await, Err(StoreError::Taken { .. })),
            "not written over"
        );
        let results: Vec<CaseResult> =
            (0..450).map(|n| result(&format!("c{n}"), VerdictStatus::Pass, Some(0.5))).collect();
        let graded = |(place, result)| NewRunResult { place, result, exchanges: &[] };
        let placed: Vec<NewRunResult<'_>> = results.iter().enumerate().rev().map(graded).collect();
        store.put_results(support, run.id, &placed, at(2)).await.unwrap();
        // What comes late does not take the place of a verdict; what broke gives its place to the next.
        let broken = result("c7", VerdictStatus::Error, None);
        store
            .put_results(support, run.id, &[graded((7, &broken)), graded((450, &broken))], at(3))
            .await
            .unwrap();
        let later = result("c450", VerdictStatus::Deferred, None);
        store.put_results(support, run.id, &[graded((450, &later))], at(4)).await.unwrap();
        store.end_run(support, run.id, at(9)).await.unwrap();

        let streamed: Vec<(usize, CaseResult)> =
            store.result_stream(support, run.id).try_collect().await.unwrap();
        assert_eq!(
            streamed.iter().map(|streamed| streamed.0).collect::<Vec<_>>(),
            (0..451).collect::<Vec<_>>()
        );
        run.results = results.into_iter().chain([later]).collect();
        run.ended = Some(at(9));
        run.spend = Spend { tokens_in: 1353, cost: Some(Usd::from_nanos(4510)), ..Spend::default() };
        assert_eq!(store.load_run(support, run.id).await.unwrap(), run);
        let head = store.runs(support, &RunFilter::default(), None, 5).await.unwrap().items.remove(0);
        assert_eq!((head.n_pass, head.n_deferred, head.score, head.cost.nanos()), (450, 1, Some(0.5), 4510));
    });
}

#[test]
fn runs_are_found_by_what_people_type() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let none = store.find_run(support, "latest").await.unwrap_err();
        assert!(matches!(none, StoreError::Unknown { what: "run", .. }));
        let (first, second) = (run(1, 0x11), run(2, 0x22));
        store.begin_run(support, &first).await.unwrap();
        store.begin_run(support, &second).await.unwrap();
        let find = async |name: &str| store.find_run(support, name).await;
        assert_eq!(find("latest").await.unwrap(), second.id);
        assert_eq!(find(&first.id.to_string()).await.unwrap(), first.id);
        assert_eq!(find("222222").await.unwrap(), second.id);
        assert!(find("22222").await.is_err(), "too little");
        assert!(
            find("nobody")
                .await
                .unwrap_err()
                .to_string()
                .ends_with(&format!("; the latest is {}", second.id))
        );
        assert_eq!(store.run_before(support, second.id).await.unwrap(), Some(first.id));
        assert_eq!(store.run_before(support, first.id).await.unwrap(), None);
    });
}

#[test]
fn a_removed_run_takes_along_what_its_judges_said() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let run = run(1, 1);
        let name = run.id.to_string();
        store.begin_run(support, &run).await.unwrap();
        let (passed, exchanges) =
            (result("c", VerdictStatus::Pass, None), [json!({"asked": 1}), json!({"asked": 2})]);
        let graded = NewRunResult { place: 0, result: &passed, exchanges: &exchanges };
        store.put_results(support, run.id, &[graded], at(1)).await.unwrap();
        store.put_exchanges(support, &name, "c", &[json!({"asked": 3})], at(2)).await.unwrap();
        let asked = store.exchanges(support, &name, "c").await.unwrap();
        assert_eq!(asked, [json!({"asked": 1}), json!({"asked": 2}), json!({"asked": 3})]);
        let other = store.add_project("other", at(1)).await.unwrap().id;
        assert!(store.remove_run(other, run.id).await.is_err(), "not of this project");
        assert_eq!(store.results(support, run.id, None, 5).await.unwrap().len(), 1);
        store.remove_run(support, run.id).await.unwrap();
        assert!(store.exchanges(support, &name, "c").await.unwrap().is_empty());
        assert!(store.run(support, run.id).await.is_err());
    });
}

#[test]
fn runs_are_listed_by_branch_commit_author_tag_and_suite() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let commit = |digit: &str| digit.repeat(40);
        let of = |branch: &str, digit: &str, tags: &[&str]| RunProvenance {
            branch: Some(branch.into()),
            commit: Some(commit(digit)),
            author: Some("Ann %_Lee".into()),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ci_url: Some("https://ci.example/1".into()),
        };
        let plain = run(1, 1);
        let first = Run { provenance: of("main", "a", &["nightly", "gpt"]), ..run(2, 2) };
        let second =
            Run { provenance: of("work", "b", &["nightly"]), suite: Some("other".into()), ..run(3, 3) };
        for run in [&plain, &first, &second] {
            store.begin_run(support, run).await.unwrap();
        }
        store.end_run(support, first.id, at(9)).await.unwrap();
        let list = async |filter: RunFilter| {
            let page = store.runs(support, &filter, None, 9).await.unwrap();
            page.items.into_iter().map(|head| head.id).collect::<Vec<_>>()
        };
        let all = RunFilter::default;
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(list(all()).await, [second.id, first.id, plain.id]);
        assert_eq!(list(RunFilter { branch: text("main"), ..all() }).await, [first.id]);
        assert_eq!(list(RunFilter { branch: text("MAIN"), ..all() }).await, []);
        assert_eq!(list(RunFilter { commit: text("BBBBBBB"), ..all() }).await, [second.id]);
        assert_eq!(list(RunFilter { commit: text("%"), ..all() }).await, []);
        assert_eq!(list(RunFilter { author: text("Ann %_Lee"), ..all() }).await, [second.id, first.id]);
        assert_eq!(list(RunFilter { author: text("Ann"), ..all() }).await, []);
        assert_eq!(list(RunFilter { suite: text("other"), ..all() }).await, [second.id]);
        assert_eq!(list(RunFilter { is_ended: true, ..all() }).await, [first.id]);
        let tagged = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
        assert_eq!(list(RunFilter { tags: tagged(&["nightly"]), ..all() }).await, [second.id, first.id]);
        assert_eq!(list(RunFilter { tags: tagged(&["nightly", "gpt"]), ..all() }).await, [first.id]);
        assert_eq!(list(RunFilter { tags: tagged(&["night"]), ..all() }).await, []);
        let words = |text: &str| RunFilter {
            search: text.split_whitespace().map(str::to_owned).collect(),
            ..RunFilter::default()
        };
        assert_eq!(list(words("NIGHT")).await, [second.id, first.id]);
        assert_eq!(list(words("night other")).await, [second.id]);
        assert_eq!(list(words("%_lee aaaa")).await, [first.id]);
        assert_eq!(list(words(&plain.id.to_string())).await, [plain.id]);
        assert_eq!(list(words("night nothing")).await, []);
        assert_eq!(list(words("n_ght")).await, []);
        let between = |from, until| RunFilter { from, until, ..RunFilter::default() };
        assert_eq!(list(between(Some(first.started), None)).await, [second.id, first.id]);
        assert_eq!(list(between(None, Some(second.started))).await, [first.id, plain.id]);
        assert_eq!(list(between(Some(second.started), Some(second.started))).await, []);

        assert_eq!(store.run(support, first.id).await.unwrap().provenance, first.provenance);
        assert_eq!(store.run(support, plain.id).await.unwrap().provenance, RunProvenance::default());
        assert_eq!(store.run_head(support, second.id).await.unwrap().provenance, second.provenance);
        assert_eq!(store.run_suites(support, 9).await.unwrap(), ["other", "suite"]);
        assert_eq!(store.run_branches(support, "suite", 9).await.unwrap(), ["main"]);
        let other = store.add_project("other", at(1)).await.unwrap().id;
        assert!(store.runs(other, &all(), None, 9).await.unwrap().items.is_empty());

        let graded = [result("c", VerdictStatus::Fail, Some(0.25)), result("d", VerdictStatus::Error, None)];
        let placed: Vec<NewRunResult<'_>> = graded
            .iter()
            .enumerate()
            .map(|(place, result)| NewRunResult { place, result, exchanges: &[] })
            .collect();
        store.put_results(support, first.id, &placed, at(2)).await.unwrap();
        let figures = store.result_figures(support, first.id).await.unwrap();
        let expected = [("c", VerdictStatus::Fail, Some(0.25)), ("d", VerdictStatus::Error, None)];
        let found: Vec<_> =
            figures.iter().map(|figure| (figure.case.as_str(), figure.status, figure.score)).collect();
        assert_eq!(found, expected);
        assert!(store.result_figures(other, first.id).await.unwrap().is_empty(), "not of this project");
        store.remove_run(support, first.id).await.unwrap();
        store.begin_run(support, &first).await.unwrap();
        assert_eq!(store.run(support, first.id).await.unwrap().provenance.tags, ["nightly", "gpt"]);
    });
}

#[test]
fn the_name_that_trials_share_is_stored_and_read_from_the_name_in_earlier_rows() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let run = run(1, 1);
        store.begin_run(support, &run).await.unwrap();
        let passed = |case: &str| result(case, VerdictStatus::Pass, Some(1.0));
        let trial = CaseResult {
            trial: Some(2),
            base: Some("two [trial 1 of 2]".into()),
            ..passed("two [trial 1 of 2] [trial 2 of 3]")
        };
        // A person may give a case such a name.
        let graded = [passed("one [trial 1 of 2]"), trial];
        let graded = graded.iter().enumerate();
        let placed: Vec<NewRunResult<'_>> =
            graded.map(|(place, result)| NewRunResult { place, result, exchanges: &[] }).collect();
        store.put_results(support, run.id, &placed, at(2)).await.unwrap();
        let bases = async || -> Vec<String> {
            let figures = store.result_figures(support, run.id).await.unwrap();
            figures.into_iter().map(|figure| figure.base).collect()
        };
        assert_eq!(bases().await, ["one [trial 1 of 2]", "two [trial 1 of 2]"]);
        undo_migrations(&scene, 15).await;
        store.migrate(at(3)).await.unwrap();
        assert_eq!(bases().await, ["one", "two [trial 1 of 2]"]);
    });
}

#[test]
fn the_scale_that_the_rubrics_of_a_run_share_is_in_its_header() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let rubric = |max: u8| {
            let scale = json!({"likert": {"min": 1, "max": max}});
            json!({"criteria": [{"name": "tone", "description": "How friendly is it?", "scale": scale}]})
        };
        let version = |name: &str| -> RubricHash { serde_json::from_value(json!(name)).unwrap() };
        let plain = run(1, 1);
        let one = Run { rubrics: BTreeMap::from([(version("a"), rubric(5))]), ..run(2, 2) };
        let two = BTreeMap::from([(version("a"), rubric(5)), (version("b"), rubric(7))]);
        let two = Run { rubrics: two, ..run(3, 3) };
        for run in [&plain, &one, &two] {
            store.begin_run(support, run).await.unwrap();
        }
        let scales = async || {
            let heads = store.runs(support, &RunFilter::default(), None, 9).await.unwrap().items;
            heads.into_iter().map(|head| head.scale).collect::<Vec<_>>()
        };
        assert_eq!(scales().await, [None, Some((1.0, 5.0)), None]);
        assert_eq!(store.run_head(support, one.id).await.unwrap().scale, Some((1.0, 5.0)));
        undo_migrations(&scene, 17).await;
        store.migrate(at(3)).await.unwrap();
        assert_eq!(scales().await, [None, None, None], "rows of an earlier version");
    });
}

#[test]
fn a_person_has_one_label_per_case_and_may_change_it() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let run = run(1, 1);
        store.begin_run(support, &run).await.unwrap();
        let passed = ["c", "d"].map(|case| result(case, VerdictStatus::Pass, Some(1.0)));
        let graded = |(place, result)| NewRunResult { place, result, exchanges: &[] };
        let placed: Vec<NewRunResult<'_>> = passed.iter().enumerate().map(graded).collect();
        store.put_results(support, run.id, &placed, at(1)).await.unwrap();
        let (email, name) = ("ann@example.org".to_owned(), "Ann".to_owned());
        let ann = NewAccount { email, name, password: None, is_admin: false };
        let ann = store.add_account(&ann, at(0)).await.unwrap().id;
        let label = |place: usize, author: Option<AccountId>, is_passed: bool, comment: &str| NewRunLabel {
            place,
            author,
            is_passed,
            comment: comment.into(),
        };
        let put = async |label: NewRunLabel, seconds: i64| {
            store.put_run_label(support, run.id, &label, at(seconds)).await.unwrap()
        };
        assert!(put(label(1, Some(ann), true, ""), 2).await);
        assert!(put(label(1, Some(ann), false, "rude"), 3).await, "replaces her own");
        assert!(put(label(1, None, true, ""), 4).await, "of somebody else");
        assert!(put(label(0, None, true, ""), 5).await);
        assert!(!put(label(2, Some(ann), true, ""), 6).await, "there is no such case");

        let first = store.run_labels(support, run.id, None, 2).await.unwrap();
        let rest = store.run_labels(support, run.id, first.next.as_ref(), 2).await.unwrap();
        assert!(first.next.is_some() && rest.next.is_none());
        let all: Vec<_> = first.items.into_iter().chain(rest.items).collect();
        let told: Vec<_> = all
            .iter()
            .map(|label| (label.case.as_str(), label.author_name.as_deref(), label.is_passed))
            .collect();
        assert_eq!(told, [("c", None, true), ("d", None, true), ("d", Some("Ann"), false)]);
        assert_eq!((all[2].comment.as_str(), all[2].author, all[2].time), ("rude", Some(ann), at(3)));

        let other = store.add_project("other", at(1)).await.unwrap().id;
        assert!(store.run_labels(other, run.id, None, 9).await.unwrap().items.is_empty());
        let foreign = label(0, Some(ann), false, "");
        assert!(!store.put_run_label(other, run.id, &foreign, at(7)).await.unwrap(), "not of this project");
        store.remove_run_label(other, run.id, 1, Some(ann)).await.unwrap();
        assert_eq!(store.run_labels(support, run.id, None, 9).await.unwrap().items.len(), 3);
        store.remove_run_label(support, run.id, 1, Some(ann)).await.unwrap();
        assert_eq!(store.run_labels(support, run.id, None, 9).await.unwrap().items.len(), 2);
        store.remove_run(support, run.id).await.unwrap();
        assert!(store.run_labels(support, run.id, None, 9).await.unwrap().items.is_empty());
    });
}
