//! Carries out a plan: as many units at work as there are calls at a time, over all cases together.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;

use jurist_core::candidate::{Candidate, CaseData, Material, Trace, TraceSource, read_trace, read_value};
use jurist_core::check::MaxScore;
use jurist_core::grade::{
    Deferral, FORMAT, FailedGate, Failure, Grade, Grader, GraderKind, Outcome, Reason, Spend, Status,
    Verdict, locate,
};
use jurist_core::judge::BadTemplate;
use jurist_core::plan::{Plan, Unit, group_compared};
use jurist_core::redact::Redactor;
use jurist_core::rubric::{CheckOf, Rubric, Value};
use jurist_core::run::CaseResult;
use jurist_core::score::{Answer, NotComparable, Quote, verdict};
use jurist_core::suite::{Row, Target};
use serde_json::{Map, Value as Json};
use tokio::task::JoinSet;

use crate::agent::{Agents, Which};
use crate::call::Caller;
use crate::judge::{Bench, Case, Contested, Decision, Exchange, MemberAnswers, compare};

/// A unit with the judges that sit over it.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its place in the plan.
    pub at: usize,
    pub unit: Arc<Unit>,
    pub bench: Arc<Bench>,
    /// What runs the unit where it has no answer.
    pub agents: Arc<Agents>,
    /// What an earlier run graded, to be graded again.
    pub material: Option<Arc<Material>>,
}

/// When to start no more.
#[derive(Debug, Clone, Copy, Default)]
pub struct Until {
    pub first_failure: bool,
    pub deadline: Option<Instant>,
}

/// Why a run ended before its plan did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    FirstFailure,
    Deadline,
    Interrupted,
}

/// Something happened.
#[derive(Debug)]
pub enum Event {
    Started {
        at: usize,
    },
    /// Without anything secret; the exchanges are there if the bench keeps them.
    Graded {
        at: usize,
        result: Box<CaseResult>,
        exchanges: Vec<Exchange>,
    },
}

/// What every unit of a run shares.
#[derive(Debug)]
pub struct Shared {
    pub caller: Caller,
    pub redactor: Redactor,
}

/// Jobs of a plan whose benches are made; places that `skip` names have been graded before. Outputs that are compared
/// with each other are graded again together.
pub fn jobs<E>(
    plan: Plan,
    agents: &Arc<Agents>,
    skip: impl Fn(usize) -> bool,
    bench: impl Fn(&Unit) -> Result<Arc<Bench>, E>,
) -> Result<Vec<Job>, E> {
    let mut jobs = Vec::new();
    let groups = group_compared(plan.units.iter()).into_iter();
    let skipped: HashSet<usize> = groups.filter(|group| group.iter().all(|at| skip(*at))).flatten().collect();
    for (at, unit) in plan.units.into_iter().enumerate() {
        if !skipped.contains(&at) {
            let bench = bench(&unit)?;
            let agents = Arc::clone(agents);
            jobs.push(Job { at, unit: Arc::new(unit), bench, agents, material: None });
        }
    }
    Ok(jobs)
}

/// Grades every job; what happens is told as it happens, and no more is graded than the listener takes. An interrupt
/// keeps what is graded so far.
pub async fn execute(
    jobs: Vec<Job>,
    shared: &Arc<Shared>,
    width: usize,
    until: Until,
    interrupt: impl Future<Output = ()>,
    mut listener: impl AsyncFnMut(Event),
) -> Option<Stopped> {
    let (mut waiting, mut at_work, mut stopped) = (siblings(jobs).into_iter(), JoinSet::new(), None);
    tokio::pin!(interrupt);
    loop {
        if until.deadline.is_some_and(|it| it <= Instant::now()) {
            stopped = stopped.or(Some(Stopped::Deadline));
        }
        while stopped.is_none()
            && at_work.len() < width
            && let Some(jobs) = waiting.next()
        {
            for job in &jobs {
                listener(Event::Started { at: job.at }).await;
            }
            let shared = Arc::clone(shared);
            at_work.spawn(async move {
                let mut all = graded(&jobs, &shared.caller).await;
                for (result, exchanges) in &mut all {
                    clean(result, exchanges, &shared.redactor);
                }
                jobs.iter().map(|it| it.at).zip(all).collect::<Vec<_>>()
            });
        }
        tokio::select! {
            done = at_work.join_next() => match done {
                None => return stopped.filter(|_| waiting.next().is_some()),
                Some(done) => {
                    for (at, (result, exchanges)) in done.expect("grading a unit does not panic") {
                        if until.first_failure && result.verdict.status == Status::Fail {
                            stopped = stopped.or(Some(Stopped::FirstFailure));
                        }
                        listener(Event::Graded { at, result: Box::new(result), exchanges }).await;
                    }
                }
            },
            () = &mut interrupt => return Some(Stopped::Interrupted),
        }
    }
}

