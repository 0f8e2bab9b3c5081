//! Reads suites, rubrics and settings for commands, and prints what is wrong with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::builder::Resettable;
use jurist_core::candidate::Candidate;
use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity, closest};
use jurist_core::dialect::{Dialect, LoadedSuite, ProjectSettings, VariableExpansion};
use jurist_core::rubric::Rubric;
use jurist_core::suite::{FilledVariables, Judge, Monitor, Suite};
use jurist_engine::bundle::Reading;
use jurist_engine::load::{LoadOptions, Outside, SuiteFiles, load_suite, load_suite_with_sources};
use jurist_engine::load_script::ScriptPolicy;

use crate::render;

/// How files are read; the same for every command that reads one.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = Resettable::Reset)]
pub(crate) struct LoadingArgs {
    /// Dialect of the file [default: detected]
    #[arg(long, value_name = "NAME", value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
    /// Allow references to files outside the project
    #[arg(long)]
    pub(crate) allow_outside: bool,
}

impl LoadingArgs {
    pub(crate) fn options(&self) -> LoadOptions {
        let outside = if self.allow_outside { Outside::Allowed } else { Outside::Refused };
        let scripts = ScriptPolicy::default();
        LoadOptions { dialect: self.dialect, outside, variables: VariableExpansion::Filled, scripts }
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    let named = Dialect::ALL.iter().find(|(known, _)| *known == name).map(|(_, dialect)| *dialect);
    named.ok_or_else(|| format!("one of {}", Dialect::ALL.map(|(name, _)| name).join(", ")))
}

/// A suite without errors.
pub(crate) struct ValidSuite {
    pub(crate) suite: Suite,
    pub(crate) settings: ProjectSettings,
    /// The files it was read from.
    pub(crate) reading: Reading,
}

/// Loads a valid suite; prints all problems and returns `None` if the suite is invalid.
pub(crate) fn load_valid_suite(path: &Path, options: LoadOptions) -> anyhow::Result<Option<Suite>> {
    Ok(load_suite_with_settings(path, options)?.map(|valid| valid.suite))
}

/// Loads a valid suite together with its settings and the files it was read from.
pub(crate) fn load_suite_with_settings(
    path: &Path,
    options: LoadOptions,
) -> anyhow::Result<Option<ValidSuite>> {
    let (loaded, reading) = load_suite_with_sources(path, options);
    show_loaded_suite(loaded, reading)
}

/// Prints the problems of a suite, and returns it if there are none.
pub(crate) fn show_loaded_suite(loaded: LoadedSuite, reading: Reading) -> anyhow::Result<Option<ValidSuite>> {
    let not_advice = |diagnostic: &Diagnostic| diagnostic.severity != DiagnosticSeverity::Advice;
    let diagnostics: Vec<Diagnostic> =
        loaded.diagnostics.into_sorted().into_iter().filter(not_advice).collect();
    render::print_diagnostics(&diagnostics, &loaded.sources)?;
    Ok(loaded.suite.map(|suite| ValidSuite { suite, settings: loaded.settings, reading }))
}

/// A rubric with the settings that choose its judges.
#[derive(Debug, Clone)]
pub(crate) struct ChosenRubric {
    pub(crate) rubric: Arc<Rubric>,
    pub(crate) judge: Judge,
    /// Judges that the file names.
    pub(crate) judges: BTreeMap<String, Judge>,
    /// Variables of the environment in the texts of the file.
    pub(crate) variables: FilledVariables,
    pub(crate) settings: ProjectSettings,
    /// The files of the suite's folder, in which programs start.
    pub(crate) project: SuiteFiles,
    /// The candidate of the eval file that uses the rubric.
    pub(crate) candidate: Option<Candidate>,
}

/// A rubric of a file.
struct FileRubric<'a> {
    name: String,
    rubric: &'a Arc<Rubric>,
    judge: &'a Judge,
    /// The candidate of its eval.
    candidate: Option<&'a Candidate>,
}

