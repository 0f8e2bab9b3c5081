//! Finds a quote in what was graded; a quote that is not there does not exist.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use super::QuoteLocation;
use crate::candidate::CandidatePart;

/// The position of a quote in the candidate, if it is there and long enough to be evidence.
///
/// Case, spaces, quotation marks, dashes and compatible spellings of a character count as the same;
/// an ellipsis matches anything between two stretches of one part. Positions are bytes of the original.
/// A stretch needs four letters or digits and a word that is neither a function word nor a short number,
/// unless the quote is the whole part. It begins and ends with whole words; a long one may break off.
///
/// ```
/// use jurist_core::candidate::CandidatePart;
/// use jurist_core::grade::locate;
///
/// let parts = [CandidatePart { name: "response".into(), text: "It’s due on  12 May, in full.".into() }];
/// let found = locate("it's due ... IN FULL", &parts).unwrap();
/// assert_eq!((found.part.as_str(), found.start, found.end), ("response", 0, 30));
/// assert_eq!(locate("due on 13 May", &parts), None);
/// assert_eq!(locate("12", &parts), None);
/// let parts = [CandidatePart { name: "response".into(), text: "That is disallowed.".into() }];
/// assert_eq!(locate("allowed", &parts), None);
/// ```
pub fn locate(quote: &str, parts: &[CandidatePart]) -> Option<QuoteLocation> {
    QuotableParts::new(parts).locate(quote)
}

/// Parts made ready for many quotes.
#[derive(Debug)]
pub(crate) struct QuotableParts {
    parts: Vec<(String, FoldedText)>,
}

/// Letters and digits of a stretch that can be evidence.
const MIN_LETTERS: usize = 4;

/// Digits of a number that is specific without any word next to it.
const MIN_DIGITS: usize = 4;

/// Letters and digits of a stretch that may end within a word.
const MIN_LETTERS_CUT: usize = 20;

/// The part that holds the steps as a judge reads them.
pub(crate) const RENDERED_TRACE: &str = "trace";

/// Words that only mark steps there; they are not part of the candidate.
const MARKS_OF_STEPS: [&str; 13] = [
    "agent",
    "assistant",
    "fit",
    "here",
    "left",
    "other",
    "out",
    "steps",
    "sub",
    "system",
    "thinks",
    "tool",
    "user",
];

/// Words that occur in every text, so that a quote of them alone proves nothing.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i",
    "if", "in", "into", "is", "it", "its", "not", "of", "on", "or", "our", "she", "should", "so", "such",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "was",
    "we", "were", "what", "when", "which", "who", "will", "with", "would", "you", "your", "yours",
];

impl QuotableParts {
    pub(crate) fn new(parts: &[CandidatePart]) -> Self {
        let fold = |part: &CandidatePart| (part.name.clone(), FoldedText::new(&part.text, Folding::Compare));
        Self { parts: parts.iter().map(fold).collect() }
    }

    pub(crate) fn locate(&self, quote: &str) -> Option<QuoteLocation> {
        let folded = FoldedText::new(quote, Folding::Compare).text;
        let bare = folded.trim().trim_matches(['\'', ' ']);
        self.locate_folded(folded.trim()).or_else(|| self.locate_folded(bare))
    }

    fn locate_folded(&self, quote: &str) -> Option<QuoteLocation> {
        let stretches: Vec<&str> = quote
            .split("...")
            .map(|stretch| stretch.trim().trim_start_matches(']').trim_end_matches('[').trim())
            .filter(|stretch| !stretch.is_empty())
            .collect();
        let are_specific = |marks: &[&str]| {
            !stretches.is_empty() && stretches.iter().all(|stretch| is_specific(stretch, marks))
        };
        let (in_words, between_marks) = (are_specific(&[]), are_specific(&MARKS_OF_STEPS));
        self.parts.iter().find_map(|(name, part)| {
            let is_whole_part = part.text.trim() == quote && quote.chars().any(char::is_alphanumeric);
            let is_enough = if name == RENDERED_TRACE { between_marks } else { in_words };
            if !is_whole_part && !is_enough {
                return None;
            }
            let (start, end) = if is_whole_part { part.find(&[quote])? } else { part.find(&stretches)? };
            Some(QuoteLocation { part: name.clone(), start, end })
        })
    }
}

/// Whether a stretch is specific enough that an accidental match is rare; `marks` are words that do not count.
fn is_specific(stretch: &str, marks: &[&str]) -> bool {
    // One character of Chinese, Japanese or Korean says about as much as two letters.
    let width = |letter: char| if ('\u{2e80}'..='\u{ffdc}').contains(&letter) { 2 } else { 1 };
    let words = stretch.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty() && !marks.contains(word)).collect();
    let n_letters: usize = words.iter().flat_map(|word| word.chars()).map(width).sum();
    let is_telling = |word: &str| {
        let n_letters: usize = word.chars().map(width).sum();
        if word.chars().all(char::is_numeric) {
            MIN_DIGITS <= n_letters
        } else {
            2 <= n_letters && !FUNCTION_WORDS.contains(&word)
        }
    };
    MIN_LETTERS <= n_letters && words.into_iter().any(is_telling)
}

/// What counts as the same character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folding {
    /// For quotes: neither case nor the kind of quotation mark matters.
    Compare,
    /// For JSON: case stays, and each kind of quotation mark becomes its plain form.
    Keep,
}

/// A text in another form, with the original place of each of its bytes.
#[derive(Debug)]
pub(crate) struct FoldedText {
    pub(crate) text: String,
    /// Start and end in the original, for each byte.
    places: Vec<(u32, u32)>,
}

