//! Values as JavaScript writes them where it needs a text: promptfoo's templates are run by Nunjucks.

use serde_json::Value as Json;

/// Whole numbers beyond this are not exact in JavaScript.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// What every mapping is as a text.
pub(crate) const MAPPING_TEXT: &str = "[object Object]";

/// A number, which JavaScript writes without a fraction if it is whole, and with an exponent if it is very large or
/// very small.
pub(crate) fn javascript_number_text(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

/// A value as Nunjucks prints it: null is empty, the items of a list stand between commas, and a mapping is
/// `[object Object]`.
pub(crate) fn javascript_text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(is_true) => is_true.to_string(),
        Json::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() || MAX_SAFE_INTEGER < float.abs() => javascript_number_text(float),
            _ => number.to_string(),
        },
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(javascript_text).collect::<Vec<_>>().join(","),
        Json::Object(_) => MAPPING_TEXT.to_owned(),
    }
}

/// Replaces whole numbers that are written with a fraction, such as `1.0`: JavaScript has one kind of number.
pub(crate) fn normalize_javascript_numbers(value: &mut Json) {
    match value {
        Json::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            if float.fract() == 0.0 && float.abs() <= MAX_SAFE_INTEGER {
                *value = Json::from(float as i64);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(normalize_javascript_numbers),
        Json::Object(map) => map.values_mut().for_each(normalize_javascript_numbers),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Whether the text of a value hides a mapping.
pub(crate) fn hides_mapping(value: &Json) -> bool {
    match value {
        Json::Object(_) => true,
        Json::Array(items) => items.iter().any(hides_mapping),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_in_javascript() {
        for (value, text) in [
            (json!(null), ""),
            (json!(true), "true"),
            (json!(3), "3"),
            (json!(1.0), "1"),
            (json!(-0.0), "0"),
            (json!(1.5), "1.5"),
            (json!(1e21), "1e+21"),
            (json!(123e18), "123000000000000000000"),
            (json!(1e-7), "1e-7"),
            (json!(0.000001), "0.000001"),
            (json!(12345678901234567890_u64), "12345678901234567000"),
            (json!([1, 2.0, 3]), "1,2,3"),
            (json!([[1, 2], [3, [4]], null, true]), "1,2,3,4,,true"),
            (json!([]), ""),
            (json!({ "k": "v" }), "[object Object]"),
            (json!([1, null, { "a": 1 }]), "1,,[object Object]"),
        ] {
            assert_eq!(javascript_text(&value), text, "{value}");
        }
    }

    #[test]
    fn a_whole_number_has_no_fraction() {
        let mut value = json!({ "one": 1.0, "list": [2.0, 2.5], "large": 1e21 });
        normalize_javascript_numbers(&mut value);
        assert_eq!(value, json!({ "one": 1, "list": [2, 2.5], "large": 1e21 }));
    }
}
