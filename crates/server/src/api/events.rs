//! Event stream of a run.

use std::collections::VecDeque;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use jurist_core::run::{CaseResult, RunId};
use jurist_store::submissions::RunProgress;
use jurist_store::{ProjectId, StoreError};
use serde_json::json;

use super::Path;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::RUN_ID;
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

/// Interval of the queries; workers may be in other processes, so there is no notification.
const LOOK: Duration = Duration::from_millis(250);

/// Results read from the store per query.
const PAGE: usize = 100;

pub fn build_run_event_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(stream_run_events))
}

/// Stream the events of a run
///
/// `graded` has a result, in the order of the plan; its id is the position, and a client that reconnects with
/// it as `Last-Event-ID` gets the following events. `progress` has the number of results, and `ended` is the
/// last event.
#[utoipa::path(get, path = "/runs/{id}/events", tag = "runs",
    params(
        ("id" = String, Path, description = RUN_ID),
        ("last-event-id" = Option<String>, Header, description = "Position of the last received event")
    ),
    responses(
        (status = 200, content_type = "text/event-stream", body = String), (status = 400, body = Problem),
        (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn stream_run_events(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, StoreError>>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let run: RunId = id.parse()?;
    app.store.run_progress(caller.project, run).await?;
    let last =
        headers.get("last-event-id").and_then(|header| header.to_str().ok()).filter(|text| !text.is_empty());
    let bad = |_| ApiError::bad("Last-Event-ID is the place of a result, such as 12");
    let sent_place: Option<usize> = last.map(str::parse).transpose().map_err(bad)?;
    let follower = Follower {
        app,
        headers,
        uri,
        project: caller.project,
        run,
        sent_place,
        sent_progress: None,
        waiting: VecDeque::new(),
        is_over: false,
    };
    let events = stream::try_unfold(follower, |mut follower| async move {
        Ok(follower.next().await?.map(|event| (event, follower)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

struct Follower {
    app: App,
    /// Headers of the client. Its permissions are checked again in each round, because they may end during a run.
    headers: HeaderMap,
    uri: Uri,
    project: ProjectId,
    run: RunId,
    /// Position of the last result that was sent.
    sent_place: Option<usize>,
    sent_progress: Option<RunProgress>,
    waiting: VecDeque<Event>,
    is_over: bool,
}

impl Follower {
    async fn next(&mut self) -> Result<Option<Event>, StoreError> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(Some(event));
            }
            if self.is_over {
                return Ok(None);
            }
            if !self.may_listen().await {
                return Ok(None);
            }
            self.poll_run().await?;
            if self.waiting.is_empty() && !self.is_over {
                let mut stopping = self.app.stopping.subscribe();
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    _ = stopping.wait_for(|stopping| *stopping) => self.is_over = true,
                }
            }
        }
    }

    async fn may_listen(&self) -> bool {
        let caller = Principal::identify(&self.app, &self.headers, self.uri.query()).await;
        caller.is_ok_and(|caller| caller.project == self.project && caller.needs(AccessScope::Read).is_ok())
    }

    async fn poll_run(&mut self) -> Result<(), StoreError> {
        // Read before the results: after the end of the run all results are stored.
        let progress = self.app.store.run_progress(self.project, self.run).await?;
        let results = self.app.store.results(self.project, self.run, self.sent_place, PAGE).await?;
        let n_found = results.len();
        for (place, result) in results {
            let is_next = self.sent_place.map_or(0, |n| n + 1) == place;
            // Results are sent in plan order, so that `Last-Event-ID` says which ones the client has.
            if !is_next && progress.ended.is_none() {
                break;
            }
            self.sent_place = Some(place);
            self.waiting.push_back(build_graded_event(place, &result));
        }
        if self.sent_progress != Some(progress) {
            self.sent_progress = Some(progress);
            let RunProgress { n_units, n_results, .. } = progress;
            let counts = json!({ "n_units": n_units, "n_results": n_results });
            self.waiting.push_back(Event::default().event("progress").data(counts.to_string()));
        }
        if let Some(ended) = progress.ended.filter(|_| n_found < PAGE) {
            let data = json!({ "ended": ended.to_string() });
            self.waiting.push_back(Event::default().event("ended").data(data.to_string()));
            self.is_over = true;
        }
        Ok(())
    }
}

fn build_graded_event(place: usize, result: &CaseResult) -> Event {
    let data = json!({
        "place": place, "case": result.case, "trial": result.trial, "parts": result.parts,
        "status": result.verdict.status, "score": result.verdict.score,
    });
    Event::default().event("graded").id(place.to_string()).data(data.to_string())
}
