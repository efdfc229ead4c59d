//! `qless config list`

use crate::args::format::Format;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::{ConfigOption, find_known_option};
use crate::model::list::List;
use crate::session::Session;

/// List the options with values, defaults and meaning
///
/// Lists the options that are set and the options that the core reads. `--all` adds known options
/// that nothing reads.
///
/// Example: `qless config list`
///
/// Exit codes: 0, 6 server.
#[derive(Clone, Debug, clap::Args)]
#[command(visible_alias = "ls")]
pub(super) struct Args {
    /// Include options that nothing reads
    #[arg(long)]
    pub all: bool,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<List<ConfigOption>>(&[Format::Raw])?;
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &Call::raw_call("config.get"));
    }
    let (core, out) = session.core_and_ui()?;
    let mut items = core.config(now)?;
    items.retain(|item| {
        let used = find_known_option(&item.key).is_some_and(|known| known.spec.used);
        args.all || item.set || used
    });
    out.show_and_exit_ok(&List::of_all(items))
}
