//! Texts of strangers inside a picture: escaped, on one line, and no wider than there is room.

/// The size of all text but headings.
pub(super) const SIZE: f64 = 11.0;

/// Text that is only text, in an attribute as well, and that XML can hold.
pub(crate) fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            it if it.is_control() => out.push('\u{fffd}'),
            it => out.push(it),
        }
    }
    out
}

/// A text on one line, without towers of accents.
pub(super) fn to_single_line(text: &str) -> String {
    let mut out = String::new();
    let mut n_accents = 0;
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        n_accents = if is_accent(letter) { n_accents + 1 } else { 0 };
        if n_accents <= 2 {
            // What escaping would make of it, so that its width is known before.
            out.push(if letter.is_control() { '\u{fffd}' } else { letter });
        }
    }
    out
}

fn is_accent(letter: char) -> bool {
    matches!(u32::from(letter), 0x300..=0x36f | 0x483..=0x489 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff)
}

/// As much of a line as there is room for, in pixels at a size; with an ellipsis if there was more.
pub(super) fn fit(line: &str, room: f64, size: f64) -> String {
    if width(line, size) <= room {
        return line.to_owned();
    }
    let room = room - width("…", size);
    let mut used = 0.0;
    let head: String = line
        .chars()
        .take_while(|letter| {
            used += letter_width(*letter) * size;
            used <= room
        })
        .collect();
    head.trim_end().to_owned() + "…"
}

/// About how wide a line is, rather too wide than too narrow: measured in DejaVu Sans, which is wider than
/// the fonts that most systems have.
pub(super) fn width(line: &str, size: f64) -> f64 {
    line.chars().map(letter_width).sum::<f64>() * size
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 'I' | 'J' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '"' => 0.46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        '0'..='9' | 'a'..='z' => 0.64,
        'A'..='Z' => 0.78,
        it if is_accent(it) => 0.0,
        it => match u32::from(it) {
            0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2069 | 0xfe00..=0xfe0f => 0.0,
            // Ligatures of whole phrases, and cuneiform.
            0xfdf0..=0xfdfd | 0x12000..=0x1254f => 9.0,
            0..=0x2ff | 0x2010..=0x2027 | 0x2212 => 0.86,
            0x300..=0x10ff => 1.0,
            _ => 1.4,
        },
    }
}
