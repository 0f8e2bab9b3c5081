mod explain;
mod refused_programs;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args as _, FromArgMatches as _};
use jurist_core::dataset::DatasetReference;
use jurist_core::diagnostic::closest;
use jurist_core::dialect::ProjectSettings;
use jurist_core::grade::{Usd, VerdictStatus};
use jurist_core::plan::{CaseSelection, Plan, PlanUnit, plan_suite};
use jurist_core::rubric::Rubric;
use jurist_core::run::{NotGraded, Packed};
use jurist_core::suite::{Case, CaseTarget, Judge, McpServer, Suite};
use jurist_engine::agent::RunSetupError;
use jurist_engine::bundle::Bundle;
use jurist_engine::execute::StoredOutputs;
use jurist_engine::judge::{ResolvedJudges, permit_check};
use jurist_engine::load::{LoadOptions, SuiteFiles};
use jurist_engine::load_script::ScriptPolicy;
use jurist_engine::model::resolve::{Resolver, Unresolved};
use jurist_engine::permission::{NotPermitted, permit_addresses};
use jurist_engine::prepare::{PreparedJudges, RunRequest, RunResources, build_grading_jobs};
use jurist_server::{NewRun, Shard};
use serde_json::Map;

use self::explain::explain_eval_plan;
use self::refused_programs::RefusedPrograms;
use super::dataset::{SuiteForRun, WantedSuite};
use crate::connection::remote::EvalServerArgs;
use crate::failure::{PERMISSIONS, find_page_for_error};
use crate::judging::JudgingArgs;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::reporting::printable_line;
use crate::running::{FinishedRun, ReadyRun, RunExecutionArgs, RunScope};
use crate::runtime::wait_for;
use crate::stored_runs::{ResumedRun, RunLog, StoredRuns};
use crate::suite_loading::LoadingArgs;

/// Run a suite and report a verdict per case
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist eval suite.yaml --explain          Print the plan and projected cost
  jurist eval suite.yaml --max-cost 2
  jurist eval suite.yaml --reporter junit=results.xml --reporter md=summary.md
  jurist eval suite.yaml --replay calls.jsonl
                                            Run in CI without an API key
  jurist eval suite.yaml --resume latest    Continue an interrupted run
  jurist eval suite.yaml --only-failed latest
  jurist eval suite.yaml --only 'year-end balance'
  jurist eval suite.yaml --no-defer --baseline main.json --fail-on-regression
                                            CI gate: all graded, none worse
  jurist eval suite.yaml --allow-commands   Run the agents that the file names
  jurist eval suite.yaml --data dataset:support@v3:test
                                            Rows of a dataset instead of `data:`
  jurist eval dataset:regressions           Grade cases by their own rubrics
  jurist eval suite.yaml --server https://jurist.example.org
                                            Run on the workers of a server

A case without a recorded response is executed: by its targets, or by a model
with the tools of its MCP server.
A case that cannot be graded (no API key, no server that answers) is deferred
with the reason, and the last line says so; --no-defer makes it an error.
Several suites get one report each: results.xml becomes results-SUITE.xml.

Exit codes: 0 passed or deferred; 1 a case failed (or a gate failed, if one is
given); 2 bad file; 3 grader error; 5 stopped by a budget; 130 interrupted.")]
pub struct EvalArgs {
    /// Suites, in any dialect; or dataset:NAME@v3:test
    #[arg(value_name = "FILE", required_unless_present = "config")]
    files: Vec<PathBuf>,
    /// Same as FILE
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the plan without calling a model
    #[arg(long)]
    explain: bool,
    /// Run only cases whose name contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Run only cases with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Run only part I of N, such as 2/5
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// Run only the cases that did not pass in this run
    #[arg(long, value_name = "RUN")]
    only_failed: Option<String>,
    /// Run only this case, with all its rows and trials; repeatable
    #[arg(long, value_name = "CASE", conflicts_with = "only_failed")]
    only: Vec<String>,
    /// Continue an interrupted run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["only_failed", "only"])]
    resume: Option<String>,
    /// Rows that replace the `data` of the suite: a file, or dataset:NAME@v3:test
    #[arg(long, value_name = "FILE")]
    data: Option<String>,
    /// Target to use instead of those of the file: a target's name, a model, or exec:PROGRAM
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Model that answers cases without a recorded response, target or agent
    #[arg(long, value_name = "MODEL")]
    agent: Option<String>,
    #[command(flatten)]
    server: EvalServerArgs,
    #[command(flatten)]
    running: RunExecutionArgs,
    #[command(flatten)]
    loading: LoadingArgs,
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('/').and_then(|(part, n)| Some((part.parse().ok()?, n.parse().ok()?)));
    let right = |(part, n): &(u32, u32)| 1 <= *part && part <= n;
    parts.filter(right).ok_or_else(|| "a part, such as 2/5".to_owned())
}

