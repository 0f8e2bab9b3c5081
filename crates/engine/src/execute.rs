//! Executes a plan. The number of units in progress equals the number of concurrent calls, over all cases.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::future::join_all;

use jurist_core::candidate::{
    Candidate, CaseData, JudgeInput, Trace, TraceSource, read_trace, read_trace_value,
};
use jurist_core::check::MaxScore;
use jurist_core::grade::{
    Deferral, FORMAT, FailedGate, Failure, Grade, Grader, GraderKind, Outcome, Reason, Spend, Verdict,
    VerdictStatus, locate,
};
use jurist_core::judge::JudgePromptError;
use jurist_core::plan::{NeededOutput, PlanUnit, group_compared};
use jurist_core::redact::Redactor;
use jurist_core::rubric::{CheckOf, Rubric, Value};
use jurist_core::run::CaseResult;
use jurist_core::score::{NotComparable, QuestionAnswer, QuoteStatus, compute_verdict};
use jurist_core::suite::{CaseTarget, case_variables};
use serde_json::{Map, Value as Json, json};
use tokio::task::JoinSet;

use crate::agent::{Agents, FailedAgentRun, TrialIdentity};
use crate::call::ModelClient;
use crate::judge::{
    ContestResult, JudgeAnswers, JudgeCase, JudgeDecision, JudgeExchange, ResolvedJudges, compare_candidates,
};

/// A unit with its judges.
#[derive(Debug, Clone)]
pub struct GradingJob {
    /// Position in the plan.
    pub at: usize,
    pub unit: Arc<PlanUnit>,
    pub judges: Arc<ResolvedJudges>,
    /// Agents that run the unit if it has no recorded response.
    pub agents: Arc<Agents>,
    /// Judge input of an earlier run, which is graded again.
    pub material: Option<Arc<JudgeInput>>,
}

/// When no further units are started.
#[derive(Debug, Clone, Copy, Default)]
pub struct StopCondition {
    pub first_failure: bool,
    pub deadline: Option<Instant>,
}

/// Why a run ended before its plan did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyStop {
    FirstFailure,
    Deadline,
    Interrupted,
}

/// An event of the run.
#[derive(Debug)]
pub enum GradingEvent {
    Started {
        at: usize,
    },
    /// A result with secrets redacted; exchanges are included if the judges record them.
    Graded {
        at: usize,
        result: Box<CaseResult>,
        exchanges: Vec<JudgeExchange>,
    },
}

/// Context that all units of a run share.
#[derive(Debug)]
pub struct GradingContext {
    pub caller: ModelClient,
    pub redactor: Redactor,
    pub outputs: StoredOutputs,
}

/// Grades every job and sends an event for each step. The event channel is bounded: a slow receiver slows grading.
/// After an interrupt, results that are complete are kept.
pub async fn execute(
    jobs: Vec<GradingJob>,
    shared: &Arc<GradingContext>,
    width: usize,
    until: StopCondition,
    interrupt: impl Future<Output = ()>,
    mut listener: impl AsyncFnMut(GradingEvent),
) -> Option<EarlyStop> {
    let (mut waiting, mut at_work, mut stopped) =
        (JobQueue::new(jobs, &shared.outputs), JoinSet::new(), None);
    tokio::pin!(interrupt);
    loop {
        if until.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            stopped = stopped.or(Some(EarlyStop::Deadline));
        }
        while stopped.is_none()
            && at_work.len() < width
            && let Some(jobs) = waiting.take()
        {
            for FilledJob { job, .. } in &jobs {
                listener(GradingEvent::Started { at: job.at }).await;
            }
            let shared = Arc::clone(shared);
            at_work.spawn(async move {
                let mut all = grade_jobs(&jobs, &shared.caller).await;
                for graded in &mut all {
                    redact_result(&mut graded.result, &mut graded.exchanges, &shared.redactor);
                }
                jobs.into_iter().map(|filled| filled.job).zip(all).collect::<Vec<_>>()
            });
        }
        tokio::select! {
            done = at_work.join_next() => match done {
                None => return stopped.filter(|_| !waiting.is_empty()),
                Some(done) => {
                    for (job, graded) in done.expect("grading a unit does not panic") {
                        let (at, CaseGrading { result, exchanges, output }) = (job.at, graded);
                        if let Some(output) = output {
                            waiting.add_output(&job.unit.name, output);
                        }
                        if until.first_failure && result.verdict.status == VerdictStatus::Fail {
                            stopped = stopped.or(Some(EarlyStop::FirstFailure));
                        }
                        listener(GradingEvent::Graded { at, result: Box::new(result), exchanges }).await;
                    }
                }
            },
            () = &mut interrupt => return Some(EarlyStop::Interrupted),
        }
    }
}

