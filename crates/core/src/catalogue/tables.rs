//! The tables of checks and recipes, with the parameters of each.

use super::{
    BoundsCheckName, CallCheckName, CatalogueEntry, CheckName, ExternalCheckName, GradedPart, JsonCheckName,
    OverlapCheckName, Param, ParamKind, ProviderCheckName, SimilarityCheckName, SpanCheckName, TextCheckName,
};

const fn need(name: &'static str, kind: ParamKind) -> Param {
    Param { name, alias: None, kind, required: true }
}

const fn may(name: &'static str, kind: ParamKind) -> Param {
    Param { name, alias: None, kind, required: false }
}

const fn also(param: Param, alias: &'static str) -> Param {
    Param { alias: Some(alias), ..param }
}

const fn on_response(
    check: CheckName,
    name: &'static str,
    help: &'static str,
    params: &'static [Param],
) -> CatalogueEntry {
    CatalogueEntry { check: Some(check), name, help, looks_at: GradedPart::Response, params }
}

const fn on_trace(
    check: CheckName,
    name: &'static str,
    help: &'static str,
    params: &'static [Param],
) -> CatalogueEntry {
    CatalogueEntry { check: Some(check), name, help, looks_at: GradedPart::Trace, params }
}

const fn on_measurements(
    check: CheckName,
    name: &'static str,
    help: &'static str,
    params: &'static [Param],
) -> CatalogueEntry {
    CatalogueEntry { check: Some(check), name, help, looks_at: GradedPart::Measurements, params }
}

const fn on_candidate(
    check: CheckName,
    name: &'static str,
    help: &'static str,
    params: &'static [Param],
) -> CatalogueEntry {
    CatalogueEntry { check: Some(check), name, help, looks_at: GradedPart::Candidate, params }
}

const fn recipe(name: &'static str, help: &'static str, params: &'static [Param]) -> CatalogueEntry {
    CatalogueEntry { check: None, name, help, looks_at: GradedPart::Candidate, params }
}

const BOUNDS: &[Param] = &[may("min", ParamKind::Count), may("max", ParamKind::Count)];

const TOOL_CALLS: &str = "the response is calls of these tools, with arguments that fit";
const TOOLS: &[Param] = &[may("tools", ParamKind::List)];

/// A tool or skill by name or glob, and how often.
const USED: &[Param] = &[
    may("name", ParamKind::Text),
    may("pattern", ParamKind::Text),
    may("type", ParamKind::TextOrTexts),
    may("min", ParamKind::Count),
    may("max", ParamKind::Count),
];

/// Patterns run in linear time, or with look-around and back references within a number of steps.
const ENGINE: ParamKind = ParamKind::OneOf(&["linear", "backtracking"]);

/// Code, and what it is given.
const CODE: &[Param] = &[
    need("value", ParamKind::Text),
    may("threshold", ParamKind::Fraction),
    may("config", ParamKind::Map),
    may("timeout_ms", ParamKind::Amount),
    may("env", ParamKind::TextOrTexts),
    may("check", ParamKind::Map),
    may("scores", ParamKind::Map),
];

/// What each answer about the facts of a response is worth.
const FACT_SCORES: &[Param] = &[
    may("subset", ParamKind::Fraction),
    may("superset", ParamKind::Fraction),
    may("agree", ParamKind::Fraction),
    may("disagree", ParamKind::Fraction),
    may("differButFactual", ParamKind::Fraction),
];

/// Where a text is searched: in the final response (the default) or in the whole trace.
const SCOPE: ParamKind = ParamKind::OneOf(&["response", "trace"]);

/// The database whose SQL is meant, and what statements may name: `action::table::column`.
const SQL_RULES: ParamKind = ParamKind::Shape(&[
    may("databaseType", ParamKind::Text),
    may("allowedTables", ParamKind::TextOrTexts),
    may("allowedColumns", ParamKind::TextOrTexts),
]);

/// Elements of XML by their paths.
const XML_ELEMENTS: ParamKind =
    ParamKind::OrShape(&ParamKind::TextOrTexts, &[need("requiredElements", ParamKind::TextOrTexts)]);

const MATCH: ParamKind = ParamKind::OneOf(&["exact", "ignore", "subset", "superset"]);

