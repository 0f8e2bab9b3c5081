//! Where monitors are: in a database that is opened here, or behind a server.

use std::fmt::Write as _;

use jurist_core::grade::Time;
use jurist_engine::load;
use jurist_engine::trust::{TrustRule, decide_trust};
use jurist_server::monitor::{
    self, Applied, ComparisonPlan, ComparisonView, DecisionView, Estimates, MonitorTrend, MonitorView,
    NewComparison, NewRescore, RescorePlan, RescoreView, TrafficWindow,
};
use jurist_server::{App, Environment, ServerSettings, Work};
use jurist_store::decisions::{DecisionFilter, DecisionState, MonitorDecision};
use jurist_store::traces::TraceListFilter;
use jurist_store::{ProjectId, Region, Store, TraceId, clock};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::{MonitorArgs, MonitorSubcommand, TrafficWindowArgs};
use crate::connection::Reached;
use crate::connection::remote::{Remote, encode_url_part};
use crate::render;
use crate::suite_loading::load_current_settings;
use crate::version_names::VersionNames;

/// Traces of a list.
const LISTED: usize = 200;

/// Traces that are named when an id is ambiguous.
const SHOWN_TRACES: usize = 5;

pub enum MonitorBackend {
    Store { app: App, project: ProjectId },
    Server(Remote),
}

impl MonitorArgs {
    pub(super) async fn target(&self) -> anyhow::Result<MonitorBackend> {
        if let Some(url) = self.reach.missing_database() {
            let how = "set the database with --store, or its server with --server";
            anyhow::ensure!(
                matches!(self.what, MonitorSubcommand::Apply { .. }),
                "there is no database at `{url}`; {how}"
            );
            render::print_note(&format!("`{url}` is a new database; if this is a mistake, {how}"));
        }
        let (store, project) = match self.reach.open().await? {
            Reached::Store(store, project) => (store, project),
            Reached::Server(remote) => return Ok(MonitorBackend::Server(remote)),
        };
        let work = Work {
            settings: decide_trust(load_current_settings()?, TrustRule::ListedFiles),
            environment: Environment::new(load::variables()),
            // Traces are judged by any worker on this database.
            allow_commands: true,
            ..Work::default()
        };
        let app = App::new(store, ServerSettings { work, ..ServerSettings::default() }).await?;
        Ok(MonitorBackend::Store { app, project })
    }
}

impl TrafficWindowArgs {
    fn time_window(&self) -> anyhow::Result<TrafficWindow> {
        let look = TrafficWindow::new(self.agent.clone(), self.since, self.until, clock::current_time());
        anyhow::ensure!(look.from < look.until, "--since must be before --until");
        Ok(look)
    }

    fn query(&self) -> anyhow::Result<String> {
        let TrafficWindow { agent, from, until } = self.time_window()?;
        let agent = agent.map(|agent| format!("&agent={}", encode_url_part(&agent))).unwrap_or_default();
        Ok(format!("from={from}&until={until}{agent}"))
    }
}

impl MonitorBackend {
    pub(super) async fn apply(&self, name: &str, source: &str, region: &Region) -> anyhow::Result<Applied> {
        match self {
            Self::Store { app, project } => {
                let place = (region, &app.settings.work);
                let now = clock::current_time();
                Ok(monitor::apply_monitor_file(&app.store, *project, Some(name), source, place, None, now)
                    .await?)
            }
            Self::Server(it) => {
                send_monitor_request(it, reqwest::Method::PUT, name, "", json!({ "source": source })).await
            }
        }
    }

    pub(super) async fn list(&self) -> anyhow::Result<Vec<MonitorView>> {
        match self {
            Self::Store { app, project } => {
                let all = app.store.monitors(*project).await?;
                let all = all
                    .iter()
                    .filter(|stored_monitor| stored_monitor.newest.is_some())
                    .map(monitor::build_monitor_view);
                Ok(all.collect::<Result<_, _>>()?)
            }
            Self::Server(it) => Ok(serde_json::from_value(it.get("/monitors").await?)?),
        }
    }

    pub(super) async fn monitor(&self, name: &str) -> anyhow::Result<MonitorView> {
        match self {
            Self::Store { app, project } => {
                Ok(monitor::build_monitor_view(&find_monitor_by_name(&app.store, *project, name).await?)?)
            }
            Self::Server(it) => get(it, name, "").await,
        }
    }