/// Redacts secrets before the result is sent to a listener.
fn redact_result(result: &mut CaseResult, exchanges: &mut [JudgeExchange], redactor: &Redactor) {
    redact_case_result(result, redactor);
    for exchange in exchanges {
        let mut value = serde_json::to_value(&*exchange).expect("an exchange is plain data");
        if redactor.json(&mut value) {
            *exchange = serde_json::from_value(value).expect("only texts were changed");
        }
    }
}

/// Redacts secrets in everything that a result holds; returns whether there were any.
pub fn redact_case_result(result: &mut CaseResult, redactor: &Redactor) -> bool {
    let mut value = serde_json::to_value(&*result).expect("a result is plain data");
    let is_redacted = redactor.json(&mut value);
    if is_redacted {
        *result = serde_json::from_value(value).expect("only texts were changed");
        // Redaction changes positions in the text.
        locate_quotes_again(result);
    }
    is_redacted
}

/// Computes the positions of quotes again, for texts that changed and for results that others have written.
pub fn locate_quotes_again(result: &mut CaseResult) {
    let parts = result.material.quotable();
    for grade in &mut result.grades {
        let of_points = grade.points.iter_mut().flat_map(|point| &mut point.evidence);
        for evidence in grade.evidence.iter_mut().chain(of_points).filter(|evidence| evidence.found.is_some())
        {
            evidence.found = locate(&evidence.quote, &parts);
        }
    }
}

/// Groups jobs whose outputs are compared with each other; every other job is a group of its own.
fn group_compared_jobs(jobs: Vec<GradingJob>) -> Vec<Vec<GradingJob>> {
    let groups = group_compared(jobs.iter().map(|job| &*job.unit));
    let mut jobs: Vec<Option<GradingJob>> = jobs.into_iter().map(Some).collect();
    let mut take = |at: usize| jobs[at].take().expect("a job is in one group");
    groups.into_iter().map(|group| group.into_iter().map(&mut take).collect()).collect()
}

/// Selects jobs for another pass, together with the jobs that they are compared with. Units whose outputs they use have
/// been decided and are not repeated.
pub fn select_again(jobs: Vec<GradingJob>, is_wanted: impl Fn(&GradingJob) -> bool) -> Vec<GradingJob> {
    let groups = group_compared_jobs(jobs).into_iter();
    groups.filter(|group| group.iter().any(&is_wanted)).flatten().collect()
}

/// The output that a unit stores, or why there is none.
type UnitOutput = Result<String, ExplainedOutcome>;

/// Outputs that units store, by the unit's name. All passes over a run share them, so that a later pass has the outputs of
/// units that it does not repeat.
#[derive(Debug, Default)]
pub struct StoredOutputs(Mutex<HashMap<String, UnitOutput>>);

impl StoredOutputs {
    /// Adds the output of a unit that was graded before; its secrets are redacted.
    pub fn add_result(&self, result: &CaseResult) {
        if let Some(text) = find_output_text(&result.material) {
            self.add(&result.case, Ok(text.to_owned()));
        }
    }

    fn add(&self, unit: &str, output: UnitOutput) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(unit.to_owned(), output);
    }

    /// The outputs that a unit uses, by the names under which they are stored, or the reason why one is missing.
    fn collect(&self, needed: &[NeededOutput]) -> Result<Map<String, Json>, ExplainedOutcome> {
        let outputs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let find = |needed: &NeededOutput| match outputs.get(&needed.unit) {
            Some(Ok(text)) => Ok((needed.name.clone(), Json::from(text.as_str()))),
            Some(Err(why)) => Err(explain_missing_output(needed, Some(why))),
            None => Err(explain_missing_output(needed, None)),
        };
        needed.iter().map(find).collect()
    }
}