pub fn run_eval_command(args: &EvalArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(evaluate_suite_files(args))
}

async fn evaluate_suite_files(args: &EvalArgs) -> anyhow::Result<CommandOutcome> {
    let runs = StoredRuns::default();
    let mut select = args.selection();
    if let Some(name) = &args.only_failed {
        let before = runs.load(name).await?;
        let failed = before.results.iter().filter(|result| result.verdict.status != VerdictStatus::Pass);
        let names: Vec<String> = failed.map(|result| result.case).collect();
        if names.is_empty() {
            render::print_note(&format!(
                "every case of {} passed, so there is nothing to run again",
                before.id
            ));
            return Ok(CommandOutcome::Passed);
        }
        select.names = Some(names);
    }
    let files: Vec<&PathBuf> = args.files.iter().chain(&args.config).collect();
    anyhow::ensure!(files.len() < 2 || args.only.is_empty(), "--only takes one suite");
    anyhow::ensure!(files.len() < 2 || args.resume.is_none(), "--resume takes one suite");
    args.running.check(files.len())?;
    let (mut total, mut wrong) = (Vec::new(), false);
    for (file, label) in files.iter().zip(suite_labels(&files)) {
        let is_selection = select != CaseSelection::default();
        let part = RunScope { label, is_selection, ..RunScope::default() };
        match evaluate_file(args, &runs, file, &select, part).await? {
            EvalResult::Finished(finished) => total.push(*finished),
            EvalResult::Invalid => wrong = true,
            EvalResult::CannotRun(problems) => {
                problems.print();
                wrong = true;
            }
        }
        if total.last().is_some_and(|finished_run| finished_run.ended == CommandOutcome::Interrupted) {
            return Ok(CommandOutcome::Interrupted);
        }
    }
    if 1 < files.len()
        && let Some(all) = NotGraded::of_all(
            total.iter().map(|finished_run| (&finished_run.not_graded, finished_run.n_cases)),
        )
    {
        render::print_note(&format!("in all {} suites, {}", files.len(), all.statement));
    }
    let ended =
        total.iter().map(|finished_run| finished_run.ended).fold(CommandOutcome::Passed, worse_outcome);
    Ok(if wrong { CommandOutcome::BadInput } else { ended })
}

/// The labels that distinguish suites in the names of reports: their own names, or their paths where names repeat.
fn suite_labels(files: &[&PathBuf]) -> Vec<Option<String>> {
    if files.len() < 2 {
        return vec![None];
    }
    let stem = |file: &&PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let path = |file: &&PathBuf| {
        let path = file.with_extension("").to_string_lossy().replace(['/', '\\'], "-");
        path.trim_matches(['-', '.']).to_owned()
    };
    let mut labels: Vec<String> = files.iter().map(stem).collect();
    for (at, file) in files.iter().enumerate() {
        if files.iter().filter(|other| stem(other) == stem(file)).count() != 1 {
            labels[at] = path(file);
        }
    }
    for at in 0..labels.len() {
        // The same label again, for example because one file is named twice.
        if labels[..at].contains(&labels[at]) {
            labels[at] = format!("{}-{}", labels[at], at + 1);
        }
    }
    labels.into_iter().map(Some).collect()
}

/// What became of a suite.
pub enum EvalResult {
    Finished(Box<FinishedRun>),
    /// Its file is invalid; the problems have been printed.
    Invalid,
    /// Its file is correct, but not all of it can be run here.
    CannotRun(CaseProblems),
}

/// What keeps cases from being run or judged as they are written.
pub struct CaseProblems {
    /// Each problem with where its case is written.
    pub texts: Vec<String>,
    /// Pages of the book that help.
    pages: BTreeSet<&'static str>,
}

