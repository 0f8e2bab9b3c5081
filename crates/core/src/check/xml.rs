//! Checks on XML: whether a text is one element, well-formed, or holds one.

use super::limits::{MAX_SEARCHED_BYTES, over_limit};
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
        if !self.anywhere {
            return match read_document(&text).and_then(|paths| self.find_missing(&paths)) {
                Ok(()) => CheckFinding::pass_or_fail(true, "well-formed XML"),
                Err(why) => CheckFinding::pass_or_fail(false, why),
            };
        }
        let places: Vec<usize> = text.match_indices('<').map(|(at, _)| at).take(MAX_PLACES).collect();
        let what = "bytes of the output times places at which XML may begin";
        if let Some(failed) = over_limit(text.len(), places.len(), MAX_SEARCHED_BYTES, what) {
            return failed;
        }
        let holds = |at: &usize| {
            read_element(&text, *at).is_ok_and(|element| self.find_missing(&element.paths).is_ok())
        };
        let found = places.iter().any(holds);
        CheckFinding::pass_or_fail(found, if found { "XML is there" } else { "no XML that fits is there" })
    }

    fn find_missing(&self, paths: &[String]) -> Result<(), String> {
        match self.required.iter().find(|wanted| !paths.contains(wanted)) {
            Some(missing) => Err(format!("the element `{missing}` is missing")),
            None => Ok(()),
        }
    }
}

/// An element that was read: where it ends, and the paths of everything in it.
struct XmlElement {
    end: usize,
    paths: Vec<String>,
}

/// A text that is one element, perhaps with a declaration, comments and blanks around it.
fn read_document(text: &str) -> Result<Vec<String>, String> {
    let start = skip_prologue(text, 0)?;
    if !text[start..].starts_with('<') {
        return Err("it does not begin with an element".to_owned());
    }
    let element = read_element(text, start)?;
    let end = skip_prologue(text, element.end)?;
    if end < text.len() {
        Err("there is content after the root element".to_owned())
    } else {
        Ok(element.paths)
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

/// One element with everything in it.
fn read_element(text: &str, start: usize) -> Result<XmlElement, String> {
    let (mut at, mut open, mut paths) = (start, Vec::<&str>::new(), Vec::new());
    loop {
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
            if open.pop() != Some(name) || !after.starts_with('>') {
                return Err(format!("`</{name}>` closes nothing"));
            }
            at = text.len() - after.len() + 1;
        } else {
            let name = rest.strip_prefix('<').and_then(name_at).ok_or("`<` begins no tag")?;
            open.push(name);
            paths.push(open.join("."));
            let (end, is_closed) = skip_attributes(text, at + 1 + name.len())?;
            if is_closed {
                open.pop();
            }
            at = end;
        }
        if open.is_empty() {
            return Ok(XmlElement { end: at, paths });
        }
        let length =
            text[at..].find('<').ok_or_else(|| format!("`<{}>` is not closed", open[open.len() - 1]))?;
        check_entities(&text[at..at + length])?;
        at += length;
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
    use super::*;

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
        assert_eq!(read_document("<a><b><c/></b></a>").unwrap(), ["a", "a.b", "a.b.c"]);
    }
}
