//! Pieces of traces: starts, events, spans and ends, which arrive in any order and perhaps twice.
//!
//! A piece is acknowledged after it is on disk. A piece that arrives after its trace was finished reopens the trace.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::grade::Time;
use tokio::sync::oneshot;

pub use crate::piece_batches::{MAX_PIECES, NewPiece, PieceKind, PieceName, Receipt};

use crate::db::{Arg, Bulk, Db, DbRow, Tx, args, statements};
use crate::filter::SelectQuery;
use crate::pack::{hash, pack};
use crate::piece_batches::Waiting;
use crate::{ProjectId, Store, StoreError, TraceId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub id: String,
    pub kind: PieceKind,
    pub time: Time,
    pub received: Time,
    /// `None` after retention has deleted it.
    pub body: Option<Vec<u8>>,
}

/// Most bytes of uncompressed pieces from which one trace is assembled.
pub const MAX_ASSEMBLY_BYTES: usize = 64 << 20;

/// The pieces of a trace, up to the limits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AssemblyPieces {
    pub pieces: Vec<Piece>,
    /// Number of pieces beyond the limits.
    pub n_left_out: usize,
}

statements! {
    ALL = "SELECT id, kind, time, received, body FROM pieces WHERE project = $1 AND trace = $2 ORDER BY time, id";
    SIZES = "SELECT CAST(LENGTH(body) AS BIGINT) AS size FROM pieces WHERE project = $1 AND trace = $2 ORDER BY time, id LIMIT $3";
    FIRST = "SELECT id, kind, time, received, body FROM pieces WHERE project = $1 AND trace = $2
        ORDER BY time, id LIMIT $3";
    ROOT = "SELECT id FROM pieces WHERE project = $1 AND trace = $2 AND kind = 'root_span' ORDER BY time, id LIMIT 1";
    // The ids stay, so that a repeated piece is still recognised.
    DROP_BODIES = "UPDATE pieces SET body = NULL WHERE body IS NOT NULL AND project = $1 AND trace IN
        (SELECT id FROM traces WHERE project = $1 AND state IN ('finished', 'erased') AND updated < $2)";
}

pub(crate) const ADD: Bulk = Bulk {
    into: "pieces (project, trace, id, kind, time, received, hash, body)",
    types: "ttttiitb",
    tail: "ON CONFLICT DO NOTHING RETURNING trace, id",
};

pub(crate) const TOUCH: Bulk = Bulk {
    into: "traces (project, id, agent, session, state, has_end, is_failed, started, updated, n_pieces, n_late, \
           revision, n_steps, tokens_in, tokens_cached, tokens_out, probability, metadata)",
    types: "tttttiiiiiiiiiiirt",
    tail: "ON CONFLICT (project, id) DO UPDATE SET
        agent = COALESCE(traces.agent, excluded.agent),
        session = COALESCE(traces.session, excluded.session),
        state = CASE WHEN traces.state = 'open' THEN 'open' ELSE 'reopened' END,
        has_end = CASE WHEN traces.has_end < excluded.has_end THEN excluded.has_end ELSE traces.has_end END,
        started = CASE WHEN excluded.started < traces.started THEN excluded.started ELSE traces.started END,
        updated = CASE WHEN traces.updated < excluded.updated THEN excluded.updated ELSE traces.updated END,
        n_pieces = traces.n_pieces + excluded.n_pieces,
        n_late = traces.n_late + CASE WHEN 0 < traces.revision THEN excluded.n_pieces ELSE 0 END
        RETURNING id, state",
};

const COUNTS: &str = "SELECT id, n_pieces FROM traces WHERE project = $1";
const THERE: &str = "SELECT id, kind, hash FROM pieces WHERE project = $1 AND trace = $2";

