//! Pieces that are to be stored, and batches of them that wait for a commit.

use jurist_core::grade::Time;
use tokio::sync::{Mutex, oneshot};

use crate::{ProjectId, StoreError, TraceId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPiece {
    pub trace: TraceId,
    /// Id of the piece within its trace: a span id, or the sender's event id.
    pub id: String,
    pub kind: PieceKind,
    /// When it happened.
    pub time: Time,
    /// The received bytes; the code that assembles traces parses them.
    pub body: Vec<u8>,
    /// The agent, if the piece names one.
    pub agent: Option<String>,
    pub session: Option<String>,
}

impl NewPiece {
    pub(crate) fn name(&self) -> PieceName {
        PieceName { trace: self.trace.clone(), id: self.id.clone() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    Start,
    Event,
    Span,
    /// The root span. Instrumentation sends a span when it ends, and the root span ends last, so its arrival means that
    /// the trace has ended.
    RootSpan,
    Finish,
}

/// Most pieces of one trace. Assembling a trace takes about 10 kB of memory per piece, so 500 MB at this limit.
pub const MAX_PIECES: usize = 50_000;

/// Identifies a piece within a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceName {
    pub trace: TraceId,
    pub id: String,
}

/// Result of storing pieces. All pieces are on disk, except conflicts and refused ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receipt {
    pub n_new: usize,
    /// Pieces that were stored before with the same content.
    pub n_repeated: usize,
    /// Pieces that were stored before with other content; the stored content stays.
    pub conflicts: Vec<PieceName>,
    /// Finished traces that these pieces have reopened.
    pub reopened: Vec<TraceId>,
    /// Pieces beyond [`MAX_PIECES`] of their trace; they are not stored.
    pub refused: Vec<PieceName>,
}

/// Batches that wait while another one is being written; the next commit writes all of them.
#[derive(Debug, Default)]
pub(crate) struct Ingest {
    pub waiting: std::sync::Mutex<Vec<Waiting>>,
    pub turn: Mutex<()>,
}

#[derive(Debug)]
pub(crate) struct Waiting {
    pub project: ProjectId,
    pub pieces: Vec<NewPiece>,
    pub now: Time,
    pub done: oneshot::Sender<Result<Receipt, StoreError>>,
}
