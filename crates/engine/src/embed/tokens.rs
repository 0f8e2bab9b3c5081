//! WordPiece tokenizer of BERT's uncased models.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The vocabulary of a model.
#[derive(Debug)]
pub(super) struct Vocabulary {
    ids: HashMap<String, u32>,
    begin: u32,
    end: u32,
    unknown: u32,
}

/// Longer words become the unknown token, as in BERT's own tokenizer.
const MAX_WORD: usize = 100;

impl Vocabulary {
    /// From `vocab.txt`: a piece on each line.
    pub(super) fn new(text: &str) -> Option<Self> {
        let ids: HashMap<String, u32> =
            text.lines().map(|line| line.trim_end().to_owned()).zip(0..).collect();
        let id = |piece: &str| ids.get(piece).copied();
        let (begin, end, unknown) = (id("[CLS]")?, id("[SEP]")?, id("[UNK]")?);
        Some(Self { ids, begin, end, unknown })
    }

    /// At most `max` ids, first and last included.
    pub(super) fn ids(&self, text: &str, max: usize) -> Vec<u32> {
        let mut ids = vec![self.begin];
        for word in split_into_words(text) {
            self.pieces(&word, &mut ids);
            if max - 1 <= ids.len() {
                ids.truncate(max - 1);
                break;
            }
        }
        ids.push(self.end);
        ids
    }

    /// Splits a word greedily into the longest known pieces; if that fails, the whole word is unknown.
    fn pieces(&self, word: &str, ids: &mut Vec<u32>) {
        let (start, letters) = (ids.len(), word.chars().count());
        let mut rest = word;
        while !rest.is_empty() && letters <= MAX_WORD {
            let is_first = rest.len() == word.len();
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
            let longest_piece = ends.into_iter().find_map(|end| {
                let piece = if is_first { rest[..end].to_owned() } else { format!("##{}", &rest[..end]) };
                Some((*self.ids.get(&piece)?, end))
            });
            match longest_piece {
                Some((id, end)) => {
                    ids.push(id);
                    rest = &rest[end..];
                }
                None => break,
            }
        }
        if !rest.is_empty() {
            ids.truncate(start);
            ids.push(self.unknown);
        }
    }
}

/// Lower case without accents; punctuation and ideographs are words of their own.
fn split_into_words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    for letter in text.nfd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase) {
        if letter.is_whitespace() || letter.is_control() || letter == '\u{fffd}' {
            words.extend(Some(std::mem::take(&mut word)).filter(|text| !text.is_empty()));
        } else if is_alone(letter) {
            words.extend(Some(std::mem::take(&mut word)).filter(|text| !text.is_empty()));
            words.push(letter.to_string());
        } else {
            word.push(letter);
        }
    }
    words.extend(Some(word).filter(|text| !text.is_empty()));
    words
}

fn is_alone(letter: char) -> bool {
    letter.is_ascii_punctuation()
        || matches!(u32::from(letter),
            0x2010..=0x2027 | 0x2030..=0x205e | 0x3001..=0x3003 | 0x3008..=0x3011 | 0x00a1 | 0x00a7 | 0x00ab
            | 0x00b6 | 0x00b7 | 0x00bb | 0x00bf
            // Ideographs.
            | 0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_into_the_longest_known_pieces() {
        let pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cafe", "un", "##believ", "##able", "!", "中"];
        let vocabulary = Vocabulary::new(&pieces.join("\n")).unwrap();
        let ids = |text: &str| vocabulary.ids(text, 16);
        assert_eq!(ids("Café unbelievable!"), [2, 4, 5, 6, 7, 8, 3]);
        assert_eq!(ids("中中 qqq"), [2, 9, 9, 1, 3]);
        assert_eq!(vocabulary.ids("! ! ! ! ! !", 4), [2, 8, 8, 3]);
        assert_eq!(ids(&"a".repeat(200)), [2, 1, 3]);
    }
}
