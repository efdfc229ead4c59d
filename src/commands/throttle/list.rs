//! `qless throttle list`

use crate::args::value;
use crate::core::api::throttle;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::pattern::Pattern;
use crate::model::throttle::Throttle;
use crate::name::Name;
use crate::session::Session;

/// List throttles
///
/// Lists those that have a maximum, jobs that hold a slot, or jobs that wait for one. The names of all
/// keys are read for that, in small steps.
///
/// Examples: `qless throttle list` · `qless throttle list 'api*' -o json`
///
/// Exit codes: 0, also if there are none; 3 a throttle was left out, because a key of it has the wrong
/// type; 6 server.
#[derive(Clone, Debug, clap::Args)]
#[command(visible_alias = "ls")]
pub(super) struct Args {
    /// Only these throttles (id or glob)
    #[arg(value_name = "ID", value_parser = value::pattern(), add = value::CandidateKind::Throttles)]
    ids: Vec<Pattern>,
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[])?;
    session.ui.check_columns::<List<Throttle>>()?;
    let now = session.connect()?;
    let (core, ui) = session.core_and_ui()?;
    let (mut throttles, mut unreadable) = core.readable_throttles(now)?;
    let is_wanted = |id: &Name| {
        let mut ids = args.ids.iter();
        args.ids.is_empty() || ids.any(|pattern| pattern.matches(id))
    };
    throttles.retain(|throttle| is_wanted(&throttle.id));
    unreadable.retain(|throttle| is_wanted(&throttle.id));
    let none = throttles.is_empty() && unreadable.is_empty();
    ui.show(&List::of_all(throttles))?;
    if none {
        ui.note_on_terminal("no throttles");
    }
    Ok(ui.report_if_incomplete(throttle::partial_result_error(&unreadable)))
}
