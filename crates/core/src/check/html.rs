//! Checks on HTML: whether a text is a page or a part of one, or holds some.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::limits::TAGS_BETWEEN_STOP_CHECKS;
use super::{CheckFinding, CheckSubject, text_of_output};

#[derive(Debug)]
pub(super) struct HtmlCheck {
    /// Anywhere in the text, instead of all of it.
    pub(super) anywhere: bool,
}

/// Elements that never have an end.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Elements of the HTML standard; a name with a hyphen is a custom one.
const ELEMENTS: &str = "a abbr address area article aside audio b base bdi bdo blockquote body br button canvas \
    caption cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption \
    figure footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main \
    map mark math menu meta meter nav noscript object ol optgroup option output p param picture pre progress q rp \
    rt ruby s samp script section select slot small source span strong style sub summary sup svg table tbody td \
    template textarea tfoot th thead time title tr track u ul var video wbr";

/// Signs that a text holds HTML, and how much each says; two are enough.
static SIGNS: LazyLock<Vec<(Regex, u32)>> = LazyLock::new(|| {
    [
        (r"<[A-Za-z][A-Za-z0-9-]*(?:\s[^>]*)?>", 1),
        (r"</[A-Za-z][A-Za-z0-9-]*\s*>", 1),
        (r"<[A-Za-z][A-Za-z0-9-]*(?:\s[^>]*)?/>", 1),
        (r"&(?:[A-Za-z]+|#[0-9]+|#x[0-9A-Fa-f]+);", 1),
        (r"(?i)<!doctype\s+html", 2),
        (r"(?s)<!--.*?-->", 1),
        (r#"\s[A-Za-z-]+=\s*["'][^"']*["']"#, 1),
        (
            r"(?i)<(?:html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button|script|style|link|meta|br|hr)\b",
            2,
        ),
    ]
    .into_iter()
    .map(|(pattern, weight)| (Regex::new(pattern).expect("a valid pattern"), weight))
    .collect()
});

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r#"(?s)<!--.*?(?:-->|$)|<!doctype[^>]*>|<(/?)([A-Za-z][^\s/>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>"#;
    Regex::new(&format!("(?i){pattern}")).expect("a valid pattern")
});

impl HtmlCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let text = match subject.response() {
            Ok(output) => text_of_output(&output).into_owned(),
            Err(absent) => return absent,
        };
        if self.anywhere {
            let mut weight = 0;
            for (sign, sign_weight) in &*SIGNS {
                if let Some(stopped) = subject.finding_if_stopped() {
                    return stopped;
                }
                weight += if sign.is_match(&text) { *sign_weight } else { 0 };
            }
            let is_html = 2 <= weight;
            return CheckFinding::pass_or_fail(
                is_html,
                if is_html { "HTML is there" } else { "no HTML is there" },
            );
        }
        let fault = read_page(text.trim(), &|| subject.finding_if_stopped().is_some()).err();
        // A page that was not read to its end is neither valid nor invalid.
        if let Some(stopped) = subject.finding_if_stopped() {
            return stopped;
        }
        CheckFinding::pass_or_fail(fault.is_none(), fault.unwrap_or("HTML"))
    }
}

/// The elements that are open, and how many of each name there are. With the counts, a text of many tags takes time by
/// its length: the stack is searched only for names that are in it.
#[derive(Default)]
struct OpenElements {
    names: Vec<String>,
    counts: HashMap<String, usize>,
}

impl OpenElements {
    fn push(&mut self, name: String) {
        *self.counts.entry(name.clone()).or_default() += 1;
        self.names.push(name);
    }

    fn count(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Closes the innermost element of that name, and all elements in it.
    fn close(&mut self, name: &str) {
        if self.count(name) == 0 {
            return;
        }
        while let Some(last) = self.names.pop() {
            if let Some(count) = self.counts.get_mut(&last) {
                *count -= 1;
            }
            if last == name {
                return;
            }
        }
    }

    /// Whether what follows would be shown without an element around it.
    fn is_outside(&self) -> bool {
        self.names.len() == self.count("html")
    }
}

/// Accepts a text that consists of elements, of which one or more are known; words are allowed inside of elements only.
fn read_page(text: &str, is_stopped: &dyn Fn() -> bool) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("there is nothing");
    }
    if text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("<?xml")) {
        return Err("it is XML");
    }
    let (mut open, mut end, mut has_body, mut is_known, mut words_outside) =
        (OpenElements::default(), 0, false, false, false);
    for (n_tags, tag) in TAG.captures_iter(text).enumerate() {
        if n_tags.is_multiple_of(TAGS_BETWEEN_STOP_CHECKS) && is_stopped() {
            // The caller reports that the check was stopped.
            return Ok(());
        }
        let all = tag.get(0).expect("the whole match");
        // Contents of scripts and styles are not checked.
        let raw = open.names.last().filter(|name| ["script", "style"].contains(&name.as_str()));
        let name = tag.get(2).map(|name| name.as_str().to_lowercase());
        let is_end = tag.get(1).is_some_and(|slash| !slash.as_str().is_empty());
        if raw.is_some_and(|raw| !(is_end && name.as_ref() == Some(raw))) {
            continue;
        }
        words_outside |= open.is_outside() && !text[end..all.start()].trim().is_empty();
        end = all.end();
        let Some(name) = name else { continue };
        if is_end {
            open.close(&name);
            continue;
        }
        has_body |= name == "body";
        is_known |= name.contains('-') || ELEMENTS.split_ascii_whitespace().any(|known| known == name);
        let is_empty = tag.get(3).is_some_and(|rest| rest.as_str().trim_end().ends_with('/'));
        if !VOID.contains(&name.as_str()) && !is_empty {
            open.push(name);
        }
    }
    words_outside |= open.is_outside() && !text[end..].trim().is_empty();
    match (words_outside && !has_body, is_known) {
        (true, _) => Err("there is text outside of elements"),
        (false, false) => Err("it has no element of HTML"),
        (false, true) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_of_elements_are_no_page() {
        for text in [
            "<p>hello</p>",
            "<div><br>a &amp; b<img src='a>b.png'></div>",
            "<!DOCTYPE html><html><head><title>x</title></head><body>words</body></html>",
            "<my-element></my-element>",
            "<script>if (a < b) { c(\"</p>\") }</script>",
        ] {
            assert_eq!(read_page(text, &|| false), Ok(()), "{text}");
        }
        for text in [
            "",
            "hello",
            "hello <b>you</b>",
            "<p>a</p> tail",
            "<?xml version='1.0'?><p/>",
            "<foo>x</foo>",
            "a < b",
        ] {
            assert!(read_page(text, &|| false).is_err(), "{text}");
        }
    }
}
