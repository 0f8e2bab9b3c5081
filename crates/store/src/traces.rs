//! Traces: their metadata, and their assembled content, compressed.

use std::collections::BTreeSet;

use jurist_core::candidate::{Trace, Usage, task_of_trace};
use jurist_core::grade::{Time, Usd, VerdictStatus};
use serde_json::Value as Json;

use crate::db::{Arg, Db, DbRow, Tx, args, statements};
use crate::filter::{SelectQuery, contains_pattern};
use crate::pack::{hash, pack, unpack_json};
use crate::{Cursor, Probability, ProjectId, ResultPage, Store, StoreError, TraceId};

/// Metadata of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceHead {
    pub id: TraceId,
    pub agent: Option<String>,
    pub session: Option<String>,
    /// Beginning of the task.
    pub title: Option<String>,
    pub state: TraceState,
    /// Whether a piece that ends the trace has arrived.
    pub has_end: bool,
    /// Final status as the agent's framework reports it.
    pub status: Option<String>,
    pub is_failed: bool,
    pub started: Time,
    /// When the last piece was received.
    pub updated: Time,
    pub finished: Option<Time>,
    pub n_pieces: u64,
    /// Number of pieces that arrived after the trace was first finished.
    pub n_late: u64,
    /// Number of times that the assembled content changed; 0 before the first assembly.
    pub revision: u64,
    pub n_steps: u64,
    /// Whether the trace contains messages or actions that can be judged.
    pub has_content: bool,
    pub cost: Option<Usd>,
    pub usage: Usage,
    /// Microseconds.
    pub duration: Option<i64>,
    /// Sampling probability of the sender.
    pub probability: Probability,
    /// Score of the newest verdict.
    pub score: Option<f64>,
    pub metadata: Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceState {
    /// Further pieces are expected.
    Open,
    Finished,
    /// More pieces arrived after the trace was finished.
    Reopened,
    /// The content is deleted; only numbers are left.
    Erased,
}

/// An assembled trace.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedTrace {
    pub trace: Trace,
    pub agent: Option<String>,
    pub session: Option<String>,
    pub is_failed: bool,
    pub started: Time,
    /// Microseconds.
    pub duration: Option<i64>,
    /// Sampling probability of the sender.
    pub probability: Probability,
    /// A mapping that lists show and filter by.
    pub metadata: Json,
}

/// A trace with its newest content.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceWithContent {
    pub head: TraceHead,
    /// `None` before the first assembly, or if it is erased.
    pub content: Option<Trace>,
}

/// Result of finishing a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    Done {
        revision: u64,
    },
    /// The trace is finished and its content is unchanged.
    Same {
        revision: u64,
    },
    /// Pieces arrived in the meantime; assemble the trace again.
    Moved,
}

/// Result of storing a complete trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    New,
    /// It was stored before with the same content.
    Repeated,
    /// It was stored before with other content, which stays.
    Conflict,
}

/// A trace that is ready to be assembled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyTrace {
    pub project: ProjectId,
    pub trace: TraceId,
    pub n_pieces: u64,
}

/// Filter for lists of traces; `None` matches everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceListFilter {
    pub agent: Option<String>,
    pub session: Option<String>,
    pub state: Option<TraceState>,
    pub status: Option<String>,
    pub is_failed: Option<bool>,
    pub from: Option<Time>,
    pub until: Option<Time>,
    pub min_cost: Option<Usd>,
    /// Microseconds.
    pub min_duration: Option<i64>,
    /// Status of the verdict.
    pub verdict: Option<VerdictStatus>,
    /// Whether its newest verdict has a score.
    pub is_scored: Option<bool>,
    /// Prefix of the id.
    pub id_prefix: Option<String>,
    /// Text in the id, agent, session or title; not case-sensitive for A to Z.
    pub search: Option<String>,
    pub order: TraceOrder,
}

/// Sort order of a list. Traces without a value in the sort column are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceOrder {
    pub by: TraceKey,
    pub is_falling: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKey {
    /// Start time.
    Time,
    Cost,
    Duration,
    /// Score of the newest verdict.
    Score,
}