impl CaseProblems {
    pub fn print(&self) {
        self.texts.iter().for_each(|problem| render::print_error(&printable_line(problem)));
        self.pages.iter().for_each(|page| render::print_page(page));
    }
}

impl EvalArgs {
    /// The arguments of `jurist eval` by its own flags, for other commands that run a suite.
    pub fn from_flags(flags: impl IntoIterator<Item = OsString>) -> anyhow::Result<Self> {
        let flags = [OsString::from("eval")].into_iter().chain(flags);
        let matches = Self::augment_args(clap::Command::new("eval")).try_get_matches_from(flags)?;
        Ok(Self::from_arg_matches(&matches)?)
    }

    /// The same arguments with the judges and reading options of another command.
    pub fn with_judging(mut self, judging: JudgingArgs, loading: LoadingArgs) -> Self {
        self.running.judging = judging;
        self.loading = loading;
        self
    }

    /// The cases that are named by the flags.
    pub fn selection(&self) -> CaseSelection {
        CaseSelection {
            filter: self.filter.clone(),
            tags: self.tag.clone(),
            shard: self.shard,
            names: (!self.only.is_empty()).then(|| self.only.clone()),
        }
    }

    /// Reads a suite, or the cases of a dataset, with the rows that it names.
    async fn load_suite_for_run(&self, file: &Path) -> anyhow::Result<Option<SuiteForRun>> {
        let wanted = WantedSuite { file, data: self.data.as_deref(), server: &self.server };
        wanted.load(self.load_options()).await
    }

    /// How the suite is read: its scripts are run where the command allows programs.
    pub fn load_options(&self) -> LoadOptions {
        let scripts = match self.running.judging.allow_commands {
            true => ScriptPolicy::Allowed,
            // An explanation makes no calls.
            false if self.explain => ScriptPolicy::Skipped,
            false => ScriptPolicy::Refused,
        };
        LoadOptions { scripts, ..self.loading.options() }
    }
}

/// Evaluates the one suite of the arguments, or explains it to `out` if they ask for it.
pub async fn evaluate_one_suite(args: &EvalArgs, out: &mut impl Write) -> anyhow::Result<EvalResult> {
    args.running.check(1)?;
    let file = args.files.first().context("no suite is named")?;
    let select = args.selection();
    let part = RunScope { is_selection: select != CaseSelection::default(), ..RunScope::default() };
    if !args.explain {
        return evaluate_file(args, &StoredRuns::default(), file, &select, part).await;
    }
    let Some(read) = args.load_suite_for_run(file).await? else { return Ok(EvalResult::Invalid) };
    require_cases(&read.suite, &args.only)?;
    let (loaded, plan) = prepare(args, read.suite, read.settings, (&read.path, part), &select).await?;
    explain_eval_plan(out, args, &loaded, &plan)?;
    Ok(EvalResult::Finished(Box::new(CommandOutcome::Passed.into())))
}

/// Evaluates one suite.
async fn evaluate_file(
    args: &EvalArgs,
    runs: &StoredRuns,
    file: &Path,
    select: &CaseSelection,
    part: RunScope,
) -> anyhow::Result<EvalResult> {
    let Some(read) = args.load_suite_for_run(file).await? else { return Ok(EvalResult::Invalid) };
    require_cases(&read.suite, &args.only)?;
    let part = RunScope { dataset_tags: read.dataset_tags.clone(), ..part };
    if args.server.is_named() && !args.explain {
        let sent = RemoteEval { read: &read, select };
        return Ok(EvalResult::Finished(Box::new(sent.evaluate_on_server(args, runs, part).await?)));
    }
    let (loaded, plan) = prepare(args, read.suite, read.settings, (&read.path, part), select).await?;
    if args.explain {
        explain_eval_plan(&mut render::stdout(), args, &loaded, &plan)?;
        return Ok(EvalResult::Finished(Box::new(CommandOutcome::Passed.into())));
    }
    run_prepared_eval(args, runs, &loaded, plan).await
}

/// Refuses names that no case of the suite has.
fn require_cases(suite: &Suite, wanted: &[String]) -> anyhow::Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let plan = plan_suite(suite, &CaseSelection::default())?;
    let known: Vec<&str> = plan.units.iter().flat_map(PlanUnit::all_names).collect();
    if let Some(name) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
        let meant = closest(name, &known).map(|meant| format!("; did you mean `{meant}`?"));
        anyhow::bail!("the suite has no case `{name}`{}", meant.unwrap_or_default());
    }
    Ok(())
}

