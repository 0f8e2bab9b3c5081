//! What a request may need.

use std::fmt;
use std::str::FromStr;

use jurist_store::accounts::Role;

/// Tokens carry some of these, roles stand for some of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
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

impl Scope {
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

/// What somebody with this role may do.
pub fn of_role(role: Role) -> &'static [Scope] {
    match role {
        Role::Annotator => &[Scope::Annotate],
        Role::Viewer => &[Scope::Read],
        Role::Member => &[Scope::Ingest, Scope::Read, Scope::Annotate, Scope::Write],
        Role::Owner => &Scope::ALL,
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str).join(", ");
        Self::ALL
            .into_iter()
            .find(|it| it.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no scope; there are {known}"))
    }
}
