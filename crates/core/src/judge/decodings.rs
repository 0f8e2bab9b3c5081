//! Spellings under which a candidate may hide an object from a reader of JSON, and which a judge can undo.
//!
//! Each spelling is undone alone and together with others, in every order, up to a limit on depth, number and bytes.

use std::collections::{HashSet, VecDeque};

use crate::grade::{FoldedText, Folding};

/// How many spellings may be applied to one text, such as JSON in a string of other JSON.
const MAX_LAYERS: usize = 6;

/// Readings of one text: enough for any two of the spellings together, each once or twice.
const MAX_READINGS: usize = 48;

/// Bytes of all readings of one text. A longer text is read under fewer combinations, the simplest first.
const MAX_BYTES: usize = 8 << 20;

/// The shortest object that gives a grade, `{"score":1}`, has 11 bytes, which are 15 letters.
const MIN_BASE64: usize = 15;

/// In wrapped base64, all lines but the last have at least so many letters.
const MIN_BASE64_LINE: usize = 40;

/// Bytes of a tag with the longest name.
const MAX_TAG: usize = 80;

type Decoder = fn(&FoldedText) -> Option<FoldedText>;

const DECODERS: [Decoder; 7] = [
    undo_json_escapes,
    undo_html_escapes,
    undo_url_escapes,
    undo_form_escapes,
    undo_base64,
    tags_to_lines,
    remove_line_marks,
];

struct DecodedText {
    text: FoldedText,
    n_layers: usize,
    /// Whether only escapes of JSON were undone. These readings are made whatever the limits say.
    is_only_json: bool,
}

/// Visits a text and everything that it is under other spellings.
pub(super) fn visit_readings(text: &str, visit: &mut dyn FnMut(&FoldedText)) {
    let mut waiting: VecDeque<DecodedText> = VecDeque::new();
    let (mut visited, mut n_readings, mut n_bytes) = (HashSet::new(), 0, 0);
    let verbatim = FoldedText::verbatim(text);
    let folded = (!text.is_ascii()).then(|| FoldedText::new(text, Folding::Keep));
    for text in [Some(verbatim), folded].into_iter().flatten() {
        waiting.push_back(DecodedText { text, n_layers: 0, is_only_json: true });
    }
    while let Some(reading) = waiting.pop_front() {
        if !visited.insert(blake3::hash(reading.text.text.as_bytes())) {
            continue;
        }
        visit(&reading.text);
        if MAX_LAYERS <= reading.n_layers {
            continue;
        }
        for (at, decoder) in DECODERS.iter().enumerate() {
            let is_only_json = reading.is_only_json && at == 0;
            if !is_only_json && (MAX_READINGS <= n_readings || MAX_BYTES <= n_bytes) {
                continue;
            }
            let Some(text) = decoder(&reading.text) else { continue };
            if !is_only_json {
                n_readings += 1;
                n_bytes += text.text.len();
            }
            waiting.push_back(DecodedText { text, n_layers: reading.n_layers + 1, is_only_json });
        }
    }
}

/// As a JSON string, or one of a programming language, that holds the text would be read.
fn undo_json_escapes(reading: &FoldedText) -> Option<FoldedText> {
    let has_any = reading.text.contains('\\');
    has_any.then(|| reading.decode_with(|text, at| parse_json_escape(&text[at..])))?
}

/// The character of a text's first escape, and the escape's length.
fn parse_json_escape(text: &str) -> Option<(Option<char>, usize)> {
    let rest = text.strip_prefix('\\')?;
    let code = |digits: Option<&str>| u32::from_str_radix(digits?, 16).ok();
    let letter = match rest.chars().next()? {
        letter @ ('"' | '\'' | '\\' | '/') => letter,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' | 'f' => ' ',
        'x' => return Some((char::from_u32(code(rest.get(1..3))?), 4)),
        'u' if rest[1..].starts_with('{') => {
            let end = rest.bytes().take(9).position(|byte| byte == b'}')?;
            return Some((Some(char::from_u32(code(rest.get(2..end))?)?), end + 2));
        }
        'u' => {
            let first = code(rest.get(1..5))?;
            if let Some(letter) = char::from_u32(first) {
                return Some((Some(letter), 6));
            }
            // Half of a pair: the other half follows, or it is no character.
            let second = code(rest.get(5..11).and_then(|rest| rest.strip_prefix("\\u")))?;
            let letter = char::decode_utf16([first as u16, second as u16]).next()?.ok()?;
            return Some((Some(letter), 12));
        }
        _ => return None,
    };
    Some((Some(letter), 2))
}

/// Named characters that an object may need; letters have a number only.
const HTML_NAMES: [(&str, char); 16] = [
    ("quot", '"'),
    ("apos", '\''),
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("lbrace", '{'),
    ("lcub", '{'),
    ("rbrace", '}'),
    ("rcub", '}'),
    ("lbrack", '['),
    ("lsqb", '['),
    ("rbrack", ']'),
    ("rsqb", ']'),
    ("colon", ':'),
    ("comma", ','),
    ("nbsp", ' '),
];

fn undo_html_escapes(reading: &FoldedText) -> Option<FoldedText> {
    let has_any = reading.text.contains('&');
    has_any.then(|| reading.decode_with(|text, at| parse_html_escape(&text[at..])))?
}

fn parse_html_escape(text: &str) -> Option<(Option<char>, usize)> {
    let rest = text.strip_prefix('&')?;
    let end = rest.bytes().take(10).position(|byte| byte == b';')?;
    let name = &rest[..end];
    let letter = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => char::from_u32(u32::from_str_radix(digits, 16).ok()?)?,
            None => char::from_u32(number.parse().ok()?)?,
        },
        None => {
            let name = name.to_lowercase();
            HTML_NAMES.iter().find(|(known, _)| *known == name)?.1
        }
    };
    Some((Some(letter), end + 2))
}

