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

/// Prints a note about each queue that does not exist yet or is paused, if stderr is a terminal or the plan is shown. With
/// `--existing-queue`, refuses a queue that does not exist.
pub(crate) fn note_or_refuse_new_queues(
    queues: &[Name],
    flag: RequireExistingQueueFlag,
    is_plan_shown: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    for line in describe_queues_or_refuse_new(queues, flag, is_plan_shown, now, session)? {
        session.ui.note(&format!("note: {line}"));
    }
    Ok(())
}

/// As [`note_or_refuse_new_queues`], for the queue of a new job. If it does not exist, but a queue with the name of the
/// class does, a hint asks whether the two are swapped.
pub(crate) fn note_or_refuse_new_queue_of_job(
    queue: &Name,
    klass: &Name,
    flag: RequireExistingQueueFlag,
    is_plan_shown: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if !are_new_queues_checked(flag, is_plan_shown, session) {
        return Ok(());
    }
    let names = [queue.clone(), klass.clone()];
    let mut found = session.core()?.queues(now, &names)?;
    let is_klass_a_queue = found.pop().is_some_and(|queue| queue.exists());
    let are_swapped = is_klass_a_queue && !found.iter().any(Queue::exists);
    let swapped = CommandLine::new("put")
        .with_name_argument(klass)
        .with_name_argument(queue)
        .fill_sentence(&format!(
            "the queue comes before the class, and `{klass}` is a queue: did you mean {{}}?"
        ))
        .filter(|_| are_swapped);
    let lines = describe_found_or_refuse_new(found, flag, is_plan_shown, now, session)
        .map_err(|error| error.hint_if(swapped.clone()))?;
    for line in lines {
        session.ui.note(&format!("note: {line}"));
    }
    if let Some(hint) = swapped {
        session.ui.note(&format!("hint: {hint}"));
    }
    Ok(())
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
    let found = session.core()?.queues(now, queues)?;
    describe_found_or_refuse_new(found, flag, is_plan_shown, now, session)
}

/// As [`describe_queues_or_refuse_new`], for queues that the server was asked about.
fn describe_found_or_refuse_new(
    queues: Vec<Queue>,
    flag: RequireExistingQueueFlag,
    is_plan_shown: bool,
    now: Moment,
    session: &mut Session,
) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    if session.ui.are_notes_read(is_plan_shown) {
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
    let known = session.core()?.index_members(now, &Index::Queues)?;
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
/// the plan is shown. Options may be set before a queue has jobs, so a new queue alone is not worth a note.
pub(crate) fn note_misspelled_queues(
    queues: &[Name],
    is_plan_shown: bool,
    now: Moment,
    session: &mut Session,
) -> Result<(), Error> {
    if queues.is_empty() || !session.ui.are_notes_read(is_plan_shown) {
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
