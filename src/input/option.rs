//! Validates options of the core and their values.

use strum::VariantArray;

use crate::args::coordination::ThrottleArg;
use crate::args::value;
use crate::clock::duration;
use crate::error::Error;
use crate::json::Json;
use crate::json::quote::quote_string;
use crate::model::config::{GENERAL_OPTIONS, OptionValueType, QUEUE_OPTIONS, find_known_option};
use crate::model::coordination::{CoordinationOption, OptionValueFault};
use crate::name::Name;
use crate::text::{comma_list, nearest_spelling};

/// Validates a value and returns it as the core stores it.
pub(crate) fn validate_option(
    key: &Name,
    value: &Name,
    allow_unknown: bool,
) -> Result<Name, Error> {
    let Some(known) = find_known_option(key) else {
        return if allow_unknown && !key.is_empty() {
            Ok(value.clone())
        } else {
            Err(if is_misspelled_config_option(key) {
                unknown_option_error(key)
            } else {
                unknown_option_error(key).hint("`--force` sets it anyway")
            })
        };
    };
    let text = value.as_str().unwrap_or_default();
    let kind = known.spec.kind;
    let refuse = |expected: &str| {
        Err(Error::usage(format!(
            "`{key}` expects {expected}, not `{value}`"
        )))
    };
    match kind {
        OptionValueType::Text if value.is_empty() => refuse("some text"),
        OptionValueType::Text => Ok(value.clone()),
        OptionValueType::Defaults => validate_queue_defaults(value.as_bytes()),
        OptionValueType::Count => match value::at_least_zero(text) {
            // The core ignores a `merge-max` of 0. With a `max-pop-scan` of 0, a pop ends at the first held job.
            Ok(0) if matches!(known.spec.key, "max-pop-scan" | "merge-max") => {
                refuse("a whole number of at least 1")
            }
            Ok(count) => Ok(count.to_string().into()),
            Err(_) => refuse("a whole number of at least 0"),
        },
        OptionValueType::Number => match text.parse::<f64>() {
            Ok(number) if number >= 0.0 && number.is_finite() => Ok(number.to_string().into()),
            _ => refuse("a number of at least 0"),
        },
        OptionValueType::Seconds => match duration::parse_duration_or_seconds(text) {
            // A heartbeat of 0 is refused, because every lock would expire immediately.
            Ok(duration) if known.spec.key == "heartbeat" && duration.is_zero() => {
                refuse("more than no time")
            }
            Ok(duration) => Ok(duration::decimal_seconds_text(duration).into()),
            Err(_) => refuse("seconds, or a duration such as `5m`"),
        },
    }
}

