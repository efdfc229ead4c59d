//! `qless config set`

use crate::cli::shared::DryRun;
use crate::cli::{Format, value};
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::{Kind, SETTINGS, known};
use crate::model::done::Done;
use crate::model::name::Name;
use crate::view::text::clean;

/// Set options
///
/// The values of known options are checked; seconds may be given as durations, such as `5m`.
///
/// Example: `qless config set images-max-concurrency 5`
///
/// Exit codes: 0, 2 a value that the option cannot have, 4 unknown option, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Options and their values in turn
    #[arg(required = true, value_names = ["KEY", "VALUE"], num_args = 2..,
          allow_negative_numbers = true, value_parser = value::jids())]
    pairs: Vec<Name>,
    /// Unknown options, too
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    let mut settings = Vec::new();
    let mut pairs = args.pairs.chunks_exact(2);
    for pair in &mut pairs {
        if let [key, value] = pair {
            settings.push((key.clone(), checked(key, value, args.force)?));
        }
    }
    if let [key] = pairs.remainder() {
        return Err(Error::usage(format!("`{}` has no value", clean(key))));
    }
    let now = cx.begin()?;
    let dry = args.dry.dry_run;
    for (key, value) in &settings {
        let (key_shown, shown) = (clean(key), clean(value));
        if dry {
            cx.out.note(&format!("would set {key_shown} to {shown}"));
            continue;
        }
        cx.core()?.set(now, key, value)?;
        cx.out
            .note_on_terminal(&format!("set {key_shown} to {shown}"));
    }
    let keys = settings.into_iter().map(|(key, _)| key).collect();
    cx.out.show(&Done::new("config set", keys, dry))?;
    Ok(Exit::Ok)
}

/// Returns the value as it is stored.
fn checked(key: &Name, value: &Name, force: bool) -> Result<Name, Error> {
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
        Kind::Text if value.is_empty() => refuse("some text"),
        Kind::Text => Ok(value.clone()),
        Kind::Count => match value::count(text) {
            Ok(count) => Ok(count.to_string().into()),
            Err(_) => refuse("a whole number of at least 0"),
        },
        Kind::Seconds => match value::duration(text) {
            // A lock that ends as it begins would be of no use to any worker.
            Ok(duration) if known.setting.key == "heartbeat" && duration.is_zero() => {
                refuse("more than no time")
            }
            Ok(duration) => Ok(value::seconds(duration).into()),
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
    let error = unknown::error("option", key, &names);
    match error.hint_text() {
        Some(_) => error,
        None => error.hint("`--force` sets it nevertheless"),
    }
}
