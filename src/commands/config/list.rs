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
    session.ui.require_format(&[Format::Raw])?;
    session.ui.check_columns::<List<ConfigOption>>()?;
    let now = session.connect()?;
    let (core, out) = session.core_and_ui()?;
    if out.format() == Format::Raw {
        let text = core.call_for_raw_output(now, &Call::raw_call("config.get"))?;
        out.write_verbatim_unless_terminal(&text)?;
        return Ok(Exit::Ok);
    }
    let mut items = core.config(now)?;
    items.retain(|item| {
        let used = find_known_option(&item.key).is_some_and(|known| known.spec.used);
        args.all || item.set || used
    });
    out.show_and_exit_ok(&List::of_all(items))
}
