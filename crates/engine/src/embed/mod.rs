//! Embeddings by a model in a local folder or by a server, and other services that checks ask about a text. Local models
//! are loaded on first use.

mod bert;
mod moderation;
mod tokens;

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use jurist_core::check::{EmbeddingModel, ModerationReport};
use jurist_core::suite::Judge;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;

pub use bert::{BadModel, Bert};
pub use moderation::NoModeration;
use moderation::moderate_text;

use crate::background::run_on_blocking_thread;
use crate::call::LONGEST_WAIT;
use crate::environment::home_folder;
use crate::load::variable;
use crate::model::http::{HttpModel, send_to_endpoint};
use crate::model::resolve::{Resolver, Unresolved};
use crate::model::{ModelError, ModelErrorKind};

/// Texts in one request to a server.
const AT_ONCE: usize = 128;

/// Computes embeddings, and asks moderation services; each model is loaded once.
#[derive(Debug)]
pub struct TextServices {
    resolver: Arc<Resolver>,
    base_url: Option<String>,
    /// Whether a model's name may be a local path.
    with_paths: bool,
    loaded: Mutex<HashMap<EmbeddingModel, Arc<Embedder>>>,
}

#[derive(Debug)]
enum Embedder {
    Local(Arc<Bert>),
    Server(Arc<HttpModel>, String),
}

/// Where a model is, before it is used.
enum EmbedderSource {
    Folder(PathBuf),
    Server(Arc<HttpModel>, String),
}

/// Why an embedding could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum NoEmbedding {
    #[error(
        "there is no embedding model `{name}` on this machine; looked in {}. \
         Give the path of a folder with model.safetensors, config.json and vocab.txt, set JURIST_MODELS to the \
         folder above it, or name a server's model, such as openai/text-embedding-3-small",
        looked.join(", ")
    )]
    NotFound { name: String, looked: Vec<String> },
    #[error("`{name}`: {error}")]
    Bad { name: String, error: BadModel },
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
    #[error("no embeddings by `{name}`: {error}")]
    Failed { name: String, error: ModelError },
}

impl TextServices {
    /// `base_url` is the server of all models that are not in a folder, whatever addresses files name.
    pub fn new(resolver: Arc<Resolver>, base_url: Option<String>) -> Self {
        Self { resolver, base_url, with_paths: true, loaded: Mutex::default() }
    }

    /// For untrusted names: local models by name only, and error messages without local paths.
    pub fn by_name(resolver: Arc<Resolver>) -> Self {
        Self { with_paths: false, ..Self::new(resolver, None) }
    }

    /// One embedding per text, in their order.
    pub async fn embed_texts(
        &self,
        model: &EmbeddingModel,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, NoEmbedding> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        match &*self.get(model).await? {
            Embedder::Local(bert) => Ok(embed_locally(bert, texts).await),
            Embedder::Server(http, name) => {
                let parts = texts.chunks(AT_ONCE).map(|text| embed_on_server(http, name, text));
                let parts = try_join_all(parts).await;
                let failed = |error| NoEmbedding::Failed { name: model.name.clone(), error };
                Ok(parts.map_err(failed)?.concat())
            }
        }
    }

    /// What a moderation service flags in a text.
    pub async fn moderate(&self, model: &str, text: &str) -> Result<ModerationReport, NoModeration> {
        moderate_text(&self.resolver, self.base_url.clone(), model, text).await
    }

    /// Checks that a model can be used, without loading it or calling its server.
    pub fn check(&self, model: &EmbeddingModel) -> Result<(), NoEmbedding> {
        self.find(model).map(drop)
    }

    async fn get(&self, model: &EmbeddingModel) -> Result<Arc<Embedder>, NoEmbedding> {
        let mut loaded = self.loaded.lock().await;
        if let Some(embedder) = loaded.get(model) {
            return Ok(Arc::clone(embedder));
        }
        let embedder = match self.find(model)? {
            EmbedderSource::Folder(folder) => {
                let bad = |error| NoEmbedding::Bad { name: model.name.clone(), error };
                Embedder::Local(Arc::new(Bert::load(&folder).map_err(bad)?))
            }
            EmbedderSource::Server(http, name) => Embedder::Server(http, name),
        };
        let embedder = Arc::new(embedder);
        loaded.insert(model.clone(), Arc::clone(&embedder));
        Ok(embedder)
    }

