//! Judges one trace for a monitor. A cached judgement of an identical trace costs nothing, a judge error is never a
//! score, and a rejected API key pauses the monitor.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jurist_core::candidate::{Candidate, JudgeInput};
use jurist_core::grade::{Deferral, Failure, Grade, Outcome, Spend, Time, Usd, Verdict, VerdictStatus};
use jurist_core::plan::TraceStratum;
use jurist_core::rubric::{Criterion, CriterionKind, EvidenceMissing, Polarity, Rubric};
use jurist_core::score::{Combine, combine_panel};
use jurist_core::suite::{Aggregate, Calls, Judge, Monitor, TieBreak};
use jurist_engine::call::unknown_price_error;
use jurist_engine::embed::Embedders;
use jurist_engine::execute::GradingContext;
pub use jurist_engine::judge::ResolvedJudges;
use jurist_engine::judge::{JudgeCase, JudgeExchange};
use jurist_engine::model::resolve::Resolver;
use jurist_store::decisions::{
    DecisionChange, DecisionEvent, DecisionOutcome, DecisionState, MonitorDecision, TraceRevision,
};
use jurist_store::grades::{NewGrade, NewVerdict};
use jurist_store::jobs::{Job, NewJob};
use jurist_store::scores::{Score, ScoreContext};
use jurist_store::{
    MonitorId, MonitorVersionId, Probability, ProjectId, RescoreId, StoreError, TraceId, clock,
};
use serde::{Deserialize, Serialize};

use super::emit::Emit;
use super::shared_budget::open_monitor_budget;
use super::worker::{JobEnd, JobError, StopSignal, later, retry_while_transient};
use super::worker_context::Flight;
use super::{Work, WorkRefusal, WorkerContext};
use crate::monitor::{FOR_FAILURES, LoadedMonitorVersion, PANEL, compute_sampling_pace, pause_monitor};

/// Kind of these jobs.
pub const KIND: &str = "monitor";

/// Attempts of a job after errors other than judge errors.
const ATTEMPTS: u32 = 5;

/// Payload of the job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MonitorTask {
    pub monitor: MonitorId,
    /// The monitor version under which the trace is judged.
    pub version: MonitorVersionId,
    pub trace: TraceId,
    /// Revision of the trace when the job was added; another revision is another job.
    #[serde(default)]
    pub revision: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescore: Option<RescoreId>,
}

impl MonitorTask {
    /// A job for a new or changed trace.
    pub fn live(monitor: MonitorId, version: MonitorVersionId, trace: TraceId, revision: u64) -> Self {
        Self { monitor, version, trace, revision, rescore: None }
    }

    pub fn again(decision: &MonitorDecision) -> Self {
        Self::live(decision.monitor, decision.version, decision.trace.clone(), decision.revision)
    }

    /// Prefix of the keys of a monitor's jobs.
    pub fn prefix(monitor: MonitorId) -> String {
        format!("{monitor}/")
    }

    /// Prefix of the keys of jobs for new and changed traces.
    pub fn live_prefix(monitor: MonitorId) -> String {
        format!("{}/", Self::prefix(monitor))
    }

    /// Prefix of the keys of a re-scoring's jobs.
    pub fn prefix_of(monitor: MonitorId, rescore: RescoreId) -> String {
        format!("{}{rescore}/", Self::prefix(monitor))
    }

    pub fn job(self, project: ProjectId, now: Time) -> NewJob {
        let prefix = match self.rescore {
            Some(rescore) => Self::prefix_of(self.monitor, rescore),
            None => Self::live_prefix(self.monitor),
        };
        NewJob {
            project: Some(project),
            kind: KIND.to_owned(),
            dedupe: Some(format!("{prefix}{}@{}", self.trace, self.revision)),
            payload: serde_json::to_value(self).expect("it is plain data"),
            priority: 0,
            ready: now,
            max_attempts: ATTEMPTS,
        }
    }
}

/// A monitor version with its prepared judges; each judge is asked separately.
#[derive(Debug)]
pub struct PreparedMonitor {
    pub watched: LoadedMonitorVersion,
    pub benches: Vec<ResolvedJudges>,
}

