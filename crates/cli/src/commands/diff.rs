use std::io::Write;
use std::path::PathBuf;

use jurist_core::rubric::diff;

use super::{Ended, Loading, rubric};

/// Say what changed between two versions of a rubric
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist diff old.yaml new.yaml
  jurist diff --rubric helpful suite-v1.yaml suite-v2.yaml

Prints nothing when both have the same version.")]
pub struct Args {
    #[arg(value_name = "OLD")]
    old: PathBuf,
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Which rubric, where a file holds several
    #[arg(long, value_name = "NAME")]
    rubric: Option<String>,
    #[command(flatten)]
    loading: Loading,
}

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let read = |path| rubric(path, args.rubric.as_deref(), "--rubric", &args.loading);
    let (Some(old), Some(new)) = (read(&args.old)?, read(&args.new)?) else {
        return Ok(Ended::BadInput);
    };
    let mut out = crate::render::stdout();
    let (old, new) = (old.rubric, new.rubric);
    let changes = diff(&old, &new);
    if !changes.is_empty() {
        writeln!(out, "{} → {}", old.version().short(), new.version().short())?;
    }
    for change in changes {
        writeln!(out, "  {change}")?;
    }
    Ok(Ended::Passed)
}
