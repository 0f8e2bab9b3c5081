use std::sync::Arc;

use jurist_core::candidate::Trace;
use jurist_core::grade::{Time, Value};
use jurist_core::plan::TraceStratum;
use jurist_store::decisions::{
    DecisionChange, DecisionFilter, DecisionOutcome, DecisionState, JobKeys, NewMonitorDecision,
    TallyGrouping, TraceRevision,
};
use jurist_store::jobs::NewJob;
use jurist_store::labels::NewLabel;
use jurist_store::monitors::NewMonitorVersion;
use jurist_store::scores::{Score, ScoreContext, ScoreFilter};
use jurist_store::testing::{Scene, for_each_engine};
use jurist_store::traces::{FinishedTrace, ReadyTrace};
use jurist_store::{MonitorId, MonitorVersionId, Probability, ProjectId, RubricVersionId, StoreError};
use serde_json::json;

use crate::grading::version;
use crate::traces::id;
use crate::{at, project};

/// A monitor with two versions of the same rubric.
struct Watch {
    scene: Arc<Scene>,
    project: ProjectId,
    monitor: MonitorId,
    version: MonitorVersionId,
    rubric_version: RubricVersionId,
}

async fn watch(scene: Arc<Scene>) -> Watch {
    let project = project(&scene).await;
    let rubric_version = version(&scene, project).await;
    let store = &scene.store;
    let monitor = store.add_monitor(project, "tone", at(0)).await.unwrap().id;
    let new = NewMonitorVersion {
        rubric_version: rubric_version.clone(),
        agent: None,
        settings: json!({"rate": 0.1}),
        author: None,
    };
    store.put_monitor_version(project, monitor, &new, at(1)).await.unwrap();
    let version = store.put_monitor_version(project, monitor, &new, at(2)).await.unwrap();
    Watch { scene, project, monitor, version, rubric_version }
}

impl Watch {
    fn decision(&self, trace: &str, state: DecisionState) -> NewMonitorDecision {
        NewMonitorDecision {
            trace: id(trace),
            revision: 1,
            monitor: self.monitor,
            version: self.version,
            agent: Some("desk".into()),
            stratum: TraceStratum::Other,
            probability: Probability::new(0.25).unwrap(),
            upstream: Probability::new(0.5).unwrap(),
            state,
            reason: "sampled".into(),
        }
    }

    async fn consider(&self, decisions: &[NewMonitorDecision], time: Time) -> Vec<NewMonitorDecision> {
        let seen =
            |made: &NewMonitorDecision| TraceRevision { trace: made.trace.clone(), revision: made.revision };
        let traces: Vec<_> = decisions.iter().map(seen).collect();
        let job = |new_monitor_decision: &NewMonitorDecision| {
            (new_monitor_decision.state == DecisionState::Sampled)
                .then(|| job(&new_monitor_decision.trace.to_string()))
        };
        self.scene.store.consider(self.project, &traces, decisions, job, time).await.unwrap()
    }

    async fn set(&self, trace: &str, state: DecisionState, time: i64) -> Result<DecisionChange, StoreError> {
        let outcome = DecisionOutcome { state, note: "why", spread: Some(0.5), is_disputed: trace == "a" };
        let of = TraceRevision { trace: id(trace), revision: 1 };
        self.scene.store.set_decision(self.project, &of, self.monitor, &outcome, at(time)).await
    }

    fn scored(&self, trace: &str) -> ScoreContext {
        ScoreContext {
            monitor: self.monitor,
            trace: id(trace),
            revision: 1,
            version: self.version,
            rubric_version: self.rubric_version.clone(),
            rescore: None,
            stratum: TraceStratum::Other,
            agent: Some("desk".into()),
            probability: Probability::new(0.25).unwrap(),
            decided: at(3),
        }
    }

    async fn score(&self, trace: &str, unit: Option<f64>) {
        let score = |criterion: &str| Score {
            judge: "m".into(),
            criterion: criterion.into(),
            unit,
            is_passed: unit.map(|unit| 0.5 <= unit),
        };
        let (scored, scores) = (self.scored(trace), [score(""), score("clear")]);
        self.scene.store.put_scores(self.project, &scored, &scores, None, at(5)).await.unwrap();
    }
}