/// Takes out everything that must not be kept, before anybody listens.
fn clean(result: &mut CaseResult, exchanges: &mut [Exchange], redactor: &Redactor) {
    let mut value = serde_json::to_value(&*result).expect("a result is plain data");
    if redactor.json(&mut value) {
        *result = serde_json::from_value(value).expect("only texts were changed");
        // Quotes stand elsewhere now.
        let parts = result.material.parts();
        for evidence in result.grades.iter_mut().flat_map(|it| &mut it.evidence) {
            if evidence.found.is_some() {
                evidence.found = locate(&evidence.quote, &parts);
            }
        }
    }
    for exchange in exchanges {
        let mut value = serde_json::to_value(&*exchange).expect("an exchange is plain data");
        if redactor.json(&mut value) {
            *exchange = serde_json::from_value(value).expect("only texts were changed");
        }
    }
}

/// Those that are compared with each other are graded together; all others stand alone.
fn siblings(jobs: Vec<Job>) -> Vec<Vec<Job>> {
    let groups = group_compared(jobs.iter().map(|job| &*job.unit));
    let mut jobs: Vec<Option<Job>> = jobs.into_iter().map(Some).collect();
    let mut take = |at: usize| jobs[at].take().expect("a job is in one group");
    groups.into_iter().map(|group| group.into_iter().map(&mut take).collect()).collect()
}

/// Jobs to do again, with those that they are compared with.
pub fn select_again(jobs: Vec<Job>, is_wanted: impl Fn(&Job) -> bool) -> Vec<Job> {
    siblings(jobs).into_iter().filter(|group| group.iter().any(&is_wanted)).flatten().collect()
}

async fn graded(jobs: &[Job], caller: &Caller) -> Vec<(CaseResult, Vec<Exchange>)> {
    let found = join_all(jobs.iter().map(|it| material(it, caller))).await;
    let mut contests = contested(jobs, caller, &found).await;
    let each = jobs.iter().zip(&found).zip(&contests);
    let answers = join_all(each.map(|((job, found), contests)| answer(job, caller, found, contests))).await;
    compare_scores(jobs, &found, &answers, &mut contests);
    let each = jobs.iter().zip(found).zip(answers).zip(contests);
    join_all(each.map(|(((job, found), answers), contests)| async move {
        conclude(job, caller, found, answers, &contests).await
    }))
    .await
}

/// What a unit's judges and checks say of it alone; nothing where there is no candidate.
type Answers = Option<Result<Vec<MemberAnswers>, BadTemplate>>;

async fn answer(
    job: &Job,
    caller: &Caller,
    found: &Found,
    contests: &BTreeMap<String, Contested>,
) -> Answers {
    let (material, _) = found.as_ref().ok()?;
    let row = job.unit.cell.row();
    Some(job.bench.answer(caller, case_of(job, row.as_ref(), material, contests)).await)
}

fn case_of<'a>(
    job: &'a Job,
    row: Option<&'a Row>,
    material: &'a Material,
    contests: &'a BTreeMap<String, Contested>,
) -> Case<'a> {
    let (unit, template) = (&*job.unit, job.unit.cell.template());
    let (rubric, labels) = (&template.rubric, Some(&template.labels));
    Case { candidate: &unit.name, material, row, rubric, labels, contests: Some(contests) }
}

