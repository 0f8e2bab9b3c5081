//! The `jurist` command; everything else is in the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(jurist::run_command_line(std::env::args_os().collect()))
}
