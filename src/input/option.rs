//! Validation of an option of the core and its value.

use crate::args::value;
use crate::clock::duration;
use crate::error::Error;
use crate::model::config::{OptionKind, SETTINGS, known};
use crate::name::Name;

/// Validates a value and returns it as the core stores it.
pub(crate) fn checked(key: &Name, value: &Name, force: bool) -> Result<Name, Error> {
    let Some(known) = known(key) else {
        return match force && !key.is_empty() {
            true => Ok(value.clone()),
            false => Err(unknown_option(key)),
        };
    };
    let text = value.as_str().unwrap_or_default();
    let kind = known.setting.kind;
    let refuse = |expected: &str| {
        Err(Error::usage(format!(
            "`{key}` expects {expected}, not `{value}`"
        )))
    };
    match kind {
        OptionKind::Text if value.is_empty() => refuse("some text"),
        OptionKind::Text => Ok(value.clone()),
        OptionKind::Count => match value::count(text) {
            Ok(count) => Ok(count.to_string().into()),
            Err(_) => refuse("a whole number of at least 0"),
        },
        OptionKind::Seconds => match value::duration(text) {
            // With no time at all, every lock would expire immediately.
            Ok(duration) if known.setting.key == "heartbeat" && duration.is_zero() => {
                refuse("more than no time")
            }
            Ok(duration) => Ok(duration::seconds(duration).into()),
            Err(_) => refuse("seconds, or a duration such as `5m`"),
        },
    }
}

/// Returns the error for an unknown option.
fn unknown_option(key: &Name) -> Error {
    let names: Vec<Name> = SETTINGS.iter().map(|setting| setting.key.into()).collect();
    for option in ["heartbeat", "max-concurrency"] {
        let queue = key.as_bytes().strip_prefix(format!("{option}-").as_bytes());
        if let Some(queue) = queue.filter(|queue| !queue.is_empty()) {
            let message = format!("option `{}` does not exist", key);
            return Error::not_found(message).hint(format!(
                "the queue comes first: `{}-{option}`",
                Name::from(queue)
            ));
        }
    }
    let error = Error::unknown("option", key, &names);
    match error.hint_text() {
        Some(_) => error,
        None => error.hint("`--force` sets it anyway"),
    }
}
