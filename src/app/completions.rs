//! `qless completions`

use super::completion::shell::Shell;
use crate::commands::{ConfigToApply, HelpGroup, Spec};
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

/// Print the script that lets a shell complete `qless`
///
/// `make install` puts it where the shell looks for it. Otherwise write it there, or source it. The
/// script asks the `qless` on the command line what can be typed, so it fits every version.
///
/// Examples: `qless completions bash > qless.bash` · `source <(qless completions bash)`
///
/// Commands, flags and their values need no server. Names of queues, groups, tags, workers and
/// options, and the ids of jobs that a command can use, come from the server. `qless` only reads
/// them, waits up to 0.15 s, keeps the reply for 10 s, and after a failure does not ask again for a
/// minute. It never starts the private server of `local:` and never prompts for a password.
/// QLESS_COMPLETE_LIVE=0 turns this off; a duration such as `500ms` sets the wait.
///
/// Exit codes: 0, 2 unknown shell.
///
/// See also: `qless help environment`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Operate, run).config_to_apply(ConfigToApply::Nothing);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.write_bytes(args.shell.script().as_bytes())?;
    Ok(Exit::Ok)
}
