//! How much of one text is in another, word by word: ROUGE-N, BLEU, GLEU and METEOR.

use std::collections::HashMap;

use super::limits::MAX_GRAM;
use super::meteor::{MeteorWeights, meteor};
use super::{BadCheck, CheckFinding, CheckSubject, Params, text_of_output};
use crate::catalogue::OverlapCheckName;

#[derive(Debug)]
pub(super) enum Overlap {
    Rouge { to: Option<String>, n: usize, is_f1: bool, least: Option<f64> },
    Bleu { to: Vec<String>, least: Option<f64> },
    Gleu { to: Vec<String>, least: Option<f64> },
    Meteor { to: Vec<String>, weights: MeteorWeights, least: Option<f64> },
}

/// BLEU looks at runs of up to so many words.
const LONGEST: usize = 4;

pub(super) fn compile_overlap_check(
    check: OverlapCheckName,
    params: &Params<'_>,
) -> Result<Overlap, BadCheck> {
    let least = params.number("threshold")?;
    let references = || match params.get("value") {
        Some(serde_json::Value::String(text)) => Ok(vec![text.clone()]),
        _ => params.texts("value"),
    };
    Ok(match check {
        OverlapCheckName::RougeN => {
            let n = params.number("n")?.unwrap_or(1.0);
            if !(1.0..=MAX_GRAM).contains(&n) {
                return Err(params.bad("n", format!("must be between 1 and {MAX_GRAM}")));
            }
            let is_f1 = params.word("measure", &[("recall", false), ("f1", true)], false)?;
            Overlap::Rouge { to: params.text("value")?, n: n as usize, is_f1, least }
        }
        OverlapCheckName::Bleu => Overlap::Bleu { to: references()?, least },
        OverlapCheckName::Gleu => Overlap::Gleu { to: references()?, least },
        OverlapCheckName::Meteor => {
            Overlap::Meteor { to: references()?, weights: MeteorWeights::read(params)?, least }
        }
    })
}

fn split_lowercase_words(text: &str) -> Vec<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '\'';
    text.to_lowercase()
        .split(|lowercase: char| !is_word(lowercase))
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// How often each run of `n` words occurs.
fn grams(words: &[String], n: usize) -> HashMap<&[String], u32> {
    let mut counts = HashMap::new();
    for gram in words.windows(n) {
        *counts.entry(gram).or_default() += 1;
    }
    counts
}

impl Overlap {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let response = match subject.response() {
            Ok(response) => text_of_output(&response).into_owned(),
            Err(absent) => return absent,
        };
        let candidate = split_lowercase_words(&response);
        let reference = || {
            subject
                .reference
                .as_deref()
                .filter(|reference| !reference.is_null())
                .map(|reference| text_of_output(reference).into_owned())
        };
        let (score, least, comment) = match self {
            Self::Rouge { to, n, is_f1, least } => {
                let Some(reference) = to.clone().or_else(reference) else {
                    return CheckFinding::without_score("there is no reference to compare with");
                };
                let reference = split_lowercase_words(&reference);
                let (own, wanted) = (grams(&candidate, *n), grams(&reference, *n));
                let total: u32 = wanted.values().sum();
                if total == 0 {
                    return CheckFinding::without_score(format!("the reference has fewer than {n} words"));
                }
                let shared: u32 = wanted
                    .iter()
                    .map(|(gram, count)| (*count).min(own.get(gram).copied().unwrap_or(0)))
                    .sum();
                let of_reference = format!("{shared} of {total} {n}-grams of the reference");
                if *is_f1 {
                    // Twice the harmonic mean of the shares of both texts is the share of their sum.
                    let n_own = candidate.len().saturating_sub(n - 1);
                    let score = 2.0 * f64::from(shared) / (n_own as f64 + f64::from(total));
                    (score, least, format!("{of_reference}, {shared} of {n_own} of the response (F1)"))
                } else {
                    (f64::from(shared) / f64::from(total), least, of_reference)
                }
            }
            Self::Gleu { to, least } => {
                let texts: Vec<String> =
                    if to.is_empty() { reference().into_iter().collect() } else { to.clone() };
                if texts.is_empty() {
                    return CheckFinding::without_score("there is no reference to compare with");
                }
                let candidate = split_at_blanks(&response);
                let mut score: f64 = 0.0;
                for text in &texts {
                    if let Some(stopped) = subject.finding_if_stopped() {
                        return stopped;
                    }
                    score = score.max(gleu(&candidate, &split_at_blanks(text)));
                }
                (score, least, format!("GLEU {score:.4}"))
            }
            Self::Meteor { to, weights, least } => {
                let texts: Vec<String> =
                    if to.is_empty() { reference().into_iter().collect() } else { to.clone() };
                if texts.is_empty() {
                    return CheckFinding::without_score("there is no reference to compare with");
                }
                let candidate = split_at_blanks(&response);
                let mut score: f64 = 0.0;
                for text in &texts {
                    if let Some(stopped) = subject.finding_if_stopped() {
                        return stopped;
                    }
                    score = score.max(meteor(&candidate, &split_at_blanks(text), *weights));
                }
                (score, least, format!("METEOR {score:.4}"))
            }
            Self::Bleu { to, least } => {
                let texts: Vec<String> =
                    if to.is_empty() { reference().into_iter().collect() } else { to.clone() };
                if texts.is_empty() {
                    return CheckFinding::without_score("there is no reference to compare with");
                }
                let references: Vec<Vec<String>> =
                    texts.iter().map(|text| split_lowercase_words(text)).collect();
                if let Some(stopped) = subject.finding_if_stopped() {
                    return stopped;
                }
                let score = bleu(&candidate, &references);
                (score, least, format!("BLEU {score:.4}"))
            }
        };
        let value =
            least.map_or_else(|| score.into(), |least| serde_json::Value::Bool(least <= score + 1e-9));
        CheckFinding::from_score(score, value, comment)
    }
}

