//! Code that changes what a target answers before it is graded, as promptfoo's `transform` does, or finds the answer
//! in the response of an address, as its `transformResponse` does.

use std::path::PathBuf;
use std::time::Instant;

use jurist_core::candidate::Candidate;
use jurist_core::check::read_call_list;
use jurist_core::dialect::{ScriptCall, ScriptSource};
use jurist_core::grade::Failure;
use jurist_core::suite::Case;
use serde_json::{Value as Json, json};

use super::answer::read_answer;
use super::http::{HttpResponse, HttpTarget, RequestValues};
use super::{AgentOutput, AgentRunError, Agents, truncate_text};
use crate::background::run_on_blocking_thread;
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

/// `transformResponse` of a target as a function of `json`, `text` and `context`: promptfoo takes an expression, the
/// body of a function, or a function. What is no expression for JavaScript is the body of a function.
fn wrap_response_code(code: &str) -> String {
    if code.starts_with("file://") {
        return code.to_owned();
    }
    let code = Json::from(code.trim().trim_end_matches(';'));
    format!(
        "const code = {code};
const compile = (body) => new Function(\"json\", \"text\", \"context\", body);
let find;
try {{ find = compile(`return (${{code}}\\n)`); }} catch {{ find = compile(code); }}
return (...values) => {{
  const made = find(...values);
  return typeof made === \"function\" ? made(...values) : made;
}};"
    )
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
        mut output: Json,
    ) -> Result<Json, AgentRunError> {
        for code in transforms {
            let context = json!({ "vars": candidate.vars, "prompt": { "raw": candidate.input } });
            output = self.run_transform(code, vec![output, context]).await?;
            if output.is_null() {
                let detail = "the transform of its answer returned nothing";
                return Err(AgentRunError::Failed(Failure::Crashed, detail.to_owned()));
            }
        }
        Ok(output)
    }

    /// The documents that the code of a case finds in an answer and its metadata.
    pub(super) async fn extract_context(
        &self,
        code: &str,
        candidate: &Candidate,
        produced: &AgentOutput,
    ) -> Result<Vec<String>, AgentRunError> {
        let response = produced.response.clone().unwrap_or_default();
        let output = produced.value.clone().or_else(|| read_call_list(&response));
        let output = output.unwrap_or(Json::String(response));
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

    /// Sends a request to an address, and runs the code that finds the answer in its response.
    pub(super) async fn ask_address(
        &self,
        request: &HttpTarget,
        values: RequestValues<'_>,
    ) -> Result<AgentOutput, AgentRunError> {
        let started = Instant::now();
        let response = request.send(self.http_client()?, values).await?;
        // The time of the code that reads the response is not that of the target.
        let duration_ms = started.elapsed().as_secs_f64() * 1e3;
        let mut answer = self.read_response(request, values, response).await?;
        answer.measurements.duration_ms.get_or_insert(duration_ms);
        Ok(answer)
    }

    async fn read_response(
        &self,
        request: &HttpTarget,
        values: RequestValues<'_>,
        response: HttpResponse,
    ) -> Result<AgentOutput, AgentRunError> {
        let Some(code) = request.answer_code() else { return request.read_response(&response.text) };
        let body: Json = serde_json::from_str(&response.text).unwrap_or_default();
        let context = json!({
            "response": { "status": response.status },
            "vars": values.vars,
            "prompt": values.prompt,
        });
        let arguments = vec![body, Json::from(response.text), context];
        match self.run_transform(&wrap_response_code(code), arguments).await? {
            Json::String(text) => Ok(AgentOutput { response: Some(text), ..AgentOutput::default() }),
            Json::Null => Err(AgentRunError::unavailable("`transformResponse` found no answer")),
            other => {
                let text = other.to_string();
                let produced = read_answer(&text)?;
                // An object without an answer in it is the answer.
                let is_answer = produced.response.as_ref() == Some(&text);
                Ok(if is_answer { AgentOutput { value: Some(other), ..produced } } else { produced })
            }
        }
    }

    /// Why the script that code names cannot be run.
    pub(super) fn find_missing_script(&self, code: &str) -> Option<String> {
        match self.find_script(code.strip_prefix("file://")?) {
            Err(AgentRunError::Failed(_, why)) => Some(why),
            _ => None,
        }
    }

    async fn run_transform(&self, code: &str, arguments: Vec<Json>) -> Result<Json, AgentRunError> {
        let code = code.to_owned();
        let file = match code.strip_prefix("file://") {
            Some(reference) => Some(self.find_script(reference)?),
            None => None,
        };
        let folder = self.project.folder.clone();
        let running = run_on_blocking_thread(move || {
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
        let resolved = self.project.find(path);
        let missing = |error| AgentRunError::Failed(Failure::Crashed, format!("`{path}`: {error}"));
        Ok(ScriptFunction { path: resolved.map_err(missing)?, function })
    }
}
