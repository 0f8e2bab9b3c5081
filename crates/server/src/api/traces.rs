//! Traces: receives them whole or in pieces, and lists them with their results.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jurist_core::candidate::TraceFormat;
use jurist_core::grade::{Time, Usd, VerdictStatus};
use jurist_store::pieces::MAX_PIECES;
use jurist_store::trace_counts::{FacetCount, MOST_COUNTED_TRACES, TraceFacet, is_count_limited};
use jurist_store::traces::{PutOutcome, TraceHead, TraceKey, TraceListFilter};
use jurist_store::{TraceId, clock};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::blinding::find_withheld_candidates;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::TRACE_ID;
use super::{Json, Path, Query, parse_json_body};
use crate::app::App;
use crate::assemble::COST_FROM_TOKENS;
use crate::auth::{AccessScope, Principal};
use crate::blocking::block_if_long;
use crate::error::{ApiError, Problem, not_modified};
use crate::ingest::{
    AdmittedRequest, Arrival, BodyLine, BodyLineReader, Encoding, IngestDefaults, Intake, LineAnswer,
    LineBatch, LineStatus, TraceEnvelope, estimate_decoded_bytes,
};

/// Lines of one request. Every one of them is answered, and the answers have to fit somewhere.
const MOST_LINES: usize = 100_000;

pub fn build_trace_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(list_traces, receive_trace))
        .routes(routes!(count_traces))
        .routes(routes!(send_lines))
        .routes(routes!(get_trace))
        .routes(routes!(get_trace_content))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TraceListQuery {
    /// Name of the agent.
    agent: Option<String>,
    /// Id of the session.
    session: Option<String>,
    /// `open`, `finished`, `reopened` or `erased`.
    state: Option<String>,
    /// Status at the end, as the framework names it.
    status: Option<String>,
    /// Only traces that failed, or only the others.
    failed: Option<bool>,
    /// Began at this time or later, as RFC 3339.
    from: Option<String>,
    /// Began before this time.
    until: Option<String>,
    /// Lowest cost, in US dollars.
    min_cost: Option<f64>,
    /// Shortest duration, in milliseconds.
    min_duration_ms: Option<i64>,
    /// Has a verdict: `pass`, `fail`, `error` or `deferred`.
    verdict: Option<String>,
    /// Whether its newest verdict has a score.
    scored: Option<bool>,
    /// Beginning of the id.
    id_prefix: Option<String>,
    /// Text in the id, agent, session or title; not case-sensitive for A to Z.
    #[param(max_length = 200)]
    search: Option<String>,
    /// time, cost, duration or score (of the newest verdict), with `-` for descending order [default: `-time`].
    /// Traces without the sort key are not listed; when sorted by score, neither are traces that you have not
    /// annotated yet.
    #[param(example = "-cost")]
    sort: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    pub(super) limit: Option<usize>,
}

