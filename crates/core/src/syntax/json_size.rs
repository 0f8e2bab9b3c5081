//! What JSON takes in memory once it is parsed, estimated from its text.

/// A value in a list that has grown.
const VALUE_BYTES: usize = 64;

/// A mapping has room for eleven entries as soon as it has one.
const MAPPING_BYTES: usize = 640;

/// Bytes that values of JSON take in memory, in addition to their texts. `{"":0}` takes a hundred times what it has as
/// text, so that a small file may not fit into memory.
pub fn estimate_json_bytes(text: &[u8]) -> usize {
    let (mut n_values, mut n_mappings) = (0_usize, 0_usize);
    let (mut in_text, mut is_escaped, mut is_opened) = (false, false, false);
    for byte in text {
        if in_text {
            in_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        if is_opened && !byte.is_ascii_whitespace() {
            n_mappings += usize::from(*byte != b'}');
            is_opened = false;
        }
        match byte {
            b'"' => in_text = true,
            b'{' => {
                n_values += 1;
                is_opened = true;
            }
            b'[' | b',' => n_values += 1,
            _ => {}
        }
    }
    n_values.saturating_mul(VALUE_BYTES).saturating_add(n_mappings.saturating_mul(MAPPING_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_and_their_texts_do_not() {
        for (text, bytes) in [
            ("", 0),
            ("7", 0),
            (r#""[{,\"[{,""#, 0),
            ("[1, 2]", 2 * VALUE_BYTES),
            ("[{}, { }]", 4 * VALUE_BYTES),
            (r#"{"a": "}{", "b": 1}"#, 2 * VALUE_BYTES + MAPPING_BYTES),
            (r#"{ "a": {"": 0} }"#, 2 * VALUE_BYTES + 2 * MAPPING_BYTES),
        ] {
            assert_eq!(estimate_json_bytes(text.as_bytes()), bytes, "{text}");
        }
    }
}
