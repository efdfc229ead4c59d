//! `qless config load`

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{DryRunFlag, MaxInputDataFlag};
use crate::error::Error;
use crate::exit::Exit;
use crate::input::option::{is_misspelled_config_option, validate_option};
use crate::json::syntax::{self, JsonType};
use crate::json::{Json, field_value};
use crate::model::config::OptionChange;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::text::cut_with_ellipsis;

/// Set the options that a JSON file names
///
/// Reads an object such as `config dump` writes: `{"heartbeat": "90", "mail-heartbeat": "5m"}`.
/// Every option is checked before anything is changed, as in `config set`. An option that does not
/// exist is set, too, unless its name resembles one that does. The changes are shown on stderr: `+`
/// added, `~` changed, `-` removed. A second run finds nothing to change.
///
/// Options that the file does not name stay as they are; `--clear` resets them to their defaults.
///
/// On a terminal it asks before it changes anything. A script needs `--yes` only with `--clear`.
///
/// Example: `qless config load qless.json --dry-run`
///
/// Example: `qless config dump options.json && qless config load options.json --clear --yes`
///
/// Exit codes: 0, 2 not JSON, or an invalid value, 4 unknown option, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// File; `-` for stdin
    #[arg(value_name = "FILE")]
    file: ValueFileOrStdinArg,
    /// Reset options that the file does not name to their defaults
    #[arg(long)]
    clear: bool,
    /// Set options with a name that resembles that of an option, too
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let mut wanted = read_options(
        args.file.treat_value_as_file(),
        args.limit.max_data,
        session,
    )?;
    let now = session.connect()?;
    let stored = session.core()?.config(now)?;
    for (key, value) in &mut wanted {
        // Do not check a value again that the server already has.
        if stored
            .iter()
            .any(|option| option.set && option.key == *key && option.value == *value)
        {
            continue;
        }
        let force = args.force || !is_misspelled_config_option(key);
        *value = validate_option(key, value, force).map_err(|error| match error.hint_text() {
            Some(_) => error,
            None => error.hint(format!(
                "nothing was changed; without it in the file, `{key}` stays as it is"
            )),
        })?;
    }
    let changes = OptionChange::changes_to_wanted(&stored, &wanted, args.clear);
    let dry = args.dry.dry_run;
    if changes.is_empty() {
        session
            .ui
            .note("nothing to change: the options already have these values");
    } else {
        let diff: String = changes
            .iter()
            .map(|change| change.diff_line() + "\n")
            .collect();
        let count = OptionChange::change_counts_text(&changes);
        // The prompt shows the diff. If there is no prompt, show the diff here, even if the change is then refused.
        if dry || !session.ui.needs_question() || !session.ui.can_ask() {
            session.ui.note(diff.trim_end_matches('\n'));
        }
        let asks = args.clear || session.ui.can_ask() || session.ui.is_protected();
        let consent = if !dry && asks {
            let what = format!("change {count} on {}", session.server_label_and_address()?);
            Some(session.ui.confirm(&what, |_| diff.clone())?)
        } else {
            None
        };
        if dry {
            session
                .ui
                .note_dry_run_changes(&format!("would change {count}"));
        } else {
            for (at, change) in changes.iter().enumerate() {
                let core = session.core()?;
                match (&change.after, consent) {
                    (Some(value), _) => core.set_config(now, &change.key, value),
                    (None, Some(consent)) => core.unset_config(now, &change.key, consent),
                    (None, None) => Ok(()),
                }
                .map_err(|error| with_changed_count(error, at, &changes))?;
            }
            session.ui.note_to_people(&format!("changed {count}"));
        }
    }
    let keys = changes.into_iter().map(|change| change.key).collect();
    session
        .ui
        .show_and_exit_ok(&CommandResult::new("config load", keys, dry))
}

/// Adds a hint to the error of a change: how many options were changed before this one.
fn with_changed_count(error: Error, done: usize, changes: &[OptionChange]) -> Error {
    match done {
        0 => error,
        done => error.hint(format!(
            "{done} of {} options were changed; run the same command again for the rest",
            changes.len()
        )),
    }
}

/// Reads the names and values of options from a file. Fails if the file is not a JSON object, or names an option twice.
/// Does not check the values.
fn read_options(
    file: ValueFileOrStdinArg,
    max_bytes: usize,
    session: &Session,
) -> Result<BTreeMap<Name, Name>, Error> {
    let text = session
        .input()
        .read_input(&file, "the configuration", max_bytes)?;
    let what = text.what;
    match syntax::check_syntax(&text.bytes) {
        Ok(JsonType::Object) => {}
        Ok(_) => {
            return Err(Error::usage(format!("{what} is not a JSON object"))
                .hint("name options with their values: `{\"heartbeat\": 90}`"));
        }
        Err(fault) => return Err(Error::usage(format!("{what} is not JSON: {fault}"))),
    }
    let fields = Json::parse(&text.bytes)
        .and_then(|json| json.object())
        .ok_or_else(|| Error::usage(format!("{what} is not a JSON object")))?;
    let mut wanted = BTreeMap::new();
    for (key, value) in option_pairs(&fields, &what)? {
        let shown = key.to_string();
        if wanted.insert(key, value).is_some() {
            return Err(Error::usage(format!("{what} names `{shown}` twice")));
        }
    }
    Ok(wanted)
}

/// The names and values of options in a JSON object, or in the items of a document of `config dump -o json`.
fn option_pairs(fields: &[(Name, Json)], what: &str) -> Result<Vec<(Name, Name)>, Error> {
    let Some(items) = items_of_config_document(fields) else {
        let plain = |(key, value): &(Name, Json)| Ok((key.clone(), scalar_text(key, value)?));
        return fields.iter().map(plain).collect();
    };
    let pair = |item: &Json| {
        let fields = item.object()?;
        Some((
            text_or_base64_field(&fields, "key")?,
            text_or_base64_field(&fields, "value")?,
        ))
    };
    let wrong = || Error::usage(format!("an item of {what} has no `key` and `value`"));
    let pairs = items.iter().map(|item| pair(item).ok_or_else(wrong));
    pairs.collect()
}

/// The items of a document of `config dump -o json`; `None` for another object.
fn items_of_config_document(fields: &[(Name, Json)]) -> Option<Vec<Json>> {
    if field_value(fields, "kind")?.text()? == Name::from("config") {
        field_value(fields, "items")?.array()
    } else {
        None
    }
}

/// The text of a field of an item. If the text is not UTF-8, the item has it in base64 in the field `NAME_bytes`
/// instead.
fn text_or_base64_field(fields: &[(Name, Json)], name: &str) -> Option<Name> {
    match field_value(fields, &format!("{name}_bytes")) {
        Some(bytes) => Some(STANDARD.decode(bytes.text()?.as_bytes()).ok()?.into()),
        None => field_value(fields, name)?.text(),
    }
}

/// The value of an option as the server stores it: a text, or the digits of a number. Refuses other JSON.
fn scalar_text(key: &Name, value: &Json) -> Result<Name, Error> {
    match (value.text(), value.number()) {
        (Some(text), _) => Ok(text),
        (None, Some(_)) => Ok(value.to_single_line()),
        (None, None) => {
            let value = cut_with_ellipsis(&value.to_single_line().to_string(), 40);
            Err(Error::usage(format!(
                "`{key}` expects a text or a number, not `{value}`"
            )))
        }
    }
}
