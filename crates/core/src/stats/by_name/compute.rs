//! Statistics by name on plain JSON, as reference packages are asked for them.

use serde_json::Value as Json;

use super::known::unknown_part;
use super::{agreement, estimates, families, functions, ranking};
use crate::stats::basics::undefined::Undefined;

/// Computes a statistic by its name: a function of a list of arguments, or a family of functions of an object.
///
/// `None` for an unknown name.
///
/// ```
/// use jurist_core::stats::by_name::compute_statistic;
/// use serde_json::json;
///
/// let found = compute_statistic("cohen_kappa", &json!([["a", "b", "a", "b"], ["a", "b", "b", "b"]]));
/// assert_eq!(found, Some(Ok(json!(0.5))));
/// let why = compute_statistic("cohen_kappa", &json!([["a", "a"], ["a", "a"]])).unwrap().unwrap_err();
/// assert!(why.to_string().starts_with("undefined, because both raters always gave the same answer"));
/// ```
pub fn compute_statistic(name: &str, input: &Json) -> Option<Result<Json, Undefined>> {
    if let Some(problem) = unknown_part(name, input) {
        return Some(Err(Undefined(problem)));
    }
    agreement::compute_agreement_statistic(name, input)
        .or_else(|| families::compute_family_statistic(name, input))
        .or_else(|| estimates::compute_estimate_statistic(name, input))
        .or_else(|| functions::compute_annotation_function(name, input))
        .or_else(|| ranking::compute_ranking_statistic(name, input))
}

/// What an input holds that the family of this name does not know, with what it knows.
pub fn compute_problem(name: &str, input: &Json) -> Option<String> {
    unknown_part(name, input)
}
