//! Judges one trace for a monitor. A cached judgement of an identical trace costs nothing, a judge error is never a
//! score, and a rejected API key pauses the monitor.

use std::time::Duration;

use futures_util::future::join_all;
use jurist_core::candidate::{Candidate, JudgeInput};
use jurist_core::grade::{Deferral, Failure, Grade, Outcome, Spend, Usd, Verdict};
use jurist_core::plan::TraceStratum;
use jurist_core::rubric::{CriterionKind, EvidenceMissing, Rubric};
use jurist_engine::call::unknown_price_error;
use jurist_engine::execute::GradingContext;
use jurist_engine::judge::{JudgeCase, JudgeExchange};
use jurist_store::decisions::{
    DecisionChange, DecisionEvent, DecisionOutcome, DecisionState, MonitorDecision, TraceRevision,
};
use jurist_store::grades::{NewGrade, NewVerdict};
use jurist_store::jobs::Job;
use jurist_store::scores::ScoreContext;
use jurist_store::{Probability, ProjectId, StoreError, clock};
use serde::{Deserialize, Serialize};

use super::WorkerContext;
use super::emit::Emit;
use super::monitor_scores::{JudgementStatus, TraceScores, collect_judge_scores, combine_members};
use super::prepared_monitor::{PreparedMonitor, judge_name};
use super::shared_budget::open_monitor_budget;
use super::worker::{StopSignal, later, retry_while_transient};
use super::worker_context::Flight;
use crate::job::{
    JobEnd, JobError, MonitorTask, NO_MONEY, NOTHING_TO_JUDGE, PAUSED, ResolvedJudges, find_criterion, is_met,
};
use crate::metrics::failure_name;
use crate::monitor::{FOR_FAILURES, LoadedMonitorVersion, PANEL, compute_sampling_pace, pause_monitor};

/// Judges one trace.
pub async fn run_monitor_job(
    context: &WorkerContext,
    job: &Job,
    stop: &mut StopSignal,
) -> Result<JobEnd, JobError> {
    let task: MonitorTask = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
    let project = job.project.ok_or_else(|| JobError::hopeless("a monitor belongs to a project"))?;
    let monitor = context.store.monitor(project, task.monitor).await?;
    if monitor.removed.is_some() {
        return Ok(JobEnd::Finished);
    }
    let decision = context.store.decision(project, &task.trace, task.monitor).await?;
    // A failed trace waits for budget, and its decision stays open.
    let waits_for_money =
        decision.state == DecisionState::OverBudget && decision.stratum == TraceStratum::Failed;
    if task.rescore.is_none() && !decision.state.is_open() && !waits_for_money {
        // Another worker stored its result first.
        return Ok(JobEnd::Finished);
    }
    let monitor_job = MonitorJobContext { context, job, project, task: &task, decision: &decision };
    if let Some(why) = &monitor.paused {
        return monitor_job.wait_for_resume(why).await;
    }
    let prepared = match context.load_prepared_monitor(project, task.version).await {
        Ok(prepared) => prepared,
        Err(JobError::Hopeless(why)) => return monitor_job.pause_and_wait(&why).await,
        Err(trouble) => return Err(trouble),
    };
    let funding = context.load_funding_version(project, &monitor, &prepared).await?;
    if task.rescore.is_none() && decision.stratum != TraceStratum::Failed {
        // The job may have waited for hours, so the budget is checked again.
        let rates = &context.work.settings.rates;
        if compute_sampling_pace(&context.store, project, &funding.watched, rates, clock::current_time())
            .await?
            .is_for_failures
        {
            return monitor_job.close(DecisionState::OverBudget, FOR_FAILURES).await;
        }
    }
    let Some(trace) = context.store.trace_content(project, &task.trace).await? else {
        return monitor_job.close(DecisionState::Overloaded, "the trace was erased while it waited").await;
    };
    if !trace.has_content() {
        return monitor_job.close(DecisionState::NothingToJudge, NOTHING_TO_JUDGE).await;
    }
    if task.rescore.is_none() && matches!(decision.state, DecisionState::Sampled | DecisionState::Stale) {
        match monitor_job.change_state(DecisionState::Pending, "a worker has it").await? {
            DecisionChange::Done => {}
            DecisionChange::Moved => return Ok(retry_changed_trace()),
            DecisionChange::Closed => return Ok(JobEnd::Finished),
        }
    }
    let material = JudgeInput::new(&Candidate::default(), Some(trace));
    tokio::select! {
        biased;
        done = monitor_job.judge(&prepared, &funding.watched, &material) => done,
        () = stop.now() => Ok(JobEnd::Stopped),
    }
}