impl Default for TraceOrder {
    /// The newest first.
    fn default() -> Self {
        Self { by: TraceKey::Time, is_falling: true }
    }
}

statements! {
    GET = "SELECT * FROM traces WHERE project = $1 AND id = $2";
    FINISH = "UPDATE traces SET state = 'finished', has_end = 1,
        revision = CASE WHEN content_hash = $4 THEN revision ELSE revision + 1 END,
        content_hash = $4, finished = $5, agent = COALESCE($6, agent), session = COALESCE($7, session),
        status = $8, is_failed = $9, started = $10, duration = $11, n_steps = $12, cost = $13,
        tokens_in = $14, tokens_cached = $15, tokens_out = $16, probability = $17, metadata = $18,
        title = $19, has_content = $20,
        score = CASE WHEN content_hash = $4 THEN score ELSE NULL END,
        is_considered = CASE WHEN content_hash = $4 THEN is_considered ELSE 0 END
        WHERE project = $1 AND id = $2 AND n_pieces = $3 RETURNING revision";
    ADD = "INSERT INTO traces (project, id, state, has_end, n_pieces, n_late, revision, content_hash, finished,
        updated, agent, session, status, is_failed, started, duration, n_steps, cost, tokens_in, tokens_cached,
        tokens_out, probability, metadata, title, has_content)
        VALUES ($1, $2, 'finished', 1, $3, 0, 1, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $20)
        ON CONFLICT DO NOTHING";
    ADD_CONTENT = "INSERT INTO trace_contents (project, trace, revision, hash, body, created)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    CONTENT = "SELECT body FROM trace_contents WHERE project = $1 AND trace = $2 ORDER BY revision DESC LIMIT 1";
    CONTENT_AT = "SELECT body FROM trace_contents WHERE project = $1 AND trace = $2 AND revision = $3";
    READY = "SELECT project, id, n_pieces FROM traces WHERE state IN ('open', 'reopened')
        AND updated <= $1 AND (has_end = 1 OR updated <= $2) ORDER BY updated LIMIT $3";
    TO_ERASE = "SELECT id FROM traces WHERE project = $1 AND started < $2 AND state = 'finished'
        ORDER BY started LIMIT $3";
    ERASE = "UPDATE traces SET state = 'erased', metadata = '{}', content_hash = NULL, title = NULL
        WHERE project = $1 AND id = $2 AND state = 'finished'";
    ERASE_CONTENT = "DELETE FROM trace_contents WHERE project = $1 AND trace = $2";
    ERASE_PIECES = "UPDATE pieces SET body = NULL WHERE project = $1 AND trace = $2 AND body IS NOT NULL";
    ERASE_DETAILS = "DELETE FROM grade_details WHERE project = $1 AND candidate = $2";
    ERASE_EXCHANGES = "DELETE FROM exchanges WHERE project = $1 AND owner = $2";
    ERASE_CASES = "UPDATE dataset_cases SET body = NULL, hash = NULL, title = NULL WHERE project = $1 AND trace = $2";
}

const LIST: &str = "SELECT * FROM traces WHERE project = $1";

/// SQLite's `LIKE` equals PostgreSQL's `ILIKE` on texts with collation "C": only A to Z are case-insensitive.
macro_rules! search_condition {
    ($like:literal) => {
        concat!(
            "(id ",
            $like,
            " ? ESCAPE '!' OR agent ",
            $like,
            " ? ESCAPE '!' OR session ",
            $like,
            " ? ESCAPE '!' OR title ",
            $like,
            " ? ESCAPE '!')"
        )
    };
}

/// Finds all matches before sorting, because rows in index order would be looked up one by one. Appending `''` keeps
/// the planner from using the indexes of these columns.
macro_rules! search_first_condition {
    ($like:literal) => {
        concat!(
            "(id || '') IN (SELECT id FROM traces found WHERE (project || '') = $1 AND ",
            search_condition!($like),
            ")"
        )
    };
}

