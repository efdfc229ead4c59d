//! `qless unpause`

use std::collections::HashSet;

use super::{HelpGroup, MemberDispatch, Spec};
use crate::args::format::Format;
use crate::args::shared::{DryRunFlag, QueueTargets};
use crate::core::api::index::Index;
use crate::core::api::not_found;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::done::CommandResult;
use crate::name::Name;
use crate::session::Session;
use crate::session::consent::AskWhen;
use crate::text::comma_list;

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
        MemberDispatch::each_in_full_if_several_names(args.queues.queues.len())
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
    } else if session
        .ask_about_names_unless_dry_run(args.dry, AskWhen::IfProtected, "unpause", count, &queues)?
        .is_some()
    {
        let (core, ui) = session.core_and_ui()?;
        let ended = core.queues_including_unreadable(now, &queues)?;
        core.unpause_queues(now, &queues)?;
        let ended = ended.iter().map(|queue| {
            let before = queue.pause_and_author_text(ui.render_options());
            format!("{} (was {before})", queue.name)
        });
        let unpaused = format!("unpaused {}", comma_list(ended.collect::<Vec<String>>()));
        ui.note_to_people(&unpaused);
    }
    let done = CommandResult::new("unpause", queues, args.dry.dry_run);
    session.ui.show_and_exit_ok(&done)
}