/// The text of an output that other units may use.
fn find_output_text(material: &JudgeInput) -> Option<&str> {
    material.response.as_deref().or_else(|| material.trace.as_ref()?.answer())
}

/// Jobs that wait, in groups whose outputs are compared. A group starts when all outputs that it uses are there.
struct JobQueue<'a> {
    ready: VecDeque<Vec<GradingJob>>,
    blocked: Vec<BlockedJobs>,
    /// Places in `blocked` of the groups that use the output of a unit, by its name.
    users: HashMap<String, Vec<usize>>,
    outputs: &'a StoredOutputs,
}

struct BlockedJobs {
    jobs: Vec<GradingJob>,
    /// Outputs that are not there yet.
    n_missing: usize,
}

/// A job with the outputs that it uses, or the reason why one of them is missing.
struct FilledJob {
    job: GradingJob,
    unmet: Option<ExplainedOutcome>,
}

impl<'a> JobQueue<'a> {
    fn new(jobs: Vec<GradingJob>, outputs: &'a StoredOutputs) -> Self {
        // No unit waits for the output of a unit that is not run.
        let stores = |job: &&GradingJob| job.unit.cell.template().store_output_as.is_some();
        let producers: HashSet<String> =
            jobs.iter().filter(stores).map(|job| job.unit.name.clone()).collect();
        let (ready, blocked) = (VecDeque::new(), Vec::new());
        let mut queue = Self { ready, blocked, users: HashMap::new(), outputs };
        for jobs in group_compared_jobs(jobs) {
            let needed = jobs.iter().flat_map(|job| &job.unit.needed_outputs).map(|needed| &needed.unit);
            let needed: HashSet<String> = needed.filter(|unit| producers.contains(*unit)).cloned().collect();
            if needed.is_empty() {
                queue.ready.push_back(jobs);
                continue;
            }
            let n_missing = needed.len();
            for unit in needed {
                queue.users.entry(unit).or_default().push(queue.blocked.len());
            }
            queue.blocked.push(BlockedJobs { jobs, n_missing });
        }
        queue
    }

    fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.blocked.iter().all(|blocked| blocked.n_missing == 0)
    }

    fn take(&mut self) -> Option<Vec<FilledJob>> {
        let jobs = self.ready.pop_front()?;
        Some(jobs.into_iter().map(|job| self.fill_outputs(job)).collect())
    }

    fn add_output(&mut self, unit: &str, output: UnitOutput) {
        self.outputs.add(unit, output);
        for at in self.users.remove(unit).unwrap_or_default() {
            let blocked = &mut self.blocked[at];
            blocked.n_missing -= 1;
            if blocked.n_missing == 0 {
                self.ready.push_back(std::mem::take(&mut blocked.jobs));
            }
        }
    }

    fn fill_outputs(&self, mut job: GradingJob) -> FilledJob {
        let unit = Arc::clone(&job.unit);
        // A unit that is graded again keeps the outputs that it used the first time.
        if unit.needed_outputs.is_empty() || job.material.is_some() {
            return FilledJob { job, unmet: None };
        }
        let outputs = match self.outputs.collect(&unit.needed_outputs) {
            Ok(outputs) => outputs,
            Err(missing) => return FilledJob { job, unmet: Some(missing) },
        };
        let cell = unit.cell.with_outputs(outputs);
        // Outputs may be too long to be filled in.
        if let Err(error) = cell.case() {
            return FilledJob { job, unmet: Some(ExplainedOutcome::from_crash(error.to_string())) };
        }
        job.unit = Arc::new(PlanUnit { cell, ..PlanUnit::clone(&unit) });
        FilledJob { job, unmet: None }
    }
}

