//! An MCP server: coding agents check, run and read evaluations through it.

mod limits;
mod resources;
mod results;
mod tools;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use jurist_core::diagnostic::closest;
use jurist_core::grade::Usd;
use jurist_engine::background::run_on_blocking_thread;
use jurist_engine::load;
use jurist_server::{BoundService, ServiceToken};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::json;
use tokio::sync::{Semaphore, watch};

use self::limits::{ServerLimits, fit_message, fit_output};
use self::resources::{list_served_resources, read_served_resource};
use self::tools::{SERVED_TOOLS, ServedTool, ToolContext};
use crate::judging::parse_dollars;
use crate::outcome::CommandOutcome;
use crate::runtime::{wait_for, wait_for_stop, watch_stop_signals};

/// Serve checks, runs and comparisons to coding agents (MCP)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist mcp                          Over standard streams, current folder
  jurist mcp --root evals --max-cost 2
  jurist mcp --http 127.0.0.1:8731    Streamable HTTP at /mcp
  claude mcp add jurist -- jurist mcp --max-cost 2

Tools: check_file, lint_rubric, draft_rubric, explain_plan, run_suite,
list_runs, read_run, read_case, compare_runs, measure_agreement.
Resources: the JSON Schemas and the pages of the book.

The server reads files of one folder, starts no program that a file names
unless --allow-commands is given, and answers only this machine. For an address
that other machines can reach, set JURIST_MCP_TOKEN; clients send it as
`Authorization: Bearer TOKEN`.")]
pub struct McpServerArgs {
    /// Folder whose files and runs clients can reach
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
    /// Listen for streamable HTTP on this address instead of using standard streams
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Spend at most this amount in US dollars over all runs of this server
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    max_cost: Option<Usd>,
    /// Judge model for suites that name none, such as claude-sonnet-4-5 or ollama/qwen3
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,
    /// Allow the programs, servers and environment variables that a file names
    #[arg(long)]
    allow_commands: bool,
    /// Use all settings of .jurist/config.yaml (addresses, variables, programs) without `jurist trust`
    #[arg(long)]
    trust_settings: bool,
}

/// The path of the endpoint in HTTP mode.
const ENDPOINT: &str = "/mcp";

/// Calls of tools that work at once; more wait.
const MAX_CALLS: usize = 4;

/// A session over HTTP ends after this time without a message. A run may take long, and sends nothing meanwhile.
const SESSION_TIME: Duration = Duration::from_secs(4 * 3600);

/// Names by which a server on this machine is called; anything else is a page of another site.
const OWN_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

pub fn run_mcp_command(args: McpServerArgs) -> anyhow::Result<CommandOutcome> {
    let root = load::confine_to_folder(&args.root)
        .with_context(|| format!("cannot use the folder `{}`", args.root.display()))?;
    let (http, limits) = (args.http, ServerLimits::new(root, args.max_cost));
    let server = ToolServer(Arc::new(ToolServerState { args, limits, calls: Semaphore::new(MAX_CALLS) }));
    wait_for(async {
        let stop = watch_stop_signals()?;
        match http {
            Some(address) => serve_http(server, address, stop).await?,
            None => {
                // A client that leaves before its greeting is no error of the server.
                let Ok(serving) = server.serve(rmcp::transport::stdio()).await else {
                    return Ok(CommandOutcome::Passed);
                };
                tokio::select! {
                    ended = serving.waiting() => { ended.context("the server failed")?; }
                    () = wait_for_stop(stop) => {}
                }
            }
        }
        Ok(CommandOutcome::Passed)
    })
}

async fn serve_http(
    server: ToolServer,
    address: SocketAddr,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let token = load::variable("JURIST_MCP_TOKEN");
    let bound = BoundService::bind(address, token.as_deref().map(ServiceToken::new)).await?;
    // No page of a browser is a client, so every `Origin` is refused.
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let config = match bound.address.ip().is_loopback() {
        true => config.with_allowed_hosts(OWN_HOSTS),
        // The host names of this machine are unknown here; the token protects the server.
        false => config.disable_allowed_hosts(),
    };
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_TIME);
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config);
    let mut out = crate::render::stdout();
    writeln!(out, "Jurist serves MCP at \x1b[1mhttp://{}{ENDPOINT}\x1b[0m", bound.address)?;
    out.flush()?;
    bound.serve(ENDPOINT, service, stop).await;
    Ok(())
}

/// What all sessions share.
#[derive(Debug)]
struct ToolServerState {
    args: McpServerArgs,
    limits: ServerLimits,
    calls: Semaphore,
}

