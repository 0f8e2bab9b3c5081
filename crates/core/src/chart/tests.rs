use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::*;
use crate::chart::text::{SIZE, width};

const HOSTILE: &str = "</text><script>alert('1')</script>\u{0}\u{202e}\"&<b>";

fn measures(values: &[f64]) -> Vec<MeasuredValue> {
    values.iter().map(|value| MeasuredValue::new(Some(*value), Some((value - 0.1, value + 0.2)))).collect()
}

/// One of each kind from the same labels and numbers.
fn all(title: &str, labels: &[String], values: &[f64]) -> Vec<Chart> {
    let title = || title.to_owned();
    let pairs = || labels.iter().cloned().zip(measures(values));
    let mark = values.first().copied();
    let series = |name: &str| RadarSeries { name: name.to_owned(), values: measures(values) };
    let n = labels.len();
    let cells: Vec<Vec<Option<f64>>> =
        (0..n).map(|row| (0..n).map(|it| values.get((row + it) % (n + 1)).copied()).collect()).collect();
    let bins = values.iter().map(|value| ReliabilityBin {
        predicted: *value,
        observed: MeasuredValue::of(*value),
        n: n * 3,
    });
    let counts: Vec<Vec<usize>> = (0..n).map(|row| (0..n).map(|n| row * 7 % (n + 2)).collect()).collect();
    let layer = |tone, n: usize| DistributionLayer {
        name: title(),
        tone,
        counts: (0..10).map(|it| it * n % 7).collect(),
    };
    let bins: Vec<ReliabilityBin> = bins.collect();
    let row = |(label, measure)| ForestRow { label, measure, n };
    let mut points: Vec<TrendChartPoint> =
        pairs().map(|(label, measure)| TrendChartPoint { at: 0.0, label, measure }).collect();
    points.iter_mut().zip(values).for_each(|(point, value)| point.at = *value * 3.0);
    let ends = Some((1.0, 5.0));
    let scaled = || pairs().map(|(label, measure)| (label, measure.on_scale(ends)));
    let scaled_points =
        points.iter().map(|point| TrendChartPoint { measure: point.measure.on_scale(ends), ..point.clone() });
    let differences = pairs().map(|(label, measure)| (label, measure.as_difference_on_scale(ends)));
    let scaled_series =
        RadarSeries { name: String::new(), values: scaled().map(|(_, measure)| measure).collect() };
    vec![
        Chart::Radar(Radar { title: title(), axes: labels.to_vec(), series: vec![scaled_series], mark }),
        Chart::Bars(Bars {
            title: title(),
            bars: scaled().map(|(label, measure)| Bar { label, measure, tone: Tone::Plain }).collect(),
            mark,
        }),
        Chart::Distribution(Distribution {
            scale: ends,
            ..Distribution::of_tenths(title(), vec![layer(Tone::Fail, n)], mark)
        }),
        Chart::Trend(TrendChart { title: title(), points: scaled_points.collect(), mark }),
        Chart::Forest(Forest {
            title: title(),
            rows: differences.map(row).collect(),
            whole: pairs().map(row).next(),
            reference: 0.0,
        }),
        Chart::Reliability(ReliabilityChart {
            title: title(),
            bins: bins
                .iter()
                .map(|bin| ReliabilityBin { observed: bin.observed.on_scale(ends), ..*bin })
                .collect(),
            error: mark,
            scale: ends,
        }),
        Chart::Radar(Radar { title: title(), axes: labels.to_vec(), series: vec![series("")], mark }),
        Chart::Radar(Radar {
            title: title(),
            axes: labels.to_vec(),
            series: vec![series(HOSTILE), series("b")],
            mark,
        }),
        Chart::Bars(Bars {
            title: title(),
            bars: pairs().map(|(label, measure)| Bar { label, measure, tone: Tone::Error }).collect(),
            mark,
        }),
        Chart::Distribution(Distribution::of_tenths(
            title(),
            vec![layer(Tone::Fail, n), layer(Tone::Pass, n + 3)],
            mark,
        )),
        Chart::Matrix(MatrixChart::confusion(title(), title(), title(), labels, &counts)),
        Chart::Matrix(MatrixChart::agreement(title(), labels, cells)),
        Chart::Reliability(ReliabilityChart { title: title(), bins, error: mark, scale: None }),
        Chart::Trend(TrendChart { title: title(), points, mark }),
        Chart::Forest(Forest {
            title: title(),
            rows: pairs().map(row).collect(),
            whole: pairs().map(row).next(),
            reference: 0.0,
        }),
    ]
}

