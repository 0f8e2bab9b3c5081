use std::collections::BTreeSet;

use jurist_core::grade::{Counts, Grade, RubricHash, Usd, Verdict, VerdictStatus};
use jurist_store::grades::{GradeFilter, NewGrade, NewVerdict, OutcomeKind, VerdictFilter};
use jurist_store::rubrics::NewRubricVersion;
use jurist_store::tallies::{TallyFilter, TallyPeriod};
use jurist_store::testing::{Scene, for_each_engine};
use jurist_store::traces::TraceListFilter;
use jurist_store::{Probability, ProjectId, Region, RubricVersionId, Store, StoreError};
use serde_json::json;

use crate::traces::{finished, id};
use crate::{at, project, undo_migrations};

pub fn new_version(hash: &str) -> NewRubricVersion {
    NewRubricVersion {
        region: Region::new("eu").unwrap(),
        hash: serde_json::from_value::<RubricHash>(json!(hash)).unwrap(),
        canonical: json!({"criteria": []}),
        source: Some("criteria: []".into()),
        author: None,
    }
}

pub async fn version(scene: &Scene, project: ProjectId) -> RubricVersionId {
    let rubric = scene.store.add_rubric(project, "tone", at(0)).await.unwrap();
    scene.store.put_rubric_version(project, rubric.id, &new_version("h1"), None, at(1)).await.unwrap().id
}

pub fn grade(
    version: &RubricVersionId,
    candidate: &str,
    criterion: &str,
    unit: f64,
    seconds: i64,
) -> NewGrade {
    let grade: Grade = serde_json::from_value(json!({
        "candidate": candidate, "criterion": criterion, "grader": {"kind": "judge", "name": "haiku"},
        "outcome": {"kind": "scored", "value": unit, "unit": unit}, "reason": "since it is so",
        "spend": {"tokens_in": 5, "tokens_cached": 0, "tokens_out": 1, "cost": 0.001, "from_cache": false},
    }))
    .unwrap();
    NewGrade {
        grade,
        rubric_version: version.clone(),
        attempt: 1,
        agent: Some("triage".into()),
        is_passed: Some(0.5 <= unit),
        probability: Probability::new(0.25).unwrap(),
        time: at(seconds),
    }
}

pub fn verdict(
    version: &RubricVersionId,
    candidate: &str,
    status: VerdictStatus,
    score: Option<f64>,
) -> NewVerdict {
    NewVerdict {
        candidate: candidate.into(),
        rubric_version: version.clone(),
        monitor: None,
        attempt: 1,
        agent: Some("triage".into()),
        probability: Probability::CERTAIN,
        cost: Some(Usd::from_nanos(5)),
        time: at(5),
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
    }
}

#[test]
fn the_same_work_twice_is_counted_once() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let version = version(&scene, support).await;
        let grades = [grade(&version, "t1", "tone", 0.5, 1), grade(&version, "t1", "depth", 1.0, 1)];
        let verdicts = [verdict(&version, "t1", VerdictStatus::Pass, Some(0.75))];
        let first = store.record(support, &grades, &verdicts).await.unwrap();
        assert_eq!((first.n_grades, first.n_verdicts), (2, 1));
        let again = store.record(support, &grades, &verdicts).await.unwrap();
        assert_eq!((again.n_grades, again.n_verdicts), (0, 0));
        let mut on_purpose = grades[0].clone();
        on_purpose.attempt = 2;
        assert_eq!(store.record(support, &[on_purpose], &[]).await.unwrap().n_grades, 1);

        let tallies = store.grade_tallies(support, TallyPeriod::All, &TallyFilter::default()).await.unwrap();
        assert_eq!(
            tallies.iter().map(|tally| (tally.criterion.as_str(), tally.n_scored)).collect::<Vec<_>>(),
            [("depth", 1), ("tone", 2)]
        );
        let ids = [grades[0].id(support), grade(&version, "t9", "tone", 0.5, 1).id(support)];
        assert_eq!(store.known_grades(support, &ids).await.unwrap(), BTreeSet::from([ids[0].clone()]));
        let (head, text) = store.grade(support, &ids[0]).await.unwrap();
        assert_eq!(
            (head.outcome, head.unit, text.unwrap()),
            (OutcomeKind::Scored, Some(0.5), grades[0].grade.clone())
        );
        assert_eq!(store.grades_of(support, "t1").await.unwrap().len(), 3);
        assert!(matches!(store.grade(support, &ids[1]).await, Err(StoreError::Unknown { .. })));
    });
}

