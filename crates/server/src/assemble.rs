//! Assembles traces from their pieces, in the background, after they have ended or had no new pieces for some time.
//!
//! Several servers on one database may do the same work: the store accepts a trace only if no piece arrived in the
//! meantime, and equal content is one revision. A trace that cannot be read is finished with an error in its
//! metadata, so that users see it and it is not tried again forever.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use jurist_core::candidate::{ModelUsage, Trace, TraceError, TraceFormat, read_trace_value};
use jurist_core::dialect::ProjectSettings;
use jurist_core::grade::{Time, Usd};
use jurist_engine::model::resolve::listed_price;
use jurist_store::pieces::{AssemblyPieces, Piece, PieceKind};
use jurist_store::traces::{FinishedTrace, ReadyTrace, TraceHead, TraceState};
use jurist_store::{Probability, ProjectId, StoreError, clock};
use serde_json::{Map, Value as Json, json};
use tokio::sync::watch;

use crate::app::App;
use crate::blocking::run_blocking;
use crate::ingest::{FinishBody, SpanFacts, StartBody, clean_name, means_failure, read_span_facts};

/// Metadata key that marks a cost that was computed from tokens, not sent.
pub const COST_FROM_TOKENS: &str = "cost_from_tokens";

/// Interval between two queries for traces if there are none.
const PAUSE: Duration = Duration::from_millis(250);
/// Lower bound of the interval for short settle times.
const LEAST_PAUSE: Duration = Duration::from_millis(10);
/// Interval if the database is unavailable.
const AWAY: Duration = Duration::from_secs(5);
/// Traces per query.
const BATCH: usize = 100;
/// Traces that are assembled concurrently.
const AT_ONCE: usize = 4;

