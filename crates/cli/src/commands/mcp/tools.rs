//! The tools: each one is a command with arguments as JSON, and a result as JSON.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use jurist_core::check::find_schema_misfit;
use jurist_core::diagnostic::DiagnosticSeverity;
use jurist_core::grade::{Usd, VerdictStatus};
use jurist_core::report::{RunTally, reasons, shared_score_scale};
use jurist_core::rubric::presets::{ALL, find_preset};
use jurist_core::run::{CaseResult, Run};
use jurist_core::source::{Tree, to_yaml};
use jurist_core::stats::comparison::WORTH_SEEING;
use jurist_engine::load::{load_suite, load_suite_text};
use jurist_store::runs::{RunFilter, RunHead};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use tokio::sync::watch;

use super::McpServerArgs;
use super::limits::{PaidResult, ServerLimits};
use super::results::{
    CaseInFull, CaseLine, DescribedComparison, DraftedRubric, ExplainedPlan, ListedRuns, MeasuredAgreement,
    PresetLine, RunWithCases, SuiteRun,
};
use crate::commands::agree::{AgreeArgs, write_agreement};
use crate::commands::align::{AlignArgs, write_alignments};
use crate::commands::check::{FileCheck, FileCheckReport, check_loaded_file, checking_options};
use crate::commands::compare::{compare_stored_runs, parse_change_filter};
use crate::commands::eval::{EvalArgs, EvalResult, evaluate_one_suite};
use crate::commands::runs::{RunListLine, find_case_result, parse_commit_start};
use crate::outcome::CommandOutcome;
use crate::render::render_diagnostic;
use crate::reporting::{format_run_summary, printable_line};
use crate::running::FinishedRun;
use crate::runtime::wait_for;
use crate::stored_runs::StoredRuns;
use crate::suite_loading::LoadingArgs;

/// What a tool may use while it works.
pub struct ToolContext<'a> {
    pub args: &'a McpServerArgs,
    pub limits: &'a ServerLimits,
    /// True after the client has cancelled the request.
    pub cancelled: watch::Receiver<bool>,
}

/// A tool as clients see it, and what it does.
pub struct ServedTool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Whether it only reads.
    pub is_read_only: bool,
    pub schema: fn() -> Schema,
    pub result_schema: fn() -> Schema,
    pub call: fn(&ToolContext<'_>, Map<String, Json>) -> anyhow::Result<Json>,
}

macro_rules! served_tools {
    ($($name:literal ($title:literal, $reads:expr, $args:ty, $function:ident, $result:ty) $description:literal)*) => {
        /// All tools, in the order in which a user writes and runs an evaluation.
        pub const SERVED_TOOLS: &[ServedTool] = &[$(ServedTool {
            name: $name,
            title: $title,
            description: $description,
            is_read_only: $reads,
            schema: || schema_for!($args),
            result_schema: || schema_for!($result),
            call: |context, arguments| {
                let result: $result = $function(context, &parse_tool_arguments::<$args>(arguments)?)?;
                Ok(serde_json::to_value(result)?)
            },
        }),*];
    };
}

