use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::outcome::CommandOutcome;

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist completions bash > /etc/bash_completion.d/jurist
  jurist completions zsh > ~/.zfunc/_jurist
  jurist completions fish > ~/.config/fish/completions/jurist.fish")]
pub struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run_completions_command(args: &CompletionsArgs) -> anyhow::Result<CommandOutcome> {
    // Straight to a pipe that is closed early, the generator would panic.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "jurist", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(CommandOutcome::Passed)
}
