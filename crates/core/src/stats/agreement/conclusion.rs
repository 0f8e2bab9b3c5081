//! What alpha and its interval allow to say, in the same words for the command, the API and the pages.

use crate::stats::basics::measure::CoefficientResult;

/// Krippendorff's limits: alpha from which conclusions are good, and from which they are tentative.
const GOOD: f64 = 0.8;
const TENTATIVE: f64 = 0.667;

/// As many candidates without a single difference say something.
const MANY: usize = 30;

/// How much higher alpha must be without a grader before the advice names this grader. In a trial with three people, of
/// whom one was careless, alpha was 0.37, and 0.87 without that person.
const OUTLIER_DIFFERENCE: f64 = 0.2;

/// How far grades can be relied on. The confidence interval decides, not the value alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgreementStrength {
    Good,
    Tentative,
    /// The interval is too wide, or there is none.
    Unclear,
    Low,
}

impl AgreementStrength {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Tentative => "tentative",
            Self::Unclear => "unclear",
            Self::Low => "low",
        }
    }
}

/// A conclusion from alpha.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreementConclusion {
    pub strength: AgreementStrength,
    /// One or two sentences.
    pub text: String,
}

/// Alpha of the others without one grader.
#[derive(Debug, Clone, PartialEq)]
pub struct AlphaWithoutGrader {
    pub grader: String,
    pub alpha: Option<f64>,
}

/// What alpha over `n_items` items allows to say.
pub fn conclude_agreement(
    alpha: &CoefficientResult,
    n_items: usize,
    without: &[AlphaWithoutGrader],
) -> AgreementConclusion {
    let conclude =
        |strength: AgreementStrength, text: &str| AgreementConclusion { strength, text: format!("{text}.") };
    let CoefficientResult::Known(alpha) = alpha else {
        let text = "Agreement beyond chance is not defined for these grades";
        return conclude(AgreementStrength::Unclear, text);
    };
    let Some((low, _)) = alpha.interval else {
        // Alpha is 1 exactly if no two grades of an item differ.
        return if 1.0 <= alpha.value && MANY <= n_items {
            conclude(AgreementStrength::Good, "All grades are identical")
        } else {
            let text = "Too few or too similar candidates for a confidence interval";
            conclude(AgreementStrength::Unclear, text)
        };
    };
    let (strength, text) = match (alpha.value, low) {
        (_, low) if GOOD <= low => (
            AgreementStrength::Good,
            "Good agreement; the whole confidence interval is in the range \"good\"",
        ),
        (value, low) if GOOD <= value && TENTATIVE <= low => (
            AgreementStrength::Good,
            "Good agreement, but the confidence interval reaches into the range \"tentative\"",
        ),
        (_, low) if TENTATIVE <= low => {
            (AgreementStrength::Tentative, "Tentative agreement: enough for tentative conclusions")
        }
        (value, _) if GOOD <= value => (
            AgreementStrength::Unclear,
            "Alpha is in the range \"good\", but its confidence interval reaches below \"tentative\"; grade more candidates",
        ),
        (value, _) if TENTATIVE <= value => (
            AgreementStrength::Unclear,
            "Agreement looks tentative, but the confidence interval reaches lower; grade more candidates",
        ),
        _ => (
            AgreementStrength::Low,
            "Agreement is too low to rely on means of these grades; review the wording of the criterion first",
        ),
    };
    match find_outlier(alpha.value, without) {
        Some(outlier) => AgreementConclusion { strength, text: describe_outlier(&outlier) },
        None => conclude(strength, text),
    }
}

/// A grader without whom the others agree much more.
struct Outlier<'a> {
    grader: &'a str,
    alpha_without: f64,
}

/// The grader without whom alpha is highest, if the difference is large enough.
fn find_outlier(alpha: f64, without: &[AlphaWithoutGrader]) -> Option<Outlier<'_>> {
    let without = without
        .iter()
        .filter_map(|without| Some(Outlier { grader: &without.grader, alpha_without: without.alpha? }));
    without
        .max_by(|a, b| a.alpha_without.total_cmp(&b.alpha_without))
        .filter(|outlier| alpha + OUTLIER_DIFFERENCE <= outlier.alpha_without)
}

fn describe_outlier(outlier: &Outlier<'_>) -> String {
    let name = outlier.grader;
    // Rounded first, so that a zero has no sign.
    let alpha = (outlier.alpha_without * 1000.0).round() / 1000.0 + 0.0;
    format!(
        "One grader differs from the others: alpha is {alpha:.3} without {name}. Look at the grades of {name} first; for an annotator, the page People of the task shows the pace and missed checks."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::basics::measure::Coefficient;

    fn conclude(value: f64, interval: Option<(f64, f64)>, n_items: usize) -> AgreementConclusion {
        let alpha = CoefficientResult::Known(Coefficient::new(value, interval, n_items));
        conclude_agreement(&alpha, n_items, &[])
    }

    #[test]
    fn the_interval_decides_and_not_the_value_alone() {
        let strength = |value: f64, low: f64| conclude(value, Some((low, 0.99)), 20).strength;
        assert_eq!(strength(0.95, 0.9), AgreementStrength::Good);
        assert_eq!(strength(0.85, 0.7), AgreementStrength::Good);
        assert_eq!(strength(0.75, 0.7), AgreementStrength::Tentative);
        assert_eq!(strength(0.8, 0.47), AgreementStrength::Unclear);
        assert_eq!(strength(0.7, 0.5), AgreementStrength::Unclear);
        assert_eq!(strength(0.5, 0.2), AgreementStrength::Low);
        let text = conclude(0.8, Some((0.47, 0.89)), 20).text;
        assert!(text.contains("reaches below \"tentative\"; grade more candidates."), "{text}");
    }

    #[test]
    fn without_an_interval_only_many_equal_grades_say_something() {
        assert_eq!(conclude(1.0, None, 5).strength, AgreementStrength::Unclear);
        assert_eq!(conclude(1.0, None, 30).text, "All grades are identical.");
        let undefined = CoefficientResult::Undefined { undefined: "one answer only".to_owned() };
        let conclusion = conclude_agreement(&undefined, 30, &[]);
        assert_eq!(conclusion.text, "Agreement beyond chance is not defined for these grades.");
    }

    #[test]
    fn a_grader_who_differs_is_named_first() {
        let alpha = CoefficientResult::Known(Coefficient::new(0.37, Some((0.1, 0.6)), 20));
        let without = [("ana", Some(0.3)), ("ben", None), ("cleo", Some(0.87))]
            .map(|(grader, alpha)| AlphaWithoutGrader { grader: grader.to_owned(), alpha });
        let conclusion = conclude_agreement(&alpha, 20, &without);
        assert_eq!(conclusion.strength, AgreementStrength::Low);
        assert!(conclusion.text.contains("alpha is 0.870 without cleo"), "{}", conclusion.text);
    }
}
