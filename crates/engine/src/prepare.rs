//! Prepares a run: a request overrides the files, and units with the same judge share one set of prepared judges.
//!
//! `jurist eval`, `jurist regrade` and the workers of a server all prepare runs here, so that a flag, a key of a file
//! and a field of the API have the same effect everywhere.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use jurist_core::plan::{CaseSelection, NoPlan, Plan, PlanUnit, group_compared, plan_suite};
use jurist_core::rubric::Rubric;
use jurist_core::suite::{Case, Judge, Suite};

use crate::agent::Agents;
use crate::embed::TextServices;
use crate::execute::GradingJob;
use crate::judge::{CheckPrograms, ResolvedJudges};
use crate::model::resolve::{Resolver, Unresolved};

/// Number of draws that are reserved per trial. A jury has fewer members than this, so two trials never share a draw.
const DRAWS_PER_TRIAL: u32 = 1000;

/// The parts of flags or of an API request that concern judges and agents.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// The only judge, in place of those of the files.
    pub judge_model: Option<String>,
    pub base_url: Option<String>,
    /// The judge of cases that name none.
    pub default_judge: Option<String>,
    /// The model that answers cases without a response of their own.
    pub agent_model: Option<String>,
    pub seed: u64,
}

impl RunRequest {
    /// The judge that a file states, as the request has it.
    pub fn judge(&self, stated: &Judge) -> Judge {
        let stated = match self.judge_model {
            Some(_) => Judge {
                panel: Vec::new(),
                escalate: None,
                base_url: None,
                criteria: BTreeMap::new(),
                ..stated.clone()
            },
            None => stated.clone(),
        };
        let model = self.judge_model.clone().or(stated.model);
        let is_open = model.as_deref().is_none_or(|model| model == "auto");
        let model = if is_open { self.default_judge.clone().or(model) } else { model };
        let mut judge = Judge { model, base_url: self.base_url.clone().or(stated.base_url), ..stated };
        for own in judge.criteria.values_mut() {
            own.base_url = self.base_url.clone().or_else(|| own.base_url.take());
        }
        judge
    }

    /// Applies the request to all cases of a suite, and plans them.
    pub fn plan(&self, suite: &mut Suite, select: &CaseSelection) -> Result<Plan, NoPlan> {
        for case in &mut suite.cases {
            self.prepare_case(case);
        }
        plan_suite(suite, select)
    }

    fn prepare_case(&self, case: &mut Case) {
        case.rubric = apply_on_error(&case.rubric, &case.judge);
        if self.judge_model.is_some() {
            // The plan counts the calls of this judge, and not those of a panel that it replaces.
            case.judge = self.judge(&case.judge);
        }
        let named = self.agent_model.clone().or(case.agent.model.take());
        // A live run without a model of its own uses the judge's; models of a matrix are chosen per unit.
        let is_single = case.matrix.models.is_empty() || self.judge_model.is_some();
        let judge = case.server.as_ref().filter(|_| is_single).and_then(|_| self.judge(&case.judge).model);
        case.agent.model = named.or(judge);
    }
}

/// The rubric with the judge's `on_error`, if it has one.
pub fn apply_on_error(rubric: &Arc<Rubric>, judge: &Judge) -> Arc<Rubric> {
    match judge.on_error {
        Some(on_error) => Arc::new(rubric.with_on_error(on_error)),
        None => Arc::clone(rubric),
    }
}

/// Clients and programs that all units of a run share.
#[derive(Debug, Clone)]
pub struct RunResources {
    pub resolver: Arc<Resolver>,
    pub text_services: Arc<TextServices>,
    pub programs: Arc<CheckPrograms>,
    pub agents: Arc<Agents>,
}

/// The judges of a run.
#[derive(Debug)]
pub struct PreparedJudges {
    resources: RunResources,
    /// Judges that the files define by name.
    named: BTreeMap<String, Judge>,
    seed: u64,
    /// Few: one for each judge and trial.
    prepared: Vec<PreparedJudge>,
}

#[derive(Debug)]
struct PreparedJudge {
    judge: Judge,
    trial: u32,
    judges: Arc<ResolvedJudges>,
}

impl PreparedJudges {
    pub fn new(resources: RunResources, named: BTreeMap<String, Judge>, seed: u64) -> Self {
        Self { resources, named, seed, prepared: Vec::new() }
    }

    /// The judges of a trial; trials are independent draws.
    pub fn resolve(&mut self, judge: &Judge, trial: u32) -> Result<Arc<ResolvedJudges>, Unresolved> {
        let known = self.prepared.iter().find(|prepared| prepared.trial == trial && prepared.judge == *judge);
        if let Some(known) = known {
            return Ok(Arc::clone(&known.judges));
        }
        let RunResources { resolver, text_services, programs, .. } = &self.resources;
        let mut judges = ResolvedJudges::new(resolver, judge, &self.named, self.seed, text_services)?;
        judges.transcript = true;
        judges.programs = Some(Arc::clone(programs));
        for member in &mut judges.members {
            member.draw += (trial - 1) * DRAWS_PER_TRIAL;
        }
        let judges = Arc::new(judges);
        self.prepared.push(PreparedJudge { judge: judge.clone(), trial, judges: Arc::clone(&judges) });
        Ok(judges)
    }
}

/// Builds the jobs of a plan with their judges. Positions in `skip` were graded before; units that are compared with each
/// other are all graded again if one of them is.
pub fn build_grading_jobs<E>(
    plan: Plan,
    agents: &Arc<Agents>,
    skip: impl Fn(usize) -> bool,
    mut judges_of: impl FnMut(&PlanUnit) -> Result<Arc<ResolvedJudges>, E>,
) -> Result<Vec<GradingJob>, E> {
    let mut jobs = Vec::new();
    let groups = group_compared(plan.units.iter()).into_iter();
    let skipped: HashSet<usize> = groups.filter(|group| group.iter().all(|at| skip(*at))).flatten().collect();
    for (at, unit) in plan.units.into_iter().enumerate() {
        if !skipped.contains(&at) {
            let judges = judges_of(&unit)?;
            let agents = Arc::clone(agents);
            jobs.push(GradingJob { at, unit: Arc::new(unit), judges, agents, material: None });
        }
    }
    Ok(jobs)
}
