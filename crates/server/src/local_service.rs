//! A service of another protocol on a separate address: reachable from this machine, or with a token.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower::Service;
use tower_http::catch_panic::CatchPanicLayer;

use crate::connections::{ConnectionLimits, serve_connections};
use crate::error::ApiError;
use crate::metrics::Metrics;
use crate::serve::NotServed;

/// Time that answers in progress get after the stop signal.
const STOP_TIME: Duration = Duration::from_secs(2);

/// The one secret that opens a service.
#[derive(Clone)]
pub struct ServiceToken(blake3::Hash);

impl ServiceToken {
    pub fn new(secret: &str) -> Self {
        Self(blake3::hash(secret.as_bytes()))
    }

    /// Whether the request has it. Hashes are compared, in constant time.
    fn opens(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get(header::AUTHORIZATION).and_then(|header| header.to_str().ok());
        let sent = sent.and_then(|text| text.strip_prefix("Bearer "));
        sent.is_some_and(|secret| blake3::hash(secret.trim().as_bytes()) == self.0)
    }
}

impl std::fmt::Debug for ServiceToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServiceToken(…)")
    }
}

/// An address that a service is about to answer on.
#[derive(Debug)]
pub struct BoundService {
    listener: TcpListener,
    token: Option<ServiceToken>,
    pub address: SocketAddr,
}

impl BoundService {
    /// Binds the address. One that other machines can reach is refused without a token.
    pub async fn bind(address: SocketAddr, token: Option<ServiceToken>) -> Result<Self, NotServed> {
        if token.is_none() && !address.ip().is_loopback() {
            return Err(NotServed::TokenRequired(address));
        }
        let bad = |error| NotServed::Address { address, error };
        let listener = TcpListener::bind(address).await.map_err(bad)?;
        let address = listener.local_addr().map_err(bad)?;
        Ok(Self { listener, token, address })
    }

    /// Answers requests to `path` by the service until the stop signal.
    ///
    /// The service itself checks `Host` and `Origin`.
    pub async fn serve<S>(self, path: &str, service: S, mut stopped: watch::Receiver<bool>)
    where
        S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send + 'static,
    {
        let unknown = || async { ApiError::Unknown("no endpoint at this address".to_owned()) };
        let router = Router::new()
            .route_service(path, service)
            .fallback(unknown)
            .layer(middleware::from_fn_with_state(self.token, require_service_token))
            .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
                ApiError::Broken.into_response()
            }));
        let (limits, metrics) = (ConnectionLimits::default(), Arc::new(Metrics::default()));
        tokio::select! {
            () = serve_connections(self.listener, router, limits, metrics, stopped.clone()) => {}
            // Streams of events end only when their clients do.
            () = async { let _ = stopped.wait_for(|stopped| *stopped).await; tokio::time::sleep(STOP_TIME).await } => {}
        }
    }
}

async fn require_service_token(
    State(token): State<Option<ServiceToken>>,
    request: Request,
    next: Next,
) -> Response {
    if token.is_some_and(|token| !token.opens(request.headers())) {
        let why = "send the header `Authorization: Bearer TOKEN` with the token of this server";
        return ApiError::SignIn(why.to_owned()).into_response();
    }
    next.run(request).await
}