/// Arguments of one `IN (…)`.
const CHUNK: usize = 500;

/// Longest title in characters.
const TITLE: usize = 200;

impl Store {
    /// Traces whose end arrived before `settled`, or that had no new piece since `idle`; those that wait longest first.
    pub async fn ready_traces(
        &self,
        settled: Time,
        idle: Time,
        limit: usize,
    ) -> Result<Vec<ReadyTrace>, StoreError> {
        let rows = self.db.fetch(READY, args![settled, idle, limit]).await?;
        let ready = |row: &DbRow| {
            Ok(ReadyTrace {
                project: row.parse("project")?,
                trace: row.parse("id")?,
                n_pieces: row.count("n_pieces")?,
            })
        };
        rows.iter().map(ready).collect()
    }

    /// Stores an assembled trace, unless further pieces arrived in the meantime.
    pub async fn finish_trace(
        &self,
        ready: &ReadyTrace,
        finished: &FinishedTrace,
        now: Time,
    ) -> Result<Finish, StoreError> {
        let PackedContent { content, content_hash } = content_of(&finished.trace);
        let mut tx = self.db.begin().await?;
        let args = finished.args(ready.project, &ready.trace, ready.n_pieces, &content_hash, now);
        let Some(row) = tx.optional(FINISH, args).await? else {
            drop(tx);
            return self.trace(ready.project, &ready.trace).await.map(|_| Finish::Moved);
        };
        let revision = row.count("revision")?;
        let args = args![ready.project, &ready.trace, revision, content_hash, content, now];
        let is_new = tx.execute(ADD_CONTENT, args).await? == 1;
        tx.commit().await?;
        Ok(if is_new { Finish::Done { revision } } else { Finish::Same { revision } })
    }

    /// Stores a complete trace.
    pub async fn put_trace(
        &self,
        project: ProjectId,
        id: &TraceId,
        finished: &FinishedTrace,
        now: Time,
    ) -> Result<PutOutcome, StoreError> {
        let mut tx = self.db.begin().await?;
        let put = put_whole(&mut tx, project, id, finished, now).await?;
        tx.commit().await?;
        Ok(put)
    }

    /// Stores several complete traces in one commit, and returns a result for each, in their order.
    pub async fn put_traces(
        &self,
        project: ProjectId,
        traces: &[(TraceId, FinishedTrace)],
        now: Time,
    ) -> Result<Vec<PutOutcome>, StoreError> {
        // Rows are always locked in the same order, so that two transactions wait for each other and do not deadlock.
        let mut order: Vec<usize> = (0..traces.len()).collect();
        order.sort_by_key(|index| &traces[*index].0);
        let mut puts = vec![PutOutcome::New; traces.len()];
        let mut tx = self.db.begin().await?;
        for at in order {
            let (id, finished) = &traces[at];
            puts[at] = put_whole(&mut tx, project, id, finished, now).await?;
        }
        tx.commit().await?;
        Ok(puts)
    }

    pub async fn trace(&self, project: ProjectId, id: &TraceId) -> Result<TraceHead, StoreError> {
        let row = self.db.optional(GET, args![project, id]).await?;
        read_trace_head(&row.ok_or_else(|| StoreError::unknown("trace", id))?)
    }

    /// The assembled content of a trace; `None` before the first assembly, or if it is erased.
    pub async fn trace_content(&self, project: ProjectId, id: &TraceId) -> Result<Option<Trace>, StoreError> {
        let row = self.db.optional(CONTENT, args![project, id]).await?;
        row.map(|row| read_content(&row, id)).transpose()
    }

