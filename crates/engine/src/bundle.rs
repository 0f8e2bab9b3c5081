//! A bundle: a suite with the text of every file that it refers to, for execution on another machine.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern};
use jurist_core::candidate::TraceSource;
use jurist_core::dialect::{
    self, DATA_REPLACEMENT, DATASET_PREFIX, Dialect, LoadedSuite, ProjectEnvironment, ReadError,
    VariableExpansion,
};
use jurist_core::plan::Plan;
use jurist_core::redact::is_secret_value;
use serde::{Deserialize, Serialize};

pub use crate::load::Reading;
use crate::load::{SuiteFiles, Texts, is_dataset};

/// Everything that a suite is read from. Paths are those within its project, with `/` between their parts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// The suite itself; one of the files.
    pub suite: String,
    /// The dialect; `None` detects it by the keys of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    pub files: BTreeMap<String, String>,
    /// Variables of the sender's environment that the files refer to, except those whose names look secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// Why a suite cannot be bundled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotBundled {
    #[error("`{0}` is outside the project, and only what is inside is sent")]
    Outside(PathBuf),
    #[error("the suite asks for the variable `{0}`, which looks like a secret and is not sent")]
    Secret(String),
    #[error("cannot read `{0}`: {1}")]
    Unreadable(String, ReadError),
}

impl Bundle {
    /// Builds a bundle from the files that were read, and from those that the plan will read during the run.
    pub fn new(
        reading: &Reading,
        project: &SuiteFiles,
        dialect: Option<Dialect>,
        plan: &Plan,
    ) -> Result<Self, NotBundled> {
        let variables = reading.variables.borrow().clone();
        if let Some(name) =
            variables.iter().find(|(name, value)| is_secret_value(name, value)).map(|(name, _)| name)
        {
            return Err(NotBundled::Secret(name.clone()));
        }
        let mut bundle = Self {
            suite: path_in_project(&project.suite, &project.root)?,
            dialect: dialect.map(|dialect| dialect.name().to_owned()),
            files: BTreeMap::new(),
            variables,
        };
        for (path, text) in &*reading.texts.borrow() {
            if path == Path::new(DATA_REPLACEMENT) && !is_dataset(Path::new(&**text)) {
                let replacement = path_in_project(Path::new(&**text), &project.root)?;
                bundle.files.insert(DATA_REPLACEMENT.to_owned(), format!("/{replacement}"));
            } else if path == Path::new(DATA_REPLACEMENT) || is_dataset(path) {
                bundle.files.insert(path.to_string_lossy().into_owned(), text.to_string());
            } else {
                bundle.files.insert(path_in_project(path, &project.root)?, text.to_string());
            }
        }
        for unit in &plan.units {
            let case = unit.cell.case().expect("it was filled when it was planned");
            if let Some(TraceSource::File(path)) = &case.candidate.trace {
                let unreadable = |error| NotBundled::Unreadable(path.clone(), error);
                let file = project.find(path).map_err(unreadable)?;
                if let Entry::Vacant(entry) = bundle.files.entry(path_in_project(&file, &project.root)?) {
                    entry.insert(crate::load::read_text_file(&file).map_err(unreadable)?.to_string());
                }
            }
        }
        Ok(bundle)
    }

    /// Loads the suite from the bundle. Files outside of the bundle count as missing.
    pub fn load(&self) -> LoadedSuite {
        self.load_and_note(&RefCell::default())
    }

    /// Notes the datasets that are not in the bundle.
    fn load_and_note(&self, missing_datasets: &RefCell<BTreeSet<String>>) -> LoadedSuite {
        let texts = self.texts();
        let world = ProjectEnvironment {
            root: PathBuf::from("/"),
            read: &|path| {
                // The name of a dataset is relative.
                let text = texts.get(&Path::new("/").join(path)).cloned();
                if text.is_none() && is_dataset(path) {
                    missing_datasets.borrow_mut().insert(path.to_string_lossy().into_owned());
                }
                text.ok_or(ReadError::Missing)
            },
            glob: &|pattern| Ok(matching(pattern, &texts)),
            variable: &|name| self.variables.get(name).cloned(),
            variables: VariableExpansion::Filled,
            call: &dialect::refuse_scripts,
        };
        let dialect =
            self.dialect.as_ref().and_then(|name| Dialect::ALL.iter().find(|(known, _)| known == name));
        let mut loaded =
            dialect::read_submitted_suite(&self.path(), dialect.map(|(_, dialect)| *dialect), &world);
        loaded.shorten(Path::new("/"));
        loaded
    }