fn job(key: &str) -> NewJob {
    NewJob {
        project: None,
        kind: "monitor".into(),
        payload: json!({}),
        priority: 0,
        ready: at(0),
        max_attempts: 3,
        dedupe: Some(key.to_owned()),
    }
}

fn finished(at: Time) -> FinishedTrace {
    FinishedTrace {
        trace: Trace::default(),
        agent: Some("desk".into()),
        session: None,
        is_failed: false,
        started: at,
        duration: None,
        probability: Probability::CERTAIN,
        metadata: json!({}),
    }
}

#[test]
fn a_decision_is_made_once_and_its_history_is_kept() {
    for_each_engine(|scene| async move {
        let watch = watch(scene).await;
        let (store, support, monitor) = (&watch.scene.store, watch.project, watch.monitor);
        let newest = store.monitors(support).await.unwrap()[0].newest.clone().unwrap();
        assert_eq!((newest.id, newest.monitor), (watch.version, monitor));
        assert_eq!(store.monitor_versions(support, monitor).await.unwrap().len(), 2);

        for trace in ["a", "b"] {
            store.put_trace(support, &id(trace), &finished(at(1)), at(2)).await.unwrap();
        }
        let waiting = store.unconsidered_traces(9).await.unwrap();
        assert_eq!(waiting.iter().map(|waiting| waiting.1.id.to_string()).collect::<Vec<_>>(), ["a", "b"]);
        let made =
            [watch.decision("a", DecisionState::Sampled), watch.decision("b", DecisionState::SampledOut)];
        assert_eq!(watch.consider(&made, at(3)).await, made);
        assert!(store.unconsidered_traces(9).await.unwrap().is_empty());
        assert_eq!(store.job_counts(None).await.unwrap()[0].n, 1, "only what is sampled is work");
        let again =
            [watch.decision("b", DecisionState::Sampled), watch.decision("c", DecisionState::Filtered)];
        assert_eq!(watch.consider(&again, at(4)).await, again[1..]);
        let first = &store.decisions_of(support, &id("b")).await.unwrap()[0];
        assert!(!first.is_sampled && first.state == DecisionState::SampledOut, "the first stands");

        watch.set("a", DecisionState::Pending, 5).await.unwrap();
        let keys = JobKeys { kind: "monitor", prefix: "m/" };
        let without = |time, after| store.decisions_without_job(support, monitor, keys, time, after, 9);
        let left = without(at(5), None).await.unwrap();
        assert_eq!(left.len(), 1);
        assert!(without(at(4), None).await.unwrap().is_empty(), "it has changed since");
        assert!(without(at(5), left.last()).await.unwrap().is_empty(), "the page after");
        let job = NewJob {
            project: Some(support),
            kind: "monitor".to_owned(),
            payload: json!({}),
            priority: 0,
            ready: at(5),
            max_attempts: 1,
            dedupe: Some(format!("m/a@{}", left[0].revision)),
        };
        store.add_jobs(&[job], at(5)).await.unwrap();
        assert!(without(at(5), None).await.unwrap().is_empty(), "it has a job");
        assert_eq!(watch.set("a", DecisionState::Scored, 6).await.unwrap(), DecisionChange::Done);
        // A worker that lost its lease without knowing comes too late.
        for late in [DecisionState::Pending, DecisionState::JudgeError, DecisionState::Scored] {
            assert_eq!(watch.set("a", late, 7).await.unwrap(), DecisionChange::Closed, "{late:?}");
        }
        assert!(matches!(watch.set("no", DecisionState::Scored, 6).await, Err(StoreError::Unknown { .. })));
        let events = store.decision_events(support, &id("a"), monitor).await.unwrap();
        let states: Vec<_> = events.iter().map(|event| event.state).collect();
        assert_eq!(states, [DecisionState::Sampled, DecisionState::Pending, DecisionState::Scored]);
        assert!(watch.scene.execute("DELETE FROM decision_events").await.is_err());

        let tally = store
            .tally_decisions(support, monitor, Some("desk"), (at(0), at(9)), TallyGrouping::Day)
            .await
            .unwrap();
        let told: Vec<_> = tally.iter().map(|tally| (tally.state, tally.n, tally.population)).collect();
        let counts = [DecisionState::Filtered, DecisionState::SampledOut, DecisionState::Scored]
            .map(|decision_state| (decision_state, 1, 2.0));
        assert!(counts.iter().all(|count| told.contains(count)) && tally.len() == 3, "{told:?}");
        assert!((tally[0].population_variance - 2.0).abs() < 1e-12 && tally[0].day.is_some());
        let all = DecisionFilter::default();
        let page = store.decisions(support, monitor, &all, None, 2).await.unwrap();
        let rest = store.decisions(support, monitor, &all, page.next.as_ref(), 2).await.unwrap();
        let all =
            page.items.iter().chain(&rest.items).map(|monitor_decision| monitor_decision.trace.to_string());
        assert_eq!(all.collect::<Vec<_>>(), ["c", "b", "a"]);
        let disputed = DecisionFilter { is_disputed: Some(true), ..DecisionFilter::default() };
        assert_eq!(store.decisions(support, monitor, &disputed, None, 9).await.unwrap().items.len(), 1);

        store.pause_monitor(support, monitor, Some("the key is wrong")).await.unwrap();
        let paused = store.monitor(support, monitor).await.unwrap().paused;
        assert_eq!(paused.as_deref(), Some("the key is wrong"));
        store.pause_monitor(support, monitor, None).await.unwrap();
        store.remove_monitor(support, monitor, at(9)).await.unwrap();
        assert!(store.monitors(support).await.unwrap().is_empty());
        assert!(store.monitor_named(support, "tone").await.unwrap().unwrap().removed.is_some());
    });
}

