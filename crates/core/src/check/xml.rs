//! Checks on XML: whether a text is one element, well-formed, or holds one.

use super::limits::{MAX_SEARCHED_BYTES, TAGS_BETWEEN_STOP_CHECKS, over_limit};
use super::{BadCheck, CheckFinding, CheckSubject, Params, text_of_output};

#[derive(Debug)]
pub(super) struct XmlCheck {
    /// Anywhere in the text, instead of all of it.
    anywhere: bool,
    /// Elements that must be there, as paths from the root such as `order.item`.
    required: Vec<String>,
}

/// Places of a text at which XML is looked for.
const MAX_PLACES: usize = 1000;

/// Elements that may be open at a time. Documents that people and programs write have a few dozen.
const MAX_DEPTH: usize = 1000;

pub(super) fn compile_xml_check(anywhere: bool, params: &Params<'_>) -> Result<XmlCheck, BadCheck> {
    let required = match params.get("value").and_then(|value| value.get("requiredElements")) {
        Some(list) => list
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
        None => params.texts("value")?,
    };
    Ok(XmlCheck { anywhere, required })
}

impl XmlCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>) -> CheckFinding {
        let text = match subject.response() {
            Ok(output) => text_of_output(&output).into_owned(),
            Err(absent) => return absent,
        };
        let n_places = if self.anywhere { MAX_PLACES } else { 1 };
        let places: Vec<usize> = text.match_indices('<').map(|(at, _)| at).take(n_places).collect();
        if let Some(failed) = self.find_excess(&text, places.len()) {
            return failed;
        }
        let mut reader = XmlReader { text: &text, required: &self.required, subject, n_tags: 0 };
        if !self.anywhere {
            return match reader.read_document() {
                Ok(()) => CheckFinding::pass_or_fail(true, "well-formed XML"),
                Err(XmlFault::Unfit(why)) => CheckFinding::pass_or_fail(false, why),
                Err(XmlFault::Failed(finding)) => *finding,
            };
        }
        for place in places {
            match reader.read_element(place) {
                Ok(XmlElement { missing: None, .. }) => {
                    return CheckFinding::pass_or_fail(true, "XML is there");
                }
                Ok(_) | Err(XmlFault::Unfit(_)) => {}
                Err(XmlFault::Failed(finding)) => return *finding,
            }
        }
        CheckFinding::pass_or_fail(false, "no XML that fits is there")
    }

    /// The finding if the text is too long for so many places and required elements.
    fn find_excess(&self, text: &str, n_places: usize) -> Option<CheckFinding> {
        let n_tags = text.matches('<').count().saturating_mul(n_places);
        let places = "bytes of the output times places at which XML may begin";
        let required = "tags of the output, counted for each place, times elements that must be there";
        over_limit(text.len(), n_places, MAX_SEARCHED_BYTES, places)
            .or_else(|| over_limit(n_tags, self.required.len(), MAX_SEARCHED_BYTES, required))
    }
}

/// Why a text, or what begins at one of its places, is not the XML that is wanted.
#[derive(Debug)]
enum XmlFault {
    /// It is something else.
    Unfit(String),
    /// It cannot be decided: it is beyond a limit, or the check was stopped.
    Failed(Box<CheckFinding>),
}

impl From<String> for XmlFault {
    fn from(why: String) -> Self {
        Self::Unfit(why)
    }
}

impl From<&str> for XmlFault {
    fn from(why: &str) -> Self {
        Self::Unfit(why.to_owned())
    }
}

/// An element that was read: where it ends, and the first required element that is not in it.
struct XmlElement {
    end: usize,
    missing: Option<String>,
}

/// A path that must be there, and how much of it the open elements match.
struct WantedPath<'a> {
    path: &'a str,
    /// Open elements that match, from the root.
    n_elements: usize,
    /// Their names with the dots between them.
    n_bytes: usize,
}

impl WantedPath<'_> {
    /// Matches an element that opens, the `depth`th from the root. Whether the path is complete.
    fn open(&mut self, depth: usize, name: &str) -> bool {
        if self.n_elements + 1 != depth {
            return false;
        }
        let rest = &self.path[self.n_bytes..];
        let rest = if depth == 1 { Some(rest) } else { rest.strip_prefix('.') };
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix(name)) else { return false };
        if rest.starts_with('.') {
            self.n_elements = depth;
            self.n_bytes = self.path.len() - rest.len();
        }
        rest.is_empty()
    }

    fn close(&mut self, depth: usize, name: &str) {
        if self.n_elements == depth {
            self.n_elements -= 1;
            self.n_bytes -= name.len() + usize::from(1 < depth);
        }
    }
}

