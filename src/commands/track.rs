//! `qless track`

use crate::cli::Format;
use crate::core::call::Call;
use crate::core::index::Index;
use crate::core::job::Tell;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::{Jobs, List};
use crate::view::text::{clean, plural};

/// Show the tracked jobs
///
/// Tracked jobs have events of their own. Those that no longer exist are told at the end.
///
/// Example: `qless track`
///
/// Exit codes: 0, also if there are none; 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: Args, cx: &mut Cx) -> Result<Exit, Error> {
    list(cx)
}

/// Lists the tracked jobs, tracked longest first.
fn list(cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Jid, Format::Raw])?;
    cx.out.shows::<Jobs>()?;
    let now = cx.begin()?;
    let (core, out) = cx.parts()?;
    if out.format() == Format::Raw {
        let text = core.raw(now, &Call::new("track"))?;
        out.verbatim(&text)?;
        return Ok(Exit::Ok);
    }
    let jids = core.members(now, &Index::Tracked)?;
    let mut jobs = Jobs::default();
    let mut found = Vec::new();
    for (jid, job) in jids.iter().zip(core.jobs(now, Tell::Brief, &jids)?) {
        match job {
            Some(job) => found.push(job),
            None => jobs.missing.push(jid.clone()),
        }
    }
    core.blockers(now, &mut found)?;
    jobs.list = List::whole(found);
    out.show(&jobs)?;
    match jobs.missing.as_slice() {
        [] if jobs.list.items.is_empty() => out.note_on_terminal("no tracked jobs"),
        [] => {}
        gone => {
            let names: Vec<String> = gone.iter().map(clean).collect();
            let jobs = plural(gone.len() as u64, "tracked job", "tracked jobs");
            let verb = if gone.len() == 1 { "has" } else { "have" };
            out.note(&format!("{jobs} {verb} expired: {}", names.join(", ")));
        }
    }
    Ok(Exit::Ok)
}
