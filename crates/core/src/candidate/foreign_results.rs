//! Result files of other tools: what was asked and answered, and what the tool made of it.
//!
//! One table says where each tool keeps what. Two things are brought into the form of the table first: the events of
//! OpenAI `evals` logs, and columns of tables such as `inputs.question`, or with lists and mappings as text. Rows
//! without scores are read as records.

mod columns;
mod shapes;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Number, Value, json};

use self::columns::{
    ColumnContent, as_unit, join_instruction, may_be_score, nest_columns, parse_columns, read_column,
    read_yes_or_no,
};
use self::shapes::{
    ColumnValues, RESULT_VERSIONS, ResultShape, ResultVersion, SHAPES, ScoreShape, TOOLS_WITH_OWN_ASSERTIONS,
    TOOLS_WITH_SECONDS,
};
use super::formats::read_trace_value;
use super::record::{RecordField, RecordFields, expand_traces};
use super::trace::{StepRole, Trace};

/// What a file of another tool holds.
#[derive(Debug, PartialEq)]
pub struct ForeignResults {
    /// `None` for records without scores.
    pub tool: Option<&'static str>,
    /// `{id, input, response, expected, context, trace}`.
    pub records: Vec<Value>,
    /// `{candidate, criterion, value, grader, reason}`; with an `outcome` instead of a value where a criterion does not
    /// apply.
    pub grades: Vec<Value>,
    /// Weights of criteria, where all results agree on one that is not 1.
    pub weights: BTreeMap<String, f64>,
    /// Criteria whose weight differs from result to result.
    pub uneven_weights: Vec<String>,
    /// Scores that are no numbers, by name: nothing was made of them.
    pub left_out: Vec<String>,
    /// Fields that should hold scores and in some result hold none that can be read.
    pub without_grades: Vec<&'static str>,
    /// Fields of records that are not used.
    pub unused: Vec<String>,
}

/// Why a file is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    #[error("the file holds no results: wanted is a list of mappings, one per line or in one list")]
    NoResults,
    #[error("the results are of no tool that is known; a result has {0}. Known are {1}")]
    UnknownTool(String, String),
    #[error(
        "`{path}` of these results of {tool} is {found}, and Jurist understands {known}; if a newer {tool} wrote them, \
         upgrade jurist"
    )]
    UnknownVersion { tool: &'static str, path: &'static str, found: String, known: String },
}

/// Fails if results of a tool have a version that is not known. Results without a version are read as they are.
pub fn check_result_version(values: &[Value], tool: &str) -> Result<(), ForeignError> {
    let mut of_tool = RESULT_VERSIONS.iter().filter(|version| version.tool == tool);
    of_tool.find_map(|version| version.find_unknown(values)).map_or(Ok(()), Err)
}

/// Reads results that were parsed: one value, or one for each line.
pub fn read_foreign_results(mut values: Vec<Value>) -> Result<ForeignResults, ForeignError> {
    // The list of results has no version; the file around it does.
    let unknown_versions: Vec<(&str, ForeignError)> = RESULT_VERSIONS
        .iter()
        .filter_map(|version| Some((version.tool, version.find_unknown(&values)?)))
        .collect();
    // A result of its own may have a list under a name that another tool has for its results.
    let mut other_lists = Vec::new();
    if let [only] = values.as_slice()
        && find_shape(&values).is_none()
        && !is_answered_task(only)
        && let Some(found) = find_list(only)
    {
        other_lists = found.other_lists;
        values = found.results;
    }
    if let Some(samples) = group_events(&values) {
        values = samples;
    }
    for value in values.iter_mut().filter(|value| value.is_object()) {
        nest_columns(value);
        parse_columns(value);
        expand_traces(value);
    }
    let Some(shape) = find_shape(&values) else {
        values.iter_mut().for_each(join_instruction);
        let first = values.iter().find(|value| value.is_object()).ok_or(ForeignError::NoResults)?;
        return read_unscored_rows(&values).ok_or_else(|| unknown_tool(first));
    };
    if let Some((_, error)) = unknown_versions.into_iter().find(|(tool, _)| *tool == shape.tool) {
        return Err(error);
    }
    let mut results = ForeignResults::new(Some(shape.tool));
    results.unused = other_lists;
    let mut ids = HashSet::new();
    let has_own_assertions = TOOLS_WITH_OWN_ASSERTIONS.contains(&shape.tool);
    let mut scored_records = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let scored = shape.add(value, at, &mut ids, &mut results);
        // Tables of other tools may have millions of rows.
        if has_own_assertions {
            scored_records.push(scored);
        }
    }
    results.settle_unused();
    results.add_weights(&scored_records);
    results.add_not_applicable(&scored_records, shape.tool);
    Ok(results)
}

