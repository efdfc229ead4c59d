//! `qless config set`

use std::collections::BTreeSet;

use crate::args::format::Format;
use crate::args::shared::DryRunFlag;
use crate::args::value;
use crate::bulk::new_queues::note_misspelled_queues;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::option::validate_option;
use crate::model::config::find_known_option;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;

/// Set options
///
/// Values of known options are checked. Seconds may be given as durations, such as `5m`.
///
/// Example: `qless config set images-max-concurrency 5`
///
/// Exit codes: 0, 2 invalid value, 4 unknown option, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Options, each followed by its value
    #[arg(required = true, value_names = ["KEY", "VALUE"], num_args = 2..,
          allow_negative_numbers = true, value_parser = value::name_or_empty(),
          add = value::CompletionKind::Options)]
    pairs: Vec<Name>,
    /// Set unknown options, too
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let mut settings = Vec::new();
    let mut pairs = args.pairs.chunks_exact(2);
    for pair in &mut pairs {
        if let [key, value] = pair {
            settings.push((key.clone(), validate_option(key, value, args.force)?));
        }
    }
    if let [key] = pairs.remainder() {
        return Err(Error::usage(format!("`{key}` has no value")));
    }
    let now = session.connect()?;
    let queues = settings
        .iter()
        .filter_map(|(key, _)| find_known_option(key)?.queue);
    let queues: Vec<Name> = queues.collect::<BTreeSet<_>>().into_iter().collect();
    note_misspelled_queues(&queues, args.dry.dry_run, now, session)?;
    let changes = settings.iter();
    let changes: Vec<String> = changes
        .map(|(key, value)| format!("{key} to {value}"))
        .collect();
    let count = ("option", "options");
    let consent = session.ask_about_names_unless_dry_run(
        args.dry,
        AskWhen::IfProtected,
        "set",
        count,
        &changes,
    )?;
    if consent.is_some() {
        for ((key, value), change) in settings.iter().zip(&changes) {
            session.core()?.set_config(now, key, value)?;
            session.ui.note_to_people(&format!("set {change}"));
        }
    }
    let keys = settings.into_iter().map(|(key, _)| key).collect();
    let done = CommandResult::new("config set", keys, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}
