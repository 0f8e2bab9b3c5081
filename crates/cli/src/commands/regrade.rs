use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::candidate::{Candidate, CaseData, JudgeInput};
use jurist_core::dialect::ProjectSettings;
use jurist_core::grade::Usd;
use jurist_core::plan::{PlanUnit, estimate_judge_calls};
use jurist_core::rubric::Rubric;
use jurist_core::run::{CaseResult, Run};
use jurist_core::suite::{
    AgentSettings, Case, CaseInstance, CaseMatrix, Judge, OUTPUT_PREFIX, Suite, case_variables, fill,
    find_row_field, require_row_fields,
};
use jurist_engine::execute::{GradingJob, StoredOutputs};
use jurist_engine::load::SuiteFiles;
use jurist_engine::prepare::{PreparedJudges, apply_on_error};
use serde_json::{Map, Value as Json};

use super::dataset::{SuiteForRun, WantedSuite};
use crate::connection::remote::EvalServerArgs;
use crate::outcome::CommandOutcome;
use crate::running::{ReadyRun, RunExecutionArgs, RunScope};
use crate::runtime::wait_for;
use crate::stored_runs::StoredRuns;
use crate::suite_loading::{LoadingArgs, RubricChoice, choose_suite_rubric};

/// Grade a stored run again with another rubric or judge
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist regrade latest --judge gpt-5-mini     Ask another judge
  jurist regrade latest --rubric suite.yaml    Match evals by name
  jurist regrade latest --rubric strict.yaml --judge claude-sonnet-4-5
  jurist compare previous latest               Show the effect of the change

No agent is run again. The new grades are a new run; the old run is unchanged.
A case keeps the row of data that it had, also if the data has changed.")]
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
    // Rows of its datasets are read only because a suite has to be complete: cases have the rows of the run.
    let server = EvalServerArgs::default();
    let wanted = WantedSuite { file: &file, data: None, server: &server };
    let Some(SuiteForRun { path: file, suite, settings, .. }) = wanted.load(args.loading.options()).await?
    else {
        return Ok(CommandOutcome::BadInput);
    };
    let judging = &args.running.judging;
    let (gradable, empty): (Vec<CaseResult>, Vec<CaseResult>) =
        before.results.iter().partition(|result| !result.material.is_empty());
    anyhow::ensure!(!gradable.is_empty(), "`{}` has nothing that can be graded again", args.run);
    if !empty.is_empty() {
        crate::render::print_warning(&format!(
            "{} of {} cases had nothing to grade",
            empty.len(),
            before.results.len()
        ));
    }
    let resolver = judging.resolver(&settings)?;
    let request = judging.complete_run_request(&resolver).await?;
    let project = SuiteFiles::of(&file, args.loading.options().outside);
    let rubrics = RubricFile {
        path: &file,
        suite: &suite,
        settings: &settings,
        project: &project,
        rubric_name: args.rubric_name.as_deref(),
    };
    let resources = judging.run_resources(resolver, BTreeMap::new(), project.clone());
    let mut prepared = PreparedJudges::new(resources.clone(), suite.judges.clone(), request.seed);
    let mut jobs = Vec::new();
    for (at, result) in gradable.into_iter().enumerate() {
        let RegradeCase { case, material } = rubrics.build_case(&result)?;
        let judge = request.judge(&case.judge);
        judging.consent(&judge, &suite.judges)?;
        judging.permit_judge_addresses(&resources.resolver, &suite.variables, &judge, &suite.judges)?;
        judging.permit_embedding_addresses(&resources.resolver, &suite.variables, &case.rubric)?;
        judging.permit_checks(&case.rubric)?;
        anyhow::ensure!(
            case.rubric.max_scores().next().is_none(),
            "`max-score` compares several outputs of one case, but here each is graded separately; use `jurist eval`"
        );
        let trial = result.trial.unwrap_or(1);
        let judges = prepared.resolve(&judge, trial)?;
        let calls = estimate_judge_calls(&case.rubric, &judge);
        judging.check_prices(&judges, calls)?;
        let base = result.base().to_owned();
        let cell = CaseInstance::alone(case);
        let unit = PlanUnit {
            name: result.case,
            base,
            parts: result.parts,
            cell,
            trial,
            calls,
            // The row has the outputs that it was made with.
            needed_outputs: Vec::new(),
        };
        let (unit, agents) = (Arc::new(unit), Arc::clone(&resources.agents));
        jobs.push(GradingJob { at, unit, judges, agents, material: Some(Arc::new(material)) });
    }
    let name = before.suite.clone().unwrap_or_else(|| file.display().to_string());
    let provenance = args.running.provenance().await;
    let run = args.running.new_run(name, provenance, jobs.iter().map(|job| &job.unit.cell.template().rubric));
    let log = args.running.log(&runs, &run).await;
    let ready = ReadyRun {
        jobs,
        run,
        log,
        done: BTreeMap::new(),
        outputs: StoredOutputs::default(),
        paid: Usd::default(),
        part: RunScope::default(),
    };
    Ok(args.running.execute_run(&runs, ready, judging.caller(&settings)?, &settings).await?.ended)
}

