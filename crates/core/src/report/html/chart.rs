//! Charts as SVG, pure functions of their numbers; colours are the page's own.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use super::text::escaped;

/// How many cases with a score in one tenth passed, and how many did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Bin {
    pub passed: usize,
    pub failed: usize,
}

/// The plot of the histogram inside its picture.
const LEFT: f64 = 28.0;
const TOP: f64 = 24.0;
const WIDTH: f64 = 376.0;
const HEIGHT: f64 = 176.0;

/// Scores in tenths, what passed on top of what failed, and the pass marks as lines.
///
/// The two are told apart because a gate may fail a high score.
pub(super) fn histogram(bins: &[Bin; 10], marks: &[f64]) -> String {
    let most = bins.iter().map(|it| it.passed + it.failed).max().unwrap_or(0).max(1);
    let y = |n: usize| TOP + HEIGHT * (1.0 - n as f64 / most as f64);
    let x = |score: f64| LEFT + WIDTH * score;
    let mut out = String::from("<svg viewBox=\"0 0 420 228\" aria-hidden=\"true\">");
    for n in ticks(most) {
        let (right, y) = (LEFT + WIDTH, y(n));
        let _ = write!(out, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>");
        out.push_str(&label(LEFT - 7.0, y + 4.0, "end", &n.to_string()));
    }
    for (bin, at) in bins.iter().zip(0_u8..) {
        for (class, from, to) in [("fail", 0, bin.failed), ("pass", bin.failed, bin.failed + bin.passed)] {
            let (left, width) = (x(f64::from(at) / 10.0) + 2.0, WIDTH / 10.0 - 4.0);
            let (top, height) = (y(to), y(from) - y(to));
            if from < to {
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
                );
            }
        }
    }
    for tenth in [0.0, 2.0, 4.0, 6.0, 8.0, 10.0] {
        let score = tenth / 10.0;
        out.push_str(&label(x(score), TOP + HEIGHT + 18.0, "middle", &score.to_string()));
    }
    for mark in marks {
        let (at, end) = (x(*mark), TOP + HEIGHT);
        let _ = write!(out, "<path class=\"mark\" d=\"M{at:.1} {}V{end}\"/>", TOP - 6.0);
        out.push_str(&label(at, TOP - 11.0, "middle", &format!("pass mark {mark}")));
    }
    out + "</svg>"
}

/// Round numbers up to the tallest bar, at most five of them.
fn ticks(most: usize) -> Vec<usize> {
    let mut steps = (0..12).flat_map(|it| [1, 2, 5].map(|n| n * 10_usize.pow(it)));
    let step = steps.find(|it| most / it <= 4).unwrap_or(most);
    (0..=most).step_by(step).collect()
}

fn label(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(text))
}

/// How many criteria make a shape that says something and can be labelled.
pub(super) const RADAR: std::ops::RangeInclusive<usize> = 3..=12;

/// The middle of the radar, and how far a score of 1 is from it.
const MIDDLE: (f64, f64) = (210.0, 114.0);
const RADIUS: f64 = 84.0;

/// Scores on 0..=1 around a circle, with the pass mark as a ring.
pub(super) fn radar(axes: &[(&str, f64)], mark: Option<f64>) -> String {
    let place = |at: usize, value: f64| {
        let angle = TAU * at as f64 / axes.len() as f64 - TAU / 4.0;
        (MIDDLE.0 + RADIUS * value * angle.cos(), MIDDLE.1 + RADIUS * value * angle.sin())
    };
    let ring = |class: &str, value: &dyn Fn(usize) -> f64| {
        let place = |at| place(at, value(at));
        let points: Vec<String> = (0..axes.len()).map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        format!("<polygon class=\"{class}\" points=\"{}\"/>", points.join(" "))
    };
    let mut out = String::from("<svg viewBox=\"0 0 420 228\" aria-hidden=\"true\">");
    for level in [0.25, 0.5, 0.75, 1.0] {
        out.push_str(&ring("grid", &|_| level));
    }
    for at in 0..axes.len() {
        let ((x, y), (to_x, to_y)) = (MIDDLE, place(at, 1.0));
        let _ = write!(out, "<path class=\"grid\" d=\"M{x} {y}L{to_x:.1} {to_y:.1}\"/>");
    }
    if let Some(mark) = mark {
        out.push_str(&ring("mark", &|_| mark));
    }
    out.push_str(&ring("area", &|at| axes[at].1));
    for (at, (name, value)) in axes.iter().enumerate() {
        let ((x, y), (label_x, label_y)) = (place(at, *value), place(at, 1.0 + 11.0 / RADIUS));
        let _ = write!(out, "<circle class=\"area\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\"/>");
        // Beside the circle text goes away from it, above and below it stands centred.
        let (aside, below) = (label_x - MIDDLE.0, (label_y - MIDDLE.1) / RADIUS);
        let anchor = if aside.abs() < 12.0 {
            "middle"
        } else if aside < 0.0 {
            "end"
        } else {
            "start"
        };
        out.push_str(&label(
            label_x,
            label_y + 4.0 + 4.0 * below,
            anchor,
            &format!("{} {value:.2}", short(name)),
        ));
    }
    out + "</svg>"
}

/// As much of a name as fits beside the circle; the table has the whole.
fn short(name: &str) -> String {
    const MOST: usize = 16;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    let head: String = name.chars().take(MOST - 1).collect();
    head.trim_end().to_owned() + "…"
}