impl PreparedMonitor {
    pub fn new(watched: LoadedMonitorVersion, work: &Work) -> Result<Self, WorkRefusal> {
        let benches = build_monitor_judges(&watched.monitor, work)?;
        Ok(Self { watched, benches })
    }

    /// The judge's name; for a panel, all names joined.
    fn judge(&self) -> String {
        let names: Vec<&str> = self.benches.iter().map(judge_name).collect();
        names.join(PANEL)
    }
}

fn judge_name(bench: &ResolvedJudges) -> &str {
    &bench.members[0].line.name
}

/// Resolves the judges of a monitor with this machine's settings.
pub fn build_monitor_judges(monitor: &Monitor, work: &Work) -> Result<Vec<ResolvedJudges>, WorkRefusal> {
    if let Some(program) = monitor.judges.iter().find(|judge| judge.starts_with("command:"))
        && !work.allow_commands
    {
        return Err(WorkRefusal::NotAllowed(format!("`{program}` is a program as judge")));
    }
    if let Some(it) = monitor.rubric.external_checks().next() {
        let why = format!(
            "`{}` is decided by {}, and a monitor runs no programs",
            it.criterion.id,
            it.check.describe()
        );
        return Err(WorkRefusal::Wrong(why));
    }
    if let Some(it) = monitor.rubric.max_scores().next() {
        let why = format!(
            "`{}` compares the outputs of one case, and a monitor looks at one trace",
            it.criterion.id
        );
        return Err(WorkRefusal::Wrong(why));
    }
    if let Some(model) = monitor.rubric.embedding_models().find(|model| model.base_url.is_some()) {
        let why = format!(
            "the embedding model `{}` has a `base_url`, and a monitor uses the addresses of the server's settings",
            model.name
        );
        return Err(WorkRefusal::Wrong(why));
    }
    let environment = work.environment.clone();
    let resolver = Arc::new(Resolver::new(work.settings.clone(), move |name| environment.get(name))?);
    let embedders = Arc::new(Embedders::by_name(Arc::clone(&resolver)));
    let names: Vec<Option<String>> = match monitor.judges.as_slice() {
        [] => vec![None],
        several => several.iter().cloned().map(Some).collect(),
    };
    let bench = |model: Option<String>| {
        let judge = Judge { model, calls: Some(Calls::PerRubric), ..Judge::default() };
        let mut judge = judge.or(&Judge { panel: Vec::new(), jury: None, ..work.settings.judge.clone() });
        judge.timeout = judge.timeout.or(Some(TIMEOUT));
        let mut bench = ResolvedJudges::new(&resolver, &judge, &BTreeMap::new(), 0, &embedders)?;
        bench.transcript = true;
        Ok(bench)
    };
    names.into_iter().map(bench).collect()
}

/// Judges one trace.
pub async fn run_monitor_job(
    shop: &WorkerContext,
    job: &Job,
    stop: &mut StopSignal,
) -> Result<JobEnd, JobError> {
    let task: MonitorTask = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
    let project = job.project.ok_or_else(|| JobError::hopeless("a monitor belongs to a project"))?;
    let monitor = shop.store.monitor(project, task.monitor).await?;
    if monitor.removed.is_some() {
        return Ok(JobEnd::Finished);
    }
    let decision = shop.store.decision(project, &task.trace, task.monitor).await?;
    // A failed trace waits for budget, and its decision stays open.
    let waits_for_money =
        decision.state == DecisionState::OverBudget && decision.stratum == TraceStratum::Failed;
    if task.rescore.is_none() && !decision.state.is_open() && !waits_for_money {
        // Another worker stored its result first.
        return Ok(JobEnd::Finished);
    }
    let at_work = MonitorJobContext { shop, job, project, task: &task, decision: &decision };
    if let Some(why) = &monitor.paused {
        return at_work.wait_for_resume(why).await;
    }
    let seated = match shop.load_prepared_monitor(project, task.version).await {
        Ok(seated) => seated,
        Err(JobError::Hopeless(why)) => return at_work.pause_and_wait(&why).await,
        Err(trouble) => return Err(trouble),
    };
    let funding = shop.load_funding_version(project, &monitor, &seated).await?;
    if task.rescore.is_none() && decision.stratum != TraceStratum::Failed {
        // The job may have waited for hours, so the budget is checked again.
        let rates = &shop.work.settings.rates;
        if compute_sampling_pace(&shop.store, project, &funding.watched, rates, clock::current_time())
            .await?
            .is_for_failures
        {
            return at_work.close(DecisionState::OverBudget, FOR_FAILURES).await;
        }
    }
    let Some(trace) = shop.store.trace_content(project, &task.trace).await? else {
        return at_work.close(DecisionState::Overloaded, "the trace was erased while it waited").await;
    };
    if !trace.has_content() {
        return at_work.close(DecisionState::NothingToJudge, NOTHING_TO_JUDGE).await;
    }
    if task.rescore.is_none() && matches!(decision.state, DecisionState::Sampled | DecisionState::Stale) {
        match at_work.change_state(DecisionState::Pending, "a worker has it").await? {
            DecisionChange::Done => {}
            DecisionChange::Moved => return Ok(retry_changed_trace()),
            DecisionChange::Closed => return Ok(JobEnd::Finished),
        }
    }
    let material = JudgeInput::new(&Candidate::default(), Some(trace));
    tokio::select! {
        biased;
        done = at_work.judge(&seated, &funding.watched, &material) => done,
        () = stop.now() => Ok(JobEnd::Stopped),
    }
}

