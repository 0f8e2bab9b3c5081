use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jurist_core::diagnostic::{Code, Diagnostic, DiagnosticSeverity};
use jurist_core::dialect::LoadedSuite;
use jurist_core::quantity::plural;
use jurist_core::source::{SourceSpan, Sources};
use jurist_engine::load::{LoadOptions, load_suite};
use jurist_engine::load_script::ScriptPolicy;

use serde_json::{Value as Json, json};

use super::eval::plan_problems;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::runtime::wait_for;
use crate::suite_loading::LoadingArgs;

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

/// What is wrong with one file, and what could be better.
pub struct FileCheck {
    pub path: PathBuf,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
    /// What keeps cases of a file that is correct from being run.
    pub problems: Vec<String>,
    pub n_errors: usize,
    pub n_warnings: usize,
    /// Errors that are counted and not listed.
    pub n_left_out: usize,
    pub n_advice_left_out: usize,
}

/// The problems of one file for a program.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct FileCheckReport {
    /// The file
    file: PathBuf,
    /// Whether the file has no errors
    valid: bool,
    /// Number of errors
    n_errors: usize,
    /// Number of warnings
    n_warnings: usize,
    /// Errors and pieces of advice that are counted and not listed
    n_not_listed: usize,
    /// Problems as `jurist check --format json` prints them: `severity`, `code`, `message`, `line`, `column`, `help`
    diagnostics: Vec<Json>,
}

/// How a file is read that is only checked: nothing is run, so the output of its scripts is unknown.
pub fn checking_options(loading: &LoadingArgs) -> LoadOptions {
    LoadOptions { scripts: ScriptPolicy::Skipped, ..loading.options() }
}

/// Collects everything that is wrong with a file that was read.
pub fn check_loaded_file(path: &Path, loaded: LoadedSuite, lint: bool) -> anyhow::Result<FileCheck> {
    let (n_left_out, n_advice_left_out) =
        (loaded.diagnostics.n_left_out(), loaded.diagnostics.n_advice_left_out());
    let mut n_errors = loaded.diagnostics.n_errors();
    let mut diagnostics = loaded.diagnostics.into_sorted();
    diagnostics.retain(|diagnostic| lint || diagnostic.severity != DiagnosticSeverity::Advice);
    let diagnostics = merge_shared_advice(diagnostics, &loaded.sources);
    let is_warning = |diagnostic: &&Diagnostic| diagnostic.severity == DiagnosticSeverity::Warning;
    let n_warnings = diagnostics.iter().filter(is_warning).count();
    // Planning finds what cannot be run. It needs a file without errors.
    let problems = match loaded.suite.filter(|suite| !suite.cases.is_empty()) {
        Some(suite) => wait_for(plan_problems(path, suite, loaded.settings))?,
        None => Vec::new(),
    };
    n_errors += problems.len();
    let (path, sources) = (path.to_owned(), loaded.sources);
    Ok(FileCheck {
        path,
        sources,
        diagnostics,
        problems,
        n_errors,
        n_warnings,
        n_left_out,
        n_advice_left_out,
    })
}

/// Lists advice on a shared rubric once, where the rubric is defined, with the number of cases that refer to it.
fn merge_shared_advice(diagnostics: Vec<Diagnostic>, sources: &Sources) -> Vec<Diagnostic> {
    let is_at_reference = |diagnostic: &Diagnostic| {
        let SourceSpan { file, start, end } = diagnostic.span;
        let text = sources.get(file).text.get(start as usize..end as usize);
        let is_reference = text.is_some_and(|text| text.trim_matches('"') == "ref");
        diagnostic.severity == DiagnosticSeverity::Advice && is_reference
    };
    let (at_references, mut merged): (Vec<Diagnostic>, Vec<Diagnostic>) =
        diagnostics.into_iter().partition(is_at_reference);
    let mut shared: BTreeMap<(Code, String), Vec<Diagnostic>> = BTreeMap::new();
    for advice in at_references {
        shared.entry((advice.code, advice.message.clone())).or_default().push(advice);
    }
    for diagnostic in &mut merged {
        if let Some(same) = shared.remove(&(diagnostic.code, diagnostic.message.clone())) {
            let verb = if same.len() == 1 { "refers" } else { "refer" };
            diagnostic.notes.push(format!("{} {verb} to this rubric", plural(same.len(), "case")));
        }
    }
    // What a case adds to a rubric may need advice that the rubric alone does not.
    for same in shared.into_values() {
        let n_others = same.len() - 1;
        let first = same.into_iter().next().map(|advice| match n_others {
            0 => advice,
            _ => advice.note(format!("the same for {}", plural(n_others, "other case"))),
        });
        merged.extend(first);
    }
    merged.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start, diagnostic.severity));
    merged
}

impl FileCheck {
    /// All of it, as `--format json` prints it, with the counts.
    pub fn to_report(&self) -> FileCheckReport {
        let diagnostics = self.diagnostics.iter().map(|diagnostic| diagnostic.to_json(&self.sources));
        let problems = self.problems.iter().map(|problem| describe_problem(&self.path, problem));
        FileCheckReport {
            file: self.path.clone(),
            valid: self.n_errors == 0,
            n_errors: self.n_errors,
            n_warnings: self.n_warnings,
            n_not_listed: self.n_left_out + self.n_advice_left_out,
            diagnostics: diagnostics.chain(problems).collect(),
        }
    }
}

pub fn run_check_command(args: &CheckArgs) -> anyhow::Result<CommandOutcome> {
    let (mut n_errors, mut n_warnings) = (0, 0);
    let files: Vec<&PathBuf> = args.files.iter().chain(&args.config).collect();
    for path in &files {
        let loaded = load_suite(path, checking_options(&args.loading));
        let checked = check_loaded_file(path, loaded, args.lint)?;
        n_errors += checked.n_errors;
        n_warnings += checked.n_warnings;
        print_file_diagnostics(args.format, &checked.diagnostics, &checked.sources)?;
        for problem in &checked.problems {
            match args.format {
                CheckOutputFormat::Text => render::print_error(problem),
                CheckOutputFormat::Json => write_problem(path, problem)?,
            }
        }
        let FileCheck { n_left_out, n_advice_left_out, .. } = checked;
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
    Ok(writeln!(std::io::stdout().lock(), "{}", describe_problem(path, problem))?)
}

fn describe_problem(path: &Path, problem: &str) -> Json {
    json!({ "file": path, "severity": "error", "code": "cannot-be-run", "message": problem })
}

fn format_check_summary(n_files: usize, n_errors: usize, n_warnings: usize) -> String {
    let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    match (n_errors, n_warnings) {
        (0, 0) => format!("{}: no problems", count(n_files, "file")),
        _ => format!(
            "{}: {}, {}",
            count(n_files, "file"),
            count(n_errors, "error"),
            count(n_warnings, "warning")
        ),
    }
}
