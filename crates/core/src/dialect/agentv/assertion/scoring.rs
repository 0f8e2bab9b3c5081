//! Metrics of promptfoo, and code that decides a test by their scores.

use serde_json::Value as Json;

use super::{AssertionReader, ScoringFunction};
use crate::catalogue::{self, CHECKS};
use crate::check::CompiledCheck;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::fields::MappingReader;
use crate::rubric::{Criterion, CriterionKind};

impl AssertionReader<'_> {
    /// A scoring function is given scores of criteria that stand for themselves.
    pub(super) fn note_metric(&mut self, fields: &MappingReader<'_>, metric: &str, criterion: &Criterion) {
        if 0 < self.depth && self.rules.scoring.is_some() {
            self.cx.report(
                Diagnostic::error(
                    Code::Unsupported,
                    fields.span("metric"),
                    "a `metric` inside an `assert-set` together with `assertScoringFunction` is not supported",
                )
                .note("promptfoo gives it to the function; here the function gets those of the test itself")
                .help("move the assertion out of the set"),
            );
            return;
        }
        self.asserted.metrics.push((metric.to_owned(), criterion.id.clone(), criterion.weight));
    }

    /// The code that decides a test of promptfoo by the scores of its metrics, as the only criterion that counts.
    pub(super) fn read_scoring_function(&mut self, scoring: &ScoringFunction) -> Option<Criterion> {
        let (cx, span) = (self.cx, scoring.code.span);
        let mut code = cx.raw_text(&scoring.code, "assertScoringFunction")?;
        let path = code.strip_prefix("file://").unwrap_or_default();
        let file = path.rsplit_once(':').map_or(path, |(file, _)| file);
        let ends = |extensions: &[&str]| extensions.iter().any(|end| file.ends_with(end));
        let language = if ends(&[".py"]) {
            "python"
        } else if ends(&[".js", ".mjs", ".cjs", ".ts"]) {
            "javascript"
        } else {
            cx.report(
                Diagnostic::error(
                    Code::BadValue,
                    span,
                    format!("`{code}` names no JavaScript or Python file"),
                )
                .note("promptfoo takes a function of a file there, such as `file://score.js:combine`"),
            );
            return None;
        };
        cx.find(file, span)?;
        // The function that promptfoo calls if none is named.
        if language == "python" && file == path {
            code.push_str(":func");
        }
        let mut scores = serde_json::Map::new();
        for (metric, id, weight) in &self.asserted.metrics {
            let named = scores.entry(metric.clone()).or_insert_with(|| Json::Object(serde_json::Map::new()));
            named[id.as_str()] = read_back(*weight);
        }
        let entry = catalogue::find_catalogue_entry(CHECKS, language)?;
        let mut params = serde_json::Map::new();
        params.insert("value".to_owned(), Json::from(code));
        params.insert("scores".to_owned(), Json::Object(scores));
        if let Some(threshold) = scoring.threshold {
            params.insert("config".to_owned(), serde_json::json!({ "threshold": read_back(threshold) }));
        }
        let method = catalogue::GradingMethod { entry, params };
        if let Err(error) = CompiledCheck::compile(&method) {
            cx.error(Code::BadValue, span, error.to_string());
            return None;
        }
        let id = self.ids.fresh("assertScoringFunction");
        let mut criterion = Criterion::new(id, "", CriterionKind::Check(method));
        (criterion.required, criterion.threshold) = (true, Some(scoring.threshold.unwrap_or(1e-6)));
        Some(criterion)
    }
}

/// A number as a file has it: a whole one without a fraction, so that converted suites are the same.
fn read_back(number: f64) -> Json {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    if is_whole { Json::from(number as i64) } else { Json::from(number) }
}