/// Reads elements without building them. The names of open elements are all that it remembers: paths of all elements
/// would take memory by the square of the depth.
struct XmlReader<'a> {
    text: &'a str,
    required: &'a [String],
    subject: &'a CheckSubject<'a>,
    /// Tags that were read, at all places together.
    n_tags: usize,
}

impl XmlReader<'_> {
    /// A text that is one element, perhaps with a declaration, comments and blanks around it.
    fn read_document(&mut self) -> Result<(), XmlFault> {
        let text = self.text;
        let start = skip_prologue(text, 0)?;
        if !text[start..].starts_with('<') {
            return Err("it does not begin with an element".into());
        }
        let element = self.read_element(start)?;
        let end = skip_prologue(text, element.end)?;
        if end < text.len() {
            return Err("there is content after the root element".into());
        }
        match element.missing {
            Some(missing) => Err(format!("the element `{missing}` is missing").into()),
            None => Ok(()),
        }
    }

    /// One element with everything in it.
    fn read_element(&mut self, start: usize) -> Result<XmlElement, XmlFault> {
        let (text, required) = (self.text, self.required);
        let mut wanted: Vec<WantedPath<'_>> =
            required.iter().map(|path| WantedPath { path, n_elements: 0, n_bytes: 0 }).collect();
        let (mut at, mut open) = (start, Vec::<&str>::new());
        loop {
            self.count_tag()?;
            let rest = &text[at..];
            if let Some((begin, end)) = ["<!--", "<![CDATA[", "<?"]
                .iter()
                .zip(["-->", "]]>", "?>"])
                .find(|(start, _)| rest.starts_with(**start))
            {
                let length = rest.find(end).ok_or_else(|| format!("`{begin}` has no end"))?;
                at += length + end.len();
            } else if let Some(closing) = rest.strip_prefix("</") {
                let name = name_at(closing).ok_or("a closing tag has no name")?;
                let after = closing[name.len()..].trim_start();
                if open.last() != Some(&name) || !after.starts_with('>') {
                    return Err(format!("`</{name}>` closes nothing").into());
                }
                close_element(&mut open, &mut wanted);
                at = text.len() - after.len() + 1;
            } else {
                let name = rest.strip_prefix('<').and_then(name_at).ok_or("`<` begins no tag")?;
                open.push(name);
                if MAX_DEPTH < open.len() {
                    let why =
                        format!("the XML is too deeply nested: more than {MAX_DEPTH} elements are open");
                    return Err(XmlFault::Failed(Box::new(CheckFinding::from_failure(why))));
                }
                wanted.retain_mut(|path| !path.open(open.len(), name));
                let (end, is_closed) = skip_attributes(text, at + 1 + name.len())?;
                if is_closed {
                    close_element(&mut open, &mut wanted);
                }
                at = end;
            }
            let Some(last) = open.last() else {
                return Ok(XmlElement { end: at, missing: wanted.first().map(|path| path.path.to_owned()) });
            };
            let length = text[at..].find('<').ok_or_else(|| format!("`<{last}>` is not closed"))?;
            check_entities(&text[at..at + length])?;
            at += length;
        }
    }

    /// Counts a tag, and fails if the check was stopped, which it tests once in some thousand tags.
    fn count_tag(&mut self) -> Result<(), XmlFault> {
        self.n_tags += 1;
        let stopped = if self.n_tags.is_multiple_of(TAGS_BETWEEN_STOP_CHECKS) {
            self.subject.finding_if_stopped()
        } else {
            None
        };
        stopped.map_or(Ok(()), |finding| Err(XmlFault::Failed(Box::new(finding))))
    }
}

/// Closes the element that was opened last.
fn close_element(open: &mut Vec<&str>, wanted: &mut [WantedPath<'_>]) {
    let depth = open.len();
    if let Some(name) = open.pop() {
        wanted.iter_mut().for_each(|path| path.close(depth, name));
    }
}

/// Skips blanks, comments, instructions and the document type.
fn skip_prologue(text: &str, mut at: usize) -> Result<usize, String> {
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let end = [("<?", "?>"), ("<!--", "-->"), ("<!DOCTYPE", ">")]
            .into_iter()
            .find(|(start, _)| rest.starts_with(start));
        let Some((start, end)) = end else { return Ok(at) };
        let length = rest.find(end).ok_or_else(|| format!("`{start}` has no end"))?;
        at += length + end.len();
    }
}

