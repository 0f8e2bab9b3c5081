use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::candidate::Candidate;
use jurist_core::grade::Usd;
use jurist_core::plan::{PlanUnit, estimate_judge_calls};
use jurist_core::run::{CaseResult, Run};
use jurist_core::suite::{AgentSettings, Case, CaseInstance, CaseMatrix, Judge, Suite};
use jurist_engine::execute::GradingJob;
use jurist_engine::load::SuiteFiles;
use jurist_engine::prepare::{PreparedJudges, RunRequest, apply_on_error};

use crate::outcome::CommandOutcome;
use crate::running::{ReadyRun, RunExecutionArgs, RunScope};
use crate::runtime::wait_for;
use crate::stored_runs::StoredRuns;
use crate::suite_loading::{LoadingArgs, ValidSuite, choose_file_rubric, load_suite_with_settings};

/// Grade a stored run again with another rubric or judge
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist regrade latest --judge gpt-5-mini     Ask another judge
  jurist regrade latest --rubric suite.yaml    Match evals by name
  jurist regrade latest --rubric strict.yaml --judge claude-sonnet-4-5
  jurist compare previous latest               Show the effect of the change

No agent is run again. The new grades are a new run; the old run is unchanged.")]
pub struct RegradeArgs {
    /// Run to grade again
    #[arg(value_name = "RUN")]
    run: String,
    /// File with an eval per case, or with one rubric for all cases [default: the file of the run]
    #[arg(long, value_name = "FILE")]
    rubric: Option<PathBuf>,
    /// Name of the rubric, if the file has several
    #[arg(long, value_name = "NAME")]
    rubric_name: Option<String>,
    #[command(flatten)]
    running: RunExecutionArgs,
    #[command(flatten)]
    loading: LoadingArgs,
}

pub fn run_regrade_command(args: &RegradeArgs) -> anyhow::Result<CommandOutcome> {
    wait_for(regrade_run(args))
}

async fn regrade_run(args: &RegradeArgs) -> anyhow::Result<CommandOutcome> {
    let runs = StoredRuns::default();
    let before = runs.load(&args.run).await?;
    let file = match &args.rubric {
        Some(file) => file.clone(),
        None => file_of_run(&before).with_context(|| {
            format!("the file that `{}` was made from is not here; name a file with --rubric", args.run)
        })?,
    };
    let Some(ValidSuite { suite, settings, .. }) = load_suite_with_settings(&file, args.loading.options())?
    else {
        return Ok(CommandOutcome::BadInput);
    };
    let judging = &args.running.judging;
    let (kept, lost): (Vec<CaseResult>, Vec<CaseResult>) =
        before.results.iter().partition(|result| !result.material.is_empty());
    anyhow::ensure!(!kept.is_empty(), "`{}` has nothing that can be graded again", args.run);
    if !lost.is_empty() {
        crate::render::print_warning(&format!(
            "{} of {} cases had nothing to grade",
            lost.len(),
            before.results.len()
        ));
    }
    let resolver = judging.resolver(&settings)?;
    let flags = judging.run_request();
    let default_judge = judging.resolve_judge_model(flags.judge(&Judge::default()), &resolver).await?.model;
    let request = RunRequest { default_judge, ..flags };
    let project = SuiteFiles::of(&file, args.loading.options().outside);
    let resources = judging.run_resources(resolver, BTreeMap::new(), project);
    let mut prepared = PreparedJudges::new(resources.clone(), suite.judges.clone(), request.seed);
    let mut jobs = Vec::new();
    for (at, result) in kept.into_iter().enumerate() {
        let case = build_regrade_case(args, &file, &suite, &result)?;
        let judge = request.judge(&case.judge);
        judging.consent(&judge, &suite.judges)?;
        judging.permit_checks(&case.rubric)?;
        anyhow::ensure!(
            case.rubric.max_scores().next().is_none(),
            "`max-score` compares several outputs of one case, but here each is graded separately; use `jurist eval`"
        );
        let trial = result.trial.unwrap_or(1);
        let bench = prepared.resolve(&judge, trial)?;
        let calls = estimate_judge_calls(&case.rubric, &judge);
        judging.check_prices(&bench, calls)?;
        let base = result.base().to_owned();
        let cell = CaseInstance::alone(case);
        let unit = PlanUnit { name: result.case, base, parts: result.parts, cell, trial, calls };
        let material = Some(Arc::new(result.material));
        let (unit, agents) = (Arc::new(unit), Arc::clone(&resources.agents));
        jobs.push(GradingJob { at, unit, bench, agents, material });
    }
    let name = before.suite.clone().unwrap_or_else(|| file.display().to_string());
    let provenance = args.running.provenance().await;
    let run = args.running.new_run(name, provenance, jobs.iter().map(|job| &job.unit.cell.template().rubric));
    let log = args.running.log(&runs, &run).await;
    let ready =
        ReadyRun { jobs, run, log, done: BTreeMap::new(), paid: Usd::default(), part: RunScope::default() };
    Ok(args.running.execute_run(&runs, ready, judging.caller(&settings)?, &settings).await?.ended)
}

/// The file in which the cases of a run are written, if it is there.
fn file_of_run(run: &Run) -> Option<PathBuf> {
    let file = run.results.iter().find_map(|result| result.origin).map(|origin| PathBuf::from(origin.file));
    file.filter(|file| file.is_file())
}

/// The eval of the same name if the file has one, or the file's only rubric.
fn build_regrade_case(
    args: &RegradeArgs,
    file: &Path,
    suite: &Suite,
    result: &CaseResult,
) -> anyhow::Result<Case> {
    let is_same =
        |case: &&Case| result.base() == case.name || result.base().starts_with(&format!("{} [", case.name));
    let named = suite.cases.iter().filter(|_| args.rubric_name.is_none()).find(is_same);
    let (rubric, judge) = match named {
        Some(case) => (Arc::clone(&case.rubric), case.judge.clone()),
        None => {
            let chosen =
                choose_file_rubric(file, args.rubric_name.as_deref(), "--rubric-name", &args.loading)?;
            let chosen = chosen.with_context(|| format!("`{}` has no rubric", file.display()))?;
            (chosen.rubric, chosen.judge)
        }
    };
    let rubric = apply_on_error(&rubric, &judge);
    Ok(Case {
        name: result.base().to_owned(),
        origin: result.origin.clone(),
        description: None,
        tags: Vec::new(),
        metadata: result.metadata.clone().into_iter().collect(),
        candidate: Candidate::default(),
        server: None,
        targets: Vec::new(),
        agent: AgentSettings::default(),
        workspace: None,
        rubric,
        judge,
        matrix: CaseMatrix::default(),
        data: None,
        labels: BTreeMap::new(),
        repeat: if result.trial.is_some() { 2 } else { 1 },
    })
}
