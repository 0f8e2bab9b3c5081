//! A connection to an MCP server, over its standard streams or over HTTP.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jurist_core::candidate::{ToolCall, ToolResult};
use jurist_core::suite::McpServer;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, PaginatedRequestParams};
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};
use tokio::task::JoinHandle;

use super::{AgentRunError, truncate_text, with_environment};
use crate::background::spawn_task;
use crate::model::Tool;
use crate::platform;

const CONNECT: Duration = Duration::from_secs(60);

/// Longest tool result, in bytes, for the model and in the trace; the rest is cut.
const MAX_RESULT: usize = 100_000;

/// What a server may list; no model takes more.
const MAX_TOOLS: usize = 2_000;
const MAX_TOOL_BYTES: usize = 8 << 20;
const MAX_TOOL_PAGES: usize = 200;

/// A server that is initialised and has listed its tools.
pub(super) struct Mcp {
    name: String,
    service: RunningService<RoleClient, ()>,
    pub(super) tools: Vec<Tool>,
    errors: ServerErrors,
}

/// How long to wait for the rest of what a server writes to its standard error.
const STDERR_WAIT: Duration = Duration::from_secs(1);

/// The end of what a server wrote to its standard error.
#[derive(Default)]
struct ServerErrors {
    tail: Arc<Mutex<String>>,
    collector: Mutex<Option<JoinHandle<()>>>,
}

impl ServerErrors {
    fn collect(&self, stderr: ChildStderr) {
        let collector = spawn_task(collect_stderr_tail(stderr, Arc::clone(&self.tail)));
        *self.collector.lock().unwrap_or_else(PoisonError::into_inner) = Some(collector);
    }

    /// The last part of an error message. The task that reads standard error may run after the one that sees the end of
    /// standard output, so it is awaited.
    async fn describe(&self) -> String {
        let collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(collector) = collector {
            let _ = tokio::time::timeout(STDERR_WAIT, collector).await;
        }
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned();
        if tail.is_empty() { tail } else { format!("; it said: {tail}") }
    }
}

impl Mcp {
    pub(super) async fn connect(
        name: &str,
        server: &McpServer,
        client: &reqwest::Client,
        here: &Path,
    ) -> Result<Self, AgentRunError> {
        let errors = ServerErrors::default();
        let lost = async |why: String| {
            let server_output = errors.describe().await;
            AgentRunError::unreachable(format!("the server `{name}` cannot be reached: {why}{server_output}"))
        };
        let greeting = async {
            match server {
                McpServer::Stdio { command, args, env, cwd } => {
                    let process = build_server_command(command, args, env, cwd.as_deref(), here)?;
                    let spawned = TokioChildProcess::builder(platform::wrap_server_command(process))
                        .stderr(Stdio::piped())
                        .spawn();
                    let (transport, stderr) = match spawned {
                        Ok(spawned) => spawned,
                        Err(error) => return Err(lost(format!("`{command}`: {error}")).await),
                    };
                    if let Some(stderr) = stderr {
                        errors.collect(stderr);
                    }
                    Ok(().serve(transport).await)
                }
                McpServer::Http { url, headers } => {
                    let config = StreamableHttpClientTransportConfig::with_uri(with_environment(url)?);
                    let config = config.custom_headers(parse_mcp_headers(headers)?);
                    let transport = StreamableHttpClientTransport::with_client(client.clone(), config);
                    Ok(().serve(transport).await)
                }
            }
        };
        let service = match tokio::time::timeout(CONNECT, greeting).await {
            Ok(greeted) => match greeted? {
                Ok(service) => service,
                Err(error) => return Err(lost(error.to_string()).await),
            },
            Err(_) => return Err(lost(format!("no greeting within {} s", CONNECT.as_secs())).await),
        };
        let tools = match tokio::time::timeout(CONNECT, list_tools(&service)).await {
            Ok(Ok(tools)) => tools,
            Ok(Err(why)) => return Err(lost(format!("it does not list its tools: {why}")).await),
            Err(_) => return Err(lost("it does not list its tools".to_owned()).await),
        };
        Ok(Self { name: name.to_owned(), service, tools, errors })
    }

