//! `qless config unset`

use crate::args::format::Format;
use crate::args::shared::DryRun;
use crate::args::value;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::known;
use crate::model::done::Done;
use crate::name::Name;
use crate::session::Session;

/// Reset options to their defaults
///
/// Example: `qless config unset heartbeat`
///
/// Exit codes: 0, 4 neither set nor known, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Options
    #[arg(required = true, value_name = "KEY", value_parser = value::any_name(),
          add = value::Candidates::Options)]
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
        .find(|key| known(key).is_none() && !keys.contains(key))
    {
        return Err(Error::unknown("option", key, &keys));
    }
    let names: Vec<String> = args.keys.iter().map(|key| format!("`{key}`")).collect();
    let what = format!("unset {}", names.join(", "));
    let dry = args.dry.dry_run;
    if dry {
        session.ui.note_dry_run(&format!("would {what}"));
    } else {
        let on = session.on()?;
        let consent = session.ui.confirm(&(what + &on), |_| String::new())?;
        for key in &args.keys {
            session.core()?.unset(now, key, consent)?;
        }
        let names: Vec<String> = args.keys.iter().map(Name::to_string).collect();
        session
            .ui
            .note_on_terminal(&format!("unset {}", names.join(", ")));
    }
    session
        .ui
        .show(&Done::new("config unset", args.keys, dry))?;
    Ok(Exit::Ok)
}
