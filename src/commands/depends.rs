//! `qless depends`

use crate::cli::{Format, value};
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::name::Name;
use crate::view::text::clean;

/// Show what a job waits for, and what waits for it
///
/// Example: `qless depends c41d77aa0e3b4f6c9d1f2a5b8c7e6d50`
///
/// Exit codes: 0, 4 no such job, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The job
    #[arg(value_name = "JID", value_parser = value::name())]
    jid: Name,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Jid])?;
    let now = cx.begin()?;
    show(&args.jid, now, cx)
}

/// Shows both directions, with states.
fn show(jid: &Name, now: crate::model::moment::Moment, cx: &mut Cx) -> Result<Exit, Error> {
    match cx.core()?.dependencies(now, jid)? {
        Some(dependencies) => cx.out.show(&dependencies).map(|()| Exit::Ok),
        None => Err(Error::not_found(format!("job `{}` does not exist", clean(jid))).jid(jid)),
    }
}
