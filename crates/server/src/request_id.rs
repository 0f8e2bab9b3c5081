//! Request ids: one id per request, in the response, in the body of an error and in the log.
//!
//! A user who reports an error sends the id, and the operator finds the request in the log by it.

use std::fmt;

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use jurist_store::random;

/// The header with the id, of requests and responses.
const HEADER: &str = "x-request-id";

/// Longest id that is taken from a client. An UUID has 36 characters; ids of proxies have up to 64.
const LONGEST: usize = 64;

tokio::task_local! {
    /// Errors become responses deep inside handlers, where the request is out of reach.
    static CURRENT: RequestId;
}

/// An id with 1 to 64 letters, digits and `-`, `_`, `.`: safe in a log line, a header and a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    fn generate() -> Self {
        Self(random::<8>().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The id that a client or proxy sent; `None` if it is not well-formed.
    fn parse(text: &str) -> Option<Self> {
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_id = (1..=LONGEST).contains(&text.len()) && text.bytes().all(is_safe);
        is_id.then(|| Self(text.to_owned()))
    }

    /// The id of the request that this task answers.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Gives each request an id. This is the outermost layer, so that responses to panics and timeouts have one too.
pub async fn assign_request_id(request: Request, next: Next) -> Response {
    let sent = request.headers().get(HEADER).and_then(|header| header.to_str().ok());
    let id = sent.and_then(RequestId::parse).unwrap_or_else(RequestId::generate);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = CURRENT.scope(id.clone(), next.run(request)).await;
    let status = response.status();
    if status.is_server_error() {
        tracing::warn!(request_id = %id, %method, path, status = status.as_u16(), "a request failed");
    }
    let header = HeaderValue::from_str(&id.0).expect("an id has only characters of a header");
    response.headers_mut().insert(HEADER, header);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_are_safe_in_a_log_line_are_taken() {
        for id in ["a", "req-7_b.C", "01890a5d-ac96-774b-bcce-b302099a8057", &"x".repeat(64)] {
            assert_eq!(RequestId::parse(id).unwrap().to_string(), id);
        }
        for id in ["", &"x".repeat(65), "two words", "line\nbreak", "\u{e9}", "<b>", "a=b"] {
            assert_eq!(RequestId::parse(id), None, "{id}");
        }
        let (one, other) = (RequestId::generate(), RequestId::generate());
        assert_eq!(RequestId::parse(&one.0), Some(one.clone()));
        assert_ne!(one, other);
    }
}
