//! `qless version`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::core::script::Script;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::version::Version;
use crate::session::Session;

/// Print the version of the binary, its commit and the name of its core
///
/// The name of the core is the SHA-1 of its script, as for `EVALSHA`.
///
/// Example: `qless version -o json`
///
/// Exit codes: 0.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Operate, run).context_member_dispatch(|_| MemberDispatch::Itself);

fn run(_: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let version = Version {
        version: env!("CARGO_PKG_VERSION"),
        commit: option_env!("QLESS_COMMIT").filter(|commit| !commit.is_empty()),
        core: Script::new(session.prefix()).sha().to_string(),
    };
    session.ui.show_and_exit_ok(&version)
}