#[test]
fn many_workers_that_do_the_same_work_count_it_once() {
    for_each_engine(|scene| async move {
        let support = project(&scene).await;
        let version = version(&scene, support).await;
        let work = |n: usize| {
            let (store, version) = (scene.store.clone(), version.clone());
            tokio::spawn(async move {
                let mut grades: Vec<NewGrade> =
                    (0..50).map(|n| grade(&version, &format!("t{n}"), "tone", 0.5, n)).collect();
                if n % 2 == 1 {
                    grades.reverse();
                }
                store.record(support, &grades, &[]).await.unwrap().n_grades
            })
        };
        let tasks: Vec<_> = (0..8).map(work).collect();
        let mut n = 0;
        for task in tasks {
            n += task.await.unwrap();
        }
        assert_eq!(n, 50);
        assert_eq!(
            scene.store.grade_tallies(support, TallyPeriod::All, &TallyFilter::default()).await.unwrap()[0]
                .n_scored,
            50
        );
        assert_eq!(scene.store.check().await.unwrap(), []);
    });
}

#[test]
fn sums_by_day_and_by_hour_say_the_same() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let version = version(&scene, support).await;
        let mut grades: Vec<NewGrade> = (0..48)
            .map(|hour| {
                grade(
                    &version,
                    &format!("t{hour}"),
                    "tone",
                    f64::from(hour % 5) / 4.0,
                    i64::from(hour) * 3600,
                )
            })
            .collect();
        grades[0].grade.outcome =
            serde_json::from_value(json!({"kind": "failed", "failure": "timeout"})).unwrap();
        grades[0].is_passed = None;
        grades[1].grade.outcome = serde_json::from_value(json!({"kind": "abstained", "why": "?"})).unwrap();
        grades[1].is_passed = None;
        grades[2].probability = Probability::CERTAIN;
        store.record(support, &grades, &[]).await.unwrap();
        let get = async |by, filter: &TallyFilter| store.grade_tallies(support, by, filter).await.unwrap();
        let whole = get(TallyPeriod::All, &TallyFilter::default()).await.remove(0);
        let (days, hours) = (
            get(TallyPeriod::Day, &TallyFilter::default()).await,
            get(TallyPeriod::Hour, &TallyFilter::default()).await,
        );
        assert_eq!((days.len(), hours.len()), (3, 48));
        for parts in [days, hours] {
            assert_eq!(parts.iter().map(|part| part.n_scored).sum::<u64>(), 46);
            assert_eq!(parts.iter().map(|part| part.n_failed + part.n_abstained).sum::<u64>(), 2);
            assert_eq!(parts.iter().map(|part| part.n_passed).sum::<u64>(), whole.n_passed);
            assert_eq!(parts.iter().map(|part| part.cost.nanos()).sum::<i64>(), whole.cost.nanos());
            let (x, w) = parts.iter().fold((0.0, 0.0), |sum, grade_tally| {
                (sum.0 + grade_tally.units.wx, sum.1 + grade_tally.units.w)
            });
            assert!((x / w - whole.units.weighted_mean().unwrap()).abs() < 1e-12);
            let squares: f64 = parts.iter().map(|grade_tally| grade_tally.units.wwxx).sum();
            assert!((squares - whole.units.wwxx).abs() < 1e-9);
        }
        assert_eq!(whole.n_judged, 46);
        assert!(whole.units.weighted_error().unwrap() > 0.0);
        let day = TallyFilter { from: Some(at(86_400)), until: Some(at(86_401)), ..TallyFilter::default() };
        assert_eq!(get(TallyPeriod::Hour, &day).await.len(), 1);
        assert_eq!(get(TallyPeriod::Day, &day).await.len(), 1);
        let other = TallyFilter { agent: Some("other".into()), ..TallyFilter::default() };
        assert_eq!(get(TallyPeriod::All, &other).await.len(), 0);
    });
}

