//! Reasons why a figure does not exist.

/// Why a number is not defined. Never a NaN, and never a number that only looks like an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("undefined, because {0}")]
pub struct Undefined(pub String);

/// Things that are held in memory at once: a cell of a table takes up to 32 bytes.
const MAX_ITEMS: usize = 10_000_000;

/// Refuses what would take too much memory or time, however few bytes ask for it.
pub(crate) fn ensure_size(what: &str, n_items: usize) -> Result<(), Undefined> {
    if MAX_ITEMS < n_items {
        return Undefined::because(format!(
            "{what}: {n_items} are more than the {MAX_ITEMS} that are computed"
        ));
    }
    Ok(())
}

impl Undefined {
    pub(crate) fn because<T>(reason: impl Into<String>) -> Result<T, Self> {
        Err(Self(reason.into()))
    }
}
