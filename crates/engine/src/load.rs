//! Reads suites from disk, and keeps their references inside the project.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jurist_core::dialect::{
    self, DATA_REPLACEMENT, DATASET_PREFIX, Dialect, LoadedSuite, ProjectEnvironment, ReadError,
    VariableExpansion,
};
use jurist_core::syntax::MAX_BYTES;

pub use crate::environment::{cache_folder, harmless_variables, secrets, variable, variables};
use crate::load_script::{ScriptPolicy, call_script};
use crate::platform::{find_real_path, is_device, is_handed_over};

/// How to load.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// Instead of looking at the keys of the file.
    pub dialect: Option<Dialect>,
    pub outside: Outside,
    pub variables: VariableExpansion,
    /// Whether functions of scripts are called that a file asks for.
    pub scripts: ScriptPolicy,
}

/// What a reference that leads out of the project is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outside {
    #[default]
    Refused,
    Allowed,
}

/// The files and variables that were read while a suite was loaded.
#[derive(Debug, Default)]
pub struct Reading {
    pub(crate) texts: RefCell<BTreeMap<PathBuf, Arc<str>>>,
    pub(crate) variables: RefCell<BTreeMap<String, String>>,
    /// Datasets that the suite names and that were not provided.
    missing_datasets: RefCell<BTreeSet<String>>,
}

impl Reading {
    /// References to datasets whose rows were not provided, as the suite writes them.
    pub fn missing_datasets(&self) -> Vec<String> {
        self.missing_datasets.borrow().iter().cloned().collect()
    }

    /// The files that were read.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.texts.borrow().keys().cloned().collect()
    }
}

/// What a caller hands over with a suite.
#[derive(Debug, Clone, Default)]
pub struct ProvidedData {
    /// The suite itself, where it is no file.
    pub suite: Option<Arc<str>>,
    /// Rows of datasets as JSON lines, by the reference that the suite has: `dataset:support@v3`.
    pub datasets: BTreeMap<String, Arc<str>>,
    /// Rows that replace the `data` of every case: an absolute path, or a reference to a dataset.
    pub replacement: Option<String>,
}

/// The path of standard input, which the command line names `-`.
const STDIN: &str = "<stdin>";

/// Reads a suite with everything it refers to; paths in the result are relative to the current folder.
pub fn load_suite(path: &Path, options: LoadOptions) -> LoadedSuite {
    load_suite_with_sources(path, options).0
}

/// Reads a suite from a text instead of a file; its references start in the current folder.
pub fn load_suite_text(name: &str, text: &str, options: LoadOptions) -> LoadedSuite {
    let path = std::env::current_dir().unwrap_or_default().join(name);
    let provided = ProvidedData { suite: Some(text.into()), ..ProvidedData::default() };
    load_suite_from(&path, &provided, options).0
}

/// The same, with the files and variables that were read.
pub fn load_suite_with_sources(path: &Path, options: LoadOptions) -> (LoadedSuite, Reading) {
    load_suite_with_data(path, &ProvidedData::default(), options)
}

/// The same, with rows that the caller provides.
pub fn load_suite_with_data(
    path: &Path,
    provided: &ProvidedData,
    options: LoadOptions,
) -> (LoadedSuite, Reading) {
    let here = std::env::current_dir().unwrap_or_default();
    let path = if path.as_os_str() == "-" { here.join(STDIN) } else { normalize_path(path, &here) };
    load_suite_from(&path, provided, options)
}

