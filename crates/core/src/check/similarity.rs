//! How close two texts are in meaning: the cosine of their embeddings, which somebody else makes.

use serde_json::Value;

use super::{BadCheck, CheckFinding, CheckSubject, Params, text_of_output};

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

#[derive(Debug)]
pub(super) struct Similarity {
    /// The closest of these counts; none: the reference.
    to: Vec<String>,
    least: Option<f64>,
    pub(super) model: EmbeddingModel,
}

pub(super) fn compile_similarity_check(params: &Params<'_>) -> Result<Option<Similarity>, BadCheck> {
    let to = match params.get("value") {
        Some(Value::String(text)) => vec![text.clone()],
        _ => params.texts("value")?,
    };
    let name = params.text("model_name")?.unwrap_or_else(|| MODEL.to_owned());
    let model = EmbeddingModel { name, base_url: params.text("base_url")? };
    Ok(match params.name() {
        "similar" => Some(Similarity { to, least: Some(params.number("threshold")?.unwrap_or(0.75)), model }),
        "embedding_similarity" => Some(Similarity { to, least: None, model }),
        _ => None,
    })
}

impl Similarity {
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
        let cosines: Option<Vec<f64>> =
            expected.iter().map(|expected| cosine(output.as_deref()?, &vector(expected)?)).collect();
        let best = cosines.and_then(|cosine| cosine.into_iter().reduce(f64::max));
        let Some(cosine) = best else {
            return CheckFinding::without_score(format!("there is no embedding by `{}`", self.model.name));
        };
        // Opposite meanings are as far apart as it gets.
        let score = cosine.clamp(0.0, 1.0);
        let comment = format!("similarity {score:.3} by `{}`", self.model.name);
        let finding = match self.least {
            Some(least) => {
                CheckFinding::from_score(score, least <= score + 1e-9, format!("{comment}, {least} wanted"))
            }
            None => CheckFinding::from_score(score, score, comment),
        };
        finding.with("cosine", cosine)
    }
}

/// `None` where a text has no direction, or the two come from different models.
fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let length = (dot(a, a) * dot(b, b)).sqrt();
    (a.len() == b.len() && 0.0 < length).then(|| dot(a, b) / length)
}
