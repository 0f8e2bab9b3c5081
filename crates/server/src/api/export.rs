//! Exports of all grades, verdicts or traces, streamed while they are read.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use jurist_core::report::csv_cell;
use jurist_store::traces::{TraceHead, TraceListFilter};
use jurist_store::{Cursor, ResultPage, StoreError, TraceId};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::{IntoParams, ToSchema};

use super::Query;
use super::blinding::find_withheld_candidates;
use super::endpoints::{ApiRoutes, routes};
use super::grades::{GradeLine, GradeListQuery, VerdictLine};
use crate::app::App;
use crate::assemble::COST_FROM_TOKENS;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

/// Rows in memory per page.
const PAGE: usize = 500;
/// Traces with contents in memory per page.
const PAGE_OF_CONTENTS: usize = 20;

pub fn build_export_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(export_project))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ProjectExportQuery {
    /// Data to export [default: grades].
    #[param(inline)]
    what: Option<ProjectExportKind>,
    /// Format [default: jsonl].
    #[param(inline)]
    format: Option<ProjectExportFormat>,
    /// With traces as jsonl: each line holds the trace itself as `trace`, null where it was erased.
    contents: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ProjectExportKind {
    Grades,
    Verdicts,
    Traces,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ProjectExportFormat {
    Csv,
    Jsonl,
}

#[derive(Debug, Serialize)]
struct TraceLine {
    id: String,
    agent: Option<String>,
    session: Option<String>,
    status: Option<String>,
    is_failed: bool,
    started: String,
    n_steps: u64,
    cost: Option<f64>,
    is_cost_derived: bool,
    duration_seconds: Option<f64>,
    probability: f64,
}

/// Export all grades, verdicts or traces of the project, newest first; without grades of items that you have
/// not annotated yet
#[utoipa::path(get, path = "/export", tag = "export", params(ProjectExportQuery), responses(
    (status = 200, description = "A line for each", content(
        (String = "text/csv"), (String = "application/x-ndjson")
    )),
    (status = 400, body = Problem), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn export_project(
    State(app): State<App>,
    caller: Principal,
    Query(wanted): Query<ProjectExportQuery>,
) -> Result<Response, ApiError> {
    caller.needs(AccessScope::Read)?;
    let (what, format) = (
        wanted.what.unwrap_or(ProjectExportKind::Grades),
        wanted.format.unwrap_or(ProjectExportFormat::Jsonl),
    );
    let contents = wanted.contents == Some(true);
    if contents && !(what == ProjectExportKind::Traces && format == ProjectExportFormat::Jsonl) {
        return Err(ApiError::bad("`contents` goes with `what=traces` and `format=jsonl`"));
    }
    let first = ExportPager { app, caller, what, format, contents, after: None, is_first: true };
    let pages = stream::try_unfold(Some(first), |place| async move {
        let Some(place) = place else { return Ok(None) };
        place.next().await.map(Some)
    });
    let kind = match format {
        ProjectExportFormat::Csv => "text/csv; charset=utf-8",
        ProjectExportFormat::Jsonl => "application/x-ndjson",
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], Body::from_stream(pages)).into_response())
}

/// How far an export has come.
struct ExportPager {
    app: App,
    caller: Principal,
    what: ProjectExportKind,
    format: ProjectExportFormat,
    contents: bool,
    after: Option<Cursor>,
    /// Nothing was written yet.
    is_first: bool,
}

impl ExportPager {
    async fn next(mut self) -> Result<(Bytes, Option<Self>), StoreError> {
        let page = self.page().await?;
        let text = match self.format {
            ProjectExportFormat::Jsonl => page.items.iter().map(|item| format!("{item}\n")).collect(),
            ProjectExportFormat::Csv => csv(&page.items, self.is_first),
        };
        (self.after, self.is_first) = (page.next, self.is_first && page.items.is_empty());
        let rest = self.after.is_some().then_some(self);
        Ok((Bytes::from(text), rest))
    }

    async fn page(&self) -> Result<ResultPage<Json>, StoreError> {
        let (store, project, after) = (&self.app.store, self.caller.project, self.after.as_ref());
        let all = GradeListQuery::default();
        Ok(match self.what {
            ProjectExportKind::Grades => {
                let filter = all.grades().unwrap_or_default();
                let page = store.grades(project, &filter, after, PAGE).await?;
                let candidates = page.items.iter().map(|grade_head| grade_head.candidate.as_str());
                let withheld = find_withheld_candidates(&self.app, &self.caller, candidates).await?;
                build_export_rows(page, GradeLine::from, |grade_line| grade_line.is_visible(&withheld))
            }
            ProjectExportKind::Verdicts => {
                let filter = all.verdicts().unwrap_or_default();
                let page = store.verdicts(project, &filter, after, PAGE).await?;
                let candidates = page.items.iter().map(|stored_verdict| stored_verdict.candidate.as_str());
                let withheld = find_withheld_candidates(&self.app, &self.caller, candidates).await?;
                build_export_rows(page, VerdictLine::from, |verdict_line| verdict_line.is_visible(&withheld))
            }
            ProjectExportKind::Traces => {
                let n = if self.contents { PAGE_OF_CONTENTS } else { PAGE };
                let page = store.traces(project, &TraceListFilter::default(), after, n).await?;
                let ids: Vec<TraceId> = page.items.iter().map(|head| head.id.clone()).collect();
                let mut lines = build_export_rows(page, TraceLine::from, |_| true);
                if self.contents {
                    for (line, id) in lines.items.iter_mut().zip(&ids) {
                        line["trace"] = serde_json::to_value(store.trace_content(project, id).await?)
                            .expect("a trace is plain data");
                    }
                }
                lines
            }
        })
    }
}

fn build_export_rows<T, L: Serialize>(
    page: ResultPage<T>,
    line: impl Fn(T) -> L,
    is_told: impl Fn(&L) -> bool,
) -> ResultPage<Json> {
    let lines = page.items.into_iter().map(line).filter(is_told);
    let items = lines.map(|line| serde_json::to_value(line).expect("a line is plain data")).collect();
    ResultPage { items, next: page.next }
}

/// All lines of a kind have the same fields in the same order.
fn csv(rows: &[Json], with_head: bool) -> String {
    let mut text = String::new();
    let fields = |value: &Json| value.as_object().cloned().unwrap_or_default();
    if let Some(first) = rows.first().filter(|_| with_head) {
        text += &(fields(first).keys().map(|key| csv_cell(key)).collect::<Vec<_>>().join(",") + "\n");
    }
    for row in rows {
        let cell = |value: &Json| match value {
            Json::Null => String::new(),
            Json::String(text) => csv_cell(text),
            other => csv_cell(&other.to_string()),
        };
        text += &(fields(row).values().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

impl From<TraceHead> for TraceLine {
    fn from(it: TraceHead) -> Self {
        Self {
            id: it.id.to_string(),
            agent: it.agent,
            session: it.session,
            status: it.status,
            is_failed: it.is_failed,
            started: it.started.to_string(),
            n_steps: it.n_steps,
            cost: it.cost.map(|usd| usd.nanos() as f64 / 1e9),
            is_cost_derived: it.metadata[COST_FROM_TOKENS] == true,
            duration_seconds: it.duration.map(|duration| duration as f64 / 1e6),
            probability: it.probability.get(),
        }
    }
}
