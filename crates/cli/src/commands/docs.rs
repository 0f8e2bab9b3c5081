use std::io::Write;

use crate::book::{BOOK_PAGES, find_book_page};
use crate::outcome::CommandOutcome;

/// Print a page of the book, or list its pages
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist docs                List the pages
  jurist docs quickstart
  jurist docs how-to/ci | less

`jurist serve` has the same book under /docs, with a search.")]
pub struct DocsArgs {
    /// Name of a page; without one, the pages are listed
    #[arg(value_name = "PAGE")]
    page: Option<String>,
}

pub fn run_docs_command(args: &DocsArgs) -> anyhow::Result<CommandOutcome> {
    let mut out = crate::render::stdout();
    match &args.page {
        Some(name) => {
            let page = find_book_page(name).map_err(anyhow::Error::msg)?;
            write_page(&mut out, page.text())?;
        }
        None => {
            let width = BOOK_PAGES.iter().map(|page| page.short_name().len()).max().unwrap_or(0);
            for page in BOOK_PAGES {
                writeln!(out, "\x1b[1m{:<width$}\x1b[0m  {}", page.short_name(), page.title)?;
            }
        }
    }
    Ok(CommandOutcome::Passed)
}

/// The page as it is written, with bold headings on a terminal.
fn write_page(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if line.starts_with('#') && !is_code {
            writeln!(out, "\x1b[1m{line}\x1b[0m")?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
