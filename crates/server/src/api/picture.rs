//! Charts of the reports, for pages.

use jurist_core::chart::{Chart, ChartMedium};
use serde::Serialize;
use utoipa::ToSchema;

/// A chart and the table behind it
#[derive(Debug, Serialize, ToSchema)]
pub struct ChartView {
    /// SVG to embed in a page; it uses the colours of the page, and its texts are escaped.
    svg: String,
    /// The figures of the chart as a table.
    table: PictureTable,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PictureTable {
    /// Heads of the columns.
    columns: Vec<String>,
    /// Cells, row by row.
    rows: Vec<Vec<String>>,
}

impl From<&Chart> for ChartView {
    fn from(chart: &Chart) -> Self {
        let table = chart.table();
        let table = PictureTable { columns: table.head, rows: table.rows };
        Self { svg: chart.svg(ChartMedium::Page), table }
    }
}
