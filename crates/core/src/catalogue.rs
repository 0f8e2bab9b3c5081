//! Named ways to grade, with the parameters each one takes.
//!
//! One table feeds the loader's checks, the help texts and the schema.

use serde_json::{Map, Value};

use crate::source::Tree;
use crate::template;

/// A named way to grade and the parameters it takes.
#[derive(Debug)]
pub struct Entry {
    pub name: &'static str,
    pub help: &'static str,
    pub looks_at: LooksAt,
    pub params: &'static [Param],
}

/// The part of a candidate that a way to grade looks at. Without it there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LooksAt {
    /// The final response; of a trace without one, the last assistant message.
    Response,
    /// What the agent did.
    Trace,
    /// What the run took; where nothing measured it, the trace's own figures.
    Measurements,
    /// All of it.
    Candidate,
}

impl LooksAt {
    pub fn describe(self) -> &'static str {
        match self {
            Self::Response => "the final response",
            Self::Trace => "the trace",
            Self::Measurements => "what the run measured",
            Self::Candidate => "the whole candidate",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    /// Another spelling that files use.
    pub alias: Option<&'static str>,
    pub kind: Kind,
    pub required: bool,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A text, or a number or `true`/`false` that is kept as text.
    Text,
    /// One text, or a list of them.
    TextOrTexts,
    /// A pattern that the regex engine named beside it takes: the linear-time one unless `engine` says otherwise.
    Pattern,
    Bool,
    Number,
    /// 0 to 1.
    Fraction,
    /// A number of 0 or more.
    Amount,
    /// A whole number of 0 or more.
    Count,
    OneOf(&'static [&'static str]),
    Map,
    /// A list of anything, with at least one entry.
    List,
    /// A mapping with these keys.
    Shape(&'static [Param]),
    /// A list of mappings with these keys, at least one.
    Each(&'static [Param]),
    /// A mapping with these keys, or something simpler.
    OrShape(&'static Kind, &'static [Param]),
    /// Letters that steer a pattern, as JavaScript writes them.
    Flags,
    Any,
}

/// A use of an entry, its parameters checked.
#[derive(Debug, Clone)]
pub struct Method {
    pub entry: &'static Entry,
    pub params: Map<String, Value>,
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.params == other.params
    }
}

impl Method {
    /// Native spelling: the parameters beside `type`.
    pub fn to_tree(&self) -> Tree {
        self.params
            .iter()
            .fold(Tree::map().with("type", self.entry.name), |tree, (key, value)| tree.with(key, value))
    }

    /// As it is carried out: with braces where its file escaped them.
    pub fn without_escapes(&self) -> Self {
        let mut method = self.clone();
        method.for_each_text(&mut |text| *text = template::resolve_escapes(text));
        method
    }

