//! Grades and verdicts, one by one and summed up.

use std::collections::BTreeSet;

use axum::extract::State;
use jurist_core::grade::{self, Grade, GraderKind, Outcome, Time, VerdictStatus};
use jurist_store::RubricVersionId;
use jurist_store::grades::{GradeFilter, GradeHead, StoredVerdict, VerdictFilter};
use jurist_store::tallies::{GradeTally, TallyFilter, TallyPeriod, VerdictTally};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::blinding::find_withheld_candidates;
use super::endpoints::{ApiRoutes, routes};
use super::{Json, Query};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};

pub fn build_grade_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(list_grades)).routes(routes!(list_verdicts)).routes(routes!(list_tallies))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct GradeDetailQuery {
    /// Include texts: reasons, quotes, claims, errors.
    full: Option<bool>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GradeListQuery {
    /// Id of the candidate, such as a trace.
    candidate: Option<String>,
    /// Id of the rubric version, `rubv_…`.
    rubric_version: Option<String>,
    /// Name of the agent, if the candidate is a trace.
    agent: Option<String>,
    /// Of grades: name of the criterion.
    criterion: Option<String>,
    /// Of grades: check, judge or human.
    #[param(value_type = Option<String>)]
    grader_kind: Option<GraderKind>,
    /// Of grades: name of the grader.
    grader: Option<String>,
    /// Of verdicts: pass, fail, error or deferred.
    #[param(value_type = Option<String>)]
    status: Option<VerdictStatus>,
    /// At this time or later, such as 2026-03-01T00:00:00Z.
    #[param(value_type = Option<String>)]
    from: Option<Time>,
    /// Before this time.
    #[param(value_type = Option<String>)]
    until: Option<Time>,
    /// `next` of the page before.
    after: Option<String>,
    /// Page size from 1 to 200 [default: 50].
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// A grade in numbers
#[derive(Debug, Serialize, ToSchema)]
pub struct GradeLine {
    /// Id of the grade.
    pub id: String,
    /// Id of the candidate, such as that of a trace or of a case.
    pub candidate: String,
    /// Id of the rubric version.
    pub rubric_version: String,
    /// Criterion of the rubric.
    pub criterion: String,
    /// Kind of grader: check, judge or human.
    #[schema(value_type = String)]
    pub grader_kind: GraderKind,
    /// Name of the check, judge or person.
    pub grader: String,
    /// Agent that produced the candidate; `null` if it is unknown.
    pub agent: Option<String>,
    /// scored, not_applicable, abstained, failed or deferred.
    pub outcome: String,
    /// On 0..=1.
    pub score: Option<f64>,
    /// Whether the answer passes its criterion; `null` if it has no score.
    pub is_passed: Option<bool>,
    /// With which it was sampled.
    pub probability: f64,
    /// Dollars.
    pub cost: Option<f64>,
    /// When the answer was given, in UTC (RFC 3339).
    pub time: String,
    #[serde(flatten)]
    said: GradeDetails,
}

/// Texts of a grade: only with `full`, and until retention erases them
#[derive(Debug, Default, Serialize, ToSchema)]
struct GradeDetails {
    /// The answer on the criterion's own scale: a number, a text, or true or false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    value: Option<grade::Value>,
    /// Reason of the grader; absent if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    /// Quotes that support the answer; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<GradeEvidence>,
    /// Claims or requirements that the grade is based on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    points: Vec<GradePoint>,
    /// Flags: verdict_in_candidate, no_verifiable_evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    flags: Vec<grade::GradeFlag>,
    /// Kind of grader error.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<GradeError>,
    /// Reason of an abstention or a deferral.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// A quote and its position in the candidate; without a position it was not found
#[derive(Debug, Serialize, ToSchema)]
struct GradeEvidence {
    /// Text of the quote.
    quote: String,
    /// Where the quote is in the candidate; `null` if it was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<EvidencePlace>,
}

/// A stretch of bytes in one part of a candidate
#[derive(Debug, Serialize, ToSchema)]
struct EvidencePlace {
    /// Such as `response` or `trace.3.result`.
    #[serde(rename = "in")]
    part: String,
    /// Offset of the first byte of the quote in this part, from 0.
    start: u64,
    /// Offset after the last byte of the quote in this part.
    end: u64,
}

/// A claim or a requirement, and whether it holds
#[derive(Debug, Serialize, ToSchema)]
struct GradePoint {
    /// Text of the claim or requirement.
    text: String,
    /// Whether the claim or requirement holds.
    holds: bool,
    /// Quotes that support it; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evidence: Vec<GradeEvidence>,
}

#[derive(Debug, Serialize, ToSchema)]
struct GradeError {
    /// timeout, rate_limit, refusal, malformed, off_scale, auth, evidence_not_found, unavailable or crashed.
    #[schema(value_type = String)]
    failure: grade::Failure,
    /// What happened, in words.
    detail: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct GradeLines {
    /// Grades of this page.
    items: Vec<GradeLine>,
    /// Number of grades hidden on this page because you have not annotated their items yet.
    n_withheld: usize,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct VerdictLine {
    /// Id of the verdict.
    pub id: String,
    /// Id of the candidate, such as that of a trace or of a case.
    pub candidate: String,
    /// Id of the rubric version.
    pub rubric_version: String,
    /// Id of the monitor; `null` for verdicts of runs.
    pub monitor: Option<String>,
    /// Agent that produced the candidate; `null` if it is unknown.
    pub agent: Option<String>,
    /// pass, fail, error or deferred.
    #[schema(value_type = String)]
    pub status: VerdictStatus,
    /// Score from 0 to 1; `null` if there is none.
    pub score: Option<f64>,
    /// With which it was sampled.
    pub probability: f64,
    /// Dollars.
    pub cost: Option<f64>,
    /// When it was reached, in UTC (RFC 3339).
    pub time: String,
    /// Failed gates.
    failed_gates: Vec<VerdictGate>,
    /// Gates that could not be decided, so that the verdict is not a pass.
    undecided_gates: Vec<UndecidedVerdictGate>,
}

/// A condition that fails a verdict whatever the score
#[derive(Debug, Serialize, ToSchema)]
struct VerdictGate {
    /// required, guard, min_score, strict, evidence, cannot_assess or on_error.
    #[schema(value_type = String)]
    gate: grade::Gate,
    /// Absent for gates of the rubric itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<String>,
}

/// A gate without an answer
#[derive(Debug, Serialize, ToSchema)]
struct UndecidedVerdictGate {
    /// required, guard, min_score or strict.
    #[schema(value_type = String)]
    gate: grade::Gate,
    /// Absent for gates of the rubric itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<String>,
    /// Why it could not be decided.
    reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct VerdictLines {
    /// Verdicts of this page.
    items: Vec<VerdictLine>,
    /// Number of entries hidden on this page because you have not annotated their items yet.
    n_withheld: usize,
    /// Where the next page begins; absent at the end.
    next: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TallyQuery {
    /// hour, day or all [default: all].
    #[param(inline)]
    by: Option<TallyBucket>,
    /// Id of the rubric version, `rubv_…`.
    rubric_version: Option<String>,
    /// Of grades: name of the criterion.
    criterion: Option<String>,
    /// Of grades: name of the grader.
    grader: Option<String>,
    /// Name of the agent, if the candidate is a trace.
    agent: Option<String>,
    /// Start of the time range, such as 2026-03-01T00:00:00Z; full UTC days unless `by` is hour.
    #[param(value_type = Option<String>)]
    from: Option<Time>,
    /// End of the time range, which is not part of it; full UTC days unless `by` is hour.
    #[param(value_type = Option<String>)]
    until: Option<Time>,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum TallyBucket {
    Hour,
    Day,
    All,
}

/// Sums over grades and verdicts; means are corrected for sampling
#[derive(Debug, Serialize, ToSchema)]
struct Tallies {
    /// Sums of grades, by criterion and grader.
    grades: Vec<GradeSum>,
    /// Sums of verdicts.
    verdicts: Vec<VerdictSum>,
}

#[derive(Debug, Serialize, ToSchema)]
struct GradeSum {
    /// Id of the rubric version.
    rubric_version: String,
    /// Criterion of the rubric.
    criterion: String,
    /// Kind of grader: check, judge or human.
    #[schema(value_type = String)]
    grader_kind: GraderKind,
    /// Name of the check, judge or person.
    grader: String,
    /// Where the day or hour begins.
    time: Option<String>,
    /// Number of grades with a score.
    n_scored: u64,
    /// Number of grades whose criterion does not apply.
    n_not_applicable: u64,
    /// Number of grades in which the grader could not tell.
    n_abstained: u64,
    /// Number of grader errors. They are never scores.
    n_failed: u64,
    /// Number of grades that are still to come.
    n_deferred: u64,
    /// Mean score from 0 to 1; `null` if nothing was scored.
    mean: Option<f64>,
    /// Standard error of the mean; `null` for fewer than two scores.
    standard_error: Option<f64>,
    /// Share of scored grades that pass, from 0 to 1; `null` if nothing was scored.
    pass_rate: Option<f64>,
    /// Cost in US dollars.
    cost: f64,
}

#[derive(Debug, Serialize, ToSchema)]
struct VerdictSum {
    /// Id of the rubric version.
    rubric_version: String,
    /// Where the day or hour begins, in UTC; `null` if the sum is over all time.
    time: Option<String>,
    /// Number of verdicts pass.
    n_pass: u64,
    /// Number of verdicts fail.
    n_fail: u64,
    /// Number of candidates that could not be graded. They are never scores.
    n_error: u64,
    /// Number of verdicts that are still to come.
    n_deferred: u64,
    /// Mean score from 0 to 1; `null` if nothing was scored.
    mean: Option<f64>,
    /// Standard error of the mean; `null` for fewer than two scores.
    standard_error: Option<f64>,
    /// Share of pass among pass and fail, from 0 to 1; `null` if there are none.
    pass_rate: Option<f64>,
    /// Cost in US dollars.
    cost: f64,
}

/// A version that a query filters by; text that is no id is a bad request.
fn parse_version_filter(version: Option<&str>) -> Result<Option<RubricVersionId>, ApiError> {
    version.map(str::parse).transpose().map_err(ApiError::bad)
}

impl GradeListQuery {
    pub fn grades(&self) -> Result<GradeFilter, ApiError> {
        Ok(GradeFilter {
            candidate: self.candidate.clone(),
            rubric_version: parse_version_filter(self.rubric_version.as_deref())?,
            criterion: self.criterion.clone(),
            grader_kind: self.grader_kind,
            grader: self.grader.clone(),
            agent: self.agent.clone(),
            from: self.from,
            until: self.until,
            ..GradeFilter::default()
        })
    }

    pub fn verdicts(&self) -> Result<VerdictFilter, ApiError> {
        Ok(VerdictFilter {
            candidate: self.candidate.clone(),
            rubric_version: parse_version_filter(self.rubric_version.as_deref())?,
            agent: self.agent.clone(),
            status: self.status,
            from: self.from,
            until: self.until,
            ..VerdictFilter::default()
        })
    }
}

/// Grades, the newest first
#[utoipa::path(get, path = "/grades", tag = "grades", params(GradeListQuery, GradeDetailQuery), responses(
    (status = 200, body = GradeLines), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_grades(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<GradeListQuery>,
    Query(in_full): Query<GradeDetailQuery>,
) -> Result<Json<GradeLines>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let after = super::parse_page_cursor(which.after.as_deref())?;
    let limit = super::limit(which.limit)?;
    let (project, filter) = (caller.project, which.grades()?);
    let (mut items, next): (Vec<GradeLine>, _) = if in_full.full.unwrap_or(false) {
        let page = app.store.whole_grades(project, &filter, after.as_ref(), limit).await?;
        let whole = |(head, grade): (GradeHead, Option<Grade>)| GradeLine {
            said: grade.map(GradeDetails::from).unwrap_or_default(),
            ..GradeLine::from(head)
        };
        (page.items.into_iter().map(whole).collect(), page.next)
    } else {
        let page = app.store.grades(project, &filter, after.as_ref(), limit).await?;
        (page.items.into_iter().map(GradeLine::from).collect(), page.next)
    };
    let n_found = items.len();
    let candidates = items.iter().map(|grade_line| grade_line.candidate.as_str());
    let withheld = find_withheld_candidates(&app, &caller, candidates).await?;
    items.retain(|grade_line| grade_line.is_visible(&withheld));
    let n_withheld = n_found - items.len();
    Ok(Json(GradeLines { items, n_withheld, next: next.map(|cursor| cursor.to_string()) }))
}

/// Verdicts, the newest first
#[utoipa::path(get, path = "/verdicts", tag = "grades", params(GradeListQuery), responses(
    (status = 200, body = VerdictLines), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_verdicts(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<GradeListQuery>,
) -> Result<Json<VerdictLines>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let after = super::parse_page_cursor(which.after.as_deref())?;
    let limit = super::limit(which.limit)?;
    let page = app.store.verdicts(caller.project, &which.verdicts()?, after.as_ref(), limit).await?;
    let n_found = page.items.len();
    let candidates = page.items.iter().map(|stored_verdict| stored_verdict.candidate.as_str());
    let withheld = find_withheld_candidates(&app, &caller, candidates).await?;
    let items = page
        .items
        .into_iter()
        .map(VerdictLine::from)
        .filter(|verdict_line| verdict_line.is_visible(&withheld));
    let items: Vec<VerdictLine> = items.collect();
    let n_withheld = n_found - items.len();
    Ok(Json(VerdictLines { items, n_withheld, next: page.next.map(|cursor| cursor.to_string()) }))
}

/// Statistics by rubric, criterion and grader, optionally over time
#[utoipa::path(get, path = "/tallies", tag = "grades", params(TallyQuery), responses(
    (status = 200, body = Tallies), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn list_tallies(
    State(app): State<App>,
    caller: Principal,
    Query(which): Query<TallyQuery>,
) -> Result<Json<Tallies>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let by = match which.by.unwrap_or(TallyBucket::All) {
        TallyBucket::Hour => TallyPeriod::Hour,
        TallyBucket::Day => TallyPeriod::Day,
        TallyBucket::All => TallyPeriod::All,
    };
    let filter = TallyFilter {
        rubric_version: parse_version_filter(which.rubric_version.as_deref())?,
        criterion: which.criterion,
        grader: which.grader,
        agent: which.agent,
        from: which.from,
        until: which.until,
    };
    let grades = app.store.grade_tallies(caller.project, by, &filter).await?;
    let verdicts = app.store.verdict_tallies(caller.project, by, &filter).await?;
    Ok(Json(Tallies {
        grades: grades.into_iter().map(GradeSum::from).collect(),
        verdicts: verdicts.into_iter().map(VerdictSum::from).collect(),
    }))
}

impl GradeLine {
    /// Whether a grade is visible: checks always, judges and people only if the viewer has answered the item.
    pub fn is_visible(&self, withheld: &BTreeSet<String>) -> bool {
        self.grader_kind == GraderKind::Check || !withheld.contains(&self.candidate)
    }
}

impl VerdictLine {
    pub fn is_visible(&self, withheld: &BTreeSet<String>) -> bool {
        !withheld.contains(&self.candidate)
    }
}

fn cost_in_dollars(cost: jurist_core::grade::Usd) -> f64 {
    cost.nanos() as f64 / 1e9
}

impl From<GradeHead> for GradeLine {
    fn from(it: GradeHead) -> Self {
        Self {
            id: it.id.to_string(),
            candidate: it.candidate,
            rubric_version: it.rubric_version.to_string(),
            criterion: it.criterion,
            grader_kind: it.grader_kind,
            grader: it.grader,
            agent: it.agent,
            outcome: it.outcome.as_str().to_owned(),
            score: it.unit,
            is_passed: it.is_passed,
            probability: it.probability.get(),
            cost: it.cost.map(cost_in_dollars),
            time: it.time.to_string(),
            said: GradeDetails::default(),
        }
    }
}

impl From<Grade> for GradeDetails {
    fn from(it: Grade) -> Self {
        let (mut value, mut error, mut why) = (None, None, None);
        match it.outcome {
            Outcome::Scored { value: scored, .. } => value = Some(scored),
            Outcome::NotApplicable => {}
            Outcome::Abstained { why: reason } => why = Some(reason),
            Outcome::Failed { failure, detail } => error = Some(GradeError { failure, detail }),
            Outcome::Deferred { why: reason } => {
                why = serde_json::to_value(reason).ok().and_then(|value| value.as_str().map(str::to_owned));
            }
        }
        Self {
            value,
            reason: it.reason.as_str().to_owned(),
            evidence: it.evidence.into_iter().map(GradeEvidence::from).collect(),
            points: it.points.into_iter().map(GradePoint::from).collect(),
            flags: it.flags,
            error,
            why,
        }
    }
}

impl From<grade::Evidence> for GradeEvidence {
    fn from(it: grade::Evidence) -> Self {
        let place = |location: grade::QuoteLocation| EvidencePlace {
            part: location.part,
            start: location.start,
            end: location.end,
        };
        Self { quote: it.quote, found: it.found.map(place) }
    }
}

impl From<grade::GradedPoint> for GradePoint {
    fn from(it: grade::GradedPoint) -> Self {
        let evidence = it.evidence.into_iter().map(GradeEvidence::from).collect();
        Self { text: it.text, holds: it.holds, evidence }
    }
}

impl From<StoredVerdict> for VerdictLine {
    fn from(it: StoredVerdict) -> Self {
        Self {
            id: it.id.to_string(),
            candidate: it.candidate,
            rubric_version: it.rubric_version.to_string(),
            monitor: it.monitor.map(|monitor| monitor.to_string()),
            agent: it.agent,
            status: it.verdict.status,
            score: it.verdict.score,
            probability: it.probability.get(),
            cost: it.cost.map(cost_in_dollars),
            time: it.time.to_string(),
            failed_gates: it.verdict.failed_gates.into_iter().map(VerdictGate::from).collect(),
            undecided_gates: it.verdict.undecided_gates.into_iter().map(UndecidedVerdictGate::from).collect(),
        }
    }
}

impl From<grade::FailedGate> for VerdictGate {
    fn from(it: grade::FailedGate) -> Self {
        Self { gate: it.gate, criterion: it.criterion }
    }
}

impl From<grade::UndecidedGate> for UndecidedVerdictGate {
    fn from(it: grade::UndecidedGate) -> Self {
        Self { gate: it.gate, criterion: it.criterion, reason: it.reason }
    }
}

impl From<GradeTally> for GradeSum {
    fn from(it: GradeTally) -> Self {
        Self {
            mean: it.units.weighted_mean(),
            standard_error: it.units.weighted_error(),
            pass_rate: it.pass_rate(),
            rubric_version: it.rubric_version.to_string(),
            criterion: it.criterion,
            grader_kind: it.grader_kind,
            grader: it.grader,
            time: it.time.map(|time| time.to_string()),
            n_scored: it.n_scored,
            n_not_applicable: it.n_not_applicable,
            n_abstained: it.n_abstained,
            n_failed: it.n_failed,
            n_deferred: it.n_deferred,
            cost: cost_in_dollars(it.cost),
        }
    }
}

impl From<VerdictTally> for VerdictSum {
    fn from(it: VerdictTally) -> Self {
        Self {
            mean: it.scores.weighted_mean(),
            standard_error: it.scores.weighted_error(),
            pass_rate: it.weighted_pass_rate(),
            rubric_version: it.rubric_version.to_string(),
            time: it.time.map(|time| time.to_string()),
            n_pass: it.n_pass,
            n_fail: it.n_fail,
            n_error: it.n_error,
            n_deferred: it.n_deferred,
            cost: cost_in_dollars(it.cost),
        }
    }
}
