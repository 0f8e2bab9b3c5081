//! Problems of a user's file, each with its place and a suggested fix.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;

use crate::redact::redact;
use crate::source::{SourceSpan, Sources};

/// One problem, shown with its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub severity: DiagnosticSeverity,
    pub code: Code,
    pub span: SourceSpan,
    pub message: String,
    /// A few words next to the excerpt.
    pub label: Option<String>,
    /// Other places that belong to the problem.
    pub also: Vec<(SourceSpan, String)>,
    /// What one should know: allowed values, the default.
    pub notes: Vec<String>,
    /// Suggested fix.
    pub help: Option<String>,
    /// Suggested text in place of that at `span`.
    pub replacement: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticSeverity {
    /// Nothing runs.
    Error,
    /// It runs, and probably not as meant.
    Warning,
    /// A valid rubric that could be a better one.
    Advice,
}

macro_rules! codes {
    ($($variant:ident $name:literal $meaning:literal,)*) => {
        /// The kind of a problem; a stable name that editors and scripts can match.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $meaning] $variant,)* }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

codes! {
    Unreadable "unreadable" "A file is missing, is not text, or may not be read.",
    Outside "outside" "A path leads out of the project.",
    Empty "empty" "A required value is empty.",
    TooLarge "too-large" "A file, or what its aliases expand to, is beyond the limits.",
    TooDeep "too-deep" "Lists and mappings nest beyond the limits.",
    Syntax "syntax" "The text is not YAML or JSON.",
    Tab "tab" "A line is indented with a tab.",
    DuplicateKey "duplicate-key" "A key is given twice in one mapping.",
    UnknownDialect "unknown-dialect" "The keys of the file fit no dialect, or two of them.",
    UnknownKey "unknown-key" "A key that does not exist at this place.",
    MissingKey "missing-key" "A key that must be there is not.",
    WrongType "wrong-type" "A value of another type than the key takes.",
    BadValue "bad-value" "A value of the right type that is not allowed.",
    Conflict "conflict" "Two keys that exclude each other.",
    DuplicateId "duplicate-id" "Two things carry the same id.",
    UnknownName "unknown-name" "A reference to something that is not defined.",
    Cycle "cycle" "Things that refer to each other in a circle.",
    Unreachable "unreachable" "A part of a tree or graph that no path leads to.",
    Unsupported "unsupported" "Something that exists elsewhere and that Jurist cannot do.",
    MissingVariable "missing-variable" "An environment variable or row field that is not set.",
    BadRow "bad-row" "A row of a data file that cannot be used.",
    Scale "scale" "Scale points, ranges or levels that make no scale.",
    NoEffect "no-effect" "Something that is valid and does nothing.",
    Vague "vague" "Advice: a criterion that two people would read differently.",
    DoubleBarrelled "double-barrelled" "Advice: a criterion that asks two things at once.",
    TooMany "too-many" "Advice: too many criteria for a grader to distinguish.",
    MissingLevels "missing-levels" "Advice: scale points without a text.",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Diagnostic {
    pub fn error(code: Code, span: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Error, code, span, message.into())
    }

    pub fn warning(code: Code, span: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Warning, code, span, message.into())
    }

    pub fn advice(code: Code, span: SourceSpan, message: impl Into<String>) -> Self {
        Self::new(DiagnosticSeverity::Advice, code, span, message.into())
    }

    fn new(severity: DiagnosticSeverity, code: Code, span: SourceSpan, message: String) -> Self {
        Self {
            severity,
            code,
            span,
            message,
            label: None,
            also: Vec::new(),
            notes: Vec::new(),
            help: None,
            replacement: None,
        }
    }

    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    #[must_use]
    pub fn also(mut self, span: SourceSpan, label: impl Into<String>) -> Self {
        self.also.push((span, label.into()));
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Offers the name in `known` that was probably meant instead of `written`, or lists what there is.
    #[must_use]
    pub fn suggest<'a>(self, written: &str, known: impl IntoIterator<Item = &'a str>, what: &str) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let meant = closest(written, &known);
        self.offer(meant, &known, what)
    }

    /// Offers the name that was probably meant, or lists what there is.
    #[must_use]
    pub fn offer(mut self, meant: Option<&str>, known: &[&str], what: &str) -> Self {
        if let Some(name) = meant {
            self.help = Some(format!("did you mean `{name}`?"));
            self.replacement = Some(name.to_owned());
        }
        // A long list would hide the right answer.
        if !known.is_empty() && (self.replacement.is_none() || known.len() <= 8) {
            self.notes.push(format!("{what}: {}", known.join(", ")));
        }
        self
    }

    /// The form for editors and scripts.
    pub fn to_json(&self, sources: &Sources) -> serde_json::Value {
        let (start, end) = (sources.place(self.span), sources.place_end(self.span));
        let file = |span: SourceSpan| sources.get(span.file).path.display().to_string();
        let also: Vec<serde_json::Value> = self
            .also
            .iter()
            .map(|(span, label)| {
                let at = sources.place(*span);
                serde_json::json!({ "file": file(*span), "line": at.line, "column": at.column, "label": label })
            })
            .collect();
        serde_json::json!({
            "file": file(self.span),
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
            "severity": self.severity,
            "code": self.code.name(),
            "message": self.message,
            "label": self.label,
            // A line of the file may contain a key.
            "excerpt": redact(sources.line(self.span)),
            "also": also,
            "notes": self.notes,
            "help": self.help,
            "replacement": self.replacement,
        })
    }
}

