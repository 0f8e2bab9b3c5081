//! Standard output and standard error, on which text of others cannot control the terminal.
//!
//! Candidates, rubrics and replies may hold escape sequences, which set titles and clipboards and overwrite lines, C1
//! controls, which some terminals obey like escape sequences, and marks that turn the direction of writing, so that a
//! reader sees something else than what is there. On a terminal all are shown as `\\u202e`, which is also how JSON
//! writes them. Files and pipes get what there is, byte for byte. The few sequences that this program writes pass:
//! colours, links and the line of progress. Callers that print text of others remove its colours.

use std::io::{self, IsTerminal, Write};

use jurist_core::source::is_hidden_steering;

pub fn stdout() -> TerminalText<anstream::Stdout> {
    TerminalText::new(anstream::stdout(), io::stdout().is_terminal())
}

/// Text on standard error is for people, also if it is redirected.
pub fn stderr() -> TerminalText<anstream::Stderr> {
    TerminalText::new(anstream::stderr(), true)
}

/// Standard output for data, in which no sequence is ours.
pub fn data_writer<W: Write>(stdout: W) -> TerminalText<W> {
    TerminalText { has_own: false, ..TerminalText::new(stdout, io::stdout().is_terminal()) }
}

/// A stream for people to read.
#[derive(Debug)]
pub struct TerminalText<W: Write> {
    out: W,
    is_terminal: bool,
    /// Whether this program writes sequences of its own there.
    has_own: bool,
    /// The beginning of a letter or sequence whose end has not been written yet.
    begun: Vec<u8>,
}

impl<W: Write> TerminalText<W> {
    fn new(out: W, is_terminal: bool) -> Self {
        Self { out, is_terminal, has_own: true, begun: Vec::new() }
    }
}

impl<W: Write> Write for TerminalText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            // Bytes that are not UTF-8 are passed on unchanged.
            Err(error) if error.error_len().is_some() => self.begun.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        let text = String::from_utf8_lossy(&text);
        let ShownText { visible, n_bytes } = show_steering(&text, self.has_own);
        drop(self.begun.splice(0..0, text[n_bytes..].bytes()));
        self.out.write_all(visible.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The safe form of a text, and the number of bytes of the text that it contains.
struct ShownText {
    visible: String,
    n_bytes: usize,
}

/// The text with what steers a terminal written as numbers, up to a sequence that has only begun.
fn show_steering(text: &str, has_own: bool) -> ShownText {
    let (mut visible, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(letter) = text[at..].chars().next() {
        let sequence = match letter {
            '\x1b' | '\r' => find_own_sequence(&text[at..], has_own),
            _ => OwnSequence::Foreign,
        };
        let length = match sequence {
            OwnSequence::Whole(length) => length,
            OwnSequence::Begun => break,
            OwnSequence::Foreign => 0,
        };
        let is_steering =
            (letter.is_control() && letter != '\n' && letter != '\t') || is_hidden_steering(letter);
        match (length, is_steering) {
            (0, true) => visible.push_str(&format!("\\u{:04x}", u32::from(letter))),
            (0, false) => visible.push(letter),
            (length, _) => visible.push_str(&text[at..at + length]),
        }
        at += length.max(letter.len_utf8());
    }
    ShownText { visible, n_bytes: at }
}

/// Whether a text begins with a sequence that this program writes.
enum OwnSequence {
    /// So many bytes.
    Whole(usize),
    Begun,
    Foreign,
}

/// The longest numbers of a colour.
const MAX_COLOUR: usize = 24;

fn find_own_sequence(text: &str, has_own: bool) -> OwnSequence {
    let fixed: &[&str] = if has_own { &["\r\n", "\r\x1b[2K", "\x1b[2K"] } else { &["\r\n"] };
    if let Some(whole) = fixed.iter().find(|whole| text.starts_with(**whole)) {
        return OwnSequence::Whole(whole.len());
    }
    if fixed.iter().any(|whole| whole.starts_with(text)) {
        return OwnSequence::Begun;
    }
    if let Some(numbers) = text.strip_prefix("\x1b[").filter(|_| has_own) {
        return match numbers.find(|letter: char| !letter.is_ascii_digit() && letter != ';') {
            Some(end) if numbers[end..].starts_with('m') => OwnSequence::Whole("\x1b[m".len() + end),
            None if numbers.len() < MAX_COLOUR => OwnSequence::Begun,
            _ => OwnSequence::Foreign,
        };
    }
    // A link is written at once.
    let address = text.strip_prefix("\x1b]8;;").filter(|_| has_own);
    match address.and_then(|address| Some((address, address.find(char::is_control)?))) {
        Some((address, end)) if address[end..].starts_with("\x1b\\") => {
            OwnSequence::Whole("\x1b]8;;\x1b\\".len() + end)
        }
        _ => OwnSequence::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(is_terminal: bool, parts: &[&[u8]]) -> String {
        let mut out = TerminalText::new(Vec::new(), is_terminal);
        for part in parts {
            out.write_all(part).expect("memory takes it");
        }
        String::from_utf8(out.out).expect("text stays text")
    }

    #[test]
    fn marks_that_steer_are_shown_on_a_terminal_and_kept_elsewhere() {
        let text = "a\u{202e}b\u{9b}2Jc\u{2066}\x1b[1mé";
        assert_eq!(written(true, &[text.as_bytes()]), "a\\u202eb\\u009b2Jc\\u2066\x1b[1mé");
        assert_eq!(written(false, &[text.as_bytes()]), text);
        // Also where a letter or a sequence is written in two parts.
        for at in 1..text.len() {
            let (first, second) = text.as_bytes().split_at(at);
            assert_eq!(written(true, &[first, second]), written(true, &[text.as_bytes()]), "{at}");
        }
    }

    #[test]
    fn only_sequences_of_this_program_reach_a_terminal() {
        for (text, expected) in [
            ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
            ("\x1b]52;c;YQ==\x1b\\", "\\u001b]52;c;YQ==\\u001b\\"),
            ("\x1b[2Jgone", "\\u001b[2Jgone"),
            ("\x1b[?1049h", "\\u001b[?1049h"),
            ("passed\rfailed", "passed\\u000dfailed"),
            ("\x1b]8;;x\x07y", "\\u001b]8;;x\\u0007y"),
        ] {
            assert_eq!(written(true, &[text.as_bytes()]), expected);
            assert_eq!(written(false, &[text.as_bytes()]), text);
        }
        for own in [
            "\x1b[1;33mnote\x1b[0m\ta\r\n",
            "\r\x1b[2K3 of 4",
            "\x1b]8;;https://jurist.example.org/runs/x\x1b\\run\x1b]8;;\x1b\\",
        ] {
            assert_eq!(written(true, &[own.as_bytes()]), own);
        }
        let mut data = TerminalText { has_own: false, ..TerminalText::new(Vec::new(), true) };
        data.write_all(b"\x1b[31mred\r\n").expect("memory takes it");
        assert_eq!(data.out, b"\\u001b[31mred\r\n");
    }
}
