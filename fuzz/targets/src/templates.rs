//! Prompts of authors: whatever they are, they take bounded memory and time.

use std::sync::LazyLock;

use jurist_core::rubric::{MAX_PROMPT_BYTES, render_prompt};
use serde_json::{Value as Json, json};

/// Four bytes for each that is given, 256 kB beside, each at most six times as long once escaped, and the
/// template's own text as often as loops may repeat it.
const MAX_TEXT_BYTES: usize = 6 * ((256 << 10) + 4 * (MAX_PROMPT_BYTES + (64 << 10))) + (130 << 20);

static VALUES: LazyLock<Json> = LazyLock::new(|| {
    json!({
        "output": "a\nb <c> & \"d\" {{ e }}\né🦀",
        "criteria": "It is kind.",
        "row": { "a": "1", "b": 2, "c": [1, "two", null, { "d": 3.5 }], "": -1 },
        "long": "x ".repeat(10_000),
    })
});

pub fn render(input: &[u8]) {
    let Ok(template) = std::str::from_utf8(input) else { return };
    match render_prompt(template, &VALUES) {
        Ok(text) => assert!(text.len() <= MAX_TEXT_BYTES, "{} bytes", text.len()),
        Err(error) => assert!(error.len() < 10_000, "{error:.100}"),
    }
}
