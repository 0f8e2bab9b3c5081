//! Python's values as JSON.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Deeper values are taken for ones that contain themselves.
const MAX_DEPTH: usize = 200;

/// Methods by which values of other libraries become plain ones: pydantic, arrays and columns of tables, our own
/// results, numbers of NumPy, dates. A column of pandas also has `to_dict`, which is about its index.
const CONVERSIONS: [&str; 8] =
    ["model_dump", "tolist", "to_list", "to_pylist", "to_dict", "item", "isoformat", "_asdict"];

/// A value as JSON; `place` is its position in messages.
pub(crate) fn to_json_value(value: &Bound<'_, PyAny>, place: &str) -> PyResult<Value> {
    convert_value(value, place, 0)
}

fn convert_value(value: &Bound<'_, PyAny>, place: &str, depth: usize) -> PyResult<Value> {
    if MAX_DEPTH < depth {
        return Err(PyValueError::new_err(format!("`{place}` is nested more than {MAX_DEPTH} times")));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.extract::<String>()?));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return convert_integer(value, place);
    }
    if value.is_instance_of::<PyFloat>() {
        return convert_float(value.extract()?, place);
    }
    if let Ok(mapping) = value.cast::<PyDict>() {
        let mut object = Map::new();
        for (key, inner) in mapping {
            let key = key.str()?.extract::<String>()?;
            let inner = convert_value(&inner, &format!("{place}.{key}"), depth + 1)?;
            object.insert(key, inner);
        }
        return Ok(Value::Object(object));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.enumerate();
        let items = items.map(|(index, item)| convert_value(&item?, &format!("{place}[{index}]"), depth + 1));
        return items.collect::<PyResult<Vec<Value>>>().map(Value::Array);
    }
    convert_foreign(value, place, depth)
}

fn convert_integer(value: &Bound<'_, PyAny>, place: &str) -> PyResult<Value> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Value::from(number));
    }
    match value.extract::<u64>() {
        Ok(number) => Ok(Value::from(number)),
        // As a JSON parser reads it.
        Err(_) => convert_float(value.extract()?, place),
    }
}

/// A number; NaN is how tables write a missing value.
fn convert_float(number: f64, place: &str) -> PyResult<Value> {
    if number.is_nan() {
        return Ok(Value::Null);
    }
    Number::from_f64(number)
        .map(Value::Number)
        .ok_or_else(|| PyValueError::new_err(format!("`{place}` is not a finite number")))
}

fn convert_foreign(value: &Bound<'_, PyAny>, place: &str, depth: usize) -> PyResult<Value> {
    // A class has such methods as well, and nothing to call them on.
    let is_class = value.is_instance_of::<pyo3::types::PyType>();
    if !is_class {
        for name in CONVERSIONS {
            if let Ok(method) = value.getattr(name) {
                return convert_value(&method.call0()?, place, depth + 1);
            }
        }
        if value.hasattr("__dataclass_fields__")? {
            return convert_value(&value.getattr("__dict__")?, place, depth + 1);
        }
        if value.hasattr("keys")? {
            let mapping = PyDict::new(value.py());
            for key in value.call_method0("keys")?.try_iter()? {
                let key = key?;
                mapping.set_item(&key, value.get_item(&key)?)?;
            }
            return convert_value(&mapping, place, depth + 1);
        }
    }
    let kind = value.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!(
        "`{place}` is a `{kind}`; give text, a number, true or false, a list or a dict"
    )))
}
