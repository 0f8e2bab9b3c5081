//! Providers of other tools that are no chat models.

/// Keys of promptfoo's HTTP provider that change the request or the answer and are not supported: without them,
/// something else would be graded.
pub const REFUSED_REQUEST_KEYS: [&str; 9] = [
    "request",
    "transformRequest",
    "requestParser",
    "multipart",
    "sessionParser",
    "session",
    "auth",
    "signatureAuth",
    "tls",
];

/// Kinds of providers of promptfoo that are no chat models, each with what it is.
const UNSPOKEN: [(&str, &str); 16] = [
    ("image", "a model that makes images"),
    ("video", "a model that makes videos"),
    ("realtime", "a realtime session"),
    ("live", "a realtime session"),
    ("speech", "a model of speech"),
    ("tts", "a model of speech"),
    ("transcription", "a model of speech"),
    ("audio", "a model of speech"),
    ("assistant", "an assistant that its vendor keeps"),
    ("agents", "an agent kit"),
    ("agent", "an agent kit"),
    ("chatkit", "an agent kit"),
    ("codex-sdk", "an agent kit"),
    ("codex-app-server", "an agent kit"),
    ("claude-agent-sdk", "an agent kit"),
    ("foundry-agent", "an agent kit"),
];

/// Agent kits that AgentV and promptfoo start themselves.
const KITS: [&str; 16] = [
    "copilot-cli",
    "copilot-sdk",
    "claude-cli",
    "claude-sdk",
    "codex",
    "codex-cli",
    "codex-sdk",
    "codex-app-server",
    "pi-cli",
    "pi-sdk",
    "pi-rpc",
    "pi-coding-agent",
    "vscode",
    "vscode-insiders",
    "replay",
    "browser",
];

/// What a provider is that is no chat model, by the word after its vendor.
pub fn find_unspoken_kind(id: &str) -> Option<&'static str> {
    // A program follows these prefixes.
    if ["command:", "exec:", "file:", "python:"].iter().any(|start| id.starts_with(start)) {
        return None;
    }
    // AgentV may write its own name before that of a kit.
    let id = id.strip_prefix("agentv:").unwrap_or(id);
    let kind = id.split(':').nth(1).or_else(|| KITS.contains(&id).then_some("agent"))?;
    UNSPOKEN.iter().find(|(name, _)| *name == kind).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_models_are_no_other_kind() {
        assert_eq!(find_unspoken_kind("openai:assistant:asst_1"), Some("an assistant that its vendor keeps"));
        assert_eq!(find_unspoken_kind("agentv:codex-cli"), Some("an agent kit"));
        for id in ["openai:chat:gpt-5", "openai:gpt-5", "ollama:chat:llama3:8b", "gpt-5", "command:agent"] {
            assert_eq!(find_unspoken_kind(id), None, "{id}");
        }
    }
}