/// What keeps cases of a suite that was read without a fault from being run, each with where the case is written: a
/// target, a model or a server that is unknown. Programs are taken to be allowed.
pub(super) async fn plan_problems(
    file: &Path,
    suite: Suite,
    settings: ProjectSettings,
) -> anyhow::Result<Vec<String>> {
    // Nothing is executed and nothing is sent, so the settings of the project need no trust.
    let flags = ["--allow-commands", "--trust-settings", "--"].map(OsString::from);
    let args = EvalArgs::from_flags(flags.into_iter().chain([file.as_os_str().to_owned()]))?;
    let part = RunScope::default();
    let (loaded, plan) = prepare(&args, suite, settings, (file, part), &CaseSelection::default()).await?;
    Ok(loaded.find_all_problems(&args, &plan, &mut loaded.new_judges()).texts)
}

/// Programs, servers and addresses for which a run of a suite needs --allow-commands, each once.
pub(super) async fn list_programs(
    file: &Path,
    suite: Suite,
    settings: ProjectSettings,
) -> anyhow::Result<Vec<String>> {
    let flags = ["--trust-settings", "--"].map(OsString::from);
    let args = EvalArgs::from_flags(flags.into_iter().chain([file.as_os_str().to_owned()]))?;
    let part = RunScope::default();
    let (loaded, plan) = prepare(&args, suite, settings, (file, part), &CaseSelection::default()).await?;
    let (mut programs, mut prepared) = (RefusedPrograms::default(), loaded.new_judges());
    for unit in &plan.units {
        let refused = loaded.find_problems(&args, unit, &mut prepared).refused;
        programs.add(&loaded, unit, refused);
    }
    Ok(programs.names())
}

/// The plan of a suite, and everything that runs and judges it.
pub async fn prepare<'a>(
    args: &EvalArgs,
    mut suite: Suite,
    settings: ProjectSettings,
    (file, part): (&'a Path, RunScope),
    select: &CaseSelection,
) -> anyhow::Result<(PreparedEval<'a>, Plan)> {
    let judging = &args.running.judging;
    let resolver = judging.resolver(&settings)?;
    let request = judging.complete_run_request(&resolver).await?;
    let request = RunRequest { agent_model: args.agent.clone(), ..request };
    if let Some(target) = &args.target {
        choose_target(&mut suite, target);
    }
    let plan = request.plan(&mut suite, select).with_context(|| format!("`{}`", file.display()))?;
    // The plan contains the cases, so rows of data need not be in memory twice.
    suite.cases = Vec::new();
    let project = SuiteFiles::of(file, args.loading.options().outside);
    let resources = judging.run_resources(resolver, suite.servers.clone(), project);
    Ok((PreparedEval { suite, settings, request, resources, file, part }, plan))
}

/// Has one target produce the answers of all cases that give none: one of the file's, or one that is named in full.
fn choose_target(suite: &mut Suite, name: &str) {
    let known = || suite.cases.iter().flat_map(|case| &case.targets).chain(&suite.targets);
    let names: Vec<&str> = known().map(CaseTarget::name).collect();
    let known = known().find(|target| target.name() == name || target.id == name).cloned();
    if let (None, Some(meant)) = (&known, closest(name, &names)) {
        let warning =
            format!("`{name}` is not a target of the file and is used as a model; did you mean `{meant}`?");
        render::print_warning(&warning);
    }
    let chosen =
        known.unwrap_or_else(|| CaseTarget { id: name.to_owned(), label: None, config: Map::default() });
    for case in suite.cases.iter_mut().filter(|case| !case.candidate.is_given()) {
        case.targets = vec![chosen.clone()];
    }
}

/// A suite that others grade.
struct RemoteEval<'a> {
    read: &'a SuiteForRun,
    select: &'a CaseSelection,
}