impl Store {
    /// Stores pieces. When this returns, they are on disk; storing them again changes nothing.
    ///
    /// With SQLite, concurrent calls share one commit.
    pub async fn put_pieces(
        &self,
        project: ProjectId,
        pieces: Vec<NewPiece>,
        now: Time,
    ) -> Result<Receipt, StoreError> {
        if pieces.is_empty() {
            return Ok(Receipt::default());
        }
        if self.db.is_pg() {
            return put_alone(&self.db, project, &pieces, now).await;
        }
        let (done, answer) = oneshot::channel();
        let waiting = Waiting { project, pieces, now, done };
        self.ingest.waiting.lock().expect("nothing panics while it is held").push(waiting);
        // In a separate task, because a caller that is cancelled must not cancel the others in the same commit.
        let (db, ingest) = (self.db.clone(), self.ingest.clone());
        tokio::spawn(async move {
            let _turn = ingest.turn.lock().await;
            let batch = std::mem::take(&mut *ingest.waiting.lock().expect("nothing panics while it is held"));
            write_together(&db, batch).await;
        });
        answer.await.unwrap_or(Err(StoreError::Failed(sqlx::Error::WorkerCrashed)))
    }

    /// All pieces of a trace, by the time they happened.
    pub async fn pieces(&self, project: ProjectId, trace: &TraceId) -> Result<Vec<Piece>, StoreError> {
        self.db.fetch(ALL, args![project, trace]).await?.iter().map(read_piece_row).collect()
    }

    /// The first pieces of a trace in order of time, up to the limits of assembly.
    pub async fn pieces_to_assemble(
        &self,
        project: ProjectId,
        trace: &TraceId,
        n_pieces: usize,
    ) -> Result<AssemblyPieces, StoreError> {
        let sizes = self.db.fetch(SIZES, args![project, trace, MAX_PIECES]).await?;
        let (mut n_bytes, mut n_fitting) = (0, 0_usize);
        for row in &sizes {
            n_bytes += usize::try_from(row.get::<Option<i64>>("size")?.unwrap_or(0)).unwrap_or(0);
            if MAX_ASSEMBLY_BYTES < n_bytes {
                break;
            }
            n_fitting += 1;
        }
        let rows = self.db.fetch(FIRST, args![project, trace, n_fitting]).await?;
        // The compressed sizes are within the limit, but a small piece can be large when uncompressed.
        let (mut pieces, mut n_bytes) = (Vec::with_capacity(rows.len()), 0);
        for row in &rows {
            let piece = read_piece_row(row)?;
            n_bytes += piece.body.as_ref().map_or(0, Vec::len);
            if MAX_ASSEMBLY_BYTES < n_bytes {
                break;
            }
            pieces.push(piece);
        }
        let n_pieces = if sizes.len() < MAX_PIECES { sizes.len() } else { n_pieces.max(sizes.len()) };
        let n_left_out = n_pieces - pieces.len();
        Ok(AssemblyPieces { pieces, n_left_out })
    }

    /// The span at the top of a trace that came as spans.
    pub async fn root_span(&self, project: ProjectId, trace: &TraceId) -> Result<Option<String>, StoreError> {
        self.db.optional(ROOT, args![project, trace]).await?.map(|row| row.get("id")).transpose()
    }

    /// Deletes the bodies of pieces whose traces were finished and have not changed since.
    pub async fn drop_piece_bodies(&self, project: ProjectId, before: Time) -> Result<u64, StoreError> {
        self.db.execute(DROP_BODIES, args![project, before]).await
    }
}

async fn write_together(db: &Db, batch: Vec<Waiting>) {
    if batch.is_empty() {
        return;
    }
    match commit_piece_batch(db, &batch).await {
        Ok(receipts) => {
            for (waiting, receipt) in batch.into_iter().zip(receipts) {
                // The send fails if the caller was cancelled; its pieces are stored nevertheless.
                let _ = waiting.done.send(Ok(receipt));
            }
        }
        // One batch may be the cause, so each is tried alone.
        Err(_) => {
            for waiting in batch {
                let put = put_alone(db, waiting.project, &waiting.pieces, waiting.now).await;
                let _ = waiting.done.send(put);
            }
        }
    }
}

async fn commit_piece_batch(db: &Db, batch: &[Waiting]) -> Result<Vec<Receipt>, StoreError> {
    let mut tx = db.begin().await?;
    let mut receipts = Vec::new();
    for waiting in batch {
        receipts.push(insert_pieces(&mut tx, waiting.project, &waiting.pieces, waiting.now).await?);
    }
    tx.commit().await?;
    Ok(receipts)
}