fn labels(n: usize) -> Vec<String> {
    (0..n).map(|n| if n % 3 == 2 { HOSTILE.repeat(n) } else { format!("label {n}") }).collect()
}

fn waves(n: usize) -> Vec<f64> {
    (0..n).map(|n| 0.5 + 0.5 * (n as f64).sin()).collect()
}

static VIEW: LazyLock<Regex> = LazyLock::new(|| find("viewBox=\"0 ([^ ]*) ([^ ]*) ([^\"]*)\""));
static POINTS: LazyLock<Regex> = LazyLock::new(|| find("(?: d|points)=\"([^\"]*)\""));
static POINT: LazyLock<Regex> = LazyLock::new(|| find("([^MLZ ,]+)[ ,]([^MLZ ,]+)"));
static RECT: LazyLock<Regex> =
    LazyLock::new(|| find("<rect [^>]*x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\""));
static CIRCLE: LazyLock<Regex> = LazyLock::new(|| find("cx=\"([^\"]*)\" cy=\"([^\"]*)\""));
static TEXT: LazyLock<Regex> = LazyLock::new(|| {
    find(
        "<text[^>]* x=\"([^\"]*)\" y=\"([^\"]*)\" text-anchor=\"([a-z]*)\">(?:<title>[^<]*</title>)?([^<]*)</text>",
    )
});
static SLANTED: LazyLock<Regex> = LazyLock::new(|| {
    find("<text x=\"([^\"]*)\" y=\"([^\"]*)\" transform=\"[^\"]*\">(?:<title>[^<]*</title>)?([^<]*)</text>")
});
static TAG: LazyLock<Regex> = LazyLock::new(|| find("<(/?)([a-z]+)[^<>]*?(/?)>"));

fn find(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// A text with the box it takes, as far as its width is known.
fn boxes(svg: &str) -> Vec<(f64, f64, f64, String)> {
    let place = |captures: regex::Captures<'_>| {
        let (x, y, text) =
            (captures[1].parse::<f64>().unwrap(), captures[2].parse().unwrap(), unescaped(&captures[4]));
        let wide = width(&text, SIZE);
        let left = match &captures[3] {
            "start" => x,
            "middle" => x - wide / 2.0,
            _ => x - wide,
        };
        (left, left + wide, y, text)
    };
    TEXT.captures_iter(svg).map(place).collect()
}

