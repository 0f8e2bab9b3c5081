use std::io::Write;
use std::path::{Path, PathBuf};

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
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    write_manual_pages(&command, &args.folder)
        .with_context(|| format!("cannot write manual pages into `{folder}`"))?;
    writeln!(crate::render::stdout(), "manual pages are in {folder}")?;
    Ok(CommandOutcome::Passed)
}

/// The page of a command, and those of its subcommands.
fn write_manual_pages(command: &clap::Command, folder: &Path) -> std::io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_manual_pages(subcommand, folder)?;
    }
    // By itself, a page of a subcommand has the name of the subcommand in its footer, and no version.
    let source = concat!("jurist ", env!("CARGO_PKG_VERSION"));
    let page = clap_mangen::Man::new(command.clone()).source(source).manual("Jurist");
    let mut text = Vec::new();
    page.render(&mut text)?;
    std::fs::write(folder.join(page.get_filename()), name_manual_sections(&String::from_utf8_lossy(&text)))
}

/// Puts the examples of a command, which clap has at the end of its help, into the section in which manual pages have
/// them, line by line, and what else is there into notes.
fn name_manual_sections(page: &str) -> String {
    const EXTRA: &str = ".SH EXTRA\n";
    let Some((before, extra)) = page.split_once(EXTRA) else { return page.to_owned() };
    let end = extra.find("\n.SH ").map_or(extra.len(), |at| at + 1);
    let (extra, after) = extra.split_at(end);
    let (notes, rest) = extra.split_once("Examples:\n").unwrap_or((extra, ""));
    let (examples, further_notes) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let mut sections = String::new();
    if !examples.trim().is_empty() {
        sections += &format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", examples.trim_end());
    }
    let notes = [notes, further_notes].map(str::trim_end).join("\n\n");
    if !notes.trim().is_empty() {
        sections += &format!(".SH NOTES\n{}\n", notes.trim());
    }
    format!("{before}{sections}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_have_a_section_of_their_own() {
        let page = ".TH a 1\n.SH EXTRA\nFirst.\n\nExamples:\n  a b\n  a c\n\nLast.\n.SH VERSION\nv1\n";
        let named =
            ".TH a 1\n.SH EXAMPLES\n.nf\n  a b\n  a c\n.fi\n.SH NOTES\nFirst.\n\nLast.\n.SH VERSION\nv1\n";
        assert_eq!(name_manual_sections(page), named);
        let only = name_manual_sections(".SH EXTRA\nExamples:\n  a b\n");
        assert_eq!(only, ".SH EXAMPLES\n.nf\n  a b\n.fi\n");
        assert_eq!(name_manual_sections(".SH EXTRA\nStart here.\n"), ".SH NOTES\nStart here.\n");
        assert_eq!(name_manual_sections(".SH NAME\na\n"), ".SH NAME\na\n");
    }

    #[test]
    fn every_page_names_the_program_and_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        write_manual_pages(&command, folder.path()).unwrap();
        let footer = concat!("\"jurist ", env!("CARGO_PKG_VERSION"), "\" Jurist\n");
        let pages: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(50 < pages.len());
        for page in pages {
            let text = std::fs::read_to_string(page.unwrap().path()).unwrap();
            assert!(text.contains(footer), "{text}");
            assert!(!text.contains(".SH EXTRA") && !text.contains("\nExamples:"), "{text}");
        }
    }
}
