//! Labels of people for cases of a run: whether the case passes, with a comment. A person has one label per case, and
//! may change it.

use jurist_core::grade::Time;
use jurist_core::run::RunId;

use crate::db::{DbRow, args, statements};
use crate::{AccountId, Cursor, ProjectId, ResultPage, Store, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRunLabel {
    /// The place of the case in the plan.
    pub place: usize,
    /// Absent on a server without accounts.
    pub author: Option<AccountId>,
    pub is_passed: bool,
    pub comment: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRunLabel {
    pub place: usize,
    pub case: String,
    pub author: Option<AccountId>,
    pub author_name: Option<String>,
    pub is_passed: bool,
    pub comment: String,
    pub time: Time,
}

statements! {
    PUT = "INSERT INTO run_labels (run, place, author, is_passed, comment, time)
        SELECT run_results.run, run_results.place, $4, $5, $6, $7
        FROM run_results JOIN runs ON runs.id = run_results.run
        WHERE runs.project = $1 AND run_results.run = $2 AND run_results.place = $3
        ON CONFLICT (run, place, author) DO UPDATE SET is_passed = excluded.is_passed,
        comment = excluded.comment, time = excluded.time";
    REMOVE = "DELETE FROM run_labels WHERE run IN (SELECT id FROM runs WHERE project = $1 AND id = $2)
        AND place = $3 AND author = $4";
    LIST = "SELECT run_labels.place, run_results.case_name, run_labels.author, accounts.name AS author_name,
        run_labels.is_passed, run_labels.comment, run_labels.time
        FROM run_labels JOIN runs ON runs.id = run_labels.run
        JOIN run_results ON run_results.run = run_labels.run AND run_results.place = run_labels.place
        LEFT JOIN accounts ON accounts.id = run_labels.author
        WHERE runs.project = $1 AND run_labels.run = $2 AND (run_labels.place, run_labels.author) > ($3, $4)
        ORDER BY run_labels.place, run_labels.author LIMIT $5";
}

impl Store {
    /// Stores a label, or replaces that of the same author. `false` if the case has no result.
    pub async fn put_run_label(
        &self,
        project: ProjectId,
        run: RunId,
        label: &NewRunLabel,
        now: Time,
    ) -> Result<bool, StoreError> {
        let NewRunLabel { place, author, is_passed, comment } = label;
        let args = args![project, run.to_string(), *place, author_key(*author), *is_passed, comment, now];
        Ok(self.db.execute(PUT, args).await? == 1)
    }

    /// Removes the author's label of a case, if there is one.
    pub async fn remove_run_label(
        &self,
        project: ProjectId,
        run: RunId,
        place: usize,
        author: Option<AccountId>,
    ) -> Result<(), StoreError> {
        self.db.execute(REMOVE, args![project, run.to_string(), place, author_key(author)]).await?;
        Ok(())
    }

    /// In plan order.
    pub async fn run_labels(
        &self,
        project: ProjectId,
        run: RunId,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<ResultPage<StoredRunLabel>, StoreError> {
        let Cursor { sort, id } = Cursor::bottom(after);
        let rows = self.db.fetch(LIST, args![project, run.to_string(), sort, id, limit + 1]).await?;
        let labels = rows.iter().map(read_run_label_row).collect::<Result<_, _>>()?;
        Ok(ResultPage::of(labels, limit, |label: &StoredRunLabel| {
            let place = i64::try_from(label.place).unwrap_or(i64::MAX);
            Cursor::new(place, &author_key(label.author))
        }))
    }
}

/// The column is part of the primary key, so it is not null.
fn author_key(author: Option<AccountId>) -> String {
    author.map(|author| author.to_string()).unwrap_or_default()
}

fn read_run_label_row(row: &DbRow) -> Result<StoredRunLabel, StoreError> {
    let author: String = row.get("author")?;
    Ok(StoredRunLabel {
        place: usize::try_from(row.count("place")?).unwrap_or(usize::MAX),
        case: row.get("case_name")?,
        author: if author.is_empty() { None } else { Some(row.parse("author")?) },
        author_name: row.get("author_name")?,
        is_passed: row.flag("is_passed")?,
        comment: row.get("comment")?,
        time: row.time("time")?,
    })
}
