//! The moderation endpoint of OpenAI, and of servers that have the same one.

use std::sync::Arc;

use jurist_core::check::ModerationReport;
use jurist_core::suite::Judge;
use serde_json::{Value as Json, json};

use super::post_with_retries;
use crate::model::resolve::{Resolver, Unresolved};
use crate::model::vendors::Protocol;
use crate::model::{ModelError, ModelErrorKind};

/// Why a text was not moderated.
#[derive(Debug, thiserror::Error)]
pub enum NoModeration {
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
    #[error("no moderation by `{name}`: {error}")]
    Failed { name: String, error: ModelError },
}

/// `base_url` is the server of all models, if the command line names one.
pub(super) async fn moderate_text(
    resolver: &Arc<Resolver>,
    base_url: Option<String>,
    model: &str,
    text: &str,
) -> Result<ModerationReport, NoModeration> {
    let name = resolver.canonical_name(model.to_owned());
    let failed = |error| NoModeration::Failed { name: name.clone(), error };
    let judge = Judge { model: Some(name.clone()), base_url, ..Judge::default() };
    let endpoint = resolver.resolve_endpoint(&judge)?;
    let Some(http) = &endpoint.http else {
        let why = endpoint.model.missing_key().unwrap_or("it has no moderation endpoint");
        return Err(failed(ModelError::new(ModelErrorKind::NoKey, why)));
    };
    if !matches!(http.endpoint().protocol, Protocol::OpenaiChat | Protocol::OpenaiResponses) {
        let why = "its vendor has no moderation endpoint; name a model of OpenAI, such as openai/omni-moderation-latest";
        return Err(failed(ModelError::new(ModelErrorKind::Rejected, why)));
    }
    let bare = endpoint.name.split_once('/').map_or(endpoint.name.as_str(), |(_, model)| model);
    let body = json!({ "model": bare, "input": text });
    let reply = post_with_retries(http, "moderations", &body).await.map_err(failed)?;
    read_moderation(&reply).map_err(failed)
}

/// Categories that are flagged in any part of the text.
fn read_moderation(reply: &Json) -> Result<ModerationReport, ModelError> {
    let bad = || ModelError::new(ModelErrorKind::NotUnderstood, "the reply is none of a moderation endpoint");
    let results = reply["results"].as_array().filter(|results| !results.is_empty()).ok_or_else(bad)?;
    let mut flagged = Vec::new();
    for result in results {
        let categories = result["categories"].as_object().ok_or_else(bad)?;
        let of_result = categories.iter().filter(|(_, is_flagged)| **is_flagged == true);
        let of_result: Vec<&String> = of_result.map(|(name, _)| name).collect();
        // Which categories matter is for the check to decide, and it cannot without their names.
        if of_result.is_empty() && (result["flagged"] == true || categories.is_empty()) {
            let why = "the moderation endpoint names no category for the text";
            return Err(ModelError::new(ModelErrorKind::NotUnderstood, why));
        }
        flagged.extend(of_result);
    }
    flagged.sort();
    flagged.dedup();
    Ok(ModerationReport { flagged: flagged.into_iter().cloned().collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flagged_categories_are_read_and_anything_else_is_an_error() {
        let reply = json!({ "results": [
            { "flagged": true, "categories": { "violence": true, "hate": false, "harassment": true } },
            { "flagged": true, "categories": { "violence": true } },
        ] });
        let flagged = vec!["harassment".to_owned(), "violence".to_owned()];
        assert_eq!(read_moderation(&reply).unwrap(), ModerationReport { flagged });
        for wrong in [
            json!({}),
            json!({ "results": [] }),
            json!({ "results": [{ "flagged": false }] }),
            json!({ "results": [{ "flagged": true, "categories": {} }] }),
            json!({ "results": [{ "flagged": true, "categories": { "hate": false } }] }),
        ] {
            assert_eq!(read_moderation(&wrong).unwrap_err().kind, ModelErrorKind::NotUnderstood, "{wrong}");
        }
    }
}