impl RemoteEval<'_> {
    async fn evaluate_on_server(
        &self,
        args: &EvalArgs,
        runs: &StoredRuns,
        part: RunScope,
    ) -> anyhow::Result<FinishedRun> {
        let file_name = || format!("`{}`", self.read.path.display());
        anyhow::ensure!(
            args.resume.is_none() && args.target.is_none(),
            "--resume and --target work only for runs on this machine"
        );
        args.running.refuse_local()?;
        let plan = plan_suite(&self.read.suite, self.select).with_context(file_name)?;
        let resolver = args.running.judging.resolver(&self.read.settings)?;
        self.permit_plan_addresses(args, &plan, &resolver)?;
        let project = SuiteFiles::of(&self.read.path, args.loading.options().outside);
        let mut bundle =
            Bundle::new(&self.read.reading, &project, args.loading.dialect, &plan).with_context(file_name)?;
        // The server has the datasets, and reads them itself.
        bundle.files.retain(|name, _| !name.starts_with(DatasetReference::PREFIX));
        let mut new_run = NewRun::of(bundle);
        args.running.judging.apply_to_new_run(&mut new_run)?;
        new_run.filter.clone_from(&self.select.filter);
        new_run.tags.clone_from(&self.select.tags);
        new_run.shard = self.select.shard.map(|(part, of)| Shard { part, of });
        new_run.names.clone_from(&self.select.names);
        new_run.agent.clone_from(&args.agent);
        new_run.retry_errors = args.running.retry_errors();
        new_run.provenance = args.running.provenance().await.into();
        new_run.provenance.tags.extend(part.dataset_tags.iter().cloned());
        let remote = args.server.remote(resolver.client()?)?;
        let no_defer = args.running.judging.no_defer(&self.read.settings);
        remote.evaluate_and_report(&args.running, runs, &new_run, part, no_defer).await
    }

    /// Variables of this machine are sent with the suite, so their consent is given here as well.
    fn permit_plan_addresses(&self, args: &EvalArgs, plan: &Plan, resolver: &Resolver) -> anyhow::Result<()> {
        let suite = &self.read.suite;
        for unit in &plan.units {
            let case = unit.cell.case().expect("it was filled when it was planned");
            let judges = suite.judges.values().chain([&case.judge]);
            let judges = judges.flat_map(Judge::addresses).map(str::to_owned);
            let addresses = judges.chain(list_addresses(args, suite, &case));
            if let Err(refused) = permit_addresses(false, resolver, &suite.variables, addresses) {
                anyhow::bail!("the file names {}; only a run on this machine can allow it", refused.what());
            }
        }
        Ok(())
    }
}

/// A suite, the request and what all its units share.
pub struct PreparedEval<'a> {
    pub suite: Suite,
    settings: ProjectSettings,
    request: RunRequest,
    resources: RunResources,
    file: &'a Path,
    part: RunScope,
}