/// The outcome of a unit that uses a missing output; if the producer was deferred, the unit is deferred too.
fn explain_missing_output(needed: &NeededOutput, why: Option<&ExplainedOutcome>) -> ExplainedOutcome {
    let NeededOutput { name, unit } = needed;
    let message = format!("`{unit}` has no output, which is used here as `{name}`");
    match why {
        None => ExplainedOutcome::from_crash(format!("{message}: it was not run")),
        Some(ExplainedOutcome { outcome: Outcome::Deferred { why }, reason }) => {
            let reason = if reason.is_empty() { message } else { format!("{message}: {reason}") };
            ExplainedOutcome { outcome: Outcome::Deferred { why: *why }, reason }
        }
        Some(ExplainedOutcome { outcome: Outcome::Failed { detail, .. }, .. }) => {
            ExplainedOutcome::from_crash(format!("{message}: {detail}"))
        }
        Some(ExplainedOutcome { reason, .. }) => ExplainedOutcome::from_crash(format!("{message}: {reason}")),
    }
}

/// The output of a unit, if other units may use it.
fn output_to_store(job: &GradingJob, input: &JudgeInputResult) -> Option<UnitOutput> {
    job.unit.cell.template().store_output_as.as_ref()?;
    let output = input.as_ref().map_err(|missing| missing.why.clone()).and_then(|input| {
        find_output_text(&input.material)
            .map(str::to_owned)
            .ok_or_else(|| ExplainedOutcome::from_crash("it answers with no text".to_owned()))
    });
    Some(output)
}

/// The result of a unit, the exchanges with its judges, and the output that it stores, which still has its secrets.
struct CaseGrading {
    result: CaseResult,
    exchanges: Vec<JudgeExchange>,
    output: Option<UnitOutput>,
}

impl CaseGrading {
    /// The result of a unit whose judges were not called.
    fn without_exchanges(result: CaseResult) -> Self {
        Self { result, exchanges: Vec::new(), output: None }
    }
}

async fn grade_jobs(filled: &[FilledJob], caller: &ModelClient) -> Vec<CaseGrading> {
    let inputs = join_all(filled.iter().map(|filled| load_filled_input(filled, caller))).await;
    let jobs: Vec<&GradingJob> = filled.iter().map(|filled| &filled.job).collect();
    let jobs = jobs.as_slice();
    let outputs: Vec<Option<UnitOutput>> =
        jobs.iter().zip(&inputs).map(|(job, input)| output_to_store(job, input)).collect();
    let mut contests = run_contests(jobs, caller, &inputs).await;
    let each = jobs.iter().zip(&inputs).zip(&contests);
    let answers =
        join_all(each.map(|((job, input), contests)| collect_unit_answers(job, caller, input, contests)))
            .await;
    compare_scores(jobs, &inputs, &answers, &mut contests);
    let each = jobs.iter().zip(inputs).zip(answers).zip(contests);
    let mut all = join_all(each.map(|(((job, input), answers), contests)| async move {
        conclude(job, caller, input, answers, &contests).await
    }))
    .await;
    for (graded, output) in all.iter_mut().zip(outputs) {
        graded.output = output;
    }
    all
}

/// The judge input of a unit, unless an output that it uses is missing.
async fn load_filled_input(filled: &FilledJob, caller: &ModelClient) -> JudgeInputResult {
    match &filled.unmet {
        Some(unmet) => Err(unmet.clone().into()),
        None => load_judge_input(&filled.job, caller).await,
    }
}

/// Answers of a unit's judges and checks, before comparisons; `None` without a candidate.
type UnitAnswers = Option<Result<Vec<JudgeAnswers>, JudgePromptError>>;

async fn collect_unit_answers(
    job: &GradingJob,
    caller: &ModelClient,
    input: &JudgeInputResult,
    contests: &BTreeMap<String, ContestResult>,
) -> UnitAnswers {
    let material = &input.as_ref().ok()?.material;
    Some(job.judges.answer(caller, case_of(job, material, contests)).await)
}

/// The row is that of the judge input: a unit that is graded again has the row that it was made with.
fn case_of<'a>(
    job: &'a GradingJob,
    material: &'a JudgeInput,
    contests: &'a BTreeMap<String, ContestResult>,
) -> JudgeCase<'a> {
    let (unit, template) = (&*job.unit, job.unit.cell.template());
    let (rubric, labels) = (&template.rubric, Some(&template.labels));
    let row = material.row.as_ref();
    JudgeCase { candidate: &unit.name, material, row, rubric, labels, contests: Some(contests) }
}