/// Decides every `max-score`, now that each output has been graded by everything else.
fn compare_scores(
    jobs: &[Job],
    found: &[Found],
    answers: &[Answers],
    contests: &mut [BTreeMap<String, Contested>],
) {
    let Some(first) = jobs.first() else { return };
    let rubric = &first.unit.cell.template().rubric;
    for CheckOf { criterion, check } in rubric.max_scores() {
        let present: Vec<(usize, &[MemberAnswers])> = answers
            .iter()
            .enumerate()
            .filter_map(|(at, it)| Some((at, it.as_ref()?.as_ref().ok()?.as_slice())))
            .collect();
        let totals: Result<Vec<f64>, NotComparable> =
            present.iter().map(|(_, members)| mean_total(&check, rubric, members)).collect();
        let outcomes: Vec<(Outcome, String)> = match (find_missing_output(jobs, found), totals) {
            (None, Ok(totals)) => {
                check.standings(&totals).into_iter().map(|it| (scored(it.is_best), it.comment)).collect()
            }
            // A comparison that leaves somebody out would name the wrong winner.
            (Some(missing), _) => vec![missing; present.len()],
            (None, Err(missing)) => vec![not_compared(&missing); present.len()],
        };
        for ((at, _), (outcome, reason)) in present.iter().zip(outcomes) {
            let contested = Contested { outcome, reason, spend: None, exchanges: Vec::new() };
            contests[*at].insert(criterion.id.clone(), contested);
        }
    }
}

/// Several judges count alike.
fn mean_total(check: &MaxScore, rubric: &Rubric, members: &[MemberAnswers]) -> Result<f64, NotComparable> {
    let mut sum = 0.0;
    for member in members {
        let scores = member.scores_to_compare(rubric)?;
        let nothing = || NotComparable { criterion: "everything else".to_owned(), deferred: false };
        sum += check.total(&scores).ok_or_else(nothing)?;
    }
    Ok(sum / members.len().max(1) as f64)
}

fn scored(is_best: bool) -> Outcome {
    let unit = f64::from(u8::from(is_best));
    Outcome::Scored { value: Value::Number(unit), unit: Some(unit) }
}

fn not_compared(missing: &NotComparable) -> (Outcome, String) {
    let detail = format!("the outputs cannot be compared: {missing} for one of them");
    match missing.deferred {
        true => (Outcome::Deferred { why: Deferral::NotGraded }, detail),
        false => (Outcome::Failed { failure: Failure::Crashed, detail }, String::new()),
    }
}

type Found = Result<(Material, Spend), (Outcome, String)>;

/// Why outputs cannot be compared while one of them is missing.
fn find_missing_output(jobs: &[Job], found: &[Found]) -> Option<(Outcome, String)> {
    let (job, outcome) =
        jobs.iter().zip(found).find_map(|(job, found)| Some((job, &found.as_ref().err()?.0)))?;
    let detail = format!("the outputs cannot be compared: `{}` has none", job.unit.name);
    Some(match outcome {
        Outcome::Deferred { why } => (Outcome::Deferred { why: *why }, detail),
        _ => (Outcome::Failed { failure: Failure::Crashed, detail }, String::new()),
    })
}

/// How each of several candidates comes out beside the others.
async fn contested(jobs: &[Job], caller: &Caller, found: &[Found]) -> Vec<BTreeMap<String, Contested>> {
    let mut all = vec![BTreeMap::new(); jobs.len()];
    let present: Vec<(usize, &Material)> =
        found.iter().enumerate().filter_map(|(at, it)| Some((at, &it.as_ref().ok()?.0))).collect();
    let (Some(first), true) = (jobs.first(), 1 < jobs.len()) else { return all };
    for (criterion, text) in first.unit.contests() {
        if let Some((outcome, reason)) = find_missing_output(jobs, found) {
            for (at, _) in &present {
                let (outcome, reason) = (outcome.clone(), reason.clone());
                let contested = Contested { outcome, reason, spend: None, exchanges: Vec::new() };
                all[*at].insert(criterion.clone(), contested);
            }
            continue;
        }
        let candidates = present.iter().map(|it| it.1).collect();
        let task = first.unit.cell.task();
        let about = (task.as_str(), text.as_str());
        let compared =
            compare(caller, &first.bench.members[0], candidates, about, false, first.bench.seed).await;
        let mut took = compared.as_ref().ok().map(|it| (it.spend, it.exchanges.clone()));
        for (place, (at, _)) in present.iter().enumerate() {
            let (outcome, reason) = match &compared {
                Err(outcome) => (outcome.clone(), String::new()),
                Ok(preference) => {
                    // Of two that are alike, both are the best.
                    let unit = f64::from(u8::from(preference.winner.is_none_or(|it| it == place)));
                    let outcome = Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
                    (outcome, preference.reason.clone())
                }
            };
            // What it took is counted with the first.
            let (spend, exchanges) = took.take().unzip();
            let contested = Contested { outcome, reason, spend, exchanges: exchanges.unwrap_or_default() };
            all[*at].insert(criterion.clone(), contested);
        }
    }
    all
}

