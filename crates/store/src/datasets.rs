//! Datasets: named sets of cases with immutable versions. A version costs as many rows as cases changed in it.

use std::collections::{BTreeMap, BTreeSet};

use jurist_core::dataset::{DatasetCase, DatasetSplit, MAX_DATASET_CASES, differing_fields};
use jurist_core::grade::Time;
use serde_json::Value as Json;
use sqlx::AssertSqlSafe;

use crate::db::{Arg, Bulk, Db, DbRow, Tx, args, statements};
use crate::filter::{SelectQuery, contains_pattern};
use crate::pack::{hash, pack, unpack_json};
use crate::{
    AccountId, Cursor, DatasetId, ProjectId, ResultPage, RubricVersionId, Store, StoreError, TraceId,
};

#[derive(Debug, Clone, PartialEq)]
pub struct NewDataset {
    pub name: String,
    pub description: Option<String>,
    /// Share of tasks in the split `test`.
    pub test_share: f64,
    pub author: Option<AccountId>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    pub id: DatasetId,
    pub name: String,
    pub description: Option<String>,
    pub test_share: f64,
    pub created: Time,
    /// Name of the account that created it.
    pub author: Option<String>,
    pub archived: Option<Time>,
    /// `None` before the first version.
    pub newest: Option<DatasetVersion>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetVersion {
    /// From 1.
    pub number: u64,
    pub created: Time,
    /// Name of the account that wrote it.
    pub author: Option<String>,
    pub note: Option<String>,
    pub n_cases: u64,
    pub n_test: u64,
    /// Compared with the version before.
    pub n_added: u64,
    pub n_changed: u64,
    pub n_removed: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewDatasetCase {
    pub case: DatasetCase,
    /// The trace it was made from; a case that exists keeps its trace unless another one is given.
    pub trace: Option<TraceId>,
    /// The rubric that grades it; a case that exists keeps its rubric unless another one is given.
    pub rubric: Option<RubricVersionId>,
}

/// What a new version changes. Keys of `cases` are distinct, and none of them is in `remove`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DatasetChange {
    /// The newest version that the caller knows, 0 before the first; `None` does not check it.
    pub base: Option<u64>,
    pub note: Option<String>,
    pub author: Option<AccountId>,
    pub cases: Vec<NewDatasetCase>,
    /// Keys of cases.
    pub remove: Vec<String>,
    /// Whether `cases` are all cases of the new version.
    pub is_complete: bool,
}

/// What became of a change. Nothing is written unless it is `Written`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatasetWrite {
    Written(WrittenVersion),
    /// Another version was written since.
    Outdated {
        newest: u64,
    },
    Archived,
    /// More cases than a version may have.
    TooMany {
        n_cases: usize,
    },
    /// A case that is to be removed does not exist.
    UnknownKey(String),
    /// The trace of a case was erased in the meantime.
    ErasedTrace(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenVersion {
    pub version: u64,
    /// Whether it is a new version; a change that changes nothing writes none.
    pub is_new: bool,
    pub n_cases: usize,
    pub n_added: usize,
    pub n_changed: usize,
    pub n_unchanged: usize,
    pub n_removed: usize,
}

/// Cases of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DatasetCaseFilter<'a> {
    pub version: u64,
    pub split: Option<DatasetSplit>,
    pub key: Option<&'a str>,
    /// Text in the key, task, title or trace id; not case-sensitive for A to Z.
    pub search: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredDatasetCase {
    place: i64,
    pub key: String,
    pub task: String,
    pub split: DatasetSplit,
    pub title: Option<String>,
    pub trace: Option<TraceId>,
    pub rubric: Option<DatasetCaseRubric>,
    pub added_in: u64,
    pub removed_in: Option<u64>,
    /// Its trace was erased, and its text with it.
    pub is_erased: bool,
    /// Only if the caller asked for records.
    pub record: Option<Json>,
}

/// The stored rubric of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetCaseRubric {
    pub name: String,
    pub version: RubricVersionId,
}

/// Differences between two versions.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetDiff {
    pub n_added: u64,
    pub n_changed: u64,
    pub n_removed: u64,
    /// By key.
    pub page: ResultPage<CaseDifference>,
}