/// Validates the defaults of a queue and returns them as the core stores them: durations in seconds,
/// in the order in which they were given.
pub(crate) fn validate_queue_defaults(text: &[u8]) -> Result<Name, Error> {
    let members = Json::parse(text).and_then(|defaults| defaults.object());
    let Some(members) = members else {
        return Err(Error::usage("the defaults of a queue are a JSON object"));
    };
    let mut stored: Vec<(&'static str, Vec<u8>)> = Vec::new();
    for (name, value) in members {
        let refuse = |why: String| Err(Error::usage(format!("`{name}` {why}")));
        let expects =
            |what: &str| refuse(format!("expects {what}, not `{}`", value.to_single_line()));
        let text = value.text();
        let plain = text.clone().unwrap_or_else(|| value.to_single_line());
        let known = CoordinationOption::from_name(name.as_bytes());
        let (key, json) = match (known, name.as_bytes()) {
            (None, b"retries") => match value::at_least_zero(plain.as_str().unwrap_or_default()) {
                Ok(count) => ("retries", count.to_string().into_bytes()),
                Err(wrong) => return refuse(format!("{wrong}, not `{plain}`")),
            },
            (None, b"priority") => match value::integer(plain.as_str().unwrap_or_default()) {
                Ok(number) => ("priority", number.to_string().into_bytes()),
                Err(wrong) => return refuse(format!("{wrong}, not `{plain}`")),
            },
            (None, b"order") => match plain.as_bytes() {
                b"due" => ("order", b"\"due\"".to_vec()),
                _ => return expects("`due`"),
            },
            (None, _) => return Err(option_without_queue_default_error(&name)),
            (Some(option), _) => {
                let is_text = text.is_some();
                let given = match (option, plain.as_bytes()) {
                    (CoordinationOption::Hold, b"true") => Name::from("1"),
                    (CoordinationOption::Hold, b"false") => Name::from("0"),
                    (CoordinationOption::Key | CoordinationOption::Lock, _) if !is_text => {
                        return expects("a text");
                    }
                    _ => plain,
                };
                let checked = if is_text {
                    option.parse_value(given.as_bytes())
                } else {
                    option.normalize_value(given.as_bytes())
                };
                let checked = match checked {
                    Ok(checked) => checked.into_owned(),
                    Err(OptionValueFault::Expects(what)) => return expects(&what),
                    Err(OptionValueFault::Because(why)) => return refuse(why),
                };
                if option == CoordinationOption::Throttles
                    && let Err(why) = ThrottleArg::parse_json_array(&checked)
                {
                    return refuse(why);
                }
                if let Some((text, what)) = wrong_placeholder_and_why(option, &checked) {
                    return Err(Error::usage(format!("`{name}` has `{text}`, {what}"))
                        .hint("a job has {klass}, {queue}, {data} and {data.a.b}"));
                }
                let json = match option {
                    CoordinationOption::Throttles
                    | CoordinationOption::Ttl
                    | CoordinationOption::Score
                    | CoordinationOption::Hold => checked,
                    _ => quote_string(&checked),
                };
                (option.into_str(), json)
            }
        };
        if stored.iter().any(|(known, _)| *known == key) {
            return Err(Error::usage(format!("`{key}` stands there twice")));
        }
        stored.push((key, json));
    }
    let mut defaults = vec![b'{'];
    for (key, json) in stored {
        if defaults.len() > 1 {
            defaults.push(b',');
        }
        defaults.extend(quote_string(key.as_bytes()));
        defaults.push(b':');
        defaults.extend(json);
    }
    defaults.push(b'}');
    Ok(Name::from(defaults))
}

/// The first placeholder that the core would not replace, and why. The core would treat the placeholder as plain text:
/// all jobs of the queue would share one lane, lock or throttle.
fn wrong_placeholder_and_why(
    option: CoordinationOption,
    value: &[u8],
) -> Option<(Name, &'static str)> {
    match option {
        CoordinationOption::Key | CoordinationOption::Lock => wrong_placeholder_in_template(value),
        CoordinationOption::Throttles => {
            let ids = Json::parse(value).and_then(|ids| ids.text_array())?;
            ids.iter()
                .find_map(|id| wrong_placeholder_in_template(id.as_bytes()))
        }
        _ => None,
    }
}

/// The first wrong placeholder of a template, and why it is wrong.
fn wrong_placeholder_in_template(template: &[u8]) -> Option<(Name, &'static str)> {
    let mut rest = template;
    while let Some(start) = rest.iter().position(|byte| *byte == b'{') {
        rest = &rest[start..];
        let brace = |byte: &u8| matches!(*byte, b'{' | b'}');
        let end = rest[1..].iter().position(brace).map(|at| at + 1);
        let Some(end) = end.filter(|end| rest[*end] == b'}') else {
            return Some((Name::from(rest), "which has no closing brace"));
        };
        let name = &rest[1..end];
        let is_path = |path: &[u8]| {
            !path.is_empty() && !path.split(|byte| *byte == b'.').any(<[u8]>::is_empty)
        };
        let is_known = matches!(name, b"klass" | b"queue" | b"data")
            || name.strip_prefix(b"data.").is_some_and(is_path);
        if !is_known {
            return Some((Name::from(&rest[..=end]), "which is no part of a job"));
        }
        rest = &rest[end..];
    }
    None
}

/// The error for an option that queues have no default for.
fn option_without_queue_default_error(name: &Name) -> Error {
    let others = ["retries", "priority", "order"].map(Name::from);
    let known = CoordinationOption::VARIANTS.iter();
    let known = known.map(|option| Name::from(option.into_str()));
    let known: Vec<Name> = known.chain(others).collect();
    let error = Error::usage(format!("a queue has no default for `{name}`"));
    match nearest_spelling(name, &known) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("the options are {}", comma_list(known))),
    }
}

fn unknown_option_error(key: &Name) -> Error {
    let names: Vec<Name> = GENERAL_OPTIONS.iter().map(|spec| spec.key.into()).collect();
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
    let unknown = Error::unknown_name("option", key, &names);
    match unknown.hint_text() {
        Some(_) => unknown,
        None => unknown.hint_if(misspelled_queue_option_hint(key)),
    }
}

/// The hint for a key that is a queue, a hyphen and a misspelled option of a queue.
fn misspelled_queue_option_hint(key: &Name) -> Option<String> {
    let key = key.as_str()?;
    QUEUE_OPTIONS.iter().find_map(|option| {
        // The queue's name may have hyphens, too: count those of the option from the end of the key.
        let hyphens = option.key.matches('-').count();
        let (at, _) = key.rmatch_indices('-').nth(hyphens)?;
        let (queue, name) = (&key[..at], &key[at + 1..]);
        nearest_spelling(name, &[option.key])?;
        (!queue.is_empty()).then(|| format!("did you mean `{queue}-{}`?", option.key))
    })
}

/// Whether the key is unknown and resembles a known option.
pub(crate) fn is_misspelled_config_option(key: &Name) -> bool {
    find_known_option(key).is_none() && unknown_option_error(key).hint_text().is_some()
}
