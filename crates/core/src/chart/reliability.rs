//! Reliability diagram: whether events happen as often as they were predicted.

use super::axis::Axis;
use super::bars::draw_ticks;
use super::canvas::{Canvas, PathShape, TextAnchor};
use super::measure::{ChartTable, MeasuredValue, finite, format_short_number};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReliabilityChart {
    pub title: String,
    pub bins: Vec<ReliabilityBin>,
    /// The expected calibration error.
    pub error: Option<f64>,
}

/// Predictions of about the same size.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReliabilityBin {
    /// Their mean, on 0..=1.
    pub predicted: f64,
    /// How often it came true.
    pub observed: MeasuredValue,
    pub n: usize,
}

const LEFT: f64 = 46.0;
const RIGHT: f64 = 366.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 312.0;
/// How high the counts below are.
const COUNTS: f64 = 44.0;

impl ReliabilityChart {
    pub(super) fn draw(&self) -> Canvas {
        let about = format!(
            "Predicted against observed frequencies in {} groups; the diagonal is perfect calibration.",
            self.bins.len()
        );
        let floor = BOTTOM + 34.0 + COUNTS;
        let mut canvas = Canvas::new(390.0, floor + 44.0, &self.title, about);
        let (across, up) = (Axis::between(0.0, 1.0, (LEFT, RIGHT)), Axis::between(0.0, 1.0, (BOTTOM, TOP)));
        draw_ticks(&mut canvas, &across, (TOP, BOTTOM));
        for (value, written) in up.ticks() {
            canvas.line("grid", (LEFT, up.at(value)), (RIGHT, up.at(value)));
            canvas.text(LEFT - 7.0, up.at(value) + 4.0, TextAnchor::End, 36.0, &written);
        }
        canvas.text(LEFT + 8.0, TOP + 16.0, TextAnchor::Start, 220.0, "observed more often than predicted");
        canvas.text(RIGHT - 8.0, BOTTOM - 10.0, TextAnchor::End, 220.0, "observed less often than predicted");
        canvas.line("mark", (LEFT, BOTTOM), (RIGHT, TOP));
        let points: Vec<(f64, f64)> = self
            .drawable_bins()
            .filter_map(|reliability_bin| {
                Some((across.at(reliability_bin.predicted), up.at(reliability_bin.observed.value()?)))
            })
            .collect();
        canvas.path("s0 stroke", "", &points, PathShape::Open);
        let most =
            self.drawable_bins().map(|reliability_bin| reliability_bin.n).max().unwrap_or(0).max(1) as f64;
        for bin in self.drawable_bins() {
            let x = across.at(bin.predicted);
            if let Some((low, high)) = bin.observed.interval() {
                canvas.whisker("whisker", (x, up.at(low)), (x, up.at(high)));
            }
            let tip = format!(
                "predicted {}, observed {}, n = {}",
                format_short_number(bin.predicted),
                bin.observed.value_with_interval(),
                bin.n
            );
            if let Some(value) = bin.observed.value() {
                canvas.mark(0, "s0 dot", &tip, (x, up.at(value)));
            }
            let high = COUNTS * bin.n as f64 / most;
            canvas.rect("deferred fill", &tip, (x - 5.0, floor - high), (10.0, high));
        }
        canvas.line("axis", (LEFT, floor), (RIGHT, floor));
        canvas.text(LEFT - 7.0, floor - COUNTS + 8.0, TextAnchor::End, 40.0, &most.to_string());
        canvas.text(LEFT - 7.0, floor, TextAnchor::End, 40.0, "n");
        let error = self
            .error
            .and_then(finite)
            .map(|value| format!(", calibration error {}", format_short_number(value)));
        let said = format!("predicted across, observed up{}", error.unwrap_or_default());
        canvas.text(LEFT, floor + 22.0, TextAnchor::Start, RIGHT - LEFT, &said);
        canvas
    }

    /// Groups that have a value to draw, in the order of their predictions.
    fn drawable_bins(&self) -> impl Iterator<Item = ReliabilityBin> {
        let mut bins: Vec<ReliabilityBin> =
            self.bins.iter().filter(|bin| (0.0..=1.0).contains(&bin.predicted)).copied().collect();
        bins.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
        bins.into_iter()
    }

    pub(super) fn table(&self) -> ChartTable {
        let row = |reliability_bin: ReliabilityBin| {
            let observed = reliability_bin.observed.cells();
            [format_short_number(reliability_bin.predicted)]
                .into_iter()
                .chain(observed)
                .chain([reliability_bin.n.to_string()])
                .collect()
        };
        ChartTable::new(&["Predicted", "Observed", "95 % interval", "n"], self.drawable_bins().map(row))
    }
}