/// Decides every `max-score` check after all outputs have been graded by everything else.
fn compare_scores(
    jobs: &[&GradingJob],
    inputs: &[JudgeInputResult],
    answers: &[UnitAnswers],
    contests: &mut [BTreeMap<String, ContestResult>],
) {
    let Some(first) = jobs.first() else { return };
    let rubric = &first.unit.cell.template().rubric;
    for CheckOf { criterion, check } in rubric.max_scores() {
        let present: Vec<(usize, &[JudgeAnswers])> = answers
            .iter()
            .enumerate()
            .filter_map(|(at, result)| Some((at, result.as_ref()?.as_ref().ok()?.as_slice())))
            .collect();
        let totals: Result<Vec<f64>, NotComparable> =
            present.iter().map(|(_, members)| mean_total(&check, rubric, members)).collect();
        let outcomes: Vec<ExplainedOutcome> = match (find_missing_output(jobs, inputs), totals) {
            (None, Ok(totals)) => check
                .standings(&totals)
                .into_iter()
                .map(|standing| ExplainedOutcome {
                    outcome: best_score_outcome(standing.is_best),
                    reason: standing.comment,
                })
                .collect(),
            // Without the missing output the comparison could name a wrong winner.
            (Some(missing), _) => vec![missing; present.len()],
            (None, Err(missing)) => vec![not_compared(&missing); present.len()],
        };
        for ((at, _), ExplainedOutcome { outcome, reason }) in present.iter().zip(outcomes) {
            let contested = ContestResult { outcome, reason, spend: None, exchanges: Vec::new() };
            contests[*at].insert(criterion.id.clone(), contested);
        }
    }
}

/// The mean over judges, with equal weights.
fn mean_total(check: &MaxScore, rubric: &Rubric, members: &[JudgeAnswers]) -> Result<f64, NotComparable> {
    let mut sum = 0.0;
    for member in members {
        let scores = member.scores_to_compare(rubric)?;
        let nothing = || NotComparable { criterion: "everything else".to_owned(), deferred: false };
        sum += check.total(&scores).ok_or_else(nothing)?;
    }
    Ok(sum / members.len().max(1) as f64)
}

fn best_score_outcome(is_best: bool) -> Outcome {
    let unit = f64::from(u8::from(is_best));
    Outcome::Scored { value: Value::Number(unit), unit: Some(unit) }
}

/// An outcome, and the reason that is shown with it.
#[derive(Debug, Clone)]
struct ExplainedOutcome {
    outcome: Outcome,
    reason: String,
}

impl ExplainedOutcome {
    fn from_crash(detail: String) -> Self {
        Self { outcome: Outcome::Failed { failure: Failure::Crashed, detail }, reason: String::new() }
    }
}

fn not_compared(missing: &NotComparable) -> ExplainedOutcome {
    let reason = format!("the outputs cannot be compared: {missing} for one of them");
    match missing.deferred {
        true => ExplainedOutcome { outcome: Outcome::Deferred { why: Deferral::NotGraded }, reason },
        false => ExplainedOutcome::from_crash(reason),
    }
}

/// The judge input of a unit, and what it cost to produce it.
struct LoadedJudgeInput {
    material: JudgeInput,
    spend: Spend,
}

/// Why a unit has no judge input, and what was paid before that was known.
struct MissingJudgeInput {
    why: ExplainedOutcome,
    spend: Spend,
}

impl From<ExplainedOutcome> for MissingJudgeInput {
    fn from(why: ExplainedOutcome) -> Self {
        Self { why, spend: Spend::default() }
    }
}

impl From<FailedAgentRun> for MissingJudgeInput {
    fn from(FailedAgentRun { error, spend }: FailedAgentRun) -> Self {
        let why = ExplainedOutcome { outcome: error.outcome(), reason: error.reason().to_owned() };
        Self { why, spend }
    }
}

type JudgeInputResult = Result<LoadedJudgeInput, MissingJudgeInput>;

