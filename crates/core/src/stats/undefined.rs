//! What is said instead of a number that does not exist.

/// Why a number is not defined. Never a NaN, and never a number that only looks like an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("undefined, because {0}")]
pub struct Undefined(pub String);

impl Undefined {
    pub(super) fn because<T>(reason: impl Into<String>) -> Result<T, Self> {
        Err(Self(reason.into()))
    }
}