async fn conclude(
    job: &Job,
    caller: &Caller,
    found: Found,
    answers: Answers,
    contests: &BTreeMap<String, Contested>,
) -> (CaseResult, Vec<Exchange>) {
    let unit = &*job.unit;
    let (material, spend) = match found {
        Ok(found) => found,
        Err(why) => return (without_candidate(unit, &why.0, &why.1, Material::default()), Vec::new()),
    };
    let row = unit.cell.row();
    let concluded = match answers.expect("there is a candidate") {
        Ok(answers) => {
            job.bench.conclude(caller, case_of(job, row.as_ref(), &material, contests), answers).await
        }
        Err(error) => Err(error),
    };
    match concluded {
        Ok(mut decision) => {
            let exchanges =
                decision.opinions.iter_mut().flat_map(|it| std::mem::take(&mut it.exchanges)).collect();
            (told(unit, decision, material, spend), exchanges)
        }
        Err(error) => {
            let outcome = Outcome::Failed { failure: Failure::Crashed, detail: error.to_string() };
            (without_candidate(unit, &outcome, "", material), Vec::new())
        }
    }
}

/// What a unit's judges see, and what it took to get it; or why there is nothing to see.
async fn material(job: &Job, caller: &Caller) -> Found {
    if let Some(material) = &job.material {
        return Ok((Material::clone(material), Spend::default()));
    }
    let case = job.unit.cell.case().expect("it was filled when it was planned");
    if !case.candidate.is_given() {
        let which = Which { name: &job.unit.name, trial: job.unit.trial };
        let produced = job.agents.produce(caller, &case, which).await;
        let produced = produced.map_err(|why| (why.outcome(), why.reason().to_owned()))?;
        let mut candidate = case.candidate;
        (candidate.response, candidate.diff) = (produced.response, produced.diff);
        candidate.context.extend(produced.context);
        let measurements = produced.measurements;
        let mut metadata = case.metadata;
        metadata.extend(produced.metadata);
        let case_data = case_data(job, &candidate, metadata);
        let material = Material { measurements, case_data, ..Material::new(&candidate, produced.trace) };
        return Ok((material, produced.spend));
    }
    let broken = |detail: String| (Outcome::Failed { failure: Failure::Crashed, detail }, String::new());
    let trace: Option<Trace> = match &case.candidate.trace {
        None => None,
        Some(TraceSource::Inline(value)) => {
            Some(read_value(value, None).map_err(|error| broken(error.to_string()))?.1)
        }
        Some(TraceSource::File(path)) => {
            let text = job.agents.project.read(path);
            let text = text.map_err(|error| broken(format!("cannot read `{path}`: {error}")))?;
            Some(read_trace(&text, None).map_err(|error| broken(format!("`{path}`: {error}")))?.1)
        }
    };
    let case_data = case_data(job, &case.candidate, case.metadata);
    Ok((Material { case_data, ..Material::new(&case.candidate, trace) }, Spend::default()))
}

/// What programs are told about a case; nobody else needs it.
fn case_data(job: &Job, candidate: &Candidate, metadata: Map<String, Json>) -> CaseData {
    if job.unit.cell.template().rubric.external_checks().next().is_none() {
        return CaseData::default();
    }
    let row = job.unit.cell.row().unwrap_or_default();
    CaseData { vars: row.into_iter().chain(candidate.vars.clone()).collect(), metadata }
}

/// The result of a unit that could not be graded at all, for a reason that is not the candidate's.
pub fn broken(unit: &Unit, why: &str) -> CaseResult {
    let outcome = Outcome::Failed { failure: Failure::Crashed, detail: why.to_owned() };
    without_candidate(unit, &outcome, "", Material::default())
}