    /// Calls `change` with every text among the parameters.
    pub fn for_each_text(&mut self, change: &mut impl FnMut(&mut String)) {
        for value in self.params.values_mut() {
            let mut change_text = |text: &mut String| {
                change(text);
                Ok::<(), std::convert::Infallible>(())
            };
            let Ok(()) = template::try_for_each_text(value, &mut change_text);
        }
    }
}

impl Entry {
    /// Settles what a parameter's spelling decides: Potato's `substring` is looked for whatever its case, while `value`
    /// of the other tools tells upper from lower case. `case_sensitive` beside it decides.
    pub fn settle_spelling(&self, is_written: impl Fn(&str) -> bool, params: &mut Map<String, Value>) {
        if self.name == "contains" && is_written("substring") {
            params.entry("case_sensitive").or_insert(Value::Bool(false));
        }
    }
}

pub fn find(entries: &'static [Entry], name: &str) -> Option<&'static Entry> {
    entries.iter().find(|it| it.name == name)
}

const fn need(name: &'static str, kind: Kind) -> Param {
    Param { name, alias: None, kind, required: true }
}

const fn may(name: &'static str, kind: Kind) -> Param {
    Param { name, alias: None, kind, required: false }
}

const fn also(param: Param, alias: &'static str) -> Param {
    Param { alias: Some(alias), ..param }
}

const fn on_response(name: &'static str, help: &'static str, params: &'static [Param]) -> Entry {
    Entry { name, help, looks_at: LooksAt::Response, params }
}

const fn on_trace(name: &'static str, help: &'static str, params: &'static [Param]) -> Entry {
    Entry { name, help, looks_at: LooksAt::Trace, params }
}

const fn on_measurements(name: &'static str, help: &'static str, params: &'static [Param]) -> Entry {
    Entry { name, help, looks_at: LooksAt::Measurements, params }
}

const fn on_candidate(name: &'static str, help: &'static str, params: &'static [Param]) -> Entry {
    Entry { name, help, looks_at: LooksAt::Candidate, params }
}

const BOUNDS: &[Param] = &[may("min", Kind::Count), may("max", Kind::Count)];

/// A tool or skill by name or glob, and how often.
const USED: &[Param] = &[
    may("name", Kind::Text),
    may("pattern", Kind::Text),
    may("type", Kind::TextOrTexts),
    may("min", Kind::Count),
    may("max", Kind::Count),
];

/// Patterns run in linear time, or with look-around and back references within a number of steps.
const ENGINE: Kind = Kind::OneOf(&["linear", "backtracking"]);

/// Code, and what it is given.
const CODE: &[Param] = &[
    need("value", Kind::Text),
    may("threshold", Kind::Fraction),
    may("config", Kind::Map),
    may("timeout_ms", Kind::Amount),
    may("env", Kind::TextOrTexts),
];

/// Where a text is searched: in the final response unless told otherwise, or in everything that the trace holds.
const SCOPE: Kind = Kind::OneOf(&["response", "trace"]);

const MATCH: Kind = Kind::OneOf(&["exact", "ignore", "subset", "superset"]);

/// Checks: decided by code, the same every time.
pub const CHECKS: &[Entry] = &[
    on_response("equals", "the response is this text or this JSON value", &[need("value", Kind::Any)]),
    on_response(
        "contains",
        "the text occurs in the response: `value` in the same case, `substring` or the reference in any case",
        &[
            also(may("value", Kind::Text), "substring"),
            may("case_sensitive", Kind::Bool),
            may("scope", SCOPE),
        ],
    ),
    on_response(
        "icontains",
        "the text occurs in the response, whatever its case",
        &[need("value", Kind::Text), may("scope", SCOPE)],
    ),
    on_response(
        "contains-any",
        "at least one of the texts occurs",
        &[need("value", Kind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response(
        "contains-all",
        "all of the texts occur",
        &[need("value", Kind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response(
        "icontains-any",
        "at least one of the texts occurs, whatever its case",
        &[need("value", Kind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response(
        "icontains-all",
        "all of the texts occur, whatever their case",
        &[need("value", Kind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response("starts-with", "the response begins with the text", &[need("value", Kind::Text)]),
    on_response("ends-with", "the response ends with the text", &[need("value", Kind::Text)]),
    on_response(
        "regex",
        "the pattern matches somewhere",
        &[
            may("engine", ENGINE),
            need("value", Kind::Pattern),
            may("flags", Kind::Flags),
            may("scope", SCOPE),
        ],
    ),
    on_response(
        "is-json",
        "the response is JSON, and fits the schema if one is given",
        &[may("value", Kind::Any)],
    ),
    on_response(
        "contains-json",
        "a JSON value stands in the response, and fits the schema if one is given",
        &[may("value", Kind::Any), may("scope", SCOPE)],
    ),
    on_response(
        "levenshtein",
        "the edit distance to the text is at most the threshold (5)",
        &[need("value", Kind::Text), may("threshold", Kind::Amount)],
    ),
    on_response(
        "similar",
        "the meaning is close to the text, by embeddings (at least 0.75)",
        &[
            need("value", Kind::TextOrTexts),
            may("threshold", Kind::Fraction),
            also(may("model_name", Kind::Text), "model"),
        ],
    ),
    on_measurements(
        "latency",
        "the run took at most this many milliseconds",
        &[need("threshold", Kind::Amount)],
    ),
    on_measurements(
        "cost",
        "the run cost at most this many dollars",
        &[also(need("budget", Kind::Amount), "threshold")],
    ),
    on_measurements(
        "token-usage",
        "the run used at most these numbers of tokens",
        &[
            also(may("max_total", Kind::Count), "maxTotal"),
            also(may("max_input", Kind::Count), "maxInput"),
            also(may("max_output", Kind::Count), "maxOutput"),
        ],
    ),
    on_measurements(
        "execution-metrics",
        "the run stayed within these bounds",
        &[
            also(may("max_tool_calls", Kind::Count), "maxToolCalls"),
            also(may("max_llm_calls", Kind::Count), "maxLlmCalls"),
            also(may("max_tokens", Kind::Count), "maxTokens"),
            also(may("max_cost_usd", Kind::Amount), "maxCostUsd"),
            also(may("max_duration_ms", Kind::Amount), "maxDurationMs"),
            also(may("target_exploration_ratio", Kind::Fraction), "targetExplorationRatio"),
            also(may("exploration_tolerance", Kind::Fraction), "explorationTolerance"),
        ],
    ),
    on_response(
        "field-accuracy",
        "fields of the JSON response agree with the expected ones",
        &[
            need(
                "fields",
                Kind::Each(&[
                    need("path", Kind::Text),
                    need("match", Kind::OneOf(&["exact", "numeric_tolerance", "date"])),
                    may("required", Kind::Bool),
                    may("weight", Kind::Amount),
                    may("tolerance", Kind::Amount),
                    may("relative", Kind::Bool),
                    may("formats", Kind::TextOrTexts),
                ]),
            ),
            may("aggregation", Kind::OneOf(&["weighted_average", "all_or_nothing"])),
        ],
    ),
    on_candidate(
        "script",
        "a program reads the case as JSON and answers with a score",
        &[
            also(need("command", Kind::TextOrTexts), "script"),
            may("cwd", Kind::Text),
            may("timeout_ms", Kind::Amount),
            may("config", Kind::Map),
            may("env", Kind::TextOrTexts),
        ],
    ),
    on_candidate("javascript", "a JavaScript expression or file, run by node", CODE),
    on_candidate("python", "a Python expression or file, run by python3", CODE),
    on_candidate(
        "webhook",
        "an HTTP service answers with a score",
        &[
            need("value", Kind::Text),
            may("threshold", Kind::Fraction),
            may("config", Kind::Map),
            may("timeout_ms", Kind::Amount),
        ],
    ),
    on_candidate(
        "max-score",
        "among the outputs of one case, this one scores highest",
        &[may(
            "value",
            Kind::Shape(&[
                may("method", Kind::OneOf(&["average", "sum"])),
                may("weights", Kind::Map),
                may("threshold", Kind::Number),
            ]),
        )],
    ),
    on_trace(
        "tool-call-f1",
        "F1 of the names of the tools called (at least 1)",
        &[need("value", Kind::TextOrTexts), may("threshold", Kind::Fraction)],
    ),
    on_response(
        "word-count",
        "the response has this many words, or between min and max",
        &[need("value", Kind::OrShape(&Kind::Count, BOUNDS))],
    ),
    on_trace(
        "skill-used",
        "the agent used the skill",
        &[need("value", Kind::OrShape(&Kind::TextOrTexts, USED))],
    ),
    on_trace(
        "trajectory:tool-used",
        "the agent called the tool",
        &[need("value", Kind::OrShape(&Kind::TextOrTexts, USED))],
    ),
    on_trace(
        "trajectory:tool-sequence",
        "the agent called the tools in this order",
        &[need(
            "value",
            Kind::OrShape(
                &Kind::List,
                &[may("mode", Kind::OneOf(&["in_order", "exact"])), need("steps", Kind::List)],
            ),
        )],
    ),
    on_trace(
        "trajectory:tool-args-match",
        "the agent called the tool with these arguments",
        &[need(
            "value",
            Kind::Shape(&[
                may("name", Kind::Text),
                may("pattern", Kind::Text),
                also(need("args", Kind::Any), "arguments"),
                may("mode", Kind::OneOf(&["partial", "exact"])),
                may("defaults", Kind::Map),
                may("ignore", Kind::TextOrTexts),
            ]),
        )],
    ),
    on_trace(
        "trajectory:step-count",
        "the number of steps is within bounds",
        &[need("value", Kind::Shape(USED))],
    ),
    on_trace(
        "tool-trajectory",
        "the tool calls are the expected ones",
        &[
            need("mode", Kind::OneOf(&["any_order", "in_order", "exact", "subset", "superset"])),
            may("minimums", Kind::Map),
            may(
                "expected",
                Kind::Each(&[
                    need("tool", Kind::Text),
                    may("args", Kind::Any),
                    also(may("max_duration_ms", Kind::Amount), "maxDurationMs"),
                    also(may("args_match", Kind::Any), "argsMatch"),
                ]),
            ),
            also(may("args_match", Kind::Any), "argsMatch"),
        ],
    ),
    on_trace(
        "trajectory_match",
        "the tool calls compare with those of the reference",
        &[
            may("mode", Kind::OneOf(&["strict", "unordered", "subset", "superset"])),
            may("tool_args_match_mode", MATCH),
            may("tool_args_match_overrides", Kind::Map),
            may("ignore_case", Kind::Bool),
            may("number_tolerance", Kind::Amount),
        ],
    ),
    on_trace(
        "graph_trajectory",
        "the nodes that ran compare with those of the reference",
        &[may("mode", Kind::OneOf(&["strict", "unordered"]))],
    ),
    on_trace(
        "tool_use",
        "the agent called the tool, perhaps with these arguments",
        &[
            need("expected_tool", Kind::Text),
            may("expected_args", Kind::Map),
            may("args_match_mode", MATCH),
            may("ignore_case", Kind::Bool),
            may("number_tolerance", Kind::Amount),
        ],
    ),
    on_trace(
        "tool_call_accuracy",
        "the share of the reference's tool calls that the agent made",
        &[
            may("args_match_mode", MATCH),
            may("ignore_case", Kind::Bool),
            may("number_tolerance", Kind::Amount),
        ],
    ),
    on_response(
        "exact_match",
        "the response is the reference",
        &[may("case_sensitive", Kind::Bool), may("strip", Kind::Bool)],
    ),
    on_response(
        "regex_match",
        "the pattern matches somewhere; flags are Python's bits",
        &[
            may("engine", ENGINE),
            need("pattern", Kind::Pattern),
            may("flags", Kind::Count),
            may("scope", SCOPE),
        ],
    ),
    on_response("edit_distance", "1 minus the edit distance to the reference over the longer length", &[]),
    on_response(
        "rouge-n",
        "share of the reference's n-grams that the response has (recall; n = 1)",
        &[may("value", Kind::Text), may("n", Kind::Count), may("threshold", Kind::Fraction)],
    ),
    on_response(
        "bleu",
        "n-gram precision against the reference, up to four words, short answers penalised",
        &[may("value", Kind::TextOrTexts), may("threshold", Kind::Fraction)],
    ),
    on_response(
        "numeric-range",
        "the response is a number within bounds",
        &[may("min", Kind::Number), may("max", Kind::Number)],
    ),
    on_response(
        "length",
        "the response is between min and max long, in characters, words or tokens",
        &[
            may("min", Kind::Count),
            may("max", Kind::Count),
            may("unit", Kind::OneOf(&["characters", "words", "tokens"])),
        ],
    ),
    on_response(
        "required-fields",
        "the response is a JSON object with these fields, none of them null",
        &[need("fields", Kind::TextOrTexts)],
    ),
    on_response("json_valid", "the response is JSON", &[]),
    on_response(
        "json_schema_match",
        "the response is JSON that fits the schema",
        &[need("schema", Kind::Any)],
    ),
    on_response(
        "embedding_similarity",
        "how close in meaning to the reference, by embeddings",
        &[also(may("model_name", Kind::Text), "model")],
    ),
];

/// Recipes: named ways in which a judge grades.
pub const RECIPES: &[Entry] = &[
    on_candidate("agent-rubric", "an agent grades against a text", &[need("value", Kind::Any)]),
    on_candidate(
        "g-eval",
        "the judge derives steps from each text and follows them (at least 0.7)",
        &[need("value", Kind::TextOrTexts), may("threshold", Kind::Fraction)],
    ),
    on_candidate("factuality", "the facts agree with the reference text", &[need("value", Kind::Text)]),
    on_candidate(
        "model-graded-closedqa",
        "the response meets the text, yes or no",
        &[need("value", Kind::Text)],
    ),
    on_candidate(
        "answer-relevance",
        "the response answers the question",
        &[may("threshold", Kind::Fraction)],
    ),
    on_candidate(
        "context-faithfulness",
        "every claim is supported by the context",
        &[may("threshold", Kind::Fraction)],
    ),
    on_candidate(
        "context-recall",
        "the context holds what the reference says",
        &[need("value", Kind::Text), may("threshold", Kind::Fraction)],
    ),
    on_candidate(
        "context-relevance",
        "the context is relevant to the question",
        &[may("threshold", Kind::Fraction)],
    ),
    on_candidate(
        "select-best",
        "among the outputs of one case, this one meets the text best",
        &[need("value", Kind::Text)],
    ),
    on_candidate(
        "trajectory:goal-success",
        "the run reached the goal",
        &[need("value", Kind::OrShape(&Kind::Text, &[need("goal", Kind::Text)]))],
    ),
    on_candidate(
        "llm_trajectory_judge",
        "the judge grades the run without a reference",
        &[may("prompt", Kind::Text), may("continuous", Kind::Bool)],
    ),
    on_candidate(
        "context_relevance",
        "the retrieved context is relevant to the question",
        &[may("question_key", Kind::Text), may("context_key", Kind::Text)],
    ),
    on_candidate(
        "groundedness",
        "the share of the answer's claims that the context supports",
        &[may("question_key", Kind::Text), may("context_key", Kind::Text)],
    ),
    on_candidate(
        "answer_relevance",
        "the answer addresses the question",
        &[may("question_key", Kind::Text), may("context_key", Kind::Text)],
    ),
    on_candidate(
        "agent_as_judge",
        "the share of requirements that the run meets, each with evidence",
        &[
            may("requirements", Kind::TextOrTexts),
            may("requirements_key", Kind::Text),
            may("question_key", Kind::Text),
            may("context_key", Kind::Text),
        ],
    ),
];
