//! `qless completions`

use clap_complete::Shell;

use super::generate;
use crate::commands::{ConfigUse, Group, Spec};
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

/// Print the script that lets a shell complete `qless`
///
/// `make install` puts it where the shell looks; else write it there, or source it.
///
/// Examples: `qless completions bash > qless.bash` · `source <(qless completions bash)`
///
/// Commands and flags are completed offline. Names of queues, groups, tags, workers, contexts and
/// options, and the ids of jobs that a command can use, are asked from the server: it is only
/// looked at, for 0.15 s at most, the answer is kept for 10 s, and a server that did not answer
/// is left alone for a minute. A private server of `local:` is never started. QLESS_COMPLETE_LIVE=0
/// turns that off; a duration such as `500ms` lets it take so long.
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

pub(crate) const SPEC: Spec<Args> = Spec::reads(Group::Operate, run).config(ConfigUse::Nothing);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.write(&generate::completion(args.shell).bytes)?;
    Ok(Exit::Ok)
}
