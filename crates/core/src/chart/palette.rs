//! The one place for colours, and what they mean everywhere.
//!
//! Chosen so that they stay apart for those who lack one of the three kinds of cones, which a test
//! measures; each series also has a shape of its own.

use std::fmt::Write as _;

/// Name of the CSS variable, light, dark. Text in any of them can be read on `card`.
const COLOURS: [(&str, &str, &str); 17] = [
    ("card", "#ffffff", "#1c1e22"),
    ("ink", "#1d1c1a", "#e9e8e5"),
    ("soft", "#66625b", "#a3a098"),
    ("line", "#e4e0d8", "#32353b"),
    ("pass", "#0f8268", "#86e5c5"),
    ("fail", "#9a1a12", "#f2645a"),
    ("error", "#966a10", "#ebbe2f"),
    ("deferred", "#3f4b5a", "#8492a5"),
    ("bar", "#3b6ea5", "#79b0ea"),
    // Under text of `ink`: how much, and how much below zero.
    ("heat", "#7ba4d0", "#3d6390"),
    ("cold", "#dfa468", "#80501f"),
    ("series-0", "#3b6ea5", "#79b0ea"),
    ("series-1", "#d25712", "#eb9464"),
    ("series-2", "#8a7be8", "#6f5ece"),
    ("series-3", "#20a3b3", "#73f2fc"),
    ("series-4", "#9a6571", "#9f5d80"),
    ("series-5", "#3b383a", "#b9b0a7"),
];

/// The font of pictures that are drawn here and not by the reader: what widths of texts are measured in.
pub const FONT: &str = "DejaVu Sans";

/// Series after the last begin again with the first.
pub(super) const SERIES: usize = 6;

/// The meaning of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    Pass,
    Fail,
    Error,
    Deferred,
    /// One of several of the same kind, from 0.
    Series(usize),
}

impl Tone {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Deferred => "deferred",
            Self::Series(at) => ["s0", "s1", "s2", "s3", "s4", "s5"][at % SERIES],
        }
    }
}

/// The variables for a light page, as CSS declarations.
pub fn light() -> String {
    COLOURS.iter().map(|(name, light, _)| format!("--{name}: {light}; ")).collect()
}

/// The variables for a dark page.
pub fn dark() -> String {
    COLOURS.iter().map(|(name, _, dark)| format!("--{name}: {dark}; ")).collect()
}

/// Rules that apply inside charts only. Colours of the page take precedence.
pub(super) fn style() -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for (name, by_day, by_night) in COLOURS {
        let _ = write!(light, "--c-{name}:var(--{name},{by_day});");
        let _ = write!(dark, "--c-{name}:var(--{name},{by_night});");
    }
    let mut out = format!(
        ".jurist-chart{{{light}color-scheme:light dark;background:var(--c-card);font:11px system-ui,-apple-system,\"Segoe UI\",sans-serif;font-variant-numeric:tabular-nums}}\
         @media(prefers-color-scheme:dark){{.jurist-chart{{{dark}}}}}"
    );
    for (class, colour) in tones() {
        let _ = write!(out, ".jurist-chart .{class}{{--c-tone:var(--c-{colour})}}");
    }
    for (class, rules) in RULES {
        let _ = write!(out, ".jurist-chart {class}{{{rules}}}");
    }
    out
}

/// The same rules for what knows neither variables nor the reader's mode: light, and in one font.
pub(super) fn style_in_full() -> String {
    let mut out = format!(".jurist-chart{{font:11px \"{FONT}\"}}");
    for (class, rules) in RULES {
        if rules.contains(TONE) {
            for (tone, colour) in tones() {
                let rules = by_day(&rules.replace(TONE, &format!("var(--c-{colour})")));
                let _ = write!(out, ".jurist-chart .{tone}{class}{{{rules}}}");
            }
        } else {
            let _ = write!(out, ".jurist-chart {class}{{{}}}", by_day(rules));
        }
    }
    out
}

fn by_day(rules: &str) -> String {
    COLOURS
        .iter()
        .fold(rules.to_owned(), |rules, (name, by_day, _)| rules.replace(&format!("var(--c-{name})"), by_day))
}

/// Classes for the meanings of marks, each with the name of its colour.
fn tones() -> impl Iterator<Item = (String, String)> {
    let same = ["pass", "fail", "error", "deferred"].map(|text| (text.to_owned(), text.to_owned()));
    let series = (0..SERIES).map(|at| (format!("s{at}"), format!("series-{at}")));
    same.into_iter().chain([("plain".to_owned(), "bar".to_owned())]).chain(series)
}

const TONE: &str = "var(--c-tone)";

const RULES: [(&str, &str); 17] = [
    ("text", "fill:var(--c-soft)"),
    ("text.ink", "fill:var(--c-ink)"),
    ("text.heading", "fill:var(--c-ink);font-size:14px;font-weight:600"),
    (".grid", "fill:none;stroke:var(--c-line)"),
    (".axis", "fill:none;stroke:var(--c-soft);stroke-opacity:.6"),
    (".mark", "fill:none;stroke:var(--c-ink);stroke-dasharray:3 3;stroke-opacity:.65"),
    (".fill", "fill:var(--c-tone)"),
    (".area", "fill:var(--c-tone);fill-opacity:.16"),
    (".band", "fill:var(--c-tone);fill-opacity:.2"),
    (
        ".stroke",
        "fill:none;stroke:var(--c-tone);stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round",
    ),
    (".dot", "fill:var(--c-tone);stroke:var(--c-card);stroke-width:1"),
    (".hollow", "fill:var(--c-card);stroke:var(--c-tone);stroke-width:1.75"),
    (".casing", "fill:none;stroke:var(--c-card);stroke-width:3.5"),
    (".whisker", "fill:none;stroke:var(--c-ink);stroke-width:1.25"),
    (".heat", "fill:var(--c-heat);stroke:var(--c-line)"),
    (".cold", "fill:var(--c-cold)"),
    (".card", "fill:var(--c-card)"),
];