    /// References to datasets that the suite has and that are not in the bundle, as the suite writes them.
    pub fn missing_datasets(&self) -> Vec<String> {
        // Most suites name no dataset, so rows are read only for those that do.
        if !self.files.values().any(|text| text.contains(DATASET_PREFIX)) {
            return Vec::new();
        }
        let missing = RefCell::default();
        self.load_and_note(&missing);
        missing.into_inner().into_iter().collect()
    }

    /// The files of the bundle for the run; programs, if they are allowed, start in `folder`.
    pub fn project(&self, folder: PathBuf) -> SuiteFiles {
        SuiteFiles::of_texts(self.path(), self.texts(), folder)
    }

    fn path(&self) -> PathBuf {
        Path::new("/").join(&self.suite)
    }

    fn texts(&self) -> Texts {
        let text = |(path, text): (&String, &String)| (Path::new("/").join(path), Arc::from(text.as_str()));
        Arc::new(self.files.iter().map(text).collect())
    }
}

fn matching(pattern: &Path, texts: &BTreeMap<PathBuf, Arc<str>>) -> Vec<PathBuf> {
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let Ok(pattern) = Pattern::new(&pattern.to_string_lossy()) else { return Vec::new() };
    texts.keys().filter(|key| pattern.matches_path_with(key, options)).cloned().collect()
}

/// A path from the project's root, as a bundle writes it.
fn path_in_project(path: &Path, root: &Path) -> Result<String, NotBundled> {
    let outside = || NotBundled::Outside(path.to_owned());
    let inside = path.strip_prefix(root).map_err(|_| outside())?;
    let part = |component: Component<'_>| match component {
        Component::Normal(name) => name.to_str().map(str::to_owned),
        _ => None,
    };
    let parts: Option<Vec<String>> = inside.components().map(part).collect();
    parts.map(|part| part.join("/")).ok_or_else(outside)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jurist_core::plan::{CaseSelection, plan_suite};

    use super::*;
    use crate::load::{LoadOptions, Outside, load_suite_with_sources};

    const SUITE: &str = "
evals:
  - name: a file
    response: file://answers/one.txt
    rubric: Greets.
  - name: a trace
    trace: traces/run.json
    rubric: Acts.
  - name: rows
    data: 'rows/*.jsonl'
    response: '{{ row.answer }}'
    rubric: Greets.
";

    #[test]
    fn a_suite_reads_the_same_from_its_bundle() {
        let folder = tempfile::tempdir().unwrap();
        let at = |text: &str| folder.path().join(text);
        for it in [".git", "evals/answers", "traces", "evals/rows"] {
            fs::create_dir_all(at(it)).unwrap();
        }
        fs::write(at("evals/suite.yaml"), SUITE).unwrap();
        fs::write(at("evals/answers/one.txt"), "Hello!").unwrap();
        fs::write(at("traces/run.json"), "{\"steps\": []}").unwrap();
        fs::write(at("evals/rows/a.jsonl"), "{\"answer\": \"x\"}\n").unwrap();
        fs::write(at("evals/rows/b.jsonl"), "{\"answer\": \"y\"}\n").unwrap();
        fs::write(at("evals/unrelated.txt"), "stays at home").unwrap();

        let (loaded, reading) = load_suite_with_sources(&at("evals/suite.yaml"), LoadOptions::default());
        let project = SuiteFiles::of(&at("evals/suite.yaml"), Outside::Refused);
        let messages: Vec<String> =
            loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
        let suite = loaded.suite.unwrap_or_else(|| panic!("{messages:?}"));
        let planned = plan_suite(&suite, &CaseSelection::default()).unwrap();
        let bundle = Bundle::new(&reading, &project, None, &planned).unwrap();
        let files: Vec<&str> = bundle.files.keys().map(String::as_str).collect();
        assert_eq!(
            files,
            [
                "evals/answers/one.txt",
                "evals/rows/a.jsonl",
                "evals/rows/b.jsonl",
                "evals/suite.yaml",
                "traces/run.json"
            ]
        );
        let again = bundle.load().suite.unwrap();
        let planned_again = plan_suite(&again, &CaseSelection::default()).unwrap();
        assert_eq!(planned_again, planned);
        // A case says which suite it belongs to, also where its row is in another file.
        let origin = |at: usize| planned_again.units[at].cell.origin().unwrap();
        assert_eq!((origin(0).file.as_str(), origin(0).suite), ("evals/suite.yaml", None));
        let of_row = origin(2);
        assert_eq!((of_row.file.as_str(), of_row.suite_file()), ("evals/rows/a.jsonl", "evals/suite.yaml"));
        let there = bundle.project(PathBuf::new());
        assert_eq!(there.read("traces/run.json").as_deref(), Ok("{\"steps\": []}"));
        assert_eq!(there.read("/etc/passwd"), Err(ReadError::Missing));
    }
}
