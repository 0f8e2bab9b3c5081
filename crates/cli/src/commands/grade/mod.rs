mod check_watch;
mod checked;
mod external;
mod judged;
mod notices;
mod recipe;
mod services;
pub(crate) mod record_grader;

use std::path::PathBuf;

use anyhow::Context;
use jurist_core::candidate::{RecordField, RecordFields};
use jurist_core::check::CompiledCheck;
use jurist_core::rubric::{CriterionKind, Rubric};
use serde_json::{Value as Json, json};

use crate::judging::JudgingArgs;
use crate::outcome::CommandOutcome;
use crate::runtime::wait_for;
use crate::suite_loading::{LoadingArgs, choose_file_rubric, load_current_settings};
use checked::RecordChecks;
use judged::LineShape;
use recipe::{ensure_judge, is_recipe, recipe_rubric};

/// Grade records with checks or LLM judges
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A record is a JSON object with `output` (also: response, answer, actual_output,
…), optionally `reference` (also: expected, target, ideal, ground_truth, …) and
`id`. Judges also see `input` (also: inputs, question, user_input, …), `context`
and `diff`. Records of ragas, DeepEval, Inspect, OpenAI evals, LangSmith and
Braintrust are read as they are; `jurist docs checks` lists all field names.
A record may name its own check or recipe in `evaluator` and `params`.
A recipe needs --judge. Records are streamed: memory use does not grow with the
file, all cores are used, and results keep the order.

Examples:
  jurist grade answers.jsonl --check contains --params '{\"value\": \"Paris\"}'
  jurist grade runs.jsonl --check trajectory_match \\
      --params '{\"mode\": \"unordered\"}'
  jurist grade ragas.csv --check groundedness --judge gpt-5-mini
  jurist grade answers.jsonl --rubric rubric.yaml
  jurist grade answers.jsonl --rubric rubric.yaml --max-cost 2
  cat cases.jsonl | jurist grade")]
pub struct GradeArgs {
    /// Records: JSON lines, a JSON array, CSV or TSV [default: standard input]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check or recipe for every record; `jurist checks` lists them
    #[arg(long, value_name = "NAME", conflicts_with = "rubric")]
    check: Option<String>,
    /// Parameters of the check
    #[arg(long, value_name = "JSON", requires = "check", default_value = "{}")]
    params: String,
    /// Rubric file; judges grade the criteria that have no check
    #[arg(long, value_name = "FILE")]
    rubric: Option<PathBuf>,
    /// Name of the rubric, if the file has several
    #[arg(long, value_name = "NAME", requires = "rubric")]
    rubric_name: Option<String>,
    /// Stop at the first unreadable record
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    judging: JudgingArgs,
    #[command(flatten)]
    loading: LoadingArgs,
}

const NO_COMPARISON: &str = "`max-score` compares several outputs of one case, but here each record is graded separately; use `jurist eval`";

pub fn run_grade_command(args: &GradeArgs) -> anyhow::Result<CommandOutcome> {
    let grading = match (&args.check, &args.rubric) {
        (Some(name), _) => {
            let params: Json = serde_json::from_str(&args.params).context("`--params` is not JSON")?;
            anyhow::ensure!(params.is_object(), "`--params` must be a JSON object of parameters");
            if is_recipe(name) {
                let chosen =
                    recipe_rubric(name, &params, &load_current_settings()?).map_err(anyhow::Error::msg)?;
                ensure_judge(&args.judging, name, &chosen).map_err(anyhow::Error::msg)?;
                return wait_for(judged::grade_with_judges(args, &chosen, LineShape::Finding));
            }
            match CompiledCheck::new(name, &params)? {
                CompiledCheck::Local(check) => RecordChecks::One(check),
                CompiledCheck::External(check) => {
                    return wait_for(external::grade_with_external_check(args, check));
                }
                CompiledCheck::MaxScore(_) => anyhow::bail!(NO_COMPARISON),
            }
        }
        (None, Some(path)) => {
            let Some(chosen) =
                choose_file_rubric(path, args.rubric_name.as_deref(), "--rubric-name", &args.loading)?
            else {
                return Ok(CommandOutcome::BadInput);
            };
            anyhow::ensure!(chosen.rubric.max_scores().next().is_none(), NO_COMPARISON);
            if needs_judges(&chosen.rubric) {
                return wait_for(judged::grade_with_judges(args, &chosen, LineShape::Verdict));
            }
            args.judging.permit_embedding_servers(&chosen)?;
            RecordChecks::of(&chosen.rubric)?
        }
        (None, None) => RecordChecks::Own,
    };
    checked::grade_with_checks(args, &grading)
}

/// Whether judges or programs are used, which are slow; everything else is decided at once.
fn needs_judges(rubric: &Rubric) -> bool {
    let is_check = |criterion: &CriterionKind| matches!(criterion, CriterionKind::Check(_));
    !rubric.questions().all(|question| is_check(&question.criterion.ask))
        || rubric.external_checks().next().is_some()
}

impl GradeArgs {
    fn inputs(&self) -> Vec<PathBuf> {
        if self.files.is_empty() { vec![PathBuf::from("-")] } else { self.files.clone() }
    }
}

/// What came of the records.
#[derive(Default)]
struct RecordTally {
    graded: usize,
    failed: usize,
    /// Without a verdict, because of a grader error.
    incomplete: usize,
    /// Without a verdict, because there was no money left.
    over: usize,
    /// Without a verdict, because a judge or a person was not asked.
    deferred: usize,
    bad: usize,
    stopped: bool,
}

impl RecordTally {
    fn command_outcome(&self) -> CommandOutcome {
        match self {
            Self { stopped: true, .. } => CommandOutcome::BadInput,
            Self { failed, .. } if 0 < *failed => CommandOutcome::Failed,
            Self { over, .. } if 0 < *over => CommandOutcome::OverBudget,
            Self { bad, incomplete, .. } if 0 < bad + incomplete => CommandOutcome::Incomplete,
            _ => CommandOutcome::Passed,
        }
    }
}

/// External ids are stored unchanged.
fn record_id(fields: &RecordFields<'_>) -> Json {
    fields.non_null_value(RecordField::Id).cloned().unwrap_or(Json::Null)
}

/// The parameters of a record's own check or recipe; a cell of a table holds them as text.
fn own_params(record: &Json) -> Result<Json, String> {
    let params = match record.get("params") {
        None | Some(Json::Null) => json!({}),
        Some(Json::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
    };
    if params.is_object() {
        Ok(params)
    } else {
        Err("`params` must be a JSON object of parameters".to_owned())
    }
}
