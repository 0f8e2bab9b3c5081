//! What charts are drawn on: keeps every mark and every text inside of the picture.

use std::fmt::Write as _;

use super::palette::{self, SERIES};
use super::text::{self, SIZE, escape_xml, fit, to_single_line};

/// The place that a chart is drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartMedium {
    /// Alone: with the namespace of SVG, a size and its title above it.
    File,
    /// Inside an HTML page, which has a caption of its own.
    Page,
    /// Alone, for what turns it into pixels: light, on a card, in [`FONT`](palette::FONT).
    Pixels,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextAnchor {
    Start,
    Middle,
    End,
}

/// How much room a heading takes above the picture.
const HEADING: f64 = 30.0;
/// The margin that stays empty.
const EDGE: f64 = 2.0;

#[derive(Debug)]
pub(super) struct Canvas {
    width: f64,
    height: f64,
    title: String,
    about: String,
    body: String,
}

impl Canvas {
    /// `about` says in a sentence what there is to see.
    pub(super) fn new(width: f64, height: f64, title: &str, about: String) -> Self {
        Self { width, height, title: to_single_line(title), about, body: String::new() }
    }

    pub(super) fn finish(self, place: ChartMedium) -> String {
        let Self { width, height, title, about, body } = self;
        let top = if place == ChartMedium::Page { 0.0 } else { HEADING };
        let (wide, high) = (format_coordinate(width), format_coordinate(height + top));
        let (root, heading) = match place {
            ChartMedium::Page => (String::new(), String::new()),
            ChartMedium::File | ChartMedium::Pixels => {
                let root =
                    format!(" xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\"");
                // Bold is wider.
                let shown = escape_xml(&fit(&title, (width - 24.0) / 1.15, 14.0));
                (root, format!("<text class=\"heading\" x=\"12\" y=\"-10\">{shown}</text>"))
            }
        };
        let (style, card) = match place {
            ChartMedium::File | ChartMedium::Page => (palette::style(), String::new()),
            ChartMedium::Pixels => {
                let place =
                    format!("x=\"0\" y=\"{}\" width=\"{wide}\" height=\"{high}\"", format_coordinate(-top));
                (palette::style_in_full(), format!("<rect class=\"card\" {place}/>"))
            }
        };
        format!(
            "<svg{root} class=\"jurist-chart\" role=\"img\" viewBox=\"0 {} {wide} {high}\"><title>{}</title><desc>{}</desc><style>{style}</style>{card}{heading}{body}</svg>",
            format_coordinate(-top),
            escape_xml(&title),
            escape_xml(&about),
        )
    }

