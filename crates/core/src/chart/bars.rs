//! Bars that lie, each with its interval: means of agents, rates of criteria.

use super::axis::Axis;
use super::canvas::{Canvas, TextAnchor};
use super::measure::{ChartTable, MeasuredValue, finite, format_rounded_number};
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
/// Room for a value at the right.
const VALUE: f64 = 62.0;

/// How much room names get at the left: what they need, and no more than this.
pub(super) fn label_room<'a>(labels: impl Iterator<Item = &'a str>) -> f64 {
    labels.map(|label| width(&to_single_line(label), SIZE)).fold(24.0, f64::max).min(210.0)
}

impl Bars {
    pub(super) fn draw(&self) -> Canvas {
        let room = label_room(self.bars.iter().map(|bar| bar.label.as_str()));
        let row = if 14 < self.bars.len() { 20.0 } else { 28.0 };
        let bottom = TOP + row * self.bars.len().max(1) as f64;
        let about = format!("Bar chart of {} values; the table lists them.", self.bars.len());
        let mut canvas = Canvas::new(WIDTH, bottom + 26.0, &self.title, about);
        let mark = self.mark.and_then(finite);
        let reach = self.bars.iter().flat_map(|bar| bar.measure.reach()).chain(mark).chain([0.0]);
        let axis = Axis::over(reach, (room + 22.0, WIDTH - VALUE));
        draw_ticks(&mut canvas, &axis, (TOP - 4.0, bottom));
        let high = row * 0.56;
        for (at, bar) in self.bars.iter().enumerate() {
            let middle = TOP + row * (at as f64 + 0.5);
            canvas.ink(room + 12.0, middle + 4.0, TextAnchor::End, room, &bar.label);
            let Some(value) = bar.measure.value() else {
                canvas.text(axis.at(0.0) + 6.0, middle + 4.0, TextAnchor::Start, 120.0, "no value");
                continue;
            };
            let (from, to) = (axis.at(value.min(0.0)), axis.at(value.max(0.0)));
            let tip = format!("{}: {}", bar.label, bar.measure.value_with_interval());
            let class = format!("{} fill", bar.tone.class());
            // A zero is a value too.
            canvas.rect(&class, &tip, (from, middle - high / 2.0), ((to - from).max(1.5), high));
            if let Some((low, high)) = bar.measure.interval() {
                canvas.whisker("whisker", (axis.at(low), middle), (axis.at(high), middle));
            }
            canvas.ink(WIDTH - 10.0, middle + 4.0, TextAnchor::End, VALUE - 16.0, &bar.measure.cells()[0]);
        }
        canvas.line("axis", (axis.at(0.0), TOP - 4.0), (axis.at(0.0), bottom));
        if let Some(mark) = mark {
            draw_mark(&mut canvas, axis.at(mark), (TOP - 6.0, bottom), mark);
        }
        canvas
    }

    pub(super) fn table(&self) -> ChartTable {
        let row = |bar: &Bar| [to_single_line(&bar.label)].into_iter().chain(bar.measure.cells()).collect();
        ChartTable::new(&["", "Value", "95 % interval"], self.bars.iter().map(row))
    }
}

/// Vertical lines at round numbers, with the numbers below them.
pub(super) fn draw_ticks(canvas: &mut Canvas, axis: &Axis, (top, bottom): (f64, f64)) {
    let mut taken = f64::NEG_INFINITY;
    for (value, written) in axis.ticks() {
        let (x, wide) = (axis.at(value), width(&written, SIZE));
        canvas.line("grid", (x, top), (x, bottom));
        // Long numbers may have no room beside each other.
        if taken <= x - wide / 2.0 {
            canvas.text(x, bottom + 16.0, TextAnchor::Middle, 60.0, &written);
            taken = x + wide / 2.0;
        }
    }
}

/// The pass mark as an upright line with its name above.
pub(super) fn draw_mark(canvas: &mut Canvas, x: f64, (top, bottom): (f64, f64), mark: f64) {
    canvas.line("mark", (x, top), (x, bottom));
    canvas.text(
        x,
        top - 5.0,
        TextAnchor::Middle,
        140.0,
        &format!("pass mark {}", format_rounded_number(mark)),
    );
}
