//! Result files of other tools: what was asked and answered, and what the tool made of it.
//!
//! One table says where each tool keeps what; nothing else here knows a tool.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

/// Where a tool keeps the parts of a result. Paths are names with dots between them; the first that is there holds.
#[derive(Debug)]
struct ResultShape {
    tool: &'static str,
    /// Where the list of results is, in a file that is one mapping.
    list: &'static [&'static str],
    /// A result is the tool's if it has all of these.
    marks: &'static [&'static str],
    id: &'static [&'static str],
    task: &'static [&'static str],
    response: &'static [&'static str],
    reference: &'static [&'static str],
    context: &'static [&'static str],
    scores: ScoreShape,
}

/// How a tool keeps its scores.
#[derive(Debug)]
enum ScoreShape {
    /// A list of mappings.
    Parts {
        list: &'static [&'static str],
        name: &'static [&'static str],
        score: &'static [&'static str],
        reason: &'static str,
    },
    /// A mapping from names to numbers, or to mappings with a value.
    Named { map: &'static [&'static str] },
    /// Columns with numbers that are nothing else.
    Columns,
}

const SHAPES: &[ResultShape] = &[
    ResultShape {
        tool: "promptfoo",
        list: &["results.results", "results"],
        marks: &["gradingResult"],
        id: &["id"],
        task: &["prompt.raw"],
        response: &["response.output"],
        reference: &[],
        context: &["vars.context"],
        scores: ScoreShape::Parts {
            list: &["gradingResult.componentResults"],
            name: &["assertion.metric", "assertion.type"],
            score: &["score"],
            reason: "reason",
        },
    },
    ResultShape {
        tool: "DeepEval",
        list: &["testCases", "test_cases", "test_results"],
        marks: &["actualOutput"],
        id: &["name"],
        task: &["input"],
        response: &["actualOutput"],
        reference: &["expectedOutput"],
        context: &["retrievalContext", "context"],
        scores: DEEPEVAL_SCORES,
    },
    ResultShape {
        tool: "DeepEval",
        list: &["test_cases", "test_results"],
        marks: &["actual_output"],
        id: &["name"],
        task: &["input"],
        response: &["actual_output"],
        reference: &["expected_output"],
        context: &["retrieval_context", "context"],
        scores: DEEPEVAL_SCORES,
    },
    ResultShape {
        tool: "ragas",
        list: &[],
        marks: &["user_input", "response"],
        id: &["id"],
        task: &["user_input"],
        response: &["response"],
        reference: &["reference"],
        context: &["retrieved_contexts"],
        scores: ScoreShape::Columns,
    },
    ResultShape {
        tool: "Inspect",
        list: &["samples"],
        marks: &["epoch", "target"],
        id: &["id"],
        task: &["input"],
        response: &["output.completion", "output.choices.0.message.content"],
        reference: &["target"],
        context: &[],
        scores: ScoreShape::Named { map: &["scores", "score"] },
    },
    ResultShape {
        tool: "OpenAI evals",
        list: &["data"],
        marks: &["datasource_item", "results"],
        id: &["id"],
        task: &["datasource_item.input", "datasource_item.question", "datasource_item"],
        response: &["sample.output_text", "sample.output.0.content"],
        reference: &["datasource_item.expected", "datasource_item.ideal", "datasource_item.answer"],
        context: &[],
        scores: ScoreShape::Parts {
            list: &["results"],
            name: &["name"],
            score: &["score", "passed"],
            reason: "reason",
        },
    },
    ResultShape {
        tool: "Langfuse",
        list: &["data"],
        marks: &["input", "output", "scores", "timestamp"],
        id: &["id", "traceId"],
        task: &["input"],
        response: &["output"],
        reference: &["expectedOutput"],
        context: &[],
        scores: ScoreShape::Parts {
            list: &["scores"],
            name: &["name"],
            score: &["value"],
            reason: "comment",
        },
    },
    ResultShape {
        tool: "AgentV",
        list: &["results"],
        marks: &["test_id", "scores"],
        id: &["test_id"],
        task: &["input"],
        response: &["output", "output_text", "answer"],
        reference: &["expected_output"],
        context: &[],
        scores: ScoreShape::Parts {
            list: &["scores"],
            name: &["name", "type"],
            score: &["score"],
            reason: "reasoning",
        },
    },
    // Without a list of scores, AgentV has what each rubric item came to.
    ResultShape {
        tool: "AgentV",
        list: &["results"],
        marks: &["test_id", "assertions"],
        id: &["test_id"],
        task: &["input"],
        response: &["output", "output_text", "answer"],
        reference: &["expected_output"],
        context: &[],
        scores: ScoreShape::Parts {
            list: &["assertions"],
            name: &["text"],
            score: &["passed"],
            reason: "evidence",
        },
    },
    ResultShape {
        tool: "Braintrust",
        list: &["rows", "events"],
        marks: &["input", "output", "scores"],
        id: &["id"],
        task: &["input"],
        response: &["output"],
        reference: &["expected"],
        context: &["metadata.context"],
        scores: ScoreShape::Named { map: &["scores"] },
    },
    ResultShape {
        tool: "LangSmith",
        list: &["runs"],
        marks: &["inputs", "outputs", "feedback_stats"],
        id: &["id"],
        task: &["inputs.input", "inputs.question", "inputs"],
        response: &["outputs.output", "outputs.answer", "outputs"],
        reference: &["reference_outputs.output", "reference_outputs"],
        context: &[],
        scores: ScoreShape::Named { map: &["feedback_stats"] },
    },
];

