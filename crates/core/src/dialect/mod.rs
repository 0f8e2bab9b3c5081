//! Text to suite: five dialects, one model.
//!
//! Only the file of a dialect knows its shape.
//! Reading never stops at the first fault; everything found comes back at once.

mod agentv;
mod canonical;
mod context;
mod fields;
mod lower;
mod mcptest;
mod method;
mod monitor;
mod native;
mod potato;
mod promptfoo;
mod rows;
mod rubric;
mod settings;
mod target_variables;
mod tree;
mod write;

use std::path::{Path, PathBuf};

pub use canonical::read_canonical_rubric;
use context::{Context, MAX_PATTERN_WORK};
pub use context::{
    ProjectEnvironment, ReadError, ScriptAnswer, ScriptCall, ScriptSource, VariableExpansion, refuse_scripts,
};
pub use mcptest::MCP_TOOL;
pub use rows::{DATA_REPLACEMENT, DATASET_PREFIX};
pub use settings::{
    CustomVendor, DeferPolicy, MailSecurity, MailSettings, ModelPrice, NetworkSettings, PROTOCOLS,
    ProjectSettings, RateLimitSettings, SettingsFile, is_loopback,
};
pub use write::suite_to_native_tree as to_native;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::source::{SourceNode, SourceSpan, Sources, path_text};
use crate::suite::Suite;

/// A way to write suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Native,
    Agentv,
    Promptfoo,
    Potato,
    Monitor,
}

impl Dialect {
    pub const ALL: [(&str, Self); 5] = [
        ("native", Self::Native),
        ("agentv", Self::Agentv),
        ("promptfoo", Self::Promptfoo),
        ("potato", Self::Potato),
        ("monitor", Self::Monitor),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }

    /// The tool whose providers files of this dialect name, if it is another one.
    fn other_tool(self) -> Option<&'static str> {
        match self {
            Self::Agentv => Some("AgentV"),
            Self::Promptfoo => Some("promptfoo"),
            Self::Native | Self::Potato | Self::Monitor => None,
        }
    }

    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Native => &native::MARKS,
            Self::Agentv => &agentv::MARKS,
            Self::Promptfoo => &promptfoo::MARKS,
            Self::Potato => &potato::MARKS,
            Self::Monitor => &monitor::MARKS,
        }
    }
}

/// What a file came to. The suite is there only if nothing is wrong.
#[derive(Debug)]
pub struct LoadedSuite {
    pub suite: Option<Suite>,
    pub dialect: Option<Dialect>,
    /// What the project says for all its suites.
    pub settings: ProjectSettings,
    pub sources: Sources,
    pub diagnostics: Diagnostics,
}

/// Reads a suite and everything it refers to.
///
/// ```
/// use std::path::{Path, PathBuf};
/// use jurist_core::dialect::{self, ProjectEnvironment, ReadError, VariableExpansion};
///
/// let read = |path: &Path| match path.to_str() {
///     Some("suite.yaml") => Ok("evals:\n  - name: greets\n    response: Hello!\n    rubric: It greets.\n".into()),
///     _ => Err(ReadError::Missing),
/// };
/// let world = ProjectEnvironment { root: PathBuf::new(), read: &read, glob: &|_| Ok(Vec::new()), variable: &|_| None, variables: VariableExpansion::Filled, call: &dialect::refuse_scripts };
/// let loaded = dialect::read_suite(Path::new("suite.yaml"), None, &world);
/// assert_eq!(loaded.suite.unwrap().cases[0].rubric.text(), Some("It greets."));
/// ```
pub fn read_suite(path: &Path, dialect: Option<Dialect>, world: &ProjectEnvironment<'_>) -> LoadedSuite {
    read_suite_within(path, dialect, world, u64::MAX)
}

/// The same for files that strangers send to a server: the work of compiling their patterns is limited.
pub fn read_submitted_suite(
    path: &Path,
    dialect: Option<Dialect>,
    world: &ProjectEnvironment<'_>,
) -> LoadedSuite {
    read_suite_within(path, dialect, world, MAX_PATTERN_WORK)
}

fn read_suite_within(
    path: &Path,
    dialect: Option<Dialect>,
    world: &ProjectEnvironment<'_>,
    max_pattern_work: u64,
) -> LoadedSuite {
    let cx = Context::new(world, max_pattern_work);
    let (suite, dialect, settings) = read_file(&cx, path, dialect);
    let (sources, diagnostics) = cx.finish();
    let suite = suite.filter(|_| !diagnostics.has_errors());
    LoadedSuite { suite, dialect, settings, sources, diagnostics }
}