/// Every place in an attribute lies in the picture, and every text, whose boxes are returned.
fn check_bounds(svg: &str) -> Vec<(f64, f64, f64, String)> {
    let number = |text: &str| -> f64 {
        let number: f64 = text.parse().unwrap_or_else(|_| panic!("`{text}` is no number in {svg}"));
        assert!(number.is_finite(), "{svg}");
        number
    };
    let view = VIEW.captures(svg).unwrap();
    let (top, wide, high) = (number(&view[1]), number(&view[2]), number(&view[3]));
    let inside = |x: f64, y: f64, what: &str| {
        // Coordinates are rounded to a tenth.
        let slack = 0.06;
        assert!(-slack <= x && x <= wide + slack, "x {x} of {what} in {wide}");
        assert!(top - slack <= y && y <= top + high + slack, "y {y} of {what} in {high}");
    };
    for it in POINTS.captures_iter(svg) {
        POINT.captures_iter(&it[1]).for_each(|point| inside(number(&point[1]), number(&point[2]), &it[0]));
    }
    for it in RECT.captures_iter(svg) {
        let (x, y) = (number(&it[1]), number(&it[2]));
        inside(x, y, &it[0]);
        inside(x + number(&it[3]), y + number(&it[4]), &it[0]);
    }
    for it in CIRCLE.captures_iter(svg) {
        inside(number(&it[1]), number(&it[2]), &it[0]);
    }
    let boxes = boxes(svg);
    for (left, right, y, text) in &boxes {
        inside(*left, *y, text);
        inside(*right, *y, text);
    }
    for it in SLANTED.captures_iter(svg) {
        let rise = width(&unescaped(&it[3]), SIZE) * std::f64::consts::FRAC_1_SQRT_2;
        inside(number(&it[1]) + rise, number(&it[2]) - rise, &it[0]);
    }
    boxes
}