/// A case that two versions have in different forms, or that only one of them has; without records.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseDifference {
    pub key: String,
    pub old: Option<StoredDatasetCase>,
    pub new: Option<StoredDatasetCase>,
    /// Fields in which the records differ, if both are there.
    pub fields: Vec<String>,
}

macro_rules! version_columns {
    () => {
        "v.number, v.note, v.n_cases, v.n_test, v.n_added, v.n_changed, v.n_removed, v.created AS version_created,
         w.name AS version_author"
    };
}

macro_rules! datasets {
    ($which:literal) => {
        concat!(
            "SELECT d.id, d.name, d.description, d.test_share, d.created, d.archived, a.name AS author_name, ",
            version_columns!(),
            " FROM datasets d LEFT JOIN accounts a ON a.id = d.author
             LEFT JOIN dataset_versions v ON v.dataset = d.id AND v.number = d.version
             LEFT JOIN accounts w ON w.id = v.author WHERE d.project = $1",
            $which
        )
    };
}

macro_rules! versions {
    ($which:literal) => {
        concat!(
            "SELECT ",
            version_columns!(),
            " FROM dataset_versions v LEFT JOIN accounts w ON w.id = v.author WHERE v.dataset = $1",
            $which
        )
    };
}

/// Keys that differ between versions $2 and $3, of which $2 is the lower. A case that was changed and changed back
/// has two rows with the same content.
macro_rules! differing_keys {
    () => {
        "(SELECT key, MAX(CASE WHEN added_in <= $2 THEN place END) AS low_place,
            MAX(CASE WHEN $2 < added_in THEN place END) AS high_place
          FROM dataset_cases WHERE dataset = $1
            AND ((added_in <= $2 AND $2 < removed_in AND removed_in <= $3)
              OR ($2 < added_in AND added_in <= $3 AND (removed_in IS NULL OR $3 < removed_in)))
          GROUP BY key
          HAVING COUNT(*) = 1 OR MIN(COALESCE(hash, '')) <> MAX(COALESCE(hash, ''))
            OR MIN(COALESCE(rubric_version, '')) <> MAX(COALESCE(rubric_version, ''))
            OR MIN(COALESCE(trace, '')) <> MAX(COALESCE(trace, ''))) AS differing"
    };
}