#[test]
fn scores_are_summed_by_stratum_and_an_error_may_heal_while_a_number_stays() {
    for_each_engine(|scene| async move {
        let watch = watch(scene).await;
        let (store, support, monitor) = (&watch.scene.store, watch.project, watch.monitor);
        let made = ["a", "b"].map(|text| watch.decision(text, DecisionState::Sampled));
        watch.consider(&made, at(3)).await;
        watch.score("a", Some(0.5)).await;
        watch.score("b", None).await;
        let filter = ScoreFilter {
            agent: Some("desk".into()),
            rubric_version: None,
            criterion: None,
            from: at(0),
            until: at(9),
        };
        let tallies = store.tally_scores(support, monitor, &filter, TallyGrouping::All).await.unwrap();
        assert_eq!((tallies.len(), tallies[0].n_errors, tallies[0].units.n), (2, 1, 1));
        let sums = &tallies[0].units;
        assert!((sums.w - 4.0).abs() < 1e-12 && (sums.wwxx - 4.0).abs() < 1e-12, "{sums:?}");
        watch.score("b", Some(1.0)).await;
        watch.score("a", Some(0.0)).await;
        let whole = ScoreFilter { agent: None, criterion: Some(String::new()), ..filter.clone() };
        let by_agent = store.tally_scores(support, monitor, &whole, TallyGrouping::Agent).await.unwrap();
        let told: Vec<_> = by_agent.iter().map(|tally| (tally.agent.as_deref(), tally.units.n)).collect();
        assert_eq!(told, [(Some("desk"), 2)], "the whole rubric alone");
        let by_agent = store
            .tally_decisions(support, monitor, None, (at(0), at(9)), TallyGrouping::Agent)
            .await
            .unwrap();
        assert!(
            by_agent
                .iter()
                .all(|by_agent| by_agent.agent.as_deref() == Some("desk") && by_agent.day.is_none())
        );
        let tallies = store.tally_scores(support, monitor, &filter, TallyGrouping::Day).await.unwrap();
        let whole = &tallies[0];
        assert_eq!((whole.criterion.as_str(), whole.n_errors, whole.units.n), ("", 0, 2));
        assert!((whole.units.x - 1.5).abs() < 1e-12 && (whole.passes.wx - 8.0).abs() < 1e-12, "{whole:?}");

        assert_eq!(store.check().await.unwrap(), [], "the sums are those of what they sum up");
        let series = (&watch.rubric_version, "m", "");
        let order = store.scores_in_order(support, monitor, series, None, (at(0), at(9)), 9).await.unwrap();
        assert_eq!(order.iter().map(|score| score.unit).collect::<Vec<_>>(), [0.5, 1.0]);
        for (agent, n) in [("desk", 2), ("shop", 0)] {
            let window = (at(0), at(9));
            let own = store.scores_in_order(support, monitor, series, Some(agent), window, 9).await.unwrap();
            assert_eq!(own.len(), n, "{agent}");
        }
        let label = |unit: f64| NewLabel {
            candidate: "a".into(),
            rubric_version: watch.rubric_version.clone(),
            criterion: "clear".into(),
            value: Value::Number(unit),
            unit: Some(unit),
            origin: "imported".into(),
            author: None,
        };
        store.add_labels(support, &[label(0.0)], at(6)).await.unwrap();
        store.add_labels(support, &[label(1.0)], at(7)).await.unwrap();
        let labelled = store.labelled_scores(support, monitor, (at(0), at(9))).await.unwrap();
        assert_eq!(
            labelled.iter().map(|labelled| (labelled.human, labelled.unit)).collect::<Vec<_>>(),
            [(1.0, 0.5)]
        );
    });
}