/// The file of the suite that a run was made from, if it is there.
fn file_of_run(run: &Run) -> Option<PathBuf> {
    let suite_file = |result: CaseResult| {
        let origin = result.origin?;
        let has_row = result.parts.is_some_and(|parts| parts.row.is_some());
        // Earlier versions stored only the data file of a case with a row.
        (origin.suite.is_some() || !has_row).then(|| origin.suite_file().to_owned())
    };
    // A suite without a name has the path of its file as its name.
    let file = run.results.iter().find_map(suite_file).or_else(|| run.suite.clone());
    file.map(PathBuf::from).filter(|file| file.is_file())
}

/// The file whose rubrics a run is graded by again.
struct RubricFile<'a> {
    path: &'a Path,
    suite: &'a Suite,
    settings: &'a ProjectSettings,
    project: &'a SuiteFiles,
    /// The rubric for all cases, if one is named.
    rubric_name: Option<&'a str>,
}

/// A case that is graded again, and what is graded.
struct RegradeCase {
    case: Case,
    material: JudgeInput,
}

impl RubricFile<'_> {
    /// By the eval of the same name if the file has one, or else by the file's only rubric.
    fn build_case(&self, result: &CaseResult) -> anyhow::Result<RegradeCase> {
        let named = self.find_eval(result);
        let (rubric, judge) = match named {
            Some(case) => (Arc::clone(&case.rubric), judge_of_case(case, result)),
            None => {
                let choice = RubricChoice { path: self.path, name: self.rubric_name, flag: "--rubric-name" };
                let chosen = choose_suite_rubric(self.suite, self.settings, self.project, choice)?;
                (chosen.rubric, chosen.judge)
            }
        };
        let rubric = apply_on_error(&rubric, &judge);
        self.require_row(result, &rubric)?;
        let case_data = case_data_for(&rubric, result, named);
        let material = JudgeInput { case_data, ..result.material.clone() };
        let case = Case {
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
            labels: named.map(|case| case.labels.clone()).unwrap_or_default(),
            repeat: if result.trial.is_some() { 2 } else { 1 },
            store_output_as: None,
        };
        Ok(RegradeCase { case, material })
    }

    /// The eval that a case was made from, by its name as the row of the case fills it in.
    fn find_eval(&self, result: &CaseResult) -> Option<&Case> {
        if self.rubric_name.is_some() {
            return None;
        }
        let row = result.material.row.as_ref();
        let written = result.parts.as_ref().map_or(result.base(), |parts| parts.written.as_str());
        let is_same = |case: &&Case| fill(&case.name, row).is_ok_and(|name| name == written);
        // Earlier versions did not store the parts of a name.
        let is_start =
            |case: &&Case| result.parts.is_none() && written.starts_with(&format!("{} [", case.name));
        let cases = &self.suite.cases;
        cases.iter().find(is_same).or_else(|| cases.iter().find(is_start))
    }

    /// Refuses a rubric that names fields of a row which the case does not have.
    fn require_row(&self, result: &CaseResult, rubric: &Rubric) -> anyhow::Result<()> {
        let case = result.base();
        if let Some(row) = &result.material.row {
            return require_row_fields(rubric, row).with_context(|| format!("`{case}`"));
        }
        // In a file of another tool, such braces are text.
        let is_text = |field: &String| self.suite.other_tool.is_some() && !field.starts_with(OUTPUT_PREFIX);
        let Some(field) = find_row_field(rubric).filter(|field| !is_text(field)) else {
            return Ok(());
        };
        let had_row = result.parts.as_ref().is_some_and(|parts| parts.row.is_some());
        let why = match had_row {
            true => "its row is not stored with the run; use `jurist eval`",
            false => "the case has no row",
        };
        anyhow::bail!("`{case}`: `{{{{ {field} }}}}` of the rubric cannot be filled in: {why}")
    }
}

/// The judge of an eval, with the model of its matrix that judged the case.
fn judge_of_case(case: &Case, result: &CaseResult) -> Judge {
    // The model is the last part of a name that can vary.
    let last = result.parts.as_ref().and_then(|parts| parts.variant.last());
    let model = last.filter(|name| case.matrix.models.contains(name)).cloned();
    Judge { model: model.or_else(|| case.judge.model.clone()), ..case.judge.clone() }
}

/// The data that external checks get. A run whose rubric had no such check did not store it.
fn case_data_for(rubric: &Rubric, result: &CaseResult, named: Option<&Case>) -> CaseData {
    let JudgeInput { case_data: stored, row, .. } = &result.material;
    if !stored.is_empty() || rubric.external_checks().next().is_none() {
        return stored.clone();
    }
    let vars = named.map(|case| case.candidate.vars.clone()).unwrap_or_default();
    let mut metadata: Map<String, Json> = result.metadata.clone().into_iter().collect();
    metadata.extend(named.map(|case| case.metadata.clone()).unwrap_or_default());
    CaseData { vars: case_variables(row.clone().unwrap_or_default(), vars), metadata, provider: None }
}
