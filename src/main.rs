//! Gives the real arguments to `run` and ends the process with its exit code; nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(qless::run(std::env::args_os()).code())
}