/// Metadata of a trace.
#[derive(Debug, Serialize, ToSchema)]
struct TraceSummary {
    /// Id of the trace, as the sender named it.
    id: String,
    /// Name of the agent; `null` if the trace does not name one.
    agent: Option<String>,
    /// Session that the trace belongs to; `null` if there is none.
    session: Option<String>,
    /// Beginning of the task.
    title: Option<String>,
    /// `open`, `finished`, `reopened` or `erased`.
    state: &'static str,
    /// Status at the end, as the framework names it.
    status: Option<String>,
    /// Whether the agent ended with an error.
    is_failed: bool,
    /// When the trace started, in UTC (RFC 3339).
    started: String,
    /// When the last piece was received.
    updated: String,
    /// When the trace was complete, in UTC (RFC 3339); `null` while it is open.
    finished: Option<String>,
    /// Number of pieces in which the trace was sent.
    n_pieces: u64,
    /// Number of pieces that arrived after the trace was first finished.
    n_late: u64,
    /// Number of revisions; 0 means that it was never assembled.
    revision: u64,
    /// Number of steps.
    n_steps: u64,
    /// In US dollars.
    cost: Option<f64>,
    /// The trace did not say its cost: it is computed from its tokens and the prices of its models.
    is_cost_derived: bool,
    /// Tokens of the model calls of the trace.
    tokens: Tokens,
    /// Time from the first to the last step in milliseconds; `null` if it is unknown.
    duration_ms: Option<f64>,
    /// Sampling probability of the sender.
    probability: f64,
    /// Metadata of the sender.
    metadata: serde_json::Value,
    /// You have not annotated it yet, so grades of judges and others are hidden.
    is_withheld: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct Tokens {
    /// Tokens of prompts.
    input: u64,
    /// Tokens of replies.
    output: u64,
    /// Part of `input` that the provider had cached.
    cached: u64,
}

/// A trace with the decisions and newest verdicts of monitors
#[derive(Debug, Serialize, ToSchema)]
struct ListedTrace {
    #[serde(flatten)]
    head: TraceSummary,
    /// The newest of each monitor.
    verdicts: Vec<NewestVerdict>,
    /// One per monitor of its agent; none before the trace is finished.
    decisions: Vec<StandingDecision>,
}

#[derive(Debug, Serialize, ToSchema)]
struct NewestVerdict {
    /// By its name.
    monitor: Option<String>,
    /// Id of the rubric version.
    rubric_version: String,
    /// pass, fail, error or deferred.
    #[schema(value_type = String)]
    status: VerdictStatus,
    /// On 0 to 1.
    score: Option<f64>,
    /// When the verdict was reached, in UTC (RFC 3339).
    time: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct StandingDecision {
    /// By its name.
    monitor: String,
    /// sampled, sampled_out, filtered, nothing_to_judge, over_budget, overloaded, pending, scored, cached, stale or judge_error.
    state: &'static str,
    /// The same in four words: scored, error, pending or unscored.
    judge_status: &'static str,
    /// Last note.
    reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct TraceSummaryPage {
    /// Traces of this page.
    items: Vec<ListedTrace>,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

/// Numbers of traces by the values of four filters. Each ignores its own filter, so that it shows what another choice
/// would find.
#[derive(Debug, Serialize, ToSchema)]
struct TraceCounts {
    /// Traces by agent.
    agent: Vec<ValueCount>,
    /// Traces by state.
    state: Vec<ValueCount>,
    /// `true` or `false`.
    failed: Vec<ValueCount>,
    /// `true` or `false`.
    scored: Vec<ValueCount>,
    /// At most so many of the newest matching traces are counted.
    limit: usize,
    /// Whether a count reached the limit.
    is_limited: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct ValueCount {
    /// Absent for traces without it.
    value: Option<String>,
    /// Number of traces with this value.
    n: u64,
}

/// Result of an upload.
#[derive(Debug, Serialize, ToSchema)]
struct TraceReceipt {
    /// Id of the trace.
    id: String,
    /// Whether the piece was stored.
    status: LineStatus,
    /// Pieces that are new.
    #[serde(skip_serializing_if = "Option::is_none")]
    n_new: Option<usize>,
    /// Pieces that were there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    n_repeated: Option<usize>,
}

/// What holds for all lines that do not say otherwise.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct BulkTraceQuery {
    /// Trace format of lines that name none, such as `openai-chat` [default: recognised by its content].
    format: Option<String>,
    /// Name of the agent, for lines without this field.
    agent: Option<String>,
    /// Id of the session, for lines without this field.
    session: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Revision {
    /// Revision [default: the newest].
    revision: Option<u64>,
}

/// Traces with the decisions of monitors, newest first by default
#[utoipa::path(get, path = "/traces", tag = "traces", params(TraceListQuery), responses(
    (status = 200, body = TraceSummaryPage), (status = 400, body = Problem), (status = 403, body = Problem)
))]
async fn list_traces(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<TraceListQuery>,
) -> Result<Json<TraceSummaryPage>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let after = super::parse_page_cursor(which.after.as_deref())?;
    let limit = super::limit(which.limit)?;
    let filter = which.filter()?;
    let page = app.store.traces(caller.project, &filter, after.as_ref(), limit).await?;
    let mut items = load_listed_traces(&app, &caller, page.items).await?;
    // A position in a list sorted or filtered by verdict would reveal the hidden verdict.
    let is_by_verdict = filter.verdict.is_some() || filter.order.by == TraceKey::Score;
    items.retain(|listed_trace| !(listed_trace.head.is_withheld && is_by_verdict));
    Ok(Json(TraceSummaryPage { items, next: page.next.map(|cursor| cursor.to_string()) }))
}

/// Numbers of traces by agent, state, failure and score, for the filters of a list
///
/// Parameters are those of the list of traces; `sort`, `after` and `limit` have no effect. `verdict` is refused, because
/// such counts would reveal verdicts that are hidden from annotators.
#[utoipa::path(get, path = "/trace-counts", tag = "traces", params(TraceListQuery), responses(
    (status = 200, body = TraceCounts), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem)
))]
async fn count_traces(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<TraceListQuery>,
) -> Result<Json<TraceCounts>, ApiError> {
    caller.needs(AccessScope::Read)?;
    super::parse_page_cursor(which.after.as_deref())?;
    super::limit(which.limit)?;
    let filter = which.filter()?;
    if filter.verdict.is_some() {
        return Err(ApiError::bad(
            "traces cannot be counted by `verdict`: some verdicts may be hidden from you",
        ));
    }
    let mut is_limited = false;
    let mut count = async |facet| {
        let counts = app.store.count_traces(caller.project, &filter, facet).await?;
        is_limited |= is_count_limited(&counts);
        let view = |count: FacetCount| ValueCount { value: count.value, n: count.n };
        Ok::<_, ApiError>(counts.into_iter().map(view).collect())
    };
    let (agent, state) = (count(TraceFacet::Agent).await?, count(TraceFacet::State).await?);
    let (failed, scored) = (count(TraceFacet::Failed).await?, count(TraceFacet::Scored).await?);
    Ok(Json(TraceCounts { agent, state, failed, scored, limit: MOST_COUNTED_TRACES, is_limited }))
}