const DEEPEVAL_SCORES: ScoreShape = ScoreShape::Parts {
    list: &["metricsData", "metrics_data"],
    name: &["name"],
    score: &["score", "success"],
    reason: "reason",
};

/// What a file of another tool holds.
#[derive(Debug, PartialEq)]
pub struct ForeignResults {
    pub tool: &'static str,
    /// `{id, input, response, expected, context}`.
    pub records: Vec<Value>,
    /// `{candidate, criterion, value, grader, reason}`.
    pub grades: Vec<Value>,
    /// Scores that are no numbers, by name: nothing was made of them.
    pub left_out: Vec<String>,
}

/// Why a file is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    #[error("the file holds no results: wanted is a list of mappings, one per line or in one list")]
    NoResults,
    #[error("the results are of no tool that is known; a result has {0}. Known are {1}")]
    UnknownTool(String, String),
}

/// Reads results that were parsed: one value, or one for each line.
pub fn read_foreign_results(mut values: Vec<Value>) -> Result<ForeignResults, ForeignError> {
    if let [only] = values.as_slice()
        && let Some(list) = find_list(only)
    {
        values = list;
    }
    let first = values.iter().find(|value| value.is_object()).ok_or(ForeignError::NoResults)?;
    let shape = SHAPES.iter().find(|shape| shape.marks.iter().all(|mark| find_path(first, mark).is_some()));
    let Some(shape) = shape else {
        let keys: Vec<&str> =
            first.as_object().into_iter().flat_map(Map::keys).map(String::as_str).take(20).collect();
        let mut tools: Vec<&str> = SHAPES.iter().map(|shape| shape.tool).collect();
        tools.dedup();
        return Err(ForeignError::UnknownTool(keys.join(", "), tools.join(", ")));
    };
    let mut results =
        ForeignResults { tool: shape.tool, records: Vec::new(), grades: Vec::new(), left_out: Vec::new() };
    let mut ids = HashSet::new();
    for (at, value) in values.iter().enumerate() {
        shape.add(value, at, &mut ids, &mut results);
    }
    Ok(results)
}

fn find_list(value: &Value) -> Option<Vec<Value>> {
    if let Value::Array(items) = value {
        return Some(items.clone());
    }
    SHAPES.iter().flat_map(|shape| shape.list).find_map(|path| find_path(value, path)?.as_array().cloned())
}

/// What is at a path; numbers lead into lists.
fn find_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