/// Words between blanks without the full stops behind them.
fn split_at_blanks(text: &str) -> Vec<String> {
    text.to_lowercase().split_whitespace().map(|word| word.trim_end_matches('.').to_owned()).collect()
}

/// The share of runs of up to four words that both texts have, in the text of which it is less.
fn gleu(candidate: &[String], reference: &[String]) -> f64 {
    if candidate == reference && !candidate.is_empty() {
        return 1.0;
    }
    let (mut shared, mut n_own, mut wanted) = (0, 0, 0);
    for n in 1..=LONGEST {
        let (own, other) = (grams(candidate, n), grams(reference, n));
        shared +=
            own.iter().map(|(gram, count)| (*count).min(other.get(gram).copied().unwrap_or(0))).sum::<u32>();
        n_own += own.values().sum::<u32>();
        wanted += other.values().sum::<u32>();
    }
    if n_own == 0 || wanted == 0 { 0.0 } else { f64::from(shared) / f64::from(n_own.max(wanted)) }
}

/// Geometric mean of clipped precisions times the brevity penalty; without any match of some length it is 0.
fn bleu(candidate: &[String], references: &[Vec<String>]) -> f64 {
    if candidate.is_empty() {
        return 0.0;
    }
    let longest = LONGEST.min(candidate.len());
    let mut sum = 0.0;
    for n in 1..=longest {
        let own = grams(candidate, n);
        // The highest count of each n-gram in any reference.
        let mut allowed: HashMap<&[String], u32> = HashMap::new();
        for (gram, count) in references.iter().flat_map(|reference| grams(reference, n)) {
            let most = allowed.entry(gram).or_default();
            *most = count.max(*most);
        }
        let most = |gram: &[String]| allowed.get(gram).copied().unwrap_or(0);
        let shared: u32 = own.iter().map(|(gram, count)| (*count).min(most(gram))).sum();
        let total: u32 = own.values().sum();
        if shared == 0 {
            return 0.0;
        }
        sum += (f64::from(shared) / f64::from(total)).ln();
    }
    let length = candidate.len() as f64;
    let closest = references
        .iter()
        .map(|reference| reference.len() as f64)
        .min_by(|a, b| (a - length).abs().total_cmp(&(b - length).abs()));
    let closest = closest.unwrap_or(length);
    let brevity = if length < closest { (1.0 - closest / length).exp() } else { 1.0 };
    brevity * (sum / longest as f64).exp()
}