/// Three queries for the whole page.
async fn load_listed_traces(
    app: &App,
    caller: &Principal,
    heads: Vec<TraceHead>,
) -> Result<Vec<ListedTrace>, ApiError> {
    let ids: Vec<String> = heads.iter().map(|head| head.id.to_string()).collect();
    let mut verdicts: BTreeMap<String, Vec<NewestVerdict>> = BTreeMap::new();
    for it in app.store.newest_verdicts(caller.project, &ids).await? {
        verdicts.entry(it.candidate).or_default().push(NewestVerdict {
            monitor: it.monitor,
            rubric_version: it.rubric_version.to_string(),
            status: it.status,
            score: it.score,
            time: it.time.to_string(),
        });
    }
    let mut decisions: BTreeMap<String, Vec<StandingDecision>> = BTreeMap::new();
    for it in app.store.decision_summaries(caller.project, &ids).await? {
        decisions.entry(it.trace).or_default().push(StandingDecision {
            monitor: it.monitor,
            state: it.state.as_str(),
            judge_status: it.state.judge_status(),
            reason: it.reason,
        });
    }
    let withheld = find_withheld_candidates(app, caller, ids.iter().map(String::as_str)).await?;
    let line = |head: TraceHead| {
        let id = head.id.as_str();
        let is_withheld = withheld.contains(id);
        let verdicts = verdicts.remove(id).filter(|_| !is_withheld);
        ListedTrace {
            verdicts: verdicts.unwrap_or_default(),
            decisions: decisions.remove(id).unwrap_or_default(),
            head: TraceSummary { is_withheld, ..head.into() },
        }
    };
    Ok(heads.into_iter().map(line).collect())
}

/// Upload a trace, complete or in pieces
///
/// When the response arrives, the accepted data is on disk. Pieces may arrive in any order; the trace is
/// assembled when it is finished, and again when more pieces arrive.
#[utoipa::path(post, path = "/traces", tag = "traces", request_body = TraceEnvelope, responses(
    (status = 200, body = TraceReceipt), (status = 400, body = Problem), (status = 403, body = Problem),
    (status = 409, body = Problem, description = "Another trace with this id is already stored and is kept"),
    (status = 413, body = Problem),
    (status = 429, body = Problem, description = "Nothing was stored; retry after `Retry-After`")
))]
async fn receive_trace(
    State(app): State<App>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    caller: Principal,
    body: Body,
) -> Result<Json<TraceReceipt>, ApiError> {
    caller.needs(AccessScope::Ingest)?;
    let now = clock::current_time();
    let mut pass = AdmittedRequest::new(&app.admission, app.settings.ingest, &caller.sender(address), now)?;
    let body = pass.read(body).await?;
    let arrival = block_if_long(body.len(), || {
        pass.admit_decoding(estimate_decoded_bytes(&body, Encoding::Json))?;
        let sent: TraceEnvelope = parse_json_body(&body)?;
        Ok::<_, ApiError>(sent.read(&IngestDefaults::default(), &app.settings.redactor, now)?)
    })?;
    store_trace_arrival(&app, &caller, arrival, now).await.map(Json)
}

