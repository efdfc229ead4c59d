//! `qless explain`

use super::{
    HelpGroup, MemberDispatch, Spec, found_and_missing, refuse_missing_tracing_single_jid,
};
use crate::args::format::Format;
use crate::args::shared::JidsOrQueue;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::explain;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::explain::Explanations;
use crate::model::list::List;
use crate::session::Session;

/// Explain why jobs do not run
///
/// Prints the reasons, the most decisive first, each with the facts behind it and the command that
/// helps. ✗ marks a reason that blocks the job, · one that delays it. For a job that depends on
/// others, the jobs at the end of the chain are named. `--queue` shows which job a pop of the queue
/// would get now, or why it would get none: the server runs the pop without its effects. Nothing is
/// popped or promoted. In tsv, the job that a pop would get has a row `next`, after the reasons.
///
/// No key says who pops a queue. `no_consumer` is concluded: a pop would get a job or extend an expired lock, no job of
/// the queue is running, and no worker was seen since the job is ready, or that is more than a minute ago. If jobs run
/// but no worker was seen for two minutes, it is given as a reason that does not block.
///
/// Examples: `qless explain 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a`
/// · `qless explain --queue mail`
/// · `qless jobs --state waiting --older-than 10m -o jid | qless explain - -o ndjson`
///
/// Exit codes: 0, 4 unknown jid or queue, 6 server.
///
/// See also: `qless get`, `qless graph`, `qless depends`, `qless queues`, `qless check`
#[derive(Clone, Debug, clap::Args)]
#[command(add = value::JidCompletionKind::NotComplete)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: JidsOrQueue,
}

pub(crate) const SPEC: Spec<Args> = Spec::reads(HelpGroup::Inspect, run)
    .context_member_dispatch(|args| MemberDispatch::Jobs(&args.targets.jids));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid])?;
    if let Some(queue) = &args.targets.queue {
        let now = session.connect()?;
        let explanation = explain::explain_queue(session.core()?, now, queue)?;
        return session.ui.show(&explanation).map(|()| Exit::Ok);
    }
    let given = jids::read_jids(&mut session.input(), &args.targets.jids)?;
    let now = session.connect()?;
    let found = explain::explain_jobs(session.core()?, now, given.jids())?;
    let (mut found, missing) = found_and_missing(given.jids(), found);
    match (given, found.len()) {
        (GivenJids::One(_), 1) => session.ui.show(&found.remove(0))?,
        (GivenJids::One(_), _) => {}
        (GivenJids::Many(_), _) => session.ui.show(&Explanations {
            list: List::of_all(found),
        })?,
    }
    refuse_missing_tracing_single_jid(&missing, now, session)
}
