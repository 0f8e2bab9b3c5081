//! A number over time, inside the band in which it may lie at any time.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Shape};
use super::measure::{Measure, Table, finite, rounded};
use super::text::{SIZE, fit, line, width};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trend {
    pub title: String,
    pub points: Vec<TrendPoint>,
    /// What it is held against.
    pub mark: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrendPoint {
    /// When, on any scale: days, traces, runs.
    pub at: f64,
    /// The same in words.
    pub label: String,
    pub measure: Measure,
}

const WIDTH: f64 = 640.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 568.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 228.0;
/// With more points than this, a line says as much without marks.
const MOST_MARKS: usize = 60;
/// The widest that a time may be written.
const LABEL: f64 = 96.0;

impl Trend {
    pub(super) fn draw(&self) -> Canvas {
        let points = self.drawn();
        let about = format!("{} values over time with their confidence sequence.", points.len());
        let mut canvas = Canvas::new(WIDTH, BOTTOM + 28.0, &self.title, about);
        let mark = self.mark.and_then(finite);
        let up = Axis::over(points.iter().flat_map(|it| it.measure.reach()).chain(mark), (BOTTOM, TOP));
        for (value, written) in up.ticks() {
            canvas.line("grid", (LEFT, up.at(value)), (RIGHT, up.at(value)));
            canvas.text(LEFT - 8.0, up.at(value) + 4.0, Anchor::End, LEFT - 12.0, &written);
        }
        let across = across(&points);
        draw_times(&mut canvas, &points, &across);
        for piece in points.split(|it| it.measure.interval().is_none()).filter(|it| 1 < it.len()) {
            let ends = |it: &&TrendPoint| {
                it.measure.interval().map(|ends| (across.at(it.at), up.at(ends.0), up.at(ends.1)))
            };
            let ends: Vec<(f64, f64, f64)> = piece.iter().filter_map(ends).collect();
            let above = ends.iter().map(|it| (it.0, it.2));
            let band: Vec<(f64, f64)> = above.chain(ends.iter().rev().map(|it| (it.0, it.1))).collect();
            canvas.path("s0 band", "", &band, Shape::Closed);
        }
        if let Some(mark) = mark {
            let y = up.at(mark);
            canvas.line("mark", (LEFT, y), (RIGHT, y));
            // Beside the plot, where no line runs through it, and above the times.
            let y = y.min(BOTTOM - 8.0);
            canvas.text(RIGHT + 6.0, y - 2.0, Anchor::Start, WIDTH - RIGHT - 8.0, "pass mark");
            canvas.text(RIGHT + 6.0, y + 11.0, Anchor::Start, WIDTH - RIGHT - 8.0, &rounded(mark));
        }
        let place = |it: &&TrendPoint| it.measure.value().map(|value| (across.at(it.at), up.at(value)));
        for piece in points.split(|it| it.measure.value().is_none()).filter(|it| 1 < it.len()) {
            canvas.path("s0 stroke", "", &piece.iter().filter_map(place).collect::<Vec<_>>(), Shape::Open);
        }
        for point in &points {
            let Some((x, y)) = place(point) else { continue };
            if let (1, Some((low, high))) = (points.len(), point.measure.interval()) {
                canvas.whisker("whisker", (x, up.at(low)), (x, up.at(high)));
            }
            if points.len() <= MOST_MARKS {
                canvas.mark(0, "s0 dot", &format!("{}: {}", point.label, point.measure.said()), (x, y));
            }
        }
        canvas
    }

    /// Points that have a time, in its order.
    fn drawn(&self) -> Vec<&TrendPoint> {
        let mut points: Vec<&TrendPoint> = self.points.iter().filter(|it| finite(it.at).is_some()).collect();
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
        points
    }

    pub(super) fn table(&self) -> Table {
        let row = |it: &TrendPoint| [line(&it.label)].into_iter().chain(it.measure.cells()).collect();
        Table::new(&["When", "Value", "95 % interval"], self.drawn().into_iter().map(row))
    }
}

fn across(points: &[&TrendPoint]) -> Axis {
    let (first, last) = (points.first().map_or(0.0, |it| it.at), points.last().map_or(1.0, |it| it.at));
    // One moment stands in the middle.
    let (first, last) = if first < last { (first, last) } else { (first - 1.0, first + 1.0) };
    Axis::between(first, last, (LEFT + 6.0, RIGHT - 6.0))
}

/// As many times as fit beside each other.
fn draw_times(canvas: &mut Canvas, points: &[&TrendPoint], across: &Axis) {
    let mut free = 0.0;
    for point in points {
        let half = width(&fit(&line(&point.label), LABEL, SIZE), SIZE) / 2.0;
        // Where the canvas will put it, at the edges.
        let x = across.at(point.at).clamp(2.0 + half, WIDTH - 2.0 - half);
        if free <= x - half {
            canvas.text(x, BOTTOM + 18.0, Anchor::Middle, LABEL, &point.label);
            free = x + half + 14.0;
        }
    }
}
