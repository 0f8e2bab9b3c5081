use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::candidate::check_result_version;
use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity};
use jurist_core::dialect::{Dialect, LoadedSuite, MCP_TOOL, VariableExpansion, to_native};
use jurist_core::migration::{
    ComparedVerdict, ForeignVerdict, VerdictComparison, compare_foreign_verdicts, read_foreign_verdicts,
};
use jurist_core::quantity::plural;
use jurist_core::source::to_yaml;
use jurist_core::suite::Suite;
use jurist_engine::load::{LoadOptions, load_suite};
use jurist_engine::load_script::ScriptPolicy;

use super::answer_files::add_answers_of_files;
use super::eval::list_programs;
use crate::outcome::CommandOutcome;
use crate::render;
use crate::reporting::printable_line;
use crate::runtime::wait_for;
use crate::suite_loading::LoadingArgs;

/// Find files of other tools and convert them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For every file of promptfoo, AgentV, Potato or mcptest it prints whether the
file loads, which parts have no effect, and why a file is refused.
Results of promptfoo (eval -o results.json) and AgentV (JSON lines) in the
folder are compared: the same answers are graded by the suite that they belong
to, and every verdict that differs is shown with the reason. Answers of judges
and programs are taken from the results.
--write creates NAME.jurist.yaml next to each file that loads; existing files
are not overwritten.

Examples:
  jurist migrate .
  jurist migrate evals --write")]
pub struct MigrateArgs {
    /// Folder to search
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Write native files
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    loading: LoadingArgs,
}

/// Folders in which users keep no files of their own.
const SKIPPED: [&str; 6] = ["node_modules", "target", "dist", ".git", ".jurist", "__pycache__"];
/// A tree that is deeper is left alone.
const MAX_DEPTH: usize = 16;
/// A folder with more files is too large to be meant.
const MAX_FILES: usize = 10_000;

/// Larger files are no results that anybody reads.
const MAX_RESULT_BYTES: u64 = 256 << 20;
/// The largest number of disagreements that are printed for one file.
const MAX_SHOWN: usize = 50;

pub fn run_migrate_command(args: &MigrateArgs) -> anyhow::Result<CommandOutcome> {
    let mut paths = Vec::new();
    collect_files(&args.folder, 0, &mut paths).with_context(|| format!("`{}`", args.folder.display()))?;
    paths.sort();
    if MAX_FILES < paths.len() {
        anyhow::bail!("`{}` holds more than {MAX_FILES} YAML and JSON files", args.folder.display());
    }
    let (files, results): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| is_yaml(path) || find_named_dialect(path).is_some());
    let mut suites: Vec<(PathBuf, Suite)> = Vec::new();
    let mut out = render::stdout();
    let (mut n_loaded, mut n_refused) = (0, 0);
    for file in &files {
        let options = LoadOptions {
            variables: VariableExpansion::Kept,
            scripts: ScriptPolicy::Skipped,
            ..args.loading.options()
        };
        let loaded = load_suite(file, options);
        // A file that cannot be read at all may still be called as a tool calls its own.
        let dialect = loaded.dialect.or_else(|| find_named_dialect(file));
        let Some(tool) = dialect.and_then(|dialect| name_tool(&loaded, dialect)) else { continue };
        let (errors, warnings) =
            (messages(&loaded, DiagnosticSeverity::Error), messages(&loaded, DiagnosticSeverity::Warning));
        let state = if loaded.suite.is_some() { "loads" } else { "refused" };
        writeln!(out, "{} ({tool}): {state}", file.display())?;
        for message in &errors {
            writeln!(out, "    lost: {message}")?;
        }
        for message in &warnings {
            writeln!(out, "    differs: {message}")?;
        }
        let programs = loaded.suite.as_ref().map(|suite| find_programs(file, suite, &loaded));
        if let Some(programs) = programs.filter(|programs| !programs.is_empty()) {
            writeln!(out, "    needs --allow-commands: {}", printable_line(&programs.join(", ")))?;
        }
        match loaded.suite {
            Some(suite) => {
                n_loaded += 1;
                if args.write && needs_scripts(file, &args.loading) {
                    render::print_warning(&format!(
                        "no native form of `{}`: scripts make parts of it; `jurist convert --allow-commands` runs them",
                        file.display()
                    ));
                } else if args.write {
                    write_native(file, &to_yaml(&to_native(&suite)))?;
                }
                suites.push((file.clone(), suite));
            }
            None => n_refused += 1,
        }
    }
    for path in &results {
        compare_results(&mut out, path, &suites)?;
    }
    writeln!(out, "{n_loaded} of {} load", n_loaded + n_refused)?;
    Ok(if n_refused == 0 { CommandOutcome::Passed } else { CommandOutcome::BadInput })
}

