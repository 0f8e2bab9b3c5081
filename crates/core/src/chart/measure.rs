//! A number to draw with its uncertainty, the scale on which it is written, and the table behind a picture.

use crate::quantity::move_to_scale;

/// A value and where it may really lie. What is no finite number is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeasuredValue {
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    scale: Option<ChartScale>,
    /// Of cases: from 0 to 1 on every scale.
    is_share: bool,
}

/// The scale of a rubric on which numbers are written that are drawn from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChartScale {
    low: f64,
    high: f64,
    kind: ScaledNumber,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScaledNumber {
    Score,
    /// Of two scores; no difference is 0 on every scale.
    Difference,
}

impl ChartScale {
    /// `None` without two ends that differ, and for 0 to 1, which is no other scale.
    pub(super) fn of_scores(ends: Option<(f64, f64)>) -> Option<Self> {
        Self::new(ends, ScaledNumber::Score)
    }

    fn new(ends: Option<(f64, f64)>, kind: ScaledNumber) -> Option<Self> {
        let (low, high) = ends.filter(|(low, high)| low < high && (*low, *high) != (0.0, 1.0))?;
        Some(Self { low: finite(low)?, high: finite(high)?, kind })
    }

    /// What a number from 0 to 1 is on the scale.
    pub(super) fn place(self, unit: f64) -> f64 {
        match self.kind {
            ScaledNumber::Score => move_to_scale(unit, (self.low, self.high)),
            ScaledNumber::Difference => unit * (self.high - self.low),
        }
    }

    /// What a number on the scale is from 0 to 1.
    pub(super) fn unit(self, own: f64) -> f64 {
        match self.kind {
            ScaledNumber::Score => (own - self.low) / (self.high - self.low),
            ScaledNumber::Difference => own / (self.high - self.low),
        }
    }

    /// A number with its scale: `3.45/5`, for a difference `0.80 on 1–5`.
    fn name_after(self, number: &str) -> String {
        match self.kind {
            ScaledNumber::Score => format!("{number}/{}", self.high),
            ScaledNumber::Difference => format!("{number} on {}–{}", self.low, self.high),
        }
    }

    /// A sentence about the numbers of an axis, after the description of a chart.
    pub(super) fn about(scale: Option<Self>) -> String {
        let text =
            |Self { low, high, .. }| format!(" Numbers are on {low}–{high}, and from 0 to 1 in parentheses.");
        scale.map(text).unwrap_or_default()
    }

    /// A pass mark from 0 to 1, on the scale first where there is one: `3.8 (0.7)`.
    pub(super) fn format_mark(scale: Option<Self>, mark: f64) -> String {
        let unit = format_rounded_number(mark);
        match scale {
            Some(scale) => format!("{} ({unit})", format_rounded_number(scale.place(mark))),
            None => unit,
        }
    }
}

/// The scale of all measures that have a value, if they share one. Shares, such as pass rates, are on no other scale.
pub(super) fn shared_scale<'a>(measures: impl IntoIterator<Item = &'a MeasuredValue>) -> Option<ChartScale> {
    let has_own = |measure: &&MeasuredValue| measure.value.is_some() && !measure.is_share;
    let mut scales = measures.into_iter().filter(has_own).map(|measure| measure.scale);
    let first = scales.next()??;
    scales.all(|scale| scale == Some(first)).then_some(first)
}

/// Beyond this nothing was measured, and coordinates would lose their meaning.
const MOST: f64 = 1e12;

impl MeasuredValue {
    pub fn new(value: Option<f64>, interval: Option<(f64, f64)>) -> Self {
        let (value, ends) = (value.and_then(finite), interval.map(|(a, b)| (finite(a), finite(b))));
        let interval = match (value, ends) {
            (Some(_), Some((Some(a), Some(b)))) => Some((a.min(b), a.max(b))),
            _ => None,
        };
        Self { value, interval, scale: None, is_share: false }
    }

    /// A score from 0 to 1 that is written on the scale of its rubric, where it has one.
    #[must_use]
    pub fn on_scale(self, ends: Option<(f64, f64)>) -> Self {
        Self { scale: ChartScale::of_scores(ends), ..self }
    }

    /// A difference of two scores from 0 to 1 that is written on the scale of their rubric, where it has one.
    #[must_use]
    pub fn as_difference_on_scale(self, ends: Option<(f64, f64)>) -> Self {
        Self { scale: ChartScale::new(ends, ScaledNumber::Difference), ..self }
    }

    /// A share of cases, such as a pass rate, or the difference of two shares.
    #[must_use]
    pub fn as_share(self) -> Self {
        Self { scale: None, is_share: true, ..self }
    }

    pub fn of(value: f64) -> Self {
        Self::new(Some(value), None)
    }

    pub fn value(&self) -> Option<f64> {
        self.value
    }

    pub fn interval(&self) -> Option<(f64, f64)> {
        self.interval
    }

    /// Everything that an axis has to reach.
    pub(super) fn reach(self) -> impl Iterator<Item = f64> {
        let (low, high) = self.interval.unzip();
        [self.value, low, high].into_iter().flatten()
    }

