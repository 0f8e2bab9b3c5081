//! Clients that send half of something, over real sockets.

use std::net::SocketAddr;
use std::time::Duration;

use jurist_server::{ConnectionLimits, ServerSettings};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::model::Act;
use crate::place::{Place, served_on_sqlite, until};
use crate::runs::judge;

fn with_limits(limits: ConnectionLimits) -> ServerSettings {
    ServerSettings { connections: limits, ..ServerSettings::default() }
}

/// Limits that are never reached, so that each test sets those that it is about.
fn generous() -> ConnectionLimits {
    let long = Duration::from_secs(600);
    ConnectionLimits {
        head_time: long,
        body_gap: long,
        body_time: long,
        ..ConnectionLimits::for_open_files(1024)
    }
}

impl Place {
    fn socket_address(&self) -> SocketAddr {
        self.url.trim_start_matches("http://").parse().unwrap()
    }

    /// A connection from one of the addresses that this machine has for itself.
    async fn connect_from(&self, host: u8, text: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, host], 0))).unwrap();
        let mut stream = socket.connect(self.socket_address()).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// The first line of the answer to a whole request.
    async fn status_line(&self, host: u8, request: &str) -> String {
        let stream = self.connect_from(host, request).await;
        first_line(stream).await
    }
}

async fn first_line(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    // A server that refuses a connection may close it before all was read.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
const HALF_HEAD: &str = "GET /health HTTP/1.1\r\nhost: loc";
const HALF_BODY: &str = "POST /api/v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{";

#[test]
fn half_requests_of_one_address_leave_room_for_others() {
    let limits = ConnectionLimits { connections: 96, per_address: 32, ..generous() };
    served_on_sqlite(&with_limits(limits), |place| async move {
        let mut held = Vec::new();
        for n in 0..110 {
            held.push(place.connect_from(2, if n % 2 == 0 { HALF_HEAD } else { HALF_BODY }).await);
        }
        assert_eq!(place.status_line(3, HEALTH).await, "HTTP/1.1 200 OK");
        let refused = held.pop().unwrap();
        assert_eq!(first_line(refused).await, "HTTP/1.1 503 Service Unavailable");
        let metrics = place.fetch("/metrics").await.text;
        assert!(metrics.contains("jurist_refused_connections_total{limit=\"address\"} 78"), "{metrics}");
        drop(held);
        until(async || place.status_line(2, HEALTH).await == "HTTP/1.1 200 OK").await;
    });
}

#[test]
fn there_are_fewer_connections_than_files() {
    for (files, connections) in [(256, 128), (1024, 768), (65_536, 10_000)] {
        assert_eq!(ConnectionLimits::for_open_files(files).connections, connections);
    }
    let limits = ConnectionLimits { connections: 20, per_address: 20, ..generous() };
    served_on_sqlite(&with_limits(limits), |place| async move {
        let mut held = Vec::new();
        for _ in 0..20 {
            held.push(place.connect_from(2, HALF_HEAD).await);
        }
        until(async || place.status_line(3, HEALTH).await == "HTTP/1.1 503 Service Unavailable").await;
        held.pop();
        until(async || place.status_line(3, HEALTH).await == "HTTP/1.1 200 OK").await;
    });
}

#[test]
fn whoever_does_not_finish_is_not_waited_for() {
    let limits = ConnectionLimits {
        head_time: Duration::from_millis(300),
        body_gap: Duration::from_millis(300),
        ..generous()
    };
    served_on_sqlite(&with_limits(limits), |place| async move {
        assert_eq!(place.status_line(2, HALF_HEAD).await, "", "closed without an answer");
        assert_eq!(place.status_line(2, "").await, "", "closed without an answer");
        assert_eq!(place.status_line(2, HALF_BODY).await, "HTTP/1.1 408 Request Timeout");
        let bulk = HALF_BODY.replace("/api/v1/traces", "/api/v1/traces/bulk");
        let line = place.status_line(2, &bulk).await;
        assert!(line.starts_with("HTTP/1.1 4"), "{line}");
        // A connection on which nothing is asked is closed, and one that asks is not.
        let idle = HEALTH.replace("connection: close\r\n", "");
        assert_eq!(place.status_line(2, &idle).await, "HTTP/1.1 200 OK");
    });
}

#[test]
fn a_body_of_a_byte_now_and_then_ends() {
    let limits = ConnectionLimits { body_time: Duration::from_millis(500), ..generous() };
    served_on_sqlite(&with_limits(limits), |place| async move {
        let mut stream = place.connect_from(2, HALF_BODY).await;
        let dripping = async {
            let mut tick = tokio::time::interval(Duration::from_millis(50));
            let (mut read, mut write) = stream.split();
            let mut answer = [0; 24];
            loop {
                tokio::select! {
                    _ = tick.tick() => drop(write.write_all(b" ").await),
                    read = read.read_exact(&mut answer) => {
                        read.unwrap();
                        return String::from_utf8_lossy(&answer).into_owned();
                    }
                }
            }
        };
        assert_eq!(dripping.await, "HTTP/1.1 408 Request Tim");
    });
}

#[test]
fn a_request_that_takes_too_long_is_given_up() {
    let judge = judge(|_| Act::Wait(Duration::from_secs(60), Box::new(Act::Fit)));
    let limits = ConnectionLimits { request_time: Duration::from_millis(300), ..generous() };
    let settings = ServerSettings { connections: limits, ..judge.settings() };
    served_on_sqlite(&settings, |place| async move {
        let body = json!({ "judge": "openai/gpt-5-mini" });
        let answer = place.ask(Method::POST, "/api/v1/judges/ping", &[], body).await;
        assert_eq!(answer.status, StatusCode::GATEWAY_TIMEOUT, "{}", answer.text);
    });
}

#[test]
fn two_host_headers_are_refused() {
    served_on_sqlite(&ServerSettings::default(), |place| async move {
        let request = HEALTH.replace("host: localhost\r\n", "host: localhost\r\nhost: elsewhere\r\n");
        assert_eq!(place.status_line(2, &request).await, "HTTP/1.1 400 Bad Request");
    });
}

/// A request for `path` that ends `n_missing` bytes before its body does.
fn unfinished(path: &str, n_bytes: usize, n_missing: usize) -> String {
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    let kind = format!("content-type: application/json\r\ncontent-length: {n_bytes}\r\n\r\n");
    head + &kind + &" ".repeat(n_bytes - n_missing)
}

#[test]
fn large_bodies_have_a_limit_together_and_small_ones_always_fit() {
    const LARGE: usize = 128 << 10;
    const SMALL: usize = 32 << 10;
    let path = "/api/v1/rubrics/check";
    let settings = ServerSettings { max_body: LARGE, ..with_limits(generous()) };
    served_on_sqlite(&settings, |place| async move {
        assert_eq!(place.status_line(3, &unfinished(path, LARGE, 0)).await, "HTTP/1.1 400 Bad Request");
        let mut held = Vec::new();
        // Half of each counts, and all that count may have eight times the largest body.
        for _ in 0..24 {
            held.push(place.connect_from(2, &unfinished(path, LARGE, 1)).await);
        }
        let full = "HTTP/1.1 429 Too Many Requests";
        until(async || place.status_line(3, &unfinished(path, LARGE, 0)).await == full).await;
        assert_eq!(place.status_line(3, &unfinished(path, SMALL, 0)).await, "HTTP/1.1 400 Bad Request");
        drop(held);
        until(async || place.status_line(3, &unfinished(path, LARGE, 0)).await != full).await;
    });
}

#[test]
fn who_has_not_signed_in_sends_small_bodies_only() {
    served_on_sqlite(&with_limits(generous()), |place| async move {
        for path in ["/api/v1/session", "/api/v1/join", "/api/v1/join/task"] {
            let line = place.status_line(2, &unfinished(path, 96 << 10, 0)).await;
            assert_eq!(line, "HTTP/1.1 413 Payload Too Large", "{path}");
        }
    });
}
