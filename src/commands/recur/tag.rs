//! `qless recur tag`

use super::{first, gone};
use crate::cli::shared::{DryRun, apart};
use crate::cli::{Format, value};
use crate::core::template::Tagging;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::bulk::{Bulk, Row, Shows, Sum};
use crate::model::done::Done;
use crate::model::json::Json;
use crate::model::name::Name;
use crate::view::text::clean;

/// Tag a recurring job
///
/// The jobs that it puts from then on carry the tags. Prints the tags that it has then.
///
/// Example: `qless recur tag nightly --add reports --remove new`
///
/// Exit codes: 0, 2 usage, 4 no such recurring job, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recurring job
    #[arg(value_parser = value::jids(), add = value::Candidates::Jids(value::Jobs::Recurring))]
    jid: Name,
    /// Add a tag
    #[arg(long, value_name = "T", value_parser = value::new_name(),
          required_unless_present = "remove", add = value::Candidates::Tags)]
    add: Vec<Name>,
    /// Remove a tag
    #[arg(long, value_name = "T", value_parser = value::jids(), add = value::Candidates::Tags)]
    remove: Vec<Name>,
    #[command(flatten)]
    dry: DryRun,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    apart(("--add", &args.add), ("--remove", &args.remove))?;
    cx.out.accepts(&[Format::Raw])?;
    let now = cx.begin()?;
    let Some(found) = first(cx, now, &args.jid)? else {
        return Err(gone(&args.jid));
    };
    let dry = args.dry.dry_run;
    let mut tags = found.tags;
    let mut reply = Vec::new();
    for (how, names) in [(Tagging::Remove, &args.remove), (Tagging::Add, &args.add)] {
        if !names.is_empty() && !dry {
            reply = cx.core()?.recur_tag(now, &args.jid, how, names)?;
            tags = Json::read(&reply)
                .and_then(|tags| tags.names())
                .unwrap_or_default();
        }
    }
    let jid = clean(&args.jid);
    match dry {
        true => cx.out.would(&format!("would tag {jid}")),
        false => cx.out.note_on_terminal(&format!("tagged {jid}")),
    }
    match cx.out.format() {
        Format::Raw => cx.out.verbatim(&[&reply[..], b"\n"].concat())?,
        Format::Table if !dry => cx.out.show(&Bulk {
            sum: Sum::of("tag", false, 0),
            items: Vec::new(),
            shows: Shows::Tags,
            rows: vec![Row {
                jid: args.jid,
                cells: tags,
            }],
        })?,
        _ => cx.out.show(&Done::new("recur tag", vec![args.jid], dry))?,
    }
    Ok(Exit::Ok)
}