fn load_suite_from(path: &Path, provided: &ProvidedData, options: LoadOptions) -> (LoadedSuite, Reading) {
    let reading = Reading::default();
    let here = std::env::current_dir().unwrap_or_default();
    let root = project_root(path);
    let real_root = find_real_path(&root).unwrap_or_else(|_| root.clone());
    let inside = |it: &Path| {
        options.outside == Outside::Allowed
            || it == path
            || provided.replacement.as_deref().is_some_and(|replacement| it == Path::new(replacement))
            || (it.starts_with(&root) && find_real_path(it).map_or(true, |real| real.starts_with(&real_root)))
    };
    let world = ProjectEnvironment {
        root: root.clone(),
        read: &|it| {
            let text = match (it, &provided.suite) {
                (_, Some(text)) if it == path => read_from(&mut text.as_bytes(), MAX_BYTES),
                _ if it == Path::new(DATA_REPLACEMENT) => {
                    provided.replacement.as_deref().map(Arc::from).ok_or(ReadError::Missing)
                }
                _ if is_dataset(it) => provided.find_dataset(it, options, &reading),
                _ if it == path && it.ends_with(STDIN) => read_from(&mut std::io::stdin().lock(), MAX_BYTES),
                _ if inside(it) => read_text_file(it),
                _ => Err(ReadError::Outside),
            }?;
            reading.texts.borrow_mut().insert(it.to_owned(), Arc::clone(&text));
            Ok(text)
        },
        glob: &|pattern| {
            // The part before the first wildcard decides where the pattern leads.
            let wild =
                |component: &Component<'_>| component.as_os_str().to_string_lossy().contains(['*', '?', '[']);
            let fixed: PathBuf = pattern.components().take_while(|component| !wild(component)).collect();
            if !inside(&fixed) {
                return Err(ReadError::Outside);
            }
            let n_wild = pattern.components().count() - fixed.components().count();
            let text = pattern.to_string_lossy();
            let bad = |error: glob::PatternError| ReadError::Other(error.to_string());
            if n_wild <= 1 && !pattern.ends_with("**") {
                let matches = glob::glob(&text).map_err(bad)?;
                return Ok(matches.flatten().filter(|path| inside(path)).collect());
            }
            let compiled = glob::Pattern::new(&text).map_err(bad)?;
            let is_match = |path: &Path| compiled.matches_path_with(path, GLOB_OPTIONS) && inside(path);
            let depth = if text.contains("**") { usize::MAX } else { n_wild };
            Ok(list_files_below(fixed, depth, &inside)?.into_iter().filter(|path| is_match(path)).collect())
        },
        variable: &|name| {
            let value = std::env::var(name).ok()?;
            reading.variables.borrow_mut().insert(name.to_owned(), value.clone());
            Some(value)
        },
        variables: options.variables,
        call: &|call| call_script(call, options.scripts, path.parent().unwrap_or(Path::new("."))),
    };
    let mut loaded = dialect::read_suite(path, options.dialect, &world);
    loaded.shorten(&here);
    (loaded, reading)
}

/// `*` matches within one part of a path.
const GLOB_OPTIONS: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Folders that are searched for one pattern.
const MAX_FOLDERS: usize = 100_000;

/// A folder that is to be searched, and how many levels of it.
struct OpenFolder {
    path: PathBuf,
    depth: usize,
}

/// Files below a folder, sorted. Each folder is searched once, however many links lead to it: links to folders above
/// would otherwise lead on without end.
fn list_files_below(
    path: PathBuf,
    depth: usize,
    inside: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, ReadError> {
    let (mut folders, mut links) = (vec![OpenFolder { path, depth }], Vec::new());
    let (mut files, mut visited) = (Vec::new(), BTreeSet::new());
    // Links come last, so that files are found where they are.
    while let Some(OpenFolder { path, depth }) = folders.pop().or_else(|| links.pop()) {
        let is_new = inside(&path) && find_real_path(&path).is_ok_and(|real| visited.insert(real));
        if !is_new || depth == 0 {
            continue;
        }
        if MAX_FOLDERS < visited.len() {
            return Err(ReadError::Other(format!("more than {MAX_FOLDERS} folders would be searched")));
        }
        let Ok(entries) = std::fs::read_dir(&path) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            match (path.is_dir(), is_link) {
                (false, _) => files.push(path),
                (true, false) => folders.push(OpenFolder { path, depth: depth - 1 }),
                (true, true) => links.push(OpenFolder { path, depth: depth - 1 }),
            }
        }
        links.sort_by(|one: &OpenFolder, other| other.path.cmp(&one.path));
    }
    files.sort();
    Ok(files)
}

/// Whether a path names a dataset and no file.
pub(crate) fn is_dataset(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with(DATASET_PREFIX))
}

impl ProvidedData {
    fn find_dataset(
        &self,
        reference: &Path,
        options: LoadOptions,
        reading: &Reading,
    ) -> Result<Arc<str>, ReadError> {
        let reference = reference.to_string_lossy();
        if let Some(rows) = self.datasets.get(&*reference) {
            return Ok(Arc::clone(rows));
        }
        reading.missing_datasets.borrow_mut().insert(reference.into_owned());
        match options.scripts {
            ScriptPolicy::Skipped => Err(ReadError::Unresolved),
            _ => Err(ReadError::Other("this command reads no datasets; `jurist eval` does".to_owned())),
        }
    }
}