/// One trace of one monitor.
struct MonitorJobContext<'a> {
    shop: &'a WorkerContext,
    job: &'a Job,
    project: ProjectId,
    task: &'a MonitorTask,
    decision: &'a MonitorDecision,
}

/// A judge's opinion as it is cached for identical traces.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredOpinion {
    verdict: Verdict,
    grades: Vec<Grade>,
}

/// The result of one judge.
struct JudgeResult {
    judge: String,
    opinion: StoredOpinion,
    exchanges: Vec<JudgeExchange>,
    /// Whether the opinion comes from the cache.
    is_cached: bool,
}

impl MonitorJobContext<'_> {
    /// Judges under one version of the monitor, within the budget of the newest version.
    async fn judge(
        &self,
        seated: &PreparedMonitor,
        funding: &LoadedMonitorVersion,
        material: &JudgeInput,
    ) -> Result<JobEnd, JobError> {
        let keys: Vec<String> = seated
            .benches
            .iter()
            .map(|resolved_judges| self.key(seated, resolved_judges, material))
            .collect();
        let mut known = Vec::new();
        for key in &keys {
            known.push(self.find_cached_opinion(key).await?);
        }
        let mut asked = seated
            .benches
            .iter()
            .zip(&known)
            .filter(|bench| bench.1.is_none())
            .map(|bench| &bench.0.members[0].line);
        if let Some(line) = asked.find(|model_endpoint| model_endpoint.price.is_none())
            && (funding.monitor.budget.is_some()
                || self.shop.store.month_spend(self.project, clock::current_time()).await?.cap.is_some())
        {
            return self.pause_and_wait(&unknown_price_error(&line.name).detail).await;
        }
        let shared = self.shop.call_context(open_monitor_budget(self.shop, self.project, funding, self.job));
        let rubric = &seated.watched.monitor.rubric;
        let each = seated.benches.iter().zip(&keys).zip(known).map(|((bench, key), known)| {
            let shared = &shared;
            async move {
                match known {
                    Some(opinion) => Ok(self.reuse_opinion(bench, opinion)),
                    None => self.ask_judge_once(key, bench, shared, rubric, material).await,
                }
            }
        });
        let heard: Vec<JudgeResult> = join_all(each).await.into_iter().collect::<Result<_, JobError>>()?;
        self.settle_decision(seated, heard).await
    }

    /// Asks a judge. If another job of this process asks the same question at the moment, it waits for that answer.
    async fn ask_judge_once(
        &self,
        key: &str,
        bench: &ResolvedJudges,
        shared: &GradingContext,
        rubric: &Rubric,
        material: &JudgeInput,
    ) -> Result<JudgeResult, JobError> {
        let _first = match self.shop.join_flight(&format!("{}/{key}", self.project)) {
            Flight::First(turn) => Some(turn),
            Flight::Later(first) => {
                drop(first.lock().await);
                None
            }
        };
        // The first asker looks too, because another process may have answered in the meantime.
        if let Some(opinion) = self.find_cached_opinion(key).await? {
            return Ok(self.reuse_opinion(bench, opinion));
        }
        let heard = self.ask_judge(bench, shared, rubric, material).await?;
        if matches!(heard.opinion.verdict.status, VerdictStatus::Pass | VerdictStatus::Fail) {
            let kept = serde_json::to_vec(&heard.opinion).expect("an opinion is plain data");
            retry_while_transient(|| self.shop.store.cache(self.project, key, &kept, clock::current_time()))
                .await?;
        }
        Ok(heard)
    }

    /// Stores the judges' results as the decision on the trace.
    async fn settle_decision(
        &self,
        seated: &PreparedMonitor,
        heard: Vec<JudgeResult>,
    ) -> Result<JobEnd, JobError> {
        for it in &heard {
            for failure in it.opinion.grades.iter().filter_map(failure) {
                self.shop.metrics.judge_failed(&it.judge, failure.0);
            }
        }
        if let Some(why) =
            heard.iter().flat_map(|judge_result| &judge_result.opinion.grades).find_map(judge_lockout_reason)
        {
            return self.pause_and_wait(&why).await;
        }
        let rubric = &seated.watched.monitor.rubric;
        let verdicts: Vec<Verdict> =
            heard.iter().map(|judge_result| judge_result.opinion.verdict.clone()).collect();
        let verdict = combine_members(&verdicts, rubric.pass_mark);
        let state = match verdict.status {
            VerdictStatus::Pass | VerdictStatus::Fail
                if heard.iter().all(|judge_result| judge_result.is_cached) =>
            {
                DecisionState::Cached
            }
            VerdictStatus::Pass | VerdictStatus::Fail => DecisionState::Scored,
            VerdictStatus::Error => DecisionState::JudgeError,
            VerdictStatus::Deferred => DecisionState::OverBudget,
        };
        if state == DecisionState::OverBudget && self.task.rescore.is_some() {
            return Ok(postpone_until_funded());
        }
        let note = decision_note(state, &heard);
        if state == DecisionState::OverBudget && self.decision.stratum == TraceStratum::Failed {
            // Failed traces are the most important ones, so they are judged as soon as there is budget.
            if self.decision.state != DecisionState::OverBudget
                && self.change_state(state, &note).await? == DecisionChange::Moved
            {
                return Ok(retry_changed_trace());
            }
            return Ok(postpone_until_funded());
        }
        let (scores, spread) = collect_judge_scores(seated, rubric, &heard, &verdict);
        let margin = seated.watched.monitor.margin();
        let is_disputed = spread.is_some_and(|spread| margin < spread);
        self.record(seated, &heard, verdict).await?;
        let outcome = DecisionOutcome { state, note: &note, spread, is_disputed };
        let outcome = Some(outcome).filter(|_| self.task.rescore.is_none());
        let (scored, now) = (self.load_score_origin(seated).await?, clock::current_time());
        let change = retry_while_transient(|| {
            self.shop.store.put_scores(self.project, &scored, &scores, outcome.as_ref(), now)
        })
        .await?;
        match change {
            DecisionChange::Done => self.shop.metrics.count_decision(state),
            DecisionChange::Moved => return Ok(retry_changed_trace()),
            DecisionChange::Closed => {}
        }
        Ok(JobEnd::Finished)
    }

    async fn record(
        &self,
        seated: &PreparedMonitor,
        heard: &[JudgeResult],
        verdict: Verdict,
    ) -> Result<(), JobError> {
        let (project, now, store) = (self.project, clock::current_time(), &self.shop.store);
        let rubric = &seated.watched.monitor.rubric;
        let rubric_version = seated.watched.rubric_version.clone();
        let probability = self.load_score_origin(seated).await?.probability;
        // Each event so far (an error, or a result about an earlier revision) counts as an attempt of its own.
        let events = store.decision_events(project, &self.task.trace, self.task.monitor).await?;
        let is_past =
            |event: &&DecisionEvent| matches!(event.state, DecisionState::JudgeError | DecisionState::Stale);
        let n_past = events.iter().filter(is_past).count();
        let attempt = u32::try_from(n_past).unwrap_or(0) + 1;
        let agent = self.decision.agent.clone();
        let grade = |grade: &Grade| NewGrade {
            grade: grade.clone(),
            rubric_version: rubric_version.clone(),
            attempt,
            agent: agent.clone(),
            is_passed: find_criterion(rubric, &grade.criterion)
                .and_then(|criterion| is_met(rubric, &criterion, grade.outcome.unit()?)),
            probability,
            time: now,
        };
        let grades: Vec<NewGrade> =
            heard.iter().flat_map(|judge_result| &judge_result.opinion.grades).map(grade).collect();
        let cost = grades.iter().map(|grade| grade.grade.spend).fold(Spend::default(), Spend::plus).cost;
        let verdict = NewVerdict {
            candidate: self.task.trace.to_string(),
            rubric_version: rubric_version.clone(),
            monitor: Some(self.task.monitor),
            attempt,
            agent,
            probability,
            cost,
            time: now,
            verdict,
        };
        let verdicts = [verdict];
        retry_while_transient(|| store.record(project, &grades, &verdicts)).await?;
        if self.shop.work.emit.is_some() {
            let (trace, monitor) = (self.task.trace.clone(), self.task.monitor);
            let emit = Emit::Trace { trace, monitor, rubric_version: rubric_version.clone(), attempt };
            let job = emit.job(project, now);
            retry_while_transient(|| store.add_job(&job, now)).await?;
        }
        let exchanges: Vec<serde_json::Value> = heard
            .iter()
            .flat_map(|judge_result| &judge_result.exchanges)
            .map(|judge_exchange| serde_json::to_value(judge_exchange).expect("an exchange is plain data"))
            .collect();
        if !exchanges.is_empty() && self.shop.work.store_exchanges {
            let (owner, part) = (self.task.trace.to_string(), rubric_version.to_string());
            retry_while_transient(|| store.put_exchanges(project, &owner, &part, &exchanges, now)).await?;
        }
        Ok(())
    }

    async fn load_score_origin(&self, seated: &PreparedMonitor) -> Result<ScoreContext, StoreError> {
        let share = match self.task.rescore {
            Some(id) => self.shop.store.rescore(self.project, id).await?.share.get(),
            None => 1.0,
        };
        let decision = self.decision;
        let probability = decision.probability.get() * decision.upstream.get() * share;
        Ok(ScoreContext {
            monitor: self.task.monitor,
            trace: self.task.trace.clone(),
            revision: decision.revision,
            version: seated.watched.id,
            rubric_version: seated.watched.rubric_version.clone(),
            rescore: self.task.rescore,
            stratum: decision.stratum,
            agent: decision.agent.clone(),
            probability: Probability::new(probability).unwrap_or_default(),
            decided: decision.decided,
        })
    }

    /// Cache key of a judgement: task, context and output, rubric version and judge.
    fn key(&self, seated: &PreparedMonitor, bench: &ResolvedJudges, material: &JudgeInput) -> String {
        let member = &bench.members[0];
        let mut hasher = blake3::Hasher::new();
        let parts = [
            seated.watched.rubric_version.to_string(),
            member.line.name.clone(),
            member.line.address.clone(),
            format!("{:?} {}", member.temperature, member.max_tokens),
            material.fingerprint(),
            // Judges see only a part of the input, but checks see all of it.
            if has_checks(&seated.watched.monitor.rubric) {
                material.whole_fingerprint()
            } else {
                String::new()
            },
        ];
        for part in &parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        format!("monitor/{}", hasher.finalize().to_hex())
    }

    async fn find_cached_opinion(&self, key: &str) -> Result<Option<StoredOpinion>, JobError> {
        let kept =
            retry_while_transient(|| self.shop.store.cached_reply(self.project, key, clock::current_time()))
                .await?;
        // A cached opinion that this version cannot parse counts as a miss.
        Ok(kept.and_then(|kept| serde_json::from_slice(&kept).ok()))
    }

    fn reuse_opinion(&self, bench: &ResolvedJudges, mut opinion: StoredOpinion) -> JudgeResult {
        for grade in &mut opinion.grades {
            grade.candidate = self.task.trace.to_string();
            grade.spend = Spend { cost: Some(Usd::default()), from_cache: true, ..Spend::default() };
            grade.attempts.clear();
        }
        JudgeResult { judge: judge_name(bench).to_owned(), opinion, exchanges: Vec::new(), is_cached: true }
    }

    async fn ask_judge(
        &self,
        bench: &ResolvedJudges,
        shared: &GradingContext,
        rubric: &Rubric,
        material: &JudgeInput,
    ) -> Result<JudgeResult, JobError> {
        let candidate = self.task.trace.as_str();
        // No person reviews each trace, so an answer without evidence is an error and not a low score.
        let rubric = &rubric.with_evidence_missing(EvidenceMissing::Error);
        let case = JudgeCase { candidate, material, row: None, rubric, labels: None, contests: None };
        let mut decision = bench.decide(&shared.caller, case).await.map_err(JobError::hopeless)?;
        let said = decision.opinions.swap_remove(0);
        let clean = |mut value: serde_json::Value| {
            shared.redactor.json(&mut value);
            value
        };
        let opinion = StoredOpinion { verdict: said.verdict, grades: said.grades };
        let opinion = clean(serde_json::to_value(opinion).expect("an opinion is plain data"));
        let opinion = serde_json::from_value(opinion).expect("only texts were changed");
        let exchanges = said.exchanges.iter().map(|judge_exchange| {
            let exchange = clean(serde_json::to_value(judge_exchange).expect("an exchange is plain data"));
            serde_json::from_value(exchange).expect("only texts were changed")
        });
        Ok(JudgeResult { judge: said.judge, opinion, exchanges: exchanges.collect(), is_cached: false })
    }

    async fn change_state(&self, state: DecisionState, note: &str) -> Result<DecisionChange, JobError> {
        if self.task.rescore.is_some() {
            return Ok(DecisionChange::Done);
        }
        let (store, monitor) = (&self.shop.store, self.task.monitor);
        let of = TraceRevision { trace: self.task.trace.clone(), revision: self.decision.revision };
        let outcome = DecisionOutcome { state, note, spread: None, is_disputed: false };
        let change = retry_while_transient(|| {
            store.set_decision(self.project, &of, monitor, &outcome, clock::current_time())
        })
        .await?;
        if change == DecisionChange::Done {
            self.shop.metrics.count_decision(state);
        }
        Ok(change)
    }

    /// Ends the job without a score.
    async fn close(&self, state: DecisionState, note: &str) -> Result<JobEnd, JobError> {
        match self.change_state(state, note).await? {
            DecisionChange::Moved => Ok(retry_changed_trace()),
            DecisionChange::Done | DecisionChange::Closed => Ok(JobEnd::Finished),
        }
    }

    /// Pauses the monitor until a person resumes it; this trace waits with the others.
    async fn pause_and_wait(&self, why: &str) -> Result<JobEnd, JobError> {
        tracing::warn!(monitor = %self.task.monitor, why, "a monitor is paused");
        retry_while_transient(|| pause_monitor(&self.shop.store, self.project, self.task.monitor, why))
            .await?;
        // A person who resumes the monitor has fixed the key, so vendors are unblocked.
        self.shop.unblock_vendors();
        self.wait_for_resume(why).await
    }

    async fn wait_for_resume(&self, why: &str) -> Result<JobEnd, JobError> {
        if self.task.rescore.is_some() {
            return Ok(postpone_while_paused());
        }
        if matches!(self.decision.state, DecisionState::Sampled | DecisionState::Stale) {
            self.change_state(DecisionState::Pending, &format!("the monitor is paused: {why}")).await?;
        }
        Ok(JobEnd::Finished)
    }
}

