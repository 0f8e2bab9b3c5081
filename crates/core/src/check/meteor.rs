//! METEOR: words of two texts that are the same or have the same stem, and how well their order agrees.

use std::collections::{HashMap, HashSet};

use super::{BadCheck, Params};

/// How precision and recall, and the order of the words, count.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeteorWeights {
    /// The share of recall in the mean of precision and recall.
    alpha: f64,
    /// How fast the penalty grows with the number of pieces.
    beta: f64,
    /// The penalty if no two matching words are next to each other.
    gamma: f64,
}

impl MeteorWeights {
    /// The defaults are those of promptfoo, and of NLTK before it.
    pub(super) fn read(params: &Params<'_>) -> Result<Self, BadCheck> {
        let number = |name: &str, default: f64, most: f64| {
            let number = params.number(name)?.unwrap_or(default);
            let is_allowed = (0.0..=most).contains(&number);
            is_allowed.then_some(number).ok_or_else(|| params.bad(name, format!("must be from 0 to {most}")))
        };
        Ok(Self {
            alpha: number("alpha", 0.9, 1.0)?,
            beta: number("beta", 3.0, 100.0)?,
            gamma: number("gamma", 0.5, 1.0)?,
        })
    }
}

/// A word, and its place in its text.
struct PlacedWord {
    place: usize,
    text: String,
}

/// The places of two words that match.
struct WordMatch {
    candidate: usize,
    reference: usize,
}

/// The METEOR score of a text against one reference: words match as they are written, or else by their stems.
pub(super) fn meteor(candidate: &[String], reference: &[String], weights: MeteorWeights) -> f64 {
    let (mut open, mut wanted) = (place_words(candidate), place_words(reference));
    let mut matches = take_equal_words(&mut open, &mut wanted);
    for word in open.iter_mut().chain(&mut wanted) {
        word.text = stem_word(&word.text);
    }
    matches.extend(take_equal_words(&mut open, &mut wanted));
    if matches.is_empty() {
        return 0.0;
    }
    matches.sort_by_key(|pair| pair.candidate);
    let breaks = matches.windows(2).filter(|pair| {
        pair[1].candidate != pair[0].candidate + 1 || pair[1].reference != pair[0].reference + 1
    });
    let n_pieces = 1 + breaks.count();
    let n_matches = matches.len() as f64;
    let (precision, recall) = (n_matches / candidate.len() as f64, n_matches / reference.len() as f64);
    let MeteorWeights { alpha, beta, gamma } = weights;
    let mean = precision * recall / (alpha * precision + (1.0 - alpha) * recall);
    (1.0 - gamma * (n_pieces as f64 / n_matches).powf(beta)) * mean
}

fn place_words(words: &[String]) -> Vec<PlacedWord> {
    words.iter().enumerate().map(|(place, text)| PlacedWord { place, text: text.clone() }).collect()
}

/// Takes words out of both texts that are the same: from the end, each with the last of its kind in the reference.
fn take_equal_words(candidate: &mut Vec<PlacedWord>, reference: &mut Vec<PlacedWord>) -> Vec<WordMatch> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for word in &*reference {
        places.entry(word.text.clone()).or_default().push(word.place);
    }
    let mut matches = Vec::new();
    for word in candidate.iter().rev() {
        if let Some(place) = places.get_mut(&word.text).and_then(Vec::pop) {
            matches.push(WordMatch { candidate: word.place, reference: place });
        }
    }
    let (mut used, mut met) = (HashSet::new(), HashSet::new());
    for pair in &matches {
        used.insert(pair.candidate);
        met.insert(pair.reference);
    }
    candidate.retain(|word| !used.contains(&word.place));
    reference.retain(|word| !met.contains(&word.place));
    matches
}

/// Endings of Porter's second step with what replaces them, where a syllable is left before them.
const DERIVED_ENDINGS: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

/// Endings of Porter's third step.
const SHORTER_ENDINGS: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Endings of Porter's fourth step, dropped after two syllables; longer ones come before those that they end with.
const DROPPED_ENDINGS: &[&str] = &[
    "ement", "ment", "ent", "ance", "ence", "able", "ible", "ant", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
];