/// Checks: decided by code, the same every time.
pub const CHECKS: &[CatalogueEntry] = &[
    on_response(
        CheckName::Text(TextCheckName::Equals),
        "equals",
        "the response is this text or this JSON value",
        &[need("value", ParamKind::Any), may("strip", ParamKind::Bool)],
    ),
    on_response(
        CheckName::Text(TextCheckName::Contains),
        "contains",
        "the text occurs in the response: `value` in the same case, `substring` or the reference in any case",
        &[
            also(may("value", ParamKind::Text), "substring"),
            may("case_sensitive", ParamKind::Bool),
            may("scope", SCOPE),
        ],
    ),
    on_response(
        CheckName::Text(TextCheckName::ContainsAnyCase),
        "icontains",
        "the text occurs in the response, whatever its case",
        &[need("value", ParamKind::Text), may("scope", SCOPE)],
    ),
    on_response(
        CheckName::Text(TextCheckName::Any),
        "contains-any",
        "at least one of the texts occurs",
        &[need("value", ParamKind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response(
        CheckName::Text(TextCheckName::All),
        "contains-all",
        "all of the texts occur",
        &[need("value", ParamKind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response(
        CheckName::Text(TextCheckName::AnyOfAnyCase),
        "icontains-any",
        "at least one of the texts occurs, whatever its case",
        &[need("value", ParamKind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response(
        CheckName::Text(TextCheckName::AllOfAnyCase),
        "icontains-all",
        "all of the texts occur, whatever their case",
        &[need("value", ParamKind::TextOrTexts), may("scope", SCOPE)],
    ),
    on_response(
        CheckName::Text(TextCheckName::StartsWith),
        "starts-with",
        "the response begins with the text",
        &[need("value", ParamKind::Text)],
    ),
    on_response(
        CheckName::Text(TextCheckName::EndsWith),
        "ends-with",
        "the response ends with the text",
        &[need("value", ParamKind::Text)],
    ),
    on_response(
        CheckName::Text(TextCheckName::Regex),
        "regex",
        "the pattern matches somewhere",
        &[
            may("engine", ENGINE),
            need("value", ParamKind::Pattern),
            may("flags", ParamKind::Flags),
            may("scope", SCOPE),
        ],
    ),
    on_response(
        CheckName::Json(JsonCheckName::Is),
        "is-json",
        "the response is JSON, and fits the schema if one is given",
        &[may("value", ParamKind::Any)],
    ),
    on_response(
        CheckName::Json(JsonCheckName::Contains),
        "contains-json",
        "the response contains a JSON value, which fits the schema if one is set",
        &[may("value", ParamKind::Any), may("scope", SCOPE)],
    ),
    on_response(
        CheckName::Text(TextCheckName::Levenshtein),
        "levenshtein",
        "the edit distance to the text is at most the threshold (5)",
        &[need("value", ParamKind::Text), may("threshold", ParamKind::Amount)],
    ),
    on_response(
        CheckName::Similarity(SimilarityCheckName::Similar),
        "similar",
        "the meaning is close to the text, by embeddings (at least 0.75)",
        &[
            need("value", ParamKind::TextOrTexts),
            may("threshold", ParamKind::Amount),
            may("measure", ParamKind::OneOf(&["cosine", "dot", "euclidean"])),
            also(may("model_name", ParamKind::Text), "model"),
            may("base_url", ParamKind::Text),
        ],
    ),
    on_measurements(
        CheckName::Bounds(BoundsCheckName::Latency),
        "latency",
        "the run took at most this many milliseconds",
        &[need("threshold", ParamKind::Amount)],
    ),
    on_measurements(
        CheckName::Bounds(BoundsCheckName::Cost),
        "cost",
        "the run cost at most this many dollars",
        &[also(need("budget", ParamKind::Amount), "threshold")],
    ),
    on_measurements(
        CheckName::Bounds(BoundsCheckName::TokenUsage),
        "token-usage",
        "the run used at most these numbers of tokens",
        &[
            also(may("max_total", ParamKind::Count), "maxTotal"),
            also(may("max_input", ParamKind::Count), "maxInput"),
            also(may("max_output", ParamKind::Count), "maxOutput"),
        ],
    ),
    on_measurements(
        CheckName::Bounds(BoundsCheckName::ExecutionMetrics),
        "execution-metrics",
        "the run stayed within these bounds",
        &[
            also(may("max_tool_calls", ParamKind::Count), "maxToolCalls"),
            also(may("max_llm_calls", ParamKind::Count), "maxLlmCalls"),
            also(may("max_tokens", ParamKind::Count), "maxTokens"),
            also(may("max_cost_usd", ParamKind::Amount), "maxCostUsd"),
            also(may("max_duration_ms", ParamKind::Amount), "maxDurationMs"),
            also(may("target_exploration_ratio", ParamKind::Fraction), "targetExplorationRatio"),
            also(may("exploration_tolerance", ParamKind::Fraction), "explorationTolerance"),
        ],
    ),
    on_response(
        CheckName::FieldAccuracy,
        "field-accuracy",
        "fields of the JSON response agree with the expected ones",
        &[
            need(
                "fields",
                ParamKind::Each(&[
                    need("path", ParamKind::Text),
                    need("match", ParamKind::OneOf(&["exact", "numeric_tolerance", "date"])),
                    may("required", ParamKind::Bool),
                    may("weight", ParamKind::Amount),
                    may("tolerance", ParamKind::Amount),
                    may("relative", ParamKind::Bool),
                    may("formats", ParamKind::TextOrTexts),
                ]),
            ),
            may("aggregation", ParamKind::OneOf(&["weighted_average", "all_or_nothing"])),
        ],
    ),
    on_candidate(
        CheckName::External(ExternalCheckName::Script),
        "script",
        "a program reads the case as JSON and answers with a score",
        &[
            also(need("command", ParamKind::TextOrTexts), "script"),
            may("cwd", ParamKind::Text),
            may("timeout_ms", ParamKind::Amount),
            may("config", ParamKind::Map),
            may("env", ParamKind::TextOrTexts),
        ],
    ),
    on_candidate(
        CheckName::External(ExternalCheckName::JavaScript),
        "javascript",
        "a JavaScript expression or file, run by node",
        CODE,
    ),
    on_candidate(
        CheckName::External(ExternalCheckName::Python),
        "python",
        "a Python expression or file, run by python3",
        CODE,
    ),
    on_candidate(
        CheckName::External(ExternalCheckName::Webhook),
        "webhook",
        "an HTTP service answers with a score",
        &[
            need("value", ParamKind::Text),
            may("threshold", ParamKind::Fraction),
            may("config", ParamKind::Map),
            may("timeout_ms", ParamKind::Amount),
        ],
    ),
    on_candidate(
        CheckName::MaxScore,
        "max-score",
        "among the outputs of one case, this one scores highest",
        &[may(
            "value",
            ParamKind::Shape(&[
                may("method", ParamKind::OneOf(&["average", "sum"])),
                may("weights", ParamKind::Map),
                may("threshold", ParamKind::Number),
            ]),
        )],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::F1),
        "tool-call-f1",
        "F1 of the names of the tools called (at least 1)",
        &[need("value", ParamKind::TextOrTexts), may("threshold", ParamKind::Fraction)],
    ),
    on_response(
        CheckName::Text(TextCheckName::WordCount),
        "word-count",
        "the response has this many words, or between min and max",
        &[need("value", ParamKind::OrShape(&ParamKind::Count, BOUNDS))],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::Used),
        "skill-used",
        "the agent used the skill",
        &[need("value", ParamKind::OrShape(&ParamKind::TextOrTexts, USED))],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::Used),
        "trajectory:tool-used",
        "the agent called the tool",
        &[need("value", ParamKind::OrShape(&ParamKind::TextOrTexts, USED))],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::ToolSequence),
        "trajectory:tool-sequence",
        "the agent called the tools in this order",
        &[need(
            "value",
            ParamKind::OrShape(
                &ParamKind::List,
                &[may("mode", ParamKind::OneOf(&["in_order", "exact"])), need("steps", ParamKind::List)],
            ),
        )],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::ToolArguments),
        "trajectory:tool-args-match",
        "the agent called the tool with these arguments",
        &[need(
            "value",
            ParamKind::Shape(&[
                may("name", ParamKind::Text),
                may("pattern", ParamKind::Text),
                also(need("args", ParamKind::Any), "arguments"),
                may("mode", ParamKind::OneOf(&["partial", "exact"])),
                may("defaults", ParamKind::Map),
                may("ignore", ParamKind::TextOrTexts),
            ]),
        )],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::StepCount),
        "trajectory:step-count",
        "the number of the agent's steps (tool calls, replies and reasoning texts) is within bounds",
        &[need("value", ParamKind::Shape(USED))],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::ToolTrajectory),
        "tool-trajectory",
        "the tool calls are the expected ones",
        &[
            need("mode", ParamKind::OneOf(&["any_order", "in_order", "exact", "subset", "superset"])),
            may("minimums", ParamKind::Map),
            may(
                "expected",
                ParamKind::Each(&[
                    need("tool", ParamKind::Text),
                    may("args", ParamKind::Any),
                    also(may("max_duration_ms", ParamKind::Amount), "maxDurationMs"),
                    also(may("args_match", ParamKind::Any), "argsMatch"),
                ]),
            ),
            also(may("args_match", ParamKind::Any), "argsMatch"),
        ],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::TrajectoryMatch),
        "trajectory_match",
        "the tool calls compare with those of the reference",
        &[
            may("mode", ParamKind::OneOf(&["strict", "unordered", "subset", "superset"])),
            may("tool_args_match_mode", MATCH),
            may("tool_args_match_overrides", ParamKind::Map),
            may("ignore_case", ParamKind::Bool),
            may("number_tolerance", ParamKind::Amount),
        ],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::GraphTrajectory),
        "graph_trajectory",
        "the nodes that ran compare with those of the reference",
        &[may("mode", ParamKind::OneOf(&["strict", "unordered"]))],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::ToolUse),
        "tool_use",
        "the agent called the tool, perhaps with these arguments",
        &[
            need("expected_tool", ParamKind::Text),
            may("expected_args", ParamKind::Map),
            may("args_match_mode", MATCH),
            may("ignore_case", ParamKind::Bool),
            may("number_tolerance", ParamKind::Amount),
        ],
    ),
    on_trace(
        CheckName::Calls(CallCheckName::ToolCallAccuracy),
        "tool_call_accuracy",
        "the share of the reference's tool calls that the agent made",
        &[
            may("args_match_mode", MATCH),
            may("ignore_case", ParamKind::Bool),
            may("number_tolerance", ParamKind::Amount),
        ],
    ),
    on_response(
        CheckName::Text(TextCheckName::ExactMatch),
        "exact_match",
        "the response is the reference",
        &[may("case_sensitive", ParamKind::Bool), may("strip", ParamKind::Bool)],
    ),
    on_response(
        CheckName::Text(TextCheckName::PythonRegex),
        "regex_match",
        "the pattern matches somewhere; flags are Python's bits",
        &[
            may("engine", ENGINE),
            need("pattern", ParamKind::Pattern),
            may("flags", ParamKind::Count),
            may("scope", SCOPE),
        ],
    ),
    on_response(
        CheckName::Text(TextCheckName::EditDistance),
        "edit_distance",
        "1 minus the edit distance to the reference over the longer length",
        &[],
    ),
    on_response(
        CheckName::Overlap(OverlapCheckName::RougeN),
        "rouge-n",
        "share of the reference's n-grams that the response has (n = 1; recall, or the F measure)",
        &[
            may("value", ParamKind::Text),
            may("n", ParamKind::Count),
            may("measure", ParamKind::OneOf(&["recall", "f1"])),
            may("threshold", ParamKind::Fraction),
        ],
    ),
    on_response(
        CheckName::Overlap(OverlapCheckName::Bleu),
        "bleu",
        "n-gram precision against the reference, up to four words, short answers penalised",
        &[may("value", ParamKind::TextOrTexts), may("threshold", ParamKind::Fraction)],
    ),
    on_response(
        CheckName::Overlap(OverlapCheckName::Gleu),
        "gleu",
        "share of runs of up to four words that the response and the reference have in common",
        &[may("value", ParamKind::TextOrTexts), may("threshold", ParamKind::Fraction)],
    ),
    on_response(
        CheckName::Overlap(OverlapCheckName::Meteor),
        "meteor",
        "words and English stems in common with the reference, other orders penalised; no synonyms",
        &[
            may("value", ParamKind::TextOrTexts),
            may("alpha", ParamKind::Fraction),
            may("beta", ParamKind::Amount),
            may("gamma", ParamKind::Fraction),
            may("threshold", ParamKind::Fraction),
        ],
    ),
    on_response(
        CheckName::Xml { anywhere: false },
        "is-xml",
        "the response is well-formed XML, with these elements (paths such as `order.item`) if any are given",
        &[may("value", XML_ELEMENTS)],
    ),
    on_response(
        CheckName::Xml { anywhere: true },
        "contains-xml",
        "the response contains a well-formed XML element, with these elements if any are given",
        &[may("value", XML_ELEMENTS)],
    ),
    on_response(
        CheckName::Sql { anywhere: false },
        "is-sql",
        "the response is SQL of a database (MySQL), and names only what is allowed, if anything is",
        &[may("value", SQL_RULES)],
    ),
    on_response(
        CheckName::Sql { anywhere: true },
        "contains-sql",
        "the response is such SQL, or has some in a code block",
        &[may("value", SQL_RULES)],
    ),
    on_response(
        CheckName::Html { anywhere: false },
        "is-html",
        "the response is HTML: elements, and words only inside of them",
        &[],
    ),
    on_response(CheckName::Html { anywhere: true }, "contains-html", "the response contains HTML", &[]),
    on_response(CheckName::Refusal, "is-refusal", "the response is empty or has a phrase of a refusal", &[]),
    on_response(CheckName::ToolCalls, "is-valid-openai-tools-call", TOOL_CALLS, TOOLS),
    on_response(CheckName::ToolCalls, "is-valid-openai-function-call", TOOL_CALLS, TOOLS),
    on_response(CheckName::ToolCalls, "is-valid-function-call", TOOL_CALLS, TOOLS),
    on_trace(
        CheckName::Spans(SpanCheckName::FinishReason),
        "finish-reason",
        "the model stopped for this reason: stop, length, tool_calls or content_filter",
        &[need("value", ParamKind::Text)],
    ),
    on_trace(
        CheckName::Spans(SpanCheckName::Count),
        "trace-span-count",
        "the number of OpenTelemetry spans with such a name is within bounds",
        &[need(
            "value",
            ParamKind::Shape(&[
                need("pattern", ParamKind::Text),
                may("min", ParamKind::Count),
                may("max", ParamKind::Count),
            ]),
        )],
    ),
    on_trace(
        CheckName::Spans(SpanCheckName::Duration),
        "trace-span-duration",
        "spans with such a name took at most this many milliseconds",
        &[need(
            "value",
            ParamKind::Shape(&[
                may("pattern", ParamKind::Text),
                need("max", ParamKind::Amount),
                may("percentile", ParamKind::Amount),
            ]),
        )],
    ),
    on_trace(
        CheckName::Spans(SpanCheckName::Errors),
        "trace-error-spans",
        "at most this many spans with such a name failed (0)",
        &[may(
            "value",
            ParamKind::OrShape(
                &ParamKind::Count,
                &[
                    may("pattern", ParamKind::Text),
                    also(may("max_count", ParamKind::Count), "maxCount"),
                    also(may("max_percentage", ParamKind::Amount), "maxPercentage"),
                ],
            ),
        )],
    ),
    on_measurements(
        CheckName::Provider(ProviderCheckName::Perplexity),
        "perplexity",
        "the perplexity of the answer, by the log-probabilities of its tokens, is at most this, if it is given",
        &[may("threshold", ParamKind::Amount)],
    ),
    on_measurements(
        CheckName::Provider(ProviderCheckName::PerplexityScore),
        "perplexity-score",
        "1 / (1 + perplexity): the more certain the model was of its tokens, the closer to 1",
        &[may("threshold", ParamKind::Fraction)],
    ),
    on_candidate(
        CheckName::Provider(ProviderCheckName::Guardrails),
        "guardrails",
        "the guardrails of the target's provider flagged neither the prompt nor the answer",
        &[],
    ),
    on_response(
        CheckName::Provider(ProviderCheckName::Moderation),
        "moderation",
        "OpenAI's moderation endpoint flags the response for none of these categories; for none at all by default",
        &[may("value", ParamKind::TextOrTexts), may("model_name", ParamKind::Text)],
    ),
    on_response(
        CheckName::Text(TextCheckName::NumericRange),
        "numeric-range",
        "the response is a number within bounds",
        &[may("min", ParamKind::Number), may("max", ParamKind::Number)],
    ),
    on_response(
        CheckName::Text(TextCheckName::Length),
        "length",
        "the response is between min and max long, in characters, words or tokens",
        &[
            may("min", ParamKind::Count),
            may("max", ParamKind::Count),
            may("unit", ParamKind::OneOf(&["characters", "words", "tokens"])),
        ],
    ),
    on_response(
        CheckName::Json(JsonCheckName::Valid),
        "required-fields",
        "the response is a JSON object with these fields, none of them null",
        &[need("fields", ParamKind::TextOrTexts)],
    ),
    on_response(CheckName::Json(JsonCheckName::Valid), "json_valid", "the response is JSON", &[]),
    on_response(
        CheckName::Json(JsonCheckName::SchemaMatch),
        "json_schema_match",
        "the response is JSON that fits the schema",
        &[need("schema", ParamKind::Any)],
    ),
    on_response(
        CheckName::Similarity(SimilarityCheckName::EmbeddingSimilarity),
        "embedding_similarity",
        "how close in meaning to the reference, by embeddings",
        &[also(may("model_name", ParamKind::Text), "model"), may("base_url", ParamKind::Text)],
    ),
];