#[test]
fn verdicts_are_counted_listed_and_found_by_their_traces() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let version = version(&scene, support).await;
        let mut verdicts = vec![
            verdict(&version, "t1", VerdictStatus::Pass, Some(0.9)),
            verdict(&version, "t2", VerdictStatus::Fail, Some(0.1)),
            verdict(&version, "t3", VerdictStatus::Error, None),
            verdict(&version, "t4", VerdictStatus::Deferred, None),
        ];
        verdicts[1].probability = Probability::new(0.5).unwrap();
        store.record(support, &[], &verdicts).await.unwrap();
        for by in [TallyPeriod::All, TallyPeriod::Day, TallyPeriod::Hour] {
            let tally = store.verdict_tallies(support, by, &TallyFilter::default()).await.unwrap().remove(0);
            assert_eq!((tally.n_pass, tally.n_fail, tally.n_error, tally.n_deferred), (1, 1, 1, 1));
            assert_eq!((tally.pass_rate(), tally.scores.mean()), (Some(0.5), Some(0.5)));
            assert!((tally.weighted_pass_rate().unwrap() - 1.0 / 3.0).abs() < 1e-12);
        }
        for name in ["t1", "t2"] {
            store.put_trace(support, &id(name), &finished("x", 1), at(2)).await.unwrap();
        }
        let newest = store.newest_verdicts(support, &["t1".into(), "t3".into()]).await.unwrap();
        let told: Vec<_> = newest
            .iter()
            .map(|verdict_head| (verdict_head.candidate.as_str(), verdict_head.status, verdict_head.score))
            .collect();
        assert_eq!(told, [("t1", VerdictStatus::Pass, Some(0.9)), ("t3", VerdictStatus::Error, None)]);
        assert!(store.newest_verdicts(support, &[]).await.unwrap().is_empty());
        let failed = TraceListFilter { verdict: Some(VerdictStatus::Fail), ..TraceListFilter::default() };
        assert_eq!(store.traces(support, &failed, None, 5).await.unwrap().items[0].id, id("t2"));
        let errors = VerdictFilter { status: Some(VerdictStatus::Error), ..VerdictFilter::default() };
        let listed = store.verdicts(support, &errors, None, 5).await.unwrap().items;
        assert_eq!((listed.len(), listed[0].verdict.clone()), (1, verdicts[2].verdict.clone()));
    });
}

#[test]
fn grades_are_listed_page_by_page() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let version = version(&scene, support).await;
        let grades: Vec<NewGrade> = (0..30)
            .map(|n| grade(&version, &format!("t{n}"), if n % 3 == 0 { "tone" } else { "depth" }, 0.5, n / 4))
            .collect();
        store.record(support, &grades, &[]).await.unwrap();
        let (mut seen, mut after) = (BTreeSet::new(), None);
        loop {
            let page = store.grades(support, &GradeFilter::default(), after.as_ref(), 7).await.unwrap();
            assert!(page.items.iter().is_sorted_by_key(|item| -item.time.micros()));
            seen.extend(page.items.into_iter().map(|grade_head| grade_head.candidate));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen.len(), 30);
        let tone = GradeFilter { criterion: Some("tone".into()), ..GradeFilter::default() };
        assert_eq!(store.grades(support, &tone, None, 100).await.unwrap().items.len(), 10);
        let units = store.units(support, &tone, None, 6).await.unwrap();
        assert_eq!((units.items.len(), units.items[0].1.get()), (6, 0.25));
        assert_eq!(store.units(support, &tone, units.next.as_ref(), 6).await.unwrap().items.len(), 4);
    });
}

#[test]
fn a_version_is_named_by_its_content() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let rubric = store.add_rubric(support, "tone", at(0)).await.unwrap();
        assert!(matches!(store.add_rubric(support, "tone", at(0)).await, Err(StoreError::Taken { .. })));
        let put = async |hash, time| {
            store.put_rubric_version(support, rubric.id, &new_version(hash), None, at(time)).await.unwrap()
        };
        let (first, second, again) = (put("a", 1).await, put("b", 2).await, put("a", 3).await);
        assert_eq!(first, again);
        assert!(first.id.to_string().starts_with("rubv_eu_"));
        assert_eq!(
            store.rubric(support, rubric.id).await.unwrap().newest,
            Some(first.id.clone()),
            "gone back to"
        );
        let versions = store.rubric_versions(support, rubric.id).await.unwrap();
        assert_eq!(versions, [second, first.clone()]);
        assert_eq!(
            store.rubric_version(support, &first.id).await.unwrap().source.as_deref(),
            Some("criteria: []")
        );
        assert_eq!(store.versions_with_hash(support, &first.hash).await.unwrap().len(), 1);
        assert_eq!(store.rubric_named(support, "tone").await.unwrap().unwrap().id, rubric.id);
        store.archive_rubric(support, rubric.id, Some(at(9)), None).await.unwrap();
        assert_eq!(store.rubrics(support).await.unwrap()[0].archived, Some(at(9)));
    });
}

