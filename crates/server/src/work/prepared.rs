//! A submitted run that is ready for execution: its units and their judges.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use jurist_core::dialect::{Dialect, NetworkSettings, ProjectSettings, RateLimitSettings};
use jurist_core::grade::{FORMAT, Spend, Time};
use jurist_core::plan::{PlanUnit, group_linked_units};
use jurist_core::redact::Redactor;
use jurist_core::run::{Run, RunId, RunResults};
use jurist_core::suite::{Judge, Suite};
use jurist_engine::agent::Agents;
use jurist_engine::call::{Cache, ModelClient, RateLimiters, SharedBudget};
use jurist_engine::embed::TextServices;
use jurist_engine::execute::{GradingContext, GradingJob, StoredOutputs};
use jurist_engine::judge::CheckPrograms;
use jurist_engine::model::resolve::Resolver;
use jurist_engine::prepare::{PreparedJudges, RunRequest, RunResources, build_grading_jobs};
use jurist_engine::trust::restrict_limits;

use super::NewRun;
use crate::job::{Work, WorkRefusal, format_load_errors};

/// Units of one plan with their judges; the same in every process that prepares the same submission.
#[derive(Debug)]
pub struct PreparedSubmission {
    pub name: String,
    pub submission: NewRun,
    /// In the order of the plan.
    pub jobs: Vec<GradingJob>,
    settings: ProjectSettings,
    cache: Option<Cache>,
    redactor: Redactor,
    /// Rate limiters that all slices of the run share.
    rate_limiters: RateLimiters,
}

impl PreparedSubmission {
    pub fn new(submission: NewRun, work: &Work) -> Result<Self, WorkRefusal> {
        check_run_request(&submission)?;
        let bundle = submission.bundle();
        let loaded = bundle.load();
        let problems = format_load_errors(&loaded);
        let mut suite = loaded.suite.ok_or(WorkRefusal::Suite(problems))?;
        let mut settings = merge_local_settings(loaded.settings, work);
        if !work.allow_commands {
            check_run_permissions(&submission, &suite, &settings, &work.settings)?;
            // An address from a submitted file must not get API keys of this machine.
            settings.judge.base_url.clone_from(&work.settings.judge.base_url);
        }
        let environment = work.environment.clone();
        let resolver = Resolver::new(settings.clone(), move |name| environment.get(name))?;
        let resolver =
            Arc::new(if work.allow_private_network { resolver } else { resolver.with_address_guard()? });
        let request = RunRequest {
            judge_model: submission.judge.clone(),
            agent_model: submission.agent.clone(),
            seed: submission.seed,
            ..RunRequest::default()
        };
        let plan = request.plan(&mut suite, &submission.select())?;
        let name = suite.name.clone().unwrap_or_else(|| submission.suite.clone());
        let project = bundle.project(PathBuf::from("."));
        let servers = std::mem::take(&mut suite.servers);
        let programs = CheckPrograms::new(Arc::clone(&resolver), project.clone(), work.allow_commands);
        let agents = Agents::new(Arc::clone(&resolver), servers, project, None, work.allow_commands);
        let resources = RunResources {
            text_services: Arc::new(TextServices::by_name(Arc::clone(&resolver))),
            programs: Arc::new(programs),
            agents: Arc::new(agents),
            resolver,
        };
        let agents = Arc::clone(&resources.agents);
        let mut judges = PreparedJudges::new(resources, suite.judges.clone(), submission.seed);
        let judges_of = |unit: &PlanUnit| -> Result<_, WorkRefusal> {
            refuse_what_cannot_run(&agents, unit)?;
            Ok(judges.resolve(&request.judge(&unit.cell.judge()), unit.trial)?)
        };
        let jobs = build_grading_jobs(plan, &agents, |_| false, judges_of)?;
        let cache = work.cache.as_ref().map(|cache| Cache::new(cache.join("replies")));
        let redactor = Redactor::new(work.environment.secrets(), &settings.redact);
        let redactor = redactor.map_err(|redactor| WorkRefusal::Suite(redactor.to_string()))?;
        Ok(Self { name, submission, jobs, settings, cache, redactor, rate_limiters: RateLimiters::default() })
    }

    /// The header of the run before its start.
    pub fn run(&self, id: RunId, started: Time) -> Run {
        let mut rubrics = BTreeMap::new();
        for job in &self.jobs {
            let rubric = &job.unit.cell.template().rubric;
            if !rubrics.contains_key(rubric.version()) {
                rubrics.insert(rubric.version().clone(), rubric.to_json());
            }
        }
        Run {
            format: FORMAT,
            id,
            suite: Some(self.name.clone()),
            provenance: self.submission.provenance.clone().clean(&self.redactor),
            started,
            ended: None,
            seed: self.submission.seed,
            rubrics,
            results: RunResults::default(),
            spend: Spend::default(),
            summary: None,
        }
    }

    /// The context of the calls of one slice, with their budget and the outputs of units that were graded before.
    pub fn call_context(
        &self,
        shared_budget: Arc<dyn SharedBudget>,
        outputs: StoredOutputs,
    ) -> Arc<GradingContext> {
        let caller = ModelClient::default()
            .with_shared_budget(shared_budget)
            .with_rate_limiters(self.rate_limiters.clone())
            .with_limits(self.settings.limits.into());
        let caller = match &self.cache {
            Some(cache) => caller.with_cache(cache.clone(), self.submission.caching()),
            None => caller,
        };
        Arc::new(GradingContext { caller, redactor: self.redactor.clone(), outputs })
    }

