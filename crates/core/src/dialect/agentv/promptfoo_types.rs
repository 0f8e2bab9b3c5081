//! Types of promptfoo's assertions: what is refused, when each passes, and its patterns.

/// Types of promptfoo that are not supported, each with what comes nearest.
pub(in crate::dialect) const REFUSED_TYPES: &[(&str, &str)] = &[
    ("classifier", "it needs a classification model; ask a judge with `llm-rubric`"),
    ("pi", "it needs the service of that name; ask a judge with `llm-rubric`"),
    (
        "search-rubric",
        "judges are asked without tools, and what a web search finds differs from run to run; give the judge the \
         documents as `vars.context`, and ask it with `llm-rubric` or `context-faithfulness`",
    ),
    ("ruby", "Ruby is not run; use `javascript`, `python` or `script`"),
];

/// The threshold for checks that pass with any score above 0.
pub(super) const LEAST_SCORE: f64 = 1e-6;

/// The score from which an assertion of promptfoo holds, where it is not all or nothing and names no threshold.
pub(super) const PROMPTFOO_MARKS: &[(&str, f64)] = &[
    ("similar", 0.75),
    ("rouge-n", 0.75),
    ("bleu", 0.5),
    ("gleu", 0.5),
    ("meteor", 0.5),
    ("g-eval", 0.7),
    // Whatever the options say that an answer is worth, unless it is nothing.
    ("factuality", LEAST_SCORE),
    ("tool-call-f1", 1.0),
    // Without a threshold it is only measured.
    ("perplexity-score", 0.0),
    ("answer-relevance", 0.0),
    ("context-faithfulness", 0.0),
    ("context-recall", 0.0),
    ("context-relevance", 0.0),
    // Any score above 0 passes.
    ("javascript", LEAST_SCORE),
    ("python", LEAST_SCORE),
    ("webhook", LEAST_SCORE),
];

/// Types that look for calls of the provider's tools.
pub(super) const TOOL_CALL_TYPES: [&str; 3] =
    ["is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call"];

/// A pattern of JavaScript whose classes mean ASCII, as they do there.
pub(super) fn ascii_classes(pattern: &str, boundary: &str) -> String {
    let (mut out, mut is_class) = (String::with_capacity(pattern.len()), false);
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let Some(next) = letters.next() else {
                    out.push('\\');
                    break;
                };
                match (next, is_class) {
                    ('d', false) => out.push_str("[0-9]"),
                    ('d', true) => out.push_str("0-9"),
                    ('w', false) => out.push_str("[0-9A-Za-z_]"),
                    ('w', true) => out.push_str("0-9A-Za-z_"),
                    ('D', false) => out.push_str("[^0-9]"),
                    ('W', false) => out.push_str("[^0-9A-Za-z_]"),
                    ('b', false) => out.push_str(boundary),
                    // JavaScript takes a backslash before any of these for the letter itself.
                    (
                        '/' | '"' | '\'' | '`' | '<' | '>' | '@' | ',' | ':' | ';' | '=' | '!' | '%' | '_',
                        _,
                    ) => out.push(next),
                    _ => out.extend(['\\', next]),
                }
            }
            '[' if is_class => out.push_str(r"\["),
            '[' => {
                is_class = true;
                out.push('[');
            }
            ']' if is_class => {
                is_class = false;
                out.push(']');
            }
            _ => out.push(letter),
        }
    }
    out
}
