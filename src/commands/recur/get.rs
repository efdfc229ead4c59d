//! `qless recur get`

use super::missing_recurring_error;
use crate::args::format::Format;
use crate::args::input_arg::ValueFileOrStdinArg;
use crate::args::value;
use crate::commands::found_and_missing;
use crate::core::call::Call;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::input::jids::GivenJids;
use crate::model::list::List;
use crate::model::recur::Recurring;
use crate::session::Session;
use crate::text::backtick_list;

/// Show recurring jobs in full
///
/// One jid gives one document; several give a list.
///
/// Example: `qless recur get nightly`
///
/// Exit codes: 0, 4 no such recurring job, 6 server.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Jids of recurring jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true, add = value::CompletionKind::Jids(value::JidCompletionKind::Recurring))]
    pub(super) jids: Vec<ValueFileOrStdinArg>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Jid, Format::Raw])?;
    let given = jids::read_jids(&mut session.input(), &args.jids)?;
    if matches!(given, GivenJids::Many(_)) {
        session.ui.check_columns::<List<Recurring>>()?;
    }
    let now = session.connect()?;
    let (core, out) = session.core_and_ui()?;
    let missing = if out.format() == Format::Raw {
        let mut missing = Vec::new();
        for jid in given.jids() {
            let text = core.call_for_raw_output(now, &Call::raw_call("recur.get").arg(jid))?;
            if text.is_empty() {
                missing.push(jid.clone())
            } else {
                out.write_verbatim_unless_terminal(&text)?
            }
        }
        missing
    } else {
        let jobs = core.recurring_jobs(now, given.jids())?;
        let (found, missing) = found_and_missing(given.jids(), jobs);
        match (&given, found.first()) {
            (GivenJids::One(_), Some(recurring)) => out.show(recurring)?,
            (GivenJids::One(_), None) => {}
            _ => out.show(&List::of_all(found))?,
        }
        missing
    };
    match missing.as_slice() {
        [] => Ok(Exit::Ok),
        [jid] => Err(missing_recurring_error(jid)),
        several => Err(Error::not_found(format!(
            "recurring jobs do not exist: {}",
            backtick_list(several)
        ))),
    }
}
