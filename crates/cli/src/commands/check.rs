use std::path::{Path, PathBuf};

use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity};
use jurist_core::source::Sources;
use jurist_engine::load::{LoadOptions, load_suite};
use jurist_engine::load_script::ScriptPolicy;

use serde_json::json;

use super::eval::plan_problems;
use super::judging::wait_for;
use super::{CommandOutcome, LoadingArgs};
use crate::render;

/// Validate files without running anything
#[derive(Debug, clap::Args)]
#[command(
    visible_alias = "validate",
    after_help = "\
Examples:
  jurist check suite.yaml                 Prints nothing if the file is valid
  jurist check evals/*.yaml
  jurist check --format json suite.yaml   One JSON object per diagnostic
  jurist check --lint suite.yaml          Also advice on valid rubrics"
)]
pub struct CheckArgs {
    /// Suites, rubrics, monitors or annotation tasks, in any dialect
    #[arg(value_name = "FILE", required_unless_present = "config")]
    files: Vec<PathBuf>,
    /// Same as FILE
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Output format of diagnostics
    #[arg(long, value_enum, default_value_t = CheckOutputFormat::Text)]
    format: CheckOutputFormat,
    /// Also print advice on valid rubrics
    #[arg(long)]
    lint: bool,
    #[command(flatten)]
    loading: LoadingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CheckOutputFormat {
    Text,
    Json,
}

pub fn run_check_command(args: &CheckArgs) -> anyhow::Result<CommandOutcome> {
    let (mut n_errors, mut n_warnings) = (0, 0);
    let files: Vec<&PathBuf> = args.files.iter().chain(&args.config).collect();
    for path in &files {
        // Nothing is run, so what scripts would make stays open.
        let options = LoadOptions { scripts: ScriptPolicy::Skipped, ..args.loading.options() };
        let loaded = load_suite(path, options);
        let n_left_out = loaded.diagnostics.n_left_out();
        let n_advice_left_out = loaded.diagnostics.n_advice_left_out();
        n_errors += loaded.diagnostics.n_errors();
        let mut diagnostics = loaded.diagnostics.into_sorted();
        diagnostics.retain(|diagnostic| args.lint || diagnostic.severity != DiagnosticSeverity::Advice);
        n_warnings += diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Warning)
            .count();
        print_file_diagnostics(args.format, &diagnostics, &loaded.sources)?;
        // What cannot be run is found by planning, once the file itself is in order.
        if let Some(suite) = loaded.suite.filter(|suite| !suite.cases.is_empty()) {
            let problems = wait_for(plan_problems(path, suite, loaded.settings))?;
            n_errors += problems.len();
            for problem in problems {
                match args.format {
                    CheckOutputFormat::Text => render::print_error(&problem),
                    CheckOutputFormat::Json => write_problem(path, &problem)?,
                }
            }
        }
        if 0 < n_left_out {
            render::print_error(&format!(
                "`{}` has {n_left_out} more problems that are not listed",
                path.display()
            ));
        }
        if args.lint && 0 < n_advice_left_out {
            render::print_note(&format!(
                "`{}` has {n_advice_left_out} more pieces of advice",
                path.display()
            ));
        }
    }
    render::print_terminal_summary(&format_check_summary(files.len(), n_errors, n_warnings));
    Ok(if n_errors == 0 { CommandOutcome::Passed } else { CommandOutcome::BadInput })
}

fn print_file_diagnostics(
    format: CheckOutputFormat,
    diagnostics: &[Diagnostic],
    sources: &Sources,
) -> anyhow::Result<()> {
    match format {
        CheckOutputFormat::Text => render::print_diagnostics(diagnostics, sources)?,
        CheckOutputFormat::Json => {
            let mut out = render::stdout();
            for diagnostic in diagnostics {
                use std::io::Write;
                writeln!(out, "{}", diagnostic.to_json(sources))?;
            }
        }
    }
    Ok(())
}

fn write_problem(path: &Path, problem: &str) -> anyhow::Result<()> {
    use std::io::Write;
    let told = json!({ "file": path, "severity": "error", "code": "cannot-be-run", "message": problem });
    Ok(writeln!(std::io::stdout().lock(), "{told}")?)
}

fn format_check_summary(n_files: usize, n_errors: usize, n_warnings: usize) -> String {
    let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    match (n_errors, n_warnings) {
        (0, 0) => format!("{} in order", count(n_files, "file")),
        _ => format!(
            "{}: {}, {}",
            count(n_files, "file"),
            count(n_errors, "error"),
            count(n_warnings, "warning")
        ),
    }
}
