//! Scores on 0..=1 around a circle: one shape, or several on top of each other, with bands for intervals.

use std::f64::consts::TAU;

use super::bars::{Bar, Bars};
use super::canvas::{Canvas, PathShape, TextAnchor, legend_height, series_class};
use super::measure::{
    ChartTable, MeasureHead, MeasureRow, MeasuredValue, finite, format_rounded_number, shared_scale,
};
use super::palette::Tone;
use super::text::to_single_line;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Radar {
    pub title: String,
    pub axes: Vec<String>,
    pub series: Vec<RadarSeries>,
    /// The pass mark as a ring.
    pub mark: Option<f64>,
}

/// One shape, such as an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RadarSeries {
    pub name: String,
    /// One for each axis; what is missing leaves a gap.
    pub values: Vec<MeasuredValue>,
}

/// Fewer axes than this make no shape.
const LEAST: usize = 3;
/// Room for a label next to the circle, and its distance from it.
const ROOM: f64 = 126.0;
const DISTANCE: f64 = 11.0;
/// From one label to the next below it.
const ROW: f64 = 14.0;

/// Where everything lies.
struct RadarLayout {
    middle_x: f64,
    middle_y: f64,
    radius: f64,
    n: usize,
}

impl RadarLayout {
    fn new(n: usize) -> Self {
        let radius = (ROW * n.div_ceil(2) as f64 / 2.0).clamp(84.0, 150.0);
        // Many labels need more height than their circle.
        let high = (2.0 * radius).max(ROW * n.div_ceil(2) as f64) + 60.0;
        Self { middle_x: radius + ROOM, middle_y: high / 2.0, radius, n }
    }

    fn direction(&self, at: usize) -> (f64, f64) {
        let angle = TAU * at as f64 / self.n as f64 - TAU / 4.0;
        (angle.cos(), angle.sin())
    }

    fn place(&self, at: usize, value: f64) -> (f64, f64) {
        let (dx, dy) = self.direction(at);
        let reach = self.radius * value.clamp(0.0, 1.0);
        (self.middle_x + reach * dx, self.middle_y + reach * dy)
    }

    fn ring(&self, value: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
        (0..self.n).map(|at| self.place(at, value(at))).collect()
    }
}

impl Radar {
    pub(super) fn draw(&self) -> Canvas {
        if self.axes.len() < LEAST {
            return self.as_bars().draw();
        }
        let layout = RadarLayout::new(self.axes.len());
        let legend: Vec<(String, String)> = self
            .series
            .iter()
            .enumerate()
            .map(|(at, radar_series)| (series_class(at), radar_series.name.clone()))
            .collect();
        let legend = if 1 < legend.len() { legend } else { Vec::new() };
        let (wide, high) = (2.0 * layout.middle_x, 2.0 * layout.middle_y);
        let about = format!("{} on {} axes {}.", self.names(), self.axes.len(), self.describe_axis());
        let mut canvas = Canvas::new(wide, high + 2.0 + legend_height(wide, &legend), &self.title, about);
        for level in [0.25, 0.5, 0.75, 1.0] {
            canvas.polygon("grid", &layout.ring(|_| level));
        }
        for at in 0..layout.n {
            canvas.line("grid", (layout.middle_x, layout.middle_y), layout.place(at, 1.0));
        }
        if let Some(mark) = self.mark.and_then(finite) {
            canvas.polygon("mark", &layout.ring(|_| mark));
        }
        for (at, series) in self.series.iter().enumerate() {
            self.draw_series(&mut canvas, &layout, at, series);
        }
        self.draw_labels(&mut canvas, &layout);
        canvas.legend(high + 2.0, &legend);
        canvas
    }

    /// From where to where each axis goes.
    fn describe_axis(&self) -> String {
        let measures = || self.series.iter().flat_map(|series| &series.values);
        let (low, high) = match shared_scale(measures()) {
            Some(scale) => (scale.place(0.0), scale.place(1.0)),
            None if measures().any(MeasuredValue::has_scale) => {
                return "from the lowest score in the middle to the highest".to_owned();
            }
            None => (0.0, 1.0),
        };
        format!("from {} in the middle to {}", format_rounded_number(low), format_rounded_number(high))
    }

    fn names(&self) -> String {
        match self.series.as_slice() {
            [one] if !one.name.is_empty() => to_single_line(&one.name),
            [_] => "Scores".to_owned(),
            more => format!("{} shapes", more.len()),
        }
    }

    fn draw_series(&self, canvas: &mut Canvas, layout: &RadarLayout, index: usize, series: &RadarSeries) {
        let tone = series_class(index);
        let measure = |at: usize| series.values.get(at).copied().unwrap_or_default();
        let whole = (0..layout.n).all(|n| measure(n).value().is_some());
        let end = |at: usize, low: bool| {
            let (from, to) = measure(at).interval().unwrap_or_else(|| {
                let value = measure(at).value().unwrap_or(0.0);
                (value, value)
            });
            if low { from } else { to }
        };
        if whole && (0..layout.n).any(|n| measure(n).interval().is_some()) {
            canvas.ring(
                &format!("{tone} band"),
                &layout.ring(|at| end(at, false)),
                &layout.ring(|at| end(at, true)),
            );
        } else if whole && self.series.len() == 1 {
            canvas.polygon(&format!("{tone} area"), &layout.ring(|at| measure(at).value().unwrap_or(0.0)));
        }
        let point =
            |at: usize| measure(at % layout.n).value().map(|value| layout.place(at % layout.n, value));
        // Where nothing was scored, the line is broken.
        if whole {
            let outline: Vec<(f64, f64)> = (0..layout.n).filter_map(point).collect();
            canvas.path(&format!("{tone} stroke"), "", &outline, PathShape::Closed);
        } else {
            for at in 0..layout.n {
                if let (Some(from), Some(to)) = (point(at), point(at + 1)) {
                    canvas.line(&format!("{tone} stroke"), from, to);
                }
            }
        }
        for at in 0..layout.n {
            let Some(place) = point(at) else { continue };
            let who = if series.name.is_empty() { String::new() } else { format!("{}, ", series.name) };
            let tip = format!("{who}{}: {}", self.axes[at], measure(at).value_on_both_scales());
            canvas.mark(index, &format!("{tone} dot"), &tip, place);
        }
    }