/// The known name that `written` is most likely a slip of the keyboard for.
pub fn closest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let folded = fold(written);
    let n_written = written.chars().count();
    let allowed = (n_written / 3).max(1);
    known
        .iter()
        // Texts are at least as many changes apart as their lengths differ.
        .filter(|known| known.chars().count().abs_diff(n_written) <= allowed)
        .map(|&known| (strsim::damerau_levenshtein(&folded, &fold(known)), known))
        .filter(|(distance, text)| *distance <= allowed && *distance < text.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, text)| text)
}

/// More than anybody reads are counted, not kept: a broken file of megabytes must not fill the memory.
const MAX_STORED: usize = 10_000;

/// Everything found while reading, in the order it was found.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    /// How many were found and not kept.
    left_out: SeverityCounts,
    stored: SeverityCounts,
    all: Vec<Diagnostic>,
    known: HashSet<(SourceSpan, Code, String)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SeverityCounts {
    errors: usize,
    warnings: usize,
    advice: usize,
}

impl SeverityCounts {
    fn of(&mut self, severity: DiagnosticSeverity) -> &mut usize {
        match severity {
            DiagnosticSeverity::Error => &mut self.errors,
            DiagnosticSeverity::Warning => &mut self.warnings,
            DiagnosticSeverity::Advice => &mut self.advice,
        }
    }
}

impl Diagnostics {
    /// Much advice leaves no less room for errors: each severity has its own.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let severity = diagnostic.severity;
        if MAX_STORED <= *self.stored.of(severity) {
            *self.left_out.of(severity) += 1;
            return;
        }
        // A value reached through an alias, or a shared file, has its faults once.
        if self.known.insert((diagnostic.span, diagnostic.code, diagnostic.message.clone())) {
            *self.stored.of(severity) += 1;
            self.all.push(diagnostic);
        }
    }

    /// Errors and warnings that were found and not kept, because there were too many.
    pub fn n_left_out(&self) -> usize {
        self.left_out.errors + self.left_out.warnings
    }

    /// Advice that was found and not kept.
    pub fn n_advice_left_out(&self) -> usize {
        self.left_out.advice
    }

    pub fn has_errors(&self) -> bool {
        0 < self.n_errors()
    }

    pub fn n_errors(&self) -> usize {
        self.stored.errors + self.left_out.errors
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.all.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// In the order a reader meets them: by file, then by place.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.all.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start, diagnostic.severity));
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_keyboard_find_their_key() {
        let known = ["weight", "required", "description", "min_score"];
        for (written, meant) in [
            ("wieght", Some("weight")),
            ("Weight", Some("weight")),
            ("min-score", Some("min_score")),
            ("requierd", Some("required")),
            ("colour", None),
        ] {
            assert_eq!(closest(written, &known), meant, "{written}");
        }
    }
}