/// No two texts lie on top of each other.
fn check_apart(boxes: &[(f64, f64, f64, String)], svg: &str) {
    for (at, one) in boxes.iter().enumerate() {
        for other in &boxes[at + 1..] {
            // Letters are less high than their line.
            let apart = one.1 <= other.0 + 0.2 || other.1 <= one.0 + 0.2 || 9.0 <= (one.2 - other.2).abs();
            assert!(apart, "{one:?} {other:?} in {svg}");
        }
    }
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// No element but ours, each closed.
fn check_elements(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for it in TAG.captures_iter(svg) {
        let name = it.get(2).unwrap().as_str();
        let known = ["svg", "title", "desc", "style", "text", "path", "polygon", "rect", "circle"];
        assert!(known.contains(&name), "{name}");
        match (&it[1], &it[3]) {
            ("/", _) => assert_eq!(open.pop(), Some(name), "{svg}"),
            (_, "") => open.push(name),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(svg.matches('<').count(), TAG.find_iter(svg).count(), "{svg}");
    assert!(!svg.contains('\u{0}'));
}

#[test]
fn labels_of_strangers_stay_labels() {
    for chart in all(HOSTILE, &labels(9), &waves(9)) {
        for place in [ChartMedium::File, ChartMedium::Page, ChartMedium::Pixels] {
            let svg = chart.svg(place);
            check_elements(&svg);
            assert!(svg.contains("&lt;script&gt;") && svg.contains("role=\"img\""), "{svg}");
        }
    }
}

#[test]
fn a_file_has_its_namespace_and_heading_and_a_page_asks_nobody() {
    for chart in all("Some title", &labels(4), &waves(4)) {
        let (file, page) = (chart.svg(ChartMedium::File), chart.svg(ChartMedium::Page));
        assert!(
            file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" ")
                && file.contains(">Some title</text>")
        );
        assert!(page.starts_with("<svg class=") && !page.contains("http") && !page.contains("heading\" x"));
        assert!(
            page.contains("<title>Some title</title><desc>") && page.contains("prefers-color-scheme:dark")
        );
        assert!(!page.contains("url(") && !page.contains(" id="));
    }
}

/// What turns a chart into pixels knows neither variables nor modes.
#[test]
fn pixels_need_no_variables() {
    for chart in all("Some title", &labels(4), &waves(4)) {
        let svg = chart.svg(ChartMedium::Pixels);
        assert!(!svg.contains("var(") && !svg.contains("@media") && svg.contains("rect class=\"card\""));
        assert!(svg.contains(".s0.stroke{fill:none;stroke:#") && svg.contains(".pass.fill{fill:#"));
        assert!(svg.contains(">Some title</text>"));
        check_bounds(&svg);
    }
}

#[test]
fn nothing_is_outside_of_the_picture_or_on_top_of_each_other() {
    for n in [0, 1, 2, 3, 5, 12, 30, 60] {
        for chart in all(&HOSTILE.repeat(5), &labels(n), &waves(n)) {
            let svg = chart.svg(ChartMedium::File);
            let boxes = check_bounds(&svg);
            check_apart(&boxes, &svg);
        }
    }
}

#[test]
fn a_cut_label_keeps_the_whole_of_it() {
    let long = "word ".repeat(60);
    for chart in all("t", &[long.clone(), long.clone(), long.clone()], &waves(3)) {
        if !matches!(chart, Chart::Reliability(_) | Chart::Distribution(_)) {
            let svg = chart.svg(ChartMedium::Page);
            assert!(svg.contains('…') && svg.contains(long.trim()), "{svg}");
        }
    }
}

/// Whether all numbers of a table can be read off the picture by hovering or looking.
#[test]
fn tables_hold_what_is_drawn() {
    for chart in all("t", &labels(4), &[0.25, 0.5, f64::NAN, 0.875]) {
        let (svg, table) = (chart.svg(ChartMedium::Page), chart.table());
        assert!(
            !table.rows.is_empty() && table.rows.iter().all(|row| row.len() == table.head.len()),
            "{table:?}"
        );
        // A range that nothing lies in has no bar.
        let is_count = |cell: &&String| !cell.contains(" to ");
        let drawn = table.rows.iter().filter(|row| !row[1..].iter().filter(is_count).all(|cell| cell == "0"));
        for cell in drawn.flatten().filter(|drawn| *drawn != "–") {
            assert!(svg.contains(&escape_xml(cell)), "{cell} is not in {svg}");
        }
        assert!(!svg.contains("NaN") && !table.rows.iter().flatten().any(|row| row.contains("NaN")));
    }
}

fn texts(chart: &Chart) -> Vec<String> {
    boxes(&chart.svg(ChartMedium::Page)).into_iter().map(|(_, _, _, text)| text).collect()
}

fn check_texts(chart: &Chart, expected: &[&str]) {
    let texts = texts(chart);
    for one in expected {
        assert!(texts.iter().any(|text| text == one), "{one} is not in {texts:?}");
    }
}

#[test]
fn numbers_of_an_axis_are_round_on_the_scale_of_the_rubric_and_from_0_to_1_beside_it() {
    let ends = Some((1.0, 5.0));
    let measure = MeasuredValue::new(Some(0.5), Some((0.375, 0.625)));
    let numbers = ["1", "(0)", "2", "(0.25)", "3", "(0.5)", "4", "(0.75)", "5", "(1)"];

    let point = TrendChartPoint { at: 1.0, label: "Monday".to_owned(), measure: measure.on_scale(ends) };
    let trend = Chart::Trend(TrendChart { title: "t".to_owned(), points: vec![point], mark: None });
    check_texts(&trend, &numbers);
    assert!(
        trend
            .svg(ChartMedium::Page)
            .contains("Monday: 3.00/5 (2.50 to 3.50); from 0 to 1: 0.50 (0.38 to 0.62)")
    );
    let table = trend.table();
    assert_eq!(table.head, ["When", "Value", "95 % interval", "From 0 to 1"]);
    assert_eq!(table.rows, [["Monday", "3.00/5", "2.50 to 3.50", "0.50 (0.38 to 0.62)"]]);

    let bar = |label: &str, measure| Bar { label: label.to_owned(), measure, tone: Tone::Plain };
    let bars = |bars| Chart::Bars(Bars { title: "t".to_owned(), bars, mark: Some(0.7) });
    let shared = bars(vec![bar("tone", measure.on_scale(ends)), bar("facts", MeasuredValue::default())]);
    check_texts(&shared, &numbers);
    check_texts(&shared, &["3.00/5", "pass mark 3.8 (0.7)", "no value"]);
    // Bars on several scales share the axis from 0 to 1 only.
    let mixed = bars(vec![bar("tone", measure.on_scale(ends)), bar("facts", measure)]);
    check_texts(&mixed, &["0.2", "0.8", "3.00/5", "0.50", "pass mark 0.7"]);
    assert_eq!(mixed.table().rows[1], ["facts", "0.50", "0.38 to 0.62", "0.50 (0.38 to 0.62)"]);

    let counts =
        vec![DistributionLayer { name: "all".to_owned(), tone: Tone::Plain, counts: vec![0, 0, 0, 1] }];
    let scores = Chart::Distribution(Distribution {
        scale: ends,
        ..Distribution::of_tenths("t".to_owned(), counts, Some(0.75))
    });
    check_texts(&scores, &numbers);
    check_texts(&scores, &["pass mark 4 (0.75)"]);
    assert!(scores.svg(ChartMedium::Page).contains("2.2 to 2.6 (0.3 to 0.4 from 0 to 1): 1 all"));
    assert_eq!(scores.table().head, ["Range", "From 0 to 1", "all"]);
    assert_eq!(scores.table().rows[3], ["2.2 to 2.6", "0.3 to 0.4", "1"]);
}

#[test]
fn a_difference_is_nothing_on_every_scale_where_there_is_none() {
    let measure = MeasuredValue::new(Some(0.25), Some((0.125, 0.375)));
    let row = |label: &str, measure| ForestRow { label: label.to_owned(), measure, n: 9 };
    let on_five = measure.as_difference_on_scale(Some((1.0, 5.0)));
    let forest = |rows| {
        let whole = Some(row("score", on_five));
        Chart::Forest(Forest { title: "t".to_owned(), rows, whole, reference: 0.0 })
    };
    // A share of cases is from 0 to 1 on every scale.
    let chart = forest(vec![row("pass rate", measure.as_share())]);
    check_texts(&chart, &["0", "(0)", "4", "(1)", "0.25 (0.12 to 0.38)", "1.00 on 1–5 (0.50 to 1.50)"]);
    assert!(chart.svg(ChartMedium::Page).contains("differ significantly from 0. Numbers are on 1–5"));
    assert_eq!(chart.table().rows[1], ["score", "1.00 on 1–5", "0.50 to 1.50", "0.25 (0.12 to 0.38)", "9"]);
    // The difference of a criterion that is yes or no would stand at a wrong number of the other scale.
    let mixed = forest(vec![row("tone", on_five), row("met", measure)]);
    check_texts(&mixed, &["0", "0.4", "0.25 (0.12 to 0.38)", "1.00 on 1–5 (0.50 to 1.50)"]);
    let drawn = mixed.svg(ChartMedium::Page);
    assert!(!drawn.contains("Numbers are on") && !drawn.contains(">(0)<"), "{drawn}");
}

#[test]
fn a_radar_writes_each_value_on_the_scale_of_its_criterion() {
    let value = |ends| MeasuredValue::of(0.5).on_scale(ends);
    let radar = |values| {
        let axes = ["tone", "facts", "style"].map(str::to_owned).to_vec();
        let series = vec![RadarSeries { name: String::new(), values }];
        Chart::Radar(Radar { title: "t".to_owned(), axes, series, mark: None })
    };
    let mixed = radar(vec![value(Some((1.0, 5.0))), value(Some((0.0, 10.0))), value(None)]);
    check_texts(&mixed, &["tone 3.00/5", "facts 5.00/10", "style 0.50"]);
    let about = |chart: &Chart| chart.svg(ChartMedium::Page);
    assert!(about(&mixed).contains("from the lowest score in the middle to the highest."));
    let shared = radar(vec![value(Some((1.0, 5.0))); 3]);
    assert!(about(&shared).contains("3 axes from 1 in the middle to 5."));
    assert!(about(&radar(vec![value(None); 3])).contains("3 axes from 0 in the middle to 1."));
}

/// A colour of the palette, red, green and blue in linear light.
fn colour(colours: &str, name: &str) -> [f64; 3] {
    let start = colours.find(&format!("--{name}: ")).unwrap() + name.len() + 4;
    [1, 3, 5].map(|at| {
        let part = u8::from_str_radix(&colours[start + at..start + at + 2], 16).unwrap();
        let it = f64::from(part) / 255.0;
        if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: [[f64; 3]; 3], it: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| (0..3).map(|at| row[at] * it[at]).sum::<f64>().clamp(0.0, 1.0))
}

/// How far apart two colours look, in CIELAB.
fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    let lab = |values: [f64; 3]| {
        // To XYZ under daylight, white being 1.
        let xyz =
            times([[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8729]], values);
        let [x, y, z] = xyz.map(|xyz| if 0.008_856 < xyz { xyz.cbrt() } else { 7.787 * xyz + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    };
    let (one, other) = (lab(one), lab(other));
    (0..3).map(|at| (one[at] - other[at]).powi(2)).sum::<f64>().sqrt()
}

/// What is seen by all cones, and without those for long, middle and short waves (Machado 2009).
const EYES: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ],
    [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ],
    [
        [1.255_528, -0.076_749, -0.178_779],
        [-0.078_411, 0.930_809, 0.147_602],
        [0.004_733, 0.691_367, 0.303_900],
    ],
];

#[test]
fn colours_can_be_read_and_told_apart_by_everybody() {
    let contrast = |a: [f64; 3], b: [f64; 3]| {
        let [a, b] = [a, b].map(|values| 0.2126 * values[0] + 0.7152 * values[1] + 0.0722 * values[2]);
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    };
    let series: Vec<String> = (0..palette::SERIES).map(|n| format!("series-{n}")).collect();
    let series: Vec<&str> = series.iter().map(String::as_str).collect();
    for colours in [palette::light(), palette::dark()] {
        let colour = |name: &str| colour(&colours, name);
        for name in ["ink", "soft", "pass", "fail", "error", "deferred", "bar"] {
            assert!(4.5 <= contrast(colour(name), colour("card")), "{name} as text");
        }
        for name in ["heat", "cold"] {
            assert!(4.5 <= contrast(colour("ink"), colour(name)), "text on {name}");
        }
        for name in &series {
            assert!(3.0 <= contrast(colour(name), colour("card")), "{name} as a line");
        }
        let groups =
            [(&["pass", "fail"][..], 30.0), (&["pass", "fail", "error", "deferred"], 14.0), (&series, 19.0)];
        for (names, least) in groups {
            for eye in EYES {
                for (at, one) in names.iter().enumerate() {
                    for other in &names[at + 1..] {
                        let found = distance(times(eye, colour(one)), times(eye, colour(other)));
                        assert!(least <= found, "{one} and {other} are {found} apart");
                    }
                }
            }
        }
    }
}

#[test]
fn numbers_are_written_short() {
    let check = |value: f64, expected: &str| assert_eq!(measure::format_short_number(value), expected);
    check(0.0, "0.00");
    check(-0.001, "−0.0010");
    check(0.634_4, "0.63");
    check(1.0, "1.00");
    check(120.0, "120");
    check(1_092.27, "1092");
    check(123_456.0, "123456");
    check(3e9, "3.0e9");
    check(2e-7, "2.0e−7");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_numbers_and_labels_make_the_same_sound_picture_twice(
        title in ".{0,40}",
        labels in proptest::collection::vec(".{0,60}", 0..16),
        values in proptest::collection::vec(prop_oneof![any::<f64>(), 0.0..1.0, -500.0..500.0], 0..16),
    ) {
        for (chart, again) in all(&title, &labels, &values).into_iter().zip(all(&title, &labels, &values)) {
            let svg = chart.svg(ChartMedium::File);
            let boxes = check_bounds(&svg);
            check_apart(&boxes, &svg);
            check_elements(&svg);
            prop_assert_eq!(svg, again.svg(ChartMedium::File));
        }
    }
}