    /// Those of some traces that exist, in any order, with their contents.
    pub async fn traces_with_content(
        &self,
        project: ProjectId,
        ids: &[TraceId],
    ) -> Result<Vec<TraceWithContent>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = select_traces_with_content(project, ids).fetch(&self.db).await?;
        let read = |row: &DbRow| {
            let head = read_trace_head(row)?;
            let has_body = row.get::<Option<Vec<u8>>>("body")?.is_some();
            let content = has_body.then(|| read_content(row, &head.id)).transpose()?;
            Ok(TraceWithContent { head, content })
        };
        rows.iter().map(read).collect()
    }

    /// Those of some ids whose traces are stored and not erased.
    pub async fn readable_traces(
        &self,
        project: ProjectId,
        ids: &[TraceId],
    ) -> Result<BTreeSet<TraceId>, StoreError> {
        let mut readable = BTreeSet::new();
        for some in ids.chunks(CHUNK) {
            for row in &select_readable_traces(project, some).fetch(&self.db).await? {
                readable.insert(row.parse("id")?);
            }
        }
        Ok(readable)
    }

    /// The content of an earlier revision.
    pub async fn trace_content_at(
        &self,
        project: ProjectId,
        id: &TraceId,
        revision: u64,
    ) -> Result<Option<Trace>, StoreError> {
        let row = self.db.optional(CONTENT_AT, args![project, id, revision]).await?;
        row.map(|row| read_content(&row, id)).transpose()
    }

    /// Traces in the order of the filter; by default the newest first.
    pub async fn traces(
        &self,
        project: ProjectId,
        filter: &TraceListFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<TraceHead>, StoreError> {
        let rows = filter.select(&self.db, project, after, limit).fetch(&self.db).await?;
        let heads = rows.iter().map(read_trace_head).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(heads, limit, |head: &TraceHead| filter.order.by.place(head)))
    }

    /// Deletes the texts of traces from before a time, of the grades about them and of dataset cases made from them;
    /// their numbers stay.
    ///
    /// It works in batches: call it until it returns 0.
    pub async fn erase_traces(
        &self,
        project: ProjectId,
        before: Time,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let rows = self.db.fetch(TO_ERASE, args![project, before, limit]).await?;
        for row in &rows {
            let id: String = row.get("id")?;
            let mut tx = self.db.begin().await?;
            if tx.execute(ERASE, args![project, &id]).await? == 1 {
                for sql in [ERASE_CONTENT, ERASE_PIECES, ERASE_DETAILS, ERASE_EXCHANGES, ERASE_CASES] {
                    tx.execute(sql, args![project, &id]).await?;
                }
                tx.commit().await?;
            }
        }
        Ok(rows.len())
    }
}

pub(crate) fn select_readable_traces(project: ProjectId, ids: &[TraceId]) -> SelectQuery {
    let sql = "SELECT id FROM traces WHERE project = $1 AND state <> 'erased'";
    SelectQuery::new(sql, args![project]).and_in("id", ids.iter().map(|id| Arg::from(id.as_str())).collect())
}

pub(crate) fn select_traces_with_content(project: ProjectId, ids: &[TraceId]) -> SelectQuery {
    let sql = "SELECT t.*, c.body FROM traces t LEFT JOIN trace_contents c ON c.project = t.project AND c.trace = t.id
        AND c.revision = (SELECT MAX(n.revision) FROM trace_contents n WHERE n.project = t.project AND n.trace = t.id)
        WHERE t.project = $1";
    let ids = ids.iter().map(|id| Arg::from(id.as_str()));
    SelectQuery::new(sql, args![project]).and_in("t.id", ids.collect())
}

async fn put_whole(
    tx: &mut Tx,
    project: ProjectId,
    id: &TraceId,
    finished: &FinishedTrace,
    now: Time,
) -> Result<PutOutcome, StoreError> {
    let PackedContent { content, content_hash } = content_of(&finished.trace);
    if tx.execute(ADD, finished.args(project, id, 0, &content_hash, now)).await? == 1 {
        tx.execute(ADD_CONTENT, args![project, id, 1_i64, content_hash, content, now]).await?;
        return Ok(PutOutcome::New);
    }
    let there = tx.optional(GET, args![project, id]).await?;
    let there =
        there.as_ref().map(|row| Ok::<_, StoreError>((row.get("content_hash")?, read_trace_head(row)?)));
    // A repeat that leaves out a field does not contradict the stored value.
    let agrees = |new: &Option<String>, old: &Option<String>| new.is_none() || new == old;
    let mut metadata = finished.metadata.as_object().into_iter().flatten();
    let is_same = |(hash, head): (Option<String>, TraceHead)| {
        hash.as_ref() == Some(&content_hash)
            && agrees(&finished.agent, &head.agent)
            && agrees(&finished.session, &head.session)
            && finished.is_failed == head.is_failed
            && metadata.all(|(name, value)| head.metadata.get(name) == Some(value))
    };
    Ok(if there.transpose()?.is_some_and(is_same) { PutOutcome::Repeated } else { PutOutcome::Conflict })
}