/// Why outputs cannot be compared while one of them is missing.
fn find_missing_output(jobs: &[&GradingJob], inputs: &[JudgeInputResult]) -> Option<ExplainedOutcome> {
    let (job, missing) =
        jobs.iter().zip(inputs).find_map(|(job, input)| Some((job, input.as_ref().err()?)))?;
    let reason = format!("the outputs cannot be compared: `{}` has no output", job.unit.name);
    Some(match &missing.why.outcome {
        Outcome::Deferred { why } => ExplainedOutcome { outcome: Outcome::Deferred { why: *why }, reason },
        _ => ExplainedOutcome::from_crash(reason),
    })
}

/// Compares the candidates of a group and returns a result for each.
async fn run_contests(
    jobs: &[&GradingJob],
    caller: &ModelClient,
    inputs: &[JudgeInputResult],
) -> Vec<BTreeMap<String, ContestResult>> {
    let mut all = vec![BTreeMap::new(); jobs.len()];
    let present: Vec<(usize, &JudgeInput)> = inputs
        .iter()
        .enumerate()
        .filter_map(|(at, result)| Some((at, &result.as_ref().ok()?.material)))
        .collect();
    let (Some(first), true) = (jobs.first(), 1 < jobs.len()) else { return all };
    for (criterion, text) in first.unit.contests() {
        if let Some(missing) = find_missing_output(jobs, inputs) {
            for (at, _) in &present {
                let ExplainedOutcome { outcome, reason } = missing.clone();
                let contested = ContestResult { outcome, reason, spend: None, exchanges: Vec::new() };
                all[*at].insert(criterion.clone(), contested);
            }
            continue;
        }
        let candidates = present.iter().map(|(_, material)| *material).collect();
        let task = first.unit.cell.task();
        let about = (task.as_str(), text.as_str());
        let judge = first.judges.judge_of(&criterion);
        let compared = compare_candidates(caller, judge, candidates, about, false, first.judges.seed).await;
        let mut took =
            compared.as_ref().ok().map(|preference| (preference.spend, preference.exchanges.clone()));
        for (place, (at, _)) in present.iter().enumerate() {
            let (outcome, reason) = match &compared {
                Err(outcome) => (outcome.clone(), String::new()),
                Ok(preference) => {
                    // In a tie all candidates count as best.
                    let unit = f64::from(u8::from(preference.winner.is_none_or(|winner| winner == place)));
                    let outcome = Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
                    (outcome, preference.reason.clone())
                }
            };
            // The cost of the comparison is counted with the first candidate.
            let (spend, exchanges) = took.take().unzip();
            let contested =
                ContestResult { outcome, reason, spend, exchanges: exchanges.unwrap_or_default() };
            all[*at].insert(criterion.clone(), contested);
        }
    }
    all
}

async fn conclude(
    job: &GradingJob,
    caller: &ModelClient,
    input: JudgeInputResult,
    answers: UnitAnswers,
    contests: &BTreeMap<String, ContestResult>,
) -> CaseGrading {
    let unit = &*job.unit;
    let LoadedJudgeInput { material, spend } = match input {
        Ok(input) => input,
        Err(MissingJudgeInput { why: ExplainedOutcome { outcome, reason }, spend }) => {
            let result = build_ungraded_result(unit, &outcome, &reason, JudgeInput::default());
            return CaseGrading::without_exchanges(CaseResult { spend, ..result });
        }
    };
    let concluded = match answers.expect("there is a candidate") {
        Ok(answers) => job.judges.conclude(caller, case_of(job, &material, contests), answers).await,
        Err(error) => Err(error),
    };
    match concluded {
        Ok(mut decision) => {
            let exchanges = decision
                .opinions
                .iter_mut()
                .flat_map(|opinion| std::mem::take(&mut opinion.exchanges))
                .collect();
            let result = build_case_result(unit, decision, material, spend);
            CaseGrading { result, exchanges, output: None }
        }
        Err(error) => {
            let outcome = Outcome::Failed { failure: Failure::Crashed, detail: error.to_string() };
            let result = build_ungraded_result(unit, &outcome, "", material);
            CaseGrading::without_exchanges(CaseResult { spend, ..result })
        }
    }
}

