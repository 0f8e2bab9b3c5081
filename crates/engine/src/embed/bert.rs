//! A BERT sentence encoder, such as all-MiniLM-L6-v2, loaded from a folder with its weights.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use ndarray::{Array1, Array2, Axis, Slice};
use serde_json::Value as Json;

use super::tokens::Vocabulary;

/// A model in memory.
#[derive(Debug)]
pub struct Bert {
    vocabulary: Vocabulary,
    words: Array2<f32>,
    /// Position embeddings plus the embedding of segment 0, which is the only segment of a single text.
    positions: Array2<f32>,
    norm: Norm,
    layers: Vec<EncoderLayer>,
    n_heads: usize,
    max_tokens: usize,
    pooling: Pooling,
}

#[derive(Debug, Clone, Copy)]
enum Pooling {
    Mean,
    First,
}

#[derive(Debug)]
struct EncoderLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    wide: Linear,
    narrow: Linear,
    output_norm: Norm,
}

#[derive(Debug)]
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
}

/// Why a model cannot be loaded from a folder.
#[derive(Debug, thiserror::Error)]
pub enum BadModel {
    #[error("`{file}` cannot be read: {error}")]
    File { file: String, error: std::io::Error },
    #[error("the folder has no `model.safetensors`; a model in ONNX form alone cannot be used")]
    NoWeights,
    #[error("`{0}` is not what a sentence encoder of BERT's kind has")]
    Shape(String),
}

impl Bert {
    pub fn load(folder: &Path) -> Result<Self, BadModel> {
        let read = |name: &str| {
            fs::read(folder.join(name)).map_err(|error| BadModel::File { file: name.to_owned(), error })
        };
        let json = |name: &str| -> Option<Json> { serde_json::from_slice(&read(name).ok()?).ok() };
        if !folder.join("model.safetensors").is_file() {
            return Err(BadModel::NoWeights);
        }
        let config: Json = serde_json::from_slice(&read("config.json")?)
            .map_err(|_| BadModel::Shape("config.json".to_owned()))?;
        let size = |key: &str| config[key].as_u64().map(|n| n as usize);
        let (Some(n_layers), Some(n_heads)) = (size("num_hidden_layers"), size("num_attention_heads")) else {
            return Err(BadModel::Shape("config.json".to_owned()));
        };
        let text = String::from_utf8_lossy(&read("vocab.txt")?).into_owned();
        let vocabulary = Vocabulary::new(&text).ok_or_else(|| BadModel::Shape("vocab.txt".to_owned()))?;
        let bytes = read("model.safetensors")?;
        let weights = ModelWeights::read(&bytes)?;
        let segments = weights.matrix("embeddings.token_type_embeddings.weight")?;
        let positions = weights.matrix("embeddings.position_embeddings.weight")? + segments.row(0);
        let configured = json("sentence_bert_config.json").and_then(|json| json["max_seq_length"].as_u64());
        let max_tokens = configured.map_or(256, |n| n as usize).clamp(3, positions.nrows());
        let by_first =
            json("1_Pooling/config.json").is_some_and(|json| json["pooling_mode_cls_token"] == true);
        Ok(Self {
            vocabulary,
            words: weights.matrix("embeddings.word_embeddings.weight")?,
            positions,
            norm: weights.norm("embeddings.LayerNorm")?,
            layers: (0..n_layers).map(|n| weights.layer(n)).collect::<Result<_, _>>()?,
            n_heads,
            max_tokens,
            pooling: if by_first { Pooling::First } else { Pooling::Mean },
        })
    }

    /// The embedding of a text, normalised to length 1.
    pub fn embed_text(&self, text: &str) -> Vec<f32> {
        let ids = self.vocabulary.ids(text, self.max_tokens);
        let rows: Vec<usize> = ids.iter().map(|id| (*id as usize).min(self.words.nrows() - 1)).collect();
        let mut state = self.words.select(Axis(0), &rows);
        state += &self.positions.slice_axis(Axis(0), Slice::from(..ids.len()));
        self.norm.apply(&mut state);
        for layer in &self.layers {
            layer.apply(&mut state, self.n_heads);
        }
        let pooled = match self.pooling {
            Pooling::Mean => state.mean_axis(Axis(0)).expect("there are always two tokens"),
            Pooling::First => state.row(0).to_owned(),
        };
        let length = pooled.dot(&pooled).sqrt().max(f32::MIN_POSITIVE);
        (pooled / length).to_vec()
    }
}

impl EncoderLayer {
    fn apply(&self, state: &mut Array2<f32>, n_heads: usize) {
        let (query, key, value) = (self.query.apply(state), self.key.apply(state), self.value.apply(state));
        let width = query.ncols() / n_heads;
        let mut together = Array2::zeros(query.raw_dim());
        for head in 0..n_heads {
            let part = Slice::from(head * width..(head + 1) * width);
            let of = |all: &Array2<f32>| all.slice_axis(Axis(1), part).to_owned();
            let mut looks = of(&query).dot(&of(&key).t()) / (width as f32).sqrt();
            softmax(&mut looks);
            together.slice_axis_mut(Axis(1), part).assign(&looks.dot(&of(&value)));
        }
        *state += &self.attended.apply(&together);
        self.attended_norm.apply(state);
        let wide = self.wide.apply(state).mapv_into(gelu);
        *state += &self.narrow.apply(&wide);
        self.output_norm.apply(state);
    }
}

impl Linear {
    fn apply(&self, state: &Array2<f32>) -> Array2<f32> {
        state.dot(&self.weight.t()) + &self.bias
    }
}

