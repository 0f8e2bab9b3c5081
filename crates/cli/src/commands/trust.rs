use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_engine::trust::{TrustList, list_restricted_keys};

use crate::outcome::CommandOutcome;
use crate::render;
use crate::suite_loading::load_folder_settings;

/// Trust the settings file of a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A repository may come from a stranger. Until its folder is trusted, its
.jurist/config.yaml may not set where requests go (vendors, judge.base_url,
network.proxy, network.ca, mail), which environment variables they carry, or
which program judges. It may not lower prices, raise exchange rates, or make
more calls at a time. Read the file before you trust it. Trust ends when the
file changes or moves.

Examples:
  jurist trust              Trust the settings of this folder
  jurist trust --list       List all trusted files
  jurist trust --remove     Remove the trust

CI jobs that run code of strangers must not trust its settings: do not use
--trust-settings in jobs for pull requests.")]
pub struct TrustArgs {
    /// Folder with the settings file
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Remove the trust
    #[arg(long)]
    remove: bool,
    /// List the trusted files
    #[arg(long, conflicts_with = "remove")]
    list: bool,
}

pub fn run_trust_command(args: &TrustArgs) -> anyhow::Result<CommandOutcome> {
    let list =
        TrustList::of_user().context("there is no folder for the trust list; set HOME or XDG_STATE_HOME")?;
    let mut out = anstream::stdout();
    if args.list {
        for file in list.files().context("cannot read the trust list")? {
            let state = if file.is_current { "" } else { " (changed or deleted since: not trusted)" };
            writeln!(out, "{}{state}", relative_path_text(&file.path))?;
        }
        return Ok(CommandOutcome::Passed);
    }
    let settings = load_folder_settings(&args.folder)?;
    let file = settings.file.as_ref().with_context(|| {
        format!("there is no .jurist/config.yaml in `{}` or a folder above", relative_path_text(&args.folder))
    })?;
    if args.remove {
        let was_trusted = list.remove(&file.path).context("cannot write the trust list")?;
        let state = if was_trusted { "is no longer trusted" } else { "was not trusted" };
        writeln!(out, "{} {state}", relative_path_text(&file.path))?;
        return Ok(CommandOutcome::Passed);
    }
    list.add(file).context("cannot write the trust list")?;
    writeln!(out, "{} is trusted until it changes", relative_path_text(&file.path))?;
    let mut keys = settings.keys_that_need_trust();
    // They are read without trust as well, and then they only make things dearer and slower.
    keys.extend(list_restricted_keys(&settings).into_iter().map(|key| key.name().to_owned()));
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
