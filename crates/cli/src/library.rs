//! What other programs may call: rubrics and grading of records, with the results that `jurist grade` prints.

use std::path::Path;

use jurist_core::catalogue::{CHECKS, RECIPES};
use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity};
use jurist_core::dialect::LoadedSuite;
use jurist_engine::load::{SuiteFiles, load_suite, load_suite_text};
use serde_json::{Value as Json, json};

pub use crate::commands::grade::record_grader::{
    GradingCost, GradingFlags, JudgeOverrides, ProvidedModel, RecordGrader, SharedModelClient,
    run_embedding_check,
};
use crate::commands::stats::compute_problem_answer;
use crate::render::render_diagnostic;
use crate::suite_loading::{ChosenRubric, RubricChoice, choose_suite_rubric};

/// A valid rubric with its judges.
#[derive(Debug, Clone)]
pub struct LoadedRubric {
    chosen: ChosenRubric,
    /// What deserves a word although the rubric can be used.
    pub warnings: Vec<Json>,
}

/// Why a text is no rubric that can be used.
#[derive(Debug, Clone)]
pub struct RubricLoadError {
    /// As the command line prints it.
    pub message: String,
    /// As `jurist check --format json` prints them.
    pub diagnostics: Vec<Json>,
}

impl LoadedRubric {
    /// Reads a rubric or suite from a file; `name` selects one, if the file has more than one.
    pub fn load(path: &Path, name: Option<&str>, flags: &GradingFlags) -> Result<Self, RubricLoadError> {
        let loaded = load_suite(path, flags.loading.options());
        choose_loaded_rubric(loaded, path, name, flags)
    }

    /// Reads a rubric or suite from a text, which messages call `label`.
    pub fn load_text(
        label: &str,
        text: &str,
        name: Option<&str>,
        flags: &GradingFlags,
    ) -> Result<Self, RubricLoadError> {
        let loaded = load_suite_text(label, text, flags.loading.options());
        choose_loaded_rubric(loaded, Path::new(label), name, flags)
    }

    /// The rubric as data: criteria, scales, gates and the pass mark.
    pub fn to_json(&self) -> Json {
        self.chosen.rubric.to_json()
    }

    /// The hash of everything that decides a verdict.
    pub fn version(&self) -> &str {
        self.chosen.rubric.version().as_str()
    }

    pub fn pass_mark(&self) -> f64 {
        self.chosen.rubric.pass_mark
    }

    /// Prepares to grade records by this rubric.
    pub async fn grader(
        &self,
        flags: &GradingFlags,
        overrides: &JudgeOverrides,
    ) -> Result<RecordGrader, String> {
        RecordGrader::for_rubric(&self.chosen, flags, overrides).await.map_err(|error| format!("{error:#}"))
    }
}

/// What `jurist stats compute` prints for a problem: a result, why there is none, or what is wrong.
pub fn compute_stats_problem(problem: &Json) -> Json {
    compute_problem_answer(problem, &problem["input"])
}

/// Checks and recipes by name, as `jurist checks` lists them.
pub fn list_checks_and_recipes() -> Json {
    let kinds = [("check", CHECKS), ("recipe", RECIPES)];
    let all = kinds.into_iter().flat_map(|(kind, entries)| {
        entries.iter().map(move |entry| {
            let params: Vec<&str> = entry.params.iter().map(|param| param.name).collect();
            json!({ "name": entry.name, "kind": kind, "description": entry.help, "params": params })
        })
    });
    Json::Array(all.collect())
}

fn choose_loaded_rubric(
    loaded: LoadedSuite,
    path: &Path,
    name: Option<&str>,
    flags: &GradingFlags,
) -> Result<LoadedRubric, RubricLoadError> {
    let sources = loaded.sources;
    let mut diagnostics = loaded.diagnostics.into_sorted();
    diagnostics.retain(|diagnostic| diagnostic.severity != DiagnosticSeverity::Advice);
    let as_json = |all: &[Diagnostic]| all.iter().map(|one| one.to_json(&sources)).collect::<Vec<Json>>();
    let Some(suite) = loaded.suite else {
        let texts = diagnostics.iter().map(|diagnostic| {
            anstream::adapter::strip_str(&render_diagnostic(diagnostic, &sources)).to_string()
        });
        let message = texts.collect::<Vec<String>>().join("\n\n");
        return Err(RubricLoadError { message, diagnostics: as_json(&diagnostics) });
    };
    let project = SuiteFiles::of(path, flags.loading.options().outside);
    let choice = RubricChoice { path, name, flag: "name=" };
    let chosen = choose_suite_rubric(&suite, &loaded.settings, &project, choice).map_err(|error| {
        let diagnostic = json!({
            "file": path, "line": null, "column": null, "severity": "error", "code": "no-rubric",
            "message": error.to_string(), "help": null,
        });
        RubricLoadError { message: error.to_string(), diagnostics: vec![diagnostic] }
    })?;
    Ok(LoadedRubric { chosen, warnings: as_json(&diagnostics) })
}
