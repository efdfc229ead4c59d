//! `qless config unset`

use crate::args::format::Format;
use crate::args::shared::DryRun;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::known_option;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::{joined, quoted};

/// Reset options to their defaults
///
/// Example: `qless config unset heartbeat`
///
/// Exit codes: 0, 4 neither set nor known, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Options
    #[arg(required = true, value_name = "KEY", value_parser = value::any_name(),
          add = value::CandidateKind::Options)]
    keys: Vec<Name>,
    #[command(flatten)]
    dry: DryRun,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.begin()?;
    let items = session.core()?.config(now)?;
    let keys: Vec<Name> = items.into_iter().map(|item| item.key).collect();
    if let Some(key) = args
        .keys
        .iter()
        .find(|key| known_option(key).is_none() && !keys.contains(key))
    {
        return Err(Error::unknown("option", key, &keys));
    }
    let what = format!("unset {}", quoted(&args.keys));
    let consent = session.consent(args.dry, AskWhen::Always, &what, |_| String::new())?;
    if let Some(consent) = consent {
        for key in &args.keys {
            session.core()?.unset_config(now, key, consent)?;
        }
        let unset = format!("unset {}", joined(&args.keys));
        session.ui.note_on_terminal(&unset);
    }
    let done = CommandResult::new("config unset", args.keys, args.dry.dry_run);
    session.ui.show(&done)?;
    Ok(Exit::Ok)
}