/// Whether parts of a file that loads are made by scripts, which were not run.
fn needs_scripts(file: &Path, loading: &LoadingArgs) -> bool {
    let options = LoadOptions {
        variables: VariableExpansion::Kept,
        scripts: ScriptPolicy::Refused,
        ..loading.options()
    };
    load_suite(file, options).suite.is_none()
}

/// Programs that a run of the suite would start; none where its plan cannot be made.
fn find_programs(file: &Path, suite: &Suite, loaded: &LoadedSuite) -> Vec<String> {
    if suite.cases.is_empty() {
        return Vec::new();
    }
    wait_for(list_programs(file, suite.clone(), loaded.settings.clone())).unwrap_or_default()
}

/// Grades the answers of a result file by the suite that they belong to, and shows which verdicts differ.
fn compare_results(out: &mut impl Write, path: &Path, suites: &[(PathBuf, Suite)]) -> anyhow::Result<()> {
    let verdicts = read_verdict_file(path);
    let Some(tool) = verdicts.first().map(|verdict| verdict.tool) else { return Ok(()) };
    // Of several suites, the one with the most matching cases is taken.
    let near = suites.iter().filter(|(file, _)| may_have_results(file, path));
    let compared = near.map(|(file, suite)| (file, compare_foreign_verdicts(suite, &verdicts)));
    let best = compared.max_by_key(|(file, comparison)| (comparison.n_known(), file.components().count()));
    let best = best.filter(|(_, comparison)| 0 < comparison.n_known());
    let Some((file, comparison)) = best else {
        writeln!(out, "{} (results of {tool}): of no file that loads", path.display())?;
        return Ok(());
    };
    write_comparison(out, (path, tool, file), &comparison)
}

/// Results are in the folder of their suite or below it. AgentV writes the results of all suites of a project to one folder.
fn may_have_results(suite: &Path, results: &Path) -> bool {
    let mut folders = results.ancestors();
    let agentv = folders.find(|folder| folder.file_name().is_some_and(|name| name == ".agentv"));
    let is_of_project = agentv.and_then(Path::parent).is_some_and(|project| suite.starts_with(project));
    is_of_project || results.starts_with(suite.parent().unwrap_or(Path::new("")))
}

fn write_comparison(
    out: &mut impl Write,
    (path, tool, file): (&Path, &str, &Path),
    comparison: &VerdictComparison,
) -> anyhow::Result<()> {
    let VerdictComparison { n_equal, disagreements, n_unknown, left_out, n_taken } = comparison;
    let (results, file) = (path.display(), file.display());
    writeln!(
        out,
        "{results} (results of {tool}, by {file}): {n_equal} equal, {} differ",
        disagreements.len()
    )?;
    for disagreement in disagreements.iter().take(MAX_SHOWN) {
        let (theirs, ours) = (word_for_verdict(disagreement.theirs), word_for_verdict(disagreement.ours));
        writeln!(out, "    {}: {theirs} there, {ours} here", printable_line(&disagreement.case))?;
        for reason in &disagreement.reasons {
            writeln!(out, "        {}", printable_line(reason))?;
        }
    }
    if MAX_SHOWN < disagreements.len() {
        writeln!(out, "    and {} more", disagreements.len() - MAX_SHOWN)?;
    }
    for why in left_out.iter().take(MAX_SHOWN) {
        writeln!(out, "    not compared: {}", printable_line(why))?;
    }
    if MAX_SHOWN < left_out.len() {
        writeln!(out, "    and {} more that are not compared", left_out.len() - MAX_SHOWN)?;
    }
    if 0 < *n_unknown {
        writeln!(out, "    of no case: {n_unknown}")?;
    }
    if 0 < *n_taken {
        writeln!(out, "    answers of judges and programs taken from {tool}: {n_taken}")?;
    }
    Ok(())
}

