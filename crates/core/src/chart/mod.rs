//! Charts as SVG, pure functions of their numbers, for the terminal's files, the HTML report and the web.
//!
//! A chart knows nothing of runs. What it draws it also gives as a table, and every label may come from
//! strangers. Colours follow the reader's light or dark mode; a page that sets the variables of
//! [`palette`] gets its own.

mod axis;
mod bars;
mod canvas;
mod distribution;
mod forest;
mod matrix;
mod measure;
pub mod palette;
mod radar;
mod reliability;
mod text;
mod trend;
#[cfg(test)]
mod tests;

pub use bars::{Bar, Bars};
pub use canvas::ChartMedium;
pub use distribution::{Distribution, DistributionLayer};
pub use forest::{Forest, ForestRow};
pub use matrix::{MatrixChart, Shade};
pub use measure::{ChartTable, MeasuredValue};
pub use palette::Tone;
pub use radar::{Radar, RadarSeries};
pub use reliability::{ReliabilityBin, ReliabilityChart};
pub(crate) use text::escape_xml;
pub use trend::{TrendChart, TrendChartPoint};

/// Every kind of chart. Adding one: a file, a variant, a line in each `match`.
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    Radar(Radar),
    Bars(Bars),
    Distribution(Distribution),
    Matrix(MatrixChart),
    Reliability(ReliabilityChart),
    Trend(TrendChart),
    Forest(Forest),
}

impl Chart {
    /// The same picture for the same numbers, byte for byte.
    ///
    /// ```
    /// use jurist_core::chart::{Bar, Bars, Chart, ChartMedium, MeasuredValue, Tone};
    ///
    /// let bar = |label: &str, value| Bar { label: label.into(), measure: MeasuredValue::of(value), tone: Tone::Plain };
    /// let chart = Chart::Bars(Bars {
    ///     title: "Mean score".into(),
    ///     bars: vec![bar("claude", 0.81), bar("<b>", 0.64)],
    ///     mark: Some(0.7),
    /// });
    /// assert!(chart.svg(ChartMedium::File).contains("&lt;b&gt;"));
    /// assert_eq!(chart.table().rows[0], ["claude", "0.81", "–"]);
    /// ```
    pub fn svg(&self, place: ChartMedium) -> String {
        let canvas = match self {
            Self::Radar(it) => it.draw(),
            Self::Bars(it) => it.draw(),
            Self::Distribution(it) => it.draw(),
            Self::Matrix(it) => it.draw(),
            Self::Reliability(it) => it.draw(),
            Self::Trend(it) => it.draw(),
            Self::Forest(it) => it.draw(),
        };
        canvas.finish(place)
    }

    /// What is drawn, for those who would rather read it.
    pub fn table(&self) -> ChartTable {
        match self {
            Self::Radar(it) => it.table(),
            Self::Bars(it) => it.table(),
            Self::Distribution(it) => it.table(),
            Self::Matrix(it) => it.table(),
            Self::Reliability(it) => it.table(),
            Self::Trend(it) => it.table(),
            Self::Forest(it) => it.table(),
        }
    }
}
