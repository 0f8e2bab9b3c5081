//! States of a monitor's decision about a trace.

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DecisionState {
    /// Sampled; judging has not begun.
    Sampled,
    SampledOut,
    /// Excluded by the monitor's filter.
    Filtered,
    /// The trace contains no messages or actions that could be judged.
    NothingToJudge,
    OverBudget,
    /// Not judged because too many traces were waiting.
    Overloaded,
    /// A worker has the job, or it waits for a retry.
    Pending,
    Scored,
    /// Scored from the cache of an identical trace, at no cost.
    Cached,
    /// Judge error. It is counted separately from traces that were not judged.
    JudgeError,
    /// The trace has changed since it was judged, and waits to be graded again.
    Stale,
}

impl DecisionState {
    pub const ALL: [Self; 11] = [
        Self::Sampled,
        Self::SampledOut,
        Self::Filtered,
        Self::OverBudget,
        Self::Overloaded,
        Self::Pending,
        Self::Scored,
        Self::Cached,
        Self::JudgeError,
        Self::NothingToJudge,
        Self::Stale,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sampled => "sampled",
            Self::SampledOut => "sampled_out",
            Self::Filtered => "filtered",
            Self::OverBudget => "over_budget",
            Self::Overloaded => "overloaded",
            Self::Pending => "pending",
            Self::Scored => "scored",
            Self::Cached => "cached",
            Self::JudgeError => "judge_error",
            Self::NothingToJudge => "nothing_to_judge",
            Self::Stale => "stale",
        }
    }

    /// The state reduced to four values: scored, error, pending or unscored.
    pub fn judge_status(self) -> &'static str {
        match self {
            Self::Scored | Self::Cached => "scored",
            Self::JudgeError => "error",
            Self::Sampled | Self::Pending | Self::Stale => "pending",
            Self::SampledOut
            | Self::Filtered
            | Self::NothingToJudge
            | Self::OverBudget
            | Self::Overloaded => "unscored",
        }
    }

    /// Whether a judge has still to be asked.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Sampled | Self::Stale | Self::Pending)
    }

    /// Whether such traces are part of the traffic that is estimated.
    pub fn is_counted(self) -> bool {
        !matches!(self, Self::Filtered | Self::NothingToJudge)
    }

    pub(crate) fn was_judged(self) -> bool {
        matches!(self, Self::Scored | Self::Cached | Self::JudgeError)
    }
}

impl std::str::FromStr for DecisionState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str).join(", ");
        let state = Self::ALL.into_iter().find(|decision_state| decision_state.as_str() == text);
        state.ok_or_else(|| format!("`{text}` is not a state of a decision; there are {known}"))
    }
}
