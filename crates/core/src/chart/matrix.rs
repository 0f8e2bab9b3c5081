//! Squares in rows and columns: confusion of two graders, agreement of several, win rates.

use super::canvas::{Canvas, TextAnchor};
use super::measure::{ChartTable, finite, format_short_number};
use super::text::{SIZE, to_single_line, width};

#[derive(Debug, Clone, PartialEq)]
pub struct MatrixChart {
    pub title: String,
    /// What the rows are, such as the answers of people.
    pub row_name: String,
    pub column_name: String,
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Row by row; what is missing or no number stays empty.
    pub cells: Vec<Vec<Option<f64>>>,
    pub shade: Shade,
}

/// What makes a square darker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    /// Counts, by their share of the row: confusion.
    ShareOfRow,
    /// Numbers on −1..=1, those below zero in another colour: agreement.
    Signed,
    /// Numbers on 0..=1: win rates.
    Unit,
}

/// Slanted names of narrower columns would touch.
const LEAST: f64 = 17.0;

impl MatrixChart {
    /// How often one grader says the column where the other says the row.
    pub fn confusion(
        title: String,
        row_name: String,
        column_name: String,
        labels: &[String],
        counts: &[Vec<usize>],
    ) -> Self {
        let cells = counts.iter().map(|row| row.iter().map(|row| Some(*row as f64)).collect()).collect();
        let (rows, columns) = (labels.to_vec(), labels.to_vec());
        Self { title, row_name, column_name, rows, columns, cells, shade: Shade::ShareOfRow }
    }

    /// A value for each pair of graders; pairs without a value stay empty.
    pub fn of_pairs<'a>(
        title: String,
        graders: &[String],
        pairs: impl IntoIterator<Item = (&'a (String, String), Option<f64>)>,
    ) -> Self {
        let mut cells = vec![vec![None; graders.len()]; graders.len()];
        let place = |name: &String| graders.iter().position(|grader| grader == name);
        for ((a, b), value) in pairs {
            if let (Some(a), Some(b)) = (place(a), place(b)) {
                cells[a][b] = value;
                cells[b][a] = value;
            }
        }
        Self::agreement(title, graders, cells)
    }

    /// How far each two graders agree.
    pub fn agreement(title: String, graders: &[String], cells: Vec<Vec<Option<f64>>>) -> Self {
        let (rows, columns) = (graders.to_vec(), graders.to_vec());
        Self {
            title,
            row_name: String::new(),
            column_name: String::new(),
            rows,
            columns,
            cells,
            shade: Shade::Signed,
        }
    }

    fn cell(&self, row: usize, column: usize) -> Option<f64> {
        self.cells.get(row)?.get(column).copied().flatten().and_then(finite)
    }

    fn formatted_cell(&self, row: usize, column: usize) -> String {
        match (self.shade, self.cell(row, column)) {
            (_, None) => "–".to_owned(),
            (Shade::ShareOfRow, Some(it)) if it.fract().abs() <= 0.0 => it.to_string(),
            (_, Some(it)) => format_short_number(it),
        }
    }

    /// How dark a square is, between −1 and 1.
    fn strength(&self, row: usize, column: usize) -> Option<f64> {
        let value = self.cell(row, column)?;
        Some(match self.shade {
            Shade::Signed | Shade::Unit => value.clamp(-1.0, 1.0),
            Shade::ShareOfRow => {
                let total: f64 = (0..self.columns.len()).filter_map(|n| self.cell(row, n)).sum();
                if 0.0 < total { value / total } else { 0.0 }
            }
        })
    }