async fn store_trace_arrival(
    app: &App,
    caller: &Principal,
    arrival: Arrival,
    now: Time,
) -> Result<TraceReceipt, ApiError> {
    let (store, project) = (&app.store, caller.project);
    let conflict = |what: &str| {
        ApiError::Conflict(format!("{what} is already stored with other content; the stored one is kept"))
    };
    let (id, pieces) = match arrival {
        Arrival::Whole { id, finished } => {
            let status = match store.put_trace(project, &id, &finished, now).await? {
                PutOutcome::New => LineStatus::Accepted,
                PutOutcome::Repeated => LineStatus::Repeated,
                PutOutcome::Conflict => return Err(conflict(&format!("a trace `{id}`"))),
            };
            if let Some(agent) = &finished.agent {
                store.see_agent(project, agent, now).await?;
            }
            return Ok(TraceReceipt { id: id.to_string(), status, n_new: None, n_repeated: None });
        }
        Arrival::Pieces { id, pieces } => (id, pieces),
        Arrival::Spans(_) => return Err(ApiError::bad("spans go to /v1/traces")),
    };
    let receipt = store.put_pieces(project, pieces, now).await?;
    if !receipt.conflicts.is_empty() {
        let names: Vec<String> =
            receipt.conflicts.iter().take(20).map(|piece| format!("`{}`", piece.id)).collect();
        let n_kept = receipt.n_new + receipt.n_repeated;
        let what = format!("{n_kept} pieces of trace `{id}` were stored; {}", names.join(", "));
        return Err(conflict(&what));
    }
    if !receipt.refused.is_empty() {
        app.metrics.pieces_refused(receipt.refused.len());
        return Err(ApiError::TooLarge(format!(
            "trace `{id}` already has {MAX_PIECES} pieces; {} were refused",
            receipt.refused.len()
        )));
    }
    let status = if receipt.n_new == 0 { LineStatus::Repeated } else { LineStatus::Accepted };
    let (n_new, n_repeated) = (Some(receipt.n_new), Some(receipt.n_repeated));
    Ok(TraceReceipt { id: id.to_string(), status, n_new, n_repeated })
}

/// Traces line by line, in any format
///
/// Each line is a trace in a format that `jurist trace` reads, an export of OpenTelemetry, or what
/// `POST /traces` takes. Each is answered by a line, and one that is wrong does not harm the others. A body
/// may be of any size and has up to 100,000 lines.
#[utoipa::path(post, path = "/traces/bulk", tag = "traces", params(BulkTraceQuery),
    request_body(content = String, content_type = "application/x-ndjson"),
    responses(
        (status = 200, body = LineAnswer, content_type = "application/x-ndjson"),
        (status = 400, body = Problem), (status = 403, body = Problem),
        (status = 429, body = Problem, description = "Retry after `Retry-After`; repeated data is stored once")
    ))]
async fn send_lines(
    State(app): State<App>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    caller: Principal,
    Query(for_all): Query<BulkTraceQuery>,
    body: Body,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Ingest)?;
    let sender = caller.sender(address);
    let mut pass = AdmittedRequest::new(&app.admission, app.settings.ingest, &sender, clock::current_time())?;
    let intake = Intake {
        store: &app.store,
        project: caller.project,
        redactor: &app.settings.redactor,
        defaults: for_all.defaults()?,
    };
    let (mut lines, mut answers, mut n) = (BodyLineReader::new(body, app.settings.max_body), Vec::new(), 0);
    let mut batch = LineBatch::default();
    while let Some(line) = lines.next(&mut pass).await? {
        n += 1;
        match line {
            _ if MOST_LINES < n => {
                return Err(ApiError::TooLarge(format!(
                    "more than {MOST_LINES} lines; send the rest in another request"
                )));
            }
            BodyLine::TooLong => answers.push(LineAnswer::error(n, "the line is longer than a body may be")),
            BodyLine::Text(text) if text.trim_ascii().is_empty() => pass.shrink(text.len()),
            BodyLine::Text(text) => answers.extend(batch.push(n, text, &intake, &mut pass).await?),
        }
    }
    answers.extend(batch.store(&intake, &mut pass).await?);
    let text: String = answers.iter().map(LineAnswer::to_line).collect();
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], text).into_response())
}

/// Metadata of a trace
#[utoipa::path(get, path = "/traces/{id}", tag = "traces",
    params(("id" = String, Path, description = TRACE_ID)), responses(
    (status = 200, body = TraceSummary), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_trace(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<TraceSummary>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let head = app.store.trace(caller.project, &TraceId::new(id)?).await?;
    let withheld = find_withheld_candidates(&app, &caller, [head.id.as_str()]).await?;
    Ok(Json(TraceSummary { is_withheld: !withheld.is_empty(), ..head.into() }))
}

/// The assembled trace
#[utoipa::path(get, path = "/traces/{id}/content", tag = "traces",
    params(("id" = String, Path, description = TRACE_ID), Revision),
    responses(
        (status = 200, body = serde_json::Value, description = "A trace in Jurist's own form, with an `ETag`"),
        (status = 304, description = "Unchanged since `If-None-Match`"),
        (status = 403, body = Problem), (status = 404, body = Problem)
    ))]
