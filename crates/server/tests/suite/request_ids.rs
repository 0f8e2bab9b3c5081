//! Request ids: in the response, in the body of an error and in the log.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use jurist_server::ServerSettings;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};
use tracing_subscriber::layer::SubscriberExt;

use crate::place::{Answer, served, with_accounts};

fn id_of(answer: &Answer) -> String {
    answer.headers["x-request-id"].to_str().unwrap().to_owned()
}

#[test]
fn every_response_has_an_id_and_errors_repeat_it() {
    served(&ServerSettings::default(), |place| async move {
        let (one, other) = (place.fetch("/health").await, place.fetch("/health").await);
        assert_ne!(id_of(&one), id_of(&other));
        assert!(id_of(&one).len() == 16 && id_of(&one).bytes().all(|byte| byte.is_ascii_hexdigit()));
        // A handler, the router, the check of the host and the check of the origin refuse these.
        let unknown = place.fetch("/api/v1/traces/never-was").await;
        let no_route = place.fetch("/api/v1/nothing").await;
        let foreign = place.ask(Method::GET, "/health", &[("host", "example.org")], Json::Null).await;
        let origin = [("origin", "http://example.org"), ("sec-fetch-site", "cross-site")];
        let forged = place.ask(Method::POST, "/api/v1/traces", &origin, json!({})).await;
        for (answer, status) in [
            (unknown, StatusCode::NOT_FOUND),
            (no_route, StatusCode::NOT_FOUND),
            (foreign, StatusCode::FORBIDDEN),
            (forged, StatusCode::FORBIDDEN),
        ] {
            assert_eq!(answer.status, status, "{}", answer.text);
            assert_eq!(answer.json()["request_id"], id_of(&answer), "{}", answer.text);
        }
    });
}

#[test]
fn a_well_formed_id_of_the_client_is_used_and_any_other_is_replaced() {
    served(&with_accounts(), |place| async move {
        let own = [("x-request-id", "edge-7.01890a5d")];
        let answer = place.ask(Method::GET, "/api/v1/traces", &own, Json::Null).await;
        assert_eq!((answer.status, id_of(&answer).as_str()), (StatusCode::UNAUTHORIZED, "edge-7.01890a5d"));
        assert_eq!(answer.json()["request_id"], "edge-7.01890a5d");
        for id in ["", "two words", "<b>", &"x".repeat(65)] {
            let answer = place.ask(Method::GET, "/health", &[("x-request-id", id)], Json::Null).await;
            assert_ne!(id_of(&answer), id);
            assert_eq!(id_of(&answer).len(), 16);
        }
    });
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Writes to [`LOG`].
struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_server_error_is_in_the_log_under_its_id() {
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| LogWriter);
    // Requests are answered by several threads, so the subscriber is one of the process.
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
    served(&ServerSettings::default(), |place| async move {
        place.scene.execute("ALTER TABLE runs RENAME TO elsewhere").await.unwrap();
        let answer = place.fetch("/api/v1/runs").await;
        assert!(answer.status.is_server_error(), "{} {}", answer.status, answer.text);
        assert_eq!(answer.json()["request_id"], id_of(&answer));
        let log = String::from_utf8(LOG.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap();
        let is_about = |line: &&str| line.contains(&id_of(&answer)) && line.contains("a request failed");
        let line = log.lines().find(is_about).unwrap_or_else(|| panic!("{log}"));
        let status = format!("status={}", answer.status.as_u16());
        for part in ["WARN", "GET", "/api/v1/runs", &status, "a request failed"] {
            assert!(line.contains(part), "{line}");
        }
    });
}