/// One trace of one monitor.
struct MonitorJobContext<'a> {
    context: &'a WorkerContext,
    job: &'a Job,
    project: ProjectId,
    task: &'a MonitorTask,
    decision: &'a MonitorDecision,
}

/// A judge's opinion as it is cached for identical traces.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredOpinion {
    pub(super) verdict: Verdict,
    pub(super) grades: Vec<Grade>,
}

impl StoredOpinion {
    fn is_answered(&self) -> bool {
        JudgementStatus::of(&self.verdict) == JudgementStatus::Answered
    }
}

/// The result of one judge.
pub(super) struct JudgeResult {
    pub(super) judge: String,
    pub(super) opinion: StoredOpinion,
    exchanges: Vec<JudgeExchange>,
    /// Whether the opinion comes from the cache.
    is_cached: bool,
}

impl MonitorJobContext<'_> {
    /// Judges under one version of the monitor, within the budget of the newest version.
    async fn judge(
        &self,
        prepared: &PreparedMonitor,
        funding: &LoadedMonitorVersion,
        material: &JudgeInput,
    ) -> Result<JobEnd, JobError> {
        let keys: Vec<String> = prepared
            .judges
            .iter()
            .map(|resolved_judges| self.key(prepared, resolved_judges, material))
            .collect();
        let mut known = Vec::new();
        for key in &keys {
            known.push(self.find_cached_opinion(key).await?);
        }
        let mut endpoints = prepared
            .judges
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(judge, _)| &judge.members[0].line);
        if let Some(endpoint) = endpoints.find(|model_endpoint| model_endpoint.price.is_none())
            && (funding.monitor.budget.is_some()
                || self.context.store.month_spend(self.project, clock::current_time()).await?.cap.is_some())
        {
            return self.pause_and_wait(&unknown_price_error(&endpoint.name).detail).await;
        }
        let shared =
            self.context.call_context(open_monitor_budget(self.context, self.project, funding, self.job));
        let rubric = &prepared.watched.monitor.rubric;
        let each = prepared.judges.iter().zip(&keys).zip(known).map(|((judge, key), known)| {
            let shared = &shared;
            async move {
                match known {
                    Some(opinion) => Ok(self.reuse_opinion(judge, opinion)),
                    None => self.ask_judge_once(key, judge, shared, rubric, material).await,
                }
            }
        });
        let results: Vec<JudgeResult> = join_all(each).await.into_iter().collect::<Result<_, JobError>>()?;
        self.settle_decision(prepared, results).await
    }

    /// Asks a judge. If another job of this process asks the same question at the moment, it waits for that answer.
    async fn ask_judge_once(
        &self,
        key: &str,
        judge: &ResolvedJudges,
        shared: &GradingContext,
        rubric: &Rubric,
        material: &JudgeInput,
    ) -> Result<JudgeResult, JobError> {
        let _first = match self.context.join_flight(&format!("{}/{key}", self.project)) {
            Flight::First(turn) => Some(turn),
            Flight::Later(first) => {
                drop(first.lock().await);
                None
            }
        };
        // The first asker looks too, because another process may have answered in the meantime.
        if let Some(opinion) = self.find_cached_opinion(key).await? {
            return Ok(self.reuse_opinion(judge, opinion));
        }
        let result = self.ask_judge(judge, shared, rubric, material).await?;
        if result.opinion.is_answered() {
            let bytes = serde_json::to_vec(&result.opinion).expect("an opinion is plain data");
            retry_while_transient(|| {
                self.context.store.cache(self.project, key, &bytes, clock::current_time())
            })
            .await?;
        }
        Ok(result)
    }

    /// Stores the judges' results as the decision on the trace.
    async fn settle_decision(
        &self,
        prepared: &PreparedMonitor,
        results: Vec<JudgeResult>,
    ) -> Result<JobEnd, JobError> {
        for it in &results {
            for GradeFailure { failure, .. } in it.opinion.grades.iter().filter_map(failure) {
                self.context.metrics.judge_failed(&it.judge, failure);
            }
        }
        if let Some(why) = results
            .iter()
            .flat_map(|judge_result| &judge_result.opinion.grades)
            .find_map(judge_lockout_reason)
        {
            return self.pause_and_wait(&why).await;
        }
        let rubric = &prepared.watched.monitor.rubric;
        let verdicts: Vec<Verdict> =
            results.iter().map(|judge_result| judge_result.opinion.verdict.clone()).collect();
        let verdict = combine_members(&verdicts, rubric.pass_mark);
        let state = match JudgementStatus::of(&verdict) {
            JudgementStatus::Answered if results.iter().all(|judge_result| judge_result.is_cached) => {
                DecisionState::Cached
            }
            JudgementStatus::Answered => DecisionState::Scored,
            JudgementStatus::Failed => DecisionState::JudgeError,
            JudgementStatus::Deferred => DecisionState::OverBudget,
        };
        if state == DecisionState::OverBudget && self.task.rescore.is_some() {
            return Ok(postpone_until_funded());
        }
        let note = decision_note(state, &results);
        if state == DecisionState::OverBudget && self.decision.stratum == TraceStratum::Failed {
            // Failed traces are the most important ones, so they are judged as soon as there is budget.
            if self.decision.state != DecisionState::OverBudget {
                // A gate may have failed already, and the verdict reports that.
                self.record(prepared, &results, verdict).await?;
                if self.change_state(state, &note).await? == DecisionChange::Moved {
                    return Ok(retry_changed_trace());
                }
            }
            return Ok(postpone_until_funded());
        }
        let TraceScores { scores, spread } = collect_judge_scores(prepared, rubric, &results, &verdict);
        let margin = prepared.watched.monitor.margin();
        let is_disputed = spread.is_some_and(|spread| margin < spread);
        self.record(prepared, &results, verdict).await?;
        let outcome = DecisionOutcome { state, note: &note, spread, is_disputed };
        let outcome = Some(outcome).filter(|_| self.task.rescore.is_none());
        let (scored, now) = (self.load_score_origin(prepared).await?, clock::current_time());
        let change = retry_while_transient(|| {
            self.context.store.put_scores(self.project, &scored, &scores, outcome.as_ref(), now)
        })
        .await?;
        match change {
            DecisionChange::Done => self.context.metrics.count_decision(state),
            DecisionChange::Moved => return Ok(retry_changed_trace()),
            DecisionChange::Closed => {}
        }
        Ok(JobEnd::Finished)
    }

    async fn record(
        &self,
        prepared: &PreparedMonitor,
        results: &[JudgeResult],
        verdict: Verdict,
    ) -> Result<(), JobError> {
        let (project, now, store) = (self.project, clock::current_time(), &self.context.store);
        let rubric = &prepared.watched.monitor.rubric;
        let rubric_version = prepared.watched.rubric_version.clone();
        let probability = self.load_score_origin(prepared).await?.probability;
        // Each event so far (an error, a missing budget, or a result about an earlier revision) counts as an attempt of
        // its own: a grade of the same attempt would not be stored again.
        let is_past = |event: &&DecisionEvent| {
            matches!(
                event.state,
                DecisionState::JudgeError | DecisionState::OverBudget | DecisionState::Stale
            )
        };
        let events = store.decision_events(project, &self.task.trace, self.task.monitor).await?;
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
            results.iter().flat_map(|judge_result| &judge_result.opinion.grades).map(grade).collect();
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
        if self.context.work.emit.is_some() {
            let (trace, monitor) = (self.task.trace.clone(), self.task.monitor);
            let emit = Emit::Trace { trace, monitor, rubric_version: rubric_version.clone(), attempt };
            let job = emit.job(project, now);
            retry_while_transient(|| store.add_job(&job, now)).await?;
        }
        let exchanges: Vec<serde_json::Value> = results
            .iter()
            .flat_map(|judge_result| &judge_result.exchanges)
            .map(|judge_exchange| serde_json::to_value(judge_exchange).expect("an exchange is plain data"))
            .collect();
        if !exchanges.is_empty() && self.context.work.store_exchanges {
            let (owner, part) = (self.task.trace.to_string(), rubric_version.to_string());
            retry_while_transient(|| store.put_exchanges(project, &owner, &part, &exchanges, now)).await?;
        }
        Ok(())
    }

    async fn load_score_origin(&self, prepared: &PreparedMonitor) -> Result<ScoreContext, StoreError> {
        let share = match self.task.rescore {
            Some(id) => self.context.store.rescore(self.project, id).await?.share.get(),
            None => 1.0,
        };
        let decision = self.decision;
        let probability = decision.probability.get() * decision.upstream.get() * share;
        Ok(ScoreContext {
            monitor: self.task.monitor,
            trace: self.task.trace.clone(),
            revision: decision.revision,
            version: prepared.watched.id,
            rubric_version: prepared.watched.rubric_version.clone(),
            rescore: self.task.rescore,
            stratum: decision.stratum,
            agent: decision.agent.clone(),
            probability: Probability::new(probability).unwrap_or_default(),
            decided: decision.decided,
        })
    }

    /// Cache key of a judgement: task, context and output, rubric version and judge.
    fn key(&self, prepared: &PreparedMonitor, judge: &ResolvedJudges, material: &JudgeInput) -> String {
        let member = &judge.members[0];
        let mut hasher = blake3::Hasher::new();
        let parts = [
            prepared.watched.rubric_version.to_string(),
            member.line.name.clone(),
            member.line.address.clone(),
            format!("{:?} {}", member.temperature, member.max_tokens),
            material.fingerprint(),
            // Judges see only a part of the input, but checks see all of it.
            if has_checks(&prepared.watched.monitor.rubric) {
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
        let bytes = retry_while_transient(|| {
            self.context.store.cached_reply(self.project, key, clock::current_time())
        })
        .await?;
        // A cached opinion that this version cannot parse counts as a miss. So does one without an answer: earlier
        // versions stored verdicts of failed gates before the judge had answered.
        let opinion = bytes.and_then(|bytes| serde_json::from_slice::<StoredOpinion>(&bytes).ok());
        Ok(opinion.filter(StoredOpinion::is_answered))
    }

    fn reuse_opinion(&self, judge: &ResolvedJudges, mut opinion: StoredOpinion) -> JudgeResult {
        for grade in &mut opinion.grades {
            grade.candidate = self.task.trace.to_string();
            grade.spend = Spend { cost: Some(Usd::default()), from_cache: true, ..Spend::default() };
            grade.attempts.clear();
        }
        JudgeResult { judge: judge_name(judge).to_owned(), opinion, exchanges: Vec::new(), is_cached: true }
    }

    async fn ask_judge(
        &self,
        judge: &ResolvedJudges,
        shared: &GradingContext,
        rubric: &Rubric,
        material: &JudgeInput,
    ) -> Result<JudgeResult, JobError> {
        let candidate = self.task.trace.as_str();
        // No person reviews each trace, so an answer without evidence is an error and not a low score.
        let rubric = &rubric.with_evidence_missing(EvidenceMissing::Error);
        let case = JudgeCase { candidate, material, row: None, rubric, labels: None, contests: None };
        let mut decision = judge.decide(&shared.caller, case).await.map_err(JobError::hopeless)?;
        let judge_opinion = decision.opinions.swap_remove(0);
        let clean = |mut value: serde_json::Value| {
            shared.redactor.json(&mut value);
            value
        };
        let opinion = StoredOpinion { verdict: judge_opinion.verdict, grades: judge_opinion.grades };
        let opinion = clean(serde_json::to_value(opinion).expect("an opinion is plain data"));
        let opinion = serde_json::from_value(opinion).expect("only texts were changed");
        let exchanges = judge_opinion.exchanges.iter().map(|judge_exchange| {
            let exchange = clean(serde_json::to_value(judge_exchange).expect("an exchange is plain data"));
            serde_json::from_value(exchange).expect("only texts were changed")
        });
        Ok(JudgeResult {
            judge: judge_opinion.judge,
            opinion,
            exchanges: exchanges.collect(),
            is_cached: false,
        })
    }

    async fn change_state(&self, state: DecisionState, note: &str) -> Result<DecisionChange, JobError> {
        if self.task.rescore.is_some() {
            return Ok(DecisionChange::Done);
        }
        let (store, monitor) = (&self.context.store, self.task.monitor);
        let of = TraceRevision { trace: self.task.trace.clone(), revision: self.decision.revision };
        let outcome = DecisionOutcome { state, note, spread: None, is_disputed: false };
        let change = retry_while_transient(|| {
            store.set_decision(self.project, &of, monitor, &outcome, clock::current_time())
        })
        .await?;
        if change == DecisionChange::Done {
            self.context.metrics.count_decision(state);
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
        retry_while_transient(|| pause_monitor(&self.context.store, self.project, self.task.monitor, why))
            .await?;
        // A person who resumes the monitor has fixed the key, so vendors are unblocked.
        self.context.unblock_vendors();
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

/// Postpones a job while its monitor is paused; there is no limit of retries.
pub(super) fn postpone_while_paused() -> JobEnd {
    JobEnd::Later(later(clock::current_time(), Duration::from_secs(60)), PAUSED)
}

/// The result is about an earlier revision of the trace, so the trace is graded again.
fn retry_changed_trace() -> JobEnd {
    JobEnd::Later(clock::current_time(), "the trace changed while it was judged")
}

/// Postpones a job until there is budget.
pub(super) fn postpone_until_funded() -> JobEnd {
    JobEnd::Later(later(clock::current_time(), Duration::from_secs(3600)), NO_MONEY)
}

struct GradeFailure<'a> {
    failure: Failure,
    detail: &'a str,
}

fn failure(grade: &Grade) -> Option<GradeFailure<'_>> {
    match &grade.outcome {
        Outcome::Failed { failure, detail } => Some(GradeFailure { failure: *failure, detail }),
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

fn decision_note(state: DecisionState, results: &[JudgeResult]) -> String {
    let broke = || {
        results.iter().find_map(|judge_result| {
            Some((&judge_result.judge, judge_result.opinion.grades.iter().find_map(failure)?))
        })
    };
    match state {
        DecisionState::Cached => "the same was judged before".to_owned(),
        DecisionState::JudgeError => match broke() {
            Some((judge, GradeFailure { failure, detail })) if 1 < results.len() => {
                format!("{judge}: {}: {detail}", failure_name(failure))
            }
            Some((_, GradeFailure { failure, detail })) => format!("{}: {detail}", failure_name(failure)),
            None => {
                let mut undecided =
                    results.iter().flat_map(|judge_result| &judge_result.opinion.verdict.undecided_gates);
                undecided.next().map_or_else(|| "the judge gave no answer".to_owned(), ToString::to_string)
            }
        },
        DecisionState::OverBudget => {
            // Checks give reasons as well, but their grades are not the missing ones.
            let mut deferred = results
                .iter()
                .flat_map(|judge_result| &judge_result.opinion.grades)
                .filter(|grade| matches!(grade.outcome, Outcome::Deferred { .. }))
                .map(|grade| grade.reason.as_str());
            let reason = deferred.find(|reason| !reason.is_empty());
            reason.unwrap_or("the budget was used up").to_owned()
        }
        _ => {
            let judges: Vec<&str> = results.iter().map(|judge_result| judge_result.judge.as_str()).collect();
            format!("judged by {}", judges.join(PANEL))
        }
    }
}

fn has_checks(rubric: &Rubric) -> bool {
    rubric.questions().any(|question| matches!(question.criterion.ask, CriterionKind::Check(_)))
}

/// Closes the decision of a job that failed too often, so that estimates do not wait for its trace.
pub async fn close_dead_monitor_job(context: &WorkerContext, job: &Job) -> Result<(), JobError> {
    let task: MonitorTask = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
    let project = job.project.ok_or_else(|| JobError::hopeless("a monitor belongs to a project"))?;
    let decision = context.store.decision(project, &task.trace, task.monitor).await?;
    if task.rescore.is_some() || !decision.state.is_open() {
        return Ok(());
    }
    let why = format!("no worker could do it: {}", job.error.as_deref().unwrap_or("no reason is known"));
    let monitor_job = MonitorJobContext { context, job, project, task: &task, decision: &decision };
    monitor_job.change_state(DecisionState::JudgeError, &why).await.map(drop)
}
