//! How close two texts are in meaning: the cosine, the product or the distance of their embeddings, which an embedding
//! model makes.

use serde_json::Value;

use super::{BadCheck, CheckFinding, CheckSubject, Params, text_of_output};
use crate::catalogue::SimilarityCheckName;

/// The model unless another is named.
const MODEL: &str = "all-MiniLM-L6-v2";

/// A model that makes embeddings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EmbeddingModel {
    pub name: String,
    /// The address of its server, if the file names one.
    pub base_url: Option<String>,
}

impl From<&str> for EmbeddingModel {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), base_url: None }
    }
}

/// How two embeddings are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmbeddingMeasure {
    Cosine,
    Dot,
    Euclidean,
}

impl EmbeddingMeasure {
    const ALL: [(&str, Self); 3] =
        [("cosine", Self::Cosine), ("dot", Self::Dot), ("euclidean", Self::Euclidean)];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, measure)| *measure == self).map_or("", |(name, _)| *name)
    }

    /// `None` where the two come from different models, or a text has no direction and the cosine asks for one.
    fn compare(self, a: &[f32], b: &[f32]) -> Option<f64> {
        let dot =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        if a.len() != b.len() {
            return None;
        }
        let measured = match self {
            Self::Cosine => dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(),
            Self::Dot => dot(a, b),
            Self::Euclidean => {
                a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
            }
        };
        Some(measured).filter(|measured| measured.is_finite())
    }

    /// The closer one of two results.
    fn closer(self, a: f64, b: f64) -> f64 {
        if self == Self::Euclidean { a.min(b) } else { a.max(b) }
    }

    /// The score of a result. It never falls where texts come closer, so that the score of the threshold separates what
    /// passes from what fails.
    fn score(self, measured: f64, threshold: Option<f64>) -> f64 {
        match (self, threshold) {
            // Products of long vectors have no bound; the threshold is in the middle of the scale.
            (Self::Dot, Some(threshold)) if 1.0 < threshold => (0.5 * measured / threshold).clamp(0.0, 1.0),
            // Opposite meanings count as no similarity.
            (Self::Cosine | Self::Dot, _) => measured.clamp(0.0, 1.0),
            (Self::Euclidean, _) => 1.0 / (1.0 + measured),
        }
    }
}

#[derive(Debug)]
pub(super) struct Similarity {
    /// The closest of these counts; none: the reference.
    to: Vec<String>,
    measure: EmbeddingMeasure,
    /// The least cosine or product, or the greatest distance.
    threshold: Option<f64>,
    pub(super) model: EmbeddingModel,
}

pub(super) fn compile_similarity_check(
    check: SimilarityCheckName,
    params: &Params<'_>,
) -> Result<Similarity, BadCheck> {
    let to = match params.get("value") {
        Some(Value::String(text)) => vec![text.clone()],
        _ => params.texts("value")?,
    };
    let name = params.text("model_name")?.unwrap_or_else(|| MODEL.to_owned());
    let model = EmbeddingModel { name, base_url: params.text("base_url")? };
    let measure = params.word("measure", &EmbeddingMeasure::ALL, EmbeddingMeasure::Cosine)?;
    let threshold = match check {
        SimilarityCheckName::Similar => Some(params.number("threshold")?.unwrap_or(0.75)),
        SimilarityCheckName::EmbeddingSimilarity => None,
    };
    let most = if measure == EmbeddingMeasure::Cosine { 1.0 } else { f64::MAX };
    if let Some(threshold) = threshold.filter(|threshold| !(0.0..=most).contains(threshold)) {
        let range = if measure == EmbeddingMeasure::Cosine { "from 0 to 1" } else { "0 or more" };
        return Err(params.bad("threshold", format!("must be {range}, not {threshold}")));
    }
    Ok(Similarity { to, measure, threshold, model })
}

impl Similarity {
    /// The score from which it passes.
    pub(super) fn least_score(&self) -> Option<f64> {
        self.threshold.map(|threshold| self.measure.score(threshold, self.threshold))
    }

    fn expected_texts(&self, subject: &CheckSubject<'_>) -> Vec<String> {
        let reference = || {
            subject
                .reference
                .as_deref()
                .filter(|reference| !reference.is_null())
                .map(|reference| text_of_output(reference).into_owned())
        };
        if self.to.is_empty() { reference().into_iter().collect() } else { self.to.clone() }
    }

    /// Every text whose embedding is needed; none where there is nothing to compare with.
    pub(super) fn texts(&self, subject: &CheckSubject<'_>) -> Vec<String> {
        let expected = self.expected_texts(subject);
        match subject.response() {
            Ok(response) if !expected.is_empty() => {
                [expected, vec![text_of_output(&response).into_owned()]].concat()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn run(
        &self,
        subject: &CheckSubject<'_>,
        vector: &dyn Fn(&str) -> Option<Vec<f32>>,
    ) -> CheckFinding {
        let expected = self.expected_texts(subject);
        if expected.is_empty() {
            return CheckFinding::without_score("there is no reference to compare with");
        }
        let output = match subject.response() {
            Ok(response) => vector(&text_of_output(&response)),
            Err(absent) => return absent,
        };
        let measure = self.measure;
        let all: Option<Vec<f64>> =
            expected.iter().map(|expected| measure.compare(output.as_deref()?, &vector(expected)?)).collect();
        let Some(measured) = all.and_then(|all| all.into_iter().reduce(|a, b| measure.closer(a, b))) else {
            return CheckFinding::without_score(format!("there is no embedding by `{}`", self.model.name));
        };
        let score = measure.score(measured, self.threshold);
        let (what, value) = match measure {
            EmbeddingMeasure::Cosine => ("similarity", score),
            EmbeddingMeasure::Dot => ("product", measured),
            EmbeddingMeasure::Euclidean => ("distance", measured),
        };
        let comment = format!("{what} {value:.3} by `{}`", self.model.name);
        let finding = match (self.threshold, self.least_score()) {
            (Some(threshold), Some(least)) => {
                let most = if measure == EmbeddingMeasure::Euclidean { "at most " } else { "" };
                let comment = format!("{comment}, {most}{threshold} wanted");
                CheckFinding::from_score(score, least <= score + 1e-9, comment)
            }
            _ => CheckFinding::from_score(score, score, comment),
        };
        finding.with(measure.name(), measured)
    }
}
