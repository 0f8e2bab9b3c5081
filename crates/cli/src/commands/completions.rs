use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Ended};

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist completions bash > /etc/bash_completion.d/jurist
  jurist completions zsh > ~/.zfunc/_jurist
  jurist completions fish > ~/.config/fish/completions/jurist.fish")]
pub struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub fn run(args: &Args) -> anyhow::Result<Ended> {
    clap_complete::generate(args.shell, &mut Cli::command(), "jurist", &mut std::io::stdout());
    Ok(Ended::Passed)
}
