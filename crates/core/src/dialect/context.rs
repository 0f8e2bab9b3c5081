//! Reading under way: the surroundings of a file, everything opened and everything found so far.

mod optional_files;
mod row_problems;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use row_problems::RowProblems;

use crate::diagnostic::{Code, Diagnostic, DiagnosticSeverity, Diagnostics};
use crate::redact::{is_secret_value, is_secret_variable};
use crate::source::{FileId, NodeEntry, NodeShape, Scalar, SourceNode, SourceSpan, Sources};
use crate::suite::{CaseOrigin, EnvironmentVariable, FilledVariables};
use crate::{syntax, template};

/// What a dialect may ask of the world; `engine` answers.
pub struct ProjectEnvironment<'a> {
    /// The folder that no path leaves.
    pub root: PathBuf,
    pub read: &'a dyn Fn(&Path) -> Result<Arc<str>, ReadError>,
    /// Files that a pattern matches, sorted.
    pub glob: &'a dyn Fn(&Path) -> Result<Vec<PathBuf>, ReadError>,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether `{{ env.X }}` is filled in everywhere, or only where a path needs it.
    pub variables: VariableExpansion,
    /// Calls a function of a script that a file asks for, such as one that makes its tests.
    pub call: &'a dyn Fn(&ScriptCall<'_>) -> ScriptAnswer,
}

/// A function of a script, and what it is given.
#[derive(Debug, Clone)]
pub struct ScriptCall<'a> {
    pub source: ScriptSource<'a>,
    pub arguments: &'a [serde_json::Value],
}