fn find_first<'v>(value: &'v Value, paths: &[&str]) -> Option<&'v Value> {
    paths.iter().find_map(|path| find_path(value, path).filter(|value| !value.is_null()))
}

impl ResultShape {
    /// Adds a record and its grades. `ids` has the ids of the records so far.
    fn add(&self, value: &Value, at: usize, ids: &mut HashSet<String>, results: &mut ForeignResults) {
        let id =
            find_first(value, self.id).map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        let id = id.unwrap_or_else(|| format!("{}", at + 1));
        // Tools repeat a case in several epochs or for several targets.
        let id = if ids.contains(&id) { format!("{id} ({})", at + 1) } else { id };
        ids.insert(id.clone());
        let parts = [
            ("input", self.task),
            ("response", self.response),
            ("expected", self.reference),
            ("context", self.context),
        ];
        let mut record = Map::from_iter([("id".to_owned(), Value::from(id.as_str()))]);
        for (name, paths) in parts {
            record.extend(find_first(value, paths).map(|part| (name.to_owned(), part.clone())));
        }
        results.records.push(Value::Object(record));
        let mut n_by_name: HashMap<String, usize> = HashMap::new();
        for mut score in self.scores.read(value, self) {
            // Two assertions of one type are two criteria, numbered as in a suite.
            let n_same = n_by_name.entry(score.name.clone()).or_default();
            *n_same += 1;
            if 1 < *n_same {
                score.name = format!("{}-{n_same}", score.name);
            }
            match score.value {
                Some(number) => results.grades.push(json!({
                    "candidate": id, "criterion": score.name, "value": number, "grader": self.tool, "reason": score.reason,
                })),
                None if !results.left_out.contains(&score.name) => results.left_out.push(score.name),
                None => {}
            }
        }
    }

    fn names(&self, column: &str) -> bool {
        [self.id, self.task, self.response, self.reference, self.context]
            .iter()
            .any(|paths| paths.contains(&column))
    }
}

/// One score of a result.
struct ForeignScore {
    name: String,
    /// From 0 to 1.
    value: Option<f64>,
    reason: Option<String>,
}

impl ScoreShape {
    fn read(&self, value: &Value, shape: &ResultShape) -> Vec<ForeignScore> {
        match self {
            Self::Parts { list, name, score, reason } => {
                let parts =
                    find_first(value, list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let named = parts.iter().filter_map(|part| Some((find_first(part, name)?.as_str()?, part)));
                named
                    .map(|(name, part)| ForeignScore {
                        name: name.to_owned(),
                        value: find_first(part, score).and_then(read_score),
                        reason: part[*reason].as_str().map(str::to_owned),
                    })
                    .collect()
            }
            Self::Named { map } => {
                let named = find_first(value, map).and_then(Value::as_object).into_iter().flatten();
                named
                    .map(|(name, score)| ForeignScore {
                        name: name.clone(),
                        value: read_score(find_first(score, &["value", "score", "avg"]).unwrap_or(score)),
                        reason: score["explanation"].as_str().map(str::to_owned),
                    })
                    .collect()
            }
            Self::Columns => {
                let columns = value.as_object().into_iter().flatten().filter(|(name, _)| !shape.names(name));
                columns
                    .filter_map(|(name, score)| {
                        let value = score.as_f64().or_else(|| score.as_str()?.trim().parse().ok())?;
                        Some(ForeignScore { name: name.clone(), value: as_unit(value), reason: None })
                    })
                    .collect()
            }
        }
    }
}

/// A number, yes or no, or Inspect's letters: correct, incorrect, partial.
fn read_score(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(passed) => Some(f64::from(u8::from(*passed))),
        Value::Number(number) => number.as_f64().and_then(as_unit),
        Value::String(text) => match text.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            other => other.parse().ok().and_then(as_unit),
        },
        _ => None,
    }
}

