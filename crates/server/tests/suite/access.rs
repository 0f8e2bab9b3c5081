//! Every operation of the API, as everybody in every state of an account's life.
//!
//! The operations come from the description of the API, the rules from `access_rules`. An operation without a rule
//! fails, and so does a rule without an operation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use jurist_core::alert::AlertKind;
use jurist_server::{Access, ServerSettings};
use jurist_store::alerts::NewAlert;
use jurist_store::jobs::NewJob;
use jurist_store::testing::for_each_engine;
use jurist_store::{ProjectId, clock};
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::access_rules::{ALL_RIGHTS, RULES, Right, Rule, right_name, rights_of_role};
use crate::annotate::{CONFIG, data, rated};
use crate::model::Act;
use crate::monitors::{hurried, monitor};
use crate::place::{Place, start, until};
use crate::pushed_runs::pushed_head;
use crate::rubrics::SOURCE;
use crate::runs::{judge, suite};

/// An operation of the API.
struct Operation {
    method: Method,
    path: String,
    rule: Rule,
    description: Json,
}

fn description() -> Json {
    serde_json::from_str(&jurist_server::description()).unwrap()
}

/// Those that delete something come last.
fn operations(api: &Json) -> Vec<Operation> {
    let mut all = Vec::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (name, description) in methods.as_object().unwrap() {
            let name = name.to_uppercase();
            let rule = RULES.iter().find(|rule| rule.0 == name && rule.1 == path);
            let rule = rule.unwrap_or_else(|| panic!("{name} {path} has no rule in access_rules.rs")).2;
            let method = name.parse().unwrap();
            all.push(Operation { method, path: path.clone(), rule, description: description.clone() });
        }
    }
    all.sort_by_key(|operation| operation.method == Method::DELETE);
    all
}

#[test]
fn every_operation_has_a_rule_and_every_rule_an_operation() {
    let all = operations(&description());
    let of_api: BTreeSet<_> =
        all.iter().map(|operation| (operation.method.to_string(), operation.path.clone())).collect();
    let of_rules: BTreeSet<_> = RULES.iter().map(|rule| (rule.0.to_owned(), rule.1.to_owned())).collect();
    assert_eq!((of_api, RULES.len()), (of_rules, all.len()));
    for operation in &all {
        let says_public = operation.description["security"] == json!([{}]);
        assert_eq!(says_public, operation.rule == Rule::Public, "{} {}", operation.method, operation.path);
    }
}

/// Somebody who calls, with what may be expected of them.
struct Visitor {
    name: String,
    header: (&'static str, String),
    standing: Standing,
}

#[derive(Clone, PartialEq)]
enum Standing {
    /// Their secret opens nothing.
    Nobody,
    /// Signed in, and no member of the project.
    Stranger,
    Inside {
        rights: Vec<Right>,
        is_person: bool,
        is_admin: bool,
    },
}

impl Standing {
    fn person(role: &str) -> Self {
        Self::Inside { rights: rights_of_role(role).to_vec(), is_person: true, is_admin: false }
    }

    fn token(rights: &[Right]) -> Self {
        Self::Inside { rights: rights.to_vec(), is_person: false, is_admin: false }
    }

