//! What checks on records ask of services: embeddings of texts, and reports of moderation services.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::StreamExt;
use jurist_core::check::{Check, CheckSubject, EmbeddingModel, ModerationReport};
use jurist_engine::embed::{NoEmbedding, TextServices};

/// Requests to moderation services at a time.
const MODERATIONS_AT_ONCE: usize = 8;

/// Whether a check asks a service.
pub(super) fn asks_service(check: &Check) -> bool {
    check.embedding_model().is_some() || check.moderation_model().is_some()
}

/// A text and the model of the moderation service that checks it.
type ModeratedText = (String, String);

/// What checks on some records ask of services, each text once.
#[derive(Debug, Default)]
pub(super) struct ServiceQuestions {
    embeddings: BTreeMap<EmbeddingModel, BTreeSet<String>>,
    moderations: BTreeSet<ModeratedText>,
}

/// What services answered.
#[derive(Debug, Default)]
pub(super) struct ServiceAnswers {
    embeddings: HashMap<(EmbeddingModel, String), Vec<f32>>,
    moderations: HashMap<ModeratedText, Result<ModerationReport, String>>,
}

impl ServiceQuestions {
    pub(super) fn add(&mut self, check: &Check, subject: &CheckSubject<'_>) {
        if let Some(model) = check.embedding_model() {
            self.embeddings.entry(model.clone()).or_default().extend(check.texts(subject));
        }
        self.moderations.extend(moderated_text(check, subject));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.embeddings.is_empty() && self.moderations.is_empty()
    }

    /// Asks all of it. Without an embedding nothing is graded; a text that is not moderated is an error of its record.
    pub(super) async fn ask(self, services: &TextServices) -> Result<ServiceAnswers, NoEmbedding> {
        let mut answers = ServiceAnswers::default();
        for (model, texts) in self.embeddings {
            let texts: Vec<String> = texts.into_iter().collect();
            let vectors = services.embed_texts(&model, &texts).await?;
            answers.add_embeddings(&model, texts, vectors);
        }
        let reports = futures_util::stream::iter(self.moderations).map(|(model, text)| async move {
            let report = services.moderate(&model, &text).await.map_err(|error| error.to_string());
            ((model, text), report)
        });
        answers.moderations = reports.buffer_unordered(MODERATIONS_AT_ONCE).collect().await;
        Ok(answers)
    }
}

impl ServiceAnswers {
    /// Adds one embedding for each text, in their order.
    pub(super) fn add_embeddings(
        &mut self,
        model: &EmbeddingModel,
        texts: Vec<String>,
        vectors: Vec<Vec<f32>>,
    ) {
        let each = texts.into_iter().zip(vectors);
        self.embeddings.extend(each.map(|(text, vector)| ((model.clone(), text), vector)));
    }

    pub(super) fn embedding(&self, model: &EmbeddingModel, text: &str) -> Option<Vec<f32>> {
        self.embeddings.get(&(model.clone(), text.to_owned())).cloned()
    }

    /// The report about a response, if the check asks for one, or why there is none.
    pub(super) fn moderation(
        &self,
        check: &Check,
        subject: &CheckSubject<'_>,
    ) -> Option<Result<&ModerationReport, &str>> {
        let report = self.moderations.get(&moderated_text(check, subject)?)?;
        Some(report.as_ref().map_err(String::as_str))
    }
}

fn moderated_text(check: &Check, subject: &CheckSubject<'_>) -> Option<ModeratedText> {
    Some((check.moderation_model()?.to_owned(), check.text_to_moderate(subject)?))
}
