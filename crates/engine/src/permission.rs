//! Permissions that a user has to give explicitly, because files may come from strangers.

/// A file requests something that the user has not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the file names {0}; pass --allow-commands to allow it, if you trust the file")]
pub struct NotPermitted(String);

impl NotPermitted {
    /// What the file names, such as "the program `sh agent.sh`".
    pub fn what(&self) -> &str {
        &self.0
    }
}

/// Checks a permission, such as to start a program or to send environment variables to an address of the file.
///
/// `what` completes "the file names …".
pub fn require_permission(is_allowed: bool, what: impl Into<String>) -> Result<(), NotPermitted> {
    if is_allowed { Ok(()) } else { Err(NotPermitted(what.into())) }
}
