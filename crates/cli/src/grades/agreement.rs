//! Measures of agreement, as commands choose and print them.

use jurist_core::stats::agreement::{Level, PairMeasures};
use jurist_core::stats::basics::CoefficientResult;

/// How answers are ordered, as a flag has it.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum LevelName {
    Nominal,
    Ordinal,
    Interval,
    Ratio,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Nominal => Self::Nominal,
            LevelName::Ordinal => Self::Ordinal,
            LevelName::Interval => Self::Interval,
            LevelName::Ratio => Self::Ratio,
        }
    }
}

/// The kappa that fits: where answers have no order, none is further off than another.
pub fn kappa_for_level(it: &PairMeasures, level: Level) -> &CoefficientResult {
    if level == Level::Nominal { &it.kappa } else { &it.kappa_quadratic }
}

/// A number with its interval, or why there is none.
pub fn format_measure(measure: &CoefficientResult) -> String {
    match measure {
        CoefficientResult::Known(it) => {
            let interval = it.interval.map(|(low, high)| {
                format!("  ({} to {})", format_coefficient(low), format_coefficient(high))
            });
            format!("{:>6}{}", format_coefficient(it.value), interval.unwrap_or_default())
        }
        CoefficientResult::Undefined { undefined } => format!("\x1b[2mundefined, because {undefined}\x1b[0m"),
    }
}

/// A number with three decimal places; a zero has no sign.
fn format_coefficient(number: f64) -> String {
    let text = format!("{number:.3}");
    if text == "-0.000" { "0.000".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::format_coefficient;

    #[test]
    fn a_zero_has_no_sign() {
        assert_eq!(format_coefficient(-0.000_4), "0.000");
        assert_eq!(format_coefficient(-0.000_6), "-0.001");
        assert_eq!(format_coefficient(0.87), "0.870");
    }
}
