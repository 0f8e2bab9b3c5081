//! Graders as Python holds them: many rows at the same time, without the lock of the interpreter.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jurist::library::{
    GradingFlags, JudgeOverrides, LoadedRubric, ProvidedModel, RecordGrader, SharedModelClient,
};
use jurist_engine::call::SharedBudget;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{Id, JoinSet};

use crate::callable_model::CallableModel;
use crate::python_values::to_json_value;
use crate::shared_limits::PythonLimits;
use crate::to_native_error;

/// How often Python is asked whether the user pressed Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// Rows of one task, where each takes microseconds.
const CHUNK: usize = 64;

/// What decides who judges.
#[derive(FromPyObject)]
pub(crate) struct GradingSettings {
    /// As on the command line.
    #[pyo3(item)]
    flags: Vec<String>,
    /// Functions that judge, by name.
    #[pyo3(item)]
    judges: BTreeMap<String, Py<PyAny>>,
    #[pyo3(item)]
    n: Option<u32>,
    #[pyo3(item)]
    timeout: Option<f64>,
    /// Whose calls and threads the grader shares.
    #[pyo3(item)]
    session: Option<Py<NativeSession>>,
    /// Money and rate that other processes share.
    #[pyo3(item)]
    limits: Option<Py<PyAny>>,
    /// Threads of a grader that shares none; as many as the machine has cores where it is not given.
    #[pyo3(item)]
    n_threads: Option<usize>,
}

impl GradingSettings {
    fn parse_flags(&self) -> PyResult<GradingFlags> {
        GradingFlags::parse_flags(&self.flags).map_err(to_native_error)
    }

    fn runtime(&self) -> Arc<LazyRuntime> {
        match &self.session {
            Some(session) => Arc::clone(&session.get().runtime),
            None => Arc::new(LazyRuntime::with_threads(self.n_threads)),
        }
    }

    fn into_overrides(self) -> JudgeOverrides {
        let provided = self.judges.into_iter().map(|(name, function)| {
            let model = Arc::new(CallableModel::new(function));
            ProvidedModel { name, model }
        });
        let client = self.session.map(|session| session.get().client.clone());
        JudgeOverrides {
            provided: provided.collect(),
            client,
            shared_budget: self.limits.map(to_shared_budget),
            n_draws: self.n,
            timeout: self.timeout,
        }
    }
}

fn to_shared_budget(limits: Py<PyAny>) -> Arc<dyn SharedBudget> {
    Arc::new(PythonLimits::new(limits))
}

/// Tells a grader of another thread to stop.
#[pyclass(frozen, module = "jurist._native")]
pub(crate) struct InterruptSignal {
    stopped: Arc<AtomicBool>,
}

#[pymethods]
impl InterruptSignal {
    #[new]
    fn new() -> Self {
        Self { stopped: Arc::default() }
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// What became of rows.
#[pyclass(frozen, get_all, module = "jurist._native")]
pub(crate) struct GradedRows {
    /// A line of JSON for each row; None for one that was not graded.
    lines: Vec<Option<String>>,
    /// Why a row could not be graded, by its number.
    problems: BTreeMap<usize, String>,
    /// What ended the work before all rows were graded.
    interruption: Option<Py<PyAny>>,
    /// Whether a `InterruptSignal` ended it.
    stopped: bool,
}

/// Threads for what waits; there are none before they are needed.
struct LazyRuntime {
    runtime: OnceLock<Runtime>,
    n_threads: Option<usize>,
    /// The process that made it: threads do not survive a fork.
    process: u32,
}

/// Calls and threads that several graders share.
#[pyclass(frozen, module = "jurist._native")]
pub(crate) struct NativeSession {
    client: SharedModelClient,
    runtime: Arc<LazyRuntime>,
}

#[pymethods]
impl NativeSession {
    #[new]
    fn new(
        py: Python<'_>,
        flags: Vec<String>,
        has_functions: bool,
        limits: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let flags = GradingFlags::parse_flags(&flags).map_err(to_native_error)?;
        let budget = limits.map(to_shared_budget);
        // Settings and the cache are read.
        let client = py.detach(|| SharedModelClient::open(&flags, has_functions, budget));
        let client = client.map_err(to_native_error)?;
        Ok(Self { client, runtime: Arc::default() })
    }
}

/// A rubric or an evaluator with its judges.
#[pyclass(frozen, module = "jurist._native")]
pub(crate) struct NativeGrader {
    grader: Arc<RecordGrader>,
    runtime: Arc<LazyRuntime>,
}

impl Default for LazyRuntime {
    fn default() -> Self {
        Self::with_threads(None)
    }
}

impl Drop for LazyRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            if self.process == std::process::id() {
                runtime.shutdown_background();
            } else {
                // Its threads are in the parent, and would be waited for without end.
                std::mem::forget(runtime);
            }
        }
    }
}

