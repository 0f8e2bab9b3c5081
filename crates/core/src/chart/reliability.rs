//! Reliability diagram: whether events happen as often as they were predicted.

use super::axis::{Axis, AxisTick};
use super::bars::{draw_ticks, ticks_height};
use super::canvas::{Canvas, PathShape, TextAnchor};
use super::measure::{
    ChartScale, ChartTable, MeasureHead, MeasureRow, MeasuredValue, finite, format_short_number, shared_scale,
};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReliabilityChart {
    pub title: String,
    pub bins: Vec<ReliabilityBin>,
    /// The expected calibration error.
    pub error: Option<f64>,
    /// The ends of the scale of the rubric, if predictions are scores on one.
    pub scale: Option<(f64, f64)>,
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
const WIDTH: f64 = 390.0;
/// Room for numbers from 0 to 1 at the right, if those at the left are on another scale.
const UNIT_NUMBERS: f64 = 24.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 312.0;
/// How high the counts below are.
const COUNTS: f64 = 44.0;

impl ReliabilityChart {
    pub(super) fn draw(&self) -> Canvas {
        let scale = ChartScale::of_scores(self.scale);
        let observed_scale = shared_scale(self.bins.iter().map(|bin| &bin.observed));
        let about = format!(
            "Predicted against observed frequencies in {} groups; the diagonal is perfect calibration.",
            self.bins.len()
        ) + &ChartScale::about(scale);
        let floor = BOTTOM + 8.0 + ticks_height(scale) + COUNTS;
        let width = if observed_scale.is_some() { WIDTH + UNIT_NUMBERS } else { WIDTH };
        let mut canvas = Canvas::new(width, floor + 44.0, &self.title, about);
        let (across, up) = (Axis::between(0.0, 1.0, (LEFT, RIGHT)), Axis::between(0.0, 1.0, (BOTTOM, TOP)));
        draw_ticks(&mut canvas, &across, scale, (TOP, BOTTOM));
        for AxisTick { place: y, written, unit } in up.ticks_on(observed_scale) {
            canvas.line("grid", (LEFT, y), (RIGHT, y));
            canvas.text(LEFT - 7.0, y + 4.0, TextAnchor::End, 36.0, &written);
            if let Some(unit) = unit {
                canvas.text(RIGHT + 6.0, y + 4.0, TextAnchor::Start, UNIT_NUMBERS + 16.0, &unit);
            }
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
                self.scaled_prediction(bin).value_on_both_scales(),
                bin.observed.value_on_both_scales(),
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

    /// The prediction of a group, on the scale on which it is written.
    fn scaled_prediction(&self, bin: ReliabilityBin) -> MeasuredValue {
        MeasuredValue::of(bin.predicted).on_scale(self.scale)
    }

    /// Groups that have a value to draw, in the order of their predictions.
    fn drawable_bins(&self) -> impl Iterator<Item = ReliabilityBin> {
        let mut bins: Vec<ReliabilityBin> =
            self.bins.iter().filter(|bin| (0.0..=1.0).contains(&bin.predicted)).copied().collect();
        bins.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
        bins.into_iter()
    }

    pub(super) fn table(&self) -> ChartTable {
        let row = |reliability_bin: ReliabilityBin| MeasureRow {
            labels: vec![self.scaled_prediction(reliability_bin).value_on_both_scales()],
            measure: reliability_bin.observed,
            more: vec![reliability_bin.n.to_string()],
        };
        let head = MeasureHead { labels: &["Predicted"], value: "Observed", more: &["n"] };
        ChartTable::of_measures(&head, self.drawable_bins().map(row))
    }
}
