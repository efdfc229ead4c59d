//! `qless context show`

use super::{file, item, used};
use crate::cli::value;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::context::{Context, One};
use crate::model::list::List;

/// Show one context: address, prefix, where the password comes from, what it forbids
///
/// Without a name, the one that commands use.
///
/// Example: `qless context show`
///
/// Exit codes: 0, 2 the config file is wrong, 4 unknown context.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The context
    #[arg(add = value::Candidates::Contexts)]
    name: Option<String>,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[])?;
    cx.out.shows::<One>()?;
    let file = file(cx)?;
    let Some(name) = args.name.as_deref().or(used(cx, file)) else {
        return Err(Error::not_found("no context is in use")
            .hint("name one, or make one the default: `qless context use NAME`"));
    };
    let shown: Context = item(cx, file, &file.named(name)?);
    cx.out.show(&One(List::whole(vec![shown])))?;
    Ok(Exit::Ok)
}
