use std::io::Write;

use jurist_core::catalogue::{CHECKS, CatalogueEntry, RECIPES};

use crate::outcome::CommandOutcome;

/// List checks and recipes with their parameters
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist checks                 List all
  jurist checks trajectory      List those whose name contains a word

Code decides checks; a judge decides recipes.
A check that lacks its input returns no score and says what is missing.
Parameters in [brackets] are optional.")]
pub struct ChecksArgs {
    /// Show only checks whose name contains this word
    #[arg(value_name = "WORD")]
    word: Option<String>,
}

pub fn run_checks_command(args: &ChecksArgs) -> anyhow::Result<CommandOutcome> {
    let word = args.word.as_deref().unwrap_or_default();
    let mut out = crate::render::stdout();
    let width = CHECKS.iter().chain(RECIPES).map(|entry| entry.name.len() + 2).max().unwrap_or(0);
    for (title, entries) in [("checks", CHECKS), ("recipes", RECIPES)] {
        let matches: Vec<&CatalogueEntry> =
            entries.iter().filter(|entry| entry.name.contains(word)).collect();
        if matches.is_empty() {
            continue;
        }
        writeln!(out, "{title}")?;
        for entry in matches {
            let params: Vec<String> = entry
                .params
                .iter()
                .map(|param| if param.required { param.name.to_owned() } else { format!("[{}]", param.name) })
                .collect();
            writeln!(out, "  {:<width$}{}", entry.name, entry.help)?;
            let looks_at = format!("looks at {}", entry.looks_at.describe());
            let facts =
                if params.is_empty() { looks_at } else { format!("{looks_at} · {}", params.join(" ")) };
            writeln!(out, "  {:<width$}{facts}", "")?;
        }
    }
    Ok(CommandOutcome::Passed)
}