impl PreparedEval<'_> {
    fn new_judges(&self) -> PreparedJudges {
        PreparedJudges::new(self.resources.clone(), self.suite.judges.clone(), self.request.seed)
    }

    /// The judges of a unit, if the files may name them.
    fn judges_for_unit(
        &self,
        args: &EvalArgs,
        unit: &PlanUnit,
        prepared: &mut PreparedJudges,
    ) -> anyhow::Result<Arc<ResolvedJudges>> {
        let judge = self.request.judge(&unit.cell.judge());
        let judging = &args.running.judging;
        judging.consent(&judge, &self.suite.judges)?;
        let (resolver, variables) = (&self.resources.resolver, &self.suite.variables);
        judging.permit_judge_addresses(resolver, variables, &judge, &self.suite.judges)?;
        Ok(prepared.resolve(&judge, unit.trial)?)
    }

    /// The permanent reasons for which a unit cannot be run or judged as it is written.
    fn find_problems(&self, args: &EvalArgs, unit: &PlanUnit, prepared: &mut PreparedJudges) -> UnitProblems {
        let mut problems = UnitProblems::default();
        let case = unit.cell.case().expect("it was filled when it was planned");
        if !case.candidate.is_given() {
            match self.resources.agents.check(&case) {
                Ok(()) => {}
                Err(RunSetupError::NotPermitted(refused)) => problems.refused.push(refused),
                Err(error) => {
                    problems.others.push(self.describe_setup_error(args, &error));
                    problems.pages.extend(find_page_for_error(&error.into()));
                }
            }
            problems.refused.extend(self.resources.agents.find_refused_setup(&case));
        }
        let judging = self
            .judges_for_unit(args, unit, prepared)
            .and_then(|judges| args.running.judging.check_prices(&judges, unit.calls));
        if let Err(error) = judging {
            match error.downcast::<NotPermitted>() {
                Ok(refused) => problems.refused.push(refused),
                Err(error) => {
                    problems.others.push(self.describe_judge_error(&error));
                    problems.pages.extend(find_page_for_error(&error));
                }
            }
        }
        let checks = unit.cell.template().rubric.external_checks();
        let is_allowed = args.running.judging.allow_commands;
        let resolver = &self.resources.resolver;
        problems.refused.extend(
            permit_addresses(
                is_allowed,
                resolver,
                &self.suite.variables,
                list_addresses(args, &self.suite, &case),
            )
            .err(),
        );
        problems.refused.extend(checks.filter_map(|check| permit_check(is_allowed, &check.check).err()));
        problems
    }

    /// Why a case cannot be run. An unknown provider may be one that the file's own tool has.
    fn describe_setup_error(&self, args: &EvalArgs, error: &RunSetupError) -> String {
        let is_of_file = args.target.is_none() && args.agent.is_none();
        match (error, self.suite.other_tool.filter(|_| is_of_file)) {
            (RunSetupError::NoModel(Unresolved::Unknown { .. }), Some(tool)) => format!(
                "{error} (under `providers` or `target`; if {tool} knows it, run the file with {tool} and read its results with `jurist import`, or name a program with `exec:`)"
            ),
            _ => error.to_string(),
        }
    }

    /// Why a case cannot be judged.
    fn describe_judge_error(&self, error: &anyhow::Error) -> String {
        let is_unknown = matches!(error.downcast_ref::<Unresolved>(), Some(Unresolved::Unknown { .. }));
        match self.suite.other_tool.filter(|_| is_unknown && self.request.judge_model.is_none()) {
            Some(tool) => format!(
                "{error:#} (the judge, under `provider`; if only {tool} knows it, name another one with --judge)"
            ),
            None => format!("{error:#}"),
        }
    }

    /// What keeps units of a plan from being run or judged, each with where its case is written. All that needs
    /// --allow-commands is one problem.
    fn find_all_problems(&self, args: &EvalArgs, plan: &Plan, prepared: &mut PreparedJudges) -> CaseProblems {
        let (mut refused, mut others, mut pages) = (RefusedPrograms::default(), Vec::new(), BTreeSet::new());
        for unit in &plan.units {
            let problems = self.find_problems(args, unit, prepared);
            pages.extend(problems.pages);
            for problem in problems.others {
                let problem = format!("{}: {problem}", self.place_of(unit));
                if !others.contains(&problem) {
                    others.push(problem);
                }
            }
            refused.add(self, unit, problems.refused);
        }
        let refused = refused.message(self.file);
        pages.extend(refused.is_some().then_some(PERMISSIONS));
        CaseProblems { texts: refused.into_iter().chain(others).collect(), pages }
    }

    /// Where the case of a unit is written: the file, the line and the name.
    pub(super) fn place_of(&self, unit: &PlanUnit) -> String {
        format!("{}: `{}`", self.origin_of(unit), unit.cell.template().name)
    }

    /// The same without the name.
    pub(super) fn origin_of(&self, unit: &PlanUnit) -> String {
        let origin = unit.cell.template().origin.as_ref();
        origin.map_or_else(|| self.file.display().to_string(), ToString::to_string)
    }

    /// Why a check of a rubric cannot compare meanings, if one does.
    fn find_embedding_problem(&self, rubric: &Rubric) -> Option<String> {
        let text_services = &self.resources.text_services;
        let error = rubric.embedding_models().find_map(|model| text_services.check(&model).err());
        error.map(|error| error.to_string())
    }
}

/// What keeps a unit from being run or judged as it is written.
#[derive(Default)]
struct UnitProblems {
    /// What needs --allow-commands.
    refused: Vec<NotPermitted>,
    others: Vec<String>,
    /// Pages of the book about the others.
    pages: BTreeSet<&'static str>,
}