/// Seconds for one call of a monitor's judge by default. A call that times out is made once more, so a trace whose
/// judge hangs is pending for two minutes and a little.
const TIMEOUT: f64 = 60.0;

/// Why a trace is not judged.
pub const NOTHING_TO_JUDGE: &str = "the trace holds no task, message, tool call or file";

/// Why work is put off.
pub const PAUSED: &str = "the monitor is paused";
pub const NO_MONEY: &str = "the monthly budget is used up";

/// Postpones a job while its monitor is paused; there is no limit of retries.
pub(super) fn postpone_while_paused() -> JobEnd {
    JobEnd::Later(later(clock::current_time(), Duration::from_secs(60)), PAUSED)
}

/// The result is about an earlier revision of the trace, so the trace is judged again.
fn retry_changed_trace() -> JobEnd {
    JobEnd::Later(clock::current_time(), "the trace changed while it was judged")
}

/// Postpones a job until there is budget.
pub(super) fn postpone_until_funded() -> JobEnd {
    JobEnd::Later(later(clock::current_time(), Duration::from_secs(3600)), NO_MONEY)
}

fn failure(grade: &Grade) -> Option<(Failure, &str)> {
    match &grade.outcome {
        Outcome::Failed { failure, detail } => Some((*failure, detail)),
        _ => None,
    }
}