/// Scores are from 0 to 1; what is not would say something else.
fn as_unit(number: f64) -> Option<f64> {
    (0.0..=1.0).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_told_by_its_names() {
        let check = |value: Value, tool: &str, response: &str, grade: (&str, f64)| {
            let results = read_foreign_results(vec![value]).unwrap();
            assert_eq!(results.tool, tool);
            assert_eq!(results.records[0]["response"], response, "{tool}");
            let grades: Vec<(&str, f64)> = results
                .grades
                .iter()
                .map(|grade| (grade["criterion"].as_str().unwrap(), grade["value"].as_f64().unwrap()))
                .collect();
            assert_eq!(grades, [grade], "{tool}");
        };
        check(
            json!({ "results": { "results": [{ "id": "a", "prompt": { "raw": "q" }, "response": { "output": "r" },
                "gradingResult": { "componentResults": [{ "score": 1, "assertion": { "type": "contains" } }] } }] } }),
            "promptfoo",
            "r",
            ("contains", 1.0),
        );
        check(
            json!({ "testCases": [{ "input": "q", "actualOutput": "r", "metricsData": [{ "name": "Faithfulness", "score": 0.5 }] }] }),
            "DeepEval",
            "r",
            ("Faithfulness", 0.5),
        );
        check(
            json!([{ "user_input": "q", "response": "r", "faithfulness": 0.25, "year": 1999 }]),
            "ragas",
            "r",
            ("faithfulness", 0.25),
        );
        check(
            json!({ "samples": [{ "id": 1, "epoch": 1, "input": "q", "target": "t", "output": { "completion": "r" }, "scores": { "match": { "value": "C" } } }] }),
            "Inspect",
            "r",
            ("match", 1.0),
        );
        check(
            json!({ "data": [{ "id": "o", "datasource_item": { "input": "q" }, "sample": { "output_text": "r" }, "results": [{ "name": "grader", "passed": true }] }] }),
            "OpenAI evals",
            "r",
            ("grader", 1.0),
        );
        check(
            json!([{ "id": "t", "timestamp": "2026", "input": "q", "output": "r", "scores": [{ "name": "tone", "value": 0.75 }] }]),
            "Langfuse",
            "r",
            ("tone", 0.75),
        );
        check(
            json!([{ "input": "q", "output": "r", "expected": "e", "scores": { "exact": 0 } }]),
            "Braintrust",
            "r",
            ("exact", 0.0),
        );
        check(
            json!([{ "id": "l", "inputs": { "question": "q" }, "outputs": { "output": "r" }, "feedback_stats": { "correct": { "avg": 0.5 } } }]),
            "LangSmith",
            "r",
            ("correct", 0.5),
        );
        check(
            json!([{ "test_id": "v", "output": "r", "scores": [{ "name": "rubric", "score": 0.9 }] }]),
            "AgentV",
            "r",
            ("rubric", 0.9),
        );
        check(
            json!([{ "test_id": "v", "output": "r", "assertions": [{ "text": "names the sum", "passed": true }] }]),
            "AgentV",
            "r",
            ("names the sum", 1.0),
        );
    }

    #[test]
    fn two_assertions_of_one_type_are_two_criteria() {
        let part = |score: i64| json!({ "score": score, "assertion": { "type": "contains" } });
        let result = |id: &str| {
            json!({ "id": id, "response": { "output": "r" },
                "gradingResult": { "componentResults": [part(1), part(0)] } })
        };
        let results = read_foreign_results(vec![json!({ "results": [result("a"), result("b")] })]).unwrap();
        let names: Vec<&str> =
            results.grades.iter().map(|grade| grade["criterion"].as_str().unwrap()).collect();
        assert_eq!(names, ["contains", "contains-2", "contains", "contains-2"]);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert_eq!(read_foreign_results(vec![json!("x")]), Err(ForeignError::NoResults));
        let unknown = read_foreign_results(vec![json!({ "colour": 1 })]).unwrap_err();
        assert!(unknown.to_string().contains("a result has colour"), "{unknown}");
        let odd = json!([{ "id": "t", "epoch": 1, "target": "t", "input": "q", "scores": { "words": { "value": "many" } } }]);
        assert_eq!(read_foreign_results(vec![odd]).unwrap().left_out, ["words"]);
    }
}
