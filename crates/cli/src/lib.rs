//! The `jurist` command as a library: `main` and the Python package start it here.
//!
//! `commands` has one file per subcommand; the modules next to it have the code that commands share. [`library`] grades
//! records for programs that hold them in memory.

mod book;
mod build_details;
mod commands;
mod connection;
mod database;
mod failure;
mod grades;
mod judging;
pub mod library;
mod logging;
mod outcome;
mod picture;
mod render;
mod reporting;
mod running;
mod runtime;
mod stored_runs;
mod suite_loading;
mod version_names;
mod worker_pool;

use std::ffi::OsString;

use clap::{Arg, ArgAction};
use commands::Cli;
use outcome::CommandOutcome;

/// Runs a command line, its program's name first, and gives the number that the process ends with.
pub fn run_command_line(arguments: Vec<OsString>) -> u8 {
    if asks_build_details(&arguments) {
        return number_outcome(build_details::print_build_details());
    }
    match Cli::parse_arguments(arguments) {
        Ok(cli) => number_outcome(cli.run()),
        Err(error) => {
            // A request for help is no error, and a closed output has no reader.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(2)
        }
    }
}

/// Whether the command line is `jurist --version --verbose`, in any order. The parser of all commands cannot say so: it
/// ends at `--version`, whatever follows it, and `--verbose` alone must stay an error, since it is a flag of subcommands.
fn asks_build_details(arguments: &[OsString]) -> bool {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let command = clap::Command::new("jurist").disable_help_flag(true).disable_version_flag(true);
    let command = command.arg(flag("version").short('V')).arg(flag("verbose"));
    command
        .try_get_matches_from(arguments)
        .is_ok_and(|matches| matches.get_flag("version") && matches.get_flag("verbose"))
}

/// The number of an outcome; `jurist --help` lists them.
fn number_outcome(ended: anyhow::Result<CommandOutcome>) -> u8 {
    match ended {
        Ok(CommandOutcome::Passed) => 0,
        Ok(CommandOutcome::Failed) => 1,
        Ok(CommandOutcome::BadInput) => 2,
        Ok(CommandOutcome::Incomplete) => 3,
        Ok(CommandOutcome::OverBudget) => 5,
        Ok(CommandOutcome::Interrupted) => 130,
        Err(error) => {
            // A reader that stops early, such as `head`, is not an error.
            let broken_pipe = error
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
            if broken_pipe {
                // The exit code of shells for SIGPIPE. 0 would hide that the rest of the output is missing.
                141
            } else {
                failure::print_failure(&error);
                2
            }
        }
    }
}
