//! Roles of people in a project.

/// Role of an account in a project; each role includes the permissions of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProjectRole {
    /// Answers assigned tasks and sees nothing else.
    Annotator,
    Viewer,
    Member,
    Owner,
}

impl ProjectRole {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Annotator => "annotator",
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Owner => "owner",
        }
    }
}

impl std::str::FromStr for ProjectRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Annotator, Self::Viewer, Self::Member, Self::Owner];
        let role = all.into_iter().find(|project_role| project_role.as_str() == text);
        role.ok_or_else(|| format!("`{text}` is not a role: annotator, viewer, member or owner"))
    }
}
