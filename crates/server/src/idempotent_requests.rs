//! Idempotent requests: a request with a key that was used before returns the stored response.

use axum::http::HeaderMap;
use jurist_core::grade::Time;
use jurist_engine::background::finish_in_task;
use jurist_store::idempotency::IdempotencyClaim;
use jurist_store::{ProjectId, clock};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::blocking::block_in_place;
use crate::error::ApiError;

/// The header with the idempotency key.
pub const KEY: &str = "idempotency-key";

/// After this time, a claim without a response counts as abandoned.
const STALE_SECONDS: i64 = 600;

/// Does the work, or returns the stored response if a request with this key was answered before.
///
/// A client that disconnects may retry, so the work continues and its response is stored for the retry.
pub async fn once<T: Serialize + DeserializeOwned + Send + 'static>(
    app: &App,
    project: ProjectId,
    headers: &HeaderMap,
    request: &impl Serialize,
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    let Some(key) = headers.get(KEY) else { return work.await };
    let bad = || ApiError::bad("an Idempotency-Key has 1 to 200 printable ASCII characters");
    let key = key.to_str().ok().filter(|text| (1..=200).contains(&text.len())).ok_or_else(bad)?;
    // It may be as long as a body may be.
    let hash = block_in_place(|| {
        let request = serde_json::to_vec(request).expect("a request is plain data");
        blake3::hash(&request).to_hex()
    });
    let now = clock::current_time();
    let stale = Time::from_micros(now.micros() - STALE_SECONDS * 1_000_000);
    let (store, key) = (app.store.clone(), key.to_owned());
    // The claim is in the task too: a claim without work would block all retries until it is stale.
    let answered = finish_in_task(async move {
        match store.claim(project, &key, &hash, now, stale).await? {
            IdempotencyClaim::New => {}
            IdempotencyClaim::Underway => {
                return Err(ApiError::Conflict("the same request is still running".to_owned()));
            }
            IdempotencyClaim::Mismatch => {
                return Err(ApiError::Senseless(
                    "this Idempotency-Key was used for another request".to_owned(),
                ));
            }
            IdempotencyClaim::Answered { response, .. } => {
                return serde_json::from_slice(&response).map_err(|error| {
                    tracing::error!(%error, "a stored response cannot be read");
                    ApiError::Broken
                });
            }
        }
        match work.await {
            Ok(answer) => {
                let body = serde_json::to_vec(&answer).expect("an answer is plain data");
                store.answer(project, &key, 200, &body).await?;
                Ok(answer)
            }
            Err(error) => {
                store.release_claim(project, &key).await?;
                Err(error)
            }
        }
    });
    answered.await.unwrap_or(Err(ApiError::Broken))
}
