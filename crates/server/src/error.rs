//! Errors as responses (RFC 9457). This is the only place with status codes.

use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jurist_core::money::BadCap;
use jurist_core::run::BadRunId;
use jurist_store::{BadCursor, BadId, BadTraceId, StoreError};
use serde::Serialize;

use crate::request_id::RequestId;

/// Why a request failed. The sender reads the text, so it contains no data of other projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiError {
    /// The request is wrong; the text says how to correct it.
    Bad(String),
    /// The client is not authenticated.
    SignIn(String),
    /// The client is authenticated but lacks the permission.
    Forbidden(String),
    Unknown(String),
    /// An object of this name or id exists already.
    Conflict(String),
    /// The stored version is not the one that the request wants to change.
    Changed(String),
    /// The request is well-formed but its content is invalid.
    Senseless(String),
    TooLarge(String),
    NotUnderstood(String),
    /// The server is overloaded; nothing was stored, and the request may be sent again.
    Busy {
        seconds: u64,
        why: String,
    },
    /// Another problem with further fields in its body.
    With {
        problem: Box<ApiError>,
        more: serde_json::Value,
    },
    /// The body did not arrive in time.
    BodyTooSlow,
    /// The response took too long.
    TooSlow,
    /// The database is unavailable.
    Unavailable,
    Broken,
}

/// Other requests hold so much that a body has no room.
#[derive(Debug, thiserror::Error)]
#[error("too many large bodies at once")]
pub struct BodyMemoryFull;

/// The body of every answer that is an error.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Problem {
    /// Kind of problem.
    pub title: String,
    /// HTTP status code.
    pub status: u16,
    /// What is wrong and how to fix it.
    pub detail: String,
    /// Id of the request, also in the header `X-Request-Id` and in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The parts of a problem that do not depend on the request.
struct ProblemParts {
    status: StatusCode,
    title: &'static str,
    detail: String,
}

impl Problem {
    /// A problem of the request that this task answers.
    fn of_current_request(status: StatusCode, title: &str, detail: &str) -> Self {
        let request_id = RequestId::current().map(|id| id.to_string());
        Self { title: title.to_owned(), status: status.as_u16(), detail: detail.to_owned(), request_id }
    }
}

impl ApiError {
    #[expect(clippy::needless_pass_by_value, reason = "errors and words alike, as they come")]
    pub fn bad(why: impl ToString) -> Self {
        Self::Bad(why.to_string())
    }

    /// The error for a body that could not be read to its end.
    pub fn unread(error: &axum::Error) -> Self {
        let mut cause: Option<&dyn std::error::Error> = Some(error);
        while let Some(it) = cause {
            if it.is::<http_body_util::LengthLimitError>() {
                return Self::TooLarge(
                    "the body exceeds the size limit of this server after decompression".to_owned(),
                );
            }
            if it.is::<BodyMemoryFull>() {
                return BodyMemoryFull.into();
            }
            let io = it.downcast_ref::<std::io::Error>();
            if io.is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut) {
                return Self::BodyTooSlow;
            }
            cause = it.source();
        }
        Self::Bad(format!("the body cannot be read: {error}"))
    }

    /// The same status with another body, for protocols with their own error format.
    pub fn with_body(self, kind: &'static str, body: impl FnOnce(&str) -> Vec<u8>) -> Response {
        let detail = self.clone().parts().detail;
        let mut response = self.into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        *response.body_mut() = body(&detail).into();
        response
    }

    fn parts(self) -> ProblemParts {
        let (status, title, detail) = match self {
            Self::Bad(why) => (StatusCode::BAD_REQUEST, "Bad request", why),
            Self::SignIn(why) => (StatusCode::UNAUTHORIZED, "Sign in first", why),
            Self::Forbidden(why) => (StatusCode::FORBIDDEN, "Not allowed", why),
            Self::Unknown(why) => (StatusCode::NOT_FOUND, "Not found", why),
            Self::Conflict(why) => (StatusCode::CONFLICT, "Conflict", why),
            Self::Changed(why) => (StatusCode::PRECONDITION_FAILED, "Changed in the meantime", why),
            Self::Senseless(why) => (StatusCode::UNPROCESSABLE_ENTITY, "Invalid input", why),
            Self::TooLarge(why) => (StatusCode::PAYLOAD_TOO_LARGE, "Too large", why),
            Self::NotUnderstood(why) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not understood", why),
            Self::Busy { why, .. } => (StatusCode::TOO_MANY_REQUESTS, "Busy", why),
            Self::With { problem, .. } => return problem.parts(),
            Self::BodyTooSlow => (
                StatusCode::REQUEST_TIMEOUT,
                "Too slow",
                "the body did not arrive in time; send it again".to_owned(),
            ),
            Self::TooSlow => (
                StatusCode::GATEWAY_TIMEOUT,
                "Took too long",
                "the response took too long; request less data at a time".to_owned(),
            ),
            Self::Unavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Unavailable",
                "the database does not respond; try again in a moment".to_owned(),
            ),
            Self::Broken => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "Internal server error",
                "the server's log has the details under the id of this request".to_owned(),
            ),
        };
        ProblemParts { status, title, detail }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let retry = match &self {
            Self::Busy { seconds, .. } => Some(*seconds),
            Self::Unavailable => Some(5),
            _ => None,
        };
        let more = if let Self::With { more, .. } = &self { Some(more.clone()) } else { None };
        let ProblemParts { status, title, detail } = self.parts();
        let problem = Problem::of_current_request(status, title, &detail);
        let mut body = serde_json::to_value(&problem).expect("a problem is plain data");
        for (key, value) in more.iter().filter_map(serde_json::Value::as_object).flatten() {
            body[key] = value.clone();
        }
        let body = body.to_string();
        let kind = HeaderValue::from_static("application/problem+json");
        let mut response = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
        if let Some(seconds) = retry {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// A 304 response: the client's version is current.
pub fn not_modified(tag: HeaderValue) -> Response {
    (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response()
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unknown { .. } => Self::Unknown(error.to_string()),
            StoreError::Taken { .. } | StoreError::LastOwner => Self::Conflict(error.to_string()),
            StoreError::Changed { .. } => Self::Changed(error.to_string()),
            StoreError::Unsupported(_) => Self::Bad(error.to_string()),
            // An operator may restore the file, and a request that is sent again then succeeds.
            StoreError::DamagedFile(_) => {
                tracing::error!(%error, "nothing is written");
                Self::Unavailable
            }
            error if error.is_transient() => {
                tracing::warn!(%error, "the database does not respond");
                Self::Unavailable
            }
            error => {
                tracing::error!(%error, "internal error");
                Self::Broken
            }
        }
    }
}

