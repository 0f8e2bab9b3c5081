//! Programs that prepare the copy of a workspace before an agent works in it.

use std::path::Path;
use std::time::Duration;

use jurist_core::suite::{Case, SetupProgram};
use serde_json::json;
use tokio::process::Command;

use super::process::describe_program_failure;
use super::{AgentRunError, TrialIdentity, prompt_text, with_environment};
use crate::environment::harmless_variables;
use crate::platform;
use crate::program::run_program;

/// Seconds for one program, unless the file has another number.
const SETUP_TIMEOUT: f64 = 300.0;

/// Calls a function that a JavaScript file exports.
const CALL_FUNCTION: &str = include_str!("call_function.mjs");

/// The folders that a setup program knows.
pub(super) struct SetupFolders<'a> {
    /// The copy of the workspace.
    pub(super) workspace: &'a Path,
    /// The folder of the suite.
    pub(super) suite: &'a Path,
}

impl SetupFolders<'_> {
    /// What a program reads on its standard input: the keys that AgentV gives to its hooks and environments.
    pub(super) fn describe_run(&self, case: &Case, which: TrialIdentity<'_>) -> String {
        let workspace = self.workspace.to_string_lossy();
        // Each copy has a temporary folder of its own, with a name of its own.
        let run = self.workspace.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let input = Some(prompt_text(&case.candidate)).filter(|input| !input.is_empty());
        let metadata = Some(&case.metadata).filter(|metadata| !metadata.is_empty());
        json!({
            "workspace_path": workspace,
            "suite_path": self.suite.to_string_lossy(),
            "test_id": which.name,
            "eval_run_id": run,
            "case_input": input,
            "case_metadata": metadata,
            "environment": { "type": "host", "workdir": workspace },
        })
        .to_string()
    }

    /// Runs a program to its end, and discards its output.
    pub(super) async fn run(&self, program: &SetupProgram, input: &str) -> Result<(), AgentRunError> {
        let what = program.describe();
        let (workspace, suite) = (self.workspace.to_string_lossy(), self.suite.to_string_lossy());
        let fill = |text: &String| SetupProgram::fill_folders(text, &workspace, &suite);
        let mut words: Vec<String> = program.command.iter().map(fill).collect();
        if let Some(function) = &program.function {
            let call = ["node", "--input-type=module", "-e", CALL_FUNCTION, "--"];
            words = call.into_iter().map(str::to_owned).chain(words).chain([function.clone()]).collect();
        }
        let [name, arguments @ ..] = words.as_slice() else {
            return Err(AgentRunError::unreachable(format!("{what} is empty")));
        };
        let folder = match &program.cwd {
            Some(cwd) => self.suite.join(fill(cwd)),
            None => self.workspace.to_owned(),
        };
        let mut process = Command::from(platform::build_program_command_below(&folder, name));
        process.args(arguments).current_dir(&folder).env_clear().envs(harmless_variables());
        for (name, value) in &program.env {
            process.env(name, with_environment(value)?);
        }
        process.env("JURIST_WORKSPACE", self.workspace).env("AGENTV_ENVIRONMENT_WORKDIR", self.workspace);
        let time = Duration::from_secs_f64(program.timeout.unwrap_or(SETUP_TIMEOUT));
        let done = run_program(process, Some(input.as_bytes()), time).await;
        done.map(drop).map_err(|error| describe_program_failure(&what, &error))
    }
}
