//! `qless recur tag`

use std::collections::HashSet;
use std::slice;

use super::{RECURRING, require_recurring, stays_paused_clause_or_empty};
use crate::args::format::Format;
use crate::args::shared::{DryRunFlag, MAX_TAGS, refuse_overlap, refuse_too_many_tags};
use crate::args::value;
use crate::commands::tag::tag_report;
use crate::core::api::template::TagChange;
use crate::error::Error;
use crate::exit::Exit;
use crate::json::Json;
use crate::model::bulk::BulkTableRow;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;

/// Add tags to a recurring job, or remove them
///
/// The jobs that it puts from now on get these tags. Prints the tags after the change.
///
/// Example: `qless recur tag nightly --add reports --remove new`
///
/// Exit codes: 0, 2 usage, 4 no such recurring job, 6 server, 9 not confirmed.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Jid of the recurring job
    #[arg(value_parser = value::name_or_empty(),
          add = value::CompletionKind::Jids(value::JidCompletionKind::Recurring))]
    pub(super) jid: Name,
    /// Tag to add
    #[arg(long, value_name = "T", value_parser = value::new_name(),
          required_unless_present = "remove", add = value::CompletionKind::Tags)]
    add: Vec<Name>,
    /// Tag to remove
    #[arg(long, value_name = "T", value_parser = value::name_or_empty(), add = value::CompletionKind::Tags)]
    remove: Vec<Name>,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    refuse_overlap(("--add", &args.add), ("--remove", &args.remove))?;
    refuse_too_many_tags("--add", &args.add)?;
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    let found = require_recurring(session, now, &args.jid)?;
    refuse_more_tags_than_allowed(&args, &found.tags)?;
    let paused = stays_paused_clause_or_empty(&found);
    let jids = slice::from_ref(&args.jid);
    let consent = session.ask_about_names_unless_dry_run(
        args.dry,
        AskWhen::IfProtected,
        "tag",
        RECURRING,
        jids,
    )?;
    let dry = consent.is_none();
    let mut tags = found.tags;
    let mut reply = Vec::new();
    for (how, names) in [
        (TagChange::Remove, &args.remove),
        (TagChange::Add, &args.add),
    ] {
        if !names.is_empty() && !dry {
            reply = session.core()?.tag_recurring(now, &args.jid, how, names)?;
            tags = Json::parse(&reply)
                .and_then(|tags| tags.text_array())
                .unwrap_or_default();
        }
    }
    if !dry {
        let note = format!("tagged {}{paused}", args.jid);
        session.ui.note_to_people(&note);
    }
    match session.ui.format() {
        Format::Raw => session
            .ui
            .write_verbatim_unless_terminal(&[&reply[..], b"\n"].concat())?,
        Format::Table if !dry => {
            let (jid, cells) = (args.jid, tags);
            session
                .ui
                .show(&tag_report(vec![BulkTableRow { jid, cells }]))?
        }
        _ => session
            .ui
            .show(&CommandResult::new("recur tag", vec![args.jid], dry))?,
    }
    Ok(Exit::Ok)
}

/// Refuses a change after which the recurring job would have more tags than the core allows. Without this, the core would
/// refuse the added tags after it has removed the others.
fn refuse_more_tags_than_allowed(args: &Args, tags: &[Name]) -> Result<(), Error> {
    let mut after: HashSet<&Name> = tags.iter().collect();
    args.remove.iter().for_each(|tag| _ = after.remove(tag));
    let kept = after.len();
    after.extend(&args.add);
    if after.len() > MAX_TAGS.max(kept) {
        let jid = &args.jid;
        return Err(Error::usage(format!(
            "`{jid}` would have more than {MAX_TAGS} tags"
        )));
    }
    Ok(())
}
