//! Where each tool keeps the parts of a result, and which versions of its format are understood.

/// Where a tool keeps the parts of a result. Paths are names with dots between them; the first that is there holds.
#[derive(Debug)]
pub(super) struct ResultShape {
    pub(super) tool: &'static str,
    /// Where the list of results is, in a file that is one mapping.
    pub(super) list: &'static [&'static str],
    /// A result is the tool's if it has all of these fields; names with `|` between them are alternatives.
    pub(super) marks: &'static [&'static str],
    pub(super) id: &'static [&'static str],
    pub(super) task: &'static [&'static str],
    pub(super) response: &'static [&'static str],
    pub(super) reference: &'static [&'static str],
    pub(super) context: &'static [&'static str],
    /// Messages of the run.
    pub(super) trace: &'static [&'static str],
    /// Where scores may be; the first that has some holds.
    pub(super) scores: &'static [ScoreShape],
}

/// Tools whose results list all that was asked of a test: what only other tests have does not apply.
pub(super) const TOOLS_WITH_OWN_ASSERTIONS: [&str; 2] = ["promptfoo", "AgentV"];

/// How a tool keeps its scores.
#[derive(Debug)]
pub(super) enum ScoreShape {
    /// A list of mappings.
    Parts {
        list: &'static [&'static str],
        name: &'static [&'static str],
        score: &'static [&'static str],
        reason: &'static str,
    },
    /// A mapping from names to numbers, or to mappings with a value; a value that is a mapping is a score for each key.
    Named { map: &'static [&'static str] },
    /// Columns with numbers that are nothing else.
    Columns,
    /// The same, also with lists of numbers, whose mean is the score; a row without such a column is no result.
    FeedbackColumns,
}

