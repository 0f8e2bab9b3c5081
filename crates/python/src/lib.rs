//! The extension module of the Python package `jurist`: rubrics, grading and the command.
//!
//! Decides nothing: it carries values between Python and [`jurist::library`]. The package's Python files give them
//! types and names.

#![allow(clippy::needless_pass_by_value, reason = "pyo3 gives arguments by value")]

mod callable_model;
mod native_grader;
mod python_values;
mod shared_limits;

use std::ffi::OsString;
use std::path::PathBuf;

use jurist::library::{
    GradingFlags, LoadedRubric, RubricLoadError, compute_stats_problem, list_checks_and_recipes,
    run_embedding_check,
};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use native_grader::{GradedRows, GradingSettings, InterruptSignal, NativeGrader, NativeSession};
use python_values::to_json_value;

create_exception!(_native, NativeError, PyException, "Something that the caller gave is wrong.");
create_exception!(
    _native,
    NativeRubricError,
    NativeError,
    "A rubric is wrong; (message, diagnostics as JSON)."
);

pub(crate) fn to_native_error(message: String) -> PyErr {
    NativeError::new_err(message)
}

fn to_rubric_error(problem: RubricLoadError) -> PyErr {
    let diagnostics = serde_json::Value::Array(problem.diagnostics).to_string();
    NativeRubricError::new_err((problem.message, diagnostics))
}

/// A rubric that was checked.
#[pyclass(frozen, name = "NativeRubric", module = "jurist._native")]
pub(crate) struct NativeRubric {
    pub(crate) loaded: LoadedRubric,
}

#[pymethods]
impl NativeRubric {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, name: Option<String>, flags: Vec<String>) -> PyResult<Self> {
        let flags = GradingFlags::parse_flags(&flags).map_err(to_native_error)?;
        let loaded = py.detach(|| LoadedRubric::load(&path, name.as_deref(), &flags));
        loaded.map(|loaded| Self { loaded }).map_err(to_rubric_error)
    }

    #[staticmethod]
    fn load_text(
        py: Python<'_>,
        label: &str,
        text: &str,
        name: Option<String>,
        flags: Vec<String>,
    ) -> PyResult<Self> {
        let flags = GradingFlags::parse_flags(&flags).map_err(to_native_error)?;
        let loaded = py.detach(|| LoadedRubric::load_text(label, text, name.as_deref(), &flags));
        loaded.map(|loaded| Self { loaded }).map_err(to_rubric_error)
    }

    fn to_json(&self) -> String {
        self.loaded.to_json().to_string()
    }

    #[getter]
    fn version(&self) -> &str {
        self.loaded.version()
    }

    #[getter]
    fn pass_mark(&self) -> f64 {
        self.loaded.pass_mark()
    }

    #[getter]
    fn warnings(&self) -> String {
        serde_json::Value::Array(self.loaded.warnings.clone()).to_string()
    }

    fn grader(&self, py: Python<'_>, settings: GradingSettings) -> PyResult<NativeGrader> {
        NativeGrader::for_rubric(py, &self.loaded, settings)
    }
}

/// Prepares one check or recipe.
#[pyfunction]
fn make_evaluator(
    py: Python<'_>,
    name: &str,
    params: &Bound<'_, PyAny>,
    settings: GradingSettings,
) -> PyResult<NativeGrader> {
    NativeGrader::for_evaluator(py, name, &to_json_value(params, "params")?, settings)
}

/// Compares meanings with embeddings that a Python function makes.
#[pyfunction]
fn compare_embeddings(
    params: &Bound<'_, PyAny>,
    record: &Bound<'_, PyAny>,
    embed: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let mut raised = None;
    let line =
        run_embedding_check(&to_json_value(params, "params")?, &to_json_value(record, "record")?, |texts| {
            let made = embed.call1((texts.to_vec(),)).and_then(|made| made.extract::<Vec<Vec<f32>>>());
            made.map_err(|error| {
                raised = Some(error);
                String::new()
            })
        });
    match raised {
        Some(error) => Err(error),
        None => line.map_err(to_native_error),
    }
}

/// A statistic by name, as `jurist stats compute` gives it.
#[pyfunction]
fn solve_statistics_problem(py: Python<'_>, problem: &Bound<'_, PyAny>) -> PyResult<String> {
    let problem = to_json_value(problem, "problem")?;
    Ok(py.detach(|| compute_stats_problem(&problem).to_string()))
}

/// Checks and recipes as JSON.
#[pyfunction]
fn list_evaluators() -> String {
    list_checks_and_recipes().to_string()
}

/// Runs the `jurist` command; gives the number that the process should end with.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| jurist::run_command_line(arguments))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NativeError", module.py().get_type::<NativeError>())?;
    module.add("NativeRubricError", module.py().get_type::<NativeRubricError>())?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<NativeRubric>()?;
    module.add_class::<NativeGrader>()?;
    module.add_class::<NativeSession>()?;
    module.add_class::<GradedRows>()?;
    module.add_class::<InterruptSignal>()?;
    module.add_function(wrap_pyfunction!(make_evaluator, module)?)?;
    module.add_function(wrap_pyfunction!(compare_embeddings, module)?)?;
    module.add_function(wrap_pyfunction!(solve_statistics_problem, module)?)?;
    module.add_function(wrap_pyfunction!(list_evaluators, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)
}
