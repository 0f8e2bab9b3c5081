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

/// Tools that export `latency` in seconds. Records of Jurist have it in milliseconds.
pub(super) const TOOLS_WITH_SECONDS: [&str; 2] = ["Langfuse", "LangSmith"];

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
    /// Columns of a table that are nothing else; in `others` the tool has something that is no score.
    Columns { values: ColumnValues, others: &'static [&'static str] },
}

/// What a column of scores holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnValues {
    /// One value. Any row is a result, also one without a score.
    One,
    /// One value, or a list of values whose mean is the score. A row without a score is no result.
    OneOrSeveral,
    /// A list of values whose mean is the score. A row without a score is no result.
    Several,
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
        scores: &[ScoreShape::Columns { values: ColumnValues::One, others: &[] }],
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
        scores: &[ScoreShape::Columns { values: ColumnValues::One, others: &[] }],
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
        scores: &[ScoreShape::Columns { values: ColumnValues::One, others: &[] }],
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
    // Tables of traces have a column for each name of a score, with a list of its values, also of a single one.
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
        scores: &[ScoreShape::Columns { values: ColumnValues::Several, others: LANGFUSE_COLUMNS }],
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
        scores: &[ScoreShape::Columns { values: ColumnValues::OneOrSeveral, others: LANGSMITH_COLUMNS }],
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
    ScoreShape::Columns { values: ColumnValues::One, others: DEEPEVAL_COLUMNS },
];

/// What test results of DeepEval say of the test.
const DEEPEVAL_COLUMNS: &[&str] = &["conversational", "evaluation_cost", "multimodal"];

/// Columns of exported traces and observations of Langfuse, of each version since exports exist. Scores are lists
/// there, so that no other column is taken for one; those of this list are known, and not named as unused.
const LANGFUSE_COLUMNS: &[&str] = &[
    "bookmarked",
    "calculatedInputCost",
    "calculatedOutputCost",
    "calculatedTotalCost",
    "comments",
    "completionStartTime",
    "completionTokens",
    "costDetails",
    "createdAt",
    "debugCount",
    "defaultCount",
    "endTime",
    "environment",
    "errorCount",
    "inputPrice",
    "inputUsage",
    "internalModelId",
    "level",
    "metadata",
    "model",
    "modelId",
    "modelParameters",
    "name",
    "observationCount",
    "outputPrice",
    "outputUsage",
    "parentObservationId",
    "projectId",
    "promptId",
    "promptName",
    "promptTokens",
    "providedCostDetails",
    "providedModelName",
    "providedUsageDetails",
    "public",
    "release",
    "sessionId",
    "startTime",
    "statusMessage",
    "tags",
    "timeToFirstTokenMs",
    "timestamp",
    "toolCallNames",
    "toolCalls",
    "toolCallsCount",
    "toolDefinitions",
    "toolDefinitionsCount",
    "totalPrice",
    "totalUsage",
    "traceName",
    "traceTags",
    "traceTimestamp",
    "type",
    "unit",
    "updatedAt",
    "usage.completionTokens",
    "usage.promptTokens",
    "usage.totalTokens",
    "usageDetails",
    "usagePricingTierId",
    "usagePricingTierName",
    "userId",
    "version",
    "warningCount",
];

/// Fields of runs and examples of LangSmith.
const LANGSMITH_COLUMNS: &[&str] = &[
    "app_path",
    "attachments",
    "child_run_ids",
    "child_runs",
    "completion_cost_details",
    "completion_token_details",
    "created_at",
    "dataset_id",
    "direct_child_run_ids",
    "dotted_order",
    "end_time",
    "error",
    "error_preview",
    "events",
    "execution_order",
    "extra",
    "first_token_time",
    "in_dataset",
    "inputs_preview",
    "inputs_s3_urls",
    "is_in_dataset",
    "is_root",
    "last_queued_at",
    "latency_seconds",
    "manifest",
    "manifest_id",
    "manifest_s3_id",
    "metadata",
    "modified_at",
    "name",
    "outputs_preview",
    "outputs_s3_urls",
    "parent_run_id",
    "parent_run_ids",
    "price_model_id",
    "project_id",
    "prompt_cost_details",
    "prompt_token_details",
    "reference_dataset_id",
    "reference_example_id",
    "run_type",
    "s3_urls",
    "serialized",
    "session_id",
    "share_token",
    "share_url",
    "source_run_id",
    "split",
    "start_time",
    "status",
    "tags",
    "tenant_id",
    "thread_evaluation_time",
    "thread_id",
    "trace_first_received_at",
    "trace_max_start_time",
    "trace_min_start_time",
    "trace_tier",
    "trace_upgrade",
    "ttl_seconds",
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
