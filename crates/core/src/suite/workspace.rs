//! The files that an agent works on, and the programs that prepare them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::template;

/// Files that an agent works on; each run gets its own copy.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Workspace {
    /// A folder. Without one the copy is empty until `setup` fills it.
    pub path: Option<String>,
    /// The commit of the git repository there that is checked out, instead of the files as they are.
    pub git: Option<String>,
    /// Programs that prepare the copy, one after the other. What they change is not part of the agent's diff.
    pub setup: Vec<SetupProgram>,
}

/// A program that prepares the copy of a workspace before the agent starts.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SetupProgram {
    /// The program and its arguments, in which [`Self::WORKSPACE`] and [`Self::SUITE`] stand for folders.
    pub command: Vec<String>,
    /// A function that the JavaScript file in `command` exports. It is called instead of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Where it starts, seen from the folder of the suite; by default in the copy.
    pub cwd: Option<String>,
    /// Variables of its environment. Values may hold `{{ env.X }}`, which is filled in when it is started, not before.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// In seconds.
    pub timeout: Option<f64>,
}

impl SetupProgram {
    /// Replaced by the path of the workspace's copy.
    pub const WORKSPACE: &str = "{{ workspace_path }}";
    /// Replaced by the folder of the suite.
    pub const SUITE: &str = "{{ suite_path }}";

    /// A word or a folder of a program with the names of both folders filled in.
    pub fn fill_folders(text: &str, workspace: &str, suite: &str) -> String {
        template::replace(text, |name| match name {
            "workspace_path" => Some(workspace.to_owned()),
            "suite_path" => Some(suite.to_owned()),
            _ => None,
        })
    }

    /// The program that would be started, so that the user can allow it.
    pub fn describe(&self) -> String {
        // Paths as a person would write them in the suite.
        let line = self.command.join(" ").replace(&format!("{}/", Self::SUITE), "");
        match &self.function {
            Some(function) => format!("the function `{function}` of `{line}`"),
            None => format!("the setup program `{line}`"),
        }
    }
}
