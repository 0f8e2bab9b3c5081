//! `max-score`: which of several outputs of one case scores highest by its other criteria.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{BadCheck, Params};

/// How the scores of one output become one number, and which number wins.
#[derive(Debug, Clone, PartialEq)]
pub struct MaxScore {
    method: TotalMethod,
    /// By the type or the name of a criterion; 1 by default.
    weights: BTreeMap<String, f64>,
    /// The total that the best output must reach.
    threshold: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TotalMethod {
    Average,
    Sum,
}

/// What one criterion contributed.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredCriterion {
    /// Names by which `weights` may mean it.
    pub names: Vec<String>,
    pub score: f64,
}

/// How one output compares with the others.
#[derive(Debug, Clone, PartialEq)]
pub struct MaxScoreResult {
    pub is_best: bool,
    pub comment: String,
}

pub(super) fn compile_max_score(params: &Params<'_>) -> Result<MaxScore, BadCheck> {
    let value = params.map("value")?;
    let field = |name: &str| value.and_then(|value| value.get(name)).filter(|value| !value.is_null());
    let method = match field("method").map(|field| field.as_str().unwrap_or_default()) {
        None | Some("average") => TotalMethod::Average,
        Some("sum") => TotalMethod::Sum,
        Some(other) => return Err(params.bad("method", format!("`{other}` is not one of average, sum"))),
    };
    let mut weights = BTreeMap::new();
    for (name, weight) in field("weights").and_then(Value::as_object).into_iter().flatten() {
        let right = weight.as_f64().filter(|number| number.is_finite() && 0.0 <= *number);
        let right =
            right.ok_or_else(|| params.bad("weights", format!("`{name}` must be a number of 0 or more")))?;
        weights.insert(name.clone(), right);
    }
    let threshold = match field("threshold") {
        None => None,
        Some(it) => Some(it.as_f64().ok_or_else(|| params.bad("threshold", "must be a number"))?),
    };
    Ok(MaxScore { method, weights, threshold })
}

impl MaxScore {
    /// Names that `weights` gives.
    pub fn weighted_names(&self) -> impl Iterator<Item = &str> {
        self.weights.keys().map(String::as_str)
    }

    /// One number for one output; `None` where no criterion with a weight has a score.
    pub fn total(&self, criteria: &[ScoredCriterion]) -> Option<f64> {
        let weight = |scored_criterion: &ScoredCriterion| {
            scored_criterion.names.iter().find_map(|name| self.weights.get(name)).copied().unwrap_or(1.0)
        };
        let points: f64 = criteria.iter().map(|criterion| weight(criterion) * criterion.score).sum();
        let total: f64 = criteria.iter().map(weight).sum();
        (0.0 < total).then(|| match self.method {
            TotalMethod::Average => points / total,
            TotalMethod::Sum => points,
        })
    }

    /// Of the totals of all outputs, who is best. Of several that are, the first; of none above the threshold, none.
    pub fn standings(&self, totals: &[f64]) -> Vec<MaxScoreResult> {
        let best = totals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let first = totals.iter().position(|total| best <= *total + 1e-9);
        let enough = self.threshold.is_none_or(|threshold| threshold <= best + 1e-9);
        let standing_of = |(at, total): (usize, &f64)| {
            let is_best = enough && first == Some(at);
            let of = if totals.len() == 1 {
                "the only output".to_owned()
            } else {
                format!("{total:.3}, the best of {} outputs has {best:.3}", totals.len())
            };
            let comment = match self.threshold {
                Some(threshold) if !enough => format!("{of}, and {threshold} is wanted"),
                _ if !is_best && best <= total + 1e-9 => format!("{of}, and an earlier one has it"),
                _ => of,
            };
            MaxScoreResult { is_best, comment }
        };
        totals.iter().enumerate().map(standing_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::CompiledCheck;
    use super::*;

    fn max_score(value: &Value) -> MaxScore {
        match CompiledCheck::new("max-score", &json!({ "value": value })).unwrap() {
            CompiledCheck::MaxScore(it) => it,
            other => panic!("{other:?}"),
        }
    }

    fn best(value: &Value, totals: &[f64]) -> Vec<bool> {
        max_score(value).standings(totals).iter().map(|max_score_result| max_score_result.is_best).collect()
    }

    #[test]
    fn totals_are_weighted_by_type_or_name() {
        let scored = |name: &str, score: f64| ScoredCriterion { names: vec![name.to_owned()], score };
        let scores = [scored("python", 1.0), scored("llm-rubric", 0.5), scored("contains", 1.0)];
        assert_eq!(max_score(&json!({ "weights": { "python": 3 } })).total(&scores), Some(0.9));
        assert_eq!(
            max_score(&json!({ "method": "sum", "weights": { "python": 3 } })).total(&scores),
            Some(4.5)
        );
        assert_eq!(max_score(&json!(null)).total(&[]), None);
    }

    #[test]
    fn the_first_of_the_best_wins_if_it_is_good_enough() {
        assert_eq!(best(&json!(null), &[0.2, 0.9, 0.9]), [false, true, false]);
        assert_eq!(best(&json!({ "threshold": 0.9 }), &[0.2, 0.9]), [false, true]);
        assert_eq!(best(&json!({ "threshold": 0.95 }), &[0.2, 0.9]), [false, false]);
        assert_eq!(best(&json!(null), &[0.0, 0.0]), [true, false]);
    }
}
