//! `qless throttle release`

use crate::args::shared::DryRun;
use crate::args::value;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::jids;
use crate::input::source::InputSource;
use crate::model::done::Done;
use crate::name::Name;
use crate::session::Session;
use crate::text::plural;

/// Let jobs go on without a throttle
///
/// A running job gives back its slot, though it runs on: one more job than the maximum may run until
/// it ends. A job that waits for the throttle returns to its queue and no longer has the throttle.
///
/// Example: `qless throttle pending api -o jid | qless throttle release api -`
///
/// Exit codes: 0, 4 unknown jid, 6 server, 9 not confirmed (two or more, or in a protected context).
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Throttle
    #[arg(value_name = "ID", value_parser = value::name(), add = value::Candidates::Throttles)]
    id: Name,
    /// Jids of the jobs; `-` reads jids from stdin, `@FILE` from a file
    #[arg(value_name = "JID", required = true, value_parser = value::jids(),
          add = value::Candidates::Jids(value::Jobs::Open))]
    jids: Vec<Name>,
    #[command(flatten)]
    dry: DryRun,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    let jids = jids::read(&mut InputSource::default(), &args.jids)?.into_jids();
    let now = session.begin()?;
    let found = session.core()?.snapshots(now, &jids)?;
    let missing = jids.iter().zip(&found).filter(|(_, job)| job.is_none());
    let missing: Vec<Name> = missing.map(|(jid, _)| jid.clone()).collect();
    not_found::jobs(&missing)?;
    let count = plural(jids.len() as u64, "job", "jobs");
    let what = format!("release {count} from throttle {}", args.id);
    let dry = args.dry.dry_run;
    if dry {
        session.ui.note_dry_run(&format!("would {what}"));
    } else if !jids.is_empty() {
        let question = format!("{what}{}", session.on()?);
        let names: Vec<String> = jids.iter().take(10).map(Name::to_string).collect();
        let details = |_: &_| format!("  {}\n", names.join(", "));
        match jids.len() {
            1 => session.ui.confirm_protected(&question, details)?,
            _ => session.ui.confirm(&question, details)?,
        };
        for jids in jids.chunks(SLICE) {
            session.core()?.release_throttle(now, &args.id, jids)?;
        }
        session
            .ui
            .note_on_terminal(&what.replacen("release", "released", 1));
    }
    session.ui.show(&Done::new("throttle release", jids, dry))?;
    Ok(Exit::Ok)
}

/// The number of jobs of one call.
const SLICE: usize = 500;
