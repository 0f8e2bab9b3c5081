//! Statements whose conditions depend on a filter.

use sqlx::AssertSqlSafe;

use crate::StoreError;
use crate::db::{Arg, Db, DbRow, Tx};

/// A statement to which conditions are added. Conditions are constants; user input is always an argument.
#[derive(Debug, Clone)]
pub(crate) struct SelectQuery {
    pub sql: String,
    args: Vec<Arg>,
}

impl SelectQuery {
    /// The statement must end in a condition, so that others can be added with AND.
    pub fn new(sql: &str, args: Vec<Arg>) -> Self {
        Self { sql: sql.to_owned(), args }
    }

    /// A condition in which `?` is the argument.
    pub fn and(mut self, condition: &'static str, arg: impl Into<Arg>) -> Self {
        self.args.push(arg.into());
        let place = format!("${}", self.args.len());
        self.sql += &format!(" AND {}", condition.replace('?', &place));
        self
    }

    pub fn and_maybe<T: Into<Arg>>(self, condition: &'static str, arg: Option<T>) -> Self {
        match arg {
            Some(arg) => self.and(condition, arg),
            None => self,
        }
    }

    /// `column IN (…)`; nothing for no values.
    pub fn and_in(mut self, column: &'static str, values: Vec<Arg>) -> Self {
        if values.is_empty() {
            return self;
        }
        let places: Vec<String> = (1..=values.len()).map(|n| format!("${}", self.args.len() + n)).collect();
        self.args.extend(values);
        self.sql += &format!(" AND {column} IN ({})", places.join(", "));
        self
    }

    pub fn then(mut self, tail: &str) -> Self {
        self.sql += " ";
        self.sql += tail;
        self
    }

    pub fn limit(mut self, limit: usize) -> Self {
        self.args.push(Arg::from(limit));
        self.sql += &format!(" LIMIT ${}", self.args.len());
        self
    }

    pub async fn fetch(self, db: &Db) -> Result<Vec<DbRow>, StoreError> {
        db.fetch(AssertSqlSafe(self.sql), self.args).await
    }

    pub async fn fetch_in(self, tx: &mut Tx) -> Result<Vec<DbRow>, StoreError> {
        tx.fetch(AssertSqlSafe(self.sql), self.args).await
    }

    pub fn into_parts(self) -> (String, Vec<Arg>) {
        (self.sql, self.args)
    }
}

/// A pattern for `LIKE … ESCAPE '!'` that matches every text which contains this one.
pub(crate) fn contains_pattern(text: &str) -> String {
    let escaped = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}
