//! Suites, monitors and settings: whatever stands in a file, its faults can be shown, and what loads means the same
//! after `jurist convert`.

use std::path::{Path, PathBuf};

use jurist_core::diagnostic::{Code, Diagnostic, DiagnosticSeverity};
use jurist_core::dialect::{
    self, Dialect, LoadedSuite, ProjectEnvironment, ReadError, VariableExpansion, to_native,
};
use jurist_core::plan::{CaseSelection, plan_suite};
use jurist_core::source::to_yaml;
use jurist_core::suite::Suite;

const ROOT: &str = "/project";

/// A file and those beside it, which stand behind it in the input, each after a line `%% NAME`.
struct Project<'t> {
    main: &'t str,
    others: Vec<(PathBuf, &'t str)>,
}

impl<'t> Project<'t> {
    fn new(input: &'t [u8]) -> Option<Self> {
        let mut files = std::str::from_utf8(input).ok()?.split("\n%% ");
        let main = files.next()?;
        let named = |file: &'t str| {
            let (name, text) = file.split_once('\n').unwrap_or((file, ""));
            (Path::new(ROOT).join(name), text)
        };
        Some(Self { main, others: files.map(named).collect() })
    }

    fn load(
        &self,
        text: &str,
        file: &str,
        dialect: Option<Dialect>,
        variables: VariableExpansion,
    ) -> LoadedSuite {
        let path = Path::new(ROOT).join(file);
        let read = |wanted: &Path| {
            let other = || self.others.iter().find(|(path, _)| path == wanted).map(|(_, text)| *text);
            let text = if wanted == path { Some(text) } else { other() };
            text.map(Into::into).ok_or(ReadError::Missing)
        };
        let glob = |_: &Path| Ok(self.others.iter().map(|(path, _)| path.clone()).collect());
        let variable = |name: &str| (name != "MISSING").then(|| format!("value of {name}"));
        let world = ProjectEnvironment {
            root: PathBuf::from(ROOT),
            read: &read,
            glob: &glob,
            variable: &variable,
            variables,
            call: &dialect::refuse_scripts,
        };
        let loaded = dialect::read_suite(&path, dialect, &world);
        for diagnostic in loaded.diagnostics.iter() {
            let shown = diagnostic.to_json(&loaded.sources);
            assert!(shown["line"].as_u64().is_some_and(|line| 0 < line), "{shown}");
        }
        assert!(
            loaded.suite.is_some() || loaded.diagnostics.has_errors(),
            "nothing came of it, and no error says why"
        );
        loaded
    }
}

/// What a file by itself comes to.
pub(crate) fn load_alone(text: &str, dialect: Dialect) -> LoadedSuite {
    Project { main: text, others: Vec::new() }.load(
        text,
        "alone.yaml",
        Some(dialect),
        VariableExpansion::Filled,
    )
}

pub fn read_project(dialect: Option<Dialect>, input: &[u8]) {
    let Some(project) = Project::new(input) else { return };
    let file = if project.main.trim_start().starts_with('{') { "suite.json" } else { "suite.yaml" };
    if let Some(suite) = project.load(project.main, file, dialect, VariableExpansion::Filled).suite {
        // Planning says why it fails; what it makes is bounded.
        let _ = plan_suite(&suite, &CaseSelection::default());
    }
    if let Some(suite) = project.load(project.main, file, dialect, VariableExpansion::Kept).suite {
        convert_and_compare(&project, &suite);
    }
}

/// What is converted and read again is the same suite.
fn convert_and_compare(project: &Project<'_>, suite: &Suite) {
    let tree = to_native(suite);
    let parts = ["rubrics", "evals", "monitors", "annotation", "servers", "judges"];
    // `jurist convert` refuses it: there is nothing to convert.
    if parts.iter().all(|part| tree.get(part).is_none()) {
        return;
    }
    let yaml = to_yaml(&tree);
    let loaded = project.load(&yaml, "again.yaml", Some(Dialect::Native), VariableExpansion::Kept);
    // Files that are not there are no fault of the conversion.
    let is_fault =
        |fault: &&Diagnostic| fault.severity == DiagnosticSeverity::Error && fault.code != Code::Unreadable;
    let faults: Vec<&Diagnostic> = loaded.diagnostics.iter().filter(is_fault).collect();
    assert!(faults.is_empty(), "{yaml}\n{faults:#?}");
    let Some(again) = loaded.suite else { return };
    assert_eq!(suite.cases, again.cases, "{yaml}");
    for (case, same) in suite.cases.iter().zip(&again.cases) {
        assert_eq!(case.rubric.version(), same.rubric.version(), "{yaml}");
    }
    assert_eq!(suite.monitors, again.monitors, "{yaml}");
    assert_eq!(suite.annotation, again.annotation, "{yaml}");
    assert_eq!((&suite.servers, &suite.judge), (&again.servers, &again.judge), "{yaml}");
    assert_eq!(yaml, to_yaml(&to_native(&again)), "converted twice, it is another file");
}

pub fn read_settings(input: &[u8]) {
    let Some(project) = Project::new(input) else { return };
    project.load(project.main, ".jurist/config.yaml", None, VariableExpansion::Filled);
}
