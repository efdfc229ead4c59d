//! Showing a put of one job: the job that was put, or the one that took the put.

use crate::clock::moment::Moment;
use crate::core::api::put::{Placed, Put};
use crate::error::Error;
use crate::exit::Exit;
use crate::model::put::Put as Shown;
use crate::name::Name;
use crate::session::Session;
use crate::text::short;

/// Shows the job that was put, or the one that took the put.
pub(crate) fn show_placed(
    session: &mut Session,
    job: &Put,
    placed: &Placed,
    now: Moment,
) -> Result<Exit, Error> {
    let took = placed.jid.as_ref().filter(|jid| **jid != job.jid);
    let Some(took) = took else {
        let shown = Shown {
            jid: job.jid.clone(),
            queue: Some(job.queue.clone()),
            state: placed.state.clone(),
            created: true,
            new: true,
            queued_behind: placed.behind.clone(),
            dry_run: false,
        };
        return show(session, shown, None);
    };
    let found = session.core()?.snapshots(now, std::slice::from_ref(took))?;
    let found = found.into_iter().flatten().next();
    let shown = Shown {
        jid: took.clone(),
        queue: found.as_ref().and_then(|job| job.queue.clone()),
        state: found.as_ref().map(|job| job.state.clone()),
        queued_behind: placed.behind.clone(),
        ..Shown::default()
    };
    show(session, shown, placed.state.as_ref())
}

/// Shows the result. `taken` says what happened to a put that another job took.
pub(crate) fn show(
    session: &mut Session,
    shown: Shown,
    taken: Option<&Name>,
) -> Result<Exit, Error> {
    session.ui.show(&shown)?;
    let place = place(&shown);
    let jid = short(shown.jid.as_bytes());
    let behind = shown.queued_behind.as_ref();
    let behind = behind.map_or_else(String::new, |jid| format!(", behind {}", short(jid)));
    let taken = taken.map(Name::as_bytes);
    session.ui.note_on_terminal(&match (shown.created, taken) {
        (true, _) => format!("put {jid} {place}{behind}"),
        (_, Some(b"merged")) => format!("merged into {jid} {place}"),
        (_, Some(b"replaced")) => format!("replaced {jid} {place}"),
        (_, Some(b"skipped")) => format!("skipped: {jid} is {place}"),
        _ if shown.queue.is_none() => format!("{jid} exists already, {place}"),
        _ => format!("{jid} exists already {place}"),
    });
    Ok(Exit::Ok)
}

/// Returns the queue and the state of a job. A complete job is in no queue.
pub(crate) fn place(shown: &Shown) -> String {
    let state = shown.state.as_ref().map_or("–".into(), Name::to_string);
    match &shown.queue {
        Some(queue) => format!("in {queue}, {state}"),
        None => state,
    }
}
