//! `qless doctor`

use super::{HelpGroup, Spec};
use crate::doctor;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::doctor::Diagnosis;
use crate::session::Session;

/// Check the way to the server, and whether it keeps jobs
///
/// It checks config file and context, the address and what named it, the connection and its time, TLS and the
/// certificate, the login, the rights of the user, the core, replication, eviction, memory, persistence,
/// connections, the clock, what is stored under the prefix, and whether the server has run other scripts. Each check
/// is a line: `✓` all is well, `!` it may lose data or fail later, `✗` commands do not work, `–` it could not be
/// checked. A line that is not well says what to do.
///
/// After a failure it goes on as far as that makes sense. Each step ends within `--timeout`. Passwords are not
/// shown, and no key is changed. As with any command, `--redis local:` starts its server.
///
/// Examples: `qless doctor`
/// · `qless doctor --read-only`
/// · `qless doctor -o json | jq '.items[] | select(.level != "ok")'`
///
/// Exit codes: 0, also with warnings; 1 a check failed, also if the server is away; 2 a flag, the address or the
/// config file is invalid.
///
/// See also: `qless status`, `qless context validate`, `qless check`, `qless help acl`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Operate, run);

fn run(_: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<Diagnosis>()?;
    let diagnosis = doctor::diagnose(session)?;
    session.ui.show(&diagnosis)?;
    Ok(if diagnosis.ok { Exit::Ok } else { Exit::Error })
}