/// The reason why a judge cannot be called at all: its key is rejected, missing or without credit.
fn judge_lockout_reason(grade: &Grade) -> Option<String> {
    match &grade.outcome {
        Outcome::Failed { failure: Failure::Auth, detail } => Some(detail.clone()),
        Outcome::Deferred { why: Deferral::NoKey } => Some(match grade.reason.as_str() {
            "" => "the judge has no API key".to_owned(),
            why => why.to_owned(),
        }),
        _ => None,
    }
}

fn decision_note(state: DecisionState, heard: &[JudgeResult]) -> String {
    let broke = || {
        heard.iter().find_map(|judge_result| {
            Some((&judge_result.judge, judge_result.opinion.grades.iter().find_map(failure)?))
        })
    };
    match state {
        DecisionState::Cached => "the same was judged before".to_owned(),
        DecisionState::JudgeError => match broke() {
            Some((judge, (failure, detail))) if 1 < heard.len() => {
                format!("{judge}: {}: {detail}", failure_name(failure))
            }
            Some((_, (failure, detail))) => format!("{}: {detail}", failure_name(failure)),
            None => {
                let mut undecided = heard.iter().flat_map(|heard| &heard.opinion.verdict.undecided_gates);
                undecided.next().map_or_else(|| "the judge gave no answer".to_owned(), ToString::to_string)
            }
        },
        DecisionState::OverBudget => {
            let mut reasons = heard
                .iter()
                .flat_map(|judge_result| &judge_result.opinion.grades)
                .map(|grade| grade.reason.as_str());
            let told = reasons.find(|reason| !reason.is_empty());
            told.unwrap_or("the budget was used up").to_owned()
        }
        _ => {
            let judges: Vec<&str> = heard.iter().map(|judge_result| judge_result.judge.as_str()).collect();
            format!("judged by {}", judges.join(PANEL))
        }
    }
}

