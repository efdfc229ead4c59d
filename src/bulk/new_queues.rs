//! Queues that a write would create, or that are paused: named on a terminal and in plans. With `--existing-queue`, new
//! ones are refused.

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

/// Prints a note about each queue that does not exist yet or is paused, if stderr is a terminal or this is a dry run. With
/// `--existing-queue`, refuses a queue that does not exist.
pub(crate) fn note_or_refuse_new_queues(
    queues: &[Name],
    flag: RequireExistingQueueFlag,
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    for line in describe_queues_or_refuse_new(queues, flag, dry_run, now, session)? {
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
    Ok(match session.core()?.queues(now, &names)?.as_slice() {
        [given, swapped] if !given.exists() && swapped.exists() => CommandLine::new("put")
            .with_name_argument(klass)
            .with_name_argument(queue)
            .fill_sentence(&format!(
                "the queue comes before the class, and `{klass}` is a queue: did you mean {{}}?"
            )),
        _ => None,
    })
}

/// Whether [`describe_queues_or_refuse_new`] would ask the server which queues exist.
pub(crate) fn are_new_queues_checked(
    flag: RequireExistingQueueFlag,
    is_plan_shown: bool,
    session: &Session,
) -> bool {
    flag.existing_queue || session.ui.are_notes_read(is_plan_shown)
}

/// A sentence about each queue that does not exist yet, or the error that refuses it; and one about each paused queue.
/// Makes no call if nobody would see the sentences.
pub(crate) fn describe_queues_or_refuse_new(
    queues: &[Name],
    flag: RequireExistingQueueFlag,
    is_plan_shown: bool,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<String>, Error> {
    if queues.is_empty() || !are_new_queues_checked(flag, is_plan_shown, session) {
        return Ok(Vec::new());
    }
    let are_notes_read = session.ui.are_notes_read(is_plan_shown);
    let core = session.core()?;
    let queues = core.queues(now, queues)?;
    let mut lines = Vec::new();
    if are_notes_read {
        let paused: Vec<&Queue> = queues.iter().filter(|queue| queue.paused).collect();
        let named = paused.iter().take(MAX_NAMED);
        lines.extend(named.map(|queue| queue.paused_sentence_with_unpause_command()));
        if paused.len() > MAX_NAMED {
            lines.push(format!(
                "{} more queues are paused",
                paused.len() - MAX_NAMED
            ));
        }
    }
    let new = names_of_missing(queues);
    let Some(first) = new.first() else {
        return Ok(lines);
    };
    let known = core.index_members(now, &Index::Queues)?;
    if flag.existing_queue {
        return Err(Error::unknown_name("queue", first, &known));
    }
    let named = new.iter().take(MAX_NAMED);
    lines.extend(named.map(|name| {
        misspelled_queue_sentence(name, &known).unwrap_or(format!("queue `{name}` is new"))
    }));
    if new.len() > MAX_NAMED {
        lines.push(format!("{} more queues are new", new.len() - MAX_NAMED));
    }
    Ok(lines)
}

/// Prints a note about each queue that does not exist although one of a similar name does, if stderr is a terminal or
/// this is a dry run. Options may be set before a queue has jobs, so a new queue alone is not worth a note.
pub(crate) fn note_misspelled_queues(
    queues: &[Name],
    dry_run: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if queues.is_empty() || !session.ui.are_notes_read(dry_run) {
        return Ok(());
    }
    let core = session.core()?;
    let new = names_of_missing(core.queues(now, queues)?);
    if new.is_empty() {
        return Ok(());
    }
    let known = core.index_members(now, &Index::Queues)?;
    for name in new.iter().take(MAX_NAMED) {
        if let Some(sentence) = misspelled_queue_sentence(name, &known) {
            session.ui.note(&format!("note: {sentence}"));
        }
    }
    Ok(())
}

fn names_of_missing(queues: Vec<Queue>) -> Vec<Name> {
    let missing = queues.into_iter().filter(|queue| !queue.exists());
    missing.map(|queue| queue.name).collect()
}

/// That a queue is new, and which one it resembles; `None` if it resembles none.
fn misspelled_queue_sentence(name: &Name, known: &[Name]) -> Option<String> {
    let near = nearest_spelling(name, known)?;
    Some(format!("queue `{name}` is new; did you mean `{near}`?"))
}
