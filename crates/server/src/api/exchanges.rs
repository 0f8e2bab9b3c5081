//! Prompts and replies of judges, word for word.

use axum::extract::State;
use jurist_core::run::RunId;
use jurist_engine::judge::JudgeExchange;
use jurist_engine::model::MessageRole;
use jurist_store::exchanges::StoredExchange;
use jurist_store::{StoreError, TraceId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::blinding::find_withheld_candidates;
use super::endpoints::{ApiRoutes, routes};
use super::path_parameters::{RUN_ID, TRACE_ID};
use super::{Json, Path, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

pub fn build_exchange_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_trace_exchanges)).routes(routes!(list_run_exchanges))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct CaseExchangeQuery {
    /// The name of a case.
    case: String,
}

/// One judge call: the request and the reply
#[derive(Debug, Serialize, ToSchema)]
struct ExchangeView {
    /// Name of the judge.
    judge: String,
    /// For traces: name of the monitor that made the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    monitor: Option<String>,
    /// Of traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    rubric_version: Option<String>,
    /// Criterion; the first one if several were asked together.
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<String>,
    /// When it was written down.
    time: String,
    /// Messages that were sent, in their order.
    messages: Vec<ExchangeMessage>,
    /// Text of the reply; `null` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    /// Error, if there is no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct ExchangeMessage {
    /// system, user or assistant.
    role: &'static str,
    /// Text of the message.
    content: String,
}

/// Judge calls for a trace, oldest first; cached replies caused no call
#[utoipa::path(get, path = "/traces/{id}/exchanges", tag = "traces",
    params(("id" = String, Path, description = TRACE_ID)), responses(
    (status = 200, body = Vec<ExchangeView>), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_trace_exchanges(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
) -> Result<Json<Vec<ExchangeView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let id: TraceId = id.parse()?;
    app.store.trace(caller.project, &id).await?;
    if !find_withheld_candidates(&app, &caller, [id.as_str()]).await?.is_empty() {
        return Err(ApiError::Forbidden(
            "answer this item first; then you can see the judge grades".to_owned(),
        ));
    }
    let all = app.store.stored_exchanges(caller.project, id.as_str(), None).await?;
    let view = |stored_exchange: StoredExchange| {
        let (monitor, rubric_version) = (stored_exchange.monitor.clone(), Some(stored_exchange.part.clone()));
        Ok(ExchangeView { monitor, rubric_version, ..build_exchange_view(stored_exchange)? })
    };
    Ok(Json(all.into_iter().map(view).collect::<Result<_, ApiError>>()?))
}

/// Judge calls for a case of a run, oldest first
#[utoipa::path(get, path = "/runs/{id}/exchanges", tag = "runs",
    params(("id" = String, Path, description = RUN_ID), CaseExchangeQuery), responses(
    (status = 200, body = Vec<ExchangeView>), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_run_exchanges(
    State(app): State<App>,
    caller: Principal,
    Path(id): Path<String>,
    Query(of): Query<CaseExchangeQuery>,
) -> Result<Json<Vec<ExchangeView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let id: RunId = id.parse()?;
    app.store.run_progress(caller.project, id).await?;
    let all = app.store.stored_exchanges(caller.project, &id.to_string(), Some(&of.case)).await?;
    Ok(Json(all.into_iter().map(build_exchange_view).collect::<Result<_, _>>()?))
}

fn build_exchange_view(stored: StoredExchange) -> Result<ExchangeView, ApiError> {
    let damaged = |error: serde_json::Error| StoreError::Damaged {
        what: "exchange",
        id: stored.part.clone(),
        why: error.to_string(),
    };
    let JudgeExchange { criterion, request, reply } = serde_json::from_value(stored.body).map_err(damaged)?;
    let system = ExchangeMessage { role: "system", content: request.system };
    let mut messages: Vec<_> =
        Some(system).filter(|exchange_message| !exchange_message.content.is_empty()).into_iter().collect();
    messages.extend(request.messages.into_iter().map(|message| ExchangeMessage {
        role: match message.role {
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
        },
        content: message.parts.join("\n"),
    }));
    let (reply, error) = match reply {
        Ok(reply) => (Some(reply), None),
        Err(error) => (None, Some(error)),
    };
    Ok(ExchangeView {
        judge: request.model,
        monitor: None,
        rubric_version: None,
        criterion: Some(criterion).filter(|text| !text.is_empty()),
        time: stored.time.to_string(),
        messages,
        reply,
        error,
    })
}