/// Addresses that a case names for what answers it and for embeddings of its checks. A target of the command line is a
/// person's choice.
fn list_addresses(args: &EvalArgs, suite: &Suite, case: &Case) -> Vec<String> {
    let is_of_file =
        |target: &&CaseTarget| Some(&target.id) != args.target.as_ref() || !target.config.is_empty();
    let targets = case.targets.iter().filter(|_| !case.candidate.is_given()).filter(is_of_file);
    let server = case.server.as_ref().and_then(|name| match suite.servers.get(name)? {
        McpServer::Http { url, .. } => Some(url.clone()),
        McpServer::Stdio { .. } => None,
    });
    let embeddings = case.rubric.embedding_models().filter_map(|model| model.base_url);
    targets.flat_map(CaseTarget::addresses).chain(server).chain(embeddings).collect()
}

/// The outcome of a command with several files is the worst outcome of a file.
fn worse_outcome(a: CommandOutcome, b: CommandOutcome) -> CommandOutcome {
    let rank = |command_outcome: &CommandOutcome| match command_outcome {
        CommandOutcome::Passed => 0,
        CommandOutcome::Incomplete => 1,
        CommandOutcome::OverBudget => 2,
        CommandOutcome::Failed => 3,
        CommandOutcome::BadInput => 4,
        CommandOutcome::Interrupted => 5,
    };
    if rank(&a) < rank(&b) { b } else { a }
}

/// Runs a plan if everything in it can be run.
pub async fn run_prepared_eval(
    args: &EvalArgs,
    runs: &StoredRuns,
    loaded: &PreparedEval<'_>,
    plan: Plan,
) -> anyhow::Result<EvalResult> {
    let judging = &args.running.judging;
    let caller = judging.caller(&loaded.settings)?;
    let live = plan.units.iter().find(|unit| !unit.cell.template().candidate.is_given());
    if let Some(unit) = live.filter(|_| judging.batch) {
        anyhow::bail!("--batch works only with recorded responses, and `{}` has to be executed", unit.name);
    }
    // All agents and judges are resolved before the run begins, so that a missing key costs nothing.
    let mut prepared = loaded.new_judges();
    let problems = loaded.find_all_problems(args, &plan, &mut prepared);
    if !problems.texts.is_empty() {
        return Ok(EvalResult::CannotRun(problems));
    }
    let ResumedRun { run, results: before, paid, log } = match &args.resume {
        Some(name) => runs.resume(name).await?,
        None => {
            let suite = loaded.suite.name.clone().unwrap_or_else(|| loaded.file.display().to_string());
            let mut provenance = args.running.provenance().await;
            provenance.tags.extend(loaded.part.dataset_tags.iter().cloned());
            let provenance = provenance.sanitize();
            let run = args.running.new_run(
                suite,
                provenance,
                plan.units.iter().map(|unit| &unit.cell.template().rubric),
            );
            let log = match loaded.part.is_transient {
                true => RunLog::nowhere(run.id),
                false => args.running.log(runs, &run).await,
            };
            ResumedRun { run, results: Vec::new(), paid: Usd::default(), log }
        }
    };
    let mut rubrics = plan.units.iter().map(|unit| unit.cell.template().rubric.version());
    anyhow::ensure!(
        rubrics.all(|rubric| run.rubrics.contains_key(rubric)),
        "a rubric has changed since {} started; start a new run",
        run.id
    );
    let (mut done, outputs) = (BTreeMap::new(), StoredOutputs::default());
    for (at, result) in before {
        let unit = plan.units.get(at).filter(|unit| unit.name == result.case).with_context(|| {
            format!("`{}` is no longer at the same place as in {}; start a new run", result.case, run.id)
        })?;
        // Units without a verdict are run again, and so are units that were graded with another version of the rubric.
        let has_verdict = matches!(result.verdict.status, VerdictStatus::Pass | VerdictStatus::Fail);
        if has_verdict && result.rubric == *unit.cell.template().rubric.version() {
            done.insert(at, Packed::new(&result));
            if unit.cell.template().store_output_as.is_some() {
                outputs.add_result(&result);
            }
        }
    }
    let jobs = build_grading_jobs(
        plan,
        &loaded.resources.agents,
        |at| done.contains_key(&at),
        |unit| loaded.judges_for_unit(args, unit, &mut prepared),
    )?;
    for job in &jobs {
        done.remove(&job.at);
    }
    let ready = ReadyRun { jobs, run, log, done, outputs, paid, part: loaded.part.clone() };
    let finished = args.running.execute_run(runs, ready, caller, &loaded.settings).await?;
    Ok(EvalResult::Finished(Box::new(finished)))
}
