//! All SQL statements of the crate, for a test that prepares them on both engines.

use jurist_core::grade::{GraderKind, Usd, VerdictStatus};

use crate::db::{Bulk, Db};
use crate::{
    AccountId, DatasetId, MonitorId, ProjectId, Region, RubricVersionId, TaskId, TraceId, accounts,
    adjudications, agents, alert_figures, alerts, annotate, assignments, audit, cache, clock, consider,
    contests, datasets, decision_tallies, decisions, exchanges, grades, idempotency, jobs, labels,
    maintenance, migrate, monitors, open, pieces, projects, random, record_grades, rescores, rubrics,
    run_labels, runs, scores, spend, submissions, tallies, tokens, trace_counts, traces,
};

/// Every fixed statement.
pub(super) const STATEMENTS: &[&[(&str, &str)]] = &[
    accounts::STATEMENTS,
    adjudications::STATEMENTS,
    agents::STATEMENTS,
    alert_figures::STATEMENTS,
    alerts::STATEMENTS,
    annotate::STATEMENTS,
    assignments::STATEMENTS,
    audit::STATEMENTS,
    cache::STATEMENTS,
    maintenance::STATEMENTS,
    consider::STATEMENTS,
    contests::STATEMENTS,
    datasets::STATEMENTS,
    decisions::STATEMENTS,
    exchanges::STATEMENTS,
    grades::STATEMENTS,
    idempotency::STATEMENTS,
    jobs::STATEMENTS,
    migrate::STATEMENTS,
    monitors::STATEMENTS,
    open::STATEMENTS,
    pieces::STATEMENTS,
    projects::STATEMENTS,
    record_grades::STATEMENTS,
    rescores::STATEMENTS,
    rubrics::STATEMENTS,
    run_labels::STATEMENTS,
    runs::STATEMENTS,
    scores::STATEMENTS,
    spend::STATEMENTS,
    submissions::STATEMENTS,
    tokens::STATEMENTS,
    traces::STATEMENTS,
];

/// Every insert of many rows.
pub(super) const BULKS: &[Bulk] = &[
    annotate::ADD_ITEMS,
    datasets::ADD_CASES,
    consider::DECIDE,
    decision_tallies::ADD_TALLIES,
    decisions::ADD_EVENTS,
    exchanges::ADD,
    grades::ADD,
    grades::ADD_DETAILS,
    grades::ADD_VERDICTS,
    jobs::ADD,
    labels::ADD,
    pieces::ADD,
    pieces::TOUCH,
    scores::ADD,
    scores::ADD_TALLIES,
    tallies::ADD_GRADES,
    tallies::ADD_VERDICTS,
];

