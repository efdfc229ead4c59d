//! `qless recur tag`

use super::{first, missing, stays_paused};
use crate::args::format::Format;
use crate::args::shared::{DryRun, apart};
use crate::args::value;
use crate::core::api::template::Tagging;
use crate::error::Error;
use crate::exit::Exit;
use crate::json::Json;
use crate::model::bulk::{BulkReport, BulkRow, RowContent, Totals};
use crate::model::done::Done;
use crate::name::Name;
use crate::session::Session;

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
    #[arg(value_parser = value::any_name(), add = value::CandidateKind::Jids(value::JobCandidates::Recurring))]
    jid: Name,
    /// Tag to add
    #[arg(long, value_name = "T", value_parser = value::new_name(),
          required_unless_present = "remove", add = value::CandidateKind::Tags)]
    add: Vec<Name>,
    /// Tag to remove
    #[arg(long, value_name = "T", value_parser = value::any_name(), add = value::CandidateKind::Tags)]
    remove: Vec<Name>,
    #[command(flatten)]
    dry: DryRun,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    apart(("--add", &args.add), ("--remove", &args.remove))?;
    session.ui.require_format(&[Format::Raw])?;
    let now = session.begin()?;
    let Some(found) = first(session, now, &args.jid)? else {
        return Err(missing(&args.jid));
    };
    let paused = stays_paused(&found);
    let dry = args.dry.dry_run;
    if !dry {
        let what = format!("tag recurring job {}{}", args.jid, session.on()?);
        session.ui.confirm_protected(&what, |_| String::new())?;
    }
    let mut tags = found.tags;
    let mut reply = Vec::new();
    for (how, names) in [(Tagging::Remove, &args.remove), (Tagging::Add, &args.add)] {
        if !names.is_empty() && !dry {
            reply = session.core()?.recur_tag(now, &args.jid, how, names)?;
            tags = Json::read(&reply)
                .and_then(|tags| tags.names())
                .unwrap_or_default();
        }
    }
    let jid = &args.jid;
    if dry {
        session.ui.note_dry_run(&format!("would tag {jid}"))
    } else {
        session
            .ui
            .note_on_terminal(&format!("tagged {jid}{paused}"))
    }
    match session.ui.format() {
        Format::Raw => session.ui.verbatim(&[&reply[..], b"\n"].concat())?,
        Format::Table if !dry => session.ui.show(&BulkReport {
            sum: Totals::of("tag", false, 0),
            items: Vec::new(),
            row_content: RowContent::Tags,
            rows: vec![BulkRow {
                jid: args.jid,
                cells: tags,
            }],
        })?,
        _ => session
            .ui
            .show(&Done::new("recur tag", vec![args.jid], dry))?,
    }
    Ok(Exit::Ok)
}
