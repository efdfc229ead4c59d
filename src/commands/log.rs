//! `qless log`

use std::ffi::OsString;

use crate::cli::shared::{DryRun, MaxData};
use crate::cli::{Format, value};
use crate::core::unknown;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::input::json::Shape;
use crate::input::source::Source;
use crate::model::done::Done;
use crate::model::name::Name;
use crate::view::text::{clean, short};

/// Append a line to a job's history
///
/// Names that the core uses itself, such as `put` or `popped`, are refused.
///
/// Example: `qless log 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a 'disk swapped' --data '{"rack":7}'`
///
/// Exit codes: 0, 2 usage, 4 unknown jid, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The job
    #[arg(value_parser = value::jids(), add = value::Candidates::Jids(value::Jobs::Open))]
    jid: Name,
    /// What happened
    #[arg(value_parser = value::new_name())]
    message: Name,
    /// What else there is to say: a JSON object, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true)]
    data: Option<OsString>,
    #[command(flatten)]
    limit: MaxData,
    #[command(flatten)]
    dry: DryRun,
}

/// What the core writes into histories itself.
const TAKEN: [&[u8]; 6] = [b"put", b"popped", b"done", b"failed", b"timed-out", b"cli"];

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Jid, Format::Raw])?;
    if TAKEN.contains(&args.message.as_bytes()) {
        let message = clean(&args.message);
        return Err(Error::usage(format!(
            "`MESSAGE` cannot be `{message}`: the core writes that itself"
        )));
    }
    let data = match &args.data {
        None => None,
        Some(given) => match data::read(&mut Source::default(), given, args.limit.max_data)? {
            (data, Shape::Object) => Some(data),
            _ => {
                return Err(Error::usage("`--data` of a log line wants a JSON object")
                    .hint("name the value: `--data '{\"value\":7}'`"));
            }
        },
    };
    let now = cx.begin()?;
    let core = cx.core()?;
    let found = core.seen(now, std::slice::from_ref(&args.jid))?;
    if found.iter().all(Option::is_none) {
        return Err(unknown::job(&args.jid));
    }
    let dry = args.dry.dry_run;
    if !dry {
        core.log(now, &args.jid, &args.message, data.as_deref())?;
    }
    let jid = short(&args.jid);
    if cx.out.format() != Format::Raw {
        cx.out.show(&Done::new("log", vec![args.jid], dry))?;
    }
    match dry {
        true => cx
            .out
            .would(&format!("would append to the history of {jid}")),
        false => cx
            .out
            .note_on_terminal(&format!("appended to the history of {jid}")),
    }
    Ok(Exit::Ok)
}