    fn find(&self, model: &EmbeddingModel) -> Result<EmbedderSource, NoEmbedding> {
        let name = model.name.as_str();
        let is_path =
            Path::new(name).components().any(|component| !matches!(component, Component::Normal(_)));
        let places = match self.with_paths {
            true => [PathBuf::from(name)].into_iter().chain(places(name)).collect(),
            false if is_path => Vec::new(),
            false => places(name),
        };
        if let Some(folder) = places.iter().find(|place| place.join("config.json").is_file()) {
            return Ok(EmbedderSource::Folder(folder.clone()));
        }
        let name = &self.resolver.canonical_name(name.to_owned());
        // As with judges, the address of the command line comes before that of a file.
        let base_url = self.base_url.clone().or_else(|| model.base_url.clone());
        let judge = Judge { model: Some(name.to_owned()), base_url, ..Judge::default() };
        // A name without a vendor is a local folder, unless a base URL is set.
        if judge.base_url.is_none() && !name.contains('/') {
            let looked = match self.with_paths {
                true => places.iter().map(|place| place.display().to_string()).collect(),
                false => vec!["its own folders".to_owned()],
            };
            return Err(NoEmbedding::NotFound { name: name.to_owned(), looked });
        }
        let line = self.resolver.resolve_endpoint(&judge)?;
        let bare = line.name.split_once('/').map_or(line.name.as_str(), |(_, model)| model).to_owned();
        match line.http {
            Some(http) => Ok(EmbedderSource::Server(http, bare)),
            None => {
                let why = line.model.missing_key().unwrap_or("it does not make embeddings");
                let error = ModelError::new(ModelErrorKind::NoKey, why);
                Err(NoEmbedding::Failed { name: name.to_owned(), error })
            }
        }
    }
}

/// Folders that are searched for a model of this name.
fn places(name: &str) -> Vec<PathBuf> {
    let own = variable("JURIST_MODELS").map(|variable| PathBuf::from(variable).join(name));
    let hub = home_folder().map(|home| {
        let owner =
            if name.contains('/') { name.to_owned() } else { format!("sentence-transformers/{name}") };
        home.join(".cache/huggingface/hub")
            .join(format!("models--{}", owner.replace('/', "--")))
            .join("snapshots")
    });
    let snapshots = hub.iter().flat_map(|hub| std::fs::read_dir(hub).into_iter().flatten().flatten());
    let snapshots: Vec<PathBuf> = snapshots.map(|snapshot| snapshot.path()).collect();
    own.into_iter().chain(snapshots).collect()
}

/// Computes on all cores, on blocking threads, so that network tasks are not delayed.
async fn embed_locally(bert: &Arc<Bert>, texts: &[String]) -> Vec<Vec<f32>> {
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (bert, texts) = (Arc::clone(bert), texts.to_vec());
    let work = move || {
        std::thread::scope(|scope| {
            let share = texts.len().div_ceil(n_threads);
            let workers: Vec<_> = texts
                .chunks(share)
                .map(|part| scope.spawn(|| part.iter().map(|part| bert.embed_text(part)).collect::<Vec<_>>()))
                .collect();
            workers
                .into_iter()
                .flat_map(|scoped_join_handle| {
                    scoped_join_handle.join().expect("embedding a text does not panic")
                })
                .collect()
        })
    };
    run_on_blocking_thread(work).await.expect("embedding a text does not panic")
}

async fn embed_on_server(
    http: &HttpModel,
    model: &str,
    texts: &[String],
) -> Result<Vec<Vec<f32>>, ModelError> {
    let body = json!({ "model": model, "input": texts, "encoding_format": "float" });
    vectors(&post_with_retries(http, "embeddings", &body).await?, texts.len())
}

/// Posts to an address below the base URL of a server, and again if the server fails for a while.
pub(crate) async fn post_with_retries(http: &HttpModel, path: &str, body: &Json) -> Result<Json, ModelError> {
    let endpoint = http.endpoint();
    let (url, body) = (format!("{}/{path}", endpoint.base_url), body.to_string());
    let mut wait = Duration::from_millis(500);
    for left in (0..4).rev() {
        let request = endpoint.request(http.client(), reqwest::Method::POST, &url).body(body.clone());
        let result = match send_to_endpoint(request, endpoint).await {
            Ok(answer) => endpoint.parse_response(&answer),
            Err(error) => Err(error),
        };
        match result {
            Ok(body) => return Ok(body),
            Err(error) => {
                let wait_for = error.retry_after.unwrap_or(wait);
                if !error.is_passing() || left == 0 || LONGEST_WAIT < wait_for {
                    return Err(error);
                }
                tokio::time::sleep(wait_for).await;
                wait *= 2;
            }
        }
    }
    unreachable!("the last try returns")
}

/// The vectors of a reply, sorted into the order of the texts.
fn vectors(body: &Json, n_texts: usize) -> Result<Vec<Vec<f32>>, ModelError> {
    let bad =
        || ModelError::new(ModelErrorKind::NotUnderstood, "the reply does not hold one embedding per text");
    let mut all: Vec<Vec<f32>> = vec![Vec::new(); n_texts];
    for (at, entry) in body["data"].as_array().ok_or_else(bad)?.iter().enumerate() {
        let at = entry["index"].as_u64().map_or(at, |n| n as usize);
        let numbers = entry["embedding"].as_array().ok_or_else(bad)?;
        let numbers: Option<Vec<f32>> =
            numbers.iter().map(|value| value.as_f64().map(|number| number as f32)).collect();
        *all.get_mut(at).ok_or_else(bad)? = numbers.ok_or_else(bad)?;
    }
    if all.iter().any(Vec::is_empty) { Err(bad()) } else { Ok(all) }
}
