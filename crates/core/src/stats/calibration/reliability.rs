//! Whether a score means what it says: of what is scored 0.8, people should find 0.8.

use serde::{Deserialize, Serialize};

use crate::stats::basics::bounded::{Cluster, mean_interval};
use crate::stats::basics::numbers::{ensure_usable_pairs, mean};
use crate::stats::basics::undefined::Undefined;

/// Scores that lie close together, and what people say of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    pub low: f64,
    pub high: f64,
    pub n: usize,
    /// The mean score.
    pub score: f64,
    /// The mean of what people say.
    pub human: f64,
    /// Where that may really lie; not to be had from a single label.
    pub interval: Option<(f64, f64)>,
}

/// What a reliability diagram draws, and its summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilitySummary {
    /// Bins of the same width that hold something, from low to high.
    pub bins: Vec<Bin>,
    /// The expected calibration error: how far off the bins are, by how much is in them.
    pub ece: f64,
    /// How far off the worst bin is.
    pub worst: f64,
    /// The mean squared distance of score and label.
    pub brier: f64,
}

/// Both lists lie on 0..=1.
pub fn reliability(scores: &[f64], human: &[f64], n_bins: usize) -> Result<ReliabilitySummary, Undefined> {
    ensure_usable_pairs(("score", scores), ("human score", human), 1)?;
    if let Some(bad) = scores.iter().chain(human).find(|score| !(0.0..=1.0).contains(*score)) {
        return Undefined::because(format!("{bad} is not on 0..=1"));
    }
    if n_bins == 0 {
        return Undefined::because("there is no bin");
    }
    let mut inside: Vec<(Vec<f64>, Vec<f64>)> = vec![(Vec::new(), Vec::new()); n_bins];
    for (score, human) in scores.iter().zip(human) {
        let at = ((score * n_bins as f64) as usize).min(n_bins - 1);
        let (bin_scores, bin_human) = &mut inside[at];
        bin_scores.push(*score);
        bin_human.push(*human);
    }
    let width = 1.0 / n_bins as f64;
    let bins: Vec<Bin> = inside
        .iter()
        .enumerate()
        .filter(|(_, (scores, _))| !scores.is_empty())
        .map(|(at, (scores, human))| Bin {
            low: at as f64 * width,
            high: (at + 1) as f64 * width,
            n: scores.len(),
            score: mean(scores),
            human: mean(human),
            interval: human_mean_interval(human),
        })
        .collect();
    let off = |bin: &Bin| (bin.score - bin.human).abs();
    Ok(ReliabilitySummary {
        ece: bins.iter().map(|bin| bin.n as f64 * off(bin)).sum::<f64>() / scores.len() as f64,
        worst: bins.iter().map(off).fold(0.0, f64::max),
        brier: brier(scores, human),
        bins,
    })
}

pub(crate) fn brier(scores: &[f64], human: &[f64]) -> f64 {
    scores.iter().zip(human).map(|(s, h)| (s - h).powi(2)).sum::<f64>() / scores.len() as f64
}

fn human_mean_interval(human: &[f64]) -> Option<(f64, f64)> {
    mean_interval(&human.iter().copied().map(Cluster::single).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_bin() {
        let scores = [0.05, 0.15, 0.92, 0.98, 1.0];
        let result = reliability(&scores, &[0.0, 1.0, 1.0, 1.0, 0.0], 10).unwrap();
        let bins: Vec<(usize, f64)> = result.bins.iter().map(|bin| (bin.n, bin.human)).collect();
        assert_eq!(bins, [(1, 0.0), (1, 1.0), (3, 2.0 / 3.0)]);
        let top = 2.9 / 3.0 - 2.0 / 3.0;
        assert!((result.ece - (0.05 + 0.85 + 3.0 * top) / 5.0).abs() < 1e-12);
        assert!((result.worst - 0.85).abs() < 1e-12);
        assert!((result.brier - (0.0025 + 0.7225 + 0.0064 + 0.0004 + 1.0) / 5.0).abs() < 1e-12);
        assert!(result.bins[0].interval.is_none() && result.bins[2].interval.is_some());
        assert!(reliability(&[], &[], 10).is_err());
        assert!(reliability(&[1.5], &[1.0], 10).unwrap_err().to_string().contains("not on 0..=1"));
        assert!(reliability(&[0.5], &[f64::NAN], 10).unwrap_err().to_string().contains("not a number"));
    }
}