served_tools! {
    "check_file" ("Check a file", true, CheckFileArgs, check_file_tool, FileCheckReport)
        "Validate a suite, rubric, monitor or annotation file in any dialect (native, promptfoo, AgentV, mcptest, Potato). Returns every problem with file, line, column, code and a suggested fix. Runs nothing."
    "lint_rubric" ("Lint a rubric", true, LintRubricArgs, lint_rubric_tool, FileCheckReport)
        "Validate a rubric and give advice on its wording: vague criteria, overlapping criteria, missing levels. Takes a file, or the text of a rubric that is not written yet."
    "draft_rubric" ("Draft a rubric", true, DraftRubricArgs, draft_rubric_tool, DraftedRubric)
        "Turn criteria, or one of the built-in rubrics, into the text of a rubric file, with its problems and advice at their lines. Writes no file and asks no model. Without arguments, lists the built-in rubrics."
    "explain_plan" ("Explain the plan of a suite", true, ExplainPlanArgs, explain_plan_tool, ExplainedPlan)
        "Print what a run of a suite would do: cases, rubrics, judges, number of calls, projected cost, and what cannot be run and why. Calls no model."
    "run_suite" ("Run a suite", false, RunSuiteArgs, run_suite_tool, SuiteRun)
        "Run a suite and grade its cases. The run is stored. Returns the verdict of each case with the reasons of those that did not pass. May call models and spend money, up to `max_cost` and to the cap of the server. Judge replies are cached."
    "list_runs" ("List runs", true, ListRunsArgs, list_runs_tool, ListedRuns)
        "List stored runs, newest first, with branch, commit, author, tags, counts, mean score and cost."
    "read_run" ("Read a run", true, ReadRunArgs, read_run_tool, RunWithCases)
        "Read a stored run: summary, and its cases with verdict, score, place in the file and reasons."
    "read_case" ("Read a case of a run", true, ReadCaseArgs, read_case_tool, CaseInFull)
        "Read one case of a stored run in full: what was graded (input and answer), every grade with its reason and quoted evidence, the verdict, and if asked for the prompts and replies of the judges."
    "compare_runs" ("Compare two runs", true, CompareRunsArgs, compare_runs_tool, DescribedComparison)
        "Compare two runs case by case: differences of score and pass rate with confidence intervals, regressions, and old and new answers with reasons. The sentence says what the data supports."
    "measure_agreement" ("Measure agreement", true, MeasureAgreementArgs, measure_agreement_tool, MeasuredAgreement)
        "Measure agreement between graders per criterion (Krippendorff's alpha, kappa, AC, ICC with confidence intervals) from files or stored grades. With `judge`, measure how far judges agree with people instead."
}

/// The arguments of a tool. serde refuses unknown names and wrong types, and the schema that clients see refuses values
/// out of its ranges.
fn parse_tool_arguments<A: DeserializeOwned + JsonSchema>(arguments: Map<String, Json>) -> anyhow::Result<A> {
    let arguments = Json::Object(arguments);
    let parsed = serde_json::from_value(arguments.clone()).context("the arguments are wrong")?;
    match find_schema_misfit(&schema_for!(A).to_value(), &arguments) {
        Some(misfit) => anyhow::bail!("the arguments are wrong: {misfit}"),
        None => Ok(parsed),
    }
}

/// The default ways of reading a file.
const LOADING: LoadingArgs = LoadingArgs { dialect: None, allow_outside: false };

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckFileArgs {
    /// File to check, from the server's folder
    path: String,
}

