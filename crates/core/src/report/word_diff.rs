//! Two texts word by word: what was removed, what was added, and what stayed.

use std::borrow::Cow;

use serde::Serialize;

/// A stretch of text that stayed, was removed or was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordRun {
    pub change: WordChange,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WordChange {
    Same,
    Removed,
    Added,
}

impl WordRun {
    /// The text as a change is shown. Of a change of white space alone there would be nothing to see.
    pub fn visible_text(&self) -> Cow<'_, str> {
        if self.text.is_empty() || !self.text.chars().all(char::is_whitespace) {
            return Cow::Borrowed(&self.text);
        }
        let mark = |letter: char| match letter {
            '\n' => Cow::Borrowed("↵"),
            '\t' => Cow::Borrowed("→"),
            ' ' => Cow::Borrowed("·"),
            // Of many kinds, which no mark distinguishes.
            other => Cow::Owned(format!("<U+{:04X}>", u32::from(other))),
        };
        Cow::Owned(self.text.chars().map(mark).collect())
    }
}

/// Texts that differ by more words than this are shown as replaced in one piece: such a diff does not help, and finding
/// it takes the square of the number in time and memory (4 MB here).
const MAX_EDITS: usize = 1_000;

/// The shortest way from one text to the other, in words, signs and spaces.
pub fn diff_words(before: &str, after: &str) -> Vec<WordRun> {
    let (old, new) = (split_words(before), split_words(after));
    let n_first = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[n_first..], &new[n_first..]);
    let n_last = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, last) = old_rest.split_at(old_rest.len() - n_last);
    let new_middle = &new_rest[..new_rest.len() - n_last];

    let mut runs = Vec::new();
    old[..n_first].iter().for_each(|word| push_word(&mut runs, WordChange::Same, word));
    match find_edits(old_middle, new_middle) {
        Some(edits) => edits.iter().for_each(|(change, word)| push_word(&mut runs, *change, word)),
        None => {
            old_middle.iter().for_each(|word| push_word(&mut runs, WordChange::Removed, word));
            new_middle.iter().for_each(|word| push_word(&mut runs, WordChange::Added, word));
        }
    }
    last.iter().for_each(|word| push_word(&mut runs, WordChange::Same, word));
    join_changes(runs)
}

