//! How a job ends.

use jurist_core::grade::Time;
use jurist_store::StoreError;

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    Finished,
    /// The worker was stopped; finished parts are stored, and another worker does the rest.
    Stopped,
    /// Postponed until this time for this reason; it does not count as a failed attempt.
    Later(Time, &'static str),
}

/// Why a job failed.
#[derive(Debug)]
pub enum JobError {
    /// A retry may help.
    Retry(String),
    /// A retry cannot help.
    Hopeless(String),
    /// The object of the job was deleted.
    Gone,
}

impl JobError {
    #[expect(clippy::needless_pass_by_value, reason = "errors and words alike, as they come")]
    pub fn hopeless(why: impl ToString) -> Self {
        Self::Hopeless(why.to_string())
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unknown { .. } => Self::Gone,
            error if error.is_transient() => Self::Retry(error.to_string()),
            error => Self::Hopeless(error.to_string()),
        }
    }
}