/// Skips `name="value"` up to the end of a tag; tells whether the tag closes itself.
fn skip_attributes(text: &str, start: usize) -> Result<(usize, bool), String> {
    let mut rest = &text[start..];
    loop {
        let trimmed = rest.trim_start();
        if let Some(after) = trimmed.strip_prefix("/>") {
            return Ok((text.len() - after.len(), true));
        }
        if let Some(after) = trimmed.strip_prefix('>') {
            return Ok((text.len() - after.len(), false));
        }
        let name = name_at(trimmed).filter(|_| trimmed.len() < rest.len()).ok_or("a tag has no end")?;
        let value = trimmed[name.len()..].trim_start().strip_prefix('=').map(str::trim_start);
        let value = value.ok_or_else(|| format!("the attribute `{name}` has no value"))?;
        let quote = value.chars().next().filter(|letter| ['"', '\''].contains(letter));
        let quote = quote.ok_or_else(|| format!("the value of `{name}` has no quotation marks"))?;
        let length = value[1..].find(quote).ok_or_else(|| format!("the value of `{name}` has no end"))?;
        if value[1..=length].contains('<') {
            return Err(format!("`<` is in the value of `{name}`"));
        }
        check_entities(&value[1..=length])?;
        rest = &value[length + 2..];
    }
}

/// An ampersand begins an entity.
fn check_entities(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('&') {
        let name = text[at + 1..].split(';').next().unwrap_or_default();
        let is_entity = !name.is_empty()
            && name.len() < text[at + 1..].len()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '#');
        if !is_entity {
            return Err("`&` begins no entity".to_owned());
        }
    }
    Ok(())
}

/// The name at the beginning of a text.
fn name_at(text: &str) -> Option<&str> {
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_' || letter == ':';
    let end = text.find(|letter: char| !(is_first(letter) || letter.is_numeric() || "-.".contains(letter)));
    let name = &text[..end.unwrap_or(text.len())];
    name.starts_with(is_first).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Check;
    use super::*;

    fn read_document(text: &str) -> Result<(), XmlFault> {
        let subject = CheckSubject::default();
        XmlReader { text, required: &[], subject: &subject, n_tags: 0 }.read_document()
    }

    #[test]
    fn only_one_well_formed_element_is_a_document() {
        for text in [
            "<a/>",
            "<a b='1'>x &amp; y<c></c></a>",
            "<?xml version=\"1.0\"?>\n<a><!-- < --><![CDATA[<]]></a>\n",
        ] {
            assert!(read_document(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<a b=1/>",
            "<a>1 & 2</a>",
            "< a/>",
            "<a b='<'/>",
            "<a",
            "</a>",
            "<a b=\"é",
        ] {
            assert!(read_document(text).is_err(), "{text}");
        }
    }

    #[test]
    fn required_elements_are_paths_from_the_root() {
        let find_missing = |text: &str, paths: &[&str]| {
            let subject = CheckSubject::default();
            let required: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            let mut reader = XmlReader { text, required: &required, subject: &subject, n_tags: 0 };
            reader.read_element(0).unwrap().missing
        };
        let text = "<a><b><c/></b><x><b/></x><d.e><f/></d.e><b><g/></b></a>";
        assert_eq!(find_missing(text, &["a", "a.b", "a.b.c", "a.x.b", "a.d.e.f", "a.b.g"]), None);
        for path in ["", "b", "a.", "a.c", "a.b.b", "a.x.c", "a.b.c.g", "ab", "a.bb", "a.d", "a.d.f"] {
            assert_eq!(find_missing(text, &["a.b", path, "z"]).as_deref(), Some(path));
        }
    }

    #[test]
    fn a_check_of_many_tags_can_be_stopped() {
        let stop = std::sync::atomic::AtomicBool::new(true);
        let text = json!(format!("<a>{}</a>", "<b/>".repeat(2 * TAGS_BETWEEN_STOP_CHECKS)));
        for name in ["is-xml", "contains-xml"] {
            let check = Check::new(name, &json!({})).unwrap();
            let subject = CheckSubject::from_outputs(&text, None);
            assert_eq!(check.run_once(&subject, &|_| None).score, Some(1.0), "{name}");
            let stopped = CheckSubject { stop: Some(&stop), ..subject };
            assert!(check.run_once(&stopped, &|_| None).failed, "{name}");
        }
    }
}
