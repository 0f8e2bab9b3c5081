//! Spans of OpenTelemetry as the server takes them: every span is kept or counted, every piece can be read back, and
//! the trace is put together from them.

use std::collections::BTreeMap;

use jurist_core::grade::Time;
use jurist_core::redact::Redactor;
use jurist_server::{Encoding, Spans, build_trace_from_pieces, read_span_facts};
use jurist_store::pieces::{NewPiece, Piece};
use jurist_store::traces::{TraceHead, TraceState};
use jurist_store::{Probability, TraceId};
use serde_json::{Value as Json, json};

use crate::traces::check_trace;

/// Bytes that are kept for each byte of a request, and beside them what stands around each span.
const MAX_GROWTH: usize = 64;
const MAX_REPEATED_BYTES: usize = 64 << 20;

pub fn receive(encoding: Encoding, input: &[u8]) {
    let (redactor, now) = (Redactor::default(), Time::from_micros(1_790_000_000_000_000));
    let spans = match Spans::read(input, encoding, &redactor, now) {
        Ok(spans) => spans,
        Err(error) => return assert!(error.to_string().len() < 1000, "{error}"),
    };
    assert!(!spans.answer(encoding).is_empty() || (encoding == Encoding::Protobuf && spans.n_rejected == 0));
    let n_bytes: usize = spans.pieces.iter().map(|piece| piece.body.len()).sum();
    assert!(
        n_bytes <= MAX_REPEATED_BYTES + MAX_GROWTH * input.len(),
        "{} bytes become {n_bytes}",
        input.len()
    );
    let mut traces: BTreeMap<String, Vec<Piece>> = BTreeMap::new();
    for piece in spans.pieces {
        let body: Json = serde_json::from_slice(&piece.body).expect("a piece is JSON");
        assert!(read_span_facts(&body).is_some_and(|facts| facts.id == piece.id), "{body}");
        traces.entry(piece.trace.as_str().to_owned()).or_default().push(stored(piece, now));
    }
    for (id, pieces) in traces {
        let head = TraceHead { n_pieces: pieces.len() as u64, ..head_of(&id, now) };
        let finished = build_trace_from_pieces(&head, &pieces, 0, None);
        assert!(finished.metadata.get("unreadable").is_none(), "{}", finished.metadata);
        assert_eq!(finished.metadata["n_spans"], json!(pieces.len()));
        assert!(finished.duration.is_none_or(|micros| 0 <= micros), "{:?}", finished.duration);
        check_trace(&finished.trace, n_bytes);
    }
}

/// A piece as the database gives it back.
fn stored(piece: NewPiece, received: Time) -> Piece {
    Piece { id: piece.id, kind: piece.kind, time: piece.time, received, body: Some(piece.body) }
}

fn head_of(id: &str, now: Time) -> TraceHead {
    TraceHead {
        id: TraceId::new(id).expect("an id of a piece"),
        agent: None,
        session: None,
        title: None,
        state: TraceState::Open,
        has_end: true,
        status: None,
        is_failed: false,
        started: now,
        updated: now,
        finished: None,
        n_pieces: 0,
        n_late: 0,
        revision: 0,
        n_steps: 0,
        has_content: false,
        cost: None,
        usage: Default::default(),
        duration: None,
        probability: Probability::CERTAIN,
        score: None,
        metadata: json!({}),
    }
}
