//! `qless unpause`

use std::collections::HashSet;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::shared::{DryRunFlag, QueueTargets};
use crate::clock::moment::Moment;
use crate::core::api::index::Index;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::model::queue::Queue;
use crate::model::recur::text::owed_text;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::comma_list;

/// Maximum number of recurring jobs whose missed runs are counted.
const MAX_RECURRING_READ: u64 = 200;

/// Resume paused queues
///
/// `qless resume` is the same command.
///
/// Examples: `qless unpause images`
/// · `qless unpause --all`
///
/// Exit codes: 0, also if the queue was not paused; 4 unknown queue, 6 server, 9 not
/// confirmed.
///
/// See also: `qless pause`
#[derive(Clone, Debug, clap::Args)]
#[command(visible_alias = "resume")]
pub(crate) struct Args {
    #[command(flatten)]
    queues: QueueTargets,
    #[command(flatten)]
    dry: DryRunFlag,
}

pub(crate) const SPEC: Spec<Args> =
    Spec::writes(HelpGroup::Operate, run).context_member_dispatch(|args| {
        MemberDispatch::require_all_names_if_several(args.queues.queues.len())
    });

fn run(args: Args, session: &mut Session) -> Result<Exit, Error> {
    session.ui.require_format(&[Format::Raw])?;
    let now = session.connect()?;
    let core = session.core()?;
    let mut queues = not_found::named_or_all_queues(
        core,
        now,
        args.queues.queue_names_unless_all(),
        &Index::Paused,
        false,
    )?;
    if args.queues.queue_names_unless_all().is_some() && !queues.is_empty() {
        let paused: HashSet<Name> = core
            .index_members(now, &Index::Paused)?
            .into_iter()
            .collect();
        let (paused, running) = queues.into_iter().partition(|queue| paused.contains(queue));
        let running: Vec<Name> = running;
        queues = paused;
        if !running.is_empty() {
            let verb = if running.len() == 1 { "is" } else { "are" };
            let note = format!("{} {verb} not paused", comma_list(&running));
            session.ui.note_to_people(&note);
        }
    }
    let count = ("queue", "queues");
    if queues.is_empty() {
        if args.queues.queue_names_unless_all().is_none() {
            session.ui.note_to_people("no paused queues");
        }
    } else {
        let paused = session.core()?.queues_including_unreadable(now, &queues)?;
        // A recurring job that cannot be read must not keep the queues paused.
        _ = note_owed_runs(&paused, now, session);
        let consent = session.ask_about_names_unless_dry_run(
            args.dry,
            AskWhen::IfProtected,
            "unpause",
            count,
            &queues,
        )?;
        if consent.is_some() {
            let (core, ui) = session.core_and_ui()?;
            core.unpause_queues(now, &queues)?;
            let ended = paused.iter().map(|queue| {
                let before = queue.pause_and_author_text(ui.render_options());
                match &*before {
                    "" => format!("{} (its pause had ended)", queue.name),
                    before => format!("{} (was {before})", queue.name),
                }
            });
            let unpaused = format!("unpaused {}", comma_list(ended.collect::<Vec<String>>()));
            ui.note_to_people(&unpaused);
        }
    }
    let done = CommandResult::new("unpause", queues, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}

/// Notes how many missed runs the recurring jobs of these queues owe: the first pops after the pause put them all.
fn note_owed_runs(queues: &[Queue], now: Moment, session: &mut Session) -> Result<(), Error> {
    let holding = queues.iter().filter(|queue| queue.recurring > 0);
    let holding: Vec<(Name, u64)> = holding
        .map(|queue| (queue.name.clone(), queue.recurring))
        .collect();
    if holding.is_empty() {
        return Ok(());
    }
    let first = session
        .core()?
        .first_recurring(now, &holding, MAX_RECURRING_READ)?;
    let active = first.templates.iter().filter(|job| !job.is_paused());
    let owed: u64 = active.map(|job| job.missed_runs_within_backlog(now)).sum();
    if let Some(owed) = owed_text(owed, session.ui.render_options()) {
        session.ui.note(&format!(
            "note: {owed} by recurring jobs: the next pops put them"
        ));
    }
    Ok(())
}