    /// Calls a tool. An error that the tool reports is a result; a lost connection is an error of the run.
    pub(super) async fn call(&self, call: &ToolCall, timeout: Duration) -> Result<ToolResult, AgentRunError> {
        let result = |text: String, error: bool| ToolResult {
            call: call.id.clone(),
            name: Some(call.name.clone()),
            text: truncate_text(&text, MAX_RESULT),
            error,
        };
        let request = CallToolRequestParams::new(call.name.clone()).with_arguments(call.arguments.clone());
        match tokio::time::timeout(timeout, self.service.call_tool(request)).await {
            // The SDK passes over a line of more than 16 MB, and nothing comes.
            Err(_) => Ok(result(
                format!("no result within {} s, or one of more than 16 MB", timeout.as_secs_f64()),
                true,
            )),
            Ok(Ok(it)) => Ok(result(tool_result_text(&it), it.is_error == Some(true))),
            // Some servers report a bad call as a protocol error.
            Ok(Err(ServiceError::McpError(error))) => Ok(result(error.message.into_owned(), true)),
            Ok(Err(error)) => {
                let server_output = self.errors.describe().await;
                let Self { name, .. } = self;
                Err(AgentRunError::unavailable(format!(
                    "the server `{name}` closed the connection while `{}` was called: {error}{server_output}",
                    call.name
                )))
            }
        }
    }

    pub(super) async fn close(self) {
        // A server that does not end by itself is killed when it is dropped.
        let _ = tokio::time::timeout(Duration::from_secs(5), self.service.cancel()).await;
    }
}

/// The tools of a server, page by page. A list without an end is refused.
async fn list_tools(service: &RunningService<RoleClient, ()>) -> Result<Vec<Tool>, String> {
    let (mut tools, mut n_bytes, mut cursor) = (Vec::new(), 0, None);
    for _ in 0..MAX_TOOL_PAGES {
        let wanted = PaginatedRequestParams::default().with_cursor(cursor);
        let page = service.list_tools(Some(wanted)).await.map_err(|error| error.to_string())?;
        for tool in page.tools {
            let tool = Tool {
                name: tool.name.into_owned(),
                description: tool.description.unwrap_or_default().into_owned(),
                schema: serde_json::Value::Object((*tool.input_schema).clone()),
            };
            n_bytes += tool.name.len() + tool.description.len() + tool.schema.to_string().len();
            tools.push(tool);
            if MAX_TOOLS < tools.len() || MAX_TOOL_BYTES < n_bytes {
                return Err(format!(
                    "there are more than {MAX_TOOLS} tools, or {MAX_TOOL_BYTES} bytes of them"
                ));
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(tools);
        }
    }
    Err(format!("the list has more than {MAX_TOOL_PAGES} pages"))
}

fn build_server_command(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    cwd: Option<&str>,
    here: &Path,
) -> Result<Command, AgentRunError> {
    let folder = cwd.map_or(here, Path::new);
    let mut process = Command::from(platform::build_command_in(folder, command));
    process.env_clear().kill_on_drop(true);
    process.envs(crate::load::harmless_variables());
    for (name, value) in env {
        process.env(name, with_environment(value)?);
    }
    for arg in args {
        process.arg(with_environment(arg)?);
    }
    Ok(process)
}

fn parse_mcp_headers(
    headers: &BTreeMap<String, String>,
) -> Result<HashMap<reqwest::header::HeaderName, reqwest::header::HeaderValue>, AgentRunError> {
    let bad = |name: &str| AgentRunError::unreachable(format!("`{name}` is not a header that can be sent"));
    headers
        .iter()
        .map(|(name, value)| {
            let mut value: reqwest::header::HeaderValue =
                with_environment(value)?.parse().map_err(|_| bad(name))?;
            value.set_sensitive(true);
            Ok((name.parse().map_err(|_| bad(name))?, value))
        })
        .collect()
}

/// Stores the last characters that a server writes to its standard error.
async fn collect_stderr_tail(mut stderr: ChildStderr, complaints: Arc<Mutex<String>>) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        let mut tail_text = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        tail_text.push_str(&String::from_utf8_lossy(&buffer[..n]));
        let tail: String = tail_text.chars().rev().take(300).collect();
        *tail_text = tail.chars().rev().collect();
    }
}

/// A result as text; pictures and sounds by their kind and size.
fn tool_result_text(result: &CallToolResult) -> String {
    let block = |content_block: &ContentBlock| match content_block {
        ContentBlock::Text(content_block) => content_block.text.clone(),
        ContentBlock::Image(content_block) => {
            format!("[image {}, {} bytes]", content_block.mime_type, content_block.data.len() * 3 / 4)
        }
        ContentBlock::Audio(content_block) => {
            format!("[audio {}, {} bytes]", content_block.mime_type, content_block.data.len() * 3 / 4)
        }
        ContentBlock::Resource(content_block) => {
            serde_json::to_string(&content_block.resource).unwrap_or_default()
        }
        ContentBlock::ResourceLink(content_block) => format!("[resource {}]", content_block.uri),
        other => serde_json::to_string(other).unwrap_or_default(),
    };
    let text = result.content.iter().map(block).collect::<Vec<_>>().join("\n");
    match &result.structured_content {
        Some(value) if text.trim().is_empty() => value.to_string(),
        _ => text,
    }
}
