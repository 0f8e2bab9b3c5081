//! Arguments of statements, for both engines.

use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Postgres, SqlSafeStr, Sqlite};

use crate::Probability;

/// An argument of a statement. NULL keeps its type, because PostgreSQL needs it.
#[derive(Debug, Clone)]
pub(crate) enum Arg {
    Text(Option<String>),
    Int(Option<i64>),
    Real(Option<f64>),
    Bytes(Option<Vec<u8>>),
}

pub(crate) fn lite<'q>(
    sql: impl SqlSafeStr,
    args: Vec<Arg>,
) -> sqlx::query::Query<'q, Sqlite, SqliteArguments> {
    args.into_iter().fold(sqlx::query(sql), |query, arg| match arg {
        Arg::Text(it) => query.bind(it),
        Arg::Int(it) => query.bind(it),
        Arg::Real(it) => query.bind(it),
        Arg::Bytes(it) => query.bind(it),
    })
}

pub(crate) fn pg<'q>(sql: impl SqlSafeStr, args: Vec<Arg>) -> sqlx::query::Query<'q, Postgres, PgArguments> {
    args.into_iter().fold(sqlx::query(sql), |query, arg| match arg {
        Arg::Text(it) => query.bind(it),
        Arg::Int(it) => query.bind(it),
        Arg::Real(it) => query.bind(it),
        Arg::Bytes(it) => query.bind(it),
    })
}

impl Arg {
    pub fn into_text(self) -> Option<String> {
        if let Self::Text(it) = self { it } else { None }
    }

    pub fn into_int(self) -> Option<i64> {
        if let Self::Int(it) = self { it } else { None }
    }

    pub fn into_real(self) -> Option<f64> {
        if let Self::Real(it) = self { it } else { None }
    }

    pub fn into_bytes(self) -> Option<Vec<u8>> {
        if let Self::Bytes(it) = self { it } else { None }
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        // PostgreSQL cannot store NUL in a text, so it is replaced for both engines.
        Self::Text(Some(if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }))
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<&String> for Arg {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Option<&str>> for Arg {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::Text(None), Self::from)
    }
}

impl From<Option<String>> for Arg {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Text(None), Self::from)
    }
}

impl From<i64> for Arg {
    fn from(number: i64) -> Self {
        Self::Int(Some(number))
    }
}

impl From<Option<i64>> for Arg {
    fn from(number: Option<i64>) -> Self {
        Self::Int(number)
    }
}

impl From<u64> for Arg {
    fn from(number: u64) -> Self {
        Self::Int(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<usize> for Arg {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<u32> for Arg {
    fn from(number: u32) -> Self {
        Self::Int(Some(number.into()))
    }
}

impl From<bool> for Arg {
    fn from(flag: bool) -> Self {
        Self::Int(Some(flag.into()))
    }
}

impl From<f64> for Arg {
    fn from(number: f64) -> Self {
        Self::Real(Some(number))
    }
}

impl From<Option<f64>> for Arg {
    fn from(number: Option<f64>) -> Self {
        Self::Real(number)
    }
}

impl From<Vec<u8>> for Arg {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(Some(bytes))
    }
}

impl From<jurist_core::grade::Time> for Arg {
    fn from(time: jurist_core::grade::Time) -> Self {
        Self::Int(Some(time.micros()))
    }
}

impl From<Option<jurist_core::grade::Time>> for Arg {
    fn from(time: Option<jurist_core::grade::Time>) -> Self {
        Self::Int(time.map(jurist_core::grade::Time::micros))
    }
}

impl From<Option<jurist_core::grade::Usd>> for Arg {
    fn from(cost: Option<jurist_core::grade::Usd>) -> Self {
        Self::Int(cost.map(jurist_core::grade::Usd::nanos))
    }
}

impl From<&serde_json::Value> for Arg {
    fn from(json: &serde_json::Value) -> Self {
        Self::Text(Some(json.to_string()))
    }
}

impl From<Probability> for Arg {
    fn from(probability: Probability) -> Self {
        Self::from(probability.get())
    }
}