/// Words, runs of white space, and every other sign by itself. In scripts without spaces, each letter is a word.
fn split_words(text: &str) -> Vec<&str> {
    #[derive(PartialEq, Clone, Copy)]
    enum LetterClass {
        Word,
        Space,
        Single,
    }
    let class = |letter: char| match letter {
        '\u{2e80}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}' => LetterClass::Single,
        letter if letter.is_alphanumeric() || letter == '_' => LetterClass::Word,
        letter if letter.is_whitespace() => LetterClass::Space,
        _ => LetterClass::Single,
    };
    let (mut words, mut start, mut current) = (Vec::new(), 0, None);
    for (at, letter) in text.char_indices() {
        let here = class(letter);
        if current.is_some_and(|current| current != here || here == LetterClass::Single) {
            words.push(&text[start..at]);
            start = at;
        }
        current = Some(here);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Myers' greedy search for the fewest edits; `None` where more than [`MAX_EDITS`] are needed.
fn find_edits<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<(WordChange, &'a str)>> {
    let (n_old, n_new) = (old.len() as i64, new.len() as i64);
    let most = (old.len() + new.len()).min(MAX_EDITS) as i64;
    let middle = most + 1;
    // How far down `old` each diagonal reaches; its place is the diagonal plus `middle`.
    let mut reach = vec![0_i64; 2 * middle as usize + 1];
    let mut history: Vec<Vec<i64>> = Vec::new();
    for n_edits in 0..=most {
        history.push(reach[(middle - n_edits - 1) as usize..=(middle + n_edits + 1) as usize].to_vec());
        for diagonal in (-n_edits..=n_edits).step_by(2) {
            let at = (middle + diagonal) as usize;
            let is_added = diagonal == -n_edits || (diagonal != n_edits && reach[at - 1] < reach[at + 1]);
            let mut x = if is_added { reach[at + 1] } else { reach[at - 1] + 1 };
            while x < n_old && x - diagonal < n_new && old[x as usize] == new[(x - diagonal) as usize] {
                x += 1;
            }
            reach[at] = x;
            if n_old <= x && n_new <= x - diagonal {
                return Some(trace_back(old, new, &history));
            }
        }
    }
    None
}

/// The edits that led to the end, from what each number of edits had reached.
fn trace_back<'a>(old: &[&'a str], new: &[&'a str], history: &[Vec<i64>]) -> Vec<(WordChange, &'a str)> {
    let (mut x, mut y) = (old.len() as i64, new.len() as i64);
    let mut edits = Vec::new();
    for (n_edits, reach) in history.iter().enumerate().rev() {
        let n_edits = n_edits as i64;
        let reached = |diagonal: i64| reach[(diagonal + n_edits + 1) as usize];
        let diagonal = x - y;
        let is_added =
            diagonal == -n_edits || (diagonal != n_edits && reached(diagonal - 1) < reached(diagonal + 1));
        let from = if is_added { diagonal + 1 } else { diagonal - 1 };
        let (old_x, old_y) = if n_edits == 0 { (0, 0) } else { (reached(from), reached(from) - from) };
        while old_x < x && old_y < y {
            (x, y) = (x - 1, y - 1);
            edits.push((WordChange::Same, old[x as usize]));
        }
        if n_edits == 0 {
            break;
        }
        if is_added {
            y -= 1;
            edits.push((WordChange::Added, new[y as usize]));
        } else {
            x -= 1;
            edits.push((WordChange::Removed, old[x as usize]));
        }
    }
    edits.reverse();
    edits
}

fn push_word(runs: &mut Vec<WordRun>, change: WordChange, word: &str) {
    match runs.last_mut() {
        Some(last) if last.change == change => last.text.push_str(word),
        _ => runs.push(WordRun { change, text: word.to_owned() }),
    }
}

/// Of neighbouring changes one removal and one addition; a space between two changed words changed with them.
fn join_changes(runs: Vec<WordRun>) -> Vec<WordRun> {
    let mut joined: Vec<WordRun> = Vec::new();
    let (mut removed, mut added) = (String::new(), String::new());
    let flush = |joined: &mut Vec<WordRun>, removed: &mut String, added: &mut String| {
        for (change, text) in [(WordChange::Removed, removed), (WordChange::Added, added)] {
            if !text.is_empty() {
                joined.push(WordRun { change, text: std::mem::take(text) });
            }
        }
    };
    let n_runs = runs.len();
    for (at, run) in runs.into_iter().enumerate() {
        match run.change {
            WordChange::Removed => removed.push_str(&run.text),
            WordChange::Added => added.push_str(&run.text),
            WordChange::Same => {
                let is_between = !removed.is_empty() && !added.is_empty() && at + 1 < n_runs;
                if is_between && run.text.trim().is_empty() {
                    removed.push_str(&run.text);
                    added.push_str(&run.text);
                } else {
                    flush(&mut joined, &mut removed, &mut added);
                    joined.push(run);
                }
            }
        }
    }
    flush(&mut joined, &mut removed, &mut added);
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(before: &str, after: &str) -> String {
        let mark = |run: &WordRun| match run.change {
            WordChange::Same => run.text.clone(),
            WordChange::Removed => format!("[-{}-]", run.text),
            WordChange::Added => format!("{{+{}+}}", run.text),
        };
        diff_words(before, after).iter().map(mark).collect()
    }

    #[test]
    fn words_that_changed_are_marked() {
        assert_eq!(show("It is Paris.", "It is Lyon."), "It is [-Paris-]{+Lyon+}.");
        assert_eq!(show("a b c", "a c"), "a [-b -]c");
        assert_eq!(show("one two", "three four"), "[-one two-]{+three four+}");
        assert_eq!(show("same", "same"), "same");
        assert_eq!(show("", "new"), "{+new+}");
        assert_eq!(show("東京です", "京都です"), "[-東-]京{+都+}です");
    }

    #[test]
    fn a_change_of_white_space_alone_can_be_seen() {
        let show_text = |text: &str| {
            WordRun { change: WordChange::Added, text: text.to_owned() }.visible_text().into_owned()
        };
        assert_eq!(show_text(" \t\n"), "·→↵");
        assert_eq!(show_text("\u{a0}\r\n"), "<U+00A0><U+000D>↵");
        assert_eq!(show_text(" a\n"), " a\n");
        assert_eq!(show_text(""), "");
    }

    #[test]
    fn texts_without_a_common_word_are_replaced_in_one_piece() {
        let (old, new) = ("a ".repeat(3_000), "b\n".repeat(3_000));
        assert_eq!(diff_words(&old, &new).len(), 2);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_back(before in "[ab ,\n]{0,60}", after in "[ab ,\n]{0,60}") {
            let runs = diff_words(&before, &after);
            let without = |change: WordChange| -> String {
                runs.iter().filter(|run| run.change != change).map(|run| run.text.as_str()).collect()
            };
            prop_assert_eq!(without(WordChange::Added), before);
            prop_assert_eq!(without(WordChange::Removed), after);
        }
    }
}
