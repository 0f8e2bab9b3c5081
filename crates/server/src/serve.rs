//! The listening socket and the middleware of all requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http_body_util::Limited;
use jurist_engine::background::spawn_task;
use tokio::net::TcpListener;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::csrf::CsrfLayer;
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tracing::{Instrument, Span};

use crate::app::{Access, App};
use crate::connections::{BodyShare, SMALL_BODY, serve_connections};
use crate::error::{ApiError, add_problem_body, close_connection};
use crate::monitor::DecisionLoopSettings;
use crate::request_id::{RequestId, assign_request_id};
use crate::telemetry::REQUEST;
use crate::{api, assemble, housekeeping, monitor};

/// Time that everything in progress gets to finish after the server was asked to stop: requests, the assembly of
/// traces and the decisions of monitors.
const DRAIN: Duration = Duration::from_secs(30);

/// A server with a bound socket.
#[derive(Debug)]
pub struct BoundServer {
    listener: TcpListener,
    app: App,
    pub address: SocketAddr,
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum NotServed {
    #[error("cannot listen on {address}: {error}")]
    Address { address: SocketAddr, error: std::io::Error },
    #[error("{0} can be reached from other machines, so accounts are required: add `--auth`")]
    OpenToOthers(SocketAddr),
    #[error("{0} can be reached from other machines, so a token is required: set JURIST_MCP_TOKEN")]
    TokenRequired(SocketAddr),
}

/// Binds the address. A public address is refused unless the server has accounts.
pub async fn bind(app: App, address: SocketAddr) -> Result<BoundServer, NotServed> {
    if app.settings.access == Access::Open && !address.ip().is_loopback() {
        return Err(NotServed::OpenToOthers(address));
    }
    let bad = |error| NotServed::Address { address, error };
    let listener = TcpListener::bind(address).await.map_err(bad)?;
    let address = listener.local_addr().map_err(bad)?;
    Ok(BoundServer { listener, app, address })
}

impl BoundServer {
    /// Serves until the stop signal, then finishes what is in progress, within [`DRAIN`].
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) {
        let (stopping, mut stopped) = tokio::sync::watch::channel(false);
        let app = self.app.clone();
        let graceful = async move {
            stop.await;
            app.stopping.send_replace(true);
            let _ = stopping.send(true);
        };
        let assembling = spawn_task(assemble::run_assembly_loop(self.app.clone(), stopped.clone()));
        let settings = &self.app.settings;
        let settings = DecisionLoopSettings {
            max_waiting: settings.max_waiting,
            rates: settings.work.settings.rates.clone(),
            settle: settings.settle,
        };
        let (store, metrics) = (self.app.store.clone(), Arc::clone(&self.app.metrics));
        let considering = spawn_task(monitor::run_decision_loop(store, metrics, settings, stopped.clone()));
        spawn_task(housekeeping::run_housekeeping_loop(self.app.clone(), stopped.clone()));
        spawn_task(housekeeping::checkpoint(self.app.clone(), stopped.clone()));
        spawn_task(graceful);
        let metrics = Arc::clone(&self.app.metrics);
        let limits = self.app.settings.connections;
        let router = build_server_router(self.app);
        let connections = serve_connections(self.listener, router, limits, metrics, stopped.clone());
        // The loops have the stop signal too, and finish their current traces.
        let finished = async { tokio::join!(connections, assembling, considering) };
        tokio::select! {
            _ = finished => {}
            // A client that never finishes must not prevent the shutdown.
            () = async { let _ = stopped.wait_for(|stopped| *stopped).await; tokio::time::sleep(DRAIN).await } => {}
        };
    }
}

fn build_server_router(app: App) -> axum::Router {
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
    };
    let policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
                  form-action 'self'; frame-ancestors 'none'";
    api::build_api_router(app.clone())
        .route_layer(middleware::from_fn_with_state(app.clone(), measure_request))
        .layer(DefaultBodyLimit::disable())
        // After decompression, so that the decompressed size counts.
        .layer(middleware::from_fn_with_state(app.clone(), limit_body_size))
        .layer(middleware::from_fn_with_state(app.clone(), limit_request_time))
        .layer(RequestDecompressionLayer::new())
        .layer(middleware::map_response(close_connection))
        .layer(CsrfLayer::new())
        .layer(middleware::map_response(add_problem_body))
        .layer(middleware::from_fn_with_state(app, known_host))
        .layer(header(header::CONTENT_SECURITY_POLICY, policy))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::REFERRER_POLICY, "no-referrer"))
        .layer(header(header::CACHE_CONTROL, "no-store"))
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| ApiError::Broken.into_response()))
        .layer(middleware::from_fn(assign_request_id))
}

/// Counts a request under the pattern of its route.
async fn measure_request(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let (method, begun) = (request.method().to_string(), Instant::now());
    let span = request_span(&method, &route, request.headers());
    let response = next.run(request).instrument(span.clone()).await;
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    span.record("http.response.status_code", status);
    app.metrics.request(&method, &route, status, took);
    let request_id = RequestId::current().map(tracing::field::display);
    tracing::debug!(request_id, method, route, status, ms = took.as_millis(), "answered");
    response
}

/// The span of a request. Ingest and health requests are counted but get no span, because there are too many.
fn request_span(method: &str, route: &str, headers: &HeaderMap) -> Span {
    let is_frequent = matches!(route, "/health" | "/ready" | "/metrics" | "/v1/traces")
        || (method == "POST" && route.starts_with("/api/v1/traces"));
    if is_frequent {
        return Span::none();
    }
    let parent = headers.get("traceparent").and_then(|header| header.to_str().ok());
    tracing::info_span!(
        REQUEST,
        otel.name = format!("{method} {route}"),
        traceparent = parent,
        request_id = RequestId::current().map(tracing::field::display),
        http.request.method = method,
        http.route = route,
        http.response.status_code = tracing::field::Empty
    )
}

/// Limits the size of a body and of all bodies together, except in the bulk upload, which reads line by line. Everybody
/// can send a request to sign in, so that its body is small.
async fn limit_body_size(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if path == api::BULK {
        return next.run(request).await;
    }
    let is_open = api::SIGN_IN.contains(&path);
    let most = if is_open { SMALL_BODY.min(app.settings.max_body) } else { app.settings.max_body };
    let is_upload = api::UPLOADS.contains(&path);
    let share = BodyShare::new(&app.body_memory);
    let mut request = request.map(|body| {
        let body = if is_upload { body } else { share.count(body) };
        Body::new(Limited::new(body, most))
    });
    request.extensions_mut().insert(Arc::clone(&share));
    let response = next.run(request).await;
    // What was read is in memory until here.
    drop(share);
    response
}

/// Limits the time of a request, except in the bulk upload.
async fn limit_request_time(State(app): State<App>, request: Request, next: Next) -> Response {
    if request.uri().path() == api::BULK {
        return next.run(request).await;
    }
    match tokio::time::timeout(app.settings.connections.request_time, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::TooSlow.into_response(),
    }
}

/// A server without accounts accepts only its own host names, which prevents DNS rebinding by other sites.
async fn known_host(State(app): State<App>, request: Request, next: Next) -> Response {
    if 1 < request.headers().get_all(header::HOST).iter().count() {
        return ApiError::Bad("a request has one `Host` header".to_owned()).into_response();
    }
    let host =
        request.headers().get(header::HOST).and_then(|header| header.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    if app.settings.access == Access::Open && !matches!(name, "localhost" | "127.0.0.1" | "[::1]") {
        let why = "a server without --auth answers only requests to localhost";
        return ApiError::Forbidden(why.to_owned()).into_response();
    }
    next.run(request).await
}
