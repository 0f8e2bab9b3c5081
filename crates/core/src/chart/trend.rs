//! A number over time, inside the band in which it may lie at any time.

use super::axis::{Axis, AxisTick};
use super::canvas::{Canvas, PathShape, TextAnchor};
use super::measure::{ChartScale, ChartTable, MeasureHead, MeasureRow, MeasuredValue, finite, shared_scale};
use super::text::{SIZE, fit, to_single_line, width};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrendChart {
    pub title: String,
    pub points: Vec<TrendChartPoint>,
    /// A reference line, such as the pass mark.
    pub mark: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrendChartPoint {
    /// When, on any scale: days, traces, runs.
    pub at: f64,
    /// The same in words.
    pub label: String,
    pub measure: MeasuredValue,
}

const WIDTH: f64 = 640.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 568.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 228.0;
/// With more points than this, a line says as much without marks.
const MOST_MARKS: usize = 60;
/// Numbers next to the plot are this far from the name of the pass mark, which has two lines.
const AROUND_MARK: f64 = 17.0;
/// The widest that a time may be written.
const LABEL: f64 = 96.0;

impl TrendChart {
    pub(super) fn draw(&self) -> Canvas {
        let points = self.drawable_points();
        let scale = shared_scale(points.iter().map(|point| &point.measure));
        let about = format!("{} values over time with their confidence sequence.", points.len())
            + &ChartScale::about(scale);
        let mut canvas = Canvas::new(WIDTH, BOTTOM + 28.0, &self.title, about);
        let mark = self.mark.and_then(finite);
        let up = Axis::over(points.iter().flat_map(|point| point.measure.reach()).chain(mark), (BOTTOM, TOP));
        // Beside the plot, where no line runs through it, and above the times.
        let mark_text_y = mark.map(|mark| up.at(mark).min(BOTTOM - 8.0));
        for AxisTick { place: y, written, unit } in up.ticks_on(scale) {
            canvas.line("grid", (LEFT, y), (RIGHT, y));
            canvas.text(LEFT - 8.0, y + 4.0, TextAnchor::End, LEFT - 12.0, &written);
            let is_free = mark_text_y.is_none_or(|mark_y| AROUND_MARK <= (mark_y - y).abs());
            if let Some(unit) = unit.filter(|_| is_free) {
                canvas.text(RIGHT + 6.0, y + 4.0, TextAnchor::Start, WIDTH - RIGHT - 8.0, &unit);
            }
        }
        let across = time_axis(&points);
        draw_times(&mut canvas, &points, &across);
        for piece in points
            .split(|point| point.measure.interval().is_none())
            .filter(|trend_chart_points| 1 < trend_chart_points.len())
        {
            let ends = |trend_chart_point: &&TrendChartPoint| {
                trend_chart_point
                    .measure
                    .interval()
                    .map(|(low, high)| (across.at(trend_chart_point.at), up.at(low), up.at(high)))
            };
            let ends: Vec<(f64, f64, f64)> = piece.iter().filter_map(ends).collect();
            let above = ends.iter().map(|(x, _, high)| (*x, *high));
            let band: Vec<(f64, f64)> =
                above.chain(ends.iter().rev().map(|(x, low, _)| (*x, *low))).collect();
            canvas.path("s0 band", "", &band, PathShape::Closed);
        }
        if let Some((mark, y)) = mark.zip(mark_text_y) {
            canvas.line("mark", (LEFT, up.at(mark)), (RIGHT, up.at(mark)));
            canvas.text(RIGHT + 6.0, y - 2.0, TextAnchor::Start, WIDTH - RIGHT - 8.0, "pass mark");
            canvas.text(
                RIGHT + 6.0,
                y + 11.0,
                TextAnchor::Start,
                WIDTH - RIGHT - 8.0,
                &ChartScale::format_mark(scale, mark),
            );
        }
        let place = |trend_chart_point: &&TrendChartPoint| {
            trend_chart_point.measure.value().map(|value| (across.at(trend_chart_point.at), up.at(value)))
        };
        for piece in points
            .split(|point| point.measure.value().is_none())
            .filter(|trend_chart_points| 1 < trend_chart_points.len())
        {
            canvas.path(
                "s0 stroke",
                "",
                &piece.iter().filter_map(place).collect::<Vec<_>>(),
                PathShape::Open,
            );
        }
        for point in &points {
            let Some((x, y)) = place(point) else { continue };
            if let (1, Some((low, high))) = (points.len(), point.measure.interval()) {
                canvas.whisker("whisker", (x, up.at(low)), (x, up.at(high)));
            }
            if points.len() <= MOST_MARKS {
                canvas.mark(
                    0,
                    "s0 dot",
                    &format!("{}: {}", point.label, point.measure.value_on_both_scales()),
                    (x, y),
                );
            }
        }
        canvas
    }

    /// Points that have a time, in its order.
    fn drawable_points(&self) -> Vec<&TrendChartPoint> {
        let mut points: Vec<&TrendChartPoint> =
            self.points.iter().filter(|point| finite(point.at).is_some()).collect();
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
        points
    }

    pub(super) fn table(&self) -> ChartTable {
        let row = |trend_chart_point: &TrendChartPoint| MeasureRow {
            labels: vec![to_single_line(&trend_chart_point.label)],
            measure: trend_chart_point.measure,
            more: Vec::new(),
        };
        let head = MeasureHead { labels: &["When"], value: "Value", more: &[] };
        ChartTable::of_measures(&head, self.drawable_points().into_iter().map(row))
    }
}

fn time_axis(points: &[&TrendChartPoint]) -> Axis {
    let (first, last) = (
        points.first().map_or(0.0, |trend_chart_point| trend_chart_point.at),
        points.last().map_or(1.0, |trend_chart_point| trend_chart_point.at),
    );
    // A single point in time is drawn in the middle.
    let (first, last) = if first < last { (first, last) } else { (first - 1.0, first + 1.0) };
    Axis::between(first, last, (LEFT + 6.0, RIGHT - 6.0))
}

/// Draws as many time labels as fit without overlap.
fn draw_times(canvas: &mut Canvas, points: &[&TrendChartPoint], across: &Axis) {
    let mut free = 0.0;
    for point in points {
        let half = width(&fit(&to_single_line(&point.label), LABEL, SIZE), SIZE) / 2.0;
        // At the edges, the canvas moves labels inside.
        let x = across.at(point.at).clamp(2.0 + half, WIDTH - 2.0 - half);
        if free <= x - half {
            canvas.text(x, BOTTOM + 18.0, TextAnchor::Middle, LABEL, &point.label);
            free = x + half + 14.0;
        }
    }
}