/// An absolute path without `..`; links on the way stay what they are at its end.
fn normalize_path(path: &Path, here: &Path) -> PathBuf {
    let joined = here.join(path);
    let folder = joined.parent().and_then(|folder| find_real_path(folder).ok());
    match (folder, joined.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => std::path::absolute(&joined).unwrap_or(joined),
    }
}

/// The nearest folder above a file that marks a project; the file's own folder where there is none.
fn project_root(path: &Path) -> PathBuf {
    root_of(path.parent().unwrap_or(Path::new("/")))
}

/// The folder that the files of this process are kept inside of, if it has one.
static CONFINEMENT: OnceLock<PathBuf> = OnceLock::new();

/// Makes a folder the current one, and looks for no project above it: files that lie outside of it are then outside of
/// every project. A process does this once, before it reads anything; the folder comes back without links in its path.
pub fn confine_to_folder(folder: &Path) -> std::io::Result<PathBuf> {
    let folder = find_real_path(folder)?;
    std::env::set_current_dir(&folder)?;
    match CONFINEMENT.set(folder.clone()) {
        Ok(()) => Ok(folder),
        Err(_) => Err(std::io::Error::other("this process has a folder already")),
    }
}

/// The project that a folder is in, or else the folder itself.
pub fn root_of(folder: &Path) -> PathBuf {
    find_project_root(folder, CONFINEMENT.get().map(PathBuf::as_path))
}

/// Looks no higher than `top`, which is the project where nothing below it marks one.
fn find_project_root(folder: &Path, top: Option<&Path>) -> PathBuf {
    let is_root = |path: &&Path| [".git", ".jurist", ".agentv"].iter().any(|mark| path.join(mark).exists());
    let top = top.filter(|top| folder.starts_with(top));
    let is_below = |path: &&Path| top.is_none_or(|top| path.starts_with(top));
    let root = folder.ancestors().take_while(is_below).find(is_root);
    root.or(top).unwrap_or(folder).to_owned()
}

/// Files that are not on this disk.
pub(crate) type Texts = Arc<BTreeMap<PathBuf, Arc<str>>>;

/// Resolves paths of a suite when it is run, in the same way as when it is read.
#[derive(Debug, Clone)]
pub struct SuiteFiles {
    pub(crate) suite: PathBuf,
    /// That of the suite; programs start here.
    pub folder: PathBuf,
    pub(crate) root: PathBuf,
    outside: Outside,
    /// The files, where they came from elsewhere: nothing of this disk is looked at.
    texts: Option<Texts>,
}

impl SuiteFiles {
    pub fn of(suite: &Path, outside: Outside) -> Self {
        let path = normalize_path(suite, &std::env::current_dir().unwrap_or_default());
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let root = project_root(&path);
        Self { suite: path, folder, root, outside, texts: None }
    }

    pub(crate) fn of_texts(suite: PathBuf, texts: Texts, folder: PathBuf) -> Self {
        let outside = Outside::Refused;
        Self { suite, folder, root: PathBuf::from("/"), outside, texts: Some(texts) }
    }

    /// The text of a file that is found like any other.
    pub fn read(&self, reference: &str) -> Result<Arc<str>, ReadError> {
        let Some(texts) = &self.texts else { return read_text_file(&self.find(reference)?) };
        let mut places = self.suite.ancestors().skip(1).map(|ancestor| ancestor.join(reference));
        places.find_map(|place| texts.get(&place).cloned()).ok_or(ReadError::Missing)
    }

    /// A file or folder: next to the suite, or in a folder above, up to the project's root.
    pub fn find(&self, reference: &str) -> Result<PathBuf, ReadError> {
        if self.texts.is_some() {
            return Err(ReadError::Other("it was not sent with the suite".to_owned()));
        }
        let above = |path: &&Path| path.starts_with(&self.root);
        let places = self.folder.ancestors().take_while(above).map(|ancestor| ancestor.join(reference));
        let path = places.into_iter().find(|place| place.exists()).ok_or(ReadError::Missing)?;
        let real = |path: &Path| find_real_path(path).unwrap_or_else(|_| path.to_owned());
        let inside = self.outside == Outside::Allowed || real(&path).starts_with(real(&self.root));
        if inside { Ok(path) } else { Err(ReadError::Outside) }
    }
}

/// Data that the command line names may be this large; files that other files name may not.
const MAX_INPUT_BYTES: usize = 1 << 30;