#[derive(Debug, Clone, Copy)]
pub enum ScriptSource<'a> {
    /// A function of a file; of a Python file the `usual` one where none is named.
    File { path: &'a Path, function: Option<&'a str>, usual: &'a str },
    /// JavaScript, an expression or the body of a function, over `vars` and `context`.
    JavaScript(&'a str),
    /// A Python file that is run as a whole, with what it is called with as JSON after its name; what it prints is the
    /// answer.
    PythonProgram(&'a Path),
    /// A program with its arguments; what it is called with follows as JSON, and what it prints is the answer.
    Program(&'a str),
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptAnswer {
    Value(serde_json::Value),
    /// Nothing is run, since the suite is only looked at.
    Skipped,
    /// It may not be run, or it failed.
    Refused(String),
}

/// Runs nothing: for suites that strangers write.
pub fn refuse_scripts(_: &ScriptCall<'_>) -> ScriptAnswer {
    ScriptAnswer::Refused("scripts are not run here".to_owned())
}

/// A suite that is only shown must not show what the environment keeps secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VariableExpansion {
    #[default]
    Filled,
    Kept,
}

impl std::fmt::Debug for ProjectEnvironment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectEnvironment").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Why a file cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("there is no such file")]
    Missing,
    #[error("it is outside the project")]
    Outside,
    #[error("it is a folder")]
    Folder,
    #[error("it is not text (UTF-8); byte {0} does not fit")]
    NotText(usize),
    /// Than this many bytes.
    #[error("it is larger than {} MiB", .0 >> 20)]
    TooLarge(usize),
    /// A dataset, where a file is only looked at.
    #[error("its rows are known only in a run")]
    Unresolved,
    #[error("{0}")]
    Other(String),
}

/// How much a file may grow by its variables: a few kilobytes can repeat a long value a thousand times in each of a
/// thousand tests.
const MAX_FILLED_BYTES: usize = 256 << 20;

/// How much work the patterns of a file may take to compile where strangers send files: about the states of their
/// automata. A check of a date takes 1,250.
pub(super) const MAX_PATTERN_WORK: u64 = 50_000_000;

/// A variable that the suite sets itself.
struct OwnVariable {
    value: String,
    is_used: bool,
}

/// Reading under way: the surroundings, every file opened so far, everything found so far.
pub(super) struct Context<'a> {
    pub(super) world: &'a ProjectEnvironment<'a>,
    pub(super) sources: RefCell<Sources>,
    found: RefCell<Diagnostics>,
    /// Files of tests whose rows share problems.
    row_problems: RefCell<BTreeMap<FileId, RowProblems>>,
    n_errors: Cell<usize>,
    /// Bytes of tests and prompts that were copied, and of values that were filled in.
    n_filled_bytes: Cell<usize>,
    /// Work that is left for compiling patterns; `None` once it was not enough.
    pattern_work_left: Cell<Option<u64>>,
    /// Variables of the environment that were filled in, except in the settings of the project.
    filled: RefCell<FilledVariables>,
    /// Variables that the suite sets itself, before those of the environment.
    own_variables: RefCell<BTreeMap<String, OwnVariable>>,
    /// Providers of a promptfoo file, by id and label: its judges may name them.
    pub(super) suite_providers: RefCell<BTreeMap<String, SourceNode>>,
    /// Every key that was asked for, by the kind of mapping; a test holds the schema against it.
    #[cfg(test)]
    pub(super) asked: RefCell<RequestedKeys>,
}

#[cfg(test)]
pub(super) type RequestedKeys = BTreeMap<&'static str, BTreeSet<&'static str>>;

impl<'a> Context<'a> {
    pub(super) fn new(world: &'a ProjectEnvironment<'a>, max_pattern_work: u64) -> Self {
        Self {
            world,
            sources: RefCell::default(),
            found: RefCell::default(),
            row_problems: RefCell::default(),
            n_errors: Cell::new(0),
            n_filled_bytes: Cell::new(0),
            pattern_work_left: Cell::new(Some(max_pattern_work)),
            filled: RefCell::default(),
            own_variables: RefCell::default(),
            suite_providers: RefCell::default(),
            #[cfg(test)]
            asked: RefCell::default(),
        }
    }

    pub(super) fn finish(self) -> (Sources, Diagnostics) {
        let mut found = self.found.into_inner();
        for problems in self.row_problems.into_inner().into_values() {
            problems.into_diagnostics().for_each(|diagnostic| found.push(diagnostic));
        }
        (self.sources.into_inner(), found)
    }

    #[cfg(test)]
    pub(super) fn requested_keys(self) -> RequestedKeys {
        self.asked.into_inner()
    }

    pub(super) fn report(&self, mut diagnostic: Diagnostic) {
        if let Some(replacement) = &mut diagnostic.replacement {
            let sources = self.sources.borrow();
            let SourceSpan { file, start, end } = diagnostic.span;
            let written = &sources.get(file).text[start as usize..end as usize];
            if let Some(quote) = written.chars().next().filter(|letter| ['"', '\''].contains(letter)) {
                *replacement = format!("{quote}{replacement}{quote}");
            }
        }
        if diagnostic.severity == DiagnosticSeverity::Error {
            self.n_errors.set(self.n_errors.get() + 1);
        }
        let unmerged = match self.row_problems.borrow_mut().get_mut(&diagnostic.span.file) {
            Some(problems) => {
                let line = self.line_of(diagnostic.span);
                problems.add(diagnostic, line)
            }
            None => Some(diagnostic),
        };
        if let Some(diagnostic) = unmerged {
            self.found.borrow_mut().push(diagnostic);
        }
    }

    pub(super) fn error(&self, code: Code, span: SourceSpan, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    /// From here on, a problem that several rows of a file have is reported once, with their number.
    pub(super) fn merge_row_problems(&self, file: FileId) {
        self.row_problems.borrow_mut().entry(file).or_default();
    }

    /// Number of errors so far; a caller compares two values to find out whether errors were added in between.
    pub(super) fn n_errors(&self) -> usize {
        self.n_errors.get()
    }

    /// Opens a file at a given path, or says at `span` why not.
    pub(super) fn open(&self, path: &Path, span: SourceSpan) -> Option<FileId> {
        if let Some(file) = self.sources.borrow().find(path) {
            return Some(file);
        }
        match (self.world.read)(path) {
            Ok(text) => Some(self.sources.borrow_mut().add(path, text)),
            Err(error) => {
                self.report(unreadable(&error, path, span));
                None
            }
        }
    }

    pub(super) fn parse(&self, file: FileId) -> Option<SourceNode> {
        syntax::parse_document(&self.sources.borrow(), file, &mut self.found.borrow_mut())
    }

    pub(super) fn text_of(&self, file: FileId) -> Arc<str> {
        Arc::clone(&self.sources.borrow().get(file).text)
    }

    pub(super) fn path_of(&self, file: FileId) -> PathBuf {
        self.sources.borrow().get(file).path.clone()
    }

    /// The file and line of a place, to be kept with what is read there.
    pub(super) fn origin(&self, span: SourceSpan) -> CaseOrigin {
        let file = self.sources.borrow().get(span.file).path.display().to_string();
        CaseOrigin { file, line: self.line_of(span), suite: None }
    }

    /// The line on which a span starts, from 1.
    pub(super) fn line_of(&self, span: SourceSpan) -> u32 {
        self.sources.borrow().get(span.file).line_number(span.start)
    }

    /// The place of a line, which is counted from 1.
    pub(super) fn span_of_line(&self, file: FileId, line: u32) -> SourceSpan {
        let bytes = self.sources.borrow().get(file).bytes_of_line(line);
        SourceSpan { file, start: bytes.start, end: bytes.end }
    }

    /// A file that `reference` names: next to the file with the reference, or in a folder above, up to the project's root.
    pub(super) fn find(&self, reference: &str, span: SourceSpan) -> Option<FileId> {
        if reference.contains("{{") {
            return None; // A variable that is not set has been reported.
        }
        let from = self.path_of(span.file);
        let written = Path::new(reference);
        if written.is_absolute() {
            return self.open(&remove_dots(written), span);
        }
        let beside = from.parent().unwrap_or(Path::new("")).to_owned();
        let mut folder = beside.as_path();
        loop {
            let path = remove_dots(&folder.join(written));
            if let Some(file) = self.sources.borrow().find(&path) {
                return Some(file);
            }
            match (self.world.read)(&path) {
                Ok(text) => return Some(self.sources.borrow_mut().add(path, text)),
                Err(ReadError::Missing) => {}
                Err(error) => {
                    self.report(unreadable(&error, written, span));
                    return None;
                }
            }
            match folder.parent() {
                Some(parent) if folder != self.world.root && folder.starts_with(&self.world.root) => {
                    folder = parent;
                }
                _ => break,
            }
        }
        self.report(unreadable(&ReadError::Missing, written, span).note(
            "looked in the folder of this file, then in each folder above it up to the project's root",
        ));
        None
    }

    pub(super) fn filled_variables(&self) -> FilledVariables {
        self.filled.borrow().clone()
    }

    /// Counts bytes that variables add to the file. Whether they may be added: beyond [`MAX_FILLED_BYTES`] nothing
    /// is, and the first that is not is an error at `span`.
    pub(super) fn spend_filled_bytes(&self, n_bytes: usize, span: SourceSpan) -> bool {
        let before = self.n_filled_bytes.get();
        let after = before.saturating_add(n_bytes);
        self.n_filled_bytes.set(after);
        if before <= MAX_FILLED_BYTES && MAX_FILLED_BYTES < after {
            let message = format!(
                "with their variables filled in, the tests have more than {} MiB of text",
                MAX_FILLED_BYTES >> 20
            );
            self.error(Code::TooLarge, span, message);
        }
        after <= MAX_FILLED_BYTES
    }

    /// Whether the work of compiling patterns is still within the limit; it does not count here.
    pub(super) fn has_pattern_work(&self, work: u64) -> bool {
        self.pattern_work_left.get().is_some_and(|left| work <= left)
    }

    /// Counts the work of compiling patterns. Whether they may be compiled: the first that may not is an error at
    /// `span`, and none after it is compiled.
    pub(super) fn spend_pattern_work(&self, work: u64, span: SourceSpan) -> bool {
        let Some(left) = self.pattern_work_left.get() else { return false };
        let rest = left.checked_sub(work);
        self.pattern_work_left.set(rest);
        if rest.is_none() {
            self.report(
                Diagnostic::error(Code::TooLarge, span, "the patterns of this file take too long to compile")
                    .label("this one and those after it were not compiled")
                    .note("a server limits the work for one file, because files may come from strangers")
                    .help("use fewer patterns, or lower counts in them, such as `{1,20}`"),
            );
        }
        rest.is_some()
    }

    /// Replaces `{{ name }}` where `with` knows the name, as long as the file may grow.
    pub(super) fn fill_names(
        &self,
        text: &str,
        span: SourceSpan,
        with: impl Fn(&str) -> Option<String>,
    ) -> String {
        template::replace(text, |name| with(name).filter(|value| self.spend_filled_bytes(value.len(), span)))
    }

    /// Fills in `{{ env.X }}`; a variable that is not set is an error at `span`.
    pub(super) fn expand(&self, text: &str, span: SourceSpan) -> String {
        match self.world.variables {
            VariableExpansion::Filled => self.expand_path(text, span),
            // What the file itself sets is no secret, and the converted file does not set it.
            VariableExpansion::Kept => template::replace(text, |name| {
                let variable = EnvironmentVariable::parse(name)?.ok()?;
                self.own_variable(variable.name, span)
            }),
        }
    }

    /// Sets a variable that `{{ env.X }}` names in this suite.
    pub(super) fn set_own_variable(&self, name: &str, value: String) {
        self.own_variables.borrow_mut().insert(name.to_owned(), OwnVariable { value, is_used: false });
    }

    /// Whether a text was filled in with a variable that the file itself sets.
    pub(super) fn uses_own_variable(&self, name: &str) -> bool {
        self.own_variables.borrow().get(name).is_some_and(|variable| variable.is_used)
    }

    fn own_variable(&self, name: &str, span: SourceSpan) -> Option<String> {
        let is_of_settings = self.path_of(span.file).ends_with(SETTINGS_FILE);
        let mut variables = self.own_variables.borrow_mut();
        let variable = variables.get_mut(name).filter(|_| !is_of_settings)?;
        variable.is_used = true;
        Some(variable.value.clone())
            .filter(|value| !is_secret_variable(name) && !is_secret_value(name, value))
    }

    /// Like [`Self::expand`], for a text that leads to a file.
    pub(super) fn expand_path(&self, text: &str, span: SourceSpan) -> String {
        if !text.contains("{{") {
            return text.to_owned();
        }
        let mut names = BTreeSet::new();
        let filled = template::replace(text, |name| {
            let EnvironmentVariable { name, default } = match EnvironmentVariable::parse(name)? {
                Ok(variable) => variable,
                Err(error) => {
                    self.error(Code::Unsupported, span, error.to_string());
                    return None;
                }
            };
            let is_of_settings = self.path_of(span.file).ends_with(SETTINGS_FILE);
            let refuse = |what: &str| {
                let message = format!("`{name}` {what}, and this text is sent to models and reports");
                let help = "name the variable in `.jurist/config.yaml` or in a server's `env` instead";
                self.report(Diagnostic::error(Code::BadValue, span, message).help(help));
            };
            if is_secret_variable(name) && !is_of_settings {
                refuse("looks like a secret");
                return None;
            }
            if let Some(own) = self.own_variable(name, span) {
                return Some(own);
            }
            let own = || self.own_variables.borrow().get(name).map(|variable| variable.value.clone());
            let found = own().filter(|_| !is_of_settings).or_else(|| (self.world.variable)(name));
            if !is_of_settings && found.as_ref().is_some_and(|value| is_secret_value(name, value)) {
                refuse("holds an address with a password");
                return None;
            }
            if !is_of_settings && found.is_some() {
                names.insert(name.to_owned());
            }
            // AgentV's own variable has a value even if the environment does not set it.
            let root = || (name == "AGENTV_REPO_ROOT").then(|| self.world.root.display().to_string());
            let value = found.or_else(root).or_else(|| default.map(str::to_owned));
            if value.is_none() {
                self.report(
                    Diagnostic::error(
                        Code::MissingVariable,
                        span,
                        format!("the variable `{name}` is not set"),
                    )
                    .help(format!(
                        "set it: `export {name}=…`, or give a value to use without it: `{{{{ env.{name} | default(\"…\") }}}}`"
                    )),
                );
            }
            value
        });
        let mut variables = self.filled.borrow_mut();
        variables.names.extend(names.iter().cloned());
        if !names.is_empty() && may_be_address(&filled) {
            variables.by_address.entry(filled.clone()).or_default().extend(names);
        }
        filled
    }

    /// What a function of a script answers; `None` where it was not called or failed, which is reported.
    pub(super) fn call_script(
        &self,
        reference: &str,
        usual: &str,
        arguments: &[serde_json::Value],
        span: SourceSpan,
    ) -> Option<serde_json::Value> {
        let is_function = |name: &str| !name.is_empty() && !name.contains(['/', '\\']);
        let (path, function) = match reference.rsplit_once(':') {
            Some((path, function)) if is_function(function) => (path, Some(function)),
            _ => (reference, None),
        };
        let path = self.path_of(self.find(path, span)?);
        let source = ScriptSource::File { path: &path, function, usual };
        let name = format!("`{reference}`");
        self.answer_of_script((self.world.call)(&ScriptCall { source, arguments }), &name, span)
    }

    /// What the function of a script makes of a prompt's variables, or, as in promptfoo, what a Python file prints that
    /// names no function. A file that defines `get_prompt` was written for its function.
    pub(super) fn call_prompt_file(
        &self,
        reference: &str,
        arguments: &[serde_json::Value],
        span: SourceSpan,
    ) -> Option<serde_json::Value> {
        const USUAL: &str = "get_prompt";
        if reference.ends_with(".py") {
            let file = self.find(reference, span)?;
            if !self.text_of(file).contains(&format!("def {USUAL}(")) {
                let path = self.path_of(file);
                let call = ScriptCall { source: ScriptSource::PythonProgram(&path), arguments };
                return self.answer_of_script((self.world.call)(&call), &format!("`{reference}`"), span);
            }
        }
        self.call_script(reference, USUAL, arguments, span)
    }

    /// What a program prints.
    pub(super) fn call_program(
        &self,
        line: &str,
        arguments: &[serde_json::Value],
        span: SourceSpan,
    ) -> Option<serde_json::Value> {
        let source = ScriptSource::Program(line);
        let name = format!("`{line}`");
        self.answer_of_script((self.world.call)(&ScriptCall { source, arguments }), &name, span)
    }

    /// Runs an expression in JavaScript.
    pub(super) fn call_expression(
        &self,
        code: &str,
        arguments: &[serde_json::Value],
        span: SourceSpan,
    ) -> Option<serde_json::Value> {
        let source = ScriptSource::JavaScript(code);
        self.answer_of_script((self.world.call)(&ScriptCall { source, arguments }), "this expression", span)
    }

    fn answer_of_script(
        &self,
        answer: ScriptAnswer,
        name: &str,
        span: SourceSpan,
    ) -> Option<serde_json::Value> {
        match answer {
            ScriptAnswer::Value(value) => Some(value),
            ScriptAnswer::Skipped => {
                let message = format!("what {name} makes is known only in a run with --allow-commands");
                self.report(Diagnostic::warning(Code::Unsupported, span, message));
                None
            }
            ScriptAnswer::Refused(why) => {
                self.error(Code::Unsupported, span, format!("{name} was not run: {why}"));
                None
            }
        }
    }

    /// The text of a scalar; `file://…` is replaced by what the file holds.
    pub(super) fn text(&self, node: &SourceNode, what: &str) -> Option<String> {
        let text = self.plain_text(node, what)?;
        match text.strip_prefix("file://") {
            Some(path) => self.find(path.trim(), node.span).map(|file_id| self.text_of(file_id).to_string()),
            None => Some(text),
        }
    }

    /// Like [`Self::text`], for a text in which rows fill in names and escapes are resolved later. What a file
    /// holds is no such text, its names of rows aside, so it is escaped.
    pub(super) fn template(&self, node: &SourceNode, what: &str) -> Option<String> {
        let text = self.text(node, what)?;
        Some(if node.text().is_some_and(|text| text.starts_with("file://")) {
            self.escape_file(&text)
        } else {
            text
        })
    }

    /// Escapes braces in the text of a file, so that a suite with this text reproduces the file exactly.
    pub(super) fn escape_file(&self, text: &str) -> String {
        let is_kept = self.world.variables == VariableExpansion::Kept;
        template::escape_braces(text, |name| template::is_escape(name) || is_kept && name.starts_with("env."))
    }

    /// A path, in which variables are always filled in.
    pub(super) fn path(&self, node: &SourceNode, what: &str) -> Option<String> {
        let text = self.raw_text(node, what)?;
        let text = self.expand_path(&text, node.span);
        Some(text.strip_prefix("file://").unwrap_or(&text).trim().to_owned())
    }

    pub(super) fn plain_text(&self, node: &SourceNode, what: &str) -> Option<String> {
        match node.text() {
            Some(text) if text.starts_with("file://") => Some(self.expand_path(text, node.span)),
            Some(text) if text.starts_with("ref://") => {
                let message = format!("`{text}` is not understood here");
                self.report(
                    Diagnostic::error(Code::Unsupported, node.span, message)
                        .help("`ref://` names a default test; use `file://path` for a text"),
                );
                None
            }
            Some(text) => Some(self.expand(text, node.span)),
            None => {
                self.wrong_type(node, what, "text");
                None
            }
        }
    }

    /// The text of any scalar, exactly as written; labels and names may look like something else.
    pub(super) fn scalar_text(&self, node: &SourceNode, what: &str) -> Option<String> {
        match node.scalar() {
            Some(it) => Some(self.expand(&it.text, node.span)),
            None => {
                self.wrong_type(node, what, "text");
                None
            }
        }
    }

    /// Text in which nothing is filled in yet.
    pub(super) fn raw_text(&self, node: &SourceNode, what: &str) -> Option<String> {
        let text = node.text().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(node, what, "text");
        }
        text
    }

    pub(super) fn wrong_type(&self, node: &SourceNode, what: &str, expected: &str) {
        self.report(
            Diagnostic::error(Code::WrongType, self.head(node), format!("`{what}` must be {expected}"))
                .label(format!("this is {}", node.describe())),
        );
    }

    /// The part of a value that fits on its first line: enough to point at.
    pub(super) fn head(&self, node: &SourceNode) -> SourceSpan {
        let sources = self.sources.borrow();
        let text = &sources.get(node.span.file).text[node.span.start as usize..node.span.end as usize];
        let len = text.find('\n').unwrap_or(text.len());
        SourceSpan { end: node.span.start + text[..len].trim_end().len() as u32, ..node.span }
    }

    pub(super) fn word<T: Copy>(
        &self,
        node: &SourceNode,
        what: &str,
        allowed: &[(&'static str, T)],
    ) -> Option<T> {
        let names = allowed.iter().map(|allowed| allowed.0);
        let Some(written) = node.text() else {
            self.wrong_type(node, what, &format!("one of {}", names.collect::<Vec<_>>().join(", ")));
            return None;
        };
        let hit = allowed.iter().find(|allowed| allowed.0 == written).map(|at| at.1);
        if hit.is_none() {
            self.report(
                Diagnostic::error(Code::BadValue, node.span, format!("`{what}` cannot be `{written}`"))
                    .suggest(written, names, "allowed"),
            );
        }
        hit
    }

    pub(super) fn number(&self, node: &SourceNode, what: &str) -> Option<f64> {
        let number = node.scalar().and_then(Scalar::as_number);
        if number.is_none() {
            self.wrong_type(node, what, "a number");
        }
        number
    }

    /// A number in a range that is part of the key's meaning.
    pub(super) fn number_in(
        &self,
        node: &SourceNode,
        what: &str,
        range: std::ops::RangeInclusive<f64>,
    ) -> Option<f64> {
        let number = self.number(node, what)?;
        if !range.contains(&number) {
            self.report(
                Diagnostic::error(Code::BadValue, node.span, format!("`{what}` is {}", short(number)))
                    .label(allowed(*range.start(), *range.end())),
            );
            return None;
        }
        Some(number)
    }

    pub(super) fn integer(
        &self,
        node: &SourceNode,
        what: &str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Option<i64> {
        let Some(integer) = node.scalar().and_then(Scalar::as_int) else {
            self.wrong_type(node, what, "a whole number");
            return None;
        };
        if !range.contains(&integer) {
            let label = allowed(*range.start() as f64, *range.end() as f64);
            self.report(
                Diagnostic::error(Code::BadValue, node.span, format!("`{what}` is {integer}")).label(label),
            );
            return None;
        }
        Some(integer)
    }

    pub(super) fn bool(&self, node: &SourceNode, what: &str) -> Option<bool> {
        let bool = node.scalar().and_then(Scalar::as_bool);
        if bool.is_none() {
            let mut diagnostic = Diagnostic::error(
                Code::WrongType,
                self.head(node),
                format!("`{what}` must be true or false"),
            )
            .label(format!("this is {}", node.describe()));
            if let Some(word) = node.text().filter(|text| ["yes", "no", "on", "off"].contains(text)) {
                diagnostic = diagnostic.note(format!("in YAML 1.2 `{word}` is text"));
                diagnostic.replacement =
                    Some(if ["yes", "on"].contains(&word) { "true" } else { "false" }.to_owned());
                diagnostic = diagnostic.help("write true or false");
            }
            self.report(diagnostic);
        }
        bool
    }

    pub(super) fn list<'n>(&self, node: &'n SourceNode, what: &str) -> Option<&'n [SourceNode]> {
        let list = node.list();
        if list.is_none() {
            self.wrong_type(node, what, "a list");
        }
        list
    }

    pub(super) fn entries<'n>(&self, node: &'n SourceNode, what: &str) -> Option<&'n [NodeEntry]> {
        let map = node.map();
        if map.is_none() {
            self.wrong_type(node, what, "a mapping");
        }
        map
    }

    /// A list of texts, or one text alone.
    pub(super) fn texts(&self, node: &SourceNode, what: &str) -> Vec<String> {
        self.read_texts(node, what, Self::text)
    }

    /// Like [`Self::texts`], each as [`Self::template`] reads it.
    pub(super) fn templates(&self, node: &SourceNode, what: &str) -> Vec<String> {
        self.read_texts(node, what, Self::template)
    }

    fn read_texts(
        &self,
        node: &SourceNode,
        what: &str,
        read: impl Fn(&Self, &SourceNode, &str) -> Option<String>,
    ) -> Vec<String> {
        match &node.shape {
            NodeShape::List(items) => items.iter().filter_map(|item| read(self, item, what)).collect(),
            NodeShape::Scalar(_) => read(self, node, what).into_iter().collect(),
            NodeShape::Map(_) => {
                self.wrong_type(node, what, "text or a list of texts");
                Vec::new()
            }
        }
    }

    /// JSON in which `{{ env.X }}` is filled in.
    pub(super) fn json(&self, node: &SourceNode) -> serde_json::Value {
        let mut value = node.to_json();
        self.expand_json(&mut value, node.span);
        value
    }

    fn expand_json(&self, value: &mut serde_json::Value, span: SourceSpan) {
        use serde_json::Value;
        match value {
            Value::String(text) => *text = self.expand(text, span),
            Value::Array(items) => items.iter_mut().for_each(|item| self.expand_json(item, span)),
            Value::Object(map) => map.values_mut().for_each(|value| self.expand_json(value, span)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Longer texts are no addresses.
const LONGEST_ADDRESS: usize = 2048;

fn may_be_address(text: &str) -> bool {
    text.len() <= LONGEST_ADDRESS && !text.contains(char::is_whitespace)
}

pub(super) fn unreadable(error: &ReadError, path: &Path, span: SourceSpan) -> Diagnostic {
    let code = if *error == ReadError::Outside { Code::Outside } else { Code::Unreadable };
    let diagnostic = Diagnostic::error(code, span, format!("cannot read `{}`: {error}", path.display()));
    match error {
        ReadError::Outside => diagnostic.help("move the file into the project, or pass --allow-outside"),
        _ => diagnostic,
    }
}

fn allowed(least: f64, most: f64) -> String {
    if 1e9 < most { format!("allowed is {least} or more") } else { format!("allowed is {least} to {most}") }
}

/// A number as a person would write it.
fn short(number: f64) -> String {
    if 1e15 < number.abs() { format!("{number:e}") } else { format!("{number}") }
}

/// A path without `.` and `..`, by its text alone.
pub(super) fn remove_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    out
}

/// A value as a person reads it: JSON on several lines.
pub(super) fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Where a project keeps its settings.
pub(super) const SETTINGS_FILE: &str = ".jurist/config.yaml";