/// Adds a problem body to errors of middleware layers that have no body.
pub async fn add_problem_body(response: Response) -> Response {
    let status = response.status();
    let is_told = response.headers().contains_key(header::CONTENT_TYPE);
    if is_told || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let detail = match status {
        StatusCode::FORBIDDEN => "the request comes from another site",
        StatusCode::METHOD_NOT_ALLOWED => "this path does not support the method",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "the body must be uncompressed or `Content-Encoding: gzip`",
        _ => "no details",
    };
    let problem = Problem::of_current_request(status, status.canonical_reason().unwrap_or("Problem"), detail);
    let body = serde_json::to_vec(&problem).expect("a problem is plain data");
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let kind = HeaderValue::from_static("application/problem+json");
    parts.headers.insert(header::CONTENT_TYPE, kind);
    Response::from_parts(parts, body.into())
}

/// Closes the connection after a body that was not read to its end, because the rest would be taken for a request.
pub async fn close_connection(mut response: Response) -> Response {
    if matches!(response.status(), StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Errors whose text is the answer to a bad request.
macro_rules! bad_request {
    ($($error:ty),+) => {
        $(impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::bad(error)
            }
        })+
    };
}

pub(crate) use bad_request;

bad_request!(BadCap, BadCursor, PathRejection, QueryRejection);

/// Text in place of an id in a path names nothing, like the id of a deleted object.
macro_rules! not_found {
    ($($error:ty),+) => {
        $(impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::Unknown(error.to_string())
            }
        })+
    };
}

not_found!(BadId, BadRunId, BadTraceId);

impl From<BodyMemoryFull> for ApiError {
    fn from(_: BodyMemoryFull) -> Self {
        let why = "too many large requests at once; nothing of this one was stored".to_owned();
        Self::Busy { seconds: 1, why }
    }
}

impl From<BytesRejection> for ApiError {
    fn from(error: BytesRejection) -> Self {
        match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge(error.body_text()),
            _ => Self::unread(&axum::Error::new(error)),
        }
    }
}

/// What an error of the framework is about, without its own introduction.
fn describe_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

impl From<JsonRejection> for ApiError {
    fn from(error: JsonRejection) -> Self {
        match error {
            JsonRejection::MissingJsonContentType(error) => Self::NotUnderstood(error.body_text()),
            error if error.status() == StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge(error.body_text()),
            JsonRejection::BytesRejection(error) => error.into(),
            JsonRejection::JsonSyntaxError(error) => {
                Self::Bad(format!("the body is not valid JSON: {}", describe_cause(&error)))
            }
            JsonRejection::JsonDataError(error) => {
                Self::Bad(format!("the body is invalid: {}", describe_cause(&error)))
            }
            error => Self::Bad(error.body_text()),
        }
    }
}