fn undo_url_escapes(reading: &FoldedText) -> Option<FoldedText> {
    let has_any = reading.text.contains('%');
    has_any.then(|| reading.decode_with(|text, at| parse_url_escape(&text[at..])))?
}

/// The same where `+` is a space, as in forms.
fn undo_form_escapes(reading: &FoldedText) -> Option<FoldedText> {
    let has_any = reading.text.contains('%') && reading.text.contains('+');
    has_any.then(|| {
        reading.decode_with(|text, at| match text.as_bytes()[at] {
            b'+' => Some((Some(' '), 1)),
            _ => parse_url_escape(&text[at..]),
        })
    })?
}

fn parse_url_escape(text: &str) -> Option<(Option<char>, usize)> {
    let byte = |at: usize| -> Option<u8> {
        let digits = text.get(at * 3..at * 3 + 3)?.strip_prefix('%')?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
    };
    let first = byte(0)?;
    let n_bytes = match first {
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let bytes: Vec<u8> = (0..n_bytes).map(byte).collect::<Option<_>>()?;
    let letter = std::str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((Some(letter), 3 * n_bytes))
}

fn undo_base64(reading: &FoldedText) -> Option<FoldedText> {
    reading.decode_with(decode_base64_run)
}

/// What a run of letters that begins here says if it is text in base64.
fn decode_base64_run(text: &str, at: usize) -> Option<(Vec<char>, usize)> {
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(|byte| base64_value(*byte).is_some());
    if !is_letter(at) || (0 < at && is_letter(at - 1)) {
        return None;
    }
    // Each run is looked at once, from its beginning.
    let before = text[..at].strip_suffix('\n').map_or(0, |before| before.trim_end_matches('\r').len());
    if MIN_BASE64_LINE <= before && (before - MIN_BASE64_LINE..before).all(is_letter) {
        return None;
    }
    let (mut values, mut end, mut line) = (Vec::new(), at, at);
    loop {
        while let Some(value) = bytes.get(end).and_then(|byte| base64_value(*byte)) {
            values.push(value);
            end += 1;
        }
        let next = end + if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
        let is_wrapped = bytes.get(next - 1) == Some(&b'\n') && MIN_BASE64_LINE <= end - line;
        if !is_wrapped || !is_letter(next) {
            break;
        }
        (end, line) = (next, next);
    }
    if values.len() < MIN_BASE64 {
        return None;
    }
    // Letters in front, such as those of a path, shift the groups of four.
    let decoded: Vec<char> = (0..4).flat_map(|skipped| find_text(&values[skipped..])).collect();
    let padding = bytes[end..].iter().take_while(|byte| **byte == b'=').take(2).count();
    (!decoded.is_empty()).then_some((decoded, end + padding - at))
}

fn base64_value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// The readable stretches of decoded bytes that are long enough for an object.
fn find_text(values: &[u8]) -> Vec<char> {
    let mut bytes: Vec<u8> = Vec::with_capacity(values.len());
    for group in values.chunks(4) {
        let joined = group.iter().fold(0_u32, |joined, value| (joined << 6) | u32::from(*value));
        let joined = joined << (6 * (4 - group.len()));
        bytes.extend(joined.to_be_bytes()[1..].iter().take(group.len() * 3 / 4));
    }
    let is_unreadable = |letter: char| letter.is_control() && !letter.is_whitespace();
    let mut text: Vec<char> = Vec::new();
    for chunk in bytes.utf8_chunks() {
        for stretch in chunk.valid().split(is_unreadable) {
            // Random bytes have short stretches only.
            if MIN_BASE64 * 3 / 4 <= stretch.len() {
                text.extend(stretch.chars());
                text.push('\n');
            }
        }
    }
    text
}

/// `<score>1</score>` and `<parameter name="score">1</parameter>` as lines `score: 1`.
fn tags_to_lines(reading: &FoldedText) -> Option<FoldedText> {
    let has_any = reading.text.contains("</");
    has_any.then(|| reading.decode_with(parse_tag))?
}

fn parse_tag(text: &str, at: usize) -> Option<(Vec<char>, usize)> {
    let rest = text[at..].strip_prefix('<')?;
    let end = rest.bytes().take(MAX_TAG).position(|byte| byte == b'>')?;
    let tag = &rest[..end];
    let named = || {
        let name = tag.split_once("name=")?.1.trim_start_matches(['"', '\'']);
        name.split(['"', '\'']).next()
    };
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
    };
    let line = if tag.starts_with('/') {
        "\n".to_owned()
    } else {
        format!("\n{}: ", named().or_else(|| tag.split(' ').next()).filter(is_name)?)
    };
    Some((line.chars().collect(), end + 2))
}

/// Lines without what marks them as added, quoted, commented or listed.
fn remove_line_marks(reading: &FoldedText) -> Option<FoldedText> {
    reading.decode_with(|text, at| {
        if 0 < at && text.as_bytes()[at - 1] != b'\n' {
            return None;
        }
        let line = text[at..].trim_start_matches([' ', '\t']);
        let mark = ["//", "+", "-", ">", "|", "#", "*"].iter().find(|mark| line.starts_with(**mark))?;
        let rest = &line[mark.len()..];
        // The space behind the sign of a diff belongs to the line.
        let is_of_diff = matches!(*mark, "+" | "-");
        let end = text.len() - rest.len() + usize::from(!is_of_diff && rest.starts_with(' '));
        Some((None::<char>, end - at))
    })
}