fn word_for_verdict(verdict: ComparedVerdict) -> String {
    format!("{} {:.2}", if verdict.passed { "pass" } else { "fail" }, verdict.score)
}

/// The verdicts in a file; none where it is not a result file.
fn read_verdict_file(path: &Path) -> Vec<ForeignVerdict> {
    if std::fs::metadata(path).is_ok_and(|metadata| MAX_RESULT_BYTES < metadata.len()) {
        render::print_warning(&format!("`{}` is larger than {MAX_RESULT_BYTES} bytes", path.display()));
        return Vec::new();
    }
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    if let Ok(value) = serde_json::from_str(&text) {
        let mut values = [value];
        add_answers_of_files(path, &mut values);
        return read_verdicts_of_known_version(path, &values);
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut values: Vec<serde_json::Value> =
        lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    add_answers_of_files(path, &mut values);
    let verdicts = read_verdicts_of_known_version(path, &values);
    if !verdicts.is_empty() && values.len() < lines.len() {
        let n_broken = lines.len() - values.len();
        render::print_warning(&format!(
            "`{}`: {} cannot be read as JSON",
            path.display(),
            plural(n_broken, "line")
        ));
    }
    verdicts
}

/// The verdicts, unless their parts may be elsewhere in this version of the results.
fn read_verdicts_of_known_version(path: &Path, values: &[serde_json::Value]) -> Vec<ForeignVerdict> {
    let verdicts = read_foreign_verdicts(values);
    let known = verdicts.first().map_or(Ok(()), |verdict| check_result_version(values, verdict.tool));
    if let Err(error) = known {
        render::print_warning(&format!("`{}` is not compared: {error}", path.display()));
        return Vec::new();
    }
    verdicts
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The dialect of a file that has the usual name of a tool's own files. Both tools also read scripts.
fn find_named_dialect(path: &Path) -> Option<Dialect> {
    const EXTENSIONS: [&str; 9] = ["cjs", "cts", "js", "json", "mjs", "mts", "ts", "yaml", "yml"];
    let name = path.file_name()?.to_string_lossy();
    let extension = path.extension()?.to_str()?;
    if name.starts_with("promptfooconfig") && EXTENSIONS.contains(&extension) {
        Some(Dialect::Promptfoo)
    } else {
        (name.ends_with(".eval.ts") || name.ends_with(".eval.js")).then_some(Dialect::Agentv)
    }
}

/// The tool that a file was written for. Files of mcptest are native files with tool tests.
fn name_tool(loaded: &LoadedSuite, dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Promptfoo | Dialect::Agentv | Dialect::Potato => Some(dialect.name()),
        Dialect::Native => {
            let mut targets =
                loaded.suite.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.targets);
            targets.any(|target| target.id == MCP_TOOL).then_some("mcptest")
        }
        Dialect::Monitor => None,
    }
}

/// Each message once, with the line of its first place.
fn messages(loaded: &LoadedSuite, severity: DiagnosticSeverity) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    let of_kind = |diagnostic: &&Diagnostic| diagnostic.severity == severity;
    for diagnostic in loaded.diagnostics.iter().filter(of_kind) {
        if !distinct.contains(&diagnostic.message) {
            let line = loaded.sources.place(diagnostic.span).line;
            lines.push(format!("line {line}: {}", diagnostic.message));
            distinct.push(diagnostic.message.clone());
        }
    }
    lines
}

fn write_native(file: &Path, text: &str) -> anyhow::Result<()> {
    let path = file.with_extension("jurist.yaml");
    if path.exists() {
        render::print_warning(&format!("`{}` is there already, and is left as it is", path.display()));
        return Ok(());
    }
    std::fs::write(&path, text).with_context(|| format!("`{}`", path.display()))?;
    render::print_note(&format!("wrote `{}`", path.display()));
    Ok(())
}

/// YAML and JSON files below a folder, and those with the usual name of a tool's own files; links are not followed.
fn collect_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_read = [".yaml", ".yml", ".json", ".jsonl"].iter().any(|end| name.ends_with(end))
            || find_named_dialect(&path).is_some();
        if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&name.as_str()) {
            collect_files(&path, depth + 1, files)?;
        } else if kind.is_file() && is_read && !name.ends_with(".jurist.yaml") && files.len() <= MAX_FILES {
            files.push(path);
        }
    }
    Ok(())
}