async fn put_alone(
    db: &Db,
    project: ProjectId,
    pieces: &[NewPiece],
    now: Time,
) -> Result<Receipt, StoreError> {
    let mut tx = db.begin().await?;
    let receipt = insert_pieces(&mut tx, project, pieces, now).await?;
    tx.commit().await?;
    Ok(receipt)
}

async fn insert_pieces(
    tx: &mut Tx,
    project: ProjectId,
    pieces: &[NewPiece],
    now: Time,
) -> Result<Receipt, StoreError> {
    let mut receipt = Receipt::default();
    // Sorted, so that two transactions with the same pieces lock rows in the same order and do not deadlock.
    let mut distinct: DistinctPieces<'_> = BTreeMap::new();
    for piece in pieces {
        let (key, hash) = ((&piece.trace, piece.id.as_str()), hash(&piece.body));
        match distinct.get(&key) {
            None => drop(distinct.insert(key, HashedPiece { piece, hash })),
            Some(first) if first.hash == hash => receipt.n_repeated += 1,
            Some(_) => receipt.conflicts.push(piece.name()),
        }
    }
    receipt.refused = refuse_beyond_limit(tx, project, &mut distinct).await?;
    let row = |HashedPiece { piece, hash }: &HashedPiece<'_>| {
        let body = pack(&piece.body);
        args![project, &piece.trace, &piece.id, piece.kind.as_str(), piece.time, now, hash, body]
    };
    let mut new = BTreeSet::new();
    for row in tx.insert(ADD, distinct.values().map(row).collect()).await? {
        new.insert((row.parse::<TraceId>("trace")?, row.get::<String>("id")?));
    }
    receipt.n_new = new.len();
    let is_new = |piece: &NewPiece| new.contains(&(piece.trace.clone(), piece.id.clone()));
    let old: Vec<&HashedPiece<'_>> = distinct.values().filter(|hashed| !is_new(hashed.piece)).collect();
    for of_trace in old.chunk_by(|a, b| a.piece.trace == b.piece.trace) {
        for some in of_trace.chunks(500) {
            let there = find_known_pieces(tx, project, some).await?;
            for HashedPiece { piece, hash } in some {
                match there.get(&piece.id) {
                    Some(known) if known.kind == piece.kind.as_str() && known.hash == *hash => {
                        receipt.n_repeated += 1;
                    }
                    _ => receipt.conflicts.push(piece.name()),
                }
            }
        }
    }
    let pieces = distinct.values().map(|hashed| hashed.piece).filter(|new_piece| is_new(new_piece));
    for row in tx.insert(TOUCH, build_trace_rows(project, pieces, now)).await? {
        if row.get::<String>("state")? == "reopened" {
            receipt.reopened.push(row.parse("id")?);
        }
    }
    Ok(receipt)
}

/// A piece and the hash of its body.
struct HashedPiece<'p> {
    piece: &'p NewPiece,
    hash: String,
}

/// What is stored of a piece, to recognise its repetition.
struct KnownPiece {
    kind: String,
    hash: String,
}

/// By trace and id.
type DistinctPieces<'p> = BTreeMap<(&'p TraceId, &'p str), HashedPiece<'p>>;

