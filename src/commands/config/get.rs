//! `qless config get`

use crate::args::format::Format;
use crate::args::value;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::{ConfigOption, find_known_option};
use crate::model::list::List;
use crate::name::Name;
use crate::session::Session;

/// Print the value of an option
///
/// Prints the value that is set, else the default. Without a key, it lists all options as `config
/// list --all` does.
///
/// Example: `qless config get heartbeat`
///
/// Exit codes: 0, 4 neither set nor known, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Option
    #[arg(value_name = "KEY", value_parser = value::name(), add = value::CompletionKind::Options)]
    key: Option<Name>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let Some(key) = args.key else {
        return super::list::run(super::list::Args { all: true }, session);
    };
    let now = session.connect_to_show::<List<ConfigOption>>(&[Format::Raw])?;
    if session.ui.format() == Format::Raw {
        return session.print_core_reply(now, &Call::raw_call("config.get").arg(&key));
    }
    let (core, out) = session.core_and_ui()?;
    let items = core.config(now)?;
    let has_value = |item: &ConfigOption| item.set || !item.value.is_empty();
    match items.iter().find(|item| item.key == key && has_value(item)) {
        Some(item) if out.format() == Format::Table => {
            out.print_text(&format!("{}\n", item.value))?;
        }
        Some(item) => out.show(&List::of_all(vec![item.clone()]))?,
        None => return Err(unset_error(&key, &items)),
    }
    Ok(Exit::Ok)
}

fn unset_error(key: &Name, items: &[ConfigOption]) -> Error {
    let Some(known) = find_known_option(key) else {
        let keys: Vec<Name> = items.iter().map(|item| item.key.clone()).collect();
        return Error::unknown_name("option", key, &keys);
    };
    let general = known.spec.key;
    let applies = items
        .iter()
        .find(|item| item.key.as_bytes() == general.as_bytes() && !item.value.is_empty());
    Error::not_found(format!("option `{key}` is not set")).hint(match applies {
        Some(item) => format!("`{general}` ({}) applies", item.value),
        None => "it has no default; `qless config list` describes it".to_owned(),
    })
}