/// The server of one session.
#[derive(Debug, Clone)]
struct ToolServer(Arc<ToolServerState>);

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let own = Implementation::new("jurist", env!("CARGO_PKG_VERSION")).with_title("Jurist");
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(
            "Jurist grades what agents and models produce against rubrics. Write a suite (YAML; see the resources \
             jurist://book/quickstart.md, jurist://book/files.md and jurist://schema/suite), check it with check_file, \
             see its plan and cost with explain_plan, run it with run_suite, and read failures with read_case. After a \
             change, run it again and use compare_runs with before=previous and after=latest. Paths are relative to \
             the server's folder.",
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(SERVED_TOOLS.iter().map(describe_tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = SERVED_TOOLS.iter().find(|tool| tool.name == request.name) else {
            let names: Vec<&str> = SERVED_TOOLS.iter().map(|tool| tool.name).collect();
            let hint = match closest(&request.name, &names) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            let why = format!("there is no tool `{}`; {hint}", fit_message(&request.name));
            return Err(ErrorData::invalid_params(why, None));
        };
        let (cancel, cancelled) = watch::channel(false);
        let state = Arc::clone(&self.0);
        let arguments = request.arguments.unwrap_or_default();
        let working = async {
            let _slot = self.0.calls.acquire().await;
            // Commands block, and some have a runtime of their own.
            run_on_blocking_thread(move || {
                (tool.call)(&ToolContext { args: &state.args, limits: &state.limits, cancelled }, arguments)
            })
            .await
        };
        tokio::pin!(working);
        let worked = tokio::select! {
            worked = &mut working => worked,
            () = context.ct.cancelled() => {
                let _ = cancel.send(true);
                working.await
            }
        };
        let result = match worked {
            Ok(Ok(value)) => match fit_output(&value) {
                Some(fitting) => CallToolResult::structured(fitting),
                None => tool_error("the result is too large to be shown; ask for less at a time"),
            },
            Ok(Err(error)) => tool_error(&format!("{error:#}")),
            // Its message is on standard error.
            Err(_) => tool_error("the tool failed; the standard error of the server has the reason"),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(list_served_resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let resource = read_served_resource(&request.uri).ok_or_else(|| {
            let why = format!("there is no resource `{}`; resources/list has all", fit_message(&request.uri));
            ErrorData::resource_not_found(why, None)
        })?;
        Ok(ReadResourceResult::new(vec![resource]).into())
    }
}

fn tool_error(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(fit_message(message))])
}

fn describe_tool(tool: &ServedTool) -> Tool {
    let mut schema: JsonObject = (tool.schema)().to_value().as_object().cloned().unwrap_or_default();
    // The name of a Rust type tells clients nothing.
    schema.remove("title");
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(tool.is_read_only)
        .destructive(false)
        .open_world(!tool.is_read_only);
    Tool::new(tool.name, tool.description, Arc::new(schema))
        .with_title(tool.title)
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(describe_result(tool)))
}

/// The JSON Schema of a tool's structured content, by which clients validate it.
fn describe_result(tool: &ServedTool) -> JsonObject {
    let mut schema = (tool.result_schema)();
    // Formats of Rust's integers, such as `uint64`, are unknown to validators.
    RecursiveTransform(|part: &mut Schema| {
        part.remove("format");
    })
    .transform(&mut schema);
    let mut schema = schema.to_value().as_object().cloned().unwrap_or_default();
    schema.remove("title");
    // Without it, the dialect is the one of MCP, which every client knows.
    schema.remove("$schema");
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties["shortened"] = json!({
        "type": "string",
        "description": "How many texts or lists were cut; absent if the result is complete",
    });
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn every_tool_describes_itself_and_all_its_arguments() {
        for tool in SERVED_TOOLS {
            let described = describe_tool(tool);
            assert!(described.description.is_some_and(|text| 40 < text.len()), "{}", tool.name);
            let schema = &described.input_schema;
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{} {name}", tool.name);
            }
        }
    }

    #[test]
    fn every_result_has_a_schema_that_other_languages_can_read() {
        for tool in SERVED_TOOLS {
            let described = describe_tool(tool);
            let schema = described.output_schema.unwrap_or_default();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{} {name}", tool.name);
            }
            assert!(schema["properties"].get("shortened").is_some(), "{}", tool.name);
            let text = Json::from((*schema).clone()).to_string();
            assert!(!text.contains("\"format\"") && !text.contains("\"$schema\""), "{text}");
        }
    }
}
