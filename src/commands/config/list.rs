//! `qless config list`

use crate::args::format::Format;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::{ConfigOption, known};
use crate::model::list::List;
use crate::session::Session;

/// Show the options with their defaults and what they mean
///
/// Those that are set, and those that the core reads; with `--all` also those that it does not.
///
/// Example: `qless config list`
///
/// Exit codes: 0, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Also options that nothing reads
    #[arg(long)]
    pub all: bool,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    session.ui.check_columns::<List<ConfigOption>>()?;
    let now = session.begin()?;
    let (core, out) = session.core_and_ui()?;
    if out.format() == Format::Raw {
        let text = core.raw(now, &Call::raw("config.get"))?;
        out.verbatim(&text)?;
        return Ok(Exit::Ok);
    }
    let mut items = core.config(now)?;
    items.retain(|item| {
        let used = known(&item.key).is_some_and(|known| known.setting.used);
        args.all || item.set || used
    });
    out.show(&List::whole(items))?;
    Ok(Exit::Ok)
}