impl FoldedText {
    /// Characters as they are compared; then runs of space are one space.
    pub(crate) fn new(original: &str, folding: Folding) -> Self {
        let mut out = Self::with_room(original.len());
        let mut letters = original.char_indices().peekable();
        while let Some((start, letter)) = letters.next() {
            let mut end = start + letter.len_utf8();
            // A letter and its accents are one unit, however they are written.
            while let Some((at, mark)) =
                letters.next_if(|(_, mark)| !mark.is_ascii() && canonical_combining_class(*mark) != 0)
            {
                end = at + mark.len_utf8();
            }
            if letter.is_ascii() && end == start + 1 {
                out.push_folded(plain_letter(letter, folding), folding, (start, end));
                continue;
            }
            // Marks are distinguished before compatible spellings make something else of them.
            for letter in original[start..end].chars().map(|letter| plain_letter(letter, folding)).nfkc() {
                out.push_folded(letter, folding, (start, end));
            }
        }
        out
    }

    /// The text with the stretches that `decode` knows replaced by what they stand for; `None` if there are none.
    ///
    /// `decode` gets the text and a position in it, and returns characters and how many bytes they take the place of.
    pub(crate) fn decode_with<I: IntoIterator<Item = char>>(
        &self,
        decode: impl Fn(&str, usize) -> Option<(I, usize)>,
    ) -> Option<Self> {
        let mut out = Self::with_room(self.text.len());
        let (mut at, mut has_changed) = (0, false);
        while let Some(letter) = self.text[at..].chars().next() {
            let decoded = decode(&self.text, at);
            let length = decoded.as_ref().map_or(letter.len_utf8(), |(_, length)| *length);
            let span = (self.places[at].0, self.places[at + length - 1].1);
            match decoded {
                Some((letters, _)) => {
                    has_changed = true;
                    letters.into_iter().for_each(|letter| out.push(letter, span));
                }
                None => out.push(letter, span),
            }
            at += length;
        }
        has_changed.then_some(out)
    }

    /// A text in its own form.
    pub(crate) fn verbatim(original: &str) -> Self {
        let mut places = Vec::with_capacity(original.len());
        for (start, letter) in original.char_indices() {
            let end = start + letter.len_utf8();
            places.resize(end, (to_u32_offset(start), to_u32_offset(end)));
        }
        Self { text: original.to_owned(), places }
    }

    /// The place in the original of a stretch of this form.
    pub(crate) fn original_span(&self, start: usize, end: usize) -> (usize, usize) {
        (self.places[start].0 as usize, self.places[end - 1].1 as usize)
    }

    fn with_room(room: usize) -> Self {
        Self { text: String::with_capacity(room), places: Vec::with_capacity(room) }
    }

    fn push_folded(&mut self, letter: char, folding: Folding, (start, end): (usize, usize)) {
        let span = (to_u32_offset(start), to_u32_offset(end));
        match letter {
            // Invisible: zero-width and direction marks, soft hyphens.
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{ad}' => {}
            // Lines and their indentation have a meaning there.
            ' ' | '\n' | '\t' if folding == Folding::Keep => self.push(letter, span),
            letter if letter.is_whitespace() => match self.places.last_mut() {
                Some((_, last_end)) if self.text.ends_with(' ') => *last_end = to_u32_offset(end),
                _ => self.push(' ', span),
            },
            letter if folding == Folding::Compare => {
                letter.to_lowercase().for_each(|letter| self.push(letter, span));
            }
            letter => self.push(letter, span),
        }
    }

    fn push(&mut self, letter: char, span: (u32, u32)) {
        self.text.push(letter);
        self.places.resize(self.text.len(), span);
    }

    /// From the beginning of the first stretch to the end of the last, all in order.
    fn find(&self, stretches: &[&str]) -> Option<(u64, u64)> {
        let (mut from, mut first) = (0, None);
        for stretch in stretches {
            let at = find_whole_words(&self.text, stretch, from)?;
            first.get_or_insert(at);
            from = at + stretch.len();
        }
        Some((self.places[first?].0.into(), self.places[from - 1].1.into()))
    }
}

/// Finds a stretch as whole words, at or after `from`: "allowed" is not found in "disallowed".
fn find_whole_words(text: &str, stretch: &str, mut from: usize) -> Option<usize> {
    let may_break_off = MIN_LETTERS_CUT <= stretch.chars().filter(|letter| letter.is_alphanumeric()).count();
    let is_within_word = |at: usize| {
        text[..at].chars().next_back().is_some_and(is_of_word)
            && text[at..].chars().next().is_some_and(is_of_word)
    };
    loop {
        let at = from + text[from..].find(stretch)?;
        if !is_within_word(at) && (may_break_off || !is_within_word(at + stretch.len())) {
            return Some(at);
        }
        // What does not begin or end at a word is passed over with the rest of it.
        let length = text[at..].find(|letter: char| !is_of_word(letter)).unwrap_or(text.len() - at);
        from = at + length.max(text[at..].chars().next().map_or(1, char::len_utf8));
    }
}

/// Latin, Greek and Cyrillic letters and digits; other scripts do not write each word alone.
fn is_of_word(letter: char) -> bool {
    letter < '\u{590}' && letter.is_alphanumeric()
}

fn to_u32_offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn plain_letter(letter: char, folding: Folding) -> char {
    match letter {
        '‘' | '’' | '‚' | '‛' | '′' | '`' | '´' => '\'',
        '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '″' if folding == Folding::Compare => '\'',
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        letter => letter,
    }
}
