use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_engine::trust::TrustList;

use super::CommandOutcome;
use super::judge::load_folder_settings;
use crate::render;

/// Trust the settings file of a folder, which may then name vendors, proxies, certificates and programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A repository may come from a stranger. Unless it is trusted, its .jurist/config.yaml may not say where requests go
(vendors, judge.base_url, network.proxy, network.ca, mail), which variables of the environment they carry, or which
program judges. Read the file first. Trust ends when the file changes or moves.

Examples:
  jurist trust                    the settings that hold for this folder
  jurist trust --list             all files that are trusted
  jurist trust --remove           no longer

CI that runs on code of strangers must not trust it: leave --trust-settings out of jobs for pull requests.")]
pub struct TrustArgs {
    /// The folder whose settings are meant
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Do not trust it any more
    #[arg(long)]
    remove: bool,
    /// List the files that are trusted
    #[arg(long, conflicts_with = "remove")]
    list: bool,
}

pub fn run_trust_command(args: &TrustArgs) -> anyhow::Result<CommandOutcome> {
    let list = TrustList::of_user().context("there is no folder for this; set HOME or XDG_STATE_HOME")?;
    let mut out = anstream::stdout();
    if args.list {
        for file in list.files().context("the list cannot be read")? {
            let state = if file.is_current { "" } else { " (changed or gone since: not trusted)" };
            writeln!(out, "{}{state}", relative_path_text(&file.path))?;
        }
        return Ok(CommandOutcome::Passed);
    }
    let settings = load_folder_settings(&args.folder)?;
    let file = settings.file.as_ref().with_context(|| {
        format!("there is no .jurist/config.yaml in `{}` or a folder above", relative_path_text(&args.folder))
    })?;
    if args.remove {
        let was_trusted = list.remove(&file.path).context("the list cannot be written")?;
        let state = if was_trusted { "is no longer trusted" } else { "was not trusted" };
        writeln!(out, "{} {state}", relative_path_text(&file.path))?;
        return Ok(CommandOutcome::Passed);
    }
    list.add(file).context("the list cannot be written")?;
    writeln!(out, "{} is trusted until it changes", relative_path_text(&file.path))?;
    let keys = settings.keys_that_need_trust();
    match keys.as_slice() {
        [] => writeln!(out, "nothing in it needs trust")?,
        keys => writeln!(out, "it may set {}", render::printable(&keys.join(", ")))?,
    }
    Ok(CommandOutcome::Passed)
}

/// From here, where that is shorter.
fn relative_path_text(path: &Path) -> String {
    let here = std::path::absolute(".").unwrap_or_default();
    render::printable(&path.strip_prefix(&here).unwrap_or(path).display().to_string())
}
