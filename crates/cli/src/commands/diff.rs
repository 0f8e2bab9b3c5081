use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use jurist_core::rubric::diff_rubrics;

use crate::database::DatabaseArgs;
use crate::outcome::CommandOutcome;
use crate::reporting::printable_line;
use crate::suite_loading::{LoadingArgs, choose_file_rubric};
use crate::version_names::find_version_names;

/// Show the differences between two rubric versions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist diff old.yaml new.yaml
  jurist diff --rubric helpful suite-v1.yaml suite-v2.yaml

Prints nothing if both files have the same version.")]
pub struct DiffArgs {
    /// File with the old rubric version
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// File with the new rubric version
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Name of the rubric, if the file has several
    #[arg(long, value_name = "NAME")]
    rubric: Option<String>,
    #[command(flatten)]
    loading: LoadingArgs,
}

pub fn run_diff_command(args: &DiffArgs) -> anyhow::Result<CommandOutcome> {
    let read = |path| choose_file_rubric(path, args.rubric.as_deref(), "--rubric", &args.loading);
    let (Some(old), Some(new)) = (read(&args.old)?, read(&args.new)?) else {
        return Ok(CommandOutcome::BadInput);
    };
    let mut out = crate::render::stdout();
    let (old, new) = (old.rubric, new.rubric);
    let changes = diff_rubrics(&old, &new);
    if !changes.is_empty() {
        let (old, new) = (old.version(), new.version());
        let names = find_version_names(&BTreeSet::from([old, new]), &DatabaseArgs::default());
        let version_name = |version, path: &Path| match names.name_of_hash(version) {
            Some(name) => printable_line(name),
            None => printable_line(&path.display().to_string()),
        };
        writeln!(out, "{} → {}", version_name(old, &args.old), version_name(new, &args.new))?;
    }
    for change in changes {
        writeln!(out, "  {}", crate::render::printable(&change.to_string()))?;
    }
    Ok(CommandOutcome::Passed)
}