/// A result in which every question has the same outcome.
fn without_candidate(unit: &Unit, outcome: &Outcome, reason: &str, material: Material) -> CaseResult {
    let rubric = &unit.cell.template().rubric;
    let answers: Vec<Answer<'_>> =
        (0..rubric.n_questions()).map(|_| Answer { outcome, quote: Quote::NotAsked }).collect();
    let grade = |criterion: String| Grade {
        format: FORMAT,
        candidate: unit.name.clone(),
        rubric: Some(rubric.version().clone()),
        criterion,
        grader: Grader { kind: GraderKind::Judge, name: "nobody".to_owned(), configuration: None },
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
        origin: unit.cell.template().origin.clone(),
        trial: unit.trial_told(),
        candidate: unit.name.clone(),
        rubric: rubric.version().clone(),
        verdict: verdict(rubric, &answers, 0.0),
        panel: None,
        projected_calls: Some(unit.calls),
        grades: rubric.questions().map(|it| grade(it.id())).collect(),
        spend: Spend::default(),
        metadata: metadata(unit),
        material,
    }
}

fn told(unit: &Unit, decision: Decision, material: Material, spend: Spend) -> CaseResult {
    CaseResult {
        case: unit.name.clone(),
        origin: unit.cell.template().origin.clone(),
        trial: unit.trial_told(),
        candidate: unit.name.clone(),
        rubric: unit.cell.template().rubric.version().clone(),
        verdict: combined_verdict(&decision),
        // A stronger judge decides alone.
        panel: decision.panel.filter(|_| !decision.escalated),
        projected_calls: Some(unit.calls),
        grades: decision.opinions.into_iter().flat_map(|it| it.grades).collect(),
        spend: if spend.is_nothing() { decision.spend } else { decision.spend.plus(spend) },
        metadata: metadata(unit),
        material,
    }
}

/// The verdict of all judges together.
///
/// Gates are those that failed for at least half of those who voted; the path is that of a member who agrees.
fn combined_verdict(decision: &Decision) -> Verdict {
    let verdicts: Vec<&Verdict> = decision.opinions.iter().map(|it| &it.verdict).collect();
    let agrees = |it: &&&Verdict| it.status == decision.status;
    let own = verdicts.last().copied().expect("a bench has a member");
    let Some(panel) = decision.panel.as_ref().filter(|_| !decision.escalated) else {
        return Verdict { status: decision.status, score: decision.score, ..own.clone() };
    };
    let own = verdicts.iter().rev().find(agrees).copied().unwrap_or(own);
    let mut failed_gates: Vec<FailedGate> = Vec::new();
    for gate in verdicts.iter().flat_map(|it| &it.failed_gates) {
        let n_failed = verdicts.iter().filter(|it| it.failed_gates.contains(gate)).count();
        if panel.voters as usize <= 2 * n_failed && !failed_gates.contains(gate) {
            failed_gates.push(gate.clone());
        }
    }
    if decision.status == Status::Pass {
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

/// Longer texts are contents and nothing to look at results by.
const LONGEST_FIELD: usize = 100;

/// What a result can be looked at by. What the file says itself comes first.
fn metadata(unit: &Unit) -> BTreeMap<String, Json> {
    let case = &unit.cell.case().expect("it was filled when it was planned");
    let live = !case.candidate.is_given();
    let target = case.targets.first().map(Target::name);
    let model = case.agent.model.as_deref().filter(|_| live && target.is_none());
    let known = [("agent", target.or(model)), ("model", model)];
    let known = known.into_iter().filter_map(|(name, it)| Some((name.to_owned(), Json::from(it?))));
    let tags = (!case.tags.is_empty()).then(|| ("tags".to_owned(), Json::from(case.tags.clone())));
    let is_short = |it: &Json| match it {
        Json::Null | Json::Array(_) | Json::Object(_) => false,
        Json::String(text) => text.len() <= LONGEST_FIELD,
        Json::Bool(_) | Json::Number(_) => true,
    };
    let row = unit.cell.row().unwrap_or_default().into_iter().filter(|(_, value)| is_short(value));
    let own = row.chain(case.metadata.clone());
    known.chain(tags).chain(own).collect()
}