/// A text file of data, or standard input for `-`.
pub fn read_input(path: &Path) -> Result<Arc<str>, ReadError> {
    if path.as_os_str() == "-" {
        return read_from(&mut std::io::stdin().lock(), MAX_INPUT_BYTES);
    }
    read_file_up_to(path, MAX_INPUT_BYTES)
}

/// A text file, whole; reads no further than the limit, so that a device or a pipe cannot fill the memory.
pub fn read_text_file(path: &Path) -> Result<Arc<str>, ReadError> {
    read_file_up_to(path, MAX_BYTES)
}

fn read_file_up_to(path: &Path, max_bytes: usize) -> Result<Arc<str>, ReadError> {
    read_from(&mut open_file(path).map_err(|error| explain_open_error(&error))?, max_bytes)
}

/// Why a file cannot be opened, without the error number of the operating system.
fn explain_open_error(error: &std::io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ReadError::Missing,
        ErrorKind::IsADirectory => ReadError::Folder,
        ErrorKind::PermissionDenied => ReadError::Other("permission denied".to_owned()),
        _ => ReadError::Other(error.to_string()),
    }
}

/// Opens a file to read; the error is in plain words. A named pipe or a terminal is refused: it may never have any data,
/// and the command would wait without end. What a shell hands over as `<(…)` or `/dev/stdin` is read.
pub fn open_file(path: &Path) -> std::io::Result<File> {
    if !is_handed_over(path) && is_device(path) {
        return Err(std::io::Error::other("it is a pipe, a socket or a device, not a file"));
    }
    if path.is_dir() {
        return Err(std::io::Error::new(ErrorKind::IsADirectory, ReadError::Folder));
    }
    File::open(path).map_err(|error| std::io::Error::new(error.kind(), explain_open_error(&error)))
}

