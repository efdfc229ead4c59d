//! `qless config list`

use crate::cli::Format;
use crate::core::call::Call;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::{Item, known};
use crate::model::list::List;

/// Show the options with their defaults and what they mean
///
/// Those that are set, and those that the core reads; with `--all` also those that it does not.
///
/// Example: `qless config list`
///
/// Exit codes: 0, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also options that nothing reads
    #[arg(long)]
    pub all: bool,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    cx.out.shows::<List<Item>>()?;
    let now = cx.begin()?;
    let (core, out) = cx.parts()?;
    if out.format() == Format::Raw {
        let text = core.raw(now, &Call::new("config.get"))?;
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
