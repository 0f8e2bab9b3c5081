//! What a file may do only if a person agrees: files may come from strangers.

/// Something that a file asks for and that nobody has allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the file names {0}; pass --allow-commands to allow it, if you trust the file")]
pub struct NotPermitted(String);

/// Whether a file may do this: start a program, or send variables of the environment to where it says.
///
/// `what` completes "the file names …".
pub fn require_permission(is_allowed: bool, what: impl Into<String>) -> Result<(), NotPermitted> {
    if is_allowed { Ok(()) } else { Err(NotPermitted(what.into())) }
}
