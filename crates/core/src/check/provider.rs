//! Checks on what a provider says about an answer: how probable its tokens were, and what its guardrails or a moderation
//! service flagged.

use super::{BadCheck, CheckFinding, CheckSubject, Params, text_of_output};
use crate::catalogue::ProviderCheckName;

/// The model of the moderation endpoint unless another is named.
const MODERATION_MODEL: &str = "openai/omni-moderation-latest";

/// Why there is no perplexity, and what to do about it.
const NO_LOG_PROBABILITIES: &str = "the log-probabilities of the answer's tokens are not known: Jurist asks models for \
    them that are called by OpenAI's chat protocol and executed in the run, and programs may answer with `logProbs`";

const BAD_LOG_PROBABILITIES: &str =
    "the log-probabilities of the answer's tokens are above 0 or too low to be real";

const NO_GUARDRAILS: &str = "no guardrails were reported: content filters of Azure OpenAI are read, and programs may \
    answer with `guardrails: {flagged, reason}`";

/// The categories for which a moderation service flagged a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModerationReport {
    pub flagged: Vec<String>,
}

#[derive(Debug)]
pub(super) enum ProviderCheck {
    Perplexity {
        most: Option<f64>,
    },
    /// The certainty is the score.
    PerplexityScore {
        least: Option<f64>,
    },
    Guardrails,
    Moderation {
        /// Other categories do not matter; none: all do.
        categories: Vec<String>,
        model: String,
    },
}

pub(super) fn compile_provider_check(
    check: ProviderCheckName,
    params: &Params<'_>,
) -> Result<ProviderCheck, BadCheck> {
    Ok(match check {
        ProviderCheckName::Perplexity => ProviderCheck::Perplexity { most: params.number("threshold")? },
        ProviderCheckName::PerplexityScore => {
            ProviderCheck::PerplexityScore { least: params.number("threshold")? }
        }
        ProviderCheckName::Guardrails => ProviderCheck::Guardrails,
        ProviderCheckName::Moderation => ProviderCheck::Moderation {
            categories: params.texts("value")?,
            model: params.text("model_name")?.unwrap_or_else(|| MODERATION_MODEL.to_owned()),
        },
    })
}

impl ProviderCheck {
    pub(super) fn moderation_model(&self) -> Option<&str> {
        if let Self::Moderation { model, .. } = self { Some(model) } else { None }
    }

    /// What is sent to the moderation service, if there is a response.
    pub(super) fn text_to_moderate(&self, subject: &CheckSubject<'_>) -> Option<String> {
        self.moderation_model()?;
        subject.response().ok().map(|response| text_of_output(&response).into_owned())
    }

    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        match self {
            Self::Perplexity { most } => {
                let perplexity = match find_perplexity(subject) {
                    Ok(perplexity) => perplexity,
                    Err(why) => return CheckFinding::without_score(why),
                };
                let wanted = most.map(|most| format!(", at most {most} wanted")).unwrap_or_default();
                let passed = most.is_none_or(|most| perplexity <= most);
                CheckFinding::pass_or_fail(passed, format!("perplexity {perplexity:.3}{wanted}"))
                    .with("perplexity", perplexity)
            }
            Self::PerplexityScore { least } => {
                let perplexity = match find_perplexity(subject) {
                    Ok(perplexity) => perplexity,
                    Err(why) => return CheckFinding::without_score(why),
                };
                let score = 1.0 / (1.0 + perplexity);
                let passed = least.is_none_or(|least| least <= score + 1e-9);
                CheckFinding::from_score(score, passed, format!("perplexity {perplexity:.3}"))
                    .with("perplexity", perplexity)
            }
            Self::Guardrails => match subject.guardrails {
                None => CheckFinding::without_score(NO_GUARDRAILS),
                Some(report) if report.flagged => {
                    let reason =
                        if report.reason.is_empty() { "no reason is given" } else { report.reason.as_str() };
                    CheckFinding::pass_or_fail(false, format!("flagged: {reason}"))
                }
                Some(_) => CheckFinding::pass_or_fail(true, "nothing is flagged"),
            },
            Self::Moderation { categories, .. } => match (subject.response(), subject.moderation) {
                (Err(absent), _) => absent,
                (Ok(_), None) => CheckFinding::without_score("the moderation service was not asked"),
                (Ok(_), Some(report)) => {
                    let is_wanted = |flag: &&String| categories.is_empty() || categories.contains(*flag);
                    let flagged: Vec<&str> =
                        report.flagged.iter().filter(is_wanted).map(String::as_str).collect();
                    let comment = match flagged.as_slice() {
                        [] => "nothing is flagged".to_owned(),
                        flagged => format!("flagged: {}", flagged.join(", ")),
                    };
                    CheckFinding::pass_or_fail(flagged.is_empty(), comment)
                }
            },
        }
    }
}