#[test]
fn history_cannot_be_changed() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let version = version(&scene, support).await;
        let (grade, verdict) =
            (grade(&version, "t1", "tone", 0.5, 1), verdict(&version, "t1", VerdictStatus::Pass, None));
        store.record(support, &[grade], &[verdict]).await.unwrap();
        store.put_trace(support, &id("t"), &finished("x", 1), at(2)).await.unwrap();
        let wanted = jurist_store::spend::ReservationRequest {
            amount: Usd::from_nanos(1),
            purpose: "judge",
            subject: "",
            limit: None,
            model: "",
            job: None,
        };
        store.reserve(support, &wanted, at(1)).await.unwrap();
        for (table, column) in [
            ("grades", "unit"),
            ("verdicts", "score"),
            ("rubric_versions", "source"),
            ("spend_ledger", "purpose"),
        ] {
            let error =
                scene.execute(&format!("UPDATE {table} SET {column} = NULL")).await.unwrap_err().to_string();
            assert!(error.contains(&format!("rows of {table} are never changed")), "{error}");
            let error = scene.execute(&format!("DELETE FROM {table}")).await.unwrap_err().to_string();
            assert!(error.contains("are never changed"), "{error}");
        }
        if store.engine() == "postgres" {
            assert!(scene.execute("TRUNCATE grades").await.is_err());
        }
        assert!(scene.execute("UPDATE trace_contents SET revision = 7").await.is_err());
        assert!(scene.execute("UPDATE grade_details SET candidate = 'x'").await.is_err());
    });
}

#[test]
fn the_newest_verdict_of_a_trace_is_what_it_is_sorted_by() {
    for_each_engine(|scene| async move {
        let (store, support) = (&scene.store, project(&scene).await);
        let version = version(&scene, support).await;
        for name in ["a", "b", "c", "d"] {
            store.put_trace(support, &id(name), &finished("x", 1), at(2)).await.unwrap();
        }
        let given = |name: &str, attempt: u32, score: Option<f64>, time: i64| {
            let status = if score.is_some() { VerdictStatus::Pass } else { VerdictStatus::Error };
            NewVerdict { attempt, time: at(time), ..verdict(&version, name, status, score) }
        };
        let first = [given("a", 1, Some(0.1), 1), given("b", 1, Some(0.3), 1), given("c", 1, Some(0.2), 1)];
        store.record(support, &[], &first).await.unwrap();
        // One came late and says nothing new, one is newer, and one broke.
        let more = [given("a", 2, Some(0.9), 0), given("b", 2, Some(0.15), 3), given("c", 2, None, 3)];
        store.record(support, &[], &more).await.unwrap();
        let sorted = async |order: &str| {
            let filter = TraceListFilter { order: order.parse().unwrap(), ..TraceListFilter::default() };
            let first = store.traces(support, &filter, None, 1).await.unwrap();
            let after = first.next.map(|cursor| cursor.to_string().parse().unwrap());
            let rest = store.traces(support, &filter, after.as_ref(), 9).await.unwrap().items;
            let all: Vec<_> =
                first.items.iter().chain(&rest).map(|head| (head.id.to_string(), head.score)).collect();
            all
        };
        let told = [("a".to_owned(), Some(0.1)), ("b".to_owned(), Some(0.15))];
        assert_eq!(sorted("score").await, told);
        assert_eq!(sorted("-score").await, told.into_iter().rev().collect::<Vec<_>>());
        for (is_scored, names) in [(true, ["b", "a"]), (false, ["d", "c"])] {
            let filter = TraceListFilter { is_scored: Some(is_scored), ..TraceListFilter::default() };
            let found = store.traces(support, &filter, None, 9).await.unwrap().items;
            assert_eq!(found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), names);
        }

        // A database of before finds out by itself.
        undo_migrations(&scene, 6).await;
        let again = Store::open(&scene.url).await.unwrap();
        let mut scores = Vec::new();
        for name in ["a", "b", "c", "d"] {
            scores.push(again.trace(support, &id(name)).await.unwrap().score);
        }
        assert_eq!(scores, [Some(0.1), Some(0.15), None, None]);
        again.close().await;
    });
}