    /// Names next to the circle; those that would touch are moved apart and led to by a line.
    fn draw_labels(&self, canvas: &mut Canvas, layout: &RadarLayout) {
        for side in [TextAnchor::End, TextAnchor::Start] {
            let is_here = |at: usize| (layout.direction(at).0 < -1e-6) == (side == TextAnchor::End);
            let mut labels: Vec<(usize, f64)> = (0..layout.n)
                .filter(|n| is_here(*n))
                .map(|at| (at, self.label_place(layout, at).1))
                .collect();
            labels.sort_by(|(_, a), (_, b)| a.total_cmp(b));
            spread(&mut labels, 2.0 * layout.middle_y);
            for (at, y) in labels {
                let (x, wanted) = self.label_place(layout, at);
                // At the top and the bottom, text is centred if its neighbours leave room for that.
                let upright = layout.direction(at).0.abs() < 12.0 / layout.radius;
                let centred = upright && (wanted - y).abs() < 1.0 && layout.n <= 12;
                let anchor = if centred { TextAnchor::Middle } else { side };
                // Moved up or down, it would run into the circle.
                let x = if (wanted - y).abs() < 1.0 { x } else { self.outside(layout, side, y, x) };
                if 6.0 < (wanted - y).abs() {
                    let end = if side == TextAnchor::End { x + 2.0 } else { x - 2.0 };
                    canvas.line("grid", layout.place(at, 1.0), (end, y - 4.0));
                }
                let room = match anchor {
                    TextAnchor::Middle => 2.0 * ROOM,
                    TextAnchor::End => x - 4.0,
                    TextAnchor::Start => 2.0 * layout.middle_x - x - 4.0,
                };
                canvas.text_and(x, y, anchor, room, (&self.axes[at], &self.value_behind(at)));
            }
        }
    }

    fn label_place(&self, layout: &RadarLayout, at: usize) -> (f64, f64) {
        let (dx, dy) = layout.direction(at);
        let reach = layout.radius + DISTANCE;
        (layout.middle_x + reach * dx, layout.middle_y + reach * dy + 4.0 + 4.0 * dy)
    }

    /// How far from the middle a label at this height is clear of the circle.
    fn outside(&self, layout: &RadarLayout, side: TextAnchor, y: f64, wanted: f64) -> f64 {
        let reach = layout.radius + DISTANCE;
        let half = (reach.powi(2) - (y - 4.0 - layout.middle_y).powi(2)).max(0.0).sqrt();
        if side == TextAnchor::End {
            wanted.min(layout.middle_x - half)
        } else {
            wanted.max(layout.middle_x + half)
        }
    }

    /// With a single shape, the value is after the name.
    fn value_behind(&self, at: usize) -> String {
        let [one] = self.series.as_slice() else { return String::new() };
        let value = one.values.get(at).and_then(MeasuredValue::short_value);
        value.map_or_else(|| " –".to_owned(), |value| format!(" {value}"))
    }

    /// One or two axes make no shape.
    fn as_bars(&self) -> Bars {
        let mut bars = Vec::new();
        for (at, axis) in self.axes.iter().enumerate() {
            for series in &self.series {
                let label =
                    if series.name.is_empty() { axis.clone() } else { format!("{axis}, {}", series.name) };
                let measure = series.values.get(at).copied().unwrap_or_default();
                bars.push(Bar { label, measure, tone: Tone::Plain });
            }
        }
        Bars { title: self.title.clone(), bars, mark: self.mark }
    }

    pub(super) fn table(&self) -> ChartTable {
        let rows = self.axes.iter().enumerate().flat_map(|(at, axis)| {
            self.series.iter().map(move |series| {
                let measure = series.values.get(at).copied().unwrap_or_default();
                let labels = vec![to_single_line(axis), to_single_line(&series.name)];
                MeasureRow { labels, measure, more: Vec::new() }
            })
        });
        let head = MeasureHead { labels: &["", "Of"], value: "Value", more: &[] };
        ChartTable::of_measures(&head, rows)
    }
}

/// Moves labels, from top to bottom, until none touches the next and all are inside.
fn spread(labels: &mut [(usize, f64)], height: f64) {
    let mut free = ROW;
    for (_, y) in labels.iter_mut() {
        *y = y.max(free);
        free = *y + ROW;
    }
    let mut free = height - 6.0;
    for (_, y) in labels.iter_mut().rev() {
        *y = y.min(free);
        free = *y - ROW;
    }
}