    /// The status with which they are turned away; `None` if they are not.
    fn refusal(&self, rule: Rule) -> Option<StatusCode> {
        let (rights, is_person, is_admin) = match self {
            Self::Nobody => return Some(StatusCode::UNAUTHORIZED),
            Self::Stranger if rule == Rule::SignedIn => return None,
            Self::Stranger => return Some(StatusCode::NOT_FOUND),
            Self::Inside { rights, is_person, is_admin } => (rights, *is_person, *is_admin),
        };
        let is_allowed = match rule {
            Rule::Public | Rule::Member => true,
            Rule::SignedIn if is_person => true,
            Rule::SignedIn => return Some(StatusCode::UNAUTHORIZED),
            Rule::Administrator => is_admin,
            Rule::Needs(right) => rights.contains(&right),
            Rule::NeedsOneOf(any) => any.iter().any(|right| rights.contains(right)),
            Rule::Person => is_person && rights.contains(&Right::Annotate),
        };
        if is_allowed { None } else { Some(StatusCode::FORBIDDEN) }
    }
}

/// What there is in a project, by the word that stands before its id in paths.
type Ids = BTreeMap<&'static str, String>;

/// A server with accounts, two projects that have one of everything, and whoever administers it.
struct World {
    place: Arc<Place>,
    client: reqwest::Client,
    api: Json,
    admin: String,
    own: Ids,
    foreign: Ids,
    link: String,
}

async fn post(place: &Place, headers: &[(&str, &str)], path: &str, body: Json) -> Json {
    let answer = place.ask(Method::POST, &format!("/api/v1{path}"), headers, body).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
    answer.json()
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// One of everything.
async fn fill(place: &Place, cookie: &str, project: &str) -> (Ids, String) {
    let by = [("cookie", cookie), ("jurist-project", project)];
    let mut ids = Ids::new();
    let trace = format!("trace-{project}");
    let said = json!([{ "role": "user", "content": "Hello?" }, { "role": "assistant", "content": "Hello!" }]);
    post(place, &by, "/traces", json!({ "id": trace, "agent": "desk", "trace": said })).await;
    let content = format!("/api/v1/traces/{trace}/content");
    until(async || place.ask(Method::GET, &content, &by, Json::Null).await.status == StatusCode::OK).await;
    ids.insert("traces", trace);
    let rubric = post(place, &by, "/rubrics", json!({ "name": "greets", "source": SOURCE })).await;
    ids.insert("rubrics", text(&rubric["id"]));
    let versions = format!("/api/v1/rubrics/{}/versions", ids["rubrics"]);
    let versions = place.ask(Method::GET, &versions, &by, Json::Null).await.json();
    ids.insert("rubric-versions", text(&versions[0]["id"]));
    let name = format!("watch-{project}");
    let body = json!({ "source": monitor("") });
    let applied = place.ask(Method::PUT, &format!("/api/v1/monitors/{name}"), &by, body).await;
    assert_eq!(applied.status, StatusCode::OK, "{}", applied.text);
    ids.insert("monitors", name);
    let dataset = format!("cases-{project}");
    post(place, &by, "/datasets", json!({ "name": dataset })).await;
    let records = json!({ "records": [{ "id": "a", "input": "Hello?", "output": "Hello!" }] });
    post(place, &by, &format!("/datasets/{dataset}/versions"), records).await;
    ids.insert("datasets", dataset);
    ids.insert("cases", "a".to_owned());
    ids.insert("runs", text(&post(place, &by, "/runs", suite(1)).await["id"]));
    let files = json!({ "config.yaml": CONFIG, "data/traces.jsonl": data(2) });
    let task = post(place, &by, "/tasks", json!({ "config": "config.yaml", "files": files })).await;
    ids.insert("tasks", text(&task["id"]));
    let work = post(place, &by, &format!("/tasks/{}/next", ids["tasks"]), json!({})).await;
    ids.insert("assignments", text(&work["assignment"]));
    // Answered, since whoever still has to answer an item is not told what others said.
    let answer = json!({ "draft": rated(3, 3), "revision": work["revision"] });
    post(place, &by, &format!("/assignments/{}/submit", ids["assignments"]), answer).await;
    let spare = json!({ "name": "spare", "scopes": ["read"] });
    ids.insert("tokens", text(&post(place, &by, "/tokens", spare).await["id"]));
    let links = post(place, &by, &format!("/tasks/{}/links", ids["tasks"]), json!({})).await;
    let link = text(&links["url"]);
    let link = link.split_once("#task=").unwrap().1.split('&').next().unwrap().to_owned();
    let bystander = join(place, &link, "bystander").await.0;
    ids.insert("accounts", bystander.clone());
    ids.insert("members", bystander);
    let project = place.app.store.project_named(project).await.unwrap().unwrap().id;
    let assignment = place.app.store.assignment(project, ids["assignments"].parse().unwrap()).await.unwrap();
    ids.insert("items", assignment.item.to_string());
    ids.insert("people", assignment.account.to_string());
    add_alert_and_job(place, project, &mut ids).await;
    (ids, link)
}

/// An alert, and a job that failed too often.
async fn add_alert_and_job(place: &Place, project: ProjectId, ids: &mut Ids) {
    let (store, now) = (&place.app.store, clock::current_time());
    let job = |key: &str| NewJob {
        project: Some(project),
        kind: "no-such-kind".to_owned(),
        payload: json!({}),
        priority: 0,
        ready: now,
        max_attempts: 1,
        dedupe: Some(format!("{key} {project}")),
    };
    let (subject, message) = ("subject".to_owned(), "message".to_owned());
    let alert = NewAlert { kind: AlertKind::NoData, subject, message, facts: json!({}) };
    let alert = store.raise_alert(project, &alert, |_| job("tell"), now).await.unwrap().unwrap();
    ids.insert("alerts", alert.to_string());
    let dead = store.add_job(&job("dead"), now).await.unwrap().unwrap();
    place.scene.execute(&format!("UPDATE jobs SET state = 'dead' WHERE id = '{dead}'")).await.unwrap();
    ids.insert("jobs", dead.to_string());
}

/// Joins by a link to a task: an account without a password, which takes no time to hash.
async fn join(place: &Place, link: &str, name: &str) -> (String, String) {
    let body = json!({ "token": link, "name": name });
    let joined = place.ask(Method::POST, "/api/v1/join/task", &[], body).await;
    assert_eq!(joined.status, StatusCode::OK, "{}", joined.text);
    (text(&joined.json()["account"]), joined.cookie())
}

impl World {
    async fn new(place: Arc<Place>) -> Self {
        let admin = place.owner().await;
        post(&place, &[("cookie", &admin)], "/projects", json!({ "name": "other" })).await;
        let (own, link) = fill(&place, &admin, "default").await;
        let (foreign, _) = fill(&place, &admin, "other").await;
        Self { place, client: reqwest::Client::new(), api: description(), admin, own, foreign, link }
    }

    async fn set_role(&self, account: &str, role: &str) {
        let path = format!("/api/v1/members/{account}");
        let by = [("cookie", self.admin.as_str())];
        let set = self.place.ask(Method::PUT, &path, &by, json!({ "role": role })).await;
        assert_eq!(set.status, StatusCode::OK, "{}", set.text);
    }

    async fn token(&self, by: (&str, &str), name: &str, rights: &[Right]) -> String {
        let scopes: Vec<&str> = rights.iter().map(|right| right_name(*right)).collect();
        let body = json!({ "name": name, "scopes": scopes });
        format!("Bearer {}", text(&post(&self.place, &[by], "/tokens", body).await["secret"]))
    }

    /// An owner with a token and a token of that token, as they stand after something happened to them.
    async fn owner_who_was(&self, state: &str, person: Standing, token: Standing) -> [Visitor; 3] {
        let (account, cookie) = join(&self.place, &self.link, state).await;
        self.set_role(&account, "owner").await;
        let first = self.token(("cookie", &cookie), state, &ALL_RIGHTS).await;
        let second = self.token(("authorization", &first), &format!("{state} 2"), &ALL_RIGHTS).await;
        let by = [("cookie", self.admin.as_str())];
        match state.split_once(' ') {
            Some(("demoted", role)) => self.set_role(&account, role).await,
            _ if state == "removed" => {
                let path = format!("/api/v1/members/{account}");
                self.place.ask(Method::DELETE, &path, &by, Json::Null).await;
            }
            _ => {
                let path = format!("/api/v1/accounts/{account}");
                self.place.ask(Method::PATCH, &path, &by, json!({ "disabled": true })).await;
            }
        }
        [
            Visitor { name: state.to_owned(), header: ("cookie", cookie), standing: person },
            Visitor {
                name: format!("{state}: token"),
                header: ("authorization", first),
                standing: token.clone(),
            },
            Visitor {
                name: format!("{state}: token of a token"),
                header: ("authorization", second),
                standing: token,
            },
        ]
    }

    /// Everybody, in every state.
    async fn visitors(&self) -> Vec<Visitor> {
        let mut all = self.outsiders().await;
        for role in ["annotator", "viewer", "member", "owner"] {
            let (account, cookie) = join(&self.place, &self.link, &format!("active {role}")).await;
            self.set_role(&account, role).await;
            let (name, standing) = (role.to_owned(), Standing::person(role));
            if role == "owner" {
                for right in ALL_RIGHTS {
                    let name = format!("token with {}", right_name(right));
                    let token = self.token(("cookie", &cookie), &name, &[right]).await;
                    let standing = Standing::token(&[right]);
                    all.push(Visitor { name, header: ("authorization", token), standing });
                }
            }
            all.push(Visitor { name, header: ("cookie", cookie), standing });
            let token = Standing::token(rights_of_role(role));
            all.extend(self.owner_who_was(&format!("demoted {role}"), Standing::person(role), token).await);
        }
        all.extend(self.owner_who_was("removed", Standing::Stranger, Standing::Nobody).await);
        all.extend(self.owner_who_was("disabled", Standing::Nobody, Standing::Nobody).await);
        let rights = ALL_RIGHTS.to_vec();
        let standing = Standing::Inside { rights, is_person: true, is_admin: true };
        let name = "administrator".to_owned();
        all.push(Visitor { name, header: ("cookie", self.admin.clone()), standing });
        all
    }

    /// Those whose secrets are none, or are for something else.
    async fn outsiders(&self) -> Vec<Visitor> {
        let by = [("cookie", self.admin.as_str())];
        let invited = post(&self.place, &by, "/invitations", json!({ "role": "owner" })).await;
        let invitation = text(&invited["invitation"]);
        let nobody = |name: &str, header: &'static str, value: String| Visitor {
            name: name.to_owned(),
            header: (header, value),
            standing: Standing::Nobody,
        };
        vec![
            nobody("no secret", "x-nothing", "x".to_owned()),
            nobody("invented token", "authorization", "Bearer jrk_0".to_owned()),
            nobody("invented session", "cookie", "jurist_session=x".to_owned()),
            nobody("invitation as token", "authorization", format!("Bearer {invitation}")),
            nobody("invitation as session", "cookie", format!("jurist_session={invitation}")),
            nobody("task link as token", "authorization", format!("Bearer {}", self.link)),
        ]
    }

    /// Calls an operation, and says with which status it was answered, and the words of a refusal.
    async fn call(
        &self,
        operation: &Operation,
        visitor: &Visitor,
        ids: &Ids,
        project: &str,
    ) -> (StatusCode, String) {
        let url = format!("{}{}{}", self.place.url, fill_path(&operation.path, ids), self.query(operation));
        let mut request = self.client.request(operation.method.clone(), url);
        request = request.header(visitor.header.0, &visitor.header.1);
        if !project.is_empty() {
            request = request.header("jurist-project", project);
        }
        if let Some(content) = operation.description["requestBody"]["content"].as_object() {
            let kind = content.keys().find(|kind| kind.ends_with("json")).unwrap();
            let body = body_of(operation).unwrap_or_else(|| example(&self.api, &content[kind]["schema"]));
            let body = if kind == "application/json" { body.to_string() } else { String::new() };
            request = request.header("content-type", kind).body(body);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        // Streams of events do not end, so what is fine is not read.
        let said = if status.is_success() { String::new() } else { response.text().await.unwrap() };
        (status, said)
    }

    /// What the query must have.
    fn query(&self, operation: &Operation) -> String {
        let parameters = operation.description["parameters"].as_array().into_iter().flatten();
        let needed =
            parameters.filter(|parameter| parameter["in"] == "query" && parameter["required"] == true);
        let pairs: Vec<String> = needed
            .map(|parameter| {
                let value = match parameter["name"].as_str().unwrap() {
                    "from" => self.own["rubric-versions"].clone(),
                    "before" | "baseline" => self.own["runs"].clone(),
                    "sample_rate" => "0.5".to_owned(),
                    _ => "x".to_owned(),
                };
                format!("{}={value}", parameter["name"].as_str().unwrap())
            })
            .collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }
}

/// `/runs/{id}` with the id of a run.
fn fill_path(path: &str, ids: &Ids) -> String {
    let mut before = "";
    let filled = path.split('/').map(|part| {
        let part = match part {
            "{scheme}" => "quality",
            "{criterion}" => "correctness",
            _ if part.starts_with('{') => &ids[before],
            _ => {
                before = part;
                part
            }
        };
        part.to_owned()
    });
    filled.collect::<Vec<_>>().join("/")
}

/// A body where the least that its schema takes is refused before the id is looked at.
fn body_of(operation: &Operation) -> Option<Json> {
    match operation.path.as_str() {
        "/api/v1/items/{item}/decisions/{scheme}/{criterion}" => {
            Some(json!({ "rating": { "kind": "scored", "value": 3 } }))
        }
        "/api/v1/members/{account}" => Some(json!({ "role": "annotator" })),
        "/api/v1/rubrics/{id}/versions" => Some(json!({ "source": SOURCE })),
        "/api/v1/runs/{id}" => Some(pushed_head()),
        "/api/v1/runs/{id}/end" => Some(json!({ "ended": "2026-03-01T00:00:00Z", "n_results": 0 })),
        _ => None,
    }
}

/// The least that a schema takes.
fn example(api: &Json, schema: &Json) -> Json {
    if let Some(name) = schema["$ref"].as_str() {
        return example(api, &api["components"]["schemas"][name.rsplit('/').next().unwrap()]);
    }
    if let Some(first) = schema["oneOf"].as_array().or(schema["allOf"].as_array()).and_then(|all| all.first())
    {
        return example(api, first);
    }
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("object");
    match kind {
        "string" => json!("x".repeat(usize::try_from(schema["minLength"].as_u64().unwrap_or(1)).unwrap())),
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        "array" if schema["minItems"].as_u64().is_some() => json!([example(api, &schema["items"])]),
        "array" => json!([]),
        _ => {
            let required = schema["required"].as_array().into_iter().flatten();
            let names = required.map(|name| name.as_str().unwrap());
            let fields = names.map(|name| (name.to_owned(), example(api, &schema["properties"][name])));
            Json::Object(fields.collect())
        }
    }
}

/// What is wrong with an answer, if anything.
fn fault(operation: &Operation, visitor: &Visitor, status: StatusCode, said: &str) -> Option<String> {
    let refusals = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
    let expected = visitor.standing.refusal(operation.rule);
    let is_right = match expected {
        _ if status.is_server_error() => false,
        // A wrong password is 401 as well, to those who are signed in.
        None if operation.rule == Rule::SignedIn => !said.contains("or sign in"),
        None => !refusals.contains(&status),
        Some(expected) => status == expected,
    };
    let Operation { method, path, .. } = operation;
    let expected = expected.map_or("allowed".to_owned(), |status| status.to_string());
    (!is_right).then(|| format!("{method} {path} as {}: {status}, expected {expected}: {said}", visitor.name))
}

#[test]
fn everybody_may_do_what_the_rules_say_and_nothing_else() {
    let judge = judge(|_| Act::Fit);
    let settings = ServerSettings { access: Access::Accounts, ..hurried(&judge) };
    for_each_engine(|scene| async {
        let is_pg = scene.store.engine() == "postgres";
        let world = World::new(Arc::new(start(scene, settings.clone()).await)).await;
        let visitors = world.visitors().await;
        let mut faults = Vec::new();
        let mut n_calls = 0;
        for operation in &operations(&world.api) {
            // The second database answers alike: what is read there is enough.
            if operation.rule == Rule::Public || (is_pg && operation.method != Method::GET) {
                continue;
            }
            faults.extend(reach_foreign(&world, operation, &visitors).await);
            let calls = visitors.iter().map(|visitor| world.call(operation, visitor, &world.own, ""));
            for (visitor, (status, said)) in visitors.iter().zip(join_all(calls).await) {
                n_calls += 1;
                // A token grants no role that has scopes which the token lacks.
                let is_grant =
                    operation.method == Method::PUT && operation.path.ends_with("/members/{account}");
                if is_grant && visitor.name == "token with manage" {
                    assert_eq!(status, StatusCode::FORBIDDEN, "{said}");
                    continue;
                }
                faults.extend(fault(operation, visitor, status, &said));
                // Whoever came before has deleted it, or a dead job lives again.
                let is_gone = operation.method == Method::DELETE || operation.path.ends_with("/revive");
                let is_found = status != StatusCode::NOT_FOUND || is_gone;
                if visitor.name == "administrator" && !is_found {
                    let (method, path) = (&operation.method, &operation.path);
                    faults.push(format!("{method} {path}: the administrator did not find their own: {said}"));
                }
            }
        }
        assert!(faults.is_empty(), "{} of {n_calls} calls:\n{}", faults.len(), faults.join("\n"));
        assert!(if is_pg { 1_500 } else { 3_000 } < n_calls, "{n_calls} calls");
    });
}

/// Ids of another project, and another project by its name: an owner finds neither.
async fn reach_foreign(world: &World, operation: &Operation, visitors: &[Visitor]) -> Vec<String> {
    let by_name = |name: &str| visitors.iter().find(|visitor| visitor.name == name).unwrap();
    let mut faults = Vec::new();
    for name in ["owner", "demoted owner: token", "demoted owner: token of a token"] {
        let visitor = by_name(name);
        let refusal = visitor.standing.refusal(operation.rule);
        let expected = refusal.unwrap_or(StatusCode::NOT_FOUND);
        let mut check = async |what: &str, ids: &Ids, project: &str, expected: StatusCode| {
            let (status, said) = world.call(operation, visitor, ids, project).await;
            if status != expected {
                let Operation { method, path, .. } = operation;
                faults.push(format!("{method} {path} with {what} as {name}: {status}: {said}"));
            }
        };
        // Monitors have names of one's own choosing.
        let makes_its_own = operation.method == Method::PUT && operation.path.ends_with("/monitors/{name}");
        if operation.path.contains('{') && !makes_its_own {
            check("a foreign id", &world.foreign, "", expected).await;
        }
        if operation.rule != Rule::SignedIn {
            check("a foreign project", &world.own, "other", StatusCode::NOT_FOUND).await;
        }
    }
    faults
}
