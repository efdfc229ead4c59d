//! `qless throttle list`

use std::collections::BTreeSet;

use crate::args::value;
use crate::clock::moment::Moment;
use crate::core::api::throttle::{self, ThrottleListing, UnreadableThrottle};
use crate::core::call::Core;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::list::List;
use crate::model::pattern::{NamePattern, passes_filter};
use crate::model::throttle::Throttle;
use crate::name::Name;
use crate::session::Session;

/// List throttles
///
/// Lists the throttles whose maximum a client with this core has set, and the throttles and lanes that hold a job
/// back now: for these, the first 100 jobs of each queue that wait for a slot, and 100 that wait for other jobs, are
/// read; of more than 500 queues, the oldest and the newest. A lane, the jobs with one `--key` in a queue, counts as a
/// throttle with one slot; `qless key` lists its jobs. The list takes one call of the server, or a few if it is long.
///
/// It lacks maxima that a client with another core or an earlier version of `qless` has set, until a job waits for
/// them. `--all` reads all queues, and the names of all keys in small steps: then these are listed, too, and throttles
/// without a maximum that running jobs use. `qless check --repair` adds missing maxima to the list.
///
/// Examples: `qless throttle list` · `qless throttle list 'api*' -o json` · `qless throttle list --all`
///
/// Exit codes: 0, also if there are none; 3 a throttle was left out, because a key of it has the wrong
/// type; 6 server.
#[derive(Clone, Debug, clap::Args)]
#[command(visible_alias = "ls")]
pub(super) struct Args {
    /// Only these throttles and lanes (id or glob)
    #[arg(value_name = "ID", value_parser = value::name_or_glob(), add = value::CompletionKind::Throttles)]
    ids: Vec<NamePattern>,
    /// Read all queues and the names of all keys, so that no throttle is missing
    #[arg(long)]
    all: bool,
}

impl Args {
    fn selects_throttle(&self, id: &Name) -> bool {
        passes_filter(&self.ids, Some(id))
    }

    /// Whether the selection may contain throttles that the command line does not name: it has a glob, or no id at all.
    fn selects_by_glob_or_all(&self) -> bool {
        self.ids.is_empty() || self.ids.iter().any(|id| id.as_plain_name().is_none())
    }
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    let now = session.connect_to_show::<List<Throttle>>(&[])?;
    let (core, ui) = session.core_and_ui()?;
    let found = read_selected(&args, core, now)?;
    let unlisted = found.unlisted.first().cloned();
    let omitted = found.omitted.omission_sentence();
    let unreadable: Vec<UnreadableThrottle> = found.unreadable.into_values().collect();
    let none = found.throttles.is_empty() && unreadable.is_empty();
    ui.show(&List::of_all(found.throttles.into_values().collect()))?;
    if none {
        ui.note_to_people("no throttles");
    }
    if let Some(omitted) = omitted.filter(|_| none || args.selects_by_glob_or_all()) {
        ui.note(&format!(
            "{omitted}: `--all` lists what holds a job back there alone"
        ));
    }
    if !args.all && args.selects_by_glob_or_all() {
        if let Some(example) = unlisted {
            ui.note(&format!(
                "another client or an earlier version has set the maximum of throttle `{example}`; others that it \
                 has set are missing here, unless a job waits for them: `--all` lists them"
            ));
        } else if none {
            ui.hint("read the names of all keys: qless throttle list --all");
        }
    }
    Ok(ui.report_if_incomplete(throttle::partial_result_error(&unreadable)))
}

/// The selected throttles. Throttles that the command line names are also read by id, because the listing may lack
/// them.
fn read_selected(args: &Args, core: &mut Core, now: Moment) -> Result<ThrottleListing, Error> {
    let (mut found, (throttles, unreadable)) = if args.all {
        (core.blocking_throttles(now)?, core.all_throttles(now)?)
    } else {
        let named = args.ids.iter().filter_map(NamePattern::as_plain_name);
        let named: BTreeSet<Name> = named.cloned().collect();
        let named = named.into_iter().collect();
        (
            core.limited_or_blocking_throttles(now)?,
            core.existing_throttles(now, named)?,
        )
    };
    found.add_throttles(throttles, unreadable);
    found
        .throttles
        .retain(|(_, id), _| args.selects_throttle(id));
    found.unreadable.retain(|id, _| match id {
        Some(id) => args.selects_throttle(id),
        None => args.selects_by_glob_or_all(),
    });
    Ok(found)
}
