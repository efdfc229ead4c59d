//! `qless script`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::core::script::Script;
use crate::error::Error;
use crate::exit::Exit;
use crate::session::Session;

/// Print the Lua core, for other clients to load
///
/// Prints exactly the bytes that `qless` loads; `EVALSHA` takes their SHA-1, which `qless version`
/// prints. A client that loads this script in place of its own core runs on Redis 6.2 and later.
/// `--lib` prints the library form, which plugins put before their own script. `--prefix` sets the
/// prefix of all keys in the script. It needs no server.
///
/// `--for qless-php` prints the script that qless-php loads in place of its own, the file
/// `src/qless-core/qless.lua` of the package: the same commands, with the defaults and replies that
/// this client expects. Its first line names it. Workers with either script can share their queues.
///
/// Examples: `qless script > qless.lua`, `redis-cli -x script load < qless.lua`,
/// `qless script --for qless-php > qless.lua`
///
/// Exit codes: 0.
///
/// See also: `qless version`
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the library form: no commands, only the names that plugins use
    #[arg(long)]
    lib: bool,
    /// Print the script with the defaults and replies of another client's core
    #[arg(long = "for", value_name = "CLIENT", conflicts_with = "lib")]
    client: Option<ScriptVariantClient>,
}

/// A client whose own core differs from qless-core. `--for` prints a script with the defaults and replies that this
/// client expects.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ScriptVariantClient {
    QlessPhp,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::reads(HelpGroup::Operate, run).context_member_dispatch(|_| MemberDispatch::Itself);

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let script = match (args.client, args.lib) {
        (Some(ScriptVariantClient::QlessPhp), _) => Script::for_qless_php(session.prefix()),
        (None, true) => Script::for_appended_plugins(session.prefix()),
        (None, false) => Script::new(session.prefix()),
    };
    session.ui.print_text(&script.script_text())?;
    Ok(Exit::Ok)
}