/// The judge input of a unit and its cost, or the reason why there is none.
async fn load_judge_input(job: &GradingJob, caller: &ModelClient) -> JudgeInputResult {
    if let Some(material) = &job.material {
        return Ok(LoadedJudgeInput { material: JudgeInput::clone(material), spend: Spend::default() });
    }
    let case = job.unit.cell.case().expect("it was filled when it was planned");
    if !case.candidate.is_given() {
        let which = TrialIdentity { name: &job.unit.name, trial: job.unit.trial };
        let produced = job.agents.produce(caller, &case, which).await?;
        let mut candidate = case.candidate;
        (candidate.response, candidate.diff) = (produced.response, produced.diff);
        candidate.context.extend(produced.context);
        let (measurements, guardrails) = (produced.measurements, produced.guardrails);
        let mut metadata = case.metadata;
        metadata.extend(produced.metadata);
        let provider = case.targets.first().map(|target| json!({ "id": target.id, "label": target.label }));
        let case_data = build_case_data(job, &candidate, (metadata, provider));
        let (row, input) = (job.unit.cell.row(), JudgeInput::new(&candidate, produced.trace));
        let raw_output = produced.value;
        let material = JudgeInput { measurements, guardrails, case_data, row, raw_output, ..input };
        return Ok(LoadedJudgeInput { material, spend: produced.spend });
    }
    let broken = ExplainedOutcome::from_crash;
    let trace: Option<Trace> = match &case.candidate.trace {
        None => None,
        Some(TraceSource::Inline(value)) => {
            Some(read_trace_value(value, None).map_err(|error| broken(error.to_string()))?.1)
        }
        Some(TraceSource::File(path)) => {
            let text = job.agents.project.read(path);
            let text = text.map_err(|error| broken(format!("cannot read `{path}`: {error}")))?;
            Some(read_trace(&text, None).map_err(|error| broken(format!("`{path}`: {error}")))?.1)
        }
    };
    let case_data = build_case_data(job, &case.candidate, (case.metadata, None));
    let row = job.unit.cell.row();
    let material = JudgeInput { case_data, row, ..JudgeInput::new(&case.candidate, trace) };
    Ok(LoadedJudgeInput { material, spend: Spend::default() })
}

/// The data of a case that external checks get; empty if the rubric has none.
fn build_case_data(
    job: &GradingJob,
    candidate: &Candidate,
    (metadata, provider): (Map<String, Json>, Option<Json>),
) -> CaseData {
    if job.unit.cell.template().rubric.external_checks().next().is_none() {
        return CaseData::default();
    }
    let row = job.unit.cell.row().unwrap_or_default();
    CaseData { vars: case_variables(row, candidate.vars.clone()), metadata, provider }
}

/// The result of a unit that could not be graded because of an error outside of the candidate.
pub fn build_broken_result(unit: &PlanUnit, why: &str) -> CaseResult {
    let outcome = Outcome::Failed { failure: Failure::Crashed, detail: why.to_owned() };
    build_ungraded_result(unit, &outcome, "", JudgeInput::default())
}

