//! A Python function that answers prompts.

use std::sync::Arc;

use jurist_engine::model::{
    BoxFuture, LanguageModel, MessageRole, ModelError, ModelErrorKind, ModelReply, Request,
};
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::python_values::to_json_value;

/// A function of one text: the request as JSON in, the reply as text or as a dict out.
///
/// The package's Python side wraps what the user gave, so that functions of any signature, and asynchronous ones, are
/// called the same way.
pub(crate) struct CallableModel {
    function: Arc<Py<PyAny>>,
}

impl CallableModel {
    pub(crate) fn new(function: Py<PyAny>) -> Self {
        Self { function: Arc::new(function) }
    }
}

impl std::fmt::Debug for CallableModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallableModel")
    }
}

impl LanguageModel for CallableModel {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        let function = Arc::clone(&self.function);
        let text = describe_request(request).to_string();
        Box::pin(async move {
            // The function may block, so it runs on a thread of its own.
            let called = tokio::task::spawn_blocking(move || {
                Python::attach(|py| match call_function(py, &function, &text) {
                    Ok(reply) => Ok(reply),
                    Err(error) => Err(to_model_error(py, &error)),
                })
            });
            let lost = |error: tokio::task::JoinError| {
                ModelError::new(ModelErrorKind::Unavailable, format!("the judge function was lost: {error}"))
            };
            called.await.map_err(lost)?
        })
    }
}

/// The request as programs that speak to models know it.
fn describe_request(request: &Request) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": request.system })];
    messages.extend(request.messages.iter().map(|message| {
        let role = if message.role == MessageRole::User { "user" } else { "assistant" };
        json!({ "role": role, "content": message.parts.join("\n") })
    }));
    json!({
        "messages": messages, "schema": request.schema, "temperature": request.temperature,
        "max_tokens": request.max_tokens, "draw": request.draw,
    })
}

fn call_function(py: Python<'_>, function: &Py<PyAny>, text: &str) -> PyResult<ModelReply> {
    let returned = function.bind(py).call1((text,))?;
    if let Ok(text) = returned.extract::<String>() {
        return Ok(ModelReply { text, ..ModelReply::default() });
    }
    let value = to_json_value(&returned, "reply")?;
    serde_json::from_value(value).map_err(|_| {
        pyo3::exceptions::PyTypeError::new_err(
            "the judge function must return a text, or a dict with `text` and perhaps \
             `usage` (`input`, `cached`, `output`)",
        )
    })
}

/// What a function raised. A rate limit and a time limit pass; everything else would be raised again.
fn to_model_error(py: Python<'_>, error: &PyErr) -> ModelError {
    let status = error.value(py).getattr("status_code").and_then(|status| status.extract::<u16>());
    let kind = match status {
        Ok(429) => ModelErrorKind::RateLimit,
        Ok(401) => ModelErrorKind::Auth,
        Ok(500..=599) => ModelErrorKind::Unavailable,
        _ if error.is_instance_of::<PyTimeoutError>(py) => ModelErrorKind::Timeout,
        _ => ModelErrorKind::Rejected,
    };
    ModelError::new(kind, format!("the judge function raised {error}"))
}