fn build_runtime(n_threads: Option<usize>) -> PyResult<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if let Some(n_threads) = n_threads {
        builder.worker_threads(n_threads.max(1));
    }
    let runtime = builder.enable_all().max_blocking_threads(4096).build();
    runtime.map_err(|error| to_native_error(format!("the machine gives no threads: {error}")))
}

impl NativeGrader {
    pub(crate) fn for_rubric(
        py: Python<'_>,
        rubric: &LoadedRubric,
        settings: GradingSettings,
    ) -> PyResult<Self> {
        let (flags, runtime) = (settings.parse_flags()?, settings.runtime());
        let overrides = settings.into_overrides();
        Self::prepare(py, runtime, |runtime| {
            runtime.block_on(rubric.grader(&flags, &overrides)).map_err(to_native_error)
        })
    }

    pub(crate) fn for_evaluator(
        py: Python<'_>,
        name: &str,
        params: &Value,
        settings: GradingSettings,
    ) -> PyResult<Self> {
        let (flags, runtime) = (settings.parse_flags()?, settings.runtime());
        let overrides = settings.into_overrides();
        Self::prepare(py, runtime, |runtime| {
            let grader = RecordGrader::for_evaluator(name, params, &flags, &overrides);
            runtime.block_on(grader).map_err(|error| to_native_error(format!("{error:#}")))
        })
    }

    fn prepare(
        py: Python<'_>,
        runtime: Arc<LazyRuntime>,
        make: impl FnOnce(&Runtime) -> PyResult<RecordGrader> + Send,
    ) -> PyResult<Self> {
        py.detach(|| {
            // What only reads parameters needs no threads yet.
            let small = Builder::new_current_thread().enable_all().build();
            let small = small.map_err(|error| to_native_error(format!("no runtime: {error}")))?;
            let grader = Arc::new(make(&small)?);
            Ok(Self { grader, runtime })
        })
    }
}

impl LazyRuntime {
    fn with_threads(n_threads: Option<usize>) -> Self {
        Self { runtime: OnceLock::new(), n_threads, process: std::process::id() }
    }

    fn get(&self) -> PyResult<&Runtime> {
        if self.process != std::process::id() {
            return Err(to_native_error(
                "this grader was made before the process was forked; make a new one".to_owned(),
            ));
        }
        if self.runtime.get().is_none() {
            // Two threads may come here at the same time; one runtime is then dropped, unused.
            let _ = self.runtime.set(build_runtime(self.n_threads)?);
        }
        self.runtime.get().ok_or_else(|| to_native_error("no runtime".to_owned()))
    }
}

#[pymethods]
impl NativeGrader {
    /// Grades rows, `width` of them at the same time. `report` is called repeatedly with the number that is done.
    /// Without `stop`, this is the main thread, or may be, and ends on Ctrl-C.
    fn grade_rows(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyList>,
        label: &str,
        width: usize,
        report: Option<Py<PyAny>>,
        stop: Option<&InterruptSignal>,
    ) -> PyResult<GradedRows> {
        let mut records = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            let place = describe_row_place(label, index, rows.len());
            records.push(Some(PlacedRecord { record: to_json_value(&row, &place)?, place }));
        }
        if let [record] = records.as_mut_slice()
            && self.grader.is_immediate()
            && let Some(PlacedRecord { record, place }) = record.take()
        {
            let graded = py.detach(|| self.grader.grade_at_once(&place, record));
            let mut results = RowResults::new(1);
            results.add(0, graded);
            return Ok(results.finish(None, false));
        }
        let runtime = self.runtime.get()?;
        let asks_python = report.is_some() || stop.is_none();
        let stopped = stop.map(|stop| Arc::clone(&stop.stopped)).unwrap_or_default();
        let grader = Arc::clone(&self.grader);
        let batch = RowBatch { grader, records, width, report, stopped, asks_python };
        Ok(py.detach(|| runtime.block_on(batch.grade())))
    }

    fn take_messages(&self) -> Vec<String> {
        self.grader.take_messages()
    }

    /// Dollars (None: not known), requests, replies from the cache or a recording.
    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cost = self.grader.cost();
        let told = PyDict::new(py);
        told.set_item("dollars", cost.dollars)?;
        told.set_item("requests", cost.requests)?;
        told.set_item("from_cache", cost.from_cache)?;
        Ok(told)
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.grader.finish()).map_err(to_native_error)
    }
}

