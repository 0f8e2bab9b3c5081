//! Agents: named by their traces.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::Json;
use super::endpoints::{ApiRoutes, routes};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

pub fn build_agent_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_agents))
}

#[derive(Debug, Serialize, ToSchema)]
struct AgentView {
    /// Id of the agent.
    id: String,
    /// As its traces name it.
    name: String,
    /// Settings of the agent as a JSON object; empty if it has none.
    settings: serde_json::Value,
    /// When the agent was first known to the project, in UTC (RFC 3339).
    created: String,
    /// When its last trace was received.
    seen: String,
}

/// The agents of the project, by name
#[utoipa::path(get, path = "/agents", tag = "agents", responses(
    (status = 200, body = Vec<AgentView>), (status = 401, body = Problem), (status = 403, body = Problem)
))]
async fn list_agents(State(app): State<App>, caller: Principal) -> Result<Json<Vec<AgentView>>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let agent = |stored_agent: jurist_store::agents::StoredAgent| AgentView {
        id: stored_agent.id.to_string(),
        name: stored_agent.name,
        settings: stored_agent.settings,
        created: stored_agent.created.to_string(),
        seen: stored_agent.seen.to_string(),
    };
    Ok(Json(app.store.agents(caller.project).await?.into_iter().map(agent).collect()))
}