fn check_file_tool(context: &ToolContext<'_>, args: &CheckFileArgs) -> anyhow::Result<FileCheckReport> {
    let path = context.limits.locate_file(&args.path)?;
    Ok(check_loaded_file(&path, load_suite(&path, checking_options(&LOADING)), false)?.to_report())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LintRubricArgs {
    /// File with a rubric or a suite, from the server's folder
    path: Option<String>,
    /// Text of a rubric or suite, instead of a file
    text: Option<String>,
}

fn lint_rubric_tool(context: &ToolContext<'_>, args: &LintRubricArgs) -> anyhow::Result<FileCheckReport> {
    match (&args.path, &args.text) {
        (Some(path), None) => {
            let path = context.limits.locate_file(path)?;
            let loaded = load_suite(&path, checking_options(&LOADING));
            Ok(check_loaded_file(&path, loaded, true)?.to_report())
        }
        (None, Some(text)) => lint_rubric_text(text),
        _ => anyhow::bail!("give either `path` or `text`"),
    }
}

/// What messages call a text that is in no file.
const DRAFT: &str = "draft.yaml";

fn lint_rubric_text(text: &str) -> anyhow::Result<FileCheckReport> {
    let loaded = load_suite_text(DRAFT, text, checking_options(&LOADING));
    Ok(check_loaded_file(Path::new(DRAFT), loaded, true)?.to_report())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DraftRubricArgs {
    /// Name of a built-in rubric to start from, instead of criteria
    preset: Option<String>,
    /// Name of the rubric
    name: Option<String>,
    /// Score from which a verdict passes, from 0 to 1
    threshold: Option<f64>,
    /// Criteria with the keys of the file format (resource jurist://book/files.md): `name`, `description`, and
    /// perhaps `weight`, `required`, `guard`, `scale`, `levels`, `check`, `recipe`, `examples`
    criteria: Option<Vec<Map<String, Json>>>,
}

fn draft_rubric_tool(_: &ToolContext<'_>, args: &DraftRubricArgs) -> anyhow::Result<DraftedRubric> {
    let text = match (&args.preset, &args.criteria) {
        (Some(name), None) => {
            let names = || ALL.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
            let preset = find_preset(name);
            preset
                .with_context(|| format!("there is no preset `{name}`; there are {}", names()))?
                .text
                .to_owned()
        }
        (None, Some(criteria)) => {
            let name = args.name.clone().map(|name| ("name".to_owned(), Tree::Text(name)));
            let threshold = args.threshold.map(|share| ("threshold".to_owned(), Tree::Number(share)));
            let criteria = Tree::List(criteria.iter().map(order_criterion).collect());
            let criteria = Some(("criteria".to_owned(), criteria));
            to_yaml(&Tree::Map([name, threshold, criteria].into_iter().flatten().collect()))
        }
        (Some(_), Some(_)) => anyhow::bail!("give either `preset` or `criteria`"),
        (None, None) => {
            let presets = ALL
                .iter()
                .map(|preset| PresetLine { preset: preset.name, description: preset.description() });
            return Ok(DraftedRubric { presets: Some(presets.collect()), ..DraftedRubric::default() });
        }
    };
    let check = lint_rubric_text(&text)?;
    Ok(DraftedRubric { text: Some(text), check: Some(check), presets: None })
}

/// A criterion as people write one: its name and its description first.
fn order_criterion(criterion: &Map<String, Json>) -> Tree {
    let first = ["name", "description"];
    let begin = first.iter().filter_map(|key| criterion.get_key_value(*key));
    let rest = criterion.iter().filter(|(key, _)| !first.contains(&key.as_str()));
    Tree::Map(begin.chain(rest).map(|(key, value)| (key.clone(), Tree::from(value))).collect())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExplainPlanArgs {
    /// Suite, from the server's folder
    path: String,
    /// Only cases whose name contains this text
    filter: Option<String>,
    /// Only cases with one of these tags
    #[serde(default)]
    tags: Vec<String>,
    /// Only the cases of these names
    #[serde(default)]
    only: Vec<String>,
    /// Judge model, instead of that of the file
    judge: Option<String>,
}

fn explain_plan_tool(context: &ToolContext<'_>, args: &ExplainPlanArgs) -> anyhow::Result<ExplainedPlan> {
    let path = context.limits.locate_file(&args.path)?;
    require_valid_file(&path)?;
    let mut flags = select_cases(args.filter.as_ref(), &args.tags, &args.only);
    flags.extend(context.judge_flags(args.judge.as_deref())?);
    flags.extend(["--explain".into(), "--".into(), path.into_os_string()]);
    let mut plan = Vec::new();
    let explained =
        context.wait_unless_cancelled(evaluate_one_suite(&EvalArgs::from_flags(flags)?, &mut plan));
    finished_or_error(explained?)?;
    let plan = anstream::adapter::strip_bytes(&plan).into_vec();
    Ok(ExplainedPlan { plan: String::from_utf8_lossy(&plan).into_owned() })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunSuiteArgs {
    /// Suite, from the server's folder
    path: String,
    /// Only cases whose name contains this text
    filter: Option<String>,
    /// Only cases with one of these tags
    #[serde(default)]
    tags: Vec<String>,
    /// Only the cases of these names
    #[serde(default)]
    only: Vec<String>,
    /// Judge model, instead of that of the file
    judge: Option<String>,
    /// Most US dollars that this run may spend; the cap of the server holds as well
    #[schemars(range(min = 0.0))]
    max_cost: Option<f64>,
    /// Stop starting cases after this many seconds
    #[schemars(range(min = 0.0))]
    max_time: Option<f64>,
    /// File of recorded judge calls to replay, from the server's folder; needs no API key
    replay: Option<String>,
    /// Ignore cached judge replies and store the new ones
    #[serde(default)]
    refresh: bool,
}

fn run_suite_tool(context: &ToolContext<'_>, args: &RunSuiteArgs) -> anyhow::Result<SuiteRun> {
    let path = context.limits.locate_file(&args.path)?;
    require_valid_file(&path)?;
    let mut flags = select_cases(args.filter.as_ref(), &args.tags, &args.only);
    flags.extend(context.judge_flags(args.judge.as_deref())?);
    flags.push("--quiet".into());
    flags.extend(args.refresh.then(|| "--refresh".into()));
    flags.extend(args.max_time.map(|seconds| OsString::from(format!("--max-time={seconds}"))));
    if let Some(replay) = &args.replay {
        flags.extend(["--replay".into(), context.limits.locate_file(replay)?.into_os_string()]);
    }
    let requested = args.max_cost.map(|dollars| Usd::from_nanos((dollars.min(9e6) * 1e9).round() as i64));
    let finished = context.limits.spend(requested, |allowed| {
        flags
            .extend(allowed.map(|usd| OsString::from(format!("--max-cost={:.9}", usd.nanos() as f64 / 1e9))));
        flags.extend(["--".into(), path.into_os_string()]);
        let eval = EvalArgs::from_flags(flags)?;
        let value = context.wait_unless_cancelled(evaluate_one_suite(&eval, &mut std::io::sink()))?;
        // A refused suite makes no calls.
        let cost = match &value {
            EvalResult::Finished(finished) => finished.paid,
            EvalResult::Invalid | EvalResult::CannotRun(_) => Some(Usd::default()),
        };
        Ok(PaidResult { value, cost })
    })?;
    let finished = finished_or_error(finished)?;
    let run = finished.run.as_ref().context("the run came to no results")?;
    Ok(SuiteRun {
        run: describe_run_cases(run, &CaseRange { status: None, offset: 0, limit: DEFAULT_CASES }),
        outcome: name_run_outcome(finished.ended),
        not_graded: finished.not_graded.map(|not_graded| not_graded.statement),
    })
}

/// The word for how a run ended; [exit codes](../../../../docs/exit-codes.md) are the same as numbers.
fn name_run_outcome(ended: CommandOutcome) -> &'static str {
    match ended {
        CommandOutcome::Passed => "passed",
        CommandOutcome::Failed => "failed",
        CommandOutcome::BadInput => "bad input",
        CommandOutcome::Incomplete => "incomplete",
        CommandOutcome::OverBudget => "stopped by a budget",
        CommandOutcome::Interrupted => "interrupted",
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListRunsArgs {
    /// Most runs to list [default: 20]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// Only runs whose suite contains this text
    suite: Option<String>,
    /// Only runs of this branch
    branch: Option<String>,
    /// Only runs of commits whose hash begins so
    commit: Option<String>,
    /// Only runs of this author
    author: Option<String>,
    /// Only runs with all these tags
    #[serde(default)]
    tags: Vec<String>,
}

fn list_runs_tool(_: &ToolContext<'_>, args: &ListRunsArgs) -> anyhow::Result<ListedRuns> {
    let commit = args.commit.as_deref().map(parse_commit_start).transpose();
    let filter = RunFilter {
        branch: args.branch.clone(),
        commit: commit.map_err(|wanted| anyhow::anyhow!("`commit` has {wanted}"))?,
        author: args.author.clone(),
        tags: args.tags.clone(),
        ..RunFilter::default()
    };
    let heads = wait_for(async { StoredRuns::default().heads(&filter).await })?;
    let is_wanted = |suite: &Option<String>| match &args.suite {
        Some(wanted) => suite.as_ref().is_some_and(|suite| suite.contains(wanted.as_str())),
        None => true,
    };
    let mut wanted: Vec<RunHead> = heads.into_iter().filter(|head| is_wanted(&head.suite)).collect();
    let n_runs = wanted.len();
    wanted.truncate(args.limit.unwrap_or(20));
    Ok(ListedRuns { n_runs, runs: wanted.into_iter().map(RunListLine::from).collect() })
}

/// Cases of a run that are listed where nothing else is asked for.
const DEFAULT_CASES: usize = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadRunArgs {
    /// Run: an id, the end of an id, `latest`, `previous`, `latest~2`, or a file that the JSON reporter wrote
    #[serde(default = "latest_run")]
    run: String,
    /// Only cases with this verdict
    status: Option<VerdictStatus>,
    /// First case to list, from 0
    #[serde(default)]
    offset: usize,
    /// Most cases to list [default: 50]
    #[schemars(range(min = 1, max = 500))]
    limit: Option<usize>,
}

fn latest_run() -> String {
    "latest".to_owned()
}

fn read_run_tool(context: &ToolContext<'_>, args: &ReadRunArgs) -> anyhow::Result<RunWithCases> {
    let run = context.load_run(&args.run)?;
    let limit = args.limit.unwrap_or(DEFAULT_CASES);
    Ok(describe_run_cases(&run, &CaseRange { status: args.status, offset: args.offset, limit }))
}

/// Which cases of a run are listed.
struct CaseRange {
    status: Option<VerdictStatus>,
    offset: usize,
    limit: usize,
}

fn describe_run_cases(run: &Run, range: &CaseRange) -> RunWithCases {
    let tally = RunTally::of(run);
    let is_wanted = |result: &CaseResult| range.status.is_none_or(|status| result.verdict.status == status);
    let wanted: Vec<CaseResult> = run.results.iter().filter(is_wanted).collect();
    let cases: Vec<CaseLine> =
        wanted.iter().skip(range.offset).take(range.limit).map(|result| describe_case(run, result)).collect();
    let next = range.offset.saturating_add(cases.len());
    let summary = format_run_summary(run, Duration::ZERO, None, None);
    RunWithCases {
        run: run.id,
        suite: run.suite.clone(),
        started: run.started,
        ended: run.ended,
        summary: anstream::adapter::strip_str(&summary).to_string(),
        n_pass: tally.passed,
        n_fail: tally.failed,
        n_error: tally.errors,
        n_deferred: tally.deferred,
        cost_usd: run.spend.cost.unwrap_or_default().nanos() as f64 / 1e9,
        n_cases: wanted.len(),
        cases,
        next_offset: (next < wanted.len()).then_some(next),
    }
}

fn describe_case(run: &Run, result: &CaseResult) -> CaseLine {
    let reasons = match result.verdict.status {
        VerdictStatus::Pass => Vec::new(),
        _ => reasons(run, result),
    };
    CaseLine {
        case: result.case.clone(),
        status: result.verdict.status,
        score: result.verdict.score,
        origin: result.origin.as_ref().map(ToString::to_string),
        reasons,
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadCaseArgs {
    /// Run: an id, the end of an id, `latest`, `previous`, `latest~2`, or a file that the JSON reporter wrote
    #[serde(default = "latest_run")]
    run: String,
    /// Name of the case
    case: String,
    /// Also return the prompts and replies of its judges
    #[serde(default)]
    prompts: bool,
}

fn read_case_tool(context: &ToolContext<'_>, args: &ReadCaseArgs) -> anyhow::Result<CaseInFull> {
    let run = context.load_run(&args.run)?;
    let result = find_case_result(&run, &args.case)?;
    let exchanges = match args.prompts {
        true => {
            let exchanges =
                wait_for(async { StoredRuns::default().exchanges(&run.id.to_string(), &args.case).await })?;
            Some(serde_json::to_value(exchanges)?)
        }
        false => None,
    };
    Ok(CaseInFull { run: run.id, reasons: reasons(&run, &result), exchanges, result })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareRunsArgs {
    /// Run to compare with (the baseline): an id, `previous`, or a file
    before: String,
    /// New run: an id, `latest`, or a file
    after: String,
    /// Cases to return: verdict (it changed), worse, better, different-answer, undecided or all [default: verdict]
    show: Option<String>,
    /// Only this case
    case: Option<String>,
}

fn compare_runs_tool(
    context: &ToolContext<'_>,
    args: &CompareRunsArgs,
) -> anyhow::Result<DescribedComparison> {
    let show = parse_change_filter(args.show.as_deref().unwrap_or("verdict"));
    let show = show.map_err(|wanted| anyhow::anyhow!("`show` is {wanted}"))?;
    let name = |name: &str| Ok::<_, anyhow::Error>(context.limits.locate_source(name)?.display().to_string());
    let (before, after) = (name(&args.before)?, name(&args.after)?);
    let compared = wait_for(async {
        compare_stored_runs(&StoredRuns::default(), &before, &after, show, args.case.as_deref()).await
    })?;
    let sentence = match &compared.compared.score {
        Some(score) => score.sentence("score", WORTH_SEEING, shared_score_scale(&compared.after)),
        None => {
            "No case has a verdict in both runs with the same rubric, so scores are not compared.".to_owned()
        }
    };
    Ok(DescribedComparison { compared, sentence })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MeasureAgreementArgs {
    /// Grades of all graders, or with `judge` those of people: files (runs, grades, annotation exports, tables), run
    /// names, or `people`, `judges`, `labels` for grades in the project's database
    #[schemars(length(min = 1))]
    files: Vec<String>,
    /// Grades of judges that are compared with those of people
    #[serde(default)]
    judge: Vec<String>,
    /// Only this criterion
    criterion: Option<String>,
    /// Level of measurement: nominal, ordinal, interval or ratio [default: ordinal for numbers, nominal for labels]
    level: Option<String>,
    /// Lowest and highest value of the scale, such as 1-5
    scale: Option<String>,
    /// Only this annotation task
    task: Option<String>,
}

fn measure_agreement_tool(
    context: &ToolContext<'_>,
    args: &MeasureAgreementArgs,
) -> anyhow::Result<MeasuredAgreement> {
    let locate = |names: &[String]| {
        names.iter().map(|name| context.limits.locate_source(name)).collect::<anyhow::Result<Vec<_>>>()
    };
    let mut flags = vec![OsString::from("--json")];
    let options = [
        ("criterion", &args.criterion),
        ("level", &args.level),
        ("scale", &args.scale),
        ("task", &args.task),
    ];
    for (name, value) in options {
        flags.extend(value.as_ref().map(|value| OsString::from(format!("--{name}={value}"))));
    }
    let (files, judges, mut out) = (locate(&args.files)?, locate(&args.judge)?, Vec::new());
    if judges.is_empty() {
        flags.push("--".into());
        flags.extend(files.into_iter().map(Into::into));
        write_agreement(&mut out, &parse_flags::<AgreeArgs>(flags)?)?;
        Ok(MeasuredAgreement { agreement: Some(serde_json::from_slice(&out)?), alignment: None })
    } else {
        for (flag, names) in [("--human", files), ("--judge", judges)] {
            flags.extend(names.into_iter().flat_map(|name| [flag.into(), name.into_os_string()]));
        }
        write_alignments(&mut out, &parse_flags::<AlignArgs>(flags)?)?;
        Ok(MeasuredAgreement { agreement: None, alignment: Some(serde_json::from_slice(&out)?) })
    }
}

/// The arguments of another command by its own flags.
fn parse_flags<A: clap::Args>(flags: Vec<OsString>) -> anyhow::Result<A> {
    let flags = [OsString::from("jurist")].into_iter().chain(flags);
    let matches = A::augment_args(clap::Command::new("jurist")).try_get_matches_from(flags);
    // The first paragraph names the problem; usage of a command line helps no client.
    let matches = matches.map_err(|error| {
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        anyhow::anyhow!("{}", lines.join(" ").trim_start_matches("error: "))
    })?;
    Ok(A::from_arg_matches(&matches)?)
}

fn select_cases(filter: Option<&String>, tags: &[String], only: &[String]) -> Vec<OsString> {
    let filter = filter.map(|text| format!("--filter={text}"));
    let tags = tags.iter().map(|tag| format!("--tag={tag}"));
    let only = only.iter().map(|name| format!("--only={name}"));
    filter.into_iter().chain(tags).chain(only).map(OsString::from).collect()
}

/// A file with errors is refused with all of them, as the command prints them.
fn require_valid_file(path: &Path) -> anyhow::Result<()> {
    let loaded = load_suite(path, checking_options(&LOADING));
    let FileCheck { diagnostics, sources, n_errors, .. } = {
        // Problems of single cases are left out here: the run itself finds them, with the permissions of this server.
        let mut checked = check_loaded_file(path, loaded, false)?;
        checked.n_errors -= checked.problems.len();
        checked
    };
    if n_errors == 0 {
        return Ok(());
    }
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
    let texts = errors
        .map(|diagnostic| anstream::adapter::strip_str(&render_diagnostic(diagnostic, &sources)).to_string());
    anyhow::bail!("{}", texts.collect::<Vec<String>>().join("\n\n"))
}

fn finished_or_error(result: EvalResult) -> anyhow::Result<FinishedRun> {
    match result {
        EvalResult::Finished(finished) => Ok(*finished),
        EvalResult::Invalid => anyhow::bail!("the file is invalid; use check_file"),
        EvalResult::CannotRun(problems) => {
            let problems: Vec<String> =
                problems.texts.iter().map(|problem| printable_line(problem)).collect();
            anyhow::bail!("{}", problems.join("\n"))
        }
    }
}

impl ToolContext<'_> {
    /// Who judges, and what the owner of the server allows.
    fn judge_flags(&self, requested: Option<&str>) -> anyhow::Result<Vec<OsString>> {
        // On a command line a person names the judge, so that a program needs no permission; here a model does.
        anyhow::ensure!(
            self.args.allow_commands || !requested.is_some_and(|judge| judge.starts_with("command:")),
            "a program as judge needs `jurist mcp --allow-commands`"
        );
        let judge =
            requested.or(self.args.judge.as_deref()).map(|judge| OsString::from(format!("--judge={judge}")));
        let commands = self.args.allow_commands.then(|| "--allow-commands".into());
        let trust = self.args.trust_settings.then(|| "--trust-settings".into());
        Ok(judge.into_iter().chain(commands).chain(trust).collect())
    }

    fn load_run(&self, name: &str) -> anyhow::Result<Run> {
        let name = self.limits.locate_source(name)?.display().to_string();
        wait_for(async { StoredRuns::default().load(&name).await })
    }

    fn wait_unless_cancelled<T>(&self, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        let mut cancelled = self.cancelled.clone();
        wait_for(async {
            tokio::select! {
                result = work => result,
                _ = cancelled.wait_for(|is_cancelled| *is_cancelled) => anyhow::bail!("the call was cancelled"),
            }
        })
    }
}