/// A result in which every question has the same outcome.
fn build_ungraded_result(
    unit: &PlanUnit,
    outcome: &Outcome,
    reason: &str,
    material: JudgeInput,
) -> CaseResult {
    let rubric = &unit.cell.template().rubric;
    let answers: Vec<QuestionAnswer<'_>> =
        (0..rubric.n_questions()).map(|_| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect();
    let mut verdict = compute_verdict(rubric, &answers, 0.0);
    if let Outcome::Failed { detail, .. } = outcome {
        // No grader was called, so no grader failed.
        verdict.undecided_gates.iter_mut().for_each(|gate| gate.reason.clone_from(detail));
    }
    let grade = |criterion: String| Grade {
        format: FORMAT,
        candidate: unit.name.clone(),
        rubric: Some(rubric.version().clone()),
        criterion,
        grader: Grader { kind: GraderKind::Judge, name: Grader::NONE.to_owned(), configuration: None },
        outcome: outcome.clone(),
        reason: Reason::new(reason),
        evidence: Vec::new(),
        points: Vec::new(),
        flags: Vec::new(),
        spend: Spend::default(),
        time: None,
        attempts: Vec::new(),
    };
    CaseResult {
        case: unit.name.clone(),
        origin: unit.cell.origin(),
        trial: unit.trial_if_repeated(),
        base: unit.trial_if_repeated().map(|_| unit.base.clone()),
        parts: unit.parts.clone(),
        candidate: unit.name.clone(),
        rubric: rubric.version().clone(),
        verdict,
        panel: None,
        projected_calls: Some(unit.calls),
        grades: rubric.questions().map(|question| grade(question.id())).collect(),
        spend: Spend::default(),
        metadata: build_result_metadata(unit),
        material,
    }
}

fn build_case_result(
    unit: &PlanUnit,
    decision: JudgeDecision,
    material: JudgeInput,
    spend: Spend,
) -> CaseResult {
    CaseResult {
        case: unit.name.clone(),
        origin: unit.cell.origin(),
        trial: unit.trial_if_repeated(),
        base: unit.trial_if_repeated().map(|_| unit.base.clone()),
        parts: unit.parts.clone(),
        candidate: unit.name.clone(),
        rubric: unit.cell.template().rubric.version().clone(),
        verdict: combined_verdict(&decision),
        // After an escalation the stronger judge decides alone.
        panel: decision.panel.filter(|_| !decision.escalated),
        projected_calls: Some(unit.calls),
        grades: decision.opinions.into_iter().flat_map(|opinion| opinion.grades).collect(),
        spend: if spend.is_nothing() { decision.spend } else { decision.spend.plus(spend) },
        metadata: build_result_metadata(unit),
        material,
    }
}

/// The combined verdict of all judges.
///
/// A gate counts as failed if it failed for at least half of the voting members. The decision path is taken from a
/// member whose verdict equals the combined one.
fn combined_verdict(decision: &JudgeDecision) -> Verdict {
    let verdicts: Vec<&Verdict> = decision.opinions.iter().map(|opinion| &opinion.verdict).collect();
    let agrees = |verdict: &&&Verdict| verdict.status == decision.status;
    let own = verdicts.last().copied().expect("a bench has a member");
    let Some(panel) = decision.panel.as_ref().filter(|_| !decision.escalated) else {
        return Verdict { status: decision.status, score: decision.score, ..own.clone() };
    };
    let own = verdicts.iter().rev().find(agrees).copied().unwrap_or(own);
    let mut failed_gates: Vec<FailedGate> = Vec::new();
    for gate in verdicts.iter().flat_map(|verdict| &verdict.failed_gates) {
        let n_failed = verdicts.iter().filter(|verdict| verdict.failed_gates.contains(gate)).count();
        if panel.voters as usize <= 2 * n_failed && !failed_gates.contains(gate) {
            failed_gates.push(gate.clone());
        }
    }
    if decision.status == VerdictStatus::Pass {
        failed_gates.clear();
    }
    Verdict {
        status: decision.status,
        score: decision.score,
        native: panel.native,
        failed_gates,
        undecided_gates: panel.undecided_gates.clone(),
        ..own.clone()
    }
}

/// Longer texts are contents, not fields to group results by.
const LONGEST_FIELD: usize = 100;

/// Fields that results can be grouped by. Metadata of the file takes precedence.
fn build_result_metadata(unit: &PlanUnit) -> BTreeMap<String, Json> {
    let case = &unit.cell.case().expect("it was filled when it was planned");
    let live = !case.candidate.is_given();
    let target = case.targets.first().map(CaseTarget::name);
    let model = case.agent.model.as_deref().filter(|_| live && target.is_none());
    let known = [("agent", target.or(model)), ("model", model)];
    let known = known.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Json::from(text?))));
    let tags = (!case.tags.is_empty()).then(|| ("tags".to_owned(), Json::from(case.tags.clone())));
    let is_short = |value: &Json| match value {
        Json::Null | Json::Array(_) | Json::Object(_) => false,
        Json::String(text) => text.len() <= LONGEST_FIELD,
        Json::Bool(_) | Json::Number(_) => true,
    };
    let row = unit.cell.row().unwrap_or_default().into_iter().filter(|(_, value)| is_short(value));
    let own = row.chain(case.metadata.clone());
    known.chain(tags).chain(own).collect()
}
