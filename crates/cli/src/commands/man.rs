use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::CommandFactory;

use super::Cli;
use crate::outcome::CommandOutcome;

/// Write manual pages into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
One page for each command, such as jurist-eval.1.

Examples:
  jurist man ~/.local/share/man/man1
  man jurist-eval")]
pub struct ManArgs {
    /// Folder for the pages; created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub fn run_man_command(args: &ManArgs) -> anyhow::Result<CommandOutcome> {
    let folder = args.folder.display();
    std::fs::create_dir_all(&args.folder).with_context(|| format!("cannot create the folder `{folder}`"))?;
    clap_mangen::generate_to(Cli::command(), &args.folder)
        .with_context(|| format!("cannot write manual pages into `{folder}`"))?;
    writeln!(crate::render::stdout(), "manual pages are in {folder}")?;
    Ok(CommandOutcome::Passed)
}