    pub(super) fn draw(&self) -> Canvas {
        let (n_rows, n_columns) = (self.rows.len(), self.columns.len());
        let left = 20.0 + super::bars::label_room(self.rows.iter().map(String::as_str)).min(170.0);
        let size = ((600.0 - left) / n_columns.max(1) as f64).clamp(LEAST, 58.0);
        let longest =
            self.columns.iter().map(|column| width(&to_single_line(column), SIZE)).fold(0.0, f64::max);
        let slanted = size - 6.0 < longest;
        // Text at 45 degrees is as wide as it is high.
        let room = longest.min(120.0);
        let rise = if slanted { (room + SIZE) * std::f64::consts::FRAC_1_SQRT_2 } else { SIZE };
        let top = rise + 30.0;
        let (wide, high) = (size * n_columns as f64, size.min(44.0));
        let overhang = if slanted { (rise - size / 2.0).max(0.0) } else { 0.0 };
        let canvas_width = (left + wide + overhang + 14.0).max(left + 240.0).max(400.0);
        let bottom = top + high * n_rows as f64;
        let about = format!("{n_rows} rows by {n_columns} columns; darker is more.");
        let mut canvas = Canvas::new(canvas_width, bottom + 40.0, &self.title, about);
        self.draw_names(&mut canvas);
        for (at, name) in self.columns.iter().enumerate() {
            let x = left + size * (at as f64 + 0.5);
            if slanted {
                canvas.slanted_text(x, top - 7.0, room, name);
            } else {
                canvas.text(x, top - 7.0, TextAnchor::Middle, size - 4.0, name);
            }
        }
        for (row, name) in self.rows.iter().enumerate() {
            let y = top + high * row as f64;
            canvas.ink(left - 8.0, y + high / 2.0 + 4.0, TextAnchor::End, left - 14.0, name);
            for (column, against) in self.columns.iter().enumerate() {
                let x = left + size * column as f64;
                let written = self.formatted_cell(row, column);
                let share = match (self.shade, self.strength(row, column)) {
                    (Shade::ShareOfRow, Some(it)) => format!(" ({:.0} % of the row)", it * 100.0),
                    _ => String::new(),
                };
                let tip = format!("{name} × {against}: {written}{share}");
                match self.strength(row, column) {
                    Some(it) => {
                        canvas.heat(it < 0.0, it.abs(), &tip, (x + 0.5, y + 0.5), (size - 1.0, high - 1.0));
                    }
                    None => {
                        canvas.rect("grid", &tip, (x + 1.5, y + 1.5), (size - 3.0, high - 3.0));
                    }
                }
                if width(&written, SIZE) + 4.0 < size && SIZE + 4.0 < high {
                    canvas.ink(x + size / 2.0, y + high / 2.0 + 4.0, TextAnchor::Middle, size, &written);
                }
            }
        }
        self.draw_scale(&mut canvas, left, bottom + 12.0);
        canvas
    }

    /// The names of rows and columns, above the matrix.
    fn draw_names(&self, canvas: &mut Canvas) {
        let mut x = 12.0;
        for (what, name) in [("rows", &self.row_name), ("columns", &self.column_name)] {
            if !name.is_empty() {
                let text = format!("{what}: {name}");
                canvas.text(x, 14.0, TextAnchor::Start, 180.0, &text);
                x += width(&to_single_line(&text), SIZE).min(180.0) + 16.0;
            }
        }
    }

    /// What the colours mean.
    fn draw_scale(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let (steps, low, high): (&[f64], &str, &str) = match self.shade {
            Shade::ShareOfRow => (&[0.0, 0.25, 0.5, 0.75, 1.0], "none in this row", "all of it"),
            Shade::Signed => (&[-1.0, -0.5, 0.0, 0.5, 1.0], "−1", "1"),
            Shade::Unit => (&[0.0, 0.25, 0.5, 0.75, 1.0], "0", "1"),
        };
        let start = left + width(low, SIZE) + 8.0;
        canvas.text(left, top + 11.0, TextAnchor::Start, 110.0, low);
        for (at, it) in steps.iter().enumerate() {
            let corner = (start + 16.0 * at as f64, top + 1.0);
            canvas.rect("grid", "", corner, (15.0, 12.0));
            canvas.heat(*it < 0.0, it.abs(), "", corner, (15.0, 12.0));
        }
        canvas.text(start + 16.0 * steps.len() as f64 + 6.0, top + 11.0, TextAnchor::Start, 80.0, high);
    }

    pub(super) fn table(&self) -> ChartTable {
        let columns: Vec<String> = self.columns.iter().map(|column| to_single_line(column)).collect();
        let head: Vec<&str> = [""].into_iter().chain(columns.iter().map(String::as_str)).collect();
        let rows = self.rows.iter().enumerate().map(|(row, name)| {
            [to_single_line(name)]
                .into_iter()
                .chain((0..columns.len()).map(|n| self.formatted_cell(row, n)))
                .collect()
        });
        ChartTable::new(&head, rows)
    }
}