impl LoadedSuite {
    /// Shortens every path that is below `folder`.
    pub fn shorten(&mut self, folder: &Path) {
        self.sources.shorten(folder);
        for case in self.suite.iter_mut().flat_map(|suite| &mut suite.cases) {
            if let Some(origin) = &mut case.origin {
                origin.shorten(folder);
            }
            for file in case.data.iter_mut().flat_map(|data| &mut data.files) {
                if let Ok(short) = Path::new(&*file.path).strip_prefix(folder) {
                    file.path = path_text(short).into();
                }
            }
        }
    }
}

/// Files of a folder that are named at most.
const MAX_NAMED_FILES: usize = 5;

/// What to write in the place of a folder: the configuration in it that has a usual name, or else its YAML files.
fn name_files_of_folder(cx: &Context<'_>, folder: &Path) -> Option<String> {
    let list = |pattern: &str| (cx.world.glob)(&folder.join(pattern)).unwrap_or_default();
    let files: Vec<PathBuf> = ["*.yaml", "*.yml"].into_iter().flat_map(list).collect();
    let names: Vec<&str> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let is_usual = |name: &&str| {
        let stem = name.split('.').next().unwrap_or_default();
        ["promptfooconfig", "suite", "jurist"].contains(&stem)
    };
    if let Some(name) = names.iter().copied().find(is_usual) {
        return Some(format!("it holds `{name}`; name that file"));
    }
    let shown: Vec<String> = names.iter().take(MAX_NAMED_FILES).map(|name| format!("`{name}`")).collect();
    let more = if MAX_NAMED_FILES < names.len() { ", …" } else { "" };
    (!shown.is_empty()).then(|| format!("name a file in it: {}{more}", shown.join(", ")))
}

/// Files of programs, which may make a suite and are none.
const SCRIPT_EXTENSIONS: [&str; 7] = ["cjs", "cts", "js", "mjs", "mts", "py", "ts"];

type SuiteFileContents = (Option<Suite>, Option<Dialect>, ProjectSettings);

fn read_file(cx: &Context<'_>, path: &Path, dialect: Option<Dialect>) -> SuiteFileContents {
    let nothing = || (None, None, ProjectSettings::default());
    let file = match (cx.world.read)(path) {
        Ok(text) => cx.sources.borrow_mut().add(path, text),
        Err(error) => {
            // There is no text to point into, so the message has no position.
            let file = cx.sources.borrow_mut().add(path, "".into());
            let (span, message) =
                (SourceSpan { file, start: 0, end: 0 }, format!("cannot read this file: {error}"));
            let diagnostic = Diagnostic::error(Code::Unreadable, span, message);
            let help = if error == ReadError::Folder { name_files_of_folder(cx, path) } else { None };
            cx.report(match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
            return nothing();
        }
    };
    let extension = path.extension().and_then(|extension| extension.to_str());
    if extension.is_some_and(|extension| SCRIPT_EXTENSIONS.contains(&extension)) {
        let span = SourceSpan { file, start: 0, end: 0 };
        let message = "this file is a script, and a suite is YAML or JSON";
        cx.report(
            Diagnostic::error(Code::Unsupported, span, message)
                .help("save what the script exports as YAML or JSON, and name that file"),
        );
        return nothing();
    }
    let Some(node) = cx.parse(file) else { return nothing() };
    if path.ends_with(context::SETTINGS_FILE) {
        return (Some(Suite::default()), None, settings::read_project_settings(cx, &node));
    }
    let Some(dialect) = dialect.or_else(|| detect(cx, &node)) else { return nothing() };
    let mut suite = match dialect {
        Dialect::Native => native::read_native_suite(cx, &node),
        Dialect::Agentv => agentv::read_agentv_suite(cx, &node),
        Dialect::Promptfoo => promptfoo::read_promptfoo_suite(cx, &node),
        Dialect::Potato => potato::read_potato_suite(cx, &node),
        Dialect::Monitor => native::read_monitor_suite(cx, &node),
    };
    suite.other_tool = dialect.other_tool();
    add_suite_file(&mut suite, path);
    suite.variables = cx.filled_variables();
    let settings = settings::read_settings_for_file(cx, file);
    apply_judge_defaults(&settings, &mut suite);
    (Some(suite), Some(dialect), settings)
}

/// Adds the file of the suite to cases that are written in another file.
fn add_suite_file(suite: &mut Suite, path: &Path) {
    let file = path.display().to_string();
    for origin in suite.cases.iter_mut().filter_map(|case| case.origin.as_mut()) {
        if origin.file != file {
            origin.suite = Some(file.clone());
        }
    }
}

/// What a suite leaves open about its judge, the project's settings say.
fn apply_judge_defaults(settings: &ProjectSettings, suite: &mut Suite) {
    suite.judge = suite.judge.or(&settings.judge);
    for case in &mut suite.cases {
        case.judge = case.judge.or(&settings.judge);
    }
}

/// Where a list belongs that is a part of a suite of AgentV or promptfoo, by the keys of its first item.
fn name_fragment(node: &SourceNode) -> Option<&'static str> {
    let first = node.list()?.first()?;
    let has = |key: &str| first.get(key).is_some();
    if has("assert") || has("vars") {
        Some("these are tests; name the file in a suite: `tests: file://…`")
    } else if has("type") && has("value") {
        Some("these are assertions; write them under `assert` of a suite or a test")
    } else if has("id") && has("config") || has("use_target") {
        Some("these are providers; name the file in a suite: `providers: file://…`")
    } else {
        None
    }
}

