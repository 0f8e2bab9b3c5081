//! Every fixture loads silently and means what its converted form says; every broken twin names its faults.
//!
//! Drop a file into `tests/dialects/<dialect>/` or `tests/broken/<dialect>/`; no test code changes.
//! `JURIST_BLESS=1` writes the converted forms anew: review the difference.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jurist_core::diagnostic::DiagnosticSeverity;
use jurist_core::dialect::{
    self, Dialect, LoadedSuite, ProjectEnvironment, ReadError, VariableExpansion, to_native,
};
use jurist_core::source::to_yaml;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Suites directly in the folders of one tree, with their dialect.
fn fixtures(tree: &str) -> Vec<(Dialect, PathBuf)> {
    let mut all = Vec::new();
    for (name, dialect) in Dialect::ALL {
        let entries = fs::read_dir(tests().join(tree).join(name)).expect("each dialect has fixtures");
        let paths = entries.map(|entry| entry.unwrap().path());
        all.extend(
            paths
                .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
                .map(|path| (dialect, path)),
        );
    }
    all.sort_by(|a, b| a.1.cmp(&b.1));
    assert!(!all.is_empty());
    all
}

fn read(path: &Path) -> Result<std::sync::Arc<str>, ReadError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ReadError::Missing),
        Err(error) => Err(ReadError::Other(error.to_string())),
    }
}

/// Loads a file whose project is its own folder; `text` may stand in for what is on disk.
fn load(path: &Path, text: Option<&str>) -> LoadedSuite {
    let root = path.parent().unwrap().to_owned();
    let read = |it: &Path| match text {
        Some(text) if it == path => Ok(text.into()),
        _ if it.starts_with(&root) => read(it),
        _ => Err(ReadError::Outside),
    };
    let world = ProjectEnvironment {
        root: root.clone(),
        read: &read,
        glob: &|it| if it.starts_with(&root) { Ok(Vec::new()) } else { Err(ReadError::Outside) },
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &dialect::refuse_scripts,
    };
    dialect::read_suite(path, None, &world)
}

/// Line and code of everything wrong; advice is not.
fn problems(loaded: &LoadedSuite, path: &Path) -> BTreeSet<(usize, String)> {
    let faults =
        loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity != DiagnosticSeverity::Advice);
    let own = faults.filter(|diagnostic| loaded.sources.get(diagnostic.span.file).path == path);
    own.map(|diagnostic| (loaded.sources.place(diagnostic.span).line, diagnostic.code.name().to_owned()))
        .collect()
}

/// What `#~ code` at the end of a line expects.
fn marks(text: &str) -> BTreeSet<(usize, String)> {
    let line_marks = |(number, line): (usize, &str)| {
        let codes = line.split_once("#~").map_or("", |it| it.1).split_whitespace().map(str::to_owned);
        codes.map(|code| (number + 1, code)).collect::<Vec<_>>()
    };
    text.lines().enumerate().flat_map(line_marks).collect()
}

#[test]
fn fixtures_load_and_are_recognised() {
    for (expected, path) in fixtures("dialects") {
        let loaded = load(&path, None);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(problems(&loaded, &path), marks(&text), "{}: {:#?}", path.display(), loaded.diagnostics);
        assert_eq!(loaded.dialect, Some(expected), "{}", path.display());
        assert!(loaded.suite.is_some(), "{}", path.display());
    }
}

#[test]
fn broken_twins_name_every_fault_with_its_line() {
    for (_, path) in fixtures("broken") {
        let loaded = load(&path, None);
        let text = fs::read_to_string(&path).unwrap();
        let (found, expected) = (problems(&loaded, &path), marks(&text));
        let extra: Vec<_> = found.difference(&expected).collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        assert!(
            extra.is_empty() && missing.is_empty(),
            "{}\nnot expected: {extra:?}\nnot found: {missing:?}",
            path.display()
        );
        assert!(!expected.is_empty(), "{} expects nothing", path.display());
        assert!(loaded.suite.is_none(), "{} must not run", path.display());
    }
}

#[test]
fn converted_suites_are_the_same_suites() {
    let bless = std::env::var_os("JURIST_BLESS").is_some();
    for (dialect, path) in fixtures("dialects") {
        let suite = load(&path, None).suite.unwrap();
        let yaml = to_yaml(&to_native(&suite));
        let golden = tests().join("converted").join(dialect.name()).join(path.file_name().unwrap());
        if bless {
            fs::create_dir_all(golden.parent().unwrap()).unwrap();
            fs::write(&golden, &yaml).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(yaml, expected, "{}; JURIST_BLESS=1 accepts it", golden.display());

        let again = load(&path, Some(&yaml));
        assert!(!again.diagnostics.has_errors(), "{}\n{yaml}\n{:#?}", path.display(), again.diagnostics);
        let again = again.suite.unwrap();
        for (mine, theirs) in suite.cases.iter().zip(&again.cases) {
            assert_eq!(mine, theirs, "{}\n{yaml}", path.display());
            assert_eq!(mine.rubric.version(), theirs.rubric.version(), "{}", path.display());
        }
        assert_eq!(
            (suite.cases.len(), &suite.monitors),
            (again.cases.len(), &again.monitors),
            "{}",
            path.display()
        );
        assert_eq!(suite.annotation, again.annotation, "{}", path.display());
        assert_eq!((&suite.servers, &suite.judge), (&again.servers, &again.judge), "{}", path.display());
    }
}

#[test]
fn settings_of_a_project_are_read_and_have_nothing_to_run() {
    let path = tests().join("settings/agentv/config.yaml");
    let loaded = load(&path, None);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(problems(&loaded, &path), marks(&text), "{:#?}", loaded.diagnostics);
    assert_eq!(loaded.dialect, Some(Dialect::Agentv));
    assert!(loaded.suite.is_some_and(|suite| suite.cases.is_empty()));
}