/// Recipes: named ways in which a judge grades.
pub const RECIPES: &[CatalogueEntry] = &[
    recipe("agent-rubric", "an agent grades against a text", &[need("value", ParamKind::Any)]),
    recipe(
        "g-eval",
        "the judge derives steps from each text and follows them (at least 0.7)",
        &[need("value", ParamKind::TextOrTexts), may("threshold", ParamKind::Fraction)],
    ),
    recipe(
        "factuality",
        "the facts agree with the reference text",
        &[need("value", ParamKind::Text), may("scores", ParamKind::Shape(FACT_SCORES))],
    ),
    recipe(
        "model-graded-closedqa",
        "the response meets the text, yes or no",
        &[need("value", ParamKind::Text)],
    ),
    recipe("answer-relevance", "the response answers the question", &[may("threshold", ParamKind::Fraction)]),
    recipe(
        "context-faithfulness",
        "every claim is supported by the context",
        &[may("threshold", ParamKind::Fraction)],
    ),
    recipe(
        "context-recall",
        "the context holds what the reference says",
        &[need("value", ParamKind::Text), may("threshold", ParamKind::Fraction)],
    ),
    recipe(
        "context-relevance",
        "the context is relevant to the question",
        &[may("threshold", ParamKind::Fraction)],
    ),
    recipe(
        "select-best",
        "among the outputs of one case, this one meets the text best",
        &[need("value", ParamKind::Text)],
    ),
    recipe(
        "trajectory:goal-success",
        "the run reached the goal",
        &[need("value", ParamKind::OrShape(&ParamKind::Text, &[need("goal", ParamKind::Text)]))],
    ),
    recipe(
        "llm_trajectory_judge",
        "the judge grades the run without a reference",
        &[may("prompt", ParamKind::Text), may("continuous", ParamKind::Bool)],
    ),
    recipe(
        "context_relevance",
        "the retrieved context is relevant to the question",
        &[may("question_key", ParamKind::Text), may("context_key", ParamKind::Text)],
    ),
    recipe(
        "groundedness",
        "the share of the answer's claims that the context supports",
        &[may("question_key", ParamKind::Text), may("context_key", ParamKind::Text)],
    ),
    recipe(
        "answer_relevance",
        "the answer addresses the question",
        &[may("question_key", ParamKind::Text), may("context_key", ParamKind::Text)],
    ),
    recipe(
        "agent_as_judge",
        "the share of requirements that the run meets, each with evidence",
        &[
            may("requirements", ParamKind::TextOrTexts),
            may("requirements_key", ParamKind::Text),
            may("question_key", ParamKind::Text),
            may("context_key", ParamKind::Text),
        ],
    ),
];
