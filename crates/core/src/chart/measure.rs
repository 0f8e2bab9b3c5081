//! A number to draw with its uncertainty, and the table behind a picture.

/// A value and where it may really lie. What is no finite number is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeasuredValue {
    value: Option<f64>,
    interval: Option<(f64, f64)>,
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
        Self { value, interval }
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

    /// The value and its interval as two cells of a table, to as many digits as the interval is sure of.
    pub(super) fn cells(&self) -> [String; 2] {
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

impl ChartTable {
    pub(super) fn new(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        Self { head: head.iter().map(|head| (*head).to_owned()).collect(), rows: rows.into_iter().collect() }
    }
}
