//! Estimates one below the other against a line of no difference.

use super::axis::Axis;
use super::bars::{draw_ticks, label_room, ticks_height};
use super::canvas::{Canvas, PathShape, TextAnchor};
use super::measure::{
    ChartScale, ChartTable, MeasureHead, MeasureRow, MeasuredValue, format_rounded_number, shared_scale,
};
use super::text::{SIZE, to_single_line, width};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forest {
    pub title: String,
    pub rows: Vec<ForestRow>,
    /// All of them together.
    pub whole: Option<ForestRow>,
    /// Where there is no difference.
    pub reference: f64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForestRow {
    pub label: String,
    pub measure: MeasuredValue,
    /// How much it rests on; more makes a larger mark.
    pub n: usize,
}

const WIDTH: f64 = 640.0;
const TOP: f64 = 12.0;

impl Forest {
    pub(super) fn draw(&self) -> Canvas {
        let all = || self.rows.iter().chain(&self.whole);
        let room = label_room(all().map(|forest_row| forest_row.label.as_str())).min(180.0);
        let said = all()
            .map(|forest_row| width(&forest_row.measure.value_with_interval(), SIZE))
            .fold(40.0, f64::max)
            .min(210.0);
        let row = if 14 < self.rows.len() { 20.0 } else { 28.0 };
        let bottom = TOP + row * all().count().max(1) as f64;
        let scale = shared_scale(all().map(|forest_row| &forest_row.measure));
        let about = format!(
            "{} estimates with confidence intervals; filled marks differ significantly from {}.",
            all().count(),
            format_rounded_number(scale.map_or(self.reference, |scale| scale.place(self.reference)))
        ) + &ChartScale::about(scale);
        let mut canvas = Canvas::new(WIDTH, bottom + ticks_height(scale), &self.title, about);
        let reach = all().flat_map(|forest_row| forest_row.measure.reach()).chain([self.reference]);
        let axis = Axis::over(reach.filter(|reach| reach.is_finite()), (room + 26.0, WIDTH - said - 26.0));
        draw_ticks(&mut canvas, &axis, scale, (TOP, bottom));
        canvas.line("axis", (axis.at(self.reference), TOP), (axis.at(self.reference), bottom));
        let most = self.rows.iter().map(|row| row.n).max().unwrap_or(0).max(1) as f64;
        for (at, it) in all().enumerate() {
            let middle = TOP + row * (at as f64 + 0.5);
            canvas.ink(room + 12.0, middle + 4.0, TextAnchor::End, room, &it.label);
            canvas.ink(
                WIDTH - 10.0,
                middle + 4.0,
                TextAnchor::End,
                said + 2.0,
                &it.measure.value_with_interval(),
            );
            let Some(value) = it.measure.value() else { continue };
            let x = axis.at(value);
            let tip = format!("{}: {}, n = {}", it.label, it.measure.value_on_both_scales(), it.n);
            let ends = it.measure.interval().map(|(low, high)| (axis.at(low), axis.at(high)));
            if self.rows.len() <= at {
                canvas.line("grid", (12.0, middle - row / 2.0), (WIDTH - 12.0, middle - row / 2.0));
                let (left, right) = ends.unwrap_or((x - 4.0, x + 4.0));
                canvas.path(
                    "s0 fill",
                    &tip,
                    &[(left, middle), (x, middle - 6.0), (right, middle), (x, middle + 6.0)],
                    PathShape::Closed,
                );
                continue;
            }
            if let Some((left, right)) = ends {
                canvas.whisker("s0 stroke", (left, middle), (right, middle));
            }
            let shown = it
                .measure
                .interval()
                .is_some_and(|(low, high)| self.reference < low || high < self.reference);
            let half = 3.0 + 3.0 * (it.n as f64 / most).sqrt();
            let class = if shown { "s0 fill" } else { "s0 hollow" };
            canvas.rect(class, &tip, (x - half, middle - half), (2.0 * half, 2.0 * half));
        }
        canvas
    }

    pub(super) fn table(&self) -> ChartTable {
        let row = |forest_row: &ForestRow| MeasureRow {
            labels: vec![to_single_line(&forest_row.label)],
            measure: forest_row.measure,
            more: vec![forest_row.n.to_string()],
        };
        let head = MeasureHead { labels: &[""], value: "Estimate", more: &["n"] };
        ChartTable::of_measures(&head, self.rows.iter().chain(&self.whole).map(row))
    }
}
