//! Fixed index statistics for SQLite's query planner.
//!
//! Without statistics (`ANALYZE`), SQLite assumes that a project id is as selective as a trace id, although there are
//! few projects, and chooses wrong indexes. Statistics counted in a small database become wrong when it grows. So the
//! statistics of a large database are written once. PostgreSQL collects its own statistics.

use crate::StoreError;
use crate::db::{DbRow, Tx, args};

/// Rows of a table that grows with traffic, and of one that people fill.
const MANY: u64 = 1_000_000;
const SOME: u64 = 1_000;

const BY_PEOPLE: &[&str] = &[
    "accounts",
    "agents",
    "annotation_tasks",
    "datasets",
    "dataset_versions",
    "labels",
    "members",
    "monitors",
    "monitor_versions",
    "projects",
    "rubrics",
    "rubric_versions",
    "run_labels",
    "tokens",
];

/// Columns with few distinct values, and their approximate number; all other columns count as unique.
const FEW: &[(&str, u64)] = &[
    ("account", 200),
    ("added_in", 20),
    ("agent", 20),
    ("criterion", 50),
    ("dataset", 20),
    ("day", 1_000),
    ("grader", 5),
    ("grader_kind", 3),
    ("is_item_open", 2),
    ("item_role", 4),
    ("judge", 5),
    ("kind", 5),
    ("model", 5),
    ("monitor", 10),
    ("monitor_version", 20),
    ("month", 24),
    ("n_given", 4),
    ("n_submitted", 4),
    ("n_wanted", 4),
    ("part", 5),
    ("priority", 3),
    ("project", 3),
    ("purpose", 5),
    ("removed_in", 20),
    ("rescore", 2),
    ("revision", 2),
    ("role", 4),
    ("rubric", 10),
    ("rubric_version", 20),
    ("run", 1_000),
    ("series", 50),
    ("state", 5),
    ("status", 4),
    ("stratum", 3),
    ("subject", 20),
    ("task", 10),
    ("version", 3),
];

const INDEXES: &str =
    "SELECT t.name AS of_table, l.name AS index_name, l.\"unique\" AS is_unique, c.name AS of_column
    FROM sqlite_schema t JOIN pragma_index_list(t.name) l JOIN pragma_index_info(l.name) c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, l.name, c.seqno";
const TELL: &str = "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ($1, $2, $3)";

struct Index {
    table: String,
    name: String,
    is_unique: bool,
    columns: Vec<String>,
}

impl Index {
    /// Text in the format of `sqlite_stat1`: the number of rows, and the average number of rows that share the first
    /// column, the first two, and so on.
    fn statistics_text(&self) -> String {
        let n_rows = if BY_PEOPLE.contains(&self.table.as_str()) { SOME } else { MANY };
        let (mut figures, mut n_values) = (vec![n_rows], 1);
        for column in &self.columns {
            let few = FEW.iter().find(|(name, _)| name == column).map_or(n_rows, |(_, few)| *few);
            n_values = n_rows.min(n_values * few);
            figures.push(n_rows / n_values);
        }
        if let Some(last) = figures.last_mut().filter(|_| self.is_unique) {
            *last = 1;
        }
        figures.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// Writes statistics for every index.
pub(crate) async fn write_index_statistics(tx: &mut Tx) -> Result<(), StoreError> {
    let mut indexes: Vec<Index> = Vec::new();
    for row in tx.fetch(INDEXES, Vec::new()).await? {
        let (name, column): (String, String) = (row.get("index_name")?, row.get("of_column")?);
        match indexes.last_mut().filter(|index| index.name == name) {
            Some(it) => it.columns.push(column),
            None => indexes.push(read_index_row(&row, name, column)?),
        }
    }
    // The first statement creates the table; the last one makes SQLite read it.
    tx.script("ANALYZE jurist_schema; DELETE FROM sqlite_stat1".to_owned()).await?;
    for it in &indexes {
        tx.execute(TELL, args![&it.table, &it.name, it.statistics_text()]).await?;
    }
    tx.script("ANALYZE sqlite_schema".to_owned()).await
}

fn read_index_row(row: &DbRow, name: String, column: String) -> Result<Index, StoreError> {
    Ok(Index { table: row.get("of_table")?, name, is_unique: row.flag("is_unique")?, columns: vec![column] })
}
