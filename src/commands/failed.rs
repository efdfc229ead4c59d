//! `qless failed`

use super::jobs;
use crate::cli::Format;
use crate::cli::shared::Selector;
use crate::core::call::Call;
use crate::cx::Cx;
use crate::error::Error;
use crate::exit::Exit;
use crate::model::failure::Group;
use crate::model::job::State;
use crate::model::list::{Jobs, List};

/// Show the groups of failed jobs, or the jobs of some
///
/// Each group with its newest failure, and the queues of its newest 200 jobs. With `--group` or
/// another selector: the jobs, newest failure first.
///
/// Examples: `qless failed` · `qless failed --group 'upload error'`
///
/// Exit codes: 0, also if there are none; 4 unknown group, 6 server.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    selector: Selector,
}

pub fn run(args: Args, cx: &mut Cx) -> Result<Exit, Error> {
    let mut selector = args.selector;
    if selector.is_empty() {
        return groups(&selector, cx);
    }
    cx.out.accepts(&[Format::Jid, Format::Raw])?;
    cx.out.shows::<Jobs>()?;
    if selector.states.is_empty() {
        selector.states = vec![State::Failed];
    }
    let now = cx.begin()?;
    if cx.out.format() == Format::Raw {
        let text = cx.core()?.raw(now, &raw(&selector)?)?;
        cx.out.verbatim(&text)?;
        return Ok(Exit::Ok);
    }
    jobs::list(&selector, true, now, cx)?;
    Ok(Exit::Ok)
}

fn groups(selector: &Selector, cx: &mut Cx) -> Result<Exit, Error> {
    cx.out.accepts(&[Format::Raw])?;
    cx.out.shows::<List<Group>>()?;
    let now = cx.begin()?;
    let (core, out) = cx.parts()?;
    if out.format() == Format::Raw {
        let text = core.raw(now, &Call::new("failed"))?;
        out.verbatim(&text)?;
        return Ok(Exit::Ok);
    }
    let mut groups = List::whole(core.failed_groups(now)?);
    let first = groups.items.first().map(|group| group.group.clone());
    groups.page(selector.offset, selector.limit);
    out.show(&groups)?;
    match first {
        Some(group) => out.hint(&format!(
            "qless failed --group {} --retry-all",
            crate::view::text::quoted(&group)
        )),
        None => out.note_on_terminal("no failed jobs"),
    }
    Ok(Exit::Ok)
}

/// The reference's `failed`, which knows one group.
fn raw(selector: &Selector) -> Result<Call, Error> {
    let Selector {
        queues,
        tags,
        groups,
        states,
        ..
    } = selector;
    let group = match groups.as_slice() {
        [group] if queues.is_empty() && tags.is_empty() && *states == [State::Failed] => {
            group.plain()
        }
        _ => None,
    };
    let unlike = || Error::usage("the core's own `failed` knows one group and no other selector");
    let call = Call::new("failed").arg(group.ok_or_else(unlike)?);
    let limit = selector.limit.unwrap_or(25);
    Ok(call.arg(selector.offset.to_string()).arg(limit.to_string()))
}
