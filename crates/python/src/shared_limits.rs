//! Money and rate of calls that a Python object shares with other processes.

use std::sync::Arc;

use jurist_core::grade::Usd;
use jurist_engine::call::{BudgetReservation, SharedBudget, unknown_price_error};
use jurist_engine::model::{BoxFuture, ModelError, ModelErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An object with `reserve_call`, `settle_call` and `may_fit`; amounts are whole billionths of a dollar.
pub(crate) struct PythonLimits {
    object: Arc<Py<PyAny>>,
}

impl PythonLimits {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self { object: Arc::new(object) }
    }
}

impl std::fmt::Debug for PythonLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonLimits")
    }
}

impl SharedBudget for PythonLimits {
    fn reserve<'a>(
        &'a self,
        model: &'a str,
        most: Option<Usd>,
    ) -> BoxFuture<'a, Result<Box<dyn BudgetReservation>, ModelError>> {
        let (object, model) = (Arc::clone(&self.object), model.to_owned());
        Box::pin(async move {
            // The Python object may block, so it runs on a thread of its own. If the call is cancelled, the reservation
            // is dropped, which settles it.
            let asked = tokio::task::spawn_blocking(move || reserve_call(object, &model, most));
            let lost = |error: tokio::task::JoinError| build_limits_error(&error.to_string());
            let reservation = asked.await.map_err(lost)??;
            Ok(Box::new(reservation) as Box<dyn BudgetReservation>)
        })
    }

    fn may_fit(&self, most: Usd) -> BoxFuture<'_, bool> {
        let object = Arc::clone(&self.object);
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                Python::attach(|py| object.call_method1(py, "may_fit", (most.nanos(),))?.extract::<bool>(py))
            });
            // If the limits cannot be read, the reservation itself decides.
            !matches!(asked.await, Ok(Ok(false)))
        })
    }
}

/// A reservation of a Python object. Dropped without being settled, it counts at its highest cost.
struct PythonReservation {
    object: Arc<Py<PyAny>>,
    /// None after it was settled.
    id: Option<Py<PyAny>>,
    most: Option<Usd>,
}

impl std::fmt::Debug for PythonReservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonReservation")
    }
}

impl BudgetReservation for PythonReservation {
    fn settle(mut self: Box<Self>, cost: Option<Usd>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Some(id) = self.id.take() {
                let (object, cost) = (Arc::clone(&self.object), cost.or(self.most));
                // Only a panic would be lost here, and then the reservation stays open, which is on the safe side.
                let _ = tokio::task::spawn_blocking(move || settle_call(&object, &id, cost)).await;
            }
        })
    }
}

impl Drop for PythonReservation {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let (object, most) = (Arc::clone(&self.object), self.most);
            // The object may wait for another machine, and this thread belongs to a runtime.
            std::thread::spawn(move || settle_call(&object, &id, most));
        }
    }
}

fn reserve_call(
    object: Arc<Py<PyAny>>,
    model: &str,
    most: Option<Usd>,
) -> Result<PythonReservation, ModelError> {
    let id = Python::attach(|py| {
        let raised = |error: PyErr| build_limits_error(&error.to_string());
        let answer = object.bind(py).call_method1("reserve_call", (model, most.map(Usd::nanos)));
        let answer = answer.map_err(raised)?;
        let answer = answer.cast::<PyDict>().map_err(|error| build_limits_error(&error.to_string()))?;
        if let Some(why) = answer.get_item("refused").map_err(raised)? {
            return Err(ModelError::new(ModelErrorKind::OverBudget, why.to_string()));
        }
        match answer.get_item("reservation").map_err(raised)? {
            Some(id) => Ok(id.unbind()),
            None => Err(unknown_price_error(model)),
        }
    })?;
    Ok(PythonReservation { object, id: Some(id), most })
}

fn settle_call(object: &Py<PyAny>, id: &Py<PyAny>, cost: Option<Usd>) {
    // Without an interpreter, the program ends; the reservation then counts at its highest cost.
    let _ = Python::try_attach(|py| {
        if let Err(error) = object.call_method1(py, "settle_call", (id, cost.map(Usd::nanos))) {
            error.write_unraisable(py, Some(object.bind(py)));
        }
    });
}

fn build_limits_error(why: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Unavailable, format!("cannot reserve budget: {why}"))
}
