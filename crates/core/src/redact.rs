//! Takes keys and passwords out of texts that are kept.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What vendors' keys look like. Each has a mark that ordinary text does not have.
const SHAPES: [&str; 11] = [
    r"sk-[A-Za-z0-9_-]{16,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"hf_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"(?i:bearer)\s+[A-Za-z0-9._~+/=-]{20,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)-----END [A-Z ]*PRIVATE KEY-----",
];

static KEYS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&SHAPES.join("|")).expect("the shapes are patterns, a test uses them"));

/// The text without anything that looks like a key, wherever it stands in a sentence.
///
/// ```
/// use jurist_core::redact::redact;
///
/// assert_eq!(redact("use sk-abcdefghijklmnop1234, then go"), "use [redacted], then go");
/// assert_eq!(redact("sky-high task-list"), "sky-high task-list");
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    KEYS.replace_all(text, "[redacted]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_shape_are_taken_out() {
        let letters = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
        for key in [
            format!("sk-ant-{letters}"),
            "AKIAABCDEFGHIJKLMNOP".to_owned(),
            format!("ghp_{letters}"),
            format!("github_pat_{letters}"),
            format!("glpat-{letters}"),
            format!("xoxb-{letters}"),
            format!("AIza{}", &letters[..35]),
            format!("hf_{letters}"),
            format!("eyJ{letters}.eyJ{letters}.{letters}"),
            format!("Bearer {letters}"),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{letters}\n-----END RSA PRIVATE KEY-----"),
        ] {
            let text = format!("before \"{key}\" after");
            assert_eq!(redact(&text), "before \"[redacted]\" after", "{key}");
        }
    }
}
