//! Agents before real servers: tools over MCP, programs, addresses, folders; and what breaks on the way.

#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod models_and_tools;
mod programs;
mod workspaces;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jurist_core::candidate::Candidate;
use jurist_core::dialect::ProjectSettings;
use jurist_core::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use jurist_core::suite::{AgentSettings, Case, CaseMatrix, CaseTarget, Judge, McpServer};
use jurist_engine::agent::{AgentOutput, AgentRunError, Agents, TrialIdentity};
use jurist_engine::call::ModelClient;
use jurist_engine::load::{Outside, SuiteFiles};
use jurist_engine::model::resolve::Resolver;
use serde_json::{Map, Value as Json, json};

use crate::server::{Act, Seen, Server};

fn script() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py").display().to_string()
}

fn stdio(arguments: &[&str]) -> McpServer {
    let args =
        std::iter::once(script()).chain(arguments.iter().map(|argument| (*argument).to_owned())).collect();
    let env = BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]);
    McpServer::Stdio { command: "python3".to_owned(), args, env, cwd: None }
}

fn project(folder: &Path) -> SuiteFiles {
    SuiteFiles::of(&folder.join("suite.yaml"), Outside::Refused)
}

fn case(target: Option<CaseTarget>, server: Option<&str>) -> Case {
    let criteria = vec![Criterion::new("a", "It is right.", CriterionKind::Question(Scale::Binary))];
    Case {
        name: "sum".to_owned(),
        origin: None,
        description: None,
        tags: Vec::new(),
        metadata: Map::new(),
        candidate: Candidate { input: Some("What is 2 + 40? It's easy.".to_owned()), ..Candidate::default() },
        server: server.map(str::to_owned),
        targets: target.into_iter().collect(),
        agent: AgentSettings::default(),
        workspace: None,
        rubric: Arc::new(Rubric::new(Draft { criteria, ..Draft::default() }).unwrap()),
        judge: Judge::default(),
        matrix: CaseMatrix::default(),
        data: None,
        labels: BTreeMap::new(),
        repeat: 1,
        store_output_as: None,
    }
}

fn target(id: &str, config: Json) -> Option<CaseTarget> {
    let Json::Object(config) = config else { panic!("{config}") };
    Some(CaseTarget { id: id.to_owned(), label: None, config })
}

fn agents(servers: &[(&str, McpServer)], allowed: bool) -> Agents {
    let servers = servers.iter().map(|(name, mcp_server)| ((*name).to_owned(), mcp_server.clone())).collect();
    let resolver = Resolver::new(ProjectSettings::default(), |_| None).unwrap();
    Agents::new(Arc::new(resolver), servers, project(Path::new(".")), None, allowed)
}

fn model(vendor: &str, server: &Server) -> Option<CaseTarget> {
    target(vendor, json!({ "model": "agent-1", "base_url": server.url }))
}

async fn produce(agents: &Agents, case: &Case) -> Result<AgentOutput, AgentRunError> {
    let which = TrialIdentity { name: &case.name, trial: 1 };
    agents.produce(&ModelClient::default(), case, which).await.map_err(|failed| failed.error)
}

/// Adds once, and then says what came of it.
fn adds(seen: &Seen) -> Act {
    match seen.results().last() {
        None => Act::Call(vec![("add", json!({ "a": 2, "b": 40 }))]),
        Some(sum) => Act::Say(format!("It is {sum}.")),
    }
}

fn python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no python3");
    }
    found
}