    /// A line of text that takes no more than `room`; the complete text is in its title.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: TextAnchor, room: f64, text: &str) {
        self.write("", (x, y), anchor, room, text, "");
    }

    /// The same in the colour of what matters.
    pub(super) fn ink(&mut self, x: f64, y: f64, anchor: TextAnchor, room: f64, text: &str) {
        self.write(" class=\"ink\"", (x, y), anchor, room, text, "");
    }

    /// The same with an end that stays, however much of the text has to be cut.
    pub(super) fn text_and(
        &mut self,
        x: f64,
        y: f64,
        anchor: TextAnchor,
        room: f64,
        (text, end): (&str, &str),
    ) {
        self.write("", (x, y), anchor, room, text, end);
    }

    fn write(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        anchor: TextAnchor,
        room: f64,
        text: &str,
        end: &str,
    ) {
        let whole = to_single_line(text);
        let room = room.min(self.width - 2.0 * EDGE);
        let shown = fit(&whole, room - text::width(end, SIZE), SIZE) + end;
        let wide = text::width(&shown, SIZE);
        let (left, right) = (EDGE, self.width - EDGE);
        let (word, x) = match anchor {
            TextAnchor::Start => ("start", x.min(right - wide).max(left)),
            TextAnchor::Middle => ("middle", x.min(right - wide / 2.0).max(left + wide / 2.0)),
            TextAnchor::End => ("end", x.max(left + wide).min(right)),
        };
        let y = y.clamp(SIZE, self.height - EDGE);
        let _ = write!(
            self.body,
            "<text{class} x=\"{}\" y=\"{}\" text-anchor=\"{word}\">",
            format_coordinate(x),
            format_coordinate(y)
        );
        self.write_fitted_text(&(whole + end), &shown);
    }

    fn write_fitted_text(&mut self, whole: &str, shown: &str) {
        if shown != whole {
            let _ = write!(self.body, "<title>{}</title>", escape_xml(whole));
        }
        let _ = write!(self.body, "{}</text>", escape_xml(shown));
    }

    /// Text that rises to the right, for columns narrower than their names.
    pub(super) fn slanted_text(&mut self, x: f64, y: f64, room: f64, text: &str) {
        let whole = to_single_line(text);
        let shown = fit(&whole, room, SIZE);
        let (x, y) = (format_coordinate(x), format_coordinate(y));
        let _ = write!(self.body, "<text x=\"{x}\" y=\"{y}\" transform=\"rotate(-45 {x} {y})\">");
        self.write_fitted_text(&whole, &shown);
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.path(class, "", &[from, to], PathShape::Open);
    }

    /// A line through points, or the area inside of them, with the tooltip `tip`.
    pub(super) fn path(&mut self, class: &str, tip: &str, points: &[(f64, f64)], shape: PathShape) {
        if points.is_empty() {
            return;
        }
        let mut d = String::new();
        self.trace(&mut d, points, shape);
        self.draw("path", class, &format!("d=\"{d}\""), tip);
    }

    /// What lies between two outlines.
    pub(super) fn ring(&mut self, class: &str, outer: &[(f64, f64)], inner: &[(f64, f64)]) {
        let mut d = String::new();
        self.trace(&mut d, outer, PathShape::Closed);
        self.trace(&mut d, inner, PathShape::Closed);
        self.draw("path", class, &format!("fill-rule=\"evenodd\" d=\"{d}\""), "");
    }

    fn trace(&self, d: &mut String, points: &[(f64, f64)], shape: PathShape) {
        for (at, (x, y)) in points.iter().enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            let _ = write!(
                d,
                "{letter}{} {}",
                format_coordinate(self.inside_x(*x)),
                format_coordinate(self.inside_y(*y))
            );
        }
        if shape == PathShape::Closed {
            d.push('Z');
        }
    }

    pub(super) fn polygon(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| {
                format!("{},{}", format_coordinate(self.inside_x(*x)), format_coordinate(self.inside_y(*y)))
            })
            .collect();
        self.draw("polygon", class, &format!("points=\"{}\"", points.join(" ")), "");
    }

    pub(super) fn rect(&mut self, class: &str, tip: &str, (x, y): (f64, f64), (wide, high): (f64, f64)) {
        let (x, y) = (self.inside_x(x), self.inside_y(y));
        let (wide, high) = (wide.clamp(0.0, self.width - x), high.clamp(0.0, self.height - y));
        let place = format!(
            "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            format_coordinate(x),
            format_coordinate(y),
            format_coordinate(wide),
            format_coordinate(high)
        );
        self.draw("rect", class, &place, tip);
    }

    /// A square of a heat map, the stronger the nearer its share is to 1.
    pub(super) fn heat(
        &mut self,
        cold: bool,
        share: f64,
        tip: &str,
        (x, y): (f64, f64),
        (wide, high): (f64, f64),
    ) {
        let class = if cold { "heat cold" } else { "heat" };
        let (x, y, wide, high) =
            (format_coordinate(x), format_coordinate(y), format_coordinate(wide), format_coordinate(high));
        let share = (share.clamp(0.0, 1.0) * 100.0).round() / 100.0;
        let place =
            format!("x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill-opacity=\"{share}\"");
        self.draw("rect", class, &place, tip);
    }

    /// The mark of a series at a point; each has a shape as well as a colour.
    pub(super) fn mark(&mut self, series: usize, class: &str, tip: &str, (x, y): (f64, f64)) {
        const R: f64 = 3.4;
        let (x, y) = (x.clamp(R, self.width - R), y.clamp(R, self.height - R));
        match series % 4 {
            0 => self.draw(
                "circle",
                class,
                &format!("cx=\"{}\" cy=\"{}\" r=\"{R}\"", format_coordinate(x), format_coordinate(y)),
                tip,
            ),
            1 => self.rect(class, tip, (x - 3.0, y - 3.0), (6.0, 6.0)),
            2 => self.path(class, tip, &[(x, y - R), (x + R, y), (x, y + R), (x - R, y)], PathShape::Closed),
            _ => self.path(class, tip, &[(x, y - R), (x + R, y + 2.8), (x - R, y + 2.8)], PathShape::Closed),
        }
    }

    /// A line with an end at both sides, set off from what it lies on.
    pub(super) fn whisker(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        // The caps of a horizontal line are vertical, and the other way round.
        let ((_, from_y), (_, to_y)) = (from, to);
        let (dx, dy) = if (from_y - to_y).abs() < 0.01 { (0.0, 3.5) } else { (3.5, 0.0) };
        for class in ["casing", class] {
            self.line(class, from, to);
            for (x, y) in [from, to] {
                self.line(class, (x - dx, y - dy), (x + dx, y + dy));
            }
        }
    }

    fn draw(&mut self, element: &str, class: &str, rest: &str, tip: &str) {
        let _ = match tip {
            "" => write!(self.body, "<{element} class=\"{class}\" {rest}/>"),
            tip => {
                write!(
                    self.body,
                    "<{element} class=\"{class}\" {rest}><title>{}</title></{element}>",
                    escape_xml(&to_single_line(tip))
                )
            }
        };
    }

    /// Names of what is drawn from `top` down, as many in a row as fit.
    pub(super) fn legend(&mut self, top: f64, entries: &[(String, String)]) {
        for ((class, name), (x, y, room)) in entries.iter().zip(legend_places(self.width, entries)) {
            let y = top + y;
            self.rect(&format!("{class} fill"), "", (x, y + 2.0), (10.0, 10.0));
            self.text(x + 15.0, y + 11.0, TextAnchor::Start, room, name);
        }
    }

    fn inside_x(&self, x: f64) -> f64 {
        x.clamp(0.0, self.width)
    }

    fn inside_y(&self, y: f64) -> f64 {
        y.clamp(0.0, self.height)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathShape {
    Open,
    Closed,
}

const LEGEND_ROW: f64 = 17.0;

pub(super) fn legend_height(width: f64, entries: &[(String, String)]) -> f64 {
    legend_places(width, entries).last().map_or(0.0, |(_, y, _)| y + LEGEND_ROW + 4.0)
}

/// Place of each entry and the room for its name.
fn legend_places(width: f64, entries: &[(String, String)]) -> Vec<(f64, f64, f64)> {
    let most = width / 2.0 - 40.0;
    let (mut x, mut y) = (12.0, 0.0);
    let place = |(_, name): &(String, String)| {
        let wide = text::width(&to_single_line(name), SIZE).min(most);
        if 12.0 < x && width - 12.0 < x + 15.0 + wide {
            (x, y) = (12.0, y + LEGEND_ROW);
        }
        let here = (x, y, wide + 0.01);
        x += 15.0 + wide + 18.0;
        here
    };
    entries.iter().map(place).collect()
}

/// The class that gives a series its colour.
pub(super) fn series_class(at: usize) -> String {
    format!("s{}", at % SERIES)
}

/// A coordinate to a tenth of a pixel.
pub(super) fn format_coordinate(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Not -0.
    (rounded + 0.0).to_string()
}
