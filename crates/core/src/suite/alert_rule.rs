//! Limits of one's own on the figures of a monitor, such as `score < 0.7`.

use crate::diagnostic::closest;

/// A condition on a figure of a monitor; an alert is open while it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct AlertRule {
    pub condition: AlertCondition,
    /// Days of UTC that the figure is of, today among them.
    pub days: u32,
    /// One agent; all agents of the monitor by default.
    pub agent: Option<String>,
    /// One criterion; the overall score by default.
    pub criterion: Option<String>,
}

/// A figure and the limit that it must not cross.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlertCondition {
    pub metric: AlertMetric,
    pub direction: LimitDirection,
    pub limit: f64,
}

/// A figure that a limit can be set on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertMetric {
    /// The mean score on 0..=1.
    Score,
    /// The share of traces that pass.
    PassRate,
    /// The share of judge errors.
    ErrorRate,
    /// Seconds that half of the traces take at most.
    LatencyP50,
    /// Seconds that 95 % of the traces take at most.
    LatencyP95,
    /// Dollars for a trace, on average.
    Cost,
    /// The share of the monitor's monthly budget that is spent.
    Budget,
}

/// The side of the limit on which the condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitDirection {
    Below,
    Above,
}

impl AlertMetric {
    pub const ALL: [Self; 7] = [
        Self::Score,
        Self::PassRate,
        Self::ErrorRate,
        Self::LatencyP50,
        Self::LatencyP95,
        Self::Cost,
        Self::Budget,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::PassRate => "pass_rate",
            Self::ErrorRate => "error_rate",
            Self::LatencyP50 => "latency_p50",
            Self::LatencyP95 => "latency_p95",
            Self::Cost => "cost",
            Self::Budget => "budget",
        }
    }

    /// Whether it lies on 0..=1.
    pub fn is_share(self) -> bool {
        !matches!(self, Self::LatencyP50 | Self::LatencyP95 | Self::Cost)
    }

    /// Whether each criterion has one.
    pub fn is_by_criterion(self) -> bool {
        matches!(self, Self::Score | Self::PassRate)
    }
}

impl AlertRule {
    pub const DAYS: u32 = 7;
    pub const MAX_DAYS: u32 = 90;
    /// Rules of one monitor.
    pub const MOST: usize = 100;

    /// As it is written, such as `score < 0.7 over 7d`.
    pub fn text(&self) -> String {
        match self.condition.metric {
            AlertMetric::Budget => self.condition.to_string(),
            _ => format!("{} over {}d", self.condition, self.days),
        }
    }
}

impl std::fmt::Display for AlertCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = match self.direction {
            LimitDirection::Below => '<',
            LimitDirection::Above => '>',
        };
        write!(f, "{} {sign} {}", self.metric.as_str(), self.limit)
    }
}

impl std::str::FromStr for AlertCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = || format!("`{text}` is not a condition such as `score < 0.7` or `latency_p95 > 30`");
        let at = text.find(['<', '>']).ok_or_else(shape)?;
        let direction =
            if text[at..].starts_with('<') { LimitDirection::Below } else { LimitDirection::Above };
        let name = text[..at].trim();
        let Some(metric) = AlertMetric::ALL.into_iter().find(|metric| metric.as_str() == name) else {
            let names = AlertMetric::ALL.map(AlertMetric::as_str);
            let hint = closest(name, &names).map(|near| format!("; did you mean `{near}`?"));
            let hint = hint.unwrap_or_else(|| format!("; there are {}", names.join(", ")));
            return Err(format!("`{name}` is not a metric for limits{hint}"));
        };
        let number = text[at + 1..].trim();
        let percent = number.strip_suffix('%');
        let is_percent = percent.is_some();
        let limit = percent.unwrap_or(number).trim().parse::<f64>().ok().filter(|limit| limit.is_finite());
        let limit = limit.ok_or_else(shape)? / if is_percent { 100.0 } else { 1.0 };
        if metric.is_share() && !(0.0..=1.0).contains(&limit) {
            return Err(format!("`{name}` lies between 0 and 1 (or 0 % and 100 %), and {limit} does not"));
        }
        if limit < 0.0 || (is_percent && !metric.is_share()) {
            return Err(shape());
        }
        Ok(Self { metric, direction, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_figure_a_sign_and_a_limit() {
        for (text, written) in [
            ("score < 0.7", "score < 0.7"),
            ("pass_rate<80%", "pass_rate < 0.8"),
            ("latency_p95 > 30", "latency_p95 > 30"),
            (" budget  >  0.9 ", "budget > 0.9"),
        ] {
            let condition: AlertCondition = text.parse().unwrap();
            assert_eq!(condition.to_string(), written);
            assert_eq!(written.parse::<AlertCondition>().unwrap(), condition);
        }
        for (text, expected) in [
            ("score", "is not a condition"),
            ("score <= 0.7", "is not a condition"),
            ("score < much", "is not a condition"),
            ("cost > 5 %", "is not a condition"),
            ("latency_p95 > -1", "is not a condition"),
            ("scroe < 0.7", "did you mean `score`?"),
            ("tokens > 5", "there are score, pass_rate"),
            ("score < 3.5", "lies between 0 and 1"),
        ] {
            let error = text.parse::<AlertCondition>().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