fn has_checks(rubric: &Rubric) -> bool {
    rubric.questions().any(|question| matches!(question.criterion.ask, CriterionKind::Check(_)))
}

/// Name of a failure in grades and metrics.
pub fn failure_name(failure: Failure) -> String {
    serde_json::to_value(failure).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

/// Averages the members of a panel. A panel has a score only if every member answered: a mean of the others would
/// depend on which member failed, and readers could not distinguish it from the mean of the full panel.
fn combine_members(verdicts: &[Verdict], pass_mark: f64) -> Verdict {
    if let [only] = verdicts {
        return only.clone();
    }
    let with_status = |status: VerdictStatus| verdicts.iter().find(|verdict| verdict.status == status);
    if let Some(missing) = with_status(VerdictStatus::Error).or_else(|| with_status(VerdictStatus::Deferred))
    {
        return Verdict { score: None, native: None, ..missing.clone() };
    }
    let combine = Combine::Panel { aggregate: Aggregate::Mean, tie_break: TieBreak::Fail };
    let panel = combine_panel(verdicts, combine, pass_mark);
    // Gates and decision path are taken from the first member.
    let first = verdicts.first().cloned().expect("a monitor has a judge");
    let undecided_gates = panel.undecided_gates;
    Verdict { status: panel.status, score: panel.score, native: None, undecided_gates, ..first }
}

/// Answers of a panel's members to one criterion.
#[derive(Default)]
struct PanelUnits {
    units: Vec<f64>,
    n_failed: usize,
}

impl PanelUnits {
    /// The panel's score: the mean if all members have one, `Some(None)` (an error) if one failed.
    /// `None` if a member abstained or was not asked: that is neither a score nor an error.
    fn panel_unit(&self, n_members: usize) -> Option<Option<f64>> {
        if 0 < self.n_failed {
            return Some(None);
        }
        (self.units.len() == n_members).then(|| Some(self.units.iter().sum::<f64>() / n_members as f64))
    }

    fn spread(&self) -> Option<f64> {
        let highest = self.units.iter().copied().max_by(f64::total_cmp)?;
        let lowest = self.units.iter().copied().min_by(f64::total_cmp)?;
        (1 < self.units.len()).then_some(highest - lowest)
    }
}

/// The scores of each judge and of the panel, and the largest difference between judges.
fn collect_judge_scores(
    seated: &PreparedMonitor,
    rubric: &Rubric,
    heard: &[JudgeResult],
    verdict: &Verdict,
) -> (Vec<Score>, Option<f64>) {
    let score = |judge: &str, name: &str, unit: Option<f64>| {
        let is_passed = find_criterion(rubric, name)
            .zip(unit)
            .and_then(|(criterion, unit)| is_met(rubric, &criterion, unit));
        Score { judge: judge.to_owned(), criterion: name.to_owned(), unit, is_passed }
    };
    let mut all = Vec::new();
    for it in heard {
        all.extend(overall_score(&it.judge, &it.opinion.verdict));
        for grade in &it.opinion.grades {
            let unit = grade.outcome.unit();
            let is_broken = matches!(grade.outcome, Outcome::Failed { .. });
            // An abstention, or a question that was not to be asked, is neither a score nor an error.
            if unit.is_some() || is_broken {
                all.push(score(&it.judge, &grade.criterion, unit));
            }
        }
    }
    if heard.len() < 2 {
        return (all, None);
    }
    let mut by_criterion: BTreeMap<String, PanelUnits> = BTreeMap::new();
    for member in &all {
        let answers = by_criterion.entry(member.criterion.clone()).or_default();
        answers.units.extend(member.unit);
        answers.n_failed += usize::from(member.unit.is_none());
    }
    let spread = by_criterion.values().filter_map(PanelUnits::spread).max_by(f64::total_cmp);
    let judge = seated.judge();
    all.extend(overall_score(&judge, verdict));
    for (name, answers) in by_criterion.iter().filter(|(name, _)| !name.is_empty()) {
        if let Some(unit) = answers.panel_unit(heard.len()) {
            all.push(score(&judge, name, unit));
        }
    }
    (all, spread)
}

fn overall_score(judge: &str, verdict: &Verdict) -> Option<Score> {
    let is_passed = match verdict.status {
        VerdictStatus::Pass => Some(true),
        VerdictStatus::Fail => Some(false),
        VerdictStatus::Error => None,
        VerdictStatus::Deferred => return None,
    };
    // A pass because no criterion applied has no score and is not counted.
    let is_told = verdict.score.is_some() || verdict.status == VerdictStatus::Error;
    is_told.then(|| Score {
        judge: judge.to_owned(),
        criterion: String::new(),
        unit: verdict.score,
        is_passed,
    })
}

pub fn find_criterion(rubric: &Rubric, id: &str) -> Option<Criterion> {
    rubric.questions().find(|question| question.id() == id).map(|question| question.criterion.clone())
}

/// Whether a score on 0..=1 meets the criterion's pass mark; `None` without a pass mark.
pub fn is_met(rubric: &Rubric, criterion: &Criterion, unit: f64) -> Option<bool> {
    let contribution = if criterion.polarity == Polarity::Plain { unit } else { 1.0 - unit };
    Some(criterion.threshold.unwrap_or(rubric.pass_mark) <= contribution + 1e-9)
}

/// Closes the decision of a job that failed too often, so that estimates do not wait for its trace.
pub async fn close_dead_monitor_job(shop: &WorkerContext, job: &Job) -> Result<(), JobError> {
    let task: MonitorTask = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
    let project = job.project.ok_or_else(|| JobError::hopeless("a monitor belongs to a project"))?;
    let decision = shop.store.decision(project, &task.trace, task.monitor).await?;
    if task.rescore.is_some() || !decision.state.is_open() {
        return Ok(());
    }
    let why = format!("no worker could do it: {}", job.error.as_deref().unwrap_or("no reason is known"));
    let at_work = MonitorJobContext { shop, job, project, task: &task, decision: &decision };
    at_work.change_state(DecisionState::JudgeError, &why).await.map(drop)
}
