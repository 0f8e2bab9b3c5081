//! What a user can type.

mod agree;
mod alerts;
mod align;
mod answer_files;
mod cache;
mod calibrate;
mod check;
mod checks;
mod compare;
mod completions;
mod convert;
mod dataset;
mod diff;
mod docs;
mod doctor;
mod drift;
mod estimate;
mod eval;
mod export;
pub(crate) mod grade;
mod health;
mod import;
mod ingest;
mod init;
pub(crate) mod judge;
mod man;
mod mcp;
mod migrate;
mod monitor;
mod panel;
mod power;
mod presets;
mod rank;
mod regrade;
mod report;
mod runs;
mod schema;
mod score;
mod serve;
mod spend;
mod start;
pub(crate) mod stats;
mod store;
mod trace;
mod trust;
mod watch;
mod worker;

use std::ffi::OsString;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::book::read_more;
use crate::outcome::CommandOutcome;

#[derive(Debug, Parser)]
#[command(
    name = "jurist",
    version,
    about = "One rubric, every judge: grade what AI agents and language models produce",
    after_help = "\
Start here:
  jurist init                  Write a small suite to look at
  jurist check suite.yaml      Validate it
  jurist eval suite.yaml       Run it; --explain prints the plan and its cost
  jurist compare previous latest
                               Compare two runs
  jurist doctor                Show which keys, models and databases are found
  jurist docs quickstart       Read the book; --help of a command names its page

Files of AgentV, promptfoo, Potato and mcptest are read as they are.
Exit codes: 0 passed; 1 a verdict failed; 2 bad file or argument;
3 grader error; 5 stopped by a budget; 130 interrupted.",
    propagate_version = false,
    disable_version_flag = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// Print version; with --verbose, also what the program contains
    #[arg(long, short = 'V', action = ArgAction::Version)]
    version: Option<bool>,
    #[command(subcommand)]
    command: CliCommand,
}

/// The page of the book about a subcommand.
const BOOK_OF_COMMANDS: &[(&str, &str)] = &[
    ("agree", "statistics"),
    ("alerts", "money"),
    ("align", "tutorials/validate-a-judge"),
    ("cache", "judges"),
    ("calibrate", "tutorials/validate-a-judge"),
    ("check", "diagnostics"),
    ("checks", "checks"),
    ("compare", "runs"),
    ("completions", "install"),
    ("convert", "dialects"),
    ("dataset", "how-to/datasets"),
    ("diff", "files"),
    ("doctor", "settings"),
    ("drift", "statistics"),
    ("estimate", "statistics"),
    ("eval", "runs"),
    ("export", "statistics"),
    ("grade", "judges"),
    ("health", "server"),
    ("import", "dialects"),
    ("ingest", "traces"),
    ("init", "quickstart"),
    ("judge", "judges"),
    ("man", "install"),
    ("mcp", "mcp"),
    ("migrate", "migration"),
    ("monitor", "monitor"),
    ("panel", "statistics"),
    ("power", "how-to/sample-size"),
    ("presets", "recipes"),
    ("rank", "statistics"),
    ("regrade", "runs"),
    ("report", "reporters"),
    ("runs", "runs"),
    ("schema", "files"),
    ("score", "scoring"),
    ("serve", "server"),
    ("spend", "money"),
    ("start", "annotate"),
    ("stats", "statistics"),
    ("store", "store"),
    ("trace", "traces"),
    ("trust", "settings"),
    ("watch", "runs"),
    ("worker", "how-to/postgresql"),
];

/// The groups of subcommands in `jurist --help`.
const COMMAND_GROUPS: &[(&str, &[&str])] = &[
    ("Evaluate", &["eval", "watch", "grade", "regrade", "runs", "report"]),
    (
        "Compare and analyse",
        &["compare", "stats", "agree", "align", "calibrate", "estimate", "drift", "panel", "rank", "power"],
    ),
    ("Judges and rubrics", &["judge", "score", "diff", "checks", "presets", "cache"]),
    ("Annotate", &["start"]),
    (
        "Monitor and serve",
        &["serve", "health", "worker", "mcp", "ingest", "monitor", "spend", "alerts", "store"],
    ),
    (
        "Files and data",
        &[
            "init",
            "check",
            "convert",
            "import",
            "migrate",
            "trace",
            "dataset",
            "export",
            "schema",
            "trust",
            "doctor",
            "docs",
            "completions",
            "man",
        ],
    ),
];

/// The command with its subcommands listed in groups, which clap cannot do by itself.
fn build_command() -> clap::Command {
    use std::fmt::Write as _;
    let command = Cli::command();
    let styles = command.get_styles().clone();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut groups = String::new();
    for (title, names) in COMMAND_GROUPS {
        let _ = writeln!(groups, "{header}{title}:{header:#}");
        for subcommand in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "  {literal}{:<12}{literal:#} {about}", subcommand.get_name());
        }
        groups.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    let mut command = command.help_template(template);
    for (name, page) in BOOK_OF_COMMANDS {
        command = command.mut_subcommand(name, |subcommand| add_book_page(subcommand, page));
    }
    accept_negative_numbers(command)
}

