//! How a command ends.

/// How a command ended; `main` knows the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOutcome {
    Passed,
    /// A verdict failed.
    Failed,
    /// A file or an argument is wrong.
    BadInput,
    /// Grading errors left the result incomplete.
    Incomplete,
    /// A budget stopped it.
    OverBudget,
    Interrupted,
}
