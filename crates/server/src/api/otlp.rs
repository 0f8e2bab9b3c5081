//! OTLP/HTTP, the protocol of OpenTelemetry's exporters.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use jurist_store::clock;
use jurist_store::pieces::{MAX_PIECES, PieceName};
use prost::Message;

use super::endpoints::{ApiRoutes, routes};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::blocking::run_blocking;
use crate::error::ApiError;
use crate::ingest::{AdmittedRequest, Encoding, Spans, estimate_decoded_bytes};

pub fn build_otlp_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(receive_otlp_export))
}

/// `google.rpc.Status`, the body of answers that are errors.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// Spans of OpenTelemetry, in protobuf or JSON
///
/// Spans that cannot be stored are counted in `partialSuccess`; the others are on disk. 429 and 503 have
/// `Retry-After`.
#[utoipa::path(post, path = "/v1/traces", tag = "traces",
    request_body(
        description = "ExportTraceServiceRequest",
        content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json"))
    ),
    responses(
        (status = 200, description = "ExportTraceServiceResponse"),
        (status = 400, description = "google.rpc.Status: the request cannot be read"),
        (status = 401, description = "google.rpc.Status"), (status = 403, description = "google.rpc.Status"),
        (status = 413, description = "google.rpc.Status"),
        (status = 415, body = crate::error::Problem),
        (status = 429, description = "google.rpc.Status: nothing was stored; retry after `Retry-After`"),
        (status = 503, description = "google.rpc.Status: the database is not available")
    ))]
async fn receive_otlp_export(
    State(app): State<App>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    caller: Result<Principal, ApiError>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let encoding = match encoding(&headers) {
        Ok(it) => it,
        Err(error) => return error.into_response(),
    };
    let kind = match encoding {
        Encoding::Protobuf => "application/x-protobuf",
        Encoding::Json => "application/json",
    };
    let taken = async { store_otlp_spans(&app, address, caller?, encoding, body).await };
    match taken.await {
        Ok(answer) => ([(header::CONTENT_TYPE, kind)], answer).into_response(),
        // Exporters discard the data after a 500, but a database error may be temporary. They retry after a 503.
        Err(ApiError::Broken) => ApiError::Unavailable.with_body(kind, |why| status(encoding, why)),
        Err(error) => error.with_body(kind, |why| status(encoding, why)),
    }
}

fn encoding(headers: &HeaderMap) -> Result<Encoding, ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|header| header.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim() {
        "application/x-protobuf" | "application/protobuf" => Ok(Encoding::Protobuf),
        "application/json" => Ok(Encoding::Json),
        _ => Err(ApiError::NotUnderstood(
            "the content type is `application/x-protobuf` or `application/json`".to_owned(),
        )),
    }
}

async fn store_otlp_spans(
    app: &App,
    address: SocketAddr,
    caller: Principal,
    encoding: Encoding,
    body: Body,
) -> Result<Vec<u8>, ApiError> {
    caller.needs(AccessScope::Ingest)?;
    let now = clock::current_time();
    let mut pass = AdmittedRequest::new(&app.admission, app.settings.ingest, &caller.sender(address), now)?;
    let body = pass.read(body).await?;
    let redacting = app.clone();
    let read = move || {
        pass.admit_decoding(estimate_decoded_bytes(&body, encoding))?;
        let spans = Spans::read(&body, encoding, &redacting.settings.redactor, now)?;
        Ok::<_, ApiError>((pass, spans))
    };
    // Decoding megabytes takes long, so it runs outside of the async threads.
    let (_pass, mut spans) = run_blocking(read).await.map_err(|_| ApiError::Broken)??;
    let pieces = std::mem::take(&mut spans.pieces);
    let receipt = app.store.put_pieces(caller.project, pieces, now).await?;
    for PieceName { trace, id } in &receipt.conflicts {
        spans.reject(format!("span `{id}` of trace `{trace}` is already stored with other content"));
    }
    app.metrics.pieces_refused(receipt.refused.len());
    for PieceName { trace, .. } in &receipt.refused {
        spans.reject(format!("trace `{trace}` already has {MAX_PIECES} spans; further spans are not stored"));
    }
    Ok(spans.answer(encoding))
}

fn status(encoding: Encoding, message: &str) -> Vec<u8> {
    match encoding {
        Encoding::Protobuf => RpcStatus { code: 0, message: message.to_owned() }.encode_to_vec(),
        Encoding::Json => serde_json::json!({ "message": message }).to_string().into_bytes(),
    }
}
