//! Diagnostics on a terminal.

mod terminal_text;

use std::io::{IsTerminal, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};
use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity};
use jurist_core::redact::redact;
use jurist_core::source::{SourceSpan, Sources, is_hidden_steering};

pub use self::terminal_text::{data_writer, stderr, stdout};
use crate::book::read_more;

/// Longer lines are not shown a second time with the suggestion in them.
const WIDE: usize = 400;

/// The largest number of problems of one file that are printed; the others are counted.
const MAX_DIAGNOSTICS: usize = 50;

/// Prints diagnostics the way compilers do: place, excerpt, suggested fix.
pub fn print_diagnostics(diagnostics: &[Diagnostic], sources: &Sources) -> std::io::Result<()> {
    let mut err = stderr();
    for diagnostic in diagnostics.iter().take(MAX_DIAGNOSTICS) {
        writeln!(err, "{}\n", render_diagnostic(diagnostic, sources))?;
    }
    if MAX_DIAGNOSTICS < diagnostics.len() {
        writeln!(err, "… and {} more; --format json lists them all\n", diagnostics.len() - MAX_DIAGNOSTICS)?;
    }
    // Logs of CI need no advice on how to read.
    if !diagnostics.is_empty() && std::io::stderr().is_terminal() {
        writeln!(err, "what each code means: jurist docs diagnostics\n")?;
    }
    Ok(())
}

/// One diagnostic as text with colours, which the stream strips where they are not wanted.
pub fn render_diagnostic(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let level = match diagnostic.severity {
        DiagnosticSeverity::Error => Level::ERROR,
        DiagnosticSeverity::Warning => Level::WARNING,
        DiagnosticSeverity::Advice => Level::HELP.with_name("advice"),
    };
    let title = level.primary_title(printable(&diagnostic.message)).id(diagnostic.code.name());
    let source = sources.get(diagnostic.span.file);
    let path = source.path.display().to_string();
    if source.text.is_empty() {
        let group = Group::with_title(title).element(annotate_snippets::Origin::path(path));
        return Renderer::styled().render(&append_diagnostic_notes(group, diagnostic));
    }
    let spans = diagnostic.also.iter().map(|(span, _)| *span).chain([diagnostic.span]);
    let local: Vec<SourceSpan> = spans.filter(|span| span.file == diagnostic.span.file).collect();
    let first = local.iter().map(|source_span| source_span.start).min().unwrap_or(0);
    let last = local.iter().map(|source_span| source_span.start).max().unwrap_or(0);
    let (offset, text) = source.lines_around(first..last, 0);
    let line_start = sources.place(SourceSpan { start: first, end: first, ..diagnostic.span }).line;
    let range = |span: SourceSpan| {
        let start = (span.start as usize).saturating_sub(offset).min(text.len());
        let line_end = text[start..].find('\n').map_or(text.len(), |n| start + n);
        start..(span.end as usize).saturating_sub(offset).clamp(start, line_end)
    };
    let mut primary = AnnotationKind::Primary.span(range(diagnostic.span));
    if let Some(label) = &diagnostic.label {
        primary = primary.label(printable(label));
    }
    let mut snippet = Snippet::source(text).line_start(line_start).path(&path).annotation(primary);
    for (span, label) in diagnostic.also.iter().filter(|also| also.0.file == diagnostic.span.file) {
        snippet = snippet.annotation(AnnotationKind::Context.span(range(*span)).label(printable(label)));
    }
    let mut groups = append_diagnostic_notes(Group::with_title(title).element(snippet), diagnostic);
    let fits_a_screen = text.lines().all(|line| line.len() <= WIDE);
    if let (Some(replacement), Some(help), true) = (&diagnostic.replacement, &diagnostic.help, fits_a_screen)
    {
        let patch = Snippet::source(text)
            .line_start(line_start)
            .path(&path)
            .patch(Patch::new(range(diagnostic.span), replacement.clone()));
        groups.push(Group::with_title(Level::HELP.secondary_title(printable(help))).element(patch));
    }
    // The lines of the file may contain a key.
    redact(&Renderer::styled().decor_style(DecorStyle::Ascii).render(&groups).to_string()).into_owned()
}

fn append_diagnostic_notes<'a>(mut group: Group<'a>, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(printable(note)));
    }
    if let (None, Some(help)) = (&diagnostic.replacement, &diagnostic.help) {
        group = group.element(Level::HELP.message(printable(help)));
    }
    vec![group]
}

/// Text of a file or a model may contain escape sequences that control a terminal.
pub fn printable(text: &str) -> String {
    let is_steering = |letter: char| {
        (letter.is_control() && letter != '\n' && letter != '\t') || is_hidden_steering(letter)
    };
    text.chars().map(|letter| if is_steering(letter) { '\u{fffd}' } else { letter }).collect()
}

/// A note at the end of a command, for people; scripts read the exit code.
pub fn print_terminal_summary(text: &str) {
    if std::io::stderr().is_terminal() {
        let _ = writeln!(stderr(), "{text}");
    }
}

/// A word at the end that scripts' logs need as well.
pub fn print_note(text: &str) {
    let _ = writeln!(stderr(), "{text}");
}

/// Shows progress: one line at the bottom of a terminal, or an occasional line in a log.
pub struct ProgressLine {
    last_shown: std::time::Instant,
    is_terminal: bool,
    is_drawn: bool,
    is_quiet: bool,
}

impl ProgressLine {
    pub fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { last_shown: std::time::Instant::now(), is_terminal, is_drawn: false, is_quiet: false }
    }

    /// Without progress, if only results are requested.
    pub fn quiet(self, is_quiet: bool) -> Self {
        Self { is_quiet, ..self }
    }

    pub fn show(&mut self, text: impl FnOnce() -> String) {
        let pause = std::time::Duration::from_millis(if self.is_terminal { 100 } else { 30_000 });
        if self.is_quiet || self.last_shown.elapsed() < pause {
            return;
        }
        if self.is_terminal {
            let text = text();
            let _ = write!(stderr(), "\r\x1b[2K{}", cut_to_columns(&text, progress_columns()));
            self.is_drawn = true;
        } else {
            print_note(&text());
        }
        self.last_shown = std::time::Instant::now();
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = write!(stderr(), "\r\x1b[2K");
        }
    }
}

/// How wide the terminal is that shows progress. The last column stays free, because some terminals wrap there.
fn progress_columns() -> usize {
    terminal_size::terminal_size_of(std::io::stderr())
        .map_or(usize::MAX, |size| usize::from(size.0.0).saturating_sub(1))
}

/// A line that wraps could not be erased by the next one.
fn cut_to_columns(text: &str, columns: usize) -> &str {
    text.char_indices().nth(columns).map_or(text, |(end, _)| &text[..end])
}

/// How wide the terminal is that reads standard output; a file or a pipe has no end.
pub fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// A message for people while the command continues.
pub fn print_warning(text: &str) {
    // The warning replaces the progress line.
    if std::io::stderr().is_terminal() {
        let _ = write!(stderr(), "\r\x1b[2K");
    }
    let title = Level::WARNING.primary_title(printable(text));
    let _ = writeln!(stderr(), "{}", Renderer::styled().render(&[Group::with_title(title)]));
}

/// The page of the book that helps with an error, after the error.
pub fn print_page(page: &str) {
    let _ = writeln!(stderr(), "{}", read_more(page));
}

/// An error that has no place in a file.
pub fn print_error(text: &str) {
    let title = Level::ERROR.primary_title(printable(text));
    let _ = writeln!(stderr(), "{}", Renderer::styled().render(&[Group::with_title(title)]));
}
