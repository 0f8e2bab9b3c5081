//! Who may call what: one line for each operation of `schemas/openapi.json`.

/// What a token or a role may include.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    Ingest,
    Read,
    Annotate,
    Write,
    Manage,
}

pub const ALL_RIGHTS: [Right; 5] = [Ingest, Read, Annotate, Write, Manage];

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Everybody; the operation checks a secret in the request, or nothing.
    Public,
    /// Somebody with a session, in whatever project.
    SignedIn,
    /// Every member of the project, and every token of it.
    Member,
    /// Somebody with a session who administers the server.
    Administrator,
    Needs(Right),
    NeedsOneOf(&'static [Right]),
    /// A person who may annotate; a token is none.
    Person,
}

use Right::{Annotate, Ingest, Manage, Read, Write};
use Rule::{Administrator, Member, Needs, NeedsOneOf, Person, Public, SignedIn};

pub fn rights_of_role(role: &str) -> &'static [Right] {
    match role {
        "annotator" => &[Annotate],
        "viewer" => &[Read],
        "member" => &[Ingest, Read, Annotate, Write],
        "owner" => &ALL_RIGHTS,
        _ => panic!("no role: {role}"),
    }
}

pub fn right_name(right: Right) -> &'static str {
    match right {
        Ingest => "ingest",
        Read => "read",
        Annotate => "annotate",
        Write => "write",
        Manage => "manage",
    }
}

