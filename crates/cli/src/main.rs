//! The `jurist` command: one file per subcommand, exit codes only here.

mod commands;
mod picture;
mod render;

use std::process::ExitCode;

use commands::{Cli, CommandOutcome};

fn main() -> ExitCode {
    let ended = Cli::from_arguments().run();
    ExitCode::from(match ended {
        Ok(CommandOutcome::Passed) => 0,
        Ok(CommandOutcome::Failed) => 1,
        Ok(CommandOutcome::BadInput) => 2,
        Ok(CommandOutcome::Incomplete) => 3,
        Ok(CommandOutcome::OverBudget) => 5,
        Ok(CommandOutcome::Interrupted) => 130,
        Err(error) => {
            // A reader that has seen enough, such as `head`, is not an error.
            let broken_pipe = error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|downcast_ref| downcast_ref.kind() == std::io::ErrorKind::BrokenPipe);
            if broken_pipe {
                // What a shell makes of SIGPIPE; 0 would hide what was left to say.
                141
            } else {
                render::print_error(&format!("{error:#}"));
                2
            }
        }
    })
}