/// From this number of pieces on, only one trace is assembled at a time: 50,000 pieces take about 500 MB.
const LARGE: usize = 5_000;
static LARGE_ASSEMBLY: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Assembles ready traces until the stop signal.
pub async fn run_assembly_loop(app: App, mut stopped: watch::Receiver<bool>) {
    let mut seen = AgentSightings::default();
    loop {
        let pause = match assemble_ready_traces(&app, &mut seen, &stopped).await {
            Ok(n) if n == BATCH => Duration::ZERO,
            Ok(_) => PAUSE.min(app.settings.settle / 2).max(LEAST_PAUSE),
            Err(error) => {
                tracing::warn!(%error, "traces cannot be assembled at the moment");
                AWAY
            }
        };
        tokio::select! {
            // It also ends if the sender of the signal is dropped.
            _ = stopped.wait_for(|stopped| *stopped) => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Assembles every ended trace at once, for commands without a server.
pub async fn assemble_ended(app: &App) -> Result<(), StoreError> {
    let (_stop, stopped) = watch::channel(false);
    let mut seen = AgentSightings::default();
    while assemble_ready_traces(app, &mut seen, &stopped).await? == BATCH {}
    Ok(())
}

/// Time at which an agent was last stored, so that not every trace causes a write.
pub(crate) type AgentSightings = HashMap<(ProjectId, String), Time>;

pub(crate) async fn assemble_ready_traces(
    app: &App,
    seen: &mut AgentSightings,
    stopped: &watch::Receiver<bool>,
) -> Result<usize, StoreError> {
    let now = clock::current_time();
    let before = |duration: Duration| {
        Time::from_micros(now.micros() - i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
    };
    let mut ready =
        app.store.ready_traces(before(app.settings.settle), before(app.settings.idle), BATCH).await?;
    let n = ready.len();
    // Each server starts at a random position, so that two servers rarely work on the same trace.
    ready.rotate_left(usize::from(jurist_store::random::<1>()[0]) * n / 256);
    // All of them are run to their end before the next database call: a suspended transaction would hold SQLite's
    // only write lock, and this task would wait for itself.
    let done: Vec<_> = stream::iter(ready)
        .take_while(|_| std::future::ready(!*stopped.borrow()))
        .map(|ready_trace| async move { (ready_trace.project, assemble_trace(app, &ready_trace).await) })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let mut trouble = None;
    for (project, finished) in done {
        match finished {
            Ok(Some(agent)) => record_agent_sighting(app, seen, project, agent).await?,
            Ok(None) => {}
            Err(error) => trouble = Some(error),
        }
    }
    trouble.map_or(Ok(n), Err)
}

async fn record_agent_sighting(
    app: &App,
    seen: &mut AgentSightings,
    project: ProjectId,
    agent: String,
) -> Result<(), StoreError> {
    let (now, key) = (clock::current_time(), (project, agent));
    if seen.get(&key).is_none_or(|time| time.micros() + 60_000_000 < now.micros()) {
        app.store.see_agent(project, &key.1, now).await?;
        if 10_000 < seen.len() {
            seen.clear();
        }
        seen.insert(key, now);
    }
    Ok(())
}

/// Assembles one trace, and returns its agent.
async fn assemble_trace(app: &App, ready: &ReadyTrace) -> Result<Option<String>, StoreError> {
    let (store, project, id) = (&app.store, ready.project, &ready.trace);
    let head = store.trace(project, id).await?;
    let is_open = matches!(head.state, TraceState::Open | TraceState::Reopened);
    if !is_open || head.n_pieces != ready.n_pieces {
        // Another server has assembled it, or more pieces have arrived.
        return Ok(None);
    }
    let n_pieces = usize::try_from(head.n_pieces).unwrap_or(usize::MAX);
    let _alone = if LARGE < n_pieces { Some(LARGE_ASSEMBLY.lock().await) } else { None };
    let AssemblyPieces { mut pieces, n_left_out } =
        match store.pieces_to_assemble(project, id, n_pieces).await {
            Ok(pieces) => pieces,
            // Damaged data stays damaged, so the trace is not tried again.
            Err(error @ StoreError::Damaged { .. }) => {
                tracing::error!(%error, "a trace cannot be assembled");
                store
                    .finish_trace(ready, &unreadable_trace(&head, &error.to_string()), clock::current_time())
                    .await?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
    let earlier = if 0 < head.revision && head.n_late == head.n_pieces {
        // The trace was uploaded complete; later pieces are appended.
        store.trace_content_at(project, id, 1).await?
    } else if pieces.iter().any(|piece| piece.body.is_none()) {
        // Retention has deleted the bodies; the content assembled from them stays.
        pieces.retain(|piece| head.finished.is_none_or(|finished| finished < piece.received));
        store.trace_content(project, id).await?
    } else {
        None
    };
    let named = head.agent.clone();
    let unread = unreadable_trace(&head, "the reader failed; see the server's log");
    if 0 < n_left_out {
        app.metrics.trace_cut();
    }
    let together = run_blocking(move || build_trace_from_pieces(&head, &pieces, n_left_out, earlier)).await;
    let mut finished = together.unwrap_or(unread);
    price_tokens(&mut finished, &app.settings.work.settings);
    store.finish_trace(ready, &finished, clock::current_time()).await?;
    Ok(finished.agent.or(named))
}

/// Computes the cost of a trace without one, if the prices of all its tokens are known.
fn price_tokens(finished: &mut FinishedTrace, settings: &ProjectSettings) {
    let trace = &mut finished.trace;
    if trace.cost.is_some() || trace.model_usage.is_empty() {
        return;
    }
    let cost = |call: &ModelUsage| {
        let price = listed_price(settings, call.provider.as_deref(), &call.model)?;
        Some(price.of(call.usage))
    };
    let costs: Option<Vec<Usd>> = trace.model_usage.iter().map(cost).collect();
    if let Some(costs) = costs {
        trace.cost = Some(costs.into_iter().fold(Usd::default(), Usd::plus));
        finished.metadata[COST_FROM_TOKENS] = json!(true);
    }
}

/// A trace that cannot be read, with the reason.
fn unreadable_trace(head: &TraceHead, why: &str) -> FinishedTrace {
    FinishedTrace {
        trace: Trace::default(),
        agent: None,
        session: None,
        is_failed: false,
        started: head.started,
        duration: None,
        probability: Probability::CERTAIN,
        metadata: json!({ "unreadable": why }),
    }
}

/// Builds a trace from its pieces. Pieces that cannot be read are listed in its metadata as `unreadable`.
pub fn build_trace_from_pieces(
    head: &TraceHead,
    pieces: &[Piece],
    n_left_out: usize,
    earlier: Option<Trace>,
) -> FinishedTrace {
    let mut made =
        TraceBuilder { finished: unreadable_trace(head, ""), metadata: Map::new(), whys: Vec::new() };
    if 0 < n_left_out {
        let why = format!("only the first {} pieces are read; {n_left_out} exceed the limit", pieces.len());
        made.whys.push(why);
    }
    if let Some(earlier) = earlier {
        made.finished.trace = earlier;
        if let Json::Object(before) = &head.metadata {
            made.metadata = before.clone();
        }
        made.finished.is_failed = head.is_failed;
        made.finished.duration = head.duration;
        made.finished.probability = head.probability;
    }
    let (mut spans, mut events) = (Vec::new(), Vec::new());
    for piece in pieces {
        let Some(body) = &piece.body else { continue };
        match (serde_json::from_slice::<Json>(body), piece.kind) {
            (Ok(value), PieceKind::Span | PieceKind::RootSpan) => spans.push(value),
            (Ok(value), kind) => events.push((kind, piece.time, value)),
            (Err(error), _) => made.whys.push(format!("piece `{}`: {error}", piece.id)),
        }
    }
    if !spans.is_empty() {
        made.read_spans(spans);
    }
    if !events.is_empty() {
        made.read_events(events);
    }
    made.build()
}

/// A trace that is being put together.
struct TraceBuilder {
    finished: FinishedTrace,
    metadata: Map<String, Json>,
    /// Reasons of unreadable pieces.
    whys: Vec<String>,
}

impl TraceBuilder {
    fn read_spans(&mut self, spans: Vec<Json>) {
        let facts: Vec<SpanFacts> = spans.iter().filter_map(read_span_facts).collect();
        self.metadata.insert("format".to_owned(), json!(TraceFormat::Otlp.name()));
        self.metadata.insert("n_spans".to_owned(), json!(facts.len()));
        self.read(&Json::Array(spans), Some(TraceFormat::Otlp));
        let ids: HashSet<&str> = facts.iter().map(|facts| facts.id.as_str()).collect();
        let is_top = |facts: &&SpanFacts| facts.parent.as_deref().is_none_or(|parent| !ids.contains(parent));
        // Clocks differ between machines, so a span below the root may seem to begin earlier.
        let mut tops: Vec<&SpanFacts> = facts.iter().filter(is_top).collect();
        tops.sort_by_key(|facts| (facts.parent.is_some(), facts.start));
        let n_orphans = tops.iter().filter(|facts| facts.parent.is_some()).count();
        if 0 < n_orphans {
            self.metadata.insert("n_without_parent".to_owned(), json!(n_orphans));
        }
        let Some(top) = tops.first() else { return };
        let finished = &mut self.finished;
        let status = top.failed.map(|failed| if failed { "error" } else { "ok" }.to_owned());
        finished.trace.status = finished.trace.status.take().or(status);
        finished.is_failed = top.failed == Some(true);
        let has_root = top.parent.is_none();
        let starts = || facts.iter().map(|facts| facts.start).filter(|n| 0 < *n);
        let start = if has_root && 0 < top.start { top.start } else { starts().min().unwrap_or(0) };
        let end = if has_root { top.end } else { facts.iter().map(|facts| facts.end).max().unwrap_or(0) };
        let micros = |nanos: u64| i64::try_from(nanos / 1000).unwrap_or(i64::MAX);
        if 0 < start {
            finished.started = Time::from_micros(micros(start));
            // An end before the start means that a clock was wrong; there is no duration then.
            finished.duration = end.checked_sub(start).map(micros);
        }
        let first_fact =
            |of: fn(&SpanFacts) -> Option<&String>| of(top).or_else(|| facts.iter().find_map(of)).cloned();
        finished.agent = first_fact(|facts| facts.agent.as_ref()).or_else(|| {
            first_fact(|facts| facts.service.as_ref())
                .filter(|service| !service.starts_with("unknown_service"))
        });
        finished.session = first_fact(|facts| facts.session.as_ref());
        let least =
            || facts.iter().filter_map(|facts| facts.probability).min_by(|a, b| a.get().total_cmp(&b.get()));
        finished.probability = top.probability.or_else(least).unwrap_or_default();
        let models: BTreeSet<&String> =
            facts.iter().filter_map(|facts| facts.model.as_ref()).take(1000).collect();
        if !models.is_empty() {
            self.metadata.insert("models".to_owned(), json!(models));
        }
        if let Some(service) = first_fact(|facts| facts.service.as_ref()) {
            self.metadata.insert("service".to_owned(), json!(service));
        }
    }

    /// Starts, events and ends, by their time.
    fn read_events(&mut self, bodies: Vec<(PieceKind, Time, Json)>) {
        let (mut format, mut begun, mut ended, mut events) = (None, None, None, Vec::new());
        for (kind, time, value) in bodies {
            match kind {
                PieceKind::Start => {
                    let start: StartBody = serde_json::from_value(value).unwrap_or_default();
                    format = format.or(start.format.as_deref().and_then(TraceFormat::from_name));
                    begun = begun.or(Some(time));
                    let trace = &mut self.finished.trace;
                    trace.task = trace.task.take().or(start.task);
                    self.metadata.extend(start.metadata);
                }
                PieceKind::Finish => {
                    ended = Some((time, serde_json::from_value::<FinishBody>(value).unwrap_or_default()));
                }
                _ => events.push(value),
            }
        }
        if !events.is_empty() {
            self.read(&Json::Array(events), format);
        }
        let finished = &mut self.finished;
        if let Some((time, end)) = ended {
            let trace = &mut finished.trace;
            trace.status = end.status.as_deref().and_then(clean_name).or(trace.status.take());
            trace.cost = end.cost.or(trace.cost);
            trace.usage = end.usage.unwrap_or(trace.usage);
            let says_so = || trace.status.as_deref().is_some_and(means_failure);
            finished.is_failed = end.failed.unwrap_or_else(says_so);
            let span = begun.map(|begun| time.micros() - begun.micros());
            finished.duration = span.filter(|span| 0 <= *span).or(finished.duration);
            self.metadata.extend(end.metadata);
        }
    }

    /// Appends the steps of a value to the trace.
    fn read(&mut self, value: &Json, format: Option<TraceFormat>) {
        match read_trace_value(value, format) {
            Ok((format, mut read)) => {
                let trace = &mut self.finished.trace;
                trace.steps.append(&mut read.steps);
                trace.nodes.append(&mut read.nodes);
                trace.files.append(&mut read.files);
                trace.usage = trace.usage.plus(read.usage);
                trace.model_usage.append(&mut read.model_usage);
                trace.cost = match (trace.cost, read.cost) {
                    (Some(a), Some(b)) => Some(a.plus(b)),
                    (a, b) => a.or(b),
                };
                trace.task = trace.task.take().or(read.task);
                trace.status = read.status.as_deref().and_then(clean_name).or(trace.status.take());
                self.metadata.entry("format").or_insert_with(|| json!(format.name()));
            }
            // Spans of a web server or a database are valid, but contain no agent steps.
            Err(TraceError::NothingRead(TraceFormat::Otlp)) => {}
            Err(error) => self.whys.push(error.to_string()),
        }
    }

    fn build(mut self) -> FinishedTrace {
        if !self.whys.is_empty() {
            let text: String = self.whys.join("; ").chars().take(1000).collect();
            self.metadata.insert("unreadable".to_owned(), json!(text));
        }
        // Checks of the duration read it from the trace.
        let duration = self.finished.duration.map(|micros| micros as f64 / 1e3);
        self.finished.trace.duration_ms = duration.or(self.finished.trace.duration_ms);
        self.finished.metadata = Json::Object(self.metadata);
        self.finished
    }
}