    /// Names of these rubric versions, and of all others of the same rubrics.
    pub(super) async fn version_names<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> anyhow::Result<VersionNames> {
        let mut names = VersionNames::default();
        for id in ids {
            if names.contains(id) {
                continue;
            }
            let versions: Vec<(String, Time)> = match self {
                Self::Store { app, project } => {
                    let rubric = app.store.rubric_version(*project, &id.parse()?).await?.rubric;
                    let all = app.store.rubric_versions(*project, rubric).await?;
                    all.into_iter().map(|version| (version.id.to_string(), version.created)).collect()
                }
                Self::Server(remote) => {
                    let version = remote.get(&format!("/rubric-versions/{id}")).await?;
                    let rubric = version["rubric"].as_str().unwrap_or_default();
                    let all = remote.get(&format!("/rubrics/{rubric}/versions")).await?;
                    let text =
                        |version: &Json, key: &str| version[key].as_str().unwrap_or_default().to_owned();
                    let all = all.as_array().into_iter().flatten();
                    all.map(|version| Ok((text(version, "id"), Time::parse(&text(version, "created"))?)))
                        .collect::<anyhow::Result<_>>()?
                }
            };
            names.add_rubric(versions.into_iter());
        }
        Ok(names)
    }

    pub(super) async fn estimates(
        &self,
        name: &str,
        window: &TrafficWindowArgs,
    ) -> anyhow::Result<Estimates> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                Ok(monitor::estimate_monitor_traffic(
                    &app.store,
                    *project,
                    &found,
                    &window.time_window()?,
                    true,
                )
                .await?)
            }
            Self::Server(it) => get(it, name, &format!("/estimates?{}", window.query()?)).await,
        }
    }

    pub(super) async fn trend(
        &self,
        name: &str,
        window: &TrafficWindowArgs,
        criterion: Option<&str>,
    ) -> anyhow::Result<Vec<MonitorTrend>> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                Ok(monitor::compute_monitor_trends(
                    &app.store,
                    &app.sequences,
                    *project,
                    &found,
                    &window.time_window()?,
                    criterion,
                )
                .await?)
            }
            Self::Server(it) => {
                let criterion =
                    criterion.map(|criterion| format!("&criterion={}", encode_url_part(criterion)));
                let query = format!("/trend?{}{}", window.query()?, criterion.unwrap_or_default());
                get(it, name, &query).await
            }
        }
    }

    pub(super) async fn pause(&self, name: &str, reason: Option<&str>) -> anyhow::Result<()> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                let why = reason.unwrap_or("paused by a user");
                Ok(monitor::pause_monitor(&app.store, *project, found.id, why).await?)
            }
            Self::Server(it) => {
                let body = json!({ "paused": true, "reason": reason });
                send_monitor_request::<Json>(it, reqwest::Method::PATCH, name, "", body).await.map(drop)
            }
        }
    }

    pub(super) async fn resume(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                Ok(monitor::resume_monitor(&app.store, *project, &found, clock::current_time())
                    .await
                    .map(drop)?)
            }
            Self::Server(it) => {
                let body = json!({ "paused": false });
                send_monitor_request::<Json>(it, reqwest::Method::PATCH, name, "", body).await.map(drop)
            }
        }
    }

    pub(super) async fn remove(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                Ok(monitor::remove_monitor(&app.store, *project, &found, clock::current_time()).await?)
            }
            Self::Server(it) => {
                send_monitor_request::<Json>(it, reqwest::Method::DELETE, name, "", Json::Null)
                    .await
                    .map(drop)
            }
        }
    }

    /// The decisions about a trace, which is named by its id or the beginning of its id.
    pub(super) async fn why(&self, trace: &str) -> anyhow::Result<Vec<DecisionView>> {
        let trace = self.find_trace(trace).await?;
        match self {
            Self::Store { app, project } => {
                Ok(monitor::explain_trace_decisions(&app.store, *project, &TraceId::new(&trace)?).await?)
            }
            Self::Server(it) => {
                let found = it.get(&format!("/traces/{}/decisions", encode_url_part(&trace))).await?;
                Ok(serde_json::from_value(found)?)
            }
        }
    }

    /// The id of the one trace whose id begins so; the text itself if there is none.
    async fn find_trace(&self, start: &str) -> anyhow::Result<String> {
        let ids: Vec<String> = match self {
            Self::Store { app, project } => {
                let filter =
                    TraceListFilter { id_prefix: Some(start.to_owned()), ..TraceListFilter::default() };
                let page = app.store.traces(*project, &filter, None, SHOWN_TRACES).await?;
                page.items.into_iter().map(|head| head.id.to_string()).collect()
            }
            Self::Server(it) => {
                let path = format!("/traces?limit={SHOWN_TRACES}&id_prefix={}", encode_url_part(start));
                let page = it.get(&path).await?;
                let items = page["items"].as_array().into_iter().flatten();
                items.filter_map(|item| item["id"].as_str().map(str::to_owned)).collect()
            }
        };
        match ids.as_slice() {
            [only] => Ok(only.clone()),
            [] => Ok(start.to_owned()),
            several if several.iter().any(|id| id == start) => Ok(start.to_owned()),
            several => {
                anyhow::bail!("the ids of several traces begin with `{start}`: {}", several.join(", "))
            }
        }
    }

    /// The newest decisions with their verdicts: those in a state, those whose judges disagree, or all.
    pub(super) async fn decisions(
        &self,
        name: &str,
        state: Option<DecisionState>,
        is_disputed: Option<bool>,
    ) -> anyhow::Result<Vec<DecisionView>> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                let filter = DecisionFilter { state, is_disputed, ..DecisionFilter::default() };
                let page = app.store.decisions(*project, found.id, &filter, None, LISTED).await?;
                let traces: Vec<String> =
                    page.items.iter().map(|decision| decision.trace.to_string()).collect();
                let mut verdicts = monitor::load_newest_verdicts(&app.store, *project, &traces).await?;
                let versions = app.store.monitor_versions(*project, found.id).await?;
                let view = |decision: &MonitorDecision| {
                    let version = versions.iter().find(|version| version.id == decision.version);
                    let mut view = DecisionView::new(decision, version);
                    view.monitor_name = Some(found.name.clone());
                    view.set_verdict(verdicts.remove(&(view.trace.clone(), found.name.clone())));
                    view
                };
                Ok(page.items.iter().map(view).collect())
            }
            Self::Server(it) => {
                let mut query = format!("/decisions?limit={LISTED}");
                if let Some(state) = state {
                    let _ = write!(query, "&state={}", state.as_str());
                }
                if let Some(is_disputed) = is_disputed {
                    let _ = write!(query, "&disputed={is_disputed}");
                }
                let mut page: Json = get(it, name, &query).await?;
                Ok(serde_json::from_value(page["items"].take())?)
            }
        }
    }

    /// The newest decision in a state, with its history.
    pub(super) async fn newest_in_state(
        &self,
        name: &str,
        state: DecisionState,
    ) -> anyhow::Result<Option<DecisionView>> {
        let newest: Option<String> = match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                let filter = DecisionFilter { state: Some(state), ..DecisionFilter::default() };
                let page = app.store.decisions(*project, found.id, &filter, None, 1).await?;
                page.items.first().map(|decision| decision.trace.to_string())
            }
            Self::Server(it) => {
                let page: Json =
                    get(it, name, &format!("/decisions?state={}&limit=1", state.as_str())).await?;
                page["items"][0]["trace"].as_str().map(str::to_owned)
            }
        };
        let Some(trace) = newest else { return Ok(None) };
        let found = self.why(&trace).await?.into_iter();
        let mut found = found.filter(|decision| decision.monitor_name.as_deref() == Some(name));
        Ok(found.next())
    }

    pub(super) async fn rescore(&self, name: &str, asked: &NewRescore) -> anyhow::Result<RescorePlan> {
        match self {
            Self::Store { app, project } => {
                let (store, now) = (&app.store, clock::current_time());
                let (work, found) = (&app.settings.work, find_monitor_by_name(store, *project, name).await?);
                if !asked.confirmed {
                    return Ok(monitor::plan_rescore(store, *project, &found, asked, work, now).await?);
                }
                Ok(monitor::start_rescore(store, *project, &found, asked, work, None, now).await?)
            }
            Self::Server(it) => {
                send_monitor_request(it, reqwest::Method::POST, name, "/rescores", json!(asked)).await
            }
        }
    }

    pub(super) async fn compare(&self, name: &str, asked: &NewComparison) -> anyhow::Result<ComparisonPlan> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                Ok(monitor::plan_or_start_comparison(
                    &app.store,
                    *project,
                    &found,
                    asked,
                    clock::current_time(),
                )
                .await?)
            }
            Self::Server(it) => {
                send_monitor_request(it, reqwest::Method::POST, name, "/comparisons", json!(asked)).await
            }
        }
    }

    pub(super) async fn comparisons(&self, name: &str) -> anyhow::Result<Vec<ComparisonView>> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                Ok(monitor::list_comparisons(&app.store, *project, &found).await?)
            }
            Self::Server(it) => get(it, name, "/comparisons").await,
        }
    }

    pub(super) async fn rescores(&self, name: &str) -> anyhow::Result<Vec<RescoreView>> {
        match self {
            Self::Store { app, project } => {
                let found = find_monitor_by_name(&app.store, *project, name).await?;
                Ok(monitor::list_rescores(&app.store, *project, &found).await?)
            }
            Self::Server(it) => get(it, name, "/rescores").await,
        }
    }
}

async fn find_monitor_by_name(
    store: &Store,
    project: ProjectId,
    name: &str,
) -> anyhow::Result<jurist_store::monitors::StoredMonitor> {
    Ok(monitor::find_monitor(store, project, name).await?)
}

async fn get<T: DeserializeOwned>(remote: &Remote, name: &str, rest: &str) -> anyhow::Result<T> {
    Ok(serde_json::from_value(remote.get(&format!("/monitors/{}{rest}", encode_url_part(name))).await?)?)
}

async fn send_monitor_request<T: DeserializeOwned>(
    remote: &Remote,
    method: reqwest::Method,
    name: &str,
    rest: &str,
    body: Json,
) -> anyhow::Result<T> {
    let path = format!("/monitors/{}{rest}", encode_url_part(name));
    Ok(serde_json::from_value(
        remote.ask(method, &path, Some(&body).filter(|value| !value.is_null())).await?,
    )?)
}