/// Removes pieces beyond a trace's limit. Repeats of stored pieces are still accepted.
async fn refuse_beyond_limit(
    tx: &mut Tx,
    project: ProjectId,
    distinct: &mut DistinctPieces<'_>,
) -> Result<Vec<PieceName>, StoreError> {
    let traces: BTreeSet<&TraceId> = distinct.keys().map(|(trace, _)| *trace).collect();
    let traces: Vec<&TraceId> = traces.into_iter().collect();
    let mut refused = Vec::new();
    for some in traces.chunks(500) {
        let ids = some.iter().map(|trace| Arg::from(*trace)).collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for row in SelectQuery::new(COUNTS, args![project]).and_in("id", ids).fetch_in(tx).await? {
            counts.insert(row.get("id")?, usize::try_from(row.get::<i64>("n_pieces")?).unwrap_or(usize::MAX));
        }
        for trace in some {
            let of_trace: Vec<&HashedPiece<'_>> = distinct
                .range((*trace, "")..)
                .take_while(|((of, _), _)| of == trace)
                .map(|(_, hashed)| hashed)
                .collect();
            let n_there = counts.get(trace.as_str()).copied().unwrap_or(0);
            if n_there + of_trace.len() <= MAX_PIECES {
                continue;
            }
            let mut known = BTreeSet::new();
            for part in of_trace.chunks(500) {
                known.extend(find_known_pieces(tx, project, part).await?.into_keys());
            }
            let new = of_trace.iter().map(|hashed| hashed.piece.id.clone()).filter(|id| !known.contains(id));
            refused.extend(
                new.skip(MAX_PIECES.saturating_sub(n_there))
                    .map(|id| PieceName { trace: (*trace).clone(), id }),
            );
        }
    }
    let is_refused: BTreeSet<(&TraceId, &str)> =
        refused.iter().map(|piece| (&piece.trace, piece.id.as_str())).collect();
    distinct.retain(|key, _| !is_refused.contains(key));
    Ok(refused)
}

/// Kinds and hashes of the stored pieces with these ids, all of one trace.
async fn find_known_pieces(
    tx: &mut Tx,
    project: ProjectId,
    some: &[&HashedPiece<'_>],
) -> Result<BTreeMap<String, KnownPiece>, StoreError> {
    let Some(first) = some.first() else { return Ok(BTreeMap::new()) };
    let ids = some.iter().map(|hashed| Arg::from(&hashed.piece.id)).collect();
    let rows =
        SelectQuery::new(THERE, args![project, &first.piece.trace]).and_in("id", ids).fetch_in(tx).await?;
    let read =
        |row: &DbRow| Ok((row.get("id")?, KnownPiece { kind: row.get("kind")?, hash: row.get("hash")? }));
    rows.iter().map(read).collect()
}

/// A row for each trace of the pieces, whether the trace is new or not.
fn build_trace_rows<'a>(
    project: ProjectId,
    pieces: impl Iterator<Item = &'a NewPiece>,
    now: Time,
) -> Vec<Vec<Arg>> {
    let mut traces: BTreeMap<&TraceId, Vec<&NewPiece>> = BTreeMap::new();
    for piece in pieces {
        traces.entry(&piece.trace).or_default().push(piece);
    }
    let row = |(trace, pieces): (&TraceId, Vec<&NewPiece>)| {
        let agent = pieces.iter().find_map(|piece| piece.agent.clone());
        let session = pieces.iter().find_map(|piece| piece.session.clone());
        let has_end = pieces.iter().any(|piece| piece.kind.ends());
        let started = pieces.iter().map(|piece| piece.time).min().unwrap_or(now);
        let n = pieces.len();
        let (none, whole, metadata) = (0_i64, 1.0, "{}");
        args![
            project, trace, agent, session, "open", has_end, false, started, now, n, none, none, none, none,
            none, none, whole, metadata
        ]
    };
    traces.into_iter().map(row).collect()
}

impl PieceKind {
    const ALL: [Self; 5] = [Self::Start, Self::Event, Self::Span, Self::RootSpan, Self::Finish];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Event => "event",
            Self::Span => "span",
            Self::RootSpan => "root_span",
            Self::Finish => "finish",
        }
    }

    /// Whether a piece of this kind means that the trace has ended.
    pub fn ends(self) -> bool {
        matches!(self, Self::RootSpan | Self::Finish)
    }
}

impl std::str::FromStr for PieceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|piece_kind| piece_kind.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a kind of piece"))
    }
}

fn read_piece_row(row: &DbRow) -> Result<Piece, StoreError> {
    let body: Option<Vec<u8>> = row.get("body")?;
    let id: String = row.get("id")?;
    let body = body.map(|body| crate::pack::unpack(&body)).transpose();
    let body = body.map_err(|why| StoreError::damaged_row("piece", &id, &why))?;
    Ok(Piece { id, kind: row.parse("kind")?, time: row.time("time")?, received: row.time("received")?, body })
}