    pub(super) fn has_scale(&self) -> bool {
        self.scale.is_some()
    }

    /// The same from 0 to 1.
    pub(super) fn without_scale(&self) -> Self {
        Self { scale: None, ..*self }
    }

    /// The value and its interval as two cells of a table, to as many digits as the interval is sure of.
    pub(super) fn cells(&self) -> [String; 2] {
        let Some(scale) = self.scale else { return self.unscaled_cells() };
        let own = Self {
            value: self.value.map(|value| scale.place(value)),
            interval: self.interval.map(|(low, high)| (scale.place(low), scale.place(high))),
            scale: None,
            is_share: self.is_share,
        };
        let [value, interval] = own.unscaled_cells();
        [if self.value.is_some() { scale.name_after(&value) } else { value }, interval]
    }

    fn unscaled_cells(&self) -> [String; 2] {
        let none = || "–".to_owned();
        let Some((low, high)) = self.interval else {
            return [self.value.map_or_else(none, format_short_number), none()];
        };
        let wide = if low < high { high - low } else { 1.0 };
        let sure = (-wide.log10()).floor().clamp(1.0, 5.0) as usize + 1;
        let written = |value: f64| {
            if self.reach().all(|reach| reach.abs() < 100.0) {
                digits(value, sure)
            } else {
                format_short_number(value)
            }
        };
        [self.value.map_or_else(none, written), format!("{} to {}", written(low), written(high))]
    }

    /// The value and its interval in a few words.
    pub(super) fn value_with_interval(&self) -> String {
        let [value, interval] = self.cells();
        if self.interval.is_some() { format!("{value} ({interval})") } else { value }
    }

    /// The same, and from 0 to 1 behind it where that is another scale.
    pub(super) fn value_on_both_scales(&self) -> String {
        let own = self.value_with_interval();
        match self.scale {
            Some(_) => format!("{own}; from 0 to 1: {}", self.without_scale().value_with_interval()),
            None => own,
        }
    }

    /// The value alone, in as few letters as say something.
    pub(super) fn short_value(&self) -> Option<String> {
        let value = self.value?;
        Some(match self.scale {
            Some(scale) => scale.name_after(&format_short_number(scale.place(value))),
            None => format_short_number(value),
        })
    }
}

/// A number that can be drawn.
pub(super) fn finite(value: f64) -> Option<f64> {
    (value.is_finite() && value.abs() <= MOST).then_some(value)
}

/// A number in as few letters as say something.
pub(super) fn format_short_number(value: f64) -> String {
    match value.abs() {
        it if it <= 0.0 || (1e-2..100.0).contains(&it) => digits(value, 2),
        it if (100.0..1e7).contains(&it) => digits(value, 0),
        it if (1e-4..1e-2).contains(&it) => digits(value, 4),
        _ => format!("{value:.1e}").replace('-', "−"),
    }
}

/// A number that a user set, as people write it.
pub(super) fn format_rounded_number(value: f64) -> String {
    let thousandths = (value * 1000.0).round() / 1000.0;
    (thousandths + 0.0).to_string().replace('-', "−")
}

fn digits(value: f64, n: usize) -> String {
    let text = format!("{value:.n$}");
    // Not −0.00.
    let is_zero = text.chars().all(|letter| matches!(letter, '-' | '0' | '.'));
    if is_zero { text.replace('-', "") } else { text.replace('-', "−") }
}

/// What a picture shows, in words and numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartTable {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// A row of a table of measures.
#[derive(Debug)]
pub(super) struct MeasureRow {
    pub(super) labels: Vec<String>,
    pub(super) measure: MeasuredValue,
    /// Cells behind those of the measure.
    pub(super) more: Vec<String>,
}

/// What stands above the columns of a table of measures.
#[derive(Debug)]
pub(super) struct MeasureHead<'a> {
    pub(super) labels: &'a [&'a str],
    pub(super) value: &'a str,
    pub(super) more: &'a [&'a str],
}

impl ChartTable {
    /// A table of measures with their intervals; where one is on a scale of its rubric, also from 0 to 1.
    pub(super) fn of_measures(head: &MeasureHead<'_>, rows: impl IntoIterator<Item = MeasureRow>) -> Self {
        let rows: Vec<MeasureRow> = rows.into_iter().collect();
        let is_scaled = rows.iter().any(|row| row.measure.scale.is_some());
        let columns = [head.value, "95 % interval"].into_iter().chain(is_scaled.then_some("From 0 to 1"));
        let columns: Vec<&str> =
            head.labels.iter().copied().chain(columns).chain(head.more.iter().copied()).collect();
        let cells = |MeasureRow { labels, measure, more }: MeasureRow| {
            let unit = is_scaled.then(|| measure.without_scale().value_with_interval());
            labels.into_iter().chain(measure.cells()).chain(unit).chain(more).collect()
        };
        Self::new(&columns, rows.into_iter().map(cells))
    }

    pub(super) fn new(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        Self { head: head.iter().map(|head| (*head).to_owned()).collect(), rows: rows.into_iter().collect() }
    }
}
