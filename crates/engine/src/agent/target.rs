//! What the name of a target means: a model, a program, an address.

use jurist_core::candidate::ToolCall;
use jurist_core::dialect::MCP_TOOL;
use jurist_core::suite::{CaseTarget, Judge, find_unspoken_kind};

use super::http::HttpTarget;
use super::process::AgentCommand;
use crate::model::names::{canonical_model_name, canonical_vendor_name};

/// Something that answers a prompt.
pub(super) enum Runner {
    /// Returns its prompt.
    Echo,
    /// Answers with a recorded text or value.
    Fixed(serde_json::Value),
    Model(Judge),
    Command(AgentCommand),
    Http(HttpTarget),
    /// Calls one tool of a server.
    Tool(ToolCall),
}

impl Runner {
    pub(super) fn of(target: &CaseTarget) -> Result<Self, String> {
        let CaseTarget { id, config, .. } = target;
        let text = |keys: &[&str]| keys.iter().find_map(|key| config.get(*key)?.as_str()).map(str::to_owned);
        let number = |keys: &[&str]| keys.iter().find_map(|key| config.get(*key)?.as_f64());
        let (kind, rest) = id.split_once(':').unwrap_or((id, ""));
        match (kind, rest) {
            ("echo", "") => Ok(Self::Echo),
            (MCP_TOOL, "") => {
                let tool = text(&["tool"]);
                let tool =
                    tool.ok_or_else(|| format!("the target `{}` needs `config.tool`", target.name()))?;
                let arguments = config.get("arguments").unwrap_or(&serde_json::Value::Null);
                Ok(Self::Tool(ToolCall::new(Some("call".to_owned()), tool, arguments)))
            }
            ("mock", "") => {
                let mut recorded = ["response", "output"].iter().filter_map(|key| config.get(*key));
                let recorded = recorded.find(|value| !value.is_null()).cloned();
                Ok(Self::Fixed(recorded.unwrap_or_else(|| "".into())))
            }
            ("cli" | "command", "") => {
                let line = text(&["command", "command_template"]);
                let line =
                    line.ok_or_else(|| format!("the target `{}` needs `config.command`", target.name()))?;
                Ok(Self::Command(AgentCommand::template(
                    line,
                    text(&["cwd"]),
                    number(&["timeout_seconds", "timeout"]),
                )))
            }
            ("exec", line) => Ok(Self::Command(AgentCommand::with_arguments(line, config))),
            ("file", path) if path.starts_with("//") => {
                AgentCommand::script(&path[2..], config).map(Self::Command).ok_or_else(|| {
                    format!("`{id}` is not a script that can be run; understood: .py, .js, .mjs, .cjs")
                })
            }
            ("python", path) => AgentCommand::script(path, config)
                .map(Self::Command)
                .ok_or_else(|| format!("`{id}` is not a Python file")),
            ("http" | "https", rest) => {
                let url = if rest.is_empty() { text(&["url"]) } else { Some(id.clone()) };
                let url = url.ok_or_else(|| format!("the target `{}` needs `config.url`", target.name()))?;
                HttpTarget::new(target.name(), url, config).map(Self::Http)
            }
            _ => {
                if let Some(unspoken) = find_unspoken_kind(id) {
                    return Err(format!(
                        "`{id}` is {unspoken}, which is not supported; targets are chat models, programs (`cli` with `command`, `exec:`) and addresses"
                    ));
                }
                let model = text(&["model", "deployment"]).filter(|_| rest.is_empty() && !id.contains('/'));
                let name = match &model {
                    Some(model) => format!("{}/{model}", canonical_vendor_name(kind)),
                    None => canonical_model_name(id),
                };
                Ok(Self::Model(Judge {
                    model: Some(name),
                    base_url: target.base_url(),
                    temperature: number(&["temperature"]),
                    max_tokens: number(&[
                        "max_tokens",
                        "max_output_tokens",
                        "max_completion_tokens",
                        "maxOutputTokens",
                    ])
                    .map(|number| number as u32),
                    timeout: number(&["timeout_seconds"]),
                    ..Judge::default()
                }))
            }
        }
    }
}