/// The stem of an English word in lower case, by Porter's algorithm of 1980 with his own two later changes.
fn stem_word(word: &str) -> String {
    if word.chars().nth(2).is_none() {
        return word.to_owned();
    }
    let mut stem = drop_verb_ending(drop_plural(word));
    if let Some(rest) = stem.strip_suffix('y')
        && mark_vowels(rest).contains(&true)
    {
        stem = format!("{rest}i");
    }
    for endings in [DERIVED_ENDINGS, SHORTER_ENDINGS] {
        let shorter = endings.iter().find_map(|(ending, new)| {
            let rest = stem.strip_suffix(*ending).filter(|rest| 0 < count_syllables(rest))?;
            Some(format!("{rest}{new}"))
        });
        stem = shorter.unwrap_or(stem);
    }
    let dropped = DROPPED_ENDINGS.iter().find_map(|ending| stem.strip_suffix(*ending));
    let action = stem.strip_suffix("ion").filter(|rest| rest.ends_with(['s', 't']));
    if let Some(rest) = dropped.or(action).filter(|rest| 1 < count_syllables(rest)) {
        stem = rest.to_owned();
    }
    if let Some(rest) = stem.strip_suffix('e') {
        let n_syllables = count_syllables(rest);
        if 1 < n_syllables || (n_syllables == 1 && !ends_short(rest)) {
            stem = rest.to_owned();
        }
    }
    if stem.ends_with("ll") && 1 < count_syllables(&stem) {
        stem.pop();
    }
    stem
}

fn drop_plural(word: &str) -> &str {
    if word.ends_with("sses") || word.ends_with("ies") {
        return &word[..word.len() - 2];
    }
    word.strip_suffix('s').filter(|rest| !rest.ends_with('s')).unwrap_or(word)
}

/// Without `ed` or `ing`, and with what these had changed put back.
fn drop_verb_ending(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("eed") {
        return if 0 < count_syllables(rest) { format!("{rest}ee") } else { word.to_owned() };
    }
    let rest = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing"));
    let Some(rest) = rest.filter(|rest| mark_vowels(rest).contains(&true)) else { return word.to_owned() };
    let has_lost_e = ["at", "bl", "iz"].iter().any(|ending| rest.ends_with(ending));
    let mut letters = rest.chars().rev();
    let last = letters.next().filter(|last| letters.next() == Some(*last));
    match last.filter(|last| !"aeioulsz".contains(*last)) {
        Some(double) if !has_lost_e => rest[..rest.len() - double.len_utf8()].to_owned(),
        _ if has_lost_e || (count_syllables(rest) == 1 && ends_short(rest)) => format!("{rest}e"),
        _ => rest.to_owned(),
    }
}

/// Which letters are vowels; `y` is one behind a consonant.
fn mark_vowels(word: &str) -> Vec<bool> {
    let mut marks: Vec<bool> = Vec::with_capacity(word.len());
    for letter in word.chars() {
        let is_vowel = match letter {
            'a' | 'e' | 'i' | 'o' | 'u' => true,
            'y' => marks.last() == Some(&false),
            _ => false,
        };
        marks.push(is_vowel);
    }
    marks
}

/// How often a consonant follows a vowel, which Porter calls the measure of a word.
fn count_syllables(word: &str) -> usize {
    mark_vowels(word).windows(2).filter(|pair| pair[0] && !pair[1]).count()
}

/// Whether a word ends with consonant, vowel and consonant, and the last is not `w`, `x` or `y`.
fn ends_short(word: &str) -> bool {
    matches!(mark_vowels(word).as_slice(), [.., false, true, false]) && !word.ends_with(['w', 'x', 'y'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_the_same_stem_match() {
        for (word, stem) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("is", "is"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("hopping", "hop"),
            ("filing", "file"),
            ("sized", "size"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("hopefulness", "hope"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("controlling", "control"),
            ("rate", "rate"),
            ("naïve", "naïv"),
        ] {
            assert_eq!(stem_word(word), stem, "{word}");
        }
    }

    #[test]
    fn an_ending_stands_before_those_that_it_ends_with() {
        for (at, ending) in DROPPED_ENDINGS.iter().enumerate() {
            assert!(DROPPED_ENDINGS[..at].iter().all(|earlier| !ending.ends_with(earlier)), "{ending}");
        }
    }
}
