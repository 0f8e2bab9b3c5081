//! Sampling probability of a span at its sender.

use jurist_store::Probability;

/// Thresholds have 56 bits, that is 14 digits of which those at the end may be left out if they are 0.
const DIGITS: usize = 14;
const WHOLE: u64 = 1 << 56;

/// `ot=th:c` in a `tracestate`: the rejection threshold of consistent sampling.
///
/// ```text
/// kept when randomness >= threshold, so p = 1 - threshold / 2^56
/// ```
pub fn probability(tracestate: &str) -> Option<Probability> {
    let ours = tracestate.split(',').find_map(|part| part.trim().strip_prefix("ot="))?;
    let digits = ours.split(';').find_map(|part| part.trim().strip_prefix("th:"))?;
    if digits.is_empty() || DIGITS < digits.len() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let threshold = u64::from_str_radix(&format!("{digits:0<DIGITS$}"), 16).ok()?;
    Probability::new((WHOLE - threshold) as f64 / WHOLE as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_probability() {
        for (tracestate, expected) in [
            ("ot=th:0", Some(1.0)),
            ("ot=th:8", Some(0.5)),
            ("ot=th:c", Some(0.25)),
            ("vendor=x, ot=rv:abcdef01234567;th:e6 ,other=y", Some(26.0 / 256.0)),
            ("ot=th:ffffffffffffff", Some(1.0 / (1_u64 << 56) as f64)),
            ("ot=th:fffffffffffffff", None),
            ("ot=th:xyz", None),
            ("ot=th:", None),
            ("ot=p:3", None),
            ("", None),
        ] {
            assert_eq!(probability(tracestate).map(Probability::get), expected, "{tracestate}");
        }
    }
}
