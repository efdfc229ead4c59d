//! `qless config unset`

use crate::cli::shared::DryRun;
use crate::cli::{Format, value};
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::config::known;
use crate::model::done::Done;
use crate::model::name::Name;
use crate::view::text::clean;

/// Give options their defaults back
///
/// Example: `qless config unset heartbeat`
///
/// Exit codes: 0, 4 neither set nor known, 6 server, 9 not confirmed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The options
    #[arg(required = true, value_name = "KEY", value_parser = value::jids(),
          add = value::Candidates::Options)]
    keys: Vec<Name>,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    let now = cx.begin()?;
    let items = cx.core()?.config(now)?;
    let keys: Vec<Name> = items.into_iter().map(|item| item.key).collect();
    if let Some(key) = args
        .keys
        .iter()
        .find(|key| known(key).is_none() && !keys.contains(key))
    {
        return Err(unknown::error("option", key, &keys));
    }
    let names: Vec<String> = args
        .keys
        .iter()
        .map(|key| format!("`{}`", clean(key)))
        .collect();
    let what = format!("unset {}", names.join(", "));
    let dry = args.dry.dry_run;
    if dry {
        cx.out.would(&format!("would {what}"));
    } else {
        let on = cx.on()?;
        let consent = cx.out.confirm(&(what + &on), |_| String::new())?;
        for key in &args.keys {
            cx.core()?.unset(now, key, consent)?;
        }
        let names: Vec<String> = args.keys.iter().map(clean).collect();
        cx.out
            .note_on_terminal(&format!("unset {}", names.join(", ")));
    }
    cx.out.show(&Done::new("config unset", args.keys, dry))?;
    Ok(Exit::Ok)
}
