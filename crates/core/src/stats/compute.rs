//! Statistics by name on plain JSON, as reference packages are asked for them.

use serde_json::Value as Json;

use super::undefined::Undefined;
use super::{compute_estimates, compute_ranking};

/// The answer to a named question; `None` for a name that nobody here knows.
pub fn compute(name: &str, input: &Json) -> Option<Result<Json, Undefined>> {
    compute_estimates::compute(name, input).or_else(|| compute_ranking::compute(name, input))
}
