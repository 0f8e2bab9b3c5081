//! Checks on HTML: whether a text is a page or a part of one, or holds some.

use std::sync::LazyLock;

use regex::Regex;

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
            let weight: u32 =
                SIGNS.iter().filter(|(sign, _)| sign.is_match(&text)).map(|(_, weight)| weight).sum();
            let found = 2 <= weight;
            return CheckFinding::pass_or_fail(
                found,
                if found { "HTML is there" } else { "no HTML is there" },
            );
        }
        match read_page(text.trim()) {
            Ok(()) => CheckFinding::pass_or_fail(true, "HTML"),
            Err(why) => CheckFinding::pass_or_fail(false, why),
        }
    }
}

/// A text that is elements alone, at least one of them known; words stand inside of elements.
fn read_page(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("there is nothing");
    }
    if text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("<?xml")) {
        return Err("it is XML");
    }
    let (mut open, mut end, mut has_body, mut is_known, mut words_outside) =
        (Vec::<String>::new(), 0, false, false, false);
    for tag in TAG.captures_iter(text) {
        let all = tag.get(0).expect("the whole match");
        // What a script or a style holds is not looked into.
        let raw = open.last().filter(|name| ["script", "style"].contains(&name.as_str()));
        let name = tag.get(2).map(|name| name.as_str().to_lowercase());
        let is_end = tag.get(1).is_some_and(|slash| !slash.as_str().is_empty());
        if raw.is_some_and(|raw| !(is_end && name.as_ref() == Some(raw))) {
            continue;
        }
        words_outside |= is_outside(&open) && !text[end..all.start()].trim().is_empty();
        end = all.end();
        let Some(name) = name else { continue };
        if is_end {
            if let Some(at) = open.iter().rposition(|other| *other == name) {
                open.truncate(at);
            }
            continue;
        }
        has_body |= name == "body";
        is_known |= name.contains('-') || ELEMENTS.split_ascii_whitespace().any(|known| known == name);
        let is_empty = tag.get(3).is_some_and(|rest| rest.as_str().trim_end().ends_with('/'));
        if !VOID.contains(&name.as_str()) && !is_empty {
            open.push(name);
        }
    }
    words_outside |= is_outside(&open) && !text[end..].trim().is_empty();
    match (words_outside && !has_body, is_known) {
        (true, _) => Err("there is text outside of elements"),
        (false, false) => Err("it has no element of HTML"),
        (false, true) => Ok(()),
    }
}

/// Whether what follows would be shown without an element around it.
fn is_outside(open: &[String]) -> bool {
    open.iter().all(|name| name == "html")
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
            assert_eq!(read_page(text), Ok(()), "{text}");
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
            assert!(read_page(text).is_err(), "{text}");
        }
    }
}
