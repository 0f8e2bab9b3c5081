//! Sends evaluation events of finished runs and of judged traces to an OpenTelemetry collector (OTLP logs).

use std::collections::BTreeMap;
use std::time::Duration;

use jurist_core::candidate::JudgeInput;
use jurist_core::grade::{Grade, Spend, Time};
use jurist_core::report::{ReportFormat, TraceEvaluation, render_report, render_trace_otel_logs};
use jurist_core::rubric::PASS_MARK;
use jurist_core::run::{CaseResult, RunId};
use jurist_engine::model::http::{NetworkOptions, client};
use jurist_store::grades::{GradeHead, VerdictFilter};
use jurist_store::jobs::{Job, NewJob};
use jurist_store::{MonitorId, ProjectId, RubricVersionId, TraceId};
use serde::{Deserialize, Serialize};

use super::WorkerContext;
use crate::job::{JobEnd, JobError};

/// Kind of these jobs.
pub const KIND: &str = "emit";

/// Attempts to send; with their waits they take about a quarter of an hour.
const ATTEMPTS: u32 = 10;

const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Emit {
    Run { run: RunId },
    Trace { trace: TraceId, monitor: MonitorId, rubric_version: RubricVersionId, attempt: u32 },
}

impl Emit {
    pub fn job(self, project: ProjectId, now: Time) -> NewJob {
        let dedupe = match &self {
            Self::Run { run } => run.to_string(),
            Self::Trace { trace, monitor, rubric_version, attempt } => {
                format!("{monitor}/{rubric_version}/{attempt}/{trace}")
            }
        };
        NewJob {
            project: Some(project),
            kind: KIND.to_owned(),
            payload: serde_json::to_value(self).expect("it is plain data"),
            priority: -1,
            ready: now,
            max_attempts: ATTEMPTS,
            dedupe: Some(dedupe),
        }
    }
}

pub async fn run_emit_job(context: &WorkerContext, job: &Job) -> Result<JobEnd, JobError> {
    let emit = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
    let project = job.project.ok_or_else(|| JobError::hopeless("events belong to a project"))?;
    let endpoint = context.work.emit.as_deref();
    let endpoint =
        endpoint.ok_or_else(|| JobError::Retry("this worker was started without --emit".to_owned()))?;
    let address = match endpoint.trim_end_matches('/') {
        whole if whole.ends_with("/v1/logs") => whole.to_owned(),
        base => format!("{base}/v1/logs"),
    };
    let body = match emit {
        Emit::Run { run } => render_report(ReportFormat::Otel, &context.store.load_run(project, run).await?),
        Emit::Trace { trace, monitor, rubric_version, attempt } => {
            render_trace_events(context, project, &trace, monitor, &rubric_version, attempt).await?
        }
    };
    // The operator of the worker configured the address, so it may be on the same machine.
    let client = client(&NetworkOptions::default()).map_err(JobError::hopeless)?;
    let request = client.post(&address).timeout(TIMEOUT);
    let sent = request.header("content-type", "application/json").body(body).send().await;
    let sent = sent.map_err(|error| JobError::Retry(format!("the endpoint does not answer: {error}")))?;
    let status = sent.status();
    match () {
        () if status.is_success() => Ok(JobEnd::Finished),
        () if status.is_server_error() || matches!(status.as_u16(), 408 | 429) => {
            Err(JobError::Retry(format!("the endpoint answered {status}")))
        }
        () => Err(JobError::Hopeless(format!("the endpoint answered {status}"))),
    }
}

async fn render_trace_events(
    context: &WorkerContext,
    project: ProjectId,
    trace: &TraceId,
    monitor: MonitorId,
    rubric_version: &RubricVersionId,
    attempt: u32,
) -> Result<String, JobError> {
    let store = &context.store;
    let filter = VerdictFilter {
        candidate: Some(trace.to_string()),
        rubric_version: Some(rubric_version.clone()),
        monitor: Some(monitor),
        ..VerdictFilter::default()
    };
    let verdicts = store.verdicts(project, &filter, None, 200).await?.items;
    let verdict =
        verdicts.into_iter().find(|verdict| verdict.attempt == u64::from(attempt)).ok_or(JobError::Gone)?;
    let is_of_it = |grade_head: &GradeHead| {
        grade_head.rubric_version == *rubric_version && grade_head.attempt == u64::from(attempt)
    };
    let grades = store.grades_of(project, trace.as_str()).await?.into_iter();
    let mut grades: Vec<Grade> =
        grades.filter(|(head, _)| is_of_it(head)).filter_map(|(_, grade)| grade).collect();
    grades.sort_by(|a, b| a.criterion.cmp(&b.criterion));
    let version = store.rubric_version(project, rubric_version).await?;
    let result = CaseResult {
        case: trace.to_string(),
        origin: None,
        trial: None,
        base: None,
        parts: None,
        candidate: trace.to_string(),
        rubric: version.hash,
        spend: grades.iter().fold(Spend::default(), |sum, grade| sum.plus(grade.spend)),
        verdict: verdict.verdict,
        grades,
        panel: None,
        projected_calls: None,
        metadata: BTreeMap::new(),
        material: JudgeInput::default(),
    };
    Ok(render_trace_otel_logs(&TraceEvaluation {
        result: &result,
        trace: trace.as_str(),
        span: store.root_span(project, trace).await?.as_deref(),
        agent: verdict.agent.as_deref(),
        monitor: &store.monitor(project, monitor).await?.name,
        rubric_version: &rubric_version.to_string(),
        pass_mark: Some(version.canonical["threshold"].as_f64().unwrap_or(PASS_MARK)),
        probability: verdict.probability.get(),
        time: verdict.time,
    }))
}
