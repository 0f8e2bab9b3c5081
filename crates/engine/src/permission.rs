//! Permissions that a user has to give explicitly, because files may come from strangers.

use jurist_core::suite::FilledVariables;

use crate::model::resolve::Resolver;

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

/// Checks that a suite with variables of the environment in its texts sends them to no address that only it names.
pub fn permit_addresses(
    is_allowed: bool,
    resolver: &Resolver,
    variables: &FilledVariables,
    addresses: impl IntoIterator<Item = String>,
) -> Result<(), NotPermitted> {
    let Some(variable) = variables.names.first() else { return Ok(()) };
    let unknown = addresses.into_iter().find(|address| !resolver.is_known_address(address, variables));
    match unknown {
        Some(address) => require_permission(
            is_allowed,
            format!(
                "the address `{address}` and fills in the variable `{variable}`, which may be sent there"
            ),
        ),
        None => Ok(()),
    }
}
