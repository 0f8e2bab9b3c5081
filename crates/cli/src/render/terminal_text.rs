//! Standard output and standard error, on which text of others cannot control the terminal.
//!
//! Candidates, rubrics and replies may hold C1 controls, which some terminals obey like escape sequences, and marks
//! that turn the direction of writing, so that a reader sees something else than what is there. On a terminal both are
//! shown as `\\u202e`, which is also how JSON writes them. Files and pipes get what there is, byte for byte.
//! Escape sequences pass: they are ours, and callers that print text of others remove its sequences.

use std::io::{self, IsTerminal, Write};

use jurist_core::source::is_hidden_steering;

pub fn stdout() -> TerminalText<anstream::Stdout> {
    TerminalText::new(anstream::stdout(), io::stdout().is_terminal())
}

/// Text on standard error is for people, also if it is redirected.
pub fn stderr() -> TerminalText<anstream::Stderr> {
    TerminalText::new(anstream::stderr(), true)
}

/// A stream for people to read.
#[derive(Debug)]
pub struct TerminalText<W: Write> {
    out: W,
    is_terminal: bool,
    /// The beginning of a letter whose end has not been written yet.
    begun: Vec<u8>,
}

impl<W: Write> TerminalText<W> {
    fn new(out: W, is_terminal: bool) -> Self {
        Self { out, is_terminal, begun: Vec::new() }
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
        self.out.write_all(show_steering(&String::from_utf8_lossy(&text)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The text with marks that steer a terminal written as numbers.
fn show_steering(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_hidden_steering(letter) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => shown.push(letter),
        }
    }
    shown
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
        // Also where a letter is written in two parts.
        for at in 1..text.len() {
            let (first, second) = text.as_bytes().split_at(at);
            assert_eq!(written(true, &[first, second]), written(true, &[text.as_bytes()]), "{at}");
        }
    }
}