    /// Divides the plan into slices of at most `most` units; units that are compared with each other, or
    /// use each other's outputs, stay in one slice.
    pub fn slices(&self, most: usize) -> Vec<Vec<usize>> {
        let mut slices: Vec<Vec<usize>> = Vec::new();
        for group in group_linked_units(self.jobs.iter().map(|job| &*job.unit)) {
            let group: Vec<usize> = group.into_iter().map(|at| self.jobs[at].at).collect();
            match slices.last_mut() {
                Some(last) if last.len() + group.len() <= most => last.extend(group),
                _ => slices.push(group),
            }
        }
        slices
    }
}

/// Checks the options of a request that do not depend on its suite.
fn check_run_request(submission: &NewRun) -> Result<(), WorkRefusal> {
    let wrong = |why: String| Err(WorkRefusal::Wrong(why));
    if !submission.files.contains_key(&submission.suite) {
        return wrong(format!("`suite` is `{}`, which is not one of `files`", submission.suite));
    }
    if let Some(name) = &submission.dialect
        && !Dialect::ALL.iter().any(|(known, _)| known == name)
    {
        return wrong(format!("`dialect` is one of {}", Dialect::ALL.map(|(known, _)| known).join(", ")));
    }
    if submission.shard.is_some_and(|shard| shard.part == 0 || shard.of < shard.part) {
        return wrong("`shard` is a part from 1 to `of`".to_owned());
    }
    if submission.max_cost.is_some_and(|max_cost| !(0.0..9e6).contains(&max_cost)) {
        return wrong("`max_cost` is an amount of dollars such as 0.5".to_owned());
    }
    if submission.judge.as_deref() == Some("auto") {
        return wrong("`auto` works only on your own machine; name a model".to_owned());
    }
    Ok(())
}

/// Refuses a run before it starts if the agent of any case cannot be run.
fn refuse_what_cannot_run(agents: &Agents, unit: &PlanUnit) -> Result<(), WorkRefusal> {
    let case = unit.cell.case().expect("it was filled when it was planned");
    if case.candidate.is_given() {
        return Ok(());
    }
    let origin = case.origin.as_ref().map(|origin| format!("{origin}: ")).unwrap_or_default();
    agents.check(&case).map_err(|error| WorkRefusal::Wrong(format!("{origin}`{}`: {error}", case.name)))
}

/// Merges the settings of a suite with those of this machine. The suite's judge comes first; this machine's prices,
/// vendors, network and limits override those of the suite.
fn merge_local_settings(sent: ProjectSettings, work: &Work) -> ProjectSettings {
    let own = work.settings.clone();
    // A sender who sets prices could get around a cap, so prices of the file count only where commands are allowed.
    let named = if work.allow_commands { sent.prices } else { BTreeMap::new() };
    ProjectSettings {
        judge: sent.judge.or(&own.judge),
        defer: sent.defer,
        refs: sent.refs,
        prices: named.into_iter().chain(own.prices).collect(),
        vendors: sent.vendors.into_iter().chain(own.vendors).collect(),
        network: if own.network == NetworkSettings::default() { sent.network } else { own.network },
        // Nobody has trusted what a sender wrote.
        limits: match own.limits == RateLimitSettings::default() {
            true => restrict_limits(sent.limits),
            false => own.limits,
        },
        redact: sent.redact.into_iter().chain(own.redact).collect(),
        rates: own.rates,
        mail: own.mail,
        file: own.file,
        is_file_trusted: own.is_file_trusted,
    }
}

/// Refuses files that request more than this server allows, because files may come from strangers.
fn check_run_permissions(
    submission: &NewRun,
    suite: &Suite,
    settings: &ProjectSettings,
    own: &ProjectSettings,
) -> Result<(), WorkRefusal> {
    let refused = |why: String| Err(WorkRefusal::NotAllowed(why));
    let models_of = |judge: &Judge| judge.models().cloned().collect::<Vec<String>>();
    let judges =
        suite.cases.iter().map(|case| &case.judge).chain(suite.judges.values()).chain([&suite.judge]);
    let mut models =
        judges.flat_map(models_of).chain(submission.judge.clone()).chain(submission.agent.clone());
    if let Some(program) = models.find(|model| model.starts_with("command:")) {
        return refused(format!("`{program}` is a program as judge"));
    }
    for case in &suite.cases {
        if case.matrix.models.iter().chain(&case.agent.model).any(|model| model.starts_with("command:")) {
            return refused(format!("`{}` names a program as model", case.name));
        }
        if let Some(target) = case.targets.iter().find(|target| target.id != "echo") {
            return refused(format!("`{}` is to be answered by `{}`", case.name, target.name()));
        }
        if let Some(it) = case.rubric.external_checks().next() {
            return refused(format!("`{}` is to be checked by {}", case.name, it.check.describe()));
        }
        if let Some(program) = case.workspace.iter().flat_map(|workspace| &workspace.setup).next() {
            return refused(format!("`{}` is to be prepared by {}", case.name, program.describe()));
        }
        if case.server.is_some() || case.workspace.is_some() {
            return refused(format!("`{}` needs a server or a workspace", case.name));
        }
    }
    if let Some(vendor) = settings.vendors.keys().find(|key| !own.vendors.contains_key(*key)) {
        return refused(format!("the settings name a vendor that the server does not, `{vendor}`"));
    }
    if settings.network != own.network {
        return refused("the settings say how the network is reached".to_owned());
    }
    Ok(())
}