#[rustfmt::skip]
pub const RULES: &[(&str, &str, Rule)] = &[
    ("GET", "/api/v1/accounts", Administrator),
    ("PATCH", "/api/v1/accounts/{id}", Administrator),
    ("GET", "/api/v1/agents", Needs(Read)),
    ("GET", "/api/v1/alerts", Needs(Read)),
    ("POST", "/api/v1/alerts/{id}/acknowledge", Needs(Write)),
    ("POST", "/api/v1/alerts/{id}/snooze", Needs(Write)),
    ("GET", "/api/v1/assignments/{id}", Person),
    ("PUT", "/api/v1/assignments/{id}/draft", Person),
    ("POST", "/api/v1/assignments/{id}/skip", Person),
    ("POST", "/api/v1/assignments/{id}/submit", Person),
    ("GET", "/api/v1/audit", Needs(Manage)),
    ("GET", "/api/v1/export", Needs(Read)),
    ("GET", "/api/v1/grades", Needs(Read)),
    ("POST", "/api/v1/invitations", Needs(Manage)),
    ("GET", "/api/v1/items/{item}/answers", Needs(Write)),
    ("PUT", "/api/v1/items/{item}/decisions/{scheme}/{criterion}", Needs(Write)),
    ("GET", "/api/v1/jobs", Needs(Read)),
    ("GET", "/api/v1/jobs/dead", Needs(Manage)),
    ("DELETE", "/api/v1/jobs/{id}", Needs(Manage)),
    ("POST", "/api/v1/jobs/{id}/revive", Needs(Manage)),
    ("POST", "/api/v1/join", Public),
    ("POST", "/api/v1/join/task", Public),
    ("GET", "/api/v1/judges", Needs(Read)),
    ("POST", "/api/v1/judges/ping", Needs(Manage)),
    ("GET", "/api/v1/members", Needs(Manage)),
    ("DELETE", "/api/v1/members/{account}", Needs(Manage)),
    ("PUT", "/api/v1/members/{account}", Needs(Manage)),
    ("GET", "/api/v1/monitors", Needs(Read)),
    ("POST", "/api/v1/monitors/check", Needs(Read)),
    ("DELETE", "/api/v1/monitors/{name}", Needs(Write)),
    ("GET", "/api/v1/monitors/{name}", Needs(Read)),
    ("PATCH", "/api/v1/monitors/{name}", Needs(Write)),
    ("PUT", "/api/v1/monitors/{name}", Needs(Write)),
    ("GET", "/api/v1/monitors/{name}/comparisons", Needs(Read)),
    ("POST", "/api/v1/monitors/{name}/comparisons", Needs(Write)),
    ("GET", "/api/v1/monitors/{name}/decisions", Needs(Read)),
    ("GET", "/api/v1/monitors/{name}/estimates", Needs(Read)),
    ("GET", "/api/v1/monitors/{name}/projection", Needs(Read)),
    ("GET", "/api/v1/monitors/{name}/radar", Needs(Read)),
    ("GET", "/api/v1/monitors/{name}/rescores", Needs(Read)),
    ("POST", "/api/v1/monitors/{name}/rescores", Needs(Write)),
    ("GET", "/api/v1/monitors/{name}/trend", Needs(Read)),
    ("GET", "/api/v1/monitors/{name}/versions", Needs(Read)),
    ("GET", "/api/v1/notifications", Needs(Manage)),
    ("PATCH", "/api/v1/notifications", Needs(Manage)),
    ("POST", "/api/v1/notifications/try", Needs(Manage)),
    ("GET", "/api/v1/presets", Needs(Read)),
    ("GET", "/api/v1/projects", Member),
    ("POST", "/api/v1/projects", Needs(Manage)),
    ("GET", "/api/v1/ranking", Needs(Read)),
    ("GET", "/api/v1/rubric-versions/{id}", Needs(Read)),
    ("GET", "/api/v1/rubric-versions/{id}/diff", Needs(Read)),
    ("GET", "/api/v1/rubrics", Needs(Read)),
    ("POST", "/api/v1/rubrics", Needs(Write)),
    ("POST", "/api/v1/rubrics/check", Needs(Read)),
    ("POST", "/api/v1/rubrics/prompt", Needs(Read)),
    ("POST", "/api/v1/reward", Needs(Write)),
    ("POST", "/api/v1/rubrics/try", Needs(Read)),
    ("GET", "/api/v1/rubrics/{id}", Needs(Read)),
    ("PATCH", "/api/v1/rubrics/{id}", Needs(Write)),
    ("GET", "/api/v1/rubrics/{id}/versions", Needs(Read)),
    ("POST", "/api/v1/rubrics/{id}/versions", Needs(Write)),
    ("GET", "/api/v1/run-history", Needs(Read)),
    ("GET", "/api/v1/runs", Needs(Read)),
    ("POST", "/api/v1/runs", Needs(Write)),
    ("DELETE", "/api/v1/runs/{id}", Needs(Write)),
    ("GET", "/api/v1/runs/{id}", Needs(Read)),
    ("PUT", "/api/v1/runs/{id}", Needs(Write)),
    ("GET", "/api/v1/runs/{id}/changes", Needs(Read)),
    ("GET", "/api/v1/runs/{id}/comparison", Needs(Read)),
    ("POST", "/api/v1/runs/{id}/end", Needs(Write)),
    ("GET", "/api/v1/runs/{id}/events", Needs(Read)),
    ("GET", "/api/v1/runs/{id}/exchanges", Needs(Read)),
    ("GET", "/api/v1/runs/{id}/criteria", Needs(Read)),
    ("GET", "/api/v1/runs/{id}/flaky", Needs(Read)),
    ("GET", "/api/v1/runs/{id}/matrix", Needs(Read)),
    ("GET", "/api/v1/runs/{id}/report", Needs(Read)),
    ("GET", "/api/v1/runs/{id}/results", Needs(Read)),
    ("PUT", "/api/v1/runs/{id}/results", Needs(Write)),
    ("DELETE", "/api/v1/session", Public),
    ("GET", "/api/v1/session", SignedIn),
    ("POST", "/api/v1/session", Public),
    ("PUT", "/api/v1/session/password", SignedIn),
    ("POST", "/api/v1/session/projects", SignedIn),
    ("GET", "/api/v1/spend", Needs(Read)),
    ("DELETE", "/api/v1/spend/cap", Needs(Manage)),
    ("PUT", "/api/v1/spend/cap", Needs(Manage)),
    ("GET", "/api/v1/tallies", Needs(Read)),
    ("GET", "/api/v1/tasks", NeedsOneOf(&[Annotate, Read])),
    ("POST", "/api/v1/tasks", Needs(Write)),
    ("GET", "/api/v1/tasks/{task}", NeedsOneOf(&[Annotate, Read])),
    ("PATCH", "/api/v1/tasks/{task}", Needs(Write)),
    ("GET", "/api/v1/tasks/{task}/agreement", Needs(Write)),
    ("GET", "/api/v1/tasks/{task}/disputes", Needs(Write)),
    ("GET", "/api/v1/tasks/{task}/export", Needs(Read)),
    ("POST", "/api/v1/tasks/{task}/items", Needs(Write)),
    ("DELETE", "/api/v1/tasks/{task}/items/{item}", Needs(Write)),
    ("POST", "/api/v1/tasks/{task}/links", Needs(Write)),
    ("POST", "/api/v1/tasks/{task}/next", Person),
    ("GET", "/api/v1/tasks/{task}/people", Needs(Write)),
    ("PATCH", "/api/v1/tasks/{task}/people/{account}", Needs(Write)),
    ("GET", "/api/v1/tasks/{task}/results", Needs(Write)),
    ("GET", "/api/v1/tokens", Needs(Manage)),
    ("POST", "/api/v1/tokens", Needs(Manage)),
    ("DELETE", "/api/v1/tokens/{id}", Needs(Manage)),
    ("GET", "/api/v1/trace-counts", Needs(Read)),
    ("GET", "/api/v1/traces", Needs(Read)),
    ("POST", "/api/v1/traces", Needs(Ingest)),
    ("POST", "/api/v1/traces/bulk", Needs(Ingest)),
    ("GET", "/api/v1/traces/{id}", Needs(Read)),
    ("GET", "/api/v1/traces/{id}/content", Needs(Read)),
    ("GET", "/api/v1/traces/{id}/decisions", Needs(Read)),
    ("GET", "/api/v1/traces/{id}/exchanges", Needs(Read)),
    ("GET", "/api/v1/verdicts", Needs(Read)),
    ("GET", "/health", Public),
    ("GET", "/metrics", Needs(Read)),
    ("GET", "/ready", Public),
    ("POST", "/v1/traces", Needs(Ingest)),
];
