//! Keyset pagination: a page begins after the last row of the page before; rows are never counted with OFFSET.

use std::fmt;
use std::str::FromStr;

/// A page of rows, and the cursor of the next page.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultPage<T> {
    pub items: Vec<T>,
    /// `None` on the last page.
    pub next: Option<Cursor>,
}

/// Position after a row: its sort key and its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) sort: i64,
    pub(crate) id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a page cursor; use the one of the previous page")]
pub struct BadCursor(String);

impl Cursor {
    pub(crate) fn new(sort: i64, id: &impl ToString) -> Self {
        Self { sort, id: id.to_string() }
    }

    /// The cursor, or the start of an ascending list.
    pub(crate) fn bottom(cursor: Option<&Self>) -> Self {
        cursor.cloned().unwrap_or(Self { sort: i64::MIN, id: String::new() })
    }

    /// The cursor, or the start of a descending list.
    pub(crate) fn top(cursor: Option<&Self>) -> Self {
        cursor.cloned().unwrap_or(Self { sort: i64::MAX, id: "\u{10ffff}".to_owned() })
    }
}

impl<T> ResultPage<T> {
    /// Builds a page from up to `limit + 1` rows; the extra row shows that there is a next page.
    pub(crate) fn of(mut items: Vec<T>, limit: usize, place: impl Fn(&T) -> Cursor) -> Self {
        let is_last = items.len() <= limit;
        items.truncate(limit);
        let next = items.last().filter(|_| !is_last).map(place);
        Self { items, next }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sort, self.id)
    }
}

impl FromStr for Cursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        let parts = text.split_once('.').and_then(|(sort, id)| Some((sort.parse().ok()?, id)));
        let (sort, id) = parts.ok_or_else(|| BadCursor(text.to_owned()))?;
        Ok(Self { sort, id: id.to_owned() })
    }
}

impl serde::Serialize for Cursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Cursor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