fn read_from(input: &mut dyn Read, max_bytes: usize) -> Result<Arc<str>, ReadError> {
    let mut bytes = Vec::new();
    let read = input.take(max_bytes as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| ReadError::Other(error.to_string()))?;
    if max_bytes < bytes.len() {
        return Err(ReadError::TooLarge(max_bytes));
    }
    let text =
        String::from_utf8(bytes).map_err(|error| ReadError::NotText(error.utf8_error().valid_up_to()))?;
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jurist_core::diagnostic::DiagnosticSeverity;

    use super::*;

    fn codes(loaded: &LoadedSuite) -> Vec<&'static str> {
        loaded
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error)
            .map(|diagnostic| diagnostic.code.name())
            .collect()
    }

    fn suite_with_response(reference: &str) -> String {
        format!("evals:\n  - name: a\n    response: file://{reference}\n    rubric: b\n")
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_explained_in_plain_words() {
        let folder = tempfile::tempdir().unwrap();
        let missing = open_file(&folder.path().join("nosuch.jsonl")).unwrap_err();
        assert_eq!(
            (missing.kind(), missing.to_string().as_str()),
            (ErrorKind::NotFound, "there is no such file")
        );
        assert_eq!(open_file(folder.path()).unwrap_err().to_string(), "it is a folder");
    }

    #[test]
    fn references_stay_inside_the_project_unless_allowed() {
        let outer = tempfile::tempdir().unwrap();
        let project = outer.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(outer.path().join("secret.txt"), "secret").unwrap();
        let suite = project.join("suite.yaml");
        fs::write(&suite, suite_with_response("../secret.txt")).unwrap();

        assert_eq!(codes(&load_suite(&suite, LoadOptions::default())), ["outside"]);
        let allowed = load_suite(&suite, LoadOptions { outside: Outside::Allowed, ..LoadOptions::default() });
        assert_eq!(allowed.suite.unwrap().cases[0].candidate.response.as_deref(), Some("secret"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_out_of_the_project() {
        let outer = tempfile::tempdir().unwrap();
        let project = outer.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(outer.path().join("secret.txt"), "secret").unwrap();
        std::os::unix::fs::symlink(outer.path().join("secret.txt"), project.join("link.txt")).unwrap();
        let suite = project.join("suite.yaml");
        fs::write(&suite, suite_with_response("link.txt")).unwrap();

        assert_eq!(codes(&load_suite(&suite, LoadOptions::default())), ["outside"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_pattern_ends_where_links_lead_in_circles() {
        let project = tempfile::tempdir().unwrap();
        let at = |name: &str| project.path().join(name);
        for name in ["rows/one", "rows/two", "rows/three"] {
            fs::create_dir_all(at(name)).unwrap();
            std::os::unix::fs::symlink(project.path(), at(name).join("up")).unwrap();
        }
        fs::create_dir_all(at(".git")).unwrap();
        fs::write(at("rows/one/a.jsonl"), "{\"answer\": \"x\"}\n").unwrap();
        fs::write(at("rows/b.jsonl"), "{\"answer\": \"y\"}\n").unwrap();
        let suite = at("suite.yaml");
        let n_cases = |pattern: &str| {
            let case = format!("{{name: a, data: '{pattern}', response: '{{{{ row.answer }}}}', rubric: b}}");
            fs::write(&suite, format!("evals: [{case}]\n")).unwrap();
            let loaded = load_suite(&suite, LoadOptions::default());
            loaded.suite.map(|suite| suite.cases[0].data.as_ref().map_or(0, |data| data.rows.len()))
        };
        assert_eq!(n_cases("rows/**/*.jsonl"), Some(2));
        assert_eq!(n_cases("**/a.jsonl"), Some(1));
        assert_eq!(n_cases("*/*/*.jsonl"), Some(1));
        assert_eq!(n_cases(&format!("{}*.jsonl", "*/".repeat(30))), None, "nothing is so deep");
    }

    #[test]
    fn references_are_looked_up_beside_the_file_and_then_above_it() {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir_all(project.path().join(".git")).unwrap();
        fs::create_dir_all(project.path().join("a/b")).unwrap();
        fs::write(project.path().join("answer.txt"), "from the root").unwrap();
        let suite = project.path().join("a/b/suite.yaml");
        fs::write(&suite, suite_with_response("answer.txt")).unwrap();
        let response =
            || load_suite(&suite, LoadOptions::default()).suite.unwrap().cases[0].candidate.response.clone();

        assert_eq!(response().as_deref(), Some("from the root"));
        fs::write(project.path().join("a/b/answer.txt"), "next to the suite").unwrap();
        assert_eq!(response().as_deref(), Some("next to the suite"));
    }

    #[test]
    fn what_a_run_looks_for_is_found_by_the_same_rule() {
        let outer = tempfile::tempdir().unwrap();
        let project = outer.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(project.join("a/b")).unwrap();
        fs::write(project.join("trace.json"), "{}").unwrap();
        fs::write(outer.path().join("secret.txt"), "secret").unwrap();
        let find = |reference: &str, outside| {
            SuiteFiles::of(&project.join("a/b/suite.yaml"), outside).find(reference)
        };

        assert!(find("trace.json", Outside::Refused).is_ok_and(|at| at.ends_with("project/trace.json")));
        assert_eq!(find("absent.json", Outside::Refused), Err(ReadError::Missing));
        assert_eq!(find("../../../secret.txt", Outside::Refused), Err(ReadError::Outside));
        assert!(find("../../../secret.txt", Outside::Allowed).is_ok());
    }

    #[test]
    fn a_suite_may_be_a_text() {
        let text = "criteria: [{name: short, check: {type: length, max: 10}}]";
        let loaded = load_suite_text("<text>", text, LoadOptions::default());
        assert_eq!(loaded.suite.map(|suite| suite.rubrics.len()), Some(1));
        let broken = load_suite_text("<text>", "criteria:\n- nam: short", LoadOptions::default());
        let diagnostics = broken.diagnostics.into_sorted();
        assert_eq!(broken.sources.place(diagnostics[0].span).line, 2);
        assert!(broken.suite.is_none());
    }

    #[test]
    fn what_is_not_text_is_said_to_be_so() {
        let folder = tempfile::tempdir().unwrap();
        let check = |name: &str, bytes: &[u8], expected: ReadError| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            assert_eq!(read_text_file(&path), Err(expected));
        };
        check("binary", b"abc\xff\xfe", ReadError::NotText(3));
        check("large", &vec![b'a'; MAX_BYTES + 1], ReadError::TooLarge(MAX_BYTES));
        // A million grades are more than a file that another one names may have.
        assert_eq!(read_input(&folder.path().join("large")).map(|text| text.len()), Ok(MAX_BYTES + 1));
        assert_eq!(read_text_file(&folder.path().join("absent")), Err(ReadError::Missing));
        assert_eq!(read_text_file(folder.path()), Err(ReadError::Folder));
    }
}
