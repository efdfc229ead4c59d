//! `qless config unset`

use crate::args::format::Format;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::find_known_option;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::{backtick_list, comma_list};

/// Reset options to their defaults
///
/// Example: `qless config unset heartbeat`
///
/// Exit codes: 0, 4 neither set nor known, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Options
    #[arg(required = true, value_name = "KEY", value_parser = value::name_or_empty(),
          add = value::CompletionKind::Options)]
    keys: Vec<Name>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    let items = session.core()?.config(now)?;
    let keys: Vec<Name> = items.into_iter().map(|item| item.key).collect();
    if let Some(key) = args
        .keys
        .iter()
        .find(|key| find_known_option(key).is_none() && !keys.contains(key))
    {
        return Err(Error::unknown_name("option", key, &keys));
    }
    let what = format!("unset {}", backtick_list(&args.keys));
    let consent =
        session.ask_unless_dry_run(args.dry, AskWhen::Always, &what, |_| String::new())?;
    if let Some(consent) = consent {
        for key in &args.keys {
            session.core()?.unset_config(now, key, consent)?;
        }
        let unset = format!("unset {}", comma_list(&args.keys));
        session.ui.note_to_people(&unset);
    }
    let done = CommandResult::new("config unset", args.keys, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}