#[test]
fn a_revision_that_came_while_the_one_before_was_considered_is_considered_too() {
    for_each_engine(|scene| async move {
        let watch = watch(scene).await;
        let (store, support) = (&watch.scene.store, watch.project);
        store.put_trace(support, &id("a"), &finished(at(1)), at(2)).await.unwrap();
        let head = store.unconsidered_traces(9).await.unwrap().remove(0).1;
        // Pieces come, and the trace is put together anew, before the decision about the first revision is written.
        let ready = ReadyTrace { project: support, trace: head.id.clone(), n_pieces: head.n_pieces };
        let trace = Trace { task: Some("And one more thing.".into()), ..Trace::default() };
        store.finish_trace(&ready, &FinishedTrace { trace, ..finished(at(1)) }, at(3)).await.unwrap();
        watch.consider(&[watch.decision("a", DecisionState::Sampled)], at(4)).await;
        let left = store.unconsidered_traces(9).await.unwrap();
        assert_eq!(left.iter().map(|(_, head)| head.revision).collect::<Vec<_>>(), [2]);
        let newer = NewMonitorDecision { revision: 2, ..watch.decision("a", DecisionState::Sampled) };
        watch.consider(&[newer], at(5)).await;
        assert!(store.unconsidered_traces(9).await.unwrap().is_empty());
        let decision = &store.decisions_of(support, &id("a")).await.unwrap()[0];
        assert_eq!((decision.revision, decision.state), (2, DecisionState::Sampled));
    });
}

#[test]
fn scores_of_a_panel_that_ran_out_of_money_leave_the_figures_when_the_trace_changes() {
    for_each_engine(|scene| async move {
        let watch = watch(scene).await;
        let (store, support, monitor) = (&watch.scene.store, watch.project, watch.monitor);
        watch.consider(&[watch.decision("a", DecisionState::Sampled)], at(3)).await;
        let member = Score { judge: "m".into(), criterion: String::new(), unit: Some(0.5), is_passed: None };
        let outcome = DecisionOutcome {
            state: DecisionState::OverBudget,
            note: "no money for the second judge",
            spread: None,
            is_disputed: false,
        };
        let scored = watch.scored("a");
        store.put_scores(support, &scored, &[member], Some(&outcome), at(4)).await.unwrap();
        let n_scores = async || {
            let (from, until) = (at(0), at(9));
            let filter = ScoreFilter { agent: None, rubric_version: None, criterion: None, from, until };
            let tallies = store.tally_scores(support, monitor, &filter, TallyGrouping::All).await.unwrap();
            tallies.iter().map(|tally| tally.units.n).sum::<usize>()
        };
        assert_eq!(n_scores().await, 1);
        let newer = NewMonitorDecision { revision: 2, ..watch.decision("a", DecisionState::Sampled) };
        watch.consider(&[newer], at(5)).await;
        assert_eq!(n_scores().await, 0);
    });
}