/// The inverse of the geometric mean of the tokens' probabilities, or why there is none.
fn find_perplexity(subject: &CheckSubject<'_>) -> Result<f64, &'static str> {
    let mean = subject.measurements.mean_log_probability.ok_or(NO_LOG_PROBABILITIES)?;
    let perplexity = (-mean).exp();
    // A probability is above 0 and at most 1.
    if mean <= 0.0 && perplexity.is_finite() { Ok(perplexity) } else { Err(BAD_LOG_PROBABILITIES) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Check, CheckSubject};
    use super::*;
    use crate::candidate::{GuardrailReport, JudgeInput, Measurements};

    fn run(name: &str, params: &serde_json::Value, subject: &CheckSubject<'_>) -> CheckFinding {
        Check::new(name, params).unwrap().run(subject)
    }

    #[test]
    fn perplexity_is_the_inverse_of_the_mean_probability() {
        let mean_log_probability = Some(-(4.0_f64.ln()));
        let measurements = Measurements { mean_log_probability, ..Measurements::default() };
        let material = JudgeInput { measurements, ..JudgeInput::default() };
        let subject = CheckSubject::from_material(&material);
        for (name, params, score) in [
            ("perplexity", json!({ "threshold": 4.5 }), 1.0),
            ("perplexity", json!({ "threshold": 3.5 }), 0.0),
            ("perplexity", json!({}), 1.0),
            ("perplexity-score", json!({}), 0.2),
        ] {
            let actual = run(name, &params, &subject).score.unwrap();
            assert!((actual - score).abs() < 1e-9, "{name} {params}: {actual}");
        }
    }

    #[test]
    fn log_probabilities_that_cannot_be_are_no_score() {
        for mean in [5.0, -800.0, f64::NAN] {
            let measurements = Measurements { mean_log_probability: Some(mean), ..Measurements::default() };
            let material = JudgeInput { measurements, ..JudgeInput::default() };
            for name in ["perplexity", "perplexity-score"] {
                let finding = run(name, &json!({}), &CheckSubject::from_material(&material));
                assert_eq!((finding.score, finding.comment.as_str()), (None, BAD_LOG_PROBABILITIES));
            }
        }
    }

    #[test]
    fn what_no_provider_reported_is_no_score() {
        let material = JudgeInput { response: Some("Hi".to_owned()), ..JudgeInput::default() };
        let subject = CheckSubject::from_material(&material);
        for name in ["perplexity", "perplexity-score", "guardrails", "moderation"] {
            let finding = run(name, &json!({}), &subject);
            assert!(finding.score.is_none() && !finding.failed, "{name}: {finding:?}");
        }
    }

    #[test]
    fn guardrails_fail_what_they_flag() {
        for (flagged, score) in [(true, 0.0), (false, 1.0)] {
            let guardrails = Some(GuardrailReport { flagged, reason: String::new() });
            let material = JudgeInput { guardrails, ..JudgeInput::default() };
            let finding = run("guardrails", &json!({}), &CheckSubject::from_material(&material));
            assert_eq!(finding.score, Some(score));
        }
    }

    #[test]
    fn moderation_fails_for_the_categories_that_matter() {
        let report = ModerationReport { flagged: vec!["violence".to_owned()] };
        let material = JudgeInput { response: Some("Hit him.".to_owned()), ..JudgeInput::default() };
        let subject = CheckSubject { moderation: Some(&report), ..CheckSubject::from_material(&material) };
        let score = |params: serde_json::Value| run("moderation", &params, &subject).score;
        assert_eq!(score(json!({})), Some(0.0));
        assert_eq!(score(json!({ "value": ["violence", "hate"] })), Some(0.0));
        assert_eq!(score(json!({ "value": ["hate"] })), Some(1.0));
    }
}