/// The dialect whose marks a file carries; none or several are errors.
fn detect(cx: &Context<'_>, node: &SourceNode) -> Option<Dialect> {
    let start = cx.head(node);
    let Some(entries) = node.map() else {
        let message =
            format!("a suite must be a mapping of keys to values, but this file is {}", node.describe());
        let diagnostic = Diagnostic::error(Code::UnknownDialect, start, message);
        cx.report(match name_fragment(node) {
            Some(help) => diagnostic.help(help),
            None => diagnostic.help("`jurist init` writes a small suite to start from"),
        });
        return None;
    };
    let has = |key: &str| entries.iter().any(|entry| entry.key == key);
    let is_promptfoo = promptfoo::is_promptfoo(cx, node);
    let mut fits: Vec<(Dialect, &str)> = Vec::new();
    for (_, dialect) in Dialect::ALL {
        let mark = dialect.marks().iter().find(|mark| has(mark));
        // `agent` alone is no monitor; what it is held to makes it one.
        let fits_too = match dialect {
            Dialect::Monitor => has("rubric") && !has("evals"),
            // v4 of AgentV has `evaluators`, too.
            Dialect::Potato => has("annotation_schemes") || !has("tests"),
            // Both tools have tests, assertions and providers.
            Dialect::Agentv => !is_promptfoo,
            Dialect::Promptfoo => is_promptfoo,
            Dialect::Native => true,
        };
        let shared = || agentv::MARKS.iter().find(|mark| has(mark)).filter(|_| dialect == Dialect::Promptfoo);
        fits.extend(mark.or_else(shared).filter(|_| fits_too).map(|mark| (dialect, *mark)));
    }
    match fits.as_slice() {
        [(dialect, _)] => Some(*dialect),
        [] if node
            .get("criteria")
            .and_then(SourceNode::list)
            .is_some_and(|nodes| nodes.iter().any(|node| node.get("scale_descriptions").is_some())) =>
        {
            Some(Dialect::Potato)
        }
        [] if has("rubric")
            && ["judge_model", "sample_rate", "pass_threshold"].iter().any(|text| has(text)) =>
        {
            Some(Dialect::Monitor)
        }
        [] if native::SHARED_MARKS.iter().any(|shared_mark| has(shared_mark)) => Some(Dialect::Native),
        [] if has("options") => Some(Dialect::Agentv),
        [] if is_promptfoo && (has("prompts") || has("targets")) => Some(Dialect::Promptfoo),
        [] => {
            let marks = "native: `evals`, `rubrics`, or a rubric's `criteria`; agentv and promptfoo: `tests` or `providers`; potato: `annotation_schemes` or `evaluators`; monitor: `agent` with `rubric`";
            let own = Dialect::ALL.iter().flat_map(|it| it.1.marks());
            let keys: Vec<&str> = own.chain(&native::SHARED_MARKS).copied().collect();
            // A monitor lacks only its rubric; no key that the file has already is offered again.
            let rubric = monitor::MARKS.iter().any(|mark| has(mark)).then_some("rubric");
            let absent: Vec<&str> = keys.iter().copied().chain(rubric).filter(|key| !has(key)).collect();
            let slip = entries
                .iter()
                .filter(|entry| !keys.contains(&entry.key.as_str()))
                .find_map(|entry| Some((entry, crate::diagnostic::closest(&entry.key, &absent)?)));
            let span = slip
                .map_or_else(|| entries.first().map_or(start, |entry| entry.key_span), |it| it.0.key_span);
            let mut diagnostic = Diagnostic::error(Code::UnknownDialect, span, "this file fits no dialect")
                .note(format!("recognised by their keys: {marks}"));
            if let Some((_, meant)) = slip {
                diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
                diagnostic.replacement = Some(meant.to_owned());
            }
            cx.report(diagnostic);
            None
        }
        several => {
            let readings: Vec<String> =
                several.iter().map(|(dialect, mark)| format!("{} (`{mark}`)", dialect.name())).collect();
            let span =
                entries.iter().find(|entry| entry.key == several[1].1).map_or(start, |entry| entry.key_span);
            cx.report(
                Diagnostic::error(
                    Code::UnknownDialect,
                    span,
                    format!("this file can be read as {}", readings.join(" or ")),
                )
                .help("remove the keys of one of them, or say which with --dialect"),
            );
            None
        }
    }
}

#[cfg(test)]
mod tests;