statements! {
    ADD = "INSERT INTO datasets (id, project, name, description, test_share, version, next_place, author, created)
        VALUES ($1, $2, $3, $4, $5, 0, 0, $6, $7)";
    BY_NAME = datasets!(" AND d.name = $2");
    LIST = datasets!(" AND d.archived IS NULL ORDER BY d.name");
    LIST_ALL = datasets!(" ORDER BY d.name");
    DESCRIBE = "UPDATE datasets SET description = $3 WHERE project = $1 AND id = $2";
    ARCHIVE = "UPDATE datasets SET archived = $3 WHERE project = $1 AND id = $2";
    VERSION = versions!(" AND v.number = $2");
    VERSIONS = versions!(" AND v.number < $2 ORDER BY v.number DESC LIMIT $3");
    // Also a lock: versions of a dataset are written one after the other.
    LOCK = "UPDATE datasets SET version = version WHERE project = $1 AND id = $2
        RETURNING version, next_place, archived";
    PRESENT = "SELECT key, place, split, hash, trace, rubric_version FROM dataset_cases
        WHERE dataset = $1 AND removed_in IS NULL";
    ADD_VERSION = "INSERT INTO dataset_versions (dataset, number, note, n_cases, n_test, n_added, n_changed, n_removed,
        author, created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    SET_VERSION = "UPDATE datasets SET version = $2, next_place = $3 WHERE id = $1";
    COUNT_DIFFERING = concat!(
        "SELECT CAST(COUNT(*) AS BIGINT) AS n,
            CAST(COALESCE(SUM(CASE WHEN high_place IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS n_only_low,
            CAST(COALESCE(SUM(CASE WHEN low_place IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS n_only_high
         FROM ",
        differing_keys!()
    );
    DIFFERING = concat!("SELECT * FROM ", differing_keys!(), " WHERE $4 < key ORDER BY key LIMIT $5");
}

pub(crate) const ADD_CASES: Bulk = Bulk {
    into: "dataset_cases (dataset, place, project, key, task, split, title, trace, rubric_version, added_in, hash, body)",
    types: "titttttttitb",
    tail: "",
};

const CASE_COLUMNS: &str =
    "c.place, c.key, c.task, c.split, c.title, c.trace, c.rubric_version, c.added_in, c.removed_in,
    r.name AS rubric_name, CAST(CASE WHEN c.body IS NULL THEN 1 ELSE 0 END AS BIGINT) AS is_erased";

const CASE_TABLES: &str = "dataset_cases c LEFT JOIN rubric_versions v ON v.id = c.rubric_version
    LEFT JOIN rubrics r ON r.id = v.rubric";

/// SQLite's `LIKE` equals PostgreSQL's `ILIKE` on texts with collation "C".
const FOUND_IN_SQLITE: &str =
    "(c.key LIKE ? ESCAPE '!' OR c.task LIKE ? ESCAPE '!' OR c.title LIKE ? ESCAPE '!'
    OR c.trace LIKE ? ESCAPE '!')";
const FOUND_IN_POSTGRES: &str = "(c.key ILIKE ? ESCAPE '!' OR c.task ILIKE ? ESCAPE '!'
    OR c.title ILIKE ? ESCAPE '!' OR c.trace ILIKE ? ESCAPE '!')";

/// Arguments of one `IN (…)`.
const CHUNK: usize = 500;

/// Differences whose records are in memory together; one can have two of 32 MiB.
const DIFF_CHUNK: usize = 20;

impl Store {
    /// A dataset without versions yet; names are unique within a project.
    pub async fn add_dataset(
        &self,
        project: ProjectId,
        new: &NewDataset,
        now: Time,
    ) -> Result<Dataset, StoreError> {
        let (description, share) = (new.description.as_deref(), new.test_share);
        let args = args![DatasetId::at(now), project, &new.name, description, share, new.author, now];
        self.db.execute(ADD, args).await.map_err(|error| error.into_taken("dataset", &new.name))?;
        self.dataset(project, &new.name).await
    }

    pub async fn dataset(&self, project: ProjectId, name: &str) -> Result<Dataset, StoreError> {
        let row = self.db.optional(BY_NAME, args![project, name]).await?;
        read_dataset_row(&row.ok_or_else(|| StoreError::unknown("dataset", name))?)
    }

    /// By name.
    pub async fn datasets(
        &self,
        project: ProjectId,
        with_archived: bool,
    ) -> Result<Vec<Dataset>, StoreError> {
        let sql = if with_archived { LIST_ALL } else { LIST };
        self.db.fetch(sql, args![project]).await?.iter().map(read_dataset_row).collect()
    }

    pub async fn describe_dataset(
        &self,
        project: ProjectId,
        id: DatasetId,
        description: Option<&str>,
    ) -> Result<(), StoreError> {
        self.db.execute(DESCRIBE, args![project, id, description]).await.map(drop)
    }

    /// Archives a dataset; `None` restores it.
    pub async fn archive_dataset(
        &self,
        project: ProjectId,
        id: DatasetId,
        since: Option<Time>,
    ) -> Result<(), StoreError> {
        self.db.execute(ARCHIVE, args![project, id, since]).await.map(drop)
    }

    pub async fn dataset_version(
        &self,
        dataset: &Dataset,
        number: u64,
    ) -> Result<DatasetVersion, StoreError> {
        let row = self.db.optional(VERSION, args![dataset.id, number]).await?;
        let name = || format!("{}@v{number}", dataset.name);
        read_dataset_version_row(&row.ok_or_else(|| StoreError::unknown("dataset version", &name()))?)
    }

    /// The newest first.
    pub async fn dataset_versions(
        &self,
        dataset: DatasetId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<DatasetVersion>, StoreError> {
        let below = after.map_or(i64::MAX, |cursor| cursor.sort);
        let rows = self.db.fetch(VERSIONS, args![dataset, below, limit + 1]).await?;
        let versions = rows.iter().map(read_dataset_version_row).collect::<Result<_, _>>()?;
        let place = |version: &DatasetVersion| Cursor::new(to_integer(version.number), &version.number);
        Ok(ResultPage::of(versions, limit, place))
    }

    /// Writes a version in one transaction.
    pub async fn write_dataset_version(
        &self,
        project: ProjectId,
        dataset: DatasetId,
        change: &DatasetChange,
        now: Time,
    ) -> Result<DatasetWrite, StoreError> {
        // Before the transaction: other writers wait for its end.
        let packed: Vec<PackedCase<'_>> = change.cases.iter().map(PackedCase::new).collect();
        let mut tx = self.db.begin().await?;
        let row = tx.optional(LOCK, args![project, dataset]).await?;
        let row = row.ok_or_else(|| StoreError::unknown("dataset", &dataset))?;
        let (newest, first_place) = (row.count("version")?, row.get::<i64>("next_place")?);
        if row.maybe_time("archived")?.is_some() {
            return Ok(DatasetWrite::Archived);
        }
        if change.base.is_some_and(|base| base != newest) {
            return Ok(DatasetWrite::Outdated { newest });
        }
        let mut present = BTreeMap::new();
        for row in &tx.fetch(PRESENT, args![dataset]).await? {
            present.insert(row.get::<String>("key")?, read_present_case(row)?);
        }
        let plan = match plan_version(&present, change, packed) {
            Ok(plan) => plan,
            Err(refusal) => return Ok(refusal),
        };
        let mut written = plan.counts;
        if plan.added.is_empty() && plan.removed.is_empty() {
            written.version = newest;
            return Ok(DatasetWrite::Written(written));
        }
        if let Some(trace) = lock_case_traces(&self.db, &mut tx, project, &plan.added).await? {
            return Ok(DatasetWrite::ErasedTrace(trace));
        }
        (written.version, written.is_new) = (newest + 1, true);
        for places in plan.removed.chunks(CHUNK) {
            let (sql, args) = update_removed_cases(dataset, written.version, places).into_parts();
            tx.execute(AssertSqlSafe(sql), args).await?;
        }
        let next_place = first_place + i64::try_from(plan.added.len()).unwrap_or(i64::MAX);
        let rows = plan.added.into_iter().zip(first_place..);
        let rows = rows.map(|(added, place)| added.into_row(dataset, place, project, written.version));
        tx.insert(ADD_CASES, rows.collect()).await?;
        let (note, number) = (change.note.as_deref(), written.version);
        let WrittenVersion { n_cases, n_added, n_changed, n_removed, .. } = written;
        let author = change.author;
        let args =
            args![dataset, number, note, n_cases, plan.n_test, n_added, n_changed, n_removed, author, now];
        tx.execute(ADD_VERSION, args).await?;
        tx.execute(SET_VERSION, args![dataset, number, next_place]).await?;
        tx.commit().await?;
        Ok(DatasetWrite::Written(written))
    }

    /// Cases of a version in the order in which they were added.
    pub async fn dataset_cases(
        &self,
        dataset: DatasetId,
        filter: &DatasetCaseFilter<'_>,
        with_records: bool,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<StoredDatasetCase>, StoreError> {
        let query = select_dataset_cases(&self.db, dataset, filter, with_records, after, limit);
        let read = |row: &DbRow| read_case_row(row, with_records);
        let cases = query.fetch(&self.db).await?.iter().map(read).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(cases, limit, |case: &StoredDatasetCase| Cursor::new(case.place, &case.key)))
    }

    /// What differs between two versions, by key; 0 is the empty version before the first.
    pub async fn diff_dataset_versions(
        &self,
        dataset: DatasetId,
        from: u64,
        to: u64,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<DatasetDiff, StoreError> {
        let (low, high) = (from.min(to), from.max(to));
        let counts = self.db.one(COUNT_DIFFERING, args![dataset, low, high]).await?;
        let (n, n_only_low, n_only_high) =
            (counts.count("n")?, counts.count("n_only_low")?, counts.count("n_only_high")?);
        let last_key = after.map(|cursor| cursor.id.clone()).unwrap_or_default();
        let rows = self.db.fetch(DIFFERING, args![dataset, low, high, last_key, limit + 1]).await?;
        let keys = rows.iter().map(DifferingKey::read).collect::<Result<_, _>>()?;
        let page = ResultPage::of(keys, limit, |differing: &DifferingKey| Cursor::new(0, &differing.key));
        let mut items = Vec::with_capacity(page.items.len());
        for some in page.items.chunks(DIFF_CHUNK) {
            let places = some.iter().flat_map(|differing| [differing.low, differing.high]).flatten();
            let places: Vec<i64> = places.collect();
            let mut cases = BTreeMap::new();
            for row in &select_cases_at(dataset, &places).fetch(&self.db).await? {
                let case = read_case_row(row, true)?;
                cases.insert(case.place, case);
            }
            let mut take = |place: Option<i64>| place.and_then(|place| cases.remove(&place));
            for differing in some {
                let (low, high) = (take(differing.low), take(differing.high));
                let (old, new) = if from <= to { (low, high) } else { (high, low) };
                items.push(CaseDifference::new(&differing.key, old, new));
            }
        }
        let (n_removed, n_added) =
            if from <= to { (n_only_low, n_only_high) } else { (n_only_high, n_only_low) };
        let n_changed = n.saturating_sub(n_removed + n_added);
        Ok(DatasetDiff { n_added, n_changed, n_removed, page: ResultPage { items, next: page.next } })
    }
}

impl CaseDifference {
    fn new(key: &str, mut old: Option<StoredDatasetCase>, mut new: Option<StoredDatasetCase>) -> Self {
        let take_record = |case: &mut Option<StoredDatasetCase>| case.as_mut()?.record.take();
        let fields = match (take_record(&mut old), take_record(&mut new)) {
            (Some(old), Some(new)) => differing_fields(&old, &new),
            _ => Vec::new(),
        };
        Self { key: key.to_owned(), old, new, fields }
    }
}

/// A case of the newest version.
struct PresentCase {
    place: i64,
    is_test: bool,
    /// `None` after its trace was erased.
    hash: Option<String>,
    trace: Option<String>,
    rubric: Option<String>,
}

/// A new case with the stored form of its record.
struct PackedCase<'a> {
    source: &'a NewDatasetCase,
    hash: String,
    body: Vec<u8>,
}

struct AddedCase<'a> {
    case: &'a DatasetCase,
    hash: String,
    body: Vec<u8>,
    trace: Option<String>,
    rubric: Option<String>,
}

struct VersionPlan<'a> {
    /// Places of rows that end.
    removed: Vec<i64>,
    added: Vec<AddedCase<'a>>,
    n_test: usize,
    /// Without the number of the version.
    counts: WrittenVersion,
}

/// Compares the cases that exist with the new ones.
fn plan_version<'a>(
    present: &BTreeMap<String, PresentCase>,
    change: &'a DatasetChange,
    packed: Vec<PackedCase<'a>>,
) -> Result<VersionPlan<'a>, DatasetWrite> {
    let mut plan = VersionPlan {
        removed: Vec::new(),
        added: Vec::new(),
        n_test: 0,
        counts: WrittenVersion {
            version: 0,
            is_new: false,
            n_cases: 0,
            n_added: 0,
            n_changed: 0,
            n_unchanged: 0,
            n_removed: 0,
        },
    };
    let mut ended: BTreeSet<&str> = BTreeSet::new();
    let mut new_keys: BTreeSet<&str> = BTreeSet::new();
    for new in packed {
        let key = new.source.case.key.as_str();
        let old = present.get(key);
        new_keys.insert(key);
        let added = AddedCase::new(new, old);
        match old {
            None => plan.counts.n_added += 1,
            Some(old) if added.is_same(old) => {
                plan.counts.n_unchanged += 1;
                continue;
            }
            Some(old) => {
                plan.counts.n_changed += 1;
                plan.removed.push(old.place);
                ended.insert(key);
            }
        }
        plan.added.push(added);
    }
    if let Some(key) = change.remove.iter().find(|key| !present.contains_key(key.as_str())) {
        return Err(DatasetWrite::UnknownKey(key.clone()));
    }
    let removed: BTreeSet<&str> = match change.is_complete {
        true => present.keys().map(String::as_str).filter(|key| !new_keys.contains(key)).collect(),
        false => change.remove.iter().map(String::as_str).collect(),
    };
    plan.counts.n_removed = removed.len();
    plan.removed.extend(removed.iter().filter_map(|key| present.get(*key)).map(|old| old.place));
    ended.extend(removed);
    plan.counts.n_cases = present.len() + plan.counts.n_added - plan.counts.n_removed;
    if MAX_DATASET_CASES < plan.counts.n_cases {
        return Err(DatasetWrite::TooMany { n_cases: plan.counts.n_cases });
    }
    let n_kept = present.iter().filter(|(key, old)| old.is_test && !ended.contains(key.as_str())).count();
    let n_new = plan.added.iter().filter(|added| added.case.split == DatasetSplit::Test).count();
    plan.n_test = n_kept + n_new;
    Ok(plan)
}

impl<'a> PackedCase<'a> {
    fn new(source: &'a NewDatasetCase) -> Self {
        let text = source.case.record.to_string();
        Self { source, hash: hash(text.as_bytes()), body: pack(text.as_bytes()) }
    }
}

impl<'a> AddedCase<'a> {
    fn new(PackedCase { source, hash, body }: PackedCase<'a>, old: Option<&PresentCase>) -> Self {
        let rubric = source.rubric.as_ref().map(ToString::to_string);
        let trace = source.trace.as_ref().map(ToString::to_string);
        // A text that comes after the trace was erased is not the trace's.
        let readable = old.filter(|old| old.hash.is_some());
        Self {
            case: &source.case,
            hash,
            body,
            trace: trace.or_else(|| readable.and_then(|old| old.trace.clone())),
            rubric: rubric.or_else(|| old.and_then(|old| old.rubric.clone())),
        }
    }

    fn is_same(&self, old: &PresentCase) -> bool {
        old.hash.as_deref() == Some(&self.hash) && old.rubric == self.rubric && old.trace == self.trace
    }

    fn into_row(self, dataset: DatasetId, place: i64, project: ProjectId, version: u64) -> Vec<Arg> {
        let DatasetCase { key, task, split, title, .. } = self.case;
        let (title, split) = (title.as_deref(), split.as_str());
        args![
            dataset,
            place,
            project,
            key,
            task,
            split,
            title,
            self.trace,
            self.rubric,
            version,
            self.hash,
            self.body
        ]
    }
}

/// Locks the traces of new cases until the transaction ends, and returns one that is erased. An erasure that waits
/// for the lock then finds the cases.
async fn lock_case_traces(
    db: &Db,
    tx: &mut Tx,
    project: ProjectId,
    added: &[AddedCase<'_>],
) -> Result<Option<String>, StoreError> {
    let traces: BTreeSet<&str> = added.iter().filter_map(|case| case.trace.as_deref()).collect();
    let traces: Vec<&str> = traces.into_iter().collect();
    for some in traces.chunks(CHUNK) {
        let mut locked = BTreeSet::new();
        for row in &select_locked_traces(db, project, some).fetch_in(tx).await? {
            locked.insert(row.get::<String>("id")?);
        }
        if let Some(erased) = some.iter().find(|trace| !locked.contains(**trace)) {
            return Ok(Some((*erased).to_owned()));
        }
    }
    Ok(None)
}

/// In the order of ids, so that two transactions wait for each other and do not deadlock. A transaction of SQLite has
/// the lock of the whole file.
pub(crate) fn select_locked_traces(db: &Db, project: ProjectId, traces: &[&str]) -> SelectQuery {
    let sql = "SELECT id FROM traces WHERE project = $1 AND state <> 'erased'";
    SelectQuery::new(sql, args![project])
        .and_in("id", traces.iter().map(|trace| Arg::from(*trace)).collect())
        .then(if db.is_pg() { "ORDER BY id FOR UPDATE" } else { "ORDER BY id" })
}

pub(crate) fn update_removed_cases(dataset: DatasetId, version: u64, places: &[i64]) -> SelectQuery {
    let sql = "UPDATE dataset_cases SET removed_in = $2 WHERE dataset = $1";
    SelectQuery::new(sql, args![dataset, version])
        .and_in("place", places.iter().map(|place| Arg::from(*place)).collect())
}

pub(crate) fn select_dataset_cases(
    db: &Db,
    dataset: DatasetId,
    filter: &DatasetCaseFilter<'_>,
    with_records: bool,
    after: Option<&Cursor>,
    limit: usize,
) -> SelectQuery {
    let place = after.map_or(-1, |cursor| cursor.sort);
    let body = if with_records { ", c.body" } else { "" };
    let sql = format!(
        "SELECT {CASE_COLUMNS}{body} FROM {CASE_TABLES} WHERE c.dataset = $1 AND $2 < c.place AND c.added_in <= $3
         AND (c.removed_in IS NULL OR $3 < c.removed_in)"
    );
    let matches = if db.is_pg() { FOUND_IN_POSTGRES } else { FOUND_IN_SQLITE };
    SelectQuery::new(&sql, args![dataset, place, filter.version])
        .and_maybe("c.split = ?", filter.split.map(DatasetSplit::as_str))
        .and_maybe("c.key = ?", filter.key)
        .and_maybe(matches, filter.search.map(contains_pattern))
        .then("ORDER BY c.place")
        .limit(limit + 1)
}

pub(crate) fn select_cases_at(dataset: DatasetId, places: &[i64]) -> SelectQuery {
    let sql = format!("SELECT {CASE_COLUMNS}, c.body FROM {CASE_TABLES} WHERE c.dataset = $1");
    SelectQuery::new(&sql, args![dataset])
        .and_in("c.place", places.iter().map(|place| Arg::from(*place)).collect())
}

/// A key that differs, with the places of its rows in the lower and the higher version.
struct DifferingKey {
    key: String,
    low: Option<i64>,
    high: Option<i64>,
}

impl DifferingKey {
    fn read(row: &DbRow) -> Result<Self, StoreError> {
        Ok(Self { key: row.get("key")?, low: row.get("low_place")?, high: row.get("high_place")? })
    }
}

fn to_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn read_dataset_row(row: &DbRow) -> Result<Dataset, StoreError> {
    let has_version = row.get::<Option<i64>>("number")?.is_some();
    Ok(Dataset {
        id: row.parse("id")?,
        name: row.get("name")?,
        description: row.get("description")?,
        test_share: row.get("test_share")?,
        created: row.time("created")?,
        author: row.get("author_name")?,
        archived: row.maybe_time("archived")?,
        newest: has_version.then(|| read_dataset_version_row(row)).transpose()?,
    })
}

fn read_dataset_version_row(row: &DbRow) -> Result<DatasetVersion, StoreError> {
    Ok(DatasetVersion {
        number: row.count("number")?,
        created: row.time("version_created")?,
        author: row.get("version_author")?,
        note: row.get("note")?,
        n_cases: row.count("n_cases")?,
        n_test: row.count("n_test")?,
        n_added: row.count("n_added")?,
        n_changed: row.count("n_changed")?,
        n_removed: row.count("n_removed")?,
    })
}

fn read_present_case(row: &DbRow) -> Result<PresentCase, StoreError> {
    Ok(PresentCase {
        place: row.get("place")?,
        is_test: row.parse::<DatasetSplit>("split")? == DatasetSplit::Test,
        hash: row.get("hash")?,
        trace: row.get("trace")?,
        rubric: row.get("rubric_version")?,
    })
}

fn read_case_row(row: &DbRow, with_record: bool) -> Result<StoredDatasetCase, StoreError> {
    let key: String = row.get("key")?;
    let body: Option<Vec<u8>> = if with_record { row.get("body")? } else { None };
    let record = body.map(|body| unpack_json(&body)).transpose();
    let record = record.map_err(|why| StoreError::damaged_row("dataset case", &key, &why))?;
    let rubric = match (row.get::<Option<String>>("rubric_name")?, row.maybe_parse("rubric_version")?) {
        (Some(name), Some(version)) => Some(DatasetCaseRubric { name, version }),
        _ => None,
    };
    Ok(StoredDatasetCase {
        place: row.get("place")?,
        task: row.get("task")?,
        split: row.parse("split")?,
        title: row.get("title")?,
        trace: row.maybe_parse("trace")?,
        rubric,
        added_in: row.count("added_in")?,
        removed_in: row.get::<Option<i64>>("removed_in")?.map(|number| u64::try_from(number).unwrap_or(0)),
        is_erased: row.flag("is_erased")?,
        record,
        key,
    })
}
