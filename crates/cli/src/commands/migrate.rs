use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::diagnostic::{Diagnostic, DiagnosticSeverity};
use jurist_core::dialect::{Dialect, LoadedSuite, VariableExpansion, to_native};
use jurist_core::source::to_yaml;
use jurist_engine::load::{LoadOptions, load_suite};
use jurist_engine::load_script::ScriptPolicy;

use super::{CommandOutcome, LoadingArgs};
use crate::render;

/// Find files of other tools and convert them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For every file of promptfoo, AgentV or Potato it prints whether the file loads,
which parts have no effect, and why a file is refused.
--write creates NAME.jurist.yaml beside each file that loads; existing files are
not overwritten.

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

/// Folders in which nobody keeps files of their own.
const SKIPPED: [&str; 6] = ["node_modules", "target", "dist", ".git", ".jurist", "__pycache__"];
/// A tree that is deeper is left alone.
const MAX_DEPTH: usize = 16;
/// A folder with more files is too large to be meant.
const MAX_FILES: usize = 10_000;

pub fn run_migrate_command(args: &MigrateArgs) -> anyhow::Result<CommandOutcome> {
    let mut files = Vec::new();
    collect_files(&args.folder, 0, &mut files).with_context(|| format!("`{}`", args.folder.display()))?;
    files.sort();
    if MAX_FILES < files.len() {
        anyhow::bail!("`{}` holds more than {MAX_FILES} YAML files", args.folder.display());
    }
    let mut out = render::stdout();
    let (mut n_loaded, mut n_refused) = (0, 0);
    for file in &files {
        let options = LoadOptions {
            variables: VariableExpansion::Kept,
            scripts: ScriptPolicy::Skipped,
            ..args.loading.options()
        };
        let loaded = load_suite(file, options);
        let Some(dialect) = loaded.dialect.filter(|dialect| is_foreign(*dialect)) else { continue };
        let (errors, warnings) =
            (messages(&loaded, DiagnosticSeverity::Error), messages(&loaded, DiagnosticSeverity::Warning));
        let state = if loaded.suite.is_some() { "loads" } else { "refused" };
        writeln!(out, "{} ({}): {state}", file.display(), dialect.name())?;
        for message in &errors {
            writeln!(out, "    lost: {message}")?;
        }
        for message in &warnings {
            writeln!(out, "    differs: {message}")?;
        }
        match loaded.suite {
            Some(suite) => {
                n_loaded += 1;
                if args.write {
                    write_native(file, &to_yaml(&to_native(&suite)))?;
                }
            }
            None => n_refused += 1,
        }
    }
    writeln!(out, "{n_loaded} of {} load", n_loaded + n_refused)?;
    Ok(if n_refused == 0 { CommandOutcome::Passed } else { CommandOutcome::BadInput })
}

fn is_foreign(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Promptfoo | Dialect::Agentv | Dialect::Potato)
}

/// Each message once, with the line of its first place.
fn messages(loaded: &LoadedSuite, severity: DiagnosticSeverity) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    let of_kind = |diagnostic: &&Diagnostic| diagnostic.severity == severity;
    for diagnostic in loaded.diagnostics.iter().filter(of_kind) {
        if !seen.contains(&diagnostic.message) {
            let line = loaded.sources.place(diagnostic.span).line;
            lines.push(format!("line {line}: {}", diagnostic.message));
            seen.push(diagnostic.message.clone());
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

/// YAML files below a folder; links are not followed.
fn collect_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        if kind.is_dir() && depth < MAX_DEPTH && !SKIPPED.contains(&name.as_str()) {
            collect_files(&path, depth + 1, files)?;
        } else if kind.is_file() && is_yaml && !name.ends_with(".jurist.yaml") && files.len() <= MAX_FILES {
            files.push(path);
        }
    }
    Ok(())
}