/// Reads `-1` after an option as its value, so that the option names its range. Otherwise clap takes it for a flag, and
/// advises `-- -1`, which helps no option.
fn accept_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let is_option = argument.get_long().is_some() && argument.get_action().takes_values();
        if is_option { argument.allow_negative_numbers(true) } else { argument }
    });
    command.mut_subcommands(accept_negative_numbers)
}

/// Names the page of the book at the end of the help of a command and of each of its subcommands.
fn add_book_page(command: clap::Command, page: &str) -> clap::Command {
    let more = read_more(page);
    let text = match command.get_after_help() {
        Some(text) => format!("{text}\n\n{more}"),
        None => more,
    };
    command.after_help(text).mut_subcommands(|subcommand| add_book_page(subcommand, page))
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    Eval(Box<eval::EvalArgs>),
    Watch(Box<watch::WatchArgs>),
    Compare(compare::CompareArgs),
    Agree(agree::AgreeArgs),
    Align(align::AlignArgs),
    Calibrate(calibrate::CalibrateArgs),
    Estimate(estimate::EstimateArgs),
    Drift(drift::DriftArgs),
    Panel(panel::PanelArgs),
    Rank(rank::RankArgs),
    Power(power::PowerArgs),
    Stats(stats::StatsArgs),
    Export(export::ExportArgs),
    Regrade(Box<regrade::RegradeArgs>),
    Report(report::ReportArgs),
    Runs(runs::RunsArgs),
    Serve(serve::ServeArgs),
    Start(Box<start::StartArgs>),
    Worker(worker::WorkerArgs),
    Mcp(mcp::McpServerArgs),
    Ingest(ingest::IngestArgs),
    Store(store::StoreArgs),
    Monitor(monitor::MonitorArgs),
    Spend(spend::SpendArgs),
    Alerts(alerts::AlertsArgs),
    Check(check::CheckArgs),
    Convert(convert::ConvertArgs),
    Dataset(dataset::DatasetArgs),
    Import(import::ImportArgs),
    Migrate(migrate::MigrateArgs),
    Grade(grade::GradeArgs),
    Judge(judge::JudgeArgs),
    Score(score::ScoreArgs),
    Diff(diff::DiffArgs),
    Doctor(doctor::DoctorArgs),
    Docs(docs::DocsArgs),
    Trace(trace::TraceArgs),
    Checks(checks::ChecksArgs),
    Presets(presets::PresetsArgs),
    Schema(schema::SchemaArgs),
    Init(init::InitArgs),
    Cache(cache::CacheArgs),
    Trust(trust::TrustArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Health(health::HealthArgs),
}

impl Cli {
    /// Parses a command line that begins with the program's name.
    pub fn parse_arguments(mut arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        // `jurist help runs` is `jurist runs --help`.
        if arguments.get(1).is_some_and(|word| word == "help") {
            arguments.remove(1);
            arguments.push("--help".into());
        }
        Self::from_arg_matches(&build_command().try_get_matches_from(arguments)?)
    }

    pub fn run(self) -> anyhow::Result<CommandOutcome> {
        match self.command {
            CliCommand::Eval(args) => eval::run_eval_command(&args),
            CliCommand::Watch(args) => watch::run_watch_command(*args),
            CliCommand::Runs(args) => runs::run_runs_command(&args),
            CliCommand::Compare(args) => compare::run_compare_command(&args),
            CliCommand::Agree(args) => agree::run_agree_command(&args),
            CliCommand::Align(args) => align::run_align_command(&args),
            CliCommand::Calibrate(args) => calibrate::run_calibrate_command(&args),
            CliCommand::Estimate(args) => estimate::run_estimate_command(&args),
            CliCommand::Drift(args) => drift::run_drift_command(&args),
            CliCommand::Panel(args) => panel::run_panel_command(&args),
            CliCommand::Rank(args) => rank::run_rank_command(&args),
            CliCommand::Power(args) => power::run_power_command(&args),
            CliCommand::Stats(args) => stats::run_stats_command(&args),
            CliCommand::Export(args) => export::run_export_command(&args),
            CliCommand::Regrade(args) => regrade::run_regrade_command(&args),
            CliCommand::Report(args) => report::run_report_command(&args),
            CliCommand::Serve(args) => serve::run_serve_command(&args),
            CliCommand::Start(args) => start::run_start_command(&args),
            CliCommand::Worker(args) => worker::run_worker_command(&args),
            CliCommand::Mcp(args) => mcp::run_mcp_command(args),
            CliCommand::Ingest(args) => ingest::run_ingest_command(&args),
            CliCommand::Store(args) => store::run_store_command(&args),
            CliCommand::Monitor(args) => monitor::run_monitor_command(&args),
            CliCommand::Spend(args) => spend::run_spend_command(&args),
            CliCommand::Alerts(args) => alerts::run_alerts_command(&args),
            CliCommand::Check(args) => check::run_check_command(&args),
            CliCommand::Convert(args) => convert::run_convert_command(&args),
            CliCommand::Dataset(args) => dataset::run_dataset_command(&args),
            CliCommand::Import(args) => import::run_import_command(&args),
            CliCommand::Migrate(args) => migrate::run_migrate_command(&args),
            CliCommand::Grade(args) => grade::run_grade_command(&args),
            CliCommand::Judge(args) => judge::run_judge_command(&args),
            CliCommand::Cache(args) => cache::run_cache_command(&args),
            CliCommand::Trust(args) => trust::run_trust_command(&args),
            CliCommand::Score(args) => score::run_score_command(&args),
            CliCommand::Diff(args) => diff::run_diff_command(&args),
            CliCommand::Doctor(args) => doctor::run_doctor_command(&args),
            CliCommand::Docs(args) => docs::run_docs_command(&args),
            CliCommand::Trace(args) => trace::run_trace_command(&args),
            CliCommand::Checks(args) => checks::run_checks_command(&args),
            CliCommand::Presets(args) => presets::run_presets_command(&args),
            CliCommand::Schema(args) => schema::run_schema_command(&args),
            CliCommand::Init(args) => init::run_init_command(&args),
            CliCommand::Completions(args) => completions::run_completions_command(&args),
            CliCommand::Man(args) => man::run_man_command(&args),
            CliCommand::Health(args) => health::run_health_command(&args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_stands_in_one_group_of_the_help() {
        let command = Cli::command();
        let mut listed: Vec<&str> = COMMAND_GROUPS.iter().flat_map(|group| group.1).copied().collect();
        let mut existing: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        listed.sort_unstable();
        existing.sort_unstable();
        assert_eq!(listed, existing);
    }

    #[test]
    fn the_book_has_the_pages_that_the_help_names() {
        let command = Cli::command();
        for (name, page) in BOOK_OF_COMMANDS {
            assert!(command.find_subcommand(name).is_some(), "{name}");
            assert!(crate::book::find_book_page(page).is_ok(), "{page}");
        }
        let mut without: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .filter(|name| !BOOK_OF_COMMANDS.iter().any(|known| known.0 == *name))
            .collect();
        without.sort_unstable();
        assert_eq!(without, ["docs"]);
    }

    /// The description of a subcommand fits one line of the help, and every argument has one.
    #[test]
    fn every_subcommand_and_argument_is_described() {
        fn check(command: &clap::Command, path: &str) {
            for argument in command.get_arguments() {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(
                    !help.is_empty(),
                    "`{path}`: the argument `{}` has no description",
                    argument.get_id()
                );
            }
            for subcommand in command.get_subcommands() {
                let name = format!("{path} {}", subcommand.get_name());
                let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
                assert!(
                    !about.is_empty() && about.chars().count() < 60,
                    "`{name}`: {} characters: {about}",
                    about.chars().count()
                );
                check(subcommand, &name);
            }
        }
        let command = Cli::command();
        check(&command, "jurist");
    }

    /// Columns of a help text, so that no terminal breaks its lines.
    const HELP_WIDTH: usize = 80;

    #[test]
    fn every_subcommand_has_examples_that_exist_and_fit_the_width() {
        fn check(root: &clap::Command, command: &clap::Command, path: &str) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                assert!(line.chars().count() <= HELP_WIDTH, "`{path}`: a line is too wide: {line}");
            }
            let examples = text.split_once("Examples:\n").map(|(_, rest)| rest);
            let examples = examples.unwrap_or_else(|| panic!("`{path}` has no examples"));
            let examples: Vec<String> = join_continued_lines(examples.split("\n\n").next().unwrap());
            let calls = |line: &String| line.contains(&format!("{path} ")) || line.ends_with(path);
            assert!(examples.iter().any(calls), "`{path}`: no example calls it: {examples:?}");
            examples.iter().for_each(|example| check_flags_of_example(root, example));
            for subcommand in command.get_subcommands() {
                check(root, subcommand, &format!("{path} {}", subcommand.get_name()));
            }
        }
        let root = Cli::command();
        for command in root.get_subcommands() {
            check(&root, command, &format!("jurist {}", command.get_name()));
        }
    }

    fn join_continued_lines(examples: &str) -> Vec<String> {
        examples.replace("\\\n", " ").lines().map(|line| line.trim().to_owned()).collect()
    }

    /// Every flag of an example is one of the subcommand that it calls, or of a parent of it.
    fn check_flags_of_example(root: &clap::Command, example: &str) {
        let words: Vec<&str> = example.split_whitespace().collect();
        let Some(program) = words.iter().rposition(|word| *word == "jurist") else { return };
        let mut path = vec![root];
        for word in &words[program + 1..] {
            let word = word.split('=').next().unwrap_or(word);
            if let Some(subcommand) = path.last().and_then(|command| command.find_subcommand(word)) {
                path.push(subcommand);
            } else if let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) {
                let mut known = path.iter().flat_map(|command| command.get_arguments());
                assert!(known.any(|argument| argument.get_long() == Some(flag)), "no --{flag}: {example}");
            }
        }
    }
}
