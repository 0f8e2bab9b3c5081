//! Scopes of requests, tokens and roles.

use std::fmt;
use std::str::FromStr;

use jurist_store::accounts::ProjectRole;

/// A permission; tokens and roles are sets of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessScope {
    /// Send traces, and see nothing.
    Ingest,
    Read,
    /// Answer annotation tasks.
    Annotate,
    /// Change rubrics, monitors and tasks, and start work that costs something.
    Write,
    /// People, tokens, money.
    Manage,
}

impl AccessScope {
    pub const ALL: [Self; 5] = [Self::Ingest, Self::Read, Self::Annotate, Self::Write, Self::Manage];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Read => "read",
            Self::Annotate => "annotate",
            Self::Write => "write",
            Self::Manage => "manage",
        }
    }
}

/// The scopes of a role.
pub fn role_scopes(role: ProjectRole) -> &'static [AccessScope] {
    match role {
        ProjectRole::Annotator => &[AccessScope::Annotate],
        ProjectRole::Viewer => &[AccessScope::Read],
        ProjectRole::Member => {
            &[AccessScope::Ingest, AccessScope::Read, AccessScope::Annotate, AccessScope::Write]
        }
        ProjectRole::Owner => &AccessScope::ALL,
    }
}

impl fmt::Display for AccessScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for AccessScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str).join(", ");
        Self::ALL
            .into_iter()
            .find(|access_scope| access_scope.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a scope; there are {known}"))
    }
}
