//! Functions that annotation tools offer by name, with their arguments as a list.

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::stats::basics::proportion::{ProportionMethod, proportion};
use crate::stats::basics::special::normal_cdf;
use crate::stats::basics::undefined::Undefined;

/// `None` for a name that is not ours.
pub(super) fn compute_annotation_function(name: &str, args: &Json) -> Option<Result<Json, Undefined>> {
    Some(match name {
        "wilson_ci" => wilson(args),
        "deterministic_sample" => sample(args),
        _ => return None,
    })
}

/// `[passed, n, confidence]`; to six places, as it is given there.
fn wilson(args: &Json) -> Result<Json, Undefined> {
    let (Some(passed), Some(n)) = (args[0].as_u64(), args[1].as_u64()) else {
        return Undefined::because("two numbers are needed: how many passed, and of how many");
    };
    let confidence = args[2].as_f64().unwrap_or(0.95);
    // Those tools take the rounded numbers of printed tables.
    let printed: [(f64, f64); 3] = [(0.9, 1.645), (0.95, 1.96), (0.99, 2.576)];
    let z = printed.iter().find(|(level, _)| (level - confidence).abs() < 1e-9).map(|(_, z)| *z);
    let alpha = z.map_or(1.0 - confidence, |z| 2.0 * normal_cdf(-z));
    let share = proportion(passed as usize, n as usize, alpha, ProportionMethod::Wilson)?;
    let short = |value: f64| (value * 1e6).round() / 1e6;
    let (low, high) = share.interval;
    Ok(json!({ "rate": short(share.rate), "lo": short(low), "hi": short(high), "n": share.n }))
}

/// A number from 0 to 1 that is always the same for the same id and salt.
fn sample(args: &Json) -> Result<Json, Undefined> {
    let (Some(id), Some(salt)) = (args[0].as_str(), args[1].as_str()) else {
        return Undefined::because("two texts are needed: an id and a salt");
    };
    let hash = Sha256::digest(format!("{id}|{salt}").as_bytes());
    let first = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
    Ok(json!(f64::from(first) / 4_294_967_296.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_say_what_annotation_tools_say() {
        let result = |name: &str, args: Json| compute_annotation_function(name, &args).unwrap();
        let expected = json!({ "rate": 0.0, "lo": 0.0, "hi": 0.434491, "n": 5 });
        assert_eq!(result("wilson_ci", json!([0, 5, 0.95])), Ok(expected));
        let picked = result("deterministic_sample", json!(["run-1", "route-errors"])).unwrap();
        assert!((picked.as_f64().unwrap() - 0.337_783_926_632_255_3).abs() < 1e-15);
        assert!(result("wilson_ci", json!([])).is_err());
        assert_eq!(compute_annotation_function("other", &json!([])), None);
    }
}
