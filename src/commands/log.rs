//! `qless log`

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::shared::{DryRunFlag, MaxInputDataFlag};
use crate::args::value;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::data;
use crate::json::Json;
use crate::json::syntax::JsonType;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::text::short_jid;

/// Append an entry to a job's history
///
/// Names that the core uses itself, such as `put` or `popped`, are refused.
///
/// Example: `qless log 0b6e5c0d9a4f4d7e8a51f0c2b7d61e9a 'disk swapped' --data '{"rack":7}'`
///
/// Exit codes: 0, 2 usage, 4 unknown jid, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// Jid of the job
    #[arg(value_parser = value::name_or_empty(),
          add = value::CompletionKind::Jids(value::JidCompletionKind::NotComplete))]
    jid: Name,
    /// Text of the entry
    #[arg(value_parser = value::new_name())]
    message: Name,
    /// More fields of the entry: a JSON object, `@FILE`, or `-` for stdin
    #[arg(long, allow_hyphen_values = true)]
    data: Option<ValueFileOrStdinArg>,
    #[command(flatten)]
    limit: MaxInputDataFlag,
    #[command(flatten)]
    dry: DryRunFlag,
}

/// Names of history entries that the core or `qless` itself writes. `qless log` refuses them.
const RESERVED_NAMES: [&[u8]; 8] = [
    b"put",
    b"popped",
    b"throttled",
    b"done",
    b"failed",
    b"retried",
    b"timed-out",
    b"cli",
];

/// Refuses fields that an entry has anyway.
fn refuse_reserved_fields(data: &[u8]) -> Result<(), Error> {
    let fields = Json::parse(data).and_then(|data| data.object());
    let names = fields.iter().flatten().map(|(name, _)| name.as_bytes());
    match names
        .into_iter()
        .find(|name| matches!(*name, b"what" | b"when"))
    {
        Some(name) => Err(Error::usage(format!(
            "`--data` cannot have a field `{}`: the entry has one of its own",
            String::from_utf8_lossy(name)
        ))),
        None => Ok(()),
    }
}

pub(crate) const SPEC: Spec<Args> = Spec::writes(HelpGroup::Submit, run)
    .context_member_dispatch(|args| MemberDispatch::Job(&args.jid));

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    if RESERVED_NAMES.contains(&args.message.as_bytes()) {
        let message = &args.message;
        return Err(Error::usage(format!(
            "`MESSAGE` cannot be `{message}`: the core writes that itself"
        )));
    }
    let data = match &args.data {
        None => None,
        Some(given) => {
            match data::read_json_data(&mut session.input(), given, args.limit.max_data)? {
                (data, JsonType::Object) => {
                    refuse_reserved_fields(&data)?;
                    Some(data)
                }
                _ => {
                    return Err(Error::usage("`--data` expects a JSON object")
                        .hint("name the value: `--data '{\"value\":7}'`"));
                }
            }
        }
    };
    let now = session.connect()?;
    let core = session.core()?;
    let found = core.job_snapshots(now, std::slice::from_ref(&args.jid))?;
    if found.iter().all(Option::is_none) {
        return Err(not_found::missing_job_error(&args.jid));
    }
    let dry = args.dry.dry_run;
    if !dry {
        core.append_to_history(now, &args.jid, &args.message, data.as_deref())?;
    }
    let jid = short_jid(&args.jid);
    if session.ui.format() != Format::Raw {
        session
            .ui
            .show(&CommandResult::new("log", vec![args.jid], dry))?;
    }
    if dry {
        session
            .ui
            .note_dry_run_changes(&format!("would append to the history of {jid}"))
    } else {
        session
            .ui
            .note_to_people(&format!("appended to the history of {jid}"))
    }
    Ok(Exit::Ok)
}
