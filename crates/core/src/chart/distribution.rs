//! How often each score occurs, in layers on top of each other: what failed, and above it what passed.

use super::axis::Axis;
use super::bars::{draw_mark, draw_tick_numbers, ticks_height};
use super::canvas::{Canvas, TextAnchor, legend_height};
use super::measure::{ChartScale, ChartTable, finite, format_short_number};
use super::palette::Tone;
use super::text::to_single_line;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    pub title: String,
    /// Where bins begin and end, ascending: one more than there are bins.
    pub edges: Vec<f64>,
    /// The lowest first.
    pub layers: Vec<DistributionLayer>,
    /// The pass mark.
    pub mark: Option<f64>,
    /// The ends of the scale of the rubric, if the numbers are scores from 0 to 1 that share one.
    pub scale: Option<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct DistributionLayer {
    pub name: String,
    pub tone: Tone,
    /// One for each bin; what is missing is none.
    pub counts: Vec<usize>,
}

impl Distribution {
    /// Scores on 0..=1 by tenths.
    pub fn of_tenths(title: String, layers: Vec<DistributionLayer>, mark: Option<f64>) -> Self {
        let edges = (0..=10_u8).map(|byte| f64::from(byte) / 10.0).collect();
        Self { title, edges, layers, mark, scale: None }
    }
}

const WIDTH: f64 = 420.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 404.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 200.0;

impl Distribution {
    pub(super) fn draw(&self) -> Canvas {
        let bins = self.bins();
        let legend: Vec<(String, String)> =
            self.layers.iter().map(|layer| (layer.tone.class().to_owned(), layer.name.clone())).collect();
        let legend = if 1 < legend.len() { legend } else { Vec::new() };
        let total: usize = self.layers.iter().flat_map(|layer| &layer.counts).sum();
        let scale = ChartScale::of_scores(self.scale);
        let about =
            format!("Distribution of {total} values over {} ranges.", bins.len()) + &ChartScale::about(scale);
        let floor = BOTTOM + 2.0 + ticks_height(scale);
        let mut canvas = Canvas::new(WIDTH, floor + legend_height(WIDTH, &legend), &self.title, about);
        let (low, high) =
            (bins.first().map_or(0.0, |(from, _)| *from), bins.last().map_or(1.0, |(_, to)| *to));
        let across = Axis::between(low, high, (LEFT, RIGHT));
        let count =
            |at: usize| self.layers.iter().map(move |layer| layer.counts.get(at).copied().unwrap_or(0));
        let most = (0..bins.len()).map(|at| count(at).sum::<usize>()).max().unwrap_or(0).max(1);
        let up = Axis::between(0.0, most as f64, (BOTTOM, TOP));
        // Numbers of cases are whole.
        let is_whole = |value: f64| (value - value.round()).abs() < 1e-9;
        for (value, written) in up.ticks().into_iter().filter(|(value, _)| is_whole(*value)) {
            let (y, whole) = (up.at(value), written.split('.').next().unwrap_or_default());
            canvas.line("grid", (LEFT, y), (RIGHT, y));
            canvas.text(LEFT - 7.0, y + 4.0, TextAnchor::End, LEFT - 10.0, whole);
        }
        for (at, (from, to)) in bins.iter().enumerate() {
            let (left, right) = (across.at(*from), across.at(*to));
            let gap = ((right - left) * 0.05).min(2.0);
            let mut below = 0;
            for (layer, n) in self.layers.iter().zip(count(at)) {
                let (top, foot) = (up.at((below + n) as f64), up.at(below as f64));
                below += n;
                if 0 < n {
                    let tip =
                        format!("{}: {n} {}", format_range_on_both_scales(*from, *to, scale), layer.name);
                    let size = ((right - left - 2.0 * gap).max(0.5), foot - top);
                    canvas.rect(&format!("{} fill", layer.tone.class()), &tip, (left + gap, top), size);
                }
            }
        }
        draw_tick_numbers(&mut canvas, &across, scale, BOTTOM + 18.0);
        if let Some(mark) = self.mark.and_then(finite).filter(|value| across.holds(*value)) {
            let text = ChartScale::format_mark(scale, mark);
            draw_mark(&mut canvas, across.at(mark), (TOP - 6.0, BOTTOM), &text);
        }
        canvas.legend(floor, &legend);
        canvas
    }

    /// Bins as far as their edges make sense.
    fn bins(&self) -> Vec<(f64, f64)> {
        let edges: Vec<f64> = self.edges.iter().copied().filter_map(finite).collect();
        edges.windows(2).filter(|edge| edge[0] < edge[1]).map(|edge| (edge[0], edge[1])).collect()
    }

    pub(super) fn table(&self) -> ChartTable {
        let names: Vec<String> = self.layers.iter().map(|layer| to_single_line(&layer.name)).collect();
        let scale = ChartScale::of_scores(self.scale);
        let unit_head = scale.map(|_| "From 0 to 1");
        let head: Vec<&str> =
            ["Range"].into_iter().chain(unit_head).chain(names.iter().map(String::as_str)).collect();
        let rows = self.bins().into_iter().enumerate().map(|(at, (from, to))| {
            let counts =
                self.layers.iter().map(|layer| layer.counts.get(at).copied().unwrap_or(0).to_string());
            let unit = scale.map(|_| format_range(from, to));
            [format_own_range(from, to, scale)].into_iter().chain(unit).chain(counts).collect()
        });
        ChartTable::new(&head, rows)
    }
}

/// The ends of a bin on the scale of the rubric, where there is one.
fn format_own_range(from: f64, to: f64, scale: Option<ChartScale>) -> String {
    match scale {
        Some(scale) => format_range(scale.place(from), scale.place(to)),
        None => format_range(from, to),
    }
}

fn format_range_on_both_scales(from: f64, to: f64, scale: Option<ChartScale>) -> String {
    let own = format_own_range(from, to, scale);
    match scale {
        Some(_) => format!("{own} ({} from 0 to 1)", format_range(from, to)),
        None => own,
    }
}

/// Tenths are written with one digit.
fn format_range(from: f64, to: f64) -> String {
    let written = |value: f64| {
        let tenth = format!("{value:.1}");
        if tenth.parse().is_ok_and(|back: f64| (back - value).abs() < 1e-9) {
            tenth
        } else {
            format_short_number(value)
        }
    };
    format!("{} to {}", written(from), written(to))
}
