//! Charts as pages have them.

use jurist_core::chart::{Chart, Place};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A chart, and the table behind it
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Picture {
    /// To stand inside a page: it follows light and dark, and has no title of its own.
    pub svg: String,
    pub table: PictureTable,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PictureTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl From<&Chart> for Picture {
    fn from(chart: &Chart) -> Self {
        let table = chart.table();
        let table = PictureTable { columns: table.head, rows: table.rows };
        Self { svg: chart.svg(Place::Page), table }
    }
}
