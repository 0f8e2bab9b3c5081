use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use super::CommandOutcome;

/// Write a small suite with comments, to start from
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist init                 writes suite.yaml
  jurist init evals/faq.yaml

A file that exists is never overwritten.")]
pub struct InitArgs {
    #[arg(value_name = "FILE", default_value = "suite.yaml")]
    file: PathBuf,
}

pub const SUITE: &str = include_str!("init.yaml");

pub fn run_init_command(args: &InitArgs) -> anyhow::Result<CommandOutcome> {
    let path = args.file.display();
    if let Some(folder) = args.file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&args.file) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("`{path}` exists already; name another file, or move it away")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write `{path}`")),
    };
    file.write_all(SUITE.as_bytes()).with_context(|| format!("cannot write `{path}`"))?;
    let mut out = crate::render::stdout();
    writeln!(out, "wrote {path}: a small suite with comments")?;
    writeln!(out, "next:")?;
    writeln!(out, "  jurist check {path}             say everything that is wrong with it")?;
    writeln!(
        out,
        "  jurist eval {path} --explain    what would be asked, and what it may cost; spends nothing"
    )?;
    writeln!(out, "  jurist eval {path}              grade it; judges need a key such as ANTHROPIC_API_KEY")?;
    Ok(CommandOutcome::Passed)
}