/// A single row needs no number.
fn describe_row_place(label: &str, index: usize, n_rows: usize) -> String {
    if n_rows == 1 { label.to_owned() } else { format!("{label}[{index}]") }
}

/// A record, and what it is called where it has no id.
struct PlacedRecord {
    record: Value,
    place: String,
}

/// Rows that are graded together.
struct RowBatch {
    grader: Arc<RecordGrader>,
    /// Nothing where one has been handed out.
    records: Vec<Option<PlacedRecord>>,
    width: usize,
    report: Option<Py<PyAny>>,
    stopped: Arc<AtomicBool>,
    /// Whether Python has to be asked about Ctrl-C, or told how far the work is. With thousands of batches in as many
    /// threads, its lock would be the bottleneck.
    asks_python: bool,
}

struct RowResults {
    lines: Vec<Option<String>>,
    problems: BTreeMap<usize, String>,
    n_done: usize,
}

impl RowResults {
    fn new(n_rows: usize) -> Self {
        Self { lines: vec![None; n_rows], problems: BTreeMap::new(), n_done: 0 }
    }

    fn add(&mut self, index: usize, graded: Result<String, String>) {
        self.n_done += 1;
        match graded {
            Ok(line) => self.lines[index] = Some(line),
            Err(problem) => {
                self.problems.insert(index, problem);
            }
        }
    }

    fn finish(self, interruption: Option<Py<PyAny>>, stopped: bool) -> GradedRows {
        GradedRows { lines: self.lines, problems: self.problems, interruption, stopped }
    }
}

/// A task that is at work on some rows.
struct StartedTask {
    task: Id,
    rows: Range<usize>,
}

/// A row with its number and its result.
struct GradedRow {
    index: usize,
    graded: Result<String, String>,
}

impl RowBatch {
    async fn grade(mut self) -> GradedRows {
        let n_rows = self.records.len();
        let mut results = RowResults::new(n_rows);
        let mut tasks: JoinSet<Vec<GradedRow>> = JoinSet::new();
        let (mut next, mut running) = (0, HashMap::<Id, Range<usize>>::new());
        let mut ticks = tokio::time::interval(TICK);
        loop {
            while next < n_rows && tasks.len() < self.width {
                let started = self.start_task(next, &mut tasks);
                next = started.rows.end;
                running.insert(started.task, started.rows);
            }
            tokio::select! {
                done = tasks.join_next_with_id() => match done {
                    Some(Ok((task, rows))) => {
                        running.remove(&task);
                        for row in rows {
                            results.add(row.index, row.graded);
                        }
                    }
                    // A task panicked: its rows get an error as their result.
                    Some(Err(error)) => {
                        for index in running.remove(&error.id()).unwrap_or_default() {
                            results.add(index, Err(format!("grading this row failed: {error}")));
                        }
                    }
                    None => break,
                },
                _ = ticks.tick() => {
                    if self.stopped.load(Ordering::Relaxed) {
                        return results.finish(None, true);
                    }
                    if self.asks_python
                        && let Err(error) = self.tell_python(results.n_done)
                    {
                        let raised = Python::attach(|py| error.into_value(py).into_any());
                        return results.finish(Some(raised), false);
                    }
                }
            }
        }
        results.finish(None, false)
    }

    /// Starts to grade the next row or rows.
    fn start_task(&mut self, first: usize, tasks: &mut JoinSet<Vec<GradedRow>>) -> StartedTask {
        let n_rows = if self.grader.is_immediate() { CHUNK } else { 1 };
        let end = (first + n_rows).min(self.records.len());
        let mut rows = Vec::with_capacity(end - first);
        for index in first..end {
            if let Some(placed) = self.records[index].take() {
                rows.push((index, placed));
            }
        }
        let grader = Arc::clone(&self.grader);
        let task = tasks.spawn(async move {
            let mut graded = Vec::with_capacity(rows.len());
            for (index, PlacedRecord { record, place }) in rows {
                graded.push(GradedRow { index, graded: grader.grade(&place, record).await });
            }
            graded
        });
        StartedTask { task: task.id(), rows: first..end }
    }

    /// Lets Python act on Ctrl-C, and tells it how far the work is.
    fn tell_python(&self, n_done: usize) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            match &self.report {
                Some(report) => report.call1(py, (n_done,)).map(|_| ()),
                None => Ok(()),
            }
        })
    }
}
