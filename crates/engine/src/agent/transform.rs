//! Code that changes what a target answers before it is graded, as promptfoo's `transform` does.

use std::path::PathBuf;

use jurist_core::candidate::Candidate;
use jurist_core::check::read_call_list;
use jurist_core::dialect::{ScriptCall, ScriptSource};
use jurist_core::grade::Failure;
use jurist_core::suite::Case;
use serde_json::{Value as Json, json};

use super::{AgentOutput, AgentRunError, Agents, truncate_text};
use crate::load_script::run_script;

/// Bytes of a wrong value that an error shows.
const MAX_SHOWN_BYTES: usize = 300;

/// The code of a case's target and of its agent, in the order in which it is run.
pub(super) fn transforms_of(case: &Case) -> Vec<&str> {
    let of_target = match case.targets.first().and_then(|target| target.config.get("transform")) {
        Some(Json::String(code)) => vec![code.as_str()],
        Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    of_target.into_iter().chain(case.agent.transform.as_deref()).collect()
}

/// A script, and the function in it that is called.
struct ScriptFunction {
    path: PathBuf,
    function: Option<String>,
}

impl Agents {
    /// The answer as the code of its case leaves it. Code that breaks is no failure of the candidate.
    pub(super) async fn transform_response(
        &self,
        transforms: &[&str],
        candidate: &Candidate,
        response: String,
    ) -> Result<String, AgentRunError> {
        // Code that reads fields gets them where the answer is JSON, as it does from promptfoo's providers.
        let mut output = read_call_list(&response).unwrap_or(Json::String(response));
        for code in transforms {
            let context = json!({ "vars": candidate.vars, "prompt": { "raw": candidate.input } });
            output = self.run_transform(code, vec![output, context]).await?;
        }
        Ok(match output {
            Json::String(text) => text,
            Json::Null => String::new(),
            other => other.to_string(),
        })
    }

    /// The documents that the code of a case finds in an answer and its metadata.
    pub(super) async fn extract_context(
        &self,
        code: &str,
        candidate: &Candidate,
        produced: &AgentOutput,
    ) -> Result<Vec<String>, AgentRunError> {
        let response = produced.response.clone().unwrap_or_default();
        let output = read_call_list(&response).unwrap_or(Json::String(response));
        let context = json!({
            "vars": candidate.vars,
            "prompt": { "raw": candidate.input },
            "metadata": produced.metadata,
        });
        let document = |value: Json| match value {
            Json::String(text) => Ok(text),
            other => {
                let detail = format!("the context must be text or a list of texts, and not {other}");
                Err(AgentRunError::Failed(Failure::Crashed, truncate_text(&detail, MAX_SHOWN_BYTES)))
            }
        };
        match self.run_transform(code, vec![output, context]).await? {
            Json::Array(items) => items.into_iter().map(document).collect(),
            one => Ok(vec![document(one)?]),
        }
    }

    async fn run_transform(&self, code: &str, arguments: Vec<Json>) -> Result<Json, AgentRunError> {
        let code = code.to_owned();
        let file = match code.strip_prefix("file://") {
            Some(reference) => Some(self.find_script(reference)?),
            None => None,
        };
        let folder = self.project.folder.clone();
        let running = tokio::task::spawn_blocking(move || {
            let source = match &file {
                Some(ScriptFunction { path, function }) => {
                    ScriptSource::File { path, function: function.as_deref(), usual: "get_transform" }
                }
                None => ScriptSource::JavaScript(&code),
            };
            run_script(&ScriptCall { source, arguments: &arguments }, &folder)
        });
        let broken = |why: String| {
            AgentRunError::Failed(Failure::Crashed, format!("the transform of its answer failed: {why}"))
        };
        running.await.map_err(|error| broken(error.to_string()))?.map_err(broken)
    }

    fn find_script(&self, reference: &str) -> Result<ScriptFunction, AgentRunError> {
        let (path, function) = match reference.rsplit_once(':') {
            Some((path, function)) => (path, Some(function.to_owned())),
            None => (reference, None),
        };
        let found = self.project.find(path);
        let missing = |error| AgentRunError::Failed(Failure::Crashed, format!("`{path}`: {error}"));
        Ok(ScriptFunction { path: found.map_err(missing)?, function })
    }
}
