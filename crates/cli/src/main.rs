//! The `jurist` command; the library beside it knows everything else.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(jurist::run_command_line(None))
}
