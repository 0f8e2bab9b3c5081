//! Evaluation events of runs that have ended and of traces that monitors judged, sent to whoever collects
//! OpenTelemetry's logs.

use std::collections::BTreeMap;
use std::time::Duration;

use jurist_core::candidate::Material;
use jurist_core::grade::{Grade, Spend, Time};
use jurist_core::report::{Format, Judged, otel_of_trace, render};
use jurist_core::rubric::PASS_MARK;
use jurist_core::run::{CaseResult, RunId};
use jurist_engine::model::http::{Network, client};
use jurist_store::grades::{GradeHead, VerdictFilter};
use jurist_store::jobs::{Job, NewJob};
use jurist_store::{MonitorId, ProjectId, RubricVersionId, TraceId};
use serde::{Deserialize, Serialize};

use super::Workshop;
use super::worker::{Done, Trouble};

/// What jobs of this kind are called.
pub const KIND: &str = "emit";

/// How often sending is tried: for a quarter of an hour.
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

pub async fn send(shop: &Workshop, job: &Job) -> Result<Done, Trouble> {
    let emit = serde_json::from_value(job.payload.clone()).map_err(Trouble::hopeless)?;
    let project = job.project.ok_or_else(|| Trouble::hopeless("events belong to a project"))?;
    let endpoint = shop.work.emit.as_deref();
    let endpoint = endpoint.ok_or_else(|| Trouble::Retry("this worker has no --emit".to_owned()))?;
    let address = match endpoint.trim_end_matches('/') {
        whole if whole.ends_with("/v1/logs") => whole.to_owned(),
        base => format!("{base}/v1/logs"),
    };
    let body = match emit {
        Emit::Run { run } => render(Format::Otel, &shop.store.load_run(project, run).await?),
        Emit::Trace { trace, monitor, rubric_version, attempt } => {
            of_trace(shop, project, &trace, monitor, &rubric_version, attempt).await?
        }
    };
    // Whoever started the worker named it, so it may be on the same machine.
    let client = client(&Network::default()).map_err(Trouble::hopeless)?;
    let request = client.post(&address).timeout(TIMEOUT);
    let sent = request.header("content-type", "application/json").body(body).send().await;
    let sent = sent.map_err(|error| Trouble::Retry(format!("the endpoint does not answer: {error}")))?;
    let status = sent.status();
    match () {
        () if status.is_success() => Ok(Done::Finished),
        () if status.is_server_error() || matches!(status.as_u16(), 408 | 429) => {
            Err(Trouble::Retry(format!("the endpoint answered {status}")))
        }
        () => Err(Trouble::Hopeless(format!("the endpoint answered {status}"))),
    }
}

async fn of_trace(
    shop: &Workshop,
    project: ProjectId,
    trace: &TraceId,
    monitor: MonitorId,
    rubric_version: &RubricVersionId,
    attempt: u32,
) -> Result<String, Trouble> {
    let store = &shop.store;
    let filter = VerdictFilter {
        candidate: Some(trace.to_string()),
        rubric_version: Some(rubric_version.clone()),
        monitor: Some(monitor),
        ..VerdictFilter::default()
    };
    let verdicts = store.verdicts(project, &filter, None, 200).await?.items;
    let verdict = verdicts.into_iter().find(|it| it.attempt == u64::from(attempt)).ok_or(Trouble::Gone)?;
    let is_of_it = |it: &GradeHead| it.rubric_version == *rubric_version && it.attempt == u64::from(attempt);
    let grades = store.grades_of(project, trace.as_str()).await?.into_iter();
    let mut grades: Vec<Grade> = grades.filter(|it| is_of_it(&it.0)).filter_map(|it| it.1).collect();
    grades.sort_by(|a, b| a.criterion.cmp(&b.criterion));
    let version = store.rubric_version(project, rubric_version).await?;
    let result = CaseResult {
        case: trace.to_string(),
        origin: None,
        trial: None,
        candidate: trace.to_string(),
        rubric: version.hash,
        spend: grades.iter().fold(Spend::default(), |sum, it| sum.plus(it.spend)),
        verdict: verdict.verdict,
        grades,
        panel: None,
        projected_calls: None,
        metadata: BTreeMap::new(),
        material: Material::default(),
    };
    Ok(otel_of_trace(&Judged {
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
