//! `qless context list`

use super::{file, item};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::context::Context;
use crate::model::list::List;

/// List the contexts
///
/// The one that commands use has a `*`. Passwords are not shown.
///
/// Example: `qless context list -o json`
///
/// Exit codes: 0, 2 the config file is wrong.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    cx.out.shows::<List<Context>>()?;
    let file = file(cx)?;
    let contexts = file.contexts();
    let items: Vec<Context> = contexts
        .iter()
        .map(|context| item(cx, file, context))
        .collect();
    if items.is_empty() {
        cx.out.note_on_terminal("no contexts");
        cx.out
            .hint("`qless context add NAME --redis URL` makes one");
    }
    cx.out.show(&List::whole(items))?;
    Ok(Exit::Ok)
}
