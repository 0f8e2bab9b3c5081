//! Bars that lie, each with its interval: means of agents, rates of criteria.

use super::axis::{Axis, AxisTick};
use super::canvas::{Canvas, TextAnchor};
use super::measure::{ChartScale, ChartTable, MeasureHead, MeasureRow, MeasuredValue, finite, shared_scale};
use super::palette::Tone;
use super::text::{SIZE, to_single_line, width};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    pub title: String,
    pub bars: Vec<Bar>,
    /// A reference line, such as the pass mark.
    pub mark: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    pub label: String,
    pub measure: MeasuredValue,
    pub tone: Tone,
}

const WIDTH: f64 = 640.0;
const TOP: f64 = 26.0;
/// Room for a value at the right: what it needs, between these, and what lies around it.
const VALUE: std::ops::RangeInclusive<f64> = 46.0..=90.0;
const AROUND_VALUE: f64 = 16.0;
/// Room for the numbers of an axis below it, and for the same from 0 to 1 below these.
const TICKS: f64 = 26.0;
const UNIT_TICKS: f64 = 13.0;

/// How much room names get at the left: what they need, and no more than this.
pub(super) fn label_room<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    labels.map(|label| width(&to_single_line(label), SIZE)).fold(24.0, f64::max).min(210.0)
}

impl Bars {
    pub(super) fn draw(&self) -> Canvas {
        let room = label_room(self.bars.iter().map(|bar| bar.label.as_str()));
        let row = if 14 < self.bars.len() { 20.0 } else { 28.0 };
        let bottom = TOP + row * self.bars.len().max(1) as f64;
        let scale = shared_scale(self.bars.iter().map(|bar| &bar.measure));
        let about = format!("Bar chart of {} values; the table lists them.", self.bars.len())
            + &ChartScale::about(scale);
        let mut canvas = Canvas::new(WIDTH, bottom + ticks_height(scale), &self.title, about);
        let mark = self.mark.and_then(finite);
        let reach = self.bars.iter().flat_map(|bar| bar.measure.reach()).chain(mark).chain([0.0]);
        let values = self.bars.iter().map(|bar| width(&bar.measure.cells()[0], SIZE));
        let value_room = values.fold(*VALUE.start(), f64::max).min(*VALUE.end());
        let axis = Axis::over(reach, (room + 22.0, WIDTH - value_room - AROUND_VALUE));
        draw_ticks(&mut canvas, &axis, scale, (TOP - 4.0, bottom));
        let high = row * 0.56;
        for (at, bar) in self.bars.iter().enumerate() {
            let middle = TOP + row * (at as f64 + 0.5);
            canvas.ink(room + 12.0, middle + 4.0, TextAnchor::End, room, &bar.label);
            let Some(value) = bar.measure.value() else {
                canvas.text(axis.at(0.0) + 6.0, middle + 4.0, TextAnchor::Start, 120.0, "no value");
                continue;
            };
            let (from, to) = (axis.at(value.min(0.0)), axis.at(value.max(0.0)));
            let tip = format!("{}: {}", bar.label, bar.measure.value_on_both_scales());
            let class = format!("{} fill", bar.tone.class());
            // A zero is a value too.
            canvas.rect(&class, &tip, (from, middle - high / 2.0), ((to - from).max(1.5), high));
            if let Some((low, high)) = bar.measure.interval() {
                canvas.whisker("whisker", (axis.at(low), middle), (axis.at(high), middle));
            }
            canvas.ink(WIDTH - 10.0, middle + 4.0, TextAnchor::End, value_room, &bar.measure.cells()[0]);
        }
        canvas.line("axis", (axis.at(0.0), TOP - 4.0), (axis.at(0.0), bottom));
        if let Some(mark) = mark {
            let text = ChartScale::format_mark(scale, mark);
            draw_mark(&mut canvas, axis.at(mark), (TOP - 6.0, bottom), &text);
        }
        canvas
    }

    pub(super) fn table(&self) -> ChartTable {
        let row = |bar: &Bar| MeasureRow {
            labels: vec![to_single_line(&bar.label)],
            measure: bar.measure,
            more: Vec::new(),
        };
        let head = MeasureHead { labels: &[""], value: "Value", more: &[] };
        ChartTable::of_measures(&head, self.bars.iter().map(row))
    }
}

/// Room that the numbers of an axis take below it.
pub(super) fn ticks_height(scale: Option<ChartScale>) -> f64 {
    if scale.is_some() { TICKS + UNIT_TICKS } else { TICKS }
}

/// Vertical lines at round numbers, with the numbers below them.
pub(super) fn draw_ticks(
    canvas: &mut Canvas,
    axis: &Axis,
    scale: Option<ChartScale>,
    (top, bottom): (f64, f64),
) {
    for tick in axis.ticks_on(scale) {
        canvas.line("grid", (tick.place, top), (tick.place, bottom));
    }
    draw_tick_numbers(canvas, axis, scale, bottom + 16.0);
}

/// The numbers of an axis, and below them the same from 0 to 1 where that is another scale.
pub(super) fn draw_tick_numbers(canvas: &mut Canvas, axis: &Axis, scale: Option<ChartScale>, y: f64) {
    let mut taken = f64::NEG_INFINITY;
    for AxisTick { place: x, written, unit } in axis.ticks_on(scale) {
        let unit = unit.unwrap_or_default();
        let wide = width(&written, SIZE).max(width(&unit, SIZE));
        // Long numbers may have no room beside each other.
        if taken <= x - wide / 2.0 {
            canvas.text(x, y, TextAnchor::Middle, 60.0, &written);
            if !unit.is_empty() {
                canvas.text(x, y + UNIT_TICKS, TextAnchor::Middle, 60.0, &unit);
            }
            taken = x + wide / 2.0;
        }
    }
}

/// The pass mark as an upright line with its name above.
pub(super) fn draw_mark(canvas: &mut Canvas, x: f64, (top, bottom): (f64, f64), mark: &str) {
    canvas.line("mark", (x, top), (x, bottom));
    canvas.text(x, top - 5.0, TextAnchor::Middle, 140.0, &format!("pass mark {mark}"));
}