impl ResultVersion {
    /// The first version in these values that is not understood.
    fn find_unknown(&self, values: &[Value]) -> Option<ForeignError> {
        let mut found = values.iter().filter_map(|value| find_path(value, self.path));
        let found = found.find(|found| {
            !found.is_null() && read_version(found).is_none_or(|number| !self.known.contains(&number))
        })?;
        let known: Vec<String> = self.known.iter().map(u64::to_string).collect();
        Some(ForeignError::UnknownVersion {
            tool: self.tool,
            path: self.path,
            found: found.as_str().map_or_else(|| found.to_string(), str::to_owned),
            known: known.join(", "),
        })
    }
}

/// A number, alone or at the end of a name such as `agentv.trajectory.v1`.
fn read_version(value: &Value) -> Option<u64> {
    let text = value.as_str();
    let number = text.map(|text| text.rsplit_once(".v").map_or(text, |(_, number)| number));
    value.as_u64().or_else(|| number?.parse().ok())
}

fn unknown_tool(result: &Value) -> ForeignError {
    let keys: Vec<&str> =
        result.as_object().into_iter().flat_map(Map::keys).map(String::as_str).take(20).collect();
    let mut tools: Vec<&str> = Vec::new();
    for shape in SHAPES {
        if !tools.contains(&shape.tool) {
            tools.push(shape.tool);
        }
    }
    ForeignError::UnknownTool(keys.join(", "), tools.join(", "))
}

/// The tool of the first result that has scores where a tool keeps them, or else of the first that has its fields.
fn find_shape(values: &[Value]) -> Option<&'static ResultShape> {
    let find = |fits: fn(&ResultShape, &Value) -> bool| {
        values
            .iter()
            .find_map(|value| SHAPES.iter().find(|shape| shape.has_marks(value) && fits(shape, value)))
    };
    find(ResultShape::has_scores).or_else(|| find(ResultShape::may_have_scores))
}

/// The results in a file that is one value.
struct ResultList {
    results: Vec<Value>,
    /// Where the file has other results, such as the conversations of DeepEval next to its test cases.
    other_lists: Vec<String>,
}

