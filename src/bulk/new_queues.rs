//! Queues that a write would create: named on a terminal and in plans, refused with
//! `--existing-queue`.

use crate::args::shared::RequireExistingQueueFlag;
use crate::clock::moment::Moment;
use crate::command_line::CommandLine;
use crate::core::api::index::Index;
use crate::error::Error;
use crate::model::queue::Queue;
use crate::name::Name;
use crate::session::Session;
use crate::text::nearest_spelling;

/// Maximum number of new queues that are named one by one.
const MAX_NAMED: usize = 10;

/// Prints a note about each queue that does not exist yet, if stderr is a terminal or this is a dry run. With
/// `--existing-queue`, refuses such a queue.
pub(crate) fn note_or_refuse_new_queues(
    queues: &[Name],
    flag: RequireExistingQueueFlag,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    for line in describe_or_refuse_new_queues(queues, flag, dry_run, now, session)? {
        session.ui.note(&format!("note: {line}"));
    }
    Ok(())
}

/// A note that queue and class may be swapped: the queue does not exist, but one with the name of the class
/// does.
pub(crate) fn swapped_arguments_note(
    queue: &Name,
    klass: &Name,
    flag: RequireExistingQueueFlag,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<Option<String>, Error> {
    if !are_new_queues_checked(flag, dry_run, session) {
        return Ok(None);
    }
    let names = [queue.clone(), klass.clone()];
    let found = session.core()?.queues(now, &names)?;
    let exist: Vec<bool> = found.iter().map(Queue::exists).collect();
    let meant = CommandLine::new("put")
        .with_name_argument(klass)
        .with_name_argument(queue);
    Ok(match exist.as_slice() {
        [false, true] => meant.fill_sentence(&format!(
            "the queue comes before the class, and `{klass}` is a queue: did you mean {{}}?"
        )),
        _ => None,
    })
}

/// Whether [`describe_or_refuse_new_queues`] would ask the server which queues exist.
pub(crate) fn are_new_queues_checked(
    flag: RequireExistingQueueFlag,
    is_plan_shown: bool,
    session: &Session,
) -> bool {
    flag.existing_queue || session.ui.are_notes_read(is_plan_shown)
}

/// A sentence about each queue that does not exist yet, or the error that refuses it. Makes no call if nobody
/// would see the sentences.
pub(crate) fn describe_or_refuse_new_queues(
    queues: &[Name],
    flag: RequireExistingQueueFlag,
    is_plan_shown: bool,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<String>, Error> {
    if !are_new_queues_checked(flag, is_plan_shown, session) {
        return Ok(Vec::new());
    }
    let core = session.core()?;
    let mut new = Vec::new();
    if !queues.is_empty() {
        let missing = core.queues(now, queues)?.into_iter();
        new.extend(
            missing
                .filter(|queue| !queue.exists())
                .map(|queue| queue.name),
        );
    }
    let Some(first) = new.first() else {
        return Ok(Vec::new());
    };
    let known = core.index_members(now, &Index::Queues)?;
    if flag.existing_queue {
        return Err(Error::unknown_name("queue", first, &known));
    }
    let mut lines: Vec<String> = new
        .iter()
        .take(MAX_NAMED)
        .map(|name| match nearest_spelling(name, &known) {
            Some(near) => format!("queue `{name}` is new; did you mean `{near}`?"),
            None => format!("queue `{name}` is new"),
        })
        .collect();
    if new.len() > MAX_NAMED {
        lines.push(format!("{} more queues are new", new.len() - MAX_NAMED));
    }
    Ok(lines)
}
