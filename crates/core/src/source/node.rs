//! A value in a file, with its position.

use std::borrow::Cow;

use super::SourceSpan;

/// One value and its position.
#[derive(Debug, Clone)]
pub struct SourceNode {
    pub span: SourceSpan,
    pub shape: NodeShape,
}

#[derive(Debug, Clone)]
pub enum NodeShape {
    Scalar(Scalar),
    List(Vec<SourceNode>),
    Map(Vec<NodeEntry>),
}

/// A key with its value; keys are always text, exactly as written.
#[derive(Debug, Clone)]
pub struct NodeEntry {
    pub key: String,
    pub key_span: SourceSpan,
    pub value: SourceNode,
}

/// A scalar as written. `plain` scalars (without quotes) may also be read as null, bool or number.
#[derive(Debug, Clone)]
pub struct Scalar {
    pub text: String,
    pub plain: bool,
}

impl Scalar {
    pub fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// YAML 1.2: only `true` and `false`; `yes`, `no`, `on` and `off` are text.
    pub fn as_bool(&self) -> Option<bool> {
        match self.text.as_str() {
            _ if !self.plain => None,
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }

    /// A number of the YAML 1.2 core schema; may be infinite or NaN if it was written so.
    pub fn as_number(&self) -> Option<f64> {
        if !self.plain {
            return None;
        }
        let text = self.text.as_str();
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok().map(|number| number as f64);
        }
        if let Some(digits) = text.strip_prefix("0o") {
            return u64::from_str_radix(digits, 8).ok().map(|number| number as f64);
        }
        match text {
            ".inf" | ".Inf" | ".INF" | "+.inf" => return Some(f64::INFINITY),
            "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
            ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
            _ => {}
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let starts_like_a_number = digits.starts_with(|digit: char| digit.is_ascii_digit())
            || (digits.starts_with('.') && digits[1..].starts_with(|digit: char| digit.is_ascii_digit()));
        // Rust also reads `inf`, `nan` and `infinity`; YAML does not.
        if starts_like_a_number { text.parse().ok() } else { None }
    }

    pub fn as_int(&self) -> Option<i64> {
        let plain_int = self.plain.then(|| self.text.parse().ok()).flatten();
        plain_int.or_else(|| {
            let number = self.as_number()?;
            (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
        })
    }
}

impl SourceNode {
    pub fn is_null(&self) -> bool {
        matches!(&self.shape, NodeShape::Scalar(it) if it.is_null())
    }

    pub fn scalar(&self) -> Option<&Scalar> {
        if let NodeShape::Scalar(it) = &self.shape { Some(it) } else { None }
    }

    /// The text of any scalar, null or not.
    pub fn text_or_null(&self) -> Option<&str> {
        self.scalar().map(|scalar| scalar.text.as_str())
    }

    /// The text of a scalar that is not null.
    pub fn text(&self) -> Option<&str> {
        self.scalar().filter(|scalar| !scalar.is_null()).map(|scalar| scalar.text.as_str())
    }

    pub fn list(&self) -> Option<&[SourceNode]> {
        if let NodeShape::List(it) = &self.shape { Some(it) } else { None }
    }

    pub fn map(&self) -> Option<&[NodeEntry]> {
        if let NodeShape::Map(it) = &self.shape { Some(it) } else { None }
    }

    pub fn get(&self, key: &str) -> Option<&SourceNode> {
        self.map()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Bytes of all texts in it, keys aside.
    pub fn n_text_bytes(&self) -> usize {
        match &self.shape {
            NodeShape::Scalar(scalar) => scalar.text.len(),
            NodeShape::List(items) => items.iter().map(Self::n_text_bytes).sum(),
            NodeShape::Map(entries) => entries.iter().map(|entry| entry.value.n_text_bytes()).sum(),
        }
    }

    /// What this is, for "expected a list, found …".
    pub fn describe(&self) -> Cow<'static, str> {
        match &self.shape {
            NodeShape::List(_) => "a list".into(),
            NodeShape::Map(_) => "a mapping".into(),
            NodeShape::Scalar(it) if it.is_null() => "nothing".into(),
            NodeShape::Scalar(it) if it.as_bool().is_some() => format!("`{}`", it.text).into(),
            NodeShape::Scalar(it) if it.as_number().is_some() => format!("the number {}", it.text).into(),
            NodeShape::Scalar(_) => "text".into(),
        }
    }

    /// A value from elsewhere, all of it at one place.
    pub fn of_json(value: &serde_json::Value, span: SourceSpan) -> Self {
        use serde_json::Value;
        let shape = match value {
            Value::String(it) => NodeShape::Scalar(Scalar { text: it.clone(), plain: false }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                NodeShape::Scalar(Scalar { text: value.to_string(), plain: true })
            }
            Value::Array(items) => {
                NodeShape::List(items.iter().map(|item| Self::of_json(item, span)).collect())
            }
            Value::Object(map) => {
                let entry = |(key, it): (&String, &Value)| NodeEntry {
                    key: key.clone(),
                    key_span: span,
                    value: Self::of_json(it, span),
                };
                NodeShape::Map(map.iter().map(entry).collect())
            }
        };
        Self { span, shape }
    }

    /// The value as JSON, scalars read by YAML 1.2's core schema; mapping keys stay text.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.shape {
            NodeShape::List(items) => items.iter().map(SourceNode::to_json).collect(),
            NodeShape::Map(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect()
            }
            NodeShape::Scalar(it) if it.is_null() => Value::Null,
            NodeShape::Scalar(it) => {
                let bool = it.as_bool().map(Value::Bool);
                let int = || it.plain.then(|| it.text.parse::<i64>().ok()).flatten().map(Value::from);
                let number = || it.as_number().and_then(json_number);
                bool.or_else(int).or_else(number).unwrap_or_else(|| Value::String(it.text.clone()))
            }
        }
    }
}

/// A number as JSON; whole ones are written without a point, however they were spelt.
///
/// JSON has no infinity and no NaN: `None`.
pub fn json_number(number: f64) -> Option<serde_json::Value> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some((number as i64).into());
    }
    serde_json::Number::from_f64(number).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Scalar {
        Scalar { text: text.to_owned(), plain: true }
    }

    #[test]
    fn words_of_older_yaml_are_text() {
        for word in ["yes", "no", "on", "off", "y", "n", "inf", "nan", "infinity", "1_000", "12:30:45"] {
            let scalar = plain(word);
            assert_eq!((scalar.as_bool(), scalar.as_number()), (None, None), "{word}");
        }
    }

    #[test]
    fn numbers_are_those_of_the_core_schema() {
        for (text, number) in
            [("12", 12.0), ("-1.5", -1.5), (".5", 0.5), ("0x1F", 31.0), ("0o17", 15.0), ("1e3", 1000.0)]
        {
            assert_eq!(plain(text).as_number(), Some(number), "{text}");
        }
        assert!(plain(".nan").as_number().is_some_and(f64::is_nan));
        assert_eq!(Scalar { text: "1".into(), plain: false }.as_number(), None);
    }
}
