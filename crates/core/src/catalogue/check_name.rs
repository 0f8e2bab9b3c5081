//! Which code decides a check.
//!
//! Every check of the catalogue names a variant, and the code that compiles checks has an arm for each variant. A check
//! that is listed and that no code decides does not compile.

/// The family of a check, and which of the family it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckName {
    Text(TextCheckName),
    Json(JsonCheckName),
    Calls(CallCheckName),
    Bounds(BoundsCheckName),
    FieldAccuracy,
    Overlap(OverlapCheckName),
    Similarity(SimilarityCheckName),
    Sql {
        /// Anywhere in the response, instead of all of it.
        anywhere: bool,
    },
    Xml {
        anywhere: bool,
    },
    Html {
        anywhere: bool,
    },
    Refusal,
    Spans(SpanCheckName),
    ToolCalls,
    Provider(ProviderCheckName),
    /// Decided by a program or a service.
    External(ExternalCheckName),
    /// Decided when all outputs of a case are graded.
    MaxScore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextCheckName {
    Equals,
    ExactMatch,
    Contains,
    ContainsAnyCase,
    Any,
    All,
    AnyOfAnyCase,
    AllOfAnyCase,
    StartsWith,
    EndsWith,
    Regex,
    PythonRegex,
    Levenshtein,
    EditDistance,
    WordCount,
    Length,
    NumericRange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonCheckName {
    Is,
    Contains,
    /// Valid JSON, perhaps with fields that must be there.
    Valid,
    SchemaMatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCheckName {
    TrajectoryMatch,
    GraphTrajectory,
    ToolCallAccuracy,
    ToolUse,
    F1,
    /// A tool or a skill that is used.
    Used,
    ToolSequence,
    ToolArguments,
    StepCount,
    ToolTrajectory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundsCheckName {
    Latency,
    Cost,
    TokenUsage,
    ExecutionMetrics,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlapCheckName {
    RougeN,
    Bleu,
    Gleu,
    Meteor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimilarityCheckName {
    /// With a least similarity.
    Similar,
    /// The similarity is the score.
    EmbeddingSimilarity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanCheckName {
    Count,
    Duration,
    Errors,
    FinishReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderCheckName {
    Perplexity,
    PerplexityScore,
    Guardrails,
    Moderation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalCheckName {
    Script,
    JavaScript,
    Python,
    Webhook,
}
