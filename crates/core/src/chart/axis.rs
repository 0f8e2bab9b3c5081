//! Where numbers lie in a picture.

use super::measure::{ChartScale, format_rounded_number};

/// Numbers from `low` to `high` lie between two places, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

/// A round number of an axis.
#[derive(Debug)]
pub(super) struct AxisTick {
    /// In pixels.
    pub(super) place: f64,
    pub(super) written: String,
    /// The same from 0 to 1, in parentheses, if it is written on another scale.
    pub(super) unit: Option<String>,
}

impl Axis {
    /// Reaches all values: scores on 0..=1 get the whole of it, others round numbers around them.
    pub(super) fn over(values: impl Iterator<Item = f64>, places: (f64, f64)) -> Self {
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if high < low || 0.0 <= low && high <= 1.0 {
            return Self::between(0.0, 1.0, places);
        }
        let wide = if low < high { high - low } else { low.abs().max(1.0) };
        let step = tick_step(wide, 5.0);
        let (mut low, mut high) = ((low / step).floor() * step, (high / step).ceil() * step);
        // A single number is drawn in the middle.
        if high <= low {
            (low, high) = (low - step, high + step);
        }
        Self::between(low, high, places)
    }

    pub(super) fn between(low: f64, high: f64, (start, end): (f64, f64)) -> Self {
        Self { low, high, start, end }
    }

    /// Never outside of the two places.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.start + (self.end - self.start) * share
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Round numbers, each with how it is written.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let step = tick_step(self.high - self.low, 5.0);
        let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.low / step - 1e-9).ceil() * step;
        let n = ((self.high - first) / step + 1e-9).floor().max(0.0) as usize;
        let written = |value: f64| match value.abs() {
            it if it < step / 2.0 => "0".to_owned(),
            it if 1e6 <= it => format!("{value:.1e}").replace('-', "−"),
            _ if 1e3 <= step => format!("{:.0}k", value / 1e3).replace('-', "−"),
            _ => format!("{value:.digits$}").replace('-', "−"),
        };
        (0..=n).map(|n| first + step * n as f64).map(|value| (value, written(value))).collect()
    }

    /// Numbers that are round on a scale of a rubric, if there is one.
    pub(super) fn ticks_on(&self, scale: Option<ChartScale>) -> Vec<AxisTick> {
        let axis = match scale {
            Some(scale) => Self { low: scale.place(self.low), high: scale.place(self.high), ..*self },
            None => *self,
        };
        let unit = |value| scale.map(|scale| format!("({})", format_rounded_number(scale.unit(value))));
        let ticks = axis.ticks().into_iter();
        ticks.map(|(value, written)| AxisTick { place: axis.at(value), written, unit: unit(value) }).collect()
    }
}

/// One, two or five times a power of ten, so that about `n` of them are as wide.
fn tick_step(wide: f64, n: f64) -> f64 {
    let rough = wide / n;
    let power = 10.0_f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|value| rough <= value * power * (1.0 + 1e-9));
    times.unwrap_or(10.0) * power
}