/// The only rubric of a file, or the one with the given name, with its judge.
///
/// `flag` is the option that names a rubric.
pub(crate) fn choose_file_rubric(
    path: &Path,
    name: Option<&str>,
    flag: &str,
    loading: &LoadingArgs,
) -> anyhow::Result<Option<ChosenRubric>> {
    let Some(valid) = load_suite_with_settings(path, loading.options())? else { return Ok(None) };
    let project = SuiteFiles::of(path, loading.options().outside);
    choose_suite_rubric(&valid.suite, &valid.settings, &project, RubricChoice { path, name, flag }).map(Some)
}

/// The rubric of a file that a command needs.
#[derive(Clone, Copy)]
pub(crate) struct RubricChoice<'a> {
    pub(crate) path: &'a Path,
    /// Without one, the file must hold a single rubric.
    pub(crate) name: Option<&'a str>,
    /// The option that selects one.
    pub(crate) flag: &'a str,
}

/// The only rubric of a suite, or the one with the given name, with its judge.
pub(crate) fn choose_suite_rubric(
    suite: &Suite,
    settings: &ProjectSettings,
    project: &SuiteFiles,
    choice: RubricChoice<'_>,
) -> anyhow::Result<ChosenRubric> {
    let RubricChoice { path, name, flag } = choice;
    let monitor_name = |monitor: &'_ Monitor| {
        monitor.agents.first().map_or_else(|| "monitor".to_owned(), |(agent, _)| agent.clone())
    };
    // Evals come first: one that uses a named rubric also has its judge.
    let of_cases = suite.cases.iter().map(|case| FileRubric {
        name: case.name.clone(),
        rubric: &case.rubric,
        judge: &case.judge,
        candidate: Some(&case.candidate),
    });
    let without_case =
        |name: String, rubric| FileRubric { name, rubric, judge: &suite.judge, candidate: None };
    let named = suite.rubrics.iter().map(|(name, rubric)| without_case(name.clone(), rubric));
    let of_monitors =
        suite.monitors.iter().map(|monitor| without_case(monitor_name(monitor), &monitor.rubric));
    let all: Vec<FileRubric<'_>> = of_cases.chain(named).chain(of_monitors).collect();
    let names: Vec<&str> = all.iter().map(|file_rubric| file_rubric.name.as_str()).collect();
    let taken = |file_rubric: &FileRubric<'_>| ChosenRubric {
        candidate: file_rubric.candidate.cloned(),
        rubric: Arc::clone(file_rubric.rubric),
        judge: file_rubric.judge.clone(),
        judges: suite.judges.clone(),
        variables: suite.variables.clone(),
        settings: settings.clone(),
        project: project.clone(),
    };
    if let Some(name) = name {
        let chosen = all.iter().find(|file_rubric| file_rubric.name == name).map(taken);
        let hint = match closest(name, &names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if names.is_empty() => "it holds none".to_owned(),
            None => format!("there are {}", names.join(", ")),
        };
        return chosen.ok_or_else(|| anyhow::anyhow!("`{}` has no rubric `{name}`; {hint}", path.display()));
    }
    // Evals that use the same rubric count as one choice.
    let mut versions: Vec<&str> =
        all.iter().map(|file_rubric| file_rubric.rubric.version().as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    match (versions.len(), all.first()) {
        (1, Some(only)) => Ok(taken(only)),
        (_, None) => anyhow::bail!("`{}` holds no rubric", path.display()),
        _ => anyhow::bail!(
            "`{}` holds several rubrics; choose one with {flag}: {}",
            path.display(),
            names.join(", ")
        ),
    }
}

/// The settings of the project that the current folder is in.
pub(crate) fn load_current_settings() -> anyhow::Result<ProjectSettings> {
    load_folder_settings(Path::new("."))
}

/// The settings of the project that a folder is in.
pub(crate) fn load_folder_settings(folder: &Path) -> anyhow::Result<ProjectSettings> {
    let folder = std::path::absolute(folder)?;
    let file =
        folder.ancestors().map(|ancestor| ancestor.join(".jurist/config.yaml")).find(|path| path.is_file());
    match file {
        Some(path) => {
            let loaded = load_suite(&path, Default::default());
            anyhow::ensure!(
                !loaded.diagnostics.has_errors(),
                "`{}` is not valid; run `jurist check` for details",
                path.display()
            );
            Ok(loaded.settings)
        }
        None => Ok(ProjectSettings::default()),
    }
}