async fn get_trace_content(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(wanted): Query<Revision>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Read)?;
    let id = TraceId::new(id)?;
    let head = app.store.trace(caller.project, &id).await?;
    let revision = wanted.revision.unwrap_or(head.revision);
    let tag = format!("\"{revision}\"");
    let value = HeaderValue::from_str(&tag).expect("digits in quotes are a header");
    if head.state.as_str() != "erased" && is_etag_match(&headers, &tag) {
        return Ok(not_modified(value));
    }
    let content = app.store.trace_content_at(caller.project, &id, revision).await?;
    let missing = || ApiError::Unknown(format!("trace `{id}` has no content of revision {revision}"));
    let trace = content.ok_or_else(missing)?;
    let fresh = HeaderValue::from_static("private, no-cache");
    Ok(([(header::ETAG, value), (header::CACHE_CONTROL, fresh)], Json(trace)).into_response())
}

fn is_etag_match(headers: &HeaderMap, tag: &str) -> bool {
    let had =
        headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|header_value| header_value.to_str().ok());
    let mut had = had.flat_map(|had| had.split(',')).map(|text| text.trim().trim_start_matches("W/"));
    had.any(|had| had == tag || had == "*")
}

impl TraceListQuery {
    pub(super) fn filter(&self) -> Result<TraceListFilter, ApiError> {
        let time =
            |text: &Option<String>| text.as_deref().map(Time::parse).transpose().map_err(ApiError::bad);
        let verdict = |text: &String| match text.as_str() {
            "pass" => Ok(VerdictStatus::Pass),
            "fail" => Ok(VerdictStatus::Fail),
            "error" => Ok(VerdictStatus::Error),
            "deferred" => Ok(VerdictStatus::Deferred),
            other => Err(ApiError::Bad(format!(
                "`{other}` is not a verdict; there are pass, fail, error, deferred"
            ))),
        };
        let dollars = |value: f64| {
            let is_right = value.is_finite() && value.abs() < 9e6;
            let wrong = || ApiError::bad("`min_cost` is a number of dollars under nine million");
            is_right.then(|| Usd::from_nanos((value * 1e9).round() as i64)).ok_or_else(wrong)
        };
        Ok(TraceListFilter {
            agent: self.agent.clone(),
            session: self.session.clone(),
            state: self.state.as_deref().map(str::parse).transpose().map_err(ApiError::Bad)?,
            status: self.status.clone(),
            is_failed: self.failed,
            from: time(&self.from)?,
            until: time(&self.until)?,
            min_cost: self.min_cost.map(dollars).transpose()?,
            min_duration: self.min_duration_ms.map(|min_duration_m| min_duration_m.saturating_mul(1000)),
            verdict: self.verdict.as_ref().map(verdict).transpose()?,
            is_scored: self.scored,
            id_prefix: self.id_prefix.clone(),
            search: super::parse_search(self.search.as_deref())?.map(str::to_owned),
            order: self
                .sort
                .as_deref()
                .map(str::parse)
                .transpose()
                .map_err(ApiError::Bad)?
                .unwrap_or_default(),
        })
    }
}

impl BulkTraceQuery {
    fn defaults(self) -> Result<IngestDefaults, ApiError> {
        let format = self.format.as_deref().map(|name| {
            TraceFormat::from_name(name)
                .ok_or_else(|| ApiError::Bad(format!("`{name}` is not a trace format")))
        });
        Ok(IngestDefaults { format: format.transpose()?, agent: self.agent, session: self.session })
    }
}

impl From<TraceHead> for TraceSummary {
    fn from(it: TraceHead) -> Self {
        Self {
            id: it.id.to_string(),
            agent: it.agent,
            session: it.session,
            title: it.title,
            state: it.state.as_str(),
            status: it.status,
            is_failed: it.is_failed,
            started: it.started.to_string(),
            updated: it.updated.to_string(),
            finished: it.finished.map(|time| time.to_string()),
            n_pieces: it.n_pieces,
            n_late: it.n_late,
            revision: it.revision,
            n_steps: it.n_steps,
            cost: it.cost.map(|usd| usd.nanos() as f64 / 1e9),
            is_cost_derived: it.metadata[COST_FROM_TOKENS] == true,
            tokens: Tokens { input: it.usage.input, output: it.usage.output, cached: it.usage.cached },
            duration_ms: it.duration.map(|duration| duration as f64 / 1e3),
            probability: it.probability.get(),
            metadata: it.metadata,
            is_withheld: false,
        }
    }
}
