//! Hints about why a list is empty or a name does not exist, such as a wrong prefix.

use crate::args::shared::Selector;
use crate::clock::moment::Moment;
use crate::command_line;
use crate::core::api::index::Index;
use crate::core::api::not_found;
use crate::core::api::read::{ReadCommand, ReadReply};
use crate::core::call::Core;
use crate::core::script::USUAL_PREFIX;
use crate::core::script::keys::Keys;
use crate::error::{Error, Kind};
use crate::model::data_filter::DataFilter;
use crate::model::queue::Queue;
use crate::name::Name;
use crate::session::Session;

/// Prints a hint about why a list is empty or a selector matches no job, if a likely reason is found.
pub(crate) fn hint_why_empty(
    session: &mut Session,
    now: Moment,
    selector: Option<&Selector>,
) -> Result<(), Error> {
    if !session.ui.shows_hints() {
        return Ok(());
    }
    let wheres = selector.map_or(&[][..], |selector| &selector.wheres);
    if let Some(pattern) = wheres.iter().find_map(DataFilter::suggested_regex_filter) {
        let pattern = command_line::flag_with_quoted_value("--where", pattern);
        let line = format!("a value of `--where` is no glob: `{pattern}` is a regular expression");
        session.ui.hint(&line);
    } else if let Some(line) = not_found::empty_prefix_hint(session.core()?, now)? {
        session.ui.hint(&line);
    }
    Ok(())
}

/// Adds a hint to an error about a name that does not exist: what the name means instead of a jid, or that nothing
/// exists under the prefix. If the server cannot be asked, there is no hint.
pub(crate) fn with_mistaken_jid_or_prefix_hint(error: Error, session: &mut Session) -> Error {
    if error.kind() != Kind::NotFound || error.hint_text().is_some() {
        return error;
    }
    let prefixes = other_configured_prefixes(session);
    let now = session.now();
    let Some(core) = session.core_if_open() else {
        return error;
    };
    let meant = error.subject_jid().and_then(|jid| {
        meaning_of_non_jid(core, now, jid, &prefixes)
            .or_else(|| not_found::hint_at_full_jids(core, now, jid))
    });
    error.hint_if(meant.or_else(|| not_found::empty_prefix_hint(core, now).ok().flatten()))
}

/// The prefixes that the user may have meant instead of the one in use: the default prefix, and the prefixes of the
/// config file.
pub(crate) fn other_configured_prefixes(session: &Session) -> Vec<String> {
    let contexts = session
        .file
        .iter()
        .flat_map(|file| file.contents.contexts.values());
    let mut prefixes: Vec<String> = contexts
        .filter_map(|values| values.prefix.clone())
        .collect();
    prefixes.push(USUAL_PREFIX.to_owned());
    prefixes.sort_unstable();
    prefixes.dedup();
    prefixes.retain(|prefix| prefix != session.prefix());
    prefixes
}

/// A sentence about what a name that is not a jid means, such as a key, or a job under another prefix.
fn meaning_of_non_jid(
    core: &mut Core,
    now: Moment,
    jid: &Name,
    prefixes: &[String],
) -> Option<String> {
    let keys = Keys::new(core.prefix());
    if let Some(bare) = keys.without_job_prefix(jid.as_bytes()) {
        return Some(format!("that is a key; its jid is `{}`", Name::from(bare)));
    }
    let flag = |what: &str, flag: &str| {
        let flag = command_line::quoted_exact_pattern_flag(flag, jid);
        format!("`{jid}` is a {what}: `{flag}`")
    };
    if core.index_members(now, &Index::Groups).ok()?.contains(jid) {
        return Some(flag("failure group", "--group"));
    }
    let queues = core
        .queues_including_unreadable(now, std::slice::from_ref(jid))
        .ok()?;
    if queues.iter().any(Queue::exists) {
        return Some(flag("queue", "--queue"));
    }
    let recurring = core.recurring_jobs(now, std::slice::from_ref(jid));
    if recurring.ok()?.iter().any(Option::is_some) {
        return Some(format!("`{jid}` is a recurring job: `qless recur`"));
    }
    let other = prefixes.iter().find(|prefix| {
        let key = Keys::new(prefix).job_key(jid.as_bytes());
        // Ignore errors: the user may not be allowed to read keys of another prefix.
        matches!(
            core.run_read(now, ReadCommand::key_exists(&key)),
            Ok(ReadReply::Number(1))
        )
    })?;
    Some(format!(
        "it exists under another prefix: add `{}`",
        command_line::flag_with_quoted_value("--prefix", other)
    ))
}