fn find_list(value: &Value) -> Option<ResultList> {
    if let Value::Array(items) = value {
        return Some(ResultList { results: items.clone(), other_lists: Vec::new() });
    }
    let lists_by_path: BTreeMap<&str, &Vec<Value>> = SHAPES
        .iter()
        .flat_map(|shape| shape.list)
        .filter_map(|path| Some((*path, find_path(value, path)?.as_array()?)))
        .collect();
    // DeepEval writes an empty list of test cases next to its conversations.
    let mut paths =
        SHAPES.iter().flat_map(|shape| shape.list).filter(|path| lists_by_path.contains_key(**path));
    let first = paths.clone().find(|path| !lists_by_path[**path].is_empty()).or_else(|| paths.next())?;
    let others = lists_by_path.iter().filter(|(path, list)| *path != first && !list.is_empty());
    let other_lists = others.map(|(path, _)| (*path).to_owned()).collect();
    Some(ResultList { results: lists_by_path[*first].to_vec(), other_lists })
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

/// What the events of an OpenAI `evals` log say of one sample.
#[derive(Default)]
struct LoggedSample {
    prompt: Option<Value>,
    sampled: Option<Value>,
    expected: Option<Value>,
    results: Vec<Value>,
}

/// The samples of an OpenAI `evals` log as output items; `None` for any other file.
fn group_events(values: &[Value]) -> Option<Vec<Value>> {
    let mut samples: Vec<(&str, LoggedSample)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for event in values {
        let (Some(id), Some(kind), Some(data)) =
            (event["sample_id"].as_str(), event["type"].as_str(), event["data"].as_object())
        else {
            continue;
        };
        let place = *places.entry(id).or_insert_with(|| {
            samples.push((id, LoggedSample::default()));
            samples.len() - 1
        });
        samples[place].1.add(kind, data);
    }
    let items = samples.into_iter().map(|(id, sample)| sample.into_output_item(id));
    Some(items.collect()).filter(|items: &Vec<Value>| !items.is_empty())
}

impl LoggedSample {
    fn add(&mut self, kind: &str, data: &Map<String, Value>) {
        let get = |keys: &[&str]| keys.iter().find_map(|key| data.get(*key)).cloned();
        match kind {
            // The first one is the candidate's; later ones may be a judge's.
            "sampling" => {
                self.prompt = self.prompt.take().or_else(|| get(&["prompt", "input"]));
                let sampled = get(&["sampled"]).map(|sampled| match sampled {
                    Value::Array(mut items) if items.len() == 1 => items.remove(0),
                    other => other,
                });
                self.sampled = self.sampled.take().or(sampled);
            }
            "raw_sample" => self.prompt = self.prompt.take().or_else(|| get(&["input"])),
            "metrics" => {
                let numbers = data.iter().filter(|(_, value)| value.is_number() || value.is_boolean());
                self.results.extend(numbers.map(|(name, value)| json!({ "name": name, "score": value })));
            }
            _ => {}
        }
        if let Some(correct) = data.get("correct").filter(|_| kind != "metrics") {
            self.results.push(json!({ "name": kind, "score": correct }));
        }
        self.expected = self.expected.take().or_else(|| get(&["expected", "ideal"]));
    }

    fn into_output_item(self, id: &str) -> Value {
        let item = match (self.prompt, self.expected) {
            (None, None) => Value::Null,
            (prompt, expected) => json!({ "input": prompt, "expected": expected }),
        };
        json!({
            "id": id,
            "datasource_item": item,
            "sample": { "output_text": self.sampled },
            "results": self.results,
        })
    }
}

/// Unused fields that are named at most; a file may have names of its own in each row.
const MAX_UNUSED: usize = 100;

/// What of a record is kept, and under which name.
const RECORD_PARTS: [(&str, RecordField); 15] = [
    ("input", RecordField::Task),
    ("response", RecordField::Response),
    ("expected", RecordField::Reference),
    ("context", RecordField::Context),
    ("trace", RecordField::Trace),
    ("diff", RecordField::Diff),
    ("choices", RecordField::Choices),
    ("duration_ms", RecordField::DurationMs),
    ("completion_time", RecordField::DurationSeconds),
    ("cost_usd", RecordField::Cost),
    ("usage", RecordField::Usage),
    ("requirements", RecordField::Requirements),
    ("reference_tool_calls", RecordField::ReferenceCalls),
    ("evaluator", RecordField::Evaluator),
    ("params", RecordField::Params),
];

/// Parts of a record that are one number.
const AMOUNTS: [RecordField; 3] = [RecordField::DurationMs, RecordField::DurationSeconds, RecordField::Cost];

/// Fields that results have under the names of records, in addition to those that the table of tools names.
const FURTHER_PARTS: [RecordField; 2] = [RecordField::Choices, RecordField::ReferenceCalls];

/// Whether a value is a row itself, so that a list in it, such as the events of a run, is no list of rows.
fn is_answered_task(value: &Value) -> bool {
    let fields = RecordFields::read(value);
    let has = |part: RecordField| fields.non_null_value(part).is_some();
    has(RecordField::Task) && (has(RecordField::Response) || has(RecordField::Trace))
}

/// Rows without scores, by the names that `jurist grade` knows; `None` if the first has neither a task nor an answer.
fn read_unscored_rows(values: &[Value]) -> Option<ForeignResults> {
    let mut results = ForeignResults::new(None);
    let (mut ids, mut unused) = (HashSet::new(), HashSet::new());
    let has_seconds = values.iter().any(is_timed_in_seconds);
    for (at, value) in values.iter().enumerate().filter(|(_, value)| value.is_object()) {
        let fields = RecordFields::read(value);
        let parts = [RecordField::Task, RecordField::Response, RecordField::Trace];
        if results.records.is_empty() && parts.iter().all(|part| fields.non_null_value(*part).is_none()) {
            return None;
        }
        let id = choose_id(fields.non_null_value(RecordField::Id), at, &mut ids);
        let mut record = Map::from_iter([("id".to_owned(), Value::from(id))]);
        let response = fields.response();
        // Several responses are none; which of them is meant is not known.
        let several = response.is_err().then(|| fields.name(RecordField::Response)).flatten();
        for (name, field) in RECORD_PARTS {
            let value = match field {
                RecordField::Response => {
                    response.as_ref().ok().copied().flatten().filter(|value| !value.is_null())
                }
                _ => fields.non_null_value(field),
            };
            // A list of references has a name that says that each of them is right.
            let own_name = fields.name(field).filter(|_| field == RecordField::Reference);
            let is_in_seconds =
                has_seconds && field == RecordField::DurationMs && fields.name(field) == Some("latency");
            let name = if is_in_seconds { "completion_time" } else { name };
            record.extend(value.map(|value| {
                let name = own_name.filter(|_| value.is_array()).unwrap_or(name);
                (name.to_owned(), if AMOUNTS.contains(&field) { as_amount(value) } else { value.clone() })
            }));
        }
        results.records.push(Value::Object(record));
        let overruled = fields.overruled.iter().map(|pair| pair.unused);
        for name in fields.unknown.iter().copied().chain(several).chain(overruled) {
            if unused.len() < MAX_UNUSED && unused.insert(name) {
                results.unused.push(name.to_owned());
            }
        }
    }
    Some(results).filter(|results| !results.records.is_empty())
}

/// Whether a row is of a tool that has its `latency` in seconds.
fn is_timed_in_seconds(row: &Value) -> bool {
    SHAPES.iter().any(|shape| TOOLS_WITH_SECONDS.contains(&shape.tool) && shape.has_marks(row))
}

/// An amount as a number, which tables have as text.
fn as_amount(value: &Value) -> Value {
    let number = value.as_str().and_then(|text| text.trim().parse::<f64>().ok()).and_then(Number::from_f64);
    number.map_or_else(|| value.clone(), Value::Number)
}

/// The id of a result; `ids` has those of the results so far, because tools repeat a case in several epochs or for
/// several targets.
fn choose_id(written: Option<&Value>, at: usize, ids: &mut HashSet<String>) -> String {
    let id = written.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let id = id.unwrap_or_else(|| format!("{}", at + 1));
    let id = if ids.contains(&id) { format!("{id} ({})", at + 1) } else { id };
    ids.insert(id.clone());
    id
}

/// Messages in the form that traces have. Inspect writes the name of a function in the place of the function.
fn as_trace(messages: &Value) -> Value {
    let mut trace = messages.clone();
    let steps = trace.as_array_mut().into_iter().flatten();
    let calls = steps.filter_map(|step| step.get_mut("tool_calls")?.as_array_mut()).flatten();
    for call in calls {
        let function = call["function"].as_str();
        let function = function.map(|name| json!({ "name": name, "arguments": call["arguments"] }));
        if let Some(function) = function {
            call["function"] = function;
        }
    }
    trace
}

/// Adds messages as the trace of a record, with their last answer as its response. Messages in which no agent speaks
/// are its task.
fn add_messages(messages: Value, record: &mut Map<String, Value>) {
    let trace = read_trace_value(&messages, None).ok().map(|(_, trace)| trace);
    let has_agent = |trace: &Trace| trace.steps.iter().any(|step| step.role == StepRole::Assistant);
    if trace.as_ref().is_some_and(|trace| !has_agent(trace)) {
        record.entry("input").or_insert(messages);
        return;
    }
    if !record.contains_key("response") {
        let answer = trace.as_ref().and_then(Trace::answer);
        record.extend(answer.map(|answer| ("response".to_owned(), Value::from(answer))));
    }
    record.insert("trace".to_owned(), messages);
}

fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

impl ForeignResults {
    fn new(tool: Option<&'static str>) -> Self {
        Self {
            tool,
            records: Vec::new(),
            grades: Vec::new(),
            weights: BTreeMap::new(),
            uneven_weights: Vec::new(),
            left_out: Vec::new(),
            without_grades: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// A column that holds scores in some results is not unused: in others its scores cannot be read.
    fn settle_unused(&mut self) {
        let criteria: HashSet<&str> = match self.unused.is_empty() {
            true => HashSet::new(),
            false => self.grades.iter().filter_map(|grade| grade["criterion"].as_str()).collect(),
        };
        let left_out = &mut self.left_out;
        self.unused.retain(|name| {
            let is_named = left_out.contains(name);
            let is_scored = criteria.contains(name.as_str());
            if is_scored && !is_named {
                left_out.push(name.clone());
            }
            !is_scored && !is_named
        });
    }

    /// Notes the weights of criteria. A rubric has one weight for each, so that one that differs counts as 1.
    fn add_weights(&mut self, scored: &[ScoredRecord]) {
        let mut weights: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for score in scored.iter().flat_map(|record| &record.scores) {
            weights.entry(&score.criterion).or_default().push(score.weight);
        }
        let is_one = |weight: f64| (weight - 1.0).abs() < 1e-9;
        for (criterion, weights) in weights {
            let first = weights[0];
            if weights.iter().any(|weight| 1e-9 < (weight - first).abs()) {
                self.uneven_weights.push(criterion.to_owned());
            } else if !is_one(first) {
                self.weights.insert(criterion.to_owned(), first);
            }
        }
    }

    /// Adds a grade for each criterion that only other records have, so that it does not keep a record waiting.
    fn add_not_applicable(&mut self, scored: &[ScoredRecord], grader: &str) {
        let (mut criteria, mut seen) = (Vec::new(), HashSet::new());
        for criterion in self.grades.iter().filter_map(|grade| grade["criterion"].as_str()) {
            if seen.insert(criterion.to_owned()) {
                criteria.push(criterion.to_owned());
            }
        }
        // Nothing is known about a record without any assertion, such as one that was never graded.
        for record in scored.iter().filter(|record| !record.scores.is_empty()) {
            let own: HashSet<&str> = record.scores.iter().map(|score| score.criterion.as_str()).collect();
            let others = criteria.iter().filter(|criterion| !own.contains(criterion.as_str()));
            self.grades.extend(others.map(|criterion| {
                json!({
                    "candidate": record.id, "criterion": criterion, "grader": grader,
                    "outcome": { "kind": "not_applicable" },
                })
            }));
        }
    }
}

/// The scores that a record has, also those that are no numbers.
struct ScoredRecord {
    id: String,
    scores: Vec<WeightedCriterion>,
}

/// A criterion of a record, and how much it counts there.
struct WeightedCriterion {
    criterion: String,
    weight: f64,
}

impl ResultShape {
    fn has_marks(&self, value: &Value) -> bool {
        let has = |path: &str| find_path(value, path).is_some();
        self.marks.iter().all(|mark| mark.split('|').any(has))
    }

    fn has_scores(&self, value: &Value) -> bool {
        self.scores.iter().any(|scores| scores.is_in(value, self) == Some(true))
    }

    fn may_have_scores(&self, value: &Value) -> bool {
        self.scores.iter().all(|scores| scores.is_in(value, self).is_none())
    }

    /// Adds a record and its grades, and returns what it was graded by. `ids` has the ids of the records so far.
    fn add(
        &self,
        value: &Value,
        at: usize,
        ids: &mut HashSet<String>,
        results: &mut ForeignResults,
    ) -> ScoredRecord {
        let id = choose_id(find_first(value, self.id), at, ids);
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
        if let Some(messages) = find_first(value, self.trace).filter(|messages| has_content(messages)) {
            add_messages(as_trace(messages), &mut record);
        }
        let fields = RecordFields::read(value);
        for field in FURTHER_PARTS {
            let part = fields.non_null_value(field).filter(|part| has_content(part));
            let named = fields.name(field).zip(part);
            record.extend(named.map(|(name, part)| (name.to_owned(), part.clone())));
        }
        results.records.push(Value::Object(record));
        self.note_unused_columns(value, results);
        let mut n_by_name: HashMap<String, usize> = HashMap::new();
        let mut scored = ScoredRecord { id, scores: Vec::new() };
        for mut score in self.read_scores(value, results) {
            // Two assertions of one type are two criteria, numbered as in a suite.
            let n_same = n_by_name.entry(score.name.clone()).or_default();
            *n_same += 1;
            if 1 < *n_same {
                score.name = format!("{}-{n_same}", score.name);
            }
            scored.scores.push(WeightedCriterion { criterion: score.name.clone(), weight: score.weight });
            match score.value {
                Some(number) => results.grades.push(score.into_grade(&scored.id, number, self.tool)),
                None if !results.left_out.contains(&score.name) => results.left_out.push(score.name),
                None => {}
            }
        }
        scored
    }

    /// The scores of a result, and a note of a field that should hold some and does not.
    fn read_scores(&self, value: &Value, results: &mut ForeignResults) -> Vec<ForeignScore> {
        let mut read = self.scores.iter().map(|shape| shape.read(value, self));
        let scores = read.find(|scores| !scores.is_empty()).unwrap_or_default();
        if scores.is_empty() {
            let fields = self.scores.iter().flat_map(ScoreShape::paths);
            for &field in fields.filter(|path| find_path(value, path).is_some_and(has_content)) {
                if !results.without_grades.contains(&field) {
                    results.without_grades.push(field);
                }
            }
        }
        scores
    }

    /// Names the columns in which a score would be looked for, and which hold something else.
    fn note_unused_columns(&self, value: &Value, results: &mut ForeignResults) {
        for scores in self.scores {
            let ScoreShape::Columns { values, others } = scores else { continue };
            for (name, column) in self.columns(value, others) {
                let is_unused = read_column(column, *values) == ColumnContent::SomethingElse;
                if is_unused && results.unused.len() < MAX_UNUSED && !results.unused.contains(name) {
                    results.unused.push(name.clone());
                }
            }
        }
    }

    /// The columns in which scores may be: none if the result has a field for its scores.
    fn columns<'v>(&self, value: &'v Value, others: &[&str]) -> Vec<(&'v String, &'v Value)> {
        let mut fields = self.scores.iter().flat_map(ScoreShape::paths);
        if fields.any(|path| find_path(value, path).is_some()) {
            return Vec::new();
        }
        let is_score = |name: &str| may_be_score(name) && !others.contains(&name) && !self.names(name);
        value.as_object().into_iter().flatten().filter(|(name, _)| is_score(name)).collect()
    }

    fn names(&self, column: &str) -> bool {
        [self.id, self.task, self.response, self.reference, self.context, self.trace]
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
    weight: f64,
}

impl ForeignScore {
    fn into_grade(self, candidate: &str, value: f64, grader: &str) -> Value {
        let mut grade = json!({
            "candidate": candidate, "criterion": self.name, "value": value, "grader": grader,
        });
        if let Some(reason) = self.reason {
            grade["reason"] = Value::from(reason);
        }
        grade
    }
}

impl ScoreShape {
    fn paths(&self) -> &'static [&'static str] {
        match self {
            Self::Parts { list: paths, .. } | Self::Named { map: paths } => paths,
            Self::Columns { .. } => &[],
        }
    }

    /// Whether scores have the form of this shape; `None` if the result has no place for them.
    fn is_in(&self, value: &Value, shape: &ResultShape) -> Option<bool> {
        let field = find_first(value, self.paths());
        match self {
            Self::Parts { .. } => field.map(Value::is_array),
            Self::Named { .. } => field.map(Value::is_object),
            Self::Columns { values: ColumnValues::One, .. } => None,
            Self::Columns { .. } => Some(self.read(value, shape).iter().any(|score| score.value.is_some())),
        }
    }

    fn read(&self, value: &Value, shape: &ResultShape) -> Vec<ForeignScore> {
        match self {
            Self::Parts { list, name, score, reason } => {
                let parts =
                    find_first(value, list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let named = parts.iter().filter_map(|part| Some((find_first(part, name)?.as_str()?, part)));
                named
                    .map(|(name, part)| ForeignScore {
                        name: name.to_owned(),
                        value: find_first(part, scores_of(part, score)).and_then(read_score),
                        reason: part[*reason].as_str().map(str::to_owned),
                        weight: read_weight(part),
                    })
                    .collect()
            }
            Self::Named { map } => {
                let named = find_first(value, map).and_then(Value::as_object).into_iter().flatten();
                named.flat_map(|(name, score)| read_named_scores(name, score)).collect()
            }
            Self::Columns { values, others } => {
                let columns = shape.columns(value, others).into_iter();
                columns
                    .filter_map(|(name, column)| {
                        let value = match read_column(column, *values) {
                            ColumnContent::Score(score) => Some(score),
                            ColumnContent::UnreadableScore => None,
                            ColumnContent::Nothing | ColumnContent::SomethingElse => return None,
                        };
                        Some(ForeignScore { name: name.clone(), value, reason: None, weight: 1.0 })
                    })
                    .collect()
            }
        }
    }
}

/// The weight of an assertion of promptfoo.
fn read_weight(part: &Value) -> f64 {
    let weight = find_path(part, "assertion.weight").and_then(Value::as_f64);
    weight.filter(|weight| weight.is_finite() && 0.0 <= *weight).unwrap_or(1.0)
}

/// Where the score of a part is. Of a part with an error only its first path counts: that it did not succeed is then no
/// score of 0.
fn scores_of<'p>(part: &Value, paths: &'p [&'p str]) -> &'p [&'p str] {
    if part["error"].is_null() { paths } else { &paths[..paths.len().min(1)] }
}

/// One score, or one for each key where Inspect's scorer returned a mapping.
fn read_named_scores(name: &str, score: &Value) -> Vec<ForeignScore> {
    let reason = score["explanation"].as_str().map(str::to_owned);
    match &score["value"] {
        Value::Object(values) => values
            .iter()
            .map(|(key, value)| ForeignScore {
                name: format!("{name}.{key}"),
                value: read_score(value),
                reason: reason.clone(),
                weight: 1.0,
            })
            .collect(),
        _ => {
            let value = read_score(find_first(score, &["value", "score", "avg"]).unwrap_or(score));
            vec![ForeignScore { name: name.to_owned(), value, reason, weight: 1.0 }]
        }
    }
}

/// A number, yes or no, also as tables of Python write it, or Inspect's letters: correct, incorrect, partial.
fn read_score(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(passed) => Some(f64::from(u8::from(*passed))),
        Value::Number(number) => number.as_f64().and_then(as_unit),
        Value::String(text) => match text.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            other => read_yes_or_no(other).or_else(|| other.parse().ok()).and_then(as_unit),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;
