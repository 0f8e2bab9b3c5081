//! Charts of the reports, for pages.

use jurist_core::chart::{Chart, Place};
use serde::Serialize;
use utoipa::ToSchema;

/// A chart and the table behind it
#[derive(Debug, Serialize, ToSchema)]
pub struct Picture {
    /// To stand inside a page, whose colours it takes; every text in it is escaped.
    svg: String,
    table: PictureTable,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PictureTable {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl From<&Chart> for Picture {
    fn from(chart: &Chart) -> Self {
        let table = chart.table();
        let table = PictureTable { columns: table.head, rows: table.rows };
        Self { svg: chart.svg(Place::Page), table }
    }
}