impl Norm {
    fn apply(&self, state: &mut Array2<f32>) {
        for mut row in state.rows_mut() {
            let mean = row.mean().unwrap_or(0.0);
            let spread = row.iter().map(|row| (row - mean).powi(2)).sum::<f32>() / row.len() as f32;
            let scale = 1.0 / (spread + 1e-12).sqrt();
            row.zip_mut_with(&self.weight, |value, weight| *value = (*value - mean) * scale * weight);
            row += &self.bias;
        }
    }
}

fn softmax(scores: &mut Array2<f32>) {
    for mut row in scores.rows_mut() {
        let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.mapv_inplace(|row| (row - highest).exp());
        let sum = row.sum();
        row /= sum;
    }
}

/// x Φ(x), with Φ to seven digits (Abramowitz and Stegun 7.1.26).
fn gelu(x: f32) -> f32 {
    let z = x.abs() / std::f32::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly =
        ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let erf = (1.0 - poly * (-z * z).exp()).copysign(x);
    0.5 * x * (1.0 + erf)
}

/// Tensors of a safetensors file: a length, a JSON header, and the numbers.
struct ModelWeights<'a> {
    header: HashMap<String, Json>,
    data: &'a [u8],
}

struct StoredTensor {
    shape: Vec<usize>,
    numbers: Vec<f32>,
}

impl<'a> ModelWeights<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, BadModel> {
        let bad = || BadModel::Shape("model.safetensors".to_owned());
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(bad)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| bad())?;
        let (header, data) = rest.split_at_checked(length).ok_or_else(bad)?;
        Ok(Self { header: serde_json::from_slice(header).map_err(|_| bad())?, data })
    }

    fn tensor(&self, name: &str) -> Result<StoredTensor, BadModel> {
        let bad = || BadModel::Shape(name.to_owned());
        let entry =
            self.header.get(name).or_else(|| self.header.get(&format!("bert.{name}"))).ok_or_else(bad)?;
        let number = |value: &Json| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let shape: Option<Vec<usize>> =
            entry["shape"].as_array().ok_or_else(bad)?.iter().map(number).collect();
        let place = &entry["data_offsets"];
        let (Some(shape), Some(from), Some(to)) = (shape, number(&place[0]), number(&place[1])) else {
            return Err(bad());
        };
        let bytes = self.data.get(from..to).ok_or_else(bad)?;
        let numbers = match entry["dtype"].as_str() {
            Some("F32") => bytes
                .chunks_exact(4)
                .map(|chunk| f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
                .collect(),
            Some("BF16") => {
                bytes.chunks_exact(2).map(|chunk| f32::from_le_bytes([0, 0, chunk[0], chunk[1]])).collect()
            }
            Some("F16") => {
                bytes.chunks_exact(2).map(|chunk| half(u16::from_le_bytes([chunk[0], chunk[1]]))).collect()
            }
            _ => return Err(bad()),
        };
        Ok(StoredTensor { shape, numbers })
    }

    fn matrix(&self, name: &str) -> Result<Array2<f32>, BadModel> {
        let StoredTensor { shape, numbers } = self.tensor(name)?;
        let bad = || BadModel::Shape(name.to_owned());
        let [rows, columns] = shape[..] else { return Err(bad()) };
        Array2::from_shape_vec((rows, columns), numbers).map_err(|_| bad())
    }

    fn vector(&self, name: &str) -> Result<Array1<f32>, BadModel> {
        self.tensor(name).map(|tensor| Array1::from_vec(tensor.numbers))
    }

    fn linear(&self, name: &str) -> Result<Linear, BadModel> {
        Ok(Linear {
            weight: self.matrix(&format!("{name}.weight"))?,
            bias: self.vector(&format!("{name}.bias"))?,
        })
    }

    fn norm(&self, name: &str) -> Result<Norm, BadModel> {
        Ok(Norm {
            weight: self.vector(&format!("{name}.weight"))?,
            bias: self.vector(&format!("{name}.bias"))?,
        })
    }

    fn layer(&self, at: usize) -> Result<EncoderLayer, BadModel> {
        let of = |name: &str| format!("encoder.layer.{at}.{name}");
        Ok(EncoderLayer {
            query: self.linear(&of("attention.self.query"))?,
            key: self.linear(&of("attention.self.key"))?,
            value: self.linear(&of("attention.self.value"))?,
            attended: self.linear(&of("attention.output.dense"))?,
            attended_norm: self.norm(&of("attention.output.LayerNorm"))?,
            wide: self.linear(&of("intermediate.dense"))?,
            narrow: self.linear(&of("output.dense"))?,
            output_norm: self.norm(&of("output.LayerNorm"))?,
        })
    }
}

/// Converts a 16-bit float.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_what_they_are() {
        for (bits, expected) in [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333_251_95)] {
            assert!((half(bits) - expected).abs() < 1e-7);
        }
        for (x, expected) in [(0.0, 0.0), (1.0, 0.841_344_7), (-1.0, -0.158_655_3), (3.0, 2.995_950_2)] {
            assert!((gelu(x) - expected).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn a_folder_without_a_model_says_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Bert::load(folder.path()).unwrap_err().to_string().contains("model.safetensors"));
        fs::write(folder.path().join("model.safetensors"), b"\x02\0\0\0\0\0\0\0{}").unwrap();
        assert!(Bert::load(folder.path()).unwrap_err().to_string().contains("config.json"));
    }
}
