//! Writes every chart with invented numbers into a folder, once as usual and once as bad as it gets.
//!
//! `cargo run -p jurist-core --example charts -- /tmp/charts`

#![allow(clippy::print_stdout, reason = "an example says what it did")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use jurist_core::chart::{
    Bar, Bars, Chart, ChartMedium, Distribution, DistributionLayer, Forest, ForestRow, MatrixChart,
    MeasuredValue, Radar, RadarSeries, ReliabilityBin, ReliabilityChart, Shade, Tone, TrendChart,
    TrendChartPoint,
};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("say which folder to write into")?);
    fs::create_dir_all(&folder)?;
    for (name, chart) in normal().into_iter().chain(extreme()) {
        let path = folder.join(format!("{name}.svg"));
        fs::write(&path, chart.svg(ChartMedium::File))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// A value with an interval around it.
fn around(value: f64, half: f64) -> MeasuredValue {
    MeasuredValue::new(Some(value), Some((value - half, value + half)))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn series(name: &str, values: &[f64], half: f64) -> RadarSeries {
    RadarSeries { name: name.to_owned(), values: values.iter().map(|value| around(*value, half)).collect() }
}

fn bar(label: &str, measure: MeasuredValue, tone: Tone) -> Bar {
    Bar { label: label.to_owned(), measure, tone }
}

fn layer(name: &str, tone: Tone, counts: &[usize]) -> DistributionLayer {
    DistributionLayer { name: name.to_owned(), tone, counts: counts.to_vec() }
}

fn row(label: &str, measure: MeasuredValue, n: usize) -> ForestRow {
    ForestRow { label: label.to_owned(), measure, n }
}

fn bin(predicted: f64, observed: f64, half: f64, n: usize) -> ReliabilityBin {
    ReliabilityBin { predicted, observed: around(observed, half), n }
}

fn normal() -> Vec<(&'static str, Chart)> {
    let criteria = names(&["correct", "complete", "cites sources", "follows format", "tone", "no leaks"]);
    let radar = |title: &str, series| {
        Chart::Radar(Radar { title: title.to_owned(), axes: criteria.clone(), series, mark: Some(0.7) })
    };
    let opus = series("opus", &[0.91, 0.82, 0.74, 0.96, 0.88, 1.0], 0.06);
    let plain = opus.values.iter().filter_map(MeasuredValue::value).map(MeasuredValue::of).collect();
    let plain = RadarSeries { name: "opus".to_owned(), values: plain };
    let haiku = series("haiku", &[0.72, 0.61, 0.41, 0.9, 0.85, 0.95], 0.09);
    let mini = series("mini", &[0.55, 0.7, 0.58, 0.66, 0.6, 0.8], 0.05);
    let days = (0..40).map(|day| {
        let at = f64::from(day);
        let value = 0.78 + 0.06 * (at / 5.0).sin() - 0.004 * at;
        TrendChartPoint {
            at,
            label: format!("Nov {}", day + 1),
            measure: around(value, 0.35 / (at + 1.5).sqrt()),
        }
    });
    let kappa = |value: f64| Some(value);
    vec![
        ("radar-one", radar("What opus is good at", vec![plain])),
        ("radar-several", radar("Three agents, with intervals", vec![opus, haiku, mini])),
        (
            "bars",
            Chart::Bars(Bars {
                title: "Mean score by agent".to_owned(),
                bars: vec![
                    bar("opus", around(0.88, 0.04), Tone::Pass),
                    bar("haiku", around(0.74, 0.06), Tone::Pass),
                    bar("mini", around(0.65, 0.05), Tone::Fail),
                    bar("local 8b", around(0.41, 0.09), Tone::Fail),
                    bar("baseline", MeasuredValue::default(), Tone::Plain),
                ],
                mark: Some(0.7),
            }),
        ),
        (
            "distribution",
            Chart::Distribution(Distribution::of_tenths(
                "Scores of 120 cases".to_owned(),
                vec![
                    layer("failed", Tone::Fail, &[3, 1, 2, 4, 6, 9, 11, 2, 1, 1]),
                    layer("passed", Tone::Pass, &[0, 0, 0, 0, 0, 0, 0, 18, 27, 35]),
                ],
                Some(0.7),
            )),
        ),
        (
            "confusion",
            Chart::Matrix(MatrixChart::confusion(
                "Judge against people".to_owned(),
                "people".to_owned(),
                "judge".to_owned(),
                &names(&["1", "2", "3", "4", "5"]),
                &[
                    vec![21, 6, 1, 0, 0],
                    vec![4, 30, 9, 2, 0],
                    vec![0, 8, 41, 15, 1],
                    vec![0, 1, 12, 58, 14],
                    vec![0, 0, 2, 17, 63],
                ],
            )),
        ),
        (
            "agreement",
            Chart::Matrix(MatrixChart::agreement(
                "Agreement of graders (κ)".to_owned(),
                &names(&["ann", "bob", "opus", "regex check"]),
                vec![
                    vec![None, kappa(0.81), kappa(0.72), kappa(0.12)],
                    vec![kappa(0.81), None, kappa(0.68), kappa(0.05)],
                    vec![kappa(0.72), kappa(0.68), None, kappa(-0.24)],
                    vec![kappa(0.12), kappa(0.05), kappa(-0.24), None],
                ],
            )),
        ),
        (
            "reliability",
            Chart::Reliability(ReliabilityChart {
                title: "Is the judge as sure as it should be?".to_owned(),
                bins: vec![
                    bin(0.06, 0.04, 0.03, 80),
                    bin(0.15, 0.18, 0.08, 41),
                    bin(0.34, 0.29, 0.1, 30),
                    bin(0.55, 0.44, 0.11, 28),
                    bin(0.74, 0.61, 0.09, 52),
                    bin(0.93, 0.84, 0.05, 160),
                ],
                error: Some(0.083),
                scale: None,
            }),
        ),
        (
            "trend",
            Chart::Trend(TrendChart {
                title: "Quality of live traces".to_owned(),
                points: days.collect(),
                mark: Some(0.7),
            }),
        ),
        (
            "forest",
            Chart::Forest(Forest {
                title: "Change by criterion".to_owned(),
                rows: vec![
                    row("correct", around(0.081, 0.04), 120),
                    row("complete", around(0.03, 0.05), 118),
                    row("cites sources", around(-0.12, 0.07), 64),
                    row("follows format", around(0.002, 0.02), 120),
                    row("tone", around(0.05, 0.11), 20),
                ],
                whole: Some(row("score", around(0.034, 0.021), 120)),
                reference: 0.0,
            }),
        ),
    ]
}

/// One point, thirty labels, endless labels, and numbers that are none.
fn extreme() -> Vec<(&'static str, Chart)> {
    let long =
        "a criterion whose author could not stop explaining what <b>exactly</b> is & isn't meant by it";
    let many: Vec<String> =
        (1..=30).map(|n| if n % 4 == 0 { format!("{n} {long}") } else { format!("criterion {n}") }).collect();
    let wave = |n: usize, shift: f64| (0.55 + 0.4 * (n as f64 * 0.7 + shift).sin()).clamp(0.0, 1.0);
    let nan = MeasuredValue::new(Some(f64::NAN), Some((0.0, f64::INFINITY)));
    let shape = |name: &str, shift: f64| {
        let values = (0..30).map(|n| if n == 7 { nan } else { MeasuredValue::of(wave(n, shift)) });
        RadarSeries { name: name.to_owned(), values: values.collect() }
    };
    let spread = |n: usize| around(wave(n, 0.0) * 1800.0 - 700.0, 240.0);
    let tone = [Tone::Plain, Tone::Pass, Tone::Fail, Tone::Error, Tone::Deferred];
    let bars = many
        .iter()
        .enumerate()
        .map(|(at, text)| bar(text, if at == 3 { nan } else { spread(at) }, tone[at % 5]));
    let cells = (0..30).map(|row| (0..30).map(|n| (row != n).then(|| wave(row * 31 + n, 0.2))).collect());
    let wide =
        |n: usize| MeasuredValue::new(Some(wave(n, 0.4) - 0.5), Some((wave(n, 0.4) - 0.9, wave(n, 0.4))));
    let rows =
        many.iter().enumerate().map(|(at, text)| row(text, if at == 5 { nan } else { wide(at) }, at * 40));
    let noisy = (0..300_u16).map(|n| TrendChartPoint {
        at: f64::from(n).powi(2),
        label: format!("2026-01-{n} after the release of a new prompt"),
        measure: if n % 50 == 49 { nan } else { around(1e5 * wave(n.into(), 0.0), 9e4) },
    });
    vec![
        (
            "x-radar-30",
            Chart::Radar(Radar {
                title: long.to_owned(),
                axes: many.clone(),
                series: vec![shape("one", 0.0), shape(long, 0.9), shape("three", 1.9)],
                mark: Some(0.7),
            }),
        ),
        (
            "x-radar-2",
            Chart::Radar(Radar {
                title: "Two axes make no shape".to_owned(),
                axes: names(&["a", long]),
                series: vec![series("", &[0.2, 0.9], 0.1)],
                mark: None,
            }),
        ),
        (
            "x-radar-long",
            Chart::Radar(Radar {
                title: "Long names".to_owned(),
                axes: (0..11).map(|it| format!("{it} {long}")).collect(),
                series: vec![RadarSeries {
                    name: String::new(),
                    values: (0..11).map(|it| MeasuredValue::of(wave(it, 0.0))).collect(),
                }],
                mark: Some(0.5),
            }),
        ),
        ("x-bars", Chart::Bars(Bars { title: long.to_owned(), bars: bars.collect(), mark: Some(f64::NAN) })),
        (
            "x-bars-one",
            Chart::Bars(Bars {
                title: "One".to_owned(),
                bars: vec![bar("only", around(1.0, 0.0), Tone::Plain)],
                mark: Some(1.0),
            }),
        ),
        (
            "x-distribution",
            Chart::Distribution(Distribution {
                title: "One case".to_owned(),
                edges: vec![f64::NAN, 0.0, 0.5, 1.0],
                layers: vec![layer(long, Tone::Error, &[0, 1]), layer(long, Tone::Deferred, &[0])],
                mark: Some(0.0),
                scale: None,
            }),
        ),
        (
            "x-matrix-30",
            Chart::Matrix(MatrixChart {
                title: "Win rates of thirty agents".to_owned(),
                row_name: long.to_owned(),
                column_name: "wins against".to_owned(),
                rows: many.clone(),
                columns: many.clone(),
                cells: cells.collect(),
                shade: Shade::Unit,
            }),
        ),
        (
            "x-matrix-one",
            Chart::Matrix(MatrixChart::confusion(
                "One label".to_owned(),
                "people".to_owned(),
                "judge".to_owned(),
                &names(&[long]),
                &[vec![12_345]],
            )),
        ),
        (
            "x-reliability",
            Chart::Reliability(ReliabilityChart {
                title: "One group".to_owned(),
                bins: vec![bin(1.0, 0.0, 0.2, 1), bin(f64::NAN, 0.5, 0.1, 9)],
                error: Some(f64::NAN),
                scale: None,
            }),
        ),
        (
            "x-trend",
            Chart::Trend(TrendChart {
                title: long.to_owned(),
                points: noisy.collect(),
                mark: Some(50_000.0),
            }),
        ),
        (
            "x-trend-one",
            Chart::Trend(TrendChart {
                title: "One run".to_owned(),
                points: vec![TrendChartPoint { at: 3.0, label: long.to_owned(), measure: around(0.6, 0.2) }],
                mark: Some(0.7),
            }),
        ),
        (
            "x-forest",
            Chart::Forest(Forest {
                title: long.to_owned(),
                rows: rows.collect(),
                whole: None,
                reference: 0.0,
            }),
        ),
    ]
}