impl TraceListFilter {
    pub(crate) fn select(
        &self,
        db: &Db,
        project: ProjectId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> SelectQuery {
        let TraceOrder { by, is_falling } = self.order;
        let end = self.id_prefix.as_ref().map(|id_prefix| format!("{id_prefix}\u{10ffff}"));
        let (column, direction, sign) =
            (by.column(), if is_falling { "DESC" } else { "ASC" }, if is_falling { "<" } else { ">" });
        let place = if is_falling { Cursor::top(after) } else { Cursor::bottom(after) };
        let from = match (by, after) {
            (TraceKey::Score, None) if is_falling => Arg::from(f64::INFINITY),
            (TraceKey::Score, None) => Arg::from(f64::NEG_INFINITY),
            (TraceKey::Score, Some(it)) => Arg::from(f64::from_bits(it.sort.cast_unsigned())),
            _ => Arg::from(place.sort),
        };
        let condition = match (db.is_pg(), by) {
            (false, TraceKey::Time) => search_condition!("LIKE"),
            (false, _) => search_first_condition!("LIKE"),
            (true, TraceKey::Time) => search_condition!("ILIKE"),
            (true, _) => search_first_condition!("ILIKE"),
        };
        let list = format!("{LIST} AND {column} IS NOT NULL AND ({column}, id) {sign} ($2, $3)");
        SelectQuery::new(&list, vec![Arg::from(project), from, Arg::from(place.id)])
            .and_maybe("agent = ?", self.agent.as_deref())
            .and_maybe("session = ?", self.session.as_deref())
            .and_maybe("state = ?", self.state.map(TraceState::as_str))
            .and_maybe("status = ?", self.status.as_deref())
            .and_maybe("is_failed = ?", self.is_failed)
            .and_maybe("? <= started", self.from)
            .and_maybe("started < ?", self.until)
            .and_maybe("? <= cost", self.min_cost.map(Usd::nanos))
            .and_maybe("? <= duration", self.min_duration)
            .and_maybe(
                "EXISTS (SELECT 1 FROM verdicts WHERE verdicts.project = traces.project \
                 AND verdicts.candidate = traces.id AND verdicts.status = ?)",
                self.verdict.map(VerdictStatus::as_str),
            )
            .and_maybe("CASE WHEN score IS NULL THEN 0 ELSE 1 END = ?", self.is_scored)
            .and_maybe("? <= id", self.id_prefix.as_deref())
            .and_maybe("id < ?", end)
            .and_maybe(condition, self.search.as_deref().map(contains_pattern))
            .then(&format!("ORDER BY {column} {direction}, id {direction}"))
            .limit(limit + 1)
    }
}

impl TraceKey {
    fn column(self) -> &'static str {
        match self {
            Self::Time => "started",
            Self::Cost => "cost",
            Self::Duration => "duration",
            Self::Score => "score",
        }
    }

    fn place(self, head: &TraceHead) -> Cursor {
        let sort = match self {
            Self::Time => head.started.micros(),
            Self::Cost => head.cost.map(Usd::nanos).unwrap_or_default(),
            Self::Duration => head.duration.unwrap_or_default(),
            // A cursor holds an integer; the bits of a non-negative float sort like the float.
            Self::Score => head.score.unwrap_or_default().to_bits().cast_signed(),
        };
        Cursor::new(sort, &head.id)
    }
}

