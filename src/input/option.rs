//! An option of the core and its value: what is asked of both before they are set.

use crate::args::value;
use crate::clock::duration;
use crate::error::Error;
use crate::model::config::{OptionKind, SETTINGS, known};
use crate::name::Name;
use crate::text::clean;

/// Returns the value as it is stored.
pub(crate) fn checked(key: &Name, value: &Name, force: bool) -> Result<Name, Error> {
    let Some(known) = known(key) else {
        return match force && !key.is_empty() {
            true => Ok(value.clone()),
            false => Err(stranger(key)),
        };
    };
    let text = value.as_str().unwrap_or_default();
    let kind = known.setting.kind;
    let refuse = |wants: &str| {
        let (key, value) = (clean(key), clean(value));
        Err(Error::usage(format!(
            "`{key}` wants {wants}, not `{value}`"
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
            // A lock that ends as it begins would be of no use to any worker.
            Ok(duration) if known.setting.key == "heartbeat" && duration.is_zero() => {
                refuse("more than no time")
            }
            Ok(duration) => Ok(duration::seconds(duration).into()),
            Err(_) => refuse("seconds, or a duration such as `5m`"),
        },
    }
}

/// Says that nothing reads an option of this name.
fn stranger(key: &Name) -> Error {
    let names: Vec<Name> = SETTINGS.iter().map(|setting| setting.key.into()).collect();
    for option in ["heartbeat", "max-concurrency"] {
        let queue = key.as_bytes().strip_prefix(format!("{option}-").as_bytes());
        if let Some(queue) = queue.filter(|queue| !queue.is_empty()) {
            let message = format!("option `{}` does not exist", clean(key));
            return Error::not_found(message).hint(format!(
                "the queue comes first: `{}-{option}`",
                clean(queue)
            ));
        }
    }
    let error = Error::unknown("option", key, &names);
    match error.hint_text() {
        Some(_) => error,
        None => error.hint("`--force` sets it nevertheless"),
    }
}
