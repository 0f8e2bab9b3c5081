//! Finds a quote in what was graded; a quote that is not there does not exist.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use crate::candidate::Part;
use crate::grade::Found;

/// Where a quote stands, if it stands anywhere.
///
/// Spaces, quotation marks, dashes and compatible spellings of a character count as the same;
/// an ellipsis stands for anything between two stretches of one part. Positions are bytes of the original.
///
/// ```
/// use jurist_core::candidate::Part;
/// use jurist_core::judge::locate;
///
/// let parts = [Part { name: "response".into(), text: "It’s due on  12 May, in full.".into() }];
/// let found = locate("It's due ... in full", &parts).unwrap();
/// assert_eq!((found.part.as_str(), found.start, found.end), ("response", 0, 30));
/// assert_eq!(locate("due on 13 May", &parts), None);
/// ```
pub fn locate(quote: &str, parts: &[Part]) -> Option<Found> {
    Places::new(parts).find(quote)
}

/// Parts made ready for many quotes.
#[derive(Debug)]
pub(super) struct Places {
    parts: Vec<(String, Folded)>,
}

/// A stretch of fewer letters stands everywhere and shows nothing, unless it is all that was said.
const LEAST_LETTERS: usize = 2;

impl Places {
    pub(super) fn new(parts: &[Part]) -> Self {
        Self { parts: parts.iter().map(|it| (it.name.clone(), Folded::new(&it.text))).collect() }
    }

    pub(super) fn find(&self, quote: &str) -> Option<Found> {
        let folded = Folded::new(quote).text;
        let stretches: Vec<&str> = folded.split("...").map(str::trim).filter(|it| !it.is_empty()).collect();
        let n_letters = |it: &str| it.chars().filter(|it| it.is_alphanumeric()).count();
        let telling = !stretches.is_empty() && stretches.iter().all(|it| LEAST_LETTERS <= n_letters(it));
        self.parts.iter().find_map(|(name, text)| {
            let is_all = text.text.trim() == folded.trim() && 0 < n_letters(&folded);
            if !telling && !is_all {
                return None;
            }
            let (start, end) = text.find(&stretches)?;
            Some(Found { part: name.clone(), start, end })
        })
    }
}

/// A text in its folded form, with the original place of each of its bytes.
#[derive(Debug)]
struct Folded {
    text: String,
    /// Start and end in the original, for each byte.
    places: Vec<(u32, u32)>,
}

impl Folded {
    /// Characters as they are compared; runs of space are one space.
    fn new(original: &str) -> Self {
        let room = original.len();
        let mut out = Self { text: String::with_capacity(room), places: Vec::with_capacity(room) };
        let mut letters = original.char_indices().peekable();
        while let Some((start, letter)) = letters.next() {
            let mut end = start + letter.len_utf8();
            // A letter and its accents are one unit, however they are written.
            while let Some((at, mark)) =
                letters.next_if(|it| !it.1.is_ascii() && canonical_combining_class(it.1) != 0)
            {
                end = at + mark.len_utf8();
            }
            if letter.is_ascii() && end == start + 1 {
                out.push(plain(letter), start, end);
                continue;
            }
            // Marks are told apart before compatible spellings make something else of them.
            for letter in original[start..end].chars().map(plain).nfkc() {
                out.push(letter, start, end);
            }
        }
        out
    }

    fn push(&mut self, letter: char, start: usize, end: usize) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        match letter {
            // Invisible: zero-width and direction marks, soft hyphens.
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{ad}' => return,
            letter if letter.is_whitespace() => match self.places.last_mut() {
                Some(last) if self.text.ends_with(' ') => last.1 = place(end),
                _ => self.text.push(' '),
            },
            letter => self.text.push(letter),
        }
        self.places.resize(self.text.len(), (place(start), place(end)));
    }

    /// From the beginning of the first stretch to the end of the last, all in order.
    fn find(&self, stretches: &[&str]) -> Option<(u64, u64)> {
        let (mut from, mut first) = (0, None);
        for stretch in stretches {
            let at = from + self.text[from..].find(stretch)?;
            first.get_or_insert(at);
            from = at + stretch.len();
        }
        Some((self.places[first?].0.into(), self.places[from - 1].1.into()))
    }
}

fn plain(letter: char) -> char {
    match letter {
        '‘' | '’' | '‚' | '‛' | '′' | '`' | '´' => '\'',
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        letter => letter,
    }
}