pub(super) const SHAPES: &[ResultShape] = &[
    ResultShape {
        tool: "promptfoo",
        list: &["results.results", "results"],
        marks: &["gradingResult"],
        // Newer versions give each result a random id.
        id: &["testCase.description", "id"],
        task: &["prompt.raw"],
        response: &["response.output"],
        reference: &[],
        context: &["vars.context"],
        trace: &[],
        scores: &[ScoreShape::Parts {
            list: &["gradingResult.componentResults"],
            name: &["assertion.metric", "assertion.type"],
            score: &["score"],
            reason: "reason",
        }],
    },
    ResultShape {
        tool: "DeepEval",
        list: &["testCases", "test_cases", "test_results", "testRunData.testCases"],
        marks: &["actualOutput"],
        id: &["name"],
        task: &["input"],
        response: &["actualOutput"],
        reference: &["expectedOutput"],
        context: &["retrievalContext", "context"],
        trace: &["toolsCalled"],
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
        trace: &["tools_called"],
        scores: DEEPEVAL_SCORES,
    },
    ResultShape {
        tool: "DeepEval",
        list: &[
            "conversationalTestCases",
            "conversational_test_cases",
            "testRunData.conversationalTestCases",
        ],
        marks: &["turns", "metricsData|metrics_data"],
        id: &["name"],
        task: &["scenario", "input"],
        response: &[],
        reference: &["expectedOutcome", "expected_outcome"],
        context: &["context"],
        trace: &["turns"],
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
        trace: &[],
        scores: &[ScoreShape::Columns],
    },
    // Of several turns: the conversation holds the answers as well.
    ResultShape {
        tool: "ragas",
        list: &[],
        marks: &["user_input.0.content"],
        id: &["id"],
        task: &[],
        response: &[],
        reference: &["reference"],
        context: &["retrieved_contexts"],
        trace: &["user_input"],
        scores: &[ScoreShape::Columns],
    },
    // Before version 0.2.
    ResultShape {
        tool: "ragas",
        list: &[],
        marks: &["question", "answer", "contexts"],
        id: &["id"],
        task: &["question"],
        response: &["answer"],
        reference: &["ground_truth", "ground_truths"],
        context: &["contexts"],
        trace: &[],
        scores: &[ScoreShape::Columns],
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
        trace: &["messages"],
        scores: &[ScoreShape::Named { map: &["scores", "score"] }],
    },
    ResultShape {
        tool: "OpenAI evals",
        list: &["data"],
        marks: &["datasource_item", "results"],
        id: &["id"],
        task: &["datasource_item.input", "datasource_item.question", "datasource_item"],
        response: &["sample.output_text", "sample.output.0.content"],
        reference: &[
            "datasource_item.expected",
            "datasource_item.ideal",
            "datasource_item.answer",
            "datasource_item.reference",
            "datasource_item.ground_truth",
            "datasource_item.correct_label",
        ],
        context: &[],
        trace: &[],
        scores: &[ScoreShape::Parts {
            list: &["results"],
            name: &["name"],
            score: &["score", "passed"],
            reason: "reason",
        }],
    },
    // Before Langfuse and Braintrust, whose fields its results have as well.
    ResultShape {
        tool: "AgentV",
        list: &["results"],
        marks: &["test_id", "scores|assertions"],
        id: &["test_id"],
        task: &["input"],
        response: &["output", "output_text", "answer"],
        reference: &["expected_output"],
        context: &[],
        trace: &[],
        scores: &[
            ScoreShape::Parts {
                list: &["scores"],
                name: &["name", "type"],
                score: &["score"],
                reason: "reasoning",
            },
            // Without a list of scores, AgentV has what each rubric item came to.
            ScoreShape::Parts {
                list: &["assertions"],
                name: &["text"],
                score: &["passed"],
                reason: "evidence",
            },
        ],
    },
    ResultShape {
        tool: "Langfuse",
        list: &["data"],
        marks: &["input", "output", "scores"],
        id: &["id", "traceId"],
        task: &["input"],
        response: &["output"],
        reference: &["expectedOutput"],
        context: &[],
        trace: &[],
        scores: &[ScoreShape::Parts {
            list: &["scores"],
            name: &["name"],
            score: &["value"],
            reason: "comment",
        }],
    },
    // Tables of traces have a column for each name of a score, with a list of its values.
    ResultShape {
        tool: "Langfuse",
        list: &[],
        marks: &["input", "output", "timestamp|startTime", "sessionId|userId|environment|traceId"],
        id: &["id", "traceId"],
        task: &["input"],
        response: &["output"],
        reference: &["expectedOutput"],
        context: &[],
        trace: &[],
        scores: &[ScoreShape::FeedbackColumns],
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
        trace: &[],
        scores: &[ScoreShape::Named { map: &["scores"] }],
    },
    ResultShape {
        tool: "LangSmith",
        list: &["runs"],
        // Tables of its Python library say `input.question`.
        marks: &["inputs|input", "outputs", "feedback_stats|feedback"],
        id: LANGSMITH_IDS,
        task: LANGSMITH_TASKS,
        response: LANGSMITH_ANSWERS,
        reference: LANGSMITH_REFERENCES,
        context: &[],
        trace: &[],
        scores: &[
            ScoreShape::Parts {
                list: &["feedback"],
                name: &["key"],
                score: &["score", "value"],
                reason: "comment",
            },
            ScoreShape::Named { map: &["feedback_stats", "feedback"] },
        ],
    },
    // Tables of an experiment that name each column by the key of the feedback. Datasets have the same fields, so that
    // only a column of scores tells them apart.
    ResultShape {
        tool: "LangSmith",
        list: &[],
        marks: &[
            "inputs",
            "outputs",
            "reference_outputs|reference|reference_example_id|example_id|run_id|trace_id|run_type",
        ],
        id: LANGSMITH_IDS,
        task: LANGSMITH_TASKS,
        response: LANGSMITH_ANSWERS,
        reference: LANGSMITH_REFERENCES,
        context: &[],
        trace: &[],
        scores: &[ScoreShape::FeedbackColumns],
    },
];

const LANGSMITH_IDS: &[&str] = &["id", "run_id", "example_id"];
const LANGSMITH_TASKS: &[&str] =
    &["inputs.input", "inputs.question", "inputs", "input.input", "input.question", "input"];
const LANGSMITH_ANSWERS: &[&str] = &["outputs.output", "outputs.answer", "outputs"];
const LANGSMITH_REFERENCES: &[&str] = &[
    "reference_outputs.output",
    "reference_outputs.answer",
    "reference_outputs",
    "reference.output",
    "reference.answer",
    "reference",
];

const DEEPEVAL_SCORES: &[ScoreShape] = &[
    ScoreShape::Parts {
        list: &["metricsData", "metrics_data"],
        name: &["name"],
        score: &["score", "success"],
        reason: "reason",
    },
    // A table has no lists.
    ScoreShape::Columns,
];

/// Where the results of a tool have a version of their format, and which versions are understood. Results of other
/// versions may have their parts elsewhere.
pub(super) struct ResultVersion {
    pub(super) tool: &'static str,
    pub(super) path: &'static str,
    pub(super) known: &'static [u64],
}

pub(super) const RESULT_VERSIONS: &[ResultVersion] = &[
    // Of the evaluation as it is stored and exported, and of the summary in it.
    ResultVersion { tool: "promptfoo", path: "version", known: &[2, 3, 4] },
    ResultVersion { tool: "promptfoo", path: "results.version", known: &[1, 2, 3] },
    ResultVersion { tool: "Inspect", path: "version", known: &[1, 2] },
    // Files of AgentV have versions such as `agentv.trajectory.v1`.
    ResultVersion { tool: "AgentV", path: "schema_version", known: &[1] },
];