/// Every statement that depends on a filter: once with no condition, once with all conditions.
pub(super) fn grown_statements(db: &Db) -> Vec<String> {
    let now = clock::current_time();
    let (project, monitor) = (ProjectId::at(now), MonitorId::at(now));
    let version = RubricVersionId::new(Region::default(), now, random());
    let text = || Some(String::new());
    let traces = traces::TraceListFilter {
        agent: text(),
        session: text(),
        state: Some(traces::TraceState::Open),
        status: text(),
        is_failed: Some(true),
        from: Some(now),
        until: Some(now),
        min_cost: Some(Usd::from_nanos(1)),
        min_duration: Some(1),
        verdict: Some(VerdictStatus::Pass),
        is_scored: Some(true),
        id_prefix: text(),
        search: text(),
        order: traces::TraceOrder::default(),
    };
    let grades = grades::GradeFilter {
        candidate: text(),
        rubric_version: Some(version.clone()),
        criterion: text(),
        grader_kind: Some(GraderKind::Judge),
        grader: text(),
        agent: text(),
        outcome: Some(grades::OutcomeKind::Scored),
        max_unit: Some(0.5),
        from: Some(now),
        until: Some(now),
    };
    let verdicts = grades::VerdictFilter {
        candidate: text(),
        rubric_version: Some(version.clone()),
        monitor: Some(monitor),
        agent: text(),
        status: Some(VerdictStatus::Pass),
        from: Some(now),
        until: Some(now),
    };
    let tally = tallies::TallyFilter {
        rubric_version: Some(version.clone()),
        criterion: text(),
        grader: text(),
        agent: text(),
        from: Some(now),
        until: Some(now),
    };
    let decided = decisions::DecisionFilter {
        state: Some(decisions::DecisionState::Scored),
        stratum: Some(jurist_core::plan::TraceStratum::Failed),
        agent: text(),
        is_disputed: Some(true),
        from: Some(now),
        until: Some(now),
    };
    let scored = scores::ScoreFilter {
        agent: text(),
        rubric_version: Some(version.clone()),
        criterion: text(),
        from: now,
        until: now,
    };
    let audit = audit::AuditFilter { project: Some(project), actor: text(), action: text(), target: text() };
    let runs = runs::RunFilter {
        suite: text(),
        branch: text(),
        commit: text(),
        author: text(),
        tags: vec![String::new(), String::new()],
        is_ended: true,
        search: vec![String::new(), String::new()],
        from: Some(now),
        until: Some(now),
    };
    let dataset = DatasetId::at(now);
    let trace_ids: Vec<TraceId> = ["a", "b"].into_iter().filter_map(|id| TraceId::new(id).ok()).collect();
    let cases = datasets::DatasetCaseFilter {
        version: 1,
        split: Some(jurist_core::dataset::DatasetSplit::Test),
        key: Some("a"),
        search: Some("a"),
    };
    let mut all = vec![
        runs::select_run_heads(project, &runs, None, 1).sql,
        runs::select_run_heads(project, &runs::RunFilter::default(), None, 1).sql,
        runs::select_run_tags(vec![String::new(), String::new()]).sql,
        traces.select(db, project, None, 1).sql,
        traces::TraceListFilter::default().select(db, project, None, 1).sql,
        verdicts.select(project, None, 1).sql,
        grades::VerdictFilter::default().select(project, None, 1).sql,
        audit.select(None, 1).sql,
        audit::AuditFilter::default().select(None, 1).sql,
        decided.select(project, monitor, None, 1).sql,
        decisions::DecisionFilter::default().select(project, monitor, None, 1).sql,
        datasets::select_dataset_cases(db, dataset, &cases, true, None, 1).sql,
        datasets::select_dataset_cases(db, dataset, &Default::default(), false, None, 1).sql,
        datasets::select_cases_at(dataset, &[1, 2]).sql,
        datasets::update_removed_cases(dataset, 1, &[1, 2]).sql,
        datasets::select_locked_traces(db, project, &["a", "b"]).sql,
        traces::select_traces_with_content(project, &trace_ids).sql,
        traces::select_readable_traces(project, &trace_ids).sql,
        labels::select(project, &version, Some("a"), None, 1).sql,
        jobs::build_lease_query(db, "w", &["a", "b"], 1, now, now).sql,
        jobs::build_lease_query(db, "w", &[], 1, now, now).sql,
    ];
    for order in ["time", "-cost", "duration", "score", "-score"].map(|text| text.parse().unwrap_or_default())
    {
        all.push(traces::TraceListFilter { order, ..traces.clone() }.select(db, project, None, 1).sql);
    }
    for facet in trace_counts::TraceFacet::ALL {
        all.push(facet.select(db, project, &traces).sql);
    }
    let ids = ["a".to_owned(), "b".to_owned()];
    all.push(decisions::select_decision_summaries(project, &ids).sql);
    all.push(grades::select_newest_verdicts(project, &ids).sql);
    all.push(grades::of_candidates(project, &version, GraderKind::Judge, &["a", "b"]).sql);
    all.push(assignments::select_unanswered_items(project, AccountId::at(now), &["a", "b"].into()).sql);
    all.push(assignments::unanswered_in(project, AccountId::at(now), TaskId::at(now)).sql);
    use decisions::TallyGrouping;
    for per in [TallyGrouping::All, TallyGrouping::Day, TallyGrouping::Agent, TallyGrouping::AgentAndDay] {
        all.push(decision_tallies::select_decision_tallies(project, monitor, Some("a"), (now, now), per).sql);
        all.push(scored.tally(project, monitor, per).sql);
    }
    all.push(
        decision_tallies::select_decision_tallies(project, monitor, None, (now, now), TallyGrouping::All).sql,
    );
    all.extend(grades.statements(project));
    all.extend(grades::GradeFilter::default().statements(project));
    for by in [tallies::TallyPeriod::All, tallies::TallyPeriod::Day, tallies::TallyPeriod::Hour] {
        all.push(tally.grades(project, by).sql);
        all.push(tally.verdicts(project, by).sql);
        all.push(tallies::TallyFilter::default().grades(project, by).sql);
        all.push(tallies::TallyFilter::default().verdicts(project, by).sql);
    }
    all
}
