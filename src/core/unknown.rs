//! What to say of a name that nothing has.

use super::Core;
use super::index::Index;
use crate::cli::shared::Queues;
use crate::error::Error;
use crate::model::moment::Moment;
use crate::model::name::Name;
use crate::view::text::clean;

/// Returns the error, with the nearest of the names that there are.
pub fn error(what: &str, name: &Name, known: &[Name]) -> Error {
    let error = Error::not_found(format!("{what} `{}` does not exist", clean(name)));
    match nearest(name, known) {
        Some(near) => error.hint(format!("did you mean `{}`?", clean(near))),
        None => error,
    }
}

/// Returns the error about a job.
pub fn job(jid: &Name) -> Error {
    Error::not_found(format!("job `{}` does not exist", clean(jid))).jid(jid)
}

/// Refuses jobs that were named and do not exist, if there are any.
pub fn jobs(jids: &[Name]) -> Result<(), Error> {
    match jids {
        [] => Ok(()),
        [jid] => Err(job(jid)),
        _ => {
            let names: Vec<String> = jids.iter().map(|jid| format!("`{}`", clean(jid))).collect();
            let (count, names) = (jids.len(), names.join(", "));
            Err(Error::not_found(format!(
                "{count} jobs do not exist: {names}"
            )))
        }
    }
}

/// Returns the error about a queue.
pub fn queue(core: &mut Core, now: Moment, name: &Name) -> Result<Error, Error> {
    Ok(error("queue", name, &core.members(now, &Index::Queues)?))
}

/// Refuses an index that is empty because nothing of that name exists.
pub fn index(core: &mut Core, now: Moment, index: &Index) -> Result<(), Error> {
    match index {
        // A group is its list.
        Index::Failed(group) => {
            let known = core.members(now, &Index::Groups)?;
            match known.contains(group) {
                true => Ok(()),
                false => Err(error("group", group, &known)),
            }
        }
        Index::Waiting(queue)
        | Index::Locks(queue)
        | Index::Scheduled(queue)
        | Index::Depends(queue) => core.queue_exists(now, queue),
        _ => Ok(()),
    }
}

/// Returns the queues that are meant, `all` being those of an index; one that is named and unknown
/// is an error unless it is forced.
pub fn queues(
    core: &mut Core,
    now: Moment,
    told: &Queues,
    all: &Index,
    force: bool,
) -> Result<Vec<Name>, Error> {
    if told.all {
        return core.members(now, all);
    }
    if !force {
        for queue in core.queues(now, &told.queues)? {
            if !queue.exists() {
                let known = core.members(now, &Index::Queues)?;
                return Err(error("queue", &queue.name, &known));
            }
        }
    }
    Ok(told.queues.clone())
}

/// Returns the name most like another, if one is like it at all.
pub fn nearest<'a>(name: &Name, known: &'a [Name]) -> Option<&'a Name> {
    let name = clean(name).to_lowercase();
    let like = |other: &Name| strsim::jaro_winkler(&name, &clean(other).to_lowercase());
    let scored = known.iter().map(|other| (like(other), other));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (best.0 > 0.8).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_none() {
        let known = ["emails", "images", "test"].map(Name::from);
        let hint = |name: &str| {
            error("queue", &Name::from(name), &known)
                .hint_text()
                .map(str::to_owned)
        };
        assert_eq!(hint("emials").as_deref(), Some("did you mean `emails`?"));
        assert_eq!(hint("Test").as_deref(), Some("did you mean `test`?"));
        assert_eq!(hint("zebra"), None);
    }
}