impl std::str::FromStr for TraceOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, is_falling) = text.strip_prefix('-').map_or((text, false), |text| (text, true));
        let by = match name {
            "time" => TraceKey::Time,
            "cost" => TraceKey::Cost,
            "duration" => TraceKey::Duration,
            "score" => TraceKey::Score,
            _ => {
                let known = "time, cost, duration and score, with `-` before it for the largest first";
                return Err(format!("traces are not sorted by `{text}`; there are {known}"));
            }
        };
        Ok(Self { by, is_falling })
    }
}

/// The beginning of the task, on one line.
fn title_of(trace: &Trace) -> Option<String> {
    let task = task_of_trace(trace)?;
    let words = task.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut title: String = words.chars().take(TITLE).collect();
    if title.len() < words.len() {
        title.push('…');
    }
    Some(title).filter(|text| !text.is_empty())
}

impl FinishedTrace {
    fn args(&self, project: ProjectId, id: &TraceId, n_pieces: u64, hash: &str, now: Time) -> Vec<Arg> {
        let trace = &self.trace;
        args![
            project,
            id,
            n_pieces,
            hash,
            now,
            self.agent.as_deref(),
            self.session.as_deref(),
            trace.status.as_deref(),
            self.is_failed,
            self.started,
            self.duration,
            trace.steps.len(),
            trace.cost,
            trace.usage.input,
            trace.usage.cached,
            trace.usage.output,
            self.probability,
            &self.metadata,
            title_of(trace),
            trace.has_content(),
        ]
    }
}

impl TraceState {
    const ALL: [Self; 4] = [Self::Open, Self::Finished, Self::Reopened, Self::Erased];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Finished => "finished",
            Self::Reopened => "reopened",
            Self::Erased => "erased",
        }
    }
}

impl std::str::FromStr for TraceState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|trace_state| trace_state.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a state of a trace"))
    }
}

pub(crate) fn status_of(row: &DbRow) -> Result<VerdictStatus, StoreError> {
    let name: String = row.get("status")?;
    let all = [VerdictStatus::Pass, VerdictStatus::Fail, VerdictStatus::Error, VerdictStatus::Deferred];
    let status = all.into_iter().find(|verdict_status| verdict_status.as_str() == name);
    status.ok_or_else(|| StoreError::damaged_row("verdict", &name, "there is no such status"))
}

/// The compressed content and the hash of the uncompressed content.
struct PackedContent {
    content: Vec<u8>,
    content_hash: String,
}

fn content_of(trace: &Trace) -> PackedContent {
    let text = serde_json::to_vec(trace).expect("a trace is plain data");
    PackedContent { content: pack(&text), content_hash: hash(&text) }
}

fn read_content(row: &DbRow, id: &TraceId) -> Result<Trace, StoreError> {
    let body: Vec<u8> = row.get("body")?;
    unpack_json(&body).map_err(|why| StoreError::damaged_row("trace", id, &why))
}

pub(crate) fn read_trace_head(row: &DbRow) -> Result<TraceHead, StoreError> {
    Ok(TraceHead {
        id: row.parse("id")?,
        agent: row.get("agent")?,
        session: row.get("session")?,
        title: row.get("title")?,
        state: row.parse("state")?,
        has_end: row.flag("has_end")?,
        status: row.get("status")?,
        is_failed: row.flag("is_failed")?,
        started: row.time("started")?,
        updated: row.time("updated")?,
        finished: row.maybe_time("finished")?,
        n_pieces: row.count("n_pieces")?,
        n_late: row.count("n_late")?,
        revision: row.count("revision")?,
        n_steps: row.count("n_steps")?,
        has_content: row.flag("has_content")?,
        cost: row.maybe_usd("cost")?,
        usage: Usage {
            input: row.count("tokens_in")?,
            cached: row.count("tokens_cached")?,
            output: row.count("tokens_out")?,
        },
        duration: row.get("duration")?,
        probability: row.probability()?,
        score: row.get("score")?,
        metadata: row.json("metadata")?,
    })
}
