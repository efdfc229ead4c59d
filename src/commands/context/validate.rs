//! `qless context validate`

use super::{file, item};
use crate::cli::value;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::context::{Context, Validated};
use crate::model::list::List;

/// Connect as contexts say, and tell whether that works
///
/// Without a name, all of them, one after the other.
///
/// Example: `qless context validate`
///
/// Exit codes: 0, 2 the config file or an address is wrong, 4 unknown context, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The context
    #[arg(add = value::Candidates::Contexts)]
    name: Option<String>,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    cx.out.shows::<Validated>()?;
    let contexts = match &args.name {
        Some(name) => vec![file(cx)?.named(name)?],
        None => file(cx)?.contexts(),
    };
    if contexts.is_empty() {
        cx.out.note_on_terminal("no contexts");
    }
    let mut items: Vec<Context> = Vec::new();
    let mut exit = Exit::Ok;
    for context in contexts {
        let mut shown = item(cx, file(cx)?, &context);
        match cx.probe(&context) {
            Ok(version) => shown.server = Some(format!("Redis {version}")),
            Err(error) if args.name.is_some() => return Err(error),
            Err(error) => {
                exit = Exit::Server;
                shown.error = Some(error.message().into());
            }
        }
        items.push(shown);
    }
    cx.out.show(&Validated(List::whole(items)))?;
    Ok(exit)
}
